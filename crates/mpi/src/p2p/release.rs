//! Cancelling and freeing requests (MPI 5.0, sections 3.7.3 and 3.8.4).

use super::buffered;
use crate::abi;
use crate::call::InOut;
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::request::REQUESTS;
use crate::request::generalized::returned;
use crate::request::{self, Both, Request};
use crate::runtime;

/// Cancels a request, or leaves it as it is.
fn cancel(mut state: runtime::Entered, handle: abi::Request) -> Result<(), Failure> {
    if let Some(id) = request::transfer(handle) {
        if !state.engine.is_live(id) {
            return Err(request::not_a_request(handle, "request"));
        }
        state.engine.cancel(id);
        return Ok(());
    }
    let part = match REQUESTS.of(&state).get(handle.0) {
        None => return Err(request::not_a_request(handle, "request")),
        Some(Request::Persistent(persistent)) => persistent.active,
        Some(Request::Generalized(own)) => {
            let own = own.clone();
            drop(state);
            return own.cancel();
        }
        Some(Request::Both(both)) => Some(both.receive),
        Some(Request::Activity(_)) => None,
    };
    part.map_or(Ok(()), |part| cancel(state, part))
}

/// Lets a request go on by itself.
fn free(mut state: runtime::Entered, handle: abi::Request) -> Result<(), Failure> {
    if let Some(id) = request::transfer(handle) {
        if !state.engine.is_live(id) {
            return Err(request::not_a_request(handle, "request"));
        }
        state.engine.detach(id);
        return Ok(());
    }
    match REQUESTS.of(&state).get(handle.0) {
        None => return Err(request::not_a_request(handle, "request")),
        Some(Request::Generalized(own)) => {
            let own = own.clone();
            if own.detach() {
                REQUESTS.of_mut(&mut state).remove(handle.0);
                drop(state);
                return returned(own.release(), "free_fn");
            }
            return Ok(());
        }
        Some(_) => {}
    }
    match REQUESTS.of_mut(&mut state).remove(handle.0) {
        Some(Request::Persistent(persistent)) => {
            persistent.active.map_or(Ok(()), |active| free(state, active))
        }
        Some(Request::Both(Both { send, receive, keeps })) => {
            if let Some(data) = keeps {
                buffered::keep(&mut state, send, data);
                return free(state, receive);
            }
            free(state, send)?;
            free(check::running()?, receive)
        }
        _ => Ok(()),
    }
}

mpi! {
    /// MPI 5.0, section 3.8.4. A receive or a send that was not matched is cancelled: also a send whose data was taken
    /// over at once, but on a simulated Cell, where it stays complete.
    fn PMPI_Cancel(request: InOut<abi::Request>) {
        let handle = request.read()?;
        cancel(check::running()?, handle)
    }

    /// MPI 5.0, section 3.7.3.
    fn PMPI_Request_free(request: InOut<abi::Request>) {
        let handle = request.read()?;
        free(check::running()?, handle)?;
        request.write(request::NULL)
    }
}
