//! Sizes and bounds (MPI 5.0, sections 5.1.5, 5.1.7 and 5.1.8).

use super::Integer;
use crate::abi;
use crate::check::{self, Failure, mpi};
use std::ffi::c_int;

fn extent(datatype: abi::Datatype, lb: *mut isize, extent: *mut isize) -> Result<(), Failure> {
    let state = check::running()?;
    let of = state.valid_datatype(datatype)?;
    *check::output(lb, "lb")? = of.lb;
    *check::output(extent, "extent")? = of.extent;
    Ok(())
}

fn true_extent(datatype: abi::Datatype, lb: *mut isize, extent: *mut isize) -> Result<(), Failure> {
    let state = check::running()?;
    let of = state.valid_datatype(datatype)?;
    *check::output(lb, "true_lb")? = of.true_lb;
    *check::output(extent, "true_extent")? = of.true_extent;
    Ok(())
}

fn size<N: Integer>(datatype: abi::Datatype, size: *mut N) -> Result<(), Failure> {
    let state = check::running()?;
    *check::output(size, "size")? = N::or_undefined(state.valid_datatype(datatype)?.size);
    Ok(())
}

mpi! {
    /// Section 5.1.5.
    fn PMPI_Type_size(datatype: abi::Datatype, size: *mut c_int) {
        self::size(datatype, size)
    }

    /// Section 5.1.5.
    fn PMPI_Type_size_c(datatype: abi::Datatype, size: *mut abi::Count) {
        self::size(datatype, size)
    }

    /// Section 5.1.5, deprecated.
    fn PMPI_Type_size_x(datatype: abi::Datatype, size: *mut abi::Count) {
        self::size(datatype, size)
    }

    /// Section 5.1.7.
    fn PMPI_Type_get_extent(datatype: abi::Datatype, lb: *mut abi::Aint, extent: *mut abi::Aint) {
        self::extent(datatype, lb, extent)
    }

    /// Section 5.1.7.
    fn PMPI_Type_get_extent_c(datatype: abi::Datatype, lb: *mut abi::Count, extent: *mut abi::Count) {
        self::extent(datatype, lb.cast(), extent.cast())
    }

    /// Section 5.1.7, deprecated.
    fn PMPI_Type_get_extent_x(datatype: abi::Datatype, lb: *mut abi::Count, extent: *mut abi::Count) {
        self::extent(datatype, lb.cast(), extent.cast())
    }

    /// Section 5.1.8.
    fn PMPI_Type_get_true_extent(datatype: abi::Datatype, true_lb: *mut abi::Aint, true_extent: *mut abi::Aint) {
        self::true_extent(datatype, true_lb, true_extent)
    }

    /// Section 5.1.8.
    fn PMPI_Type_get_true_extent_c(datatype: abi::Datatype, true_lb: *mut abi::Count, true_extent: *mut abi::Count) {
        self::true_extent(datatype, true_lb.cast(), true_extent.cast())
    }

    /// Section 5.1.8, deprecated.
    fn PMPI_Type_get_true_extent_x(datatype: abi::Datatype, true_lb: *mut abi::Count, true_extent: *mut abi::Count) {
        self::true_extent(datatype, true_lb.cast(), true_extent.cast())
    }
}
