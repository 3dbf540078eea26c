//! Branch and bound: the best of all mappings of a small graph, proved.
//!
//! Tasks are placed one after the other. What the placed ones need (computing, limits, overheads, transfers, the least
//! that buffers can be) only grows with every further task, so that a branch ends where this is no better than the best
//! mapping so far. A whole mapping is evaluated by the search's state, with its true buffers. Of elements that can
//! change places only the first free one is tried. The walk can be stopped and continued, and depends on no clock.

use crate::best::Best;
use crate::state::SearchState;
use crate::{Problem, symmetry};
use work::{Buffering, TaskId};

/// Graphs with more tasks are not enumerated: no branch would end in time.
const MOST_TASKS: usize = 24;

/// How far a walk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walked {
    /// There are branches left.
    Open,
    /// All mappings are done: the best so far is the best of all.
    Complete,
}

/// An edge as its slots are counted, in instances; the least that they can be.
#[derive(Debug, Clone, Copy)]
struct TreeEdge {
    broadcast: usize,
    to: TaskId,
    out: f64,
    into: f64,
    /// Where both ends share one buffer; `None` = they never do.
    shared: Option<f64>,
}

/// All mappings, as a tree that is walked depth first.
pub(crate) struct MappingTree<'a> {
    problem: &'a Problem<'a>,
    batch: f64,
    /// As [`Problem::moving_ns`] has it.
    moving_ns: Vec<f64>,
    /// Tasks in the order in which they are placed.
    order: Vec<TaskId>,
    /// What the tasks from each depth on add to `priced` at the least.
    rest: Vec<f64>,
    /// Weight of an element's computing; they sum to 1.
    price: Vec<f64>,
    /// Element -> its class of interchangeable elements.
    class: Vec<Option<usize>>,
    classes: Vec<Vec<usize>>,
    members: Vec<TreeEdge>,
    /// Task -> members that it takes part in, at either end.
    touching: Vec<Vec<usize>>,
    layout: TreeLayout,
    /// See [`TreeLayout`].
    value: Vec<f64>,
    /// Above this a mapping is not feasible; infinite for what makes a period.
    ceiling: Vec<f64>,
    mapping: Vec<usize>,
    used: Vec<u32>,
    done: Vec<bool>,
    /// Members of each broadcast.
    of_broadcast: Vec<Vec<usize>>,
    /// Per depth: the next element to try, and what holds above it.
    next: Vec<usize>,
    level: Vec<TreeLevel>,
    undo: Vec<(u32, f64)>,
    undone: Vec<u32>,
    depth: usize,
    complete: bool,
}

/// What held before a task was placed.
#[derive(Debug, Clone, Copy, Default)]
struct TreeLevel {
    /// The largest contribution.
    top: f64,
    /// Computing of all elements, weighted by their prices.
    priced: f64,
    undo: usize,
    undone: usize,
}

/// Where each sort of value starts: compute, limits, locks, quota, capacities, then (no periods) bytes, touched,
/// incoming, outgoing.
#[derive(Debug, Clone, Copy)]
struct TreeLayout {
    limits: usize,
    locks: usize,
    quota: usize,
    capacities: usize,
    bytes: usize,
    touched: usize,
    incoming: usize,
    outgoing: usize,
}

