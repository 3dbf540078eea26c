//! Runs with real threads: order, determinism, ends, stops, errors, hangs, results.

use proptest::prelude::*;
use run::builtin::memory::{MemorySink, source};
use run::testing::mixed::{Mixed, random_graph};
use run::testing::{chain, cores, edge, planned, task};
use run::{
    Batch, DRAIN, Failed, Fired, Kernel, Kernels, Opened, PortSpec, RunError, RunOptions, STOP, Standard, run,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use work::{Graph, TaskId};

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_sinks_get_does_not_depend_on_mapping_batch_or_timing(
        tasks in 2usize..9,
        raw in prop::collection::vec((0usize..9, 0usize..9, 0u64..5, 0u64..12, any::<bool>()), 1..14),
        mappings in prop::collection::vec(prop::collection::vec(0usize..5, 9), 3),
        n in 1u64..200,
    ) {
        let graph = random_graph(tasks, &raw, |_| 12, 9);
        let machine = cores(5);
        let mut wanted = None;
        for (mapping, batch) in mappings.iter().zip([1u64, 4, 9]) {
            let Ok(plan) = planned(&graph, &machine, &mapping[..tasks], batch) else { continue };
            let kernels = Mixed::default();
            let options = RunOptions { instances: Some(n), ..RunOptions::default() };
            let outcome = run(&graph, &machine, &plan, &kernels, options);
            prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
            let seen = kernels.seen();
            prop_assert!(seen.iter().all(|s| s.2 == n), "{seen:?}, {n}");
            prop_assert_eq!(wanted.get_or_insert(seen.clone()), &seen);
        }
    }
}

#[test]
fn sources_on_two_elements_whose_readers_wait_for_each_others_source_do_not_hang() {
    let tasks = ["s0", "s1", "a", "b"].map(|name| task(name, "mix")).to_vec();
    let mut edges = vec![
        edge(0, "0", 2, "0", 12),
        edge(1, "0", 2, "1", 12),
        edge(1, "0", 3, "0", 12),
        edge(0, "0", 3, "1", 12),
    ];
    edges.iter_mut().for_each(|e| e.delay = 30);
    let graph = Graph { name: "g".into(), tasks, edges, ..Graph::default() };
    let machine = cores(2);
    let mut wanted = None;
    for (mapping, batch) in [([0, 1, 0, 1], 1), ([0, 1, 0, 1], 4), ([0, 0, 0, 0], 4), ([0, 1, 1, 0], 9)] {
        let plan = planned(&graph, &machine, &mapping, batch).unwrap();
        let kernels = Mixed::default();
        let options = RunOptions { instances: Some(100), watchdog_s: 3.0, ..RunOptions::default() };
        run(&graph, &machine, &plan, &kernels, options).unwrap();
        let seen = kernels.seen();
        assert_eq!(seen.len(), 2);
        assert_eq!(wanted.get_or_insert(seen.clone()), &seen, "{mapping:?}");
    }
}

/// Fails, panics or refuses in the way that the task's name says, at instance 700.
struct Trouble {
    finished: Arc<AtomicU64>,
    sink: MemorySink,
}

