//! Where rings and flags are: in the local store of an SPE, in the main memory of a PPE's chip.
//!
//! A *flag* is a quadword with the last values of up to four counters that another element owns; here it is read. Who
//! writes it depends on who owns the counters and who reads them:
//!
//! | from | to | how it comes |
//! |---|---|---|
//! | SPE | SPE | a transfer of 16 bytes into the reader's local store |
//! | SPE | PPE | a transfer of 16 bytes into main memory; each SPE has lines of its own there |
//! | PPE | SPE | a store into a line of main memory that is the SPE's alone; the SPE gets it when it looks |
//! | PPE | PPE | a store |
//!
//! The head of a ring that an SPE pushes into main memory has a flag of its own: it follows its data in one tag
//! group.

use crate::StreamError;
use machine::Machine;
use run::FetchLayout;
use run::fetches::quadword_stride;
use run::scheduler::{CounterId, CounterIds, Scheduler};
use sim::{Address, LOCAL_STORE_BYTES, Simulation};
use std::collections::BTreeMap;
use work::Graph;

/// Bytes of a flag.
pub(crate) const FLAG_BYTES: u64 = 16;
/// Heads of one ring that an SPE may have under way: each is put from a place of its own.
pub(crate) const HEADS: u64 = 4;
const COUNTERS: usize = 4;
const QUADWORD: u64 = 16;
pub(crate) const LINE: u64 = 128;

/// A core of the simulated machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamCore {
    Spe(usize),
    Ppe(usize),
}

/// A ring in an element's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RingPlace {
    /// The element, of those without fetches.
    pub element: usize,
    /// From the start of its memory.
    pub offset: u64,
    /// Bytes from one instance to the next.
    pub stride: u64,
}

impl RingPlace {
    pub(crate) fn at(&self, slot: u64) -> u64 {
        self.offset + slot * self.stride
    }
}

/// Tells `to` what counters of `from` are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flag {
    /// At most four, by the word of the quadword.
    pub counters: Vec<CounterId>,
    pub from: usize,
    pub to: usize,
    /// In the memory of `to`; of a flag from a PPE, in what the SPE gets.
    pub at: u64,
    /// In the memory of `from`: a transfer takes it from there.
    pub source: u64,
    /// The fetch whose head it tells: an SPE pushes it.
    pub fetch: Option<usize>,
}

/// Lines with the flags of a PPE, which an SPE gets into its local store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PolledLines {
    pub from: usize,
    pub to: usize,
    /// In the memory of `from`.
    pub source: u64,
    /// In the memory of `to`.
    pub at: u64,
    pub bytes: u64,
}

/// Everything that has a place.
#[derive(Debug, Clone)]
pub(crate) struct StreamPlaces {
    pub units: Vec<StreamCore>,
    /// By element, where its memory starts.
    pub base: Vec<Address>,
    /// By element, bytes of its memory that are used.
    pub bytes: Vec<u64>,
    /// By ring; none where nobody moves its data.
    pub rings: Vec<Option<RingPlace>>,
    pub flags: Vec<Flag>,
    pub polled: Vec<PolledLines>,
}

