//! The ranks' parent: starts them, carries their output, hands the job's memory to who lost it, and ends the job when a rank
//! fails. It waits for events and takes no part in the ranks' work.

use super::front::signals;
use super::join::VARIABLE;
use super::lines::{self, Flushed, Got, Sink, Source};
use super::offer::{self, Connection, Listener, Request};
use super::options::{self, Options};
use super::poll::{NOTHING, Poll, READABLE, WRITABLE_ONCE};
use super::processes::{self, Status, adopt_orphans, end_descendants, ended_child};
use super::spawn::{self, Start};
use super::{foreign, spawn::text};
use crate::profile::pattern::{self, Run};
use crate::profile::stuck::Watch;
use crate::segment::{Segment, stage};
use host::Affinity;
use host::clock::kernel_ns;
use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

const MS: u64 = 1_000_000;
/// What ranks get to end by themselves once the job is over, before they are killed.
const GRACE_NS: u64 = 400 * MS;
/// What the processes that ranks leave behind get (they may have output to pass on), before they are killed.
const LINGER_NS: u64 = 200 * MS;
/// What a wrapper gets to end after the rank inside it, so that its exit code can be told.
const WRAPPER_NS: u64 = 100 * MS;
/// What killed processes get to vanish.
const VANISH_NS: u64 = 2000 * MS;
/// When ranks that have not started MPI are looked at: another MPI's library may be why.
const STRANGER_NS: u64 = 1000 * MS;
/// So many requests to end make it a kill.
const LAST_ASKING: u32 = 3;
/// A line of rank 0 that doesn't end goes out after so long when a person sits at the terminal: it is a question.
const PROMPT_NS: u64 = 50 * MS;
/// The lowest descriptor number for the job's memory in ranks: scripts and shells use the low ones.
const MEMORY_FD: RawFd = 200;

/// A program to start.
pub struct Program {
    /// As the command line says.
    pub asked: options::Program,
    /// Its file.
    pub file: PathBuf,
    /// Where its ranks start.
    pub directory: PathBuf,
}

/// A job, ready to start.
pub struct Prepared {
    /// The command line.
    pub options: Options,
    /// What to start.
    pub programs: Vec<Program>,
    /// Where each rank runs; nothing: anywhere.
    pub cpus: Option<Vec<Vec<u32>>>,
    /// Names that are held while the job runs.
    pub held: Vec<OwnedFd>,
    /// The job's memory.
    pub memory: OwnedFd,
    /// The same, mapped.
    pub segment: Segment,
}

/// A signal that ranks are to get.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signal {
    /// Its number.
    pub number: i32,
    /// It came from the terminal, to all processes in its foreground.
    pub by_terminal: bool,
}

impl Signal {
    /// As it goes through the pipe.
    pub fn to_bytes(self) -> [u8; 2] {
        [self.number as u8, u8::from(self.by_terminal)]
    }

    fn from_bytes(bytes: [u8; 2]) -> Self {
        Self { number: bytes[0].into(), by_terminal: bytes[1] != 0 }
    }
}

/// A process of a rank, and how it ended.
struct Process {
    pid: libc::pid_t,
    ended: bool,
    status: Option<Status>,
}

#[derive(Default)]
struct Rank {
    /// What was started.
    child: Option<Process>,
    /// What said that it is the rank, when that isn't what was started.
    claimant: Option<(Process, OwnedFd)>,
    /// When the claimant had ended and what was started had not.
    alone_since_ns: Option<u64>,
    over: bool,
}

impl Rank {
    /// What was started has failed, or it and the rank in it have ended. (What only started the rank and left, as `setsid`
    /// does, has not.)
    fn has_ended(&self) -> bool {
        let child = self.child.as_ref();
        child.is_some_and(|child| child.status.is_some_and(|status| status != 0))
            || child.is_none_or(|child| child.ended)
                && self.claimant.as_ref().is_none_or(|(claimant, _)| claimant.ended)
    }

