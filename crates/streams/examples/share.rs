//! How near a stream on the simulated Cell comes to its prediction, and what keeps it away:
//! `cargo run --release -p cellweave-streams --example share [-- time | effects | speed | paper] [part of a name]`.
//!
//! Without a word, a row per case: the predicted period, the simulated one, and the share of the prediction that is
//! reached. `time`: what each element spends its time on, and what it waits for most. `effects`: the same share when
//! one cost at a time is taken away, or the slots beyond those of the plan. `speed`: the seconds of this computer per
//! 1,000 instances. `paper`: scenarios of the scheduler paper, run until they are steady, as they are and with costs
//! taken away, as CSV. Plans are made with a fixed number of moves: all but `speed` is the same each time.

use machine::Machine;
use plan::{Method, PlanOptions};
use run::{Batch, Failed, Fired, Kernel, Kernels, Opened, PortSpec, RunOptions, RunOutcome};
use sim::Parameters;
use std::path::Path;
use streams::StreamCosts;
use work::daggen::{DaggenOptions, generate, paper_set};
use work::{Buffering, Graph, Plan, Port, TaskId};

/// What each task of the vocoder is taken to cost, in ns: about what its tasks cost on one core of a host.
const VOCODER_TASK_NS: f64 = 1_000.0;
const MOVES: u64 = 200_000;
const INSTANCES: u64 = 1_500;
/// As in `benches/scheduler-paper/sixteen.toml`.
const PAPER_MOVES: u64 = 2_000_000;
const PAPER_GAP: f64 = 0.05;
/// What is taken away of these scenarios.
const PAPER_VARIANTS: [&str; 4] =
    ["the runtime's own code", "latencies of bus and link", "all of these", "slots beyond those of the plan"];

struct Nothing;

impl Kernel for Nothing {
    fn fire(&mut self, _: &mut Batch) -> Result<Fired, Failed> {
        Ok(Fired::All)
    }
}

impl Kernels for Nothing {
    fn open(&self, _: &Graph, _: TaskId) -> Result<Opened, String> {
        let any = || vec![PortSpec::any_number("port")];
        Ok(Opened::from_rust(any(), any(), |_| Ok(Box::new(Nothing))))
    }
}

struct Case {
    name: String,
    graph: Graph,
    machine: Machine,
    batch: u64,
}

fn cases() -> Vec<Case> {
    let vocoder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/vocoder/app.toml");
    let mut vocoder = work::read::path(vocoder).expect("the vocoder ships with the tree");
    for task in &mut vocoder.tasks {
        task.kernel = None;
        task.cost_ns = [("*".to_string(), VOCODER_TASK_NS)].into();
    }
    let mut numbers = Vec::new();
    for e in 0..vocoder.edges.len() {
        // Ports by number: no kernel gives them names.
        let (from, to) = (&vocoder.edges[e].from, &vocoder.edges[e].to);
        let number = |of: &dyn Fn(&work::Edge) -> Port, port: &Port| {
            let same_task = vocoder.edges.iter().map(of).filter(|p| p.task == port.task);
            let names: std::collections::BTreeSet<String> = same_task.map(|p| p.name).collect();
            names.iter().position(|name| *name == port.name)
        };
        let from = number(&|e| e.from.clone(), from);
        let to = number(&|e| e.to.clone(), to);
        numbers.push((from.expect("it is one of them"), to.expect("it is one of them")));
    }
    for (edge, (from, to)) in vocoder.edges.iter_mut().zip(numbers) {
        (edge.from.name, edge.to.name) = (from.to_string(), to.to_string());
    }
    let mut graphs = vec![("vocoder".to_string(), vocoder)];
    for (tasks, seed, ccr) in [(60, 1, 0.001), (60, 1, 0.02), (60, 1, 0.1), (30, 5, 0.004), (100, 3, 0.05)] {
        let graph = generate(&DaggenOptions { tasks, seed, ccr, ..DaggenOptions::default() });
        graphs.push((format!("daggen {tasks}, CCR {ccr}"), graph.expect("options in range")));
    }
    let mut cases = Vec::new();
    for (name, graph) in graphs {
        for on in ["qs22:ppe=1", "cell"] {
            for batch in [1, 4, 16] {
                let machine = machine::load(on).expect("a preset");
                let name = format!("{name} | {on} | {batch}");
                cases.push(Case { name, graph: graph.clone(), machine, batch });
            }
        }
    }
    cases
}

