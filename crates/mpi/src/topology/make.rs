//! A communicator with a topology, its ranks placed when they may be reordered.

use crate::abi;
use crate::abi::values::*;
use crate::call::Out;
use crate::check::{self, Failure};
use crate::comm::agreement::take_context;
use crate::comm::exchange::{Circle, making_tag, numbers, words};
use crate::comm::hardware::{self, UNBOUND};
use crate::comm::info::Info;
use crate::comm::table::insert;
use crate::comm::valid;
use crate::comm::{Comm, Group};
use crate::neighbours::Topology;
use crate::runtime::{self, State};
use place::{Distance, SeatDistances, Traffic, quick};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How far the processes of a communicator are from one another, by the cpus that they are bound to on the machine
/// below `root`.
fn distances(state: &State, comm: &Comm, root: &Path) -> SeatDistances {
    let segment = state.engine.segment();
    let cpus_of = |job: u32| -> Vec<u32> {
        let words = segment.rank(job as usize).affinity.iter().enumerate();
        words
            .flat_map(|(at, word)| {
                let word = word.load(Ordering::Relaxed);
                (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at as u32 * 64 + bit)
            })
            .collect()
    };
    between(comm.group.members.iter().map(|&job| cpus_of(job)), root)
}

/// How far processes are from one another: the kinds of parts of the machine that two do not share, given the cpus of
/// each.
fn between(cpus: impl Iterator<Item = Vec<u32>>, root: &Path) -> SeatDistances {
    let mut known = HashMap::new();
    let parts: Vec<_> =
        cpus.map(|cpus| *known.entry(cpus).or_insert_with_key(|cpus| hardware::parts(root, cpus))).collect();
    SeatDistances::new(parts.len(), |a, b| {
        let shared = parts[a].iter().zip(&parts[b]).filter(|(a, b)| a == b && **a != UNBOUND).count();
        (hardware::LEVELS - shared) as f64
    })
}

/// The process (rank of `comm`) for each rank of a new communicator with these edges; the same on all ranks.
pub(super) fn placed(
    state: &State,
    comm: &Comm,
    edges: impl IntoIterator<Item = (usize, usize, u64)>,
) -> Vec<usize> {
    let count = comm.size();
    let distances = distances(state, comm, Path::new("/"));
    let order = if distances.all_equal() { None } else { quick(&mut weighted(count, edges, distances)) };
    order.unwrap_or_else(|| (0..count).collect())
}

/// What an order of ranks costs: the weights of the edges times the distance.
fn weighted(
    count: usize,
    edges: impl IntoIterator<Item = (usize, usize, u64)>,
    distances: SeatDistances,
) -> Distance {
    let edges = edges.into_iter().map(|(from, to, weight)| (from, to, weight as f64));
    Distance::new(&Traffic::of("topology", count, edges), distances)
}

/// The making of a communicator of all or some ranks of another.
pub(super) struct Making<'a> {
    comm: &'a Arc<Comm>,
    circle: Circle,
}

impl<'a> Making<'a> {
    /// All ranks of `comm` start it.
    pub(super) fn of(comm: &'a Arc<Comm>) -> Self {
        Self { comm, circle: Circle::local(comm, making_tag(comm)) }
    }

    /// What every rank says, told to all, in the order of ranks.
    ///
    /// # Errors
    /// The ranks call different functions.
    pub(super) fn tell_all(&self, own: &[u32]) -> Result<Vec<Vec<u32>>, Failure> {
        let ranks = self.comm.size();
        let lengths = self.gathered(&[own.len() as u32], 1)?;
        let most = lengths.iter().copied().max().unwrap_or(0) as usize;
        let mut padded = own.to_vec();
        padded.resize(most, 0);
        let all = self.gathered(&padded, most)?;
        Ok((0..ranks).map(|rank| all[rank * most..][..lengths[rank] as usize].to_vec()).collect())
    }

    /// As many words of every rank, in the order of ranks.
    fn gathered(&self, own: &[u32], each: usize) -> Result<Vec<u32>, Failure> {
        let gathered = self.circle.gather(&words(own.iter().copied()))?;
        let room = 4 * each * self.comm.size();
        let all =
            self.circle.broadcast(0, if self.circle.place == 0 { gathered } else { Vec::new() }, room)?;
        Ok(numbers(&all))
    }

    /// Makes it of the first `count` ranks in an order that rank 0 finds: the rank of each process of this
    /// communicator.
    ///
    /// # Errors
    /// The ranks call different functions.
    pub(super) fn finish(
        self,
        count: usize,
        order: impl FnOnce(&State, &Comm) -> Vec<usize>,
        topology: impl FnOnce(usize) -> Topology,
    ) -> Result<abi::Comm, Failure> {
        let own = if self.circle.place == 0 {
            let state = runtime::enter();
            let order = order(&state, self.comm);
            words(std::iter::once(take_context(&state)).chain(order[..count].iter().map(|&rank| rank as u32)))
        } else {
            Vec::new()
        };
        let told = numbers(&self.circle.broadcast(0, own, 4 * (1 + count))?);
        let members = told[1..].iter().map(|&rank| self.comm.group.members[rank as usize]).collect();
        let made = insert(self.comm, told[0], Arc::new(Group { members }), None, Info::default())?;
        give(made, topology);
        Ok(made)
    }
}

