//! The engine's outcomes, to the tick: drawn programs on drawn machines under every rule set, compared with a table
//! that was recorded once. A change of the engine may make it faster and must leave each line as it is.

mod machines;

use machines::small;
use sim::outcome::SimCounters;
use sim::rules::{HalfWay, Hold, Order};
use sim::trace::Trace;
use sim::{Address, ListElement, Parameters, Ppe, Rules, SimError, Simulation, Spe};
use std::fmt::Write as _;

const RECORDED: &str = include_str!("golden/outcomes.txt");
/// Memory that programs share, on each chip.
const SHARED_BYTES: u64 = 256 << 10;
/// Drawn rule sets and parameters, beside the sets with names.
const DRAWN: u64 = 64;

/// Drawn numbers, the same on every computer.
#[derive(Clone)]
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A digest of numbers.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn text(&mut self, text: &str) {
        text.bytes().for_each(|b| self.add(b.into()));
    }
}

fn counted(counters: &SimCounters) -> u64 {
    let mut digest = Digest::new();
    for chip in &counters.chips {
        let segments = chip.segment_packets.iter().flatten();
        let banks = chip.bank_lines.iter().flatten();
        let rings = chip.ring_packets.iter().chain(&chip.ring_hops);
        let all = rings.chain(segments).chain(&chip.sent).chain(&chip.received).chain(banks);
        all.for_each(|n| digest.add(*n));
        digest.add(chip.commands);
    }
    for s in &counters.spes {
        let all = [s.compute_cycles, s.wait_cycles, s.commands, s.got_bytes, s.put_bytes, s.store_lines];
        all.into_iter().for_each(|n| digest.add(n));
    }
    counters.link_lines.into_iter().for_each(|n| digest.add(n));
    digest.0
}

fn traced(trace: &Trace) -> u64 {
    let mut digest = Digest::new();
    for span in &trace.spans {
        digest.text(span.what);
        [span.unit.into(), span.start, span.end].into_iter().for_each(|n| digest.add(n));
    }
    for p in &trace.packets {
        let place = [p.chip, p.ring, p.from, p.to].into_iter().map(u64::from);
        place.chain([p.start, p.end]).for_each(|n| digest.add(n));
    }
    digest.0
}

/// Somewhere else: memory of any chip, or the upper half of a local store.
fn elsewhere(draw: &mut Draw, spes: usize, memory: &[Address], bytes: u64) -> Address {
    if draw.below(3) == 0 {
        let start = draw.one(memory);
        return start + draw.below((SHARED_BYTES - bytes) / 128) * 128;
    }
    let spe = draw.below(spes as u64) as usize;
    Address::local_store(spe) + (128 << 10) + draw.below(((128 << 10) - bytes) / 128) * 128
}

/// Large transfers through several buffers, in one direction or both, as streams do.
fn streams(spe: &mut Spe<'_>, mut draw: Draw, spes: usize, memory: &[Address]) {
    let (bytes, buffers) = (draw.one(&[128, 1024, 4096, 16384]), 1 + draw.below(4) as u32);
    let (from, to) = (elsewhere(&mut draw, spes, memory, 16384), elsewhere(&mut draw, spes, memory, 16384));
    let ways = draw.below(3);
    for i in 0..4 + draw.below(10) as u32 {
        let buffer = i % buffers;
        spe.tags_all(1 << buffer);
        if ways != 1 {
            spe.get(buffer * 16384, from, bytes, buffer);
        }
        if ways != 0 {
            spe.put(65536 + buffer * 16384, to, bytes, buffer);
        }
        if draw.below(4) == 0 {
            spe.compute_cycles(draw.below(900));
        }
    }
    spe.tags_all(0xffff_ffff);
}

