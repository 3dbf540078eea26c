//! A matrix of latencies in ns, as `core-to-core-latency --csv` writes it: a row and a column for each cpu, empty where
//! nothing was measured. The half that is missing is as the half that is there. With or without the cpus' names in the
//! first row and the first column.

use super::{Imported, cpu, formats, machine};
use crate::check::ELEMENTS_MAX;
use crate::{Distances, Place};
use ground::{Located, quoted};

/// A row of the file, and its line.
struct Row<'a> {
    line: usize,
    cells: Vec<&'a str>,
}

pub(super) fn read(text: &str, name: &str) -> Result<Imported, Located> {
    let mut rows = Vec::new();
    for (i, text) in text.lines().enumerate() {
        let text = text.trim_end();
        // A machine of one cpu has one empty row; a blank line at the end is none.
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let cells: Vec<&str> = text.split(',').map(str::trim).take(ELEMENTS_MAX + 2).collect();
        if cells.len() > ELEMENTS_MAX + 1 || rows.len() > ELEMENTS_MAX {
            let message = format!("more than {ELEMENTS_MAX} cpus; a machine has at most as many");
            return Err(Located::new(message).line(i + 1));
        }
        rows.push(Row { line: i + 1, cells });
    }
    let names = names(&mut rows)?;
    let n = rows.len();
    let columns = rows.first().map_or(0, |r| r.cells.len());
    if n < 2 && columns < 2 {
        let line = rows.first().map_or(1, |r| r.line);
        return Err(Located::new(format!("no matrix: {}", formats())).line(line));
    }
    for row in &rows {
        if row.cells.len() != columns {
            let message = format!("{} columns; the rows before have {columns}", row.cells.len());
            return Err(Located::new(message).line(row.line));
        }
    }
    if columns != n {
        let message =
            format!("not square: {n} rows and {columns} columns; there is one of each for each cpu");
        return Err(Located::new(message).line(rows.last().map_or(1, |r| r.line)));
    }
    let mut latency_ns = vec![vec![0.0; n]; n];
    let mut zeros = 0;
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            let own = number(&rows[i], j)?;
            let found = own.or(number(&rows[j], i)?).ok_or_else(|| {
                let message = format!("neither cpu {i} with {j} nor {j} with {i} has a latency");
                Located::new(message).line(rows[i.max(j)].line)
            })?;
            zeros += usize::from(found == 0.0);
            latency_ns[i][j] = found;
        }
    }
    let elements = (0..n).map(|i| {
        let os_cpu = names.as_ref().map_or(i as u32, |names| names[i]);
        cpu(os_cpu, Place { core: Some(i as u32), ..Place::default() }, None)
    });
    let mut machine =
        machine(name, "latencies from a file; limits and bandwidths unmeasured", elements.collect());
    machine.distances = Some(Distances { latency_ns, bandwidth_bytes_per_s: vec![vec![0.0; n]; n] });
    let mut notes = vec![format!(
        "{n} cpus, all on one chip: the file has no word of chips and caches; limits and bandwidths are unmeasured"
    )];
    if zeros > 0 {
        notes.push(format!(
            "{zeros} of {} latencies are 0 ns: the clock of that computer was coarse",
            n * (n - 1)
        ));
    }
    Ok(Imported { machine, notes })
}

/// Takes the names of the cpus off, where the first row and the first column have them: `CPU0`, `cpu3`, or numbers in
/// the first row of a matrix with an empty corner and one row more than cpus.
fn names(rows: &mut Vec<Row>) -> Result<Option<Vec<u32>>, Located> {
    let Some(head) = rows.first() else { return Ok(None) };
    let numbers =
        |cells: &[&str]| -> Option<Vec<u32>> { cells.iter().map(|cell| cpu_number(cell)).collect() };
    let has_corner =
        head.cells.len() > 1 && rows.len() == head.cells.len() && head.cells[0].parse::<f64>().is_err();
    let Some(across) = head.cells.get(1..).filter(|_| has_corner).and_then(numbers) else { return Ok(None) };
    for (row, expected) in rows[1..].iter().zip(&across) {
        if cpu_number(row.cells[0]) != Some(*expected) {
            let message = format!(
                "the row is called {}, and the column at its place {expected}: names do not match",
                quoted(row.cells[0])
            );
            return Err(Located::new(message).line(row.line));
        }
    }
    let mut each = across.clone();
    each.sort_unstable();
    if let Some(twice) = each.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Located::new(format!("cpu {} has two columns", twice[0])).line(rows[0].line));
    }
    rows.remove(0);
    for row in rows.iter_mut() {
        row.cells.remove(0);
    }
    Ok(Some(across))
}

fn cpu_number(cell: &str) -> Option<u32> {
    let digits = cell.trim_matches('"').trim_start_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse().ok().filter(|n| *n < 1 << 20)
}

/// The cell's latency; `None` where it is empty.
fn number(row: &Row, column: usize) -> Result<Option<f64>, Located> {
    let cell = row.cells[column];
    if cell.is_empty() {
        return Ok(None);
    }
    let wrong = |what: &str| {
        let message = format!("column {}: {} is {what}", column + 1, quoted(cell));
        Err(Located::new(message).line(row.line))
    };
    match cell.parse::<f64>() {
        Ok(ns) if !ns.is_finite() => {
            wrong("no latency; ns from 0 on are, and nothing where none was measured")
        }
        Ok(ns) if ns < 0.0 => wrong("negative; latencies are ns from 0 on"),
        Ok(ns) => Ok(Some(ns)),
        Err(_) => wrong("no number"),
    }
}
