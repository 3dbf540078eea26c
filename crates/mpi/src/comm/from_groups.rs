//! Communicators made of groups of the job, without a communicator to start from (MPI 5.0, sections 7.4.2 and 7.6.2).
//!
//! The ranks that make one together pass the same string. They tell each other by a context of the world's that nothing
//! else uses.

use super::agreement::agree_among;
use super::exchange::{Circle, Peer, leaders_tag};
use super::info::{self, Info};
use super::intercomm::{Meeting, join, leader};
use super::table::insert;
use super::{Comm, Group, errhandler};
use crate::abi;
use crate::abi::values::*;
use crate::call::{In, Out};
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::comm::valid;
use crate::runtime;
use std::ffi::{c_char, c_int};
use std::sync::Arc;
use transport::Envelope;

/// The tag of a string (FNV-1a, without the sign).
fn tag_of(text: &[u8]) -> i32 {
    let hash = text.iter().fold(0x811c_9dc5u32, |hash, &byte| (hash ^ byte as u32).wrapping_mul(0x0100_0193));
    (hash >> 1) as i32
}

/// What both functions start from.
struct GroupStart {
    world: Arc<Comm>,
    group: Arc<Group>,
    hints: Info,
    tag: i32,
}

impl GroupStart {
    fn check(
        group: abi::Group,
        name: &str,
        stringtag: In<'_, c_char>,
        info: abi::Info,
        errhandler: abi::Errhandler,
    ) -> Result<Self, Failure> {
        let state = check::running()?;
        let group = valid::group(&state, group, name)?;
        errhandler::for_comms(&state, errhandler)?;
        let tag = tag_of(&stringtag.text()?);
        let world = state.comm(abi::Comm(MPI_COMM_WORLD)).expect("running").clone();
        Ok(Self { world, group, hints: info::hints(&state, info)?, tag })
    }

    /// The members, when this process is one.
    fn circle(&self) -> Option<Circle> {
        Circle::of(&self.world, self.world.local_collective(), &self.group, self.tag)
    }
}

mpi! {
    /// A communicator of a group; its members call it.
    fn PMPI_Comm_create_from_group(
        group: abi::Group,
        stringtag: In<c_char>,
        info: abi::Info,
        errhandler: abi::Errhandler,
        newcomm: Out<abi::Comm>,
    ) {
        newcomm.write(abi::Comm(MPI_COMM_NULL))?;
        let start = GroupStart::check(group, "group", stringtag, info, errhandler)?;
        if let Some(circle) = start.circle() {
            let made = insert(&start.world, agree_among(&circle)?, start.group, None, start.hints)?;
            runtime::enter().set_errhandler(made, errhandler);
            newcomm.write(made)?;
        }
        Ok(())
    }

    /// An intercommunicator of two groups; their members call it. The remote group counts at the leaders only.
    fn PMPI_Intercomm_create_from_groups(
        local_group: abi::Group,
        local_leader: c_int,
        remote_group: abi::Group,
        remote_leader: c_int,
        stringtag: In<c_char>,
        info: abi::Info,
        errhandler: abi::Errhandler,
        newintercomm: Out<abi::Comm>,
    ) {
        newintercomm.write(abi::Comm(MPI_COMM_NULL))?;
        let start = GroupStart::check(local_group, "local_group", stringtag, info, errhandler)?;
        let Some(circle) = start.circle() else { return Ok(()) };
        let chosen = leader(local_leader, &start.group, "local_leader")?;
        let meeting = || {
            let remote = valid::group(&*check::running()?, remote_group, "remote_group")?;
            let job = remote.members[leader(remote_leader, &remote, "remote_leader")?];
            Ok(Meeting {
                own: Envelope::new(start.world.local_collective(), start.world.rank as u16, leaders_tag(start.tag)),
                other: Peer { job: job as usize, source: job as u16 },
            })
        };
        let made = join(&start.world, &circle, chosen, start.group.clone(), meeting, start.hints)?;
        runtime::enter().set_errhandler(made, errhandler);
        newintercomm.write(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_become_tags_that_are_not_negative() {
        assert!(tag_of(b"") >= 0 && tag_of(b"org.example.solver") >= 0);
        assert_ne!(tag_of(b"a"), tag_of(b"b"));
    }
}
