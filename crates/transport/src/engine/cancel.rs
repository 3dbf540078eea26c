//! Cancelling: a receive that no message has met, a send that no receive has met.
//!
//! A send that is still in its queue is taken out of it. Of one that the receiver knows, the receiver is asked: it
//! forgets the message when no receive has it yet, and answers whether it did. Of a send that was complete at once, the
//! message is known by the line in which it began (see `receipts`).

use super::pending::{COMPLETE_AT_ONCE, NONE, Stage, due};
use super::receipts::{Known, is_line};
use super::{Completion, Engine, TransferId, kind};
use crate::buffer::Buffer;

impl Engine<'_> {
    /// Cancels a receive that isn't matched, or a send that isn't: a send that the receiver knows ends once it has
    /// answered. What has met its other side goes on as before.
    pub fn cancel(&mut self, id: TransferId) {
        if let Some(known) = self.receipts.known(id) {
            return self.ask_back(id, known);
        }
        let Some(index) = self.slot(id) else { return };
        let transfer = self.transfers.at(index);
        if transfer.stage != Stage::Active {
            return;
        }
        if transfer.to != NONE {
            return self.cancel_send(index);
        }
        let key = transfer.key;
        if transfer.posted && self.matching.cancel(key, index) {
            self.transfers.at(index).posted = false;
            self.end_cancelled(index);
        }
    }

    fn cancel_send(&mut self, index: u32) {
        let transfer = self.transfers.at(index);
        let (to, asks) = (transfer.to as usize, transfer.due & due::ANSWER != 0);
        if transfer.due & due::CANCEL != 0 {
            return;
        }
        if to == self.rank {
            if self.forget_own(index) {
                self.end_cancelled(index);
            }
        } else if self.afar.is_some() {
            self.cancel_afar(to, index);
        } else if self.take_back(to, index) {
            self.end_cancelled(index);
        } else if asks {
            self.transfers.at(index).due |= due::CANCEL;
            let token = self.transfers.id(index).number();
            self.tell(to, kind::CANCEL, [token, 0, 0, 0, 0, 0]);
        }
    }

    /// Asks the message of a send back that was complete at once. From now on, a transfer stands for it.
    fn ask_back(&mut self, id: TransferId, known: Known) {
        let index = self.transfers.start(&Buffer::EMPTY, self.transfers.key(COMPLETE_AT_ONCE.slot()));
        self.receipts.ask(id, index);
        let transfer = self.transfers.at(index);
        transfer.due = due::ASKED_BACK;
        match known {
            Known::Buffered(buffered) => {
                transfer.to = self.rank as u32;
                self.cancel(buffered);
                match self.slot(buffered).map(|slot| self.transfers.at(slot)) {
                    Some(sent) if sent.stage == Stage::Active && sent.due & due::CANCEL != 0 => {
                        self.receipts.await_answer(buffered, index);
                    }
                    sent => {
                        let is_cancelled = sent.is_some_and(|sent| sent.ended.get().cancelled);
                        self.end_asked_back(index, is_cancelled);
                    }
                }
            }
            Known::Left { to, line } => {
                transfer.to = to;
                let (to, token) = (to as usize, self.transfers.id(index).number());
                if to != self.rank {
                    return self.tell(to, kind::CANCEL, [token, 1, line, 0, 0, 0]);
                }
                let is_cancelled = self.forget(to, |message| is_line(message.began, line));
                self.end_asked_back(index, is_cancelled);
            }
        }
    }

    fn end_asked_back(&mut self, index: u32, is_cancelled: bool) {
        if is_cancelled {
            self.end_cancelled(index);
        } else {
            self.transfers.happened(index, due::ASKED_BACK);
        }
    }

    /// A sender asks a message back. Its pieces are here: what was sent before has come before.
    pub(super) fn asked_back(&mut self, from: usize, [token, by_line, line, ..]: [u64; 6]) {
        let forgotten = match by_line {
            0 => self.forget(from, |message| message.token == token),
            _ => self.forget(from, |message| is_line(message.began, line) && message.token == 0),
        };
        self.tell(from, kind::CANCELLED, [token, forgotten.into(), 0, 0, 0, 0]);
    }

    /// The receiver answers whether a send is cancelled.
    pub(super) fn cancelled(&mut self, from: usize, token: u64, is_cancelled: bool) {
        let index = self.transfer_of(from, token);
        let transfer = self.transfers.at(index);
        let unmatched = due::ANSWER | due::CANCEL;
        let asked = transfer.due & (due::CANCEL | due::ASKED_BACK) != 0 && transfer.to as usize == from;
        if !asked || (is_cancelled && ![unmatched, due::ASKED_BACK].contains(&transfer.due)) {
            self.corrupt(from, "an answer that nobody waits for");
        }
        let id = self.transfers.id(index);
        if is_cancelled {
            self.end_cancelled(index);
        } else {
            self.transfers.happened(index, due::CANCEL | due::ASKED_BACK);
        }
        if let Some(index) = self.receipts.answered(id) {
            self.end_asked_back(index, is_cancelled);
        }
    }

    pub(super) fn end_cancelled(&mut self, index: u32) {
        let transfer = self.transfers.at(index);
        transfer.due = 0;
        transfer.ended.set(Completion { cancelled: true, ..transfer.ended.get() });
        self.transfers.complete(index);
    }
}
