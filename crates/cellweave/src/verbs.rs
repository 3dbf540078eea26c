//! The verbs that are made of others: a plan profiles first where costs are missing, and a run plans first where there
//! is no plan.

use crate::explain::{LOOKS, LOOKS_AGAIN, Look, computer, explain, foresee};
use crate::{Arrays, Error, ProfileOptions, profile, simulated};
use machine::{ElementId, Machine};
use plan::exact::Solver;
use plan::{Method, PlanOptions, PlanProgress};
use run::{Kernels, RunOptions, RunOutcome, RunProgress};
use std::sync::atomic::Ordering;
use work::{Graph, Plan};

/// How far a verb is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VerbProgress<'p> {
    /// Costs are being measured.
    Profiling {
        /// What is measured now.
        what: &'p str,
        /// The part that is done, 0 to 1.
        share: f64,
    },
    /// A mapping is being searched for.
    Planning(&'p PlanProgress),
    /// The application runs.
    Running(&'p RunProgress),
}

/// Plans `graph` for `machine`. Where a task with a kernel has no cost on a kind of element that is a cpu of this
/// computer, it is measured first; on a simulated Cell, what it costs on a cpu of this computer stands for that. Gives
/// back the application with its costs, and the plan.
///
/// `solver` is needed by [`Method::Exact`] only. `progress` is called now and then; when it returns false, the search
/// ends with the best plan so far, and a measurement ends with [`Error::Stopped`].
///
/// # Errors
/// As [`profile()`] and [`plan::plan`].
pub fn plan(
    graph: &Graph,
    machine: &Machine,
    kernels: &dyn Kernels,
    options: &PlanOptions,
    solver: Option<&mut dyn Solver>,
    progress: &mut dyn FnMut(&VerbProgress) -> bool,
) -> Result<(Graph, Plan), Error> {
    options.check()?;
    let mut stands_in = None;
    let graph = if needs_profile(graph, machine) {
        let mut tell = |what: &str, share: f64| progress(&VerbProgress::Profiling { what, share });
        profile(graph, machine, kernels, &ProfileOptions::default(), &mut tell)?.graph
    } else if streams::is_simulated(machine) && simulated::can_stand_in(graph, machine) {
        let costed;
        (costed, stands_in) = simulated::costed(graph, machine, kernels, progress)?;
        costed
    } else {
        graph.clone()
    };
    let start = host::now_ns();
    let clock = || (host::now_ns() - start) as f64 * 1e-9;
    let mut tell = |p: &PlanProgress| progress(&VerbProgress::Planning(p));
    let mut plan = match solver {
        Some(solver) if options.method == Method::Exact && options.searches(&graph) => {
            plan::exact::plan(machine, &graph, options, solver, &clock, &mut tell)?
        }
        _ => plan::plan(machine, &graph, options, &clock, &mut tell)?,
    };
    plan.costs.stands_in = stands_in;
    Ok((graph, plan))
}

/// `graph` with the costs of `costed`, which has the same tasks.
fn with_costs(graph: &Graph, costed: &Graph) -> Graph {
    let mut graph = graph.clone();
    for (task, known) in graph.tasks.iter_mut().zip(&costed.tasks) {
        task.cost_ns.clone_from(&known.cost_ns);
    }
    graph
}

/// Whether a task that could be measured here has no cost on some kind of element that is a cpu of this computer.
fn needs_profile(graph: &Graph, machine: &Machine) -> bool {
    let kinds: Vec<&str> =
        machine.elements.iter().filter(|e| e.os_cpu.is_some()).map(|e| e.kind.as_str()).collect();
    let measurable = graph.tasks.iter().all(|t| t.kernel.is_some());
    measurable && graph.tasks.iter().any(|t| kinds.iter().any(|k| t.cost_on(k).is_none()))
}

/// Runs `graph` on `machine` as `plan` says; without a plan the application is planned first, and profiled where costs
/// are missing. The tasks that `arrays` names send and keep memory of the caller.
///
/// What is predicted beside what is achieved is the plan's period with the speeds that its elements have just before
/// the run, measured in some milliseconds; the plan's own prediction where they or the costs are not known.
///
/// `progress` is called now and then. When it returns false during the run, the stream drains: sources end, and
/// everything in flight completes. When it returns false again, the run stops at once with [`Error::Stopped`].
///
/// # Errors
/// As [`plan()`] and [`run::run`].
pub fn run(
    graph: &Graph,
    machine: &Machine,
    plan: Option<&Plan>,
    kernels: &dyn Kernels,
    arrays: &Arrays,
    mut options: RunOptions,
    progress: &mut dyn FnMut(&VerbProgress) -> bool,
) -> Result<RunOutcome, Error> {
    options.check()?;
    let is_simulated = streams::is_simulated(machine);
    if !is_simulated {
        options.fit_here()?;
    }
    let (stands_in, said);
    let graph = if is_simulated {
        simulated::check(machine, plan)?;
        (stands_in, said) = simulated::costed(&arrays.planned(graph), machine, kernels, progress)?;
        &with_costs(graph, &stands_in)
    } else {
        said = None;
        graph
    };
    let made;
    let (costed, plan) = match plan {
        Some(plan) => {
            let elements: Vec<&str> = machine.elements.iter().map(|e| e.name.as_str()).collect();
            let fits = plan.check(graph, &elements);
            fits.map_err(|bad| {
                run::RunError::Plan(run::LayoutError(format!("the plan does not fit: {bad}")))
            })?;
            (graph, plan)
        }
        None => {
            let defaults = PlanOptions::default();
            let max_batch = options.batch.unwrap_or(defaults.max_batch);
            let asked = PlanOptions { max_batch, mapping: options.mapping.clone(), ..defaults };
            made = self::plan(&arrays.planned(graph), machine, kernels, &asked, None, progress)?;
            (&made.0, &made.1)
        }
    };
    let stop = options.stop.clone();
    let mut callers = options.progress.take();
    let mut tell = |p: &RunProgress| {
        if let Some(callers) = &mut callers {
            callers(p);
        }
        if !progress(&VerbProgress::Running(p)) && stop.swap(run::DRAIN, Ordering::AcqRel) >= run::DRAIN {
            stop.store(run::STOP, Ordering::Release);
        }
    };
    let options = RunOptions { progress: Some(&mut tell), ..options };
    if is_simulated {
        let mut outcome = simulated::run(graph, machine, plan, kernels, arrays, options)?;
        outcome.warnings.extend(said.clone());
        outcome.stands_in = said;
        return Ok(outcome);
    }
    let used = |e: &ElementId| plan.mapping.values().any(|name| *name == machine.elements[*e].name);
    let elements: Vec<ElementId> = (0..machine.elements.len()).filter(used).collect();
    let identity = host::identity().to_pairs().into_iter().map(|(k, v)| (k.to_string(), v)).collect();
    let here = computer(&identity);
    let looked = |looks: usize| {
        let before = Look::steady(machine, &elements, looks);
        let foreseen = foresee(costed, machine, plan, &before, &here);
        (before, foreseen)
    };
    let (before, foreseen) = match looked(LOOKS) {
        (_, Some(foreseen)) if foreseen.plan.period_ns != plan.period_ns => looked(LOOKS_AGAIN),
        first => first,
    };
    let planned_per_s = plan.throughput_per_s;
    let plan = foreseen.as_ref().map_or(plan, |f| &f.plan);
    let outcome = run::run(&arrays.running(graph), machine, plan, &arrays.over(kernels), options);
    if stop.load(Ordering::Acquire) == run::STOP {
        return Err(Error::Stopped);
    }
    let mut outcome = outcome?;
    outcome.planned_per_s = planned_per_s;
    outcome.predicted_with = foreseen.as_ref().map_or_else(String::new, |f| f.with.clone());
    let factors = foreseen.as_ref().map(|f| &f.factors);
    let after = Look::steady(machine, &elements, LOOKS);
    explain(costed, machine, plan, factors, (&before, &after), &mut outcome);
    Ok(outcome)
}
