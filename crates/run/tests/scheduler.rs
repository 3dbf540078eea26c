//! The scheduler without threads: every interleaving of small graphs, random ones of larger graphs. Nothing ever hangs,
//! no ring overflows, every task fires exactly N times.

use proptest::prelude::*;
use run::RunLayout;
use run::scheduler::{CounterIds, NextStep, Scheduler, World};
use run::testing::{cores, edge, planned, planned_as, task};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use work::{Buffering, Graph, Plan};

/// All elements and what they see of each other.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    schedulers: Vec<Scheduler>,
    counters: Vec<u64>,
    instances: u64,
    /// What each element is in the middle of; its effects are not yet visible to others.
    busy: Vec<Option<NextStep>>,
}

/// The setting that does not change.
struct Game {
    layout: RunLayout,
    ids: CounterIds,
    /// Sources end after so many.
    end: u64,
}

struct Seen<'a> {
    counters: &'a [u64],
    watched: &'a [usize],
    instances: u64,
}

impl World for Seen<'_> {
    fn seen(&mut self, watched: usize) -> u64 {
        self.counters[self.watched[watched]]
    }
    fn instances(&mut self) -> u64 {
        self.instances
    }
}

impl Game {
    fn new(graph: &Graph, plan: &Plan, elements: usize, end: u64) -> Game {
        let layout = RunLayout::new(graph, &cores(elements), plan).unwrap();
        let ids = CounterIds::new(&layout);
        Game { layout, ids, end }
    }

    fn start(&self, known: bool) -> State {
        State {
            schedulers: (0..self.layout.elements.len()).map(|e| Scheduler::new(&self.layout, e)).collect(),
            counters: self.ids.initial(&self.layout),
            instances: if known { self.end } else { u64::MAX },
            busy: vec![None; self.layout.elements.len()],
        }
    }

    /// The element decides what to do next. True when it began something.
    fn begin(&self, state: &mut State, e: usize) -> bool {
        let watched = state.schedulers[e].watched().to_vec();
        let mut world = Seen { counters: &state.counters, watched: &watched, instances: state.instances };
        let step = state.schedulers[e].step(&mut world);
        if let NextStep::Fire { unit, firings } | NextStep::Retry { unit, firings } = step {
            let scheduler = &state.schedulers[e];
            let batch = self.layout.batch;
            assert!(
                firings >= 1 && firings <= batch - scheduler.firings(unit) % batch,
                "a firing beyond its batch"
            );
            for read in scheduler.reads(unit) {
                assert!(read.slot + firings <= read.capacity, "a read beyond the ring's end");
            }
            for write in scheduler.writes(unit) {
                assert!(write.slot + firings <= write.capacity, "a write beyond the ring's end");
                let ring = &self.layout.rings[write.ring];
                for c in 0..ring.consumers.len() {
                    let tail = state.counters[self.ids.tail(write.ring, c)];
                    assert!(scheduler.head(write) + firings - tail <= ring.capacity, "a ring overflows");
                }
            }
        }
        if matches!(step, NextStep::Wait | NextStep::Done) {
            return false;
        }
        state.busy[e] = Some(step);
        true
    }

    /// The element finishes what it began; of a source's firings only `done` were there.
    fn complete(&self, state: &mut State, e: usize, less: u64) {
        let step = state.busy[e].take().unwrap();
        let scheduler = &mut state.schedulers[e];
        let unit = match step {
            NextStep::Fire { unit, firings } | NextStep::Retry { unit, firings } => {
                let source = self.layout.units[self.layout.elements[e].units[unit]].source;
                let before = scheduler.firings(unit);
                let mut fired = firings;
                if source {
                    fired = firings.saturating_sub(less).min(self.end - before.min(self.end));
                    if before + fired >= self.end {
                        state.instances = state.instances.min(self.end);
                    }
                }
                scheduler.fired(unit, fired, source && fired < firings);
                unit
            }
            NextStep::Pad { unit, write, instances } => {
                scheduler.padded(unit, write, instances);
                unit
            }
            NextStep::Wait | NextStep::Done => unreachable!(),
        };
        for write in scheduler.writes(unit) {
            state.counters[self.ids.head(write.ring)] = scheduler.head(write);
        }
        for read in scheduler.reads(unit) {
            state.counters[self.ids.tail(read.ring, read.consumer)] = scheduler.tail(read);
        }
    }

