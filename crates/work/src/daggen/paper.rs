//! The set of graphs for planning experiments, after `streaming-schedule` 5.2.

use super::{DaggenOptions, generate};
use crate::Graph;

/// The ten CCRs, from computation-intensive to communication-intensive.
pub const PAPER_CCRS: [f64; 10] = [0.001, 0.002, 0.004, 0.007, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1];

/// (tasks, fat, regular, density, jump, seed): 13 smaller graphs of up to 59 tasks, 12 larger ones of 87 to 135. The
/// smallest is a chain; the one of 102 tasks has 204 edges, the most of all, as figure 9(b) of the paper.
const SHAPES: [(usize, f64, f64, f64, usize, u64); 25] = [
    (20, 0.0, 1.0, 0.0, 1, 1),
    (23, 0.4, 0.8, 0.2, 1, 2),
    (26, 0.6, 0.5, 0.3, 2, 3),
    (29, 0.5, 0.9, 0.4, 1, 4),
    (32, 0.3, 0.7, 0.5, 2, 5),
    (35, 0.7, 0.9, 0.1, 1, 6),
    (38, 0.5, 0.5, 0.2, 3, 7),
    (41, 0.6, 0.8, 0.2, 2, 8),
    (45, 0.4, 0.9, 0.3, 1, 9),
    (48, 0.2, 0.6, 0.5, 2, 10),
    (52, 0.5, 0.7, 0.3, 2, 11),
    (56, 0.7, 0.5, 0.1, 1, 12),
    (59, 0.5, 0.9, 0.0, 1, 13),
    (87, 0.5, 0.8, 0.2, 1, 14),
    (91, 0.4, 0.9, 0.3, 2, 15),
    (94, 0.6, 0.7, 0.1, 1, 16),
    (98, 0.5, 0.5, 0.3, 2, 17),
    (102, 0.5, 0.8, 0.35, 2, 58),
    (106, 0.7, 0.9, 0.05, 1, 19),
    (110, 0.5, 0.6, 0.25, 3, 20),
    (115, 0.6, 0.8, 0.1, 2, 21),
    (120, 0.4, 0.5, 0.2, 1, 22),
    (125, 0.5, 0.9, 0.1, 1, 23),
    (130, 0.6, 0.6, 0.05, 2, 24),
    (135, 0.5, 0.5, 0.1, 2, 25),
];

/// 25 graphs of 20 (a chain) to 135 tasks, each with the ten [`PAPER_CCRS`]: 250 applications, by graph, then by CCR.
/// The ten of a graph differ in nothing but their costs. A test holds their hashes: they never change.
pub fn paper_set() -> Vec<Graph> {
    let mut set = Vec::with_capacity(SHAPES.len() * PAPER_CCRS.len());
    for (tasks, fat, regular, density, jump, seed) in SHAPES {
        for ccr in PAPER_CCRS {
            let settings = DaggenOptions { tasks, fat, regular, density, jump, ccr, peek: 2, seed };
            set.push(generate(&settings).expect("the settings are in range"));
        }
    }
    set
}
