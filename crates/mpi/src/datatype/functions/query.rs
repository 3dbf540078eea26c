//! Sizes and bounds (MPI 5.0, sections 5.1.5, 5.1.7 and 5.1.8).

use super::Integer;
use crate::abi;
use crate::call::Out;
use crate::check::{self, Failure};
use crate::comm::mpi;
use std::ffi::c_int;

fn extent<A>(
    datatype: abi::Datatype,
    lb: Out<'_, A>,
    extent: Out<'_, A>,
    integer: fn(isize) -> A,
) -> Result<(), Failure> {
    let state = check::running()?;
    let of = state.valid_datatype(datatype)?;
    lb.write(integer(of.lb))?;
    extent.write(integer(of.extent))
}

fn true_extent<A>(
    datatype: abi::Datatype,
    true_lb: Out<'_, A>,
    true_extent: Out<'_, A>,
    integer: fn(isize) -> A,
) -> Result<(), Failure> {
    let state = check::running()?;
    let of = state.valid_datatype(datatype)?;
    true_lb.write(integer(of.true_lb))?;
    true_extent.write(integer(of.true_extent))
}

fn count(address: isize) -> abi::Count {
    address as abi::Count
}

fn size<N: Integer>(datatype: abi::Datatype, size: Out<'_, N>) -> Result<(), Failure> {
    let state = check::running()?;
    size.write(N::or_undefined(state.valid_datatype(datatype)?.size))
}

mpi! {
    /// Section 5.1.5.
    fn PMPI_Type_size(datatype: abi::Datatype, size: Out<c_int>) {
        self::size(datatype, size)
    }

    /// Section 5.1.5.
    fn PMPI_Type_size_c(datatype: abi::Datatype, size: Out<abi::Count>) {
        self::size(datatype, size)
    }

    /// Section 5.1.5, deprecated.
    fn PMPI_Type_size_x(datatype: abi::Datatype, size: Out<abi::Count>) {
        self::size(datatype, size)
    }

    /// MPI 1: the extent alone.
    fn PMPI_Type_extent(datatype: abi::Datatype, extent: Out<abi::Aint>) {
        extent.write(check::running()?.valid_datatype(datatype)?.extent)
    }

    /// MPI 1: the lower bound alone.
    fn PMPI_Type_lb(datatype: abi::Datatype, displacement: Out<abi::Aint>) {
        displacement.write(check::running()?.valid_datatype(datatype)?.lb)
    }

    /// MPI 1: the upper bound.
    fn PMPI_Type_ub(datatype: abi::Datatype, displacement: Out<abi::Aint>) {
        let state = check::running()?;
        let of = state.valid_datatype(datatype)?;
        displacement.write(of.lb.wrapping_add(of.extent))
    }

    /// Section 5.1.7.
    fn PMPI_Type_get_extent(datatype: abi::Datatype, lb: Out<abi::Aint>, extent: Out<abi::Aint>) {
        self::extent(datatype, lb, extent, |lb| lb)
    }

    /// Section 5.1.7.
    fn PMPI_Type_get_extent_c(datatype: abi::Datatype, lb: Out<abi::Count>, extent: Out<abi::Count>) {
        self::extent(datatype, lb, extent, count)
    }

    /// Section 5.1.7, deprecated.
    fn PMPI_Type_get_extent_x(datatype: abi::Datatype, lb: Out<abi::Count>, extent: Out<abi::Count>) {
        self::extent(datatype, lb, extent, count)
    }

    /// Section 5.1.8.
    fn PMPI_Type_get_true_extent(datatype: abi::Datatype, true_lb: Out<abi::Aint>, true_extent: Out<abi::Aint>) {
        self::true_extent(datatype, true_lb, true_extent, |lb| lb)
    }

    /// Section 5.1.8.
    fn PMPI_Type_get_true_extent_c(datatype: abi::Datatype, true_lb: Out<abi::Count>, true_extent: Out<abi::Count>) {
        self::true_extent(datatype, true_lb, true_extent, count)
    }

    /// Section 5.1.8, deprecated.
    fn PMPI_Type_get_true_extent_x(datatype: abi::Datatype, true_lb: Out<abi::Count>, true_extent: Out<abi::Count>) {
        self::true_extent(datatype, true_lb, true_extent, count)
    }
}
