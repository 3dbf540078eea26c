//! What a kernel's crash says and saves.
//!
//! A kernel that crashes, aborts or calls `exit` takes the process with it: its memory can no longer be trusted. Before
//! that, its own thread says which task it was, and on which element and instances. The other workers stop, their
//! kernels finish, and what file sinks accepted is written. Then the process ends as it would have ended anyway; after
//! `exit` with code 1.
//!
//! The handlers of signals call nothing that allocates or takes a lock for good: the crash may be inside `malloc`.

use crate::kernel::Rescue;
use crate::memory::Pages;
use crate::options::STOP;
use crate::shared::SharedState;
use std::ffi::{c_int, c_void};
use std::fmt::Write as _;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex, Once, OnceLock};

const SIGNALS: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "segmentation fault"),
    (libc::SIGBUS, "bus error"),
    (libc::SIGILL, "illegal instruction"),
    (libc::SIGFPE, "arithmetic error"),
    (libc::SIGABRT, "abort"),
];
/// A kernel that overflows its own stack leaves no room for the handler.
const STACK_BYTES: u64 = 64 * 1024;
/// How long the other workers get to finish their kernels: less than the main thread gives them before it goes on.
const FINISH_MS: u32 = 1500;
/// How often a file is tried to be flushed, and how long apart.
const FLUSH_TRIES: u32 = 40;
const FLUSH_APART_MS: u32 = 25;
/// A crash that breaks even the handler must not hang.
const LAST_S: u32 = 10;

/// The file sinks of a run.
pub(crate) type Rescues = Arc<[Arc<dyn Rescue>]>;

/// What the handlers know of a worker.
struct Seat {
    thread: libc::pthread_t,
    /// The board that it writes: always the same of a worker, that of the element it fires where it fires for all.
    board: Arc<AtomicUsize>,
    shared: Arc<SharedState>,
    rescues: Rescues,
}

/// Every worker of every run of this process. The handlers only try its lock.
static SEATS: Mutex<Vec<Seat>> = Mutex::new(Vec::new());
/// What was done with each of [`SIGNALS`] before.
static BEFORE: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();

/// While this lives, a crash of the thread that made it is told as one of the element that it sits at.
pub(crate) struct CrashSeat {
    thread: libc::pthread_t,
    board: Arc<AtomicUsize>,
    _stack: Option<Pages>,
}

impl CrashSeat {
    /// For the thread that calls this, at `board` of a run.
    pub(crate) fn take(board: usize, shared: &Arc<SharedState>, rescues: &Rescues) -> CrashSeat {
        let board = Arc::new(AtomicUsize::new(board));
        // Miri knows neither signals nor the end of a process.
        if cfg!(miri) {
            return CrashSeat { thread: 0, board, _stack: None };
        }
        static LISTEN: Once = Once::new();
        LISTEN.call_once(listen);
        // SAFETY: always succeeds.
        let thread = unsafe { libc::pthread_self() };
        let (shared, rescues) = (shared.clone(), rescues.clone());
        seats().push(Seat { thread, board: board.clone(), shared, rescues });
        CrashSeat { thread, board, _stack: own_stack() }
    }

    /// From now on the thread fires for the element of `board`.
    pub(crate) fn sit_at(&self, board: usize) {
        self.board.store(board, Relaxed);
    }
}

impl Drop for CrashSeat {
    fn drop(&mut self) {
        seats().retain(|s| s.thread != self.thread);
        if self._stack.is_some() {
            let none = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            // SAFETY: this thread's own stack for signals, which is not in use here, is taken out of service before
            // its memory is given back.
            unsafe { libc::sigaltstack(&none, std::ptr::null_mut()) };
        }
    }
}

fn seats() -> std::sync::MutexGuard<'static, Vec<Seat>> {
    SEATS.lock().unwrap_or_else(|e| e.into_inner())
}

