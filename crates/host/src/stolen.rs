//! Did this thread lose its cpu since a mark? Samples that did are left out, and how many were is said.

use crate::clock::now_ns;

/// A moment on this thread; it is of use to no other thread.
///
/// ```
/// let mark = host::stolen::Mark::now();
/// // ... what is measured ...
/// let keep = !mark.lost_cpu();
/// # let _ = keep;
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    preempted: i64,
    cpu: u32,
}

impl Mark {
    /// Here and now. Two system calls, less than a microsecond: put it around a sample, not around a firing.
    pub fn now() -> Self {
        Self { preempted: preemptions(), cpu: crate::pin::this_cpu() }
    }

    /// Whether the kernel took the cpu away from this thread since, or moved the thread to another. Waiting on its own
    /// accord does not count. Time that a hypervisor takes is not seen here; [`Steal`] sees it.
    pub fn lost_cpu(&self) -> bool {
        preemptions() != self.preempted || crate::pin::this_cpu() != self.cpu
    }
}

/// How often this thread was interrupted in favour of another.
fn preemptions() -> i64 {
    // SAFETY: a rusage is plain numbers, for which zero is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is valid for the kernel to fill; RUSAGE_THREAD exists since Linux 2.6.26.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    usage.ru_nivcsw as i64
}

/// What the kernel has counted of this thread so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadTime {
    /// ns that it ran; `None` where the kernel does not count it.
    pub ran_ns: Option<u64>,
    /// ns that it was ready to run and another thread had its cpu; `None` where the kernel does not count it.
    pub queued_ns: Option<u64>,
    /// How often it lost its cpu to another thread.
    pub preempted: u64,
}

impl ThreadTime {
    /// Of a thread that has not run.
    pub const NONE: Self = Self { ran_ns: None, queued_ns: None, preempted: 0 };

    /// Until now: two system calls and the read of a small file, some microseconds.
    pub fn now() -> Self {
        // "run_ns queued_ns slices"
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let number = |at| text.as_deref().and_then(|t| t.split_whitespace().nth(at)?.parse().ok());
        Self { ran_ns: number(0), queued_ns: number(1), preempted: preemptions().max(0) as u64 }
    }

    /// What was added after `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        let added =
            |now: Option<u64>, then| now.zip(then).map(|(now, then): (u64, u64)| now.saturating_sub(then));
        Self {
            ran_ns: added(self.ran_ns, earlier.ran_ns),
            queued_ns: added(self.queued_ns, earlier.queued_ns),
            preempted: self.preempted.saturating_sub(earlier.preempted),
        }
    }

    /// Of the time that it wanted its cpu, the share in which others had it; `None` where the kernel does not count it.
    pub fn queued_share(&self) -> Option<f64> {
        let (ran_ns, queued_ns) = self.ran_ns.zip(self.queued_ns)?;
        Some(queued_ns as f64 / (ran_ns + queued_ns).max(1) as f64)
    }
}

/// Time that a hypervisor gave to others while this computer wanted it: for a whole run, since reading it takes tens of
/// microseconds and it counts in steps of 10 ms.
#[derive(Debug, Clone)]
pub struct Steal {
    start_ns: u64,
    stat: Option<String>,
}

impl Steal {
    /// From here on.
    pub fn start() -> Self {
        Self { start_ns: now_ns(), stat: read() }
    }

    /// Share of one cpu's time that was stolen since, all cpus together (up to the number of cpus); `None` where the
    /// kernel does not count it.
    pub fn share(&self) -> Option<f64> {
        self.share_of("cpu")
    }

    /// Share of the time of the kernel's `cpu` that was stolen since; `None` where the kernel does not count it.
    pub fn share_on(&self, cpu: u32) -> Option<f64> {
        self.share_of(&format!("cpu{cpu}"))
    }

    /// Of each of the kernel's `cpus`, whether any of its time was stolen since; false where that is not counted.
    #[cfg(not(loom))]
    pub(crate) fn cpus_stolen_from(&self, cpus: &[u32]) -> Vec<bool> {
        let now = read();
        let ns = |stat: Option<&str>, cpu: u32| steal_ns(stat?, &format!("cpu{cpu}"));
        let stolen = |cpu: &u32| ns(now.as_deref(), *cpu) > ns(self.stat.as_deref(), *cpu);
        cpus.iter().map(stolen).collect()
    }

