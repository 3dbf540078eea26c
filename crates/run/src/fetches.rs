//! Elements that have memories of their own: a ring between elements becomes one at its producer's element and one at
//! each reader's, and a *fetch* moves instances from the first to the second.
//!
//! A fetch is a unit of its own (MODEL, "Why the runtime cannot deadlock"), on an element of its own beside the one
//! that moves the data, the reader's or the producer's: the same [scheduler](crate::scheduler) says when it may move
//! how many instances. What it fired is what was asked for; whoever moves the data publishes the counters when they
//! have arrived.

use crate::layout::{EdgeMemory, LayoutError, RingLayout, RingReader, RunLayout, Unit, Used};
use std::collections::BTreeMap;
use work::schedule::minimum_slots;
use work::{EdgeId, Graph, Plan};

/// A layout with fetches.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchLayout {
    /// Elements as they were, then one more for the fetches of each, in the same order.
    pub layout: RunLayout,
    /// In the order of their units, which come after all others.
    pub fetches: Vec<Fetch>,
}

/// What moves a port's instances to one element that reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fetch {
    /// Its unit.
    pub unit: usize,
    /// The ring that it reads.
    pub from: usize,
    /// The ring that it writes.
    pub to: usize,
    /// An edge whose data it moves.
    pub edge: EdgeId,
    /// The element of the original layout whose memory holds the ring that it writes.
    pub into: usize,
    /// Whether the producer's element moves the data, not the reader's.
    pub pushed: bool,
}

impl FetchLayout {
    /// Makes the fetches of `layout`, with the slots that `plan` gives each end of an edge. `pushes` says of a
    /// producer's element and a reader's whether the first moves the data.
    ///
    /// # Errors
    /// [`LayoutError`] where an end has fewer slots than cannot hang.
    pub fn new(
        graph: &Graph,
        plan: &Plan,
        layout: RunLayout,
        pushes: &dyn Fn(usize, usize) -> bool,
    ) -> Result<FetchLayout, LayoutError> {
        let elements = layout.elements.len();
        let mut made =
            FetchLayout { layout: RunLayout { rings: Vec::new(), ..layout.clone() }, fetches: Vec::new() };
        let beside = layout.elements.iter().map(|e| Used {
            element: e.element,
            name: format!("{} fetches", e.name),
            units: Vec::new(),
        });
        made.layout.elements.extend(beside);
        for ring in &layout.rings {
            let home = layout.units[ring.producer].element;
            let on = |reader: &RingReader| layout.units[reader.unit].element;
            // A ring that only holds tasks back has nothing to move.
            if ring.bytes == 0 || ring.consumers.iter().all(|c| on(c) == home) {
                made.push(ring.clone());
                continue;
            }
            let mut away: BTreeMap<usize, Vec<EdgeId>> = BTreeMap::new();
            let mut here = Vec::new();
            for reader in &ring.consumers {
                let edge = reader.edge.expect("rings with data have edges");
                match on(reader) {
                    element if element == home => here.push(edge),
                    element => away.entry(element).or_default().push(edge),
                }
            }
            let slots = |e: EdgeId| (plan.edges[e].slots_out, plan.edges[e].slots_in);
            for &e in away.values().flatten() {
                check_slots(graph, plan, e)?;
            }
            let out = here.iter().map(|&e| slots(e).0 + slots(e).1);
            let out = out.chain(away.values().flatten().map(|&e| slots(e).0)).max().unwrap_or(0);
            let mut source = ring_of(graph, ring, &here, out, plan.batch, ring.producer, &layout);
            let (from, lead) = (made.layout.rings.len(), source.lead);
            let first_unit = made.layout.units.len();
            for (k, edges) in away.values().enumerate() {
                let reader = RingReader {
                    edge: Some(edges[0]),
                    unit: first_unit + k,
                    offset: lead,
                    peek: 0,
                    inside: false,
                };
                source.consumers.push(reader);
            }
            source.crosses = true;
            made.push(source);
            for (element, edges) in away {
                let unit = made.layout.units.len();
                let pushed = pushes(home, element);
                let beside = elements + if pushed { home } else { element };
                made.layout.units.push(Unit { element: beside, tasks: Vec::new(), source: false });
                made.layout.elements[beside].units.push(unit);
                let into = edges.iter().map(|&e| slots(e).1).max().unwrap_or(0);
                let mut target = ring_of(graph, ring, &edges, into, plan.batch, unit, &layout);
                target.crosses = true;
                let to = made.layout.rings.len();
                made.fetches.push(Fetch { unit, from, to, edge: edges[0], into: element, pushed });
                made.push(target);
            }
            for &e in ring.consumers.iter().filter_map(|c| c.edge.as_ref()) {
                made.layout.written[e] = Some(from);
            }
        }
        Ok(made)
    }

