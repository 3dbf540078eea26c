//! One element's thread: it does what its scheduler says.
//!
//! In the steady state a worker that has work makes no system call, takes no lock and allocates nothing; it reads a
//! clock only when it goes idle, when it samples a latency, or when it was asked to measure. Everything that a firing
//! produced and freed is published before the next step, hence before it waits.

use crate::kernel::verdict::{Verdict, judge, skip};
use crate::kernel::{ERROR_BYTES, Live, abi};
use crate::lengths::Lengths;
use crate::memory::RingSlots;
use crate::options::{RUN, RunError, STOP};
use crate::recorder::{Called as RecordedCall, Recorder, Sampling};
use crate::scheduler::{CounterIds, NextStep, Scheduler};
use crate::setup::{RingIn, RingOut, TaskSeed, UnitSeed, WorkerSeed};
use crate::shared::{Board, Report, SharedState};
use crate::stamps::{Stamper, Watcher};
use crate::view::{RingEnds, RingView};
use crate::waits::{WaitEnd, WaitLog};
use host::stolen::ThreadTime;
use host::{Clock, Patience};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use work::TaskId;

/// What a worker's thread is given.
pub(crate) struct WorkerStart {
    pub seed: WorkerSeed,
    pub ends: RingEnds,
    pub counters: std::sync::Arc<CounterIds>,
    pub cpu: Option<u32>,
    pub patience: Patience,
    pub batch: u64,
    /// The task whose firings are stamped for the latency.
    pub stamped: Option<usize>,
    pub recorder: Recorder,
    pub waits: WaitLog,
}

/// The first wait before a source that had nothing is asked again, and the longest.
const RETRY_NS: (u64, u64) = (10_000, 5_000_000);

struct Worker<'a> {
    board: &'a Board,
    shared: &'a SharedState,
    clock: Clock,
    patience: Patience,
    scheduler: Scheduler,
    view: RingView<'a>,
    units: Vec<LiveUnit>,
    recorder: Recorder,
    waits: WaitLog,
    idle_ns: u64,
    firings: u64,
    steps: u64,
    tasks: usize,
    retry_ns: u64,
    control: u32,
}

struct LiveUnit {
    tasks: Vec<LiveTask>,
    writes: Vec<(usize, RingSlots)>,
    peers: Vec<usize>,
    /// Producers of the view that this unit feeds; per write.
    publish: Vec<Option<usize>>,
    /// Consumers of the view that this unit empties.
    release: Vec<usize>,
    stamper: Option<Stamper>,
    sink: Option<Watcher>,
    sampling: Sampling,
}

/// A task while it runs.
struct LiveTask {
    task: usize,
    live: Live,
    source: bool,
    ins: Box<[abi::CwIn]>,
    outs: Box<[abi::CwOut]>,
    error: Box<[u8]>,
    ring_ins: Vec<RingIn>,
    ring_outs: Vec<RingOut>,
    lengths: Vec<Lengths>,
    /// Index of the recorder's costs.
    cost: usize,
}

impl LiveTask {
    #[cold]
    fn clear_lengths(&mut self, firings: u64) {
        for lengths in &self.lengths {
            // SAFETY: these instances are this worker's until it publishes them, and the kernel is not called yet.
            unsafe { lengths.clear(&self.outs[lengths.place], firings) };
        }
    }

    #[cold]
    fn wrong_length(&self, firings: u64) -> Option<(u64, String)> {
        // SAFETY: as above; the kernel has returned.
        self.lengths.iter().find_map(|l| unsafe { l.wrong(&self.outs[l.place], firings) })
    }
}

/// How a task's call, or calls, of one firing of its unit ended.
struct Called {
    fired: u64,
    again: bool,
    end: bool,
}

/// The run stops; the reason is in [`SharedState::failure`].
struct Stopped;

