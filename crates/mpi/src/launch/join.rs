//! How a process becomes a rank: it takes the slot that the launcher made for it, or it is a job of one.

use crate::segment::{Segment, stage};
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

/// The environment variable by which the launcher tells a process its place: `FD:RANK:RANKS:SOCKET`, the descriptor of the
/// job's memory, the rank, how many there are, and the name of the launcher's abstract socket.
pub const VARIABLE: &str = "CELLWEAVE_MPI_JOB";

/// The job that this process belongs to.
pub struct Job {
    /// Its memory.
    pub segment: Arc<Segment>,
    /// This process's rank in it.
    pub rank: usize,
    /// Started by itself, without a launcher (or as a second process in the place of a rank).
    pub alone: bool,
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
    let job = match claimed() {
        Some(job) => job,
        None => alone()?,
    };
    job.segment.rank(job.rank).stage.store(stage::CLAIMED, Ordering::Release);
    Ok(JOB.get_or_init(|| job))
}

fn alone() -> Result<Job, String> {
    let (_, segment) = Segment::create(1, 1).map_err(|error| format!("no memory for messages: {error}"))?;
    segment.rank(0).pid.store(std::process::id(), Ordering::Relaxed);
    Ok(Job { segment: Arc::new(segment), rank: 0, alone: true })
}

fn claimed() -> Option<Job> {
    let text = std::env::var(VARIABLE).ok()?;
    let mut parts = text.splitn(4, ':');
    let fd: i32 = parts.next()?.parse().ok()?;
    let rank: usize = parts.next()?.parse().ok()?;
    // SAFETY: the launcher made it for us; nobody else in this process knows it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let segment = Segment::map(&fd).ok()?;
    if rank >= segment.ranks() {
        return None;
    }
    let pid = &segment.rank(rank).pid;
    let own = std::process::id();
    if let Err(other) = pid.compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire)
        && other != own
    {
        return None;
    }
    Some(Job { segment: Arc::new(segment), rank, alone: false })
}

/// Ends the job: tells the launcher why, in one line, and exits with a code.
pub fn abort(code: i32, text: &str) -> ! {
    let code = if code & 0xff == 0 { 1 } else { code & 0xff };
    match job() {
        Some(job) if !job.alone => {
            job.segment.explain(job.rank, code, text);
            job.segment.header().dead.store(1, Ordering::Release);
        }
        _ => eprintln!("cellweave: {text}"),
    }
    // SAFETY: a null stream means all of them; `_exit` takes a number. No exit handlers: other threads may be anywhere.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        libc::_exit(code)
    }
}
