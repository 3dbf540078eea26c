//! Bcast, reduce and allreduce of ranks that share cpus, through the slots of their windows. Small data goes by
//! messages, and so do non-blocking and persistent ones.
//!
//! ```text
//! bcast      the root fills slots, all others take what is in them
//! reduce     a chain of all ranks, which ends at the root: each takes a piece of the one before, reduces its own
//!            operand with it, and the result is in its own slot for the next one
//! allreduce  both
//! ```
//!
//! Pieces stay in a cpu's own cache while the ranks on it pass them on: so the chain goes cpu by cpu, and each operand
//! is read once. The order of operands depends on the root and on which ranks are bound to the same cpu, and on nothing
//! else: a program that is started the same way gets the same bits. Ranks that the kernel moves count as if neighbours
//! shared a cpu.
//!
//! Whoever fills slots tells their readers, by a message, which one is the first.

use super::algorithm::{self, SMALL};
use super::arguments::Scene;
use super::build;
use super::offers::{OFFER_BYTES, Offer};
use super::run::{self, tag_of};
use super::schedule::{CollectiveSchedule, Truncated};
use crate::abi;
use crate::check::{self, Failure};
use crate::comm::Comm;
use crate::comm::sharing::{ANYWHERE, CpuSharing};
use crate::datatype::elements::Elements;
use crate::datatype::{MessageData, predefined_size};
use crate::op::{ElementType, Predefined, Reducer, kernel};
use crate::profile;
use crate::runtime::{self, until};
use host::Affinity;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use transport::segment::{hook, stage};
use transport::slots::SLOT_BYTES;
use transport::{Buffer, Criteria, Envelope, Mode};

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

    /// Begins to pass so many bytes to ranks of the communicator.
    fn fill(&self, readers: impl Iterator<Item = usize>, bytes: usize) -> Filling {
        let readers: Vec<usize> = readers.map(|rank| self.member(rank)).collect();
        let mut state = runtime::enter();
        let first = state.engine.begin_to_fill(&readers, bytes.div_ceil(SLOT_BYTES) as u64);
        let mut told = Offer::in_slots(&state.engine.segment(), bytes, first);
        // SAFETY: what is told lives until all have it.
        let told = unsafe { Buffer::new((&raw mut told).cast(), OFFER_BYTES) };
        let envelope = Envelope::new(self.comm.collective(), self.comm.rank as u16, self.tag);
        for &reader in &readers {
            if let Some(id) = state.engine.send(reader, envelope, &told, Mode::Standard) {
                runtime::wait_for(state, id, None);
                state = runtime::enter();
            }
        }
        Filling { readers }
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
        match told.and_then(|told| Some((told.bytes(), told.first_slot()?))) {
            Some((bytes, next)) => Ok(Taking { from, bytes, next }),
            None => {
                let sent = ended.truncated().unwrap_or(ended.bytes);
                Err(Truncated { source: rank as i32, sent, expected }.failure())
            }
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

/// Data that this rank passes to others, of the job.
struct Filling {
    readers: Vec<usize>,
}

impl Filling {
    /// The next slot, once it is free.
    fn slot(&self) -> *mut u8 {
        until(|state| state.engine.free_slot())
    }

    /// It is filled.
    fn filled(&self) {
        runtime::enter().engine.filled(&self.readers);
    }
}

/// Data that a rank of the job passes to this one.
struct Taking {
    from: usize,
    /// Bytes of all of it.
    bytes: usize,
    /// The number of the next slot.
    next: u64,
}

impl Taking {
    /// The next slot, once it is filled.
    fn slot(&self) -> *const u8 {
        until(|state| state.engine.slot_of(self.from, self.next))
    }

    /// This rank has what was in it.
    fn took(&mut self) {
        runtime::enter().engine.took(self.from, self.next);
        self.next = self.next.wrapping_add(1);
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
pub(super) fn bcast(data: MessageData, root: c_int, comm: abi::Comm) -> Result<bool, Failure> {
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
    if own == root {
        let filling = call.fill((1..ranks).map(|distance| (own + distance) % ranks), data.bytes());
        for from in (0..data.bytes()).step_by(SLOT_BYTES) {
            let slot = filling.slot();
            // SAFETY: the slot that is free.
            unsafe { runtime::enter().engine.fill_slot(slot, data, from) };
            filling.filled();
        }
        return Ok(());
    }
    let mut taking = call.hear(root, data.bytes())?;
    for from in (0..taking.bytes).step_by(SLOT_BYTES) {
        let slot = taking.slot();
        // SAFETY: the slot that holds this piece.
        unsafe { runtime::enter().engine.take_slot(slot, taking.bytes, data, from) };
        taking.took();
    }
    call.complete(root, taking.bytes, data.bytes())
}

/// What one rank reduces.
struct Reducing {
    kernel: Reducer,
    /// Bytes of an element.
    element: usize,
    operand: *const u8,
    /// Of the root; it may be the operand.
    result: Option<*mut u8>,
    bytes: usize,
}

impl Reducing {
    /// Nothing: these operands are for messages.
    fn of(op: abi::Op, operand: Elements, result: Option<Elements>) -> Option<Self> {
        let element_type = operand.datatype.predefined.and_then(ElementType::of)?;
        let kernel = kernel(Predefined::of(op)?, element_type)?;
        let (element, bytes) = (operand.datatype.size, operand.bytes());
        // Pieces end between elements, which have no room between their parts.
        let fits = operand.datatype.contiguous && SLOT_BYTES.is_multiple_of(element);
        let result = result.map(|result| result.address);
        (fits && bytes > SMALL).then_some(Self { kernel, element, operand: operand.address, result, bytes })
    }

    /// Does this rank's part of the chain that ends at the root.
    fn chain(&self, call: &Call, sharing: &CpuSharing, root: usize) -> Result<(), Failure> {
        let [before, next] = sharing.neighbours(call.comm.rank, root);
        let filling = next.map(|next| call.fill([next].into_iter(), self.bytes));
        // What the next one was told of is filled in any case.
        let (mut taking, heard) = match before.map(|before| call.hear(before, self.bytes)).transpose() {
            Ok(taking) => (taking, Ok(())),
            Err(failure) => (None, Err(failure)),
        };
        let sent = taking.as_ref().map_or(0, |taking| taking.bytes);
        for at in (0..self.bytes.max(sent)).step_by(SLOT_BYTES) {
            let bytes_of = |whole: usize| whole.saturating_sub(at).min(SLOT_BYTES);
            let (own, other) = (bytes_of(self.bytes), bytes_of(sent));
            let from = taking.as_ref().filter(|_| other > 0).map(Taking::slot);
            if own > 0 {
                let into = match (&filling, self.result) {
                    (Some(filling), _) => filling.slot(),
                    (None, Some(result)) => result.wrapping_add(at),
                    (None, None) => unreachable!("the chain ends at the root"),
                };
                self.reduce(at, from.map(|from| (from, other)), into, own);
            }
            if let Some(taking) = taking.as_mut().filter(|_| from.is_some()) {
                taking.took();
            }
            if let Some(filling) = filling.as_ref().filter(|_| own > 0) {
                filling.filled();
            }
        }
        heard?;
        before.map_or(Ok(()), |before| call.complete(before, sent, self.bytes))
    }

    /// Reduces this rank's operand, so many bytes from a byte on, with that of a slot, which may be shorter.
    fn reduce(&self, at: usize, other: Option<(*const u8, usize)>, into: *mut u8, bytes: usize) {
        let own = self.operand.wrapping_add(at);
        let (slot, both) = other.map_or((own, 0), |(slot, other)| (slot, other.min(bytes) / self.element));
        let reduced = both * self.element;
        // SAFETY: the program's operand, the slot that holds the other piece, and as much room, of the program's or in
        // the slot that is free; the operand may be that room.
        unsafe {
            (self.kernel)(own, slot, into, both);
            if own.wrapping_add(reduced) != into.wrapping_add(reduced) {
                transport::copy(own.add(reduced), into.add(reduced), bytes - reduced);
            }
        }
    }
}

/// `MPI_Reduce`; false: not done.
///
/// # Errors
/// As `MPI_Reduce`.
pub(super) fn reduce(
    both: (MessageData, MessageData),
    op: abi::Op,
    root: c_int,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    let found = looked(both.0, comm, |scene| {
        let Some((_, operand, result)) = build::operand_and_root_result(scene, both, op, root)? else {
            return Ok(None);
        };
        Ok(Reducing::of(op, operand, result))
    })?;
    let Some(reducing) = found else { return Ok(false) };
    let Some(crowd) = crowded(comm)? else { return Ok(false) };
    let sharing = sharing(comm, &crowd)?;
    reducing.chain(&Call::next(crowd), &sharing, root as usize)?;
    Ok(true)
}

/// `MPI_Allreduce` of so much that a chain pays, whose end all wait for; false: not done. (8 ranks on 2 cpus of a Xeon,
/// us, by a chain and by messages: 16 kB 41.6 and 27.6, 64 kB 73 and 89, 4 MB 3,160 and 6,280; 4 ranks, 64 kB 33 and
/// 28, 1 MB 470 and 444, 4 MB 1,720 and 2,410.)
///
/// # Errors
/// As `MPI_Allreduce`.
pub(super) fn allreduce(
    both: (MessageData, MessageData),
    op: abi::Op,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    const ROOT: usize = 0;
    let found = looked(both.0, comm, |scene| {
        let (operand, result) = build::operand_and_result(scene, both, op)?;
        let at_root = (scene.comm.rank == ROOT).then_some(result);
        let large = result.bytes() >= SLOT_BYTES;
        let reducing = Reducing::of(op, operand, at_root).filter(|_| large);
        Ok(reducing.map(|reducing| (reducing, result.buffer())))
    })?;
    let Some((reducing, result)) = found else { return Ok(false) };
    let Some(crowd) = crowded(comm)? else { return Ok(false) };
    let sharing = sharing(comm, &crowd)?;
    let reduced = reducing.chain(&Call::next(crowd.clone()), &sharing, ROOT);
    pass(&Call::next(crowd), &result, ROOT)?;
    reduced.map(|()| true)
}
