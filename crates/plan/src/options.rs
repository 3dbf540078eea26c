//! What a plan should be like.

use ground::options::Word;
use ground::{Located, did_you_mean};
use machine::{ElementId, Machine};
use std::collections::BTreeMap;
use work::{Buffering, Graph, TaskId};

/// How to map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Greedy, then delegate where it applies, then annealing until the gap is proved or the budget is spent; beside
    /// it, all mappings of a small graph.
    #[default]
    Auto,
    /// Algorithm 1.
    Greedy,
    /// Algorithms 3 to 5.
    Cluster,
    /// Algorithms 6 and 7.
    Delegate,
    /// Annealing on the total overload.
    Anneal,
    /// The mixed integer program; needs a solver, see [`exact`](crate::exact).
    Exact,
}

impl Word for Method {
    const WORDS: &'static [(&'static str, Method)] = &[
        ("auto", Method::Auto),
        ("greedy", Method::Greedy),
        ("cluster", Method::Cluster),
        ("delegate", Method::Delegate),
        ("anneal", Method::Anneal),
        ("exact", Method::Exact),
    ];
}

impl Method {
    /// The buffering rule where none is asked for: the paper's for its three methods, shared for the others.
    pub fn buffering(self) -> Buffering {
        match self {
            Method::Greedy | Method::Cluster | Method::Delegate => Buffering::Duplicated,
            Method::Anneal | Method::Exact | Method::Auto => Buffering::Shared,
        }
    }

    /// Seconds that the method may take where none are given.
    fn time_s(self) -> f64 {
        if self == Method::Exact { 60.0 } else { 1.0 }
    }
}

/// Which program the exact method solves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Formulation {
    /// Cut variables instead of `beta`.
    #[default]
    Compact,
    /// Equations (10) to (19).
    Paper,
}

impl Word for Formulation {
    const WORDS: &'static [(&'static str, Formulation)] =
        &[("compact", Formulation::Compact), ("paper", Formulation::Paper)];
}

ground::options! {
    /// What a plan should be like.
    #[derive(Debug, Clone, PartialEq)]
    pub struct PlanOptions("plan") {
        /// How tasks are mapped to elements.
        pub method: Method = Method::Auto;
        /// Seconds that a search may take; by default 60 for `exact` and 1 for the others.
        pub time_s: Option<f64> = None, in 0.001..=604_800.0, unit "s";
        /// Moves that a search makes: the same number and seed repeat a plan exactly. The clock is not looked at then.
        pub moves: Option<u64> = None, in 0..=1_000_000_000_000_000;
        /// Stop when this gap is proved (0.05 = 5 %).
        pub gap: f64 = 0.01, in 0.0..=0.999;
        /// Seed of the search.
        pub seed: u64 = 1;
        /// The rule that sizes buffers; by default the method's own.
        pub buffering: Option<Buffering> = None;
        /// Instances per firing; by default chosen.
        pub batch: Option<u64> = None, in 1..=1_048_576;
        /// The most instances per firing that may be chosen: a bound on latency.
        pub max_batch: u64 = 1024, in 1..=1_048_576;
        /// Which program `exact` solves: the compact one, or equations (10) to (19) of the paper.
        pub formulation: Formulation = Formulation::Compact;
        /// The largest radius of a neighbourhood of `delegate`.
        pub dmax: usize = 2, in 0..=64;
        /// What `delegate` takes as the bandwidth from the SPEs of a chip to its PPE; by default `min(25, 2 * SPEs)`.
        pub read_back_gbs: Option<f64> = None, in 1e-6..=1e6, unit "GB/s";
        /// The element of a task: the others are planned around it. With every task, this mapping is evaluated.
        pub mapping: Option<BTreeMap<String, String>> = None;
        /// TASK=ELEMENT: where a task must not run; a kind of element stands for all of that kind.
        pub forbid: Vec<String> = Vec::new();
    }
}

