//! How soon `auto` proves gaps of 5 % and 1 % on the 250 applications; see `benches/planning/README.md`.
//!
//! `cargo run --release -p cellweave-plan --example proof -- benches/planning` writes `proof.md` there.

use machine::presets;
use plan::{Method, PlanOptions};
use std::fmt::Write as _;
use std::path::Path;
use work::daggen;

/// Seconds that a search may take.
const SECONDS: f64 = 10.0;
/// Rows that take longer to 1 % are listed.
const LISTED_S: f64 = 0.5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: proof FOLDER")?;
    let preset = presets::Preset::named("qs22").ok_or("no qs22")?;
    let qs22 = preset.machine(presets::PresetOptions { ppe: 1, ..preset.all() });
    let clock = || host::now_ns() as f64 * 1e-9;
    let options =
        PlanOptions { method: Method::Auto, time_s: Some(SECONDS), gap: 0.01, ..PlanOptions::default() };
    let (mut fives, mut ones) = (Vec::new(), Vec::new());
    let mut rows = String::new();
    let set = daggen::paper_set();
    for graph in &set {
        let (mut five, mut one) = (f64::INFINITY, f64::INFINITY);
        let mut reached = |gap: f64, seconds: f64| {
            five = if gap <= 0.05 { five.min(seconds) } else { five };
            one = if gap <= 0.01 { one.min(seconds) } else { one };
        };
        let plan = plan::plan(&qs22, graph, &options, &clock, &mut |p| {
            reached(p.gap().unwrap_or(1.0), p.seconds);
            true
        })?;
        reached(if plan.feasible { plan.gap } else { 1.0 }, plan.seconds);
        fives.push(five);
        ones.push(one);
        if one > LISTED_S {
            let one = if one.is_finite() { format!("{one:.2} s") } else { "-".into() };
            let (name, gap, moves) = (&graph.name, plan.gap * 100.0, plan.moves);
            writeln!(rows, "| {name} | {five:.2} s | {one} | {gap:.2} % | {moves} | {} |", plan.bottleneck)?;
        }
    }
    let within = |list: &[f64], most: f64| list.iter().filter(|&&s| s <= most).count();
    let mut text = format!(
        "{}, {} ({} cpus), `auto`, at most {SECONDS} s each, until 1 %.\n\n",
        &ground::utc(host::clock::unix_s())[..10],
        host::identity().cpu_model,
        host::identity().cpus.len(),
    );
    writeln!(
        text,
        "Within 5 % in 1 s: {} of {}. Within 1 % in 10 s: {}.\n",
        within(&fives, 1.0),
        set.len(),
        within(&ones, 10.0)
    )?;
    for (name, list) in [("5 %", &mut fives), ("1 %", &mut ones)] {
        list.sort_by(f64::total_cmp);
        let at = |q: f64| list[((list.len() - 1) as f64 * q).round() as usize];
        let max = if at(1.0).is_finite() { format!("{:.3}", at(1.0)) } else { format!("not in {SECONDS} s") };
        writeln!(text, "Seconds to {name}: median {:.3}, p90 {:.3}, max {max}.\n", at(0.5), at(0.9))?;
    }
    writeln!(
        text,
        "| more than {LISTED_S} s | to 5 % | to 1 % | gap | moves | bottleneck |\n|---|---|---|---|---|---|\n{rows}"
    )?;
    std::fs::write(Path::new(&folder).join("proof.md"), text.trim_end().to_string() + "\n")?;
    print!("{text}");
    Ok(())
}
