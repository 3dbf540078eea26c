//! Machines that several programs of the planning bench plan for.

use machine::Machine;
use std::path::Path;

/// The recorded 2 x 64-core machine, one element per core.
pub(crate) fn cores_128() -> Result<Machine, Box<dyn std::error::Error>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machine/tests/recorded/epyc-2x64/machine.toml");
    let mut machine = machine::load(file.to_str().ok_or("path")?)?;
    let mut seen = std::collections::HashSet::new();
    machine.elements.retain(|e| seen.insert((e.place.chip, e.place.core)));
    machine.name = "epyc-2x64, a thread per core".into();
    Ok(machine)
}
