//! Kernels and buffers of all elements, fired one unit at a time by a caller who decides when: what a simulated
//! machine runs its streams with. No threads, no clock.

use crate::crash::{CrashSeat, Rescues};
use crate::hand_watch::HandWatch;
use crate::kernel::verdict::{Verdict, judge, skip};
use crate::kernel::{ERROR_BYTES, Kernels, Live, abi};
use crate::layout::RunLayout;
use crate::lengths::Lengths;
use crate::memory::RingSlots;
use crate::options::{RunError, STOP};
use crate::scheduler::Scheduler;
use crate::setup::{RingIn, RingOut, Setup, TaskSeed, WorkerSeed, setup};
use crate::shared::SharedState;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use work::{Graph, TaskId};

/// Calls in a row in which a kernel has nothing right now, after which it is said to be stuck.
const AGAIN_MAX: u32 = 1_000_000;

/// Kernels that are opened and buffers of all elements of a layout: what the thread that fires them begins with.
pub struct HandSeed {
    layout: RunLayout,
    workers: Vec<WorkerSeed>,
    may_block: Vec<bool>,
    rescues: Rescues,
    shared: Arc<SharedState>,
}

impl HandSeed {
    /// Opens the kernels of `layout`, which may have [fetches](crate::fetches), and takes its buffers, `memory_bytes`
    /// at most.
    ///
    /// # Errors
    /// [`RunError::Kernel`], [`RunError::Memory`].
    pub fn new(
        graph: &Graph,
        layout: RunLayout,
        kernels: &dyn Kernels,
        memory_bytes: u64,
    ) -> Result<HandSeed, RunError> {
        let Setup { layout, workers, blocks, may_block, rescues } =
            setup(graph, layout, kernels, memory_bytes)?;
        let shared = Arc::new(SharedState::new(graph, &layout, 1, blocks));
        let rescues = rescues.into_iter().map(|(_, rescue)| rescue).collect();
        Ok(HandSeed { layout, workers, may_block, rescues, shared })
    }

    /// For a thread that sees to it that a kernel that does not return hangs nothing.
    pub fn watch(&self) -> HandWatch {
        HandWatch::new(self.shared.clone(), self.may_block.clone(), self.rescues.clone())
    }
}

/// Kernels and buffers of all elements of a layout. What a crash of a kernel says names its task, element and instance.
pub struct ByHand {
    layout: RunLayout,
    /// Element, unit of the element, task.
    tasks: Vec<Vec<Vec<HandTask>>>,
    /// Per element and unit, its writes.
    writes: Vec<Vec<Vec<(usize, RingSlots)>>>,
    /// Per ring.
    slots: Vec<Option<RingSlots>>,
    seat: CrashSeat,
    /// Its blocks are freed after the kernels are gone.
    shared: Arc<SharedState>,
}

/// How the firing of a unit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandFired {
    /// Instances that each of its tasks fired.
    pub firings: u64,
    /// A source that has nothing right now.
    pub again: bool,
    /// A source that ended: the unit has fired for the last time.
    pub end: bool,
}

struct HandTask {
    task: TaskId,
    live: Live,
    source: bool,
    sink: bool,
    ins: Box<[abi::CwIn]>,
    outs: Box<[abi::CwOut]>,
    error: Box<[u8]>,
    ring_ins: Vec<RingIn>,
    ring_outs: Vec<RingOut>,
    lengths: Vec<Lengths>,
}

impl ByHand {
    /// Initialises the kernels, on the thread that will fire them. Gives back the elements' schedulers, too.
    ///
    /// # Errors
    /// [`RunError::Kernel`].
    pub fn new(seed: HandSeed) -> Result<(ByHand, Vec<Scheduler>), RunError> {
        let HandSeed { layout, workers, rescues, shared, .. } = seed;
        let mut made = ByHand {
            tasks: Vec::new(),
            writes: Vec::new(),
            slots: vec![None; layout.rings.len()],
            layout,
            seat: CrashSeat::take(0, &shared, &rescues),
            shared,
        };
        let mut schedulers = Vec::new();
        for (element, worker) in workers.into_iter().enumerate() {
            made.seat.sit_at(element);
            let (mut tasks, mut writes) = (Vec::new(), Vec::new());
            for unit in worker.units {
                for &(ring, slots) in &unit.writes {
                    made.slots[ring] = Some(slots);
                }
                let mut live = Vec::new();
                for seed in unit.tasks {
                    made.shared.enter(element, seed.task);
                    let task = HandTask::init(seed);
                    made.shared.leave(element);
                    live.push(task?);
                }
                if live.iter().any(|task| task.sink) {
                    made.shared.boards[element].accepted.store(0, Relaxed);
                }
                tasks.push(live);
                writes.push(unit.writes);
            }
            made.tasks.push(tasks);
            made.writes.push(writes);
            schedulers.push(worker.scheduler);
        }
        made.shared.ready.store(1, Release);
        Ok((made, schedulers))
    }

