//! The tool information interface (MPI 5.0, section 15.3): the library's settings as control variables, its counters as
//! performance variables. It works before Init and after Finalize, and never calls an error handler.

mod category;
mod control;
mod enumeration;
mod event;
mod performance;

use crate::abi::values::{
    MPI_T_ERR_CANNOT_INIT, MPI_T_ERR_INVALID_INDEX, MPI_T_ERR_INVALID_NAME, MPI_T_ERR_NOT_INITIALIZED,
    MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED, MPI_THREAD_SINGLE,
};
use crate::call::{In, InOut, Out};
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int};
use std::sync::{Mutex, MutexGuard};

/// Makes functions of the tool interface from bodies that give `Result<(), c_int>`, the error being an `MPI_T_ERR_*`.
macro_rules! tool {
    ($(fn $name:ident($($argument:ident $([$length:expr])?: $type:ty),* $(,)?) $body:block)*) => {$(
        /// MPI 5.0, section 15.3.
        ///
        /// # Safety
        /// Pointers are null or valid for what MPI 5.0 says of them.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, clippy::too_many_arguments, clippy::redundant_closure_call)]
        unsafe extern "C" fn $name($($argument: <$type as $crate::call::Argument>::Passed),*) -> std::ffi::c_int {
            $crate::call::arguments!($($argument $([$length])?: $type),*);
            match (|| -> Result<(), std::ffi::c_int> { $body })() {
                Ok(()) => $crate::abi::values::MPI_SUCCESS,
                Err(class) => class,
            }
        }
        const _: $crate::abi::prototypes::$name = $name;
    )*};
}
pub(crate) use tool;

/// What tools hold.
struct Tool {
    /// `MPI_T_init_thread` without its `MPI_T_finalize`.
    users: u32,
    /// The last handle given out.
    last: usize,
    controls: BTreeMap<usize, usize>,
    sessions: BTreeMap<usize, performance::Session>,
}

static TOOL: Mutex<Tool> =
    Mutex::new(Tool { users: 0, last: FIRST_HANDLE, controls: BTreeMap::new(), sessions: BTreeMap::new() });

/// Above every predefined handle of the ABI.
const FIRST_HANDLE: usize = 0x1_0000;

impl Tool {
    /// A handle that was never given out.
    fn handle(&mut self) -> usize {
        self.last += 16;
        self.last
    }
}

fn lock() -> MutexGuard<'static, Tool> {
    TOOL.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The tools' state between their initialisation and end.
fn running() -> Result<MutexGuard<'static, Tool>, c_int> {
    let tool = lock();
    if tool.users == 0 { Err(MPI_T_ERR_NOT_INITIALIZED) } else { Ok(tool) }
}

/// Gives a string by the rules of section 15.3.3: at most `length - 1` characters and a null; `length` becomes what the
/// whole takes. A caller that passes no place or no length wants none.
fn put_text(text: &str, place: Out<'_, c_char>, length: InOut<'_, c_int>) {
    if let (false, Ok(room)) = (place.is_null(), length.read()) {
        // SAFETY: a caller that passes a place says in `length` how large it is.
        let place = unsafe { place.array(room) };
        let _ = place.write_text(text.as_bytes());
    }
    length.offer(text.len() as c_int + 1);
}

/// The entry that an index names.
fn entry<T>(table: &'static [T], index: c_int) -> Result<&'static T, c_int> {
    usize::try_from(index).ok().and_then(|index| table.get(index)).ok_or(MPI_T_ERR_INVALID_INDEX)
}

/// The index of the entry that `found` accepts.
fn find<T>(table: &[T], name: In<'_, c_char>, found: impl Fn(&T, &str) -> bool) -> Result<c_int, c_int> {
    let name =
        name.text().ok().and_then(|name| String::from_utf8(name).ok()).ok_or(MPI_T_ERR_INVALID_NAME)?;
    table.iter().position(|item| found(item, &name)).map(|at| at as c_int).ok_or(MPI_T_ERR_INVALID_NAME)
}

tool! {
    fn PMPI_T_init_thread(required: c_int, provided: Out<c_int>) {
        const LEVELS: [c_int; 4] =
            [MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE];
        if !LEVELS.contains(&required) {
            return Err(MPI_T_ERR_CANNOT_INIT);
        }
        lock().users += 1;
        // Everything here is behind one lock, so every level is provided.
        provided.offer(MPI_THREAD_MULTIPLE);
        Ok(())
    }

    fn PMPI_T_finalize() {
        let mut tool = running()?;
        tool.users -= 1;
        if tool.users == 0 {
            tool.controls.clear();
            tool.sessions.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_cut_to_its_place_and_its_whole_length_is_told() {
        let mut place = [1 as c_char; 8];
        let mut length = 4;
        put_text("eager", Out::of(&mut place).at(0), InOut::of(&mut length));
        assert_eq!(length, 6);
        assert_eq!(place.map(|c| c as u8), *b"eag\0\x01\x01\x01\x01");
        length = 0;
        put_text("eager", Out::of(&mut place).at(0), InOut::of(&mut length));
        assert_eq!((length, place[0] as u8), (6, b'e'));
        length = 8;
        put_text("eager", Out::none(), InOut::of(&mut length));
        assert_eq!(length, 6);
        put_text("eager", Out::of(&mut place).at(0), InOut::none());
        assert_eq!(place[..4].iter().map(|&c| c as u8).collect::<Vec<_>>(), b"eag\0");
    }
}
