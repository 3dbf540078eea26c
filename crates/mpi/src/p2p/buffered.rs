//! Buffered sends and the buffers that programs attach for them (MPI 5.0, sections 3.4 and 3.6).
//!
//! An attached buffer is a budget: messages that could not leave at once are kept by the library, and take from it
//! their bytes and `MPI_BSEND_OVERHEAD` until they left. A communicator's own buffer goes before the process's.

use super::operation::{Sending, sending};
use super::{arguments, counted};
use crate::abi;
use crate::abi::values::*;
use crate::call::{Declared, Out};
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::comm::valid;
use crate::datatype::message_data;
use crate::request;
use crate::request::Activity;
use crate::runtime::Guarded;
use crate::runtime::{self, State};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::{c_int, c_void};
use transport::{Buffer, Engine, Mode, TransferId};

/// Whose a buffer is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Owner {
    Process,
    /// The communicator of this context.
    Comm(u32),
    /// Sends whose requests were freed while the library held their data.
    Freed,
}

/// A buffer, and the messages that are in it.
struct Attached {
    address: usize,
    bytes: usize,
    used: usize,
    /// The oldest first.
    kept: VecDeque<KeptMessage>,
    /// Messages that were ever kept.
    count: u64,
    /// With so many that are kept, all are looked at: twice what was left the last time. So a look at each costs a
    /// message little, however many there are.
    reclaim_at: usize,
}

/// A message that has not left.
struct KeptMessage {
    number: u64,
    transfer: TransferId,
    data: Box<[u8]>,
}

/// What a message takes of its buffer, in bytes.
fn needs(bytes: usize) -> usize {
    bytes.saturating_add(MPI_BSEND_OVERHEAD as usize)
}

impl Attached {
    fn new(address: usize, bytes: usize) -> Self {
        Self { address, bytes, used: 0, kept: VecDeque::new(), count: 0, reclaim_at: 0 }
    }

    /// Keeps a message until it has left.
    fn keep(&mut self, transfer: TransferId, data: Box<[u8]>) {
        self.used = self.used.saturating_add(needs(data.len()));
        self.kept.push_back(KeptMessage { number: self.count, transfer, data });
        self.count += 1;
    }

    /// Whether there is room, once messages that have left are forgotten.
    fn makes_room(&mut self, engine: &mut Engine, bytes: usize) -> bool {
        if self.kept.len() >= self.reclaim_at || !self.has_room(bytes) {
            self.reclaim(engine);
            self.reclaim_at = 2 * self.kept.len();
        }
        self.has_room(bytes)
    }

    /// `MPI_BUFFER_AUTOMATIC`: as large as needed.
    fn is_automatic(&self) -> bool {
        self.address == MPI_BUFFER_AUTOMATIC
    }

    /// Forgets messages that have left.
    fn reclaim(&mut self, engine: &mut Engine) {
        let used = &mut self.used;
        self.kept.retain(|kept| {
            let gone = engine.take_if_complete(kept.transfer).is_some();
            if gone {
                *used -= needs(kept.data.len());
            }
            !gone
        });
    }

    /// Forgets messages that have left, up to the first that has not: without a look at the others.
    fn reclaim_first(&mut self, engine: &mut Engine) {
        while let Some(first) = self.kept.front()
            && engine.take_if_complete(first.transfer).is_some()
        {
            self.used -= needs(first.data.len());
            self.kept.pop_front();
        }
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.is_automatic() || needs(bytes) <= self.bytes - self.used
    }
}

/// The attached buffers.
#[derive(Default)]
pub(crate) struct Buffers(BTreeMap<Owner, Attached>);

/// Buffers that programs attached.
static BUFFERS: Guarded<Buffers> = Guarded::new(Buffers(BTreeMap::new()));

impl Buffers {
    /// The buffer for messages of a context.
    fn for_context(&mut self, context: u32) -> Option<&mut Attached> {
        let own = Owner::Comm(context);
        let owner = if self.0.contains_key(&own) { own } else { Owner::Process };
        self.0.get_mut(&owner)
    }

