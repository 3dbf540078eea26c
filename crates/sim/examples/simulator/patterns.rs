//! Eight SPEs get 16 kB at a time into four buffers each, as `probe`'s patterns do.

use sim::{Address, Parameters, Rules, Simulation};
use std::time::Instant;

const BYTES: u32 = 16 * 1024;
const BUFFERS: u32 = 4;
/// Random patterns of one measurement, and where their random numbers start.
const RANDOM: usize = 8;
const SEED: u64 = 1;

/// Where each SPE's data comes from: another one's local store, or memory.
#[derive(Clone, Copy)]
enum From {
    Spe(usize),
    Memory,
}

fn sources(name: &str) -> Option<Vec<[From; 8]>> {
    Some(match name {
        "near" => vec![[2, 3, 0, 1, 6, 7, 4, 5].map(From::Spe)],
        "shift" => vec![[1, 2, 3, 4, 5, 6, 7, 0].map(From::Spe)],
        "far" => vec![[7, 6, 5, 4, 3, 2, 1, 0].map(From::Spe)],
        "random" => derangements().map(|d| d.map(From::Spe)).collect(),
        "memory" => vec![[From::Memory; 8]],
        _ => return None,
    })
}

/// Seeded orders of the eight in which nobody stays where it was.
fn derangements() -> impl Iterator<Item = [usize; 8]> {
    let mut state = SEED;
    let mut below = move |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let shuffled = std::iter::repeat_with(move || {
        let mut order: [usize; 8] = std::array::from_fn(|i| i);
        (1..8).rev().for_each(|i| order.swap(i, below(i + 1)));
        order
    });
    shuffled.filter(|order| order.iter().enumerate().all(|(i, from)| i != *from)).take(RANDOM)
}

/// Simulates `times` gets of each SPE.
pub(crate) fn run(name: &str, rules: &str, times: u32) -> Result<String, Box<dyn std::error::Error>> {
    let patterns = sources(name).ok_or("patterns: near, shift, far, random, memory")?;
    let rules = if rules == "default" { Some(Rules::default()) } else { Rules::named(rules) };
    let rules = rules.ok_or("rule sets: default, textbook, and the other names of sim::Rules")?;
    let (mut wall, mut packets, mut cycles, mut hash) = (0.0, 0, 0, 0u64);
    for sources in &patterns {
        let mut cell = Simulation::new(Parameters { rules: rules.clone(), ..Parameters::default() })?;
        for (spe, &from) in sources.iter().enumerate() {
            let source = match from {
                From::Spe(other) => Address(cell.local_store(other).0 + u64::from(BUFFERS * BYTES)),
                From::Memory => cell.allocate(0, BYTES.into(), 128)?,
            };
            let times = times / patterns.len() as u32;
            cell.spe(spe, "reader", move |spe| {
                for i in 0..times {
                    let buffer = i % BUFFERS;
                    if i >= BUFFERS {
                        spe.tags_all(1 << buffer);
                    }
                    spe.get(buffer * BYTES, source, BYTES, buffer);
                }
                spe.tags_all((1 << BUFFERS) - 1);
            })?;
        }
        let start = Instant::now();
        let outcome = cell.run()?;
        wall += start.elapsed().as_secs_f64();
        packets += outcome.counters.spes.iter().map(|s| s.got_bytes).sum::<u64>() / 128;
        cycles += outcome.cycles;
        hash = hash.rotate_left(1) ^ outcome.hash;
    }
    let name = rules.name;
    Ok(format!(
        r#"{{"wall_s": {wall:.9}, "packets": {packets}, "cycles": {cycles}, "hash": "{hash:016x}", "rules": "{name}"}}"#
    ))
}
