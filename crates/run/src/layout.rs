//! What a plan says, by index: which tasks fire as one unit, which ports need a ring, who reads it.
//!
//! A *unit* is what the scheduler fires: tasks of one element with equal firstPeriod that are connected by edges. If
//! several of them are sources, the unit keeps one; each other source is a separate unit, so that a source that has
//! nothing right now delays no other. The model's argument for liveness is about single tasks. Firing them together
//! needs the equal firstPeriod, and that no unit waits through others for what it makes itself: such units are split.

use machine::{ElementId, Machine};
use std::collections::{BTreeMap, HashMap};
use work::{Edge, EdgeId, Graph, Plan, TaskId};

/// Why a plan cannot be executed for this application on this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LayoutError(pub String);

/// A plan, resolved to indices and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct RunLayout {
    /// Instances per firing of a unit.
    pub batch: u64,
    /// The elements that the mapping uses, in the machine's order.
    pub elements: Vec<Used>,
    /// In the plan's order, element after element.
    pub units: Vec<Unit>,
    /// One per output port whose instances outlive a firing of its unit.
    pub rings: Vec<RingLayout>,
    /// Per edge, where its instances are, for its reader.
    pub places: Vec<EdgeMemory>,
    /// Per edge, the ring that its producer writes; `None` where it writes scratch.
    pub written: Vec<Option<usize>>,
}

/// An element that the mapping uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// Its index in the machine.
    pub element: ElementId,
    /// Its name.
    pub name: String,
    /// Its units, as indices of [`RunLayout::units`], in the plan's order.
    pub units: Vec<usize>,
}

/// Tasks that fire together, each as often as the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Index of [`RunLayout::elements`].
    pub element: usize,
    /// In topological order; a source stands first.
    pub tasks: Vec<TaskId>,
    /// Whether the first task has no inputs.
    pub source: bool,
}

/// A buffer with one producer and any number of consumers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingLayout {
    /// The unit that writes it.
    pub producer: usize,
    /// Bytes per instance.
    pub bytes: u64,
    /// Instances that it holds; a multiple of the batch.
    pub capacity: u64,
    /// Zero instances that are there before the first is produced: the largest delay of its edges.
    pub lead: u64,
    /// Further instances that stand behind the last slot, copies of the first ones: the largest peek of its edges.
    pub peek: u64,
    /// Zero instances that the producer adds after the stream's end, so that the last windows are whole.
    pub pad: u64,
    /// One per edge.
    pub consumers: Vec<RingReader>,
    /// Whether a consumer runs on another element.
    pub crosses: bool,
}

/// A reader of a ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingReader {
    /// Its edge; `None` for a source that holds a task back.
    pub edge: Option<EdgeId>,
    /// Its unit.
    pub unit: usize,
    /// Position that its first firing reads: `lead - delay`.
    pub offset: u64,
    /// Further instances that a firing needs.
    pub peek: u64,
    /// In the producer's own unit and after it: what the firing produces is there when it reads.
    pub inside: bool,
}

/// Where an edge's instances are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeMemory {
    /// In a ring, as its consumer number `consumer`.
    Ring {
        /// Index of [`RunLayout::rings`].
        ring: usize,
        /// Index of [`RingLayout::consumers`].
        consumer: usize,
    },
    /// In memory that lives for one firing of the unit.
    Scratch,
}

fn err<T>(text: String) -> Result<T, LayoutError> {
    Err(LayoutError(text))
}

/// `task.port`, as plans write it.
fn port_name(graph: &Graph, port: &work::Port) -> String {
    format!("{}.{}", graph.tasks[port.task].name, port.name)
}

