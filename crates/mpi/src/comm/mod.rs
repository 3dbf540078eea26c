//! Groups and communicators (MPI 5.0, chapter 7), their attributes and error handlers; infos.
//!
//! | module | what it holds |
//! |---|---|
//! | `function` | what is common to all functions of the C interface |
//! | `valid` | arguments that name communicators, groups and ranks |
//! | `errhandler` | error handlers, and what becomes of a failure |
//! | `errors` | error classes and codes, and their words |
//! | `table` | where communicators and groups are put once they are made |
//! | `inquiry` | rank, size, comparison, name and group of a communicator |
//! | `groups` | groups made of groups |
//! | `construct` | communicators made of communicators, and freed |
//! | `split_type`, `hardware` | splits by what ranks run on |
//! | `sharing` | which ranks of a communicator share a cpu |
//! | `intercomm` | intercommunicators |
//! | `agreement` | a context that all ranks that make one agree on |
//! | `from_groups` | communicators made of groups alone |
//! | `exchange` | what ranks tell each other while they make one |
//! | `attributes` | keyvals and attributes of any object |
//! | `comm_attributes` | those of communicators, and the predefined ones |
//! | `info` | infos |
//! | `hints` | those of communicators |

pub(crate) mod agreement;
pub(crate) mod attributes;
pub(crate) mod comm_attributes;
pub(crate) mod construct;
pub(crate) mod errhandler;
pub(crate) mod errors;
pub(crate) mod exchange;
pub(crate) mod from_groups;
mod function;
pub(crate) mod groups;
pub(crate) mod hardware;
pub(crate) mod hints;
pub(crate) mod info;
pub(crate) mod inquiry;
pub(crate) mod intercomm;
pub(crate) mod sharing;
pub(crate) mod split_type;
pub(crate) mod table;
mod unsupported;
pub(crate) mod valid;

pub(crate) use function::mpi;

use crate::abi;
use crate::abi::values::{MPI_COMM_SELF, MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, MPI_UNDEFINED};
use crate::handles::{Handles, Kind};
use crate::neighbours::Topology;
use crate::runtime::{Guarded, State};
use attributes::Attributes;
use info::Info;
use sharing::CpuSharing;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// An ordered set of ranks of the job.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// The job's rank of each member.
    pub members: Vec<u32>,
}

impl Group {
    /// The rank in this group of a job's rank.
    pub(crate) fn rank_of(&self, member: u32) -> Option<usize> {
        // World and its like: every member at its own place.
        if self.members.get(member as usize) == Some(&member) {
            return Some(member as usize);
        }
        self.members.iter().position(|&other| other == member)
    }
}

/// Contexts of a communicator: for messages, for collectives, for the collectives of an intercommunicator's local
/// group, and for making communicators.
pub(crate) const CONTEXTS: u32 = 4;
/// The context of `MPI_COMM_WORLD`.
pub(crate) const WORLD_CONTEXT: u32 = 0;
/// The context of `MPI_COMM_SELF`; each rank's own, though all have the same number.
pub(crate) const SELF_CONTEXT: u32 = CONTEXTS;
/// What the job's counter of contexts starts from.
pub(crate) const FREE_CONTEXT: u32 = 2 * CONTEXTS;

/// A communicator as one of its ranks sees it.
pub(crate) struct Comm {
    /// The context of point-to-point messages; the next `CONTEXTS - 1` are this communicator's too.
    pub context: u32,
    /// This process's rank in `group`.
    pub rank: usize,
    /// The (local) group.
    pub group: Arc<Group>,
    /// Of an intercommunicator: the other group.
    pub remote: Option<Arc<Group>>,
    /// The error handler, by handle.
    pub errhandler: AtomicUsize,
    /// What `MPI_Comm_set_name` said, without the final 0.
    pub name: Mutex<Vec<u8>>,
    /// The program's attributes.
    pub attributes: Attributes,
    /// Hints that the program gave.
    pub hints: Mutex<Info>,
    /// Communicators made of this one so far: a tag that tells the making of one from the next.
    pub offspring: AtomicU32,
    /// Blocking collectives so far: a tag that tells the messages of one from those of the next.
    pub collectives: AtomicU32,
    /// The same for non-blocking collectives.
    pub nonblocking_collectives: AtomicU32,
    /// The same for persistent collectives, which keep their tag.
    pub persistent_collectives: AtomicU32,
    /// Each of its ranks uses its window by one thread at a time; set when it is first asked for.
    pub windows: OnceLock<bool>,
    /// Which of its ranks share a cpu; set when they have said it to one another, or never.
    pub sharing: OnceLock<Arc<CpuSharing>>,
    /// How its ranks communicate; set when it is made, or never.
    pub topology: OnceLock<Arc<Topology>>,
}

