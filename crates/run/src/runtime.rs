//! The caller's thread: starts the workers, watches them, and puts together what they leave behind.

use crate::crash::{CrashSeat, Rescues};
use crate::kernel::{Kernels, Rescue};
use crate::layout::{LayoutError, RunLayout};
use crate::options::{DRAIN, RUN, RunError, RunOptions, RunProgress, STOP};
use crate::outcome::RunOutcome;
use crate::recorder::Recorder;
use crate::scheduler::CounterIds;
use crate::setup::{Setup, setup};
use crate::shared::{DRAIN_NS, GRACE_NS, Hang, Report, SharedState, left_behind};
use crate::summary::{Measured, summary};
use crate::view::RingEnds;
use crate::waits::WaitLog;
use crate::worker::{WorkerStart, work};
use host::{Affinity, Patience, now_ns};
use machine::Machine;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;
use work::{Graph, Plan, TaskId};

/// How often the main thread looks at the stop flag and the workers.
const LOOK: Duration = Duration::from_millis(20);
const PROGRESS_NS: u64 = 200_000_000;
/// A look that is later than this by itself is a pause of the process: timers are late by a few ms at most.
const PAUSE_NS: u64 = 50_000_000;

/// Runs `graph` as `plan` says on the elements of `machine`, until every task has fired as often as it will.
///
/// One thread per used element, pinned where the element has an operating system's cpu and pinning is granted. Every
/// edge keeps its order, and the bytes that sinks get do not depend on mapping, batch or timing.
///
/// # Errors
/// [`RunError`]. Whatever went wrong, every kernel's `finish` was called (unless its own worker hangs), so that sinks
/// keep what they accepted.
pub fn run(
    graph: &Graph,
    machine: &Machine,
    plan: &Plan,
    kernels: &dyn Kernels,
    mut options: RunOptions<'_>,
) -> Result<RunOutcome, RunError> {
    options.fit(plan)?;
    options.fit_here()?;
    let layout = RunLayout::new(graph, machine, plan)?;
    let has_source = layout.units.iter().any(|u| u.source);
    if !has_source && options.instances.is_none() {
        let why = "every task of the application has inputs: without a source, say how many instances to run";
        return Err(LayoutError(why.into()).into());
    }
    let memory_bytes = options.memory_bytes.unwrap_or_else(memory_available);
    let Setup { layout, workers, blocks, may_block, rescues } = setup(graph, layout, kernels, memory_bytes)?;
    let sources: Vec<bool> = may_block;
    let count = workers.len();
    let shared = Arc::new(SharedState::new(graph, &layout, count, blocks));
    shared.instances.store(options.instances.unwrap_or(u64::MAX), Ordering::Release);
    let counters = Arc::new(CounterIds::new(&layout));
    let mut ends = ends(&layout);
    let stamped = layout.units.iter().find(|u| u.source).map(|u| u.tasks[0]);
    let cpus = Affinity::of_this_thread().map_or(1, |a| a.cpus().len());
    let patience = Patience::new(count, cpus);
    let begin_ns = now_ns();
    let stall_ns = stall_ns(plan);
    // Miri knows no clock ticks.
    let steal = (!cfg!(miri)).then(host::stolen::Steal::start);
    let mut threads: Vec<Option<JoinHandle<()>>> = Vec::with_capacity(count);
    let files: Rescues = rescues.iter().map(|(_, rescue)| rescue.clone()).collect();
    for seed in workers {
        let index = seed.index;
        let tasks = layout.elements[index].units.iter().flat_map(|&u| layout.units[u].tasks.iter().copied());
        let events = if options.trace.is_some() { options.trace_events } else { 0 };
        let start = WorkerStart {
            recorder: Recorder::new(events, options.measure_tasks, tasks),
            ends: std::mem::take(&mut ends[index]),
            counters: counters.clone(),
            cpu: machine.elements[layout.elements[index].element].os_cpu.filter(|_| options.pin),
            patience,
            batch: layout.batch,
            stamped,
            waits: WaitLog::new(layout.rings.len(), stall_ns),
            seed,
        };
        let name = layout.elements[index].name.clone();
        let (theirs, files) = (shared.clone(), files.clone());
        let thread = std::thread::Builder::new().name(name.clone()).spawn(move || {
            let _seat = CrashSeat::take(index, &theirs, &files);
            let guarded = std::panic::AssertUnwindSafe(|| work(start, &theirs));
            if std::panic::catch_unwind(guarded).is_err() {
                theirs.fail(RunError::System(format!("the worker of {name} panicked")));
                lock(&theirs.reports).push(Report { index, ..Report::default() });
                theirs.ended.notify_all();
            }
        });
        match thread {
            Ok(thread) => threads.push(Some(thread)),
            Err(why) => {
                shared
                    .fail(RunError::System(format!("no thread for {}: {why}", layout.elements[index].name)));
                shared.ready.fetch_add(1, Ordering::AcqRel);
                threads.push(None);
            }
        }
    }
    let mut watchdog = Watchdog {
        shared: &shared,
        layout: &layout,
        sources: &sources,
        rescues: &rescues,
        options: &mut options,
        threads: &threads,
        predicted_per_s: plan.throughput_per_s,
        has_source,
        begin_ns,
        warnings: Vec::new(),
        pauses: Vec::new(),
    };
    let mut reports = watchdog.until_the_end();
    let warnings = std::mem::take(&mut watchdog.warnings);
    let pauses = std::mem::take(&mut watchdog.pauses);
    let measured = Measured { stall_ns, pauses: &pauses, steal: steal.as_ref() };
    let whole = reports.len() == threads.iter().flatten().count();
    if whole {
        for thread in threads.into_iter().flatten() {
            let _ = thread.join();
        }
    }
    reports.sort_by_key(|r| r.index);
    let accepted = reports.iter().filter_map(|r| r.accepted).min().unwrap_or(0);
    if let Some(mut failure) = shared.failure.lock().unwrap_or_else(|e| e.into_inner()).take() {
        if let RunError::Failed { accepted: a, .. } = &mut failure {
            *a = accepted;
        }
        return Err(failure);
    }
    if let Some(error) = reports.iter_mut().find_map(|r| r.finish_errors.pop()) {
        return Err(error);
    }
    let mut outcome = summary(graph, machine, plan, &layout, &reports, accepted, &measured);
    outcome.warnings = warnings;
    outcome.stopped = options.stop.load(Ordering::Acquire) != RUN;
    if let Some(path) = &options.trace {
        outcome.trace = crate::trace::write(path, graph, &layout, &reports, &mut outcome.warnings);
    }
    Ok(outcome)
}

