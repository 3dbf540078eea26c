//! What each task of an application costs on each kind of element of this computer, with real data flowing.

use crate::explain::Look;
use crate::stand_in::harmless;
use crate::{Error, calibrate};
use ground::Quantiles;
use machine::{ElementId, HandoverCurve, HandoverPoint, Machine, Overhead, Together};
use plan::PlanOptions;
use probe::HandoverGrid;
use run::{Kernels, RunOutcome};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use work::graph::Profile;
use work::plan::CostBasis;
use work::{Graph, Plan, ProfiledCost, Task};

ground::options! {
    /// How to measure.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ProfileOptions("profile") {
        /// Instances to send through; by default until costs are known well.
        pub instances: Option<u64> = None, in 1..=1_000_000_000_000_000;
        /// Also measure tasks whose cost is given.
        pub again: bool = false;
    } and {
        /// How long the measurement of one kind of element should take, where `instances` does not say.
        pub seconds: f64 = 1.5;
        /// Instances per firing; `None` = as the planner chooses for one element.
        pub batch: Option<u64> = None;
    }
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Profiled {
    /// The application with its costs and [`Graph::profile`].
    #[serde(skip)]
    pub graph: Graph,
    /// Version of this format: 1.
    pub format: u32,
    /// The application's name.
    pub application: String,
    /// The machine's name.
    pub machine: String,
    /// Which computer: CPU model, cpus, kernel, cellweave.
    pub identity: BTreeMap<String, String>,
    /// Per measured task and kind of element.
    pub tasks: Vec<TaskCost>,
    /// Samples of all tasks that were left out, because the thread lost its cpu meanwhile.
    pub samples_left_out: u64,
    /// Why costs may be those of another cpu than was asked for, one sentence per element that was not pinned.
    pub not_pinned: Vec<String>,
    /// What a hand-over to another element costs at each end, by kind.
    pub overheads: BTreeMap<String, Handover>,
    /// How old and how steady all costs are, also those that were there before.
    pub costs: CostBasis,
}

/// What a firing of a task costs on a kind of element.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskCost {
    /// The task.
    pub task: String,
    /// The kind of element.
    pub kind: String,
    /// What goes into the application: the part that the task has in an instance's time on one element, in ns.
    pub cost_ns: f64,
    /// ns per firing, call by call, as the clock around each call saw them; calls during which the thread lost its cpu
    /// are left out.
    pub samples_ns: Quantiles,
}

impl TaskCost {
    /// As the application keeps it: with the cost as its median. A cost too small for the clock has no spread.
    fn dated(&self) -> ProfiledCost {
        let Quantiles { n, min, p10, p50, p90 } = self.samples_ns;
        let ns = |sample: f64| if p50 > 0.0 { sample / p50 * self.cost_ns } else { self.cost_ns };
        let ns = Quantiles { n, min: ns(min), p10: ns(p10), p50: self.cost_ns, p90: ns(p90) };
        ProfiledCost { measured: ground::utc(host::clock::unix_s()), ns }
    }
}

/// [`machine::Overhead`], as a result file says it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Handover {
    /// ns per hand-over, at each end.
    pub per_transfer_ns: f64,
    /// ns per byte, at each end.
    pub per_byte_ns: f64,
}

/// How many times the application is run for its total. The middle one counts: a virtual cpu that its neighbours slow
/// down every now and then does so when the plan runs, too.
const TOTALS: usize = 7;
/// Instances of the first run, which only tells how many to ask for.
const FIRST_INSTANCES: u64 = 64;