impl Comm {
    /// A communicator without name, whose errors are fatal.
    pub(crate) fn new(context: u32, rank: usize, group: Arc<Group>, remote: Option<Arc<Group>>) -> Self {
        Self {
            context,
            rank,
            group,
            remote,
            errhandler: AtomicUsize::new(MPI_ERRORS_ARE_FATAL),
            name: Mutex::new(Vec::new()),
            attributes: Attributes::default(),
            hints: Mutex::new(Info::default()),
            offspring: AtomicU32::new(0),
            collectives: AtomicU32::new(0),
            nonblocking_collectives: AtomicU32::new(0),
            persistent_collectives: AtomicU32::new(0),
            windows: OnceLock::new(),
            sharing: OnceLock::new(),
            topology: OnceLock::new(),
        }
    }

    /// `MPI_COMM_WORLD` of a job's rank.
    pub(crate) fn world(rank: usize, ranks: usize) -> Self {
        let group = Group { members: (0..ranks as u32).collect() };
        let made = Self::new(WORLD_CONTEXT, rank, Arc::new(group), None);
        *made.name.lock().unwrap() = b"MPI_COMM_WORLD".to_vec();
        made.errhandler.store(errhandler::initial(), Ordering::Relaxed);
        made
    }

    /// `MPI_COMM_SELF` of a job's rank.
    pub(crate) fn own(rank: usize) -> Self {
        let made = Self::new(SELF_CONTEXT, 0, Arc::new(Group { members: vec![rank as u32] }), None);
        *made.name.lock().unwrap() = b"MPI_COMM_SELF".to_vec();
        made.errhandler.store(errhandler::initial(), Ordering::Relaxed);
        made
    }

    /// The context of point-to-point messages.
    pub(crate) fn point_to_point(&self) -> u32 {
        self.context
    }

    /// The context of collectives; of an intercommunicator, of those between the groups.
    pub(crate) fn collective(&self) -> u32 {
        self.context + 1
    }

    /// The context of collectives within an intercommunicator's local group.
    pub(crate) fn local_collective(&self) -> u32 {
        self.context + 2
    }

    /// The context of the messages that make new communicators of this one.
    pub(crate) fn construction(&self) -> u32 {
        self.context + 3
    }

    /// Ranks in the (local) group.
    pub(crate) fn size(&self) -> usize {
        self.group.members.len()
    }

    /// The group that messages go to: the remote one of an intercommunicator.
    pub(crate) fn peers(&self) -> &Group {
        self.remote.as_deref().unwrap_or(&self.group)
    }
}

/// A rank as C sees it: `MPI_UNDEFINED` for none.
fn rank_or_undefined(rank: Option<usize>) -> c_int {
    rank.map_or(MPI_UNDEFINED, |rank| rank as c_int)
}

/// The communicators of this process.
pub(crate) struct Comms {
    /// Those that the program made, by handle.
    pub made: Handles<Arc<Comm>>,
    /// `MPI_COMM_WORLD`, from Init to Finalize.
    pub world: Option<Arc<Comm>>,
    /// `MPI_COMM_SELF`, from Init to Finalize.
    pub own: Option<Arc<Comm>>,
}

/// The communicators of this process.
pub(crate) static COMMS: Guarded<Comms> =
    Guarded::new(Comms { made: Handles::new(Kind::Comm), world: None, own: None });

impl Comms {
    /// Makes the predefined ones, at Init.
    pub(crate) fn start(&mut self, rank: usize, ranks: usize) {
        self.world = Some(Arc::new(Comm::world(rank, ranks)));
        self.own = Some(Arc::new(Comm::own(rank)));
    }
}

impl State {
    /// The communicator of a handle.
    #[inline]
    pub(crate) fn comm(&self, handle: abi::Comm) -> Option<&Arc<Comm>> {
        let comms = COMMS.of(self);
        match handle.0 {
            MPI_COMM_WORLD => comms.world.as_ref(),
            MPI_COMM_SELF => comms.own.as_ref(),
            other => comms.made.get(other),
        }
    }

    /// This process's rank in the job; 0 outside of Init and Finalize.
    pub(crate) fn rank(&self) -> u32 {
        COMMS.of(self).own.as_ref().map_or(0, |own| own.group.members[0])
    }
}
