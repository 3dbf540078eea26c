//! The engine moves messages between this rank and all others. It knows contexts, tags and the ranks of the job.

mod afar;
mod beside;
mod cancel;
mod crossing;
mod decisions;
mod headers;
mod kept;
mod lines;
mod operands;
mod own;
mod pending;
mod pooled;
mod reading;
mod receipts;
mod receive;
mod rendezvous;
mod send;
mod slots;
mod streams;
mod unposted;

#[cfg(all(test, not(loom)))]
mod tests;

pub use pending::{COMPLETE_AT_ONCE, Ending, FROM_NOBODY, NO_SOURCE, NO_TAG, NOBODY, RECEIVED_FROM_NOBODY};
pub use send::{CREDIT, MOST_EAGER, MOST_EAGER_CROWDED};

use crate::carried::CarriedCall;
use crate::costs::COPY_FROM;
use crate::counters::EngineCounters;
use crate::landing::Landings;
use crate::matching::{Criteria, Matching};
use crate::pool::Pool;
use crate::ring;
use crate::segment::{PhaseTallies, RankPage, Segment};
use crate::slots::Owed;
use crate::wait::{Waiting, WaitingRoom};
use afar::Afar;
use kept::{Messages, Unread};
use operands::OtherOperands;
pub use operands::ReductionOfTwo;
pub use own::{BesideOwn, SentBeside};
use own::{OwnCopy, OwnLandings};
use pending::{Pendings, Stage};
use reading::Shown;
pub use reading::{Among, SHOWN_ABOVE, Showing, Takers};
use receipts::Receipts;
pub use receive::ASIDE;
use receive::Incoming;
use rendezvous::{Copying, Sharing};
use send::Outgoing;
use slots::{FromSlots, ToSlots};
pub use slots::{Passage, Passing};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;

/// When a send is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// When the buffer may be used again (ready sends are these too).
    Standard,
    /// When the receive has started.
    Synchronous,
    /// As `Standard`. Large data goes through the pool, and nothing else is tried: who sends it has measured what else
    /// there is, and its receiver sends as much at the same time.
    Pooled,
    /// The same, and the kernel copies large data.
    ByKernel,
}

/// A send or receive that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferId(u64);

impl TransferId {
    /// The transfer of a number; a number that names none is refused where the id is used.
    #[inline]
    pub const fn of_number(number: u64) -> Self {
        Self(number)
    }

    /// A number for the transfer. Bit 63 and bits 26 to 31 are 0, for a user who marks its own numbers there.
    #[inline]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// A message that was taken out of matching and waits to be received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimId(u32);

/// A message that was found but not received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The sender's rank in the context.
    pub source: u16,
    /// The tag.
    pub tag: i32,
    /// Bytes of data.
    pub bytes: usize,
}

/// How a transfer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The sender's rank in the context; of a send, `NO_SOURCE`.
    pub source: i32,
    /// The tag; of a send, `NO_TAG`.
    pub tag: i32,
    /// Bytes received, at most what the buffer holds.
    pub bytes: usize,
    /// Bytes that were sent and that the buffer had no room for.
    pub lost: usize,
    /// Cancelled before it matched.
    pub cancelled: bool,
}

impl Completion {
    /// Bytes that were sent, when they were more than the buffer holds.
    #[inline]
    pub fn truncated(&self) -> Option<usize> {
        (self.lost > 0).then_some(self.bytes + self.lost)
    }
}

/// What is not complete, for a message about what a rank waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A receive.
    Receive {
        /// The context.
        context: u32,
        /// The sender's rank in the context; nothing: any.
        source: Option<u16>,
        /// The tag; nothing: any.
        tag: Option<i32>,
    },
    /// A send.
    Send {
        /// The context.
        context: u32,
        /// The job's rank.
        to: u32,
        /// The tag.
        tag: i32,
        /// Bytes of data.
        bytes: usize,
    },
}

/// How often one ring is polled in a row while its rank is waited for.
const TIGHT: u32 = 16;

