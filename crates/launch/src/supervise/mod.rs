//! The ranks' parent: starts them, passes on their output, gives the job's memory to ranks that lost it, and ends the
//! job when a rank fails. It waits for events and takes no part in the ranks' work.

mod ends;
mod output;
mod start;

use crate::carried::{Carried, CarriedEnd};
use crate::computing::Computing;
use crate::foreign;
use crate::lines::{Sink, Source};
use crate::offer::{self, Ask, Connection, Listener};
use crate::options::{self, LaunchOptions};
use crate::poll::{Poll, READABLE};
use crate::processes::{self, adopt_orphans, signals};
use crate::profile::{self, JobRun};
use crate::stuck::Watch;
use ends::Rank;
use host::clock::kernel_ns;
use ranks::RanksOptions;
use start::raise_descriptors;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use transport::Segment;

const MS: u64 = 1_000_000;
/// Time for a wrapper to end after the rank inside it, so that its exit code is known.
const WRAPPER_NS: u64 = 100 * MS;
/// When a rank that has not started MPI is first checked for another MPI's library; then after twice as long, and so
/// on.
const STRANGER_NS: u64 = 100 * MS;
/// No checks after so long.
const LAST_LOOK_NS: u64 = 10_000 * MS;
/// This many requests to end are a kill.
const LAST_ASKING: u32 = 3;

/// A program to start.
pub(crate) struct ProgramToStart {
    /// As the command line says.
    pub(crate) asked: options::ProgramOptions,
    /// Its file.
    pub(crate) file: PathBuf,
    /// Where its ranks start.
    pub(crate) directory: PathBuf,
}

/// A job, ready to start.
pub(crate) struct Prepared {
    /// The command line.
    pub(crate) options: LaunchOptions,
    /// What to start.
    pub(crate) programs: Vec<ProgramToStart>,
    /// Where each rank runs; nothing: anywhere.
    pub(crate) cpus: Option<Vec<Vec<u32>>>,
    /// On a simulated machine, the SPE of each rank; nothing: rank r is on SPE r.
    pub(crate) spes: Option<Vec<usize>>,
    /// Names that are held while the job runs.
    pub(crate) held: Vec<OwnedFd>,
    /// The job's memory.
    pub(crate) memory: OwnedFd,
    /// The same, mapped.
    pub(crate) segment: Segment,
}

/// A signal that ranks are to get.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Signal {
    /// Its number.
    pub(crate) number: i32,
    /// It came from the terminal, to all processes in its foreground.
    pub(crate) by_terminal: bool,
}

impl Signal {
    /// Its bytes in the pipe.
    pub(crate) fn to_bytes(self) -> [u8; 2] {
        [self.number as u8, u8::from(self.by_terminal)]
    }

    fn from_bytes(bytes: [u8; 2]) -> Self {
        Self { number: bytes[0].into(), by_terminal: bytes[1] != 0 }
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
const CARRIED: u64 = 8 << 32;
const INDEX: u64 = (1 << 32) - 1;

/// The supervisor: see the module.
pub(crate) struct Supervisor {
    job: Prepared,
    mask: libc::sigset_t,
    descriptors: libc::rlimit,
    /// The front's process group, for the rank that reads when that is from a terminal.
    terminal_group: Option<libc::pid_t>,
    poll: Poll,
    front: File,
    /// The end of the ranks' lines that breaks with this process.
    lifeline: Option<OwnedFd>,
    child_signals: File,
    listener: Option<Listener>,
    connections: HashMap<u64, Connection>,
    next_connection: u64,
    /// The rank that came by a connection.
    lines: HashMap<u64, usize>,
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
    /// Checks whether anything moves (`--stuck-after`).
    watch: Option<Watch>,
    /// The simulator that carries the ranks' messages (`--on`).
    carried: Option<Carried>,
    /// What it said when all ranks had ended.
    simulated: Option<(String, u64)>,
}

impl Supervisor {
    /// Ready to start the ranks.
    ///
    /// # Errors
    /// As the system's: descriptors run out.
    pub(crate) fn new(
        job: Prepared,
        front: OwnedFd,
        mask: libc::sigset_t,
        terminal_group: Option<libc::pid_t>,
    ) -> io::Result<Self> {
        adopt_orphans();
        let descriptors = raise_descriptors();
        let poll = Poll::new()?;
        // All signals of the front are still blocked; these may be sent to this process.
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
            lifeline: None,
            child_signals,
            listener,
            connections: HashMap::new(),
            next_connection: 0,
            lines: HashMap::new(),
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
            carried: None,
            simulated: None,
            job,
        })
    }

