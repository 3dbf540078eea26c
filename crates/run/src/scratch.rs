//! Memory of ports whose instances live for one firing of their unit: a linear scan over the unit's order, so that
//! buffers that are never live together share memory. A chain of copies on one element runs in two buffers.

/// A buffer's life, in places of the unit's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Life {
    /// The task that writes it.
    pub from: usize,
    /// The last task that reads it.
    pub to: usize,
    /// Its size.
    pub bytes: u64,
    /// Another buffer, which ends where this begins, whose memory it takes over: the kernel works in place.
    pub instead_of: Option<usize>,
}

/// Offsets of the buffers, and the bytes they need together. `lives` must be sorted by `from`.
pub(crate) fn assign(lives: &[Life]) -> (Vec<u64>, u64) {
    let mut offsets = vec![0; lives.len()];
    let mut live: Vec<(u64, u64, usize)> = Vec::new();
    let mut total = 0;
    for (b, life) in lives.iter().enumerate() {
        live.retain(|&(_, _, other)| lives[other].to >= life.from);
        if let Some(other) = life.instead_of {
            offsets[b] = offsets[other];
            live.retain(|&(_, _, o)| o != other);
        } else {
            let mut at = 0;
            for &(start, end, _) in &live {
                if at + life.bytes <= start {
                    break;
                }
                at = at.max(end);
            }
            offsets[b] = at;
        }
        let entry = (offsets[b], offsets[b] + life.bytes, b);
        let place = live.partition_point(|l| *l < entry);
        live.insert(place, entry);
        total = total.max(entry.1);
    }
    (offsets, total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn life(from: usize, to: usize, bytes: u64) -> Life {
        Life { from, to, bytes, instead_of: None }
    }

    #[test]
    fn a_chain_of_copies_needs_two_buffers_however_long_it_is() {
        let lives: Vec<Life> = (0..20).map(|i| life(i, i + 1, 16384)).collect();
        let (offsets, total) = assign(&lives);
        assert_eq!(total, 2 * 16384);
        assert!(offsets.windows(2).all(|w| w[0] != w[1]));
    }

    #[test]
    fn a_chain_that_works_in_place_needs_one_buffer() {
        let lives: Vec<Life> =
            (0usize..20).map(|i| Life { instead_of: i.checked_sub(1), ..life(i, i + 1, 256) }).collect();
        assert_eq!(assign(&lives), (vec![0; 20], 256));
    }

    proptest! {
        #[test]
        fn buffers_that_live_together_never_overlap(
            mut raw in prop::collection::vec((0usize..30, 0usize..8, 1u64..5), 0..60)
        ) {
            raw.sort();
            let lives: Vec<Life> = raw.iter().map(|&(f, l, b)| life(f, f + l, b * 128)).collect();
            let (offsets, total) = assign(&lives);
            for i in 0..lives.len() {
                prop_assert!(offsets[i] + lives[i].bytes <= total);
                for j in 0..i {
                    let together = lives[i].from <= lives[j].to && lives[j].from <= lives[i].to;
                    let apart = offsets[i] + lives[i].bytes <= offsets[j] || offsets[j] + lives[j].bytes <= offsets[i];
                    prop_assert!(!together || apart);
                }
            }
        }
    }
}
