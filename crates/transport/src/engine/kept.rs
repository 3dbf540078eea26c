//! Messages that came before their receives, and their memory.

use super::pending::NONE;
use super::send::credit_of_announced;
use super::{Arrival, ClaimId, Engine};
use crate::fills::TimedFill;
use crate::matching::{Criteria, Envelope};
use crate::pool::Stretch;

/// Bytes of memory that are kept for the next messages that come before their receives: a choice, eight senders'
/// credit. (Given back each time, the memory of large ones would be cut off the heap and mapped anew, page by page.)
const SPARE_BYTES: usize = 2 << 20;

/// Where a piece lies in slots.
pub(super) struct SlotPart {
    pub(super) stretch: Stretch,
    /// From which byte of them on.
    pub(super) at: usize,
    /// There is more of the message in them, of which the next line speaks.
    pub(super) more: bool,
    pub(super) fill: TimedFill,
}

/// A piece that was left where it lay.
pub(super) struct Held {
    pub(super) part: SlotPart,
    /// Its place in the message.
    pub(super) place: usize,
    pub(super) bytes: usize,
}

/// What a receive has yet to read of a message that came before it.
pub(super) struct Unread {
    pub(super) receive: u32,
    /// The sender's rank in the job.
    pub(super) from: usize,
    pub(super) bytes: usize,
    /// As of the message.
    pub(super) data: Vec<u8>,
    pub(super) held: Vec<Held>,
}

/// A message that came before its receive.
pub(super) struct Message {
    pub(super) envelope: Envelope,
    /// The sender's rank in the job.
    pub(super) from: usize,
    /// All its bytes, how many of them come unasked, and how many have come.
    pub(super) bytes: usize,
    pub(super) unasked: usize,
    pub(super) came: usize,
    /// What has come, each byte at its place, but for what was left in slots.
    pub(super) data: Vec<u8>,
    pub(super) held: Vec<Held>,
    /// Its pieces are left in their slots.
    pub(super) is_held: bool,
    /// The sender's transfer, to be told of the matching; 0: no need.
    pub(super) token: u64,
    /// Announced: the rest of the data is still with the sender; how it lies there, and its address.
    pub(super) announced: Option<[u64; 2]>,
    /// The line in which it began; of a message of this process to itself, how many of those went before it.
    pub(super) began: u64,
    /// The send of this very process whose data it is, when it wasn't copied.
    pub(super) own: u32,
}

impl Message {
    /// Of so many bytes, all unasked, from a rank; nothing of it has come.
    pub(super) fn new(envelope: Envelope, from: usize, bytes: usize) -> Self {
        Self {
            envelope,
            from,
            bytes,
            unasked: bytes,
            came: 0,
            data: Vec::new(),
            held: Vec::new(),
            is_held: false,
            token: 0,
            announced: None,
            began: 0,
            own: NONE,
        }
    }

    /// Bytes of credit that it took.
    pub(super) fn credit(&self) -> usize {
        if self.announced.is_some() { credit_of_announced(self.unasked) } else { self.unasked }
    }

    /// A piece of it has come and is left in its slot.
    pub(super) fn hold(&mut self, piece: Held) {
        self.came += piece.bytes;
        self.held.push(piece);
    }

    /// The slots of which the next part is still to come, where the parts before are left.
    pub(super) fn open_slots(&self) -> Option<&Stretch> {
        self.held.last().filter(|held| held.part.more).map(|held| &held.part.stretch)
    }

    /// A piece of it has come; its place is inside the message.
    fn add(&mut self, place: usize, piece: &[u8]) {
        self.came += piece.len();
        if place == self.data.len() {
            return self.data.extend_from_slice(piece);
        }
        // Before it, something is still to come.
        self.data.resize(self.data.len().max(place + piece.len()), 0);
        self.data[place..place + piece.len()].copy_from_slice(piece);
    }
}

