//! The curve of hand-overs of this computer: what lines cost between two cpus, by bytes at once and bytes of the ring.

use ground::quantile;
use host::LineStream;
use host::stream::near_line_ns;
use machine::{ElementId, HandoverCurve, HandoverPoint, Machine, Nearness};

/// Which points of the curve are measured, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandoverGrid {
    /// Bytes that are handed over at once, rising.
    bytes: &'static [u64],
    /// Bytes of the smallest ring; the next has twice as many.
    ring_bytes_first: u64,
    rings: u32,
    /// The whole grid is gone through so often: a busy moment spoils one pass of many points, not all passes of one.
    passes: usize,
    /// How long each point is measured in each pass.
    point_ns: u64,
}

impl HandoverGrid {
    /// What `probe` measures for a machine file: seconds for each sort of pair.
    pub const FULL: HandoverGrid = HandoverGrid {
        bytes: &[64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10],
        ring_bytes_first: 32 << 10,
        rings: 10,
        passes: 5,
        point_ns: 2_000_000,
    };
    /// What `profile` measures where there is no machine file: tenths of a second.
    pub const SHORT: HandoverGrid = HandoverGrid {
        bytes: &[64, 1 << 10, 16 << 10, 128 << 10],
        ring_bytes_first: 64 << 10,
        rings: 8,
        passes: 3,
        point_ns: 1_000_000,
    };
}

/// Of the parts of a stream that were timed, this one counts: whatever else runs makes a part slower, never faster.
const COUNTS: f64 = 0.25;

/// A curve for each sort of pair among the elements of `machine` that are cpus of this computer, the nearest pairs
/// first; the first pair of each sort is measured. `progress` gets the part that is done; `None` when it returns false.
pub fn handovers(
    machine: &Machine,
    grid: HandoverGrid,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Option<Vec<HandoverCurve>> {
    let pairs = pairs(machine);
    let mut curves = Vec::new();
    for (done, &(shares, cpus)) in pairs.iter().enumerate() {
        let mut part = |share: f64| progress((done as f64 + share) / pairs.len() as f64);
        let points = points(cpus, grid, &mut part)?;
        if !points.is_empty() {
            curves.push(HandoverCurve { shares, points });
        }
    }
    Some(curves)
}

/// The cpus of the first pair of each sort.
fn pairs(machine: &Machine) -> Vec<(Nearness, [u32; 2])> {
    let cpu = |e: ElementId| machine.elements[e].os_cpu;
    let real: Vec<ElementId> = (0..machine.elements.len()).filter(|&e| cpu(e).is_some()).collect();
    let mut pairs: Vec<(Nearness, [u32; 2])> = Vec::new();
    for (at, &a) in real.iter().enumerate() {
        for &b in &real[at + 1..] {
            let shares = machine.nearness(a, b);
            if let (Some(first), Some(second)) = (cpu(a), cpu(b))
                && pairs.iter().all(|known| known.0 != shares)
            {
                pairs.push((shares, [first, second]));
            }
        }
        if pairs.len() == Nearness::ALL.len() {
            break;
        }
    }
    pairs.sort_by_key(|pair| pair.0);
    pairs
}

/// The points of one pair's curve; those that no pass could measure are left out.
fn points(
    cpus: [u32; 2],
    grid: HandoverGrid,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Option<Vec<HandoverPoint>> {
    let rings = || (0..grid.rings).map(|i| grid.ring_bytes_first << i);
    let shapes: Vec<(u64, u64)> = (grid.bytes.iter())
        .flat_map(|&bytes| rings().filter(move |ring| *ring >= 2 * bytes).map(move |ring| (bytes, ring)))
        .collect();
    // Per point and pass: near, one way, both ways.
    let mut found = vec![[const { Vec::new() }; 3]; shapes.len()];
    for pass in 0..grid.passes {
        for (i, &(bytes, ring_bytes)) in shapes.iter().enumerate() {
            if !progress((pass * shapes.len() + i) as f64 / (grid.passes * shapes.len()) as f64) {
                return None;
            }
            let stream = |both| LineStream { cpus, bytes, ring_bytes, both }.line_ns(grid.point_ns);
            let near = near_line_ns(cpus[0], bytes, grid.point_ns / 4);
            for (all, parts) in found[i].iter_mut().zip([near, stream(false), stream(true)]) {
                all.extend(middle(parts, COUNTS));
            }
        }
    }
    let point = |(&(bytes, ring_bytes), [near, alone, both]): (&(u64, u64), [Vec<f64>; 3])| {
        Some(HandoverPoint {
            bytes,
            ring_bytes,
            near_line_ns: middle(near, 0.5)?,
            alone_line_ns: middle(alone, 0.5)?,
            both_line_ns: middle(both, 0.5)?,
        })
    };
    Some(shapes.iter().zip(found).filter_map(point).collect())
}

/// The quantile `q`, to three digits after the point: a ps is less than any two passes differ by.
fn middle(mut values: Vec<f64>, q: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    (!values.is_empty()).then(|| (quantile(&values, q) * 1e3).round() / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sort_of_pair_is_measured_once_between_the_first_two_of_it() {
        let mut machine = machine::load("host").unwrap();
        let first = machine.elements[0].clone();
        let element = |cpu: u32| {
            let mut e = first.clone();
            e.name = format!("CPU{cpu}");
            e.os_cpu = Some(cpu);
            e.place =
                machine::Place { chip: cpu / 4, l3: Some(cpu / 2), core: Some(cpu), ..Default::default() };
            e
        };
        machine.elements = (0..8).map(element).collect();
        let sorts = [(Nearness::L3, [0, 1]), (Nearness::Chip, [0, 2]), (Nearness::Nothing, [0, 4])];
        assert_eq!(pairs(&machine), sorts);
    }

    #[test]
    fn a_curve_of_this_computer_has_a_point_for_each_ring_and_comes_back_from_its_file() {
        let mut machine = machine::load("host").unwrap();
        let grid = HandoverGrid {
            bytes: &[64, 4096],
            rings: 2,
            passes: 1,
            point_ns: 100_000,
            ..HandoverGrid::SHORT
        };
        machine.handovers = handovers(&machine, grid, &mut |_| true).unwrap();
        for curve in &machine.handovers {
            assert!(
                curve.points.len() <= 4 && curve.points.iter().all(|p| p.line_ns(true) > 0.0),
                "{curve:?}"
            );
        }
        let text = machine::file::to_text(&machine).unwrap();
        assert_eq!(machine::file::parse(&text, "again").unwrap().handovers, machine.handovers);
    }

    #[test]
    fn a_measurement_that_is_stopped_gives_nothing() {
        let machine = machine::load("host").unwrap();
        let found = handovers(&machine, HandoverGrid::SHORT, &mut |_| false);
        assert!(found.is_none_or(|curves| curves.is_empty()));
    }
}
