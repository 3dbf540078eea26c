//! Barrier, bcast and allreduce on a simulated Cell, by signals and from local store to local store. `buffered-mpi` has
//! them on its messages, and so have non-blocking and persistent ones here.
//!
//! ```text
//! barrier    each rank signals all others, and waits for the signals of all others
//! bcast      the root gives pieces of 16 kB: it fetches a piece once, all others take it from its local store; those
//!            of another chip from the first rank there
//! allreduce  up to 1 kB: each rank gives its operand to all others, and all reduce alike
//!            more: of each piece of 16 kB a rank takes the others' operands of its share, reduces and gives the result
//! ```
//!
//! Between two chips a hand-over takes several times as long. Where the halves of a communicator are on two chips, a
//! rank meets those of its chip and then its partner in the other half.
//!
//! Operands are reduced in the order of `algorithm`: results have the same bits.

use super::algorithm::{FEW, SPLIT, share};
use super::arguments::Scene;
use super::build::operand_and_result;
use super::schedule::CollectiveSchedule;
use crate::abi;
use crate::abi::values::MPI_ERR_TRUNCATE;
use crate::check::{self, Failure};
use crate::comm::Comm;
use crate::comm::valid;
use crate::datatype::MessageData;
use crate::op::{ElementType, Predefined, Reducer, kernel};
use crate::runtime::{self, State, until};
use crate::settings;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use transport::Buffer;
use transport::carried::MOST_GIVEN;

/// What goes through a slot of the receiver's local store at once.
const SMALL: usize = 1024;
/// Ranks that a mask has bits for: more than a machine has SPEs.
const MOST: usize = 16;

/// A broadcast of fewer whole pieces has this part of one as its piece.
const FEW_PIECES: usize = 4;

/// Collectives are given, not sent.
static GIVING: AtomicBool = AtomicBool::new(false);

/// Reads how collectives go, on a simulated Cell. Those of a program whose data lies in local stores (`local`) go by
/// messages.
///
/// # Errors
/// The variable says something else.
pub(crate) fn choose(local: bool) -> Result<(), Failure> {
    let known = |value: &str| ["stores", "messages"].contains(&value).then(|| value == "stores");
    let said = settings::of("CELLWEAVE_MPI_COLLECTIVES", "stores and messages", known)?;
    GIVING.store(said.unwrap_or(true) && !local, Ordering::Relaxed);
    Ok(())
}

/// The ranks of an intracommunicator, as one of them gives to the others.
struct Givers {
    own: usize,
    /// Ranks in the job, and the chip of each.
    members: Vec<usize>,
    chips: Vec<usize>,
}

impl Givers {
    /// Nothing: not these ranks.
    fn of(state: &State, comm: &Comm) -> Option<Self> {
        let members: Vec<usize> = comm.group.members.iter().map(|&member| member as usize).collect();
        let fits = comm.remote.is_none() && members.len() > 1 && members.iter().all(|&member| member < MOST);
        let chips = members.iter().map(|&member| state.engine.chip(member)).collect();
        fits.then_some(Self { own: comm.rank, members, chips })
    }

    /// Some of the others, a bit each.
    fn mask(&self, is: impl Fn(usize) -> bool) -> u32 {
        let some = (0..self.members.len()).filter(|&rank| rank != self.own && is(rank));
        some.fold(0, |mask, rank| mask | 1 << self.members[rank])
    }

    /// All others, a bit each.
    fn others(&self) -> u32 {
        self.mask(|_| true)
    }

    /// Where the halves of the communicator are on two chips: the others of this half, and the partner in the other
    /// one, a bit each.
    fn halves(&self) -> Option<(u32, u32)> {
        let (count, half) = (self.members.len(), self.members.len() / 2);
        let (lower, upper) = self.chips.split_at(half);
        let apart = count.is_multiple_of(2)
            && half > 1
            && lower[0] != upper[0]
            && lower.iter().all(|&chip| chip == lower[0])
            && upper.iter().all(|&chip| chip == upper[0]);
        apart.then(|| (self.mask(|rank| rank / half == self.own / half), 1 << self.members[self.partner()]))
    }

    /// The rank at this place in the other half.
    fn partner(&self) -> usize {
        (self.own + self.members.len() / 2) % self.members.len()
    }

    /// The ranks of a mask in the order in which their data is taken.
    fn order(&self, mask: u32) -> Vec<usize> {
        let is = |&rank: &usize| mask >> self.members[rank] & 1 == 1;
        let mut all: Vec<usize> = (0..self.members.len()).filter(is).collect();
        all.sort_unstable_by_key(|&rank| self.members[rank]);
        all
    }
}

/// Looks at the arguments of a collective; nothing: it goes by messages.
fn looked<T>(
    handle: abi::Comm,
    look: impl FnOnce(&mut Scene, Givers) -> Result<Option<T>, Failure>,
) -> Result<Option<T>, Failure> {
    if !GIVING.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let state = check::running()?;
    let comm = valid::comm(&state, handle)?.clone();
    let Some(givers) = Givers::of(&state, &comm) else { return Ok(None) };
    let mut schedule = CollectiveSchedule::default();
    look(&mut Scene { state: &state, comm: &comm, schedule: &mut schedule }, givers)
}

