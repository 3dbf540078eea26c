//! Units that run programs, and the state of an SPE besides its local store and its MFC.

use crate::ids::LineId;
use crate::op::{Op, Reply};
use crate::program::Body;
use std::collections::VecDeque;
use std::panic::Location;

/// Words that an SPE's inbound mailbox holds.
pub(crate) const MAILBOX: usize = 4;

/// An SPE or a PPE with its program.
pub(crate) struct UnitState {
    /// `SPE3`, `PPE0`.
    pub name: String,
    pub program: String,
    /// The line that gave it.
    pub given: Option<&'static Location<'static>>,
    pub body: Option<Body>,
    /// The operation that the program waits for.
    pub op: Option<Op>,
    /// The answer, when it only has to be handed over.
    pub reply: Option<Reply>,
    pub waiting: bool,
    /// It waits, and is about to try again.
    pub woken: bool,
    /// When it started to wait, or to compute.
    pub since: u64,
    /// Lines that had gone through the local store's port when computing started.
    pub lines_seen: u64,
    /// Operations in a row that took no time, and the cycle in which they were asked for.
    pub timeless: u32,
    pub timeless_at: u64,
}

impl UnitState {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            program: String::new(),
            given: None,
            body: None,
            op: None,
            reply: None,
            waiting: false,
            woken: false,
            since: 0,
            lines_seen: 0,
            timeless: 0,
            timeless_at: 0,
        }
    }
}

/// The state of an SPE besides its local store and its MFC.
#[derive(Debug, Default)]
pub(crate) struct SpeState {
    /// Where the free local store starts.
    pub free: u32,
    pub inbox: VecDeque<u32>,
    /// Lines of puts that wait for room in it.
    pub mail: VecDeque<LineId>,
    /// The outbound mailbox, and the one that interrupts.
    pub outbox: [Option<u32>; 2],
    pub signals: [Option<u32>; 2],
    /// Whether signals add up rather than overwrite.
    pub signal_or: [bool; 2],
    /// The tick at which the decrementer was set, and to what.
    pub decrementer: (u64, u32),
    /// When the local store's port is free.
    pub port_free: u64,
}
