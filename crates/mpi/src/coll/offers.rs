//! Large data of a collective, read by its receiver from the sender's memory, or from where the sender shows a copy.
//!
//! All ranks of a collective come, so a sender of much data need not copy it anywhere: it sends an *offer*, which says
//! where the data lies and fits into one line of a ring. The receiver expects the data itself; what has as many bytes
//! as an offer is set aside for it, because in its buffer another message could be written over it: blocks that overlap
//! are wrong, but no reason to wait for ever. It reads the data with one copy, and answers that it has taken it; or,
//! where it can't read, that it refuses. What is refused comes as a message. Only the sender decides, so ranks need not
//! agree on what is large.
//!
//! From a process's memory the kernel copies, and may forbid it: see `Engine::read_memory`.

use super::run;
use super::schedule::{Audience, Large};
use crate::profile;
use crate::runtime::COUNTERS;
use crate::settings;
use std::sync::atomic::Ordering;
use transport::segment::{Segment, hook};
use transport::{
    ASIDE, Among, Buffer, Engine, MOST_EAGER, MOST_EAGER_CROWDED, Mode, Passage, SHOWN_ABOVE, Showing, Spot,
    Takers, TransferId,
};

/// The kernel's copy takes at most as long as so many copies through the pool. A rank with a cpu of its own that sends
/// large data to so many others offers it, and they read it at the same time.
const SEVERAL: u32 = 5;
/// A rank that has nothing else to do with large data in the collective, as in a gather, shows it where that of all
/// ranks is more than this. As messages a rank could send data of several collectives before the root has a cpu, and
/// each message would be copied once more. A choice. (On 2 cpus of an EPYC, shown and sent, us: 8 ranks, gather of 16
/// kB 26.1 and 18.0, of 32 kB 29.7 and 30.6, of 64 kB 43.4 and 62.4; 4 ranks, of 32 kB 8.4 and 7.9, of 64 kB 17.1 and
/// 18.7, and 27 and 34 where the kernel copies what is not shown.)
const GATHERED_ABOVE: usize = 160 * 1024;
/// The large data of such a rank.
const GATHERED: Large = Large { sends: 1, receives: 0 };
/// That of each of two ranks that exchange.
const EXCHANGED_BY_TWO: Large = Large { sends: 1, receives: 1 };
/// Less of one rank is always sent. A choice. (8 ranks on 2 cpus, gather of 4 kB: 5.8 us shown and 2.6 sent.)
const LEAST_GATHERED: usize = 8 * 1024;

/// A rank of an exchange, as in an alltoall, shows what it has for all others where that is more than this. A choice.
/// (On 2 cpus of an EPYC, sent and shown, us, and while a line takes 200 ns: 4 ranks, 64 kB for each 31 and 47, 52 and
/// 72; 128 kB 67 and 70, 126 and 108; 8 ranks, 16 kB 53 and 72, 82 and 120; 32 kB 109 and 109, 171 and 145.)
const EXCHANGED_ABOVE: usize = 192 * 1024;

/// Says where data lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Offer {
    /// What makes it an offer of this job.
    mark: u64,
    bytes: u64,
    /// In the sender's process; or in the room where it shows data; or the number of the first slot of a passage.
    address: u64,
    /// Where it is shown, the number of the spot plus one; or `IN_SLOTS` less the code of a passage; else 0.
    shown: u64,
}

/// The data comes through the slots of the sender's window, in the passage whose code is 0.
const IN_SLOTS: u64 = u64::MAX;

/// Bytes of an offer.
pub(super) const OFFER_BYTES: usize = ASIDE;
const _: () = assert!(size_of::<Offer>() == OFFER_BYTES);

fn mark_of(segment: &Segment) -> u64 {
    segment.header().identity.load(Ordering::Relaxed) ^ u64::from_be_bytes(*b"an offer")
}

