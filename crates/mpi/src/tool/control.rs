//! Control variables (MPI 5.0, section 15.3.6): the library's settings, named as the environment variables that set
//! them, and its limits.

use super::{entry, find, put_text, running, tool};
use crate::abi::Datatype;
use crate::abi::values::*;
use crate::call::{Declared, In, InOut, Out};
use crate::check::CHECKING;
use crate::progress;
use crate::settings::COPY_FROM;
use crate::tool::enumeration::{Enumeration, ON_OFF, PROGRESS};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::Ordering;
use transport::{CREDIT, MOST_EAGER};

/// A setting; all of them are read as an `int`.
pub(super) struct ControlVariable {
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
pub(super) static CONTROLS: &[ControlVariable] = &[
    ControlVariable {
        name: "CELLWEAVE_MPI_CHECK",
        description: "Arguments of MPI functions are checked.",
        verbosity: MPI_T_VERBOSITY_USER_BASIC,
        values: Some(&ON_OFF),
        scope: MPI_T_SCOPE_LOCAL,
        read: || CHECKING.load(Ordering::Relaxed).into(),
        write: Some(|value| CHECKING.store(value != 0, Ordering::Relaxed)),
    },
    ControlVariable {
        name: "CELLWEAVE_MPI_PROGRESS",
        description: "What moves messages: the calls that the program makes, or a thread beside it too.",
        verbosity: MPI_T_VERBOSITY_USER_BASIC,
        values: Some(&PROGRESS),
        scope: MPI_T_SCOPE_READONLY,
        read: || progress::wanted().unwrap_or(false).into(),
        write: None,
    },
    ControlVariable {
        name: "CELLWEAVE_MPI_COPY",
        description: "Bytes from which ranks may copy a message from process to process; the largest int: never.",
        verbosity: MPI_T_VERBOSITY_TUNER_BASIC,
        values: None,
        scope: MPI_T_SCOPE_READONLY,
        read: || COPY_FROM.load(Ordering::Relaxed).try_into().unwrap_or(c_int::MAX),
        write: None,
    },
    ControlVariable {
        name: "eager_bytes",
        description: "Messages of at most so many bytes are sent before their receive is known; larger ones, too, \
                      where the last one was waited for.",
        verbosity: MPI_T_VERBOSITY_TUNER_BASIC,
        values: None,
        scope: MPI_T_SCOPE_CONSTANT,
        read: || MOST_EAGER as c_int,
        write: None,
    },
    ControlVariable {
        name: "credit_bytes",
        description: "The most bytes of such messages that one rank may have waiting at another, \
                      less where ranks share cpus; \
                      the next ones wait for their receive.",
        verbosity: MPI_T_VERBOSITY_TUNER_BASIC,
        values: None,
        scope: MPI_T_SCOPE_CONSTANT,
        read: || CREDIT as c_int,
        write: None,
    },
];

tool! {
    fn PMPI_T_cvar_get_num(num_cvar: Out<c_int>) {
        let _tool = running()?;
        num_cvar.offer(CONTROLS.len() as c_int);
        Ok(())
    }

    fn PMPI_T_cvar_get_info(
        cvar_index: c_int, name: Out<c_char>, name_len: InOut<c_int>, verbosity: Out<c_int>, datatype: Out<Datatype>,
        enumtype: Out<usize>, desc: Out<c_char>, desc_len: InOut<c_int>, bind: Out<c_int>, scope: Out<c_int>,
    ) {
        let _tool = running()?;
        let control = entry(CONTROLS, cvar_index)?;
        put_text(control.name, name, name_len);
        verbosity.offer(control.verbosity);
        datatype.offer(Datatype(MPI_INT));
        enumtype.offer(control.values.map_or(MPI_T_ENUM_NULL, Enumeration::handle));
        put_text(control.description, desc, desc_len);
        bind.offer(MPI_T_BIND_NO_OBJECT);
        scope.offer(control.scope);
        Ok(())
    }

    fn PMPI_T_cvar_get_index(name: In<c_char>, cvar_index: Out<c_int>) {
        let _tool = running()?;
        cvar_index.offer(find(CONTROLS, name, |control, name| control.name == name)?);
        Ok(())
    }

    fn PMPI_T_cvar_handle_alloc(cvar_index: c_int, _object: *mut c_void, handle: Out<usize>, count: Out<c_int>) {
        let mut tool = running()?;
        entry(CONTROLS, cvar_index)?;
        if handle.is_null() {
            return Err(MPI_T_ERR_INVALID);
        }
        let made = tool.handle();
        tool.controls.insert(made, cvar_index as usize);
        handle.offer(made);
        count.offer(1);
        Ok(())
    }

    fn PMPI_T_cvar_handle_free(handle: InOut<usize>) {
        let mut tool = running()?;
        let given = handle.read().map_err(|_| MPI_T_ERR_INVALID)?;
        tool.controls.remove(&given).ok_or(MPI_T_ERR_INVALID_HANDLE)?;
        handle.offer(MPI_T_CVAR_HANDLE_NULL);
        Ok(())
    }

    fn PMPI_T_cvar_read(handle: usize, buf: Declared<*mut c_void, Out<c_int>>) {
        let tool = running()?;
        let control = &CONTROLS[*tool.controls.get(&handle).ok_or(MPI_T_ERR_INVALID_HANDLE)?];
        buf.write((control.read)()).map_err(|_| MPI_T_ERR_INVALID)
    }

    fn PMPI_T_cvar_write(handle: usize, buf: Declared<*const c_void, In<c_int>>) {
        let tool = running()?;
        let control = &CONTROLS[*tool.controls.get(&handle).ok_or(MPI_T_ERR_INVALID_HANDLE)?];
        let write = control.write.ok_or(MPI_T_ERR_CVAR_SET_NEVER)?;
        let value = buf.read().map_err(|_| MPI_T_ERR_INVALID)?;
        if control.values.is_some_and(|values| !values.has(value)) {
            return Err(MPI_T_ERR_INVALID_ITEM);
        }
        write(value);
        Ok(())
    }
}
