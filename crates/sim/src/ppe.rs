//! The handle of a program on a PPE.

use crate::op::{Dma, Op, Ordering, PpeOp, Reply, Until};
use crate::spe::Shared;
use crate::{Address, CYCLE_PS};
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

    fn call(&mut self, op: PpeOp) -> Reply {
        self.yielder.suspend(Op::Ppe(op))
    }

    /// Its number: the chip that it sits on.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The simulated time; asking takes none.
    pub fn now_ps(&self) -> u64 {
        self.shared.cycle.get() * CYCLE_PS
    }

    /// Loads bytes of main memory (through the cache) or of a local store (slowly).
    pub fn load(&mut self, ea: Address, bytes: u32) -> Vec<u8> {
        match self.call(PpeOp::Load { ea, bytes }) {
            Reply::Bytes(data) => data,
            other => panic!("bytes were expected, not {other:?}"),
        }
    }

    /// Loads a word.
    pub fn load_u32(&mut self, ea: Address) -> u32 {
        u32::from_le_bytes(self.load(ea, 4).try_into().expect("four bytes"))
    }

    /// Stores bytes to main memory or to a local store.
    pub fn store(&mut self, ea: Address, data: &[u8]) {
        self.call(PpeOp::Store { ea, data: data.to_vec() });
    }

    /// Stores a word.
    pub fn store_u32(&mut self, ea: Address, word: u32) {
        self.store(ea, &word.to_le_bytes());
    }

    /// Has an SPE copy from `ea` into its local store at `ls`, through its proxy queue; stalls while that is full.
    pub fn proxy_get(&mut self, spe: usize, ls: u32, ea: Address, bytes: u32, tag: u32) {
        self.proxy(spe, Dma { put: false, ls, ea, bytes, tag, order: Ordering::Free });
    }

    /// Has an SPE copy from its local store at `ls` to `ea`, through its proxy queue; stalls while that is full.
    pub fn proxy_put(&mut self, spe: usize, ls: u32, ea: Address, bytes: u32, tag: u32) {
        self.proxy(spe, Dma { put: true, ls, ea, bytes, tag, order: Ordering::Free });
    }

    /// Hands any command to an SPE's proxy queue; stalls while that is full.
    pub fn proxy(&mut self, spe: usize, dma: Dma) {
        self.call(PpeOp::Proxy { spe, dma });
    }

    /// Waits until all tag groups of `mask` of an SPE's proxy queue are done.
    pub fn proxy_wait(&mut self, spe: usize, mask: u32) -> u32 {
        self.call(PpeOp::ProxyTags { spe, mask, until: Until::All }).word()
    }

    /// Waits until a tag group of `mask` of an SPE's proxy queue is done; which ones are.
    pub fn proxy_any(&mut self, spe: usize, mask: u32) -> u32 {
        self.call(PpeOp::ProxyTags { spe, mask, until: Until::Any }).word()
    }

    /// Which tag groups of `mask` of an SPE's proxy queue are done now.
    pub fn proxy_now(&mut self, spe: usize, mask: u32) -> u32 {
        self.call(PpeOp::ProxyTags { spe, mask, until: Until::Now }).word()
    }

    /// Takes a word that an SPE has left; waits for one.
    pub fn read_mailbox(&mut self, spe: usize) -> u32 {
        self.call(PpeOp::ReadMailbox { spe, interrupt: false }).word()
    }

    /// Takes a word that an SPE has left in the mailbox that interrupts; waits for one.
    pub fn read_interrupt_mailbox(&mut self, spe: usize) -> u32 {
        self.call(PpeOp::ReadMailbox { spe, interrupt: true }).word()
    }

    /// How many words an SPE has left: 0 or 1.
    pub fn mailbox_count(&mut self, spe: usize) -> u32 {
        self.call(PpeOp::MailboxCount { spe, interrupt: false }).word()
    }

    /// How many words an SPE has left in the mailbox that interrupts: 0 or 1.
    pub fn interrupt_mailbox_count(&mut self, spe: usize) -> u32 {
        self.call(PpeOp::MailboxCount { spe, interrupt: true }).word()
    }

    /// How many words an SPE's mailbox still takes, 0 to 4.
    pub fn mailbox_space(&mut self, spe: usize) -> u32 {
        self.call(PpeOp::MailboxSpace { spe }).word()
    }

    /// Sends a word to an SPE; waits while its mailbox holds four.
    pub fn write_mailbox(&mut self, spe: usize, value: u32) {
        self.call(PpeOp::WriteMailbox { spe, value });
    }

    /// Signals an SPE on register 1 or 2.
    pub fn write_signal(&mut self, spe: usize, register: u32, value: u32) {
        self.call(PpeOp::WriteSignal { spe, register, value });
    }

    /// The time base, in ticks.
    pub fn timebase(&mut self) -> u64 {
        match self.call(PpeOp::Timebase) {
            Reply::Long(ticks) => ticks,
            other => panic!("a time was expected, not {other:?}"),
        }
    }

    /// Computes for `ns`, rounded up to cycles of 312.5 ps.
    pub fn compute(&mut self, ns: u64) {
        self.yielder.suspend(Op::Compute { cycles: ns.saturating_mul(16).div_ceil(5) });
    }
}
