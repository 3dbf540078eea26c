//! Kernels and buffers of all elements, fired one unit at a time by a caller who decides when: what a simulated
//! machine runs its streams with. No threads, no clock.

use crate::kernel::verdict::{Verdict, judge, skip};
use crate::kernel::{ERROR_BYTES, Kernels, Live, abi};
use crate::layout::RunLayout;
use crate::lengths::Lengths;
use crate::memory::{Pages, RingSlots};
use crate::options::RunError;
use crate::scheduler::Scheduler;
use crate::setup::{RingIn, RingOut, Setup, TaskSeed, setup};
use work::{Graph, TaskId};

/// Calls in a row in which a kernel has nothing right now, after which it is said to be stuck.
const AGAIN_MAX: u32 = 1_000_000;

/// Kernels and buffers of all elements of a layout.
pub struct ByHand {
    layout: RunLayout,
    /// Element, unit of the element, task.
    tasks: Vec<Vec<Vec<HandTask>>>,
    /// Per element and unit, its writes.
    writes: Vec<Vec<Vec<(usize, RingSlots)>>>,
    /// Per ring.
    slots: Vec<Option<RingSlots>>,
    /// Per ring, instances that its producer made in all; `u64::MAX` while it still makes some.
    made: Vec<u64>,
    names: Vec<String>,
    /// Freed after the kernels are gone.
    _blocks: Vec<Pages>,
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
    ins: Box<[abi::CwIn]>,
    outs: Box<[abi::CwOut]>,
    error: Box<[u8]>,
    ring_ins: Vec<RingIn>,
    ring_outs: Vec<RingOut>,
    lengths: Vec<Lengths>,
}

impl ByHand {
    /// Opens and initialises the kernels of `layout`, which may have [fetches](crate::fetches), and takes its buffers,
    /// `memory_bytes` at most. Gives back the elements' schedulers, too.
    ///
    /// # Errors
    /// [`RunError::Kernel`], [`RunError::Memory`].
    pub fn new(
        graph: &Graph,
        layout: RunLayout,
        kernels: &dyn Kernels,
        memory_bytes: u64,
    ) -> Result<(ByHand, Vec<Scheduler>), RunError> {
        let Setup { layout, workers, blocks, .. } = setup(graph, layout, kernels, memory_bytes)?;
        let mut made = ByHand {
            tasks: Vec::new(),
            writes: Vec::new(),
            slots: vec![None; layout.rings.len()],
            made: vec![u64::MAX; layout.rings.len()],
            names: graph.tasks.iter().map(|t| t.name.clone()).collect(),
            layout,
            _blocks: blocks,
        };
        let mut schedulers = Vec::new();
        for worker in workers {
            let (mut tasks, mut writes) = (Vec::new(), Vec::new());
            for unit in worker.units {
                for &(ring, slots) in &unit.writes {
                    made.slots[ring] = Some(slots);
                }
                let live = unit.tasks.into_iter().map(HandTask::init);
                tasks.push(live.collect::<Result<Vec<_>, _>>()?);
                writes.push(unit.writes);
            }
            made.tasks.push(tasks);
            made.writes.push(writes);
            schedulers.push(worker.scheduler);
        }
        Ok((made, schedulers))
    }

    /// Fires every task of a unit of `element` `firings` times, or fewer when its source has fewer. The caller tells
    /// `scheduler`, which is the element's.
    ///
    /// # Errors
    /// [`RunError::Failed`] with the task and the instance.
    pub fn fire(
        &mut self,
        scheduler: &Scheduler,
        element: usize,
        unit: usize,
        mut firings: u64,
    ) -> Result<HandFired, RunError> {
        let first = scheduler.firings(unit);
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
                    view.real = view.real.min(self.made[ring_in.ring].saturating_sub(scheduler.tail(read)));
                }
            }
            for ring_out in &task.ring_outs {
                task.outs[ring_out.place].base = ring_out.slots.at(writes[ring_out.write].slot).cast();
            }
            let fired = task.fire(first, firings).map_err(|(instance, why)| RunError::Failed {
                task: self.names[task.task].clone(),
                instance,
                why,
                accepted: first,
            })?;
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
        self.made[ring] = self.made[ring].min(scheduler.head(write));
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
        for task in self.tasks.iter_mut().flatten().flatten() {
            if let Err(why) = task.live.finish() {
                first = first.and(Err(RunError::Finish { task: self.names[task.task].clone(), why }));
            }
        }
        first
    }
}

impl HandTask {
    fn init(seed: TaskSeed) -> Result<HandTask, RunError> {
        let TaskSeed { task, opened, info, ins, outs, ring_ins, ring_outs, lengths, source, .. } = seed;
        let live = Live::init(opened, &info).map_err(|why| RunError::Kernel { task: info.name, why })?;
        let error = vec![0u8; ERROR_BYTES].into();
        Ok(HandTask { task, live, source, ins, outs, error, ring_ins, ring_outs, lengths })
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
