//! From a task graph to a plan: where each task runs, and how far from the best possible that is at most.
//!
//! | module | what it knows |
//! |---|---|
//! | [`problem`] | a machine and a graph as dense arrays |
//! | [`mod@greedy`], [`mod@cluster`], [`mod@delegate`] | Algorithms 1 to 7 of `streaming-schedule` |
//! | `search` | what `anneal` and `auto` do |
//! | `anneal`, `state`, `flow`, `best` | search with incremental evaluation |
//! | `coarse` | starts among groups of elements, such as the SPEs of a chip |
//! | `branch`, `symmetry` | all mappings of a small graph; elements that can change places |
//! | [`mod@bound`] | what no mapping can beat; in `queues` where DMA queues are short |
//! | `start`, `batch`, `depth` | where a search starts; instances per firing; how deep a ring between caches is |
//! | `cycles` | feedback: what must be on one element |
//! | [`exact`] | the mixed integer program, as sparse arrays for any solver |
//!
//! Floor 4: imports `machine`, `work` and `model`. Reads no clock: the caller passes one in.
//!
//! ```
//! # use std::collections::BTreeMap;
//! # let element = |name: &str| machine::Element {
//! #     name: name.into(), kind: "core".into(), place: machine::Place::default(), memory: None,
//! #     incoming_max: None, outgoing_max: BTreeMap::new(), os_cpu: None,
//! # };
//! # let machine = machine::Machine {
//! #     name: "two".into(), elements: vec![element("CPU0"), element("CPU1")], ..Default::default()
//! # };
//! # let task = |name: &str, ns: f64| work::Task {
//! #     name: name.into(), cost_ns: BTreeMap::from([("*".to_string(), ns)]), ..Default::default()
//! # };
//! # let graph = work::Graph {
//! #     name: "three".into(), tasks: vec![task("a", 30.0), task("b", 20.0), task("c", 10.0)], ..Default::default()
//! # };
//! // A host passes its clock; a constant one never runs out of time, so `moves` or a proved gap must end the search.
//! let options = plan::PlanOptions { method: plan::Method::Auto, moves: Some(10_000), ..Default::default() };
//! let plan = plan::plan(&machine, &graph, &options, &|| 0.0, &mut |_| true).unwrap();
//! assert_eq!((plan.period_ns, plan.gap), (30.0, 0.0));
//!
//! // The exact method is a program for a solver: see `exact`.
//! let program = plan::exact::program(&machine, &graph, plan::Formulation::Compact, &options).unwrap();
//! let start = program.warm_start(&[0, 1, 1]);
//! let mapping = program.decode(&start).unwrap();
//! let exact = plan::exact::finish(&machine, &graph, mapping, 30.0, &options, 0.1).unwrap();
//! assert_eq!((exact.method.as_str(), exact.gap), ("exact", 0.0));
//! ```

pub mod bound;
pub mod cluster;
pub mod delegate;
pub mod exact;
pub mod greedy;
pub mod problem;

mod anneal;
mod batch;
mod best;
mod branch;
mod budget;
mod coarse;
mod cycles;
mod depth;
mod finish;
mod flow;
mod options;
mod search;
mod sets;
mod start;
mod state;
mod symmetry;

#[cfg(test)]
mod tests;

pub use bound::bound;
pub use cluster::cluster;
pub use delegate::delegate;
pub use greedy::greedy;
pub use options::{Formulation, Method, PlanOptions, Wishes};
pub use problem::Problem;

use budget::Budget;
use ground::options::Word;
use machine::Machine;
use work::{Graph, Mapping, Plan};

/// How far a search is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanProgress {
    /// The method that is at work.
    pub method: &'static str,
    /// Moves evaluated.
    pub moves: u64,
    /// Seconds since the start.
    pub seconds: f64,
    /// The best period so far, in ns.
    pub period_ns: f64,
    /// The bound, in ns.
    pub bound_ns: f64,
    /// The part of the moves, or of the time, that is spent: 0 to 1.
    pub share: f64,
}

