//! From a layout and opened kernels to what each worker needs: memory, views, and which other workers it wakes.

use crate::kernel::ports::{edge_name, matched};
use crate::kernel::{Connected, Kernels, Opened, Rescue, TaskInfo, abi};
use crate::layout::{EdgeMemory, RingLayout, RunLayout};
use crate::lengths::Lengths;
use crate::memory::{InstanceShape, Pages, RingSlots, in_words};
use crate::options::RunError;
use crate::scheduler::Scheduler;
use crate::scratch::{Life, assign};
use std::collections::HashMap;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use work::{EdgeId, Graph, TaskId};

/// A task as its worker gets it.
pub(crate) struct TaskSeed {
    pub task: TaskId,
    pub opened: Opened,
    pub info: TaskInfo,
    /// Everything that does not change from call to call.
    pub ins: Box<[abi::CwIn]>,
    pub outs: Box<[abi::CwOut]>,
    pub ring_ins: Vec<RingIn>,
    pub ring_outs: Vec<RingOut>,
    pub lengths: Vec<Lengths>,
    pub source: bool,
    pub sink: bool,
}

/// An input that moves through a ring.
#[derive(Debug)]
pub(crate) struct RingIn {
    /// Index of the batch's inputs.
    pub place: usize,
    /// Index of the unit's reads.
    pub read: usize,
    pub ring: usize,
    pub peek: u64,
    pub slots: RingSlots,
}

/// An output that moves through a ring.
#[derive(Debug)]
pub(crate) struct RingOut {
    /// Index of the batch's outputs.
    pub place: usize,
    /// Index of the unit's writes.
    pub write: usize,
    pub slots: RingSlots,
}

pub(crate) struct UnitSeed {
    pub tasks: Vec<TaskSeed>,
    /// Per write, for padding.
    pub writes: Vec<(usize, RingSlots)>,
    /// Other workers that may wait for what this unit does.
    pub peers: Vec<usize>,
}

pub(crate) struct WorkerSeed {
    pub index: usize,
    pub scheduler: Scheduler,
    pub units: Vec<UnitSeed>,
    /// Index of the shared blocks that this worker touches first.
    pub blocks: Vec<usize>,
}

// SAFETY: the raw pointers in it lead into blocks that outlive the worker; which thread may touch what is decided by
// the rings' counters, and scratch belongs to one worker alone.
unsafe impl Send for WorkerSeed {}

pub(crate) struct Setup {
    pub layout: RunLayout,
    pub workers: Vec<WorkerSeed>,
    pub blocks: Vec<Pages>,
    /// Per task: a call of its kernel may wait for the outside world.
    pub may_block: Vec<bool>,
    pub rescues: Vec<(TaskId, Arc<dyn Rescue>)>,
}

struct OpenTask {
    opened: Opened,
    inputs: Vec<(Option<EdgeId>, usize)>,
    outputs: Vec<(Vec<EdgeId>, usize)>,
}

