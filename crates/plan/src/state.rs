//! A mapping under search: what a move changes, and nothing else, is evaluated.
//!
//! Everything that can be too much is a *load* with a threshold and a weight: compute, limits and locks against
//! the target period, buffers against hard memory, transfers against (17) and (18). What the search minimises is the
//! *overload*, the weighted sum of what exceeds its threshold; it is 0 exactly when the mapping is feasible and keeps
//! the target. Buffers, and under the shared rule firstPeriod, change with every move, and are followed exactly: the
//! tests compare them with `work::schedule` after random moves.

use crate::Problem;
use crate::flow::Flow;
use work::schedule::ScheduleBuilder;
use work::{Buffering, Mapping, TaskId};

/// A mapping with its loads.
#[derive(Debug, Clone)]
pub(crate) struct SearchState<'a> {
    problem: &'a Problem<'a>,
    flow: &'a Flow,
    shared: bool,
    batch: f64,
    /// What moving an instance costs each end, in ns: curve after curve, for every broadcast.
    moving_ns: Vec<f64>,
    /// Whether buffers can be too much anywhere, so that they must be followed.
    follows_buffers: bool,
    /// `mapping[task]`.
    pub mapping: Mapping,
    /// firstPeriod of each task, in batches.
    first: Vec<u64>,
    /// See [`LoadLayout`].
    load: Vec<f64>,
    threshold: Vec<f64>,
    weight: Vec<f64>,
    layout: LoadLayout,
    /// Per broadcast, the producer's and then one per edge: what it holds at an element.
    held: Vec<Held>,
    scratch: Vec<Held>,
    /// Whether a soft memory's overflow is known.
    overflows: bool,
    /// What computes the buffers of a graph with delays.
    delayed: Option<Box<(ScheduleBuilder<'a>, work::Schedule)>>,
    /// Bytes of buffers that an element touches per instance.
    touched: Vec<f64>,
    touched_anew: Vec<f64>,
    /// Weighted sum of what exceeds its threshold, and the part of it that buffers are to blame for.
    pub overload: f64,
    memory_overload: f64,
    undo: Undo,
    stamp: Vec<u64>,
    now: u64,
    dirty: Vec<u64>,
    touched_broadcasts: Vec<u32>,
    is_touched: Vec<bool>,
}

/// What a broadcast holds at one element.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    element: u32,
    bytes: f64,
    touched: f64,
}

/// Where each sort of load starts: compute, limits, locks, quota, capacities, overflow, then (not periods) buffers,
/// incoming, outgoing, no schedule.
#[derive(Debug, Clone, Copy)]
struct LoadLayout {
    limits: usize,
    locks: usize,
    quota: usize,
    capacities: usize,
    overflow: usize,
    buffers: usize,
    incoming: usize,
    outgoing: usize,
    broken: usize,
    len: usize,
}

#[derive(Debug, Clone, Default)]
struct Undo {
    load: Vec<(u32, f64)>,
    mapping: Vec<(u32, u32)>,
    first: Vec<(u32, u64)>,
    held: Vec<(u32, Held)>,
    touched: Vec<(u32, f64)>,
    overload: f64,
    memory_overload: f64,
}

/// How much a whole hard memory too much weighs, in target periods.
const MEMORY_WEIGHT: f64 = 4.0;
/// How much a transfer too many weighs, in target periods.
const TRANSFER_WEIGHT: f64 = 0.1;