/// Data that a collective is about to send.
#[derive(Clone, Copy)]
pub(super) struct DataToSend<'a> {
    pub buffer: &'a Buffer,
    /// What else this rank has to do in the collective.
    pub large: Large,
    pub audience: Audience,
    /// The job's rank that gets it.
    pub to: usize,
    /// The job's ranks that are the first two of the communicator.
    pub first_two: [usize; 2],
    /// Ranks of the communicator.
    pub ranks: usize,
    /// What tells the collective from the one before.
    pub tag: i32,
}

impl DataToSend<'_> {
    /// Whether to offer it, and nobody counts or simulates what messages carry.
    ///
    /// Where ranks share cpus, or send and receive at the same time, no cpu has time left to help another one: what
    /// counts is the sum of all copies. An offer needs one, by the kernel; messages and what is shown need two. Which
    /// costs more is measured (2 ranks, alltoall of 4 MB: offered 640 us and sent 505 on an EPYC, 812 and 927 on a
    /// Xeon; 4 ranks on 2 cpus of an EPYC, scatter of 256 kB shown 285 us and offered 54, bcast 124 and 76 while they
    /// share no cache). A rank of which one other rank gets data, and that gets none, keeps out: the other one has more
    /// to do.
    pub(super) fn is_worth_offering(self, engine: &mut Engine<'_>) -> bool {
        let Self { buffer, large, audience, .. } = self;
        if buffer.bytes() <= MOST_EAGER
            || settings::COPY_FROM.load(Ordering::Relaxed) == usize::MAX
            || !is_unseen(engine)
        {
            return false;
        }
        let crowded = engine.crowded();
        match self.among(crowded) {
            Some(Among::Gathers(_)) => return false,
            Some(among) => return !engine.two_copies_are_shorter(buffer.bytes(), among, self.tag),
            None => {}
        }
        let is_busy = if crowded { large.sends + large.receives > 1 } else { large.receives > 0 };
        match audience {
            Audience::Again(offer) => !offer.is_shown(),
            _ if large.sends >= SEVERAL && !crowded => true,
            Audience::First if !crowded => false,
            _ => is_busy && engine.reading_is_cheaper(buffer.bytes(), self.takers(crowded)),
        }
    }

    /// Who takes it.
    fn takers(self, crowded: bool) -> Takers {
        let Self { large, audience, to, .. } = self;
        match audience {
            Audience::First | Audience::Again(_) => {
                Takers::Several { readers: large.sends, others_send: large.receives > 0 }
            }
            Audience::Reducer if crowded => Takers::Reducer(to),
            Audience::One | Audience::Reducer if large.receives == 0 => Takers::OneEach(to),
            Audience::One | Audience::Reducer => Takers::One(to),
        }
    }

    /// Whether to show it.
    pub(super) fn is_worth_showing(self, engine: &mut Engine<'_>) -> bool {
        let above = match self.audience {
            Audience::One if self.large == GATHERED => gathered_above(engine),
            Audience::One if self.large.receives > 0 => exchanged_above(self.large),
            Audience::One => MOST_EAGER,
            _ => SHOWN_ABOVE,
        };
        let bytes = self.buffer.bytes();
        let shows = |engine: &mut Engine<'_>| match self.among(true) {
            Some(among) if bytes > MOST_EAGER => engine.two_copies_are_shorter(bytes, among, self.tag),
            _ => true,
        };
        bytes > above && engine.crowded() && is_unseen(engine) && shows(engine)
    }

    /// Among what it is, where only one rank gets it, as it is, and ranks share cpus; else between two ranks that
    /// exchange. Nothing, too, where this rank may compute before the collective is over: what it would have to send is
    /// shown, and is there at once.
    fn among(self, crowded: bool) -> Option<Among> {
        let goes_to_one = self.audience == Audience::One && run::is_blocking(self.tag);
        let [first, second] = self.first_two;
        match self.large {
            _ if !goes_to_one => None,
            EXCHANGED_BY_TWO if !crowded && self.ranks == 2 => Some(Among::ExchangesOfTwo(first)),
            _ if !crowded => None,
            GATHERED => Some(Among::Gathers(if self.to == first { second } else { first })),
            Large { receives: 0, .. } => Some(Among::Scatters),
            _ => Some(Among::Exchanges(first)),
        }
    }
}

