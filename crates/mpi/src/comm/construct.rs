//! Making communicators of intracommunicators and freeing any (MPI 5.0, section 7.4).

use super::agreement::{SplitTable, agree, agree_among};
use super::exchange::{Circle, making_tag, word};
use super::info::{self, Info};
use super::table::{insert, insert_twin};
use super::{Comm, Group};
use crate::abi;
use crate::abi::values::*;
use crate::call::{InOut, Out};
use crate::check::{self, Failure};
use crate::comm::intercomm;
use crate::comm::mpi;
use crate::comm::valid;
use crate::runtime;
use std::ffi::c_int;
use std::sync::Arc;

/// A communicator with the groups of `parent`, that is not in the table yet.
pub(crate) fn twin(parent: &Comm, context: u32, hints: Info) -> Comm {
    let mut made = Comm::new(context, parent.rank, parent.group.clone(), parent.remote.clone());
    *made.hints.lock().unwrap() = hints;
    made.topology = parent.topology.clone();
    made
}

fn duplicate(handle: abi::Comm, hints: abi::Info, newcomm: Out<abi::Comm>) -> Result<(), Failure> {
    let (comm, hints) = {
        let state = check::running()?;
        newcomm.write(abi::Comm(MPI_COMM_NULL))?;
        (valid::comm(&state, handle)?.clone(), info::hints(&state, hints)?)
    };
    let context = agree(&comm, making_tag(&comm))?;
    newcomm.write(insert_twin(&comm, handle, twin(&comm, context, hints))?)
}

/// That all members of a group are ranks of a communicator.
pub(crate) fn within(group: &Group, comm: &Comm) -> Result<(), Failure> {
    match group.members.iter().position(|&member| comm.group.rank_of(member).is_none()) {
        None => Ok(()),
        Some(stranger) => {
            let text = format_args!(
                "group has a member (rank {stranger} of it) that is not in comm; allowed are subsets of its group"
            );
            Err(Failure::new(MPI_ERR_GROUP, text))
        }
    }
}

fn create(handle: abi::Comm, group: abi::Group, newcomm: Out<abi::Comm>) -> Result<(), Failure> {
    let (comm, group) = {
        let state = check::running()?;
        newcomm.write(abi::Comm(MPI_COMM_NULL))?;
        (valid::comm(&state, handle)?.clone(), valid::group(&state, group, "group")?)
    };
    within(&group, &comm)?;
    let tag = making_tag(&comm);
    let made = if comm.remote.is_some() {
        intercomm::create(&comm, group, tag)?
    } else {
        insert(&comm, agree(&comm, tag)?, group, None, Info::default())?
    };
    newcomm.write(made)
}

/// The members of a group at some ranks.
pub(crate) fn members(group: &Group, ranks: &[usize]) -> Vec<u32> {
    ranks.iter().map(|&rank| group.members[rank]).collect()
}

/// Splits an intracommunicator or an intercommunicator; `MPI_COMM_NULL` without a colour.
///
/// # Errors
/// The ranks call different functions.
pub(crate) fn split(comm: &Comm, colour: c_int, key: c_int, hints: Info) -> Result<abi::Comm, Failure> {
    let table = SplitTable::of_all(comm, &[word(colour), word(key)])?;
    let local = Group { members: members(&comm.group, &with_colour(&table.own(), colour)) };
    let remote = table.theirs().map(|rows| members(comm.peers(), &with_colour(&rows, colour)));
    insert(comm, table.context, Arc::new(local), remote, hints)
}

/// The ranks whose row has a colour, by key and then by rank.
fn with_colour(rows: &[&[u32]], colour: c_int) -> Vec<usize> {
    let mut ranks: Vec<usize> = (0..rows.len()).filter(|&rank| rows[rank][0] == word(colour)).collect();
    ranks.sort_by_key(|&rank| rows[rank][1] as i32);
    if colour == MPI_UNDEFINED { Vec::new() } else { ranks }
}

/// That a value may be a colour.
fn colour(value: c_int) -> Result<(), Failure> {
    if value < 0 && value != MPI_UNDEFINED {
        let text = format_args!("color is {value}; allowed are 0 and more, and MPI_UNDEFINED");
        return Err(Failure::new(MPI_ERR_ARG, text));
    }
    Ok(())
}

