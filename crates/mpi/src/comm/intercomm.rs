//! Intercommunicators: made of two groups, of each other, and merged (MPI 5.0, section 7.6.2).
//!
//! Each group's first rank speaks for it: it swaps what it knows with the other group's and tells its own. Both take a context,
//! and the smaller number is used, in both groups alike: no process is in both.

use super::agreement::{swap_groups, take_context};
use super::construct::gather_colours;
use super::exchange::{self, Circle, Peer, leaders_tag, making_tag};
use super::{Comm, Group};
use crate::abi;
use crate::abi::values::*;
use crate::check::{self, Failure, mpi};
use crate::engine::Envelope;
use crate::runtime;
use crate::segment::MOST_RANKS;
use std::ffi::c_int;
use std::sync::Arc;

/// Puts an intercommunicator in the table when this process is in `local` and nobody is missing on either side.
fn insert(parent: &Comm, context: u32, local: Arc<Group>, remote: Vec<u32>) -> Result<abi::Comm, Failure> {
    let mut state = check::running()?;
    let Some(rank) = local.rank_of(state.rank()).filter(|_| !remote.is_empty()) else {
        return Ok(abi::Comm(MPI_COMM_NULL));
    };
    let made = Comm::new(context, rank, local, Some(Arc::new(Group { members: remote })));
    Ok(state.insert_comm(made, parent))
}

/// `MPI_Comm_create` on an intercommunicator.
///
/// # Errors
/// The ranks call different functions.
pub fn create(comm: &Comm, group: Arc<Group>, tag: i32) -> Result<abi::Comm, Failure> {
    let room = 4 * comm.peers().members.len();
    let (context, theirs) = swap_groups(comm, tag, exchange::words(group.members.iter().copied()), room)?;
    insert(comm, context, group, exchange::numbers(&theirs))
}

/// `MPI_Comm_split` on an intercommunicator.
///
/// # Errors
/// The ranks call different functions.
pub fn split(comm: &Comm, tag: i32, colour: c_int, key: c_int) -> Result<abi::Comm, Failure> {
    let gathered = gather_colours(comm, tag, colour, key)?;
    let (context, theirs) = swap_groups(comm, tag, gathered.clone(), 8 * comm.peers().members.len())?;
    let own = Circle::local(comm, tag).broadcast(0, gathered, 8 * comm.size())?;
    let pick = |table: &[u8], group: &Group| -> Vec<u32> {
        let ranks = exchange::with_colour(&exchange::numbers(table), colour);
        ranks.into_iter().map(|rank| group.members[rank]).collect()
    };
    let local = Group { members: pick(&own, &comm.group) };
    insert(comm, context, Arc::new(local), pick(&theirs, comm.peers()))
}

/// What the leader of a group learns from the other: the context and the other group. Empty: it failed.
fn meet(local: &Comm, peer: abi::Comm, remote_leader: c_int, tag: c_int) -> Result<Vec<u8>, Failure> {
    let (peer, context) = {
        let state = check::running()?;
        (check::comm_named(&state, peer, "peer_comm")?.clone(), take_context(&state))
    };
    check::tag(tag)?;
    let Some(&job) = usize::try_from(remote_leader).ok().and_then(|rank| peer.peers().members.get(rank))
    else {
        let last = peer.peers().members.len() - 1;
        let text = format_args!("remote_leader is {remote_leader}; allowed are 0 to {last}");
        return Err(Failure::new(MPI_ERR_RANK, text));
    };
    let other = Peer { job: job as usize, source: remote_leader as u16 };
    let own = exchange::words([context].into_iter().chain(local.group.members.iter().copied()));
    let envelope = Envelope { context: peer.construction(), source: peer.rank as u16, tag: leaders_tag(tag) };
    let mut theirs = exchange::numbers(&exchange::swap(other, envelope, own, 4 * (MOST_RANKS + 1))?);
    if let Some(both) = theirs[1..].iter().find(|&&member| local.group.rank_of(member).is_some()) {
        let text =
            format_args!("rank {both} of MPI_COMM_WORLD is in both groups; allowed are disjoint groups");
        return Err(Failure::new(MPI_ERR_COMM, text));
    }
    theirs[0] = theirs[0].min(context);
    Ok(exchange::words(theirs))
}

