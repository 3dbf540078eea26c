//! One search for every objective: all mappings where they are few, else annealing and branch and bound.

use crate::anneal::{Annealing, anneal, descend};
use crate::branch::branch;
use crate::exhaustive::exhaustive;
use crate::levels::{downwards, turned};
use crate::options::{PlaceOptions, SearchMethod, SymmetryRule};
use crate::{Objective, Symmetry};
use ground::{Draws, Located, quantile};

/// `auto` tries every mapping of at most so many.
const FEW_MAPPINGS: f64 = 250_000.0;
/// `exhaustive` refuses more than so many.
const MAPPINGS_MAX: f64 = 20_000_000.0;
/// Nodes of branch and bound that `auto` looks at, where parts are at most as many as `BRANCH_PARTS`.
const BRANCH_NODES: u64 = 200_000;
const BRANCH_PARTS: usize = 24;
/// Mappings that are drawn where not all are tried, so that worst, median and distribution can be said.
const DRAWN: usize = 1000;
/// Points of a distribution: hundredths of the mappings.
const POINTS: usize = 100;
/// The first temperature of annealing from the parts downwards, and from anywhere; as a part of a swap's change.
const WARM: f64 = 0.1;
const HOT: f64 = 0.5;

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Searched {
    /// The seat of each part.
    pub mapping: Vec<usize>,
    /// Its cost.
    pub cost: f64,
    /// The worst mapping that was seen, and its cost.
    pub worst: (Vec<usize>, f64),
    /// Half of the mappings cost less.
    pub median: f64,
    /// Costs below which 0, 1, .. 100 % of the mappings lie.
    pub distribution: Vec<f64>,
    /// How many mappings, or beginnings of mappings, were looked at.
    pub evaluated: u64,
    /// Whether worst, median and distribution are of all mappings, and not of some that were drawn.
    pub whole: bool,
    /// No mapping costs less than this.
    pub bound: f64,
    /// `exhaustive`, `branch and bound`, `levels` or `annealing`.
    pub method: &'static str,
    /// How many mappings there are when equal ones count once.
    pub distinct: f64,
}

impl Searched {
    /// Whether no mapping is better.
    pub fn is_proved(&self) -> bool {
        self.bound >= self.cost * (1.0 - 1e-9)
    }

    /// Whether the costs of all mappings are equal up to rounding; false where not all were tried.
    pub fn is_all_equal(&self) -> bool {
        self.whole && self.worst.1 - self.cost <= self.cost.abs() * 1e-9
    }

    /// 1 - bound / cost: what a better mapping could gain at most.
    pub fn gap(&self) -> f64 {
        if self.cost > 0.0 { (1.0 - self.bound / self.cost).max(0.0) } else { 0.0 }
    }
}

