//! Plans: their file, and whether they fit.

mod made;

use work::plan::{Contribution, ContributionKind, Violation, ViolationKind};
use work::{Buffering, Edge, Graph, Plan, Port, Task, schedule::schedule};

const ELEMENTS: [&str; 3] = ["PPE0", "SPE0", "SPE1"];

fn graph() -> Graph {
    let port = |task, name: usize| Port { task, name: name.to_string() };
    let edge = |e, from, to, peek| Edge { from: port(from, e), to: port(to, e), bytes: 64, peek, delay: 0 };
    Graph {
        name: "app".into(),
        tasks: ["read", "left", "right", "write"].map(|n| Task { name: n.into(), ..Task::default() }).into(),
        edges: vec![edge(0, 0, 1, 0), edge(1, 0, 2, 1), edge(2, 1, 3, 0), edge(3, 2, 3, 0)],
        ..Graph::default()
    }
}

fn plan() -> Plan {
    let contributions =
        vec![Contribution { kind: ContributionKind::Compute, subject: "SPE0".into(), ns: 100.5 }];
    Plan { contributions, ..made::plan(&graph(), &[0, 1, 1, 0], &ELEMENTS, 4) }
}

/// What the plan, changed, is told.
fn told(change: impl FnOnce(&mut Plan)) -> String {
    let mut plan = plan();
    change(&mut plan);
    plan.check(&graph(), &ELEMENTS).unwrap_err().to_string()
}

#[test]
fn a_plan_reads_back_the_same_and_fits() {
    let plan = plan();
    let text = plan.to_json().unwrap();
    assert_eq!(Plan::from_json(&text, "p.json"), Ok(plan.clone()));
    assert_eq!(plan.check(&graph(), &ELEMENTS), Ok(()));
}

#[test]
fn contributions_and_violations_are_written_as_data_with_a_text_beside() {
    let mut plan = plan();
    plan.violations = vec![
        Violation {
            kind: ViolationKind::Buffers { code_bytes: 64 },
            subject: "SPE0".into(),
            used: 300,
            allowed: 200,
        },
        Violation {
            kind: ViolationKind::Outgoing { reader_kind: "ppe".into() },
            subject: "SPE1".into(),
            used: 9,
            allowed: 8,
        },
    ];
    let text = plan.to_json().unwrap();
    assert_eq!(Plan::from_json(&text, "p.json"), Ok(plan));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        json["contributions"][0],
        serde_json::json!({"kind": "compute", "subject": "SPE0", "name": "compute of SPE0", "ns": 100.5})
    );
    assert_eq!(
        json["violations"],
        serde_json::json!([
            {
                "kind": "buffers", "code_bytes": 64, "subject": "SPE0", "used": 300, "allowed": 200, "equation": 16,
                "text": "buffers on SPE0 take 300 bytes, and 200 are left beside 64 bytes of code (16)",
            },
            {
                "kind": "outgoing", "reader_kind": "ppe", "subject": "SPE1", "used": 9, "allowed": 8, "equation": 18,
                "text": "SPE1 sends 9 transfers at once to elements of kind ppe, and can serve 8 (18)",
            },
        ])
    );
}

#[test]
fn the_text_of_a_contribution_is_not_read_back() {
    let text =
        plan().to_json().unwrap().replacen("compute of SPE0\",\n      \"ns\"", "Rechnen\",\n      \"ns\"", 1);
    assert!(text.contains("Rechnen"));
    assert_eq!(Plan::from_json(&text, "p.json"), Ok(plan()));
}

#[test]
fn a_resolved_plan_is_the_schedule_it_was_made_from() {
    let (mapping, s) = plan().resolve(&graph(), &ELEMENTS).unwrap();
    assert_eq!(mapping, [0, 1, 1, 0]);
    assert_eq!(s, schedule(&graph(), &mapping, 3, Buffering::Shared, 4).unwrap());
    let in_order: Vec<_> = plan()
        .order
        .iter()
        .flat_map(|(element, tasks)| tasks.iter().map(|task| (element.clone(), plan().first_period[task])))
        .collect();
    assert_eq!(
        in_order,
        [("PPE0", 0), ("PPE0", 5), ("SPE0", 2), ("SPE0", 3)].map(|(e, f)| (e.to_string(), f))
    );
}