impl<'a> SearchState<'a> {
    /// Evaluates `mapping` from scratch against `target_ns`.
    pub(crate) fn new(
        problem: &'a Problem<'a>,
        flow: &'a Flow,
        buffering: Buffering,
        mapping: Mapping,
        target_ns: f64,
    ) -> SearchState<'a> {
        let (m, kinds) = (problem.elements(), problem.kinds.len());
        let limits = m;
        let locks = limits + problem.limits.len();
        let quota = locks + problem.locks.len();
        let capacities = quota + 1;
        let overflow = capacities + problem.capacities.len();
        let buffers = overflow + m;
        let incoming = buffers + m;
        let outgoing = incoming + m;
        let broken = outgoing + m * kinds;
        let layout = LoadLayout {
            limits,
            locks,
            quota,
            capacities,
            overflow,
            buffers,
            incoming,
            outgoing,
            broken,
            len: broken + 1,
        };
        let overflows = problem
            .machine
            .elements
            .iter()
            .any(|e| e.memory.as_ref().is_some_and(|x| !x.hard && x.overflow_bytes_per_s.is_some()));
        let mut state = SearchState {
            problem,
            flow,
            shared: buffering == Buffering::Shared,
            batch: flow.batch as f64,
            moving_ns: problem.moving_ns(flow.batch),
            follows_buffers: overflows || flow.delayed || problem.room.iter().any(Option::is_some),
            mapping,
            first: vec![0; problem.tasks()],
            load: vec![0.0; layout.len],
            threshold: vec![f64::INFINITY; layout.len],
            weight: vec![0.0; layout.len],
            layout,
            held: vec![Held::default(); flow.members.len() + problem.broadcasts.len()],
            scratch: Vec::new(),
            overflows,
            delayed: flow
                .delayed
                .then(|| Box::new((ScheduleBuilder::new(problem.graph), work::Schedule::default()))),
            touched: vec![0.0; m],
            touched_anew: Vec::new(),
            overload: 0.0,
            memory_overload: 0.0,
            undo: Undo::default(),
            stamp: vec![0; m],
            now: 0,
            dirty: vec![0; problem.tasks().div_ceil(64)],
            touched_broadcasts: Vec::new(),
            is_touched: vec![false; problem.broadcasts.len()],
        };
        state.rebuild();
        state.set_target(target_ns);
        state
    }

    /// Replaces the mapping.
    pub(crate) fn reset(&mut self, mapping: &[usize]) {
        self.mapping.clear();
        self.mapping.extend_from_slice(mapping);
        self.rebuild();
    }

    /// Sets the target period.
    pub(crate) fn set_target(&mut self, target_ns: f64) {
        let l = self.layout;
        self.threshold[..l.buffers].fill(target_ns);
        self.weight[..l.buffers].fill(1.0);
        for (id, element) in self.problem.machine.elements.iter().enumerate() {
            if let Some(room) = self.problem.room[id] {
                self.threshold[l.buffers + id] = room.max(0.0);
                self.weight[l.buffers + id] = MEMORY_WEIGHT * target_ns / room.max(1.0);
            }
            if let Some(most) = element.incoming_max {
                self.threshold[l.incoming + id] = f64::from(most);
                self.weight[l.incoming + id] = TRANSFER_WEIGHT * target_ns;
            }
            for (kind, &most) in &element.outgoing_max {
                for k in (0..self.problem.kinds.len()).filter(|&k| self.problem.kinds[k] == kind) {
                    let at = l.outgoing + id * self.problem.kinds.len() + k;
                    self.threshold[at] = f64::from(most);
                    self.weight[at] = TRANSFER_WEIGHT * target_ns;
                }
            }
        }
        self.threshold[l.broken] = 0.0;
        self.weight[l.broken] = 1e3 * target_ns.max(1.0);
        self.weigh();
    }

    /// The period as the model has it, from the loads.
    pub(crate) fn period(&self) -> f64 {
        self.load[..self.layout.buffers].iter().fold(0.0, |m: f64, &x| m.max(x))
    }

    /// Compute load of an element.
    pub(crate) fn compute(&self, element: usize) -> f64 {
        self.load[element]
    }

    /// Weighted excess of memory and transfers: 0 = feasible.
    pub(crate) fn violation(&self) -> f64 {
        (self.layout.buffers..self.layout.len).map(|at| self.over(at, self.load[at])).sum()
    }

    /// Bytes of buffers per element.
    #[cfg(test)]
    pub(crate) fn buffers(&self) -> &[f64] {
        &self.load[self.layout.buffers..self.layout.incoming]
    }

    /// Moves tasks; keeps the move when the overload grows by at most `threshold`, and says whether it did.
    ///
    /// Moving a task to where it is, or to an element that cannot run it, is refused.
    pub(crate) fn try_move(&mut self, moves: &[(TaskId, usize)], threshold: f64) -> bool {
        for &(task, to) in moves {
            if self.mapping[task] == to || self.problem.cost_on(task, to).is_infinite() {
                return false;
            }
        }
        self.undo.overload = self.overload;
        self.undo.memory_overload = self.memory_overload;
        for &(task, to) in moves {
            self.shift(task, to);
        }
        // Buffers can at best stop being too much: often that is not enough, and they need not be worked out.
        if self.overload - self.memory_overload.max(0.0) - self.undo.overload > threshold {
            self.take_back();
            return false;
        }
        if self.follows_buffers {
            self.follow(moves);
        }
        if self.overload - self.undo.overload > threshold {
            self.take_back();
            return false;
        }
        self.forget();
        true
    }

    fn forget(&mut self) {
        let undo = &mut self.undo;
        undo.load.clear();
        undo.mapping.clear();
        undo.first.clear();
        undo.held.clear();
        undo.touched.clear();
    }

    fn take_back(&mut self) {
        while let Some((at, old)) = self.undo.load.pop() {
            self.load[at as usize] = old;
        }
        while let Some((task, old)) = self.undo.mapping.pop() {
            self.mapping[task as usize] = old as usize;
        }
        while let Some((task, old)) = self.undo.first.pop() {
            self.first[task as usize] = old;
        }
        while let Some((at, old)) = self.undo.held.pop() {
            self.held[at as usize] = old;
        }
        while let Some((element, old)) = self.undo.touched.pop() {
            self.touched[element as usize] = old;
        }
        self.overload = self.undo.overload;
        self.memory_overload = self.undo.memory_overload;
    }

    #[inline]
    fn over(&self, at: usize, load: f64) -> f64 {
        let excess = load - self.threshold[at];
        if excess > 0.0 { excess * self.weight[at] } else { 0.0 }
    }

    #[inline]
    fn set(&mut self, at: usize, new: f64) -> f64 {
        let old = self.load[at];
        self.undo.load.push((at as u32, old));
        self.load[at] = new;
        let change = self.over(at, new) - self.over(at, old);
        self.overload += change;
        change
    }

    #[inline]
    fn add(&mut self, at: usize, change: f64) {
        self.set(at, self.load[at] + change);
    }

    /// Adds to an element's compute, and to what all share of a quota.
    #[inline]
    fn spend(&mut self, element: usize, ns: f64) {
        self.add(element, ns);
        if let Some(cpus) = self.problem.machine.quota_cpus {
            self.add(self.layout.quota, ns / cpus);
        }
        for (id, capacity) in self.problem.capacities.iter().enumerate() {
            if capacity.elements.binary_search(&element).is_ok() {
                self.add(self.layout.capacities + id, ns / capacity.cpus);
            }
        }
    }

    /// Compute, limits and transfers of moving one task.
    fn shift(&mut self, task: TaskId, to: usize) {
        let problem = self.problem;
        let from = self.mapping[task];
        self.spend(from, -problem.cost_on(task, from));
        self.spend(to, problem.cost_on(task, to));
        if let Some(lock) = problem.lock_of[task] {
            self.add(self.layout.locks + lock, problem.cost_on(task, to) - problem.cost_on(task, from));
        }
        for &id in &problem.produces[task] {
            self.transfers(id, -1.0);
        }
        for &id in problem.consumes[task].iter().filter(|&&id| problem.broadcasts[id].from != task) {
            self.transfers(id, -1.0);
        }
        self.undo.mapping.push((task as u32, from as u32));
        self.mapping[task] = to;
        for &id in &problem.produces[task] {
            self.transfers(id, 1.0);
        }
        for &id in problem.consumes[task].iter().filter(|&&id| problem.broadcasts[id].from != task) {
            self.transfers(id, 1.0);
        }
    }

    /// Adds or takes away the transfers of a broadcast.
    fn transfers(&mut self, id: usize, sign: f64) {
        let broadcast = &self.problem.broadcasts[id];
        let from = self.mapping[broadcast.from];
        if let [only] = broadcast.to[..] {
            let to = self.mapping[only];
            if to != from {
                self.transfer(id, from, to, sign);
            }
            return;
        }
        self.now += 1;
        self.stamp[from] = self.now;
        for &task in &broadcast.to {
            let to = self.mapping[task];
            if self.stamp[to] != self.now {
                self.stamp[to] = self.now;
                self.transfer(id, from, to, sign);
            }
        }
    }

    #[inline]
    fn transfer(&mut self, id: usize, from: usize, to: usize, sign: f64) {
        let problem = self.problem;
        let bytes = sign * problem.broadcasts[id].bytes as f64;
        for &limit in problem.limits.of(from, to) {
            self.add(self.layout.limits + limit as usize, bytes * problem.limits.ns_per_byte(limit));
        }
        let curve = problem.prices.curve_of(problem.machine, from, to);
        let moving_ns = curve.map_or(0.0, |c| sign * self.moving_ns[c * problem.broadcasts.len() + id]);
        for end in [from, to] {
            let o = problem.prices.overheads[end];
            let ns = sign * o.per_transfer_ns / self.batch + o.per_byte_ns * bytes + moving_ns;
            if ns != 0.0 {
                self.spend(end, ns);
            }
        }
        let incoming = self.layout.incoming + to;
        if self.weight[incoming] > 0.0 {
            self.add(incoming, sign);
        }
        let outgoing = self.layout.outgoing + from * problem.kinds.len() + problem.kind_of[to];
        if self.weight[outgoing] > 0.0 {
            self.add(outgoing, sign);
        }
    }

    /// firstPeriod and buffers after `moves`.
    fn follow(&mut self, moves: &[(TaskId, usize)]) {
        if self.delayed.is_some() {
            return self.follow_delayed();
        }
        let flow = self.flow;
        for &(task, _) in moves {
            self.touch(task);
            if self.shared {
                self.mark(task);
                flow.out_of(task).iter().for_each(|step| self.mark(step.task as usize));
            }
        }
        if self.shared {
            self.settle();
        }
        while let Some(id) = self.touched_broadcasts.pop() {
            self.is_touched[id as usize] = false;
            self.hold(id as usize);
        }
    }

    #[inline]
    fn mark(&mut self, task: TaskId) {
        let place = self.flow.place[task] as usize;
        self.dirty[place / 64] |= 1 << (place % 64);
    }

    /// Puts the broadcasts of a task on the list of those whose buffers change.
    fn touch(&mut self, task: TaskId) {
        for &id in self.problem.produces[task].iter().chain(&self.problem.consumes[task]) {
            if !self.is_touched[id] {
                self.is_touched[id] = true;
                self.touched_broadcasts.push(id as u32);
            }
        }
    }

    /// firstPeriod of the marked tasks and of whatever follows from them, in topological order.
    fn settle(&mut self) {
        let flow = self.flow;
        for word in 0..self.dirty.len() {
            while self.dirty[word] != 0 {
                let place = word * 64 + self.dirty[word].trailing_zeros() as usize;
                self.dirty[word] &= self.dirty[word] - 1;
                let task = flow.order[place] as usize;
                let new = self.first_period(task);
                if new != self.first[task] {
                    self.undo.first.push((task as u32, self.first[task]));
                    self.first[task] = new;
                    self.touch(task);
                    for step in flow.out_of(task) {
                        self.mark(step.task as usize);
                    }
                }
            }
        }
    }

    fn first_period(&self, task: TaskId) -> u64 {
        let here = self.mapping[task];
        let mut first = 0;
        for step in self.flow.into(task) {
            let other = step.task as usize;
            let hand_over = if self.shared && self.mapping[other] == here { 0 } else { 2 };
            first = first.max(self.first[other].saturating_add(step.peek).saturating_add(hand_over));
        }
        first
    }

    /// Works out what a broadcast holds at each element, and adds the difference.
    fn hold(&mut self, id: usize) {
        let flow = self.flow;
        let broadcast = &self.problem.broadcasts[id];
        let range = flow.member_start[id] as usize..flow.member_start[id + 1] as usize;
        let members = &flow.members[range.clone()];
        let bytes = broadcast.bytes as f64;
        let home = self.mapping[broadcast.from];
        let since = self.first[broadcast.from];
        let mut new = std::mem::take(&mut self.scratch);
        new.clear();
        new.push(Held { element: home as u32, bytes: 0.0, touched: bytes });
        for member in members {
            let element = self.mapping[member.task as usize];
            let apart = self.first[member.task as usize].saturating_sub(since) as f64;
            let window = member.peek as f64;
            let mut held = Held { element: element as u32, bytes: 0.0, touched: bytes };
            if self.shared && element == home {
                held.bytes = bytes * self.batch * (apart.max(window) + 1.0);
                held.touched = 0.0;
            } else {
                held.bytes = bytes * self.batch * apart.max(window + 1.0);
                new[0].bytes = new[0].bytes.max(bytes * self.batch * apart.max(1.0));
            }
            // Consumers on one element read one copy, which has the room of the largest.
            if let Some(same) = new[1..].iter_mut().find(|h| h.element == held.element) {
                same.bytes = same.bytes.max(held.bytes);
                held.bytes = 0.0;
            }
            new.push(held);
        }
        let start = range.start + id; // one entry more per broadcast: the producer's
        for (i, held) in new.iter().enumerate() {
            let old = self.held[start + i];
            if old.element == held.element && old.bytes == held.bytes && old.touched == held.touched {
                continue;
            }
            self.undo.held.push(((start + i) as u32, old));
            self.held[start + i] = *held;
            self.add_buffers(old.element as usize, -old.bytes, -old.touched);
            self.add_buffers(held.element as usize, held.bytes, held.touched);
        }
        self.scratch = new;
    }

    fn add_buffers(&mut self, element: usize, bytes: f64, touched: f64) {
        if bytes != 0.0 {
            let at = self.layout.buffers + element;
            self.memory_overload += self.set(at, self.load[at] + bytes);
        }
        if self.overflows && touched != 0.0 {
            self.undo.touched.push((element as u32, self.touched[element]));
            self.touched[element] += touched;
        }
        if self.overflows {
            self.overflow(element);
        }
    }

    /// What a soft memory adds when its buffers exceed it, as `model` has it.
    fn overflow(&mut self, element: usize) {
        let Some(memory) = self.problem.machine.elements[element].memory.as_ref().filter(|m| !m.hard) else {
            return;
        };
        let Some(rate) = memory.overflow_bytes_per_s else { return };
        let buffers = self.load[self.layout.buffers + element];
        let excess = (buffers - memory.bytes as f64).max(0.0);
        let ns = if excess > 0.0 { excess / buffers * self.touched[element] * 1e9 / rate } else { 0.0 };
        let at = self.layout.overflow + element;
        if ns != self.load[at] {
            self.memory_overload += self.set(at, ns);
        }
    }

    /// Buffers of a graph with delays: `work` computes them anew.
    fn follow_delayed(&mut self) {
        let Some(mut delayed) = self.delayed.take() else { return };
        let buffering = if self.shared { Buffering::Shared } else { Buffering::Duplicated };
        let (scheduler, schedule) = &mut *delayed;
        let n = self.problem.elements();
        let ran = scheduler.run(&self.mapping, n, buffering, self.flow.batch, schedule);
        let broken = self.layout.broken;
        self.memory_overload += self.set(broken, if ran.is_ok() { 0.0 } else { 1.0 });
        if ran.is_ok() {
            let mut touched = std::mem::take(&mut self.touched_anew);
            self.touch_anew(&schedule.slots, &mut touched);
            for (element, now) in touched.iter().enumerate() {
                let bytes = schedule.buffers_bytes[element] as f64;
                let change = bytes - self.load[self.layout.buffers + element];
                self.add_buffers(element, change, now - self.touched[element]);
            }
            self.touched_anew = touched;
        }
        self.delayed = Some(delayed);
    }

    /// Bytes that each element touches, as `model` has them.
    fn touch_anew(&self, slots: &[work::schedule::Slots], touched: &mut Vec<f64>) {
        touched.clear();
        touched.resize(self.problem.elements(), 0.0);
        if !self.overflows {
            return;
        }
        for broadcast in &self.problem.broadcasts {
            let (home, bytes) = (self.mapping[broadcast.from], broadcast.bytes as f64);
            touched[home] += bytes;
            for &id in &broadcast.edges {
                let to = self.mapping[self.problem.graph.edges[id].to.task];
                if slots[id].out > 0 || to != home {
                    touched[to] += bytes;
                }
            }
        }
    }

    /// Every load from scratch: at the start, and now and then against the drift of sums.
    pub(crate) fn rebuild(&mut self) {
        let problem = self.problem;
        self.load.fill(0.0);
        self.touched.fill(0.0);
        self.held.fill(Held::default());
        for task in 0..problem.tasks() {
            let on = self.mapping[task];
            self.spend(on, problem.cost_on(task, on));
            if let Some(lock) = problem.lock_of[task] {
                self.load[self.layout.locks + lock] += problem.cost_on(task, on);
            }
        }
        for id in 0..problem.broadcasts.len() {
            self.transfers(id, 1.0);
        }
        if self.follows_buffers && self.delayed.is_some() {
            self.follow_delayed();
        } else if self.follows_buffers {
            for place in 0..self.flow.order.len() {
                let task = self.flow.order[place] as usize;
                self.first[task] = self.first_period(task);
            }
            for id in 0..problem.broadcasts.len() {
                self.hold(id);
            }
        }
        self.forget();
        self.weigh();
    }

    /// The overload from the loads.
    fn weigh(&mut self) {
        let l = self.layout;
        self.overload = (0..l.len).map(|at| self.over(at, self.load[at])).sum();
        let memory =
            |from: usize, to: usize| -> f64 { (from..to).map(|at| self.over(at, self.load[at])).sum() };
        self.memory_overload = memory(l.overflow, l.incoming) + memory(l.broken, l.len);
    }
}
