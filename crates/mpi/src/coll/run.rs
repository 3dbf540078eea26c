//! Carrying a schedule out: to the end, beside the program, or again and again.
//!
//! Those that go on beside the program are activities: they advance whenever messages are moved.

use super::arguments::Scene;
use super::offers::{self, DataToSend, Offer};
use super::schedule::{
    Audience, CollectiveSchedule, Expected, LANES, Large, Standing, TagLane, Taken, Truncated, Wire,
};
use crate::abi;
use crate::abi::values::MPI_REQUEST_NULL;
use crate::call::Out;
use crate::check::{self, Failure};
use crate::comm::Comm;
use crate::comm::valid;
use crate::datatype::DATATYPES;
use crate::datatype::Datatype;
use crate::handles;
use crate::request::Activity;
use crate::request::{self, Outcome, Persistent, Recipe, Request};
use crate::runtime::Guarded;
use crate::runtime::{self, State};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use transport::{
    BesideOwn, Buffer, COMPLETE_AT_ONCE, Completion, Criteria, Engine, Envelope, SentBeside, Spot, TransferId,
};

/// Numbers of collectives; then they start again. No program has so many of one communicator under way.
const NUMBERS: u32 = 1 << 26;
/// What tells the tags of non-blocking collectives from those of blocking ones: the two never match (MPI 5.0, section
/// 6.12).
const NON_BLOCKING: i32 = 1 << 29;
/// What tells the tags of persistent collectives from those of others, which use their numbers up sooner.
const PERSISTENT: i32 = 1 << 30;
/// Schedules that are kept to be used again.
const MOST_KEPT: usize = 16;

/// The tag of a collective's first lane.
#[inline]
pub(super) fn tag_of(number: u32) -> i32 {
    (number % NUMBERS) as i32 * LANES
}

/// Whether the rank waits in the collective until it is over, so that it carries messages all the time.
#[inline]
pub(super) fn is_blocking(tag: i32) -> bool {
    tag & (NON_BLOCKING | PERSISTENT) == 0
}

/// The engine, as the ranks of a communicator use it in one collective.
struct CommWire<'a> {
    engine: &'a mut Engine<'static>,
    comm: &'a Comm,
    tag: i32,
}

