use super::*;

impl Ways {
    /// The way of a message that answers one of this rank.
    fn answer(&mut self, bytes: usize, shared: bool, now_ns: u64) -> Way {
        self.sent();
        self.choose(bytes, shared, now_ns)
    }

    fn answer_unasked(&mut self, bytes: usize) {
        self.sent();
        self.came(bytes);
    }
}

/// What two ranks know that have just met.
fn two() -> [Ways; 2] {
    let agreed: &'static AgreedWays = Box::leak(Box::default());
    [0, 1].map(|side| Ways::new(agreed, side, 0))
}

fn one() -> Ways {
    let [ways, _] = two();
    ways
}

/// Runs of so many messages at once, each of so many bytes, that take so long by each way; which part of the runs
/// took each.
fn parts(ways: &mut Ways, runs: u64, at_once: u64, bytes: usize, shared: bool, ns: [u64; 4]) -> [f32; 4] {
    let mut parts = [0.0; 4];
    for run in 0..runs {
        let start_ns = run << 40;
        let way = (0..at_once).map(|_| ways.answer(bytes, shared, start_ns)).last().expect("a message");
        (1..=at_once).for_each(|number| ways.complete(bytes, start_ns + number * ns[way as usize]));
        parts[way as usize] += 1.0 / runs as f32;
    }
    parts
}

#[test]
fn nearly_all_messages_take_the_fastest_way_for_their_size() {
    for at_once in [1, 2, 64, 200] {
        let mut ways = one();
        let mut parts = |bytes, ns| parts(&mut ways, 1000, at_once, bytes, false, ns);
        assert!(parts(1 << 20, [80_000, 55_000, 90_000, 80_000])[Way::Kernel as usize] > 0.85);
        assert!(parts(200_000, [15_000, 20_000, 16_000, 0])[Way::Pool as usize] > 0.85);
        assert!(parts(100_000, [7_000, 6_500, 6_000, 0])[Way::Receiver as usize] > 0.85);
        assert!(parts(1 << 30, [9_000_000, 8_000_000, 9_000_000, 9_500_000])[Way::Kernel as usize] > 0.85);
        // What was learned of one size says nothing of another; and it is tried ever more rarely.
        assert!(parts(1 << 20, [80_000, 55_000, 90_000, 80_000])[Way::Kernel as usize] > 0.95);
    }
}

#[test]
fn messages_without_a_choice_are_runs_of_the_pools_trial_and_change_no_other() {
    let mut ways = one();
    let bytes = 200_000;
    for number in 0..TRIAL_OF_POOL / 2 {
        assert_eq!(ways.answer(bytes, false, 0), Way::Pool, "run {number}");
        assert!(ways.is_trying());
        ways.complete(bytes, 10_000);
        assert!(!ways.is_trying());
        ways.answer_unasked(bytes);
    }
    for number in 0..TRIAL {
        assert_eq!(ways.answer(bytes, false, 0), Way::Kernel, "run {number}");
        ways.complete(bytes, 11_000);
        (0..TRIAL).for_each(|_| ways.answer_unasked(bytes));
    }
    assert_eq!(ways.answer(bytes, false, 0), Way::Receiver);
}

#[test]
fn a_way_that_was_far_behind_is_given_up_after_one_run_until_it_is_fast() {
    let mut ways = one();
    let mut by_receiver = |runs, ns| {
        let part = parts(&mut ways, runs, 1, 200_000, false, [15_000, 20_000, ns, 0])[Way::Receiver as usize];
        (part * runs as f32).round() as usize
    };
    let first_trial = u64::from(TRIAL_OF_POOL + TRIAL + TRIALS_FIRST);
    assert_eq!(by_receiver(first_trial, 150_000), HOPELESS_AFTER as usize);
    // The next trial, and the messages up to the one behind it.
    assert_eq!(by_receiver(first_trial + u64::from(3 * TRIALS_FIRST), 150_000), 1);
    assert!(by_receiver(2000, 10_000) > 1000);
}

#[test]
fn a_message_that_both_must_be_able_to_copy_is_never_the_receivers_alone() {
    let mut ways = one();
    let ns = [80_000, 55_000, 10_000, 80_000];
    assert!(parts(&mut ways, 1000, 1, 1 << 22, true, ns)[Way::Receiver as usize] == 0.0);
    parts(&mut ways, 1000, 1, 100_000, false, ns);
    assert_eq!(ways.answer(100_000, false, 0), Way::Receiver);
    assert_eq!(ways.answer(1 << 22, true, 0), Way::Kernel);
}

