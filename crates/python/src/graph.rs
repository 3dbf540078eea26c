//! `Graph`: read, written, drawn at random.

use crate::error::{request, verb};
use crate::options::given;
use cellweave::work::daggen::DaggenOptions;
use cellweave::work::read::{Format, task_line};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// A checked streaming application, and the folder in which its files are looked for.
#[pyclass(frozen, module = "cellweave._core")]
pub(crate) struct Graph {
    pub graph: cellweave::work::Graph,
    pub folder: Option<PathBuf>,
    /// The file that it was read from, as the user named it.
    path: Option<PathBuf>,
}

impl Graph {
    /// Another graph whose files are in the same folder.
    pub(crate) fn with(&self, graph: cellweave::work::Graph) -> Graph {
        Graph { graph, folder: self.folder.clone(), path: self.path.clone() }
    }

    /// A verb's error; one about the cost of a task says where the task stands.
    pub(crate) fn error(&self, error: cellweave::Error) -> PyErr {
        use cellweave::plan::PlanError;
        let task = match &error {
            cellweave::Error::Plan(PlanError::NoCost { task, .. }) => task,
            cellweave::Error::Plan(PlanError::MissingCost(missing)) => &missing.task,
            _ => return verb(error),
        };
        let place = self.path.as_ref().and_then(|path| Some((path, task_line(path, task)?)));
        match place {
            Some((path, line)) => request(format!("{}:{line}: {error}", path.display())),
            None => verb(error),
        }
    }
}

#[pymethods]
impl Graph {
    /// An application file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Graph> {
        let graph = py.detach(|| cellweave::work::read::path(&path)).map_err(request)?;
        let folder = path.canonicalize().ok().and_then(|path| path.parent().map(Path::to_path_buf));
        Ok(Graph { graph, folder, path: Some(path) })
    }

    /// A text; `format` is an extension: `toml`, `json`, ...
    #[staticmethod]
    #[pyo3(signature = (text, format, folder=None))]
    fn parse(py: Python<'_>, text: &str, format: &str, folder: Option<PathBuf>) -> PyResult<Graph> {
        let name = format!("graph.{format}");
        let format = Format::of(Path::new(&name)).map_err(request)?;
        let graph = py.detach(|| cellweave::work::read::text(format, text, "the graph")).map_err(request)?;
        Ok(Graph { graph, folder, path: None })
    }

    /// Where the application's files are looked for.
    #[getter]
    fn folder(&self) -> Option<PathBuf> {
        self.folder.clone()
    }

    /// The application as it is written in another folder: what it reads is found where it is.
    fn moved(&self, folder: PathBuf) -> Graph {
        let old = self.folder.as_ref().unwrap_or(&folder);
        Graph { graph: cellweave::moved(&self.graph, old, &folder), folder: Some(folder), path: None }
    }

    /// Bytes per instance that a task takes.
    fn taken_bytes(&self, task: &str) -> PyResult<u64> {
        cellweave::taken_bytes(&self.graph, task).map_err(request)
    }

    /// The text of an application file.
    fn to_toml(&self, py: Python<'_>) -> String {
        py.detach(|| cellweave::work::write::toml(&self.graph))
    }

    /// The same as JSON.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| cellweave::work::write::json(&self.graph))
    }
}

/// A graph after DagGen.
#[pyfunction]
pub(crate) fn daggen(py: Python<'_>, options: &Bound<'_, PyAny>) -> PyResult<Graph> {
    let options = DaggenOptions::from_given(&given(options)?).map_err(request)?;
    let graph = py.detach(|| cellweave::work::daggen::generate(&options)).map_err(request)?;
    Ok(Graph { graph, folder: None, path: None })
}

/// The 250 applications after `streaming-schedule` 5.2.
#[pyfunction]
pub(crate) fn paper_set(py: Python<'_>) -> Vec<Graph> {
    let set = py.detach(cellweave::work::daggen::paper_set);
    set.into_iter().map(|graph| Graph { graph, folder: None, path: None }).collect()
}
