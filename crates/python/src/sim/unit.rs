//! What a program holds: its calls make operations, which it yields.

use super::number::{Bytes, Ea, Mask, Offset, Register, SpeNumber, Tag, Time, Word};
use crate::error::request;
use cellweave::sim::op::{Atomic, Op, PpeOp, Until};
use cellweave::sim::{Address, CYCLE_PS, Dma, ListElement, Ordering};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering as Memory};
use std::sync::{Arc, Mutex, PoisonError};

/// What a program's handle, its operations and the machine share.
#[derive(Default)]
pub(crate) struct Handle {
    cycle: AtomicU64,
    /// An operation that was made and thrown away.
    forgotten: Mutex<Option<String>>,
}

impl Handle {
    /// The machine's time.
    pub(crate) fn set_cycle(&self, cycle: u64) {
        self.cycle.store(cycle, Memory::Relaxed);
    }

    /// The call whose operation was not yielded, once.
    pub(crate) fn forgotten(&self) -> Option<String> {
        self.forgotten.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What becomes of the machine's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The program gets None.
    Nothing,
    /// As it comes.
    Plain,
    /// A word as a truth.
    Truth,
    /// Bytes as a little-endian number.
    Word,
}

/// Something that a program asks of the machine, when it yields it.
#[pyclass(frozen, module = "cellweave._core")]
pub(crate) struct Operation {
    op: Op,
    answer: Answer,
    call: &'static str,
    handle: Arc<Handle>,
    yielded: AtomicBool,
}

impl Operation {
    /// What to do, for the program that `handle` belongs to.
    pub(crate) fn take(&self, handle: &Arc<Handle>) -> PyResult<(Op, Answer)> {
        self.yielded.store(true, Memory::Relaxed);
        if !Arc::ptr_eq(handle, &self.handle) {
            return Err(PyTypeError::new_err(format!(
                "a program yields calls of its own handle: {} is not",
                self.call()
            )));
        }
        Ok((self.op.clone(), self.answer))
    }

    fn call(&self) -> String {
        let unit = if matches!(self.op, Op::Ppe(_)) { "ppe" } else { "spe" };
        format!("{unit}.{}(...)", self.call)
    }
}

#[pymethods]
impl Operation {
    fn __repr__(&self) -> String {
        format!("<{}, to be yielded>", self.call())
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        if !self.yielded.load(Memory::Relaxed) {
            *self.handle.forgotten.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.call());
        }
    }
}

/// The calls of an SPE or a PPE.
#[pyclass(name = "Unit", frozen, module = "cellweave._core")]
pub(crate) struct ProgramUnit {
    number: usize,
    ppe: bool,
    handle: Arc<Handle>,
}

impl ProgramUnit {
    /// What it shares with its operations.
    pub(crate) fn handle(&self) -> &Arc<Handle> {
        &self.handle
    }

    /// `SPE3`, `PPE0`.
    pub(crate) fn name(&self) -> String {
        format!("{}{}", if self.ppe { "PPE" } else { "SPE" }, self.number)
    }

    /// Its number, if it is an SPE.
    pub(crate) fn spe(&self) -> Option<usize> {
        (!self.ppe).then_some(self.number)
    }

    fn op(&self, call: &'static str, answer: Answer, op: Op) -> Operation {
        Operation { op, answer, call, handle: Arc::clone(&self.handle), yielded: AtomicBool::new(false) }
    }

    fn ask(&self, call: &'static str, answer: Answer, op: PpeOp) -> Operation {
        self.op(call, answer, Op::Ppe(op))
    }
}

/// A DMA command's name, direction and order.
fn command(name: &str) -> PyResult<(&'static str, bool, Ordering)> {
    Ok(match name {
        "get" => ("get", false, Ordering::Free),
        "getf" => ("getf", false, Ordering::Fence),
        "getb" => ("getb", false, Ordering::Barrier),
        "put" => ("put", true, Ordering::Free),
        "putf" => ("putf", true, Ordering::Fence),
        "putb" => ("putb", true, Ordering::Barrier),
        _ => return Err(request(format!("no DMA command `{name}`: get, getf, getb, put, putf, putb"))),
    })
}

/// When tag status is answered.
fn until(name: &str) -> PyResult<(&'static str, Until)> {
    Ok(match name {
        "all" => ("tags_all", Until::All),
        "any" => ("tags_any", Until::Any),
        "now" => ("tags_now", Until::Now),
        _ => return Err(request(format!("tag status `{name}`: all, any, now"))),
    })
}

#[pymethods]
impl ProgramUnit {
    /// The handle of an SPE, or a PPE.
    #[staticmethod]
    fn build(number: usize, ppe: bool) -> Self {
        Self { number, ppe, handle: Arc::default() }
    }

