//! Where queues, flags and buffers are.

use crate::entry::ENTRY_BYTES;
use sim::{Address, SimError, Simulation, Spe};

/// Entries of a queue. A freed flag is a byte of each, so that one quadword tells of all.
pub(crate) const ENTRIES: usize = 16;
/// Bytes of a local store for the program's code, its stack and MPI's library.
const CODE_BYTES: u32 = 96 << 10;
/// The most that is copied with one DMA command.
pub(crate) const PIECE_BYTES: u32 = 16 << 10;
/// Room for a piece that does not start at a quadword.
const STAGE_BYTES: u32 = PIECE_BYTES + 128;
/// Main memory that stands for an application's data. A place further on is one at its beginning: what matters of an
/// address is which bank of the memory it is in, and that data of two messages is in two places.
const DATA_BYTES: u64 = 16 << 20;

/// Main memory of one rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankMemory {
    /// Buffer Pi: a block for each entry of each queue that the rank sends through.
    buffer: Address,
    block_bytes: u64,
    data: Address,
}

impl RankMemory {
    /// Takes it.
    ///
    /// # Errors
    /// There is not so much.
    pub(crate) fn take(
        cell: &mut Simulation,
        chip: usize,
        ranks: usize,
        block_bytes: u64,
    ) -> Result<Self, SimError> {
        let block_bytes = block_bytes.next_multiple_of(128);
        let blocks = (ranks * ENTRIES) as u64 * block_bytes;
        let buffer = cell.allocate(chip, blocks, 128)?;
        let data = cell.allocate(chip, DATA_BYTES + 2 * u64::from(STAGE_BYTES), 128)?;
        Ok(Self { buffer, block_bytes, data })
    }

    /// The block of an entry.
    pub(crate) fn block(&self, to: usize, entry: usize) -> Address {
        self.buffer + (to * ENTRIES + entry) as u64 * self.block_bytes
    }

    /// The place of the application's data that its process keeps at some place: from there on there is room for a
    /// piece.
    pub(crate) fn data(&self, misaligned: u8, at: u64) -> Address {
        self.data + u64::from(misaligned) + at % DATA_BYTES
    }
}

/// A rank's local store; the same on all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StorePlaces {
    queues: u32,
    freed: u32,
    own_freed: u32,
    /// An entry on its way out.
    pub(crate) out: u32,
    /// Two places for pieces.
    pub(crate) stages: [u32; 2],
}

impl StorePlaces {
    /// Takes them in the order in which every rank takes them.
    pub(crate) fn take(spe: &mut Spe<'_>, ranks: usize) -> Self {
        spe.alloc(CODE_BYTES, 128);
        let ranks = ranks as u32;
        Self {
            queues: spe.alloc(ranks * ENTRIES as u32 * ENTRY_BYTES, 128),
            freed: spe.alloc(ranks * ENTRIES as u32, 128),
            own_freed: spe.alloc(ranks * ENTRIES as u32, 128),
            out: spe.alloc(128, 128),
            stages: [spe.alloc(STAGE_BYTES, 128), spe.alloc(STAGE_BYTES, 128)],
        }
    }

    /// An entry of the queue from a rank, in the receiver's store.
    pub(crate) fn entry(&self, from: usize, entry: usize) -> u32 {
        self.queues + (from * ENTRIES + entry) as u32 * ENTRY_BYTES
    }

    /// The flags of the queue to a rank, in the sender's store: how often each entry was freed.
    pub(crate) fn freed(&self, to: usize) -> u32 {
        self.freed + (to * ENTRIES) as u32
    }

    /// The receiver's own copy of the flags of the queue from a rank.
    pub(crate) fn own_freed(&self, from: usize) -> u32 {
        self.own_freed + (from * ENTRIES) as u32
    }
}
