//! A machine as cellweave sees it: elements that compute, limits on what moves between them, distances.
//!
//! | module | what it knows |
//! |---|---|
//! | [`element`] | something that computes, and what it can hold |
//! | [`role`] | what elements of a kind are there for: general, accelerator, peer |
//! | [`limit`] | a named capacity over directed pairs of elements |
//! | [`handover`] | what handing data over costs, by bytes at once and bytes of the ring |
//! | [`together`] | how much elements slow each other down |
//! | [`presets`] | `ps3`, `cell`, `qs20`, `qs22` with the limits of `streaming-schedule`, equations (1) to (9) |
//! | [`discover`] | this computer, from `/sys`, the affinity mask and the cgroup quota |
//! | [`mod@check`] | what every machine must keep to |
//! | [`mod@file`] | the machine file (TOML), round trip exact |
//! | [`foreign`] | machines from and into the files of other tools: core-to-core-latency, hwloc, likwid |
//! | [`mod@load`] | a machine from what a user typed: a preset with options, `host`, or a file |
//! | [`target`] | what transfers are measured on: the trait, and an experiment |
//! | [`exchange`] | what two elements do with one line: hand it over, wake each other, take turns |
//!
//! Floor 1: imports `ground` only.

pub mod check;
pub mod discover;
pub mod element;
pub mod exchange;
pub mod file;
pub mod foreign;
pub mod handover;
pub mod limit;
pub mod load;
pub mod presets;
pub mod role;
pub mod target;
pub mod together;

pub use element::{Element, ElementId, Memory, Overhead, Place};
pub use exchange::{Act, Home, LineExchange};
pub use handover::{HandoverCurve, HandoverPoint, Nearness};
pub use limit::{Block, Limit};
pub use load::{list, load};
pub use role::Role;
pub use target::Target;
pub use together::Together;

use std::collections::BTreeMap;

/// A machine: its elements, the limits on the bytes between them, and its measurements.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Machine {
    /// `qs22`, `host`, or whatever the machine file says.
    pub name: String,
    /// CPU model or a line about where the numbers come from.
    pub description: String,
    /// In index order; an [`ElementId`] indexes it.
    pub elements: Vec<Element>,
    /// By kind of element, where the machine states it; [`Machine::role`] says the others.
    pub roles: BTreeMap<String, Role>,
    /// Every one adds a contribution to a plan's period.
    pub limits: Vec<Limit>,
    /// By kind of element; a kind that is not named spends nothing.
    pub overheads: BTreeMap<String, Overhead>,
    /// As measured; empty before the machine has been probed.
    pub distances: Option<Distances>,
    /// What handing data over costs, as measured: at most one curve for each [`Nearness`].
    pub handovers: Vec<HandoverCurve>,
    /// How much elements slow each other down, as measured.
    pub together: Vec<Together>,
    /// Per element, how many times longer a task takes there than its cost says (2 = half as fast); empty where nobody
    /// measured.
    pub paces: Vec<f64>,
    /// Whether the limits were measured (a preset's were, by its paper); when not, a plan says so.
    pub measured: bool,
    /// The computer that all of this was measured on (`AMD EPYC, 2 cpus, Linux 6.1.0`), where the file says it. What a
    /// profile measured on the same one goes before what is here.
    pub computer: Option<String>,
    /// What a cgroup quota leaves of the cpus, in cpus (1.5 = three halves of one's time), when that is fewer than
    /// there are elements: more workers than this wait for one another.
    pub quota_cpus: Option<f64>,
}

/// Latency and bandwidth per ordered pair (reader's index first), as measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Distances {
    /// `latency_ns[reader][source]`.
    pub latency_ns: Vec<Vec<f64>>,
    /// `bandwidth_bytes_per_s[reader][source]`.
    pub bandwidth_bytes_per_s: Vec<Vec<f64>>,
}

impl Machine {
    /// The index of the element that is called `name`.
    pub fn element(&self, name: &str) -> Option<ElementId> {
        self.elements.iter().position(|e| e.name == name)
    }

    /// What an element of kind `kind` spends on transfers; zero when the machine does not say.
    pub fn overhead(&self, kind: &str) -> Overhead {
        self.overheads.get(kind).copied().unwrap_or_default()
    }

    /// The kinds of element, each once, in order of first appearance.
    pub fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = Vec::new();
        for e in &self.elements {
            if !kinds.contains(&e.kind.as_str()) {
                kinds.push(&e.kind);
            }
        }
        kinds
    }
}
