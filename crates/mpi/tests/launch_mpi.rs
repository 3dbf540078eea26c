//! The launcher with MPI programs: how a process becomes a rank whatever stands between it and the launcher, and how
//! each way to end badly is told.

mod common;
#[path = "../../launch/tests/launch/job.rs"]
mod job;

use common::tree;
use job::{Gave, Job, children, send, state, until};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn cellrun() -> PathBuf {
    tree().join("bin/cellrun")
}

/// The program of `launch/rank.c`.
fn rank() -> &'static str {
    static RANK: OnceLock<String> = OnceLock::new();
    RANK.get_or_init(|| common::compile("launch/rank.c").to_str().expect("a path").to_owned())
}

/// Starts a line in which `rank` stands for the program.
fn start(line: &str) -> Job {
    let line = line.replace("RANK", rank());
    Job::start(&cellrun(), &line, |_| {})
}

fn run(line: &str) -> Gave {
    start(line).end()
}

/// Runs a program without a launcher.
fn alone(arguments: &[&str], prepare: impl FnOnce(&mut Command)) -> Gave {
    let mut command = Command::new(rank());
    prepare(command.args(arguments));
    command.output().expect("the program starts").into()
}

#[test]
fn ranks_know_one_another_and_a_program_alone_is_one() {
    assert_eq!(run("-n 3 RANK hello").sorted(), ["rank 0 of 3", "rank 1 of 3", "rank 2 of 3"]);
    assert_eq!(alone(&["hello"], |_| {}).out, "rank 0 of 1\n");
}

#[test]
fn a_bad_end_is_told_in_one_line_with_rank_and_reason() {
    for (line, code, text) in [
        ("-n 3 RANK abort 7", 7, "rank 2 (process PID) called MPI_Abort with code 7"),
        ("-n 3 RANK abort 0", 1, "rank 2 (process PID) called MPI_Abort with code 0"),
        ("-n 3 RANK abort 300", 44, "rank 2 (process PID) called MPI_Abort with code 300"),
        ("-n 3 RANK die 9", 137, "rank 2 (process PID) was killed by SIGKILL"),
        ("-n 3 RANK leave 0", 1, "rank 2 (process PID) ended without MPI_Finalize"),
        ("-n 3 RANK leave 5", 5, "rank 2 (process PID) exited with code 5 without MPI_Finalize"),
        // The others compute and notice nothing.
        ("-n 3 RANK compute 0", 1, "rank 2 (process PID) ended without MPI_Finalize"),
        // After MPI_Finalize the others may go on.
        ("-n 3 RANK code 1", 3, "rank 1 (process PID) exited with code 3"),
    ] {
        let gave = run(line);
        let line_of = |err: &str| -> String {
            let (before, rest) = err.split_once("(process ").unwrap_or((err, ""));
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            if rest.is_empty() { before.into() } else { format!("{before}(process PID{rest}") }
        };
        assert_eq!((gave.code, line_of(&gave.err)), (code, format!("cellrun: {text}\n")), "{line}");
    }
}

#[test]
fn a_rank_that_is_killed_while_others_copy_from_it_is_the_one_that_is_named() {
    for (what, bytes) in [("exchange", 100_000_000), ("exchange", 8), ("reduce", 8_000_000), ("reduce", 8)] {
        for number in [0, 1] {
            let job = start(&format!("-n 2 RANK {what} {bytes}"));
            job.until_running("rank", 2);
            let claimed = |pid: &i32| {
                let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
                maps.contains("memfd:cellweave")
            };
            until("both ranks have started MPI", || {
                children(job.supervisor()).iter().filter(|pid| claimed(pid)).count() == 2
            });
            // Into the middle of it.
            host::clock::sleep_ns(200_000_000);
            let pid = children(job.supervisor())[number];
            send(pid, libc::SIGKILL);
            let gave = job.end();
            let line = format!("cellrun: rank {number} (process {pid}) was killed by SIGKILL\n");
            assert_eq!((gave.code, gave.err), (137, line), "{what} {bytes}");
        }
    }
}

