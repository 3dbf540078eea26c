//! What a caller may ask of a run, and what can go wrong.

use crate::layout::LayoutError;
use ground::Located;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use work::Plan;

/// The stop flag: run on.
pub const RUN: u32 = 0;
/// The stop flag: sources end, everything in flight completes.
pub const DRAIN: u32 = 1;
/// The stop flag: stop now; sinks are still flushed.
pub const STOP: u32 = 2;

ground::options! {
    /// What a caller may ask of a run.
    pub struct RunOptions<'a>("run") {
        /// Stop after so many instances; by default when the sources end.
        pub instances: Option<u64> = None, in 1..=9_223_372_036_854_775_808;
        /// Run until the throughput is steady, 40,000 instances or as many as asked for at most; on a simulated Cell.
        pub until_steady: bool = false;
        /// Instances per firing at most: a bound on latency. By default as many as the plan says.
        pub batch: Option<u64> = None, in 1..=1_048_576;
        /// The element of a task, where no plan is given: the others are planned around it.
        pub mapping: Option<BTreeMap<String, String>> = None;
        /// Write what ran when to this file (Chrome's format, for ui.perfetto.dev).
        pub trace: Option<PathBuf> = None;
    } and {
        /// [`RUN`], [`DRAIN`] or [`STOP`]; may be raised at any time from any thread or signal handler. It is looked at
        /// every 20 ms.
        pub stop: Arc<AtomicU32> = Arc::new(AtomicU32::new(RUN));
        /// Seconds without any progress after which the run is ended and the task that holds it up is named.
        pub watchdog_s: f64 = 10.0;
        /// Bytes of buffers that are not too many; `None`: three quarters of what the system says is available.
        pub memory_bytes: Option<u64> = None;
        /// Whether to pin the workers.
        pub pin: bool = true;
        /// Measure what each task's firings cost; a clock is then read around every call.
        pub measure_tasks: bool = false;
        /// Events that a worker's trace holds at most; the result says when that was not enough.
        pub trace_events: usize = 1 << 20;
        /// Called about five times a second on the caller's thread.
        pub progress: Option<&'a mut dyn FnMut(&RunProgress)> = None;
    }
}

impl RunOptions<'_> {
    /// Refuses what a run on this computer cannot do.
    ///
    /// # Errors
    /// Says which option.
    pub fn fit_here(&self) -> Result<(), Located> {
        if self.until_steady {
            let why = "only a run on a simulated Cell can go on until it is steady; here say how many instances to run";
            return Err(Located::new(why).key("until_steady"));
        }
        Ok(())
    }

    /// Refuses options out of range, and a plan whose batch is larger than is asked for or that maps a task elsewhere.
    ///
    /// # Errors
    /// Says which option, and what the plan has.
    pub fn fit(&self, plan: &Plan) -> Result<(), Located> {
        self.check()?;
        if let Some(most) = self.batch.filter(|most| plan.batch > *most) {
            return Err(Located::new(format!(
                "the plan has {} instances per firing, and at most {most} are asked for; plan again with max_batch",
                plan.batch
            ))
            .key("batch"));
        }
        let elsewhere = |(task, element): &(&String, &String)| plan.mapping.get(*task) != Some(*element);
        match self.mapping.iter().flatten().find(elsewhere) {
            Some((task, element)) => Err(Located::new(format!(
                "`{task}` on `{element}` is asked for, and the plan has it {}; plan again with this mapping",
                plan.mapping.get(task).map_or_else(|| "nowhere".into(), |e| format!("on `{e}`"))
            ))
            .key("mapping")),
            None => Ok(()),
        }
    }
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq)]
pub struct RunProgress {
    /// Instances that the last sink has taken.
    pub instances: u64,
    /// How many there will be, where that is known.
    pub total: Option<u64>,
    /// Since the run began.
    pub elapsed_s: f64,
    /// Whether all times are simulated.
    pub is_simulated: bool,
    /// Instances per second since the last call.
    pub throughput_per_s: f64,
    /// What the plan predicts.
    pub predicted_per_s: f64,
    /// Per used element: its name, and the part of the time since the last call that it was not waiting, 0 to 1.
    pub busy: Vec<(String, f64)>,
    /// Something worth saying, such as a source that has waited long.
    pub warning: Option<String>,
}

impl RunProgress {
    /// The part of the instances that is done, 0 to 1, where their number is known.
    pub fn share(&self) -> Option<f64> {
        self.total.map(|total| self.instances as f64 / total.max(1) as f64)
    }
}

/// Why a run did not end well.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RunError {
    /// An option is out of its range, or does not fit the plan.
    #[error("{0}")]
    Option(#[from] Located),
    /// The plan does not fit the application or the machine.
    #[error("{0}")]
    Plan(#[from] LayoutError),
    /// The buffers do not fit the computer.
    #[error("{0}")]
    Memory(String),
    /// A kernel could not be found, or its ports are not the application's.
    #[error("task '{task}': {why}")]
    Kernel {
        /// The task's name.
        task: String,
        /// A sentence.
        why: String,
    },
    /// A kernel refused to start, failed, or broke the rules of `cellweave.h`. Sinks were flushed.
    #[error("task '{task}' failed at instance {instance}: {why}")]
    Failed {
        /// The task's name.
        task: String,
        /// The instance that it was to make, counted from 0.
        instance: u64,
        /// What the kernel said.
        why: String,
        /// Instances that the last sink had taken.
        accepted: u64,
    },
    /// A kernel could not flush what it had accepted.
    #[error("task '{task}' could not finish: {why}")]
    Finish {
        /// The task's name.
        task: String,
        /// What the kernel said.
        why: String,
    },
    /// No progress for [`RunOptions::watchdog_s`]. Sinks were flushed.
    #[error("no progress for {seconds} s: {why}")]
    Stuck {
        /// How long.
        seconds: f64,
        /// Which task does not return or does not progress, and at which instance.
        why: String,
    },
    /// Threads or files that the run itself needs were refused.
    #[error("{0}")]
    System(String),
}
