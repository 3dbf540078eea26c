//! The engine of a rank whose messages a simulator carries. It matches, as ever; the simulator's queues and buffers
//! take the place of rings and pools.
//!
//! A message is announced by an entry of a queue and fetched once it is matched. A send whose data was not copied to a
//! buffer hears then that it is complete.

use super::pending::{Stage, due};
use super::{Engine, Mode, TransferId};
use crate::buffer::Buffer;
use crate::carried::{self, CarriedAnswer, CarriedCall, CarriedData, CarriedNews, CarriedNote, MOST_GIVEN};
use crate::matching::Envelope;
use crate::segment::STORE_BYTES;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering;

/// Of an announcement: the message is fetched from the simulator. (The other ways are those of `rendezvous`.)
pub(super) const AFAR: u64 = 3;
/// Blocks of the store start at multiples of so many bytes.
const BLOCK: u64 = 128;

/// What a rank knows of the messages that the simulator carries.
pub(super) struct Afar {
    store: Blocks,
    /// Sends that wait for room in the queue to their rank, in order.
    waiting: Vec<VecDeque<u32>>,
    /// Of a program whose data lies in its local store.
    limit: Option<DataLimit>,
    /// The sends that have an entry and are not complete, and where their data lies in the store.
    open: HashMap<(u32, u32), (u32, u64)>,
}

impl Afar {
    pub(super) fn new(ranks: usize) -> Self {
        let waiting = (0..ranks).map(|_| VecDeque::new()).collect();
        Self { store: Blocks::default(), waiting, limit: None, open: HashMap::new() }
    }
}

/// What a program's data may take of a local store.
#[derive(Clone, Copy)]
struct DataLimit {
    /// Bytes for it.
    room: u64,
    /// Where the program's static data lies: start and end.
    statics: (u64, u64),
}

/// Bytes that lie in some of these ranges.
fn union(mut ranges: Vec<(u64, u64)>) -> u64 {
    ranges.sort_unstable();
    let (mut bytes, mut end) = (0, 0);
    for (from, to) in ranges {
        bytes += to.saturating_sub(from.max(end));
        end = end.max(to);
    }
    bytes
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
    CarriedData {
        at,
        bytes: bytes as u64,
        misaligned,
        pieces: u32::try_from(pieces).unwrap_or(u32::MAX),
        local: false,
    }
}

/// How a piece of a buffer's data lies for the simulator.
fn piece_at(buffer: &Buffer, from: usize, at: u64, bytes: usize) -> CarriedData {
    let whole = data_at(buffer, at, bytes);
    let misaligned = match buffer.layout {
        None => ((buffer.address as usize + from) % 16) as u8,
        Some(_) => whole.misaligned,
    };
    CarriedData { misaligned, ..whole }
}

