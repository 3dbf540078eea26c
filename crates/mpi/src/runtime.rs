//! The library's state, and the one thread that holds it.
//!
//! Every function enters, works on the state and leaves. Up to `MPI_THREAD_SERIALIZED` entering costs a check; with
//! `MPI_THREAD_MULTIPLE` (or a progress thread) it takes a lock. No thread holds the state while it waits or runs the
//! program's code: `wait_until` enters and leaves by itself, and what a callback does may enter again.
//!
//! This room keeps the engine and what goes on beside the program. Each room above keeps its own objects in a
//! `Guarded`, which only the thread that holds the state reaches. `of` borrows the state and `of_mut` borrows it
//! mutably, so two uses at once of which one changes something do not compile.

use crate::profile;
use host::futex::{self, Reach};
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use transport::segment::hook;
use transport::{
    Abort, Buffer, Completion, Criteria, Engine, EngineCounters, RECEIVED_FROM_NOBODY, TransferId, Waiting,
    WaitingRoom,
};

/// The library's state. There is one, and one thread at a time holds it.
pub(crate) struct State {
    /// Moves messages.
    pub engine: Engine<'static>,
    /// What goes on beside the program and is not over.
    ongoing: Vec<Arc<dyn Stepwise>>,
    /// Makes the type one that cannot be shared between threads, whatever the engine is.
    alone: PhantomData<Cell<()>>,
}

/// What a room keeps between calls: reached by lending the state, of which there is one.
pub(crate) struct Guarded<T>(UnsafeCell<T>);

// SAFETY: the content is only reached through the state, which one thread at a time holds and which no two threads
// share.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    /// Keeps something.
    pub(crate) const fn new(content: T) -> Self {
        Self(UnsafeCell::new(content))
    }

    /// Looks at it.
    #[inline]
    pub(crate) fn of<'a>(&'a self, _: &'a State) -> &'a T {
        // SAFETY: a change borrows the one state whole, and it is borrowed here, too.
        unsafe { &*self.0.get() }
    }

    /// Changes it.
    #[inline]
    pub(crate) fn of_mut<'a>(&'a self, _: &'a mut State) -> &'a mut T {
        // SAFETY: the one state is lent to nobody else, and without it nobody reaches the content.
        unsafe { &mut *self.0.get() }
    }

    /// Changes it with the engine at hand.
    #[inline]
    pub(crate) fn with_engine<'a>(&'a self, state: &'a mut State) -> (&'a mut T, &'a mut Engine<'static>) {
        // SAFETY: as for `of_mut`; the engine lies in the state and not in here.
        (unsafe { &mut *self.0.get() }, &mut state.engine)
    }
}

/// Where the library is between start and end.
pub(crate) mod phase {
    /// Before `MPI_Init`.
    pub(crate) const BEFORE: u8 = 0;
    /// Between Init and Finalize.
    pub(crate) const RUNNING: u8 = 1;
    /// After `MPI_Finalize`.
    pub(crate) const FINALISED: u8 = 2;
    /// In a process that a running one forked.
    pub(crate) const FORKED: u8 = 3;
}

/// Where the threads of this rank wait.
pub(crate) static ROOM: WaitingRoom = WaitingRoom::new(&EndOfJob);
/// What the engine counts since Init, for tools (`MPI_T`).
pub(crate) static COUNTERS: EngineCounters = EngineCounters::new();

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

/// Bits of the gate: entering takes the lock.
const LOCKS: u32 = 1;
/// A thread that took no lock holds the state.
const INSIDE: u32 = 2;
/// The state was not made yet.
const UNMADE: u32 = 4;

struct Runtime {
    /// `LOCKS`, `INSIDE`, `UNMADE`; 0: the state is made, free, and to be had without the lock.
    gate: AtomicU32,
    lock: Lock,
    phase: AtomicU8,
    state: UnsafeCell<MaybeUninit<State>>,
}

