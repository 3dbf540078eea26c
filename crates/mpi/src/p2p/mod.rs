//! The functions of point-to-point communication and requests (MPI 5.0, chapters 3 and 13).
//!
//! | module | what it holds |
//! |---|---|
//! | `arguments` | what the arguments of sends and receives come to |
//! | `send`, `receive`, `wait` | what most programs use |
//! | `operation` | sends and receives that are started later |
//! | `buffered` | buffered sends, and the buffers that programs attach for them |
//! | `persistent` | operations that are started again and again |
//! | `probe` | messages looked at before they are received |
//! | `sendrecv` | a send and a receive in one |
//! | `release` | cancelling and freeing requests |
//! | `inquiry` | how far requests are, without completing them |
//! | `status`, `fields` | counts in a status; its other parts |

pub(crate) mod arguments;
pub(crate) mod buffered;
mod fields;
mod inquiry;
mod operation;
mod persistent;
pub(crate) mod probe;
mod receive;
mod release;
mod send;
mod sendrecv;
mod status;
mod wait;

/// Makes functions of the C interface in pairs: with counts of type `int`, and the `_c` one with counts of `MPI_Count`.
/// In both, `N` is the type of counts.
macro_rules! counted {
    ($($(#[$doc:meta])* fn $small:ident / $large:ident ($($arguments:tt)*) $(on $comm:ident)? $body:block)*) => {
        mod small {
            use super::*;
            type N = std::ffi::c_int;
            $crate::comm::mpi! { $($(#[$doc])* fn $small($($arguments)*) $(on $comm)? $body)* }
        }
        // What widens an int widens nothing here.
        #[allow(clippy::useless_conversion)]
        mod large {
            use super::*;
            type N = $crate::abi::Count;
            $crate::comm::mpi! { $($(#[$doc])* fn $large($($arguments)*) $(on $comm)? $body)* }
        }
    };
}
pub(crate) use counted;
