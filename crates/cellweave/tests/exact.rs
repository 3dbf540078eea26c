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
        Ok(Solved { solution: None, bound: 0.0 })
    }
}

fn host() -> Machine {
    cellweave::machine::load("host").unwrap()
}

fn graph(costs: &str) -> Graph {
    let text = format!(
        "name = 'pair'\n\
         task = [{{ name = 'a', kernel = 'cellweave:count'{costs} }},\n\
         {{ name = 'b', kernel = 'cellweave:discard'{costs} }}]\n\
         edge = [{{ from = 'a', to = 'b', bytes = 8 }}]"
    );
    read::text(read::Format::Toml, &text, "pair.toml").unwrap()
}

fn plan(graph: &Graph, options: PlanOptions, solver: &mut Lazy) -> (Graph, Plan) {
    let options = PlanOptions { method: Method::Exact, time_s: Some(0.2), ..options };
    let kernels = Standard::default();
    cellweave::plan(graph, &host(), &kernels, &options, Some(solver), &mut |_| true).unwrap()
}

#[test]
fn a_batch_is_at_most_the_largest_that_is_asked_for() {
    let costed = graph(", cost_ns = { '*' = 5.0 }");
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
        cellweave::plan(&graph(""), &host(), &kernels, &options, Some(&mut solver), &mut progress).unwrap();
    assert!(costed.tasks.iter().all(|t| t.cost_on("core").is_some()));
    assert!(plan.feasible);
    assert_eq!((told.first(), told.last()), (Some(&"profiling"), Some(&"exact")));
}

#[test]
fn the_solver_gets_the_options_of_the_plan() {
    let costed = graph(", cost_ns = { '*' = 5.0 }");
    let mut solver = Lazy::default();
    plan(&costed, PlanOptions { gap: 0.25, seed: 9, ..Default::default() }, &mut solver);
    let budget = solver.budget.unwrap();
    assert_eq!((budget.gap, budget.seed), (0.25, 9));
    assert!(budget.time_s <= 0.2);
}

#[test]
fn without_a_solver_the_exact_method_says_so() {
    let options = PlanOptions { method: Method::Exact, ..Default::default() };
    let costed = graph(", cost_ns = { '*' = 5.0 }");
    let why =
        cellweave::plan(&costed, &host(), &Standard::default(), &options, None, &mut |_| true).unwrap_err();
    assert!(why.to_string().contains("solver"), "{why}");
}