/// A rank of a gather shows data of more bytes than this, or passes it through slots.
pub(super) fn gathered_above(engine: &Engine<'_>) -> usize {
    (GATHERED_ABOVE / (engine.ranks() - 1).max(1)).max(LEAST_GATHERED)
}

/// A rank of an exchange shows data for one rank that has more bytes than this.
fn exchanged_above(large: Large) -> usize {
    MOST_EAGER_CROWDED.min(EXCHANGED_ABOVE / large.sends.max(1) as usize)
}

/// When a send is complete that is not offered. Ranks that share cpus and send much to one of them, as in a gather,
/// wait until it receives: who goes on at once has sent data of several collectives before the root gets a cpu, and
/// then the time from one to the next does not say what a collective takes. And who waits may let the kernel copy. (4
/// ranks on 2 cpus of a Xeon, us, sent at once and so: gather of 64 kB 29 and 13.)
///
/// Two ranks that exchange have compared two copies with the kernel's one for whole collectives: what they send goes
/// through the pool. Messages that try other ways would hide what that takes. (Alltoall of 256 kB between two ranks on
/// an EPYC while a line takes 220 ns: 29 us, because the kernel's copy seemed to be the shorter one, and 26 so.)
pub(super) fn mode(engine: &Engine<'_>, buffer: &Buffer, large: Large, ranks: usize, tag: i32) -> Mode {
    if buffer.bytes() <= MOST_EAGER || !is_unseen(engine) {
        return Mode::Standard;
    }
    match large {
        GATHERED if engine.crowded() => Mode::Synchronous,
        EXCHANGED_BY_TWO if ranks == 2 && run::is_blocking(tag) && !engine.crowded() => Mode::Pooled,
        _ => Mode::Standard,
    }
}

/// Nobody counts or simulates what messages carry.
pub(super) fn is_unseen(engine: &Engine<'_>) -> bool {
    !engine.is_carried() && !profile::sees(hook::PROFILE)
}

impl Offer {
    /// The offer of a buffer in a process whose memory others may read.
    pub(super) fn of(segment: &Segment, buffer: &Buffer) -> Self {
        COUNTERS.bytes_sent.add((buffer.bytes() - OFFER_BYTES) as u64);
        let (bytes, address) = (buffer.bytes() as u64, buffer.address() as u64);
        Self { mark: mark_of(segment), bytes, address, shown: 0 }
    }

    /// The offer of a copy that this rank shows; nothing: it has no room for it.
    pub(super) fn shown(engine: &mut Engine<'_>, data: DataToSend<'_>) -> Option<Self> {
        let DataToSend { buffer, large, audience, .. } = data;
        let offer = match audience {
            Audience::Again(offer) if offer.is_shown() => {
                engine.show_again();
                offer
            }
            _ => {
                // Where all show something, readers had rather not come between.
                let to_follow = audience == Audience::First && large.receives == 0;
                let takers = data.takers(engine.crowded());
                let Showing { at, spot } =
                    if to_follow { engine.begin_to_show(buffer) } else { engine.show(buffer, takers) }?;
                let mark = mark_of(&engine.segment());
                Self { mark, bytes: buffer.bytes() as u64, address: at as u64, shown: 1 + spot as u64 }
            }
        };
        COUNTERS.bytes_sent.add((buffer.bytes() - OFFER_BYTES) as u64);
        Some(offer)
    }

    /// Says how data comes through the slots of the sender's window.
    pub(super) fn in_slots(segment: &Segment, passage: Passage) -> Self {
        COUNTERS.bytes_sent.add((passage.bytes() - OFFER_BYTES) as u64);
        let [address, code, bytes] = passage.words();
        Self { mark: mark_of(segment), bytes, address, shown: IN_SLOTS - code }
    }

