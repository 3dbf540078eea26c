//! Errors as users meet them: what is printed, and with which code the job ends.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Text without the process ids that the launcher adds.
fn without_processes(text: &str) -> String {
    let mut kept = String::new();
    for (i, part) in text.split(" (process ").enumerate() {
        kept += if i == 0 { part } else { part.split_once(')').map_or(part, |(_, rest)| rest) };
    }
    kept
}

fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| common::compile("errors/mistakes.c"))
}

/// What two ranks with a mistake of `mistakes.c` print, and the job's code.
fn two_ranks(mistake: &str) -> (String, Option<i32>) {
    let done = common::run(2, program(), &[mistake]);
    (without_processes(&String::from_utf8_lossy(&done.stderr)), done.status.code())
}

/// Both ranks make the mistake, and the launcher names the one that told it first.
fn said_by_one(mistake: &str, text: &str) {
    let (said, code) = two_ranks(mistake);
    let lines = [0, 1].map(|rank| format!("cellrun: rank {rank}: {text}\n"));
    assert!(lines.contains(&said), "{mistake}: {said:?} is not {:?}", lines[0]);
    assert!(code.is_some_and(|code| code != 0), "{mistake}: the job ended with {code:?}");
}

macro_rules! said_by_one {
    ($($mistake:ident: $text:literal)*) => {
        $(#[test]
        fn $mistake() {
            said_by_one(stringify!($mistake), $text);
        })*
    };
}

said_by_one! {
    unsupported: "MPI_Win_create_dynamic: this library does not support it"
    unsupported_memory: "MPI_Win_create: this library does not support it"
    unsupported_session: "MPI_Session_init: this library does not support it"
    unsupported_file: "MPI_File_open: this library does not support it"
    unsupported_part: "MPI_Psend_init: this library does not support it"
    rank_beyond: "MPI_Send: dest is 2; allowed are 0 to 1 and MPI_PROC_NULL"
    any_source_to_send: "MPI_Send: dest is -1; allowed are 0 to 1 and MPI_PROC_NULL"
    source_negative: "MPI_Recv: source is -7; allowed are 0 to 1, MPI_ANY_SOURCE and MPI_PROC_NULL"
    root_beyond: "MPI_Bcast: root is 2; allowed are 0 to 1"
    tag_negative: "MPI_Send: tag is -5; allowed are 0 to 2147483647"
    any_tag_to_send: "MPI_Isend: tag is -2; allowed are 0 to 2147483647"
    count_negative: "MPI_Send: count is -1; allowed are 0 and more"
    count_negative_in_collective: "MPI_Allreduce: count is -3; allowed are 0 and more"
    buffer_null: "MPI_Send: buf is a null pointer, though there are 8 bytes of data"
    datatype_null: "MPI_Send: datatype is MPI_DATATYPE_NULL; allowed is a datatype"
    datatype_freed: "MPI_Send: datatype is a datatype that was freed; allowed is a datatype"
    datatype_is_communicator: "MPI_Send: datatype is a communicator; allowed is a datatype"
    comm_null: "MPI_Barrier: comm is MPI_COMM_NULL; allowed is a communicator"
    comm_garbage: "MPI_Comm_size: comm is 0x7f0012345678, which is no handle; allowed is a communicator"
    comm_freed: "MPI_Send: comm is a communicator that was freed; allowed is a communicator"
    comm_is_group: "MPI_Comm_rank: comm is a group; allowed is a communicator"
    world_freed: "MPI_Comm_free: comm is MPI_COMM_WORLD or MPI_COMM_SELF, which cannot be freed"
    group_freed: "MPI_Group_size: group is a group that was freed; allowed is a group"
    request_freed: "MPI_Wait: request is a request that was freed; allowed is a request"
    operation_wrong: "MPI_Allreduce: MPI_BAND is not defined for MPI_DOUBLE; it is for integers and MPI_BYTE"
    operation_null: "MPI_Allreduce: op is MPI_OP_NULL; allowed is an operation"
    colour_negative: "MPI_Comm_split: color is -1; allowed are 0 and more, and MPI_UNDEFINED"
    info_key_empty: "MPI_Info_set: key has 0 bytes; allowed are 1 to 255"
    memory: "MPI_Alloc_mem: there is no memory for size = 70368744177664 bytes"
    twice: "MPI_Init: called a second time"
    finalised: "MPI_Barrier: called after MPI_Finalize"
}

/// The rank that is told of, and the code, are the mistake's.
#[track_caller]
fn said(mistake: &str, text: &str, code: i32) {
    let (said, ended) = two_ranks(mistake);
    assert_eq!((said.as_str(), ended), (format!("{text}\n").as_str(), Some(code)), "{mistake}");
}

#[test]
fn a_truncated_message_says_whose_and_both_sizes() {
    let text = "message truncated: 16 bytes came from rank 0 with tag 7; the buffer holds 8";
    said("truncated", &format!("cellrun: rank 1: MPI_Recv: {text}"), 15);
    said("truncated_later", &format!("cellrun: rank 1: MPI_Wait: {text}"), 15);
}

#[test]
fn a_datatype_that_is_not_committed_says_what_to_call() {
    let (said, code) = two_ranks("datatype_uncommitted");
    assert!(
        said.contains("MPI_Send: ") && said.contains("is not committed") && said.contains("MPI_Type_commit"),
        "{said}"
    );
    assert_eq!(code, Some(3));
}

