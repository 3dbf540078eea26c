//! A bound from DMA queues: how much work elements with queues can take from the others.
//!
//! Elements that limit their incoming transfers (17), the workers, are one side; all others, which compute what does
//! not fit there, are the other. Data that cross from side to side take places in the queues, (17) and (18), and tasks
//! on the workers take hard memory. By duality, prices for a place, for a byte and for the computing of each side give
//! a bound on the period: the least sum, over all ways to put tasks on the two sides, of what everything costs at these
//! prices, less the price of all places and all memory. That least sum is a minimum cut. Any prices give a bound; a few
//! dozen are tried, each near the best so far.

use crate::Problem;
use work::Buffering;

/// Graphs need this many times as many broadcasts as there are places in the queues: else these hardly bound anything.
const CROWDED: f64 = 2.0;
/// Arcs that all cuts together go over, about: it keeps the bound to a second or two.
const MOST_ARCS: usize = 2_000_000;
/// The whole work in units of capacity, so that capacities are whole numbers.
const UNITS: f64 = 1e12;

/// ns per instance that no feasible mapping can beat; 0 where the machine has no queues, or none that are short.
pub(crate) fn bound(problem: &Problem, batch: u64, buffering: Buffering) -> f64 {
    let sides = TwoSides::new(problem, batch, buffering);
    let broadcasts = problem.broadcasts.len() as f64;
    sides.filter(|sides| broadcasts >= CROWDED * sides.places()).map_or(0.0, |sides| sides.bound(problem))
}

/// [`bound`] where the queues are not short, too.
#[cfg(test)]
pub(crate) fn bound_of_all(problem: &Problem, batch: u64, buffering: Buffering) -> f64 {
    TwoSides::new(problem, batch, buffering).map_or(0.0, |sides| sides.bound(problem))
}

/// Prices, each in a unit of its own in which 1 is about right.
#[derive(Debug, Clone, Copy)]
struct QueuePrices {
    /// The part of the price of computing that the workers have.
    computing: f64,
    byte: f64,
    into: f64,
    out: f64,
}

impl QueuePrices {
    fn coordinate(&mut self, number: usize) -> &mut f64 {
        match number {
            0 => &mut self.computing,
            1 => &mut self.byte,
            2 => &mut self.into,
            _ => &mut self.out,
        }
    }
}

/// The two sides and what they have.
struct TwoSides {
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
}

impl TwoSides {
    fn new(problem: &Problem, batch: u64, buffering: Buffering) -> Option<TwoSides> {
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
        })
        .filter(|sides| sides.work > 0.0)
    }

    /// Places in the queues whose number is known.
    fn places(&self) -> f64 {
        self.places_in + if self.places_out.is_finite() { self.places_out } else { 0.0 }
    }

    /// The best of the prices that are tried.
    fn bound(&self, problem: &Problem) -> f64 {
        let mut graph = QueueNetwork::new(problem);
        let mut prices = QueuePrices { computing: 0.02, byte: 1.0, into: 1.0, out: 1.0 };
        let mut best = self.value(&prices, &mut graph);
        let mut left = (MOST_ARCS / graph.to.len().max(1)).clamp(4, 48);
        let mut step = 4.0;
        while left > 0 && step > 1.05 {
            let mut better = false;
            for coordinate in 0..4 {
                for factor in [step, 1.0 / step] {
                    let mut tried = prices;
                    *tried.coordinate(coordinate) *= factor;
                    tried.computing = tried.computing.min(0.9);
                    let value = self.value(&tried, &mut graph);
                    left = left.saturating_sub(1);
                    if value > best {
                        (best, prices, better) = (value, tried, true);
                        break;
                    }
                }
            }
            if !better {
                step = f64::sqrt(step);
            }
        }
        best.max(0.0)
    }

    /// The bound at these prices.
    fn value(&self, prices: &QueuePrices, graph: &mut QueueNetwork) -> f64 {
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
}

/// The graph as a network: an arc from producer to consumer costs where data go to a worker, its reverse where they
/// come from one. A broadcast to several consumers has two nodes of its own, so that it costs once.
struct QueueNetwork {
    tasks: usize,
    /// Arc a and a ^ 1 are each other's reverse.
    to: Vec<u32>,
    from_start: Vec<u32>,
    arcs: Vec<u32>,
    sort: Vec<ArcPrice>,
    left: Vec<i64>,
    /// What a task costs more on a worker, and what it costs more on the other side.
    need: Vec<i64>,
    offer: Vec<i64>,
    level: Vec<u32>,
    next: Vec<u32>,
}

/// What an arc may carry.
#[derive(Debug, Clone, Copy)]
enum ArcPrice {
    Into,
    Out,
    Any,
    Nothing,
}

/// As much as any arc ever carries.
const UNLIMITED: i64 = 1 << 60;