    /// Its data comes through slots.
    pub(super) fn is_in_slots(&self) -> bool {
        IN_SLOTS - self.shown < Passage::CODES
    }

    /// How it comes through slots, if it does.
    pub(super) fn passage(&self) -> Option<Passage> {
        Passage::of([self.address, IN_SLOTS - self.shown, self.bytes]).filter(|_| self.is_in_slots())
    }

    /// Its data is shown.
    pub(super) fn is_shown(&self) -> bool {
        self.shown != 0 && !self.is_in_slots()
    }

    /// The offer that came in place of data, if one did, to a receive of large data that is complete. Otherwise its
    /// data is in the buffer.
    pub(super) fn of_receive(
        engine: &mut Engine<'_>,
        id: TransferId,
        buffer: &Buffer,
        bytes: usize,
    ) -> Option<Self> {
        if bytes != OFFER_BYTES {
            return None;
        }
        let segment = engine.segment();
        let Some(mut aside) = engine.take_aside(id) else { return Self::found_in(&segment, buffer) };
        let offer = Self::found(&segment, &aside);
        if offer.is_none() {
            // SAFETY: the bytes that came, and the buffer that the collective was lent.
            unsafe { buffer.copy_from(&Buffer::new(aside.as_mut_ptr(), OFFER_BYTES)) };
        }
        offer
    }

    /// The offer that was received in place of data, if it is one.
    pub(super) fn found(segment: &Segment, received: &[u8; OFFER_BYTES]) -> Option<Self> {
        let (words, _) = received.as_chunks::<8>();
        let [mark, bytes, address, shown] = [0, 1, 2, 3].map(|at| u64::from_ne_bytes(words[at]));
        (mark == mark_of(segment)).then_some(Self { mark, bytes, address, shown })
    }

    /// The offer that lies in a buffer in place of data. As many bytes as an offer has were received.
    pub(super) fn found_in(segment: &Segment, buffer: &Buffer) -> Option<Self> {
        let mut received = [0; OFFER_BYTES];
        // SAFETY: the buffer holds the bytes that were received, and so does the array.
        unsafe { Buffer::new(received.as_mut_ptr(), OFFER_BYTES).copy_from(buffer) };
        Self::found(segment, &received)
    }

    /// The data, in the process that offers it.
    #[cfg(test)]
    pub(super) fn buffer(&self) -> Buffer {
        // SAFETY: it describes the buffer that `of` got.
        unsafe { Buffer::new(self.address as *mut u8, self.bytes()) }
    }

    /// Bytes that the sender has.
    pub(super) fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// At which spot it is shown.
    pub(super) fn spot(&self) -> Spot {
        let number = self.shown.checked_sub(1).and_then(|number| usize::try_from(number).ok());
        number.and_then(|number| Spot::ALL.get(number)).copied().unwrap_or_default()
    }

    /// Where the data is shown to this process, when all of it is there and is what the buffer expects.
    pub(super) fn lent(&self, engine: &Engine<'_>, rank: usize, buffer: &Buffer) -> Option<*const u8> {
        let fits = self.is_shown() && buffer.is_contiguous() && self.bytes() == buffer.bytes();
        fits.then(|| engine.shown_at(rank, self.address as usize, self.bytes())).flatten()
    }

    /// Where the data lies in the process that offers it. It is not shown, nor does it come through slots.
    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// Reads the data, as far as the buffer has room; false: it can't be read from here.
    pub(super) fn read(&self, engine: &mut Engine<'_>, rank: usize, buffer: &Buffer) -> bool {
        let bytes = self.bytes().min(buffer.bytes());
        if self.is_shown() {
            let showing = Showing { at: self.address as usize, spot: self.spot() };
            // SAFETY: the offer of that rank, which waits for the answer.
            return unsafe { engine.read_shown(rank, showing, bytes, buffer) };
        }
        // SAFETY: the buffer holds as many bytes in a row and is lent until the collective is over.
        buffer.is_contiguous() && unsafe { engine.read_memory(rank, self.address, buffer.address(), bytes) }
    }
}
