//! Memory in the segment for pieces of messages that are too large for the rings: one line of a ring says where.
//!
//! Each rank has a pool of slots. **A slot goes with its piece**: who has read a piece keeps its slot for what it sends
//! back to the same rank. The lines that it has just read lie in its own cache, and nothing has to be fetched to write
//! them. Programs send back what they received, or swap borders, so that a few slots go to and fro. Between two cpus of
//! an EPYC, 256 kB that go back in the slots that they came in take 3.7 us, and 4.6 us through slots of the sender that
//! have their turn one after the other (7.6 and 19.7 us while the cpus share no cache).
//!
//! When a rank is sent more than it sends back, it gives slots home: it sets the slot's flag at the start of the pool.
//!
//! Pieces of large messages take a block of neighbouring slots each, so that there are fewer of them. A block stays
//! whole on its way to and fro, as long as there are slots for smaller pieces.

use crate::copy::{fetch_to_read, fetch_to_write};
use crate::costs::Costs;
use crate::fills::{Fills, TimedFill};
use crate::ring::LINE;
use crate::segment::{BLOCK, BLOCK_STRIDE, Segment};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bytes of a slot, the most of a piece of a small message.
pub(crate) const SLOT: usize = 16 * 1024;
/// Slots of a block. They get their memory together, because the kernel maps pages that are there in such blocks for
/// the other rank, too; and own slots have their turn block by block.
const TOGETHER: usize = BLOCK / SLOT;
const _: () = assert!(TOGETHER == 4, "two bits of a line's word say how many");
/// The most bytes of a piece in a block: one line more, which lies behind the slots. Pieces start and end with lines of
/// the data. So a message that does not start with a line has no short last piece.
const BLOCK_ROOM: usize = BLOCK + LINE;
/// What no slot holds goes to other cpus in a block, where a pool lets others keep one. Where both ranks send at the
/// same time, no receiver waits for a first piece, and in fewer pieces each rank reads for longer at a time. (By hand
/// on an EPYC, alltoall between two ranks in pieces of 16, 32 and 64 kB, us: 64 kB 5.0, 4.7 and 4.6, 256 kB 25.9, 22.6
/// and 21.0; 9.6, 8.5 and 8.1, and 34.6, 31.7 and 30.6 while a line takes 200 ns. Exchanges of two messages each way
/// of 32 kB, in slots and in blocks, 3.5 and 3.2; 8.1 and 6.2 while a line takes 220 ns.) Where a receiver waits, it
/// copies one part of a block while the next one is written, and between parts there is less to do than between slots.
/// (By turns of blocks in one run on an EPYC, us to and fro, in slots and so: 20 kB 1.36 and 1.35, 32 kB 1.87 and
/// 1.81, 64 kB 3.13 and 2.94, 128 kB 5.42 and 5.19, 256 kB 10.6 and 9.90; 3.27 and 3.20, 4.12 and 4.00, 6.94 and 6.59,
/// 12.9 and 12.1, 23.0 and 22.2 while a line takes 200 ns.)
const IN_BLOCKS_FROM: usize = SLOT + 1;
/// The same of what a receiver waits for, where ranks share cpus, as another one may have its cpu, or where no block
/// may hold a message that comes early. A choice. (Once around from rank to rank on 2 cpus of an EPYC, us, in slots
/// and in blocks: 4 ranks, 64 kB 23.7 and 24.2, 33 and 38 while a line takes 200 ns; 8 ranks 66 and 69, 93 and 109.)
const IN_BLOCKS_FROM_CROWDED: usize = 512 * 1024;
/// The same where the receiver still reads what came before: nobody waits for a first piece. (Streams on an EPYC in
/// slots and in blocks, us: 32 kB .93 and 1.13, 64 kB 1.90 and 2.04, 128 kB 3.71 and 3.40, 256 kB 7.27 and 6.58; 128 kB
/// 9.8 and 9.2, 256 kB 16.1 and 16.0 while a line takes 220 ns.)
const BEHIND_IN_BLOCKS_FROM: usize = 128 * 1024;
/// The block that has its turn next is so many further on, by the first of these that lets all have their turn. (On an
/// EPYC, half of all streams of 16 to 64 kB took three times as long with blocks side by side, and one in ten with
/// these. Who reads a slot to its end makes its cpu fetch lines behind it, too, and takes them from the rank that fills
/// the next slot: in exchanges of 256 kB while a line takes 200 ns, one of ten slots behind another one took 1.0 to 1.9
/// us to fill, of the first slots of blocks one of a hundred, and all others took 0.3.)
const STRIDES: [usize; 4] = [7, 5, 3, 1];
/// The part of its pool that a rank lets others keep for their answers: one of so many. A choice: with half of it, a
/// megabyte goes to and fro in the same slots, and a stream still turns the other half over. (On an EPYC with 512 kB of
/// second cache, 1 MB both ways at a time takes 82 us, and 95 with a quarter; streams of 4 kB to 1 MB take as long.)
const KEPT: usize = 2;
/// The part of its pool in which messages may lie that other ranks have no receives for yet: one of so many. It is
/// apart from what they keep for their answers: a sender that waits for a slot gets one. A choice.
const HELD: usize = 3;
/// After so many bytes, a part of the pool, own slots have their turn from the first one on again: what was written a
/// lap ago has left the private caches of both ranks, and more would drive other data from the cache that they share.
/// Small pieces use all slots. (4 MB of buffers that nobody rewrites go in 202 us through 4 MB, in 172 through 2 MB, on
/// an EPYC with 1 MB of second cache; streams of 16 kB and more take as long, and of 4 kB .16 us through 256 slots and
/// .35 through 128.)
const LAP: usize = 2;
/// The part of its own slots that a rank which shares its cpu sends to ranks there: one of so many. Their lines stay in
/// the cpu's caches; lines of other slots have to be fetched from those of another cpu. A choice. (4 ranks on 2 cpus of
/// an EPYC while a line takes 200 ns, us: scatter of 16 kB 4.9, and 9.3 when all slots have one turn; bcast 4.4, 8.7.)
const NEAR: usize = 4;
/// The most bytes of a small piece, whose slot is fetched before it is filled, and before it is read: the cpu itself
/// reads ahead only where more lines follow one another. A choice. (Streams of 1 kB on an EPYC, us, without it, before
/// slots are filled, before they are read, and both: .25, .25, .24 and .25; .53, .49, .56 and .44 while a line takes
/// 200 ns. With 1 kB of 4 fetched before it is filled, .83 instead of .65.)
pub(crate) const FETCHED: usize = 1024;
/// Own slots that are looked at for one that has come home.
const LOOKED_AT: usize = 8;
/// Own blocks that are looked at for one that is whole: single slots that others keep may lie in many of them.
const BLOCKS_LOOKED_AT: usize = 16;
/// The flags take the first slot.
const FLAGS: usize = SLOT;
/// No rank has it.
const HERE: u16 = u16::MAX;

