//! The tables as Rust: constants, types of functions, and functions that the library does not have.

use super::table::{Declaration, HANDLES, Parameter, Tables, by_section};

/// The constants under their C names, and the functions' names.
pub(crate) fn values(tables: &Tables) -> Result<String, String> {
    let mut out = String::new();
    for section in by_section(&tables.constants, |constant| &constant.section) {
        out += &format!("// {}\n", section[0].section);
        for constant in section {
            let kind = match constant.kind.as_str() {
                "int" | "MPI_T_cb_safety" | "MPI_T_source_order" => "c_int",
                "MPI_Offset" => "i64",
                _ => "Handle",
            };
            out += &format!("pub const {}: {kind} = {};\n", constant.name, constant.value);
        }
    }
    let names: Vec<_> = tables.functions.iter().map(|function| format!("\"{}\"", function.name)).collect();
    out += "/// Every function of the ABI by its `MPI_` name, by chapter; each has a `PMPI_` name too.\n";
    out += &format!("pub const FUNCTIONS: &[&str] = &[\n{}\n];\n", names.join(",\n"));
    Ok(out)
}

/// The types of functions: of those that programs hand over under their own names, of the library's under `PMPI_` ones.
pub(crate) fn prototypes(tables: &Tables) -> Result<String, String> {
    let mut out = String::new();
    for callback in &tables.callbacks {
        // A callback is called with objects of several kinds: handles are as C passes them.
        let more = if callback.variadic { ", ..." } else { "" };
        let kinds = types(tables, callback, |_| "Handle".to_owned())?;
        let returns = if callback.returns == "int" { " -> c_int" } else { "" };
        out += &format!("pub type {} = unsafe extern \"C\" fn({kinds}{more}){returns};\n", callback.name);
    }
    for function in &tables.functions {
        // Rust cannot define a function of variable arguments. One that reads none of them has the others where C
        // passes them to it, on all architectures of `twins.s`.
        let kinds = types(tables, function, |kind| kind.to_owned())?;
        let returns = base(tables, &function.returns, |kind| kind.to_owned())?;
        out += &format!("pub type P{} = unsafe extern \"C\" fn({kinds}) -> {returns};\n", function.name);
    }
    Ok(out)
}

/// The functions that the library does not have, for a macro: name, parameters, and the null handles that they give.
pub(crate) fn unsupported(tables: &Tables) -> Result<String, String> {
    let mut out = String::from("unsupported! {\n");
    for function in tables.functions.iter().filter(|function| function.notes.unsupported) {
        let name = &function.name;
        // A function that ends an object takes its handle and gives none.
        let ends = ["_free", "_close", "_finalize"].iter().any(|end| name.ends_with(end));
        let mut parameters = Vec::new();
        let mut nulls = String::new();
        for parameter in &function.parameters {
            let kind = whole(tables, parameter, |kind| kind.to_owned())?;
            parameters.push(format!("{}: {kind}", parameter.name));
            let handle = parameter.base.trim_start_matches("MPI_");
            if !ends && parameter.stars == 1 && !parameter.constant && HANDLES.contains(&handle) {
                let null = format!("{}_NULL", parameter.base.to_uppercase());
                nulls += &format!(" {} = {handle}({null})", parameter.name);
            }
        }
        out += &format!("    P{name}({}){nulls};\n", parameters.join(", "));
    }
    Ok(out + "}\n")
}

/// The types of all parameters.
fn types(tables: &Tables, function: &Declaration, handle: impl Fn(&str) -> String) -> Result<String, String> {
    let kinds: Result<Vec<_>, _> =
        function.parameters.iter().map(|parameter| whole(tables, parameter, &handle)).collect();
    kinds.map(|kinds| kinds.join(", ")).map_err(|told| format!("{}: {told}", function.name))
}

/// A parameter's type.
fn whole(tables: &Tables, parameter: &Parameter, handle: impl Fn(&str) -> String) -> Result<String, String> {
    let base = base(tables, &parameter.base, handle)?;
    // A function is passed by its address, whether C says so or not.
    let is_function = tables.callbacks.iter().any(|callback| callback.name == parameter.base);
    let stars = if is_function { 0 } else { parameter.stars };
    let (row, arrays) = match parameter.array.strip_prefix("[]") {
        None if parameter.array.is_empty() => (base, 0),
        Some("") => (base, 1),
        Some(length) => (format!("[{base}; {}]", length.trim_matches(['[', ']'])), 1),
        None => return Err(format!("{} has an unknown shape: {}", parameter.name, parameter.array)),
    };
    let nearest = if parameter.constant { "*const " } else { "*mut " };
    Ok(match stars + arrays {
        0 => row,
        pointers => format!("{}{nearest}{row}", "*mut ".repeat(pointers - 1)),
    })
}

/// A type without pointers; of a handle as `handle` says.
fn base(tables: &Tables, name: &str, handle: impl Fn(&str) -> String) -> Result<String, String> {
    let known = match name {
        "int" | "MPI_T_cb_safety" | "MPI_T_source_order" => "c_int",
        "char" => "c_char",
        "void" => "c_void",
        "double" => "f64",
        "MPI_Aint" => "Aint",
        "MPI_Count" => "Count",
        "MPI_Offset" => "i64",
        "MPI_Status" => "Status",
        _ => "",
    };
    if !known.is_empty() {
        return Ok(known.to_owned());
    }
    if tables.callbacks.iter().any(|callback| callback.name == name) {
        // Where a constant stands for a function, it is passed as the address that it is.
        let address = format!("{name} *");
        let stands = tables.constants.iter().any(|constant| constant.kind == address);
        return Ok(if stands { "Handle".to_owned() } else { format!("Option<{name}>") });
    }
    match name.strip_prefix("MPI_").filter(|kind| HANDLES.contains(kind)) {
        Some(kind) if kind.starts_with("T_") => Ok("Handle".to_owned()),
        Some(kind) => Ok(handle(kind)),
        None => Err(format!("`{name}` is no type of the ABI")),
    }
}
