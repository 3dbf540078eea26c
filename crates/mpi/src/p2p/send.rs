//! Sends (MPI 5.0, sections 3.2.1, 3.4 and 3.7.2).

use super::{arguments, counted};
use crate::abi;
use crate::call::Out;
use crate::check::{self, Failure};
use crate::datatype::{MessageData, message_data};
use crate::runtime;
use std::ffi::{c_int, c_void};
use transport::Mode;

// Inlined always: the data stays in registers.
#[inline(always)]
fn blocking(data: MessageData, dest: c_int, tag: c_int, comm: abi::Comm, mode: Mode) -> Result<(), Failure> {
    let mut state = check::running()?;
    let sent = arguments::send(&mut state, data, dest, tag, comm, |engine, to, envelope, buffer| {
        engine.send(to, envelope, buffer, mode)
    })?;
    if let Some(id) = sent.flatten() {
        runtime::wait_for(state, id, None);
    }
    Ok(())
}

// Inlined always: the data stays in registers.
#[inline(always)]
fn immediate(
    data: MessageData,
    dest: c_int,
    tag: c_int,
    comm: abi::Comm,
    request: Out<'_, abi::Request>,
    mode: Mode,
) -> Result<(), Failure> {
    request.present()?;
    let mut state = check::running()?;
    let sent = arguments::send(&mut state, data, dest, tag, comm, |engine, to, envelope, buffer| {
        engine.send_by_id(to, envelope, buffer, mode)
    })?;
    request.write(arguments::request(sent))
}

macro_rules! sends {
    ($($(#[$doc:meta])* $mode:ident: $send:ident / $send_c:ident, $isend:ident / $isend_c:ident;)*) => {counted! {$(
        $(#[$doc])*
        fn $send / $send_c(
            buf: *const c_void, count: N, datatype: abi::Datatype, dest: c_int, tag: c_int, comm: abi::Comm,
        ) on comm {
            blocking(message_data!(buf, count, datatype), dest, tag, comm, Mode::$mode)
        }

        $(#[$doc])*
        ///
        /// Never waits.
        fn $isend / $isend_c(
            buf: *const c_void, count: N, datatype: abi::Datatype, dest: c_int, tag: c_int, comm: abi::Comm,
            request: Out<abi::Request>,
        ) on comm {
            immediate(message_data!(buf, count, datatype), dest, tag, comm, request, Mode::$mode)
        }
    )*}};
}

sends! {
    /// A standard send: complete when the buffer may be used again.
    Standard: PMPI_Send / PMPI_Send_c, PMPI_Isend / PMPI_Isend_c;
    /// A synchronous send: complete when the receive has started.
    Synchronous: PMPI_Ssend / PMPI_Ssend_c, PMPI_Issend / PMPI_Issend_c;
    /// A ready send: the program promises that the receive is posted, and a standard send keeps every promise made to
    /// it.
    Standard: PMPI_Rsend / PMPI_Rsend_c, PMPI_Irsend / PMPI_Irsend_c;
}
