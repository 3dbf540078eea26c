//! The searches agree with each other, on traffic and machines that are drawn.

use ground::Draws;
use machine::Machine;
use place::named::{PATTERNS, named};
use place::{
    Distance, Objective, Period, PlaceOptions, Rings, RingsOptions, SearchMethod, SeatDistances, SymmetryRule,
};
use place::{Traffic, quick, search};

fn options(method: SearchMethod, symmetry: SymmetryRule) -> PlaceOptions {
    PlaceOptions { method, symmetry, ..PlaceOptions::default() }
}

fn drawn_traffic(draws: &mut Draws, parts: usize) -> Traffic {
    let flow = |draws: &mut Draws| (draws.below(parts), draws.below(parts), 1.0 + draws.below(9) as f64);
    let mut flows: Vec<_> = (0..2 * parts).map(|_| flow(draws)).collect();
    flows.push((0, 1, 1.0));
    let mut traffic = Traffic::of("drawn", parts, flows);
    if draws.below(2) == 1 {
        let more = (0..parts).map(|_| flow(draws)).chain([(1, 0, 2.0)]).collect::<Vec<_>>();
        let mut phase = Traffic::of("drawn", parts, more).phases.remove(0);
        phase.weight = 1.0 + draws.below(4) as f64;
        traffic.phases.push(phase);
    }
    traffic
}

fn spes(machine: &Machine, count: usize) -> Vec<usize> {
    machine.workers().into_iter().take(count).collect()
}

