//! Random graphs after DagGen (F. Suter, S. Hunold), the generator of `streaming-schedule` 5.2, the same for a seed for
//! ever.
//!
//! **Shape**, as DagGen has it: levels of about `tasks ^ fat` tasks, each level's width off by up to `1 - regular` of
//! that; a task has `1 + U(0, density * width of the level before)` parents, each drawn from 1 to `jump` levels up.
//!
//! **Figures**, so that a graph plans on a `qs22` as it is (`U` is uniform, `L` log-uniform):
//!
//! | figure | distribution |
//! |---|---|
//! | bytes of an edge | `L(256, 2048)`, in steps of 16, the DMA's |
//! | peek | of a quarter of the tasks `U(1 .. peek)` on all their inputs, else 0 |
//! | operations of a task | in proportion to the bytes that it reads and writes, times `L(0.5, 2)` |
//! | wSPE | operations / [`OPERATIONS_PER_NS`] |
//! | wPPE / wSPE | `L(0.5, 4)`: two thirds of the tasks are faster on an SPE, one third on a PPE; the mean is 1.7 |
//!
//! **CCR** = elements of 4 bytes transferred / operations on them. Bytes stay as they are, operations vary with it.

use crate::graph::DEFAULT_CODE_BYTES;
use crate::{Edge, Graph, Port, Task, sizes};
use std::collections::{BTreeMap, HashSet};

mod paper;
use ground::Draws;
pub use paper::{PAPER_CCRS, paper_set};

/// Operations per ns of an SPE: 3.2 GHz x 4 lanes x 2 (multiply and add).
///
/// It puts the bend of the speed-up where the paper has it, near a CCR of 0.02 (Figure 13b): a mapping that does not
/// see the chips sends half of the bytes across, and both directions together carry 19 GB/s ((9) of `MODEL.md`'s
/// table), so that moving `E` elements takes `4 E / 2 / 19` ns. The 16 SPEs compute them in `E / CCR / (16 * 25.6)` ns.
/// Both are equal at `CCR = 2 * 19 / (4 * 16 * 25.6) = 0.023`.
pub const OPERATIONS_PER_NS: f64 = 25.6;

/// Bytes of an element, as CCR counts them.
pub const ELEMENT_BYTES: f64 = 4.0;

/// What to generate.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Tasks; 1 to 100,000.
    pub tasks: usize,
    /// 0 = a chain, 1 = all side by side.
    pub fat: f64,
    /// 1 = levels of equal width; 0 = of any width up to twice the mean.
    pub regular: f64,
    /// 0 = one parent per task, 1 = up to all tasks of the level before.
    pub density: f64,
    /// Levels that an edge spans at most; from 1.
    pub jump: usize,
    /// Elements transferred / operations on them; 1e-6 to 1e3.
    pub ccr: f64,
    /// The largest peek; 0 to 64.
    pub peek: u64,
    /// Other seeds give other graphs.
    pub seed: u64,
}

impl Default for Settings {
    /// 100 tasks, DagGen's own defaults for the shape (but a density of 0.2), a CCR of 0.01, peeks of up to 2.
    fn default() -> Self {
        Settings { tasks: 100, fat: 0.5, regular: 0.9, density: 0.2, jump: 1, ccr: 0.01, peek: 2, seed: 0 }
    }
}

/// A setting out of its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{setting} = {value}: {allowed}")]
pub struct BadSetting {
    /// Its name, as in [`Settings`].
    pub setting: &'static str,
    /// What it is.
    pub value: f64,
    /// What it may be.
    pub allowed: String,
}

impl Settings {
    fn check(&self) -> Result<(), BadSetting> {
        let ranges = [
            ("tasks", self.tasks as f64, 1.0, 100_000.0),
            ("fat", self.fat, 0.0, 1.0),
            ("regular", self.regular, 0.0, 1.0),
            ("density", self.density, 0.0, 1.0),
            ("jump", self.jump as f64, 1.0, 100_000.0),
            ("ccr", self.ccr, 1e-6, 1e3),
            ("peek", self.peek as f64, 0.0, 64.0),
        ];
        for (setting, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                let allowed = format!("from {least} to {most} is allowed");
                return Err(BadSetting { setting, value, allowed });
            }
        }
        Ok(())
    }
}

/// Generates a graph: the same settings give the same graph, to the bit, on every machine and in every version.
///
/// # Errors
/// [`BadSetting`]: one is out of its range, or they ask for more edges than [`sizes::EDGES`].
///
/// ```
/// use work::daggen::{Settings, generate};
/// let graph = generate(&Settings { tasks: 20, fat: 0.0, regular: 1.0, ..Settings::default() }).unwrap();
/// assert_eq!((graph.tasks.len(), graph.edges.len()), (20, 19)); // a chain
/// ```
pub fn generate(settings: &Settings) -> Result<Graph, BadSetting> {
    settings.check()?;
    let mut draws = Draws::new(settings.seed);
    let widths = widths(settings, &mut draws);
    let pairs = pairs(settings, &widths, &mut draws)?;
    let graph = figures(settings, &pairs, &mut draws);
    debug_assert_eq!(graph.validate(), Ok(()));
    Ok(graph)
}

