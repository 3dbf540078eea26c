//! Waiting: spin, then yield, then sleep; and waking sleepers.
//!
//! With a cpu for every rank, spinning finds a message soonest. With more ranks than cpus, a spinning rank keeps the
//! sender from running, so it yields at once, but for where all others that may use its cpu sleep. After a long wait a
//! rank sleeps in the kernel, on the word `asleep` of its page.
//!
//! Other programs may want the same cpus: other jobs that spin, builds, programs that only compute. The kernel counts
//! how long this thread was ready to run while another had its cpu. A rank that loses such time spins only as long as a
//! sleep and a wake-up cost, as measured here, and then sleeps: the rank that it waits for has probably lost its cpu,
//! too. The time that it does not spin away is left for it when it is woken, so that both run at the same time.
//! (A yield does not help: where the kernel shares time out by session, the cpu stays with the session that yields.)
//!
//! Sleepers cost a sender no fence: it writes into the ring, then reads the word. A rank that goes to sleep sets the
//! word, makes the kernel run a barrier on all ranks (`membarrier`), and looks into its rings once more. So either it
//! sees the message, or the sender sees the word. Where the kernel has no such barrier, sleeps are short.

mod patience;
mod sharing;

use crate::abort::Abort;
use crate::asleep::Asleep;
use crate::carried::{self, CarriedAnswer, CarriedCall};
use crate::segment::{MOST_RANKS, RankPage, Segment};
use host::futex::{self, Reach};
pub(crate) use patience::LEAST_NS as LEAST_PATIENCE_NS;
use patience::{LongWait, LongWaits};
use sharing::{Cpus, Sharing, cpus_of, is_crowded, may_meet, quota};
use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};

/// Polls without a pause between them; a message from a rank that is ready comes within these.
const EAGER_POLLS: u32 = 256;
/// Polls after which a rank that shares its cpu looks again whether all others there sleep. A choice.
const ALONE_POLLS: u32 = 16;
/// Polls between two looks at the clock, and at what else wants this cpu.
const LOOK_POLLS: u32 = 64;
/// Polls before the first yield of a rank that shares its cpu, while the next piece of a message is being written. All
/// others there have their turn before it comes back. A choice: these take some 4 us, and a piece 1 to 2. (8 ranks on 2
/// cpus of an EPYC, 64 kB once around: 59 us without this, 52 with it.)
const POLLS_FOR_PIECE: u32 = 64;
/// Polls before the first yield, when there is a cpu for every rank.
const POLLS: u32 = 4096;
/// After so many ns a waiting rank sleeps that has a cpu of its own. For others, see `patience`.
const SLEEP_AFTER_NS: u64 = 20_000_000;
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
    sharing: Sharing,
    long_waits: LongWaits,
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
    /// The other ranks that may use a cpu of this one, a bit each.
    beside: [AtomicU64; MOST_RANKS / 64],
    /// Of a rank whose messages a simulator carries: how long it has computed since the last answer; the simulated time
    /// of that; and that it asks for nothing more.
    computed_ns: AtomicU64,
    simulated_ns: AtomicU64,
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

impl Asleep for RankPage {
    #[inline]
    fn announced(&self) -> u32 {
        self.asleep.load(Ordering::Relaxed)
    }

    fn set(&self, what: u32) {
        self.asleep.fetch_or(what, Ordering::SeqCst);
    }

    #[cold]
    fn take(&self) -> bool {
        self.woken_ns.store(host::clock::kernel_ns(), Ordering::Relaxed);
        self.asleep.swap(0, Ordering::SeqCst) != 0
    }

    fn barrier(&self) -> bool {
        let done = membarrier(MEMBARRIER_GLOBAL_EXPEDITED);
        fence(Ordering::SeqCst);
        done
    }

    #[cold]
    fn wake(&self) {
        futex::wake(&self.asleep, u32::MAX, Reach::Shared);
    }
}

/// Tells every rank that the job is over, and who ended it: a rank, or the process that started the job.
pub fn end(segment: &Segment, by: Option<usize>) {
    segment.end(by);
    for rank in 0..segment.ranks() {
        let page = segment.rank(rank);
        page.take();
        page.wake();
    }
}

impl WaitingRoom {
    /// The room of a rank that has no job yet.
    pub const fn new(abort: &'static dyn Abort) -> Self {
        Self {
            abort,
            job: OnceLock::new(),
            crowded: AtomicBool::new(false),
            sharing: Sharing::new(),
            long_waits: LongWaits::new(),
            barrier: AtomicBool::new(false),
            waiters: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
            listeners: AtomicU32::new(0),
            considered_ms: AtomicU32::new(0),
            beside: [const { AtomicU64::new(0) }; MOST_RANKS / 64],
            computed_ns: AtomicU64::new(0),
            simulated_ns: AtomicU64::new(0),
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
            segment.rank(*rank).ring();
        }
    }

