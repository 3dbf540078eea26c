//! Cancelling and freeing requests (MPI 5.0, sections 3.7.3 and 3.8.4).

use super::generalized::returned;
use crate::abi;
use crate::abi::values::MPI_REQUEST_NULL;
use crate::check::{self, Failure, mpi};
use crate::request::{self, Both, Poll, Request};
use crate::runtime::{self, Activity};

/// A send and receive that nobody waits for, whose data must stay until they are over.
struct Kept(Both);
// SAFETY: of what is in `Both`, only the data is more than numbers, and it is owned.
unsafe impl Send for Kept {}

impl Activity for Kept {
    fn advance(&mut self) -> bool {
        for part in [&mut self.0.send, &mut self.0.receive] {
            let progress = request::poll(&mut runtime::enter(), *part, "request");
            match progress {
                Ok(Poll::Pending) => return false,
                // Its status is nobody's business.
                Ok(Poll::Ready) => drop(request::take(part)),
                Ok(Poll::Inactive) | Err(_) => {}
            }
        }
        true
    }
}

/// Cancels a request, or leaves it as it is: sends always complete.
fn cancel(mut state: runtime::Entered, handle: abi::Request) -> Result<(), Failure> {
    if let Some(id) = request::transfer(handle) {
        if !state.engine.is_live(id) {
            return Err(request::not_a_request(handle, "request"));
        }
        state.engine.cancel(id);
        return Ok(());
    }
    let part = match state.requests.get(handle.0) {
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
    match state.requests.get(handle.0) {
        None => return Err(request::not_a_request(handle, "request")),
        Some(Request::Generalized(own)) => {
            let own = own.clone();
            if own.detach() {
                state.requests.remove(handle.0);
                drop(state);
                return returned(own.release(), "free_fn");
            }
            return Ok(());
        }
        Some(_) => {}
    }
    match state.requests.remove(handle.0) {
        Some(Request::Persistent(persistent)) => {
            persistent.active.map_or(Ok(()), |active| free(state, active))
        }
        Some(Request::Both(both)) => {
            let made = request::start(&mut state, Box::new(Kept(both)));
            state.requests.remove(made.0);
            Ok(())
        }
        _ => Ok(()),
    }
}

mpi! {
    /// MPI 5.0, section 3.8.4. A receive that was not matched is cancelled; a send is not, and completes.
    fn PMPI_Cancel(request: *mut abi::Request) {
        let request = check::output(request, "request")?;
        cancel(check::running()?, *request)
    }

    /// MPI 5.0, section 3.7.3.
    fn PMPI_Request_free(request: *mut abi::Request) {
        let request = check::output(request, "request")?;
        free(check::running()?, *request)?;
        request.0 = MPI_REQUEST_NULL;
        Ok(())
    }
}
