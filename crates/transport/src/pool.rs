//! Memory in the segment for pieces of messages that are too large for the rings: one line of a ring says where.
//!
//! Each rank has a pool of slots. **A slot goes with its piece**: who has read a piece keeps its slot for what it sends
//! back to the same rank. The lines that it has just read lie in its own cache, and nothing has to be fetched to write
//! them. Programs send back what they received, or swap borders, so that a few slots go to and fro. Between two cpus of
//! an EPYC, 256 kB that go back in the slots that they came in take 3.7 us, and 4.6 us through slots of the sender that
//! have their turn one after the other (7.6 and 19.7 us while the cpus share no cache).
//!
//! When a rank is sent more than it sends back, it gives slots home: it sets the slot's flag at the start of the pool.

use crate::costs::Costs;
use crate::fills::{Fills, TimedFill};
use crate::segment::Segment;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bytes of a slot, the most of a piece.
pub(crate) const SLOT: usize = 16 * 1024;
/// Slots of a block. They get their memory together, because the kernel maps pages that are there in such blocks for
/// the other rank, too; and own slots have their turn block by block.
const TOGETHER: usize = 64 * 1024 / SLOT;
/// The block that has its turn next is so many further on, by the first of these that lets all have their turn. (On an
/// EPYC, half of all streams of 16 to 64 kB took three times as long with blocks side by side, and one in ten with
/// these. Why is not known: while a stream is slow, it is the sender's copies that are.)
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
/// Own slots that are looked at for one that has come home.
const LOOKED_AT: usize = 8;
/// The flags take the first slot.
const FLAGS: usize = SLOT;
/// No rank has it.
const HERE: u16 = u16::MAX;

/// A slot that one of two ranks has; they alone send pieces in it until it is home.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// It is of this rank's own pool; otherwise, of the other's.
    own: bool,
    number: u16,
}

impl Slot {
    /// How the line says it to the other rank.
    #[inline]
    fn word(self) -> u64 {
        u64::from(self.number) << 1 | u64::from(self.own)
    }
}

/// A slot that this rank has and fills for another one, part by part. What was filled is left alone: a line may speak
/// of it, and the other rank read it, while the next part is written.
pub(crate) struct Filling {
    start: *mut u8,
    word: u64,
    /// The slot came with a piece of the other rank.
    is_returned: bool,
    /// So many bytes are filled, of so many.
    at: usize,
    bytes: usize,
}

impl Filling {
    /// How lines speak of the slot.
    #[inline]
    pub(crate) fn word(&self) -> u64 {
        self.word
    }

    /// Fills the next part, of so many bytes or what is left; from which byte on it is, and its end.
    #[inline]
    pub(crate) fn next(&mut self, most: usize, fill: impl FnOnce(&mut [u8])) -> (usize, usize) {
        let (at, bytes) = (self.at, most.min(self.bytes - self.at));
        self.at += bytes;
        // SAFETY: inside the slot, which this rank had when it was opened: the other one has read what was there, and
        // touches this part only when a line speaks of it. No part is handed out twice.
        fill(unsafe { std::slice::from_raw_parts_mut(self.start.add(at), bytes) });
        (at, at + bytes)
    }
}

/// The slots in which a rank's pieces came, as far as they are kept.
#[derive(Default)]
struct Kept {
    /// The oldest first.
    slots: VecDeque<Slot>,
    /// How many of the last ones came since this rank last sent.
    new: usize,
    /// This rank sent last.
    sent: bool,
    /// So many more hold messages that no receive has yet.
    held: usize,
}

impl Kept {
    fn push(&mut self, slot: Slot) {
        self.new = if self.sent { 1 } else { self.new + 1 };
        self.sent = false;
        self.slots.push_back(slot);
    }

    /// The newest.
    fn take_newest(&mut self) -> Option<Slot> {
        self.sent = true;
        self.new = self.new.saturating_sub(1);
        self.slots.pop_back()
    }

