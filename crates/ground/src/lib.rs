//! What every other crate stands on.
//!
//! | what | for |
//! |---|---|
//! | [`Located`] | an error that says where: file, line, key |
//! | [`nearest()`], [`did_you_mean`] | the right name for a misspelt one, in one wording |
//! | [`quoted`] | a user's text, fit for a message |
//! | [`Draws`] | random numbers that are the same on every computer for a seed |
//! | [`Quantiles`], [`quantile`] | what n samples come to |
//! | [`utc`] | a moment as files and people write it |
//! | [`write_whole`] | a file that is written whole or not at all |
//! | [`mod@options`], [`options!`] | a verb's options: name, type, range, default and help text, once |
//!
//! Floor 0: imports no other crate of the workspace.

mod date;
mod draws;
mod located;
mod nearest;
pub mod options;
mod quantiles;
mod whole;

pub use date::utc;
pub use draws::Draws;
pub use located::{Located, quoted};
pub use nearest::{did_you_mean, nearest};
pub use quantiles::{Quantiles, quantile};
pub use whole::write_whole;
