//! Streams on the simulated Cell against streams on this computer: the same bytes, whatever the mapping.

use machine::Overhead;
use plan::PlanOptions;
use proptest::prelude::*;
use run::testing::mixed::{Mixed, random_graph};
use run::testing::{cores, planned};
use run::{Batch, Failed, Fired, Kernel, Kernels, Opened, PortSpec, RunOptions, RunOutcome};
use streams::{StreamCosts, StreamError};
use work::daggen::{DaggenOptions, generate};
use work::{Graph, TaskId};

fn cell(name: &str) -> machine::Machine {
    machine::load(name).unwrap()
}

fn simulate(graph: &Graph, name: &str, mapping: &[usize], batch: u64, n: u64) -> Option<(RunOutcome, Mixed)> {
    let machine = cell(name);
    let plan = planned(graph, &machine, mapping, batch).ok()?;
    let kernels = Mixed::default();
    let mut options = RunOptions { instances: Some(n), ..RunOptions::default() };
    let outcome = streams::run(graph, &machine, &plan, &kernels, StreamCosts::default(), &mut options);
    Some((outcome.unwrap_or_else(|why| panic!("{name} {mapping:?} batch {batch}: {why}")), kernels))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn sinks_get_on_a_cell_what_they_get_here(
        tasks in 2usize..9,
        raw in prop::collection::vec((0usize..9, 0usize..9, 0u64..5, 0u64..12, any::<bool>()), 1..14),
        mapping in prop::collection::vec(0usize..6, 9),
        sizes in prop::collection::vec(0usize..8, 9),
        n in 1u64..60,
    ) {
        let bytes = |task: usize| [1, 2, 3, 4, 8, 12, 100, 20_000][sizes[task]];
        let mut graph = random_graph(tasks, &raw, bytes, 5);
        for (t, task) in graph.tasks.iter_mut().enumerate() {
            task.cost_ns.insert("*".into(), (t * 700 % 3_000) as f64);
        }
        let machine = cores(1);
        let Ok(plan) = planned(&graph, &machine, &vec![0; tasks], 1) else { return Ok(()) };
        let here = Mixed::default();
        let options = RunOptions { instances: Some(n), ..RunOptions::default() };
        let wanted = run::run(&graph, &machine, &plan, &here, options).unwrap().instances;
        for (name, batch) in [("qs22", 1), ("cell", 3)] {
            let room = |graph: &Graph| graph.edges.iter().all(|e| e.bytes < 20_000);
            if !room(&graph) && batch > 1 {
                continue;
            }
            let machine = cell(name);
            let Ok(plan) = planned(&graph, &machine, &mapping[..tasks], batch) else { continue };
            let there = Mixed::default();
            let mut options = RunOptions { instances: Some(n), ..RunOptions::default() };
            match streams::run(&graph, &machine, &plan, &there, StreamCosts::default(), &mut options) {
                Ok(outcome) => {
                    prop_assert_eq!(outcome.instances, wanted);
                    prop_assert_eq!(here.seen(), there.seen());
                }
                Err(StreamError::Room(_)) => {}
                Err(why) => prop_assert!(false, "{name}: {why}"),
            }
        }
    }
}

#[test]
fn a_run_takes_the_same_simulated_time_each_time() {
    let raw = [(0, 1, 0, 0, false), (0, 2, 1, 0, true), (1, 3, 0, 0, false), (2, 3, 2, 0, false)];
    let mut graph = random_graph(4, &raw, |_| 4_096, 1);
    graph.tasks.iter_mut().for_each(|t| {
        let _ = t.cost_ns.insert("*".into(), 2_000.0);
    });
    let of = || simulate(&graph, "qs22", &[0, 2, 3, 12], 1, 500).unwrap().0;
    let (a, b) = (of(), of());
    assert_eq!(a, b);
    // 2 us of computing an instance on each of four elements, and what the runtime adds.
    assert!(a.throughput_per_s > 300_000.0 && a.throughput_per_s < 500_000.0, "{a:?}");
}

