//! Which way large messages from a rank take: measured on the messages themselves.
//!
//! No way is the faster one everywhere. On an EPYC the pool is twice as fast as the kernel's copy from process to
//! process; on a Xeon the kernel needs two thirds of the pool's time for a megabyte, and as much for a quarter of one.
//! It changes while a job runs, too: two virtual cpus may share a core now, and none a minute later.
//!
//! Messages that are under way at the same time are a *run*: they take one way, and what counts is the time of all of
//! them together.

/// A way of a large message between two ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Way {
    /// The sender copies into slots of the pool, the receiver out of them.
    #[default]
    Pool,
    /// Both copy pieces from memory to memory, by the kernel.
    Kernel,
    /// The receiver copies all by the kernel; the sender need not be asked.
    Receiver,
}

/// The ways of a message that one side alone may copy, and of one that both must be able to copy.
const WAYS: [Way; 3] = [Way::Pool, Way::Kernel, Way::Receiver];
const SHARED_WAYS: &[Way] = WAYS.split_at(2).0;

/// Sizes below twice this power of two are one class; each class above is up to the next power of two.
const SMALLEST: u32 = 16;
/// Classes of sizes; all sizes above are in the last one.
const CLASSES: usize = 8;
/// So many runs in a row try a way: a choice, as are the next three. The first ones take longer: they get memory for
/// the pool, or find in no cache what the runs before left there. (On an EPYC with 1 MB of second cache, 256 kB to and
/// fro take 8 us through the pool and 22 by the kernel. With single runs by turns, the kernel's was preferred.)
pub(super) const TRIAL: u32 = 8;
/// After so many runs, all ways are tried again. Both sides of an exchange count the same runs, so that they try the
/// same way at the same time.
const TRIALS_EACH: u32 = 1024;
/// The same when the fastest way has become so many times slower or faster since the trials: then the computer has
/// changed, and what is known of the others is of another time.
const TRIALS_AFTER_CHANGE: u32 = 256;
const CHANGE: f32 = 1.5;
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
    /// Runs of the trials that are left, and runs since they were over.
    trials: u32,
    since: u32,
    /// What the fastest way cost when the trials were over.
    before: f32,
    /// By way; 0: none has gone that way.
    ns_per_byte: [f32; WAYS.len()],
}

