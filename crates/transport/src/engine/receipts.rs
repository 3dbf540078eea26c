//! Receipts of sends that were complete at once: by them, their messages can still be asked back.
//!
//! Such a send has no slot of its own in the table of transfers. Its id is its receipt: it names a slot that all sends
//! to a rank share, and the line of the ring in which the message began. Its sender knows how many lines went before
//! it, and so does its receiver. The id of a send that is complete for the program while its data waits in a buffer
//! names the slot of `COMPLETE_AT_ONCE`, and a number.

use super::TransferId;
use super::pending::{COMPLETE_AT_ONCE, NUMBERS, SHARED, numbered, shared_with};

/// How the message of a send is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It went to this rank of the job, and began in this line: the lowest bits of its number. Of a message of this
    /// rank to itself, how many of those went before it.
    Left { to: u32, line: u64 },
    /// It waits in a buffer, to leave by this transfer.
    Buffered(TransferId),
}

/// Whether a message that began in one line is one of which the lowest bits of another are known.
pub(super) fn is_line(began: u64, line: u64) -> bool {
    began & NUMBERS == line & NUMBERS
}

/// What one rank remembers of such sends.
#[derive(Default)]
pub(crate) struct Receipts {
    ranks: u32,
    /// Sends whose data waits in a buffer, and their transfers; and how many there were.
    buffered: Vec<(TransferId, TransferId)>,
    given: u64,
    /// Sends whose messages were asked back, and the slots of what stands for them until the answer is here.
    asked: Vec<(TransferId, u32)>,
    /// Transfers of buffered sends that were asked back, and the slots of what stands for their sends.
    awaited: Vec<(TransferId, u32)>,
}

impl Receipts {
    /// The receipts of a rank in a job of so many.
    pub(super) fn of_job(ranks: usize) -> Self {
        Self { ranks: ranks as u32, ..Self::default() }
    }

    /// The id of a send that was complete at once.
    #[inline(always)]
    pub(super) fn give(to: usize, line: u64) -> TransferId {
        shared_with(SHARED + to as u32, line)
    }

    /// The id of a send whose data waits in a buffer, to leave by a transfer.
    pub(super) fn give_buffered(&mut self, transfer: TransferId) -> TransferId {
        // The number of COMPLETE_AT_ONCE is 1.
        let id = numbered(COMPLETE_AT_ONCE, 2 + self.given % (NUMBERS - 2));
        self.given += 1;
        self.buffered.push((id, transfer));
        id
    }

    /// What is known of a send whose message may be asked back.
    pub(super) fn known(&self, id: TransferId) -> Option<Known> {
        if self.asked.iter().any(|(asked, _)| *asked == id) {
            return None;
        }
        if let Some((_, transfer)) = self.buffered.iter().find(|(buffered, _)| *buffered == id) {
            return Some(Known::Buffered(*transfer));
        }
        let to = id.slot().checked_sub(SHARED).filter(|&to| to < self.ranks)?;
        Some(Known::Left { to, line: id.number_in_slot() })
    }

    /// Whether an id may be that of such a send: it names a shared slot, and bears no mark of another user's.
    #[inline]
    pub(super) fn is_shared(&self, id: TransferId) -> bool {
        id.without_number() < u64::from(SHARED + self.ranks)
    }

    /// The slot in the table of transfers that says how such a send is; nothing: a shared one.
    #[inline]
    pub(super) fn slot(&self, id: TransferId) -> Option<u32> {
        if self.asked.is_empty() { None } else { self.slot_of_asked(id) }
    }

    #[cold]
    fn slot_of_asked(&self, id: TransferId) -> Option<u32> {
        self.asked.iter().find(|(asked, _)| *asked == id).map(|(_, slot)| *slot)
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
    fn an_id_says_where_its_message_went_and_in_which_line_it_began() {
        let receipts = Receipts::of_job(4);
        for line in [0, 1, 77, (1 << 31) - 1, 1 << 31, (1 << 40) + 5] {
            let id = Receipts::give(3, line);
            let Some(Known::Left { to: 3, line: told }) = receipts.known(id) else { panic!("{line}") };
            assert!(is_line(line, told) && !is_line(line + 1, told));
            assert!(receipts.is_shared(id) && receipts.slot(id).is_none());
        }
        assert_eq!(receipts.known(Receipts::give(4, 0)), None);
        assert!(!receipts.is_shared(Receipts::give(4, 0)));
        // Bits that a user marks ids with.
        for mark in [1 << 63, 1 << 31, 1 << 26] {
            assert!(!receipts.is_shared(TransferId::of_number(Receipts::give(1, 5).number() | mark)));
        }
        assert_eq!(receipts.known(COMPLETE_AT_ONCE), None);
    }

    #[test]
    fn what_stands_for_a_send_does_so_until_it_is_forgotten() {
        let mut receipts = Receipts::of_job(2);
        let (left, transfer) = (Receipts::give(1, 9), TransferId::of_number(1 << 32 | 12));
        let buffered = receipts.give_buffered(transfer);
        assert_eq!(receipts.known(buffered), Some(Known::Buffered(transfer)));
        for (id, slot) in [(left, 17), (buffered, 18)] {
            receipts.ask(id, slot);
            assert_eq!((receipts.slot(id), receipts.known(id)), (Some(slot), None));
        }
        receipts.await_answer(transfer, 18);
        assert_eq!((receipts.answered(transfer), receipts.answered(transfer)), (Some(18), None));
        [left, buffered].into_iter().for_each(|id| receipts.forget(id));
        assert_eq!(
            (receipts.slot(left), receipts.any_asked(), receipts.known(buffered)),
            (None, false, None)
        );
    }
}
