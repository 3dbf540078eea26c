//! Waiting: spin, then yield, then sleep; and waking who sleeps.
//!
//! With a cpu for every rank, spinning finds a message soonest. With more ranks than cpus, whoever spins keeps the sender from
//! running, so that a rank yields at once. Who has waited long sleeps in the kernel, on the word `asleep` of its page.
//!
//! A sender pays no fence for the sleepers: it writes into the ring, then reads the word. Who goes to sleep sets the word, has
//! the kernel make all ranks pass a barrier (`membarrier`), and looks into its rings once more: either it sees the message, or the
//! sender sees the word. Where the kernel has no such barrier, sleeps are short.

use crate::profile;
use crate::runtime::State;
use crate::segment::{Segment, hook};
use std::ffi::{c_int, c_long};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering, fence};
use std::sync::{Arc, OnceLock};

/// Polls without a pause in between: a message from a rank that is ready comes within these.
const EAGER_POLLS: u32 = 256;
/// Polls before the first yield, when there is a cpu for every rank.
const POLLS: u32 = 4096;
/// A wait of so many ns ends in sleep: with a cpu for every rank, and without.
const SLEEP_AFTER_NS: u64 = 20_000_000;
const SLEEP_AFTER_CROWDED_NS: u64 = 200_000;
/// A yield that takes so many ns gave the cpu to somebody else.
const YIELDED_NS: u64 = 20_000;
/// The longest sleep: then the job may be over, or cpus may have changed.
const LONGEST_SLEEP_NS: i64 = 100_000_000;
/// The longest sleep without the kernel's barrier.
const SHORT_SLEEP_NS: i64 = 1_000_000;
/// Whether ranks are more than cpus is looked at again after so many ms of waiting.
const RECONSIDER_MS: u32 = 100;

/// There are more ranks than cpus for them.
static CROWDED: AtomicBool = AtomicBool::new(false);
/// The kernel's barrier reaches this process.
static BARRIER: AtomicBool = AtomicBool::new(false);
/// Threads of this process that wait.
static WAITERS: AtomicU32 = AtomicU32::new(0);
/// Threads of this process that sleep.
static SLEEPERS: AtomicU32 = AtomicU32::new(0);
/// Those of them that wait for what other threads of this process do, too.
static LISTENERS: AtomicU32 = AtomicU32::new(0);
/// The word that this process sleeps on.
static WORD: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());
/// The word that says that the job is over.
static DEAD: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());
/// The job, and this process's rank.
static JOB: OnceLock<(Arc<Segment>, usize)> = OnceLock::new();
/// When cpus were last looked at, in ms.
static CONSIDERED_MS: AtomicU32 = AtomicU32::new(0);

// linux/membarrier.h
const MEMBARRIER_GLOBAL_EXPEDITED: c_int = 1 << 1;
const MEMBARRIER_REGISTER_GLOBAL_EXPEDITED: c_int = 1 << 2;

fn membarrier(command: c_int) -> bool {
    // SAFETY: touches no memory.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

fn futex(word: &AtomicU32, operation: c_int, value: u32, timeout: Option<&libc::timespec>) -> c_long {
    // SAFETY: the word lives, and the kernel only reads it and the timeout.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            operation,
            value,
            timeout.map_or(std::ptr::null(), |timeout| timeout as *const _),
        )
    }
}

/// Wakes whoever sleeps on a rank's word.
#[cold]
pub fn wake(word: &AtomicU32) {
    if word.swap(0, Ordering::SeqCst) != 0 {
        futex(word, libc::FUTEX_WAKE, c_int::MAX as u32, None);
    }
}

/// Wakes all ranks of a job, for example because it is over.
pub fn wake_all(segment: &Segment) {
    for rank in 0..segment.ranks() {
        let word = &segment.rank(rank).asleep;
        word.store(0, Ordering::SeqCst);
        futex(word, libc::FUTEX_WAKE, c_int::MAX as u32, None);
    }
}

/// Wakes the threads of this process that sleep: something happened that they may wait for.
#[inline]
pub fn wake_own() {
    if LISTENERS.load(Ordering::Relaxed) != 0 {
        let word = WORD.load(Ordering::Relaxed);
        if !word.is_null() {
            // SAFETY: the word of this rank's page, which is never unmapped.
            wake(unsafe { &*word });
        }
    }
}

/// Prepares this process for sleeping, and for waking others.
pub fn prepare(segment: &Arc<Segment>, rank: usize) {
    WORD.store((&raw const segment.rank(rank).asleep).cast_mut(), Ordering::Relaxed);
    DEAD.store((&raw const segment.header().dead).cast_mut(), Ordering::Relaxed);
    BARRIER.store(membarrier(MEMBARRIER_REGISTER_GLOBAL_EXPEDITED), Ordering::Relaxed);
    let (segment, rank) = JOB.get_or_init(|| (segment.clone(), rank));
    for (place, word) in segment.rank(*rank).affinity.iter().zip(cpus_of(segment, *rank)) {
        place.store(word, Ordering::Relaxed);
    }
    consider(segment, *rank);
}

