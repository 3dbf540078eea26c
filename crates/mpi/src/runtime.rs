//! The library's one state, and who is inside.
//!
//! Every function enters, works on the state and leaves. Up to `MPI_THREAD_SERIALIZED` entering costs a check; with
//! `MPI_THREAD_MULTIPLE` (or a progress thread) it takes a lock. Nobody stays inside while waiting or while user code
//! runs: `wait_until` enters and leaves by itself, and what a callback does may enter again.

use crate::abi;
use crate::call::In;
use crate::coll::Schedule;
use crate::comm::attributes::Keyvals;
use crate::comm::errhandler::Errhandler;
use crate::comm::errors::Added;
use crate::comm::info::Info;
use crate::comm::{Comm, Group};
use crate::datatype::Datatype;
use crate::handles::{Handles, Kind, transfer_id};
use crate::op::Operation;
use crate::p2p::buffered::Buffers;
use crate::p2p::probe::Claimed;
use crate::profile;
use crate::request::{self, Ongoing, Outcome, Request};
use host::futex::{self, Reach};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Once};
use transport::segment::hook;
use transport::{
    Abort, Completion, Engine, EngineCounters, RECEIVED_FROM_NOBODY, TransferId, Waiting, WaitingRoom,
};

/// Everything that the library knows.
pub struct State {
    /// Moves messages.
    pub engine: Engine<'static>,
    /// Communicators by handle; the predefined ones apart.
    pub comms: Handles<Arc<Comm>>,
    /// `MPI_COMM_WORLD`, from Init to Finalize.
    pub world: Option<Arc<Comm>>,
    /// `MPI_COMM_SELF`, from Init to Finalize.
    pub own: Option<Arc<Comm>>,
    /// Groups by handle; the empty one apart.
    pub groups: Handles<Arc<Group>>,
    /// Error handlers that programs made, by handle.
    pub errhandlers: Handles<Errhandler>,
    /// The error handler of files to be opened.
    pub file_errhandler: usize,
    /// Infos by handle; the predefined one apart.
    pub infos: Handles<Info>,
    /// `MPI_INFO_ENV`, from its first use.
    pub environment: Option<Info>,
    /// Keyvals that programs made.
    pub keyvals: Keyvals,
    /// Error classes and codes that programs added.
    pub errors: Added,
    /// Derived datatypes by handle.
    pub datatypes: Handles<Arc<Datatype>>,
    /// User-defined operations by handle.
    pub ops: Handles<Operation>,
    /// Schedules of collectives that are over, to be used again.
    pub schedules: Vec<Box<Schedule>>,
    /// Which of them are predefined but without a name.
    pub unnamed_datatypes: Vec<abi::Datatype>,
    /// Requests that are more than a send or a receive, by handle.
    pub requests: Handles<Request>,
    /// Activities that are not over.
    pub ongoing: Vec<Arc<Ongoing>>,
    /// Messages that were found and taken (`MPI_Mprobe`), by handle.
    pub claimed: Handles<Claimed>,
    /// Buffers that programs attached.
    pub buffers: Buffers,
}

/// Where the library is between start and end.
pub mod phase {
    /// Before `MPI_Init`.
    pub const BEFORE: u8 = 0;
    /// Between Init and Finalize.
    pub const RUNNING: u8 = 1;
    /// After `MPI_Finalize`.
    pub const FINALISED: u8 = 2;
    /// In a process that a running one forked.
    pub const FORKED: u8 = 3;
}

/// Where the threads of this rank wait.
pub static ROOM: WaitingRoom = WaitingRoom::new(&EndOfJob);
/// What the engine counts since Init, for tools (`MPI_T`).
pub static COUNTERS: EngineCounters = EngineCounters::new();

/// What becomes of this rank when the job is over.
struct EndOfJob;

impl Abort for EndOfJob {
    fn abort(&self, why: &str) -> ! {
        launch::abort(1, why)
    }

    fn leave(&self) -> ! {
        // The launcher says why.
        // SAFETY: ends the process without running anything of it.
        unsafe { libc::_exit(1) }
    }
}

struct Runtime {
    made: Once,
    state: UnsafeCell<MaybeUninit<State>>,
    phase: AtomicU8,
    locking: AtomicBool,
    lock: Lock,
}

// SAFETY: `state` is only reached through `enter`, which lets one in at a time: by the lock when several threads may
// come, by the caller's promise (thread level) otherwise.
unsafe impl Sync for Runtime {}

