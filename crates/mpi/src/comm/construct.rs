//! Making communicators of intracommunicators and freeing any (MPI 5.0, section 7.4).

use super::agreement::{Agreement, agree, agree_among, take_context};
use super::exchange::{self, Circle, making_tag};
use super::info::{self, Info};
use super::{Comm, Group};
use crate::abi;
use crate::abi::values::*;
use crate::check::{self, Failure, mpi};
use crate::request::{self, Outcome};
use crate::runtime::{self, Activity, State};
use std::ffi::{c_char, c_int};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl State {
    /// A handle for a communicator that was made of `parent`, whose error handler it has.
    pub fn insert_comm(&mut self, comm: Comm, parent: &Comm) -> abi::Comm {
        let errhandler = parent.errhandler.load(Ordering::Relaxed);
        comm.errhandler.store(errhandler, Ordering::Relaxed);
        self.use_errhandler(errhandler);
        abi::Comm(self.comms.insert(Arc::new(comm)))
    }
}

/// A communicator with the groups of `parent`, that is not in the table yet.
fn twin(parent: &Comm, context: u32, hints: Info) -> Comm {
    let made = Comm::new(context, parent.rank, parent.group.clone(), parent.remote.clone());
    *made.hints.lock().unwrap() = hints;
    made
}

/// Puts the duplicate of a communicator in the table, with the attributes that the callbacks copy.
fn insert_twin(comm: &Comm, handle: abi::Comm, made: Comm) -> Result<abi::Comm, Failure> {
    let new = runtime::enter().insert_comm(made, comm);
    let made = runtime::enter().comms.get(new.0).expect("inserted just now").clone();
    if let Err(failure) = made.attributes.copy_from(&comm.attributes, handle.0) {
        // What was copied goes again; the first failure is the one to tell.
        let _ = made.attributes.clear(new.0);
        runtime::enter().remove_comm(new);
        return Err(failure);
    }
    Ok(new)
}

fn duplicate(handle: abi::Comm, hints: abi::Info, newcomm: *mut abi::Comm) -> Result<(), Failure> {
    let (comm, hints) = {
        let state = check::running()?;
        *check::output(newcomm, "newcomm")? = abi::Comm(MPI_COMM_NULL);
        (check::comm(&state, handle)?.clone(), info::hints(&state, hints)?)
    };
    let context = agree(&comm, making_tag(&comm))?;
    *check::output(newcomm, "newcomm")? = insert_twin(&comm, handle, twin(&comm, context, hints))?;
    Ok(())
}

/// The context of a communicator whose ranks have not agreed on one yet.
const NO_CONTEXT: u32 = u32::MAX;

/// `MPI_Comm_idup`: the new communicator is in the table from the start, and gets its context in the end.
struct Idup {
    new: abi::Comm,
    agreement: Agreement,
    result: Result<(), Failure>,
}

impl Activity for Idup {
    fn advance(&mut self) -> bool {
        let mut state = runtime::enter();
        match self.agreement.advance(&mut state) {
            None => return false,
            Some(Ok((context, _))) => {
                if let Some(made) = state.comms.get_mut(self.new.0) {
                    *made = Arc::new(made.with_context(context));
                }
            }
            Some(Err(failure)) => self.result = Err(failure),
        }
        true
    }

    fn outcome(&mut self) -> Outcome {
        Outcome { result: std::mem::replace(&mut self.result, Ok(())), ..Outcome::empty() }
    }
}

impl Comm {
    /// The same communicator with a context; takes what the program hung on it along.
    fn with_context(&self, context: u32) -> Self {
        let made = twin(self, context, std::mem::take(&mut self.hints.lock().unwrap()));
        made.errhandler.store(self.errhandler.load(Ordering::Relaxed), Ordering::Relaxed);
        std::mem::swap(&mut *made.name.lock().unwrap(), &mut *self.name.lock().unwrap());
        made.attributes.take_from(&self.attributes);
        made
    }
}

fn duplicate_later(
    handle: abi::Comm,
    hints: abi::Info,
    newcomm: *mut abi::Comm,
    request: *mut abi::Request,
) -> Result<(), Failure> {
    let (comm, hints) = {
        let state = check::running()?;
        *check::output(newcomm, "newcomm")? = abi::Comm(MPI_COMM_NULL);
        *check::output(request, "request")? = abi::Request(MPI_REQUEST_NULL);
        (check::comm(&state, handle)?.clone(), info::hints(&state, hints)?)
    };
    let made = insert_twin(&comm, handle, twin(&comm, NO_CONTEXT, hints));
    let mut state = runtime::enter();
    let agreement = Agreement::start(&mut state, &comm, making_tag(&comm), Vec::new(), 0);
    let new = made.as_ref().map_or(abi::Comm(MPI_COMM_NULL), |&new| new);
    let started = request::start(&mut state, Box::new(Idup { new, agreement, result: Ok(()) }));
    if let Err(failure) = made {
        // The other ranks still need what this one tells them; nobody waits for it here.
        state.requests.remove(started.0);
        return Err(failure);
    }
    *check::output(newcomm, "newcomm")? = new;
    *check::output(request, "request")? = started;
    Ok(())
}

