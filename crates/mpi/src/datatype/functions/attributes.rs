//! Attributes of datatypes (MPI 5.0, section 7.7.4).

use crate::abi;
use crate::call::{Declared, InOut, Out};
use crate::check::{self, Failure};
use crate::comm::attributes::{self, Of};
use crate::comm::mpi;
use crate::datatype::Datatype;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// The datatype, without holding the state: callbacks are the program's.
fn found(datatype: abi::Datatype) -> Result<Arc<Datatype>, Failure> {
    check::running()?.valid_datatype(datatype).cloned()
}

mpi! {
    /// Makes a keyval for datatypes.
    fn PMPI_Type_create_keyval(
        type_copy_attr_fn: usize, type_delete_attr_fn: usize, type_keyval: Out<c_int>, extra_state: *mut c_void,
    ) {
        attributes::create_keyval(Of::Datatype, type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state)
    }

    /// Frees a keyval; attributes set by it stay.
    fn PMPI_Type_free_keyval(type_keyval: InOut<c_int>) {
        attributes::free_keyval(Of::Datatype, type_keyval)
    }

    /// Sets an attribute of a datatype.
    fn PMPI_Type_set_attr(datatype: abi::Datatype, type_keyval: c_int, attribute_val: *mut c_void) {
        found(datatype)?.attributes.set(Of::Datatype, datatype.0, type_keyval, attribute_val)
    }

    /// An attribute of a datatype.
    fn PMPI_Type_get_attr(
        datatype: abi::Datatype, type_keyval: c_int, attribute_val: Declared<*mut c_void, Out<*mut c_void>>,
        flag: Out<c_int>,
    ) {
        let value = found(datatype)?.attributes.get(Of::Datatype, type_keyval)?;
        attributes::store(value, attribute_val, flag)
    }

    /// Deletes an attribute of a datatype.
    fn PMPI_Type_delete_attr(datatype: abi::Datatype, type_keyval: c_int) {
        found(datatype)?.attributes.delete(Of::Datatype, datatype.0, type_keyval)
    }
}
