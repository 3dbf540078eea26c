//! The C interface of chapter 5.

mod make;
mod query;

use super::Datatype;
use crate::abi;
use crate::abi::values::{MPI_ERR_ARG, MPI_ERR_COUNT, MPI_UNDEFINED};
use crate::check::Failure;
use crate::runtime::State;
use std::ffi::c_int;
use std::sync::Arc;

/// An integer of C: `int`, `MPI_Aint` or `MPI_Count`.
trait Integer: Copy {
    fn wide(self) -> i64;
}

impl Integer for c_int {
    fn wide(self) -> i64 {
        self as i64
    }
}

impl Integer for i64 {
    fn wide(self) -> i64 {
        self
    }
}

impl Integer for isize {
    fn wide(self) -> i64 {
        self as i64
    }
}

/// A count that must not be negative.
fn count(value: impl Integer, name: &str) -> Result<i64, Failure> {
    let value = value.wide();
    if value < 0 {
        return Err(Failure::new(MPI_ERR_COUNT, format_args!("{name} is {value}; it must not be negative")));
    }
    Ok(value)
}

/// An array argument.
///
/// # Safety
/// `place` points to `length` values, unless it is null.
unsafe fn array<'a, T>(place: *const T, length: usize, name: &str) -> Result<&'a [T], Failure> {
    if length == 0 {
        return Ok(&[]);
    }
    if place.is_null() {
        return Err(Failure::new(
            MPI_ERR_ARG,
            format_args!("{name} is a null pointer; {length} values are needed"),
        ));
    }
    // SAFETY: the caller's word.
    Ok(unsafe { std::slice::from_raw_parts(place, length) })
}

/// As `array`, widened.
///
/// # Safety
/// As `array`.
unsafe fn integers<T: Integer>(place: *const T, length: usize, name: &str) -> Result<Vec<i64>, Failure> {
    // SAFETY: the caller's word.
    Ok(unsafe { array(place, length, name)? }.iter().map(|value| value.wide()).collect())
}

/// As `integers`, of which none may be negative.
///
/// # Safety
/// As `array`.
unsafe fn counts<T: Integer>(place: *const T, length: usize, name: &str) -> Result<Vec<i64>, Failure> {
    // SAFETY: the caller's word.
    let values = unsafe { integers(place, length, name)? };
    match values.iter().position(|&value| value < 0) {
        None => Ok(values),
        Some(i) => Err(Failure::new(
            MPI_ERR_COUNT,
            format_args!("{name}[{i}] is {}; it must not be negative", values[i]),
        )),
    }
}

/// A result that is `MPI_UNDEFINED` where it doesn't fit in an `int`.
fn int_or_undefined(value: usize) -> c_int {
    c_int::try_from(value).unwrap_or(MPI_UNDEFINED)
}

/// As `int_or_undefined`, for an `MPI_Count`.
fn count_or_undefined(value: usize) -> abi::Count {
    abi::Count::try_from(value).unwrap_or(MPI_UNDEFINED.into())
}

/// Puts a new datatype behind a handle.
fn publish(state: &mut State, datatype: impl Into<Arc<Datatype>>) -> abi::Datatype {
    abi::Datatype(state.datatypes.insert(datatype.into()))
}