/// A stack for this thread's handlers, unless it has one.
fn own_stack() -> Option<Pages> {
    let pages = Pages::zeroed(STACK_BYTES).ok()?;
    let mut had = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: 0, ss_size: 0 };
    let new = libc::stack_t { ss_sp: pages.base().cast(), ss_flags: 0, ss_size: STACK_BYTES as usize };
    // SAFETY: both structs are whole; the memory lives until the stack is taken out of service.
    unsafe {
        libc::sigaltstack(std::ptr::null(), &mut had);
        let free = had.ss_flags & libc::SS_DISABLE != 0;
        (free && libc::sigaltstack(&new, std::ptr::null_mut()) == 0).then_some(pages)
    }
}

/// Installs the handlers, once for the process: what was there before is called after them.
fn listen() {
    // SAFETY: all zeros is a whole sigaction, with the default action.
    let mut before: [libc::sigaction; SIGNALS.len()] = unsafe { std::mem::zeroed() };
    for (&(signal, _), before) in SIGNALS.iter().zip(&mut before) {
        // SAFETY: asks, and changes nothing.
        unsafe { libc::sigaction(signal, std::ptr::null(), before) };
    }
    let _ = BEFORE.set(before);
    for (signal, _) in SIGNALS {
        // SAFETY: as above; the handler has the form that SA_SIGINFO says.
        unsafe {
            let mut ours: libc::sigaction = std::mem::zeroed();
            ours.sa_sigaction = on_signal as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(signal, &ours, std::ptr::null_mut());
        }
    }
    // SAFETY: a function without arguments, which stays loaded as long as the process runs.
    unsafe { libc::atexit(on_exit) };
}

extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: errno is this thread's own.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: the kernel gives a whole siginfo.
    let info = unsafe { &*info };
    // A signal that another process or `raise` sent has no address.
    let by_fault = info.si_code > 0 && signal != libc::SIGABRT;
    let what = SIGNALS.iter().find(|s| s.0 == signal).map_or("signal", |s| s.1);
    last_words(|line| {
        let _ = write!(line, "crashed ({what}");
        if by_fault && matches!(signal, libc::SIGSEGV | libc::SIGBUS) {
            // SAFETY: these two signals have an address when they come from a fault.
            let _ = write!(line, " at address {:?}", unsafe { info.si_addr() });
        }
        let _ = write!(line, ")");
    });
    let which = SIGNALS.iter().position(|s| s.0 == signal);
    // SAFETY: the action that was there before; then the fault happens again, or the signal is sent again, and that
    // action gets it.
    unsafe {
        if let (Some(before), Some(which)) = (BEFORE.get(), which) {
            libc::sigaction(signal, &before[which], std::ptr::null_mut());
        }
        if !by_fault {
            libc::raise(signal);
        }
        *libc::__errno_location() = errno;
    }
}

extern "C" fn on_exit() {
    let said = last_words(|line| {
        let _ = write!(line, "called exit");
    });
    if said {
        // SAFETY: ends the process; the sinks were flushed.
        unsafe { libc::_exit(1) };
    }
}

