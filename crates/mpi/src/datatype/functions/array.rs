//! Constructors of parts of arrays (MPI 5.0, sections 5.1.3 and 5.1.4).

use super::make::derive;
use super::{Integer, integers};
use crate::abi;
use crate::call::{In, Out};
use crate::check::Failure;
use crate::comm::mpi;
use crate::datatype::array::{self, Dimension};
use std::ffi::c_int;

fn subarray<N: Integer>(
    large: bool,
    [sizes, subsizes, starts]: [In<'_, [N]>; 3],
    (order, old): (c_int, abi::Datatype),
    new: Out<'_, abi::Datatype>,
) -> Result<(), Failure> {
    let (sizes, subsizes, starts) = (integers(sizes)?, integers(subsizes)?, integers(starts)?);
    derive(old, new, |old| array::subarray(large, (&sizes, &subsizes, &starts), order, old))
}

/// The arguments of a distributed array that there is one of for each dimension.
type Dimensions<'call, N> = (In<'call, [N]>, In<'call, [c_int]>, In<'call, [c_int]>, In<'call, [c_int]>);

fn darray<N: Integer>(
    large: bool,
    (size, rank): (c_int, c_int),
    (global, distributions, arguments, processes): Dimensions<'_, N>,
    (order, old): (c_int, abi::Datatype),
    new: Out<'_, abi::Datatype>,
) -> Result<(), Failure> {
    let global = integers(global)?;
    let [distributions, arguments, processes] = [distributions, arguments, processes].map(In::to_vec);
    let (distributions, arguments, processes) = (distributions?, arguments?, processes?);
    let dimensions: Vec<Dimension> = (0..global.len())
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
    fn PMPI_Type_create_subarray(
        ndims: c_int, array_of_sizes[ndims]: In<c_int>, array_of_subsizes[ndims]: In<c_int>,
        array_of_starts[ndims]: In<c_int>, order: c_int, oldtype: abi::Datatype, newtype: Out<abi::Datatype>,
    ) {
        subarray(false, [array_of_sizes, array_of_subsizes, array_of_starts], (order, oldtype), newtype)
    }

    /// Section 5.1.3.
    fn PMPI_Type_create_subarray_c(
        ndims: c_int, array_of_sizes[ndims]: In<abi::Count>, array_of_subsizes[ndims]: In<abi::Count>,
        array_of_starts[ndims]: In<abi::Count>, order: c_int, oldtype: abi::Datatype, newtype: Out<abi::Datatype>,
    ) {
        subarray(true, [array_of_sizes, array_of_subsizes, array_of_starts], (order, oldtype), newtype)
    }

    /// Section 5.1.4.
    fn PMPI_Type_create_darray(
        size: c_int, rank: c_int, ndims: c_int, array_of_gsizes[ndims]: In<c_int>, array_of_distribs[ndims]: In<c_int>,
        array_of_dargs[ndims]: In<c_int>, array_of_psizes[ndims]: In<c_int>, order: c_int, oldtype: abi::Datatype,
        newtype: Out<abi::Datatype>,
    ) {
        let dimensions = (array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes);
        darray(false, (size, rank), dimensions, (order, oldtype), newtype)
    }

    /// Section 5.1.4.
    fn PMPI_Type_create_darray_c(
        size: c_int, rank: c_int, ndims: c_int, array_of_gsizes[ndims]: In<abi::Count>,
        array_of_distribs[ndims]: In<c_int>, array_of_dargs[ndims]: In<c_int>, array_of_psizes[ndims]: In<c_int>,
        order: c_int, oldtype: abi::Datatype, newtype: Out<abi::Datatype>,
    ) {
        let dimensions = (array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes);
        darray(true, (size, rank), dimensions, (order, oldtype), newtype)
    }
}
