//! Requests that are the program's own (MPI 5.0, section 13.2): the program says when they are complete, and its
//! functions say how they ended.

use crate::abi::values::{MPI_ERR_REQUEST, MPI_SUCCESS};
use crate::abi::{self, Status, prototypes};
use crate::call::Out;
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::request::REQUESTS;
use crate::request::{self, Outcome, Request};
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

type Query = prototypes::MPI_Grequest_query_function;
type Free = prototypes::MPI_Grequest_free_function;
type Cancel = prototypes::MPI_Grequest_cancel_function;

/// A request of the program's.
pub(crate) struct Generalized {
    query: Option<Query>,
    free: Option<Free>,
    cancel: Option<Cancel>,
    extra_state: *mut c_void,
    complete: AtomicBool,
    /// `MPI_Request_free` was called before it was complete.
    freed: AtomicBool,
}
// SAFETY: `extra_state` is only handed back to the program's functions.
unsafe impl Send for Generalized {}
// SAFETY: as above.
unsafe impl Sync for Generalized {}

impl Generalized {
    /// Whether the program said so.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete.load(Ordering::Acquire)
    }

    /// Asks the program for the status, and lets it free what it has when `last`. Call this only while not holding the
    /// state.
    pub(crate) fn finish(&self, last: bool) -> Outcome {
        let mut status = Status::EMPTY;
        let queried = match self.query {
            // SAFETY: the program's function, with what the program gave for it and a status.
            Some(query) => unsafe { query(self.extra_state, &mut status) },
            None => MPI_SUCCESS,
        };
        let freed = if last { self.release() } else { MPI_SUCCESS };
        let result = returned(queried, "query_fn").and(returned(freed, "free_fn"));
        Outcome { status, result }
    }

    /// Lets the program free what it has. Call this only while not holding the state.
    pub(crate) fn release(&self) -> c_int {
        // SAFETY: the program's function, with what the program gave for it.
        self.free.map_or(MPI_SUCCESS, |free| unsafe { free(self.extra_state) })
    }

    /// Asks the program to cancel. Call this only while not holding the state.
    ///
    /// # Errors
    /// What the program's function returned.
    pub(crate) fn cancel(&self) -> Result<(), Failure> {
        let Some(cancel) = self.cancel else { return Ok(()) };
        // SAFETY: the program's function, with what the program gave for it.
        returned(unsafe { cancel(self.extra_state, self.is_complete().into()) }, "cancel_fn")
    }

    /// No one will wait for it. True when it is complete: release it now.
    pub(crate) fn detach(&self) -> bool {
        self.freed.store(true, Ordering::Release);
        self.is_complete()
    }
}

/// A failure of the class that a program's function returned.
pub(crate) fn returned(code: c_int, function: &str) -> Result<(), Failure> {
    if code == MPI_SUCCESS {
        return Ok(());
    }
    Err(Failure::new(code, format_args!("{function} of a generalized request returned {code}")))
}

mpi! {
    /// MPI 5.0, section 13.2.
    fn PMPI_Grequest_start(
        query_fn: Option<Query>, free_fn: Option<Free>, cancel_fn: Option<Cancel>, extra_state: *mut c_void,
        request: Out<abi::Request>,
    ) {
        let mut state = check::running()?;
        request.present()?;
        let made = Generalized {
            query: query_fn,
            free: free_fn,
            cancel: cancel_fn,
            extra_state,
            complete: AtomicBool::new(false),
            freed: AtomicBool::new(false),
        };
        request.write(request::insert(&mut state, Request::Generalized(Arc::new(made))))
    }

    /// MPI 5.0, section 13.2. May be called by any thread, while another waits.
    fn PMPI_Grequest_complete(request: abi::Request) {
        let mut state = check::running()?;
        let own = match REQUESTS.of(&state).get(request.0) {
            Some(Request::Generalized(own)) => own.clone(),
            Some(_) => {
                let text = "request is not a generalized one; allowed is a request of MPI_Grequest_start";
                return Err(Failure::new(MPI_ERR_REQUEST, text));
            }
            None => return Err(request::not_a_request(request, "request")),
        };
        own.complete.store(true, Ordering::Release);
        if own.freed.load(Ordering::Acquire) {
            REQUESTS.of_mut(&mut state).remove(request.0);
            drop(state);
            return returned(own.release(), "free_fn");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::values::{MPI_ERR_OTHER, MPI_ERR_TRUNCATE};
    use std::sync::atomic::AtomicU32;

    static QUERIED: AtomicU32 = AtomicU32::new(0);
    static FREED: AtomicU32 = AtomicU32::new(0);

    unsafe extern "C" fn query(_: *mut c_void, status: *mut Status) -> c_int {
        QUERIED.fetch_add(1, Ordering::Relaxed);
        // SAFETY: `finish` hands over a status of its own.
        unsafe { (*status).MPI_TAG = 9 };
        MPI_ERR_TRUNCATE
    }

    unsafe extern "C" fn free(_: *mut c_void) -> c_int {
        FREED.fetch_add(1, Ordering::Relaxed);
        MPI_ERR_OTHER
    }

    #[test]
    fn it_is_freed_once_after_it_was_asked_and_the_first_error_counts() {
        let own = Generalized {
            query: Some(query),
            free: Some(free),
            cancel: None,
            extra_state: std::ptr::null_mut(),
            complete: AtomicBool::new(true),
            freed: AtomicBool::new(false),
        };
        let looked = own.finish(false);
        assert_eq!((QUERIED.load(Ordering::Relaxed), FREED.load(Ordering::Relaxed)), (1, 0));
        assert_eq!(looked.status.MPI_TAG, 9);
        let ended = own.finish(true);
        assert_eq!((QUERIED.load(Ordering::Relaxed), FREED.load(Ordering::Relaxed)), (2, 1));
        let failure = ended.result.unwrap_err();
        assert_eq!(failure.class(), MPI_ERR_TRUNCATE);
        assert!(failure.text().contains("query_fn"), "{}", failure.text());
        assert!(own.cancel().is_ok(), "no function, nothing to do");
    }
}
