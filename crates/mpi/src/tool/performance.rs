//! Performance variables (MPI 5.0, section 15.3.7): the engine's counters since Init.
//!
//! All are counted all the time. A handle to a counter starts at zero when it is made; levels are the library's own
//! and cannot be written.

use super::{entry, find, put_text, running, tool};
use crate::abi::Datatype;
use crate::abi::values::*;
use crate::call::{Declared, In, InOut, Out};
use crate::runtime;
use crate::runtime::COUNTERS;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_ulonglong, c_void};

/// A performance variable; all of them are one `unsigned long long`.
pub(super) struct PerformanceVariable {
    name: &'static str,
    description: &'static str,
    pub(super) category: &'static str,
    class: c_int,
    read: fn() -> u64,
}

impl PerformanceVariable {
    fn value(&self) -> u64 {
        (self.read)()
    }

    /// Its handles count from their own zero, and may be set; the others show what is.
    fn counts(&self) -> bool {
        matches!(self.class, MPI_T_PVAR_CLASS_COUNTER | MPI_T_PVAR_CLASS_AGGREGATE)
    }
}

/// All of them; an index never changes its meaning while a program runs.
pub(super) static VARIABLES: &[PerformanceVariable] = &[
    PerformanceVariable {
        name: "messages_sent",
        description: "Messages that this rank sent, those of collectives too.",
        category: "traffic",
        class: MPI_T_PVAR_CLASS_COUNTER,
        read: || COUNTERS.messages_sent.get(),
    },
    PerformanceVariable {
        name: "bytes_sent",
        description: "Bytes of data in the messages that this rank sent.",
        category: "traffic",
        class: MPI_T_PVAR_CLASS_AGGREGATE,
        read: || COUNTERS.bytes_sent.get(),
    },
    PerformanceVariable {
        name: "messages_received",
        description: "Messages that this rank received whole.",
        category: "traffic",
        class: MPI_T_PVAR_CLASS_COUNTER,
        read: || COUNTERS.messages_received.get(),
    },
    PerformanceVariable {
        name: "bytes_received",
        description: "Bytes of data in the messages that this rank received.",
        category: "traffic",
        class: MPI_T_PVAR_CLASS_AGGREGATE,
        read: || COUNTERS.bytes_received.get(),
    },
    PerformanceVariable {
        name: "rendezvous_sent",
        description: "Messages whose data was copied after their receive was known.",
        category: "traffic",
        class: MPI_T_PVAR_CLASS_COUNTER,
        read: || COUNTERS.rendezvous_sent.get(),
    },
    PerformanceVariable {
        name: "unexpected_received",
        description: "Messages that came before their receive was posted.",
        category: "matching",
        class: MPI_T_PVAR_CLASS_COUNTER,
        read: || COUNTERS.unexpected_received.get(),
    },
    PerformanceVariable {
        name: "unexpected",
        description: "Messages that wait for their receive.",
        category: "matching",
        class: MPI_T_PVAR_CLASS_LEVEL,
        read: || runtime::enter().engine.queues().1 as u64,
    },
    PerformanceVariable {
        name: "posted",
        description: "Receives that wait for their message.",
        category: "matching",
        class: MPI_T_PVAR_CLASS_LEVEL,
        read: || runtime::enter().engine.queues().0 as u64,
    },
];

/// What one tool looks at.
pub(super) type Session = BTreeMap<usize, VariableHandle>;

/// A look at a variable.
#[derive(Clone, Copy)]
pub(super) struct VariableHandle {
    variable: &'static PerformanceVariable,
    /// What is taken off the counter; nothing where the variable doesn't count.
    zero: u64,
}

impl VariableHandle {
    fn read(&self) -> u64 {
        self.variable.value().wrapping_sub(self.zero)
    }

    fn write(&mut self, value: u64) -> Result<(), c_int> {
        if !self.variable.counts() {
            return Err(MPI_T_ERR_PVAR_NO_WRITE);
        }
        self.zero = self.variable.value().wrapping_sub(value);
        Ok(())
    }
}

/// Works on a handle of a session.
fn with<T>(
    session: usize,
    handle: usize,
    work: impl FnOnce(&mut VariableHandle) -> Result<T, c_int>,
) -> Result<T, c_int> {
    let mut tool = running()?;
    let session = tool.sessions.get_mut(&session).ok_or(MPI_T_ERR_INVALID_SESSION)?;
    work(session.get_mut(&handle).ok_or(MPI_T_ERR_INVALID_HANDLE)?)
}

