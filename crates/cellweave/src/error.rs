//! What can go wrong in a verb.

/// Why a verb did not do its work.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// No plan, for the reason given.
    #[error(transparent)]
    Plan(#[from] plan::PlanError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] run::RunError),
    /// The application cannot be measured as it is.
    #[error("{0}")]
    Profile(String),
    /// The caller's progress function said so.
    #[error("stopped")]
    Stopped,
}