/// Where tasks must and must not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wishes {
    /// Task -> the element that it is fixed to.
    pub fixed: Vec<Option<ElementId>>,
    /// Element -> the tasks that must not run there, in order.
    pub forbidden: Vec<Vec<TaskId>>,
}

impl Wishes {
    /// Every task may run anywhere.
    pub fn none(machine: &Machine, graph: &Graph) -> Self {
        let forbidden = vec![Vec::new(); machine.elements.len()];
        Wishes { fixed: vec![None; graph.tasks.len()], forbidden }
    }
}

impl PlanOptions {
    /// Seconds that a search may take.
    pub fn seconds(&self) -> f64 {
        self.time_s.unwrap_or(self.method.time_s())
    }

    /// The part of the moves that were made, or of the seconds that went by where no moves are given: 0 to 1.
    pub(crate) fn share(&self, moves: u64, seconds: f64) -> f64 {
        let share = match self.moves {
            Some(most) => moves as f64 / most.max(1) as f64,
            None => seconds / self.seconds(),
        };
        share.clamp(0.0, 1.0)
    }

    /// Whether a mapping is searched for: some task has no element yet.
    pub fn searches(&self, graph: &Graph) -> bool {
        self.mapping.as_ref().is_none_or(|mapping| mapping.len() < graph.tasks.len())
    }

    /// Where tasks must and must not run, with names looked up.
    ///
    /// # Errors
    /// When there is no such task or element, or when a task is fixed to an element that is forbidden to it.
    pub(crate) fn wishes(&self, machine: &Machine, graph: &Graph) -> Result<Wishes, Located> {
        let mut wishes = Wishes::none(machine, graph);
        for (task, element) in self.mapping.iter().flatten() {
            let wrong = |message: String| Located::new(message).key("mapping");
            let t = task_named(graph, task).map_err(wrong)?;
            let Some(e) = machine.element(element) else {
                let near = did_you_mean(element, machine.elements.iter().map(|e| e.name.as_str()));
                return Err(wrong(format!("task `{task}`: no element `{element}`{near}")));
            };
            wishes.fixed[t] = Some(e);
        }
        for text in &self.forbid {
            let wrong = |message: String| Located::new(message).key("forbid");
            let parts = text.rsplit_once('=').map(|(task, at)| (task.trim(), at.trim()));
            let Some((task, at)) = parts.filter(|(task, at)| !task.is_empty() && !at.is_empty()) else {
                return Err(wrong(format!("`{text}` is not TASK=ELEMENT")));
            };
            let t = task_named(graph, task).map_err(wrong)?;
            let meant = |e: &machine::Element| e.name == at || e.kind == at;
            if !machine.elements.iter().any(meant) {
                let names = machine.elements.iter().map(|e| e.name.as_str()).chain(machine.kinds());
                let near = did_you_mean(at, names);
                return Err(wrong(format!("task `{task}`: no element and no kind `{at}`{near}")));
            }
            for (e, _) in machine.elements.iter().enumerate().filter(|(_, element)| meant(element)) {
                if wishes.fixed[t] == Some(e) {
                    return Err(wrong(format!(
                        "task `{task}` is fixed to {}, where it must not run",
                        machine.elements[e].name
                    )));
                }
                if !wishes.forbidden[e].contains(&t) {
                    wishes.forbidden[e].push(t);
                }
            }
        }
        wishes.forbidden.iter_mut().for_each(|tasks| tasks.sort_unstable());
        Ok(wishes)
    }

    /// Bytes/s of the links from the SPEs of a chip to its PPE, where they are given.
    pub fn read_back_bytes_per_s(&self) -> Option<f64> {
        self.read_back_gbs.map(|gbs| gbs * 1e9)
    }
}

fn task_named(graph: &Graph, name: &str) -> Result<TaskId, String> {
    graph.task(name).ok_or_else(|| {
        let near = did_you_mean(name, graph.tasks.iter().map(|t| t.name.as_str()));
        format!("no task `{name}`{near}")
    })
}