/// What starting and stopping come to: everything here counts all the time.
fn start_or_stop(session: usize, handle: usize) -> Result<(), c_int> {
    if handle == MPI_T_PVAR_ALL_HANDLES {
        return running()?.sessions.get(&session).map(|_| ()).ok_or(MPI_T_ERR_INVALID_SESSION);
    }
    with(session, handle, |_| Err(MPI_T_ERR_PVAR_NO_STARTSTOP))
}

tool! {
    fn PMPI_T_pvar_get_num(num_pvar: Out<c_int>) {
        let _tool = running()?;
        num_pvar.offer(VARIABLES.len() as c_int);
        Ok(())
    }

    fn PMPI_T_pvar_get_info(
        pvar_index: c_int, name: Out<c_char>, name_len: InOut<c_int>, verbosity: Out<c_int>, var_class: Out<c_int>,
        datatype: Out<Datatype>, enumtype: Out<usize>, desc: Out<c_char>, desc_len: InOut<c_int>, bind: Out<c_int>,
        readonly: Out<c_int>, continuous: Out<c_int>, atomic: Out<c_int>,
    ) {
        let _tool = running()?;
        let variable = entry(VARIABLES, pvar_index)?;
        put_text(variable.name, name, name_len);
        verbosity.offer(MPI_T_VERBOSITY_USER_BASIC);
        var_class.offer(variable.class);
        datatype.offer(Datatype(MPI_UNSIGNED_LONG_LONG));
        enumtype.offer(MPI_T_ENUM_NULL);
        put_text(variable.description, desc, desc_len);
        bind.offer(MPI_T_BIND_NO_OBJECT);
        readonly.offer((!variable.counts()).into());
        continuous.offer(1);
        atomic.offer(variable.counts().into());
        Ok(())
    }

    fn PMPI_T_pvar_get_index(name: In<c_char>, var_class: c_int, pvar_index: Out<c_int>) {
        let _tool = running()?;
        let same = |variable: &PerformanceVariable, name: &str| variable.name == name && variable.class == var_class;
        pvar_index.offer(find(VARIABLES, name, same)?);
        Ok(())
    }

    fn PMPI_T_pvar_session_create(session: Out<usize>) {
        let mut tool = running()?;
        session.present().map_err(|_| MPI_T_ERR_INVALID)?;
        let made = tool.handle();
        tool.sessions.insert(made, Session::new());
        session.offer(made);
        Ok(())
    }

    fn PMPI_T_pvar_session_free(session: InOut<usize>) {
        let mut tool = running()?;
        let given = session.read().map_err(|_| MPI_T_ERR_INVALID)?;
        tool.sessions.remove(&given).ok_or(MPI_T_ERR_INVALID_SESSION)?;
        session.offer(MPI_T_PVAR_SESSION_NULL);
        Ok(())
    }

    fn PMPI_T_pvar_handle_alloc(
        session: usize, pvar_index: c_int, _object: *mut c_void, handle: Out<usize>, count: Out<c_int>,
    ) {
        let mut tool = running()?;
        let variable = entry(VARIABLES, pvar_index)?;
        let made = tool.handle();
        let session = tool.sessions.get_mut(&session).ok_or(MPI_T_ERR_INVALID_SESSION)?;
        if handle.is_null() {
            return Err(MPI_T_ERR_INVALID);
        }
        let zero = if variable.counts() { variable.value() } else { 0 };
        session.insert(made, VariableHandle { variable, zero });
        handle.offer(made);
        count.offer(1);
        Ok(())
    }

    fn PMPI_T_pvar_handle_free(session: usize, handle: InOut<usize>) {
        let mut tool = running()?;
        let given = handle.read().map_err(|_| MPI_T_ERR_INVALID)?;
        let session = tool.sessions.get_mut(&session).ok_or(MPI_T_ERR_INVALID_SESSION)?;
        session.remove(&given).ok_or(MPI_T_ERR_INVALID_HANDLE)?;
        handle.offer(MPI_T_PVAR_HANDLE_NULL);
        Ok(())
    }

    fn PMPI_T_pvar_start(session: usize, handle: usize) {
        start_or_stop(session, handle)
    }

    fn PMPI_T_pvar_stop(session: usize, handle: usize) {
        start_or_stop(session, handle)
    }

    fn PMPI_T_pvar_read(session: usize, handle: usize, buf: Declared<*mut c_void, Out<c_ulonglong>>) {
        let value = with(session, handle, |handle| Ok(handle.read()))?;
        buf.write(value).map_err(|_| MPI_T_ERR_INVALID)
    }

    fn PMPI_T_pvar_write(session: usize, handle: usize, buf: Declared<*const c_void, In<c_ulonglong>>) {
        let value = buf.read().map_err(|_| MPI_T_ERR_INVALID)?;
        with(session, handle, |handle| handle.write(value))
    }

    fn PMPI_T_pvar_reset(session: usize, handle: usize) {
        if handle != MPI_T_PVAR_ALL_HANDLES {
            return with(session, handle, |handle| handle.write(0));
        }
        let mut tool = running()?;
        let session = tool.sessions.get_mut(&session).ok_or(MPI_T_ERR_INVALID_SESSION)?;
        for handle in session.values_mut().filter(|handle| handle.variable.counts()) {
            handle.write(0)?;
        }
        Ok(())
    }

    fn PMPI_T_pvar_readreset(session: usize, handle: usize, buf: Declared<*mut c_void, Out<c_ulonglong>>) {
        let value = with(session, handle, |handle| {
            let now = handle.variable.value();
            let value = now.wrapping_sub(handle.zero);
            if !handle.variable.counts() {
                return Err(MPI_T_ERR_PVAR_NO_WRITE);
            }
            handle.zero = now;
            Ok(value)
        })?;
        buf.write(value).map_err(|_| MPI_T_ERR_INVALID)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PMPI_T_finalize, PMPI_T_init_thread};
    use super::*;

    /// One test, because the interface's state is one.
    #[test]
    fn sessions_count_each_from_their_own_zero() {
        let (mut provided, mut first, mut second, mut index) = (0, 0, 0, -1);
        let (mut a, mut b, mut level, mut value) = (0, 0, 0, 0_u64);
        let place: *mut c_ulonglong = &raw mut value;
        let count = std::ptr::null_mut();
        // SAFETY: every pointer is to a local of the right type.
        unsafe {
            assert_eq!(PMPI_T_pvar_get_num(&mut index), MPI_T_ERR_NOT_INITIALIZED);
            assert_eq!(PMPI_T_init_thread(MPI_THREAD_SINGLE, &mut provided), MPI_SUCCESS);
            assert_eq!(provided, MPI_THREAD_MULTIPLE);
            let name = c"rendezvous_sent".as_ptr();
            assert_eq!(
                PMPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_LEVEL, &mut index),
                MPI_T_ERR_INVALID_NAME
            );
            assert_eq!(PMPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &mut index), MPI_SUCCESS);
            PMPI_T_pvar_session_create(&mut first);
            PMPI_T_pvar_session_create(&mut second);
            assert_eq!(
                PMPI_T_pvar_handle_alloc(first, index, std::ptr::null_mut(), &mut a, count),
                MPI_SUCCESS
            );
            COUNTERS.rendezvous_sent.add(5);
            PMPI_T_pvar_handle_alloc(second, index, std::ptr::null_mut(), &mut b, count);
            COUNTERS.rendezvous_sent.add(2);
            assert_eq!((PMPI_T_pvar_readreset(first, a, place.cast()), *place), (MPI_SUCCESS, 7));
            assert_eq!((PMPI_T_pvar_read(first, a, place.cast()), *place), (MPI_SUCCESS, 0));
            assert_eq!((PMPI_T_pvar_read(second, b, place.cast()), *place), (MPI_SUCCESS, 2));
            assert_eq!(PMPI_T_pvar_read(first, b, place.cast()), MPI_T_ERR_INVALID_HANDLE);
            assert_eq!(PMPI_T_pvar_start(first, a), MPI_T_ERR_PVAR_NO_STARTSTOP);
            assert_eq!(PMPI_T_pvar_start(first, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
            PMPI_T_pvar_get_index(c"unexpected".as_ptr(), MPI_T_PVAR_CLASS_LEVEL, &mut index);
            PMPI_T_pvar_handle_alloc(first, index, std::ptr::null_mut(), &mut level, count);
            assert_eq!(PMPI_T_pvar_reset(first, level), MPI_T_ERR_PVAR_NO_WRITE);
            assert_eq!(PMPI_T_pvar_session_free(&mut first), MPI_SUCCESS);
            assert_eq!(first, MPI_T_PVAR_SESSION_NULL);
            assert_eq!(PMPI_T_finalize(), MPI_SUCCESS);
            assert_eq!(PMPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
        }
    }
}
