//! The calls of programs, each written once: its name, its arguments, its answer and the operation that it asks for.
//! The handles of Rust programs, those of Python programs (`crates/python`) and their types (`_core.pyi`, written by
//! `ci/calls.py`) follow from this table.
//!
//! A row is `WHO NAME(ARGUMENT: TYPE = DEFAULT, ...) -> ANSWER => OPERATION;` below its documentation. `call` is for
//! all programs; `step` only for those that are asked step by step, where a closure has a quicker way of its own. Only
//! Python has defaults. What an operation costs, why it traps and when it may go on is in `calls`; its effect is in
//! `perform`.

use crate::Address;
use crate::dma::{Dma, DmaKind, GET, GETB, GETF, ListElements, PUT, PUTB, PUTF};
use crate::numbers::{
    Bytes, Cycles, DataWord, LocalAddress, Ns, Payload, SignalRegister, SpeId, Tag, TagMask,
};
use crate::op::{Answer, Atomic, Op, PpeOp, Until};
use crate::{Ppe, Spe};

/// Hands the table to the macro `$then`.
#[macro_export]
macro_rules! calls {
    ($then:ident) => { $then! {
Spe spe {
    /// Computes for `ns`, rounded up to SPU cycles of 312.5 ps.
    call compute(ns: Ns) => Op::Compute { cycles: ns.into() };

    /// Computes for so many SPU cycles of 312.5 ps.
    call compute_cycles(cycles: Cycles) => Op::Compute { cycles };

    /// Takes `bytes` of the local store; answers their offset. `align` is a power of two. Traps when there is not
    /// enough left.
    ///
    /// From now on only bytes that were taken can be used; a program that never takes any may use the whole store.
    call alloc(bytes: Bytes, align: Bytes = 128) -> u32 => Op::Alloc { bytes, align };

    /// Looks at bytes of the local store. Takes no time.
    step read(at: LocalAddress, bytes: Bytes) -> Vec<u8> => Op::Peek { at, bytes };

    /// Looks at a little-endian word of the local store. Takes no time.
    step read_u32(at: LocalAddress) -> u32 => Op::Peek { at, bytes: Bytes(4) };

    /// Writes bytes of the local store. Takes no time: use `compute` for the time that computing `data` takes.
    step write(at: LocalAddress, data: Payload) => Op::Poke { at, data };

    /// Writes a little-endian word of the local store. Takes no time.
    step write_u32(at: LocalAddress, word: DataWord) => Op::Poke { at, data: word.into() };

    /// Copies `bytes` from `ea` to `ls`: done when tag group `tag` is. Stalls while the queue of 16 is full.
    call get(ls: LocalAddress, ea: Address, bytes: Bytes, tag: Tag = 0) => Dma::new(GET, ls, ea, bytes, tag);

    /// `get` after everything that its tag group was given before (fence).
    call getf(ls: LocalAddress, ea: Address, bytes: Bytes, tag: Tag = 0) => Dma::new(GETF, ls, ea, bytes, tag);

    /// `getf`, and everything that its tag group is given later waits for it (barrier).
    call getb(ls: LocalAddress, ea: Address, bytes: Bytes, tag: Tag = 0) => Dma::new(GETB, ls, ea, bytes, tag);

    /// Copies `bytes` from `ls` to `ea`: its tag group is done when the data has left for main memory, or is in the
    /// other local store. Stalls while the queue of 16 is full.
    call put(ls: LocalAddress, ea: Address, bytes: Bytes, tag: Tag = 0) => Dma::new(PUT, ls, ea, bytes, tag);

    /// `put` after everything that its tag group was given before (fence).
    call putf(ls: LocalAddress, ea: Address, bytes: Bytes, tag: Tag = 0) => Dma::new(PUTF, ls, ea, bytes, tag);

    /// `putf`, and everything that its tag group is given later waits for it (barrier).
    call putb(ls: LocalAddress, ea: Address, bytes: Bytes, tag: Tag = 0) => Dma::new(PUTB, ls, ea, bytes, tag);

    /// Gets a list of up to 2048 elements, each an address and its bytes: each starts in the next free quadword from
    /// `ls` on, at its address's place in a quadword.
    call get_list(ls: LocalAddress, elements: ListElements, tag: Tag = 0) => Op::list(GET, ls, elements, tag);

    /// `get_list` after everything that its tag group was given before (fence).
    call get_listf(ls: LocalAddress, elements: ListElements, tag: Tag = 0) => Op::list(GETF, ls, elements, tag);

    /// `get_listf`, and everything that its tag group is given later waits for it (barrier).
    call get_listb(ls: LocalAddress, elements: ListElements, tag: Tag = 0) => Op::list(GETB, ls, elements, tag);

    /// Puts a list of up to 2048 elements, which lie in the local store as `get_list` lays them.
    call put_list(ls: LocalAddress, elements: ListElements, tag: Tag = 0) => Op::list(PUT, ls, elements, tag);

    /// `put_list` after everything that its tag group was given before (fence).
    call put_listf(ls: LocalAddress, elements: ListElements, tag: Tag = 0) => Op::list(PUTF, ls, elements, tag);

    /// `put_listf`, and everything that its tag group is given later waits for it (barrier).
    call put_listb(ls: LocalAddress, elements: ListElements, tag: Tag = 0) => Op::list(PUTB, ls, elements, tag);

    /// Waits until all tag groups of `mask` are done; answers `mask`.
    call tags_all(mask: TagMask) -> u32 => Op::Tags { mask, until: Until::All };

    /// Waits until a tag group of `mask` is done; answers those that are.
    call tags_any(mask: TagMask) -> u32 => Op::Tags { mask, until: Until::Any };

    /// Answers which tag groups of `mask` are done now.
    call tags_now(mask: TagMask) -> u32 => Op::Tags { mask, until: Until::Now };

    /// Answers how many commands the queue takes before it stalls.
    call queue_space() -> u32 => Op::QueueSpace;

    /// Gets the line of 128 bytes at `ea` to `ls`, and reserves it.
    call getllar(ls: LocalAddress, ea: Address) => Op::Atomic { atomic: Atomic::Getllar, ls, ea };

    /// Puts the line at `ls` to `ea` if no unit has written it since `getllar`; answers whether it did.
    call putllc(ls: LocalAddress, ea: Address) -> bool => Op::Atomic { atomic: Atomic::Putllc, ls, ea };

    /// Puts the line at `ls` to `ea` in any case.
    call putlluc(ls: LocalAddress, ea: Address) => Op::Atomic { atomic: Atomic::Putlluc, ls, ea };

    /// Takes a word that the PPE or another SPE has sent; waits for one.
    call read_mailbox() -> u32 => Op::ReadMailbox;

    /// Answers how many words wait to be read, 0 to 4.
    call mailbox_count() -> u32 => Op::MailboxCount;

    /// Leaves a word for the PPE; waits until the last one is taken.
    call write_mailbox(value: DataWord) => Op::WriteMailbox { interrupt: false, value };

    /// Leaves a word for the PPE in the mailbox that interrupts it; waits until the last one is taken.
    call write_interrupt_mailbox(value: DataWord) => Op::WriteMailbox { interrupt: true, value };

    /// Answers whether `write_mailbox` would go through at once: 0 or 1.
    call mailbox_space() -> u32 => Op::MailboxSpace { interrupt: false };

    /// Answers whether `write_interrupt_mailbox` would go through at once: 0 or 1.
    call interrupt_mailbox_space() -> u32 => Op::MailboxSpace { interrupt: true };

    /// Takes the signals of register 1 or 2; waits until there are any.
    call read_signal(register: SignalRegister) -> u32 => Op::ReadSignal { register };

    /// Answers whether something was signalled on register 1 or 2: 0 or 1.
    call signal_count(register: SignalRegister) -> u32 => Op::SignalCount { register };

    /// Says whether signals to register 1 or 2 add up (OR) until they are read, or overwrite, as they do at the start.
    call signal_or(register: SignalRegister, add_up: bool = true) => Op::SignalMode { register, or: add_up };

    /// Sends the word at `ls` (an offset of 12 in its quadword) to signal register 1 or 2 of `spe`, by DMA.
    call send_signal(ls: LocalAddress, spe: SpeId, register: SignalRegister, tag: Tag = 0)
        => Op::signal(PUT, ls, spe, register, tag);

    /// `send_signal` after everything that its tag group was given before (fence).
    call send_signalf(ls: LocalAddress, spe: SpeId, register: SignalRegister, tag: Tag = 0)
        => Op::signal(PUTF, ls, spe, register, tag);

    /// `send_signalf`, and everything that its tag group is given later waits for it (barrier).
    call send_signalb(ls: LocalAddress, spe: SpeId, register: SignalRegister, tag: Tag = 0)
        => Op::signal(PUTB, ls, spe, register, tag);

    /// Answers what the decrementer is at; it counts down at the machine's time base.
    call decrementer() -> u32 => Op::Decrementer;

    /// Sets the decrementer.
    call set_decrementer(value: DataWord) => Op::SetDecrementer { value };
}

Ppe ppe {
    /// Computes for `ns`, rounded up to cycles of 312.5 ps.
    call compute(ns: Ns) => Op::Compute { cycles: ns.into() };

    /// Loads `bytes` of main memory (through the cache) or of a local store (slowly).
    call load(ea: Address, bytes: Bytes) -> Vec<u8> => PpeOp::Load { ea, bytes };

    /// Loads a little-endian word.
    call load_u32(ea: Address) -> u32 => PpeOp::Load { ea, bytes: Bytes(4) };

    /// Stores `data` to main memory or to a local store.
    call store(ea: Address, data: Payload) => PpeOp::Store { ea, data };

    /// Stores a little-endian word.
    call store_u32(ea: Address, word: DataWord) => PpeOp::Store { ea, data: word.into() };

    /// Has `spe` copy `bytes` from `ea` into its local store at `ls`; stalls while its proxy queue of 8 is full.
    call proxy_get(spe: SpeId, ls: LocalAddress, ea: Address, bytes: Bytes, tag: Tag = 0)
        => PpeOp::Proxy { spe, dma: Dma::new(GET, ls, ea, bytes, tag) };

    /// Has `spe` copy `bytes` from its local store at `ls` to `ea`; stalls while its proxy queue of 8 is full.
    call proxy_put(spe: SpeId, ls: LocalAddress, ea: Address, bytes: Bytes, tag: Tag = 0)
        => PpeOp::Proxy { spe, dma: Dma::new(PUT, ls, ea, bytes, tag) };

    /// Hands any command (`get`, `getf`, `getb`, `put`, `putf`, `putb`) to the proxy queue of `spe`; stalls while that
    /// is full.
    step proxy(spe: SpeId, command: DmaKind, ls: LocalAddress, ea: Address, bytes: Bytes, tag: Tag = 0)
        => PpeOp::Proxy { spe, dma: Dma::new(command, ls, ea, bytes, tag) };

    /// Waits until all tag groups of `mask` of the proxy queue of `spe` are done; answers `mask`.
    call proxy_wait(spe: SpeId, mask: TagMask) -> u32 => PpeOp::ProxyTags { spe, mask, until: Until::All };

    /// Waits until a tag group of `mask` of the proxy queue of `spe` is done; answers those that are.
    call proxy_any(spe: SpeId, mask: TagMask) -> u32 => PpeOp::ProxyTags { spe, mask, until: Until::Any };

    /// Answers which tag groups of `mask` of the proxy queue of `spe` are done now.
    call proxy_now(spe: SpeId, mask: TagMask) -> u32 => PpeOp::ProxyTags { spe, mask, until: Until::Now };

    /// Waits until what the puts of `spe` have under way has arrived in main memory (its multisource synchronization
    /// facility): a tag group of puts is done when its data has left, so that a load might come too early.
    call synchronize(spe: SpeId) => PpeOp::Synchronize { spe };

    /// Takes a word that `spe` has left; waits for one.
    call read_mailbox(spe: SpeId) -> u32 => PpeOp::ReadMailbox { spe, interrupt: false };

    /// Takes a word that `spe` has left in the mailbox that interrupts; waits for one.
    call read_interrupt_mailbox(spe: SpeId) -> u32 => PpeOp::ReadMailbox { spe, interrupt: true };

    /// Answers how many words `spe` has left: 0 or 1.
    call mailbox_count(spe: SpeId) -> u32 => PpeOp::MailboxCount { spe, interrupt: false };

    /// Answers how many words `spe` has left in the mailbox that interrupts: 0 or 1.
    call interrupt_mailbox_count(spe: SpeId) -> u32 => PpeOp::MailboxCount { spe, interrupt: true };

    /// Answers how many words the mailbox of `spe` still takes, 0 to 4.
    call mailbox_space(spe: SpeId) -> u32 => PpeOp::MailboxSpace { spe };

    /// Sends a word to `spe`; waits while its mailbox holds four.
    call write_mailbox(spe: SpeId, value: DataWord) => PpeOp::WriteMailbox { spe, value };

    /// Signals `spe` on register 1 or 2.
    call write_signal(spe: SpeId, register: SignalRegister, value: DataWord)
        => PpeOp::WriteSignal { spe, register, value };

    /// Answers the time base, in ticks.
    call timebase() -> u64 => PpeOp::Timebase;
}
    } };
}

