//! Monotonic nanoseconds, cheaply: the cpu's time stamp counter where the kernel trusts it, `clock_gettime` elsewhere.

use std::hint::black_box;
use std::sync::OnceLock;

/// Nanoseconds since some fixed moment. Two reads on one thread never go backwards; between threads they agree to
/// within the counter's skew (some ns where the kernel trusts it), so subtract with `saturating_sub`.
///
/// ```
/// let start_ns = host::now_ns();
/// assert!(host::now_ns() >= start_ns);
/// ```
#[inline]
pub fn now_ns() -> u64 {
    Clock::get().now_ns()
}

/// What one call of [`now_ns`] costs, in ns: the median of repeated measurements, made once.
pub fn overhead_ns() -> f64 {
    static OVERHEAD_NS: OnceLock<f64> = OnceLock::new();
    *OVERHEAD_NS.get_or_init(|| {
        const READS: u32 = 64;
        let mut samples: Vec<f64> = (0..101)
            .map(|_| {
                let start_ns = now_ns();
                for _ in 0..READS {
                    black_box(now_ns());
                }
                (now_ns() - start_ns) as f64 / f64::from(READS + 1)
            })
            .collect();
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    })
}

/// A calibrated clock; a copy is as good as the original and saves the look-up of [`now_ns`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    #[cfg(target_arch = "x86_64")]
    tsc: Option<Tsc>,
}

/// `ns = base_ns + (ticks - base_ticks) * scale / 2^32`.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tsc {
    base_ticks: u64,
    base_ns: u64,
    scale: u64,
}

impl Clock {
    /// The process's clock; the first call calibrates it, which takes about 10 ms where there is a counter.
    #[inline]
    pub fn get() -> Self {
        static CLOCK: OnceLock<Clock> = OnceLock::new();
        *CLOCK.get_or_init(Self::calibrated)
    }

    /// See [`now_ns`].
    #[inline]
    pub fn now_ns(self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if let Some(tsc) = self.tsc {
            let ticks = ticks().saturating_sub(tsc.base_ticks);
            return tsc.base_ns + ((u128::from(ticks) * u128::from(tsc.scale)) >> 32) as u64;
        }
        kernel_ns()
    }

    /// `tsc` or `clock_gettime`.
    pub fn source(self) -> &'static str {
        #[cfg(target_arch = "x86_64")]
        if self.tsc.is_some() {
            return "tsc";
        }
        "clock_gettime"
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn calibrated() -> Self {
        Self {}
    }

    #[cfg(target_arch = "x86_64")]
    fn calibrated() -> Self {
        const CALIBRATION_NS: u64 = 10_000_000;
        if cfg!(miri) || !tsc_is_trusted() {
            return Self { tsc: None };
        }
        let (first_ticks, first_ns) = both();
        let (mut last_ticks, mut last_ns) = (first_ticks, first_ns);
        while last_ns - first_ns < CALIBRATION_NS {
            (last_ticks, last_ns) = both();
        }
        let ticks = u128::from(last_ticks.saturating_sub(first_ticks));
        if ticks == 0 {
            return Self { tsc: None };
        }
        let scale = ((u128::from(last_ns - first_ns) << 32) / ticks) as u64;
        Self { tsc: Some(Tsc { base_ticks: last_ticks, base_ns: last_ns, scale }) }
    }
}

/// The kernel offers the counter as a clock source only while it runs at one rate and agrees between cpus.
#[cfg(target_arch = "x86_64")]
fn tsc_is_trusted() -> bool {
    let has = |path: &str, words: &[&str]| {
        std::fs::read_to_string(path)
            .is_ok_and(|text| words.iter().all(|w| text.split_whitespace().any(|have| have == *w)))
    };
    has("/sys/devices/system/clocksource/clocksource0/available_clocksource", &["tsc"])
        && has("/proc/cpuinfo", &["constant_tsc", "nonstop_tsc"])
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn ticks() -> u64 {
    // SAFETY: every x86_64 has the instruction; it touches no memory.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// The counter and the kernel's clock at the same moment: the tightest of a few tries, so that an interruption between
/// the two reads does not count.
#[cfg(target_arch = "x86_64")]
fn both() -> (u64, u64) {
    (0..8)
        .map(|_| {
            let before = ticks();
            let ns = kernel_ns();
            let after = ticks();
            (after.saturating_sub(before), before + after.saturating_sub(before) / 2, ns)
        })
        .min()
        .map_or((0, 0), |(_, ticks, ns)| (ticks, ns))
}

/// The kernel's monotonic clock in ns: the same for every process, and needs no calibration.
pub fn kernel_ns() -> u64 {
    read_ns(libc::CLOCK_MONOTONIC)
}

/// ns of cpu time that this thread has used: the cost of a sample, however often it was interrupted.
pub fn thread_cpu_ns() -> u64 {
    read_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// ns of cpu time that all threads of this process have used.
pub fn process_cpu_ns() -> u64 {
    read_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Seconds since 1970, for the date in a result file.
pub fn unix_s() -> u64 {
    read_ns(libc::CLOCK_REALTIME) / 1_000_000_000
}

fn read_ns(clock: libc::clockid_t) -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec that the kernel fills; an unknown clock leaves it at zero.
    unsafe { libc::clock_gettime(clock, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Sleeps for `ns` or a little longer.
#[expect(clippy::disallowed_methods, reason = "this is the crate that waits")]
pub fn sleep_ns(ns: u64) {
    std::thread::sleep(std::time::Duration::from_nanos(ns));
}

pub(crate) fn timespec(ns: u64) -> libc::timespec {
    libc::timespec { tv_sec: (ns / 1_000_000_000) as libc::time_t, tv_nsec: (ns % 1_000_000_000) as _ }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_goes_backwards_on_a_thread() {
        let mut last_ns = now_ns();
        for _ in 0..10_000 {
            let ns = now_ns();
            assert!(ns >= last_ns);
            last_ns = ns;
        }
    }

    #[test]
    fn the_clock_counts_the_kernels_nanoseconds() {
        // The kernel's reads enclose ours, so being interrupted between two of them can only make its difference
        // larger.
        let kernel_start_ns = kernel_ns();
        let start_ns = now_ns();
        sleep_ns(20_000_000);
        let ours = (now_ns() - start_ns) as f64;
        let kernels = (kernel_ns() - kernel_start_ns) as f64;
        assert!(ours >= 0.999 * 20e6, "{ours} ns of 20 ms");
        assert!(ours <= 1.001 * kernels, "{ours} ns of the kernel's {kernels}");
    }

    #[test]
    fn reading_the_clock_costs_something() {
        let ns = overhead_ns();
        assert!(ns > 0.0 && ns.is_finite(), "{ns}");
    }

    #[test]
    fn the_date_is_after_this_was_written() {
        assert!(unix_s() > 1_700_000_000);
    }
}
