//! How far requests are, without completing them (MPI 5.0, section 3.7.6).

use crate::abi::values::MPI_UNDEFINED;
use crate::abi::{Request, Status};
use crate::call::{In, Out};
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::request::{NULL, Outcome, Poll, give, peek, poll, poll_each, present};
use crate::runtime;
use std::ffi::c_int;

/// How far each of an array of requests is, after messages were moved once.
fn look(requests: In<'_, [Request]>) -> Result<Vec<Poll>, Failure> {
    drop(check::running()?);
    runtime::progress();
    poll_each(&mut runtime::enter(), requests)
}

/// Gives the status of a request that is not pending.
fn give_one(request: Request, poll: Poll, status: Out<'_, Status>) -> Result<(), Failure> {
    if poll == Poll::Inactive {
        status.offer(Status::EMPTY);
        return Ok(());
    }
    let outcome = peek(request);
    status.give(outcome.status);
    outcome.result
}

mpi! {
    /// MPI 5.0, section 3.7.6.
    fn PMPI_Request_get_status(request: Request, flag: Out<c_int>, status: Out<Status>) {
        flag.present()?;
        drop(check::running()?);
        runtime::progress();
        let polled = poll(&mut runtime::enter(), request, "request")?;
        flag.write((polled != Poll::Pending).into())?;
        if polled == Poll::Pending { Ok(()) } else { give_one(request, polled, status) }
    }

    /// MPI 5.0, section 3.7.6.
    fn PMPI_Request_get_status_any(
        count: c_int, array_of_requests[count]: In<Request>, index: Out<c_int>, flag: Out<c_int>, status: Out<Status>,
    ) {
        present(count, array_of_requests)?;
        index.present()?;
        flag.present()?;
        let polls = look(array_of_requests)?;
        let ready = polls.iter().position(|&poll| poll == Poll::Ready);
        let over = ready.is_some() || !polls.contains(&Poll::Pending);
        flag.write(over.into())?;
        index.write(ready.map_or(MPI_UNDEFINED, |ready| ready as c_int))?;
        if !over {
            return Ok(());
        }
        let (request, poll) =
            ready.map_or((NULL, Poll::Inactive), |ready| (array_of_requests.get(ready), Poll::Ready));
        give_one(request, poll, status)
    }

    /// MPI 5.0, section 3.7.6.
    fn PMPI_Request_get_status_all(
        count: c_int, array_of_requests[count]: In<Request>, flag: Out<c_int>, array_of_statuses[count]: Out<Status>,
    ) {
        present(count, array_of_requests)?;
        flag.present()?;
        let polls = look(array_of_requests)?;
        let over = !polls.contains(&Poll::Pending);
        flag.write(over.into())?;
        if !over {
            return Ok(());
        }
        let outcome = |index: usize| match polls[index] {
            Poll::Ready => (index, peek(array_of_requests.get(index))),
            _ => (index, Outcome::empty()),
        };
        give((0..polls.len()).map(outcome).collect(), array_of_statuses)
    }

    /// MPI 5.0, section 3.7.6.
    fn PMPI_Request_get_status_some(
        incount: c_int, array_of_requests[incount]: In<Request>, outcount: Out<c_int>,
        array_of_indices[incount]: Out<c_int>, array_of_statuses[incount]: Out<Status>,
    ) {
        present(incount, array_of_requests)?;
        outcount.present()?;
        let polls = look(array_of_requests)?;
        if polls.iter().all(|&poll| poll == Poll::Inactive) {
            return outcount.write(MPI_UNDEFINED);
        }
        let ready: Vec<usize> = (0..polls.len()).filter(|&index| polls[index] == Poll::Ready).collect();
        array_of_indices.write(ready.iter().map(|&index| index as c_int))?;
        outcount.write(ready.len() as c_int)?;
        let outcomes = ready.into_iter().map(|index| (index, peek(array_of_requests.get(index))));
        give(outcomes.collect(), array_of_statuses)
    }
}
