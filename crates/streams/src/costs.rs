//! What the runtime itself costs on an SPE and on a PPE.

/// Time that the runtime's own code takes, beside what the calls of the machine cost.
///
/// They are estimates: instructions of the state machine's steps as `streaming-schedule` Figure 8 has them, at one
/// instruction a cycle on an SPE and two cycles an instruction on a PPE. Nothing is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamCosts {
    /// SPU cycles of a turn of the state machine: look at tags, signals, units.
    pub spe_turn_cycles: u64,
    /// SPU cycles to start a firing of a unit and to tell what it produced.
    pub spe_firing_cycles: u64,
    /// SPU cycles to prepare a transfer or a notice.
    pub spe_transfer_cycles: u64,
    /// ns of a turn of a PPE's thread.
    pub ppe_turn_ns: u64,
    /// ns to start a firing of a unit and to tell what it produced.
    pub ppe_firing_ns: u64,
    /// ns to prepare a transfer or a notice.
    pub ppe_transfer_ns: u64,
}

impl Default for StreamCosts {
    fn default() -> Self {
        StreamCosts {
            spe_turn_cycles: 100,
            spe_firing_cycles: 150,
            spe_transfer_cycles: 60,
            ppe_turn_ns: 100,
            ppe_firing_ns: 100,
            ppe_transfer_ns: 50,
        }
    }
}