/// Says what happened to the worker of this thread, stops its run and writes what sinks accepted. False: this thread is
/// no worker's.
fn last_words(what: impl Fn(&mut Line)) -> bool {
    let Some((shared, board, rescues)) = seat_of_this_thread() else { return false };
    if shared.crashed.swap(true, Release) {
        // Another worker says its last words already; the process ends with it.
        loop {
            pause_ms(1000);
        }
    }
    // SAFETY: the default action of an alarm ends the process, whatever the handler below hangs in.
    unsafe {
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        libc::alarm(LAST_S);
    }
    let (board, element) = (&shared.boards[board], &shared.elements[board]);
    let mut line = Line::default();
    let _ = match board.doing.load(Relaxed) {
        0 => write!(line, "cellweave: the worker of {element} "),
        task => write!(
            line,
            "cellweave: the kernel of task '{}' on {element} ",
            shared.names[task as usize - 1].escape_debug()
        ),
    };
    what(&mut line);
    let workers = shared.threads as usize;
    let (first, firings) = (board.instance.load(Relaxed), board.firings.load(Relaxed));
    let _ = if board.finishing.load(Relaxed) {
        write!(line, " while it finished")
    } else if (shared.ready.load(Acquire) as usize) < workers {
        write!(line, " while it started")
    } else if firings > 1 {
        write!(line, " while it fired instances {first} to {}", first + firings - 1)
    } else {
        write!(line, " while it fired instance {first}")
    };
    line.say();
    // The main thread sees `crashed` and wakes the others.
    shared.control.store(STOP, Release);
    let mut waited_ms = 0;
    while waited_ms < FINISH_MS && shared.reports.try_lock().map_or(0, |r| r.len()) + 1 < workers {
        pause_ms(5);
        waited_ms += 5;
    }
    let accepted = shared.boards.iter().map(|b| b.accepted.load(Relaxed)).filter(|&a| a != u64::MAX).min();
    // A sink may be in the middle of writing.
    let flush = |rescue: &&Arc<dyn Rescue>| {
        (0..FLUSH_TRIES).any(|tried| {
            pause_ms(if tried == 0 { 0 } else { FLUSH_APART_MS });
            rescue.flush().is_ok()
        })
    };
    let flushed = rescues.iter().filter(flush).count();
    if let Some(accepted) = accepted
        && flushed > 0
        && flushed == rescues.len()
    {
        let mut line = Line::default();
        let _ =
            write!(line, "cellweave: the files hold the {accepted} instances that their tasks had accepted");
        line.say();
    }
    true
}

type Found = (&'static SharedState, usize, &'static [Arc<dyn Rescue>]);

/// What is known of this thread's worker. It stays in memory: the process ends.
fn seat_of_this_thread() -> Option<Found> {
    // SAFETY: always succeeds.
    let thread = unsafe { libc::pthread_self() };
    for _ in 0..100 {
        let seats = match SEATS.try_lock() {
            Ok(seats) => seats,
            Err(std::sync::TryLockError::Poisoned(e)) => e.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => {
                pause_ms(1);
                continue;
            }
        };
        let seat = seats.iter().find(|s| s.thread == thread)?;
        // SAFETY: this thread's own seat, and its slices on the heap, are given back by this thread alone,
        // when it leaves its worker; it does not come back from here before the process ends.
        return Some(unsafe {
            (
                &*Arc::as_ptr(&seat.shared),
                seat.board.load(Relaxed),
                &*std::ptr::from_ref::<[_]>(&seat.rescues),
            )
        });
    }
    None
}

/// `poll` may be called by a handler of signals.
fn pause_ms(ms: u32) {
    // SAFETY: no descriptors.
    unsafe { libc::poll(std::ptr::null_mut(), 0, ms as c_int) };
}

/// A line of text without memory of the heap; what is too long is cut.
struct Line {
    text: [u8; 512],
    used: usize,
}

impl Default for Line {
    fn default() -> Line {
        Line { text: [0; 512], used: 0 }
    }
}

impl std::fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        // The last byte is for the end of the line.
        let n = text.len().min(self.text.len() - 1 - self.used);
        self.text[self.used..self.used + n].copy_from_slice(&text.as_bytes()[..n]);
        self.used += n;
        Ok(())
    }
}

impl Line {
    /// Writes the line to the standard error, after what a progress bar left there.
    fn say(&mut self) {
        const CLEAR: &[u8] = b"\r\x1b[2K\x1b[?25h";
        self.text[self.used] = b'\n';
        // SAFETY: both texts have the lengths that are given; nothing can be done about an error.
        unsafe {
            if libc::isatty(libc::STDERR_FILENO) == 1 {
                libc::write(libc::STDERR_FILENO, CLEAR.as_ptr().cast(), CLEAR.len());
            }
            libc::write(libc::STDERR_FILENO, self.text.as_ptr().cast(), self.used + 1);
        }
    }
}
