//! This computer as a target: the only crate that reads a clock, waits, or pins a thread.
//!
//! | module | what it does |
//! |---|---|
//! | [`mod@ring`] | the counters of a ring between one producer and its consumers; no data |
//! | [`wait`] | spin, yield, park; a publish wakes a parked worker and costs a fence when nobody sleeps |
//! | [`futex`] | sleeping on a word of memory, also between processes |
//! | [`clock`] | monotonic nanoseconds, what reading them costs, sleeping |
//! | [`pin`] | one thread on one cpu, and whether that was granted |
//! | [`mod@speed`] | how fast cpus compute right now, alone and while others compute |
//! | [`stolen`] | did this thread lose its cpu since a mark |
//! | [`mod@target`] | transfers between cores, and between a core and memory, as a `Target` |
//! | [`stream`] | what lines cost between two cpus, by bytes of a hand-over and bytes of the ring |
//! | [`signals`] | Ctrl-C: the first drains, the second stops |
//! | [`mod@identity`] | what a result file says about the computer it comes from |
//!
//! Floor 2: imports `machine` only.

pub mod clock;
pub mod futex;
pub mod identity;
pub mod pin;
pub mod ring;
pub mod signals;
#[cfg(not(loom))]
pub mod speed;
pub mod stolen;
#[cfg(not(loom))]
pub mod stream;
#[cfg(not(loom))]
pub mod target;
pub mod wait;

mod sync;

pub use clock::{Clock, now_ns, overhead_ns};
pub use identity::{Identity, identity};
pub use pin::Affinity;
pub use ring::{Consumer, Producer, ring};
#[cfg(not(loom))]
pub use speed::{Busy, Speed, speeds};
#[cfg(not(loom))]
pub use stream::LineStream;
#[cfg(not(loom))]
pub use target::HostTarget;
pub use wait::{Event, Patience, Woken};
