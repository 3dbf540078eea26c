//! The exact method: a mixed integer program as sparse arrays, for any solver.
//!
//! [`program`] builds it, the caller hands [`Program`]'s arrays to a solver (Python's `highspy`), and [`finish`] makes
//! a plan of the answer. Columns: the period first, then `alpha` of task t on element e at `1 + t * elements + e`, then
//! whatever the formulation needs. Times are divided by [`Program::scale_ns`], so that the period is about 1.
//!
//! - [`Formulation::Paper`]: equations (10) to (19) of `streaming-schedule`, `beta` continuous in \[0, 1\].
//! - [`Formulation::Compact`]: no `beta`; one variable per (edge, element) says that the edge's data leaves or enters
//!   the element, and one per (edge, block of pairs) serves the limits between groups. Interchangeable elements are
//!   told apart: of each group the first may run any task, the second any but the heaviest, and so on.
//!
//! Memory (16) is exact under the *duplicated* rule, under which buffers do not depend on the mapping; that is why the
//! method uses this rule by default on a machine with hard memory (elsewhere the shared one). Under the shared rule
//! buffers would be products of variables: the program then holds what they are at the least. Neither does it hold what
//! a soft memory adds that overflows, nor which cycles are too short to be cut. So every feasible mapping is a solution
//! and the solver's bound is a bound for all of them, but not every solution is feasible: [`Program::is_exact`] says
//! whether it is, and where the solver's answer is not proved, [`plan`](plan()) goes on with the search of `auto`. On a
//! machine without local stores there is no (16), (17), (18); overheads are linear in the cut edges.
//!
//! The batch is the options' (`None` = 1): take that of the plan that warm-starts the program. A program of more than
//! [`MOST_COLUMNS`] columns is refused.

mod compact;
mod paper;
mod rows;
mod search;

use crate::finish::{self, Mapped};
use crate::{Formulation, PlanError, PlanOptions, Problem, cycles, symmetry};
use machine::Machine;
use rows::{Aux, Rows};
use work::{Buffering, Graph, Mapping, Plan};

pub use search::{Solved, Solver, SolverBudget, SolverProgress, plan};

/// Columns beyond which a program is refused: no solver would get anywhere.
pub const MOST_COLUMNS: usize = 2_000_000;

/// Minimise `cost . x` over `lower <= x <= upper`, `row_lower <= A x <= row_upper`, some x integral; A by rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Per column.
    pub cost: Vec<f64>,
    /// Per column.
    pub lower: Vec<f64>,
    /// Per column; infinite = not bounded.
    pub upper: Vec<f64>,
    /// Per column: whether it must be whole.
    pub integral: Vec<bool>,
    /// Per row; minus infinity = not bounded.
    pub row_lower: Vec<f64>,
    /// Per row.
    pub row_upper: Vec<f64>,
    /// Row r's entries are `start[r] .. start[r + 1]`.
    pub start: Vec<u32>,
    /// Column of each entry.
    pub index: Vec<u32>,
    /// Value of each entry.
    pub value: Vec<f64>,
    /// ns that a period of 1 in the program is.
    pub scale_ns: f64,
    /// Instances per firing that the program was built for.
    pub batch: u64,
    /// The rule that sizes buffers.
    pub buffering: Buffering,
    /// Whether every solution is a feasible mapping with the solution's period.
    pub is_exact: bool,
    tasks: usize,
    elements: usize,
    aux: Vec<Aux>,
    /// Groups of interchangeable elements, each in the order in which they are given out.
    classes: Vec<Vec<usize>>,
    /// Tasks, heaviest first.
    heaviest: Vec<usize>,
    /// The broadcasts, as (producer, consumers).
    flows: Vec<(usize, Vec<usize>)>,
    /// ns of everything that makes up a period, by column, to give the warm start its period: rows that end in -period.
    period_rows: Vec<u32>,
}

