//! The handle of a program on an SPE.

use crate::allocated::Allocated;
use crate::op::{Atomic, Dma, ListElement, Op, Ordering, Reply, Until};
use crate::race::{Races, Use};
use crate::store::{LocalStore, store_range};
use crate::{Address, CYCLE_PS, SimWatch};
use corosensei::Yielder;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Uses of the local store in a row, without any time passing, after which a program counts as stuck.
const USES_WITHOUT_TIME: u64 = 50_000_000;
/// Uses of the local store between two looks at whether to stop (a power of two).
const LOOK: u64 = 1024;

/// What program and engine share.
pub(crate) struct Shared {
    pub cycle: Cell<u64>,
    pub store: LocalStore,
    /// The parts of the local store that its program has taken.
    pub allocated: RefCell<Allocated>,
    /// Uses of the local store since time last passed.
    pub uses: Cell<u64>,
    pub races: Rc<Races>,
    /// Whether a trap that the program is about to ask for is a race.
    pub raced: Cell<bool>,
    pub watch: SimWatch,
}

impl Shared {
    /// Whether the SPE's own program may use so many bytes of its local store.
    pub(crate) fn check_store(&self, at: u32, bytes: u64) -> Result<(), String> {
        store_range(at, bytes)?;
        self.check_allocated(at, bytes).map_err(|nearby| {
            format!("{bytes} bytes at {at:#x} of its local store were not allocated; {nearby}")
        })
    }

    /// Whether these bytes are allocated; if not, what is nearby. A program that allocates nothing lays out its local
    /// store itself: all of it counts as allocated.
    pub(crate) fn check_allocated(&self, at: u32, bytes: u64) -> Result<(), String> {
        let allocated = self.allocated.borrow();
        if allocated.is_empty() || allocated.has(at.into(), bytes) {
            return Ok(());
        }
        Err(allocated.nearby(at.into()))
    }
}

/// The handle of a program on an SPE: the Cell's own calls. Every call takes the time that it takes on the
/// hardware; those that wait let the rest of the machine go on. Bytes are little-endian words where words are meant.
///
/// A use that the hardware would trap ends the simulation with a [`SimError::Trap`](crate::SimError::Trap): no call
/// returns an error.
pub struct Spe<'a> {
    yielder: &'a Yielder<Reply, Op>,
    shared: Rc<Shared>,
    number: usize,
}

impl<'a> Spe<'a> {
    pub(crate) fn new(yielder: &'a Yielder<Reply, Op>, shared: Rc<Shared>, number: usize) -> Self {
        Self { yielder, shared, number }
    }

    fn call(&mut self, op: Op) -> Reply {
        let reply = self.yielder.suspend(op);
        self.shared.uses.set(0);
        reply
    }

    fn trap(&self, message: String) -> ! {
        self.yielder.suspend(Op::Trap(message));
        unreachable!("a trap ends the simulation")
    }

    /// Its number, as programs count SPEs.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The simulated time; asking takes none.
    pub fn now_ps(&self) -> u64 {
        self.shared.cycle.get() * CYCLE_PS
    }

    // Local store

    /// Takes `bytes` of the local store; `align` is a power of two. Traps when there is not enough left. From now on
    /// only bytes that were taken can be used; a program that never takes any may use the whole store.
    pub fn alloc(&mut self, bytes: u32, align: u32) -> u32 {
        self.call(Op::Alloc { bytes, align }).word()
    }

    /// Whether the program may use these bytes; traps when not.
    fn check(&self, at: u32, bytes: u32, writes: bool) {
        if let Err(message) = self.shared.check_store(at, bytes.into()) {
            self.trap(message);
        }
        if self.shared.races.on.get() {
            self.check_race(at, bytes, writes);
        }
        let uses = self.shared.uses.get() + 1;
        self.shared.uses.set(uses);
        if uses > USES_WITHOUT_TIME {
            self.trap(format!(
                "used its local store {uses} times without any time passing: a loop that never yields?"
            ));
        }
        if uses & (LOOK - 1) == 0 && self.shared.watch.stopped() {
            self.trap("was told to stop".into());
        }
    }

    #[cold]
    fn check_race(&self, at: u32, bytes: u32, writes: bool) {
        let start = Address::local_store(self.number) + u64::from(at);
        let used = Use::new(self.number, writes, start, bytes.into());
        if let Some(message) = self.shared.races.clash(&used) {
            self.shared.raced.set(true);
            self.trap(message);
        }
    }

    /// Bytes of the local store.
    pub fn bytes(&self, at: u32, bytes: u32) -> &[u8] {
        self.check(at, bytes, false);
        // SAFETY: `range` checks the bounds. The slice borrows the only handle of this store, and the engine writes
        // only while the program has yielded, for which the program needs the handle mutably.
        unsafe { std::slice::from_raw_parts(self.shared.store.range(at, bytes), bytes as usize) }
    }

