//! How much a status says was received (MPI 5.0, sections 3.2.5, 5.1.11 and 13.3).

use crate::abi;
use crate::abi::values::MPI_ERR_ARG;
use crate::check::{self, Failure, mpi};
use crate::datatype::{Integer, count, predefined_size};
use std::ffi::c_int;

impl abi::Status {
    /// Bytes received.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.internal[0] as u32 as usize | (self.internal[1] as u32 as usize) << 32
    }

    /// Says how many bytes were received.
    #[inline]
    pub fn set_bytes(&mut self, bytes: usize) {
        self.internal[0] = bytes as u32 as c_int;
        self.internal[1] = (bytes >> 32) as u32 as c_int;
    }
}

/// Whole elements of `size` bytes; nothing when `bytes` aren't a whole number of them.
fn whole(bytes: usize, size: usize) -> Option<usize> {
    if size == 0 {
        return (bytes == 0).then_some(0);
    }
    bytes.is_multiple_of(size).then(|| bytes / size)
}

fn get_count<N: Integer>(
    status: *const abi::Status,
    datatype: abi::Datatype,
    count: *mut N,
) -> Result<(), Failure> {
    let bytes = check::output(status.cast_mut(), "status")?.bytes();
    let count = check::output(count, "count")?;
    let size = match predefined_size(datatype) {
        Some(size) => size,
        None => check::running()?.valid_datatype(datatype)?.size,
    };
    *count = whole(bytes, size).map_or(N::undefined(), N::or_undefined);
    Ok(())
}

fn get_elements<N: Integer>(
    status: *const abi::Status,
    datatype: abi::Datatype,
    count: *mut N,
) -> Result<(), Failure> {
    let bytes = check::output(status.cast_mut(), "status")?.bytes();
    let count = check::output(count, "count")?;
    let state = check::running()?;
    let datatype = state.valid_datatype(datatype)?;
    let all = datatype.signature().totals();
    *count = match bytes.checked_div(all.bytes) {
        None if bytes == 0 => N::or_undefined(0),
        None => N::undefined(),
        Some(whole) => {
            let rest = bytes % all.bytes;
            let within = datatype.signature().within(rest);
            if within.bytes == rest {
                N::or_undefined(whole * all.elements + within.elements)
            } else {
                N::undefined()
            }
        }
    };
    Ok(())
}

fn set_elements<N: Integer>(
    status: *mut abi::Status,
    datatype: abi::Datatype,
    elements: N,
) -> Result<(), Failure> {
    let status = check::output(status, "status")?;
    let elements = count(elements, "count")? as usize;
    let state = check::running()?;
    let signature = state.valid_datatype(datatype)?.signature();
    let all = signature.totals();
    let bytes = match elements.checked_div(all.elements) {
        None => 0,
        Some(whole) => whole
            .checked_mul(all.bytes)
            .ok_or_else(|| {
                Failure::new(
                    MPI_ERR_ARG,
                    format_args!("{elements} elements are more bytes than 64 bits hold"),
                )
            })?
            .saturating_add(signature.first(elements % all.elements).bytes),
    };
    status.set_bytes(bytes);
    Ok(())
}

mpi! {
    /// Section 3.2.5.
    fn PMPI_Get_count(status: *const abi::Status, datatype: abi::Datatype, count: *mut c_int) {
        get_count(status, datatype, count)
    }

    /// Section 3.2.5.
    fn PMPI_Get_count_c(status: *const abi::Status, datatype: abi::Datatype, count: *mut abi::Count) {
        get_count(status, datatype, count)
    }

    /// Section 5.1.11.
    fn PMPI_Get_elements(status: *const abi::Status, datatype: abi::Datatype, count: *mut c_int) {
        get_elements(status, datatype, count)
    }

    /// Section 5.1.11.
    fn PMPI_Get_elements_c(status: *const abi::Status, datatype: abi::Datatype, count: *mut abi::Count) {
        get_elements(status, datatype, count)
    }

    /// Section 5.1.11, deprecated.
    fn PMPI_Get_elements_x(status: *const abi::Status, datatype: abi::Datatype, count: *mut abi::Count) {
        get_elements(status, datatype, count)
    }

    /// Section 13.3.
    fn PMPI_Status_set_elements(status: *mut abi::Status, datatype: abi::Datatype, count: c_int) {
        set_elements(status, datatype, count)
    }

    /// Section 13.3.
    fn PMPI_Status_set_elements_c(status: *mut abi::Status, datatype: abi::Datatype, count: abi::Count) {
        set_elements(status, datatype, count)
    }

    /// Section 13.3, deprecated.
    fn PMPI_Status_set_elements_x(status: *mut abi::Status, datatype: abi::Datatype, count: abi::Count) {
        set_elements(status, datatype, count)
    }
}
