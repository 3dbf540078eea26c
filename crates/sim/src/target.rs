//! A simulated machine as a [`Target`]: the programs of `dma-benchmark`, Algorithms 1 to 3, for any pattern.
//!
//! Each initiating SPE tells PPE0 by mailbox that it is ready; when all have, PPE0 starts them one after the other. An
//! SPE sets its decrementer, starts as many transfers as it has buffers, then waits for one buffer after the other and
//! starts the next transfer with it, waits for the last ones, reads its decrementer and reports.
//!
//! A line of the pattern whose initiator is a PPE is done through the proxy queue of the SPE: into main memory for what
//! the PPE reads, from there for what it writes.

mod places;
mod ppe;
mod spe;

use crate::{Address, Error as SimError, LINE_BYTES, Parameters, Rules, Simulation};
use machine::presets::Preset;
use machine::target::{Direction, Error, Experiment, Sample, Store, Target, Timer, Times, Transfer};
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
/// let reads = Transfer { initiator: spe(0), other: Store::Element(spe(2)), direction: Direction::Get };
/// let experiment =
///     Experiment { transfers: vec![reads], size_bytes: 16384, buffers: 2, repeats: 64, compute_ns: 0, walk: Walk::Next };
/// let samples = cell.measure(&experiment, 1).unwrap();
/// assert!((24e9..25.6e9).contains(&samples[0].bytes_per_s()));
/// ```
#[derive(Debug, Clone)]
pub struct SimTarget {
    parameters: Parameters,
    machine: Machine,
}

impl SimTarget {
    /// A target that simulates a machine with these parameters.
    ///
    /// # Errors
    /// When they cannot be simulated.
    pub fn new(parameters: Parameters) -> Result<Self, Error> {
        parameters.check().map_err(request)?;
        let machine = machine_of(&parameters);
        Ok(Self { parameters, machine })
    }

    /// What is simulated.
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

