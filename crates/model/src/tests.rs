//! Predictions worked out by hand. The Python reference in `tests/python/test_model_reference.py` covers the rest.

use crate::{Limits, MissingCost, Prediction, broadcasts, overhead, predict};
use machine::{Block, Element, Limit, Machine, Memory, Overhead, Place, Together, presets};
use std::collections::BTreeMap;
use work::graph::Profile;
use work::plan::{Contribution, ContributionKind, Violation, ViolationKind};
use work::schedule::schedule;
use work::{Buffering, Edge, Graph, Port, Task, Value};

fn cell(spe: u32) -> Machine {
    let preset = presets::Preset::named("cell").unwrap();
    preset.machine(presets::PresetOptions { ppe: 1, spe, ..preset.all() })
}

fn cores(n: usize, memory: Option<Memory>) -> Machine {
    let element = |i: usize| Element {
        name: format!("CPU{i}"),
        kind: "core".into(),
        place: Place::default(),
        memory: memory.clone(),
        incoming_max: None,
        outgoing_max: BTreeMap::new(),
        os_cpu: None,
    };
    Machine { name: "cores".into(), elements: (0..n).map(element).collect(), ..Machine::default() }
}

fn graph(costs: &[f64], edges: &[(usize, &str, usize, u64)]) -> Graph {
    let task = |(i, &ns): (usize, &f64)| Task {
        name: format!("t{i}"),
        cost_ns: BTreeMap::from([("*".into(), ns)]),
        ..Task::default()
    };
    let edge = |(i, &(from, port, to, bytes)): (usize, &(usize, &str, usize, u64))| Edge {
        from: Port { task: from, name: port.into() },
        to: Port { task: to, name: format!("in{i}") },
        bytes,
        peek: 0,
        delay: 0,
    };
    Graph {
        tasks: costs.iter().enumerate().map(task).collect(),
        edges: edges.iter().enumerate().map(edge).collect(),
        code_bytes: 64 << 10,
        ..Graph::default()
    }
}

fn predicted(machine: &Machine, graph: &Graph, mapping: &[usize], batch: u64) -> Prediction {
    let schedule = schedule(graph, mapping, machine.elements.len(), Buffering::Shared, batch).unwrap();
    predict(machine, graph, mapping, &schedule).unwrap()
}

fn ns(prediction: &Prediction, name: &str) -> f64 {
    prediction.contributions.iter().find(|c| c.to_string() == name).unwrap_or_else(|| panic!("{name}")).ns
}

fn texts(prediction: &Prediction) -> Vec<String> {
    prediction.violations.iter().map(Violation::to_string).collect()
}

#[test]
fn a_ppe_that_reads_is_limited_to_two_gigabytes_a_second() {
    // SPE0 -> PPE0, 4000 bytes: 160 ns at 25 GB/s, 2000 ns at 2 GB/s.
    let p = predicted(&cell(2), &graph(&[10.0, 10.0], &[(0, "a", 1, 4_000)]), &[1, 0], 1);
    assert_eq!((ns(&p, "output of SPE0 (2)"), ns(&p, "PPE0 reads SPE0 (3)")), (160.0, 2_000.0));
    assert_eq!((p.period_ns, p.contributions[0].subject.as_str()), (2_000.0, "PPE0 reads SPE0 (3)"));
    assert!(p.contributions.is_sorted_by(|a, b| a.ns >= b.ns));
}

#[test]
fn what_stays_on_an_element_moves_nothing() {
    let p = predicted(&cell(2), &graph(&[10.0, 30.0], &[(0, "a", 1, 4_000)]), &[1, 1], 1);
    assert_eq!(p.period_ns, 40.0);
    let computes = |c: &Contribution| (c.kind, c.subject.as_str()) == (ContributionKind::Compute, "SPE0");
    assert!(p.contributions.iter().filter(|c| c.ns > 0.0).all(computes));
}

