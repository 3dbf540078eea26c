//! The largest graphs and numbers that are accepted, in one place.
//!
//! They are far beyond what is sensible, and small enough that no sum of them overflows: `bytes * (peek + delay + 1)`
//! stays below [`WINDOW_BYTES`] = 2^60, firstPeriod below `TASKS * (PEEK + 2)`, about 2^40. Products of these with a
//! batch stop at `u64::MAX`.

/// Tasks of a graph.
pub const TASKS: usize = 1 << 20;
/// Edges of a graph.
pub const EDGES: usize = 1 << 22;
/// Bytes per instance of an edge, and of code.
pub const BYTES: u64 = 1 << 40;
/// Further instances that a consumer needs.
pub const PEEK: u64 = 1 << 20;
/// Instances on an edge at the start.
pub const DELAY: u64 = 1 << 20;
/// `bytes * (peek + delay + 1)`: what an edge holds at least.
pub const WINDOW_BYTES: u64 = 1 << 60;
/// Instances per firing.
pub const BATCH: u64 = 1 << 20;
/// ns per firing, per transfer and per byte: 31 years.
pub const NS: f64 = 1e18;
/// Whole numbers up to here (and down to its negative) are exact as a [`Value::Number`](crate::Value::Number).
pub const WHOLE_NUMBER: u64 = 1 << 53;
/// Bytes of a name or of a text.
pub const TEXT_BYTES: usize = 1 << 16;
/// Bytes of a name of a task or a port.
pub const NAME_BYTES: usize = 256;
/// Bytes of a file that is read.
pub const FILE_BYTES: u64 = 64 << 20;
/// Bytes of a TOML file: its parser takes about 90 bytes of memory per byte. Larger graphs go as JSON.
pub const TOML_BYTES: u64 = 24 << 20;
/// Values in a JSON file.
pub const VALUES: usize = 1 << 24;
/// Brackets within brackets in a file.
pub const DEPTH: usize = 64;
