//! The rows that both formulations have, and how rows are collected.

use super::{MOST_COLUMNS, Program};
use crate::{PlanError, Problem};
use std::collections::HashMap;
use work::Buffering;

/// What an auxiliary column stands for, so that a mapping gives it a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Aux {
    /// Broadcast b moves from element i to element j; i = j too, as in the paper.
    Beta(usize, usize, usize),
    /// Transfers of broadcast b that leave element i.
    Leave(usize, usize),
    /// Whether broadcast b enters element j.
    Enter(usize, usize),
    /// Transfers of broadcast b from the elements of the first list to those of the second.
    Block(usize, Vec<usize>, Vec<usize>),
    /// Bytes that consumers of broadcast b hold at element j, by each consumer's bytes.
    Held(usize, usize, Vec<(usize, f64)>),
}

impl Aux {
    pub(super) fn value(&self, mapping: &[usize], flows: &[(usize, Vec<usize>)]) -> f64 {
        let on = |b: usize, e: usize| flows[b].1.iter().any(|&t| mapping[t] == e);
        let home = |b: usize| mapping[flows[b].0];
        let yes = |x: bool| f64::from(u8::from(x));
        match self {
            Aux::Beta(b, i, j) => yes(home(*b) == *i && on(*b, *j)),
            Aux::Enter(b, j) => yes(home(*b) != *j && on(*b, *j)),
            Aux::Leave(b, i) => {
                let mut to: Vec<usize> = flows[*b].1.iter().map(|&t| mapping[t]).filter(|e| e != i).collect();
                to.sort_unstable();
                to.dedup();
                if home(*b) == *i { to.len() as f64 } else { 0.0 }
            }
            Aux::Block(b, from, to) => {
                let from = from.contains(&home(*b));
                to.iter().filter(|&&j| from && j != home(*b) && on(*b, j)).count() as f64
            }
            Aux::Held(_, j, bytes) => {
                bytes.iter().filter(|(t, _)| mapping[*t] == *j).map(|x| x.1).fold(0.0, f64::max)
            }
        }
    }
}

/// A program in the making.
pub(super) struct Rows<'p, 'a> {
    pub problem: &'p Problem<'a>,
    pub batch: u64,
    rule: Buffering,
    pub scale_ns: f64,
    /// Whether `scale_ns` is a bound on the period.
    bounded: bool,
    aux: Vec<Aux>,
    aux_upper: Vec<f64>,
    alpha_upper: Vec<f64>,
    row_lower: Vec<f64>,
    row_upper: Vec<f64>,
    start: Vec<u32>,
    index: Vec<u32>,
    value: Vec<f64>,
    period_rows: Vec<u32>,
}

impl<'p, 'a> Rows<'p, 'a> {
    pub(super) fn new(problem: &'p Problem<'a>, batch: u64, rule: Buffering) -> Self {
        let bound_ns = crate::bound(problem, batch, rule);
        Rows {
            problem,
            batch,
            rule,
            scale_ns: if bound_ns > 0.0 { bound_ns } else { 1.0 },
            bounded: bound_ns > 0.0,
            aux: Vec::new(),
            aux_upper: Vec::new(),
            alpha_upper: vec![1.0; problem.tasks() * problem.elements()],
            row_lower: Vec::new(),
            row_upper: Vec::new(),
            start: vec![0],
            index: Vec::new(),
            value: Vec::new(),
            period_rows: Vec::new(),
        }
    }

    /// Column of task `t` on element `e`.
    pub(super) fn alpha(&self, t: usize, e: usize) -> u32 {
        (1 + t * self.problem.elements() + e) as u32
    }

    /// A new column of at most `upper`.
    pub(super) fn column(&mut self, aux: Aux, upper: f64) -> Result<u32, PlanError> {
        let at = 1 + self.alpha_upper.len() + self.aux.len();
        self.room_for(at)?;
        self.aux.push(aux);
        self.aux_upper.push(upper);
        Ok(at as u32)
    }

    fn room_for(&self, columns: usize) -> Result<(), PlanError> {
        if columns < MOST_COLUMNS && self.index.len() < u32::MAX as usize / 2 {
            return Ok(());
        }
        let (t, e) = (self.problem.tasks(), self.problem.elements());
        Err(PlanError::BadNumber(format!(
            "the program of {t} tasks on {e} elements has more than {MOST_COLUMNS} columns: plan with method auto, or \
             the compact formulation"
        )))
    }

    /// A row `lower <= entries <= upper`.
    pub(super) fn row(&mut self, entries: impl IntoIterator<Item = (u32, f64)>, lower: f64, upper: f64) {
        for (column, value) in entries {
            if value != 0.0 {
                self.index.push(column);
                self.value.push(value);
            }
        }
        self.start.push(self.index.len() as u32);
        self.row_lower.push(lower);
        self.row_upper.push(upper);
    }