    /// Wakes the threads of this rank that sleep, whatever they wait for.
    pub fn wake_sleepers(&self) {
        if let Some((segment, rank)) = self.job.get() {
            segment.rank(*rank).ring();
        }
    }

    /// Finds out whether there are more ranks than cpus, or another rank on the same core.
    fn consider(&self, segment: &Segment, rank: usize) {
        let all: Vec<Cpus> = (0..segment.ranks()).map(|rank| cpus_of(segment, rank)).collect();
        // Once all ranks are there, their affinities say how many cpus there are; the quota may have changed since the
        // start. Until then the number at the start does: the first ranks would take the cpus for their own.
        let known = all.iter().all(|cpus| cpus.iter().any(|&word| word != 0));
        let allowed = if known { quota() } else { segment.header().cpus as usize };
        // A rank whose messages are carried asks the simulator at once: polling finds nothing.
        let crowded = segment.is_carried() || is_crowded(&all, rank, allowed);
        self.crowded.store(crowded, Ordering::Relaxed);
        self.sharing.meet_siblings(&all, rank);
        for (word, known) in self.beside.iter().enumerate() {
            let others =
                (word * 64..all.len().min(word * 64 + 64)).filter(|&other| may_meet(&all, rank, other));
            known.store(others.fold(0, |bits, other| bits | 1 << (other % 64)), Ordering::Relaxed);
        }
    }

    /// Asks the simulator that carries this rank's messages; nothing when none does.
    #[cold]
    pub fn ask(&self, ask: &CarriedCall) -> Option<CarriedAnswer> {
        let (segment, rank) = self.job.get().filter(|(segment, _)| segment.is_carried())?;
        if self.silent.load(Ordering::Relaxed) {
            return Some(CarriedAnswer::News(0));
        }
        let computed_ns = self.computed_ns.swap(0, Ordering::Relaxed);
        let (answer, now_ns) = carried::ask(segment, *rank, ask, computed_ns, || self.leave_when_over());
        self.simulated_ns.store(now_ns, Ordering::Relaxed);
        if *ask == CarriedCall::End || answer == CarriedAnswer::Deadlock {
            self.silent.store(true, Ordering::Relaxed);
        }
        Some(answer)
    }

