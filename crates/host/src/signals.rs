//! Ctrl-C: the first drains, the second stops, the third ends the process at once.
//!
//! Only a program's outermost layer listens, a library never does: handlers belong to the whole process. A handler
//! cannot wake a thread safely, so a waiting thread looks at [`request`] whenever its wait times out.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// How often Ctrl-C (or a polite `kill`) has arrived. It orders no other memory.
static ARRIVED: AtomicU32 = AtomicU32::new(0);

const SIGNALS: [libc::c_int; 2] = [libc::SIGINT, libc::SIGTERM];

/// What the user has asked for by Ctrl-C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interrupt {
    /// Go on.
    Nothing,
    /// Take nothing new, finish what was begun, report.
    Drain,
    /// Stop now; sinks are still flushed.
    Stop,
}

/// What has been asked for since [`listen`].
pub fn request() -> Interrupt {
    match ARRIVED.load(Ordering::Relaxed) {
        0 => Interrupt::Nothing,
        1 => Interrupt::Drain,
        _ => Interrupt::Stop,
    }
}

/// Listens for SIGINT and SIGTERM until it is dropped, when the handlers from before return.
#[derive(Debug)]
pub struct Listening {
    before: [Option<Before>; SIGNALS.len()],
}

struct Before(libc::sigaction);

impl std::fmt::Debug for Before {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("sigaction")
    }
}

/// Starts listening, without allocating; nothing has been asked for at first.
///
/// # Errors
/// When the kernel refuses, which it has no reason to.
pub fn listen() -> io::Result<Listening> {
    ARRIVED.store(0, Ordering::Relaxed);
    let mut listening = Listening { before: [None, None] };
    for (slot, signal) in listening.before.iter_mut().zip(SIGNALS) {
        // SAFETY: a sigaction is plain numbers and pointers, for which zero is valid (no flags, an empty mask).
        let (mut action, mut before): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // Reads and writes that a signal interrupts go on by themselves.
        action.sa_flags = libc::SA_RESTART;
        // SAFETY: both point to valid sigactions; the handler is safe to run at any moment (see there).
        if unsafe { libc::sigaction(signal, &action, &mut before) } != 0 {
            return Err(io::Error::last_os_error());
        }
        *slot = Some(Before(before));
    }
    Ok(listening)
}

/// Does only what a handler may do: an atomic addition, and two calls that POSIX lists as safe.
extern "C" fn on_signal(signal: libc::c_int) {
    if ARRIVED.fetch_add(1, Ordering::Relaxed) >= 2 {
        // SAFETY: both are async-signal-safe; the default action of the signal, unblocked on return, ends the process.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        for (signal, before) in SIGNALS.iter().zip(&self.before) {
            let Some(Before(before)) = before else { continue };
            // SAFETY: `before` is what the kernel gave when this one was installed.
            unsafe { libc::sigaction(*signal, before, std::ptr::null_mut()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test: signals and their handlers belong to the whole process.
    #[test]
    fn the_first_signal_drains_the_second_stops_and_listening_again_starts_afresh() {
        // SAFETY: a null action only asks what is installed; zero is a valid sigaction to be filled.
        let installed = || unsafe {
            let mut now: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGINT, std::ptr::null(), &mut now);
            now.sa_sigaction
        };
        // A process that was started in the background may ignore SIGINT.
        let before = installed();
        let listening = listen().unwrap();
        assert_eq!(request(), Interrupt::Nothing);
        // SAFETY: raising a signal that is handled runs its handler on this thread before it returns.
        let raise = || unsafe { libc::raise(libc::SIGINT) };
        raise();
        assert_eq!(request(), Interrupt::Drain);
        raise();
        assert_eq!(request(), Interrupt::Stop);
        drop(listening);
        let again = listen().unwrap();
        assert_eq!(request(), Interrupt::Nothing);
        drop(again);
        assert_eq!(installed(), before, "the handler from before is back");
    }

    #[test]
    fn a_third_signal_ends_the_process() {
        // SAFETY: the child calls only async-signal-safe functions (sigaction, raise, _exit) before it ends.
        let status = unsafe {
            let child = libc::fork();
            if child == 0 {
                if listen().is_ok() {
                    for _ in 0..3 {
                        libc::raise(libc::SIGTERM);
                    }
                }
                libc::_exit(7);
            }
            let mut status = 0;
            libc::waitpid(child, &mut status, 0);
            status
        };
        assert!(libc::WIFSIGNALED(status), "status {status}");
        assert_eq!(libc::WTERMSIG(status), libc::SIGTERM);
    }
}
