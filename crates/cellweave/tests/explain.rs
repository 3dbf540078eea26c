//! Each cause of a difference between predicted and achieved is made, large, and has to be named.

use cellweave::machine::Machine;
use cellweave::plan::PlanOptions;
use cellweave::run::{
    Batch, Difference, Failed, Fired, Kernel, Kernels, Opened, PortSpec, RunOptions, RunOutcome, Standard,
    TaskInfo,
};
use cellweave::work::{Graph, Plan, TaskId, Value, read};
use cellweave::{Arrays, ProfileOptions, host};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// One at a time: each needs the cpus to itself.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kernels of these tests: `change` computes `factor` times more from instance `from` on, `burst` sleeps in every other
/// run of `of` instances, `table` reads at random places of a small table, from instance `from` on of a large one.
struct Causes;

struct Changing {
    from: u64,
    factor: u64,
}

struct Bursts {
    of: u64,
    odd: u64,
}

struct Table {
    from: u64,
    table: Vec<u8>,
    at: u64,
}

fn parameter(info: &TaskInfo, name: &str) -> Result<u64, String> {
    match info.params.get(name) {
        Some(Value::Number(n)) => Ok(*n as u64),
        _ => Err(format!("it needs {name}")),
    }
}

fn pass(batch: &mut Batch) -> Result<Fired, Failed> {
    if batch.inputs() > 0 && batch.outputs() > 0 {
        batch.output::<u8>(0)?.together().copy_from_slice(batch.input::<u8>(0)?.together());
    }
    Ok(Fired::All)
}

fn compute(rounds: u64) {
    let mut x = std::hint::black_box(1u64);
    for _ in 0..rounds {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    }
    std::hint::black_box(x);
}

impl Kernel for Changing {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        for i in batch.first()..batch.first() + batch.firings() {
            compute(if i < self.from { 300 } else { 300 * self.factor });
        }
        pass(batch)
    }
}

impl Kernel for Bursts {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        for i in batch.first()..batch.first() + batch.firings() {
            if i / self.of % 2 == self.odd {
                host::clock::sleep_ns(2_000_000);
            }
        }
        pass(batch)
    }
}

impl Kernel for Table {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        const SMALL: usize = 8 << 10;
        const LARGE: usize = 256 << 20;
        for i in batch.first()..batch.first() + batch.firings() {
            let size = if i < self.from { SMALL } else { LARGE };
            if self.table.len() < size {
                self.table = vec![0; size];
            }
            for _ in 0..64 {
                self.at = self.at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let byte = &mut self.table[(self.at >> 33) as usize % size];
                *byte = byte.wrapping_add(1);
            }
        }
        pass(batch)
    }
}

impl Kernels for Causes {
    fn open(&self, graph: &Graph, task: TaskId) -> Result<Opened, String> {
        let make: fn(&TaskInfo) -> Result<Box<dyn Kernel>, String> = match graph.tasks[task].kernel.as_deref()
        {
            Some("test:change") => |info| {
                let (from, factor) = (parameter(info, "from")?, parameter(info, "factor")?);
                Ok(Box::new(Changing { from, factor }))
            },
            Some("test:burst") => {
                |info| Ok(Box::new(Bursts { of: parameter(info, "of")?, odd: parameter(info, "odd")? }))
            }
            Some("test:table") => {
                |info| Ok(Box::new(Table { from: parameter(info, "from")?, table: Vec::new(), at: 1 }))
            }
            _ => return Standard::default().open(graph, task),
        };
        let any = |name: &str| vec![PortSpec::any_number(name)];
        Ok(Opened::from_rust(any("in"), any("out"), make))
    }
}

/// A chain of `(name, kernel, params)` with 64 bytes on every edge.
fn chain(tasks: &[(&str, &str, &str)]) -> Graph {
    let words: Vec<String> = tasks
        .iter()
        .map(|(name, kernel, params)| {
            format!("{{ name = '{name}', kernel = '{kernel}', params = {{ {params} }} }}")
        })
        .collect();
    let edges: Vec<String> = tasks
        .windows(2)
        .map(|pair| format!("{{ from = '{}', to = '{}', bytes = 64 }}", pair[0].0, pair[1].0))
        .collect();
    let text = format!("name = 'causes'\ntask = [{}]\nedge = [{}]", words.join(", "), edges.join(", "));
    read::text(read::Format::Toml, &text, "causes.toml").unwrap()
}

fn host_machine() -> Machine {
    cellweave::machine::load("host").unwrap()
}

