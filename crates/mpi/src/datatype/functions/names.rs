//! Names of datatypes (MPI 5.0, section 7.8).

use crate::abi;
use crate::abi::values::{MPI_DATATYPE_NULL, MPI_MAX_OBJECT_NAME};
use crate::check::{self, mpi};
use std::ffi::{c_char, c_int};

/// Longest name, without the zero behind it.
const LONGEST: usize = MPI_MAX_OBJECT_NAME as usize - 1;

mpi! {
    /// Section 7.8. Longer names are cut, as the standard has it.
    fn PMPI_Type_set_name(datatype: abi::Datatype, type_name: *const c_char) {
        let state = check::running()?;
        let datatype = state.valid_datatype(datatype)?;
        let name = check::string(type_name, "type_name")?.to_bytes();
        *datatype.name() = name[..name.len().min(LONGEST)].to_vec();
        Ok(())
    }

    /// Section 7.8.
    fn PMPI_Type_get_name(datatype: abi::Datatype, type_name: *mut c_char, resultlen: *mut c_int) {
        let state = check::running()?;
        let name = match datatype.0 {
            MPI_DATATYPE_NULL => b"MPI_DATATYPE_NULL".to_vec(),
            _ => state.valid_datatype(datatype)?.name().clone(),
        };
        check::output(type_name, "type_name")?;
        *check::output(resultlen, "resultlen")? = name.len() as c_int;
        // SAFETY: the caller's place has room for MPI_MAX_OBJECT_NAME characters.
        unsafe {
            std::ptr::copy_nonoverlapping(name.as_ptr(), type_name.cast(), name.len());
            *type_name.add(name.len()) = 0;
        }
        Ok(())
    }
}
