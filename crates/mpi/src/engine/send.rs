//! Sending: what fits is written into the ring at once, the rest waits in a queue per destination, in order.

use super::copy::copy_out;
use super::pool::{self, Loan, POOLED_FROM, Pool};
use super::ring::{Area, Header, INLINE, Producer, copy_small};
use super::transfer::{NONE, due};
use super::{Buffer, Engine, Envelope, Mode, TransferId, kind, rendezvous, wait};
use crate::counters::COUNTERS;
use crate::profile;
use crate::segment::Segment;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};

/// Messages above so many bytes are announced, and copied when they are matched.
pub const MOST_EAGER: usize = 64 * 1024;
/// Of those, so many bytes go out unasked.
pub const UNASKED: usize = 32 * 1024;
/// Eager bytes that a sender may have unmatched at a receiver. Messages of one line don't count: they take no more than
/// their envelope.
pub const CREDIT: u64 = 256 * 1024;
/// The most of a streamed message that one piece's header can speak of.
const STREAM_STEP: usize = 1 << 20;

/// What goes out to one rank.
pub struct Outgoing {
    pub(super) producer: Producer<Area>,
    queue: VecDeque<Pending>,
    /// Eager bytes sent since the start.
    eager: u64,
    /// The word that the receiver sleeps on.
    asleep: *const AtomicU32,
}
// SAFETY: the word lies in shared memory that is never unmapped.
unsafe impl Send for Outgoing {}

enum Pending {
    /// A message: pieces from a byte on, up to the end of what goes out unasked.
    Message { transfer: u32, from: usize, end: usize, kind: Start },
    /// Data of a matched message, to the receiver's transfer.
    Stream { transfer: u32, to: u64 },
    /// News.
    Words { kind: u8, words: [u64; 6] },
}

/// What comes before the first piece of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
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
        let asleep = &raw const segment.rank(to).asleep;
        let connected = (&raw const segment.rank(to).connected[from / 64], 1 << (from % 64));
        // SAFETY: the segment is never unmapped, and its areas are as large.
        let area = unsafe { Area::new(segment.pair(from, to), connected) };
        Self { producer: Producer::new(area), queue: VecDeque::new(), eager: 0, asleep }
    }
}

impl Buffer {
    /// Copies data out of the buffer, from a byte on.
    #[inline]
    pub(super) fn read(&self, from: usize, into: &mut [u8]) {
        debug_assert!(from + into.len() <= self.bytes);
        // SAFETY: the buffer holds `bytes` bytes of data, lent by the user until the transfer is complete.
        unsafe {
            match &self.layout {
                None => copy_out(self.address.add(from), into.as_mut_ptr(), into.len()),
                Some(layout) => {
                    layout.datatype.pack(self.address, layout.count, from, into);
                }
            }
        }
    }

    /// Copies data into the buffer, from a byte on; what is beyond its end is left out.
    #[inline]
    pub(super) fn write(&self, from: usize, data: &[u8]) {
        let bytes = data.len().min(self.bytes.saturating_sub(from));
        // SAFETY: as for `read`.
        unsafe {
            match &self.layout {
                None if bytes <= INLINE => copy_small(data.as_ptr(), self.address.wrapping_add(from), bytes),
                None => std::ptr::copy_nonoverlapping(data.as_ptr(), self.address.wrapping_add(from), bytes),
                Some(layout) => {
                    layout.datatype.unpack(self.address, layout.count, from, &data[..bytes]);
                }
            }
        }
    }