/// A slot that one of two ranks has; they alone send pieces in it until it is home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    /// It is of this rank's own pool; otherwise, of the other's.
    own: bool,
    number: u16,
}

/// Neighbouring slots in which a piece lies: one, or as many as a block has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    first: Slot,
    count: usize,
}

impl Stretch {
    /// Of this rank's own pool.
    #[inline]
    fn own(number: usize, count: usize) -> Self {
        Self { first: Slot { own: true, number: number as u16 }, count }
    }

    /// How the line says it to the other rank.
    #[inline]
    fn word(&self) -> u64 {
        u64::from(self.first.number) << 3 | (self.count as u64 - 1) << 1 | u64::from(self.first.own)
    }

    /// What a line says, if there can be such slots in a pool of so many.
    #[inline]
    fn of(word: u64, slots: usize) -> Option<Self> {
        let (number, count) = (usize::try_from(word >> 3).ok()?, (word >> 1) as usize % TOGETHER + 1);
        let fits = count == 1 || count == TOGETHER && number.is_multiple_of(TOGETHER);
        let is_there = number >= FLAGS / SLOT && number < slots && fits;
        is_there.then_some(Self { first: Slot { own: word & 1 == 0, number: number as u16 }, count })
    }

    /// The most bytes that lie there.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        if self.count == 1 { SLOT } else { BLOCK_ROOM }
    }

    /// The slots, one by one.
    #[inline]
    fn each(&self) -> impl Iterator<Item = Slot> + use<> {
        let Slot { own, number } = self.first;
        (number..number + self.count as u16).map(move |number| Slot { own, number })
    }
}

/// What the receiver of a message does when its first piece comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// It waits for it.
    #[default]
    Waits,
    /// It may still read what came before: nothing has come from it since.
    IsBehind,
    /// It sends as much itself.
    Sends,
}

