//! What joins two Cells: each direction has its latency and its rate, and both share a third one.

mod machines;

use machines::{owned, small};
use sim::layout::IOIF;
use sim::{Address, CYCLE_PS, LINE_BYTES, Parameters, Simulated, Spe};
use std::cell::Cell;
use std::rc::Rc;

/// Bytes that each program moves.
const BYTES: u32 = 128 << 10;

/// Runs a program on each of these SPEs of a blade.
fn run(p: &Parameters, spes: &[usize], program: fn(&mut Spe<'_>)) -> Simulated {
    let mut blade = owned(p.clone());
    blade.trace(true);
    for &spe in spes {
        blade.spe(spe, "crosses", program).unwrap();
    }
    blade.run().unwrap()
}

/// Puts to the SPE on the other chip that has the same place.
fn puts_across(spe: &mut Spe<'_>) {
    let there = spe.local_store_of((spe.number() + 8) % 16);
    for at in (0..BYTES).step_by(16384) {
        spe.put(at, there + u64::from(at), 16384, 0);
    }
    spe.tags_all(1);
}

/// Cycles from the first to the last packet that comes over the link to a chip.
fn window(p: &Parameters, outcome: &Simulated, chip: u8) -> (u64, u64) {
    let ramp = IOIF[p.bus.link_ramp] as u8;
    let packets = &outcome.trace.as_ref().unwrap().packets;
    let starts: Vec<u64> =
        packets.iter().filter(|packet| (packet.chip, packet.from) == (chip, ramp)).map(|p| p.start).collect();
    (starts.len() as u64, starts.last().unwrap() - starts[0])
}

#[test]
fn no_direction_is_faster_than_its_rate_and_both_not_than_what_they_share() {
    let p = small("qs22");
    let lines = u64::from(BYTES / LINE_BYTES) * 8;
    for (to, spes) in [(1, [0, 1, 2, 3, 4, 5, 6, 7]), (0, [8, 9, 10, 11, 12, 13, 14, 15])] {
        let outcome = run(&p, &spes, puts_across);
        let (came, cycles) = window(&p, &outcome, to);
        assert_eq!((came, outcome.counters.link_lines[to as usize]), (lines, lines));
        let least = (lines - 1) * p.link.line_ps[to as usize] / CYCLE_PS;
        // Eight SPEs keep it busy: within a hundredth of its rate.
        assert!((least..least + least / 100).contains(&cycles), "{cycles} of at least {least}");
    }
    let all: Vec<usize> = (0..16).collect();
    let outcome = run(&p, &all, puts_across);
    let (to_0, to_1) = (window(&p, &outcome, 0), window(&p, &outcome, 1));
    assert_eq!((to_0.0, to_1.0), (lines, lines));
    let least = (2 * lines - 1) * p.link.shared_line_ps / CYCLE_PS;
    assert!(to_0.1.max(to_1.1) >= least, "{to_0:?} {to_1:?} of at least {least}");
}

/// Cycles that one get of a line takes an SPE.
fn latency(p: &Parameters, spe: usize, ea: Address) -> u64 {
    let mut blade = owned(p.clone());
    let took = Rc::new(Cell::new(0));
    let result = took.clone();
    blade
        .spe(spe, "gets", move |spe| {
            spe.get(0, ea, 128, 0);
            spe.tags_all(1);
            result.set(spe.now_ps() / CYCLE_PS);
        })
        .unwrap();
    blade.run().unwrap();
    took.get()
}

#[test]
fn a_command_to_the_other_chip_takes_longer_by_what_its_direction_says() {
    let mut p = small("qs22");
    let memory = [Address(0), Address(p.memory_bytes)];
    for chip in 0..2 {
        let before = latency(&p, 8 * chip, memory[1 - chip]);
        let there = p.link.command[chip];
        p.link.command[chip] += 1000;
        assert_eq!(latency(&p, 8 * chip, memory[1 - chip]), before + 1000);
        // Nobody else notices.
        assert_eq!(
            latency(&p, 8 - 8 * chip, memory[chip]),
            latency(&small("qs22"), 8 - 8 * chip, memory[chip])
        );
        assert_eq!(latency(&p, 8 * chip, memory[chip]), latency(&small("qs22"), 8 * chip, memory[chip]));
        p.link.command[chip] = there;
    }
    let near = latency(&p, 0, Address::local_store(7));
    assert!(latency(&p, 0, Address::local_store(8)) > near + p.link.command[0]);
}

#[test]
fn an_mfc_has_no_more_lines_to_the_other_chip_under_way_than_it_may() {
    let rate = |chip: usize, lines: u32| {
        let mut p = small("qs22");
        p.mfc.remote_lines = [lines, lines];
        let outcome = run(&p, &[8 * chip], |spe| {
            let there = spe.local_store_of((spe.number() + 8) % 16);
            spe.get(0, there, 16384, 0);
            spe.tags_all(1);
        });
        16384.0 / outcome.elapsed_ns()
    };
    for chip in 0..2 {
        // With one line at a time, each takes a whole round trip.
        let mut p = small("qs22");
        p.mfc.remote_lines = [1, 1];
        let round = latency(&p, 8 * chip, Address::local_store(8 - 8 * chip)) * CYCLE_PS;
        let one = rate(chip, 1);
        assert!(one > 128.0 / (round as f64 / 1e3) && one < 1.3 * 128.0 / (round as f64 / 1e3));
        let two = rate(chip, 2) / one;
        assert!((1.9..=2.0).contains(&two), "{two}");
    }
}
