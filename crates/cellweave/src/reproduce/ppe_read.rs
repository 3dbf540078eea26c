//! A PPE that reads an SPE's local store: by the SPE's proxy queue into main memory, and from there into its cache.

use super::chosen::Chosen;
use serde::{Deserialize, Serialize};
use sim::{LINE_BYTES, Simulation};
use std::cell::Cell;
use std::rc::Rc;

/// Tag groups of an SPE's queue.
const TAGS: u32 = 32;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PpeReadExperiment {
    /// On which machine.
    #[serde(flatten)]
    pub chosen: Chosen,
    /// Of one read.
    pub bytes: u32,
    /// How many reads.
    pub times: u32,
    /// Reads that the PPE keeps in flight: with one, each begins when the one before it is loaded.
    #[serde(default = "one")]
    pub in_flight: u32,
}

fn one() -> u32 {
    1
}

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PpeReadFound {
    /// ns from when the PPE hands over the first command to when it has loaded all, by the number of reads.
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
/// let ns = |bytes, in_flight| {
///     let experiment = ppe_read::PpeReadExperiment { chosen: chosen.clone(), bytes, times: 8, in_flight };
///     ppe_read::run(&experiment).unwrap().ns
/// };
/// assert!(ns(16384, 1) > ns(128, 1));
/// assert!(ns(16384, 2) < 0.6 * ns(16384, 1)); // the next command waits in the queue while a read is loaded
/// ```
pub fn run(experiment: &PpeReadExperiment) -> Result<PpeReadFound, String> {
    let mut sim = Simulation::new(experiment.chosen.parameters()?).map_err(|e| e.to_string())?;
    let (bytes, times, in_flight) = (experiment.bytes, experiment.times, experiment.in_flight);
    if !(1..=TAGS).contains(&in_flight) {
        return Err(format!("{in_flight} reads in flight; allowed: 1 to {TAGS}, a tag group for each"));
    }
    let buffer = sim
        .allocate(0, u64::from(bytes) * u64::from(times), u64::from(LINE_BYTES))
        .map_err(|e| e.to_string())?;
    let total_ps = Rc::new(Cell::new(0));
    let total = total_ps.clone();
    sim.ppe(0, "reader", move |ppe| {
        let at = |i: u32| sim::Address(buffer.0 + u64::from(i) * u64::from(bytes));
        let start_ps = ppe.now_ps();
        for i in 0..times.min(in_flight) {
            ppe.proxy_put(0, 0, at(i), bytes, i);
        }
        for i in 0..times {
            let tag = i % in_flight;
            ppe.proxy_wait(0, 1 << tag);
            ppe.load(at(i), bytes);
            if i + in_flight < times {
                ppe.proxy_put(0, 0, at(i + in_flight), bytes, tag);
            }
        }
        total.set(ppe.now_ps() - start_ps);
    })
    .map_err(|e| e.to_string())?;
    sim.run().map_err(|e| e.to_string())?;
    Ok(PpeReadFound { ns: total_ps.get() as f64 / 1e3 / f64::from(times) })
}