#[test]
fn a_rank_that_dies_by_a_signal_is_named_with_the_signal() {
    said("killed", "cellrun: rank 1 was killed by SIGKILL", 128 + 9);
    said("crashed", "cellrun: rank 1 was killed by SIGSEGV", 128 + 11);
}

#[test]
fn a_rank_that_leaves_without_finalize_is_named() {
    said("left", "cellrun: rank 1 ended without MPI_Finalize", 1);
}

#[test]
fn an_abort_says_its_code() {
    let (said, code) = two_ranks("aborted");
    assert!(said.ends_with("called MPI_Abort with code 9\n") && said.lines().count() == 1, "{said}");
    assert_eq!(code, Some(9));
}

#[test]
fn requests_that_were_never_completed_are_told_at_the_end_and_do_not_fail_the_job() {
    let (said, code) = two_ranks("request_leaked");
    for rank in [0, 1] {
        let line =
            format!("cellweave: rank {rank}: MPI_Finalize: never completed nor freed: 2 sends or receives\n");
        assert!(said.contains(&line), "{said}");
    }
    assert_eq!((said.lines().count(), code), (2, Some(0)));
}

#[test]
fn a_library_without_memory_says_so_instead_of_dying_by_a_signal() {
    let (said, code) = two_ranks("library_memory");
    assert!(said.contains("out of memory: the MPI library got no") && said.contains("ulimit -v"), "{said}");
    assert_eq!((said.lines().count(), code), (1, Some(39)));
}

#[test]
fn a_forked_child_that_calls_mpi_is_told_who_may() {
    let (said, code) = two_ranks("forked");
    let line = "cellweave: MPI was called in a process that a rank forked; only the rank itself, which called \
                MPI_Init, may call it";
    assert!(said.lines().any(|said| said == line), "{said}");
    assert_eq!(code, Some(16));
}

#[test]
fn a_call_before_init_says_so() {
    let (said, code) = two_ranks("never_started");
    assert!(said.lines().any(|line| line == "cellweave: MPI_Comm_rank: called before MPI_Init"), "{said}");
    assert_eq!(code, Some(16));
}

#[test]
fn a_singleton_says_the_same_by_itself() {
    let done = Command::new(program()).arg("tag_negative").output().expect("starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(said, "cellweave: MPI_Send: tag is -5; allowed are 0 to 2147483647\n");
    assert_eq!(done.status.code(), Some(4));
}

#[test]
fn errors_return_when_the_launcher_was_told_so() {
    let done = Command::new(common::tree().join("bin/cellrun"))
        .args(["--initial-errhandler", "mpi_errors_return", "-n", "2"])
        .arg(program())
        .arg("returned")
        .output()
        .expect("cellrun starts");
    assert_eq!((done.status.code(), String::from_utf8_lossy(&done.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn a_setting_that_makes_no_sense_is_refused_with_what_is_allowed() {
    for (name, value, allowed) in [
        ("CELLWEAVE_MPI_CHECK", "maybe", "0 and 1"),
        ("CELLWEAVE_MPI_PROGRESS", "fast", "calls and thread"),
        ("CELLWEAVE_MPI_COPY", "-1", "ring and a number of bytes"),
    ] {
        let done = Command::new(program()).env(name, value).arg("returned").output().expect("starts");
        let said = String::from_utf8_lossy(&done.stderr);
        let text = format!("MPI_Init: the environment's {name} is {value}; allowed are {allowed}\n");
        assert_eq!(said, format!("cellweave: {text}"));
        assert!(!done.status.success(), "{said}");
    }
}

#[test]
fn what_is_not_supported_returns_where_errors_return() {
    assert_eq!(two_ranks("unsupported_returned"), (String::new(), Some(0)));
}

#[test]
fn a_blocking_collective_never_matches_a_non_blocking_one() {
    let cellrun = common::tree().join("bin/cellrun");
    let words = ["--stuck-after", "0.3", "--timeout", "1.5", "-n", "2"];
    let done =
        Command::new(cellrun).args(words).arg(program()).arg("mixed_collectives").output().expect("starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(124), "{said}");
    assert!(said.contains("waits in MPI_Barrier") && said.contains("waits in MPI_Wait"), "{said}");
}

/// A library by another MPI's name, and a program that is linked with it.
fn built_for(soname: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("foreign-{soname}"));
    std::fs::create_dir_all(&folder).unwrap();
    let cc = |arguments: &[&str]| {
        let done = Command::new("cc").current_dir(&folder).args(arguments).status().expect("cc starts");
        assert!(done.success(), "cc {arguments:?}");
    };
    std::fs::write(folder.join("lib.c"), "int MPI_Init(void *c, void *v) { return c == v; }\n").unwrap();
    std::fs::write(
        folder.join("prog.c"),
        "int MPI_Init(void *, void *); int main(void) { return MPI_Init(0, 0); }\n",
    )
    .unwrap();
    cc(&["-shared", "-fPIC", "lib.c", "-o", soname, &format!("-Wl,-soname,{soname}")]);
    cc(&["prog.c", soname, "-o", "prog", "-Wl,-rpath,$ORIGIN"]);
    folder.join("prog")
}

#[test]
fn a_program_built_for_another_mpi_is_refused_with_the_way_to_build_it() {
    for (soname, mpi) in [("libmpi.so.40", "Open MPI"), ("libmpi.so.12", "MPICH")] {
        let done = common::run(2, &built_for(soname), &[]);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(said.contains(mpi) && said.contains("cellcc"), "{soname}: {said}");
        assert_eq!((said.lines().count(), done.status.code()), (1, Some(2)), "{said}");
    }
}