/// Opens and checks every kernel, and lays out the memory; `memory_bytes` is what it may take.
pub(crate) fn setup(
    graph: &Graph,
    layout: RunLayout,
    kernels: &dyn Kernels,
    memory_bytes: u64,
) -> Result<Setup, RunError> {
    let tasks = open(graph, kernels)?;
    let shapes = shapes(graph, &tasks)?;
    // A ring by which a source holds a task back has no data.
    let shape_of = |ring: &RingLayout| {
        ring.consumers[0].edge.map_or(InstanceShape { bytes: 0, stride: 0, before: 0 }, |e| shapes[e])
    };
    let absurd = || RunError::Memory("the plan's buffers are larger than any memory".into());

    // Rings live where their first consumer runs, scratch where its unit does.
    let count = layout.elements.len();
    let mut ring_bytes = vec![0u64; count];
    let mut ring_at = Vec::with_capacity(layout.rings.len());
    for ring in &layout.rings {
        let home = layout.units[ring.consumers[0].unit].element;
        let shape = shape_of(ring);
        let total = ring.capacity.checked_add(ring.peek).and_then(|n| shape.total(n)).ok_or_else(absurd)?;
        ring_at.push((home, ring_bytes[home]));
        ring_bytes[home] = ring_bytes[home].checked_add(total).ok_or_else(absurd)?;
    }
    let scratch: Vec<UnitScratch> = (0..layout.units.len())
        .map(|u| scratch(graph, &layout, &tasks, &shapes, u))
        .collect::<Option<_>>()
        .ok_or_else(absurd)?;
    // One unit of an element fires at a time: their scratch is the same memory.
    let scratch_bytes: Vec<u64> = layout
        .elements
        .iter()
        .map(|e| e.units.iter().map(|&u| scratch[u].total).max().unwrap_or(0))
        .collect();
    let total = ring_bytes
        .iter()
        .chain(&scratch_bytes)
        .try_fold(0u64, |a, &b| a.checked_add(b))
        .ok_or_else(absurd)?;
    if total > memory_bytes {
        return Err(RunError::Memory(format!(
            "the plan needs {} of buffers with batch {}, and this run may take {}; plan with a smaller batch",
            in_words(total),
            layout.batch,
            in_words(memory_bytes)
        )));
    }
    let blocks: Vec<Pages> = ring_bytes
        .iter()
        .chain(&scratch_bytes)
        .map(|&bytes| Pages::zeroed(bytes))
        .collect::<Result<_, _>>()
        .map_err(RunError::Memory)?;
    let slots: Vec<RingSlots> = layout
        .rings
        .iter()
        .zip(&ring_at)
        .map(|(ring, &(home, at))| {
            RingSlots::new(&blocks[home], at, shape_of(ring), ring.capacity, ring.peek)
        })
        .collect();

    let may_block =
        tasks.iter().map(|t| t.opened.may_block || t.inputs.iter().all(|(e, _)| e.is_none())).collect();
    let rescues =
        tasks.iter().enumerate().filter_map(|(t, task)| Some((t, task.opened.rescue.clone()?))).collect();
    let mut tasks: Vec<Option<OpenTask>> = tasks.into_iter().map(Some).collect();
    let mut workers = Vec::new();
    for (index, used) in layout.elements.iter().enumerate() {
        let scheduler = Scheduler::new(&layout, index);
        let mut units = Vec::new();
        for (local, &u) in used.units.iter().enumerate() {
            let reads =
                scheduler.reads(local).iter().enumerate().map(|(i, r)| ((r.ring, r.consumer), i)).collect();
            let unit = UnitMemory {
                graph,
                layout: &layout,
                shapes: &shapes,
                slots: &slots,
                scratch: &scratch[u],
                scratch_base: blocks[count + index].base(),
                reads,
                writes: scheduler.writes(local).iter().enumerate().map(|(i, w)| (w.ring, i)).collect(),
            };
            let seeds = layout.units[u]
                .tasks
                .iter()
                .filter_map(|&t| tasks[t].take().map(|task| unit.seed(t, task)))
                .collect();
            let writes = scheduler.writes(local).iter().map(|w| (w.ring, slots[w.ring])).collect();
            units.push(UnitSeed { tasks: seeds, writes, peers: peers(&layout, &scheduler, local, index) });
        }
        workers.push(WorkerSeed { index, scheduler, units, blocks: vec![index, count + index] });
    }
    Ok(Setup { layout, workers, blocks, may_block, rescues })
}

/// Opens every kernel and compares its ports with the application, and runs nothing: a wrong name is told before
/// anything else is done.
///
/// # Errors
/// [`RunError::Kernel`], or [`RunError::Memory`] where an edge is larger than any memory.
pub fn check(graph: &Graph, kernels: &dyn Kernels) -> Result<(), RunError> {
    shapes(graph, &open(graph, kernels)?).map(drop)
}

fn open(graph: &Graph, kernels: &dyn Kernels) -> Result<Vec<OpenTask>, RunError> {
    let mut edges = vec![(Vec::new(), Vec::new()); graph.tasks.len()];
    for (e, edge) in graph.edges.iter().enumerate() {
        edges[edge.to.task].0.push(e);
        edges[edge.from.task].1.push(e);
    }
    let mut tasks = Vec::with_capacity(graph.tasks.len());
    for (t, (ins, outs)) in edges.iter().enumerate() {
        let error = |why: String| RunError::Kernel { task: graph.tasks[t].name.clone(), why };
        let opened = kernels.open(graph, t).map_err(error)?;
        let inputs = matched(graph, ins, false, &opened.inputs).map_err(error)?;
        let outputs = matched(graph, outs, true, &opened.outputs).map_err(error)?;
        tasks.push(OpenTask {
            inputs: inputs.places.into_iter().map(|(e, s)| (e.first().copied(), s)).collect(),
            outputs: outputs.places,
            opened,
        });
    }
    Ok(tasks)
}