// SAFETY: `state` is only reached through `enter`, which lets one thread at a time hold it: by the lock when several
// threads may come, otherwise by the gate and by the program's promise (thread level) that its threads come one after
// the other.
unsafe impl Sync for Runtime {}

static RUNTIME: Runtime = Runtime {
    // Before Init several threads may make infos or error handlers.
    gate: AtomicU32::new(LOCKS | UNMADE),
    lock: Lock { word: AtomicU32::new(0) },
    phase: AtomicU8::new(phase::BEFORE),
    state: UnsafeCell::new(MaybeUninit::uninit()),
};

/// This thread holds the state; it leaves when this is dropped.
pub(crate) struct Entered {
    locked: bool,
    /// Nothing happened that another thread may wait for.
    pub quiet: bool,
}

/// Takes the state. Call this only while not holding it: a thread that does waits for itself.
#[inline]
pub(crate) fn enter() -> Entered {
    let gate = RUNTIME.gate.load(Ordering::Relaxed);
    if gate == 0 {
        RUNTIME.gate.store(INSIDE, Ordering::Relaxed);
        return Entered { locked: false, quiet: false };
    }
    if gate == LOCKS {
        RUNTIME.lock.lock();
        // Init may have changed it meanwhile.
        if RUNTIME.gate.load(Ordering::Relaxed) == LOCKS {
            return Entered { locked: true, quiet: false };
        }
        RUNTIME.lock.unlock();
    }
    enter_slowly()
}

#[cold]
fn enter_slowly() -> Entered {
    loop {
        match RUNTIME.gate.load(Ordering::Relaxed) {
            0 | LOCKS => return enter(),
            INSIDE => std::thread::yield_now(),
            _ => make(),
        }
    }
}

fn make() {
    RUNTIME.lock.lock();
    if RUNTIME.gate.load(Ordering::Relaxed) & UNMADE != 0 {
        let engine = Engine::new(&ROOM, &COUNTERS);
        // SAFETY: before any thread can have entered, which the lock and the gate see to.
        unsafe { (*RUNTIME.state.get()).write(State { engine, ongoing: Vec::new(), alone: PhantomData }) };
        RUNTIME.gate.store(LOCKS, Ordering::Relaxed);
    }
    RUNTIME.lock.unlock();
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        if self.locked {
            if !self.quiet {
                ROOM.wake_own();
            }
            RUNTIME.lock.unlock();
        } else {
            RUNTIME.gate.store(0, Ordering::Relaxed);
        }
    }
}

impl Deref for Entered {
    type Target = State;
    #[inline]
    fn deref(&self) -> &State {
        // SAFETY: made before `enter` returned, and this thread alone holds it.
        unsafe { (*RUNTIME.state.get()).assume_init_ref() }
    }
}

impl DerefMut for Entered {
    #[inline]
    fn deref_mut(&mut self) -> &mut State {
        // SAFETY: made before `enter` returned, and this thread alone holds it.
        unsafe { (*RUNTIME.state.get()).assume_init_mut() }
    }
}

/// Where the library is: one of `phase::*`.
#[inline]
pub(crate) fn phase() -> u8 {
    RUNTIME.phase.load(Ordering::Acquire)
}

/// Goes on to the next phase.
pub(crate) fn set_phase(phase: u8) {
    RUNTIME.phase.store(phase, Ordering::Release);
}

/// Whether calls take the lock from now on: not when the program promised one thread at a time. Call this only while
/// one thread runs MPI and does not hold the state.
pub(crate) fn set_locking(locking: bool) {
    drop(enter());
    RUNTIME.lock.lock();
    RUNTIME.gate.store(if locking { LOCKS } else { 0 }, Ordering::Relaxed);
    RUNTIME.lock.unlock();
    profile::set_threads(locking);
}

