//! Why an element had to wait for data or for room on an edge.

use super::account::{Account, WaitAccount};
use super::{Report, words};
use run::WaitFor;

/// A wait at the other end of the same ring that is at least this share of the time makes the ring too short.
const BOTH: f64 = 0.05;

/// What kind of cause a wait of `account` has, and a sentence.
pub(super) fn why(
    report: &Report,
    account: &Account,
    accounts: &[Account],
    wait: &WaitAccount,
    elapsed_ns: f64,
) -> (&'static str, String) {
    let name = &account.outcome.name;
    let edge_name = wait.edge.unwrap_or_default();
    let (kind, what, opposite) = match wait.what {
        WaitFor::Room => ("waiting for room", "room", WaitFor::Data),
        _ => ("waiting for data", "data", WaitFor::Room),
    };
    let share = |ns: f64| words::percent(ns / elapsed_ns);
    let waited = format!("{name} waited for {what} on {edge_name} for {} of the time", share(wait.ns));
    let graph = report.graph;
    let name_of = |e: &work::Edge| format!("{} -> {}", graph.port_name(&e.from), graph.port_name(&e.to));
    let Some(edge) = graph.edges.iter().position(|e| name_of(e) == edge_name) else {
        return (kind, format!("{waited}."));
    };
    let ends = [graph.edges[edge].from.task, graph.edges[edge].to.task];
    let homes = ends.map(|t| report.plan.mapping.get(&graph.tasks[t].name));
    let other = accounts.iter().find(|a| a.outcome.name != *name && homes.contains(&Some(&a.outcome.name)));
    let Some(other) = other else { return (kind, format!("{waited}.")) };
    let there = &other.outcome.name;
    let theirs_ns: f64 =
        (other.waits.iter()).filter(|w| w.what == opposite && w.edge == Some(edge_name)).map(|w| w.ns).sum();
    // Ends that lose their cpus in turn wait for each other however long the ring is.
    if other.lost_ns >= wait.ns / 2.0 {
        let why = format!(
            "{waited}: other threads had the cpu of {there} for {} of the time.",
            share(other.lost_ns)
        );
        return (kind, why);
    }
    if theirs_ns >= BOTH * elapsed_ns {
        let slots = report.plan.edges.get(edge).map_or(0, |e| e.slots_out + e.slots_in);
        let opposite = if opposite == WaitFor::Data { "data" } else { "room" };
        let why = format!(
            "{waited}, and {there} for {opposite} on it for {}: its ring of {slots} instances ({}) is too short \
             for how unevenly its ends work.",
            share(theirs_ns),
            words::bytes(slots * graph.edges[edge].bytes)
        );
        return ("ring", why);
    }
    (kind, format!("{waited}; {there}, at its other end, was busy for {} of it.", share(other.busy_ns)))
}
