//! Splitting a communicator by what its ranks run on (MPI 5.0, section 7.4.2).

use super::agreement::take_context;
use super::construct::member_of;
use super::exchange::{self, Circle, making_tag, word};
use super::hardware::{self, LEVELS, SHARED_MEMORY, UNBOUND};
use super::info::{self, Info};
use super::{Comm, Group};
use crate::abi;
use crate::abi::values::*;
use crate::check::{self, Failure, mpi};
use crate::runtime;
use std::ffi::c_int;
use std::sync::Arc;

/// By what a rank wants to be split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    /// Not at all: `MPI_COMM_NULL`.
    Nothing,
    /// With all others that want this.
    Everything,
    /// Alone.
    Itself,
    /// With those in the same part of a kind.
    Part(usize),
    /// With those in the same part of the largest kind that splits.
    LargestPart,
}

/// What a rank tells the others: by what, its key, its parts.
const WORDS: usize = 2 + LEVELS;

/// What a hint names: a kind of part, or a set of processes.
fn guided(hints: &Info, sets: bool) -> By {
    match (hints.get(b"mpi_hw_resource_type"), hints.get(b"mpi_pset_name")) {
        (Some(name), _) if name == SHARED_MEMORY.as_bytes() => By::Everything,
        (Some(name), _) => hardware::kind(name).map_or(By::Nothing, By::Part),
        (None, Some(b"mpi://WORLD")) if sets => By::Everything,
        (None, Some(b"mpi://SELF")) if sets => By::Itself,
        _ => By::Nothing,
    }
}

fn by(split_type: c_int, hints: &Info) -> Result<By, Failure> {
    Ok(match split_type {
        MPI_UNDEFINED => By::Nothing,
        MPI_COMM_TYPE_SHARED => By::Everything,
        MPI_COMM_TYPE_HW_UNGUIDED => By::LargestPart,
        MPI_COMM_TYPE_HW_GUIDED => guided(hints, false),
        MPI_COMM_TYPE_RESOURCE_GUIDED => guided(hints, true),
        other => {
            let text = format_args!(
                "split_type is {other}; allowed are MPI_COMM_TYPE_SHARED, MPI_COMM_TYPE_HW_GUIDED, \
                 MPI_COMM_TYPE_HW_UNGUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED and MPI_UNDEFINED"
            );
            return Err(Failure::new(MPI_ERR_ARG, text));
        }
    })
}

/// The ranks that go with `rank`, unordered, and the kind of part that split; of the rows that all ranks told.
fn together(rows: &[&[u32]], rank: usize, by: By) -> (Vec<usize>, Option<usize>) {
    let wants = |other: &usize| rows[*other][0] != 0;
    let in_part = |kind: usize| -> Vec<usize> {
        let own = rows[rank][2 + kind];
        (0..rows.len())
            .filter(wants)
            .filter(|&other| own != UNBOUND && rows[other][2 + kind] == own)
            .collect()
    };
    match by {
        By::Nothing => (Vec::new(), None),
        By::Everything => ((0..rows.len()).filter(wants).collect(), None),
        By::Itself => (vec![rank], None),
        By::Part(kind) => (in_part(kind), Some(kind)),
        By::LargestPart => (0..LEVELS)
            .map(|kind| (in_part(kind), Some(kind)))
            .find(|(ranks, _)| !ranks.is_empty() && ranks.len() < rows.len())
            .unwrap_or_default(),
    }
}

