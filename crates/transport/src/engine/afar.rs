//! The engine of a rank whose messages a simulator carries. It matches, as ever; the simulator's queues and buffers
//! take the place of rings and pools.
//!
//! A message is announced by an entry of a queue and fetched once it is matched. A send whose data was not copied to a
//! buffer hears then that it is complete.

use super::pending::due;
use super::{Engine, Mode, TransferId};
use crate::buffer::Buffer;
use crate::carried::{self, CarriedAnswer, CarriedCall, CarriedData, CarriedNews, CarriedNote};
use crate::matching::Envelope;
use crate::segment::STORE_BYTES;
use std::collections::{HashMap, VecDeque};

/// Of an announcement: the message is fetched from the simulator. (The other ways are those of `rendezvous`.)
pub(super) const AFAR: u64 = 3;
/// Blocks of the store start at multiples of so many bytes.
const BLOCK: u64 = 128;

/// What a rank knows of the messages that the simulator carries.
pub(super) struct Afar {
    store: Blocks,
    /// Sends that wait for room in the queue to their rank, in order.
    waiting: Vec<VecDeque<u32>>,
    /// The sends that have an entry and are not complete, and where their data lies in the store.
    open: HashMap<(u32, u32), (u32, u64)>,
}

impl Afar {
    pub(super) fn new(ranks: usize) -> Self {
        let waiting = (0..ranks).map(|_| VecDeque::new()).collect();
        Self { store: Blocks::default(), waiting, open: HashMap::new() }
    }
}

/// The blocks of the store that are in use: start and end, in order of place.
#[derive(Default)]
struct Blocks(Vec<(u64, u64)>);

impl Blocks {
    /// Takes a block. Nothing: there is no room for it.
    fn take(&mut self, bytes: u64) -> Option<u64> {
        let bytes = bytes.max(1).checked_next_multiple_of(BLOCK)?;
        let mut start = 0;
        let mut place = 0;
        for (index, &(from, end)) in self.0.iter().enumerate() {
            if from - start >= bytes {
                break;
            }
            (start, place) = (end, index + 1);
        }
        let end = start.checked_add(bytes).filter(|&end| end <= STORE_BYTES as u64)?;
        self.0.insert(place, (start, end));
        Some(start)
    }

    /// Gives it back.
    fn give(&mut self, start: u64) {
        self.0.retain(|block| block.0 != start);
    }
}

/// What names the message of an entry; never 0.
fn token(entry: u32) -> u64 {
    u64::from(entry) + 1
}

/// How a buffer's data lies for the simulator.
fn data_at(buffer: &Buffer, at: u64, bytes: usize) -> CarriedData {
    let mut pieces = 1;
    if let Some(layout) = &buffer.layout {
        let mut spans = Vec::new();
        // Elements all lie alike: one tells how many pieces the others have.
        let each = (buffer.bytes / layout.count.max(1)).max(1);
        layout.shape.spans(buffer.address, layout.count, 0, each.min(bytes), usize::MAX, &mut spans);
        pieces = (spans.len() * bytes.div_ceil(each)).max(1);
    }
    let misaligned = (buffer.address as usize % 16) as u8;
    CarriedData { at, bytes: bytes as u64, misaligned, pieces: u32::try_from(pieces).unwrap_or(u32::MAX) }
}

