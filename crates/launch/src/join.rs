//! How a process becomes a rank: it takes the place that the launcher made for it, or it is a job of one.
//!
//! The job's memory is inherited. Where a wrapper closed it (Python's `subprocess` does, and some debuggers), the
//! launcher's socket gives it. A place is taken once: a program that a rank starts inherits the rank's environment, but
//! is a job of its own. A process that takes a place without being the launcher's own child tells the launcher, which
//! watches it from then on.

use crate::foreign;
use crate::offer::{self, Line};
use crate::processes;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use transport::segment::{Segment, stage};

/// The environment variable by which the launcher tells a process its place: `FD:RANK:RANKS:SOCKET`, the descriptor of
/// the job's memory, the rank, how many there are, and the name of the launcher's abstract socket.
pub(crate) const VARIABLE: &str = "CELLWEAVE_MPI_JOB";

/// The job that this process belongs to.
pub struct Job {
    /// Its memory.
    pub segment: Segment,
    /// This process's rank in it.
    pub rank: usize,
    /// It was started without a launcher (or as a second process in the place of a rank).
    pub alone: bool,
    /// The process that joined: a child that it forks has no part in the job.
    process: u32,
}

static JOB: OnceLock<Job> = OnceLock::new();

/// The job, once joined.
pub fn job() -> Option<&'static Job> {
    JOB.get()
}

/// Joins the job that the environment names, or starts one of this process alone.
///
/// # Errors
/// What went wrong, for the user.
pub fn join() -> Result<&'static Job, String> {
    let job = match Seat::of_environment() {
        Some(seat) => seat.take()?,
        None => match foreign::started_by_another(|name| std::env::var(name).ok()) {
            Some(text) => return Err(text),
            None => None,
        },
    };
    let job = job.map_or_else(alone, Ok)?;
    job.segment.keep_from_children();
    job.segment.rank(job.rank).stage.store(stage::CLAIMED, Ordering::Release);
    Ok(JOB.get_or_init(|| job))
}

fn alone() -> Result<Job, String> {
    let segment = Segment::private(1, 1).map_err(|error| format!("no memory for messages: {error}"))?;
    segment.rank(0).pid.store(std::process::id(), Ordering::Relaxed);
    Ok(Job { segment, rank: 0, alone: true, process: std::process::id() })
}

/// The place that the environment gives.
#[derive(Debug, PartialEq)]
struct Seat {
    fd: RawFd,
    rank: usize,
    socket: String,
}

impl Seat {
    fn of_environment() -> Option<Self> {
        Self::parse(&std::env::var(VARIABLE).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, ':');
        let fd = parts.next()?.parse().ok().filter(|&fd: &RawFd| fd >= 0)?;
        let rank = parts.next()?.parse().ok()?;
        let _ranks: usize = parts.next()?.parse().ok()?;
        Some(Self { fd, rank, socket: parts.next()?.into() })
    }