    /// As programs count SPEs, or PPEs.
    #[getter]
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// The simulated time.
    #[getter]
    fn now_ps(&self) -> u64 {
        self.handle.cycle.load(Memory::Relaxed) * CYCLE_PS
    }

    fn compute(&self, ns: Time) -> Operation {
        self.op("compute", Answer::Nothing, Op::Compute { cycles: ns.0.saturating_mul(16).div_ceil(5) })
    }

    fn compute_cycles(&self, cycles: Time) -> Operation {
        self.op("compute_cycles", Answer::Nothing, Op::Compute { cycles: cycles.0 })
    }

    fn alloc(&self, bytes: Bytes, align: Bytes) -> Operation {
        self.op("alloc", Answer::Plain, Op::Alloc { bytes: bytes.0, align: align.0 })
    }

    fn read(&self, at: Offset, bytes: Bytes) -> Operation {
        self.op("read", Answer::Plain, Op::Peek { at: at.0, bytes: bytes.0 })
    }

    fn read_u32(&self, at: Offset) -> Operation {
        self.op("read_u32", Answer::Word, Op::Peek { at: at.0, bytes: 4 })
    }

    fn write(&self, at: Offset, data: PyBackedBytes) -> Operation {
        self.op("write", Answer::Nothing, Op::Poke { at: at.0, data: data.to_vec() })
    }

    fn write_u32(&self, at: Offset, word: Word) -> Operation {
        self.op("write_u32", Answer::Nothing, Op::Poke { at: at.0, data: word.0.to_le_bytes().to_vec() })
    }

    fn dma(&self, name: &str, ls: Offset, ea: Ea, bytes: Bytes, tag: Tag) -> PyResult<Operation> {
        let (call, put, order) = command(name)?;
        Ok(self.op(
            call,
            Answer::Nothing,
            Op::Dma(Dma { put, ls: ls.0, ea: Address(ea.0), bytes: bytes.0, tag: tag.0, order }),
        ))
    }

    fn dma_list(&self, name: &str, ls: Offset, elements: Vec<(Ea, Bytes)>, tag: Tag) -> PyResult<Operation> {
        let (call, put, order) = command(name)?;
        let call = match call {
            "get" => "get_list",
            "getf" => "get_listf",
            "getb" => "get_listb",
            "put" => "put_list",
            "putf" => "put_listf",
            _ => "put_listb",
        };
        let list = elements
            .into_iter()
            .map(|(ea, bytes)| ListElement { ea: Address(ea.0), bytes: bytes.0 })
            .collect();
        let dma = Dma { put, ls: ls.0, ea: Address(0), bytes: 0, tag: tag.0, order };
        Ok(self.op(call, Answer::Nothing, Op::List { dma, list }))
    }

    fn tags(&self, mask: Mask, when: &str) -> PyResult<Operation> {
        let (call, until) = until(when)?;
        Ok(self.op(call, Answer::Plain, Op::Tags { mask: mask.0, until }))
    }

    fn queue_space(&self) -> Operation {
        self.op("queue_space", Answer::Plain, Op::QueueSpace)
    }

    fn getllar(&self, ls: Offset, ea: Ea) -> Operation {
        self.op(
            "getllar",
            Answer::Nothing,
            Op::Atomic { atomic: Atomic::Getllar, ls: ls.0, ea: Address(ea.0) },
        )
    }

    fn putllc(&self, ls: Offset, ea: Ea) -> Operation {
        self.op("putllc", Answer::Truth, Op::Atomic { atomic: Atomic::Putllc, ls: ls.0, ea: Address(ea.0) })
    }

    fn putlluc(&self, ls: Offset, ea: Ea) -> Operation {
        self.op(
            "putlluc",
            Answer::Nothing,
            Op::Atomic { atomic: Atomic::Putlluc, ls: ls.0, ea: Address(ea.0) },
        )
    }

    fn read_mailbox(&self) -> Operation {
        self.op("read_mailbox", Answer::Plain, Op::ReadMailbox)
    }

    fn mailbox_count(&self) -> Operation {
        self.op("mailbox_count", Answer::Plain, Op::MailboxCount)
    }

    fn write_mailbox(&self, value: Word, interrupt: bool) -> Operation {
        let call = if interrupt { "write_interrupt_mailbox" } else { "write_mailbox" };
        self.op(call, Answer::Nothing, Op::WriteMailbox { interrupt, value: value.0 })
    }

    fn mailbox_space(&self, interrupt: bool) -> Operation {
        let call = if interrupt { "interrupt_mailbox_space" } else { "mailbox_space" };
        self.op(call, Answer::Plain, Op::MailboxSpace { interrupt })
    }

    fn read_signal(&self, register: Register) -> Operation {
        self.op("read_signal", Answer::Plain, Op::ReadSignal { register: register.0 })
    }