    fn finished(&self, state: &State) -> Result<(), String> {
        // The last look closes units that have fired for the last time.
        let mut state = state.clone();
        for e in 0..state.schedulers.len() {
            assert!(!self.begin(&mut state, e));
        }
        for (e, element) in self.layout.elements.iter().enumerate() {
            let scheduler = &state.schedulers[e];
            let open: Vec<usize> = scheduler.unfinished().collect();
            if !open.is_empty() {
                return Err(format!("{}: units {open:?} wait for ever", element.name));
            }
            for unit in 0..element.units.len() {
                if scheduler.firings(unit) != self.end {
                    return Err(format!(
                        "unit {unit} of {} fired {} times",
                        element.name,
                        scheduler.firings(unit)
                    ));
                }
            }
        }
        Ok(())
    }

    /// All interleavings from `state`; gives how many states there are.
    fn explore(&self, state: State, pauses: bool) -> Result<usize, String> {
        let mut seen = HashSet::new();
        let mut open = vec![state];
        while let Some(state) = open.pop() {
            let mut hasher = DefaultHasher::new();
            state.hash(&mut hasher);
            if !seen.insert(hasher.finish()) {
                continue;
            }
            let mut moved = false;
            for e in 0..state.schedulers.len() {
                if state.busy[e].is_some() {
                    for less in 0..=u64::from(pauses) {
                        let mut next = state.clone();
                        self.complete(&mut next, e, less);
                        open.push(next);
                    }
                    moved = true;
                } else {
                    let mut next = state.clone();
                    if self.begin(&mut next, e) {
                        open.push(next);
                        moved = true;
                    }
                }
            }
            if !moved {
                self.finished(&state)?;
            }
        }
        Ok(seen.len())
    }

    /// One random interleaving.
    fn wander(&self, mut state: State, mut random: impl FnMut() -> u64) -> Result<(), String> {
        let n = state.schedulers.len() as u64;
        loop {
            let from = random() % n;
            let mut moved = false;
            for e in (0..n).map(|i| ((from + i) % n) as usize) {
                if state.busy[e].is_some() {
                    self.complete(&mut state, e, u64::from(random().is_multiple_of(5)));
                    moved = true;
                } else {
                    moved |= self.begin(&mut state, e);
                }
                if moved {
                    break;
                }
            }
            if !moved {
                return self.finished(&state);
            }
        }
    }
}

