//! `run` on a simulated Cell.

use crate::{Arrays, Error, ProfileOptions, VerbProgress, profile};
use ground::Located;
use machine::{Element, Machine};
use run::{Batch, Failed, Fired, Kernel, Kernels, Opened, PortSpec, RunOptions, RunOutcome};
use streams::{StreamCosts, StreamError};
use work::{Graph, Plan, Task, TaskId};

impl From<StreamError> for Error {
    fn from(error: StreamError) -> Error {
        match error {
            StreamError::Stopped => Error::Stopped,
            StreamError::Run(error) => Error::Run(error),
            error => Error::Failed(error.to_string()),
        }
    }
}

/// Refuses a machine that is not the simulated one of its name, and a plan for another machine.
pub(crate) fn check(machine: &Machine, plan: Option<&Plan>) -> Result<(), Located> {
    let name = &machine.name;
    let real = machine::load(name)?;
    let of = |e: &Element| (e.kind.clone(), e.place.chip, e.memory.clone());
    let differs = |e: &&Element| real.elements.iter().find(|r| r.name == e.name).map(of) != Some(of(e));
    if let Some(element) = machine.elements.iter().find(differs) {
        let known = real.elements.iter().any(|r| r.name == element.name);
        let what = if known { "another kind, chip or memory there" } else { "none there" };
        return Err(Located::new(format!(
            "the machine calls itself {name}, and is not the {name} that is simulated: its {} has {what}. A run on a \
             simulated Cell takes the elements of `cellweave machine show {name}`, all or some of them",
            element.name
        )));
    }
    match plan.filter(|plan| plan.machine != *name) {
        Some(plan) => Err(Located::new(format!(
            "the plan is for the machine {}, and this run is on {name}: plan again with --on {name}",
            plan.machine
        ))
        .key("plan")),
        None => Ok(()),
    }
}

/// Whether a task has no cost on any kind of element of `machine`.
fn lacks(machine: &Machine, task: &Task) -> bool {
    machine.elements.iter().all(|e| task.cost_on(&e.kind).is_none())
}

/// Whether every task without costs on `machine` has one on a core of this computer, or a kernel that can be measured.
pub(crate) fn can_stand_in(graph: &Graph, machine: &Machine) -> bool {
    graph.tasks.iter().all(|t| !lacks(machine, t) || t.kernel.is_some() || t.cost_on("core").is_some())
}

/// The application with a cost of every task on some kind of `machine`, and a sentence where costs of this computer's
/// cores stand for those of others: given ones, or such as are measured now.
pub(crate) fn costed(
    graph: &Graph,
    machine: &Machine,
    kernels: &dyn Kernels,
    progress: &mut dyn FnMut(&VerbProgress) -> bool,
) -> Result<(Graph, Option<String>), Error> {
    let lacking = graph.tasks.iter().filter(|t| lacks(machine, t)).count();
    if lacking == 0 {
        return Ok((graph.clone(), None));
    }
    let here = |graph: &Graph| graph.tasks.iter().all(|t| !lacks(machine, t) || t.cost_on("core").is_some());
    let mut costed = graph.clone();
    let unknown = |t: &&Task| lacks(machine, t) && t.cost_on("core").is_none() && t.kernel.is_none();
    if let Some(task) = graph.tasks.iter().find(unknown) {
        let mut kinds: Vec<&str> = machine.elements.iter().map(|e| e.kind.as_str()).collect();
        kinds.dedup();
        let why = format!(
            "task '{}' has no cost on any kind of element of {} ({}), and no kernel whose cost could be measured here",
            task.name,
            machine.name,
            kinds.join(", ")
        );
        return Err(Located::new(why).key("cost_ns").into());
    }
    if !here(graph) {
        let host = machine::load("host").map_err(|e| Error::Failed(e.to_string()))?;
        let mut tell = |what: &str, share: f64| progress(&VerbProgress::Profiling { what, share });
        costed = profile(graph, &host, kernels, &ProfileOptions::default(), &mut tell)?.graph;
    }
    for task in costed.tasks.iter_mut().filter(|t| lacks(machine, t)) {
        if let Some(ns) = task.cost_on("core") {
            task.cost_ns.extend(machine.elements.iter().map(|e| (e.kind.clone(), ns)));
        }
    }
    // What was measured here stays measured: a plan says when.
    if let Some(profile) = &mut costed.profile
        && let Some(core) = profile.costs.get("core").cloned()
    {
        for element in &machine.elements {
            profile.costs.entry(element.kind.clone()).or_insert_with(|| core.clone());
        }
    }
    let said = format!(
        "{lacking} of {} tasks have no costs on a Cell: what they cost on a core of this computer stands for that",
        graph.tasks.len()
    );
    Ok((costed, Some(said)))
}

/// Runs a planned application whose tasks have costs. Tasks without a kernel take their time and send zeros.
pub(crate) fn run(
    graph: &Graph,
    machine: &Machine,
    plan: &Plan,
    kernels: &dyn Kernels,
    arrays: &Arrays,
    mut options: RunOptions<'_>,
) -> Result<RunOutcome, Error> {
    // Arrays end.
    let ends = arrays.planned(graph);
    let has_inputs = |t: TaskId| graph.edges.iter().any(|e| e.to.task == t);
    let endless = ends.tasks.iter().enumerate().find(|(t, task)| task.kernel.is_none() && !has_inputs(*t));
    if let (None, false, Some((_, task))) = (options.instances, options.until_steady, endless) {
        let why =
            format!("the source '{}' has no kernel and never ends: say how many instances to run", task.name);
        return Err(Located::new(why).key("instances").into());
    }
    let graph = arrays.running(graph);
    for task in &graph.tasks {
        let of = |e: &&Element| plan.mapping.get(&task.name) == Some(&e.name);
        if let Some(element) = machine.elements.iter().find(of).filter(|e| task.cost_on(&e.kind).is_none()) {
            let known: Vec<&str> = task.cost_ns.keys().map(String::as_str).collect();
            let why = format!(
                "the plan has task '{}' on {}, and it has no cost on a {}: it has costs on {}",
                task.name,
                element.name,
                element.kind,
                known.join(", ")
            );
            return Err(Located::new(why).key("cost_ns").into());
        }
    }
    let kernels = arrays.over(kernels);
    let kernels = OrNothing(&kernels);
    Ok(streams::run(&graph, machine, plan, &kernels, StreamCosts::default(), &mut options)?)
}

/// Kernels, and for tasks without one a kernel that does nothing.
struct OrNothing<'k>(&'k dyn Kernels);

impl Kernels for OrNothing<'_> {
    fn open(&self, graph: &Graph, task: TaskId) -> Result<Opened, String> {
        let opened = self.0.open(graph, task);
        // Arrays give kernels to tasks that name none.
        if opened.is_ok() || graph.tasks[task].kernel.is_some() {
            return opened;
        }
        let any = || vec![PortSpec::any_number("port")];
        Ok(Opened::from_rust(any(), any(), |_| Ok(Box::new(Nothing))))
    }
}

struct Nothing;

impl Kernel for Nothing {
    fn fire(&mut self, _: &mut Batch) -> Result<Fired, Failed> {
        Ok(Fired::All)
    }
}
