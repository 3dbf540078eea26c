//! The pages of the segment in which the job and each rank say what they are and what they do.

use super::{MOST_RANKS, PAGE};
use crate::claims::Claims;
use crate::costs::{Costs, SlotCosts};
use crate::slots::{SlotCount, SlotFlow};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// The first page. Written by the launcher before any rank starts, but for what is atomic.
#[repr(C)]
pub struct JobPage {
    pub(super) magic: u64,
    pub(super) ranks: u32,
    /// CPUs that the ranks of this job may use, by affinity and quota, as the launcher saw it.
    pub cpus: u32,
    pub(super) bytes: u64,
    /// Id of the process that started the job.
    pub launcher: AtomicU32,
    /// Not 0: the job is over, every waiting rank leaves. The rank that ended it plus one, or `BY_LAUNCHER`.
    pub dead: AtomicU32,
    /// The next free context of communicators; contexts are never used again.
    pub next_context: AtomicU32,
    /// Identifies the job among others on this machine (random).
    pub identity: AtomicU64,
    /// What ranks are to see of themselves: `hook::*`.
    pub hooks: AtomicU32,
    /// On a simulated machine: bytes of a local store for the program's data; 0: that lies in main memory.
    pub data_room: AtomicU32,
    /// On a simulated machine: the ranks whose SPEs are on the second chip, a bit each.
    pub second_chip: AtomicU32,
    /// As `Segment::turnover_bytes` reads it.
    pub(super) turnover_bytes: AtomicU64,
    /// As `Segment::shared_cache_bytes` reads it.
    pub(super) shared_cache_bytes: AtomicU64,
    /// Bytes of each rank's tallies; 0 when there are none.
    pub(super) tally_bytes: u64,
    /// Bytes of each rank's store; 0 when ranks carry their messages themselves.
    pub(super) store_bytes: u64,
    /// What copies cost, as the ranks measure it.
    pub(crate) costs: Costs,
    pub(crate) slot_costs: SlotCosts,
}

/// What a rank tells the job about itself.
#[repr(C)]
pub struct RankPage {
    /// The process that claimed this rank; 0 before.
    pub pid: AtomicU32,
    /// One of `stage::*`.
    pub stage: AtomicU32,
    /// What an abort said: its exit code plus one; 0 when there was none.
    pub aborted: AtomicU32,
    /// Bytes of `text` that are valid.
    pub text_bytes: AtomicU32,
    _line: [u32; 12],
    /// Futex word: what the rank is to be woken for while it sleeps (`asleep::FOR_NEWS` and `FOR_ROOM`), else 0. Read
    /// by every sender, so that its line is written by nobody but who sleeps or wakes.
    pub asleep: AtomicU32,
    _asleep_line: u32,
    /// When the rank was last woken (`host::clock::kernel_ns`), for its measure of what a wake-up costs.
    pub woken_ns: AtomicU64,
    _woken_line: [u32; 12],
    /// Senders that have used their ring to this rank, a bit each.
    pub connected: [AtomicU64; MOST_RANKS / 64],
    _connected_line: [u64; 4],
    /// Why the rank ended the job, for the launcher's line; UTF-8.
    pub text: [AtomicU8; 512],
    /// Changes whenever the rank says something new of what it waits for; odd: it waits.
    pub waiting: AtomicU32,
    /// Bytes of `waiting_text` that are valid.
    waiting_bytes: AtomicU32,
    /// The call that the rank waits in, and what it waits for; UTF-8.
    waiting_text: [AtomicU8; 248],
    /// The cpus that the rank could use when it started, a bit each.
    pub affinity: [AtomicU64; 16],
    /// The messages that this rank and their senders copy together.
    pub(crate) rendezvous: [Claims; PLACES],
    /// Address of a word in the rank's memory that others may read, and of one behind it to which they may write; 0:
    /// not yet.
    pub probe: AtomicU64,
    /// Up to which byte the rank's room holds what it shows.
    pub(crate) shown: AtomicU64,
    /// The cpu where the rank last copied large data, plus one; 0: not yet.
    pub(crate) cpu: AtomicU32,
    /// Of which classes of data the rank would rather show than send what ranks gather, and what they exchange, a bit
    /// each: for all ranks of communicators for which it answers.
    pub(crate) shows_gathered: AtomicU32,
    pub(crate) shows_exchanged: AtomicU32,
    /// Of which classes of data the rank, as the root of a gather, would rather get messages than what others pass
    /// through their slots, a bit each.
    pub(crate) sends_gathered: AtomicU32,
    /// Of which classes of data the rank would rather have it past the caches when it comes through slots, by
    /// `SlotFlow`, a bit each: for all ranks of communicators for which it answers.
    pub(crate) lands_past: [AtomicU32; SlotFlow::COUNT],
    /// The same of operands that the rank would rather read than be sent, by `ReductionOfTwo`.
    pub(crate) reads_operands: [AtomicU32; 2],
    /// Not 0: one thread of the rank at a time has to do with messages, and so with its window. Said before
    /// `INITIALISED`.
    pub one_thread: AtomicU32,
}
/// The first page of a window: what its owner counts.
#[repr(C)]
pub struct WindowCounts {
    /// Slots that it has filled so far.
    pub filled: SlotCount,
    /// The same with those that it has told others of, and fills next.
    pub promised: SlotCount,
    _filled_line: [u64; 6],
    /// Slots of others that it has reduced so far, in an exchange of two ranks.
    pub reduced: SlotCount,
    _reduced_line: [u64; 7],
    _lines: [[u64; 8]; 30],
    /// Slots that it has taken, by the rank that filled them.
    pub taken: [SlotCount; MOST_RANKS],
}
#[cfg(not(loom))]
const _: () = assert!(size_of::<WindowCounts>() <= PAGE);

