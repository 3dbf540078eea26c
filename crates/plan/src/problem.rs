//! A machine and a graph as every method reads them: dense arrays, prepared once.

use crate::{PlanError, Wishes};
use machine::{ElementId, Machine, Role};
use model::{Broadcast, Capacity, Limits, Prices};
use work::{Buffering, Graph, TaskId};

/// A machine and a graph, prepared for many evaluations.
#[derive(Debug, Clone)]
pub struct Problem<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The application.
    pub graph: &'a Graph,
    /// Pair -> limits.
    pub limits: Limits,
    /// The machine's kinds of element, in order of first appearance; elements of one kind with different paces are of
    /// different kinds here, so are those that differ in what is forbidden there, and an element that a task is fixed
    /// to is of a kind of its own.
    pub kinds: Vec<&'a str>,
    /// Element -> index of its kind.
    pub kind_of: Vec<usize>,
    /// Element -> the role of its kind.
    pub role_of: Vec<Role>,
    /// Elements of each kind.
    pub count: Vec<usize>,
    /// What moves together.
    pub broadcasts: Vec<Broadcast>,
    /// Task -> broadcasts that it produces.
    pub produces: Vec<Vec<usize>>,
    /// Task -> broadcasts that it consumes from, each once.
    pub consumes: Vec<Vec<usize>>,
    /// What hand-overs cost.
    pub prices: Prices,
    /// What elements have that slow each other down.
    pub capacities: Vec<Capacity>,
    /// Locks that firings hold, in order of the first task that does.
    pub locks: Vec<&'a str>,
    /// Task -> index of the lock that its firings hold.
    pub lock_of: Vec<Option<usize>>,
    /// Element -> bytes that hard memory leaves to buffers; negative when not even the code fits.
    pub room: Vec<Option<f64>>,
    cost: Vec<f64>,
}

impl<'a> Problem<'a> {
    /// Prepares `graph` on `machine`, with every task free to run anywhere.
    ///
    /// # Errors
    /// As [`Problem::with_wishes`].
    pub fn new(machine: &'a Machine, graph: &'a Graph) -> Result<Self, PlanError> {
        Self::with_wishes(machine, graph, &Wishes::none(machine, graph))
    }

