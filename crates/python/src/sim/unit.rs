//! What a program holds: its calls make operations, which it yields. They are the rows of [`cellweave::sim::table`].

use super::argument::Argument;
use cellweave::sim::dma::{DmaKind, ListElements};
use cellweave::sim::numbers::{
    Bytes, Cycles, DataWord, LocalAddress, Ns, Payload, SignalRegister, SpeId, Tag, TagMask,
};
use cellweave::sim::op::{Answer, Op, Reply};
use cellweave::sim::{Address, CYCLE_PS, calls, table};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// What a program's handle, its operations and the machine share.
#[derive(Default)]
pub(crate) struct Handle {
    cycle: AtomicU64,
    /// The call whose operation was made and thrown away.
    forgotten: Mutex<Option<&'static str>>,
}

impl Handle {
    /// The machine's time.
    pub(crate) fn set_cycle(&self, cycle: u64) {
        self.cycle.store(cycle, Relaxed);
    }

    /// The call whose operation was not yielded, once.
    pub(crate) fn forgotten(&self) -> Option<&'static str> {
        self.forgotten.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What a program gets for an operation.
pub(crate) enum Answered {
    Nothing,
    Truth(bool),
    Number(u64),
    Bytes(Vec<u8>),
}

impl Answered {
    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(match self {
            Self::Nothing => py.None().into_bound(py),
            Self::Truth(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
            Self::Number(number) => number.into_pyobject(py)?.into_any(),
            Self::Bytes(bytes) => PyBytes::new(py, &bytes).into_any(),
        })
    }
}

macro_rules! values {
    ($($from:ty: $given:pat => $value:expr;)*) => {$(
        impl From<$from> for Answered {
            fn from($given: $from) -> Self {
                $value
            }
        }
    )*};
}

values! {
    (): () => Self::Nothing;
    bool: truth => Self::Truth(truth);
    u32: number => Self::Number(number.into());
    u64: number => Self::Number(number);
    Vec<u8>: bytes => Self::Bytes(bytes);
}

/// How the machine's reply to an operation is read.
pub(crate) type ReadAnswer = fn(Reply) -> Answered;

/// Something that a program asks of the machine, when it yields it.
#[pyclass(frozen, module = "cellweave._core")]
pub(crate) struct Operation {
    op: Op,
    answer: ReadAnswer,
    /// `spe.get(...)`.
    call: &'static str,
    handle: Arc<Handle>,
    yielded: AtomicBool,
}

impl Operation {
    /// What to do, and how the reply is read, for the program that `handle` belongs to.
    pub(crate) fn take(&self, handle: &Arc<Handle>) -> PyResult<(Op, ReadAnswer)> {
        self.yielded.store(true, Relaxed);
        if !Arc::ptr_eq(handle, &self.handle) {
            let call = self.call;
            return Err(PyTypeError::new_err(format!(
                "a program yields calls of its own handle: {call} is not"
            )));
        }
        Ok((self.op.clone(), self.answer))
    }
}

#[pymethods]
impl Operation {
    fn __repr__(&self) -> String {
        format!("<{}, to be yielded>", self.call)
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        if !self.yielded.load(Relaxed) {
            *self.handle.forgotten.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.call);
        }
    }
}

/// What the handles of SPEs and PPEs have in common.
#[pyclass(name = "Unit", subclass, frozen, module = "cellweave._core")]
pub(crate) struct ProgramUnit {
    number: usize,
    /// `SPE3`, `PPE0`.
    name: String,
    is_spe: bool,
    handle: Arc<Handle>,
}

impl ProgramUnit {
    /// What it shares with its operations.
    pub(crate) fn handle(&self) -> &Arc<Handle> {
        &self.handle
    }

    /// `SPE3`, `PPE0`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is an SPE, or else a PPE.
    pub(crate) fn is_spe(&self) -> bool {
        self.is_spe
    }

    fn new(kind: &str, number: usize) -> Self {
        let is_spe = kind == "spe";
        Self { number, name: format!("{}{number}", kind.to_uppercase()), is_spe, handle: Arc::default() }
    }

    fn operation(&self, call: &'static str, op: Op, answer: ReadAnswer) -> Operation {
        Operation { op, answer, call, handle: Arc::clone(&self.handle), yielded: AtomicBool::new(false) }
    }
}

#[pymethods]
impl ProgramUnit {
    /// As programs count SPEs, or PPEs.
    #[getter]
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// The simulated time. Asking takes no time, and is not yielded.
    #[getter]
    fn now_ps(&self) -> u64 {
        self.handle.cycle.load(Relaxed) * CYCLE_PS
    }

    /// Where the local store of `spe` starts, as an effective address. It is not yielded.
    fn local_store_of(&self, #[pyo3(from_py_with = SpeId::given)] spe: usize) -> u64 {
        Address::local_store(spe).0
    }
}

/// A class for each kind of unit, with a method for each of its calls.
macro_rules! classes {
    ($($class:ident $module:ident {$(
        $(#[$doc:meta])* $who:ident $name:ident($($argument:ident: $type:ident $(= $default:tt)?),*)
            $(-> $answer:ty)? => $op:expr;
    )*})*) => {$(
        #[doc = concat!("The calls of a program on the ", stringify!($class), " of a number.")]
        #[pyclass(extends = ProgramUnit, subclass, frozen, module = "cellweave._core")]
        pub(crate) struct $class;

        #[pymethods]
        impl $class {
            #[new]
            fn new(number: usize) -> PyClassInitializer<Self> {
                PyClassInitializer::from(ProgramUnit::new(stringify!($module), number)).add_subclass(Self)
            }

            $(
                $(#[$doc])*
                #[pyo3(signature = ($($argument $(= $default)?),*))]
                fn $name(
                    this: PyRef<'_, Self>,
                    $(
                        #[pyo3(from_py_with = <$type as Argument>::given)]
                        $argument: <$type as Argument>::Given,
                    )*
                ) -> Operation {
                    fn answer(reply: Reply) $(-> $answer)? {
                        Answer::of(reply)
                    }
                    this.as_super().operation(
                        concat!(stringify!($module), ".", stringify!($name), "(...)"),
                        table::$module::$name($($argument),*),
                        |reply| answer(reply).into(),
                    )
                }
            )*
        }
    )*};
}

calls!(classes);
