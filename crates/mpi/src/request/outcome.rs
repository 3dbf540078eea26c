//! How a request ended.

use crate::abi::values::*;
use crate::abi::{Comm, Status};
use crate::check::Failure;
use crate::comm::COMMS;
use crate::runtime::State;
use transport::{Completion, NO_SOURCE, NO_TAG, NOBODY};

// What the transport says of transfers without a sender is what a status says.
const _: () = assert!(NO_SOURCE == MPI_ANY_SOURCE && NO_TAG == MPI_ANY_TAG && NOBODY == MPI_PROC_NULL);

/// How a request ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What the status says.
    pub status: Status,
    /// Why it failed, on the communicator that it belongs to.
    pub result: Result<(), Failure>,
}

impl Outcome {
    /// There was nothing to wait for.
    pub(crate) fn empty() -> Self {
        Self { status: Status::EMPTY, result: Ok(()) }
    }

    /// Of a transfer in a communicator's context.
    pub(crate) fn of(state: &State, ended: &Completion, context: Option<u32>) -> Self {
        Self {
            status: Status::of(ended),
            result: failure(ended).map_err(|failure| placed(failure, state, context)),
        }
    }

    /// The outcome of a send followed by that of its receive: the receive's status, the first failure.
    #[must_use]
    pub(crate) fn then(self, receive: Self) -> Self {
        Self { status: receive.status, result: self.result.and(receive.result) }
    }
}

/// What went wrong in a transfer.
///
/// # Errors
/// More data came than the buffer holds.
#[inline]
pub(crate) fn failure(ended: &Completion) -> Result<(), Failure> {
    match ended.truncated() {
        None => Ok(()),
        Some(sent) => Err(truncated(ended, sent)),
    }
}

#[cold]
fn truncated(ended: &Completion, sent: usize) -> Failure {
    let Completion { source, tag, bytes, .. } = ended;
    let text = format_args!(
        "message truncated: {sent} bytes came from rank {source} with tag {tag}; the buffer holds {bytes}"
    );
    Failure::new(MPI_ERR_TRUNCATE, text)
}

#[cold]
fn placed(failure: Failure, state: &State, context: Option<u32>) -> Failure {
    let of_context = |context: u32| {
        let is = |comm: &Comm| state.comm(*comm).is_some_and(|found| found.context == context);
        [Comm(MPI_COMM_WORLD), Comm(MPI_COMM_SELF)].into_iter().find(is).or_else(|| {
            COMMS
                .of(state)
                .made
                .iter()
                .find(|(_, found)| found.context == context)
                .map(|(handle, _)| Comm(handle))
        })
    };
    match context.and_then(of_context) {
        Some(comm) => failure.on(comm),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_message_says_both_sizes() {
        let ended = Completion { source: 1, tag: 2, bytes: 8, lost: 92, cancelled: false };
        let failure = failure(&ended).unwrap_err();
        assert_eq!(failure.class(), MPI_ERR_TRUNCATE);
        assert!(
            failure.text().contains("100 bytes") && failure.text().contains("holds 8"),
            "{}",
            failure.text()
        );
    }
}
