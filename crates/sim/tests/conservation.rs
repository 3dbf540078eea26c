//! Whatever runs on whatever machine: all bytes arrive, and the rings, ramps, banks and queues never carry more than
//! they can. Checked on the packets of the trace, by rules written down here a second time.

mod drawn;
mod machines;

use drawn::{Drawn, drawn};
use machines::{MEMORY_BYTES, owned, small};
use proptest::prelude::*;
use sim::BANKS;
use sim::rules::{HalfWay, Hold, Order};
use sim::trace::Packet;
use sim::{Address, Dma, DmaKind, Ordering, Parameters, Rules, Simulated, Spe};
use std::collections::BTreeMap;

/// Cycles that a ramp sends, or receives, a packet: 128 bytes at 16 bytes a cycle.
const BEATS: u64 = 8;
const RAMPS: u64 = 12;

/// Segments that a packet crosses: rings 0 and 1 go towards higher ramps, 2 and 3 towards lower ones.
fn hops(p: &Packet) -> u64 {
    let (from, to) = (u64::from(p.from), u64::from(p.to));
    if p.ring < 2 { (to + RAMPS - from) % RAMPS } else { (from + RAMPS - to) % RAMPS }
}

/// Times of one thing may not come closer than that.
fn apart(what: &str, mut times: Vec<u64>, least: u64) {
    times.sort_unstable();
    for pair in times.windows(2) {
        assert!(pair[1] - pair[0] >= least, "{what}: {pair:?} are less than {least} apart");
    }
}

/// Spans of one thing may not overlap.
fn disjoint(what: &str, mut held: Vec<(u64, u64, u8)>, gap: u64) {
    held.sort_unstable();
    for pair in held.windows(2) {
        let gap = if pair[0].2 == pair[1].2 { 0 } else { gap };
        assert!(pair[0].1 + gap <= pair[1].0, "{what}: {pair:?} overlap");
    }
}

/// The most spans that there are at any time.
fn most_at_once(spans: &[(u64, u64)]) -> i64 {
    let mut changes: Vec<(u64, i64)> = spans.iter().flat_map(|&(s, e)| [(s, 1), (e, -1)]).collect();
    changes.sort_unstable();
    let mut now = 0;
    changes
        .iter()
        .map(|&(_, change)| {
            now += change;
            now
        })
        .max()
        .unwrap_or(0)
}

fn group<K: Ord>(packets: &[Packet], key: impl Fn(&Packet) -> K) -> BTreeMap<K, Vec<Packet>> {
    let mut groups: BTreeMap<K, Vec<Packet>> = BTreeMap::new();
    packets.iter().for_each(|p| groups.entry(key(p)).or_default().push(*p));
    groups
}

fn check_packets(rules: &Rules, packets: &[Packet]) {
    for p in packets {
        assert!((1..=6).contains(&hops(p)), "{p:?} goes more than half way");
        assert_eq!(p.end - p.start, hops(p) + BEATS, "{p:?}");
        if rules.half_way == HalfWay::Clockwise && hops(p) == 6 {
            assert!(p.ring < 2, "{p:?}");
        }
    }
    for (ramp, sent) in group(packets, |p| (p.chip, p.from)) {
        apart(&format!("sending at {ramp:?}"), sent.iter().map(|p| p.start).collect(), BEATS);
    }
    for (ramp, received) in group(packets, |p| (p.chip, p.to)) {
        apart(&format!("receiving at {ramp:?}"), received.iter().map(|p| p.end).collect(), BEATS);
    }
    for (ring, packets) in group(packets, |p| (p.chip, p.ring)) {
        let name = format!("ring {ring:?}");
        let whole: Vec<(u64, u64)> = packets.iter().map(|p| (p.start, p.end)).collect();
        assert!(most_at_once(&whole) <= i64::from(rules.per_ring), "{name}: more than {}", rules.per_ring);
        assert!(most_at_once(&whole) <= 3, "{name}: more than three");
        apart(&name, packets.iter().map(|p| p.start).collect(), rules.start_interval);
        let mut segments: BTreeMap<u64, Vec<(u64, u64, u8)>> = BTreeMap::new();
        let margin = u64::from(rules.margin);
        for p in &packets {
            for i in 0..hops(p) + 2 * margin {
                let from = u64::from(p.from);
                let segment = if p.ring < 2 {
                    (from + RAMPS + i - margin) % RAMPS
                } else {
                    (from + 2 * RAMPS + margin - 1 - i) % RAMPS
                };
                let (start, end) = match rules.hold {
                    Hold::Beats => (p.start + i, p.start + i + BEATS),
                    Hold::Way => (p.start + margin, p.end + margin),
                };
                segments.entry(segment).or_default().push((start, end, p.from));
            }
        }
        let name = |s| format!("{name}, segment {s}");
        segments.into_iter().for_each(|(s, held)| disjoint(&name(s), held, rules.gap));
        for long in packets.iter().filter(|p| hops(p) >= u64::from(rules.alone_from_hops)) {
            let together = packets.iter().filter(|p| p.start < long.end && long.start < p.end).count();
            assert_eq!(together, 1, "{long:?} is to be alone");
        }
    }
}

