//! Topologies: Cartesian, graph, distributed graph, and where their ranks best run (MPI 5.0, chapter 8).
//!
//! | module | what it does |
//! |---|---|
//! | `make` | a communicator with a topology, its ranks placed when they may be reordered |
//! | `cartesian`, `graph`, `distributed` | the C functions |
//!
//! Distances are what the machine says of the cpus that processes are bound to: how many kinds of its parts (cpu, core,
//! L2, L3, NUMA node, package) they do not share. Processes that are not bound, or all equally far apart, keep their
//! order. The search is the one of the crate `place`.

mod cartesian;
mod distributed;
mod graph;
mod make;
/// Computers that are not here.
#[cfg(test)]
#[path = "../../../machine/tests/recorded/computer.rs"]
mod recorded;
