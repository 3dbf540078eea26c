//! Predefined datatypes by their properties (MPI 5.0, sections 5.1.2 and 19.1.5).

use crate::abi;
use crate::abi::values::*;
use crate::call::Out;
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::datatype::{basic, unnamed};
use std::ffi::c_int;

/// The type of a class and a size in bytes (`MPI_Type_match_size`).
fn matching(class: c_int, size: c_int) -> Result<usize, Failure> {
    let (class_name, sizes): (_, &[(c_int, usize)]) = match class {
        MPI_TYPECLASS_INTEGER => (
            "MPI_TYPECLASS_INTEGER",
            &[
                (1, MPI_INTEGER1),
                (2, MPI_INTEGER2),
                (4, MPI_INTEGER4),
                (8, MPI_INTEGER8),
                (16, MPI_INTEGER16),
            ],
        ),
        MPI_TYPECLASS_REAL => {
            ("MPI_TYPECLASS_REAL", &[(2, MPI_REAL2), (4, MPI_REAL4), (8, MPI_REAL8), (16, MPI_REAL16)])
        }
        MPI_TYPECLASS_COMPLEX => (
            "MPI_TYPECLASS_COMPLEX",
            &[(4, MPI_COMPLEX4), (8, MPI_COMPLEX8), (16, MPI_COMPLEX16), (32, MPI_COMPLEX32)],
        ),
        _ => {
            return Err(Failure::new(
                MPI_ERR_ARG,
                format_args!(
                    "typeclass is {class}; allowed are MPI_TYPECLASS_REAL, MPI_TYPECLASS_INTEGER and \
                     MPI_TYPECLASS_COMPLEX"
                ),
            ));
        }
    };
    let found = sizes.iter().find(|&&(bytes, _)| bytes == size).map(|&(_, datatype)| datatype);
    found.ok_or_else(|| {
        let allowed: Vec<String> = sizes.iter().map(|(bytes, _)| bytes.to_string()).collect();
        let allowed = allowed.join(", ");
        Failure::new(
            MPI_ERR_ARG,
            format_args!("size is {size}; of {class_name}, there are types of {allowed} bytes"),
        )
    })
}

mpi! {
    /// Section 19.1.5.
    fn PMPI_Type_create_f90_real(p: c_int, r: c_int, newtype: Out<abi::Datatype>) {
        let mut state = check::running()?;
        newtype.write(unnamed::real(&mut state, MPI_COMBINER_F90_REAL, p, r)?)
    }

    /// Section 19.1.5.
    fn PMPI_Type_create_f90_complex(p: c_int, r: c_int, newtype: Out<abi::Datatype>) {
        let mut state = check::running()?;
        newtype.write(unnamed::real(&mut state, MPI_COMBINER_F90_COMPLEX, p, r)?)
    }

    /// Section 19.1.5.
    fn PMPI_Type_create_f90_integer(r: c_int, newtype: Out<abi::Datatype>) {
        let mut state = check::running()?;
        newtype.write(unnamed::integer(&mut state, r)?)
    }

    /// Section 19.1.5.
    fn PMPI_Type_match_size(typeclass: c_int, size: c_int, datatype: Out<abi::Datatype>) {
        let _state = check::running()?;
        datatype.write(abi::Datatype(matching(typeclass, size)?))
    }

    /// Section 5.1.2. There are the pairs with a name; for others `MPI_DATATYPE_NULL`.
    fn PMPI_Type_get_value_index(value_type: abi::Datatype, index_type: abi::Datatype, pair_type: Out<abi::Datatype>) {
        let state = check::running()?;
        state.valid_datatype(value_type)?;
        state.valid_datatype(index_type)?;
        pair_type.write(basic::pair_of(value_type, index_type))
    }
}