    fn signal_count(&self, register: Register) -> Operation {
        self.op("signal_count", Answer::Plain, Op::SignalCount { register: register.0 })
    }

    fn signal_or(&self, register: Register, or_: bool) -> Operation {
        self.op("signal_or", Answer::Nothing, Op::SignalMode { register: register.0, or: or_ })
    }

    fn send_signal(
        &self,
        name: &str,
        ls: Offset,
        spe: SpeNumber,
        register: Register,
        tag: Tag,
    ) -> PyResult<Operation> {
        let (call, put, order) = command(name)?;
        let call = match call {
            "putf" => "send_signalf",
            "putb" => "send_signalb",
            _ => "send_signal",
        };
        if !(1..=2).contains(&register.0) {
            let text = format!("signal register {}; there are 1 and 2", register.0);
            return Ok(self.op(call, Answer::Nothing, Op::Trap(text)));
        }
        let ea = Address::signal(spe.0, register.0);
        Ok(self.op(call, Answer::Nothing, Op::Dma(Dma { put, ls: ls.0, ea, bytes: 4, tag: tag.0, order })))
    }

    fn decrementer(&self) -> Operation {
        self.op("decrementer", Answer::Plain, Op::Decrementer)
    }

    fn set_decrementer(&self, value: Word) -> Operation {
        self.op("set_decrementer", Answer::Nothing, Op::SetDecrementer(value.0))
    }

    fn load(&self, ea: Ea, bytes: Bytes) -> Operation {
        self.ask("load", Answer::Plain, PpeOp::Load { ea: Address(ea.0), bytes: bytes.0 })
    }

    fn load_u32(&self, ea: Ea) -> Operation {
        self.ask("load_u32", Answer::Word, PpeOp::Load { ea: Address(ea.0), bytes: 4 })
    }

    fn store(&self, ea: Ea, data: PyBackedBytes) -> Operation {
        self.ask("store", Answer::Nothing, PpeOp::Store { ea: Address(ea.0), data: data.to_vec() })
    }

    fn store_u32(&self, ea: Ea, word: Word) -> Operation {
        self.ask(
            "store_u32",
            Answer::Nothing,
            PpeOp::Store { ea: Address(ea.0), data: word.0.to_le_bytes().to_vec() },
        )
    }

    fn proxy(
        &self,
        name: &str,
        spe: SpeNumber,
        ls: Offset,
        ea: Ea,
        bytes: Bytes,
        tag: Tag,
    ) -> PyResult<Operation> {
        let (call, put, order) = command(name)?;
        let call = match call {
            "get" => "proxy_get",
            "put" => "proxy_put",
            _ => "proxy",
        };
        let dma = Dma { put, ls: ls.0, ea: Address(ea.0), bytes: bytes.0, tag: tag.0, order };
        Ok(self.ask(call, Answer::Nothing, PpeOp::Proxy { spe: spe.0, dma }))
    }

    fn proxy_tags(&self, spe: SpeNumber, mask: Mask, when: &str) -> PyResult<Operation> {
        let (_, until) = until(when)?;
        let call = match until {
            Until::All => "proxy_wait",
            Until::Any => "proxy_any",
            Until::Now => "proxy_now",
        };
        Ok(self.ask(call, Answer::Plain, PpeOp::ProxyTags { spe: spe.0, mask: mask.0, until }))
    }

    fn read_mailbox_of(&self, spe: SpeNumber, interrupt: bool) -> Operation {
        let call = if interrupt { "read_interrupt_mailbox" } else { "read_mailbox" };
        self.ask(call, Answer::Plain, PpeOp::ReadMailbox { spe: spe.0, interrupt })
    }

    fn mailbox_count_of(&self, spe: SpeNumber, interrupt: bool) -> Operation {
        let call = if interrupt { "interrupt_mailbox_count" } else { "mailbox_count" };
        self.ask(call, Answer::Plain, PpeOp::MailboxCount { spe: spe.0, interrupt })
    }

    fn mailbox_space_of(&self, spe: SpeNumber) -> Operation {
        self.ask("mailbox_space", Answer::Plain, PpeOp::MailboxSpace { spe: spe.0 })
    }

    fn write_mailbox_of(&self, spe: SpeNumber, value: Word) -> Operation {
        self.ask("write_mailbox", Answer::Nothing, PpeOp::WriteMailbox { spe: spe.0, value: value.0 })
    }

    fn write_signal_of(&self, spe: SpeNumber, register: Register, value: Word) -> Operation {
        self.ask(
            "write_signal",
            Answer::Nothing,
            PpeOp::WriteSignal { spe: spe.0, register: register.0, value: value.0 },
        )
    }

    fn timebase(&self) -> Operation {
        self.ask("timebase", Answer::Plain, PpeOp::Timebase)
    }
}
