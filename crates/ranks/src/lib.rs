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
//! | `start` | how a rank learns its number and the job's memory: a mailbox word from the PPE | copying |
//! | `program` | the program of an SPE: it carries out what its rank asks for | all above |
//! | `simulate` | puts the programs on the machine and runs it | all above |
//!
//! ```text
//!  rank i computes            main memory                      rank j computes
//!  local store of SPE i                                        local store of SPE j
//!  | pieces of 16 kB |--put-->| buffer Pi: blocks   |--get-->| pieces of 16 kB  |
//!  |                 |        | of 2 kB             |        | queue Qij: 16    |
//!  | how many of Qij |        | data of applications|        | entries of 16 B  |
//!  | are taken       |        | above 2 kB          |        |  ^               |
//!  |  ^              |--- put of an entry: where, tag, bytes ---+               |
//!  |  +--------------|<-- put of a flag, for half of a queue --|                |
//!  | queue Qji       |<-- put of an entry: received, blocks freed ---|          |
//! ```
//!
//! An entry is taken as soon as it is found, and what it says is kept until the message is fetched. `buffered-mpi`
//! leaves it in the queue: then messages that nobody asks for hold up the one behind them that somebody waits for,
//! which MPI does not allow (MPI 5.0, section 3.5, progress). A send that finds no free block of its buffer goes on as
//! a synchronous one.
//!
//! Collectives may give data in another way (`Give` and `Take`): by signals and from local store to local store.
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
mod start;

pub use calls::{Callers, RankAnswer, RankCall, RankData, RankEnvelope, RankNews, RankNote};
pub use costs::RankCosts;
pub use places::{DataMemory, MOST_GIVEN, room_for_data};
pub use simulate::{RankTimes, RanksError, RanksOptions, RanksOutcome, fits, simulate};
