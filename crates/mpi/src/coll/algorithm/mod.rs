//! The collectives, each as the schedule of one rank.
//!
//! Which algorithm is taken depends on ranks, bytes and whether ranks have a CPU each; the limits stand here, in one
//! table. On one machine a message costs little and a hop costs a wait: where ranks have to share CPUs, a wait is a
//! change of context. So few hops in a row count more than few messages, and every rank talks to every other (*direct*)
//! unless that is very many messages. (Ranks on two CPUs of a Xeon, without a schedule: eight, a barrier by direct
//! exchange takes 18 us, and 11.5 when all tell one rank, which releases them; sixteen, an allgather of 8 bytes takes
//! 44 us direct and 107 by Bruck's hops.)
//!
//! | collective | few ranks or large | many ranks, small |
//! |---|---|---|
//! | barrier | direct exchange | dissemination; ranks that share CPUs: gather to 0 and release |
//! | bcast | direct; large: scatter, then direct exchange of the parts | binomial tree; ranks that share CPUs: direct |
//! | gather, scatter | direct | direct |
//! | allgather, alltoall | direct | Bruck; alltoall only of tiny data on more than 16 ranks |
//! | reduce | direct to the root; large: reduce-scatter, then gather | binomial tree; ranks that share CPUs: direct |
//! | allreduce | direct; large: reduce-scatter, allgather in pieces | recursive doubling; crowded: reduce, then bcast |
//! | reduce_scatter | direct | reduce to 0, then scatter |
//! | scan, exscan | doubling distance | doubling distance |
//!
//! Between the two groups of an intercommunicator everything is direct.

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod gather;
mod neighbour;
mod operands;
mod reduce;
mod reduce_scatter;
mod scan;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

pub(super) use allgather::allgather;
pub(super) use allreduce::allreduce;
pub(super) use alltoall::alltoall;
pub(super) use barrier::barrier;
pub(super) use bcast::bcast;
pub(super) use gather::{gather, scatter};
pub(super) use neighbour::neighbour_exchange;
pub(super) use reduce::reduce;
pub(super) use reduce_scatter::reduce_scatter;
pub(super) use scan::{exscan, scan};

/// The ranks that take part, as one of them sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ranks {
    /// This rank.
    pub own: usize,
    /// Ranks that messages go to: of the remote group for an intercommunicator, else of the only one.
    pub count: usize,
    /// Between the two groups of an intercommunicator.
    pub between_groups: bool,
    /// Ranks share CPUs.
    pub crowded: bool,
}

impl Ranks {
    /// So few that every rank sends small messages to every other.
    pub(super) fn few(self) -> bool {
        self.count <= if self.crowded { FEW_CROWDED } else { FEW }
    }

    /// So few that every rank sends a small block to every other, or deals with the root.
    pub(super) fn are_direct(self) -> bool {
        self.count <= if self.crowded { MOST_DIRECT } else { FEW }
    }

    /// The bytes from which on the work of a reduction is split.
    fn split_from(self) -> usize {
        if self.crowded { SPLIT_CROWDED } else { SPLIT }
    }

    /// The others, starting behind this rank, so that ranks do not all talk to the same one first.
    fn others(self) -> impl Iterator<Item = usize> + Clone {
        (1..self.count).map(move |distance| (self.own + distance) % self.count)
    }

    /// The same, those first that are near. Each is asked for once: a rank may move meanwhile.
    pub(super) fn others_near_first(self, is_near: impl Fn(usize) -> bool) -> Vec<usize> {
        let (mut near, far): (Vec<usize>, Vec<usize>) = self.others().partition(|&rank| is_near(rank));
        near.extend(far);
        near
    }
}

/// The root of a collective, as one rank sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// A rank: of the only group, or of the remote one.
    Rank(usize),
    /// This rank, and the others are the remote group (`MPI_ROOT`).
    Here,
    /// Another rank of this group of an intercommunicator: nothing to do (`MPI_PROC_NULL`).
    Elsewhere,
}

impl Root {
    /// Whether this rank is the root.
    pub(super) fn is_here(self, ranks: Ranks) -> bool {
        match self {
            Self::Rank(rank) => !ranks.between_groups && rank == ranks.own,
            Self::Here => true,
            Self::Elsewhere => false,
        }
    }
}

/// Up to this many ranks every rank sends small messages to every other.
pub(super) const FEW: usize = 8;
/// The same where ranks share CPUs, and all have to hear the same of all. (Eight on two CPUs of a Xeon: an allreduce of
/// 8 bytes takes 19.5 us direct, and 10.7 us by one rank.)
const FEW_CROWDED: usize = 4;
/// Up to this many ranks that share CPUs, blocks of all go to all, and a root deals with all: for another hop, each of
/// them would have to get a CPU again.
pub(super) const MOST_DIRECT: usize = 16;
/// Messages up to this many bytes are small: the number of messages and hops counts, not their size.
pub(super) const SMALL: usize = 2048;
/// From this many bytes on the work of a reduction is split among the ranks.
pub(super) const SPLIT: usize = 16 * 1024;
/// The same where ranks share CPUs. (Eight on two CPUs of an EPYC, at one rank and split: a reduce of 16 kB takes 15
/// and 23 us, an allreduce 20 and 33; of 64 kB 36 and 42, 58 and 58; but 129 and 57, 185 and 79 while a line takes
/// 200 ns. On one with 512 kB of second cache, an allreduce of 32 kB 52 and 90, of 48 kB 63 and 115, of 64 kB 77 and
/// 102; four 20 and 27, 26 and 32, 33 and 40.)
const SPLIT_CROWDED: usize = 64 * 1024;
/// What is reduced at once while more arrives, in bytes: it stays in the nearer caches.
/// (Tests have many pieces of little data.)
const PIECE: usize = if cfg!(test) { 4096 } else { 64 * 1024 };
/// From this many bytes on a broadcast is split among the ranks; in tests earlier.
const SPLIT_BCAST: usize = if cfg!(test) { 8192 } else { 512 * 1024 };
/// Blocks up to this many bytes are worth being sent more than once to spare messages.
const TINY: usize = 256;

/// The part of `count` elements that belongs to `rank` when `ranks` of them share: where it starts, and how many.
pub(super) fn share(count: usize, ranks: usize, rank: usize) -> (usize, usize) {
    let (each, more) = (count / ranks, count % ranks);
    (rank * each + rank.min(more), each + usize::from(rank < more))
}
