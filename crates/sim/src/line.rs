//! Lines under way: the bytes of one packet of the bus, from the command to its arrival.

use crate::address::Location;
use crate::layout::RingDirection;
use std::ops::{Index, IndexMut};

/// No SPE.
pub(crate) const NOBODY: u8 = u8::MAX;
/// The slot of lines that belong to an atomic command.
pub(crate) const ATOMIC: u8 = u8::MAX;
/// No line.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// The MFC that it belongs to, and the command's slot in its queue.
    pub mfc: u8,
    pub slot: u8,
    pub put: bool,
    /// The SPE whose local store the data is still in; [`NOBODY`] for memory, and once it has left.
    pub source: u8,
    /// Whether it crosses to the other chip, and counts as such.
    pub remote: bool,
    /// The chip whose rings it is on now, and the one where it ends.
    pub chip: u8,
    pub last_chip: u8,
    /// The ramp on the last chip where it ends.
    pub last_ramp: u8,
    /// This chip's ramps.
    pub from: u8,
    pub to: u8,
    pub hops: u8,
    pub direction: Option<RingDirection>,
    pub bytes: u8,
    /// Half of it is through a local store's port: it lies across two lines of the store.
    pub half: bool,
    /// The next line at its ramp.
    pub next: u32,
    pub queued_at: u64,
    /// Offset in the local store of the MFC's SPE, and the other end.
    pub ls: u32,
    pub ea: u64,
    pub place: Location,
}

/// All lines under way. Data of a put is kept from when it leaves its local store.
pub(crate) struct Lines {
    lines: Vec<Line>,
    data: Vec<[u8; 128]>,
    free: Vec<u32>,
}

impl Lines {
    pub(crate) fn new() -> Self {
        Self { lines: Vec::new(), data: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub(crate) fn add(&mut self, line: Line) -> u32 {
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.more(&line),
        };
        self.lines[index as usize] = line;
        index
    }

    /// Room for another line.
    #[cold]
    fn more(&mut self, line: &Line) -> u32 {
        self.lines.push(line.clone());
        self.data.push([0; 128]);
        self.lines.len() as u32 - 1
    }

    #[inline]
    pub(crate) fn remove(&mut self, index: u32) {
        self.free.push(index);
    }

    /// The bytes of a put's line.
    #[inline]
    pub(crate) fn data(&mut self, index: u32) -> &mut [u8; 128] {
        &mut self.data[index as usize]
    }

    /// Lines that have not arrived.
    pub(crate) fn under_way(&self) -> usize {
        self.lines.len() - self.free.len()
    }
}

impl Index<u32> for Lines {
    type Output = Line;

    #[inline]
    fn index(&self, index: u32) -> &Line {
        &self.lines[index as usize]
    }
}

impl IndexMut<u32> for Lines {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut Line {
        &mut self.lines[index as usize]
    }
}
