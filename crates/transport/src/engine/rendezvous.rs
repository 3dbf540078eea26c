//! Large messages, once they are matched: copied between the two processes without a copy in between.
//!
//! | sender's data | receiver's buffer | who copies |
//! |---|---|---|
//! | contiguous | contiguous | both claim pieces while they move messages; see below |
//! | contiguous | not | the receiver |
//! | not | contiguous | the sender |
//! | not | not | neither: packed pieces go through the pool |
//!
//! When there are more ranks than cpus, the receiver copies contiguous data alone.

use super::pending::due;
use super::{Engine, kind};
use crate::buffer::Buffer;
use crate::buffer::Span;
use crate::claims::Claims;
use crate::remote::{self, Access, MOST_SPANS, Probe};
use crate::segment::{PLACES, Segment};

/// Pieces of a message that both copy: at least four of them, so that both have some to do, and at most so many bytes
/// each.
const MOST_PIECE: usize = 64 * 1024;
const LEAST_PIECE: usize = 16 * 1024;
/// The longest time that the process which started the job takes to see that a rank has ended.
const ENDED_NS: u64 = 500_000_000;

/// A message that this process copies, alone or with the other side.
pub(crate) struct Copying {
    /// The other side's rank in the job.
    other: usize,
    /// This process's transfer.
    transfer: u32,
    receives: bool,
    /// The whole message's address at the other side.
    address: u64,
    /// From which byte to which.
    from: usize,
    end: usize,
    piece: usize,
    claims: Share,
    /// The other side's transfer, to be told of the end.
    token: u64,
}

/// Who copies.
#[derive(Clone, Copy)]
enum Share {
    /// This process alone: the next piece.
    Alone(u32),
    /// Both: the place in the receiver's page, and the generation.
    Both(u32, u32),
}

/// This rank's places for claims, and what it knows of other ranks.
#[derive(Default)]
pub(crate) struct Sharing {
    free: Vec<u32>,
    generation: u32,
    reading: Vec<Access>,
    writing: Vec<Access>,
    spans: Vec<Span>,
    pub(super) probe: Probe,
}

impl Sharing {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            free: (0..PLACES as u32).collect(),
            reading: vec![Access::Unknown; ranks],
            writing: vec![Access::Unknown; ranks],
            ..Self::default()
        }
    }

    /// Whether a rank's memory can be read; tried once.
    pub(super) fn readable(&mut self, segment: &Segment, rank: usize) -> Access {
        let access = &mut self.reading[rank];
        if *access == Access::Unknown {
            *access = remote::try_reading(segment, rank);
        }
        *access
    }
}

fn place(segment: &Segment, receiver: usize, place: u32) -> &'static Claims {
    &segment.rank(receiver).rendezvous[place as usize]
}

/// What an announcement says of where the data is: its address, when it is contiguous and may be read from there.
pub(super) fn address(
    sharing: &mut Sharing,
    segment: Option<&Segment>,
    rank: usize,
    copy_from: usize,
    buffer: &Buffer,
) -> [u64; 2] {
    let Some(segment) = segment else { return [NOT_BY_COPY, 0] };
    if buffer.bytes < copy_from {
        return [NOT_BY_COPY, 0];
    }
    sharing.probe.allow(segment, rank);
    match buffer.layout {
        None => [CONTIGUOUS, buffer.address as u64],
        Some(_) => [SCATTERED, 0],
    }
}

/// The sender wants its data to go through shared memory.
const NOT_BY_COPY: u64 = 0;
const CONTIGUOUS: u64 = 1;
const SCATTERED: u64 = 2;