/// Measures every task of `graph` that has no cost (all, with `again`), and what a hand-over costs: on one element of
/// each kind of `machine` that has a cpu of this computer.
///
/// The whole application runs on one element, without a clock in its way, for its total; and again with a clock around
/// every call, for each task's part of it. File sinks write nowhere meanwhile, and zeros stand in for standard input.
/// `progress` gets what is being done, and the share of everything that is done; when it returns false, the measurement
/// stops.
///
/// # Errors
/// When a task has no kernel, or the application fails when it runs; [`Error::Stopped`] when `progress` said so.
pub fn profile(
    graph: &Graph,
    machine: &Machine,
    kernels: &dyn Kernels,
    options: &ProfileOptions,
    progress: &mut dyn FnMut(&str, f64) -> bool,
) -> Result<Profiled, Error> {
    options.check()?;
    if let Some(task) = graph.tasks.iter().find(|t| t.kernel.is_none()) {
        return Err(Error::Profile(format!(
            "task '{}' has no kernel, so that it cannot run: give it a kernel, or its cost_ns by hand",
            task.name
        )));
    }
    let identity = host::identity();
    let mut profiled = Profiled {
        graph: graph.clone(),
        format: 1,
        application: graph.name.clone(),
        machine: machine.name.clone(),
        identity: identity.to_pairs().into_iter().map(|(k, v)| (k.to_string(), v)).collect(),
        tasks: Vec::new(),
        samples_left_out: 0,
        not_pinned: Vec::new(),
        overheads: BTreeMap::new(),
        costs: CostBasis::default(),
    };
    let elements = one_of_each_kind(machine);
    if elements.is_empty() {
        return Err(Error::Profile(format!(
            "machine '{}' has no element with a cpu of this computer: profile on 'host'",
            machine.name
        )));
    }
    run::check(graph, kernels)?;
    let steps = elements.len() as f64 + 2.0;
    // First, because what a hand-over costs decides how deep a ring and how large a batch is.
    let measured = as_it_is_now(machine, &mut |what, part| progress(what, part / steps))?;
    let overheads = calibrate(&measured, &mut |part| progress("hand-over", (1.0 + part) / steps))?;
    let handover = |o: &Overhead| Handover { per_transfer_ns: o.per_transfer_ns, per_byte_ns: o.per_byte_ns };
    profiled.overheads = overheads.iter().map(|(kind, o)| (kind.clone(), handover(o))).collect();
    profiled.graph.profile = Some(Profile {
        machine: identity.computer(),
        cellweave: env!("CARGO_PKG_VERSION").into(),
        overheads: overheads.iter().map(|(k, o)| (k.clone(), (o.per_transfer_ns, o.per_byte_ns))).collect(),
        totals_ns: BTreeMap::new(),
        speeds: BTreeMap::new(),
        handovers: rows(&measured.handovers),
        together: groups(&measured),
        costs: graph.profile.as_ref().map(|p| p.costs.clone()).unwrap_or_default(),
        paces: BTreeMap::new(),
    });
    let mut looks = Vec::new();
    for (done, &element) in elements.iter().enumerate() {
        let kind = machine.elements[element].kind.clone();
        let missing = |t: &Task| options.again || t.cost_on(&kind).is_none();
        if !graph.tasks.iter().any(missing) {
            continue;
        }
        let what = format!("costs on a {kind}");
        let mut step = |part: f64| progress(&what, (done as f64 + 2.0 + part) / steps);
        let Measured { costs, paces, beside_others, outcome } =
            costs(&profiled.graph, machine, element, kernels, options, &mut looks, &mut step)?;
        if let Some(profile) = &mut profiled.graph.profile {
            profile.paces.extend(paces);
            if let Some([computing, _]) = profile.together.get_mut(&names(machine, &every_cpu(machine))) {
                *computing = computing.max(beside_others);
            }
        }
        profiled.samples_left_out += outcome.samples_left_out;
        profiled.not_pinned.extend(outcome.not_pinned);
        for cost in costs {
            let task = graph.task(&cost.task).filter(|&t| missing(&graph.tasks[t]));
            if let Some(task) = task {
                profiled.graph.tasks[task].cost_ns.insert(kind.clone(), cost.cost_ns);
                if let Some(profile) = &mut profiled.graph.profile {
                    profile.costs.entry(kind.clone()).or_default().insert(cost.task.clone(), cost.dated());
                }
                profiled.tasks.push(cost);
            }
        }
    }
    if looks.is_empty() {
        looks.push(Look::at(machine, &every_cpu(machine)));
    }
    if let Some(profile) = &mut profiled.graph.profile {
        // As the totals are taken: what is measured in the same moments is quoted alike.
        profile.speeds = Look::middle(&looks).profiled();
        for &element in &elements {
            let kind = &machine.elements[element].kind;
            let costs = profiled.graph.tasks.iter().filter_map(|t| t.cost_on(kind));
            profile.totals_ns.insert(kind.clone(), costs.sum());
        }
    }
    let kinds = || elements.iter().map(|&e| machine.elements[e].kind.as_str());
    let all = (0..graph.tasks.len()).flat_map(|t| kinds().map(move |kind| (t, kind)));
    profiled.costs = CostBasis::of(&profiled.graph, all);
    Ok(profiled)
}

/// All elements that are cpus of this computer.
fn every_cpu(machine: &Machine) -> Vec<ElementId> {
    (0..machine.elements.len()).filter(|&e| machine.elements[e].os_cpu.is_some()).collect()
}

