//! Reduction operations: predefined, user-defined, and what becomes of one with a datatype (MPI 5.0, section 6.9).
//!
//! A predefined operation with a predefined datatype becomes a kernel, a plain loop; a user-defined one is the user's
//! function, which is only called while the library's state is not held.

mod functions;
mod kernels;
mod long_double;

#[cfg(test)]
mod tests;

pub(crate) use kernels::kernel;

use crate::abi::{self, prototypes, values as v};
use crate::check::{self, Failure};
use crate::datatype::Datatype;
use crate::handles::Handles;
use crate::handles::Kind;
use crate::runtime::Guarded;
use crate::runtime::State;
use std::ffi::c_int;

/// Applies an operation to `count` elements: `into[i] = from[i] op with[i]`.
///
/// # Safety
/// All pointers must be valid for `count` elements, which must not overlap unless they are the same.
pub(crate) type Reducer = unsafe fn(from: *const u8, with: *const u8, into: *mut u8, count: usize);

/// What a predefined operation is on a predefined datatype; nothing when it is not defined, or either is none.
#[inline]
pub(crate) fn reducer(op: abi::Op, datatype: abi::Datatype) -> Option<Reducer> {
    kernel(Predefined::of(op)?, ElementType::of(datatype)?)
}

/// A predefined operation on numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Predefined {
    Sum,
    Min,
    Max,
    Product,
    BitAnd,
    BitOr,
    BitXor,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
    MinLocation,
    MaxLocation,
}

/// What an element of a predefined datatype is to an operation. `F64AndI32` is a value with an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    I128,
    F32,
    F64,
    LongDouble,
    ComplexF32,
    ComplexF64,
    ComplexLongDouble,
    Logical8,
    Logical16,
    Logical32,
    Logical64,
    Logical128,
    Byte,
    F32AndI32,
    F64AndI32,
    I64AndI32,
    I32AndI32,
    I16AndI32,
    F32AndF32,
    F64AndF64,
    LongDoubleAndI32,
}

impl Predefined {
    /// The operation of a predefined handle; nothing for `MPI_REPLACE` and `MPI_NO_OP`, which belong to one-sided
    /// communication.
    #[inline]
    pub(crate) fn of(handle: abi::Op) -> Option<Self> {
        Some(match handle.0 {
            v::MPI_SUM => Self::Sum,
            v::MPI_MIN => Self::Min,
            v::MPI_MAX => Self::Max,
            v::MPI_PROD => Self::Product,
            v::MPI_BAND => Self::BitAnd,
            v::MPI_BOR => Self::BitOr,
            v::MPI_BXOR => Self::BitXor,
            v::MPI_LAND => Self::LogicalAnd,
            v::MPI_LOR => Self::LogicalOr,
            v::MPI_LXOR => Self::LogicalXor,
            v::MPI_MINLOC => Self::MinLocation,
            v::MPI_MAXLOC => Self::MaxLocation,
            _ => return None,
        })
    }
}

impl ElementType {
    /// Whether it has numbers of double precision, or more.
    pub(crate) fn is_double(self) -> bool {
        matches!(
            self,
            Self::F64
                | Self::ComplexF64
                | Self::F64AndI32
                | Self::F64AndF64
                | Self::LongDouble
                | Self::ComplexLongDouble
                | Self::LongDoubleAndI32
        )
    }

