//! The parts of a memory that were handed out. Using others is an error: nobody knows what is there.

use std::ops::Range;

/// Commands move whole quadwords: the last one of a piece belongs to the piece.
const QUADWORD: u64 = 16;

/// The pieces of a memory that were handed out, in ascending order; neighbours are one piece.
#[derive(Debug, Default)]
pub(crate) struct Allocated(Vec<Range<u64>>);

impl Allocated {
    /// Hands out a piece that nobody has.
    pub(crate) fn add(&mut self, start: u64, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let end = (start + bytes).next_multiple_of(QUADWORD);
        let i = self.0.partition_point(|piece| piece.start <= start);
        match i.checked_sub(1).map(|before| &mut self.0[before]) {
            Some(before) if before.end >= start => before.end = before.end.max(end),
            _ => self.0.insert(i, start..end),
        }
    }

    /// Whether nothing was handed out yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all these bytes were handed out.
    #[inline]
    pub(crate) fn has(&self, start: u64, bytes: u64) -> bool {
        bytes == 0 || self.before(start).is_some_and(|piece| start + bytes <= piece.end)
    }

    fn before(&self, at: u64) -> Option<&Range<u64>> {
        self.0[..self.0.partition_point(|piece| piece.start <= at)].last()
    }

    /// The pieces before and after an address, in words.
    pub(crate) fn nearby(&self, at: u64) -> String {
        let after = self.0.iter().find(|piece| piece.start > at);
        let pieces: Vec<String> = self
            .before(at)
            .into_iter()
            .chain(after)
            .map(|p| format!("{:#x} to {:#x}", p.start, p.end - 1))
            .collect();
        if pieces.is_empty() {
            return "nothing is allocated".into();
        }
        format!("allocated nearby: {}", pieces.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_handed_out_is_there_to_its_last_quadword_and_no_further() {
        let mut a = Allocated::default();
        a.add(1024, 100);
        a.add(0, 16);
        assert!(a.has(1024, 112) && a.has(1120, 16) && a.has(0, 16) && a.has(5000, 0));
        assert!(!a.has(1024, 113) && !a.has(1136, 1) && !a.has(16, 1) && !a.has(1023, 2) && !a.has(8, 16));
    }

    #[test]
    fn neighbours_are_one_piece() {
        let mut a = Allocated::default();
        a.add(128, 128);
        a.add(0, 120);
        a.add(256, 1);
        assert!(a.has(128, 144) && a.has(0, 128));
        assert_eq!(a.nearby(300), "allocated nearby: 0x80 to 0x10f");
    }

    #[test]
    fn the_pieces_before_and_after_are_named() {
        let mut a = Allocated::default();
        assert_eq!(a.nearby(64), "nothing is allocated");
        a.add(0, 16);
        a.add(1024, 128);
        assert_eq!(a.nearby(64), "allocated nearby: 0x0 to 0xf and 0x400 to 0x47f");
        assert_eq!(a.nearby(4096), "allocated nearby: 0x400 to 0x47f");
    }
}