    /// Copies the data of another buffer of this process into this one; at most what it holds.
    pub(super) fn copy_of(&self, other: &Buffer) {
        let bytes = self.bytes.min(other.bytes);
        if bytes == 0 {
            return;
        }
        if other.layout.is_none() {
            // SAFETY: `bytes` bytes of data lie there.
            return self.write(0, unsafe { std::slice::from_raw_parts(other.address, bytes) });
        }
        if self.layout.is_none() {
            // SAFETY: there is room for `bytes` bytes.
            return other.read(0, unsafe { std::slice::from_raw_parts_mut(self.address, bytes) });
        }
        let mut between = vec![0; bytes.min(64 * 1024)];
        for from in (0..bytes).step_by(between.len()) {
            let piece = &mut between[..(bytes - from).min(64 * 1024)];
            other.read(from, piece);
            self.write(from, piece);
        }
    }
}

impl Engine {
    /// Starts a send to a rank of the job. Nothing: it is complete already.
    #[inline]
    pub fn send(&mut self, to: usize, envelope: Envelope, buffer: &Buffer, mode: Mode) -> Option<TransferId> {
        let bytes = buffer.bytes;
        profile::sent(to, bytes);
        COUNTERS.messages_sent.add(1);
        COUNTERS.bytes_sent.add(bytes as u64);
        let out = &mut self.outgoing[to];
        if bytes <= INLINE
            && mode == Mode::Standard
            && buffer.layout.is_none()
            && out.queue.is_empty()
            && to != self.rank
            && out.producer.fits(bytes)
        {
            let data = match bytes {
                0 => &[],
                // SAFETY: `bytes` bytes of the user's data; only of none, the address may be anything.
                _ => unsafe { std::slice::from_raw_parts(buffer.address, bytes) },
            };
            out.producer.put_line(header(kind::EAGER, envelope, bytes), data);
            out.producer.fetch_ahead();
            self.wake(to);
            return None;
        }
        self.send_slowly(to, envelope, buffer, mode)
    }

    #[inline(never)]
    fn send_slowly(
        &mut self,
        to: usize,
        envelope: Envelope,
        buffer: &Buffer,
        mode: Mode,
    ) -> Option<TransferId> {
        if to == self.rank {
            return self.send_to_self(envelope, buffer, mode);
        }
        let synchronous = mode == Mode::Synchronous;
        let eager = buffer.bytes <= MOST_EAGER && self.takes_credit(to, buffer.bytes);
        let mut from = 0;
        if eager && !synchronous && self.outgoing[to].queue.is_empty() {
            while let Some(bytes) = put_eager(&mut self.outgoing, &mut self.pool, to, envelope, buffer, from)
            {
                from += bytes;
                if from == buffer.bytes {
                    self.wake(to);
                    return None;
                }
            }
        }
        let (end, kind, answer) = if !eager {
            // The first part goes out unasked: by the time that the answer comes, it is there.
            let unasked = if self.takes_credit(to, UNASKED) { UNASKED.min(buffer.bytes) } else { 0 };
            (unasked, Start::Announced, due::ANSWER)
        } else if synchronous {
            (buffer.bytes, Start::Synchronous, due::ANSWER)
        } else {
            (buffer.bytes, Start::Eager, 0)
        };
        let index = self.transfers.start(buffer, envelope.key(0));
        let transfer = self.transfers.at(index);
        transfer.to = to as u32;
        transfer.bytes = end;
        transfer.due = due::PIECES | answer;
        let id = self.transfers.id(index);
        self.later(to, Pending::Message { transfer: index, from, end, kind });
        Some(id)
    }

    /// Takes credit for bytes that go out unasked; false when there is none.
    fn takes_credit(&mut self, to: usize, bytes: usize) -> bool {
        if bytes <= INLINE {
            return true;
        }
        let out = &mut self.outgoing[to];
        let most = |producer: &Producer<Area>| producer.handed_on().saturating_add(CREDIT);
        if out.eager + bytes as u64 > most(&out.producer) {
            out.producer.refresh();
            if out.producer.handed_on() > out.eager {
                self.corrupt(to, "more messages were handed on than were sent");
            }
            if out.eager + bytes as u64 > most(&out.producer) {
                return false;
            }
        }
        out.eager += bytes as u64;
        true
    }