/// The costs of tasks by their names, measured once for all tests.
fn measured() -> &'static Graph {
    static ONCE: OnceLock<Graph> = OnceLock::new();
    ONCE.get_or_init(|| {
        let all = chain(&[SOURCE, FIRST, SECOND, TURNING, READER, SINK]);
        let options = ProfileOptions { instances: Some(2_000), ..ProfileOptions::default() };
        cellweave::profile(&all, &host_machine(), &Causes, &options, &mut |_, _| true).unwrap().graph
    })
}

/// `graph` with the measured costs of its tasks, as if it had been profiled itself.
fn profiled(mut graph: Graph) -> Graph {
    let measured = measured();
    for task in &mut graph.tasks {
        task.cost_ns = measured.tasks[measured.task(&task.name).unwrap()].cost_ns.clone();
    }
    let mut profile = measured.profile.clone().unwrap();
    for (kind, total) in &mut profile.totals_ns {
        *total = graph.tasks.iter().filter_map(|t| t.cost_on(kind)).sum();
    }
    graph.profile = Some(profile);
    graph
}

/// Everything on the machine's first element, but for the tasks that `elsewhere` names, which are on the second.
fn planned(graph: &Graph, machine: &Machine, elsewhere: &[&str], batch: Option<u64>) -> Plan {
    let home = |t: &cellweave::work::Task| usize::from(elsewhere.contains(&t.name.as_str()));
    let mapping = graph.tasks.iter().map(home).collect();
    let options = PlanOptions { batch, ..PlanOptions::default() };
    cellweave::plan::evaluate(machine, graph, mapping, &options).unwrap()
}

fn run(graph: &Graph, machine: &Machine, plan: &Plan, instances: u64) -> RunOutcome {
    let options = RunOptions { instances: Some(instances), ..RunOptions::default() };
    let arrays = Arrays::default();
    cellweave::run(graph, machine, Some(plan), &Causes, &arrays, options, &mut |_| true).unwrap()
}

fn found<'o>(outcome: &'o RunOutcome, kind: &str) -> &'o Difference {
    let said = || format!("{:#?}\n{}", outcome.differences, outcome.explanation);
    outcome.differences.iter().find(|d| d.kind == kind).unwrap_or_else(|| panic!("no {kind} in {}", said()))
}

/// Keeps a run that the book quotes, where runs are being recorded; see `src/explain/recorded.rs`.
fn record(name: &str, graph: &Graph, machine: &Machine, plan: &Plan, outcome: &RunOutcome) {
    if std::env::var_os("CELLWEAVE_RECORD").is_none() {
        return;
    }
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let result = serde_json::to_string_pretty(outcome).unwrap() + "\n";
    for (file, text) in [
        ("app.toml", cellweave::work::write::toml(graph)),
        ("machine.toml", cellweave::machine::file::to_text(machine).unwrap()),
        ("plan.json", plan.to_json().unwrap()),
        ("result.json", result),
    ] {
        std::fs::write(folder.join(file), text).unwrap();
    }
}

type Words = (&'static str, &'static str, &'static str);

const SOURCE: Words = ("source", "cellweave:count", "");
const FIRST: Words = ("first", "cellweave:spin", "ns = 1000");
const SECOND: Words = ("second", "cellweave:spin", "ns = 1000");
/// Changes after more instances than a profile sends.
const TURNING: Words = ("turning", "test:change", "from = 5000, factor = 40");
const READER: Words = ("reader", "test:table", "from = 5000");
const SINK: Words = ("sink", "cellweave:discard", "");

fn spins() -> Graph {
    profiled(chain(&[SOURCE, FIRST, SECOND, SINK]))
}

#[test]
fn other_programs_on_the_cpu_are_named() {
    let _alone = alone();
    let machine = host_machine();
    let graph = spins();
    let plan = planned(&graph, &machine, &[], None);
    let over = AtomicBool::new(false);
    let cpu = machine.elements[0].os_cpu.unwrap();
    let outcome = std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                let _ = host::pin::to_cpu(cpu);
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let outcome = run(&graph, &machine, &plan, 20_000);
        over.store(true, Ordering::Relaxed);
        outcome
    });
    let lost = found(&outcome, "lost cpu");
    assert_eq!((lost.subject.as_str(), lost), (machine.elements[0].name.as_str(), &outcome.differences[0]));
    assert!(lost.share > 1.0 && outcome.ratio < 0.5, "{:#?}", outcome.differences);
    assert!(outcome.explanation.starts_with("Other threads had the cpu of"), "{}", outcome.explanation);
    assert!(outcome.explanation.contains("With that the plan predicts"), "{}", outcome.explanation);
}