#[test]
fn a_plan_for_another_application_or_machine_is_told_task_by_task() {
    assert_eq!(
        told(|p| p.application = "other".into()),
        "it is for the application \"other\", not for \"app\""
    );
    assert_eq!(
        told(|p| {
            let moved = |p: &mut Plan, from: &str, to: &str| {
                let element = p.mapping.remove(from).unwrap();
                let order = p.order.get_mut(&element).unwrap();
                order.iter_mut().filter(|t| *t == from).for_each(|t| *t = to.into());
                p.mapping.insert(to.into(), element);
                let first = p.first_period.remove(from).unwrap();
                p.first_period.insert(to.into(), first);
            };
            moved(p, "left", "lfet");
        }),
        "the task \"left\" has no element; it maps the task \"lfet\", which the application does not have; did you \
         mean `left`?"
    );
    let message = plan().check(&graph(), &["PPE0", "SPE1"]).unwrap_err().to_string();
    assert_eq!(message, "2 tasks are on \"SPE0\", which the machine does not have; did you mean `PPE0`?");
    assert_eq!(told(|p| drop(p.edges.pop())), "it has 3 edges, the application 4");
    assert_eq!(
        told(|p| p.edges.swap(0, 1)),
        "it has the edge \"read.1 -> right.1\" where the application has \"read.0 -> left.0\"; it has the edge \
         \"read.0 -> left.0\" where the application has \"read.1 -> right.1\""
    );
}

#[test]
fn slots_below_the_liveness_minima_are_told() {
    assert_eq!(
        told(|p| (p.edges[0].slots_out, p.edges[0].slots_in) = (3, 8)),
        "the edge \"read.0 -> left.0\": slots_out is 3; at least 4 is needed; the edge \"read.0 -> left.0\": slots_out \
         + slots_in is 11; at least 12 is needed"
    );
    assert_eq!(
        told(|p| p.edges[1].slots_in = 7),
        "the edge \"read.1 -> right.1\": slots_in is 7; at least 8 is needed"
    );
}

#[test]
fn first_periods_and_orders_that_are_no_schedule_are_told() {
    let message = told(|p| {
        p.first_period.insert("left".into(), 1);
        p.edges[0].first_period = 1;
    });
    assert_eq!(message, "the edge \"read.0 -> left.0\": first_period is 1; at least 2 is needed");
    assert_eq!(
        told(|p| p.edges[0].first_period = 9),
        "the edge \"read.0 -> left.0\" has first_period 9, its consumer 2"
    );
    assert_eq!(
        told(|p| p.order.get_mut("SPE0").unwrap().reverse()),
        "\"right\" starts later than \"left\", but stands before it in the order"
    );
    assert_eq!(
        told(|p| drop(p.order.get_mut("SPE0").unwrap().pop())),
        "the task \"right\" is in no element's order"
    );
    assert!(
        told(|p| p.order.get_mut("SPE1").unwrap().push("left".into()))
            .contains("which is mapped to \"SPE0\"")
    );
}

#[test]
fn numbers_that_make_no_sense_are_told() {
    assert_eq!(told(|p| p.batch = 0), "a batch of 0; 1 to 1048576 is allowed");
    assert_eq!(told(|p| p.period_ns = f64::NAN), "period_ns is NaN; a finite number from 0 is allowed");
    assert_eq!(
        told(|p| p.buffering = "sharde".into()),
        "buffering: no \"sharde\"; allowed: shared, duplicated; did you mean `shared`?"
    );
    assert!(told(|p| p.edges[0].slots_in = u64::MAX).contains("are absurd"));
    let mut bad = plan();
    bad.throughput_per_s = f64::INFINITY;
    assert!(bad.to_json().unwrap_err().to_string().contains("throughput_per_s is inf"));
}

#[test]
fn files_that_are_no_plan_are_told_line_and_key() {
    let text = plan().to_json().unwrap();
    let cases = [
        (
            "\"format\": 2",
            "\"format\": 1",
            "p.json:2: format: a plan of format 1; this version reads format 2: plan again",
        ),
        ("\"format\": 2", "\"format\": \"2\"", "p.json:2: format: a whole number expected"),
        ("\"format\": 2,", "", "p.json: format: the key is missing: not a plan"),
        ("\"batch\": 4,", "", "p.json:100: the key \"batch\" is missing"),
        ("\"batch\": 4", "\"batch\": -4", "p.json:34: invalid value: integer `-4`, expected u64"),
        ("\"seed\"", "\"sede\"", "p.json:98: unknown key \"sede\"; keys are "),
        (
            "\"seed\": 3",
            "\"seed\": 3, \"seed\": 4",
            "p.json:98: not JSON: the key \"seed\" twice in one table",
        ),
        ("\"period_ns\": 100.5", "\"period_ns\": 1e999", "p.json:10: number out of range"),
        (
            "\"period_ns\": 100.5",
            "\"period_ns\": -1",
            "p.json: period_ns is -1; a finite number from 0 is allowed",
        ),
    ];
    for (from, to, message) in cases {
        let told = Plan::from_json(&text.replacen(from, to, 1), "p.json").unwrap_err().to_string();
        assert!(told.starts_with(message), "{told}\nexpected: {message}");
    }
    assert!(
        Plan::read("no/such/plan.json")
            .unwrap_err()
            .to_string()
            .starts_with("no/such/plan.json: cannot be read")
    );
}
