//! A simulated machine as a [`Target`]: the programs of `dma-benchmark`, Algorithms 1 to 3, for any pattern.
//!
//! Each initiating SPE tells PPE0 by mailbox that it is ready; when all have, PPE0 starts them one after the other. An
//! SPE sets its decrementer and starts as many transfers as it has buffers. Then it waits for one buffer after the
//! other, computes if that was asked for, and starts the next transfer with the buffer. At the end it waits for the
//! last ones, reads its decrementer and reports.
//!
//! A line of the pattern whose initiator is a PPE is done through the proxy queue of the SPE: into main memory for what
//! the PPE reads, from there for bytes that it writes.

mod places;
mod ppe;
mod spe;
#[cfg(test)]
mod tests;

use crate::{Address, LINE_BYTES, Parameters, Rules, SimError, Simulation};
use machine::presets::Preset;
use machine::target::{Direction, Experiment, Sample, Store, Target, TargetError, Timer, Times, Transfer};
use machine::{ElementId, Machine};
use places::{Arena, Ends, STORE_BYTES};
use std::cell::RefCell;
use std::rc::Rc;

/// Bytes that a transfer moves in one sample, roughly: its start, one hundred times shorter, hardly counts.
const SAMPLE_BYTES: u32 = 4 << 20;
/// Least and most repeats of one sample.
const REPEATS: (u32, u32) = (64, 1024);
/// The most packets of 128 bytes in one experiment: more would take minutes, and nothing could stop it.
const PACKETS_MAX: u64 = 1 << 27;
/// Preset whose elements all simulated machines have.
const ELEMENTS_OF: &str = "qs22";

/// A simulated machine.
///
/// ```
/// use machine::target::{Direction, Experiment, Store, Target, Transfer, Walk};
/// let mut cell = sim::SimTarget::new(sim::Parameters::named("cell").unwrap()).unwrap();
/// let spe = |n: usize| cell.machine().element(&format!("SPE{n}")).unwrap();
/// let neighbour = Store::Element(spe(2));
/// let transfers = vec![Transfer { initiator: spe(0), other: neighbour, direction: Direction::Get }];
/// let experiment =
///     Experiment { transfers, size_bytes: 16384, buffers: 2, repeats: 64, compute_ns: 0, walk: Walk::Next };
/// let samples = cell.measure(&experiment, 1).unwrap();
/// assert!((24e9..25.6e9).contains(&samples[0].bytes_per_s()));
/// ```
#[derive(Debug, Clone)]
pub struct SimTarget {
    parameters: Parameters,
    machine: Machine,
    loop_cycles: u64,
}

impl SimTarget {
    /// A target that simulates a machine with these parameters.
    ///
    /// # Errors
    /// When they cannot be simulated.
    pub fn new(parameters: Parameters) -> Result<Self, TargetError> {
        parameters.check().map_err(request)?;
        let machine = machine_of(&parameters);
        Ok(Self { parameters, machine, loop_cycles: 0 })
    }

    /// The same target whose SPE programs spend so many SPU cycles of their own on each transfer, after they have
    /// waited for it: a property of a program, not of the machine.
    #[must_use]
    pub fn with_loop_cycles(self, loop_cycles: u64) -> Self {
        Self { loop_cycles, ..self }
    }

    /// The simulated machine.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The SPE's number, as programs count them.
    fn spe(&self, element: ElementId) -> Option<usize> {
        element.checked_sub(self.parameters.ppes())
    }

    fn name(&self, element: ElementId) -> &str {
        &self.machine.elements[element].name
    }

    /// The lines of the pattern in the words of programs: SPEs and chips.
    fn line(&self, t: &Transfer) -> Line {
        let end = match t.other {
            Store::Memory(chip) => End::Memory(chip as usize),
            Store::Element(other) => self.spe(other).map_or(End::Memory(other), End::Store),
        };
        Line { end, direction: t.direction }
    }
}

/// A line of a pattern without its initiator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line {
    end: End,
    direction: Direction,
}

/// The other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Store(usize),
    Memory(usize),
}

impl Line {
    /// Whether repeat number `repeat` is a put.
    fn puts(self, repeat: u32) -> bool {
        match self.direction {
            Direction::Get => false,
            Direction::Put => true,
            Direction::Alternating => repeat % 2 == 1,
        }
    }
}

