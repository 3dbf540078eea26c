//! Outcomes with numbers that were set: which cause is named, and that the parts add up.

use super::{Look, explain, foresee, recorded};
use host::Speed;
use machine::{HandoverCurve, HandoverPoint, Machine, Nearness};
use plan::PlanOptions;
use run::{RunOptions, RunOutcome, Standard, TaskOutcome, WaitFor, WaitOutcome, testing};
use std::collections::BTreeMap;
use work::plan::{Contribution, ContributionKind};
use work::{Graph, Plan, Profile, ProfiledSpeed};

const COST_NS: f64 = 1000.0;
const INSTANCES: u64 = 1000;

/// A chain of four tasks of 1 us each that was run, on one element or two.
struct Case {
    graph: Graph,
    machine: Machine,
    plan: Plan,
    outcome: RunOutcome,
    looks: BTreeMap<String, (Option<Speed>, Option<Speed>)>,
}

fn speed(factor: f64) -> Speed {
    Speed { integer_ns: 10.0 * factor, floating_ns: 10.0 * factor, memory_ns: 10.0 }
}

impl Case {
    fn new(elements: usize) -> Case {
        let (mut graph, machine, _) = testing::chain(4, 64, 1, elements);
        let name = |e: usize| machine.elements[e].name.clone();
        let fast = ProfiledSpeed { alone_ns: vec![10.0; 3], together_ns: vec![10.0; 3] };
        for task in &mut graph.tasks {
            task.cost_ns.insert("core".into(), COST_NS);
        }
        graph.profile = Some(Profile {
            totals_ns: [("core".to_string(), 4.0 * COST_NS)].into(),
            speeds: (0..elements).map(|e| (name(e), fast.clone())).collect(),
            ..Profile::default()
        });
        let mapping = (0..4).map(|t| t * elements / 4).collect();
        let options = PlanOptions { batch: Some(1), ..PlanOptions::default() };
        let plan = plan::evaluate(&machine, &graph, mapping, &options).unwrap();
        let options = RunOptions { instances: Some(INSTANCES), ..RunOptions::default() };
        let mut outcome = run::run(&graph, &machine, &plan, &Standard::default(), options).unwrap();
        graph.profile.iter_mut().for_each(|p| p.machine = super::computer(&outcome.identity));
        outcome.paused_ns = 0;
        outcome.grown_bytes = 0;
        for element in &mut outcome.elements {
            (element.lost_ns, element.stolen_share) = (Some(0), None);
            element.waits.clear();
        }
        let looks = (0..elements).map(|e| (name(e), (Some(speed(1.0)), Some(speed(1.0))))).collect();
        let mut case = Case { graph, machine, plan, outcome, looks };
        for task in 0..4 {
            case.task(task, COST_NS);
        }
        case.period(4.0 * COST_NS / elements as f64);
        case
    }

    fn task(&mut self, task: usize, ns: f64) {
        let sampled = TaskOutcome { n: 10, mean_ns: ns, fast_ns: ns, first_half_ns: ns, second_half_ns: ns };
        self.outcome.sampled.insert(self.graph.tasks[task].name.clone(), sampled);
    }

    /// Every element was busy for the whole of `ns` per instance.
    fn period(&mut self, ns: f64) {
        self.outcome.elapsed_s = ns * INSTANCES as f64 / 1e9;
        self.outcome.throughput_per_s = 1e9 / ns;
        self.outcome.ratio = self.plan.period_ns / ns;
        for element in &mut self.outcome.elements {
            (element.busy_ns, element.idle_ns) = ((ns * INSTANCES as f64) as u64, 0);
        }
    }

    /// The outcome; its differences have been checked to add up.
    fn explained(mut self) -> RunOutcome {
        let look = Look(self.looks);
        explain(&self.graph, &self.machine, &self.plan, None, (&look, &look), &mut self.outcome);
        let shares: f64 = self.outcome.differences.iter().map(|d| d.share).sum();
        let whole = 1.0 / self.outcome.ratio - 1.0;
        assert!((shares - whole).abs() < 0.03, "{shares}, not {whole}: {:#?}", self.outcome.differences);
        self.outcome
    }
}

