//! What ends a simulation.

use crate::CYCLE_PS;

/// What ends a simulation before its programs do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// A parameter that cannot be simulated.
    #[error("the machine's parameter {name} is {value}; allowed: {allowed}")]
    Parameter {
        /// As in [`Parameters`](crate::Parameters).
        name: String,
        /// The given value.
        value: String,
        /// What could have been.
        allowed: String,
    },
    /// A program for an element that is not there, or has one already; memory that is not there.
    #[error("{0}")]
    Request(String),
    /// A use that the hardware would trap.
    #[error("{unit} ({program}) at {}: {message}", Time(*.cycle))]
    Trap {
        /// `SPE3`, `PPE0`.
        unit: String,
        /// What its program was called.
        program: String,
        /// When.
        cycle: u64,
        /// The command and what is allowed.
        message: String,
    },
    /// A program panicked.
    #[error("{unit} ({program}) panicked at {}: {message}", Time(*.cycle))]
    Panic {
        /// `SPE3`, `PPE0`.
        unit: String,
        /// What its program was called.
        program: String,
        /// When.
        cycle: u64,
        /// Its message.
        message: String,
    },
    /// Every program that is left waits, and nothing is under way.
    #[error("deadlock at {}: {}", Time(*.cycle), .waiting.join("; "))]
    Deadlock {
        /// When.
        cycle: u64,
        /// Each unit, and what it waits for.
        waiting: Vec<String>,
    },
    /// Programs were still running at the end of the time that was allowed.
    #[error("still running at {}, where this simulation was to stop: {}", Time(*.cycle), .running.join("; "))]
    TimeUp {
        /// When.
        cycle: u64,
        /// Each unit that had not finished, and what it was doing.
        running: Vec<String>,
    },
    /// Another thread asked for it.
    #[error("stopped at {}: {}", Time(*.cycle), .running.join("; "))]
    Stopped {
        /// When.
        cycle: u64,
        /// Each unit that had not finished, and what it was doing.
        running: Vec<String>,
    },
    /// Bytes were used while a transfer was moving them.
    #[error("race: {unit} ({program}) at {}: {message}", Time(*.cycle))]
    Race {
        /// `SPE3`, `PPE0`.
        unit: String,
        /// What its program was called.
        program: String,
        /// When.
        cycle: u64,
        /// Which bytes, which command.
        message: String,
    },
}

/// A time as people read it.
pub(crate) struct Time(pub u64);

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ps = self.0 * CYCLE_PS;
        write!(f, "{}.{:03} us", ps / 1_000_000, ps / 1000 % 1000)
    }
}
