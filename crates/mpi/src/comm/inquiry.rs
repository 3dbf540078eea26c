//! What a communicator and a group say of themselves (MPI 5.0, sections 7.3.1, 7.4.1, 7.6.1 and 7.8).

use super::{Comm, Group, rank_or_undefined};
use crate::abi;
use crate::abi::values::*;
use crate::call::{In, Out};
use crate::check;
use crate::comm::mpi;
use crate::comm::table::GROUPS;
use crate::comm::valid;
use std::ffi::{c_char, c_int};
use std::sync::Arc;

fn compare_groups(one: &Group, other: &Group) -> c_int {
    if one.members == other.members {
        return MPI_IDENT;
    }
    let sorted = |group: &Group| {
        let mut members = group.members.clone();
        members.sort_unstable();
        members
    };
    if sorted(one) == sorted(other) { MPI_SIMILAR } else { MPI_UNEQUAL }
}

fn compare_comms(one: &Arc<Comm>, other: &Arc<Comm>) -> c_int {
    if Arc::ptr_eq(one, other) {
        return MPI_IDENT;
    }
    let remote = match (&one.remote, &other.remote) {
        (None, None) => MPI_IDENT,
        (Some(one), Some(other)) => compare_groups(one, other),
        _ => return MPI_UNEQUAL,
    };
    match (compare_groups(&one.group, &other.group), remote) {
        (MPI_IDENT, MPI_IDENT) => MPI_CONGRUENT,
        (MPI_UNEQUAL, _) | (_, MPI_UNEQUAL) => MPI_UNEQUAL,
        _ => MPI_SIMILAR,
    }
}

mpi! {
    /// This process's rank in the (local) group.
    fn PMPI_Comm_rank(comm: abi::Comm, rank: Out<c_int>) on comm {
        let state = check::running()?;
        let place = valid::comm(&state, comm)?.rank;
        rank.write(place as c_int)
    }

    /// Ranks in the (local) group.
    fn PMPI_Comm_size(comm: abi::Comm, size: Out<c_int>) on comm {
        let state = check::running()?;
        size.write(valid::comm(&state, comm)?.size() as c_int)
    }

    /// Ranks in the remote group of an intercommunicator.
    fn PMPI_Comm_remote_size(comm: abi::Comm, size: Out<c_int>) on comm {
        let state = check::running()?;
        size.write(valid::intercomm(&state, comm, "comm")?.peers().members.len() as c_int)
    }

    /// Whether it is an intercommunicator.
    fn PMPI_Comm_test_inter(comm: abi::Comm, flag: Out<c_int>) on comm {
        let state = check::running()?;
        flag.write(valid::comm(&state, comm)?.remote.is_some() as c_int)
    }

    /// Whether two communicators have the same context, the same groups in order, or the same members.
    fn PMPI_Comm_compare(comm1: abi::Comm, comm2: abi::Comm, result: Out<c_int>) on comm1 {
        let state = check::running()?;
        let one = valid::comm_named(&state, comm1, "comm1")?;
        let other = valid::comm_named(&state, comm2, "comm2")?;
        result.write(compare_comms(one, other))
    }

    /// The name of a communicator; at most `MPI_MAX_OBJECT_NAME` bytes with the final 0.
    fn PMPI_Comm_get_name(comm: abi::Comm, comm_name[MPI_MAX_OBJECT_NAME]: Out<c_char>, resultlen: Out<c_int>) on comm {
        let state = check::running()?;
        let name = match comm.0 {
            MPI_COMM_NULL => b"MPI_COMM_NULL".to_vec(),
            _ => valid::comm(&state, comm)?.name.lock().unwrap().clone(),
        };
        resultlen.write(name.len() as c_int)?;
        comm_name.write_text(&name).map(|_| ())
    }

    /// Names a communicator; what is longer than `MPI_MAX_OBJECT_NAME - 1` is cut.
    fn PMPI_Comm_set_name(comm: abi::Comm, comm_name: In<c_char>) on comm {
        let state = check::running()?;
        let comm = valid::comm(&state, comm)?;
        let name = comm_name.text()?;
        *comm.name.lock().unwrap() = name[..name.len().min(MPI_MAX_OBJECT_NAME as usize - 1)].to_vec();
        Ok(())
    }

    /// The (local) group, by a handle of its own.
    fn PMPI_Comm_group(comm: abi::Comm, group: Out<abi::Group>) on comm {
        let mut state = check::running()?;
        let made = valid::comm(&state, comm)?.group.clone();
        group.present()?;
        group.write(abi::Group(GROUPS.of_mut(&mut state).insert(made)))
    }

    /// The remote group of an intercommunicator.
    fn PMPI_Comm_remote_group(comm: abi::Comm, group: Out<abi::Group>) on comm {
        let mut state = check::running()?;
        let made = valid::intercomm(&state, comm, "comm")?.remote.clone().expect("an intercommunicator has one");
        group.present()?;
        group.write(abi::Group(GROUPS.of_mut(&mut state).insert(made)))
    }

    /// Members of a group.
    fn PMPI_Group_size(group: abi::Group, size: Out<c_int>) {
        let state = check::running()?;
        size.write(valid::group(&state, group, "group")?.members.len() as c_int)
    }

    /// This process's rank in a group; `MPI_UNDEFINED` when it is no member.
    fn PMPI_Group_rank(group: abi::Group, rank: Out<c_int>) {
        let state = check::running()?;
        let own = state.rank();
        rank.write(rank_or_undefined(valid::group(&state, group, "group")?.rank_of(own)))
    }

    /// Whether two groups have the same members in the same order, or the same members.
    fn PMPI_Group_compare(group1: abi::Group, group2: abi::Group, result: Out<c_int>) {
        let state = check::running()?;
        let one = valid::group(&state, group1, "group1")?;
        let other = valid::group(&state, group2, "group2")?;
        result.write(compare_groups(&one, &other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(members: &[u32]) -> Group {
        Group { members: members.to_vec() }
    }

    #[test]
    fn groups_are_told_apart_by_members_and_order() {
        assert_eq!(compare_groups(&group(&[0, 2]), &group(&[0, 2])), MPI_IDENT);
        assert_eq!(compare_groups(&group(&[2, 0]), &group(&[0, 2])), MPI_SIMILAR);
        assert_eq!(compare_groups(&group(&[0, 1]), &group(&[0, 2])), MPI_UNEQUAL);
        assert_eq!(compare_groups(&group(&[0]), &group(&[0, 2])), MPI_UNEQUAL);
    }

    #[test]
    fn communicators_of_the_same_groups_are_congruent_and_never_identical() {
        let one = Arc::new(Comm::world(1, 4));
        let other = Arc::new(Comm::new(40, 1, one.group.clone(), None));
        assert_eq!(compare_comms(&one, &one), MPI_IDENT);
        assert_eq!(compare_comms(&one, &other), MPI_CONGRUENT);
        let inter = Arc::new(Comm::new(40, 1, one.group.clone(), Some(one.group.clone())));
        assert_eq!(compare_comms(&one, &inter), MPI_UNEQUAL);
    }

    #[test]
    fn a_member_is_found_wherever_it_is() {
        assert_eq!(group(&[3, 1, 7]).rank_of(7), Some(2));
        assert_eq!(group(&[3, 1, 7]).rank_of(1), Some(1));
        assert_eq!(group(&[3, 1, 7]).rank_of(0), None);
    }
}