/// A set of cpus, a bit each.
type Cpus = [u64; 16];

/// The cpus that a rank may use now; none when that isn't known.
fn cpus_of(segment: &Segment, rank: usize) -> Cpus {
    let mut cpus: Cpus = [0; 16];
    let pid = segment.rank(rank).pid.load(Ordering::Relaxed) as libc::pid_t;
    if pid != 0 {
        // SAFETY: the kernel writes at most as many bytes as it is told. (More cpus than fit: all words stay 0.)
        unsafe { libc::sched_getaffinity(pid, size_of_val(&cpus), cpus.as_mut_ptr().cast()) };
    }
    cpus
}

/// Looks whether there are more ranks than cpus.
fn consider(segment: &Segment, rank: usize) {
    let all: Vec<Cpus> = (0..segment.ranks()).map(|rank| cpus_of(segment, rank)).collect();
    let allowed = segment.header().cpus as usize;
    CROWDED.store(is_crowded(&all, rank, allowed), Ordering::Relaxed);
}

/// A rank needs its share of each cpu that it may use; crowded is who may use cpus of which more is needed than there is, and everybody
/// when there are more ranks than cpus that the job is allowed.
fn is_crowded(all: &[Cpus], rank: usize, allowed: usize) -> bool {
    let count = |cpus: &Cpus| cpus.iter().map(|word| word.count_ones()).sum::<u32>();
    let common = |a: &Cpus, b: &Cpus| a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum::<u32>();
    let own = &all[rank];
    let needed: f64 = (all.iter())
        .filter(|other| count(other) > 0)
        .map(|other| f64::from(common(own, other)) / f64::from(count(other)))
        .sum();
    needed > f64::from(count(own)) + 0.01 || (allowed > 0 && all.len() > allowed)
}

/// Looks again, when it's time.
fn reconsider(now_ns: u64) {
    let now_ms = (now_ns / 1_000_000) as u32;
    if now_ms.wrapping_sub(CONSIDERED_MS.load(Ordering::Relaxed)) > RECONSIDER_MS {
        CONSIDERED_MS.store(now_ms, Ordering::Relaxed);
        if let Some((segment, rank)) = JOB.get() {
            consider(segment, *rank);
        }
    }
}

/// Whether there are more ranks than cpus, or several threads of this process wait: one of them moves the messages of all, and the
/// others only keep it from it.
#[inline]
pub fn crowded() -> bool {
    CROWDED.load(Ordering::Relaxed) || WAITERS.load(Ordering::Relaxed) > 1
}

/// A program that tests in a loop finds nothing: who could send what it tests for may need this cpu.
pub fn make_way() {
    // SAFETY: takes nothing.
    unsafe { libc::sched_yield() };
    let now = host::clock::kernel_ns();
    reconsider(now);
    leave_when_over();
}

/// A thread waits, as long as this lives.
pub struct Waiter(());

/// Counts this thread among those that wait.
pub fn waiter() -> Waiter {
    WAITERS.fetch_add(1, Ordering::Relaxed);
    Waiter(())
}

