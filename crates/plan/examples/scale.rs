//! Whether large graphs keep their time limit, and how far from the bound they end; see `benches/planning/README.md`.
//!
//! `cargo run --release -p cellweave-plan --example scale -- benches/planning` writes `scale.md` there.

mod machines;

use machine::{Machine, presets};
use plan::{Method, PlanOptions};
use std::fmt::Write as _;
use std::path::Path;
use work::{Graph, daggen};

/// Seconds that each plan may take.
const TIME_S: f64 = 10.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: scale FOLDER")?;
    let mut text = format!(
        "Graphs of DagGen with its defaults, `auto`, at most {TIME_S} s.\n\n| machine | tasks | edges | CCR | \
         seconds | moves | gap | feasible | bottleneck |\n|---|---|---|---|---|---|---|---|---|\n"
    );
    let preset = presets::Preset::named("qs22").ok_or("no qs22")?;
    let qs22 = preset.machine(preset.all());
    for ccr in [0.001, 0.01, 0.1] {
        row(&qs22, &graph(5_000, ccr)?, ccr, &mut text)?;
    }
    let cores = machines::cores_128()?;
    for ccr in [0.001, 0.1] {
        let mut graph = graph(20_000, ccr)?;
        for task in &mut graph.tasks {
            task.cost_ns = [("*".to_string(), task.cost_on("spe").unwrap_or(0.0))].into();
        }
        row(&cores, &graph, ccr, &mut text)?;
    }
    std::fs::write(Path::new(&folder).join("scale.md"), &text)?;
    print!("{text}");
    Ok(())
}

fn graph(tasks: usize, ccr: f64) -> Result<Graph, Box<dyn std::error::Error>> {
    Ok(daggen::generate(&daggen::DaggenOptions { tasks, ccr, ..Default::default() })?)
}

fn row(
    machine: &Machine,
    graph: &Graph,
    ccr: f64,
    text: &mut String,
) -> Result<(), Box<dyn std::error::Error>> {
    let clock = || host::now_ns() as f64 * 1e-9;
    let options =
        PlanOptions { method: Method::Auto, time_s: Some(TIME_S), gap: 0.0, ..PlanOptions::default() };
    let started = clock();
    let plan = plan::plan(machine, graph, &options, &clock, &mut |_| true)?;
    let seconds = clock() - started;
    let (tasks, edges, moves) = (graph.tasks.len(), graph.edges.len(), plan.moves);
    let gap = plan.gap * 100.0;
    writeln!(
        text,
        "| {} | {tasks} | {edges} | {ccr} | {seconds:.2} | {moves} | {gap:.2} % | {} | {} |",
        machine.name, plan.feasible, plan.bottleneck
    )?;
    Ok(())
}
