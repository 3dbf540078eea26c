//! How much a status says was received (MPI 5.0, sections 3.2.5, 5.1.11 and 13.3).

use crate::abi;
use crate::abi::values::MPI_ERR_ARG;
use crate::call::{In, Out};
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::datatype::{Integer, count, predefined_size};
use std::ffi::c_int;

/// Whole elements of `size` bytes; nothing when `bytes` aren't a whole number of them.
fn whole(bytes: usize, size: usize) -> Option<usize> {
    if size == 0 {
        return (bytes == 0).then_some(0);
    }
    bytes.is_multiple_of(size).then(|| bytes / size)
}

fn get_count<N: Integer>(
    status: In<'_, abi::Status>,
    datatype: abi::Datatype,
    count: Out<'_, N>,
) -> Result<(), Failure> {
    let bytes = status.bytes()?;
    count.present()?;
    let size = match predefined_size(datatype) {
        Some(size) => size,
        None => check::running()?.valid_datatype(datatype)?.size,
    };
    count.write(whole(bytes, size).map_or(N::undefined(), N::or_undefined))
}

fn get_elements<N: Integer>(
    status: In<'_, abi::Status>,
    datatype: abi::Datatype,
    count: Out<'_, N>,
) -> Result<(), Failure> {
    let bytes = status.bytes()?;
    count.present()?;
    let state = check::running()?;
    let datatype = state.valid_datatype(datatype)?;
    let all = datatype.signature().totals();
    count.write(match bytes.checked_div(all.bytes) {
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
    })
}

fn set_elements<N: Integer>(
    status: Out<'_, abi::Status>,
    datatype: abi::Datatype,
    elements: N,
) -> Result<(), Failure> {
    status.present()?;
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
    fn PMPI_Get_count(status: In<abi::Status>, datatype: abi::Datatype, count: Out<c_int>) {
        get_count(status, datatype, count)
    }

    /// Section 3.2.5.
    fn PMPI_Get_count_c(status: In<abi::Status>, datatype: abi::Datatype, count: Out<abi::Count>) {
        get_count(status, datatype, count)
    }

    /// Section 5.1.11.
    fn PMPI_Get_elements(status: In<abi::Status>, datatype: abi::Datatype, count: Out<c_int>) {
        get_elements(status, datatype, count)
    }

    /// Section 5.1.11.
    fn PMPI_Get_elements_c(status: In<abi::Status>, datatype: abi::Datatype, count: Out<abi::Count>) {
        get_elements(status, datatype, count)
    }

    /// Section 5.1.11, deprecated.
    fn PMPI_Get_elements_x(status: In<abi::Status>, datatype: abi::Datatype, count: Out<abi::Count>) {
        get_elements(status, datatype, count)
    }

    /// Section 13.3.
    fn PMPI_Status_set_elements(status: Out<abi::Status>, datatype: abi::Datatype, count: c_int) {
        set_elements(status, datatype, count)
    }

    /// Section 13.3.
    fn PMPI_Status_set_elements_c(status: Out<abi::Status>, datatype: abi::Datatype, count: abi::Count) {
        set_elements(status, datatype, count)
    }

    /// Section 13.3, deprecated.
    fn PMPI_Status_set_elements_x(status: Out<abi::Status>, datatype: abi::Datatype, count: abi::Count) {
        set_elements(status, datatype, count)
    }
}
