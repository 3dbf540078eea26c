//! Lines under way: the bytes of one packet of the bus, from the command to its arrival.

use crate::address::Location;
use crate::ids::{CommandId, LineId};
use crate::layout::RingDirection;
use std::ops::{Index, IndexMut};

/// No SPE.
pub(crate) const NOBODY: u8 = u8::MAX;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    /// The MFC that it belongs to, and its command there.
    pub mfc: u8,
    pub command: CommandId,
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
    pub next: LineId,
    pub queued_at: u64,
    /// Offset in the local store of the MFC's SPE, and the other end.
    pub ls: u32,
    pub ea: u64,
    pub place: Location,
}

impl Line {
    /// Lines of memory that so many bytes from this line on touch.
    #[inline]
    pub(crate) fn lines(&self, bytes: u32) -> u32 {
        ((self.ea % 128) as u32 + bytes).div_ceil(128)
    }

    /// It starts so many bytes further on.
    #[inline]
    pub(crate) fn advance(&mut self, bytes: u32) {
        self.ls += bytes;
        self.ea += u64::from(bytes);
        self.place = self.place.further(bytes);
    }
}

/// All lines under way. Data of a put is kept from when it leaves its local store.
pub(crate) struct Lines {
    lines: Vec<Line>,
    data: Vec<[u8; 128]>,
    free: Vec<LineId>,
}

impl Lines {
    pub(crate) fn new() -> Self {
        Self { lines: Vec::new(), data: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub(crate) fn add(&mut self, line: &Line) -> LineId {
        match self.free.pop() {
            Some(index) => {
                self.lines[index.index()] = *line;
                index
            }
            None => self.more(line),
        }
    }

    /// Room for another line.
    #[cold]
    fn more(&mut self, line: &Line) -> LineId {
        self.lines.push(*line);
        self.data.push([0; 128]);
        LineId(self.lines.len() as u32 - 1)
    }

    #[inline]
    pub(crate) fn remove(&mut self, index: LineId) {
        self.free.push(index);
    }

    /// The bytes of a put's line.
    #[inline]
    pub(crate) fn data(&mut self, index: LineId) -> &mut [u8; 128] {
        &mut self.data[index.index()]
    }

    /// Lines that have not arrived.
    pub(crate) fn under_way(&self) -> usize {
        self.lines.len() - self.free.len()
    }
}

impl Index<LineId> for Lines {
    type Output = Line;

    #[inline]
    fn index(&self, index: LineId) -> &Line {
        &self.lines[index.index()]
    }
}

impl IndexMut<LineId> for Lines {
    #[inline]
    fn index_mut(&mut self, index: LineId) -> &mut Line {
        &mut self.lines[index.index()]
    }
}
