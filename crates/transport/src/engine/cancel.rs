//! Cancelling: a receive that no message has met, a send that no receive has met.
//!
//! A send that is still in its queue is taken out of it. Of one that the receiver knows, the receiver is asked: it
//! forgets the message when no receive has it yet, and answers whether it did.

use super::pending::{NONE, Stage, due};
use super::{Engine, TransferId, kind};

impl Engine<'_> {
    /// Cancels a receive that isn't matched, or a send that isn't: a send that the receiver knows ends once it has
    /// answered. What has met its other side goes on as before, and so does a send whose data has been copied.
    pub fn cancel(&mut self, id: TransferId) {
        let Some(index) = self.transfers.index(id) else { return };
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

    /// A sender asks a message back. Its pieces are here: what was sent before has come before.
    pub(super) fn asked_back(&mut self, from: usize, token: u64) {
        let forgotten = self.forget(from, token);
        self.tell(from, kind::CANCELLED, [token, forgotten.into(), 0, 0, 0, 0]);
    }

    /// The receiver answers whether a send is cancelled.
    pub(super) fn cancelled(&mut self, from: usize, token: u64, is_cancelled: bool) {
        let index = self.transfer_of(from, token);
        let transfer = self.transfers.at(index);
        let unmatched = due::ANSWER | due::CANCEL;
        let asked = transfer.due & due::CANCEL != 0 && transfer.to as usize == from;
        if !asked || (is_cancelled && transfer.due != unmatched) {
            self.corrupt(from, "an answer that nobody waits for");
        }
        if is_cancelled {
            self.end_cancelled(index);
        } else {
            self.transfers.happened(index, due::CANCEL);
        }
    }

    pub(super) fn end_cancelled(&mut self, index: u32) {
        let transfer = self.transfers.at(index);
        transfer.due = 0;
        transfer.completion.cancelled = true;
        self.transfers.complete(index);
    }
}