impl RunLayout {
    /// Resolves `plan` for `graph` on `machine`.
    ///
    /// # Errors
    /// [`LayoutError`] when the plan is for another application or machine, misses a task or an edge, gives an edge
    /// less room than cannot hang, or orders a unit against its edges.
    pub fn new(graph: &Graph, machine: &Machine, plan: &Plan) -> Result<RunLayout, LayoutError> {
        if plan.format != work::plan::FORMAT {
            return err(format!(
                "the plan has format {}, this version reads format {}",
                plan.format,
                work::plan::FORMAT
            ));
        }
        if plan.application != graph.name {
            return err(format!(
                "the plan is for the application '{}', this one is '{}'",
                plan.application, graph.name
            ));
        }
        if graph.tasks.is_empty() {
            return err("the application has no tasks".into());
        }
        if plan.batch == 0 || plan.batch > 1 << 40 {
            return err(format!("the plan's batch is {}; it must be from 1 to 2^40", plan.batch));
        }
        let names: HashMap<&str, TaskId> =
            graph.tasks.iter().enumerate().map(|(i, t)| (t.name.as_str(), i)).collect();
        if let Some(unknown) = plan.mapping.keys().find(|t| !names.contains_key(t.as_str())) {
            return err(format!("the plan maps the task '{unknown}', which the application does not have"));
        }
        let (elements, element_of) = used_elements(graph, machine, plan)?;
        let first_period = graph
            .tasks
            .iter()
            .map(|t| {
                plan.first_period.get(&t.name).copied().ok_or_else(|| {
                    LayoutError(format!("the plan gives no first_period for the task '{}'", t.name))
                })
            })
            .collect::<Result<Vec<u64>, _>>()?;
        let order = task_order(graph, plan, &elements, &element_of, &names)?;
        let mut layout = RunLayout {
            batch: plan.batch,
            elements,
            units: Vec::new(),
            rings: Vec::new(),
            places: vec![EdgeMemory::Scratch; graph.edges.len()],
            written: vec![None; graph.edges.len()],
        };
        let held_back = held_back(graph);
        let mut alone = vec![false; graph.tasks.len()];
        let (unit_of, rank) = loop {
            let (unit_of, rank) = layout.make_units(graph, &first_period, &order, &alone);
            let knotted = layout.knotted(graph, &held_back, &unit_of);
            if knotted.is_empty() {
                break (unit_of, rank);
            }
            knotted.into_iter().for_each(|t| alone[t] = true);
        };
        layout.make_rings(graph, plan, &first_period, &unit_of, &rank)?;
        layout.hold_back(&held_back, &unit_of);
        Ok(layout)
    }

    /// Rings without data that hold tasks back, as [`held_back`] says. Such a ring costs no liveness: a source's
    /// firstPeriod is 0, so no cycle of tasks falls along it, and it never fills.
    fn hold_back(&mut self, held_back: &[(TaskId, TaskId)], unit_of: &[usize]) {
        const ENDLESS: u64 = 1 << 60;
        for &(source, t) in held_back {
            let (producer, unit) = (unit_of[source], unit_of[t]);
            if producer == unit {
                continue;
            }
            let crosses = self.units[unit].element != self.units[producer].element;
            let consumer = RingReader { edge: None, unit, offset: 0, peek: 0, inside: false };
            let capacity = ENDLESS.next_multiple_of(self.batch);
            let consumers = vec![consumer];
            self.rings.push(RingLayout {
                producer,
                bytes: 0,
                capacity,
                lead: 0,
                peek: 0,
                pad: 0,
                consumers,
                crosses,
            });
        }
    }