/// What a pool has to know of a message to find room for its pieces.
#[derive(Clone, Copy)]
pub(crate) struct Pooled {
    pub(crate) bytes: usize,
    /// What was read last is sent first.
    pub(crate) backwards: bool,
    pub(crate) receiver: Receiver,
}

/// Slots that this rank has and fills for another one, part by part. What was filled is left alone: a line may speak of
/// it, and the other rank read it, while the next part is written.
pub(crate) struct Filling {
    start: *mut u8,
    word: u64,
    /// The slots came with a piece of the other rank.
    is_returned: bool,
    /// So many bytes are filled, of at most so many.
    at: usize,
    room: usize,
}

impl Filling {
    /// How lines speak of the slots.
    #[inline]
    pub(crate) fn word(&self) -> u64 {
        self.word
    }

    /// The most bytes of the piece.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// Fills the next part, of so many bytes; from which byte on it is.
    #[inline]
    pub(crate) fn next(&mut self, bytes: usize, fill: impl FnOnce(&mut [u8])) -> usize {
        let at = self.at;
        assert!(bytes <= self.room - at);
        self.at += bytes;
        // SAFETY: inside the slots, which this rank had when they were opened: the other one has read what was there,
        // and touches this part only when a line speaks of it. No part is handed out twice.
        fill(unsafe { std::slice::from_raw_parts_mut(self.start.add(at), bytes) });
        at
    }
}

/// A slot, or a block by its first slot, that is kept.
#[derive(Clone, Copy)]
struct Came {
    first: Slot,
    /// So many slots and blocks came before it.
    number: u64,
}

/// Slots or blocks that are kept. The oldest come first.
#[derive(Default)]
struct Row {
    /// Those that came since this rank last sent, and those before.
    new: VecDeque<Came>,
    old: VecDeque<Came>,
}

impl Row {
    fn count(&self) -> usize {
        self.new.len() + self.old.len()
    }

    /// This rank has sent since the last ones came.
    #[inline]
    fn has_sent(&mut self) {
        if !self.new.is_empty() {
            self.old.append(&mut self.new);
        }
    }

    /// The newest; or else the first of those that came since this rank last sent: it sends in the order in which it
    /// read, and what an earlier message left is no longer in its cache. Without any, the newest.
    fn take(&mut self, newest: bool) -> Option<Came> {
        let new = if newest { self.new.pop_back() } else { self.new.pop_front() };
        new.or_else(|| self.old.pop_back())
    }

    /// The number of the one that came first.
    fn oldest(&self) -> Option<u64> {
        self.old.front().or_else(|| self.new.front()).map(|came| came.number)
    }

    fn take_oldest(&mut self) -> Option<Slot> {
        self.old.pop_front().or_else(|| self.new.pop_front()).map(|came| came.first)
    }
}

/// The slots in which a rank's pieces came, as far as they are kept.
#[derive(Default)]
struct Kept {
    single: Row,
    blocks: Row,
    /// So many came.
    came: u64,
    /// This rank sent last.
    sent: bool,
    /// So many more hold messages that no receive has yet.
    held: usize,
}

impl Kept {
    fn row(&mut self, is_block: bool) -> &mut Row {
        if is_block { &mut self.blocks } else { &mut self.single }
    }

    /// All slots.
    fn count(&self) -> usize {
        self.single.count() + TOGETHER * self.blocks.count()
    }

    fn push(&mut self, stretch: &Stretch) {
        if std::mem::take(&mut self.sent) {
            self.single.has_sent();
            self.blocks.has_sent();
        }
        let came = Came { first: stretch.first, number: self.came };
        self.came += 1;
        self.row(stretch.count > 1).new.push_back(came);
    }

    /// A slot or a block, as `Row::take`.
    fn take(&mut self, block: bool, newest: bool) -> Option<Stretch> {
        self.sent = true;
        let first = self.row(block).take(newest)?.first;
        Some(Stretch { first, count: if block { TOGETHER } else { 1 } })
    }

    /// The first slot of the newest block. Its other slots are kept one by one.
    fn take_apart(&mut self) -> Option<Stretch> {
        let Came { first, number } = self.blocks.take(true)?;
        let mut slots = Stretch { first, count: TOGETHER }.each();
        let first = slots.next()?;
        self.single.old.extend(slots.map(|first| Came { first, number }));
        Some(Stretch { first, count: 1 })
    }

