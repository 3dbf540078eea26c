//! The verbs, one after another, on this computer.

use cellweave::machine::Machine;
use cellweave::run::{RunOptions, Standard};
use cellweave::work::{Graph, read};
use cellweave::{Arrays, ProfileOptions, profile};

fn graph(text: &str) -> Graph {
    read::text(read::Format::Toml, text, "app.toml").unwrap()
}

fn host() -> Machine {
    cellweave::machine::load("host").unwrap()
}

const UNEVEN: &str = r#"
    name = "uneven"
    task = [
        { name = "a", kernel = "cellweave:count" },
        { name = "light", kernel = "cellweave:spin", params = { ns = 500 } },
        { name = "heavy", kernel = "cellweave:spin", params = { ns = 4000 } },
        { name = "z", kernel = "cellweave:discard" },
    ]
    edge = [
        { from = "a", to = "light", bytes = 64 },
        { from = "light", to = "heavy", bytes = 64 },
        { from = "heavy", to = "z", bytes = 64 },
    ]
"#;

#[test]
fn a_profile_finds_the_heavy_task_and_keeps_costs_that_were_given() {
    let mut graph = graph(UNEVEN);
    let a = graph.task("a").unwrap();
    graph.tasks[a].cost_ns.insert("*".into(), 77.0);
    let options = ProfileOptions { instances: Some(4000), ..ProfileOptions::default() };
    let mut shares = Vec::new();
    let done = profile(&graph, &host(), &Standard::default(), &options, &mut |_, share| {
        shares.push(share);
        true
    })
    .unwrap();
    let cost = |name: &str| done.tasks.iter().find(|t| t.task == name).map(|t| t.cost_ns);
    assert_eq!(cost("a"), None);
    assert_eq!(done.graph.tasks[a].cost_on("core"), Some(77.0));
    assert!(cost("heavy") > cost("light"), "{:?}", done.tasks);
    assert!(cost("light") > cost("z"), "{:?}", done.tasks);
    assert!(shares.iter().all(|s| (0.0..=1.0).contains(s)) && shares.is_sorted());
    assert!(done.graph.profile.is_some());
}

#[test]
fn a_plan_profiles_first_where_costs_are_missing_and_then_runs() {
    let (machine, kernels) = (host(), Standard::default());
    let (graph, plan) =
        cellweave::plan(&graph(UNEVEN), &machine, &kernels, &Default::default(), None, &mut |_| true)
            .unwrap();
    assert!(graph.tasks.iter().all(|t| t.cost_on("core").is_some()));
    assert!(plan.bound_ns <= plan.period_ns);
    let options = RunOptions { instances: Some(2000), ..RunOptions::default() };
    let outcome =
        cellweave::run(&graph, &machine, Some(&plan), &kernels, &Arrays::default(), options, &mut |_| true)
            .unwrap();
    assert_eq!(outcome.instances, 2000);
    assert_eq!(outcome.planned_per_s, plan.throughput_per_s);
    assert!(outcome.predicted_with.starts_with("the speeds measured just before"), "{outcome:?}");
}

#[test]
fn a_task_without_a_kernel_cannot_be_profiled() {
    let graph = graph("name = 'x'\ntask = [{ name = 'lonely' }]");
    let why =
        profile(&graph, &host(), &Standard::default(), &Default::default(), &mut |_, _| true).unwrap_err();
    assert!(why.to_string().contains("'lonely' has no kernel"), "{why}");
}

#[test]
fn a_machine_that_is_not_here_cannot_be_profiled() {
    let machine = cellweave::machine::load("ps3").unwrap();
    let why = profile(&graph(UNEVEN), &machine, &Standard::default(), &Default::default(), &mut |_, _| true);
    assert!(why.unwrap_err().to_string().contains("no element with a cpu of this computer"));
}

#[test]
fn a_profile_says_when_it_could_not_put_its_thread_on_its_cpu() {
    let mut machine = host();
    machine.elements.truncate(1);
    // As good as a kernel that refuses: there is no such cpu.
    machine.elements[0].os_cpu = Some(4000);
    let options = ProfileOptions { instances: Some(500), ..ProfileOptions::default() };
    let done = profile(&graph(UNEVEN), &machine, &Standard::default(), &options, &mut |_, _| true).unwrap();
    assert_eq!(done.tasks.len(), 4);
    assert!(done.not_pinned.iter().any(|why| why.contains("cpu 4000")), "{:?}", done.not_pinned);
}

#[test]
fn profiling_writes_nothing_where_the_application_would() {
    let path = std::env::temp_dir().join(format!("cellweave-untouched-{}", std::process::id()));
    let text = format!(
        "name = 'w'\n\
         task = [{{ name = 'a', kernel = 'cellweave:count' }},\n\
         {{ name = 'z', kernel = 'cellweave:write', params = {{ path = {path:?} }} }}]\n\
         edge = [{{ from = 'a', to = 'z', bytes = 8 }}]"
    );
    let options = ProfileOptions { instances: Some(500), ..ProfileOptions::default() };
    profile(&graph(&text), &host(), &Standard::default(), &options, &mut |_, _| true).unwrap();
    assert!(!path.exists());
}

#[test]
fn a_measurement_stops_when_its_progress_says_so() {
    let endless = ProfileOptions { instances: Some(1 << 40), ..ProfileOptions::default() };
    let mut calls = 0;
    let mut a_few = |_: &str, _: f64| {
        calls += 1;
        calls < 12
    };
    let stopped = profile(&graph(UNEVEN), &host(), &Standard::default(), &endless, &mut a_few);
    assert_eq!(stopped.unwrap_err(), cellweave::Error::Stopped);
}
