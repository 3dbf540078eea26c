//! A rank's own data, which it copies in a collective in which it sends data as well.
//!
//! The copy is made piece by piece, beside the pieces that go out, but behind short messages. Where both are of the
//! same data, as in an allgather, the second copy finds it in the nearest cache; and while the lines that one copy
//! writes are on their way, the other one goes on. (Two ranks on an EPYC that fill slots, copy their own data and read
//! the other one's, by hand, us, one behind the other and so: the same data of 64 kB 4.8 and 4.2, of 1 MB 82 and 69;
//! other data 4.8 and 4.6, 84 and 78.)
//!
//! Where all data of such a collective is more than the caches hold, what lands past them leaves room for the rest.
//! Which data that is best says no copy alone, but the time from one collective to the next. First comes what is
//! received, which nobody reads before the collective is over; then, if that is shorter, both. It depends on what else
//! a rank sends, too. (Two ranks on an EPYC that share 32 MB, us, for 40 ms each, while a line takes 50 ns (n = 31) and
//! 200 ns (n = 13): all in the caches, what is received past them, both past them; gather of 4 MB 300, 301, 325, and
//! 414, 396, 422; allgather 641, 561, 697, and 659, 660, 643; alltoall 807, 703, 729, and 752, 713, 595; alltoall of 2
//! MB 207, 244, 325, and 237, 230, 254. On another one, whose caches held some 10 MB, gather of 4 MB 1,030, 910, 620.)

use super::Engine;
use super::decisions::Decisions;
use super::send::leave_out;
use crate::buffer::Buffer;
use crate::copy::{copy, copy_past_unfenced, fence_past};
use crate::costs::{CLASSES, class_of};
use crate::landing::{Landing, Origin};
use host::clock::kernel_ns;
use std::array;
use std::ops::Range;

/// What a rank sends in a collective in which it copies data of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentBeside {
    /// Nothing: it only receives, as the root of a gather.
    Nothing,
    /// The same data, as in an allgather.
    TheSame,
    /// Other data, as in an alltoall.
    Other,
}

/// In which collective a rank copies data of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BesideOwn {
    /// What it sends there.
    pub sent: SentBeside,
    /// How many ranks there are.
    pub ranks: usize,
}

impl BesideOwn {
    /// How many bytes a rank reads or writes there, where each rank has so many for each.
    fn used_bytes(self, bytes: usize) -> usize {
        let blocks = match self.sent {
            SentBeside::Nothing | SentBeside::TheSame => self.ranks + 1,
            SentBeside::Other => 2 * self.ranks,
        };
        blocks.saturating_mul(bytes)
    }
}

/// A copy that has begun.
pub(super) struct OwnCopy {
    from: Buffer,
    into: Buffer,
    /// What is left of it.
    rest: Range<usize>,
}

impl OwnCopy {
    /// Copies those bytes, where they are the next ones from the start or from the end.
    fn copy(&mut self, range: Range<usize>) {
        let range = range.start..range.end.min(self.rest.end);
        if range.is_empty() || range.start != self.rest.start && range.end != self.rest.end {
            return;
        }
        let range = range.start.max(self.rest.start)..range.end;
        // SAFETY: inside both buffers, which are apart and lent until the copy's end, as `begin_to_copy_own` was
        // promised.
        unsafe {
            copy(self.from.address.add(range.start), self.into.address.add(range.start), range.len());
        }
        leave_out(&mut self.rest, range);
    }
}

/// Where data lands in collectives in which this rank copies data of its own and has a cpu of its own.
pub(super) struct OwnLandings {
    /// Whether what is received lands past the caches; by what is sent.
    received: [Decisions; SENT],
    /// And whether own data does so then.
    own: [Decisions; SENT],
    /// The last answers for what is received, by the class of data.
    last: [[bool; CLASSES]; SENT],
}

/// What may be sent: the number of `SentBeside`s.
const SENT: usize = 3;
/// Where all ranks use more than this part of the cache that they share, what is received lands past it at first. A
/// choice: the program's other data and the pools have the rest. (See above: of 32 MB, 16 and 24.)
const PART_OF_SHARED: [usize; 2] = [2, 3];
/// Bytes of its own data that the root of a gather copies before it looks whether others have announced theirs: until
/// all have. Who hears where its data is to go fills the pool meanwhile, and then copies by the kernel, because the
/// root takes nothing. A choice. (Two ranks on an EPYC with 512 kB of private cache, gather, us, at once and so: 2 MB
/// 189 and 163, 4 MB 481 and 433; while a line takes 190 ns 263 and 219, 602 and 514.)
const PIECE: usize = 64 * 1024;
/// Turns of the other landing come so many collectives before those of `decisions`, the first ones after 32 and 56:
/// behind the turn of the other copy (`reading`), and one behind the other.
const RECEIVED_AHEAD: u32 = 32;
const OWN_AHEAD: u32 = 8;