    /// What the elements of a predefined datatype are; nothing where no operation is defined.
    #[inline]
    pub(crate) fn of(datatype: abi::Datatype) -> Option<Self> {
        Some(match datatype.0 {
            v::MPI_CHAR | v::MPI_SIGNED_CHAR | v::MPI_INT8_T | v::MPI_INTEGER1 => Self::I8,
            v::MPI_UNSIGNED_CHAR | v::MPI_UINT8_T => Self::U8,
            v::MPI_SHORT | v::MPI_INT16_T | v::MPI_INTEGER2 => Self::I16,
            v::MPI_UNSIGNED_SHORT | v::MPI_UINT16_T => Self::U16,
            v::MPI_INT | v::MPI_INT32_T | v::MPI_INTEGER | v::MPI_INTEGER4 => Self::I32,
            v::MPI_UNSIGNED | v::MPI_UINT32_T => Self::U32,
            v::MPI_LONG
            | v::MPI_LONG_LONG
            | v::MPI_INT64_T
            | v::MPI_INTEGER8
            | v::MPI_AINT
            | v::MPI_COUNT
            | v::MPI_OFFSET => Self::I64,
            v::MPI_UNSIGNED_LONG | v::MPI_UNSIGNED_LONG_LONG | v::MPI_UINT64_T => Self::U64,
            v::MPI_INTEGER16 => Self::I128,
            v::MPI_FLOAT | v::MPI_REAL | v::MPI_REAL4 => Self::F32,
            v::MPI_DOUBLE | v::MPI_DOUBLE_PRECISION | v::MPI_REAL8 => Self::F64,
            v::MPI_LONG_DOUBLE => Self::LongDouble,
            v::MPI_C_FLOAT_COMPLEX | v::MPI_CXX_FLOAT_COMPLEX | v::MPI_COMPLEX | v::MPI_COMPLEX8 => {
                Self::ComplexF32
            }
            v::MPI_C_DOUBLE_COMPLEX
            | v::MPI_CXX_DOUBLE_COMPLEX
            | v::MPI_DOUBLE_COMPLEX
            | v::MPI_COMPLEX16 => Self::ComplexF64,
            v::MPI_C_LONG_DOUBLE_COMPLEX | v::MPI_CXX_LONG_DOUBLE_COMPLEX => Self::ComplexLongDouble,
            v::MPI_C_BOOL | v::MPI_CXX_BOOL | v::MPI_LOGICAL1 => Self::Logical8,
            v::MPI_LOGICAL2 => Self::Logical16,
            v::MPI_LOGICAL | v::MPI_LOGICAL4 => Self::Logical32,
            v::MPI_LOGICAL8 => Self::Logical64,
            v::MPI_LOGICAL16 => Self::Logical128,
            v::MPI_BYTE => Self::Byte,
            v::MPI_FLOAT_INT => Self::F32AndI32,
            v::MPI_DOUBLE_INT => Self::F64AndI32,
            v::MPI_LONG_INT => Self::I64AndI32,
            v::MPI_2INT | v::MPI_2INTEGER => Self::I32AndI32,
            v::MPI_SHORT_INT => Self::I16AndI32,
            v::MPI_2REAL => Self::F32AndF32,
            v::MPI_2DOUBLE_PRECISION => Self::F64AndF64,
            v::MPI_LONG_DOUBLE_INT => Self::LongDoubleAndI32,
            _ => return None,
        })
    }
}

/// `MPI_User_function`
pub(crate) type Function = prototypes::MPI_User_function;
/// `MPI_User_function_c`
pub(crate) type LargeFunction = prototypes::MPI_User_function_c;

/// The function of a user-defined operation.
#[derive(Clone, Copy)]
pub(crate) enum UserFunction {
    /// Of `MPI_Op_create`.
    Small(Function),
    /// Of `MPI_Op_create_c`.
    Large(LargeFunction),
}

/// A user-defined operation.
#[derive(Clone, Copy)]
pub(crate) struct Operation {
    /// What computes it.
    pub function: UserFunction,
    /// The user says that operands may change places.
    pub commutative: bool,
}

/// An operation on a datatype, ready to be applied. It outlives the handle of the operation.
#[derive(Clone, Copy)]
pub(crate) enum Reduction {
    /// A kernel on numbers.
    Kernel(Reducer),
    /// The user's function, and the datatype's handle that it is called with.
    User(Operation, abi::Datatype),
}

/// More elements are not handed to a user's function at once whose count is an `int`.
const MOST_AT_ONCE: usize = 1 << 30;

impl Reduction {
    /// Operands may change places.
    pub(crate) fn commutative(&self) -> bool {
        match self {
            Self::Kernel(_) => true,
            Self::User(operation, _) => operation.commutative,
        }
    }

    /// Whether applying it runs the user's code: then call it only while not holding the state.
    pub(crate) fn is_user(&self) -> bool {
        matches!(self, Self::User(..))
    }

    /// `into[i] = from[i] op with[i]` for `count` elements of `extent` bytes; `with` is `into` for a user's function.
    ///
    /// # Safety
    /// As `apply`; `with` is valid for `count` elements, too, and is `into` or does not overlap it.
    pub(crate) unsafe fn combine(
        &self,
        from: *const u8,
        with: *const u8,
        into: *mut u8,
        count: usize,
        extent: isize,
    ) {
        match self {
            // SAFETY: the caller promises the same.
            Self::Kernel(kernel) => unsafe { kernel(from, with, into, count) },
            // SAFETY: as above.
            Self::User(..) => unsafe { self.apply(from, into, count, extent) },
        }
    }

