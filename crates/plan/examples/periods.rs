//! The periods that a given number of moves reaches on the 250 graphs of the planning bench, and whether a change of
//! the planner made any of them worse; see `benches/planning/README.md`.
//!
//! `cargo run --release -p cellweave-plan --example periods -- benches/planning [OLD.json]` writes `periods.json`
//! there, and compares it with the `periods.json` of another version. No clock is read: the same version writes the
//! same file.

use ground::options::Word;
use machine::presets;
use plan::{Method, PlanOptions};
use serde_json::{Map, Value, json};
use std::path::Path;
use work::daggen;

/// Moves of each search: some tenths of a second.
const MOVES: u64 = 200_000;
/// Periods that differ by less are equal.
const ROUNDING: f64 = 1e-9;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: periods FOLDER [OLD.json]")?;
    let preset = presets::Preset::named("qs22").ok_or("no qs22")?;
    let qs22 = preset.machine(presets::PresetOptions { ppe: 1, ..preset.all() });
    let mut all = Map::new();
    for &(name, method) in Method::WORDS.iter().filter(|(_, method)| *method != Method::Exact) {
        let mut periods = Map::new();
        for graph in daggen::paper_set() {
            let options = PlanOptions { method, moves: Some(MOVES), gap: 0.0, ..PlanOptions::default() };
            let plan = plan::plan(&qs22, &graph, &options, &|| 0.0, &mut |_| true)?;
            let period_ns = if plan.feasible { json!(plan.period_ns) } else { Value::Null };
            periods.insert(graph.name.clone(), period_ns);
        }
        all.insert(name.to_string(), periods.into());
    }
    let text = serde_json::to_string_pretty(&all)? + "\n";
    std::fs::write(Path::new(&folder).join("periods.json"), text)?;
    if let Some(old) = arguments.next() {
        compare(&serde_json::from_str(&std::fs::read_to_string(old)?)?, &all);
    }
    Ok(())
}

/// Prints, for each method, how many periods are better, equal and worse than before, and the worst. A plan that breaks
/// a limit is worse than any that does not.
fn compare(old: &Map<String, Value>, new: &Map<String, Value>) {
    println!("| method | better | equal | worse | largest change |\n|---|---|---|---|---|");
    for (method, before) in old {
        let (mut better, mut equal, mut worse, mut most) = (0, 0, 0, 1.0f64);
        for (name, then) in before.as_object().into_iter().flatten() {
            let ns = |v: &Value| v.as_f64().unwrap_or(f64::INFINITY);
            let (then, now) = (ns(then), ns(&new[method][name]));
            let ratio = if then == now { 1.0 } else { now / then };
            *(match ratio {
                r if r > 1.0 + ROUNDING => &mut worse,
                r if r < 1.0 - ROUNDING => &mut better,
                _ => &mut equal,
            }) += 1;
            most = if (ratio - 1.0).abs() > (most - 1.0).abs() { ratio } else { most };
        }
        println!("| {method} | {better} | {equal} | {worse} | x {most:.4} |");
    }
}
