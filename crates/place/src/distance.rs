//! Bytes times distance, added up: what mappers of graphs minimise.

use crate::{Objective, SeatDistances, Traffic};

/// The sum over all flows of bytes times the distance from seat to seat.
#[derive(Debug, Clone)]
pub struct Distance {
    steps: SeatDistances,
    /// Of each part: the other, bytes sent to it, bytes received from it.
    flows: Vec<Vec<(usize, f64, f64)>>,
    partners: Vec<Vec<(usize, f64)>>,
    least: f64,
}

impl Distance {
    /// Of traffic on seats, of which there are at least as many as parts.
    pub fn new(traffic: &Traffic, steps: SeatDistances) -> Self {
        let partners = traffic.partners();
        let mut flows: Vec<Vec<(usize, f64, f64)>> =
            partners.iter().map(|list| list.iter().map(|&(other, _)| (other, 0.0, 0.0)).collect()).collect();
        let at = |flows: &[(usize, f64, f64)], other: usize| flows.partition_point(|flow| flow.0 < other);
        for phase in &traffic.phases {
            for flow in &phase.flows {
                let bytes = flow.bytes * phase.weight;
                let (out, back) = (at(&flows[flow.from], flow.to), at(&flows[flow.to], flow.from));
                flows[flow.from][out].1 += bytes;
                flows[flow.to][back].2 += bytes;
            }
        }
        if steps.is_symmetric() {
            // Both ways cost the same: one product instead of two.
            flows.iter_mut().flatten().for_each(|flow| *flow = (flow.0, flow.1 + flow.2, 0.0));
        }
        let seats = steps.seats();
        let pairs = (0..seats).flat_map(|a| (0..seats).map(move |b| (a, b))).filter(|(a, b)| a != b);
        let least = pairs.map(|(a, b)| steps.between(a, b)).fold(f64::INFINITY, f64::min);
        Self { steps, flows, partners, least: if least.is_finite() { least } else { 0.0 } }
    }

    /// The distances.
    pub fn distances(&self) -> &SeatDistances {
        &self.steps
    }

    /// What the flows of a part cost on a seat.
    #[inline]
    fn share(&self, mapping: &[usize], part: usize, seat: usize) -> f64 {
        let Some(flows) = self.flows.get(part) else { return 0.0 };
        let both = !self.steps.is_symmetric();
        let one = |&(other, out, back): &(usize, f64, f64)| {
            let to = mapping[other];
            let there = out * self.steps.between(seat, to);
            if both { there + back * self.steps.between(to, seat) } else { there }
        };
        flows.iter().map(one).sum()
    }
}

impl Objective for Distance {
    fn parts(&self) -> usize {
        self.flows.len()
    }

    fn seats(&self) -> usize {
        self.steps.seats()
    }

    fn unit(&self) -> &'static str {
        "bytes x distance"
    }

    fn cost(&mut self, mapping: &[usize]) -> f64 {
        (0..mapping.len()).map(|part| self.share(mapping, part, mapping[part])).sum::<f64>() / 2.0
    }

    /// What is placed, and everything else at the smallest distance that there is.
    fn at_least(&mut self, first: &[usize]) -> f64 {
        let mut sum = 0.0;
        for (part, flows) in self.flows.iter().enumerate() {
            for &(other, out, back) in flows {
                let (there, here) = match (first.get(part), first.get(other)) {
                    (Some(&a), Some(&b)) => (self.steps.between(a, b), self.steps.between(b, a)),
                    _ => (self.least, self.least),
                };
                sum += out * there + back * here;
            }
        }
        sum / 2.0
    }

    fn swapped(&mut self, order: &mut [usize], a: usize, b: usize, now: f64) -> f64 {
        let both = |order: &[usize]| self.share(order, a, order[a]) + self.share(order, b, order[b]);
        let before = both(order);
        order.swap(a, b);
        let after = both(order);
        order.swap(a, b);
        if self.steps.is_symmetric() {
            return now + after - before;
        }
        // Flows between the two are in both shares, each way at its own distance, and count once.
        let between = |from: usize, to: usize| {
            let flows = self.flows.get(a).map_or(&[][..], |flows| flows);
            let mutual = flows.iter().filter(|flow| flow.0 == b);
            mutual
                .map(|&(_, out, back)| {
                    out * self.steps.between(from, to) + back * self.steps.between(to, from)
                })
                .sum::<f64>()
        };
        now + (after - between(order[b], order[a])) - (before - between(order[a], order[b]))
    }

    /// Those of two parts.
    fn flows_of_a_move(&self) -> f64 {
        2.0 * self.flows.iter().map(Vec::len).sum::<usize>() as f64 / self.flows.len() as f64
    }

    fn keeps(&self, permutation: &[usize]) -> bool {
        let n = self.seats();
        (0..n).all(|a| {
            (0..n).all(|b| self.steps.between(a, b) == self.steps.between(permutation[a], permutation[b]))
        })
    }

    fn partners(&self) -> &[Vec<(usize, f64)>] {
        &self.partners
    }

    fn steps(&self, a: usize, b: usize) -> f64 {
        self.steps.between(a, b)
    }
}
