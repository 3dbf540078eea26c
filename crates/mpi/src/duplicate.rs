//! Duplicates of communicators that are made while the program goes on (MPI 5.0, section 7.4.2).

use crate::abi;
use crate::abi::values::{MPI_COMM_NULL, MPI_INFO_NULL, MPI_REQUEST_NULL};
use crate::call::Out;
use crate::check::{self, Failure};
use crate::comm::agreement::Agreement;
use crate::comm::construct::twin;
use crate::comm::exchange::making_tag;
use crate::comm::table::insert_twin;
use crate::comm::{COMMS, CONTEXTS, Comm, info, mpi, valid};
use crate::request::{self, Activity, Outcome, REQUESTS};
use crate::runtime;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The context of a communicator whose ranks have not agreed on one yet.
const NO_CONTEXT: u32 = u32::MAX - CONTEXTS;

/// `MPI_Comm_idup`: the new communicator is in the table from the start, and gets its context in the end.
struct Idup {
    new: abi::Comm,
    agreement: Agreement,
    result: Result<(), Failure>,
}

impl Activity for Idup {
    fn advance(&mut self) -> bool {
        let mut state = runtime::enter();
        match self.agreement.advance(&mut state) {
            None => return false,
            Some(Ok((context, _))) => {
                if let Some(made) = COMMS.of_mut(&mut state).made.get_mut(self.new.0) {
                    *made = Arc::new(made.with_context(context));
                }
            }
            Some(Err(failure)) => self.result = Err(failure),
        }
        true
    }

    fn outcome(&mut self) -> Outcome {
        Outcome { result: std::mem::replace(&mut self.result, Ok(())), ..Outcome::empty() }
    }
}

impl Comm {
    /// The same communicator with a context; takes what the program hung on it along.
    fn with_context(&self, context: u32) -> Self {
        let made = twin(self, context, std::mem::take(&mut self.hints.lock().unwrap()));
        made.errhandler.store(self.errhandler.load(Ordering::Relaxed), Ordering::Relaxed);
        std::mem::swap(&mut *made.name.lock().unwrap(), &mut *self.name.lock().unwrap());
        made.attributes.take_from(&self.attributes);
        made
    }
}

fn duplicate_later(
    handle: abi::Comm,
    hints: abi::Info,
    newcomm: Out<abi::Comm>,
    request: Out<abi::Request>,
) -> Result<(), Failure> {
    let (comm, hints) = {
        let state = check::running()?;
        newcomm.write(abi::Comm(MPI_COMM_NULL))?;
        request.write(abi::Request(MPI_REQUEST_NULL))?;
        (valid::comm(&state, handle)?.clone(), info::hints(&state, hints)?)
    };
    let made = insert_twin(&comm, handle, twin(&comm, NO_CONTEXT, hints));
    let mut state = runtime::enter();
    let agreement = Agreement::start(&mut state, &comm, making_tag(&comm), Vec::new(), 0);
    let new = made.as_ref().map_or(abi::Comm(MPI_COMM_NULL), |&new| new);
    let started = request::start(&mut state, Box::new(Idup { new, agreement, result: Ok(()) }));
    if let Err(failure) = made {
        // The other ranks still need what this one tells them; nobody waits for it here.
        REQUESTS.of_mut(&mut state).remove(started.0);
        return Err(failure);
    }
    newcomm.write(new)?;
    request.write(started)
}

mpi! {
    /// As dup, without waiting for the others; the new communicator is good when the request is complete.
    fn PMPI_Comm_idup(comm: abi::Comm, newcomm: Out<abi::Comm>, request: Out<abi::Request>) on comm {
        duplicate_later(comm, abi::Info(MPI_INFO_NULL), newcomm, request)
    }

    /// As idup, with hints.
    fn PMPI_Comm_idup_with_info(
        comm: abi::Comm, info: abi::Info, newcomm: Out<abi::Comm>, request: Out<abi::Request>,
    ) on comm {
        duplicate_later(comm, info, newcomm, request)
    }
}
