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
use ground::{Draws, Located};
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

ground::options! {
    /// What to generate.
    #[derive(Debug, Clone, PartialEq)]
    pub struct DaggenOptions("daggen") {
        /// How many tasks.
        pub tasks: usize = 100, in 1..=100_000;
        /// Width: 0 is a chain, 1 has as many tasks side by side as two layers allow.
        pub fat: f64 = 0.5, in 0.0..=1.0;
        /// How equal the layers are: 1 is all of one width, 0 of any width up to twice the mean.
        pub regular: f64 = 0.5, in 0.0..=1.0;
        /// Edges between neighbouring layers: 0 is one parent per task, 1 up to all tasks of the layer before.
        pub density: f64 = 0.2, in 0.0..=1.0;
        /// Layers that an edge may span.
        pub jump: usize = 1, in 1..=100_000;
        /// 4-byte elements that move per operation.
        pub ccr: f64 = 0.01, in 1e-6..=1e3;
        /// The largest peek.
        pub peek: u64 = 2, in 0..=64;
        /// The same seed gives the same graph, for ever.
        pub seed: u64 = 1;
    }
}

/// Generates a graph: the same settings give the same graph, to the bit, on every machine and in every version.
///
/// # Errors
/// When an option is out of its range, or they ask for more edges than [`sizes::EDGES`].
///
/// ```
/// use work::daggen::{DaggenOptions, generate};
/// let graph = generate(&DaggenOptions { tasks: 20, fat: 0.0, regular: 1.0, ..DaggenOptions::default() }).unwrap();
/// assert_eq!((graph.tasks.len(), graph.edges.len()), (20, 19)); // a chain
/// ```
pub fn generate(options: &DaggenOptions) -> Result<Graph, Located> {
    options.check()?;
    let mut draws = Draws::new(options.seed);
    let widths = widths(options, &mut draws);
    let pairs = pairs(options, &widths, &mut draws)?;
    let graph = figures(options, &pairs, &mut draws);
    debug_assert_eq!(graph.validate(), Ok(()));
    Ok(graph)
}

/// Tasks per level.
fn widths(options: &DaggenOptions, draws: &mut Draws) -> Vec<usize> {
    // Rounding must not decide between 9.999.. and 10: powers differ in the last bit between machines.
    let mean = ((options.tasks as f64).powf(options.fat) + 1e-9).floor();
    let mut widths = Vec::new();
    let mut left = options.tasks;
    while left > 0 {
        let off = draws.between(options.regular - 1.0, 1.0 - options.regular);
        // One task at least stays for a second level: tasks without any edge are no stream.
        let most = if widths.is_empty() { (left - 1).max(1) } else { left };
        let width = ((mean * (1.0 + off)) as usize).clamp(1, most);
        widths.push(width);
        left -= width;
    }
    widths
}

/// (producer, consumer), by consumer.
fn pairs(
    options: &DaggenOptions,
    widths: &[usize],
    draws: &mut Draws,
) -> Result<Vec<(usize, usize)>, Located> {
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
            let wanted = (1 + draws.between(0.0, options.density * above as f64) as usize).min(above);
            parents.clear();
            for _ in 0..wanted {
                let up = 1 + draws.below_u64(options.jump as u64) as usize;
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
                let why = format!("these options make more than {} edges; less is allowed", sizes::EDGES);
                return Err(Located::new(why).key("density"));
            }
        }
    }
    Ok(pairs)
}

fn figures(options: &DaggenOptions, pairs: &[(usize, usize)], draws: &mut Draws) -> Graph {
    let bytes: Vec<u64> = pairs.iter().map(|_| 16 * (draws.octaves(16.0, 3.0) as u64)).collect();
    let peeks: Vec<u64> = (0..options.tasks)
        .map(|_| {
            let peeks = draws.below_u64(4) == 0;
            let peek = 1 + draws.below_u64(options.peek.max(1));
            if peeks && options.peek > 0 { peek } else { 0 }
        })
        .collect();
    let mut moved = vec![0u64; options.tasks];
    let mut next_out = vec![0usize; options.tasks];
    let mut next_in = vec![0usize; options.tasks];
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
    let ratios: Vec<f64> = (0..options.tasks).map(|_| draws.octaves(0.5, 3.0)).collect();
    let elements = bytes.iter().sum::<u64>().max(256) as f64 / ELEMENT_BYTES;
    let per_weight = elements / options.ccr / weights.iter().sum::<f64>();
    let tasks = (0..options.tasks).map(|t| {
        let spe = weights[t] * per_weight / OPERATIONS_PER_NS;
        let cost_ns = BTreeMap::from([("spe".into(), tenths(spe)), ("ppe".into(), tenths(spe * ratios[t]))]);
        Task { name: format!("t{t}"), cost_ns, ..Task::default() }
    });
    Graph {
        name: format!("daggen-{}-seed{}-ccr{}", options.tasks, options.seed, options.ccr),
        tasks: tasks.collect(),
        edges,
        code_bytes: DEFAULT_CODE_BYTES,
        profile: None,
    }
}

/// To tenths of a ns, at least one: files stay readable, and every task costs something.
fn tenths(ns: f64) -> f64 {
    (ns * 10.0).round().max(1.0) / 10.0
}
