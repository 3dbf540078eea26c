//! The handle of a program on a PPE.

use crate::CYCLE_PS;
use crate::dma::Dma;
use crate::numbers::SpeId;
use crate::op::{Op, PpeOp, Reply};
use crate::spe::Shared;
use corosensei::Yielder;
use std::rc::Rc;

/// The handle of a program on a PPE: main memory through its cache, and every SPE's registers.
///
/// A use that the hardware would trap ends the simulation with a [`SimError::Trap`](crate::SimError::Trap): no call
/// returns an error.
pub struct Ppe<'a> {
    yielder: &'a Yielder<Reply, Op>,
    shared: Rc<Shared>,
    number: usize,
}

impl<'a> Ppe<'a> {
    pub(crate) fn new(yielder: &'a Yielder<Reply, Op>, shared: Rc<Shared>, number: usize) -> Self {
        Self { yielder, shared, number }
    }

    /// Asks for an operation: what the calls of the [table](crate::table) do.
    pub(crate) fn call(&mut self, op: Op) -> Reply {
        self.yielder.suspend(op)
    }

    /// Its number: the chip that it sits on.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The simulated time; asking takes none.
    pub fn now_ps(&self) -> u64 {
        self.shared.cycle.get() * CYCLE_PS
    }

    /// Hands any command to an SPE's proxy queue; stalls while that is full.
    pub fn proxy(&mut self, spe: impl Into<SpeId>, dma: Dma) {
        self.call(PpeOp::Proxy { spe: spe.into(), dma }.into());
    }
}
