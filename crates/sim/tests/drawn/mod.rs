//! Transfers drawn at random.

use proptest::prelude::*;
use sim::{Address, Dma, DmaKind, LOCAL_STORE_BYTES, Ordering};

/// A transfer before it is known on which machine.
#[derive(Debug, Clone)]
pub(crate) struct Drawn {
    put: bool,
    size: u32,
    ls: u32,
    /// Where: memory of all chips, or a local store.
    store: Option<usize>,
    at: u64,
}

/// A transfer of any size between any two places.
pub(crate) fn drawn() -> impl Strategy<Value = Drawn> {
    let size = prop_oneof![
        Just(1u32),
        Just(2),
        Just(4),
        Just(8),
        (1u32..=64).prop_map(|n| n * 16),
        (1u32..=1024).prop_map(|n| n * 16)
    ];
    (any::<bool>(), size, 0..LOCAL_STORE_BYTES, proptest::option::of(0..16usize), any::<u64>())
        .prop_map(|(put, size, ls, store, at)| Drawn { put, size, ls, store, at })
}

impl Drawn {
    /// The transfer on a machine with so many SPEs and so much memory.
    pub(crate) fn dma(&self, spes: usize, memory: u64, tag: u32, order: Ordering) -> Dma {
        let align = self.size.min(16);
        let end = match self.store {
            Some(_) => u64::from(LOCAL_STORE_BYTES),
            None => memory,
        };
        let at = self.at % (end - u64::from(self.size)) / u64::from(align) * u64::from(align);
        let mut ls = self.ls % (LOCAL_STORE_BYTES - self.size) / align * align;
        if align < 16 {
            ls = ls / 16 * 16 + (at % 16) as u32;
        }
        let ea = self.store.map_or(Address(0), |s| Address::local_store(s % spes)) + at;
        Dma::new(DmaKind { put: self.put, order }, ls, ea, self.size, tag)
    }
}
