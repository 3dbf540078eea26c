//! What one rank does in a collective: steps that send, receive, copy and reduce, in order.
//!
//! A step that sends or receives only starts it; `wait` and `wait_all` say where a later step depends on it. Carrying a
//! schedule out goes as far as it can without waiting, so that blocking, non-blocking and persistent collectives are
//! the same schedule. Schedules and their scratch memory are used again: a small collective allocates nothing.

use super::scratch::Scratch;
use crate::abi;
use crate::datatype::Datatype;
use crate::datatype::elements::Elements;
use crate::op::Reduction;
use std::sync::Arc;
use transport::{Buffer, Completion, TransferId};

/// Tells messages of one collective between the same two ranks apart when they may arrive in another order.
pub(super) type TagLane = u8;
/// Lanes that a collective may use.
pub(super) const LANES: i32 = 4;

/// What carries messages: the engine, or a simulation in tests. Ranks are those of the communicator that messages go
/// to.
pub(super) trait Wire {
    /// Starts a send; nothing when it is complete already.
    fn send(&mut self, to: usize, lane: TagLane, buffer: &Buffer) -> Option<TransferId>;
    /// Starts a receive.
    fn receive(&mut self, from: usize, lane: TagLane, buffer: &Buffer) -> TransferId;
    /// A reduction has made so many bytes of results; of double precision or not.
    fn combined(&mut self, bytes: usize, double: bool) {
        let _ = (bytes, double);
    }
    /// The end of a transfer that is complete.
    fn take_if_complete(&mut self, id: TransferId) -> Option<Completion>;
}

/// A transfer of a schedule, by the order in which they start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket(u32);

impl Ticket {
    /// The first transfer of a schedule.
    pub(super) const FIRST: Self = Self(0);

    /// The transfer that started `count` transfers earlier.
    pub(super) fn earlier(self, count: usize) -> Self {
        Self(self.0 - count as u32)
    }

    /// The transfer that started `count` transfers later.
    pub(super) fn later(self, count: usize) -> Self {
        Self(self.0 + count as u32)
    }
}

enum ScheduleStep {
    Send { to: u16, lane: TagLane, buffer: Buffer },
    Receive { from: u16, lane: TagLane, buffer: Buffer },
    Wait(Ticket),
    WaitAll,
    Copy { from: Buffer, into: Buffer },
    Reduce { from: *const u8, into: *mut u8, count: usize },
}

/// How far a schedule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Waits for a transfer; of a receive, from a rank.
    Waiting(TransferId, Option<usize>),
    /// The next step calls a user's function: call `run_user_code` while not holding the state.
    AtUserCode,
    /// All is done.
    Over,
}

/// A message that was longer than its receiver expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Truncated {
    /// The sender's rank.
    pub source: i32,
    /// Bytes that were sent.
    pub sent: usize,
    /// Bytes that were expected.
    pub expected: usize,
}

/// What one rank does in a collective.
#[derive(Default)]
pub(super) struct CollectiveSchedule {
    steps: Vec<ScheduleStep>,
    tickets: u32,
    scratch: Scratch,
    reduction: Option<(Reduction, isize)>,
    /// Bytes of an element of a predefined operation, and whether they are of double precision.
    element: (usize, bool),
    // How far it has been carried out.
    next: usize,
    /// Those that have started, until they are complete; of receives, the rank that sends.
    transfers: Vec<Option<(TransferId, Option<u16>)>>,
    complete: usize,
    truncated: Option<Truncated>,
}
// SAFETY: the addresses in the steps are the user's buffers, which are the library's until the collective is over, and
// the schedule's own scratch.
unsafe impl Send for CollectiveSchedule {}

