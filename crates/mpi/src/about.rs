//! What the library says of its ABI and of who started the program (MPI 5.0, sections 20.2 and 11.8.2).

use crate::abi::{self, values::*};
use crate::check::{self, mpi};
use crate::comm::info::Info;
use crate::runtime;
use std::ffi::{c_int, c_void};

mpi! {
    /// The sizes of the integer types that the ABI leaves to the platform, in bytes. May be called at any time.
    fn PMPI_Abi_get_info(info: *mut abi::Info) {
        let place = check::output(info, "info")?;
        let sizes = [
            ("mpi_aint_size", size_of::<abi::Aint>()),
            ("mpi_count_size", size_of::<abi::Count>()),
            ("mpi_offset_size", size_of::<i64>()),
        ];
        let mut made = Info::default();
        for (key, size) in sizes {
            made.set(key.as_bytes(), size.to_string().as_bytes());
        }
        *place = abi::Info(runtime::enter().infos.insert(made));
        Ok(())
    }

    /// What is known of Fortran's types: nothing, which the null handle says. May be called at any time.
    fn PMPI_Abi_get_fortran_info(info: *mut abi::Info) {
        *check::output(info, "info")? = abi::Info(MPI_INFO_NULL);
        Ok(())
    }

    /// How Fortran writes true and false: nobody has said. May be called at any time.
    fn PMPI_Abi_get_fortran_booleans(size: c_int, truth: *mut c_void, falsehood: *mut c_void, is_set: *mut c_int) {
        let _ = (size, truth, falsehood);
        *check::output(is_set, "is_set")? = 0;
        Ok(())
    }

    /// The communicator of who spawned this program. Nobody did: spawning is not supported.
    fn PMPI_Comm_get_parent(parent: *mut abi::Comm) {
        let _state = check::running()?;
        *check::output(parent, "parent")? = abi::Comm(MPI_COMM_NULL);
        Ok(())
    }
}
