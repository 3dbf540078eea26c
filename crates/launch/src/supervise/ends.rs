//! How ranks end, and what that means for the job.

use super::{CLAIMANT, MS, Supervisor};
use crate::lines::Sink;
use crate::poll::READABLE;
use crate::processes::{self, Status, end_descendants, ended_child};
use host::clock::kernel_ns;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering;
use transport::segment::stage;

/// Time for ranks to end by themselves once the job is over, before they are killed.
const GRACE_NS: u64 = 400 * MS;
/// Time for processes that ranks leave behind (they may have output to pass on), before they are killed.
const LINGER_NS: u64 = 200 * MS;
/// The same where a rank has not been heard of: one of these processes may become it.
const LINGER_UNCLAIMED_NS: u64 = 3000 * MS;
/// Time for killed processes to vanish.
const VANISH_NS: u64 = 2000 * MS;

/// A process of a rank, and how it ended.
pub(super) struct Process {
    pub(super) pid: libc::pid_t,
    pub(super) ended: bool,
    pub(super) status: Option<Status>,
}

#[derive(Default)]
pub(super) struct Rank {
    /// The process that was started.
    pub(super) child: Option<Process>,
    /// The process that said it is the rank, when that is not the started one; and the descriptor that tells when it
    /// ends, where the kernel has that.
    pub(super) claimant: Option<(Process, Option<OwnedFd>)>,
    /// When the claimant had ended but the started process had not.
    pub(super) alone_since_ns: Option<u64>,
    pub(super) over: bool,
}

impl Rank {
    /// Whether the started process has failed, or it and the rank in it have ended. (A process that only started the
    /// rank and left, such as `setsid`, has not.)
    pub(super) fn has_ended(&self) -> bool {
        let child = self.child.as_ref();
        child.is_some_and(|child| child.status.is_some_and(|status| status != 0))
            || child.is_none_or(|child| child.ended)
                && self.claimant.as_ref().is_none_or(|(claimant, _)| claimant.ended)
    }

    pub(super) fn processes(&self) -> impl Iterator<Item = &Process> {
        self.child.iter().chain(self.claimant.iter().map(|(claimant, _)| claimant))
    }

    pub(super) fn pid(&self) -> libc::pid_t {
        self.claimant
            .as_ref()
            .map(|(claimant, _)| claimant)
            .or(self.child.as_ref())
            .map_or(0, |process| process.pid)
    }

    /// The worst way in which one of them ended.
    pub(super) fn status(&self) -> Option<Status> {
        let statuses = || self.processes().filter_map(|process| process.status);
        statuses().find(|&status| status != 0).or_else(|| statuses().next())
    }
}

