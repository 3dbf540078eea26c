//! How a datatype was made: the constructor and its arguments (MPI 5.0, section 5.1.13).

use super::Datatype;
use crate::abi::values::{MPI_COMBINER_DUP, MPI_COMBINER_NAMED};
use std::ffi::c_int;
use std::sync::Arc;

/// A constructor and its arguments, as `MPI_Type_get_contents` gives them back.
pub(super) struct Contents {
    /// `MPI_COMBINER_*`.
    pub combiner: c_int,
    pub integers: Vec<c_int>,
    pub addresses: Vec<isize>,
    pub large_counts: Vec<i64>,
    pub datatypes: Vec<Arc<Datatype>>,
    /// Where `counts` and `displacements` go: to `large_counts`, for the functions that end in `_c`.
    large: bool,
}

impl Drop for Contents {
    /// Datatypes made of datatypes, however deep, end one after the other: by recursion they would need a stack as
    /// deep.
    fn drop(&mut self) {
        let mut left = std::mem::take(&mut self.datatypes);
        while let Some(datatype) = left.pop() {
            let last = Arc::into_inner(datatype);
            if let Some(contents) = last.and_then(|mut last| {
                Arc::get_mut(&mut last.contents).map(|contents| std::mem::take(&mut contents.datatypes))
            }) {
                left.extend(contents);
            }
        }
    }
}

impl Contents {
    pub(super) fn new(combiner: c_int, large: bool) -> Self {
        let (integers, addresses, large_counts, datatypes) = Default::default();
        Self { combiner, integers, addresses, large_counts, datatypes, large }
    }

    /// Of a predefined datatype.
    pub(super) fn named() -> Self {
        Self::new(MPI_COMBINER_NAMED, false)
    }

    /// Of `MPI_Type_dup`.
    pub(super) fn duplicate(of: &Arc<Datatype>) -> Self {
        Self::new(MPI_COMBINER_DUP, false).datatypes([of.clone()])
    }

    /// Arguments that are `int` in both forms of the function.
    pub(super) fn integers(mut self, values: impl IntoIterator<Item = c_int>) -> Self {
        self.integers.extend(values);
        self
    }

    /// Arguments that are `int` in one form and `MPI_Count` in the other.
    pub(super) fn counts(mut self, values: impl IntoIterator<Item = i64>) -> Self {
        if self.large {
            self.large_counts.extend(values);
        } else {
            self.integers.extend(values.into_iter().map(|value| value as c_int));
        }
        self
    }

    /// Arguments that are `MPI_Aint` in one form and `MPI_Count` in the other.
    pub(super) fn displacements(mut self, values: impl IntoIterator<Item = i64>) -> Self {
        if self.large {
            self.large_counts.extend(values);
        } else {
            self.addresses.extend(values.into_iter().map(|value| value as isize));
        }
        self
    }

    pub(super) fn datatypes(mut self, values: impl IntoIterator<Item = Arc<Datatype>>) -> Self {
        self.datatypes.extend(values);
        self
    }
}