/// The thread's whole life: pin, touch, init, run, finish, report.
pub(crate) fn work(start: WorkerStart, shared: &SharedState) {
    let WorkerStart { seed, ends, counters, cpu, patience, batch, stamped, recorder, waits } = start;
    let WorkerSeed { index, scheduler, units, blocks } = seed;
    let unpinned = cpu.and_then(|cpu| host::pin::to_cpu(cpu).err().map(|e| e.to_string()));
    for block in blocks {
        // SAFETY: this worker alone has these blocks before all workers are ready.
        unsafe { shared.blocks[block].touch() };
    }
    let view = RingView::new(shared, &scheduler, &counters, ends);
    let mut worker = Worker {
        board: &shared.boards[index],
        shared,
        clock: Clock::get(),
        patience,
        scheduler,
        view,
        units: Vec::with_capacity(units.len()),
        recorder,
        waits,
        idle_ns: 0,
        firings: 0,
        steps: 0,
        tasks: 0,
        retry_ns: RETRY_NS.0,
        control: RUN,
    };
    worker.recorder.touch();
    for unit in units {
        worker.init(unit, batch, stamped);
    }
    worker.board.doing.store(0, Relaxed);
    // All kernels are ready before the first fires: an init that fails costs no data.
    shared.ready.fetch_add(1, std::sync::atomic::Ordering::AcqRel);
    shared.notify_all();
    let workers = shared.threads;
    worker.board.event.wait(patience, None, || {
        shared.ready.load(Acquire) == workers || shared.control.load(Acquire) == STOP
    });
    // Miri has none of the kernel's figures.
    let counted = || match cfg!(miri) {
        true => (ThreadTime::default(), 0),
        false => (ThreadTime::now(), host::stolen::resident_bytes()),
    };
    let first = counted();
    let start_ns = worker.clock.now_ns();
    worker.recorder.last_ns = start_ns;
    let _ = worker.run();
    let end_ns = worker.clock.now_ns();
    let last = counted();
    let thread = last.0.since(&first.0);
    if shared.abandoned.load(Acquire) {
        // The thread that started this run has gone, and perhaps also what its kernels refer to.
        std::mem::forget(worker);
        return;
    }
    worker.board.finishing.store(true, Relaxed);
    let finish_errors = worker.finish();
    let mut report = Report {
        index,
        busy_ns: (end_ns - start_ns).saturating_sub(worker.idle_ns),
        idle_ns: worker.idle_ns,
        firings: worker.firings,
        start_ns,
        end_ns,
        unpinned,
        queued_ns: thread.queued_ns,
        preempted: thread.preempted,
        resident_bytes: (first.1, last.1),
        waits: std::mem::take(&mut worker.waits),
        latencies_ns: Vec::new(),
        marks: Vec::new(),
        accepted: None,
        recorder: std::mem::take(&mut worker.recorder),
        finish_errors,
    };
    for (u, unit) in worker.units.iter().enumerate() {
        if let Some(sink) = &unit.sink {
            report.latencies_ns.extend(sink.latencies_ns().iter().map(|&ns| ns as f64));
            let fired = worker.scheduler.firings(u);
            if report.accepted.is_none_or(|a| fired < a) {
                report.accepted = Some(fired);
                report.marks = sink.marks().to_vec();
            }
        }
    }
    shared.reports.lock().unwrap_or_else(|e| e.into_inner()).push(report);
    shared.ended.notify_all();
}

