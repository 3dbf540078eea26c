//! TOML, JSON, GraphML, DOT and DagGen's text -> [`Graph`].
//!
//! | format | extension | tasks, edges |
//! |---|---|---|
//! | [TOML](toml) | `.toml` | `[[task]]`, `[[edge]]`, and keys at the top: see below |
//! | [JSON](json) | `.json` | the same keys |
//! | [GraphML](graphml) | `.graphml`, `.xml` | nodes and edges with [attributes] |
//! | [DOT](dot) | `.dot`, `.gv` | nodes and edges with [attributes] |
//! | [DagGen](daggen) | `.daggen`, `.dag` | what the program `daggen` writes |
//!
//! The keys are `name`, `code_bytes` and `[profile]` at the top; `name`, `kernel`, `params`, `cost_ns`, `stateless` and
//! `lock` of a task; `from`, `to`, `bytes`, `peek` and `delay` of an edge.
//!
//! An end of an edge is `split.3`, task and port, or `split`: then the edge gets a port of its own, `0`, `1`, .. in
//! file order (numbers that the file names itself are left out). Two edges from one named output port are a broadcast.
//!
//! Every graph that is returned is [valid](Graph::validate). Time and memory are linear in the file, whose size is
//! limited ([`sizes::FILE_BYTES`], [`sizes::TOML_BYTES`]).

use crate::{Graph, sizes};
use ground::{Located, did_you_mean};
use std::{fs, io::Read, path::Path};

mod app;
pub mod attributes;
pub mod daggen;
pub mod dot;
mod draft;
pub mod graphml;
pub mod json;
pub mod toml;
mod tree;

use draft::Draft;

/// A kind of file that holds a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// What people write.
    Toml,
    /// The same keys as TOML.
    Json,
    /// XML of networkx, yEd and others.
    GraphMl,
    /// Graphviz.
    Dot,
    /// The listing of the program `daggen`.
    DagGen,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 5] = [Format::Toml, Format::Json, Format::GraphMl, Format::Dot, Format::DagGen];

    /// The extensions that stand for the format, without dot; the usual one first.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Format::Toml => &["toml"],
            Format::Json => &["json"],
            Format::GraphMl => &["graphml", "xml"],
            Format::Dot => &["dot", "gv"],
            Format::DagGen => &["daggen", "dag"],
        }
    }

    /// The format of a file by its extension.
    ///
    /// # Errors
    /// The extension is missing or unknown; the message lists those that are known.
    pub fn of(path: &Path) -> Result<Format, Located> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        let known = || Format::ALL.iter().flat_map(|f| f.extensions()).copied();
        Format::ALL.into_iter().find(|f| f.extensions().contains(&extension.as_str())).ok_or_else(|| {
            Located::new(format!(
                "the extension {extension:?} stands for no format of applications; known are {}{}",
                known().collect::<Vec<_>>().join(", "),
                did_you_mean(&extension, known())
            ))
            .file(path.display().to_string())
        })
    }
}

/// Reads the application at `path`; the extension says which format it is. A graph without a name gets the file's.
///
/// # Errors
/// The file cannot be read, is too large, is not UTF-8, or holds no valid graph.
pub fn path(path: impl AsRef<Path>) -> Result<Graph, Located> {
    let path = path.as_ref();
    let format = Format::of(path)?;
    text(format, &file(path)?, &path.display().to_string())
}

/// Reads the application in `text`; `file_name` is what errors call it, and names the graph where nothing else does.
///
/// # Errors
/// The text holds no valid graph.
///
/// ```
/// let text = "[[task]]\nname = \"a\"\n[[task]]\nname = \"b\"\n[[edge]]\nfrom = \"a\"\nto = \"c\"\nbytes = 4\n";
/// let error = work::read::text(work::read::Format::Toml, text, "app.toml").unwrap_err();
/// assert_eq!(error.to_string(), "app.toml:7: edge 1, to: no task is called \"c\"");
/// ```
pub fn text(format: Format, text: &str, file_name: &str) -> Result<Graph, Located> {
    draft(format, text, file_name)?.finish()
}

/// The line of a task in the file at `path`, for a message about a task that is well written but cannot be used.
pub fn task_line(path: &Path, task: &str) -> Option<usize> {
    let draft = draft(Format::of(path).ok()?, &file(path).ok()?, "").ok()?;
    draft.task_line(task)
}

fn draft(format: Format, text: &str, file_name: &str) -> Result<Draft, Located> {
    let mut draft = Draft::new(file_name);
    let most = if format == Format::Toml { sizes::TOML_BYTES } else { sizes::FILE_BYTES };
    if text.len() as u64 > most {
        return Err(draft.error(None, None, too_long(text.len() as u64, most)));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        Format::Toml => app::read(&toml::parse(text, file_name)?, &mut draft)?,
        Format::Json => app::read(&json::parse(text, file_name)?, &mut draft)?,
        Format::GraphMl => graphml::read(text, &mut draft)?,
        Format::Dot => dot::read(text, &mut draft)?,
        Format::DagGen => daggen::read(text, &mut draft)?,
    }
    Ok(draft)
}

/// The text of the file at `path`, of at most [`sizes::FILE_BYTES`].
///
/// # Errors
/// The file cannot be read, is longer, or is not UTF-8.
pub fn file(path: &Path) -> Result<String, Located> {
    let fail = |line: Option<usize>, message: String| {
        Located::new(message).line(line).file(path.display().to_string())
    };
    let opened = fs::File::open(path).map_err(|e| fail(None, format!("cannot be read: {e}")))?;
    let mut bytes = Vec::new();
    // One byte more than allowed: a device or a growing file has no length to ask for.
    opened
        .take(sizes::FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| fail(None, format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > sizes::FILE_BYTES {
        return Err(fail(None, too_long(bytes.len() as u64, sizes::FILE_BYTES)));
    }
    String::from_utf8(bytes).map_err(|e| {
        let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
        fail(Some(line), "not text in UTF-8".into())
    })
}

fn too_long(bytes: u64, most: u64) -> String {
    let json = if most < sizes::FILE_BYTES { "; larger graphs go as JSON" } else { "" };
    format!("at least {bytes} bytes long; at most {most} ({} MiB) are allowed{json}", most >> 20)
}

/// Where lines start: from an offset to a line number.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        Lines(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(at, _)| at).collect())
    }

    /// The line, from 1, that byte `offset` is in.
    fn of(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|&newline| newline < offset)
    }
}
