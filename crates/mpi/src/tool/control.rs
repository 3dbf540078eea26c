//! Control variables (MPI 5.0, section 15.3.6): the library's settings, named as the environment variables that set them, and its
//! limits.

use super::{entry, find, put, put_text, running, tool};
use crate::abi::Datatype;
use crate::abi::values::*;
use crate::check::CHECKING;
use crate::progress;
use crate::settings::COPY_FROM;
use crate::tool::category::{Enumeration, ON_OFF, PROGRESS};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::Ordering;
use transport::{CREDIT, MOST_EAGER};

/// A setting; all of them are read as an `int`.
pub(super) struct Control {
    pub(super) name: &'static str,
    description: &'static str,
    verbosity: c_int,
    values: Option<&'static Enumeration>,
    scope: c_int,
    read: fn() -> c_int,
    /// Nothing: fixed at Init by the environment.
    write: Option<fn(c_int)>,
}

/// All of them; an index never changes its meaning while a program runs.
pub(super) static CONTROLS: &[Control] = &[
    Control {
        name: "CELLWEAVE_MPI_CHECK",
        description: "Arguments of MPI functions are checked.",
        verbosity: MPI_T_VERBOSITY_USER_BASIC,
        values: Some(&ON_OFF),
        scope: MPI_T_SCOPE_LOCAL,
        read: || CHECKING.load(Ordering::Relaxed).into(),
        write: Some(|value| CHECKING.store(value != 0, Ordering::Relaxed)),
    },
    Control {
        name: "CELLWEAVE_MPI_PROGRESS",
        description: "Who moves messages: the calls that the program makes, or a thread beside it too.",
        verbosity: MPI_T_VERBOSITY_USER_BASIC,
        values: Some(&PROGRESS),
        scope: MPI_T_SCOPE_READONLY,
        read: || progress::wanted().unwrap_or(false).into(),
        write: None,
    },
    Control {
        name: "CELLWEAVE_MPI_COPY",
        description: "Bytes from which a message is copied from process to process by both ranks; the largest int: never.",
        verbosity: MPI_T_VERBOSITY_TUNER_BASIC,
        values: None,
        scope: MPI_T_SCOPE_READONLY,
        read: || COPY_FROM.load(Ordering::Relaxed).try_into().unwrap_or(c_int::MAX),
        write: None,
    },
    Control {
        name: "eager_bytes",
        description: "The most bytes of a message that is sent before its receive is known.",
        verbosity: MPI_T_VERBOSITY_TUNER_BASIC,
        values: None,
        scope: MPI_T_SCOPE_CONSTANT,
        read: || MOST_EAGER as c_int,
        write: None,
    },
    Control {
        name: "credit_bytes",
        description: "The most bytes of such messages that one rank may have waiting at another; the next ones wait for their receive.",
        verbosity: MPI_T_VERBOSITY_TUNER_BASIC,
        values: None,
        scope: MPI_T_SCOPE_CONSTANT,
        read: || CREDIT as c_int,
        write: None,
    },
];

tool! {
    fn PMPI_T_cvar_get_num(num_cvar: *mut c_int) {
        let _tool = running()?;
        // SAFETY: by the C caller's word.
        unsafe { put(num_cvar, CONTROLS.len() as c_int) };
        Ok(())
    }

    fn PMPI_T_cvar_get_info(
        cvar_index: c_int, name: *mut c_char, name_len: *mut c_int, verbosity: *mut c_int, datatype: *mut Datatype,
        enumtype: *mut usize, desc: *mut c_char, desc_len: *mut c_int, bind: *mut c_int, scope: *mut c_int,
    ) {
        let _tool = running()?;
        let control = entry(CONTROLS, cvar_index)?;
        // SAFETY: by the C caller's word.
        unsafe {
            put_text(control.name, name, name_len);
            put(verbosity, control.verbosity);
            put(datatype, Datatype(MPI_INT));
            put(enumtype, control.values.map_or(MPI_T_ENUM_NULL, Enumeration::handle));
            put_text(control.description, desc, desc_len);
            put(bind, MPI_T_BIND_NO_OBJECT);
            put(scope, control.scope);
        }
        Ok(())
    }

    fn PMPI_T_cvar_get_index(name: *const c_char, cvar_index: *mut c_int) {
        let _tool = running()?;
        // SAFETY: by the C caller's word.
        unsafe { put(cvar_index, find(CONTROLS, name, |control, name| control.name == name)?) };
        Ok(())
    }

    fn PMPI_T_cvar_handle_alloc(cvar_index: c_int, _object: *mut c_void, handle: *mut usize, count: *mut c_int) {
        let mut tool = running()?;
        entry(CONTROLS, cvar_index)?;
        if handle.is_null() {
            return Err(MPI_T_ERR_INVALID);
        }
        let made = tool.handle();
        tool.controls.insert(made, cvar_index as usize);
        // SAFETY: by the C caller's word.
        unsafe {
            put(handle, made);
            put(count, 1);
        }
        Ok(())
    }

    fn PMPI_T_cvar_handle_free(handle: *mut usize) {
        let mut tool = running()?;
        // SAFETY: by the C caller's word.
        let handle = unsafe { handle.as_mut() }.ok_or(MPI_T_ERR_INVALID)?;
        tool.controls.remove(handle).ok_or(MPI_T_ERR_INVALID_HANDLE)?;
        *handle = MPI_T_CVAR_HANDLE_NULL;
        Ok(())
    }

    fn PMPI_T_cvar_read(handle: usize, buf: *mut c_void) {
        let tool = running()?;
        let control = &CONTROLS[*tool.controls.get(&handle).ok_or(MPI_T_ERR_INVALID_HANDLE)?];
        if buf.is_null() {
            return Err(MPI_T_ERR_INVALID);
        }
        // SAFETY: a buffer of one int, by the C caller's word.
        unsafe { buf.cast::<c_int>().write_unaligned((control.read)()) };
        Ok(())
    }

    fn PMPI_T_cvar_write(handle: usize, buf: *const c_void) {
        let tool = running()?;
        let control = &CONTROLS[*tool.controls.get(&handle).ok_or(MPI_T_ERR_INVALID_HANDLE)?];
        let write = control.write.ok_or(MPI_T_ERR_CVAR_SET_NEVER)?;
        if buf.is_null() {
            return Err(MPI_T_ERR_INVALID);
        }
        // SAFETY: a buffer of one int, by the C caller's word.
        let value = unsafe { buf.cast::<c_int>().read_unaligned() };
        if control.values.is_some_and(|values| !values.has(value)) {
            return Err(MPI_T_ERR_INVALID_ITEM);
        }
        write(value);
        Ok(())
    }
}
