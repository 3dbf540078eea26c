//! How ranks agree on the context of a communicator that they make.
//!
//! No other communicator may use it. One rank of those that make the communicator takes it from the job's counter
//! and tells the others; disjoint groups that are made at once share it. On an intercommunicator each group's first
//! rank takes one, they swap what they know, and the smaller is used.

use super::exchange::{self, Circle, Peer, ReceivingBytes, SendingBytes, TreeBroadcast};
use super::{CONTEXTS, Comm};
use crate::check::Failure;
use crate::runtime::{self, State};
use std::sync::atomic::Ordering;
use transport::Envelope;

/// The contexts of a new communicator: the first of `CONTEXTS`.
pub(crate) fn take_context(state: &State) -> u32 {
    state.engine.segment().header().next_context.fetch_add(CONTEXTS, Ordering::Relaxed)
}

enum AgreementStep {
    /// The first ranks of both groups of an intercommunicator swap.
    Leaders { proposal: u32, sending: SendingBytes, receiving: ReceivingBytes },
    /// The first rank tells its group.
    Telling(TreeBroadcast),
}

/// An agreement that is under way.
pub(crate) struct Agreement {
    circle: Circle,
    /// Bytes of the context and of the other group's message at most.
    room: usize,
    step: AgreementStep,
}

impl Agreement {
    /// Starts it. On an intercommunicator, `own` of this group's first rank goes to all ranks of the other group, which
    /// sends at most `room` bytes.
    pub(crate) fn start(state: &mut State, comm: &Comm, tag: i32, own: Vec<u8>, room: usize) -> Self {
        let circle = Circle::local(comm, tag);
        let room = room + 4;
        if comm.rank == 0 && comm.remote.is_some() {
            let proposal = take_context(state);
            let other = Peer { job: comm.peers().members[0] as usize, source: 0 };
            let envelope = Envelope::new(comm.construction(), 0, tag);
            let receiving = exchange::start_receive(state, other, envelope.context(), tag, room);
            let message = [&exchange::words([proposal]), &own[..]].concat();
            let sending = exchange::start_send(state, other, envelope, message);
            return Self { circle, room, step: AgreementStep::Leaders { proposal, sending, receiving } };
        }
        let known = if comm.rank == 0 { exchange::words([take_context(state)]) } else { Vec::new() };
        let telling = TreeBroadcast::start(state, &circle, 0, known, room);
        Self { circle, room, step: AgreementStep::Telling(telling) }
    }

    /// Goes on without waiting; gives the context and the other group's message when it is over.
    pub(crate) fn advance(&mut self, state: &mut State) -> Option<Result<(u32, Vec<u8>), Failure>> {
        if let AgreementStep::Leaders { proposal, sending, receiving } = &mut self.step {
            if !sending.is_over(state) {
                return None;
            }
            let mut known = match receiving.take(state)? {
                Ok(known) => known,
                Err(failure) => return Some(Err(failure)),
            };
            let context = (*proposal).min(exchange::numbers(&known[..4])[0]);
            known[..4].copy_from_slice(&exchange::words([context]));
            self.step =
                AgreementStep::Telling(TreeBroadcast::start(state, &self.circle, 0, known, self.room));
        }
        let AgreementStep::Telling(telling) = &mut self.step else { return None };
        Some(telling.advance(state)?.map(|mut known| {
            let theirs = known.split_off(4);
            (exchange::numbers(&known)[0], theirs)
        }))
    }
}

/// The context of a new communicator that all ranks of an intercommunicator make together, and what the other group's
/// first rank says: at most `room` bytes.
///
/// # Errors
/// The ranks call different functions.
pub(crate) fn swap_groups(
    comm: &Comm,
    tag: i32,
    own: Vec<u8>,
    room: usize,
) -> Result<(u32, Vec<u8>), Failure> {
    let mut agreement = Agreement::start(&mut runtime::enter(), comm, tag, own, room);
    runtime::wait_until(|state| agreement.advance(state))
}

/// The context of a new communicator that all ranks of `comm` make together.
///
/// # Errors
/// The ranks call different functions.
pub(crate) fn agree(comm: &Comm, tag: i32) -> Result<u32, Failure> {
    Ok(swap_groups(comm, tag, Vec::new(), 0)?.0)
}

/// The context of a new communicator that the members of a circle make together.
///
/// # Errors
/// The ranks call different functions.
pub(crate) fn agree_among(circle: &Circle) -> Result<u32, Failure> {
    let own = if circle.place == 0 { exchange::words([take_context(&runtime::enter())]) } else { Vec::new() };
    Ok(exchange::numbers(&circle.broadcast(0, own, 4)?)[0])
}

/// The rows of numbers, one of each rank, by which a communicator is split.
pub(crate) struct SplitTable {
    /// The context of the new communicators.
    pub context: u32,
    width: usize,
    own: Vec<u32>,
    theirs: Option<Vec<u32>>,
}

impl SplitTable {
    /// Every rank gives its row, all of the same width, and gets those of all.
    ///
    /// # Errors
    /// The ranks call different functions.
    pub(crate) fn of_all(comm: &Comm, row: &[u32]) -> Result<Self, Failure> {
        let tag = exchange::making_tag(comm);
        let (width, circle) = (row.len(), Circle::local(comm, tag));
        let gathered = circle.gather(&exchange::words(row.iter().copied()))?;
        let room = 4 * width * comm.size();
        if comm.remote.is_none() {
            let own = match comm.rank {
                0 => [exchange::words([take_context(&runtime::enter())]), gathered].concat(),
                _ => Vec::new(),
            };
            let mut own = exchange::numbers(&circle.broadcast(0, own, 4 + room)?);
            return Ok(Self { context: own.remove(0), width, own, theirs: None });
        }
        let others = 4 * width * comm.peers().members.len();
        let (context, theirs) = swap_groups(comm, tag, gathered.clone(), others)?;
        let own = exchange::numbers(&circle.broadcast(0, gathered, room)?);
        Ok(Self { context, width, own, theirs: Some(exchange::numbers(&theirs)) })
    }

    /// The rows of the (local) group.
    pub(crate) fn own(&self) -> Vec<&[u32]> {
        self.own.chunks_exact(self.width).collect()
    }

    /// The rows of the remote group of an intercommunicator.
    pub(crate) fn theirs(&self) -> Option<Vec<&[u32]>> {
        Some(self.theirs.as_ref()?.chunks_exact(self.width).collect())
    }
}
