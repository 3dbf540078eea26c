//! From a task graph to a plan: where each task runs, and how far from the best possible that is at most.
//!
//! | module | what it knows |
//! |---|---|
//! | [`problem`] | a machine and a graph as dense arrays |
//! | [`mod@greedy`], [`mod@cluster`], [`mod@delegate`] | Algorithms 1 to 7 of `streaming-schedule` |
//! | `anneal`, `state`, `flow` | search with incremental evaluation |
//! | [`mod@bound`] | what no mapping can beat |
//! | `start`, `batch`, `depth` | where a search starts; instances per firing; how deep a ring between caches is |
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
//! let options = plan::Options { method: plan::Method::Auto, moves: Some(10_000), ..Default::default() };
//! let plan = plan::plan(&machine, &graph, &options, &|| 0.0, &mut |_| true).unwrap();
//! assert_eq!((plan.period_ns, plan.gap), (30.0, 0.0));
//!
//! // The exact method is a program for a solver: see `exact`.
//! let program = plan::exact::program(&machine, &graph, plan::exact::Formulation::Compact, &options).unwrap();
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
mod budget;
mod depth;
mod finish;
mod flow;
mod sets;
mod start;
mod state;

#[cfg(test)]
mod tests;

pub use bound::bound;
pub use cluster::cluster;
pub use delegate::delegate;
pub use greedy::greedy;
pub use problem::Problem;

use budget::Budget;
use flow::Flow;
use machine::{Machine, Role};
use work::{Buffering, Graph, Mapping, Plan};

/// How to map.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Method {
    /// Algorithm 1.
    Greedy,
    /// Algorithms 3 to 5.
    Cluster,
    /// Algorithms 6 and 7.
    Delegate,
    /// Annealing on the total overload.
    Anneal,
    /// The mixed integer program; needs a solver, see [`exact`].
    Exact,
    /// Greedy, then delegate where it applies, then annealing until the gap is proved or the budget is spent.
    #[default]
    Auto,
    /// A mapping that is there already.
    Given(Mapping),
}

impl Method {
    /// `greedy`, `cluster`, `delegate`, `anneal`, `exact`, `auto` or `given`.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Greedy => "greedy",
            Method::Cluster => "cluster",
            Method::Delegate => "delegate",
            Method::Anneal => "anneal",
            Method::Exact => "exact",
            Method::Auto => "auto",
            Method::Given(_) => "given",
        }
    }

    /// The method that is called `name`; `given` is none, for it needs a mapping.
    pub fn from_name(name: &str) -> Option<Method> {
        [Method::Greedy, Method::Cluster, Method::Delegate, Method::Anneal, Method::Exact, Method::Auto]
            .into_iter()
            .find(|m| m.name() == name)
    }

    /// The buffering rule where none is asked for: the paper's for its three methods, shared for the others.
    pub fn buffering(&self) -> Buffering {
        match self {
            Method::Greedy | Method::Cluster | Method::Delegate => Buffering::Duplicated,
            _ => Buffering::Shared,
        }
    }
}

/// What a plan should be like.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How to map.
    pub method: Method,
    /// Which rule sizes the buffers; `None` = [`Method::buffering`].
    pub buffering: Option<Buffering>,
    /// Instances per firing; `None` = 1 where nothing is spent on transfers and nothing is cached, else chosen.
    pub batch: Option<u64>,
    /// The largest batch that may be chosen.
    pub max_batch: u64,
    /// The search ends when `1 - bound / period` is at most this.
    pub gap: f64,
    /// The search ends after so many moves; with it, the clock is not looked at, and the plan repeats exactly.
    pub moves: Option<u64>,
    /// The search ends after so many seconds.
    pub time_s: f64,
    /// Seed of the search.
    pub seed: u64,
    /// DELEGATE: the largest radius of a neighbourhood.
    pub dmax: usize,
    /// DELEGATE: bytes/s of the links from the SPEs of a chip to its PPE; `None` = `min(25, 2 * SPEs)` GB/s, from the
    /// machine's limits.
    pub read_back_bytes_per_s: Option<f64>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            method: Method::Auto,
            buffering: None,
            batch: None,
            max_batch: 1024,
            gap: 0.01,
            moves: None,
            time_s: 1.0,
            seed: 0,
            dmax: 2,
            read_back_bytes_per_s: None,
        }
    }
}

/// How far a search is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
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
    /// [`Method::Exact`] without a solver.
    #[error(
        "the exact method needs a solver: build the program with plan::exact::program and hand it to one"
    )]
    NeedsSolver,
    /// A solver's answer that is no mapping.
    #[error("the solver's answer is no mapping: {0}")]
    BadSolution(String),
}

