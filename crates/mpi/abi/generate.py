#!/usr/bin/env python3
"""Write everything that follows from the tables of the MPI-5 ABI.

`functions.txt`, `callbacks.txt` and `constants.txt` beside this file are the one place for names, types and values.
From them come the C header, the Rust constants, the C file that gives every function its two names, and the linker's
list of what the library exports.

    python crates/mpi/abi/generate.py            write them
    python crates/mpi/abi/generate.py --check    write nothing; fail when one of them differs
"""

from __future__ import annotations

import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
MADE_BY = "Made by crates/mpi/abi/generate.py from the tables beside it; edit those."
WIDTH = 100

HANDLES = (
    *("Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win"),
    *("T_cvar_handle", "T_enum", "T_event_instance", "T_event_registration", "T_pvar_handle", "T_pvar_session"),
)
NULL = {"MPI_Datatype": "MPI_DATATYPE_NULL", "MPI_T_event_instance": "0", "MPI_T_event_registration": "0"}


@dataclass(frozen=True)
class Function:
    """A function, or the type of one: what it returns, its name and its parameters as C declares them."""

    returns: str
    name: str
    parameters: tuple[str, ...]
    deprecated: str

    @property
    def names(self) -> list[str]:
        """The parameters' names."""
        return [m[1] for p in self.parameters if (m := re.search(r"(\w+)(?:\[\d*\])*$", p)) and p != "void"]

    def declaration(self, prefix: str = "", end: str = ";") -> str:
        """As a C declaration, broken to the header's width."""
        head = f"{self.returns} {prefix}{self.name}("
        note = f" /* deprecated in MPI {self.deprecated} */" if self.deprecated else ""
        return fold(head, self.parameters, f"){end}") + note


@dataclass(frozen=True)
class Constant:
    """A constant: its name, its value or another constant's name, and its C type."""

    name: str
    value: str
    type: str
    deprecated: str


def fold(head: str, items: tuple[str, ...], tail: str) -> str:
    """Join items by commas, broken so that lines stay within the width."""
    lines, line = [], head
    for i, item in enumerate(items):
        piece = item + ("," if i + 1 < len(items) else tail)
        if line.strip() and len(line) + len(piece) + 1 > WIDTH:
            lines.append(line.rstrip())
            line = " " * 4
        line += piece + " "
    return "\n".join([*lines, line.rstrip()])


def rows(table: str) -> list[tuple[str, str, str]]:
    """The rows of a table: section, text, version that deprecated it (or nothing)."""
    found, section = [], ""
    for line in (HERE / table).read_text().splitlines():
        text, _, note = (part.strip() for part in line.partition("|"))
        if not text or text.startswith("#"):
            continue
        if text.startswith("["):
            section = text.strip("[]")
        else:
            found.append((section, text, note.removeprefix("deprecated").strip()))
    return found


def sections(pairs: list[tuple[str, object]]) -> dict[str, list]:
    """The second of each pair, grouped by the first, in order."""
    grouped: dict[str, list] = {}
    for section, item in pairs:
        grouped.setdefault(section, []).append(item)
    return grouped


def functions(table: str) -> list[tuple[str, Function]]:
    """The functions of a table, each with its section."""
    found = []
    for section, text, deprecated in rows(table):
        match = re.fullmatch(r"(\w+) (MPI_\w+)\((.*)\)", text)
        if match is None:
            sys.exit(f"{table}: not a declaration: {text}")
        found.append((section, Function(match[1], match[2], tuple(match[3].split(", ")), deprecated)))
    return found


def constants() -> list[tuple[str, Constant]]:
    """The constants, each with its section."""
    return [
        (section, Constant(*text.split(maxsplit=2), deprecated)) for section, text, deprecated in rows("constants.txt")
    ]


def c_value(constant: Constant) -> str:
    """A constant's value as C writes it: handles and addresses are cast, what is negative is bracketed."""
    value, kind = constant.value, constant.type
    if value.startswith("MPI_"):
        return value
    if kind != "int":
        return f"(({kind}){value})"
    return f"({value})" if value.startswith("-") else value