    /// The element of the original layout that an element stands for: itself, or the one whose fetches it does.
    pub fn stands_for(&self, element: usize) -> usize {
        element % (self.layout.elements.len() / 2)
    }

    /// The fetch that is `unit`.
    pub fn fetch_of(&self, unit: usize) -> Option<&Fetch> {
        let first = self.fetches.first()?.unit;
        self.fetches.get(unit.checked_sub(first)?)
    }

    fn push(&mut self, ring: RingLayout) {
        let id = self.layout.rings.len();
        for (consumer, reader) in ring.consumers.iter().enumerate() {
            let Some(e) =
                reader.edge.filter(|_| !self.layout.units[..].get(reader.unit).is_none_or(is_fetch))
            else {
                continue;
            };
            self.layout.places[e] = EdgeMemory::Ring { ring: id, consumer };
            self.layout.written[e] = self.layout.written[e].map(|_| id);
        }
        self.layout.rings.push(ring);
    }
}

/// Fetches are the only units without tasks.
fn is_fetch(unit: &Unit) -> bool {
    unit.tasks.is_empty()
}

/// `ring` with those readers alone whose edges are `edges`, and with room for `slots`.
fn ring_of(
    graph: &Graph,
    ring: &RingLayout,
    edges: &[EdgeId],
    slots: u64,
    batch: u64,
    producer: usize,
    layout: &RunLayout,
) -> RingLayout {
    let most =
        |of: &dyn Fn(&work::Edge) -> u64| edges.iter().map(|&e| of(&graph.edges[e])).max().unwrap_or(0);
    let lead = most(&|e| e.delay);
    let pad = most(&|e| e.peek.saturating_sub(e.delay));
    let readers = ring.consumers.iter().filter(|c| c.edge.is_some_and(|e| edges.contains(&e)));
    let reader = |c: &RingReader| {
        let delay = c.edge.map_or(0, |e| graph.edges[e].delay);
        let inside = c.inside && layout.units[c.unit].element == layout.units[ring.producer].element;
        RingReader { offset: lead - delay, inside, ..c.clone() }
    };
    RingLayout {
        producer,
        bytes: ring.bytes,
        capacity: whole_quadwords(slots.max(lead + pad).max(batch), ring.bytes, batch),
        lead,
        peek: most(&|e| e.peek),
        pad,
        consumers: readers.map(reader).collect(),
        crosses: false,
    }
}

/// Bytes from one small instance to the next where memory is moved by quadwords: a power of two below 16 divides
/// them, anything else takes whole ones.
pub fn quadword_stride(bytes: u64) -> u64 {
    if bytes <= 8 { bytes.max(1).next_power_of_two() } else { bytes.next_multiple_of(16) }
}

/// At least `slots`, a multiple of the batch, and whole quadwords, so that an instance sits at the same place of its
/// quadword in each round.
fn whole_quadwords(slots: u64, bytes: u64, batch: u64) -> u64 {
    let per_quadword = 16 / quadword_stride(bytes).min(16);
    let step = if batch.is_multiple_of(per_quadword) { batch } else { batch * per_quadword };
    slots.next_multiple_of(step)
}

fn check_slots(graph: &Graph, plan: &Plan, e: EdgeId) -> Result<(), LayoutError> {
    let (edge, planned) = (&graph.edges[e], &plan.edges[e]);
    let first = |task: usize| plan.first_period.get(&graph.tasks[task].name).copied().unwrap_or(0);
    let (_, window, out) =
        minimum_slots(edge, (first(edge.from.task), first(edge.to.task)), false, plan.batch);
    if planned.slots_in >= window && planned.slots_out >= out {
        return Ok(());
    }
    Err(LayoutError(format!(
        "the plan gives the edge {} -> {} {} slots at its producer and {} at its reader; between two memories fewer \
         than {out} and {window} can hang",
        planned.from, planned.to, planned.slots_out, planned.slots_in
    )))
}