/// Numbers that look random and are the same for ever.
fn scramble(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut x = *seed;
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Every way of putting `tasks` tasks onto at most `elements` elements, elements being alike.
fn mappings(tasks: usize, elements: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for _ in 0..tasks {
        all = all
            .into_iter()
            .flat_map(|m: Vec<usize>| {
                let used = m.iter().max().map_or(0, |x| x + 1);
                (0..=used.min(elements - 1)).map(move |e| m.iter().copied().chain([e]).collect())
            })
            .collect();
    }
    all
}

fn pairs(tasks: usize) -> Vec<(usize, usize)> {
    (0..tasks).flat_map(|b| (0..b).map(move |a| (a, b))).collect()
}

fn graph_of(tasks: usize, chosen: u32, mut peek: impl FnMut() -> u64, broadcast: bool) -> Graph {
    let mut graph = Graph { name: "g".into(), ..Graph::default() };
    graph.tasks = (0..tasks).map(|t| task(&format!("t{t}"), "cellweave:spin")).collect();
    for (i, (a, b)) in pairs(tasks).into_iter().enumerate().filter(|(i, _)| chosen >> i & 1 == 1) {
        let port = if broadcast { "out".to_string() } else { format!("o{i}") };
        let mut e = edge(a, &port, b, &format!("i{i}"), 8);
        e.peek = peek();
        graph.edges.push(e);
    }
    graph
}

/// Explores graphs of `tasks` tasks; every `stride`-th combination.
fn explore_all(tasks: usize, elements: usize, stride: u64) -> usize {
    let mut seed = tasks as u64;
    let (mut combination, mut states) = (0u64, 0);
    for chosen in 0..1u32 << pairs(tasks).len() {
        for mapping in mappings(tasks, elements) {
            for batch in 1..=3u64 {
                for peeks in 0..3u64 {
                    combination += 1;
                    if combination % stride != 0 {
                        continue;
                    }
                    // No peeks, peeks up to 2, peeks beyond the batch.
                    let draw = || scramble(&mut seed) % (1 + peeks * 2);
                    let graph = graph_of(tasks, chosen, draw, combination % 2 == 0);
                    let rule = if combination % 3 == 0 { Buffering::Duplicated } else { Buffering::Shared };
                    let plan = planned_as(&graph, &cores(elements), &mapping, batch, rule).unwrap();
                    let game = Game::new(&graph, &plan, elements, 2 * batch + 1);
                    for (known, pauses) in [(true, false), (false, combination % 7 == 0)] {
                        match game.explore(game.start(known), pauses) {
                            Ok(n) => states += n,
                            Err(why) => {
                                panic!("{why}: edges {chosen:b}, {mapping:?}, batch {batch}, {graph:?}")
                            }
                        }
                    }
                }
            }
        }
    }
    states
}

/// Thins the larger explorations out by less: `CELLWEAVE_EXPLORE=20` takes 20 times as many graphs.
fn more() -> u64 {
    std::env::var("CELLWEAVE_EXPLORE").ok().and_then(|n| n.parse().ok()).unwrap_or(1).max(1)
}

#[test]
fn no_interleaving_of_any_graph_of_up_to_3_tasks_hangs() {
    assert!((1..=3).map(|tasks| explore_all(tasks, 2, 1)).sum::<usize>() > 10_000);
}

#[test]
fn no_interleaving_of_graphs_of_4_tasks_hangs() {
    assert!(explore_all(4, 3, (149 / more()).max(1)) > 1000);
}

#[test]
fn no_interleaving_of_graphs_of_5_tasks_hangs() {
    assert!(explore_all(5, 2, (2999 / more()).max(1)) > 1000);
}

#[test]
fn a_ring_with_one_slot_too_few_is_refused_before_it_can_hang() {
    let graph = graph_of(3, 0b111, || 1, false);
    let mut plan = planned(&graph, &cores(3), &[0, 1, 2], 2).unwrap();
    plan.edges[1].slots_in = 1;
    plan.edges[1].slots_out = 1;
    let why = RunLayout::new(&graph, &cores(3), &plan).unwrap_err().to_string();
    assert!(why.contains("t0.o1 -> t2.i1") && why.contains("can hang"), "{why}");
}

/// A circle a -> b -> c -> a with more delay than peek. On one element a and b have equal firstPeriods; fired as one
/// unit they would lose the delay between them, and wait for c, which waits for them.
#[test]
fn tasks_of_a_circle_that_only_their_delay_keeps_alive_fire_one_by_one() {
    let tasks = ["a", "b", "c", "source"].map(|name| task(name, "cellweave:spin")).to_vec();
    let mut edges = vec![edge(0, "0", 1, "0", 8), edge(1, "0", 2, "0", 8), edge(2, "0", 0, "0", 8)];
    (edges[0].delay, edges[1].peek, edges[2].delay) = (1, 2, 2);
    let graph = Graph { name: "g".into(), tasks, edges, ..Graph::default() };
    for mapping in [[0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1]] {
        let Ok(plan) = planned(&graph, &cores(2), &mapping, 1) else { continue };
        let game = Game::new(&graph, &plan, 2, 3);
        game.explore(game.start(true), true).unwrap_or_else(|why| panic!("{mapping:?}: {why}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn random_graphs_with_peek_delay_and_batches_end_whatever_the_order(
        tasks in 2usize..14,
        raw in prop::collection::vec((0usize..14, 0usize..14, 0u64..9, 0u64..12, any::<bool>()), 1..30),
        mapping in prop::collection::vec(0usize..4, 14),
        batch in 1u64..9,
        batches in 1u64..5,
        seed in any::<u64>(),
    ) {
        let mut graph = Graph { name: "g".into(), ..Graph::default() };
        graph.tasks = (0..tasks).map(|t| task(&format!("t{t}"), "cellweave:spin")).collect();
        for (i, &(a, b, peek, delay, broadcast)) in raw.iter().enumerate() {
            let (a, b) = (a % tasks, b % tasks);
            let port = if broadcast { "out".to_string() } else { format!("o{i}") };
            let mut e = edge(a, &port, b, &format!("i{i}"), 8);
            e.peek = peek;
            // Backward edges, and an edge from a task to itself, need a delay; forward ones may have one.
            e.delay = if a >= b { delay + peek + batch } else if delay > 8 { delay } else { 0 };
            graph.edges.push(e);
        }
        let mapping = &mapping[..tasks];
        // A cycle whose delay is too short for this mapping has no schedule: nothing to run.
        let Ok(plan) = planned(&graph, &cores(4), mapping, batch) else { return Ok(()) };
        let game = Game::new(&graph, &plan, 4, batch * batches + seed % batch);
        for known in [true, false] {
            let has_source = game.layout.units.iter().any(|u| u.source);
            if !known && !has_source {
                continue;
            }
            let mut seed = seed;
            let ended = game.wander(game.start(known), || scramble(&mut seed));
            prop_assert!(ended.is_ok(), "{}", ended.unwrap_err());
        }
    }
}