impl Engine<'_> {
    fn afar(&mut self) -> &mut Afar {
        self.afar.as_mut().expect("a simulator carries the messages")
    }

    fn ask(&self, ask: &CarriedCall) -> CarriedAnswer {
        self.room.ask(ask).expect("a simulator carries the messages")
    }

    /// A block of this rank's store.
    fn block(&mut self, bytes: usize) -> u64 {
        // The program's data may start anywhere in a quadword, and whole quadwords are read.
        let taken = self.afar().store.take(bytes as u64 + 32);
        taken.unwrap_or_else(|| {
            self.room.abort().abort(&format!(
                "{bytes} bytes more of messages under way than the simulator has room for; allowed are {STORE_BYTES} \
                 bytes of a rank at a time"
            ))
        })
    }

    /// Bytes of this rank's store.
    fn stored(&mut self, at: u64, bytes: usize) -> &mut [u8] {
        assert!(at as usize + bytes <= STORE_BYTES, "a block of the store");
        // SAFETY: within the store, in a block that was taken for this message; the simulator touches it only while
        // this rank waits for its answer, or reads what does not change before the block is given back.
        unsafe { std::slice::from_raw_parts_mut(self.segment().store(self.rank).add(at as usize), bytes) }
    }

    /// Starts a send. Nothing: it is complete already.
    pub(super) fn send_afar(
        &mut self,
        to: usize,
        envelope: Envelope,
        buffer: &Buffer,
        mode: Mode,
    ) -> Option<TransferId> {
        let index = self.transfers.start(buffer, envelope.key(0));
        let transfer = self.transfers.at(index);
        transfer.to = to as u32;
        transfer.due = due::PIECES | if mode == Mode::Synchronous { due::ANSWER } else { 0 };
        let id = self.transfers.id(index);
        let first = self.afar().waiting[to].is_empty();
        if !first || !self.offer(to, index) {
            self.afar().waiting[to].push_back(index);
            return Some(id);
        }
        if self.take_if_complete(id).is_some() { None } else { Some(id) }
    }

    /// Hands a send to the simulator; false when the queue to its rank is full.
    fn offer(&mut self, to: usize, index: u32) -> bool {
        let transfer = self.transfers.at(index);
        let (buffer, envelope) = (transfer.buffer.clone(), transfer.envelope());
        let synchronous = transfer.due & due::ANSWER != 0;
        let at = self.block(buffer.bytes);
        buffer.read(0, self.stored(at, buffer.bytes));
        let data = data_at(&buffer, at, buffer.bytes);
        match self.ask(&CarriedCall::Send { to: to as u32, envelope, data, synchronous }) {
            CarriedAnswer::Sent { copied: true, .. } => {
                self.afar().store.give(at);
                self.transfers.happened(index, due::PIECES);
                true
            }
            CarriedAnswer::Sent { entry, .. } => {
                self.afar().open.insert((to as u32, entry), (index, at));
                true
            }
            _ => {
                self.afar().store.give(at);
                false
            }
        }
    }

    /// Takes what has come, and sends what waited for it; true when anything moved.
    pub(super) fn progress_afar(&mut self) -> bool {
        let mut moved = false;
        while let CarriedAnswer::News(count @ 1..) = self.ask(&CarriedCall::Look) {
            moved = true;
            let all: Vec<CarriedNews> =
                (0..count as usize).map(|index| carried::news(&self.segment(), self.rank, index)).collect();
            for one in all {
                self.hear(one);
            }
            if (count as usize) < carried::MOST_NEWS {
                break;
            }
        }
        moved
    }

    fn hear(&mut self, news: CarriedNews) {
        match news {
            CarriedNews::Message { from, entry, envelope, bytes } => {
                if from as usize >= self.ranks() {
                    self.corrupt(self.rank, "news of a message from no rank");
                }
                self.announced(from as usize, envelope, [token(entry), bytes, 0, AFAR, u64::from(entry), 0]);
            }
            CarriedNews::Received { to, entry } => {
                if let Some((index, at)) = self.afar().open.remove(&(to, entry)) {
                    self.afar().store.give(at);
                    self.transfers.happened(index, due::PIECES | due::ANSWER | due::CANCEL);
                }
            }
            CarriedNews::Told { from, entry, note } => self.told_afar(from as usize, entry, note),
            CarriedNews::Room { to } => {
                let to = to as usize;
                while let Some(&first) = self.afar().waiting.get(to).and_then(VecDeque::front) {
                    if !self.offer(to, first) {
                        break;
                    }
                    self.afar().waiting[to].pop_front();
                }
            }
        }
    }

    /// Cancels a send that the receiver has not matched: it is asked, unless the send still waits for room.
    pub(super) fn cancel_afar(&mut self, to: usize, index: u32) {
        let waiting = &mut self.afar().waiting[to];
        if let Some(place) = waiting.iter().position(|&waits| waits == index) {
            waiting.remove(place);
            return self.end_cancelled(index);
        }
        let asked = self.afar().open.iter().find(|&(key, send)| key.0 as usize == to && send.0 == index);
        if let Some((&(to, entry), _)) = asked {
            self.transfers.at(index).due |= due::CANCEL;
            self.ask(&CarriedCall::Tell { to, entry, note: CarriedNote::AskedBack });
        }
    }

    /// A rank asks a message back, or answers.
    fn told_afar(&mut self, from: usize, entry: u32, note: CarriedNote) {
        if note == CarriedNote::AskedBack {
            let forgotten = self.forget(from, token(entry));
            let note = if forgotten { CarriedNote::Forgotten } else { CarriedNote::Kept };
            self.ask(&CarriedCall::Tell { to: from as u32, entry, note });
            return;
        }
        let key = (from as u32, entry);
        let Some(&(index, at)) = self.afar().open.get(&key) else { return };
        if note == CarriedNote::Forgotten {
            self.afar().open.remove(&key);
            self.afar().store.give(at);
            self.end_cancelled(index);
        } else {
            self.transfers.at(index).due &= !due::CANCEL;
        }
    }

    /// Fetches the data of a matched message.
    pub(super) fn fetch(&mut self, receive: u32, from: usize, entry: u64) {
        let transfer = self.transfers.at(receive);
        let (buffer, bytes) = (transfer.buffer.clone(), transfer.completion.bytes);
        let at = self.block(bytes);
        let data = data_at(&buffer, at, bytes);
        self.ask(&CarriedCall::Fetch { from: from as u32, entry: entry as u32, data });
        buffer.write(0, self.stored(at, bytes));
        self.afar().store.give(at);
        self.transfers.complete(receive);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_fill_the_first_gap_that_is_large_enough() {
        let mut blocks = Blocks::default();
        let taken: Vec<u64> = [100, 0, 64].map(|bytes| blocks.take(bytes).unwrap()).into();
        assert_eq!(taken, [0, 128, 256]);
        blocks.give(128);
        assert_eq!(blocks.take(129), Some(384));
        assert_eq!(blocks.take(1), Some(128));
        assert_eq!(blocks.take(STORE_BYTES as u64), None);
        assert_eq!(blocks.take(u64::MAX), None);
    }
}
