//! A square matrix, a row to a line; entries separated by commas, semicolons or blanks.

use super::{ENTRIES_MAX, Lines, entries_allowed, flow, not_bytes, parts_allowed};
use crate::{Traffic, TrafficPhase};
use ground::{Located, quoted};

/// Reads the matrix; `first` is a line that was read already.
pub(super) fn read(lines: &mut Lines, first: Option<(usize, String)>) -> Result<Traffic, Located> {
    let (mut flows, mut columns, mut rows) = (Vec::new(), None, 0);
    let mut row = |line: usize, text: &str| -> Result<(), Located> {
        let within = |message: String| Located::new(message).line(line);
        let mut count = 0;
        for (to, entry) in entries(text).enumerate() {
            count += 1;
            if count > ENTRIES_MAX {
                return entries_allowed(count);
            }
            let bytes: f64 = entry.parse().map_err(|_| within(format!("{} is no number", quoted(entry))))?;
            if let Some(why) = not_bytes(bytes) {
                return Err(within(format!("row {rows}, column {to}: {why}")));
            }
            flows.extend(flow(rows, to, bytes));
        }
        let wanted = *columns.get_or_insert(count);
        parts_allowed(wanted).map_err(|error| error.line(line))?;
        if count != wanted {
            return Err(within(format!("row {rows} has {count} entries, the ones before {wanted}")));
        }
        if rows == wanted {
            return Err(within(format!(
                "more than {rows} rows of {wanted} entries: the matrix is not square"
            )));
        }
        rows += 1;
        Ok(())
    };
    if let Some((line, text)) = first {
        row(line, &text)?;
    }
    while let Some((line, text)) = lines.next()? {
        if !text.starts_with('#') {
            row(line, text)?;
        }
    }
    parts_allowed(rows)?;
    match columns {
        Some(columns) if columns != rows => {
            Err(Located::new(format!("{rows} rows of {columns} entries: the matrix is not square")))
        }
        _ => Ok(Traffic { name: String::new(), parts: rows, phases: vec![TrafficPhase::new("all", flows)] }),
    }
}

/// The entries of a row.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter(|entry| !entry.is_empty())
}
