//! Whether received data lands in this cpu's caches or past them, in memory: measured on the copies themselves.
//!
//! An ordinary store first fetches the line that it overwrites. Where a cache has that line, this costs little. Where
//! the data of all ranks together is more than the caches hold, each line comes from memory first and goes back there
//! later, while a store past the caches writes it once. Who reads the data next then gets it from memory; it would have
//! been there as well. (Two ranks on an EPYC that others use, 4 MB: an allgather takes 1.3 ms instead of 1.6, a gather
//! .7 instead of .9; to and fro, a message takes .35 ms instead of .19.)
//!
//! Messages take this as one of their ways (see `ways`), because it costs their next sender, too. What a rank reads
//! where another one shows it, or copies itself, is here: each rank measures for itself, because the data is its own.
//!
//! Where a rank copies data of its own and receives other data, as in a gather or an exchange, what lands where only
//! shows in all of it together: see `engine::own`.

use crate::copy::can_copy_past;

/// Where data lands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Landing {
    /// In this cpu's caches.
    #[default]
    InCaches,
    /// In memory.
    PastCaches,
}

/// Where it comes from. What a copy costs depends on that, too.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin {
    /// Where another rank shows it.
    Room,
    /// This rank's own data.
    Own,
}

const ORIGINS: usize = 2;
/// Sizes of data below twice this power of two are one class; each class above is up to the next power of two.
const SMALLEST: u32 = 16;
/// Classes of sizes; all sizes above are in the last one.
const CLASSES: usize = 8;
/// What a copy counts beside those before. The mean counts, not the least: some lines of a piece are in a cache. A
/// choice, as are the next ones.
const NEWEST: f32 = 1.0 / 16.0;
/// More than so many times what was known counts as this: the rank may have lost its cpu.
const MOST: f32 = 2.0;
/// Data lands past the caches where that costs less than this part. Who reads it next may have more to wait for. (On an
/// EPYC it costs 0.7 to 0.8 where all data is more than the caches hold, and 1.3 to 1.6 where it is less.)
const PART: f32 = 0.875;
/// After so many decisions the other landing is tried; soon at first. A choice, as are the next ones.
const TRIALS_FIRST: u32 = 4;
const TRIALS_EACH: u32 = 1024;
/// After a change, decisions are counted from this one on: the one before is tried again at the 256th.
const AFTER_CHANGE: u32 = 209;
/// It is tried by so many data in a row, of which the first do not count: when data lands in another place, lines are
/// in the caches at first that will not be there later, or the other way round. Neither do the first of all, which get
/// memory.
const TRIAL: u32 = 4;
const WARM_UP: u32 = 2;

/// What was seen of one class of sizes.
#[derive(Clone, Copy, Default)]
struct Seen {
    decisions: u32,
    /// What a byte costs by each landing, in ns; 0: that is not known.
    ns: [f32; 2],
    /// How many data of this trial were decided on; 0: there is none now. Bytes of it that count, and what they took.
    tried: u32,
    bytes: f32,
    took_ns: f32,
}

impl Landing {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::InCaches => Self::PastCaches,
            Self::PastCaches => Self::InCaches,
        }
    }
}

impl Seen {
    fn choose(&mut self) -> Landing {
        self.decisions = self.decisions.wrapping_add(1);
        if self.tried == TRIAL {
            self.end_trial();
        }
        if self.tried > 0 || is_time_to_try(self.decisions) {
            self.tried += 1;
        }
        if self.tried > 0 { self.usual().other() } else { self.usual() }
    }

    /// Where data lands, but for trials.
    fn usual(&self) -> Landing {
        let [in_caches, past_caches] = self.ns;
        let is_past = past_caches > 0.0 && past_caches < PART * in_caches;
        if is_past { Landing::PastCaches } else { Landing::InCaches }
    }

    /// What was tried costs so much from now on.
    fn end_trial(&mut self) {
        let usual = self.usual();
        if self.bytes > 0.0 {
            self.ns[usual.other() as usize] = self.took_ns / self.bytes;
        }
        if self.usual() != usual {
            // It may be wrong, because others used the caches meanwhile: then that is found soon.
            self.decisions = AFTER_CHANGE;
        }
        (self.tried, self.bytes, self.took_ns) = (0, 0.0, 0.0);
    }

    fn learn(&mut self, landing: Landing, bytes: usize, took_ns: u64) {
        if self.decisions <= WARM_UP {
            return;
        }
        let (bytes, took_ns) = (bytes.max(1) as f32, took_ns as f32);
        let is_usual = landing == self.usual();
        let known_ns = &mut self.ns[landing as usize];
        match self.tried {
            _ if is_usual && *known_ns == 0.0 => *known_ns = took_ns / bytes,
            0 if is_usual => *known_ns += NEWEST * ((took_ns / bytes).min(MOST * *known_ns) - *known_ns),
            tried if tried > WARM_UP && !is_usual => {
                self.bytes += bytes;
                self.took_ns += took_ns;
            }
            _ => {}
        }
    }
}

