//! What all workers and the main thread share.

use crate::memory::Pages;
use crate::options::{RunError, STOP};
use crate::recorder::Recorder;
use crate::stamps::Stamps;
use crate::waits::WaitLog;
use host::Event;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};

/// What all workers and the main thread share.
pub(crate) struct SharedState {
    /// How often every task fires; lowered when a source ends.
    pub instances: AtomicU64,
    /// [`RUN`](crate::RUN), [`DRAIN`](crate::DRAIN) or [`STOP`].
    pub control: AtomicU32,
    /// Nobody waits for this run any more: a worker that still runs must touch nothing.
    pub abandoned: AtomicBool,
    /// A worker's kernel has crashed: that worker ends the process.
    pub crashed: AtomicBool,
    /// Workers whose kernels are initialised.
    pub ready: AtomicU32,
    /// Per ring, instances that its producer made in all; `u64::MAX` while it still makes some.
    pub made: Box<[AtomicU64]>,
    pub boards: Box<[Board]>,
    pub failure: Mutex<Option<RunError>>,
    pub stamps: Stamps,
    pub reports: Mutex<Vec<Report>>,
    pub ended: Condvar,
    pub names: Vec<String>,
    pub blocks: Vec<Pages>,
}

/// What a worker says of itself while it runs; written by it alone, read by the main thread.
#[repr(align(128))]
#[derive(Debug, Default)]
pub(crate) struct Board {
    /// Task in whose kernel it is, plus 1; 0 = in none.
    pub doing: AtomicU64,
    /// First instance of that call.
    pub instance: AtomicU64,
    /// Instances of that call, at most.
    pub firings: AtomicU64,
    /// Rises with every firing.
    pub steps: AtomicU64,
    /// Firings of the slowest of its sinks; `u64::MAX` without one.
    pub accepted: AtomicU64,
    /// ns that it has waited.
    pub idle_ns: AtomicU64,
    /// Since when it waits; 0 = it does not.
    pub idle_since_ns: AtomicU64,
    /// Whether it waits for a source that has nothing right now.
    pub resting: AtomicBool,
    /// Whether it has fired for the last time: kernels flush.
    pub finishing: AtomicBool,
    pub event: Event,
}

/// What a worker leaves behind.
#[derive(Default)]
pub(crate) struct Report {
    pub index: usize,
    pub busy_ns: u64,
    pub idle_ns: u64,
    pub firings: u64,
    pub start_ns: u64,
    pub end_ns: u64,
    /// `None`: as asked; else why not.
    pub unpinned: Option<String>,
    /// ns that it was ready to run and another thread had its cpu, where the kernel counts that.
    pub queued_ns: Option<u64>,
    /// How often it lost its cpu to another thread.
    pub preempted: u64,
    /// Bytes that the process had in use when this worker began and when it ended.
    pub resident_bytes: (u64, u64),
    pub waits: WaitLog,
    pub latencies_ns: Vec<f64>,
    /// (instances, ns) of its sink's sampled batches.
    pub marks: Vec<(u64, u64)>,
    /// Firings of its slowest sink.
    pub accepted: Option<u64>,
    pub recorder: Recorder,
    pub finish_errors: Vec<RunError>,
}

impl SharedState {
    /// Wakes every worker, so that it looks at what changed.
    pub(crate) fn notify_all(&self) {
        self.boards.iter().for_each(|b| b.event.notify());
    }

    /// The first failure counts; all workers stop.
    pub(crate) fn fail(&self, error: RunError) {
        self.failure.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(error);
        self.control.store(STOP, Ordering::Release);
        self.notify_all();
    }

    /// A source has made `instances` and no more.
    pub(crate) fn end_at(&self, instances: u64) {
        if self.instances.fetch_min(instances, Ordering::AcqRel) > instances {
            self.notify_all();
        }
    }
}
