//! `Graph`: read, written, drawn at random.

use crate::error::request;
use cellweave::work::read::Format;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// A checked streaming application.
#[pyclass(frozen, module = "cellweave._core")]
pub struct Graph(pub cellweave::work::Graph);

#[pymethods]
impl Graph {
    /// An application file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Graph> {
        py.detach(|| cellweave::work::read::path(&path)).map(Graph).map_err(request)
    }

    /// A text; `format` is an extension: `toml`, `json`, ...
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, format: &str) -> PyResult<Graph> {
        let name = format!("graph.{format}");
        let format = Format::of(Path::new(&name)).map_err(request)?;
        py.detach(|| cellweave::work::read::text(format, text, "the graph")).map(Graph).map_err(request)
    }

    /// The text of an application file.
    fn to_toml(&self, py: Python<'_>) -> String {
        py.detach(|| cellweave::work::write::toml(&self.0))
    }

    /// The same as JSON.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| cellweave::work::write::json(&self.0))
    }
}

/// A graph after DagGen.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn daggen(
    py: Python<'_>,
    tasks: usize,
    fat: f64,
    regular: f64,
    density: f64,
    jump: usize,
    ccr: f64,
    peek: u64,
    seed: u64,
) -> PyResult<Graph> {
    let settings = cellweave::work::daggen::Settings { tasks, fat, regular, density, jump, ccr, peek, seed };
    py.detach(|| cellweave::work::daggen::generate(&settings)).map(Graph).map_err(request)
}
