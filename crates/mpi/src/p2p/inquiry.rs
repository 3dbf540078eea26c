//! How far requests are, without completing them (MPI 5.0, section 3.7.6).

use crate::abi::values::MPI_UNDEFINED;
use crate::abi::{self, Status};
use crate::check::{self, Failure, mpi};
use crate::request::{Many, Outcome, Poll, give, peek, poll};
use crate::runtime;
use std::ffi::c_int;

/// How far each of an array of requests is, after messages were moved once.
fn look(many: &Many) -> Result<Vec<Poll>, Failure> {
    drop(check::running()?);
    runtime::progress();
    many.poll_each(&mut runtime::enter())
}

/// Gives the status of a request that is not pending.
///
/// # Safety
/// `status` is null or valid.
unsafe fn give_one(request: abi::Request, poll: Poll, status: *mut Status) -> Result<(), Failure> {
    if poll == Poll::Inactive {
        // SAFETY: as the caller says.
        unsafe { Status::give_empty(status) };
        return Ok(());
    }
    let Outcome { status: found, result } = peek(request);
    // SAFETY: as the caller says.
    unsafe { found.give(status) };
    result
}

mpi! {
    /// MPI 5.0, section 3.7.6.
    fn PMPI_Request_get_status(request: abi::Request, flag: *mut c_int, status: *mut Status) {
        let flag = check::output(flag, "flag")?;
        drop(check::running()?);
        runtime::progress();
        let polled = poll(&mut runtime::enter(), request, "request")?;
        *flag = (polled != Poll::Pending).into();
        if polled == Poll::Pending {
            return Ok(());
        }
        // SAFETY: null or valid by the C caller's word.
        unsafe { give_one(request, polled, status) }
    }

    /// MPI 5.0, section 3.7.6.
    fn PMPI_Request_get_status_any(
        count: c_int, requests: *const abi::Request, index: *mut c_int, flag: *mut c_int, status: *mut Status,
    ) {
        // SAFETY: an array of `count` handles by the C caller's word, which nothing here changes.
        let many = unsafe { Many::new(count, requests.cast_mut()) }?;
        let index = check::output(index, "index")?;
        let flag = check::output(flag, "flag")?;
        let polls = look(&many)?;
        let ready = polls.iter().position(|&poll| poll == Poll::Ready);
        *flag = (ready.is_some() || !polls.contains(&Poll::Pending)).into();
        *index = ready.map_or(MPI_UNDEFINED, |ready| ready as c_int);
        if *flag == 0 {
            return Ok(());
        }
        let (request, poll) = ready.map_or((abi::Request(0), Poll::Inactive), |ready| (many.0[ready], Poll::Ready));
        // SAFETY: null or valid by the C caller's word.
        unsafe { give_one(request, poll, status) }
    }

    /// MPI 5.0, section 3.7.6.
    fn PMPI_Request_get_status_all(
        count: c_int, requests: *const abi::Request, flag: *mut c_int, statuses: *mut Status,
    ) {
        // SAFETY: an array of `count` handles by the C caller's word, which nothing here changes.
        let many = unsafe { Many::new(count, requests.cast_mut()) }?;
        let flag = check::output(flag, "flag")?;
        let polls = look(&many)?;
        *flag = (!polls.contains(&Poll::Pending)).into();
        if *flag == 0 {
            return Ok(());
        }
        let outcome = |index: usize| match polls[index] {
            Poll::Ready => (index, peek(many.0[index])),
            _ => (index, Outcome::empty()),
        };
        // SAFETY: null or an array of `count` by the C caller's word.
        unsafe { give((0..polls.len()).map(outcome).collect(), statuses) }
    }

    /// MPI 5.0, section 3.7.6.
    fn PMPI_Request_get_status_some(
        incount: c_int, requests: *const abi::Request, outcount: *mut c_int, indices: *mut c_int,
        statuses: *mut Status,
    ) {
        // SAFETY: an array of `incount` handles by the C caller's word, which nothing here changes.
        let many = unsafe { Many::new(incount, requests.cast_mut()) }?;
        let outcount = check::output(outcount, "outcount")?;
        let polls = look(&many)?;
        if polls.iter().all(|&poll| poll == Poll::Inactive) {
            *outcount = MPI_UNDEFINED;
            return Ok(());
        }
        let ready: Vec<usize> = (0..polls.len()).filter(|&index| polls[index] == Poll::Ready).collect();
        for (place, &index) in ready.iter().enumerate() {
            // SAFETY: an array of `incount` by the C caller's word.
            unsafe { indices.add(place).write(index as c_int) };
        }
        *outcount = ready.len() as c_int;
        // SAFETY: null or an array of `incount` by the C caller's word.
        unsafe { give(ready.into_iter().map(|index| (index, peek(many.0[index]))).collect(), statuses) }
    }
}
