//! Mappings that are run or simulated, one at a time: what a floor above does, and the search by it.

use crate::Searched;
use ground::{Draws, Located, quantile};
use std::collections::BTreeMap;

/// Runs or simulates traffic under a mapping.
pub trait Judge {
    /// How long the traffic takes, in ns; without a mapping, wherever the kernel puts the parts.
    ///
    /// # Errors
    /// The mapping cannot be run: a cpu that is not granted, a simulation that fails.
    fn time_ns(&mut self, mapping: Option<&[usize]>) -> Result<f64, Located>;
}

/// How to search by a judge.
#[derive(Debug, Clone, PartialEq)]
pub struct Judging {
    /// Seats that there are.
    pub seats: usize,
    /// Mappings to begin with, the identity among them.
    pub starts: Vec<Vec<usize>>,
    /// The most mappings that are judged.
    pub runs: u64,
    /// Of the draws.
    pub seed: u64,
}

/// The part of the runs that goes to mappings drawn at random, which tell how much mappings differ.
const DRAWN: f64 = 0.25;

/// Searches for the mapping that takes least, by a judge whose answer is always the same: judges the starts, then
/// mappings drawn at random, then swaps of two parts of the best. `progress` is told the part that is done; when it
/// says false, the search ends with the best so far.
///
/// # Errors
/// As the judge's.
pub fn judged(
    judge: &mut dyn Judge,
    judging: &Judging,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<Searched, Located> {
    let Some(parts) = judging.starts.first().map(Vec::len) else {
        return Err(Located::new("no mapping to begin with"));
    };
    let mut known =
        Known { judge, progress, runs: judging.runs.max(1), times: BTreeMap::new(), stopped: false };
    for start in &judging.starts {
        known.time(start)?;
    }
    let mut draws = Draws::new(judging.seed);
    let mut order: Vec<usize> = (0..judging.seats).collect();
    let mut drawn = Vec::new();
    let wanted = (judging.runs as f64 * DRAWN).ceil() as usize;
    // Few mappings may all be known before as many as wanted were new.
    for _ in 0..wanted {
        draws.shuffle(&mut order);
        drawn.extend(known.time(&order[..parts])?);
    }
    let (mut best, mut least) = known.best();
    // Swaps in an order drawn anew whenever one has helped, until none of them does.
    'better: loop {
        let mut order = best.clone();
        order.extend((0..judging.seats).filter(|seat| !best.contains(seat)));
        let mut pairs: Vec<(usize, usize)> =
            (0..parts).flat_map(|a| (a + 1..judging.seats).map(move |b| (a, b))).collect();
        draws.shuffle(&mut pairs);
        for (a, b) in pairs {
            order.swap(a, b);
            let time = known.time(&order[..parts])?;
            if time.is_some_and(|time| time < least) {
                (best, least) = known.best();
                continue 'better;
            }
            order.swap(a, b);
            if known.is_done() {
                break 'better;
            }
        }
        break;
    }
    drawn.sort_by(f64::total_cmp);
    let all: Vec<f64> = known.times.values().copied().collect();
    let sample = if drawn.is_empty() { &all } else { &drawn };
    let worst =
        known.times.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(mapping, time)| (mapping.clone(), *time));
    let distribution: Vec<f64> = (0..=100).map(|i| quantile(sample, f64::from(i) / 100.0)).collect();
    let distinct = (0..parts).map(|i| (judging.seats - i) as f64).product();
    let whole = known.times.len() as f64 >= distinct;
    Ok(Searched {
        mapping: best,
        cost: least,
        worst: worst.unwrap_or_default(),
        median: distribution[50],
        distribution,
        evaluated: known.times.len() as u64,
        whole,
        bound: if whole { least } else { 0.0 },
        method: if whole { "exhaustive" } else { "swaps" },
        distinct,
    })
}

/// Mappings that were judged, with their times.
struct Known<'a> {
    judge: &'a mut dyn Judge,
    progress: &'a mut dyn FnMut(f64) -> bool,
    runs: u64,
    times: BTreeMap<Vec<usize>, f64>,
    stopped: bool,
}

impl Known<'_> {
    /// The time of a mapping; nothing when no run is left for it.
    fn time(&mut self, mapping: &[usize]) -> Result<Option<f64>, Located> {
        if let Some(&time) = self.times.get(mapping) {
            return Ok(Some(time));
        }
        // One run at least: without any there is no answer.
        if self.is_done() && !self.times.is_empty() {
            return Ok(None);
        }
        let time = self.judge.time_ns(Some(mapping))?;
        self.times.insert(mapping.to_vec(), time);
        self.stopped |= !(self.progress)(self.times.len() as f64 / self.runs as f64);
        Ok(Some(time))
    }

    fn is_done(&self) -> bool {
        self.stopped || self.times.len() as u64 >= self.runs
    }

    fn best(&self) -> (Vec<usize>, f64) {
        let best = self.times.iter().min_by(|a, b| a.1.total_cmp(b.1));
        best.map(|(mapping, time)| (mapping.clone(), *time)).unwrap_or_default()
    }
}
