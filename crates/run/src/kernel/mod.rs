//! Kernels: the code of tasks. Three tiers over one ABI (`cellweave.h`).
//!
//! | module | what it does |
//! |---|---|
//! | [`abi`] | the header in Rust |
//! | [`rust`] | the trait [`Kernel`], lowered to the ABI by [`export_kernel!`](crate::export_kernel) |
//! | [`library`] | shared objects |
//! | `ports` | which edge is which port |
//! | `verdict` | how a call ended, and the views of what it left |
//!
//! The runtime knows kernels only as an [`Opened`]: ports, and three functions with a state.

pub mod abi;
pub mod library;
pub(crate) mod ports;
pub mod rust;
pub(crate) mod verdict;

pub use ports::PortSpec;
pub use rust::{Batch, Data, Failed, Fired, InPlace, Input, Kernel, Output, VariableInput, VariableOutput};

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::Arc;
use work::{Graph, TaskId, Value};

/// Where kernels come from. [`Standard`](crate::Standard) knows `cellweave:NAME` and `libNAME.so:SYMBOL`; a caller that
/// knows more schemes asks it for the rest.
pub trait Kernels: Sync {
    /// The kernel of a task, not yet initialised. Called once per task, on the caller's thread.
    ///
    /// # Errors
    /// A sentence: what was not found, where it was looked for, what is allowed.
    fn open(&self, graph: &Graph, task: TaskId) -> Result<Opened, String>;
}

/// A kernel, ready to be initialised on its worker.
///
/// Its ports cannot be changed any more: compiled code rests on them.
pub struct Opened {
    pub(crate) inputs: Vec<PortSpec>,
    pub(crate) outputs: Vec<PortSpec>,
    pub(crate) code: Code,
    /// Keeps the code (a library, a closure) alive; dropped after `finish`.
    pub(crate) keep: Arc<dyn Any + Send + Sync>,
    /// What the main thread can do for a sink whose worker hangs.
    pub(crate) rescue: Option<Arc<dyn Rescue>>,
    /// Whether a call may wait for the outside world (stdin, a pipe), which is no hang.
    pub(crate) may_block: bool,
}

/// What the main thread can do for a sink whose worker hangs.
pub trait Rescue: Send + Sync {
    /// Writes out what was accepted; must not wait for the worker.
    fn flush(&self) -> Result<(), String>;
}

/// How a kernel is called.
pub(crate) enum Code {
    /// Functions of the ABI.
    Native { init: Option<abi::Init>, fire: abi::Fire, finish: Option<abi::Finish> },
    /// Makes a Rust kernel.
    Rust(MakeKernel),
}

type MakeKernel = Box<dyn FnOnce(&TaskInfo) -> Result<Box<dyn Kernel>, String> + Send>;

impl Opened {
    /// A Rust kernel; `make` is called on the worker's thread.
    pub fn from_rust(
        inputs: Vec<PortSpec>,
        outputs: Vec<PortSpec>,
        make: impl FnOnce(&TaskInfo) -> Result<Box<dyn Kernel>, String> + Send + 'static,
    ) -> Opened {
        let code = Code::Rust(Box::new(make));
        Opened { inputs, outputs, code, keep: Arc::new(()), rescue: None, may_block: false }
    }

    /// A kernel of the ABI that is linked into this program.
    ///
    /// # Errors
    /// When it was built for another version of the ABI, or has no `fire`.
    ///
    /// # Safety
    /// The kernel must be what `cellweave.h` says; one that [`export_kernel!`](crate::export_kernel) made is.
    pub unsafe fn from_kernel(kernel: &'static abi::CwKernel) -> Result<Opened, String> {
        // SAFETY: the caller's promise.
        unsafe { library::open_descriptor(kernel, Arc::new(())) }
    }

    /// The main thread may flush this kernel's sink when its worker hangs.
    #[must_use]
    pub fn with_rescue(mut self, rescue: Arc<dyn Rescue>) -> Opened {
        self.rescue = Some(rescue);
        self
    }

    /// A call may wait for the outside world; the watchdog warns instead of ending the run.
    #[must_use]
    pub fn blocking(mut self) -> Opened {
        self.may_block = true;
        self
    }
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened")
            .field("inputs", &self.inputs)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}

/// A port as connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connected {
    /// As the application writes it.
    pub name: String,
    /// Of one instance; 0 where an optional port is not connected.
    pub bytes: u64,
    /// Inputs only.
    pub peek: u64,
}

