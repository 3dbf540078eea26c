//! Where tasks of a Python program get their code: Python kernels, and what `run` knows.

use cellweave::run::{
    Batch, Connected, Failed, Fired, Kernel, Kernels, Opened, PortSpec, Standard, TaskInfo,
};
use cellweave::work::{Graph, TaskId, Value};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ffi::{c_char, c_int, c_long, c_void};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// How an application names a kernel in Python.
const PYTHON: &str = "python:";
/// Seconds that a function gets to end after SystemExit, and how often it is looked at meanwhile.
const END_S: f64 = 0.5;
const END_LOOKS: u32 = 50;
/// The parameter, and the word of the decorator, that says how a kernel is compiled.
const JIT: &str = "jit";

/// Kernels in Python, and those that [`Standard`] knows.
pub(crate) struct PythonKernels {
    standard: Standard,
    folder: Option<PathBuf>,
    /// Per plain kernel that was opened, the thread that is in its function; 0: none.
    inside: Mutex<Vec<Arc<AtomicU64>>>,
}

impl PythonKernels {
    /// Kernels of an application; they are looked for in its folder.
    pub(crate) fn of(graph: &crate::graph::Graph) -> PythonKernels {
        let folder = graph.folder.clone();
        PythonKernels {
            standard: folder.clone().map_or_else(Standard::default, Standard::in_folder),
            folder,
            inside: Mutex::default(),
        }
    }

    /// `graph` with the parameter `jit` on tasks whose kernel says in its decorator that it is compiled: planners look
    /// there, and must not count such a task as one that holds the interpreter's lock. A kernel that cannot be found
    /// stays as it is; running it says why.
    pub(crate) fn with_jit(&self, py: Python<'_>, graph: &Graph) -> Graph {
        let mut graph = graph.clone();
        for task in &mut graph.tasks {
            let Some(name) = task.kernel.as_deref().filter(|name| name.starts_with(PYTHON)) else { continue };
            if task.lock.is_some() || task.params.contains_key(JIT) {
                continue;
            }
            if let Ok(Some(jit)) =
                self.found(py, name).and_then(|k| k.getattr(JIT)?.extract::<Option<String>>())
            {
                task.params.insert(JIT.into(), Value::Text(jit));
            }
        }
        graph
    }

    /// Raises SystemExit in functions that a run has left behind, and waits a moment: a thread that still runs Python
    /// code when the interpreter ends crashes it.
    pub(crate) fn end_left_behind(&self, py: Python<'_>) {
        let inside = self.inside.lock().unwrap_or_else(|e| e.into_inner());
        let threads = || inside.iter().map(|i| i.load(Ordering::Acquire)).filter(|&thread| thread != 0);
        for thread in threads() {
            // SAFETY: the interpreter is attached; it looks the thread up, and one that it does not find is none.
            unsafe { pyo3::ffi::PyThreadState_SetAsyncExc(thread as c_long, pyo3::ffi::PyExc_SystemExit) };
        }
        let sleep = || py.import("time")?.call_method1("sleep", (END_S / f64::from(END_LOOKS),));
        for _ in 0..END_LOOKS {
            if threads().next().is_none() || sleep().is_err() {
                return;
            }
        }
    }

    /// The `cellweave.Kernel` that is called `name`.
    fn found<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        py.import("cellweave.kernel")?.getattr("find")?.call1((name, self.folder.as_ref()))
    }

    /// Whether a kernel of `graph` is Python.
    pub(crate) fn any(&self, graph: &Graph) -> bool {
        graph.tasks.iter().any(|task| task.kernel.as_deref().is_some_and(|name| name.starts_with(PYTHON)))
    }
}