static RUNTIME: Runtime = Runtime {
    made: Once::new(),
    state: UnsafeCell::new(MaybeUninit::uninit()),
    phase: AtomicU8::new(phase::BEFORE),
    // Before Init several threads may make infos or error handlers.
    locking: AtomicBool::new(true),
    lock: Lock { word: AtomicU32::new(0) },
};

/// Somebody is inside; leaves when dropped.
pub struct Entered {
    locked: bool,
    /// Nothing happened that another thread may wait for.
    pub quiet: bool,
}

/// Comes inside. Must not be called by who is inside.
#[inline]
pub fn enter() -> Entered {
    let locked = RUNTIME.locking.load(Ordering::Relaxed);
    if locked {
        RUNTIME.lock.lock();
    }
    if !RUNTIME.made.is_completed() {
        make();
    }
    Entered { locked, quiet: false }
}

#[cold]
fn make() {
    RUNTIME.made.call_once(|| {
        let state = State {
            engine: Engine::new(&ROOM, &COUNTERS),
            comms: Handles::new(Kind::Comm),
            world: None,
            own: None,
            groups: Handles::new(Kind::Group),
            errhandlers: Handles::new(Kind::Errhandler),
            file_errhandler: abi::values::MPI_ERRORS_RETURN,
            infos: Handles::new(Kind::Info),
            environment: None,
            keyvals: Keyvals::new(),
            errors: Added::default(),
            datatypes: Handles::new(Kind::Datatype),
            ops: Handles::new(Kind::Op),
            schedules: Vec::new(),
            unnamed_datatypes: Vec::new(),
            requests: Handles::new(Kind::Request),
            ongoing: Vec::new(),
            claimed: Handles::new(Kind::Message),
            buffers: Buffers::default(),
        };
        // SAFETY: once, before anybody can have entered.
        unsafe { (*RUNTIME.state.get()).write(state) };
    });
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        if self.locked {
            if !self.quiet {
                ROOM.wake_own();
            }
            RUNTIME.lock.unlock();
        }
    }
}

impl Deref for Entered {
    type Target = State;
    #[inline]
    fn deref(&self) -> &State {
        // SAFETY: made by `enter`, and only one is inside.
        unsafe { (*RUNTIME.state.get()).assume_init_ref() }
    }
}

impl DerefMut for Entered {
    #[inline]
    fn deref_mut(&mut self) -> &mut State {
        // SAFETY: made by `enter`, and only one is inside.
        unsafe { (*RUNTIME.state.get()).assume_init_mut() }
    }
}

/// Where the library is: one of `phase::*`.
#[inline]
pub fn phase() -> u8 {
    RUNTIME.phase.load(Ordering::Acquire)
}

/// Goes on to the next phase.
pub fn set_phase(phase: u8) {
    RUNTIME.phase.store(phase, Ordering::Release);
}

/// Whether calls take the lock from now on: not when the program promised one thread at a time. Only while one thread
/// runs MPI.
pub fn set_locking(locking: bool) {
    RUNTIME.locking.store(locking, Ordering::Release);
}

/// Calls take the lock: Init has not been called, threads are `MPI_THREAD_MULTIPLE`, or there is a progress thread.
pub fn locks() -> bool {
    RUNTIME.locking.load(Ordering::Relaxed)
}

/// A lock of one word: 0 free, 1 taken, 2 taken and somebody sleeps.
struct Lock {
    word: AtomicU32,
}

impl Lock {
    #[inline]
    fn lock(&self) {
        if self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.contended();
        }
    }

    #[cold]
    fn contended(&self) {
        for _ in 0..100 {
            if self.word.load(Ordering::Relaxed) == 0
                && self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return;
            }
            std::hint::spin_loop();
        }
        while self.word.swap(2, Ordering::Acquire) != 0 {
            futex::sleep(&self.word, 2, None, Reach::Process);
        }
    }

    #[inline]
    fn unlock(&self) {
        if self.word.swap(0, Ordering::Release) == 2 {
            futex::wake(&self.word, 1, Reach::Process);
        }
    }
}

/// Something that goes on beside the user's program in steps: a non-blocking collective, for instance.
pub trait Activity: Send {
    /// Goes as far as it can without waiting. Called while nobody is inside: enters by itself, and may run user code.
    /// True when over.
    fn advance(&mut self) -> bool;

    /// How it ended, once it is over.
    fn outcome(&mut self) -> Outcome {
        Outcome::empty()
    }
}