impl PlanProgress {
    /// `1 - bound / period`, once there is a period.
    pub fn gap(&self) -> Option<f64> {
        (self.period_ns.is_finite() && self.period_ns > 0.0)
            .then(|| (1.0 - self.bound_ns / self.period_ns).max(0.0))
    }
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// No tasks or no elements.
    #[error("nothing to plan: {0}")]
    NothingToPlan(String),
    /// A task cannot run anywhere on the machine.
    #[error(
        "task {task} has no cost on any kind of element of machine {machine:?} ({kinds}): give cost_ns, or \
         profile the application"
    )]
    NoCost {
        /// The task's name.
        task: String,
        /// The machine's name.
        machine: String,
        /// The machine's kinds.
        kinds: String,
    },
    /// A task is mapped to a kind that it has no cost for.
    #[error(transparent)]
    MissingCost(#[from] model::MissingCost),
    /// A number that cannot be one.
    #[error("{0}")]
    BadNumber(String),
    /// A mapping that is none of this graph on this machine.
    #[error("the mapping does not fit: {0}")]
    BadMapping(String),
    /// A cycle's delay is too short.
    #[error(transparent)]
    NoSchedule(#[from] work::schedule::NoSchedule),
    /// An option out of its range, or a mapping by names that are not there.
    #[error(transparent)]
    Option(#[from] ground::Located),
    /// [`Method::Exact`] without a solver.
    #[error("the exact method needs a solver: plan with exact::plan")]
    NeedsSolver,
    /// The solver cannot work.
    #[error("{0}")]
    Solver(String),
    /// The caller stopped a solver that had no answer yet.
    #[error("stopped")]
    Stopped,
    /// A solver's answer that is no mapping.
    #[error("the solver's answer is no mapping: {0}")]
    BadSolution(String),
}

/// Plans `graph` on `machine`.
///
/// `clock` gives seconds since any moment; `progress` is called now and then during a search, and ends it by saying
/// false: then the best plan so far is returned.
///
/// # Errors
/// [`PlanError`]. A mapping that breaks a memory or DMA limit is no error: the plan says that it is infeasible, and
/// why.
pub fn plan(
    machine: &Machine,
    graph: &Graph,
    options: &PlanOptions,
    clock: &dyn Fn() -> f64,
    progress: &mut dyn FnMut(&PlanProgress) -> bool,
) -> Result<Plan, PlanError> {
    let started = clock();
    options.check()?;
    let wishes = options.wishes(machine, graph)?;
    if let Some(mapping) = wishes.fixed.iter().copied().collect::<Option<Mapping>>() {
        let plan = evaluate(machine, graph, mapping, options)?;
        return Ok(Plan { seconds: clock() - started, ..plan });
    }
    let problem = Problem::with_wishes(machine, graph, &wishes)?;
    let first_batch = options.batch.unwrap_or(1);
    let buffering = options
        .buffering
        .unwrap_or_else(|| cycles::possible(&problem, options.method.buffering(), first_batch));
    let mut budget = Budget::new(options.method.word(), clock, progress, started, options);
    let (mapping, moves) = match options.method {
        Method::Greedy => (greedy(&problem, first_batch), 0),
        Method::Cluster => (cluster(&problem, first_batch), 0),
        Method::Delegate => {
            let mut last = started;
            delegate(&problem, first_batch, options.dmax, options.read_back_bytes_per_s(), &mut |moves| {
                let now = clock();
                now - last < 0.1 || {
                    last = now;
                    (budget.progress)(&PlanProgress {
                        method: "delegate",
                        moves,
                        seconds: now - started,
                        period_ns: f64::INFINITY,
                        bound_ns: 0.0,
                        share: options.share(moves, now - started),
                    })
                }
            })
        }
        Method::Anneal | Method::Auto => {
            let mapped = search::search(&problem, buffering, options, &mut budget)?;
            return finish::finish(&problem, finish::Mapped { seconds: clock() - started, ..mapped });
        }
        Method::Exact => return Err(PlanError::NeedsSolver),
    };
    let mapped = finish::Mapped {
        method: options.method.word(),
        mapping: cycles::together(&problem, mapping, buffering, first_batch)?,
        buffering,
        batch: first_batch,
        bound_ns: 0.0,
        moves,
        seed: options.seed,
        seconds: clock() - started,
    };
    batched(&problem, mapped, options)
}

/// The plan of a mapping that is there already; nothing is searched for.
///
/// # Errors
/// As [`plan()`].
pub fn evaluate(
    machine: &Machine,
    graph: &Graph,
    mapping: Mapping,
    options: &PlanOptions,
) -> Result<Plan, PlanError> {
    options.check()?;
    let mapped = finish::Mapped {
        method: "given",
        mapping,
        buffering: options.buffering.unwrap_or_default(),
        batch: options.batch.unwrap_or(1),
        bound_ns: 0.0,
        moves: 0,
        seed: options.seed,
        seconds: 0.0,
    };
    batched(&Problem::new(machine, graph)?, mapped, options)
}

/// Finishes a plan with the batch that is asked for, or the best one.
fn batched(problem: &Problem, mapped: finish::Mapped, options: &PlanOptions) -> Result<Plan, PlanError> {
    finish::check(problem, &mapped.mapping)?;
    let batch = options
        .batch
        .unwrap_or_else(|| batch::choose(problem, &mapped.mapping, mapped.buffering, options.max_batch));
    finish::finish(problem, finish::Mapped { batch, ..mapped })
}
