//! Jobs under test: started with a mark in their environment, by which everything that is left of them is found.
#![allow(dead_code, reason = "each test uses its part")]

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;

/// A job that hangs is given up after so many looks, 10 ms apart.
const LOOKS: u32 = 3000;

/// A running `cellrun`.
pub(crate) struct Job {
    mark: String,
    /// The front.
    pub(crate) child: Child,
}

/// What a job gave.
#[derive(Debug)]
pub(crate) struct Gave {
    /// Exit code, or minus the signal.
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Gave {
    fn from(output: Output) -> Self {
        use std::os::unix::process::ExitStatusExt;
        let status = output.status;
        Self {
            code: status.code().unwrap_or_else(|| -status.signal().unwrap_or(0)),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Gave {
    /// The lines of the standard output in order of their text: ranks come as they like.
    pub(crate) fn sorted(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.out.lines().collect();
        lines.sort_unstable();
        lines
    }
}

/// Looks until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..LOOKS {
        if holds() {
            return;
        }
        host::clock::sleep_ns(10_000_000);
    }
    panic!("never: {what}");
}

impl Job {
    /// Starts a launcher with words of its command line, separated by blanks; `~` in a word stands for a blank.
    pub(crate) fn start(cellrun: &Path, line: &str, prepare: impl FnOnce(&mut Command)) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mark = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new(cellrun);
        command
            .args(line.split_whitespace().map(|word| word.replace('~', " ")))
            .env("CELLWEAVE_TEST_MARK", &mark)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Who runs the tests may ignore signals (nohup does), and what is ignored is inherited, by shells for good.
        // SAFETY: `signal` may be called between fork and exec.
        unsafe {
            command.pre_exec(|| {
                for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGQUIT] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                Ok(())
            });
        }
        prepare(&mut command);
        Self { mark, child: command.spawn().expect("cellrun starts") }
    }

    /// Waits for its end, and checks that nothing is left of it.
    pub(crate) fn end(mut self) -> Gave {
        let (stdout, stderr) = (all_of(self.child.stdout.take()), all_of(self.child.stderr.take()));
        let mut status = None;
        until("the launcher ends", || {
            status = self.child.try_wait().expect("our child");
            status.is_some()
        });
        until("nothing is left of the job", || self.processes().is_empty());
        let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().expect("no panic"));
        Output { status: status.expect("ended"), stdout, stderr }.into()
    }

    /// All processes that bear its mark: launcher, supervisor, ranks, and what they started.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let mark = format!("CELLWEAVE_TEST_MARK={}\0", self.mark);
        let numbers = std::fs::read_dir("/proc").expect("/proc").flatten();
        numbers
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| {
                std::fs::read(format!("/proc/{pid}/environ"))
                    .is_ok_and(|all| all.windows(mark.len()).any(|part| part == mark.as_bytes()))
            })
            .collect()
    }

    /// The supervisor.
    pub(crate) fn supervisor(&self) -> i32 {
        let mut found = None;
        until("there is a supervisor", || {
            found = children(self.child.id() as i32).first().copied();
            found.is_some()
        });
        found.expect("just found")
    }

    /// Waits until so many ranks that are not the supervisor's children have said who they are.
    pub(crate) fn until_claimed(&self, ranks: usize) {
        let supervisor = self.supervisor();
        until(&format!("{ranks} ranks are known"), || {
            let open = std::fs::read_dir(format!("/proc/{supervisor}/fd")).into_iter().flatten().flatten();
            let links = open.filter_map(|fd| std::fs::read_link(fd.path()).ok());
            links.filter(|link| link.starts_with("anon_inode:[pidfd]")).count() == ranks
        });
    }

    /// Waits until so many processes of ranks and below them run something of this name.
    pub(crate) fn until_running(&self, name: &str, count: usize) {
        until(&format!("{count} processes run {name}"), || {
            let named = |pid: &i32| {
                std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == name)
            };
            self.processes().iter().filter(|pid| named(pid)).count() >= count
        });
    }
}

/// Reads a stream to its end, beside the test.
fn all_of(stream: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            stream.read_to_end(&mut bytes).expect("a pipe");
        }
        bytes
    })
}

/// Children of a process's main thread.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

/// The state of a process, as `ps` says it: `S`, `T`, ...
pub(crate) fn state(pid: i32) -> char {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    text.rsplit_once(')').and_then(|(_, rest)| rest.trim().chars().next()).unwrap_or('X')
}

/// Sends a signal.
pub(crate) fn send(pid: i32, signal: i32) {
    // SAFETY: numbers.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0, "no process {pid}");
}