    /// Bytes of the local store, to be written.
    pub fn bytes_mut(&mut self, at: u32, bytes: u32) -> &mut [u8] {
        self.check(at, bytes, true);
        // SAFETY: as above; the slice borrows the handle mutably, so that no other slice of this store lives.
        unsafe { std::slice::from_raw_parts_mut(self.shared.store.range(at, bytes), bytes as usize) }
    }

    /// A word of the local store.
    pub fn read_u32(&self, at: u32) -> u32 {
        u32::from_le_bytes(self.bytes(at, 4).try_into().expect("four bytes"))
    }

    /// Writes a word of the local store.
    pub fn write_u32(&mut self, at: u32, word: u32) {
        self.bytes_mut(at, 4).copy_from_slice(&word.to_le_bytes());
    }

    /// Where the local store of `spe` starts, for others.
    pub fn local_store_of(&self, spe: usize) -> Address {
        Address::local_store(spe)
    }

    // DMA

    /// Queues any DMA command; stalls while the queue is full.
    pub fn dma(&mut self, dma: Dma) {
        self.call(Op::Dma(dma));
    }

    /// Copies `bytes` from `ea` to `ls`: done when tag group `tag` is.
    pub fn get(&mut self, ls: u32, ea: Address, bytes: u32, tag: u32) {
        self.dma(Dma { put: false, ls, ea, bytes, tag, order: Ordering::Free });
    }

    /// [`get`](Self::get) after everything that its tag group was given before.
    pub fn getf(&mut self, ls: u32, ea: Address, bytes: u32, tag: u32) {
        self.dma(Dma { put: false, ls, ea, bytes, tag, order: Ordering::Fence });
    }

    /// [`getf`](Self::getf), and everything that its tag group is given later waits for it.
    pub fn getb(&mut self, ls: u32, ea: Address, bytes: u32, tag: u32) {
        self.dma(Dma { put: false, ls, ea, bytes, tag, order: Ordering::Barrier });
    }

    /// Copies `bytes` from `ls` to `ea`: its tag group is done when the data has left for main memory, or is in the
    /// other local store.
    pub fn put(&mut self, ls: u32, ea: Address, bytes: u32, tag: u32) {
        self.dma(Dma { put: true, ls, ea, bytes, tag, order: Ordering::Free });
    }

    /// [`put`](Self::put) after everything that its tag group was given before.
    pub fn putf(&mut self, ls: u32, ea: Address, bytes: u32, tag: u32) {
        self.dma(Dma { put: true, ls, ea, bytes, tag, order: Ordering::Fence });
    }

    /// [`putf`](Self::putf), and everything that its tag group is given later waits for it.
    pub fn putb(&mut self, ls: u32, ea: Address, bytes: u32, tag: u32) {
        self.dma(Dma { put: true, ls, ea, bytes, tag, order: Ordering::Barrier });
    }

    /// Gets a list of up to 2048 elements: each starts in the next free quadword from `ls` on, at its address's place
    /// in a quadword.
    pub fn get_list(&mut self, ls: u32, list: &[ListElement], tag: u32) {
        self.list(false, ls, list, tag, Ordering::Free);
    }

    /// [`get_list`](Self::get_list) after everything that its tag group was given before.
    pub fn get_listf(&mut self, ls: u32, list: &[ListElement], tag: u32) {
        self.list(false, ls, list, tag, Ordering::Fence);
    }

    /// [`get_listf`](Self::get_listf), and everything that its tag group is given later waits for it.
    pub fn get_listb(&mut self, ls: u32, list: &[ListElement], tag: u32) {
        self.list(false, ls, list, tag, Ordering::Barrier);
    }

    /// Puts a list of up to 2048 elements, which lie in the local store as [`get_list`](Self::get_list) lays them.
    pub fn put_list(&mut self, ls: u32, list: &[ListElement], tag: u32) {
        self.list(true, ls, list, tag, Ordering::Free);
    }

    /// [`put_list`](Self::put_list) after everything that its tag group was given before.
    pub fn put_listf(&mut self, ls: u32, list: &[ListElement], tag: u32) {
        self.list(true, ls, list, tag, Ordering::Fence);
    }

    /// [`put_listf`](Self::put_listf), and everything that its tag group is given later waits for it.
    pub fn put_listb(&mut self, ls: u32, list: &[ListElement], tag: u32) {
        self.list(true, ls, list, tag, Ordering::Barrier);
    }

    fn list(&mut self, put: bool, ls: u32, list: &[ListElement], tag: u32, order: Ordering) {
        let dma = Dma { put, ls, ea: Address(0), bytes: 0, tag, order };
        self.call(Op::List { dma, list: list.to_vec() });
    }

    /// Waits until all tag groups of `mask` are done.
    pub fn tags_all(&mut self, mask: u32) -> u32 {
        self.call(Op::Tags { mask, until: Until::All }).word()
    }

    /// Waits until a tag group of `mask` is done; which ones are.
    pub fn tags_any(&mut self, mask: u32) -> u32 {
        self.call(Op::Tags { mask, until: Until::Any }).word()
    }

