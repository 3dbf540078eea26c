//! The handle of a program on an SPE.

use crate::allocated::Allocated;
use crate::dma::Dma;
use crate::ids::UnitId;
use crate::op::{Op, Reply};
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

/// The handle of a program on an SPE: the Cell's own calls. Most of them are rows of the [table](crate::table); those
/// here reach the local store directly. Every call takes the time that it takes on the
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

    /// Asks for an operation: what the calls of the [table](crate::table) do.
    pub(crate) fn call(&mut self, op: Op) -> Reply {
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
        let used = Use::new(UnitId::new(self.number), writes, start, bytes.into());
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

    /// Queues any DMA command; stalls while the queue is full.
    pub fn dma(&mut self, dma: Dma) {
        self.call(Op::Dma(dma));
    }
}
