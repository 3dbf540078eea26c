//! What a worker waited for, how often and how long.

use crate::scheduler::Lack;

/// Waits for one thing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WaitSum {
    pub n: u64,
    pub total_ns: u64,
    pub longest_ns: u64,
    /// How many of them were stalls.
    pub stalls: u64,
    /// ns of the stalls.
    pub stalled_ns: u64,
}

/// All waits of a worker.
#[derive(Debug, Default)]
pub(crate) struct WaitLog {
    /// A wait of at least so many ns is a stall.
    stall_ns: u64,
    /// Before its first firing.
    pub start: WaitSum,
    /// For sources that had nothing right now.
    pub source: WaitSum,
    /// After its last firing: for readers that make room for the zeros behind the end.
    pub end: WaitSum,
    /// Per ring: for data in it, for room in it.
    pub rings: Vec<(WaitSum, WaitSum)>,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitEnd {
    /// A unit can fire that had lacked this.
    Ready(Option<Lack>),
    /// It was for a source.
    Source,
    /// Nothing is left to fire.
    Over,
}

impl WaitLog {
    pub(crate) fn new(rings: usize, stall_ns: u64) -> WaitLog {
        WaitLog { stall_ns, rings: vec![Default::default(); rings], ..WaitLog::default() }
    }

    /// A wait of `ns` is over; `first`: the worker has not fired yet.
    pub(crate) fn add(&mut self, ns: u64, end: WaitEnd, first: bool) {
        let sum = match end {
            _ if first => &mut self.start,
            WaitEnd::Source => &mut self.source,
            WaitEnd::Ready(Some(Lack::Data(ring))) => &mut self.rings[ring].0,
            WaitEnd::Ready(Some(Lack::Room(ring))) => &mut self.rings[ring].1,
            WaitEnd::Ready(None) | WaitEnd::Over => &mut self.end,
        };
        sum.n += 1;
        sum.total_ns += ns;
        sum.longest_ns = sum.longest_ns.max(ns);
        if ns >= self.stall_ns && !first && end != WaitEnd::Over {
            sum.stalls += 1;
            sum.stalled_ns += ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_counts_for_what_was_lacking() {
        let mut log = WaitLog::new(2, 100);
        log.add(500, WaitEnd::Ready(Some(Lack::Data(1))), true);
        log.add(50, WaitEnd::Ready(Some(Lack::Data(1))), false);
        log.add(150, WaitEnd::Ready(Some(Lack::Data(1))), false);
        log.add(30, WaitEnd::Ready(Some(Lack::Room(0))), false);
        log.add(7, WaitEnd::Source, false);
        log.add(900, WaitEnd::Over, false);
        let data = log.rings[1].0;
        assert_eq!(
            (data.n, data.total_ns, data.longest_ns, data.stalls, data.stalled_ns),
            (2, 200, 150, 1, 150)
        );
        assert_eq!((log.rings[0].1.total_ns, log.start.total_ns, log.source.total_ns), (30, 500, 7));
        assert_eq!((log.end.total_ns, log.end.stalls, log.start.stalls), (900, 0, 0));
    }
}
