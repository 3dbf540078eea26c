//! What all workers and the main thread share.

use crate::layout::RunLayout;
use crate::memory::Pages;
use crate::options::{RUN, RunError, STOP};
use crate::recorder::Recorder;
use crate::stamps::Stamps;
use crate::waits::WaitLog;
use host::Event;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use work::{Graph, TaskId};

/// What a worker gets to return from its kernel and flush, once the run must end.
pub(crate) const GRACE_NS: u64 = 2_000_000_000;
/// How long a stream that drains may make no progress: who asked a program to end does not wait longer.
pub(crate) const DRAIN_NS: u64 = 5_000_000_000;

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
    /// By task.
    pub names: Vec<String>,
    /// By board.
    pub elements: Vec<String>,
    /// Threads that fire kernels: one per board, or one for all where a caller decides when.
    pub threads: u32,
    pub blocks: Vec<Pages>,
}

/// Who asked a run to stop, and what its kernel of task `named` did not do.
pub(crate) fn left_behind(named: Option<&str>) -> RunError {
    let why = format!("the kernel of task '{}' did not return after the stop", named.unwrap_or("unknown"));
    RunError::Stuck { seconds: GRACE_NS as f64 / 1e9, why }
}

/// What a board's element does while it makes no progress.
pub(crate) enum Hang {
    /// A source waits for the outside world: no hang.
    Source(String),
    Stuck(String),
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
    /// Of a run of `graph` with a board per element, before it begins; `threads` fire its kernels.
    pub(crate) fn new(graph: &Graph, layout: &RunLayout, threads: usize, blocks: Vec<Pages>) -> SharedState {
        let board = || Board { accepted: AtomicU64::new(u64::MAX), ..Board::default() };
        SharedState {
            instances: AtomicU64::new(u64::MAX),
            control: AtomicU32::new(RUN),
            abandoned: AtomicBool::new(false),
            crashed: AtomicBool::new(false),
            ready: AtomicU32::new(0),
            made: layout.rings.iter().map(|_| AtomicU64::new(u64::MAX)).collect(),
            boards: layout.elements.iter().map(|_| board()).collect(),
            failure: Mutex::new(None),
            stamps: Stamps::new(),
            reports: Mutex::new(Vec::new()),
            ended: Condvar::new(),
            names: graph.tasks.iter().map(|t| t.name.clone()).collect(),
            elements: layout.elements.iter().map(|e| e.name.clone()).collect(),
            threads: threads as u32,
            blocks,
        }
    }

    /// A kernel of `task` is about to be fired by hand for the element of board `b`.
    pub(crate) fn enter(&self, b: usize, task: TaskId) {
        self.boards[b].doing.store(task as u64 + 1, Ordering::Relaxed);
    }

    /// That kernel has returned. If nobody waits for the run any more, this thread stays here for good: what its
    /// kernels refer to may be gone.
    pub(crate) fn leave(&self, b: usize) {
        let board = &self.boards[b];
        board.doing.store(0, Ordering::Relaxed);
        board.steps.fetch_add(1, Ordering::Relaxed);
        while self.abandoned.load(Ordering::Acquire) {
            std::thread::park();
        }
    }

    /// The task in whose kernel the element of board `b` is.
    pub(crate) fn kernel_of(&self, b: usize) -> Option<&str> {
        let task = (self.boards[b].doing.load(Ordering::Relaxed) as usize).checked_sub(1)?;
        Some(&self.names[task])
    }

    /// The kernel that the element of board `b` is in, as a hang; none while it is in no kernel. `may_wait` says of a
    /// task whether a call of its kernel may wait for the outside world.
    pub(crate) fn hang(&self, b: usize, may_wait: &[bool]) -> Option<Hang> {
        let board = &self.boards[b];
        let task = (board.doing.load(Ordering::Relaxed) as usize).checked_sub(1)?;
        let (name, instance) = (&self.names[task], board.instance.load(Ordering::Relaxed));
        if may_wait[task] && !board.finishing.load(Ordering::Relaxed) {
            return Some(Hang::Source(format!(
                "the source '{name}' waits for its input, at instance {instance}"
            )));
        }
        Some(Hang::Stuck(format!(
            "the kernel of task '{name}' on {} does not return or makes no progress, at instance {instance}",
            self.elements[b]
        )))
    }

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