fn planned(case: &Case) -> Option<Plan> {
    let options =
        PlanOptions { moves: Some(MOVES), gap: 0.0, batch: Some(case.batch), ..PlanOptions::default() };
    let plan = plan::plan(&case.machine, &case.graph, &options, &|| 0.0, &mut |_| true).ok()?;
    plan.feasible.then_some(plan)
}

fn outcome(case: &Case, plan: &Plan, of: Parameters, costs: StreamCosts) -> Result<RunOutcome, String> {
    let mut options = RunOptions { instances: Some(INSTANCES), ..RunOptions::default() };
    let (graph, machine) = (&case.graph, &case.machine);
    streams::run_on(of, graph, machine, plan, &Nothing, costs, &mut options).map_err(|why| why.to_string())
}

/// Simulated ns per instance in the steady state.
fn period_ns(case: &Case, plan: &Plan, of: Parameters, costs: StreamCosts) -> Result<f64, String> {
    outcome(case, plan, of, costs).map(|o| 1e9 / o.steady_per_s.unwrap_or(o.throughput_per_s))
}

fn time(cases: impl Iterator<Item = Case>) {
    for case in cases {
        let Some(plan) = planned(&case) else { continue };
        println!("{}: predicted {:.0} ns, by {}", case.name, plan.period_ns, plan.bottleneck);
        let Ok(outcome) = outcome(&case, &plan, parameters(&case), StreamCosts::default()) else { continue };
        for element in &outcome.elements {
            let part = |(what, ns): (&String, &u64)| format!("{what} {:.0}", *ns as f64 / INSTANCES as f64);
            let parts: Vec<String> = element.spent_ns.iter().filter(|p| *p.1 > 0).map(part).collect();
            let wait = element.waits.first().map_or_else(String::new, |w| {
                let edge = w.edge.clone().unwrap_or_default();
                format!("; most for {:?} of {edge}: {:.0}", w.what, w.total_ns as f64 / INSTANCES as f64)
            });
            println!("  {}, ns an instance: {}{wait}", element.name, parts.join(", "));
        }
    }
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let what = words.first().cloned().unwrap_or_default();
    let what = if ["time", "effects", "speed", "paper"].contains(&what.as_str()) {
        words.remove(0)
    } else {
        String::new()
    };
    if what == "paper" {
        return paper(&words);
    }
    let cases = cases().into_iter().filter(|c| words.iter().all(|w| c.name.contains(w.as_str())));
    match what.as_str() {
        "effects" => effects(cases),
        "speed" => speed(cases),
        "time" => time(cases),
        _ => shares(cases),
    }
}

fn parameters(case: &Case) -> Parameters {
    Parameters::named(&case.machine.name).expect("it is simulated")
}

fn shares(cases: impl Iterator<Item = Case>) {
    println!("| graph | machine | batch | predicted ns | simulated ns | share |\n|---|---|---|---|---|---|");
    for case in cases {
        let Some(plan) = planned(&case) else {
            println!("| {} | no plan fits | | |", case.name);
            continue;
        };
        match period_ns(&case, &plan, parameters(&case), StreamCosts::default()) {
            Ok(ns) => {
                println!("| {} | {:.0} | {ns:.0} | {:.3} |", case.name, plan.period_ns, plan.period_ns / ns);
            }
            Err(why) => println!("| {} | {:.0} | {why} | |", case.name, plan.period_ns),
        }
    }
}

fn speed(cases: impl Iterator<Item = Case>) {
    println!("| graph | machine | batch | s per 1,000 instances |\n|---|---|---|---|");
    for case in cases {
        let Some(plan) = planned(&case) else { continue };
        let start_ns = host::now_ns();
        if period_ns(&case, &plan, parameters(&case), StreamCosts::default()).is_ok() {
            let s = (host::now_ns() - start_ns) as f64 * 1e-9;
            println!("| {} | {:.2} |", case.name, s * 1_000.0 / INSTANCES as f64);
        }
    }
}

