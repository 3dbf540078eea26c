//! The operations that a program asks for, and the machine's replies. Closures yield these from inside their calls; a
//! [`Stepper`] hands them over one by one. Both are executed by the same engine, so that both take the same time.

use crate::Address;

/// What holds a command of a tag group back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ordering {
    /// Nothing.
    #[default]
    Free,
    /// Earlier commands of its tag group go first.
    Fence,
    /// Earlier commands of its tag group go first, and later ones wait for it.
    Barrier,
}

/// A DMA command: `ls` is an offset in the SPE's own local store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dma {
    /// From the local store (a put) or into it (a get).
    pub put: bool,
    /// Offset in the local store.
    pub ls: u32,
    /// The other end.
    pub ea: Address,
    /// 1, 2, 4, 8, or a multiple of 16 up to 16384.
    pub bytes: u32,
    /// Tag group, 0 to 31.
    pub tag: u32,
    /// The condition that it waits for.
    pub order: Ordering,
}

/// An element of a DMA list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListElement {
    /// The other end.
    pub ea: Address,
    /// 1, 2, 4, 8, or a multiple of 16 up to 16384.
    pub bytes: u32,
}

impl ListElement {
    /// Where it starts in the local store, when the one before it has ended before `ls`: in the quadword from there on,
    /// at its address's place in a quadword.
    pub(crate) fn store_offset(&self, ls: u32) -> u32 {
        ls / 16 * 16 + (self.ea.0 % 16) as u32
    }
}

/// When asking for tag status is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Until {
    /// At once.
    Now,
    /// When one of the groups is done.
    Any,
    /// When all of them are.
    All,
}

impl Until {
    /// Whether asking for the groups of `mask` is answered when those of `done` are.
    pub(crate) fn satisfied(self, done: u32, mask: u32) -> bool {
        match self {
            Self::Now => true,
            Self::Any => done != 0 || mask == 0,
            Self::All => done == mask,
        }
    }
}

/// An atomic command on one line of 128 bytes; done when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Atomic {
    /// Get the line and reserve it.
    Getllar,
    /// Put the line if the reservation still stands.
    Putllc,
    /// Put the line whatever became of the reservation.
    Putlluc,
}

/// An operation that a program asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// Compute for so many SPU cycles (a PPE's cycles are as long).
    Compute {
        /// Cycles of 312.5 ps.
        cycles: u64,
    },
    /// Take memory of the local store: answers [`Reply::Word`], an offset.
    Alloc {
        /// How much.
        bytes: u32,
        /// A power of two.
        align: u32,
    },
    /// Read the local store without time passing: answers [`Reply::Bytes`].
    Peek {
        /// Offset in the local store.
        at: u32,
        /// How many bytes.
        bytes: u32,
    },
    /// Write the local store without time passing.
    Poke {
        /// Offset in the local store.
        at: u32,
        /// What to write.
        data: Vec<u8>,
    },
    /// Queue a DMA command; stalls while the queue is full.
    Dma(Dma),
    /// Queue a DMA list: elements fill the local store one after another from `ls`.
    List {
        /// Direction, first offset, tag and order; `ea` and `bytes` are the elements'.
        dma: Dma,
        /// Up to 2048.
        list: Vec<ListElement>,
    },
    /// Ask for tag status: answers [`Reply::Word`], the groups of `mask` that are done.
    Tags {
        /// A bit for each group.
        mask: u32,
        /// When to answer.
        until: Until,
    },
    /// How many commands the queue still takes.
    QueueSpace,
    /// Run an atomic command: answers [`Reply::Word`], 1 when it was done, 0 when the reservation was lost.
    Atomic {
        /// Which.
        atomic: Atomic,
        /// Offset of the line in the local store.
        ls: u32,
        /// The line in main memory.
        ea: Address,
    },
    /// Take a word of the inbound mailbox; waits for one.
    ReadMailbox,
    /// How many words the inbound mailbox holds.
    MailboxCount,
    /// Put a word into the outbound mailbox (or the one that interrupts the PPE); waits for room.
    WriteMailbox {
        /// The one that interrupts.
        interrupt: bool,
        /// The word.
        value: u32,
    },
    /// How many words the outbound mailbox still takes.
    MailboxSpace {
        /// The one that interrupts.
        interrupt: bool,
    },
    /// Take the signals of register 1 or 2; waits until there are any.
    ReadSignal {
        /// 1 or 2.
        register: u32,
    },
    /// Whether something was signalled.
    SignalCount {
        /// 1 or 2.
        register: u32,
    },
    /// Whether signals to a register add up (OR) or overwrite.
    SignalMode {
        /// 1 or 2.
        register: u32,
        /// OR them.
        or: bool,
    },
    /// Read the decrementer.
    Decrementer,
    /// Set the decrementer.
    SetDecrementer(u32),
    /// End the simulation with this message: the handle saw a use that the hardware would trap.
    Trap(String),
    /// A PPE's calls.
    Ppe(PpeOp),
}

