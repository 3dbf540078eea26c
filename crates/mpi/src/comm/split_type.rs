//! Splitting a communicator by what its ranks run on (MPI 5.0, section 7.4.2).

use super::agreement::SplitTable;
use super::construct::members;
use super::exchange::word;
use super::hardware::{self, LEVELS, SHARED_MEMORY, UNBOUND};
use super::info::{self, Info};
use super::table::insert;
use super::{Comm, Group};
use crate::abi;
use crate::abi::values::*;
use crate::call::Out;
use crate::check::{self, Failure};
use crate::comm::info::INFOS;
use crate::comm::mpi;
use crate::comm::valid;
use crate::runtime;
use std::ffi::c_int;
use std::sync::Arc;

/// How a rank wants to be split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    /// Not: it gets `MPI_COMM_NULL`.
    Nothing,
    /// With all other ranks that want this.
    Everything,
    /// Alone.
    Itself,
    /// With the ranks in the same part of a kind.
    Part(usize),
    /// With the ranks in the same part of the largest kind that splits.
    LargestPart,
}

/// A rank's row: whether it wants to be split, its key, its parts, its rank in the job.
const FIRST_PART: usize = 2;

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

/// The kind of part that splits: of `By::LargestPart` the first kind of which one part holds this rank and not all
/// ranks.
fn kind(rows: &[&[u32]], rank: usize, by: By) -> Option<usize> {
    match by {
        By::Part(kind) => Some(kind),
        By::LargestPart => (0..LEVELS).find(|&kind| {
            let ranks = together(rows, rows[rank], By::Part(kind));
            !ranks.is_empty() && ranks.len() < rows.len()
        }),
        _ => None,
    }
}

/// The ranks that go with the one whose row is `own`, by key and then by rank; `rows` are those of all ranks.
fn together(rows: &[&[u32]], own: &[u32], by: By) -> Vec<usize> {
    let goes = |row: &[u32]| match by {
        By::Nothing | By::LargestPart => false,
        By::Everything => true,
        By::Itself => row == own,
        By::Part(kind) => {
            own[FIRST_PART + kind] != UNBOUND && row[FIRST_PART + kind] == own[FIRST_PART + kind]
        }
    };
    let mut ranks: Vec<usize> =
        (0..rows.len()).filter(|&rank| rows[rank][0] != 0 && goes(rows[rank])).collect();
    ranks.sort_by_key(|&rank| rows[rank][1] as i32);
    ranks
}

/// The new communicator, and the kind of part that split.
fn split(comm: &Comm, by: By, key: c_int, hints: Info) -> Result<(abi::Comm, Option<usize>), Failure> {
    // No two rows are equal: the last word is the rank in the job.
    let (wants, job) = ((by != By::Nothing) as u32, comm.group.members[comm.rank]);
    let parts = match by {
        By::Part(_) | By::LargestPart => hardware::own_parts(),
        _ => [UNBOUND; LEVELS],
    };
    let row: Vec<u32> = [wants, word(key)].into_iter().chain(parts).chain([job]).collect();
    let table = SplitTable::of_all(comm, &row)?;
    let all: Vec<&[u32]> = table.own().into_iter().chain(table.theirs().unwrap_or_default()).collect();
    let kind = kind(&all, comm.rank, by);
    let by = kind.map_or(if by == By::LargestPart { By::Nothing } else { by }, By::Part);
    let local = Group { members: members(&comm.group, &together(&table.own(), &row, by)) };
    let remote = table.theirs().map(|rows| members(comm.peers(), &together(&rows, &row, by)));
    Ok((insert(comm, table.context, Arc::new(local), remote, hints)?, kind))
}

mpi! {
    /// Ranks that share a part of the machine together, ordered by key. All ranks of one job share memory.
    fn PMPI_Comm_split_type(
        comm: abi::Comm, split_type: c_int, key: c_int, info: abi::Info, newcomm: Out<abi::Comm>,
    ) on comm {
        let (found, hints) = {
            let state = check::running()?;
            newcomm.write(abi::Comm(MPI_COMM_NULL))?;
            (valid::comm(&state, comm)?.clone(), info::hints(&state, info)?)
        };
        let by = by(split_type, &hints)?;
        let (made, kind) = split(&found, by, key, hints)?;
        let mut state = runtime::enter();
        let info = INFOS.of_mut(&mut state).get_mut(info.0);
        if let (By::LargestPart, Some(kind), Some(info)) = (by, kind, info) {
            info.set(b"mpi_hw_resource_type", hardware::name(kind).as_bytes());
        }
        newcomm.write(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four ranks of one package: two on one L3, two on another; the last is bound to no core and wants nothing.
    const ROWS: [[u32; FIRST_PART + LEVELS + 1]; 4] = [
        [1, 0, 0, 0, 0, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 2, 2, 2, 1],
        [1, 0, 0, 0, 4, 4, 4, 4, 2],
        [0, 0, 0, 0, 4, UNBOUND, UNBOUND, UNBOUND, 3],
    ];

    #[test]
    fn unguided_splits_by_the_largest_part_that_leaves_somebody_out() {
        let package = hardware::kind(b"hwloc://Package");
        let l3 = hardware::kind(b"hwloc://L3Cache");
        assert_eq!(kind(&ROWS.each_ref().map(|row| &row[..]), 0, By::LargestPart), package);
        let mut all = ROWS;
        all[3][0] = 1;
        let rows = all.each_ref().map(|row| &row[..]);
        assert_eq!(kind(&rows, 0, By::LargestPart), l3);
        assert_eq!(together(&rows, rows[0], By::Part(l3.unwrap())), [0, 1]);
        assert_eq!(together(&rows, rows[3], By::Part(l3.unwrap())), [2, 3]);
    }

    #[test]
    fn who_is_bound_to_no_part_of_a_kind_goes_with_nobody() {
        let rows = ROWS.each_ref().map(|row| &row[..]);
        assert!(together(&rows, rows[3], By::Part(LEVELS - 1)).is_empty());
        assert_eq!(together(&rows, rows[1], By::Part(LEVELS - 1)), [1]);
        assert_eq!(together(&rows, rows[1], By::Everything), [0, 1, 2]);
        assert_eq!(together(&rows, rows[1], By::Itself), [1]);
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
