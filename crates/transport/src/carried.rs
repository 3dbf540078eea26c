//! A rank whose messages a simulator carries. It asks the simulator for one thing at a time and waits for the answer.
//!
//! ```text
//! rank:      computes | asks ........ waits ........ | computes | asks
//! simulator: .. waits | carries it out, time passes | . waits . | ...
//! ```
//!
//! So at most one side runs. What the simulator does next depends on what ranks ask for, and never on how fast this
//! computer is. Rank and simulator meet at a desk in the rank's window. Data lies in the rank's store: the rank puts
//! what it sends there, and takes from there what it receives.

use crate::matching::Envelope;
use crate::segment::{PAGE, STORE_BYTES, Segment};
use host::futex::{self, Reach};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The most pieces of news in one answer.
pub const MOST_NEWS: usize = 64;
/// The most bytes that a rank gives at a time.
pub const MOST_GIVEN: usize = 16 << 10;
/// How long either side sleeps before it looks whether the job is over.
const LOOK_NS: u64 = 50_000_000;
/// Looks at the desk before a side sleeps.
const LOOKS: u32 = 300;

/// A word of `Desk::turn`.
mod turn {
    /// The rank computes.
    pub(super) const RANK: u32 = 0;
    /// The simulator carries out what the rank asks for.
    pub(super) const SIMULATOR: u32 = 1;
    /// The rank has ended: it asks for nothing more.
    pub(super) const GONE: u32 = 2;
}

/// Data of a message as it lies in its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriedData {
    /// Where it lies in the rank's store.
    pub at: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The program's address, modulo 16: what a DMA command has to respect.
    pub misaligned: u8,
    /// Pieces that it lies in at the program's place; 1: in a row.
    pub pieces: u32,
    /// The rank made it in its local store, or wants it there.
    pub local: bool,
}

/// What a rank asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CarriedCall {
    /// To begin.
    Begin,
    /// To send a message to a rank of the job.
    Send {
        /// The job's rank.
        to: u32,
        /// Its envelope.
        envelope: Envelope,
        /// Its data.
        data: CarriedData,
        /// The sender waits until the message is received.
        synchronous: bool,
    },
    /// What has come since the last look.
    Look,
    /// To wait until something comes.
    Wait,
    /// To receive the message of an entry.
    Fetch {
        /// The sender in the job.
        from: u32,
        /// The entry.
        entry: u32,
        /// Where it goes to; fewer bytes than the message has when there is no room for more.
        data: CarriedData,
    },
    /// To tell another rank something of an entry.
    Tell {
        /// The job's rank.
        to: u32,
        /// The entry.
        entry: u32,
        /// What of it.
        note: CarriedNote,
    },
    /// To give data to ranks, a bit each, who take it in the order in which it was given.
    Give {
        /// To whom.
        to: u32,
        /// The data, at most `MOST_GIVEN` bytes.
        data: CarriedData,
        /// Bytes of all that is given in pieces.
        whole: u64,
    },
    /// To take what each of some ranks has given next.
    Take {
        /// From whom, a bit each.
        from: u32,
        /// From which byte on.
        offset: u64,
        /// Where it goes to, one rank's data behind the other's; of each rank at most so many bytes.
        data: CarriedData,
    },
    /// To reduce operands.
    Combine {
        /// Bytes of results.
        bytes: u64,
        /// They are of double precision.
        double: bool,
        /// They lie in the local store.
        local: bool,
    },
    /// To bring data that was made in the local store to where it belongs.
    Keep {
        /// Where it goes to.
        data: CarriedData,
    },
    /// To compute: operations, and bytes of main memory that they touch.
    Compute {
        /// Floating-point operations of double precision.
        flops: f64,
        /// Bytes that are read or written.
        bytes: f64,
    },
    /// The time.
    Time,
    /// To end: nothing more is asked.
    End,
}

