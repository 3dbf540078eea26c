//! The keys of an application, as TOML and JSON have them.

use super::draft::{Draft, DraftEdge, End};
use super::tree::{Entry, Node, Tree};
use crate::{Profile, ProfiledCost, ProfiledSpeed, Task, Value, sizes};
use ground::{Located, did_you_mean, quoted};
use std::collections::BTreeMap;

const TOP: &[&str] = &["name", "code_bytes", "profile", "task", "edge"];
const TASK: &[&str] = &["name", "kernel", "params", "cost_ns", "stateless", "lock"];
const EDGE: &[&str] = &["from", "to", "bytes", "peek", "delay"];
const PROFILE: &[&str] =
    &["machine", "cellweave", "overhead", "total_ns", "cost", "speed", "handover", "together", "pace"];
const COST: &[&str] = &["measured", "n", "min", "p10", "p50", "p90"];
const SPEED: &[&str] = &["alone_ns", "together_ns"];
const OVERHEAD: &[&str] = &["per_transfer_ns", "per_byte_ns"];

/// What is wrong, and where: line, key, message.
type Wrong = (usize, String, String);

/// Puts the application at `root` into `draft`.
pub(super) fn read(root: &Node, draft: &mut Draft) -> Result<(), Located> {
    top(root, draft).map_err(|(line, key, message)| {
        draft.error(Some(line), Some(key.as_str()).filter(|k| !k.is_empty()), message)
    })
}

fn top(root: &Node, draft: &mut Draft) -> Result<(), Wrong> {
    for entry in table(root, "")? {
        let node = &entry.node;
        match entry.key.as_ref() {
            "name" => draft.graph.name = text(node, "name")?,
            "code_bytes" => draft.graph.code_bytes = whole(node, "code_bytes")?,
            "profile" => draft.graph.profile = Some(profile(node)?),
            "task" => {
                for (at, node) in list(node, "task", "tables ([[task]] in TOML)")?.iter().enumerate() {
                    task(node, at, draft)?;
                }
            }
            "edge" => {
                for (at, node) in list(node, "edge", "tables ([[edge]] in TOML)")?.iter().enumerate() {
                    edge(node, at, draft)?;
                }
            }
            _ => return Err(unknown(entry, "", TOP)),
        }
    }
    Ok(())
}

fn task(node: &Node, at: usize, draft: &mut Draft) -> Result<(), Wrong> {
    let mut place = format!("task {}", at + 1);
    let entries = table(node, &place)?;
    let mut task = Task::default();
    let name = required(entries, "name", node, &place)?;
    task.name = text(&name.node, &format!("{place}, name"))?;
    place = format!("task {}", quoted(&task.name));
    for entry in entries {
        let node = &entry.node;
        let key = format!("{place}, {}", entry.key);
        match entry.key.as_ref() {
            "name" => {}
            "kernel" => task.kernel = Some(text(node, &key)?),
            "stateless" => task.stateless = truth(node, &key)?,
            "lock" => task.lock = Some(text(node, &key)?),
            "cost_ns" => {
                for cost in table(node, &key)? {
                    let ns = number(&cost.node, &format!("{key}.{}", cost.key))?;
                    task.cost_ns.insert(cost.key.clone().into_owned(), ns);
                }
            }
            "params" => {
                for param in table(node, &key)? {
                    let value = value(&param.node, &format!("{key}.{}", param.key))?;
                    task.params.insert(param.key.clone().into_owned(), value);
                }
            }
            _ => return Err(unknown(entry, &place, TASK)),
        }
    }
    draft.task(task, name.line);
    Ok(())
}

fn edge(node: &Node, at: usize, draft: &mut Draft) -> Result<(), Wrong> {
    let place = format!("edge {}", at + 1);
    let entries = table(node, &place)?;
    let (mut peek, mut delay) = (0, 0);
    for entry in entries {
        let key = || format!("{place}, {}", entry.key);
        match entry.key.as_ref() {
            "from" | "to" | "bytes" => {}
            "peek" => peek = whole(&entry.node, &key())?,
            "delay" => delay = whole(&entry.node, &key())?,
            _ => return Err(unknown(entry, &place, EDGE)),
        }
    }
    let end = |key: &str| -> Result<(End, usize), Wrong> {
        let entry = required(entries, key, node, &place)?;
        Ok((End::new(&text(&entry.node, &format!("{place}, {key}"))?), entry.line))
    };
    let ((from, from_line), (to, to_line)) = (end("from")?, end("to")?);
    let bytes = &required(entries, "bytes", node, &place)?.node;
    let bytes = whole_from(1, bytes, &format!("{place}, bytes"))?;
    let end_lines = (from_line, to_line);
    draft.edge(DraftEdge { from, to, bytes, peek, delay, line: from_line, end_lines });
    Ok(())
}

