//! The commands that the hardware traps: messages name the command and what is allowed.

use super::Simulation;
use crate::address::Location;
use crate::dma::{Dma, ListElement};
use crate::{Address, LOCAL_STORE_BYTES};

/// The most bytes of one DMA command, or one element of a list.
pub const DMA_BYTES_MAX: u32 = 16 * 1024;
/// The most elements of a list.
pub const LIST_MAX: usize = 2048;
/// The most bytes of one load or store of a PPE: a simulation's guard, no property of the hardware.
pub const PPE_BYTES_MAX: u32 = 64 << 20;
/// Tag groups of a queue.
const TAGS: u32 = 32;

impl Simulation {
    /// Where `bytes` from `ea` on are, if all of them are in one place.
    pub(super) fn range(&self, ea: Address, bytes: u64) -> Result<Location, String> {
        let first = self.place(ea);
        let whole = match first {
            Location::Memory { offset, .. } => offset + bytes <= self.memory.len(),
            Location::Store { offset, .. } => u64::from(offset) + bytes <= u64::from(LOCAL_STORE_BYTES),
            Location::Mailbox { .. } | Location::Signal { .. } => bytes == 4,
            Location::Nowhere => false,
        };
        if whole {
            return self.allocated(first, ea, bytes).map(|()| first);
        }
        if matches!(first, Location::Mailbox { .. } | Location::Signal { .. }) {
            return Err(format!("{bytes} bytes of the {ea}; registers take 4 bytes"));
        }
        let memory = self.memory.len();
        Err(format!(
            "{bytes} bytes from {ea} on are not all there: this machine has {memory:#x} bytes of memory and the local \
             stores of SPE0 to SPE{}",
            self.spes.len() - 1
        ))
    }

    /// Whether somebody has allocated these bytes, which are all in one place.
    fn allocated(&self, place: Location, ea: Address, bytes: u64) -> Result<(), String> {
        match place {
            Location::Memory { offset, .. } => self.memory.check_allocated(offset, bytes),
            Location::Store { spe, offset } => self.shared[usize::from(spe)].check_allocated(offset, bytes),
            _ => Ok(()),
        }
        .map_err(|nearby| format!("{bytes} bytes at {ea} were not allocated; {nearby}"))
    }

    /// Where a PPE's load or store goes.
    pub(super) fn check_ppe(&self, what: &str, ea: Address, bytes: u64) -> Result<Location, String> {
        if bytes > u64::from(PPE_BYTES_MAX) {
            return Err(format!("{what} of {bytes} bytes; allowed: up to {PPE_BYTES_MAX}"));
        }
        match self.range(ea, bytes) {
            Ok(Location::Mailbox { .. } | Location::Signal { .. }) => {
                Err(format!("{what} of the {ea}; registers have calls of their own"))
            }
            Ok(place) => Ok(place),
            Err(message) => Err(format!("{what}: {message}")),
        }
    }

    /// The reason for which the hardware traps a command in the queue of an SPE.
    pub(super) fn check_dma(&self, spe: usize, dma: &Dma) -> Result<(), String> {
        let reason = if dma.tag.0 >= TAGS {
            format!("tag {}; allowed: 0 to 31", dma.tag.0)
        } else {
            match self.check_piece(spe, dma.ls.0, dma.ea, dma.bytes.0) {
                Ok(Location::Mailbox { .. } | Location::Signal { .. }) if !dma.put => {
                    "registers cannot be read by DMA".into()
                }
                Ok(_) => return Ok(()),
                Err(reason) => reason,
            }
        };
        Err(format!("{dma}: {reason}"))
    }

    /// A command's size, alignment and both ends; or an element's of a list.
    fn check_piece(&self, spe: usize, ls: u32, ea: Address, bytes: u32) -> Result<Location, String> {
        if !matches!(bytes, 1 | 2 | 4 | 8)
            && (bytes == 0 || !bytes.is_multiple_of(16) || bytes > DMA_BYTES_MAX)
        {
            return Err(format!("sizes are 1, 2, 4, 8, or a multiple of 16 up to {DMA_BYTES_MAX}"));
        }
        if self.place(ea) == Location::Nowhere {
            return self.range(ea, bytes.into());
        }
        let align = bytes.min(16);
        if !ls.is_multiple_of(align) || !ea.0.is_multiple_of(u64::from(align)) {
            return Err(format!("both ends must be multiples of {align}"));
        }
        if bytes < 16 && u64::from(ls % 16) != ea.0 % 16 {
            return Err("below 16 bytes both ends must have the same place in a quadword".into());
        }
        self.shared[spe].check_store(ls, bytes.into())?;
        self.range(ea, bytes.into())
    }

    /// The reason for which the hardware traps a list in the queue of an SPE.
    pub(super) fn check_list(&self, spe: usize, dma: &Dma, list: &[ListElement]) -> Result<(), String> {
        let command = || {
            let what = if dma.put { "put" } else { "get" };
            format!("{what} of a list of {} elements, {:#x} of the local store", list.len(), dma.ls.0)
        };
        if dma.tag.0 >= TAGS {
            return Err(format!("{}: tag {}; allowed: 0 to 31", command(), dma.tag.0));
        }
        if list.is_empty() || list.len() > LIST_MAX {
            return Err(format!("{}: allowed are 1 to {LIST_MAX} elements", command()));
        }
        let mut ls = dma.ls.0;
        for (i, element) in list.iter().enumerate() {
            let at = element.store_offset(ls);
            let reason = match self.check_piece(spe, at, element.ea, element.bytes.0) {
                Ok(Location::Mailbox { .. } | Location::Signal { .. }) => {
                    "lists go to memory and local stores".into()
                }
                Ok(_) => {
                    ls = (at + element.bytes.0).next_multiple_of(16);
                    continue;
                }
                Err(reason) => reason,
            };
            let (bytes, ea) = (element.bytes.0, element.ea);
            return Err(format!("{}: element {i}, {bytes} bytes at {ea}: {reason}", command()));
        }
        Ok(())
    }
}
