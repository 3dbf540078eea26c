//! Bcast, gather, reduce, allreduce and allgather of ranks that share cpus, through the slots of their windows. Small
//! data goes by messages, and so do non-blocking and persistent ones.
//!
//! ```text
//! bcast      the root fills slots, all others take what is in them
//! gather     each fills slots with its block, the root takes what is in them
//! reduce     a chain of all ranks, which ends at the root: each takes a piece of the one before, reduces its own
//!            operand with it, and the result is in its own slot for the next one
//! allgather  each fills slots, and takes what is in those of all others
//! allreduce  a chain for each cpu at the same time, each of its own part; all take what is at their ends
//! ```
//!
//! Pieces stay in a cpu's own cache while the ranks on it pass them on: so a chain goes cpu by cpu, and each operand is
//! read once. The order of operands depends on the root, or on the part of the vector, and on which ranks are bound to
//! the same cpu, and on nothing else: a program that is started the same way gets the same bits. Ranks that the kernel
//! moves count as if neighbours shared a cpu.
//!
//! Whoever fills slots tells their readers, by a message, which one is the first.

mod allgather;
mod allreduce;
mod gather;
mod reduce;

pub(super) use allgather::allgather;
pub(super) use allreduce::allreduce;
pub(super) use gather::gather;
pub(super) use reduce::reduce;

use super::algorithm::{self, Ranks, SMALL};
use super::arguments::Scene;
use super::offers::{OFFER_BYTES, Offer};
use super::run::{self, tag_of};
use super::schedule::{CollectiveSchedule, Truncated};
use crate::abi;
use crate::check::{self, Failure};
use crate::comm::Comm;
use crate::comm::sharing::{ANYWHERE, CpuSharing};
use crate::datatype::elements::Elements;
use crate::datatype::{MessageData, predefined_size};
use crate::profile;
use crate::runtime::{self, until};
use host::Affinity;
use std::ffi::c_int;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use transport::segment::{hook, stage};
use transport::slots::{SLOT_BYTES, SlotFlow};
use transport::{Buffer, Criteria, DataUse, Engine, Envelope, Mode, Passage, Passing, TransferId};

/// A communicator of ranks that share cpus and pass data through their windows. Nothing: it goes by messages.
fn crowded(handle: abi::Comm) -> Result<Option<Arc<Comm>>, Failure> {
    let state = check::running()?;
    let is_group = |comm: &&Arc<Comm>| comm.remote.is_none() && comm.size() > 1;
    let Some(comm) = state.comm(handle).filter(is_group).cloned() else { return Ok(None) };
    if state.engine.is_carried() || profile::sees(hook::PROFILE) {
        return Ok(None);
    }
    drop(state);
    let windows = comm.windows.get_or_init(|| {
        comm.group.members.iter().all(|&member| {
            until(|state| {
                let page = state.engine.segment().rank(member as usize);
                let is_known = page.stage.load(Ordering::Acquire) >= stage::INITIALISED;
                is_known.then(|| page.one_thread.load(Ordering::Relaxed) != 0)
            })
        })
    });
    Ok(windows.then(|| comm.clone()))
}

/// Which ranks share a cpu. All of them ask for it at the same reduction, and say it at the first one.
fn sharing(handle: abi::Comm, comm: &Comm) -> Result<Arc<CpuSharing>, Failure> {
    if let Some(known) = comm.sharing.get() {
        return Ok(known.clone());
    }
    let bound_to = || match Affinity::of_this_thread().ok()?.cpus()[..] {
        [cpu] => Some(u64::from(cpu)),
        _ => None,
    };
    let mut said = vec![bound_to().unwrap_or(ANYWHERE); comm.size()];
    let place = said.as_mut_ptr().cast::<u8>();
    run::blocking(handle, |scene| {
        let byte = scene.byte();
        let block = |rank| Elements { address: place.wrapping_add(8 * rank), count: 8, datatype: byte };
        algorithm::allgather(scene.schedule, scene.ranks(), None, block, Some(byte));
        Ok(())
    })?;
    let cpus = runtime::enter().engine.segment().header().cpus as usize;
    Ok(comm.sharing.get_or_init(|| Arc::new(CpuSharing::of(said, cpus))).clone())
}

