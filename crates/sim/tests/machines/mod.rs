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

/// A machine with a small memory, all of it allocated.
#[allow(dead_code)]
pub(crate) fn machine(name: &str) -> Simulation {
    owned(small(name))
}

/// A machine with a small memory, nothing of it allocated.
#[allow(dead_code)]
pub(crate) fn fresh(name: &str) -> Simulation {
    Simulation::new(small(name)).unwrap()
}

/// A machine with all its memory allocated.
#[allow(dead_code)]
pub(crate) fn owned(parameters: Parameters) -> Simulation {
    let mut cell = Simulation::new(parameters).unwrap();
    let (chips, bytes) = (cell.parameters().chips, cell.parameters().memory_bytes);
    (0..chips).for_each(|chip| assert!(cell.allocate(chip, bytes, 1).is_ok()));
    cell
}
