//! Handles as integers, for other languages (MPI 5.0, section 19.3.5). Predefined handles are their values of the ABI;
//! of ours, the integer names kind and slot, and is good as long as the object lives.

use crate::abi::values::*;
use crate::abi::{self, prototypes};
use crate::comm::COMMS;
use crate::comm::errhandler::HANDLERS;
use crate::comm::info::INFOS;
use crate::comm::table::GROUPS;
use crate::datatype::DATATYPES;
use crate::handles::{index, of_transfer};
use crate::op::OPS;
use crate::p2p::probe::CLAIMED;
use crate::request::REQUESTS;
use crate::runtime;
use std::ffi::c_int;

/// Integers below name predefined handles, whose values fit.
const PREDEFINED: usize = 0x1000;

macro_rules! by_table {
    ($($to:ident $from:ident $handle:ident $table:ident $(.$part:ident)? $null:ident)*) => {$(
        /// A handle as an integer.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        extern "C" fn $to(handle: abi::$handle) -> c_int {
            if handle.0 < PREDEFINED {
                return handle.0 as c_int;
            }
            $table.of(&runtime::enter())$(.$part)?.to_int(handle.0)
        }
        const _: prototypes::$to = $to;

        /// The handle that an integer stands for; the null handle when it stands for no living object.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        extern "C" fn $from(handle: c_int) -> abi::$handle {
            if (0..PREDEFINED as c_int).contains(&handle) {
                return abi::$handle(handle as usize);
            }
            abi::$handle($table.of(&runtime::enter())$(.$part)?.handle_of(handle).unwrap_or($null))
        }
        const _: prototypes::$from = $from;
    )*};
}

by_table! {
    PMPI_Comm_toint PMPI_Comm_fromint Comm COMMS.made MPI_COMM_NULL
    PMPI_Group_toint PMPI_Group_fromint Group GROUPS MPI_GROUP_NULL
    PMPI_Type_toint PMPI_Type_fromint Datatype DATATYPES MPI_DATATYPE_NULL
    PMPI_Errhandler_toint PMPI_Errhandler_fromint Errhandler HANDLERS MPI_ERRHANDLER_NULL
    PMPI_Info_toint PMPI_Info_fromint Info INFOS MPI_INFO_NULL
    PMPI_Op_toint PMPI_Op_fromint Op OPS MPI_OP_NULL
    PMPI_Message_toint PMPI_Message_fromint Message CLAIMED MPI_MESSAGE_NULL
}

/// A handle as an integer.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub(crate) extern "C" fn PMPI_Request_toint(handle: abi::Request) -> c_int {
    // The lower half names kind and slot.
    handle.0 as u32 as c_int
}
const _: prototypes::PMPI_Request_toint = PMPI_Request_toint;

/// The request that an integer stands for: a transfer, or what has an entry in the table.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub(crate) extern "C" fn PMPI_Request_fromint(handle: c_int) -> abi::Request {
    if (0..PREDEFINED as c_int).contains(&handle) {
        return abi::Request(handle as usize);
    }
    let state = runtime::enter();
    let transfer = || state.engine.in_slot(index(handle as usize) as u32).map(of_transfer);
    let named = |found: &usize| *found as u32 as c_int == handle;
    let found = REQUESTS.of(&state).handle_of(handle).filter(named).or_else(|| transfer().filter(named));
    abi::Request(found.unwrap_or(MPI_REQUEST_NULL))
}
const _: prototypes::PMPI_Request_fromint = PMPI_Request_fromint;

/// Handles of objects that the library never makes: all are predefined.
macro_rules! by_value {
    ($($to:ident $from:ident $handle:ident)*) => {$(
        /// A handle as an integer.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        extern "C" fn $to(handle: abi::$handle) -> c_int {
            handle.0 as c_int
        }
        const _: prototypes::$to = $to;

        /// The handle that an integer stands for.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        extern "C" fn $from(handle: c_int) -> abi::$handle {
            abi::$handle(handle as usize)
        }
        const _: prototypes::$from = $from;
    )*};
}

by_value! {
    PMPI_Win_toint PMPI_Win_fromint Win
    PMPI_File_toint PMPI_File_fromint File
    PMPI_Session_toint PMPI_Session_fromint Session
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::info::Info;

    #[test]
    fn a_handle_comes_back_from_its_integer_while_its_object_lives() {
        let handle = abi::Info(INFOS.of_mut(&mut runtime::enter()).insert(Info::default()));
        let int = PMPI_Info_toint(handle);
        assert_eq!(PMPI_Info_fromint(int), handle);
        INFOS.of_mut(&mut runtime::enter()).remove(handle.0);
        assert_eq!(PMPI_Info_fromint(int).0, MPI_INFO_NULL);
        assert_eq!(PMPI_Comm_fromint(PMPI_Comm_toint(abi::Comm(MPI_COMM_WORLD))).0, MPI_COMM_WORLD);
    }
}