impl Kernels for PythonKernels {
    fn open(&self, graph: &Graph, task: TaskId) -> Result<Opened, String> {
        match graph.tasks[task].kernel.as_deref() {
            Some(name) if name.starts_with(PYTHON) => Python::attach(|py| {
                let inside = Arc::<AtomicU64>::default();
                self.inside.lock().unwrap_or_else(|e| e.into_inner()).push(inside.clone());
                let opened = self.found(py, name).and_then(|kernel| open(py, &kernel.unbind(), inside));
                opened.map_err(|e| e.value(py).to_string())
            }),
            _ => self.standard.open(graph, task),
        }
    }
}

/// Asks a `cellweave.Kernel` for its ports; its code is made later, on the worker.
fn open(py: Python<'_>, kernel: &Py<PyAny>, inside: Arc<AtomicU64>) -> PyResult<Opened> {
    type Ports = Vec<(String, String, u64)>;
    let (inputs, outputs): (Ports, Ports) = kernel.call_method0(py, "ports")?.extract(py)?;
    let specs = |ports: Ports| {
        ports
            .into_iter()
            .map(|(name, dtype, bytes)| PortSpec { name, dtype, bytes, ..PortSpec::default() })
            .collect()
    };
    let kernel = kernel.clone_ref(py);
    Ok(Opened::from_rust(specs(inputs), specs(outputs), move |info| {
        Python::attach(|py| make(py, &kernel, info, inside))
    }))
}

/// Makes the code of one task.
fn make(
    py: Python<'_>,
    kernel: &Py<PyAny>,
    info: &TaskInfo,
    inside: Arc<AtomicU64>,
) -> Result<Box<dyn Kernel>, String> {
    let connections = |ports: &[Connected]| -> Vec<(String, u64, u64)> {
        ports.iter().map(|c| (c.name.clone(), c.bytes, c.peek)).collect()
    };
    // What `make` of the front returns: fire, address, state, finish.
    type Made = (Py<PyAny>, usize, Py<PyAny>, Py<PyAny>);
    let made = || -> PyResult<Made> {
        let arguments = (params(py, info)?, connections(&info.inputs), connections(&info.outputs));
        kernel.call_method1(py, "make", arguments)?.extract(py)
    };
    let (code, address, state, finish) = made().map_err(|e| said(py, &e))?;
    let finish = (!finish.is_none(py)).then_some(finish);
    if address == 0 {
        return Ok(Box::new(Plain { fire: code, finish, inside }));
    }
    let state_address =
        state.bind(py).getattr("ctypes").and_then(|c| c.getattr("data")?.extract::<usize>()).unwrap_or(0);
    // SAFETY: `compile_kernel` returns the address of machine code with exactly this signature, alive while `code` is.
    let fire = unsafe { std::mem::transmute::<usize, CompiledFire>(address) };
    Ok(Box::new(Compiled {
        fire,
        state: state_address,
        finish,
        _keep: (code, state),
        bases: vec![],
        strides: vec![],
        counts: vec![],
    }))
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
    /// The thread that is in the function; 0: none.
    inside: Arc<AtomicU64>,
}

impl Kernel for Plain {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        Python::attach(|py| match self.call(py, batch) {
            Ok(made) => Ok(made.map_or(Fired::All, |made| Fired::counted(made, batch.firings()))),
            Err(e) => Err(Failed::from(said(py, &e))),
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
            let place = batch.raw_input(i);
            let count = batch.firings() + place.peek;
            let view = seen(py, place.base.cast_mut().cast(), place.stride, place.bytes, count, false)?;
            ins.append((view, place.stride, place.bytes, count))?;
        }
        for o in 0..batch.outputs() {
            let place = batch.raw_output(o);
            let view = seen(py, place.base.cast(), place.stride, place.bytes, batch.firings(), true)?;
            outs.append((view, place.stride, place.bytes, batch.firings()))?;
        }
        // SAFETY: asks for a number.
        let thread = unsafe { pyo3::ffi::PyThread_get_thread_ident() };
        self.inside.store(thread as u64, Ordering::Release);
        let made = self.fire.call1(py, (batch.firings(), ins, outs));
        self.inside.store(0, Ordering::Release);
        made?.extract(py)
    }
}