/// Moves the messages of one rank. One thread at a time has it; what all threads of the rank share is the waiting room.
pub struct Engine<'a> {
    room: &'a WaitingRoom,
    counters: &'a EngineCounters,
    segment: Option<Segment>,
    rank: usize,
    /// Messages are copied between the processes from so many bytes on.
    copy_from: usize,
    /// Where messages are counted by destination and size.
    tallies: Option<PhaseTallies>,
    outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
    /// Ranks whose ring to this one is in use.
    senders: Vec<u16>,
    /// Destinations for which something waits.
    congested: Vec<u16>,
    /// Messages of this rank to itself.
    own_sends: u64,
    /// Eager bytes that a sender may have unmatched at a receiver while ranks share cpus.
    credit_crowded: u64,
    transfers: Pendings,
    receipts: Receipts,
    matching: Matching,
    messages: Messages,
    /// In the order in which they were matched.
    unread: VecDeque<Unread>,
    pool: Pool,
    /// Messages that this process copies from or to another one's memory.
    copying: Vec<Copying>,
    /// By `ReductionOfTwo`.
    operands: [OtherOperands; 2],
    /// What was set aside for receives.
    aside: Vec<(TransferId, [u8; ASIDE])>,
    sharing: Sharing,
    shown: Shown,
    /// Who has yet to take what lies in the slots of this rank's window.
    owed: Owed,
    to_slots: ToSlots,
    from_slots: FromSlots,
    /// This rank's own data that is copied beside what it sends.
    own_copy: Option<OwnCopy>,
    own_landings: OwnLandings,
    landings: Landings,
    /// There are more ranks than cpus.
    is_crowded_job: bool,
    /// Data has landed past the caches since the last fence.
    landed_past: bool,
    /// The rank whose last piece is not the end of its message.
    midway: Option<usize>,
    /// A simulator carries the messages: what it knows of them.
    afar: Option<Box<Afar>>,
}

/// The kinds of pieces in a ring. Words are of 8 bytes, in the piece's data.
mod kind {
    /// Of EAGER, MORE and DATA: the data lies in a slot of a pool. Words: the slot, bytes, from which byte of the
    /// message on, from which byte of the slot on; twice how far the sender has read (`crossing`), and 1 more when a
    /// further line speaks of the same slot; and how it was filled.
    pub(crate) const POOLED: u8 = 0x80;
    /// Of EAGER: all data lies in the page beside the line, or in one that came (`ring::pages`). First word: how it was
    /// filled; the next ones are the ring's.
    pub(crate) const BESIDE: u8 = 0x40;
    /// The first piece of an eager message: its envelope and all its bytes.
    pub(crate) const EAGER: u8 = 1;
    /// The next piece of the eager message that began before.
    pub(crate) const MORE: u8 = 2;
    /// The sender of the next eager message waits for its matching. Words: the sender's transfer.
    pub(crate) const SYNCHRONOUS: u8 = 3;
    /// A message of which only the first part comes unasked. Words: the sender's transfer, bytes, bytes that come
    /// unasked, how the data lies and its address, how far the sender has read (`crossing`).
    pub(crate) const ANNOUNCE: u8 = 4;
    /// To the sender: send the data through the ring or the pool. Words: the sender's transfer, the receiver's, bytes,
    /// of how many next ones one is asked about when the receive was there first, 1 when the end is to come first.
    pub(crate) const STREAM: u8 = 5;
    /// A piece of such data. Context and tag: the receiver's transfer; length: bytes from this piece on, at most.
    pub(crate) const DATA: u8 = 6;
    /// To the sender: up to six of its transfers are complete. Words: the sender's transfers, 0 behind the last one.
    pub(crate) const COMPLETE: u8 = 7;
    /// To the sender: claim pieces, too. Words: its transfer, the receiver's, the buffer's address, bytes, where claims
    /// are.
    pub(crate) const SHARE: u8 = 8;
    /// To the sender: copy all of it. Words: its transfer, the receiver's, the buffer's address, bytes.
    pub(crate) const PUSH: u8 = 9;
    /// To the receiver: so much is in its buffer. Words: its transfer, bytes.
    pub(crate) const PUSHED: u8 = 10;
    /// To the receiver: forget the message, if no receive has it. Words: the sender's transfer, that the message is
    /// known by; or 1 and the line in which it began.
    pub(crate) const CANCEL: u8 = 11;
    /// To the sender, in answer: whether it was. Words: the sender's transfer, 1 or 0.
    pub(crate) const CANCELLED: u8 = 12;
    /// To the sender: a large message that was sent at once came before its receive.
    pub(crate) const EARLY: u8 = 13;
}

