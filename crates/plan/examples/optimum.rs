//! Whether `auto` finds the best of all mappings of a thousand small graphs; see `benches/planning/README.md`.
//!
//! `cargo run --release -p cellweave-plan --example optimum -- benches/planning` writes `optimum.md` there. With
//! `--cases FOLDER` the cases go there too, as machine and application files with what the oracle found, for
//! `benches/planning/exact.py`.

#[path = "../tests/oracle/mod.rs"]
mod oracle;

use ground::options::Word;
use oracle::Oracle;
use oracle::cases::{Case, case};
use plan::{Method, PlanOptions};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use work::Plan;

/// Cases that are tried.
const CASES: u64 = 1000;
/// Mappings of a case at most.
const MAPPINGS: usize = 120_000;
/// What sums in another order may differ by.
const ROUNDING: f64 = 1e-9;

/// A row of the table: cases, those that have a plan, and what went wrong.
#[derive(Default)]
struct Row {
    cases: usize,
    plannable: usize,
    optimal: usize,
    proved: usize,
    refused: usize,
    worst: f64,
    slowest_s: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: optimum FOLDER [--cases FOLDER]")?;
    let cases: Option<PathBuf> =
        arguments.next().filter(|a| a == "--cases").and_then(|_| arguments.next()).map(Into::into);
    let mut rows: BTreeMap<(&str, &str, &str), Row> = BTreeMap::new();
    for number in 0..CASES {
        let case = case(number, MAPPINGS);
        let best = Oracle::new(&case.machine, &case.graph, case.rule, case.batch).best();
        if let Some(folder) = &cases {
            write_case(folder, number, &case, best.as_ref().map(|b| b.0))?;
        }
        let graph = if case.feedback { "feedback" } else { "forward" };
        let row = rows.entry((case.sort, case.rule.word(), graph)).or_default();
        row.cases += 1;
        let Some((best, _)) = best else { continue };
        row.plannable += 1;
        let Ok(plan) = auto(&case) else {
            row.refused += 1;
            continue;
        };
        let ratio = if plan.feasible { plan.period_ns / best } else { f64::INFINITY };
        row.optimal += usize::from((ratio - 1.0).abs() <= ROUNDING || plan.period_ns == best);
        row.proved += usize::from(plan.gap <= ROUNDING && plan.bound_ns <= best * (1.0 + ROUNDING));
        row.worst = row.worst.max(ratio);
        row.slowest_s = row.slowest_s.max(plan.seconds);
        for method in [Method::Greedy, Method::Cluster, Method::Delegate] {
            let options = PlanOptions { method, batch: Some(case.batch), ..PlanOptions::default() };
            let refused = plan::plan(&case.machine, &case.graph, &options, &|| 0.0, &mut |_| true).is_err();
            row.refused += usize::from(refused);
        }
    }
    let mut text = format!(
        "{CASES} small graphs, of at most 7 tasks and {MAPPINGS} mappings each; `auto` with at most 1 s.\n\n| machine \
         | buffers | graph | cases | with a plan | optimal | proved | refused by a method | worst | slowest |\n\
         |---|---|---|---|---|---|---|---|---|---|\n"
    );
    for ((sort, rule, graph), row) in &rows {
        let Row { cases, plannable, optimal, proved, refused, worst, slowest_s } = row;
        let ms = slowest_s * 1e3;
        writeln!(
            text,
            "| {sort} | {rule} | {graph} | {cases} | {plannable} | {optimal} | {proved} | {refused} | {worst:.3} | \
             {ms:.1} ms |"
        )?;
    }
    let sum = |f: &dyn Fn(&Row) -> usize| rows.values().map(f).sum::<usize>();
    writeln!(
        text,
        "\nOptimal: {} of {} that have a plan; refused: {}.",
        sum(&|r| r.optimal),
        sum(&|r| r.plannable),
        sum(&|r| r.refused)
    )?;
    std::fs::write(Path::new(&folder).join("optimum.md"), &text)?;
    print!("{text}");
    Ok(())
}

fn auto(case: &Case) -> Result<Plan, plan::PlanError> {
    let clock = || host::now_ns() as f64 * 1e-9;
    let options = PlanOptions {
        buffering: Some(case.rule),
        batch: Some(case.batch),
        time_s: Some(1.0),
        ..PlanOptions::default()
    };
    plan::plan(&case.machine, &case.graph, &options, &clock, &mut |_| true)
}

/// The case as files, and what the oracle found.
fn write_case(
    folder: &Path,
    number: u64,
    case: &Case,
    best_ns: Option<f64>,
) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder)?;
    let name = |end: &str| folder.join(format!("{number}{end}"));
    std::fs::write(name("-machine.toml"), machine::file::to_text(&case.machine)?)?;
    std::fs::write(name("-graph.json"), work::write::json(&case.graph))?;
    let what = json!({ "sort": case.sort, "feedback": case.feedback, "buffering": case.rule.word(),
                       "batch": case.batch, "best_ns": best_ns });
    std::fs::write(name(".json"), what.to_string())?;
    Ok(())
}