    /// The slot or block that came first.
    fn take_oldest(&mut self) -> Option<Stretch> {
        let is_block = match (self.single.oldest(), self.blocks.oldest()) {
            (Some(single), Some(block)) => block < single,
            (single, _) => single.is_none(),
        };
        let first = self.row(is_block).take_oldest()?;
        Some(Stretch { first, count: if is_block { TOGETHER } else { 1 } })
    }
}

/// A rank's slots: of its own pool, and what it keeps of others.
#[derive(Default)]
pub(crate) struct Pool {
    segment: Option<Segment>,
    rank: usize,
    slots: usize,
    /// Which rank an own slot is lent to, and how many each rank has.
    lent: Vec<u16>,
    lent_to: Vec<usize>,
    /// Own slots whose flags were seen set, but which have not had their turn since.
    seen_home: Vec<bool>,
    /// The own slot that has its turn for other cpus, and how many blocks further on the next block is.
    next: usize,
    stride: usize,
    /// The slots from this one on are for ranks on this cpu, and the one of them that has its turn.
    near: usize,
    next_near: usize,
    /// Bytes of this lap.
    lap: usize,
    /// Which blocks of `TOGETHER` own slots have memory.
    has_memory: Vec<bool>,
    /// What is kept of each rank.
    kept: Vec<Kept>,
    /// The most that are kept of one rank, and the most more that hold messages.
    most_kept: usize,
    most_held: usize,
    /// This rank shares a cpu with others.
    shares_cpu: bool,
    /// Messages from so many bytes on, for which a receiver waits, go in blocks.
    awaited_in_blocks_from: usize,
    /// How this rank fills slots.
    fills: Fills,
}

/// After so many bytes that go one way, at most, a rank's own slots have their turn from the first one on again.
pub(crate) fn lap_bytes(segment: &Segment) -> usize {
    segment.pool_bytes() / LAP
}

impl Pool {
    /// The pools of a job, as one of its ranks uses them.
    pub(crate) fn new(segment: Segment, rank: usize, shares_cpu: bool) -> Self {
        let slots = segment.pool_bytes() / SLOT / TOGETHER * TOGETHER;
        let blocks = slots / TOGETHER;
        let ranks = segment.ranks();
        assert!(slots <= FLAGS, "a flag each");
        let far_blocks = if shares_cpu { blocks - blocks / NEAR } else { blocks };
        let near = far_blocks * TOGETHER;
        let part = |of: usize| slots / (of * (ranks - 1).max(1));
        Self {
            segment: Some(segment),
            rank,
            slots,
            lent: vec![HERE; slots],
            lent_to: vec![0; ranks],
            seen_home: vec![false; slots],
            next: 0,
            lap: 0,
            stride: STRIDES.into_iter().find(|&stride| !far_blocks.is_multiple_of(stride)).unwrap_or(1)
                % far_blocks,
            near,
            next_near: near,
            has_memory: vec![false; blocks],
            kept: (0..ranks).map(|_| Kept::default()).collect(),
            most_kept: part(KEPT),
            most_held: part(HELD),
            shares_cpu,
            awaited_in_blocks_from: if shares_cpu || part(HELD) < TOGETHER {
                IN_BLOCKS_FROM_CROWDED
            } else {
                IN_BLOCKS_FROM
            },
            fills: Fills::default(),
        }
    }

    #[inline]
    fn segment(&self) -> Segment {
        self.segment.expect("attached to a job")
    }

