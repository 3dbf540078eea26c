//! Names of datatypes (MPI 5.0, section 7.8).

use crate::abi;
use crate::abi::values::{MPI_DATATYPE_NULL, MPI_MAX_OBJECT_NAME};
use crate::call::{In, Out};
use crate::check;
use crate::comm::mpi;
use std::ffi::{c_char, c_int};

/// Longest name, without the zero behind it.
const LONGEST: usize = MPI_MAX_OBJECT_NAME as usize - 1;

mpi! {
    /// Section 7.8. Longer names are cut, as the standard has it.
    fn PMPI_Type_set_name(datatype: abi::Datatype, type_name: In<c_char>) {
        let state = check::running()?;
        let datatype = state.valid_datatype(datatype)?;
        let name = type_name.text()?;
        *datatype.name() = name[..name.len().min(LONGEST)].to_vec();
        Ok(())
    }

    /// Section 7.8.
    fn PMPI_Type_get_name(datatype: abi::Datatype, type_name[MPI_MAX_OBJECT_NAME]: Out<c_char>, resultlen: Out<c_int>) {
        let state = check::running()?;
        let name = match datatype.0 {
            MPI_DATATYPE_NULL => b"MPI_DATATYPE_NULL".to_vec(),
            _ => state.valid_datatype(datatype)?.name().clone(),
        };
        type_name.present()?;
        resultlen.write(name.len() as c_int)?;
        type_name.write_text(&name).map(|_| ())
    }
}
