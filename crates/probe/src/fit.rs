//! A machine file from measurements: distances, and the limits that they show.
//!
//! | limit | fitted to |
//! |---|---|
//! | `input of SPE3` | the most that reached it: of pairs, and of `fan-out` |
//! | `output of SPE3` | the most that was read from it: of pairs, and of `fan-in` |
//! | `PPE0 reads SPE3` | the pair, where it is a PPE that reads |
//! | `bus of chip 0` | the mean over `random` patterns on the chip, as `streaming-schedule` takes it |
//! | `chip 0 reads chip 1`, `between the chips` | `cross-chip` |
//! | `SPE3 reads chip 1` | the most of its pairs over the link |
//! | input and output of a PPE, which are its chip's memory | `memory-write` and `memory-read` |
//!
//! On a computer `disjoint` stands for `random`, and what a core reads from memory, or writes there, alone
//! (`memory-read-each`, `-write-each`) is the speed at which streams beyond its cache move.

use crate::result::{Measurement, Probed};
use crate::shape::of_role;
use crate::{TargetError, written};
use machine::target::{Direction, Store, Transfer};
use machine::{Block, Distances, ElementId, Limit, Machine, Role};
use std::collections::BTreeMap;

/// A machine fitted to measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The machine, with distances and limits as measured.
    pub machine: Machine,
    /// A line for each figure that was fitted, with its source.
    pub notes: Vec<String>,
}

/// Fits `machine` to its measurements.
///
/// # Errors
/// When not all pairs of elements were measured, which distances need.
pub fn fit(machine: &Machine, probed: &Probed) -> Result<Fitted, TargetError> {
    let sets = Sets::of(machine, probed)?;
    let distances = sets.distances()?;
    let mut fit = Fit { machine, sets: &sets, distances: &distances, limits: Vec::new(), notes: Vec::new() };
    fit.notes.push(format!("distances: {} pairs", sets.bandwidths.len()));
    fit.ports();
    fit.ppes();
    fit.buses();
    fit.links();
    let Fit { limits, mut notes, .. } = fit;
    let mut fitted = machine.clone();
    for (element, bytes_per_s) in &sets.overflow {
        if let Some(memory) = fitted.elements[*element].memory.as_mut().filter(|m| !m.hard) {
            memory.overflow_bytes_per_s = Some(*bytes_per_s);
        }
    }
    if fitted.elements.iter().any(|e| e.memory.as_ref().is_some_and(|m| m.overflow_bytes_per_s.is_some())) {
        notes.push("memory beyond the caches: memory-read-each and -write-each".into());
    }
    fitted.description =
        format!("{}; distances and limits measured by cellweave on {}", own(machine), probed.target);
    fitted.measured = true;
    fitted.limits = limits;
    fitted.distances = Some(distances);
    machine::check::check(&fitted).map_err(|e| TargetError::Failed(e.to_string()))?;
    Ok(Fitted { machine: fitted, notes })
}

/// The part of the description that is about the machine itself.
fn own(machine: &Machine) -> &str {
    machine.description.split(';').next().unwrap_or_default()
}

/// Transfers that are larger, or more of them at once.
fn point(m: &Measurement) -> (u32, u32) {
    (m.size_bytes, m.buffers)
}