/// Elements as the preset of a Cell has them, on the chips on which programs find them; nothing is measured yet.
fn machine_of(p: &Parameters) -> Machine {
    let preset = Preset::named(ELEMENTS_OF).expect("a preset of this house");
    let whole = preset.machine(preset.all());
    let like = |name: &str, number: usize, chip: usize| {
        let mut element =
            whole.elements[whole.element(&format!("{name}0")).expect("an element of it")].clone();
        element.name = format!("{name}{number}");
        element.place.chip = chip as u32;
        element
    };
    let ppes = (0..p.ppes()).map(|chip| like("PPE", chip, chip));
    let spes = (0..p.spes()).map(|spe| like("SPE", spe, p.physical(spe).0));
    let description = format!("{} as it is simulated; rules {}{}", p.name, p.rules.name, hidden(p));
    Machine { name: p.name.clone(), description, elements: ppes.chain(spes).collect(), ..Machine::default() }
}

fn hidden(p: &Parameters) -> String {
    if p.hidden.is_empty() {
        return String::new();
    }
    format!(", SPEs {} hidden", p.hidden.iter().map(usize::to_string).collect::<Vec<_>>().join(" and "))
}

/// What cannot be simulated was asked for wrongly.
fn request(e: SimError) -> TargetError {
    TargetError::Request(e.to_string())
}

fn failed(e: SimError) -> TargetError {
    TargetError::Failed(e.to_string())
}

impl Target for SimTarget {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn describe(&self) -> String {
        let p = &self.parameters;
        let standard =
            Parameters { rules: p.rules.clone(), ..Parameters::named(&p.name).unwrap_or_default() };
        let set = p.numbers().into_iter().zip(standard.numbers()).filter(|(now, standard)| now != standard);
        let set: String = set.map(|((name, value), _)| format!(", {name} {value}")).collect();
        let own = match self.loop_cycles {
            0 => String::new(),
            cycles => format!(", {cycles} SPU cycles of a program for each transfer"),
        };
        format!("{} simulated, rules {}{}{set}{own}", p.name, p.rules.name, hidden(p))
    }

    fn timer(&self) -> Timer {
        Timer { name: "decrementer", hz: self.parameters.timebase_hz as f64 }
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn repeats(&self, size_bytes: u32) -> u32 {
        (SAMPLE_BYTES / size_bytes.max(1)).clamp(REPEATS.0, REPEATS.1)
    }

    fn check(&self, experiment: &Experiment) -> Result<(), TargetError> {
        experiment.check(&self.machine)?;
        let transfers = u64::from(experiment.repeats) * experiment.transfers.len() as u64;
        let packets = transfers * u64::from(experiment.size_bytes.div_ceil(LINE_BYTES));
        if packets > PACKETS_MAX {
            return Err(TargetError::Request(format!(
                "{transfers} transfers of {} bytes are {packets} packets of {LINE_BYTES} bytes; \
                 at most {PACKETS_MAX} are \
                 simulated at a time: repeat them less often than {} times",
                experiment.size_bytes, experiment.repeats
            )));
        }
        for t in &experiment.transfers {
            if self.spe(t.initiator).is_some() {
                continue;
            }
            let name = self.name(t.initiator);
            if !matches!(self.line(t).end, End::Store(_)) {
                return Err(TargetError::Request(format!(
                    "{name} starts transfers of SPEs only, through their queues: {name}<-SPE0, not its own of memory"
                )));
            }
        }
        for element in 0..self.machine.elements.len() {
            let Some(spe) = self.spe(element) else { continue };
            let initiates = experiment.transfers.iter().any(|t| t.initiator == element);
            let bytes = places::needed(experiment, initiates);
            let is_end = |t: &Transfer| self.line(t).end == End::Store(spe);
            if (initiates || experiment.transfers.iter().any(is_end)) && bytes > u64::from(STORE_BYTES) {
                return Err(TargetError::Request(format!(
                    "{}: {} buffers of {} bytes and what others read and write take {bytes} bytes of its local store; \
                     {} of {} are left beside the program",
                    self.name(element),
                    if initiates { experiment.buffers } else { 0 },
                    experiment.size_bytes,
                    STORE_BYTES,
                    crate::LOCAL_STORE_BYTES
                )));
            }
        }
        Ok(())
    }

    fn measure(&mut self, experiment: &Experiment, _samples: u32) -> Result<Vec<Sample>, TargetError> {
        self.check(experiment)?;
        let mut sim = Simulation::new(self.parameters.clone()).map_err(request)?;
        let found = Rc::new(RefCell::new(vec![Times::default(); experiment.transfers.len()]));
        let mut starts = ppe::Starts::default();
        let mut arena = Arena::default();
        for element in experiment.initiators() {
            let is_mine = |i: &usize| experiment.transfers[*i].initiator == element;
            let mine: Vec<usize> = (0..experiment.transfers.len()).filter(is_mine).collect();
            let lines: Vec<Line> = mine.iter().map(|&i| self.line(&experiment.transfers[i])).collect();
            let ends = arena.ends(&mut sim, &lines, experiment).map_err(failed)?;
            let log = Log { found: found.clone(), mine };
            let work = Work { lines, ends, experiment: experiment.clone(), loop_cycles: self.loop_cycles };
            if let Some(spe) = self.spe(element) {
                starts.spes.push(spe);
                sim.spe(spe, "transfers", move |spe| spe::program(spe, &work, &log)).map_err(failed)?;
            } else {
                let stride = u64::from(places::stride(experiment));
                let take = |_| sim.allocate(element, stride, u64::from(LINE_BYTES)).map_err(failed);
                let memory: Vec<Address> = (0..experiment.buffers).map(take).collect::<Result<_, _>>()?;
                starts.ppes.push((element, work, memory, log));
            }
        }
        starts.programs(&mut sim).map_err(failed)?;
        sim.run().map_err(failed)?;
        let transfers = found.take();
        Ok(vec![Sample { transfers, ..Sample::default() }])
    }
}

/// The program of one initiator.
#[derive(Debug)]
struct Work {
    lines: Vec<Line>,
    ends: Vec<Ends>,
    experiment: Experiment,
    /// SPU cycles that the program of an SPE spends on each transfer beside its commands.
    loop_cycles: u64,
}

impl Work {
    /// Transfers of all lines together, in turn.
    fn turns(&self) -> u32 {
        self.experiment.repeats * self.lines.len() as u32
    }