impl<'a> Engine<'a> {
    /// An engine without a job.
    pub fn new(room: &'a WaitingRoom, counters: &'a EngineCounters) -> Self {
        Self {
            room,
            counters,
            segment: None,
            rank: 0,
            copy_from: COPY_FROM,
            tallies: None,
            outgoing: Vec::new(),
            incoming: Vec::new(),
            senders: Vec::new(),
            congested: Vec::new(),
            own_sends: 0,
            credit_crowded: CREDIT,
            transfers: Pendings::default(),
            receipts: Receipts::default(),
            matching: Matching::default(),
            messages: Messages::default(),
            unread: VecDeque::new(),
            pool: Pool::default(),
            copying: Vec::new(),
            operands: Default::default(),
            aside: Vec::new(),
            sharing: Sharing::default(),
            shown: Shown::default(),
            owed: Owed::default(),
            to_slots: ToSlots::default(),
            from_slots: FromSlots::default(),
            own_copy: None,
            own_landings: OwnLandings::default(),
            landings: Landings::of_data_from(usize::MAX),
            is_crowded_job: false,
            landed_past: false,
            midway: None,
            afar: None,
        }
    }

    /// Joins a job as one of its ranks. Each rank of a job has one engine in all its life.
    pub fn attach(&mut self, segment: Segment, rank: usize) {
        let ranks = segment.ranks();
        self.room.open(&segment, rank);
        self.rank = rank;
        self.outgoing = (0..ranks).map(|to| Outgoing::new(&segment, rank, to)).collect();
        self.incoming = (0..ranks).map(|from| Incoming::new(&segment, from, rank)).collect();
        self.receipts = Receipts::of_job(ranks);
        self.transfers.share_with(ranks);
        self.is_crowded_job = segment.is_crowded();
        self.pool = Pool::new(segment, rank, self.crowded());
        self.credit_crowded = send::credit_crowded(ranks - 1, segment.pool_bytes());
        self.landings = Landings::of_data_from(segment.turnover_bytes() / ranks);
        self.sharing = Sharing::new(&segment, rank);
        self.segment = Some(segment);
        if segment.is_carried() {
            self.outgoing.iter_mut().for_each(|out| out.producer.close());
            self.afar = Some(Box::new(Afar::new(ranks)));
            self.room.ask(&CarriedCall::Begin);
        }
    }

    /// Whether a simulator carries the messages of this job.
    pub fn is_carried(&self) -> bool {
        self.afar.is_some()
    }

    /// Messages from so many bytes on are copied between the processes, where the system lets them; `usize::MAX`: none.
    pub fn set_copy_from(&mut self, bytes: usize) {
        self.copy_from = bytes;
    }

    /// Counts each message by destination and size from now on; nothing: none any more.
    pub fn count_in(&mut self, tallies: Option<PhaseTallies>) {
        self.tallies = tallies;
    }