    fn processes(&self) -> impl Iterator<Item = &Process> {
        self.child.iter().chain(self.claimant.iter().map(|(claimant, _)| claimant))
    }

    fn pid(&self) -> libc::pid_t {
        self.claimant
            .as_ref()
            .map(|(claimant, _)| claimant)
            .or(self.child.as_ref())
            .map_or(0, |process| process.pid)
    }

    /// The worst that is known of how it ended.
    fn status(&self) -> Option<Status> {
        let statuses = || self.processes().filter_map(|process| process.status);
        statuses().find(|&status| status != 0).or_else(|| statuses().next())
    }
}

// What an event is: a kind, and an index in the low half.
const FRONT: u64 = 1 << 32;
const CHILDREN: u64 = 2 << 32;
const LISTENER: u64 = 3 << 32;
const CONNECTION: u64 = 4 << 32;
const CLAIMANT: u64 = 5 << 32;
const OUTPUT: u64 = 6 << 32;
const SINK: u64 = 7 << 32;
const INDEX: u64 = (1 << 32) - 1;

/// See the module.
pub struct Supervisor {
    job: Prepared,
    mask: libc::sigset_t,
    descriptors: libc::rlimit,
    /// The front's process group, for rank 0 when it reads a terminal.
    terminal_group: Option<libc::pid_t>,
    poll: Poll,
    front: File,
    child_signals: File,
    listener: Option<Listener>,
    connections: HashMap<u64, Connection>,
    next_connection: u64,
    ranks: Vec<Rank>,
    sinks: [Sink; 2],
    outputs: [Poll; 2],
    sources: [HashMap<u64, Source>; 2],
    scratch: Vec<u8>,
    code: i32,
    started_ns: u64,
    /// When what is left is killed, once the job is over.
    kill_at_ns: Option<u64>,
    stranger_at_ns: Option<u64>,
    prompt_at_ns: Option<u64>,
    /// No child is left, and so nothing at all below this process.
    childless: bool,
    asked_to_end: u32,
    front_gone: bool,
    /// Looks whether anything moves (`--stuck-after`).
    watch: Option<Watch>,
}

impl Supervisor {
    /// Ready to start the ranks.
    ///
    /// # Errors
    /// As the system's: descriptors run out.
    pub fn new(
        job: Prepared,
        front: OwnedFd,
        mask: libc::sigset_t,
        terminal_group: Option<libc::pid_t>,
    ) -> io::Result<Self> {
        adopt_orphans();
        let descriptors = raise_descriptors();
        let poll = Poll::new()?;
        // All of the front's are blocked still; these are what others may send here.
        let awaited = signals([libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP]);
        let blocked = signals([libc::SIGTTOU, libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP]);
        // SAFETY: valid sets; the descriptor is owned by nobody else.
        let child_signals = unsafe {
            libc::sigprocmask(libc::SIG_BLOCK, &blocked, std::ptr::null_mut());
            match libc::signalfd(-1, &awaited, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
                fd if fd >= 0 => File::from_raw_fd(fd),
                _ => return Err(io::Error::last_os_error()),
            }
        };
        let listener =
            Listener::new(&offer::name(job.segment.header().identity.load(Ordering::Relaxed))).ok();
        let outputs = [Poll::new()?, Poll::new()?];
        poll.watch(front.as_raw_fd(), READABLE, FRONT);
        poll.watch(child_signals.as_raw_fd(), READABLE, CHILDREN);
        if let Some(listener) = &listener {
            poll.watch(listener.fd(), READABLE, LISTENER);
        }
        for (stream, output) in outputs.iter().enumerate() {
            poll.watch(output.fd(), READABLE, OUTPUT | stream as u64);
        }
        job.segment.header().launcher.store(std::process::id(), Ordering::Relaxed);
        let started_ns = kernel_ns();
        Ok(Self {
            mask,
            descriptors,
            terminal_group,
            poll,
            front: front.into(),
            child_signals,
            listener,
            connections: HashMap::new(),
            next_connection: 0,
            ranks: (0..job.segment.ranks()).map(|_| Rank::default()).collect(),
            sinks: [Sink::new(1), Sink::new(2)],
            outputs,
            sources: [HashMap::new(), HashMap::new()],
            scratch: Vec::new(),
            code: 0,
            started_ns,
            kill_at_ns: None,
            stranger_at_ns: Some(started_ns + STRANGER_NS),
            prompt_at_ns: None,
            childless: false,
            asked_to_end: 0,
            front_gone: false,
            watch: job.options.stuck_after_s.map(Watch::new),
            job,
        })
    }

