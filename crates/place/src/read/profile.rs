//! What `cellrun --profile` writes: phases by their level, transfers by their sizes.

use super::{PROFILE_BYTES_MAX, flow, parts_allowed};
use crate::{Traffic, TrafficPhase};
use ground::Located;
use serde_json::Value;
use std::path::Path;

/// The format that is read.
const FORMAT: u64 = 1;

pub(super) fn read(path: &Path) -> Result<Traffic, Located> {
    let failed = |e: std::io::Error| Located::new(e.to_string());
    let bytes = std::fs::metadata(path).map_err(failed)?.len();
    if bytes > PROFILE_BYTES_MAX {
        return Err(Located::new(format!("{bytes} bytes; a profile has at most {PROFILE_BYTES_MAX}")));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let root: Value =
        serde_json::from_str(&text).map_err(|e| Located::new(format!("not JSON: {e}")).line(e.line()))?;
    of(&root)
}

fn of(root: &Value) -> Result<Traffic, Located> {
    let wrong = |key: &str, what: &str| Located::new(what).key(key);
    match root["format"].as_u64() {
        Some(FORMAT) => {}
        Some(other) => {
            return Err(wrong("format", &format!("{other}; this version reads profiles of format {FORMAT}")));
        }
        None => return Err(wrong("format", "missing: no profile of cellrun --profile")),
    }
    let parts = root["n"].as_u64().ok_or_else(|| wrong("n", "the number of ranks is missing"))? as usize;
    parts_allowed(parts)?;
    let listed = root["phases"].as_array().ok_or_else(|| wrong("phases", "a list is missing"))?;
    let mut phases = Vec::new();
    for (i, phase) in listed.iter().enumerate() {
        let key = format!("phases[{i}]");
        let mut flows = Vec::new();
        for transfer in phase["transfers"].as_array().into_iter().flatten() {
            let rank = |name: &str| transfer[name].as_u64().map(|rank| rank as usize);
            let (Some(from), Some(to)) = (rank("source"), rank("destination")) else {
                return Err(wrong(&key, "a transfer has no source or no destination"));
            };
            let sizes = transfer["sizes"].as_array().into_iter().flatten();
            let bytes: f64 = sizes.filter_map(|size| size["bytes"].as_f64()).sum();
            flows.extend(flow(from, to, bytes));
        }
        if !flows.is_empty() {
            phases.push(TrafficPhase::new(format!("level {}", phase["level"]), flows));
        }
    }
    if phases.is_empty() {
        return Err(Located::new("no rank sent anything to another"));
    }
    Ok(Traffic { name: String::new(), parts, phases })
}
