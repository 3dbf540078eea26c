//! A task and its neighbours: what the task's element does for them at the least.

use crate::Problem;

/// Ways to put a task's neighbours that are tried; where there are more, neighbours may be cut into pieces.
const MOST_WAYS: usize = 1_000;

/// Each neighbour of a task is on the task's element and computes there, or its data crosses the element's ports and
/// its own way to or from it, and the element spends time on that. The least over the ways to divide the neighbours,
/// and over the kinds of element; the largest over the tasks, if that is more than `floor`.
pub(super) fn star(problem: &Problem, batch: u64, floor: f64) -> f64 {
    let ports: Vec<PortCosts> = (0..problem.kinds.len()).map(|k| PortCosts::of(problem, k, batch)).collect();
    (0..problem.tasks()).fold(floor, |floor, task| {
        let near = Near::of(problem, task, batch);
        let mut least = f64::INFINITY;
        for (kind, ports) in
            ports.iter().enumerate().filter(|(kind, _)| problem.cost(task, *kind).is_finite())
        {
            least = least.min(Star::of(problem, task, kind, &near, ports).least(floor));
            if least <= floor {
                return floor;
            }
        }
        floor.max(least)
    })
}

/// What a byte and a hand-over cost an element of a kind, at the least.
struct PortCosts {
    in_ns_per_byte: f64,
    out_ns_per_byte: f64,
    /// From, and to, one other element.
    from_ns_per_byte: f64,
    to_ns_per_byte: f64,
    per_transfer_ns: f64,
    per_byte_ns: f64,
}

impl PortCosts {
    fn of(problem: &Problem, kind: usize, batch: u64) -> PortCosts {
        let n = problem.elements();
        let mut ports = PortCosts {
            in_ns_per_byte: f64::INFINITY,
            out_ns_per_byte: f64::INFINITY,
            from_ns_per_byte: f64::INFINITY,
            to_ns_per_byte: f64::INFINITY,
            per_transfer_ns: f64::INFINITY,
            per_byte_ns: f64::INFINITY,
        };
        let largest = |ids: &[u32]| ids.iter().map(|&id| problem.limits.ns_per_byte(id)).fold(0.0, f64::max);
        for e in (0..n).filter(|&e| problem.kind_of[e] == kind) {
            // The tightest limit that holds every pair with this element, and the tightest of the widest pair.
            let port = |pair: &dyn Fn(usize) -> (usize, usize)| -> (f64, f64) {
                let mut others = (0..n).filter(|&x| x != e).map(pair);
                let Some((a, b)) = others.next() else { return (f64::INFINITY, f64::INFINITY) };
                let mut ids: Vec<u32> = problem.limits.of(a, b).to_vec();
                let mut widest = largest(&ids);
                for (a, b) in others {
                    let of = problem.limits.of(a, b);
                    ids.retain(|id| of.contains(id));
                    widest = widest.min(largest(of));
                }
                (largest(&ids), widest)
            };
            let (into, from) = port(&|x| (x, e));
            let (out, to) = port(&|x| (e, x));
            ports.in_ns_per_byte = ports.in_ns_per_byte.min(into);
            ports.out_ns_per_byte = ports.out_ns_per_byte.min(out);
            ports.from_ns_per_byte = ports.from_ns_per_byte.min(from);
            ports.to_ns_per_byte = ports.to_ns_per_byte.min(to);
            let o = problem.prices.overheads[e];
            ports.per_transfer_ns = ports.per_transfer_ns.min(o.per_transfer_ns / batch.max(1) as f64);
            ports.per_byte_ns = ports.per_byte_ns.min(o.per_byte_ns);
        }
        ports
    }
}

/// What goes between a task and one of its neighbours.
struct StarTraffic {
    other: usize,
    bytes_in: f64,
    bytes_out: f64,
    transfers: f64,
    moving_ns: f64,
}

/// The neighbours of a task. Broadcasts to several consumers count where the task consumes them.
struct Near(Vec<StarTraffic>);

impl Near {
    fn of(problem: &Problem, task: usize, batch: u64) -> Near {
        let mut list: Vec<StarTraffic> = Vec::new();
        let mut add = |other: usize, bytes_in: u64, bytes_out: u64| {
            let moving_ns = problem.prices.least_moving_ns(bytes_in.max(bytes_out), batch);
            let at = list.iter().position(|n| n.other == other).unwrap_or_else(|| {
                let nothing =
                    StarTraffic { other, bytes_in: 0.0, bytes_out: 0.0, transfers: 0.0, moving_ns: 0.0 };
                list.push(nothing);
                list.len() - 1
            });
            list[at].bytes_in += bytes_in as f64;
            list[at].bytes_out += bytes_out as f64;
            list[at].transfers += 1.0;
            list[at].moving_ns += moving_ns;
        };
        for &id in &problem.consumes[task] {
            let b = &problem.broadcasts[id];
            if b.from != task {
                add(b.from, b.bytes, 0);
            }
        }
        for &id in &problem.produces[task] {
            let b = &problem.broadcasts[id];
            if let [other] = b.to[..]
                && other != task
            {
                add(other, 0, b.bytes);
            }
        }
        Near(list)
    }
}

