//! The measurements that a fit reads, by the elements that take part.

use crate::result::{Measurement, Probed};
use crate::shape::of_role;
use crate::{TargetError, written};
use ground::quantile;
use machine::target::{Direction, Store, Transfer};
use machine::{Distances, ElementId, Machine, Role};
use std::collections::BTreeMap;

/// Transfers that are larger, or more of them at once.
fn point(m: &Measurement) -> (u32, u32) {
    (m.size_bytes, m.buffers)
}

/// Measured bandwidths (bytes/s) and latencies, by the elements that take part.
pub(super) struct Sets<'a> {
    pub machine: &'a Machine,
    /// (reader, source) -> bytes/s of the largest transfers.
    pub bandwidths: BTreeMap<(ElementId, ElementId), f64>,
    /// (reader, source) -> ns of the smallest transfers.
    pub latencies: BTreeMap<(ElementId, ElementId), f64>,
    /// Everything with more than one transfer: pattern, transfers, bytes/s as the computer was when its pairs were
    /// measured.
    pub patterns: Vec<(&'a str, Vec<Transfer>, f64)>,
    /// Main memory of a chip, all transfers together: pattern, chip, bytes/s.
    pub memory: Vec<(&'a str, u32, f64)>,
    /// One element alone and the memory of a chip: bytes/s of the larger of what it reads and writes.
    pub overflow: BTreeMap<ElementId, f64>,
}

impl<'a> Sets<'a> {
    pub(super) fn of(machine: &'a Machine, probed: &'a Probed) -> Result<Self, TargetError> {
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
        let mut beside: Vec<Option<f64>> = Vec::new();
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
                beside.push(m.alone_gbs.filter(|_| !probed.exact).map(|gbs| gbs * 1e9));
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
        // A computer's state changes within seconds, and what its pairs moved is of other moments than a pattern: what
        // counts of the pattern is how it did beside its own transfers alone.
        for ((_, transfers, bytes_per_s), beside) in sets.patterns.iter_mut().zip(beside) {
            let ns = |t: &Transfer| match (t.other, t.direction) {
                (Store::Element(source), Direction::Get) => {
                    Some(1.0 / sets.bandwidths.get(&(t.initiator, source))?)
                }
                _ => None,
            };
            let alone = transfers.iter().map(ns).sum::<Option<f64>>().map(|ns| transfers.len() as f64 / ns);
            if let (Some(then), Some(beside)) = (alone, beside) {
                *bytes_per_s *= then / beside;
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
    pub(super) fn memory_of(&self, name: &str, chip: u32) -> f64 {
        self.memory.iter().filter(|(p, c, _)| *p == name && *c == chip).map(|m| m.2).fold(0.0, f64::max)
    }

    pub(super) fn distances(&self) -> Result<Distances, TargetError> {
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

    /// Each set of the pattern that `wanted` likes, and its bytes/s.
    pub(super) fn several(
        &self,
        name: &str,
        wanted: impl Fn(&[Transfer]) -> bool,
    ) -> impl Iterator<Item = (&[Transfer], f64)> {
        let own = self.patterns.iter().filter(move |(p, transfers, _)| *p == name && wanted(transfers));
        own.map(|(_, transfers, bytes_per_s)| (transfers.as_slice(), *bytes_per_s))
    }
}

/// The middle of some values; 0 without any.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5)
}
