//! The launcher with programs that know nothing of MPI: what ranks read and write, how jobs end, and that nothing is
//! left.

#[path = "launch/job.rs"]
mod job;

use job::{Gave, Job, children, send, state, until};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn cellrun() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_cellrun"))
}

fn start(line: &str) -> Job {
    Job::start(cellrun(), line, |_| {})
}

fn run(line: &str) -> Gave {
    start(line).end()
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()))
}

#[test]
fn lines_of_ranks_are_never_torn() {
    let gave = run("-n 4 sh -c for~i~in~$(seq~500);do~printf~'rank~';printf~'says~%s\\n'~$i;done");
    assert_eq!((gave.code, gave.err.as_str()), (0, ""));
    assert_eq!(gave.out.lines().count(), 2000);
    assert!(gave.out.lines().all(|line| line.starts_with("rank says ")), "{}", gave.out);
}

#[test]
fn tags_name_the_rank_of_every_line() {
    let gave = run("--tag-output -n 3 sh -c echo~a;echo;printf~b");
    let mut expected: Vec<String> =
        (0..3).flat_map(|rank| ["a", "", "b"].map(|line| format!("[{rank}] {line}"))).collect();
    expected.sort();
    assert_eq!(gave.sorted(), expected);
}

#[test]
fn what_rank_0_reads_and_writes_is_the_launchers_own_byte_by_byte() {
    let bytes: Vec<u8> = (0..5_000_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let mut job = Job::start(cellrun(), "-n 3 cat", |command| {
        command.stdin(Stdio::piped());
    });
    let mut stdin = job.child.stdin.take().unwrap();
    let sent = bytes.clone();
    let writer = std::thread::spawn(move || stdin.write_all(&sent).unwrap());
    let mut out = Vec::new();
    job.child.stdout.take().unwrap().read_to_end(&mut out).unwrap();
    writer.join().unwrap();
    assert!(out == bytes, "{} bytes of {}", out.len(), bytes.len());
    assert_eq!(job.end().code, 0);
}

#[test]
fn what_rank_0_does_not_read_stays_with_the_writer() {
    let mut job = Job::start(cellrun(), "-n 2 sh -c head~-c~3;sleep~100", |command| {
        command.stdin(Stdio::piped());
    });
    let mut stdin = job.child.stdin.take().unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&stdin);
    // SAFETY: flags of our own pipe end.
    unsafe { libc::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK) };
    let mut taken = 0;
    let full = loop {
        match stdin.write(&[b'x'; 4096]) {
            Ok(bytes) => taken += bytes,
            Err(error) => break error.kind(),
        }
        assert!(taken < 1 << 24, "somebody swallows it all");
    };
    assert_eq!(full, std::io::ErrorKind::WouldBlock);
    job.until_running("sleep", 2);
    send(job.child.id() as i32, libc::SIGTERM);
    assert_eq!(job.end().code, 128 + libc::SIGTERM);
}

/// Runs a shell's script in which `cellrun` stands for the launcher.
fn shell(script: &str) -> Gave {
    let script = script.replace("cellrun", cellrun().to_str().unwrap());
    Command::new("sh").args(["-c", &script]).output().unwrap().into()
}

#[test]
fn another_rank_or_nobody_may_read_the_input() {
    let read = |words: &str| shell(&format!("echo word | cellrun --tag-output --stdin {words} -n 3 cat")).out;
    assert_eq!((read("2"), read("none")), ("[2] word\n".into(), String::new()));
}

#[test]
fn the_map_tells_where_each_rank_starts() {
    let gave = shell("cellrun --display-map --place none -n 2 true : -n 1 echo");
    let lines: Vec<&str> = gave.err.lines().collect();
    let told = |at: usize, program: &str| {
        lines[at].starts_with(&format!("cellrun: rank {at} where the kernel puts it: /"))
            && lines[at].ends_with(program)
    };
    assert!(lines.len() == 3 && told(0, "/true") && told(1, "/true") && told(2, "/echo"), "{lines:?}");
}

#[test]
fn a_job_may_lie_in_a_file() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("configfile");
    std::fs::write(&file, "-n 2 echo \"a  b\"\n-n 1 echo c\n").unwrap();
    let gave = shell(&format!("cellrun -configfile {}", file.display()));
    assert_eq!(gave.sorted(), ["a  b", "a  b", "c"], "{gave:?}");
}

