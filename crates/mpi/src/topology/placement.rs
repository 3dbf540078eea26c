//! Which process best takes which place of a topology: the search for the order of ranks by which those that
//! communicate much are near to one another.
//!
//! The cost of an order is the sum over edges of weight x distance of the two processes. Up to `EXACT` ranks the best
//! order is found; for more, one is built from the machine's parts downwards and improved by swaps, beside the order as
//! it is, improved the same way. What is not better than the order as it is leaves it so.

/// Up to this many ranks every order is tried (as far as it can be better).
const EXACT: usize = 8;
/// Rounds of swaps; each goes through all pairs.
const MOST_ROUNDS: usize = 20;

/// How far processes are from one another, in any unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProcessDistances {
    count: usize,
    steps: Vec<u32>,
}

impl ProcessDistances {
    /// Of `count` processes.
    pub(super) fn new(count: usize, between: impl Fn(usize, usize) -> u32) -> Self {
        let steps = (0..count * count).map(|at| between(at / count, at % count)).collect();
        Self { count, steps }
    }

    /// Between two processes.
    pub(super) fn between(&self, a: usize, b: usize) -> u32 {
        self.steps[a * self.count + b]
    }

    /// Any two are as far apart as any other two.
    fn equal(&self) -> bool {
        let mut pairs =
            (0..self.count).flat_map(|a| (0..self.count).map(move |b| (a, b))).filter(|(a, b)| a != b);
        let Some(first) = pairs.next() else { return true };
        pairs.all(|(a, b)| self.between(a, b) == self.between(first.0, first.1))
    }
}

/// How much places communicate: of each place the others and the weight, both ways added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Traffic {
    partners: Vec<Vec<(usize, u64)>>,
}

impl Traffic {
    /// Of `count` places with these edges (from, to, weight). Places without an edge may be taken by anybody.
    pub(super) fn new(count: usize, edges: impl IntoIterator<Item = (usize, usize, u64)>) -> Self {
        let mut partners: Vec<Vec<(usize, u64)>> = vec![Vec::new(); count];
        for (from, to, weight) in edges {
            if from != to && weight > 0 {
                for (one, other) in [(from, to), (to, from)] {
                    partners[one].push((other, weight));
                }
            }
        }
        for list in &mut partners {
            list.sort_unstable();
            list.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0 };
                same
            });
        }
        Self { partners }
    }

    /// The cost of an order: `process[place]`.
    pub(super) fn cost(&self, distances: &ProcessDistances, process: &[usize]) -> u64 {
        let both_ways: u64 =
            (0..process.len()).map(|place| self.share(distances, process, place, process[place])).sum();
        both_ways / 2
    }

    /// What a place costs when a process takes it.
    fn share(&self, distances: &ProcessDistances, process: &[usize], place: usize, taker: usize) -> u64 {
        self.partners[place]
            .iter()
            .map(|&(other, weight)| weight * u64::from(distances.between(taker, process[other])))
            .sum()
    }
}

/// The process for each place, or nothing when the order as it is is as good.
pub(super) fn place(traffic: &Traffic, distances: &ProcessDistances) -> Option<Vec<usize>> {
    let count = traffic.partners.len();
    let as_it_is: Vec<usize> = (0..count).collect();
    let cost = traffic.cost(distances, &as_it_is);
    if cost == 0 || distances.equal() {
        return None;
    }
    let found =
        if count <= EXACT { exact(traffic, distances, cost) } else { good(traffic, distances, as_it_is) };
    (traffic.cost(distances, &found) < cost).then_some(found)
}