impl CollectiveSchedule {
    /// Forgets all steps; keeps the memory.
    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.tickets = 0;
        self.scratch.clear();
        self.reduction = None;
        self.rewind();
    }

    /// To be carried out once more from the start.
    pub(super) fn rewind(&mut self) {
        self.next = 0;
        self.transfers.clear();
        self.complete = 0;
        self.truncated = None;
    }

    /// The operation of the reducing steps, and the distance of its elements in bytes.
    pub(super) fn reduce_with(&mut self, reduction: Reduction, extent: isize) {
        self.reduction = Some((reduction, extent));
    }

    /// What an element of the reducing steps is: its bytes, and whether they are of double precision.
    pub(super) fn reduce_elements(&mut self, bytes: usize, double: bool) {
        self.element = (bytes, double);
    }

    /// The handle that a user's function is called with.
    pub(super) fn user_datatype(&self) -> Option<abi::Datatype> {
        match self.reduction {
            Some((Reduction::User(_, handle), _)) => Some(handle),
            _ => None,
        }
    }

    /// Changes the handle that a user's function is called with.
    pub(super) fn set_user_datatype(&mut self, datatype: abi::Datatype) {
        if let Some((Reduction::User(_, handle), _)) = &mut self.reduction {
            *handle = datatype;
        }
    }

    /// The operation may take its operands in any order.
    pub(super) fn commutative(&self) -> bool {
        self.reduction.is_none_or(|(reduction, _)| reduction.commutative())
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets - 1)
    }

    /// Starts sending.
    pub(super) fn send(&mut self, to: usize, data: Elements) -> Ticket {
        self.send_in(0, to, data)
    }

    /// Starts sending in a lane.
    pub(super) fn send_in(&mut self, lane: TagLane, to: usize, data: Elements) -> Ticket {
        self.steps.push(ScheduleStep::Send { to: to as u16, lane, buffer: data.buffer() });
        self.ticket()
    }

    /// Starts receiving.
    pub(super) fn receive(&mut self, from: usize, data: Elements) -> Ticket {
        self.receive_in(0, from, data)
    }

    /// Starts receiving in a lane.
    pub(super) fn receive_in(&mut self, lane: TagLane, from: usize, data: Elements) -> Ticket {
        self.steps.push(ScheduleStep::Receive { from: from as u16, lane, buffer: data.buffer() });
        self.ticket()
    }

    /// Goes on when a transfer is complete.
    pub(super) fn wait(&mut self, ticket: Ticket) {
        self.steps.push(ScheduleStep::Wait(ticket));
    }

    /// Goes on when every transfer so far is complete.
    pub(super) fn wait_all(&mut self) {
        self.steps.push(ScheduleStep::WaitAll);
    }

    /// Copies data; between different datatypes when their signatures agree. Nothing when both are the same place.
    pub(super) fn copy(&mut self, from: Elements, into: Elements) {
        if from.bytes() > 0 && !(from.address == into.address && from.is_like(&into)) {
            self.steps.push(ScheduleStep::Copy { from: from.buffer(), into: into.buffer() });
        }
    }

    /// `into[i] = from[i] op into[i]` for the elements of `into`; `from` is of the same datatype.
    pub(super) fn reduce(&mut self, from: Elements, into: Elements) {
        if into.count > 0 {
            self.steps.push(ScheduleStep::Reduce {
                from: from.address,
                into: into.address,
                count: into.count,
            });
        }
    }

    /// Memory of the schedule's own for elements of a datatype.
    pub(super) fn scratch<'a>(&mut self, datatype: &'a Arc<Datatype>, count: usize) -> Elements<'a> {
        let (lowest, bytes) = Elements::span(datatype, count);
        let address = self.scratch.take(bytes).wrapping_offset(-lowest);
        Elements { address, count, datatype }
    }

    /// Where data lies packed, in bytes: where it is, when it is contiguous; else in memory of the schedule's own, not
    /// copied yet.
    pub(super) fn packed<'a>(&mut self, data: Elements<'a>, byte: &'a Arc<Datatype>) -> Elements<'a> {
        if data.datatype.contiguous {
            return Elements { address: data.address, count: data.bytes(), datatype: byte };
        }
        self.scratch(byte, data.bytes())
    }

    /// Carries steps out until one has to wait, calls the user's code, or all are done.
    pub(super) fn advance(&mut self, wire: &mut impl Wire) -> Standing {
        while let Some(step) = self.steps.get(self.next) {
            match step {
                ScheduleStep::Send { to, lane, buffer } => {
                    let started = wire.send(*to as usize, *lane, buffer);
                    self.transfers.push(started.map(|id| (id, None)));
                }
                ScheduleStep::Receive { from, lane, buffer } => {
                    let started = wire.receive(*from as usize, *lane, buffer);
                    self.transfers.push(Some((started, Some(*from))));
                }
                &ScheduleStep::Wait(ticket) => {
                    if !self.finish(ticket.0 as usize, wire) {
                        return self.waits_for(ticket.0 as usize);
                    }
                }
                ScheduleStep::WaitAll => {
                    if !self.finish_all(wire) {
                        return self.waits_for(self.complete);
                    }
                }
                // SAFETY: buffers of the user's and scratch, valid until the collective is over.
                ScheduleStep::Copy { from, into } => unsafe { into.copy_from(from) },
                &ScheduleStep::Reduce { from, into, count } => {
                    let (reduction, extent) =
                        self.reduction.expect("a schedule that reduces has an operation");
                    if reduction.is_user() {
                        return Standing::AtUserCode;
                    }
                    // SAFETY: as above; `from` and `into` are different places.
                    unsafe { reduction.apply(from, into, count, extent) };
                    wire.combined(count * self.element.0, self.element.1);
                }
            }
            self.next += 1;
        }
        if self.finish_all(wire) { Standing::Over } else { self.waits_for(self.complete) }
    }

    fn waits_for(&self, index: usize) -> Standing {
        let (id, from) = self.transfers[index].expect("a transfer that is not complete");
        Standing::Waiting(id, from.map(usize::from))
    }

    /// Takes note that the transfer that it waits for is complete.
    pub(super) fn ended(&mut self, id: TransferId, completion: &Completion) {
        let found = self.transfers[self.complete..].iter_mut().find(|it| it.is_some_and(|it| it.0 == id));
        if let Some(transfer) = found {
            *transfer = None;
        }
        self.note(completion);
    }

    fn note(&mut self, completion: &Completion) {
        if let Some(sent) = completion.truncated {
            let told = Truncated { source: completion.source, sent, expected: completion.bytes };
            self.truncated.get_or_insert(told);
        }
    }

    /// Calls the user's function that `advance` stopped at, and those that follow it at once. Call this only while not
    /// holding the state.
    pub(super) fn run_user_code(&mut self) {
        while let Some(&ScheduleStep::Reduce { from, into, count }) = self.steps.get(self.next) {
            let (reduction, extent) = self.reduction.expect("a schedule that reduces has an operation");
            // SAFETY: buffers of the user's and scratch, valid until the collective is over; the state is not held.
            unsafe { reduction.apply(from, into, count, extent) };
            self.next += 1;
        }
    }

    /// What went wrong so far.
    pub(super) fn truncated(&self) -> Option<Truncated> {
        self.truncated
    }

    /// Whether a transfer is complete; frees it then.
    fn finish(&mut self, index: usize, wire: &mut impl Wire) -> bool {
        let Some((id, _)) = self.transfers[index] else { return true };
        let Some(completion) = wire.take_if_complete(id) else { return false };
        self.transfers[index] = None;
        self.note(&completion);
        true
    }

    /// Whether every transfer so far is complete.
    fn finish_all(&mut self, wire: &mut impl Wire) -> bool {
        while self.complete < self.transfers.len() {
            if !self.finish(self.complete, wire) {
                return false;
            }
            self.complete += 1;
        }
        true
    }
}