    fn send_to_self(&mut self, envelope: Envelope, buffer: &Buffer, mode: Mode) -> Option<TransferId> {
        if let Some(receive) = self.matching.take_posted(&envelope) {
            self.accept(receive, &envelope, buffer.bytes);
            self.transfers.at(receive).buffer.copy_of(buffer);
            self.transfers.complete(receive);
            return None;
        }
        if mode == Mode::Standard && buffer.bytes <= MOST_EAGER && self.takes_credit(self.rank, buffer.bytes)
        {
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
        self.later(to, Pending::Words { kind, words });
    }

    /// Sends the data of a matched message through the ring, behind what went out unasked, up to a byte.
    pub(super) fn stream(&mut self, to: usize, index: u32, receiver: u64, end: usize) {
        let transfer = self.transfers.at(index);
        transfer.bytes = end;
        transfer.due |= due::REST;
        self.transfers.happened(index, due::ANSWER);
        self.later(to, Pending::Stream { transfer: index, to: receiver });
    }

    /// Puts something into a destination's queue, and starts with it when it is the first.
    fn later(&mut self, to: usize, pending: Pending) {
        let out = &mut self.outgoing[to];
        out.queue.push_back(pending);
        if out.queue.len() == 1 && !self.push(to) {
            self.congested.push(to as u16);
        }
    }

    /// Writes what waits for a destination as far as it fits; true when nothing waits any more.
    fn push(&mut self, to: usize) -> bool {
        let produced = self.outgoing[to].producer.produced();
        let empty = loop {
            let out = &mut self.outgoing[to];
            let Some(first) = out.queue.front_mut() else { break true };
            let done = match first {
                Pending::Words { kind, words } => {
                    let fits = out.producer.fits(INLINE);
                    if fits {
                        out.producer.put_words(plain(*kind, words), words);
                    }
                    fits
                }
                Pending::Message { transfer, from, end, kind } => {
                    let (index, end, start) = (*transfer, *end, *kind);
                    let token = self.transfers.id(index).0;
                    let slot = self.transfers.at(index);
                    let envelope = slot.envelope();
                    let announced = matches!(start, Start::Announced | Start::Out);
                    if matches!(start, Start::Announced | Start::Synchronous) {
                        if !out.producer.fits(INLINE) {
                            break false;
                        }
                        if start == Start::Announced {
                            COUNTERS.rendezvous_sent.add(1);
                            let [how, address] =
                                rendezvous::address(self.segment.as_ref(), self.rank, &slot.buffer);
                            let words = [token, slot.buffer.bytes as u64, end as u64, how, address, 0];
                            let header =
                                Header { length: sum(&words), ..header(kind::ANNOUNCE, envelope, 0) };
                            out.producer.put_words(header, &words);
                            *kind = Start::Out;
                        } else {
                            let words = [token, 0, 0, 0, 0, 0];
                            out.producer.put_words(plain(kind::SYNCHRONOUS, &words), &words);
                            *kind = Start::Eager;
                        }
                    }
                    let mut from = *from;
                    let mut done = announced && from == end;
                    while !done {
                        let piece = if from == 0 && !announced { kind::EAGER } else { kind::MORE };
                        let header = header(piece, envelope, end);
                        let piece = Piece { header, buffer: &slot.buffer, from, left: end - from };
                        let Some(bytes) = piece.put(&mut self.outgoing, &mut self.pool, to) else { break };
                        from += bytes;
                        done = from == end;
                    }
                    slot.moved = from;
                    if done {
                        self.transfers.happened(index, due::PIECES);
                    } else if let Some(Pending::Message { from: place, .. }) =
                        self.outgoing[to].queue.front_mut()
                    {
                        *place = from;
                    }
                    done
                }
                Pending::Stream { transfer, to: receiver } => {
                    let (index, receiver) = (*transfer, *receiver);
                    let slot = self.transfers.at(index);
                    if slot.moved > slot.bytes {
                        self.corrupt(to, "less data asked for than came unasked");
                    }
                    let slot = self.transfers.at(index);
                    while slot.moved < slot.bytes {
                        let left = (slot.bytes - slot.moved).min(STREAM_STEP);
                        let header = Header {
                            kind: kind::DATA,
                            source: 0,
                            context: receiver as u32,
                            tag: (receiver >> 32) as i32,
                            length: left as u32,
                        };
                        let piece = Piece { header, buffer: &slot.buffer, from: slot.moved, left };
                        let Some(moved) = piece.put(&mut self.outgoing, &mut self.pool, to) else { break };
                        slot.moved += moved;
                    }
                    let done = slot.moved == slot.bytes;
                    if done {
                        self.transfers.happened(index, due::REST);
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
        // SAFETY: the word of a page that is never unmapped.
        let word = unsafe { &*self.outgoing[to].asleep };
        if word.load(Ordering::Relaxed) != 0 {
            wait::wake(word);
        }
    }
}

/// The next piece of a message: its header, and the data from a byte on.
struct Piece<'a> {
    header: Header,
    buffer: &'a Buffer,
    from: usize,
    left: usize,
}

impl Piece<'_> {
    /// Writes it into the pool or, when it is small or the pool is lent out, into the ring; its bytes. Nothing: it doesn't fit now.
    #[inline]
    fn put(&self, outgoing: &mut [Outgoing], pool: &mut Pool, to: usize) -> Option<usize> {
        if self.left > POOLED_FROM {
            let (cell, loan) = pool.next();
            if loan.is_none_or(|loan| outgoing[loan.to as usize].producer.has_consumed(loan.until)) {
                return self.put_pooled(&mut outgoing[to], pool, to, cell);
            }
        }
        let producer = &mut outgoing[to].producer;
        producer
            .fits(self.left)
            .then(|| producer.put_piece(self.header, self.left, |piece| self.buffer.read(self.from, piece)))
    }

    fn put_pooled(&self, out: &mut Outgoing, pool: &mut Pool, to: usize, cell: usize) -> Option<usize> {
        if !out.producer.fits(INLINE) {
            return None;
        }
        let bytes = pool::piece_bytes(self.buffer.bytes, self.left);
        // The line that will speak of the cell is fetched while the cell is filled.
        out.producer.fetch();
        self.buffer.read(self.from, pool.cell(cell, bytes));
        let header = Header { kind: self.header.kind | kind::POOLED, ..self.header };
        out.producer.put_words(header, &[cell as u64, bytes as u64, 0, 0, 0, 0]);
        pool.lend(Loan { to: to as u16, until: out.producer.produced() });
        Some(bytes)
    }
}

/// Writes the next piece of an eager message, when it fits; its bytes.
#[inline]
fn put_eager(
    outgoing: &mut [Outgoing],
    pool: &mut Pool,
    to: usize,
    envelope: Envelope,
    buffer: &Buffer,
    from: usize,
) -> Option<usize> {
    let kind = if from == 0 { kind::EAGER } else { kind::MORE };
    let header = header(kind, envelope, buffer.bytes);
    Piece { header, buffer, from, left: buffer.bytes - from }.put(outgoing, pool, to)
}

#[inline]
fn header(kind: u8, envelope: Envelope, bytes: usize) -> Header {
    Header {
        kind,
        source: envelope.source,
        context: envelope.context,
        tag: envelope.tag,
        length: bytes as u32,
    }
}

fn plain(kind: u8, words: &[u64; 6]) -> Header {
    Header { kind, source: 0, context: 0, tag: 0, length: sum(words) }
}

/// A sum of the words of an announcement or of news, which its header carries: there are addresses among them, which nothing else
/// shows to be right.
pub(super) fn sum(words: &[u64; 6]) -> u32 {
    let sum =
        words.iter().fold(1u64, |sum, word| (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    (sum >> 32) as u32
}
