//! Machines with a megabyte of memory a chip, for tests.

use sim::{Parameters, Simulation};

/// Main memory of each chip.
pub(crate) const MEMORY_BYTES: u64 = 1 << 20;

/// The parameters of a machine with a small memory.
pub(crate) fn small(name: &str) -> Parameters {
    let mut parameters = Parameters::named(name).unwrap();
    parameters.memory_bytes = MEMORY_BYTES;
    parameters
}

/// A machine with a small memory.
#[allow(dead_code)]
pub(crate) fn machine(name: &str) -> Simulation {
    Simulation::new(small(name)).unwrap()
}
