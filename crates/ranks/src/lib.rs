//! The ranks of an MPI program on the simulated Cell, each on an SPE of its own: the protocol of `buffered-mpi`.
//!
//! | module | what it does | imports |
//! |---|---|---|
//! | `calls` | what ranks ask for, and who asks | |
//! | `costs` | what the protocol's own code costs | |
//! | `entry` | the 16 bytes of an entry of a queue | calls |
//! | `places` | where queues, flags and buffers are | entry |
//! | `board` | what all ranks share: who waits, and whether anything will ever come | |
//! | `copying` | data between main memory and a local store, by legal DMA commands | costs |
//! | `program` | the program of an SPE: it carries out what its rank asks for | all above |
//! | `simulate` | puts the programs on the machine and runs it | all above |
//!
//! ```text
//!  rank i computes           main memory                     rank j computes
//!  local store of SPE i                                      local store of SPE j
//!  | pieces of 16 kB |--put-->| buffer Pi: a block  |--get-->| pieces of 16 kB |
//!  | freed flags of j|        | per entry, 2 kB each|        | queue Qij: 16   |
//!  |   ^             |        | data of application |        | entries of 16 B |
//!  |   |             |--put of an entry: where, tag, bytes, ->|                |
//!  |   +-------------|<------------- put of 16 flags: freed --|                |
//! ```
//!
//! What a rank's program computes, it computes on this computer; bytes of messages are real, and pass through the
//! simulated local stores and buffers. Only time is simulated. Matching, data types and collectives are those of MPI's
//! library, which asks for what is here.
//!
//! Floor 3: imports `sim`.

mod board;
mod calls;
mod copying;
mod costs;
mod entry;
mod places;
mod program;
mod simulate;

pub use calls::{Callers, RankAnswer, RankCall, RankData, RankEnvelope, RankNews};
pub use costs::RankCosts;
pub use simulate::{RankTimes, RanksError, RanksOptions, RanksOutcome, fits, simulate};
