//! The functions of the ABI that the library does not have: the rows of `abi/functions.txt` that say `unsupported`.
//! Each gives null handles and fails.

use super::errhandler::unsupported;
use crate::abi::prototypes::{self, *};
use crate::abi::values::*;
use crate::abi::{
    Aint, Comm, Count, Datatype, Errhandler, File, Group, Info, Op, Request, Session, Status, Win,
};
use std::ffi::{c_char, c_int, c_void};

macro_rules! unsupported {
    ($($name:ident($($argument:ident: $type:ty),*) $($handle:ident = $null:expr)*;)*) => {$(
        /// Fails.
        ///
        /// # Safety
        /// Pointers to handles are null or valid for writes.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, unused_variables, clippy::too_many_arguments)]
        unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            $(if !$handle.is_null() {
                // SAFETY: valid, as the caller promises.
                unsafe { $handle.write_unaligned($null) };
            })*
            unsupported(&stringify!($name)[1..])
        }
        const _: prototypes::$name = $name;
    )*};
}

include!(concat!(env!("OUT_DIR"), "/unsupported.rs"));
