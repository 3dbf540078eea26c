//! The ring of `ring-mapping` under many mappings: how long a round takes.

use super::chosen::Chosen;
use probe::ring::{RingSetup, run_on};
use serde::{Deserialize, Serialize};

/// What to measure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RingsExperiment {
    /// On which machine.
    #[serde(flatten)]
    pub chosen: Chosen,
    /// The SPE of each task, for each mapping.
    pub mappings: Vec<Vec<usize>>,
    /// Of a packet.
    pub bytes: u32,
    /// Whether packets go both ways around.
    pub both: bool,
    /// Transmissions of each task in each direction.
    pub rounds: u32,
    /// Of the start state.
    pub seed: u64,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RingsFound {
    /// ns from the common start until the last task is done, by the number of rounds; for each mapping.
    pub round_ns: Vec<f64>,
}

/// Runs the ring under every mapping, one after another.
///
/// # Errors
/// Says which mapping or number is wrong, or what ended a simulation.
///
/// ```
/// use cellweave::reproduce::{chosen::Chosen, rings};
/// let chosen = Chosen { machine: "cell".into(), rules: None, hidden: None };
/// let mappings = vec![vec![1, 3, 5, 7], vec![1, 6, 3, 4]]; // neighbours on the bus; far from each other
/// let experiment = rings::RingsExperiment { chosen, mappings, bytes: 1024, both: true, rounds: 20, seed: 1 };
/// assert_eq!(rings::run(&experiment).unwrap().round_ns.len(), 2);
/// ```
pub fn run(experiment: &RingsExperiment) -> Result<RingsFound, String> {
    let chosen = &experiment.chosen;
    let options = RingSetup::on(&chosen.machine, chosen.rules.as_deref(), chosen.hidden.as_deref());
    let mut options = options.map_err(|e| e.to_string())?;
    options.packet_bytes = experiment.bytes;
    options.bidirectional = experiment.both;
    options.rounds = experiment.rounds;
    options.seed = experiment.seed;
    let one = |spes: &Vec<usize>| {
        let options = RingSetup { tasks: spes.len(), ..options.clone() };
        run_on(spes, &options)
            .map(|run| run.elapsed_ns / f64::from(experiment.rounds))
            .map_err(|e| e.to_string())
    };
    Ok(RingsFound { round_ns: experiment.mappings.iter().map(one).collect::<Result<_, _>>()? })
}
