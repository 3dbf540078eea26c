//! The ring of `ring-mapping`: SPE programs on that paper's message library, under every mapping, ranked.
//!
//! | module | what it does |
//! |---|---|
//! | `library` | the message library: buffers at both ends, a matrix of notifications in main memory, polled by row |
//! | `task` | the benchmark: two packets a task, each sent on around the ring |
//! | [`mapping`] | permutations as the paper writes them |
//! | [`sweep`](mod@sweep) | many mappings, several runs, several threads |
//! | [`ranking`] | what such a list comes to |
//!
//! ```
//! use probe::ring::{self, RingSetup};
//! let options = RingSetup { rounds: 20, ..RingSetup::on("ps3", None, None)? };
//! let straight = ring::run(&ring::mapping::parse("[024531]")?, &options)?;
//! assert_eq!(straight.counts.packets, 6 * 2 * 20);
//! assert!(straight.elapsed_ns > 0.0);
//! # Ok::<(), probe::TargetError>(())
//! ```

mod library;
pub mod mapping;
mod options;
pub mod ranking;
pub mod sweep;
mod task;

pub use library::Counts;
pub use options::RingOptions;
pub use ranking::{Ranking, spearman};
pub use sweep::{RingProgress, Sweep, sweep};

use crate::TargetError;
use ground::Draws;
use library::Seat;
use sim::{Parameters, Simulation};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use task::{RingTask, Way};

/// Tasks start within so many ns of each other: less than one round takes, so that the start states differ and the
/// common start still is one.
pub const START_SPREAD_NS: usize = 1000;
/// Packets of the published runs.
pub const PACKET_BYTES: u32 = 1024;
/// The fewest tasks: with two, both neighbours would be the same one.
pub const TASKS_MIN: usize = 3;
/// The largest packet: one DMA command.
pub const PACKET_BYTES_MAX: u32 = sim::DMA_BYTES_MAX;
/// The most rounds: counters are words.
pub const ROUNDS_MAX: u32 = 1 << 30;
/// Simulated time that a round may take before something must be wrong, in bus cycles: 1 ms.
const ROUND_CYCLES_MAX: u64 = 1_600_000;

/// Which SPE a thread is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RingPlacement {
    /// Thread i is on SPE i.
    Pinned,
    /// Threads are where the seed puts them: other seed, other places; the same ones for all mappings of a run.
    Default,
}

/// What to run.
#[derive(Debug, Clone, PartialEq)]
pub struct RingSetup {
    /// The machine; threads have its first SPEs.
    pub parameters: Parameters,
    /// Tasks of the ring, one to an SPE.
    pub tasks: usize,
    /// Bytes of a packet: a multiple of 16 up to [`PACKET_BYTES_MAX`].
    pub packet_bytes: u32,
    /// Whether packets go both ways around, or one.
    pub bidirectional: bool,
    /// Transmissions of each task in each direction.
    pub rounds: u32,
    /// Of the packets' bytes, the places of the threads and the start state.
    pub seed: u64,
    /// Which SPE a thread is on.
    pub placement: RingPlacement,
    /// Whether thread 0 may execute another task than 0, which only renames the tasks.
    pub any_first: bool,
}

impl RingSetup {
    /// The published experiment on a simulated machine: all SPEs of its first chip, packets of 1 kB both ways, threads
    /// pinned. The machine's default rule set and hidden SPEs where none are given.
    ///
    /// # Errors
    /// Names the machine, rule set or SPE that there is not.
    pub fn on(machine: &str, rules: Option<&str>, hidden: Option<&[usize]>) -> Result<Self, TargetError> {
        let parameters = sim::target::parameters(machine, rules, hidden)?;
        Ok(Self {
            tasks: parameters.spes() / parameters.chips,
            parameters,
            packet_bytes: PACKET_BYTES,
            bidirectional: true,
            rounds: 500,
            seed: 1,
            placement: RingPlacement::Pinned,
            any_first: false,
        })
    }

    /// Refuses what cannot be run.
    ///
    /// # Errors
    /// Names the option and what is allowed.
    pub fn check(&self) -> Result<(), TargetError> {
        let refuse = |message: String| Err(TargetError::Request(message));
        self.parameters.check().map_err(|e| TargetError::Request(e.to_string()))?;
        let (machine, spes) = (&self.parameters.name, self.parameters.spes());
        if self.tasks < TASKS_MIN || self.tasks > spes {
            return refuse(format!(
                "a ring of {} tasks on {machine}; allowed: {TASKS_MIN} to {spes}, one to an SPE",
                self.tasks
            ));
        }
        let bytes = self.packet_bytes;
        if bytes == 0 || !bytes.is_multiple_of(16) || bytes > PACKET_BYTES_MAX {
            return refuse(format!(
                "packets of {bytes} bytes; allowed: multiples of 16 up to {PACKET_BYTES_MAX}, one DMA command"
            ));
        }
        if self.rounds == 0 || self.rounds > ROUNDS_MAX {
            return refuse(format!("{} rounds; allowed: 1 to {ROUNDS_MAX}", self.rounds));
        }
        Ok(())
    }

