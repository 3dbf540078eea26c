//! Patterns of traffic from files.
//!
//! | ending | what it is |
//! |---|---|
//! | `.csv` | a square matrix (row sends to column), or lines of flows under a heading |
//! | `.mtx` | Matrix Market, `coordinate` or `array`, `general` or `symmetric` |
//! | `.json` | what `cellrun --profile` writes; its phases |
//! | `.prof` | what Open MPI's monitoring writes; several ranks' files one after the other |
//! | `.mat` | a square matrix with blanks, as Open MPI's `profile2mat` makes it |
//!
//! Lines of flows have the columns `source`, `destination`, `bytes`, and may have `phase` and `weight`. `memory` as a
//! source or destination is main memory.

mod csv;
mod market;
mod matrix;
mod monitoring;
mod profile;

use crate::{Traffic, TrafficFlow, traffic::PARTS_MAX};
use ground::{Located, did_you_mean};
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The most entries that are read.
pub const ENTRIES_MAX: usize = 4_000_000;
/// The longest line, in bytes: a row of a full matrix.
const LINE_BYTES_MAX: usize = 1 << 20;
/// The largest profile, in bytes: it is read at once.
const PROFILE_BYTES_MAX: u64 = 1 << 28;

/// The traffic in a file; the ending of its name says how to read it.
///
/// # Errors
/// The file cannot be read, or is not what its name says; says where and what is allowed.
pub fn file(path: &Path) -> Result<Traffic, Located> {
    const ENDINGS: [&str; 5] = ["csv", "mtx", "json", "prof", "mat"];
    let name = path.display().to_string();
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let within = |error: Located| error.file(name.clone());
    let lines = || Lines::open(path).map_err(within);
    let traffic = match ending {
        "csv" => csv::read(&mut lines()?),
        "mtx" => market::read(&mut lines()?),
        "mat" => matrix::read(&mut lines()?, None),
        "prof" => monitoring::read(&mut lines()?),
        "json" => profile::read(path),
        _ => Err(Located::new(format!(
            "a pattern's file ends in .{}{}",
            ENDINGS.join(", ."),
            did_you_mean(ending, ENDINGS)
        ))),
    };
    let traffic = Traffic { name: name.clone(), ..traffic.map_err(within)? };
    traffic.check()?;
    Ok(traffic)
}

/// The traffic of a matrix: row sends to column, in bytes. The diagonal does not count.
///
/// # Errors
/// Rows of different lengths, no rows, a number that is negative or not finite.
///
/// ```
/// let traffic = place::read::matrix("m", &[vec![0.0, 3.0], vec![4.0, 9.0]]).unwrap();
/// assert_eq!(traffic.phases[0].flows.len(), 2);
/// let wrong = place::read::matrix("m", &[vec![0.0, 3.0]]).unwrap_err().to_string();
/// assert!(wrong.contains("not square"), "{wrong}");
/// ```
pub fn matrix(name: &str, rows: &[Vec<f64>]) -> Result<Traffic, Located> {
    let wrong = |message: String| Err(Located::new(message).key(name));
    parts_allowed(rows.len()).map_err(|error| error.key(name))?;
    let mut flows = Vec::new();
    for (from, row) in rows.iter().enumerate() {
        if row.len() != rows.len() {
            return wrong(format!(
                "row {from} has {} entries of {}: the matrix is not square",
                row.len(),
                rows.len()
            ));
        }
        for (to, &bytes) in row.iter().enumerate() {
            if let Some(why) = not_bytes(bytes) {
                return wrong(format!("row {from}, column {to}: {why}"));
            }
            flows.push((from, to, bytes));
        }
    }
    let traffic = Traffic::of(name, rows.len(), flows);
    traffic.check()?;
    Ok(traffic)
}

/// Why a number is no amount of bytes.
fn not_bytes(bytes: f64) -> Option<String> {
    (!bytes.is_finite() || bytes < 0.0).then(|| format!("{bytes} bytes; allowed: finite numbers from 0"))
}

/// Refuses matrices of no or too many parts.
fn parts_allowed(parts: usize) -> Result<(), Located> {
    if parts == 0 {
        return Err(Located::new("the matrix is empty"));
    }
    if parts > PARTS_MAX {
        return Err(Located::new(format!("{parts} parts; at most {PARTS_MAX} are placed at once")));
    }
    Ok(())
}

/// Refuses more entries than are read.
fn entries_allowed(entries: usize) -> Result<(), Located> {
    if entries > ENTRIES_MAX {
        return Err(Located::new(format!(
            "{entries} entries; at most {ENTRIES_MAX} are read: add up what parts of the program send together"
        )));
    }
    Ok(())
}

/// The flow of an entry; nothing for the diagonal and for zeros.
fn flow(from: usize, to: usize, bytes: f64) -> Option<TrafficFlow> {
    (from != to && bytes > 0.0).then_some(TrafficFlow { from, to, bytes })
}

/// The lines of a file, one at a time, with their numbers.
struct Lines {
    from: BufReader<std::fs::File>,
    line: usize,
    text: Vec<u8>,
}

impl Lines {
    fn open(path: &Path) -> Result<Self, Located> {
        let found = std::fs::File::open(path).map_err(|e| Located::new(e.to_string()))?;
        Ok(Self { from: BufReader::new(found), line: 0, text: Vec::new() })
    }

    /// The next line that is not blank, trimmed.
    fn next(&mut self) -> Result<Option<(usize, &str)>, Located> {
        loop {
            self.text.clear();
            let mut limited = std::io::Read::take(&mut self.from, LINE_BYTES_MAX as u64 + 1);
            let read = limited.read_until(b'\n', &mut self.text).map_err(|e| Located::new(e.to_string()))?;
            if read == 0 {
                return Ok(None);
            }
            self.line += 1;
            if read > LINE_BYTES_MAX {
                return Err(
                    Located::new(format!("a line of more than {LINE_BYTES_MAX} bytes")).line(self.line)
                );
            }
            if !self.text.trim_ascii().is_empty() {
                break;
            }
        }
        match std::str::from_utf8(&self.text) {
            Ok(text) => Ok(Some((self.line, text.trim()))),
            Err(_) => Err(Located::new("not UTF-8").line(self.line)),
        }
    }
}
