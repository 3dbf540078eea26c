//! What one rank does in a collective: steps that send, receive, copy and reduce, in order.
//!
//! A step that sends or receives only starts it; `wait` and `wait_all` say where a later step depends on it. Carrying a
//! schedule out goes as far as it can without waiting, so that blocking, non-blocking and persistent collectives are
//! the same schedule. Schedules and their scratch memory are used again: a small collective allocates nothing.

use super::algorithm::SMALL;
use super::offers::{OFFER_BYTES, Offer};
use super::scratch::Scratch;
use crate::abi;
use crate::abi::values::MPI_ERR_TRUNCATE;
use crate::check::Failure;
use crate::datatype::Datatype;
use crate::datatype::elements::Elements;
use crate::op::Reduction;
use std::ptr::NonNull;
use std::sync::Arc;
use transport::{Buffer, Completion, SentBeside, Spot, TransferId};

/// Tells messages of one collective between the same two ranks apart when they may arrive in another order.
pub(super) type TagLane = u8;
/// Lanes of a collective, a power of two. Algorithms use the lower ones, below `ANSWERS`.
pub(super) const LANES: i32 = 8;
/// Added to a lane: for answers to offers that came through it.
pub(super) const ANSWERS: TagLane = 2;
/// Added to a lane: for data that was offered through it, and refused.
const REFUSED: TagLane = 4;
/// The answer to an offer that is refused; to one that is taken it has no bytes.
// SAFETY: a byte that lives for ever and that nobody writes: it is only sent.
pub(super) static REFUSAL: Buffer = unsafe { Buffer::new(b"!".as_ptr().cast_mut(), 1) };

/// What a received message was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The data itself.
    Data,
    /// An offer of so many bytes, which were read.
    Read(usize),
    /// An offer of an operand, which is reduced where the sender shows it, and answered then.
    Lent(*const u8, Spot),
    /// So many bytes that come through slots, more than was expected here: they are left there.
    Skipped(usize),
    /// An offer of data that can't be read from here.
    Refused,
}

/// What a receive waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// A message, as it is.
    Message,
    /// Large data, or an offer of it, which does not go to the buffer. `beside_own`: the rank copies large data of its
    /// own as well, and sends that.
    Data { beside_own: Option<SentBeside> },
}

/// How many transfers of this rank in a collective are not small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Large {
    pub sends: u32,
    pub receives: u32,
}

impl Large {
    /// There are any.
    fn any(self) -> bool {
        self != Self::default()
    }
}

/// How many ranks get the same data of a schedule, one send behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// One rank.
    One,
    /// One rank, which reduces it.
    Reducer,
    /// Several; this is the first send, or the one before was no offer.
    First,
    /// Several; the one before got this offer.
    Again(Offer),
}

/// What readers of a send's data do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readers {
    /// The only one takes it.
    One,
    /// The only one reduces it.
    Reducer,
    /// A send before or behind is of the same data.
    Several,
}