/// Lines that a transfer is cut into: none crosses a multiple of 128 bytes at its far end.
fn lines(dma: &Dma) -> impl Iterator<Item = Address> {
    let (first, end) = (dma.ea.0 / 128, (dma.ea.0 + u64::from(dma.bytes.0)).div_ceil(128));
    (first..end).map(|line| Address(line * 128))
}

/// The chip where an address is, and whether it is of memory.
fn chip(p: &Parameters, ea: Address) -> (usize, bool) {
    if ea < Address::local_store(0) {
        return ((ea.0 / p.memory_bytes) as usize, true);
    }
    let spe = (0..p.spes()).find(|&s| ea < Address::local_store(s + 1)).unwrap();
    (p.physical(spe).0, false)
}

fn check_counters(p: &Parameters, programs: &[Vec<Dma>], outcome: &Simulated) {
    let (mut local, mut remote, mut reads, mut writes) = (0, [0; 2], 0, 0);
    for (spe, program) in programs.iter().enumerate() {
        let bytes =
            |put: bool| program.iter().filter(|d| d.put == put).map(|d| u64::from(d.bytes.0)).sum::<u64>();
        let counters = &outcome.counters.spes[spe];
        assert_eq!((counters.got_bytes, counters.put_bytes), (bytes(false), bytes(true)), "SPE{spe}");
        assert_eq!(counters.commands as usize, program.len());
        let home = p.physical(spe).0;
        for (line, put) in program.iter().flat_map(|d| lines(d).map(move |line| (line, d.put))) {
            let (there, is_memory) = chip(p, line);
            if there == home {
                local += 1;
            } else {
                remote[if put { there } else { home }] += 1;
            }
            *(if put { &mut writes } else { &mut reads }) += u64::from(is_memory);
        }
    }
    let chips = &outcome.counters.chips;
    let all = local + 2 * (remote[0] + remote[1]);
    assert_eq!(chips.iter().flat_map(|c| c.sent).sum::<u64>(), all);
    assert_eq!(chips.iter().flat_map(|c| c.received).sum::<u64>(), all);
    assert_eq!(outcome.counters.link_lines, remote);
    let banks = |write: usize| chips.iter().flat_map(|c| c.bank_lines).map(|b| b[write]).sum::<u64>();
    assert_eq!((banks(0), banks(1)), (reads, writes));
    // What the last writes still wait for when the programs are done.
    let left = u64::from(p.memory.writes_waiting);
    for c in chips {
        let lines: Vec<u64> = c.bank_lines.iter().map(|b| b[0] + b[1]).collect();
        assert!((0..BANKS).all(|b| lines[b] * p.memory.bank <= outcome.cycles + (left + 2) * p.memory.bank));
        assert!(lines.iter().sum::<u64>() * p.memory.line <= outcome.cycles + (left + 2) * p.memory.line);
    }
    let trace = outcome.trace.as_ref().unwrap();
    assert_eq!(trace.left_out, 0);
    assert_eq!(trace.packets.len() as u64, outcome.counters.packets());
    for (i, c) in chips.iter().enumerate() {
        let on = |ring: usize| {
            trace.packets.iter().filter(move |p| (p.chip as usize, p.ring as usize) == (i, ring))
        };
        for ring in 0..4 {
            assert_eq!(c.ring_packets[ring], on(ring).count() as u64);
            assert_eq!(c.ring_hops[ring], on(ring).map(hops).sum::<u64>());
        }
        assert_eq!(c.ring_hops.iter().sum::<u64>(), c.segment_packets.iter().flatten().sum::<u64>());
    }
}