#[test]
fn calls_at_the_wrong_time_are_told() {
    for (what, text) in [
        ("twice", "MPI_Init: called a second time"),
        ("before", "MPI_Comm_rank: called before MPI_Init"),
        ("after", "MPI_Comm_rank: called after MPI_Finalize"),
    ] {
        let gave = run(&format!("-n 2 RANK {what}"));
        assert!(gave.code != 0 && gave.err.contains(text), "{what}: {gave:?}");
    }
}

#[test]
fn a_forked_child_is_told_that_it_is_no_rank_and_its_parent_goes_on() {
    let gave = run("-n 2 RANK fork");
    assert_eq!(gave.code, 0, "{gave:?}");
    assert_eq!(gave.sorted(), ["rank 0: child ended with 16", "rank 1: child ended with 16"]);
    assert_eq!(gave.err.matches("MPI was called in a process that a rank forked").count(), 2, "{gave:?}");
}

#[test]
fn a_program_that_a_rank_starts_is_a_job_of_its_own() {
    assert_eq!(run("-n 2 RANK nested").sorted(), ["rank 0 of 1", "rank 0 of 1"]);
    let gave = run("-n 2 bash -c RANK~hello;RANK~hello");
    assert_eq!(gave.sorted(), ["rank 0 of 1", "rank 0 of 1", "rank 0 of 2", "rank 1 of 2"]);
    assert_eq!(gave.err.matches("which has finished; this program runs alone").count(), 2, "{gave:?}");
}

#[test]
fn ranks_find_their_job_through_wrappers() {
    let two = ["rank 0 of 2", "rank 1 of 2"];
    for line in [
        "-n 2 bash -c RANK~hello",
        "-n 2 bash -c RANK~hello;true",
        // A shell that closes what it doesn't know; Python's subprocess, which closes everything; a process that
        // leaves.
        "-n 2 bash -c exec~200>&-;RANK~hello",
        "-n 2 bash -c exec~200</dev/null;RANK~hello;true",
        "-n 2 python3 -c import~subprocess;subprocess.run(['RANK','hello'])",
        "-n 2 setsid RANK hello",
    ] {
        let gave = run(line);
        assert_eq!((gave.code, gave.sorted(), gave.err.as_str()), (0, two.to_vec(), ""), "{line}");
    }
}

#[test]
fn a_wrapper_does_not_hide_how_its_rank_ended() {
    let gave = run("-n 2 bash -c RANK~leave~0;sleep~1000");
    assert!(
        gave.code == 1 && gave.err.contains("rank 1") && gave.err.contains("without MPI_Finalize"),
        "{gave:?}"
    );
    let gave = run("-n 2 bash -c RANK~abort~9;sleep~1000");
    assert!(
        gave.code == 9 && gave.err.contains("rank 1") && gave.err.contains("called MPI_Abort with code 9"),
        "{gave:?}"
    );
    let gave = run("-n 2 bash -c RANK~die~11;exit~$?");
    assert_eq!(gave.code, 128 + libc::SIGSEGV, "{gave:?}");
    assert!(
        gave.err.contains("exited with code 139 (a shell's word for SIGSEGV) without MPI_Finalize"),
        "{gave:?}"
    );
}

/// Ranks that compute, below a shell, with the shell's other children.
const WRAPPED: &str = "-n 2 bash -c RANK~spin~&~sleep~1000";

#[test]
fn nothing_is_left_whoever_is_killed() {
    type Whom = fn(&Job) -> Vec<i32>;
    let whom: [(&str, Whom); 4] = [
        ("launcher", |job| vec![job.child.id() as i32]),
        ("supervisor", |job| vec![job.supervisor()]),
        ("wrapper", |job| vec![children(job.supervisor())[0]]),
        ("rank", |job| children(children(job.supervisor())[0])),
    ];
    for (name, whom) in whom {
        let job = start(WRAPPED);
        job.until_claimed(2);
        for pid in whom(&job) {
            send(pid, libc::SIGKILL);
        }
        assert_ne!(job.end().code, 0, "{name}");
    }
}

#[test]
fn ranks_die_with_launcher_and_supervisor_even_while_they_compute() {
    let job = start("-n 2 bash -c RANK~spin;true");
    let supervisor = job.supervisor();
    job.until_claimed(2);
    send(job.child.id() as i32, libc::SIGSTOP);
    send(supervisor, libc::SIGKILL);
    send(job.child.id() as i32, libc::SIGKILL);
    assert_eq!(job.end().code, -libc::SIGKILL);
}