/// Per edge, how its instances lie; both ends must agree on whether their length varies.
fn shapes(graph: &Graph, tasks: &[OpenTask]) -> Result<Vec<InstanceShape>, RunError> {
    let mut variable = vec![[false; 2]; graph.edges.len()];
    for task in tasks {
        for (edge, spec) in &task.inputs {
            if let Some(e) = edge {
                variable[*e][1] = task.opened.inputs[*spec].variable;
            }
        }
        for (edges, spec) in &task.outputs {
            for &e in edges {
                variable[e][0] = task.opened.outputs[*spec].variable;
            }
        }
    }
    let mut shapes = Vec::with_capacity(variable.len());
    for (e, [from, to]) in variable.into_iter().enumerate() {
        let edge = &graph.edges[e];
        if from != to {
            let says = |v| if v { "of variable length" } else { "of fixed length" };
            return Err(RunError::Kernel {
                task: graph.tasks[edge.to.task].name.clone(),
                why: format!(
                    "its instances on the edge {} are {}, those of the sender are {}",
                    edge_name(graph, e),
                    says(to),
                    says(from)
                ),
            });
        }
        let shape = InstanceShape::new(edge.bytes, from);
        shapes.push(
            shape
                .ok_or_else(|| RunError::Memory(format!("the edge {} is too large", edge_name(graph, e))))?,
        );
    }
    Ok(shapes)
}

struct UnitScratch {
    /// Where the instances of an edge that passes inside the unit are.
    offsets: HashMap<EdgeId, u64>,
    total: u64,
}

/// What a passing buffer of `bytes` takes. Buffers of whole pages, one after the other, would lie at equal places of
/// their pages, where a processor takes a load from one for a load of what was just stored into the other, and waits:
/// half a page between them spares a chain of 16 kB copies that.
fn apart(bytes: u64) -> Option<u64> {
    const PAGE_BYTES: u64 = 4096;
    if bytes.is_multiple_of(PAGE_BYTES) { bytes.checked_add(PAGE_BYTES / 2) } else { Some(bytes) }
}

/// Lives of a unit's passing buffers, and their places.
fn scratch(
    graph: &Graph,
    layout: &RunLayout,
    tasks: &[OpenTask],
    shapes: &[InstanceShape],
    unit: usize,
) -> Option<UnitScratch> {
    let order = &layout.units[unit].tasks;
    let place: HashMap<TaskId, usize> = order.iter().enumerate().map(|(p, &t)| (t, p)).collect();
    let mut lives: Vec<Life> = Vec::new();
    let mut life_of_edge: HashMap<EdgeId, usize> = HashMap::new();
    for (p, &t) in order.iter().enumerate() {
        for (o, (edges, _)) in tasks[t].outputs.iter().enumerate() {
            if edges.is_empty() || !matches!(layout.places[edges[0]], EdgeMemory::Scratch) {
                continue;
            }
            let to = edges.iter().map(|&e| place.get(&graph.edges[e].to.task).copied()).max()??;
            let bytes = apart(shapes[edges[0]].total(layout.batch)?)?;
            let instead_of = tasks[t].inputs.get(o).and_then(|&(edge, spec)| {
                let e = edge.filter(|_| tasks[t].opened.inputs[spec].in_place)?;
                let &life = life_of_edge.get(&e)?;
                let here =
                    |other: &Option<EdgeId>| other.is_some_and(|o| life_of_edge.get(&o) == Some(&life));
                let only_reader = tasks[t].inputs.iter().filter(|(other, _)| here(other)).count() == 1;
                // A length before the instance would be lost when the output's is set.
                let alike = shapes[e] == shapes[edges[0]] && shapes[e].length_bytes() == 0;
                (lives[life].to == p && only_reader && alike).then_some(life)
            });
            for &e in edges {
                life_of_edge.insert(e, lives.len());
            }
            lives.push(Life { from: p, to, bytes, instead_of });
        }
    }
    let (offsets, total) = assign(&lives);
    Some(UnitScratch { offsets: life_of_edge.into_iter().map(|(e, l)| (e, offsets[l])).collect(), total })
}

