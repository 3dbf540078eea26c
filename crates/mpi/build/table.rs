//! The tables: functions, types of functions that programs hand over, and constants. A row is as C declares it, and
//! notes follow behind a `|`: `deprecated VERSION` and `unsupported`.

use std::fs;
use std::path::Path;

/// The kinds of handles, without `MPI_`.
pub(crate) const HANDLES: [&str; 17] = [
    "Comm",
    "Datatype",
    "Errhandler",
    "File",
    "Group",
    "Info",
    "Message",
    "Op",
    "Request",
    "Session",
    "Win",
    "T_cvar_handle",
    "T_enum",
    "T_event_instance",
    "T_event_registration",
    "T_pvar_handle",
    "T_pvar_session",
];

/// All tables.
pub(crate) struct Tables {
    pub(crate) functions: Vec<Declaration>,
    pub(crate) callbacks: Vec<Declaration>,
    pub(crate) constants: Vec<Constant>,
}

/// A function, or the type of one.
pub(crate) struct Declaration {
    pub(crate) section: String,
    /// `int`, `double`, a handle, `MPI_Aint`, or `void`.
    pub(crate) returns: String,
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    /// Whether more arguments may follow.
    pub(crate) variadic: bool,
    pub(crate) notes: Notes,
}

/// A parameter as C declares it.
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// Whether what it points to is only read.
    pub(crate) constant: bool,
    /// The type without pointers.
    pub(crate) base: String,
    /// Stars before the name.
    pub(crate) stars: usize,
    /// What follows the name: nothing, `[]` or `[][3]`.
    pub(crate) array: String,
}

/// A constant.
pub(crate) struct Constant {
    pub(crate) section: String,
    pub(crate) name: String,
    /// A number, or another constant's name.
    pub(crate) value: String,
    /// The C type.
    pub(crate) kind: String,
    pub(crate) notes: Notes,
}

/// What a row says behind its `|`.
#[derive(Clone, Default)]
pub(crate) struct Notes {
    /// The version of MPI that deprecated it.
    pub(crate) deprecated: Option<String>,
    /// The library does not have it.
    pub(crate) unsupported: bool,
}

struct Row<'a> {
    section: &'a str,
    text: &'a str,
    notes: Notes,
}

impl Tables {
    /// Reads the tables of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let text =
            |name: &str| fs::read_to_string(folder.join(name)).map_err(|told| format!("{name}: {told}"));
        Self::of(&text("functions.txt")?, &text("callbacks.txt")?, &text("constants.txt")?)
    }

    /// Reads the tables' texts.
    pub(crate) fn of(functions: &str, callbacks: &str, constants: &str) -> Result<Self, String> {
        Ok(Self {
            functions: rows("functions.txt", functions, declaration)?,
            callbacks: rows("callbacks.txt", callbacks, declaration)?,
            constants: rows("constants.txt", constants, constant)?,
        })
    }

    /// A constant's value.
    pub(crate) fn value(&self, name: &str) -> &str {
        self.constants.iter().find(|constant| constant.name == name).map_or("", |constant| &constant.value)
    }
}

/// Items with the sections that they stand in.
pub(crate) fn by_section<T>(items: &[T], section: impl Fn(&T) -> &str) -> impl Iterator<Item = &[T]> {
    items.chunk_by(move |one, other| section(one) == section(other))
}

/// The items of a table, each from one row.
fn rows<T>(table: &str, text: &str, item: fn(&Row) -> Result<T, String>) -> Result<Vec<T>, String> {
    let mut section = "";
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let (text, behind) = line.split_once('|').unwrap_or((line, ""));
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if let Some(name) = text.strip_prefix('[') {
            section = name.trim_end_matches(']');
            continue;
        }
        let item = notes(behind).and_then(|notes| item(&Row { section, text, notes }));
        found.push(item.map_err(|told| format!("abi/{table}, line {}: {told}", index + 1))?);
    }
    Ok(found)
}

fn notes(text: &str) -> Result<Notes, String> {
    let mut notes = Notes::default();
    for note in text.split(',').map(str::trim).filter(|note| !note.is_empty()) {
        match note.split_once(' ') {
            Some(("deprecated", version)) => notes.deprecated = Some(version.to_owned()),
            None if note == "unsupported" => notes.unsupported = true,
            _ => {
                return Err(format!(
                    "`{note}` is no note; allowed are `deprecated VERSION` and `unsupported`"
                ));
            }
        }
    }
    Ok(notes)
}

fn declaration(row: &Row) -> Result<Declaration, String> {
    let parts = || {
        let (head, rest) = row.text.split_once('(')?;
        let (returns, name) = head.split_once(' ')?;
        name.starts_with("MPI_").then_some((returns, name, rest.strip_suffix(')')?))
    };
    let (returns, name, list) = parts()
        .ok_or_else(|| format!("`{}` is no declaration; allowed is `TYPE MPI_NAME(PARAMETERS)`", row.text))?;
    let variadic = list.ends_with(", ...");
    let named = list.trim_end_matches(", ...");
    let parameters = match named {
        "void" => Ok(Vec::new()),
        _ => named.split(", ").map(parameter).collect(),
    };
    Ok(Declaration {
        section: row.section.to_owned(),
        returns: returns.to_owned(),
        name: name.to_owned(),
        parameters: parameters?,
        variadic,
        notes: row.notes.clone(),
    })
}

/// The parameter that a text declares.
fn parameter(text: &str) -> Result<Parameter, String> {
    let (declared, array) = text.split_at(text.find('[').unwrap_or(text.len()));
    let (constant, declared) = declared.strip_prefix("const ").map_or((false, declared), |rest| (true, rest));
    let parts = declared.split_once(' ').map(|(base, rest)| (base, rest.trim_start_matches('*'), rest));
    match parts {
        Some((base, name, rest)) if is_name(base) && is_name(name) => Ok(Parameter {
            name: name.to_owned(),
            constant,
            base: base.to_owned(),
            stars: rest.len() - name.len(),
            array: array.to_owned(),
        }),
        _ => Err(format!("`{text}` is no parameter; allowed is `TYPE NAME`, with `const`, `*` and `[]`")),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn constant(row: &Row) -> Result<Constant, String> {
    match row.text.splitn(3, ' ').collect::<Vec<_>>()[..] {
        [name, value, kind] => Ok(Constant {
            section: row.section.to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
            kind: kind.trim_start().to_owned(),
            notes: row.notes.clone(),
        }),
        _ => Err(format!("`{}` is no constant; allowed is `NAME VALUE TYPE`", row.text)),
    }
}
