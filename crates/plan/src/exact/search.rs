//! The exact method from its first mapping to its plan, with a solver that the caller has.

use super::{Program, finish, program};
use crate::{Method, PlanError, PlanOptions, PlanProgress, placed};
use machine::Machine;
use work::{Buffering, Graph, Plan};

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
}

/// Seconds that the search for the first mapping takes at most.
const FIRST_S: f64 = 1.0;
/// Seconds that the solver gets at least.
const SOLVER_S: f64 = 0.1;

/// Plans `graph` on `machine` by the mixed integer program. A plan that `auto` finds in a moment is where the solver
/// starts, says how large a batch is, and is the answer when the solver finds no better one in time.
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
    let mut go_on = true;
    let first = PlanOptions {
        method: Method::Auto,
        time_s: Some((options.seconds() / 2.0).clamp(0.001, FIRST_S)),
        // The program's memory rows follow this rule.
        buffering: Some(options.buffering.unwrap_or(Buffering::Duplicated)),
        ..options.clone()
    };
    let first = crate::plan(machine, graph, &first, clock, &mut |p| {
        let share = (p.seconds / options.seconds()).min(1.0);
        go_on = progress(&PlanProgress { method: "exact", share, ..*p });
        go_on
    })?;
    let options = PlanOptions { batch: Some(first.batch), ..options.clone() };
    let program = program(machine, graph, options.formulation, &options)?;
    let start = program.warm_start(&placed(machine, graph, &first.mapping)?);
    let mut solved = Solved { solution: None, bound: 0.0 };
    if go_on {
        let time_s = (options.seconds() - (clock() - started)).max(SOLVER_S);
        let budget = SolverBudget { time_s, gap: options.gap, seed: options.seed };
        solved = solver.solve(&program, &start, &budget, &mut |p| {
            progress(&PlanProgress {
                method: "exact",
                moves: 0,
                seconds: clock() - started,
                period_ns: p.period * program.scale_ns,
                bound_ns: p.bound * program.scale_ns,
                share: ((clock() - started) / options.seconds()).min(1.0),
            })
        })?;
    }
    let mapping = program.decode(solved.solution.as_deref().unwrap_or(&start))?;
    finish(machine, graph, mapping, solved.bound * program.scale_ns, &options, clock() - started)
}
