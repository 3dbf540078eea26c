//! Allreduce of ranks that share cpus: a chain for each cpu, all at the same time. The ranks form a ring that goes cpu
//! by cpu; a cpu's ranks are an arc of it. The vector has a part for each arc, where the part's chain begins. All
//! chains go round the same way: a rank that has done its arc's part goes on with the one that has come from the arc
//! before. So no cpu waits for the others at the start, or at the end. At the ends of the chains all ranks take the
//! results. Two cpus with two ranks each:
//!
//! ```text
//! ranks 0, 1   reduce part 0    reduce part 1, which has come from 3    take part 1 from 1, part 0 from 3
//! ranks 2, 3   reduce part 1    reduce part 0, which has come from 1    take part 0 from 3, part 1 from 1
//! ```
//!
//! Much data takes several rounds: the slots of a rank have room for two of a round's parts, so that nobody waits for a
//! slot whose reader waits for this rank.

use super::reduce::{Reducing, Room};
use super::{Call, Filling, Taking, crowded, looked, sharing};
use crate::abi;
use crate::check::Failure;
use crate::coll::algorithm::share;
use crate::coll::build;
use crate::coll::schedule::Truncated;
use crate::comm::sharing::Ring;
use crate::datatype::MessageData;
use crate::runtime;
use transport::slots::{SLOT_BYTES, SlotFlow};
use transport::{Buffer, DataUse};

/// Less data than this goes by messages. (2 cpus of an EPYC, us, by messages and two chains: 4 ranks, 32 kB 20.3 and
/// 23.5, 48 kB 25.9 and 26.9, 64 kB 33.4 and 29.8; 8 ranks, 32 kB 52 and 74, 48 kB 63 and 78, 64 kB 77 and 83; 60 and
/// 78, 59 and 97, 81 and 94 while a line takes 200 ns. Of a Xeon, by messages of a split vector, one chain and a bcast
/// from its end, two chains: 4 ranks, 64 kB 33.9, 34.6 and 29.1, 256 kB 123, 123 and 100, 1 MB 514, 486 and 429; 8
/// ranks, 64 kB 92, 84 and 74, 256 kB 359, 347 and 282, 1 MB 1,220, 1,100 and 821.)
const LEAST: usize = 64 * 1024;
/// There are fewer chains than cpus where a part would be smaller: whoever is at the end of one tells all others. A
/// choice.
const LEAST_PART: usize = 16 * 1024;

/// How a vector goes through the slots.
struct Split {
    /// Elements, and bytes of one.
    count: usize,
    element: usize,
    /// Parts of a round: one for each arc of the ring.
    parts: usize,
    rounds: usize,
    /// Pieces of a part, each of which fits in a slot.
    pieces: usize,
}

impl Split {
    /// Of ranks that have so many slots each.
    fn new(bytes: usize, element: usize, parts: usize, slots: usize) -> Self {
        let (count, of_slot) = (bytes / element, SLOT_BYTES / element);
        let rounds = count.div_ceil(parts * (slots / 2) * of_slot);
        let pieces = count.div_ceil(rounds * parts).div_ceil(of_slot);
        Self { count, element, parts, rounds, pieces }
    }

    /// Slots that each rank fills.
    fn slots(&self) -> usize {
        self.rounds * self.parts * self.pieces
    }

    /// The slot of a piece of what a rank fills in a step of a round, among all that it fills.
    fn slot(&self, round: usize, step: usize, piece: usize) -> usize {
        (round * self.parts + step) * self.pieces + piece
    }

    /// From which byte on a piece of a round's part lies, and its bytes.
    fn piece(&self, round: usize, part: usize, piece: usize) -> (usize, usize) {
        let (start, count) = share(self.count, self.rounds * self.parts, round * self.parts + part);
        let (from, count) = share(count, self.pieces, piece);
        ((start + from) * self.element, count * self.element)
    }
}

/// Those who fill slots that this rank takes from, as it hears of them.
struct Writers<'a> {
    call: &'a Call,
    /// Bytes that each has.
    expected: usize,
    /// Each with its rank in the communicator; nothing: it has something else.
    heard: Vec<(usize, Option<Taking>)>,
    failed: Result<(), Failure>,
}

