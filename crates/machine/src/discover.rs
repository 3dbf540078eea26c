//! This computer, from `/sys`, the affinity mask and the cgroup quota.
use crate::{Error, Machine};
use std::path::Path;
/// `0-3,8` as numbers.
pub fn cpu_list(text: &str) -> Option<Vec<u32>> {
    text.split(',').map(|t| t.parse().ok()).collect()
}
/// This.
pub fn host(_root: &Path, _cpus: Option<&[u32]>) -> Result<Machine, Error> {
    Err(Error::new("not yet"))
}
