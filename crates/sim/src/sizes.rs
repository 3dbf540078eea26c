//! Sizes and times that every Cell has.

/// Picoseconds of a bus cycle (1.6 GHz); an SPU cycle is half of one.
pub const CYCLE_PS: u64 = 625;
/// An SPE's memory for code, stack and data.
pub const LOCAL_STORE_BYTES: u32 = 256 * 1024;
/// Bytes that the bus moves at a time.
pub const LINE_BYTES: u32 = 128;
/// Banks of a chip's main memory, each a line wide.
pub const BANKS: usize = 16;
/// Bus cycles that a line takes at 16 bytes a cycle.
pub const BEATS: u64 = 8;
/// Rings of a chip: 0 and 1 clockwise, 2 and 3 counter-clockwise.
pub const RINGS: usize = 4;
