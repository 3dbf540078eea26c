//! Two schedulers per element, without threads: what one fires, what the other fetches, the arrival of transfers and
//! the delivery of each counter are steps of their own, in any order. Nothing ever hangs, no ring overflows, every
//! task fires and every fetch moves exactly N instances.

use proptest::prelude::*;
use run::scheduler::{CounterId, CounterIds, NextStep, Scheduler, World};
use run::testing::mixed::random_graph;
use run::testing::{cores, planned};
use run::{FetchLayout, RunLayout};
use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use work::Graph;

/// What changes.
#[derive(Clone, Hash)]
struct State {
    /// Of tasks, then of fetches.
    schedulers: Vec<Scheduler>,
    /// By element of the original layout, the counters as it knows them; its own are right.
    known: Vec<Vec<u64>>,
    /// What units are in the middle of, by element.
    busy: Vec<Option<NextStep>>,
    /// By fetch, instances on their way.
    flights: Vec<VecDeque<u64>>,
}

struct Known<'a>(&'a [CounterId], &'a [u64], u64);

impl World for Known<'_> {
    fn seen(&mut self, watched: usize) -> u64 {
        self.1[self.0[watched]]
    }
    fn instances(&mut self) -> u64 {
        self.2
    }
}

/// What does not.
struct Game {
    made: FetchLayout,
    ids: CounterIds,
    elements: usize,
    /// A counter, whose it is, and who watches it.
    watched: Vec<(CounterId, usize, usize)>,
    end: u64,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Begin(usize),
    Complete(usize),
    Fetch(usize),
    Arrive(usize),
    Deliver(usize),
}

impl Game {
    /// `None` when the plan's mapping has no schedule, or does not fit this layout.
    fn new(
        graph: &Graph,
        mapping: &[usize],
        batch: u64,
        end: u64,
        pushed_to: usize,
    ) -> Option<(Game, State)> {
        let machine = cores(3);
        let plan = planned(graph, &machine, mapping, batch).ok()?;
        let layout = RunLayout::new(graph, &machine, &plan).ok()?;
        let elements = layout.elements.len();
        let made = FetchLayout::new(graph, &plan, layout, &|_, to| to == pushed_to).unwrap();
        let ids = CounterIds::new(&made.layout);
        let schedulers: Vec<_> = (0..2 * elements).map(|e| Scheduler::new(&made.layout, e)).collect();
        let mut owner = vec![0; ids.len()];
        let home = |unit: usize| made.stands_for(made.layout.units[unit].element);
        for (r, ring) in made.layout.rings.iter().enumerate() {
            owner[ids.head(r)] = home(ring.producer);
            for (c, reader) in ring.consumers.iter().enumerate() {
                owner[ids.tail(r, c)] = home(reader.unit);
            }
        }
        let mut watched = Vec::new();
        for (e, scheduler) in schedulers.iter().enumerate() {
            let to = made.stands_for(e);
            let others = scheduler.watched().iter().filter(|&&id| owner[id] != to);
            watched.extend(others.map(|&id| (id, owner[id], to)));
        }
        watched.sort_unstable();
        watched.dedup();
        let state = State {
            schedulers,
            known: vec![ids.initial(&made.layout); elements],
            busy: vec![None; elements],
            flights: vec![VecDeque::new(); made.fetches.len()],
        };
        Some((Game { made, ids, elements, watched, end }, state))
    }

    fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        let each = (0..self.elements).flat_map(|e| [Step::Begin(e), Step::Complete(e), Step::Fetch(e)]);
        let arrivals = (0..self.made.fetches.len()).map(Step::Arrive);
        each.chain(arrivals).chain((0..self.watched.len()).map(Step::Deliver))
    }

    fn look(&self, state: &mut State, scheduler: usize) -> NextStep {
        let watched = state.schedulers[scheduler].watched().to_vec();
        let known = &state.known[self.made.stands_for(scheduler)];
        state.schedulers[scheduler].step(&mut Known(&watched, known, self.end))
    }

    /// No ring may ever hold more than it has room for, whatever its producer knows.
    fn check_room(&self, state: &State, scheduler: usize, unit: usize, firings: u64) {
        for write in state.schedulers[scheduler].writes(unit) {
            let ring = &self.made.layout.rings[write.ring];
            for (c, reader) in ring.consumers.iter().enumerate() {
                let whose = self.made.stands_for(self.made.layout.units[reader.unit].element);
                let tail = state.known[whose][self.ids.tail(write.ring, c)];
                let head = state.schedulers[scheduler].head(write);
                assert!(head + firings - tail <= ring.capacity, "a ring overflows");
            }
        }
    }

    /// Counters of a unit are what its scheduler says.
    fn publish(&self, state: &mut State, scheduler: usize, unit: usize) {
        let known = &mut state.known[self.made.stands_for(scheduler)];
        let s = &state.schedulers[scheduler];
        s.writes(unit).iter().for_each(|w| known[self.ids.head(w.ring)] = s.head(w));
        s.reads(unit).iter().for_each(|r| known[self.ids.tail(r.ring, r.consumer)] = s.tail(r));
    }

    /// Does a step. False when it cannot be done now.
    fn go(&self, state: &mut State, step: Step) -> bool {
        match step {
            Step::Begin(e) => {
                if state.busy[e].is_some() {
                    return false;
                }
                let next = self.look(state, e);
                if let NextStep::Fire { unit, firings } = next {
                    self.check_room(state, e, unit, firings);
                }
                state.busy[e] = Some(next).filter(|n| !matches!(n, NextStep::Wait | NextStep::Done));
                state.busy[e].is_some()
            }
            Step::Complete(e) => {
                let unit = match state.busy[e].take() {
                    Some(NextStep::Fire { unit, firings }) => {
                        state.schedulers[e].fired(unit, firings, false);
                        unit
                    }
                    Some(NextStep::Pad { unit, write, instances }) => {
                        state.schedulers[e].padded(unit, write, instances);
                        unit
                    }
                    _ => return false,
                };
                self.publish(state, e, unit);
                true
            }
            Step::Fetch(e) => {
                let beside = self.elements + e;
                match self.look(state, beside) {
                    NextStep::Fire { unit, firings } => {
                        self.check_room(state, beside, unit, firings);
                        state.schedulers[beside].fired(unit, firings, false);
                        state.flights[self.fetch_of(beside, unit)].push_back(firings);
                        true
                    }
                    NextStep::Pad { unit, write, instances } => {
                        if !state.flights[self.fetch_of(beside, unit)].is_empty() {
                            return false;
                        }
                        state.schedulers[beside].padded(unit, write, instances);
                        self.publish(state, beside, unit);
                        true
                    }
                    _ => false,
                }
            }
            Step::Arrive(fetch) => {
                let Some(instances) = state.flights[fetch].pop_front() else { return false };
                let of = self.made.fetches[fetch];
                let consumers = &self.made.layout.rings[of.from].consumers;
                let consumer = consumers.iter().position(|c| c.unit == of.unit).unwrap();
                let whose = self.made.stands_for(self.made.layout.units[of.unit].element);
                state.known[whose][self.ids.head(of.to)] += instances;
                state.known[whose][self.ids.tail(of.from, consumer)] += instances;
                true
            }
            Step::Deliver(k) => {
                let (counter, from, to) = self.watched[k];
                let news = state.known[from][counter] != state.known[to][counter];
                state.known[to][counter] = state.known[from][counter];
                news
            }
        }
    }

    fn fetch_of(&self, scheduler: usize, unit: usize) -> usize {
        self.made.layout.elements[scheduler].units[unit] - self.made.fetches[0].unit
    }

    fn finished(&self, mut state: State) -> Result<(), String> {
        for scheduler in 0..2 * self.elements {
            let next = self.look(&mut state, scheduler);
            let s = &state.schedulers[scheduler];
            let short = (0..s.units()).any(|unit| s.firings(unit) != self.end);
            if next != NextStep::Done || short {
                return Err(format!("{} waits for ever", self.made.layout.elements[scheduler].name));
            }
        }
        Ok(())
    }

    /// All interleavings; an error where they have more than `most` states.
    fn explore(&self, state: State, most: usize) -> Result<usize, String> {
        let (mut seen, mut open) = (HashSet::new(), vec![state]);
        while let Some(state) = open.pop() {
            let mut hasher = DefaultHasher::new();
            state.hash(&mut hasher);
            if !seen.insert(hasher.finish()) {
                continue;
            }
            if seen.len() > most {
                return Err(format!("more than {most} states: not all interleavings were tried"));
            }
            let mut moved = false;
            for step in self.steps() {
                let mut next = state.clone();
                if self.go(&mut next, step) {
                    open.push(next);
                    moved = true;
                }
            }
            if !moved {
                self.finished(state)?;
            }
        }
        Ok(seen.len())
    }

    /// One interleaving.
    fn wander(&self, mut state: State, mut random: u64) -> Result<(), String> {
        let steps: Vec<Step> = self.steps().collect();
        loop {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let from = (random >> 33) as usize % steps.len();
            if !(0..steps.len()).any(|i| self.go(&mut state, steps[(from + i) % steps.len()])) {
                return self.finished(state);
            }
        }
    }
}

#[test]
fn no_interleaving_of_small_graphs_hangs() {
    let mut states = 0;
    type Raw = (usize, usize, u64, u64, bool);
    let graphs: [&[Raw]; 4] = [
        &[(0, 1, 0, 0, false)],
        &[(0, 1, 1, 0, false)],
        &[(0, 1, 0, 0, false), (1, 2, 1, 0, false)],
        &[(0, 1, 0, 0, true), (0, 2, 1, 0, true), (1, 2, 0, 0, false)],
    ];
    for raw in graphs {
        let tasks = raw.iter().map(|e| e.1).max().unwrap() + 1;
        let graph = random_graph(tasks, raw, |_| 16, 1);
        for mapping in [[0, 1, 0], [0, 1, 1], [0, 1, 2], [1, 0, 1]] {
            for pushed_to in [0, 1, usize::MAX] {
                let Some((game, state)) = Game::new(&graph, &mapping[..tasks], 1, 2, pushed_to) else {
                    continue;
                };
                let found = game.explore(state, 10_000);
                states += found.unwrap_or_else(|why| panic!("{why}: {raw:?} {mapping:?} {pushed_to}"));
            }
        }
    }
    assert!(states > 20_000, "{states}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_graphs_end_whatever_the_order(
        tasks in 2usize..10,
        raw in prop::collection::vec((0usize..10, 0usize..10, 0u64..5, 0u64..12, any::<bool>()), 1..16),
        mapping in prop::collection::vec(0usize..3, 10),
        batch in 1u64..5,
        rest in 0u64..4,
        pushed_to in 0usize..4,
        seed in any::<u64>(),
    ) {
        let graph = random_graph(tasks, &raw, |t| [1, 12, 16, 100][t % 4], 5);
        let end = 3 * batch + rest;
        let Some((game, state)) = Game::new(&graph, &mapping[..tasks], batch, end, pushed_to) else { return Ok(()) };
        let ended = game.wander(state, seed);
        prop_assert!(ended.is_ok(), "{}", ended.unwrap_err());
    }
}