#[test]
fn a_broadcast_moves_once_per_destination_element() {
    let graph =
        graph(&[1.0; 5], &[(0, "a", 1, 2_500), (0, "a", 2, 2_500), (0, "a", 3, 2_500), (0, "b", 4, 2_500)]);
    assert_eq!(broadcasts(&graph).len(), 2);
    // t1 and t2 share SPE1, t3 is with the producer: one transfer for port a, and one for port b.
    let p = predicted(&cell(2), &graph, &[1, 2, 2, 1, 2], 1);
    assert_eq!((ns(&p, "output of SPE0 (2)"), ns(&p, "input of SPE1 (1)")), (200.0, 200.0));
}

#[test]
fn overheads_count_at_both_ends_and_shrink_with_the_batch() {
    let mut machine = cores(2, None);
    machine.overheads.insert("core".into(), Overhead { per_transfer_ns: 80.0, per_byte_ns: 0.5 });
    let graph = graph(&[10.0, 20.0], &[(0, "a", 1, 64)]);
    assert_eq!(ns(&predicted(&machine, &graph, &[0, 1], 1), "compute of CPU0"), 10.0 + 80.0 + 32.0);
    assert_eq!(ns(&predicted(&machine, &graph, &[0, 1], 16), "compute of CPU1"), 20.0 + 5.0 + 32.0);
    assert_eq!(predicted(&machine, &graph, &[0, 0], 16).period_ns, 30.0);
}

#[test]
fn a_profile_gives_overheads_where_the_machine_has_none() {
    let mut machine = cores(1, None);
    let mut graph = graph(&[1.0], &[]);
    assert_eq!(overhead(&machine, &graph, "core"), Overhead::default());
    let overheads = BTreeMap::from([("core".to_string(), (70.0, 0.25))]);
    graph.profile = Some(Profile { overheads, ..Profile::default() });
    assert_eq!(overhead(&machine, &graph, "core"), Overhead { per_transfer_ns: 70.0, per_byte_ns: 0.25 });
    let own = Overhead { per_transfer_ns: 5.0, per_byte_ns: 0.0 };
    machine.overheads.insert("core".into(), own);
    assert_eq!(overhead(&machine, &graph, "core"), own);
}

#[test]
fn a_cache_that_is_exceeded_contributes_where_its_rate_is_known() {
    let memory = |rate| {
        Some(Memory {
            bytes: 1_000,
            hard: false,
            holds_code: true,
            l1_bytes: None,
            overflow_bytes_per_s: rate,
        })
    };
    // One buffer of 4000 bytes, shared; three quarters of the 4000 bytes that are touched move at 2 GB/s.
    let graph = graph(&[10.0, 10.0], &[(0, "a", 1, 4_000)]);
    let p = predicted(&cores(1, memory(Some(2e9))), &graph, &[0, 0], 1);
    assert_eq!((ns(&p, "overflow of CPU0"), p.violations.len()), (1_500.0, 0));
    let p = predicted(&cores(1, memory(None)), &graph, &[0, 0], 1);
    assert_eq!((p.period_ns, p.violations.len()), (20.0, 0));
}

#[test]
fn a_local_store_that_is_exceeded_is_a_violation_with_its_numbers() {
    let graph = graph(&[1.0, 1.0], &[(0, "a", 1, 100_000)]);
    let p = predicted(&cell(2), &graph, &[1, 2], 1);
    let buffers = Violation {
        kind: ViolationKind::Buffers { code_bytes: 65_536 },
        subject: "SPE0".into(),
        used: 200_000,
        allowed: 196_608,
    };
    assert_eq!(p.violations[0], buffers);
    assert_eq!(
        buffers.to_string(),
        "buffers on SPE0 take 200000 bytes, and 196608 are left beside 65536 bytes of code (16)"
    );
    assert_eq!(p.violations.len(), 2);
    let mut large = graph;
    large.code_bytes = 300_000;
    let p = predicted(&cell(2), &large, &[0, 2], 1);
    assert_eq!(
        texts(&p),
        ["SPE1 holds 262144 bytes, less than the application's code of 300000 bytes (16)"],
        "an SPE without tasks needs no code"
    );
}

