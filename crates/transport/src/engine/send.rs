//! Sending: what fits is written into the ring at once, the rest waits in a queue per destination, in order.

use super::beside::most_in_lines;
use super::crossing::counts;
use super::headers::{data_header, header, plain, sum};
use super::pending::{COMPLETE_AT_ONCE, NONE, due};
use super::receipts::Receipts;
use super::{Engine, Mode, TransferId, kind, rendezvous};
use crate::asleep::Asleep;
use crate::buffer::Buffer;
use crate::copy::{can_demote, copy_by_lines, copy_small, demote};
use crate::costs::COPY_FROM;
use crate::matching::Envelope;
use crate::pool::{Pool, Receiver};
use crate::ring::{Area, INLINE, LINE, POOLED_FROM, PieceHeader, PieceWriter};
use crate::segment::{PAGE, RankPage, Segment};
use std::collections::VecDeque;
use std::ops::Range;

/// Messages above so many bytes are announced, and copied when they are matched: those that may be copied between the
/// processes.
pub const MOST_EAGER: usize = COPY_FROM - 1;
/// The same where ranks share cpus: an answer to an announcement waits until its rank gets a cpu. (4 ranks on 2 cpus of
/// an EPYC, alltoall of 64 kB through the pool: 31 us, and 38 with announcements.)
pub const MOST_EAGER_CROWDED: usize = COPY_FROM;
/// Of those, so many bytes go out unasked where the rest of the last one was asked for through the pool: then the rest
/// of this one follows at once. A choice: something is left to ask for, and the receiver goes on measuring the ways.
/// (64 kB take 2.46 us with 16 kB of them unasked, 2.25 with 32, 2.32 with these and 2.15 with all, on an EPYC.) By the
/// kernel, all is asked for: 64 kB take 2.7 us so and 5.0 with 16 kB of them unasked, 256 kB 5.9 and 11.8, on a Xeon.
pub(super) const UNASKED: usize = 48 * 1024;
/// Messages of at most so many bytes are sent at once as a whole then, but for one of so many, for which the receiver
/// chooses the way. A choice. (256 kB take 11.0 us at once, 12.5 when all but 48 kB are asked for, and 9.3 by hand, on
/// an EPYC. Alltoall of 256 kB between two ranks with one of 16, of 64 and none asked about, by turns in one program:
/// 25.5, 24.0 and 23.2.)
pub(super) const WHOLE: usize = 256 * 1024;
pub(super) const ASKED_EACH: u32 = 64;
/// The same while the receiver only tries the pool: the trial is over soon. A choice.
pub(super) const ASKED_EACH_TRIED: u32 = 2;
/// After one that came before its receive, so many are asked about first: its data was copied once more. A choice. (256
/// kB both ways at a time take 34 us where one in two does, 25 where none does, on an EPYC.)
pub(super) const WARY: u32 = 32;
/// Where the cpu moves lines to the shared cache, a message that answers one lies in the ring up to so many bytes,
/// others up to `POOLED_FROM`. A choice. (256 B to and fro on a Xeon: 0.23 us in the ring, 0.21 in a slot; 64 of them
/// in a row 0.08 us each, 0.12 in slots. On an EPYC, which can't move lines, 0.22 in the ring and 0.27 in a slot.)
const ANSWER_POOLED_FROM: usize = 128;
/// Of a message of so many bytes that answers one and lies in a slot, how many are moved to the shared cache before its
/// receiver hears of it. A choice. (B on a Xeon: 1 kB 0.34 us with none of them, 0.27 with all; 2 kB 0.43 with none,
/// 0.46 with all, 0.40 with these; 4 kB 0.61, 0.71, 0.59; 16 kB 1.79 with none, 1.84 with 512.)
pub(super) fn demoted(bytes: usize) -> usize {
    match bytes {
        0..=1024 => bytes,
        1025..=4096 => 512,
        _ => 0,
    }
}

