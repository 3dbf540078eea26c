//! The communication model of `affinity-model`, section 4, for the four rings of a Cell's bus.
//!
//! The paper gives three guiding principles and no formula. Each is one term here, and the cost of a mapping is the sum
//! of the terms, each times its weight:
//!
//! | term | principle | value | weight |
//! |---|---|---|---|
//! | balance | the load is equal over the four rings | by how much the loads miss their mean, added up | 1 |
//! | overlap | paths on one ring do not overlap often | pairs whose paths do, and messages beyond three | 1 |
//! | link | the part that sends more is on processor 0 | messages between processors, those to 0 times 30/20 | 4 |
//!
//! Every value is divided by the whole load. Section 3 gives 30 GB/s from processor 0 and 20 GB/s back.
//! The link weighs more because the partition is "more important than the issues of affinity on each processor". A
//! message takes the shorter way around and there the ring on which it overlaps least, then the one with less load;
//! half way around it goes both ways, half of it each. As published, all messages have the same size, there is one
//! phase, and main memory has no traffic. [`RingsOptions`] adds what the paper leaves for its future work.

mod bound;

use crate::{Objective, SeatDistances, Traffic};
use ground::Located;
use machine::{ElementId, Machine, Role};

/// Where things are on the bus, clockwise: PPE, SPE1, SPE3, SPE5, SPE7, IOIF1, IOIF0, SPE6, SPE4, SPE2, SPE0, MIC.
const STOPS: usize = 12;
const SPE_STOP: [usize; 8] = [10, 1, 9, 2, 8, 3, 7, 4];
const IOIF0_STOP: usize = 6;
const MIC_STOP: usize = 11;
/// Segment i is between stop i and the next; these two are the short sides: IOIF1 to IOIF0, MIC to PPE.
const SIDES: u16 = 1 << 5 | 1 << 11;
/// Transfers that a ring carries at once.
const TRANSFERS_OF_RING: usize = 3;

const BALANCE: f64 = 1.0;
const OVERLAP: f64 = 1.0;
const LINK: f64 = 4.0;
const SIDE: f64 = 1.0;
/// GB/s from Cell 0 to Cell 1 by GB/s back, section 3.
const ASYMMETRY: f64 = 30.0 / 20.0;

/// What is added to the published model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RingsOptions {
    /// A term for messages over two or more segments that go across a short side of the ring, from the second one in a
    /// direction on: the paper saw these lose although their paths do not overlap.
    pub sides: bool,
    /// Traffic to main memory takes its way over the bus, too.
    pub memory: bool,
    /// A message weighs as much as its bytes; else all weigh the same.
    pub sizes: bool,
    /// Phases are judged one by one, each by its weight; else all messages together.
    pub phases: bool,
}

/// The model on traffic and the SPEs of one or two Cells.
#[derive(Debug, Clone)]
pub struct Rings {
    sides: bool,
    phases: Vec<(f64, Vec<Message>)>,
    /// Of each seat: its chip and its stop.
    places: Vec<(usize, usize)>,
    partners: Vec<Vec<(usize, f64)>>,
    steps: SeatDistances,
    paths: Vec<RingPath>,
    /// What every mapping costs at least, once that was asked for.
    bound: Option<f64>,
}

/// What the model sees of a flow.
#[derive(Debug, Clone, Copy)]
struct Message {
    from: Terminal,
    to: Terminal,
    load: f64,
}

#[derive(Debug, Clone, Copy)]
enum Terminal {
    Part(usize),
    Memory,
}

/// A message, or half of one, on a ring: the segments as bits.
#[derive(Debug, Clone, Copy)]
struct RingPath {
    ring: usize,
    segments: u16,
    load: f64,
}

impl Rings {
    /// Of traffic on elements of a machine.
    ///
    /// # Errors
    /// The machine is no Cell: elements that are no accelerators, more than eight of a chip, more than two chips.
    pub fn new(
        traffic: &Traffic,
        machine: &Machine,
        elements: &[ElementId],
        options: RingsOptions,
    ) -> Result<Self, Located> {
        let places = places(machine, elements)?;
        let whole = if options.phases { traffic.clone() } else { traffic.merged() };
        let phases = whole.phases.iter().map(|phase| {
            let load = |bytes: f64| if options.sizes { bytes } else { 1.0 };
            let of_parts = phase.flows.iter().map(|flow| Message {
                from: Terminal::Part(flow.from),
                to: Terminal::Part(flow.to),
                load: load(flow.bytes),
            });
            let of_memory = phase.memory.iter().filter(|_| options.memory).flat_map(|flow| {
                let part = Terminal::Part(flow.part);
                [(Terminal::Memory, part, flow.read_bytes), (part, Terminal::Memory, flow.written_bytes)]
            });
            let of_memory = of_memory.filter(|(.., bytes)| *bytes > 0.0);
            let of_memory = of_memory.map(|(from, to, bytes)| Message { from, to, load: load(bytes) });
            (phase.weight, of_parts.chain(of_memory).collect())
        });
        let (phases, steps) = (phases.collect(), SeatDistances::of(machine, elements));
        let partners = traffic.partners();
        Ok(Self { sides: options.sides, phases, places, partners, steps, paths: Vec::new(), bound: None })
    }

