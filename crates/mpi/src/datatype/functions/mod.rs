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
use crate::abi::values::{MPI_ERR_COUNT, MPI_UNDEFINED};
use crate::call::In;
use crate::check::Failure;
use crate::datatype::DATATYPES;
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

/// The integers of an array, widened.
fn integers<T: Integer>(array: In<'_, [T]>) -> Result<Vec<i64>, Failure> {
    array.present()?;
    Ok((0..array.len()).map(|index| array.get(index).wide()).collect())
}

/// As `integers`, of which none may be negative.
fn counts<T: Integer>(array: In<'_, [T]>) -> Result<Vec<i64>, Failure> {
    let values = integers(array)?;
    match values.iter().position(|&value| value < 0) {
        None => Ok(values),
        Some(i) => Err(Failure::new(
            MPI_ERR_COUNT,
            format_args!("{}[{i}] is {}; it must not be negative", array.name(), values[i]),
        )),
    }
}

/// Puts a new datatype behind a handle.
pub(super) fn publish(state: &mut State, datatype: impl Into<Arc<Datatype>>) -> abi::Datatype {
    abi::Datatype(DATATYPES.of_mut(state).insert(datatype.into()))
}
