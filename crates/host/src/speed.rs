//! How fast a cpu computes right now: three small kernels that never change, timed on pinned threads.
//!
//! The same kernels run when costs are profiled and around every run. A cpu that takes longer for them than it did
//! then is slower, whatever an application's tasks say; cpus that take longer together than alone slow each other down.
//!
//! Each kernel keeps more than one unit of the core busy, as most code does: what two threads of one core share shows.

use crate::target::barrier::Barrier;
use crate::{now_ns, pin};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// What a cpu needs for one pass of each kernel, in ns: the median of many passes, so that moments in which the thread
/// had lost its cpu do not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// Whole numbers: independent multiplications and shifts, all in registers.
    pub integer_ns: f64,
    /// Floating point: independent multiplications and additions, all in registers.
    pub floating_ns: f64,
    /// Memory: reads and writes that walk a buffer larger than the core's own caches.
    pub memory_ns: f64,
}

impl Speed {
    /// Integer, floating, memory.
    pub fn parts_ns(&self) -> [f64; 3] {
        [self.integer_ns, self.floating_ns, self.memory_ns]
    }

    /// How many times longer this one takes than `other`, kernel by kernel: integer, floating, memory.
    pub fn slower_than(&self, other: &Speed) -> [f64; 3] {
        let (mine, others) = (self.parts_ns(), other.parts_ns());
        std::array::from_fn(|i| mine[i] / others[i].max(f64::MIN_POSITIVE))
    }
}

/// How long each kernel is repeated: long enough for tens of passes, short enough for a look before every run.
const KERNEL_NS: u64 = 500_000;
/// Numbers that the kernels work on at once: enough to keep the units for them busy all the time, few enough to stay in
/// registers. What another thread of the core takes shows only then.
const LANES: usize = 8;
const FLOATING_LANES: usize = 24;
/// Rounds of a pass of a computing kernel: some us on any core.
const ROUNDS: u64 = 2_000;
/// Bytes that a pass of the memory kernel reads and writes.
const PASS_BYTES: usize = 64 << 10;
/// The memory kernel's buffer where the caches' sizes are not known.
const BUFFER_BYTES_DEFAULT: usize = 4 << 20;
/// Bytes of a cache line on most cores; a larger line makes the walk coarser, not wrong.
const LINE_BYTES: usize = 64;

/// The speeds of `cpus` while all of them compute at the same time, in their order; `None` where a thread could not be
/// pinned. One cpu alone: a list of one.
///
/// Takes some milliseconds, however many there are.
///
/// ```
/// let alone = host::speeds(&[0])[0];
/// let together = host::speeds(&[0, 1]);
/// if let (Some(alone), Some(together)) = (alone, together[0]) {
///     let [integer, floating, memory] = together.slower_than(&alone);
///     println!("with cpu 1 busy, cpu 0 is {integer:.2}, {floating:.2} and {memory:.2} times slower");
/// }
/// ```
pub fn speeds(cpus: &[u32]) -> Vec<Option<Speed>> {
    let barrier = Barrier::new(cpus.len());
    let measured = |cpu: u32| {
        let pinned = pin::to_cpu(cpu).is_ok();
        let mut buffer = vec![1u8; buffer_bytes(cpu)];
        let mut at = 0;
        let mut medians_ns = [0.0; 3];
        for (kernel, median_ns) in medians_ns.iter_mut().enumerate() {
            barrier.wait();
            *median_ns = repeated(|| match kernel {
                0 => integers(),
                1 => floats(),
                _ => at = walk(&mut buffer, at),
            });
        }
        // Until the last one has finished, the others keep their cores busy no longer: the medians bear that.
        let [integer_ns, floating_ns, memory_ns] = medians_ns;
        pinned.then_some(Speed { integer_ns, floating_ns, memory_ns })
    };
    std::thread::scope(|s| {
        let threads: Vec<_> = cpus.iter().map(|&cpu| s.spawn(move || measured(cpu))).collect();
        threads.into_iter().map(|t| t.join().unwrap_or_default()).collect()
    })
}