fn free(place: InOut<'_, abi::Comm>) -> Result<(), Failure> {
    let handle = place.read()?;
    let comm = {
        let state = check::running()?;
        let comm = valid::comm(&state, handle)?.clone();
        if let MPI_COMM_WORLD | MPI_COMM_SELF = handle.0 {
            let text = "comm is MPI_COMM_WORLD or MPI_COMM_SELF, which cannot be freed";
            return Err(Failure::new(MPI_ERR_COMM, text).on(handle));
        }
        comm
    };
    comm.attributes.clear(handle.0).map_err(|failure| failure.on(handle))?;
    runtime::enter().remove_comm(handle);
    place.write(abi::Comm(MPI_COMM_NULL))
}

mpi! {
    /// The same groups and attributes, another context.
    fn PMPI_Comm_dup(comm: abi::Comm, newcomm: Out<abi::Comm>) on comm {
        duplicate(comm, abi::Info(MPI_INFO_NULL), newcomm)
    }

    /// As dup, with hints.
    fn PMPI_Comm_dup_with_info(comm: abi::Comm, info: abi::Info, newcomm: Out<abi::Comm>) on comm {
        duplicate(comm, info, newcomm)
    }

    /// A communicator of a subset of the ranks; all ranks of `comm` call it.
    fn PMPI_Comm_create(comm: abi::Comm, group: abi::Group, newcomm: Out<abi::Comm>) on comm {
        create(comm, group, newcomm)
    }

    /// A communicator of a subset of the ranks; only these call it.
    fn PMPI_Comm_create_group(comm: abi::Comm, group: abi::Group, tag: c_int, newcomm: Out<abi::Comm>) on comm {
        let (comm, group) = {
            let state = check::running()?;
            newcomm.write(abi::Comm(MPI_COMM_NULL))?;
            (valid::intracomm(&state, comm, "comm")?.clone(), valid::group(&state, group, "group")?)
        };
        within(&group, &comm)?;
        check::tag(tag)?;
        if let Some(circle) = Circle::of(&comm, comm.construction(), &group, tag) {
            let made = insert(&comm, agree_among(&circle)?, group, None, Info::default())?;
            newcomm.write(made)?;
        }
        Ok(())
    }

    /// Ranks of the same colour together, ordered by key.
    fn PMPI_Comm_split(comm: abi::Comm, color: c_int, key: c_int, newcomm: Out<abi::Comm>) on comm {
        let found = {
            let state = check::running()?;
            newcomm.write(abi::Comm(MPI_COMM_NULL))?;
            valid::comm(&state, comm)?.clone()
        };
        colour(color)?;
        newcomm.write(split(&found, color, key, Info::default())?)
    }

    /// Deletes the attributes and frees the handle. Messages that are under way arrive.
    fn PMPI_Comm_free(comm: InOut<abi::Comm>) {
        free(comm)
    }

    /// As free: without spawned or connected jobs, there is nothing more to wait for once all requests are complete.
    fn PMPI_Comm_disconnect(comm: InOut<abi::Comm>) {
        free(comm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_with_a_stranger_is_refused() {
        let comm = Comm::new(40, 0, Arc::new(Group { members: vec![1, 3] }), None);
        assert!(within(&Group { members: vec![3] }, &comm).is_ok());
        let failure = within(&Group { members: vec![3, 2] }, &comm).unwrap_err();
        assert_eq!(failure.class(), MPI_ERR_GROUP);
        assert!(failure.text().contains("rank 1 of it"), "{}", failure.text());
    }

    #[test]
    fn a_split_orders_by_key_and_then_by_rank() {
        let rows = [(1, 5), (2, 0), (1, -3), (1, 5), (MPI_UNDEFINED, 0)]
            .map(|(colour, key)| [word(colour), word(key)]);
        let rows = rows.each_ref().map(|row| &row[..]);
        assert_eq!(with_colour(&rows, 1), [2, 0, 3]);
        assert_eq!(with_colour(&rows, 2), [1]);
        assert!(with_colour(&rows, MPI_UNDEFINED).is_empty());
    }

    #[test]
    fn a_negative_colour_is_refused() {
        assert!(colour(0).is_ok() && colour(MPI_UNDEFINED).is_ok());
        assert!(colour(-1).unwrap_err().text().starts_with("color is -1"));
    }
}