/// The new communicator, and the kind of part that split.
fn split(comm: &Comm, by: By, key: c_int, hints: Info) -> Result<(abi::Comm, Option<usize>), Failure> {
    let circle = Circle::local(comm, making_tag(comm));
    let parts = hardware::own_parts();
    let row: Vec<u32> = [(by != By::Nothing) as u32, word(key)].into_iter().chain(parts).collect();
    let gathered = circle.gather(&exchange::words(row))?;
    let own = match comm.rank {
        0 => [exchange::words([take_context(&runtime::enter())]), gathered].concat(),
        _ => Vec::new(),
    };
    let told = exchange::numbers(&circle.broadcast(0, own, 4 + 4 * WORDS * comm.size())?);
    let rows: Vec<&[u32]> = told[1..].chunks_exact(WORDS).collect();
    let (mut ranks, kind) = together(&rows, comm.rank, by);
    ranks.sort_by_key(|&rank| rows[rank][1] as i32);
    let members = ranks.into_iter().map(|rank| comm.group.members[rank]).collect();
    Ok((member_of(comm, told[0], Arc::new(Group { members }), hints)?, kind))
}

mpi! {
    /// Ranks that share a part of the machine together, ordered by key. All ranks of one job share memory.
    fn PMPI_Comm_split_type(comm: abi::Comm, split_type: c_int, key: c_int, info: abi::Info, newcomm: *mut abi::Comm) on comm {
        let (found, hints) = {
            let state = check::running()?;
            *check::output(newcomm, "newcomm")? = abi::Comm(MPI_COMM_NULL);
            (check::intracomm(&state, comm, "comm")?.clone(), info::hints(&state, info)?)
        };
        let by = by(split_type, &hints)?;
        let (made, kind) = split(&found, by, key, hints)?;
        if let (By::LargestPart, Some(kind), Some(info)) = (by, kind, runtime::enter().infos.get_mut(info.0)) {
            info.set(b"mpi_hw_resource_type", hardware::name(kind).as_bytes());
        }
        *check::output(newcomm, "newcomm")? = made;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: u32 = UNBOUND;
    /// Four ranks of one package: two on one L3, two on another; the last is on no single core and wants no part of it.
    const ROWS: [[u32; WORDS]; 4] = [
        [1, 0, 0, 0, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 2, 2, 2],
        [1, 0, 0, 0, 4, 4, 4, 4],
        [0, 0, 0, 0, 4, OUT, OUT, OUT],
    ];

    fn told(rank: usize, by: By) -> (Vec<usize>, Option<usize>) {
        together(&ROWS.each_ref().map(|row| &row[..]), rank, by)
    }

    #[test]
    fn unguided_splits_by_the_largest_part_that_leaves_somebody_out() {
        let l3 = hardware::kind(b"hwloc://L3Cache");
        // All who want are in one package and one node, but one rank does not want.
        assert_eq!(told(0, By::LargestPart), (vec![0, 1, 2], Some(0)));
        let mut all = ROWS;
        all[3][0] = 1;
        let rows = all.each_ref().map(|row| &row[..]);
        assert_eq!(together(&rows, 0, By::LargestPart), (vec![0, 1], l3));
        assert_eq!(together(&rows, 3, By::LargestPart), (vec![2, 3], l3));
    }

    #[test]
    fn who_is_bound_to_no_part_of_a_kind_goes_with_nobody() {
        assert_eq!(told(3, By::Part(LEVELS - 1)).0, []);
        assert_eq!(told(1, By::Part(LEVELS - 1)).0, [1]);
        assert_eq!(told(1, By::Everything).0, [0, 1, 2]);
    }

    #[test]
    fn a_hint_that_names_nothing_known_splits_nothing() {
        let mut hints = Info::default();
        assert_eq!(by(MPI_COMM_TYPE_HW_GUIDED, &hints).unwrap(), By::Nothing);
        hints.set(b"mpi_hw_resource_type", b"mpi_shared_memory");
        assert_eq!(by(MPI_COMM_TYPE_HW_GUIDED, &hints).unwrap(), By::Everything);
        let mut sets = Info::default();
        sets.set(b"mpi_pset_name", b"mpi://SELF");
        assert_eq!(by(MPI_COMM_TYPE_RESOURCE_GUIDED, &sets).unwrap(), By::Itself);
        assert_eq!(by(MPI_COMM_TYPE_HW_GUIDED, &sets).unwrap(), By::Nothing);
        assert!(by(-7, &sets).unwrap_err().text().contains("split_type is -7"));
    }
}
