//! MPI on one machine, by the standard's ABI: this crate becomes `libmpi_abi.so.1`.
//!
//! A rank is a process. All ranks of a job share one segment of memory, which the launcher (crate `launch`) makes and
//! every rank inherits; the crate `transport` moves messages through it. Rooms, from the ground up:
//!
//! | module | what it does | imports |
//! |---|---|---|
//! | `abi` | the ABI's values and C types, generated from `abi/*.txt` | |
//! | `datatype` | layouts of data: constructors, packing, spans | abi |
//! | `handles`, `runtime`, `check` | objects behind handles; the library's one state; errors as users see them | |
//! | `call` | makes the C functions; the pointers that they are called with | check |
//! | `comm` | groups, communicators, attributes, error handlers, infos | runtime |
//! | `request` | everything that can be waited for | runtime |
//! | `p2p` | the functions of point-to-point communication and requests | runtime |
//! | `op` | operations of reductions | runtime |
//! | `coll` | collectives as schedules of sends, receives and reductions | runtime |
//! | `topology` | Cartesian, graph and distributed graph, and where their ranks best run | comm, coll |
//! | `progress` | the thread that moves messages while the program computes | request |
//! | `profile` | how much each rank sends to each other, time by function, ranks that are stuck | runtime |
//! | `tool` | the interface of tools (MPI_T) | check |
//! | `settings` | what the environment says | check |
//! | `about` | what the library says of its ABI | comm |
//! | `memory` | memory for programs, and the end of it | comm |
//! | `env` | start and end, versions, clock | all |

#![allow(unreachable_pub)]

pub mod abi;
mod about;
pub mod call;
pub mod check;
pub mod coll;
pub mod comm;
pub mod datatype;
mod env;
pub mod handles;
mod memory;
pub mod op;
pub mod p2p;
pub mod profile;
mod progress;
pub mod request;
pub mod runtime;
mod settings;
pub mod tool;
pub mod topology;
