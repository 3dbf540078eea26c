//! Settings that the environment holds: read once, at Init; what makes no sense is refused.

use crate::abi::values::MPI_ERR_OTHER;
use crate::check::Failure;
use std::sync::atomic::AtomicUsize;

/// The setting `CELLWEAVE_MPI_COPY`: messages from so many bytes on are copied between the processes.
pub(crate) static COPY_FROM: AtomicUsize = AtomicUsize::new(transport::COPY_FROM);

/// What a variable says, by `read`; nothing when it isn't set, or empty. `allowed` completes the error for any other
/// text.
///
/// # Errors
/// `MPI_ERR_OTHER`: it says something else.
pub(crate) fn of<T>(
    name: &str,
    allowed: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, Failure> {
    let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) else { return Ok(None) };
    match value.to_str().and_then(read) {
        Some(said) => Ok(Some(said)),
        None => {
            let value = value.to_string_lossy();
            Err(Failure::new(
                MPI_ERR_OTHER,
                format_args!("the environment's {name} is {value}; allowed are {allowed}"),
            ))
        }
    }
}
