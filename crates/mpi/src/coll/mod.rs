//! Collectives (MPI 5.0, chapter 6, and section 8.7 for neighbourhoods).
//!
//! | module | what it does |
//! |---|---|
//! | `scratch` | memory of a schedule's own |
//! | `schedule` | what one rank does, in steps, and how it is carried out |
//! | `algorithm` | the collectives as schedules, and which algorithm is taken when |
//! | `arguments` | what the C functions are passed, checked |
//! | `blocks` | buffers with a block for each rank or neighbour |
//! | `build` | from arguments to a schedule |
//! | `neighbourhood` | the same for neighbourhoods |
//! | `offers` | large data, read by its receiver from the sender's memory, or from where it is shown |
//! | `messages` | one collective as messages, without a schedule |
//! | `direct` | small data of more than two ranks: between the root and all others, or of each for all |
//! | `two_ranks` | one exchange between the ranks of a communicator of two |
//! | `quick` | the shortest way for small messages |
//! | `giving` | barrier, bcast and allreduce by way of the local stores of a simulated Cell |
//! | `crowd` | bcast, reduce, allreduce and allgather of ranks that share cpus, through memory that all see |
//! | `window` | a large allreduce of two ranks through memory that both see |
//! | `to_root` | a large reduce of two ranks, whose operand comes as messages or is read |
//! | `by_kernel` | large reductions of two ranks that read each other's operands |
//! | `run` | a schedule carried out: blocking, non-blocking or persistent |
//! | `functions` | the C functions, six of each collective |
//!
//! Each collective takes a number of its communicator, the same on all ranks because they call collectives in the same
//! order. It is the tag of its messages, in a context of their own: so several can be under way at once. Blocking and
//! non-blocking ones are numbered apart, so a rank may start one of these before, another rank after a barrier.

mod algorithm;
mod arguments;
mod blocks;
mod build;
mod by_kernel;
mod crowd;
mod direct;
mod functions;
pub(crate) mod giving;
mod messages;
mod neighbourhood;
mod offers;
mod quick;
mod run;
mod schedule;
mod scratch;
mod to_root;
mod two_ranks;
mod window;
