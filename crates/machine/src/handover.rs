//! What handing data over between two elements costs, as measured: one curve for each sort of pair.

use crate::{ElementId, Machine};

/// Bytes of a cache line, as curves count them.
pub const LINE_BYTES: u64 = 64;

/// The nearest thing that two elements share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Nearness {
    /// A physical core: SMT siblings.
    Core,
    /// An L2.
    L2,
    /// An L3.
    L3,
    /// A chip.
    Chip,
    /// Main memory and no more.
    Nothing,
}

impl Nearness {
    /// All of them, the nearest first.
    pub const ALL: [Nearness; 5] =
        [Nearness::Core, Nearness::L2, Nearness::L3, Nearness::Chip, Nearness::Nothing];

    /// What the machine file calls it.
    pub fn name(self) -> &'static str {
        match self {
            Nearness::Core => "core",
            Nearness::L2 => "l2",
            Nearness::L3 => "l3",
            Nearness::Chip => "chip",
            Nearness::Nothing => "nothing",
        }
    }

    /// The one that is called `name`.
    pub fn from_name(name: &str) -> Option<Nearness> {
        Nearness::ALL.into_iter().find(|n| n.name() == name)
    }
}

/// What lines cost that go from one element to another, by the bytes that are handed over at once and the bytes of the
/// ring between the two.
///
/// An end of a hand-over pays for writing or reading the data wherever they are; a task's cost holds that already, for
/// data in the core's own caches. So a hand-over's *price* at each end is what a line costs beyond half of
/// [`near_line_ns`](HandoverPoint::near_line_ns), which is for both ends on one core.
#[derive(Debug, Clone, PartialEq)]
pub struct HandoverCurve {
    /// What the two elements share; the curve holds for all pairs that share as much.
    pub shares: Nearness,
    /// In rising order of `bytes`, then of `ring_bytes`.
    pub points: Vec<HandoverPoint>,
}

/// One measured point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HandoverPoint {
    /// Bytes that are handed over at once.
    pub bytes: u64,
    /// Bytes of the ring.
    pub ring_bytes: u64,
    /// ns per line that one core spends on writing and reading the same bytes in its own caches.
    pub near_line_ns: f64,
    /// ns per line that the slower end spends while data go one way.
    pub alone_line_ns: f64,
    /// ns per line, written or read, that an end spends while as much goes the other way.
    pub both_line_ns: f64,
}

impl HandoverPoint {
    /// ns per line at the slower end.
    pub fn line_ns(&self, both: bool) -> f64 {
        if both { self.both_line_ns } else { self.alone_line_ns }
    }
}

/// A ring whose lines cost at most this much more than those of the best one is as good: the smallest such is taken.
const AS_GOOD: f64 = 1.05;

impl HandoverCurve {
    /// Bytes of the smallest ring in which hand-overs of `bytes` go about as fast as in the best of all that were
    /// measured.
    pub fn best_ring_bytes(&self, bytes: u64, both: bool) -> u64 {
        let rings = self.rings();
        let ns = |ring: &u64| self.line_ns(bytes, *ring, both);
        let least = rings.iter().map(ns).fold(f64::INFINITY, f64::min);
        rings.iter().copied().find(|ring| ns(ring) <= least * AS_GOOD).unwrap_or(0)
    }

    /// ns that each end of a hand-over of `bytes` spends beyond what the same data cost it in its own caches.
    pub fn price_ns(&self, bytes: u64, ring_bytes: u64, both: bool) -> f64 {
        let lines = bytes.div_ceil(LINE_BYTES) as f64;
        let near = self.between(bytes, |row| row.first().map_or(0.0, |p| p.near_line_ns));
        (self.line_ns(bytes, ring_bytes, both) - near / 2.0).max(0.0) * lines
    }

    /// [`price_ns`](Self::price_ns) through the ring of [`best_ring_bytes`](Self::best_ring_bytes).
    pub fn best_price_ns(&self, bytes: u64, both: bool) -> f64 {
        self.price_ns(bytes, self.best_ring_bytes(bytes, both), both)
    }

    /// ns per line at the slower end of hand-overs of `bytes` through a ring of `ring_bytes`: between the points that
    /// were measured on a straight line over the logarithms of both, outside them as at the nearest.
    pub fn line_ns(&self, bytes: u64, ring_bytes: u64, both: bool) -> f64 {
        let of = |p: &HandoverPoint| (p.ring_bytes, p.line_ns(both));
        self.between(bytes, |row| interpolated(row.iter().map(of), ring_bytes))
    }

