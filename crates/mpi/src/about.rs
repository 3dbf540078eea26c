//! What the library says of its ABI, and of the program's parent (MPI 5.0, sections 20.2 and 11.8.2).

use crate::abi::{self, values::*};
use crate::call::Out;
use crate::check;
use crate::comm::info::INFOS;
use crate::comm::info::Info;
use crate::comm::mpi;
use crate::runtime;
use std::ffi::{c_int, c_void};

mpi! {
    /// The sizes of the integer types that the ABI leaves to the platform, in bytes. May be called at any time.
    fn PMPI_Abi_get_info(info: Out<abi::Info>) {
        info.present()?;
        let sizes = [
            ("mpi_aint_size", size_of::<abi::Aint>()),
            ("mpi_count_size", size_of::<abi::Count>()),
            ("mpi_offset_size", size_of::<i64>()),
        ];
        let mut made = Info::default();
        for (key, size) in sizes {
            made.set(key.as_bytes(), size.to_string().as_bytes());
        }
        info.write(abi::Info(INFOS.of_mut(&mut runtime::enter()).insert(made)))
    }

    /// The sizes of Fortran's types: unknown, so the handle is null. May be called at any time.
    fn PMPI_Abi_get_fortran_info(info: Out<abi::Info>) {
        info.write(abi::Info(MPI_INFO_NULL))
    }

    /// How Fortran writes true and false: unknown. May be called at any time.
    fn PMPI_Abi_get_fortran_booleans(size: c_int, truth: *mut c_void, falsehood: *mut c_void, is_set: Out<c_int>) {
        let _ = (size, truth, falsehood);
        is_set.write(0)
    }

    /// The communicator of the parent job. There is none: spawning is not supported.
    fn PMPI_Comm_get_parent(parent: Out<abi::Comm>) {
        let _state = check::running()?;
        parent.write(abi::Comm(MPI_COMM_NULL))
    }
}