/// `MPI_Barrier`; false: not done.
///
/// # Errors
/// As `MPI_Barrier`.
pub(super) fn barrier(comm: abi::Comm) -> Result<bool, Failure> {
    let Some(givers) = looked(comm, |_, givers| Ok(Some(givers)))? else { return Ok(false) };
    let steps = givers.halves().map_or_else(|| vec![givers.others()], |(half, partner)| vec![half, partner]);
    for others in steps {
        until(|state| state.engine.give_made(others, &[]).then_some(()));
        until(|state| state.engine.take_here(others, 0, 0));
    }
    Ok(true)
}

/// Bytes of a piece of a broadcast: while one is taken, the giver fetches the next.
fn piece_of(whole: usize) -> usize {
    if whole <= FEW_PIECES * MOST_GIVEN { MOST_GIVEN / FEW_PIECES } else { MOST_GIVEN }
}

/// `MPI_Bcast`; false: not done.
///
/// # Errors
/// As `MPI_Bcast`.
pub(super) fn bcast(data: MessageData, root: c_int, comm: abi::Comm) -> Result<bool, Failure> {
    let found = looked(comm, |scene, givers| {
        scene.root(root)?;
        let data = scene.elements(data)?;
        // To one taker, a message is as direct.
        let few = data.bytes() <= SMALL || givers.members.len() > 2;
        Ok((data.bytes() > 0 && few).then(|| (givers, data.buffer())))
    })?;
    let Some((givers, data)) = found else { return Ok(false) };
    let root = root as usize;
    // The first rank of a chip hands on what the root of another one gives.
    let near = |rank: usize| givers.chips[rank] == givers.chips[root];
    let hands_on = |rank: usize| {
        rank == root
            || !near(rank) && givers.chips.iter().position(|&chip| chip == givers.chips[rank]) == Some(rank)
    };
    let own_chip = |rank: usize| givers.chips[rank] == givers.chips[givers.own];
    let takers = givers.mask(|rank| rank != root && (own_chip(rank) || givers.own == root && hands_on(rank)));
    let give = |from: usize| {
        let bytes = data.bytes().saturating_sub(from).min(piece_of(data.bytes()));
        if takers != 0 && bytes > 0 && hands_on(givers.own) {
            until(|state| state.engine.give(takers, &data, from, bytes).then_some(()));
        }
    };
    if givers.own == root {
        (0..data.bytes()).step_by(piece_of(data.bytes())).for_each(give);
        return Ok(true);
    }
    let first = (0..givers.members.len()).find(|&rank| own_chip(rank)).unwrap_or(root);
    let giver = if near(givers.own) || hands_on(givers.own) { root } else { first };
    let (mut from, mut whole) = (0, data.bytes());
    while from < whole {
        whole = until(|state| state.engine.take(givers.members[giver], &data, from));
        give(from);
        from += piece_of(whole);
    }
    runtime::enter().engine.bring_home(&data, 0, &[]);
    if whole > data.bytes() {
        let text = format_args!(
            "rank {root} sent {whole} bytes where {} are expected; counts and datatypes must agree on all ranks",
            data.bytes()
        );
        return Err(Failure::new(MPI_ERR_TRUNCATE, text));
    }
    Ok(true)
}

/// An allreduce.
struct Reducing {
    givers: Givers,
    kernel: Reducer,
    /// Bytes of an element, and whether it has numbers of double precision.
    element: usize,
    double: bool,
    /// Operands are reduced from the last rank to the first; otherwise, neighbouring runs of ranks become one.
    in_a_row: bool,
    operand: Buffer,
    result: Buffer,
}

/// `MPI_Allreduce`; false: not done.
///
/// # Errors
/// As `MPI_Allreduce`.
pub(super) fn allreduce(
    both: (MessageData, MessageData),
    op: abi::Op,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    let found = looked(comm, |scene, givers| {
        let (operand, result) = operand_and_result(scene, both, op)?;
        let element = result.datatype.predefined.and_then(ElementType::of);
        let kernel =
            Predefined::of(op).zip(element).and_then(|(operation, element)| kernel(operation, element));
        let (Some(kernel), Some(element)) = (kernel, element) else { return Ok(None) };
        // A pair may have room between its parts, which shares of bytes do not know.
        if !result.datatype.contiguous {
            return Ok(None);
        }
        let in_a_row = result.bytes() >= SPLIT || givers.members.len() <= FEW;
        Ok((result.bytes() > 0).then(|| Reducing {
            givers,
            kernel,
            element: result.datatype.size,
            double: element.is_double(),
            in_a_row,
            operand: operand.buffer(),
            result: result.buffer(),
        }))
    })?;
    let Some(reducing) = found else { return Ok(false) };
    if reducing.result.bytes() <= SMALL {
        reducing.at_once();
    } else {
        reducing.by_shares();
    }
    Ok(true)
}