/// Places for claims in a rank's page.
pub(crate) const PLACES: usize = 44 * 64 / size_of::<Claims>();
const _: () = assert!(size_of::<RankPage>() <= PAGE && size_of::<JobPage>() <= PAGE);

/// How far a rank is.
#[allow(missing_docs)]
pub mod stage {
    pub const UNCLAIMED: u32 = 0;
    pub const CLAIMED: u32 = 1;
    pub const INITIALISED: u32 = 2;
    pub const FINALISED: u32 = 3;
}

/// What ranks report when the launcher wants it.
pub mod hook {
    /// Messages and time are counted (`--profile`).
    pub const PROFILE: u32 = 1;
    /// A rank that waits long says for what (`--stuck-after`).
    pub const STUCK: u32 = 2;
    /// A simulator hears what a rank computes between calls (`--on`).
    pub const COMPUTED: u32 = 4;
}

impl RankPage {
    /// Says what the rank waits for; an empty text: it waits no more. The first 248 bytes count.
    pub fn waits(&self, text: &str) {
        let before = self.waiting.load(Ordering::Relaxed);
        for (place, byte) in self.waiting_text.iter().zip(text.bytes()) {
            place.store(byte, Ordering::Relaxed);
        }
        self.waiting_bytes.store(text.len().min(self.waiting_text.len()) as u32, Ordering::Relaxed);
        let next = before.wrapping_add(1) | 1;
        self.waiting.store(if text.is_empty() { next.wrapping_add(1) } else { next }, Ordering::Release);
    }

    /// Whether a value of `waiting` says that the rank waits.
    pub fn says_waiting(waiting: u32) -> bool {
        waiting & 1 == 1
    }

    /// What the rank says that it waits for.
    pub fn waits_for(&self) -> Option<String> {
        if !Self::says_waiting(self.waiting.load(Ordering::Acquire)) {
            return None;
        }
        Some(line(&self.waiting_text, &self.waiting_bytes))
    }
}

/// One line of text that a rank left in its page; whatever it left, it is safe to print.
pub(super) fn line(text: &[AtomicU8], bytes: &AtomicU32) -> String {
    let bytes = (bytes.load(Ordering::Relaxed) as usize).min(text.len());
    let text: Vec<u8> = text[..bytes].iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
    String::from_utf8_lossy(&text).replace(char::is_control, "?")
}
