//! Every function's two names, for the linker. `MPI_X` is weak, so that a tool can replace it, and jumps to `PMPI_X`.

use super::table::Tables;
use std::fmt::Write;

/// The assembly of the names without P.
pub(crate) fn assembly(tables: &Tables, architecture: &str) -> Result<String, String> {
    let jump = match architecture {
        "x86_64" => "jmp",
        "aarch64" => "b",
        other => return Err(format!("no jump is known for {other}; allowed are x86_64 and aarch64")),
    };
    let mut out = String::new();
    for function in &tables.functions {
        let name = &function.name;
        // A section of its own each, as the compiler gives each function one.
        writeln!(out, ".pushsection .text.{name},\"ax\",%progbits\n.balign 16\n.weak {name}")
            .expect("memory");
        writeln!(out, ".type {name}, %function\n{name}: {jump} P{name}").expect("memory");
        writeln!(out, ".size {name}, . - {name}\n.popsection").expect("memory");
    }
    Ok(out)
}

/// The version script: what the shared library exports.
pub(crate) fn exports(tables: &Tables) -> String {
    let names: String =
        tables.functions.iter().map(|function| format!("    {0}; P{0};\n", function.name)).collect();
    // cellweave_compute is what cell.h asks for.
    format!("{{\nglobal:\n{names}    cellweave_compute;\nlocal:\n    *;\n}};\n")
}