/// Eager bytes that a sender may have unmatched at a receiver. Messages of one line don't count: they take no more than
/// their envelope.
pub const CREDIT: u64 = 2 * WHOLE as u64;
/// The same of large messages that cross others, which come in twos and more. A choice. (Two ranks on an EPYC that send
/// each other two messages of 256 kB at a time, n = 10: 36 us with the other credit, 33 with this.)
const CREDIT_CROSSING: u64 = 2 * CREDIT;
/// The same of all senders together where ranks share cpus, but for large messages that are sent as a whole, which have
/// the other credit: one of so many parts of a pool, which is as much as a cpu's own caches hold. Who sends without
/// waiting, as in a gather, would go on until the receiver's caches are full of what it has no cpu to receive. A
/// choice. (8 ranks on 2 cpus of an EPYC, gather of 4 kB: 12.6 us with .75 MB, 12.3 with .5 and 19.8 with 1.5; of 16 kB
/// 24, 23 and 48; 28, 16 and 28, 44, 29 and 72 while a line takes 200 ns. 4 ranks: the same with all.)
const CREDIT_CROWDED: usize = 4;
/// The most of a streamed message that one piece's header can speak of.
const STREAM_STEP: usize = 1 << 20;

/// Eager bytes that each of so many senders may have unmatched at a receiver where ranks share cpus: at least one of
/// the largest messages. A pool has so many bytes.
pub(super) fn credit_crowded(senders: usize, pool_bytes: usize) -> u64 {
    ((pool_bytes / CREDIT_CROWDED / senders.max(1)) as u64).clamp(MOST_EAGER_CROWDED as u64, CREDIT)
}

/// The credit that an announced message takes of which so many bytes go out unasked.
pub(super) fn credit_of_announced(unasked: usize) -> usize {
    unasked.next_multiple_of(UNASKED)
}

/// The queue of pieces to one rank.
pub(crate) struct Outgoing {
    pub(super) producer: PieceWriter<Area>,
    queue: VecDeque<Queued>,
    /// Eager bytes sent since the start.
    pub(super) eager: u64,
    /// The message that was announced last.
    pub(super) announced: TransferId,
    /// The receiver waited for the last one, and asked for its rest through the pool: then the next ones are sent at
    /// once, but for one of so many. 0: it did not.
    pub(super) asked_each: u32,
    /// Messages that could be sent at once though they are large, and how many more are asked about first.
    whole: u32,
    pub(super) wary: u32,
    /// The last large message was sent at once.
    went_whole: bool,
    /// How far the ring from the other rank was read when this one last sent a message of some lines.
    answered: u64,
    /// The same, when it last sent a message at once.
    followed: u64,
    /// For `crossing`: how far the ring was written when the last message had begun that counts, and how far the other
    /// one was read when the last one had that this rank has read.
    pub(super) spoke: u64,
    pub(super) has_read: u64,
    /// The receiver's page, where it says that it sleeps.
    page: &'static RankPage,
}
// SAFETY: the ring lies in shared memory that is never unmapped.
unsafe impl Send for Outgoing {}

enum Queued {
    /// A message: what is left of that which goes out unasked.
    Message { transfer: u32, rest: Range<usize>, order: PieceOrder, kind: Opening },
    /// Data of a matched message: what is left of it, to the receiver's transfer.
    Stream { transfer: u32, to: u64, rest: Range<usize>, order: PieceOrder },
    /// News.
    Words { kind: u8, words: [u64; 6] },
}

/// The order of a message's pieces, and of the kept slots that they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceOrder {
    /// From the start on, in slots in the order in which they were read.
    AsRead,
    /// By turns from the start and from the end, in slots that were read last.
    Upwards,
    Downwards,
}

impl PieceOrder {
    /// The order of a message that has its turn, from the end or from the start.
    pub(super) fn by_turns(downwards: bool) -> Self {
        if downwards { Self::Downwards } else { Self::Upwards }
    }
}