#[test]
fn a_kernel_that_is_slower_on_the_second_half_of_its_data_is_named() {
    let _alone = alone();
    let machine = host_machine();
    let graph = profiled(chain(&[SOURCE, FIRST, TURNING, SINK]));
    let plan = planned(&graph, &machine, &[], None);
    let outcome = run(&graph, &machine, &plan, 10_000);
    record("changing-task", &graph, &machine, &plan, &outcome);
    let task = found(&outcome, "task");
    assert_eq!(task.subject, "turning", "{:#?}", outcome.differences);
    assert!(task.why.contains("in the first half of the stream"), "{}", task.why);
    assert!(outcome.explanation.contains("turning"), "{}", outcome.explanation);
}

#[test]
fn a_ring_that_is_too_short_is_named() {
    let _alone = alone();
    let machine = cellweave::run::testing::cores(2);
    let mut graph = chain(&[
        SOURCE,
        ("early", "test:burst", "of = 16, odd = 0"),
        ("late", "test:burst", "of = 16, odd = 1"),
        SINK,
    ]);
    for task in &mut graph.tasks {
        let ns = if task.kernel.as_deref() == Some("test:burst") { 1_000_000.0 } else { 10.0 };
        task.cost_ns.insert("core".into(), ns);
    }
    let mut plan = planned(&graph, &machine, &["late", "sink"], Some(1));
    for edge in plan.edges.iter_mut().filter(|e| e.slots_out > 0) {
        (edge.slots_out, edge.slots_in) = (2, 1);
    }
    let outcome = run(&graph, &machine, &plan, 160);
    record("short-ring", &graph, &machine, &plan, &outcome);
    let ring = found(&outcome, "ring");
    assert!(ring.subject.starts_with("early.") && ring.why.contains("too short"), "{ring:?}");
    assert!(ring.share > 0.2 && outcome.ratio < 0.9, "{:#?}", outcome.differences);
    assert!(outcome.explanation.contains("too short"), "{}", outcome.explanation);
}

#[test]
fn costs_that_were_changed_by_hand_are_named() {
    let _alone = alone();
    let machine = host_machine();
    let mut graph = spins();
    let tasks = graph.tasks.iter_mut();
    tasks.flat_map(|t| t.cost_ns.values_mut()).for_each(|ns| *ns /= 8.0);
    let plan = planned(&graph, &machine, &[], None);
    let outcome = run(&graph, &machine, &plan, 10_000);
    let costs = found(&outcome, "costs");
    assert!(costs.share > 2.0 && costs.why.contains("changed since"), "{:#?}", outcome.differences);
    assert!(outcome.explanation.contains("changed since"), "{}", outcome.explanation);
    graph.profile = None;
    let by_hand = run(&graph, &machine, &plan, 5_000);
    assert!(found(&by_hand, "costs").why.contains("given by hand"), "{:#?}", by_hand.differences);
}

#[test]
fn a_kernel_whose_data_leave_the_cache_is_named() {
    let _alone = alone();
    let machine = host_machine();
    if machine.elements[0].memory.is_none() {
        return; // A computer that does not say how large its caches are.
    }
    let graph = profiled(chain(&[SOURCE, FIRST, READER, SINK]));
    let plan = planned(&graph, &machine, &[], None);
    let outcome = run(&graph, &machine, &plan, 60_000);
    record("left-the-cache", &graph, &machine, &plan, &outcome);
    let cache = found(&outcome, "cache");
    assert_eq!(cache.subject, "reader", "{:#?}", outcome.differences);
    assert!(cache.why.contains("left the cache") && outcome.grown_bytes > 32 << 20, "{cache:?}");
}

#[test]
fn every_difference_adds_up_and_every_used_element_has_its_speed() {
    let _alone = alone();
    let machine = host_machine();
    let graph = spins();
    let plan = planned(&graph, &machine, &[], None);
    let outcome = run(&graph, &machine, &plan, 10_000);
    let shares: f64 = outcome.differences.iter().map(|d| d.share).sum();
    // What is smaller than a hundredth of the period is not listed.
    assert!((shares - (1.0 / outcome.ratio - 1.0)).abs() < 0.08, "{shares} {outcome:#?}");
    assert!(outcome.explanation.is_empty() == (0.9..=1.1).contains(&outcome.ratio), "{outcome:#?}");
    let speed = &outcome.speeds[&machine.elements[0].name];
    let profiled = speed.profiled.as_ref().unwrap();
    for look in [profiled, &speed.before, &speed.after] {
        assert!(look.alone_ns.len() == 3 && look.together_ns.len() == 3, "{speed:?}");
    }
}