fn rules() -> impl Strategy<Value = Rules> {
    let hold = prop_oneof![Just(Hold::Beats), Just(Hold::Way)];
    let half_way = prop_oneof![
        Just(HalfWay::FirstFree),
        Just(HalfWay::LessQueued),
        Just(HalfWay::InTurns),
        Just(HalfWay::Clockwise)
    ];
    let order = prop_oneof![Just(Order::RoundRobin), Just(Order::OldestFirst), Just(Order::Fixed)];
    let numbers = (1u8..=7, 1u8..=3, 1u64..6, 0u64..4, 0u8..=2);
    let free = (hold, half_way, order, numbers).prop_map(|(hold, half_way, order, n)| Rules {
        hold,
        half_way,
        order,
        alone_from_hops: n.0,
        per_ring: n.1,
        start_interval: n.2,
        gap: n.3,
        margin: n.4,
        ..Rules::textbook()
    });
    let named = (0..Rules::all().len()).prop_map(|i| Rules::all().swap_remove(i));
    prop_oneof![free, named]
}

fn parameters() -> impl Strategy<Value = Parameters> {
    let hidden = proptest::collection::btree_set(0usize..8, 0..5);
    let mfc = (1usize..=16, 1u32..40, 1u32..20, 0u64..12, 0u64..3);
    let bus = (1u64..4, 0usize..2, 0u64..100, 0u64..60);
    let memory = (8u64..12, 64u64..80, 0u64..20, 1u32..10, 1u32..40);
    (rules(), 1usize..=2, hidden, mfc, bus, memory).prop_map(|(rules, chips, hidden, mfc, bus, memory)| {
        let mut p = Parameters { rules, chips, hidden: hidden.into_iter().collect(), ..small("cell") };
        (p.mfc.queue, p.mfc.lines, p.mfc.line_interval) = (mfc.0, mfc.1, mfc.4);
        (p.mfc.remote_lines, p.mfc.memory_token) = ([mfc.2, mfc.2 + 1], mfc.3);
        (p.bus.command_interval, p.bus.link_ramp, p.bus.coherence, p.bus.sink) = bus;
        (p.memory.line, p.memory.bank, p.memory.turnaround) = (memory.0, memory.1, memory.2);
        (p.memory.burst, p.memory.writes_waiting) = (memory.3, memory.4);
        p
    })
}

/// Runs a program of transfers on each SPE, which watches its own queue.
fn run(p: &Parameters, programs: &[Vec<Dma>]) -> Simulated {
    let mut sim = owned(p.clone());
    sim.trace(true);
    for (spe, program) in programs.iter().enumerate() {
        let (program, queue) = (program.clone(), p.mfc.queue as u32);
        sim.spe(spe, "drawn", move |spe| {
            for dma in &program {
                spe.dma(*dma);
                let space = spe.queue_space();
                assert!(space < queue, "the command that was just queued takes a place");
                let pending = (!spe.tags_now(u32::MAX)).count_ones();
                assert!(pending <= queue, "{pending} commands in a queue of {queue}");
            }
            spe.tags_all(u32::MAX);
        })
        .unwrap();
    }
    sim.run().unwrap()
}