    /// What the lines of the pattern are to programs, who know SPEs and chips.
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
fn request(e: SimError) -> Error {
    Error::Request(e.to_string())
}

fn failed(e: SimError) -> Error {
    Error::Failed(e.to_string())
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
        format!("{} simulated, rules {}{}{set}", p.name, p.rules.name, hidden(p))
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

    fn check(&self, experiment: &Experiment) -> Result<(), Error> {
        experiment.check(&self.machine)?;
        let transfers = u64::from(experiment.repeats) * experiment.transfers.len() as u64;
        let packets = transfers * u64::from(experiment.size_bytes.div_ceil(LINE_BYTES));
        if packets > PACKETS_MAX {
            return Err(Error::Request(format!(
                "{transfers} transfers of {} bytes are {packets} packets of {LINE_BYTES} bytes; at most {PACKETS_MAX} are \
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
                return Err(Error::Request(format!(
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
                return Err(Error::Request(format!(
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

    fn measure(&mut self, experiment: &Experiment, _samples: u32) -> Result<Vec<Sample>, Error> {
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
            let work = Work { lines, ends, experiment: experiment.clone() };
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

/// What one initiator does.
#[derive(Debug)]
struct Work {
    lines: Vec<Line>,
    ends: Vec<Ends>,
    experiment: Experiment,
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

/// Where an initiator writes down what it saw.
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

/// The parameters of a machine by name, with what was chosen about it.
///
/// # Errors
/// When there is no such machine or rule set, or the SPEs cannot be hidden.
///
/// ```
/// let ps3 = sim::target::parameters("ps3", None, Some(&[1, 6])).unwrap();
/// assert_eq!(ps3.hidden, [1, 6]);
/// assert!(sim::target::parameters("ps3", Some("no"), None).is_err());
/// ```
pub fn parameters(name: &str, rules: Option<&str>, hidden: Option<&[usize]>) -> Result<Parameters, Error> {
    let mut p = Parameters::named(name).ok_or_else(|| {
        Error::Request(format!("no simulated machine {name:?}; there are {}", NAMES.join(", ")))
    })?;
    if let Some(rules) = rules {
        p.rules = Rules::named(rules).ok_or_else(|| {
            let names: Vec<String> = Rules::all().into_iter().map(|r| r.name).collect();
            Error::Request(format!("no rule set {rules:?}; there are {}", names.join(", ")))
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

#[cfg(test)]
mod tests {
    use super::*;
    use machine::target::Walk;

    fn target(name: &str) -> SimTarget {
        SimTarget::new(parameters(name, None, None).unwrap()).unwrap()
    }

    fn spe(t: &SimTarget, number: usize) -> ElementId {
        t.machine.element(&format!("SPE{number}")).unwrap()
    }

    fn experiment(transfers: Vec<Transfer>) -> Experiment {
        Experiment { transfers, size_bytes: 4096, buffers: 2, repeats: 32, compute_ns: 0, walk: Walk::Next }
    }

    fn line(initiator: ElementId, other: Store, direction: Direction) -> Transfer {
        Transfer { initiator, other, direction }
    }

    fn refused(t: &SimTarget, e: &Experiment) -> String {
        match t.check(e).unwrap_err() {
            Error::Request(message) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_line_has_its_times_and_the_same_twice() {
        let mut t = target("qs22");
        let (a, b, c) = (spe(&t, 0), spe(&t, 1), spe(&t, 9));
        let lines = vec![
            line(a, Store::Element(b), Direction::Get),
            line(a, Store::Element(c), Direction::Put),
            line(b, Store::Memory(0), Direction::Alternating),
            line(c, Store::Memory(0), Direction::Get),
            line(c, Store::Element(0), Direction::Put),
        ];
        let e = experiment(lines);
        let first = t.measure(&e, 7).unwrap();
        assert_eq!(first.len(), 1, "one sample is all there is to know");
        for times in &first[0].transfers {
            assert_eq!(times.bytes, 4096 * 32);
            assert!(times.end_ns > times.start_ns && times.ticks > 0 && times.latency_ns > 90.0, "{times:?}");
        }
        assert_eq!(first, t.measure(&e, 1).unwrap());
    }

    #[test]
    fn the_decrementer_and_the_simulated_time_agree_to_a_tick_and_what_reading_it_takes() {
        let mut t = target("cell");
        let s =
            &t.measure(&experiment(vec![line(spe(&t, 0), Store::Memory(0), Direction::Get)]), 1).unwrap()[0];
        let (by_time, ticks) = (s.span_ns(), s.transfers[0].ticks as f64);
        assert!((ticks * 1e9 / t.timer().hz - by_time).abs() < 2.0 * 1e9 / t.timer().hz, "{ticks} {by_time}");
    }

    #[test]
    fn a_large_transfer_is_several_commands_and_takes_as_long_as_they() {
        let mut t = target("cell");
        let mut time = |size_bytes, repeats| {
            let lines = vec![line(spe(&t, 0), Store::Element(spe(&t, 2)), Direction::Get)];
            let e = Experiment { size_bytes, repeats, buffers: 1, ..experiment(lines) };
            t.measure(&e, 1).unwrap()[0].span_ns()
        };
        let (whole, one) = (time(48 * 1024, 1), time(16 * 1024, 1));
        assert!(whole > 2.5 * one && whole < 3.0 * one, "{whole} {one}");
    }

    #[test]
    fn computing_hides_behind_transfers_with_two_buffers_and_not_with_one() {
        let mut t = target("cell");
        let mut time = |buffers, compute_ns| {
            let lines = vec![line(spe(&t, 0), Store::Element(spe(&t, 2)), Direction::Get)];
            t.measure(&Experiment { buffers, compute_ns, ..experiment(lines) }, 1).unwrap()[0].span_ns()
        };
        let free = time(2, 0);
        assert!(time(2, 100) < 1.1 * free);
        assert!(time(1, 1000) > 32.0 * 1000.0);
    }

    #[test]
    fn one_bank_of_memory_gives_an_eighth_of_what_all_give() {
        let mut t = target("cell");
        let mut gbs = |walk| {
            let lines = (0..4).map(|n| line(spe(&t, n), Store::Memory(0), Direction::Get)).collect();
            let e = Experiment { walk, size_bytes: 128, buffers: 8, repeats: 512, ..experiment(lines) };
            t.measure(&e, 1).unwrap()[0].bytes_per_s() / 1e9
        };
        let (all, one) = (gbs(Walk::Next), gbs(Walk::Stride(2048)));
        assert!(all > 15.0 && (2.5..3.3).contains(&one), "{all} {one}");
    }

    #[test]
    fn what_a_ppe_has_in_its_cache_comes_sooner() {
        let mut t = target("cell");
        let mut latency_ns = |walk| {
            let lines = vec![line(spe(&t, 0), Store::Memory(0), Direction::Get)];
            let e = Experiment { walk, size_bytes: 128, buffers: 1, ..experiment(lines) };
            t.measure(&e, 1).unwrap()[0].latency_ns()
        };
        assert!(latency_ns(Walk::Cached) < 0.8 * latency_ns(Walk::Next));
    }

    #[test]
    fn what_was_set_is_in_the_description() {
        let mut p = parameters("qs22", None, None).unwrap();
        p.mfc.memory_token += 7;
        let text = SimTarget::new(p.clone()).unwrap().describe();
        assert!(text.ends_with(&format!(", mfc.memory_token {}", p.mfc.memory_token)), "{text}");
    }

    #[test]
    fn a_ppe_reads_an_spe_slowly_and_others_meanwhile() {
        let mut t = target("qs22");
        let lines = vec![
            line(0, Store::Element(spe(&t, 0)), Direction::Get),
            line(1, Store::Element(spe(&t, 1)), Direction::Put),
            line(spe(&t, 2), Store::Element(spe(&t, 3)), Direction::Get),
        ];
        let s = &t.measure(&Experiment { repeats: 4, ..experiment(lines) }, 1).unwrap()[0];
        assert!(s.transfers[0].latency_ns > 5.0 * s.transfers[2].latency_ns, "{:?}", s.transfers);
        assert!(s.transfers[1].ticks > 0);
    }

    #[test]
    fn what_does_not_fit_a_local_store_is_refused_with_what_is_left() {
        let t = target("cell");
        let lines = vec![line(spe(&t, 0), Store::Element(spe(&t, 2)), Direction::Get)];
        let e = experiment(lines);
        assert!(t.check(&Experiment { size_bytes: 16384, buffers: 8, ..e.clone() }).is_ok());
        let message = refused(&t, &Experiment { size_bytes: 32768, buffers: 8, ..e.clone() });
        for fragment in ["SPE0", "8 buffers of 32768", "local store", "are left"] {
            assert!(message.contains(fragment), "{message}");
        }
        assert!(refused(&t, &Experiment { size_bytes: 262_144, buffers: 1, ..e }).contains("local store"));
    }

    #[test]
    fn an_experiment_without_an_end_in_sight_is_refused() {
        let t = target("cell");
        let lines = vec![line(spe(&t, 0), Store::Element(spe(&t, 2)), Direction::Get)];
        let e = Experiment { size_bytes: 32768, repeats: 1 << 20, ..experiment(lines) };
        assert!(refused(&t, &e).contains("268435456 packets"));
        assert!(t.check(&Experiment { size_bytes: 128, ..e }).is_ok());
    }

    #[test]
    fn what_only_spes_can_do_is_refused_for_a_ppe() {
        let t = target("qs22");
        assert!(refused(&t, &experiment(vec![line(0, Store::Memory(0), Direction::Get)])).contains("PPE0"));
        assert!(refused(&t, &experiment(vec![line(0, Store::Element(1), Direction::Get)])).contains("PPE0"));
    }

    #[test]
    fn hidden_spes_are_no_elements_and_unknown_names_are_refused() {
        let ps3 = SimTarget::new(parameters("qs20", Some("textbook"), Some(&[1, 6])).unwrap()).unwrap();
        assert_eq!(ps3.machine.elements.len(), 2 + 12);
        assert_eq!(ps3.machine.elements[ps3.machine.element("SPE6").unwrap()].place.chip, 1);
        assert!(ps3.describe().contains("textbook") && ps3.describe().contains("1 and 6"));
        let message = |rules, hidden| parameters("ps3", rules, hidden).unwrap_err().to_string();
        assert!(message(Some("texbook"), None).contains("textbook"));
        assert!(message(None, Some(&[9])).contains("hidden"));
        assert!(parameters("ps4", None, None).unwrap_err().to_string().contains("qs22"));
    }
}
