//! Pieces that lie in slots of a pool. Of one that a receiver waits for, several lines speak, one after the other: it
//! copies one part while the next one is written.

use super::beside::fetch_first;
use super::crossing::counts;
use super::headers::words;
use super::kept::SlotPart;
use super::receive::{Destination, Incoming};
use super::send::{Piece, PieceOrder, demoted, offset_in_line};
use super::{Engine, kind};
use crate::copy::demote;
use crate::costs::Fill;
use crate::fills::TimedFill;
use crate::landing::Landing;
use crate::pool::{Pool, Pooled, Receiver, SLOT, Stretch};
use crate::ring::{Area, INLINE, LINE, PieceHeader, PieceWriter};
use crate::segment::BLOCK;
use std::ops::Range;

/// The most bytes of a message that answers one of whose slot one line speaks. A choice. (By turns of blocks in one run
/// on an EPYC, in one part, and with the first 2 kB apart, us: 8 kB to and fro .713 and .690, but 1.84 and 1.93 while a
/// line takes 200 ns.)
pub(super) const WHOLE_ANSWER: usize = 8 * 1024;
/// Bytes of the first parts of a longer one's first piece; each other part has as many as a slot: its receiver copies
/// one while the next one is written. Choices. (By turns of blocks in one run on an EPYC, in parts of 8 kB, with 4 kB
/// apart, and so, us: 12 kB to and fro 1.07, .98 and .99, and 2.43, 2.41 and 2.47 while a line takes 200 ns; 16 kB
/// 1.32, 1.25 and 1.22, 2.96, 2.89 and 2.97. In parts of 2, 6 and 16 kB, and so: 24 kB 1.50 and 1.44, 32 kB 1.76 and
/// 1.68; 48 and 64 kB, and all of them while a line takes 200 ns, take as long. In a stream, parts gain nothing: 64 kB
/// 2.14, and 2.21 with a first slot in two of 8 kB.)
const FIRST_PARTS: [usize; 3] = [2 * 1024, 6 * 1024, 12 * 1024];
/// Bytes of a part of other pieces: nobody waits for the first one. A choice. (In the same way, in parts of 16 kB, so,
/// and in whole blocks: 128 kB 5.14, 5.19 and 5.76; 256 kB 9.98, 9.90 and 10.5; 400 kB 17.8, 17.1 and 17.6; 512 kB
/// 23.1, 22.2 and 22.5; 1 MB 44.3, 43.0 and 42.6; while a line takes 200 ns, all as long.)
const OTHER_PART: usize = 2 * SLOT;
/// The most parts of a block.
const PARTS: u32 = 6;
const _: () = {
    let [first, second, third] = FIRST_PARTS;
    let others = PARTS as usize - FIRST_PARTS.len();
    assert!(first + second + third + others * SLOT >= BLOCK && PARTS as usize * OTHER_PART >= BLOCK);
};

impl Piece<'_> {
    /// Which bytes of the message are the next piece where it has so much room; it starts with a line of the data, as
    /// its room does. Where the receiver's data lies alike, both copies are fast: see `copy::is_aliased`.
    #[inline]
    fn range(&self, room: usize) -> Range<usize> {
        let (from, end) = (self.from, self.from + self.left);
        if self.left <= room {
            from..end
        } else if self.order == PieceOrder::Downwards {
            let last = end - room;
            last + offset_in_line(self.buffer, last).wrapping_neg() % LINE..end
        } else {
            from..from + room - offset_in_line(self.buffer, from)
        }
    }

    /// Writes it into slots of the pool, when there are some; which bytes of the message it has. `has_read`: as in
    /// `Outgoing`.
    #[inline]
    pub(super) fn put_pooled(
        &self,
        producer: &mut PieceWriter<Area>,
        pool: &mut Pool,
        to: usize,
        has_read: u64,
    ) -> Option<Range<usize>> {
        let opens_answer = self.receiver == Receiver::Waits && self.header.kind() == kind::EAGER;
        let is_parted = self.receiver == Receiver::Waits && self.left > WHOLE_ANSWER;
        if !producer.fits_lines(if is_parted { PARTS } else { 1 }) {
            return None;
        }
        let backwards = self.order != PieceOrder::AsRead;
        let message = Pooled { bytes: self.buffer.bytes, backwards, receiver: self.receiver };
        let mut filling = pool.open(to, self.left, message)?;
        let range = self.range(filling.room());
        let fill = match self.buffer.layout {
            None => pool.choose_fill(&filling, to, range.len(), self.buffer.bytes),
            Some(_) => TimedFill::untimed(Fill::default()),
        };
        let demoted = if opens_answer { demoted(self.left) } else { 0 };
        let (mut from, mut header) = (range.start, self.header.of_kind(self.header.kind() | kind::POOLED));
        let mut first_parts = FIRST_PARTS.into_iter();
        while from < range.end {
            // The line that will speak of the part is fetched while it is written.
            producer.fetch();
            let part = match (is_parted, opens_answer) {
                (true, true) => first_parts.next().unwrap_or(SLOT),
                (true, false) => OTHER_PART,
                (false, _) => range.len(),
            };
            // A block has room for one line more than its slots, which is no part of its own.
            let left = range.end - from;
            let end = if left <= part + LINE { range.end } else { from + part };
            let at = filling.next(end - from, |room| {
                fill.write(pool.costs(), room.len(), || {
                    self.buffer.read_by(fill.fill.copy(), from, room);
                });
                demote(&room[..room.len().min(demoted)]);
            });
            let more = has_read << 1 | u64::from(end < range.end);
            let [length, place, at] = [end - from, from, at].map(|word| word as u64);
            producer.put_words(header, &[filling.word(), length, place, at, more, fill.word()]);
            // Of what was announced, each line says how much is left.
            header = match self.header.kind() {
                kind::DATA => header.shorter(length as u32),
                _ => header.of_kind(kind::MORE | kind::POOLED),
            };
            from = end;
        }
        if self.receiver == Receiver::IsBehind {
            pool.fetch_turn(to, range.len());
        }
        Some(range)
    }
}