impl Supervisor {
    /// A process below a rank's says that it is the rank.
    pub(super) fn claimed(&mut self, rank: usize, pid: libc::pid_t) {
        // SAFETY: numbers; the descriptor is owned by nobody else.
        let watch = unsafe {
            match libc::syscall(libc::SYS_pidfd_open, pid, 0) as RawFd {
                fd if fd >= 0 => Ok(OwnedFd::from_raw_fd(fd)),
                _ => Err(io::Error::last_os_error()),
            }
        };
        let gone = watch.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::ESRCH));
        // Its wrapper may have left before it was a rank.
        if self.ranks[rank].over && !gone && !self.job.segment.is_over() {
            self.ranks[rank].over = false;
            self.kill_at_ns = None;
        }
        if let Ok(watch) = &watch {
            self.poll.watch(watch.as_raw_fd(), READABLE, CLAIMANT | rank as u64);
        }
        self.ranks[rank].claimant = Some((Process { pid, ended: false, status: None }, watch.ok()));
        if gone {
            self.claimant_ended(rank);
        }
    }

    /// The connection of a rank's process broke. This shows its end where the kernel does not report it.
    pub(super) fn line_broke(&mut self, rank: usize) {
        if matches!(self.ranks[rank].claimant, Some((_, None))) {
            self.claimant_ended(rank);
        }
    }

    pub(super) fn claimant_ended(&mut self, rank: usize) {
        if let Some((claimant, watch)) = &mut self.ranks[rank].claimant {
            claimant.ended = true;
            if let Some(watch) = watch.take() {
                self.poll.forget(watch.as_raw_fd());
            }
        }
        self.reap();
        let page = self.job.segment.rank(rank);
        let finalised = page.stage.load(Ordering::Acquire) == stage::FINALISED;
        if !self.ranks[rank].over && !finalised {
            self.ranks[rank].alone_since_ns = Some(kernel_ns());
        }
        self.judge(rank);
    }

    /// Takes the ends of children, ranks and orphans.
    pub(super) fn reap(&mut self) {
        let mut ended = Vec::new();
        loop {
            match ended_child() {
                None => {
                    self.childless = true;
                    break;
                }
                Some(None) => break,
                Some(Some(end)) => ended.push(end),
            }
        }
        for (pid, status) in ended {
            self.note(pid, status);
        }
        for rank in 0..self.ranks.len() {
            self.judge(rank);
        }
        if self.kill_at_ns.is_none() && self.ranks.iter().all(|rank| rank.over) {
            let unclaimed = (0..self.ranks.len()).any(|rank| self.process_of(rank) == 0);
            self.kill_at_ns = Some(kernel_ns() + if unclaimed { LINGER_UNCLAIMED_NS } else { LINGER_NS });
        }
    }

    /// The process that has taken a rank; 0: none has.
    fn process_of(&self, rank: usize) -> libc::pid_t {
        self.job.segment.rank(rank).pid.load(Ordering::Acquire) as libc::pid_t
    }

    /// The process of a rank that is not the started one and has not been heard of: one that was left behind by a
    /// wrapper, and is this process's child now.
    fn orphan(&self, rank: usize) -> Option<libc::pid_t> {
        let (pid, found) = (self.process_of(rank), &self.ranks[rank]);
        let started = found.child.as_ref().map_or(0, |child| child.pid);
        (found.claimant.is_none() && pid != 0 && pid != started).then_some(pid)
    }

    /// Before what is left is killed: goes on with ranks whose wrapper has left.
    pub(super) fn go_on_with_orphans(&mut self) {
        let left = processes::descendants(std::process::id() as libc::pid_t);
        for rank in 0..self.ranks.len() {
            let stage = self.job.segment.rank(rank).stage.load(Ordering::Acquire);
            let orphan = self.orphan(rank).filter(|pid| stage != stage::FINALISED && left.contains(pid));
            if let Some(pid) = orphan {
                self.claimed(rank, pid);
            }
        }
    }

    pub(super) fn note(&mut self, pid: libc::pid_t, status: Status) {
        if let Some(rank) = (0..self.ranks.len()).find(|&rank| self.orphan(rank) == Some(pid)) {
            let over = self.ranks[rank].over && self.job.segment.is_over();
            self.ranks[rank].claimant = Some((Process { pid, ended: false, status: None }, None));
            self.ranks[rank].over = over;
        }
        for rank in &mut self.ranks {
            if let Some(child) = rank.child.as_mut().filter(|child| child.pid == pid && !child.ended) {
                (child.ended, child.status) = (true, Some(status));
            }
            if let Some((claimant, _)) = rank.claimant.as_mut().filter(|(claimant, _)| claimant.pid == pid) {
                (claimant.ended, claimant.status) = (true, Some(status));
            }
        }
    }

    /// Checks whether a rank that has ended did so properly.
    pub(super) fn judge(&mut self, number: usize) {
        let is_orphan = self.orphan(number).is_some();
        let rank = &mut self.ranks[number];
        if rank.over || !rank.has_ended() {
            return;
        }
        // The rank is another process, whose word or end has not been heard yet. Without children there is none.
        if is_orphan && rank.status() == Some(0) && !self.childless {
            return;
        }
        rank.over = true;
        rank.alone_since_ns = None;
        transport::carried::has_ended(&self.job.segment, number);
        let status = rank.status();
        self.judge_end(number, status);
    }

    pub(super) fn judge_end(&mut self, number: usize, status: Option<Status>) {
        if self.kill_at_ns.is_some() && self.ranks.iter().any(|rank| !rank.over) {
            return;
        }
        let segment = &self.job.segment;
        // The rank that ended the job is named, not one that only left because of it.
        let first = segment.who_ended().unwrap_or(number);
        if let Some((code, text)) = segment.explanation(first) {
            let colon = if text.starts_with("called ") { "" } else { ":" };
            let line = format!("rank {first} (process {}){colon} {text}", self.ranks[first].pid());
            return self.end(&line, code);
        }
        if segment.nobody_ended() {
            let line = "memory shared by all ranks is corrupt: it says that the job is over (a rank wrote where it \
                        must not)";
            return self.end(line, 1);
        }
        let page = segment.rank(number);
        let stage = page.stage.load(Ordering::Acquire);
        let started = stage == stage::CLAIMED || stage == stage::INITIALISED;
        let who = format!("rank {number} (process {})", self.ranks[number].pid());
        let without = if started { " without MPI_Finalize" } else { "" };
        match status {
            // The reader of the output has left; nothing else is wrong.
            Some(status) if status == libc::SIGPIPE && self.sinks.iter().any(Sink::is_broken) => {
                self.end("", processes::exit_code(status));
            }
            Some(status) if libc::WIFSIGNALED(status) => {
                let core = if libc::WCOREDUMP(status) { " (core dumped)" } else { "" };
                let signal = processes::signal_name(libc::WTERMSIG(status));
                self.end(&format!("{who} was killed by {signal}{core}"), processes::exit_code(status));
            }
            Some(status) if libc::WEXITSTATUS(status) != 0 => {
                let code = libc::WEXITSTATUS(status);
                let line = format!("{who} exited with code {code}{}{without}", as_shells_say(code));
                if stage == stage::FINALISED {
                    // The others are not waiting for it: they may finish what they do.
                    if self.code == 0 {
                        self.say(&line);
                        self.code = code;
                    }
                } else {
                    self.end(&line, code);
                }
            }
            None | Some(_) if started => self.end(&format!("{who} ended{without}"), 1),
            // The others need not wait for it in MPI_Finalize.
            _ => page.stage.store(stage::FINALISED, Ordering::Release),
        }
    }

    /// Ends the job: says why, tells the ranks, and gives them a moment.
    pub(super) fn end(&mut self, line: &str, code: i32) {
        if self.code != 0 && self.kill_at_ns.is_some() {
            return;
        }
        for stream in 0..2 {
            self.carry(stream);
        }
        if !line.is_empty() {
            self.say(line);
        }
        if self.code == 0 {
            self.code = code;
        }
        transport::wait::end(&self.job.segment, None);
        for process in self.ranks.iter().flat_map(Rank::processes).filter(|process| !process.ended) {
            // SAFETY: numbers; groups and processes of the job.
            unsafe {
                libc::kill(-process.pid, libc::SIGTERM);
                libc::kill(process.pid, libc::SIGTERM);
                libc::kill(-process.pid, libc::SIGCONT);
            }
        }
        self.kill_at_ns = Some(kernel_ns() + GRACE_NS);
    }

    /// Ends whatever is left of the job.
    pub(super) fn sweep(&mut self) {
        if self.childless {
            return;
        }
        transport::wait::end(&self.job.segment, None);
        let mut ends = Vec::new();
        let gone = end_descendants(VANISH_NS, |pid, status| ends.push((pid, status)));
        for (pid, status) in ends {
            self.note(pid, status);
        }
        if !gone {
            let left = processes::descendants(std::process::id() as libc::pid_t);
            self.say(&format!("these processes don't end, though killed: {left:?}"));
        }
    }
}

/// The signal that a shell means by an exit code.
fn as_shells_say(code: i32) -> String {
    match processes::signal_name(code - 128) {
        name if code > 128 && name.starts_with("SIG") => format!(" (a shell's word for {name})"),
        _ => String::new(),
    }
}