/// Searches for the mapping that costs least. `progress` is told the part that is done, 0 to 1, now and then; when it
/// says false, the search ends with the best so far.
///
/// # Errors
/// More parts than seats; more mappings than can be tried where all are asked for; stopped before anything was found.
///
/// ```
/// use place::{Distance, PlaceOptions, SeatDistances, search, Traffic};
/// let traffic = Traffic::of("pairs", 4, [(0, 2, 1.0), (1, 3, 1.0)]);
/// let two_chips = SeatDistances::new(4, |a, b| if a / 2 == b / 2 { 1.0 } else { 5.0 });
/// let mut objective = Distance::new(&traffic, two_chips);
/// let found = search(&mut objective, &PlaceOptions::default(), &mut |_| true)?;
/// assert_eq!((found.cost, found.is_proved()), (2.0, true));
/// # Ok::<(), ground::Located>(())
/// ```
pub fn search(
    objective: &mut dyn Objective,
    options: &PlaceOptions,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<Searched, Located> {
    let (parts, seats) = (objective.parts(), objective.seats());
    if parts > seats {
        return Err(Located::new(format!("{parts} parts on {seats} elements; each needs one of its own"))
            .key("parts"));
    }
    let symmetry = match options.symmetry {
        SymmetryRule::Tested => Symmetry::tested(objective),
        SymmetryRule::Rotation => Symmetry::rotation(seats),
        SymmetryRule::None => Symmetry::none(seats),
    };
    let distinct = symmetry.mappings(parts);
    match options.method {
        SearchMethod::Exhaustive if distinct > MAPPINGS_MAX => Err(Located::new(format!(
            "{distinct:.3e} mappings of {parts} parts on {seats} elements; `exhaustive` tries at most \
             {MAPPINGS_MAX:e}: take another method"
        ))
        .key("method")),
        SearchMethod::Exhaustive => every(objective, &symmetry, distinct, progress),
        SearchMethod::Auto if distinct <= FEW_MAPPINGS => every(objective, &symmetry, distinct, progress),
        _ => Ok(some(objective, &symmetry, distinct, options, progress)),
    }
}

/// Every mapping.
fn every(
    objective: &mut dyn Objective,
    symmetry: &Symmetry,
    distinct: f64,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<Searched, Located> {
    let mut go_on = |tried: u64| progress(tried as f64 / distinct.max(1.0));
    let Some(all) = exhaustive(objective, symmetry, &mut go_on) else {
        return Err(Located::new("stopped before every mapping was tried"));
    };
    let (cost, worst) = (all.costs[0].0, all.costs[all.costs.len() - 1].0);
    let distribution = weighted(&all.costs);
    Ok(Searched {
        mapping: all.best,
        cost,
        worst: (all.worst, worst),
        median: distribution[POINTS / 2],
        distribution,
        evaluated: all.costs.len() as u64,
        whole: true,
        bound: cost,
        method: "exhaustive",
        distinct,
    })
}

/// Hundredths of costs of which each stands for some mappings.
fn weighted(costs: &[(f64, f64)]) -> Vec<f64> {
    let whole: f64 = costs.iter().map(|(_, stands_for)| stands_for).sum();
    let (mut at, mut below) = (0, costs[0].1);
    let point = |i: usize| {
        let wanted = whole * i as f64 / POINTS as f64;
        while at + 1 < costs.len() && below < wanted {
            at += 1;
            below += costs[at].1;
        }
        costs[at].0
    };
    (0..=POINTS).map(point).collect()
}

/// Not every mapping.
fn some(
    objective: &mut dyn Objective,
    symmetry: &Symmetry,
    distinct: f64,
    options: &PlaceOptions,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Searched {
    let (parts, seats) = (objective.parts(), objective.seats());
    let (drawn, worst) = draw(objective, options.seed);
    let identity: Vec<usize> = (0..seats).collect();
    let mut best = (objective.cost(&identity[..parts]), identity.clone());
    let mut better = |cost: f64, order: Vec<usize>| {
        if cost < best.0 {
            best = (cost, order);
        }
    };
    let mut start = downwards(objective);
    let cost = descend(objective, &mut start);
    better(cost, start.clone());
    let (mut evaluated, mut method) = (DRAWN as u64, "levels");
    if matches!(options.method, SearchMethod::Auto | SearchMethod::Anneal) {
        method = "annealing";
        let moves = options.moves.unwrap_or_else(|| moves_for(objective));
        let (warm, hot) = (moves / 4, moves - moves / 4);
        let mut orders = [start, identity.clone()];
        for (i, (moves, heat)) in [(warm, WARM), (hot, HOT)].into_iter().enumerate() {
            let annealing = Annealing { moves, heat, seed: options.seed.wrapping_add(i as u64) };
            let before = if i == 0 { 0 } else { warm };
            let mut go_on = |made: u64| progress((before + made) as f64 / (warm + hot).max(1) as f64);
            let cost = anneal(objective, &mut orders[i], annealing, &mut go_on);
            better(cost, orders[i].clone());
        }
        evaluated += moves;
    } else {
        let mut order = identity;
        let cost = descend(objective, &mut order);
        better(cost, order);
    }
    let mut mapping = best.1;
    mapping.truncate(parts);
    let mut cost = turned(objective, &mut mapping);
    let mut bound = objective.at_least(&[]).min(cost);
    let branches = options.method == SearchMethod::Branch
        || options.method == SearchMethod::Auto && parts <= BRANCH_PARTS && options.moves.is_none();
    if branches {
        let nodes = match options.method {
            SearchMethod::Branch => options.moves.unwrap_or(u64::MAX),
            _ => BRANCH_NODES,
        };
        let searched = branch(objective, symmetry, mapping, nodes, &mut |_| progress(1.0));
        (cost, mapping) = searched.best;
        bound = searched.bound;
        evaluated += searched.evaluated;
        if options.method == SearchMethod::Branch || bound >= cost {
            method = "branch and bound";
        }
    }
    let worst = if worst.1 < cost { (mapping.clone(), cost) } else { worst };
    let point = |i: usize| quantile(&drawn, i as f64 / POINTS as f64);
    let distribution: Vec<f64> = (0..=POINTS).map(point).collect();
    let median = distribution[POINTS / 2];
    Searched { mapping, cost, worst, median, distribution, evaluated, whole: false, bound, method, distinct }
}

/// Moves that annealing makes where it is not said: for each part so many that all parts' flows are looked at about as
/// often, whatever the pattern; `benches/placement` says how long that takes.
fn moves_for(objective: &dyn Objective) -> u64 {
    const FLOWS_OF_A_PART: f64 = 2.4e6;
    /// What a move costs beside its flows, in flows.
    const BESIDE: f64 = 16.0;
    let each = FLOWS_OF_A_PART / (objective.flows_of_a_move() + BESIDE);
    (each * objective.parts() as f64).clamp(200_000.0, 6e7) as u64
}

/// Costs of mappings that are drawn, in rising order, and the worst of them.
fn draw(objective: &mut dyn Objective, seed: u64) -> (Vec<f64>, (Vec<usize>, f64)) {
    let mut order: Vec<usize> = (0..objective.seats()).collect();
    let mut draws = Draws::new(seed ^ 0x9e37_79b9_7f4a_7c15);
    let mut worst = (Vec::new(), f64::NEG_INFINITY);
    let mut costs = Vec::with_capacity(DRAWN);
    for _ in 0..DRAWN {
        draws.shuffle(&mut order);
        let mapping = &order[..objective.parts()];
        let cost = objective.cost(mapping);
        if cost > worst.1 {
            worst = (mapping.to_vec(), cost);
        }
        costs.push(cost);
    }
    costs.sort_by(f64::total_cmp);
    (costs, worst)
}

/// A better order than the one that there is, quickly; nothing when that one is as good. For a caller that cannot wait:
/// all mappings of few parts, else swaps from the parts downwards and from what there is.
///
/// ```
/// use place::{Distance, SeatDistances, Traffic, quick};
/// let traffic = Traffic::of("pair", 4, [(0, 1, 1.0)]);
/// let dealt = SeatDistances::new(4, |a, b| if a % 2 == b % 2 { 1.0 } else { 5.0 });
/// let order = quick(&mut Distance::new(&traffic, dealt)).unwrap();
/// assert_eq!(order[0] % 2, order[1] % 2);
/// ```
pub fn quick(objective: &mut dyn Objective) -> Option<Vec<usize>> {
    /// Up to this many parts, branch and bound takes less than a millisecond.
    const EXACT_PARTS: usize = 8;
    let (parts, seats) = (objective.parts(), objective.seats());
    let as_it_is: Vec<usize> = (0..seats).collect();
    let cost = objective.cost(&as_it_is[..parts]);
    if cost == 0.0 {
        return None;
    }
    let found = if seats <= EXACT_PARTS {
        branch(objective, &Symmetry::none(seats), as_it_is[..parts].to_vec(), u64::MAX, &mut |_| true).best
    } else {
        let orders = [as_it_is, downwards(objective)];
        let [one, other] = orders.map(|mut order| {
            let cost = descend(objective, &mut order);
            order.truncate(parts);
            (cost, order)
        });
        if other.0 < one.0 { other } else { one }
    };
    (found.0 < cost).then_some(found.1)
}