    /// Whether messages numbered below `before` have all left.
    fn flushed(&mut self, engine: &mut Engine, owner: Owner, before: u64) -> bool {
        self.0.get_mut(&owner).is_none_or(|attached| {
            attached.reclaim_first(engine);
            attached.kept.front().is_none_or(|kept| kept.number >= before)
        })
    }
}

#[cold]
fn nothing_attached(bytes: usize) -> Failure {
    let needed = needs(bytes);
    let text = format_args!(
        "no buffer is attached; this message needs one of {needed} bytes ({bytes} and MPI_BSEND_OVERHEAD)"
    );
    Failure::new(MPI_ERR_BUFFER, text)
}

#[cold]
fn no_room(attached: &Attached, bytes: usize) -> Failure {
    let (needed, free, all) = (needs(bytes), attached.bytes - attached.used, attached.bytes);
    let text = format_args!(
        "the attached buffer is full: this message needs {needed} bytes ({bytes} and MPI_BSEND_OVERHEAD), \
         {free} of {all} are free"
    );
    Failure::new(MPI_ERR_BUFFER, text)
}

/// Sends in buffered mode: its id, when it goes to a rank. It is complete.
///
/// # Errors
/// No buffer, or no room in it.
fn send_by_id(state: &mut State, sending: &Sending) -> Result<Option<TransferId>, Failure> {
    let Some(to) = sending.to else { return Ok(None) };
    let (buffers, engine) = BUFFERS.with_engine(state);
    let bytes = sending.buffer.bytes();
    let attached = buffers.for_context(sending.envelope.context()).ok_or_else(|| nothing_attached(bytes))?;
    if !attached.makes_room(engine, bytes) {
        engine.progress();
        if !attached.makes_room(engine, bytes) {
            return Err(no_room(attached, bytes));
        }
    }
    // SAFETY: the program lends the buffer until the send is complete.
    let mut data = unsafe { sending.buffer.packed() };
    // SAFETY: the data is kept until the send is complete.
    let buffer = unsafe { Buffer::new(data.as_mut_ptr(), bytes) };
    let transfer = engine.send_by_id(to, sending.envelope, &buffer, Mode::Standard);
    if engine.is_complete(transfer) {
        return Ok(Some(transfer));
    }
    attached.keep(transfer, data);
    Ok(Some(engine.buffered(transfer)))
}

/// Sends in buffered mode; the request is complete.
///
/// # Errors
/// As those of `send_by_id`.
pub(crate) fn send(state: &mut State, sending: &Sending) -> Result<abi::Request, Failure> {
    send_by_id(state, sending).map(arguments::request)
}

/// Keeps the data of a send whose request was freed until it has left.
pub(super) fn keep(state: &mut State, send: abi::Request, data: Box<[u8]>) {
    let (buffers, engine) = BUFFERS.with_engine(state);
    let Some(transfer) = request::transfer(send) else { return };
    let freed = buffers.0.entry(Owner::Freed).or_insert_with(|| Attached::new(MPI_BUFFER_AUTOMATIC, 0));
    freed.keep(transfer, data);
    freed.makes_room(engine, 0);
}

/// Waits until every buffered message has left (`MPI_Finalize`). Call this only while not holding the state.
pub(crate) fn flush_all() {
    runtime::wait_until(|state| {
        let (buffers, engine) = BUFFERS.with_engine(state);
        let is_empty = |attached: &mut Attached| {
            attached.reclaim_first(engine);
            attached.kept.is_empty()
        };
        buffers.0.values_mut().all(is_empty).then_some(())
    });
}