/// The rings between elements: whose end is whose.
fn ends(layout: &RunLayout) -> Vec<RingEnds> {
    let mut ends: Vec<RingEnds> = layout.elements.iter().map(|_| RingEnds::default()).collect();
    for (r, ring) in layout.rings.iter().enumerate().filter(|(_, r)| r.crosses) {
        let (mut producer, consumers) = host::ring(ring.capacity, ring.consumers.len());
        // The zeros of the start are there before anybody looks.
        producer.publish(ring.lead);
        for (c, (mut consumer, of)) in consumers.into_iter().zip(&ring.consumers).enumerate() {
            if consumer.has_available(of.offset) {
                consumer.release(of.offset);
            }
            ends[layout.units[of.unit].element].consumers.push(((r, c), consumer));
        }
        ends[layout.units[ring.producer].element].producers.push((r, producer));
    }
    ends
}

/// A wait from which on it is a stall: ten times what a batch should take, and at least 1 ms, which is many times what
/// waking a thread takes.
fn stall_ns(plan: &Plan) -> u64 {
    const LEAST_NS: u64 = 1_000_000;
    const BATCHES: f64 = 10.0;
    ((plan.period_ns * plan.batch as f64 * BATCHES) as u64).max(LEAST_NS)
}

/// ns that this thread was ready and another thread had its cpu; 0 where the kernel does not count it, and under Miri.
fn queued_ns() -> u64 {
    if cfg!(miri) { 0 } else { host::stolen::ThreadTime::now().queued_ns.unwrap_or(0) }
}