impl Default for OwnLandings {
    fn default() -> Self {
        Self {
            received: array::from_fn(|_| Decisions::ahead_by(RECEIVED_AHEAD)),
            own: array::from_fn(|_| Decisions::ahead_by(OWN_AHEAD)),
            last: Default::default(),
        }
    }
}

impl OwnLandings {
    /// Where own data of so many bytes lands, and what is received next beside such data. `at_first`: what is received
    /// lands past the caches until it is known what is shorter.
    fn choose(&mut self, sent: SentBeside, bytes: usize, at_first: bool, now_ns: u64) -> Landing {
        let sent = sent as usize;
        let received_past = self.received[sent].answer(bytes, Ok(at_first), now_ns);
        self.last[sent][class_of(bytes)] = received_past;
        if !received_past {
            self.own[sent].leave_out(bytes);
            return Landing::InCaches;
        }
        match self.own[sent].answer(bytes, Ok(false), now_ns) {
            true => Landing::PastCaches,
            false => Landing::InCaches,
        }
    }

    /// Whether what is received beside own data of so many bytes lands past the caches.
    pub(super) fn receives_past(&self, sent: SentBeside, bytes: usize) -> bool {
        self.last[sent as usize][class_of(bytes)]
    }
}

impl Engine<'_> {
    /// Begins to copy this rank's own data to another place, beside what it sends next. `copy_own` of the same buffers
    /// is the end of it.
    ///
    /// # Safety
    /// Both buffers' memory may be used until then; nothing happens in between but sends.
    pub unsafe fn begin_to_copy_own(&mut self, from: &Buffer, into: &Buffer) {
        let bytes = from.bytes.min(into.bytes);
        if is_plain(from, into) && !self.landings.has_choice(bytes) {
            self.own_copy = Some(OwnCopy { from: from.clone(), into: into.clone(), rest: 0..bytes });
        }
    }

    /// Some bytes of data have gone out: as many of what has begun are copied.
    #[inline]
    pub(super) fn copy_beside(&mut self, range: &Range<usize>) {
        if let Some(own) = &mut self.own_copy {
            own.copy(range.clone());
        }
    }

    /// Copies this rank's own data to another place, or what is left of it.
    ///
    /// # Safety
    /// Both buffers' memory may be used now.
    pub unsafe fn copy_own(&mut self, from: &Buffer, into: &Buffer, beside: BesideOwn) {
        if let Some(own) = &mut self.own_copy {
            debug_assert!((own.from.address, own.into.address) == (from.address, into.address));
            own.copy(own.rest.start..own.rest.end);
            self.own_copy = None;
            return;
        }
        let bytes = from.bytes.min(into.bytes);
        if !is_plain(from, into) || !self.landings.has_choice(bytes) {
            // SAFETY: as the caller promised.
            return unsafe { into.copy_from(from) };
        }
        let (crowded, start_ns) = (self.crowded(), kernel_ns());
        let landing = match crowded {
            true => self.landings.choose(Origin::Own, bytes),
            false => {
                let at_first = self.fills_shared_cache(bytes, beside);
                self.own_landings.choose(beside.sent, bytes, at_first, start_ns)
            }
        };
        // What simulated ranks do must not depend on this computer's cpus.
        let is_root = beside.sent == SentBeside::Nothing && !crowded && self.afar.is_none();
        let mut copied = 0;
        while copied < bytes {
            let looks = is_root && !self.has_answered(beside.ranks - 1);
            let end = if looks { bytes.min(copied + PIECE) } else { bytes };
            // SAFETY: the bytes that both have, in a row and apart, as the caller promised.
            unsafe { land(from, into, copied..end, landing) };
            copied = end;
            if copied < bytes {
                self.progress();
            }
        }
        if landing == Landing::PastCaches {
            fence_past();
        }
        if crowded {
            self.landings.learn(Origin::Own, bytes, landing, bytes, kernel_ns() - start_ns);
        }
    }

    /// Whether so many ranks were told where the data is to go that they have announced.
    fn has_answered(&self, ranks: usize) -> bool {
        self.copying.iter().filter(|copying| copying.receives()).count() >= ranks
    }

    /// Whether such a collective uses too much of the cache that all ranks share.
    fn fills_shared_cache(&self, bytes: usize, beside: BesideOwn) -> bool {
        let segment = self.segment();
        let [part, of] = PART_OF_SHARED;
        segment.ranks().saturating_mul(beside.used_bytes(bytes)) > segment.shared_cache_bytes() / of * part
    }
}

/// Copies those bytes of one buffer to the same place in another. What lands past the caches is there after
/// `fence_past`.
///
/// # Safety
/// Both hold them, in a row and apart, and their memory may be used now.
unsafe fn land(from: &Buffer, into: &Buffer, range: Range<usize>, landing: Landing) {
    // SAFETY: as the caller promised.
    unsafe {
        let (from, into) = (from.address.add(range.start), into.address.add(range.start));
        match landing {
            Landing::InCaches => copy(from, into, range.len()),
            Landing::PastCaches => copy_past_unfenced(from, into, range.len()),
        }
    }
}