/// Builds the program of `graph` on `machine`.
///
/// # Errors
/// As [`plan`](crate::plan()), and when the program is too large.
pub fn program(
    machine: &Machine,
    graph: &Graph,
    formulation: Formulation,
    options: &PlanOptions,
) -> Result<Program, PlanError> {
    options.check()?;
    let problem = Problem::with_wishes(machine, graph, &options.wishes(machine, graph)?)?;
    let batch = options.batch.unwrap_or(1);
    let mut rows = Rows::new(&problem, batch, rule(&problem, options));
    rows.alphas()?;
    let classes = match formulation {
        Formulation::Paper => {
            paper::rows(&mut rows)?;
            Vec::new()
        }
        Formulation::Compact => {
            compact::rows(&mut rows)?;
            let classes = symmetry::classes(&problem);
            rows.break_symmetry(&classes);
            classes
        }
    };
    Ok(rows.program(classes))
}

/// The rule that sizes buffers: what is asked for, else the one under which the program is exact.
fn rule(problem: &Problem, options: &PlanOptions) -> Buffering {
    let soft = problem.room.iter().all(Option::is_none);
    let own = if soft { Buffering::Shared } else { Buffering::Duplicated };
    options.buffering.unwrap_or_else(|| cycles::possible(problem, own, options.batch.unwrap_or(1)))
}

impl Program {
    /// The mapping of a solution: each task where its largest `alpha` is.
    ///
    /// # Errors
    /// [`PlanError::BadSolution`] when the solution has too few values or a task's `alpha`s are all near 0.
    pub fn decode(&self, solution: &[f64]) -> Result<Mapping, PlanError> {
        if solution.len() < 1 + self.tasks * self.elements {
            let (got, want) = (solution.len(), self.cost.len());
            return Err(PlanError::BadSolution(format!(
                "it has {got} values, and the program {want} columns"
            )));
        }
        (0..self.tasks)
            .map(|t| {
                let row = &solution[1 + t * self.elements..1 + (t + 1) * self.elements];
                let best = row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
                best.filter(|(_, alpha)| **alpha > 0.4).map(|(e, _)| e).ok_or_else(|| {
                    PlanError::BadSolution(format!("task {t} is on no element (its alphas are {row:?})"))
                })
            })
            .collect()
    }

    /// A value for every column that stands for `mapping`, up to which of the interchangeable elements is which.
    ///
    /// It is a solution of the program when the mapping is feasible under the program's rule.
    ///
    /// # Panics
    /// When `mapping` is not of this program's graph and machine.
    pub fn warm_start(&self, mapping: &[usize]) -> Vec<f64> {
        let mapping = symmetry::canonical(mapping, &self.classes, &self.heaviest);
        let mut x = vec![0.0; self.cost.len()];
        x[0] = self.lower[0];
        for (task, &on) in mapping.iter().enumerate() {
            x[1 + task * self.elements + on] = 1.0;
        }
        let first = 1 + self.tasks * self.elements;
        for (i, aux) in self.aux.iter().enumerate() {
            x[first + i] = aux.value(&mapping, &self.flows);
        }
        for &row in &self.period_rows {
            let entries = self.start[row as usize] as usize..self.start[row as usize + 1] as usize;
            let sum: f64 = entries.map(|i| self.value[i] * x[self.index[i] as usize]).sum();
            // The row is (sum of loads) - period <= 0, and x[0] is what the rows before made it.
            x[0] += sum.max(0.0);
        }
        x
    }
}

/// The plan of a mapping that a solver found for the program of these options, with the bound that it proved, in ns
/// (0 = none).
///
/// # Errors
/// As [`plan`](crate::plan()).
pub fn finish(
    machine: &Machine,
    graph: &Graph,
    mapping: Mapping,
    bound_ns: f64,
    options: &PlanOptions,
    seconds: f64,
) -> Result<Plan, PlanError> {
    options.check()?;
    let problem = Problem::with_wishes(machine, graph, &options.wishes(machine, graph)?)?;
    let mapped = Mapped {
        method: "exact",
        mapping,
        buffering: rule(&problem, options),
        batch: options.batch.unwrap_or(1),
        bound_ns: if bound_ns.is_finite() { bound_ns } else { 0.0 },
        moves: 0,
        seed: options.seed,
        seconds,
    };
    finish::finish(&problem, mapped)
}
