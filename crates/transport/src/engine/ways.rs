//! Which way large messages from a rank take: measured on the messages themselves.
//!
//! No way is the faster one everywhere. On an EPYC the pool is twice as fast as the kernel's copy from process to
//! process; on a Xeon the kernel needs half of the pool's time for a megabyte, and as much for a quarter of one. It
//! changes while a job runs, too: two virtual cpus may share a core now, and none a minute later.

/// A way of a large message between two ranks that both move messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// The sender copies into slots of the pool, the receiver out of them.
    Pool,
    /// Both copy pieces from memory to memory, by the kernel.
    Kernel,
}

/// Sizes below this power of two are one class; each class above is up to the next power of two.
const SMALLEST: u32 = 17;
/// Classes of sizes; all sizes above are in the last one.
const CLASSES: usize = 8;
/// So many of the first messages take the ways in turn: the first ones of a job also get memory for the pool.
const FIRST: u32 = 8;
/// After those, each message with a multiple of this number takes the way that was the slower one.
const SLOWER_EACH: u32 = 64;
/// What a message counts that took less time than was known of its way.
const FALL: f32 = 0.5;
/// What one counts that took more: less, because it may have waited for its sender, or for a cpu.
const RISE: f32 = 1.0 / 16.0;
/// More than so many times what was known counts as this.
const MOST: f32 = 4.0;

/// Messages of one class of sizes.
#[derive(Clone, Copy, Default)]
struct Seen {
    messages: u32,
    /// By way; 0: none has gone that way.
    ns_per_byte: [f32; 2],
}

/// What is known of messages from one rank.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ways {
    seen: [Seen; CLASSES],
}

impl Ways {
    fn class(bytes: usize) -> usize {
        (bytes.max(1).ilog2().saturating_sub(SMALLEST) as usize).min(CLASSES - 1)
    }

    /// The way of the next message of so many bytes.
    pub(crate) fn choose(&mut self, bytes: usize) -> Way {
        let seen = &mut self.seen[Self::class(bytes)];
        let [pool, kernel] = seen.ns_per_byte;
        let number = seen.messages;
        seen.messages = number.wrapping_add(1);
        let by_kernel = if number < FIRST {
            number % 2 == 1
        } else {
            (kernel < pool) != number.is_multiple_of(SLOWER_EACH)
        };
        if by_kernel { Way::Kernel } else { Way::Pool }
    }

    /// A message of so many bytes took so long.
    pub(crate) fn took(&mut self, bytes: usize, way: Way, ns: u64) {
        let known = &mut self.seen[Self::class(bytes)].ns_per_byte[way as usize];
        let now = ns.max(1) as f32 / bytes.max(1) as f32;
        *known = match *known {
            0.0 => now,
            before if now < before => before + FALL * (now - before),
            before => before + RISE * (now.min(MOST * before) - before),
        };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Sends messages of so many bytes that take so long by the pool and by the kernel; how many the kernel had.
    fn by_kernel(ways: &mut Ways, messages: usize, bytes: usize, ns: [u64; 2]) -> usize {
        let mut kernel = 0;
        for _ in 0..messages {
            let way = ways.choose(bytes);
            ways.took(bytes, way, ns[way as usize]);
            kernel += usize::from(way == Way::Kernel);
        }
        kernel
    }

    #[test]
    fn nearly_all_messages_take_the_faster_way_for_their_size() {
        let mut ways = Ways::default();
        assert!(by_kernel(&mut ways, 1000, 1 << 20, [80_000, 55_000]) > 970);
        assert!(by_kernel(&mut ways, 1000, 200_000, [15_000, 20_000]) < 30);
        assert!(by_kernel(&mut ways, 1000, usize::MAX, [9_000, 8_000]) > 970);
        // What was learned of one size says nothing of another.
        assert!(by_kernel(&mut ways, 1000, 1 << 20, [80_000, 55_000]) > 970);
    }

    #[test]
    fn a_way_that_becomes_faster_is_found() {
        let mut ways = Ways::default();
        by_kernel(&mut ways, 1000, 1 << 20, [50_000, 80_000]);
        by_kernel(&mut ways, 1000, 1 << 20, [50_000, 20_000]);
        assert!(by_kernel(&mut ways, 1000, 1 << 20, [50_000, 20_000]) > 970);
    }

    #[test]
    fn one_message_that_waited_for_long_changes_nothing() {
        let mut ways = Ways::default();
        by_kernel(&mut ways, 100, 1 << 20, [50_000, 80_000]);
        ways.took(1 << 20, Way::Pool, 1_000_000_000);
        assert!(by_kernel(&mut ways, 100, 1 << 20, [50_000, 80_000]) < 20);
    }
}
