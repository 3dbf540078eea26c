//! Makes everything that follows from the tables of the MPI-5 ABI in `abi`, so that nothing of it is written by hand:
//!
//! | file | what it is | who takes it |
//! |---|---|---|
//! | `values.rs` | the constants, and every function's name | `src/abi/values.rs` |
//! | `prototypes.rs` | every function's type: the compiler compares it with the definition | `src/abi/prototypes.rs` |
//! | `unsupported.rs` | the functions that the library does not have | `src/comm/unsupported.rs` |
//! | `twins.s` | every function's second name: `MPI_X` jumps to `PMPI_X` | `src/abi/mod.rs` |
//! | `exports.map` | what the shared library exports | `pep517/native.py`, which links it |
//! | `mpi.h` | the C header | `pep517/native.py`, which packs it |

mod header;
mod rust;
mod table;
mod twins;

use std::path::Path;
use std::{env, fs, process};
use table::Tables;

fn main() {
    println!("cargo::rerun-if-changed=abi");
    if let Err(told) = make() {
        println!("cargo::error={told}");
        process::exit(1);
    }
}

/// Makes the files.
fn make() -> Result<(), String> {
    let tables = Tables::read(Path::new("abi"))?;
    let folder = variable("OUT_DIR")?;
    let made = [
        ("values.rs", rust::values(&tables)?),
        ("prototypes.rs", rust::prototypes(&tables)?),
        ("unsupported.rs", rust::unsupported(&tables)?),
        ("twins.s", twins::assembly(&tables, &variable("CARGO_CFG_TARGET_ARCH")?)?),
        ("exports.map", twins::exports(&tables)),
        ("mpi.h", header::text(&tables)),
    ];
    made.iter().try_for_each(|(name, text)| {
        fs::write(Path::new(&folder).join(name), text).map_err(|told| format!("{name}: {told}"))
    })
}

/// A variable that cargo sets.
fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|told| format!("{name}: {told}"))
}
