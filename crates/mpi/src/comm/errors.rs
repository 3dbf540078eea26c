//! Error codes: their classes, their words, and those that a program adds (MPI 5.0, sections 9.4 and 9.5). Before Init
//! too.

use crate::abi::values::*;
use crate::call::{In, Out};
use crate::check::Failure;
use crate::comm::mpi;
use crate::runtime;
use crate::runtime::Guarded;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicI32, Ordering};

/// The predefined classes in the order of their values, with their words.
#[rustfmt::skip]
const CLASSES: &[(c_int, &str)] = &[
    (MPI_SUCCESS, "MPI_SUCCESS: no error"),
    (MPI_ERR_BUFFER, "MPI_ERR_BUFFER: invalid buffer pointer"),
    (MPI_ERR_COUNT, "MPI_ERR_COUNT: invalid count"),
    (MPI_ERR_TYPE, "MPI_ERR_TYPE: invalid datatype"),
    (MPI_ERR_TAG, "MPI_ERR_TAG: invalid tag"),
    (MPI_ERR_COMM, "MPI_ERR_COMM: invalid communicator"),
    (MPI_ERR_RANK, "MPI_ERR_RANK: invalid rank"),
    (MPI_ERR_REQUEST, "MPI_ERR_REQUEST: invalid request"),
    (MPI_ERR_ROOT, "MPI_ERR_ROOT: invalid root"),
    (MPI_ERR_GROUP, "MPI_ERR_GROUP: invalid group"),
    (MPI_ERR_OP, "MPI_ERR_OP: invalid operation"),
    (MPI_ERR_TOPOLOGY, "MPI_ERR_TOPOLOGY: invalid topology"),
    (MPI_ERR_DIMS, "MPI_ERR_DIMS: invalid dimensions"),
    (MPI_ERR_ARG, "MPI_ERR_ARG: invalid argument of another kind"),
    (MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN: unknown error"),
    (MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE: message truncated on receive"),
    (MPI_ERR_OTHER, "MPI_ERR_OTHER: error that has no class of its own"),
    (MPI_ERR_INTERN, "MPI_ERR_INTERN: error inside the MPI library"),
    (MPI_ERR_PENDING, "MPI_ERR_PENDING: request is still pending"),
    (MPI_ERR_IN_STATUS, "MPI_ERR_IN_STATUS: the error code is in the status"),
    (MPI_ERR_ACCESS, "MPI_ERR_ACCESS: permission denied"),
    (MPI_ERR_AMODE, "MPI_ERR_AMODE: invalid access mode of a file"),
    (MPI_ERR_ASSERT, "MPI_ERR_ASSERT: invalid assertion"),
    (MPI_ERR_BAD_FILE, "MPI_ERR_BAD_FILE: invalid file name"),
    (MPI_ERR_BASE, "MPI_ERR_BASE: invalid base address to free"),
    (MPI_ERR_CONVERSION, "MPI_ERR_CONVERSION: error in a data conversion function"),
    (MPI_ERR_DISP, "MPI_ERR_DISP: invalid displacement"),
    (MPI_ERR_DUP_DATAREP, "MPI_ERR_DUP_DATAREP: data representation is already defined"),
    (MPI_ERR_FILE_EXISTS, "MPI_ERR_FILE_EXISTS: file exists"),
    (MPI_ERR_FILE_IN_USE, "MPI_ERR_FILE_IN_USE: file is in use"),
    (MPI_ERR_FILE, "MPI_ERR_FILE: invalid file handle"),
    (MPI_ERR_INFO_KEY, "MPI_ERR_INFO_KEY: invalid length of an info key"),
    (MPI_ERR_INFO_NOKEY, "MPI_ERR_INFO_NOKEY: info key is not there"),
    (MPI_ERR_INFO_VALUE, "MPI_ERR_INFO_VALUE: invalid length of an info value"),
    (MPI_ERR_INFO, "MPI_ERR_INFO: invalid info"),
    (MPI_ERR_IO, "MPI_ERR_IO: input or output failed"),
    (MPI_ERR_KEYVAL, "MPI_ERR_KEYVAL: invalid keyval"),
    (MPI_ERR_LOCKTYPE, "MPI_ERR_LOCKTYPE: invalid lock type"),
    (MPI_ERR_NAME, "MPI_ERR_NAME: service name is not published"),
    (MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM: out of memory"),
    (MPI_ERR_NOT_SAME, "MPI_ERR_NOT_SAME: argument differs between processes"),
    (MPI_ERR_NO_SPACE, "MPI_ERR_NO_SPACE: not enough space on the device"),
    (MPI_ERR_NO_SUCH_FILE, "MPI_ERR_NO_SUCH_FILE: no such file"),
    (MPI_ERR_PORT, "MPI_ERR_PORT: invalid port name"),
    (MPI_ERR_QUOTA, "MPI_ERR_QUOTA: quota exceeded"),
    (MPI_ERR_READ_ONLY, "MPI_ERR_READ_ONLY: file or file system is read-only"),
    (MPI_ERR_RMA_ATTACH, "MPI_ERR_RMA_ATTACH: memory cannot be attached"),
    (MPI_ERR_RMA_CONFLICT, "MPI_ERR_RMA_CONFLICT: conflicting accesses to a window"),
    (MPI_ERR_RMA_RANGE, "MPI_ERR_RMA_RANGE: target memory is not part of the window"),
    (MPI_ERR_RMA_SHARED, "MPI_ERR_RMA_SHARED: memory cannot be shared"),
    (MPI_ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC: wrong synchronisation of one-sided calls"),
    (MPI_ERR_SERVICE, "MPI_ERR_SERVICE: service name is not known to unpublish"),
    (MPI_ERR_SIZE, "MPI_ERR_SIZE: invalid size"),
    (MPI_ERR_SPAWN, "MPI_ERR_SPAWN: processes could not be spawned"),
    (MPI_ERR_UNSUPPORTED_DATAREP, "MPI_ERR_UNSUPPORTED_DATAREP: data representation is not supported"),
    (MPI_ERR_UNSUPPORTED_OPERATION, "MPI_ERR_UNSUPPORTED_OPERATION: operation is not supported"),
    (MPI_ERR_WIN, "MPI_ERR_WIN: invalid window"),
    (MPI_ERR_RMA_FLAVOR, "MPI_ERR_RMA_FLAVOR: window is of the wrong flavor"),
    (MPI_ERR_PROC_ABORTED, "MPI_ERR_PROC_ABORTED: a process of the communication has ended"),
    (MPI_ERR_VALUE_TOO_LARGE, "MPI_ERR_VALUE_TOO_LARGE: value is too large for its place"),
    (MPI_ERR_SESSION, "MPI_ERR_SESSION: invalid session"),
    (MPI_ERR_ERRHANDLER, "MPI_ERR_ERRHANDLER: invalid error handler"),
    (MPI_ERR_ABI, "MPI_ERR_ABI: invalid use of the ABI"),
    (MPI_T_ERR_CANNOT_INIT, "MPI_T_ERR_CANNOT_INIT: tool interface cannot be initialised"),
    (MPI_T_ERR_NOT_ACCESSIBLE, "MPI_T_ERR_NOT_ACCESSIBLE: not accessible"),
    (MPI_T_ERR_NOT_INITIALIZED, "MPI_T_ERR_NOT_INITIALIZED: tool interface is not initialised"),
    (MPI_T_ERR_NOT_SUPPORTED, "MPI_T_ERR_NOT_SUPPORTED: not supported"),
    (MPI_T_ERR_MEMORY, "MPI_T_ERR_MEMORY: out of memory"),
    (MPI_T_ERR_INVALID, "MPI_T_ERR_INVALID: invalid use or argument"),
    (MPI_T_ERR_INVALID_INDEX, "MPI_T_ERR_INVALID_INDEX: invalid index"),
    (MPI_T_ERR_INVALID_ITEM, "MPI_T_ERR_INVALID_ITEM: invalid item of an enumeration"),
    (MPI_T_ERR_INVALID_SESSION, "MPI_T_ERR_INVALID_SESSION: invalid tool session"),
    (MPI_T_ERR_INVALID_HANDLE, "MPI_T_ERR_INVALID_HANDLE: invalid tool handle"),
    (MPI_T_ERR_INVALID_NAME, "MPI_T_ERR_INVALID_NAME: no variable or category of this name"),
    (MPI_T_ERR_OUT_OF_HANDLES, "MPI_T_ERR_OUT_OF_HANDLES: no more handles"),
    (MPI_T_ERR_OUT_OF_SESSIONS, "MPI_T_ERR_OUT_OF_SESSIONS: no more tool sessions"),
    (MPI_T_ERR_CVAR_SET_NOT_NOW, "MPI_T_ERR_CVAR_SET_NOT_NOW: variable cannot be set now"),
    (MPI_T_ERR_CVAR_SET_NEVER, "MPI_T_ERR_CVAR_SET_NEVER: variable cannot be set"),
    (MPI_T_ERR_PVAR_NO_WRITE, "MPI_T_ERR_PVAR_NO_WRITE: variable cannot be written or reset"),
    (MPI_T_ERR_PVAR_NO_STARTSTOP, "MPI_T_ERR_PVAR_NO_STARTSTOP: variable cannot be started or stopped"),
    (MPI_T_ERR_PVAR_NO_ATOMIC, "MPI_T_ERR_PVAR_NO_ATOMIC: variable cannot be read and written in one step"),
];

fn predefined(code: c_int) -> Option<&'static str> {
    CLASSES.iter().find(|class| class.0 == code).map(|class| class.1)
}

/// What a program added: error codes (a class is a code of itself) with their classes and words.
#[derive(Default)]
pub(crate) struct Added(BTreeMap<c_int, AddedCode>);

struct AddedCode {
    class: c_int,
    words: Option<Vec<u8>>,
}

/// Error classes and codes that programs added.
pub(crate) static ADDED: Guarded<Added> = Guarded::new(Added(BTreeMap::new()));

/// The largest code that was ever added: the attribute `MPI_LASTUSEDCODE`, which programs read by address.
pub(crate) static LAST_USED: AtomicI32 = AtomicI32::new(MPI_ERR_LASTCODE);

thread_local! {
    /// The last failure of this thread that did not end the job: its code and what was wrong.
    static LAST: RefCell<(c_int, String)> = const { RefCell::new((MPI_SUCCESS, String::new())) };
}

/// Keeps what was wrong for `MPI_Error_string`, where a program that goes on after an error looks for it.
pub(crate) fn remember(code: c_int, text: String) {
    // The data of a thread that ends may be gone already.
    let _ = LAST.try_with(|last| last.replace((code, text)));
}

/// The words of a code, and what was wrong the last time that a function of this thread returned it; as much as fits.
fn described(code: c_int, words: &[u8]) -> Vec<u8> {
    let mut text = words.to_vec();
    let last = LAST.try_with(|last| last.borrow().clone()).unwrap_or_default();
    if last.0 == code && code != MPI_SUCCESS {
        text.extend(format!(" ({})", last.1).bytes());
    }
    text.truncate(MPI_MAX_ERROR_STRING as usize - 1);
    text
}

fn no_code(name: &str, code: c_int) -> Failure {
    Failure::new(
        MPI_ERR_ARG,
        format_args!(
            "{name} is {code}; allowed are the classes of MPI and what MPI_Add_error_class and MPI_Add_error_code gave"
        ),
    )
}

fn not_added(name: &str, code: c_int) -> Failure {
    Failure::new(
        MPI_ERR_ARG,
        format_args!("{name} is {code}; allowed is what MPI_Add_error_class and MPI_Add_error_code gave"),
    )
}

impl Added {
    fn class(&self, code: c_int) -> Option<c_int> {
        predefined(code).map(|_| code).or_else(|| self.0.get(&code).map(|added| added.class))
    }

    /// Adds a code of a class; of itself when there is none.
    fn add(&mut self, class: Option<c_int>) -> c_int {
        let code = LAST_USED.fetch_add(1, Ordering::Relaxed) + 1;
        self.0.insert(code, AddedCode { class: class.unwrap_or(code), words: None });
        code
    }

    /// The words of a code for a message.
    pub(crate) fn text(&self, code: c_int) -> String {
        String::from_utf8_lossy(self.words(code).unwrap_or(b"not a code of MPI")).into_owned()
    }

    fn words(&self, code: c_int) -> Option<&[u8]> {
        predefined(code)
            .map(str::as_bytes)
            .or_else(|| self.0.get(&code).map(|added| added.words.as_deref().unwrap_or_default()))
    }

    /// Removes a class, or a code that is none: first its words go, then a class's codes, then itself.
    fn remove(&mut self, name: &str, code: c_int, is_class: bool) -> Result<(), Failure> {
        let added = self.0.get(&code).filter(|added| (added.class == code) == is_class);
        let refuse = |what: String| {
            Err(Failure::new(
                MPI_ERR_OTHER,
                format_args!("{name} is {code}, which still has {what}; remove that first"),
            ))
        };
        if added.ok_or_else(|| not_added(name, code))?.words.is_some() {
            return refuse("a string".into());
        }
        if let Some((other, _)) = self.0.iter().find(|(other, added)| added.class == code && **other != code)
        {
            return refuse(format!("the code {other}"));
        }
        self.0.remove(&code);
        Ok(())
    }

    fn remove_words(&mut self, code: c_int) -> Result<(), Failure> {
        let added = self.0.get_mut(&code).ok_or_else(|| not_added("errorcode", code))?;
        let none = || Failure::new(MPI_ERR_OTHER, format_args!("errorcode is {code}, which has no string"));
        added.words.take().map(|_| ()).ok_or_else(none)
    }
}

mpi! {
    /// The class of an error code.
    fn PMPI_Error_class(errorcode: c_int, errorclass: Out<c_int>) {
        errorclass.present()?;
        errorclass.write(ADDED.of(&runtime::enter()).class(errorcode).ok_or_else(|| no_code("errorcode", errorcode))?)
    }

    /// The words of an error code, and what was wrong the last time that this thread met it, in a place of
    /// `MPI_MAX_ERROR_STRING` bytes.
    fn PMPI_Error_string(errorcode: c_int, string[MPI_MAX_ERROR_STRING]: Out<c_char>, resultlen: Out<c_int>) {
        resultlen.present()?;
        string.present()?;
        let state = runtime::enter();
        let words = ADDED.of(&state).words(errorcode).ok_or_else(|| no_code("errorcode", errorcode))?;
        let words = described(errorcode, words);
        resultlen.write(words.len() as c_int)?;
        string.write_text(&words).map(|_| ())
    }

    /// Makes a new error class.
    fn PMPI_Add_error_class(errorclass: Out<c_int>) {
        errorclass.write(ADDED.of_mut(&mut runtime::enter()).add(None))
    }

    /// Makes a new error code of a class.
    fn PMPI_Add_error_code(errorclass: c_int, errorcode: Out<c_int>) {
        errorcode.present()?;
        let mut state = runtime::enter();
        if ADDED.of(&state).class(errorclass) != Some(errorclass) {
            return Err(no_code("errorclass", errorclass));
        }
        errorcode.write(ADDED.of_mut(&mut state).add(Some(errorclass)))
    }

    /// Gives words to a code or class that a program added.
    fn PMPI_Add_error_string(errorcode: c_int, string: In<c_char>) {
        let words = string.text()?;
        let words = words[..words.len().min(MPI_MAX_ERROR_STRING as usize - 1)].to_vec();
        let mut state = runtime::enter();
        let added = ADDED.of_mut(&mut state).0.get_mut(&errorcode);
        added.ok_or_else(|| not_added("errorcode", errorcode))?.words = Some(words);
        Ok(())
    }

    /// Removes a class that has neither string nor codes.
    fn PMPI_Remove_error_class(errorclass: c_int) {
        ADDED.of_mut(&mut runtime::enter()).remove("errorclass", errorclass, true)
    }

    /// Removes a code, not a class, that has no string.
    fn PMPI_Remove_error_code(errorcode: c_int) {
        ADDED.of_mut(&mut runtime::enter()).remove("errorcode", errorcode, false)
    }

    /// Takes the words of a code or class away.
    fn PMPI_Remove_error_string(errorcode: c_int) {
        ADDED.of_mut(&mut runtime::enter()).remove_words(errorcode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_mpi_has_words_that_fit() {
        for class in MPI_SUCCESS..=MPI_ERR_ABI {
            let words = predefined(class).unwrap_or_else(|| panic!("class {class} has no words"));
            assert!(words.len() < MPI_MAX_ERROR_STRING as usize);
        }
    }

    #[test]
    fn a_string_is_removed_before_its_code_and_codes_before_their_class() {
        let mut added = Added::default();
        let class = added.add(None);
        let code = added.add(Some(class));
        added.0.get_mut(&code).unwrap().words = Some(b"mine".to_vec());
        assert!(class > MPI_ERR_LASTCODE && code > class);
        assert_eq!(added.class(code), Some(class));
        assert!(added.remove("errorcode", code, false).unwrap_err().text().contains("still has a string"));
        added.remove_words(code).unwrap();
        assert!(added.remove("errorclass", class, true).unwrap_err().text().contains("still has the code"));
        assert!(added.remove("errorclass", code, true).is_err());
        added.remove("errorcode", code, false).unwrap();
        added.remove("errorclass", class, true).unwrap();
        assert_eq!(added.class(class), None);
    }

    #[test]
    fn the_words_of_the_last_failure_follow_those_of_its_code_and_of_no_other() {
        remember(MPI_ERR_TAG, "MPI_Send: tag is -5".into());
        assert_eq!(described(MPI_ERR_TAG, b"invalid tag"), b"invalid tag (MPI_Send: tag is -5)");
        assert_eq!(described(MPI_ERR_RANK, b"invalid rank"), b"invalid rank");
        remember(MPI_ERR_TAG, "x".repeat(1000));
        assert_eq!(described(MPI_ERR_TAG, b"").len(), MPI_MAX_ERROR_STRING as usize - 1);
    }

    #[test]
    fn a_code_without_words_has_the_empty_string() {
        let mut added = Added::default();
        let code = added.add(Some(MPI_ERR_TAG));
        assert_eq!(added.words(code), Some(&b""[..]));
        assert_eq!(added.words(code + 1), None);
    }
}
