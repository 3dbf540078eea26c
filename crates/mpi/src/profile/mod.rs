//! Seeing what ranks do: who sends how much to whom, time in MPI by function (`cellrun --profile`), and which call a rank
//! waits in (`cellrun --stuck-after`).
//!
//! Off, it costs one predicted branch per call and one per message. On, messages are counted one by one; of a function's
//! calls the first ones are timed, then one of `SAMPLED`, which stands for as many. Waiting that takes long, which is what
//! differs from call to call, is always timed.

pub mod pattern;
pub mod stuck;
pub mod table;

use crate::abi::values::FUNCTIONS;
use crate::segment::{Segment, hook};
use host::clock::kernel_ns;
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use table::{Table, Tally, class};

/// What is seen: `hook::*`, of the job's header. Nothing outside of Init and Finalize.
static HOOKS: AtomicU32 = AtomicU32::new(0);
/// This rank's table, where calls and messages are counted.
static TABLE: OnceLock<Table<'static>> = OnceLock::new();
/// The phase.
static PHASE: AtomicUsize = AtomicUsize::new(0);
/// What reading the clock adds to a timed call, in ns.
static CLOCK_NS: AtomicU64 = AtomicU64::new(0);
/// `MPI_Pcontrol(0)`: nothing is counted.
const OFF: usize = usize::MAX;
/// Every call of a function is timed until there were so many.
const ALL_TIMED: u64 = 64;
/// Of those after, one of so many.
const SAMPLED: u64 = 16;
/// No function.
const NONE: u32 = u32::MAX;
/// The level that a program is at until it calls `MPI_Pcontrol` (MPI 5.0, section 15.2.4).
const FIRST_LEVEL: c_int = 1;

thread_local! {
    /// The function that this thread is in, and what it waited in it.
    static INSIDE: Cell<(u32, u64)> = const { Cell::new((NONE, 0)) };
}

/// The place of a function in `FUNCTIONS`; of `PMPI_X` that of `MPI_X`.
pub const fn index(name: &str) -> usize {
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
pub fn attach(segment: &'static Segment, rank: usize) {
    let hooks = segment.header().hooks.load(Ordering::Relaxed);
    if hooks & hook::PROFILE != 0
        && let Some(table) = Table::of(segment, rank)
    {
        PHASE.store(table.begin(FIRST_LEVEL), Ordering::Relaxed);
        let _ = TABLE.set(table);
        CLOCK_NS.store(clock_ns(), Ordering::Relaxed);
    }
    HOOKS.store(hooks, Ordering::Release);
}

/// The least time from one reading of the clock to the next. (The kernel's clock needs no calibration, which ranks that are more
/// than cpus would pay for one after the other.)
fn clock_ns() -> u64 {
    (0..64).map(|_| kernel_ns()).map(|before| kernel_ns() - before).min().unwrap_or(0)
}

/// Whether one of `hook::*` is on.
#[inline]
pub fn sees(hook: u32) -> bool {
    HOOKS.load(Ordering::Relaxed) & hook != 0
}

/// A function begins. What it gives goes to `leave`.
#[inline]
pub fn enter(function: usize) -> u64 {
    if HOOKS.load(Ordering::Relaxed) == 0 { 0 } else { begin(function) }
}

/// A function ends.
#[inline]
pub fn leave(function: usize, entered: u64) {
    if entered != 0 {
        end(function, entered);
    }
}

/// Entered, not timed.
const UNTIMED: u64 = 1;

fn add(tally: &Tally, times: u64, amount: u64) {
    // Threads may be in the same function at once.
    if times != 0 {
        tally.times.fetch_add(times, Ordering::Relaxed);
    }
    if amount != 0 {
        tally.amount.fetch_add(amount, Ordering::Relaxed);
    }
}

#[inline(never)]
fn begin(function: usize) -> u64 {
    // What a program's own functions call, called by MPI, belongs to the call that called them.
    if INSIDE.get().0 != NONE {
        return 0;
    }
    INSIDE.set((function as u32, 0));
    match (TABLE.get(), PHASE.load(Ordering::Relaxed)) {
        (Some(table), phase) if phase != OFF => {
            let calls = table.calls(phase, function).times.fetch_add(1, Ordering::Relaxed);
            if calls < ALL_TIMED || calls % SAMPLED == 0 { kernel_ns().max(UNTIMED + 1) } else { UNTIMED }
        }
        _ => UNTIMED,
    }
}

#[inline(never)]
fn end(function: usize, entered: u64) {
    let (_, waited) = INSIDE.replace((NONE, 0));
    let (Some(table), phase) = (TABLE.get(), PHASE.load(Ordering::Relaxed)) else { return };
    if phase == OFF || entered == UNTIMED && waited == 0 {
        return;
    }
    let tally = table.calls(phase, function);
    let mut ns = waited;
    if entered != UNTIMED {
        let stands_for = if tally.times.load(Ordering::Relaxed) <= ALL_TIMED { 1 } else { SAMPLED };
        let outside = waited + CLOCK_NS.load(Ordering::Relaxed);
        ns += kernel_ns().saturating_sub(entered).saturating_sub(outside) * stands_for;
    }
    add(tally, 0, ns);
}

/// This thread waited long in the function that it is in.
#[cold]
pub fn waited(ns: u64) {
    let (function, before) = INSIDE.get();
    INSIDE.set((function, before + ns));
}

/// A message was sent to a rank of the job.
#[inline]
pub fn sent(to: usize, bytes: usize) {
    if HOOKS.load(Ordering::Relaxed) & hook::PROFILE != 0 {
        count(to, bytes);
    }
}

#[inline(never)]
fn count(to: usize, bytes: usize) {
    let phase = PHASE.load(Ordering::Relaxed);
    if let Some(table) = TABLE.get()
        && phase != OFF
    {
        let tally = table.sent(phase, to, class(bytes));
        // Only who is inside sends.
        tally.times.store(tally.times.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        tally.amount.store(tally.amount.load(Ordering::Relaxed) + bytes as u64, Ordering::Relaxed);
    }
}

/// The function that this thread is in.
fn inside() -> Option<&'static str> {
    FUNCTIONS.get(INSIDE.get().0 as usize).copied()
}

/// MPI 5.0, section 15.2.4: 0 counts nothing from now on, any other level begins a phase or goes on with it.
#[unsafe(no_mangle)]
pub extern "C" fn cellweave_pcontrol(level: c_int) {
    if let Some(table) = TABLE.get() {
        PHASE.store(if level == 0 { OFF } else { table.begin(level) }, Ordering::Relaxed);
    }
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
