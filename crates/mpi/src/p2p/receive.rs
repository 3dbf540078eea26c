//! Receives (MPI 5.0, sections 3.2.4 and 3.7.2).

use super::{arguments, counted};
use crate::abi;
use crate::call::Out;
use crate::check::{self, Failure};
use crate::datatype::{MessageData, message_data};
use crate::handles;
use crate::request;
use crate::runtime;
use std::ffi::{c_int, c_void};
use transport::{FROM_NOBODY, RECEIVED_FROM_NOBODY};

// Inlined always: the data stays in registers.
#[inline(always)]
fn blocking(
    data: MessageData,
    source: c_int,
    tag: c_int,
    comm: abi::Comm,
    status: Out<'_, abi::Status>,
) -> Result<(), Failure> {
    let mut state = check::running()?;
    let ended = match arguments::receiving(&mut state, data, source, tag, comm)? {
        None => RECEIVED_FROM_NOBODY,
        Some((pattern, from, buffer)) => runtime::receive(state, pattern, from, &buffer),
    };
    status.give(abi::Status::of(&ended));
    request::failure(&ended)
}

// Inlined always: the data stays in registers.
#[inline(always)]
fn immediate(
    data: MessageData,
    source: c_int,
    tag: c_int,
    comm: abi::Comm,
    request: Out<'_, abi::Request>,
) -> Result<(), Failure> {
    request.present()?;
    let mut state = check::running()?;
    let posted = arguments::receive(&mut state, data, source, tag, comm)?;
    request.write(abi::Request(handles::of_transfer(posted.map_or(FROM_NOBODY, |(id, _)| id))))
}

counted! {
    /// A receive. The status may be `MPI_STATUS_IGNORE`.
    fn PMPI_Recv / PMPI_Recv_c(
        buf: *mut c_void, count: N, datatype: abi::Datatype, source: c_int, tag: c_int, comm: abi::Comm,
        status: Out<abi::Status>,
    ) on comm {
        blocking(message_data!(buf, count, datatype), source, tag, comm, status)
    }

    /// A receive that never waits.
    fn PMPI_Irecv / PMPI_Irecv_c(
        buf: *mut c_void, count: N, datatype: abi::Datatype, source: c_int, tag: c_int, comm: abi::Comm,
        request: Out<abi::Request>,
    ) on comm {
        immediate(message_data!(buf, count, datatype), source, tag, comm, request)
    }
}