fn profile(node: &Node) -> Result<Profile, Wrong> {
    let mut profile = Profile::default();
    for entry in table(node, "profile")? {
        let key = format!("profile.{}", entry.key);
        match entry.key.as_ref() {
            "machine" => profile.machine = text(&entry.node, &key)?,
            "cellweave" => profile.cellweave = text(&entry.node, &key)?,
            "overhead" => {
                for kind in table(&entry.node, &key)? {
                    let key = format!("{key}.{}", kind.key);
                    let mut overhead = BTreeMap::new();
                    for ns in table(&kind.node, &key)? {
                        if !OVERHEAD.contains(&ns.key.as_ref()) {
                            return Err(unknown(ns, &key, OVERHEAD));
                        }
                        overhead.insert(ns.key.as_ref(), number(&ns.node, &format!("{key}.{}", ns.key))?);
                    }
                    let get = |name: &str| {
                        overhead.get(name).copied().ok_or_else(|| missing(kind.line, &key, name, OVERHEAD))
                    };
                    let pair = (get(OVERHEAD[0])?, get(OVERHEAD[1])?);
                    profile.overheads.insert(kind.key.clone().into_owned(), pair);
                }
            }
            "total_ns" => {
                for kind in table(&entry.node, &key)? {
                    let ns = number(&kind.node, &format!("{key}.{}", kind.key))?;
                    profile.totals_ns.insert(kind.key.clone().into_owned(), ns);
                }
            }
            "cost" => {
                for kind in table(&entry.node, &key)? {
                    let key = format!("{key}.{}", kind.key);
                    let costs = profile.costs.entry(kind.key.clone().into_owned()).or_default();
                    for task in table(&kind.node, &key)? {
                        let cost = cost(task, &format!("{key}.{}", task.key))?;
                        costs.insert(task.key.clone().into_owned(), cost);
                    }
                }
            }
            "speed" => {
                for element in table(&entry.node, &key)? {
                    let speed = speed(element, &format!("{key}.{}", element.key))?;
                    profile.speeds.insert(element.key.clone().into_owned(), speed);
                }
            }
            "handover" => {
                for curve in table(&entry.node, &key)? {
                    let key = format!("{key}.{}", curve.key);
                    let points = list(&curve.node, &key, "points")?.iter().map(|p| numbers(p, &key));
                    profile
                        .handovers
                        .insert(curve.key.clone().into_owned(), points.collect::<Result<_, _>>()?);
                }
            }
            "together" => {
                for group in table(&entry.node, &key)? {
                    let slower = numbers(&group.node, &format!("{key}.{}", group.key))?;
                    profile.together.insert(group.key.clone().into_owned(), slower);
                }
            }
            "pace" => {
                for element in table(&entry.node, &key)? {
                    let pace = number(&element.node, &format!("{key}.{}", element.key))?;
                    profile.paces.insert(element.key.clone().into_owned(), pace);
                }
            }
            _ => return Err(unknown(entry, "profile", PROFILE)),
        }
    }
    Ok(profile)
}

fn cost(task: &Entry, place: &str) -> Result<ProfiledCost, Wrong> {
    let mut cost = ProfiledCost::default();
    for entry in table(&task.node, place)? {
        let (node, key) = (&entry.node, format!("{place}.{}", entry.key));
        match entry.key.as_ref() {
            "measured" => cost.measured = text(node, &key)?,
            "n" => cost.ns.n = whole(node, &key)?,
            "min" => cost.ns.min = number(node, &key)?,
            "p10" => cost.ns.p10 = number(node, &key)?,
            "p50" => cost.ns.p50 = number(node, &key)?,
            "p90" => cost.ns.p90 = number(node, &key)?,
            _ => return Err(unknown(entry, place, COST)),
        }
    }
    let has = |name: &&&str| table(&task.node, place).is_ok_and(|all| all.iter().any(|e| e.key == **name));
    match COST.iter().find(|name| !has(name)) {
        Some(name) => Err(missing(task.line, place, name, COST)),
        None => Ok(cost),
    }
}

fn speed(element: &Entry, place: &str) -> Result<ProfiledSpeed, Wrong> {
    let mut speed = ProfiledSpeed::default();
    for entry in table(&element.node, place)? {
        let key = format!("{place}.{}", entry.key);
        let numbers = || match &entry.node.value {
            Tree::List(items) => items.iter().map(|item| number(item, &key)).collect(),
            _ => Err(expected("a list of numbers", &entry.node, &key)),
        };
        match entry.key.as_ref() {
            "alone_ns" => speed.alone_ns = numbers()?,
            "together_ns" => speed.together_ns = numbers()?,
            _ => return Err(unknown(entry, place, SPEED)),
        }
    }
    Ok(speed)
}

