//! A graph as a network of two sides, and the least cut of it.

use crate::Problem;

/// The graph as a network: an arc from producer to consumer costs where data goes to a worker, its reverse where it
/// comes from one. A broadcast to several consumers has two nodes of its own, so that it costs once.
pub(super) struct Network {
    tasks: usize,
    /// Arc a and a ^ 1 are each other's reverse.
    to: Vec<u32>,
    from_start: Vec<u32>,
    arcs: Vec<u32>,
    sort: Vec<ArcPrice>,
    /// ns that the arc's data takes over the widest way between the sides, at the least.
    way: Vec<f64>,
    left: Vec<i64>,
    /// What a task costs more on a worker, and what it costs more on the other side.
    pub(super) need: Vec<i64>,
    pub(super) offer: Vec<i64>,
    /// Arcs whose way takes longer must not be cut.
    pub(super) longest_way: f64,
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

impl Network {
    /// The graph of `problem`, where a byte takes so many ns to a worker and from a worker at the least.
    pub(super) fn new(problem: &Problem, (into_ns, out_ns): (f64, f64)) -> Network {
        let tasks = problem.tasks();
        let mut nodes = tasks;
        let mut list: Vec<(usize, usize, u64, ArcPrice, ArcPrice)> = Vec::new();
        for b in &problem.broadcasts {
            let to: Vec<usize> = b.to.iter().copied().filter(|&t| t != b.from).collect();
            if let [only] = to[..] {
                list.push((b.from, only, b.bytes, ArcPrice::Into, ArcPrice::Out));
            } else if to.len() > 1 {
                list.push((b.from, nodes, b.bytes, ArcPrice::Into, ArcPrice::Nothing));
                list.push((nodes + 1, b.from, b.bytes, ArcPrice::Out, ArcPrice::Nothing));
                for t in to {
                    list.push((nodes, t, b.bytes, ArcPrice::Any, ArcPrice::Nothing));
                    list.push((t, nodes + 1, b.bytes, ArcPrice::Any, ArcPrice::Nothing));
                }
                nodes += 2;
            }
        }
        let mut network = Network {
            tasks,
            to: Vec::new(),
            from_start: vec![0; nodes + 1],
            arcs: Vec::new(),
            sort: Vec::new(),
            way: Vec::new(),
            longest_way: f64::INFINITY,
            left: Vec::new(),
            need: vec![0; nodes],
            offer: vec![0; nodes],
            level: vec![0; nodes],
            next: vec![0; nodes],
        };
        let mut leaving = vec![Vec::new(); nodes];
        let way = |bytes: u64, sort: ArcPrice| match sort {
            ArcPrice::Into => bytes as f64 * into_ns,
            ArcPrice::Out => bytes as f64 * out_ns,
            ArcPrice::Any | ArcPrice::Nothing => 0.0,
        };
        for (from, to, bytes, there, back) in list {
            network.way.extend([way(bytes, there), way(bytes, back)]);
            leaving[from].push(network.to.len() as u32);
            network.to.push(to as u32);
            network.sort.push(there);
            leaving[to].push(network.to.len() as u32);
            network.to.push(from as u32);
            network.sort.push(back);
        }
        for (node, arcs) in leaving.iter().enumerate() {
            network.arcs.extend_from_slice(arcs);
            network.from_start[node + 1] = network.arcs.len() as u32;
        }
        network
    }

    /// The least cut at these prices of a place, after Dinic: from tasks that need more on a worker to those that need
    /// more on the other side.
    pub(super) fn least_cut(&mut self, into: i64, out: i64) -> i64 {
        let price = |(sort, way): (&ArcPrice, &f64)| match sort {
            _ if *way > self.longest_way => UNLIMITED,
            ArcPrice::Into => into,
            ArcPrice::Out => out,
            ArcPrice::Any => UNLIMITED,
            ArcPrice::Nothing => 0,
        };
        self.left.clear();
        self.left.extend(self.sort.iter().zip(&self.way).map(price));
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

    /// Number of arcs.
    pub(super) fn len(&self) -> usize {
        self.to.len()
    }

    /// How long the ways between the sides take, in ns.
    pub(super) fn ways(&self) -> impl Iterator<Item = f64> {
        self.way.iter().copied()
    }

    /// Whether a task is on a worker in the least cut that was found last.
    pub(super) fn is_on_worker(&self, task: usize) -> bool {
        self.level[task] == u32::MAX
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
