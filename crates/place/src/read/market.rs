//! Matrix Market: row sends to column.

use super::{Lines, entries_allowed, flow, not_bytes, parts_allowed};
use crate::{Traffic, TrafficPhase};
use ground::{Located, quoted};

const HEADING: &str = "%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric";

pub(super) fn read(lines: &mut Lines) -> Result<Traffic, Located> {
    let Some((line, heading)) = lines.next()? else { return Err(Located::new("the matrix is empty")) };
    let words: Vec<String> = heading.split_whitespace().map(str::to_ascii_lowercase).collect();
    let is = |at: usize, allowed: &[&str]| words.get(at).is_some_and(|word| allowed.contains(&word.as_str()));
    if !(words.len() == 5
        && is(0, &["%%matrixmarket"])
        && is(1, &["matrix"])
        && is(2, &["coordinate", "array"])
        && is(3, &["real", "integer", "pattern", "double"])
        && is(4, &["general", "symmetric"]))
    {
        return Err(Located::new(format!("{} is not of the form {HEADING}", quoted(heading))).line(line));
    }
    let (dense, pattern, symmetric) = (is(2, &["array"]), is(3, &["pattern"]), is(4, &["symmetric"]));
    let Some((line, sizes)) = next(lines)? else {
        return Err(Located::new("the line with the sizes is missing"));
    };
    let sizes: Vec<usize> = numbers(&sizes, line)?;
    let (parts, entries) = match sizes[..] {
        [rows, columns, entries] if !dense && rows == columns => (rows, entries),
        [rows, columns] if dense && rows == columns => match symmetric {
            true => (rows, rows * (rows + 1) / 2),
            false => (rows, rows.saturating_mul(rows)),
        },
        [rows, columns, ..] if rows != columns => {
            return Err(Located::new(format!("{rows} rows and {columns} columns: the matrix is not square"))
                .line(line));
        }
        _ => return Err(Located::new("sizes are rows, columns and, of coordinates, entries").line(line)),
    };
    entries_allowed(entries).map_err(|error| error.line(line))?;
    parts_allowed(parts).map_err(|error| error.line(line))?;
    let mut flows = Vec::new();
    // Of an array, columns come one after the other; of a symmetric one, from the diagonal down.
    let mut at = (0, 0);
    for entry in 0..entries {
        let Some((line, text)) = next(lines)? else {
            return Err(Located::new(format!("{entry} entries; the sizes say {entries}")));
        };
        let within = |message: String| Located::new(message).line(line);
        let cells: Vec<f64> = numbers(&text, line)?;
        let (from, to, bytes) = match cells[..] {
            [bytes] if dense => {
                let (row, column) = at;
                at = match row + 1 < parts {
                    true => (row + 1, column),
                    false if symmetric => (column + 1, column + 1),
                    false => (0, column + 1),
                };
                (row, column, bytes)
            }
            [row, column] if pattern && !dense => {
                (place(row, parts, line)?, place(column, parts, line)?, 1.0)
            }
            [row, column, bytes] if !pattern && !dense => {
                (place(row, parts, line)?, place(column, parts, line)?, bytes)
            }
            _ => return Err(within(format!("{} is no entry of this matrix", quoted(&text)))),
        };
        if let Some(why) = not_bytes(bytes) {
            return Err(within(why));
        }
        flows.extend(flow(from, to, bytes));
        if symmetric {
            flows.extend(flow(to, from, bytes));
        }
    }
    if let Some((line, _)) = next(lines)? {
        return Err(Located::new(format!("more than the {entries} entries of the sizes")).line(line));
    }
    Ok(Traffic { name: String::new(), parts, phases: vec![TrafficPhase::new("all", flows)] })
}

/// The next line that is no comment.
fn next(lines: &mut Lines) -> Result<Option<(usize, String)>, Located> {
    while let Some((line, text)) = lines.next()? {
        if !text.starts_with('%') {
            return Ok(Some((line, text.to_string())));
        }
    }
    Ok(None)
}

fn numbers<N: std::str::FromStr>(text: &str, line: usize) -> Result<Vec<N>, Located> {
    let number = |word: &str| {
        word.parse().map_err(|_| Located::new(format!("{} is no number", quoted(word))).line(line))
    };
    text.split_whitespace().map(number).collect()
}

/// A row or column, counted from 1, as a part.
fn place(number: f64, parts: usize, line: usize) -> Result<usize, Located> {
    if number.fract() == 0.0 && (1.0..=parts as f64).contains(&number) {
        return Ok(number as usize - 1);
    }
    Err(Located::new(format!("{number} is no row or column; allowed: 1 to {parts}")).line(line))
}