struct Failing(&'static str, Arc<AtomicU64>);

impl Kernel for Failing {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        let at = 700u64.checked_sub(batch.first()).filter(|j| *j < batch.firings());
        if batch.inputs() > 0 && batch.outputs() > 0 {
            batch.output::<u8>(0)?.together().copy_from_slice(batch.input(0)?.together());
        }
        match (at, self.0) {
            (Some(j), "error") => Err(Failed::at(j, "as asked")),
            (Some(_), "panic") => panic!("at the {}", "disco"),
            (Some(_), "port") => batch.input::<u8>(7).map(|_| Fired::All),
            (Some(_), "index") if batch.inputs() > 0 => {
                Err(format!("{:?}", batch.input::<u8>(0)?.at(batch.firings())).into())
            }
            (Some(_), "index") => Err(format!("{:?}", &batch.output::<u8>(0)?[batch.firings()]).into()),
            _ => Ok(Fired::All),
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        self.1.fetch_add(1, Ordering::SeqCst);
        if self.0 == "finish" { Err("the lid does not close".into()) } else { Ok(()) }
    }
}

impl Kernels for Trouble {
    fn open(&self, graph: &Graph, t: TaskId) -> Result<Opened, String> {
        let name = graph.tasks[t].name.clone();
        let how = ["error", "panic", "port", "index", "finish", "init"]
            .into_iter()
            .find(|h| name.contains(h))
            .unwrap_or("");
        let finished = self.finished.clone();
        let ins = graph.edges.iter().filter(|e| e.to.task == t).count();
        let outs = graph.edges.iter().filter(|e| e.from.task == t).count();
        if name == "to" {
            return Ok(self.sink.opened());
        }
        let ports = |n| (0..n).map(|i: usize| PortSpec::any(&i.to_string())).collect();
        Ok(Opened::from_rust(ports(ins), ports(outs), move |_| match how {
            "init" => Err("not today".into()),
            _ => Ok(Box::new(Failing(how, finished))),
        }))
    }
}

#[test]
fn a_failure_anywhere_stops_the_run_names_itself_and_finishes_every_kernel() {
    let texts = [
        ("error", "failed at instance 700: as asked"),
        ("panic", "panicked: at the disco"),
        ("port", "its kernel asked for input 7, and it has"),
        ("index", "panicked: range "),
        ("finish", "could not finish: the lid does not close"),
        ("init", "not today"),
    ];
    for (how, text) in texts {
        for place in 0..4 {
            for mapping in [[0, 0, 0, 0, 0], [0, 1, 2, 3, 4], [0, 1, 0, 1, 0]] {
                if how == "index" && place == 0 {
                    continue;
                }
                let name = |t: usize| if t == place { how.to_string() } else { format!("t{t}") };
                let mut tasks: Vec<_> = (0..4).map(|t| task(&name(t), "x")).collect();
                tasks.push(task("to", "x"));
                let edges = (0..4).map(|t| edge(t, "0", t + 1, if t == 3 { "in" } else { "0" }, 8)).collect();
                let graph = Graph { name: "g".into(), tasks, edges, ..Graph::default() };
                let machine = cores(5);
                let plan = planned(&graph, &machine, &mapping, 16).unwrap();
                let kernels = Trouble { finished: Arc::default(), sink: MemorySink::default() };
                let options = RunOptions { instances: Some(2000), ..RunOptions::default() };
                let error = run(&graph, &machine, &plan, &kernels, options).unwrap_err();
                let said = error.to_string();
                assert!(said.contains(&format!("'{how}'")) && said.contains(text), "{place}: {said}");
                let accepted = kernels.sink.take().len() as u64 / 8;
                assert!(
                    if how == "finish" { accepted == 2000 } else { accepted <= 700 },
                    "{how}: {accepted}"
                );
                if let RunError::Failed { accepted: told, .. } = error {
                    assert_eq!(told, accepted);
                }
                if how != "init" {
                    assert_eq!(kernels.finished.load(Ordering::SeqCst), 4, "{how} at {place}");
                }
            }
        }
    }
}

#[test]
fn sources_of_different_length_end_with_the_shortest() {
    struct Two(MemorySink);
    impl Kernels for Two {
        fn open(&self, graph: &Graph, t: TaskId) -> Result<Opened, String> {
            match graph.tasks[t].name.as_str() {
                "short" => Ok(source(Arc::new(vec![1u8; 300]))),
                "long" => Ok(source(Arc::new(vec![2u8; 5000]))),
                "to" => Ok(self.0.opened()),
                _ => Standard::default().open(graph, t),
            }
        }
    }
    let graph = Graph {
        name: "g".into(),
        tasks: vec![task("short", ""), task("long", ""), task("join", "cellweave:join"), task("to", "")],
        edges: vec![edge(0, "out", 2, "in0", 1), edge(1, "out", 2, "in1", 1), edge(2, "out", 3, "in", 2)],
        ..Graph::default()
    };
    let machine = cores(3);
    for mapping in [[0, 0, 0, 0], [0, 1, 2, 0], [0, 1, 1, 1]] {
        let plan = planned(&graph, &machine, &mapping, 8).unwrap();
        let kernels = Two(MemorySink::default());
        let outcome = run(&graph, &machine, &plan, &kernels, RunOptions::default()).unwrap();
        assert_eq!((outcome.instances, kernels.0.take()), (300, [1u8, 2].repeat(300)));
    }
}

#[test]
fn a_drain_completes_what_is_in_flight_and_a_stop_ends_at_once() {
    for (flag, elements) in [(DRAIN, 1), (DRAIN, 3), (STOP, 1), (STOP, 3)] {
        let (graph, machine, plan) = chain(4, 64, 16, elements);
        let mut calls = 0;
        let options = RunOptions::default();
        let stop = options.stop.clone();
        let mut progress = |p: &run::RunProgress| {
            calls += 1;
            assert!(p.instances > 0, "the sink has taken some");
            assert!(p.busy.len() == plan.order.values().filter(|o| !o.is_empty()).count());
            stop.store(flag, Ordering::Release);
        };
        let options = RunOptions { progress: Some(&mut progress), ..options };
        let outcome = run(&graph, &machine, &plan, &Standard::default(), options).unwrap();
        assert!(calls >= 1 && outcome.instances > 0 && outcome.stopped);
        if flag == DRAIN {
            let firings: u64 = outcome.elements.iter().map(|e| e.firings).sum();
            assert_eq!(firings % outcome.instances, 0, "every unit fired equally often");
        }
    }
}

#[test]
fn a_source_that_has_nothing_is_waited_for_and_told_about() {
    struct Slow(u64);
    impl Kernel for Slow {
        fn fire(&mut self, _: &mut Batch) -> Result<Fired, Failed> {
            self.0 += 1;
            // 200 calls without anything, at up to 5 ms each: longer than the watchdog's patience.
            if self.0 < 200 { Ok(Fired::Again(0)) } else { Ok(Fired::All) }
        }
    }
    struct Slowly;
    impl Kernels for Slowly {
        fn open(&self, graph: &Graph, t: TaskId) -> Result<Opened, String> {
            match t {
                0 => Ok(Opened::from_rust(vec![], vec![PortSpec::any("out")], |_| Ok(Box::new(Slow(0))))),
                _ => Standard::default().open(graph, t),
            }
        }
    }
    let (graph, machine, plan) = chain(3, 8, 4, 2);
    let options = RunOptions { instances: Some(100), watchdog_s: 0.5, ..RunOptions::default() };
    let outcome = run(&graph, &machine, &plan, &Slowly, options).unwrap();
    assert_eq!(outcome.instances, 100);
    assert!(outcome.warnings.iter().any(|w| w.contains("nothing to give")), "{:?}", outcome.warnings);
}

/// Passes on 100 instances, then never returns; or never finishes.
struct Hang(bool);

impl Kernel for Hang {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        batch.output::<u8>(0)?.together().copy_from_slice(batch.input(0)?.together());
        while !self.0 && batch.first() >= 100 {
            std::thread::park();
        }
        Ok(Fired::All)
    }
    fn finish(&mut self) -> Result<(), String> {
        if !self.0 {
            return Ok(());
        }
        loop {
            std::thread::park();
        }
    }
}