/// Calls of every kind, one after another.
fn calls(spe: &mut Spe<'_>, mut draw: Draw, spes: usize, memory: &[Address]) {
    let n = spe.number();
    spe.signal_or(1, draw.below(2) == 0);
    for _ in 0..10 + draw.below(40) {
        let (tag, ls) = (draw.below(4) as u32, draw.below(8) as u32 * 16384);
        let bytes = draw.one(&[16, 48, 128, 400, 1024, 2048, 7168, 16384]);
        let ea = elsewhere(&mut draw, spes, memory, 16384);
        match draw.below(18) {
            0 => spe.get(ls, ea, bytes, tag),
            1 => spe.getf(ls, ea, bytes, tag),
            2 => spe.getb(ls, ea, bytes, tag),
            3 => spe.put(ls, ea, bytes, tag),
            4 => spe.putf(ls, ea + 16, bytes.min(8192), tag),
            5 => spe.putb(ls, ea, bytes, tag),
            6 => {
                let elements: Vec<ListElement> = (0..1 + draw.below(12))
                    .map(|_| {
                        let ea = elsewhere(&mut draw, spes, memory, 2048);
                        ListElement::new(ea, draw.one(&[16, 128, 1024]))
                    })
                    .collect();
                if draw.below(2) == 0 {
                    spe.get_list(ls, &elements, tag)
                } else {
                    spe.put_listf(ls, &elements, tag)
                }
            }
            7 => spe.compute_cycles(draw.below(3000)),
            8 => drop(spe.tags_any(1 << tag | 1)),
            9 => drop(spe.tags_all(1 << tag)),
            10 => drop(spe.tags_now(0xf)),
            11 => {
                spe.getllar(0, memory[0]);
                let count = spe.read_u32(0);
                spe.write_u32(0, count.wrapping_add(1));
                spe.putllc(0, memory[0]);
            }
            12 => spe.putlluc(128, draw.one(memory) + 128),
            13 => spe.send_signal(12, draw.below(spes as u64) as usize, 1, tag),
            14 if spe.signal_count(1) > 0 => drop(spe.read_signal(1)),
            15 if spe.mailbox_count() > 0 => drop(spe.read_mailbox()),
            16 if spe.mailbox_space() > 0 => spe.write_mailbox(n as u32),
            17 if draw.below(6) == 0 => {
                spe.put(12 + 16 * tag, Address::mailbox(draw.below(spes as u64) as usize), 4, tag)
            }
            _ => {
                let ticks = spe.decrementer().wrapping_add(spe.queue_space());
                spe.write_u32(1024, ticks);
            }
        }
    }
    // Whoever sent mail is not kept waiting: what is left is read.
    spe.compute_cycles(draw.below(20_000));
    while spe.mailbox_count() > 0 {
        spe.read_mailbox();
    }
}

/// A PPE's loads, stores, proxy commands and registers.
fn collects(ppe: &mut Ppe<'_>, mut draw: Draw, spes: usize, memory: &[Address]) {
    for _ in 0..10 + draw.below(20) {
        let (spe, tag) = (draw.below(spes as u64) as usize, draw.below(4) as u32);
        let ea = elsewhere(&mut draw, spes, memory, 4096);
        match draw.below(9) {
            0 => drop(ppe.load(ea, draw.one(&[4, 128, 4000]))),
            1 => ppe.store(ea, vec![draw.below(256) as u8; draw.one(&[4, 128, 3000])]),
            2 => ppe.proxy_get(spe, tag * 4096, draw.one(memory), draw.one(&[128, 2048]), tag),
            3 => ppe.proxy_put(spe, tag * 4096, ea, draw.one(&[128, 2048]), tag),
            4 => drop(ppe.proxy_any(spe, 1 << tag)),
            5 => drop(ppe.proxy_wait(spe, 1 << tag)),
            6 if ppe.mailbox_count(spe) > 0 => drop(ppe.read_mailbox(spe)),
            7 if ppe.mailbox_space(spe) > 0 => ppe.write_mailbox(spe, tag),
            8 => ppe.write_signal(spe, 1, 1 << tag),
            _ => drop(ppe.timebase()),
        }
        ppe.compute(draw.below(2000));
    }
}