#[test]
fn transfers_beyond_the_dma_queues_are_violations() {
    let edges: Vec<(usize, &str, usize, u64)> = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
        .into_iter()
        .enumerate()
        .map(|(i, port)| (0, port, i + 1, 16))
        .collect();
    let graph = graph(&[1.0; 10], &edges);
    let mut mapping = vec![0; 10];
    mapping[0] = 1;
    let p = predicted(&cell(2), &graph, &mapping, 1);
    assert_eq!(texts(&p), ["SPE0 sends 9 transfers at once to elements of kind ppe, and can serve 8 (18)"]);
    mapping[1] = 2;
    assert!(predicted(&cell(2), &graph, &mapping, 1).violations.is_empty());
}

#[test]
fn a_missing_cost_names_task_and_kind() {
    let mut graph = graph(&[1.0], &[]);
    graph.tasks[0].cost_ns = BTreeMap::from([("spe".into(), 1.0)]);
    let schedule = schedule(&graph, &[0], 3, Buffering::Shared, 1).unwrap();
    let error = predict(&cell(2), &graph, &[0], &schedule).unwrap_err();
    assert_eq!(error, MissingCost { task: "t0".into(), kind: "ppe".into() });
    assert!(error.to_string().contains("task t0 has no cost on an element of kind \"ppe\""));
}

#[test]
fn tasks_that_share_a_lock_contribute_together() {
    let mut graph = graph(&[10.0, 20.0, 40.0, 5.0], &[]);
    for (task, lock) in graph.tasks.iter_mut().zip(["disk", "net", "disk"]) {
        task.lock = Some(lock.into());
    }
    let p = predicted(&cores(4, None), &graph, &[0, 1, 2, 3], 1);
    assert_eq!((ns(&p, "disk lock"), ns(&p, "net lock"), p.period_ns), (50.0, 20.0, 50.0));
}

#[test]
fn python_tasks_without_jit_share_one_lock() {
    let mut graph = graph(&[10.0, 20.0, 40.0], &[]);
    for task in &mut graph.tasks {
        task.kernel = Some("python:m:f".into());
    }
    graph.tasks[2].params.insert("jit".into(), Value::Text("numba".into()));
    let p = predicted(&cores(3, None), &graph, &[0, 1, 2], 1);
    assert_eq!(ns(&p, "python lock"), 30.0);
    graph.tasks.iter_mut().for_each(|t| t.kernel = None);
    let p = predicted(&cores(3, None), &graph, &[0, 1, 2], 1);
    assert!(p.contributions.iter().all(|c| c.kind != ContributionKind::Lock));
}

#[test]
fn a_quota_shares_its_cpus_among_all_elements() {
    let mut machine = cores(4, None);
    machine.quota_cpus = Some(1.5);
    let p = predicted(&machine, &graph(&[30.0, 30.0, 30.0], &[]), &[0, 1, 2], 1);
    assert_eq!((ns(&p, "quota of 1.5 cpus"), p.period_ns), (60.0, 60.0));
}

#[test]
fn a_pair_in_two_blocks_of_a_limit_counts_once() {
    let mut machine = cores(3, None);
    let block = |from: &[usize], to: &[usize]| Block { from: from.to_vec(), to: to.to_vec() };
    machine.limits.push(Limit {
        name: "bus".into(),
        capacity_bytes_per_s: 1e9,
        pairs: vec![block(&[0, 1], &[0, 1, 2]), block(&[0], &[1, 2])],
        error: None,
    });
    let limits = Limits::new(&machine);
    assert_eq!(
        (limits.len(), limits.of(0, 1), limits.of(1, 1), limits.of(2, 0)),
        (1, &[0u32][..], &[][..], &[][..])
    );
    let p = predicted(&machine, &graph(&[1.0, 1.0], &[(0, "a", 1, 100)]), &[0, 1], 1);
    assert_eq!(ns(&p, "bus"), 100.0);
}

#[test]
fn a_graph_without_edges_or_costs_has_a_period_of_zero() {
    assert_eq!(predicted(&cores(2, None), &graph(&[0.0], &[]), &[1], 1).period_ns, 0.0);
}

