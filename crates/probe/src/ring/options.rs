//! What can be asked of the ring by name.

use super::{RingPlacement, RingSetup, Sweep};
use crate::TargetError;
use ground::options::Word;

impl Word for RingPlacement {
    const WORDS: &'static [(&'static str, RingPlacement)] =
        &[("pinned", RingPlacement::Pinned), ("default", RingPlacement::Default)];
}

ground::options! {
    /// The published experiment, and what may be different.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RingOptions("ring") {
        /// A simulated machine; threads have the SPEs of its first chip.
        pub machine: String = "ps3".into();
        /// Bytes of a packet, a multiple of 16.
        pub packet_bytes: u32 = 1024, in 16..=16_384, unit "bytes";
        /// Packets go both ways around; else each task makes one packet.
        pub bidirectional: bool = true;
        /// Transmissions of each task in each direction.
        pub rounds: u32 = 500, in 1..=1_073_741_824;
        /// Runs of every mapping, from different start states: tasks start up to 1 us apart.
        pub runs: usize = 3, in 1..=1000;
        /// Thread i is on SPE i, or where the run's seed puts it.
        pub placement: RingPlacement = RingPlacement::Pinned;
        /// Seed of the first run; the others have the numbers after it.
        pub seed: u64 = 1;
        /// Only these mappings of tasks to threads. By default every mapping with task 0 on thread 0.
        pub mappings: Option<Vec<Vec<usize>>> = None, in 0..=15;
        /// Tasks of the ring; by default one to every SPE of a chip.
        pub tasks: Option<usize> = None, in 3..=16;
        /// The rule set of the bus's arbiter.
        pub rules: Option<String> = None;
        /// SPEs, as the hardware numbers them, that no thread gets.
        pub hidden: Option<Vec<usize>> = None, in 0..=7;
        /// Thread 0 may execute another task than 0.
        pub any_first: bool = false;
        /// Threads of this computer; by default one to every processor. The result is the same.
        pub threads: Option<usize> = None, in 1..=1024;
    }
}

impl RingOptions {
    /// What is run.
    ///
    /// # Errors
    /// Names the option, machine, rule set or SPE that is wrong.
    pub fn sweep(&self) -> Result<Sweep, TargetError> {
        self.check().map_err(|e| TargetError::Request(e.to_string()))?;
        let setup = RingSetup::on(&self.machine, self.rules.as_deref(), self.hidden.as_deref())?;
        let setup = RingSetup {
            tasks: self.tasks.unwrap_or(setup.tasks),
            packet_bytes: self.packet_bytes,
            bidirectional: self.bidirectional,
            rounds: self.rounds,
            seed: self.seed,
            placement: self.placement,
            any_first: self.any_first,
            ..setup
        };
        Ok(Sweep { options: setup, mappings: self.mappings.clone(), runs: self.runs, threads: self.threads })
    }
}