    /// The first of those that came since this rank last sent: it sends in the order in which it read, and what an
    /// earlier message left is no longer in its cache. Without any, the newest.
    fn take(&mut self) -> Option<Slot> {
        self.sent = true;
        self.new = self.new.min(self.slots.len());
        let slot = self.slots.remove(self.slots.len().wrapping_sub(self.new.max(1)))?;
        self.new = self.new.saturating_sub(1);
        Some(slot)
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
    /// How this rank fills slots.
    fills: Fills,
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
            next: 0,
            lap: 0,
            stride: STRIDES.into_iter().find(|&stride| !far_blocks.is_multiple_of(stride)).unwrap_or(1),
            near,
            next_near: near,
            has_memory: vec![false; blocks],
            kept: (0..ranks).map(|_| Kept::default()).collect(),
            most_kept: part(KEPT),
            most_held: part(HELD),
            shares_cpu,
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

    /// How a slot is filled that was opened for a piece for a rank, of a contiguous message of `data` bytes. What goes
    /// to a rank on this cpu is best left in the cpu's caches.
    #[inline]
    pub(crate) fn choose_fill(&mut self, filling: &Filling, to: usize, data: usize) -> TimedFill {
        let costs = &self.segment().header().costs;
        if self.is_on_this_cpu(to) {
            return TimedFill::through_caches(filling.is_returned);
        }
        self.fills.choose(filling.is_returned, data, filling.bytes, costs)
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

    /// Where a slot starts.
    #[inline]
    fn start(&self, slot: &Slot, other: usize) -> *mut u8 {
        let number = usize::from(slot.number);
        assert!((FLAGS / SLOT..self.slots).contains(&number));
        // SAFETY: inside the pool.
        unsafe { self.segment().pool(if slot.own { self.rank } else { other }).add(number * SLOT) }
    }

    /// A slot for a piece of so many bytes for a rank: one that is kept of that rank, or else one of this rank's own.
    /// Nothing when there is none. `backwards`: what was read last is sent first.
    #[inline]
    pub(crate) fn open(&mut self, to: usize, bytes: usize, backwards: bool) -> Option<Filling> {
        assert!(bytes <= SLOT);
        let kept = &mut self.kept[to];
        let slot = if backwards { kept.take_newest() } else { kept.take() };
        let is_returned = slot.is_some();
        let slot = slot.or_else(|| self.lend(to, bytes))?;
        Some(Filling { start: self.start(&slot, to), word: slot.word(), is_returned, at: 0, bytes })
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
        let (number, blocks) = (self.next, self.near / TOGETHER);
        let is_last = (number + 1).is_multiple_of(TOGETHER);
        self.next = if is_last { (number / TOGETHER + self.stride) % blocks * TOGETHER } else { number + 1 };
        // The first slot holds the flags.
        if number < FLAGS / SLOT { self.turn() } else { number }
    }

    /// The next own slot in turn that is here, for so many bytes.
    fn lend(&mut self, to: usize, bytes: usize) -> Option<Slot> {
        // A rank may have come to this cpu, or have left it, with slots that it gives home.
        let number = if self.is_on_this_cpu(to) {
            self.find_near().or_else(|| self.find(bytes))?
        } else {
            self.find(bytes).or_else(|| self.find_near())?
        };
        if !self.has_memory[number / TOGETHER] {
            self.get_memory(number / TOGETHER);
        }
        self.lent[number] = to as u16;
        self.lent_to[to] += 1;
        Some(Slot { own: true, number: number as u16 })
    }

    /// The next slot that is here of those for other cpus, for so many bytes.
    fn find(&mut self, bytes: usize) -> Option<usize> {
        let mut looks = LOOKED_AT;
        if self.lap >= self.near * SLOT / LAP {
            // The first ones may be those that another rank keeps.
            (self.next, self.lap, looks) = (0, 0, self.near);
        }
        for _ in 0..looks {
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
        let home = self.home(self.rank, number as u16);
        // The other rank has read what was there before it said so.
        if self.lent[number] != HERE && home.load(Ordering::Acquire) != 0 {
            home.store(0, Ordering::Relaxed);
            self.came_home(number);
        }
        self.lent[number] == HERE
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
        if cfg!(miri) {
            return; // It does not know the advice.
        }
        let bytes = TOGETHER * SLOT;
        // SAFETY: inside the pool. Advice that is refused changes nothing.
        unsafe {
            let start = self.segment().pool(self.rank).add(block * bytes);
            libc::madvise(start.cast(), bytes, libc::MADV_POPULATE_WRITE)
        };
    }

    /// The slot that a line from a rank speaks of; nothing when that rank can't have had it.
    #[inline]
    pub(crate) fn arrived(&self, from: usize, word: u64) -> Option<Slot> {
        let number =
            usize::try_from(word >> 1).ok().filter(|number| (FLAGS / SLOT..self.slots).contains(number))?;
        let own = word & 1 == 0;
        (!own || self.lent[number] as usize == from).then_some(Slot { own, number: number as u16 })
    }

    /// The piece in a slot that arrived, from a byte of the slot on.
    ///
    /// # Safety
    /// The slice is gone before `keep`.
    #[inline]
    pub(crate) unsafe fn piece<'a>(&self, slot: &Slot, from: usize, at: usize, bytes: usize) -> &'a [u8] {
        assert!(at <= SLOT && bytes <= SLOT - at);
        // SAFETY: inside the slot; the sender leaves this part of it alone until it gets the slot back.
        unsafe { std::slice::from_raw_parts(self.start(slot, from).add(at), bytes) }
    }

    /// Whether a message of so many bytes can be left in the slots that it comes in until a receive has it.
    #[inline]
    pub(crate) fn can_hold(&self, from: usize, bytes: usize) -> bool {
        self.kept[from].held + bytes.div_ceil(SLOT) <= self.most_held
    }

    /// Leaves a piece in its slot; false: too many are left so.
    #[inline]
    pub(crate) fn hold(&mut self, from: usize) -> bool {
        let can_hold = self.can_hold(from, SLOT);
        self.kept[from].held += usize::from(can_hold);
        can_hold
    }

    /// Keeps the slot of a piece that was left in it, and was read now. True when the sender got a slot back for it.
    pub(crate) fn keep_held(&mut self, from: usize, slot: Slot) -> bool {
        self.kept[from].held -= 1;
        self.keep(from, slot)
    }

    /// Keeps the slot of a piece that was read. True when the sender got a slot back for it.
    #[inline]
    pub(crate) fn keep(&mut self, from: usize, slot: Slot) -> bool {
        let kept = &mut self.kept[from];
        kept.push(slot);
        if kept.slots.len() <= self.most_kept {
            return false;
        }
        match kept.slots.pop_front() {
            Some(Slot { own: true, number }) => {
                self.came_home(usize::from(number));
                false
            }
            Some(Slot { own: false, number }) => {
                self.home(from, number).store(1, Ordering::Release);
                true
            }
            None => false,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::copy::can_copy_past;
    use crate::costs::{Fill, Sort};
    use std::collections::BTreeSet;

    /// The pools of a job's ranks.
    fn pools(ranks: usize) -> Vec<Pool> {
        let segment = Segment::private(ranks, 2).unwrap();
        (0..ranks).map(|rank| Pool::new(segment, rank, false)).collect()
    }

    /// Sends a piece of so many bytes of one value; what the line says.
    fn send(pool: &mut Pool, to: usize, bytes: usize, value: u8) -> Option<u64> {
        let mut filling = pool.open(to, bytes, false)?;
        assert_eq!(filling.next(SLOT, |piece| piece.fill(value)), (0, bytes));
        Some(filling.word())
    }

    /// Reads a piece, and keeps its slot.
    fn receive(pool: &mut Pool, from: usize, word: u64, bytes: usize, value: u8) {
        let slot = pool.arrived(from, word).expect("a slot that was lent");
        // SAFETY: read before the slot is kept.
        assert!(unsafe { pool.piece(&slot, from, 0, bytes) }.iter().all(|&byte| byte == value));
        pool.keep(from, slot);
    }

    #[test]
    fn answers_go_back_in_the_slots_that_they_came_in_and_in_their_order() {
        let mut pools = pools(2);
        let [first, second] = &mut pools[..] else { panic!("two ranks") };
        let sent: Vec<u64> = (0..3).map(|value| send(first, 1, SLOT, value).unwrap()).collect();
        (0..3).for_each(|value| receive(second, 0, sent[value as usize], SLOT, value));
        let back: Vec<u64> = (5..8).map(|value| send(second, 0, 700, value).unwrap()).collect();
        // The last bit says whose pool it is, as the sender sees it.
        assert_eq!(back, sent.iter().map(|word| word - 1).collect::<Vec<_>>());
        (5..8).for_each(|value| receive(first, 1, back[value as usize - 5], 700, value));
        // Of a shorter message, the slots that were read last go on.
        assert_eq!(send(first, 1, 1, 0), Some(sent[0]));
        receive(second, 0, sent[0], 1, 0);
        assert_eq!(send(second, 0, 1, 0), Some(back[0]));
    }

    #[test]
    fn a_rank_that_never_answers_gives_slots_home_and_the_sender_does_not_run_out() {
        let mut pools = pools(2);
        let [first, second] = &mut pools[..] else { panic!("two ranks") };
        for number in 0..1000 {
            let word = send(first, 1, 9, number as u8).expect("a slot");
            receive(second, 0, word, 9, number as u8);
        }
        assert_eq!(second.kept[0].slots.len(), second.most_kept);
    }

    #[test]
    fn no_slot_will_come_where_each_rank_has_it_in_messages_that_no_receive_has() {
        let mut pools = pools(2);
        let [first, second] = &mut pools[..] else { panic!("two ranks") };
        let hold = |pool: &mut Pool, from: usize, word: u64| {
            assert!(pool.arrived(from, word).is_some() && pool.hold(from));
        };
        (0..second.most_held).for_each(|_| hold(second, 0, send(first, 1, 9, 0).unwrap()));
        let answered: Vec<u64> = (0..first.most_held).map(|_| send(first, 1, 9, 0).unwrap()).collect();
        answered.into_iter().for_each(|word| receive(second, 0, word, 9, 0));
        (0..first.most_held).for_each(|_| hold(first, 1, send(second, 0, 9, 0).unwrap()));
        let on_the_way: Vec<u64> = std::iter::from_fn(|| send(first, 1, 9, 0)).collect();
        on_the_way.into_iter().for_each(|word| receive(second, 0, word, 9, 0));
        assert!(send(first, 1, 9, 0).is_none() && !first.will_come_from(1));
    }

    #[test]
    fn what_goes_backwards_takes_the_slots_that_were_read_last_first() {
        let mut pools = pools(2);
        let [first, second] = &mut pools[..] else { panic!("two ranks") };
        let sent: Vec<u64> = (0..3).map(|value| send(first, 1, SLOT, value).unwrap()).collect();
        (0..3).for_each(|value| receive(second, 0, sent[value as usize], SLOT, value));
        let mut open = |backwards| second.open(0, SLOT, backwards).expect("a slot").word() + 1;
        assert_eq!([open(true), open(false), open(true)], [sent[2], sent[0], sent[1]]);
    }

    #[test]
    fn own_slots_have_their_turn_again_after_half_of_the_pool_and_small_pieces_use_all() {
        for (bytes, part) in [(SLOT, LAP), (64, 1)] {
            // A rank keeps a quarter of a pool of another one.
            let mut pools = pools(3);
            let [first, second, _] = &mut pools[..] else { panic!("three ranks") };
            let mut used = BTreeSet::new();
            for number in 0..4 * first.slots {
                let word = send(first, 1, bytes, number as u8).expect("a slot");
                receive(second, 0, word, bytes, number as u8);
                used.insert(word);
            }
            // What the other rank keeps is of the first half: the second one has its turn then.
            let kept = second.most_kept;
            assert!((first.slots / part..=first.slots / part + kept).contains(&(used.len() + 1)), "{used:?}");
        }
    }

    #[test]
    fn no_slot_is_used_twice_at_a_time_whatever_goes_where() {
        [false, true].into_iter().for_each(send_and_receive_at_random);
    }

    /// `shares_cpu`: ranks move to the cpu where others are, and away.
    fn send_and_receive_at_random(shares_cpu: bool) {
        const RANKS: usize = 3;
        let segment = Segment::private(RANKS, 2).unwrap();
        let mut pools: Vec<Pool> = (0..RANKS).map(|rank| Pool::new(segment, rank, shares_cpu)).collect();
        let mut seed = 1u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        let mut on_the_way: [[VecDeque<(u64, usize, u8)>; RANKS]; RANKS] = Default::default();
        let (mut sent, mut refused) = (0, 0);
        for number in 0..if cfg!(miri) { 300 } else { 30_000 } {
            let from = random(RANKS);
            let to = (from + 1 + random(RANKS - 1)) % RANKS;
            let cpu = [u32::MAX, 1 + host::pin::this_cpu()][random(2)];
            segment.rank(to).cpu.store(cpu, Ordering::Relaxed);
            if random(100) < 55 {
                let (bytes, value) = (1 + random(64), number as u8);
                match send(&mut pools[from], to, bytes, value) {
                    Some(word) => on_the_way[from][to].push_back((word, bytes, value)),
                    None => refused += 1,
                }
                sent += 1;
            } else if let Some((word, bytes, value)) = on_the_way[from][to].pop_front() {
                receive(&mut pools[to], from, word, bytes, value);
            }
        }
        assert!(refused > 0 && refused < sent, "{refused} of {sent}: pools have to run out, and come back");
    }

    #[test]
    fn every_slot_has_its_turn_in_a_pool_of_any_size() {
        for (blocks, shares_cpu) in
            [4, 7, 21, 64, 105].into_iter().flat_map(|blocks| [false, true].map(|shares| (blocks, shares)))
        {
            let segment = Segment::private(2, 2).unwrap();
            segment.set_turnover_bytes((blocks * TOGETHER * SLOT) as u64);
            let mut pool = Pool::new(segment, 0, shares_cpu);
            assert_eq!(pool.slots, blocks * TOGETHER);
            let (far, near) = (pool.near, pool.slots - pool.near);
            assert_eq!(near > 0, shares_cpu);
            let mut turns: Vec<usize> = (1..far).map(|_| pool.turn()).collect();
            turns.extend((0..near).map(|_| pool.near_turn()));
            turns.sort_unstable();
            assert!(turns.into_iter().eq(1..pool.slots), "{blocks} blocks");
        }
    }

    #[test]
    fn a_rank_that_has_left_this_cpu_gets_the_slots_that_it_gave_home_there() {
        let segment = Segment::private(2, 2).unwrap();
        let [mut first, mut second] = [0, 1].map(|rank| Pool::new(segment, rank, true));
        for cpu in [1 + host::pin::this_cpu(), u32::MAX, 1 + host::pin::this_cpu()] {
            segment.rank(1).cpu.store(cpu, Ordering::Relaxed);
            let words: Vec<u64> = std::iter::from_fn(|| send(&mut first, 1, 9, 0)).collect();
            // All but the one with the flags, and what the other rank keeps.
            assert!(words.len() >= first.slots - 1 - second.most_kept, "{} of {}", words.len(), first.slots);
            words.into_iter().for_each(|word| receive(&mut second, 0, word, 9, 0));
        }
    }

    #[test]
    fn where_ranks_share_cpus_what_goes_to_another_cpu_is_filled_as_costs_least() {
        let segment = Segment::private(2, 2).unwrap();
        let costs = &segment.header().costs;
        for (fill, ns) in Fill::OWN.iter().zip([4000, 4000, 1000]) {
            for sort in [Sort::Pooled(*fill), Sort::ReadPooled(*fill)] {
                (0..20).for_each(|_| costs.learn(sort, SLOT, SLOT, ns));
            }
        }
        let elsewhere = if can_copy_past() { Fill::PastCaches } else { Fill::ByInstruction };
        let here = 1 + host::pin::this_cpu();
        for (shares_cpu, other, fill) in
            [(true, u32::MAX, elsewhere), (true, here, Fill::ByInstruction), (false, here, elsewhere)]
        {
            let mut pool = Pool::new(segment, 0, shares_cpu);
            segment.rank(1).cpu.store(other, Ordering::Relaxed);
            let filling = pool.open(1, SLOT, false).expect("a slot");
            assert_eq!(pool.choose_fill(&filling, 1, SLOT).fill, fill, "{shares_cpu} {other}");
        }
    }

    #[test]
    fn a_rank_that_sends_in_one_slot_twice_harms_its_own_messages_alone() {
        let mut pools = pools(2);
        let [first, second] = &mut pools[..] else { panic!("two ranks") };
        let word = send(first, 1, 1, 0).unwrap() - 1;
        for _ in 0..first.most_kept {
            let slot = first.arrived(1, word).unwrap();
            first.keep(1, slot);
        }
        // Now what was kept twice goes home twice.
        for number in 0..100 {
            let word = send(second, 0, 9, number).unwrap();
            receive(first, 1, word, 9, number);
        }
        assert_eq!((first.lent_to[1], first.arrived(1, word)), (0, None));
    }

    #[test]
    fn a_slot_that_a_rank_cannot_have_is_refused() {
        let mut pools = pools(3);
        let own = send(&mut pools[0], 1, 1, 0).unwrap();
        assert!(pools[0].arrived(1, own - 1).is_some(), "lent to this rank");
        assert_eq!(pools[0].arrived(2, own - 1), None, "lent to another rank");
        assert_eq!(pools[0].arrived(1, 2 * 7), None, "not lent");
        let slots = pools[0].slots as u64;
        assert!(pools[0].arrived(1, 2 * slots - 1).is_some());
        for word in [0, 1, 2 * slots, 2 * slots + 1, u64::MAX] {
            assert_eq!(pools[0].arrived(1, word), None, "{word}");
        }
    }
}
