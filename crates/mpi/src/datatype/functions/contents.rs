//! How a datatype was made (MPI 5.0, section 5.1.13).

use super::{Integer, publish};
use crate::abi;
use crate::abi::values::{MPI_COMBINER_NAMED, MPI_ERR_ARG, MPI_ERR_TYPE};
use crate::call::Out;
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::datatype::contents::Contents;
use std::ffi::c_int;

fn store<N: Integer>(place: Out<'_, N>, value: usize) -> Result<(), Failure> {
    place.write(N::narrow(value).ok_or_else(|| {
        Failure::new(MPI_ERR_ARG, format_args!("{} would be {value}, which does not fit", place.name()))
    })?)
}

/// The arguments of the functions without `_c` have no place for large counts.
fn refuse_large(contents: &Contents) -> Result<(), Failure> {
    if contents.large_counts.is_empty() {
        return Ok(());
    }
    Err(Failure::new(
        MPI_ERR_TYPE,
        "the datatype was made with large counts; MPI_Type_get_envelope_c and MPI_Type_get_contents_c tell how",
    ))
}

fn envelope<N: Integer>(
    contents: &Contents,
    (integers, addresses, datatypes): (Out<'_, N>, Out<'_, N>, Out<'_, N>),
    combiner: Out<'_, c_int>,
) -> Result<(), Failure> {
    store(integers, contents.integers.len())?;
    store(addresses, contents.addresses.len())?;
    store(datatypes, contents.datatypes.len())?;
    combiner.write(contents.combiner)
}

/// Copies arguments to where there is room for `most` of them.
fn give<T: Copy>(values: &[T], (most, most_name): (i64, &str), place: Out<'_, [T]>) -> Result<(), Failure> {
    let needed = values.len();
    if most < needed as i64 {
        return Err(Failure::new(MPI_ERR_ARG, format_args!("{most_name} is {most}; {needed} are needed")));
    }
    place.write(values.iter().copied())
}

/// Where `MPI_Type_get_contents` writes: the room and the place of each kind of argument.
struct Wanted<'call, N> {
    integers: (N, Out<'call, [c_int]>),
    addresses: (N, Out<'call, [abi::Aint]>),
    /// Nothing: the function without `_c`.
    large_counts: Option<(N, Out<'call, [abi::Count]>)>,
    datatypes: (N, Out<'call, [abi::Datatype]>),
}

fn contents<N: Integer>(datatype: abi::Datatype, wanted: Wanted<'_, N>) -> Result<(), Failure> {
    let mut state = check::running()?;
    let contents = state.valid_datatype(datatype)?.contents.clone();
    if contents.combiner == MPI_COMBINER_NAMED {
        return Err(Failure::new(MPI_ERR_TYPE, "datatype is predefined: it has no contents"));
    }
    let Wanted { integers, addresses, large_counts, datatypes } = wanted;
    if large_counts.is_none() {
        refuse_large(&contents)?;
    }
    let most = (datatypes.0.wide(), "max_datatypes");
    if most.0 < contents.datatypes.len() as i64 {
        let needed = contents.datatypes.len();
        return Err(Failure::new(
            MPI_ERR_ARG,
            format_args!("max_datatypes is {}; {needed} are needed", most.0),
        ));
    }
    give(&contents.integers, (integers.0.wide(), "max_integers"), integers.1)?;
    give(&contents.addresses, (addresses.0.wide(), "max_addresses"), addresses.1)?;
    if let Some((most, place)) = large_counts {
        give(&contents.large_counts, (most.wide(), "max_large_counts"), place)?;
    }
    if !contents.datatypes.is_empty() {
        datatypes.1.present()?;
    }
    // Predefined datatypes keep their handle; of a derived one the caller gets a new handle, which it frees.
    let handles: Vec<abi::Datatype> = contents
        .datatypes
        .iter()
        .map(|old| match old.lasting_handle(&state) {
            Some(handle) => handle,
            None => publish(&mut state, old.again(old.contents.clone())),
        })
        .collect();
    give(&handles, most, datatypes.1)
}

mpi! {
    /// Section 5.1.13.
    fn PMPI_Type_get_envelope(
        datatype: abi::Datatype, num_integers: Out<c_int>, num_addresses: Out<c_int>, num_datatypes: Out<c_int>,
        combiner: Out<c_int>,
    ) {
        let state = check::running()?;
        let contents = &state.valid_datatype(datatype)?.contents;
        refuse_large(contents)?;
        envelope(contents, (num_integers, num_addresses, num_datatypes), combiner)
    }

    /// Section 5.1.13.
    fn PMPI_Type_get_envelope_c(
        datatype: abi::Datatype, num_integers: Out<abi::Count>, num_addresses: Out<abi::Count>,
        num_large_counts: Out<abi::Count>, num_datatypes: Out<abi::Count>, combiner: Out<c_int>,
    ) {
        let state = check::running()?;
        let contents = &state.valid_datatype(datatype)?.contents;
        store(num_large_counts, contents.large_counts.len())?;
        envelope(contents, (num_integers, num_addresses, num_datatypes), combiner)
    }

    /// Section 5.1.13.
    fn PMPI_Type_get_contents(
        datatype: abi::Datatype, max_integers: c_int, max_addresses: c_int, max_datatypes: c_int,
        array_of_integers[max_integers]: Out<c_int>, array_of_addresses[max_addresses]: Out<abi::Aint>,
        array_of_datatypes[max_datatypes]: Out<abi::Datatype>,
    ) {
        let wanted = Wanted {
            integers: (max_integers, array_of_integers),
            addresses: (max_addresses, array_of_addresses),
            large_counts: None,
            datatypes: (max_datatypes, array_of_datatypes),
        };
        contents(datatype, wanted)
    }

    /// Section 5.1.13.
    fn PMPI_Type_get_contents_c(
        datatype: abi::Datatype, max_integers: abi::Count, max_addresses: abi::Count, max_large_counts: abi::Count,
        max_datatypes: abi::Count, array_of_integers[max_integers]: Out<c_int>,
        array_of_addresses[max_addresses]: Out<abi::Aint>, array_of_large_counts[max_large_counts]: Out<abi::Count>,
        array_of_datatypes[max_datatypes]: Out<abi::Datatype>,
    ) {
        let wanted = Wanted {
            integers: (max_integers, array_of_integers),
            addresses: (max_addresses, array_of_addresses),
            large_counts: Some((max_large_counts, array_of_large_counts)),
            datatypes: (max_datatypes, array_of_datatypes),
        };
        contents(datatype, wanted)
    }
}