/// The operation of each call, and the methods of the handles.
macro_rules! handles {
    ($($handle:ident $module:ident {$(
        $(#[$doc:meta])* $who:ident $name:ident($($argument:ident: $type:ident $(= $default:tt)?),*)
            $(-> $answer:ty)? => $op:expr;
    )*})*) => {$(
        #[doc = concat!("The operation that each call of [`", stringify!($handle), "`](crate::", stringify!($handle),
            ") asks for.")]
        pub mod $module {
            use super::*;
            $(
                $(#[$doc])*
                pub fn $name($($argument: impl Into<$type>),*) -> Op {
                    $(let $argument: $type = $argument.into();)*
                    $op.into()
                }
            )*
        }

        impl $handle<'_> {
            $(method! { $who [$(#[$doc])*] $module $name($($argument: $type),*) [$(-> $answer)?] })*
        }
    )*};
}

macro_rules! method {
    (call [$(#[$doc:meta])*] $module:ident $name:ident($($argument:ident: $type:ident),*) [$(-> $answer:ty)?]) => {
        $(#[$doc])*
        pub fn $name(&mut self $(, $argument: impl Into<$type>)*) $(-> $answer)? {
            Answer::of(self.call($module::$name($($argument),*)))
        }
    };
    (step $($rest:tt)*) => {};
}

calls!(handles);