#[test]
fn options_of_other_launchers_are_taken_and_the_help_names_them() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("appfile");
    std::fs::write(&file, "-n 2 echo word\n").unwrap();
    for options in [
        "-H localhost -n 2 echo word",
        "-host localhost:4 -np 2 echo word",
        "-genvlist PATH,HOME -n 2 echo word",
        "-genvall -ppn 2 -n 2 echo word",
        &format!("--app {}", file.display()),
        "--stdin none --oversubscribe --allow-run-as-root --mca btl self -n 2 echo word",
    ] {
        let gave = shell(&format!("cellrun {options}"));
        assert_eq!((gave.code, gave.out.as_str()), (0, "word\nword\n"), "{options}: {}", gave.err);
    }
    let help = shell("cellrun --help").out;
    for option in [
        "-H,",
        "-host,",
        "-genvlist",
        "-genvall",
        "-ppn",
        "--app",
        "-configfile",
        "--stdin",
        "--display-map",
        "--oversubscribe",
        "--allow-run-as-root",
        "--mca",
    ] {
        assert!(help.contains(option), "{option}");
    }
    let elsewhere = shell("cellrun -H another-machine -n 2 echo word");
    assert!(elsewhere.code != 0 && elsewhere.err.contains("another-machine"), "{}", elsewhere.err);
}

#[test]
fn closed_and_full_streams_are_survived_or_told() {
    assert_eq!(shell("cellrun -n 2 cat <&-").code, 0);
    assert_eq!(shell("cellrun -n 2 sh -c 'echo out; exec >&- 2>&-; sleep 0.1' | wc -l").out.trim(), "2");
    assert_eq!(shell("cellrun -n 2 sh -c 'echo out; echo err >&2' >&-").err, "err\nerr\n");
    assert_eq!(shell("cellrun -n 2 sh -c 'echo out; echo err >&2' 2>&-").out, "out\nout\n");
    assert_eq!(shell("cellrun -n 2 yes | head -3").out, "y\ny\ny\n");
    let full = shell("cellrun -n 2 echo out > /dev/full");
    assert_eq!(full.code, 1);
    assert!(
        full.err.starts_with("cellrun: the standard output of ranks is lost from here on: No space left"),
        "{full:?}"
    );
}

#[test]
fn the_exit_code_is_that_of_the_first_rank_that_failed() {
    let gave = run("-n 3 sh -c test~$CELLWEAVE_MPI_RANK~=~1~&&~exit~7;sleep~100");
    assert_eq!(gave.code, 7);
    assert!(
        gave.err.starts_with("cellrun: rank 1 (process ") && gave.err.ends_with(") exited with code 7\n"),
        "{gave:?}"
    );
    let gave = run("-n 3 sh -c test~$CELLWEAVE_MPI_RANK~=~2~&&~kill~-SEGV~$$;sleep~100");
    assert_eq!(gave.code, 128 + libc::SIGSEGV);
    assert!(gave.err.contains("rank 2 (process ") && gave.err.contains("was killed by SIGSEGV"), "{gave:?}");
    assert_eq!(gave.err.lines().count(), 1, "{gave:?}");
}

#[test]
fn signals_reach_every_rank_once() {
    for (name, signal) in [
        ("HUP", libc::SIGHUP),
        ("INT", libc::SIGINT),
        ("TERM", libc::SIGTERM),
        ("USR1", libc::SIGUSR1),
        ("USR2", libc::SIGUSR2),
    ] {
        let line = format!(
            "-n 3 sh -c trap~'echo~got;got=$((got+1))'~{name};echo~ready;\
             while~test~-z~\"$got\";do~sleep~0.02;done;sleep~0.1;echo~$got~times"
        );
        let mut job = start(&line);
        let mut out = job.child.stdout.take().unwrap();
        let mut said = String::new();
        while said.matches("ready\n").count() < 3 {
            let mut piece = [0; 100];
            let bytes = out.read(&mut piece).unwrap();
            assert!(bytes > 0, "SIG{name}: {said}");
            said += &String::from_utf8_lossy(&piece[..bytes]);
        }
        send(job.child.id() as i32, signal);
        out.read_to_string(&mut said).unwrap();
        assert_eq!(job.end().code, 0, "SIG{name}: {said}");
        assert_eq!(
            (said.matches("got\n").count(), said.matches("1 times\n").count()),
            (3, 3),
            "SIG{name}: {said}"
        );
    }
}

