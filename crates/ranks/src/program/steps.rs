//! What ranks did, step by step, and how full queues are, for the trace.

use super::RankProgram;
use crate::calls::RankCall;
use sim::trace::{Trace, TraceLevel, TraceStep};

/// The steps of all ranks.
pub(crate) struct RankSteps {
    ranks: usize,
    /// It keeps as many as a trace may have, and counts the others.
    kept: Trace,
    /// Entries in the queue from one rank to another, by both.
    queued: Vec<u32>,
}

impl RankSteps {
    pub(crate) fn new(ranks: usize) -> Self {
        Self { ranks, kept: Trace::default(), queued: vec![0; ranks * ranks] }
    }

    /// Gives them to the trace.
    pub(crate) fn add_to(self, trace: &mut Trace) {
        self.kept.steps.into_iter().for_each(|step| trace.step(step));
        self.kept.levels.into_iter().for_each(|level| trace.level(level));
        trace.left_out += self.kept.left_out;
    }

    /// A queue has more or fewer entries.
    fn changes(&mut self, from: usize, to: usize, by: i32, ps: u64) {
        let entries = &mut self.queued[from * self.ranks + to];
        *entries = entries.saturating_add_signed(by);
        let level = u64::from(*entries);
        self.kept.level(TraceLevel { name: format!("queue {from} -> {to}"), ps, level });
    }
}

impl RankProgram<'_, '_, '_> {
    /// A step that began then ends now.
    pub(super) fn step(&self, name: String, kind: &'static str, since_ps: u64) {
        let (Some(steps), now_ps) = (&self.protocol.steps, self.spe.now_ps()) else { return };
        if now_ps > since_ps {
            let step = TraceStep { unit: self.protocol.spes[self.rank], name, kind, ps: (since_ps, now_ps) };
            steps.borrow_mut().kept.step(step);
        }
    }

    /// A call that began then is carried out.
    pub(super) fn record(&self, call: &RankCall, since_ps: u64) {
        if self.protocol.steps.is_none() {
            return;
        }
        let kind = if matches!(call, RankCall::Compute { .. }) { "computation" } else { "communication" };
        let name = match call {
            RankCall::Send { to, data, .. } => format!("send {} bytes to rank {to}", data.bytes),
            RankCall::Fetch { from, data, .. } => format!("receive {} bytes from rank {from}", data.bytes),
            RankCall::Give { data, .. } => format!("give {} bytes", data.bytes),
            RankCall::Take { .. } => "take".into(),
            RankCall::Combine { bytes, .. } => format!("reduce {bytes} bytes"),
            RankCall::Keep { .. } => "keep".into(),
            RankCall::Compute { flops, .. } => format!("compute {flops} operations"),
            RankCall::Wait => "wait".into(),
            RankCall::Look => "look".into(),
            RankCall::Tell { to, .. } => format!("tell rank {to}"),
            RankCall::Begin | RankCall::Time | RankCall::End => return,
        };
        self.step(name, kind, since_ps);
    }

    /// An entry was written to a queue.
    pub(super) fn wrote(&self, to: usize) {
        if let Some(steps) = &self.protocol.steps {
            steps.borrow_mut().changes(self.rank, to, 1, self.spe.now_ps());
        }
    }

    /// An entry was taken from a queue.
    pub(super) fn took(&self, from: usize) {
        if let Some(steps) = &self.protocol.steps {
            steps.borrow_mut().changes(from, self.rank, -1, self.spe.now_ps());
        }
    }
}
