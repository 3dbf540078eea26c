//! What joins two Cells: a line takes its turn in its direction, and of what both directions share.

use crate::CYCLE_PS;
use crate::parameters::LinkParameters as Times;

#[derive(Debug, Default)]
pub(crate) struct Link {
    /// When each direction (towards chip 0, chip 1) and the shared part is free, in ps.
    free: [u64; 2],
    shared: u64,
    /// Lines to chip 0 and to chip 1.
    pub lines: [u64; 2],
}

impl Link {
    /// A line for chip `to` stands at the link at `now`; the cycle at which it stands at the other chip's ramp.
    pub(crate) fn carry(&mut self, to: usize, now: u64, times: &Times) -> u64 {
        let now_ps = now * CYCLE_PS;
        let start = now_ps.max(self.free[to]).max(self.shared);
        self.free[to] = start + times.line_ps[to];
        self.shared = now_ps.max(self.shared) + times.shared_line_ps;
        self.lines[to] += 1;
        start.div_ceil(CYCLE_PS) + times.data
    }
}