impl Seen {
    /// Which of these ways the next run takes.
    fn choose(&mut self, ways: &[Way]) -> Way {
        let ns = |way: Way| self.ns_per_byte[way as usize];
        let fastest =
            ways.iter().copied().min_by(|&one, &other| ns(one).total_cmp(&ns(other))).unwrap_or_default();
        let (now, is_new) = (ns(fastest), self.ns_per_byte == [0.0; WAYS.len()]);
        let has_changed = now > CHANGE * self.before || now * CHANGE < self.before;
        if self.trials == 0
            && (is_new || self.since >= TRIALS_EACH || self.since >= TRIALS_AFTER_CHANGE && has_changed)
        {
            (self.trials, self.since) = (TRIAL * ways.len() as u32, 0);
        }
        if self.trials > 0 {
            self.trials -= 1;
            return ways[(ways.len() - 1).saturating_sub((self.trials / TRIAL) as usize)];
        }
        if self.since == 0 {
            self.before = now;
        }
        self.since += 1;
        fastest
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
    ///
    /// `shared`: both sides must be able to copy it.
    pub(crate) fn choose(&mut self, bytes: usize, shared: bool, now_ns: u64) -> Way {
        if self.under_way == 0 || self.messages == LONGEST {
            self.end_run(now_ns);
            self.class = (bytes.max(1).ilog2().saturating_sub(SMALLEST) as usize).min(CLASSES - 1);
            self.way = self.seen[self.class].choose(if shared { SHARED_WAYS } else { &WAYS });
            (self.messages, self.since_ns) = (0, now_ns);
        }
        self.messages += 1;
        self.under_way += 1;
        if shared && self.way == Way::Receiver { Way::Kernel } else { self.way }
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

    /// Runs of so many messages at once, each of so many bytes, that take so long by each way; which part of the runs
    /// took each.
    fn parts(ways: &mut Ways, runs: u64, at_once: u64, bytes: usize, shared: bool, ns: [u64; 3]) -> [f32; 3] {
        let mut parts = [0.0; 3];
        for run in 0..runs {
            let start_ns = run << 40;
            let way = (0..at_once).map(|_| ways.choose(bytes, shared, start_ns)).last().expect("a message");
            (1..=at_once).for_each(|number| ways.complete(bytes, start_ns + number * ns[way as usize]));
            parts[way as usize] += 1.0 / runs as f32;
        }
        parts
    }

    #[test]
    fn nearly_all_messages_take_the_fastest_way_for_their_size() {
        for at_once in [1, 2, 64, 200] {
            let mut ways = Ways::default();
            let mut parts = |bytes, ns| parts(&mut ways, 1000, at_once, bytes, false, ns);
            assert!(parts(1 << 20, [80_000, 55_000, 90_000])[Way::Kernel as usize] > 0.95);
            assert!(parts(200_000, [15_000, 20_000, 16_000])[Way::Pool as usize] > 0.95);
            assert!(parts(100_000, [7_000, 6_500, 6_000])[Way::Receiver as usize] > 0.95);
            assert!(parts(1 << 30, [9_000_000, 8_000_000, 9_000_000])[Way::Kernel as usize] > 0.95);
            // What was learned of one size says nothing of another.
            assert!(parts(1 << 20, [80_000, 55_000, 90_000])[Way::Kernel as usize] > 0.97);
        }
    }

    #[test]
    fn a_message_that_both_must_be_able_to_copy_is_never_the_receivers_alone() {
        let mut ways = Ways::default();
        let ns = [80_000, 55_000, 10_000];
        assert!(parts(&mut ways, 1000, 1, 1 << 22, true, ns)[Way::Receiver as usize] == 0.0);
        parts(&mut ways, 1000, 1, 100_000, false, ns);
        assert_eq!(ways.choose(100_000, false, 0), Way::Receiver);
        assert_eq!(ways.choose(1 << 22, true, 0), Way::Kernel);
    }

    #[test]
    fn messages_that_never_pause_change_their_way_now_and_then() {
        let mut ways = Ways::default();
        let mut by = [0; 3];
        for number in 0..10_000 {
            // One begins before the last one ends.
            let way = ways.choose(1 << 20, false, number * 80_000);
            if number > 0 {
                ways.complete(1 << 20, number * 80_000 + 1);
            }
            by[way as usize] += 1;
        }
        assert!(by.iter().all(|&messages| messages > 150), "{by:?}");
    }

    #[test]
    fn a_way_that_becomes_faster_is_found() {
        let mut ways = Ways::default();
        parts(&mut ways, 1000, 1, 1 << 20, false, [50_000, 80_000, 70_000]);
        parts(&mut ways, 1000, 1, 1 << 20, false, [50_000, 20_000, 70_000]);
        let now = parts(&mut ways, 1000, 1, 1 << 20, false, [50_000, 20_000, 70_000]);
        assert!(now[Way::Kernel as usize] > 0.97, "{now:?}");
    }

    #[test]
    fn one_message_that_waited_for_long_changes_nothing() {
        let mut ways = Ways::default();
        let ns = [50_000, 80_000, 90_000];
        parts(&mut ways, 100, 1, 1 << 20, false, ns);
        assert_eq!(ways.choose(1 << 20, false, 0), Way::Pool);
        ways.complete(1 << 20, 1_000_000_000);
        assert!(parts(&mut ways, 100, 1, 1 << 20, false, ns)[Way::Pool as usize] > 0.8);
    }
}
