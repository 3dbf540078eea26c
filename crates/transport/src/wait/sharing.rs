//! Who else wants the cpus of a rank: other ranks of its job, and other programs.

use crate::segment::Segment;
use host::stolen::ThreadTime;
use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// How often a rank that waits long asks the kernel whether others had its cpu: the answer takes some microseconds.
const SHARED_LOOK_NS: u64 = 5_000_000;
/// Others want this cpu when they had it for more than this share of the time that a rank wanted it.
const SHARED_FROM: f64 = 0.05;
/// What a sleep and a wake-up cost before the first one was measured, and the most that they count for: a sleeper that
/// waits for a cpu measures that wait, too.
const WAKE_UP_NS: u32 = 50_000;

/// Other programs had the cpu of a waiting thread.
const LOST: u8 = 1;
/// Another rank runs on the same core, as its SMT sibling.
const SIBLING: u8 = 2;

thread_local! {
    /// What this thread had lost to others when it last looked, and when that was.
    static SEEN: Cell<(u64, ThreadTime)> = const { Cell::new((0, ThreadTime::NONE)) };
}

/// A set of cpus, a bit each.
pub(super) type Cpus = [u64; 16];

/// The cpus that a rank may use now; none when they are not known.
pub(super) fn cpus_of(segment: &Segment, rank: usize) -> Cpus {
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
pub(super) fn is_crowded(all: &[Cpus], rank: usize, allowed: usize) -> bool {
    let count = |cpus: &Cpus| cpus.iter().map(|word| word.count_ones()).sum::<u32>();
    let common = |a: &Cpus, b: &Cpus| a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum::<u32>();
    let own = &all[rank];
    let needed: f64 = (all.iter())
        .filter(|other| count(other) > 0)
        .map(|other| f64::from(common(own, other)) / f64::from(count(other)))
        .sum();
    needed > f64::from(count(own)) + 0.01 || (allowed > 0 && all.len() > allowed)
}

/// Whether another rank may use a cpu of this one. Who is to come may.
pub(super) fn may_meet(all: &[Cpus], rank: usize, other: usize) -> bool {
    let common = || all[rank].iter().zip(&all[other]).any(|(own, its)| own & its != 0);
    rank != other && (all[other].iter().all(|&word| word == 0) || common())
}

/// Whether this rank has a core, or a cpu of it, and another rank has a cpu of the same core. `siblings`: the cpus of
/// the core of a cpu.
fn has_sibling(all: &[Cpus], rank: usize, siblings: impl Fn(u32) -> Vec<u32>) -> bool {
    let Some(word) = all[rank].iter().position(|&word| word != 0) else { return false };
    let mut core: Cpus = [0; 16];
    for cpu in siblings(word as u32 * 64 + all[rank][word].trailing_zeros()) {
        if let Some(word) = core.get_mut(cpu as usize / 64) {
            *word |= 1 << (cpu % 64);
        }
    }
    let sits_there = |cpus: &Cpus| {
        cpus.iter().any(|&word| word != 0) && cpus.iter().zip(&core).all(|(cpus, core)| cpus & !core == 0)
    };
    sits_there(&all[rank]) && all.iter().enumerate().any(|(other, cpus)| other != rank && sits_there(cpus))
}

/// Cpus that the quota leaves to this process, at least one; 0 where there is no quota.
pub(super) fn quota() -> usize {
    if cfg!(miri) {
        return 0;
    }
    machine::discover::quota_cpus(Path::new("/")).map_or(0, |cpus| (cpus as usize).max(1))
}

/// Why a waiting thread does not spin for long, and for how long it does.
pub(super) struct Sharing {
    /// `LOST`, `SIBLING`.
    why: AtomicU8,
    /// What a sleep and a wake-up cost, in ns, at best.
    wake_up_ns: AtomicU32,
}

impl Sharing {
    pub(super) const fn new() -> Self {
        Self { why: AtomicU8::new(0), wake_up_ns: AtomicU32::new(WAKE_UP_NS) }
    }

    #[inline]
    pub(super) fn is_shared(&self) -> bool {
        self.why.load(Ordering::Relaxed) != 0
    }

    /// How long a thread spins that shares its cpu, in ns.
    pub(super) fn wake_up_ns(&self) -> u64 {
        u64::from(self.wake_up_ns.load(Ordering::Relaxed))
    }

    /// Finds out whether another rank has the same core. `all`: the cpus of all ranks.
    pub(super) fn meet_siblings(&self, all: &[Cpus], rank: usize) {
        let siblings = |cpu| machine::discover::siblings(Path::new("/"), cpu);
        self.share(SIBLING, has_sibling(all, rank, siblings));
    }

    fn share(&self, why: u8, yes: bool) {
        if yes {
            self.why.fetch_or(why, Ordering::Relaxed);
        } else {
            self.why.fetch_and(!why, Ordering::Relaxed);
        }
    }

    /// Finds out whether others want this thread's cpu, when it is time.
    pub(super) fn look_around(&self, now_ns: u64) {
        let (looked_ns, lost) = SEEN.get();
        // Miri has none of the calls that tell what a thread has lost.
        if cfg!(miri) || now_ns - looked_ns < SHARED_LOOK_NS {
            return;
        }
        let now = ThreadTime::now();
        SEEN.set((now_ns, now));
        if looked_ns != 0 {
            let share = now.since(&lost).queued_share();
            self.share(LOST, share.is_some_and(|share| share > SHARED_FROM));
        }
    }

    /// A sleep and its wake-up took so many ns. What is kept follows the cheapest ones: what a sleeper waits for a cpu
    /// is not the wake-up's cost.
    pub(super) fn woke_after(&self, ns: u64) {
        let kept = self.wake_up_ns.load(Ordering::Relaxed);
        let risen = kept + kept / 32 + 1;
        self.wake_up_ns
            .store(u32::try_from(ns).unwrap_or(u32::MAX).min(risen).min(WAKE_UP_NS), Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn ranks_on_one_core_know_of_one_another() {
        // Cpu n and cpu n + 4 are one core.
        let siblings = |cpu: u32| vec![cpu % 4, cpu % 4 + 4];
        let cpus = |first: u64| -> Cpus { std::array::from_fn(|word| if word == 0 { first } else { 0 }) };
        let sibling = |all: &[u64], rank| {
            has_sibling(&all.iter().map(|&first| cpus(first)).collect::<Vec<_>>(), rank, siblings)
        };
        assert!(sibling(&[0b1, 0b1_0000, 0b10], 0) && sibling(&[0b1, 0b1_0000, 0b10], 1));
        assert!(!sibling(&[0b1, 0b1_0000, 0b10], 2), "alone on its core");
        assert!(!sibling(&[0b1_0001, 0b10_0010], 0), "a core each");
        assert!(!sibling(&[0b11_0011, 0b11_0011], 0), "both may go anywhere");
        assert!(!sibling(&[0b1, 0], 0), "the other one isn't there yet");
    }

    #[test]
    fn a_sleep_costs_what_the_cheapest_did() {
        let sharing = Sharing::new();
        let kept = || sharing.wake_up_ns.load(Ordering::Relaxed);
        sharing.woke_after(u64::MAX);
        assert_eq!(kept(), WAKE_UP_NS);
        sharing.woke_after(6_400);
        assert_eq!(kept(), 6_400);
        sharing.woke_after(3_000_000);
        assert!((6_401..7_000).contains(&kept()), "who waits for a cpu hardly counts: {}", kept());
    }

    #[test]
    fn ranks_may_meet_on_cpus_that_both_have_and_those_to_come_on_any() {
        let all =
            [1, 2, 3, 0].map(|first| -> Cpus { std::array::from_fn(|word| u64::from(word == 0) * first) });
        let met = |rank| (0..4).filter(|&other| may_meet(&all, rank, other)).collect::<Vec<_>>();
        assert_eq!([0, 1, 2].map(met), [vec![2, 3], vec![2, 3], vec![0, 1, 3]]);
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
