//! Messages between the processes (or threads) of one machine: the ranks of a job.
//!
//! All ranks share one [`Segment`] of memory. Each has one [`Engine`], which writes messages into rings of 64-byte
//! lines, matches what comes with what is asked for, and copies large messages between the two processes without a copy
//! in between. There is no state but in these objects; how a rank ends is its [`Abort`]'s matter.
//!
//! | module | what it does | imports |
//! |---|---|---|
//! | `abort` | how a rank ends when it can't go on | |
//! | `copy` | copies by instructions that fit the next reader, and the addresses | |
//! | `asleep` | how a rank goes to sleep and is woken, so that no message is slept through | |
//! | `claims` | pieces of a message that two processes copy together | |
//! | `landing` | whether data lands in this cpu's caches or past them, as this rank measures it | copy |
//! | `costs` | what it costs to copy a byte, by sort of copy, as all ranks measure it | copy, landing |
//! | `cycles` | what a program's cycles take with one of two answers | |
//! | `ways` | which way large messages between two ranks take, as both measure it | |
//! | `fills` | how a sender fills slots of the pool, as both ranks measure it | copy, costs |
//! | `slots` | who has yet to take what lies in the slots of a window | |
//! | `segment` | what lies where in the job's shared memory; what ranks count there | claims, costs, slots, ways |
//! | `counters` | what the engine counts of its rank | |
//! | `lists` | first-in-first-out lists by key | |
//! | `matching` | which receive gets which message | lists |
//! | `buffer` | where a message's data lies, contiguous or not | copy, landing |
//! | `early` | whether the line of an answer is taken when the message comes, as this rank measures it | |
//! | `ring` | lines from one rank to another | copy, early, segment, ways |
//! | `pool` | slots for pieces too large for the rings, handed to and fro | copy, costs, fills, ring, segment |
//! | `remote` | copies between the memory of two processes, by the kernel | buffer, segment |
//! | `carried` | a rank asks a simulator that carries its messages | matching, segment |
//! | `wait` | spin, yield, sleep; who else wants the cpus | abort, asleep, segment, carried |
//! | `engine` | moves the messages of one rank | all |
//!
//! Two ranks, here two threads of one process, exchange a message:
//!
//! ```
//! use transport::{Buffer, Criteria, Engine, EngineCounters, Envelope, Exit, Mode, Segment, WaitingRoom};
//!
//! fn rank(segment: Segment, rank: usize) {
//!     let (room, counters) = (WaitingRoom::new(&Exit), EngineCounters::new());
//!     let mut engine = Engine::new(&room, &counters);
//!     segment.rank(rank).pid.store(std::process::id(), std::sync::atomic::Ordering::Relaxed);
//!     engine.attach(segment, rank);
//!     let mut data = [0u8; 100_000];
//!     if rank == 0 {
//!         data.fill(7);
//!         // SAFETY: `data` is left alone until the send is complete.
//!         let buffer = unsafe { Buffer::new(data.as_mut_ptr(), data.len()) };
//!         let sent = engine.send(1, Envelope::new(0, 0, 5), &buffer, Mode::Standard);
//!         if let Some(id) = sent {
//!             engine.wait(id);
//!         }
//!     } else {
//!         // SAFETY: `data` is left alone until the receive is complete.
//!         let buffer = unsafe { Buffer::new(data.as_mut_ptr(), data.len()) };
//!         let id = engine.receive(Criteria { context: 0, source: Some(0), tag: None }, Some(0), &buffer);
//!         let ended = engine.wait(id);
//!         assert_eq!((ended.tag, ended.bytes, data[99_999]), (5, 100_000, 7));
//!     }
//! }
//!
//! let segment = Segment::private(2, 2)?;
//! std::thread::scope(|scope| {
//!     for number in 0..2 {
//!         scope.spawn(move || rank(segment, number));
//!     }
//! });
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Floor 3: imports `host` and `machine` only.

mod abort;
pub mod asleep;
mod buffer;
pub mod carried;
pub mod claims;
mod copy;
mod costs;
mod counters;
mod cycles;
mod early;
mod engine;
mod fills;
mod landing;
mod lists;
mod matching;
mod pool;
mod remote;
pub mod ring;
pub mod segment;
pub mod slots;
pub mod wait;
mod ways;

pub use abort::{Abort, Exit};
pub use buffer::{Buffer, Layout, Shape, Span};
pub use copy::{copy, copy_in, copy_past_unfenced, fence_past};
pub use costs::{COPY_FROM, DataUse, Spot};
pub use counters::{Counter, EngineCounters};
pub use engine::{
    ASIDE, Among, Arrival, Awaited, BesideOwn, COMPLETE_AT_ONCE, CREDIT, ClaimId, Completion, Ending, Engine,
    FROM_NOBODY, MOST_EAGER, MOST_EAGER_CROWDED, Mode, NO_SOURCE, NO_TAG, NOBODY, Passage, Passing,
    RECEIVED_FROM_NOBODY, ReductionOfTwo, SHOWN_ABOVE, SentBeside, Showing, Takers, TransferId,
};
pub use matching::{Criteria, Envelope};
pub use segment::Segment;
pub use wait::{Waiting, WaitingRoom};
