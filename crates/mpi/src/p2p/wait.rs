//! Waiting and testing (MPI 5.0, sections 3.7.3 and 3.7.5).

use crate::abi::values::{MPI_REQUEST_NULL, MPI_UNDEFINED};
use crate::abi::{self, Status};
use crate::check::{self, Failure, mpi};
use crate::handles;
use crate::request::{Many, Outcome, Poll, give, poll, take};
use crate::runtime::{self, State};
use std::ffi::c_int;

/// Completes one request that is over, or has nothing to wait for.
///
/// # Safety
/// `status` is null or valid.
unsafe fn complete(request: &mut abi::Request, poll: Poll, status: *mut Status) -> Result<(), Failure> {
    if poll == Poll::Inactive {
        // SAFETY: as the caller says.
        unsafe { Status::give_empty(status) };
        return Ok(());
    }
    let Outcome { status: found, result } = take(request);
    // SAFETY: as the caller says.
    unsafe { found.give(status) };
    result
}

/// What a look at several requests found.
enum Found {
    Nothing,
    At(usize),
    /// None of them is active.
    NoneActive,
}

fn find(state: &mut State, many: &Many) -> Result<Found, Failure> {
    let mut found = Found::NoneActive;
    for index in 0..many.0.len() {
        match many.poll(state, index)? {
            Poll::Ready => return Ok(Found::At(index)),
            Poll::Pending => found = Found::Nothing,
            Poll::Inactive => {}
        }
    }
    Ok(found)
}

/// Completes the one that was found.
///
/// # Safety
/// `status` is null or valid.
unsafe fn complete_any(
    many: &mut Many,
    found: &Found,
    place: &mut c_int,
    status: *mut Status,
) -> Result<(), Failure> {
    match found {
        Found::At(index) => {
            *place = *index as c_int;
            // SAFETY: as the caller says.
            unsafe { complete(&mut many.0[*index], Poll::Ready, status) }
        }
        Found::Nothing | Found::NoneActive => {
            *place = MPI_UNDEFINED;
            if let Found::NoneActive = found {
                // SAFETY: as the caller says.
                unsafe { Status::give_empty(status) };
            }
            Ok(())
        }
    }
}

/// Completes those that are over: how many, and which.
///
/// # Safety
/// `indices` and `statuses` have a place for each request, or are null where C allows it.
unsafe fn complete_some(
    many: &mut Many,
    polls: &[Poll],
    outcount: &mut c_int,
    indices: *mut c_int,
    statuses: *mut Status,
) -> Result<(), Failure> {
    if polls.iter().all(|&poll| poll == Poll::Inactive) {
        *outcount = MPI_UNDEFINED;
        return Ok(());
    }
    let mut outcomes = Vec::new();
    for (index, request) in many.0.iter_mut().enumerate() {
        if polls[index] == Poll::Ready {
            // SAFETY: as the caller says; there are at most as many outcomes as requests.
            unsafe { indices.add(outcomes.len()).write(index as c_int) };
            outcomes.push((index, take(request)));
        }
    }
    *outcount = outcomes.len() as c_int;
    // SAFETY: as the caller says.
    unsafe { give(outcomes, statuses) }
}

/// Completes all, each of them being over or inactive.
///
/// # Safety
/// `statuses` is null or has a place for each request.
unsafe fn complete_all(many: &mut Many, statuses: *mut Status) -> Result<(), Failure> {
    let take = |(index, request)| (index, take(request));
    // SAFETY: as the caller says. Taking what is inactive gives an empty outcome.
    unsafe { give(many.0.iter_mut().enumerate().map(take).collect(), statuses) }
}

/// Takes transfers that are all complete and ended well.
///
/// # Safety
/// `statuses` is null or has a place for each request.
unsafe fn take_transfers(state: &mut State, many: &mut Many, statuses: *mut Status) {
    for (index, request) in many.0.iter_mut().enumerate() {
        let ended = state.engine.take_if_complete(handles::transfer_id(request.0));
        *request = NULL;
        if !statuses.is_null() {
            // SAFETY: as the caller says.
            unsafe { ended.as_ref().map_or(Status::EMPTY, Status::of).give(statuses.add(index)) };
        }
    }
}

const NULL: abi::Request = abi::Request(MPI_REQUEST_NULL);

fn check_each(many: &Many) -> Result<(), Failure> {
    let mut state = check::running()?;
    (0..many.0.len()).try_for_each(|index| many.poll(&mut state, index).map(|_| ()))
}