/// Two sources on different elements and two sinks; a longer run has the same throughput.
#[test]
fn a_run_until_it_is_steady_ends_by_itself() {
    let raw = [(0, 2, 0, 0, false), (1, 2, 1, 0, true), (1, 3, 0, 0, false), (2, 4, 0, 0, false)];
    let mut graph = random_graph(5, &raw, |_| 256, 1);
    graph.tasks.iter_mut().for_each(|t| {
        let _ = t.cost_ns.insert("*".into(), 1_000.0);
    });
    let machine = cell("qs22");
    let plan = planned(&graph, &machine, &[2, 3, 0, 12, 4], 1).unwrap();
    let until = |instances: Option<u64>, until_steady: bool| {
        let mut options = RunOptions { instances, until_steady, ..RunOptions::default() };
        let kernels = Mixed::default();
        streams::run(&graph, &machine, &plan, &kernels, StreamCosts::default(), &mut options).unwrap()
    };
    let outcome = until(None, true);
    let found = outcome.until_steady.clone().unwrap();
    assert!(found.decided && found.instances <= outcome.instances && outcome.instances < 10_000, "{found:?}");
    assert!(!outcome.stopped);
    // Sources that hear of the end late have fired more often.
    assert!(outcome.elements.iter().all(|e| e.firings >= outcome.instances));
    let longer = until(Some(3 * outcome.instances), false);
    assert_eq!(longer.until_steady, None);
    let steady = longer.steady_per_s.unwrap();
    assert!((found.highest_per_s / steady - 1.0).abs() < 0.01, "{steady} {found:?}");
    let short = until(Some(50), true);
    assert_eq!((short.instances, short.until_steady), (50, None));
}

/// Where a local store has nothing left, the plan's slots are all that there are.
#[test]
fn what_local_stores_have_left_becomes_slots() {
    let mut graph = random_graph(2, &[(0, 1, 0, 0, false)], |_| 4_096, 1);
    graph.tasks.iter_mut().for_each(|t| {
        let _ = t.cost_ns.insert("*".into(), 1_000.0);
    });
    let slots = |graph: &Graph| {
        let (outcome, _) = simulate(graph, "qs22", &[1, 12], 1, 200).unwrap();
        let slots = &outcome.simulated.as_ref().unwrap()["slots"];
        let number = |key: &str| slots[key].as_u64().unwrap();
        (number("planned"), number("taken"), outcome.elapsed_s)
    };
    let (planned, taken, deep_s) = slots(&graph);
    assert_eq!((planned, taken), (4, 6));
    graph.code_bytes = 262_144 - 2 * 4_096 - 128;
    let (planned, taken, shallow_s) = slots(&graph);
    assert_eq!((planned, taken), (4, 4));
    assert!(deep_s < shallow_s, "{deep_s} {shallow_s}");
}

/// A graph of `fans` sources that all go to one sink, `bytes` each.
fn fan_in(fans: usize, bytes: u64) -> Graph {
    let raw: Vec<_> = (0..fans).map(|from| (from, fans, 0, 0, false)).collect();
    let mut graph = random_graph(fans + 1, &raw, |_| bytes, 1);
    graph.tasks.iter_mut().for_each(|t| {
        let _ = t.cost_ns.insert("*".into(), 500.0);
    });
    graph
}

/// What the sinks of `graph` get on this computer.
fn here(graph: &Graph, n: u64) -> Mixed {
    let machine = cores(1);
    let plan = planned(graph, &machine, &vec![0; graph.tasks.len()], 1).unwrap();
    let kernels = Mixed::default();
    let options = RunOptions { instances: Some(n), ..RunOptions::default() };
    run::run(graph, &machine, &plan, &kernels, options).unwrap();
    kernels
}

/// An SPE has a queue of 16 for its own commands and one of 8 for those of PPEs. SPEs push what PPEs read, because the
/// second one holds up the PPE: six registers a command.
#[test]
fn what_an_spe_pushes_itself_is_quicker_than_what_a_ppe_has_it_push() {
    const N: u32 = 200;
    const BYTES: u32 = 2_048;
    let elapsed_ns = |proxied: bool| {
        let mut machine = sim::Simulation::new(sim::Parameters::named("cell").unwrap()).unwrap();
        let to = machine.allocate(0, u64::from(N * BYTES), 128).unwrap();
        let end = move |k: u32| to + u64::from(k * BYTES);
        machine
            .spe(0, "pushes", move |spe| {
                let from = spe.alloc(8 * BYTES, 128);
                if proxied {
                    spe.write_mailbox(from);
                    return;
                }
                (0..N).for_each(|k| spe.put(from + k % 8 * BYTES, end(k), BYTES, k % 8));
                spe.tags_all(0xff);
            })
            .unwrap();
        machine
            .ppe(0, "has it push", move |ppe| {
                if proxied {
                    let from = ppe.read_mailbox(0);
                    (0..N).for_each(|k| ppe.proxy_put(0, from + k % 8 * BYTES, end(k), BYTES, k % 8));
                    ppe.proxy_wait(0, 0xff);
                }
            })
            .unwrap();
        machine.run().unwrap().elapsed_ns() / f64::from(N)
    };
    let (proxied, pushed) = (elapsed_ns(true), elapsed_ns(false));
    assert!(proxied > 5.0 * pushed, "{proxied:.0} ns, {pushed:.0} ns");
}

