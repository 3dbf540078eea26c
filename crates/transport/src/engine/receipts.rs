//! Receipts of sends that were complete at once: by them, their messages can still be asked back.
//!
//! Such a send has no entry in the table of transfers. Its id names the shared entry of all of them, and its number. What
//! a message can be asked back by is the line of the ring in which it began: its sender knows how many lines went before
//! it, and so does its receiver. A send that is complete for the program while its data waits in a buffer has a receipt,
//! too, and a transfer of its own.

use super::TransferId;
use super::pending::{COMPLETE_AT_ONCE, NONE, NUMBERS, numbered};

/// The last so many sends can be cancelled. A choice: a program that cancels does so soon.
const RECENT: usize = 256;
/// The first number: that of `COMPLETE_AT_ONCE` is lower.
const FIRST: u32 = 2;

/// A send that was complete at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Receipt {
    number: u32,
    /// The job's rank that it went to.
    pub(super) to: u32,
    /// The line in which it began; of a message of this rank to itself, how many of those went before it.
    pub(super) line: u64,
}

/// How the message of a send is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// It has left.
    Left(Receipt),
    /// It waits in a buffer, to leave by this transfer.
    Buffered(TransferId),
}

/// The receipts of one rank.
pub(crate) struct Receipts {
    recent: [Receipt; RECENT],
    /// The next number, and whether numbers began again.
    next: u32,
    again: bool,
    /// Sends whose data waits in a buffer, and their transfers.
    buffered: Vec<(TransferId, TransferId)>,
    /// Sends whose messages were asked back, and the slots of what stands for them until the answer is here.
    asked: Vec<(TransferId, u32)>,
    /// Transfers of buffered sends that were asked back, and what stands for their sends.
    awaited: Vec<(TransferId, u32)>,
}

impl Default for Receipts {
    fn default() -> Self {
        Self {
            recent: [Receipt::default(); RECENT],
            next: FIRST,
            again: false,
            buffered: Vec::new(),
            asked: Vec::new(),
            awaited: Vec::new(),
        }
    }
}

impl Receipts {
    /// The id of a send that was complete at once.
    #[inline(always)]
    pub(super) fn give(&mut self, to: usize, line: u64) -> TransferId {
        let number = self.next;
        self.recent[number as usize % RECENT] = Receipt { number, to: to as u32, line };
        self.next += 1;
        if self.next == NUMBERS {
            (self.next, self.again) = (FIRST, true);
        }
        numbered(COMPLETE_AT_ONCE, number)
    }

    #[inline]
    fn number(&self, id: TransferId) -> Option<u32> {
        let number = id.of_shared(COMPLETE_AT_ONCE)?;
        (number >= FIRST && (number < self.next || self.again)).then_some(number)
    }

    /// The id of a send whose data waits in a buffer, to leave by a transfer.
    pub(super) fn give_buffered(&mut self, transfer: TransferId) -> TransferId {
        let id = self.give(NONE as usize, 0);
        self.buffered.push((id, transfer));
        id
    }

    /// What is known of a send whose message may be asked back.
    pub(super) fn recent(&self, id: TransferId) -> Option<Kept> {
        let number = self.number(id)?;
        if self.asked.iter().any(|(asked, _)| *asked == id) {
            return None;
        }
        if let Some((_, transfer)) = self.buffered.iter().find(|(buffered, _)| *buffered == id) {
            return Some(Kept::Buffered(*transfer));
        }
        let receipt = self.recent[number as usize % RECENT];
        (receipt.number == number && receipt.to != NONE).then_some(Kept::Left(receipt))
    }

    /// The slot in the table of transfers that says how such a send is.
    #[inline]
    pub(super) fn slot(&self, id: TransferId) -> Option<u32> {
        self.number(id)?;
        let asked = self.asked.iter().find(|(asked, _)| *asked == id);
        Some(asked.map_or(COMPLETE_AT_ONCE.slot(), |(_, slot)| *slot))
    }

    /// The message of a send was asked back: its transfer is in this slot from now on.
    pub(super) fn ask(&mut self, id: TransferId, slot: u32) {
        self.asked.push((id, slot));
    }

    /// What stands for a send ends when a transfer hears the answer.
    pub(super) fn await_answer(&mut self, transfer: TransferId, slot: u32) {
        self.awaited.push((transfer, slot));
    }

    /// What stands for the buffered send of a transfer that has heard the answer.
    pub(super) fn answered(&mut self, transfer: TransferId) -> Option<u32> {
        let at = self.awaited.iter().position(|(awaited, _)| *awaited == transfer)?;
        Some(self.awaited.swap_remove(at).1)
    }

    /// Whether any message was asked back whose send was not waited for yet.
    #[inline]
    pub(super) fn any_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// The program will not ask for a send again.
    #[inline]
    pub(super) fn forget(&mut self, id: TransferId) {
        if self.any_asked() || !self.buffered.is_empty() {
            self.asked.retain(|(asked, _)| *asked != id);
            self.buffered.retain(|(buffered, _)| *buffered != id);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_sends_have_receipts_and_all_have_a_slot() {
        let mut receipts = Receipts::default();
        let ids: Vec<TransferId> = (0..1000).map(|line| receipts.give(3, line)).collect();
        for (line, &id) in ids.iter().enumerate() {
            let expected = Receipt { number: FIRST + line as u32, to: 3, line: line as u64 };
            assert_eq!(receipts.recent(id), (line >= 1000 - RECENT).then_some(Kept::Left(expected)));
            assert_eq!(receipts.slot(id), Some(COMPLETE_AT_ONCE.slot()));
        }
        receipts.ask(ids[999], 17);
        assert_eq!((receipts.slot(ids[999]), receipts.recent(ids[999])), (Some(17), None));
        receipts.forget(ids[999]);
        assert!(!receipts.any_asked());
    }

    #[test]
    fn an_id_that_was_never_given_has_no_slot() {
        let mut receipts = Receipts::default();
        let id = receipts.give(0, 0);
        let [later, other] = [numbered(id, FIRST + 1), TransferId::of_number(id.number() + 1)];
        assert!(receipts.slot(id).is_some());
        assert_eq!((receipts.slot(later), receipts.slot(other)), (None, None));
    }

    #[test]
    fn numbers_begin_again() {
        let mut receipts = Receipts { next: NUMBERS - 1, ..Receipts::default() };
        let [last, first] = [0, 1].map(|line| receipts.give(1, line));
        assert_ne!(last, first);
        let expected = Receipt { number: FIRST, to: 1, line: 1 };
        assert_eq!(receipts.recent(first), Some(Kept::Left(expected)));
        assert!([last, first].iter().all(|&id| receipts.slot(id).is_some()));
    }
}