impl<'a> MappingTree<'a> {
    /// The tree of `problem`; `None` where it is too large to be walked, or no mapping has a schedule.
    pub(crate) fn new(problem: &'a Problem<'a>, buffering: Buffering, batch: u64) -> Option<MappingTree<'a>> {
        let (tasks, n, kinds) = (problem.tasks(), problem.elements(), problem.kinds.len());
        if tasks > MOST_TASKS {
            return None;
        }
        let members = members(problem, buffering, batch)?;
        let mut touching = vec![Vec::new(); tasks];
        let mut of_broadcast = vec![Vec::new(); problem.broadcasts.len()];
        for (id, member) in members.iter().enumerate() {
            let from = problem.broadcasts[member.broadcast].from;
            touching[from].push(id);
            if member.to != from {
                touching[member.to].push(id);
            }
            of_broadcast[member.broadcast].push(id);
        }
        let limits = n;
        let locks = limits + problem.limits.len();
        let quota = locks + problem.locks.len();
        let capacities = quota + 1;
        let bytes = capacities + problem.capacities.len();
        let touched = bytes + n;
        let incoming = touched + n;
        let outgoing = incoming + n;
        let layout = TreeLayout { limits, locks, quota, capacities, bytes, touched, incoming, outgoing };
        let mut ceiling = vec![f64::INFINITY; outgoing + n * kinds];
        for (e, element) in problem.machine.elements.iter().enumerate() {
            ceiling[bytes + e] = problem.room[e].unwrap_or(f64::INFINITY);
            ceiling[incoming + e] = element.incoming_max.map_or(f64::INFINITY, f64::from);
            for (kind, &most) in &element.outgoing_max {
                for k in (0..problem.kinds.len()).filter(|&k| problem.kinds[k] == kind) {
                    ceiling[outgoing + e * kinds + k] = f64::from(most);
                }
            }
        }
        let price = crate::bound::prices(problem);
        let order = order(problem);
        let mut rest = vec![0.0; tasks + 1];
        for (depth, &task) in order.iter().enumerate().rev() {
            let on = |e: usize| problem.cost_on(task, e) * price[e];
            let least = (0..n).filter(|&e| problem.cost_on(task, e).is_finite()).map(on);
            rest[depth] = rest[depth + 1] + least.fold(f64::INFINITY, f64::min);
        }
        let classes = symmetry::classes(problem);
        let class = |e: usize| classes.iter().position(|class| class.contains(&e));
        Some(MappingTree {
            problem,
            batch: batch.max(1) as f64,
            moving_ns: problem.moving_ns(batch),
            rest,
            price,
            class: (0..n).map(class).collect(),
            classes,
            done: vec![false; members.len()],
            members,
            touching,
            value: vec![0.0; ceiling.len()],
            ceiling,
            layout,
            mapping: vec![usize::MAX; tasks],
            used: vec![0; n],
            of_broadcast,
            next: vec![0; tasks],
            level: vec![TreeLevel::default(); tasks],
            undo: Vec::new(),
            undone: Vec::new(),
            order,
            depth: 0,
            complete: false,
        })
    }

    /// Whether the tree is small enough to be walked to its end beside another search.
    pub(crate) fn is_small(&self) -> bool {
        self.order.len() <= MOST_TASKS / 2
    }

    /// Places one task more, or takes one back; what is better than `best` is taken.
    pub(crate) fn step(&mut self, state: &mut SearchState, best: &mut Best) -> Walked {
        let Some(element) = self.candidate() else {
            if self.depth == 0 {
                self.complete = true;
            } else {
                self.depth -= 1;
                self.take_back();
            }
            return if self.complete { Walked::Complete } else { Walked::Open };
        };
        let bound = self.place(element);
        let cutoff =
            if best.violation <= 0.0 { best.period * (1.0 - crate::bound::ROUNDING) } else { f64::INFINITY };
        if bound >= cutoff {
            self.take_back();
        } else if self.depth + 1 == self.order.len() {
            state.reset(&self.mapping);
            best.take(state);
            self.take_back();
        } else {
            self.depth += 1;
            self.next[self.depth] = 0;
        }
        Walked::Open
    }

    /// The next element for the task at this depth.
    fn candidate(&mut self) -> Option<usize> {
        let task = self.order[self.depth];
        let n = self.problem.elements();
        let is_free = |e: usize| self.used[e] == 0;
        for e in self.next[self.depth]..n {
            let twin = self.class[e]
                .is_some_and(|class| is_free(e) && self.classes[class].iter().any(|&x| x < e && is_free(x)));
            if !twin && self.problem.cost_on(task, e).is_finite() {
                self.next[self.depth] = e + 1;
                return Some(e);
            }
        }
        None
    }

    /// Puts the task at this depth on `element`, and says what every mapping below needs at the least; infinite where
    /// all break something.
    fn place(&mut self, element: usize) -> f64 {
        let problem = self.problem;
        let task = self.order[self.depth];
        let before = if self.depth == 0 { TreeLevel::default() } else { self.level[self.depth] };
        let level = TreeLevel { undo: self.undo.len(), undone: self.undone.len(), ..before };
        self.level[self.depth] = level;
        let mut now = TreeGrowth { top: level.top, priced: level.priced, broken: false };
        self.mapping[task] = element;
        self.used[element] += 1;
        now.broken |= problem.room[element].is_some_and(|room| room < 0.0);
        let cost = problem.cost_on(task, element);
        self.spend(element, cost, &mut now);
        if let Some(lock) = problem.lock_of[task] {
            self.add(self.layout.locks + lock, cost, &mut now);
        }
        for &id in &problem.produces[task] {
            self.add(self.layout.touched + element, problem.broadcasts[id].bytes as f64, &mut now);
        }
        for i in 0..self.touching[task].len() {
            let id = self.touching[task][i];
            let member = self.members[id];
            let from = problem.broadcasts[member.broadcast].from;
            if self.mapping[from] != usize::MAX && self.mapping[member.to] != usize::MAX {
                self.connect(id, &mut now);
            }
        }
        now.top = (0..problem.elements()).map(|e| self.overflow(e)).fold(now.top, f64::max);
        if let Some(below) = self.level.get_mut(self.depth + 1) {
            *below = TreeLevel { top: now.top, priced: now.priced, ..TreeLevel::default() };
        }
        if now.broken { f64::INFINITY } else { now.top.max(now.priced + self.rest[self.depth + 1]) }
    }

    /// What an edge takes whose ends are both placed.
    fn connect(&mut self, id: usize, now: &mut TreeGrowth) {
        let problem = self.problem;
        let member = self.members[id];
        let broadcast = &problem.broadcasts[member.broadcast];
        let (from, to) = (self.mapping[broadcast.from], self.mapping[member.to]);
        let bytes = broadcast.bytes as f64;
        let (mut out, mut into, mut arrived) = (0.0f64, 0.0f64, false);
        for &other in self.of_broadcast[member.broadcast].iter().filter(|&&other| self.done[other]) {
            let other = &self.members[other];
            let there = self.mapping[other.to];
            let own = if there == from { other.shared } else { None };
            if own.is_none() {
                out = out.max(other.out);
            }
            if there == to {
                into = into.max(own.unwrap_or(other.into));
                arrived = true;
            }
        }
        if from != to && !arrived {
            self.transfer(from, to, member.broadcast, now);
        }
        let own = if from == to { member.shared } else { None };
        if own.is_none() {
            self.add(self.layout.bytes + from, bytes * (member.out - out).max(0.0), now);
            self.add(self.layout.touched + to, bytes, now);
        }
        self.add(self.layout.bytes + to, bytes * (own.unwrap_or(member.into) - into).max(0.0), now);
        self.done[id] = true;
        self.undone.push(id as u32);
    }

    fn transfer(&mut self, from: usize, to: usize, broadcast: usize, now: &mut TreeGrowth) {
        let problem = self.problem;
        let bytes = problem.broadcasts[broadcast].bytes as f64;
        let curve = problem.prices.curve_of(problem.machine, from, to);
        let moving_ns = curve.map_or(0.0, |c| self.moving_ns[c * problem.broadcasts.len() + broadcast]);
        for &limit in problem.limits.of(from, to) {
            self.add(self.layout.limits + limit as usize, bytes * problem.limits.ns_per_byte(limit), now);
        }
        for end in [from, to] {
            let o = problem.prices.overheads[end];
            self.spend(end, o.per_transfer_ns / self.batch + o.per_byte_ns * bytes + moving_ns, now);
        }
        self.add(self.layout.incoming + to, 1.0, now);
        self.add(self.layout.outgoing + from * problem.kinds.len() + problem.kind_of[to], 1.0, now);
    }

    fn spend(&mut self, element: usize, ns: f64, now: &mut TreeGrowth) {
        self.add(element, ns, now);
        now.priced += ns * self.price[element];
        if let Some(cpus) = self.problem.machine.quota_cpus {
            self.add(self.layout.quota, ns / cpus, now);
        }
        for (id, capacity) in self.problem.capacities.iter().enumerate() {
            if capacity.elements.binary_search(&element).is_ok() {
                self.add(self.layout.capacities + id, ns / capacity.cpus, now);
            }
        }
    }

    fn add(&mut self, at: usize, change: f64, now: &mut TreeGrowth) {
        if change == 0.0 {
            return;
        }
        self.undo.push((at as u32, self.value[at]));
        self.value[at] += change;
        now.broken |= self.value[at] > self.ceiling[at];
        if at < self.layout.bytes {
            now.top = now.top.max(self.value[at]);
        }
    }

    /// What a soft memory adds at the least: it grows with the buffers and with what is touched.
    fn overflow(&self, element: usize) -> f64 {
        let memory = self.problem.machine.elements[element].memory.as_ref().filter(|m| !m.hard);
        let Some((memory, rate)) = memory.and_then(|m| Some((m, m.overflow_bytes_per_s?))) else {
            return 0.0;
        };
        let buffers = self.value[self.layout.bytes + element];
        let excess = buffers - memory.bytes as f64;
        if excess > 0.0 {
            excess / buffers * self.value[self.layout.touched + element] * 1e9 / rate
        } else {
            0.0
        }
    }

    /// Takes the task at this depth off its element.
    fn take_back(&mut self) {
        let level = self.level[self.depth];
        for (at, old) in self.undo.drain(level.undo..).rev() {
            self.value[at as usize] = old;
        }
        for id in self.undone.drain(level.undone..) {
            self.done[id as usize] = false;
        }
        let task = self.order[self.depth];
        self.used[self.mapping[task]] -= 1;
        self.mapping[task] = usize::MAX;
    }
}

