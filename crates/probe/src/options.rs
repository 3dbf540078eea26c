//! What to measure, and the experiments that this makes: all of them are made, and refused, before any is done.

use crate::patterns::{Pattern, named};
use crate::{PatternShape, TargetError, workers, written};
use machine::Machine;
use machine::target::{Experiment, Target, Transfer, Walk};

/// Seed of random patterns where none is given.
pub const SEED_DEFAULT: u64 = 1;
/// Random patterns that are drawn where it is not said how many.
pub const DRAWS_DEFAULT: usize = 10;
/// The most that may be drawn.
pub const DRAWS_MAX: usize = 100_000;
/// The most experiments at a time.
pub const JOBS_MAX: usize = 1_000_000;
/// The most samples of one experiment.
pub const SAMPLES_MAX: u32 = 1_000_000;
/// Samples on a target that is not exact, where it is not said how many.
const SAMPLES_DEFAULT: u32 = 30;
/// Fewer, where there are more than this many to take: all pairs of a large machine should not take minutes.
const SAMPLES_TOGETHER: usize = 60_000;
const SAMPLES_LEAST: u32 = 5;

/// Bytes and transfers in flight that are measured where neither is given: latency, then bandwidth.
const POINTS_DEFAULT: [(u32, u32); 2] = [(16, 1), (16 * 1024, 4)];
const SIZE_DEFAULT: u32 = 16 * 1024;
const BUFFERS_DEFAULT: u32 = 4;

/// What to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeOptions {
    /// Names, or written out (`0<-7,7<-0`); empty: all pairs, and main memory.
    pub patterns: Vec<String>,
    /// Bytes of a transfer; empty: 16 kB, and 16 bytes for latency when `buffers` is empty too.
    pub sizes: Vec<u32>,
    /// Transfers in flight; empty: 4, and 1 for latency.
    pub buffers: Vec<u32>,
    /// Elements that take part; empty: what makes sense for the pattern.
    pub counts: Vec<usize>,
    /// Of random patterns.
    pub seed: u64,
    /// How many random patterns.
    pub draws: usize,
    /// Samples of each experiment; `None`: 30, and 1 on a target that is exact.
    pub samples: Option<u32>,
    /// How often each transfer is done in a sample; `None`: the target decides.
    pub repeats: Option<u32>,
    /// ns of computing on each transfer once it is complete.
    pub compute_ns: u64,
    /// How repeats go through main memory.
    pub walk: Walk,
    /// Whether a machine file is wanted: with no patterns named, everything that its limits are fitted to is measured.
    pub machine_file: bool,
}

impl Default for ProbeOptions {
    fn default() -> Self {
        Self {
            patterns: Vec::new(),
            sizes: Vec::new(),
            buffers: Vec::new(),
            counts: Vec::new(),
            seed: SEED_DEFAULT,
            draws: DRAWS_DEFAULT,
            samples: None,
            repeats: None,
            compute_ns: 0,
            walk: Walk::Next,
            machine_file: false,
        }
    }
}

/// One experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeJob {
    /// The pattern's name, or `written`.
    pub pattern: String,
    /// The transfers, written out.
    pub transfers: String,
    /// What to do.
    pub experiment: Experiment,
}

/// The name of patterns that are written out.
pub const WRITTEN: &str = "written";

impl ProbeOptions {
    /// The experiments, in the order in which they are done: pattern by pattern, then by count, size and buffers.
    ///
    /// # Errors
    /// The first thing that is wrong with any of them.
    pub fn jobs(&self, target: &dyn Target) -> Result<Vec<ProbeJob>, TargetError> {
        let range = |what: &str, value: u64, most: u64| {
            if (1..=most).contains(&value) {
                return Ok(());
            }
            Err(TargetError::Request(format!("{what}: {value} is not a number from 1 to {most}")))
        };
        range("draws", self.draws as u64, DRAWS_MAX as u64)?;
        range("samples", u64::from(self.samples.unwrap_or(1)), u64::from(SAMPLES_MAX))?;
        let mut jobs = Vec::new();
        for (name, set) in self.sets(target)? {
            let transfers = written::write(&set, target.machine());
            for (size_bytes, buffers) in self.points() {
                let experiment = Experiment {
                    transfers: set.clone(),
                    size_bytes,
                    buffers,
                    repeats: self.repeats.unwrap_or_else(|| target.repeats(size_bytes)),
                    compute_ns: self.compute_ns,
                    walk: self.walk,
                };
                target.check(&experiment)?;
                if jobs.len() == JOBS_MAX {
                    return Err(TargetError::Request(format!(
                        "more than {JOBS_MAX} experiments: measure fewer patterns, sizes or buffers at a time"
                    )));
                }
                jobs.push(ProbeJob { pattern: name.clone(), transfers: transfers.clone(), experiment });
            }
        }
        Ok(jobs)
    }

    /// How many samples are taken of each of `jobs` experiments.
    pub fn samples(&self, jobs: usize) -> u32 {
        let fitting = u32::try_from(SAMPLES_TOGETHER / jobs.max(1)).unwrap_or(SAMPLES_DEFAULT);
        self.samples.unwrap_or_else(|| fitting.clamp(SAMPLES_LEAST, SAMPLES_DEFAULT))
    }

    fn sets(&self, target: &dyn Target) -> Result<Vec<(String, Vec<Transfer>)>, TargetError> {
        let machine = target.machine();
        let counts: Vec<Option<usize>> =
            if self.counts.is_empty() { vec![None] } else { self.counts.iter().map(|c| Some(*c)).collect() };
        let mut sets = Vec::new();
        for text in &self.patterns_or_default(machine) {
            if written::is_written(text) {
                if !self.counts.is_empty() {
                    return Err(TargetError::Request(format!(
                        "spes: {text} says itself who takes part; a count is for patterns with a name"
                    )));
                }
                sets.push((WRITTEN.to_string(), written::parse(text, machine)?));
                continue;
            }
            let pattern: Pattern = named(text)?;
            for &count in &counts {
                let shape = PatternShape { machine, count, seed: self.seed, draws: self.draws };
                sets.extend((pattern.sets)(&shape)?.into_iter().map(|set| (pattern.name.to_string(), set)));
            }
        }
        Ok(sets)
    }

    fn patterns_or_default(&self, machine: &Machine) -> Vec<String> {
        if !self.patterns.is_empty() {
            return self.patterns.clone();
        }
        let workers = workers(machine);
        // A computer of one cpu has no pairs.
        let mut names = if workers.len() > 1 { vec!["all-pairs"] } else { Vec::new() };
        names.extend(["memory-read-each", "memory-write-each"]);
        let has_ppes = workers.len() < machine.elements.len();
        let two_chips =
            workers.iter().any(|&w| machine.elements[w].place.chip != machine.elements[0].place.chip);
        if self.machine_file && workers.len() > 1 {
            names.extend(["disjoint", "fan-in", "fan-out", "random", "memory-read", "memory-write"]);
            names.extend(has_ppes.then_some("ppe"));
            names.extend(two_chips.then_some("cross-chip"));
        }
        names.iter().map(|n| n.to_string()).collect()
    }

    fn points(&self) -> Vec<(u32, u32)> {
        if self.sizes.is_empty() && self.buffers.is_empty() {
            return POINTS_DEFAULT.to_vec();
        }
        let or = |given: &[u32], default: u32| if given.is_empty() { vec![default] } else { given.to_vec() };
        let buffers = or(&self.buffers, BUFFERS_DEFAULT);
        or(&self.sizes, SIZE_DEFAULT).into_iter().flat_map(|s| buffers.iter().map(move |b| (s, *b))).collect()
    }
}