/// One collective, as one rank sees it.
struct Call {
    comm: Arc<Comm>,
    tag: i32,
}

impl Call {
    /// The next collective of a communicator.
    fn next(comm: Arc<Comm>) -> Self {
        // Only the thread that holds the state starts a collective.
        let number = comm.collectives.load(Ordering::Relaxed);
        comm.collectives.store(number.wrapping_add(1), Ordering::Relaxed);
        Self { comm, tag: tag_of(number) }
    }

    /// The job's rank that is a rank of the communicator.
    fn member(&self, rank: usize) -> usize {
        self.comm.group.members[rank] as usize
    }

    /// All other ranks, those on this rank's cpu first: they fill their slots when it waits, and those on other cpus do
    /// so meanwhile. (4 ranks on 2 cpus of an EPYC that have them by turns, allgather of 16 kB: 10.4 us from the rank
    /// behind on, 10.0 so.)
    fn others_near_first(&self) -> Vec<usize> {
        let state = runtime::enter();
        let ranks =
            Ranks { own: self.comm.rank, count: self.comm.size(), between_groups: false, crowded: true };
        ranks.others_near_first(|rank| state.engine.shares_cpu_with(self.member(rank)))
    }

    /// Begins to pass so many bytes to ranks of the communicator, in so many slots. `alone`: as in `Passing`.
    fn fill(
        &self,
        readers: impl Iterator<Item = usize>,
        (bytes, pieces): (usize, usize),
        [filled_by, taken_by]: [DataUse; 2],
        alone: bool,
    ) -> Filling {
        let readers: Vec<usize> = readers.map(|rank| self.member(rank)).collect();
        let mut state = runtime::enter();
        let passing = Passing { bytes, pieces, filled_by, taken_by, takers: &readers, alone };
        let passage = state.engine.begin_to_fill(passing);
        let mut told = Offer::in_slots(&state.engine.segment(), passage);
        // SAFETY: what is told lives until all have it.
        let told = unsafe { Buffer::new((&raw mut told).cast(), OFFER_BYTES) };
        let envelope = Envelope::new(self.comm.collective(), self.comm.rank as u16, self.tag);
        for &reader in readers.iter().filter(|&&reader| reader != self.member(self.comm.rank)) {
            if let Some(id) = state.engine.send(reader, envelope, &told, Mode::Standard) {
                runtime::wait_for(state, id, None);
                state = runtime::enter();
            }
        }
        Filling { readers, passage }
    }

    /// The tag of the next collective of a communicator.
    fn tag_of_next(comm: &Comm) -> i32 {
        tag_of(comm.collectives.load(Ordering::Relaxed))
    }

    /// Hears which slots a rank of the communicator fills. `expected`: bytes.
    ///
    /// # Errors
    /// It sends something else.
    fn hear(&self, rank: usize, expected: usize) -> Result<Taking, Failure> {
        let mut heard = [0; OFFER_BYTES];
        // SAFETY: it lives until the message has come.
        let buffer = unsafe { Buffer::new(heard.as_mut_ptr(), OFFER_BYTES) };
        let pattern =
            Criteria { context: self.comm.collective(), source: Some(rank as u16), tag: Some(self.tag) };
        let from = self.member(rank);
        let mut state = runtime::enter();
        let id = state.engine.receive(pattern, Some(from), &buffer);
        let ended = runtime::wait_for_receive(state, id, Some(from));
        let told = Offer::found(&runtime::enter().engine.segment(), &heard);
        let told = told.filter(|_| ended.bytes == OFFER_BYTES);
        match told.and_then(|told| told.passage()) {
            Some(passage) => Ok(Taking { from, passage }),
            None => {
                let sent = ended.truncated().unwrap_or(ended.bytes);
                Err(Truncated { source: rank as i32, sent, expected }.failure())
            }
        }
    }