    /// A row `entries in ns <= period`.
    pub(super) fn period_row(&mut self, entries: impl IntoIterator<Item = (u32, f64)>) {
        let scale = self.scale_ns;
        let mut list: Vec<(u32, f64)> = entries.into_iter().map(|(c, ns)| (c, ns / scale)).collect();
        if list.iter().all(|(_, v)| *v == 0.0) {
            return;
        }
        list.push((0, -1.0));
        self.period_rows.push(self.row_lower.len() as u32);
        self.row(list, f64::NEG_INFINITY, 0.0);
    }

    /// (11), and no task where it cannot run; the locks; (16).
    pub(super) fn alphas(&mut self) -> Result<(), PlanError> {
        let problem = self.problem;
        let (tasks, n) = (problem.tasks(), problem.elements());
        self.room_for(tasks.saturating_mul(n))?;
        for t in 0..tasks {
            for e in 0..n {
                if problem.cost_on(t, e).is_infinite() {
                    self.alpha_upper[t * n + e] = 0.0;
                }
            }
            let sum: Vec<(u32, f64)> = (0..n).map(|e| (self.alpha(t, e), 1.0)).collect();
            self.row(sum, 1.0, 1.0);
        }
        for lock in 0..problem.locks.len() {
            let holders: Vec<(u32, f64)> = (0..tasks)
                .filter(|&t| problem.lock_of[t] == Some(lock))
                .flat_map(|t| (0..n).map(move |e| (t, e)))
                .filter(|&(t, e)| problem.cost_on(t, e).is_finite())
                .map(|(t, e)| (self.alpha(t, e), problem.cost_on(t, e)))
                .collect();
            self.period_row(holders);
        }
        self.memory()
    }

    fn memory(&mut self) -> Result<(), PlanError> {
        let problem = self.problem;
        let n = problem.elements();
        if problem.room.iter().all(Option::is_none) {
            return Ok(());
        }
        let slots = self.slots()?;
        // Bytes of each task that do not depend on where its neighbours are, and the inputs of broadcasts, which merge.
        let mut own = vec![0.0; problem.tasks()];
        let mut merging: Vec<Vec<(usize, f64)>> = Vec::new();
        let mut of_broadcast: Vec<usize> = Vec::new();
        for (b, broadcast) in problem.broadcasts.iter().enumerate() {
            let out = broadcast.edges.iter().map(|&e| slots[e].0).max().unwrap_or(0);
            own[broadcast.from] += broadcast.bytes as f64 * out as f64;
            let inputs: Vec<(usize, f64)> = broadcast
                .edges
                .iter()
                .map(|&e| (problem.graph.edges[e].to.task, broadcast.bytes as f64 * slots[e].1 as f64))
                .collect();
            if inputs.len() == 1 {
                own[inputs[0].0] += inputs[0].1;
            } else {
                merging.push(inputs);
                of_broadcast.push(b);
            }
        }
        for e in 0..n {
            let Some(room) = problem.room[e] else { continue };
            if room < 0.0 {
                // Not even the code fits: no task may be here.
                (0..problem.tasks()).for_each(|t| self.alpha_upper[t * n + e] = 0.0);
                continue;
            }
            // In units of the room, so that numbers stay near 1.
            let unit = room.max(1.0);
            let mut row: Vec<(u32, f64)> =
                (0..problem.tasks()).map(|t| (self.alpha(t, e), own[t] / unit)).collect();
            for (inputs, b) in merging.iter().zip(&of_broadcast) {
                let held: Vec<(usize, f64)> = inputs.iter().map(|(t, x)| (*t, x / unit)).collect();
                let column = self.column(Aux::Held(*b, e, held.clone()), f64::INFINITY)?;
                for (t, share) in held {
                    let alpha = self.alpha(t, e);
                    self.row([(column, 1.0), (alpha, -share)], 0.0, f64::INFINITY);
                }
                row.push((column, 1.0));
            }
            self.row(row, f64::NEG_INFINITY, room / unit);
        }
        Ok(())
    }