/// `machine` with what a short measurement finds of hand-overs and of cpus that slow each other down. What its file
/// says of them does not count: virtual cpus change within seconds, and costs are to be of the same moments.
fn as_it_is_now(machine: &Machine, progress: &mut dyn FnMut(&str, f64) -> bool) -> Result<Machine, Error> {
    let curve = &mut |part| progress("curve of hand-overs", part);
    let handovers = probe::handovers(machine, HandoverGrid::SHORT, curve).ok_or(Error::Stopped)?;
    let together = probe::together(machine, &mut |_| progress("cpus together", 1.0)).ok_or(Error::Stopped)?;
    Ok(Machine { handovers, together, ..machine.clone() })
}

/// Curves as a profile keeps them.
fn rows(curves: &[HandoverCurve]) -> BTreeMap<String, Vec<[f64; 5]>> {
    let row = |p: &HandoverPoint| {
        [p.bytes as f64, p.ring_bytes as f64, p.near_line_ns, p.alone_line_ns, p.both_line_ns]
    };
    curves.iter().map(|c| (c.shares.name().to_string(), c.points.iter().map(row).collect())).collect()
}

/// Slowdowns as a profile keeps them.
fn groups(machine: &Machine) -> BTreeMap<String, [f64; 2]> {
    let slower = |group: &Together| (names(machine, &group.elements), [group.computing, group.memory]);
    machine.together.iter().map(slower).collect()
}

/// The names of elements as a profile keeps them.
fn names(machine: &Machine, elements: &[ElementId]) -> String {
    let name = |e: &ElementId| machine.elements[*e].name.as_str();
    elements.iter().map(name).collect::<Vec<_>>().join(" ")
}

/// The first element of each kind that is a cpu of this computer.
fn one_of_each_kind(machine: &Machine) -> Vec<ElementId> {
    let real = |kind: &&str| machine.elements.iter().position(|e| e.kind == **kind && e.os_cpu.is_some());
    machine.kinds().iter().filter_map(real).collect()
}

/// What was measured on one kind of element.
struct Measured {
    /// Of all tasks.
    costs: Vec<TaskCost>,
    /// By element, how many times longer the application took there than the costs say.
    paces: BTreeMap<String, f64>,
    /// How many times longer it took while all other cpus computed.
    beside_others: f64,
    /// The run that the tasks' parts were taken from.
    outcome: RunOutcome,
}

/// Of a kind with many elements only the first ones are compared: each takes its time.
const PEERS_MAX: usize = 16;
/// How much shorter a batch becomes where all firings lost their cpu.
const SHORTER: u64 = 8;
/// A total shorter than this says little.
const TOTAL_S_MIN: f64 = 0.02;