fn attach(owner: Owner, address: *mut c_void, size: i64) -> Result<(), Failure> {
    let mut state = check::running()?;
    let automatic = address as usize == MPI_BUFFER_AUTOMATIC;
    let bytes = match usize::try_from(size) {
        _ if automatic => 0,
        Ok(bytes) => bytes,
        Err(_) => {
            return Err(Failure::new(
                MPI_ERR_ARG,
                format_args!("size is {size}; allowed are 0 and more bytes"),
            ));
        }
    };
    if address.is_null() && bytes > 0 {
        return Err(Failure::new(MPI_ERR_BUFFER, format_args!("buffer is a null pointer of {bytes} bytes")));
    }
    if let Some(before) = BUFFERS.of(&state).0.get(&owner) {
        let text = format_args!("a buffer of {} bytes is attached already; detach it first", before.bytes);
        return Err(Failure::new(MPI_ERR_BUFFER, text));
    }
    BUFFERS.of_mut(&mut state).0.insert(owner, Attached::new(address as usize, bytes));
    Ok(())
}

/// Gives a buffer back when its messages have left: its address and bytes.
fn detach(owner: Owner, buffer_addr: Out<'_, *mut c_void>) -> Result<i64, Failure> {
    buffer_addr.present()?;
    if !BUFFERS.of(&*check::running()?).0.contains_key(&owner) {
        return Err(Failure::new(MPI_ERR_BUFFER, "no buffer is attached"));
    }
    flush(owner)?;
    let Some(attached) = BUFFERS.of_mut(&mut *check::running()?).0.remove(&owner) else {
        return Err(Failure::new(MPI_ERR_BUFFER, "another thread detached the buffer"));
    };
    buffer_addr.write(attached.address as *mut c_void)?;
    Ok(attached.bytes as i64)
}

fn flush(owner: Owner) -> Result<(), Failure> {
    drop(check::running()?);
    runtime::wait_until(|state| {
        let (buffers, engine) = BUFFERS.with_engine(state);
        buffers.flushed(engine, owner, u64::MAX).then_some(())
    });
    Ok(())
}

/// Waits in the background until what is in a buffer now has left.
struct Flush {
    owner: Owner,
    before: u64,
}

impl Activity for Flush {
    fn advance(&mut self) -> bool {
        let mut state = runtime::enter();
        let (buffers, engine) = BUFFERS.with_engine(&mut state);
        buffers.flushed(engine, self.owner, self.before)
    }
}

fn start_flush(owner: Owner, place: Out<'_, abi::Request>) -> Result<(), Failure> {
    let mut state = check::running()?;
    place.present()?;
    let before = BUFFERS.of(&state).0.get(&owner).map_or(0, |attached| attached.count);
    place.write(request::start(&mut state, Box::new(Flush { owner, before })))
}

/// The communicator as the owner of a buffer.
fn of(comm: abi::Comm) -> Result<Owner, Failure> {
    let state = check::running()?;
    Ok(Owner::Comm(valid::comm(&state, comm)?.point_to_point()))
}

/// A number of bytes as a program's type of counts; `MPI_UNDEFINED` when it doesn't fit.
fn size_as<N: TryFrom<i64> + From<i32>>(bytes: i64) -> N {
    bytes.try_into().unwrap_or(N::from(MPI_UNDEFINED))
}

mpi! {
    /// MPI 5.0, section 3.6.
    fn PMPI_Buffer_flush() {
        flush(Owner::Process)
    }

    /// MPI 5.0, section 3.6.
    fn PMPI_Buffer_iflush(request: Out<abi::Request>) {
        start_flush(Owner::Process, request)
    }

    /// MPI 5.0, section 3.6.
    fn PMPI_Comm_flush_buffer(comm: abi::Comm) on comm {
        flush(of(comm)?)
    }

    /// MPI 5.0, section 3.6.
    fn PMPI_Comm_iflush_buffer(comm: abi::Comm, request: Out<abi::Request>) on comm {
        start_flush(of(comm)?, request)
    }
}

