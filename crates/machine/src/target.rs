//! What transfers are measured on: the trait [`Target`], and an experiment on one.
//!
//! An experiment is a set of transfers that run at the same time, each started over and over by the element that is
//! its *initiator*: it fetches from another element's local memory, or puts something there. The trait knows no Cell
//! and no thread; this computer and the simulated Cell implement it.

use crate::exchange::LineExchange;
use crate::{ElementId, Machine};
use std::fmt;

/// The most transfers that one initiator keeps in flight.
pub const BUFFERS_MAX: u32 = 8;
/// The largest size of one transfer, in bytes.
pub const SIZE_BYTES_MAX: u32 = 16 << 20;
/// What strides are multiples of: a Cell's line, two of other machines.
const LINE_BYTES: u32 = 128;
/// The most transfers of one experiment.
pub const TRANSFERS_MAX: usize = 4096;
/// The most times that each transfer of an experiment is done.
pub const REPEATS_MAX: u32 = 1 << 20;
/// The longest stride of a walk through memory, in bytes.
pub const STRIDE_BYTES_MAX: u32 = 1 << 20;
/// The longest computation between two transfers, in ns.
pub const COMPUTE_NS_MAX: u64 = 1_000_000_000;

/// Something that transfers can be measured on.
pub trait Target {
    /// What there is to measure; the indices of an experiment's elements are this machine's.
    fn machine(&self) -> &Machine;

    /// `host`, or the simulated machine with whatever was chosen about it: results carry it.
    fn describe(&self) -> String;

    /// The clock that programs on the target read.
    fn timer(&self) -> Timer;

    /// Whether the same experiment gives the same numbers each time, so that one sample is all there is to know.
    fn is_exact(&self) -> bool;

    /// How often a transfer of this size should be done in one sample, for its start not to count.
    fn repeats(&self, size_bytes: u32) -> u32;

    /// Whether the target can do the experiment.
    ///
    /// # Errors
    /// Says what it cannot do: an element that is not there, a size that it has no transfers of, too little memory.
    fn check(&self, experiment: &Experiment) -> Result<(), TargetError>;

    /// Does the experiment `samples` times; a target that is exact does it once.
    ///
    /// # Errors
    /// What [`check`](Target::check) says, or what went wrong.
    fn measure(&mut self, experiment: &Experiment, samples: u32) -> Result<Vec<Sample>, TargetError>;

    /// Does the exchange `samples` times. A sample has a [`Times`] for each pair; its latency is what the act says.
    ///
    /// # Errors
    /// That there are none on this target, what [`LineExchange::check`] says, or what went wrong.
    fn exchange(&mut self, exchange: &LineExchange, samples: u32) -> Result<Vec<Sample>, TargetError> {
        let _ = (exchange, samples);
        Err(TargetError::Request(format!(
            "lines, wake-ups and turns are measured on this computer only, not on {}",
            self.describe()
        )))
    }

    /// ns that have passed on the target, where measuring takes no time of this computer: a made-up machine's.
    fn passed_ns(&self) -> Option<u64> {
        None
    }
}

/// The clock by which a target's programs measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timer {
    /// `decrementer`, `tsc`, `clock_gettime`.
    pub name: &'static str,
    /// Ticks per second.
    pub hz: f64,
}

/// Where the other end of a transfer is; the initiator's own end is in its local memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Store {
    /// The local memory of an element: a local store, a core's cache. A PPE's is the main memory of its chip.
    Element(ElementId),
    /// The main memory that belongs to a chip.
    Memory(u32),
}

/// Which way the bytes go, seen from the initiator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// To the initiator: it reads.
    Get,
    /// From the initiator: it writes.
    Put,
    /// Read and written in turn, first read.
    Alternating,
}

/// One line of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Transfer {
    /// The element that starts it and waits for it.
    pub initiator: ElementId,
    /// With what.
    pub other: Store,
    /// Which way.
    pub direction: Direction,
}

