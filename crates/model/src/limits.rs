//! Pair of elements -> the limits that its bytes count in.

use machine::{ElementId, Machine};

/// The limits of a machine, looked up by (source, destination); prepared once, read by every prediction and search.
#[derive(Debug, Clone)]
pub struct Limits {
    elements: usize,
    /// `start[source * elements + destination] ..` indexes `ids`.
    start: Vec<u32>,
    ids: Vec<u32>,
    ns_per_byte: Vec<f64>,
}

impl Limits {
    /// Prepares the limits of `machine`: O(pairs of all blocks).
    pub fn new(machine: &Machine) -> Limits {
        let n = machine.elements.len();
        let mut of_pair: Vec<Vec<u32>> = vec![Vec::new(); n * n];
        for (id, limit) in machine.limits.iter().enumerate() {
            for block in &limit.pairs {
                for &from in block.from.iter().filter(|&&e| e < n) {
                    for &to in block.to.iter().filter(|&&e| e < n) {
                        let list = &mut of_pair[from * n + to];
                        // A pair in two blocks of one limit counts once.
                        if from != to && list.last() != Some(&(id as u32)) {
                            list.push(id as u32);
                        }
                    }
                }
            }
        }
        let mut start = Vec::with_capacity(n * n + 1);
        let mut ids = Vec::new();
        for list in &of_pair {
            start.push(ids.len() as u32);
            ids.extend_from_slice(list);
        }
        start.push(ids.len() as u32);
        let ns_per_byte = machine.limits.iter().map(|l| 1e9 / l.capacity_bytes_per_s).collect();
        Limits { elements: n, start, ids, ns_per_byte }
    }

    /// The limits that bytes from `source` to `destination` count in, ascending; none when they are equal.
    #[inline]
    pub fn of(&self, source: ElementId, destination: ElementId) -> &[u32] {
        let at = source * self.elements + destination;
        &self.ids[self.start[at] as usize..self.start[at + 1] as usize]
    }

    /// ns that a byte adds to the contribution of limit `id`.
    #[inline]
    pub fn ns_per_byte(&self, id: u32) -> f64 {
        self.ns_per_byte[id as usize]
    }

    /// Number of limits.
    pub fn len(&self) -> usize {
        self.ns_per_byte.len()
    }

    /// Whether the machine has no limits.
    pub fn is_empty(&self) -> bool {
        self.ns_per_byte.is_empty()
    }
}