impl Drop for Waiter {
    fn drop(&mut self) {
        WAITERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One wait, from the first poll that found nothing.
pub struct Waiting {
    polls: u32,
    since_ns: u64,
    /// Ready to sleep: the caller arms, looks once more, and sleeps.
    pub tired: bool,
    /// What is waited for was told to the launcher.
    told: bool,
}

impl Default for Waiting {
    #[inline]
    fn default() -> Self {
        Self { polls: 0, since_ns: 0, tired: false, told: false }
    }
}

impl Waiting {
    /// Something moved, or the wait is over: patience is new.
    #[inline]
    pub fn ended(&mut self, state: &State) {
        if self.since_ns != 0 {
            self.long_one_ended(state);
        }
        *self = Self::default();
    }

    #[cold]
    fn long_one_ended(&mut self, state: &State) {
        if profile::sees(hook::PROFILE) {
            profile::waited(host::clock::kernel_ns() - self.since_ns);
        }
        if self.told {
            profile::stuck::take_back(state);
        }
    }

    /// This thread is going to sleep: the launcher may want to know what for.
    pub fn sleeps(&mut self, state: &State) {
        if profile::sees(hook::STUCK) {
            self.told |= profile::stuck::tell(state);
        }
    }

    /// Nothing moved: passes some time, little at first. Not to be called by who is inside.
    #[inline]
    pub fn pause(&mut self) {
        self.polls += 1;
        if !crowded() && self.polls < POLLS {
            if self.polls > EAGER_POLLS {
                std::hint::spin_loop();
            }
            return;
        }
        self.pass();
    }

    #[cold]
    fn pass(&mut self) {
        let before = host::clock::kernel_ns();
        if self.since_ns == 0 {
            self.since_ns = before;
        }
        // SAFETY: takes nothing.
        unsafe { libc::sched_yield() };
        let now = host::clock::kernel_ns();
        let patience = if crowded() || now - before > YIELDED_NS {
            SLEEP_AFTER_CROWDED_NS
        } else {
            // Spin again for a while: a yield costs more than a poll.
            self.polls = EAGER_POLLS;
            SLEEP_AFTER_NS
        };
        self.tired = now - self.since_ns > patience;
        reconsider(now);
        leave_when_over();
    }
}

/// Ends this process when the job is over. The launcher says why.
fn leave_when_over() {
    let dead = DEAD.load(Ordering::Relaxed);
    // SAFETY: null, or the word of a segment that is never unmapped.
    if unsafe { dead.as_ref() }.is_some_and(|dead| dead.load(Ordering::Acquire) != 0) {
        // SAFETY: ends the process without running anything of it.
        unsafe { libc::_exit(1) };
    }
}

/// Waits whether the job ends within a time; then so does this process.
pub fn for_end(patience_ns: u64) {
    let give_up_ns = host::clock::kernel_ns() + patience_ns;
    while host::clock::kernel_ns() < give_up_ns {
        leave_when_over();
        host::clock::sleep_ns(1_000_000);
    }
}

/// A thread that is about to sleep. From now on, a sender that writes wakes it.
pub struct Armed<'a> {
    segment: &'a Segment,
    rank: usize,
    listens: bool,
}

/// Says that this rank is going to sleep. Look once more for what you wait for, then `sleep`. `listens`: other threads of this
/// process wake it, too (`wake_own`).
pub fn arm(segment: &Segment, rank: usize, listens: bool) -> Armed<'_> {
    SLEEPERS.fetch_add(1, Ordering::SeqCst);
    LISTENERS.fetch_add(u32::from(listens), Ordering::SeqCst);
    segment.rank(rank).asleep.store(1, Ordering::SeqCst);
    if !membarrier(MEMBARRIER_GLOBAL_EXPEDITED) {
        BARRIER.store(false, Ordering::Relaxed);
    }
    fence(Ordering::SeqCst);
    Armed { segment, rank, listens }
}

impl Armed<'_> {
    /// Sleeps until woken, or for a moment.
    pub fn sleep(self) {
        let page = self.segment.rank(self.rank);
        let longest = if BARRIER.load(Ordering::Relaxed) { LONGEST_SLEEP_NS } else { SHORT_SLEEP_NS };
        let timeout = libc::timespec { tv_sec: 0, tv_nsec: longest };
        futex(&page.asleep, libc::FUTEX_WAIT, 1, Some(&timeout));
        leave_when_over();
        reconsider(host::clock::kernel_ns());
    }
}

impl Drop for Armed<'_> {
    fn drop(&mut self) {
        // Another thread of this process may sleep on the word: it is not lost, but woken to set it again.
        let word = &self.segment.rank(self.rank).asleep;
        LISTENERS.fetch_sub(u32::from(self.listens), Ordering::SeqCst);
        let others = SLEEPERS.fetch_sub(1, Ordering::SeqCst) > 1;
        word.store(0, Ordering::SeqCst);
        if others {
            futex(word, libc::FUTEX_WAKE, c_int::MAX as u32, None);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_sleeper_wakes_when_it_is_told() {
        let (_fd, segment) = Segment::create(3, 3).unwrap();
        let word = &segment.rank(0).asleep;
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| arm(&segment, 0, true).sleep());
            while !sleeper.is_finished() {
                wake(word);
                std::thread::yield_now();
            }
        });
        assert_eq!(word.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn crowded_are_ranks_that_share_too_few_cpus() {
        let cpus = |first: u64| -> Cpus { std::array::from_fn(|word| if word == 0 { first } else { 0 }) };
        let one_each = [1, 2, 4].map(cpus);
        assert!((0..3).all(|rank| !is_crowded(&one_each, rank, 3)));
        let two_on_one = [1, 1, 4].map(cpus);
        assert!(
            is_crowded(&two_on_one, 0, 3) && is_crowded(&two_on_one, 1, 3) && !is_crowded(&two_on_one, 2, 3)
        );
        assert!(!is_crowded(&[7, 7, 7].map(cpus), 0, 3));
        assert!(is_crowded(&[3, 3, 3].map(cpus), 0, 0));
        assert!(is_crowded(&[7, 7, 7].map(cpus), 0, 2), "a quota allows fewer");
        assert!(!is_crowded(&[0, 1].map(cpus), 1, 2), "a rank that isn't there yet needs nothing");
    }
}
