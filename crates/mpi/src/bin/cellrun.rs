//! `cellrun`: starts the ranks of an MPI job on this machine.

use mpi::segment::Segment;
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, exit};

fn main() {
    let mut arguments = std::env::args_os().skip(1).peekable();
    let mut ranks = 1;
    while let Some(word) = arguments.next_if(|word| word.to_string_lossy().starts_with('-')) {
        if word == "-n" || word == "-np" {
            ranks = arguments.next().and_then(|n| n.to_string_lossy().parse().ok()).unwrap_or(1);
        }
    }
    let Some(program) = arguments.next() else {
        eprintln!("cellrun: no program; try cellrun -n 4 ./program");
        exit(2)
    };
    let arguments: Vec<_> = arguments.collect();
    let (fd, segment) = Segment::create(ranks, 1).unwrap_or_else(|error| {
        eprintln!("cellrun: no memory for {ranks} ranks: {error}");
        exit(1)
    });
    segment.header().launcher.store(std::process::id(), std::sync::atomic::Ordering::Relaxed);
    // SAFETY: clears the flag that closes the descriptor at exec.
    unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, 0) };
    let children: Vec<_> = (0..ranks)
        .map(|rank| {
            Command::new(&program)
                .args(&arguments)
                .env(mpi::launch::join::VARIABLE, format!("{}:{rank}:{ranks}:", fd.as_raw_fd()))
                .spawn()
                .unwrap_or_else(|error| {
                    eprintln!("cellrun: {}: {error}", program.to_string_lossy());
                    exit(127)
                })
        })
        .collect();
    let mut code = 0;
    for (rank, mut child) in children.into_iter().enumerate() {
        let status = child.wait().expect("a child of ours");
        let this = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        if this != 0 {
            let why = segment.explanation(rank).map_or(format!("ended with {status}"), |(_, text)| text);
            eprintln!("cellrun: rank {rank} {why}");
            code = if code == 0 { this } else { code };
        }
    }
    exit(code)
}