impl StreamPlaces {
    /// Lays everything out; counters from `ids.len()` on are the ends that each element's sources have met.
    pub(crate) fn new(
        graph: &Graph,
        machine: &Machine,
        made: &FetchLayout,
        schedulers: &[Scheduler],
        strides: &[u64],
    ) -> Result<StreamPlaces, StreamError> {
        let layout = &made.layout;
        let elements = layout.elements.len() / 2;
        let ids = CounterIds::new(layout);
        let units = layout.elements[..elements]
            .iter()
            .map(|used| unit_of(machine, used.element))
            .collect::<Result<Vec<_>, _>>()?;
        // Who watches which counters, and whose they are.
        let mut owner = vec![usize::MAX; ids.len()];
        for (r, ring) in layout.rings.iter().enumerate() {
            owner[ids.head(r)] = made.stands_for(layout.units[ring.producer].element);
            for (c, reader) in ring.consumers.iter().enumerate() {
                owner[ids.tail(r, c)] = made.stands_for(layout.units[reader.unit].element);
            }
        }
        let mut watched: BTreeMap<(CounterId, usize), usize> = BTreeMap::new();
        for (element, scheduler) in schedulers.iter().enumerate() {
            let to = made.stands_for(element);
            for &id in scheduler.watched().iter().filter(|&&id| owner[id] != to) {
                watched.insert((id, to), owner[id]);
            }
        }
        for from in
            (0..elements).filter(|&e| layout.elements[e].units.iter().any(|&u| layout.units[u].source))
        {
            for to in (0..elements).filter(|&to| to != from) {
                watched.insert((ids.len() + from, to), from);
            }
        }
        let fetch_of_head: BTreeMap<CounterId, usize> =
            (made.fetches.iter().enumerate()).map(|(k, f)| (ids.head(f.to), k)).collect();
        // Flags lie in what the code takes: control variables are part of it.
        let mut free: Vec<u64> = vec![0; elements];
        let (flags, polled) = place_flags(&watched, &units, &mut free, |counter| {
            fetch_of_head.get(&counter).copied().filter(|&k| made.fetches[k].pushed)
        });
        for (free, unit) in free.iter_mut().zip(&units) {
            if matches!(unit, StreamCore::Spe(_)) {
                *free = (*free).max(graph.code_bytes);
            }
            *free = free.next_multiple_of(LINE);
        }
        let control = free.clone();
        let mut rings = vec![None; layout.rings.len()];
        let mut place = |r: usize, element: usize, shift: u64, free: &mut Vec<u64>| {
            let ring = &layout.rings[r];
            let stride = quadword_stride(strides[r]);
            let bytes = stride * ring.capacity;
            let align = if bytes >= LINE { LINE } else { QUADWORD };
            let offset = free[element].next_multiple_of(align) + shift;
            free[element] = (offset + bytes).next_multiple_of(QUADWORD);
            rings[r] = Some(RingPlace { element, offset, stride });
        };
        for fetch in &made.fetches {
            if made.fetches.iter().find(|f| f.from == fetch.from).is_some_and(|f| f.unit == fetch.unit) {
                let home = made.stands_for(layout.units[layout.rings[fetch.from].producer].element);
                place(fetch.from, home, 0, &mut free);
            }
            // An instance must lie at the same place of its quadword at both ends.
            let stride = quadword_stride(strides[fetch.from]);
            let (from, to) = (layout.rings[fetch.from].lead, layout.rings[fetch.to].lead);
            let shift = (from * stride + QUADWORD * to * stride - to * stride) % QUADWORD;
            place(fetch.to, fetch.into, shift, &mut free);
        }
        // Rings that nobody moves take room all the same.
        for (r, ring) in layout.rings.iter().enumerate().filter(|(_, ring)| ring.bytes > 0) {
            if !made.fetches.iter().any(|f| f.from == r || f.to == r) {
                let element = made.stands_for(layout.units[ring.producer].element);
                free[element] += (strides[r] * ring.capacity).next_multiple_of(QUADWORD);
            }
        }
        for (element, unit) in units.iter().enumerate() {
            if matches!(unit, StreamCore::Spe(_)) && free[element] > u64::from(LOCAL_STORE_BYTES) {
                return Err(no_room(graph, made, element, control[element], free[element], &rings));
            }
        }
        Ok(StreamPlaces { base: vec![Address(0); elements], bytes: free, units, rings, flags, polled })
    }

    /// Takes the main memory of PPEs, and says where local stores are.
    pub(crate) fn take(&mut self, cell: &mut Simulation) -> Result<(), sim::SimError> {
        for ((unit, base), bytes) in self.units.iter().zip(&mut self.base).zip(&self.bytes) {
            *base = match *unit {
                StreamCore::Spe(spe) => cell.local_store(spe),
                StreamCore::Ppe(ppe) => cell.allocate(ppe, *bytes, LINE)?,
            };
        }
        Ok(())
    }
}

