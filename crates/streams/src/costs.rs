//! What the runtime's own code costs on an SPE and on a PPE.

/// Cycles of 3.2 GHz that the steps of the runtime take on one sort of core, beside what the calls of the machine
/// cost (channels, commands, loads and stores of main memory, registers).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreCosts {
    /// A turn of the loop: the word that stops a run, the branches between the phases.
    pub turn: u64,
    /// A flag that is compared with what it was.
    pub glance: u64,
    /// A unit that is looked at: the next ones of tasks until one can fire, and each fetch of which a counter changed.
    pub unit: u64,
    /// Each ring of that unit: is there data, is there room?
    pub ring: u64,
    /// A firing of a unit, however many instances: the call and the return of its tasks.
    pub firing: u64,
    /// Each ring of a unit that fired: its address, its slot, its counter.
    pub firing_ring: u64,
    /// A transfer that is started: its slots, its addresses, its tag.
    pub transfer: u64,
    /// A transfer that has arrived: its counters.
    pub arrival: u64,
    /// A flag that is told.
    pub flag: u64,
}

/// Time that the runtime's own code takes.
///
/// The figures count the instructions of straightforward C code of each step; nothing is fitted. On an SPU, latencies
/// are those of the SDK's tutorial ("SPU instruction latency and pipeline, by instruction class"): local store 6
/// cycles, simple fixed point 2, word rotate and shuffle 4, multiply 7, branch 4, 18 for one that was predicted
/// wrongly. Independent instructions overlap, and selects take the place of branches.
///
/// | step | instructions that count on an SPU | cycles |
/// |---|---|---|
/// | `turn` | load of the stop word 6, compare 2, a wrong branch 18, four hinted branches 4 | 30 |
/// | `glance` | load, compare, gather the bits, store: one each of four flags at a time, the rest overlaps | 4 |
/// | `unit` | load of its descriptor 6, compare with the end 2, loop branch 4 | 12 |
/// | `ring` | 3 loads and 2 rotates, one a cycle; subtract, compare, select: the rest overlaps | 8 |
/// | `firing` | 2 wrong branches (found; the call) 36, 8 registers saved and loaded 16, phase of the batch 8 | 60 |
/// | `firing_ring` | multiply and add of the address 9 overlap; load, add, wrap, store of slot and counter | 12 |
/// | `transfer` | a free tag: count of zeros, shift 8; 2 multiplies, 64-bit add 12; a wrong branch 18 | 38 |
/// | `arrival` | count of zeros, shift 6; load, add and store of two counters 10; loop branch 4 | 20 |
/// | `flag` | load of the dirty bit, 4 words merged 10, store 1 | 11 |
///
/// The PPE issues in order, and its two threads take turns: 2 cycles an instruction, loads from the first cache
/// included; 23 cycles, the length of its pipeline, for a branch that was predicted wrongly.
///
/// | step | on a PPE | cycles |
/// |---|---|---|
/// | `turn` | 15 instructions | 30 |
/// | `glance` | 5 instructions, of which 2 loads | 10 |
/// | `unit` | 8 instructions | 16 |
/// | `ring` | 10 instructions, of which 4 loads | 20 |
/// | `firing` | 2 wrong branches 46, 40 instructions | 126 |
/// | `firing_ring` | 12 instructions | 24 |
/// | `transfer` | 25 instructions, a wrong branch | 73 |
/// | `arrival` | 15 instructions | 30 |
/// | `flag` | 8 instructions | 16 |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamCosts {
    /// On an SPE.
    pub spe: CoreCosts,
    /// On a thread of a PPE.
    pub ppe: CoreCosts,
    /// Whether what local stores have left becomes slots.
    pub spare_slots: bool,
    /// From this seed, each firing takes up to twice what its tasks cost, or nothing: for tests.
    pub drawn_from: Option<u64>,
}

impl StreamCosts {
    /// Nothing costs anything: what the machine alone takes.
    pub fn free() -> Self {
        let free = CoreCosts {
            turn: 0,
            glance: 0,
            unit: 0,
            ring: 0,
            firing: 0,
            firing_ring: 0,
            transfer: 0,
            arrival: 0,
            flag: 0,
        };
        StreamCosts { spe: free, ppe: free, ..StreamCosts::default() }
    }
}

impl Default for StreamCosts {
    fn default() -> Self {
        let spe = CoreCosts {
            turn: 30,
            glance: 4,
            unit: 12,
            ring: 8,
            firing: 60,
            firing_ring: 12,
            transfer: 38,
            arrival: 20,
            flag: 11,
        };
        let ppe = CoreCosts {
            turn: 30,
            glance: 10,
            unit: 16,
            ring: 20,
            firing: 126,
            firing_ring: 24,
            transfer: 73,
            arrival: 30,
            flag: 16,
        };
        StreamCosts { spe, ppe, spare_slots: true, drawn_from: None }
    }
}