mpi! {
    /// An intercommunicator of two groups, whose leaders find each other on `peer_comm`, which counts at the leaders only.
    fn PMPI_Intercomm_create(
        local_comm: abi::Comm,
        local_leader: c_int,
        peer_comm: abi::Comm,
        remote_leader: c_int,
        tag: c_int,
        newintercomm: *mut abi::Comm,
    ) on local_comm {
        let local = {
            let state = check::running()?;
            *check::output(newintercomm, "newintercomm")? = abi::Comm(MPI_COMM_NULL);
            check::intracomm(&state, local_comm, "local_comm")?.clone()
        };
        let Some(leader) = usize::try_from(local_leader).ok().filter(|&rank| rank < local.size()) else {
            let last = local.size() - 1;
            let text = format_args!("local_leader is {local_leader}; allowed are 0 to {last}");
            return Err(Failure::new(MPI_ERR_RANK, text));
        };
        let circle = Circle::local(&local, making_tag(&local));
        let met = if local.rank == leader { meet(&local, peer_comm, remote_leader, tag) } else { Ok(Vec::new()) };
        // Who waits for the leader is told of its failure too.
        let bytes = met.as_ref().map(Vec::clone).unwrap_or_default();
        let known = circle.broadcast(leader, bytes, 4 * (MOST_RANKS + 1))?;
        met?;
        let mut known = exchange::numbers(&known);
        if known.is_empty() {
            let text = format_args!("the local leader, rank {leader} of local_comm, could not reach the other group");
            return Err(Failure::new(MPI_ERR_COMM, text));
        }
        let context = known.remove(0);
        *check::output(newintercomm, "newintercomm")? = insert(&local, context, local.group.clone(), known)?;
        Ok(())
    }

    /// An intracommunicator of both groups, the one that says `high` behind the other.
    fn PMPI_Intercomm_merge(intercomm: abi::Comm, high: c_int, newintracomm: *mut abi::Comm) on intercomm {
        let comm = {
            let state = check::running()?;
            *check::output(newintracomm, "newintracomm")? = abi::Comm(MPI_COMM_NULL);
            check::intercomm(&state, intercomm, "intercomm")?.clone()
        };
        // Each leader's word counts for its group.
        let circle_tag = making_tag(&comm);
        let own = exchange::words([(high != 0) as u32]);
        let (context, theirs) = swap_groups(&comm, circle_tag, own.clone(), 4)?;
        let own = Circle::local(&comm, circle_tag).broadcast(0, own, 4)?;
        let (mine, others) = (&comm.group.members, &comm.peers().members);
        let first = order(&own, &theirs, mine[0], others[0]);
        let members = if first { [&mine[..], &others[..]] } else { [&others[..], &mine[..]] }.concat();
        let rank = if first { comm.rank } else { comm.rank + others.len() };
        let made = Comm::new(context, rank, Arc::new(Group { members }), None);
        *check::output(newintracomm, "newintracomm")? = runtime::enter().insert_comm(made, &comm);
        Ok(())
    }
}

/// Whether this group comes first: as both say; where they say the same, the one whose leader is earlier in the job.
fn order(own: &[u8], theirs: &[u8], leader: u32, other_leader: u32) -> bool {
    if own == theirs { leader < other_leader } else { exchange::numbers(own)[0] == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_that_says_high_comes_last_and_a_tie_is_broken_alike_on_both_sides() {
        let (low, high) = (exchange::words([0]), exchange::words([1]));
        assert!(order(&low, &high, 5, 3) && !order(&high, &low, 3, 5));
        for same in [&low, &high] {
            assert!(order(same, same, 3, 5) != order(same, same, 5, 3));
        }
    }
}
