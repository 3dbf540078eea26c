//! Errors as users see them: what a function refuses, and where that goes.
//!
//! `mpi!` makes a function of the C interface of a body that gives `Result<(), Failure>`. A failure names its class and says
//! in words what was wrong and what is allowed; the error handler of the object decides what becomes of it.

use crate::abi;
use crate::runtime::{self, Entered, phase};
use std::ffi::c_int;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a function could not do what it was asked.
#[derive(Debug)]
pub struct Failure(Box<Told>);

#[derive(Debug)]
struct Told {
    class: c_int,
    text: String,
    comm: Option<abi::Comm>,
}

impl Failure {
    /// A failure of a class (`MPI_ERR_*`), and what was wrong: which argument, its value, what is allowed.
    #[cold]
    pub fn new(class: c_int, text: impl Display) -> Self {
        Self(Box::new(Told { class, text: text.to_string(), comm: None }))
    }

    /// The communicator whose error handler is to be called.
    #[must_use]
    pub fn on(mut self, comm: abi::Comm) -> Self {
        self.0.comm.get_or_insert(comm);
        self
    }

    /// The error class.
    pub fn class(&self) -> c_int {
        self.0.class
    }

    /// What was wrong, without the function's name.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Calls the error handler, and gives the code to return. Not to be called by who is inside.
    #[cold]
    pub fn raise(self, function: &'static str) -> c_int {
        crate::comm::errhandler::raise(self.0.comm, self.0.class, function, &self.0.text)
    }
}

/// Arguments are checked, unless `CELLWEAVE_MPI_CHECK=0`.
pub static CHECKING: AtomicBool = AtomicBool::new(true);

/// Whether arguments are checked.
#[inline]
pub fn checking() -> bool {
    CHECKING.load(Ordering::Relaxed)
}

/// Comes inside of a running library.
///
/// # Errors
/// Before Init and after Finalize.
#[inline]
pub fn running() -> Result<Entered, Failure> {
    if runtime::phase() != phase::RUNNING {
        return Err(not_running());
    }
    Ok(runtime::enter())
}

#[cold]
fn not_running() -> Failure {
    let when = if runtime::phase() == phase::BEFORE { "before MPI_Init" } else { "after MPI_Finalize" };
    Failure::new(abi::values::MPI_ERR_OTHER, format_args!("called {when}"))
}

/// The place for a result.
///
/// # Errors
/// A null pointer.
#[inline]
pub fn output<'a, T>(place: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    if place.is_null() {
        return Err(Failure::new(abi::values::MPI_ERR_ARG, format_args!("{name} is a null pointer")));
    }
    // SAFETY: not null; that it points to a valid place is the C caller's promise.
    Ok(unsafe { &mut *place })
}

/// Makes functions of the C interface. `on comm` names the argument whose error handler a failure goes to.
///
/// ```text
/// mpi! {
///     /// MPI 5.0, section 7.4.1.
///     fn PMPI_Comm_rank(comm: abi::Comm, rank: *mut c_int) on comm {
///         let state = check::running()?;
///         *check::output(rank, "rank")? = state.comm(comm)?.rank as c_int;
///         Ok(())
///     }
/// }
/// ```
macro_rules! mpi {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(on $comm:ident)? $body:block)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Pointers are valid for what MPI 5.0 says of them.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, clippy::too_many_arguments)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> std::ffi::c_int {
            let result = (|| -> Result<(), $crate::check::Failure> { $body })();
            match result {
                Ok(()) => $crate::abi::values::MPI_SUCCESS,
                // The names of functions are the standard's: without the P of the profiling interface.
                Err(failure) => failure$(.on($comm))?.raise(&stringify!($name)[1..]),
            }
        }
    )*};
}
pub(crate) use mpi;
