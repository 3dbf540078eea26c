//! Schedules of random mapped graphs: the inequalities that liveness rests on, and runs that never hang.

use proptest::prelude::*;
use std::collections::BTreeMap;
use work::schedule::{NoSchedule, ScheduleBuilder, minimum_slots, schedule};
use work::{Buffering, Edge, Graph, Port, Schedule, Slots, Task};

/// A mapped graph with its options.
#[derive(Debug, Clone)]
struct Case {
    graph: Graph,
    mapping: Vec<usize>,
    elements: usize,
    buffering: Buffering,
    batch: u64,
}

impl Case {
    fn schedule(&self) -> Result<Schedule, NoSchedule> {
        schedule(&self.graph, &self.mapping, self.elements, self.buffering, self.batch)
    }
}

fn graph(tasks: usize, edges: &[(usize, usize, u64, u64)]) -> Graph {
    let port = |task, name: usize| Port { task, name: name.to_string() };
    Graph {
        name: "test".into(),
        tasks: (0..tasks).map(|t| Task { name: format!("t{t}"), ..Task::default() }).collect(),
        edges: edges
            .iter()
            .enumerate()
            .map(|(e, &(from, to, peek, delay))| Edge {
                from: port(from, e),
                to: port(to, e),
                bytes: 1,
                peek,
                delay,
            })
            .collect(),
        ..Graph::default()
    }
}

/// Forward edges make a DAG; where `cyclic`, some edges run backwards with a delay. Some edges share an output port.
fn case(cyclic: bool) -> impl Strategy<Value = Case> {
    (2usize..12, 1usize..5, 1u64..5, any::<bool>()).prop_flat_map(move |(tasks, elements, batch, shared)| {
        let edge = (0..tasks, 0..tasks, 0u64..6, prop_oneof![3 => Just(0u64), 1 => 0u64..30], 0usize..4);
        let edges = prop::collection::vec(edge, 1..24);
        let mapping = prop::collection::vec(0..elements, tasks);
        (edges, mapping).prop_map(move |(edges, mapping)| {
            let mut list = Vec::new();
            let mut ports = Vec::new();
            for (a, b, peek, delay, port) in edges {
                if a != b && (a < b || !cyclic) {
                    list.push((a.min(b), a.max(b), peek, delay));
                    ports.push(port);
                } else if cyclic {
                    list.push((a, b, peek, delay + 1));
                    ports.push(port);
                }
            }
            let mut graph = graph(tasks, &list);
            for (edge, port) in graph.edges.iter_mut().zip(ports) {
                edge.bytes = 1 + (edge.from.task * 4 + port) as u64;
                if port > 0 {
                    edge.from.name = format!("broadcast{port}");
                }
            }
            let buffering = if shared { Buffering::Shared } else { Buffering::Duplicated };
            Case { graph, mapping: mapping.clone(), elements, buffering, batch }
        })
    })
}

