//! What to measure, and the experiments that this makes: all of them are made, and refused, before any is done.

use crate::exchanges::{ExchangeJob, ExchangePattern};
use crate::patterns::all_at_once::ALL_AT_ONCE_MAX;
use crate::patterns::{Pattern, named, scattered};
use crate::ranges::{Ranges, Size, Sizes};
use crate::targets::Choices;
use crate::{PatternShape, TargetError, workers, written};
use machine::ElementId;
use machine::target::{Experiment, SIZE_BYTES_MAX, Target, Transfer, Walk};
use std::collections::BTreeMap;

/// The most experiments at a time.
pub const JOBS_MAX: usize = 1_000_000;

/// Bytes and transfers in flight that are measured where neither is given: latency, then bandwidth.
const POINTS_DEFAULT: [(u32, u32); 2] = [(16, 1), (16 * 1024, 4)];
/// The curve over sizes and buffers: from this size on, each four times the one before it.
const CURVE_FIRST_BYTES: u32 = 64;
const CURVE_BUFFERS: [u32; 4] = [1, 2, 4, 8];
const SIZE_DEFAULT: u32 = 16 * 1024;
const BUFFERS_DEFAULT: u32 = 4;
/// Bytes and transfers in flight of random pairs where larger ones have no room: nine reads of an SPE have.
const SCATTERED_SMALL: (u32, u32) = (4096, 2);
/// So many times shorter are exact samples of random pairs.
const SCATTERED_SHORTER: u32 = 16;