impl State {
    fn remove_comm(&mut self, handle: abi::Comm) {
        if let Some(comm) = self.comms.remove(handle.0) {
            self.release_errhandler(comm.errhandler.load(Ordering::Relaxed));
        }
    }
}

/// That all members of a group are ranks of a communicator.
pub fn within(group: &Group, comm: &Comm) -> Result<(), Failure> {
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

/// Puts a communicator of `group` in the table when this process is a member.
pub fn member_of(comm: &Comm, context: u32, group: Arc<Group>, hints: Info) -> Result<abi::Comm, Failure> {
    let mut state = check::running()?;
    let Some(rank) = group.rank_of(state.rank()) else { return Ok(abi::Comm(MPI_COMM_NULL)) };
    let made = Comm::new(context, rank, group, None);
    *made.hints.lock().unwrap() = hints;
    Ok(state.insert_comm(made, comm))
}

fn create(handle: abi::Comm, group: abi::Group, newcomm: *mut abi::Comm) -> Result<(), Failure> {
    let (comm, group) = {
        let state = check::running()?;
        *check::output(newcomm, "newcomm")? = abi::Comm(MPI_COMM_NULL);
        (check::comm(&state, handle)?.clone(), check::group(&state, group, "group")?)
    };
    within(&group, &comm)?;
    let tag = making_tag(&comm);
    let made = if comm.remote.is_some() {
        super::intercomm::create(&comm, group, tag)?
    } else {
        member_of(&comm, agree(&comm, tag)?, group, Info::default())?
    };
    *check::output(newcomm, "newcomm")? = made;
    Ok(())
}

/// The colours and keys of all ranks of the (local) group, told to its first rank.
pub fn gather_colours(comm: &Comm, tag: i32, colour: c_int, key: c_int) -> Result<Vec<u8>, Failure> {
    Circle::local(comm, tag).gather(&exchange::words([exchange::word(colour), exchange::word(key)]))
}

/// Splits an intracommunicator or an intercommunicator; `MPI_COMM_NULL` without a colour.
///
/// # Errors
/// The ranks call different functions.
pub fn split(comm: &Comm, colour: c_int, key: c_int, hints: Info) -> Result<abi::Comm, Failure> {
    let tag = making_tag(comm);
    if comm.remote.is_some() {
        return super::intercomm::split(comm, tag, colour, key);
    }
    let gathered = gather_colours(comm, tag, colour, key)?;
    let own = match comm.rank {
        0 => [exchange::words([take_context(&runtime::enter())]), gathered].concat(),
        _ => Vec::new(),
    };
    let table = Circle::local(comm, tag).broadcast(0, own, 4 + 8 * comm.size())?;
    let (context, table) = table.split_at(4);
    let ranks = exchange::with_colour(&exchange::numbers(table), colour);
    let members = ranks.into_iter().map(|rank| comm.group.members[rank]).collect();
    member_of(comm, exchange::numbers(context)[0], Arc::new(Group { members }), hints)
}

/// That a value may be a colour.
fn colour(value: c_int) -> Result<(), Failure> {
    if value < 0 && value != MPI_UNDEFINED {
        let text = format_args!("color is {value}; allowed are 0 and more, and MPI_UNDEFINED");
        return Err(Failure::new(MPI_ERR_ARG, text));
    }
    Ok(())
}

fn free(place: *mut abi::Comm) -> Result<(), Failure> {
    let place = check::output(place, "comm")?;
    let comm = {
        let state = check::running()?;
        let comm = check::comm(&state, *place)?.clone();
        if let MPI_COMM_WORLD | MPI_COMM_SELF = place.0 {
            let text = "comm is MPI_COMM_WORLD or MPI_COMM_SELF, which cannot be freed";
            return Err(Failure::new(MPI_ERR_COMM, text).on(*place));
        }
        comm
    };
    comm.attributes.clear(place.0).map_err(|failure| failure.on(*place))?;
    runtime::enter().remove_comm(*place);
    *place = abi::Comm(MPI_COMM_NULL);
    Ok(())
}

/// A tag for the makers of a communicator who agreed on a string (FNV-1a, without the sign).
fn tag_of(text: &[u8]) -> i32 {
    let hash = text.iter().fold(0x811c_9dc5u32, |hash, &byte| (hash ^ byte as u32).wrapping_mul(0x0100_0193));
    (hash >> 1) as i32
}

mpi! {
    /// The same groups and attributes, another context.
    fn PMPI_Comm_dup(comm: abi::Comm, newcomm: *mut abi::Comm) on comm {
        duplicate(comm, abi::Info(MPI_INFO_NULL), newcomm)
    }

    /// As dup, with hints.
    fn PMPI_Comm_dup_with_info(comm: abi::Comm, info: abi::Info, newcomm: *mut abi::Comm) on comm {
        duplicate(comm, info, newcomm)
    }

    /// As dup, without waiting for the others; the new communicator is good when the request is complete.
    fn PMPI_Comm_idup(comm: abi::Comm, newcomm: *mut abi::Comm, request: *mut abi::Request) on comm {
        duplicate_later(comm, abi::Info(MPI_INFO_NULL), newcomm, request)
    }

    /// As idup, with hints.
    fn PMPI_Comm_idup_with_info(comm: abi::Comm, info: abi::Info, newcomm: *mut abi::Comm, request: *mut abi::Request) on comm {
        duplicate_later(comm, info, newcomm, request)
    }

    /// A communicator of a subset of the ranks; all ranks of `comm` call it.
    fn PMPI_Comm_create(comm: abi::Comm, group: abi::Group, newcomm: *mut abi::Comm) on comm {
        create(comm, group, newcomm)
    }

    /// A communicator of a subset of the ranks; only these call it.
    fn PMPI_Comm_create_group(comm: abi::Comm, group: abi::Group, tag: c_int, newcomm: *mut abi::Comm) on comm {
        let (comm, group) = {
            let state = check::running()?;
            *check::output(newcomm, "newcomm")? = abi::Comm(MPI_COMM_NULL);
            (check::intracomm(&state, comm, "comm")?.clone(), check::group(&state, group, "group")?)
        };
        within(&group, &comm)?;
        check::tag(tag)?;
        if let Some(circle) = Circle::of(&comm, comm.construction(), &group, tag) {
            let made = member_of(&comm, agree_among(&circle)?, group, Info::default())?;
            *check::output(newcomm, "newcomm")? = made;
        }
        Ok(())
    }

    /// A communicator of a group of the job, without a parent; its members call it with the same string.
    fn PMPI_Comm_create_from_group(
        group: abi::Group,
        stringtag: *const c_char,
        info: abi::Info,
        errhandler: abi::Errhandler,
        newcomm: *mut abi::Comm,
    ) {
        let (world, group, hints) = {
            let state = check::running()?;
            *check::output(newcomm, "newcomm")? = abi::Comm(MPI_COMM_NULL);
            super::errhandler::for_comms(&state, errhandler)?;
            let world = state.comm(abi::Comm(MPI_COMM_WORLD)).expect("running").clone();
            (world, check::group(&state, group, "group")?, info::hints(&state, info)?)
        };
        let tag = tag_of(check::string(stringtag, "stringtag")?.to_bytes());
        // A context of the world's that only this function uses.
        if let Some(circle) = Circle::of(&world, world.local_collective(), &group, tag) {
            let made = member_of(&world, agree_among(&circle)?, group, hints)?;
            runtime::enter().set_errhandler(made, errhandler);
            *check::output(newcomm, "newcomm")? = made;
        }
        Ok(())
    }

    /// Ranks of the same colour together, ordered by key.
    fn PMPI_Comm_split(comm: abi::Comm, color: c_int, key: c_int, newcomm: *mut abi::Comm) on comm {
        let found = {
            let state = check::running()?;
            *check::output(newcomm, "newcomm")? = abi::Comm(MPI_COMM_NULL);
            check::comm(&state, comm)?.clone()
        };
        colour(color)?;
        *check::output(newcomm, "newcomm")? = split(&found, color, key, Info::default())?;
        Ok(())
    }

    /// Deletes the attributes and frees the handle. Messages that are under way arrive.
    fn PMPI_Comm_free(comm: *mut abi::Comm) {
        free(comm)
    }

    /// As free: without spawned or connected jobs, whoever completed its requests has nothing more to wait for.
    fn PMPI_Comm_disconnect(comm: *mut abi::Comm) {
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
    fn a_negative_colour_is_refused() {
        assert!(colour(0).is_ok() && colour(MPI_UNDEFINED).is_ok());
        assert!(colour(-1).unwrap_err().text().starts_with("color is -1"));
    }
}