/// Whether a process is a rank that has a handler for a signal. A shell that has forked and has not yet started the
/// rank has a handler of its own.
fn catches(pid: i32, signal: i32) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    if !text.starts_with("Name:\trank\n") {
        return false;
    }
    let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim().to_owned();
    u64::from_str_radix(&mask, 16).unwrap_or(0) >> (signal - 1) & 1 == 1
}

#[test]
fn a_rank_whose_word_comes_with_the_end_of_its_wrapper_goes_on() {
    let job = start("-n 2 bash -c sleep~0.2;RANK~signal~10~&~sleep~0.2");
    let supervisor = job.supervisor();
    until("both wrappers run", || children(supervisor).len() == 2);
    send(supervisor, libc::SIGSTOP);
    let wrappers = children(supervisor);
    let ranks = || job.processes().into_iter().filter(|&pid| catches(pid, libc::SIGUSR1)).collect::<Vec<_>>();
    until("the ranks run and their wrappers have ended", || {
        ranks().len() == 2 && wrappers.iter().all(|&pid| state(pid) == 'Z')
    });
    send(supervisor, libc::SIGCONT);
    ranks().into_iter().for_each(|pid| send(pid, libc::SIGUSR1));
    let gave = job.end();
    assert_eq!((gave.code, gave.err.as_str()), (0, ""), "{gave:?}");
}

#[test]
fn a_rank_whose_wrapper_leaves_at_once_goes_on_and_its_bad_end_is_told() {
    // Longer than what a rank leaves behind may go on, before and after MPI_Init.
    let gave = run("-n 2 setsid sh -c sleep~0.25;RANK~hello");
    assert_eq!((gave.code, gave.sorted(), gave.err.as_str()), (0, vec!["rank 0 of 2", "rank 1 of 2"], ""));
    let job = start("-n 2 setsid RANK signal 10");
    let ranks = || job.processes().into_iter().filter(|&pid| catches(pid, libc::SIGUSR1)).collect::<Vec<_>>();
    until("the ranks run", || ranks().len() == 2);
    host::clock::sleep_ns(600_000_000);
    ranks().into_iter().for_each(|pid| send(pid, libc::SIGUSR1));
    let gave = job.end();
    let lines = ["rank 0 got 10, 1 times", "rank 1 got 10, 1 times", "ready"];
    assert_eq!((gave.code, gave.sorted(), gave.err.as_str()), (0, lines.to_vec(), ""));
    let gave = run("-n 2 setsid RANK die 11");
    assert_eq!(gave.code, 139, "{gave:?}");
    assert!(gave.err.starts_with("cellrun: rank 1 (process ") && gave.err.contains("SIGSEGV"), "{gave:?}");
}

#[test]
fn signals_reach_the_handlers_of_ranks_once() {
    // The second with a shell in between, in the same process group, which ignores the signal.
    for line in ["-n 2 RANK signal 10", "-n 2 bash -c trap~:~USR1;RANK~signal~10;true"] {
        let job = start(line);
        until("all ranks would handle the signal", || {
            let ranks: Vec<i32> = children(job.supervisor())
                .into_iter()
                .flat_map(|pid| if line.contains("bash") { children(pid) } else { vec![pid] })
                .collect();
            ranks.len() == 2 && ranks.iter().all(|&pid| catches(pid, libc::SIGUSR1))
        });
        send(job.child.id() as i32, libc::SIGUSR1);
        let gave = job.end();
        assert_eq!(
            (gave.code, gave.sorted()),
            (0, vec!["rank 0 got 10, 1 times", "rank 1 got 10, 1 times", "ready"]),
            "{line}"
        );
    }
}

#[test]
fn what_a_rank_leaves_behind_ends_with_the_job() {
    assert_eq!(run("-n 2 RANK orphan").code, 0);
}

#[test]
fn requests_that_nobody_waited_for_are_named_at_the_end() {
    let gave = run("-n 2 RANK leak");
    let line = |rank| {
        format!(
            "cellweave: rank {rank}: MPI_Finalize: never completed nor freed: 2 sends or receives, 1 persistent request"
        )
    };
    let mut lines: Vec<&str> = gave.err.lines().collect();
    lines.sort_unstable();
    assert_eq!((gave.code, lines), (0, vec![line(0).as_str(), line(1).as_str()]));
}