/// Three quarters of what the system says is available.
fn memory_available() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kb = text
        .lines()
        .find_map(|l| l.strip_prefix("MemAvailable:")?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    const GUESS_KB: u64 = 1 << 20;
    kb.unwrap_or(GUESS_KB).saturating_mul(1024) / 4 * 3
}

struct Watchdog<'a, 'b> {
    shared: &'a SharedState,
    layout: &'a RunLayout,
    /// Per task: a call of its kernel may wait for the outside world.
    sources: &'a [bool],
    rescues: &'a [(TaskId, Arc<dyn Rescue>)],
    options: &'a mut RunOptions<'b>,
    threads: &'a [Option<JoinHandle<()>>],
    predicted_per_s: f64,
    has_source: bool,
    begin_ns: u64,
    warnings: Vec<String>,
    /// From when to when the process stood still.
    pauses: Vec<(u64, u64)>,
}

impl Watchdog<'_, '_> {
    /// Watches until every worker has ended, or is given up.
    fn until_the_end(&mut self) -> Vec<Report> {
        let shared = self.shared;
        let watchdog_ns = (self.options.watchdog_s.clamp(0.01, 1e9) * 1e9) as u64;
        let workers = self.threads.iter().flatten().count();
        let mut last = (u64::MAX, 0, 0);
        let mut last_ns = now_ns();
        let mut shown =
            Shown { ns: self.begin_ns, instances: 0, idle_ns: vec![0; self.layout.elements.len()] };
        let mut stopped_ns = None;
        let mut reports = lock(&shared.reports);
        loop {
            if reports.len() == workers {
                return std::mem::take(&mut *reports);
            }
            let before = (now_ns(), queued_ns());
            reports = shared.ended.wait_timeout(reports, LOOK).unwrap_or_else(|e| e.into_inner()).0;
            self.look(before);
            let now_ns = now_ns();
            // Without a source there is nothing to drain from.
            let asked = match self.options.stop.load(Ordering::Acquire) {
                RUN => RUN,
                DRAIN if self.has_source => DRAIN,
                _ => STOP,
            };
            if asked > shared.control.fetch_max(asked, Ordering::AcqRel) {
                shared.notify_all();
            }
            if shared.crashed.load(Ordering::Acquire) {
                // That worker waits until the others have finished, and ends the process.
                shared.notify_all();
                continue;
            }
            if shared.control.load(Ordering::Acquire) == STOP {
                let since = *stopped_ns.get_or_insert(now_ns);
                // Flushing what sinks accepted may take longer than returning from a kernel.
                let grace_ns = if self.all_finish(&reports) { watchdog_ns.max(GRACE_NS) } else { GRACE_NS };
                if now_ns.saturating_sub(since) > grace_ns && reports.len() < workers {
                    drop(reports);
                    return self.give_up();
                }
                continue;
            }
            let steps =
                shared.boards.iter().map(|b| b.steps.load(Ordering::Relaxed)).fold(0u64, u64::wrapping_add);
            let patience_ns = if asked == DRAIN { watchdog_ns.min(DRAIN_NS) } else { watchdog_ns };
            let state = (steps, reports.len(), shared.ready.load(Ordering::Relaxed));
            if state != last {
                (last, last_ns) = (state, now_ns);
            } else if now_ns.saturating_sub(last_ns) > patience_ns {
                last_ns = now_ns;
                let seconds = patience_ns as f64 / 1e9;
                match self.what_hangs(&reports) {
                    Hang::Source(why) if asked == RUN => {
                        if !self.warnings.contains(&why) {
                            self.warnings.push(why);
                        }
                    }
                    Hang::Source(why) | Hang::Stuck(why) => shared.fail(RunError::Stuck { seconds, why }),
                }
            }
            if self.options.progress.is_some() && now_ns.saturating_sub(shown.ns) >= PROGRESS_NS {
                drop(reports);
                self.show(&mut shown, now_ns);
                reports = lock(&shared.reports);
            }
        }
    }

    /// A look that comes much later than it should after `before`, although no other program had this thread's cpu: the
    /// process stood still meanwhile. `before`: the time, and how long this thread had been ready without a cpu.
    fn look(&mut self, before: (u64, u64)) {
        let now_ns = now_ns();
        let late_ns = now_ns.saturating_sub(before.0).saturating_sub(LOOK.as_nanos() as u64);
        if late_ns > PAUSE_NS && late_ns - PAUSE_NS > queued_ns().saturating_sub(before.1) {
            self.pauses.push((before.0, now_ns));
        }
    }