#[test]
fn only_what_both_must_be_able_to_copy_lands_past_the_caches_and_where_that_is_faster() {
    let mut ways = one();
    let ns = [80_000, 85_000, 90_000, 60_000];
    assert!(parts(&mut ways, 1000, 1, 1 << 22, true, ns)[Way::PastCaches as usize] > 0.85);
    assert!(parts(&mut ways, 1000, 1, SHARED_FROM - 1, false, ns)[Way::PastCaches as usize] == 0.0);
    let ns = [80_000, 85_000, 90_000, 90_000];
    parts(&mut ways, 1000, 1, 1 << 22, true, ns);
    assert!(parts(&mut ways, 1000, 1, 1 << 22, true, ns)[Way::Pool as usize] > 0.85);
}

#[test]
fn messages_that_never_pause_change_their_way_now_and_then() {
    let mut ways = one();
    let mut by = [0; 4];
    for number in 0..10_000 {
        // One begins before the last one ends.
        let way = ways.answer(1 << 20, false, number * 80_000);
        if number > 0 {
            ways.complete(1 << 20, number * 80_000 + 1);
        }
        by[way as usize] += 1;
    }
    assert!(by[..3].iter().all(|&messages| messages > 150), "{by:?}");
}

#[test]
fn messages_that_are_many_at_a_time_are_tried_in_few_runs() {
    for (at_once, runs) in
        [(1, [TRIAL_OF_POOL, TRIAL]), (2, [TRIAL_OF_POOL / 2, LEAST_RUNS]), (64, [LEAST_RUNS; 2])]
    {
        let mut ways = one();
        let mut tried = [0; 2];
        for _ in 0..200 {
            let way = (0..at_once).map(|_| ways.answer(100_000, false, 0)).last().expect("a message");
            if way != Way::Receiver && ways.phase.number < 2 {
                tried[way as usize] += 1;
            }
            (0..at_once).for_each(|_| ways.complete(100_000, 9000));
        }
        assert_eq!(tried, runs, "{at_once} at a time");
    }
}

#[test]
fn larger_messages_are_tried_in_fewer_runs() {
    // Runs until the first way is agreed.
    for (bytes, runs) in [(1_usize << 16, 32), (1 << 20, 32), (1 << 21, 16), (1 << 22, 12), (1 << 30, 12)] {
        let mut ways = one();
        let class = bytes.ilog2().saturating_sub(SMALLEST).min(CLASSES as u32 - 1) as usize;
        let mut tried = 0;
        loop {
            let way = ways.answer(bytes, bytes >= SHARED_FROM, tried << 40);
            if !ways.agreed.classes[class].phase().trial {
                break;
            }
            ways.complete(bytes, (tried << 40) + [50_000, 51_000, 52_000, 53_000][way as usize]);
            tried += 1;
        }
        assert_eq!(tried, runs, "{bytes} bytes");
    }
}

#[test]
fn a_way_that_becomes_faster_is_found() {
    let mut ways = one();
    parts(&mut ways, 1000, 1, 1 << 20, false, [50_000, 80_000, 70_000, 0]);
    parts(&mut ways, 1000, 1, 1 << 20, false, [50_000, 20_000, 70_000, 0]);
    let now = parts(&mut ways, 1000, 1, 1 << 20, false, [50_000, 20_000, 70_000, 0]);
    assert!(now[Way::Kernel as usize] > 0.97, "{now:?}");
}

#[test]
fn a_way_with_slower_messages_is_taken_where_the_program_is_clearly_faster() {
    // What the program takes between its messages, after one by the kernel and through the pool; the latter come in
    // part without a choice.
    for (after_kernel_ns, after_pool_ns, fastest) in
        [(140_000, 80_000, Way::Pool), (102_000, 100_000, Way::Kernel), (10_002_000, 10_000_000, Way::Kernel)]
    {
        let (mut ways, bytes, mut now_ns) = (one(), 70_000, 0);
        let mut by = [0; WAYS.len()];
        for run in 0..1000 {
            let way = ways.answer(bytes, false, now_ns);
            let by_pool = way == Way::Pool;
            now_ns += if by_pool { 9_000 } else { 6_000 + 1000 * way as u64 };
            ways.complete(bytes, now_ns);
            for _ in 0..if by_pool { 3 } else { 0 } {
                now_ns += after_pool_ns + 9_000;
                ways.answer_unasked(bytes);
            }
            // It does not always take as long.
            now_ns += (if by_pool { after_pool_ns } else { after_kernel_ns }) * (95 + run % 11) / 100;
            by[way as usize] += 1;
        }
        assert!(by[fastest as usize] > 700, "{after_kernel_ns} {by:?}");
    }
}

