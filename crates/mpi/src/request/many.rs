//! Arrays of requests and statuses as C passes them.

use super::{Outcome, Poll, poll};
use crate::abi::values::{MPI_ERR_IN_STATUS, MPI_SUCCESS};
use crate::abi::{self, Status};
use crate::check::{self, Failure};
use crate::runtime::State;
use std::ffi::c_int;

/// An array of requests.
pub struct Many<'a>(pub &'a mut [abi::Request]);

impl<'a> Many<'a> {
    /// The program's array.
    ///
    /// # Errors
    /// A negative count, a null pointer.
    ///
    /// # Safety
    /// `place` is null or has `count` handles.
    pub unsafe fn new(count: c_int, place: *mut abi::Request) -> Result<Self, Failure> {
        let count = check::count(count, "count")?;
        if count == 0 {
            return Ok(Self(&mut []));
        }
        check::output(place, "array_of_requests")?;
        // SAFETY: as the caller says.
        Ok(Self(unsafe { std::slice::from_raw_parts_mut(place, count) }))
    }

    /// How far the one at an index is.
    ///
    /// # Errors
    /// It is no request.
    pub fn poll(&self, state: &mut State, index: usize) -> Result<Poll, Failure> {
        poll(state, self.0[index], "request").map_err(|_| wrong(self.0[index], index))
    }

    /// How far each of them is.
    ///
    /// # Errors
    /// One is no request.
    pub fn poll_each(&self, state: &mut State) -> Result<Vec<Poll>, Failure> {
        (0..self.0.len()).map(|index| self.poll(state, index)).collect()
    }
}

#[cold]
fn wrong(handle: abi::Request, index: usize) -> Failure {
    super::not_a_request(handle, &format!("array_of_requests[{index}]"))
}

/// Gives the outcomes of several requests; the statuses' places are null when nobody wants them.
///
/// # Errors
/// `MPI_ERR_IN_STATUS` when one has failed; every status then says in `MPI_ERROR` how it ended.
///
/// # Safety
/// `statuses` is null or has as many places as there are outcomes.
pub unsafe fn give(outcomes: Vec<(usize, Outcome)>, statuses: *mut Status) -> Result<(), Failure> {
    let failed = outcomes.iter().any(|(_, outcome)| outcome.result.is_err());
    let mut told = Ok(());
    for (place, (index, outcome)) in outcomes.into_iter().enumerate() {
        let code = outcome.result.as_ref().map_or_else(Failure::class, |()| MPI_SUCCESS);
        if !statuses.is_null() {
            // SAFETY: as the caller says.
            unsafe {
                let status = statuses.add(place);
                outcome.status.give(status);
                if failed {
                    (*status).MPI_ERROR = code;
                }
            }
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
        // SAFETY: a place for each outcome.
        assert!(unsafe { give(well(), statuses.as_mut_ptr()) }.is_ok());
        assert_eq!(statuses.map(|status| status.MPI_ERROR), [-7, -7]);
        let failed =
            Outcome { status: Status::EMPTY, result: Err(Failure::new(MPI_ERR_TRUNCATE, "too long")) };
        // SAFETY: a place for each outcome.
        let told = unsafe { give(vec![(4, Outcome::empty()), (6, failed)], statuses.as_mut_ptr()) };
        assert_eq!(statuses.map(|status| status.MPI_ERROR), [MPI_SUCCESS, MPI_ERR_TRUNCATE]);
        let told = told.unwrap_err();
        assert_eq!((told.class(), told.text()), (MPI_ERR_IN_STATUS, "request 6: too long"));
    }
}