/// Gives a new communicator its topology, made for this process's rank in it.
pub(super) fn give(made: abi::Comm, topology: impl FnOnce(usize) -> Topology) {
    let state = runtime::enter();
    if let Some(comm) = state.comm(made).filter(|_| made.0 != MPI_COMM_NULL) {
        let first = comm.topology.set(Arc::new(topology(comm.rank)));
        debug_assert!(first.is_ok(), "a new communicator has no topology");
    }
}

/// The communicator that one with a topology is made of, whose handle's place is cleared.
///
/// # Errors
/// No communicator, or an intercommunicator; no place for the handle.
pub(super) fn parent(comm: abi::Comm, newcomm: Out<'_, abi::Comm>) -> Result<Arc<Comm>, Failure> {
    let state = check::running()?;
    newcomm.write(abi::Comm(MPI_COMM_NULL))?;
    Ok(valid::intracomm(&state, comm, "comm")?.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbours::Grid;
    use crate::topology::recorded::{Root, files};
    use place::Objective;

    fn epyc() -> Root {
        Root::of(&files("epyc-2x64"))
    }

    fn edges(grid: &Grid) -> Vec<(usize, usize, u64)> {
        let edge =
            |rank: usize| grid.neighbours(rank).into_iter().flatten().map(move |other| (rank, other, 1));
        (0..grid.size().unwrap()).flat_map(edge).collect()
    }

    #[test]
    fn on_a_machine_of_two_chips_a_grid_is_placed_so_that_neighbours_are_near() {
        let machine = epyc();
        // 64 ranks dealt out in turn to the chips' caches: rank r on cpu 8 (r mod 16) + r / 16.
        let cpus = |rank: u32| vec![8 * (rank % 16) + rank / 16];
        let distances = between((0..64).map(cpus), &machine.0);
        // Cache-mates, chip-mates, and strangers are at three distances.
        let far = [16, 1, 8].map(|other| distances.between(0, other));
        assert!(far[0] < far[1] && far[1] < far[2], "{far:?}");
        let grid = Grid { dims: vec![8, 8], periods: vec![false, false] };
        let as_it_is: Vec<usize> = (0..64).collect();
        let mut objective = weighted(64, edges(&grid), distances);
        let order = quick(&mut objective).expect("there is a better order");
        let costs = [&as_it_is, &order].map(|order| objective.cost(order));
        // At best: a block of 2 x 2 in each of 16 caches (64 pairs of neighbours within), half the caches on each chip
        // (8 pairs across), and 40 pairs that only share a chip. A pair exchanges two messages.
        let best = 2.0 * (64.0 * far[0] + 40.0 * far[1] + 8.0 * far[2]);
        assert!(costs[1] < costs[0] && costs[1] >= best && costs[1] <= best * 1.05, "{costs:?} {best}");
        let mut sorted = order;
        sorted.sort_unstable();
        assert_eq!(sorted, as_it_is);
    }

    #[test]
    fn a_distributed_graph_of_heavy_groups_gets_a_cache_for_each_group() {
        let machine = epyc();
        // 64 ranks dealt out in turn to 16 caches; four ranks in a row send each other much, and the first of them a
        // little to the first of the next four.
        let cpus = |rank: u32| vec![8 * (rank % 16) + rank / 16];
        let distances = between((0..64).map(cpus), &machine.0);
        let within =
            (0..64).flat_map(|from| (from / 4 * 4..from / 4 * 4 + 4).map(move |to| (from, to, 1000)));
        let across = (0..64).step_by(4).map(|from| (from, (from + 4) % 64, 1));
        let mut objective = weighted(64, within.chain(across).filter(|edge| edge.0 != edge.1), distances);
        let order = quick(&mut objective).expect("there is a better order");
        for group in order.chunks(4) {
            assert!(group.iter().all(|process| process % 16 == group[0] % 16), "{order:?}");
        }
        let as_it_is: Vec<usize> = (0..64).collect();
        assert!(objective.cost(&order) < objective.cost(&as_it_is));
    }

    #[test]
    fn processes_that_are_bound_to_nothing_are_equally_far_apart() {
        let machine = epyc();
        let distances = between((0..6).map(|_| (0..256).collect()), &machine.0);
        assert!(distances.all_equal());
        assert_eq!(quick(&mut weighted(6, [(0, 5, 1), (1, 4, 7)], distances)), None);
    }
}
