//! Which way large messages from a rank take: measured on the messages themselves.
//!
//! No way is the faster one everywhere. On an EPYC the pool is twice as fast as the kernel's copy from process to
//! process; on a Xeon the kernel needs two thirds of the pool's time for a megabyte, and as much for a quarter of one.
//! It changes while a job runs, too: two virtual cpus may share a core now, and none a minute later.
//!
//! Messages that are under way at the same time are a *run*: they take one way, and what counts is the time of all of
//! them together.

/// A way of a large message between two ranks that both move messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Way {
    /// The sender copies into slots of the pool, the receiver out of them.
    #[default]
    Pool,
    /// Both copy pieces from memory to memory, by the kernel.
    Kernel,
}

/// Sizes below twice this power of two are one class; each class above is up to the next power of two.
const SMALLEST: u32 = 16;
/// Classes of sizes; all sizes above are in the last one.
const CLASSES: usize = 8;
/// So many of the first runs take the ways in turn: the first ones of a job also get memory for the pool.
const FIRST: u32 = 8;
/// After those, each run with a multiple of this number takes the way that was the slower one.
const SLOWER_EACH: u32 = 64;
/// A run ends after so many messages, if there was no end before.
const LONGEST: u32 = 64;
/// What a run counts that took less time than was known of its way.
const FALL: f32 = 0.5;
/// What one counts that took more: less, because it may have waited for its sender, or for a cpu.
const RISE: f32 = 1.0 / 16.0;
/// More than so many times what was known counts as this.
const MOST: f32 = 4.0;

/// What is known of one class of sizes.
#[derive(Clone, Copy, Default)]
struct Seen {
    runs: u32,
    /// By way; 0: none has gone that way.
    ns_per_byte: [f32; 2],
}

impl Seen {
    /// The way of the next run.
    fn choose(&mut self) -> Way {
        let [pool, kernel] = self.ns_per_byte;
        let number = self.runs;
        self.runs = number.wrapping_add(1);
        let by_kernel = if number < FIRST {
            number % 2 == 1
        } else {
            (kernel < pool) != number.is_multiple_of(SLOWER_EACH)
        };
        if by_kernel { Way::Kernel } else { Way::Pool }
    }

    /// A run went this way.
    fn learn(&mut self, way: Way, ns_per_byte: f32) {
        let known = &mut self.ns_per_byte[way as usize];
        *known = match *known {
            0.0 => ns_per_byte,
            before if ns_per_byte < before => before + FALL * (ns_per_byte - before),
            before => before + RISE * (ns_per_byte.min(MOST * before) - before),
        };
    }
}

/// What is known of messages from one rank, and their current run.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ways {
    seen: [Seen; CLASSES],
    way: Way,
    /// The class of the run's first message.
    class: usize,
    /// Messages of the run, and how many are not complete, those of the last run among them.
    messages: u32,
    under_way: u32,
    /// Bytes of messages that were completed in the run, and since when it is.
    bytes: usize,
    since_ns: u64,
}

impl Ways {
    /// The way of the next message of so many bytes, now.
    pub(crate) fn choose(&mut self, bytes: usize, now_ns: u64) -> Way {
        if self.under_way == 0 || self.messages == LONGEST {
            self.end_run(now_ns);
            self.class = (bytes.max(1).ilog2().saturating_sub(SMALLEST) as usize).min(CLASSES - 1);
            self.way = self.seen[self.class].choose();
            (self.messages, self.since_ns) = (0, now_ns);
        }
        self.messages += 1;
        self.under_way += 1;
        self.way
    }

    /// A message of so many bytes is complete now.
    pub(crate) fn complete(&mut self, bytes: usize, now_ns: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.under_way -= 1;
        if self.under_way == 0 {
            self.end_run(now_ns);
        }
    }

    fn end_run(&mut self, now_ns: u64) {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes > 0 {
            let ns = now_ns.saturating_sub(self.since_ns).max(1);
            self.seen[self.class].learn(self.way, ns as f32 / bytes as f32);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Runs of so many messages at once, each of so many bytes, that take so long by the pool and by the kernel; how
    /// many runs the kernel had.
    fn by_kernel(ways: &mut Ways, runs: usize, at_once: u64, bytes: usize, ns: [u64; 2]) -> usize {
        let mut kernel = 0;
        for run in 0..runs as u64 {
            let start_ns = run << 40;
            let way = (0..at_once).map(|_| ways.choose(bytes, start_ns)).last().expect("a message");
            (1..=at_once).for_each(|number| ways.complete(bytes, start_ns + number * ns[way as usize]));
            kernel += usize::from(way == Way::Kernel);
        }
        kernel
    }

    #[test]
    fn nearly_all_messages_take_the_faster_way_for_their_size() {
        for at_once in [1, 2, 64, 200] {
            let mut ways = Ways::default();
            let mut part = |bytes, ns| by_kernel(&mut ways, 1000, at_once, bytes, ns) as f32 / 1000.0;
            assert!(part(1 << 20, [80_000, 55_000]) > 0.95);
            assert!(part(200_000, [15_000, 20_000]) < 0.05);
            assert!(part(1 << 30, [9_000_000, 8_000_000]) > 0.95);
            // What was learned of one size says nothing of another.
            assert!(part(1 << 20, [80_000, 55_000]) > 0.97);
        }
    }

    #[test]
    fn messages_that_never_pause_change_their_way_now_and_then() {
        let mut ways = Ways::default();
        let mut kernel = 0;
        for number in 0..10_000 {
            // One begins before the last one ends.
            let way = ways.choose(1 << 20, number * 80_000);
            if number > 0 {
                ways.complete(1 << 20, number * 80_000 + 1);
            }
            kernel += usize::from(way == Way::Kernel);
        }
        assert!((200..9_800).contains(&kernel), "{kernel}");
    }

    #[test]
    fn a_way_that_becomes_faster_is_found() {
        let mut ways = Ways::default();
        by_kernel(&mut ways, 1000, 1, 1 << 20, [50_000, 80_000]);
        by_kernel(&mut ways, 1000, 1, 1 << 20, [50_000, 20_000]);
        assert!(by_kernel(&mut ways, 1000, 1, 1 << 20, [50_000, 20_000]) > 970);
    }

    #[test]
    fn one_message_that_waited_for_long_changes_nothing() {
        let mut ways = Ways::default();
        by_kernel(&mut ways, 100, 1, 1 << 20, [50_000, 80_000]);
        assert_eq!(ways.choose(1 << 20, 0), Way::Pool);
        ways.complete(1 << 20, 1_000_000_000);
        assert!(by_kernel(&mut ways, 100, 1, 1 << 20, [50_000, 80_000]) < 20);
    }
}
