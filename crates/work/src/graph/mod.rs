//! Tasks, edges and ports of a streaming application.

use ground::Quantiles;
use std::collections::BTreeMap;

mod validate;

/// [`Graph::code_bytes`] where the file says nothing: 64 kB. The paper gives no figure.
pub const DEFAULT_CODE_BYTES: u64 = 64 * 1024;

/// A task's index in [`Graph::tasks`].
pub type TaskId = usize;
/// An edge's index in [`Graph::edges`].
pub type EdgeId = usize;

/// A streaming application: every task fires once per instance.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Graph {
    /// The application's name.
    pub name: String,
    /// In index order.
    pub tasks: Vec<Task>,
    /// In file order.
    pub edges: Vec<Edge>,
    /// Bytes of code on each element with a hard memory ((16) of `streaming-schedule`); 64 kB where the file says
    /// nothing.
    pub code_bytes: u64,
    /// What `cellweave profile` measured beside the costs.
    pub profile: Option<Profile>,
}

/// What `cellweave profile` measured on a host beside the costs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// Name of the machine that was measured.
    pub machine: String,
    /// Version of cellweave that measured.
    pub cellweave: String,
    /// By kind of element: ns that an element spends itself per transfer, and per byte of it.
    pub overheads: BTreeMap<String, (f64, f64)>,
    /// By kind of element: the sum of all costs as they were measured, in ns per instance. Other costs in the file were
    /// written by hand since.
    pub totals_ns: BTreeMap<String, f64>,
    /// By element: how fast it computed when it was measured.
    pub speeds: BTreeMap<String, ProfiledSpeed>,
    /// By what a pair of elements shares (`l3`): points of the curve of hand-overs, as the machine file has them.
    pub handovers: BTreeMap<String, Vec<[f64; 5]>>,
    /// By the names of elements, with a blank between them: how many times longer each takes for computing, and for a
    /// walk through memory, when all of them do it at the same time.
    pub together: BTreeMap<String, [f64; 2]>,
    /// By element: how many times longer the application took there, alone on it, than its costs say.
    pub paces: BTreeMap<String, f64>,
    /// By kind of element, then by task: when its cost was measured, and how steady it was.
    pub costs: BTreeMap<String, BTreeMap<String, ProfiledCost>>,
}

/// A cost as it was measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProfiledCost {
    /// When, as [`ground::utc`] writes it.
    pub measured: String,
    /// ns per firing, call by call. The median is the task's cost; one that differs was written by hand since.
    pub ns: Quantiles,
}

/// What an element needed for the fixed kernels of `host::speeds`: integer, floating, memory, in ns; empty where it
/// could not be measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProfiledSpeed {
    /// While the others were idle.
    pub alone_ns: Vec<f64>,
    /// While all elements computed.
    pub together_ns: Vec<f64>,
}

/// Something that fires once per instance.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Task {
    /// Unique in its graph; no dot, no white space.
    pub name: String,
    /// `libequaliser.so:band` (C ABI symbol), `cellweave:NAME` (built in), `python:pkg.module:function`;
    /// `None` = planning only.
    pub kernel: Option<String>,
    /// What the kernel's `init` gets.
    pub params: BTreeMap<String, Value>,
    /// ns per firing by kind of element; `"*"` = any kind; empty = to be profiled.
    pub cost_ns: BTreeMap<String, f64>,
    /// Firings may run in any order on copies of the kernel: it keeps no state.
    pub stateless: bool,
    /// The lock that a firing holds while it runs, where the file names one; see [`Task::held_lock`].
    pub lock: Option<String>,
}

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number (TOML integers and floats).
    Number(f64),
    /// A text.
    Text(String),
    /// A truth value.
    Bool(bool),
    /// A list of numbers.
    Numbers(Vec<f64>),
}

/// One end of an edge: a task and the name of its port. An edge that names no port gets one of its own, `0`, `1`, ..
/// in file order, so that each such edge carries data of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Port {
    /// The task.
    pub task: TaskId,
    /// The port's name, or its index in digits.
    pub name: String,
}

/// Data that moves once per instance. Two edges from one output port are a broadcast: one buffer at the producer, one
/// transfer per destination element. An input port has exactly one edge.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// Producer.
    pub from: Port,
    /// Consumer.
    pub to: Port,
    /// Bytes per instance; at least 1. The maximum, where the port's length varies.
    pub bytes: u64,
    /// Further instances that the consumer needs: instance i needs i .. i + peek.
    pub peek: u64,
    /// Instances (of zeros) that are there at the start.
    pub delay: u64,
}

/// The lock of the Python interpreter, which a firing of a Python kernel holds.
const PYTHON_LOCK: &str = "python";

impl Task {
    /// The lock that a firing holds while it runs: firings of tasks with the same lock cannot run at once. It is the
    /// lock that the file names, else the interpreter's for a Python kernel that is not compiled (`jit`).
    pub fn held_lock(&self) -> Option<&str> {
        if let Some(lock) = &self.lock {
            return Some(lock);
        }
        let python = self.kernel.as_deref().is_some_and(|k| k.starts_with("python:"));
        let jit = match self.params.get("jit") {
            Some(Value::Text(text)) => !text.is_empty() && text != "none",
            Some(Value::Bool(jit)) => *jit,
            _ => false,
        };
        (python && !jit).then_some(PYTHON_LOCK)
    }

    /// ns per firing on an element of kind `kind`: the kind's own figure, else that of `"*"`.
    pub fn cost_on(&self, kind: &str) -> Option<f64> {
        self.cost_ns.get(kind).or_else(|| self.cost_ns.get("*")).copied()
    }
}

impl Graph {
    /// The index of the task that is called `name`. Looks through all of them: build a map for many look-ups.
    pub fn task(&self, name: &str) -> Option<TaskId> {
        self.tasks.iter().position(|t| t.name == name)
    }
}
