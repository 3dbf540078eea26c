//! The tables as the C header.

use super::table::{Constant, Declaration, HANDLES, Notes, Tables, by_section};
use std::iter::once;

/// Characters of a line of the header.
const WIDTH: usize = 100;

/// The objects that have an error handler's function under a second name.
const HANDLED: [&str; 4] = ["Comm", "File", "Session", "Win"];

/// Handles that C programs of before the ABI pass to Fortran.
const FORTRAN: [&str; 11] =
    ["Comm", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Type", "Win"];

const TOP: &str = r#"#ifndef CELLWEAVE_MPI_H
#define CELLWEAVE_MPI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes, displacements and addresses. */
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

/* What is known of a finished operation. */
typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;

/* Handles: pointers in type only, so that the compiler tells them apart. */
"#;

const STATUS_OF_FORTRAN: &str = r#"
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
static inline int cellweave_copy_status(const void *from, void *to)
{
    *(MPI_Status *)to = *(const MPI_Status *)from;
    return MPI_SUCCESS;
}
#define MPI_Status_c2f(status, integers) cellweave_copy_status(status, integers)
#define MPI_Status_f2c(integers, status) cellweave_copy_status(integers, status)
#define PMPI_Status_c2f(status, integers) cellweave_copy_status(status, integers)
#define PMPI_Status_f2c(integers, status) cellweave_copy_status(integers, status)
#endif
"#;

/// The header's text.
pub(crate) fn text(tables: &Tables) -> String {
    let (version, subversion) = (tables.value("MPI_VERSION"), tables.value("MPI_SUBVERSION"));
    let mut out = format!(
        "/* mpi.h: the C interface of MPI {version}.{subversion}, standard ABI. \
         Made from the tables in crates/mpi/abi. */\n"
    );
    out += TOP;
    out.extend(HANDLES.map(|name| format!("typedef struct MPI_ABI_{name} *MPI_{name};\n")));
    for section in by_section(&tables.constants, |constant| &constant.section) {
        out += &constants(tables, section);
    }
    out += "\n/* Functions that a tool hands to MPI */\n";
    out.extend(callbacks(tables, true));
    for (prefix, title) in [("", ""), ("P", ", by the names that tools call")] {
        for section in by_section(&tables.functions, |function| &function.section) {
            out += &format!("\n/* {}{title} */\n", section[0].section);
            out.extend(section.iter().map(|function| {
                let head = format!("{} {prefix}{}(", function.returns, function.name);
                declared(&head, function)
            }));
        }
    }
    out += "\n/* Handles as integers of Fortran, by their names of before the ABI (MPI 5.0, section 19.3.4) */\n";
    out += "typedef int MPI_Fint;\n";
    for prefix in ["", "P"] {
        out.extend(FORTRAN.map(|name| {
            format!(
                "#define {prefix}MPI_{name}_c2f(handle) ((MPI_Fint){prefix}MPI_{name}_toint(handle))\n\
                 #define {prefix}MPI_{name}_f2c(integer) {prefix}MPI_{name}_fromint((int)(integer))\n"
            )
        }));
    }
    out + STATUS_OF_FORTRAN.trim_start() + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"
}

/// The constants of a section, and the types that must stand before them.
fn constants(tables: &Tables, section: &[Constant]) -> String {
    let Constant { section: title, kind, .. } = &section[0];
    if ["MPI_T_cb_safety", "MPI_T_source_order"].contains(&kind.as_str()) {
        let members: Vec<_> =
            section.iter().map(|constant| format!("    {} = {}", constant.name, constant.value)).collect();
        return format!("\n/* {title} */\ntypedef enum {kind} {{\n{}\n}} {kind};\n", members.join(",\n"));
    }
    let mut out = String::new();
    if title == "Predefined attribute callbacks" {
        out += "\n/* Functions that a program hands to MPI */\n";
        out.extend(callbacks(tables, false));
        out.extend(
            HANDLED.map(|name| format!("typedef MPI_{name}_errhandler_function MPI_{name}_errhandler_fn;\n")),
        );
    }
    out += &format!("\n/* {title} */\n");
    for constant in section {
        out += &format!("#define {:<30} {}{}\n", constant.name, value(constant), note(&constant.notes));
    }
    out
}

/// A constant's value as C writes it: handles and addresses are cast, what is negative is bracketed.
fn value(Constant { value, kind, .. }: &Constant) -> String {
    match kind.as_str() {
        _ if value.starts_with("MPI_") => value.clone(),
        "int" if value.starts_with('-') => format!("({value})"),
        "int" => value.clone(),
        kind => format!("(({kind}){value})"),
    }
}

/// The types of functions that a tool, or any program, hands over.
fn callbacks(tables: &Tables, tool: bool) -> impl Iterator<Item = String> + '_ {
    let all = tables.callbacks.iter().filter(move |callback| callback.name.starts_with("MPI_T_") == tool);
    all.map(|callback| declared(&format!("typedef {} ({})(", callback.returns, callback.name), callback))
}

fn note(notes: &Notes) -> String {
    notes.deprecated.as_ref().map_or(String::new(), |version| format!(" /* deprecated in MPI {version} */"))
}

/// A declaration from its head on, broken to the width, with its note.
fn declared(head: &str, function: &Declaration) -> String {
    let named = function.parameters.iter().map(|parameter| {
        let constant = if parameter.constant { "const " } else { "" };
        let stars = "*".repeat(parameter.stars);
        format!("{constant}{} {stars}{}{}", parameter.base, parameter.name, parameter.array)
    });
    let mut items: Vec<_> = named.collect();
    match (function.variadic, items.is_empty()) {
        (true, _) => items.push("...".to_owned()),
        (false, true) => items.push("void".to_owned()),
        _ => {}
    }
    let last = items.len() - 1;
    let mut lines = vec![head.to_owned()];
    for (index, item) in items.iter().enumerate() {
        let piece = format!("{item}{}", if index < last { "," } else { ");" });
        let line = lines.last_mut().expect("the head");
        let space = if line.ends_with('(') || line.trim().is_empty() { "" } else { " " };
        if line.trim().is_empty() || line.len() + space.len() + piece.len() < WIDTH {
            line.extend(once(space).chain(once(piece.as_str())));
        } else {
            lines.push(format!("    {piece}"));
        }
    }
    format!("{}{}\n", lines.join("\n"), note(&function.notes))
}