/// Transfers that run at the same time, and how each is done. An element may be the initiator of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    /// All start together.
    pub transfers: Vec<Transfer>,
    /// Bytes of one transfer: 1, 2, 4, 8 or a multiple of 16; larger ones than the target can do at once are several.
    pub size_bytes: u32,
    /// How many transfers an initiator keeps in flight, 1 to [`BUFFERS_MAX`]; one with several lines takes them in
    /// turn.
    pub buffers: u32,
    /// How often each transfer is done.
    pub repeats: u32,
    /// ns that the initiator computes on each transfer once it is complete, before it starts the next one in the same
    /// buffer. Transfers in other buffers go on meanwhile; with one buffer, computing and transferring take turns.
    pub compute_ns: u64,
    /// How repeats go through main memory, where that is an end.
    pub walk: Walk,
}

/// Where one transfer after the other is in main memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Walk {
    /// Each next to the one before it.
    #[default]
    Next,
    /// Each so many bytes after the start of the one before: a multiple of 128, at least as much as a transfer has. On
    /// a Cell 2048 is the same bank of memory every time, 65536 a new page.
    Stride(u32),
    /// As `Next`, through memory that a PPE has in its cache.
    Cached,
}

/// One run of an experiment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    /// As many as the experiment has transfers, in its order.
    pub transfers: Vec<Times>,
    /// Elements that lost their cpu meanwhile; always none on a target that is exact.
    pub disturbed: Vec<ElementId>,
    /// Elements whose program did not run where it was asked to.
    pub unpinned: Vec<ElementId>,
    /// Elements whose cpu a hypervisor gave to others at about that time.
    pub stolen: Vec<ElementId>,
    /// Elements that did a fixed piece of work faster or slower after the sample than before: their clock changed, or
    /// they were interrupted.
    pub unsteady: Vec<ElementId>,
    /// ns that the fixed piece of work took, the mean of the elements that did it; 0 where none did.
    pub work_ns: f64,
}

/// The measured times of one transfer of an experiment, all repeats together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Times {
    /// Before the first was started, in ns since the same moment for all transfers of the sample.
    pub start_ns: f64,
    /// When the last was complete.
    pub end_ns: f64,
    /// Between the two, on the initiator's own [`Timer`].
    pub ticks: u64,
    /// Mean ns from the start of one to when the initiator saw that it was complete.
    pub latency_ns: f64,
    /// Bytes that were moved.
    pub bytes: u64,
}

impl Sample {
    /// ns from the first start to the last end.
    pub fn span_ns(&self) -> f64 {
        let start = self.transfers.iter().map(|t| t.start_ns).fold(f64::INFINITY, f64::min);
        let end = self.transfers.iter().map(|t| t.end_ns).fold(f64::NEG_INFINITY, f64::max);
        (end - start).max(0.0)
    }

    /// The whole pattern together: all bytes over [`span_ns`](Sample::span_ns).
    ///
    /// ```
    /// use machine::target::{Sample, Times};
    /// let one = |start_ns, end_ns| Times { start_ns, end_ns, bytes: 1000, ..Times::default() };
    /// let sample = Sample { transfers: vec![one(0.0, 90.0), one(10.0, 100.0)], ..Sample::default() };
    /// assert_eq!(sample.bytes_per_s(), 20e9);
    /// assert_eq!(sample.bytes_per_s_each(), 2.0 * 1000.0 / 90e-9);
    /// ```
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes() / self.span_ns() * 1e9
    }

    /// Each transfer's bytes over its own time, added up: more than [`bytes_per_s`](Sample::bytes_per_s) where some end
    /// sooner than others, as they would go on at the same time if they did not end.
    pub fn bytes_per_s_each(&self) -> f64 {
        self.transfers.iter().map(|t| t.bytes as f64 / (t.end_ns - t.start_ns)).sum::<f64>() * 1e9
    }

    /// As `dma-benchmark` computes it (section 3.1): all bytes over the longest time that an initiator's own timer
    /// shows.
    pub fn bytes_per_s_by(&self, timer: Timer) -> f64 {
        let ticks = self.transfers.iter().map(|t| t.ticks).max().unwrap_or(0);
        self.bytes() / (ticks as f64 / timer.hz)
    }

    /// Mean over the transfers.
    pub fn latency_ns(&self) -> f64 {
        self.transfers.iter().map(|t| t.latency_ns).sum::<f64>() / self.transfers.len() as f64
    }

    fn bytes(&self) -> f64 {
        self.transfers.iter().map(|t| t.bytes as f64).sum()
    }
}