fn value(node: &Node, key: &str) -> Result<Value, Wrong> {
    Ok(match &node.value {
        Tree::Bool(b) => Value::Bool(*b),
        Tree::Text(t) => Value::Text(t.clone().into_owned()),
        Tree::List(items) => Value::Numbers(items.iter().map(|n| exact(n, key)).collect::<Result<_, _>>()?),
        Tree::Whole(_) | Tree::Float(_) => Value::Number(exact(node, key)?),
        _ => return Err(expected("a number, a text, true, false or a list of numbers", node, key)),
    })
}

/// A number that a parameter keeps exactly.
fn exact(node: &Node, key: &str) -> Result<f64, Wrong> {
    match node.value {
        Tree::Whole(n) if n.unsigned_abs() > sizes::WHOLE_NUMBER => {
            let most = sizes::WHOLE_NUMBER;
            let message =
                format!("{n} is too large; whole numbers are exact up to {most} (2^53); give it as a text");
            Err((node.line, key.into(), message))
        }
        _ => number(node, key),
    }
}

fn number(node: &Node, key: &str) -> Result<f64, Wrong> {
    match node.value {
        Tree::Whole(n) => Ok(n as f64),
        Tree::Float(x) => Ok(x),
        _ => Err(expected("a number", node, key)),
    }
}

/// A list of so many numbers.
fn numbers<const N: usize>(node: &Node, key: &str) -> Result<[f64; N], Wrong> {
    let wrong = || expected(&format!("a list of {N} numbers"), node, key);
    let Tree::List(items) = &node.value else { return Err(wrong()) };
    let numbers: Vec<f64> = items.iter().map(|n| number(n, key)).collect::<Result<_, _>>()?;
    numbers.try_into().map_err(|_| wrong())
}

fn whole(node: &Node, key: &str) -> Result<u64, Wrong> {
    whole_from(0, node, key)
}

/// `least` is what the message says; the value is checked with the whole graph.
fn whole_from(least: u64, node: &Node, key: &str) -> Result<u64, Wrong> {
    match node.value {
        Tree::Whole(n) if n >= 0 => Ok(n as u64),
        Tree::Float(x) if x.fract() == 0.0 && (0.0..=sizes::WHOLE_NUMBER as f64).contains(&x) => Ok(x as u64),
        _ => Err(expected(&format!("a whole number from {least}"), node, key)),
    }
}

fn text(node: &Node, key: &str) -> Result<String, Wrong> {
    match &node.value {
        Tree::Text(t) => Ok(t.clone().into_owned()),
        _ => Err(expected("a text", node, key)),
    }
}

fn truth(node: &Node, key: &str) -> Result<bool, Wrong> {
    match node.value {
        Tree::Bool(b) => Ok(b),
        _ => Err(expected("true or false", node, key)),
    }
}

fn table<'n, 'a>(node: &'n Node<'a>, key: &str) -> Result<&'n [Entry<'a>], Wrong> {
    match &node.value {
        Tree::Table(entries) => Ok(entries),
        _ => Err(expected("a table", node, key)),
    }
}

fn list<'n, 'a>(node: &'n Node<'a>, key: &str, what: &str) -> Result<&'n [Node<'a>], Wrong> {
    match &node.value {
        Tree::List(items) => Ok(items),
        _ => Err(expected(&format!("a list of {what}"), node, key)),
    }
}

fn expected(what: &str, node: &Node, key: &str) -> Wrong {
    (node.line, key.into(), format!("{what} expected, {} found", node.value.describe()))
}

fn required<'n, 'a>(
    entries: &'n [Entry<'a>],
    key: &str,
    node: &Node,
    place: &str,
) -> Result<&'n Entry<'a>, Wrong> {
    let allowed = if place.starts_with("edge") { EDGE } else { TASK };
    entries.iter().find(|e| e.key == key).ok_or_else(|| {
        // A misspelt key explains why the right one is missing.
        let wrong = entries.iter().find(|e| !allowed.contains(&e.key.as_ref()));
        wrong.map_or_else(|| missing(node.line, place, key, allowed), |entry| unknown(entry, place, allowed))
    })
}

fn missing(line: usize, place: &str, key: &str, allowed: &[&str]) -> Wrong {
    (line, place.into(), format!("the key {key:?} is missing; keys are {}", allowed.join(", ")))
}

fn unknown(entry: &Entry, place: &str, allowed: &[&str]) -> Wrong {
    let hint = did_you_mean(&entry.key, allowed.iter().copied());
    let message = format!("unknown key {}; keys are {}{hint}", quoted(&entry.key), allowed.join(", "));
    (entry.line, place.into(), message)
}
