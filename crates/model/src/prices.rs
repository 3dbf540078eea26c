//! What hand-overs cost the elements at both ends, and what elements that slow each other down have together: from the
//! profile that was taken on the machine itself, which is newer; else from the machine where it says so; else from any
//! profile.

use machine::{Element, ElementId, HandoverCurve, HandoverPoint, Machine, Nearness, Overhead, Together};
use work::{Graph, Profile};

/// Up to this slowdown elements that compute at the same time do not slow each other down: measurements differ by that.
const NOISE: f64 = 1.05;

/// The profile of `graph` that counts on `machine`, which states the same itself or not: one that was taken on that
/// computer goes before its file, since it is newer and of the same moments as the costs. What was measured on cores
/// says nothing of a machine without any.
pub(crate) fn profile<'a>(machine: &Machine, graph: &'a Graph, stated: bool) -> Option<&'a Profile> {
    let own = |profile: &Profile| machine.computer.as_ref() == Some(&profile.machine);
    let alike = |profile: &Profile| {
        let measured =
            |kind: &&str| profile.totals_ns.contains_key(*kind) || profile.overheads.contains_key(*kind);
        machine.kinds().iter().any(measured)
    };
    graph.profile.as_ref().filter(|profile| alike(profile) && (!stated || own(profile)))
}

/// The price of every hand-over on a machine.
#[derive(Debug, Clone)]
pub struct Prices {
    /// Element -> what it spends itself on transfers, whatever their size at once.
    pub overheads: Vec<Overhead>,
    /// One for each sort of pair, the nearest first.
    pub curves: Vec<HandoverCurve>,
}

impl Prices {
    /// The prices of `graph`'s hand-overs on `machine`.
    pub fn new(machine: &Machine, graph: &Graph) -> Prices {
        let mut curves = machine.handovers.clone();
        let profile = profile(machine, graph, !curves.is_empty());
        if let Some(profile) = profile.filter(|profile| !profile.handovers.is_empty()) {
            let named = |(shares, points): (&String, &Vec<[f64; 5]>)| {
                let points = points.iter().map(point).collect();
                Nearness::from_name(shares).map(|shares| HandoverCurve { shares, points })
            };
            curves = profile.handovers.iter().filter_map(named).collect();
        }
        curves.sort_by_key(|curve| curve.shares);
        let overheads = machine.elements.iter().map(|e| crate::overhead(machine, graph, &e.kind)).collect();
        Prices { overheads, curves }
    }

    /// The index of the curve for a pair of elements: of pairs that share as much, else of the next that share less.
    #[inline]
    pub fn curve_of(&self, machine: &Machine, a: ElementId, b: ElementId) -> Option<usize> {
        match self.curves.len() {
            0 => None,
            1 => Some(0),
            n => {
                let nearness = machine.nearness(a, b);
                Some(self.curves.iter().position(|c| c.shares >= nearness).unwrap_or(n - 1))
            }
        }
    }

    /// ns per instance that moving its `bytes` in hand-overs of `batch` instances costs each end, by the curve of index
    /// `curve` and the ring that is best for them.
    pub fn moving_ns(&self, curve: usize, bytes: u64, batch: u64) -> f64 {
        let batch = batch.max(1);
        self.curves[curve].best_price_ns(bytes.saturating_mul(batch), false) / batch as f64
    }

    /// The least of [`moving_ns`](Self::moving_ns) over all sorts of pairs.
    pub fn least_moving_ns(&self, bytes: u64, batch: u64) -> f64 {
        let all = (0..self.curves.len()).map(|curve| self.moving_ns(curve, bytes, batch));
        all.min_by(f64::total_cmp).unwrap_or(0.0)
    }

    /// ns that `element` spends on one hand-over, however few its bytes: the smallest that was measured.
    pub fn hand_over_ns(&self, element: ElementId) -> f64 {
        let least = self.curves.iter().filter_map(|c| Some(c.best_price_ns(c.points.first()?.bytes, false)));
        self.overheads[element].per_transfer_ns + least.min_by(f64::total_cmp).unwrap_or(0.0)
    }

    /// The most ns that a line takes in hand-overs of `bytes`, one way or both, whatever the ring; 0 without curves.
    pub fn slowest_line_ns(&self, bytes: u64) -> f64 {
        let most = |curve: &HandoverCurve| {
            let rings = curve.points.iter().map(|p| p.ring_bytes);
            rings
                .map(|r| curve.line_ns(bytes, r, false).max(curve.line_ns(bytes, r, true)))
                .fold(0.0, f64::max)
        };
        self.curves.iter().map(most).fold(0.0, f64::max)
    }

    /// Whether anything is spent on hand-overs, apart from bytes.
    pub fn spends_on_transfers(&self) -> bool {
        !self.curves.is_empty() || self.overheads.iter().any(|o| o.per_transfer_ns > 0.0)
    }
}

/// A point as a profile keeps it.
fn point(numbers: &[f64; 5]) -> HandoverPoint {
    let [bytes, ring_bytes, near_line_ns, alone_line_ns, both_line_ns] = *numbers;
    let (bytes, ring_bytes) = (bytes as u64, ring_bytes as u64);
    HandoverPoint { bytes, ring_bytes, near_line_ns, alone_line_ns, both_line_ns }
}

/// Paces in these steps: elements that differ by less are alike, so that planners may exchange them.
const PACE_STEP: f64 = 0.05;

/// Per element of `machine`, how many times longer a task takes there than its cost says, in steps of a twentieth.
pub fn paces(machine: &Machine, graph: &Graph) -> Vec<f64> {
    let profile = profile(machine, graph, !machine.paces.is_empty());
    let of = |(id, element): (ElementId, &Element)| {
        let profiled = profile.and_then(|profile| profile.paces.get(&element.name));
        profiled.or(machine.paces.get(id)).copied().unwrap_or(1.0)
    };
    let stepped = |pace: f64| (pace / PACE_STEP).round().max(1.0) * PACE_STEP;
    machine.elements.iter().enumerate().map(of).map(stepped).collect()
}

/// Elements that have fewer cpus together than there are of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    /// `CPU0, CPU1`
    pub name: String,
    /// Two or more.
    pub elements: Vec<ElementId>,
    /// What they have, in cpus.
    pub cpus: f64,
}

/// The capacities that bind on `machine`: of elements that share a core, or slow each other down for another reason.
pub fn capacities(machine: &Machine, graph: &Graph) -> Vec<Capacity> {
    let mut groups = machine.together.clone();
    let profile = profile(machine, graph, !groups.is_empty());
    if let Some(profile) = profile.filter(|profile| !profile.together.is_empty()) {
        groups = (profile.together.iter())
            .filter_map(|(names, &[computing, memory])| {
                let elements = names.split(' ').map(|name| machine.element(name)).collect::<Option<_>>()?;
                Some(Together { elements, computing, memory })
            })
            .collect();
    }
    let capacity = |group: &Together| {
        let name = group.names(machine);
        Capacity { name, elements: group.elements.clone(), cpus: group.cpus() }
    };
    groups.iter().filter(|g| g.computing > NOISE && g.elements.len() > 1).map(capacity).collect()
}
