//! The bidirectional ring of 8: every round each SPE signals both neighbours that 1 kB is ready, gets what they have
//! for it, and checks it.

use sim::{Parameters, Simulation};
use std::time::Instant;

const SIZE: usize = 8;
const BYTES: u32 = 1024;
const LEFT: usize = 0;
const RIGHT: usize = 1;
/// Words to signal with: one for every round that may be under way, its place in a quadword as the register's.
const WORDS: u32 = 0x100;
/// Messages to be got, by parity of the round and by whom they are for; and those that came.
const OUT: u32 = 0x1000;
const IN: u32 = 0x3000;

/// Where the message of `round` for the neighbour at `side` is.
fn message(base: u32, round: u32, side: usize) -> u32 {
    base + (round % 2 * 2 + side as u32) * BYTES
}

/// What a message's first and last word say.
fn stamp(round: u32, from: usize) -> u32 {
    round * SIZE as u32 + from as u32
}

/// Simulates so many rounds, of 16 messages each.
pub(crate) fn run(rounds: u32) -> Result<String, Box<dyn std::error::Error>> {
    let mut cell = Simulation::new(Parameters::default())?;
    for me in 0..SIZE {
        cell.spe(me, "ring", move |spe| {
            let neighbours = [(me + SIZE - 1) % SIZE, (me + 1) % SIZE];
            let mut ready = [0, 0];
            for round in 1..=rounds {
                let word = WORDS + round % 4 * 16 + 12;
                spe.write_u32(word, round);
                for side in [LEFT, RIGHT] {
                    let at = message(OUT, round, side);
                    spe.write_u32(at, stamp(round, me));
                    spe.write_u32(at + BYTES - 4, stamp(round, me));
                    // Register 1 hears from the left: to the left neighbour we are its right one.
                    spe.send_signal(word, neighbours[side], 2 - side as u32, 0);
                }
                for side in [LEFT, RIGHT] {
                    // A neighbour may be a round ahead, but no further: its next signal waits for ours.
                    while ready[side] < round {
                        ready[side] = spe.read_signal(1 + side as u32);
                    }
                    let theirs =
                        spe.local_store_of(neighbours[side]) + u64::from(message(OUT, round, 1 - side));
                    spe.get(message(IN, round, side), theirs, BYTES, 1);
                }
                spe.tags_all(1 << 1);
                for side in [LEFT, RIGHT] {
                    let at = message(IN, round, side);
                    let expected = stamp(round, neighbours[side]);
                    assert_eq!([spe.read_u32(at), spe.read_u32(at + BYTES - 4)], [expected; 2]);
                }
            }
            spe.tags_all(1);
        })?;
    }
    let start = Instant::now();
    let outcome = cell.run()?;
    let wall = start.elapsed().as_secs_f64();
    let got = outcome.counters.spes.iter().map(|s| s.got_bytes).sum::<u64>();
    let (messages, packets) = (got / u64::from(BYTES), got / 128);
    let rest = format!(r#""cycles": {}, "hash": "{:016x}""#, outcome.cycles, outcome.hash);
    Ok(format!(r#"{{"wall_s": {wall:.9}, "messages": {messages}, "packets": {packets}, {rest}}}"#))
}