#[test]
fn one_message_that_waited_for_long_changes_nothing() {
    let mut ways = one();
    let ns = [50_000, 80_000, 90_000, 0];
    parts(&mut ways, 100, 1, 1 << 20, false, ns);
    assert_eq!(ways.answer(1 << 20, false, 0), Way::Pool);
    ways.complete(1 << 20, 1_000_000_000);
    assert!(parts(&mut ways, 100, 1, 1 << 20, false, ns)[Way::Pool as usize] > 0.8);
}

/// Two ranks that send to and fro, where a way costs so much when the other rank takes it, too, and so much when it
/// does not; how often each pair of ways was taken.
fn to_and_fro(pair: &mut [Ways; 2], runs: u64, both: [u64; 3], one: [u64; 3]) -> [[u32; 3]; 3] {
    let mut taken = [[0; 3]; 3];
    let mut before = Way::Pool;
    for run in 0..runs {
        let mut chosen = [Way::Pool; 2];
        for (side, ways) in pair.iter_mut().enumerate() {
            let way = ways.answer(300_000, false, run << 40);
            let ns = if way == before { both } else { one };
            ways.complete(300_000, (run << 40) + ns[way as usize]);
            chosen[side] = way;
            before = way;
        }
        taken[chosen[0] as usize][chosen[1] as usize] += 1;
    }
    taken
}

#[test]
fn messages_that_come_one_way_alone_are_measured_apart_and_by_their_receiver() {
    let (mut pair, bytes) = (two(), 300_000);
    to_and_fro(&mut pair, 2_000, [20_000, 9_000, 32_000], [20_000, 9_000, 32_000]);
    let mut by = [0; WAYS.len()];
    for run in 0..1_000 {
        let way = pair[0].choose(bytes, false, run << 40);
        pair[0].complete(bytes, (run << 40) + [25_000, 19_000, 14_000, 0][way as usize]);
        by[way as usize] += 1;
    }
    assert!(by[Way::Receiver as usize] > 850, "{by:?}");
    // The other rank knows nothing of that, and both still know of the messages to and fro.
    assert_eq!(pair[1].choose(bytes, false, 0), Way::Pool);
    assert!(pair[1].is_trying());
    pair[1].complete(bytes, 1);
    for ways in &mut pair {
        assert_eq!(ways.answer(bytes, false, 0), Way::Kernel);
        assert!(!ways.is_trying());
        ways.complete(bytes, 9_000);
    }
}

#[test]
fn where_messages_go_one_way_the_pool_is_judged_by_slots_that_it_comes_to_again() {
    let (lap, bytes) = (32, 1_usize << SMALLEST);
    for (first_ns, later_ns, best) in
        [(2_000, 2_000, Way::Pool), (7_000, 7_000, Way::Kernel), (7_000, 2_000, Way::Pool)]
    {
        let mut ways = Ways::new(Box::leak(Box::default()), 1, lap * bytes);
        let (mut in_row, mut by) = (0, [0; WAYS.len()]);
        for run in 0..3_000 {
            let way = ways.choose(bytes, false, run << 40);
            in_row = if way == Way::Pool { in_row + 1 } else { 0 };
            let again_ns = if run < 300 { first_ns } else { later_ns };
            let pool_ns = if in_row > lap { again_ns } else { 50_000 };
            ways.complete(bytes, (run << 40) + [pool_ns, 5_500, 6_500, 0][way as usize]);
            by[way as usize] += u32::from(run >= 2_000);
        }
        assert!(by[best as usize] > 850, "{by:?}");
    }
    // Slots that come back are the same at once.
    let trials = [Course::ToAndFro, Course::OneWay].map(|course| Trials::of(course, 0, lap * bytes));
    assert_eq!(trials.map(|trials| trials.messages(Way::Pool)), [TRIAL_OF_POOL, lap as u32 + TRIAL]);
    // What takes longer is tried more rarely.
    assert_eq!(trials.map(Trials::most_between), [TRIALS_EACH, 3 * TRIALS_EACH]);
}

