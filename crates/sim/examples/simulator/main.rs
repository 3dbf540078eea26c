//! How fast the simulator is, one measurement a call; see `benches/simulator/README.md`.
//!
//! `cargo run --release -p cellweave-sim --example simulator -- pattern far textbook 500` prints a line of JSON: what
//! was simulated and how long that took. `ring ROUNDS` and `bare wheel|heap LINES` are the other two.
#![expect(
    clippy::disallowed_methods,
    reason = "this measures, and the crate that reads clocks is above this one"
)]

mod bare;
// What the simulator's own wheel is about; no part of its interface.
#[path = "../../src/ids.rs"]
#[allow(dead_code, reason = "not all of it is needed here")]
mod ids;
mod patterns;
mod ring;

const USAGE: &str = "usage: simulator pattern NAME RULES TIMES | ring ROUNDS | bare wheel|heap LINES";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let line = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["pattern", name, rules, times] => patterns::run(name, rules, times.parse()?)?,
        ["ring", rounds] => ring::run(rounds.parse()?)?,
        ["bare", queue, lines] => bare::run(queue, lines.parse()?)?,
        _ => return Err(USAGE.into()),
    };
    println!("{line}");
    Ok(())
}
