//! The conformance programs in `tests/c`, each compiled with `cellcc` and run on several numbers of ranks.
//!
//! They are written by the standard's text and know nothing of this library: any MPI with the standard ABI can run
//! them.

mod common;

/// One rank, a pair, an odd number, a power of two, and more than most machines that run this have cores.
const RANKS: [u32; 5] = [1, 2, 3, 4, 7];

fn run(name: &str) {
    let program = common::compile(&format!("c/{name}.c"));
    for ranks in RANKS {
        assert_eq!(common::printed(ranks, &program, &[]), format!("ok {name}\n"), "on {ranks} ranks");
    }
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*

        const LISTED: &[&str] = &[$(stringify!($name)),*];
    };
}

programs! {
    arrays
    attributes
    between_groups
    bottom
    buffered
    callbacks
    cancel
    cancel_sends
    collectives
    communicators
    communicators_random
    communicators_threads
    completion
    deprecated
    environment
    errors
    freed_requests
    groups
    handles
    in_place
    info
    intercommunicators
    interposition
    large_allreduce
    large_collectives
    large_counts
    large_reduce
    late_receives
    many
    many_communicators
    memory
    mixed_requests
    modes
    neighbourhood
    nonblocking
    offered_data
    operations
    pack
    partial_failures
    persistent
    persistent_collectives
    point_to_point
    probe
    proc_null
    self_messages
    sendrecv
    shared_cpus
    signals
    small_collectives
    status
    stopped
    thread_objects
    threads
    tool
    tool_values
    topologies
    type_bulk
    type_contents
    type_extents
    type_large
    type_names
    type_predefined
    type_random
    type_records
    user_operations
    wildcards
    wrong_arguments
}

/// On two cpus each of them has five slots: an odd number.
#[test]
fn shared_cpus_of_six_ranks() {
    let program = common::compile("c/shared_cpus.c");
    assert_eq!(common::printed(6, &program, &[]), "ok shared_cpus\n");
}

#[test]
fn every_program_is_run() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder of the programs")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    found.sort();
    assert_eq!(found, LISTED, "the files in tests/c, and the list above in alphabetical order");
}
