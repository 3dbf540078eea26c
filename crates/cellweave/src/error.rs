//! What can go wrong in a verb.

/// Why a verb did not do its work.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// An option or an array is wrong.
    #[error(transparent)]
    Option(#[from] ground::Located),
    /// No plan, for the reason given.
    #[error(transparent)]
    Plan(plan::PlanError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] run::RunError),
    /// The application cannot be measured as it is.
    #[error("{0}")]
    Profile(String),
    /// The work failed, for the reason given.
    #[error("{0}")]
    Failed(String),
    /// The caller's progress function said so.
    #[error("stopped")]
    Stopped,
}

impl From<plan::PlanError> for Error {
    fn from(error: plan::PlanError) -> Error {
        match error {
            plan::PlanError::Stopped => Error::Stopped,
            error => Error::Plan(error),
        }
    }
}