    /// Of a rank whose messages a simulator carries: it has computed outside of MPI, for ns of this computer.
    pub fn computed(&self, ns: u64) {
        self.computed_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// Of a rank whose messages a simulator carries: the simulated time of the last answer, in ns.
    pub fn simulated_ns(&self) -> u64 {
        self.simulated_ns.load(Ordering::Relaxed)
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

    /// Whether all other ranks that may use a cpu of this one sleep: they get it back as soon as they are woken.
    #[inline]
    fn others_sleep(&self) -> bool {
        let Some((segment, _)) = self.job.get() else { return false };
        if segment.is_carried() || self.waiters.load(Ordering::Relaxed) > 1 {
            return false;
        }
        self.beside.iter().enumerate().all(|(word, bits)| {
            let mut left = bits.load(Ordering::Relaxed);
            while left != 0 {
                if segment.rank(word * 64 + left.trailing_zeros() as usize).announced() == 0 {
                    return false;
                }
                left &= left - 1;
            }
            true
        })
    }

    /// Whether others want the cpu of a waiting thread, or another rank its core: then it spins no longer than a
    /// wake-up costs, and sleeps.
    #[inline]
    pub fn shared(&self) -> bool {
        self.sharing.is_shared()
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
    pub(crate) fn leave_when_over(&self) {
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
    /// `listens`: other threads of this rank wake it, too (`wake_own`). `for_room`: the rank has something to write.
    ///
    /// # Panics
    /// The rank has no job.
    pub fn arm(&self, listens: bool, for_room: bool) -> Armed<'_> {
        let (segment, rank) = self.job.get().expect("a rank of a job");
        let since_ns = host::clock::kernel_ns();
        let page = segment.rank(*rank);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        self.listeners.fetch_add(u32::from(listens), Ordering::SeqCst);
        if !page.announce(for_room) {
            self.barrier.store(false, Ordering::Relaxed);
        }
        Armed { room: self, page, listens, arming_ns: host::clock::kernel_ns() - since_ns }
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
    /// All other ranks that may use a cpu of this one slept at the last look.
    is_alone: bool,
    /// 0: no clock was read yet.
    since_ns: u64,
    /// What it saw where ranks share cpus.
    seen: LongWait,
    /// Ready to sleep: the caller arms, looks once more, and sleeps.
    pub tired: bool,
}

impl Default for Waiting {
    #[inline]
    fn default() -> Self {
        Self { polls: 0, is_alone: false, since_ns: 0, seen: LongWait::default(), tired: false }
    }
}

impl Waiting {
    /// Something moved, or the wait is over: patience is new. Of a long wait, when it began (`host::clock::kernel_ns`).
    #[inline]
    pub fn ended(&mut self, room: &WaitingRoom) -> Option<u64> {
        let since_ns = self.since_ns;
        let took_ns = || host::clock::kernel_ns() - since_ns;
        room.long_waits.learn(self.seen, room.sharing.wake_up_ns(), took_ns);
        *self = Self::default();
        (since_ns != 0).then_some(since_ns)
    }

    /// Nothing moved: passes some time, little at first. `expects_piece`: a rank on another cpu is writing what this
    /// one waits for. Call this only while no thread waits for a lock that this thread holds.
    #[inline]
    pub fn pause(&mut self, room: &WaitingRoom, expects_piece: bool) {
        self.polls += 1;
        let yields =
            room.crowded() && (!expects_piece || self.polls > POLLS_FOR_PIECE) && !self.is_alone(room);
        if !yields && !self.polls.is_multiple_of(LOOK_POLLS) {
            if self.polls > EAGER_POLLS {
                std::hint::spin_loop();
            }
            return;
        }
        self.pass(room);
    }

    /// As `WaitingRoom::others_sleep`, now or some polls ago. (Two ranks on 2 cpus of an EPYC to and fro while a third
    /// one waits: 8 bytes take .90 us when they yield at once, and .17 so.)
    #[inline]
    fn is_alone(&mut self, room: &WaitingRoom) -> bool {
        if self.polls % ALONE_POLLS == 1 {
            self.is_alone = room.others_sleep();
        }
        self.is_alone
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
        let crowded = room.crowded();
        if !crowded && before - self.since_ns >= room.sharing.wake_up_ns() {
            room.sharing.look_around(before);
            self.tired = room.shared();
        }
        if self.tired || !crowded && self.polls < POLLS {
            return;
        }
        // SAFETY: takes nothing.
        unsafe { libc::sched_yield() };
        let now = host::clock::kernel_ns();
        let patience = if room.crowded.load(Ordering::Relaxed) {
            self.seen.saw_yield(now - self.since_ns, now - before);
            room.long_waits.sleeps_after_ns(self.seen, room.sharing.wake_up_ns())
        } else if crowded || now - before > YIELDED_NS {
            LEAST_PATIENCE_NS
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
    page: &'static RankPage,
    listens: bool,
    /// What arming took.
    arming_ns: u64,
}

impl Armed<'_> {
    /// Sleeps until woken, or for a moment.
    pub fn sleep(self) {
        let has_barrier = self.room.barrier.load(Ordering::Relaxed);
        let longest = if has_barrier { LONGEST_SLEEP_NS } else { SHORT_SLEEP_NS };
        let asleep_ns = host::clock::kernel_ns();
        let announced = self.page.announced();
        if announced != 0 {
            futex::sleep(&self.page.asleep, announced, Some(longest), Reach::Shared);
        }
        let now_ns = host::clock::kernel_ns();
        let woken_ns = self.page.woken_ns.load(Ordering::Relaxed);
        if woken_ns > asleep_ns {
            self.room.sharing.woke_after(self.arming_ns + now_ns.saturating_sub(woken_ns));
        }
        self.room.leave_when_over();
        self.room.sharing.look_around(now_ns);
        self.room.reconsider(now_ns);
    }
}

impl Drop for Armed<'_> {
    fn drop(&mut self) {
        // Another thread of this rank may sleep on the word: it is not lost, but woken to set it again.
        self.room.listeners.fetch_sub(u32::from(self.listens), Ordering::SeqCst);
        let others = self.room.sleepers.fetch_sub(1, Ordering::SeqCst) > 1;
        self.page.asleep.store(0, Ordering::SeqCst);
        if others {
            self.page.wake();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::abort::Exit;
    use crate::asleep::FOR_NEWS;

    #[test]
    fn a_sleeper_wakes_when_it_is_told() {
        let segment = Segment::private(3, 3).unwrap();
        let page = segment.rank(0);
        let room = WaitingRoom::new(&Exit);
        room.open(&segment, 0);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| room.arm(true, false).sleep());
            while !sleeper.is_finished() {
                page.ring();
                std::thread::yield_now();
            }
        });
        assert_eq!(page.asleep.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_sleeper_that_has_nothing_to_write_is_not_woken_for_room() {
        let segment = Segment::private(2, 2).unwrap();
        let page = segment.rank(0);
        let room = WaitingRoom::new(&Exit);
        room.open(&segment, 0);
        for (has_something, sleeps_on) in [(false, true), (true, false)] {
            let armed = room.arm(true, has_something);
            page.ring_for_room();
            assert_eq!(page.announced() != 0, sleeps_on);
            page.ring();
            assert_eq!(page.announced(), 0);
            armed.sleep();
        }
        // One of two threads has something to write.
        let armed = [room.arm(true, true), room.arm(true, false)];
        page.ring_for_room();
        assert_eq!(page.announced(), 0);
        drop(armed);
    }

    /// A process that only sleeps, and may be moved between cpus.
    struct Sleeper(std::process::Child);

    impl Sleeper {
        fn start() -> Self {
            Self(std::process::Command::new("sleep").arg("60").spawn().unwrap())
        }

        fn move_to(&self, cpu: u32) {
            let mut cpus: Cpus = [0; 16];
            cpus[cpu as usize / 64] = 1 << (cpu % 64);
            // SAFETY: the kernel reads as many bytes as it is told.
            let done = unsafe {
                libc::sched_setaffinity(self.0.id() as i32, size_of_val(&cpus), cpus.as_ptr().cast())
            };
            assert_eq!(done, 0);
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn the_first_of_many_ranks_knows_that_more_are_to_come() {
        let (few, many) = (Segment::private(2, 2).unwrap(), Segment::private(3, 2).unwrap());
        let allowed = host::Affinity::of_this_thread().unwrap().cpus();
        for (segment, crowded) in [(few, false), (many, true)] {
            let first = Sleeper::start();
            first.move_to(allowed[0]);
            segment.rank(0).pid.store(first.0.id(), Ordering::Relaxed);
            let room = WaitingRoom::new(&Exit);
            room.open(&segment, 0);
            assert_eq!(room.crowded(), crowded);
        }
    }

    #[test]
    fn who_has_the_cpu_of_ranks_that_sleep_knows_that_all_of_them_do() {
        let cpu = host::Affinity::of_this_thread().unwrap().cpus()[0];
        let segment = Segment::private(70, 1).unwrap();
        let others = [Sleeper::start(), Sleeper::start()];
        let room = WaitingRoom::new(&Exit);
        segment.rank(0).pid.store(others[0].0.id(), Ordering::Relaxed);
        others.iter().for_each(|other| other.move_to(cpu));
        for number in (1..70).filter(|number| ![3, 67].contains(number)) {
            segment.rank(number).set(FOR_NEWS);
        }
        room.open(&segment, 0);
        // Those that are to come don't sleep.
        assert!(!room.others_sleep());
        for number in [3, 67] {
            segment.rank(number).pid.store(others[1].0.id(), Ordering::Relaxed);
            assert!(!room.others_sleep());
            segment.rank(number).set(FOR_NEWS);
        }
        assert!(room.others_sleep());
        let both = [room.waiter(), room.waiter()];
        assert!(!room.others_sleep(), "another thread of this rank waits");
        drop(both);
        assert!(room.others_sleep());
        // Nothing is passed on until one of them is awake.
        let mut waiting = Waiting::default();
        (0..ALONE_POLLS).for_each(|_| waiting.pause(&room, false));
        assert_eq!(waiting.since_ns, 0);
        segment.rank(67).take();
        assert!(!room.others_sleep());
        (0..ALONE_POLLS).for_each(|_| waiting.pause(&room, false));
        assert!(waiting.since_ns > 0);
    }

    #[test]
    fn ranks_that_somebody_moves_to_one_cpu_notice_it() {
        let allowed = host::Affinity::of_this_thread().unwrap().cpus();
        let segment = Segment::private(2, 2).unwrap();
        let ranks = [Sleeper::start(), Sleeper::start()];
        for (number, rank) in ranks.iter().enumerate() {
            segment.rank(number).pid.store(rank.0.id(), Ordering::Relaxed);
            rank.move_to(allowed[number % allowed.len()]);
        }
        let room = WaitingRoom::new(&Exit);
        room.open(&segment, 0);
        // One cpu for the test, or a quota of one, is too few from the start.
        assert_eq!(room.crowded(), allowed.len() < 2 || quota() == 1);
        ranks[1].move_to(allowed[0]);
        room.reconsider(host::clock::kernel_ns());
        assert!(room.crowded());
    }
}