/// Keeps cpus busy with the fixed kernels, as long as this lives: what is measured meanwhile has busy neighbours.
#[derive(Debug)]
pub struct Busy {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    /// One thread on each of `cpus`.
    ///
    /// ```
    /// let busy = host::Busy::on(&[1]);
    /// let beside = host::speeds(&[0]);
    /// drop(busy);
    /// # let _ = beside;
    /// ```
    pub fn on(cpus: &[u32]) -> Busy {
        let over = Arc::new(AtomicBool::new(false));
        let compute = |cpu: u32| {
            let over = Arc::clone(&over);
            std::thread::spawn(move || {
                // Unpinned it would disturb what is to be measured.
                if crate::pin::to_cpu(cpu).is_err() {
                    return;
                }
                let mut buffer = vec![1u8; buffer_bytes(cpu)];
                let mut at = 0;
                while !over.load(Ordering::Acquire) {
                    integers();
                    floats();
                    at = walk(&mut buffer, at);
                }
            })
        };
        Busy { threads: cpus.iter().map(|&cpu| compute(cpu)).collect(), over }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The median time of a pass, of those that begin within [`KERNEL_NS`].
fn repeated(mut pass: impl FnMut()) -> f64 {
    let mut passes_ns = Vec::with_capacity(256);
    let begin_ns = now_ns();
    let mut start_ns = begin_ns;
    while start_ns - begin_ns < KERNEL_NS {
        pass();
        let end_ns = now_ns();
        passes_ns.push(end_ns - start_ns);
        start_ns = end_ns;
    }
    passes_ns.sort_unstable();
    passes_ns[passes_ns.len() / 2] as f64
}

/// ns that a fixed piece of work takes this thread now, some us in all: the quicker of two passes, so that an
/// interruption of one does not count.
pub(crate) fn work_ns() -> f64 {
    let pass_ns = || {
        let start_ns = now_ns();
        integers();
        now_ns().saturating_sub(start_ns).max(1)
    };
    pass_ns().min(pass_ns()) as f64
}

fn integers() {
    let mut lanes: [u64; LANES] = black_box(std::array::from_fn(|i| i as u64 + 1));
    for round in 0..ROUNDS {
        for x in &mut lanes {
            *x = (x.wrapping_mul(6_364_136_223_846_793_005) ^ (*x >> 29)).wrapping_add(round);
        }
    }
    black_box(lanes);
}

fn floats() {
    let mut lanes: [f64; FLOATING_LANES] = black_box(std::array::from_fn(|i| i as f64 + 1.0));
    let (factor, term) = black_box((0.999_9, 1e-3));
    for _ in 0..ROUNDS {
        for x in &mut lanes {
            *x = *x * factor + term;
        }
    }
    black_box(lanes);
}

/// Raises a byte of every line from `at` on; where the next pass goes on.
fn walk(buffer: &mut [u8], at: usize) -> usize {
    let end = (at + PASS_BYTES).min(buffer.len());
    for byte in buffer[at..end].iter_mut().step_by(LINE_BYTES) {
        *byte = byte.wrapping_add(1);
    }
    black_box(&buffer[at..end]);
    if end == buffer.len() { 0 } else { end }
}

/// Twice the caches that are the core's own (up to the second level), as the kernel lists them.
fn buffer_bytes(cpu: u32) -> usize {
    let read = |index: u32, name: &str| {
        std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}/{name}")).ok()
    };
    let bytes = (0..8).find_map(|index| {
        let level: u32 = read(index, "level")?.trim().parse().ok()?;
        let kilobytes: usize = read(index, "size")?.trim().strip_suffix('K')?.parse().ok()?;
        (level == 2).then_some(2 * kilobytes * 1024)
    });
    bytes.unwrap_or(BUFFER_BYTES_DEFAULT).max(PASS_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_has_a_speed_alone_and_together() {
        let cpus = crate::Affinity::of_this_thread().unwrap().cpus();
        for list in [&cpus[..1], &cpus[..cpus.len().min(2)]] {
            let speeds = speeds(list);
            assert_eq!(speeds.len(), list.len());
            for speed in speeds.into_iter().flatten() {
                assert!(speed.parts_ns().iter().all(|ns| *ns > 0.0), "{speed:?}");
                assert_eq!(speed.slower_than(&speed), [1.0; 3]);
            }
        }
    }

    #[test]
    fn cpus_are_busy_until_nobody_wants_them_to_be() {
        let cpus = crate::Affinity::of_this_thread().unwrap().cpus();
        let busy = Busy::on(&cpus[1..]);
        assert_eq!(busy.threads.len(), cpus.len() - 1);
        let over = Arc::clone(&busy.over);
        assert!(!over.load(Ordering::Acquire));
        drop(busy);
        assert!(over.load(Ordering::Acquire) && Arc::strong_count(&over) == 1, "no thread is left");
    }

    #[test]
    fn a_cpu_that_is_not_there_has_no_speed_and_no_cpu_is_no_work() {
        assert_eq!(speeds(&[8191]), [None]);
        assert_eq!(speeds(&[]), []);
    }

    #[test]
    fn half_the_speed_is_twice_as_slow() {
        let fast = Speed { integer_ns: 10.0, floating_ns: 20.0, memory_ns: 40.0 };
        let slow = Speed { integer_ns: 20.0, floating_ns: 20.0, memory_ns: 120.0 };
        assert_eq!(slow.slower_than(&fast), [2.0, 1.0, 3.0]);
    }
}
