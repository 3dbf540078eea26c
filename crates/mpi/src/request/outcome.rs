//! How a request ended, and what a status says of it (MPI 5.0, section 3.2.5).

use crate::abi::values::*;
use crate::abi::{Comm, Status};
use crate::check::Failure;
use crate::runtime::State;
use transport::{Completion, NO_SOURCE, NO_TAG, NOBODY};

// What the transport says of transfers without a sender is what a status says.
const _: () = assert!(NO_SOURCE == MPI_ANY_SOURCE && NO_TAG == MPI_ANY_TAG && NOBODY == MPI_PROC_NULL);

/// How a request ended.
#[derive(Debug)]
pub struct Outcome {
    /// What the status says.
    pub status: Status,
    /// Why it failed, on the communicator that it belongs to.
    pub result: Result<(), Failure>,
}

impl Status {
    /// Nothing was received: of sends, null and inactive requests.
    pub const EMPTY: Self =
        Self { MPI_SOURCE: MPI_ANY_SOURCE, MPI_TAG: MPI_ANY_TAG, MPI_ERROR: MPI_SUCCESS, internal: [0; 5] };

    /// What a status says of a transfer.
    #[inline]
    pub fn of(ended: &Completion) -> Self {
        Self {
            MPI_SOURCE: ended.source,
            MPI_TAG: ended.tag,
            MPI_ERROR: MPI_SUCCESS,
            internal: [ended.bytes as i32, (ended.bytes >> 32) as i32, ended.cancelled.into(), 0, 0],
        }
    }

    /// Gives the empty status, all of it.
    ///
    /// # Safety
    /// `place` is null (`MPI_STATUS_IGNORE`) or valid.
    pub unsafe fn give_empty(place: *mut Self) {
        if !place.is_null() {
            // SAFETY: valid by the caller's word.
            unsafe { place.write(Self::EMPTY) };
        }
    }

    /// Gives it to a program; `MPI_ERROR` stays what it was, as section 3.2.5 wants of functions that complete one request.
    ///
    /// # Safety
    /// `place` is null (`MPI_STATUS_IGNORE`) or valid.
    #[inline]
    pub unsafe fn give(self, place: *mut Self) {
        if !place.is_null() {
            // SAFETY: valid by the caller's word; read before it is written, field by field.
            unsafe {
                (*place).MPI_SOURCE = self.MPI_SOURCE;
                (*place).MPI_TAG = self.MPI_TAG;
                (*place).internal = self.internal;
            }
        }
    }
}

impl Outcome {
    /// There was nothing to wait for.
    pub fn empty() -> Self {
        Self { status: Status::EMPTY, result: Ok(()) }
    }

    /// Of a transfer in a communicator's context.
    pub fn of(state: &State, ended: &Completion, context: Option<u32>) -> Self {
        Self {
            status: Status::of(ended),
            result: failure(ended).map_err(|failure| placed(failure, state, context)),
        }
    }

    /// The outcome of a send followed by that of its receive: the receive's status, the first failure.
    #[must_use]
    pub fn then(self, receive: Self) -> Self {
        Self { status: receive.status, result: self.result.and(receive.result) }
    }
}

/// What is wrong with how a transfer ended.
///
/// # Errors
/// More data came than the buffer holds.
#[inline]
pub fn failure(ended: &Completion) -> Result<(), Failure> {
    match ended.truncated {
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
            state.comms.iter().find(|(_, found)| found.context == context).map(|(handle, _)| Comm(handle))
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
    fn a_status_holds_more_bytes_than_an_int() {
        let ended = Completion { source: 3, tag: 7, bytes: 0x1_2345_6789, truncated: None, cancelled: true };
        let status = Status::of(&ended);
        assert_eq!((status.MPI_SOURCE, status.MPI_TAG), (3, 7));
        assert_eq!(status.internal[..3], [0x2345_6789, 1, 1]);
    }

    #[test]
    fn a_truncated_message_says_both_sizes() {
        let ended = Completion { source: 1, tag: 2, bytes: 8, truncated: Some(100), cancelled: false };
        let failure = failure(&ended).unwrap_err();
        assert_eq!(failure.class(), MPI_ERR_TRUNCATE);
        assert!(
            failure.text().contains("100 bytes") && failure.text().contains("holds 8"),
            "{}",
            failure.text()
        );
    }
}
