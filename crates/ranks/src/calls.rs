//! What ranks ask for, and who asks.

/// By what a receiver finds a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankEnvelope {
    /// A number that separates messages of one purpose from those of another.
    pub context: u32,
    /// The sender's rank in that context.
    pub source: u16,
    /// The tag.
    pub tag: i32,
}

/// Where data of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankData {
    /// Where `Callers` finds it.
    pub at: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Its address in the application, modulo 16.
    pub misaligned: u8,
    /// Pieces that it lies in; 1: in a row.
    pub pieces: u32,
    /// It lies in the rank's local store, not in main memory.
    pub local: bool,
}

/// What a rank asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RankCall {
    /// To begin.
    Begin,
    /// To send.
    Send {
        /// The receiver.
        to: usize,
        /// The envelope.
        envelope: RankEnvelope,
        /// The data.
        data: RankData,
        /// The sender is told when the message was received.
        synchronous: bool,
    },
    /// What has come since the last look.
    Look,
    /// To wait until something comes.
    Wait,
    /// To receive the message of an entry.
    Fetch {
        /// The sender.
        from: usize,
        /// The entry of the queue from there.
        entry: u32,
        /// Where it goes to.
        data: RankData,
    },
    /// To tell another rank something of an entry.
    Tell {
        /// To whom.
        to: usize,
        /// The entry.
        entry: u32,
        /// What of it.
        note: RankNote,
    },
    /// To give data to ranks, which take it in the order in which it was given: by way of local stores. No data: they
    /// are signalled.
    Give {
        /// To whom: a bit each.
        to: u32,
        /// At most [`MOST_GIVEN`] bytes.
        data: RankData,
        /// Bytes of all that the giver gives in pieces; the taker is told.
        whole: u64,
    },
    /// To take what each of some ranks has given next, all of them at once.
    Take {
        /// From whom: a bit each.
        from: u32,
        /// From which byte on of what each has given.
        offset: u64,
        /// Where it goes to, one rank's data behind the other's; of each rank at most so many bytes.
        data: RankData,
    },
    /// To reduce operands.
    Combine {
        /// Bytes of results, of all operations.
        bytes: u64,
        /// They are of double precision.
        double: bool,
        /// Operands and results lie in the local store, not in main memory.
        local: bool,
    },
    /// To bring data that was made in the local store to where it belongs.
    Keep {
        /// Where it goes to.
        data: RankData,
    },
    /// To compute.
    Compute {
        /// Floating-point operations of double precision.
        flops: f64,
        /// Bytes of main memory that they touch.
        bytes: f64,
    },
    /// The time.
    Time,
    /// To end.
    End,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub enum RankAnswer {
    /// Done.
    Done,
    /// The send has an entry.
    Sent {
        /// Which: entries of a queue are counted, and the count starts again after 2^32.
        entry: u32,
        /// The data was copied and may be used again. Otherwise the sender is told when the message was received.
        copied: bool,
    },
    /// It has to wait: for room, or for what others have not given yet.
    NotYet,
    /// Bytes that were taken, of all ranks, and how many the last one gives in all its pieces.
    Taken(u64, u64),
    /// What has come.
    News(Vec<RankNews>),
    /// Nothing will ever come: every rank waits.
    Deadlock,
    /// Ticks of the decrementer since the start, and ticks per second.
    Time(u64, u64),
}

/// Something that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankNews {
    /// A message.
    Message {
        /// The sender.
        from: usize,
        /// Its entry in the queue from there.
        entry: u32,
        /// Its envelope.
        envelope: RankEnvelope,
        /// Its bytes.
        bytes: u64,
    },
    /// The message of an entry was received.
    Received {
        /// The receiver.
        to: usize,
        /// The entry.
        entry: u32,
    },
    /// What another rank told of an entry.
    Told {
        /// Who.
        from: usize,
        /// The entry.
        entry: u32,
        /// What of it.
        note: RankNote,
    },
    /// What had to wait may be asked for again: others have given or taken something.
    Turn,
    /// A queue that was full has room again.
    Room {
        /// The receiver.
        to: usize,
    },
}

/// What one rank tells another of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankNote {
    /// Its sender asks the message back, if no receive has it.
    AskedBack,
    /// Its receiver has forgotten the message.
    Forgotten,
    /// Its receiver keeps the message: a receive has it.
    Kept,
}

/// The ranks' programs, which run in lockstep with the simulator: while one of them computes, simulated time stands
/// still.
pub trait Callers {
    /// Waits until a rank asks for something; a rank that has ended asks for its end.
    fn next(&self, rank: usize) -> RankCall;

    /// A rank asked for `what`, which cannot be carried out: it ends instead, and the job must end, too.
    fn refuse(&self, rank: usize, what: String);

    /// What the rank computed on this computer before it asked, in ns of its SPE; 0: it is not charged.
    fn computed_ns(&self, rank: usize) -> u64;

    /// Answers, and the rank goes on; `now_ps` is the simulated time.
    fn answer(&self, rank: usize, answer: RankAnswer, now_ps: u64);

    /// The most pieces of news that one answer can have.
    fn most_news(&self) -> usize;

    /// Reads data of a rank.
    fn read(&self, rank: usize, at: u64, into: &mut [u8]);

    /// Writes data of a rank.
    fn write(&self, rank: usize, at: u64, data: &[u8]);
}
