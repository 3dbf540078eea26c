//! Where communicators and groups are put once they are made, and taken out again.

use super::info::Info;
use super::{COMMS, Comm, Group};
use crate::abi;
use crate::abi::values::{MPI_COMM_NULL, MPI_GROUP_EMPTY};
use crate::check::{self, Failure};
use crate::handles::{Handles, Kind};
use crate::runtime::{self, Guarded, State};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Groups by handle; the empty one apart.
pub(crate) static GROUPS: Guarded<Handles<Arc<Group>>> = Guarded::new(Handles::new(Kind::Group));

impl State {
    /// A handle for a communicator that was made of `parent`, whose error handler it has.
    pub(crate) fn insert_comm(&mut self, comm: Comm, parent: &Comm) -> abi::Comm {
        let errhandler = parent.errhandler.load(Ordering::Relaxed);
        comm.errhandler.store(errhandler, Ordering::Relaxed);
        self.use_errhandler(errhandler);
        abi::Comm(COMMS.of_mut(self).made.insert(Arc::new(comm)))
    }

    /// Takes a communicator out of the table.
    pub(super) fn remove_comm(&mut self, handle: abi::Comm) {
        if let Some(comm) = COMMS.of_mut(self).made.remove(handle.0) {
            self.release_errhandler(comm.errhandler.load(Ordering::Relaxed));
        }
    }

    /// A handle for a group; the predefined one when it is empty.
    pub(crate) fn insert_group(&mut self, members: Vec<u32>) -> abi::Group {
        if members.is_empty() {
            return abi::Group(MPI_GROUP_EMPTY);
        }
        abi::Group(GROUPS.of_mut(self).insert(Arc::new(Group { members })))
    }
}

/// Puts a communicator in the table when this process is in `local`, and, of an intercommunicator, `remote` has a
/// member.
pub(crate) fn insert(
    parent: &Comm,
    context: u32,
    local: Arc<Group>,
    remote: Option<Vec<u32>>,
    hints: Info,
) -> Result<abi::Comm, Failure> {
    let mut state = check::running()?;
    let nobody = remote.as_ref().is_some_and(Vec::is_empty);
    let Some(rank) = local.rank_of(state.rank()).filter(|_| !nobody) else {
        return Ok(abi::Comm(MPI_COMM_NULL));
    };
    let made = Comm::new(context, rank, local, remote.map(|members| Arc::new(Group { members })));
    *made.hints.lock().unwrap() = hints;
    Ok(state.insert_comm(made, parent))
}

/// Puts the duplicate of a communicator in the table, with the attributes that the callbacks copy.
pub(crate) fn insert_twin(comm: &Comm, handle: abi::Comm, made: Comm) -> Result<abi::Comm, Failure> {
    let new = runtime::enter().insert_comm(made, comm);
    let made = COMMS.of(&runtime::enter()).made.get(new.0).expect("inserted just now").clone();
    if let Err(failure) = made.attributes.copy_from(&comm.attributes, handle.0) {
        // The copies are deleted again; the first failure is the one that is told.
        let _ = made.attributes.clear(new.0);
        runtime::enter().remove_comm(new);
        return Err(failure);
    }
    Ok(new)
}
