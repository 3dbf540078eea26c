//! What this library promises beyond the standard, each as a program in `tests/promises`.

mod common;

fn kept(name: &str) {
    kept_on(2, name);
}

fn kept_on(ranks: u32, name: &str) {
    let program = common::compile(&format!("promises/{name}.c"));
    assert_eq!(common::printed(ranks, &program, &[]), format!("ok {name}\n"));
}

#[test]
fn unexpected_messages_cost_little_memory() {
    kept("unexpected_memory");
}

#[test]
fn a_receiver_copies_alone_while_the_sender_is_elsewhere() {
    kept("copies_alone");
}

#[test]
fn a_barrier_may_come_before_or_after_the_start_of_a_non_blocking_collective() {
    kept("numbered_apart");
}

#[test]
fn blocks_that_overlap_are_no_reason_to_wait_for_ever() {
    [3, 4, 7].into_iter().for_each(|ranks| kept_on(ranks, "overlapping_blocks"));
}

#[test]
fn buffered_sends_cost_little_however_many_wait_and_leave_nothing_behind() {
    kept("many_buffered");
}

fn cpus() -> u32 {
    std::thread::available_parallelism().unwrap().get() as u32
}

#[test]
fn two_ranks_exchange_large_data_without_a_question() {
    if cpus() > 1 {
        kept("exchanges_unasked");
    }
}

#[test]
fn ranks_that_share_cpus_gather_only_so_far_ahead_of_the_root() {
    kept_on(cpus() + 1, "gathers_wait");
}

#[test]
fn ranks_that_share_cpus_are_told_of_counts_that_do_not_agree() {
    // Some of them share a cpu, and all do.
    for ranks in [cpus() + 1, 2 * cpus()] {
        kept_on(ranks, "unequal_counts");
    }
}

#[test]
fn one_of_the_ranks_that_share_cpus_may_have_threads() {
    kept_on(cpus() + 2, "one_with_threads");
}