    /// The cost of one phase.
    fn of_phase(&mut self, phase: usize, mapping: &[usize]) -> f64 {
        let Self { phases, places, paths, sides, .. } = self;
        let messages = &phases[phase].1;
        if messages.is_empty() {
            return 0.0;
        }
        let (mut cost, mut link, mut all) = (0.0, 0.0, 0.0);
        let chips = 1 + places.iter().map(|(chip, _)| *chip).max().unwrap_or(0);
        for chip in 0..chips {
            paths.clear();
            for message in messages {
                let place = |end: Terminal, other: Terminal| match (end, other) {
                    (Terminal::Part(part), _) | (Terminal::Memory, Terminal::Part(part)) => {
                        let (chip, stop) = places[mapping[part]];
                        if matches!(end, Terminal::Memory) { (chip, MIC_STOP) } else { (chip, stop) }
                    }
                    (Terminal::Memory, Terminal::Memory) => (0, MIC_STOP),
                };
                let (from, to) = (place(message.from, message.to), place(message.to, message.from));
                if chip == 0 {
                    all += message.load;
                    link += match (from.0, to.0) {
                        (a, b) if a == b => 0.0,
                        (0, _) => message.load,
                        _ => message.load * ASYMMETRY,
                    };
                }
                // On the way to the other chip, the stop is the interface.
                match (from.0 == chip, to.0 == chip) {
                    (true, true) => travel(paths, from.1, to.1, message.load),
                    (true, false) => travel(paths, from.1, IOIF0_STOP, message.load),
                    (false, true) => travel(paths, IOIF0_STOP, to.1, message.load),
                    (false, false) => {}
                }
            }
            cost += of_bus(paths, *sides);
        }
        cost + LINK * link / all
    }
}

/// Puts a message on the rings of one bus. Rings 0 and 1 go clockwise, 2 and 3 back.
fn travel(paths: &mut Vec<RingPath>, from: usize, to: usize, load: f64) {
    let clockwise = (to + STOPS - from) % STOPS;
    match clockwise {
        0 => {}
        hops if 2 * hops < STOPS => take_ring(paths, 0, segments(from, hops), load),
        hops if 2 * hops > STOPS => take_ring(paths, 2, segments(to, STOPS - hops), load),
        hops => {
            take_ring(paths, 0, segments(from, hops), load / 2.0);
            take_ring(paths, 2, segments(to, hops), load / 2.0);
        }
    }
}

/// As many segments clockwise from a stop, as bits.
fn segments(from: usize, hops: usize) -> u16 {
    let line = (1u32 << hops) - 1;
    let turned = line << from;
    ((turned | turned >> STOPS) & ((1 << STOPS) - 1)) as u16
}

/// Of the two rings of a direction, the one with less overlap, then with less load.
fn take_ring(paths: &mut Vec<RingPath>, first: usize, segments: u16, load: f64) {
    let on = |ring: usize| {
        let there = paths.iter().filter(move |path| path.ring == ring);
        there.fold((0.0, 0.0), |(overlap, sum), path| {
            let shared = if path.segments & segments != 0 { path.load.min(load) } else { 0.0 };
            (overlap + shared, sum + path.load)
        })
    };
    let ring = if on(first + 1) < on(first) { first + 1 } else { first };
    paths.push(RingPath { ring, segments, load });
}