/// Calls take the lock: Init has not been called, threads are `MPI_THREAD_MULTIPLE`, or there is a progress thread.
pub(crate) fn locks() -> bool {
    RUNTIME.gate.load(Ordering::Relaxed) & LOCKS != 0
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

/// Something that goes on beside the program in steps: a non-blocking collective, for instance.
pub(crate) trait Stepwise: Send + Sync {
    /// Goes as far as it can without waiting, unless another thread is at it. Called while this thread does not hold
    /// the state: it enters by itself, and may run the program's code. True when it is over.
    fn advance(&self) -> bool;

    /// Whether it is over.
    fn is_over(&self) -> bool;
}

impl State {
    /// From now on, a thread that moves messages also moves this.
    pub(crate) fn add_ongoing(&mut self, one: Arc<dyn Stepwise>) {
        self.ongoing.push(one);
    }

    /// Something goes on beside the program.
    pub(crate) fn has_ongoing(&self) -> bool {
        !self.ongoing.is_empty()
    }
}

/// Advances everything that goes on beside the program once; true when something ended. Call this only while not
/// holding the state.
pub(crate) fn advance_all() -> bool {
    // They may start others meanwhile, so the state is free and the list is not borrowed.
    let ongoing = enter().ongoing.clone();
    let mut ended = false;
    for one in &ongoing {
        ended |= one.advance();
    }
    if ended {
        enter().ongoing.retain(|one| !one.is_over());
    }
    ended
}

/// Moves messages and activities once, without waiting. Call this only while not holding the state.
pub(crate) fn progress() -> bool {
    let mut state = enter();
    let moved = state.engine.progress();
    let going_on = !state.ongoing.is_empty();
    drop(state);
    if going_on {
        advance_all();
    }
    if !moved && (locks() || ROOM.crowded() || ROOM.shared()) {
        ROOM.make_way();
    }
    moved
}

/// Polls before a short wait becomes a long one.
const SOON: u32 = 2000;
/// The same where others want this rank's cpu; also how often that is looked at.
const SOON_SHARED: u32 = 32;

/// Where ranks share cpus, one that waits for another one moves what that one sends alone for so many rounds, of which
/// each passes the cpu on. What others send on stays in their rings, and they wait when those are full: otherwise, all
/// that they send ahead of the slowest has to be kept. And one that has no credit waits for it as long. A choice.
const ALONE: u32 = 8;

/// Where ranks share cpus, waits for some rounds until a message of so many bytes, no large one, may go to a rank
/// unasked. For one that has to be announced, its receiver would wait until this rank has got a cpu again. (2 cpus of a
/// Xeon, gather of 1 kB on 8 ranks: 5.8 us, and 2.5 with this; of 2 kB on 16 ranks 25 and 8.)
pub(crate) fn until_credit(mut state: Entered, to: usize, bytes: usize) -> Entered {
    for _ in 0..ALONE {
        if !state.engine.crowded() || state.engine.has_credit(to, bytes) {
            break;
        }
        drop(state);
        progress();
        state = enter();
    }
    state
}

/// Whether others want this rank's cpu.
pub(crate) fn shares_cpu() -> bool {
    ROOM.shared()
}

/// Polls for a while without leaving, for what comes soon. `from`: the job's rank that it comes from, when that is
/// known. True when `done` is.
#[inline]
pub(crate) fn soon(
    state: &mut Entered,
    from: Option<usize>,
    mut done: impl FnMut(&mut State) -> bool,
) -> bool {
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
        if round.is_multiple_of(SOON_SHARED) && ROOM.shared() {
            break;
        }
        std::hint::spin_loop();
    }
    false
}

/// Waits until a transfer is complete. `from`: as for `Engine::receive`.
#[inline]
fn until_complete(mut state: Entered, id: TransferId, from: Option<usize>) -> Entered {
    if soon(&mut state, from, |state| state.engine.is_complete(id)) {
        return state;
    }
    drop(state);
    wait_until_from(from.filter(|_| ROOM.crowded()), |state| state.engine.is_complete(id).then_some(()));
    enter()
}

/// Waits for a transfer, and takes it. `from`: as for `Engine::receive`.
#[inline]
pub(crate) fn wait_for(state: Entered, id: TransferId, from: Option<usize>) -> Completion {
    until_complete(state, id, from).engine.take_if_complete(id).unwrap_or(RECEIVED_FROM_NOBODY)
}