/// What grows while a task is placed.
struct TreeGrowth {
    top: f64,
    priced: f64,
    broken: bool,
}

/// The heaviest task first, then always the heaviest neighbour of those that are there.
fn order(problem: &Problem) -> Vec<TaskId> {
    let heaviest = symmetry::heaviest(problem);
    let mut near = vec![false; problem.tasks()];
    let mut order: Vec<TaskId> = Vec::with_capacity(problem.tasks());
    while order.len() < problem.tasks() {
        let free = || heaviest.iter().copied().filter(|t| !order.contains(t));
        let Some(task) = free().find(|&t| near[t]).or_else(|| free().next()) else { break };
        order.push(task);
        for &id in problem.produces[task].iter().chain(&problem.consumes[task]) {
            near[problem.broadcasts[id].from] = true;
            problem.broadcasts[id].to.iter().for_each(|&t| near[t] = true);
        }
    }
    order
}

/// Every edge with the least slots that it can have; exact under the duplicated rule, where they do not depend on the
/// mapping.
fn members(problem: &Problem, buffering: Buffering, batch: u64) -> Option<Vec<TreeEdge>> {
    let graph = problem.graph;
    let apart: Vec<usize> = (0..problem.tasks()).collect();
    let slots = match buffering {
        Buffering::Duplicated => {
            Some(work::schedule::schedule(graph, &apart, problem.tasks(), buffering, batch).ok()?.slots)
        }
        Buffering::Shared => None,
    };
    let mut list = Vec::with_capacity(graph.edges.len());
    for (broadcast, b) in problem.broadcasts.iter().enumerate() {
        for &id in &b.edges {
            let (out, into, shared) = match &slots {
                Some(slots) => (slots[id].out, slots[id].r#in, None),
                None => {
                    let least = crate::problem::least_slots(&graph.edges[id], batch);
                    (least.0, least.1, Some(least.2 as f64))
                }
            };
            let to = graph.edges[id].to.task;
            list.push(TreeEdge { broadcast, to, out: out as f64, into: into as f64, shared });
        }
    }
    Some(list)
}
