//! What a plan predicts with the speeds that its elements have just before a run.
//!
//! Virtual cpus become faster and slower within minutes, and slow each other down more or less: a plan that was made
//! from costs of an hour ago predicts for a computer that is not there any more. The fixed kernels take some
//! milliseconds, and tell how fast each element is now, alone and while the others compute.

use super::{Look, Origin, words};
use host::Speed;
use machine::Machine;
use std::collections::BTreeMap;
use work::plan::{Contribution, ContributionKind};
use work::{Graph, Plan, ProfiledSpeed};

/// What a few looks at a cpu that does not change differ by at most: its neighbours come and go, and costs are means
/// over longer times. Only more than that changes a prediction.
const STEADY: f64 = 1.15;

/// A plan with the period that the speeds before a run make of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Foreseen {
    /// The plan; its contributions, period, throughput and bottleneck are predicted anew.
    pub plan: Plan,
    /// By element: how many times longer than their costs its tasks are expected to take.
    pub factors: BTreeMap<String, f64>,
    /// What the prediction was made with, as a sentence.
    pub with: String,
}

/// How fast an element is now.
struct NowPace<'a> {
    name: &'a str,
    /// ns per instance of its tasks, by their costs.
    costs_ns: f64,
    /// ns per instance that the plan counts for hand-overs.
    moving_ns: f64,
    /// How many times longer than their costs its tasks take alone, by the plan.
    planned: f64,
    /// How many times longer than their costs its tasks take alone.
    alone: f64,
    /// How many times longer they take while all other elements compute.
    together: f64,
}

impl NowPace<'_> {
    /// While the others are idle.
    fn alone_ns(&self) -> f64 {
        self.costs_ns * self.alone + self.moving_ns
    }

    /// While the others compute, `others_ns` of each instance on average.
    fn ns(&self, others_ns: f64) -> f64 {
        let slowed = self.costs_ns * self.alone * self.together + self.moving_ns;
        slowed.min(self.alone_ns() + others_ns * (1.0 - 1.0 / self.together))
    }
}

/// What `plan` predicts with the speeds of `look` on the computer `here`; `None` where the costs were not measured on
/// it, or the speeds of then or now are not known.
pub(crate) fn foresee(
    graph: &Graph,
    machine: &Machine,
    plan: &Plan,
    look: &Look,
    here: &str,
) -> Option<Foreseen> {
    let profile = graph.profile.as_ref().filter(|_| Origin::of(graph, machine, here) == Origin::Measured)?;
    let planned = model::paces(machine, graph);
    let capacities = model::capacities(machine, graph);
    let mut changed = false;
    let mut paces = Vec::new();
    for (id, element) in machine.elements.iter().enumerate() {
        let here = |t: &&work::Task| plan.mapping.get(&t.name) == Some(&element.name);
        if !graph.tasks.iter().any(|t| here(&t)) {
            continue;
        }
        let (then, now) = (profile.speeds.get(&element.name)?, look.0.get(&element.name)?);
        let costs: Option<f64> = graph.tasks.iter().filter(here).map(|t| t.cost_on(&element.kind)).sum();
        let costs_ns = costs?;
        let counted = plan.contributions.iter().find(|c| is_of(c, &element.name))?;
        let (alone, together) = now_and_then(then, now.0, now.1)?;
        let counted_together = (capacities.iter().filter(|c| c.elements.contains(&id)))
            .map(|c| c.elements.len() as f64 / c.cpus)
            .fold(1.0, f64::max);
        let other_alone = !(1.0 / STEADY..=STEADY).contains(&alone);
        let other_together = together > counted_together * STEADY;
        changed |= other_alone || other_together;
        paces.push(NowPace {
            name: &element.name,
            costs_ns,
            moving_ns: (counted.ns - costs_ns * planned[id]).max(0.0),
            planned: planned[id],
            alone: planned[id] * if other_alone { alone } else { 1.0 },
            together: if other_together { together } else { counted_together },
        });
    }
    if !changed {
        let factors = paces.iter().map(|p| (p.name.to_string(), p.alone)).collect();
        let with = "the speeds measured just before the run, which are as when profiled".to_string();
        return Some(Foreseen { plan: plan.clone(), with, factors });
    }
    let (first, others) = (paces.first()?, paces.len() - 1);
    let busy_ns: f64 = paces.iter().map(|p| p.costs_ns * p.alone * p.together).sum();
    let mean_ns = |p: &NowPace| match others {
        0 => 0.0,
        n => (busy_ns - p.costs_ns * p.alone * p.together) / n as f64,
    };
    let mut again = plan.clone();
    again.contributions.retain(|c| c.kind != ContributionKind::Capacity);
    let slower = |p: &NowPace| p.alone / p.planned;
    let slowest = paces.iter().map(slower).fold(slower(first), f64::max);
    for contribution in &mut again.contributions {
        match contribution.kind {
            ContributionKind::Compute => {
                let pace = paces.iter().find(|p| p.name == contribution.subject);
                contribution.ns = pace.map_or(contribution.ns, |p| p.ns(mean_ns(p)));
            }
            ContributionKind::Lock | ContributionKind::Quota => contribution.ns *= slowest,
            _ => {}
        }
    }
    again.contributions.sort_by(|a, b| b.ns.total_cmp(&a.ns));
    let bottleneck = again.contributions.first()?;
    again.period_ns = bottleneck.ns;
    again.bottleneck = bottleneck.to_string();
    again.throughput_per_s = 1e9 / again.period_ns;
    let factor = |p: &NowPace| {
        let ns = p.ns(mean_ns(p)) - p.moving_ns;
        if p.costs_ns > 0.0 { ns / p.costs_ns } else { p.alone }
    };
    let factors: BTreeMap<String, f64> = paces.iter().map(|p| (p.name.to_string(), factor(p))).collect();
    Some(Foreseen { plan: again, with: sentence(&factors), factors })
}

fn is_of(contribution: &Contribution, element: &str) -> bool {
    contribution.kind == ContributionKind::Compute && contribution.subject == element
}

/// How many times longer the fixed kernels take alone now than when the application was profiled, and how many times
/// longer together than alone; 1 where they are not slowed down.
fn now_and_then(then: &ProfiledSpeed, alone: Option<Speed>, together: Option<Speed>) -> Option<(f64, f64)> {
    let together_ns = together?.parts_ns();
    let alone_ns = alone?.parts_ns();
    Some((times(&alone_ns, &then.alone_ns)?, times(&together_ns, &alone_ns)?.max(1.0)))
}

/// The geometric mean of the ratios; `None` without any.
fn times(now_ns: &[f64], then_ns: &[f64]) -> Option<f64> {
    let pairs = now_ns.iter().zip(then_ns).filter(|(now, then)| **now > 0.0 && **then > 0.0);
    let logs: Vec<f64> = pairs.map(|(now, then)| (now / then).ln()).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

fn sentence(factors: &BTreeMap<String, f64>) -> String {
    let each = factors.iter().map(|(name, factor)| format!("{name} {}", words::factor(*factor)));
    format!("the speeds measured just before the run: {} than profiled", each.collect::<Vec<_>>().join(", "))
}
