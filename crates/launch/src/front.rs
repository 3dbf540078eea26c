//! The process that the user sees: it starts the supervisor, passes signals on to it, and ends as it ends.
//!
//! There are two processes, so that nothing is left behind when one of them is killed. The supervisor is the ranks'
//! parent, and all orphans below it become its children. When it dies, the ranks die with it, and what is left becomes
//! children of this process. When this process dies, the supervisor sees the end of a pipe.

use crate::computing::Computing;
use crate::foreign;
use crate::library;
use crate::options::{self, Asked, ComputeOptions, HELP, LaunchOptions};
use crate::placing::{self, Places};
use crate::processes::{self, adopt_orphans, end_descendants, exit_code};
use crate::profile;
use crate::spawn;
use crate::supervise::{Prepared, ProgramToStart, Signal, Supervisor};
use std::ffi::OsString;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use transport::segment::{Segment, hook};

/// Signals that are passed on to ranks.
const PASSED_ON: [i32; 9] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGTSTP,
    libc::SIGCONT,
];

/// Sent by the kernel: by a key on the terminal, for instance.
const SI_KERNEL: i32 = 0x80;

/// The launcher, from its command line to its exit code.
pub fn main(words: impl IntoIterator<Item = OsString>) -> i32 {
    let options = match options::parse(words) {
        Ok(Asked::Run(options)) => *options,
        Ok(Asked::Help) => return print(HELP),
        Ok(Asked::Version) => {
            return print(concat!("cellrun (cellweave) ", env!("CARGO_PKG_VERSION"), "\n"));
        }
        Err(text) => return refuse(2, &format!("{text}\nTry cellrun --help.")),
    };
    let prepared = match prepare(options) {
        Ok(prepared) => prepared,
        Err((code, text)) => return refuse(code, &text),
    };
    run(prepared)
}

fn print(text: &str) -> i32 {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => 0,
        Err(_) => 1,
    }
}

fn refuse(code: i32, text: &str) -> i32 {
    // A failed write cannot be reported anywhere.
    let _ = std::io::stderr().write_all(format!("cellrun: {text}\n").as_bytes());
    code
}

/// All checks that can fail before a process is started.
fn prepare(mut options: LaunchOptions) -> Result<Prepared, (i32, String)> {
    let here = std::env::current_dir().map_err(|error| (2, format!("the current folder: {error}")))?;
    let ranks = options.ranks();
    if options.timeout_s.is_none() {
        options.timeout_s = std::env::var_os("MPIEXEC_TIMEOUT")
            .map(|word| options::seconds("MPIEXEC_TIMEOUT", &word))
            .transpose()
            .map_err(|text| (2, text))?;
    }
    let mut programs: Vec<ProgramToStart> = Vec::new();
    for asked in &options.programs {
        let directory: PathBuf = here.join(asked.directory.as_deref().unwrap_or(&here));
        if !directory.is_dir() {
            return Err((2, format!("-wdir {}: there is no such folder", directory.display())));
        }
        let set =
            asked.environment.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let path = set.or_else(|| std::env::var_os("PATH")).unwrap_or_else(|| "/usr/bin:/bin".into());
        let file =
            spawn::find(&asked.words[0], &directory, &path).map_err(|found| (found.code, found.text))?;
        if let Some(text) = foreign::built_for_another(&file) {
            return Err((2, text));
        }
        let mut asked = asked.clone();
        asked.environment.extend(library::variables(&asked.environment));
        programs.push(ProgramToStart { asked, file, directory });
    }
    let Places { cpus, spes, available, turnover_bytes, shared_cache_bytes, held } =
        placing::places(&options).map_err(|text| (2, text))?;
    if options.traffic.is_some() && cpus.is_none() && ranks > 1 {
        refuse(0, "--traffic has no effect: there are too few cores, so the kernel places the ranks");
    }
    let created = match (&options.on, options.profile.is_some()) {
        (Some(_), counted) => Segment::create_carried(ranks, counted),
        (None, true) => Segment::create_counted(ranks, available),
        (None, false) => Segment::create(ranks, available),
    };
    let (memory, segment) = created.map_err(|error| (1, no_memory(ranks, &error)))?;
    segment.set_turnover_bytes(turnover_bytes);
    segment.set_shared_cache_bytes(shared_cache_bytes);
    if options.stuck_after_s.is_some() || options.on.is_some() {
        segment.header().hooks.fetch_or(hook::STUCK, Ordering::Relaxed);
    }
    if let Some(machine) = &options.on {
        let spe_of = |rank: usize| spes.as_ref().map_or(rank, |spes| spes[rank]);
        let second = (0..ranks).filter(|&rank| machine.physical(spe_of(rank)).0 == 1);
        let second = second.fold(0, |mask, rank| mask | 1 << rank);
        if options.local_data {
            segment.header().data_room.store(ranks::room_for_data(ranks), Ordering::Relaxed);
        }
        segment.header().second_chip.store(second, Ordering::Relaxed);
        segment.header().hooks.fetch_or(hook::COMPUTED, Ordering::Relaxed);
    }
    if let Some(file) = &options.trace {
        profile::check(&here.join(file)).map_err(|text| (2, format!("--trace {text}")))?;
    }
    if let ComputeOptions::Measured { file, .. } = &options.compute {
        profile::check(&here.join(file)).map_err(|text| (2, format!("--compute measured:{text}")))?;
    }
    // A record that cannot be replayed is refused before anything runs.
    Computing::new(&options.compute, ranks).map_err(|text| (2, text))?;
    if let Some(file) = &options.profile {
        profile::check(&here.join(file)).map_err(|text| (2, format!("--profile {text}")))?;
    }
    segment.header().identity.store(random(), Ordering::Relaxed);
    Ok(Prepared { options, programs, cpus, spes, held, memory, segment })
}

