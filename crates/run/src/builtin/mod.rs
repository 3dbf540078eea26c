//! Kernels that are always there, as `cellweave:NAME`.
//!
//! | name | ports | parameters | does |
//! |---|---|---|---|
//! | `copy` | in -> out | | copies each instance: the null kernel |
//! | `spin` | any -> any | `ns` | that much arithmetic per firing; outputs get the inputs' bytes |
//! | `zeros`, `count` | -> out | | a source of zeros, of the instance's number (u64, then zeros) |
//! | `discard` | in, any number | | takes and forgets |
//! | `split` | in -> out, any number | | cuts an instance into equal parts |
//! | `join` | in, any number -> out | | puts parts side by side |
//! | `read` | -> out | `path` (`-` = stdin), `loop` | raw bytes, the last instance filled up with zeros |
//! | `write` | in | `path` (`-` = stdout), `bytes` | raw bytes; `bytes` cuts the file there |
//! | `read-wav` | -> out | `path` | frames x channels of f32 |
//! | `write-wav` | in | `path`, `rate`, `channels`, `format`, `frames` | WAV of `i16`, `i24`, `i32` or `f32` |
//!
//! Memory of the caller is a source or a sink through [`memory::source`] and [`memory::MemorySink`].

mod file;
mod flow;
pub mod memory;
pub mod wav;

use crate::kernel::library::SharedObject;
use crate::kernel::{Kernels, Opened, ports};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use work::{Graph, TaskId};

/// The kernels that need no interpreter: built-in ones and shared objects.
#[derive(Debug, Default)]
pub struct Standard {
    /// Where relative paths start: the application file's folder. `None`: the current one.
    pub folder: Option<PathBuf>,
    libraries: Mutex<HashMap<String, Arc<SharedObject>>>,
}

const NAMES: [&str; 11] =
    ["copy", "spin", "zeros", "count", "discard", "split", "join", "read", "write", "read-wav", "write-wav"];

impl Standard {
    /// Relative paths start in `folder`.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Standard {
        Standard { folder: Some(folder.into()), ..Standard::default() }
    }

    fn builtin(&self, name: &str) -> Result<Opened, String> {
        let folder = self.folder.clone();
        Ok(match name {
            "copy" => flow::copy(),
            "spin" => flow::spin(),
            "zeros" => flow::zeros(),
            "count" => flow::count(),
            "discard" => flow::discard(),
            "split" => flow::split(),
            "join" => flow::join(),
            "read" => file::read(folder),
            "write" => file::write(folder),
            "read-wav" => wav::read(folder),
            "write-wav" => wav::write(folder),
            _ => {
                let hint = ports::allowed(name, NAMES.into_iter());
                return Err(format!("there is no kernel 'cellweave:{name}'; {hint}"));
            }
        })
    }

    fn library(&self, name: &str) -> Result<Arc<SharedObject>, String> {
        let mut libraries = self.libraries.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(known) = libraries.get(name) {
            return Ok(known.clone());
        }
        let library = Arc::new(SharedObject::load(name, self.folder.as_deref())?);
        libraries.insert(name.to_string(), library.clone());
        Ok(library)
    }
}

impl Kernels for Standard {
    fn open(&self, graph: &Graph, task: TaskId) -> Result<Opened, String> {
        let Some(kernel) = &graph.tasks[task].kernel else {
            return Err("it has no kernel: this application can be planned, not run".into());
        };
        if let Some(name) = kernel.strip_prefix("cellweave:") {
            return self.builtin(name);
        }
        if kernel.starts_with("python:") {
            return Err(format!(
                "the kernel '{kernel}' needs the Python package: `cellweave run`, or cw.run()"
            ));
        }
        match kernel.rsplit_once(':') {
            Some((library, symbol)) if library.is_empty() || symbol.is_empty() => Err(format!(
                "the kernel '{kernel}' names no library or no symbol; it must be 'libNAME.so:SYMBOL'"
            )),
            Some((library, symbol)) => self.library(library)?.open(symbol),
            None => Err(format!(
                "the kernel '{kernel}' has no ':'; it must be 'libNAME.so:SYMBOL', 'cellweave:NAME' or \
                 'python:MODULE:FUNCTION'"
            )),
        }
    }
}