    /// Tasks of units that would wait through other units for what they make themselves. A unit fires one instance of
    /// all its tasks at once, so that a delay between two of its tasks helps nobody any more: around a circle of units
    /// there must be more delay than peek. Single tasks never wait so, so that splitting these units helps.
    fn knotted(&self, graph: &Graph, held_back: &[(TaskId, TaskId)], unit_of: &[usize]) -> Vec<TaskId> {
        // Without a delay every edge goes from a firstPeriod to a later one, or stays in its unit.
        if graph.edges.iter().all(|e| e.delay == 0) {
            return Vec::new();
        }
        // Instance i of the second unit needs instance i + ahead of the first.
        let ahead = |e: &Edge| i128::from(e.peek) - i128::from(e.delay);
        let edges = graph.edges.iter().map(|e| (e.from.task, e.to.task, ahead(e)));
        let waits: Vec<(usize, usize, i128)> = edges
            .chain(held_back.iter().map(|&(source, t)| (source, t, 0)))
            .map(|(a, b, ahead)| (unit_of[a], unit_of[b], ahead))
            .filter(|(a, b, _)| a != b)
            .collect();
        let (mut next, mut before) = (vec![Vec::new(); self.units.len()], vec![Vec::new(); self.units.len()]);
        for &(from, to, _) in &waits {
            next[from].push(to);
            before[to].push(from);
        }
        // A unit that waits for none, or that none waits for, is in no circle.
        let mut free = vec![false; self.units.len()];
        peel(&next, &mut free);
        peel(&before, &mut free);
        let waits: Vec<_> = waits.into_iter().filter(|(a, b, _)| !free[*a] && !free[*b]).collect();
        if !has_circle_without_delay(&waits, self.units.len()) {
            return Vec::new();
        }
        let units = self.units.iter().zip(&free).filter(|(u, free)| !**free && u.tasks.len() > 1);
        units.flat_map(|(u, _)| u.tasks.iter().copied()).collect()
    }

    /// Splits each element's order into units: connected tasks of equal firstPeriod, but for those that stay `alone`.
    fn make_units(
        &mut self,
        graph: &Graph,
        first_period: &[u64],
        order: &[Vec<TaskId>],
        alone: &[bool],
    ) -> (Vec<usize>, Vec<usize>) {
        self.units.clear();
        self.elements.iter_mut().for_each(|e| e.units.clear());
        let tasks = graph.tasks.len();
        let (mut unit_of, mut rank) = (vec![usize::MAX; tasks], vec![0; tasks]);
        let mut has_inputs = vec![false; tasks];
        for e in &graph.edges {
            has_inputs[e.to.task] = true;
        }
        let mut element_of = vec![0; tasks];
        for (e, list) in order.iter().enumerate() {
            for (place, &t) in list.iter().enumerate() {
                (element_of[t], rank[t]) = (e, place);
            }
        }
        // Connected tasks of one element and firstPeriod: union by the smaller index.
        let mut root: Vec<TaskId> = (0..tasks).collect();
        fn find(root: &mut [TaskId], mut t: TaskId) -> TaskId {
            while root[t] != t {
                root[t] = root[root[t]];
                t = root[t];
            }
            t
        }
        for e in &graph.edges {
            let (a, b) = (e.from.task, e.to.task);
            let together = !alone[a] && !alone[b] && first_period[a] == first_period[b];
            if together && element_of[a] == element_of[b] {
                let (a, b) = (find(&mut root, a), find(&mut root, b));
                root[a.max(b)] = a.min(b);
            }
        }
        for (e, list) in order.iter().enumerate() {
            let mut unit_of_root: HashMap<TaskId, usize> = HashMap::new();
            let mut sorted = list.clone();
            sorted.sort_by_key(|&t| (first_period[t], rank[t]));
            for t in sorted {
                let r = find(&mut root, t);
                let unit = match unit_of_root.get(&r) {
                    // A further source is a unit of its own.
                    Some(&u) if has_inputs[t] => u,
                    Some(&u) if !self.units[u].source => {
                        self.units[u].source = true;
                        self.units[u].tasks.insert(0, t);
                        unit_of[t] = u;
                        continue;
                    }
                    known => {
                        let u = self.units.len();
                        if known.is_none() {
                            unit_of_root.insert(r, u);
                        }
                        self.units.push(Unit { element: e, tasks: Vec::new(), source: !has_inputs[t] });
                        self.elements[e].units.push(u);
                        u
                    }
                };
                self.units[unit].tasks.push(t);
                unit_of[t] = unit;
            }
        }
        for u in &self.units {
            for (place, &t) in u.tasks.iter().enumerate() {
                rank[t] = place;
            }
        }
        (unit_of, rank)
    }

