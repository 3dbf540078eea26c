//! How much the mapping of a ring of eight tasks matters under arbiters that might explain the published spread, and
//! whether the ranking repeats from one start state to the next. The book's chapter "The machine inside" has the table.
//!
//!     cargo run --release -p cellweave-probe --example arbiters
//!
//! Prints a table in Markdown: under each arbiter and packet size, the slowest by the fastest mapping (averages over
//! three start states), both ways around and one way, and the rank correlation between two start states. Then the same
//! correlation by number of rounds, under the default arbiter.

use ground::Draws;
use probe::TargetError;
use probe::ring::{RingSetup, Sweep, mapping, spearman, sweep};
use sim::Rules;
use sim::rules::Order;

/// Mappings, drawn once, and start states.
const MAPPINGS: usize = 40;
const RUNS: usize = 3;
const ROUNDS: u32 = 100;
/// Of the table by rounds: fewer mappings, because 4,000 rounds take long.
const LONG_MAPPINGS: usize = 10;
/// Of the drawn mappings.
const SEED: u64 = 20_110_829;
const PACKETS: [u32; 3] = [2048, 1024, 512];

/// Arbiters: the default, what the manuals say, and one packet per ring at a time in each order of requests.
fn arbiters() -> Vec<(&'static str, Rules)> {
    let alone = Rules { per_ring: 1, ..Rules::textbook() };
    vec![
        ("default", Rules::default()),
        ("textbook", Rules::textbook()),
        ("one packet per ring", alone.clone()),
        ("the same, oldest first", Rules { order: Order::OldestFirst, ..alone.clone() }),
        ("the same, fixed order", Rules { order: Order::Fixed, ..alone }),
    ]
}

fn drawn() -> Result<Vec<Vec<usize>>, TargetError> {
    let mut every = mapping::all(8, false)?;
    Draws::new(SEED).shuffle(&mut every);
    every.truncate(MAPPINGS);
    Ok(every)
}

/// Slowest by fastest mapping, mean correlation between two runs, and GB/s of all packets of the bus.
fn measured(options: RingSetup, mappings: &[Vec<usize>]) -> Result<(f64, f64, f64), TargetError> {
    let one = probe::ring::run(&mappings[0], &options)?;
    let ranking =
        sweep(&Sweep { options, mappings: Some(mappings.to_vec()), runs: RUNS, threads: None }, &mut |_| {
            true
        })?;
    let runs = ranking.runs();
    let pairs = (0..RUNS).flat_map(|i| (0..i).map(move |j| (i, j)));
    let all: Vec<f64> = pairs.filter_map(|(i, j)| spearman(&runs[i], &runs[j])).collect();
    let correlation = all.iter().sum::<f64>() / all.len() as f64;
    Ok((ranking.worst_by_best(), correlation, one.bus_packets as f64 * 128.0 / one.elapsed_ns))
}

fn main() -> Result<(), TargetError> {
    let mappings = drawn()?;
    let ring = |rules: &Rules, packet_bytes, bidirectional, rounds| -> Result<RingSetup, TargetError> {
        let mut options =
            RingSetup { packet_bytes, bidirectional, rounds, ..RingSetup::on("cell", None, None)? };
        options.parameters.rules = rules.clone();
        Ok(options)
    };
    println!("{MAPPINGS} mappings of the ring of 8, {RUNS} start states, {ROUNDS} rounds\n");
    println!(
        "| arbiter | packets | both ways | correlation | one way | correlation | on the bus, both ways |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, rules) in arbiters() {
        for bytes in PACKETS {
            let (both, both_again, gbs) = measured(ring(&rules, bytes, true, ROUNDS)?, &mappings)?;
            let (one, one_again, _) = measured(ring(&rules, bytes, false, ROUNDS)?, &mappings)?;
            println!(
                "| {name} | {bytes} B | {both:.2} | {both_again:.2} | {one:.2} | {one_again:.2} | {gbs:.1} GB/s |"
            );
        }
    }
    println!(
        "\n{LONG_MAPPINGS} of the mappings, packets of 1024 B\n\n| rounds | both ways | correlation |\n|---|---|---|"
    );
    for rounds in [80, 500, 4000] {
        let (both, again, _) =
            measured(ring(&Rules::default(), 1024, true, rounds)?, &mappings[..LONG_MAPPINGS])?;
        println!("| {rounds} | {both:.2} | {again:.2} |");
    }
    Ok(())
}
