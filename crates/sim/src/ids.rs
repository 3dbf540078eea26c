//! Numbers of things that are never mixed up, because each kind has its own type.

// A cast of a number of up to 64 bits to a usize cuts nothing off.
const _: () = assert!(usize::BITS == 64);

/// A line under way: its place in [`Lines`](crate::line::Lines).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LineId(pub u32);

impl LineId {
    /// No line.
    pub(crate) const NONE: Self = Self(u32::MAX);

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A command in the queues of an MFC: its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CommandId(pub u8);

impl CommandId {
    /// Of lines that belong to an atomic command, which is in no queue.
    pub(crate) const ATOMIC: Self = Self(u8::MAX);

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0.into()
    }
}

/// A unit that runs programs: SPEs first, by their numbers, then PPEs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UnitId(pub u8);

impl UnitId {
    #[inline]
    pub(crate) fn new(number: usize) -> Self {
        Self(byte(number))
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0.into()
    }
}

/// The number of a chip, unit, ramp, bank, queue slot or line's bytes, none of which reaches 256, in a byte.
///
/// # Panics
/// When it does: it is never cut off.
#[inline]
pub(crate) fn byte(number: usize) -> u8 {
    u8::try_from(number).expect("no machine has so many")
}