    /// Whether every worker without a report has fired for the last time.
    fn all_finish(&self, reports: &[Report]) -> bool {
        self.silent(reports).all(|w| self.shared.boards[w].finishing.load(Ordering::Relaxed))
    }

    fn silent<'r>(&self, reports: &'r [Report]) -> impl Iterator<Item = usize> + 'r {
        (0..self.threads.len()).filter(|w| reports.iter().all(|r| r.index != *w))
    }

    fn what_hangs(&self, reports: &[Report]) -> Hang {
        let mut source = None;
        let mut waiting = Vec::new();
        for w in self.silent(reports) {
            let board = &self.shared.boards[w];
            match board.doing.load(Ordering::Relaxed) {
                0 if board.resting.load(Ordering::Relaxed) => {
                    source.get_or_insert(format!(
                        "a source on {} has nothing to give",
                        self.layout.elements[w].name
                    ));
                }
                _ => match self.shared.hang(w, self.sources) {
                    None => waiting.push(self.layout.elements[w].name.as_str()),
                    Some(Hang::Source(why)) => source = Some(why),
                    Some(stuck) => return stuck,
                },
            }
        }
        match source {
            Some(why) => Hang::Source(why),
            None => Hang::Stuck(format!("the workers of {} wait for each other", waiting.join(", "))),
        }
    }

    /// Leaves hanging workers behind: they own what they may still touch, and flushes their sinks for them.
    fn give_up(&mut self) -> Vec<Report> {
        self.shared.abandoned.store(true, Ordering::Release);
        let reports = std::mem::take(&mut *lock(&self.shared.reports));
        let hanging: Vec<usize> = self.silent(&reports).collect();
        let named = hanging.iter().rev().find_map(|&w| self.shared.kernel_of(w));
        lock(&self.shared.failure).get_or_insert_with(|| left_behind(named));
        for (task, rescue) in self.rescues {
            let unit = self.layout.units.iter().find(|u| u.tasks.contains(task));
            if unit.is_some_and(|u| hanging.contains(&u.element))
                && let Err(why) = rescue.flush()
            {
                self.warnings.push(why);
            }
        }
        reports
    }

    fn show(&mut self, shown: &mut Shown, now_ns: u64) {
        let boards = &self.shared.boards;
        let instances = boards
            .iter()
            .map(|b| b.accepted.load(Ordering::Relaxed))
            .filter(|&a| a != u64::MAX)
            .min()
            .unwrap_or(0);
        let passed_ns = (now_ns - shown.ns).max(1) as f64;
        let busy = boards
            .iter()
            .zip(&mut shown.idle_ns)
            .zip(&self.layout.elements)
            .map(|((board, before), element)| {
                let mut idle_ns = board.idle_ns.load(Ordering::Relaxed);
                match board.idle_since_ns.load(Ordering::Relaxed) {
                    0 => {}
                    since_ns => idle_ns += now_ns.saturating_sub(since_ns),
                }
                let idle = idle_ns.saturating_sub(std::mem::replace(before, idle_ns)) as f64;
                (element.name.clone(), (1.0 - idle / passed_ns).clamp(0.0, 1.0))
            })
            .collect();
        let total = Some(self.shared.instances.load(Ordering::Relaxed)).filter(|&n| n != u64::MAX);
        let progress = RunProgress {
            instances,
            total,
            elapsed_s: (now_ns - self.begin_ns) as f64 / 1e9,
            is_simulated: false,
            throughput_per_s: instances.saturating_sub(shown.instances) as f64 * 1e9 / passed_ns,
            predicted_per_s: self.predicted_per_s,
            busy,
            warning: self.warnings.last().cloned(),
        };
        (shown.ns, shown.instances) = (now_ns, instances);
        if let Some(callback) = &mut self.options.progress {
            callback(&progress);
        }
    }
}

/// What was shown last.
struct Shown {
    ns: u64,
    instances: u64,
    idle_ns: Vec<u64>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}