/// An operation that a program on a PPE asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum PpeOp {
    /// Load bytes of main memory or of a local store: answers [`Reply::Bytes`].
    Load {
        /// From where.
        ea: Address,
        /// How many.
        bytes: u32,
    },
    /// Store bytes to main memory or to a local store.
    Store {
        /// To where.
        ea: Address,
        /// What.
        data: Vec<u8>,
    },
    /// Hand a command to an SPE's proxy queue; stalls while it is full.
    Proxy {
        /// Whose queue.
        spe: usize,
        /// The command; `ls` is in that SPE's local store.
        dma: Dma,
    },
    /// Wait for tag groups of an SPE's proxy queue.
    ProxyTags {
        /// Whose queue.
        spe: usize,
        /// A bit for each group.
        mask: u32,
        /// When to answer.
        until: Until,
    },
    /// Take a word of an SPE's outbound mailbox; waits for one when told to.
    ReadMailbox {
        /// Whose.
        spe: usize,
        /// The one that interrupts.
        interrupt: bool,
    },
    /// How many words an SPE's outbound mailbox holds.
    MailboxCount {
        /// Whose.
        spe: usize,
        /// The one that interrupts.
        interrupt: bool,
    },
    /// How many words an SPE's inbound mailbox still takes.
    MailboxSpace {
        /// Whose.
        spe: usize,
    },
    /// Put a word into an SPE's inbound mailbox; waits for room.
    WriteMailbox {
        /// Whose.
        spe: usize,
        /// The word.
        value: u32,
    },
    /// Signal an SPE.
    WriteSignal {
        /// Whom.
        spe: usize,
        /// 1 or 2.
        register: u32,
        /// The word.
        value: u32,
    },
    /// Read the time base: answers [`Reply::Long`].
    Timebase,
}

/// The machine's reply to an operation.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Reply {
    /// That it was done.
    #[default]
    Done,
    /// A word.
    Word(u32),
    /// Eight bytes' worth.
    Long(u64),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Reply {
    /// The word that was answered.
    ///
    /// # Panics
    /// When it was something else.
    pub fn word(self) -> u32 {
        match self {
            Self::Word(word) => word,
            other => panic!("a word was expected, not {other:?}"),
        }
    }
}

/// A step of a [`Stepper`].
#[derive(Debug)]
pub enum Stepped {
    /// It asks for something.
    Op(Op),
    /// It is done.
    Done,
    /// It failed: the simulation ends with this message, as a panic does.
    Failed(String),
}

/// A program that is asked for its next operation, rather than one that calls: a generator in another language.
pub trait Stepper {
    /// The next operation, given the answer to the last one ([`Reply::Done`] at the start). `cycle` is the time.
    fn step(&mut self, reply: Reply, cycle: u64) -> Stepped;
}