/// Whether what costs more is tried again: at 4, 32 and 256 decisions, and at each 1,024th.
fn is_time_to_try(decisions: u32) -> bool {
    match decisions {
        TRIALS_EACH.. => decisions.is_multiple_of(TRIALS_EACH),
        _ => decisions >= TRIALS_FIRST && decisions.is_power_of_two() && decisions.ilog2() % 3 == 2,
    }
}

/// What this rank has measured.
pub(crate) struct Landings {
    /// Less data always lands in the caches, which hold it.
    from_bytes: usize,
    seen: [[Seen; CLASSES]; ORIGINS],
}

impl Landings {
    /// All data of fewer bytes lands in the caches, and all that is below the second class of sizes.
    pub(crate) fn of_data_from(bytes: usize) -> Self {
        Self { from_bytes: bytes.max(2 << SMALLEST), seen: Default::default() }
    }

    /// Whether data of so many bytes may land past the caches.
    pub(crate) fn has_choice(&self, data: usize) -> bool {
        data >= self.from_bytes && can_copy_past()
    }

    fn seen(&mut self, origin: Origin, data: usize) -> Option<&mut Seen> {
        let class = self.has_choice(data).then(|| data.ilog2().saturating_sub(SMALLEST) as usize)?;
        Some(&mut self.seen[origin as usize][class.min(CLASSES - 1)])
    }

    /// Where contiguous data of so many bytes in all lands next.
    pub(crate) fn choose(&mut self, origin: Origin, data: usize) -> Landing {
        self.seen(origin, data).map_or(Landing::InCaches, Seen::choose)
    }

    /// A copy of so many bytes took so long; of data that has `data` bytes in all.
    pub(crate) fn learn(
        &mut self,
        origin: Origin,
        data: usize,
        landing: Landing,
        bytes: usize,
        took_ns: u64,
    ) {
        let Some(seen) = self.seen(origin, data) else { return };
        seen.learn(landing, bytes, took_ns);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const DATA: usize = 4 << 20;
    const FROM: usize = 1 << 20;

    /// Which part of so many messages lands past the caches, when copies take so long.
    fn part_past(landings: &mut Landings, messages: u32, in_caches_ns: u64, past_caches_ns: u64) -> f32 {
        let mut past = 0;
        for _ in 0..messages {
            let landing = landings.choose(Origin::Room, DATA);
            let is_past = landing == Landing::PastCaches;
            past += u32::from(is_past);
            let took_ns = if is_past { past_caches_ns } else { in_caches_ns };
            (0..4).for_each(|_| landings.learn(Origin::Room, DATA, landing, 16_384, took_ns));
        }
        past as f32 / messages as f32
    }

    #[test]
    fn nearly_all_data_lands_where_its_copies_cost_less_and_a_change_is_followed() {
        if !can_copy_past() {
            return; // This cpu has no such stores.
        }
        let mut landings = Landings::of_data_from(FROM);
        assert!(part_past(&mut landings, 2000, 1000, 1500) < 0.02);
        assert!(part_past(&mut landings, 4000, 1000, 500) > 0.7);
        assert!(part_past(&mut landings, 2000, 1000, 500) > 0.98);
        // What is known of one size or origin says nothing of another.
        assert_eq!(landings.choose(Origin::Own, DATA), Landing::InCaches);
        assert_eq!(landings.choose(Origin::Room, DATA / 2), Landing::InCaches);
        // What becomes slower is left before it is time to try.
        assert!(part_past(&mut landings, 900, 1000, 1500) < 0.1);
    }

    #[test]
    fn a_little_less_is_not_enough() {
        let mut landings = Landings::of_data_from(FROM);
        assert!(part_past(&mut landings, 2000, 1000, 900) < 0.02);
    }

    #[test]
    fn the_first_copies_of_a_trial_do_not_count() {
        if !can_copy_past() {
            return; // This cpu has no such stores.
        }
        let mut landings = Landings::of_data_from(FROM);
        part_past(&mut landings, TRIALS_FIRST - 1, 1000, 500);
        assert_eq!(part_past(&mut landings, WARM_UP, 1000, 5000), 1.0);
        assert_eq!(part_past(&mut landings, TRIAL - WARM_UP, 1000, 500), 1.0);
        assert_eq!(part_past(&mut landings, 256 - AFTER_CHANGE, 1000, 500), 1.0);
        assert_eq!(part_past(&mut landings, TRIAL, 1000, 500), 0.0);
    }

    #[test]
    fn small_data_lands_in_the_caches_whatever_its_copies_cost() {
        let mut landings = Landings::of_data_from(FROM);
        for bytes in [0, 1, FROM - 1] {
            for _ in 0..100 {
                let landing = landings.choose(Origin::Own, bytes);
                assert_eq!(landing, Landing::InCaches);
                landings.learn(Origin::Own, bytes, landing, bytes, 1_000_000);
            }
        }
    }

    #[test]
    fn the_other_landing_is_tried_soon_at_first_and_rarely_later() {
        let times: Vec<u32> = (0..3000).filter(|&at| is_time_to_try(at)).collect();
        assert_eq!(times, [4, 32, 256, 1024, 2048]);
    }
}
