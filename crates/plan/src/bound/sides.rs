//! Elements that limit their incoming transfers (17), the workers, on one side, and all others on the other side.
//!
//! By duality, prices for the computing of each side, for a place in a DMA queue and for a byte of hard memory give a
//! bound on the period: the least sum, over all ways to put tasks on the two sides, of what everything costs at these
//! prices, less the price of all places and all memory. That least sum is a minimum cut. Any prices give a bound.

use super::network::Network;
use crate::Problem;
use work::Buffering;

/// The whole work in units of capacity, so that capacities are whole numbers.
const UNITS: f64 = 1e12;

/// Prices, each in a unit of its own in which 1 is about right.
#[derive(Debug, Clone, Copy)]
pub(super) struct SidePrices {
    /// The part of the price of computing that the workers have.
    pub computing: f64,
    pub byte: f64,
    pub into: f64,
    pub out: f64,
}

/// The two sides and what they have.
pub(super) struct TwoSides {
    /// ns of each task on the best kind of either side; infinite where it cannot run there.
    worker: Vec<f64>,
    other: Vec<f64>,
    workers: f64,
    others: f64,
    /// Bytes that a task takes on a worker at the least, and the room of all workers.
    bytes: Vec<f64>,
    room: f64,
    /// Places in the queues: data into workers, and from workers to the other side.
    places_in: f64,
    places_out: f64,
    /// All work on the other side.
    work: f64,
    /// ns that a byte takes to a worker, and from one, over the widest way between the two sides.
    pub(super) ns_per_byte: (f64, f64),
}

impl TwoSides {
    /// The sides; none where one of them is empty.
    pub(super) fn new(problem: &Problem, batch: u64, buffering: Buffering) -> Option<TwoSides> {
        let elements = &problem.machine.elements;
        let is_worker: Vec<bool> = elements.iter().map(|e| e.incoming_max.is_some()).collect();
        let workers = is_worker.iter().filter(|&&w| w).count();
        let others = elements.len() - workers;
        if workers == 0 || others == 0 {
            return None;
        }
        let places_in: f64 = elements.iter().filter_map(|e| e.incoming_max).map(f64::from).sum();
        let mut reading: Vec<&str> =
            (0..elements.len()).filter(|&e| !is_worker[e]).map(|e| elements[e].kind.as_str()).collect();
        reading.sort_unstable();
        reading.dedup();
        let limited = |e: &machine::Element| {
            reading
                .iter()
                .map(|&kind| e.outgoing_max.get(kind).map_or(f64::INFINITY, |&n| f64::from(n)))
                .sum::<f64>()
        };
        let places_out: f64 =
            (0..elements.len()).filter(|&e| is_worker[e]).map(|e| limited(&elements[e])).sum();
        let least = |t: usize, side: bool| {
            let on = (0..elements.len()).filter(|&e| is_worker[e] == side).map(|e| problem.cost_on(t, e));
            on.fold(f64::INFINITY, f64::min)
        };
        let other: Vec<f64> = (0..problem.tasks()).map(|t| least(t, false)).collect();
        let hard = (0..elements.len()).filter(|&e| is_worker[e]).all(|e| problem.room[e].is_some());
        let (bytes, _) = crate::bound::memory(problem, batch, buffering);
        let room = (0..elements.len()).filter(|&e| is_worker[e]).filter_map(|e| problem.room[e]);
        let work = other.iter().filter(|c| c.is_finite()).sum::<f64>();
        Some(TwoSides {
            worker: (0..problem.tasks()).map(|t| least(t, true)).collect(),
            other,
            workers: workers as f64,
            others: others as f64,
            bytes: if hard { bytes } else { vec![0.0; problem.tasks()] },
            room: if hard { room.map(|r| r.max(0.0)).sum() } else { 0.0 },
            places_in,
            places_out,
            work,
            ns_per_byte: widest_ways(problem, &is_worker),
        })
        .filter(|sides| sides.work > 0.0)
    }

    /// Places in the queues whose number is known.
    pub(super) fn places(&self) -> f64 {
        self.places_in + if self.places_out.is_finite() { self.places_out } else { 0.0 }
    }

    /// The bound at these prices.
    pub(super) fn value(&self, prices: &SidePrices, graph: &mut Network) -> f64 {
        let unit = UNITS / self.work;
        let whole = |ns: f64| (ns * unit).floor().min(1e15) as i64;
        let other_price = (1.0 - prices.computing) / self.others;
        let worker_price = prices.computing / self.workers;
        let all = self.work * other_price;
        let byte = prices.byte * all / self.bytes.iter().sum::<f64>().max(1.0);
        let place = all / self.other.len() as f64;
        let (into, out) = (whole(prices.into * place), whole(prices.out * place));
        let out = if self.places_out.is_finite() { out } else { 0 };
        let mut sure = 0i64;
        for t in 0..self.other.len() {
            let here = whole(self.worker[t] * worker_price + byte * self.bytes[t]);
            let there = whole(self.other[t] * other_price);
            sure = sure.saturating_add(here.min(there));
            graph.need[t] = here - here.min(there);
            graph.offer[t] = there - here.min(there);
        }
        let cut = graph.least_cut(into, out);
        let places_out = if out > 0 { out as f64 * self.places_out } else { 0.0 };
        (sure as f64 + cut as f64 - into as f64 * self.places_in - places_out) / unit - byte * self.room
    }

    /// The mean of what all tasks that can compute on workers, and on the others, take there.
    pub(super) fn all_on_workers(&self) -> f64 {
        self.worker.iter().filter(|ns| ns.is_finite()).sum::<f64>() / self.workers
    }

    /// As [`TwoSides::all_on_workers`].
    pub(super) fn all_on_others(&self) -> f64 {
        self.work / self.others
    }

    /// What the workers and the others compute, each on the mean of its elements, in the least cut that was found last.
    pub(super) fn loads(&self, graph: &Network) -> (f64, f64) {
        let sum = |side: bool, cost: &[f64]| -> f64 {
            cost.iter().enumerate().filter(|(t, _)| graph.is_on_worker(*t) == side).map(|(_, ns)| ns).sum()
        };
        (sum(true, &self.worker) / self.workers, sum(false, &self.other) / self.others)
    }
}

/// ns that a byte takes to a worker and from a worker, over the pair of elements where that is least.
fn widest_ways(problem: &Problem, is_worker: &[bool]) -> (f64, f64) {
    let mut widest = (f64::INFINITY, f64::INFINITY);
    let largest = |a: usize, b: usize| {
        problem.limits.of(a, b).iter().map(|&id| problem.limits.ns_per_byte(id)).fold(0.0, f64::max)
    };
    for worker in (0..is_worker.len()).filter(|&e| is_worker[e]) {
        for other in (0..is_worker.len()).filter(|&e| !is_worker[e]) {
            widest.0 = widest.0.min(largest(other, worker));
            widest.1 = widest.1.min(largest(worker, other));
        }
    }
    widest
}