/// Moves messages and activities once, without waiting. Call this only while not holding the state.
pub fn progress() -> bool {
    let mut state = enter();
    let moved = state.engine.progress();
    let going_on = !state.ongoing.is_empty();
    drop(state);
    if going_on {
        request::advance_all();
    }
    if !moved && (locks() || ROOM.crowded()) {
        ROOM.make_way();
    }
    moved
}

/// Polls before a short wait becomes a long one.
const SOON: u32 = 2000;

/// Polls for a while without leaving, for what comes soon. `from`: the job's rank that it comes from, when that is
/// known. True when `done` is.
#[inline]
fn soon(state: &mut Entered, from: Option<usize>, mut done: impl FnMut(&mut State) -> bool) -> bool {
    if done(state) {
        return true;
    }
    if state.locked || ROOM.crowded() || !state.ongoing.is_empty() {
        return false;
    }
    for round in 1..SOON {
        state.engine.poll(from, round);
        if done(state) {
            return true;
        }
        std::hint::spin_loop();
    }
    false
}

/// Waits for a transfer, and takes it. `from`: as for `Engine::receive`.
#[inline]
pub fn wait_for(mut state: Entered, id: TransferId, from: Option<usize>) -> Completion {
    if !soon(&mut state, from, |state| state.engine.is_complete(id)) {
        drop(state);
        return wait_until(|state| state.engine.take_if_complete(id));
    }
    state.engine.take_if_complete(id).unwrap_or(RECEIVED_FROM_NOBODY)
}

/// Waits until transfers are complete, without taking them. True when all of them ended well.
#[inline]
pub fn wait_for_all(mut state: Entered, requests: In<'_, [abi::Request]>) -> (Entered, bool) {
    let mut over = 0;
    let mut well = true;
    let mut next = |state: &mut State| {
        while over < requests.len() {
            match state.engine.ended_well(transfer_id(requests.get(over).0)) {
                None => return false,
                Some(ended_well) => well &= ended_well,
            }
            over += 1;
        }
        true
    };
    if !soon(&mut state, None, &mut next) {
        drop(state);
        wait_until(|state| next(state).then_some(()));
        state = enter();
    }
    (state, well)
}

/// One wait in a function, as profile and launcher see it.
#[derive(Default)]
struct Wait {
    patience: Waiting,
    /// What is waited for was told to the launcher.
    told: bool,
}

impl Wait {
    /// Something moved, or the wait is over.
    #[inline]
    fn ended(&mut self, state: &State) {
        if let Some(since_ns) = self.patience.ended() {
            self.long_one_ended(state, since_ns);
        }
    }

    #[cold]
    fn long_one_ended(&mut self, state: &State, since_ns: u64) {
        if profile::sees(hook::PROFILE) {
            profile::waited(host::clock::kernel_ns() - since_ns);
        }
        if std::mem::take(&mut self.told) {
            profile::stuck::take_back(state);
        }
    }

    /// This thread is going to sleep: the launcher may want to know what for.
    fn sleeps(&mut self, state: &State) {
        if profile::sees(hook::STUCK) {
            self.told |= profile::stuck::tell(state);
        }
    }
}

/// Waits until `done` gives something, moving messages and activities meanwhile. Call this only while not holding the
/// state.
pub fn wait_until<T>(mut done: impl FnMut(&mut State) -> Option<T>) -> T {
    let mut waiting = Wait::default();
    let _waiter = locks().then(|| ROOM.waiter());
    loop {
        let mut state = enter();
        let moved = state.engine.progress();
        if let Some(value) = done(&mut state) {
            waiting.ended(&state);
            return value;
        }
        if !state.ongoing.is_empty() {
            drop(state);
            if request::advance_all() {
                waiting.ended(&enter());
                continue;
            }
            state = enter();
        }
        if moved {
            waiting.ended(&state);
            continue;
        }
        state.quiet = true;
        if !waiting.patience.tired {
            drop(state);
            waiting.patience.pause(&ROOM);
            continue;
        }
        let armed = ROOM.arm(true);
        let moved = state.engine.progress();
        if let Some(value) = done(&mut state) {
            waiting.ended(&state);
            return value;
        }
        if moved {
            waiting.ended(&state);
        } else {
            waiting.sleeps(&state);
            state.engine.examine();
            drop(state);
            armed.sleep();
        }
    }
}

impl State {
    /// The communicator of a handle.
    #[inline]
    pub fn comm(&self, handle: abi::Comm) -> Option<&Arc<Comm>> {
        match handle.0 {
            abi::values::MPI_COMM_WORLD => self.world.as_ref(),
            abi::values::MPI_COMM_SELF => self.own.as_ref(),
            other => self.comms.get(other),
        }
    }
}