#[test]
fn elements_that_slow_each_other_down_share_the_cpus_that_they_come_to() {
    let mut machine = cores(4, None);
    let group = |elements: Vec<usize>, computing| Together { elements, computing, memory: 1.0 };
    machine.together = vec![group(vec![0, 1], 2.1), group(vec![0, 2], 1.02)];
    let p = predicted(&machine, &graph(&[30.0, 20.0, 40.0], &[]), &[0, 1, 2], 1);
    assert_eq!((ns(&p, "capacity of CPU0, CPU1"), p.period_ns), (50.0, 50.0));
    let capacities = p.contributions.iter().filter(|c| c.kind == ContributionKind::Capacity);
    assert_eq!(capacities.count(), 1, "a slowdown within noise is none");
}

#[test]
fn a_profile_gives_curves_and_slowdowns_where_the_machine_has_none() {
    let mut graph = graph(&[10.0, 10.0], &[(0, "a", 1, 64)]);
    graph.profile = Some(Profile {
        handovers: BTreeMap::from([("chip".to_string(), vec![[64.0, 4096.0, 2.0, 9.0, 20.0]])]),
        together: BTreeMap::from([
            ("CPU0 CPU1".to_string(), [1.6, 1.0]),
            ("CPU0 CPU7".to_string(), [2.0, 1.0]),
        ]),
        totals_ns: BTreeMap::from([("core".to_string(), 20.0)]),
        ..Profile::default()
    });
    let mut machine = cores(2, None);
    let mut others = machine.clone();
    others.elements.iter_mut().for_each(|e| e.kind = "*".into());
    assert_eq!(predicted(&others, &graph, &[0, 1], 1).period_ns, 10.0, "cores say nothing of other kinds");
    let p = predicted(&machine, &graph, &[0, 1], 1);
    assert_eq!(ns(&p, "compute of CPU0"), 10.0 + 9.0 - 1.0);
    assert_eq!(ns(&p, "capacity of CPU0, CPU1"), 2.0 * 18.0 / 1.25);
    machine.together = vec![Together { elements: vec![0, 1], computing: 1.0, memory: 1.0 }];
    assert_eq!(
        predicted(&machine, &graph, &[0, 1], 1).period_ns,
        18.0,
        "the machine's own figures come first"
    );
    if let Some(profile) = &mut graph.profile {
        profile.machine = "board, 2 cpus, Linux 6".into();
        profile.overheads.insert("core".into(), (7.0, 0.0));
        profile.paces.insert("CPU1".into(), 2.0);
    }
    machine.overheads.insert("core".into(), Overhead { per_transfer_ns: 100.0, per_byte_ns: 0.0 });
    machine.paces = vec![1.0, 3.0];
    let compute = |machine: &Machine| {
        let p = predicted(machine, &graph, &[0, 1], 1);
        (ns(&p, "compute of CPU0"), ns(&p, "compute of CPU1"))
    };
    machine.computer = Some("another board".into());
    assert_eq!(compute(&machine), (118.0, 138.0), "of another computer");
    machine.computer = Some("board, 2 cpus, Linux 6".into());
    assert_eq!(compute(&machine), (25.0, 35.0), "a profile of the same computer is newer");
    assert_eq!(ns(&predicted(&machine, &graph, &[0, 1], 1), "capacity of CPU0, CPU1"), 2.0 * 30.0 / 1.25);
}

#[test]
fn a_task_takes_longer_on_an_element_of_a_slower_pace() {
    let mut graph = graph(&[10.0, 10.0], &[]);
    let paces = BTreeMap::from([("CPU1".to_string(), 1.71)]);
    let totals_ns = BTreeMap::from([("core".to_string(), 20.0)]);
    graph.profile = Some(Profile { paces, totals_ns, ..Profile::default() });
    let mut machine = cores(2, None);
    let p = predicted(&machine, &graph, &[0, 1], 1);
    assert_eq!(
        (ns(&p, "compute of CPU0"), ns(&p, "compute of CPU1")),
        (10.0, 17.0),
        "in steps of a twentieth"
    );
    machine.paces = vec![2.0, 1.0];
    assert_eq!(predicted(&machine, &graph, &[0, 1], 1).period_ns, 20.0, "the machine's own come first");
}