    fn share_of(&self, line: &str) -> Option<f64> {
        let stolen_ns = steal_ns(&read()?, line)?.saturating_sub(steal_ns(self.stat.as_deref()?, line)?);
        let passed_ns = now_ns().saturating_sub(self.start_ns).max(1);
        Some(stolen_ns as f64 / passed_ns as f64)
    }
}

fn read() -> Option<String> {
    std::fs::read_to_string("/proc/stat").ok()
}

/// The lines `cpu`, `cpu0`, .. of `/proc/stat` go on `user nice system idle iowait irq softirq steal ...`, in ticks of
/// 10 ms.
fn steal_ns(stat: &str, line: &str) -> Option<u64> {
    let mut words = stat.lines().map(str::split_whitespace).find_map(|mut words| {
        let found = words.next()? == line;
        found.then_some(words)
    })?;
    let ticks: u64 = words.nth(7)?.parse().ok()?;
    // SAFETY: takes a number, returns a number.
    let per_second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok().filter(|hz| *hz > 0)?;
    ticks.checked_mul(1_000_000_000 / per_second)
}

/// Bytes of memory that this process has in use now; 0 where the kernel does not say.
pub fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    // SAFETY: takes a number, returns a number.
    pages * u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_moves_to_another_cpu_has_lost_its_cpu() {
        std::thread::spawn(|| {
            let cpus = crate::Affinity::of_this_thread().unwrap().cpus();
            let (Some(first), Some(last)) = (cpus.first(), cpus.last()) else { return };
            if first == last || crate::pin::to_cpu(*first).is_err() {
                return;
            }
            let mark = Mark::now();
            if crate::pin::to_cpu(*last).is_ok() {
                assert!(mark.lost_cpu());
            }
        })
        .join()
        .unwrap();
    }

    #[test]
    fn stolen_time_is_the_eighth_number_of_a_cpus_line() {
        let stat = "cpu  7196 0 3118 178607 634 0 122 15 0 0\ncpu0 1 2\ncpu1 1 0 0 0 0 0 0 45 0 0";
        let ns = steal_ns(stat, "cpu").unwrap();
        assert!(ns > 0 && ns.is_multiple_of(15), "{ns}");
        assert_eq!(steal_ns(stat, "cpu1"), Some(3 * ns));
        assert_eq!((steal_ns(stat, "cpu0"), steal_ns(stat, "cpu2")), (None, None));
        for garbage in ["", "cpu 1 2", "cpu 1 2 3 4 5 6 7 x", "intr 1 2 3 4 5 6 7 8"] {
            assert_eq!(steal_ns(garbage, "cpu"), None, "{garbage}");
        }
    }

    #[test]
    fn a_threads_time_is_what_was_added_since() {
        let early = ThreadTime { ran_ns: Some(5), queued_ns: Some(10), preempted: 1 };
        let late = ThreadTime { ran_ns: Some(50), queued_ns: Some(25), preempted: 4 };
        let added = late.since(&early);
        assert_eq!(added, ThreadTime { ran_ns: Some(45), queued_ns: Some(15), preempted: 3 });
        assert_eq!((added.queued_share(), ThreadTime::default().queued_share()), (Some(0.25), None));
        assert_eq!(late.since(&ThreadTime::default()).queued_ns, None);
        assert!(ThreadTime::now().since(&ThreadTime::now()).preempted < 1000);
    }

    #[test]
    fn memory_that_is_written_is_counted() {
        let before = resident_bytes();
        let bytes = vec![1u8; 64 << 20];
        assert!(before == 0 || resident_bytes() > before + (32 << 20), "{}", bytes.len());
    }

    #[test]
    fn the_stolen_share_of_a_run_is_a_share() {
        let share = Steal::start().share();
        assert!(share.is_none_or(|s| s >= 0.0), "{share:?}");
    }
}
