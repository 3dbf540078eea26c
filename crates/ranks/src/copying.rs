//! Data between main memory and a local store, by DMA commands that the hardware allows.

use crate::costs::RankCosts;
use sim::{Address, Spe};

/// The tag group of data.
const DATA_TAG: u32 = 0;

/// Copies `bytes` from main memory to a stage: whole quadwords, because reading more than is asked for harms nothing.
/// The data then starts at the stage plus the address's place in its quadword. Waits until it is there.
pub(crate) fn bring(spe: &mut Spe<'_>, stage: u32, from: Address, bytes: u32) -> u32 {
    let misaligned = (from.0 % 16) as u32;
    let mut left = (misaligned + bytes).next_multiple_of(16);
    let (mut ls, mut ea) = (stage, Address(from.0 - u64::from(misaligned)));
    while left > 0 {
        let now = left.min(sim::DMA_BYTES_MAX);
        spe.get(ls, ea, now, DATA_TAG);
        (ls, ea, left) = (ls + now, ea + u64::from(now), left - now);
    }
    spe.tags_all(1 << DATA_TAG);
    stage + misaligned
}

/// Copies `bytes` from the local store to main memory, where nothing beside them is written: commands of 1, 2, 4 and 8
/// bytes at both ends, and quadwords in between. Both places must be alike modulo 16. Waits until the data has left.
pub(crate) fn take_out(spe: &mut Spe<'_>, mut ls: u32, mut to: Address, mut bytes: u32) {
    debug_assert_eq!(u64::from(ls % 16), to.0 % 16);
    while bytes > 0 {
        let now = if to.0.is_multiple_of(16) && bytes >= 16 {
            (bytes & !15).min(sim::DMA_BYTES_MAX)
        } else {
            let aligned = 1 << (to.0 as u32 | 8).trailing_zeros();
            let most = 1 << bytes.ilog2();
            u32::min(aligned, most).min(8)
        };
        spe.put(ls, to, now, DATA_TAG);
        (ls, to, bytes) = (ls + now, to + u64::from(now), bytes - now);
    }
    spe.tags_all(1 << DATA_TAG);
}

/// Puts data that starts at one place of a store at a place of the other stage with the wanted place in its quadword.
/// It costs time only when that differs.
pub(crate) fn realign(
    spe: &mut Spe<'_>,
    costs: &RankCosts,
    at: u32,
    stage: u32,
    misaligned: u32,
    bytes: u32,
) -> u32 {
    if at % 16 == misaligned {
        return at;
    }
    spe.compute_cycles(u64::from(bytes.div_ceil(16)) * costs.quadword);
    let data = spe.bytes(at, bytes).to_vec();
    let to = stage + misaligned;
    spe.bytes_mut(to, bytes).copy_from_slice(&data);
    to
}
