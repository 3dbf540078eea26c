//! Waiting: spin, then yield, then sleep; and waking sleepers.
//!
//! With a cpu for every rank, spinning finds a message soonest. With more ranks than cpus, a spinning rank keeps the
//! sender from running, so it yields at once. After a long wait a rank sleeps in the kernel, on the word `asleep` of
//! its page.
//!
//! Sleepers cost a sender no fence: it writes into the ring, then reads the word. A rank that goes to sleep sets the
//! word, makes the kernel run a barrier on all ranks (`membarrier`), and looks into its rings once more. So either it
//! sees the message, or the sender sees the word. Where the kernel has no such barrier, sleeps are short.

use crate::abort::Abort;
use crate::carried::{self, CarriedAnswer, CarriedCall};
use crate::segment::Segment;
use host::futex::{self, Reach};
use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};

/// Polls without a pause between them; a message from a rank that is ready comes within these.
const EAGER_POLLS: u32 = 256;
/// Polls before the first yield, when there is a cpu for every rank.
const POLLS: u32 = 4096;
/// After so many ns a waiting rank sleeps: with a cpu for every rank, and without.
const SLEEP_AFTER_NS: u64 = 20_000_000;
const SLEEP_AFTER_CROWDED_NS: u64 = 200_000;
/// A yield that takes so many ns gave the cpu to another thread.
const YIELDED_NS: u64 = 20_000;
/// The longest sleep: then the job may be over, or cpus may have changed.
const LONGEST_SLEEP_NS: u64 = 100_000_000;
/// The longest sleep without the kernel's barrier.
const SHORT_SLEEP_NS: u64 = 1_000_000;
/// After so many ms of waiting, ranks and cpus are counted again.
const RECONSIDER_MS: u32 = 100;

/// Where the threads of one rank wait, and where others wake them. All threads of the rank share it, also those
/// without the engine.
pub struct WaitingRoom {
    /// What to do when the job is over.
    abort: &'static dyn Abort,
    /// The job, and the rank; nothing before `open`.
    job: OnceLock<(Segment, usize)>,
    /// There are more ranks than cpus for them.
    crowded: AtomicBool,
    /// The kernel's barrier reaches this process.
    barrier: AtomicBool,
    /// Threads of this rank that wait.
    waiters: AtomicU32,
    /// Threads of this rank that sleep.
    sleepers: AtomicU32,
    /// Those of them that wait for what other threads of this rank do, too.
    listeners: AtomicU32,
    /// When cpus were last looked at, in ms.
    considered_ms: AtomicU32,
    /// Of a rank whose messages a simulator carries: when it went on, in ns; how long it has computed since the start;
    /// and that it asks for nothing more.
    went_on_ns: AtomicU64,
    computed_ns: AtomicU64,
    silent: AtomicBool,
}

// linux/membarrier.h
const MEMBARRIER_GLOBAL_EXPEDITED: c_int = 1 << 1;
const MEMBARRIER_REGISTER_GLOBAL_EXPEDITED: c_int = 1 << 2;