/// What comes before the first piece of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// Nothing: the first piece is the start.
    Eager,
    /// That the sender waits for the matching.
    Synchronous,
    /// The message's announcement.
    Announced,
    /// It is out.
    Out,
}

impl Outgoing {
    pub(super) fn new(segment: &Segment, from: usize, to: usize) -> Self {
        let page = segment.rank(to);
        Self {
            producer: PieceWriter::new(Area::of(segment, from, to)),
            queue: VecDeque::new(),
            eager: 0,
            announced: COMPLETE_AT_ONCE,
            asked_each: 0,
            whole: 0,
            wary: 0,
            went_whole: false,
            answered: 0,
            followed: 0,
            spoke: 0,
            has_read: 0,
            page,
        }
    }
}

impl Outgoing {
    /// A large message that was sent at once came before its receive.
    pub(super) fn came_early(&mut self) {
        self.wary = WARY;
    }

    /// Nothing waits to be written.
    #[inline]
    pub(super) fn has_nothing_queued(&self) -> bool {
        self.queue.is_empty()
    }
}

impl Engine<'_> {
    /// Starts a send to a rank of the job. Nothing: it is complete already.
    #[inline]
    pub fn send(&mut self, to: usize, envelope: Envelope, buffer: &Buffer, mode: Mode) -> Option<TransferId> {
        let bytes = buffer.bytes;
        if let Some(tallies) = &self.tallies {
            tallies.count(to, bytes);
        }
        self.counters.messages_sent.add(1);
        self.counters.bytes_sent.add(bytes as u64);
        let is_short = bytes <= INLINE;
        if is_short && mode == Mode::Standard && to != self.rank && self.send_line(to, envelope, buffer) {
            return None;
        }
        let is_answer = !is_short && self.is_answer(to);
        let (out, consumer) = (&mut self.outgoing[to], &self.incoming[to].consumer);
        let page_came = !is_short && consumer.has_page_that_came();
        let in_lines = !page_came && bytes <= most_in_lines(&out.producer, is_answer);
        if !is_short
            && (in_lines || bytes <= PAGE && (page_came || out.producer.gets_page(consumer)))
            && mode == Mode::Standard
            && buffer.layout.is_none()
            && out.queue.is_empty()
            && to != self.rank
            && out.producer.fits(if in_lines { bytes } else { INLINE })
            && self.takes_credit(to, bytes)
        {
            let header = header(kind::EAGER, envelope, bytes);
            let piece = Piece::of(header, buffer, &(0..bytes), PieceOrder::AsRead);
            let receiver = receiver_of(is_answer);
            let piece = Piece { receiver, ..piece };
            if in_lines {
                piece.put_in_ring(&mut self.outgoing[to].producer);
            } else {
                self.put_in_page(to, &piece);
            }
            self.take_ahead(to);
            self.wake(to);
            return None;
        }
        self.send_slowly(to, envelope, buffer, mode, is_answer)
    }

    /// As `send`, for a program that keeps the id: a send that is complete at once can be cancelled, too.
    #[inline(always)]
    pub fn send_by_id(&mut self, to: usize, envelope: Envelope, buffer: &Buffer, mode: Mode) -> TransferId {
        if self.afar.is_some() {
            return self.send(to, envelope, buffer, mode).unwrap_or(COMPLETE_AT_ONCE);
        }
        let line = if to == self.rank { self.own_sends } else { self.outgoing[to].producer.produced() };
        self.send(to, envelope, buffer, mode).unwrap_or_else(|| Receipts::give(to, line))
    }

    /// The id of a send that is complete for the program: its data was copied, and leaves by this transfer.
    pub fn buffered(&mut self, transfer: TransferId) -> TransferId {
        self.receipts.give_buffered(transfer)
    }

    #[inline(never)]
    fn send_slowly(
        &mut self,
        to: usize,
        envelope: Envelope,
        buffer: &Buffer,
        mode: Mode,
        is_answer: bool,
    ) -> Option<TransferId> {
        if to == self.rank {
            return self.send_to_self(envelope, buffer, mode);
        }
        if self.afar.is_some() {
            return self.send_afar(to, envelope, buffer, mode);
        }
        let synchronous = mode == Mode::Synchronous;
        let is_large = buffer.bytes > if synchronous { MOST_EAGER } else { self.most_eager() };
        let mode = if is_large { self.mode_of_large(to, buffer, mode) } else { mode };
        if is_large {
            self.sharing.ways[to].sent();
        }
        let counts = !is_large && self.own_copy.is_none() && counts(buffer.bytes);
        let crosses = counts && self.goes_across(to, buffer.bytes);
        let streams = counts && !crosses && self.streams_by_kernel(to, buffer, mode);
        let mode = if streams { Mode::ByKernel } else { mode };
        let eager = match is_large {
            true => {
                let goes_whole = match mode {
                    Mode::ByKernel => false,
                    Mode::Pooled if buffer.bytes <= WHOLE => true,
                    _ => self.goes_whole(to, buffer.bytes, is_answer),
                };
                let credit = if mode == Mode::Pooled { CREDIT_CROSSING } else { CREDIT };
                goes_whole && self.takes_credit_of(credit, to, buffer.bytes)
            }
            false => !streams && self.takes_credit(to, buffer.bytes),
        };
        let order = match eager && is_large {
            true => PieceOrder::by_turns(self.sharing.turn(to)),
            false => PieceOrder::AsRead,
        };
        let mut rest = 0..buffer.bytes;
        // Who copies own data meanwhile makes no receiver wait for a first part either.
        let is_exchanged = self.own_copy.is_some() || mode == Mode::Pooled || crosses;
        let receiver = match is_exchanged {
            true => Receiver::Sends,
            // An announcement is answered by a line, too.
            false if is_large => receiver_of(!self.goes_behind_one(to)),
            false => receiver_of(is_answer),
        };
        if eager && !synchronous && self.outgoing[to].queue.is_empty() {
            let mut header = header(kind::EAGER, envelope, buffer.bytes);
            let piece =
                |header, rest: &Range<usize>| Piece { receiver, ..Piece::of(header, buffer, rest, order) };
            while let Some(put) = piece(header, &rest).put(&mut self.outgoing, &mut self.pool, to) {
                self.copy_beside(&put);
                leave_out(&mut rest, put);
                if rest.is_empty() {
                    self.take_ahead(to);
                    self.wake(to);
                    return None;
                }
                header = header.of_kind(kind::MORE);
            }
            if rest.len() < buffer.bytes {
                // What is left waits for slots, which the receiver gives back when it has read what is there.
                self.wake(to);
            }
        }
        let (end, kind, answer) = if !eager {
            // The first part may go out unasked: by the time that the answer comes, it is there. Behind a message that
            // is under way, the answer is here in time.
            let end = self.unasked(to, buffer, mode);
            let unasked = !self.transfers.is_active(self.outgoing[to].announced)
                && self.takes_credit(to, credit_of_announced(end));
            (if unasked { end } else { 0 }, Opening::Announced, due::ANSWER)
        } else if synchronous {
            (buffer.bytes, Opening::Synchronous, due::ANSWER)
        } else {
            (buffer.bytes, Opening::Eager, 0)
        };
        let index = self.transfers.start(buffer, envelope.key(0));
        let transfer = self.transfers.at(index);
        transfer.to = to as u32;
        transfer.bytes = end;
        transfer.due = due::PIECES | answer;
        // A small message that waits is told as a whole: so it can be left in its slot if it comes before its receive.
        transfer.receiver = if is_large || is_exchanged { receiver } else { Receiver::IsBehind };
        transfer.mode = mode;
        let id = self.transfers.id(index);
        if kind == Opening::Announced {
            self.outgoing[to].announced = id;
        }
        rest.end = rest.end.min(end);
        self.later(to, Queued::Message { transfer: index, rest, order, kind });
        Some(id)
    }

    /// Whether a large message of so many bytes is sent at once. Behind one that is under way, the answer to an
    /// announcement is here in time, but not where its rank has to get a cpu first. (On 2 cpus of an EPYC, once around
    /// from rank to rank, us: 4 ranks, 256 kB 42, and 59 where each is announced; 8 ranks 126 and 176.)
    fn goes_whole(&mut self, to: usize, bytes: usize, is_answer: bool) -> bool {
        let crowded = self.crowded();
        let out = &mut self.outgoing[to];
        let is_behind = std::mem::take(&mut out.went_whole) && !is_answer && !crowded;
        let may_be_under_way = self.transfers.is_active(out.announced) || is_behind;
        if out.asked_each == 0 || bytes > WHOLE || may_be_under_way {
            return false;
        }
        if out.wary > 0 {
            out.wary -= 1;
            return false;
        }
        out.whole = out.whole.wrapping_add(1);
        out.went_whole = !out.whole.is_multiple_of(out.asked_each);
        out.went_whole
    }

    /// Bytes of an announced message that go out unasked, if there is credit.
    fn unasked(&self, to: usize, buffer: &Buffer, mode: Mode) -> usize {
        let by_pool = match mode {
            Mode::Pooled => true,
            Mode::ByKernel => false,
            Mode::Standard | Mode::Synchronous => self.outgoing[to].asked_each > 0,
        };
        if by_pool { buffer.bytes.min(UNASKED - offset_in_line(buffer, 0)) } else { 0 }
    }

    /// Whether something came from a rank since the last message of some lines to it.
    #[inline]
    fn is_answer(&mut self, to: usize) -> bool {
        let read = self.incoming[to].consumer.consumed();
        std::mem::replace(&mut self.outgoing[to].answered, read) != read
    }

    /// A message is out: the next one may follow it at once.
    #[inline]
    pub(super) fn take_ahead(&mut self, to: usize) {
        let read = self.incoming[to].consumer.consumed();
        let out = &mut self.outgoing[to];
        let in_row = std::mem::replace(&mut out.followed, read) == read;
        out.producer.take_ahead(in_row);
    }

    /// Messages above so many bytes are announced.
    #[inline]
    pub(super) fn most_eager(&self) -> usize {
        if self.crowded() { MOST_EAGER_CROWDED } else { MOST_EAGER }
    }

    /// Eager bytes that a sender may have unmatched at a receiver.
    #[inline]
    pub(super) fn credit(&self) -> u64 {
        if self.crowded() { self.credit_crowded } else { CREDIT }
    }

    /// Whether a message of so many bytes, no large one, may go to a rank unasked now.
    #[inline]
    pub fn has_credit(&mut self, to: usize, bytes: usize) -> bool {
        bytes <= INLINE || self.has_credit_of(self.credit(), to, bytes)
    }

    /// As `has_credit`, of so much.
    #[inline]
    fn has_credit_of(&mut self, credit: u64, to: usize, bytes: usize) -> bool {
        let has_credit =
            |out: &Outgoing| out.eager + bytes as u64 <= out.producer.handed_on().saturating_add(credit);
        if has_credit(&self.outgoing[to]) {
            return true;
        }
        self.look_at_credit(to);
        has_credit(&self.outgoing[to])
    }

    /// Takes credit for bytes that go out unasked; false when there is none.
    #[inline]
    fn takes_credit(&mut self, to: usize, bytes: usize) -> bool {
        bytes <= INLINE || self.takes_credit_of(self.credit(), to, bytes)
    }

    /// As `takes_credit`, of so much.
    #[inline]
    fn takes_credit_of(&mut self, credit: u64, to: usize, bytes: usize) -> bool {
        let has_credit = self.has_credit_of(credit, to, bytes);
        self.outgoing[to].eager += if has_credit { bytes as u64 } else { 0 };
        has_credit
    }

    /// Reads how much of what it was sent a receiver has handed on.
    #[cold]
    fn look_at_credit(&mut self, to: usize) {
        let out = &mut self.outgoing[to];
        out.producer.refresh();
        if out.producer.handed_on() > out.eager {
            self.corrupt(to, "more messages were handed on than were sent");
        }
    }

    /// Takes a message of which nothing is out from its queue; false: something is out.
    pub(super) fn take_back(&mut self, to: usize, index: u32) -> bool {
        let transfer = self.transfers.at(index);
        let (waits, unasked) = (transfer.due & due::ANSWER != 0, transfer.bytes);
        let out = &mut self.outgoing[to];
        let place = out.queue.iter().position(|queued| match queued {
            Queued::Message { transfer, rest, kind, .. } if *transfer == index => match kind {
                Opening::Announced | Opening::Synchronous => true,
                // A synchronous one that has become this has been spoken of.
                Opening::Eager => rest.len() == unasked && !waits,
                Opening::Out => false,
            },
            _ => false,
        });
        let Some(Queued::Message { kind, .. }) = place.and_then(|place| out.queue.remove(place)) else {
            return false;
        };
        let credit = if kind == Opening::Announced { credit_of_announced(unasked) } else { unasked };
        if credit > INLINE {
            out.eager -= credit as u64;
        }
        true
    }

    fn send_to_self(&mut self, envelope: Envelope, buffer: &Buffer, mode: Mode) -> Option<TransferId> {
        let sent = self.send_to_own_receive(envelope, buffer, mode);
        self.own_sends += 1;
        sent
    }

    fn send_to_own_receive(&mut self, envelope: Envelope, buffer: &Buffer, mode: Mode) -> Option<TransferId> {
        if let Some(receive) = self.matching.take_posted(envelope) {
            self.accept(receive, envelope, buffer.bytes);
            // SAFETY: both are lent until their transfers are complete, which is below.
            unsafe { self.transfers.at(receive).buffer.copy_from(buffer) };
            self.transfers.complete(receive);
            return None;
        }
        let has_room = self.afar.is_some() || self.takes_credit(self.rank, buffer.bytes);
        if mode != Mode::Synchronous && buffer.bytes <= MOST_EAGER && has_room {
            let mut data = vec![0; buffer.bytes];
            buffer.read(0, &mut data);
            self.keep_own(envelope, buffer.bytes, data, NONE);
            return None;
        }
        let transfer = self.transfers.start(buffer, envelope.key(0));
        self.transfers.at(transfer).to = self.rank as u32;
        self.keep_own(envelope, buffer.bytes, Vec::new(), transfer);
        Some(self.transfers.id(transfer))
    }

    /// Sends news to a rank.
    pub(super) fn tell(&mut self, to: usize, kind: u8, words: [u64; 6]) {
        self.later(to, Queued::Words { kind, words });
    }

    /// Sends the data of a matched message through the pool or the ring: what is behind the unasked part, up to a byte.
    pub(super) fn stream(&mut self, to: usize, index: u32, receiver: u64, end: usize) {
        let order = PieceOrder::by_turns(self.sharing.downwards[to]);
        let transfer = self.transfers.at(index);
        let rest = transfer.bytes..end;
        if rest.start > end {
            self.corrupt(to, "less data asked for than came unasked");
        }
        transfer.due |= due::REST;
        self.transfers.happened(index, due::ANSWER);
        self.later(to, Queued::Stream { transfer: index, to: receiver, rest, order });
    }

    /// Puts something into a destination's queue, and starts with it when it is the first.
    fn later(&mut self, to: usize, pending: Queued) {
        let out = &mut self.outgoing[to];
        out.queue.push_back(pending);
        if out.queue.len() == 1 && !self.push(to) {
            self.congested.push(to as u16);
            // Other threads of this rank may sleep that have to write it.
            self.page().ring();
        }
    }

    /// Writes what waits for a destination as far as it fits; true when nothing waits any more.
    fn push(&mut self, to: usize) -> bool {
        let produced = self.outgoing[to].producer.produced();
        let empty = loop {
            let out = &mut self.outgoing[to];
            let Some(first) = out.queue.front_mut() else { break true };
            let done = match first {
                Queued::Words { kind, words } => {
                    let fits = out.producer.fits(INLINE);
                    if fits {
                        out.producer.put_words(plain(*kind, words), words);
                    }
                    fits
                }
                Queued::Message { transfer, rest, order, kind } => {
                    let (index, order, start) = (*transfer, *order, *kind);
                    let token = self.transfers.id(index).0;
                    let slot = self.transfers.at(index);
                    let (envelope, unasked) = (slot.envelope(), slot.bytes);
                    let announced = matches!(start, Opening::Announced | Opening::Out);
                    if matches!(start, Opening::Announced | Opening::Synchronous) {
                        if !out.producer.fits(INLINE) {
                            break false;
                        }
                        if start == Opening::Announced {
                            self.counters.rendezvous_sent.add(1);
                            let [how, address] = rendezvous::address(
                                &mut self.sharing,
                                self.segment.as_ref(),
                                self.rank,
                                self.copy_from,
                                slot,
                            );
                            let bytes = slot.buffer.bytes as u64;
                            let words = [token, bytes, unasked as u64, how, address, out.has_read];
                            let header = header(kind::ANNOUNCE, envelope, sum(&words) as usize);
                            out.producer.put_words(header, &words);
                            if counts(slot.buffer.bytes) {
                                out.spoke = out.producer.produced();
                            }
                            *kind = Opening::Out;
                        } else {
                            let words = [token, 0, 0, 0, 0, 0];
                            out.producer.put_words(plain(kind::SYNCHRONOUS, &words), &words);
                            *kind = Opening::Eager;
                        }
                    }
                    let mut left = rest.clone();
                    let mut done = announced && left.is_empty();
                    while !done {
                        let is_first = !announced && left.len() == unasked;
                        let header =
                            header(if is_first { kind::EAGER } else { kind::MORE }, envelope, unasked);
                        let piece = Piece::of(header, &slot.buffer, &left, order);
                        let piece = Piece { receiver: slot.receiver, ..piece };
                        let Some(put) = piece.put(&mut self.outgoing, &mut self.pool, to) else { break };
                        leave_out(&mut left, put);
                        done = left.is_empty();
                    }
                    if done {
                        self.transfers.happened(index, due::PIECES);
                    } else if let Some(Queued::Message { rest, .. }) = self.outgoing[to].queue.front_mut() {
                        *rest = left;
                    }
                    done
                }
                Queued::Stream { transfer, to: receiver, rest, order } => {
                    let (index, receiver, order) = (*transfer, *receiver, *order);
                    let mut left = rest.clone();
                    let slot = self.transfers.at(index);
                    while !left.is_empty() {
                        let header = data_header(receiver, left.len().min(STREAM_STEP));
                        let piece = Piece::of(header, &slot.buffer, &left, order);
                        let piece = Piece { receiver: slot.receiver, ..piece };
                        let Some(put) = piece.put(&mut self.outgoing, &mut self.pool, to) else { break };
                        leave_out(&mut left, put);
                    }
                    let done = left.is_empty();
                    if done {
                        self.transfers.happened(index, due::REST);
                    } else if let Some(Queued::Stream { rest, .. }) = self.outgoing[to].queue.front_mut() {
                        *rest = left;
                    }
                    done
                }
            };
            if !done {
                break false;
            }
            self.outgoing[to].queue.pop_front();
        };
        let out = &self.outgoing[to];
        if out.producer.corrupt {
            self.corrupt(to, "a receiver is ahead of its sender");
        }
        if out.producer.produced() != produced {
            self.wake(to);
        }
        empty
    }

    /// Writes what waits for all destinations; true when anything moved.
    pub(super) fn push_all(&mut self) -> bool {
        let mut moved = false;
        for to in std::mem::take(&mut self.congested) {
            let before = self.outgoing[to as usize].producer.produced();
            if !self.push(to as usize) {
                self.congested.push(to);
            }
            moved |= self.outgoing[to as usize].producer.produced() != before;
        }
        moved
    }

    /// Wakes a rank that sleeps.
    #[inline]
    pub(super) fn wake(&self, to: usize) {
        self.outgoing[to].page.ring();
    }

    /// Wakes a rank that sleeps and has something to write.
    #[inline]
    pub(super) fn wake_for_room(&self, to: usize) {
        self.outgoing[to].page.ring_for_room();
    }
}