/// A neighbour: ns that it computes on the task's element, or else ns of the element, of its ports and of the way to
/// and from the neighbour's element.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    here: f64,
    spent: f64,
    into: f64,
    out: f64,
    way: f64,
}

impl Neighbour {
    /// Port time, the larger way, that a ns of computing here saves.
    fn worth(&self) -> f64 {
        self.into.max(self.out) / self.here.max(f64::MIN_POSITIVE)
    }
}

/// A task on a kind of element, with its neighbours; those that save most port time per ns first.
struct Star {
    own: f64,
    neighbours: Vec<Neighbour>,
    /// From each neighbour on: ns of the element at the least.
    rest: Vec<f64>,
    /// Neighbours by the port time in, and out, that a ns here saves.
    by_into: Vec<usize>,
    by_out: Vec<usize>,
    ways: usize,
}

/// What an element does for the neighbours that are placed.
#[derive(Debug, Clone, Copy, Default)]
struct Done {
    compute: f64,
    into: f64,
    out: f64,
    way: f64,
}

impl Star {
    fn of(problem: &Problem, task: usize, kind: usize, near: &Near, ports: &PortCosts) -> Star {
        let neighbour = |n: &StarTraffic| Neighbour {
            here: problem.cost(n.other, kind),
            spent: n.transfers * ports.per_transfer_ns
                + (n.bytes_in + n.bytes_out) * ports.per_byte_ns
                + n.moving_ns,
            into: finite(n.bytes_in * ports.in_ns_per_byte),
            out: finite(n.bytes_out * ports.out_ns_per_byte),
            way: finite(n.bytes_in * ports.from_ns_per_byte).max(finite(n.bytes_out * ports.to_ns_per_byte)),
        };
        let mut neighbours: Vec<Neighbour> = near.0.iter().map(neighbour).collect();
        neighbours.sort_by(|a, b| b.worth().total_cmp(&a.worth()));
        let mut rest = vec![0.0; neighbours.len() + 1];
        for (i, n) in neighbours.iter().enumerate().rev() {
            rest[i] = rest[i + 1] + n.here.min(n.spent);
        }
        let by = |port: fn(&Neighbour) -> f64| {
            let mut order: Vec<usize> =
                (0..neighbours.len()).filter(|&i| port(&neighbours[i]) > 0.0).collect();
            order.sort_by(|&a, &b| {
                let (a, b) = (&neighbours[a], &neighbours[b]);
                (port(b) * a.here).total_cmp(&(port(a) * b.here))
            });
            order
        };
        let (by_into, by_out) = (by(|n| n.into), by(|n| n.out));
        Star { own: problem.cost(task, kind), neighbours, rest, by_into, by_out, ways: 0 }
    }

    /// The least over all ways to divide the neighbours, or anything up to `floor` where some way is no more than that.
    fn least(mut self, floor: f64) -> f64 {
        let start = Done { compute: self.own, ..Done::default() };
        let mut best = f64::INFINITY;
        self.divide(0, start, floor, &mut best);
        if self.ways > MOST_WAYS { self.at_least(0, start) } else { best }
    }

    fn divide(&mut self, at: usize, done: Done, floor: f64, best: &mut f64) {
        if *best <= floor || self.ways > MOST_WAYS || self.at_least(at, done) >= *best {
            return;
        }
        let Some(&n) = self.neighbours.get(at) else {
            *best = done.compute.max(done.into).max(done.out).max(done.way);
            return;
        };
        self.ways += 1;
        let here = Done { compute: done.compute + n.here, ..done };
        let away = Done {
            compute: done.compute + n.spent,
            into: done.into + n.into,
            out: done.out + n.out,
            way: done.way.max(n.way),
        };
        self.divide(at + 1, here, floor, best);
        self.divide(at + 1, away, floor, best);
    }

    /// What any way to divide the neighbours from `at` on comes to, if they may be cut into pieces.
    fn at_least(&self, at: usize, done: Done) -> f64 {
        let compute = done.compute + self.rest[at];
        let into = self.meet(at, done.compute, done.into, &self.by_into, |n| n.into);
        let out = self.meet(at, done.compute, done.out, &self.by_out, |n| n.out);
        compute.max(into).max(out).max(done.way)
    }

    /// The least of max(`here` + costs of those that are here, `port` + port time of the others), if the neighbours
    /// from `at` on may be cut into pieces: those with the most port time per cost are here.
    fn meet(&self, at: usize, mut here: f64, port: f64, order: &[usize], of: fn(&Neighbour) -> f64) -> f64 {
        let left = || order.iter().filter(|&&i| i >= at).map(|&i| &self.neighbours[i]);
        let mut port = port + left().map(of).sum::<f64>();
        for n in left() {
            let (ns, cost) = (of(n), n.here);
            if here >= port || cost.is_infinite() {
                break;
            }
            if here + cost >= port - ns {
                // here + x * cost = port - x * ns
                return here + cost * (port - here) / (cost + ns);
            }
            here += cost;
            port -= ns;
        }
        here.max(port)
    }
}

/// Bytes times an infinite price count nothing: there is no other element.
fn finite(ns: f64) -> f64 {
    if ns.is_finite() { ns } else { 0.0 }
}
