//! A message from an SPE to the PPE, by the SPE's outbound mailbox.

use super::chosen::Chosen;
use serde::{Deserialize, Serialize};
use sim::Simulation;
use std::cell::RefCell;
use std::rc::Rc;

/// How long an SPE computes between two messages, so that the PPE is waiting for each.
const BETWEEN_NS: u64 = 2000;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct MailboxExperiment {
    /// On which machine.
    #[serde(flatten)]
    pub chosen: Chosen,
    /// Messages from each SPE.
    pub times: u32,
}

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MailboxFound {
    /// Mean ns from when an SPE starts to write its mailbox to when the PPE, waiting for it, has the value.
    pub ns: f64,
}

/// Has every SPE of chip 0 in turn send messages to the PPE.
///
/// # Errors
/// Says what cannot be simulated.
///
/// ```
/// use cellweave::reproduce::{chosen::Chosen, mailbox};
/// let chosen = Chosen { machine: "ps3".into(), rules: None, hidden: None };
/// let found = mailbox::run(&mailbox::MailboxExperiment { chosen, times: 2 }).unwrap();
/// assert!(found.ns > 0.0);
/// ```
pub fn run(experiment: &MailboxExperiment) -> Result<MailboxFound, String> {
    let parameters = experiment.chosen.parameters()?;
    let spes = parameters.spes() / parameters.chips;
    let mut sum_ps = 0;
    for number in 0..spes {
        let mut sim = Simulation::new(parameters.clone()).map_err(|e| e.to_string())?;
        let sent = Rc::new(RefCell::new(Vec::new()));
        let received = Rc::new(RefCell::new(Vec::new()));
        let (times, starts) = (experiment.times, sent.clone());
        sim.spe(number, "sender", move |spe| {
            for i in 0..times {
                spe.compute(BETWEEN_NS);
                starts.borrow_mut().push(spe.now_ps());
                spe.write_mailbox(i);
            }
        })
        .map_err(|e| e.to_string())?;
        let ends = received.clone();
        sim.ppe(0, "receiver", move |ppe| {
            for _ in 0..times {
                ppe.read_mailbox(number);
                ends.borrow_mut().push(ppe.now_ps());
            }
        })
        .map_err(|e| e.to_string())?;
        sim.run().map_err(|e| e.to_string())?;
        let (sent, received) = (sent.borrow(), received.borrow());
        sum_ps += sent.iter().zip(received.iter()).map(|(start, end)| end - start).sum::<u64>();
    }
    let messages = f64::from(experiment.times) * spes as f64;
    Ok(MailboxFound { ns: sum_ps as f64 / 1e3 / messages })
}