counted! {
    /// MPI 5.0, section 3.6.
    fn PMPI_Buffer_attach / PMPI_Buffer_attach_c(buffer: *mut c_void, size: N) {
        attach(Owner::Process, buffer, size.into())
    }

    /// MPI 5.0, section 3.6.
    fn PMPI_Buffer_detach / PMPI_Buffer_detach_c(buffer_addr: Declared<*mut c_void, Out<*mut c_void>>, size: Out<N>) {
        size.present()?;
        size.write(size_as(detach(Owner::Process, buffer_addr)?))
    }

    /// MPI 5.0, section 3.6.
    fn PMPI_Comm_attach_buffer / PMPI_Comm_attach_buffer_c(comm: abi::Comm, buffer: *mut c_void, size: N) on comm {
        attach(of(comm)?, buffer, size.into())
    }

    /// MPI 5.0, section 3.6.
    fn PMPI_Comm_detach_buffer / PMPI_Comm_detach_buffer_c(
        comm: abi::Comm, buffer_addr: Declared<*mut c_void, Out<*mut c_void>>, size: Out<N>,
    ) on comm {
        size.present()?;
        size.write(size_as(detach(of(comm)?, buffer_addr)?))
    }

    /// MPI 5.0, section 3.4.
    fn PMPI_Bsend / PMPI_Bsend_c(
        buf: *const c_void, count: N, datatype: abi::Datatype, dest: c_int, tag: c_int, comm: abi::Comm,
    ) on comm {
        let mut state = check::running()?;
        let sending = sending(&state, message_data!(buf, count, datatype), dest, tag, comm)?;
        if let Some(id) = send_by_id(&mut state, &sending)? {
            // Nobody will ask for it, also where it left only after a second look at the ring.
            state.engine.detach(id);
        }
        Ok(())
    }

    /// MPI 5.0, section 3.7.2.
    fn PMPI_Ibsend / PMPI_Ibsend_c(
        buf: *const c_void, count: N, datatype: abi::Datatype, dest: c_int, tag: c_int, comm: abi::Comm,
        request: Out<abi::Request>,
    ) on comm {
        let mut state = check::running()?;
        request.present()?;
        let sending = sending(&state, message_data!(buf, count, datatype), dest, tag, comm)?;
        request.write(send(&mut state, &sending)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_does_not_fit_is_told_with_what_it_needs() {
        let failure = nothing_attached(100);
        assert_eq!(failure.class(), MPI_ERR_BUFFER);
        assert!(
            failure.text().contains("one of 612 bytes (100 and MPI_BSEND_OVERHEAD)"),
            "{}",
            failure.text()
        );
        let attached = Attached { used: 700, count: 1, ..Attached::new(4096, 2000) };
        let failure = no_room(&attached, 1000);
        assert!(failure.text().contains("needs 1512 bytes"), "{}", failure.text());
        assert!(failure.text().contains("1300 of 2000 are free"), "{}", failure.text());
    }

    #[test]
    fn a_buffer_holds_what_its_bytes_and_overheads_add_up_to_and_no_more() {
        let overhead = MPI_BSEND_OVERHEAD as usize;
        let mut attached = Attached::new(4096, 100 + overhead);
        assert!(attached.has_room(100));
        assert!(!attached.has_room(101));
        attached.used = needs(0);
        assert!(!attached.has_room(0), "an empty message takes its overhead, too");
        attached.address = MPI_BUFFER_AUTOMATIC;
        attached.bytes = 0;
        assert!(attached.has_room(usize::MAX), "an automatic buffer is as large as needed");
    }

    #[test]
    fn a_communicators_own_buffer_goes_before_the_process_s() {
        let attached = |bytes| Attached::new(4096, bytes);
        let mut buffers = Buffers::default();
        assert!(buffers.for_context(8).is_none());
        buffers.0.insert(Owner::Process, attached(1));
        buffers.0.insert(Owner::Comm(8), attached(2));
        assert_eq!(buffers.for_context(8).map(|attached| attached.bytes), Some(2));
        assert_eq!(buffers.for_context(12).map(|attached| attached.bytes), Some(1));
    }
}