/// As `wait_for`, for a receive.
// Inlined always, as `take_receive` is.
#[inline(always)]
pub(crate) fn wait_for_receive(state: Entered, id: TransferId, from: Option<usize>) -> Completion {
    until_complete(state, id, from).engine.take_receive(id).unwrap_or(RECEIVED_FROM_NOBODY)
}

/// Receives a message. `from`: as for `Engine::receive`.
// Inlined always, as `take_receive` is.
#[inline(always)]
pub(crate) fn receive(
    mut state: Entered,
    criteria: Criteria,
    from: Option<usize>,
    buffer: &Buffer,
) -> Completion {
    if let Some(from) = from
        && !state.locked
        && !ROOM.crowded()
        && state.ongoing.is_empty()
        && let Some(completion) = state.engine.receive_unposted(criteria, from, buffer)
    {
        return completion;
    }
    let id = state.engine.receive(criteria, from, buffer);
    wait_for_receive(state, id, from)
}

/// How the launcher hears what this rank waits for.
pub(crate) struct Telling {
    /// A thread that waits is going to sleep; false when nothing is told.
    pub tell: fn(&State) -> bool,
    /// What it waited for has come.
    pub take_back: fn(&State),
}

static TELLING: OnceLock<Telling> = OnceLock::new();

/// The launcher wants to hear what this rank waits for.
pub(crate) fn set_telling(telling: Telling) {
    let _ = TELLING.set(telling);
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
        if let Some(since_ns) = self.patience.ended(&ROOM) {
            self.long_one_ended(state, since_ns);
        }
    }

    #[cold]
    fn long_one_ended(&mut self, state: &State, since_ns: u64) {
        if profile::sees(hook::PROFILE) {
            profile::waited(host::clock::kernel_ns() - since_ns);
        }
        if let Some(telling) = TELLING.get()
            && std::mem::take(&mut self.told)
        {
            (telling.take_back)(state);
        }
    }

    /// This thread is going to sleep: the launcher may want to know what for.
    fn sleeps(&mut self, state: &State) {
        if let Some(telling) = TELLING.get() {
            self.told |= (telling.tell)(state);
        }
    }
}

/// As `wait_until`, but moves nothing where `done` gives something at once.
pub(crate) fn until<T>(mut done: impl FnMut(&mut State) -> Option<T>) -> T {
    if let Some(value) = done(&mut enter()) {
        return value;
    }
    wait_until(done)
}

/// Waits until `done` gives something, moving messages and activities meanwhile. Call this only while not holding the
/// state.
pub(crate) fn wait_until<T>(done: impl FnMut(&mut State) -> Option<T>) -> T {
    wait_until_from(None, done)
}

/// As `wait_until`; what a rank of the job sends is moved alone for some rounds.
fn wait_until_from<T>(from: Option<usize>, mut done: impl FnMut(&mut State) -> Option<T>) -> T {
    let mut waiting = Wait::default();
    let _waiter = locks().then(|| ROOM.waiter());
    let mut rounds = 0u32;
    loop {
        let mut state = enter();
        let moved = state.engine.progress_of(from.filter(|_| rounds < ALONE));
        rounds = rounds.saturating_add(1);
        if let Some(value) = done(&mut state) {
            waiting.ended(&state);
            return value;
        }
        if !state.ongoing.is_empty() {
            drop(state);
            if advance_all() {
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
            let expects_piece = ROOM.crowded() && state.engine.expects_piece();
            drop(state);
            waiting.patience.pause(&ROOM, expects_piece);
            continue;
        }
        let armed = ROOM.arm(true, state.engine.waits_for_room());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_and_changed_through_the_state() {
        static NUMBERS: Guarded<Vec<i32>> = Guarded::new(Vec::new());
        let mut state = enter();
        NUMBERS.of_mut(&mut state).push(7);
        assert_eq!(NUMBERS.of(&state), &[7]);
    }
}