struct Hanging(bool);

impl Kernels for Hanging {
    fn open(&self, graph: &Graph, t: TaskId) -> Result<Opened, String> {
        if graph.tasks[t].name != "hang" {
            return Standard::in_folder(env!("CARGO_TARGET_TMPDIR")).open(graph, t);
        }
        let in_finish = self.0;
        let ports = |n: &str| vec![PortSpec::any(n)];
        Ok(Opened::from_rust(ports("in"), ports("out"), move |_| Ok(Box::new(Hang(in_finish)))))
    }
}

#[test]
fn a_hanging_kernel_ends_the_run_and_loses_nothing_that_the_sink_beside_it_accepted() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("hang.bin");
    for (in_finish, mapping) in [(false, [0, 0, 0]), (false, [0, 1, 0]), (true, [0, 0, 0]), (true, [0, 0, 1])]
    {
        let mut sink = task("sink", "cellweave:write");
        sink.params.insert("path".into(), work::Value::Text("hang.bin".into()));
        let graph = Graph {
            name: "g".into(),
            tasks: vec![task("count", "cellweave:count"), task("hang", ""), sink],
            edges: vec![edge(0, "out", 1, "in", 8), edge(1, "out", 2, "in", 8)],
            ..Graph::default()
        };
        let machine = cores(2);
        let plan = planned(&graph, &machine, &mapping, 10).unwrap();
        let options = RunOptions { instances: Some(1000), watchdog_s: 0.2, ..RunOptions::default() };
        let error = run(&graph, &machine, &plan, &Hanging(in_finish), options).unwrap_err();
        assert!(matches!(&error, RunError::Stuck { why, .. } if why.contains("'hang'")), "{error}");
        let instances = if in_finish { 1000u64 } else { 100 };
        let wanted: Vec<u8> = (0..instances).flat_map(u64::to_le_bytes).collect();
        assert!(std::fs::read(&path).unwrap() == wanted, "{in_finish} {mapping:?}");
    }
}

