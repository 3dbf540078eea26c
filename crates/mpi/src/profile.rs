//! Seeing what this rank does: which function it is in, and time in MPI by function (`cellrun --profile`).
//!
//! Off, it costs one predicted branch per call and one per message. On, the engine counts messages one by one; of a
//! function's calls the first ones are timed, then one of `SAMPLED`, which stands for as many. Waiting that takes long,
//! which is what differs from call to call, is always timed.

use crate::abi::values::FUNCTIONS;
use host::clock::{kernel_ns, process_cpu_ns};
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use transport::segment::{NAMED, PhaseTallies, Tallies, Tally, hook};
use transport::{Segment, WaitingRoom};

/// What every call looks at, on one line of the cache.
#[repr(align(64))]
struct Hot {
    /// What is seen: `hook::*`, of the job's header. Nothing before Init.
    hooks: AtomicU32,
    /// What this rank counts in the phase that it is in; null: nothing.
    tallies: AtomicPtr<[Tally; NAMED]>,
    /// Several threads may be in MPI at once.
    threads: AtomicBool,
    /// Where one thread at a time is in MPI, the look-up of a thread's own is saved.
    inside: Inside,
}
// SAFETY: `inside` is used below `MPI_THREAD_MULTIPLE` only, where calls come one after the other.
unsafe impl Sync for Hot {}

static HOT: Hot = Hot {
    hooks: AtomicU32::new(0),
    tallies: AtomicPtr::new(std::ptr::null_mut()),
    threads: AtomicBool::new(true),
    inside: Cell::new((NONE, 0)),
};

/// The function that a thread is in, and what it waited in it, in ns.
type Inside = Cell<(u32, u64)>;

thread_local! {
    static OF_THIS_THREAD: Inside = const { Cell::new((NONE, 0)) };
}

/// This rank's table, where calls and messages are counted.
static TABLE: OnceLock<Tallies> = OnceLock::new();
/// What reading the clock adds to a timed call, in ns.
static CLOCK_NS: AtomicU64 = AtomicU64::new(0);
/// Every call of a function is timed until there were so many.
const ALL_TIMED: u64 = 64;
/// Of those after, one of so many.
const SAMPLED: u64 = 64;
/// No function.
const NONE: u32 = u32::MAX;
/// The level that a program is at until it calls `MPI_Pcontrol` (MPI 5.0, section 15.2.4).
pub(crate) const FIRST_LEVEL: c_int = 1;

#[inline]
fn with_inside<T>(work: impl FnOnce(&Inside) -> T) -> T {
    if HOT.threads.load(Ordering::Relaxed) { OF_THIS_THREAD.with(work) } else { work(&HOT.inside) }
}

const _: () = assert!(FUNCTIONS.len() <= NAMED);

/// The place of a function in `FUNCTIONS`; of `PMPI_X` that of `MPI_X`.
pub(crate) const fn index(name: &str) -> usize {
    let name = name.as_bytes();
    let mut index = 0;
    while index < FUNCTIONS.len() {
        let known = FUNCTIONS[index].as_bytes();
        if known.len() + 1 == name.len() {
            let mut at = 0;
            while at < known.len() && known[at] == name[at + 1] {
                at += 1;
            }
            if at == known.len() {
                return index;
            }
        }
        index += 1;
    }
    panic!("a function that the ABI does not have");
}

/// Sees what the job's header says. `segment` is this process's job.
pub(crate) fn attach(segment: Segment, rank: usize, room: &'static WaitingRoom) {
    let _ = ROOM.set(room);
    let hooks = segment.header().hooks.load(Ordering::Relaxed);
    if hooks & hook::PROFILE != 0
        && let (Some(tallies), Some(names)) = (segment.tallies(rank), segment.names())
    {
        names.give(FUNCTIONS);
        let _ = TABLE.set(tallies);
        let simulated = hooks & hook::COMPUTED != 0;
        CLOCK_NS.store(if simulated { 0 } else { clock_ns() }, Ordering::Relaxed);
    }
    goes_away();
    HOT.hooks.store(hooks, Ordering::Release);
}

/// The least time from one reading of the clock to the next. (The kernel's clock needs no calibration, which ranks that
/// are more than cpus would pay for one after the other.)
fn clock_ns() -> u64 {
    (0..64).map(|_| kernel_ns()).map(|before| kernel_ns() - before).min().unwrap_or(0)
}

/// Where the simulator hears what this rank computes; set by `attach`.
static ROOM: OnceLock<&WaitingRoom> = OnceLock::new();
/// When this rank last left MPI, in ns of its cpu time.
static LEFT_NS: AtomicU64 = AtomicU64::new(0);

/// The simulator hears what the program computed since this rank last left MPI.
#[cold]
fn comes_back() {
    if let Some(room) = ROOM.get() {
        room.computed(process_cpu_ns().saturating_sub(LEFT_NS.load(Ordering::Relaxed)));
    }
}