#[test]
fn a_run_goes_to_and_fro_if_a_message_went_out_before_it_began() {
    let mut ways = one();
    ways.sent();
    let mut course = |sends_meanwhile: bool| {
        (0..2).for_each(|_| _ = ways.choose(100_000, false, 0));
        if sends_meanwhile {
            ways.sent();
        }
        (0..2).for_each(|_| ways.complete(100_000, 1));
        ways.course
    };
    let courses = [true, false, false].map(&mut course);
    assert_eq!(courses, [Course::ToAndFro, Course::ToAndFro, Course::OneWay]);
}

#[test]
fn the_pool_is_given_up_after_fewer_runs_where_another_way_is_known_to_be_far_faster() {
    let (mut ways, bytes) = (one(), 1_usize << 20);
    let class = &ways.agreed.classes[(bytes.ilog2() - SMALLEST) as usize];
    let mut tried = [0; 2];
    for run in 0..200u64 {
        let way = ways.answer(bytes, false, run << 40);
        let Phase { number, trial, .. } = class.phase();
        if trial && way == Way::Pool && number < 5 {
            tried[usize::from(number > 0)] += 1;
        }
        ways.complete(bytes, (run << 40) + [900_000, 300_000, 950_000, 0][way as usize]);
    }
    // At first, nothing is known of the kernel's way.
    assert_eq!(tried, [TRIAL_OF_POOL, TRIAL]);
}

#[test]
fn two_ranks_take_the_way_that_is_fastest_when_both_take_it() {
    let mut pair = two();
    // Each for itself would stay with the kernel while the other one does.
    let taken = to_and_fro(&mut pair, 2_000, [10_000, 22_000, 25_000], [30_000, 12_000, 25_000]);
    assert!(taken[0][0] > 1_900, "{taken:?}");
    // One of them sees first that the computer has changed.
    let taken = to_and_fro(&mut pair, 3_000, [40_000, 22_000, 25_000], [40_000, 22_000, 25_000]);
    assert!(taken[1][1] > 2_500, "{taken:?}");
}

#[test]
fn nonsense_in_the_memory_that_both_see_is_at_worst_a_slower_way() {
    let agreed: &'static AgreedWays = Box::leak(Box::default());
    let mut ways = Ways::new(agreed, 1, 0);
    for number in 0..20_000u64 {
        let class = &agreed.classes[number as usize % 3];
        let scribble = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        class.phase.store(scribble, Ordering::Relaxed);
        class.ns_per_byte[0][1].store(scribble as u32, Ordering::Relaxed);
        let shared = number % 2 == 0;
        let way = ways.answer(SHARED_FROM, shared, number << 20);
        assert!(!(shared && way == Way::Receiver));
        ways.complete(SHARED_FROM, (number << 20) + 1000);
    }
}

#[test]
fn what_the_first_messages_cost_is_soon_forgotten() {
    let mut ways = one();
    // The pool gets its memory.
    parts(&mut ways, 24, 1, 1 << 20, false, [90_000, 65_000, 120_000, 0]);
    let later = parts(&mut ways, 1000, 1, 1 << 20, false, [50_000, 65_000, 120_000, 0]);
    assert!(later[Way::Pool as usize] > 0.85, "{later:?}");
}

#[test]
fn what_a_way_cost_in_many_runs_takes_the_place_of_what_it_cost_in_its_trial() {
    let [mut ways, _] = two();
    let class = &ways.agreed.classes[4];
    for run in 0..200u64 {
        let way = ways.answer(1 << 20, false, run << 40);
        // By the kernel, runs are fast in the trial alone.
        let ns = match way {
            Way::Pool => 115_000,
            Way::Kernel if class.phase().trial => 78_000,
            Way::Kernel => 150_000,
            Way::Receiver | Way::PastCaches => 400_000,
        };
        let Phase { number, trial, .. } = class.phase();
        ways.complete(1 << 20, (run << 40) + ns);
        if number == 4 && trial && way == Way::Pool {
            let ns = class.cost(0, Way::Kernel).expect("it was tried").messages * (1 << 20) as f32;
            assert!((130_000.0..150_000.0).contains(&ns), "{ns}");
            return;
        }
    }
    panic!("the ways are tried again after some runs");
}