    /// Which tag groups of `mask` are done now.
    pub fn tags_now(&mut self, mask: u32) -> u32 {
        self.call(Op::Tags { mask, until: Until::Now }).word()
    }

    /// How many commands the queue takes before it stalls.
    pub fn queue_space(&mut self) -> u32 {
        self.call(Op::QueueSpace).word()
    }

    /// Gets the line at `ea` to `ls` and reserves it.
    pub fn getllar(&mut self, ls: u32, ea: Address) {
        self.call(Op::Atomic { atomic: Atomic::Getllar, ls, ea });
    }

    /// Puts the line at `ls` to `ea` if no unit has written it since [`getllar`](Self::getllar). Returns whether it
    /// did.
    pub fn putllc(&mut self, ls: u32, ea: Address) -> bool {
        self.call(Op::Atomic { atomic: Atomic::Putllc, ls, ea }).word() != 0
    }

    /// Puts the line at `ls` to `ea` in any case.
    pub fn putlluc(&mut self, ls: u32, ea: Address) {
        self.call(Op::Atomic { atomic: Atomic::Putlluc, ls, ea });
    }

    // Mailboxes and signals

    /// Takes a word that the PPE or another SPE has sent; waits for one.
    pub fn read_mailbox(&mut self) -> u32 {
        self.call(Op::ReadMailbox).word()
    }

    /// How many words wait to be read, 0 to 4.
    pub fn mailbox_count(&mut self) -> u32 {
        self.call(Op::MailboxCount).word()
    }

    /// Leaves a word for the PPE; waits until the last one is taken.
    pub fn write_mailbox(&mut self, value: u32) {
        self.call(Op::WriteMailbox { interrupt: false, value });
    }

    /// Leaves a word for the PPE in the mailbox that interrupts it; waits until the last one is taken.
    pub fn write_interrupt_mailbox(&mut self, value: u32) {
        self.call(Op::WriteMailbox { interrupt: true, value });
    }

    /// Whether [`write_mailbox`](Self::write_mailbox) would go through at once: 0 or 1.
    pub fn mailbox_space(&mut self) -> u32 {
        self.call(Op::MailboxSpace { interrupt: false }).word()
    }

    /// Whether [`write_interrupt_mailbox`](Self::write_interrupt_mailbox) would go through at once: 0 or 1.
    pub fn interrupt_mailbox_space(&mut self) -> u32 {
        self.call(Op::MailboxSpace { interrupt: true }).word()
    }

    /// Takes the signals of register 1 or 2; waits until there are any.
    pub fn read_signal(&mut self, register: u32) -> u32 {
        self.call(Op::ReadSignal { register }).word()
    }

    /// Whether something was signalled on register 1 or 2: 0 or 1.
    pub fn signal_count(&mut self, register: u32) -> u32 {
        self.call(Op::SignalCount { register }).word()
    }

    /// Whether signals to register 1 or 2 add up (OR) until they are read, or overwrite, as they do at the start.
    pub fn signal_or(&mut self, register: u32, or: bool) {
        self.call(Op::SignalMode { register, or });
    }

    /// Sends the word at `ls` (whose last four address bits are 12) to signal register 1 or 2 of `spe`, by DMA.
    pub fn send_signal(&mut self, ls: u32, spe: usize, register: u32, tag: u32) {
        self.signal(ls, spe, register, tag, Ordering::Free);
    }

    /// [`send_signal`](Self::send_signal) after everything that its tag group was given before.
    pub fn send_signalf(&mut self, ls: u32, spe: usize, register: u32, tag: u32) {
        self.signal(ls, spe, register, tag, Ordering::Fence);
    }

    /// [`send_signalf`](Self::send_signalf), and everything that its tag group is given later waits for it.
    pub fn send_signalb(&mut self, ls: u32, spe: usize, register: u32, tag: u32) {
        self.signal(ls, spe, register, tag, Ordering::Barrier);
    }

    fn signal(&mut self, ls: u32, spe: usize, register: u32, tag: u32, order: Ordering) {
        if !(1..=2).contains(&register) {
            self.trap(format!("signal register {register}; there are 1 and 2"));
        }
        self.dma(Dma { put: true, ls, ea: Address::signal(spe, register), bytes: 4, tag, order });
    }

    // Time

    /// The decrementer: counts down at the machine's time base.
    pub fn decrementer(&mut self) -> u32 {
        self.call(Op::Decrementer).word()
    }

    /// Sets the decrementer.
    pub fn set_decrementer(&mut self, value: u32) {
        self.call(Op::SetDecrementer(value));
    }

    /// Computes for `ns`, rounded up to SPU cycles.
    pub fn compute(&mut self, ns: u64) {
        self.compute_cycles(ns.saturating_mul(16).div_ceil(5));
    }

    /// Computes for so many SPU cycles of 312.5 ps.
    pub fn compute_cycles(&mut self, cycles: u64) {
        self.call(Op::Compute { cycles });
    }
}