impl Worker<'_> {
    /// Makes a unit's kernels; a refusal stops the run before it starts.
    fn init(&mut self, seed: UnitSeed, batch: u64, stamped: Option<usize>) {
        let unit = self.units.len();
        let sink = seed.tasks.iter().any(|t| t.sink);
        if sink {
            self.board.accepted.store(0, Relaxed);
        }
        let mut tasks = Vec::with_capacity(seed.tasks.len());
        for TaskSeed { task, opened, info, ins, outs, ring_ins, ring_outs, lengths, source, .. } in seed.tasks
        {
            if self.shared.control.load(Acquire) == STOP {
                break;
            }
            self.board.doing.store(task as u64 + 1, Relaxed);
            let live = match Live::init(opened, &info) {
                Ok(live) => live,
                Err(why) => {
                    self.shared.fail(RunError::Kernel { task: info.name, why });
                    break;
                }
            };
            let error = vec![0u8; ERROR_BYTES].into();
            // The recorder lists the tasks in this order, too.
            let cost = self.tasks;
            self.tasks += 1;
            tasks.push(LiveTask { task, live, source, ins, outs, error, ring_ins, ring_outs, lengths, cost });
        }
        let stamper = tasks.iter().any(|t| Some(t.task) == stamped).then(|| Stamper::new(batch));
        self.units.push(LiveUnit {
            publish: seed.writes.iter().map(|(ring, _)| self.view.producer_of.get(ring).copied()).collect(),
            release: (self.scheduler.reads(unit).iter())
                .filter_map(|r| self.view.consumer_of.get(&(r.ring, r.consumer)).copied())
                .collect(),
            writes: seed.writes,
            peers: seed.peers,
            stamper,
            sink: sink.then(|| Watcher::new(batch)),
            sampling: Sampling::new(batch),
            tasks,
        });
    }

    fn run(&mut self) -> Result<(), Stopped> {
        loop {
            self.heed()?;
            let mut step = self.scheduler.step(&mut self.view);
            if step == NextStep::Wait {
                step = self.wait(None);
            }
            match step {
                NextStep::Fire { unit, firings } => self.fire(unit, firings)?,
                NextStep::Retry { unit, firings } => {
                    let other = self.wait(Some(self.retry_ns));
                    self.retry_ns = (self.retry_ns * 2).min(RETRY_NS.1);
                    let called = self.shared.control.load(Acquire) != self.control;
                    if !called && matches!(other, NextStep::Wait | NextStep::Retry { .. }) {
                        self.fire(unit, firings)?;
                    }
                }
                NextStep::Pad { unit, write, instances } => self.pad(unit, write, instances),
                NextStep::Wait => {}
                NextStep::Done => return Ok(()),
            }
        }
    }

    /// Obeys the stop flag.
    #[inline]
    fn heed(&mut self) -> Result<(), Stopped> {
        let control = self.shared.control.load(Acquire);
        if control == self.control {
            return Ok(());
        }
        self.control = control;
        if control == STOP {
            return Err(Stopped);
        }
        for (u, unit) in self.units.iter().enumerate() {
            if unit.tasks.iter().any(|t| t.source) {
                self.shared.end_at(self.scheduler.firings(u));
            }
        }
        Ok(())
    }

    /// Waits until something can run, the stop flag changes, or the time is over; gives the last step seen.
    #[cold]
    fn wait(&mut self, timeout_ns: Option<u64>) -> NextStep {
        let Worker { board, shared, clock, patience, scheduler, view, control, .. } = self;
        let start_ns = clock.now_ns();
        board.doing.store(0, Relaxed);
        board.resting.store(timeout_ns.is_some(), Relaxed);
        board.idle_since_ns.store(start_ns, Relaxed);
        let mut step = NextStep::Wait;
        board.event.wait(*patience, timeout_ns, || {
            if shared.control.load(Acquire) != *control {
                return true;
            }
            step = scheduler.step(view);
            !matches!(step, NextStep::Wait | NextStep::Retry { .. })
                || (timeout_ns.is_none() && step != NextStep::Wait)
        });
        let end_ns = clock.now_ns();
        self.idle_ns += end_ns - start_ns;
        board.idle_ns.store(self.idle_ns, Relaxed);
        board.idle_since_ns.store(0, Relaxed);
        board.resting.store(false, Relaxed);
        self.recorder.waited(start_ns, end_ns);
        let end = match step {
            _ if timeout_ns.is_some() => WaitEnd::Source,
            NextStep::Fire { unit, .. } => WaitEnd::Ready(self.scheduler.lacked(unit)),
            NextStep::Retry { .. } | NextStep::Pad { .. } | NextStep::Wait | NextStep::Done => WaitEnd::Over,
        };
        self.waits.add(end_ns - start_ns, end, self.firings == 0);
        step
    }

    /// Fires every task of a unit `firings` times, or fewer when its source has fewer.
    fn fire(&mut self, u: usize, mut firings: u64) -> Result<(), Stopped> {
        let unit = &mut self.units[u];
        let first = self.scheduler.firings(u);
        let (reads, writes) = (self.scheduler.reads(u), self.scheduler.writes(u));
        let board = self.board;
        let (mut again, mut end) = (false, false);
        if let Some(stamper) = unit.stamper.as_mut().filter(|s| s.due(first)) {
            stamper.stamp(&self.shared.stamps, first, self.clock.now_ns());
        }
        board.instance.store(first, Relaxed);
        board.firings.store(firings, Relaxed);
        let sampled = self.recorder.measuring || (!cfg!(miri) && unit.sampling.due(first));
        let mark = sampled.then(|| {
            let (mark, cpu_ns) = (host::stolen::Mark::now(), host::clock::thread_cpu_ns());
            let now_ns = self.clock.now_ns();
            unit.sampling.sampled(first, now_ns);
            self.recorder.last_ns = now_ns;
            (mark, cpu_ns, now_ns)
        });
        let timed = sampled || self.recorder.tracing;
        for task in &mut unit.tasks {
            for view in &mut task.ins {
                view.real = firings + view.peek;
            }
            for ring_in in &task.ring_ins {
                let view = &mut task.ins[ring_in.place];
                let read = &reads[ring_in.read];
                view.base = ring_in.slots.at(read.slot).cast_const().cast();
                if ring_in.peek > 0 {
                    let made = self.shared.made[ring_in.ring].load(Acquire);
                    view.real = view.real.min(made.saturating_sub(self.scheduler.tail(read)));
                }
            }
            for ring_out in &task.ring_outs {
                task.outs[ring_out.place].base = ring_out.slots.at(writes[ring_out.write].slot).cast();
            }
            if !task.lengths.is_empty() {
                task.clear_lengths(firings);
            }
            board.doing.store(task.task as u64 + 1, Relaxed);
            let batch = abi::CwBatch {
                firings,
                first,
                inputs: task.ins.len() as u32,
                outputs: task.outs.len() as u32,
                r#in: task.ins.as_ptr(),
                out: task.outs.as_ptr(),
                error: task.error.as_mut_ptr().cast(),
                error_bytes: ERROR_BYTES as u64,
            };
            // SAFETY: the kernel was checked to be of this ABI; the views lead to `firings` (+ peek) instances that the
            // scheduler said are there, and to room for as many; the state is the one that init made, used by this
            // thread alone.
            let result = unsafe { (task.live.fire)(task.live.state, &batch) };
            if result.status != abi::OK || result.fired != firings {
                let called = unusual(task, batch, result, self.shared, self.board, self.patience)?;
                firings = called.fired;
                again |= called.again;
                end |= called.end;
            }
            if !task.lengths.is_empty()
                && let Some((j, why)) = task.wrong_length(firings)
            {
                return Err(failed(self.shared, task.task, first + j, why));
            }
            for ring_out in &task.ring_outs {
                // SAFETY: this worker is the ring's producer, and these slots are its own until it publishes them.
                unsafe { ring_out.slots.mirror(writes[ring_out.write].slot, firings) };
            }
            if timed {
                let call = RecordedCall { cost: task.cost, task: task.task, firings, first };
                self.recorder.call(call, self.clock.now_ns(), sampled);
            }
            if firings == 0 {
                break;
            }
        }
        if let Some((mark, cpu_ns, start_ns)) = mark {
            let had_cpu = mark.lost_cpu().then(|| {
                let had_ns = host::clock::thread_cpu_ns().saturating_sub(cpu_ns) as f64;
                (had_ns / self.clock.now_ns().saturating_sub(start_ns).max(1) as f64).min(1.0)
            });
            self.recorder.settle(had_cpu);
        }
        self.scheduler.fired(u, firings, again);
        self.publish(u, firings);
        if self.recorder.tracing {
            for write in self.scheduler.writes(u) {
                self.recorder.fill(write.ring, self.scheduler.fill(write));
            }
        }
        let unit = &mut self.units[u];
        if let Some(sink) = &mut unit.sink {
            let fired = first + firings;
            sink.took(&self.shared.stamps, fired, || self.clock.now_ns());
            // A worker with several sinks shows the one that fired last: near enough for a progress bar.
            self.board.accepted.store(fired, Relaxed);
        }
        if firings > 0 {
            self.retry_ns = RETRY_NS.0;
            self.firings += firings * unit.tasks.len() as u64;
            self.steps += 1;
            self.board.steps.store(self.steps, Relaxed);
        }
        if end {
            self.shared.end_at(first + firings);
        }
        Ok(())
    }

    /// Lets other workers see what the unit produced and freed.
    #[inline]
    fn publish(&mut self, u: usize, n: u64) {
        let unit = &self.units[u];
        if n == 0 {
            return;
        }
        for p in unit.publish.iter().flatten() {
            self.view.publish(*p, n);
        }
        for &c in &unit.release {
            self.view.release(c, n);
        }
        for &peer in &unit.peers {
            self.shared.boards[peer].event.notify();
        }
    }

    /// Zeros for the windows that reach beyond the end.
    #[cold]
    fn pad(&mut self, u: usize, w: usize, instances: u64) {
        let write = &self.scheduler.writes(u)[w];
        let unit = &self.units[u];
        let (ring, slots) = &unit.writes[w];
        let made = &self.shared.made[*ring];
        if made.load(Relaxed) == u64::MAX {
            made.store(self.scheduler.head(write), Release);
        }
        // SAFETY: this worker is the ring's producer, and the scheduler said that these slots are free.
        unsafe { slots.zero(write.slot, instances) };
        self.scheduler.padded(u, w, instances);
        if let Some(p) = unit.publish[w] {
            self.view.publish(p, instances);
        }
        for &peer in &unit.peers {
            self.shared.boards[peer].event.notify();
        }
    }

    /// Calls `finish` of every kernel, whatever the others say.
    fn finish(&mut self) -> Vec<RunError> {
        let mut errors = Vec::new();
        for task in self.units.iter_mut().flat_map(|u| &mut u.tasks) {
            self.board.doing.store(task.task as u64 + 1, Relaxed);
            if let Err(why) = task.live.finish() {
                errors.push(RunError::Finish { task: self.shared.names[task.task].clone(), why });
            }
        }
        self.board.doing.store(0, Relaxed);
        errors
    }
}

