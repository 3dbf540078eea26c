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

/// Time that a hypervisor gave to others while this computer wanted it: for a whole run, since reading it takes tens of
/// microseconds and it counts in steps of 10 ms.
#[derive(Debug, Clone, Copy)]
pub struct Steal {
    start_ns: u64,
    steal_ns: Option<u64>,
}

impl Steal {
    /// From here on.
    pub fn start() -> Self {
        Self { start_ns: now_ns(), steal_ns: read() }
    }

    /// Share of one cpu's time that was stolen since, all cpus together (up to the number of cpus); `None` where the
    /// kernel does not count it.
    pub fn share(&self) -> Option<f64> {
        let stolen_ns = read()?.saturating_sub(self.steal_ns?);
        let passed_ns = now_ns().saturating_sub(self.start_ns).max(1);
        Some(stolen_ns as f64 / passed_ns as f64)
    }
}

fn read() -> Option<u64> {
    steal_ns(&std::fs::read_to_string("/proc/stat").ok()?)
}

/// The first line of `/proc/stat` is `cpu user nice system idle iowait irq softirq steal ...`, in ticks of 10 ms.
fn steal_ns(stat: &str) -> Option<u64> {
    let mut words = stat.lines().next()?.split_whitespace();
    if words.next()? != "cpu" {
        return None;
    }
    let ticks: u64 = words.nth(7)?.parse().ok()?;
    // SAFETY: takes a number, returns a number.
    let per_second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok().filter(|hz| *hz > 0)?;
    ticks.checked_mul(1_000_000_000 / per_second)
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
    fn stolen_time_is_the_eighth_number_of_the_first_line() {
        let ns = steal_ns("cpu  7196 0 3118 178607 634 0 122 15 0 0\ncpu0 1 2").unwrap();
        assert_eq!(ns % 15, 0);
        assert!(ns > 0);
        for garbage in ["", "cpu 1 2", "cpu 1 2 3 4 5 6 7 x", "intr 1 2 3 4 5 6 7 8"] {
            assert_eq!(steal_ns(garbage), None, "{garbage}");
        }
    }

    #[test]
    fn the_stolen_share_of_a_run_is_a_share() {
        let share = Steal::start().share();
        assert!(share.is_none_or(|s| s >= 0.0), "{share:?}");
    }
}
