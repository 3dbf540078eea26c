//! MPI programs on the simulated Cell (`cellrun --on`): the same C sources as for this computer.

mod common;

use common::{launch, printed_on};

/// The time of one line of `pingpong`, in us.
fn latency(printed: &str, bytes: usize) -> f64 {
    let start = format!("{bytes} bytes: ");
    let line = printed.lines().find_map(|line| line.strip_prefix(&start)).expect(&start);
    line.strip_suffix(" us").and_then(|time| time.parse().ok()).expect("a time")
}

#[test]
fn messages_take_simulated_time_the_same_in_every_run() {
    let program = common::compile("cell/pingpong.c");
    let (first, said) = printed_on("qs22", 2, &program);
    let (second, said_again) = printed_on("qs22", 2, &program);
    assert_eq!(first, second);
    let simulated = |said: &str| said.split(" simulated on qs22, 2 ranks").next().map(str::to_owned);
    assert!(said.starts_with("cellrun: ") && said.contains(" us simulated on qs22, 2 ranks"), "{said}");
    assert_eq!(simulated(&said), simulated(&said_again));
    // A longer message takes longer, but for one that goes without the buffer: two DMA commands less.
    let times: Vec<f64> = [0, 8, 1024, 2048, 16384, 1 << 17].map(|bytes| latency(&first, bytes)).into();
    assert!(times.is_sorted(), "{first}");
    assert!(latency(&first, 2049) < latency(&first, 2048), "{first}");
    // A put of 16 bytes to another local store takes a tenth of a microsecond alone, and a message at least that.
    assert!((0.1..1.0).contains(&times[0]), "{first}");
}

/// Conformance programs that are not run on a simulated Cell.
const NOT_HERE: [&str; 6] = [
    // Threads that call MPI at the same time: MPI_Init_thread gives less there, and says so.
    "communicators_threads",
    "thread_objects",
    "threads",
    // There, a send whose data was copied to the simulated buffer is complete and stays so.
    "cancel_sends",
    // They work there but take long: 400,000 messages, and 100 MB of them.
    "many",
    "type_bulk",
];

/// The conformance programs of `tests/c` are right on so many simulated ranks.
fn conform(ranks: u32, names: &[&str]) {
    for name in names {
        let (printed, said) = printed_on("qs22", ranks, &common::compile(&format!("c/{name}.c")));
        assert_eq!(printed, format!("ok {name}\n"), "on {ranks} ranks: {said}");
    }
}

/// The programs that are run, a part of them.
fn part(number: usize, of: usize) -> Vec<String> {
    let files = std::fs::read_dir(common::here().join("tests/c")).expect("the programs");
    let mut names: Vec<String> = files
        .filter_map(|file| file.ok()?.file_name().to_str()?.strip_suffix(".c").map(str::to_owned))
        .filter(|name| !NOT_HERE.contains(&name.as_str()))
        .collect();
    names.sort();
    assert!(names.len() > 50, "{names:?}");
    names.into_iter().skip(number).step_by(of).collect()
}