#[test]
fn a_job_stops_and_goes_on() {
    let job = start("-n 2 sleep 0.3");
    job.until_running("sleep", 2);
    let ranks = children(job.supervisor());
    let front = job.child.id() as i32;
    send(front, libc::SIGTSTP);
    until("launcher and ranks are stopped", || ranks.iter().chain([&front]).all(|&pid| state(pid) == 'T'));
    send(front, libc::SIGCONT);
    let gave = job.end();
    assert_eq!((gave.code, gave.err.as_str()), (0, ""));
}

#[test]
fn the_third_request_to_end_is_a_kill() {
    let mut job = start("-n 2 sh -c trap~''~TERM~INT;echo~ready;while~:;do~sleep~0.1;done");
    let mut out = job.child.stdout.take().unwrap();
    let mut said = [0; 12];
    out.read_exact(&mut said).unwrap();
    for _ in 0..3 {
        send(job.child.id() as i32, libc::SIGTERM);
        host::clock::sleep_ns(50_000_000);
    }
    let gave = job.end();
    assert_eq!(gave.code, 128 + libc::SIGTERM);
    assert!(gave.err.contains("asked to end 3 times"), "{gave:?}");
}

#[test]
fn a_reader_that_does_not_read_keeps_no_job_from_ending() {
    let mut job = start("-n 2 yes");
    let out = job.child.stdout.take().unwrap();
    job.until_running("yes", 2);
    // Everything on the way is full.
    until("the ranks wait", || children(job.supervisor()).iter().all(|&pid| state(pid) == 'S'));
    send(job.child.id() as i32, libc::SIGTERM);
    assert_eq!(job.end().code, 128 + libc::SIGTERM);
    drop(out);
}

/// Ranks with a child in their own group and one in a session of its own, which no signal to a group reaches.
const WITH_GRANDCHILDREN: &str = "-n 2 bash -c sleep~1000~&~setsid~sleep~1000~&~sleep~1000";

#[test]
fn nothing_is_left_when_the_launcher_is_killed() {
    let job = start(WITH_GRANDCHILDREN);
    job.until_running("sleep", 6);
    send(job.child.id() as i32, libc::SIGKILL);
    assert_eq!(job.end().code, -libc::SIGKILL);
}

#[test]
fn nothing_is_left_when_the_supervisor_is_killed() {
    let job = start(WITH_GRANDCHILDREN);
    job.until_running("sleep", 6);
    send(job.supervisor(), libc::SIGKILL);
    let gave = job.end();
    assert_eq!(gave.code, 128 + libc::SIGKILL);
    assert!(gave.err.contains("the supervisor was killed by SIGKILL"), "{gave:?}");
}

#[test]
fn groups_of_ranks_end_when_launcher_and_supervisor_are_killed_at_once() {
    let job = start("-n 2 bash -c sleep~1000~&~sleep~1000;true");
    job.until_running("sleep", 4);
    let (front, supervisor) = (job.child.id() as i32, job.supervisor());
    // Stopped, so that it can't clean up.
    send(front, libc::SIGSTOP);
    send(supervisor, libc::SIGKILL);
    send(front, libc::SIGKILL);
    assert_eq!(job.end().code, -libc::SIGKILL);
}

#[test]
fn nothing_is_left_when_a_rank_is_killed() {
    let job = start(WITH_GRANDCHILDREN);
    job.until_running("sleep", 6);
    send(children(job.supervisor())[0], libc::SIGKILL);
    assert_eq!(job.end().code, 128 + libc::SIGKILL);
}

#[test]
fn what_ranks_leave_behind_ends_with_the_job_after_it_said_its_last() {
    let gave = run("-n 2 bash -c setsid~sleep~1000~&~(echo~late)~&~echo~early");
    assert_eq!((gave.code, gave.sorted()), (0, vec!["early", "early", "late", "late"]));
}

#[test]
fn ranks_inherit_nothing_but_their_streams_the_jobs_memory_and_a_line() {
    // Descriptors of a child of this test, whatever this test itself inherited; and of the ranks.
    let of = |list: &str| list.split_whitespace().map(|word| word.parse().unwrap()).collect::<Vec<i32>>();
    let direct: Gave = Command::new("ls").arg("/proc/self/fd").stdin(Stdio::null()).output().unwrap().into();
    let expected = of(&direct.out);
    let gave = run("--tag-output -n 2 sh -c exec~ls~/proc/self/fd");
    for rank in ["[0] ", "[1] "] {
        let lines: Vec<&str> = gave.out.lines().filter_map(|line| line.strip_prefix(rank)).collect();
        let mut found = of(&lines.join(" "));
        found.retain(|fd| !expected.contains(fd));
        assert!(found.len() == 2 && found.iter().all(|&fd| fd >= 200), "{found:?}");
    }
}