/// Costs of all tasks on `element`, and the paces of all elements of its kind beside it. How fast the elements are
/// meanwhile is added to `looks`.
fn costs(
    graph: &Graph,
    machine: &Machine,
    element: ElementId,
    kernels: &dyn Kernels,
    options: &ProfileOptions,
    looks: &mut Vec<Look>,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<Measured, Error> {
    let graph = harmless(graph);
    let kind = &machine.elements[element].kind;
    let alike = |e: &ElementId| *e != element && machine.elements[*e].kind == *kind;
    let others = every_cpu(machine).into_iter().filter(alike).take(PEERS_MAX - 1);
    let peers: Vec<ElementId> = [element].into_iter().chain(others).collect();
    let plans = peers.iter().map(|&e| everything_on(&graph, machine, e, options.batch));
    let plans: Vec<Plan> = plans.collect::<Result<_, _>>()?;
    let cpu = |e: ElementId| machine.elements[e].os_cpu;
    let others: Vec<u32> = every_cpu(machine).into_iter().filter(|e| *e != element).filter_map(cpu).collect();
    let runs = TOTALS * (peers.len() + usize::from(!others.is_empty())) + 1;
    let mut part = 0.0;
    let mut go = |plan: &Plan, instances: u64, measure_tasks: bool| -> Result<RunOutcome, Error> {
        let options =
            run::RunOptions { instances: Some(instances), measure_tasks, ..run::RunOptions::default() };
        let outcome = stoppable(&graph, machine, plan, kernels, options, &mut || progress(part));
        part = (part + 1.0 / runs as f64).min(1.0);
        outcome
    };
    let plan = &plans[0];
    let instances = match options.instances {
        Some(n) => n,
        None => {
            // The second look is long enough for start-up not to count.
            let first = go(plan, FIRST_INSTANCES.max(2 * plan.batch), false)?;
            let look = enough(options.seconds * 0.02, seconds_each(&first));
            let second = go(plan, look, false)?;
            enough((options.seconds / runs as f64).max(TOTAL_S_MIN), seconds_each(&second))
        }
    };
    // Round by round, so that a busy moment does not fall on one element alone.
    let mut totals = vec![Vec::with_capacity(TOTALS); peers.len()];
    let mut beside = Vec::with_capacity(TOTALS);
    for _ in 0..TOTALS {
        looks.push(Look::at(machine, &every_cpu(machine)));
        for (plan, totals) in plans.iter().zip(&mut totals) {
            totals.push(1e9 / go(plan, instances, false)?.rate_per_s());
        }
        if !others.is_empty() {
            let _busy = host::Busy::on(&others);
            beside.push(1e9 / go(plan, instances, false)?.rate_per_s());
        }
    }
    let totals_ns: Vec<f64> = totals.into_iter().map(middle).collect();
    let total_ns = totals_ns[0];
    let mut measured = go(plan, instances, true)?;
    let mut batch = plan.batch;
    // On a busy computer every firing of a long batch may lose its cpu, and none would count.
    while measured.tasks.is_empty() && batch > 1 {
        batch = (batch / SHORTER).max(1);
        measured = go(&everything_on(&graph, machine, element, Some(batch))?, instances, true)?;
    }
    let sum_ns: f64 = measured.tasks.values().map(|q| q.p50).sum();
    if !total_ns.is_finite() || measured.tasks.is_empty() {
        return Err(Error::Profile(format!(
            "too few instances to measure anything ({} went through): a source ends early, or --instances is too small",
            measured.instances
        )));
    }
    let scale = if sum_ns > 0.0 { total_ns / sum_ns } else { 0.0 };
    let even_ns = total_ns / measured.tasks.len() as f64;
    let cost = |(task, samples_ns): (&String, &Quantiles)| TaskCost {
        task: task.clone(),
        kind: kind.clone(),
        cost_ns: if sum_ns > 0.0 { samples_ns.p50 * scale } else { even_ns },
        samples_ns: *samples_ns,
    };
    let name = |e: &ElementId| machine.elements[*e].name.clone();
    Ok(Measured {
        costs: measured.tasks.iter().map(cost).collect(),
        paces: peers.iter().zip(&totals_ns).map(|(e, ns)| (name(e), ns / total_ns)).collect(),
        beside_others: if beside.is_empty() { 1.0 } else { middle(beside) / total_ns },
        outcome: measured,
    })
}

/// The total that counts.
fn middle(mut totals_ns: Vec<f64>) -> f64 {
    totals_ns.sort_by(f64::total_cmp);
    ground::quantile(&totals_ns, 0.5)
}

/// Runs; stops when `go_on` says false.
pub(crate) fn stoppable(
    graph: &Graph,
    machine: &Machine,
    plan: &Plan,
    kernels: &dyn Kernels,
    options: run::RunOptions,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<RunOutcome, Error> {
    if !go_on() {
        return Err(Error::Stopped);
    }
    let stop = options.stop.clone();
    let mut stopped = false;
    let mut watch = |_: &run::RunProgress| {
        if !go_on() {
            stopped = true;
            stop.store(run::STOP, Ordering::Release);
        }
    };
    let outcome =
        run::run(graph, machine, plan, kernels, run::RunOptions { progress: Some(&mut watch), ..options });
    if stopped { Err(Error::Stopped) } else { Ok(outcome?) }
}

fn seconds_each(outcome: &RunOutcome) -> f64 {
    outcome.elapsed_s / outcome.instances.max(1) as f64
}

/// Instances that take about `seconds`.
fn enough(seconds: f64, per_instance_s: f64) -> u64 {
    ((seconds / per_instance_s.max(1e-10)) as u64).clamp(FIRST_INSTANCES, 1 << 40)
}

/// What a task is taken to cost before anything is known: little, so that the batch is as large as the caches allow and
/// bookkeeping does not count as the task's.
const UNKNOWN_COST_NS: f64 = 1.0;

/// A plan with every task on `element`.
fn everything_on(
    graph: &Graph,
    machine: &Machine,
    element: ElementId,
    batch: Option<u64>,
) -> Result<Plan, Error> {
    let mut graph = graph.clone();
    for task in &mut graph.tasks {
        task.cost_ns = [("*".to_string(), UNKNOWN_COST_NS)].into();
    }
    let mapping = vec![element; graph.tasks.len()];
    Ok(plan::evaluate(machine, &graph, mapping, &PlanOptions { batch, ..PlanOptions::default() })?)
}
