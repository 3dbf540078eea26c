//! MPI on one machine, by the standard's ABI: this crate becomes `libmpi_abi.so.1`.
//!
//! A rank is a process. All ranks of a job share one segment of memory, which the launcher (crate `launch`) makes and
//! every rank inherits; the crate `transport` moves messages through it.
//!
//! Rooms, from the ground up. A room imports only rooms above it; `tests/python/test_floors.py` holds it to that.
//!
//! | module | what it does | imports |
//! |---|---|---|
//! | `abi` | the ABI's values and C types, generated from `abi/*.txt` | |
//! | `handles` | objects behind handles | |
//! | `neighbours` | grids and graphs of ranks, and the neighbours of each | |
//! | `profile` | which function this rank is in; calls and time by function | abi |
//! | `runtime` | the library's state, and the one thread that holds it; waiting | profile |
//! | `check` | errors as users see them: what a function refuses | abi, handles, runtime |
//! | `call` | the pointers that C callers pass | abi, check |
//! | `settings` | what the environment says | abi, check |
//! | `comm` | groups, communicators, error handlers, infos; `mpi!`, which makes C functions | all but settings |
//! | `datatype` | layouts of data: constructors, packing, spans | abi, handles, runtime, check, call, comm |
//! | `request` | everything that can be waited for | abi, handles, runtime, check, call, comm |
//! | `op` | operations of reductions | abi, handles, runtime, check, call, comm, datatype |
//! | `stuck` | what this rank waits for, told to the launcher | abi, profile, runtime, comm |
//! | `p2p` | the functions of point-to-point communication and requests | all but neighbours, profile, settings, op |
//! | `coll` | collectives as schedules of sends, receives and reductions | all but stuck, p2p |
//! | `topology` | communicators with a topology, ranks placed well | abi, neighbours, runtime, check, call, comm |
//! | `duplicate` | duplicates of communicators, made beside the program | abi, runtime, check, call, comm, request |
//! | `convert` | handles as integers | abi, handles, runtime, comm, datatype, request, op, p2p |
//! | `progress` | the thread that moves messages while the program computes | runtime, check, settings |
//! | `tool` | the interface of tools (MPI_T) | abi, runtime, check, call, settings, progress |
//! | `about` | what the library says of its ABI | abi, runtime, check, call, comm |
//! | `memory` | memory for programs, and the end of it | abi, runtime, check, call, comm |
//! | `env` | start and end | abi, profile, runtime, check, call, settings, comm, request, stuck, p2p, coll, progress |
//!
//! Each room keeps its own objects (`comm::COMMS`, `datatype::DATATYPES`, `request::REQUESTS` ...), which only the
//! thread that holds the state reaches: see `runtime`.
//!
//! Floor 5: imports `machine`, `host`, `place`, `launch` and `transport`.

pub mod abi;
mod about;
pub mod call;
mod check;
mod coll;
mod comm;
mod convert;
mod datatype;
mod duplicate;
mod env;
mod handles;
mod memory;
mod neighbours;
mod op;
mod p2p;
mod profile;
mod progress;
mod request;
mod runtime;
mod settings;
mod stuck;
mod tool;
mod topology;