impl Wire for CommWire<'_> {
    #[inline]
    fn send(&mut self, to: usize, lane: TagLane, buffer: &Buffer, large: Large) -> Option<TransferId> {
        let (context, source) = (self.comm.collective(), self.comm.rank as u16);
        let envelope = Envelope::new(context, source, self.tag | i32::from(lane));
        let mode = offers::mode(self.engine, buffer, large, self.comm.peers().members.len(), self.tag);
        self.engine.send(self.comm.peers().members[to] as usize, envelope, buffer, mode)
    }

    #[inline]
    fn send_and_forget(&mut self, to: usize, lane: TagLane, buffer: &Buffer) {
        if let Some(id) = self.send(to, lane, buffer, Large::default()) {
            self.engine.detach(id);
        }
    }

    #[inline]
    fn offers(
        &mut self,
        to: usize,
        buffer: &Buffer,
        large: Large,
        audience: Audience,
        place: *mut Offer,
    ) -> bool {
        // SAFETY: room for an offer, the schedule's own.
        let put = |offer| unsafe { place.write(offer) };
        let peers = &self.comm.peers().members;
        let first_two = [0, 1].map(|member| *peers.get(member).unwrap_or(&peers[0]) as usize);
        let (to, ranks) = (peers[to] as usize, peers.len());
        let data = DataToSend { buffer, large, audience, to, first_two, ranks, tag: self.tag };
        if data.is_worth_offering(self.engine) {
            self.engine.allow_reading();
            put(Offer::of(&self.engine.segment(), buffer));
            return true;
        }
        let shown = data.is_worth_showing(self.engine).then(|| Offer::shown(self.engine, data)).flatten();
        shown.map(put).is_some()
    }

    #[inline]
    fn go_on_offering(&mut self) {
        self.engine.go_on_showing();
    }

    #[inline]
    fn answered(&mut self, offer: &Offer) {
        if offer.is_shown() {
            self.engine.was_read();
        }
    }

    #[inline]
    fn take(&mut self, id: TransferId, from: usize, buffer: &Buffer, bytes: usize, operand: bool) -> Taken {
        let Some(offer) = Offer::of_receive(self.engine, id, buffer, bytes) else { return Taken::Data };
        let from = self.comm.peers().members[from] as usize;
        if offer.is_in_slots() {
            self.engine.want_none(from);
            return Taken::Skipped(offer.bytes());
        }
        if let Some(shown) = operand.then(|| offer.lent(self.engine, from, buffer)).flatten() {
            return Taken::Lent(shown, offer.spot());
        }
        if offer.read(self.engine, from, buffer) { Taken::Read(offer.bytes()) } else { Taken::Refused }
    }

    #[inline]
    fn receive(&mut self, from: usize, lane: TagLane, buffer: &Buffer, expected: Expected) -> TransferId {
        let tag = Some(self.tag | i32::from(lane));
        let pattern = Criteria { context: self.comm.collective(), source: Some(from as u16), tag };
        match expected {
            Expected::Data { beside_own } => self.engine.receive_or_set_aside(pattern, buffer, beside_own),
            Expected::Message => {
                self.engine.receive(pattern, Some(self.comm.peers().members[from] as usize), buffer)
            }
        }
    }

    #[cold]
    fn want_none(&mut self, from: usize) {
        self.engine.want_none(self.comm.peers().members[from] as usize);
    }

    unsafe fn begin_to_copy(&mut self, from: &Buffer, into: &Buffer) {
        // SAFETY: as the caller promised, and a schedule only sends in between.
        unsafe { self.engine.begin_to_copy_own(from, into) };
    }

    unsafe fn copy(&mut self, from: &Buffer, into: &Buffer, sent: SentBeside) {
        let beside = BesideOwn { sent, ranks: self.comm.peers().members.len() };
        // SAFETY: as the caller promised.
        unsafe { self.engine.copy_own(from, into, beside) };
    }

    #[inline]
    fn combine(
        &mut self,
        bytes: usize,
        double: bool,
        shown: [Option<(usize, Spot)>; 2],
        combine: impl FnOnce(),
    ) {
        let member = |(rank, spot)| (self.comm.peers().members[rank] as usize, spot);
        self.engine.reduce(bytes, shown.map(|shown| shown.map(member)), combine);
        self.engine.combined(bytes, double, false);
    }

    #[inline]
    fn take_if_complete(&mut self, id: TransferId) -> Option<Completion> {
        self.engine.take_if_complete(id)
    }
}

/// Schedules of collectives that are over, to be used again. A box is handed on as it is: a schedule is large.
#[allow(clippy::vec_box)]
static SCHEDULES: Guarded<Vec<Box<CollectiveSchedule>>> = Guarded::new(Vec::new());

/// Keeps a schedule, to be used again.
#[inline]
fn keep(mut schedule: Box<CollectiveSchedule>, state: &mut State) {
    if SCHEDULES.of(state).len() < MOST_KEPT {
        schedule.clear();
        SCHEDULES.of_mut(state).push(schedule);
    }
}

/// A collective of a communicator, as one rank carries it out.
pub(super) struct Run {
    handle: abi::Comm,
    comm: Arc<Comm>,
    tag: i32,
    schedule: Box<CollectiveSchedule>,
    truncated: Option<Truncated>,
    /// What a user's function is called with, when the program may free its handle meanwhile.
    datatype: Option<(abi::Datatype, Arc<Datatype>)>,
    /// Another handle for it, when the program has freed its own.
    datatype_handle: Option<abi::Datatype>,
}

