//! Error handlers, and what becomes of a failure (MPI 5.0, section 9.3).
//!
//! A failure goes to the error handler of its communicator. One that belongs to no communicator goes to the handler of
//! `MPI_COMM_SELF`, as MPI 4 says; to that of `MPI_COMM_WORLD`, as MPI 3 said, when a program has only set the latter.

use super::errors;
use crate::abi::values::*;
use crate::abi::{self, prototypes};
use crate::call::{InOut, Out};
use crate::check::{self, Failure};
use crate::comm::errors::ADDED;
use crate::comm::mpi;
use crate::comm::valid;
use crate::handles::{Handles, Kind};
use crate::runtime::{self, Guarded, State, phase};
use launch::options::{ERRHANDLERS, INITIAL_ERRHANDLER};
use std::ffi::c_int;
use std::sync::atomic::Ordering;

/// What a program hands over: called with the object's handle and the error code.
pub(crate) type Function = prototypes::MPI_Comm_errhandler_function;

/// The kind of object that an error handler is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum For {
    Comm,
    Window,
    File,
    Session,
}

/// An error handler that a program made.
#[derive(Clone, Copy)]
pub(crate) struct Errhandler {
    kind: For,
    function: Function,
    /// Handles that the program has not freed, and objects that use it.
    uses: u32,
}

/// Error handlers that programs made, by handle.
pub(crate) static HANDLERS: Guarded<Handles<Errhandler>> = Guarded::new(Handles::new(Kind::Errhandler));
/// The error handler of files to be opened.
static FILE_HANDLER: Guarded<usize> = Guarded::new(MPI_ERRORS_RETURN);

/// The error handler of `MPI_COMM_WORLD` and `MPI_COMM_SELF` at the start, and of failures before.
pub(crate) fn initial() -> usize {
    let handlers = [MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN];
    let name = std::env::var_os(INITIAL_ERRHANDLER).unwrap_or_default();
    let named = ERRHANDLERS.iter().zip(handlers).find(|known| name == *known.0);
    named.map_or(MPI_ERRORS_ARE_FATAL, |known| known.1)
}

/// What a failure does.
#[derive(Clone, Copy)]
enum Action {
    EndsJob,
    Returns,
    Calls(Function),
}

impl State {
    /// Adds a use of an error handler.
    pub(crate) fn use_errhandler(&mut self, handle: usize) {
        if let Some(handler) = HANDLERS.of_mut(self).get_mut(handle) {
            handler.uses += 1;
        }
    }

    /// Drops a use of an error handler; the last one frees it.
    pub(crate) fn release_errhandler(&mut self, handle: usize) {
        if let Some(handler) = HANDLERS.of_mut(self).get_mut(handle) {
            handler.uses -= 1;
            if handler.uses == 0 {
                HANDLERS.of_mut(self).remove(handle);
            }
        }
    }

    fn action(&self, handle: usize) -> Action {
        match handle {
            MPI_ERRORS_RETURN => Action::Returns,
            other => HANDLERS
                .of(self)
                .get(other)
                .map_or(Action::EndsJob, |handler| Action::Calls(handler.function)),
        }
    }

    /// The communicator whose handler a failure goes to, with that handler.
    fn addressee(&self, comm: Option<abi::Comm>) -> (abi::Comm, usize) {
        let handler = |comm| self.comm(comm).map(|found| (comm, found.errhandler.load(Ordering::Relaxed)));
        let own = || handler(abi::Comm(MPI_COMM_SELF)).filter(|found| found.1 != MPI_ERRORS_ARE_FATAL);
        let world = abi::Comm(MPI_COMM_WORLD);
        comm.and_then(handler)
            .or_else(own)
            .or_else(|| handler(world))
            .unwrap_or((world, MPI_ERRORS_ARE_FATAL))
    }
}

/// Calls the error handler that a failure goes to, and gives the code to return. Call this only while not holding the
/// state.
#[cold]
pub(crate) fn raise(failure: Failure, function: &'static str) -> c_int {
    let (comm, code, text) = (failure.comm(), failure.class(), failure.text());
    if runtime::phase() != phase::RUNNING {
        if initial() == MPI_ERRORS_RETURN {
            return code;
        }
        launch::abort(code, &format!("{function}: {text}"));
    }
    let (comm, action) = {
        let state = runtime::enter();
        let (comm, handler) = state.addressee(comm);
        (comm, state.action(handler))
    };
    act(action, comm.0, code, &format!("{function}: {text}"))
}