#[test]
fn a_graph_without_a_source_needs_a_number_of_instances() {
    let mut loops = edge(1, "out", 0, "in", 8);
    loops.delay = 64;
    let graph = Graph {
        name: "g".into(),
        tasks: vec![task("a", "cellweave:copy"), task("b", "cellweave:copy")],
        edges: vec![edge(0, "out", 1, "in", 8), loops],
        ..Graph::default()
    };
    let machine = cores(2);
    let plan = planned(&graph, &machine, &[0, 1], 4).unwrap();
    let error =
        run(&graph, &machine, &plan, &Standard::default(), RunOptions::default()).unwrap_err().to_string();
    assert!(error.contains("without a source, say how many instances"), "{error}");
    let options = RunOptions { instances: Some(1000), ..RunOptions::default() };
    let outcome = run(&graph, &machine, &plan, &Standard::default(), options).unwrap();
    assert!(outcome.elements.iter().all(|e| e.firings == 1000));
}

#[test]
fn absurd_memory_is_an_error_before_anything_is_allocated() {
    let (graph, machine, plan) = chain(3, 1 << 40, 1 << 20, 2);
    let error = run(&graph, &machine, &plan, &Standard::default(), RunOptions::default()).unwrap_err();
    assert!(matches!(&error, RunError::Memory(_)), "{error:?}");
    let (graph, machine, plan) = chain(3, 1 << 20, 64, 2);
    let options = RunOptions { memory_bytes: Some(1 << 20), ..RunOptions::default() };
    let error = run(&graph, &machine, &plan, &Standard::default(), options).unwrap_err().to_string();
    assert!(error.contains("of buffers with batch 64, and this run may take 1.0 MB"), "{error}");
}

#[test]
fn a_plan_for_something_else_is_refused_with_the_difference() {
    let (graph, machine, plan) = chain(4, 8, 4, 2);
    let mut cases = Vec::new();
    let mut case = |change: &dyn Fn(&mut work::Plan), text: &'static str| {
        let mut p = plan.clone();
        change(&mut p);
        cases.push((p, text));
    };
    case(&|p| p.application = "other".into(), "the plan is for the application 'other'");
    case(&|p| p.format = 1, "format 1");
    case(&|p| p.batch = 0, "batch is 0");
    case(&|p| p.batch = 50, "slots");
    case(&|p| drop(p.mapping.remove("t1")), "maps no element to the task 't1'");
    case(
        &|p| drop(p.mapping.insert("t9".into(), "CPU0".into())),
        "'t9', which the application does not have",
    );
    case(
        &|p| drop(p.mapping.insert("t1".into(), "GPU".into())),
        "'GPU', which the machine 'cores' does not have",
    );
    case(&|p| p.first_period.retain(|t, _| t != "t2"), "no first_period for the task 't2'");
    case(&|p| p.order.get_mut("CPU0").unwrap().clear(), "misses the task");
    case(&|p| p.order.get_mut("CPU1").unwrap().reverse(), "fires 't3' before 't2'");
    case(&|p| p.edges[0].to = "t2.in".into(), "edge 0 of the plan is t0.out -> t2.in");
    case(&|p| drop(p.edges.pop()), "the plan has 2 edges");
    case(&|p| p.edges[1].slots_in = u64::MAX, "beyond 2^50");
    for (plan, text) in cases {
        let options = RunOptions { instances: Some(10), ..RunOptions::default() };
        let error = run(&graph, &machine, &plan, &Standard::default(), options).unwrap_err();
        assert!(
            matches!(&error, RunError::Plan(_)) && error.to_string().contains(text),
            "{error}; wanted {text}"
        );
    }
}

