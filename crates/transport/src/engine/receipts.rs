//! Receipts of sends that were complete at once: by them, their messages can still be asked back.
//!
//! Such a send has no entry in the table of transfers. Its id names the shared entry of all of them, and its number. What
//! a message can be asked back by is the line of the ring in which it began: its sender knows how many lines went before
//! it, and so does its receiver.

use super::TransferId;
use super::pending::{COMPLETE_AT_ONCE, NUMBERS, numbered};

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

/// The receipts of one rank.
pub(crate) struct Receipts {
    recent: [Receipt; RECENT],
    /// The next number, and whether numbers began again.
    next: u32,
    again: bool,
    /// Sends whose messages were asked back, and the transfers that end when the answer is here.
    asked: Vec<(TransferId, u32)>,
}

impl Default for Receipts {
    fn default() -> Self {
        Self { recent: [Receipt::default(); RECENT], next: FIRST, again: false, asked: Vec::new() }
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

    /// The receipt of a send whose message may be asked back.
    pub(super) fn recent(&self, id: TransferId) -> Option<Receipt> {
        let number = self.number(id)?;
        let receipt = self.recent[number as usize % RECENT];
        let was_asked = || self.asked.iter().any(|(asked, _)| *asked == id);
        (receipt.number == number && !was_asked()).then_some(receipt)
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

    /// Whether any message was asked back whose send was not waited for yet.
    #[inline]
    pub(super) fn any_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// The program will not ask for a send again.
    #[inline]
    pub(super) fn forget(&mut self, id: TransferId) {
        if self.any_asked() {
            self.asked.retain(|(asked, _)| *asked != id);
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
            let receipt = receipts.recent(id).map(|receipt| (receipt.to, receipt.line));
            assert_eq!(receipt, (line >= 1000 - RECENT).then_some((3, line as u64)));
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
        assert_eq!(receipts.recent(first).map(|receipt| receipt.line), Some(1));
        assert!([last, first].iter().all(|&id| receipts.slot(id).is_some()));
    }
}
