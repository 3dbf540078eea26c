//! Who else has a line of main memory: the PPEs' caches and the SPEs' reservations. Both are void once it is written.

use std::collections::HashSet;

/// Bytes of a line.
const LINE: u64 = 128;

/// Lines of a PPE's second cache (512 KB).
const CACHE_LINES: usize = 4096;
/// No line.
const NONE: u64 = u64::MAX;

/// The lines that PPEs have in their caches.
pub(crate) struct PpeCaches {
    /// Those that they have written: the bus gets them from there.
    lines: HashSet<u64>,
    /// Those that they have loaded since they were written last, each at its place in a cache without a choice of
    /// places.
    loaded: Vec<u64>,
    /// When the cache of each chip's PPE can serve another line.
    free: Vec<u64>,
}

impl PpeCaches {
    pub(crate) fn new(chips: usize) -> Self {
        Self { lines: HashSet::new(), loaded: vec![NONE; CACHE_LINES], free: vec![0; chips] }
    }

    /// A PPE has written all lines from the one at `start` to before `end`.
    pub(crate) fn written_by_ppe(&mut self, start: u64, end: u64) {
        self.lines.extend(start / LINE..end.div_ceil(LINE));
    }

    /// A PPE has loaded the line of `at`.
    pub(crate) fn loaded_by_ppe(&mut self, at: u64) {
        self.loaded[place_of(at)] = at / LINE;
    }

    /// Whether a PPE loads the line of `at` from its cache.
    pub(crate) fn is_near(&self, at: u64) -> bool {
        self.is_loaded(at) || self.has(at)
    }

    /// Whether a PPE has written the line of `at` and still has it.
    #[inline]
    pub(crate) fn has(&self, at: u64) -> bool {
        !self.lines.is_empty() && self.lines.contains(&(at / LINE))
    }

    /// The line of `at` was written by somebody else.
    #[inline]
    pub(crate) fn forget(&mut self, at: u64) {
        if !self.lines.is_empty() {
            self.lines.remove(&(at / LINE));
        }
        if self.is_loaded(at) {
            self.loaded[place_of(at)] = NONE;
        }
    }

    fn is_loaded(&self, at: u64) -> bool {
        self.loaded[place_of(at)] == at / LINE
    }

    /// The cache on `chip` serves a line that is asked for at `at` and takes `cycles`: when it starts.
    pub(crate) fn serve(&mut self, chip: usize, at: u64, cycles: u64) -> u64 {
        let start = self.free[chip].max(at);
        self.free[chip] = start + cycles;
        start
    }
}

fn place_of(at: u64) -> usize {
    (at / LINE) as usize % CACHE_LINES
}

/// The line that each SPE has reserved.
pub(crate) struct Reservations {
    lines: Vec<Option<u64>>,
    held: usize,
}

impl Reservations {
    pub(crate) fn new(spes: usize) -> Self {
        Self { lines: vec![None; spes], held: 0 }
    }

    /// `spe` reserves the line at `line`, and gives up the one before.
    pub(crate) fn reserve(&mut self, spe: usize, line: u64) {
        self.held += usize::from(self.lines[spe].replace(line).is_none());
    }

    /// `spe` gives up its reservation.
    pub(crate) fn give_up(&mut self, spe: usize) {
        self.held -= usize::from(self.lines[spe].take().is_some());
    }

    /// Whether `spe` still has the line at `line`.
    pub(crate) fn has(&self, spe: usize, line: u64) -> bool {
        self.lines[spe] == Some(line)
    }

    /// The line of `at` was written.
    #[inline]
    pub(crate) fn forget(&mut self, at: u64) {
        if self.held == 0 {
            return;
        }
        let line = at / LINE * LINE;
        for spe in 0..self.lines.len() {
            if self.has(spe, line) {
                self.give_up(spe);
            }
        }
    }
}
