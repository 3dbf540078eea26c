//! The data of a message as programs describe it.

use crate::abi;
use std::ffi::c_void;

/// What a program sends or receives (MPI 5.0, section 3.2.2): a buffer, and how many elements of which datatype.
#[derive(Clone, Copy)]
pub(crate) struct MessageData {
    /// The buffer.
    pub address: *const c_void,
    /// How many; the function refuses a negative number.
    pub count: i64,
    /// Of which kind.
    pub datatype: abi::Datatype,
    /// What the function calls buffer and count.
    pub names: &'static [&'static str; 2],
}

/// The arguments buffer, count and datatype of a C function as message data.
macro_rules! message_data {
    ($buffer:ident, $count:ident, $datatype:ident) => {
        $crate::datatype::MessageData {
            address: $buffer as *const std::ffi::c_void,
            count: i64::from($count),
            datatype: $datatype,
            names: &[stringify!($buffer), stringify!($count)],
        }
    };
}
pub(crate) use message_data;