fn membarrier(command: c_int) -> bool {
    // Miri has no such call; sleeps are short then.
    if cfg!(miri) {
        return false;
    }
    // SAFETY: touches no memory.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Wakes the threads that sleep on a rank's word.
#[cold]
pub fn wake(word: &AtomicU32) {
    if word.swap(0, Ordering::SeqCst) != 0 {
        futex::wake(word, u32::MAX, Reach::Shared);
    }
}

/// Tells every rank that the job is over, and who ended it: a rank, or the process that started the job.
pub fn end(segment: &Segment, by: Option<usize>) {
    segment.end(by);
    for rank in 0..segment.ranks() {
        let word = &segment.rank(rank).asleep;
        word.store(0, Ordering::SeqCst);
        futex::wake(word, u32::MAX, Reach::Shared);
    }
}

/// A set of cpus, a bit each.
type Cpus = [u64; 16];

/// The cpus that a rank may use now; none when they are not known.
fn cpus_of(segment: &Segment, rank: usize) -> Cpus {
    let mut cpus: Cpus = [0; 16];
    let pid = segment.rank(rank).pid.load(Ordering::Relaxed) as libc::pid_t;
    if pid != 0 {
        // SAFETY: the kernel writes at most as many bytes as it is told. (More cpus than fit: all words stay 0.)
        unsafe { libc::sched_getaffinity(pid, size_of_val(&cpus), cpus.as_mut_ptr().cast()) };
    }
    cpus
}

/// A rank needs an equal share of each cpu that it may use. It is crowded when the shares of one of its cpus add up to
/// more than that cpu. All ranks are crowded when there are more of them than cpus for the job.
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

impl WaitingRoom {
    /// The room of a rank that has no job yet.
    pub const fn new(abort: &'static dyn Abort) -> Self {
        Self {
            abort,
            job: OnceLock::new(),
            crowded: AtomicBool::new(false),
            barrier: AtomicBool::new(false),
            waiters: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
            listeners: AtomicU32::new(0),
            considered_ms: AtomicU32::new(0),
            went_on_ns: AtomicU64::new(0),
            computed_ns: AtomicU64::new(0),
            silent: AtomicBool::new(false),
        }
    }

    /// Prepares a rank's threads for sleeping, and for waking others.
    pub(crate) fn open(&self, segment: &Segment, rank: usize) {
        self.barrier.store(membarrier(MEMBARRIER_REGISTER_GLOBAL_EXPEDITED), Ordering::Relaxed);
        let (segment, rank) = self.job.get_or_init(|| (*segment, rank));
        for (place, word) in segment.rank(*rank).affinity.iter().zip(cpus_of(segment, *rank)) {
            place.store(word, Ordering::Relaxed);
        }
        self.consider(segment, *rank);
    }

    /// What to do when the job is over.
    pub(crate) fn abort(&self) -> &'static dyn Abort {
        self.abort
    }

    /// Wakes the threads of this rank that sleep: something happened that they may wait for.
    #[inline]
    pub fn wake_own(&self) {
        if self.listeners.load(Ordering::Relaxed) != 0
            && let Some((segment, rank)) = self.job.get()
        {
            wake(&segment.rank(*rank).asleep);
        }
    }

    /// Wakes the threads of this rank that sleep, whatever they wait for.
    pub fn wake_sleepers(&self) {
        if let Some((segment, rank)) = self.job.get() {
            wake(&segment.rank(*rank).asleep);
        }
    }

    /// Finds out whether there are more ranks than cpus.
    fn consider(&self, segment: &Segment, rank: usize) {
        let all: Vec<Cpus> = (0..segment.ranks()).map(|rank| cpus_of(segment, rank)).collect();
        let allowed = segment.header().cpus as usize;
        // A rank whose messages are carried asks the simulator at once: polling finds nothing.
        let crowded = segment.is_carried() || is_crowded(&all, rank, allowed);
        self.crowded.store(crowded, Ordering::Relaxed);
    }

    /// Asks the simulator that carries this rank's messages; nothing when none does.
    #[cold]
    pub fn ask(&self, ask: &CarriedCall) -> Option<CarriedAnswer> {
        let (segment, rank) = self.job.get().filter(|(segment, _)| segment.is_carried())?;
        if self.silent.load(Ordering::Relaxed) {
            return Some(CarriedAnswer::News(0));
        }
        let since_ns = self.went_on_ns.load(Ordering::Relaxed);
        if since_ns != 0 {
            self.computed_ns.fetch_add(host::clock::kernel_ns() - since_ns, Ordering::Relaxed);
        }
        let answer = carried::ask(segment, *rank, ask, || self.leave_when_over());
        self.went_on_ns.store(host::clock::kernel_ns(), Ordering::Relaxed);
        if matches!(ask, CarriedCall::End { .. }) || answer == CarriedAnswer::Deadlock {
            self.silent.store(true, Ordering::Relaxed);
        }
        Some(answer)
    }

    /// Of a rank whose messages a simulator carries: ns of this computer that it has spent outside of MPI.
    pub fn computed_ns(&self) -> u64 {
        self.computed_ns.load(Ordering::Relaxed)
    }

    /// Counts again, when it is time.
    fn reconsider(&self, now_ns: u64) {
        let now_ms = (now_ns / 1_000_000) as u32;
        if now_ms.wrapping_sub(self.considered_ms.load(Ordering::Relaxed)) > RECONSIDER_MS {
            self.considered_ms.store(now_ms, Ordering::Relaxed);
            if let Some((segment, rank)) = self.job.get() {
                self.consider(segment, *rank);
            }
        }
    }

    /// Whether there are more ranks than cpus, or several threads of this rank wait. One thread then moves the messages
    /// of all, and the others would only disturb it.
    #[inline]
    pub fn crowded(&self) -> bool {
        self.crowded.load(Ordering::Relaxed) || self.waiters.load(Ordering::Relaxed) > 1
    }

    /// For a program that tests in a loop and finds nothing: yields, because the sender may need this cpu.
    pub fn make_way(&self) {
        // SAFETY: takes nothing.
        unsafe { libc::sched_yield() };
        self.reconsider(host::clock::kernel_ns());
        self.leave_when_over();
    }

    /// Counts this thread among those that wait.
    pub fn waiter(&self) -> Waiter<'_> {
        self.waiters.fetch_add(1, Ordering::Relaxed);
        Waiter(self)
    }

    /// Leaves when the job is over.
    fn leave_when_over(&self) {
        if self.job.get().is_some_and(|(segment, _)| segment.header().dead.load(Ordering::Acquire) != 0) {
            self.abort.leave();
        }
    }

    /// Waits for a time; if the job ends meanwhile, this rank leaves.
    pub(crate) fn wait_for_end(&self, patience_ns: u64) {
        let give_up_ns = host::clock::kernel_ns() + patience_ns;
        while host::clock::kernel_ns() < give_up_ns {
            self.leave_when_over();
            host::clock::sleep_ns(1_000_000);
        }
    }

    /// Says that a thread of this rank is going to sleep. Look once more for what you wait for, then `sleep`.
    /// `listens`: other threads of this rank wake it, too (`wake_own`).
    ///
    /// # Panics
    /// The rank has no job.
    pub fn arm(&self, listens: bool) -> Armed<'_> {
        let (segment, rank) = self.job.get().expect("a rank of a job");
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        self.listeners.fetch_add(u32::from(listens), Ordering::SeqCst);
        let word = &segment.rank(*rank).asleep;
        word.store(1, Ordering::SeqCst);
        if !membarrier(MEMBARRIER_GLOBAL_EXPEDITED) {
            self.barrier.store(false, Ordering::Relaxed);
        }
        fence(Ordering::SeqCst);
        Armed { room: self, word, listens }
    }
}

