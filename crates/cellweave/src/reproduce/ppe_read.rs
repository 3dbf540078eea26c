//! A PPE that reads an SPE's local store: by the SPE's proxy queue into main memory, and from there into its cache.

use super::chosen::Chosen;
use serde::{Deserialize, Serialize};
use sim::{LINE_BYTES, Simulation};
use std::cell::Cell;
use std::rc::Rc;

/// The tag group of the PPE's commands.
const TAG: u32 = 0;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PpeReadExperiment {
    /// On which machine.
    #[serde(flatten)]
    pub chosen: Chosen,
    /// Of one read.
    pub bytes: u32,
    /// Reads, one after another.
    pub times: u32,
}

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PpeReadFound {
    /// Mean ns from when the PPE hands over the command to when it has loaded all.
    pub ns: f64,
}

/// Has PPE 0 read from SPE 0's local store. What was copied is loaded once.
///
/// # Errors
/// Says what cannot be simulated.
///
/// ```
/// use cellweave::reproduce::{chosen::Chosen, ppe_read};
/// let chosen = Chosen { machine: "qs22".into(), rules: None, hidden: None };
/// let ns = |bytes| {
///     ppe_read::run(&ppe_read::PpeReadExperiment { chosen: chosen.clone(), bytes, times: 1 }).unwrap().ns
/// };
/// assert!(ns(16384) > ns(128));
/// ```
pub fn run(experiment: &PpeReadExperiment) -> Result<PpeReadFound, String> {
    let mut sim = Simulation::new(experiment.chosen.parameters()?).map_err(|e| e.to_string())?;
    let (bytes, times) = (experiment.bytes, experiment.times);
    let buffer = sim
        .allocate(0, u64::from(bytes) * u64::from(times), u64::from(LINE_BYTES))
        .map_err(|e| e.to_string())?;
    let total_ps = Rc::new(Cell::new(0));
    let total = total_ps.clone();
    sim.ppe(0, "reader", move |ppe| {
        for i in 0..times {
            let at = sim::Address(buffer.0 + u64::from(i) * u64::from(bytes));
            let start = ppe.now_ps();
            ppe.proxy_put(0, 0, at, bytes, TAG);
            ppe.proxy_wait(0, 1 << TAG);
            ppe.load(at, bytes);
            total.set(total.get() + ppe.now_ps() - start);
        }
    })
    .map_err(|e| e.to_string())?;
    sim.run().map_err(|e| e.to_string())?;
    Ok(PpeReadFound { ns: total_ps.get() as f64 / 1e3 / f64::from(times) })
}