/// The next piece of a message: its header, and the data from a byte on.
pub(super) struct Piece<'a> {
    pub(super) header: PieceHeader,
    pub(super) buffer: &'a Buffer,
    pub(super) from: usize,
    pub(super) left: usize,
    pub(super) receiver: Receiver,
    pub(super) order: PieceOrder,
}

impl<'a> Piece<'a> {
    /// A piece of what is left of a message.
    #[inline]
    pub(super) fn of(
        header: PieceHeader,
        buffer: &'a Buffer,
        left: &Range<usize>,
        order: PieceOrder,
    ) -> Self {
        Self { header, buffer, from: left.start, left: left.len(), receiver: Receiver::default(), order }
    }

    /// Writes it into a slot of the pool or, when it is small or no slot will come, into the ring; which bytes of the
    /// message it has. Nothing: it doesn't fit now. In slots, data may go downwards; in the ring, it goes upwards.
    #[inline]
    fn put(&self, outgoing: &mut [Outgoing], pool: &mut Pool, to: usize) -> Option<Range<usize>> {
        let Outgoing { producer, spoke, has_read, .. } = &mut outgoing[to];
        if self.goes_beside(producer) {
            return producer.fits(INLINE).then(|| self.put_beside(producer, pool, to, None));
        }
        if self.left > most_in_ring(self.receiver == Receiver::Waits) {
            let begins = producer.produced() + 1;
            let bytes = self.put_pooled(producer, pool, to, *has_read);
            if bytes.is_some() && self.header.kind() == kind::EAGER && counts(self.buffer.bytes) {
                *spoke = begins;
            }
            if bytes.is_some() || pool.will_come_from(to) {
                return bytes;
            }
        }
        producer.fits(self.left).then(|| self.from..self.from + self.put_in_ring(producer))
    }

