//! The machine file (TOML), round trip exact.
use crate::{Error, Machine};
use std::path::Path;
/// Reads.
pub fn read(path: &Path) -> Result<Machine, Error> {
    Err(Error::new("not yet").file(path.display().to_string()))
}
