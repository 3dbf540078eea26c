//! The quick search, for a caller that cannot wait.

use ground::Draws;
use place::{Distance, Objective, PlaceOptions, SearchMethod, SeatDistances, Traffic, quick, search};

/// Seats dealt out in turn to parts of the machine: 1 within one, 5 between two.
fn dealt(count: usize, parts: usize) -> SeatDistances {
    SeatDistances::new(count, |a, b| if a % parts == b % parts { 1.0 } else { 5.0 })
}

fn ring(count: usize) -> Traffic {
    Traffic::of("ring", count, (0..count).map(|part| (part, (part + 1) % count, 1.0)))
}

fn is_permutation(order: &[usize]) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.iter().copied().eq(0..order.len())
}

#[test]
fn equal_distances_leave_the_order() {
    let equal = SeatDistances::new(6, |_, _| 3.0);
    assert!(equal.all_equal());
    assert_eq!(quick(&mut Distance::new(&ring(6), equal)), None);
}

#[test]
fn an_order_that_cannot_be_better_stays() {
    let distances = SeatDistances::new(6, |a, b| if a / 3 == b / 3 { 1.0 } else { 5.0 });
    assert_eq!(quick(&mut Distance::new(&ring(6), distances)), None);
}

#[test]
fn a_small_ring_crosses_between_two_parts_twice_only() {
    let mut objective = Distance::new(&ring(8), dealt(8, 2));
    let order = quick(&mut objective).unwrap();
    assert!(is_permutation(&order));
    // Six edges within parts, two between.
    assert_eq!(objective.cost(&order), 6.0 + 2.0 * 5.0);
}

#[test]
fn a_large_ring_crosses_between_four_parts_four_times_only() {
    let mut objective = Distance::new(&ring(64), dealt(64, 4));
    let order = quick(&mut objective).unwrap();
    assert!(is_permutation(&order));
    assert_eq!(objective.cost(&order), 60.0 + 4.0 * 5.0);
}

#[test]
fn the_search_for_many_is_as_good_as_trying_all_on_few() {
    let mut draws = Draws::new(1);
    let mut sums = [0.0, 0.0];
    for _ in 0..30 {
        let flows: Vec<_> = (0..12)
            .map(|_| (draws.below(7), draws.below(7), draws.below(9) as f64))
            .chain([(0, 1, 1.0)])
            .collect();
        let mut objective = Distance::new(&Traffic::of("drawn", 7, flows), dealt(7, 2));
        let costs = [SearchMethod::Exhaustive, SearchMethod::Levels].map(|method| {
            let found =
                search(&mut objective, &PlaceOptions { method, ..PlaceOptions::default() }, &mut |_| true);
            let found = found.unwrap();
            assert!(is_permutation(&found.mapping));
            found.cost
        });
        assert!(costs[0] <= costs[1]);
        sums = [sums[0] + costs[0], sums[1] + costs[1]];
    }
    // Swaps alone stay in a local best now and then.
    assert!(sums[1] <= sums[0] * 1.1, "{sums:?}");
}

#[test]
fn parts_without_traffic_go_to_what_is_left() {
    // Two parts that communicate; seats 0 and 2 are near.
    let distances = dealt(4, 2);
    let order = quick(&mut Distance::new(&Traffic::of("pair", 4, [(0, 1, 1.0)]), distances.clone())).unwrap();
    assert!(is_permutation(&order));
    assert_eq!(distances.between(order[0], order[1]), 1.0);
}
