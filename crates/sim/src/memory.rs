//! Main memory: its bytes, and which of them were taken.

use crate::SimError;
use crate::allocated::Allocated;

/// The memory of all chips, one after another.
pub(crate) struct MainMemory {
    bytes: Vec<u8>,
    bytes_per_chip: u64,
    /// Where the free memory of each chip starts.
    free: Vec<u64>,
    allocated: Allocated,
}

impl MainMemory {
    /// Memory of zeros.
    pub(crate) fn new(chips: usize, bytes_per_chip: u64) -> Result<Self, SimError> {
        let free = (0..).step_by(to_index(bytes_per_chip)).take(chips).collect();
        let bytes = zeros(bytes_per_chip * chips as u64)?;
        Ok(Self { bytes, bytes_per_chip, free, allocated: Allocated::default() })
    }

    /// The bytes of all chips.
    pub(crate) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Takes `bytes` of the memory of `chip`.
    pub(crate) fn allocate(&mut self, chip: usize, bytes: u64, align: u64) -> Result<u64, SimError> {
        let chips = self.free.len();
        let Some(next) = self.free.get_mut(chip) else {
            return Err(SimError::Request(format!("memory of chip {chip}; there are {chips}")));
        };
        if !align.is_power_of_two() {
            return Err(SimError::Request(format!("memory aligned to {align}, which is no power of two")));
        }
        let start = next.next_multiple_of(align);
        let end = (chip as u64 + 1) * self.bytes_per_chip;
        if start.checked_add(bytes).is_none_or(|e| e > end) {
            let left = end.saturating_sub(start);
            return Err(SimError::Request(format!(
                "{bytes} bytes of the memory of chip {chip}; {left} are left"
            )));
        }
        *next = start + bytes;
        self.allocated.add(start, bytes);
        Ok(start)
    }

    /// Whether all these bytes were taken; if not, what was taken nearby.
    pub(crate) fn check_allocated(&self, start: u64, bytes: u64) -> Result<(), String> {
        if self.allocated.has(start, bytes) { Ok(()) } else { Err(self.allocated.nearby(start)) }
    }

    /// Bytes of memory; panics when there are not so many.
    #[inline]
    pub(crate) fn bytes(&self, start: u64, bytes: usize) -> &[u8] {
        &self.bytes[to_index(start)..][..bytes]
    }

    /// Bytes of memory, to be written; panics when there are not so many.
    #[inline]
    pub(crate) fn bytes_mut(&mut self, start: u64, bytes: usize) -> &mut [u8] {
        &mut self.bytes[to_index(start)..][..bytes]
    }
}

/// An address as an index; what has none is beyond every memory.
#[inline]
fn to_index(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// So many bytes of zeros.
fn zeros(bytes: u64) -> Result<Vec<u8>, SimError> {
    let refused = || {
        SimError::Request(format!("this computer has no {bytes} bytes of memory for the simulated machine"))
    };
    let bytes = usize::try_from(bytes).map_err(|_| refused())?;
    // Asks whether there is so much; zeroing it like this would touch every page of it.
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| refused())?;
    Ok(vec![0; bytes])
}