/// Why an experiment was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetError {
    /// The target cannot do it; the message says what is allowed.
    Request(String),
    /// It was begun and went wrong.
    Failed(String),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (Self::Request(message) | Self::Failed(message)) = self;
        f.write_str(message)
    }
}

impl std::error::Error for TargetError {}

impl Experiment {
    /// Bytes of each transfer, all repeats together.
    pub fn bytes_each(&self) -> u64 {
        u64::from(self.size_bytes) * u64::from(self.repeats)
    }

    /// What every target refuses, whatever it can do: elements and chips that are not there, numbers out of range.
    ///
    /// # Errors
    /// Names the transfer, the element or the number.
    pub fn check(&self, machine: &Machine) -> Result<(), TargetError> {
        check_size(self.size_bytes)?;
        within("buffers", u64::from(self.buffers), 1, u64::from(BUFFERS_MAX))?;
        within("repeats", u64::from(self.repeats), 1, u64::from(REPEATS_MAX))?;
        within("compute_ns", self.compute_ns, 0, COMPUTE_NS_MAX)?;
        if let Walk::Stride(stride) = self.walk
            && (stride % LINE_BYTES != 0 || !(self.size_bytes..=STRIDE_BYTES_MAX).contains(&stride))
        {
            return Err(TargetError::Request(format!(
                "stride of {stride} bytes: a multiple of {LINE_BYTES} from the size of a transfer, {} bytes, to \
                     {STRIDE_BYTES_MAX} is allowed",
                self.size_bytes
            )));
        }
        within("the number of transfers", self.transfers.len() as u64, 1, TRANSFERS_MAX as u64)?;
        self.transfers.iter().enumerate().try_for_each(|(i, t)| t.check(i, machine))
    }

    /// The elements that initiate something, each once, in order of first appearance.
    pub fn initiators(&self) -> Vec<ElementId> {
        let mut found = Vec::new();
        for t in &self.transfers {
            if !found.contains(&t.initiator) {
                found.push(t.initiator);
            }
        }
        found
    }
}