/// Balance and overlap of one bus, and its short sides where they are asked for.
fn of_bus(paths: &[RingPath], sides: bool) -> f64 {
    if paths.is_empty() {
        return 0.0;
    }
    let mut loads = [0.0; 4];
    let mut counts = [0; 4];
    let mut overlap = 0.0;
    for (i, path) in paths.iter().enumerate() {
        loads[path.ring] += path.load;
        counts[path.ring] += 1;
        let before = paths[..i].iter().filter(|other| other.ring == path.ring);
        overlap += before
            .filter(|other| other.segments & path.segments != 0)
            .map(|other| other.load.min(path.load))
            .sum::<f64>();
        if counts[path.ring] > TRANSFERS_OF_RING {
            overlap += path.load;
        }
    }
    let whole: f64 = loads.iter().sum();
    let balance: f64 = loads.iter().map(|load| (load - whole / 4.0).abs()).sum();
    let mut cost = (BALANCE * balance + OVERLAP * overlap) / whole;
    if sides {
        for direction in [0, 2] {
            let crossing = paths.iter().filter(|path| {
                path.ring & 2 == direction && path.segments & SIDES != 0 && path.segments.count_ones() >= 2
            });
            let crossing: f64 = crossing.skip(1).map(|path| path.load).sum();
            cost += SIDE * crossing / whole;
        }
    }
    cost
}

/// Chip and stop of each element.
fn places(machine: &Machine, elements: &[ElementId]) -> Result<Vec<(usize, usize)>, Located> {
    let wrong = |why: String| {
        Located::new(format!(
            "`rings` is a model of a Cell's bus; {}: {why}. Allowed: ps3, cell, qs20, qs22 and parts of them",
            machine.name
        ))
        .key("objective")
    };
    let is_spe = |e: &machine::Element| machine.role(&e.kind) == Role::Accelerator && e.os_cpu.is_none();
    let place = |&element: &ElementId| {
        let e = &machine.elements[element];
        let chip = e.place.chip;
        let own =
            machine.elements[..element].iter().filter(|other| other.place.chip == chip && is_spe(other));
        match (is_spe(e), chip, own.count()) {
            (false, ..) => Err(wrong(format!("{} is no SPE", e.name))),
            (_, 0..=1, number @ 0..=7) => Ok((chip as usize, SPE_STOP[number])),
            (_, 0..=1, _) => Err(wrong(format!("chip {chip} has more than 8 SPEs"))),
            _ => Err(wrong("it has more than two chips".into())),
        }
    };
    elements.iter().map(place).collect()
}

impl Objective for Rings {
    fn parts(&self) -> usize {
        self.partners.len()
    }

    fn seats(&self) -> usize {
        self.places.len()
    }

    fn unit(&self) -> &'static str {
        "points"
    }

    fn cost(&mut self, mapping: &[usize]) -> f64 {
        let weights: f64 = self.phases.iter().map(|(weight, _)| weight).sum();
        let weighted = |i: usize| self.phases[i].0;
        let weight: Vec<f64> = (0..self.phases.len()).map(weighted).collect();
        let costs = weight.into_iter().enumerate().map(|(i, weight)| weight * self.of_phase(i, mapping));
        costs.sum::<f64>() / weights
    }

    fn at_least(&mut self, _first: &[usize]) -> f64 {
        if self.bound.is_none() {
            self.bound = Some(self.least());
        }
        self.bound.unwrap_or(0.0)
    }

    /// Only what turns the bus over, or front to back, with everything that messages go to in its place.
    fn keeps(&self, permutation: &[usize]) -> bool {
        let chips = self.places.iter().map(|(chip, _)| *chip).max().unwrap_or(0);
        let memory = self.phases.iter().any(|(_, messages)| {
            messages.iter().any(|m| matches!(m.from, Terminal::Memory) || matches!(m.to, Terminal::Memory))
        });
        // Each way to turn a ring of stops over: stop s becomes turn - s. It turns segments over with the stops.
        let turns = |turn: usize| {
            self.places
                .iter()
                .zip(permutation)
                .all(|(&(chip, stop), &to)| self.places[to] == (chip, (turn + STOPS - stop) % STOPS))
        };
        let moves_sides = |turn: usize| turn != 5 && turn != 11;
        let found = (0..STOPS).find(|&turn| turns(turn));
        // A message to memory or to the other chip ends at a stop that a turn moves.
        found.is_some_and(|turn| chips == 0 && !memory && !(self.sides && moves_sides(turn)))
    }

    fn likely_symmetries(&self) -> Vec<Vec<usize>> {
        let turned = |turn: usize| -> Option<Vec<usize>> {
            let to = |&(chip, stop): &(usize, usize)| {
                self.places.iter().position(|&place| place == (chip, (turn + STOPS - stop) % STOPS))
            };
            self.places.iter().map(to).collect()
        };
        (0..STOPS).filter_map(turned).collect()
    }

    fn partners(&self) -> &[Vec<(usize, f64)>] {
        &self.partners
    }

    fn steps(&self, a: usize, b: usize) -> f64 {
        self.steps.between(a, b)
    }
}
