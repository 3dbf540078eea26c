//! Options: what Python gives as the core's values, and what is known of each option as Python sees it.

use crate::error::request;
use cellweave::ground::options::{Given, OptionField};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

/// One option of a verb.
#[pyclass(frozen, module = "cellweave._core")]
pub(crate) struct Field(OptionField);

#[pymethods]
impl Field {
    #[getter]
    fn name(&self) -> &str {
        self.0.name
    }

    /// As the command line has it: `--max-batch`.
    #[getter]
    fn flag(&self) -> String {
        self.0.flag()
    }

    /// What it means, in sentences.
    #[getter]
    fn help(&self) -> &str {
        &self.0.help
    }

    /// `s`, `ns`, `bytes`, `GB/s`, or nothing.
    #[getter]
    fn unit(&self) -> &str {
        self.0.unit
    }

    /// `flag`, `whole`, `real`, `word` or `text`.
    #[getter]
    fn kind(&self) -> &str {
        self.0.kind.name()
    }

    /// Whether it takes several values.
    #[getter]
    fn many(&self) -> bool {
        self.0.many
    }

    /// Whether its values have names of their own.
    #[getter]
    fn named(&self) -> bool {
        self.0.named
    }

    /// The words that are allowed, or nothing.
    #[getter]
    fn choices(&self) -> Vec<&str> {
        self.0.choices.clone()
    }

    /// `1 to 64`, the words, or nothing where anything is allowed.
    #[getter]
    fn allowed(&self) -> String {
        self.0.allowed()
    }

    /// What counts where nothing is given; None: as the help says.
    #[getter]
    fn default<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &self.0.default)
    }

    /// Refuses a value that the option cannot have; `label` is what the message calls the option.
    fn check(&self, value: &Bound<'_, PyAny>, label: &str) -> PyResult<()> {
        self.0.check(&given(value)?, label).map_err(request)
    }
}

/// The options of a verb.
#[pyfunction]
pub(crate) fn options(verb: &str) -> PyResult<Vec<Field>> {
    Ok(cellweave::options(verb).map_err(request)?.into_iter().map(Field).collect())
}

/// The verbs that have options.
#[pyfunction]
pub(crate) fn verbs() -> Vec<&'static str> {
    cellweave::verbs()
}

/// What Python gives: None, bool, numbers (NumPy's too), text, paths, mappings and sequences.
pub(crate) fn given(value: &Bound<'_, PyAny>) -> PyResult<Given> {
    if value.is_none() {
        return Ok(Given::Nothing);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Given::Flag(flag.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Given::Text(text.to_string_lossy().into_owned()));
    }
    if let Ok(entries) = value.cast::<PyDict>() {
        let entry =
            |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Ok((name.extract()?, given(&value)?));
        return entries.iter().map(entry).collect::<PyResult<_>>().map(Given::Table);
    }
    if let Ok(whole) = value.extract::<i128>() {
        return Ok(Given::Whole(whole));
    }
    if value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() || value.hasattr("__float__")? {
        // A whole number that is too large for 128 bits is out of every range.
        return Ok(Given::Real(value.extract().unwrap_or(f64::INFINITY)));
    }
    if value.hasattr("__fspath__")? {
        return given(&value.call_method0("__fspath__")?);
    }
    if value.hasattr("keys")? {
        return given(PyDict::from_sequence(&value.call_method0("items")?)?.as_any());
    }
    let items =
        value.try_iter().map_err(|_| request(format!("{value}: neither a number, a text nor a list")))?;
    items.map(|item| given(&item?)).collect::<PyResult<_>>().map(Given::List)
}

/// A value as Python has it.
fn shown<'py>(py: Python<'py>, value: &Given) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Given::Nothing => Ok(py.None().into_bound(py)),
        Given::Flag(yes) => yes.into_bound_py_any(py),
        Given::Whole(n) => n.into_bound_py_any(py),
        Given::Real(x) => x.into_bound_py_any(py),
        Given::Text(text) => text.into_bound_py_any(py),
        Given::List(items) => {
            let items: Vec<_> = items.iter().map(|item| shown(py, item)).collect::<PyResult<_>>()?;
            Ok(PyList::new(py, items)?.into_any())
        }
        Given::Table(entries) => {
            let dict = PyDict::new(py);
            for (name, value) in entries {
                dict.set_item(name, shown(py, value)?)?;
            }
            Ok(dict.into_any())
        }
    }
}