/// The simulator's answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CarriedAnswer {
    /// Done.
    Done,
    /// The send has an entry. `copied`: the data was copied.
    Sent {
        /// Which of the queue to that rank, counted from the start.
        entry: u32,
        /// The data may be used again.
        copied: bool,
    },
    /// It has to wait: for room, or for what others have not given yet.
    NotYet,
    /// What was taken.
    Taken {
        /// Bytes, of all ranks.
        bytes: u64,
        /// Bytes that the last one gives in all its pieces.
        whole: u64,
    },
    /// So many pieces of news.
    News(u32),
    /// Nothing will ever come: every rank waits.
    Deadlock,
    /// Ticks of the decrementer since the start, and ticks per second.
    Time {
        /// Since the start.
        ticks: u64,
        /// Per second.
        hz: u64,
    },
}

/// Something that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarriedNews {
    /// A message.
    Message {
        /// The sender in the job.
        from: u32,
        /// Its entry in the queue from there.
        entry: u32,
        /// Its envelope.
        envelope: Envelope,
        /// Its bytes.
        bytes: u64,
    },
    /// The message of an entry was received.
    Received {
        /// The receiver in the job.
        to: u32,
        /// The entry.
        entry: u32,
    },
    /// What another rank told of an entry.
    Told {
        /// The job's rank.
        from: u32,
        /// The entry.
        entry: u32,
        /// What of it.
        note: CarriedNote,
    },
    /// What had to wait may be asked for again.
    Turn,
    /// A queue that was full has room again.
    Room {
        /// The receiver in the job.
        to: u32,
    },
}

/// What one rank tells another of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarriedNote {
    /// Its sender asks the message back, if no receive has it.
    AskedBack,
    /// Its receiver has forgotten the message.
    Forgotten,
    /// Its receiver keeps the message: a receive has it.
    Kept,
}

impl CarriedNote {
    fn of(word: u64) -> Self {
        match word {
            0 => Self::AskedBack,
            1 => Self::Forgotten,
            _ => Self::Kept,
        }
    }
}

impl CarriedCall {
    fn words(&self) -> [u64; 8] {
        let placed = |data: &CarriedData| {
            let how = u64::from(data.local) << 4 | u64::from(data.misaligned);
            [data.at, data.bytes, u64::from(data.pieces) << 8 | how]
        };
        match self {
            Self::Begin => [1, 0, 0, 0, 0, 0, 0, 0],
            Self::Send { to, envelope, data, synchronous } => {
                let [at, bytes, how] = placed(data);
                let whom = u64::from(*to) << 1 | u64::from(*synchronous);
                let [first, second] = envelope_words(*envelope);
                [2, whom, first, second, at, bytes, how, 0]
            }
            Self::Look => [3, 0, 0, 0, 0, 0, 0, 0],
            Self::Wait => [4, 0, 0, 0, 0, 0, 0, 0],
            Self::Fetch { from, entry, data } => {
                let [at, bytes, how] = placed(data);
                [5, u64::from(*from), u64::from(*entry), 0, at, bytes, how, 0]
            }
            Self::Compute { flops, bytes } => [6, flops.to_bits(), bytes.to_bits(), 0, 0, 0, 0, 0],
            Self::Time => [7, 0, 0, 0, 0, 0, 0, 0],
            Self::End => [8, 0, 0, 0, 0, 0, 0, 0],
            Self::Give { to, data, whole } => {
                let [at, bytes, how] = placed(data);
                [10, u64::from(*to), *whole, 0, at, bytes, how, 0]
            }
            Self::Take { from, offset, data } => {
                let [at, bytes, how] = placed(data);
                [11, u64::from(*from), *offset, 0, at, bytes, how, 0]
            }
            Self::Combine { bytes, double, local } => {
                [12, *bytes, u64::from(*double), u64::from(*local), 0, 0, 0, 0]
            }
            Self::Keep { data } => {
                let [at, bytes, how] = placed(data);
                [13, 0, 0, 0, at, bytes, how, 0]
            }
            Self::Tell { to, entry, note } => {
                [9, u64::from(*to), u64::from(*entry), *note as u64, 0, 0, 0, 0]
            }
        }
    }