/// Stops the run because a task failed.
fn failed(shared: &SharedState, task: TaskId, instance: u64, why: String) -> Stopped {
    shared.fail(RunError::Failed { task: shared.names[task].clone(), instance, why, accepted: 0 });
    Stopped
}

/// A call that did not simply fire as often as it was asked to.
#[cold]
fn unusual(
    task: &mut LiveTask,
    mut batch: abi::CwBatch,
    mut result: abi::CwResult,
    shared: &SharedState,
    board: &Board,
    patience: Patience,
) -> Result<Called, Stopped> {
    let mut done = 0;
    let mut retry_ns = RETRY_NS.0;
    // Views of the rest; the task's own stay as they are for its next call.
    let (mut ins, mut outs) = (task.ins.clone(), task.outs.clone());
    loop {
        let verdict = judge(task.source, &batch, result, &task.error)
            .map_err(|(instance, why)| failed(shared, task.task, instance, why))?;
        done += result.fired;
        if let Verdict::Over { again, end } = verdict {
            return Ok(Called { fired: done, again, end });
        }
        // Not a source, and nothing more right now: its element waits with it.
        if result.fired > 0 {
            retry_ns = RETRY_NS.0;
            board.steps.fetch_add(1, Relaxed);
        }
        board.event.wait(patience, Some(retry_ns), || shared.control.load(Acquire) == STOP);
        if shared.control.load(Acquire) == STOP {
            return Err(Stopped);
        }
        retry_ns = (retry_ns * 2).min(RETRY_NS.1);
        batch.first += result.fired;
        batch.firings -= result.fired;
        skip(&mut ins, &mut outs, result.fired);
        (batch.r#in, batch.out) = (ins.as_ptr(), outs.as_ptr());
        // SAFETY: as the first call, with the rest of the same views.
        result = unsafe { (task.live.fire)(task.live.state, &batch) };
    }
}
