use super::*;
use proptest::prelude::*;

fn ring(machine: &str, tasks: usize, packet_bytes: u32, bidirectional: bool, rounds: u32) -> RingSetup {
    let options = RingSetup::on(machine, None, None).unwrap();
    RingSetup { tasks, packet_bytes, bidirectional, rounds, ..options }
}

fn refused(options: &RingSetup, mapping: &[usize]) -> String {
    match run(mapping, options) {
        Err(TargetError::Request(message)) => message,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // Every task compares each packet that comes in with the one that should: a panic would fail the run.
    #[test]
    fn all_packets_come_in_order_with_the_right_bytes(
        mapping in Just((1..8).collect::<Vec<usize>>()).prop_shuffle(),
        quadwords in 1_u32..200,
        bidirectional: bool,
        rounds in 1_u32..40,
        seed: u64,
        tasks in 3_usize..=8,
    ) {
        let rest = mapping.into_iter().filter(|&task| task < tasks);
        let mapping: Vec<usize> = std::iter::once(0).chain(rest).collect();
        let options = RingSetup { seed, ..ring("cell", tasks, quadwords * 16, bidirectional, rounds) };
        let found = run(&mapping, &options).unwrap();
        let packets = tasks as u64 * if bidirectional { 2 } else { 1 } * u64::from(rounds);
        let Counts { packets: fetched, notifications, acknowledgements, polls } = found.counts;
        prop_assert_eq!((fetched, notifications, acknowledgements), (packets, packets, packets));
        prop_assert!(polls >= u64::from(rounds) * tasks as u64);
        // Lines of packets, two entries for each, and a row of one line for each poll.
        let lines = packets * (u64::from(quadwords * 16).div_ceil(128) + 2) + polls;
        prop_assert_eq!(found.bus_packets, lines);
    }
}

#[test]
fn a_wrong_byte_is_found() {
    let counts = Rc::new(RefCell::new(Counts::default()));
    let mut simulation = Simulation::new(Parameters::named("cell").unwrap()).unwrap();
    let matrix = simulation.allocate(0, library::matrix_bytes(3), 128).unwrap();
    for task in 0..3 {
        // Task 2 made another packet than the others think.
        let packets = Rc::new(
            (0..3).map(|maker| vec![if (task, maker) == (2, 2) { 9 } else { maker as u8 }; 32]).collect(),
        );
        let program = RingTask {
            seat: Seat { task, tasks: 3, matrix, spes: vec![0, 1, 2] },
            packet_bytes: 32,
            rounds: 2,
            ways: &[Way::Up],
            delay_ns: 0,
            packets,
            counts: counts.clone(),
            beat: Arc::new(|| true),
        };
        simulation.spe(task, format!("task {task}"), move |spe| program.run(spe)).unwrap();
    }
    let message = simulation.run().unwrap_err().to_string();
    assert!(message.contains("task 0: packet 1 Up is not the one that should come"), "{message}");
}

#[test]
fn more_tasks_than_a_line_has_entries_use_both_chips() {
    let found = run(&(0..16).collect::<Vec<_>>(), &ring("qs22", 16, 512, true, 5)).unwrap();
    assert_eq!(found.counts.packets, 16 * 2 * 5);
    assert!(run(&[0, 1, 2, 3], &ring("qs22", 4, PACKET_BYTES_MAX, true, 3)).is_ok());
}

#[test]
fn the_programs_have_no_races() {
    let options = ring("cell", 8, 256, true, 20);
    let spes: Vec<usize> = (0..8).collect();
    let packets = Rc::new((0..16).map(|p| vec![p as u8; 256]).collect::<Vec<_>>());
    let mut simulation = Simulation::new(options.parameters).unwrap();
    simulation.detect_races(true);
    let matrix = simulation.allocate(0, library::matrix_bytes(8), 128).unwrap();
    for task in 0..8 {
        let program = RingTask {
            seat: Seat { task, tasks: 8, matrix, spes: spes.clone() },
            packet_bytes: 256,
            rounds: 20,
            ways: &[Way::Up, Way::Down],
            delay_ns: 40 * task as u64,
            packets: packets.clone(),
            counts: Rc::default(),
            beat: Arc::new(|| true),
        };
        simulation.spe(task, format!("task {task}"), move |spe| program.run(spe)).unwrap();
    }
    simulation.run().unwrap();
}

#[test]
fn a_seed_repeats_a_run_and_another_seed_is_another_run() {
    let options = ring("ps3", 6, 512, true, 30);
    let mapping = [0, 4, 3, 5, 1, 2];
    let first = run(&mapping, &options).unwrap();
    assert_eq!(run(&mapping, &options).unwrap(), first);
    let other = run(&mapping, &RingSetup { seed: 2, ..options }).unwrap();
    assert_ne!(other.hash, first.hash);
    assert_eq!(other.counts.packets, first.counts.packets);
}

#[test]
fn pinned_threads_are_in_order_and_default_ones_where_the_seed_puts_them() {
    let pinned = ring("cell", 8, 512, true, 10);
    assert_eq!(pinned.places(), [0, 1, 2, 3, 4, 5, 6, 7]);
    let drawn = |seed| RingSetup { placement: RingPlacement::Default, seed, ..pinned.clone() }.places();
    assert_eq!(drawn(5), drawn(5));
    assert!((0..20).any(|seed| drawn(seed) != drawn(5)));
    let mut places = drawn(5);
    places.sort_unstable();
    assert_eq!(places, pinned.places());
    let default = RingSetup { placement: RingPlacement::Default, seed: 5, ..pinned };
    let mapping = [0, 2, 1, 3, 4, 7, 6, 5];
    let spes = mapping::spes(&mapping, &default.places());
    assert_eq!(run(&mapping, &default).unwrap(), run_on(&spes, &default).unwrap());
}

#[test]
fn a_sweep_is_the_same_on_any_number_of_threads_and_made_of_single_runs() {
    let options = ring("cell", 5, 256, true, 8);
    let on = |threads| Sweep { options: options.clone(), mappings: None, runs: 2, threads: Some(threads) };
    let mut seen = vec![];
    let one = sweep(&on(1), &mut |p| {
        seen.push(p.done);
        p.total == 48
    });
    let one = one.unwrap();
    assert_eq!(seen, (1..=48).collect::<Vec<_>>());
    assert_eq!(sweep(&on(3), &mut |_| true).unwrap(), one);
    let second = RingSetup { seed: options.seed + 1, ..options };
    for (i, mapping) in one.mappings().iter().enumerate().step_by(7) {
        assert_eq!(one.runs()[1][i], run(mapping, &second).unwrap().elapsed_ns);
    }
}

#[test]
fn a_sweep_stops_when_it_is_told_even_inside_a_ring() {
    let options = ring("cell", 3, 16, false, ROUNDS_MAX);
    let long = Sweep { options, mappings: Some(vec![vec![0, 1, 2]]), runs: 2, threads: Some(2) };
    let mut calls = 0;
    let found = sweep(&long, &mut |_| {
        calls += 1;
        calls < 4
    });
    assert_eq!(found, Err(TargetError::Failed("stopped".into())));
    assert_eq!(calls, 4);
}

#[test]
fn wrong_requests_say_what_is_allowed() {
    let good = ring("ps3", 6, 1024, true, 10);
    let straight = [0, 1, 2, 3, 4, 5];
    let message = refused(&RingSetup { packet_bytes: 17, ..good.clone() }, &straight);
    assert!(message.contains("packets of 17 bytes; allowed: multiples of 16 up to 16384"), "{message}");
    let message = refused(&RingSetup { tasks: 7, ..good.clone() }, &straight);
    assert!(message.contains("a ring of 7 tasks on ps3; allowed: 3 to 6"), "{message}");
    assert!(refused(&RingSetup { tasks: 2, ..good.clone() }, &straight).contains("ring of 2 tasks"));
    assert!(refused(&RingSetup { rounds: 0, ..good.clone() }, &straight).contains("0 rounds"));
    assert!(refused(&good, &[0, 1, 2, 3, 4, 4]).contains("task 5 is nowhere"));
    assert!(refused(&good, &[1, 0, 2, 3, 4, 5]).contains("unless any first task is asked for"));
    assert!(run(&[1, 0, 2, 3, 4, 5], &RingSetup { any_first: true, ..good.clone() }).is_ok());
    let message = |spes: &[usize]| run_on(spes, &good).unwrap_err().to_string();
    assert!(message(&[0, 1, 2, 3, 4, 6]).contains("no SPE6 on ps3; there are SPE0 to SPE5"));
    assert!(message(&[0, 1, 2, 3, 4, 0]).contains("SPE0 has two tasks"));
    assert!(message(&[0, 1]).contains("2 SPEs for 6 tasks"));
    let on = |mappings, runs, threads| {
        sweep(&Sweep { options: good.clone(), mappings, runs, threads }, &mut |_| true)
            .unwrap_err()
            .to_string()
    };
    assert!(on(None, 0, None).contains("0 runs"));
    assert!(on(None, 1, Some(0)).contains("0 threads"));
    assert!(on(Some(vec![straight.to_vec(); 2]), 1, None).contains("[012345] is named twice"));
    assert!(on(Some(vec![]), 1, None).contains("0 mappings"));
    assert!(RingSetup::on("ps4", None, None).is_err());
    assert!(RingSetup::on("ps3", Some("textbok"), None).unwrap_err().to_string().contains("textbook"));
}