    /// Where the threads of this rank wait.
    #[inline]
    pub fn room(&self) -> &'a WaitingRoom {
        self.room
    }

    /// Whether ranks of the job share cpus: this one does, or there are more ranks than cpus. Where some do, one that
    /// has a cpu of its own chooses ways as they do: what it sends waits for them, and mixed ways cost more than any.
    #[inline]
    pub fn crowded(&self) -> bool {
        self.is_crowded_job || self.room.crowded()
    }

    /// This process's rank in the job.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Ranks of the job.
    pub fn ranks(&self) -> usize {
        self.outgoing.len()
    }

    /// The job's memory.
    ///
    /// # Panics
    /// Before `attach`.
    pub fn segment(&self) -> Segment {
        self.segment.expect("attached to a job")
    }

    /// The job's memory, once attached.
    pub fn job(&self) -> Option<Segment> {
        self.segment
    }

    fn page(&self) -> &'static RankPage {
        self.segment().rank(self.rank)
    }

    /// Moves what can move without waiting; true when anything did.
    pub fn progress(&mut self) -> bool {
        if self.segment.is_none() {
            return false;
        }
        if self.afar.is_some() {
            return self.progress_afar();
        }
        self.meet_senders();
        let mut moved = self.read_kept();
        for index in 0..self.senders.len() {
            moved |= self.drain(self.senders[index] as usize);
        }
        if !self.congested.is_empty() {
            moved |= self.push_all();
        }
        if !self.copying.is_empty() {
            moved |= self.copy_pieces();
        }
        moved
    }

    /// Whether there is something to move but for what comes.
    #[inline]
    fn has_to_move(&self) -> bool {
        self.waits_for_room() || !self.unread.is_empty()
    }

    /// Whether this rank has something to write for which there was no room.
    pub fn waits_for_room(&self) -> bool {
        !self.congested.is_empty() || !self.copying.is_empty()
    }

    /// Whether a rank on another cpu is about to write the next piece of a message.
    #[inline]
    pub fn expects_piece(&self) -> bool {
        self.midway.is_some_and(|from| !self.shares_cpu_with(from))
    }

    /// As `progress`; only what comes from a rank of the job, where that is given and nothing else has to be moved.
    pub fn progress_of(&mut self, from: Option<usize>) -> bool {
        let from = from.filter(|&from| {
            let has_else = self.has_to_move() || self.afar.is_some();
            !has_else && self.incoming.get(from).is_some_and(|incoming| incoming.connected)
        });
        match from {
            Some(from) => self.take_one(from),
            None => self.progress(),
        }
    }

    /// As `progress`, in a loop that waits for a message, from a rank of the job that may be known: its ring is looked
    /// at each round, all others now and then.
    #[inline]
    pub fn poll(&mut self, from: Option<usize>, round: u32) {
        if let Some(from) = from
            && !round.is_multiple_of(32)
            && !self.has_to_move()
            && self.incoming[from].connected
        {
            // Looking at nothing but the lines of a message as long as the last one finds it a third sooner than
            // anything done in between.
            for _ in 0..TIGHT {
                if let Some(header) = self.incoming[from].consumer.peek() {
                    // What comes is often answered. (Longer ones take so long that the other side fetches the line
                    // back.)
                    if header.length() as usize <= ring::INLINE {
                        self.outgoing[from].producer.expect_answer();
                    }
                    break;
                }
                self.incoming[from].consumer.fetch_alike();
                std::hint::spin_loop();
            }
            self.take_one(from);
            return;
        }
        self.progress();
    }

    /// Ends the job when another rank's ring has nonsense where the next piece must appear. Call it after a long wait:
    /// the caller may be waiting for that piece.
    #[cold]
    pub fn examine(&self) {
        for &from in &self.senders {
            if self.incoming[from as usize].consumer.is_corrupt() {
                self.corrupt(from as usize, "what is no piece lies where the next one is to come");
            }
        }
    }

    fn meet_senders(&mut self) {
        for word in 0..self.ranks().div_ceil(64) {
            let mut bits = self.page().connected[word].load(Ordering::Acquire);
            while bits != 0 {
                let from = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if from < self.ranks() && !self.incoming[from].connected {
                    self.incoming[from].connected = true;
                    self.senders.push(from as u16);
                }
            }
        }
    }

    /// Waits until a transfer is complete, and takes it; messages of other transfers move meanwhile. For a rank of one
    /// thread.
    ///
    /// # Panics
    /// The engine has no such transfer, or no job.
    pub fn wait(&mut self, id: TransferId) -> Completion {
        assert!(self.is_live(id), "a transfer that was started and not taken");
        let mut waiting = Waiting::default();
        loop {
            let moved = self.progress();
            if let Some(completion) = self.take_if_complete(id) {
                return completion;
            }
            if moved {
                waiting.ended(self.room);
            } else if !waiting.tired {
                waiting.pause(self.room, self.expects_piece());
            } else {
                let armed = self.room.arm(false, self.waits_for_room());
                if !self.progress() {
                    self.examine();
                    armed.sleep();
                }
            }
        }
    }

    /// Whether a transfer is complete.
    #[inline]
    pub fn is_complete(&self, id: TransferId) -> bool {
        self.slot(id).is_none_or(|index| self.transfers.stage(index) == Stage::Complete)
    }

    /// Whether an id names a transfer that was started and not taken.
    #[inline]
    pub fn is_live(&self, id: TransferId) -> bool {
        self.slot(id).is_some()
    }

    /// The slot that says how a transfer is.
    #[inline]
    fn slot(&self, id: TransferId) -> Option<u32> {
        if self.receipts.is_shared(id) {
            return Some(self.receipts.slot(id).unwrap_or(id.slot()));
        }
        self.transfers.index(id)
    }

    /// The id of the transfer that lives in a slot; a handle names its slot.
    pub fn in_slot(&self, slot: u32) -> Option<TransferId> {
        self.transfers.in_slot(slot)
    }

    /// How a transfer ended, when it has; its id is invalid from then on.
    #[inline]
    pub fn take_if_complete(&mut self, id: TransferId) -> Option<Completion> {
        if self.receipts.is_shared(id) {
            return self.take_shared(id);
        }
        self.take_receive(id)
    }

    /// As `take_if_complete`, of a receive.
    // Inlined always: of how it ended, what the caller needs is read as it was written, field by field.
    #[inline(always)]
    pub fn take_receive(&mut self, id: TransferId) -> Option<Completion> {
        let index = self.transfers.index(id)?;
        let transfer = self.transfers.at(index);
        if transfer.stage != Stage::Complete {
            return None;
        }
        let completion = transfer.ended.get();
        self.transfers.free(index);
        Some(completion)
    }

    /// As `take_if_complete`, of a send that was complete at once.
    #[inline(always)]
    fn take_shared(&mut self, id: TransferId) -> Option<Completion> {
        let Some(index) = self.receipts.slot(id) else {
            self.receipts.forget(id);
            return self.transfers.completion(id.slot());
        };
        let completion = self.transfers.completion(index)?;
        self.transfers.free(index);
        self.receipts.forget(id);
        Some(completion)
    }

    /// As `ending`, of a transfer that lives: the caller promises that.
    #[inline]
    pub fn ending_of_live(&self, id: TransferId) -> Ending {
        let asked = self.receipts.slot(id);
        self.transfers.ending(asked.unwrap_or(id.slot()))
    }

    /// How a transfer ended, in short. Nothing: none was started by this id that was not taken.
    #[inline]
    pub fn ending(&self, id: TransferId) -> Option<Ending> {
        self.slot(id).map(|index| self.transfers.ending(index))
    }

    /// As `take_if_complete`, without taking it.
    pub fn peek(&self, id: TransferId) -> Option<Completion> {
        self.slot(id).and_then(|index| self.transfers.completion(index))
    }

    /// Tells the engine that the program will not ask for this transfer again: it goes on and frees itself.
    pub fn detach(&mut self, id: TransferId) {
        let Some(index) = self.slot(id) else { return };
        let transfer = self.transfers.at(index);
        if transfer.stage == Stage::Complete {
            self.transfers.free(index);
        } else {
            transfer.detached = true;
        }
        self.receipts.forget(id);
    }

    /// The context of a transfer, to find its communicator.
    pub fn context(&self, id: TransferId) -> Option<u32> {
        self.slot(id).map(|index| self.transfers.context(index))
    }

    /// Receives that wait for their message, and messages that wait for their receive.
    pub fn queues(&self) -> (usize, usize) {
        self.matching.lengths()
    }

    /// Every transfer that is not complete.
    pub fn awaited(&self) -> impl Iterator<Item = Awaited> {
        self.transfers.awaited().map(|transfer| {
            let Criteria { context, source, tag } = Criteria::of(transfer.key);
            if transfer.to == pending::NONE {
                return Awaited::Receive { context, source, tag };
            }
            Awaited::Send {
                context,
                to: transfer.to,
                tag: tag.unwrap_or_default(),
                bytes: transfer.buffer.bytes,
            }
        })
    }

    /// Transfers that are not complete.
    pub fn under_way(&self) -> usize {
        self.transfers.active()
    }

    /// The program does not ask for it any more, but another rank needs it: a send of ours, or a receive that has
    /// begun.
    pub fn owes(&self) -> bool {
        let mut live = self.transfers.live();
        live.any(|transfer| transfer.detached && !transfer.posted && transfer.stage == Stage::Active)
    }

    /// Sends and receives that were started, and neither waited for nor freed.
    pub fn unclaimed(&self) -> usize {
        self.transfers.live().filter(|transfer| !transfer.detached).count()
    }

    /// Ends the job: what another rank left in the segment makes no sense.
    #[cold]
    pub fn corrupt(&self, other: usize, what: &str) -> ! {
        self.room.abort().abort(&format!(
            "memory shared by rank {} and rank {other} is corrupt: {what} (a rank wrote where it must not)",
            self.rank
        ))
    }
}
