//! Puts the ranks' programs on the machine and runs it.

use crate::board::Board;
use crate::calls::Callers;
use crate::costs::RankCosts;
use crate::places::{DataMemory, RankMemory};
use crate::program::{self, Protocol, RankSteps};
use crate::start;
use sim::{Parameters, SimError, Simulation};
use std::cell::RefCell;
use std::rc::Rc;

/// How ranks are simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct RanksOptions {
    /// What the protocol's own code costs.
    pub costs: RankCosts,
    /// Messages of more bytes are synchronous; 2 kB in `buffered-mpi` 4.
    pub buffered_bytes: u64,
    /// The SPE of each rank, all different; nothing: rank r is on SPE r.
    pub spes: Option<Vec<usize>>,
    /// In whose main memory their data is.
    pub memory: DataMemory,
    /// The application's data lies in local stores, not in main memory.
    pub local_data: bool,
    /// Whether to record what units and ranks do.
    pub trace: bool,
}

impl Default for RanksOptions {
    fn default() -> Self {
        Self {
            costs: RankCosts::default(),
            buffered_bytes: 2048,
            spes: None,
            memory: DataMemory::default(),
            local_data: false,
            trace: false,
        }
    }
}

/// What became of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankTimes {
    /// When it ended.
    pub ended_ps: u64,
    /// How long it computed, of what it declared.
    pub computed_ps: u64,
}

/// A job that was simulated.
#[derive(Debug)]
pub struct RanksOutcome {
    /// What the machine counted.
    pub simulated: sim::Simulated,
    /// Rank by rank.
    pub ranks: Vec<RankTimes>,
}

/// Why ranks could not be simulated to their end.
#[derive(Debug, thiserror::Error)]
pub enum RanksError {
    /// More ranks than SPEs.
    #[error("{ranks} ranks: {machine} has {spes} SPEs, one for each rank; allowed are 1 to {spes}")]
    TooMany {
        /// As asked for.
        ranks: usize,
        /// The machine's name.
        machine: String,
        /// What it has.
        spes: usize,
    },
    /// Every rank waits, and nothing is on its way.
    #[error("at {:.3} us every rank waits, and nothing is on its way", *.at_ps as f64 / 1e6)]
    Deadlock {
        /// When.
        at_ps: u64,
        /// The ranks that wait.
        waiting: Vec<usize>,
    },
    /// The simulator ended it.
    #[error(transparent)]
    Simulated(#[from] SimError),
}

/// Whether a machine has an SPE for each rank.
///
/// # Errors
/// [`RanksError::TooMany`].
pub fn fits(parameters: &Parameters, ranks: usize) -> Result<(), RanksError> {
    let spes = parameters.spes();
    if (1..=spes).contains(&ranks) {
        return Ok(());
    }
    Err(RanksError::TooMany { ranks, machine: parameters.name.clone(), spes })
}

/// Operations of double precision that an SPE does in a ns. The first Cell does two every seven cycles of 3.2 GHz twice
/// over (14.64 Gflops of eight SPEs, `buffered-mpi`, abstract); the PowerXCell 8i of a QS22 starts two multiply-adds
/// each cycle (12.8 Gflops of an SPE, IBM's "PowerXCell 8i processor" product brief).
fn flops_per_ns(parameters: &Parameters) -> f64 {
    if parameters.name == "qs22" { 12.8 } else { 14.64 / 8.0 }
}

/// SPU cycles between two operations of double precision on a quadword: seven on the first Cell, one on the
/// PowerXCell 8i, from the same sources.
fn double_cycles(parameters: &Parameters) -> u64 {
    if parameters.name == "qs22" { 1 } else { 7 }
}

/// Runs ranks until all of them have ended.
///
/// # Errors
/// [`RanksError`]. The ranks that wait in a deadlock have been told of it.
pub fn simulate(
    parameters: Parameters,
    ranks: usize,
    callers: Rc<dyn Callers>,
    options: &RanksOptions,
) -> Result<RanksOutcome, RanksError> {
    fits(&parameters, ranks)?;
    let mut cell = Simulation::new(parameters)?;
    cell.detect_races(cfg!(debug_assertions));
    cell.trace(options.trace);
    let spes = options.spes.clone().unwrap_or_else(|| (0..ranks).collect());
    let mut memory = Vec::new();
    for place in spes.iter().copied().enumerate() {
        memory.push(RankMemory::take(&mut cell, place, options.memory, options.buffered_bytes)?);
    }
    start::begin(&mut cell, &spes)?;
    let protocol = Rc::new(Protocol {
        callers,
        board: RefCell::new(Board::new(ranks)),
        memory,
        spes: spes.clone(),
        costs: options.costs,
        buffered_bytes: options.buffered_bytes,
        local_data: options.local_data,
        timebase_hz: cell.parameters().timebase_hz,
        flops_per_ns: flops_per_ns(cell.parameters()),
        double_cycles: double_cycles(cell.parameters()),
        steps: options.trace.then(|| RefCell::new(RankSteps::new(ranks))),
        ended: RefCell::new(vec![(0, 0); ranks]),
    });
    for (rank, &spe) in spes.iter().enumerate() {
        let protocol = protocol.clone();
        cell.spe(spe, format!("rank {rank}"), move |spe| program::program(spe, &protocol, rank))?;
    }
    let simulated = cell.run();
    let board = protocol.board.borrow();
    if board.deadlock {
        let at_ps = simulated.as_ref().map_or(0, |done| done.cycles * sim::CYCLE_PS);
        return Err(RanksError::Deadlock { at_ps, waiting: board.running().collect() });
    }
    let times = |&(ended_ps, computed_ps): &(u64, u64)| RankTimes { ended_ps, computed_ps };
    let mut simulated = simulated?;
    if let (Some(trace), Some(steps)) = (&mut simulated.trace, &protocol.steps) {
        steps.replace(RankSteps::new(0)).add_to(trace);
    }
    Ok(RanksOutcome { simulated, ranks: protocol.ended.borrow().iter().map(times).collect() })
}