    /// Nothing: the words make no sense.
    fn of(words: [u64; 8]) -> Option<Self> {
        let data = || CarriedData {
            at: words[4],
            bytes: words[5],
            misaligned: words[6] as u8 & 15,
            pieces: (words[6] >> 8) as u32,
            local: words[6] & 16 != 0,
        };
        Some(match words[0] {
            1 => Self::Begin,
            2 => Self::Send {
                to: (words[1] >> 1) as u32,
                envelope: envelope_of([words[2], words[3]]),
                data: data(),
                synchronous: words[1] & 1 == 1,
            },
            3 => Self::Look,
            4 => Self::Wait,
            5 => Self::Fetch { from: words[1] as u32, entry: words[2] as u32, data: data() },
            6 => Self::Compute { flops: f64::from_bits(words[1]), bytes: f64::from_bits(words[2]) },
            7 => Self::Time,
            8 => Self::End,
            9 => Self::Tell { to: words[1] as u32, entry: words[2] as u32, note: CarriedNote::of(words[3]) },
            10 => Self::Give { to: words[1] as u32, data: data(), whole: words[2] },
            11 => Self::Take { from: words[1] as u32, offset: words[2], data: data() },
            12 => Self::Combine { bytes: words[1], double: words[2] != 0, local: words[3] != 0 },
            13 => Self::Keep { data: data() },
            _ => return None,
        })
    }
}

impl CarriedAnswer {
    fn words(&self) -> [u64; 3] {
        match self {
            Self::Done => [1, 0, 0],
            Self::Sent { entry, copied } => [2, u64::from(*entry), u64::from(*copied)],
            Self::NotYet => [3, 0, 0],
            Self::Taken { bytes, whole } => [7, *bytes, *whole],
            Self::News(count) => [4, u64::from(*count), 0],
            Self::Deadlock => [5, 0, 0],
            Self::Time { ticks, hz } => [6, *ticks, *hz],
        }
    }

    fn of(words: [u64; 3]) -> Self {
        match words[0] {
            2 => Self::Sent { entry: words[1] as u32, copied: words[2] != 0 },
            3 => Self::NotYet,
            7 => Self::Taken { bytes: words[1], whole: words[2] },
            4 => Self::News(words[1] as u32),
            5 => Self::Deadlock,
            6 => Self::Time { ticks: words[1], hz: words[2] },
            _ => Self::Done,
        }
    }
}

impl CarriedNews {
    fn words(&self) -> [u64; 4] {
        match self {
            Self::Message { from, entry, envelope, bytes } => {
                let [first, second] = envelope_words(*envelope);
                [1 | u64::from(*from) << 8 | u64::from(*entry) << 32, *bytes, first, second]
            }
            Self::Received { to, entry } => [2 | u64::from(*to) << 8 | u64::from(*entry) << 32, 0, 0, 0],
            Self::Told { from, entry, note } => {
                [4 | u64::from(*from) << 8 | u64::from(*entry) << 32, *note as u64, 0, 0]
            }
            Self::Turn => [5, 0, 0, 0],
            Self::Room { to } => [3 | u64::from(*to) << 8, 0, 0, 0],
        }
    }

    fn of(words: [u64; 4]) -> Self {
        let (rank, entry) = ((words[0] >> 8) as u32 & 0xff_ffff, (words[0] >> 32) as u32);
        match words[0] & 0xff {
            1 => {
                let envelope = envelope_of([words[2], words[3]]);
                Self::Message { from: rank, entry, envelope, bytes: words[1] }
            }
            2 => Self::Received { to: rank, entry },
            5 => Self::Turn,
            4 => Self::Told { from: rank, entry, note: CarriedNote::of(words[1]) },
            _ => Self::Room { to: rank },
        }
    }
}

fn envelope_words(envelope: Envelope) -> [u64; 2] {
    let second = u64::from(envelope.tag() as u32) << 16 | u64::from(envelope.source());
    [u64::from(envelope.context()), second]
}