impl QueueNetwork {
    fn new(problem: &Problem) -> QueueNetwork {
        let tasks = problem.tasks();
        let mut nodes = tasks;
        let mut list: Vec<(usize, usize, ArcPrice, ArcPrice)> = Vec::new();
        for b in &problem.broadcasts {
            let to: Vec<usize> = b.to.iter().copied().filter(|&t| t != b.from).collect();
            if let [only] = to[..] {
                list.push((b.from, only, ArcPrice::Into, ArcPrice::Out));
            } else if to.len() > 1 {
                list.push((b.from, nodes, ArcPrice::Into, ArcPrice::Nothing));
                list.push((nodes + 1, b.from, ArcPrice::Out, ArcPrice::Nothing));
                for t in to {
                    list.push((nodes, t, ArcPrice::Any, ArcPrice::Nothing));
                    list.push((t, nodes + 1, ArcPrice::Any, ArcPrice::Nothing));
                }
                nodes += 2;
            }
        }
        let mut flow = QueueNetwork {
            tasks,
            to: Vec::new(),
            from_start: vec![0; nodes + 1],
            arcs: Vec::new(),
            sort: Vec::new(),
            left: Vec::new(),
            need: vec![0; nodes],
            offer: vec![0; nodes],
            level: vec![0; nodes],
            next: vec![0; nodes],
        };
        let mut leaving = vec![Vec::new(); nodes];
        for (from, to, there, back) in list {
            leaving[from].push(flow.to.len() as u32);
            flow.to.push(to as u32);
            flow.sort.push(there);
            leaving[to].push(flow.to.len() as u32);
            flow.to.push(from as u32);
            flow.sort.push(back);
        }
        for (node, arcs) in leaving.iter().enumerate() {
            flow.arcs.extend_from_slice(arcs);
            flow.from_start[node + 1] = flow.arcs.len() as u32;
        }
        flow
    }

    /// The least cut at these prices of a place, after Dinic: from tasks that need more on a worker to those that need
    /// more on the other side.
    fn least_cut(&mut self, into: i64, out: i64) -> i64 {
        let price = |sort: &ArcPrice| match sort {
            ArcPrice::Into => into,
            ArcPrice::Out => out,
            ArcPrice::Any => UNLIMITED,
            ArcPrice::Nothing => 0,
        };
        self.left.clear();
        self.left.extend(self.sort.iter().map(price));
        let mut flow = 0;
        while self.levels() {
            let nodes = self.next.len();
            self.next.copy_from_slice(&self.from_start[..nodes]);
            for task in 0..self.tasks {
                while self.need[task] > 0 && self.level[task] == 0 {
                    let pushed = self.push(task);
                    if pushed == 0 {
                        break;
                    }
                    flow += pushed;
                }
            }
        }
        flow
    }

    /// Steps from the tasks that need something; false when no offer can be reached.
    fn levels(&mut self) -> bool {
        self.level.fill(u32::MAX);
        let mut queue: Vec<u32> = (0..self.tasks as u32).filter(|&t| self.need[t as usize] > 0).collect();
        queue.iter().for_each(|&t| self.level[t as usize] = 0);
        let mut reached = false;
        let mut at = 0;
        while at < queue.len() {
            let node = queue[at] as usize;
            at += 1;
            reached |= self.offer[node] > 0;
            for &arc in &self.arcs[self.from_start[node] as usize..self.from_start[node + 1] as usize] {
                let to = self.to[arc as usize] as usize;
                if self.left[arc as usize] > 0 && self.level[to] == u32::MAX {
                    self.level[to] = self.level[node] + 1;
                    queue.push(to as u32);
                }
            }
        }
        reached
    }

    /// Sends what one path from `start` carries to an offer; 0 when there is none left.
    fn push(&mut self, start: usize) -> i64 {
        let mut path: Vec<u32> = Vec::new();
        let mut node = start;
        loop {
            if self.offer[node] > 0 {
                let narrowest = path.iter().map(|&arc| self.left[arc as usize]).min().unwrap_or(UNLIMITED);
                let pushed = narrowest.min(self.offer[node]).min(self.need[start]);
                for &arc in &path {
                    self.left[arc as usize] -= pushed;
                    self.left[arc as usize ^ 1] += pushed;
                }
                self.offer[node] -= pushed;
                self.need[start] -= pushed;
                return pushed;
            }
            let end = self.from_start[node + 1];
            let mut forward = None;
            while self.next[node] < end {
                let arc = self.arcs[self.next[node] as usize];
                let to = self.to[arc as usize] as usize;
                if self.left[arc as usize] > 0 && self.level[to] == self.level[node] + 1 {
                    forward = Some((arc, to));
                    break;
                }
                self.next[node] += 1;
            }
            match forward {
                Some((arc, to)) => {
                    path.push(arc);
                    node = to;
                }
                None => {
                    let Some(arc) = path.pop() else { return 0 };
                    node = self.to[arc as usize ^ 1] as usize;
                    self.next[node] += 1;
                }
            }
        }
    }
}
