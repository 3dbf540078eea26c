//! Errors as users see them: what a function refuses.
//!
//! A failure names its class and says in words what was wrong and what is allowed; the error handler of the
//! communicator decides what becomes of it.

use crate::abi;
use crate::abi::values::*;
use crate::handles::{Kind, kind_of};
use crate::runtime::{self, Entered, phase};
use std::ffi::{c_int, c_void};
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

    /// The communicator whose error handler is called.
    #[must_use]
    pub fn on(mut self, comm: abi::Comm) -> Self {
        self.0.comm.get_or_insert(comm);
        self
    }

    /// The same with another class, and other words made of its own.
    #[must_use]
    pub fn reworded(mut self, class: c_int, words: impl FnOnce(&str) -> String) -> Self {
        self.0.class = class;
        self.0.text = words(&self.0.text);
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

    /// The communicator whose error handler is to be called; nothing: the library's.
    pub fn comm(&self) -> Option<abi::Comm> {
        self.0.comm
    }
}

/// Arguments are checked, unless `CELLWEAVE_MPI_CHECK=0`.
pub(crate) static CHECKING: AtomicBool = AtomicBool::new(true);

/// Whether arguments are checked.
#[inline]
pub(crate) fn checking() -> bool {
    CHECKING.load(Ordering::Relaxed)
}

/// Holds the state of a running library.
///
/// # Errors
/// Before Init and after Finalize.
#[inline]
pub(crate) fn running() -> Result<Entered, Failure> {
    is_running()?;
    Ok(runtime::enter())
}

/// That the library runs. For functions that any thread may call at any time.
///
/// # Errors
/// Before Init and after Finalize.
#[inline]
pub(crate) fn is_running() -> Result<(), Failure> {
    if runtime::phase() == phase::RUNNING { Ok(()) } else { Err(not_running()) }
}

#[cold]
fn not_running() -> Failure {
    let when = match runtime::phase() {
        phase::BEFORE => "before MPI_Init",
        phase::FINALISED => "after MPI_Finalize",
        // Nothing of the library works in a forked process; its parent is still the rank.
        _ => launch::abort(
            MPI_ERR_OTHER,
            "MPI was called in a process that a rank forked; only the rank itself, which called MPI_Init, may call it",
        ),
    };
    Failure::new(abi::values::MPI_ERR_OTHER, format_args!("called {when}"))
}

/// What a handle is when it is not what it should be: null, freed, another kind of object, or nothing at all.
#[cold]
fn described(handle: usize, expected: &str) -> String {
    let other = match kind_of(handle) {
        Some(Kind::Comm) => "a communicator",
        Some(Kind::Group) => "a group",
        Some(Kind::Datatype) => "a datatype",
        Some(Kind::Op) => "an operation",
        Some(Kind::Request | Kind::Transfer) => "a request",
        Some(Kind::Message) => "a message",
        Some(Kind::Errhandler) => "an error handler",
        Some(Kind::Info) => "an info",
        None => predefined(handle),
    };
    if other.ends_with(expected) && kind_of(handle).is_some() {
        format!("{other} that was freed")
    } else if other.is_empty() {
        format!("{handle:#x}, which is no handle")
    } else {
        other.into()
    }
}

/// What a predefined handle is, by the ranges that the ABI gives to kinds of objects (MPI 5.0, section 20.2).
fn predefined(handle: usize) -> &'static str {
    match handle {
        MPI_COMM_NULL => "MPI_COMM_NULL",
        MPI_GROUP_NULL => "MPI_GROUP_NULL",
        MPI_WIN_NULL => "MPI_WIN_NULL",
        MPI_FILE_NULL => "MPI_FILE_NULL",
        MPI_SESSION_NULL => "MPI_SESSION_NULL",
        MPI_MESSAGE_NULL => "MPI_MESSAGE_NULL",
        MPI_INFO_NULL => "MPI_INFO_NULL",
        MPI_ERRHANDLER_NULL => "MPI_ERRHANDLER_NULL",
        MPI_REQUEST_NULL => "MPI_REQUEST_NULL",
        MPI_DATATYPE_NULL => "MPI_DATATYPE_NULL",
        MPI_OP_NULL => "MPI_OP_NULL",
        0x21..0x40 => "an operation",
        0x101..0x104 => "a communicator",
        MPI_GROUP_EMPTY => "a group",
        MPI_INFO_ENV => "an info",
        0x141..0x144 => "an error handler",
        0x201..0x400 => "a datatype",
        _ => "",
    }
}

/// That an argument's handle names no object of the kind it should: "comm is a group; allowed is a communicator".
#[cold]
pub(crate) fn not_an(name: &str, expected: &str, handle: usize, class: c_int) -> Failure {
    let article = if expected.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    let found = described(handle, expected);
    Failure::new(class, format_args!("{name} is {found}; allowed is {article} {expected}"))
}

/// That a tag is one to send with.
///
/// # Errors
/// A negative tag.
#[inline]
pub(crate) fn tag(tag: c_int) -> Result<(), Failure> {
    if tag < 0 && checking() {
        let text = format_args!("tag is {tag}; allowed are 0 to {}", c_int::MAX);
        return Err(Failure::new(MPI_ERR_TAG, text));
    }
    Ok(())
}

/// The tag that a receive is for; nothing for `MPI_ANY_TAG`.
///
/// # Errors
/// Another negative tag.
#[inline]
pub(crate) fn receive_tag(tag: c_int) -> Result<Option<i32>, Failure> {
    if tag >= 0 {
        return Ok(Some(tag));
    }
    if tag == MPI_ANY_TAG {
        return Ok(None);
    }
    Err(Failure::new(
        MPI_ERR_TAG,
        format_args!("tag is {tag}; allowed are 0 to {} and MPI_ANY_TAG", c_int::MAX),
    ))
}

/// A count that is not negative.
///
/// # Errors
/// A negative one.
#[inline]
pub(crate) fn count(count: impl Into<i64>, name: &str) -> Result<usize, Failure> {
    let count = count.into();
    usize::try_from(count).map_err(|_| not_a_count(count, name))
}

#[cold]
fn not_a_count(count: i64, name: &str) -> Failure {
    Failure::new(MPI_ERR_COUNT, format_args!("{name} is {count}; allowed are 0 and more"))
}

/// That there is a buffer when there is data. (A null address is valid with a datatype of absolute addresses,
/// `MPI_BOTTOM`: pass whether it is one.)
///
/// # Errors
/// A null pointer though `bytes` are to be sent or received.
#[inline]
pub(crate) fn buffer(
    address: *const c_void,
    bytes: usize,
    absolute: bool,
    name: &str,
) -> Result<(), Failure> {
    if address.is_null() && bytes > 0 && !absolute && checking() {
        let text = format_args!("{name} is a null pointer, though there are {bytes} bytes of data");
        return Err(Failure::new(MPI_ERR_BUFFER, text));
    }
    Ok(())
}