/// Does what an error handler says of a failure of an object, and gives the code to return.
fn act(action: Action, mut object: usize, code: c_int, text: &str) -> c_int {
    errors::remember(code, text.to_owned());
    match action {
        Action::Returns => {}
        // The launcher says which rank it is.
        Action::EndsJob => launch::abort(code, text),
        Action::Calls(handler) => {
            let mut told = code;
            // SAFETY: a function of the program's that takes an object and a code, which live during the call; the
            // state is not held.
            unsafe { handler(&mut object, &mut told) };
        }
    }
    code
}

fn create(kind: For, function: Option<Function>, handle: Out<abi::Errhandler>) -> Result<(), Failure> {
    handle.present()?;
    let Some(function) = function else {
        return Err(Failure::new(MPI_ERR_ARG, "the error handler's function is a null pointer"));
    };
    handle.write(abi::Errhandler(HANDLERS.of_mut(&mut runtime::enter()).insert(Errhandler {
        kind,
        function,
        uses: 1,
    })))
}

/// That a handle names an error handler for a kind of object.
fn usable(state: &State, handle: abi::Errhandler, kind: For) -> Result<(), Failure> {
    match HANDLERS.of(state).get(handle.0) {
        _ if matches!(handle.0, MPI_ERRORS_ARE_FATAL | MPI_ERRORS_ABORT | MPI_ERRORS_RETURN) => Ok(()),
        Some(found) if found.kind == kind => Ok(()),
        Some(found) => Err(Failure::new(
            MPI_ERR_ERRHANDLER,
            format_args!(
                "errhandler was made for objects of kind {:?}; allowed are those of {kind:?}",
                found.kind
            ),
        )),
        None => Err(check::not_an("errhandler", "error handler", handle.0, MPI_ERR_ERRHANDLER)),
    }
}

/// That a handle names an error handler for communicators.
///
/// # Errors
/// Null, freed, another kind of object, or made for other objects.
pub(crate) fn for_comms(state: &State, handle: abi::Errhandler) -> Result<(), Failure> {
    usable(state, handle, For::Comm)
}

impl State {
    /// Gives a communicator an error handler instead of the one it has.
    pub(crate) fn set_errhandler(&mut self, comm: abi::Comm, errhandler: abi::Errhandler) {
        let Some(comm) = self.comm(comm).cloned() else { return };
        self.use_errhandler(errhandler.0);
        let before = comm.errhandler.swap(errhandler.0, Ordering::Relaxed);
        self.release_errhandler(before);
    }
}

fn set(comm: abi::Comm, errhandler: abi::Errhandler) -> Result<(), Failure> {
    let mut state = check::running()?;
    valid::comm(&state, comm)?;
    for_comms(&state, errhandler)?;
    state.set_errhandler(comm, errhandler);
    Ok(())
}

fn get(comm: abi::Comm, errhandler: Out<'_, abi::Errhandler>) -> Result<(), Failure> {
    let mut state = check::running()?;
    let handle = valid::comm(&state, comm)?.errhandler.load(Ordering::Relaxed);
    errhandler.write(abi::Errhandler(handle))?;
    state.use_errhandler(handle);
    Ok(())
}

/// That a file's handle is `MPI_FILE_NULL`, which stands for files to be opened.
fn no_file(file: abi::File) -> Result<(), Failure> {
    if file.0 == MPI_FILE_NULL { Ok(()) } else { Err(check::not_an("file", "file", file.0, MPI_ERR_FILE)) }
}