fn no_memory(ranks: usize, error: &std::io::Error) -> String {
    let bytes = Segment::bytes_for(ranks);
    let mib = bytes.div_ceil(1 << 20);
    match error.raw_os_error() {
        Some(libc::EFBIG) => format!(
            "the limit on file sizes (ulimit -f) is less than the {mib} MiB of addresses that {ranks} ranks share (a \
             file in \
             memory, of which only what is used takes room); raise it: ulimit -f unlimited"
        ),
        Some(libc::ENOMEM) => format!(
            "no addresses for the {mib} MiB that {ranks} ranks share (only what is used takes memory); the limit is \
             set by \
             ulimit -v"
        ),
        _ => format!("no memory to share for {ranks} ranks: {error}"),
    }
}

fn random() -> u64 {
    let mut bytes = [0u8; 8];
    // SAFETY: a place of that length.
    unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    u64::from_ne_bytes(bytes)
}

/// What `nohup` and its like told this process to ignore is not passed on.
fn ignored(signal: i32) -> bool {
    // SAFETY: asks only.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

fn run(prepared: Prepared) -> i32 {
    adopt_orphans();
    let passed_on: Vec<i32> = PASSED_ON.into_iter().filter(|&signal| !ignored(signal)).collect();
    let awaited = processes::signals(passed_on.iter().copied().chain([libc::SIGCHLD]));
    // SAFETY: valid sets; the mask of before goes to the ranks.
    let mask = unsafe {
        let mut before = std::mem::zeroed();
        libc::sigprocmask(libc::SIG_BLOCK, &awaited, &mut before);
        before
    };
    let Ok((from_front, to_supervisor)) = super::lines::pipe() else {
        return refuse(1, "no pipe: too many files are open");
    };
    // SAFETY: takes nothing.
    let group = unsafe { libc::getpgrp() };
    let terminal = std::io::stdin().is_terminal();
    // SAFETY: this process has one thread.
    match unsafe { libc::fork() } {
        -1 => {
            let error = std::io::Error::last_os_error();
            refuse(1, &format!("no process for the supervisor: {error}"))
        }
        0 => {
            drop(to_supervisor);
            // SAFETY: numbers and a constant name.
            unsafe {
                libc::setpgid(0, 0);
                libc::prctl(libc::PR_SET_NAME, processes::SUPERVISOR.as_ptr());
            }
            let code = match Supervisor::new(prepared, from_front, mask, terminal.then_some(group)) {
                Ok(supervisor) => supervisor.run(),
                Err(error) => refuse(1, &format!("the supervisor can't work: {error}")),
            };
            std::process::exit(code)
        }
        supervisor => {
            drop(from_front);
            let Prepared { memory, held, segment, .. } = prepared;
            drop((memory, held));
            pass_on(supervisor, to_supervisor, &awaited, &segment)
        }
    }
}

/// Passes signals on until the supervisor has ended.
fn pass_on(supervisor: libc::pid_t, pipe: OwnedFd, awaited: &libc::sigset_t, segment: &Segment) -> i32 {
    let mut pipe: File = pipe.into();
    loop {
        // SAFETY: zeroes are a valid place for what came.
        let mut came: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: a valid set and a place.
        let signal = unsafe { libc::sigwaitinfo(awaited, &mut came) };
        match signal {
            libc::SIGCHLD => {
                while let Some(Some((pid, status))) = processes::ended_child() {
                    if pid == supervisor {
                        return ended(status, segment);
                    }
                }
            }
            signal if signal > 0 => {
                let signal = Signal { number: signal, by_terminal: came.si_code == SI_KERNEL };
                // When it has gone, SIGCHLD says so.
                let _ = pipe.write_all(&signal.to_bytes());
                if signal.number == libc::SIGTSTP {
                    // SAFETY: a signal to this process, which goes on with SIGCONT.
                    unsafe { libc::raise(libc::SIGSTOP) };
                }
            }
            _ => {}
        }
    }
}

fn ended(status: processes::Status, segment: &Segment) -> i32 {
    const PATIENCE_NS: u64 = 2_000_000_000;
    if libc::WIFSIGNALED(status) {
        transport::wait::end(segment, None);
        end_descendants(PATIENCE_NS, |_, _| {});
        let signal = processes::signal_name(libc::WTERMSIG(status));
        refuse(0, &format!("the supervisor was killed by {signal}; the ranks were ended"));
    }
    exit_code(status)
}
