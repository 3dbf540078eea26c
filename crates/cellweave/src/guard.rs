//! Finds the program of a simulated machine that never yields. Programs and machine take turns in one thread, so such a
//! program would hang both; this looks at the machine from a thread of its own.

use host::{Event, Patience};
use sim::{SimTurn, SimWatch, Simulation};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Looks at the machine in the time that one turn may take.
const LOOKS: u32 = 4;

/// A thread that looks after a simulated machine, as long as this lives.
#[derive(Debug)]
pub struct SimGuard {
    state: Arc<GuardState>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct GuardState {
    event: Event,
    over: AtomicBool,
}

impl SimGuard {
    /// Calls `found`, from another thread, when one turn of a program takes longer than `limit`, and again whenever it
    /// has taken `limit` longer. The turn is found a quarter of `limit` later at the latest.
    ///
    /// # Errors
    /// When this computer cannot start a thread.
    pub fn new(
        watch: SimWatch,
        limit: Duration,
        mut found: impl FnMut(SimTurn) + Send + 'static,
    ) -> std::io::Result<Self> {
        let state = Arc::new(GuardState::default());
        let shared = Arc::clone(&state);
        let apart_ns = u64::try_from(limit.as_nanos() / u128::from(LOOKS)).unwrap_or(u64::MAX).max(1);
        let looks = move || {
            let (mut seen, mut same) = (None, 0);
            let over = || shared.over.load(Ordering::Acquire);
            while shared.event.wait(Patience::NONE, Some(apart_ns), over) == host::Woken::TimedOut {
                let turn = watch.turn();
                same = if turn == seen { same + 1 } else { 0 };
                seen = turn;
                if let Some(turn) = turn
                    && same == LOOKS
                {
                    same = 0;
                    found(turn);
                }
            }
        };
        let thread = std::thread::Builder::new().name("guard".into()).spawn(looks)?;
        Ok(Self { state, thread: Some(thread) })
    }

    /// Ends this process, with a message that names the program, when one turn of a program takes longer than `limit`:
    /// a loop in Rust that calls nothing cannot be ended alone. Call this after the programs were given.
    ///
    /// ```
    /// use sim::{Parameters, Simulation};
    /// use std::time::Duration;
    ///
    /// let mut cell = Simulation::new(Parameters::named("cell").unwrap())?;
    /// cell.spe(0, "fine", |spe| spe.compute(100))?;
    /// let _guard = cellweave::SimGuard::aborting(&cell, Duration::from_secs(10))?;
    /// cell.run()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When this computer cannot start a thread.
    pub fn aborting(machine: &Simulation, limit: Duration) -> std::io::Result<Self> {
        let programs = machine.programs();
        Self::new(machine.watch(), limit, move |turn| {
            let (program, seconds) = (&programs[turn.unit], limit.as_secs_f64());
            eprintln!("{program} never yields: it has run for {seconds} s without a call of its handle");
            std::process::abort();
        })
    }
}

impl Drop for SimGuard {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::Release);
        self.state.event.notify();
        if let Some(thread) = self.thread.take() {
            // A panic of `found` was reported when it happened.
            let _ = thread.join();
        }
    }
}
