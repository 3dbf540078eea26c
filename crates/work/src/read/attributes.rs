//! Attributes of nodes and edges in GraphML and DOT: the keys of the TOML, flattened.
//!
//! | of | attribute | means |
//! |---|---|---|
//! | node | `cost_KIND`, `cost` | ns per firing on elements of that kind, on any kind |
//! | node | `kernel`, `stateless`, `lock` | as in TOML |
//! | node | `param_NAME` | a parameter: a number, `true`, `false`, or else a text |
//! | edge | `bytes` (needed), `peek`, `delay` | as in TOML |
//! | edge | `from_port`, `to_port` | names of the ports |
//! | graph | `name`, `code_bytes` | as in TOML |
//!
//! Other attributes (colours, labels, positions) are left alone, unless they look like one of these misspelt.

use super::draft::{DraftEdge, End};
use crate::{Graph, Task, Value, sizes};
use ground::{did_you_mean, quoted};

const NODE: &[&str] = &["cost", "cost_ppe", "cost_spe", "cost_core", "kernel", "stateless", "lock"];
const EDGE: &[&str] = &["bytes", "peek", "delay", "from_port", "to_port"];
const GRAPH: &[&str] = &["code_bytes"];

/// Sets an attribute of a node.
pub(super) fn node(task: &mut Task, key: &str, text: &str) -> Result<(), String> {
    if key == "cost" {
        task.cost_ns.insert("*".into(), number(text)?);
    } else if let Some(kind) = key.strip_prefix("cost_") {
        task.cost_ns.insert(kind.into(), number(text)?);
    } else if let Some(name) = key.strip_prefix("param_") {
        task.params.insert(name.into(), value(text)?);
    } else if key == "kernel" {
        task.kernel = Some(text.into());
    } else if key == "stateless" {
        task.stateless = truth(text)?;
    } else if key == "lock" {
        task.lock = Some(text.into());
    } else {
        return left_alone(key, NODE);
    }
    Ok(())
}

/// Bytes that a copy of the task's attributes takes.
pub(super) fn node_bytes(task: &Task) -> usize {
    let text = |v: &Value| if let Value::Text(t) = v { t.len() } else { 0 };
    let costs: usize = task.cost_ns.keys().map(|k| k.len() + 32).sum();
    let params: usize = task.params.iter().map(|(k, v)| k.len() + text(v) + 64).sum();
    let texts: usize = [&task.kernel, &task.lock].into_iter().flatten().map(String::len).sum();
    costs + params + texts
}

/// An edge while its attributes are read.
#[derive(Debug, Clone, Default)]
pub(super) struct EdgeAttributes {
    bytes: Option<u64>,
    peek: u64,
    delay: u64,
    pub(super) from_port: Option<String>,
    pub(super) to_port: Option<String>,
}

impl EdgeAttributes {
    /// Sets an attribute of the edge.
    pub(super) fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        match key {
            "bytes" => self.bytes = Some(whole_from(1, text)?),
            "peek" => self.peek = whole(text)?,
            "delay" => self.delay = whole(text)?,
            "from_port" => self.from_port = Some(text.into()),
            "to_port" => self.to_port = Some(text.into()),
            _ => return left_alone(key, EDGE),
        }
        Ok(())
    }

    /// Bytes that a copy takes beside the fixed ones.
    pub(super) fn text_bytes(&self) -> usize {
        [&self.from_port, &self.to_port].into_iter().flatten().map(String::len).sum()
    }

    /// The edge, or what it lacks.
    pub(super) fn edge(self, from: &str, to: &str, line: usize) -> Result<DraftEdge, String> {
        let bytes = self.bytes.ok_or_else(|| {
            format!("the attribute \"bytes\" is missing; attributes of an edge are {}", EDGE.join(", "))
        })?;
        Ok(DraftEdge {
            from: End { task: from.into(), port: self.from_port },
            to: End { task: to.into(), port: self.to_port },
            bytes,
            peek: self.peek,
            delay: self.delay,
            line,
            end_lines: (line, line),
        })
    }
}

/// Sets an attribute of the graph.
pub(super) fn graph(graph: &mut Graph, key: &str, text: &str) -> Result<(), String> {
    match key {
        "name" => graph.name = text.into(),
        "code_bytes" => graph.code_bytes = whole(text)?,
        _ => return left_alone(key, GRAPH),
    }
    Ok(())
}

fn left_alone(key: &str, known: &[&str]) -> Result<(), String> {
    let near = did_you_mean(key, known.iter().copied());
    if near.is_empty() { Ok(()) } else { Err(format!("unknown attribute{near}")) }
}

fn number(text: &str) -> Result<f64, String> {
    plain_number(text).ok_or_else(|| format!("a number expected, {} found", quoted(text)))
}

/// Rust reads `inf` and `nan` as numbers; files do not mean them.
fn plain_number(text: &str) -> Option<f64> {
    let text = text.trim();
    text.parse().ok().filter(|_| text.bytes().any(|b| b.is_ascii_digit()))
}

fn whole(text: &str) -> Result<u64, String> {
    whole_from(0, text)
}

/// `least` is what the message says; the value is checked with the whole graph.
fn whole_from(least: u64, text: &str) -> Result<u64, String> {
    let wrong = || format!("a whole number from {least} expected, {} found", quoted(text));
    if let Ok(n) = text.trim().parse() {
        return Ok(n);
    }
    let x = plain_number(text).ok_or_else(wrong)?;
    let exact = x.fract() == 0.0 && (0.0..=sizes::WHOLE_NUMBER as f64).contains(&x);
    if exact { Ok(x as u64) } else { Err(wrong()) }
}

fn truth(text: &str) -> Result<bool, String> {
    match text.trim() {
        "true" | "True" | "1" => Ok(true),
        "false" | "False" | "0" => Ok(false),
        _ => Err(format!("true or false expected, {} found", quoted(text))),
    }
}

fn value(text: &str) -> Result<Value, String> {
    Ok(match (text.trim(), plain_number(text)) {
        (_, Some(number)) => Value::Number(number),
        ("true", None) => Value::Bool(true),
        ("false", None) => Value::Bool(false),
        _ => Value::Text(text.into()),
    })
}
