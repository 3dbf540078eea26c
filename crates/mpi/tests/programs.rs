//! The conformance programs in `tests/c`, each compiled with `cellcc` and run on several numbers of ranks.
//!
//! They are written by the standard's text and know nothing of this library: any MPI with the standard ABI can run them.

mod common;

/// One rank, a pair, an odd number, a power of two, and more than most machines that run this have cores.
const RANKS: [u32; 5] = [1, 2, 3, 4, 7];

fn run(name: &str) {
    let program = common::compile(&format!("c/{name}.c"));
    for ranks in RANKS {
        let done = common::run(ranks, &program, &[]);
        let (printed, said) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(
            done.status.success() && printed == format!("ok {name}\n") && said.is_empty(),
            "{name} on {ranks} ranks: {}\n{printed}{said}",
            done.status
        );
    }
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*
    };
}

programs! {
    communicators_random
    communicators_threads
    arrays
    attributes
    buffered
    cancel
    collectives
    completion
    environment
    groups
    info
    intercommunicators
    interposition
    large_counts
    many
    modes
    nonblocking
    operations
    pack
    persistent
    persistent_collectives
    point_to_point
    probe
    proc_null
    self_messages
    sendrecv
    status
    threads
    tool
    type_contents
    type_extents
    type_large
    type_predefined
    type_random
    wildcards
}