ground::options! {
    /// What to measure.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ProbeOptions("probe") {
        /// Names, or written out, reader first: `0<-7,7<-0`. By default all pairs, and main memory; on this computer
        /// also transfers at the same time, lines and wake-ups.
        pub patterns: Vec<String> = Vec::new();
        /// Bytes of a transfer: 128, 16k, or a range by doubling: `16..16k`. By default 16k, and 16 for latency.
        pub sizes: Vec<u32> as Sizes = Vec::new(), unit "bytes";
        /// Transfers that an initiator keeps in flight, 1 to 8: 4, or a range: `1..8`. By default 4, and 1 for latency.
        pub buffers: Vec<u32> as Ranges = Vec::new();
        /// How many elements take part: 6, or a range: `1..6`. By default what makes sense for the pattern.
        pub spes: Vec<u32> as Ranges = Vec::new();
        /// Cpus of this computer that take part: `0-7,16`. By default all that this process may use.
        pub cores: Option<String> = None;
        /// Samples until medians are known to 1 %, and sizes from 64 bytes to 16 MB through 1 to 8 buffers: minutes.
        pub thorough: bool = false;
        /// Seed of random patterns.
        pub seed: u64 = 1;
        /// How many random patterns.
        pub draws: usize = 10, in 1..=100_000;
        /// Samples of each experiment; by default until the median is known to 5 %, and 1 where it is simulated.
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
        let sets = self.sets(target)?;
        let scattered_point = self.scattered_point(target, &sets);
        for (name, set) in sets {
            let transfers = written::write(&set, target.machine());
            let scattered = scattered_point.filter(|_| name == scattered::PATTERN.name);
            let points = scattered.map_or_else(|| self.points(&name), |point| vec![point]);
            for (size_bytes, buffers) in points {
                // What is exact needs no long sample, and there are many transfers in one of these.
                let shorter = if scattered.is_some() && target.is_exact() { SCATTERED_SHORTER } else { 1 };
                let repeats = self.repeats.unwrap_or_else(|| (target.repeats(size_bytes) / shorter).max(1));
                let experiment = Experiment {
                    transfers: set.clone(),
                    size_bytes,
                    buffers,
                    repeats,
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

    /// Where no size is given, random pairs move large transfers; smaller ones where an element that reads several
    /// times has no room for them, as an SPE.
    fn scattered_point(&self, target: &dyn Target, sets: &[(String, Vec<Transfer>)]) -> Option<(u32, u32)> {
        if !self.sizes.is_empty() || !self.buffers.is_empty() {
            return None;
        }
        let has_room = |&(size_bytes, buffers): &(u32, u32)| {
            let one = |set: &Vec<Transfer>| Experiment {
                transfers: set.clone(),
                size_bytes,
                buffers,
                repeats: 1,
                compute_ns: 0,
                walk: Walk::Next,
            };
            let mut own = sets.iter().filter(|(name, _)| name == scattered::PATTERN.name);
            own.all(|(_, set)| target.check(&one(set)).is_ok())
        };
        let points = [(SIZE_DEFAULT, BUFFERS_DEFAULT), SCATTERED_SMALL];
        points.iter().copied().find(has_room)
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

    /// Lines, wake-ups and turns, in the order in which they are measured.
    ///
    /// # Errors
    /// When the target has none of them, or too few elements.
    pub fn exchanges(&self, target: &dyn Target) -> Result<Vec<ExchangeJob>, TargetError> {
        let machine = target.machine();
        let here = machine.elements.iter().all(|e| e.os_cpu.is_some()) && !target.is_exact();
        let mut jobs = Vec::new();
        for name in self.patterns_or_default(target) {
            let Some(pattern) = ExchangePattern::named(&name) else { continue };
            if !here {
                return Err(TargetError::Request(format!(
                    "{name}: measured between cpus of this computer only, not on {}",
                    target.describe()
                )));
            }
            for count in self.counts() {
                let shape = PatternShape { machine, count, seed: self.seed, draws: self.draws };
                jobs.extend(pattern.jobs(&shape)?);
            }
        }
        Ok(jobs)
    }

    /// The target that `spec` means once the cpus are chosen.
    ///
    /// # Errors
    /// When cpus are chosen of what is not this computer.
    pub fn spec(&self, spec: &str) -> Result<String, TargetError> {
        match (&self.cores, spec) {
            (None, _) => Ok(spec.into()),
            (Some(cores), "host") => Ok(format!("host:cpus={cores}")),
            (Some(_), _) => Err(TargetError::Request(format!(
                "cores: cpus are chosen of `host`; {spec} says itself which elements it has"
            ))),
        }
    }

    fn counts(&self) -> Vec<Option<usize>> {
        match self.spes.as_slice() {
            [] => vec![None],
            given => given.iter().map(|n| Some(*n as usize)).collect(),
        }
    }

    fn sets(&self, target: &dyn Target) -> Result<Vec<(String, Vec<Transfer>)>, TargetError> {
        let machine = target.machine();
        let mut sets = Vec::new();
        for text in &self.patterns_or_default(target) {
            if ExchangePattern::named(text).is_some() {
                continue;
            }
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
            for count in self.counts() {
                let shape = PatternShape { machine, count, seed: self.seed, draws: self.draws };
                sets.extend((pattern.sets)(&shape)?.into_iter().map(|set| (pattern.name.to_string(), set)));
            }
        }
        Ok(sets)
    }

    fn patterns_or_default(&self, target: &dyn Target) -> Vec<String> {
        if !self.patterns.is_empty() {
            return self.patterns.clone();
        }
        let machine = target.machine();
        let workers = workers(machine);
        let several = workers.len() > 1;
        let here = !target.is_exact() && machine.elements.iter().all(|e| e.os_cpu.is_some());
        // A computer of one cpu has no pairs.
        let mut names = if several { vec!["all-pairs"] } else { Vec::new() };
        names.extend(["memory-read-each", "memory-write-each"]);
        names.extend(here.then_some("memory-copy-each"));
        let has_ppes = workers.len() < machine.elements.len();
        let chip = |w: ElementId| machine.elements[w].place.chip;
        let two_chips = workers.iter().any(|&w| chip(w) != machine.elements[0].place.chip);
        if self.machine_file && several || here && workers.len() > 2 {
            names.extend(["disjoint", "fan-in", "fan-out", "random", "memory-read", "memory-write"]);
        } else if here && several {
            // Of two elements there are no other patterns than the pair and both ways at once.
            names.extend(["memory-read", "memory-write"]);
        }
        names.extend((self.machine_file && several).then_some(scattered::PATTERN.name));
        if (self.machine_file || here) && several {
            names.extend((self.machine_file && has_ppes).then_some("ppe"));
            names.extend(two_chips.then_some("cross-chip"));
        }
        if here {
            names.extend((2..=ALL_AT_ONCE_MAX).contains(&workers.len()).then_some("all-at-once"));
            names.extend(self.thorough.then_some("pair").filter(|_| several));
            names.extend(ExchangePattern::by_default(machine));
        }
        names.iter().map(|n| n.to_string()).collect()
    }

    /// Bytes and transfers in flight. What runs at the same time is there for its bandwidth alone.
    fn points(&self, pattern: &str) -> Vec<(u32, u32)> {
        if self.sizes.is_empty() && self.buffers.is_empty() {
            if self.thorough && self.patterns.is_empty() && pattern == "pair" {
                let sizes = (0..).map(|i| CURVE_FIRST_BYTES << (2 * i)).take_while(|s| *s <= SIZE_BYTES_MAX);
                return sizes.flat_map(|s| CURVE_BUFFERS.map(|b| (s, b))).collect();
            }
            return POINTS_DEFAULT.to_vec();
        }
        let or = |given: &[u32], default: u32| if given.is_empty() { vec![default] } else { given.to_vec() };
        let buffers = or(&self.buffers, BUFFERS_DEFAULT);
        or(&self.sizes, SIZE_DEFAULT).into_iter().flat_map(|s| buffers.iter().map(move |b| (s, *b))).collect()
    }
}
