//! Predefined datatypes without a name: those of a precision and range (MPI 5.0, section 19.1.5). The same arguments
//! give the same handle; none is ever freed.

use super::contents::Contents;
use super::predefined;
use super::{Datatype, functions::publish};
use crate::abi;
use crate::abi::values::*;
use crate::check::Failure;
use crate::runtime::Guarded;
use crate::runtime::State;
use std::ffi::c_int;
use std::sync::Arc;

/// Decimal digits and exponent range of each floating point type, and it and its complex type. `long double` is what
/// gfortran calls kind 10.
const REALS: [(c_int, c_int, usize, usize); 4] = [
    (6, 37, MPI_REAL4, MPI_COMPLEX8),
    (15, 307, MPI_REAL8, MPI_COMPLEX16),
    (18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX),
    (33, 4931, MPI_REAL16, MPI_COMPLEX32),
];

/// Decimal range of each integer type.
const INTEGERS: [(c_int, usize); 5] =
    [(2, MPI_INTEGER1), (4, MPI_INTEGER2), (9, MPI_INTEGER4), (18, MPI_INTEGER8), (38, MPI_INTEGER16)];

/// `MPI_Type_create_f90_real` and, by its combiner, `MPI_Type_create_f90_complex`.
pub(super) fn real(state: &mut State, combiner: c_int, p: c_int, r: c_int) -> Result<abi::Datatype, Failure> {
    let allowed = |value| value >= 0 || value == MPI_UNDEFINED;
    if !allowed(p) || !allowed(r) || (p, r) == (MPI_UNDEFINED, MPI_UNDEFINED) {
        return Err(refused(format_args!(
            "p is {p} and r is {r}; allowed are 0 and more, and for one of them MPI_UNDEFINED"
        )));
    }
    // MPI_UNDEFINED is less than every number.
    let &(.., real, complex) =
        REALS.iter().find(|&&(digits, range, ..)| p <= digits && r <= range).ok_or_else(|| {
            refused(format_args!(
                "no type has {p} decimal digits and an exponent range of {r}; the most are 33 and 4931"
            ))
        })?;
    let basic = if combiner == MPI_COMBINER_F90_COMPLEX { complex } else { real };
    Ok(unnamed(state, basic, Contents::new(combiner, false).integers([p, r])))
}

/// `MPI_Type_create_f90_integer`.
pub(super) fn integer(state: &mut State, r: c_int) -> Result<abi::Datatype, Failure> {
    let found = INTEGERS.iter().find(|&&(range, _)| (0..=range).contains(&r));
    let &(_, basic) = found.ok_or_else(|| refused(format_args!("r is {r}; allowed are 0 to 38")))?;
    Ok(unnamed(state, basic, Contents::new(MPI_COMBINER_F90_INTEGER, false).integers([r])))
}

/// Handles of those that were made.
static UNNAMED: Guarded<Vec<abi::Datatype>> = Guarded::new(Vec::new());

fn unnamed(state: &mut State, basic: usize, contents: Contents) -> abi::Datatype {
    let mut handles = UNNAMED.of(state).iter().copied();
    let same = handles.find(|&handle| {
        state.datatype(handle).is_some_and(|other| {
            other.contents.combiner == contents.combiner && other.contents.integers == contents.integers
        })
    });
    if let Some(handle) = same {
        return handle;
    }
    let Some(of) = predefined::get(abi::Datatype(basic)) else {
        unreachable!("the tables hold predefined datatypes")
    };
    let mut made = of.again(Arc::new(contents));
    made.predefined = Some(abi::Datatype(basic));
    let handle = publish(state, made);
    UNNAMED.of_mut(state).push(handle);
    handle
}

#[cold]
fn refused(text: std::fmt::Arguments) -> Failure {
    Failure::new(MPI_ERR_ARG, text)
}

impl Datatype {
    /// It is predefined, with a name or without, and can't be freed.
    pub(crate) fn is_predefined(&self) -> bool {
        matches!(
            self.contents.combiner,
            MPI_COMBINER_NAMED | MPI_COMBINER_F90_REAL | MPI_COMBINER_F90_COMPLEX | MPI_COMBINER_F90_INTEGER
        )
    }

    /// The handle that it has for good when it is predefined.
    pub(super) fn lasting_handle(self: &Arc<Self>, state: &State) -> Option<abi::Datatype> {
        if self.contents.combiner == MPI_COMBINER_NAMED {
            return self.predefined;
        }
        let mut unnamed = UNNAMED.of(state).iter().copied();
        unnamed.find(|&handle| state.datatype(handle).is_some_and(|of| Arc::ptr_eq(of, self)))
    }
}