    /// Begins to receive a block that a rank of the communicator sends, or tells how it passes it through slots.
    fn expect(&self, engine: &mut Engine<'_>, rank: usize, block: &Buffer) -> TransferId {
        let pattern =
            Criteria { context: self.comm.collective(), source: Some(rank as u16), tag: Some(self.tag) };
        engine.receive_or_set_aside(pattern, block, None)
    }

    /// Waits for what is expected so. Nothing: the block has come, and all is well.
    fn heard(&self, rank: usize, id: TransferId, block: &Buffer) -> Option<Result<Taking, Failure>> {
        let from = self.member(rank);
        let ended = runtime::wait_for(runtime::enter(), id, Some(from));
        let mut state = runtime::enter();
        let offer = Offer::of_receive(&mut state.engine, id, block, ended.bytes);
        let other = |sent| Err(Truncated { source: rank as i32, sent, expected: block.bytes() }.failure());
        match offer {
            None => ended.truncated().map(other),
            Some(offer) => Some(match offer.passage() {
                Some(passage) => Ok(Taking { from, passage }),
                None => other(offer.bytes()),
            }),
        }
    }

    /// That a rank did not send more than was expected.
    fn complete(&self, rank: usize, sent: usize, expected: usize) -> Result<(), Failure> {
        match sent > expected {
            true => Err(Truncated { source: rank as i32, sent, expected }.failure()),
            false => Ok(()),
        }
    }
}

/// Data that this rank passes to others.
struct Filling {
    /// Those who are told of it, ranks of the job.
    readers: Vec<usize>,
    passage: Passage,
}

impl Filling {
    /// The next slot, once it is free.
    fn slot(&self) -> *mut u8 {
        until(|state| state.engine.free_slot())
    }

    /// It is filled, for these.
    fn filled(&self, readers: &[usize]) {
        runtime::enter().engine.filled(readers);
    }
}

/// Data that a rank of the job passes to this one.
struct Taking {
    from: usize,
    passage: Passage,
}

impl Taking {
    /// Bytes of all of it.
    fn bytes(&self) -> usize {
        self.passage.bytes()
    }

    /// One of its slots, once it is filled.
    fn slot(&self, index: usize) -> *const u8 {
        until(|state| state.engine.slot_of(self.from, self.passage, index))
    }

    /// This rank has what it wants of all slots up to this one.
    fn took(&self, index: usize) {
        runtime::enter().engine.took(self.from, self.passage, index);
    }

    /// Copies so many bytes of what lies in one of its slots to a buffer, from a byte on, as far as there is room.
    ///
    /// # Safety
    /// `slot` is what `slot` gave, and holds as many bytes.
    unsafe fn copy(&self, slot: *const u8, bytes: usize, into: &Buffer, from: usize) {
        let passage = (self.from, self.passage);
        // SAFETY: as the caller promised.
        unsafe { runtime::enter().engine.take_slot(passage, slot, bytes, into, from) };
    }

    /// This rank wants nothing of it.
    fn want_none(&self) {
        runtime::enter().engine.want_none(self.from);
    }
}

/// What comes from other ranks through their slots, a block of each, as this rank hears of them.
struct Incoming<'a> {
    call: &'a Call,
    /// Bytes of a block.
    bytes: usize,
    heard: Vec<(usize, Taking)>,
    result: Result<(), Failure>,
}

impl<'a> Incoming<'a> {
    fn new(call: &'a Call, bytes: usize) -> Self {
        Self { call, bytes, heard: Vec::with_capacity(call.comm.size()), result: Ok(()) }
    }

    /// What was heard of a rank.
    fn add(&mut self, rank: usize, heard: Result<Taking, Failure>) {
        match heard {
            Ok(taking) => self.heard.push((rank, taking)),
            Err(failure) => self.result = Err(failure),
        }
    }

    /// Whether something comes through slots, and whether some of the others have sent messages.
    fn kinds(&self) -> (bool, bool) {
        (!self.heard.is_empty(), self.heard.len() + 1 < self.call.comm.size())
    }