/// The program computes from now on.
#[cold]
fn goes_away() {
    LEFT_NS.store(process_cpu_ns(), Ordering::Relaxed);
}

/// What a function that is not among those of MPI asks the simulator for.
pub(crate) fn beside<T>(ask: impl FnOnce() -> T) -> T {
    if !sees(hook::COMPUTED) || inside().is_some() {
        return ask();
    }
    comes_back();
    let answer = ask();
    goes_away();
    answer
}

/// The time in ns: simulated, where a simulator carries the messages.
fn now_ns() -> u64 {
    match ROOM.get() {
        Some(room) if sees(hook::COMPUTED) => room.simulated_ns(),
        _ => kernel_ns(),
    }
}

/// Whether one of `hook::*` is on.
#[inline]
pub(crate) fn sees(hook: u32) -> bool {
    HOT.hooks.load(Ordering::Relaxed) & hook != 0
}

/// A function begins. What it gives goes to `leave`.
#[inline]
pub(crate) fn enter(function: usize) -> u64 {
    if HOT.hooks.load(Ordering::Relaxed) == 0 { 0 } else { begin(function) }
}

/// A function ends.
#[inline]
pub(crate) fn leave(function: usize, entered: u64) {
    if entered != 0 {
        end(function, entered);
    }
}

/// Entered, not timed.
const UNTIMED: u64 = 1;

/// Adds, and gives what was there before.
#[inline]
fn add(number: &AtomicU64, more: u64) -> u64 {
    if HOT.threads.load(Ordering::Relaxed) {
        // Threads may be in the same function at once.
        return number.fetch_add(more, Ordering::Relaxed);
    }
    let before = number.load(Ordering::Relaxed);
    number.store(before + more, Ordering::Relaxed);
    before
}

/// A function's tally of the phase that this rank is in.
#[inline]
fn tally(function: usize) -> Option<&'static Tally> {
    // SAFETY: null, or a phase's tallies, which are never unmapped.
    unsafe { HOT.tallies.load(Ordering::Relaxed).as_ref() }.map(|tallies| &tallies[function])
}

#[inline(never)]
fn begin(function: usize) -> u64 {
    // What a program's own functions call, called by MPI, belongs to the call that called them.
    let outermost = with_inside(|inside| {
        let outermost = inside.get().0 == NONE;
        if outermost {
            inside.set((function as u32, 0));
        }
        outermost
    });
    if !outermost {
        return 0;
    }
    let simulated = sees(hook::COMPUTED);
    if simulated {
        comes_back();
    }
    let Some(tally) = tally(function) else { return UNTIMED };
    let calls = add(&tally.times, 1);
    if simulated || calls < ALL_TIMED || calls.is_multiple_of(SAMPLED) {
        now_ns().max(UNTIMED + 1)
    } else {
        UNTIMED
    }
}

#[inline(never)]
fn end(function: usize, entered: u64) {
    let (_, waited) = with_inside(|inside| inside.replace((NONE, 0)));
    let simulated = sees(hook::COMPUTED);
    if simulated {
        goes_away();
    }
    if entered == UNTIMED && waited == 0 {
        return;
    }
    let Some(tally) = tally(function) else { return };
    let mut ns = waited;
    if entered != UNTIMED {
        let all_timed = simulated || tally.times.load(Ordering::Relaxed) <= ALL_TIMED;
        let stands_for = if all_timed { 1 } else { SAMPLED };
        let outside = waited + CLOCK_NS.load(Ordering::Relaxed);
        ns += now_ns().saturating_sub(entered).saturating_sub(outside) * stands_for;
    }
    add(&tally.amount, ns);
}

/// This thread waited long in the function that it is in.
#[cold]
pub(crate) fn waited(ns: u64) {
    with_inside(|inside| {
        let (function, before) = inside.get();
        inside.set((function, before + ns));
    });
}

/// The function that this thread is in.
pub(crate) fn inside() -> Option<&'static str> {
    FUNCTIONS.get(with_inside(Cell::get).0 as usize).copied()
}

/// Whether several threads may be in MPI at once from now on.
pub(crate) fn set_threads(threads: bool) {
    HOT.threads.store(threads, Ordering::Relaxed);
}

/// Counts calls from now on in the phase of a level; at level 0, none. Gives where to count messages; nothing when the
/// job is not profiled.
pub(crate) fn begin_phase(level: c_int) -> Option<Option<PhaseTallies>> {
    let phase = (level != 0).then_some(TABLE.get()?).map(|table| table.begin(level));
    let named = phase.map_or(std::ptr::null(), |phase| std::ptr::from_ref(phase.all_named()));
    HOT.tallies.store(named.cast_mut(), Ordering::Relaxed);
    Some(phase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_their_profiling_name() {
        const SEND: usize = index("PMPI_Send");
        assert_eq!(FUNCTIONS[SEND], "MPI_Send");
        assert_eq!(FUNCTIONS[index("PMPI_Win_sync")], "MPI_Win_sync");
    }
}
