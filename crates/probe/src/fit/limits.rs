//! A limit while it is fitted: who is in it, and how its bytes are counted.

use super::sets::Sets;
use machine::target::{Direction, Store, Transfer};
use machine::{Block, ElementId, Limit, Machine};

/// Bytes of a pattern: a byte of each of its transfers, (source, reader).
pub(super) type Pairs = Vec<(ElementId, ElementId)>;

/// A limit without its capacity.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Set {
    /// As the machine file will call it.
    pub name: String,
    blocks: Vec<Block>,
    /// Of each block, who is a source and who is a reader.
    masks: Vec<(Vec<bool>, Vec<bool>)>,
}

impl Set {
    pub(super) fn new(machine: &Machine, name: String, blocks: Vec<Block>) -> Self {
        let mask = |ids: &[ElementId]| {
            let mut mask = vec![false; machine.elements.len()];
            ids.iter().for_each(|&e| mask[e] = true);
            mask
        };
        let masks = blocks.iter().map(|b| (mask(&b.from), mask(&b.to))).collect();
        Self { name, blocks, masks }
    }

    /// How many of the pairs count.
    pub(super) fn load(&self, pairs: &[(ElementId, ElementId)]) -> f64 {
        let counts =
            |&&(from, to): &&(ElementId, ElementId)| self.masks.iter().any(|(f, t)| f[from] && t[to]);
        pairs.iter().filter(counts).count() as f64
    }

    pub(super) fn limit(&self, capacity_bytes_per_s: f64) -> Limit {
        Limit { name: self.name.clone(), capacity_bytes_per_s, pairs: self.blocks.clone(), error: None }
    }
}

/// What was measured of transfers between elements: the pairs, and ns that a byte of each took.
pub(super) struct Seen {
    /// Patterns of several transfers.
    pub patterns: Vec<(Pairs, f64)>,
    /// One pair alone.
    pub alone: Vec<(Pairs, f64)>,
}

impl Seen {
    pub(super) fn of(sets: &Sets, workers: &[ElementId]) -> Self {
        let pair = |t: &Transfer| match (t.other, t.direction) {
            (Store::Element(source), Direction::Get) => Some((source, t.initiator)),
            _ => None,
        };
        let works = |(a, b): &(ElementId, ElementId)| workers.contains(a) && workers.contains(b);
        let patterns = (sets.patterns.iter()).filter_map(|(_, transfers, bytes_per_s)| {
            let pairs: Pairs = transfers.iter().map(pair).collect::<Option<_>>()?;
            pairs.iter().all(works).then(|| {
                let ns = pairs.len() as f64 / bytes_per_s * 1e9;
                (pairs, ns)
            })
        });
        let alone = sets.bandwidths.iter().map(|(&(reader, source), b)| (vec![(source, reader)], 1e9 / b));
        Self { patterns: patterns.collect(), alone: alone.collect() }
    }
}

/// Says of each limit how well it predicts what it decides: the mean of `|predicted / measured - 1|` over the
/// measurements that it is the slowest limit of. A limit that decides none has no error.
pub(super) fn errors(known: &mut [(Set, Limit)], seen: &Seen) {
    let mut found: Vec<(f64, usize)> = vec![(0.0, 0); known.len()];
    for (pairs, ns) in seen.patterns.iter().chain(&seen.alone) {
        let times = known.iter().map(|(set, limit)| set.load(pairs) / limit.capacity_bytes_per_s * 1e9);
        let slowest = times.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((at, predicted)) = slowest.filter(|(_, t)| *t > 0.0) {
            found[at].0 += (predicted / ns - 1.0).abs();
            found[at].1 += 1;
        }
    }
    for ((_, limit), (sum, n)) in known.iter_mut().zip(&found) {
        limit.error = (*n > 0).then(|| sum / *n as f64);
    }
}