    /// Makes a ring of every port whose instances outlive a firing.
    fn make_rings(
        &mut self,
        graph: &Graph,
        plan: &Plan,
        first_period: &[u64],
        unit_of: &[usize],
        rank: &[usize],
    ) -> Result<(), LayoutError> {
        if plan.edges.len() != graph.edges.len() {
            return err(format!(
                "the plan has {} edges, the application {}",
                plan.edges.len(),
                graph.edges.len()
            ));
        }
        let mut ports: BTreeMap<&work::Port, Vec<EdgeId>> = BTreeMap::new();
        for (e, edge) in graph.edges.iter().enumerate() {
            ports.entry(&edge.from).or_default().push(e);
            let (from, to) = (port_name(graph, &edge.from), port_name(graph, &edge.to));
            let planned = &plan.edges[e];
            if planned.from != from || planned.to != to {
                return err(format!(
                    "edge {e} of the plan is {} -> {}, of the application {from} -> {to}",
                    planned.from, planned.to
                ));
            }
            if edge.bytes == 0 {
                return err(format!(
                    "the edge {from} -> {to} has 0 bytes per instance; at least 1 is needed"
                ));
            }
        }
        for (port, edges) in ports {
            let producer = unit_of[port.task];
            let bytes = graph.edges[edges[0]].bytes;
            if let Some(&e) = edges.iter().find(|&&e| graph.edges[e].bytes != bytes) {
                return err(format!(
                    "the port {} broadcasts {bytes} bytes per instance on one edge and {} on another",
                    port_name(graph, port),
                    graph.edges[e].bytes
                ));
            }
            let passing = |e: &EdgeId| {
                let edge: &Edge = &graph.edges[*e];
                unit_of[edge.to.task] == producer && edge.delay == 0 && edge.peek == 0
            };
            if edges.iter().all(passing) {
                if let Some(e) = edges.iter().find(|&&e| rank[graph.edges[e].to.task] <= rank[port.task]) {
                    return err(format!(
                        "the plan's order fires '{}' before '{}', from which it reads",
                        graph.tasks[graph.edges[*e].to.task].name, graph.tasks[port.task].name
                    ));
                }
                continue;
            }
            let ring = self.make_ring(graph, plan, first_period, unit_of, rank, port, &edges)?;
            for (consumer, &e) in edges.iter().enumerate() {
                self.places[e] = EdgeMemory::Ring { ring: self.rings.len(), consumer };
                self.written[e] = Some(self.rings.len());
            }
            self.rings.push(ring);
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn make_ring(
        &self,
        graph: &Graph,
        plan: &Plan,
        first_period: &[u64],
        unit_of: &[usize],
        rank: &[usize],
        port: &work::Port,
        edges: &[EdgeId],
    ) -> Result<RingLayout, LayoutError> {
        let batch = plan.batch;
        let producer = unit_of[port.task];
        let lead = edges.iter().map(|&e| graph.edges[e].delay).max().unwrap_or(0);
        let mut ring = RingLayout {
            producer,
            bytes: graph.edges[edges[0]].bytes,
            capacity: 0,
            lead,
            peek: 0,
            pad: 0,
            consumers: Vec::new(),
            crosses: false,
        };
        for &e in edges {
            let edge = &graph.edges[e];
            let name = || format!("{} -> {}", port_name(graph, &edge.from), port_name(graph, &edge.to));
            let unit = unit_of[edge.to.task];
            let inside = unit == producer && rank[edge.to.task] > rank[port.task];
            if unit == producer && edge.delay < edge.peek + u64::from(!inside) {
                return err(format!(
                    "the plan puts both ends of {} into one unit, but the edge has peek {} and delay {}",
                    name(),
                    edge.peek,
                    edge.delay
                ));
            }
            let absurd = || LayoutError(format!("{}: peek, delay or slots beyond 2^50", name()));
            let slots = plan.edges[e].slots_out.checked_add(plan.edges[e].slots_in).ok_or_else(absurd)?;
            if [slots, edge.peek, edge.delay, edge.bytes].iter().any(|&x| x > 1 << 50) {
                return Err(absurd());
            }
            let needed = needed_slots(edge, first_period, batch).ok_or_else(absurd)?;
            if slots < needed {
                return err(format!(
                    "the plan gives the edge {} {slots} slots; with batch {batch}, firstPeriods {} and {}, peek {} \
                     and delay {} fewer than {needed} can hang",
                    name(),
                    first_period[port.task],
                    first_period[edge.to.task],
                    edge.peek,
                    edge.delay
                ));
            }
            ring.capacity = ring.capacity.max(slots);
            ring.peek = ring.peek.max(edge.peek);
            ring.pad = ring.pad.max(edge.peek.saturating_sub(edge.delay));
            ring.crosses |= self.units[unit].element != self.units[producer].element;
            ring.consumers.push(RingReader {
                edge: Some(e),
                unit,
                offset: lead - edge.delay,
                peek: edge.peek,
                inside,
            });
        }
        // A consumer with a long delay and one with a long peek on one port: the zeros of the end must fit as well.
        ring.capacity = ring.capacity.max(lead + ring.pad).next_multiple_of(batch);
        Ok(ring)
    }
}

/// Whether instance i of the reader needs instance i, or a later one, of the writer.
fn needs_same_instance(edge: &Edge) -> bool {
    edge.delay <= edge.peek
}

/// Whether the sum of `ahead` around some circle of `waits`, (from, to, ahead), is not below 0: longest paths, of which
/// no more than `units` steps are new where there is none.
fn has_circle_without_delay(waits: &[(usize, usize, i128)], units: usize) -> bool {
    // A step counts a little, so that a sum of 0 grows, too.
    let scale = units as i128 + 1;
    let mut longest = vec![0i128; units];
    for _ in 0..=units {
        let mut grew = false;
        for &(from, to, ahead) in waits {
            let length = longest[from] + ahead * scale + 1;
            if length > longest[to] {
                longest[to] = length;
                grew = true;
            }
        }
        if !grew {
            return false;
        }
    }
    true
}

/// Adds to those that are `free` whoever has no way in but from them. `next` are the ways out.
fn peel(next: &[Vec<usize>], free: &mut [bool]) {
    let mut ways_in = vec![0_usize; next.len()];
    for to in next.iter().zip(free.iter()).filter(|(_, free)| !**free).flat_map(|(to, _)| to) {
        ways_in[*to] += 1;
    }
    let mut open: Vec<usize> = (0..next.len()).filter(|&u| !free[u] && ways_in[u] == 0).collect();
    while let Some(u) = open.pop() {
        free[u] = true;
        for &to in &next[u] {
            ways_in[to] -= 1;
            if ways_in[to] == 0 && !free[to] {
                open.push(to);
            }
        }
    }
}

/// Sources, each with a task that it holds back: the task fires instance i after the source has. A task whose inputs
/// are all delayed would else run ahead of the sources by the delays, and so fire more often than they before anybody
/// knows where they end.
fn held_back(graph: &Graph) -> Vec<(TaskId, TaskId)> {
    let tasks = graph.tasks.len();
    let (mut has_inputs, mut held) = (vec![false; tasks], vec![false; tasks]);
    let mut outputs = vec![Vec::new(); tasks];
    for e in &graph.edges {
        has_inputs[e.to.task] = true;
        held[e.to.task] |= needs_same_instance(e);
        outputs[e.from.task].push(e.to.task);
    }
    let ahead: Vec<TaskId> = (0..tasks).filter(|&t| has_inputs[t] && !held[t]).collect();
    if ahead.is_empty() {
        return Vec::new();
    }
    let sources: Vec<TaskId> = (0..tasks).filter(|&t| !has_inputs[t]).collect();
    let reached: Vec<Vec<bool>> = sources
        .iter()
        .map(|&source| {
            let mut reached = vec![false; tasks];
            let mut open = vec![source];
            while let Some(t) = open.pop() {
                if !std::mem::replace(&mut reached[t], true) {
                    open.extend(&outputs[t]);
                }
            }
            reached
        })
        .collect();
    // What no source reaches (a cycle that feeds itself) is held back by all of them.
    let free = |t: TaskId| reached.iter().all(|r| !r[t]);
    let pairs = sources.iter().zip(&reached).flat_map(|(&source, reached)| {
        ahead.iter().filter(|&&t| reached[t] || free(t)).map(move |&t| (source, t))
    });
    pairs.collect()
}

/// Instances that a ring needs at least so that no firing order can hang: `B (D + 1)` and what the delay occupies
/// (MODEL, "Why the runtime cannot deadlock"), and one window.
fn needed_slots(edge: &Edge, first_period: &[u64], batch: u64) -> Option<u64> {
    let d = i128::from(first_period[edge.to.task]) - i128::from(first_period[edge.from.task]);
    let needed = (i128::from(batch) * (d + 1)) + i128::from(edge.delay);
    u64::try_from(needed.max(i128::from(edge.peek) + 1).max(i128::from(edge.delay) + 1)).ok()
}

fn used_elements(
    graph: &Graph,
    machine: &Machine,
    plan: &Plan,
) -> Result<(Vec<Used>, Vec<ElementId>), LayoutError> {
    let index: HashMap<&str, ElementId> =
        machine.elements.iter().enumerate().map(|(i, e)| (e.name.as_str(), i)).collect();
    let mut element_of = Vec::with_capacity(graph.tasks.len());
    for t in &graph.tasks {
        let Some(name) = plan.mapping.get(&t.name) else {
            return err(format!("the plan maps no element to the task '{}'", t.name));
        };
        let Some(&e) = index.get(name.as_str()) else {
            let known: Vec<&str> = machine.elements.iter().take(8).map(|e| e.name.as_str()).collect();
            return err(format!(
                "the plan puts '{}' on '{name}', which the machine '{}' does not have; it has {}{}",
                t.name,
                machine.name,
                known.join(", "),
                if machine.elements.len() > 8 { ", .." } else { "" }
            ));
        };
        element_of.push(e);
    }
    let mut used: Vec<ElementId> = element_of.clone();
    used.sort_unstable();
    used.dedup();
    let place: HashMap<ElementId, usize> = used.iter().enumerate().map(|(i, &e)| (e, i)).collect();
    let elements = used
        .iter()
        .map(|&e| Used { element: e, name: machine.elements[e].name.clone(), units: Vec::new() })
        .collect();
    Ok((elements, element_of.into_iter().map(|e| place[&e]).collect()))
}

fn task_order(
    graph: &Graph,
    plan: &Plan,
    elements: &[Used],
    element_of: &[usize],
    names: &HashMap<&str, TaskId>,
) -> Result<Vec<Vec<TaskId>>, LayoutError> {
    let mut seen = vec![false; graph.tasks.len()];
    let mut order = vec![Vec::new(); elements.len()];
    for (e, used) in elements.iter().enumerate() {
        for name in plan.order.get(&used.name).into_iter().flatten() {
            let Some(&t) = names.get(name.as_str()) else {
                return err(format!("the plan's order of {} names '{name}', which is no task", used.name));
            };
            if element_of[t] != e || std::mem::replace(&mut seen[t], true) {
                return err(format!(
                    "the plan's order of {} names '{name}', which is mapped elsewhere or named twice",
                    used.name
                ));
            }
            order[e].push(t);
        }
    }
    match seen.iter().position(|s| !s) {
        Some(t) => err(format!("the plan's order misses the task '{}'", graph.tasks[t].name)),
        None => Ok(order),
    }
}