    /// What copies cost in the job.
    pub(crate) fn costs(&self) -> &'static Costs {
        &self.segment().header().costs
    }

    /// How slots are filled that were opened for a rank, by a piece of so many bytes of a contiguous message of `data`
    /// bytes. What goes to a rank on this cpu is best left in the cpu's caches.
    #[inline]
    pub(crate) fn choose_fill(
        &mut self,
        filling: &Filling,
        to: usize,
        bytes: usize,
        data: usize,
    ) -> TimedFill {
        let costs = &self.segment().header().costs;
        if self.is_on_this_cpu(to) {
            return TimedFill::through_caches(filling.is_returned);
        }
        self.fills.choose(filling.is_returned, data, bytes, costs)
    }

    /// The same of a page, which a contiguous message of so many bytes fills. `came`: it came with a message. Few bytes
    /// are copied by single lines.
    #[inline]
    pub(crate) fn choose_fill_of_page(&mut self, to: usize, bytes: usize, came: bool) -> TimedFill {
        if bytes <= FETCHED || self.is_on_this_cpu(to) {
            return TimedFill::through_caches(came);
        }
        self.fills.choose(came, bytes, bytes, &self.segment().header().costs)
    }

    /// Whether a rank copies on the cpu where this one does.
    #[inline]
    pub(crate) fn is_on_this_cpu(&self, rank: usize) -> bool {
        self.shares_cpu && self.segment().shares_cpu(self.rank, rank)
    }

    /// The flag that says that a slot of a rank has come home.
    #[inline]
    fn home(&self, rank: usize, number: u16) -> &'static AtomicU8 {
        assert!(usize::from(number) < self.slots);
        // SAFETY: inside the first slot of the rank's pool, which is never unmapped and holds nothing but flags.
        unsafe { &*self.segment().pool(rank).add(usize::from(number)).cast() }
    }

    /// Where slots start.
    #[inline]
    fn start(&self, stretch: &Stretch, other: usize) -> *mut u8 {
        let number = usize::from(stretch.first.number);
        assert!(number >= FLAGS / SLOT && number + stretch.count <= self.slots);
        // SAFETY: inside the pool.
        unsafe {
            let pool = self.segment().pool(if stretch.first.own { self.rank } else { other });
            pool.add(number / TOGETHER * BLOCK_STRIDE + number % TOGETHER * SLOT)
        }
    }

    /// Room for the next piece of a message to a rank, of which so many bytes are left: slots that are kept of that
    /// rank, or else some of this rank's own. Nothing when there are none.
    #[inline]
    pub(crate) fn open(&mut self, to: usize, left: usize, message: Pooled) -> Option<Filling> {
        // A shorter end needs no more slots than a block has, and goes back in what it came in: a block would go back
        // with other data, of which half its lines know nothing.
        let (from, end) = match message.receiver {
            Receiver::Waits => (self.awaited_in_blocks_from, BLOCK - SLOT),
            Receiver::IsBehind => (BEHIND_IN_BLOCKS_FROM, SLOT),
            Receiver::Sends => (IN_BLOCKS_FROM, SLOT),
        };
        let is_large = message.bytes >= from && (left > end || left == message.bytes);
        let in_block = is_large && self.most_kept >= TOGETHER && !self.is_on_this_cpu(to);
        let block = if in_block { self.open_block(to, message.backwards) } else { None };
        let (stretch, is_returned) = block.or_else(|| self.open_slot(to, left, message.backwards))?;
        Some(Filling {
            start: self.start(&stretch, to),
            word: stretch.word(),
            is_returned,
            at: 0,
            room: stretch.bytes(),
        })
    }

    /// A block, and whether it was kept.
    fn open_block(&mut self, to: usize, newest: bool) -> Option<(Stretch, bool)> {
        let kept = self.kept[to].take(true, newest).map(|block| (block, true));
        kept.or_else(|| self.lend(to, BLOCK).map(|block| (block, false)))
    }

    /// A slot, and whether it was kept. A block is taken apart when there is nothing else.
    #[inline]
    fn open_slot(&mut self, to: usize, left: usize, newest: bool) -> Option<(Stretch, bool)> {
        let kept = self.kept[to].take(false, newest).map(|slot| (slot, true));
        let own = kept.or_else(|| self.lend(to, left.min(SLOT)).map(|slot| (slot, false)));
        own.or_else(|| self.kept[to].take_apart().map(|slot| (slot, true)))
    }

    /// The own slot that has its turn for ranks on this cpu.
    #[inline]
    fn near_turn(&mut self) -> usize {
        let number = self.next_near;
        self.next_near = if number + 1 < self.slots { number + 1 } else { self.near };
        number
    }

    /// The own slot that has its turn for other cpus.
    #[inline]
    fn turn(&mut self) -> usize {
        let number = self.next;
        let is_last = (number + 1).is_multiple_of(TOGETHER);
        self.next = if is_last { self.block_after(number) } else { number + 1 };
        // The first slot holds the flags.
        if number < FLAGS / SLOT { self.turn() } else { number }
    }

    /// The first slot of the block that has its turn for other cpus. Of a block that has begun, the others lose theirs.
    #[inline]
    fn block_turn(&mut self) -> usize {
        let has_begun = !self.next.is_multiple_of(TOGETHER);
        let number = if has_begun { self.block_after(self.next) } else { self.next };
        self.next = self.block_after(number);
        number
    }

    /// Fetches the own slot that has its turn next for other cpus, where a small piece like the last one will lie.
    #[inline]
    pub(crate) fn fetch_turn(&self, to: usize, bytes: usize) {
        if bytes <= FETCHED && self.next >= FLAGS / SLOT && !self.is_on_this_cpu(to) {
            fetch_to_write(self.start(&Stretch::own(self.next, 1), to), bytes);
        }
    }

    /// Fetches a small piece that a rank sent, where a line says that it lies.
    #[inline]
    pub(crate) fn fetch_piece(&self, from: usize, word: u64, bytes: u64) {
        if bytes <= FETCHED as u64
            && let Some(stretch) = Stretch::of(word, self.slots)
        {
            fetch_to_read(self.start(&stretch, from), bytes as usize);
        }
    }

    /// The first slot of the block that has its turn after that of a slot.
    #[inline]
    fn block_after(&self, number: usize) -> usize {
        let (blocks, block) = (self.near / TOGETHER, number / TOGETHER + self.stride);
        // Less than twice as many: without a division.
        (if block < blocks { block } else { block - blocks }) * TOGETHER
    }

    /// The next own slot in turn that is here, for so many bytes; a block for more than one holds.
    fn lend(&mut self, to: usize, bytes: usize) -> Option<Stretch> {
        let (number, count) = match bytes > SLOT {
            true => (self.find_block(bytes)?, TOGETHER),
            false => (self.find_for(to, bytes)?, 1),
        };
        if !self.has_memory[number / TOGETHER] {
            self.get_memory(number / TOGETHER);
        }
        for number in number..number + count {
            self.lent[number] = to as u16;
        }
        self.lent_to[to] += count;
        Some(Stretch::own(number, count))
    }

    /// The next own slot that is here, for so many bytes for a rank.
    #[inline]
    fn find_for(&mut self, to: usize, bytes: usize) -> Option<usize> {
        // A rank may have come to this cpu, or have left it, with slots that it gives home.
        if self.is_on_this_cpu(to) {
            self.find_near().or_else(|| self.find(bytes))
        } else {
            self.find(bytes).or_else(|| self.find_near())
        }
    }

    /// The next block that is here, of slots for other cpus, for so many bytes.
    #[inline]
    fn find_block(&mut self, bytes: usize) -> Option<usize> {
        let blocks = (self.looks() / TOGETHER).max(BLOCKS_LOOKED_AT);
        let next = self.next;
        for _ in 0..blocks {
            let number = self.block_turn();
            if number >= FLAGS / SLOT && (number..number + TOGETHER).all(|number| self.is_here(number)) {
                self.lap += bytes;
                return Some(number);
            }
        }
        // Single slots are looked for in the same blocks.
        self.next = next;
        None
    }

    /// How many own slots are looked at for one that is here. When a lap is over, the first one has its turn.
    #[inline]
    fn looks(&mut self) -> usize {
        if self.lap < self.near * SLOT / LAP {
            return LOOKED_AT;
        }
        // The first ones may be those that another rank keeps.
        (self.next, self.lap) = (0, 0);
        self.near
    }

    /// The next slot that is here of those for other cpus, for so many bytes.
    fn find(&mut self, bytes: usize) -> Option<usize> {
        for _ in 0..self.looks() {
            let number = self.turn();
            if self.is_here(number) {
                self.lap += bytes;
                return Some(number);
            }
        }
        None
    }

    /// The next slot that is here of those for ranks on this cpu.
    fn find_near(&mut self) -> Option<usize> {
        for _ in 0..LOOKED_AT.min(self.slots - self.near) {
            let number = self.near_turn();
            if self.is_here(number) {
                return Some(number);
            }
        }
        None
    }

    /// Whether no rank has an own slot.
    #[inline]
    fn is_here(&mut self, number: usize) -> bool {
        if self.lent[number] == HERE {
            return true;
        }
        if !self.seen_home[number] && !self.sees_home(number) {
            return false;
        }
        self.seen_home[number] = false;
        self.came_home(number);
        true
    }

    /// Whether the flag of a slot is set. If so, all others in its line are looked at, too: another rank writes there,
    /// so the line takes long to get. (Streams on an EPYC with 512 kB of private cache while a line takes 200 ns, us,
    /// one flag at a time and so: 2 kB .62 and .57, 64 kB 5.8 and 5.3.)
    #[inline]
    fn sees_home(&mut self, number: usize) -> bool {
        // The other rank has read what was there before it said so.
        let is_set = |home: &AtomicU8| home.load(Ordering::Acquire) != 0;
        if !is_set(self.home(self.rank, number as u16)) {
            return false;
        }
        let first = number / LINE * LINE;
        for number in first..(first + LINE).min(self.slots) {
            let home = self.home(self.rank, number as u16);
            if is_set(home) {
                home.store(0, Ordering::Relaxed);
                self.seen_home[number] = true;
            }
        }
        true
    }

    fn came_home(&mut self, number: usize) {
        // A slot that a rank has sent twice may be here already.
        if let Some(slots) = self.lent_to.get_mut(usize::from(self.lent[number])) {
            *slots -= 1;
        }
        self.lent[number] = HERE;
    }

    /// Whether a slot will come from a rank that only has to read what it was sent: it has more than it keeps. What it
    /// sent here, and what this rank has no receive for yet, may lie in slots that were lent to it, too.
    #[inline]
    pub(crate) fn will_come_from(&self, rank: usize) -> bool {
        self.lent_to[rank] > self.most_kept + self.most_held + self.kept[rank].held
    }

    /// Gets memory for a slot and its neighbours, which costs less than one page at a time.
    #[cold]
    fn get_memory(&mut self, block: usize) {
        self.has_memory[block] = true;
        // SAFETY: inside the pool, which lies in the segment.
        unsafe { Segment::get_memory(self.segment().pool(self.rank).add(block * BLOCK_STRIDE), BLOCK) };
    }

    /// The slots that a line from a rank speaks of; nothing when that rank can't have had them.
    #[inline]
    pub(crate) fn arrived(&self, from: usize, word: u64) -> Option<Stretch> {
        let has_it = |slot: Slot| !slot.own || usize::from(self.lent[usize::from(slot.number)]) == from;
        Stretch::of(word, self.slots).filter(|stretch| stretch.each().all(has_it))
    }

    /// The piece in slots that arrived, from a byte on.
    ///
    /// # Safety
    /// The slice is gone before `keep`.
    #[inline]
    pub(crate) unsafe fn piece<'a>(
        &self,
        stretch: &Stretch,
        from: usize,
        at: usize,
        bytes: usize,
    ) -> &'a [u8] {
        assert!(at <= stretch.bytes() && bytes <= stretch.bytes() - at);
        // SAFETY: inside the slots; the sender leaves this part of them alone until it gets them back.
        unsafe { std::slice::from_raw_parts(self.start(stretch, from).add(at), bytes) }
    }

    /// Whether a message of so many bytes can be left in the slots that it comes in until a receive has it.
    #[inline]
    pub(crate) fn can_hold(&self, from: usize, bytes: usize) -> bool {
        self.kept[from].held + bytes.div_ceil(SLOT) <= self.most_held
    }

    /// Leaves a piece where it is; false: too many are left so.
    #[inline]
    pub(crate) fn hold(&mut self, from: usize, stretch: &Stretch) -> bool {
        let can_hold = self.can_hold(from, stretch.count * SLOT);
        self.kept[from].held += if can_hold { stretch.count } else { 0 };
        can_hold
    }

    /// What was left in slots was read, and the rest of it is still to come: who reads that keeps them.
    pub(crate) fn hold_no_more(&mut self, from: usize, stretch: &Stretch) {
        self.kept[from].held -= stretch.count;
    }

    /// Keeps the slots of a piece that was left there, and was read now. True when the sender got a slot back for it.
    pub(crate) fn keep_held(&mut self, from: usize, stretch: &Stretch) -> bool {
        self.hold_no_more(from, stretch);
        self.keep(from, stretch)
    }

    /// Keeps the slots of a piece that was read. True when the sender got some back for them.
    #[inline]
    pub(crate) fn keep(&mut self, from: usize, stretch: &Stretch) -> bool {
        self.kept[from].push(stretch);
        let mut came_back = false;
        while self.kept[from].count() > self.most_kept
            && let Some(oldest) = self.kept[from].take_oldest()
        {
            for slot in oldest.each() {
                came_back |= self.give_home(from, slot);
            }
        }
        came_back
    }

    /// True when it is the other rank's home.
    #[inline]
    fn give_home(&mut self, from: usize, slot: Slot) -> bool {
        if slot.own {
            self.came_home(usize::from(slot.number));
        } else {
            self.home(from, slot.number).store(1, Ordering::Release);
        }
        !slot.own
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
