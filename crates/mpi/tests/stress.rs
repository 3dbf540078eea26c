//! Random traffic, checked against a sequential model of MPI's matching rules: see `stress/stress.c`.
//!
//! The long form, ten million messages: `cargo test --release -p cellweave-mpi --test stress -- --ignored`.

mod common;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| common::compile("stress/stress.c"))
}

fn stress(ranks: u32, threads: u32, messages: u32, seed: u32) {
    let [threads, messages, seed] = [threads, messages, seed].map(|n| n.to_string());
    let options = ["--threads", &threads, "--messages", &messages, "--seed", &seed];
    let printed = common::printed(ranks, program(), &options);
    assert!(printed.starts_with("ok stress: "), "{printed}");
}

#[test]
fn random_traffic_is_matched_as_the_model_says() {
    stress(1, 1, 50_000, 1);
    stress(2, 1, 300_000, 2);
    stress(3, 1, 100_000, 3);
    stress(7, 1, 40_000, 4);
}

#[test]
fn random_traffic_of_several_threads_is_matched_as_the_model_says() {
    stress(2, 3, 100_000, 5);
    stress(4, 2, 40_000, 6);
}

#[test]
fn random_traffic_arrives_where_the_kernel_refuses_to_copy_between_processes() {
    let wrapper = common::compile("stress/without_cma.c");
    let stress = program().to_str().expect("a path in UTF-8");
    for ranks in [2, 3] {
        let printed =
            common::printed(ranks, &wrapper, &["both", stress, "--messages", "30000", "--seed", "7"]);
        assert!(printed.starts_with("ok stress: "), "{printed}");
    }
}

#[test]
fn large_reductions_are_right_where_the_kernel_refuses_to_copy_one_way_or_both() {
    let wrapper = common::compile("stress/without_cma.c");
    for name in ["large_reduce", "large_allreduce"] {
        let program = common::compile(&format!("c/{name}.c"));
        let program = program.to_str().expect("a path in UTF-8");
        for refused in ["read", "write", "both"] {
            assert_eq!(
                common::printed(2, &wrapper, &[refused, program]),
                format!("ok {name}\n"),
                "{refused}"
            );
        }
    }
}

#[test]
fn random_collectives_give_what_their_definitions_say() {
    let program = common::compile("stress/random_collectives.c");
    for (ranks, operations, seed) in
        [(1, "1000", "1"), (2, "3000", "2"), (3, "2000", "3"), (4, "1000", "4"), (7, "500", "5")]
    {
        let printed = common::printed(ranks, &program, &["--operations", operations, "--seed", seed]);
        assert!(printed.starts_with("ok random_collectives: "), "{printed}");
    }
}

#[test]
#[ignore = "takes minutes"]
fn ten_million_messages_are_matched_as_the_model_says() {
    for seed in 100..110 {
        let (ranks, threads) = [(2, 1), (2, 1), (3, 1), (4, 1), (2, 3)][seed as usize % 5];
        stress(ranks, threads, 1_000_000, seed);
    }
}