/// The best order, by trying all that may still be better than the best so far.
fn exact(traffic: &Traffic, distances: &ProcessDistances, bound: u64) -> Vec<usize> {
    struct OrderSearch<'a> {
        traffic: &'a Traffic,
        distances: &'a ProcessDistances,
        order: Vec<usize>,
        best: (u64, Vec<usize>),
    }
    impl OrderSearch<'_> {
        fn go_on(&mut self, cost: u64) {
            let (place, count) = (self.order.len(), self.traffic.partners.len());
            if cost >= self.best.0 {
                return;
            }
            if place == count {
                self.best = (cost, self.order.clone());
                return;
            }
            for process in (0..count).filter(|process| !self.order.contains(process)).collect::<Vec<_>>() {
                let earlier = self.traffic.partners[place].iter().filter(|(other, _)| *other < place);
                let added: u64 = earlier
                    .map(|&(other, weight)| {
                        weight * u64::from(self.distances.between(process, self.order[other]))
                    })
                    .sum();
                self.order.push(process);
                self.go_on(cost + added);
                self.order.pop();
            }
        }
    }
    let as_it_is = (0..traffic.partners.len()).collect();
    let mut search = OrderSearch { traffic, distances, order: Vec::new(), best: (bound, as_it_is) };
    search.go_on(0);
    search.best.1
}

/// A good order: the better of two that were improved by swaps, the order as it is and one built downwards.
fn good(traffic: &Traffic, distances: &ProcessDistances, as_it_is: Vec<usize>) -> Vec<usize> {
    let [one, other] =
        [as_it_is, downwards(traffic, distances)].map(|start| improved(traffic, distances, start));
    if traffic.cost(distances, &other) < traffic.cost(distances, &one) { other } else { one }
}

/// Swaps two processes as long as that makes an order better.
fn improved(traffic: &Traffic, distances: &ProcessDistances, mut process: Vec<usize>) -> Vec<usize> {
    for _ in 0..MOST_ROUNDS {
        let mut better = false;
        for a in 0..process.len() {
            for b in a + 1..process.len() {
                let both = |process: &[usize]| {
                    traffic.share(distances, process, a, process[a])
                        + traffic.share(distances, process, b, process[b])
                };
                let before = both(&process);
                process.swap(a, b);
                if both(&process) < before {
                    better = true;
                } else {
                    process.swap(a, b);
                }
            }
        }
        if !better {
            break;
        }
    }
    process
}

/// Builds an order from the machine's parts downwards: processes that are near one another take places that
/// communicate.
fn downwards(traffic: &Traffic, distances: &ProcessDistances) -> Vec<usize> {
    let count = traffic.partners.len();
    let mut process = vec![0; count];
    fill(traffic, distances, &(0..count).collect::<Vec<_>>(), &(0..count).collect::<Vec<_>>(), &mut process);
    process
}

/// Gives the places to the processes, as many of each.
fn fill(
    traffic: &Traffic,
    distances: &ProcessDistances,
    places: &[usize],
    takers: &[usize],
    process: &mut [usize],
) {
    let farthest = takers.iter().flat_map(|&a| takers.iter().map(move |&b| (a, b))).filter(|(a, b)| a != b);
    let farthest = farthest.map(|(a, b)| distances.between(a, b)).max().unwrap_or(0);
    // The parts: a process that is nearer to a part's first than the farthest is in that part.
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for &taker in takers {
        match parts.iter_mut().find(|part| distances.between(part[0], taker) < farthest) {
            Some(part) => part.push(taker),
            None => parts.push(vec![taker]),
        }
    }
    if parts.len() <= 1 || parts.len() == takers.len() {
        for (&place, &taker) in places.iter().zip(takers) {
            process[place] = taker;
        }
        return;
    }
    let mut left = places.to_vec();
    for part in parts {
        let chosen = cluster(traffic, &mut left, part.len());
        fill(traffic, distances, &chosen, &part, process);
    }
}

