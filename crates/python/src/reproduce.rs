//! The published experiments: lists and measurements, as JSON.

use crate::error::{RunError, request};
use cellweave::reproduce::{chosen, lists, loads, mailbox, ppe_read, rings, streams};
use pyo3::prelude::*;

/// A TOML document as JSON.
#[pyfunction]
pub(crate) fn read_toml(text: &str) -> PyResult<String> {
    lists::as_json(text).map_err(request)
}

/// The names of the rule sets, the default first.
#[pyfunction]
pub(crate) fn rule_sets() -> Vec<String> {
    chosen::rule_sets()
}

/// Loads in, what each came to out.
#[pyfunction]
pub(crate) fn measure(py: Python<'_>, loads: &str) -> PyResult<String> {
    py.detach(|| answer(loads, loads::run))
}

/// One of the programs that are more than transfers: its name and options in, its answer out.
#[pyfunction]
pub(crate) fn program(py: Python<'_>, name: &str, options: &str) -> PyResult<String> {
    py.detach(|| match name {
        "mailbox" => answer(options, mailbox::run),
        "ring" => answer(options, rings::run),
        "streams" => answer(options, streams::run),
        "ppe-read" => answer(options, ppe_read::run),
        _ => Err(request(format!("no program `{name}`"))),
    })
}

fn answer<Q, A>(options: &str, run: impl Fn(&Q) -> Result<A, String>) -> PyResult<String>
where
    Q: serde::de::DeserializeOwned,
    A: serde::Serialize,
{
    let given: Q = serde_json::from_str(options).map_err(request)?;
    let found = run(&given).map_err(RunError::new_err)?;
    serde_json::to_string(&found).map_err(request)
}