/// Measured bandwidths (bytes/s) and latencies, by the elements that take part.
struct Sets<'a> {
    machine: &'a Machine,
    /// (reader, source) -> bytes/s of the largest transfers.
    bandwidths: BTreeMap<(ElementId, ElementId), f64>,
    /// (reader, source) -> ns of the smallest transfers.
    latencies: BTreeMap<(ElementId, ElementId), f64>,
    /// Everything with more than one transfer: pattern, transfers, bytes/s.
    patterns: Vec<(&'a str, Vec<Transfer>, f64)>,
    /// Main memory of a chip, all transfers together: pattern, chip, bytes/s.
    memory: Vec<(&'a str, u32, f64)>,
    /// One element alone and the memory of a chip: bytes/s of the larger of what it reads and writes.
    overflow: BTreeMap<ElementId, f64>,
}

impl<'a> Sets<'a> {
    fn of(machine: &'a Machine, probed: &'a Probed) -> Result<Self, TargetError> {
        let mut sets = Self {
            machine,
            bandwidths: BTreeMap::new(),
            latencies: BTreeMap::new(),
            patterns: Vec::new(),
            memory: Vec::new(),
            overflow: BTreeMap::new(),
        };
        let mut best: BTreeMap<(ElementId, ElementId), (u32, u32)> = BTreeMap::new();
        let mut least: BTreeMap<(ElementId, ElementId), (u32, u32)> = BTreeMap::new();
        let mut largest: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
        for m in &probed.measurements {
            let known = largest.entry(&m.pattern).or_default();
            *known = point(m).max(*known);
        }
        for m in &probed.measurements {
            let transfers = written::parse(&m.transfers, machine)?;
            let bytes_per_s = m.bandwidth_gbs.p50 * 1e9;
            let [Transfer { initiator, other: Store::Element(source), direction: Direction::Get }] =
                transfers[..]
            else {
                // A pattern moves the most with its largest transfers.
                if largest.get(m.pattern.as_str()).is_some_and(|l| *l > point(m)) {
                    continue;
                }
                sets.memory(m, &transfers);
                sets.patterns.push((&m.pattern, transfers, bytes_per_s));
                continue;
            };
            let pair = (initiator, source);
            // The largest transfers tell the bandwidth, the smallest the latency; of several, the one with more, or
            // fewer, in flight.
            let large = point(m);
            if best.get(&pair).is_none_or(|known| large > *known) {
                best.insert(pair, large);
                sets.bandwidths.insert(pair, bytes_per_s);
            }
            if least.get(&pair).is_none_or(|known| large < *known) {
                least.insert(pair, large);
                sets.latencies.insert(pair, m.latency_ns.p50);
            }
        }
        Ok(sets)
    }

    fn memory(&mut self, m: &'a Measurement, transfers: &[Transfer]) {
        let mut by_chip: BTreeMap<u32, f64> = BTreeMap::new();
        for (t, each) in transfers.iter().zip(&m.each) {
            if let Store::Memory(chip) = t.other {
                *by_chip.entry(chip).or_default() += each.bandwidth_gbs * 1e9;
            }
        }
        if let ([only], [(_, bytes_per_s)]) = (transfers, by_chip.iter().collect::<Vec<_>>().as_slice()) {
            let known = self.overflow.entry(only.initiator).or_default();
            *known = known.max(**bytes_per_s);
        }
        self.memory
            .extend(by_chip.into_iter().map(|(chip, bytes_per_s)| (m.pattern.as_str(), chip, bytes_per_s)));
    }

    /// The most that a pattern moved to or from the memory of a chip; 0 where it was not measured.
    fn memory_of(&self, name: &str, chip: u32) -> f64 {
        self.memory.iter().filter(|(p, c, _)| *p == name && *c == chip).map(|m| m.2).fold(0.0, f64::max)
    }

    fn distances(&self) -> Result<Distances, TargetError> {
        let n = self.machine.elements.len();
        let name = |e: ElementId| &self.machine.elements[e].name;
        let general = of_role(self.machine, Role::General);
        let memory_side = |e: ElementId| general.contains(&e);
        let mut distances =
            Distances { latency_ns: vec![vec![0.0; n]; n], bandwidth_bytes_per_s: vec![vec![0.0; n]; n] };
        for reader in 0..n {
            for source in (0..n).filter(|&s| s != reader) {
                let pair = (reader, source);
                let (Some(latency), Some(bandwidth)) =
                    (self.latencies.get(&pair), self.bandwidths.get(&pair))
                else {
                    // No program can make the memory of one PPE's chip read from that of another's.
                    if memory_side(reader) && memory_side(source) {
                        continue;
                    }
                    return Err(TargetError::Request(format!(
                        "a machine file needs all pairs of elements, and {} <- {} was not measured: measure the \
                         patterns all-pairs{}",
                        name(reader),
                        name(source),
                        if (0..n).any(memory_side) { " and ppe" } else { "" }
                    )));
                };
                distances.latency_ns[reader][source] = *latency;
                distances.bandwidth_bytes_per_s[reader][source] = *bandwidth;
            }
        }
        Ok(distances)
    }

    /// bytes/s of each set of the pattern that `wanted` likes.
    fn pattern(&self, name: &str, wanted: impl Fn(&[Transfer]) -> bool) -> Vec<f64> {
        (self.patterns.iter())
            .filter(|(p, transfers, _)| *p == name && wanted(transfers))
            .map(|s| s.2)
            .collect()
    }
}

struct Fit<'a> {
    machine: &'a Machine,
    sets: &'a Sets<'a>,
    distances: &'a Distances,
    limits: Vec<Limit>,
    notes: Vec<String>,
}