impl Engine<'_> {
    /// Starts copying the rest of a matched message, when that is possible; it is behind the `unasked` first bytes.
    /// False: it isn't.
    pub(super) fn copies(
        &mut self,
        receive: u32,
        from: usize,
        token: u64,
        unasked: usize,
        offer: [u64; 2],
    ) -> bool {
        let [how, address] = offer;
        let transfer = self.transfers.at(receive);
        let (end, contiguous) = (transfer.completion.bytes, transfer.buffer.layout.is_none());
        let own = transfer.buffer.address as u64;
        if how == NOT_BY_COPY || self.copy_from == usize::MAX {
            return false;
        }
        let segment = self.segment();
        self.sharing.probe.allow(&segment, self.rank);
        let id = self.transfers.id(receive).0;
        if how == SCATTERED {
            if contiguous {
                self.tell(from, kind::PUSH, [token, id, own, end as u64, 0, 0]);
            }
            return contiguous;
        }
        if !matches!(self.sharing.readable(&segment, from), Access::Works(_)) {
            return false;
        }
        let bytes = end - unasked;
        let piece = (bytes / 8).next_multiple_of(4096).clamp(LEAST_PIECE, MOST_PIECE);
        let shared = contiguous && !self.room.crowded() && bytes > piece;
        let claims = match shared.then(|| self.sharing.free.pop()).flatten() {
            None => Share::Alone(0),
            Some(number) => {
                self.sharing.generation = self.sharing.generation.wrapping_add(1);
                let generation = self.sharing.generation;
                place(&segment, self.rank, number).open(generation);
                let where_to = u64::from(number) | u64::from(generation) << 32;
                self.tell(from, kind::SHARE, [token, id, own, end as u64, where_to, piece as u64]);
                Share::Both(number, generation)
            }
        };
        self.copying.push(Copying {
            other: from,
            transfer: receive,
            receives: true,
            address,
            from: unasked,
            end,
            piece,
            claims,
            token,
        });
        true
    }

    /// The receiver of a message asks this sender to help, or to do it alone.
    pub(super) fn help(&mut self, from: usize, alone: bool, words: [u64; 6]) {
        let [token, receiver, address, end, where_to, piece] = words;
        let index = self.answered(from, token);
        let transfer = self.transfers.at(index);
        let (unasked, end) = (transfer.bytes, end as usize);
        let piece = if alone { MOST_PIECE } else { piece as usize };
        if end > transfer.buffer.bytes
            || end < unasked
            || piece < 4096
            || (!alone && where_to as u32 as usize >= PLACES)
        {
            self.corrupt(from, "data asked for that was not announced");
        }
        let segment = self.segment();
        if self.sharing.writing[from] == Access::Unknown {
            self.sharing.writing[from] = remote::try_writing(&segment, from);
        }
        let works = matches!(self.sharing.writing[from], Access::Works(_));
        if alone && !works {
            return self.stream(from, index, receiver, end);
        }
        if !works {
            return;
        }
        let claims =
            if alone { Share::Alone(0) } else { Share::Both(where_to as u32, (where_to >> 32) as u32) };
        self.copying.push(Copying {
            other: from,
            transfer: index,
            receives: false,
            address,
            from: unasked,
            end,
            piece,
            claims,
            token: receiver,
        });
    }

    /// Copies a piece of each message that is being copied; true when anything moved.
    pub(super) fn copy_pieces(&mut self) -> bool {
        let segment = self.segment();
        let mut moved = false;
        let mut at = 0;
        while at < self.copying.len() {
            let pieces = {
                let copying = &self.copying[at];
                (copying.end - copying.from).div_ceil(copying.piece) as u32
            };
            let claimed = match &mut self.copying[at].claims {
                Share::Alone(next) => {
                    *next += 1;
                    (*next <= pieces).then(|| *next - 1)
                }
                &mut Share::Both(number, generation) => {
                    let receiver = if self.copying[at].receives { self.rank } else { self.copying[at].other };
                    place(&segment, receiver, number).claim(generation, pieces)
                }
            };
            if let Some(piece) = claimed {
                self.copy_piece(&segment, at, piece);
                moved = true;
                at += 1;
            } else if self.is_copied(&segment, at, pieces) {
                let copying = self.copying.swap_remove(at);
                self.copied(&copying);
                moved = true;
            } else {
                at += 1;
            }
        }
        moved
    }

    /// Whether this side is through with a message of which nothing is left to claim.
    fn is_copied(&self, segment: &Segment, at: usize, pieces: u32) -> bool {
        let copying = &self.copying[at];
        match copying.claims {
            Share::Alone(_) => true,
            // The receiver tells the sender when the last piece is there.
            Share::Both(..) if !copying.receives => true,
            Share::Both(number, generation) => {
                let claims = place(segment, self.rank, number);
                if claims.is_corrupt(generation, pieces) {
                    self.corrupt(copying.other, "pieces claimed or done that there are not");
                }
                claims.are_done(pieces)
            }
        }
    }

    fn copied(&mut self, copying: &Copying) {
        let (transfer, bytes) = (copying.transfer, copying.end - copying.from);
        match (copying.receives, copying.claims) {
            (true, claims) => {
                if let Share::Both(number, _) = claims {
                    self.sharing.free.push(number);
                }
                self.tell(copying.other, kind::COMPLETE, [copying.token, 0, 0, 0, 0, 0]);
                self.transfers.at(transfer).moved += bytes;
                self.complete_when_here(transfer);
            }
            (false, Share::Alone(_)) => {
                self.tell(copying.other, kind::PUSHED, [copying.token, bytes as u64, 0, 0, 0, 0]);
                self.transfers.happened(transfer, due::ANSWER);
            }
            (false, Share::Both(..)) => {}
        }
    }

    /// The sender has written the rest of a message into our buffer.
    pub(super) fn pushed(&mut self, from: usize, words: [u64; 6]) {
        let index = self.transfer_of(from, words[0]);
        let transfer = self.transfers.at(index);
        if words[1] != (transfer.bytes - transfer.moved) as u64 {
            self.corrupt(from, "another number of bytes copied than asked for");
        }
        transfer.moved = transfer.bytes;
        self.complete_when_here(index);
    }

    fn copy_piece(&mut self, segment: &Segment, at: usize, piece: u32) {
        let copying = &self.copying[at];
        let mut from = copying.from + piece as usize * copying.piece;
        let end = copying.end.min(from + copying.piece);
        let (other, receives, address) = (copying.other, copying.receives, copying.address);
        let claims = copying.claims;
        // A piece could be claimed, so the message isn't over, nor is its transfer.
        let buffer = self.transfers.at(copying.transfer).buffer.clone();
        let mut spans = std::mem::take(&mut self.sharing.spans);
        while from < end {
            spans.clear();
            let bytes = match &buffer.layout {
                None => {
                    spans.push(Span { address: buffer.address.wrapping_add(from), bytes: end - from });
                    end - from
                }
                Some(layout) => {
                    layout.shape.spans(buffer.address, layout.count, from, end - from, MOST_SPANS, &mut spans)
                }
            };
            let there = address.wrapping_add(from as u64);
            let access = if receives { self.sharing.reading[other] } else { self.sharing.writing[other] };
            let copied = match access {
                Access::Works(_) if bytes == 0 => false,
                // SAFETY: the spans are the buffer's, lent until the transfer is complete.
                Access::Works(pid) if receives => unsafe { remote::read(pid, &spans, there, bytes) },
                // SAFETY: as above.
                Access::Works(pid) => unsafe { remote::write(pid, &spans, there, bytes) },
                Access::Unknown | Access::Forbidden => false,
            };
            if !copied {
                self.lost(other, receives);
            }
            from += bytes;
        }
        spans.clear();
        self.sharing.spans = spans;
        if let Share::Both(number, _) = claims {
            let receiver = if receives { self.rank } else { other };
            place(segment, receiver, number).finish();
            if !receives {
                self.wake(other);
            }
        }
    }

    #[cold]
    fn lost(&self, other: usize, receives: bool) -> ! {
        let error = std::io::Error::last_os_error();
        // A rank that has ended has no memory to copy from. The process that started the job ends it then, and says
        // why.
        self.room.wait_for_end(ENDED_NS);
        let (verb, where_from) = if receives { ("read", "from") } else { ("write", "to") };
        self.room.abort().abort(&format!(
            "can't {verb} a message's data {where_from} the memory of rank {other}: {error} (is the buffer valid?)"
        ))
    }
}