    /// Takes the place; nothing when it is taken already, or the job is over.
    fn take(&self) -> Result<Option<Job>, String> {
        let (segment, line) = match self.inherited()? {
            Some(segment) => (segment, None),
            None => match self.fetched()? {
                Some((segment, line)) => (segment, Some(line)),
                None => return Ok(None),
            },
        };
        if self.rank >= segment.ranks() {
            return Ok(None);
        }
        let page = segment.rank(self.rank);
        let own = std::process::id();
        if let Err(first) = page.pid.compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire) {
            if page.stage.load(Ordering::Acquire) == stage::FINALISED && segment.ranks() > 1 {
                let rank = self.rank;
                say_alone(&format!(
                    "rank {rank} was process {first}, which has finished; this program runs alone"
                ));
            }
            return Ok(None);
        }
        // SAFETY: takes nothing.
        let parent = unsafe { libc::getppid() } as u32;
        if parent != segment.header().launcher.load(Ordering::Relaxed) {
            // Where the socket is out of reach (another network namespace), the launcher only sees the wrapper; that
            // must do.
            if let Some(line) = line.or_else(|| Line::new(&self.socket).ok()) {
                let _ = line.claim(self.rank);
            }
        }
        Ok(Some(Job { segment, rank: self.rank, alone: false, process: own }))
    }

    /// The memory, if the descriptor is still what the launcher made it.
    fn inherited(&self) -> Result<Option<Segment>, String> {
        // SAFETY: asks only.
        if unsafe { libc::fcntl(self.fd, libc::F_GETFD) } < 0 {
            return Ok(None);
        }
        // SAFETY: open, as just asked; borrowed for the call.
        let fd = unsafe { BorrowedFd::borrow_raw(self.fd) };
        match Segment::map(&fd) {
            Ok(segment) if offer::name(segment.header().identity.load(Ordering::Relaxed)) == self.socket => {
                // SAFETY: it is the job's memory, which nobody else in this process knows of; the mapping stays.
                unsafe { libc::close(self.fd) };
                Ok(Some(segment))
            }
            Err(error) if error.raw_os_error() == Some(libc::ENOMEM) => Err(self.no_addresses(&error)),
            _ => Ok(None),
        }
    }

    /// The memory, from the launcher.
    fn fetched(&self) -> Result<Option<(Segment, Line)>, String> {
        let failed = |why: &dyn std::fmt::Display| {
            format!(
                "this process was started by cellrun as rank {}, but can't get the job's memory: something in between \
                 closed the \
                 descriptor {}, and {why}",
                self.rank, self.fd
            )
        };
        let line = match Line::new(&self.socket) {
            Ok(line) => line,
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                if processes::has_supervisor() {
                    return Err(failed(
                        &"the launcher's socket is out of reach (another network namespace?)",
                    ));
                }
                // The job is over, but its environment is still in some process.
                return Ok(None);
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(failed(&"the launcher is another user's"));
            }
            Err(error) => return Err(failed(&format_args!("the launcher's socket says: {error}"))),
        };
        let memory = line.memory(self.rank).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::PermissionDenied => {
                failed(&"the launcher gives it to processes of its own user only")
            }
            _ => failed(&format_args!("the launcher's socket says: {error}")),
        })?;
        match Segment::map(&memory) {
            Ok(segment) => Ok(Some((segment, line))),
            Err(error) if error.raw_os_error() == Some(libc::ENOMEM) => Err(self.no_addresses(&error)),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(
                "this program's libmpi_abi.so.1 and the cellrun that started it are of different versions of \
                 cellweave; use the \
                 cellrun that belongs to the library"
                    .into(),
            ),
            Err(error) => Err(format!("the launcher's memory can't be used: {error}")),
        }
    }

    fn no_addresses(&self, error: &io::Error) -> String {
        format!(
            "rank {} has no addresses left for the memory that the ranks share (only what is used of it takes room); a \
             limit on \
             addresses (ulimit -v) is the usual cause: {error}",
            self.rank
        )
    }
}

/// Writes a line of this rank to the standard error.
pub fn say(text: &str) {
    match job() {
        Some(job) if !job.alone => say_alone(&format!("rank {}: {text}", job.rank)),
        _ => say_alone(text),
    }
}

/// Writes a line to the standard error of a process without a rank, in one piece.
fn say_alone(text: &str) {
    // A failed write cannot be reported anywhere.
    let _ = io::stderr().write_all(format!("cellweave: {text}\n").as_bytes());
}

/// Ends the job: tells the launcher why, in one line, and exits with a code from 1 to 255.
pub fn abort(code: i32, text: &str) -> ! {
    let code = if code & 0xff == 0 { 1 } else { code & 0xff };
    match job() {
        Some(job) if !job.alone && job.process == std::process::id() => {
            job.segment.explain(job.rank, code, text);
            transport::wait::end(&job.segment, Some(job.rank));
        }
        _ => say_alone(text),
    }
    // The program's output should appear. But another thread may hold a stream for ever, so one second must do.
    // SAFETY: numbers; a null stream means all of them; `_exit` runs nothing, because other threads may be anywhere.
    unsafe {
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        libc::alarm(1);
        libc::fflush(std::ptr::null_mut());
        libc::_exit(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_the_launcher_writes_it() {
        let seat = Seat { fd: 200, rank: 3, socket: "cellweave-12".into() };
        assert_eq!(Seat::parse("200:3:4:cellweave-12"), Some(seat));
        for text in ["", "200:3", "x:3:4:s", "-1:3:4:s", "200:-3:4:s"] {
            assert_eq!(Seat::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_place_whose_job_is_over_is_none() {
        let seat = Seat { fd: 999_999, rank: 0, socket: "cellweave-nobody-listens".into() };
        assert!(seat.take().unwrap().is_none());
    }
}
