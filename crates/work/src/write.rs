//! [`Graph`] -> TOML, JSON.
//!
//! `read(write(graph)) == graph` for every valid graph.

use crate::graph::DEFAULT_CODE_BYTES;
use crate::{Graph, ProfiledCost, Value};
use ground::Quantiles;
use serde_json::{Map, Number, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The application file of `graph`, as a person would write it: what has its usual value is left out.
///
/// ```
/// let graph = work::Graph {
///     name: "one".into(),
///     tasks: vec![work::Task { name: "a".into(), cost_ns: [("*".into(), 5.0)].into(), ..Default::default() }],
///     code_bytes: 65536,
///     ..Default::default()
/// };
/// assert_eq!(work::write::toml(&graph), "name = \"one\"\n\n[[task]]\nname = \"a\"\ncost_ns = { \"*\" = 5.0 }\n");
/// ```
pub fn toml(graph: &Graph) -> String {
    let mut out = String::new();
    line(&mut out, "name", &text(&graph.name));
    if graph.code_bytes != DEFAULT_CODE_BYTES {
        line(&mut out, "code_bytes", &graph.code_bytes.to_string());
    }
    for task in &graph.tasks {
        out.push_str("\n[[task]]\n");
        line(&mut out, "name", &text(&task.name));
        if let Some(kernel) = &task.kernel {
            line(&mut out, "kernel", &text(kernel));
        }
        if !task.params.is_empty() {
            line(&mut out, "params", &table(task.params.iter().map(|(k, v)| (k, value(v)))));
        }
        if !task.cost_ns.is_empty() {
            line(&mut out, "cost_ns", &table(task.cost_ns.iter().map(|(k, &v)| (k, float(v)))));
        }
        if task.stateless {
            line(&mut out, "stateless", "true");
        }
        if let Some(lock) = &task.lock {
            line(&mut out, "lock", &text(lock));
        }
    }
    for edge in &graph.edges {
        out.push_str("\n[[edge]]\n");
        line(&mut out, "from", &text(&graph.port_name(&edge.from)));
        line(&mut out, "to", &text(&graph.port_name(&edge.to)));
        line(&mut out, "bytes", &edge.bytes.to_string());
        for (key, number) in [("peek", edge.peek), ("delay", edge.delay)] {
            if number > 0 {
                line(&mut out, key, &number.to_string());
            }
        }
    }
    if let Some(profile) = &graph.profile {
        out.push_str("\n[profile]\n");
        line(&mut out, "machine", &text(&profile.machine));
        line(&mut out, "cellweave", &text(&profile.cellweave));
        for (kind, &(per_transfer, per_byte)) in &profile.overheads {
            let _ = writeln!(out, "\n[profile.overhead.{}]", key(kind));
            line(&mut out, "per_transfer_ns", &float(per_transfer));
            line(&mut out, "per_byte_ns", &float(per_byte));
        }
        if !profile.totals_ns.is_empty() {
            out.push_str("\n[profile.total_ns]\n");
            for (kind, &total) in &profile.totals_ns {
                line(&mut out, &key(kind), &float(total));
            }
        }
        for (kind, costs) in &profile.costs {
            let _ = writeln!(out, "\n[profile.cost.{}]", key(kind));
            for (task, cost) in costs {
                line(&mut out, &key(task), &measured(cost));
            }
        }
        for (element, speed) in &profile.speeds {
            let _ = writeln!(out, "\n[profile.speed.{}]", key(element));
            for (name, list) in [("alone_ns", &speed.alone_ns), ("together_ns", &speed.together_ns)] {
                let numbers: Vec<String> = list.iter().map(|&ns| float(ns)).collect();
                line(&mut out, name, &format!("[{}]", numbers.join(", ")));
            }
        }
        if !profile.handovers.is_empty() {
            out.push_str("\n[profile.handover]\n");
        }
        for (shares, points) in &profile.handovers {
            let _ = writeln!(out, "{} = [", key(shares));
            for point in points {
                let _ = writeln!(out, "  {},", floats(point));
            }
            out.push_str("]\n");
        }
        if !profile.together.is_empty() {
            out.push_str("\n[profile.together]\n");
        }
        for (elements, slower) in &profile.together {
            line(&mut out, &key(elements), &floats(slower));
        }
        if !profile.paces.is_empty() {
            out.push_str("\n[profile.pace]\n");
        }
        for (element, &pace) in &profile.paces {
            line(&mut out, &key(element), &float(pace));
        }
    }
    out
}

/// The same keys as JSON.
pub fn json(graph: &Graph) -> String {
    let number = |x: f64| Number::from_f64(x).map_or(serde_json::Value::Null, serde_json::Value::Number);
    let tasks: Vec<_> = graph
        .tasks
        .iter()
        .map(|task| {
            let mut entry = Map::new();
            entry.insert("name".into(), json!(task.name));
            if let Some(kernel) = &task.kernel {
                entry.insert("kernel".into(), json!(kernel));
            }
            if !task.params.is_empty() {
                let params: Map<_, _> = task.params.iter().map(|(k, v)| (k.clone(), json_value(v))).collect();
                entry.insert("params".into(), params.into());
            }
            if !task.cost_ns.is_empty() {
                let costs: Map<_, _> = task.cost_ns.iter().map(|(k, &v)| (k.clone(), number(v))).collect();
                entry.insert("cost_ns".into(), costs.into());
            }
            if task.stateless {
                entry.insert("stateless".into(), json!(true));
            }
            if let Some(lock) = &task.lock {
                entry.insert("lock".into(), json!(lock));
            }
            serde_json::Value::Object(entry)
        })
        .collect();
    let edges: Vec<_> = graph
        .edges
        .iter()
        .map(|edge| {
            let (from, to) = (graph.port_name(&edge.from), graph.port_name(&edge.to));
            json!({"from": from, "to": to, "bytes": edge.bytes, "peek": edge.peek, "delay": edge.delay})
        })
        .collect();
    let mut root = Map::new();
    root.insert("name".into(), json!(graph.name));
    root.insert("code_bytes".into(), json!(graph.code_bytes));
    root.insert("task".into(), tasks.into());
    root.insert("edge".into(), edges.into());
    if let Some(profile) = &graph.profile {
        let overheads: Map<_, _> = profile
            .overheads
            .iter()
            .map(|(kind, &(transfer, byte))| {
                (kind.clone(), json!({"per_transfer_ns": number(transfer), "per_byte_ns": number(byte)}))
            })
            .collect();
        let totals: Map<_, _> =
            profile.totals_ns.iter().map(|(kind, &ns)| (kind.clone(), number(ns))).collect();
        let numbers = |list: &[f64]| list.iter().map(|&ns| number(ns)).collect::<Vec<_>>();
        let speeds: Map<_, _> = profile
            .speeds
            .iter()
            .map(|(element, speed)| {
                let (alone, together) = (numbers(&speed.alone_ns), numbers(&speed.together_ns));
                (element.clone(), json!({"alone_ns": alone, "together_ns": together}))
            })
            .collect();
        let mut entry = json!({
            "machine": profile.machine,
            "cellweave": profile.cellweave,
            "overhead": overheads,
            "total_ns": totals,
            "speed": speeds,
        });
        if !profile.costs.is_empty() {
            let cost = |cost: &ProfiledCost| {
                let Quantiles { n, min, p10, p50, p90 } = cost.ns;
                json!({"measured": cost.measured, "n": n, "min": min, "p10": p10, "p50": p50, "p90": p90})
            };
            let costs = |tasks: &BTreeMap<String, ProfiledCost>| -> Map<_, _> {
                tasks.iter().map(|(task, of)| (task.clone(), cost(of))).collect()
            };
            let kinds = profile.costs.iter().map(|(kind, tasks)| (kind.clone(), costs(tasks).into()));
            entry["cost"] = serde_json::Value::Object(kinds.collect());
        }
        if !profile.handovers.is_empty() {
            entry["handover"] = json!(profile.handovers);
        }
        if !profile.together.is_empty() {
            entry["together"] = json!(profile.together);
        }
        if !profile.paces.is_empty() {
            entry["pace"] = json!(profile.paces);
        }
        root.insert("profile".into(), entry);
    }
    format!("{:#}\n", serde_json::Value::Object(root))
}

fn json_value(value: &Value) -> serde_json::Value {
    match value {
        Value::Number(x) => json!(x),
        Value::Text(t) => json!(t),
        Value::Bool(b) => json!(b),
        Value::Numbers(list) => json!(list),
    }
}

/// A cost that was measured: when, and its quantiles.
fn measured(cost: &ProfiledCost) -> String {
    let Quantiles { n, min, p10, p50, p90 } = cost.ns;
    let numbers = [("min", min), ("p10", p10), ("p50", p50), ("p90", p90)];
    let numbers: Vec<String> = numbers.iter().map(|(name, ns)| format!("{name} = {}", float(*ns))).collect();
    format!("{{ measured = {}, n = {n}, {} }}", text(&cost.measured), numbers.join(", "))
}

/// A list of numbers.
fn floats(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|x| float(*x)).collect();
    format!("[{}]", numbers.join(", "))
}

fn line(out: &mut String, key: &str, value: &str) {
    let _ = writeln!(out, "{key} = {value}");
}

fn value(value: &Value) -> String {
    match value {
        Value::Number(x) => float(*x),
        Value::Text(t) => text(t),
        Value::Bool(b) => b.to_string(),
        Value::Numbers(list) => floats(list),
    }
}

/// The shortest text that reads back as the same number.
fn float(x: f64) -> String {
    format!("{x:?}")
}

fn table<'a>(entries: impl Iterator<Item = (&'a String, String)>) -> String {
    let entries: Vec<_> = entries.map(|(k, v)| format!("{} = {v}", key(k))).collect();
    format!("{{ {} }}", entries.join(", "))
}

/// A key, in quotes where TOML needs them.
fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { name.into() } else { text(name) }
}

fn text(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
