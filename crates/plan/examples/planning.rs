//! How fast and how good planning is; see `benches/planning/README.md`.
//!
//! `cargo run --release -p cellweave-plan --example planning -- benches/planning` writes `results.json` and
//! `results.md` there.

mod machines;

use ground::options::Word;
use machine::{Block, Limit, Machine, Overhead, presets};
use plan::{Method, PlanOptions};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use work::{Buffering, Graph, Plan, daggen};

/// Repeats of everything that is timed.
const REPEATS: usize = 9;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: planning FOLDER")?;
    let set = daggen::paper_set();
    let preset = presets::Preset::named("qs22").ok_or("no qs22")?;
    let qs22 = preset.machine(presets::PresetOptions { ppe: 1, ..preset.all() });
    let identity: serde_json::Map<String, Value> =
        host::identity().to_pairs().into_iter().map(|(k, v)| (k.into(), v.into())).collect();
    let date = ground::utc(host::clock::unix_s())[..10].to_string();
    let mut text = format!(
        "{date}, {} ({} cpus), cellweave {}.\n\n",
        host::identity().cpu_model,
        host::identity().cpus.len(),
        host::identity().cellweave_version
    );
    let results = json!({
        "format": 1,
        "date": date,
        "identity": identity,
        "times": times(&qs22, &set, &mut text),
        "gaps": gaps(&qs22, &set, &mut text),
        "heuristics": heuristics(&qs22, &set, &mut text),
        "large": large(&mut text)?,
    });
    std::fs::write(Path::new(&folder).join("results.json"), serde_json::to_string_pretty(&results)? + "\n")?;
    std::fs::write(Path::new(&folder).join("results.md"), &text)?;
    print!("{text}");
    Ok(())
}

fn run(machine: &Machine, graph: &Graph, options: &PlanOptions) -> Plan {
    let clock = || host::now_ns() as f64 * 1e-9;
    plan::plan(machine, graph, options, &clock, &mut |_| true).expect("the set plans on this machine")
}

fn with(method: Method) -> PlanOptions {
    PlanOptions { method, seed: 1, ..PlanOptions::default() }
}

/// Min, median, p90 and max.
fn quantiles(mut list: Vec<f64>) -> Value {
    list.sort_by(f64::total_cmp);
    let at = |q: f64| list[((list.len() - 1) as f64 * q).round() as usize];
    json!({ "n": list.len(), "min": at(0.0), "p50": at(0.5), "p90": at(0.9), "max": at(1.0) })
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or(f64::NAN)
}

/// Time per method on the ten graphs of 135 tasks, and moves per second.
fn times(qs22: &Machine, set: &[Graph], text: &mut String) -> Value {
    let largest: Vec<&Graph> = set.iter().filter(|g| g.tasks.len() == 135).collect();
    let _ = writeln!(
        text,
        "## Time to plan 135 tasks on qs22\n\n{} graphs x {REPEATS} runs; ms.\n\n| method | min | median | p90 \
         | max |\n|---|---|---|---|---|",
        largest.len()
    );
    let mut rows = Vec::new();
    for method in [Method::Greedy, Method::Cluster, Method::Delegate] {
        let seconds = largest.iter().flat_map(|g| {
            let options = with(method);
            (0..REPEATS).map(move |_| run(qs22, g, &options).seconds * 1e3)
        });
        let q = quantiles(seconds.collect());
        let _ = writeln!(
            text,
            "| {} | {:.3} | {:.3} | {:.3} | {:.3} |",
            method.word(),
            number(&q, "min"),
            number(&q, "p50"),
            number(&q, "p90"),
            number(&q, "max")
        );
        rows.push(json!({ "method": method.word(), "ms": q }));
    }
    let moves = 1_000_000;
    let rate = |buffering: Buffering| {
        let options =
            PlanOptions { moves: Some(moves), gap: 0.0, buffering: Some(buffering), ..with(Method::Anneal) };
        quantiles(
            largest
                .iter()
                .flat_map(|g| (0..3).map(|_| run(qs22, g, &options)).collect::<Vec<_>>())
                .filter(|p| p.moves == moves)
                .map(|p| p.moves as f64 / p.seconds / 1e6)
                .collect(),
        )
    };
    for rule in [Buffering::Shared, Buffering::Duplicated] {
        let q = rate(rule);
        let _ = writeln!(
            text,
            "\nanneal, {} buffers: {:.2} M moves/s (median; min {:.2}, max {:.2}; n = {}; 1 M moves each)",
            rule.word(),
            number(&q, "p50"),
            number(&q, "min"),
            number(&q, "max"),
            q["n"]
        );
        rows.push(json!({ "method": "anneal", "buffering": rule.word(), "million_moves_per_s": q }));
    }
    json!(rows)
}