/// The machine and the runtime with something taken away: what it is, and both.
fn variants(p: &Parameters) -> Vec<(&'static str, Parameters, StreamCosts)> {
    let (own, free) = (StreamCosts::default(), StreamCosts::free());
    let mut wide_link = p.clone();
    (wide_link.link.line_ps, wide_link.link.shared_line_ps) = ([0, 0], 0);
    let mut no_uncached = p.clone();
    no_uncached.ppe.uncached = no_uncached.ppe.cached;
    let mut no_channels = p.clone();
    (no_channels.spu.dma, no_channels.spu.tag_status, no_channels.spu.channel) = (0, 0, 0);
    let mut no_latency = p.clone();
    (no_latency.bus.coherence, no_latency.bus.source, no_latency.bus.sink) = (1, 0, 0);
    (no_latency.mfc.to_bus, no_latency.link.command, no_latency.link.data) = (0, [0, 0], 0);
    let mut nothing = no_latency.clone();
    (nothing.link, nothing.spu, nothing.ppe) =
        (no_latency.link.clone(), no_channels.spu.clone(), no_uncached.ppe.clone());
    (nothing.link.line_ps, nothing.link.shared_line_ps) = ([0, 0], 0);
    vec![
        ("the runtime's own code", p.clone(), free),
        ("what a line takes of the link between chips", wide_link, own),
        ("loads of PPEs beyond the cache", no_uncached, own),
        ("channel accesses of SPEs", no_channels, own),
        ("latencies of bus and link", no_latency, own),
        ("all of these", nothing, free),
        ("slots beyond those of the plan", p.clone(), StreamCosts { spare_slots: false, ..own }),
    ]
}

fn effects(cases: impl Iterator<Item = Case>) {
    println!("| graph | machine | batch | as it is | without | share |\n|---|---|---|---|---|---|");
    for case in cases {
        let Some(plan) = planned(&case) else { continue };
        let p = parameters(&case);
        let share = |parameters: Parameters, costs: StreamCosts| {
            period_ns(&case, &plan, parameters, costs).map_or(f64::NAN, |ns| plan.period_ns / ns)
        };
        let whole = share(p.clone(), StreamCosts::default());
        for (what, parameters, costs) in variants(&p) {
            println!("| {} | {whole:.3} | {what} | {:.3} |", case.name, share(parameters, costs));
        }
    }
}

/// The scenarios whose names have one of the words, by every method, as in `benches/scheduler-paper/sixteen.toml`.
fn paper(words: &[String]) {
    let machine = machine::load("qs22:ppe=1").expect("a preset");
    println!("graph,method,without,predicted_per_s,highest_per_s,steady_after");
    for graph in paper_set().into_iter().filter(|g| words.iter().any(|w| g.name.contains(w.as_str()))) {
        for method in [Method::Greedy, Method::Delegate, Method::Cluster, Method::Auto] {
            let options = PlanOptions {
                method,
                moves: Some(PAPER_MOVES),
                gap: PAPER_GAP,
                batch: Some(1),
                buffering: Some(Buffering::Duplicated),
                ..PlanOptions::default()
            };
            let Ok(plan) = plan::plan(&machine, &graph, &options, &|| 0.0, &mut |_| true) else { continue };
            let case =
                Case { name: graph.name.clone(), graph: graph.clone(), machine: machine.clone(), batch: 1 };
            let p = parameters(&case);
            let mut half_link = p.clone();
            half_link.link.line_ps = half_link.link.line_ps.map(|ps| ps / 2);
            half_link.link.shared_line_ps /= 2;
            let mut each = vec![("nothing", p.clone(), StreamCosts::default())];
            each.push((
                "half of what a line takes of the link between chips",
                half_link,
                StreamCosts::default(),
            ));
            each.extend(variants(&p).into_iter().filter(|v| PAPER_VARIANTS.contains(&v.0)));
            for (what, parameters, costs) in each {
                let mut options = RunOptions { until_steady: true, ..RunOptions::default() };
                let ran = streams::run_on(parameters, &graph, &machine, &plan, &Nothing, costs, &mut options);
                let Some(steady) = ran.ok().and_then(|outcome| outcome.until_steady) else { continue };
                println!(
                    "{},{method:?},{what},{:.7},{:.7},{}",
                    graph.name, plan.throughput_per_s, steady.highest_per_s, steady.instances
                );
            }
        }
    }
}
