//! SPEs that read from each other for a given time: what each gets while all are at it, and which ways around the bus
//! the packets went.
//!
//! A pattern of fixed amounts tells when the last transfer was done; what the transfers get *together* is told only by
//! programs that all run for as long. Messages may differ in size, and an SPE may read from itself.

use super::chosen::Chosen;
use serde::{Deserialize, Serialize};
use sim::{Address, DMA_BYTES_MAX, LOCAL_STORE_BYTES, Simulation, Spe};
use std::cell::RefCell;
use std::rc::Rc;

/// Half a local store for what arrives, the other half for what others read.
const ROOM_BYTES: u32 = LOCAL_STORE_BYTES / 2;
/// The most messages that an SPE keeps in flight: each has a tag group of its own.
const SLOTS: u32 = 32;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct StreamsExperiment {
    /// On which machine.
    #[serde(flatten)]
    pub chosen: Chosen,
    /// All start at the same time.
    pub streams: Vec<Stream>,
    /// Messages that a reader keeps in flight for each of its streams; fewer where its local store holds no more.
    pub buffers: u32,
    /// No message is started later than this many ns after the start.
    pub window_ns: u64,
    /// The most messages of a stream; without one, as many as the window lets through.
    #[serde(default)]
    pub times: Option<u32>,
}

/// A stream of messages.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Stream {
    /// The SPE that fetches them.
    pub reader: usize,
    /// The SPE that has them; may be the reader itself.
    pub source: usize,
    /// Bytes of a message; beyond 16 kB several commands.
    pub bytes: u32,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StreamsFound {
    /// Of each stream.
    pub streams: Vec<Rate>,
    /// Packets that chip 0's rings carried clockwise, and the other way.
    pub ways: [u64; 2],
}

/// What one stream came to.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Rate {
    /// All its bytes over its own time, GB/s.
    pub gbs: f64,
    /// Its time by the reader's decrementer, in ns per message.
    pub ticked_ns: f64,
}

/// Runs the streams until the window is over, or each has had its messages.
///
/// # Errors
/// Says what cannot be simulated.
///
/// ```
/// use cellweave::reproduce::{chosen::Chosen, streams};
/// let chosen = Chosen { machine: "cell".into(), rules: None, hidden: None };
/// let one = streams::Stream { reader: 1, source: 3, bytes: 16384 };
/// let (streams, window_ns) = (vec![one], 20_000);
/// let experiment = streams::StreamsExperiment { chosen, streams, buffers: 4, window_ns, times: None };
/// let found = streams::run(&experiment).unwrap();
/// assert!((20.0..25.7).contains(&found.streams[0].gbs));
/// assert_eq!(found.ways.iter().filter(|&&packets| packets > 0).count(), 1); // neighbours: one way only
/// ```
pub fn run(experiment: &StreamsExperiment) -> Result<StreamsFound, String> {
    let parameters = experiment.chosen.parameters()?;
    let ns_per_tick = 1e9 / parameters.timebase_hz as f64;
    let mut sim = Simulation::new(parameters).map_err(|e| e.to_string())?;
    let rates = Rc::new(RefCell::new(vec![Rate::default(); experiment.streams.len()]));
    let mut readers: Vec<usize> = experiment.streams.iter().map(|s| s.reader).collect();
    readers.sort_unstable();
    readers.dedup();
    for reader in readers {
        let mine: Vec<usize> =
            (0..experiment.streams.len()).filter(|&i| experiment.streams[i].reader == reader).collect();
        let streams: Vec<Stream> = mine.iter().map(|&i| experiment.streams[i]).collect();
        let slots = slots(reader, &streams, experiment.buffers)?;
        let (rates, window_ns, times) =
            (rates.clone(), experiment.window_ns, experiment.times.unwrap_or(u32::MAX));
        let program = move |spe: &mut Spe<'_>| {
            let seen = read(spe, &streams, slots, window_ns, times);
            let mut rates = rates.borrow_mut();
            for (&i, s) in mine.iter().zip(&seen) {
                rates[i] = Rate {
                    gbs: s.bytes as f64 / s.took_ns,
                    ticked_ns: f64::from(s.ticks) * ns_per_tick / f64::from(s.messages),
                };
            }
        };
        sim.spe(reader, "streams", program).map_err(|e| e.to_string())?;
    }
    let outcome = sim.run().map_err(|e| e.to_string())?;
    // Rings 0 and 1 go clockwise, 2 and 3 the other way.
    let rings = outcome.counters.chips[0].ring_packets;
    let streams = rates.borrow().clone();
    Ok(StreamsFound { streams, ways: [rings[0] + rings[1], rings[2] + rings[3]] })
}

/// How many messages of each stream of a reader are in flight.
fn slots(reader: usize, streams: &[Stream], buffers: u32) -> Result<u32, String> {
    let n = streams.len() as u32;
    let room = ROOM_BYTES / streams.iter().map(|s| s.bytes).max().unwrap_or(1).max(1) / n;
    let slots = buffers.min(room).min(SLOTS / n);
    if slots == 0 {
        return Err(format!(
            "SPE{reader}: no room for a message of each of its {n} streams in {ROOM_BYTES} bytes"
        ));
    }
    Ok(slots)
}

/// What a reader saw of one stream.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    bytes: u64,
    messages: u32,
    took_ns: f64,
    ticks: u32,
}

/// The reader's program: starts every slot, and starts each again as soon as its message is there.
fn read(spe: &mut Spe<'_>, streams: &[Stream], slots: u32, window_ns: u64, times: u32) -> Vec<Seen> {
    let largest = streams.iter().map(|s| s.bytes).max().unwrap_or(0);
    let room = spe.alloc(LOCAL_STORE_BYTES, 128);
    let mut seen = vec![Seen::default(); streams.len()];
    let mut started = vec![0; streams.len()];
    let mut in_flight = 0u32;
    spe.set_decrementer(u32::MAX);
    let start_ps = spe.now_ps();
    for slot in 0..slots * streams.len() as u32 {
        let i = slot as usize % streams.len();
        if started[i] < times {
            started[i] += 1;
            in_flight |= 1 << slot;
            fetch(spe, streams[i], room + slot * largest, slot);
        }
    }
    while in_flight != 0 {
        let mut done = spe.tags_any(in_flight);
        while done != 0 {
            let slot = done.trailing_zeros();
            done &= done - 1;
            let i = slot as usize % streams.len();
            let now_ps = spe.now_ps();
            seen[i].bytes += u64::from(streams[i].bytes);
            seen[i].messages += 1;
            seen[i].took_ns = (now_ps - start_ps) as f64 / 1e3;
            if started[i] < times && now_ps - start_ps < window_ns * 1000 {
                started[i] += 1;
                fetch(spe, streams[i], room + slot * largest, slot);
            } else {
                in_flight &= !(1 << slot);
                seen[i].ticks = u32::MAX - spe.decrementer();
            }
        }
    }
    seen
}

/// Starts a message: commands of at most the largest size, under one tag.
fn fetch(spe: &mut Spe<'_>, stream: Stream, to: u32, tag: u32) {
    let from = spe.local_store_of(stream.source).0 + u64::from(ROOM_BYTES);
    let mut at = 0;
    while at < stream.bytes {
        let bytes = (stream.bytes - at).min(DMA_BYTES_MAX);
        spe.get(to + at, Address(from + u64::from(at)), bytes, tag);
        at += bytes;
    }
}
