//! What holds a plan back, in words, and which change of the machine or of the graph would help most.

use crate::Error;
use ground::options::Word;
use machine::Machine;
use plan::{Method, PlanOptions};
use serde::Serialize;
use work::plan::{Contribution, ContributionKind};
use work::{Buffering, Graph, Plan};

/// How many tasks, edges or limits are tried, largest first.
const TRIED: usize = 4;
/// Contributions from this share of the period on are as good as the largest.
const NEAR: f64 = 0.95;
/// A change that helps less than this is not told.
const TOLD: f64 = 0.005;

/// What holds a plan back, and what would help.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// Which contribution is the period, and what it consists of.
    pub binds: String,
    /// The plan's period, or a better one that the search found while nothing was changed; ns per instance.
    pub period_ns: f64,
    /// What would help, most first; each changes one thing and plans anew.
    pub changes: Vec<Change>,
    /// How many changes were tried.
    pub tried: usize,
}

/// A change of one thing, and what it would give.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// `machine` or `graph`.
    pub of: &'static str,
    /// The change, in words.
    pub what: String,
    /// ns per instance after it, planned anew.
    pub period_ns: f64,
    /// How many times as many instances per second.
    pub gain: f64,
}

/// Says what binds `plan`, and tries changes of `machine` and of `graph`, each with a search of `moves` moves.
///
/// `options` are those of the plan; `progress` gets the share that is done, and ends the work by saying false.
///
/// # Errors
/// As [`plan::plan`], and [`Error::Stopped`].
pub fn advise(
    graph: &Graph,
    machine: &Machine,
    plan: &Plan,
    options: &PlanOptions,
    moves: u64,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<Advice, Error> {
    let elements: Vec<&str> = machine.elements.iter().map(|e| e.name.as_str()).collect();
    plan.check(graph, &elements).map_err(|bad| Error::Failed(format!("the plan does not fit: {bad}")))?;
    let options = PlanOptions {
        method: Method::Auto,
        moves: Some(moves),
        buffering: Buffering::of_word(&plan.buffering).ok(),
        ..options.clone()
    };
    let planned = |graph: &Graph, machine: &Machine| -> Result<f64, Error> {
        // The mapping that is there is a start that the search may miss.
        let kept = PlanOptions { mapping: Some(plan.mapping.clone()), forbid: Vec::new(), ..options.clone() };
        let kept = plan::plan(machine, graph, &kept, &|| 0.0, &mut |_| true)?;
        let found = plan::plan(machine, graph, &options, &|| 0.0, &mut |_| true)?;
        let periods = [kept, found].into_iter().filter(|p| p.feasible).map(|p| p.period_ns);
        Ok(periods.fold(f64::INFINITY, f64::min))
    };
    let tries = tries(graph, machine, plan);
    let before = planned(graph, machine)?.min(if plan.feasible { plan.period_ns } else { f64::INFINITY });
    let mut changes = Vec::new();
    for (i, (of, what, graph, machine)) in tries.iter().enumerate() {
        if !progress(i as f64 / tries.len() as f64) {
            return Err(Error::Stopped);
        }
        let period_ns = planned(graph, machine)?;
        let gain = before / period_ns;
        if gain > 1.0 + TOLD {
            changes.push(Change { of, what: what.clone(), period_ns, gain });
        }
    }
    changes.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    Ok(Advice { binds: binds(graph, machine, plan), period_ns: before, changes, tried: tries.len() })
}

/// The largest contribution in words, and those that are nearly as large.
fn binds(graph: &Graph, machine: &Machine, plan: &Plan) -> String {
    let Some(first) = plan.contributions.first() else { return "nothing takes time".into() };
    let near: Vec<String> =
        plan.contributions[1..].iter().filter(|c| c.ns >= NEAR * first.ns).map(ToString::to_string).collect();
    let also = match near.len() {
        0 => String::new(),
        1..=TRIED => format!("; nearly as much: {}", near.join(", ")),
        n => format!("; nearly as much: {} and {} more", near[..TRIED].join(", "), n - TRIED),
    };
    let made_of = match first.kind {
        ContributionKind::Compute => heaviest_tasks(graph, machine, plan, &first.subject)
            .into_iter()
            .take(TRIED)
            .map(|(task, ns)| format!("{} {:.0} %", graph.tasks[task].name, 100.0 * ns / first.ns))
            .collect(),
        ContributionKind::Limit => over(graph, machine, plan, &first.subject)
            .into_iter()
            .take(TRIED)
            .map(|edge| format!("{} {} B", edge_name(graph, edge), graph.edges[edge].bytes))
            .collect(),
        _ => Vec::new(),
    };
    let made_of: Vec<String> = made_of;
    let made_of = if made_of.is_empty() { String::new() } else { format!(" (most: {})", made_of.join(", ")) };
    format!("{first} is the period: {:.4} us per instance{made_of}{also}", first.ns / 1000.0)
}

/// Tasks on an element and their ns, heaviest first.
fn heaviest_tasks(graph: &Graph, machine: &Machine, plan: &Plan, element: &str) -> Vec<(usize, f64)> {
    let kind = machine.element(element).map_or("", |e| machine.elements[e].kind.as_str());
    let here = |task: &work::Task| plan.mapping.get(&task.name).is_some_and(|on| on == element);
    let mut tasks: Vec<(usize, f64)> = graph
        .tasks
        .iter()
        .enumerate()
        .filter(|(_, t)| here(t))
        .map(|(i, t)| (i, t.cost_on(kind).unwrap_or(0.0)))
        .collect();
    tasks.sort_by(|a, b| b.1.total_cmp(&a.1));
    tasks
}

/// Edges that move over a limit, most bytes first.
fn over(graph: &Graph, machine: &Machine, plan: &Plan, limit: &str) -> Vec<usize> {
    let Some(limit) = machine.limits.iter().find(|l| l.name == limit) else { return Vec::new() };
    let on = |task: usize| plan.mapping.get(&graph.tasks[task].name).and_then(|name| machine.element(name));
    let crosses = |edge: &work::Edge| match (on(edge.from.task), on(edge.to.task)) {
        (Some(from), Some(to)) => from != to && limit.holds(from, to),
        _ => false,
    };
    let mut edges: Vec<usize> = (0..graph.edges.len()).filter(|e| crosses(&graph.edges[*e])).collect();
    edges.sort_by_key(|e| std::cmp::Reverse(graph.edges[*e].bytes));
    edges
}

fn edge_name(graph: &Graph, edge: usize) -> String {
    let edge = &graph.edges[edge];
    format!("{} -> {}", graph.tasks[edge.from.task].name, graph.tasks[edge.to.task].name)
}

type Try = (&'static str, String, Graph, Machine);

/// The changes to try, each with the graph and the machine as they would be.
fn tries(graph: &Graph, machine: &Machine, plan: &Plan) -> Vec<Try> {
    let mut tries: Vec<Try> = Vec::new();
    let largest: Vec<&Contribution> = plan.contributions.iter().take(TRIED).collect();
    let limits = plan.contributions.iter().filter(|c| c.kind == ContributionKind::Limit).take(TRIED);
    for limit in limits {
        let mut faster = machine.clone();
        for known in faster.limits.iter_mut().filter(|l| l.name == limit.subject) {
            known.capacity_bytes_per_s *= 2.0;
        }
        tries.push(("machine", format!("twice the bandwidth of {}", limit.subject), graph.clone(), faster));
    }
    // Paces may be the profile's: then the machine gets them, and the profile has none that would go before.
    let paces = model::paces(machine, graph);
    let mut without_paces = graph.clone();
    if let Some(profile) = &mut without_paces.profile {
        profile.paces.clear();
    }
    for kind in machine.kinds() {
        let mut faster = machine.clone();
        let twice = |(e, pace): (usize, &f64)| {
            if machine.elements[e].kind == kind { pace / 2.0 } else { *pace }
        };
        faster.paces = paces.iter().enumerate().map(twice).collect();
        tries.push(("machine", format!("every {kind} twice as fast"), without_paces.clone(), faster));
        let hard = |e: &machine::Element| e.kind == kind && e.memory.as_ref().is_some_and(|m| m.hard);
        if machine.elements.iter().any(hard) {
            let mut larger = machine.clone();
            for memory in larger.elements.iter_mut().filter(|e| hard(e)).filter_map(|e| e.memory.as_mut()) {
                memory.bytes *= 2;
            }
            tries.push(("machine", format!("twice the memory of every {kind}"), graph.clone(), larger));
        }
        if machine.elements.iter().any(|e| e.kind == kind && e.incoming_max.is_some()) {
            let mut open = machine.clone();
            for element in open.elements.iter_mut().filter(|e| e.kind == kind) {
                element.incoming_max = None;
                element.outgoing_max.clear();
            }
            let what = format!("any number of transfers at once at every {kind}");
            tries.push(("machine", what, graph.clone(), open));
        }
    }
    let on_largest = largest.iter().filter(|c| c.kind == ContributionKind::Compute);
    let mut tasks: Vec<(usize, f64)> =
        on_largest.flat_map(|c| heaviest_tasks(graph, machine, plan, &c.subject)).collect();
    tasks.sort_by(|a, b| b.1.total_cmp(&a.1));
    tasks.truncate(TRIED);
    for (task, _) in tasks {
        let mut lighter = graph.clone();
        lighter.tasks[task].cost_ns.values_mut().for_each(|ns| *ns /= 2.0);
        let what = format!("task {} at half its cost", graph.tasks[task].name);
        tries.push(("graph", what, lighter, machine.clone()));
    }
    let mut edges: Vec<usize> = (0..graph.edges.len()).collect();
    edges.sort_by_key(|e| std::cmp::Reverse(graph.edges[*e].bytes));
    let bound = largest.iter().filter(|c| c.kind == ContributionKind::Limit);
    let mut heavy: Vec<usize> = bound.flat_map(|c| over(graph, machine, plan, &c.subject)).collect();
    heavy.extend(edges);
    let mut seen = Vec::new();
    heavy.retain(|e| {
        !seen.contains(e) && seen.len() < TRIED && {
            seen.push(*e);
            true
        }
    });
    for edge in heavy {
        let mut lighter = graph.clone();
        lighter.edges[edge].bytes = lighter.edges[edge].bytes.div_ceil(2);
        let what = format!("edge {} with half its bytes", edge_name(graph, edge));
        tries.push(("graph", what, lighter, machine.clone()));
    }
    if !graph.edges.is_empty() {
        let mut lighter = graph.clone();
        lighter.edges.iter_mut().for_each(|e| e.bytes = e.bytes.div_ceil(2));
        tries.push(("graph", "every edge with half its bytes".into(), lighter, machine.clone()));
    }
    if graph.edges.iter().any(|e| e.peek > 0) {
        let mut lighter = graph.clone();
        lighter.edges.iter_mut().for_each(|e| e.peek = 0);
        tries.push(("graph", "no peeks".into(), lighter, machine.clone()));
    }
    tries
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use work::{Profile, Task};

    #[test]
    fn an_element_that_was_slower_when_profiled_becomes_twice_as_fast_too() {
        let first = machine::load("host").unwrap().elements[0].clone();
        let element = |name: &str| machine::Element { name: name.into(), ..first.clone() };
        let computer = Some("here".to_string());
        let machine = Machine { elements: vec![element("A"), element("B")], computer, ..Machine::default() };
        let cost_ns = BTreeMap::from([("core".to_string(), 100.0)]);
        let task = |name: &str| Task { name: name.into(), cost_ns: cost_ns.clone(), ..Task::default() };
        let profile = Profile {
            machine: "here".into(),
            totals_ns: BTreeMap::from([("core".to_string(), 200.0)]),
            paces: BTreeMap::from([("A".to_string(), 1.0), ("B".to_string(), 3.0)]),
            ..Profile::default()
        };
        let graph = Graph { tasks: vec![task("a"), task("b")], profile: Some(profile), ..Graph::default() };
        let plan = plan::plan(&machine, &graph, &PlanOptions::default(), &|| 0.0, &mut |_| true).unwrap();
        let (_, _, graph, faster) =
            tries(&graph, &machine, &plan).into_iter().find(|t| t.1 == "every core twice as fast").unwrap();
        assert_eq!(model::paces(&faster, &graph), [0.5, 1.5]);
    }
}
