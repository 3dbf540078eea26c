//! Waiting and testing (MPI 5.0, sections 3.7.3 and 3.7.5).

use crate::abi::values::MPI_UNDEFINED;
use crate::abi::{Request, Status};
use crate::call::{In, InOut, Out};
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::handles;
use crate::request::{self, NULL, Outcome, Poll, give, poll, poll_at, poll_each, present, take};
use crate::runtime::{self, State};
use std::ffi::c_int;

/// Completes a request that is over, or has nothing to wait for: how it ended.
fn completed(request: InOut<'_, Request>) -> Result<Outcome, Failure> {
    let (outcome, after) = take(request.read()?);
    request.write(after)?;
    Ok(outcome)
}

/// Completes one request that is over, or has nothing to wait for, and gives its status.
fn complete(request: InOut<'_, Request>, poll: Poll, status: Out<'_, Status>) -> Result<(), Failure> {
    if poll == Poll::Inactive {
        status.offer(Status::EMPTY);
        return Ok(());
    }
    let outcome = completed(request)?;
    status.give(outcome.status);
    outcome.result
}

/// What a look at several requests found.
enum FoundRequest {
    Nothing,
    At(usize),
    /// None of them is active.
    NoneActive,
}

fn find(state: &mut State, requests: In<'_, [Request]>) -> Result<FoundRequest, Failure> {
    let mut found = FoundRequest::NoneActive;
    for index in 0..requests.len() {
        match poll_at(state, requests, index)? {
            Poll::Ready => return Ok(FoundRequest::At(index)),
            Poll::Pending => found = FoundRequest::Nothing,
            Poll::Inactive => {}
        }
    }
    Ok(found)
}

/// Completes the one that was found.
fn complete_any(
    requests: InOut<'_, [Request]>,
    found: &FoundRequest,
    place: Out<'_, c_int>,
    status: Out<'_, Status>,
) -> Result<(), Failure> {
    match found {
        FoundRequest::At(index) => {
            place.write(*index as c_int)?;
            complete(requests.at(*index), Poll::Ready, status)
        }
        FoundRequest::Nothing | FoundRequest::NoneActive => {
            place.write(MPI_UNDEFINED)?;
            if let FoundRequest::NoneActive = found {
                status.offer(Status::EMPTY);
            }
            Ok(())
        }
    }
}

/// Completes those that are over: how many, and which.
fn complete_some(
    requests: InOut<'_, [Request]>,
    polls: &[Poll],
    outcount: Out<'_, c_int>,
    indices: Out<'_, [c_int]>,
    statuses: Out<'_, [Status]>,
) -> Result<(), Failure> {
    if polls.iter().all(|&poll| poll == Poll::Inactive) {
        return outcount.write(MPI_UNDEFINED);
    }
    let mut outcomes = Vec::new();
    for (index, _) in polls.iter().enumerate().filter(|(_, poll)| **poll == Poll::Ready) {
        indices.at(outcomes.len()).write(index as c_int)?;
        outcomes.push((index, completed(requests.at(index))?));
    }
    outcount.write(outcomes.len() as c_int)?;
    give(outcomes, statuses)
}

/// Completes all, each of them being over or inactive.
fn complete_all(requests: InOut<'_, [Request]>, statuses: Out<'_, [Status]>) -> Result<(), Failure> {
    // Taking what is inactive gives an empty outcome.
    let completed = |index| Ok((index, completed(requests.at(index))?));
    give((0..requests.reading().len()).map(completed).collect::<Result<_, Failure>>()?, statuses)
}

/// Takes transfers that are all complete and ended well.
#[inline(always)]
fn take_transfers(
    state: &mut State,
    requests: InOut<'_, [Request]>,
    statuses: Out<'_, [Status]>,
) -> Result<(), Failure> {
    for index in 0..requests.reading().len() {
        let ended = state.engine.take_if_complete(handles::transfer_id(requests.reading().get(index).0));
        requests.at(index).write(NULL)?;
        if !statuses.is_null() {
            statuses.at(index).give(ended.as_ref().map_or(Status::EMPTY, Status::of));
        }
    }
    Ok(())
}

fn check_each(requests: In<'_, [Request]>) -> Result<(), Failure> {
    let mut state = check::running()?;
    (0..requests.len()).try_for_each(|index| poll_at(&mut state, requests, index).map(|_| ()))
}

