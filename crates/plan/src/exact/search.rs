//! The exact method from its first mapping to its plan, with a solver that the caller has.

use super::{Program, finish, program, rule};
use crate::anneal::anneal;
use crate::budget::Budget;
use crate::flow::Flow;
use crate::{Method, PlanError, PlanOptions, PlanProgress, Problem, search};
use machine::Machine;
use work::{Graph, Mapping, Plan};

/// A solver for a [`Program`].
pub trait Solver {
    /// Improves on `start`, which has a value for every column. `progress` is called now and then; when it returns
    /// false, the solver ends soon with the best solution so far.
    ///
    /// # Errors
    /// [`PlanError::Solver`] when it cannot work, [`PlanError::Stopped`] when it was stopped without an answer.
    fn solve(
        &mut self,
        program: &Program,
        start: &[f64],
        budget: &SolverBudget,
        progress: &mut dyn FnMut(&SolverProgress) -> bool,
    ) -> Result<Solved, PlanError>;
}

/// When a solver stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolverBudget {
    /// After so many seconds.
    pub time_s: f64,
    /// When this gap is proved.
    pub gap: f64,
    /// Seed of what it draws at random.
    pub seed: u64,
}

/// How far a solver is. Times are in units of [`Program::scale_ns`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolverProgress {
    /// The period of the best solution; infinite before there is one.
    pub period: f64,
    /// What is proved: no solution is below.
    pub bound: f64,
}

/// A solver's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Solved {
    /// A value for every column; `None` when nothing better than the start was found.
    pub solution: Option<Vec<f64>>,
    /// No solution is below this, in units of [`Program::scale_ns`]; 0 when nothing was proved.
    pub bound: f64,
    /// The user has asked for an end: nothing else is searched.
    pub stopped: bool,
}

/// Seconds that the search for the first mapping takes at most.
const FIRST_S: f64 = 1.0;
/// Seconds that the solver gets at least.
const SOLVER_S: f64 = 0.1;
/// The part of the time that the solver gets where its program is not exact; the rest is left to the search.
const INEXACT: f64 = 0.5;

/// Plans `graph` on `machine` by the mixed integer program. A plan that a search finds in a moment is where the solver
/// starts, and says how large a batch is. Where the solver's answer is not proved, because time ran out or the program
/// does not hold all that the model has, the search of `auto` goes on from the best mapping that is known.
///
/// # Errors
/// As [`plan`](crate::plan()), and what the solver says.
pub fn plan(
    machine: &Machine,
    graph: &Graph,
    options: &PlanOptions,
    solver: &mut dyn Solver,
    clock: &dyn Fn() -> f64,
    progress: &mut dyn FnMut(&PlanProgress) -> bool,
) -> Result<Plan, PlanError> {
    options.check()?;
    let started = clock();
    let problem = Problem::with_wishes(machine, graph, &options.wishes(machine, graph)?)?;
    let buffering = rule(&problem, options);
    let mut go_on = true;
    let first = PlanOptions {
        // The batch is that of the best mapping; with a batch that is given, the solver finds it.
        method: if options.batch.is_none() { Method::Auto } else { Method::Anneal },
        time_s: Some((options.seconds() / 2.0).clamp(0.001, FIRST_S)),
        buffering: Some(buffering),
        ..options.clone()
    };
    let first = crate::plan(machine, graph, &first, clock, &mut |p| {
        let share = (p.seconds / options.seconds()).min(1.0);
        go_on = progress(&PlanProgress { method: "exact", share, ..*p });
        go_on
    })?;
    let options = &PlanOptions { batch: Some(first.batch), buffering: Some(buffering), ..options.clone() };
    let element = |task: &work::Task| machine.element(&first.mapping[&task.name]);
    let known: Option<Mapping> = graph.tasks.iter().map(element).collect();
    let known =
        known.ok_or_else(|| PlanError::BadMapping("an element of the first plan is not there".into()))?;
    if first.feasible && first.bound_ns >= first.period_ns {
        return finish(machine, graph, known, first.bound_ns, options, clock() - started);
    }
    let program = program(machine, graph, options.formulation, options)?;
    let start = program.warm_start(&known);
    let mut solved = Solved { solution: None, bound: 0.0, stopped: false };
    if go_on {
        let left_s = options.seconds() - (clock() - started);
        let time_s = (left_s * if program.is_exact { 1.0 } else { INEXACT }).max(SOLVER_S);
        let budget = SolverBudget { time_s, gap: options.gap, seed: options.seed };
        solved = solver.solve(&program, &start, &budget, &mut |p| {
            go_on = progress(&PlanProgress {
                method: "exact",
                moves: 0,
                seconds: clock() - started,
                period_ns: p.period * program.scale_ns,
                bound_ns: p.bound * program.scale_ns,
                share: ((clock() - started) / options.seconds()).min(1.0),
            });
            go_on
        })?;
    }
    let mut bound_ns = (solved.bound * program.scale_ns).max(first.bound_ns);
    let mut mappings = vec![known];
    if let Some(solution) = &solved.solution {
        mappings.push(program.decode(solution)?);
    }
    let quality = |mapping: &Mapping| search::quality(&problem, mapping, buffering, first.batch);
    let mut best = mappings.remove(0);
    for mapping in mappings {
        let ((feasible, period), (best_feasible, best_period)) = (quality(&mapping), quality(&best));
        if (!feasible, period) <= (!best_feasible, best_period) {
            best = mapping;
        }
    }
    let (feasible, period_ns) = quality(&best);
    // The search itself stops at the gap that is asked for, but not before it has tried all mappings of a small graph.
    let optimal = feasible && period_ns <= bound_ns * (1.0 + SOLVED);
    if go_on && !solved.stopped && !optimal {
        let options =
            PlanOptions { method: Method::Auto, time_s: Some(options.seconds()), ..options.clone() };
        let mut budget = Budget::new("exact", clock, progress, started, &options);
        let flow = Flow::new(graph, &problem.broadcasts, first.batch);
        let found = anneal(&problem, &flow, buffering, &[best], bound_ns, &mut budget);
        best = found.mapping;
        let (feasible, period_ns) = quality(&best);
        if found.optimal && feasible {
            bound_ns = period_ns;
        }
    }
    finish(machine, graph, best, bound_ns, options, clock() - started)
}

/// What a solver's answer may be off by.
const SOLVED: f64 = 1e-6;