/// Both are in a row, and apart.
fn is_plain(from: &Buffer, into: &Buffer) -> bool {
    let is_apart = (from.address as usize).abs_diff(into.address as usize) >= from.bytes.min(into.bytes);
    is_apart && from.is_contiguous() && into.is_contiguous()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn own_data_is_copied_whole_whatever_goes_out_beside_it() {
        let pieces: &[&[Range<usize>]] = &[
            &[],
            &[0..400, 400..800, 800..1000],
            &[700..1000, 300..700, 0..300],
            &[0..100, 900..1000, 100..300],
            // Of a longer message, of a shorter one, and of one that went out before.
            &[0..600, 600..1200, 1200..1500],
            &[1100..1500, 600..1100, 0..600],
            &[300..500, 0..300],
            &[0..500, 500..1000, 0..500, 500..1000],
            &[0..0, 5000..6000],
        ];
        let from: Vec<u8> = (0..1000).map(|at| (at * 7 + at / 251) as u8).collect();
        for pieces in pieces {
            let mut into = vec![0u8; 1010];
            // SAFETY: both live to the end, and nobody else uses them.
            let [from_buffer, into_buffer] = unsafe {
                [Buffer::new(from.as_ptr().cast_mut(), 1000), Buffer::new(into.as_mut_ptr(), 1000)]
            };
            let mut own = OwnCopy { from: from_buffer, into: into_buffer, rest: 0..1000 };
            let mut copied = 0;
            for piece in pieces.iter() {
                let before = own.rest.len();
                own.copy(piece.clone());
                copied += before - own.rest.len();
            }
            let in_order = pieces.first().is_some_and(|first| first.start == 0 && !first.is_empty());
            assert!(copied > 0 || !in_order, "{pieces:?}");
            own.copy(own.rest.start..own.rest.end);
            assert!(into[..1000] == from && into[1000..] == [0; 10], "{pieces:?}");
        }
    }

    const BYTES: usize = 4 << 20;

    /// Of so many collectives: in how many what is received lands past the caches, and in how many own data does so,
    /// where a collective takes so long with all in the caches, with what is received past them, and with both.
    fn past(landings: &mut OwnLandings, sent: SentBeside, at_first: bool, ns: [u64; 3]) -> [usize; 2] {
        let (mut now_ns, mut past) = (0, [0; 2]);
        for _ in 0..1000 {
            let own = landings.choose(sent, BYTES, at_first, now_ns) == Landing::PastCaches;
            let received = landings.receives_past(sent, BYTES);
            assert!(received || !own);
            past[0] += usize::from(received);
            past[1] += usize::from(own);
            now_ns += ns[usize::from(received) + usize::from(own)];
        }
        past
    }

    #[test]
    fn what_lands_past_the_caches_is_what_makes_collectives_shorter_whatever_was_at_first() {
        let sent = SentBeside::Other;
        for at_first in [false, true] {
            let of = |ns| past(&mut OwnLandings::default(), sent, at_first, ns);
            let [received, own] = of([600_000, 700_000, 800_000]);
            assert!(received < 100 && own < 50, "{at_first} {received} {own}");
            let [received, own] = of([800_000, 700_000, 800_000]);
            assert!(received > 900 && own < 50, "{at_first} {received} {own}");
            let [received, own] = of([800_000, 700_000, 600_000]);
            assert!(received > 900 && own > 800, "{at_first} {received} {own}");
            // Where all take as long, it stays as it was at first.
            let [received, own] = of([700_000; 3]);
            assert!(if at_first { received > 950 } else { received < 50 } && own < 50, "{received} {own}");
        }
    }

    #[test]
    fn what_is_known_of_one_collective_and_size_says_nothing_of_another() {
        let mut landings = OwnLandings::default();
        assert!(past(&mut landings, SentBeside::Other, false, [800_000, 700_000, 600_000])[1] > 800);
        for sent in [SentBeside::Nothing, SentBeside::TheSame] {
            assert_eq!(landings.choose(sent, BYTES, false, 0), Landing::InCaches);
            assert!(!landings.receives_past(sent, BYTES));
        }
        assert!(landings.receives_past(SentBeside::Other, BYTES));
        assert!(!landings.receives_past(SentBeside::Other, BYTES / 2));
    }

    #[test]
    fn what_a_rank_uses_counts_each_block_that_it_reads_or_writes() {
        for (sent, ranks, blocks) in [
            (SentBeside::Nothing, 2, 3),
            (SentBeside::TheSame, 2, 3),
            (SentBeside::Other, 2, 4),
            (SentBeside::TheSame, 4, 5),
            (SentBeside::Other, 4, 8),
        ] {
            assert_eq!(BesideOwn { sent, ranks }.used_bytes(1000), 1000 * blocks, "{sent:?} {ranks}");
        }
        assert_eq!(BesideOwn { sent: SentBeside::Other, ranks: 2 }.used_bytes(usize::MAX), usize::MAX);
    }
}
