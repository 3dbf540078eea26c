//! What ranks give each other by way of local stores, for collectives: a signal says that something was given. What was
//! given is taken in that order, so that nothing has to be matched.
//!
//! ```text
//!  giver i                                       taker j
//!  up to 1 kB    |-- put of the data ----------->| slot of i, one of two  |
//!  more: shown   |-- put of where it is shown -->|                        |
//!                |-- signal, after the put ----->| bit of i in register 1 |
//!                |<- get of what is shown -------|                        |
//!  how many are  |<- put of a flag --------------| taken                  |
//!  taken         |                               |                        |
//!  no data       |-- signal -------------------->| bit of i in register 2 |
//! ```
//!
//! Each register has two bits for a giver, which take turns. A bit that is set again before it was read is lost, so
//! nobody may be two gifts ahead. With data, the flag of the taken gifts keeps the giver back. Without data, barriers
//! do: a rank signals for the third time only after it has received the other rank's second signal, and that rank sent
//! it after it had read the first.

use super::RankProgram;
use crate::calls::{RankAnswer, RankData};
use crate::copying::{bring, realign, take_out};
use crate::places::{PIECE_BYTES, SLOT_DATA, SLOTS, STAGE_BYTES};
use sim::Address;

/// The tag group of flags and of what is fetched.
const TAKE_TAG: u32 = 5;
/// The tag group of what is brought to main memory while more is fetched.
const HOME_TAG: u32 = 6;
/// The tag groups of what is given, one for each taker: a signal goes behind the data, and behind nothing else.
const GIVE_TAG: u32 = 8;
const GIVE_TAGS: u32 = 0xffff << GIVE_TAG;
/// The two kinds of gifts, as places in lists: with data, and without.
const WITH_DATA: usize = 0;
const WITHOUT_DATA: usize = 1;
/// The register of the signals of each kind.
const REGISTERS: [u32; 2] = [1, 2];
/// Bytes at the start of a slot that say what it holds.
const HEADER: u32 = 16;

/// What a rank has given and was given.
pub(super) struct Gifts {
    /// To each rank, counted from the start: with data, and without.
    given: Vec<[u32; 2]>,
    /// From each rank.
    taken: Vec<[u32; 2]>,
    /// The signals that have come, a register each.
    signals: [u32; 2],
    /// Who has to take what is shown in each place: ranks and numbers of gifts.
    shown: [Vec<(usize, u32)>; 2],
    /// A gift that had to wait: for whom, and whether it is small.
    refused: Option<(u32, bool)>,
}

impl Gifts {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            given: vec![[0; 2]; ranks],
            taken: vec![[0; 2]; ranks],
            signals: [0; 2],
            shown: [Vec::new(), Vec::new()],
            refused: None,
        }
    }
}

/// The bit of a giver's gift in the register of its kind.
fn bit(giver: usize, gift: u32) -> u32 {
    1 << (giver as u32 + 16 * (gift % SLOTS))
}

/// The ranks of a mask.
fn ranks(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |rank| mask >> rank & 1 == 1)
}