impl Fit<'_> {
    fn all(&self) -> Vec<ElementId> {
        (0..self.machine.elements.len()).collect()
    }

    fn on(&self, chip: u32) -> Vec<ElementId> {
        self.all().into_iter().filter(|&e| self.machine.elements[e].place.chip == chip).collect()
    }

    fn chips(&self) -> Vec<u32> {
        let mut chips: Vec<u32> = self.machine.elements.iter().map(|e| e.place.chip).collect();
        chips.sort_unstable();
        chips.dedup();
        chips
    }

    fn add(&mut self, name: String, bytes_per_s: f64, pairs: Vec<Block>) {
        if bytes_per_s > 0.0 && pairs.iter().all(|b| !b.from.is_empty() && !b.to.is_empty()) {
            self.limits.push(Limit { name, capacity_bytes_per_s: bytes_per_s, pairs });
        }
    }

    /// What an element takes in and gives out: the most of any pair or pattern in which it alone is the one that is
    /// asked for all of it.
    fn ports(&mut self) {
        let all = self.all();
        let general = of_role(self.machine, Role::General);
        let others = |e: ElementId| all.iter().copied().filter(move |o| *o != e);
        for &e in &all {
            let name = &self.machine.elements[e].name;
            let bandwidth = &self.distances.bandwidth_bytes_per_s;
            let is_reader =
                |ts: &[Transfer]| ts.iter().all(|t| t.initiator == e && t.direction == Direction::Get);
            let is_source = |ts: &[Transfer]| {
                ts.iter().all(|t| t.other == Store::Element(e) && t.direction == Direction::Get)
            };
            let pairs_in = others(e).map(|s| bandwidth[e][s]);
            let pairs_out = others(e).map(|r| bandwidth[r][e]);
            let most = |single: &mut dyn Iterator<Item = f64>, several: Vec<f64>| {
                single.chain(several).fold(0.0, f64::max)
            };
            let input = most(&mut pairs_in.into_iter(), self.sets.pattern("fan-out", is_reader));
            let output = most(&mut pairs_out.into_iter(), self.sets.pattern("fan-in", is_source));
            // The other side of a PPE is its chip's memory: one reader alone does not show what that can give.
            let chip = self.machine.elements[e].place.chip;
            let (input, output) = if general.contains(&e) {
                (
                    input.max(self.sets.memory_of("memory-write", chip)),
                    output.max(self.sets.memory_of("memory-read", chip)),
                )
            } else {
                (input, output)
            };
            let (input_name, output_name) = (format!("input of {name}"), format!("output of {name}"));
            self.add(input_name, input, vec![Block { from: all.clone(), to: vec![e] }]);
            self.add(output_name, output, vec![Block { from: vec![e], to: all.clone() }]);
        }
        let memory = if self.sets.memory.iter().any(|(p, ..)| *p == "memory-read") {
            ", of memory-read and -write for PPEs"
        } else {
            ""
        };
        self.notes.push(format!(
            "input and output of each element: the most of its pairs, of fan-out and fan-in{memory}"
        ));
    }

    fn ppes(&mut self) {
        let (ppes, spes) = (of_role(self.machine, Role::General), of_role(self.machine, Role::Accelerator));
        for &p in &ppes {
            for &s in &spes {
                let name =
                    format!("{} reads {}", self.machine.elements[p].name, self.machine.elements[s].name);
                let bandwidth = self.distances.bandwidth_bytes_per_s[p][s];
                self.add(name, bandwidth, vec![Block { from: vec![s], to: vec![p] }]);
            }
        }
        if !ppes.is_empty() {
            self.notes.push("each PPE reads each SPE: the pair".into());
        }
    }

    fn buses(&mut self) {
        let all = self.all();
        for chip in self.chips() {
            let here = self.on(chip);
            let inside = |ts: &[Transfer]| {
                ts.iter().all(|t| {
                    here.contains(&t.initiator) && matches!(t.other, Store::Element(o) if here.contains(&o))
                })
            };
            let (what, found) = match self.sets.pattern("random", inside) {
                drawn if !drawn.is_empty() => (format!("mean of {} random patterns", drawn.len()), drawn),
                _ => ("disjoint pairs".to_string(), self.sets.pattern("disjoint", inside)),
            };
            if found.is_empty() {
                continue;
            }
            let mean = found.iter().sum::<f64>() / found.len() as f64;
            let pairs = vec![
                Block { from: here.clone(), to: all.clone() },
                Block { from: all.clone(), to: here.clone() },
            ];
            self.add(format!("bus of chip {chip}"), mean, pairs);
            self.notes.push(format!("bus of chip {chip}: {what}"));
        }
    }

    fn links(&mut self) {
        let chips = self.chips();
        let [a, b] = chips[..] else { return };
        let general = of_role(self.machine, Role::General);
        for (reader, source) in [(a, b), (b, a)] {
            let (here, there) = (self.on(reader), self.on(source));
            for &e in here.iter().filter(|&e| !general.contains(e)) {
                let most =
                    there.iter().map(|&s| self.distances.bandwidth_bytes_per_s[e][s]).fold(0.0, f64::max);
                let name = format!("{} reads chip {source}", self.machine.elements[e].name);
                self.add(name, most, vec![Block { from: there.clone(), to: vec![e] }]);
            }
            let reads = |t: &Transfer| here.contains(&t.initiator);
            for found in self.sets.pattern("cross-chip", |ts| ts.iter().all(reads)) {
                let block = Block { from: there.clone(), to: here.clone() };
                self.add(format!("chip {reader} reads chip {source}"), found, vec![block]);
                self.notes.push(format!("chip {reader} reads chip {source}: cross-chip"));
            }
        }
        let (first, second) = (self.on(a), self.on(b));
        let mixed = |ts: &[Transfer]| {
            ts.iter().any(|t| first.contains(&t.initiator))
                && ts.iter().any(|t| second.contains(&t.initiator))
        };
        for found in self.sets.pattern("cross-chip", mixed) {
            let pairs = vec![
                Block { from: first.clone(), to: second.clone() },
                Block { from: second.clone(), to: first.clone() },
            ];
            self.add("between the chips".into(), found, pairs);
            self.notes.push("between the chips: cross-chip, both ways at once".into());
        }
        self.notes.push("what each element reads over the link: the most of its pairs".into());
    }
}