    /// Writes it into the ring, where it must fit; its bytes.
    #[inline]
    fn put_in_ring(&self, producer: &mut PieceWriter<Area>) -> usize {
        producer.put_piece(self.header, self.left, |piece| {
            // The line of the header comes last: the receiver looks at it, and would take it back before the data in
            // the lines behind it is there.
            let (first, others) = piece.split_at_mut(INLINE.min(piece.len()));
            self.buffer.read_by(copy_by_lines, self.from + first.len(), others);
            if self.receiver == Receiver::Waits {
                demote(others);
            }
            self.buffer.read_by(copy_small, self.from, first);
        })
    }
}

/// How far into a cache line a byte of the data lies; 0 where the data isn't contiguous.
#[inline]
pub(super) fn offset_in_line(buffer: &Buffer, from: usize) -> usize {
    if buffer.layout.is_none() { (buffer.address as usize).wrapping_add(from) % LINE } else { 0 }
}

/// What the receiver of a message does, by whether the message answers one.
#[inline]
fn receiver_of(is_answer: bool) -> Receiver {
    if is_answer { Receiver::Waits } else { Receiver::IsBehind }
}

/// Bytes of a message that need not go through the pool.
#[inline]
pub(super) fn most_in_ring(is_answer: bool) -> usize {
    if is_answer && can_demote() { ANSWER_POOLED_FROM } else { POOLED_FROM }
}

/// Takes bytes that are out from the start or the end of what is left.
#[inline]
pub(super) fn leave_out(left: &mut Range<usize>, out: Range<usize>) {
    if out.start == left.start { left.start = out.end } else { left.end = out.start }
}