/// Data in the local store.
fn made_at(at: u64, bytes: usize) -> CarriedData {
    CarriedData { at, bytes: bytes as u64, misaligned: 0, pieces: 1, local: true }
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

    /// The program's static data, from one address to another, lies in its local store with the data of messages, when
    /// the job says so.
    pub fn limit_data(&mut self, statics: (u64, u64)) {
        let room = u64::from(self.segment().header().data_room.load(Ordering::Relaxed));
        self.afar().limit = (room > 0).then_some(DataLimit { room, statics });
        self.check_room(0);
    }

    /// Ends the job when static data and the data of all messages that are under way do not fit in the local store, or
    /// when the `declared` bytes with which the program computes do not.
    pub fn check_room(&mut self, declared: u64) {
        let Some(DataLimit { room, statics }) = self.afar().limit else { return };
        let active = self.transfers.live().filter(|transfer| transfer.stage == Stage::Active);
        let buffers = active.map(|transfer| {
            let start = transfer.buffer.address as u64;
            (start, start.saturating_add(transfer.buffer.bytes as u64))
        });
        let all = union(buffers.chain([statics]).collect());
        if all.max(declared) > room {
            let fixed = statics.1 - statics.0;
            let other = (all - fixed).max(declared);
            self.room.abort().abort(&format!(
                "its data does not fit in a local store: {fixed} bytes of static data and {other} bytes of messages or \
                 declared; a store of 262144 bytes has room for {room}, besides code, stack and queues (--data main \
                 puts data into main memory)"
            ));
        }
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
        self.check_room(0);
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
            CarriedNews::Turn => {}
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
            let forgotten = self.forget(from, |message| message.token == token(entry));
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

    /// Of a rank of the job, the simulated chip that it is on.
    pub fn chip(&self, rank: usize) -> usize {
        let second = self.segment().header().second_chip.load(Ordering::Relaxed);
        usize::from(rank < 32 && second >> rank & 1 == 1)
    }

    /// Gives a piece of a buffer to ranks of the job, a bit each; false: it has to wait.
    pub fn give(&mut self, to: u32, buffer: &Buffer, from: usize, bytes: usize) -> bool {
        let at = self.block(bytes);
        buffer.read(from, self.stored(at, bytes));
        let data = piece_at(buffer, from, at, bytes);
        let answer = self.ask(&CarriedCall::Give { to, data, whole: buffer.bytes as u64 });
        self.afar().store.give(at);
        answer != CarriedAnswer::NotYet
    }

    /// Gives data that this rank has made in its local store; no data: a signal. False: it has to wait.
    pub fn give_made(&mut self, to: u32, made: &[u8]) -> bool {
        let at = self.block(made.len());
        self.stored(at, made.len()).copy_from_slice(made);
        let data = made_at(at, made.len());
        let answer = self.ask(&CarriedCall::Give { to, data, whole: made.len() as u64 });
        self.afar().store.give(at);
        answer != CarriedAnswer::NotYet
    }

    /// Takes what a rank has given next, as a piece of a buffer; what it gives in all. Nothing: it has to wait.
    pub fn take(&mut self, from: usize, buffer: &Buffer, start: usize) -> Option<usize> {
        let at = self.block(MOST_GIVEN);
        let room = MOST_GIVEN.min(buffer.bytes.saturating_sub(start)).max(1);
        let data = piece_at(buffer, start, at, room);
        let answer = self.ask(&CarriedCall::Take { from: 1 << from, offset: 0, data });
        let taken = match answer {
            CarriedAnswer::Taken { bytes, whole } => {
                buffer.write(start, self.stored(at, (bytes as usize).min(room)));
                Some(whole as usize)
            }
            _ => None,
        };
        self.afar().store.give(at);
        taken
    }

    /// Takes what each of some ranks has given next into the local store: of each at most `most` bytes from `offset`
    /// on, one rank's behind the other's. Nothing: it has to wait.
    pub fn take_here(&mut self, from: u32, offset: usize, most: usize) -> Option<Vec<u8>> {
        let room = most * from.count_ones() as usize;
        let at = self.block(room);
        let data = made_at(at, most);
        let answer = self.ask(&CarriedCall::Take { from, offset: offset as u64, data });
        let taken = match answer {
            CarriedAnswer::Taken { bytes, .. } => Some(self.stored(at, (bytes as usize).min(room)).to_vec()),
            _ => None,
        };
        self.afar().store.give(at);
        taken
    }

    /// Brings data that this rank has made, or taken, in its local store to a place of a buffer.
    pub fn bring_home(&mut self, buffer: &Buffer, from: usize, made: &[u8]) {
        let at = self.block(made.len());
        self.stored(at, made.len()).copy_from_slice(made);
        self.ask(&CarriedCall::Keep { data: piece_at(buffer, from, at, made.len()) });
        buffer.write(from, made);
        self.afar().store.give(at);
    }

    /// A reduction has made so many bytes of results.
    pub fn combined(&mut self, bytes: usize, double: bool, local: bool) {
        if self.afar.is_some() {
            self.ask(&CarriedCall::Combine { bytes: bytes as u64, double, local });
        }
    }

    /// Fetches the data of a matched message.
    pub(super) fn fetch(&mut self, receive: u32, from: usize, entry: u64) {
        let transfer = self.transfers.at(receive);
        let (buffer, bytes) = (transfer.buffer.clone(), transfer.ended.bytes());
        self.check_room(0);
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
    fn what_lies_in_two_ranges_counts_once() {
        assert_eq!(union(vec![(10, 20), (0, 5), (15, 30), (16, 17), (30, 31)]), 5 + 21);
        assert_eq!(union(Vec::new()), 0);
    }

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