/// What carries messages: the engine, or a simulation in tests. Ranks are those of the communicator that messages go
/// to.
pub(super) trait Wire {
    /// Starts a send; nothing when it is complete already. `large`: what else this rank has to do.
    fn send(&mut self, to: usize, lane: TagLane, buffer: &Buffer, large: Large) -> Option<TransferId>;
    /// Sends what nobody waits for; the buffer lives until the schedule is over.
    fn send_and_forget(&mut self, to: usize, lane: TagLane, buffer: &Buffer);
    /// Starts a receive.
    fn receive(&mut self, from: usize, lane: TagLane, buffer: &Buffer, expected: Expected) -> TransferId;
    /// Whether to offer the data to a rank instead of sending it. If so, the offer is in its place, and the data is
    /// left alone until the answer.
    fn offers(
        &mut self,
        to: usize,
        buffer: &Buffer,
        large: Large,
        audience: Audience,
        place: *mut Offer,
    ) -> bool {
        let _ = (to, buffer, large, audience, place);
        false
    }
    /// What several ranks are offered is copied to where they read it, now that they have been told.
    fn go_on_offering(&mut self) {}
    /// An offer was answered.
    fn answered(&mut self, offer: &Offer) {
        let _ = offer;
    }
    /// Looks at a message of `bytes` bytes that came to a receive, and reads what it offers. An operand may be left
    /// where it is.
    fn take(&mut self, id: TransferId, from: usize, buffer: &Buffer, bytes: usize, operand: bool) -> Taken {
        let _ = (id, from, buffer, bytes, operand);
        Taken::Data
    }
    /// Does not want what a rank passes through its slots, if it does.
    fn want_none(&mut self, from: usize) {
        let _ = from;
    }
    /// Begins to copy this rank's own data, beside what it sends next. `copy` of the same buffers is the end of it.
    ///
    /// # Safety
    /// Both buffers' memory may be used until then.
    unsafe fn begin_to_copy(&mut self, from: &Buffer, into: &Buffer) {
        let _ = (from, into);
    }
    /// Copies this rank's own data, or what is left of it. `sent`: what it sends as well.
    ///
    /// # Safety
    /// Both buffers' memory may be used now.
    unsafe fn copy(&mut self, from: &Buffer, into: &Buffer, sent: SentBeside) {
        let _ = sent;
        // SAFETY: as the caller promised.
        unsafe { into.copy_from(from) };
    }
    /// Carries out a reduction that makes so many bytes of results, of double precision or not; of each operand that
    /// another rank shows, which one and where.
    fn combine(
        &mut self,
        bytes: usize,
        double: bool,
        shown: [Option<(usize, Spot)>; 2],
        combine: impl FnOnce(),
    ) {
        let _ = (bytes, double, shown);
        combine();
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

    /// The transfer that started `count` transfers later.
    pub(super) fn later(self, count: usize) -> Self {
        Self(self.0 + count as u32)
    }
}

enum ScheduleStep {
    /// `offer`: room for one, where the data is large.
    Send {
        to: u16,
        lane: TagLane,
        buffer: Buffer,
        offer: Option<NonNull<Offer>>,
        readers: Readers,
    },
    /// `operand`: nothing but a kernel reads it, so that it may stay where its sender shows it.
    Receive {
        from: u16,
        lane: TagLane,
        buffer: Buffer,
        operand: bool,
    },
    Wait(Ticket),
    WaitAll,
    BeginToCopy {
        from: Buffer,
        into: Buffer,
    },
    Copy {
        from: Buffer,
        into: Buffer,
    },
    /// `into[i] = from[i] op with[i]`. `with` may be `into`, and is for a user's function.
    Reduce {
        from: *const u8,
        with: *const u8,
        into: *mut u8,
        count: usize,
    },
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

impl Truncated {
    /// As the program hears of it.
    pub(super) fn failure(self) -> Failure {
        let Self { source, sent, expected } = self;
        Failure::new(
            MPI_ERR_TRUNCATE,
            format_args!(
                "rank {source} sent {sent} bytes where {expected} are expected; counts and datatypes must agree on all \
                 ranks"
            ),
        )
    }
}

/// A transfer that is not complete.
#[derive(Clone, Copy)]
struct Started {
    id: TransferId,
    /// The step that started it.
    step: u32,
    awaits: Awaits,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Awaits {
    /// The end of a send.
    Sent,
    /// Data from a rank, or an offer of it.
    Data(u16),
    /// A rank's answer to an offer.
    Answer(u16),
    /// Data of a rank whose offer was refused.
    Refused(u16),
}

/// An operand that lies where its sender shows it, until it is reduced.
struct Lent {
    /// Where it was expected.
    place: *const u8,
    /// Where it is.
    shown: *const u8,
    spot: Spot,
    /// Who waits for the answer, and the answer's lane.
    from: usize,
    answers: TagLane,
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
    /// Transfers whose data may be offered: then what has come is looked at while another transfer is waited for.
    large: Large,
    /// Where data starts that is not small and that this rank sends; and what it copies of its own, from where and to
    /// where: the last of each.
    sent: Option<*const u8>,
    own: Option<[*const u8; 2]>,
    // How far it has been carried out.
    next: usize,
    /// Those that have started, until they are complete.
    transfers: Vec<Option<Started>>,
    complete: usize,
    lent: Vec<Lent>,
    truncated: Option<Truncated>,
}
// SAFETY: the addresses in the steps are the user's buffers, which are the library's until the collective is over, and
// the schedule's own scratch; what is lent is in memory that all ranks share.
unsafe impl Send for CollectiveSchedule {}

impl CollectiveSchedule {
    /// Forgets all steps; keeps the memory.
    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.tickets = 0;
        self.scratch.clear();
        self.reduction = None;
        self.large = Large::default();
        (self.sent, self.own) = (None, None);
        self.rewind();
    }

