//! Constructors of parts of arrays (MPI 5.0, sections 5.1.3 and 5.1.4).

use super::make::derive;
use super::{Integer, array as ints, integers};
use crate::abi;
use crate::check::{Failure, mpi};
use crate::datatype::array::{self, Dimension};
use std::ffi::c_int;

/// # Safety
/// The arrays have `ndims` values.
unsafe fn subarray<N: Integer>(
    large: bool,
    (ndims, sizes, subsizes, starts): (c_int, *const N, *const N, *const N),
    (order, old): (c_int, abi::Datatype),
    new: *mut abi::Datatype,
) -> Result<(), Failure> {
    let n = ndims.max(0) as usize;
    // SAFETY: the caller's word.
    let (sizes, subsizes, starts) = unsafe {
        (
            integers(sizes, n, "array_of_sizes")?,
            integers(subsizes, n, "array_of_subsizes")?,
            integers(starts, n, "array_of_starts")?,
        )
    };
    derive(old, new, |old| array::subarray(large, (&sizes, &subsizes, &starts), order, old))
}

/// # Safety
/// The arrays have `ndims` values.
unsafe fn darray<N: Integer>(
    large: bool,
    (size, rank, ndims): (c_int, c_int, c_int),
    (global, distributions, arguments, processes): (*const N, *const c_int, *const c_int, *const c_int),
    (order, old): (c_int, abi::Datatype),
    new: *mut abi::Datatype,
) -> Result<(), Failure> {
    let n = ndims.max(0) as usize;
    // SAFETY: the caller's word.
    let (global, distributions, arguments, processes) = unsafe {
        (
            integers(global, n, "array_of_gsizes")?,
            ints(distributions, n, "array_of_distribs")?,
            ints(arguments, n, "array_of_dargs")?,
            ints(processes, n, "array_of_psizes")?,
        )
    };
    let dimensions: Vec<Dimension> = (0..n)
        .map(|i| Dimension {
            global: global[i],
            distribution: distributions[i],
            argument: arguments[i],
            processes: processes[i],
        })
        .collect();
    derive(old, new, |old| array::darray(large, (size, rank), &dimensions, order, old))
}

mpi! {
    /// Section 5.1.3.
    fn PMPI_Type_create_subarray(ndims: c_int, array_of_sizes: *const c_int, array_of_subsizes: *const c_int, array_of_starts: *const c_int, order: c_int, oldtype: abi::Datatype, newtype: *mut abi::Datatype) {
        // SAFETY: the C caller's word.
        unsafe { subarray(false, (ndims, array_of_sizes, array_of_subsizes, array_of_starts), (order, oldtype), newtype) }
    }

    /// Section 5.1.3.
    fn PMPI_Type_create_subarray_c(ndims: c_int, array_of_sizes: *const abi::Count, array_of_subsizes: *const abi::Count, array_of_starts: *const abi::Count, order: c_int, oldtype: abi::Datatype, newtype: *mut abi::Datatype) {
        // SAFETY: the C caller's word.
        unsafe { subarray(true, (ndims, array_of_sizes, array_of_subsizes, array_of_starts), (order, oldtype), newtype) }
    }

    /// Section 5.1.4.
    fn PMPI_Type_create_darray(size: c_int, rank: c_int, ndims: c_int, array_of_gsizes: *const c_int, array_of_distribs: *const c_int, array_of_dargs: *const c_int, array_of_psizes: *const c_int, order: c_int, oldtype: abi::Datatype, newtype: *mut abi::Datatype) {
        // SAFETY: the C caller's word.
        unsafe { darray(false, (size, rank, ndims), (array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes), (order, oldtype), newtype) }
    }

    /// Section 5.1.4.
    fn PMPI_Type_create_darray_c(size: c_int, rank: c_int, ndims: c_int, array_of_gsizes: *const abi::Count, array_of_distribs: *const c_int, array_of_dargs: *const c_int, array_of_psizes: *const c_int, order: c_int, oldtype: abi::Datatype, newtype: *mut abi::Datatype) {
        // SAFETY: the C caller's word.
        unsafe { darray(true, (size, rank, ndims), (array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes), (order, oldtype), newtype) }
    }
}