    /// Runs the job, and gives its exit code.
    pub(crate) fn run(mut self) -> i32 {
        self.start();
        self.start_simulator();
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
        self.hear_last_word();
        self.write_profile(ended_ns);
        self.drain();
        if let Some((text, _)) = self.simulated.take().filter(|_| self.code == 0) {
            self.say(&text);
        }
        self.code
    }

    /// Starts the simulator of a job on a simulated Cell.
    fn start_simulator(&mut self) {
        let Some(machine) = &self.job.options.on else { return };
        let asked = &self.job.options;
        let defaults = RanksOptions::default();
        let trace = asked.trace.clone();
        let options = RanksOptions {
            buffered_bytes: asked.buffered_bytes.unwrap_or(defaults.buffered_bytes),
            spes: self.job.spes.clone(),
            memory: asked.memory.unwrap_or_default(),
            local_data: asked.local_data,
            trace: trace.is_some(),
            ..defaults
        };
        let computing = match Computing::new(&asked.compute, self.job.segment.ranks()) {
            Ok(computing) => computing,
            Err(text) => return self.end(&text, 2),
        };
        match Carried::start(self.job.segment, machine, options, computing, trace) {
            Ok(carried) => {
                if let Some(carried) = &carried {
                    self.poll.watch(carried.fd(), READABLE, CARRIED);
                }
                self.carried = carried;
            }
            Err(error) => self.cannot_start("the simulator", &error),
        }
    }

    /// The simulation has ended.
    fn hear_simulator(&mut self) {
        let Some(carried) = &self.carried else { return };
        self.poll.forget(carried.fd());
        match carried.end() {
            Some(CarriedEnd::Done(text, ps)) => self.simulated = Some((text, ps)),
            Some(CarriedEnd::Failed(text)) => self.end(&text, 1),
            None if self.simulated.is_some() => {}
            None => self.end("the simulator failed, see above", 1),
        }
    }