    /// Takes those bytes of each block, from the start of a piece on, rank by rank: the cpu reads ahead in what lies in
    /// a row. (4 ranks on 2 cpus of an EPYC, us, by turns a piece of each and so: allgather of 256 kB 102 and 87, of 1
    /// MB 683 and 532.)
    fn take(&self, range: Range<usize>, blocks: &[Buffer]) {
        for (rank, taking) in &self.heard {
            for from in (range.start..range.end.min(taking.bytes())).step_by(SLOT_BYTES) {
                let index = from / SLOT_BYTES;
                let slot = taking.slot(index);
                // SAFETY: the slot that holds this piece.
                unsafe { taking.copy(slot, taking.bytes() - from, &blocks[*rank], from) };
                taking.took(index);
            }
        }
    }

    /// All pieces were taken.
    ///
    /// # Errors
    /// A rank sent more than a block, or something else.
    fn end(self) -> Result<(), Failure> {
        self.heard.iter().fold(self.result, |result, (rank, taking)| {
            if taking.bytes() > self.bytes {
                taking.want_none();
            }
            result.and(self.call.complete(*rank, taking.bytes(), self.bytes))
        })
    }
}

/// Looks at the arguments of a collective of some data; nothing: it goes by messages.
fn looked<T>(
    data: MessageData,
    handle: abi::Comm,
    look: impl FnOnce(&mut Scene) -> Result<Option<T>, Failure>,
) -> Result<Option<T>, Failure> {
    let is_small = |size: usize| data.count.saturating_mul(size as i64) <= SMALL as i64;
    if predefined_size(data.datatype).is_some_and(is_small) {
        return Ok(None);
    }
    let state = check::running()?;
    let is_crowded = state.engine.segment().is_crowded();
    let Some(comm) = state.comm(handle).filter(|_| is_crowded).cloned() else { return Ok(None) };
    let mut schedule = CollectiveSchedule::default();
    look(&mut Scene { state: &state, comm: &comm, schedule: &mut schedule })
}

/// `MPI_Bcast`; false: not done.
///
/// # Errors
/// As `MPI_Bcast`.
pub(in crate::coll) fn bcast(data: MessageData, root: c_int, comm: abi::Comm) -> Result<bool, Failure> {
    let found = looked(data, comm, |scene| {
        scene.root(root)?;
        let data = scene.elements(data)?;
        Ok((data.bytes() > SMALL).then(|| data.buffer()))
    })?;
    let Some(data) = found else { return Ok(false) };
    let Some(comm) = crowded(comm)? else { return Ok(false) };
    pass(&Call::next(comm), &data, root as usize)?;
    Ok(true)
}

/// Passes the root's data to all others.
fn pass(call: &Call, data: &Buffer, root: usize) -> Result<(), Failure> {
    let (own, ranks) = (call.comm.rank, call.comm.size());
    let pieces = |bytes: usize| (0..bytes).step_by(SLOT_BYTES).enumerate();
    if own == root {
        let others = (1..ranks).map(|distance| (own + distance) % ranks);
        let size = (data.bytes(), data.bytes().div_ceil(SLOT_BYTES));
        let filling = call.fill(others, size, [DataUse::Copies; 2], true);
        for (_, from) in pieces(data.bytes()) {
            let slot = filling.slot();
            // SAFETY: the slot that is free.
            unsafe { runtime::enter().engine.fill_slot(slot, data, from) };
            filling.filled(&filling.readers);
        }
        return Ok(());
    }
    let taking = call.hear(root, data.bytes())?;
    runtime::enter().engine.begin_to_take(
        SlotFlow::FromOne,
        data.bytes(),
        call.member(usize::from(root == 0)),
    );
    for (index, from) in pieces(taking.bytes()) {
        let slot = taking.slot(index);
        // SAFETY: the slot that holds this piece.
        unsafe { taking.copy(slot, taking.bytes() - from, data, from) };
        taking.took(index);
    }
    call.complete(root, taking.bytes(), data.bytes())
}
