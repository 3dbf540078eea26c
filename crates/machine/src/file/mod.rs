//! The machine file (TOML), round trip exact: every field, every float, every order.
//!
//! ```toml
//! format = 1
//! name = "board"
//! description = "by hand"
//! measured = true
//! computer = "AMD EPYC, 2 cpus, Linux 6.1.0"     # which one was measured; absent: not known
//!
//! [kind.dsp]                     # by kind of element; a missing role follows from the memories
//! role = "accelerator"           # or general, or peer: see `machine::Role`
//!
//! [[element]]
//! name = "CPU0"
//! kind = "core"                  # `core` when absent
//! chip = 0                       # also numa, l3, l2, core, capacity, os_cpu; tile = [column, row] in a mesh
//! memory = { bytes = 1048576, hard = false, l1_bytes = 32768 }  # holds_code = false: code lies elsewhere
//!
//! [[element]]
//! name = "DSP"
//! kind = "dsp"
//! incoming_max = 16
//! outgoing_max = { core = 8 }
//!
//! [[limit]]
//! name = "bus"
//! capacity_bytes_per_s = 12e9
//! error = 0.04                   # of what it decides, |predicted / measured - 1| in the mean; absent: not known
//! pairs = [{ from = "*", to = ["CPU0..DSP"] }]   # all of them; from one to another in the file's order; or names
//!
//! [overhead.core]                # by kind of element
//! per_transfer_ns = 150.0
//! per_byte_ns = 0.05
//!
//! [[handover]]                   # lines through a ring; one curve for all pairs that share as much
//! shares = "l3"                  # the nearest thing that both share: core, l2, l3, chip or nothing
//! points = [                     # bytes at once, bytes of the ring; ns per line: near, one way, both ways
//!   [4096, 65536, 1.7, 7.4, 24.0],
//!   [4096, 4194304, 1.7, 1.8, 15.7],
//! ]
//!
//! [[together]]                   # how many times longer these take when all of them compute
//! elements = ["CPU0", "DSP"]     # as in a limit's pairs
//! computing = 1.02
//! memory = 1.4
//!
//! [distances]                    # [reader][source]
//! latency_ns = [[0.0, 90.5], [88.0, 0.0]]
//! bandwidth_bytes_per_s = [[0.0, 6e9], [5.5e9, 0.0]]
//! ```
//!
//! A key that is absent means none (no memory: not limited), zero (`chip`), or `false`. Files of more than
//! [`FILE_BYTES_MAX`] and machines of more than [`ELEMENTS_MAX`](crate::check::ELEMENTS_MAX) elements are refused.

mod reader;
mod table;
mod writer;

use crate::{Machine, check};
use ground::Located;
use std::io::{Read, Write};
use std::path::Path;

/// The largest machine file that is read or written.
pub const FILE_BYTES_MAX: usize = 16 << 20;
/// The version of the format that this reads and writes.
pub const FORMAT: u32 = 1;

/// The machine that a text describes; `file` is what errors call it.
///
/// ```
/// let text = "name = 'pair'\n[[element]]\nname = 'A'\n[[element]]\nname = 'B'";
/// let machine = machine::file::parse(text, "pair.toml").unwrap();
/// assert_eq!(machine::file::parse(&machine::file::to_text(&machine).unwrap(), "again").unwrap(), machine);
///
/// let wrong = machine::file::parse("name = 'one'\n[[element]]\nnmae = 'A'", "one.toml").unwrap_err();
/// let wrong = wrong.to_string();
/// assert!(wrong.starts_with("one.toml:3: element[0].nmae: unknown key; known are name, kind, "), "{wrong}");
/// assert!(wrong.ends_with("; did you mean `name`?"), "{wrong}");
/// ```
pub fn parse(text: &str, file: &str) -> Result<Machine, Located> {
    if text.len() > FILE_BYTES_MAX {
        return Err(too_large().file(file));
    }
    reader::machine(text).map_err(|e| e.file(file))
}

/// The machine file's text.
///
/// # Errors
/// When the machine is not one that could be read again (see [`check`](crate::check::check)).
pub fn to_text(machine: &Machine) -> Result<String, Located> {
    check::check(machine)?;
    let text = writer::machine(machine);
    if text.len() > FILE_BYTES_MAX { Err(too_large()) } else { Ok(text) }
}

/// Reads a machine file.
pub fn read(path: &Path) -> Result<Machine, Located> {
    let name = path.display().to_string();
    let wrong = |e: std::io::Error| Located::new(e.to_string()).file(&name);
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(wrong)?;
    file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(wrong)?;
    if bytes.len() > FILE_BYTES_MAX {
        return Err(too_large().file(name));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        Located::new("not UTF-8, which TOML is").line(line).file(&name)
    })?;
    parse(&text, &name)
}

/// Writes a machine file, whole or not at all; one that is there is replaced.
pub fn write(path: &Path, machine: &Machine) -> Result<(), Located> {
    let name = path.display().to_string();
    let text = to_text(machine).map_err(|e| e.file(&name))?;
    ground::write_whole(path, |out| out.write_all(text.as_bytes()))
        .map_err(|e| Located::new(e.to_string()).file(&name))
}

fn too_large() -> Located {
    Located::new(format!("more than {} MiB, the most that a machine file may have", FILE_BYTES_MAX >> 20))
}
