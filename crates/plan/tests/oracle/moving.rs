//! What moving data between two elements costs each of them, after the book's page on machine files: a step at a time,
//! with none of the code that the planner uses.

use machine::{HandoverPoint, Machine};

/// ns per instance of `bytes` that each end pays, with `batch` instances at once.
pub(crate) fn ns(machine: &Machine, from: usize, to: usize, bytes: u64, batch: u64) -> f64 {
    let (a, b) = (&machine.elements[from].place, &machine.elements[to].place);
    let same = |x: Option<u32>, y: Option<u32>| x.is_some() && x == y;
    // What the two share, the nearest first, and whether they do.
    let shared = [
        ("core", same(a.core, b.core)),
        ("l2", same(a.l2, b.l2)),
        ("l3", same(a.l3, b.l3)),
        ("chip", a.chip == b.chip),
        ("nothing", true),
    ];
    let nearest = shared.iter().position(|(_, yes)| *yes).unwrap_or(4);
    let farness = |name: &str| shared.iter().position(|(other, _)| *other == name).unwrap_or(4);
    // The curve of such pairs, else of the next that share less, else the last.
    let mut curves: Vec<_> =
        machine.handovers.iter().map(|c| (farness(c.shares.name()), &c.points)).collect();
    curves.sort_by_key(|(far, _)| *far);
    let Some((_, points)) = curves.iter().find(|(far, _)| *far >= nearest).or(curves.last()) else {
        return 0.0;
    };
    let at_once = bytes * batch;
    let mut rings: Vec<u64> = points.iter().map(|p| p.ring_bytes).collect();
    rings.sort_unstable();
    rings.dedup();
    let line_ns = |ring: u64| {
        across(points, at_once, |row| {
            line(row.iter().map(|p| (p.ring_bytes, p.alone_line_ns)).collect(), ring)
        })
    };
    let best = rings.iter().map(|&ring| line_ns(ring)).fold(f64::INFINITY, f64::min);
    // The smallest ring that is at most 5 % worse than the best.
    let Some(&ring) = rings.iter().find(|&&ring| line_ns(ring) <= 1.05 * best) else { return 0.0 };
    let near = across(points, at_once, |row| row[0].near_line_ns);
    let lines = at_once.div_ceil(64) as f64;
    (line_ns(ring) - near / 2.0).max(0.0) * lines / batch as f64
}

/// A value that each size has, between the sizes that were measured.
fn across(points: &[HandoverPoint], at_once: u64, value: impl Fn(&[&HandoverPoint]) -> f64) -> f64 {
    let mut sizes: Vec<u64> = points.iter().map(|p| p.bytes).collect();
    sizes.dedup();
    let row = |size: u64| points.iter().filter(|p| p.bytes == size).collect::<Vec<_>>();
    line(sizes.into_iter().map(|size| (size, value(&row(size)))).collect(), at_once)
}

/// A straight line over the logarithms between points, and level beyond them.
fn line(points: Vec<(u64, f64)>, x: u64) -> f64 {
    let (first, last) = (points[0], points[points.len() - 1]);
    if x <= first.0 {
        return first.1;
    }
    if x >= last.0 {
        return last.1;
    }
    let right = points.iter().position(|p| p.0 >= x).unwrap_or(points.len() - 1);
    let ((x0, y0), (x1, y1)) = (points[right - 1], points[right]);
    let log = |x: u64| (x as f64).log2();
    y0 + (y1 - y0) * (log(x) - log(x0)) / (log(x1) - log(x0))
}
