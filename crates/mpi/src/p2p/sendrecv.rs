//! A send and a receive in one (MPI 5.0, sections 3.10 and 3.7.2).

use super::counted;
use super::operation::{Receiving, Sending, receiving, sending};
use crate::abi::{self, Status};
use crate::call::Out;
use crate::check::{self, Failure};
use crate::datatype::{MessageData, message_data};
use crate::request::{self, Both, Request};
use crate::runtime::{self, Entered, State};
use std::ffi::{c_int, c_void};
use transport::{Buffer, Mode, RECEIVED_FROM_NOBODY};

/// Starts both; the receive first, so that a message to oneself finds it.
fn start(
    state: &mut State,
    sending: &Sending,
    receiving: &Receiving,
    keeps: Option<Box<[u8]>>,
) -> abi::Request {
    let receive = receiving.start(state);
    let send = sending.start(state, Mode::Standard);
    request::insert(state, Request::Both(Both { send, receive, keeps }))
}

/// An exchange that can start: both operations, and the copy of the data that the send reads.
type PreparedExchange = (Entered, Sending, Receiving, Box<[u8]>);

/// What both sides of an exchange in one buffer are.
struct Replace {
    data: MessageData,
    to: (c_int, c_int),
    from: (c_int, c_int),
    comm: abi::Comm,
}

impl Replace {
    /// The two operations, the data to be sent being copied before.
    fn prepare(self) -> Result<PreparedExchange, Failure> {
        let state = check::running()?;
        let Self { data, to, from, comm } = self;
        let mut sending = sending(&state, data, to.0, to.1, comm)?;
        let receiving = receiving(&state, data, from.0, from.1, comm)?;
        // SAFETY: the program lends the buffer until the send is complete.
        let mut data = unsafe { sending.buffer.packed() };
        // SAFETY: the data is kept until the send is complete.
        sending.buffer = unsafe { Buffer::new(data.as_mut_ptr(), data.len()) };
        Ok((state, sending, receiving, data))
    }
}

/// Does both and gives the receive's status.
fn exchange(
    mut state: Entered,
    sending: &Sending,
    receiving: &Receiving,
    status: Out<'_, Status>,
) -> Result<(), Failure> {
    // The message goes out first, so that it is on its way meanwhile; one to this rank itself should find its receive.
    let own = sending.to == Some(state.engine.rank());
    let early = if own { None } else { sending.post(&mut state, Mode::Standard) };
    let received = receiving.post(&mut state);
    let sent = if own { sending.post(&mut state, Mode::Standard) } else { early };
    let ended = match received {
        None => RECEIVED_FROM_NOBODY,
        Some((id, from)) => {
            let ended = runtime::wait_for_receive(state, id, from);
            state = runtime::enter();
            ended
        }
    };
    if let Some(id) = sent {
        runtime::wait_for(state, id, None);
    }
    status.give(Status::of(&ended));
    request::failure(&ended)
}

counted! {
    /// MPI 5.0, section 3.10.
    fn PMPI_Sendrecv / PMPI_Sendrecv_c(
        sendbuf: *const c_void, sendcount: N, sendtype: abi::Datatype, dest: c_int, sendtag: c_int,
        recvbuf: *mut c_void, recvcount: N, recvtype: abi::Datatype, source: c_int, recvtag: c_int,
        comm: abi::Comm, status: Out<Status>,
    ) on comm {
        let state = check::running()?;
        let sending = sending(&state, message_data!(sendbuf, sendcount, sendtype), dest, sendtag, comm)?;
        let receiving = receiving(&state, message_data!(recvbuf, recvcount, recvtype), source, recvtag, comm)?;
        exchange(state, &sending, &receiving, status)
    }

    /// MPI 5.0, section 3.10.
    fn PMPI_Sendrecv_replace / PMPI_Sendrecv_replace_c(
        buf: *mut c_void, count: N, datatype: abi::Datatype, dest: c_int, sendtag: c_int, source: c_int,
        recvtag: c_int, comm: abi::Comm, status: Out<Status>,
    ) on comm {
        let (to, from) = ((dest, sendtag), (source, recvtag));
        let (state, sending, receiving, _data) =
            Replace { data: message_data!(buf, count, datatype), to, from, comm }.prepare()?;
        exchange(state, &sending, &receiving, status)
    }

    /// MPI 5.0, section 3.7.2.
    fn PMPI_Isendrecv / PMPI_Isendrecv_c(
        sendbuf: *const c_void, sendcount: N, sendtype: abi::Datatype, dest: c_int, sendtag: c_int,
        recvbuf: *mut c_void, recvcount: N, recvtype: abi::Datatype, source: c_int, recvtag: c_int,
        comm: abi::Comm, request: Out<abi::Request>,
    ) on comm {
        let mut state = check::running()?;
        request.present()?;
        let sending = sending(&state, message_data!(sendbuf, sendcount, sendtype), dest, sendtag, comm)?;
        let receiving = receiving(&state, message_data!(recvbuf, recvcount, recvtype), source, recvtag, comm)?;
        request.write(start(&mut state, &sending, &receiving, None))
    }

    /// MPI 5.0, section 3.7.2.
    fn PMPI_Isendrecv_replace / PMPI_Isendrecv_replace_c(
        buf: *mut c_void, count: N, datatype: abi::Datatype, dest: c_int, sendtag: c_int, source: c_int,
        recvtag: c_int, comm: abi::Comm, request: Out<abi::Request>,
    ) on comm {
        request.present()?;
        let (to, from) = ((dest, sendtag), (source, recvtag));
        let (mut state, sending, receiving, data) =
            Replace { data: message_data!(buf, count, datatype), to, from, comm }.prepare()?;
        request.write(start(&mut state, &sending, &receiving, Some(data)))
    }
}