    /// Line and repeat of a turn.
    fn turn(&self, turn: u32) -> (usize, u32) {
        let lines = self.lines.len() as u32;
        ((turn % lines) as usize, turn / lines)
    }
}

/// Where an initiator writes its times.
#[derive(Debug)]
struct Log {
    found: Rc<RefCell<Vec<Times>>>,
    /// Indices of its lines in the experiment.
    mine: Vec<usize>,
}

/// First start, last end and the sum of latencies of a line, as its initiator goes along.
#[derive(Debug, Clone, Copy)]
struct Seen {
    start_ps: u64,
    end_ps: u64,
    latency_ps: u64,
}

impl Seen {
    const NOTHING: Self = Self { start_ps: u64::MAX, end_ps: 0, latency_ps: 0 };

    fn transfer(&mut self, start_ps: u64, end_ps: u64) {
        self.start_ps = self.start_ps.min(start_ps);
        self.end_ps = self.end_ps.max(end_ps);
        self.latency_ps += end_ps - start_ps;
    }
}

impl Log {
    fn write(&self, seen: &[Seen], ticks: u64, experiment: &Experiment) {
        let ns = |ps: u64| ps as f64 / 1000.0;
        let mut found = self.found.borrow_mut();
        for (&index, s) in self.mine.iter().zip(seen) {
            found[index] = Times {
                start_ns: ns(s.start_ps),
                end_ns: ns(s.end_ps),
                ticks,
                latency_ns: ns(s.latency_ps) / f64::from(experiment.repeats),
                bytes: experiment.bytes_each(),
            };
        }
    }
}

/// The parameters of a machine by name, with the caller's choices.
///
/// # Errors
/// When there is no such machine or rule set, or the SPEs cannot be hidden.
///
/// ```
/// let ps3 = sim::target::parameters("ps3", None, Some(&[1, 6])).unwrap();
/// assert_eq!(ps3.hidden, [1, 6]);
/// assert!(sim::target::parameters("ps3", Some("no"), None).is_err());
/// ```
pub fn parameters(
    name: &str,
    rules: Option<&str>,
    hidden: Option<&[usize]>,
) -> Result<Parameters, TargetError> {
    let mut p = Parameters::named(name).ok_or_else(|| {
        TargetError::Request(format!("no simulated machine {name:?}; there are {}", NAMES.join(", ")))
    })?;
    if let Some(rules) = rules {
        p.rules = Rules::named(rules).ok_or_else(|| {
            let names: Vec<String> = Rules::all().into_iter().map(|r| r.name).collect();
            TargetError::Request(format!("no rule set {rules:?}; there are {}", names.join(", ")))
        })?;
    }
    if let Some(hidden) = hidden {
        p.hidden = hidden.to_vec();
    }
    p.check().map_err(request)?;
    Ok(p)
}

/// The machines that can be simulated by name.
pub const NAMES: [&str; 4] = ["ps3", "cell", "qs20", "qs22"];