def header() -> str:
    """The text of `mpi.h`."""
    enums = {"MPI_T_cb_safety", "MPI_T_source_order"}
    out = [
        f"/* mpi.h: the C interface of MPI {value_of('MPI_VERSION')}.{value_of('MPI_SUBVERSION')}, standard ABI. "
        f"{MADE_BY} */",
        "#ifndef CELLWEAVE_MPI_H",
        "#define CELLWEAVE_MPI_H",
        "",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        "/* Sizes, displacements and addresses. */",
        "typedef intptr_t MPI_Aint;",
        "typedef int64_t MPI_Offset;",
        "typedef int64_t MPI_Count;",
        "",
        "/* What is known of a finished operation. */",
        "typedef struct {",
        "    int MPI_SOURCE;",
        "    int MPI_TAG;",
        "    int MPI_ERROR;",
        "    int MPI_internal[5];",
        "} MPI_Status;",
        "",
        "/* Handles: pointers in type only, so that the compiler tells them apart. */",
        *(f"typedef struct MPI_ABI_{name} *MPI_{name};" for name in HANDLES),
    ]
    for section, group in sections(constants()).items():
        kind = group[0].type
        if kind in enums:
            members = ",\n".join(f"    {c.name} = {c.value}" for c in group)
            out += ["", f"/* {section} */", f"typedef enum {kind} {{\n{members}\n}} {kind};"]
            continue
        if section == "Predefined attribute callbacks":
            out += ["", "/* Functions that a program hands to MPI */"]
            out += [
                f.declaration().replace(f" {f.name}(", f" ({f.name})(", 1).join(("typedef ", ""))
                for _, f in functions("callbacks.txt")
                if not f.name.startswith("MPI_T_")
            ]
            out += [
                f"typedef MPI_{o}_errhandler_function MPI_{o}_errhandler_fn;"
                for o in ("Comm", "File", "Session", "Win")
            ]
        out += ["", f"/* {section} */"]
        for c in group:
            note = f" /* deprecated in MPI {c.deprecated} */" if c.deprecated else ""
            out.append(f"#define {c.name:<30} {c_value(c)}{note}")
    out += ["", "/* Functions that a tool hands to MPI */"]
    out += [
        f.declaration().replace(f" {f.name}(", f" ({f.name})(", 1).join(("typedef ", ""))
        for _, f in functions("callbacks.txt")
        if f.name.startswith("MPI_T_")
    ]
    for prefix, title in (("", ""), ("P", ", by the names that tools call")):
        for section, group in sections(functions("functions.txt")).items():
            out += ["", f"/* {section}{title} */", *(f.declaration(prefix) for f in group)]
    out += fortran()
    out += ["", "#ifdef __cplusplus", "}", "#endif", "", "#endif"]
    return "\n".join(out) + "\n"


