//! A bound from slow ways between the sides: what must stay together in any period that is shorter than they take.
//!
//! In a period of less than an edge's data takes over every way between the [`TwoSides`], a consumer there has its
//! producer there. Prices for the computing of each side, and a minimum cut that keeps such edges whole, then say what
//! such a period is at the least. The shorter the period, the more edges are kept whole and the more that is: where the
//! two meet is the bound.

use super::network::Network;
use super::sides::{SidePrices, TwoSides};
use crate::Problem;
use work::Buffering;

/// Arcs that all cuts together go over, about.
const MOST_ARCS: usize = 2_000_000;
/// Cuts for one set of whole edges, at most.
const MOST_CUTS: usize = 16;

/// ns per instance that no mapping can beat; `floor` where this is no more than that.
pub(crate) fn ways(problem: &Problem, floor: f64) -> f64 {
    let Some(sides) = TwoSides::new(problem, 1, Buffering::Shared) else { return floor };
    let mut graph = Network::new(problem, sides.ns_per_byte);
    let mut ways: Vec<f64> = graph.ways().filter(|&way| way > floor).collect();
    ways.sort_by(f64::total_cmp);
    ways.dedup();
    let mut left = (MOST_ARCS / graph.len().max(1)).max(1);
    let (mut best, mut at_high) = (floor, 0.0);
    // Below ways[i] the edges from ways[i] on are whole; the least such i for which that is possible.
    let (mut low, mut high) = (0, ways.len());
    while low < high && left > 0 {
        let middle = low.midpoint(high);
        graph.longest_way = if middle == 0 { floor } else { ways[middle - 1] };
        let (least, known) = least_period(&sides, &mut graph, ways[middle], &mut left);
        if least >= ways[middle] {
            best = best.max(ways[middle]);
            low = middle + 1;
        } else if known {
            (high, at_high) = (middle, least);
        } else {
            break;
        }
    }
    if low == high { best.max(at_high) } else { best }
}

/// What a period is at the least with the edges that `graph` keeps whole: at least `enough`, or by the best prices.
/// Says also whether these were found before no cut was left.
///
/// The value is concave in the price, and each cut says what it would be at any price if that cut were the least: the
/// next price is where the nearest such lines of either side meet.
fn least_period(sides: &TwoSides, graph: &mut Network, enough: f64, left: &mut usize) -> (f64, bool) {
    let (mut up, mut down) = ((sides.all_on_workers(), 0.0), (0.0, sides.all_on_others()));
    let mut best = 0.0f64;
    for _ in 0..MOST_CUTS {
        if *left == 0 {
            return (best, false);
        }
        *left -= 1;
        // A line is x * workers + (1 - x) * others at the price x of the workers' computing.
        let (rise, fall) = (up.0 - up.1, down.1 - down.0);
        let x = ((down.1 - up.1) / (rise + fall)).clamp(0.0, 1.0);
        let meet = x * up.0 + (1.0 - x) * up.1;
        let value = sides.value(&SidePrices { computing: x, byte: 0.0, into: 0.0, out: 0.0 }, graph);
        best = best.max(value);
        if best >= enough || !x.is_finite() || (value - meet).abs() <= 1e-9 * meet {
            break;
        }
        let line = sides.loads(graph);
        *(if line.0 > line.1 { &mut up } else { &mut down }) = line;
    }
    (best, true)
}