    /// The SPE of each thread.
    pub fn places(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.tasks).collect();
        if self.placement == RingPlacement::Default {
            Draws::new(self.seed).shuffle(&mut places);
        }
        places
    }
}

/// The result of one mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct RingRun {
    /// Simulated time from the common start until the last task is done, ns.
    pub elapsed_ns: f64,
    /// The message library's counts, all tasks together.
    pub counts: Counts,
    /// Packets of up to 128 bytes that all rings of the bus carried.
    pub bus_packets: u64,
    /// A digest of everything that happened, and when.
    pub hash: u64,
}

/// Runs the ring under a mapping: thread i executes task `mapping[i]`.
///
/// # Errors
/// What [`RingSetup::check`] and [`mapping::check`] refuse; what ended the simulation early.
pub fn run(mapping: &[usize], options: &RingSetup) -> Result<RingRun, TargetError> {
    options.check()?;
    mapping::check(mapping, options.tasks, options.any_first)?;
    run_on(&mapping::spes(mapping, &options.places()), options)
}

/// Runs the ring with task i on SPE `spes[i]`, whatever [`placement`](RingSetup::placement) says.
///
/// # Errors
/// As [`run`]; also when two tasks are on one SPE, or one is on none.
pub fn run_on(spes: &[usize], options: &RingSetup) -> Result<RingRun, TargetError> {
    run_until(spes, options, Arc::new(|| true))
}

/// [`run_on`] while `beat` says to go on.
fn run_until(
    spes: &[usize],
    options: &RingSetup,
    beat: Arc<dyn Fn() -> bool + Send + Sync>,
) -> Result<RingRun, TargetError> {
    options.check()?;
    check_spes(spes, options)?;
    let failed = |e: sim::SimError| TargetError::Failed(format!("ring {}: {e}", mapping::text(spes)));
    let ways: &[Way] = if options.bidirectional { &[Way::Up, Way::Down] } else { &[Way::Up] };
    let tasks = options.tasks;
    let mut draws = Draws::new(start_state(spes, options.seed));
    let mut byte = || draws.below(256) as u8;
    let mut packet = |_| (0..options.packet_bytes).map(|_| byte()).collect::<Vec<u8>>();
    let packets = Rc::new((0..tasks * ways.len()).map(&mut packet).collect::<Vec<_>>());
    let counts = Rc::new(RefCell::new(Counts::default()));
    let mut simulation = Simulation::new(options.parameters.clone()).map_err(failed)?;
    simulation.stop_after(ROUND_CYCLES_MAX.saturating_mul(u64::from(options.rounds) + 1));
    let matrix = simulation.allocate(0, library::matrix_bytes(tasks), 128).map_err(failed)?;
    for task in 0..tasks {
        let program = RingTask {
            seat: Seat { task, tasks, matrix, spes: spes.to_vec() },
            packet_bytes: options.packet_bytes,
            rounds: options.rounds,
            ways,
            delay_ns: draws.below(START_SPREAD_NS) as u64,
            packets: packets.clone(),
            counts: counts.clone(),
            beat: beat.clone(),
        };
        simulation.spe(spes[task], format!("task {task}"), move |spe| program.run(spe)).map_err(failed)?;
    }
    let outcome = simulation.run().map_err(failed)?;
    let counts = *counts.borrow();
    Ok(RingRun {
        elapsed_ns: outcome.elapsed_ns(),
        counts,
        bus_packets: outcome.counters.packets(),
        hash: outcome.hash,
    })
}

fn check_spes(spes: &[usize], options: &RingSetup) -> Result<(), TargetError> {
    let most = options.parameters.spes();
    let twice = (1..spes.len()).find(|&i| spes[..i].contains(&spes[i]));
    let wrong = if spes.len() != options.tasks {
        format!("{} SPEs for {} tasks", spes.len(), options.tasks)
    } else if let Some(spe) = spes.iter().find(|&&spe| spe >= most) {
        format!("no SPE{spe} on {}; there are SPE0 to SPE{}", options.parameters.name, most - 1)
    } else if let Some(i) = twice {
        format!("SPE{} has two tasks; one task to an SPE", spes[i])
    } else {
        return Ok(());
    };
    Err(TargetError::Request(format!("tasks on SPEs {}: {wrong}", mapping::text(spes))))
}

/// A seed of its own for every mapping of a run, whichever thread runs it and in whatever order.
fn start_state(spes: &[usize], seed: u64) -> u64 {
    spes.iter()
        .fold(seed, |state, &spe| (state.rotate_left(7) ^ spe as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests;