impl Run {
    /// Builds the schedule of a collective, the next of its communicator.
    ///
    /// # Errors
    /// What is wrong with an argument.
    #[inline]
    fn build(
        state: &mut State,
        handle: abi::Comm,
        numbers: impl Fn(&Comm) -> &AtomicU32,
        build: impl FnOnce(&mut Scene) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let comm = valid::comm(state, handle)?.clone();
        let mut schedule = SCHEDULES.of_mut(state).pop().unwrap_or_default();
        let built = build(&mut Scene { state, comm: &comm, schedule: &mut schedule });
        let mut run =
            Self { handle, comm, tag: 0, schedule, truncated: None, datatype: None, datatype_handle: None };
        if let Err(failure) = built {
            keep(run.schedule, state);
            return Err(failure);
        }
        // Only the thread that holds the state starts a collective.
        let numbers = numbers(&run.comm);
        let number = numbers.load(Ordering::Relaxed);
        numbers.store(number.wrapping_add(1), Ordering::Relaxed);
        run.tag = tag_of(number);
        Ok(run)
    }

    /// It is over, and may still be asked how it ended: its schedule is kept.
    fn give_back(&mut self, state: &mut State) {
        keep(std::mem::take(&mut self.schedule), state);
    }

    #[inline]
    fn advance(&mut self, engine: &mut Engine<'static>) -> Standing {
        self.schedule.advance(&mut CommWire { engine, comm: &self.comm, tag: self.tag })
    }

    /// Takes note that the transfer that it waits for has ended.
    fn ended(&mut self, engine: &mut Engine<'static>, id: TransferId, completion: &Completion) {
        self.schedule.ended(id, completion, &mut CommWire { engine, comm: &self.comm, tag: self.tag });
    }

    /// The datatype that a user's function is called with outlives the program's handle.
    fn keep_datatype(&mut self, state: &State) {
        self.datatype = self
            .schedule
            .user_datatype()
            .and_then(|handle| Some((handle, DATATYPES.of(state).get(handle.0)?.clone())));
    }

    /// Makes sure that the user's function is called with a handle that lives.
    fn revive_datatype(&mut self, state: &mut State) {
        let Some((handle, datatype)) = &self.datatype else { return };
        let lives = DATATYPES.of(state).get(handle.0).is_some_and(|found| Arc::ptr_eq(found, datatype));
        if !lives && self.datatype_handle.is_none() {
            let other = abi::Datatype(DATATYPES.of_mut(state).insert(datatype.clone()));
            self.datatype_handle = Some(other);
            self.schedule.set_user_datatype(other);
        }
    }

    /// Starts beside the program; goes as far as it can, but not into the user's code.
    fn begin(&mut self, state: &mut State) -> Standing {
        let standing = self.advance(&mut state.engine);
        if standing == Standing::Over {
            self.end(state);
        }
        standing
    }

    /// Cleans up when it is over.
    fn end(&mut self, state: &mut State) {
        self.truncated = self.schedule.truncated();
        if let Some(handle) = self.datatype_handle.take() {
            DATATYPES.of_mut(state).remove(handle.0);
        }
    }

    /// Goes as far as it can; true when over. Call this only while not holding the state.
    fn go_on(&mut self) -> bool {
        loop {
            let mut state = runtime::enter();
            match self.advance(&mut state.engine) {
                Standing::Waiting(..) => return false,
                Standing::Over => {
                    self.end(&mut state);
                    return true;
                }
                Standing::AtUserCode => {
                    self.revive_datatype(&mut state);
                    drop(state);
                    self.schedule.run_user_code();
                }
            }
        }
    }

    fn outcome(&self) -> Outcome {
        Outcome { result: self.result().map_err(|failure| failure.on(self.handle)), ..Outcome::empty() }
    }

    /// How it ended.
    fn result(&self) -> Result<(), Failure> {
        match self.truncated {
            None => Ok(()),
            Some(told) => Err(told.failure()),
        }
    }
}

