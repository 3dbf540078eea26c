//! Where queues, flags and buffers are.

use crate::entry::ENTRY_BYTES;
use sim::{Address, LINE_BYTES, SimError, Simulation, Spe};

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
/// The most bytes that a rank gives at a time.
pub const MOST_GIVEN: u64 = PIECE_BYTES as u64;
/// Room for a piece that does not start at a quadword, in whole lines.
pub(crate) const STAGE_BYTES: u32 = (PIECE_BYTES + 16).next_multiple_of(LINE_BYTES);
/// Bytes that are given through a slot in the receiver's store; more are fetched from the giver's.
pub(crate) const SLOT_DATA: u32 = 1024;
/// A slot: what it holds, in a quadword, and the data, in whole lines.
const SLOT_BYTES: u32 = (16 + SLOT_DATA).next_multiple_of(LINE_BYTES);
/// Slots for each giver.
pub(crate) const SLOTS: u32 = 2;
/// Main memory that stands for the applications' data that a chip's memory keeps: half of what the smallest machine
/// has. A place beyond a rank's part of it is one at its beginning: what matters of an address is which bank of the
/// memory it is in, and that data of two messages is in two places.
const DATA_BYTES: u64 = 128 << 20;

/// In whose main memory the data of ranks is, and their buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DataMemory {
    /// That of the chip of the rank's SPE.
    #[default]
    Nearest,
    /// That of the first chip.
    One,
    /// Data in pieces of 16 kB by turns on both chips, buffers of every second rank on each.
    Both,
}

/// Bytes of a local store that are left for the data of an application which lies there: the program's code and stack,
/// and what messages need of the library, take the others.
pub fn room_for_data(ranks: usize) -> u32 {
    let queues = ranks as u32 * (ENTRIES * ENTRY_BYTES + 2 * 16) + 128;
    sim::LOCAL_STORE_BYTES - CODE_BYTES - KEPT as u32 * ENTRY_BYTES - queues
}

/// Main memory of one rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankMemory {
    /// Buffer Pi, in blocks.
    buffer: Address,
    block_bytes: u64,
    pub(crate) blocks: u16,
    /// Pieces of data are here and there by turns.
    data: [Address; 2],
    data_bytes: u64,
    /// Results of reductions.
    pub(crate) reduced: Address,
    /// What entries said of messages that are neither fetched nor in the local store.
    pub(crate) kept: Address,
}

impl RankMemory {
    /// Takes that of a rank on an SPE.
    ///
    /// # Errors
    /// There is not so much.
    pub(crate) fn take(
        cell: &mut Simulation,
        (rank, spe): (usize, usize),
        memory: DataMemory,
        block_bytes: u64,
    ) -> Result<Self, SimError> {
        let (spes, chips) = (cell.parameters().spes() as u64, cell.parameters().chips);
        let (buffer_chip, data_chips) = match memory {
            DataMemory::Nearest => {
                let (chip, _) = cell.parameters().physical(spe);
                (chip, vec![chip])
            }
            DataMemory::One => (0, vec![0]),
            DataMemory::Both => (rank % chips, (0..chips).collect()),
        };
        // Ranks that have their part of one memory, at most.
        let sharers = if memory == DataMemory::One { spes } else { spes / chips as u64 };
        let block_bytes = block_bytes.max(1).next_multiple_of(128);
        let blocks = (BUFFERS_BYTES / sharers / block_bytes).min(BLOCKS);
        let buffer = cell.allocate(buffer_chip, (blocks * block_bytes).max(128), 128)?;
        let data_bytes = DATA_BYTES / sharers.next_power_of_two() / data_chips.len() as u64;
        let mut data = Vec::new();
        for &chip in &data_chips {
            data.push(cell.allocate(chip, data_bytes + 2 * u64::from(STAGE_BYTES), 128)?);
        }
        let kept = cell.allocate(buffer_chip, 128, 128)?;
        let reduced = cell.allocate(buffer_chip, PIECE_BYTES.into(), 128)?;
        let data = [data[0], data[data.len() - 1]];
        Ok(Self { buffer, block_bytes, blocks: blocks as u16, data, data_bytes, reduced, kept })
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
        let turn = at / u64::from(PIECE_BYTES) % self.data.len() as u64;
        self.data[turn as usize] + u64::from(misaligned) + at % self.data_bytes
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
    slots: u32,
    given_taken: u32,
    own_given_taken: u32,
    /// What is given, on its way out.
    pub(crate) gift: u32,
    /// Two words for signals, each in the last four bytes of a quadword.
    pub(crate) signals: u32,
    /// Two places from which others fetch what is given.
    pub(crate) shown: [u32; 2],
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
            slots: spe.alloc(ranks * SLOTS * SLOT_BYTES, 128),
            given_taken: spe.alloc(ranks * 16, 128),
            own_given_taken: spe.alloc(ranks * 16, 128),
            gift: spe.alloc(SLOT_BYTES, 128),
            signals: spe.alloc(32, 128),
            shown: [spe.alloc(STAGE_BYTES, 128), spe.alloc(STAGE_BYTES, 128)],
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

    /// The slot of a gift from a rank, in the receiver's store.
    pub(crate) fn slot(&self, from: usize, gift: u32) -> u32 {
        self.slots + (from as u32 * SLOTS + gift % SLOTS) * SLOT_BYTES
    }

    /// What stands for data of this rank that lies in its local store and that others fetch.
    pub(crate) fn shown_data(&self, misaligned: u8) -> u32 {
        self.shown[0] + u32::from(misaligned)
    }

    /// How many gifts a rank has taken, in the giver's store.
    pub(crate) fn given_taken(&self, by: usize) -> u32 {
        self.given_taken + by as u32 * 16
    }

    /// The taker's copy of it.
    pub(crate) fn own_given_taken(&self, from: usize) -> u32 {
        self.own_given_taken + from as u32 * 16
    }

    /// The receiver's copy of the flag of the queue from a rank.
    pub(crate) fn own_taken(&self, from: usize) -> u32 {
        self.own_taken + from as u32 * 16
    }
}
