//! Planning that profiles first where costs are missing.

use crate::{Error, ProfileOptions, profile};
use machine::Machine;
use run::Kernels;
use work::{Graph, Plan};

/// How far planning is.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanProgress {
    /// Costs are being measured: what, and the part that is done.
    Profiling(String, f64),
    /// A mapping is being searched for.
    Searching(plan::Progress),
}

/// Plans `graph` for `machine`. Where a task with a kernel has no cost on a kind of element that is a cpu of this computer,
/// it is measured first. Gives back the application with its costs, and the plan.
///
/// `progress` is called now and then; when it returns false, the search ends with the best plan so far, and a measurement
/// ends with [`Error::Stopped`].
///
/// # Errors
/// As [`profile()`] and [`plan::plan`].
pub fn plan(
    graph: &Graph,
    machine: &Machine,
    kernels: &dyn Kernels,
    options: &plan::Options,
    progress: &mut dyn FnMut(&PlanProgress) -> bool,
) -> Result<(Graph, Plan), Error> {
    let graph = if needs_profile(graph, machine) {
        let mut tell = |what: &str, part: f64| progress(&PlanProgress::Profiling(what.into(), part));
        profile(graph, machine, kernels, &ProfileOptions::default(), &mut tell)?.graph
    } else {
        graph.clone()
    };
    let start = host::now_ns();
    let clock = || (host::now_ns() - start) as f64 * 1e-9;
    let plan = plan::plan(machine, &graph, options, &clock, &mut |p| progress(&PlanProgress::Searching(*p)))?;
    Ok((graph, plan))
}

/// Whether a task that could be measured here has no cost on some kind of element that is a cpu of this computer.
fn needs_profile(graph: &Graph, machine: &Machine) -> bool {
    let kinds: Vec<&str> =
        machine.elements.iter().filter(|e| e.os_cpu.is_some()).map(|e| e.kind.as_str()).collect();
    let measurable = graph.tasks.iter().all(|t| t.kernel.is_some());
    measurable && graph.tasks.iter().any(|t| kinds.iter().any(|k| t.cost_on(k).is_none()))
}