/// Above this many tasks `auto` leaves DELEGATE out: its moves grow with the square of the tasks.
const DELEGATE_TASKS: usize = 250;
/// After this many moves `auto` takes what DELEGATE has.
const DELEGATE_MOVES: u64 = 400_000;
/// Above this many tasks contiguous cuts are not all tried.
const CUT_TASKS: usize = 20_000;

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
    options: &Options,
    clock: &dyn Fn() -> f64,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Plan, PlanError> {
    let started = clock();
    check_options(options)?;
    let problem = Problem::new(machine, graph)?;
    let buffering = options.buffering.unwrap_or(options.method.buffering());
    let mut budget = Budget::new(options.method.name(), clock, progress, started, options);
    let first_batch = options.batch.unwrap_or(1);
    let (mapping, moves) = match &options.method {
        Method::Greedy => (greedy(&problem, first_batch)?, 0),
        Method::Cluster => (cluster(&problem, first_batch)?, 0),
        Method::Delegate => {
            let mut last = started;
            delegate(&problem, first_batch, options.dmax, options.read_back_bytes_per_s, &mut |moves| {
                let now = clock();
                now - last < 0.1 || {
                    last = now;
                    (budget.progress)(&Progress {
                        method: "delegate",
                        moves,
                        seconds: now - started,
                        period_ns: f64::INFINITY,
                        bound_ns: 0.0,
                    })
                }
            })?
        }
        Method::Given(mapping) => (mapping.clone(), 0),
        Method::Anneal | Method::Auto => search(&problem, buffering, options, &mut budget)?,
        Method::Exact => return Err(PlanError::NeedsSolver),
    };
    finish::check(&problem, &mapping)?;
    let batch =
        options.batch.unwrap_or_else(|| batch::choose(&problem, &mapping, buffering, options.max_batch));
    let mapped = finish::Mapped {
        method: options.method.name(),
        mapping,
        buffering,
        batch,
        bound_ns: 0.0,
        moves,
        seed: options.seed,
        seconds: clock() - started,
    };
    finish::finish(&problem, mapped)
}

/// Starts, then annealing from the best of them.
fn search(
    problem: &Problem,
    buffering: Buffering,
    options: &Options,
    budget: &mut Budget,
) -> Result<(Mapping, u64), PlanError> {
    let mut starts = start::singles(problem);
    let plain = Flow::new(problem.graph, &problem.broadcasts, 1);
    if problem.tasks() <= CUT_TASKS {
        starts.extend(start::cuts(problem, &plain));
    }
    let first_batch = options.batch.unwrap_or(1);
    // Buffers under the paper's rule may not exist where a cycle's delay is short; then the other starts must do.
    if let Ok(mapping) = greedy(problem, first_batch) {
        starts.push(mapping);
    }
    let has_accelerators = problem.role_of.contains(&Role::Accelerator);
    if options.method == Method::Auto && has_accelerators && problem.tasks() <= DELEGATE_TASKS {
        // Ended by a count, not by the clock: a plan must repeat.
        let mut go_on = |evaluated: u64| evaluated < DELEGATE_MOVES;
        if let Ok((mapping, _)) =
            delegate(problem, first_batch, options.dmax, options.read_back_bytes_per_s, &mut go_on)
        {
            starts.push(mapping);
        }
    }
    if starts.is_empty() {
        starts.push((0..problem.tasks()).map(|t| least_cost_element(problem, t)).collect());
    }
    let batch = options.batch.unwrap_or_else(|| working_batch(problem, &starts, buffering, options));
    let flow = Flow::new(problem.graph, &problem.broadcasts, batch);
    let bound_ns = bound(problem, batch, buffering);
    let found = anneal::anneal(problem, &flow, buffering, &starts, bound_ns, options.seed, budget);
    Ok((found.mapping, found.moves))
}

fn least_cost_element(problem: &Problem, task: usize) -> usize {
    greedy::least(0..problem.elements(), |e| problem.cost_on(task, e)).unwrap_or(0)
}

/// The batch to search with: that of the start which is best with its own batch.
fn working_batch(problem: &Problem, starts: &[Mapping], buffering: Buffering, options: &Options) -> u64 {
    let n = problem.elements();
    let mut best = (f64::INFINITY, 1);
    for mapping in starts {
        let batch = batch::choose(problem, mapping, buffering, options.max_batch);
        let Ok(schedule) = work::schedule::schedule(problem.graph, mapping, n, buffering, batch) else {
            continue;
        };
        let predicted =
            model::predict_with(&problem.limits, problem.machine, problem.graph, mapping, &schedule);
        if let Some(p) = predicted.ok().filter(|p| p.period_ns < best.0) {
            best = (p.period_ns, batch);
        }
    }
    best.1
}

fn check_options(options: &Options) -> Result<(), PlanError> {
    let bad = |text: String| Err(PlanError::BadNumber(text));
    if options.batch == Some(0) || options.max_batch == 0 {
        return bad("a batch must be at least 1".into());
    }
    if !(0.0..1.0).contains(&options.gap) {
        return bad(format!("a gap of {} is asked for: it must be at least 0 and below 1", options.gap));
    }
    if options.time_s.is_nan() || options.time_s < 0.0 {
        return bad(format!("a time of {} s is asked for: it must be 0 or more", options.time_s));
    }
    if options.read_back_bytes_per_s.is_some_and(|b| b.is_nan() || b <= 0.0) {
        return bad("the bandwidth from SPEs to their PPE must be more than 0 bytes/s".into());
    }
    Ok(())
}