#[test]
fn the_result_says_what_happened_and_survives_json() {
    let (graph, machine, plan) = chain(4, 64, 16, 2);
    let options = RunOptions { instances: Some(300_000), measure_tasks: true, ..RunOptions::default() };
    let outcome = run(&graph, &machine, &plan, &Standard::default(), options).unwrap();
    assert_eq!(outcome.elements.len(), 2);
    let latency = outcome.latency_ns.unwrap();
    assert!(latency.n > 0 && latency.p50 > 0.0 && latency.p50 <= latency.p99);
    assert!(outcome.throughput_per_s > 0.0 && outcome.windows_per_s.unwrap().n >= 5);
    assert_eq!(outcome.throughput_per_s, outcome.instances as f64 / outcome.elapsed_s);
    assert!(outcome.start_s >= 0.0 && outcome.drain_s >= 0.0, "{outcome:?}");
    assert!(outcome.start_s + outcome.drain_s > 0.0, "one of two workers starts or ends later: {outcome:?}");
    assert!(outcome.start_s + outcome.drain_s < outcome.elapsed_s, "{outcome:?}");
    assert_eq!((outcome.tasks.len(), outcome.sampled.len()), (4, 4));
    assert!(outcome.tasks.values().all(|q| q.n > 0 && q.min <= q.p50));
    assert!(outcome.identity.contains_key("cpu_model"));
    let text = serde_json::to_string(&outcome).unwrap();
    let back: run::RunOutcome = serde_json::from_str(&text).unwrap();
    assert_eq!(back.instances, outcome.instances);
    let keys = [
        "application",
        "machine",
        "plan",
        "instances",
        "elapsed_s",
        "throughput_per_s",
        "steady_per_s",
        "predicted_per_s",
        "ratio",
        "differences",
        "steady_after",
        "elements",
        "latency_ns",
        "pinned",
    ];
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(keys.iter().all(|k| value.get(k).is_some()));
}

#[test]
fn a_trace_opens_names_every_task_and_says_when_it_was_full() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace.json");
    for (events, full) in [(1 << 16, false), (100, true)] {
        let (graph, machine, plan) = chain(4, 64, 16, 2);
        let options = RunOptions {
            instances: Some(5000),
            trace: Some(path.clone()),
            trace_events: events,
            ..RunOptions::default()
        };
        let outcome = run(&graph, &machine, &plan, &Standard::default(), options).unwrap();
        let trace: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let list = trace["traceEvents"].as_array().unwrap();
        for name in ["t0", "t1", "t2", "t3"] {
            assert!(list.iter().any(|e| e["name"] == name && e["ph"] == "X"), "{name}");
        }
        assert!(list.iter().any(|e| e["ph"] == "C" && e["args"]["fill"].is_u64()));
        assert_eq!(outcome.warnings.iter().any(|w| w.contains("the trace was full")), full);
        if !full {
            let calls = list.iter().filter(|e| e["name"] == "t3");
            assert_eq!(calls.map(|e| e["args"]["firings"].as_u64().unwrap()).sum::<u64>(), 5000);
        }
    }
    let (graph, machine, plan) = chain(2, 8, 1, 1);
    let trace = Some(std::path::PathBuf::from("/nowhere/trace.json"));
    let options = RunOptions { instances: Some(1), trace, ..RunOptions::default() };
    // The result of the run is not lost with its trace.
    let outcome = run(&graph, &machine, &plan, &Standard::default(), options).unwrap();
    assert_eq!((outcome.instances, outcome.trace), (1, None));
    let why = "the trace /nowhere/trace.json could not be written: ";
    assert!(outcome.warnings.iter().any(|w| w.starts_with(why)), "{:?}", outcome.warnings);
}

#[test]
fn a_cpu_that_is_not_there_leaves_the_worker_unpinned_and_says_so() {
    let (graph, mut machine, plan) = chain(2, 8, 4, 2);
    machine.elements[1].os_cpu = Some(4000);
    let options = RunOptions { instances: Some(100), ..RunOptions::default() };
    let outcome = run(&graph, &machine, &plan, &Standard::default(), options).unwrap();
    assert!(
        !outcome.pinned && outcome.not_pinned[0].starts_with("CPU1: cpu 4000"),
        "{:?}",
        outcome.not_pinned
    );
}