    /// Prepares `graph` on `machine`. A task has a cost where it may run and nowhere else, which is all that the
    /// methods need to know of `wishes`.
    ///
    /// # Errors
    /// When there is nothing to map or nothing to map it to, when a task has no cost on any kind of element that the
    /// machine has or may run on none of them, and when a number cannot be one (negative or infinite costs, capacities
    /// of 0).
    pub fn with_wishes(machine: &'a Machine, graph: &'a Graph, wishes: &Wishes) -> Result<Self, PlanError> {
        if graph.tasks.is_empty() {
            return Err(PlanError::NothingToPlan(format!("application {:?} has no tasks", graph.name)));
        }
        if machine.elements.is_empty() {
            return Err(PlanError::NothingToPlan(format!("machine {:?} has no elements", machine.name)));
        }
        for limit in &machine.limits {
            let capacity = limit.capacity_bytes_per_s;
            if capacity.is_nan() || capacity <= 0.0 {
                return Err(PlanError::BadNumber(format!(
                    "limit {:?} of machine {:?} has capacity {capacity} bytes/s: it must be more than 0",
                    limit.name, machine.name
                )));
            }
        }
        let mut classes: Vec<Class> = Vec::new();
        let class_of = |(e, (element, pace)): (ElementId, (&'a machine::Element, f64))| {
            let own = Some(e).filter(|e| wishes.fixed.contains(&Some(*e)));
            let class = (element.kind.as_str(), pace, own, wishes.forbidden[e].as_slice());
            classes.iter().position(|known| *known == class).unwrap_or_else(|| {
                classes.push(class);
                classes.len() - 1
            })
        };
        let kind_of: Vec<usize> =
            machine.elements.iter().zip(model::paces(machine, graph)).enumerate().map(class_of).collect();
        let kinds: Vec<&str> = classes.iter().map(|class| class.0).collect();
        let roles: Vec<Role> = kinds.iter().map(|kind| machine.role(kind)).collect();
        let role_of = kind_of.iter().map(|&kind| roles[kind]).collect();
        let mut count = vec![0; kinds.len()];
        for &kind in &kind_of {
            count[kind] += 1;
        }
        let cost = costs(machine, graph, &classes, &wishes.fixed)?;
        let broadcasts = model::broadcasts(graph);
        let mut produces = vec![Vec::new(); graph.tasks.len()];
        let mut consumes = vec![Vec::new(); graph.tasks.len()];
        for (id, broadcast) in broadcasts.iter().enumerate() {
            produces[broadcast.from].push(id);
            for &task in &broadcast.to {
                consumes[task].push(id);
            }
        }
        let mut locks: Vec<&str> = Vec::new();
        let lock_of = graph.tasks.iter().map(|task| {
            let held = task.held_lock()?;
            Some(locks.iter().position(|lock| *lock == held).unwrap_or_else(|| {
                locks.push(held);
                locks.len() - 1
            }))
        });
        let lock_of: Vec<Option<usize>> = lock_of.collect();
        let code = graph.code_bytes as f64;
        Ok(Problem {
            machine,
            graph,
            limits: Limits::new(machine),
            prices: Prices::new(machine, graph),
            capacities: model::capacities(machine, graph),
            locks,
            lock_of,
            room: machine
                .elements
                .iter()
                .map(|e| e.memory.as_ref().filter(|m| m.hard))
                .map(|m| m.map(|m| m.bytes as f64 - if m.holds_code { code } else { 0.0 }))
                .collect(),
            kinds,
            kind_of,
            role_of,
            count,
            broadcasts,
            produces,
            consumes,
            cost,
        })
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        self.graph.tasks.len()
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.machine.elements.len()
    }

    /// ns per firing on an element of kind `kind`; infinite where the task has no cost for it.
    #[inline]
    pub fn cost(&self, task: TaskId, kind: usize) -> f64 {
        self.cost[task * self.kinds.len() + kind]
    }

    /// ns per firing on `element`; infinite where the task has no cost for its kind.
    #[inline]
    pub fn cost_on(&self, task: TaskId, element: usize) -> f64 {
        self.cost(task, self.kind_of[element])
    }

    /// ns per firing on the kind that suits the task best.
    pub fn least_cost(&self, task: TaskId) -> f64 {
        (0..self.kinds.len()).map(|k| self.cost(task, k)).fold(f64::INFINITY, f64::min)
    }

    /// Bytes of all in and out buffers of each task under [`Buffering::Duplicated`], which does not depend on the
    /// mapping: `buffers[k]` of Algorithms 1 and 2. Where a cycle's delay is too short for that rule, the least that
    /// every edge needs between two elements.
    pub fn duplicated_bytes(&self, batch: u64) -> Vec<f64> {
        // One element per task: what `work` says of the element is what the task needs.
        let apart: Vec<usize> = (0..self.tasks()).collect();
        let rule = Buffering::Duplicated;
        if let Ok(schedule) = work::schedule::schedule(self.graph, &apart, self.tasks(), rule, batch) {
            return schedule.buffers_bytes.iter().map(|&b| b as f64).collect();
        }
        let mut bytes = vec![0.0; self.tasks()];
        for edge in &self.graph.edges {
            let (out, into, _) = least_slots(edge, batch);
            bytes[edge.from.task] += edge.bytes as f64 * out as f64;
            bytes[edge.to.task] += edge.bytes as f64 * into as f64;
        }
        bytes
    }

    /// What moving an instance costs each end when `batch` of them are handed over at once, in ns: curve after curve,
    /// for every broadcast.
    pub fn moving_ns(&self, batch: u64) -> Vec<f64> {
        let curves = 0..self.prices.curves.len();
        let all = curves.flat_map(|curve| self.broadcasts.iter().map(move |b| (curve, b.bytes)));
        all.map(|(curve, bytes)| self.prices.moving_ns(curve, bytes, batch)).collect()
    }

    /// Whether some element spends time on hand-overs, so that larger batches pay.
    pub fn spends_on_transfers(&self) -> bool {
        self.prices.spends_on_transfers()
    }
}

/// The least slots that an edge can have, in instances: at the producer and at the consumer where they are on different
/// elements, and where both ends share one buffer.
pub(crate) fn least_slots(edge: &work::Edge, batch: u64) -> (u64, u64, u64) {
    let batch = batch.max(1);
    let peek = edge.peek.div_ceil(batch);
    let apart = (peek + 2).saturating_sub(edge.delay / batch);
    let slots = |batches: u64| batch.saturating_mul(batches);
    let into = |batches: u64| slots(batches).saturating_add(edge.delay);
    (slots(apart.max(1)), into(apart.max(peek + 1)), into(peek + 1))
}

/// Elements that are alike: their kind, their pace, which one it is, where a task is fixed to it, and the tasks that
/// must not run there.
type Class<'a, 'w> = (&'a str, f64, Option<ElementId>, &'w [TaskId]);

/// Task after task, its cost on each class of elements.
fn costs(
    machine: &Machine,
    graph: &Graph,
    classes: &[Class],
    fixed: &[Option<ElementId>],
) -> Result<Vec<f64>, PlanError> {
    let mut cost = Vec::with_capacity(graph.tasks.len() * classes.len());
    for (id, (task, on)) in graph.tasks.iter().zip(fixed).enumerate() {
        let mut row: Vec<Option<f64>> =
            classes.iter().map(|&(kind, pace, ..)| Some(task.cost_on(kind)? * pace)).collect();
        if row.iter().all(Option::is_none) {
            return Err(PlanError::NoCost {
                task: task.name.clone(),
                machine: machine.name.clone(),
                kinds: machine.kinds().join(", "),
            });
        }
        if let Some(bad) = row.iter().flatten().find(|c| !c.is_finite() || **c < 0.0) {
            return Err(PlanError::BadNumber(format!(
                "task {} costs {bad} ns: a cost must be 0 or more, and finite",
                task.name
            )));
        }
        let forbidden = |class: &Class| class.3.binary_search(&id).is_ok();
        row.iter_mut().zip(classes).filter(|(_, class)| forbidden(class)).for_each(|(cost, _)| *cost = None);
        if row.iter().all(Option::is_none) {
            let why = format!("task `{}` must not run on any element that it has a cost on", task.name);
            return Err(ground::Located::new(why).key("forbid").into());
        }
        if let Some(on) = *on {
            let here = |class: &Class| class.2 == Some(on);
            if !row.iter().zip(classes).any(|(cost, class)| cost.is_some() && here(class)) {
                let kind = machine.elements[on].kind.clone();
                return Err(model::MissingCost { task: task.name.clone(), kind }.into());
            }
            row.iter_mut().zip(classes).filter(|(_, class)| !here(class)).for_each(|(cost, _)| *cost = None);
        }
        cost.extend(row.iter().map(|c| c.unwrap_or(f64::INFINITY)));
    }
    Ok(cost)
}