#[test]
fn as_many_ranks_as_allowed_start_and_end() {
    let gave = run("-n 256 sh -c echo~$CELLWEAVE_MPI_RANK");
    let mut ranks: Vec<u32> = gave.out.lines().map(|line| line.parse().unwrap()).collect();
    ranks.sort_unstable();
    assert_eq!((gave.code, ranks), (0, (0..256).collect()));
}

#[test]
fn what_cannot_be_started_is_told_with_what_to_do() {
    let plain = file("plain");
    std::fs::write(&plain, "echo plain script $1\n").unwrap();
    let missing = file("missing");
    for (line, code, text) in [
        ("-n 0 x".into(), 2, "cellrun: -n 0: allowed are 1 to 256\n"),
        ("-n 257 x".into(), 2, "cellrun: -n 257: allowed are 1 to 256\n"),
        ("-n abc x".into(), 2, "cellrun: -n abc: not a number; allowed are 1 to 256\n"),
        ("-n 2".into(), 2, "cellrun: there is no program to start\n"),
        ("-n 2 -wdir /no/such x".into(), 2, "cellrun: -wdir /no/such: there is no such folder\n"),
        ("-n 2 no-such-program".into(), 127, "cellrun: no-such-program is neither on PATH nor in "),
        (format!("-n 2 {}", missing.display()), 127, "cellrun: /"),
        (format!("-n 2 {}", plain.display()), 126, "cellrun: /"),
        ("-n 2 /".into(), 126, "cellrun: / is a folder\n"),
    ] {
        let gave = run(&line);
        assert!(gave.code == code && gave.err.starts_with(text), "{line}: {gave:?}");
    }
    assert!(run(&format!("-n 2 {}", plain.display())).err.contains("chmod +x"));
    // As shells do it, a script needs no first line.
    std::fs::set_permissions(&plain, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(run(&format!("-n 2 {} word", plain.display())).out, "plain script word\nplain script word\n");
    std::fs::remove_file(plain).unwrap();
}

#[test]
fn programs_have_their_ranks_variables_and_folders() {
    let print = "sh -c echo~$CELLWEAVE_MPI_RANK/$CELLWEAVE_MPI_SIZE~$A~$B~$PWD";
    let gave = run(&format!("-genv A a -n 2 -env B b -wdir / {print} : -n 1 -x A=c -wdir /usr {print}"));
    assert_eq!(gave.sorted(), ["0/3 a b /", "1/3 a b /", "2/3 c /usr"], "{gave:?}");
}

#[test]
fn small_limits_are_told_not_died_of() {
    let limited = |limit: &str, line: &str| -> Gave {
        let script = format!("ulimit {limit}; exec {} {line}", cellrun().display());
        Command::new("bash").args(["-c", &script]).output().unwrap().into()
    };
    let gave = limited("-f 100", "-n 64 true");
    assert!(gave.code == 1 && gave.err.contains("ulimit -f"), "{gave:?}");
    assert_eq!(limited("-S -f 100", "-n 64 true").code, 0, "a soft limit is no obstacle");
    let gave = limited("-v 300000", "-n 256 true");
    assert!(gave.code == 1 && gave.err.contains("ulimit -v"), "{gave:?}");
    let gave = limited("-n 64", "-n 256 true");
    assert!(gave.code == 1 && gave.err.contains("ulimit -n"), "{gave:?}");
}

/// The cpus of each rank, in order of ranks.
fn cpus(gave: &Gave) -> Vec<String> {
    assert_eq!(gave.code, 0, "{gave:?}");
    gave.sorted().iter().map(|line| line.split_whitespace().last().unwrap().into()).collect()
}

const PRINT_CPUS: &str = "grep Cpus_allowed_list /proc/self/status";

#[test]
fn traffic_leaves_every_rank_a_core_of_its_own_and_must_be_of_as_many_ranks() {
    let traffic = file("traffic").with_extension("csv");
    std::fs::write(&traffic, "source,destination,bytes\n0,1,64\n1,0,64\n").unwrap();
    let places = cpus(&run(&format!("--tag-output --traffic {} -n 2 {PRINT_CPUS}", traffic.display())));
    let shared = cpus(&run(&format!("--place none -n 1 {PRINT_CPUS}")));
    // Where there is one cpu, the kernel places the ranks.
    assert!(places[0] != places[1] || places[0] == shared[0], "{places:?}");
    let gave = run(&format!("--traffic {} -n 3 true", traffic.display()));
    assert!(gave.code == 2 && gave.err.contains("it is of 2 ranks, and there are 3"), "{gave:?}");
    std::fs::remove_file(traffic).unwrap();
}

#[test]
fn ranks_stay_where_a_file_says_and_others_where_they_were() {
    let own = host::Affinity::of_this_thread().unwrap().cpus();
    let (first, last) = (own[0], own[own.len() - 1]);
    let place = file("place");
    std::fs::write(&place, format!("{{\"mapping\": [\"CPU{last}\", {first}]}}")).unwrap();
    let line = format!("--tag-output --place {} -n 2 {PRINT_CPUS}", place.display());
    assert_eq!(cpus(&run(&line)), [last.to_string(), first.to_string()]);
    std::fs::write(&place, format!("{first} 8000")).unwrap();
    let gave = run(&line);
    assert!(gave.code == 2 && gave.err.contains("rank 1 is to run on cpu 8000; allowed are "), "{gave:?}");
    let gave = run(&format!("--place {} -n 3 true", place.display()));
    assert!(gave.code == 2 && gave.err.contains("places for 2 ranks, and there are 3"), "{gave:?}");
    std::fs::remove_file(place).unwrap();
    let free = cpus(&run(&format!("--tag-output --place none -n 2 {PRINT_CPUS}")));
    assert_eq!(free[0], free[1]);
}

#[test]
fn ranks_have_cores_of_their_own_when_there_are_enough() {
    let machine = machine::discover::host(Path::new("/"), None).unwrap();
    let all = machine.elements.len();
    if all < 2 || machine.quota_cpus.is_some_and(|quota| quota < 2.0) {
        return;
    }
    // Other tests' jobs may hold cores: then nobody is pinned.
    let places = cpus(&run(&format!("--tag-output -n 2 {PRINT_CPUS}")));
    let shared = run("--place none -n 1 grep Cpus_allowed_list /proc/self/status");
    assert!(places[0] != places[1] || places[0] == cpus(&shared)[0], "{places:?}");
    // One more than there are cpus: no way to be fair to all, so the kernel does it.
    let crowd = cpus(&run(&format!("--tag-output -n {} {PRINT_CPUS}", all + 1)));
    assert!(crowd.iter().all(|place| *place == crowd[0]), "{crowd:?}");
}

#[test]
fn a_job_that_takes_too_long_is_ended() {
    let gave = run("--timeout 0.2 -n 2 sleep 1000");
    assert!(gave.code == 124 && gave.err.contains("more than the 0.2 s"), "{gave:?}");
}

#[test]
fn large_output_of_many_ranks_comes_whole() {
    let out = file("out");
    let job = Job::start(cellrun(), "-n 8 sh -c yes~a~line~of~some~length~|~head~-n~100000", |command| {
        command.stdout(File::create(&out).unwrap());
    });
    assert_eq!(job.end().code, 0);
    let text = std::fs::read_to_string(&out).unwrap();
    assert_eq!(text.lines().filter(|line| *line == "a line of some length").count(), 800_000);
    assert_eq!(text.len(), 800_000 * "a line of some length\n".len());
    std::fs::remove_file(out).unwrap();
}

#[test]
fn a_rank_whose_interpreter_loads_another_mpi_is_told() {
    let folder = file("other");
    std::fs::create_dir_all(&folder).unwrap();
    let library = folder.join("libmpi.so.40");
    let built = Command::new("cc").args(["-shared", "-x", "c", "/dev/null", "-o"]).arg(&library).status();
    assert!(built.unwrap().success());
    let line =
        format!("-n 2 python3 -c import~ctypes,sys;ctypes.CDLL('{}');sys.stdin.read()", library.display());
    let mut job = Job::start(cellrun(), &line, |command| {
        command.stdin(Stdio::piped());
    });
    let stdin = job.child.stdin.take().unwrap();
    let mut said = [0; 1];
    let mut stderr = job.child.stderr.take().unwrap();
    stderr.read_exact(&mut said).unwrap();
    drop(stdin);
    let mut text = String::from_utf8_lossy(&said).into_owned();
    stderr.read_to_string(&mut text).unwrap();
    assert!(text.contains("libmpi.so.40 (Open MPI)") && text.contains("think that it is alone"), "{text}");
    assert_eq!(job.end().code, 0);
    std::fs::remove_dir_all(folder).unwrap();
}
