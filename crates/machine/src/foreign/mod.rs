//! Machines from the files of other tools, and into them.
//!
//! | from | elements and their places | distances |
//! |---|---|---|
//! | a matrix of latencies, as `core-to-core-latency --csv` writes it | cpus on one chip | latencies |
//! | `lstopo --of xml` of hwloc 2 and later | packages, NUMA nodes, caches, cores | those that [`hwloc`] wrote |
//! | the text of `likwid-topology` | sockets, NUMA domains, caches, cores | none |
//!
//! The content tells the format, not the file's name. None of these has limits: the machine says that they are
//! unmeasured. [`hwloc`] gives a machine as XML that `lstopo`, `hwloc-calc` and others read.

mod csv;
mod hwloc;
mod likwid;
mod xml;

pub use hwloc::hwloc;

use crate::{Element, Machine, Memory, Place, check};
use ground::Located;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Read;
use std::path::Path;

/// The largest file of another tool that is read: latencies of 4096 cpus with all their digits are smaller.
const FILE_BYTES_MAX: usize = 128 << 20;

/// A machine, and what the file had that a machine has not, or the other way round.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The machine.
    pub machine: Machine,
    /// Sentences about it.
    pub notes: Vec<String>,
}

/// Reads a file of another tool.
///
/// # Errors
/// When it cannot be read, is none of the formats, or makes no sense; says in which line.
pub fn read(path: &Path) -> Result<Imported, Located> {
    let file = path.display().to_string();
    let wrong = |e: std::io::Error| Located::new(e.to_string()).file(&file);
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(path).map_err(wrong)?;
    opened.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(wrong)?;
    if bytes.len() > FILE_BYTES_MAX {
        let message =
            format!("more than {} MiB: no computer's description is as large", FILE_BYTES_MAX >> 20);
        return Err(Located::new(message).file(file));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        Located::new("not text in UTF-8").line(line).file(&file)
    })?;
    let name = path.file_stem().map_or_else(|| "machine".into(), |s| s.to_string_lossy().into_owned());
    parse(&text, &name).map_err(|e| e.file(file))
}

/// The machine that a text of another tool describes, with that name.
///
/// ```
/// let two = machine::foreign::parse(",\n95.5,\n", "pair").unwrap();
/// assert_eq!(two.machine.distances.unwrap().latency_ns, [[0.0, 95.5], [95.5, 0.0]]);
/// let wrong = machine::foreign::parse(",,\n95.5,\n", "pair").unwrap_err().to_string();
/// assert!(wrong.starts_with("line 2: 2 columns"), "{wrong}");
/// ```
///
/// # Errors
/// As [`read`].
pub fn parse(text: &str, name: &str) -> Result<Imported, Located> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = text.trim_start();
    if start.is_empty() {
        return Err(Located::new(format!("empty; {}", formats())));
    }
    let imported = if start.starts_with('<') {
        xml::read(text, name)
    } else if likwid::is(text) {
        likwid::read(text, name)
    } else {
        csv::read(text, name)
    }?;
    check::check(&imported.machine)?;
    Ok(imported)
}

fn formats() -> &'static str {
    "a matrix of latencies (CSV), hwloc's XML and the text of likwid-topology are read"
}

/// A cpu of another computer: everything but its place and its memory is as of one of this computer.
fn cpu(number: u32, place: Place, memory: Option<Memory>) -> Element {
    Element {
        name: format!("CPU{number}"),
        kind: "core".into(),
        place,
        memory,
        incoming_max: None,
        outgoing_max: BTreeMap::new(),
        os_cpu: Some(number),
    }
}

/// A machine of these cpus.
fn machine(name: &str, description: impl Display, elements: Vec<Element>) -> Machine {
    let printable = |text: String| text.chars().filter(|c| !c.is_control()).collect::<String>();
    Machine {
        name: printable(name.into()).trim().chars().take(check::NAME_BYTES_MAX / 4).collect(),
        description: printable(description.to_string()),
        elements,
        ..Machine::default()
    }
}
