//! What the runtime costs: ns per firing of a stage, for chains and a diamond, on one core and on two.
//!
//! `cargo run --release -p cellweave-run --example overhead [SECONDS_PER_CASE] [FILTER]`
//!
//! A stage is a task: a chain of S has a source, S - 2 copies and a sink. The source writes every byte of its
//! instances, the sink copies them away. Medians of 5 runs each.

use run::testing::{cores, edge, planned, task};
use run::{Batch, Failed, Fired, Kernel, Kernels, Opened, PortSpec, RunOptions, Standard, run};
use work::{Edge, Graph, Task, TaskId};

/// Writes a pattern; copies away; both over whole batches.
struct Ends {
    block: Vec<u8>,
}

impl Kernel for Ends {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        if batch.outputs() > 0 {
            let mut output = batch.output::<u8>(0)?;
            let output = output.together();
            self.block.resize(output.len(), 7);
            output.copy_from_slice(&self.block);
        }
        for i in 0..batch.inputs() {
            let input = batch.input::<u8>(i)?.together();
            self.block.resize(input.len(), 7);
            self.block.copy_from_slice(input);
        }
        Ok(Fired::All)
    }
}

struct Bench;

impl Kernels for Bench {
    fn open(&self, graph: &Graph, t: TaskId) -> Result<Opened, String> {
        let make = |info: &run::TaskInfo| {
            let bytes = info.inputs.iter().chain(&info.outputs).map(|c| c.bytes).max().unwrap_or(0);
            Ok(Box::new(Ends { block: Vec::with_capacity(bytes as usize * 4096) }) as Box<dyn Kernel>)
        };
        match graph.tasks[t].name.as_str() {
            "source" => Ok(Opened::from_rust(vec![], vec![PortSpec::any("out")], make)),
            "sink" => Ok(Opened::from_rust(vec![PortSpec::any_number("in")], vec![], make)),
            _ => Standard::default().open(graph, t),
        }
    }
}

fn chain(stages: usize, bytes: u64, kernel: &str, ns: f64) -> Graph {
    let stage = |i: usize| match i {
        0 => task("source", ""),
        _ if i + 1 == stages => task("sink", ""),
        _ => task(&format!("t{i}"), kernel),
    };
    let mut tasks: Vec<Task> = (0..stages).map(stage).collect();
    if ns > 0.0 {
        for t in &mut tasks {
            t.kernel = Some(kernel.into());
            t.name = format!("w{}", t.name);
            t.params.insert("ns".into(), work::Value::Number(ns));
        }
    }
    let edges: Vec<Edge> = (1..stages).map(|i| edge(i - 1, "0", i, "0", bytes)).collect();
    Graph { name: "chain".into(), tasks, edges, ..Graph::default() }
}

fn diamond(bytes: u64) -> Graph {
    let mut tasks = vec![task("source", "")];
    let mut edges = vec![];
    for i in 1..=4 {
        tasks.push(task(&format!("t{i}"), "cellweave:copy"));
        edges.push(edge(0, "out", i, "in", bytes));
        edges.push(edge(i, "out", 5, &format!("in{}", i - 1), bytes));
    }
    tasks.push(task("sink", ""));
    Graph { name: "diamond".into(), tasks, edges, ..Graph::default() }
}

/// Median ns per firing of a stage; with a trace, if asked to.
fn measure(name: &str, graph: &Graph, mapping: &[usize], batch: u64, seconds: f64, traced: bool) -> f64 {
    let trace = traced.then(|| std::env::temp_dir().join(format!("overhead-{}.json", std::process::id())));
    let machine = cores(2);
    let plan = planned(graph, &machine, mapping, batch).expect("a plan");
    let mut per_stage = Vec::new();
    let mut instances = 20_000u64;
    for round in 0..6 {
        let options = RunOptions {
            instances: Some(instances),
            trace: trace.clone(),
            trace_events: 1 << 22,
            ..RunOptions::default()
        };
        let outcome = run(graph, &machine, &plan, &Bench, options).expect("a run");
        let ns = 1e9 / outcome.rate_per_s() / graph.tasks.len() as f64;
        if round == 0 {
            // The first one only tells how long the others must be.
            instances = ((instances as f64 * seconds / 5.0 / outcome.elapsed_s.max(1e-6)) as u64).max(20_000);
        } else {
            per_stage.push(ns);
        }
    }
    per_stage.sort_by(f64::total_cmp);
    println!(
        "{name:32} batch {batch:4}: {:8.2} ns per firing of a stage (min {:.2})",
        per_stage[2], per_stage[0]
    );
    if let Some(path) = trace {
        let _ = std::fs::remove_file(path);
    }
    per_stage[2]
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let filter = std::env::args().nth(2).unwrap_or_default();
    let case = |name: &str, graph: Graph, mapping: Vec<usize>, batch: u64| {
        if name.contains(&filter) {
            measure(name, &graph, &mapping, batch, seconds, false);
        }
    };
    for stages in [2, 4, 8] {
        let halves: Vec<usize> = (0..stages).map(|i| i * 2 / stages).collect();
        for batch in [16, 64, 256] {
            let graph = || chain(stages, 64, "cellweave:copy", 0.0);
            case(&format!("null 64 B, S={stages}, 1 core"), graph(), vec![0; stages], batch);
            case(&format!("null 64 B, S={stages}, 2 cores"), graph(), halves.clone(), batch);
        }
        for batch in [1, 16] {
            let graph = || chain(stages, 64, "cellweave:spin", 1000.0);
            case(&format!("1 us, S={stages}, 1 core"), graph(), vec![0; stages], batch);
            case(&format!("1 us, S={stages}, 2 cores"), graph(), halves.clone(), batch);
        }
        for batch in [1, 4] {
            let graph = || chain(stages, 16384, "cellweave:copy", 0.0);
            case(&format!("copy 16 kB, S={stages}, 1 core"), graph(), vec![0; stages], batch);
            case(&format!("copy 16 kB, S={stages}, 2 cores"), graph(), halves.clone(), batch);
        }
    }
    for batch in [16, 64, 256] {
        case("diamond 1-4-1, 1 core", diamond(64), vec![0; 6], batch);
        case("diamond 1-4-1, 2 cores", diamond(64), vec![0, 0, 0, 1, 1, 1], batch);
    }
    if "trace".contains(&filter) {
        for batch in [1, 16] {
            let graph = chain(4, 64, "cellweave:spin", 1000.0);
            // In turns, so that a slow moment of the machine hits both.
            let mut ratios: Vec<f64> = (0..5)
                .map(|_| {
                    let plain = measure("1 us, S=4, 1 core", &graph, &[0; 4], batch, seconds, false);
                    measure("1 us, S=4, 1 core, traced", &graph, &[0; 4], batch, seconds, true) / plain
                })
                .collect();
            ratios.sort_by(f64::total_cmp);
            let (cost, clock_ns) = (100.0 * (ratios[2] - 1.0), host::overhead_ns());
            println!(
                "tracing costs {cost:.1} % with batch {batch}; reading the clock takes {clock_ns:.1} ns"
            );
        }
    }
}