    /// Waits for what the simulator says of a job whose ranks have ended well.
    fn hear_last_word(&mut self) {
        if self.simulated.is_some() || self.code != 0 {
            return;
        }
        match self.carried.as_ref().and_then(Carried::last_word) {
            Some(CarriedEnd::Done(text, ps)) => self.simulated = Some((text, ps)),
            Some(CarriedEnd::Failed(text)) => {
                self.say(&text);
                self.code = 1;
            }
            None => {}
        }
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
        let all = [self.kill_at_ns, self.stranger_at_ns, self.prompt_at_ns, self.timeout_at_ns(), look_at_ns];
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
            CARRIED => self.hear_simulator(),
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
            let in_front = self.job.options.reader.rank() == Some(number) && self.terminal_group.is_some();
            if in_front && signal.by_terminal {
                continue;
            }
            let mut reached = Vec::new();
            for process in rank.processes().filter(|process| !process.ended) {
                // SAFETY: numbers; a process of the job, or its group when that is the job's own.
                unsafe {
                    let group = libc::getpgid(process.pid);
                    if in_front || group <= 0 || group == libc::getpgrp() {
                        libc::kill(process.pid, signal.number);
                    } else if !reached.contains(&group) {
                        reached.push(group);
                        libc::kill(-group, signal.number);
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
        let heard = match connection.asked() {
            Ok(None) => return,
            Ok(Some((Ask::Memory, _))) => connection.give(&self.job.memory).is_ok(),
            Ok(Some((Ask::Claimed, rank))) if rank < self.ranks.len() => {
                let pid = connection.pid;
                self.lines.insert(index, rank);
                self.claimed(rank, pid);
                true
            }
            _ => false,
        };
        if !heard {
            if let Some(connection) = self.connections.remove(&index) {
                self.poll.forget(connection.fd());
            }
            if let Some(rank) = self.lines.remove(&index) {
                self.line_broke(rank);
            }
        }
    }

    fn tick(&mut self) {
        let now_ns = kernel_ns();
        if self.kill_at_ns.is_some_and(|at| now_ns >= at) && !self.job.segment.is_over() {
            self.go_on_with_orphans();
        }
        for number in 0..self.ranks.len() {
            if self.ranks[number].alone_since_ns.is_some_and(|since| now_ns >= since + WRAPPER_NS) {
                self.ranks[number].alone_since_ns = None;
                let status = self.ranks[number].status();
                self.judge_end(number, status);
            }
        }
        if self.timeout_at_ns().is_some_and(|at| now_ns >= at) {
            let seconds = self.job.options.timeout_s.unwrap_or_default();
            let computing = self.carried.as_ref().and_then(Carried::computing);
            let who = computing.map_or_else(String::new, |rank| {
                format!(
                    "; rank {rank} computes without a call of MPI, and the simulated machine waits for it"
                )
            });
            self.end(&format!("the job took more than the {seconds} s that it was given{who}"), 124);
        }
        if self.prompt_at_ns.is_some_and(|at| now_ns >= at) {
            self.prompt_at_ns = None;
            let reader = self.job.options.reader.rank().unwrap_or_default() as u64;
            for stream in 0..2 {
                if let Some(source) = self.sources[stream].get_mut(&reader) {
                    source.finish(&mut self.sinks[stream]);
                }
                self.flush(stream);
            }
        }
        if self.stranger_at_ns.is_some_and(|at| now_ns >= at) {
            let passed_ns = now_ns - self.started_ns;
            let again = self.look_for_strangers() && passed_ns < LAST_LOOK_NS;
            self.stranger_at_ns = again.then_some(now_ns + passed_ns);
        }
        if let Some(text) = self.watch.as_mut().and_then(|watch| watch.look(&self.job.segment, now_ns)) {
            self.say(&text);
        }
    }

    /// Writes the profile, also of a job that failed.
    fn write_profile(&mut self, ended_ns: u64) {
        let Some(file) = &self.job.options.profile else { return };
        let programs: Vec<String> =
            self.job.programs.iter().map(|program| program.file.display().to_string()).collect();
        let here_s = (ended_ns - self.started_ns) as f64 / 1e9;
        let elapsed_s = self.simulated.as_ref().map_or(here_s, |&(_, ps)| ps as f64 / 1e12);
        let text = profile::text(&self.job.segment, &JobRun { programs: &programs, elapsed_s });
        if let Err(error) = ground::write_whole(file, |out| out.write_all(text.as_bytes())) {
            self.say(&format!("--profile {}: {error}", file.display()));
            self.code = self.code.max(1);
        }
    }

    /// Reports a rank that has not started MPI and has another MPI's library loaded. True: check again later.
    fn look_for_strangers(&mut self) -> bool {
        if self.ranks.len() < 2 {
            return false;
        }
        let unclaimed = |number: usize| self.job.segment.rank(number).pid.load(Ordering::Relaxed) == 0;
        let found = self.ranks.iter().enumerate().find(|(number, rank)| !rank.over && unclaimed(*number));
        let Some((number, child)) = found.and_then(|(number, rank)| Some((number, rank.child.as_ref()?.pid)))
        else {
            return false;
        };
        let processes = [child].into_iter().chain(processes::descendants(child));
        let told = processes.filter_map(|pid| Some((pid, foreign::loaded_another(pid)?))).next();
        if let Some((pid, text)) = &told {
            self.say(&format!("rank {number} (process {pid}) {text}"));
        }
        told.is_none()
    }
}
