//! Operations that are started again and again (MPI 5.0, section 3.9).

use super::operation::{Receiving, Sending, receiving, sending};
use super::{buffered, counted};
use crate::abi;
use crate::abi::values::MPI_ERR_REQUEST;
use crate::call::{InOut, Out};
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::datatype::message_data;
use crate::request::REQUESTS;
use crate::request::{self, Persistent, Recipe, Request};
use crate::runtime::State;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use transport::Mode;

/// A send in standard, ready or synchronous mode.
struct Send {
    sending: Sending,
    mode: Mode,
}

impl Send {
    fn standard(sending: Sending) -> Self {
        Self { sending, mode: Mode::Standard }
    }

    fn synchronous(sending: Sending) -> Self {
        Self { sending, mode: Mode::Synchronous }
    }
}

/// A send in buffered mode.
struct BufferedSend(Sending);

struct Receive(Receiving);

impl Recipe for Send {
    fn start(&self, state: &mut State) -> Result<abi::Request, Failure> {
        Ok(self.sending.start(state, self.mode))
    }
}

impl Recipe for BufferedSend {
    fn start(&self, state: &mut State) -> Result<abi::Request, Failure> {
        buffered::send(state, &self.0)
    }
}

impl Recipe for Receive {
    fn start(&self, state: &mut State) -> Result<abi::Request, Failure> {
        Ok(self.0.start(state))
    }
}

/// A persistent request, not started.
fn make(state: &mut State, recipe: impl Recipe + 'static) -> abi::Request {
    request::insert(state, Request::Persistent(Persistent { recipe: Arc::new(recipe), active: None }))
}

fn start(state: &mut State, handle: abi::Request, name: &str) -> Result<(), Failure> {
    let recipe = match REQUESTS.of(state).get(handle.0) {
        Some(Request::Persistent(Persistent { active: Some(_), .. })) => {
            let text = format_args!(
                "{name} is active already; allowed is a persistent request that was not started or was completed"
            );
            return Err(Failure::new(MPI_ERR_REQUEST, text));
        }
        Some(Request::Persistent(persistent)) => persistent.recipe.clone(),
        Some(_) => {
            let text =
                format_args!("{name} is not persistent; allowed is a request of MPI_Send_init and its like");
            return Err(Failure::new(MPI_ERR_REQUEST, text));
        }
        None => return Err(request::not_a_request(handle, name)),
    };
    let started = recipe.start(state)?;
    if let Some(Request::Persistent(persistent)) = REQUESTS.of_mut(state).get_mut(handle.0) {
        persistent.active = Some(started);
    }
    Ok(())
}

mpi! {
    /// MPI 5.0, section 3.9.
    fn PMPI_Start(request: InOut<abi::Request>) {
        let handle = request.read()?;
        start(&mut *check::running()?, handle, "request")
    }

    /// MPI 5.0, section 3.9.
    fn PMPI_Startall(count: c_int, array_of_requests[count]: InOut<abi::Request>) {
        let mut state = check::running()?;
        let requests = array_of_requests.reading();
        request::present(count, requests)?;
        (0..requests.len()).try_for_each(|index| {
            start(&mut state, requests.get(index), &format!("array_of_requests[{index}]"))
        })
    }
}

/// The functions that make persistent requests: of a send with the recipe that it becomes, and of the receive.
macro_rules! inits {
    ($($buffer:ty, $arguments:ident => $recipe:expr, $peer:ident: $init:ident / $init_c:ident;)*) => {counted! {$(
        /// MPI 5.0, section 3.9.
        fn $init / $init_c(
            buf: $buffer, count: N, datatype: abi::Datatype, $peer: c_int, tag: c_int, comm: abi::Comm,
            request: Out<abi::Request>,
        ) on comm {
            let mut state = check::running()?;
            request.present()?;
            let operation = $arguments(&state, message_data!(buf, count, datatype), $peer, tag, comm)?;
            request.write(make(&mut state, $recipe(operation)))
        }
    )*}};
}

inits! {
    *const c_void, sending => Send::standard, dest: PMPI_Send_init / PMPI_Send_init_c;
    *const c_void, sending => Send::synchronous, dest: PMPI_Ssend_init / PMPI_Ssend_init_c;
    // A standard send keeps every promise made to a ready one.
    *const c_void, sending => Send::standard, dest: PMPI_Rsend_init / PMPI_Rsend_init_c;
    *const c_void, sending => BufferedSend, dest: PMPI_Bsend_init / PMPI_Bsend_init_c;
    *mut c_void, receiving => Receive, source: PMPI_Recv_init / PMPI_Recv_init_c;
}