impl<'a> Writers<'a> {
    /// Of a rank that also takes from its own slots.
    fn new(call: &'a Call, expected: usize, own: &Filling) -> Self {
        let rank = call.comm.rank;
        let own = Taking { from: call.member(rank), passage: own.passage };
        Self { call, expected, heard: vec![(rank, Some(own))], failed: Ok(()) }
    }

    /// What a rank of the communicator passes; it is waited for.
    fn of(&mut self, rank: usize) -> Option<&Taking> {
        let known = self.heard.iter().position(|(other, _)| *other == rank);
        let at = known.unwrap_or_else(|| {
            let heard = self.call.hear(rank, self.expected).and_then(|taking| {
                if taking.bytes() == self.expected {
                    return Ok(taking);
                }
                taking.want_none();
                Err(Truncated { source: rank as i32, sent: taking.bytes(), expected: self.expected }
                    .failure())
            });
            let taking = heard.map_err(|failure| self.failed = Err(failure)).ok();
            self.heard.push((rank, taking));
            self.heard.len() - 1
        });
        self.heard[at].1.as_ref()
    }
}

impl Reducing {
    /// Does this rank's part of all chains, and takes the results.
    fn around(&self, call: &Call, ring: &Ring, result: &Buffer) -> Result<(), Failure> {
        let parts = ring.last.len();
        let split = Split::new(self.bytes, self.element, parts, runtime::enter().engine.slots());
        let all = || 0..call.comm.size();
        let size = (self.bytes, split.slots());
        let filling = match ring.is_last() {
            true => call.fill(all(), size, [DataUse::Reduces, DataUse::Copies], false),
            false => call.fill([ring.next].into_iter(), size, [DataUse::Reduces; 2], false),
        };
        let next = [call.member(ring.next)];
        let mut writers = Writers::new(call, self.bytes, &filling);
        runtime::enter().engine.begin_to_take(SlotFlow::Reduced, self.bytes, call.member(0));
        for round in 0..split.rounds {
            for step in 0..parts {
                let part = (ring.arc + parts - step) % parts;
                // The arc before filled it one step ago.
                let filled_in = if ring.is_first() { step.checked_sub(1) } else { Some(step) };
                let readers = if ring.is_last() && step + 1 == parts { &filling.readers } else { &next[..] };
                for piece in 0..split.pieces {
                    let (at, bytes) = split.piece(round, part, piece);
                    let before = filled_in.and_then(|filled_in| {
                        Some((writers.of(ring.before)?, split.slot(round, filled_in, piece)))
                    });
                    let other = before.map(|(taking, index)| (taking, taking.slot(index), bytes));
                    self.reduce(at, other, &Room::Slot(&filling, filling.slot()), bytes);
                    if let Some((taking, index)) = before {
                        taking.took(index);
                    }
                    filling.filled(readers);
                }
            }
            // First what this arc has made last, while it is in the cpu's own cache.
            for distance in 0..parts {
                let arc = (ring.arc + parts - distance) % parts;
                let Some(taking) = writers.of(ring.last[arc]) else { continue };
                for piece in 0..split.pieces {
                    let (from, bytes) = split.piece(round, (arc + 1) % parts, piece);
                    let index = split.slot(round, parts - 1, piece);
                    let slot = taking.slot(index);
                    // SAFETY: the slot that holds this piece.
                    unsafe { taking.copy(slot, bytes, result, from) };
                    taking.took(index);
                }
            }
        }
        writers.failed
    }
}

/// `MPI_Allreduce`; false: not done.
///
/// # Errors
/// As `MPI_Allreduce`.
pub(in crate::coll) fn allreduce(
    both: (MessageData, MessageData),
    op: abi::Op,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    let found = looked(both.0, comm, |scene| {
        let (operand, result) = build::operand_and_result(scene, both, op)?;
        let large = result.bytes() >= LEAST;
        let reducing = Reducing::of(op, operand, None).filter(|_| large);
        Ok(reducing.map(|reducing| (reducing, result.buffer())))
    })?;
    let Some((reducing, result)) = found else { return Ok(false) };
    let Some(crowd) = crowded(comm)? else { return Ok(false) };
    let ring = sharing(comm, &crowd)?.ring(crowd.rank, reducing.bytes / LEAST_PART);
    reducing.around(&Call::next(crowd), &ring, &result)?;
    Ok(true)
}