#[test]
fn a_run_as_predicted_needs_no_words() {
    let outcome = Case::new(1).explained();
    assert_eq!((outcome.differences.as_slice(), outcome.explanation.as_str()), ([].as_slice(), ""));
    assert_eq!(outcome.speeds.len(), 1);
}

#[test]
fn another_user_of_the_core_makes_all_tasks_slower_alike() {
    let mut case = Case::new(1);
    (0..4).for_each(|t| case.task(t, 1.65 * COST_NS));
    case.period(6600.0);
    case.looks.values_mut().for_each(|look| *look = (Some(speed(1.65)), Some(speed(1.65))));
    let (graph, machine, plan) = (case.graph.clone(), case.machine.clone(), case.plan.clone());
    let outcome = case.explained();
    recorded::record("slower-core", &graph, &machine, &plan, &outcome);
    assert_eq!((outcome.differences.len(), outcome.differences[0].kind.as_str()), (1, "speed"));
    assert_eq!(
        outcome.explanation,
        "CPU0 computed 1.65 times slower than when profiled, all tasks alike: another user of the core or a lower \
         clock; its fixed kernels took up to 1.65 times as long, also alone. With that the plan predicts 152 k/s; \
         achieved 152 k/s."
    );
}

#[test]
fn cpus_that_slow_each_other_down_are_told_from_another_user() {
    let mut case = Case::new(2);
    (0..4).for_each(|t| case.task(t, 2.1 * COST_NS));
    case.period(4200.0);
    case.looks.values_mut().for_each(|look| *look = (Some(speed(1.0)), Some(speed(2.1))));
    let outcome = case.explained();
    assert_eq!(outcome.differences[0].kind, "speed");
    assert!(outcome.differences[0].why.contains("the used cpus slow each other down"), "{outcome:#?}");
    // What happens on the element that did not hold up the stream is told without a share.
    assert!(outcome.differences.iter().any(|d| d.subject == "CPU0"));
    assert!(outcome.differences.iter().any(|d| d.subject == "CPU1"));
}

#[test]
fn cpus_that_slow_each_other_down_less_than_planned_are_named() {
    let mut case = Case::new(2);
    case.plan.period_ns = 4000.0;
    let capacity = Contribution { kind: ContributionKind::Capacity, subject: "CPU0 CPU1".into(), ns: 4000.0 };
    case.plan.contributions.insert(0, capacity);
    case.period(2000.0);
    let outcome = case.explained();
    let speed = &outcome.differences[0];
    assert_eq!(speed.kind, "speed");
    assert!(speed.why.contains("took 1.00 times its costs; the plan counts 2.00 times"), "{speed:?}");
}

#[test]
fn what_no_measurement_tells_is_unexplained_with_its_size() {
    let mut case = Case::new(1);
    (0..4).for_each(|t| case.task(t, 1.5 * COST_NS));
    case.period(6000.0);
    let outcome = case.explained();
    assert_eq!(outcome.differences[0].kind, "unexplained");
    assert!((outcome.differences[0].share - 0.5).abs() < 1e-6);
    assert!(outcome.explanation.contains("Unexplained: 50.0 % of the period."), "{}", outcome.explanation);
}

#[test]
fn one_slow_task_is_named_and_not_the_core() {
    let mut case = Case::new(1);
    case.task(2, 5.0 * COST_NS);
    case.period(8000.0);
    let outcome = case.explained();
    assert_eq!(
        (outcome.differences[0].kind.as_str(), outcome.differences[0].subject.as_str()),
        ("task", "t2")
    );
    assert_eq!(outcome.differences.len(), 1, "{outcome:#?}");
}

#[test]
fn lines_that_take_long_to_move_are_a_hand_over() {
    let mut case = Case::new(2);
    // A line takes up to 100 ns here.
    let (near_line_ns, alone_line_ns, both_line_ns) = (2.0, 50.0, 100.0);
    let point = HandoverPoint { bytes: 64, ring_bytes: 4096, near_line_ns, alone_line_ns, both_line_ns };
    case.machine.handovers = vec![HandoverCurve { shares: Nearness::Nothing, points: vec![point] }];
    // The tasks at both ends of the edge between the elements.
    (1..=2).for_each(|t| case.task(t, COST_NS + 90.0));
    case.period(2300.0);
    let outcome = case.explained();
    let hand_over = &outcome.differences[0];
    assert_eq!(hand_over.kind, "hand-over");
    assert!((hand_over.measured_ns - 300.0).abs() < 1.0, "{hand_over:?}");
}