impl Engine<'_> {
    /// How a piece was filled, as its line says.
    #[inline]
    pub(super) fn fill_of(&self, from: usize, word: u64) -> TimedFill {
        let fill = TimedFill::of(word);
        // What that costs on this cpu says nothing of other ones.
        if self.pool.is_on_this_cpu(from) { TimedFill::untimed(fill.fill) } else { fill }
    }

    /// A piece whose data lies in slots of a pool, and what follows it in its message; whether anything did.
    pub(super) fn take_pooled(&mut self, from: usize, mut header: PieceHeader) -> bool {
        header = header.of_kind(header.kind() & !kind::POOLED);
        let words = words(self.piece(from, INLINE));
        if words[1] > self.left(from, header) as u64 {
            self.corrupt(from, "a piece of more bytes than its message");
        }
        let fits = |stretch: &Stretch| {
            words[1].checked_add(words[3]).is_some_and(|end| end <= stretch.bytes() as u64)
        };
        let Some(stretch) = self.pool.arrived(from, words[0]).filter(fits) else {
            self.corrupt(from, "a piece that lies nowhere")
        };
        let (at, more, fill) = (words[3] as usize, words[4] & 1 != 0, self.fill_of(from, words[5]));
        if header.kind() == kind::EAGER && counts(header.length() as usize) {
            self.note_message(from, header.length() as usize, words[4] >> 1);
        }
        // SAFETY: the piece is dealt with before its slots are kept, or is held.
        let piece = unsafe { self.pool.piece(&stretch, from, at, words[1] as usize) };
        fetch_first(piece);
        let mut part = Some(SlotPart { stretch, at, more, fill });
        if more {
            // The line of the next part comes meanwhile.
            self.incoming[from].consumer.fetch_next();
        }
        fill.read(self.pool.costs(), piece.len(), || {
            self.take_data(from, header, words[2], piece, &mut part);
            part.is_some()
        });
        self.consumed(from, INLINE);
        part.is_some_and(|part| self.take_further(from, part.stretch, words))
    }

    /// Keeps slots that were read.
    #[inline]
    fn keep_slots(&mut self, from: usize, stretch: &Stretch) {
        if self.pool.keep(from, stretch) {
            self.wake_for_room(from);
        }
    }

    /// Takes what follows a piece in the same message, as far as it is there, and keeps the slots that are read;
    /// whether anything did. Its line said these words. What is not just the next piece of a message that has its
    /// receive is left to the usual way. (By turns of blocks in one run on an EPYC, only parts of the same slot, and
    /// all, us: 64 kB to and fro 3.25 and 3.25, 256 kB 11.23 and 11.09; 7.40 and 7.33, 21.9 and 21.9 while a line takes
    /// 200 ns. With what `consumed` and `more_of_receive` do beside, 12 kB take 1.2 % longer, 256 kB .4 %.)
    fn take_further(&mut self, from: usize, mut stretch: Stretch, mut before: [u64; 6]) -> bool {
        let mut any = false;
        while let Destination::Transfer(receive) = self.incoming[from].target
            && let Some(header) = self.incoming[from].consumer.peek()
            && header.kind() == kind::MORE | kind::POOLED
        {
            let words = words(self.piece(from, INLINE));
            let [slot, bytes, place, at, _, fill] = words;
            let Incoming { bytes: all, got, .. } = self.incoming[from];
            let is_part = before[4] & 1 != 0;
            if is_part && [slot, at] != [before[0], before[3] + before[1]] || TimedFill::of(fill).is_timed() {
                break;
            }
            let other = if is_part { None } else { self.pool.arrived(from, slot) };
            let room =
                if is_part { stretch.bytes() } else { other.as_ref().map_or(0, Stretch::bytes) } as u64;
            let fits_message = bytes <= (all - got) as u64 && place <= all as u64 - bytes;
            if !fits_message || at > room || bytes > room - at {
                break;
            }
            if let Some(other) = other {
                self.keep_slots(from, &std::mem::replace(&mut stretch, other));
            }
            // SAFETY: the piece is dealt with before its slots are kept.
            let piece = unsafe { self.pool.piece(&stretch, from, at as usize, bytes as usize) };
            fetch_first(piece);
            let (incoming, transfer) = (&mut self.incoming[from], self.transfers.at(receive));
            incoming.write(&transfer.buffer, place as usize, piece, Landing::InCaches);
            transfer.moved += piece.len();
            incoming.came(place as usize, piece.len());
            if incoming.target == Destination::Nothing {
                self.here(from, receive);
                self.midway = None;
            }
            // What its sender should hear of credit has not changed since the first piece.
            if self.incoming[from].consumer.consume(INLINE) {
                self.told(from);
            }
            (before, any) = (words, true);
        }
        if before[4] & 1 == 0 {
            self.keep_slots(from, &stretch);
        }
        any
    }
}
