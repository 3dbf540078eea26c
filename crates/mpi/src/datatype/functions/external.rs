//! Pack and unpack in `external32` (MPI 5.0, section 5.2).

use super::pack::{total, window};
use super::{Integer, count};
use crate::abi;
use crate::abi::values::MPI_ERR_UNSUPPORTED_DATAREP;
use crate::call::{In, InOut, Out};
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::datatype::Datatype;
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

/// The datatype, the count, and the external bytes of that.
type ExternalData = (Arc<Datatype>, usize, usize);

/// The data to pack or unpack, or its size alone: a program may ask for that before the datatype is committed.
fn data<N: Integer>(
    datarep: In<'_, c_char>,
    (n, name): (N, &str),
    datatype: abi::Datatype,
    size_only: bool,
) -> Result<ExternalData, Failure> {
    let representation = datarep.text()?;
    if representation != b"external32" {
        let representation = String::from_utf8_lossy(&representation);
        return Err(Failure::new(
            MPI_ERR_UNSUPPORTED_DATAREP,
            format_args!("datarep is {representation:?}; allowed is \"external32\""),
        ));
    }
    let state = check::running()?;
    let n = count(n, name)? as usize;
    let datatype =
        if size_only { state.valid_datatype(datatype)? } else { state.committed_datatype(datatype)? };
    total(datatype.size, n)?;
    let bytes = total(datatype.signature().totals().external, n)?;
    Ok((datatype.clone(), n, bytes))
}

/// # Safety
/// As `MPI_Pack_external`'s.
unsafe fn pack<A: Integer>(
    from: *const c_void,
    (datatype, count, bytes): ExternalData,
    (into, size, position): (*mut c_void, A, InOut<'_, A>),
) -> Result<(), Failure> {
    let (place, after) = window(into, (size, "outsize"), position, bytes)?;
    if bytes > 0 {
        // SAFETY: the caller promises `outsize` bytes, of which the window is a part, and the data at `from`.
        unsafe {
            let into = std::slice::from_raw_parts_mut(place, bytes);
            datatype.pack_external(from.cast(), count, into)?;
        }
    }
    position.write(after)
}

/// # Safety
/// As `MPI_Unpack_external`'s.
unsafe fn unpack<A: Integer>(
    (from, size, position): (*const c_void, A, InOut<'_, A>),
    into: *mut c_void,
    (datatype, count, bytes): ExternalData,
) -> Result<(), Failure> {
    let (place, after) = window(from, (size, "insize"), position, bytes)?;
    if bytes > 0 {
        // SAFETY: the caller promises `insize` bytes, of which the window is a part, and the data at `into`.
        unsafe {
            let from = std::slice::from_raw_parts(place, bytes);
            datatype.unpack_external(into.cast(), count, from);
        }
    }
    position.write(after)
}

mpi! {
    /// Section 5.2.
    fn PMPI_Pack_external(
        datarep: In<c_char>, inbuf: *const c_void, incount: c_int, datatype: abi::Datatype, outbuf: *mut c_void,
        outsize: abi::Aint, position: InOut<abi::Aint>,
    ) {
        let data = data(datarep, (incount, "incount"), datatype, false)?;
        // SAFETY: the C caller promises valid buffers.
        unsafe { pack(inbuf, data, (outbuf, outsize, position)) }
    }

    /// Section 5.2.
    fn PMPI_Pack_external_c(
        datarep: In<c_char>, inbuf: *const c_void, incount: abi::Count, datatype: abi::Datatype, outbuf: *mut c_void,
        outsize: abi::Count, position: InOut<abi::Count>,
    ) {
        let data = data(datarep, (incount, "incount"), datatype, false)?;
        // SAFETY: the C caller promises valid buffers.
        unsafe { pack(inbuf, data, (outbuf, outsize, position)) }
    }

    /// Section 5.2.
    fn PMPI_Unpack_external(
        datarep: In<c_char>, inbuf: *const c_void, insize: abi::Aint, position: InOut<abi::Aint>, outbuf: *mut c_void,
        outcount: c_int, datatype: abi::Datatype,
    ) {
        let data = data(datarep, (outcount, "outcount"), datatype, false)?;
        // SAFETY: the C caller promises valid buffers.
        unsafe { unpack((inbuf, insize, position), outbuf, data) }
    }

    /// Section 5.2.
    fn PMPI_Unpack_external_c(
        datarep: In<c_char>, inbuf: *const c_void, insize: abi::Count, position: InOut<abi::Count>, outbuf: *mut c_void,
        outcount: abi::Count, datatype: abi::Datatype,
    ) {
        let data = data(datarep, (outcount, "outcount"), datatype, false)?;
        // SAFETY: the C caller promises valid buffers.
        unsafe { unpack((inbuf, insize, position), outbuf, data) }
    }

    /// Section 5.2.
    fn PMPI_Pack_external_size(datarep: In<c_char>, incount: c_int, datatype: abi::Datatype, size: Out<abi::Aint>) {
        size.write(data(datarep, (incount, "incount"), datatype, true)?.2 as abi::Aint)
    }

    /// Section 5.2.
    fn PMPI_Pack_external_size_c(
        datarep: In<c_char>, incount: abi::Count, datatype: abi::Datatype, size: Out<abi::Count>,
    ) {
        size.write(data(datarep, (incount, "incount"), datatype, true)?.2 as abi::Count)
    }
}