    /// `into[i] = from[i] op into[i]` for `count` elements, `extent` bytes apart.
    ///
    /// # Safety
    /// Both must be valid for `count` elements of the datatype and not overlap. The state must not be held when it is
    /// user-defined.
    pub(crate) unsafe fn apply(&self, from: *const u8, into: *mut u8, count: usize, extent: isize) {
        match *self {
            // SAFETY: the caller promises the same.
            Self::Kernel(kernel) => unsafe { kernel(from, into, into, count) },
            Self::User(operation, mut datatype) => match operation.function {
                UserFunction::Large(function) => {
                    let mut count = count as abi::Count;
                    // SAFETY: the user's function is called as MPI says, with elements that the caller promises to be
                    // valid.
                    unsafe {
                        function(from.cast_mut().cast(), into.cast(), &raw mut count, &raw mut datatype.0)
                    };
                }
                UserFunction::Small(function) => {
                    for start in (0..count).step_by(MOST_AT_ONCE) {
                        let mut some = (count - start).min(MOST_AT_ONCE) as c_int;
                        let apart = extent * start as isize;
                        // SAFETY: as above.
                        unsafe {
                            function(
                                from.cast_mut().wrapping_offset(apart).cast(),
                                into.wrapping_offset(apart).cast(),
                                &raw mut some,
                                &raw mut datatype.0,
                            );
                        }
                    }
                }
            },
        }
    }
}

/// Operations that programs made, by handle.
pub(crate) static OPS: Guarded<Handles<Operation>> = Guarded::new(Handles::new(Kind::Op));

impl State {
    /// What an operation is on a datatype.
    ///
    /// # Errors
    /// `MPI_ERR_OP` when there is no such operation or it isn't defined for the datatype.
    #[inline]
    pub(crate) fn reduction(
        &self,
        op: abi::Op,
        datatype: &Datatype,
        handle: abi::Datatype,
    ) -> Result<Reduction, Failure> {
        if let Some(operation) = Predefined::of(op) {
            let element = datatype.predefined.and_then(ElementType::of);
            return match element.and_then(|element| kernel(operation, element)) {
                Some(kernel) => Ok(Reduction::Kernel(kernel)),
                None => Err(unfit(op, datatype)),
            };
        }
        match OPS.of(self).get(op.0) {
            Some(&operation) => Ok(Reduction::User(operation, handle)),
            None => Err(no_such(op)),
        }
    }
}

#[cold]
fn unfit(op: abi::Op, datatype: &Datatype) -> Failure {
    let named = String::from_utf8_lossy(&datatype.name()).into_owned();
    let what = if datatype.predefined.is_some() { &named } else { "derived datatypes" };
    let fits = match op.0 {
        v::MPI_MAX | v::MPI_MIN => "integers and floating point",
        v::MPI_SUM | v::MPI_PROD => "integers, floating point and complex",
        v::MPI_LAND | v::MPI_LOR | v::MPI_LXOR => "integers and logicals",
        v::MPI_BAND | v::MPI_BOR | v::MPI_BXOR => "integers and MPI_BYTE",
        _ => "the pairs of a value and an index, such as MPI_DOUBLE_INT",
    };
    Failure::new(v::MPI_ERR_OP, format_args!("{} is not defined for {what}; it is for {fits}", name(op)))
}

#[cold]
fn no_such(op: abi::Op) -> Failure {
    if let v::MPI_REPLACE | v::MPI_NO_OP = op.0 {
        let text = format_args!("op is {}, which is for one-sided communication only", name(op));
        return Failure::new(v::MPI_ERR_OP, text);
    }
    check::not_an("op", "operation", op.0, v::MPI_ERR_OP)
}

/// The name of a predefined operation.
pub(crate) fn name(op: abi::Op) -> &'static str {
    match op.0 {
        v::MPI_OP_NULL => "MPI_OP_NULL",
        v::MPI_SUM => "MPI_SUM",
        v::MPI_MIN => "MPI_MIN",
        v::MPI_MAX => "MPI_MAX",
        v::MPI_PROD => "MPI_PROD",
        v::MPI_BAND => "MPI_BAND",
        v::MPI_BOR => "MPI_BOR",
        v::MPI_BXOR => "MPI_BXOR",
        v::MPI_LAND => "MPI_LAND",
        v::MPI_LOR => "MPI_LOR",
        v::MPI_LXOR => "MPI_LXOR",
        v::MPI_MINLOC => "MPI_MINLOC",
        v::MPI_MAXLOC => "MPI_MAXLOC",
        v::MPI_REPLACE => "MPI_REPLACE",
        v::MPI_NO_OP => "MPI_NO_OP",
        _ => "a user-defined operation",
    }
}