/// The outcome of drawn programs as a line: cycles and the engine's digest, counters, trace, memory; or the error.
fn outcome(parameters: Parameters, seed: u64) -> String {
    let mut draw = Draw(seed);
    let (chips, spes, ppes) = (parameters.chips, parameters.spes(), parameters.ppes());
    let mut machine = Simulation::new(parameters).unwrap();
    machine.trace(true);
    machine.stop_after(300_000);
    let memory: Vec<Address> =
        (0..chips).map(|chip| machine.allocate(chip, SHARED_BYTES, 128).unwrap()).collect();
    for (i, &start) in memory.iter().enumerate() {
        let bytes = machine.memory_mut(start, SHARED_BYTES);
        bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at * 7 + i) as u8);
    }
    if draw.below(3) == 0 {
        machine.cache_in_ppe(memory[0], 4096);
    }
    let only_streams = draw.below(2) == 0;
    for spe in 0..spes {
        let (own, shared) = (Draw(seed * 64 + spe as u64), memory.clone());
        let streaming = only_streams || draw.below(3) == 0;
        let program = move |spe: &mut Spe<'_>| {
            if streaming { streams(spe, own, spes, &shared) } else { calls(spe, own, spes, &shared) }
        };
        machine.spe(spe, "drawn", program).unwrap();
    }
    for ppe in (0..ppes).filter(|_| !only_streams) {
        let (own, shared) = (Draw(seed * 64 + 32 + ppe as u64), memory.clone());
        machine.ppe(ppe, "drawn", move |ppe| collects(ppe, own, spes, &shared)).unwrap();
    }
    match machine.run() {
        Ok(found) => {
            let mut bytes = Digest::new();
            memory.iter().for_each(|&start| {
                let of = machine.memory(start, SHARED_BYTES);
                of.chunks(8).for_each(|eight| bytes.add(u64::from_le_bytes(eight.try_into().unwrap())));
            });
            let (counters, trace) = (counted(&found.counters), traced(&found.trace.unwrap()));
            format!("{} {:016x} {counters:016x} {trace:016x} {:016x}", found.cycles, found.hash, bytes.0)
        }
        Err(SimError::Trap { cycle, message, .. }) => format!("trap at {cycle}: {message}"),
        Err(error) => error.to_string(),
    }
}

/// A rule set that no name has, and other times.
fn drawn(seed: u64) -> Parameters {
    let mut draw = Draw(seed);
    let mut p = small(draw.one(&["ps3", "cell", "cell", "qs20", "qs22"]));
    p.rules = Rules {
        name: "drawn".into(),
        hold: draw.one(&[Hold::Beats, Hold::Beats, Hold::Way]),
        half_way: draw.one(&[HalfWay::FirstFree, HalfWay::LessQueued, HalfWay::InTurns, HalfWay::Clockwise]),
        alone_from_hops: draw.one(&[1, 3, 5, 6, 7, 7, 7]),
        order: draw.one(&[Order::RoundRobin, Order::OldestFirst, Order::Fixed]),
        per_ring: draw.one(&[1, 2, 3, 3]),
        start_interval: draw.one(&[1, 2, 3, 3, 9]),
        gap: draw.one(&[0, 0, 1, 3, 20]),
        margin: draw.one(&[0, 0, 1, 2]),
    };
    p.mfc.lines = draw.one(&[1, 3, 16, 16, 40]);
    p.mfc.remote_lines = [draw.one(&[1, 5, 16]), draw.one(&[2, 11, 16])];
    p.mfc.line_interval = draw.one(&[0, 1, 1, 4]);
    p.mfc.list_element = draw.one(&[0, 5, 5, 40]);
    p.mfc.tlb_entries = draw.one(&[0, 0, 4]);
    p.mfc.memory_token = draw.one(&[0, 0, 12]);
    p.bus.command_interval = draw.one(&[1, 1, 2, 7]);
    p.bus.source = draw.one(&[0, 24, 24, 25]);
    p.bus.sink = draw.one(&[0, 34, 34, 3]);
    p.bus.coherence = draw.one(&[0, 50, 50, 1500]);
    p.bus.link_ramp = draw.one(&[0, 1]);
    p.memory.latency = draw.one(&[0, 140, 140, 2000]);
    p.memory.turnaround = draw.one(&[0, 0, 5]);
    p.memory.writes_waiting = draw.one(&[1, 2, 32, 32]);
    p.memory.burst = draw.one(&[1, 8, 8]);
    p
}

#[test]
fn outcomes_are_those_that_were_recorded() {
    let mut table = String::new();
    for machine in ["ps3", "cell", "qs20", "qs22"] {
        for rules in Rules::all() {
            let name = rules.name.clone();
            for seed in 0..3 {
                let found = outcome(Parameters { rules: rules.clone(), ..small(machine) }, 1000 + seed);
                writeln!(table, "{machine} {name} {seed}: {found}").unwrap();
            }
        }
    }
    for seed in 0..DRAWN {
        writeln!(table, "drawn {seed}: {}", outcome(drawn(seed * 977 + 5), seed)).unwrap();
    }
    let found = concat!(env!("CARGO_TARGET_TMPDIR"), "/outcomes.txt");
    std::fs::write(found, &table).unwrap();
    let differs = table.lines().zip(RECORDED.lines()).find(|(now, then)| now != then);
    assert_eq!(differs, None, "(found, recorded); the whole table is in {found}");
    assert_eq!(table.lines().count(), RECORDED.lines().count(), "the whole table is in {found}");
}
