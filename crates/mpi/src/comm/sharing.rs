//! Which ranks of a communicator share a cpu, as they said when they first wanted to know it.

use std::cmp::Reverse;

/// Which ranks share a cpu.
pub(crate) struct CpuSharing {
    /// Of each rank: those with the same number share one.
    cpus: Vec<u64>,
}

/// All ranks in a ring that goes cpu by cpu and has some arcs, as one of them sees it. An arc holds all ranks of one
/// cpu or of several.
pub(crate) struct Ring {
    rank: usize,
    pub before: usize,
    pub next: usize,
    /// The number of its arc.
    pub arc: usize,
    /// Of each arc the first rank, and the last one.
    first: Vec<usize>,
    pub last: Vec<usize>,
}

impl Ring {
    /// It is the first rank of its arc.
    pub(crate) fn is_first(&self) -> bool {
        self.first[self.arc] == self.rank
    }

    /// It is the last one.
    pub(crate) fn is_last(&self) -> bool {
        self.last[self.arc] == self.rank
    }
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

    /// The ring of all ranks, as one of them sees it, in so many arcs, or in one for each cpu where there are fewer.
    pub(crate) fn ring(&self, own: usize, arcs: usize) -> Ring {
        let mut ranks: Vec<usize> = (0..self.cpus.len()).collect();
        ranks.sort_by_key(|&rank| (self.cpus[rank], rank));
        let at = ranks.iter().position(|&rank| rank == own).expect("it is one of them");
        let of_cpus: Vec<&[usize]> = ranks.chunk_by(|&a, &b| self.cpus[a] == self.cpus[b]).collect();
        let arcs = arcs.clamp(1, of_cpus.len());
        let arc_of = |cpu: usize| cpu * arcs / of_cpus.len();
        let own_cpu = of_cpus.iter().position(|ranks| ranks.contains(&own)).expect("it is one of them");
        let mut ring = Ring {
            rank: own,
            before: ranks[(at + ranks.len() - 1) % ranks.len()],
            next: ranks[(at + 1) % ranks.len()],
            arc: arc_of(own_cpu),
            first: Vec::new(),
            last: Vec::new(),
        };
        for (cpu, ranks) in of_cpus.iter().enumerate() {
            let arc = arc_of(cpu);
            if cpu == 0 || arc_of(cpu - 1) < arc {
                ring.first.push(ranks[0]);
                ring.last.push(0);
            }
            ring.last[arc] = ranks[ranks.len() - 1];
        }
        ring
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

    #[test]
    fn a_ring_goes_cpu_by_cpu_and_each_arc_is_of_whole_cpus() {
        let sharing = CpuSharing::of(vec![9, 4, 4, 9, 6, 2], 4);
        // In the order of the ring: 5 | 1 2 | 4 | 0 3.
        for (arcs, first, last) in [
            (0, vec![5], vec![3]),
            (1, vec![5], vec![3]),
            (2, vec![5, 4], vec![2, 3]),
            (3, vec![5, 4, 0], vec![2, 4, 3]),
            (4, vec![5, 1, 4, 0], vec![5, 2, 4, 3]),
            (99, vec![5, 1, 4, 0], vec![5, 2, 4, 3]),
        ] {
            let mut arc = 0;
            for (rank, next) in [(5, 1), (1, 2), (2, 4), (4, 0), (0, 3), (3, 5)] {
                let ring = sharing.ring(rank, arcs);
                assert_eq!((&ring.first, &ring.last), (&first, &last));
                assert_eq!((ring.next, sharing.ring(next, arcs).before), (next, rank));
                assert_eq!((ring.arc, ring.is_first()), (arc, first.get(arc) == Some(&rank)));
                assert_eq!(ring.is_last(), last[arc] == rank);
                arc += usize::from(ring.is_last());
            }
            assert_eq!(arc, first.len());
        }
    }
}
