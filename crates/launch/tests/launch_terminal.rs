//! The launcher on a terminal: what a person types reaches rank 0, keys reach every rank, and questions come before
//! answers.

#[path = "launch/job.rs"]
mod job;

use job::{Job, until};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;

/// A job, and the person's side of its terminal.
struct Session {
    job: Job,
    terminal: File,
    seen: String,
}

impl Session {
    fn start(line: &str) -> Self {
        let (mut person, mut program) = (0, 0);
        // SAFETY: two places; no name, no settings.
        let opened = unsafe {
            libc::openpty(&mut person, &mut program, std::ptr::null_mut(), std::ptr::null(), std::ptr::null())
        };
        assert_eq!(opened, 0);
        // SAFETY: just opened, owned by nobody else.
        let (terminal, program) = unsafe { (File::from_raw_fd(person), OwnedFd::from_raw_fd(program)) };
        let job = Job::start(Path::new(env!("CARGO_BIN_EXE_cellrun")), line, |command| {
            let stream = || program.try_clone().expect("a descriptor");
            command.stdin(stream()).stdout(stream()).stderr(stream());
            // SAFETY: system calls only: a session of its own, whose terminal this is.
            unsafe {
                command.pre_exec(|| {
                    libc::setsid();
                    libc::ioctl(0, libc::TIOCSCTTY, 0);
                    Ok(())
                });
            }
        });
        // SAFETY: flags of our own descriptor.
        unsafe { libc::fcntl(person, libc::F_SETFL, libc::O_NONBLOCK) };
        Self { job, terminal, seen: String::new() }
    }

    /// Waits until the terminal has shown something.
    fn until_shown(&mut self, text: &str) {
        let Self { terminal, seen, .. } = self;
        until(&format!("the terminal shows {text:?}"), || {
            let mut piece = [0; 1000];
            while let Ok(bytes @ 1..) = terminal.read(&mut piece) {
                seen.push_str(&String::from_utf8_lossy(&piece[..bytes]));
            }
            seen.contains(text)
        });
    }

    fn type_in(&mut self, keys: &[u8]) {
        self.terminal.write_all(keys).expect("a terminal");
    }
}

#[test]
fn a_question_comes_before_its_answer() {
    let mut session = Session::start(
        "-n 2 sh -c test~$CELLWEAVE_MPI_RANK~=~1||{~printf~'name?~';read~name;echo~hello~$name;}",
    );
    session.until_shown("name? ");
    session.type_in(b"Ada\n");
    session.until_shown("hello Ada");
    assert_eq!(session.job.end().code, 0);
}

#[test]
fn the_end_key_ends_the_input_of_rank_0() {
    let mut session = Session::start("-n 3 cat");
    session.type_in(b"one\n");
    session.until_shown("one\r\none");
    session.type_in(b"\x04");
    assert_eq!(session.job.end().code, 0);
}

#[test]
fn the_interrupt_key_reaches_each_rank_once() {
    let script = "trap~'got=$((got+1));echo~rank~$CELLWEAVE_MPI_RANK~got~$got'~INT;echo~ready~$CELLWEAVE_MPI_RANK;\
                  while~test~-z~\"$got\";do~sleep~0.02;done;sleep~0.2;echo~end~$CELLWEAVE_MPI_RANK~$got";
    let mut session = Session::start(&format!("-n 2 sh -c {script}"));
    session.until_shown("ready 0");
    session.until_shown("ready 1");
    session.type_in(b"\x03");
    session.until_shown("end 0 1");
    session.until_shown("end 1 1");
    assert_eq!(session.job.end().code, 0);
}

#[test]
fn the_interrupt_key_ends_a_job_that_does_not_mind_it() {
    let mut session = Session::start("-n 2 sleep 1000");
    session.job.until_running("sleep", 2);
    session.type_in(b"\x03");
    session.until_shown("was killed by SIGINT");
    assert_eq!(session.job.end().code, 128 + libc::SIGINT);
}

#[test]
fn a_rank_alone_has_the_terminal_itself() {
    let mut session = Session::start("-n 1 sh -c test~-t~0~&&~test~-t~1~&&~test~-t~2~&&~echo~yes");
    session.until_shown("yes");
    assert_eq!(session.job.end().code, 0);
}
