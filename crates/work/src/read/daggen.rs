//! What the program `daggen` writes.
//!
//! ```text
//! NODE_COUNT 4
//! NODE 0 1 ROOT 0.0 0.0
//! NODE 1 2 COMPUTATION 52428800 0.05
//! NODE 2 3 TRANSFER 8388608 0.0
//! NODE 3 4 COMPUTATION 73400320 0.11
//! NODE 4 - END 0.0 0.0
//! ```
//! (a node's number, its children, its type, its cost and its share of sequential work, which is of no use here)
//!
//! A `COMPUTATION` becomes a task, `t` and its number, whose cost on any kind of element is its operations by
//! [`OPERATIONS_PER_NS`]. A `TRANSFER` becomes an edge of as many bytes as its cost. A
//! computation that is another's child without transfer, or with one of nothing, becomes an edge of 1 byte. `ROOT` and
//! `END` do nothing and are left out.

use super::Draft;
use super::draft::{DraftEdge, End};
use crate::Task;
use crate::daggen::OPERATIONS_PER_NS;
use ground::{Located, did_you_mean, quoted};
use std::collections::HashMap;

const TYPES: [&str; 4] = ["ROOT", "COMPUTATION", "TRANSFER", "END"];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Root,
    Computation,
    Transfer,
    End,
}

struct Listed<'a> {
    id: u64,
    children: &'a str,
    kind: Kind,
    cost: f64,
    line: usize,
}

/// Puts the graph in `text` into `draft`.
pub(super) fn read(text: &str, draft: &mut Draft) -> Result<(), Located> {
    let mut nodes = Vec::new();
    let mut count = None;
    for (at, line) in text.lines().enumerate() {
        let line_number = at + 1;
        let wrong = |draft: &Draft, message| draft.error(Some(line_number), None, message);
        let line = line.trim();
        if line.is_empty() || line.starts_with("//") || line.starts_with('#') {
            continue;
        }
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("NODE_COUNT") => {
                let number = words.next().and_then(|n| n.parse::<usize>().ok());
                count = Some(number.ok_or_else(|| wrong(draft, "NODE_COUNT needs a number".into()))?);
            }
            Some("NODE") => nodes.push(node(words, line_number).map_err(|message| wrong(draft, message))?),
            first => {
                let first = first.unwrap_or_default();
                let hint = did_you_mean(first, ["NODE", "NODE_COUNT"]);
                let message = format!("NODE or NODE_COUNT expected, {} found{hint}", quoted(first));
                return Err(wrong(draft, message));
            }
        }
    }
    match count {
        None => return Err(draft.error(None, None, "not a listing of daggen: no NODE_COUNT".into())),
        Some(count) if count != nodes.len() => {
            let message = format!("NODE_COUNT is {count}, but {} nodes are listed", nodes.len());
            return Err(draft.error(None, None, message));
        }
        Some(_) => {}
    }
    connect(&nodes, draft)
}

fn node<'a>(mut words: impl Iterator<Item = &'a str>, line: usize) -> Result<Listed<'a>, String> {
    let shape = "a node is `NODE number children type cost ratio`";
    let (Some(id), Some(children), Some(kind), Some(cost)) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(format!("words are missing; {shape}"));
    };
    if words.nth(1).is_some() {
        return Err(format!("too many words; {shape}"));
    }
    let id = id.parse().map_err(|_| format!("{} is no number of a node; {shape}", quoted(id)))?;
    let kind = match kind {
        "ROOT" => Kind::Root,
        "COMPUTATION" => Kind::Computation,
        "TRANSFER" => Kind::Transfer,
        "END" => Kind::End,
        _ => {
            let hint = did_you_mean(kind, TYPES);
            return Err(format!(
                "{} is no type of a node; types are {}{hint}",
                quoted(kind),
                TYPES.join(", ")
            ));
        }
    };
    let number = cost.parse::<f64>().ok().filter(|c| c.is_finite() && *c >= 0.0);
    let cost =
        number.ok_or_else(|| format!("the cost {} is no number that is not negative", quoted(cost)))?;
    Ok(Listed { id, children, kind, cost, line })
}

fn connect(nodes: &[Listed], draft: &mut Draft) -> Result<(), Located> {
    let mut of: HashMap<u64, usize> = HashMap::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        if of.insert(node.id, at).is_some() {
            return Err(draft.error(Some(node.line), None, format!("the node {} twice", node.id)));
        }
        if node.kind == Kind::Computation {
            let cost_ns = [("*".to_string(), node.cost / OPERATIONS_PER_NS)].into();
            draft.task(Task { name: name(node), cost_ns, ..Task::default() }, node.line);
        }
    }
    let mut producers: Vec<Option<usize>> = vec![None; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        for child in children(node, &of).map_err(|m| draft.error(Some(node.line), None, m))? {
            if nodes[child].kind == Kind::Transfer && producers[child].replace(at).is_some() {
                let message = format!("the transfer {} has two producers", nodes[child].id);
                return Err(draft.error(Some(node.line), None, message));
            }
        }
    }
    for (at, node) in nodes.iter().enumerate() {
        let children = children(node, &of).map_err(|m| draft.error(Some(node.line), None, m))?;
        let (from, bytes) = match node.kind {
            Kind::Computation => (at, 1),
            Kind::Transfer => {
                let [_] = children[..] else {
                    let message = format!("the transfer {} has {} consumers, not 1", node.id, children.len());
                    return Err(draft.error(Some(node.line), None, message));
                };
                let Some(producer) = producers[at] else {
                    let message = format!("the transfer {} has no producer", node.id);
                    return Err(draft.error(Some(node.line), None, message));
                };
                (producer, (node.cost as u64).max(1))
            }
            Kind::Root | Kind::End => continue,
        };
        if nodes[from].kind == Kind::Transfer {
            let message = format!("the transfer {} follows another transfer", node.id);
            return Err(draft.error(Some(node.line), None, message));
        }
        for to in children {
            if nodes[from].kind == Kind::Computation && nodes[to].kind == Kind::Computation {
                let end = |node: &Listed| End { task: name(node), port: None };
                let end_lines = (node.line, node.line);
                let (from, to) = (end(&nodes[from]), end(&nodes[to]));
                draft.edge(DraftEdge { from, to, bytes, peek: 0, delay: 0, line: node.line, end_lines });
            }
        }
    }
    Ok(())
}

fn name(node: &Listed) -> String {
    format!("t{}", node.id)
}

fn children(node: &Listed, of: &HashMap<u64, usize>) -> Result<Vec<usize>, String> {
    if node.children == "-" {
        return Ok(Vec::new());
    }
    let find = |child: &str| {
        let id = child.parse::<u64>().map_err(|_| format!("{} is no number of a node", quoted(child)))?;
        of.get(&id).copied().ok_or_else(|| format!("no node has the number {id}"))
    };
    node.children.split(',').filter(|c| !c.is_empty()).map(find).collect()
}
