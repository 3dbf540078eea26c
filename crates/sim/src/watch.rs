//! A look at a running simulation from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

/// No unit yet.
const NOBODY: u32 = u32::MAX;

/// A look at a running simulation, for another thread: how far it is, whose program runs, and a way to end it.
///
/// ```
/// use sim::{SimError, Parameters, Simulation};
/// let mut cell = Simulation::new(Parameters::named("cell").unwrap())?;
/// cell.spe(0, "endless", |spe| loop { spe.compute(1000) })?;
/// let watch = cell.watch();
/// let other = std::thread::spawn(move || {
///     while watch.cycle() < 100_000 {
///         std::thread::yield_now();
///     }
///     watch.stop();
/// });
/// assert!(matches!(cell.run(), Err(SimError::Stopped { .. })));
/// other.join().unwrap();
/// # Ok::<(), SimError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SimWatch(Arc<WatchState>);

/// A program's turn: from an answer of the machine to the program's next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimTurn {
    /// Whose turn (SPEs first, then PPEs).
    pub unit: usize,
    /// A number that no other turn of this simulation has.
    number: u64,
}

#[derive(Debug)]
struct WatchState {
    cycle: AtomicU64,
    unit: AtomicU32,
    /// Counts when a program's turn begins and when it ends: odd while a program runs.
    turns: AtomicU64,
    stop: AtomicBool,
}

impl SimWatch {
    pub(crate) fn new() -> Self {
        Self(Arc::new(WatchState {
            cycle: AtomicU64::new(0),
            unit: AtomicU32::new(NOBODY),
            turns: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        }))
    }

    /// The bus cycle that was being worked on a moment ago.
    pub fn cycle(&self) -> u64 {
        self.0.cycle.load(Relaxed)
    }

    /// Whose program ran last (SPEs first, then PPEs).
    pub fn unit(&self) -> Option<usize> {
        let unit = self.0.unit.load(Relaxed);
        (unit != NOBODY).then_some(unit as usize)
    }

    /// The turn of a program that is on now; none while the machine itself works. A turn that lasts for seconds is a
    /// loop that never yields.
    pub fn turn(&self) -> Option<SimTurn> {
        let number = self.0.turns.load(Relaxed);
        (number % 2 == 1).then(|| SimTurn { unit: self.0.unit.load(Relaxed) as usize, number })
    }

    /// Ends the simulation with [`SimError::Stopped`](crate::SimError::Stopped) as soon as it looks, every thousand
    /// events or so; a program that neither yields nor uses its local store cannot be ended.
    pub fn stop(&self) {
        self.0.stop.store(true, Relaxed);
    }

    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        self.0.stop.load(Relaxed)
    }

    #[inline]
    pub(crate) fn is_at(&self, cycle: u64) {
        self.0.cycle.store(cycle, Relaxed);
    }

    /// A program's turn begins.
    #[inline]
    pub(crate) fn begins(&self, unit: usize) {
        self.0.unit.store(unit as u32, Relaxed);
        self.count();
    }

    /// A program's turn is over.
    #[inline]
    pub(crate) fn ends(&self) {
        self.count();
    }

    #[inline]
    fn count(&self) {
        // Only the machine's thread writes it.
        self.0.turns.store(self.0.turns.load(Relaxed) + 1, Relaxed);
    }
}
