//! The C interface of chapter 5.

mod array;
mod attributes;
mod contents;
mod external;
mod make;
mod names;
mod pack;
mod predefined;
mod query;

use super::Datatype;
use crate::abi;
use crate::abi::values::{MPI_ERR_ARG, MPI_ERR_COUNT, MPI_UNDEFINED};
use crate::check::Failure;
use crate::runtime::State;
use std::ffi::c_int;
use std::sync::Arc;

/// An integer of C: `int`, `MPI_Aint` or `MPI_Count`.
pub(crate) trait Integer: Copy {
    fn wide(self) -> i64;
    /// Nothing: it doesn't fit.
    fn narrow(value: usize) -> Option<Self>;
    /// `MPI_UNDEFINED`.
    fn undefined() -> Self;
    /// `MPI_UNDEFINED` where it doesn't fit.
    fn or_undefined(value: usize) -> Self {
        Self::narrow(value).unwrap_or_else(Self::undefined)
    }
}

macro_rules! integer {
    ($($type:ty)*) => {$(
        impl Integer for $type {
            fn wide(self) -> i64 {
                self as i64
            }

            fn narrow(value: usize) -> Option<Self> {
                value.try_into().ok()
            }

            fn undefined() -> Self {
                MPI_UNDEFINED as Self
            }
        }
    )*};
}

integer!(c_int i64 isize);

/// A count that must not be negative.
pub(crate) fn count(value: impl Integer, name: &str) -> Result<i64, Failure> {
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

/// Puts a new datatype behind a handle.
pub(super) fn publish(state: &mut State, datatype: impl Into<Arc<Datatype>>) -> abi::Datatype {
    abi::Datatype(state.datatypes.insert(datatype.into()))
}
