//! Which ranks of a communicator share a cpu, as they said when they first wanted to know it.

use std::cmp::Reverse;

/// Which ranks share a cpu.
pub(crate) struct CpuSharing {
    /// Of each rank: those with the same number share one.
    cpus: Vec<u64>,
}

/// What a rank says that is not bound to one cpu.
pub(crate) const ANYWHERE: u64 = u64::MAX;

impl CpuSharing {
    /// Of what all ranks said, each its cpu. `cpus`: how many the job has.
    ///
    /// Where some rank may be anywhere, neighbours count as sharing a cpu: results of a reduction depend on it, and are
    /// to be the same each time.
    pub(crate) fn of(said: Vec<u64>, cpus: usize) -> Self {
        let (ranks, is_known) = (said.len(), !said.contains(&ANYWHERE));
        let in_turn = || (0..ranks).map(|rank| (rank * cpus / ranks) as u64).collect();
        Self { cpus: if is_known { said } else { in_turn() } }
    }

    /// The ranks before and behind one in the chain of all ranks that goes cpu by cpu, and ends at the root.
    pub(crate) fn neighbours(&self, own: usize, root: usize) -> [Option<usize>; 2] {
        let key = |rank: usize| {
            let cpu = self.cpus[rank];
            (cpu == self.cpus[root], cpu, rank == root, Reverse(rank))
        };
        let ranks = 0..self.cpus.len();
        [
            ranks.clone().filter(|&rank| key(rank) < key(own)).max_by_key(|&rank| key(rank)),
            ranks.filter(|&rank| key(rank) > key(own)).min_by_key(|&rank| key(rank)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chain to a root, from its first rank on.
    fn chain(sharing: &CpuSharing, root: usize) -> Vec<usize> {
        let ranks = sharing.cpus.len();
        let first = (0..ranks).find(|&rank| sharing.neighbours(rank, root)[0].is_none()).unwrap();
        let mut chain = vec![first];
        while let [_, Some(next)] = sharing.neighbours(chain[chain.len() - 1], root) {
            assert_eq!(sharing.neighbours(next, root)[0], chain.last().copied());
            chain.push(next);
        }
        chain
    }

    #[test]
    fn a_chain_goes_cpu_by_cpu_and_ends_at_the_root() {
        let cyclic = CpuSharing::of(vec![0, 1, 0, 1, 0, 1], 2);
        assert_eq!(chain(&cyclic, 0), [5, 3, 1, 4, 2, 0]);
        assert_eq!(chain(&cyclic, 3), [4, 2, 0, 5, 1, 3]);
        let uneven = CpuSharing::of(vec![7, 5, 9, 5], 4);
        assert_eq!(chain(&uneven, 0), [3, 1, 2, 0]);
        assert_eq!(chain(&uneven, 1), [0, 2, 3, 1]);
    }

    #[test]
    fn neighbours_count_as_sharing_a_cpu_where_one_is_bound_to_none() {
        let unbound = CpuSharing::of(vec![0, ANYWHERE, 0, 1, 1], 2);
        assert_eq!(unbound.cpus, [0, 0, 0, 1, 1]);
    }
}