impl Engine<'_> {
    /// Looks for a message that a receive of this criteria would get now.
    pub fn probe(&mut self, criteria: Criteria) -> Option<Arrival> {
        let index = self.matching.find(criteria.key())?;
        Some(self.arrival(index))
    }

    /// As `probe`, and takes the message out of matching, to be received by `receive_claimed`.
    pub fn claim(&mut self, criteria: Criteria) -> Option<(ClaimId, Arrival)> {
        let index = self.matching.find(criteria.key())?;
        self.matching.remove(index);
        Some((ClaimId(index), self.arrival(index)))
    }

    fn arrival(&mut self, index: u32) -> Arrival {
        let message = self.messages.at(index);
        Arrival { source: message.envelope.source(), tag: message.envelope.tag(), bytes: message.bytes }
    }

    /// Keeps the slots of a piece that was held.
    pub(super) fn keep_held(&mut self, from: usize, stretch: &Stretch) {
        if self.pool.keep_held(from, stretch) {
            self.wake_for_room(from);
        }
    }

    /// Reads what is left of the kept message that was matched first; false: there is none. Not when it is matched: the
    /// program may be about to send what the other rank waits for.
    pub(super) fn read_kept(&mut self) -> bool {
        let Some(Unread { receive, from, bytes, data, held }) = self.unread.pop_front() else { return false };
        let transfer = self.transfers.at(receive);
        transfer.moved += bytes;
        transfer.buffer.write(0, &data);
        self.messages.recycle(data);
        for held in held {
            self.read_held(receive, from, &held);
            if !held.part.more {
                self.keep_held(from, &held.part.stretch);
            }
        }
        self.here(from, receive);
        true
    }

    /// Reads a piece that was left where it lay.
    pub(super) fn read_held(&mut self, receive: u32, from: usize, held: &Held) {
        let Held { part, place, bytes } = held;
        let buffer = &self.transfers.at(receive).buffer;
        part.fill.read(self.pool.costs(), *bytes, || {
            // SAFETY: the slots are not kept yet: they are, at the earliest, when their last part is read.
            buffer.write(*place, unsafe { self.pool.piece(&part.stretch, from, part.at, *bytes) });
            true
        });
    }
}

/// Messages that were not expected, by slot.
#[derive(Default)]
pub(crate) struct Messages {
    slots: Vec<Option<Message>>,
    free: Vec<u32>,
    /// Memory of messages that were received, for the next ones, and its bytes.
    spare: Vec<Vec<u8>>,
    spare_bytes: usize,
}

impl Messages {
    pub(super) fn insert(&mut self, message: Message) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = Some(message);
                index
            }
            None => {
                self.slots.push(Some(message));
                (self.slots.len() - 1) as u32
            }
        }
    }

    pub(super) fn at(&mut self, index: u32) -> &mut Message {
        self.slots[index as usize].as_mut().expect("a message that is kept")
    }

    /// A piece of a message has come; its place is inside.
    pub(super) fn add(&mut self, index: u32, place: usize, piece: &[u8]) {
        if self.at(index).data.capacity() == 0 {
            let bytes = self.at(index).unasked;
            self.at(index).data = self.room_for(bytes);
        }
        self.at(index).add(place, piece);
    }

    /// The slot of a message.
    pub(super) fn find(&self, is: impl Fn(&Message) -> bool) -> Option<u32> {
        self.slots.iter().position(|slot| slot.as_ref().is_some_and(&is)).map(|index| index as u32)
    }

    pub(super) fn remove(&mut self, index: u32) -> Message {
        self.free.push(index);
        self.slots[index as usize].take().expect("a message that is kept")
    }

    /// Memory for so many bytes.
    fn room_for(&mut self, bytes: usize) -> Vec<u8> {
        if bytes == 0 {
            return Vec::new();
        }
        let mut room = self.spare.pop().unwrap_or_default();
        self.spare_bytes -= room.capacity();
        room.reserve_exact(bytes);
        room
    }

    /// Memory that the next message may use.
    pub(super) fn recycle(&mut self, mut data: Vec<u8>) {
        if data.capacity() > 0 && self.spare_bytes + data.capacity() <= SPARE_BYTES {
            self.spare_bytes += data.capacity();
            data.clear();
            self.spare.push(data);
        }
    }
}
