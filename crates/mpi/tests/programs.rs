//! The conformance programs in `tests/c`, each compiled with `cellcc` and run on several numbers of ranks.
//!
//! They are written by the standard's text and know nothing of this library: any MPI with the standard ABI can run them.

mod tree;

/// One rank, a pair, an odd number, a power of two, and more than most machines that run this have cores.
const RANKS: [u32; 5] = [1, 2, 3, 4, 7];

fn run(name: &str) {
    let program = tree::compile(&format!("c/{name}"));
    for ranks in RANKS {
        assert_eq!(tree::run(&program, ranks, &[]), format!("ok {name}\n"), "on {ranks} ranks");
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
