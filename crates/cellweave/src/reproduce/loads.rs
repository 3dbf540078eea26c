//! Transfers that run at the same time, measured on the simulator as a [`Target`].

use super::chosen::Chosen;
use machine::Machine;
use machine::target::{Direction, Experiment, Store, Target, Transfer, Walk};
use serde::{Deserialize, Serialize};
use sim::SimTarget;

/// How the memory of a chip is called: this word and the chip's number.
const MEMORY: &str = "memory";
/// From a line of main memory to the next one in the same bank: 16 banks, each 128 bytes wide.
const BANK_STRIDE_BYTES: u32 = 2048;

/// What to measure: loads, one after another, each on a machine of its own.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct LoadsExperiment {
    /// On which machine.
    #[serde(flatten)]
    pub chosen: Chosen,
    /// In which order.
    pub loads: Vec<Load>,
}

/// Transfers that run at the same time, and how each is done.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Load {
    /// Initiator, other end (elements by name, or `memory0`), and `get`, `put` or `alternating`.
    pub transfers: Vec<(String, String, String)>,
    /// Bytes of one command; beyond 16 kB several commands.
    pub size_bytes: u32,
    /// Commands in flight per transfer.
    pub buffers: u32,
    /// Commands of each transfer.
    pub repeats: u32,
    /// ns that an initiator computes on each command's data before it starts the next one in the same buffer.
    #[serde(default)]
    pub compute_ns: u64,
    /// SPU cycles that the measured program itself spends on each command.
    #[serde(default)]
    pub loop_cycles: u64,
    /// How commands go through main memory.
    #[serde(default)]
    pub walk: MemoryWalk,
}

/// How the commands of a transfer go through main memory; see [`Walk`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryWalk {
    /// Each next to the one before it.
    #[default]
    Next,
    /// All in the same bank.
    OneBank,
    /// Through memory that the PPE has in its cache.
    Cached,
}

/// What a load came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadFound {
    /// All bytes over the time from the first start to the last end, GB/s.
    pub gbs: f64,
    /// All bytes over the longest time by an initiator's decrementer, GB/s.
    pub ticked_gbs: f64,
    /// Mean over transfers and commands, from a command to when its end is seen.
    pub latency_ns: f64,
    /// Each transfer.
    pub transfers: Vec<TransferSeen>,
    /// Of the decrementer.
    pub timer_hz: f64,
}

/// What one transfer came to, all its commands together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TransferSeen {
    /// Before the first command.
    pub start_ns: f64,
    /// When the last was complete.
    pub end_ns: f64,
    /// Between the two, by the initiator's decrementer.
    pub ticks: u64,
    /// Mean over the commands.
    pub latency_ns: f64,
    /// Bytes over its own time, GB/s.
    pub gbs: f64,
}

/// Measures every load.
///
/// # Errors
/// Names the element that there is not, or says what else cannot be simulated.
///
/// ```
/// use cellweave::reproduce::{chosen::Chosen, loads};
/// let chosen = Chosen { machine: "qs22".into(), rules: None, hidden: None };
/// let get = |from: &str| loads::Load {
///     transfers: vec![("SPE1".into(), from.into(), "get".into())],
///     size_bytes: 16384,
///     buffers: 4,
///     repeats: 8,
///     compute_ns: 0,
///     loop_cycles: 0,
///     walk: loads::MemoryWalk::Next,
/// };
/// let experiment = loads::LoadsExperiment { chosen, loads: vec![get("SPE3"), get("SPE9")] };
/// let found = loads::run(&experiment).unwrap();
/// assert!(found[0].gbs > found[1].gbs); // the other Cell is farther away
/// ```
pub fn run(experiment: &LoadsExperiment) -> Result<Vec<LoadFound>, String> {
    let target = SimTarget::new(experiment.chosen.parameters()?).map_err(|e| e.to_string())?;
    experiment
        .loads
        .iter()
        .map(|load| measure(target.clone().with_loop_cycles(load.loop_cycles), load))
        .collect()
}

fn measure(mut target: SimTarget, load: &Load) -> Result<LoadFound, String> {
    let transfers = load.transfers.iter().map(|t| transfer(target.machine(), t)).collect::<Result<_, _>>()?;
    let &Load { size_bytes, buffers, repeats, compute_ns, .. } = load;
    let walk = match load.walk {
        MemoryWalk::Next => Walk::Next,
        MemoryWalk::OneBank => Walk::Stride(BANK_STRIDE_BYTES),
        MemoryWalk::Cached => Walk::Cached,
    };
    let experiment = Experiment { transfers, size_bytes, buffers, repeats, compute_ns, walk };
    let samples = target.measure(&experiment, 1).map_err(|e| e.to_string())?;
    let sample = samples.first().ok_or("nothing was measured")?;
    let timer = target.timer();
    let seen = |t: &machine::target::Times| TransferSeen {
        start_ns: t.start_ns,
        end_ns: t.end_ns,
        ticks: t.ticks,
        latency_ns: t.latency_ns,
        gbs: t.bytes as f64 / (t.end_ns - t.start_ns),
    };
    Ok(LoadFound {
        gbs: sample.bytes_per_s() / 1e9,
        ticked_gbs: sample.bytes_per_s_by(timer) / 1e9,
        latency_ns: sample.latency_ns(),
        transfers: sample.transfers.iter().map(seen).collect(),
        timer_hz: timer.hz,
    })
}

fn transfer(machine: &Machine, (from, other, way): &(String, String, String)) -> Result<Transfer, String> {
    let element =
        |name: &str| machine.element(name).ok_or_else(|| format!("{} has no element `{name}`", machine.name));
    let other = match other.strip_prefix(MEMORY).map(str::parse) {
        Some(chip) => {
            Store::Memory(chip.map_err(|_| format!("`{other}` is no chip's memory; the first's is memory0"))?)
        }
        None => Store::Element(element(other)?),
    };
    let direction = match way.as_str() {
        "get" => Direction::Get,
        "put" => Direction::Put,
        "alternating" => Direction::Alternating,
        _ => return Err(format!("`{way}` is no direction; there are get, put, alternating")),
    };
    Ok(Transfer { initiator: element(from)?, other, direction })
}