/// Every mapping of parts to seats, one by one.
fn brute_force(objective: &mut dyn Objective) -> (f64, f64, usize) {
    let (parts, seats) = (objective.parts(), objective.seats());
    let (mut best, mut worst, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    let mut mapping = vec![0; parts];
    loop {
        let is_one_each = (0..parts).all(|i| !mapping[..i].contains(&mapping[i]));
        if is_one_each {
            let cost = objective.cost(&mapping);
            (best, worst, count) = (best.min(cost), worst.max(cost), count + 1);
        }
        let Some(at) = (0..parts).rev().find(|&i| mapping[i] + 1 < seats) else {
            return (best, worst, count);
        };
        mapping[at] += 1;
        mapping[at + 1..].fill(0);
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

fn agrees(objective: &mut dyn Objective, case: &str) {
    let (best, worst, count) = brute_force(objective);
    for symmetry in [SymmetryRule::None, SymmetryRule::Tested] {
        let every = search(objective, &options(SearchMethod::Exhaustive, symmetry), &mut |_| true).unwrap();
        assert!(
            close(every.cost, best) && close(every.worst.1, worst),
            "{case}: {every:?} and {best} to {worst}"
        );
        assert!(every.is_proved() && every.whole);
        assert!(close(objective.cost(&every.mapping), every.cost), "{case}");
        if symmetry == SymmetryRule::None {
            assert_eq!(every.evaluated, count as u64, "{case}");
        }
        let branched = search(objective, &options(SearchMethod::Branch, symmetry), &mut |_| true).unwrap();
        assert!(close(branched.cost, best), "{case}: {symmetry:?}, {} and {best}", branched.cost);
    }
    for method in [SearchMethod::Anneal, SearchMethod::Levels] {
        let few = PlaceOptions { moves: Some(3000), ..options(method, SymmetryRule::Tested) };
        let found = search(objective, &few, &mut |_| true).unwrap();
        assert!(found.cost >= best - 1e-9 * best.abs() && found.bound <= best + 1e-9 * best.abs(), "{case}");
        assert!(close(objective.cost(&found.mapping), found.cost), "{case}");
    }
}

#[test]
fn branch_and_bound_and_symmetries_find_what_trying_everything_finds_by_limits() {
    let mut draws = Draws::new(5);
    for case in 0..120 {
        // Parts of a blade: some SPEs of each chip.
        let machine = machine::load(["cell", "qs22:spe=11", "qs20:spe=10"][draws.below(3)]).unwrap();
        let mut seats = machine.workers();
        draws.shuffle(&mut seats);
        seats.truncate(5);
        let parts = 3 + draws.below(3);
        let mut traffic = drawn_traffic(&mut draws, parts);
        if draws.below(3) == 0 {
            traffic.phases[0].memory.push(place::MemoryFlow { part: 1, read_bytes: 9.0, written_bytes: 4.0 });
        }
        agrees(&mut Period::new(&traffic, &machine, &seats).unwrap(), &format!("case {case}"));
    }
}

#[test]
fn branch_and_bound_and_symmetries_find_what_trying_everything_finds_by_distance() {
    let mut draws = Draws::new(6);
    for case in 0..120 {
        let parts = 3 + draws.below(3);
        let traffic = drawn_traffic(&mut draws, parts);
        let steps = match draws.below(3) {
            0 => SeatDistances::new(6, |a, b| if a % 2 == b % 2 { 1.0 } else { 4.0 }),
            1 => SeatDistances::new(5, |a, b| a.abs_diff(b) as f64),
            // There is as far as back is not.
            _ => SeatDistances::new(5, |a, b| 1.0 + ((3 * a + 5 * b) % 7) as f64),
        };
        agrees(&mut Distance::new(&traffic, steps), &format!("case {case}"));
    }
}

#[test]
fn branch_and_bound_and_symmetries_find_what_trying_everything_finds_by_rings() {
    let mut draws = Draws::new(7);
    let machine = machine::load("cell").unwrap();
    for case in 0..20 {
        let parts = 3 + draws.below(2);
        let mut traffic = drawn_traffic(&mut draws, parts);
        traffic.phases[0].memory.push(place::MemoryFlow { part: 0, read_bytes: 9.0, written_bytes: 0.0 });
        let mut coin = || draws.below(2) == 1;
        let added = RingsOptions { sides: coin(), memory: coin(), sizes: coin(), phases: coin() };
        let mut rings = Rings::new(&traffic, &machine, &spes(&machine, 6), added).unwrap();
        agrees(&mut rings, &format!("case {case}, {added:?}"));
    }
}

#[test]
fn no_mapping_to_a_blade_costs_less_by_rings_than_its_bound() {
    let machine = machine::load("qs22").unwrap();
    let mut draws = Draws::new(5);
    for (name, parts) in [("ring", 16), ("ring-both", 12), ("all-to-all", 10), ("recursive-doubling", 16)] {
        let traffic = named(name, parts, 16384.0).unwrap();
        for phases in [false, true] {
            let options = RingsOptions { phases, sizes: phases, ..RingsOptions::default() };
            let mut rings = Rings::new(&traffic, &machine, &machine.workers(), options).unwrap();
            let bound = rings.at_least(&[]);
            let mut order: Vec<usize> = (0..16).collect();
            for _ in 0..200 {
                draws.shuffle(&mut order);
                let cost = rings.cost(&order[..parts]);
                assert!(bound <= cost * (1.0 + 1e-9), "{name}: {bound} by its bound, {cost} by a mapping");
            }
            assert!(bound > 0.0 || name == "recursive-doubling" || name == "ring-both", "{name}: {bound}");
        }
    }
}

#[test]
fn mappings_by_limits_cost_the_same_in_whatever_order_they_are_asked_for() {
    let machine = machine::load("qs22").unwrap();
    let mut draws = Draws::new(9);
    let traffic = drawn_traffic(&mut draws, 12);
    let mut kept = Period::new(&traffic, &machine, &machine.workers()).unwrap();
    let mut order: Vec<usize> = (0..16).collect();
    for i in 0..300 {
        if i % 3 == 0 {
            draws.shuffle(&mut order)
        } else {
            order.swap(draws.below(12), 8 + draws.below(8))
        }
        let first = &order[..draws.below(13)];
        let mut anew = Period::new(&traffic, &machine, &machine.workers()).unwrap();
        assert_eq!(kept.at_least(first).to_bits(), anew.at_least(first).to_bits(), "mapping {i}");
    }
}

#[test]
fn a_swap_changes_the_cost_by_what_the_swapped_mapping_costs() {
    let mut draws = Draws::new(8);
    for steps in [
        SeatDistances::new(9, |a, b| a.abs_diff(b) as f64),
        SeatDistances::new(9, |a, b| ((2 * a + b) % 5) as f64),
    ] {
        let traffic = drawn_traffic(&mut draws, 7);
        let mut objective = Distance::new(&traffic, steps);
        let mut order: Vec<usize> = (0..9).collect();
        for _ in 0..500 {
            draws.shuffle(&mut order);
            let (a, b) = (draws.below(7), draws.below(9));
            if a != b {
                let now = objective.cost(&order[..7]);
                let said = objective.swapped(&mut order, a, b, now);
                order.swap(a, b);
                assert!(close(said, objective.cost(&order[..7])));
            }
        }
    }
}

#[test]
fn all_mappings_to_one_cell_are_equal_by_limits_and_differ_by_rings() {
    let machine = machine::load("cell").unwrap();
    for pattern in PATTERNS.into_iter().step_by(4) {
        let traffic = named(pattern.name, 6, 16384.0).unwrap();
        let mut limits = Period::new(&traffic, &machine, &machine.workers()).unwrap();
        let tested = search(&mut limits, &PlaceOptions::default(), &mut |_| true).unwrap();
        assert_eq!((tested.evaluated, tested.is_all_equal()), (1, true), "{}", pattern.name);
        let without = options(SearchMethod::Exhaustive, SymmetryRule::None);
        let every = search(&mut limits, &without, &mut |_| true).unwrap();
        assert_eq!((every.evaluated, every.is_all_equal()), (20_160, true), "{}", pattern.name);
    }
    let ring = named("ring", 8, 16384.0).unwrap();
    let mut rings = Rings::new(&ring, &machine, &machine.workers(), RingsOptions::default()).unwrap();
    let every = search(&mut rings, &PlaceOptions::default(), &mut |_| true).unwrap();
    // The four ways to turn the bus over leave two orbits for the first part.
    assert_eq!(every.evaluated, 2 * 5040);
    assert!(!every.is_all_equal() && every.cost < every.median && every.median < every.worst.1, "{every:?}");
}

#[test]
fn sixteen_parts_on_a_blade_are_proved_best_by_limits() {
    let machine = machine::load("qs22").unwrap();
    for pattern in ["ring", "recursive-doubling"] {
        let traffic = named(pattern, 16, 16384.0).unwrap();
        let mut limits = Period::new(&traffic, &machine, &machine.workers()).unwrap();
        let found = search(&mut limits, &PlaceOptions::default(), &mut |_| true).unwrap();
        assert_eq!((found.evaluated, found.is_proved()), (12_870, true), "{pattern}");
    }
}

#[test]
fn the_part_that_sends_more_goes_to_chip_0() {
    let machine = machine::load("qs22").unwrap();
    // Two groups of eight, tied within; one of them sends to the other.
    let within = |group: usize| (0..64).map(move |at| (group + at / 8, group + at % 8, 100.0));
    for sender in [0, 8] {
        let across = (0..8).map(|part| (sender + part, 8 - sender + part, 10.0));
        let traffic = Traffic::of("two groups", 16, within(0).chain(within(8)).chain(across));
        let mut rings = Rings::new(&traffic, &machine, &machine.workers(), RingsOptions::default()).unwrap();
        let few = PlaceOptions { moves: Some(5_000), ..PlaceOptions::default() };
        let found = search(&mut rings, &few, &mut |_| true).unwrap();
        let senders = &found.mapping[sender..sender + 8];
        assert!(senders.iter().all(|&seat| seat < 8), "sender {sender}: {:?}", found.mapping);
    }
}

#[test]
fn the_same_seed_gives_the_same_mapping_and_a_search_can_be_stopped() {
    let traffic = named("torus-2d", 36, 1.0).unwrap();
    let steps = || SeatDistances::new(40, |a, b| (a / 5).abs_diff(b / 5) as f64 + 1.0);
    let few = PlaceOptions { moves: Some(50_000), ..PlaceOptions::default() };
    let found = || search(&mut Distance::new(&traffic, steps()), &few, &mut |_| true).unwrap();
    assert_eq!(found(), found());
    let stopped = search(&mut Distance::new(&traffic, steps()), &few, &mut |_| false).unwrap();
    assert!(stopped.cost >= found().cost);
    let every = options(SearchMethod::Exhaustive, SymmetryRule::None);
    let eight = named("ring", 8, 1.0).unwrap();
    let error = search(&mut Distance::new(&eight, SeatDistances::new(8, |_, _| 1.0)), &every, &mut |_| false)
        .unwrap_err();
    assert!(error.to_string().contains("stopped"));
    let error = search(&mut Distance::new(&traffic, steps()), &every, &mut |_| true).unwrap_err();
    assert!(error.to_string().contains("take another method"), "{error}");
    let error =
        search(&mut Distance::new(&traffic, SeatDistances::new(4, |_, _| 1.0)), &every, &mut |_| true)
            .unwrap_err();
    assert!(error.to_string().contains("36 parts on 4 elements"), "{error}");
}

#[test]
fn annealing_finds_the_cut_of_a_hidden_grid() {
    // A torus whose parts are shuffled, on 2 chips x 8 caches x 8 cores: blocks of 8 x 8 are known to be good.
    let grid = named("torus-2d:16x8", 128, 1.0).unwrap();
    let mut names: Vec<usize> = (0..128).collect();
    Draws::new(3).shuffle(&mut names);
    let flows = grid.phases[0].flows.iter().map(|flow| (names[flow.from], names[flow.to], 1.0));
    let shuffled = Traffic::of("shuffled", 128, flows);
    let steps = || {
        SeatDistances::new(128, |a, b| match (a / 8 == b / 8, a / 64 == b / 64) {
            (true, _) => 1.0,
            (_, true) => 2.0,
            _ => 4.0,
        })
    };
    // Each cache has a block of 4 x 2 parts, each chip one of 8 x 8.
    let by_hand: Vec<usize> = (0..128)
        .map(|part| (part / 8, part % 8))
        .map(|(x, y)| x / 8 * 64 + (x % 8 / 4 * 4 + y / 2) * 8 + x % 4 * 2 + y % 2)
        .collect();
    let good = Distance::new(&grid, steps()).cost(&by_hand);
    let found = search(
        &mut Distance::new(&shuffled, steps()),
        &PlaceOptions { moves: Some(400_000), ..PlaceOptions::default() },
        &mut |_| true,
    );
    let found = found.unwrap();
    assert!(found.cost <= good * 1.02, "{} and {good} by hand", found.cost);
    let quick = quick(&mut Distance::new(&shuffled, steps())).unwrap();
    assert!(Distance::new(&shuffled, steps()).cost(&quick) <= good * 1.25);
}
