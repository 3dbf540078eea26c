//! Something that computes: a PPE, an SPE, a core.

use std::collections::BTreeMap;

/// An element's index in [`Machine::elements`](crate::Machine::elements).
pub type ElementId = usize;

/// Something that computes.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// Unique in its machine: `PPE0`, `SPE15`, `CPU3`.
    pub name: String,
    /// What costs and overheads are looked up by: `ppe`, `spe`, `core`, or any word.
    pub kind: String,
    /// Where it sits.
    pub place: Place,
    /// What stream buffers may take of it; `None` is not limited.
    pub memory: Option<Memory>,
    /// Incoming edges from other elements that it can take at once; (17) of `streaming-schedule`: 16 for an SPE.
    pub incoming_max: Option<u32>,
    /// Outgoing edges that it can serve at once, by the kind of the reader; (18): an SPE serves 8 to PPEs.
    pub outgoing_max: BTreeMap<String, u32>,
    /// The operating system's cpu number, where there is one.
    pub os_cpu: Option<u32>,
}

/// Where an element sits; two elements with equal numbers share the thing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// Socket, or the Cell of a blade.
    pub chip: u32,
    /// NUMA node.
    pub numa: Option<u32>,
    /// Group that shares an L3 (a CCX).
    pub l3: Option<u32>,
    /// Group that shares an L2.
    pub l2: Option<u32>,
    /// Physical core: SMT siblings share it.
    pub core: Option<u32>,
    /// Where it stands in its chip's mesh: column from the left, row from the top; elements of one tile share it.
    pub tile: Option<[u32; 2]>,
    /// Relative speed as the kernel gives it (`cpu_capacity`, 1024 = the fastest).
    pub capacity: Option<u32>,
}

/// How many bytes of stream buffers an element can hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Budget in bytes: a local store, or a host core's L2.
    pub bytes: u64,
    /// A local store is hard: a plan that exceeds it is infeasible. A cache is not.
    pub hard: bool,
    /// Whether the application's code takes its part of a hard memory, as in a local store; a message buffer has none.
    pub holds_code: bool,
    /// A host core's L1 data cache, in bytes: what live buffers of one unit should fit.
    pub l1_bytes: Option<u64>,
    /// Bytes/s at which what exceeds a soft budget moves instead; `None` = not measured, no contribution.
    pub overflow_bytes_per_s: Option<f64>,
}

/// The element's own time for each transfer that it takes part in (LogP's o).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Overhead {
    /// ns per hand-over (one per batch), at each end.
    pub per_transfer_ns: f64,
    /// ns per byte of a transfer, at each end (writing lines that another core holds costs as much as reading them).
    pub per_byte_ns: f64,
}