    /// Fires every task of a unit of `element` `firings` times, or fewer when its source has fewer. The caller tells
    /// `scheduler`, which is the element's.
    ///
    /// # Errors
    /// [`RunError::Failed`] with the task and the instance; [`RunError::Stuck`] when a [`HandWatch`] has said so.
    pub fn fire(
        &mut self,
        scheduler: &Scheduler,
        element: usize,
        unit: usize,
        mut firings: u64,
    ) -> Result<HandFired, RunError> {
        let shared = &self.shared;
        if shared.control.load(Acquire) == STOP
            && let Some(failure) = shared.failure.lock().unwrap_or_else(|e| e.into_inner()).clone()
        {
            return Err(failure);
        }
        let first = scheduler.firings(unit);
        let board = &shared.boards[element];
        self.seat.sit_at(element);
        board.instance.store(first, Relaxed);
        let (reads, writes) = (scheduler.reads(unit), scheduler.writes(unit));
        let (mut again, mut end) = (false, false);
        for task in &mut self.tasks[element][unit] {
            for view in &mut task.ins {
                view.real = firings + view.peek;
            }
            for ring_in in &task.ring_ins {
                let (view, read) = (&mut task.ins[ring_in.place], &reads[ring_in.read]);
                view.base = ring_in.slots.at(read.slot).cast_const().cast();
                if ring_in.peek > 0 {
                    let made = shared.made[ring_in.ring].load(Relaxed);
                    view.real = view.real.min(made.saturating_sub(scheduler.tail(read)));
                }
            }
            for ring_out in &task.ring_outs {
                task.outs[ring_out.place].base = ring_out.slots.at(writes[ring_out.write].slot).cast();
            }
            board.firings.store(firings, Relaxed);
            shared.enter(element, task.task);
            let fired = task.fire(first, firings);
            shared.leave(element);
            let fired = fired.map_err(|(instance, why)| RunError::Failed {
                task: shared.names[task.task].clone(),
                instance,
                why,
                accepted: first,
            })?;
            if task.sink {
                board.accepted.store(first + fired.firings, Relaxed);
            }
            (firings, again, end) = (fired.firings, again | fired.again, end | fired.end);
            for ring_out in &task.ring_outs {
                // SAFETY: no other thread has these buffers, and no kernel runs.
                unsafe { ring_out.slots.mirror(writes[ring_out.write].slot, firings) };
            }
            if firings == 0 {
                break;
            }
        }
        Ok(HandFired { firings, again, end })
    }

    /// Zeros for the windows that reach beyond the end, as a [`NextStep::Pad`](crate::scheduler::NextStep::Pad) asks.
    /// The caller tells `scheduler`.
    pub fn pad(&mut self, scheduler: &Scheduler, element: usize, unit: usize, write: usize, instances: u64) {
        let (ring, slots) = self.writes[element][unit][write];
        let write = &scheduler.writes(unit)[write];
        self.shared.made[ring].fetch_min(scheduler.head(write), Relaxed);
        // SAFETY: as above; the scheduler said that these slots are free.
        unsafe { slots.zero(write.slot, instances) };
    }

    /// Bytes from one instance of `ring` to the next, lengths included.
    pub fn stride(&self, ring: usize) -> u64 {
        self.slots[ring].map_or(0, |s| s.shape.stride)
    }

    /// The bytes of instances in slots `slot .. slot + count` of `ring`.
    ///
    /// # Panics
    /// When the ring has fewer slots.
    pub fn instances(&self, ring: usize, slot: u64, count: u64) -> &[u8] {
        let (start, bytes) = self.range(ring, slot, count);
        // SAFETY: `range` checked that these bytes are the ring's; `&self` keeps kernels from running meanwhile.
        unsafe { std::slice::from_raw_parts(start, bytes) }
    }

