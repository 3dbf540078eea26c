//! What the protocol's own code costs on an SPE.

/// SPU cycles of 3.2 GHz that the steps of the protocol take, beside what the calls of the machine cost (channels,
/// commands, tag status).
///
/// The figures count the instructions of straightforward C code of each step; nothing is fitted. Latencies are those of
/// the SDK's tutorial ("SPU instruction latency and pipeline, by instruction class"), as in `streams::StreamCosts`:
/// local store 6 cycles, simple fixed point 2, word rotate and shuffle 4, multiply 7, branch 4, 18 for one that was
/// predicted wrongly. Independent instructions overlap, and selects take the place of branches.
///
/// | step | instructions that count on an SPU | cycles |
/// |---|---|---|
/// | `call` | 2 wrong branches (the call, its way) 36, 8 registers saved and loaded 16, arguments compared 8 | 60 |
/// | `send` | loads of next entry and flag 12, flag rotated 4, compare 2, wrong branch 18, multiply and add 9 | 45 |
/// | `entry` | 4 words merged by shuffles 16, store 1, next index masked and stored 5 | 22 |
/// | `look` | load of the mask of queues 6, compare 2, a wrong branch 18, hinted branch 4 | 30 |
/// | `queue` | load of the next entry 6, rotate 4, compare 2; the loads of four queues overlap | 6 |
/// | `found` | 4 words rotated out 8, compared with what is asked for 6, a wrong branch 18, two counters 10 | 42 |
/// | `free` | load, byte shuffled in 4, add 2, two stores 2, load 6 | 14 |
/// | `piece` | minimum 4, two addresses 6, tag shifted 4, a wrong branch 18, loop branch 4 | 36 |
/// | `quadword` | data moved to another place in its quadword: 2 loads, shuffle, store, one a cycle each | 4 |
/// | `give` | each receiver: its count and flag 12, compare 2, slot's place 9, count stored 5, loop branch 4 | 32 |
/// | `take` | each giver: its signal rotated and tested 8, header 6, rotate 4, compare 2, place 9, count 5 | 34 |
/// | `poll` | a signal's channel counted: test 2, hinted branch 4 | 6 |
/// | `combine` | a quadword of results: two loads and a store, one a cycle; the operation on the other pipe | 3 |
/// | `scattered` | a piece of data that does not lie in a row: its place 10, list element 4, rotate 4, branch 4 | 22 |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankCosts {
    /// A call of MPI that communicates.
    pub call: u64,
    /// A send: the next entry of the queue, its block of the buffer.
    pub send: u64,
    /// An entry that is written.
    pub entry: u64,
    /// A look at all queues.
    pub look: u64,
    /// Each queue of a look.
    pub queue: u64,
    /// An entry that was found.
    pub found: u64,
    /// An entry that is freed.
    pub free: u64,
    /// A piece of data that is copied.
    pub piece: u64,
    /// A quadword that is moved within a local store.
    pub quadword: u64,
    /// A part of data that does not lie in a row.
    pub scattered: u64,
    /// A rank that something is given to.
    pub give: u64,
    /// A rank that something is taken from.
    pub take: u64,
    /// A look at the signals.
    pub poll: u64,
    /// A quadword of results of a reduction.
    pub combine: u64,
}

impl Default for RankCosts {
    fn default() -> Self {
        Self {
            call: 60,
            send: 45,
            entry: 22,
            look: 30,
            queue: 6,
            found: 42,
            free: 14,
            piece: 36,
            quadword: 4,
            scattered: 22,
            give: 32,
            take: 34,
            poll: 6,
            combine: 3,
        }
    }
}
