//! How a datatype was made (MPI 5.0, section 5.1.13).

use super::{Integer, publish};
use crate::abi;
use crate::abi::values::{MPI_COMBINER_NAMED, MPI_ERR_ARG, MPI_ERR_TYPE};
use crate::check::{self, Failure, mpi};
use crate::datatype::contents::Contents;
use std::ffi::c_int;

fn store<N: Integer>(place: *mut N, value: usize, name: &str) -> Result<(), Failure> {
    *check::output(place, name)? = N::narrow(value).ok_or_else(|| {
        Failure::new(MPI_ERR_ARG, format_args!("{name} would be {value}, which does not fit"))
    })?;
    Ok(())
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
    (integers, addresses, datatypes): (*mut N, *mut N, *mut N),
    combiner: *mut c_int,
) -> Result<(), Failure> {
    store(integers, contents.integers.len(), "num_integers")?;
    store(addresses, contents.addresses.len(), "num_addresses")?;
    store(datatypes, contents.datatypes.len(), "num_datatypes")?;
    *check::output(combiner, "combiner")? = contents.combiner;
    Ok(())
}

/// Copies arguments to where there is room for `most` of them.
///
/// # Safety
/// `place` has room for `most` values.
unsafe fn give<T: Copy>(
    values: &[T],
    (most, most_name): (i64, &str),
    place: *mut T,
    name: &str,
) -> Result<(), Failure> {
    let needed = values.len();
    if most < needed as i64 {
        return Err(Failure::new(MPI_ERR_ARG, format_args!("{most_name} is {most}; {needed} are needed")));
    }
    if needed > 0 {
        check::output(place, name)?;
        // SAFETY: room for `most`, the caller's word, which is enough.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), place, needed) };
    }
    Ok(())
}

/// What `MPI_Type_get_contents` is to tell of and where to: the most and the place of each.
struct Request<N> {
    integers: (N, *mut c_int),
    addresses: (N, *mut abi::Aint),
    /// Nothing: the function without `_c`.
    large_counts: Option<(N, *mut abi::Count)>,
    datatypes: (N, *mut abi::Datatype),
}

/// # Safety
/// The places have room for as many values as they say.
unsafe fn contents<N: Integer>(datatype: abi::Datatype, request: Request<N>) -> Result<(), Failure> {
    let mut state = check::running()?;
    let contents = state.valid_datatype(datatype)?.contents.clone();
    if contents.combiner == MPI_COMBINER_NAMED {
        return Err(Failure::new(MPI_ERR_TYPE, "datatype is predefined: it has no contents"));
    }
    let Request { integers, addresses, large_counts, datatypes } = request;
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
    // SAFETY: the caller's word.
    unsafe {
        give(&contents.integers, (integers.0.wide(), "max_integers"), integers.1, "array_of_integers")?;
        give(&contents.addresses, (addresses.0.wide(), "max_addresses"), addresses.1, "array_of_addresses")?;
        if let Some((most, place)) = large_counts {
            give(&contents.large_counts, (most.wide(), "max_large_counts"), place, "array_of_large_counts")?;
        }
        if !contents.datatypes.is_empty() {
            check::output(datatypes.1, "array_of_datatypes")?;
        }
        // Predefined ones as they are; of derived ones the caller gets a handle of its own, to be freed.
        let handles: Vec<abi::Datatype> = contents
            .datatypes
            .iter()
            .map(|old| match old.lasting_handle(&state) {
                Some(handle) => handle,
                None => publish(&mut state, old.again(old.contents.clone())),
            })
            .collect();
        give(&handles, most, datatypes.1, "array_of_datatypes")
    }
}

mpi! {
    /// Section 5.1.13.
    fn PMPI_Type_get_envelope(datatype: abi::Datatype, num_integers: *mut c_int, num_addresses: *mut c_int, num_datatypes: *mut c_int, combiner: *mut c_int) {
        let state = check::running()?;
        let contents = &state.valid_datatype(datatype)?.contents;
        refuse_large(contents)?;
        envelope(contents, (num_integers, num_addresses, num_datatypes), combiner)
    }

    /// Section 5.1.13.
    fn PMPI_Type_get_envelope_c(datatype: abi::Datatype, num_integers: *mut abi::Count, num_addresses: *mut abi::Count, num_large_counts: *mut abi::Count, num_datatypes: *mut abi::Count, combiner: *mut c_int) {
        let state = check::running()?;
        let contents = &state.valid_datatype(datatype)?.contents;
        store(num_large_counts, contents.large_counts.len(), "num_large_counts")?;
        envelope(contents, (num_integers, num_addresses, num_datatypes), combiner)
    }

    /// Section 5.1.13.
    fn PMPI_Type_get_contents(datatype: abi::Datatype, max_integers: c_int, max_addresses: c_int, max_datatypes: c_int, array_of_integers: *mut c_int, array_of_addresses: *mut abi::Aint, array_of_datatypes: *mut abi::Datatype) {
        let request = Request {
            integers: (max_integers, array_of_integers),
            addresses: (max_addresses, array_of_addresses),
            large_counts: None,
            datatypes: (max_datatypes, array_of_datatypes),
        };
        // SAFETY: the C caller's word.
        unsafe { contents(datatype, request) }
    }

    /// Section 5.1.13.
    fn PMPI_Type_get_contents_c(datatype: abi::Datatype, max_integers: abi::Count, max_addresses: abi::Count, max_large_counts: abi::Count, max_datatypes: abi::Count, array_of_integers: *mut c_int, array_of_addresses: *mut abi::Aint, array_of_large_counts: *mut abi::Count, array_of_datatypes: *mut abi::Datatype) {
        let request = Request {
            integers: (max_integers, array_of_integers),
            addresses: (max_addresses, array_of_addresses),
            large_counts: Some((max_large_counts, array_of_large_counts)),
            datatypes: (max_datatypes, array_of_datatypes),
        };
        // SAFETY: the C caller's word.
        unsafe { contents(datatype, request) }
    }
}
