//! Arrays of requests and statuses as C passes them.

use super::{Outcome, Poll, not_a_request, poll};
use crate::abi::values::{MPI_ERR_IN_STATUS, MPI_SUCCESS};
use crate::abi::{Request, Status};
use crate::call::{In, Out};
use crate::check::{self, Failure};
use crate::runtime::State;
use std::ffi::c_int;

/// That there are `count` requests.
///
/// # Errors
/// A negative count, a null pointer.
pub(crate) fn present(count: c_int, requests: In<'_, [Request]>) -> Result<(), Failure> {
    check::count(count, "count")?;
    requests.present()
}

/// How far the request at an index is.
///
/// # Errors
/// It is no request.
pub(crate) fn poll_at(state: &mut State, requests: In<'_, [Request]>, index: usize) -> Result<Poll, Failure> {
    let handle = requests.get(index);
    poll(state, handle, "request").map_err(|_| wrong(handle, index))
}

/// How far each request is.
///
/// # Errors
/// One is no request.
pub(crate) fn poll_each(state: &mut State, requests: In<'_, [Request]>) -> Result<Vec<Poll>, Failure> {
    (0..requests.len()).map(|index| poll_at(state, requests, index)).collect()
}

#[cold]
fn wrong(handle: Request, index: usize) -> Failure {
    not_a_request(handle, &format!("array_of_requests[{index}]"))
}

/// Gives the outcomes of several requests; `statuses` is null when the program wants none.
///
/// # Errors
/// `MPI_ERR_IN_STATUS` when one has failed; every status then says in `MPI_ERROR` how it ended.
pub(crate) fn give(outcomes: Vec<(usize, Outcome)>, statuses: Out<'_, [Status]>) -> Result<(), Failure> {
    let failed = outcomes.iter().any(|(_, outcome)| outcome.result.is_err());
    let mut told = Ok(());
    for (place, (index, outcome)) in outcomes.into_iter().enumerate() {
        let code = outcome.result.as_ref().map_or_else(Failure::class, |()| MPI_SUCCESS);
        let status = statuses.at(place);
        status.give(outcome.status);
        if failed {
            status.set_error(code);
        }
        if let (Err(failure), Ok(())) = (outcome.result, &told) {
            told = Err(failure.reworded(MPI_ERR_IN_STATUS, |text| format!("request {index}: {text}")));
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::values::MPI_ERR_TRUNCATE;

    const UNTOUCHED: Status = Status { MPI_ERROR: -7, ..Status::EMPTY };

    #[test]
    fn errors_stand_in_statuses_only_when_one_has_failed() {
        let mut statuses = [UNTOUCHED; 2];
        let well = || (0..2).map(|index| (index, Outcome::empty())).collect();
        assert!(give(well(), Out::of(&mut statuses)).is_ok());
        assert_eq!(statuses.map(|status| status.MPI_ERROR), [-7, -7]);
        let failed =
            Outcome { status: Status::EMPTY, result: Err(Failure::new(MPI_ERR_TRUNCATE, "too long")) };
        let told = give(vec![(4, Outcome::empty()), (6, failed)], Out::of(&mut statuses));
        assert_eq!(statuses.map(|status| status.MPI_ERROR), [MPI_SUCCESS, MPI_ERR_TRUNCATE]);
        let told = told.unwrap_err();
        assert_eq!((told.class(), told.text()), (MPI_ERR_IN_STATUS, "request 6: too long"));
    }
}