/// Does a collective. Call this only while not holding the state.
///
/// # Errors
/// What is wrong with an argument; a message that is too long.
#[inline]
pub(super) fn blocking(
    handle: abi::Comm,
    build: impl FnOnce(&mut Scene) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut state = check::running()?;
    let mut run = Run::build(&mut state, handle, |comm| &comm.collectives, build)?;
    loop {
        match run.advance(&mut state.engine) {
            Standing::Over => break,
            Standing::AtUserCode => {
                drop(state);
                run.schedule.run_user_code();
                state = runtime::enter();
            }
            Standing::Waiting(id, from) => {
                let from = from.map(|rank| run.comm.peers().members[rank] as usize);
                let news = |state: &mut State| run.schedule.has_news(|id| state.engine.is_complete(id));
                if news(&mut state).is_none() {
                    let completion = runtime::wait_for(state, id, from);
                    state = runtime::enter();
                    run.ended(&mut state.engine, id, &completion);
                } else if !runtime::soon(&mut state, from, |state| news(state) == Some(true)) {
                    drop(state);
                    runtime::wait_until(|state| news(state).filter(|&has| has));
                    state = runtime::enter();
                }
            }
        }
    }
    run.truncated = run.schedule.truncated();
    let result = run.result();
    keep(run.schedule, &mut state);
    result
}

impl Activity for Run {
    fn advance(&mut self) -> bool {
        let over = self.go_on();
        if over {
            self.give_back(&mut runtime::enter());
        }
        over
    }

    fn outcome(&mut self) -> Outcome {
        Run::outcome(self)
    }
}

/// Starts a collective that goes on beside the program. Call this only while not holding the state.
///
/// # Errors
/// What is wrong with an argument.
pub(super) fn start(
    handle: abi::Comm,
    place: Out<'_, abi::Request>,
    build: impl FnOnce(&mut Scene) -> Result<(), Failure>,
) -> Result<(), Failure> {
    place.write(abi::Request(MPI_REQUEST_NULL))?;
    let mut state = check::running()?;
    let mut run = Run::build(&mut state, handle, |comm| &comm.nonblocking_collectives, build)?;
    run.tag |= NON_BLOCKING;
    run.keep_datatype(&state);
    if run.begin(&mut state) == Standing::Over && run.truncated.is_none() {
        run.give_back(&mut state);
        place.write(OVER)?;
    } else {
        place.write(request::start(&mut state, Box::new(run)))?;
    }
    Ok(())
}

/// The request of a collective that was over at once.
const OVER: abi::Request = abi::Request(handles::of_transfer(COMPLETE_AT_ONCE));

/// A collective that is started again and again, and what it is while it is under way.
struct PersistentRun(Arc<Mutex<Run>>);

impl PersistentRun {
    fn run(&self) -> MutexGuard<'_, Run> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recipe for PersistentRun {
    fn start(&self, state: &mut State) -> Result<abi::Request, Failure> {
        let mut run = self.run();
        run.schedule.rewind();
        run.truncated = None;
        if run.begin(state) == Standing::Over && run.truncated.is_none() {
            return Ok(OVER);
        }
        Ok(request::start(state, Box::new(PersistentRun(self.0.clone()))))
    }
}

impl Activity for PersistentRun {
    fn advance(&mut self) -> bool {
        self.run().go_on()
    }

    fn outcome(&mut self) -> Outcome {
        self.run().outcome()
    }
}

/// Makes a collective that `MPI_Start` starts. Call this only while not holding the state.
///
/// Its number stays the same at each start, so that several may be started in another order on another rank.
///
/// # Errors
/// What is wrong with an argument.
pub(super) fn persistent(
    handle: abi::Comm,
    place: Out<'_, abi::Request>,
    build: impl FnOnce(&mut Scene) -> Result<(), Failure>,
) -> Result<(), Failure> {
    place.write(abi::Request(MPI_REQUEST_NULL))?;
    let mut state = check::running()?;
    let mut run = Run::build(&mut state, handle, |comm| &comm.persistent_collectives, build)?;
    run.tag |= PERSISTENT;
    run.keep_datatype(&state);
    let recipe = Arc::new(PersistentRun(Arc::new(Mutex::new(run))));
    place.write(request::insert(&mut state, Request::Persistent(Persistent { recipe, active: None })))
}
