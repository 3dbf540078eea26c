//! What to measure, and the experiments that this makes: all of them are made, and refused, before any is done.

use crate::patterns::{Pattern, named};
use crate::ranges::{Ranges, Size, Sizes};
use crate::targets::Choices;
use crate::{PatternShape, TargetError, workers, written};
use machine::Machine;
use machine::target::{Experiment, Target, Transfer, Walk};
use std::collections::BTreeMap;

/// The most experiments at a time.
pub const JOBS_MAX: usize = 1_000_000;
/// Samples on a target that is not exact, where it is not said how many.
const SAMPLES_DEFAULT: u32 = 30;
/// Fewer, where there are more than this many to take: all pairs of a large machine should not take minutes.
const SAMPLES_TOGETHER: usize = 60_000;
const SAMPLES_LEAST: u32 = 5;

/// Bytes and transfers in flight that are measured where neither is given: latency, then bandwidth.
const POINTS_DEFAULT: [(u32, u32); 2] = [(16, 1), (16 * 1024, 4)];
const SIZE_DEFAULT: u32 = 16 * 1024;
const BUFFERS_DEFAULT: u32 = 4;

ground::options! {
    /// What to measure.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ProbeOptions("probe") {
        /// Names, or written out, reader first: `0<-7,7<-0`. By default all pairs, and main memory.
        pub patterns: Vec<String> = Vec::new();
        /// Bytes of a transfer: 128, 16k, or a range by doubling: `16..16k`. By default 16k, and 16 for latency.
        pub sizes: Vec<u32> as Sizes = Vec::new(), unit "bytes";
        /// Transfers that an initiator keeps in flight, 1 to 8: 4, or a range: `1..8`. By default 4, and 1 for latency.
        pub buffers: Vec<u32> as Ranges = Vec::new();
        /// How many elements take part: 6, or a range: `1..6`. By default what makes sense for the pattern.
        pub spes: Vec<u32> as Ranges = Vec::new();
        /// Seed of random patterns.
        pub seed: u64 = 1;
        /// How many random patterns.
        pub draws: usize = 10, in 1..=100_000;
        /// Samples of each experiment; by default 30 (fewer where there are many), and 1 where it is simulated.
        pub samples: Option<u32> = None, in 1..=1_000_000;
        /// How often each transfer is done in a sample; by default chosen.
        pub repeats: Option<u32> = None, in 1..=1_048_576;
        /// Time of computing on each transfer once it is complete.
        pub compute_ns: u64 = 0, in 0..=1_000_000_000, unit "ns";
        /// The rule set of the simulated bus's arbiter.
        pub rules: Option<String> = None;
        /// Physical SPEs of the simulated machine that programs do not get.
        pub hidden: Option<Vec<usize>> = None, in 0..=7;
        /// Numbers of the simulated machine by name, such as `memory.bank`.
        pub parameters: BTreeMap<String, u64> = BTreeMap::new();
        /// Bytes in main memory from one transfer to the next, a multiple of 128; by default they are next to each
        /// other. On a Cell `2k` is the same bank of memory every time, `64k` a new page.
        pub stride: Option<u32> as Option<Size> = None;
        /// Main memory is in the cache of the simulated PPE.
        pub cached: bool = false;
        /// Also fit a machine to what was measured; without patterns, measure all that it needs.
        pub machine_file: bool = false;
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
        self.check().map_err(|e| TargetError::Request(e.to_string()))?;
        let walk = self.walk()?;
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
                    walk,
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

    /// What is chosen about a simulated target.
    pub fn choices(&self) -> Choices {
        Choices {
            rules: self.rules.clone(),
            hidden: self.hidden.clone(),
            parameters: self.parameters.iter().map(|(name, value)| (name.clone(), *value)).collect(),
        }
    }

    /// How repeats go through main memory.
    fn walk(&self) -> Result<Walk, TargetError> {
        match (self.stride, self.cached) {
            (Some(_), true) => Err(TargetError::Request(
                "cached: memory in a PPE's cache is walked without a stride; give one of the two".into(),
            )),
            (Some(bytes), false) => Ok(Walk::Stride(bytes)),
            (None, true) => Ok(Walk::Cached),
            (None, false) => Ok(Walk::Next),
        }
    }

    /// How many samples are taken of each of `jobs` experiments.
    pub fn samples(&self, jobs: usize) -> u32 {
        let fitting = u32::try_from(SAMPLES_TOGETHER / jobs.max(1)).unwrap_or(SAMPLES_DEFAULT);
        self.samples.unwrap_or_else(|| fitting.clamp(SAMPLES_LEAST, SAMPLES_DEFAULT))
    }

    fn sets(&self, target: &dyn Target) -> Result<Vec<(String, Vec<Transfer>)>, TargetError> {
        let machine = target.machine();
        let counts: Vec<Option<usize>> = if self.spes.is_empty() {
            vec![None]
        } else {
            self.spes.iter().map(|n| Some(*n as usize)).collect()
        };
        let mut sets = Vec::new();
        for text in &self.patterns_or_default(machine) {
            if written::is_written(text) {
                if !self.spes.is_empty() {
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