mpi! {
    /// MPI 5.0, section 3.7.3.
    fn PMPI_Wait(request: InOut<Request>, status: Out<Status>) {
        let handle = request.read()?;
        if let Some(mut state) = request::wait_for_all(check::running()?, request.alone().reading()) {
            return take_transfers(&mut state, request.alone(), status.alone());
        }
        let polled = runtime::wait_until(|state| match poll(state, handle, "request") {
            Ok(Poll::Pending) => None,
            other => Some(other),
        })?;
        complete(request, polled, status)
    }

    /// MPI 5.0, section 3.7.3.
    fn PMPI_Test(request: InOut<Request>, flag: Out<c_int>, status: Out<Status>) {
        let handle = request.read()?;
        flag.present()?;
        drop(check::running()?);
        runtime::progress();
        let polled = poll(&mut runtime::enter(), handle, "request")?;
        flag.write((polled != Poll::Pending).into())?;
        if polled == Poll::Pending {
            return Ok(());
        }
        complete(request, polled, status)
    }

    /// MPI 5.0, section 3.7.5.
    fn PMPI_Waitany(
        count: c_int, array_of_requests[count]: InOut<Request>, index: Out<c_int>, status: Out<Status>,
    ) {
        let requests = array_of_requests;
        present(count, requests.reading())?;
        index.present()?;
        drop(check::running()?);
        let found = runtime::wait_until(|state| match find(state, requests.reading()) {
            Ok(FoundRequest::Nothing) => None,
            other => Some(other),
        })?;
        complete_any(requests, &found, index, status)
    }

    /// MPI 5.0, section 3.7.5.
    fn PMPI_Testany(
        count: c_int, array_of_requests[count]: InOut<Request>, index: Out<c_int>, flag: Out<c_int>,
        status: Out<Status>,
    ) {
        let requests = array_of_requests;
        present(count, requests.reading())?;
        index.present()?;
        flag.present()?;
        drop(check::running()?);
        runtime::progress();
        let found = find(&mut runtime::enter(), requests.reading())?;
        flag.write((!matches!(found, FoundRequest::Nothing)).into())?;
        complete_any(requests, &found, index, status)
    }

    /// MPI 5.0, section 3.7.5.
    fn PMPI_Waitall(
        count: c_int, array_of_requests[count]: InOut<Request>, array_of_statuses[count]: Out<Status>,
    ) {
        let (requests, statuses) = (array_of_requests, array_of_statuses);
        let reading = requests.reading();
        present(count, reading)?;
        if let Some(mut state) = request::wait_for_all(check::running()?, reading) {
            return take_transfers(&mut state, requests, statuses);
        }
        check_each(reading)?;
        let mut over = 0;
        runtime::wait_until(|state| {
            while over < reading.len() && !matches!(poll_at(state, reading, over), Ok(Poll::Pending)) {
                over += 1;
            }
            (over == reading.len()).then_some(())
        });
        complete_all(requests, statuses)
    }

    /// MPI 5.0, section 3.7.5. Completes all or none.
    fn PMPI_Testall(
        count: c_int, array_of_requests[count]: InOut<Request>, flag: Out<c_int>, array_of_statuses[count]: Out<Status>,
    ) {
        present(count, array_of_requests.reading())?;
        flag.present()?;
        drop(check::running()?);
        runtime::progress();
        let polls = poll_each(&mut runtime::enter(), array_of_requests.reading())?;
        let over = !polls.contains(&Poll::Pending);
        flag.write(over.into())?;
        if over { complete_all(array_of_requests, array_of_statuses) } else { Ok(()) }
    }

    /// MPI 5.0, section 3.7.5.
    fn PMPI_Waitsome(
        incount: c_int, array_of_requests[incount]: InOut<Request>, outcount: Out<c_int>,
        array_of_indices[incount]: Out<c_int>, array_of_statuses[incount]: Out<Status>,
    ) {
        let requests = array_of_requests.reading();
        present(incount, requests)?;
        outcount.present()?;
        drop(check::running()?);
        let polls = runtime::wait_until(|state| match poll_each(state, requests) {
            Ok(polls) if polls.contains(&Poll::Pending) && !polls.contains(&Poll::Ready) => None,
            other => Some(other),
        })?;
        complete_some(array_of_requests, &polls, outcount, array_of_indices, array_of_statuses)
    }

    /// MPI 5.0, section 3.7.5.
    fn PMPI_Testsome(
        incount: c_int, array_of_requests[incount]: InOut<Request>, outcount: Out<c_int>,
        array_of_indices[incount]: Out<c_int>, array_of_statuses[incount]: Out<Status>,
    ) {
        present(incount, array_of_requests.reading())?;
        outcount.present()?;
        drop(check::running()?);
        runtime::progress();
        let polls = poll_each(&mut runtime::enter(), array_of_requests.reading())?;
        complete_some(array_of_requests, &polls, outcount, array_of_indices, array_of_statuses)
    }
}