fn envelope_of([first, second]: [u64; 2]) -> Envelope {
    Envelope::new(first as u32, second as u16, (second >> 16) as u32 as i32)
}

/// Where a rank and the simulator meet: the first page of the rank's window.
#[repr(C)]
struct Desk {
    turn: AtomicU32,
    asked: [AtomicU64; 8],
    /// What the rank computed since the last answer, in ns of this computer.
    computed_ns: AtomicU64,
    answer: [AtomicU64; 3],
    /// The simulated time of the answer.
    now_ns: AtomicU64,
    news: [[AtomicU64; 4]; MOST_NEWS],
}
const _: () = assert!(size_of::<Desk>() <= PAGE);

fn store<const N: usize>(place: &[AtomicU64; N], words: [u64; N]) {
    place.iter().zip(words).for_each(|(place, word)| place.store(word, Ordering::Relaxed));
}

fn load<const N: usize>(place: &[AtomicU64; N]) -> [u64; N] {
    std::array::from_fn(|index| place[index].load(Ordering::Relaxed))
}

fn desk(segment: &Segment, rank: usize) -> &'static Desk {
    // SAFETY: a window is a page and more, aligned to a page and never unmapped; everything in the desk is atomic.
    unsafe { &*segment.window(rank).cast::<Desk>() }
}

fn pass(desk: &Desk, to: u32) {
    desk.turn.store(to, Ordering::Release);
    futex::wake(&desk.turn, u32::MAX, Reach::Shared);
}

/// Waits while the desk is the other side's turn.
fn until(desk: &Desk, others: u32, mut look: impl FnMut() -> bool) -> bool {
    let mut looks = 0;
    while desk.turn.load(Ordering::Acquire) == others {
        looks += 1;
        if looks < LOOKS {
            std::hint::spin_loop();
        } else {
            futex::sleep(&desk.turn, others, Some(LOOK_NS), Reach::Shared);
            if !look() {
                return false;
            }
        }
    }
    true
}

/// A rank asks, and waits for the answer; `look` looks now and then whether the job is over.
///
/// `computed_ns`: what it computed since the last answer, of this computer. With the answer comes the simulated time,
/// in ns.
pub(crate) fn ask(
    segment: &Segment,
    rank: usize,
    ask: &CarriedCall,
    computed_ns: u64,
    look: impl Fn(),
) -> (CarriedAnswer, u64) {
    let desk = desk(segment, rank);
    desk.computed_ns.store(computed_ns, Ordering::Relaxed);
    store(&desk.asked, ask.words());
    pass(desk, turn::SIMULATOR);
    until(desk, turn::SIMULATOR, || {
        look();
        true
    });
    (CarriedAnswer::of(load(&desk.answer)), desk.now_ns.load(Ordering::Relaxed))
}

/// A piece of the news that the last answer spoke of.
pub(crate) fn news(segment: &Segment, rank: usize, index: usize) -> CarriedNews {
    CarriedNews::of(load(&desk(segment, rank).news[index]))
}

/// The simulator's side of all desks.
pub struct CarriedRanks {
    segment: Segment,
}

impl CarriedRanks {
    /// Of a job; nothing when its ranks carry their messages themselves.
    pub fn of(segment: Segment) -> Option<Self> {
        segment.is_carried().then_some(Self { segment })
    }

    /// Waits until a rank asks for something: what that is, and what the rank computed before, in ns of this computer.
    /// Nothing: it has ended, or the job is over. No call: its desk holds something else.
    pub fn asked(&self, rank: usize) -> Option<(Option<CarriedCall>, u64)> {
        let desk = desk(&self.segment, rank);
        let over = || self.segment.header().dead.load(Ordering::Acquire) != 0;
        let asks = until(desk, turn::RANK, || !over());
        if !asks || desk.turn.load(Ordering::Acquire) == turn::GONE {
            return None;
        }
        Some((CarriedCall::of(load(&desk.asked)), desk.computed_ns.load(Ordering::Relaxed)))
    }