/// Tasks per level.
fn widths(settings: &Settings, draws: &mut Draws) -> Vec<usize> {
    // Rounding must not decide between 9.999.. and 10: powers differ in the last bit between machines.
    let mean = ((settings.tasks as f64).powf(settings.fat) + 1e-9).floor();
    let mut widths = Vec::new();
    let mut left = settings.tasks;
    while left > 0 {
        let off = draws.between(settings.regular - 1.0, 1.0 - settings.regular);
        let width = ((mean * (1.0 + off)) as usize).clamp(1, left);
        widths.push(width);
        left -= width;
    }
    widths
}

/// (producer, consumer), by consumer.
fn pairs(
    settings: &Settings,
    widths: &[usize],
    draws: &mut Draws,
) -> Result<Vec<(usize, usize)>, BadSetting> {
    let starts: Vec<usize> = widths
        .iter()
        .scan(0, |at, w| {
            *at += w;
            Some(*at - w)
        })
        .collect();
    let mut pairs = Vec::new();
    let mut parents = HashSet::new();
    for level in 1..widths.len() {
        for task in starts[level]..starts[level] + widths[level] {
            let above = widths[level - 1];
            let wanted = (1 + draws.between(0.0, settings.density * above as f64) as usize).min(above);
            parents.clear();
            for _ in 0..wanted {
                let up = 1 + draws.below_u64(settings.jump as u64) as usize;
                let from = level.saturating_sub(up);
                let first = draws.below_u64(widths[from] as u64) as usize;
                // The next one that is not yet a parent; none, where all are.
                let free = (0..widths[from]).map(|i| starts[from] + (first + i) % widths[from]);
                if let Some(parent) = free.into_iter().find(|p| !parents.contains(p)) {
                    parents.insert(parent);
                    pairs.push((parent, task));
                }
            }
            if pairs.len() > sizes::EDGES {
                let allowed =
                    format!("these settings make more than {} edges; less is allowed", sizes::EDGES);
                return Err(BadSetting { setting: "density", value: settings.density, allowed });
            }
        }
    }
    Ok(pairs)
}

fn figures(settings: &Settings, pairs: &[(usize, usize)], draws: &mut Draws) -> Graph {
    let bytes: Vec<u64> = pairs.iter().map(|_| 16 * (draws.octaves(16.0, 3.0) as u64)).collect();
    let peeks: Vec<u64> = (0..settings.tasks)
        .map(|_| {
            let peeks = draws.below_u64(4) == 0;
            let peek = 1 + draws.below_u64(settings.peek.max(1));
            if peeks && settings.peek > 0 { peek } else { 0 }
        })
        .collect();
    let mut moved = vec![0u64; settings.tasks];
    let mut next_out = vec![0usize; settings.tasks];
    let mut next_in = vec![0usize; settings.tasks];
    let mut edges = Vec::with_capacity(pairs.len());
    for (&(from, to), &bytes) in pairs.iter().zip(&bytes) {
        moved[from] += bytes;
        moved[to] += bytes;
        let from = Port { task: from, name: next_out[from].to_string() };
        let to = Port { task: to, name: next_in[to].to_string() };
        next_out[from.task] += 1;
        next_in[to.task] += 1;
        let peek = peeks[to.task];
        edges.push(Edge { from, to, bytes, peek, delay: 0 });
    }
    // A task alone on its level with no edge at all still works on something.
    let weights: Vec<f64> = moved.iter().map(|&b| b.max(256) as f64 * draws.octaves(0.5, 2.0)).collect();
    let ratios: Vec<f64> = (0..settings.tasks).map(|_| draws.octaves(0.5, 3.0)).collect();
    let elements = bytes.iter().sum::<u64>().max(256) as f64 / ELEMENT_BYTES;
    let per_weight = elements / settings.ccr / weights.iter().sum::<f64>();
    let tasks = (0..settings.tasks).map(|t| {
        let spe = weights[t] * per_weight / OPERATIONS_PER_NS;
        let cost_ns = BTreeMap::from([("spe".into(), tenths(spe)), ("ppe".into(), tenths(spe * ratios[t]))]);
        Task { name: format!("t{t}"), cost_ns, ..Task::default() }
    });
    Graph {
        name: format!("daggen-{}-seed{}-ccr{}", settings.tasks, settings.seed, settings.ccr),
        tasks: tasks.collect(),
        edges,
        code_bytes: DEFAULT_CODE_BYTES,
        profile: None,
    }
}

/// To tenths of a ns: files stay readable.
fn tenths(ns: f64) -> f64 {
    (ns * 10.0).round() / 10.0
}