mpi! {
    /// MPI 5.0, section 3.7.3.
    fn PMPI_Wait(request: *mut abi::Request, status: *mut Status) {
        let request = check::output(request, "request")?;
        let state = check::running()?;
        if state.engine.is_live(handles::transfer_id(request.0)) {
            let mut many = Many(std::slice::from_mut(request));
            let (mut state, well) = runtime::wait_for_all(state, many.0);
            if well {
                // SAFETY: null or valid by the C caller's word.
                unsafe { take_transfers(&mut state, &mut many, status) };
                return Ok(());
            }
        } else {
            drop(state);
        }
        let polled = runtime::wait_until(|state| match poll(state, *request, "request") {
            Ok(Poll::Pending) => None,
            other => Some(other),
        })?;
        // SAFETY: null or valid by the C caller's word.
        unsafe { complete(request, polled, status) }
    }

    /// MPI 5.0, section 3.7.3.
    fn PMPI_Test(request: *mut abi::Request, flag: *mut c_int, status: *mut Status) {
        let request = check::output(request, "request")?;
        let flag = check::output(flag, "flag")?;
        drop(check::running()?);
        runtime::progress();
        let polled = poll(&mut runtime::enter(), *request, "request")?;
        *flag = (polled != Poll::Pending).into();
        if polled == Poll::Pending {
            return Ok(());
        }
        // SAFETY: null or valid by the C caller's word.
        unsafe { complete(request, polled, status) }
    }

    /// MPI 5.0, section 3.7.5.
    fn PMPI_Waitany(count: c_int, requests: *mut abi::Request, index: *mut c_int, status: *mut Status) {
        // SAFETY: an array of `count` handles by the C caller's word.
        let mut many = unsafe { Many::new(count, requests) }?;
        let index = check::output(index, "index")?;
        drop(check::running()?);
        let found = runtime::wait_until(|state| match find(state, &many) {
            Ok(Found::Nothing) => None,
            other => Some(other),
        })?;
        // SAFETY: null or valid by the C caller's word.
        unsafe { complete_any(&mut many, &found, index, status) }
    }

    /// MPI 5.0, section 3.7.5.
    fn PMPI_Testany(
        count: c_int, requests: *mut abi::Request, index: *mut c_int, flag: *mut c_int, status: *mut Status,
    ) {
        // SAFETY: an array of `count` handles by the C caller's word.
        let mut many = unsafe { Many::new(count, requests) }?;
        let index = check::output(index, "index")?;
        let flag = check::output(flag, "flag")?;
        drop(check::running()?);
        runtime::progress();
        let found = find(&mut runtime::enter(), &many)?;
        *flag = (!matches!(found, Found::Nothing)).into();
        // SAFETY: null or valid by the C caller's word.
        unsafe { complete_any(&mut many, &found, index, status) }
    }

    /// MPI 5.0, section 3.7.5.
    fn PMPI_Waitall(count: c_int, requests: *mut abi::Request, statuses: *mut Status) {
        // SAFETY: an array of `count` handles by the C caller's word.
        let mut many = unsafe { Many::new(count, requests) }?;
        let state = check::running()?;
        if many.0.iter().all(|request| state.engine.is_live(handles::transfer_id(request.0))) {
            let (mut state, well) = runtime::wait_for_all(state, many.0);
            if well {
                // SAFETY: null or an array of `count` by the C caller's word.
                unsafe { take_transfers(&mut state, &mut many, statuses) };
                return Ok(());
            }
        } else {
            drop(state);
        }
        check_each(&many)?;
        let mut over = 0;
        runtime::wait_until(|state| {
            while over < many.0.len() && !matches!(many.poll(state, over), Ok(Poll::Pending)) {
                over += 1;
            }
            (over == many.0.len()).then_some(())
        });
        // SAFETY: null or an array of `count` by the C caller's word.
        unsafe { complete_all(&mut many, statuses) }
    }

    /// MPI 5.0, section 3.7.5. Completes all or none.
    fn PMPI_Testall(count: c_int, requests: *mut abi::Request, flag: *mut c_int, statuses: *mut Status) {
        // SAFETY: an array of `count` handles by the C caller's word.
        let mut many = unsafe { Many::new(count, requests) }?;
        let flag = check::output(flag, "flag")?;
        drop(check::running()?);
        runtime::progress();
        let polls = many.poll_each(&mut runtime::enter())?;
        *flag = (!polls.contains(&Poll::Pending)).into();
        if *flag == 0 {
            return Ok(());
        }
        // SAFETY: null or an array of `count` by the C caller's word.
        unsafe { complete_all(&mut many, statuses) }
    }

    /// MPI 5.0, section 3.7.5.
    fn PMPI_Waitsome(
        incount: c_int, requests: *mut abi::Request, outcount: *mut c_int, indices: *mut c_int,
        statuses: *mut Status,
    ) {
        // SAFETY: an array of `incount` handles by the C caller's word.
        let mut many = unsafe { Many::new(incount, requests) }?;
        let outcount = check::output(outcount, "outcount")?;
        drop(check::running()?);
        let polls = runtime::wait_until(|state| match many.poll_each(state) {
            Ok(polls) if polls.contains(&Poll::Pending) && !polls.contains(&Poll::Ready) => None,
            other => Some(other),
        })?;
        // SAFETY: arrays of `incount` by the C caller's word.
        unsafe { complete_some(&mut many, &polls, outcount, indices, statuses) }
    }

    /// MPI 5.0, section 3.7.5.
    fn PMPI_Testsome(
        incount: c_int, requests: *mut abi::Request, outcount: *mut c_int, indices: *mut c_int,
        statuses: *mut Status,
    ) {
        // SAFETY: an array of `incount` handles by the C caller's word.
        let mut many = unsafe { Many::new(incount, requests) }?;
        let outcount = check::output(outcount, "outcount")?;
        drop(check::running()?);
        runtime::progress();
        let polls = many.poll_each(&mut runtime::enter())?;
        // SAFETY: arrays of `incount` by the C caller's word.
        unsafe { complete_some(&mut many, &polls, outcount, indices, statuses) }
    }
}