    /// `value` of the rows of points around `bytes`, interpolated.
    fn between(&self, bytes: u64, value: impl Fn(&[HandoverPoint]) -> f64) -> f64 {
        let rows = self.points.chunk_by(|a, b| a.bytes == b.bytes);
        interpolated(rows.map(|row| (row[0].bytes, value(row))), bytes)
    }

    /// The rings that were measured, rising.
    fn rings(&self) -> Vec<u64> {
        let mut rings: Vec<u64> = self.points.iter().map(|p| p.ring_bytes).collect();
        rings.sort_unstable();
        rings.dedup();
        rings
    }
}

/// The value at `x` between points in rising order, over the logarithm of x; 0 without points.
fn interpolated(points: impl Iterator<Item = (u64, f64)>, x: u64) -> f64 {
    let mut below: Option<(u64, f64)> = None;
    for (at, value) in points {
        if at >= x {
            let Some((low, from)) = below else { return value };
            let part = (x as f64 / low as f64).ln() / (at as f64 / low as f64).ln();
            return from + (value - from) * part;
        }
        below = Some((at, value));
    }
    below.map_or(0.0, |(_, value)| value)
}

impl Machine {
    /// The nearest thing that two elements share.
    pub fn nearness(&self, a: ElementId, b: ElementId) -> Nearness {
        let (a, b) = (&self.elements[a].place, &self.elements[b].place);
        let shared = |x: Option<u32>, y: Option<u32>| x.is_some() && x == y;
        match () {
            () if shared(a.core, b.core) => Nearness::Core,
            () if shared(a.l2, b.l2) => Nearness::L2,
            () if shared(a.l3, b.l3) => Nearness::L3,
            () if a.chip == b.chip => Nearness::Chip,
            () => Nearness::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines that cost 8 ns in small rings, 2 ns from 1 MiB on and 3 ns beyond 4 MiB; twice that both ways.
    fn curve() -> HandoverCurve {
        let point = |bytes: u64, (ring_bytes, ns): (u64, f64)| HandoverPoint {
            bytes,
            ring_bytes,
            near_line_ns: 2.0,
            alone_line_ns: ns,
            both_line_ns: 2.0 * ns,
        };
        let rings = [(65536, 8.0), (1 << 20, 2.0), (4 << 20, 2.05), (16 << 20, 3.0)];
        let points = [1024, 16384].iter().flat_map(|&bytes| rings.map(|ring| point(bytes, ring))).collect();
        HandoverCurve { shares: Nearness::L3, points }
    }

    #[test]
    fn the_smallest_of_the_rings_that_are_about_as_good_is_the_best() {
        assert_eq!(curve().best_ring_bytes(1024, false), 1 << 20);
        assert_eq!(curve().best_ring_bytes(1 << 24, true), 1 << 20);
    }

    #[test]
    fn between_two_points_a_line_costs_something_between_and_outside_as_at_the_nearest() {
        let curve = curve();
        assert_eq!(curve.line_ns(4096, 65536, false), 8.0);
        assert!((curve.line_ns(4096, 262_144, false) - 5.0).abs() < 1e-9, "half way in the logarithm");
        assert_eq!(curve.line_ns(64, 1, false), 8.0);
        assert_eq!(curve.line_ns(64, 1 << 40, true), 6.0);
    }

    #[test]
    fn a_price_is_what_a_line_costs_beyond_its_own_caches() {
        assert_eq!(curve().price_ns(1024, 65536, false), 16.0 * (8.0 - 1.0));
        assert_eq!(curve().best_price_ns(1000, false), 16.0 * (2.0 - 1.0));
    }

    #[test]
    fn pairs_are_as_near_as_the_nearest_thing_that_they_share() {
        let mut machine = crate::load("host").unwrap();
        let mut other = machine.elements[0].clone();
        other.name = "other".into();
        machine.elements = vec![machine.elements[0].clone(), other];
        let place = |core, l2, l3| crate::Place { core, l2, l3, ..Default::default() };
        machine.elements[0].place = place(Some(0), Some(0), Some(0));
        for (other, nearness) in [
            (place(Some(0), Some(0), Some(0)), Nearness::Core),
            (place(Some(1), Some(0), Some(0)), Nearness::L2),
            (place(Some(1), Some(1), Some(0)), Nearness::L3),
            (place(None, None, None), Nearness::Chip),
            (crate::Place { chip: 1, ..Default::default() }, Nearness::Nothing),
        ] {
            machine.elements[1].place = other;
            assert_eq!(machine.nearness(0, 1), nearness);
            assert_eq!(Nearness::from_name(nearness.name()), Some(nearness));
        }
    }
}