#[test]
fn messages_whose_requests_were_freed_arrive() {
    for bytes in [1, 1000, 100_000, 1_000_000] {
        for ranks in [1, 2] {
            let gave = run(&format!("-n {ranks} RANK freed {bytes}"));
            assert_eq!((gave.code, gave.out.as_str(), gave.err.as_str()), (0, "1 1\n", ""), "{bytes} bytes");
        }
    }
}

#[test]
fn another_launchers_ranks_are_told_whom_to_start_with() {
    for (name, launcher) in [("OMPI_COMM_WORLD_SIZE", "Open MPI"), ("PMI_SIZE", "MPICH")] {
        let gave = alone(&["hello"], |command| {
            command.env(name, "4");
        });
        assert_ne!(gave.code, 0);
        assert!(gave.err.contains(launcher) && gave.err.contains("cellrun -n 4"), "{gave:?}");
        // Under our own launcher it says nothing of this job.
        assert_eq!(run(&format!("-n 2 -env {name} 4 RANK hello")).code, 0);
    }
}

#[test]
fn small_limits_are_no_obstacle_or_told() {
    let limited =
        |script: String| -> Gave { Command::new("bash").args(["-c", &script]).output().unwrap().into() };
    let rank = rank();
    assert_eq!(limited(format!("ulimit -f 1; {rank} hello")).out, "rank 0 of 1\n");
    let line = format!("-n 64 bash -c 'ulimit -v 50000; exec {rank} hello'");
    let gave = limited(format!("{} {line}", cellrun().display()));
    assert!(gave.code != 0 && gave.err.contains("ulimit -v"), "{gave:?}");
}

#[test]
fn no_file_is_left_in_shared_memory() {
    let files = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(Path::new("/dev/shm")).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.path())
            .filter(|path| path.to_string_lossy().contains("cellweave"))
            .collect()
    };
    assert_eq!(run("-n 3 RANK hello").code, 0);
    assert_eq!(run("-n 3 RANK die 9").code, 137);
    assert!(files().is_empty(), "{:?}", files());
}

#[test]
fn ranks_run_under_debuggers_that_are_there() {
    let there =
        |tool: &str| Command::new(tool).arg("--version").output().is_ok_and(|done| done.status.success());
    let two = ["rank 0 of 2", "rank 1 of 2"];
    if there("valgrind") {
        let gave = run("-n 2 valgrind -q --error-exitcode=9 RANK hello");
        assert_eq!((gave.code, gave.sorted()), (0, two.to_vec()), "{gave:?}");
    }
    if there("gdb") {
        let gave = run("-n 2 gdb -q -batch -ex run --args RANK hello");
        let ranks: Vec<&str> = gave.sorted().into_iter().filter(|line| line.starts_with("rank ")).collect();
        assert_eq!(ranks, two, "{gave:?}");
    }
}

#[test]
fn the_jobs_memory_is_given_to_its_own_user_only() {
    // SAFETY: takes nothing.
    if unsafe { libc::geteuid() } != 0 {
        // Only root can be somebody else.
        return;
    }
    // Where another user reaches the program and its library.
    let folder = std::env::temp_dir().join(format!("cellweave-test-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    for file in [rank(), tree().join("lib/libmpi_abi.so.1").to_str().unwrap()] {
        std::fs::copy(file, folder.join(Path::new(file).file_name().unwrap())).unwrap();
    }
    let wrapped = |wrapper: &str| {
        let program = folder.join("rank");
        let line = format!(
            "-n 2 -x LD_LIBRARY_PATH={} setpriv --reuid 65534 --clear-groups {wrapper}{}~hello",
            folder.display(),
            program.display()
        );
        run(&line)
    };
    let (lost, inherited) = (wrapped("bash -c exec~200>&-;"), wrapped("bash -c "));
    std::fs::remove_dir_all(&folder).unwrap();
    assert_ne!(lost.code, 0);
    assert!(lost.err.contains("to processes of its own user only"), "{lost:?}");
    assert_eq!(inherited.sorted(), ["rank 0 of 2", "rank 1 of 2"], "{inherited:?}");
}