/// Gaps of annealing within a second on all 250.
fn gaps(qs22: &Machine, set: &[Graph], text: &mut String) -> Value {
    let plans: Vec<Plan> = set.iter().map(|g| run(qs22, g, &with(Method::Anneal))).collect();
    let within = |gap: f64| plans.iter().filter(|p| p.feasible && p.gap <= gap + 1e-12).count();
    let q = quantiles(plans.iter().map(|p| p.gap * 100.0).collect());
    let seconds = quantiles(plans.iter().map(|p| p.seconds).collect());
    let left: Vec<Value> = plans
        .iter()
        .filter(|p| !p.feasible || p.gap > 0.05)
        .map(|p| {
            let (application, bottleneck) = (&p.application, &p.bottleneck);
            json!({ "application": application, "gap": p.gap, "feasible": p.feasible, "bottleneck": bottleneck })
        })
        .collect();
    let _ = writeln!(
        text,
        "\n## Gap to the bound after at most 1 s of annealing, 250 graphs\n\nThe search ends early at a gap of 1 %.\n\n\
         within 1 %: {}, within 5 %: {} of {}; infeasible: {}; gap median {:.2} %, p90 {:.2} %, max {:.2} %; \
         seconds median {:.3}, max {:.3}\n\n| not within 5 % | gap | bottleneck |\n|---|---|---|",
        within(0.01),
        within(0.05),
        plans.len(),
        plans.iter().filter(|p| !p.feasible).count(),
        number(&q, "p50"),
        number(&q, "p90"),
        number(&q, "max"),
        number(&seconds, "p50"),
        number(&seconds, "max"),
    );
    for row in &left {
        let _ = writeln!(
            text,
            "| {} | {:.1} % | {} |",
            row["application"].as_str().unwrap_or(""),
            number(row, "gap") * 100.0,
            row["bottleneck"].as_str().unwrap_or("")
        );
    }
    json!({ "within_1_percent": within(0.01), "within_5_percent": within(0.05), "n": plans.len(),
            "gap_percent": q, "seconds": seconds, "left": left })
}

/// (Average, standard deviation) of Table 2: all, small, large.
type Published = [(f64, f64); 3];

/// Throughput of the paper's heuristics over that of annealing, all under the duplicated rule, as in Table 2.
fn heuristics(qs22: &Machine, set: &[Graph], text: &mut String) -> Value {
    let rule = Some(Buffering::Duplicated);
    let best: Vec<Plan> =
        set.iter().map(|g| run(qs22, g, &PlanOptions { buffering: rule, ..with(Method::Anneal) })).collect();
    let _ = writeln!(
        text,
        "\n## Predicted throughput over that of the best mapping known\n\nOver annealing (1 s, duplicated \
         buffers) here, \
         over MIP (CPLEX to 5 %) in Table 2 of the paper. A heuristic's mapping counts also where it breaks a \
          limit, as in \
         the paper. Small: up to 59 tasks, large: 87 to 135.\n\n\
         | graphs | method | min | max | average | std. dev. | breaks a limit | Table 2: average | std. dev. |\n\
         |---|---|---|---|---|---|---|---|---|"
    );
    let methods: [(&str, PlanOptions, Published); 4] = [
        ("greedy", with(Method::Greedy), [(0.82, 0.12), (0.82, 0.13), (0.79, 0.10)]),
        (
            "delegate, C to PPE min(25, 2 x SPEs)",
            with(Method::Delegate),
            [(0.97, 0.07), (0.99, 0.04), (0.91, 0.09)],
        ),
        (
            "delegate, C to PPE 2",
            PlanOptions { read_back_gbs: Some(2.0), ..with(Method::Delegate) },
            [(0.97, 0.07), (0.99, 0.04), (0.91, 0.09)],
        ),
        ("cluster", with(Method::Cluster), [(0.32, 0.28), (0.32, 0.26), (0.33, 0.33)]),
    ];
    let mut rows = Vec::new();
    for (name, options, table) in methods {
        let plans: Vec<Plan> = set.iter().map(|g| run(qs22, g, &options)).collect();
        for (i, (size, least, most)) in
            [("all", 0, 1000), ("small", 0, 59), ("large", 87, 1000)].into_iter().enumerate()
        {
            let chosen: Vec<usize> =
                (0..set.len()).filter(|&g| (least..=most).contains(&set[g].tasks.len())).collect();
            let ratio: Vec<f64> = chosen.iter().map(|&g| best[g].period_ns / plans[g].period_ns).collect();
            let n = ratio.len() as f64;
            let mean = ratio.iter().sum::<f64>() / n;
            let deviation = (ratio.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / n).sqrt();
            let (low, high) = ratio.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &r| (a.min(r), b.max(r)));
            let broken = chosen.iter().filter(|&&g| !plans[g].feasible).count();
            let _ = writeln!(
                text,
                "| {size} | {name} | {low:.2} | {high:.2} | {mean:.2} | {deviation:.2} | {broken} of {} | {:.2} \
                 | {:.2} |",
                chosen.len(),
                table[i].0,
                table[i].1
            );
            rows.push(json!({ "graphs": size, "method": name, "n": chosen.len(), "min": low, "max": high,
                              "average": mean, "deviation": deviation, "broken": broken,
                              "published_average": table[i].0, "published_deviation": table[i].1 }));
        }
    }
    let infeasible = best.iter().filter(|p| !p.feasible).count();
    let _ = writeln!(text, "\nInfeasible under that rule for annealing: {infeasible} of {}.", best.len());
    json!(rows)
}