    /// Runs the job, and gives its exit code.
    pub fn run(mut self) -> i32 {
        self.start();
        while !self.is_over() {
            let deadline_ns = self.deadline_ns();
            let timeout_ns = deadline_ns.map(|ns| ns.saturating_sub(kernel_ns()));
            for number in self.poll.wait(timeout_ns) {
                self.happened(number);
            }
            self.tick();
        }
        let ended_ns = kernel_ns();
        self.sweep();
        self.write_profile(ended_ns);
        self.drain();
        self.code
    }

    fn start(&mut self) {
        let name = offer::name(self.job.segment.header().identity.load(Ordering::Relaxed));
        // SAFETY: duplicates a descriptor of ours, to a high number where there is room; owned by nobody else.
        let memory = unsafe {
            match libc::fcntl(self.job.memory.as_raw_fd(), libc::F_DUPFD_CLOEXEC, MEMORY_FD) {
                fd if fd >= 0 => OwnedFd::from_raw_fd(fd),
                _ => match self.job.memory.try_clone() {
                    Ok(fd) => fd,
                    Err(error) => return self.cannot_start("the job's memory", &error),
                },
            }
        };
        let nothing = match File::open("/dev/null").and_then(high) {
            Ok(file) => file,
            Err(error) => return self.cannot_start("/dev/null", &error),
        };
        let ranks = self.ranks.len();
        let direct = ranks == 1 && !self.job.options.tags;
        let mut refused: Option<String> = None;
        let mut rank = 0;
        for number in 0..self.job.programs.len() {
            for _ in 0..self.job.programs[number].asked.ranks {
                let program = &self.job.programs[number];
                let mut changes = program.asked.environment.clone();
                let mut set = |name: &str, value: String| changes.push((name.into(), value.into()));
                set(VARIABLE, format!("{}:{rank}:{ranks}:{name}", memory.as_raw_fd()));
                set("CELLWEAVE_MPI_RANK", rank.to_string());
                set("CELLWEAVE_MPI_SIZE", ranks.to_string());
                set("CELLWEAVE_MPI_APPNUM", number.to_string());
                let pipes = match (direct, lines::pipe(), lines::pipe()) {
                    (true, ..) => None,
                    (_, Ok(out), Ok(error)) => Some([out, error]),
                    (_, Err(error), _) | (.., Err(error)) => {
                        return self.cannot_start(&format!("the output of rank {rank}"), &error);
                    }
                };
                let stdin = if rank == 0 { 0 } else { nothing.as_raw_fd() };
                let streams = match &pipes {
                    Some([(_, out), (_, error)]) => [stdin, out.as_raw_fd(), error.as_raw_fd()],
                    None => [stdin, 1, 2],
                };
                let cpus = self.job.cpus.as_ref().map(|cpus| Affinity::of_cpus(cpus[rank].iter().copied()));
                let arguments: Vec<CString> = program.asked.words.iter().map(|word| text(word)).collect();
                let on_terminal =
                    rank == 0 && (self.terminal_group.is_some() || direct && io::stdout().is_terminal());
                let start = Start {
                    file: &text(program.file.as_os_str()),
                    arguments: &arguments,
                    environment: &spawn::environment(&changes),
                    directory: &text(program.directory.as_os_str()),
                    streams,
                    kept: memory.as_raw_fd(),
                    group: if on_terminal { self.terminal_group.unwrap_or(0) } else { 0 },
                    cpus: cpus.as_ref(),
                    mask: self.mask,
                    descriptors: self.descriptors,
                };
                match start.spawn() {
                    Ok(started) => {
                        self.ranks[rank].child =
                            Some(Process { pid: started.pid, ended: false, status: None });
                        if let (Some(error), None) = (started.refused, &refused) {
                            let cpus =
                                self.job.cpus.as_ref().map(|cpus| cpus[rank].clone()).unwrap_or_default();
                            refused =
                                Some(format!("rank {rank} is not on cpu {cpus:?} but anywhere: {error}"));
                        }
                    }
                    Err(error) => {
                        let what = format!("rank {rank} ({})", program.file.display());
                        return self.cannot_start(&what, &error);
                    }
                }
                for (stream, (reader, _)) in pipes.into_iter().flatten().enumerate() {
                    let source = Source::new(reader, rank, self.job.options.tags);
                    self.outputs[stream].watch(source.fd(), READABLE, rank as u64);
                    self.sources[stream].insert(rank as u64, source);
                }
                rank += 1;
            }
        }
        if let Some(text) = refused {
            self.say(&text);
        }
    }