def fortran() -> list[str]:
    """Handles as Fortran's integers. The ABI has no functions for them; other functions give what C programs need."""
    out = ["", "/* Handles as integers of Fortran, by their names of before the ABI (MPI 5.0, section 19.3.4) */"]
    out.append("typedef int MPI_Fint;")
    for name in ("Comm", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Type", "Win"):
        out.append(f"#define MPI_{name}_c2f(handle) ((MPI_Fint)MPI_{name}_toint(handle))")
        out.append(f"#define MPI_{name}_f2c(integer) MPI_{name}_fromint((int)(integer))")
    out += [
        "#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)",
        "static inline int cellweave_copy_status(const void *from, void *to)",
        "{",
        "    *(MPI_Status *)to = *(const MPI_Status *)from;",
        "    return MPI_SUCCESS;",
        "}",
        "#define MPI_Status_c2f(status, integers) cellweave_copy_status(status, integers)",
        "#define MPI_Status_f2c(integers, status) cellweave_copy_status(integers, status)",
        "#endif",
    ]
    return out


def value_of(name: str) -> str:
    """A constant's value."""
    return next(c.value for _, c in constants() if c.name == name)


def rust() -> str:
    """The text of `values.rs`."""
    types = {"int": "c_int", "MPI_Offset": "i64", "MPI_T_cb_safety": "c_int", "MPI_T_source_order": "c_int"}
    out = [
        "//! The values of the MPI-5 ABI, under their C names (MPI 5.0, chapter 20 and annex A).",
        "//!",
        f"//! {MADE_BY}",
        '#![allow(missing_docs, reason = "the standard\'s own names")]',
        "",
        "use std::ffi::c_int;",
        "",
        "/// A handle, or an address with a meaning of its own, as C passes it.",
        "pub type Handle = usize;",
    ]
    for section, group in sections(constants()).items():
        out += ["", f"// {section}"]
        out += [f"pub const {c.name}: {types.get(c.type, 'Handle')} = {c.value};" for c in group]
    names = " ".join(f'"{f.name}",' for _, f in functions("functions.txt"))
    out += [
        "",
        "/// Every function of the ABI by its `MPI_` name, by chapter; each has a `PMPI_` name too.",
        "#[rustfmt::skip]",
        "pub const FUNCTIONS: &[&str] = &[",
        *textwrap.wrap(names, 118, initial_indent="    ", subsequent_indent="    "),
        "];",
    ]
    return "\n".join(out) + "\n"


def default_body(f: Function) -> str | None:
    """What a function does when the library has none of its own; nothing where the library must have one."""
    if f.name == "MPI_Pcontrol" or f.returns == "double":
        return None
    if f.name.endswith("_fromint"):
        return f"return ({f.returns})(intptr_t){f.names[0]};"
    if f.name.endswith("_toint"):
        return f"return (int)(intptr_t){f.names[0]};"
    if f.name in ("MPI_Aint_add", "MPI_Aint_diff"):
        sign = "+" if f.name.endswith("add") else "-"
        return f"return (MPI_Aint)((uintptr_t){f.names[0]} {sign} (uintptr_t){f.names[1]});"
    lines = []
    if not re.search(r"_(free|close|finalize|disconnect|call_errhandler)$|^MPI_(Wait|Test|Start|Cancel)", f.name):
        for parameter in f.parameters:
            match = re.fullmatch(r"(MPI_(\w+)) \*(\w+)", parameter)
            if match and match[2] in HANDLES:
                null = NULL.get(match[1], f"{match[1].upper()}_NULL")
                lines.append(f"if ({match[3]}) *{match[3]} = {null}; ")
    if f.name.startswith("MPI_T_"):
        return "".join(lines) + "return MPI_T_ERR_NOT_SUPPORTED;"
    return "".join(lines) + f'return cellweave_unsupported("{f.name}");'


def names_c() -> str:
    """The text of `names.c`."""
    out = [
        "/* Every function's two names. MPI_X is weak, so that a tool can replace it, and jumps to PMPI_X. PMPI_X is",
        " * weak here: it says that the function is not supported, unless the library has its own PMPI_X.",
        f" * {MADE_BY} */",
        "#include <mpi.h>",
        "",
        '#pragma GCC diagnostic ignored "-Wunused-parameter"',
        "",
        "#if defined(__x86_64__)",
        '#define JUMP "jmp"',
        '#define FUNCTION "@function"',
        "#elif defined(__aarch64__)",
        '#define JUMP "b"',
        '#define FUNCTION "%function"',
        "#else",
        '#error "names.c knows the jump instruction of x86-64 and aarch64 only"',
        "#endif",
        "",
        "#define NAME(X)                                                                          \\",
        '    __asm__(".pushsection .text." #X ",\\"ax\\"\\n.balign 16\\n.weak " #X "\\n.type " #X ", " FUNCTION \\',
        '            "\\n" #X ": " JUMP " P" #X "\\n.size " #X ", . - " #X "\\n.popsection");',
        "#define DEFAULT __attribute__((weak))",
        "",
        "/* Says that a function is not supported, as the error handler wants it, and gives the code. */",
        "int cellweave_unsupported(const char *function);",
        "",
        "/* Variable arguments are C's alone: the library is told the level. */",
        "void cellweave_pcontrol(int level) __attribute__((weak));",
        "int PMPI_Pcontrol(const int level, ...)",
        "{",
        "    if (cellweave_pcontrol) cellweave_pcontrol(level);",
        "    return MPI_SUCCESS;",
        "}",
    ]
    for section, group in sections(functions("functions.txt")).items():
        out += ["", f"/* {section} */"]
        for f in group:
            out.append(f"NAME({f.name})")
            body = default_body(f)
            if body is not None:
                out.append(f"DEFAULT {f.declaration('P', '').split(' /*')[0]}\n{{ {body} }}")
    return "\n".join(out) + "\n"


def exports() -> str:
    """The text of `names.map`."""
    names = [f.name for _, f in functions("functions.txt")]
    lines = [f"    {name}; P{name};" for name in names]
    # What python/cellweave/mpi/include/cell.h asks for.
    lines.append("    cellweave_compute;")
    return (
        "\n".join([f"/* What libmpi_abi.so.1 exports. {MADE_BY} */", "{", "global:", *lines, "local:", "    *;", "};"])
        + "\n"
    )


def main() -> None:
    """Write the files, or check them."""
    made = {
        ROOT / "python/cellweave/mpi/include/mpi.h": header(),
        ROOT / "crates/mpi/src/abi/values.rs": rust(),
        HERE / "names.c": names_c(),
        HERE / "names.map": exports(),
    }
    if sys.argv[1:] == ["--check"]:
        stale = [
            str(path.relative_to(ROOT)) for path, text in made.items() if not path.is_file() or path.read_text() != text
        ]
        if stale:
            sys.exit(f"not what the tables say: {', '.join(stale)}; run python crates/mpi/abi/generate.py")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        for path, text in made.items():
            path.write_text(text)


if __name__ == "__main__":
    main()
