//! Where tasks of a Python program get their code: Python kernels, arrays as sources and sinks, else what `run` knows.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyList};
use run::kernel::{Connected, Opened, PortSpec, TaskInfo};
use run::{Batch, Fired, Kernel, Kernels, Standard};
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, Mutex};
use work::{Graph, TaskId, Value};

/// What a sink has taken in, and the bytes of an instance.
pub type Taken = Arc<Mutex<(Vec<u8>, u64)>>;

/// Kernels by task; a task that is in none of the maps is asked of [`Standard`].
pub struct PythonKernels {
    /// `cellweave:NAME` and `libNAME.so:SYMBOL`.
    pub standard: Standard,
    /// Task -> `cellweave.Kernel`.
    pub kernels: HashMap<String, Py<PyAny>>,
    /// Task -> rows, and bytes of a row.
    pub sources: HashMap<String, (Arc<PyBackedBytes>, u64)>,
    /// Task -> where its input goes.
    pub sinks: HashMap<String, Taken>,
}

impl Kernels for PythonKernels {
    fn open(&self, graph: &Graph, task: TaskId) -> Result<Opened, String> {
        let name = &graph.tasks[task].name;
        if let Some((rows, row_bytes)) = self.sources.get(name) {
            let (rows, row_bytes) = (Arc::clone(rows), *row_bytes);
            let out = PortSpec { bytes: row_bytes, repeated: true, ..PortSpec::any("out") };
            return Ok(Opened::from_rust(vec![], vec![out], move |_| Ok(Box::new(Rows { rows, row_bytes, next: 0 }))));
        }
        if let Some(taken) = self.sinks.get(name) {
            let taken = Arc::clone(taken);
            return Ok(Opened::from_rust(vec![PortSpec::any("in")], vec![], move |info| {
                taken.lock().map_err(|_| "poisoned")?.1 = info.inputs[0].bytes;
                Ok(Box::new(Keep { taken }))
            }));
        }
        match self.kernels.get(name) {
            Some(kernel) => Python::attach(|py| open(py, kernel)).map_err(|e| e.to_string()),
            None => self.standard.open(graph, task),
        }
    }
}

/// A source that sends the rows of an array.
struct Rows {
    rows: Arc<PyBackedBytes>,
    row_bytes: u64,
    next: usize,
}

impl Kernel for Rows {
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        let size = self.row_bytes as usize;
        for j in 0..batch.firings() {
            let Some(row) = self.rows.get(self.next..self.next + size) else { return Fired::End(j) };
            for o in 0..batch.outputs() {
                batch.output::<u8>(o, j).copy_from_slice(row);
            }
            self.next += size;
        }
        batch.done()
    }
}

/// A sink that keeps what it gets.
struct Keep {
    taken: Taken,
}

impl Kernel for Keep {
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        let Ok(mut taken) = self.taken.lock() else { return Fired::failed("poisoned") };
        for j in 0..batch.firings() {
            let row = batch.input::<u8>(0, j);
            if taken.0.try_reserve(row.len()).is_err() {
                return Fired::Failed(j, format!("no memory for more than {} bytes of output", taken.0.len()));
            }
            taken.0.extend_from_slice(row);
        }
        batch.done()
    }
}

/// Asks a `cellweave.Kernel` for its ports; its code is made later, on the worker.
fn open(py: Python<'_>, kernel: &Py<PyAny>) -> PyResult<Opened> {
    type Ports = Vec<(String, String, u64)>;
    let (inputs, outputs): (Ports, Ports) = kernel.call_method0(py, "ports")?.extract(py)?;
    let specs = |ports: Ports| {
        ports.into_iter().map(|(name, dtype, bytes)| PortSpec { name, dtype, bytes, ..PortSpec::default() }).collect()
    };
    let kernel = kernel.clone_ref(py);
    Ok(Opened::from_rust(specs(inputs), specs(outputs), move |info| Python::attach(|py| make(py, &kernel, info))))
}

/// Makes the code of one task.
fn make(py: Python<'_>, kernel: &Py<PyAny>, info: &TaskInfo) -> Result<Box<dyn Kernel>, String> {
    let connections = |ports: &[Connected]| -> Vec<(String, u64, u64)> {
        ports.iter().map(|c| (c.name.clone(), c.bytes, c.peek)).collect()
    };
    let made = || -> PyResult<(Py<PyAny>, usize, Py<PyAny>, Py<PyAny>)> {
        let arguments = (params(py, info)?, connections(&info.inputs), connections(&info.outputs));
        kernel.call_method1(py, "make", arguments)?.extract(py)
    };
    let (code, address, state, finish) = made().map_err(|e| said(py, &e))?;
    let finish = (!finish.is_none(py)).then_some(finish);
    let source = info.inputs.is_empty();
    if address == 0 {
        return Ok(Box::new(Plain { fire: code, finish, source }));
    }
    let state_address = state.bind(py).getattr("ctypes").and_then(|c| c.getattr("data")?.extract::<usize>()).unwrap_or(0);
    // SAFETY: `compile_kernel` returns the address of machine code with exactly this signature, alive while `code` is.
    let fire = unsafe { std::mem::transmute::<usize, CompiledFire>(address) };
    Ok(Box::new(Compiled { fire, state: state_address, finish, source, _keep: (code, state), bases: vec![], strides: vec![], counts: vec![] }))
}