/// The runtime's memory as Python sees it during one call.
fn seen<'py>(
    py: Python<'py>,
    base: *mut c_char,
    stride: u64,
    bytes: u64,
    count: u64,
    writable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let length = (count - 1) * stride + bytes;
    // PyBUF_READ and PyBUF_WRITE of Python's object.h; pyo3 does not name them.
    const READ: c_int = 0x100;
    const WRITE: c_int = 0x200;
    let flags = if writable { WRITE } else { READ };
    // SAFETY: the runtime gives `count` instances of `bytes` bytes, `stride` apart, for the time of the call; the front
    // says that views must not be kept.
    unsafe {
        Bound::from_owned_ptr_or_err(py, pyo3::ffi::PyMemoryView_FromMemory(base, length as isize, flags))
    }
}

type CompiledFire = unsafe extern "C" fn(*const *mut c_void, *const u64, *const u64, *mut c_void) -> i64;

/// A function that numba compiled; holds no lock.
struct Compiled {
    fire: CompiledFire,
    state: usize,
    finish: Option<Py<PyAny>>,
    _keep: (Py<PyAny>, Py<PyAny>),
    bases: Vec<*mut c_void>,
    strides: Vec<u64>,
    counts: Vec<u64>,
}

// SAFETY: the pointers in `bases` are written anew in every call and mean nothing between calls.
unsafe impl Send for Compiled {}

impl Kernel for Compiled {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        self.bases.clear();
        self.strides.clear();
        self.counts.clear();
        for i in 0..batch.inputs() {
            let place = batch.raw_input(i);
            self.bases.push(place.base.cast_mut().cast());
            self.strides.push(place.stride);
            self.counts.push(batch.firings() + place.peek);
        }
        for o in 0..batch.outputs() {
            let place = batch.raw_output(o);
            self.bases.push(place.base.cast());
            self.strides.push(place.stride);
            self.counts.push(batch.firings());
        }
        self.counts.push(batch.firings());
        // SAFETY: one base, stride and count per port, and the firings, as `compile_kernel` says; the state is an array
        // that `_keep` holds.
        let made = unsafe {
            (self.fire)(
                self.bases.as_ptr(),
                self.strides.as_ptr(),
                self.counts.as_ptr(),
                self.state as *mut c_void,
            )
        };
        let made =
            u64::try_from(made).map_err(|_| Failed::from(format!("it returned {made}, a negative count")))?;
        Ok(Fired::counted(made, batch.firings()))
    }

    fn finish(&mut self) -> Result<(), String> {
        finish(self.finish.take())
    }
}

fn finish(function: Option<Py<PyAny>>) -> Result<(), String> {
    let Some(function) = function else { return Ok(()) };
    Python::attach(|py| function.call0(py).map(drop).map_err(|e| said(py, &e)))
}

/// Calls of handles stand in the package itself: the line that a user wants to see is the one that made the call.
const OWN: &str = "cellweave/sim/";

/// ` (gain.py:12)`: the place where an exception was raised.
pub(crate) fn raised_at(py: Python<'_>, e: &PyErr) -> Option<String> {
    let file = |frame: &Bound<'_, PyAny>| -> PyResult<String> {
        frame.getattr("tb_frame")?.getattr("f_code")?.getattr("co_filename")?.extract()
    };
    let place = || -> PyResult<String> {
        let mut frame = e.traceback(py).ok_or_else(|| PyKeyError::new_err(()))?.into_any();
        while let Ok(next) = frame.getattr("tb_next") {
            if next.is_none() || file(&next)?.contains(OWN) {
                break;
            }
            frame = next;
        }
        let line: u32 = frame.getattr("tb_lineno")?.extract()?;
        Ok(format!(" ({}:{line})", file(&frame)?))
    };
    place().ok()
}

/// `ValueError: ... (gain.py:12)`: an exception in a line, with the place where it was raised.
pub(crate) fn said(py: Python<'_>, e: &PyErr) -> String {
    format!("{e}{}", raised_at(py, e).unwrap_or_default())
}
