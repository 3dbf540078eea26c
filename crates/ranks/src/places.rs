//! Where queues, flags and buffers are.

use crate::entry::ENTRY_BYTES;
use sim::{Address, SimError, Simulation, Spe};

/// Entries of a queue.
pub(crate) const ENTRIES: u32 = 16;
/// Blocks of a rank's buffer, where they are not too large.
const BLOCKS: u64 = 1024;
/// The most that the buffers of all ranks take of a chip's memory: a quarter of what the smallest machine, a PS3 with
/// 256 MB, has. `buffered-mpi` does not say how large they are.
const BUFFERS_BYTES: u64 = 64 << 20;
/// Messages that were found and not fetched, of which a local store keeps what their entries said; main memory keeps
/// that of more.
pub(crate) const KEPT: usize = 512;
/// Bytes of a local store for the program's code, its stack and MPI's library. Assumed: no program for an SPE is made
/// whose size could be measured.
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
    /// Buffer Pi, in blocks.
    buffer: Address,
    block_bytes: u64,
    pub(crate) blocks: u16,
    data: Address,
    /// What entries said of messages that are neither fetched nor in the local store.
    pub(crate) kept: Address,
}

impl RankMemory {
    /// Takes it.
    ///
    /// # Errors
    /// There is not so much.
    pub(crate) fn take(cell: &mut Simulation, chip: usize, block_bytes: u64) -> Result<Self, SimError> {
        let block_bytes = block_bytes.max(1).next_multiple_of(128);
        let each = BUFFERS_BYTES / (cell.parameters().spes() / cell.parameters().ppes()) as u64;
        let blocks = (each / block_bytes).min(BLOCKS);
        let buffer = cell.allocate(chip, (blocks * block_bytes).max(128), 128)?;
        let data = cell.allocate(chip, DATA_BYTES + 2 * u64::from(STAGE_BYTES), 128)?;
        let kept = cell.allocate(chip, 128, 128)?;
        Ok(Self { buffer, block_bytes, blocks: blocks as u16, data, kept })
    }

    /// Where a block starts.
    pub(crate) fn block(&self, number: u16) -> Address {
        self.buffer + u64::from(number) * self.block_bytes
    }

    /// The block that starts at an address.
    pub(crate) fn block_at(&self, address: u32) -> u16 {
        ((u64::from(address) - self.buffer.0) / self.block_bytes) as u16
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
    taken: u32,
    own_taken: u32,
    /// An entry on its way out.
    pub(crate) out: u32,
    /// Two places for pieces.
    pub(crate) stages: [u32; 2],
}

impl StorePlaces {
    /// Takes them in the order in which every rank takes them.
    pub(crate) fn take(spe: &mut Spe<'_>, ranks: usize) -> Self {
        spe.alloc(CODE_BYTES, 128);
        spe.alloc(KEPT as u32 * ENTRY_BYTES, 128);
        let ranks = ranks as u32;
        Self {
            queues: spe.alloc(ranks * ENTRIES * ENTRY_BYTES, 128),
            taken: spe.alloc(ranks * 16, 128),
            own_taken: spe.alloc(ranks * 16, 128),
            out: spe.alloc(128, 128),
            stages: [spe.alloc(STAGE_BYTES, 128), spe.alloc(STAGE_BYTES, 128)],
        }
    }

    /// The place of an entry of the queue from a rank, in the receiver's store.
    pub(crate) fn entry(&self, from: usize, entry: u32) -> u32 {
        self.queues + (from as u32 * ENTRIES + entry % ENTRIES) * ENTRY_BYTES
    }

    /// The flag of the queue to a rank, in the sender's store: how many of its entries were taken, in four bytes of a
    /// quadword.
    pub(crate) fn taken(&self, to: usize) -> u32 {
        self.taken + to as u32 * 16
    }

    /// The receiver's copy of the flag of the queue from a rank.
    pub(crate) fn own_taken(&self, from: usize) -> u32 {
        self.own_taken + from as u32 * 16
    }
}
