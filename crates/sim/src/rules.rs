//! How the data arbiter of the bus decides: rule sets with names.
//!
//! The papers do not say how the arbiter works; no setting fits every figure that was published. Each set here is one
//! plain idea of what the hardware may do. Which one is the default, how it was chosen and how far each is from every
//! figure is written in the book's chapter "The machine inside" and on the page of `cellweave reproduce all`.

/// The segments that a packet keeps for itself while it travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hold {
    /// Each segment only while its eight beats pass over it: the next packet may follow on its heels.
    Beats,
    /// Its whole way until the last beat has arrived.
    Way,
}

/// Which way a packet goes whose source and destination are exactly half a ring apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HalfWay {
    /// Whichever way has a free ring first.
    FirstFree,
    /// Fixed when it is queued: the way with fewer packets queued for it, clockwise when equal.
    LessQueued,
    /// Fixed when it is queued: in turns, at each ramp.
    InTurns,
    /// Fixed when it is queued: always clockwise.
    Clockwise,
}

/// In which order requests are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// From the ramp after the last one that was served.
    RoundRobin,
    /// Longest waiting first.
    OldestFirst,
    /// In ring order from the PPE, always.
    Fixed,
}

/// A rule set of the data arbiter.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// The name by which it is chosen.
    pub name: String,
    /// The segments that a packet keeps for itself.
    pub hold: Hold,
    /// The way of packets that go half way.
    pub half_way: HalfWay,
    /// Packets of at least this many hops have their ring alone; 7 means none.
    pub alone_from_hops: u8,
    /// The order of requests; the memory controller comes first in any case.
    pub order: Order,
    /// The most packets on one ring at a time.
    pub per_ring: u8,
    /// A ring takes up a new packet every so many bus cycles.
    pub start_interval: u64,
    /// Further bus cycles before a packet from another ramp takes over a segment; those of one ramp follow on each
    /// other's heels.
    pub gap: u64,
    /// Segments on either side of its way that a packet keeps as well: two packets on a ring are twice as many apart.
    pub margin: u8,
}

impl Rules {
    /// The rules of the manuals, and no others.
    pub fn textbook() -> Self {
        Self {
            name: "textbook".into(),
            hold: Hold::Beats,
            half_way: HalfWay::FirstFree,
            alone_from_hops: 7,
            order: Order::RoundRobin,
            per_ring: 3,
            start_interval: 3,
            gap: 0,
            margin: 0,
        }
    }

    /// Every rule set, the default first.
    pub fn all() -> Vec<Self> {
        let set = |name: &str, hold, half_way| Self { name: name.into(), hold, half_way, ..Self::textbook() };
        let apart = |name, half_way| Self { margin: 1, gap: 3, ..set(name, Hold::Beats, half_way) };
        vec![
            apart("apart-less-queued", HalfWay::LessQueued),
            apart("apart-in-turns", HalfWay::InTurns),
            Self { gap: 0, ..apart("apart-no-gap", HalfWay::LessQueued) },
            set("held-way-less-queued", Hold::Way, HalfWay::LessQueued),
            set("held-way-in-turns", Hold::Way, HalfWay::InTurns),
            Self { alone_from_hops: 5, ..set("long-alone", Hold::Way, HalfWay::FirstFree) },
            set("beats-in-turns", Hold::Beats, HalfWay::InTurns),
            Self::textbook(),
        ]
    }

    /// The rule set that is called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|r| r.name == name)
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self::all().swap_remove(0)
    }
}
