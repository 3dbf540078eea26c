//! A thread that moves messages while the program computes (`CELLWEAVE_MPI_PROGRESS=thread`).
//!
//! It sleeps on this rank's word, as a waiting rank does, and a rank that writes to this one wakes it. Every call takes
//! the lock then, whatever the thread level, and reduction functions may run on this thread.

use crate::check::Failure;
use crate::runtime::{self, ROOM};
use crate::settings;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

static ENDS: AtomicBool = AtomicBool::new(false);
static THREAD: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Whether the environment asks for it.
///
/// # Errors
/// It asks for something else.
pub(crate) fn wanted() -> Result<bool, Failure> {
    let read = |value: &str| ["calls", "thread"].contains(&value).then(|| value == "thread");
    Ok(settings::of("CELLWEAVE_MPI_PROGRESS", "calls and thread", read)?.unwrap_or(false))
}

/// Starts the thread. The engine is attached to its job.
///
/// # Errors
/// As the system's: no more threads.
pub(crate) fn start() -> std::io::Result<()> {
    // The program's signals are the program's: its handlers expect its own threads.
    let thread = without_signals(|| std::thread::Builder::new().name("cellweave-mpi".into()).spawn(run))?;
    *THREAD.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(thread);
    Ok(())
}

/// Ends the thread, if there is one. Call this only while not holding the state.
pub(crate) fn end() {
    let thread = THREAD.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    if let Some(thread) = thread {
        ENDS.store(true, Ordering::SeqCst);
        while !thread.is_finished() {
            ROOM.wake_sleepers();
            std::thread::yield_now();
        }
        // It neither panics (that aborts) nor gives anything.
        let _ = thread.join();
    }
}

fn run() {
    while !ENDS.load(Ordering::SeqCst) {
        let mut state = runtime::enter();
        let mut moved = state.engine.progress();
        if state.has_ongoing() {
            drop(state);
            moved |= runtime::advance_all();
            state = runtime::enter();
        }
        if moved {
            continue;
        }
        state.quiet = true;
        let armed = ROOM.arm(false, state.engine.waits_for_room());
        let moved = state.engine.progress();
        if !moved {
            state.engine.examine();
        }
        drop(state);
        if !moved && !ENDS.load(Ordering::SeqCst) {
            armed.sleep();
        }
    }
}

/// Does something while this thread, and what it starts, gets no signals.
fn without_signals<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: valid sets, and the mask is put back as it was.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let done = work();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        done
    }
}
