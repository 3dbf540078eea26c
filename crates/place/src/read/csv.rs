//! CSV: a square matrix, or a line per flow under a heading.

use super::{ENTRIES_MAX, Lines, entries_allowed, flow, matrix, not_bytes, parts_allowed};
use crate::{MemoryFlow, Traffic, TrafficPhase};
use ground::{Located, did_you_mean, quoted};
use std::collections::HashMap;

/// What a heading may name; the first three are needed.
const COLUMNS: [&str; 5] = ["source", "destination", "bytes", "phase", "weight"];
/// A source or destination that is main memory.
const MEMORY: &str = "memory";

pub(super) fn read(lines: &mut Lines) -> Result<Traffic, Located> {
    let Some((line, text)) = lines.next()? else { return Err(Located::new("the matrix is empty")) };
    let first = (line, text.to_string());
    if first.1.starts_with(|c: char| c.is_ascii_alphabetic())
        && !first.1.to_ascii_lowercase().starts_with("nan")
    {
        return list(lines, &first.1)
            .map_err(|error| if error.line.is_none() { error.line(line) } else { error });
    }
    matrix::read(lines, Some(first))
}

/// Lines of flows, by the columns of a heading.
fn list(lines: &mut Lines, heading: &str) -> Result<Traffic, Located> {
    let names: Vec<String> = heading.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
    if let Some(name) = names.iter().find(|name| !COLUMNS.contains(&name.as_str())) {
        let near = did_you_mean(name, COLUMNS);
        return Err(Located::new(format!(
            "no column {}; columns are {}{near}",
            quoted(name),
            COLUMNS.join(", ")
        )));
    }
    let at = |column: &str| names.iter().position(|name| name == column);
    let needed =
        |column: &str| at(column).ok_or_else(|| Located::new(format!("the column {column} is missing")));
    let (source, destination, bytes) = (needed(COLUMNS[0])?, needed(COLUMNS[1])?, needed(COLUMNS[2])?);
    let (phase, weight) = (at(COLUMNS[3]), at(COLUMNS[4]));
    let mut phases: Vec<TrafficPhase> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let (mut parts, mut entries) = (0, 0);
    while let Some((line, text)) = lines.next()? {
        entries += 1;
        if entries > ENTRIES_MAX {
            entries_allowed(entries)?;
        }
        let within = |message: String| Located::new(message).line(line);
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        if cells.len() != names.len() {
            return Err(within(format!("{} entries under {} columns", cells.len(), names.len())));
        }
        let number =
            |cell: &str| cell.parse::<f64>().map_err(|_| within(format!("{} is no number", quoted(cell))));
        let part = |cell: &str| match cell {
            MEMORY => Ok(None),
            _ => cell.parse::<usize>().map(Some).map_err(|_| {
                within(format!("{} is no part; allowed: whole numbers from 0, and {MEMORY}", quoted(cell)))
            }),
        };
        let (from, to, bytes) = (part(cells[source])?, part(cells[destination])?, number(cells[bytes])?);
        if let Some(why) = not_bytes(bytes) {
            return Err(within(why));
        }
        parts = parts.max(from.max(to).map_or(0, |part| part.saturating_add(1)));
        parts_allowed(parts).map_err(|error| error.line(line))?;
        let name = phase.map_or("all", |column| cells[column]);
        let index = *known.entry(name.into()).or_insert_with(|| {
            phases.push(TrafficPhase::new(name, Vec::new()));
            phases.len() - 1
        });
        let phase = &mut phases[index];
        if let Some(column) = weight {
            phase.weight = number(cells[column])?;
        }
        match (from, to) {
            (Some(from), Some(to)) => phase.flows.extend(flow(from, to, bytes)),
            (None, Some(part)) => {
                phase.memory.push(MemoryFlow { part, read_bytes: bytes, written_bytes: 0.0 })
            }
            (Some(part), None) => {
                phase.memory.push(MemoryFlow { part, read_bytes: 0.0, written_bytes: bytes })
            }
            (None, None) => return Err(within("memory sends to memory; one end is a part".into())),
        }
    }
    if phases.is_empty() {
        return Err(Located::new("there is no line below the heading"));
    }
    Ok(Traffic { name: String::new(), parts, phases })
}