fn programs(p: &Parameters, drawn: &[(usize, Drawn, u8)]) -> Vec<Vec<Dma>> {
    let mut programs = vec![Vec::new(); p.spes()];
    for (spe, drawn, order) in drawn {
        let program = &mut programs[spe % p.spes()];
        let order = [Ordering::Free, Ordering::Free, Ordering::Free, Ordering::Fence, Ordering::Barrier]
            [*order as usize % 5];
        let tag = program.len() as u32 % 32;
        program.push(drawn.dma(p.spes(), MEMORY_BYTES * p.chips as u64, tag, order));
    }
    programs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_is_lost_and_nothing_carries_more_than_it_can(
        p in parameters(),
        drawn in proptest::collection::vec((0usize..16, drawn(), any::<u8>()), 1..150),
    ) {
        let programs = programs(&p, &drawn);
        let outcome = run(&p, &programs);
        check_packets(&p.rules, &outcome.trace.as_ref().unwrap().packets);
        check_counters(&p, &programs, &outcome);
    }
}

#[test]
fn a_machine_full_of_traffic_keeps_the_rules_of_every_named_set() {
    for rules in Rules::all() {
        let p = Parameters { rules, ..small("qs22") };
        let programs: Vec<Vec<Dma>> = (0..16usize)
            .map(|spe| {
                (0..12u32)
                    .map(|i| {
                        let other = Address::local_store((spe * 7 + i as usize * 5 + 1) % 16);
                        let ea = if i % 4 == 3 { Address(spe as u64 * 65536) } else { other };
                        let kind = DmaKind { put: i % 3 == 0, order: Ordering::Free };
                        Dma::new(kind, i * 16384, ea + u64::from(i) * 16384, 16384, i)
                    })
                    .filter(|d| d.ea.0 % (1 << 20) < 240 << 10 || d.ea < Address::local_store(0))
                    .collect()
            })
            .collect();
        let outcome = run(&p, &programs);
        assert!(outcome.counters.packets() > 10_000);
        check_packets(&p.rules, &outcome.trace.as_ref().unwrap().packets);
        check_counters(&p, &programs, &outcome);
    }
}

/// Cycles in which four SPEs read, or write, 256 lines each that lie in so many banks.
fn cycles_of_banks(p: &Parameters, banks: u64, put: bool) -> u64 {
    let programs: Vec<Vec<Dma>> = (0..4u64)
        .map(|spe| {
            (0..256u64)
                .map(|i| {
                    let line = (spe * 256 + i) / banks % 512 * BANKS as u64 + i % banks;
                    let order = Ordering::Free;
                    Dma::new(DmaKind { put, order }, i as u32 * 128, Address(line * 128), 128, 0)
                })
                .collect()
        })
        .collect();
    let mut sim = owned(p.clone());
    for (spe, program) in programs.into_iter().enumerate() {
        let program = move |spe: &mut Spe<'_>| {
            program.iter().for_each(|dma| spe.dma(*dma));
            spe.tags_all(1);
        };
        sim.spe(spe, "banks", program).unwrap();
    }
    let outcome = sim.run().unwrap();
    let used = outcome.counters.chips[0].bank_lines.iter().filter(|lines| lines[0] + lines[1] > 0).count();
    assert_eq!(used as u64, banks);
    outcome.cycles
}

#[test]
fn a_bank_takes_a_line_in_64_cycles_and_all_of_them_together_one_in_8() {
    let mut p = small("cell");
    (p.memory.bank, p.memory.line) = (64, 8);
    for put in [false, true] {
        for (banks, per_line) in [(1, 64), (2, 32), (4, 16), (8, 8), (16, 8)] {
            let (cycles, least) = (cycles_of_banks(&p, banks, put), 1024 * per_line);
            // The last writes are still on their way when the programs are done.
            let left = if put { 40 * per_line } else { 0 };
            assert!(cycles + left >= least, "{banks} banks, put {put}: {cycles} of at least {least}");
            assert!(cycles < least + least / 10 + 500, "{banks} banks, put {put}: {cycles} of about {least}");
        }
    }
}