    fn cannot_start(&mut self, what: &str, error: &io::Error) {
        let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 1 };
        let hint = match error.raw_os_error() {
            Some(libc::EMFILE) => " (ulimit -n says how many; the launcher needs two for each rank)",
            Some(libc::EAGAIN) => {
                " (ulimit -u or the container's limit says how many processes there may be)"
            }
            Some(libc::ENOENT) => " (the interpreter that its first line names, perhaps)",
            _ => "",
        };
        self.end(&format!("can't start {what}: {error}{hint}"), code);
    }

    fn is_over(&self) -> bool {
        if self.front_gone {
            return true;
        }
        let done = self.childless || self.kill_at_ns.is_some_and(|at| kernel_ns() >= at);
        done && (self.kill_at_ns.is_some() || self.ranks.iter().all(|rank| rank.over))
    }

    fn deadline_ns(&self) -> Option<u64> {
        let wrappers = self.ranks.iter().filter_map(|rank| Some(rank.alone_since_ns? + WRAPPER_NS));
        let look_at_ns = self.watch.as_ref().map(Watch::look_at_ns);
        let all = [self.kill_at_ns, self.stranger_at_ns, self.timeout_at_ns(), look_at_ns];
        all.into_iter().flatten().chain(wrappers).min()
    }

    fn timeout_at_ns(&self) -> Option<u64> {
        self.kill_at_ns.is_none().then_some(())?;
        Some(self.started_ns + (self.job.options.timeout_s? * 1e9) as u64)
    }

    fn happened(&mut self, number: u64) {
        let index = number & INDEX;
        match number & !INDEX {
            FRONT => self.hear_front(),
            CHILDREN => self.hear_signals(),
            LISTENER => {
                while let Some(connection) = self.listener.as_ref().and_then(Listener::accept) {
                    self.next_connection = (self.next_connection + 1) & INDEX;
                    self.poll.watch(connection.fd(), READABLE, CONNECTION | self.next_connection);
                    self.connections.insert(self.next_connection, connection);
                }
            }
            CONNECTION => self.hear_connection(index),
            CLAIMANT => self.claimant_ended(index as usize),
            OUTPUT => self.carry(index as usize),
            SINK => self.flush(index as usize),
            _ => unreachable!("only these are watched"),
        }
    }

    /// A signal from the front, or its end.
    fn hear_front(&mut self) {
        let mut bytes = [0u8; 2];
        match self.front.read(&mut bytes) {
            Ok(2) => self.pass_on(Signal::from_bytes(bytes)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => self.front_gone = true,
        }
    }

    fn hear_signals(&mut self) {
        let mut bytes = [0u8; size_of::<libc::signalfd_siginfo>()];
        while matches!(self.child_signals.read(&mut bytes), Ok(length) if length == bytes.len()) {
            // SAFETY: as many bytes as the kernel wrote; every pattern is valid.
            let came: libc::signalfd_siginfo = unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) };
            if came.ssi_signo as i32 != libc::SIGCHLD {
                self.pass_on(Signal { number: came.ssi_signo as i32, by_terminal: false });
            }
        }
        self.reap();
    }

    fn pass_on(&mut self, signal: Signal) {
        for (number, rank) in self.ranks.iter().enumerate().filter(|(_, rank)| !rank.over) {
            let in_front = number == 0 && self.terminal_group.is_some();
            if in_front && signal.by_terminal {
                continue;
            }
            for process in rank.processes().filter(|process| !process.ended) {
                // SAFETY: numbers; a group that a child of ours leads, or a process of the job.
                unsafe {
                    if in_front || libc::kill(-process.pid, signal.number) != 0 {
                        libc::kill(process.pid, signal.number);
                    }
                }
            }
        }
        if signal.number == libc::SIGTERM || signal.number == libc::SIGINT {
            self.asked_to_end += 1;
            if self.asked_to_end >= LAST_ASKING {
                let name = processes::signal_name(signal.number);
                self.end(&format!("asked to end {LAST_ASKING} times, now by {name}"), 128 + signal.number);
            }
        }
    }

    fn hear_connection(&mut self, index: u64) {
        let Some(connection) = self.connections.get(&index) else { return };
        let asked = connection.request();
        let (pid, fd) = (connection.pid, connection.fd());
        match asked {
            Ok(None) => {}
            Ok(Some((Request::Memory, _))) => {
                if connection.give(&self.job.memory).is_err() {
                    self.connections.remove(&index);
                }
            }
            Ok(Some((Request::Claimed, rank))) if rank < self.ranks.len() => self.claimed(rank, pid),
            _ => {
                self.poll.forget(fd);
                self.connections.remove(&index);
            }
        }
    }

    /// A process below a rank's says that it is the rank.
    fn claimed(&mut self, rank: usize, pid: libc::pid_t) {
        // SAFETY: numbers; the descriptor is owned by nobody else.
        let watch = unsafe {
            match libc::syscall(libc::SYS_pidfd_open, pid, 0) as RawFd {
                fd if fd >= 0 => OwnedFd::from_raw_fd(fd),
                _ => return,
            }
        };
        self.poll.watch(watch.as_raw_fd(), READABLE, CLAIMANT | rank as u64);
        self.ranks[rank].claimant = Some((Process { pid, ended: false, status: None }, watch));
    }

    fn claimant_ended(&mut self, rank: usize) {
        if let Some((claimant, watch)) = &mut self.ranks[rank].claimant {
            claimant.ended = true;
            self.poll.forget(watch.as_raw_fd());
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
    fn reap(&mut self) {
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
            self.kill_at_ns = Some(kernel_ns() + LINGER_NS);
        }
    }

    fn note(&mut self, pid: libc::pid_t, status: Status) {
        for rank in &mut self.ranks {
            if let Some(child) = rank.child.as_mut().filter(|child| child.pid == pid && !child.ended) {
                (child.ended, child.status) = (true, Some(status));
            }
            if let Some((claimant, _)) = rank.claimant.as_mut().filter(|(claimant, _)| claimant.pid == pid) {
                (claimant.ended, claimant.status) = (true, Some(status));
            }
        }
    }

    /// Whether a rank that has ended did so as it should.
    fn judge(&mut self, number: usize) {
        let rank = &mut self.ranks[number];
        if rank.over || !rank.has_ended() {
            return;
        }
        rank.over = true;
        rank.alone_since_ns = None;
        let status = rank.status();
        self.judge_end(number, status);
    }

    fn judge_end(&mut self, number: usize, status: Option<Status>) {
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
        let page = segment.rank(number);
        let stage = page.stage.load(Ordering::Acquire);
        let started = stage == stage::CLAIMED || stage == stage::INITIALISED;
        let who = format!("rank {number} (process {})", self.ranks[number].pid());
        let without = if started { " without MPI_Finalize" } else { "" };
        match status {
            // The reader of the output has left: no more than that happened.
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
                let line = format!("{who} exited with code {code}{without}");
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
            // Nobody needs to wait for it in MPI_Finalize.
            _ => page.stage.store(stage::FINALISED, Ordering::Release),
        }
    }

    /// The job is over: says why, tells the ranks, and gives them a moment.
    fn end(&mut self, line: &str, code: i32) {
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
        super::end(&self.job.segment, None);
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

    fn tick(&mut self) {
        let now_ns = kernel_ns();
        for number in 0..self.ranks.len() {
            if self.ranks[number].alone_since_ns.is_some_and(|since| now_ns >= since + WRAPPER_NS) {
                self.ranks[number].alone_since_ns = None;
                let status = self.ranks[number].status();
                self.judge_end(number, status);
            }
        }
        if self.timeout_at_ns().is_some_and(|at| now_ns >= at) {
            let seconds = self.job.options.timeout_s.unwrap_or_default();
            self.end(&format!("the job took more than the {seconds} s that it was given"), 124);
        }
        if self.prompt_at_ns.is_some_and(|at| now_ns >= at) {
            self.prompt_at_ns = None;
            for stream in 0..2 {
                if let Some(source) = self.sources[stream].get_mut(&0) {
                    source.finish(&mut self.sinks[stream]);
                }
                self.flush(stream);
            }
        }
        if self.stranger_at_ns.is_some_and(|at| now_ns >= at) {
            self.stranger_at_ns = None;
            self.look_for_strangers();
        }
        if let Some(text) = self.watch.as_mut().and_then(|watch| watch.look(&self.job.segment, now_ns)) {
            self.say(&text);
        }
    }

    /// Writes who sent how much to whom, also of a job that failed.
    fn write_profile(&mut self, ended_ns: u64) {
        let Some(file) = &self.job.options.profile else { return };
        let programs: Vec<String> =
            self.job.programs.iter().map(|program| program.file.display().to_string()).collect();
        let elapsed_s = (ended_ns - self.started_ns) as f64 / 1e9;
        let text = pattern::text(&self.job.segment, &Run { programs: &programs, elapsed_s });
        if let Err(error) = pattern::write(file, &text) {
            self.say(&format!("--profile {}: {error}", file.display()));
            self.code = self.code.max(1);
        }
    }

    /// Says so when a rank that has not started MPI has another MPI's library loaded.
    fn look_for_strangers(&mut self) {
        if self.ranks.len() < 2 {
            return;
        }
        let unclaimed = |number: &usize| self.job.segment.rank(*number).pid.load(Ordering::Relaxed) == 0;
        let Some(number) = (0..self.ranks.len()).filter(unclaimed).find(|&number| !self.ranks[number].over)
        else {
            return;
        };
        let Some(child) = self.ranks[number].child.as_ref().map(|child| child.pid) else { return };
        let mut processes = vec![child];
        processes.extend(processes::descendants(child));
        if let Some((pid, text)) =
            processes.into_iter().find_map(|pid| Some((pid, foreign::loaded_another(pid)?)))
        {
            self.say(&format!("rank {number} (process {pid}) {text}"));
        }
    }

    fn say(&mut self, line: &str) {
        self.sinks[1].say(&format!("cellrun: {line}\n"));
        self.flush(1);
    }

    /// Reads what ranks wrote to one of their two streams.
    fn carry(&mut self, stream: usize) {
        for rank in self.outputs[stream].wait(Some(0)) {
            if let Some(source) = self.sources[stream].get_mut(&rank)
                && source.read(&mut self.sinks[stream], &mut self.scratch) == Got::End
            {
                self.outputs[stream].forget(source.fd());
                self.sources[stream].remove(&rank);
            }
        }
        let asks = self.sources[stream].get(&0).is_some_and(Source::is_waiting);
        if asks && self.terminal_group.is_some() && !self.job.options.tags {
            self.prompt_at_ns = Some(kernel_ns() + PROMPT_NS);
        }
        self.flush(stream);
    }

    fn flush(&mut self, stream: usize) {
        match self.sinks[stream].flush() {
            Flushed::All => {}
            Flushed::Waiting => self.poll.watch(self.sinks[stream].fd(), WRITABLE_ONCE, SINK | stream as u64),
            Flushed::Failed(kind, error) => self.lost(stream, kind, &error),
        }
        let events = if self.sinks[stream].is_full() { NOTHING } else { READABLE };
        self.poll.watch(self.outputs[stream].fd(), events, OUTPUT | stream as u64);
    }

    /// One of the launcher's own streams takes nothing more.
    fn lost(&mut self, stream: usize, kind: io::ErrorKind, error: &str) {
        if kind == io::ErrorKind::BrokenPipe {
            // Its reader has left: ranks find that out by themselves, as if it were their own.
            self.sources[stream].clear();
            return;
        }
        let name = ["standard output", "standard error"][stream];
        if self.code == 0 {
            self.code = 1;
        }
        if stream == 0 {
            self.say(&format!("the {name} of ranks is lost from here on: {error}"));
        }
    }

    /// Ends whatever is left of the job.
    fn sweep(&mut self) {
        if self.childless {
            return;
        }
        super::end(&self.job.segment, None);
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

    /// Carries what ranks said last, until it is written or the front has gone.
    fn drain(&mut self) {
        for stream in 0..2 {
            while !self.front_gone && !self.sources[stream].is_empty() {
                let before: Vec<u64> = self.outputs[stream].wait(Some(0));
                if before.is_empty() {
                    break;
                }
                self.carry(stream);
                self.wait_for_sink(stream);
            }
            let mut left: Vec<Source> = self.sources[stream].drain().map(|(_, source)| source).collect();
            for source in &mut left {
                while source.read(&mut self.sinks[stream], &mut self.scratch) == Got::Some {}
            }
            self.flush(stream);
            self.wait_for_sink(stream);
        }
    }

    fn wait_for_sink(&mut self, stream: usize) {
        while !self.front_gone && !self.sinks[stream].is_empty() {
            for number in self.poll.wait(None) {
                match number & !INDEX {
                    FRONT => self.hear_front(),
                    SINK => self.flush((number & INDEX) as usize),
                    // Nothing else matters any more; watched no longer, so that it doesn't wake us.
                    CHILDREN => self.poll.forget(self.child_signals.as_raw_fd()),
                    LISTENER => self.listener = None,
                    CONNECTION => drop(self.connections.remove(&(number & INDEX))),
                    OUTPUT => self.poll.forget(self.outputs[(number & INDEX) as usize].fd()),
                    _ => {}
                }
            }
            self.flush(stream);
        }
    }
}

/// The same file at a descriptor above those of the standard streams.
fn high(file: File) -> io::Result<OwnedFd> {
    // SAFETY: duplicates a descriptor; the result is owned by nobody else.
    unsafe {
        match libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 3) {
            fd if fd >= 0 => Ok(OwnedFd::from_raw_fd(fd)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// As many descriptors as are allowed; gives the limit of before.
fn raise_descriptors() -> libc::rlimit {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: valid places.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        let raised = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
        libc::setrlimit(libc::RLIMIT_NOFILE, &raised);
    }
    limit
}
