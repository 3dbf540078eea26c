//! Starting the ranks' processes.

use super::Supervisor;
use super::ends::Process;
use crate::join::VARIABLE;
use crate::lines::{self, Source};
use crate::offer;
use crate::poll::READABLE;
use crate::spawn::{self, Start, text};
use host::Affinity;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering;

/// The lowest descriptor number for the job's memory in ranks: scripts and shells use the low ones.
const MEMORY_FD: RawFd = 200;

impl Supervisor {
    pub(super) fn start(&mut self) {
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
        let (lifeline, held) = match lines::pipe() {
            Ok(ends) => ends,
            Err(error) => return self.cannot_start("the ranks' lifeline", &error),
        };
        self.lifeline = Some(held);
        let lifeline_name =
            CString::new(format!("/proc/self/fd/{}", lifeline.as_raw_fd())).unwrap_or_default();
        if self.job.options.map {
            self.tell_map();
        }
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
                let reads = self.job.options.reader.rank() == Some(rank);
                let stdin = if reads { 0 } else { nothing.as_raw_fd() };
                let streams = match &pipes {
                    Some([(_, out), (_, error)]) => [stdin, out.as_raw_fd(), error.as_raw_fd()],
                    None => [stdin, 1, 2],
                };
                let cpus = self.job.cpus.as_ref().map(|cpus| Affinity::of_cpus(cpus[rank].iter().copied()));
                let arguments: Vec<CString> = program.asked.words.iter().map(|word| text(word)).collect();
                let start = Start {
                    file: &text(program.file.as_os_str()),
                    arguments: &arguments,
                    environment: &spawn::environment(&changes),
                    directory: &text(program.directory.as_os_str()),
                    streams,
                    kept: memory.as_raw_fd(),
                    lifeline: &lifeline_name,
                    // A process that reads the terminal must be in its foreground.
                    group: self.terminal_group.filter(|_| reads).unwrap_or(0),
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

    /// Says on which cpu each rank starts.
    fn tell_map(&mut self) {
        let programs =
            self.job.programs.iter().flat_map(|program| {
                std::iter::repeat_n(program.file.display().to_string(), program.asked.ranks)
            });
        let lines: Vec<String> = programs
            .enumerate()
            .map(|(rank, file)| match self.job.cpus.as_ref().map(|cpus| &cpus[rank]) {
                Some(cpus) => format!("rank {rank} on cpu {}: {file}", shown(cpus)),
                None => format!("rank {rank} where the kernel puts it: {file}"),
            })
            .collect();
        for line in lines {
            self.say(&line);
        }
    }

    pub(super) fn cannot_start(&mut self, what: &str, error: &io::Error) {
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
}

/// Cpus as one writes them: 0,4.
fn shown(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
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

/// Raises the limit on descriptors as far as allowed; gives the old limit.
pub(super) fn raise_descriptors() -> libc::rlimit {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: valid places.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        let raised = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
        libc::setrlimit(libc::RLIMIT_NOFILE, &raised);
    }
    limit
}