/// Gives every counter of `watched` (with its reader: its owner) a place in a flag. `pushed` says of a counter which
/// fetch's head it is, where an SPE pushes that.
fn place_flags(
    watched: &BTreeMap<(CounterId, usize), usize>,
    units: &[StreamCore],
    free: &mut [u64],
    pushed: impl Fn(CounterId) -> Option<usize>,
) -> (Vec<Flag>, Vec<PolledLines>) {
    let is_ppe = |element: usize| matches!(units[element], StreamCore::Ppe(_));
    let mut take = |element: usize, bytes: u64, align: u64| {
        let at = free[element].next_multiple_of(align);
        free[element] = at + bytes;
        at
    };
    let mut pairs: BTreeMap<(usize, usize), Vec<CounterId>> = BTreeMap::new();
    for (&(counter, to), &from) in watched {
        pairs.entry((from, to)).or_default().push(counter);
    }
    let (mut flags, mut polled) = (Vec::new(), Vec::new());
    // What a PPE looks at lies together: it comes first.
    let (to_ppes, others): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|((_, to), _)| is_ppe(*to));
    for ((from, to), counters) in to_ppes.into_iter().chain(others) {
        let (heads, plain): (Vec<_>, Vec<_>) = counters.into_iter().partition(|&c| pushed(c).is_some());
        let heads = heads.into_iter().map(|c| (vec![c], pushed(c)));
        let groups: Vec<_> = plain.chunks(COUNTERS).map(|c| (c.to_vec(), None)).chain(heads).collect();
        let bytes = groups.len() as u64 * FLAG_BYTES;
        // A line that one writes and one reads: no third one makes it go to and fro.
        let lines = bytes.next_multiple_of(LINE);
        let (at, source) = match (is_ppe(from), is_ppe(to)) {
            (false, false) => (take(to, bytes, FLAG_BYTES), take(from, bytes, FLAG_BYTES)),
            (false, true) => {
                let copies: u64 = groups.iter().map(|(_, f)| if f.is_some() { HEADS } else { 1 }).sum();
                (take(to, lines, LINE), take(from, copies * FLAG_BYTES, FLAG_BYTES))
            }
            (true, false) => {
                let (at, source) = (take(to, lines, LINE), take(from, lines, LINE));
                polled.push(PolledLines { from, to, source, at, bytes: lines });
                (at, source)
            }
            (true, true) => (take(to, lines, LINE), 0),
        };
        let mut source = source;
        for (k, (counters, fetch)) in groups.into_iter().enumerate() {
            flags.push(Flag { counters, from, to, at: at + k as u64 * FLAG_BYTES, source, fetch });
            source += FLAG_BYTES * if fetch.is_some() { HEADS } else { 1 };
        }
    }
    (flags, polled)
}

fn unit_of(machine: &Machine, element: usize) -> Result<StreamCore, StreamError> {
    let name = machine.elements[element].name.as_str();
    let number = |kind: &str| name.strip_prefix(kind)?.parse::<usize>().ok();
    match (number("SPE"), number("PPE")) {
        (Some(spe), _) => Ok(StreamCore::Spe(spe)),
        (_, Some(ppe)) => Ok(StreamCore::Ppe(ppe)),
        _ => Err(StreamError::Machine(format!(
            "the machine {} has the element {name}; a simulated Cell has PPE0, SPE0 and so on",
            machine.name
        ))),
    }
}

/// Which task's buffers do not fit, how much there is, and what would fit.
fn no_room(
    graph: &Graph,
    made: &FetchLayout,
    element: usize,
    control: u64,
    needed: u64,
    rings: &[Option<RingPlace>],
) -> StreamError {
    let layout = &made.layout;
    let name = &layout.elements[element].name;
    let largest = rings
        .iter()
        .zip(&layout.rings)
        .filter_map(|(place, ring)| {
            let place = place.filter(|p| p.element == element)?;
            let e = ring.consumers.first()?.edge?;
            Some((place.stride * ring.capacity, e))
        })
        .max();
    let store = u64::from(LOCAL_STORE_BYTES);
    let largest = largest.map_or_else(String::new, |(bytes, e)| {
        let edge = &graph.edges[e];
        format!(
            "; its largest buffer is that of {}.{} -> {}.{}, {bytes} bytes",
            graph.tasks[edge.from.task].name, edge.from.name, graph.tasks[edge.to.task].name, edge.to.name
        )
    });
    StreamError::Room(format!(
        "the buffers of {name} do not fit its local store: code takes {control} bytes and buffers {}, of \
         {store}{largest}. \
         {} bytes of buffers would fit: map fewer tasks to it, or plan with a smaller batch",
        needed - control,
        store.saturating_sub(control)
    ))
}