    /// Slots at the producer and at the consumer of every edge. Under the shared rule they depend on the mapping; what
    /// the edge needs at the least, which is where both ends share a buffer, keeps every feasible mapping a solution.
    fn slots(&self) -> Result<Vec<(u64, u64)>, PlanError> {
        let (graph, tasks) = (self.problem.graph, self.problem.tasks());
        if self.rule == Buffering::Shared {
            let least = |e| (0, crate::problem::least_slots(e, self.batch).2);
            return Ok(graph.edges.iter().map(least).collect());
        }
        let apart: Vec<usize> = (0..tasks).collect();
        let schedule = work::schedule::schedule(graph, &apart, tasks, self.rule, self.batch)?;
        Ok(schedule.slots.iter().map(|slots| (slots.out, slots.r#in)).collect())
    }

    /// (14), (15), a quota and capacities: compute of every element, with what it spends on the transfers that `talk`
    /// lists per element as (column, broadcast).
    pub(super) fn compute(&mut self, talk: &[Vec<(u32, usize)>]) {
        let problem = self.problem;
        let mut rows: Vec<Vec<(u32, f64)>> = Vec::with_capacity(talk.len());
        for (e, talk) in talk.iter().enumerate() {
            let o = problem.prices.overheads[e];
            let mut row: Vec<(u32, f64)> = (0..problem.tasks())
                .filter(|&t| problem.cost_on(t, e).is_finite())
                .map(|t| (self.alpha(t, e), problem.cost_on(t, e)))
                .collect();
            for &(column, b) in talk {
                let bytes = problem.broadcasts[b].bytes;
                // Of several curves the least: the program does not know which element is at the other end.
                let moving_ns = problem.prices.least_moving_ns(bytes, self.batch);
                let own_ns = o.per_transfer_ns / self.batch as f64 + o.per_byte_ns * bytes as f64;
                row.push((column, own_ns + moving_ns));
            }
            self.period_row(row.clone());
            rows.push(row);
        }
        // What all elements share, and what some do, over the cpus that these have.
        let all: Vec<usize> = (0..rows.len()).collect();
        let quota = problem.machine.quota_cpus.map(|cpus| (&all, cpus));
        for (elements, cpus) in
            quota.into_iter().chain(problem.capacities.iter().map(|c| (&c.elements, c.cpus)))
        {
            let entries = elements.iter().flat_map(|&e| &rows[e]);
            let mut row: Vec<(u32, f64)> = entries.map(|&(column, ns)| (column, ns / cpus)).collect();
            // A column that is in several elements' rows must be in this one once.
            row.sort_by_key(|entry| entry.0);
            row.dedup_by(|b, a| {
                a.0 == b.0 && {
                    a.1 += b.1;
                    true
                }
            });
            self.period_row(row);
        }
    }

    /// Whether anything is spent on transfers, so that their columns belong into compute rows.
    pub(super) fn spends(&self) -> bool {
        let prices = &self.problem.prices;
        let own = |o: &machine::Overhead| o.per_transfer_ns > 0.0 || o.per_byte_ns > 0.0;
        !prices.curves.is_empty() || prices.overheads.iter().any(own)
    }

    /// Of each class the k-th element may run only tasks from the k-th heaviest on.
    pub(super) fn break_symmetry(&mut self, classes: &[Vec<usize>]) {
        let n = self.problem.elements();
        let heaviest = crate::symmetry::heaviest(self.problem);
        for class in classes {
            for (rank, &task) in heaviest.iter().enumerate() {
                for &e in class.iter().skip(rank + 1) {
                    self.alpha_upper[task * n + e] = 0.0;
                }
            }
        }
    }

    /// Whether the rows hold everything that the model has.
    fn is_exact(&self) -> bool {
        let problem = self.problem;
        let fixed = self.rule == Buffering::Duplicated;
        let soft = problem.room.iter().all(Option::is_none);
        let delayed = problem.graph.edges.iter().any(|e| e.delay > 0);
        let memories = problem.machine.elements.iter().filter_map(|e| e.memory.as_ref());
        let overflows = memories.filter(|m| !m.hard).any(|m| m.overflow_bytes_per_s.is_some());
        (fixed || (soft && !delayed)) && !overflows
    }

    /// The finished program.
    pub(super) fn program(self, classes: Vec<Vec<usize>>) -> Program {
        let is_exact = self.is_exact();
        let (alphas, aux) = (self.alpha_upper.len(), self.aux.len());
        let columns = 1 + alphas + aux;
        let mut cost = vec![0.0; columns];
        cost[0] = 1.0;
        let mut upper = vec![f64::INFINITY];
        upper.extend(self.alpha_upper);
        upper.extend(self.aux_upper);
        let mut integral = vec![false; columns];
        integral[1..=alphas].fill(true);
        let mut lower = vec![0.0; columns];
        // The closed-form bound: the solver need not find it again.
        lower[0] = if self.bounded { 1.0 - 1e-9 } else { 0.0 };
        Program {
            cost,
            lower,
            upper,
            integral,
            row_lower: self.row_lower,
            row_upper: self.row_upper,
            start: self.start,
            index: self.index,
            value: self.value,
            scale_ns: self.scale_ns,
            batch: self.batch,
            buffering: self.rule,
            is_exact,
            tasks: self.problem.tasks(),
            elements: self.problem.elements(),
            aux: self.aux,
            classes,
            heaviest: crate::symmetry::heaviest(self.problem),
            flows: self.problem.broadcasts.iter().map(|b| (b.from, b.to.clone())).collect(),
            period_rows: self.period_rows,
        }
    }
}

/// Columns that were made already, by what they stand for.
pub(super) type Columns = HashMap<(usize, Vec<usize>, Vec<usize>), u32>;