mpi! {
    /// Makes an error handler for communicators.
    fn PMPI_Comm_create_errhandler(function: Option<Function>, errhandler: Out<abi::Errhandler>) {
        create(For::Comm, function, errhandler)
    }

    /// `MPI_Comm_create_errhandler` by its name of MPI 1.
    fn PMPI_Errhandler_create(function: Option<Function>, errhandler: Out<abi::Errhandler>) {
        create(For::Comm, function, errhandler)
    }

    /// Makes an error handler for windows.
    fn PMPI_Win_create_errhandler(function: Option<Function>, errhandler: Out<abi::Errhandler>) {
        create(For::Window, function, errhandler)
    }

    /// Makes an error handler for files.
    fn PMPI_File_create_errhandler(function: Option<Function>, errhandler: Out<abi::Errhandler>) {
        create(For::File, function, errhandler)
    }

    /// Makes an error handler for sessions.
    fn PMPI_Session_create_errhandler(function: Option<Function>, errhandler: Out<abi::Errhandler>) {
        create(For::Session, function, errhandler)
    }

    /// Gives a communicator an error handler.
    fn PMPI_Comm_set_errhandler(comm: abi::Comm, errhandler: abi::Errhandler) on comm {
        set(comm, errhandler)
    }

    /// `MPI_Comm_set_errhandler` by its name of MPI 1.
    fn PMPI_Errhandler_set(comm: abi::Comm, errhandler: abi::Errhandler) on comm {
        set(comm, errhandler)
    }

    /// The error handler of a communicator, as a handle to be freed.
    fn PMPI_Comm_get_errhandler(comm: abi::Comm, errhandler: Out<abi::Errhandler>) on comm {
        get(comm, errhandler)
    }

    /// `MPI_Comm_get_errhandler` by its name of MPI 1.
    fn PMPI_Errhandler_get(comm: abi::Comm, errhandler: Out<abi::Errhandler>) on comm {
        get(comm, errhandler)
    }

    /// Sets the error handler that files would be opened with. There are no files.
    fn PMPI_File_set_errhandler(file: abi::File, errhandler: abi::Errhandler) {
        no_file(file)?;
        let mut state = runtime::enter();
        usable(&state, errhandler, For::File)?;
        state.use_errhandler(errhandler.0);
        let before = std::mem::replace(FILE_HANDLER.of_mut(&mut state), errhandler.0);
        state.release_errhandler(before);
        Ok(())
    }

    /// The error handler that files would be opened with, as a handle to be freed.
    fn PMPI_File_get_errhandler(file: abi::File, errhandler: Out<abi::Errhandler>) {
        no_file(file)?;
        let mut state = runtime::enter();
        let handle = *FILE_HANDLER.of(&state);
        errhandler.write(abi::Errhandler(handle))?;
        state.use_errhandler(handle);
        Ok(())
    }

    /// Frees a handle; the error handler lives as long as an object uses it.
    fn PMPI_Errhandler_free(errhandler: InOut<abi::Errhandler>) {
        let mut state = runtime::enter();
        let handle = errhandler.read()?;
        if HANDLERS.of(&state).get(handle.0).is_some() {
            state.release_errhandler(handle.0);
        } else if !matches!(handle.0, MPI_ERRORS_ARE_FATAL | MPI_ERRORS_ABORT | MPI_ERRORS_RETURN) {
            return Err(check::not_an("errhandler", "error handler", handle.0, MPI_ERR_ERRHANDLER));
        }
        errhandler.write(abi::Errhandler(MPI_ERRHANDLER_NULL))
    }
}

/// Every function of the ABI that is not supported ends here, with its name; gives the code to return. A program that
/// wants to ask, and to go another way, sets `MPI_ERRORS_RETURN` before; that is what files have from the start.
#[cold]
pub(super) fn unsupported(function: &'static str) -> c_int {
    let (code, text) = (MPI_ERR_UNSUPPORTED_OPERATION, "this library does not support it");
    if function.starts_with("MPI_File_") {
        let action = {
            let state = runtime::enter();
            state.action(*FILE_HANDLER.of(&state))
        };
        return act(action, MPI_FILE_NULL, code, &format!("{function}: {text}"));
    }
    raise(Failure::new(code, text), function)
}

/// Calls the error handler of a communicator with a code, as if a function had failed.
///
/// # Safety
/// None beyond the ABI's.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub(crate) unsafe extern "C" fn PMPI_Comm_call_errhandler(comm: abi::Comm, errorcode: c_int) -> c_int {
    let known = check::running().and_then(|state| valid::comm(&state, comm).map(|_| ()));
    if let Err(failure) = known {
        return raise(failure.on(comm), "MPI_Comm_call_errhandler");
    }
    let words = ADDED.of(&runtime::enter()).text(errorcode);
    let failure = Failure::new(errorcode, format_args!("error code {errorcode}: {words}"));
    raise(failure.on(comm), "MPI_Comm_call_errhandler");
    MPI_SUCCESS
}
const _: prototypes::PMPI_Comm_call_errhandler = PMPI_Comm_call_errhandler;