/// Takes as many places from those that are left as communicate much with one another and little with the rest.
fn cluster(traffic: &Traffic, left: &mut Vec<usize>, size: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    // Traffic of each place with the chosen ones and with those that are left.
    let mut with = vec![[0u64; 2]; traffic.partners.len()];
    for &place in left.iter() {
        with[place][1] = traffic.partners[place]
            .iter()
            .filter(|(other, _)| left.contains(other))
            .map(|&(_, weight)| weight)
            .sum();
    }
    while chosen.len() < size {
        // The next has most with the chosen, then least with the rest; of equal ones the first.
        let best = left.iter().enumerate().max_by(|(i, a), (j, b)| {
            let key = |place: usize| (with[place][0], std::cmp::Reverse(with[place][1]));
            key(**a).cmp(&key(**b)).then(j.cmp(i))
        });
        let Some((at, &place)) = best else { break };
        left.remove(at);
        chosen.push(place);
        for &(other, weight) in &traffic.partners[place] {
            with[other][0] += weight;
            with[other][1] = with[other][1].saturating_sub(weight);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processes dealt out in turn to parts, and parts of parts: 0 within the smallest, 1 within the next.
    fn dealt(count: usize, parts: usize) -> ProcessDistances {
        ProcessDistances::new(
            count,
            |a, b| if a == b { 0 } else { 1 + 4 * u32::from(a % parts != b % parts) },
        )
    }

    fn ring(count: usize) -> Traffic {
        Traffic::new(count, (0..count).map(|place| (place, (place + 1) % count, 1)))
    }

    fn is_permutation(order: &[usize]) -> bool {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        sorted.iter().copied().eq(0..order.len())
    }

    #[test]
    fn equal_distances_leave_the_order() {
        assert_eq!(place(&ring(6), &ProcessDistances::new(6, |a, b| u32::from(a != b) * 3)), None);
    }

    #[test]
    fn an_order_that_cannot_be_better_stays() {
        let distances = ProcessDistances::new(6, |a, b| if a / 3 == b / 3 { 1 } else { 5 });
        assert_eq!(place(&ring(6), &distances), None);
    }

    #[test]
    fn a_small_ring_crosses_between_two_parts_twice_only() {
        let (traffic, distances) = (ring(8), dealt(8, 2));
        let order = place(&traffic, &distances).unwrap();
        assert!(is_permutation(&order));
        // Six edges within parts, two between.
        assert_eq!(traffic.cost(&distances, &order), 6 + 2 * 5);
    }

    #[test]
    fn a_large_ring_crosses_between_four_parts_four_times_only() {
        let (traffic, distances) = (ring(64), dealt(64, 4));
        let order = place(&traffic, &distances).unwrap();
        assert!(is_permutation(&order));
        assert_eq!(traffic.cost(&distances, &order), 60 + 4 * 5);
    }

    #[test]
    fn the_search_for_many_is_as_good_as_trying_all_on_few() {
        let mut random = 88_172_645_463_325_252_u64;
        let mut below = |limit: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % limit
        };
        let mut sums = [0, 0];
        for _ in 0..30 {
            let edges: Vec<_> = (0..12).map(|_| (below(7) as usize, below(7) as usize, below(9))).collect();
            let (traffic, distances) = (Traffic::new(7, edges), dealt(7, 2));
            let as_it_is: Vec<usize> = (0..7).collect();
            let best = exact(&traffic, &distances, traffic.cost(&distances, &as_it_is));
            let found = good(&traffic, &distances, as_it_is);
            assert!(is_permutation(&found));
            let costs = [&best, &found].map(|order| traffic.cost(&distances, order));
            assert!(costs[0] <= costs[1]);
            sums = [sums[0] + costs[0], sums[1] + costs[1]];
        }
        // Swaps alone stay in a local best now and then.
        assert!(sums[1] * 100 <= sums[0] * 110, "{sums:?}");
    }

    #[test]
    fn places_without_traffic_go_to_who_is_left() {
        // Two places that communicate; processes 0 and 2 are near.
        let traffic = Traffic::new(4, [(0, 1, 1)]);
        let distances = dealt(4, 2);
        let order = place(&traffic, &distances).unwrap();
        assert!(is_permutation(&order));
        assert_eq!(distances.between(order[0], order[1]), 1);
    }
}
