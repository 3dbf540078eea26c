//! The exact method is planned as the others are: only the solver is the caller's.

use cellweave::VerbProgress;
use cellweave::machine::Machine;
use cellweave::plan::exact::{Program, Solved, Solver, SolverBudget, SolverProgress};
use cellweave::plan::{Method, PlanError, PlanOptions};
use cellweave::run::Standard;
use cellweave::work::{Graph, Plan, read};

/// Finds nothing better than the start, and proves nothing.
#[derive(Default)]
struct Lazy {
    budget: Option<SolverBudget>,
    batch: u64,
}

impl Solver for Lazy {
    fn solve(
        &mut self,
        program: &Program,
        start: &[f64],
        budget: &SolverBudget,
        progress: &mut dyn FnMut(&SolverProgress) -> bool,
    ) -> Result<Solved, PlanError> {
        assert_eq!(start.len(), program.cost.len());
        (self.budget, self.batch) = (Some(*budget), program.batch);
        progress(&SolverProgress { period: start[0], bound: 0.0 });
        Ok(Solved { solution: None, bound: 0.0, stopped: false })
    }
}

fn host() -> Machine {
    cellweave::machine::load("host").unwrap()
}

/// A chain of so many tasks that no search has tried all mappings when the solver's turn comes; their costs, where they
/// have some, are so uneven that no mapping is as good as the bound.
fn chain(costed: bool) -> Graph {
    const TASKS: usize = 60;
    let mut text = String::from("name = 'chain'\n");
    for i in 0..TASKS {
        let kernel = match i {
            0 => "count",
            _ if i == TASKS - 1 => "discard",
            _ => "copy",
        };
        let cost = 5.0 + (i as f64 + 2.0).sqrt().fract();
        let cost = if costed { format!("cost_ns = {{ '*' = {cost} }}\n") } else { String::new() };
        text += &format!("[[task]]\nname = 't{i}'\nkernel = 'cellweave:{kernel}'\n{cost}");
    }
    for i in 1..TASKS {
        text += &format!("[[edge]]\nfrom = 't{}'\nto = 't{i}'\nbytes = 8\n", i - 1);
    }
    read::text(read::Format::Toml, &text, "chain.toml").unwrap()
}

fn plan(graph: &Graph, options: PlanOptions, solver: &mut Lazy) -> (Graph, Plan) {
    let options = PlanOptions { method: Method::Exact, time_s: Some(0.2), ..options };
    let kernels = Standard::default();
    cellweave::plan(graph, &host(), &kernels, &options, Some(solver), &mut |_| true).unwrap()
}

#[test]
fn a_batch_is_at_most_the_largest_that_is_asked_for() {
    let costed = chain(true);
    let mut solver = Lazy::default();
    let (_, free) = plan(&costed, PlanOptions::default(), &mut solver);
    assert!(free.batch > 4, "fine tasks are batched on a host: {}", free.batch);
    let (_, bounded) = plan(&costed, PlanOptions { max_batch: 4, ..Default::default() }, &mut solver);
    assert!(bounded.batch <= 4 && solver.batch == bounded.batch, "{}", bounded.batch);
    assert_eq!(bounded.method, "exact");
}

#[test]
fn costs_that_are_missing_are_measured_first() {
    let mut told = Vec::new();
    let options = PlanOptions { method: Method::Exact, time_s: Some(0.2), ..Default::default() };
    let mut progress = |p: &VerbProgress| {
        told.push(match p {
            VerbProgress::Profiling { .. } => "profiling",
            VerbProgress::Planning(p) => p.method,
            VerbProgress::Running(_) => "running",
        });
        true
    };
    let mut solver = Lazy::default();
    let kernels = Standard::default();
    let (costed, plan) =
        cellweave::plan(&chain(false), &host(), &kernels, &options, Some(&mut solver), &mut progress)
            .unwrap();
    assert!(costed.tasks.iter().all(|t| t.cost_on("core").is_some()));
    assert!(plan.feasible);
    assert_eq!(plan.method, "exact");
    // Measured costs differ from run to run. With some of them the first mapping is as good as the bound, and nothing
    // is told of planning; in no run is anything measured once planning has begun.
    let measured = told.iter().take_while(|what| **what == "profiling").count();
    assert!(measured > 0 && !told[measured..].contains(&"profiling"), "{told:?}");
}

#[test]
fn the_solver_gets_the_options_of_the_plan() {
    let costed = chain(true);
    let mut solver = Lazy::default();
    plan(&costed, PlanOptions { gap: 0.25, seed: 9, ..Default::default() }, &mut solver);
    let budget = solver.budget.unwrap();
    assert_eq!((budget.gap, budget.seed), (0.25, 9));
    assert!(budget.time_s <= 0.2);
}

#[test]
fn without_a_solver_the_exact_method_says_so() {
    let options = PlanOptions { method: Method::Exact, ..Default::default() };
    let costed = chain(true);
    let why =
        cellweave::plan(&costed, &host(), &Standard::default(), &options, None, &mut |_| true).unwrap_err();
    assert!(why.to_string().contains("solver"), "{why}");
}