    /// To be carried out once more from the start.
    pub(super) fn rewind(&mut self) {
        self.next = 0;
        self.transfers.clear();
        self.complete = 0;
        self.lent.clear();
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

    /// The operation is a predefined one.
    fn by_kernel(&self) -> bool {
        self.reduction.is_some_and(|(reduction, _)| !reduction.is_user())
    }

    /// The operation may take its operands in any order.
    pub(super) fn commutative(&self) -> bool {
        self.reduction.is_none_or(|(reduction, _)| reduction.commutative())
    }

    /// What this rank sends beside large data of its own that it copies; nothing: there is no such data.
    pub(super) fn sent_beside_own(&self) -> Option<SentBeside> {
        let own = self.own?;
        Some(match self.sent {
            None => SentBeside::Nothing,
            Some(sent) if own.contains(&sent) => SentBeside::TheSame,
            Some(_) => SentBeside::Other,
        })
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
        self.send_to(Readers::One, lane, to, data)
    }

    /// Starts sending what is received by `receive_operand`.
    pub(super) fn send_operand(&mut self, to: usize, data: Elements) -> Ticket {
        // A user's function reads what was copied.
        self.send_to(if self.by_kernel() { Readers::Reducer } else { Readers::One }, 0, to, data)
    }

    fn send_to(&mut self, readers: Readers, lane: TagLane, to: usize, data: Elements) -> Ticket {
        let buffer = data.buffer();
        let large = buffer.bytes() > SMALL;
        if large {
            self.large.sends += 1;
            self.sent = Some(buffer.address());
        }
        let offer = (large && buffer.is_contiguous())
            .then(|| self.scratch.take(OFFER_BYTES))
            .and_then(|place| NonNull::new(place.cast()));
        let readers = if large && self.sends_before(&buffer) { Readers::Several } else { readers };
        self.steps.push(ScheduleStep::Send { to: to as u16, lane, buffer, offer, readers });
        self.ticket()
    }

    /// Whether the step before sends the same data; then it goes to several.
    fn sends_before(&mut self, data: &Buffer) -> bool {
        match self.steps.last_mut() {
            Some(ScheduleStep::Send { buffer, readers, .. })
                if (buffer.address(), buffer.bytes()) == (data.address(), data.bytes()) =>
            {
                *readers = Readers::Several;
                true
            }
            _ => false,
        }
    }

    /// How many ranks get the data of the next step.
    fn audience(&self, readers: Readers) -> Audience {
        match readers {
            Readers::One => return Audience::One,
            Readers::Reducer => return Audience::Reducer,
            Readers::Several => {}
        }
        // Nothing was looked after since the step before.
        let Some(Some(Started { step, awaits: Awaits::Answer(_), .. })) = self.transfers.last() else {
            return Audience::First;
        };
        match (&self.steps[self.next], &self.steps[*step as usize]) {
            (
                ScheduleStep::Send { buffer, .. },
                ScheduleStep::Send { buffer: before, offer: Some(offer), .. },
            ) if *step as usize + 1 == self.next && before.address() == buffer.address() => {
                // SAFETY: memory of the schedule's own, which holds the offer until the answer.
                Audience::Again(unsafe { offer.read() })
            }
            _ => Audience::First,
        }
    }

    /// Starts receiving.
    pub(super) fn receive(&mut self, from: usize, data: Elements) -> Ticket {
        self.receive_in(0, from, data)
    }

    /// Starts receiving in a lane.
    pub(super) fn receive_in(&mut self, lane: TagLane, from: usize, data: Elements) -> Ticket {
        self.receive_from(lane, from, data, false)
    }

    /// Starts receiving what is sent by `send_operand`. Only `combine` may read it, once.
    pub(super) fn receive_operand(&mut self, from: usize, into: Elements) -> Ticket {
        let operand = self.by_kernel();
        self.receive_from(0, from, into, operand)
    }

    fn receive_from(&mut self, lane: TagLane, from: usize, data: Elements, operand: bool) -> Ticket {
        let buffer = data.buffer();
        self.large.receives += u32::from(buffer.bytes() > SMALL);
        self.steps.push(ScheduleStep::Receive { from: from as u16, lane, buffer, operand });
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

    /// Copies data, and sends in between: `sends` adds steps that send, and nothing else.
    pub(super) fn copy_beside(&mut self, from: Elements, into: Elements, sends: impl FnOnce(&mut Self)) {
        if from.bytes() > SMALL && !(from.address == into.address && from.is_like(&into)) {
            self.steps.push(ScheduleStep::BeginToCopy { from: from.buffer(), into: into.buffer() });
        }
        sends(self);
        self.copy(from, into);
    }

    /// Copies data; between different datatypes when their signatures agree. Nothing when both are the same place.
    pub(super) fn copy(&mut self, from: Elements, into: Elements) {
        if from.bytes() > 0 && !(from.address == into.address && from.is_like(&into)) {
            if from.bytes() > SMALL {
                self.own = Some([from.address, into.address].map(<*mut u8>::cast_const));
            }
            self.steps.push(ScheduleStep::Copy { from: from.buffer(), into: into.buffer() });
        }
    }

    /// `into[i] = from[i] op into[i]` for the elements of `into`; `from` is of the same datatype.
    pub(super) fn reduce(&mut self, from: Elements, into: Elements) {
        self.combine(from, into, into);
    }

    /// `into[i] = from[i] op with[i]` for the elements of `into`; all are of the same datatype. `with` and `into` may
    /// be the same place.
    pub(super) fn combine(&mut self, from: Elements, with: Elements, into: Elements) {
        if into.count == 0 {
            return;
        }
        let with = if self.by_kernel() && into.datatype.contiguous {
            with
        } else {
            self.copy(with, into);
            into
        };
        let (from, with, into, count) = (from.address, with.address, into.address, into.count);
        self.steps.push(ScheduleStep::Reduce { from, with, into, count });
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
        let standing = self.carry_out(wire);
        if self.large.sends > 0 {
            wire.go_on_offering();
        }
        standing
    }

    fn carry_out(&mut self, wire: &mut impl Wire) -> Standing {
        while let Some(step) = self.steps.get(self.next) {
            match step {
                ScheduleStep::Send { to, lane, buffer, offer, readers } => {
                    let step = self.next as u32;
                    let started = match *offer {
                        Some(offer)
                            if wire.offers(
                                *to as usize,
                                buffer,
                                self.large,
                                self.audience(*readers),
                                offer.as_ptr(),
                            ) =>
                        {
                            let id =
                                wire.receive(*to as usize, lane | ANSWERS, &Buffer::EMPTY, Expected::Message);
                            // SAFETY: memory of the schedule's own, which holds the offer until the answer.
                            let offer = unsafe { Buffer::new(offer.as_ptr().cast(), OFFER_BYTES) };
                            wire.send_and_forget(*to as usize, *lane, &offer);
                            Some(Started { id, step, awaits: Awaits::Answer(*to) })
                        }
                        _ => {
                            let started = wire.send(*to as usize, *lane, buffer, self.large);
                            started.map(|id| Started { id, step, awaits: Awaits::Sent })
                        }
                    };
                    self.transfers.push(started);
                }
                ScheduleStep::Receive { from, lane, buffer, .. } => {
                    let expected = match buffer.bytes() > SMALL {
                        true => Expected::Data { beside_own: self.sent_beside_own() },
                        false => Expected::Message,
                    };
                    let id = wire.receive(*from as usize, *lane, buffer, expected);
                    let awaits = Awaits::Data(*from);
                    self.transfers.push(Some(Started { id, step: self.next as u32, awaits }));
                }
                &ScheduleStep::Wait(ticket) => {
                    if !self.finish(ticket.0 as usize, wire) {
                        self.finish_some(wire);
                        return self.waits_for(ticket.0 as usize);
                    }
                }
                ScheduleStep::WaitAll => {
                    if !self.finish_all(wire) {
                        return self.waits_for(self.complete);
                    }
                }
                // SAFETY: buffers of the user's and scratch, valid until the collective is over.
                ScheduleStep::BeginToCopy { from, into } => unsafe { wire.begin_to_copy(from, into) },
                // SAFETY: as above.
                ScheduleStep::Copy { from, into } => unsafe {
                    wire.copy(from, into, self.sent_beside_own().unwrap_or(SentBeside::Nothing))
                },
                &ScheduleStep::Reduce { from, with, into, count } => {
                    let (reduction, extent) =
                        self.reduction.expect("a schedule that reduces has an operation");
                    if reduction.is_user() {
                        return Standing::AtUserCode;
                    }
                    let [(from_at, from_shown), (with_at, with_shown)] =
                        [from, with].map(|place| self.operand_at(place));
                    let (bytes, double) = (count * self.element.0, self.element.1);
                    // SAFETY: as above, and what is lent is left alone until the answer; `from` and `into` are
                    // different places.
                    wire.combine(bytes, double, [from_shown, with_shown], || unsafe {
                        reduction.combine(from_at, with_at, into, count, extent);
                    });
                    self.lent.retain(|it| {
                        let is_used = it.place == from || it.place == with;
                        if is_used {
                            wire.send_and_forget(it.from, it.answers, &Buffer::EMPTY);
                        }
                        !is_used
                    });
                }
            }
            self.next += 1;
        }
        if self.finish_all(wire) { Standing::Over } else { self.waits_for(self.complete) }
    }

    /// Where an operand is that was expected at a place; where another rank shows it, also which one.
    fn operand_at(&self, place: *const u8) -> (*const u8, Option<(usize, Spot)>) {
        let lent = self.lent.iter().find(|it| it.place == place);
        lent.map_or((place, None), |it| (it.shown, Some((it.from, it.spot))))
    }

    fn waits_for(&self, index: usize) -> Standing {
        let started = self.transfers[index].expect("a transfer that is not complete");
        let from = match started.awaits {
            Awaits::Sent => None,
            Awaits::Data(rank) | Awaits::Answer(rank) | Awaits::Refused(rank) => Some(usize::from(rank)),
        };
        Standing::Waiting(started.id, from)
    }

    /// While it waits for one transfer, others may need a look as soon as their message comes. Whether any message has
    /// come; nothing: it waits for one transfer alone.
    pub(super) fn has_news(&self, is_complete: impl Fn(TransferId) -> bool) -> Option<bool> {
        let news = |it: &Option<Started>| it.is_some_and(|it| is_complete(it.id));
        self.large.any().then(|| self.transfers[self.complete..].iter().any(news))
    }

    /// Takes note that the transfer that it waits for has ended.
    pub(super) fn ended(&mut self, id: TransferId, completion: &Completion, wire: &mut impl Wire) {
        let is_it = |it: &Option<Started>| it.is_some_and(|it| it.id == id);
        if let Some(index) = self.transfers[self.complete..].iter().position(is_it) {
            self.settle(self.complete + index, completion, wire);
        }
    }

    /// What follows when a transfer has ended; true: nothing.
    fn settle(&mut self, index: usize, completion: &Completion, wire: &mut impl Wire) -> bool {
        let Some(started) = self.transfers[index].take() else { return true };
        match (&self.steps[started.step as usize], started.awaits) {
            (ScheduleStep::Receive { from, lane, buffer, operand }, Awaits::Data(_)) => {
                let (from, answers) = (*from as usize, lane | ANSWERS);
                match wire.take(started.id, from, buffer, completion.bytes, *operand) {
                    Taken::Lent(shown, spot) => {
                        self.lent.push(Lent { place: buffer.address(), shown, spot, from, answers });
                    }
                    Taken::Refused => {
                        let id = wire.receive(from, lane | REFUSED, buffer, Expected::Message);
                        wire.send_and_forget(from, answers, &REFUSAL);
                        self.transfers[index] =
                            Some(Started { id, awaits: Awaits::Refused(from as u16), ..started });
                    }
                    Taken::Skipped(bytes) => {
                        let lost = bytes.saturating_sub(buffer.bytes());
                        self.note(&Completion { lost, bytes: buffer.bytes(), ..*completion });
                    }
                    Taken::Read(bytes) => {
                        let lost = bytes.saturating_sub(buffer.bytes());
                        wire.send_and_forget(from, answers, &Buffer::EMPTY);
                        self.note(&Completion { lost, bytes: buffer.bytes(), ..*completion });
                    }
                    Taken::Data => {
                        if completion.truncated() == Some(OFFER_BYTES) {
                            // It may have been an offer, whose sender waits for an answer.
                            wire.send_and_forget(from, answers, &Buffer::EMPTY);
                            wire.want_none(from);
                        }
                        self.note(completion);
                    }
                }
            }
            (ScheduleStep::Send { to, lane, buffer, offer, .. }, Awaits::Answer(_)) => {
                if let Some(offer) = offer {
                    // SAFETY: memory of the schedule's own, which holds the offer until now.
                    wire.answered(unsafe { offer.as_ref() });
                }
                if completion.truncated().is_some() {
                    let sent = wire.send(*to as usize, lane | REFUSED, buffer, self.large);
                    self.transfers[index] = sent.map(|id| Started { id, awaits: Awaits::Sent, ..started });
                }
            }
            _ => self.note(completion),
        }
        self.transfers[index].is_none()
    }

    fn note(&mut self, completion: &Completion) {
        if let Some(sent) = completion.truncated() {
            let told = Truncated { source: completion.source, sent, expected: completion.bytes };
            self.truncated.get_or_insert(told);
        }
    }

    /// Calls the user's function that `advance` stopped at, and those that follow it at once. Call this only while not
    /// holding the state.
    pub(super) fn run_user_code(&mut self) {
        while let Some(&ScheduleStep::Reduce { from, into, count, .. }) = self.steps.get(self.next) {
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
        let Some(started) = self.transfers[index] else { return true };
        let Some(completion) = wire.take_if_complete(started.id) else { return false };
        self.settle(index, &completion, wire)
    }

    /// Whether every transfer so far is complete.
    fn finish_all(&mut self, wire: &mut impl Wire) -> bool {
        while self.complete < self.transfers.len() {
            if !self.finish(self.complete, wire) {
                self.finish_some(wire);
                return false;
            }
            self.complete += 1;
        }
        true
    }

    /// Looks after every transfer whose message has come: another rank may wait for the answer to its offer.
    fn finish_some(&mut self, wire: &mut impl Wire) {
        if self.large.any() {
            for index in self.complete..self.transfers.len() {
                self.finish(index, wire);
            }
        }
    }
}