/// The information that a kernel gets when it is made.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskInfo {
    /// The task's name.
    pub name: String,
    /// From the application file.
    pub params: std::collections::BTreeMap<String, Value>,
    /// In port order.
    pub inputs: Vec<Connected>,
    /// In port order.
    pub outputs: Vec<Connected>,
}

impl TaskInfo {
    /// The parameter `name` as a number.
    ///
    /// # Errors
    /// When it is there and no number.
    pub fn number(&self, name: &str) -> Result<Option<f64>, String> {
        match self.params.get(name) {
            None => Ok(None),
            Some(Value::Number(x)) => Ok(Some(*x)),
            Some(Value::Bool(b)) => Ok(Some(f64::from(u8::from(*b)))),
            Some(_) => Err(format!("the parameter '{name}' must be a number")),
        }
    }

    /// The parameter `name` as a whole number from `min` to `max`.
    ///
    /// # Errors
    /// When it is there and not that.
    pub fn integer(&self, name: &str, min: u64, max: u64) -> Result<Option<u64>, String> {
        match self.number(name)? {
            None => Ok(None),
            Some(x) if x.fract() == 0.0 && x >= min as f64 && x <= max as f64 => Ok(Some(x as u64)),
            Some(x) => {
                Err(format!("the parameter '{name}' is {x}; it must be a whole number from {min} to {max}"))
            }
        }
    }

    /// The parameter `name` as a text.
    ///
    /// # Errors
    /// When it is there and no text.
    pub fn text(&self, name: &str) -> Result<Option<&str>, String> {
        match self.params.get(name) {
            None => Ok(None),
            Some(Value::Text(t)) => Ok(Some(t)),
            Some(_) => Err(format!("the parameter '{name}' must be a text")),
        }
    }

    /// Refuses parameters whose names are not in `known`, with the nearest.
    ///
    /// # Errors
    /// On the first unknown name.
    pub fn only(&self, known: &[&str]) -> Result<(), String> {
        match self.params.keys().find(|k| !known.contains(&k.as_str())) {
            None => Ok(()),
            Some(k) => Err(format!("unknown parameter '{k}'; {}", ports::allowed(k, known.iter().copied()))),
        }
    }

    /// From what `init` of the ABI gets.
    ///
    /// # Safety
    /// `task` must be as `cellweave.h` says.
    pub unsafe fn from_raw(task: &abi::CwTask) -> TaskInfo {
        // SAFETY: all lists have the lengths that stand beside them, or are not looked at when those are 0; texts are
        // NUL terminated.
        unsafe {
            let text = |p: *const c_char| CStr::from_ptr(p).to_string_lossy().into_owned();
            let connected = |list: *const abi::CwConnection, count: u32| {
                slice(list, count as usize)
                    .iter()
                    .map(|c| Connected { name: text(c.name), bytes: c.bytes, peek: c.peek })
                    .collect()
            };
            let params = slice(task.params, task.params_count as usize)
                .iter()
                .map(|p| {
                    let value = if !p.text.is_null() {
                        Value::Text(text(p.text))
                    } else {
                        match slice(p.numbers, p.count as usize) {
                            [x] => Value::Number(*x),
                            many => Value::Numbers(many.to_vec()),
                        }
                    };
                    (text(p.name), value)
                })
                .collect();
            TaskInfo {
                name: text(task.name),
                params,
                inputs: connected(task.inputs, task.inputs_count),
                outputs: connected(task.outputs, task.outputs_count),
            }
        }
    }
}

/// # Safety
/// `list` must point at `count` entries, or be anything when `count` is 0.
unsafe fn slice<'a, T>(list: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(list, count) }
}

/// Bytes of the room for a kernel's message.
pub(crate) const ERROR_BYTES: usize = 1024;

/// A kernel with its state: what a worker fires. Dropping it does not call `finish`.
pub(crate) struct Live {
    pub(crate) fire: abi::Fire,
    pub(crate) state: *mut c_void,
    finish: Option<abi::Finish>,
    finished: bool,
    _keep: Arc<dyn Any + Send + Sync>,
}

