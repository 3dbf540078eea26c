//! A machine file from measurements: distances, and the limits that they show.
//!
//! The model is that of `streaming-schedule`, section 3.1.2: the time of a pattern of transfers is that of its slowest
//! limit, its bytes by the limit's capacity. Nothing is read but measurements: which elements sit together follows from
//! the latencies of pairs, and the topology only gives groups their names. A preset's limits are never looked at.
//!
//! | limit | fitted to |
//! |---|---|
//! | `input of SPE3`, `output of SPE3` | pairs, the middle of those that are equally near; `fan-out` and `fan-in` |
//! | `PPE0 reads SPE3` | the pair, where it is a general element that reads |
//! | `SPE3 reads chip 1` | pairs, the middle of those of the other group, where that is less than the port |
//! | input and output of a PPE, which are its chip's memory | `memory-write` and `memory-read` |
//! | `bus of chip 0`, `chip 0 reads chip 1`, `between chip 0 and chip 1`, ... | all patterns of several transfers |
//!
//! The last row are the limits that elements share; [`shared`] says how they are found. Memory beyond the caches of a
//! computer's core moves at what it reads or writes alone (`memory-read-each`, `-write-each`).

mod alone;
mod groups;
mod limits;
mod name;
mod regress;
mod sets;
mod shared;

use crate::TargetError;
use crate::result::Probed;
use crate::shape::of_role;
use alone::Alone;
use ground::Quantiles;
use limits::Seen;
use machine::{Machine, Role, check};
use sets::Sets;

/// A machine fitted to measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The machine, with distances and limits as measured.
    pub machine: Machine,
    /// A line for each figure that was fitted, with its source.
    pub notes: Vec<String>,
    /// Predicted by measured time of each pattern of several transfers, predicted by a fit that did not see it.
    pub held_out: Vec<f64>,
}

/// Fits `machine` to its measurements.
///
/// # Errors
/// When not all pairs of elements were measured, which distances need.
pub fn fit(machine: &Machine, probed: &Probed) -> Result<Fitted, TargetError> {
    let sets = Sets::of(machine, probed)?;
    let distances = sets.distances()?;
    let workers = machine.workers();
    let general = of_role(machine, Role::General);
    let latency = |reader: usize, source: usize| distances.latency_ns[reader][source];
    let levels = groups::levels(&workers, machine.elements.len(), latency);
    let alone = Alone {
        machine,
        sets: &sets,
        distances: &distances,
        workers: &workers,
        general: &general,
        levels: &levels,
    };
    let seen = Seen::of(&sets, &workers);
    let mut known = alone.limits();
    let found = shared::limits(&alone, &known, &seen);
    let mut notes = vec![format!("distances: {} pairs", sets.bandwidths.len())];
    notes.push("input and output of each element: its pairs, fan-out and fan-in".into());
    let names: Vec<&str> = found.limits.iter().map(|(set, _)| set.name.as_str()).collect();
    if !names.is_empty() {
        notes.push(format!("{}: {} patterns of several transfers", names.join(", "), seen.patterns.len()));
    }
    known.extend(found.limits);
    limits::errors(&mut known, &seen);
    if let Some(line) = accuracy(&found.held_out) {
        notes.push(line);
    }
    let mut fitted = machine.clone();
    for (element, bytes_per_s) in &sets.overflow {
        if let Some(memory) = fitted.elements[*element].memory.as_mut().filter(|m| !m.hard) {
            memory.overflow_bytes_per_s = Some(*bytes_per_s);
        }
    }
    if fitted.elements.iter().any(|e| e.memory.as_ref().is_some_and(|m| m.overflow_bytes_per_s.is_some())) {
        notes.push("memory beyond the caches: memory-read-each and -write-each".into());
    }
    fitted.description =
        format!("{}; distances and limits measured by cellweave on {}", own(machine), probed.target);
    fitted.measured = true;
    fitted.limits = known.into_iter().map(|(_, limit)| limit).collect();
    fitted.distances = Some(distances);
    check::check(&fitted).map_err(|e| TargetError::Failed(e.to_string()))?;
    Ok(Fitted { machine: fitted, notes, held_out: found.held_out })
}

/// How well patterns are foreseen that a fit did not see.
fn accuracy(ratios: &[f64]) -> Option<String> {
    let q = Quantiles::of(ratios.to_vec())?;
    Some(format!(
        "{} patterns, each foreseen by a fit without it: predicted by measured time {:.2} in the middle, {:.2} to \
         {:.2} for four of five; mean error {:.0} %",
        ratios.len(),
        q.p50,
        q.p10,
        q.p90,
        100.0 * regress::error(ratios)
    ))
}

/// The part of the description that is about the machine itself.
fn own(machine: &Machine) -> &str {
    machine.description.split(';').next().unwrap_or_default()
}
