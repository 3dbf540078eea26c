//! Attributes of communicators, and those that MPI defines (MPI 5.0, sections 7.7.2 and 9.1.2).

use super::attributes::{self, Of};
use super::{Comm, errors};
use crate::abi;
use crate::abi::values::*;
use crate::call::{Declared, InOut, Out};
use crate::check::{self, Failure};
use crate::comm::COMMS;
use crate::comm::mpi;
use crate::comm::valid;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, LazyLock};

/// `MPI_APPNUM`: which of the launcher's programs this is, as it says in a variable.
static APPNUM: LazyLock<Option<c_int>> =
    LazyLock::new(|| std::env::var("CELLWEAVE_MPI_APPNUM").ok()?.parse().ok());
static UNIVERSE_SIZE: AtomicI32 = AtomicI32::new(1);
static TAG_UB: c_int = c_int::MAX;
static HOST: c_int = MPI_PROC_NULL;
/// Every rank can do the language's input and output.
static IO: c_int = MPI_ANY_SOURCE;
/// Every rank reads the machine's one monotonic clock.
static WTIME_IS_GLOBAL: c_int = 1;

/// The address of a predefined attribute; nothing when the keyval is none of them. The inner nothing: it has no value.
fn predefined(keyval: c_int, ranks: usize) -> Option<Option<*mut c_void>> {
    let address: *const c_int = match keyval {
        MPI_TAG_UB => &TAG_UB,
        MPI_HOST => &HOST,
        MPI_IO => &IO,
        MPI_WTIME_IS_GLOBAL => &WTIME_IS_GLOBAL,
        MPI_LASTUSEDCODE => errors::LAST_USED.as_ptr(),
        MPI_UNIVERSE_SIZE => {
            UNIVERSE_SIZE.store(ranks as c_int, Ordering::Relaxed);
            UNIVERSE_SIZE.as_ptr()
        }
        MPI_APPNUM => match APPNUM.as_ref() {
            Some(number) => number,
            None => return Some(None),
        },
        _ => return None,
    };
    Some(Some(address.cast_mut().cast()))
}

fn found(comm: abi::Comm) -> Result<Arc<Comm>, Failure> {
    let state = check::running()?;
    valid::comm(&state, comm).cloned()
}

fn get(
    comm: abi::Comm,
    keyval: c_int,
    value: Out<'_, *mut c_void>,
    flag: Out<'_, c_int>,
) -> Result<(), Failure> {
    let (comm, ranks) = {
        let state = check::running()?;
        (valid::comm(&state, comm)?.clone(), COMMS.of(&state).world.as_ref().map_or(1, |world| world.size()))
    };
    let found = match predefined(keyval, ranks) {
        Some(predefined) => predefined,
        None => comm.attributes.get(Of::Comm, keyval)?,
    };
    attributes::store(found, value, flag)
}

mpi! {
    /// Makes a keyval for communicators.
    fn PMPI_Comm_create_keyval(copy: usize, delete: usize, comm_keyval: Out<c_int>, extra_state: *mut c_void) {
        attributes::create_keyval(Of::Comm, copy, delete, comm_keyval, extra_state)
    }

    /// `MPI_Comm_create_keyval` by its name of MPI 1.
    fn PMPI_Keyval_create(copy: usize, delete: usize, keyval: Out<c_int>, extra_state: *mut c_void) {
        attributes::create_keyval(Of::Comm, copy, delete, keyval, extra_state)
    }

    /// Frees a keyval; attributes set by it stay.
    fn PMPI_Comm_free_keyval(comm_keyval: InOut<c_int>) {
        attributes::free_keyval(Of::Comm, comm_keyval)
    }

    /// `MPI_Comm_free_keyval` by its name of MPI 1.
    fn PMPI_Keyval_free(keyval: InOut<c_int>) {
        attributes::free_keyval(Of::Comm, keyval)
    }

    /// Sets an attribute of a communicator.
    fn PMPI_Comm_set_attr(comm: abi::Comm, comm_keyval: c_int, attribute_val: *mut c_void) on comm {
        found(comm)?.attributes.set(Of::Comm, comm.0, comm_keyval, attribute_val)
    }

    /// `MPI_Comm_set_attr` by its name of MPI 1.
    fn PMPI_Attr_put(comm: abi::Comm, keyval: c_int, attribute_val: *mut c_void) on comm {
        found(comm)?.attributes.set(Of::Comm, comm.0, keyval, attribute_val)
    }

    /// An attribute of a communicator; of a predefined one, the address of an `int`.
    fn PMPI_Comm_get_attr(
        comm: abi::Comm, comm_keyval: c_int, attribute_val: Declared<*mut c_void, Out<*mut c_void>>, flag: Out<c_int>,
    ) on comm {
        get(comm, comm_keyval, attribute_val, flag)
    }

    /// `MPI_Comm_get_attr` by its name of MPI 1.
    fn PMPI_Attr_get(
        comm: abi::Comm, keyval: c_int, attribute_val: Declared<*mut c_void, Out<*mut c_void>>, flag: Out<c_int>,
    ) on comm {
        get(comm, keyval, attribute_val, flag)
    }

    /// Deletes an attribute of a communicator.
    fn PMPI_Comm_delete_attr(comm: abi::Comm, comm_keyval: c_int) on comm {
        found(comm)?.attributes.delete(Of::Comm, comm.0, comm_keyval)
    }

    /// `MPI_Comm_delete_attr` by its name of MPI 1.
    fn PMPI_Attr_delete(comm: abi::Comm, keyval: c_int) on comm {
        found(comm)?.attributes.delete(Of::Comm, comm.0, keyval)
    }
}