#[test]
fn conformance_programs_of_even_number_are_right_on_four_spes() {
    conform(4, &part(0, 2).iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn conformance_programs_of_odd_number_are_right_on_four_spes() {
    conform(4, &part(1, 2).iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn conformance_programs_are_right_on_two_and_on_eight_spes() {
    for ranks in [2, 8] {
        conform(ranks, &["cancel", "probe", "wildcards", "nonblocking", "in_place", "type_extents"]);
    }
}

#[test]
fn random_traffic_is_matched_as_the_model_says_and_queues_overflow() {
    let program = common::compile("stress/stress.c");
    let done = launch(&["--on", "qs22", "-n", "5"], &program, &["--messages", "3000", "--seed", "7"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn random_collectives_through_local_stores_give_what_their_definitions_say() {
    let program = common::compile("stress/random_collectives.c");
    for (ranks, operations, seed) in
        [("2", "200", "2"), ("5", "100", "3"), ("9", "60", "4"), ("16", "60", "5")]
    {
        let done =
            launch(&["--on", "qs20", "-n", ranks], &program, &["--operations", operations, "--seed", seed]);
        let (printed, said) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(
            done.status.success() && printed.starts_with("ok random_collectives: "),
            "{ranks}: {printed}{said}"
        );
    }
}

#[test]
fn collectives_through_local_stores_give_the_bits_of_those_on_messages_in_less_time() {
    let program = common::compile("cell/collect.c");
    for ranks in ["2", "8", "16"] {
        let [stores, messages] = ["stores", "messages"].map(|how| {
            let how = ["--on", "qs22", "-n", ranks, "-genv", "CELLWEAVE_MPI_COLLECTIVES", how];
            let done = launch(&how, &program, &[]);
            let (printed, said) =
                (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
            assert!(done.status.success(), "{how:?}: {printed}{said}");
            printed.lines().map(str::to_owned).collect::<Vec<_>>()
        });
        // Each line has a name, a hash of what all ranks have got, and a time.
        for (stores, messages) in stores.iter().zip(&messages) {
            let [stores, messages] = [stores, messages].map(|line| line.rsplit_once(' ').expect("a time"));
            assert_eq!(stores.0, messages.0, "on {ranks} ranks");
            let [quick, slow] = [stores.1, messages.1].map(|time| time.parse::<f64>().expect("us"));
            // To the one taker of more than 1 kB, both ways are a message.
            let alike = ranks == "2" && stores.0.starts_with("bcast ");
            assert!(quick < slow || alike, "{ranks}: {stores:?} {slow}");
        }
        assert!(stores.len() > 8 && stores.len() == messages.len(), "{stores:?}");
    }
    let how = ["--on", "cell", "-n", "2", "-genv", "CELLWEAVE_MPI_COLLECTIVES", "mail"];
    let said = launch(&how, &program, &[]).stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("CELLWEAVE_MPI_COLLECTIVES is mail; allowed are stores and messages"), "{said}");
}

#[test]
fn threads_that_a_library_starts_may_compute_and_take_turns() {
    let program = common::compile("cell/threads.c");
    let (first, _) = printed_on("cell", 3, &program);
    assert_eq!(first, printed_on("cell", 3, &program).0);
}

#[test]
fn scribbles_on_the_place_where_a_rank_asks_end_the_job_with_a_message() {
    use transport::segment::{PAGE, PAIR_BYTES, WINDOW_BYTES, pool_room};
    let program = common::compile("cell/scribble.c");
    let windows = PAGE * 3 + 4 * PAIR_BYTES + 2 * pool_room(2);
    let place = (windows + WINDOW_BYTES).to_string();
    let mut failed = 0;
    for seed in 1..=8 {
        let done =
            launch(&["--on", "cell", "-n", "2", "--timeout", "5"], &program, &[&seed.to_string(), &place]);
        let (code, said) = (done.status.code(), String::from_utf8_lossy(&done.stderr));
        assert!(
            code.is_some_and(|code| code < 128) && said.contains("cellrun: ") && !said.contains("panicked"),
            "seed {seed}: {code:?} {said}"
        );
        failed += i32::from(code != Some(0));
    }
    assert!(failed > 0, "scribbles that were nonsense");
}

#[test]
fn what_no_machine_has_is_refused_with_what_is_allowed() {
    let program = common::compile("cell/ends.c");
    for (words, told) in [
        (
            &["--on", "qs22", "-n", "17"][..],
            "17 ranks: qs22 has 16 SPEs, one for each rank; allowed are 1 to 16",
        ),
        (&["--on", "ps3", "-n", "7"], "7 ranks: ps3 has 6 SPEs"),
        (&["--on", "qs21", "-n", "2"], "--on qs21: allowed are ps3, cell, qs20, qs22"),
        (&["--on", "cell", "--place", "none"], "--place none is for this computer"),
    ] {
        let done = launch(words, &program, &[]);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code() == Some(2) && said.contains(told), "{words:?}: {said}");
    }
}

#[test]
fn a_job_that_does_not_end_well_says_why() {
    let program = common::compile("cell/ends.c");
    for (how, code, told) in [
        (
            "deadlock",
            1,
            &["every rank waits", "rank 0 waits in MPI_Recv for a message from rank 1 with tag 7"][..],
        ),
        ("abort", 3, &["rank 1 (process ", "called MPI_Abort with code 3"]),
        ("exit", 4, &["rank 1 (process ", "exited with code 4 without MPI_Finalize"]),
        ("crash", 134, &["rank 1 (process ", "was killed by SIGABRT"]),
        ("endless", 124, &["rank 1 computes without a call of MPI"]),
    ] {
        let seconds = if how == "endless" { "1" } else { "60" };
        let done = launch(&["--on", "cell", "-n", "2", "--timeout", seconds], &program, &[how]);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code() == Some(code), "{how}: {}: {said}", done.status);
        assert!(told.iter().all(|part| said.contains(part)), "{how}: {said}");
    }
}

#[test]
fn computing_takes_what_it_declares() {
    let (printed, _) = printed_on("qs20", 1, &common::compile("cell/compute.c"));
    let times: Vec<f64> = printed.split_whitespace().map(|word| word.parse().expect("a time")).collect();
    // A million operations at 14.64 Gflops of eight SPEs; a tick of the decrementer is 0.07 us.
    assert!((times[1] - times[0] - 1e6 / (14.64e3 / 8.0)).abs() < 0.15, "{printed}");
    // Main memory gives an SPE less than the 25.6 GB/s that it has for all.
    assert!(times[2] - times[0] > f64::from(1 << 20) / 25.6e3, "{printed}");
    // On this computer nothing is charged.
    assert!(common::printed(1, &common::compile("cell/compute.c"), &[]).lines().count() == 1);
}
