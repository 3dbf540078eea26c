//! `auto` and `exact` find the best of all mappings of small graphs, as an oracle of its own has it.

mod oracle;

use oracle::Oracle;
use oracle::cases::{Case, case};
use plan::exact::{Program, Solved, Solver, SolverBudget, SolverProgress};
use plan::{Method, PlanError, PlanOptions};
use work::Plan;

/// Mappings of a case at most: the whole thousand, with larger cases, is a command of `benches/planning`.
const MAPPINGS: usize = 1_300;

/// Cases in the tests.
const CASES: u64 = 100;

/// A solver that finds nothing and proves nothing: what it leaves open is left to the search.
struct Idle;

impl Solver for Idle {
    fn solve(
        &mut self,
        _: &Program,
        _: &[f64],
        _: &SolverBudget,
        _: &mut dyn FnMut(&SolverProgress) -> bool,
    ) -> Result<Solved, PlanError> {
        Ok(Solved { solution: None, bound: 0.0, stopped: false })
    }
}

fn plan_of(case: &Case, options: &PlanOptions) -> Result<Plan, PlanError> {
    let (clock, go_on) = (|| 0.0, &mut |_: &plan::PlanProgress| true);
    match options.method {
        Method::Exact => plan::exact::plan(&case.machine, &case.graph, options, &mut Idle, &clock, go_on),
        _ => plan::plan(&case.machine, &case.graph, options, &clock, go_on),
    }
}

/// The plan's period is the oracle's of the plan's mapping, and none is better.
fn is_best(number: u64, case: &Case, options: &PlanOptions) {
    let planned = plan_of(case, options);
    let batch = planned.as_ref().map_or(case.batch, |plan| plan.batch);
    let oracle = Oracle::new(&case.machine, &case.graph, case.rule, batch);
    let said = format!("case {number}, {} {:?}, {:?}", case.sort, case.rule, options.method);
    match (oracle.best(), planned) {
        (Some((best, mapping)), Ok(plan)) => {
            let on = |task: &work::Task| case.machine.element(&plan.mapping[&task.name]).unwrap();
            let own = oracle.period(&case.graph.tasks.iter().map(on).collect::<Vec<_>>()).unwrap();
            assert!((own - plan.period_ns).abs() <= 1e-9 * own, "{said}: {own} and {}", plan.period_ns);
            assert!(plan.feasible && own <= best * (1.0 + 1e-9), "{said}: {own}, and {best} of {mapping:?}");
            assert!(plan.gap <= 1e-9, "{said}: a gap of {}", plan.gap);
        }
        (None, Ok(plan)) => assert!(!plan.feasible, "{said}: {plan:?}"),
        (None, Err(error)) => assert!(matches!(error, PlanError::NoSchedule(_)), "{said}: {error}"),
        (Some(best), Err(error)) => panic!("{said}: {error}, and {best:?}"),
    }
}

#[test]
fn auto_and_exact_find_the_best_of_all_mappings() {
    for number in 0..CASES {
        let case = case(number, MAPPINGS);
        for method in [Method::Auto, Method::Exact] {
            let moves = Some(10_000);
            let options = PlanOptions { method, moves, buffering: Some(case.rule), ..PlanOptions::default() };
            is_best(number, &case, &PlanOptions { batch: Some(case.batch), ..options.clone() });
            if number % 3 == 0 {
                is_best(number, &case, &options); // with a batch of its own
            }
        }
    }
}

#[test]
fn every_method_plans_a_feedback_graph_that_has_a_plan() {
    let mut planned = 0;
    for number in (0..CASES).filter(|&number| case(number, MAPPINGS).feedback) {
        let case = case(number, MAPPINGS);
        let with = |method, buffering| PlanOptions {
            method,
            buffering,
            batch: Some(case.batch),
            moves: Some(1_000),
            ..PlanOptions::default()
        };
        if plan_of(&case, &with(Method::Auto, None)).is_err() {
            continue;
        }
        for method in [Method::Greedy, Method::Cluster, Method::Delegate, Method::Anneal, Method::Exact] {
            let plan = plan_of(&case, &with(method, None));
            assert!(plan.is_ok(), "case {number}, {method:?}: {}", plan.unwrap_err());
            planned += 1;
        }
    }
    assert!(planned > 50, "{planned}");
}