/// The same with limits and overheads such as a probe would find: stated here, not measured.
fn limited(mut machine: Machine) -> Machine {
    let all: Vec<usize> = (0..machine.elements.len()).collect();
    let on = |same: &dyn Fn(&machine::Place) -> bool| -> Vec<usize> {
        all.iter().copied().filter(|&e| same(&machine.elements[e].place)).collect()
    };
    let mut groups: Vec<(String, f64, Vec<usize>)> = Vec::new();
    let mut l3s: Vec<_> = machine.elements.iter().map(|e| (e.place.chip, e.place.l3)).collect();
    l3s.sort_unstable();
    l3s.dedup();
    for (chip, l3) in l3s {
        let name = format!("CCX {l3:?} of package {chip}");
        groups.push((name, 40e9, on(&|p| (p.chip, p.l3) == (chip, l3))));
    }
    for chip in 0..2 {
        groups.push((format!("package {chip}"), 100e9, on(&|p| p.chip == chip)));
    }
    for (name, capacity_bytes_per_s, inside) in groups {
        let outside: Vec<usize> = all.iter().copied().filter(|e| !inside.contains(e)).collect();
        let pairs = vec![Block { from: outside, to: inside }];
        machine.limits.push(Limit { name: format!("into {name}"), capacity_bytes_per_s, pairs, error: None });
    }
    for kind in machine.kinds().into_iter().map(String::from).collect::<Vec<_>>() {
        machine.overheads.insert(kind, Overhead { per_transfer_ns: 100.0, per_byte_ns: 0.03 });
    }
    machine.name += ", with limits";
    machine
}

/// 500 tasks on 128 cores in 5 s.
fn large(text: &mut String) -> Result<Value, Box<dyn std::error::Error>> {
    let plain = machines::cores_128()?;
    let machines = [plain.clone(), limited(plain)];
    let _ = writeln!(
        text,
        "\n## 500 tasks on 128 cores, auto, at most 5 s\n\nThe 2 x 64-core machine of the recorded trees, one \
         element per \
         core: as discovered (nothing is measured there), and with limits per CCX and package and overheads \
          that are stated \
         in the program.\n\n| machine | CCR | seed | gap | batch | seconds | bottleneck \
          |\n|---|---|---|---|---|---|---|"
    );
    let mut rows = Vec::new();
    for machine in &machines {
        for ccr in [0.001, 0.01, 0.1] {
            for seed in 1..=3 {
                let settings =
                    daggen::DaggenOptions { tasks: 500, regular: 0.9, ccr, seed, ..Default::default() };
                let mut graph = daggen::generate(&settings)?;
                for task in &mut graph.tasks {
                    let ns = task.cost_on("spe").unwrap_or(0.0);
                    task.cost_ns = [("*".to_string(), ns)].into();
                }
                let plan = run(machine, &graph, &PlanOptions { time_s: Some(5.0), ..with(Method::Auto) });
                let _ = writeln!(
                    text,
                    "| {} | {ccr} | {seed} | {:.2} % | {} | {:.2} | {} |",
                    machine.name,
                    plan.gap * 100.0,
                    plan.batch,
                    plan.seconds,
                    plan.bottleneck
                );
                rows.push(json!({ "machine": machine.name, "ccr": ccr, "seed": seed, "gap": plan.gap,
                                  "batch": plan.batch, "seconds": plan.seconds, "bottleneck": plan.bottleneck }));
            }
        }
    }
    Ok(json!(rows))
}