impl Transfer {
    fn check(&self, index: usize, machine: &Machine) -> Result<(), TargetError> {
        let n = machine.elements.len();
        let there = |element: ElementId| {
            if element < n {
                return Ok(());
            }
            let name = &machine.name;
            Err(TargetError::Request(format!(
                "transfer {index}: no element {element}; {name} has {n}, counted from 0"
            )))
        };
        there(self.initiator)?;
        match self.other {
            Store::Element(other) => {
                there(other)?;
                if other == self.initiator {
                    let name = &machine.elements[other].name;
                    return Err(TargetError::Request(format!("transfer {index}: {name} talks to itself")));
                }
            }
            Store::Memory(chip) => {
                if !machine.elements.iter().any(|e| e.place.chip == chip) {
                    let chips = chips(machine);
                    return Err(TargetError::Request(format!(
                        "transfer {index}: there is no chip {chip} whose memory could be used; {} has {}",
                        machine.name, chips
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Whether transfers of this size exist.
///
/// # Errors
/// Says which sizes do, and the nearest.
///
/// ```
/// assert!(machine::target::check_size(16384).is_ok());
/// let wrong = machine::target::check_size(17).unwrap_err().to_string();
/// assert!(wrong.contains("multiple of 16") && wrong.contains("16 or 32"), "{wrong}");
/// ```
pub fn check_size(size_bytes: u32) -> Result<(), TargetError> {
    let allowed = format!("1, 2, 4, 8 or a multiple of 16 up to {SIZE_BYTES_MAX}");
    if size_bytes == 0 || size_bytes > SIZE_BYTES_MAX {
        return Err(TargetError::Request(format!("size of {size_bytes} bytes: a transfer has {allowed}")));
    }
    if !matches!(size_bytes, 1 | 2 | 4 | 8) && !size_bytes.is_multiple_of(16) {
        let below = if size_bytes < 16 { 1 << size_bytes.ilog2() } else { size_bytes / 16 * 16 };
        let above = if size_bytes < 8 { below * 2 } else { size_bytes.div_ceil(16) * 16 };
        return Err(TargetError::Request(format!(
            "size of {size_bytes} bytes: a transfer has {allowed}; the nearest are {below} or {above}"
        )));
    }
    Ok(())
}

fn within(what: &str, value: u64, least: u64, most: u64) -> Result<(), TargetError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(TargetError::Request(format!("{what}: {value} is not a number from {least} to {most}")))
}

/// `chip 0`, `chips 0 to 1`: for messages.
fn chips(machine: &Machine) -> String {
    let mut chips: Vec<u32> = machine.elements.iter().map(|e| e.place.chip).collect();
    chips.sort_unstable();
    chips.dedup();
    match chips[..] {
        [only] => format!("chip {only}"),
        _ => format!("chips {}", chips.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets::Preset;

    fn qs22() -> Machine {
        let preset = Preset::named("qs22").unwrap();
        preset.machine(preset.all())
    }

    fn experiment(transfers: Vec<Transfer>) -> Experiment {
        Experiment { transfers, size_bytes: 128, buffers: 1, repeats: 1, compute_ns: 0, walk: Walk::Next }
    }

    fn get(initiator: ElementId, other: Store) -> Transfer {
        Transfer { initiator, other, direction: Direction::Get }
    }

    fn refused(e: Experiment) -> String {
        match e.check(&qs22()).unwrap_err() {
            TargetError::Request(message) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        let e = |t| experiment(vec![get(2, Store::Element(3)), t]);
        assert!(e(get(3, Store::Memory(1))).check(&qs22()).is_ok());
        assert!(refused(e(get(18, Store::Element(2)))).contains("transfer 1: no element 18; qs22 has 18"));
        assert!(refused(e(get(2, Store::Element(99)))).contains("no element 99"));
        assert!(refused(e(get(2, Store::Element(2)))).contains("SPE0 talks to itself"));
        assert!(refused(e(get(2, Store::Memory(2)))).contains("no chip 2"));
        assert!(refused(e(get(2, Store::Memory(2)))).contains("chips 0, 1"));
    }

    #[test]
    fn numbers_out_of_range_are_named_with_their_range() {
        let with = |change: fn(&mut Experiment)| {
            let mut e = experiment(vec![get(2, Store::Element(3))]);
            change(&mut e);
            refused(e)
        };
        assert!(with(|e| e.buffers = 0).contains("buffers: 0 is not a number from 1 to 8"));
        assert!(with(|e| e.buffers = 9).contains("buffers: 9"));
        assert!(with(|e| e.repeats = 0).contains("repeats: 0"));
        assert!(with(|e| e.compute_ns = u64::MAX).contains("compute_ns"));
        for stride in [0, 64, 200, 2 << 20] {
            let e = Experiment { walk: Walk::Stride(stride), ..experiment(vec![get(2, Store::Memory(0))]) };
            assert!(refused(e).contains(&format!("stride of {stride} bytes")));
        }
        assert!(with(|e| e.transfers.clear()).contains("transfers: 0"));
        assert!(with(|e| e.size_bytes = (48 << 20) + 16).contains("16777216"));
        for (size, nearest) in
            [(3, "2 or 4"), (7, "4 or 8"), (12, "8 or 16"), (17, "16 or 32"), (1000, "992 or 1008")]
        {
            let message = check_size(size).unwrap_err().to_string();
            assert!(message.contains(nearest), "{size}: {message}");
        }
        assert!(check_size(0).unwrap_err().to_string().contains("size of 0 bytes"));
    }
}