#[test]
fn a_stream_that_waits_says_for_what() {
    let mut case = Case::new(2);
    case.period(3000.0);
    let (name, other) = (case.outcome.elements[0].name.clone(), &mut case.outcome.elements[1]);
    (other.busy_ns, other.idle_ns) = (2000 * INSTANCES, 1000 * INSTANCES);
    let ns = 1000 * INSTANCES;
    let first = &mut case.outcome.elements[0];
    (first.busy_ns, first.idle_ns) = (2_001 * INSTANCES, 999 * INSTANCES);
    let edge = Some("t1.out -> t2.in".to_string());
    first.waits.push(WaitOutcome { what: WaitFor::Room, edge, n: 9, total_ns: ns, longest_ns: ns / 3 });
    let outcome = case.explained();
    let wait = &outcome.differences[0];
    assert_eq!((wait.kind.as_str(), wait.subject.as_str()), ("waiting for room", "t1.out -> t2.in"));
    assert!(
        wait.why.starts_with(&format!("{name} waited for room on t1.out -> t2.in for 33.3 %")),
        "{wait:?}"
    );
}

#[test]
fn a_bottleneck_that_did_not_hold_up_the_stream_is_named() {
    let mut case = Case::new(1);
    case.plan.period_ns = 8000.0;
    case.plan.bottleneck = "python lock".into();
    case.period(4000.0);
    let outcome = case.explained();
    let bottleneck = &outcome.differences[0];
    assert_eq!((bottleneck.kind.as_str(), bottleneck.subject.as_str()), ("bottleneck", "python lock"));
    assert!((bottleneck.share + 0.5).abs() < 1e-9, "{bottleneck:?}");
}

#[test]
fn a_plan_predicts_anew_with_speeds_that_are_no_longer_those_of_the_profile() {
    let mut case = Case::new(2);
    let foreseen = |case: &Case| {
        let look = Look(case.looks.clone());
        foresee(&case.graph, &case.machine, &case.plan, &look, &super::computer(&case.outcome.identity))
            .unwrap()
    };
    let as_planned = foreseen(&case);
    assert_eq!(as_planned.plan, case.plan);
    assert!(as_planned.with.ends_with("as when profiled"), "{}", as_planned.with);
    // Integers and floating point twice as slow, memory as before: a geometric mean of 4^(1/3).
    let slower = 4f64.cbrt();
    case.looks.insert("CPU1".into(), (Some(speed(2.0)), Some(speed(2.0))));
    let one_slower = foreseen(&case);
    assert!((one_slower.plan.period_ns - 2.0 * COST_NS * slower).abs() < 1e-6, "{one_slower:?}");
    assert_eq!(one_slower.plan.bottleneck, "compute of CPU1");
    assert!(one_slower.with.contains("CPU1 1.59 times slower"), "{}", one_slower.with);
    // Slow only while both compute, and both do all the time.
    case.looks.values_mut().for_each(|look| *look = (Some(speed(1.0)), Some(speed(2.0))));
    let together = foreseen(&case);
    assert!((together.plan.period_ns - 2.0 * COST_NS * slower).abs() < 1e-6, "{together:?}");
    assert!((together.factors["CPU0"] - slower).abs() < 1e-9, "{together:?}");
}

#[test]
fn a_prediction_stays_the_plans_where_costs_were_not_measured_here() {
    let case = Case::new(2);
    let look = Look(case.looks);
    assert!(foresee(&case.graph, &case.machine, &case.plan, &look, "another computer").is_none());
}

#[test]
fn a_core_that_was_slow_at_times_only_is_told_from_one_that_nobody_understands() {
    let mut case = Case::new(1);
    for task in 0..4 {
        case.task(task, 1.5 * COST_NS);
        let name = &case.graph.tasks[task].name;
        case.outcome.sampled.get_mut(name).unwrap().fast_ns = COST_NS;
    }
    case.period(6000.0);
    let outcome = case.explained();
    assert_eq!(outcome.differences[0].kind, "speed");
    assert!(outcome.differences[0].why.contains("another user of the core came and went"), "{outcome:#?}");
}