fn params<'py>(py: Python<'py>, info: &TaskInfo) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in &info.params {
        match value {
            // An integer in the file is one in Python, so that it can be a size or an index.
            Value::Number(x) if x.fract() == 0.0 && x.abs() < 9e15 => dict.set_item(name, *x as i64)?,
            Value::Number(x) => dict.set_item(name, x)?,
            Value::Text(x) => dict.set_item(name, x)?,
            Value::Bool(x) => dict.set_item(name, x)?,
            Value::Numbers(x) => dict.set_item(name, x)?,
        }
    }
    Ok(dict)
}

/// A Python function, called with the interpreter's lock.
struct Plain {
    fire: Py<PyAny>,
    finish: Option<Py<PyAny>>,
    source: bool,
}

impl Kernel for Plain {
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        Python::attach(|py| match self.call(py, batch) {
            Ok(Some(made)) if !self.source && made != batch.firings() => {
                Fired::failed(format!("returned {made} of {} firings; only a source may make fewer", batch.firings()))
            }
            Ok(Some(made)) if made < batch.firings() => Fired::End(made),
            Ok(Some(made)) if made > batch.firings() => {
                Fired::failed(format!("says that it made {made} of {} instances", batch.firings()))
            }
            Ok(_) => batch.done(),
            Err(e) => Fired::Failed(0, said(py, &e)),
        })
    }

    fn finish(&mut self) -> Result<(), String> {
        finish(self.finish.take())
    }
}

impl Plain {
    fn call(&self, py: Python<'_>, batch: &Batch) -> PyResult<Option<u64>> {
        let (ins, outs) = (PyList::empty(py), PyList::empty(py));
        for i in 0..batch.inputs() {
            let place = batch.place_in(i);
            let count = batch.firings() + place.peek;
            let view = memory(py, place.base.cast_mut().cast(), place.stride, place.bytes, count, false)?;
            ins.append((view, place.stride, place.bytes, count))?;
        }
        for o in 0..batch.outputs() {
            let place = batch.place_out(o);
            let view = memory(py, place.base.cast(), place.stride, place.bytes, batch.firings(), true)?;
            outs.append((view, place.stride, place.bytes, batch.firings()))?;
        }
        self.fire.call1(py, (batch.firings(), ins, outs))?.extract(py)
    }
}

/// The runtime's memory as Python sees it during one call.
fn memory<'py>(
    py: Python<'py>,
    base: *mut c_char,
    stride: u64,
    bytes: u64,
    count: u64,
    writable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let length = (count - 1) * stride + bytes;
    let flags: c_int = if writable { pyo3::ffi::PyBUF_WRITE } else { pyo3::ffi::PyBUF_READ };
    // SAFETY: the runtime gives `count` instances of `bytes` bytes, `stride` apart, for the time of the call; the front
    // says that views must not be kept.
    unsafe { Bound::from_owned_ptr_or_err(py, pyo3::ffi::PyMemoryView_FromMemory(base, length as isize, flags)) }
}

type CompiledFire = unsafe extern "C" fn(*const *mut c_void, *const u64, *const u64, *mut c_void) -> i64;

/// A function that numba compiled; holds no lock.
struct Compiled {
    fire: CompiledFire,
    state: usize,
    finish: Option<Py<PyAny>>,
    source: bool,
    _keep: (Py<PyAny>, Py<PyAny>),
    bases: Vec<*mut c_void>,
    strides: Vec<u64>,
    counts: Vec<u64>,
}

// SAFETY: the pointers in `bases` are written anew in every call and mean nothing between calls.
unsafe impl Send for Compiled {}

impl Kernel for Compiled {
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        self.bases.clear();
        self.strides.clear();
        self.counts.clear();
        for i in 0..batch.inputs() {
            let place = batch.place_in(i);
            self.bases.push(place.base.cast_mut().cast());
            self.strides.push(place.stride);
            self.counts.push(batch.firings() + place.peek);
        }
        for o in 0..batch.outputs() {
            let place = batch.place_out(o);
            self.bases.push(place.base.cast());
            self.strides.push(place.stride);
            self.counts.push(batch.firings());
        }
        self.counts.push(batch.firings());
        // SAFETY: one base, stride and count per port, and the firings, as `compile_kernel` says; the state is an array
        // that `_keep` holds.
        let made = unsafe {
            (self.fire)(self.bases.as_ptr(), self.strides.as_ptr(), self.counts.as_ptr(), self.state as *mut c_void)
        };
        match u64::try_from(made) {
            Ok(made) if made == batch.firings() => batch.done(),
            Ok(made) if self.source && made < batch.firings() => Fired::End(made),
            _ => Fired::failed(format!("returned {made} of {} firings", batch.firings())),
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        finish(self.finish.take())
    }
}

fn finish(function: Option<Py<PyAny>>) -> Result<(), String> {
    let Some(function) = function else { return Ok(()) };
    Python::attach(|py| function.call0(py).map(drop).map_err(|e| said(py, &e)))
}

/// `ValueError: ... (gain.py:12)`: an exception in a line, with the place where it was raised.
fn said(py: Python<'_>, e: &PyErr) -> String {
    let place = || -> PyResult<String> {
        let mut frame = e.traceback(py).ok_or_else(|| PyKeyError::new_err(()))?.into_any();
        while let Ok(next) = frame.getattr("tb_next") {
            if next.is_none() {
                break;
            }
            frame = next;
        }
        let file: String = frame.getattr("tb_frame")?.getattr("f_code")?.getattr("co_filename")?.extract()?;
        let line: u32 = frame.getattr("tb_lineno")?.extract()?;
        Ok(format!(" ({file}:{line})"))
    };
    let place = place().unwrap_or_default();
    format!("{e}{place}")
}