impl Reducing {
    /// Every rank gets all operands.
    fn at_once(&self) {
        let bytes = self.result.bytes();
        // Halves are reduced one by one only where that is the order anyway.
        let in_halves = !self.in_a_row && self.givers.members.len().is_power_of_two();
        let halves = self.givers.halves().filter(|_| in_halves);
        let near = halves.map_or_else(|| self.givers.others(), |(half, _)| half);
        until(|state| state.engine.give(near, &self.operand, 0, bytes).then_some(()));
        let taken = until(|state| state.engine.take_here(near, 0, bytes));
        let mut reduced = self.reduced(self.operands(near, 0, bytes, &taken));
        if let Some((_, partner)) = halves {
            until(|state| state.engine.give_made(partner, &reduced).then_some(()));
            let other = until(|state| state.engine.take_here(partner, 0, bytes));
            let is_lower = self.givers.own < self.givers.partner();
            reduced = self.reduced(if is_lower { vec![reduced, other] } else { vec![other, reduced] });
        }
        runtime::enter().engine.bring_home(&self.result, 0, &reduced);
    }

    /// Every rank reduces a share of each piece.
    fn by_shares(&self) {
        let (ranks, own) = (self.givers.members.len(), self.givers.own);
        let others = self.givers.others();
        let count = self.result.bytes() / self.element;
        let pieces = self.result.bytes().div_ceil(MOST_GIVEN / self.element * self.element);
        for piece in 0..pieces {
            let (first, elements) = share(count, pieces, piece);
            let bytes_of = |rank| {
                let (start, count) = share(elements, ranks, rank);
                (start * self.element, count * self.element)
            };
            let (at, whole) = (first * self.element, elements * self.element);
            let (start, bytes) = bytes_of(own);
            until(|state| state.engine.give(others, &self.operand, at, whole).then_some(()));
            let taken = until(|state| state.engine.take_here(others, start, bytes));
            let reduced = self.reduced(self.operands(others, at + start, bytes, &taken));
            until(|state| state.engine.give_made(others, &reduced).then_some(()));
            let largest = bytes_of(0).1;
            let taken = until(|state| state.engine.take_here(others, 0, largest));
            let mut results = vec![0; whole];
            results[start..start + bytes].copy_from_slice(&reduced);
            let mut rest = &taken[..];
            for rank in self.givers.order(others) {
                let (start, bytes) = bytes_of(rank);
                let (shared, more) = rest.split_at(bytes.min(rest.len()));
                results[start..start + shared.len()].copy_from_slice(shared);
                rest = more;
            }
            runtime::enter().engine.bring_home(&self.result, at, &results);
        }
    }

    /// The operands of this rank and others, in order, given those of others as they were taken.
    fn operands(&self, others: u32, from: usize, bytes: usize, taken: &[u8]) -> Vec<Vec<u8>> {
        let mut all = vec![Vec::new(); self.givers.members.len()];
        // SAFETY: the program lends its operand, whose elements lie in a row, until the collective is over.
        let own = unsafe { std::slice::from_raw_parts(self.operand.address().wrapping_add(from), bytes) };
        all[self.givers.own] = own.to_vec();
        for (rank, operand) in self.givers.order(others).into_iter().zip(taken.chunks(bytes)) {
            // Of a rank that gave less, zeros are the rest.
            all[rank] = [operand, &vec![0; bytes - operand.len()]].concat();
        }
        all.retain(|operand| !operand.is_empty());
        all
    }

    /// One operand of all.
    fn reduced(&self, mut operands: Vec<Vec<u8>>) -> Vec<u8> {
        let results = operands.len() - 1;
        let bytes = operands[0].len();
        let reduce = |from: &[u8], into: &mut [u8]| {
            // SAFETY: both have as many whole elements, which need not be aligned.
            unsafe { (self.kernel)(from.as_ptr(), into.as_ptr(), into.as_mut_ptr(), bytes / self.element) };
        };
        if self.in_a_row {
            let mut last = operands.pop().unwrap_or_default();
            operands.iter().rev().for_each(|operand| reduce(operand, &mut last));
            operands = vec![last];
        } else {
            let pairs = operands.len() - (1 << operands.len().ilog2());
            let mut runs: Vec<Vec<u8>> = Vec::new();
            for (place, mut operand) in operands.into_iter().enumerate() {
                match runs.last_mut() {
                    Some(before) if place < 2 * pairs && place % 2 == 1 => {
                        reduce(before, &mut operand);
                        *before = operand;
                    }
                    _ => runs.push(operand),
                }
            }
            while runs.len() > 1 {
                runs = runs
                    .chunks_mut(2)
                    .map(|two| {
                        let mut upper = std::mem::take(&mut two[1]);
                        reduce(&two[0], &mut upper);
                        upper
                    })
                    .collect();
            }
            operands = runs;
        }
        runtime::enter().engine.combined(bytes * results, self.double, true);
        operands.pop().unwrap_or_default()
    }
}