impl Live {
    /// Makes the state, on the worker's thread.
    pub(crate) fn init(opened: Opened, info: &TaskInfo) -> Result<Live, String> {
        let keep = opened.keep;
        match opened.code {
            Code::Rust(make) => {
                let made = rust::guarded(|| make(info)).unwrap_or_else(Err)?;
                let state = rust::state_of(made, &opened.inputs, &opened.outputs, info);
                Ok(Live {
                    fire: rust::fire::<Box<dyn Kernel>>,
                    state,
                    finish: Some(rust::finish::<Box<dyn Kernel>>),
                    finished: false,
                    _keep: keep,
                })
            }
            Code::Native { init, fire, finish } => {
                let mut state = std::ptr::null_mut();
                if let Some(init) = init {
                    let raw = RawTask::new(info)?;
                    let mut error = [0u8; ERROR_BYTES];
                    // SAFETY: the kernel follows the ABI (its descriptor was checked); `task` and all it points at live
                    // until after the call.
                    let status = raw.with(&mut error, |task| unsafe { init(task, &mut state) });
                    if status != OK {
                        return Err(message(&error).unwrap_or_else(|| match status {
                            ERROR => "init failed without a message".into(),
                            other => format!("init returned {other}, which is no status of init"),
                        }));
                    }
                }
                Ok(Live { fire, state, finish, finished: false, _keep: keep })
            }
        }
    }

    /// Calls `finish`, once.
    pub(crate) fn finish(&mut self) -> Result<(), String> {
        let Some(finish) = self.finish.filter(|_| !std::mem::replace(&mut self.finished, true)) else {
            return Ok(());
        };
        let mut error = [0u8; ERROR_BYTES];
        // SAFETY: the state is what `init` made; this is the last call with it; the message has the room it is said to.
        match unsafe { finish(self.state, error.as_mut_ptr().cast(), ERROR_BYTES as u64) } {
            OK => Ok(()),
            _ => Err(message(&error).unwrap_or_else(|| "finish failed without a message".into())),
        }
    }
}

use abi::{ERROR, OK};

/// The text up to the NUL, if there is any.
pub(crate) fn message(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    (end > 0).then(|| String::from_utf8_lossy(&bytes[..end]).into_owned())
}

/// A [`TaskInfo`] with texts and numbers as the ABI has them.
struct RawTask {
    name: CString,
    params: Vec<RawParam>,
    inputs: Vec<(CString, Connected)>,
    outputs: Vec<(CString, Connected)>,
}

struct RawParam {
    name: CString,
    text: Option<CString>,
    numbers: Vec<f64>,
}

impl RawTask {
    fn new(info: &TaskInfo) -> Result<RawTask, String> {
        let text = |t: &str| CString::new(t).map_err(|_| format!("'{}' contains a NUL", t.escape_debug()));
        let list = |ports: &[Connected]| -> Result<Vec<_>, String> {
            ports.iter().map(|c| Ok((text(&c.name)?, c.clone()))).collect()
        };
        let param = |(name, value): (&String, &Value)| -> Result<RawParam, String> {
            let (words, numbers) = match value {
                Value::Number(x) => (None, vec![*x]),
                Value::Bool(b) => (None, vec![f64::from(u8::from(*b))]),
                Value::Numbers(list) => (None, list.clone()),
                Value::Text(t) => (Some(text(t)?), vec![]),
            };
            Ok(RawParam { name: text(name)?, text: words, numbers })
        };
        Ok(RawTask {
            name: text(&info.name)?,
            params: info.params.iter().map(param).collect::<Result<_, _>>()?,
            inputs: list(&info.inputs)?,
            outputs: list(&info.outputs)?,
        })
    }

    /// Calls `call` with the task; the pointers in it are valid during the call. They are taken here, where
    /// nothing moves any more.
    fn with<R>(&self, error: &mut [u8], call: impl FnOnce(&abi::CwTask) -> R) -> R {
        let list = |ports: &[(CString, Connected)]| -> Vec<abi::CwConnection> {
            let raw = |(name, c): &(CString, Connected)| abi::CwConnection {
                name: name.as_ptr(),
                bytes: c.bytes,
                peek: c.peek,
            };
            ports.iter().map(raw).collect()
        };
        let param = |p: &RawParam| abi::CwParam {
            name: p.name.as_ptr(),
            text: p.text.as_ref().map_or(std::ptr::null(), |t| t.as_ptr()),
            numbers: if p.numbers.is_empty() { std::ptr::null() } else { p.numbers.as_ptr() },
            count: p.numbers.len() as u64,
        };
        let params: Vec<abi::CwParam> = self.params.iter().map(param).collect();
        let (inputs, outputs) = (list(&self.inputs), list(&self.outputs));
        call(&abi::CwTask {
            name: self.name.as_ptr(),
            params: params.as_ptr(),
            params_count: params.len() as u64,
            inputs: inputs.as_ptr(),
            outputs: outputs.as_ptr(),
            inputs_count: inputs.len() as u32,
            outputs_count: outputs.len() as u32,
            error: error.as_mut_ptr().cast(),
            error_bytes: error.len() as u64,
        })
    }
}
