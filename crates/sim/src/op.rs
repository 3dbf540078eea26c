//! The operations that a program asks for, and the machine's replies. Closures yield these from inside their calls; a
//! [`Stepper`] hands them over one by one. Both are executed by the same engine, so that both take the same time.

use crate::Address;
use crate::dma::{Dma, DmaKind, ListElements};
use crate::numbers::{Bytes, Cycles, DataWord, LocalAddress, Payload, SignalRegister, SpeId, Tag, TagMask};

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
    /// Compute for so many cycles.
    Compute {
        /// An SPU's; a PPE's are as long.
        cycles: Cycles,
    },
    /// Take memory of the local store: answers [`Reply::Word`], an offset.
    Alloc {
        /// How much.
        bytes: Bytes,
        /// A power of two.
        align: Bytes,
    },
    /// Read the local store without time passing: answers [`Reply::Bytes`].
    Peek {
        /// Offset in the local store.
        at: LocalAddress,
        /// How many bytes.
        bytes: Bytes,
    },
    /// Write the local store without time passing.
    Poke {
        /// Offset in the local store.
        at: LocalAddress,
        /// What to write.
        data: Payload,
    },
    /// Queue a DMA command; stalls while the queue is full.
    Dma(Dma),
    /// Queue a DMA list: elements fill the local store one after another from `ls`.
    List {
        /// Direction, first offset, tag and order; `ea` and `bytes` are the elements'.
        dma: Dma,
        /// Up to 2048.
        list: ListElements,
    },
    /// Ask for tag status: answers [`Reply::Word`], the groups of `mask` that are done.
    Tags {
        /// A bit for each group.
        mask: TagMask,
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
        ls: LocalAddress,
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
        value: DataWord,
    },
    /// How many words the outbound mailbox still takes.
    MailboxSpace {
        /// The one that interrupts.
        interrupt: bool,
    },
    /// Take the signals of register 1 or 2; waits until there are any.
    ReadSignal {
        /// 1 or 2.
        register: SignalRegister,
    },
    /// Whether something was signalled.
    SignalCount {
        /// 1 or 2.
        register: SignalRegister,
    },
    /// Whether signals to a register add up (OR) or overwrite.
    SignalMode {
        /// 1 or 2.
        register: SignalRegister,
        /// OR them.
        or: bool,
    },
    /// Read the decrementer.
    Decrementer,
    /// Set the decrementer.
    SetDecrementer {
        /// To what.
        value: DataWord,
    },
    /// End the simulation with this message: the handle saw a use that the hardware would trap.
    Trap(String),
    /// A PPE's calls.
    Ppe(PpeOp),
}

impl Op {
    /// A list: its elements have the addresses and sizes.
    pub(crate) fn list(kind: DmaKind, ls: LocalAddress, list: ListElements, tag: Tag) -> Self {
        Self::List { dma: Dma::new(kind, ls, Address(0), 0, tag), list }
    }

    /// A word of the local store that goes to a signal register of another SPE.
    pub(crate) fn signal(
        kind: DmaKind,
        ls: LocalAddress,
        spe: SpeId,
        register: SignalRegister,
        tag: Tag,
    ) -> Self {
        match register.checked() {
            Ok(_) => Dma::new(kind, ls, Address::signal(spe.0, register.0), 4, tag).into(),
            Err(message) => Self::Trap(message),
        }
    }
}

impl From<Dma> for Op {
    fn from(dma: Dma) -> Self {
        Self::Dma(dma)
    }
}

impl From<PpeOp> for Op {
    fn from(op: PpeOp) -> Self {
        Self::Ppe(op)
    }
}

/// An operation that a program on a PPE asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum PpeOp {
    /// Load bytes of main memory or of a local store: answers [`Reply::Bytes`].
    Load {
        /// From where.
        ea: Address,
        /// How many.
        bytes: Bytes,
    },
    /// Store bytes to main memory or to a local store.
    Store {
        /// To where.
        ea: Address,
        /// What.
        data: Payload,
    },
    /// Hand a command to an SPE's proxy queue; stalls while it is full.
    Proxy {
        /// Whose queue.
        spe: SpeId,
        /// The command; `ls` is in that SPE's local store.
        dma: Dma,
    },
    /// Wait for tag groups of an SPE's proxy queue.
    ProxyTags {
        /// Whose queue.
        spe: SpeId,
        /// A bit for each group.
        mask: TagMask,
        /// When to answer.
        until: Until,
    },
    /// Wait until what an SPE's puts have under way has arrived in main memory.
    Synchronize {
        /// Whose.
        spe: SpeId,
    },
    /// Take a word of an SPE's outbound mailbox; waits for one when told to.
    ReadMailbox {
        /// Whose.
        spe: SpeId,
        /// The one that interrupts.
        interrupt: bool,
    },
    /// How many words an SPE's outbound mailbox holds.
    MailboxCount {
        /// Whose.
        spe: SpeId,
        /// The one that interrupts.
        interrupt: bool,
    },
    /// How many words an SPE's inbound mailbox still takes.
    MailboxSpace {
        /// Whose.
        spe: SpeId,
    },
    /// Put a word into an SPE's inbound mailbox; waits for room.
    WriteMailbox {
        /// Whose.
        spe: SpeId,
        /// The word.
        value: DataWord,
    },
    /// Signal an SPE.
    WriteSignal {
        /// Whom.
        spe: SpeId,
        /// 1 or 2.
        register: SignalRegister,
        /// The word.
        value: DataWord,
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

/// What a call answers its program.
pub trait Answer: Sized {
    /// The answer that the machine's reply holds.
    ///
    /// # Panics
    /// When the reply holds something else: an operation and the answer of its call do not belong together.
    fn of(reply: Reply) -> Self;
}

impl Answer for () {
    fn of(_: Reply) {}
}

impl Answer for u32 {
    fn of(reply: Reply) -> Self {
        match reply {
            Reply::Word(word) => word,
            Reply::Bytes(bytes) => Self::from_le_bytes(bytes.try_into().expect("four bytes")),
            other => panic!("a word was expected, not {other:?}"),
        }
    }
}

impl Answer for bool {
    fn of(reply: Reply) -> Self {
        u32::of(reply) != 0
    }
}

impl Answer for u64 {
    fn of(reply: Reply) -> Self {
        match reply {
            Reply::Long(long) => long,
            other => panic!("eight bytes' worth was expected, not {other:?}"),
        }
    }
}

impl Answer for Vec<u8> {
    fn of(reply: Reply) -> Self {
        match reply {
            Reply::Bytes(bytes) => bytes,
            other => panic!("bytes were expected, not {other:?}"),
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
