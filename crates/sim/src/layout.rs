//! Where things sit on the ring, and which way a packet goes.
//!
//! Twelve ramps in this order: PPE, SPE1, SPE3, SPE5, SPE7, IOIF1, IOIF0, SPE6, SPE4, SPE2, SPE0, MIC. Segment `s` lies
//! between ramps `s` and `s + 1`; clockwise is towards higher numbers.

/// Ramps of one chip.
pub const RAMPS: usize = 12;
/// The most hops that a packet goes: half way.
pub const HALF_WAY: u8 = 6;
/// The PPE's ramp.
pub const PPE: usize = 0;
/// The memory controller's ramp.
pub const MIC: usize = 11;
/// The ramp of each physical SPE.
pub const SPE: [usize; 8] = [10, 1, 9, 2, 8, 3, 7, 4];
/// The ramps between SPE7 and SPE6, IOIF1 and IOIF0, in ring order; sources differ on which comes first.
pub const IOIF: [usize; 2] = [5, 6];

/// The names of the ramps, in ring order.
pub const NAMES: [&str; RAMPS] =
    ["PPE", "SPE1", "SPE3", "SPE5", "SPE7", "IOIF1", "IOIF0", "SPE6", "SPE4", "SPE2", "SPE0", "MIC"];

/// A direction around the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RingDirection {
    /// Towards higher ramp numbers: rings 0 and 1.
    Clockwise = 0,
    /// Towards lower ramp numbers: rings 2 and 3.
    Counter = 1,
}

/// The shortest way from one ramp to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// Segments that it crosses, 0 to [`HALF_WAY`].
    pub hops: u8,
    /// None when both ways are equally long (half way), or none is needed.
    pub direction: Option<RingDirection>,
}

/// The shortest way from ramp `from` to ramp `to`.
///
/// ```
/// use sim::layout::{RingDirection, SPE, path};
/// assert_eq!(path(SPE[1], SPE[5]).direction, Some(RingDirection::Clockwise)); // affinity-model, section 2
/// assert_eq!(path(SPE[0], SPE[7]).hops, 6);
/// assert_eq!(path(SPE[0], SPE[7]).direction, None);
/// ```
pub const fn path(from: usize, to: usize) -> Path {
    let clockwise = (to + RAMPS - from) % RAMPS;
    if clockwise == 0 {
        Path { hops: 0, direction: None }
    } else if clockwise < HALF_WAY as usize {
        Path { hops: clockwise as u8, direction: Some(RingDirection::Clockwise) }
    } else if clockwise == HALF_WAY as usize {
        Path { hops: HALF_WAY, direction: None }
    } else {
        Path { hops: (RAMPS - clockwise) as u8, direction: Some(RingDirection::Counter) }
    }
}

/// The segments of a way as bits: bit `s` lies between ramps `s` and `s + 1`.
pub const fn segments(from: usize, hops: u8, direction: RingDirection) -> u16 {
    let mut bits = 0;
    let mut i = 0;
    while i < hops as usize {
        bits |= 1 << segment(from, i, direction);
        i += 1;
    }
    bits
}

/// The ramp that is `hops` away from ramp `from`.
pub(crate) const fn ahead(from: usize, hops: usize, direction: RingDirection) -> usize {
    match direction {
        RingDirection::Clockwise => (from + hops) % RAMPS,
        RingDirection::Counter => (from + RAMPS - hops) % RAMPS,
    }
}

/// The `i`th segment of a way that starts at ramp `from`.
pub(crate) const fn segment(from: usize, i: usize, direction: RingDirection) -> usize {
    match direction {
        RingDirection::Clockwise => (from + i) % RAMPS,
        RingDirection::Counter => (from + 2 * RAMPS - 1 - i) % RAMPS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_way_is_longer_than_half_and_both_ways_meet() {
        for from in 0..RAMPS {
            for to in 0..RAMPS {
                let way = path(from, to);
                assert!(way.hops <= HALF_WAY);
                assert_eq!(path(to, from).hops, way.hops);
                if let Some(direction) = way.direction {
                    let back = segments(to, way.hops, path(to, from).direction.unwrap());
                    assert_eq!(segments(from, way.hops, direction), back, "{from} -> {to}");
                    assert_eq!(back.count_ones(), u32::from(way.hops));
                }
            }
        }
        let both = segments(10, 6, RingDirection::Clockwise) | segments(10, 6, RingDirection::Counter);
        assert_eq!(both, 0xfff);
    }

    #[test]
    fn the_far_pattern_is_half_way_everywhere() {
        for (a, b) in [(0, 7), (1, 6), (2, 5), (3, 4)] {
            assert_eq!(path(SPE[a], SPE[b]).hops, HALF_WAY);
        }
        for (a, b) in [(1, 3), (5, 7), (0, 2), (4, 6)] {
            assert_eq!(path(SPE[a], SPE[b]).hops, 1);
        }
    }
}