/// (17): an SPE's queue takes 16 commands; more edges than that are delayed. (18): a PPE's that an SPE serves takes 8;
/// more edges than that are delayed by nothing but (17), since nothing goes by that queue.
#[test]
fn a_plan_with_more_transfers_than_a_queue_takes_runs() {
    let graph = fan_in(20, 2_048);
    let wanted = here(&graph, 100).seen();
    // All sources on an SPE, the sink on another one; the sink on the PPE; and the other way round.
    for (sources, sink) in [(3, 4), (3, 0), (0, 4)] {
        let mapping: Vec<usize> = (0..21).map(|t| if t < 20 { sources } else { sink }).collect();
        let (outcome, kernels) = simulate(&graph, "cell", &mapping, 1, 100).unwrap();
        assert_eq!((outcome.instances, kernels.seen()), (100, wanted.clone()));
    }
}

#[test]
fn tasks_on_both_ppes_work_with_memory_on_their_own_chips() {
    let raw = [(0, 1, 0, 0, false), (1, 2, 1, 0, false), (0, 2, 0, 0, false), (2, 3, 0, 0, false)];
    for bytes in [4, 12, 3_000, 20_000] {
        let mut graph = random_graph(4, &raw, |_| bytes, 1);
        graph.tasks.iter_mut().for_each(|t| {
            let _ = t.cost_ns.insert("*".into(), 1_000.0);
        });
        let wanted = here(&graph, 60).seen();
        // PPE0, PPE1, then SPEs of both chips.
        for mapping in [[0, 1, 0, 1], [1, 0, 1, 1], [2, 1, 12, 0], [1, 3, 0, 11]] {
            let (outcome, kernels) = simulate(&graph, "qs22:ppe=2", &mapping, 1, 60).unwrap();
            assert_eq!(
                (outcome.instances, kernels.seen()),
                (60, wanted.clone()),
                "{mapping:?}, {bytes} bytes"
            );
            let used: Vec<&str> = outcome.elements.iter().map(|e| e.name.as_str()).collect();
            assert!(used.contains(&"PPE0") && used.contains(&"PPE1"), "{used:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    /// Whatever each firing costs, whatever the runtime's own code does, and however many slots there are.
    #[test]
    fn no_byte_depends_on_how_long_anything_takes(
        tasks in 2usize..9,
        raw in prop::collection::vec((0usize..9, 0usize..9, 0u64..5, 0u64..12, any::<bool>()), 1..14),
        mapping in prop::collection::vec(0usize..6, 9),
        sizes in prop::collection::vec(0usize..6, 9),
        costs in prop::collection::vec(0u64..6_000, 9),
        (batch, n, seed) in (1u64..5, 1u64..60, any::<u64>()),
    ) {
        let mut graph = random_graph(tasks, &raw, |task| [1, 4, 12, 100, 3_000, 9_000][sizes[task]], 5);
        for (task, ns) in graph.tasks.iter_mut().zip(costs) {
            task.cost_ns.insert("*".into(), ns as f64);
        }
        let Ok(plan) = planned(&graph, &cores(1), &vec![0; tasks], 1) else { return Ok(()) };
        let here = Mixed::default();
        let options = RunOptions { instances: Some(n), ..RunOptions::default() };
        run::run(&graph, &cores(1), &plan, &here, options).unwrap();
        let machine = cell("qs22");
        let Ok(plan) = planned(&graph, &machine, &mapping[..tasks], batch) else { return Ok(()) };
        let own = StreamCosts { drawn_from: Some(seed), ..StreamCosts::default() };
        for costs in [own, StreamCosts { drawn_from: Some(seed), spare_slots: false, ..StreamCosts::free() }] {
            let there = Mixed::default();
            let mut options = RunOptions { instances: Some(n), ..RunOptions::default() };
            match streams::run(&graph, &machine, &plan, &there, costs, &mut options) {
                Ok(_) => prop_assert_eq!(here.seen(), there.seen()),
                Err(StreamError::Room(_)) => {}
                Err(why) => prop_assert!(false, "{why}"),
            }
        }
    }
}

/// What the runtime's own code takes of an SPE for one end of an edge, as costs.rs and the machine count it: at the
/// reader's end a fetch, at the writer's a flag.
fn overhead_ns() -> f64 {
    let (c, spu) = (StreamCosts::default().spe, sim::Parameters::named("qs22").unwrap().spu);
    // A cycle of the bus is two of an SPU.
    let command = 2 * (spu.dma + spu.channel);
    let each = c.glance + c.ring + c.firing_ring + c.flag + command;
    let fetch = c.unit + 2 * c.ring + c.transfer + c.arrival + command;
    (2 * each + fetch) as f64 / 2.0 / 3.2
}

#[test]
fn a_plan_that_counts_the_runtimes_own_code_takes_batches_and_is_quicker() {
    let options = DaggenOptions { tasks: 60, seed: 7, ccr: 0.02, ..DaggenOptions::default() };
    let graph = generate(&options).unwrap();
    let planned_and_ns = |per_transfer_ns: f64| {
        let mut machine = cell("qs22:ppe=1");
        machine.overheads.insert("spe".into(), Overhead { per_transfer_ns, per_byte_ns: 0.0 });
        let options = PlanOptions { moves: Some(20_000), gap: 0.0, ..PlanOptions::default() };
        let plan = plan::plan(&machine, &graph, &options, &|| 0.0, &mut |_| true).unwrap();
        let (kernels, costs) = (Mixed::default(), StreamCosts::default());
        let mut options = RunOptions { instances: Some(300), ..RunOptions::default() };
        let outcome = streams::run(&graph, &machine, &plan, &kernels, costs, &mut options).unwrap();
        (plan.batch, 1e9 / outcome.steady_per_s.unwrap(), plan.throughput_per_s)
    };
    // The figure of the book.
    assert!((overhead_ns() - 32.0).abs() < 1.0, "{}", overhead_ns());
    let (plain, counted) = (planned_and_ns(0.0), planned_and_ns(overhead_ns()));
    println!("{plain:?} {counted:?}");
    assert_eq!(plain.0, 1);
    assert!(counted.0 > 1 && counted.1 < 0.9 * plain.1, "{plain:?} {counted:?}");
}

/// A source of zeros, and a sink that panics, or does not return, at its third instance.
struct Bad {
    returns: bool,
}

impl Kernels for Bad {
    fn open(&self, graph: &Graph, task: TaskId) -> Result<Opened, String> {
        let any = || vec![PortSpec::any_number("port")];
        let returns = self.returns;
        let is_sink = graph.edges.iter().any(|e| e.to.task == task);
        Ok(Opened::from_rust(any(), any(), move |_| Ok(Box::new(BadKernel { is_sink, returns, fired: 0 }))))
    }
}

struct BadKernel {
    is_sink: bool,
    returns: bool,
    fired: u64,
}

impl Kernel for BadKernel {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        self.fired += batch.firings();
        if !self.returns && self.is_sink && self.fired >= 3 {
            loop {
                std::thread::park();
            }
        }
        assert!(!self.is_sink || self.fired < 3, "no more of this");
        Ok(Fired::All)
    }
}

/// Why a source on SPE1 and such a sink on SPE2 end.
fn ended(returns: bool) -> String {
    let mut graph = random_graph(2, &[(0, 1, 0, 0, false)], |_| 64, 1);
    graph.tasks.iter_mut().for_each(|t| {
        let _ = t.cost_ns.insert("*".into(), 2_000.0);
    });
    let machine = cell("cell");
    let plan = planned(&graph, &machine, &[1, 2], 1).unwrap();
    let watchdog_s = if returns { 10.0 } else { 1.0 };
    let mut options = RunOptions { instances: Some(10), watchdog_s, ..RunOptions::default() };
    let kernels = Bad { returns };
    let ended = streams::run(&graph, &machine, &plan, &kernels, StreamCosts::default(), &mut options);
    ended.unwrap_err().to_string()
}

#[test]
fn a_kernel_that_panics_on_an_spe_is_named_with_its_element_and_instance() {
    let why = ended(true);
    assert!(why.starts_with("task 't1' failed at instance 2: on SPE1: "), "{why}");
    assert!(why.contains("no more of this"), "{why}");
}

#[test]
fn a_kernel_that_does_not_return_is_named_and_left_behind() {
    let why = ended(false);
    assert!(why.contains("the kernel of task 't1' on SPE1 does not return"), "{why}");
    assert!(why.contains("at instance 2"), "{why}");
}