    /// Puts bytes of instances that came from elsewhere into `ring`, from `slot` on.
    ///
    /// # Panics
    /// When the ring has fewer slots, or `data` is no whole number of instances.
    pub fn arrived(&mut self, ring: usize, slot: u64, data: &[u8]) {
        let stride = self.stride(ring).max(1);
        let count = data.len() as u64 / stride;
        assert_eq!(data.len() as u64, count * stride, "whole instances");
        let (start, bytes) = self.range(ring, slot, count);
        if bytes > 0 {
            // SAFETY: `range` checked that these bytes are the ring's; `&mut self` keeps everybody else out.
            unsafe {
                std::ptr::copy_nonoverlapping(data.as_ptr(), start, bytes);
                self.slots[ring].expect("it has bytes").mirror(slot, count);
            }
        }
    }

    fn range(&self, ring: usize, slot: u64, count: u64) -> (*mut u8, usize) {
        let capacity = self.layout.rings[ring].capacity;
        assert!(
            slot.checked_add(count).is_some_and(|end| end <= capacity),
            "{slot} + {count} of {capacity} slots"
        );
        match self.slots[ring] {
            Some(slots) => (slots.start(slot), (count * slots.shape.stride) as usize),
            None => (std::ptr::NonNull::dangling().as_ptr(), 0),
        }
    }

    /// Calls `finish` of every kernel, whatever the others say; gives back the first error.
    ///
    /// # Errors
    /// [`RunError::Finish`].
    pub fn finish(&mut self) -> Result<(), RunError> {
        let mut first = Ok(());
        let shared = &self.shared;
        for (element, units) in self.tasks.iter_mut().enumerate() {
            self.seat.sit_at(element);
            shared.boards[element].finishing.store(true, Relaxed);
            for task in units.iter_mut().flatten() {
                shared.enter(element, task.task);
                let finished = task.live.finish();
                shared.leave(element);
                if let Err(why) = finished {
                    let task = shared.names[task.task].clone();
                    first = first.and(Err(RunError::Finish { task, why }));
                }
            }
        }
        first
    }
}

impl HandTask {
    fn init(seed: TaskSeed) -> Result<HandTask, RunError> {
        let TaskSeed { task, opened, info, ins, outs, ring_ins, ring_outs, lengths, source, sink } = seed;
        let live = Live::init(opened, &info).map_err(|why| RunError::Kernel { task: info.name, why })?;
        let error = vec![0u8; ERROR_BYTES].into();
        Ok(HandTask { task, live, source, sink, ins, outs, error, ring_ins, ring_outs, lengths })
    }

    /// An error is the instance and what was wrong.
    fn fire(&mut self, first: u64, asked: u64) -> Result<HandFired, (u64, String)> {
        let (mut done, mut idle) = (0, 0);
        let (mut ins, mut outs) = (self.ins.clone(), self.outs.clone());
        loop {
            for lengths in &self.lengths {
                // SAFETY: the views are of this call, and the kernel is not called yet.
                unsafe { lengths.clear(&outs[lengths.place], asked - done) };
            }
            let batch = abi::CwBatch {
                firings: asked - done,
                first: first + done,
                inputs: ins.len() as u32,
                outputs: outs.len() as u32,
                r#in: ins.as_ptr(),
                out: outs.as_ptr(),
                error: self.error.as_mut_ptr().cast(),
                error_bytes: ERROR_BYTES as u64,
            };
            // SAFETY: the kernel was checked to be of this ABI; the views lead to the instances and to the room that
            // the scheduler said are there; the state is the one that init made, and this thread alone uses it.
            let result = unsafe { (self.live.fire)(self.live.state, &batch) };
            let verdict = judge(self.source, &batch, result, &self.error)?;
            for lengths in &self.lengths {
                // SAFETY: as above; the kernel has returned.
                if let Some((j, why)) = unsafe { lengths.wrong(&outs[lengths.place], result.fired) } {
                    return Err((first + done + j, why));
                }
            }
            done += result.fired;
            if let Verdict::Over { again, end } = verdict {
                return Ok(HandFired { firings: done, again, end });
            }
            idle = if result.fired == 0 { idle + 1 } else { 0 };
            if idle == AGAIN_MAX {
                return Err((first + done, format!("it had nothing {AGAIN_MAX} times in a row")));
            }
            skip(&mut ins, &mut outs, result.fired);
        }
    }
}