    /// Answers a rank, which goes on; at most `MOST_NEWS` pieces of news.
    pub fn answer(&self, rank: usize, answer: CarriedAnswer, news: &[CarriedNews], now_ns: u64) {
        let desk = desk(&self.segment, rank);
        store(&desk.answer, answer.words());
        desk.now_ns.store(now_ns, Ordering::Relaxed);
        desk.news.iter().zip(news).for_each(|(place, one)| store(place, one.words()));
        pass(desk, turn::RANK);
    }

    /// Ends the job.
    pub fn end(&self) {
        self.segment.end(None);
    }

    /// Bytes of a rank's store. Nothing: there are not so many.
    fn place(&self, rank: usize, at: u64, bytes: usize) -> Option<*mut u8> {
        let end = usize::try_from(at).ok()?.checked_add(bytes)?;
        // SAFETY: within the store, as just checked.
        (end <= STORE_BYTES).then(|| unsafe { self.segment.store(rank).add(at as usize) })
    }

    /// Reads bytes of a rank's store; zeros where there are none.
    pub fn read(&self, rank: usize, at: u64, into: &mut [u8]) {
        match self.place(rank, at, into.len()) {
            // SAFETY: within the store; the rank leaves it alone while its message is under way.
            Some(place) => unsafe { place.copy_to_nonoverlapping(into.as_mut_ptr(), into.len()) },
            None => into.fill(0),
        }
    }

    /// Writes bytes of a rank's store.
    pub fn write(&self, rank: usize, at: u64, data: &[u8]) {
        if let Some(place) = self.place(rank, at, data.len()) {
            // SAFETY: as above; the rank waits for the answer.
            unsafe { place.copy_from_nonoverlapping(data.as_ptr(), data.len()) }
        }
    }
}

/// Says that a rank has ended, so that the simulator does not wait for it.
pub fn has_ended(segment: &Segment, rank: usize) {
    if segment.is_carried() {
        pass(desk(segment, rank), turn::GONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_and_answered_survives_its_words() {
        let envelope = Envelope::new(77, 15, -3);
        let data =
            CarriedData { at: 1 << 29, bytes: 5_000_000_000, misaligned: 13, pieces: 1_000_000, local: true };
        for ask in [
            CarriedCall::Begin,
            CarriedCall::Send { to: 9, envelope, data, synchronous: true },
            CarriedCall::Look,
            CarriedCall::Wait,
            CarriedCall::Fetch { from: 3, entry: 15, data },
            CarriedCall::Compute { flops: 1.5e9, bytes: 8.0 },
            CarriedCall::Give { to: u32::MAX, data, whole: 1 << 40 },
            CarriedCall::Take { from: 1, offset: 77, data },
            CarriedCall::Combine { bytes: 9, double: true, local: false },
            CarriedCall::Keep { data },
            CarriedCall::Time,
            CarriedCall::End,
            CarriedCall::Tell { to: 3, entry: u32::MAX, note: CarriedNote::Kept },
        ] {
            assert_eq!(CarriedCall::of(ask.words()), Some(ask));
        }
        assert_eq!(CarriedCall::of([99; 8]), None);
        for answer in [
            CarriedAnswer::Done,
            CarriedAnswer::Sent { entry: 7, copied: true },
            CarriedAnswer::NotYet,
            CarriedAnswer::News(64),
            CarriedAnswer::Deadlock,
            CarriedAnswer::Time { ticks: u64::MAX, hz: 14_318_000 },
        ] {
            assert_eq!(CarriedAnswer::of(answer.words()), answer);
        }
        for one in [
            CarriedNews::Message { from: 15, entry: u32::MAX, envelope, bytes: 1 << 40 },
            CarriedNews::Received { to: 200, entry: u32::MAX },
            CarriedNews::Room { to: 255 },
            CarriedNews::Told { from: 15, entry: 9, note: CarriedNote::Forgotten },
        ] {
            assert_eq!(CarriedNews::of(one.words()), one);
        }
    }
}
