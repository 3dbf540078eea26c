//! Why a stream could not be run.

use sim::SimError;

/// Why a stream could not be run on the simulated machine.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StreamError {
    /// The machine is none that can be simulated, or the plan uses what it does not have.
    #[error("{0}")]
    Machine(String),
    /// The buffers of an element do not fit its memory.
    #[error("{0}")]
    Room(String),
    /// As on the host: options, plan, kernels.
    #[error("{0}")]
    Run(#[from] run::RunError),
    /// The simulated hardware refused something.
    #[error("{doing}{error}")]
    Simulated {
        /// What the element was doing, or nothing.
        doing: String,
        /// What the hardware said.
        error: SimError,
    },
    /// The caller stopped it.
    #[error("stopped")]
    Stopped,
}