/// A thread waits, as long as this lives.
pub struct Waiter<'a>(&'a WaitingRoom);

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.waiters.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One wait, from the first poll that found nothing.
pub struct Waiting {
    polls: u32,
    /// 0: no clock was read yet.
    since_ns: u64,
    /// Ready to sleep: the caller arms, looks once more, and sleeps.
    pub tired: bool,
}

impl Default for Waiting {
    #[inline]
    fn default() -> Self {
        Self { polls: 0, since_ns: 0, tired: false }
    }
}

impl Waiting {
    /// Something moved, or the wait is over: patience is new. Of a long wait, when it began (`host::clock::kernel_ns`).
    #[inline]
    pub fn ended(&mut self) -> Option<u64> {
        let since_ns = self.since_ns;
        *self = Self::default();
        (since_ns != 0).then_some(since_ns)
    }

    /// Nothing moved: passes some time, little at first. Call this only while no thread waits for a lock that this
    /// thread holds.
    #[inline]
    pub fn pause(&mut self, room: &WaitingRoom) {
        self.polls += 1;
        if !room.crowded() && self.polls < POLLS {
            if self.polls > EAGER_POLLS {
                std::hint::spin_loop();
            }
            return;
        }
        self.pass(room);
    }

    #[cold]
    fn pass(&mut self, room: &WaitingRoom) {
        if let Some(answer) = room.ask(&CarriedCall::Wait) {
            // Then the launcher hears what this rank waits for, and says so.
            self.tired = answer == CarriedAnswer::Deadlock;
            return;
        }
        let before = host::clock::kernel_ns();
        if self.since_ns == 0 {
            self.since_ns = before;
        }
        // SAFETY: takes nothing.
        unsafe { libc::sched_yield() };
        let now = host::clock::kernel_ns();
        let patience = if room.crowded() || now - before > YIELDED_NS {
            SLEEP_AFTER_CROWDED_NS
        } else {
            // Spin again for a while: a yield costs more than a poll.
            self.polls = EAGER_POLLS;
            SLEEP_AFTER_NS
        };
        self.tired = now - self.since_ns > patience;
        room.reconsider(now);
        room.leave_when_over();
    }
}

/// A thread that is about to sleep. From now on, a sender that writes wakes it.
pub struct Armed<'a> {
    room: &'a WaitingRoom,
    word: &'static AtomicU32,
    listens: bool,
}

impl Armed<'_> {
    /// Sleeps until woken, or for a moment.
    pub fn sleep(self) {
        let has_barrier = self.room.barrier.load(Ordering::Relaxed);
        let longest = if has_barrier { LONGEST_SLEEP_NS } else { SHORT_SLEEP_NS };
        futex::sleep(self.word, 1, Some(longest), Reach::Shared);
        self.room.leave_when_over();
        self.room.reconsider(host::clock::kernel_ns());
    }
}

impl Drop for Armed<'_> {
    fn drop(&mut self) {
        // Another thread of this rank may sleep on the word: it is not lost, but woken to set it again.
        self.room.listeners.fetch_sub(u32::from(self.listens), Ordering::SeqCst);
        let others = self.room.sleepers.fetch_sub(1, Ordering::SeqCst) > 1;
        self.word.store(0, Ordering::SeqCst);
        if others {
            futex::wake(self.word, u32::MAX, Reach::Shared);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::abort::Exit;

    #[test]
    fn a_sleeper_wakes_when_it_is_told() {
        let segment = Segment::private(3, 3).unwrap();
        let word = &segment.rank(0).asleep;
        let room = WaitingRoom::new(&Exit);
        room.open(&segment, 0);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| room.arm(true).sleep());
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