/// What the seeds of one unit's tasks are made from.
struct UnitMemory<'a> {
    graph: &'a Graph,
    layout: &'a RunLayout,
    shapes: &'a [InstanceShape],
    slots: &'a [RingSlots],
    scratch: &'a UnitScratch,
    scratch_base: *mut u8,
    reads: HashMap<(usize, usize), usize>,
    writes: HashMap<usize, usize>,
}

impl UnitMemory<'_> {
    fn passing(&self, e: EdgeId) -> *mut u8 {
        self.scratch_base.wrapping_add((self.scratch.offsets[&e] + self.shapes[e].before) as usize)
    }

    fn seed(&self, t: TaskId, task: OpenTask) -> TaskSeed {
        let graph = self.graph;
        let (mut ring_ins, mut ring_outs, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        let (mut ins, mut outs) = (Vec::new(), Vec::new());
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (place, &(edge, spec)) in task.inputs.iter().enumerate() {
            let Some(e) = edge else {
                ins.push(abi::CwIn { base: null(), stride: 0, bytes: 0, peek: 0, real: 0 });
                inputs.push(Connected { name: task.opened.inputs[spec].name.clone(), bytes: 0, peek: 0 });
                continue;
            };
            let (edge, shape) = (&graph.edges[e], self.shapes[e]);
            inputs.push(Connected { name: edge.to.name.clone(), bytes: edge.bytes, peek: edge.peek });
            let mut view = abi::CwIn {
                base: null(),
                stride: shape.stride,
                bytes: shape.bytes,
                peek: edge.peek,
                real: 0,
            };
            match self.layout.places[e] {
                EdgeMemory::Ring { ring, consumer } => {
                    let read = self.reads[&(ring, consumer)];
                    ring_ins.push(RingIn { place, read, ring, peek: edge.peek, slots: self.slots[ring] });
                }
                EdgeMemory::Scratch => view.base = self.passing(e).cast_const().cast(),
            }
            ins.push(view);
        }
        for (place, (edges, spec)) in task.outputs.iter().enumerate() {
            let Some(&e) = edges.first() else {
                outs.push(abi::CwOut { base: null_mut(), stride: 0, bytes: 0 });
                outputs.push(Connected { name: task.opened.outputs[*spec].name.clone(), bytes: 0, peek: 0 });
                continue;
            };
            let (edge, shape) = (&graph.edges[e], self.shapes[e]);
            outputs.push(Connected { name: edge.from.name.clone(), bytes: edge.bytes, peek: 0 });
            if shape.length_bytes() > 0 {
                lengths.push(Lengths { place, name: edge.from.name.clone() });
            }
            let mut view = abi::CwOut { base: null_mut(), stride: shape.stride, bytes: shape.bytes };
            match self.layout.written[e] {
                Some(ring) => {
                    ring_outs.push(RingOut { place, write: self.writes[&ring], slots: self.slots[ring] });
                }
                None => view.base = self.passing(e).cast(),
            }
            outs.push(view);
        }
        let (name, params) = (graph.tasks[t].name.clone(), graph.tasks[t].params.clone());
        TaskSeed {
            task: t,
            source: task.inputs.iter().all(|(e, _)| e.is_none()),
            sink: task.outputs.iter().all(|(e, _)| e.is_empty()),
            opened: task.opened,
            info: TaskInfo { name, params, inputs, outputs },
            ins: ins.into(),
            outs: outs.into(),
            ring_ins,
            ring_outs,
            lengths,
        }
    }
}

/// Workers that may wait for what a unit publishes or frees.
fn peers(layout: &RunLayout, scheduler: &Scheduler, unit: usize, worker: usize) -> Vec<usize> {
    let element = |unit: usize| layout.units[unit].element;
    let readers =
        scheduler.writes(unit).iter().flat_map(|w| &layout.rings[w.ring].consumers).map(|c| element(c.unit));
    let writers = scheduler.reads(unit).iter().map(|r| element(layout.rings[r.ring].producer));
    let mut peers: Vec<usize> = readers.chain(writers).filter(|&p| p != worker).collect();
    peers.sort_unstable();
    peers.dedup();
    peers
}
