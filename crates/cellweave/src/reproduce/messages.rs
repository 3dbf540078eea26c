//! SPEs that read from each other in commands of different sizes, and which ways around the bus the packets went.

use super::chosen::Chosen;
use serde::{Deserialize, Serialize};
use sim::{LOCAL_STORE_BYTES, Simulation};
use std::cell::RefCell;
use std::rc::Rc;

/// Half a local store for what arrives, the other half for what others read.
const ROOM_BYTES: u32 = LOCAL_STORE_BYTES / 2;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Request {
    /// On which machine.
    #[serde(flatten)]
    pub chosen: Chosen,
    /// All run at the same time; a reader has one.
    pub messages: Vec<Message>,
    /// Commands that each reader keeps in flight, 1 to 16.
    pub buffers: u32,
}

/// A stream of messages.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Message {
    /// The SPE that fetches them.
    pub reader: usize,
    /// The SPE that has them; may be the reader itself.
    pub source: usize,
    /// Bytes of a command, up to 16 kB.
    pub bytes: u32,
    /// Commands.
    pub times: u32,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Of each stream, from its first command to the end of its last.
    pub streams: Vec<Stream>,
    /// Packets that chip 0's rings carried clockwise, and the other way.
    pub ways: [u64; 2],
}

/// What one stream came to.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Stream {
    /// All its bytes over its own time, GB/s.
    pub gbs: f64,
    /// Its time by the reader's decrementer, in ns per command.
    pub ticked_ns: f64,
}

/// Runs the streams until each is done.
///
/// # Errors
/// Says what cannot be simulated.
///
/// ```
/// use cellweave::reproduce::{chosen::Chosen, messages};
/// let chosen = Chosen { machine: "cell".into(), rules: None, hidden: None };
/// let one = messages::Message { reader: 1, source: 3, bytes: 16384, times: 8 };
/// let answer = messages::run(&messages::Request { chosen, messages: vec![one], buffers: 4 }).unwrap();
/// assert!(answer.streams[0].gbs > 1.0);
/// assert_eq!(answer.ways.iter().filter(|&&packets| packets > 0).count(), 1); // neighbours: one way only
/// ```
pub fn run(request: &Request) -> Result<Answer, String> {
    let buffers = request.buffers;
    let most = request.messages.iter().map(|m| m.bytes).max().unwrap_or(0);
    if !(1..=16).contains(&buffers) || u64::from(most) * u64::from(buffers) > u64::from(ROOM_BYTES) {
        return Err(format!("{buffers} buffers of {most} bytes; 1 to 16 that fit {ROOM_BYTES} bytes"));
    }
    let parameters = request.chosen.parameters()?;
    let ns_per_tick = 1e9 / parameters.timebase_hz as f64;
    let mut sim = Simulation::new(parameters).map_err(|e| e.to_string())?;
    let streams = Rc::new(RefCell::new(vec![Stream::default(); request.messages.len()]));
    for (i, &Message { reader, source, bytes, times }) in request.messages.iter().enumerate() {
        let streams = streams.clone();
        let program = move |spe: &mut sim::Spe<'_>| {
            let room = spe.alloc(ROOM_BYTES, 128);
            let from = sim::Address(spe.local_store_of(source).0 + u64::from(ROOM_BYTES));
            spe.set_decrementer(u32::MAX);
            let start = spe.now_ps();
            for n in 0..times {
                let slot = n % buffers;
                if n >= buffers {
                    spe.tags_all(1 << slot);
                }
                spe.get(room + slot * bytes, from, bytes, slot);
            }
            spe.tags_all((1 << buffers) - 1);
            let took_ns = (spe.now_ps() - start) as f64 / 1e3;
            let ticks = u32::MAX - spe.decrementer();
            streams.borrow_mut()[i] = Stream {
                gbs: f64::from(times) * f64::from(bytes) / took_ns,
                ticked_ns: f64::from(ticks) * ns_per_tick / f64::from(times),
            };
        };
        sim.spe(reader, "reader", program).map_err(|e| e.to_string())?;
    }
    let outcome = sim.run().map_err(|e| e.to_string())?;
    // Rings 0 and 1 go clockwise, 2 and 3 the other way.
    let rings = outcome.counters.chips[0].ring_packets;
    let streams = streams.borrow().clone();
    Ok(Answer { streams, ways: [rings[0] + rings[1], rings[2] + rings[3]] })
}