/// Plays a mapped graph with whole batches only, one buffer per broadcast and destination element, fetches between
/// elements as actions of their own, and actions picked at random. Returns the tasks that could not fire `batches`
/// times.
fn play(case: &Case, slots: &[Slots], batches: u64, mut seed: u64) -> Vec<usize> {
    let Case { graph, mapping, batch, .. } = case;
    let batch = *batch;
    let shared = case.buffering == Buffering::Shared;
    let mut produced = vec![0u64; graph.tasks.len()];
    // (port, destination element, shares the producer's buffer) -> instances written there
    let group_of =
        |e: &Edge| (e.from.clone(), mapping[e.to.task], shared && mapping[e.from.task] == mapping[e.to.task]);
    let mut written: BTreeMap<_, u64> = graph.edges.iter().map(|e| (group_of(e), 0)).collect();
    let mut consumed = vec![0u64; graph.edges.len()];
    let total = batches * batch;
    loop {
        let room_in = |group: &(Port, usize, bool), written: u64, consumed: &[u64]| {
            graph
                .edges
                .iter()
                .enumerate()
                .filter(|(_, e)| group_of(e) == *group)
                .all(|(i, e)| written + e.delay - consumed[i] + batch <= slots[i].r#in)
        };
        let mut fetches = Vec::new();
        for (group, &here) in &written {
            if !group.2 && here < produced[group.0.task] && room_in(group, here, &consumed) {
                fetches.push(group.clone());
            }
        }
        let mut firings = Vec::new();
        for (task, &done) in produced.iter().enumerate() {
            let inputs = graph.edges.iter().enumerate().filter(|(_, e)| e.to.task == task).all(|(i, e)| {
                let here = written[&group_of(e)];
                here == total || here + e.delay - consumed[i] >= batch + e.peek
            });
            let outputs =
                graph.edges.iter().enumerate().filter(|(_, e)| e.from.task == task).all(|(i, e)| {
                    let group = group_of(e);
                    if group.2 {
                        // A self loop frees its input before it writes only at the end of the firing: no room counted
                        // twice.
                        room_in(&group, written[&group], &consumed)
                    } else {
                        done - written[&group] + batch <= slots[i].out
                    }
                });
            if done < total && inputs && outputs {
                firings.push(task);
            }
        }
        let actions = fetches.len() + firings.len();
        if actions == 0 {
            return (0..graph.tasks.len()).filter(|&t| produced[t] < total).collect();
        }
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let pick = (seed >> 33) as usize % actions;
        if pick < fetches.len() {
            *written.get_mut(&fetches[pick]).unwrap() += batch;
        } else {
            let task = firings[pick - fetches.len()];
            produced[task] += batch;
            for (i, edge) in graph.edges.iter().enumerate() {
                if edge.to.task == task {
                    consumed[i] += batch;
                }
                let group = group_of(edge);
                if edge.from.task == task && group.2 {
                    written.insert(group, produced[task]);
                }
            }
        }
    }
}

fn check_inequalities(case: &Case, schedule: &Schedule) -> Result<(), TestCaseError> {
    let shared = case.buffering == Buffering::Shared;
    for (edge, slots) in case.graph.edges.iter().zip(&schedule.slots) {
        let (k, l) = (edge.from.task, edge.to.task);
        let first = (schedule.first_period[k], schedule.first_period[l]);
        let local = shared && case.mapping[k] == case.mapping[l];
        let (p, d) = (edge.peek.div_ceil(case.batch), edge.delay / case.batch);
        prop_assert!(first.1 + d >= first.0 + p + if local { 0 } else { 2 }, "{edge:?} starts too early");
        let (both, window, out) = minimum_slots(edge, first, local, case.batch);
        prop_assert!(slots.out + slots.r#in >= both && slots.r#in >= window && slots.out >= out);
        prop_assert_eq!(slots.out == 0, local);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn a_mapped_dag_has_a_schedule_that_keeps_the_inequalities_and_never_hangs(case in case(false), seed: u64) {
        let schedule = case.schedule().unwrap();
        check_inequalities(&case, &schedule)?;
        prop_assert_eq!(play(&case, &schedule.slots, 12, seed), Vec::<usize>::new());
    }

    #[test]
    fn a_cycle_with_delays_has_a_schedule_that_never_hangs_or_is_named(case in case(true), seed: u64) {
        match case.schedule() {
            Ok(schedule) => {
                check_inequalities(&case, &schedule)?;
                prop_assert_eq!(play(&case, &schedule.slots, 12, seed), Vec::<usize>::new());
            }
            Err(no) => {
                prop_assert!(no.needed > no.delay, "{}", no);
                prop_assert!(no.tasks.len() >= 2 && no.tasks.first() == no.tasks.last());
                for pair in no.tasks.windows(2) {
                    let (from, to) = (case.graph.task(&pair[0]), case.graph.task(&pair[1]));
                    prop_assert!(case.graph.edges.iter().any(|e| Some(e.from.task) == from && Some(e.to.task) == to));
                }
            }
        }
    }

    #[test]
    fn firing_order_is_every_task_once_and_producers_first(case in case(false)) {
        let schedule = case.schedule().unwrap();
        let mut place = vec![None; case.graph.tasks.len()];
        for (element, order) in schedule.order.iter().enumerate() {
            for (at, &task) in order.iter().enumerate() {
                prop_assert_eq!(case.mapping[task], element);
                prop_assert_eq!(place[task].replace(at), None);
            }
        }
        prop_assert!(place.iter().all(Option::is_some));
        for e in case.graph.edges.iter().filter(|e| e.delay < case.batch) {
            if case.mapping[e.from.task] == case.mapping[e.to.task] {
                prop_assert!(place[e.from.task] < place[e.to.task]);
            }
        }
    }

    #[test]
    fn firing_tasks_of_equal_first_period_together_leaves_no_cycle(case in case(false)) {
        let schedule = case.schedule().unwrap();
        let equal = |&a: &usize, &b: &usize| schedule.first_period[a] == schedule.first_period[b];
        let together: Vec<_> = schedule.order.iter().flat_map(|tasks| tasks.chunk_by(equal)).collect();
        let mut of = vec![usize::MAX; case.graph.tasks.len()];
        for (s, tasks) in together.iter().enumerate() {
            tasks.iter().for_each(|&t| of[t] = s);
        }
        let edges: Vec<_> = case.graph.edges.iter().filter(|e| e.delay == 0)
            .map(|e| (of[e.from.task], of[e.to.task])).filter(|(a, b)| a != b).collect();
        let mut left: Vec<bool> = vec![true; together.len()];
        for _ in 0..together.len() {
            let free = (0..together.len()).find(|&s| left[s] && !edges.iter().any(|&(a, b)| b == s && left[a]));
            prop_assert!(free.is_some(), "tasks that fire together wait for each other");
            left[free.unwrap()] = false;
        }
    }

    #[test]
    fn duplicated_first_periods_do_not_depend_on_the_mapping(case in case(false)) {
        let on = |mapping: &[usize]| {
            schedule(&case.graph, mapping, case.elements, Buffering::Duplicated, case.batch).unwrap()
        };
        let (apart, together) = (on(&case.mapping), on(&vec![0; case.mapping.len()]));
        prop_assert_eq!(apart.first_period, together.first_period);
        // A broadcast to several elements takes room on each: only then do the sums differ.
        prop_assert!(apart.buffers_bytes.iter().sum::<u64>() >= together.buffers_bytes[0]);
    }

    #[test]
    fn shared_starts_no_task_later_than_duplicated(case in case(false)) {
        let first = |rule| {
            schedule(&case.graph, &case.mapping, case.elements, rule, case.batch).unwrap().first_period
        };
        let (shared, duplicated) = (first(Buffering::Shared), first(Buffering::Duplicated));
        prop_assert!(shared.iter().zip(&duplicated).all(|(s, d)| s <= d));
    }

    #[test]
    fn a_reused_builder_agrees_with_a_new_one(
        a in case(true),
        more in prop::collection::vec((any::<u64>(), 1u64..5), 1..6),
    ) {
        let mut builder = ScheduleBuilder::new(&a.graph);
        let mut out = Schedule::default();
        for (bits, batch) in more {
            let mapping: Vec<usize> =
                (0..a.graph.tasks.len()).map(|t| (bits >> (2 * t)) as usize % a.elements).collect();
            let fresh = schedule(&a.graph, &mapping, a.elements, a.buffering, batch);
            let reused = builder.run(&mapping, a.elements, a.buffering, batch, &mut out).map(|()| out.clone());
            prop_assert_eq!(reused, fresh);
        }
    }
}

#[test]
fn a_batch_less_room_hangs() {
    // The simulation above can fail: on one element D slots are too few, D + 1 are enough.
    let graph = graph(3, &[(0, 1, 0, 0), (1, 2, 2, 0), (0, 2, 1, 0)]);
    let case = Case { graph, mapping: vec![0; 3], elements: 1, buffering: Buffering::Shared, batch: 2 };
    let mut slots = case.schedule().unwrap().slots;
    assert!(play(&case, &slots, 20, 1).is_empty());
    slots.iter_mut().for_each(|s| s.r#in -= 2);
    assert!(!play(&case, &slots, 20, 1).is_empty());
}

#[test]
fn the_example_of_the_papers_figure_6_starts_at_0_2_and_4() {
    // streaming-schedule 3.2.2: "we have firstPeriod(1) = 0, firstPeriod(2) = 2, and firstPeriod(3) = 4"
    let graph = graph(3, &[(0, 1, 0, 0), (0, 2, 0, 0), (1, 2, 0, 0)]);
    let s = schedule(&graph, &[0, 1, 1], 2, Buffering::Duplicated, 1).unwrap();
    assert_eq!(s.first_period, [0, 2, 4]);
    assert_eq!(s.slots[1], Slots { out: 4, r#in: 4 });
    assert_eq!(s.buffers_bytes, [6, 6 + 4]);
}

#[test]
fn a_peek_counts_in_whole_batches() {
    let graph = graph(2, &[(0, 1, 5, 0)]);
    for (batch, first) in [(1, 7), (2, 5), (4, 4), (5, 3), (100, 3)] {
        let s = schedule(&graph, &[0, 1], 2, Buffering::Shared, batch).unwrap();
        assert_eq!(s.first_period[1], first);
        assert_eq!(s.slots[0], Slots { out: batch * first, r#in: batch * first });
    }
}

#[test]
fn a_broadcast_counts_once_at_the_producer_and_once_per_destination_element() {
    let mut graph = graph(5, &[(0, 1, 0, 0), (0, 2, 3, 0), (0, 3, 1, 0), (0, 4, 2, 0)]);
    graph.edges.iter_mut().for_each(|e| (e.from.name, e.bytes) = ("all".into(), 10));
    let s = schedule(&graph, &[0, 1, 1, 2, 0], 3, Buffering::Shared, 1).unwrap();
    assert_eq!(s.first_period, [0, 2, 5, 3, 2]);
    let slots: Vec<_> = s.slots.iter().map(|s| (s.out, s.r#in)).collect();
    assert_eq!(slots, [(5, 5), (5, 5), (5, 3), (0, 3)]);
    assert_eq!(s.buffers_bytes, [50 + 30, 50, 30]);
}

#[test]
fn a_cycle_on_one_element_needs_a_delay_of_a_batch() {
    let graph = graph(2, &[(0, 1, 0, 0), (1, 0, 0, 3)]);
    for batch in 1..=3 {
        assert!(schedule(&graph, &[0, 0], 2, Buffering::Shared, batch).is_ok());
    }
    let no = schedule(&graph, &[0, 0], 2, Buffering::Shared, 4).unwrap_err();
    assert_eq!(
        no.to_string(),
        "the cycle t0 -> t1 -> t0 needs delays of at least 1 batches with this mapping and batch, and has 0"
    );
}

#[test]
fn a_cycle_between_elements_needs_two_batches_per_transfer() {
    let short = graph(2, &[(0, 1, 0, 0), (1, 0, 0, 3)]);
    let no = schedule(&short, &[0, 1], 2, Buffering::Shared, 1).unwrap_err();
    assert_eq!((no.needed, no.delay), (4, 3));
    let enough = graph(2, &[(0, 1, 0, 0), (1, 0, 0, 4)]);
    let s = schedule(&enough, &[0, 1], 2, Buffering::Shared, 1).unwrap();
    assert_eq!(s.first_period, [0, 2]);
}

#[test]
fn a_cycle_that_peeks_as_far_as_its_delay_has_no_schedule() {
    let graph = graph(2, &[(0, 1, 2, 0), (1, 0, 0, 2)]);
    let no = schedule(&graph, &[0, 0], 1, Buffering::Shared, 1).unwrap_err();
    assert_eq!((no.needed, no.delay), (3, 2));
}

#[test]
fn a_chain_of_100_000_tasks_and_a_batch_of_0_are_fine() {
    let edges: Vec<_> = (1..100_000).map(|t| (t - 1, t, 1, 0)).collect();
    let graph = graph(100_000, &edges);
    let mapping: Vec<usize> = (0..100_000).map(|t| t % 7).collect();
    let s = schedule(&graph, &mapping, 7, Buffering::Shared, 0).unwrap();
    assert_eq!((s.batch, s.first_period[99_999]), (1, 3 * 99_999));
}

#[test]
fn a_delayed_ring_of_100_000_tasks_is_settled_in_few_sweeps() {
    let mut edges: Vec<_> = (1..100_000).map(|t| (t - 1, t, 0, 0)).collect();
    edges.push((99_999, 0, 0, 10));
    let graph = graph(100_000, &edges);
    assert!(schedule(&graph, &vec![0; 100_000], 1, Buffering::Shared, 10).is_ok());
    let no = schedule(&graph, &vec![0; 100_000], 1, Buffering::Duplicated, 1).unwrap_err();
    assert_eq!((no.needed, no.delay), (200_000, 10));
}

#[test]
fn absurd_sizes_stop_at_the_largest_number() {
    let mut graph = graph(3, &[(0, 1, 1 << 20, 0), (1, 2, 1 << 20, 1 << 20)]);
    graph.edges.iter_mut().for_each(|e| e.bytes = 1 << 40);
    let s = schedule(&graph, &[0, 1, 2], 3, Buffering::Shared, 1 << 20).unwrap();
    assert!(s.buffers_bytes.iter().all(|&b| b > 1 << 60));
    assert!(schedule(&graph, &[0, 1, 2], 3, Buffering::Shared, u64::MAX).is_ok());
}