impl RankProgram<'_, '_, '_> {
    /// Signals add up, and the words of signals never change.
    pub(super) fn start_giving(&mut self) {
        for register in REGISTERS {
            self.spe.signal_or(register, true);
        }
        for turn in 0..SLOTS {
            self.spe.write_u32(self.places.signals + turn * 16 + 12, bit(self.rank, turn));
        }
    }

    /// Whether there is room again for a gift that was refused.
    pub(super) fn may_give_again(&mut self) -> bool {
        let Some((to, small)) = self.gifts.refused else { return false };
        let may = self.may_give(to, small);
        if may {
            self.gifts.refused = None;
        }
        may
    }

    /// Whether there is a free slot at each of some ranks, and a place to show what is not small.
    fn may_give(&mut self, to: u32, small: bool) -> bool {
        self.forget_taken();
        let has_slot = |rank: usize| {
            let taken = self.spe.read_u32(self.places.given_taken(rank));
            self.gifts.given[rank][WITH_DATA].wrapping_sub(taken) < SLOTS
        };
        ranks(to).all(has_slot) && (small || self.gifts.shown.iter().any(Vec::is_empty))
    }

    /// Reads the signals that have come; true when there are any.
    fn read_signals(&mut self) -> bool {
        let mut any = false;
        for (kind, register) in REGISTERS.into_iter().enumerate() {
            self.spe.compute_cycles(self.protocol.costs.poll);
            if self.spe.signal_count(register) > 0 {
                self.gifts.signals[kind] |= self.spe.read_signal(register);
                any = true;
            }
        }
        any
    }

    /// Forgets who has taken what is shown.
    fn forget_taken(&mut self) {
        for place in 0..self.gifts.shown.len() {
            let mut shown = std::mem::take(&mut self.gifts.shown[place]);
            shown.retain(|&(rank, gift)| {
                let taken = self.spe.read_u32(self.places.given_taken(rank));
                taken.wrapping_sub(gift).cast_signed() <= 0
            });
            self.gifts.shown[place] = shown;
        }
    }

    /// Whether others that run still have to take what this rank shows.
    pub(super) fn shows(&mut self) -> bool {
        self.forget_taken();
        let board = self.protocol.board.borrow();
        self.gifts.shown.iter().flatten().any(|&(rank, _)| !board.has_ended(rank))
    }

    /// Gives data to ranks.
    pub(super) fn give(&mut self, to: u32, data: RankData, whole: u64) -> RankAnswer {
        let costs = self.protocol.costs;
        self.spe.compute_cycles(costs.call);
        if data.bytes == 0 {
            for rank in ranks(to) {
                self.spe.compute_cycles(costs.give);
                self.signal(rank, WITHOUT_DATA);
            }
            return RankAnswer::Done;
        }
        let small = data.bytes <= u64::from(SLOT_DATA);
        if !self.may_give(to, small) {
            self.gifts.refused = Some((to, small));
            return RankAnswer::NotYet;
        }
        let free = self.gifts.shown.iter().position(Vec::is_empty);
        // The last gift has left this store: its place is written to below.
        self.spe.tags_all(GIVE_TAGS);
        let bytes = data.bytes as u32;
        let at = match free {
            Some(place) if !small => self.show(place, data),
            _ => self.wrap(data),
        };
        let header = [bytes, if small { 0 } else { at }, whole as u32, (whole >> 32) as u32]
            .map(u32::to_le_bytes)
            .concat();
        self.spe.bytes_mut(self.places.gift, HEADER).copy_from_slice(&header);
        let put = if small { HEADER + bytes.next_multiple_of(16) } else { HEADER };
        for rank in ranks(to) {
            self.spe.compute_cycles(costs.give);
            let gift = self.gifts.given[rank][WITH_DATA];
            let slot = self.store_of(rank) + u64::from(self.places.slot(self.rank, gift));
            self.spe.put(self.places.gift, slot, put, GIVE_TAG + rank as u32);
            self.signal(rank, WITH_DATA);
            if let Some(place) = free.filter(|_| !small) {
                self.gifts.shown[place].push((rank, gift));
            }
        }
        RankAnswer::Done
    }

    /// Tells a rank that it was given something, once that is there.
    fn signal(&mut self, rank: usize, kind: usize) {
        let gift = self.gifts.given[rank][kind];
        self.gifts.given[rank][kind] = gift.wrapping_add(1);
        let word = self.places.signals + gift % SLOTS * 16 + 12;
        self.spe.send_signalf(word, self.protocol.spes[rank], REGISTERS[kind], GIVE_TAG + rank as u32);
        self.protocol.board.borrow_mut().changes(self.spe.now_ps());
    }

    /// Brings data to a stage; where it starts.
    fn bring_own(&mut self, data: RankData, stage: u32) -> u32 {
        let bytes = data.bytes as u32;
        let own = self.protocol.memory[self.rank];
        self.gather(data);
        let at = if data.local {
            stage
        } else {
            bring(self.spe, stage, own.data(data.misaligned, data.at), bytes)
        };
        self.protocol.callers.read(self.rank, data.at, self.spe.bytes_mut(at, bytes));
        at
    }

    /// Puts data behind the header of what is given.
    fn wrap(&mut self, data: RankData) -> u32 {
        self.settle();
        let at = self.bring_own(data, self.places.stages[0]);
        let costs = self.protocol.costs;
        if data.local {
            self.spe.compute_cycles(data.bytes.div_ceil(16) * costs.quadword);
        }
        let bytes = data.bytes as u32;
        let at = realign(self.spe, &costs, at, self.places.stages[1], 0, bytes);
        // A command could bring it here at once; it is moved by this computer, without simulated time.
        let moved = self.spe.bytes(at, bytes).to_vec();
        self.spe.bytes_mut(self.places.gift + HEADER, bytes).copy_from_slice(&moved);
        at
    }

    /// Shows data to others.
    fn show(&mut self, place: usize, data: RankData) -> u32 {
        // It may be what this rank has just taken.
        self.settle();
        self.spe.compute_cycles(self.protocol.costs.piece);
        self.bring_own(data, self.places.shown[place])
    }

    /// Takes what each of some ranks has given next.
    pub(super) fn take(&mut self, from: u32, offset: u64, data: RankData) -> RankAnswer {
        let costs = self.protocol.costs;
        self.spe.compute_cycles(costs.call);
        let kind = if data.bytes == 0 { WITHOUT_DATA } else { WITH_DATA };
        let wanted = ranks(from).fold(0, |all, rank| all | bit(rank, self.gifts.taken[rank][kind]));
        let since_ps = self.spe.now_ps();
        while self.gifts.signals[kind] & wanted != wanted {
            if self.read_signals() {
                continue;
            }
            // Others may wait for what came as a message.
            if !self.look_and_wait(since_ps) {
                return RankAnswer::NotYet;
            }
            if !self.found.is_empty() {
                self.protocol.board.borrow_mut().goes_on(self.rank);
                return RankAnswer::NotYet;
            }
        }
        self.protocol.board.borrow_mut().goes_on(self.rank);
        self.gifts.signals[kind] &= !wanted;
        for rank in ranks(from) {
            self.spe.compute_cycles(costs.take);
            self.gifts.taken[rank][kind] = self.gifts.taken[rank][kind].wrapping_add(1);
        }
        if data.bytes == 0 {
            return RankAnswer::Taken(0, 0);
        }
        let (places, whole) = self.fetch_shown(from, offset, data.bytes);
        let mut taken = 0;
        for (rank, at, bytes) in places {
            let to = data.at + taken;
            self.protocol.callers.write(self.rank, to, self.spe.bytes(at, bytes));
            let part = RankData { at: to, bytes: bytes.into(), ..data };
            let in_slot = at < self.places.stages[0];
            if !data.local && in_slot {
                self.take_home(part, at);
            }
            self.tell_taken(rank);
            if !data.local && !in_slot {
                self.send_home(part, at);
            }
            taken += u64::from(bytes);
        }
        RankAnswer::Taken(taken, whole)
    }

    /// Fetches what is shown by ranks; where the data of each lies in this store, and its bytes;
    /// what the last one gives in all.
    fn fetch_shown(&mut self, from: u32, offset: u64, most: u64) -> (Vec<(usize, u32, u32)>, u64) {
        let mut given = 0;
        // What was fetched into the other place may still be on its way to main memory.
        self.stage = 1 - self.stage;
        let mut stage = self.places.stages[self.stage];
        let end = stage + STAGE_BYTES;
        let mut places = Vec::new();
        for rank in ranks(from) {
            let slot = self.places.slot(rank, self.gifts.taken[rank][WITH_DATA].wrapping_sub(1));
            let [bytes, shown, low, high] = [0, 4, 8, 12].map(|word| self.spe.read_u32(slot + word));
            given = u64::from(high) << 32 | u64::from(low);
            let offset = offset as u32;
            let bytes = bytes.saturating_sub(offset).min(most as u32);
            if bytes == 0 {
                places.push((rank, slot, 0));
                continue;
            }
            if shown == 0 {
                places.push((rank, slot + HEADER + offset, bytes));
                continue;
            }
            let there = self.store_of(rank) + u64::from(shown + offset);
            let misaligned = (there.0 % 16) as u32;
            let whole = (misaligned + bytes).next_multiple_of(16);
            assert!(stage + whole <= end, "`check` has found room");
            self.spe.get(stage, Address(there.0 - u64::from(misaligned)), whole, TAKE_TAG);
            places.push((rank, stage + misaligned, bytes));
            stage += whole;
        }
        self.spe.tags_all(1 << TAKE_TAG);
        (places, given)
    }

    /// Tells a giver that what it gave was taken.
    fn tell_taken(&mut self, giver: usize) {
        let own = self.places.own_given_taken(giver);
        let taken = self.gifts.taken[giver][WITH_DATA];
        self.spe.tags_all(1 << TAKE_TAG);
        self.spe.write_u32(own, taken);
        let there = self.store_of(giver) + u64::from(self.places.given_taken(self.rank));
        self.spe.put(own, there, 16, TAKE_TAG);
        self.protocol.board.borrow_mut().changes(self.spe.now_ps());
    }

    /// Waits until what was taken is in main memory: then the stages are free.
    pub(super) fn settle(&mut self) {
        if std::mem::take(&mut self.homeward) {
            self.spe.tags_all(1 << HOME_TAG);
        }
    }

    /// Starts to bring data from a stage to main memory. Before its command, those of the other stage are done.
    fn send_home(&mut self, data: RankData, at: u32) {
        let to = self.protocol.memory[self.rank].data(data.misaligned, data.at);
        let bytes = data.bytes as u32;
        let quadwords = bytes > 0 && bytes.is_multiple_of(16);
        let whole = quadwords && at.is_multiple_of(16) && to.0.is_multiple_of(16);
        if !whole || data.pieces > 1 {
            return self.take_home(data, at);
        }
        self.settle();
        self.spe.put(at, to, bytes, HOME_TAG);
        self.homeward = true;
    }

    /// Brings data from a place in the local store to main memory.
    fn take_home(&mut self, data: RankData, at: u32) {
        self.settle();
        let own = self.protocol.memory[self.rank];
        self.gather(data);
        let to = own.data(data.misaligned, data.at);
        let bytes = data.bytes as u32;
        let other = self.places.stages[usize::from(at < self.places.stages[1])];
        let at = realign(self.spe, &self.protocol.costs, at, other, (to.0 % 16) as u32, bytes);
        take_out(self.spe, at, to, bytes);
    }

    /// Brings data that this rank made in its local store to where it belongs; no data: what it took is there.
    pub(super) fn keep(&mut self, data: RankData) {
        self.settle();
        if data.local {
            return;
        }
        let mut from = 0;
        while from < data.bytes {
            let bytes = (data.bytes - from).min(u64::from(PIECE_BYTES));
            self.spe.compute_cycles(self.protocol.costs.piece);
            let part = RankData { at: data.at + from, bytes, ..data };
            let stage = self.places.stages[0];
            self.protocol.callers.read(self.rank, part.at, self.spe.bytes_mut(stage, bytes as u32));
            self.take_home(part, stage);
            from += bytes;
        }
    }

    /// Reduces operands: a result of so many bytes in all.
    pub(super) fn combine(&mut self, bytes: u64, double: bool, local: bool) {
        let costs = self.protocol.costs;
        let quadword = if double { costs.combine.max(self.protocol.double_cycles) } else { costs.combine };
        if local || self.protocol.local_data {
            return self.spe.compute_cycles(bytes.div_ceil(16) * quadword);
        }
        let own = self.protocol.memory[self.rank];
        let mut from = 0;
        while from < bytes {
            let now = (bytes - from).min(u64::from(PIECE_BYTES)) as u32;
            self.spe.compute_cycles(costs.piece);
            for stage in self.places.stages {
                bring(self.spe, stage, own.data(0, from), now);
            }
            self.spe.compute_cycles(u64::from(now.div_ceil(16)) * quadword);
            take_out(self.spe, self.places.stages[1], own.reduced, now.next_multiple_of(16));
            from += u64::from(now);
        }
    }
}
