//! Intercommunicators: made of two groups, of each other, and merged (MPI 5.0, section 7.6.2).
//!
//! Each group's first rank speaks for it: it swaps what it knows with the other group's and tells its own. Both take a
//! context, and the smaller number is used, in both groups alike: no process is in both.

use super::agreement::{swap_groups, take_context};
use super::exchange::{self, Circle, Peer, leaders_tag, making_tag};
use super::info::Info;
use super::table::insert;
use super::{Comm, Group};
use crate::abi;
use crate::abi::values::*;
use crate::call::Out;
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::comm::valid;
use crate::runtime;
use std::ffi::c_int;
use std::sync::Arc;
use transport::Envelope;
use transport::segment::MOST_RANKS;

/// `MPI_Comm_create` on an intercommunicator.
///
/// # Errors
/// The ranks call different functions.
pub(crate) fn create(comm: &Comm, group: Arc<Group>, tag: i32) -> Result<abi::Comm, Failure> {
    let room = 4 * comm.peers().members.len();
    let (context, theirs) = swap_groups(comm, tag, exchange::words(group.members.iter().copied()), room)?;
    insert(comm, context, group, Some(exchange::numbers(&theirs)), Info::default())
}

/// Where two leaders find each other.
pub(crate) struct Meeting {
    /// The envelope of this leader's message: its rank, the context, the tag.
    pub own: Envelope,
    /// The other leader.
    pub other: Peer,
}

/// The context and the other group, that the leader of a group learns from the other's.
fn meet(group: &Group, meeting: &Meeting) -> Result<Vec<u8>, Failure> {
    let context = take_context(&runtime::enter());
    let own = exchange::words([context].into_iter().chain(group.members.iter().copied()));
    let theirs = exchange::swap(meeting.other, meeting.own, own, 4 * (MOST_RANKS + 1))?;
    let mut theirs = exchange::numbers(&theirs);
    if let Some(both) = theirs[1..].iter().find(|&&member| group.rank_of(member).is_some()) {
        let text =
            format_args!("rank {both} of MPI_COMM_WORLD is in both groups; allowed are disjoint groups");
        return Err(Failure::new(MPI_ERR_COMM, text));
    }
    theirs[0] = theirs[0].min(context);
    Ok(exchange::words(theirs))
}

/// An intercommunicator of `group`, whose members are a circle, and the group of the leader that its leader meets.
///
/// # Errors
/// The leaders do not meet; all members learn it.
pub(crate) fn join(
    parent: &Comm,
    circle: &Circle,
    leader: usize,
    group: Arc<Group>,
    meeting: impl FnOnce() -> Result<Meeting, Failure>,
    hints: Info,
) -> Result<abi::Comm, Failure> {
    let met =
        if circle.place == leader { meeting().and_then(|at| meet(&group, &at)) } else { Ok(Vec::new()) };
    // The ranks that wait for the leader learn of its failure from an empty message.
    let bytes = met.as_ref().map(Vec::clone).unwrap_or_default();
    let known = circle.broadcast(leader, bytes, 4 * (MOST_RANKS + 1))?;
    met?;
    let mut known = exchange::numbers(&known);
    if known.is_empty() {
        let text = format_args!("the local leader, rank {leader}, could not reach the other group");
        return Err(Failure::new(MPI_ERR_COMM, text));
    }
    let context = known.remove(0);
    insert(parent, context, group, Some(known), hints)
}

/// That a number is a rank of a group.
///
/// # Errors
/// Any other.
pub(crate) fn leader(rank: c_int, group: &Group, name: &str) -> Result<usize, Failure> {
    let last = group.members.len() as i64 - 1;
    usize::try_from(rank)
        .ok()
        .filter(|&rank| rank < group.members.len())
        .ok_or_else(|| Failure::new(MPI_ERR_RANK, format_args!("{name} is {rank}; allowed are 0 to {last}")))
}

mpi! {
    /// An intercommunicator of two groups, whose leaders find each other on `peer_comm`, which counts at the leaders
    /// only.
    fn PMPI_Intercomm_create(
        local_comm: abi::Comm,
        local_leader: c_int,
        peer_comm: abi::Comm,
        remote_leader: c_int,
        tag: c_int,
        newintercomm: Out<abi::Comm>,
    ) on local_comm {
        let local = {
            let state = check::running()?;
            newintercomm.write(abi::Comm(MPI_COMM_NULL))?;
            valid::intracomm(&state, local_comm, "local_comm")?.clone()
        };
        let chosen = leader(local_leader, &local.group, "local_leader")?;
        let circle = Circle::local(&local, making_tag(&local));
        let meeting = || {
            let peer = valid::comm_named(&*check::running()?, peer_comm, "peer_comm")?.clone();
            check::tag(tag)?;
            let other = leader(remote_leader, peer.peers(), "remote_leader")?;
            Ok(Meeting {
                own: Envelope::new(peer.construction(), peer.rank as u16, leaders_tag(tag)),
                other: Peer { job: peer.peers().members[other] as usize, source: other as u16 },
            })
        };
        let made = join(&local, &circle, chosen, local.group.clone(), meeting, Info::default())?;
        newintercomm.write(made)
    }

    /// An intracommunicator of both groups, the one that passes `high` behind the other.
    fn PMPI_Intercomm_merge(intercomm: abi::Comm, high: c_int, newintracomm: Out<abi::Comm>) on intercomm {
        let comm = {
            let state = check::running()?;
            newintracomm.write(abi::Comm(MPI_COMM_NULL))?;
            valid::intercomm(&state, intercomm, "intercomm")?.clone()
        };
        // What each leader passes counts for its group.
        let circle_tag = making_tag(&comm);
        let own = exchange::words([(high != 0) as u32]);
        let (context, theirs) = swap_groups(&comm, circle_tag, own.clone(), 4)?;
        let own = Circle::local(&comm, circle_tag).broadcast(0, own, 4)?;
        let (mine, others) = (&comm.group.members, &comm.peers().members);
        let first = order(&own, &theirs, mine[0], others[0]);
        let members = if first { [&mine[..], &others[..]] } else { [&others[..], &mine[..]] }.concat();
        let rank = if first { comm.rank } else { comm.rank + others.len() };
        let made = Comm::new(context, rank, Arc::new(Group { members }), None);
        newintracomm.write(runtime::enter().insert_comm(made, &comm))
    }
}

/// Whether this group comes first: the one that passes `high` is second; of two that pass the same, the one whose
/// leader is earlier in the job is first.
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
