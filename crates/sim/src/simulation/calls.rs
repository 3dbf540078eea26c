//! What is known of each call before it takes effect: what it costs, why the hardware traps it, and whether it may go
//! on or has to wait. `perform` has the effects.

use super::Simulation;
use crate::address::Location;
use crate::ids::UnitId;
use crate::op::{Op, PpeOp};
use crate::unit::MAILBOX;
use crate::{Address, LINE_BYTES, LOCAL_STORE_BYTES};

/// Registers that a PPE uses to hand over a command: it writes the local address, both halves of the effective address,
/// size and tag, class and opcode, and reads whether the queue took the command.
const PROXY_REGISTERS: u64 = 6;

impl Simulation {
    /// Bus cycles that pass before an operation takes effect.
    pub(super) fn before(&mut self, unit: UnitId, op: &Op) -> u64 {
        let (spu, ppe) = (&self.p.spu, &self.p.ppe);
        match op {
            Op::Compute { cycles } => {
                let u = &mut self.units[unit.index()];
                u.since = self.wheel.now();
                if unit.index() < self.spes.len() {
                    u.lines_seen = self.record.store_lines(unit.index());
                }
                cycles.0.div_ceil(2)
            }
            Op::Dma(_) | Op::List { .. } => spu.dma,
            Op::Decrementer | Op::SetDecrementer { .. } => spu.decrementer,
            Op::Alloc { .. } | Op::Peek { .. } | Op::Poke { .. } | Op::Trap(_) | Op::Tags { .. } => 0,
            Op::Atomic { .. } => spu.dma,
            Op::ReadMailbox
            | Op::MailboxCount
            | Op::WriteMailbox { .. }
            | Op::MailboxSpace { .. }
            | Op::ReadSignal { .. }
            | Op::SignalCount { .. }
            | Op::SignalMode { .. }
            | Op::QueueSpace => spu.channel,
            Op::Ppe(PpeOp::Load { ea, bytes }) => self.ppe_access(*ea, bytes.0.into(), false),
            Op::Ppe(PpeOp::Store { ea, data }) => self.ppe_access(*ea, data.bytes(), true),
            Op::Ppe(PpeOp::Timebase) => ppe.cached,
            Op::Ppe(PpeOp::Proxy { .. }) => self.handover(),
            Op::Ppe(_) => ppe.register,
        }
    }

    /// Bus cycles in which a PPE hands over a command.
    pub(super) fn handover(&self) -> u64 {
        self.p.ppe.proxy.min(PROXY_REGISTERS * self.p.ppe.register)
    }

    /// The time of a PPE's load or store: by line of memory, by quadword of a local store.
    fn ppe_access(&self, ea: Address, bytes: u64, store: bool) -> u64 {
        match self.check_ppe("access", ea, bytes) {
            Ok(Location::Memory { offset, .. }) => {
                let lines = offset / 128..(offset + bytes.max(1)).div_ceil(128);
                let all = lines.end - lines.start;
                let cached = lines.filter(|line| store || self.caches.is_near(line * 128)).count() as u64;
                let times = &self.p.ppe;
                cached * times.cached + (all - cached).div_ceil(times.misses) * times.uncached
            }
            Ok(_) => self.p.ppe.register * bytes.div_ceil(16).max(1),
            // It traps.
            Err(_) => 0,
        }
    }

    /// The reason for which the hardware traps a call of `unit`.
    pub(super) fn refused(&self, unit: UnitId, op: &Op) -> Result<(), String> {
        let (is_spe, spe) = (self.is_spe(unit), unit.index());
        match op {
            Op::Compute { .. } | Op::Trap(_) => Ok(()),
            Op::Ppe(op) if is_spe => Err(format!("{op:?} is a call of PPEs")),
            Op::Ppe(op) => self.refused_ppe(op),
            _ if !is_spe => Err(format!("{op:?} is a call of SPEs")),
            Op::Alloc { align, .. } if !align.0.is_power_of_two() => {
                Err(format!("local store aligned to {}, which is no power of two", align.0))
            }
            Op::Alloc { bytes, align } => {
                let start = self.spes[spe].free.next_multiple_of(align.0);
                if start.checked_add(bytes.0).is_some_and(|end| end <= LOCAL_STORE_BYTES) {
                    return Ok(());
                }
                Err(format!(
                    "no room for {} bytes in its local store: {start} of {LOCAL_STORE_BYTES} are taken",
                    bytes.0
                ))
            }
            Op::Peek { at, bytes } => self.shared[spe].check_store(at.0, bytes.0.into()),
            Op::Poke { at, data } => self.shared[spe].check_store(at.0, data.bytes()),
            Op::Dma(dma) => self.check_dma(spe, dma),
            Op::List { dma, list } => self.check_list(spe, dma, &list.0),
            Op::Atomic { atomic, ls, ea } => {
                let Location::Memory { offset, .. } = self.place(*ea) else {
                    return Err(format!("{atomic:?} at {ea}; allowed: main memory"));
                };
                if offset % 128 != 0 || !ls.0.is_multiple_of(128) {
                    return Err(format!(
                        "{atomic:?} from {ea} to {:#x}; both must be multiples of 128",
                        ls.0
                    ));
                }
                let there = self.shared[spe].check_store(ls.0, LINE_BYTES.into());
                let both = there.and_then(|()| self.range(*ea, LINE_BYTES.into()));
                both.map(drop).map_err(|message| format!("{atomic:?} at {ea}: {message}"))
            }
            Op::ReadSignal { register } | Op::SignalCount { register } | Op::SignalMode { register, .. } => {
                register.checked().map(drop)
            }
            Op::Tags { .. }
            | Op::QueueSpace
            | Op::ReadMailbox
            | Op::MailboxCount
            | Op::WriteMailbox { .. }
            | Op::MailboxSpace { .. }
            | Op::Decrementer
            | Op::SetDecrementer { .. } => Ok(()),
        }
    }

    fn refused_ppe(&self, op: &PpeOp) -> Result<(), String> {
        match op {
            PpeOp::Proxy { spe, .. }
            | PpeOp::ProxyTags { spe, .. }
            | PpeOp::Synchronize { spe }
            | PpeOp::ReadMailbox { spe, .. }
            | PpeOp::MailboxCount { spe, .. }
            | PpeOp::MailboxSpace { spe }
            | PpeOp::WriteMailbox { spe, .. }
            | PpeOp::WriteSignal { spe, .. }
                if spe.0 >= self.spes.len() =>
            {
                Err(format!("a register of {spe}; there are {} SPEs, from SPE0 on", self.spes.len()))
            }
            PpeOp::Load { ea, bytes } => self.check_ppe("load", *ea, bytes.0.into()).map(drop),
            PpeOp::Store { ea, data } => self.check_ppe("store", *ea, data.bytes()).map(drop),
            PpeOp::Proxy { spe, dma } => self.check_dma(spe.0, dma),
            PpeOp::WriteSignal { register, .. } => register.checked().map(drop),
            _ => Ok(()),
        }
    }

    /// Whether a call of `unit` may go on now, or has to wait until something changes.
    #[inline]
    pub(super) fn may_go_on(&self, unit: UnitId, op: &Op) -> bool {
        let own = unit.index();
        match op {
            Op::Dma(_) | Op::List { .. } => self.mfcs[own].space(false, &self.p.mfc) > 0,
            Op::Tags { mask, until } => until.satisfied(self.mfcs[own].done(mask.0, false), mask.0),
            // Once it is under way, the line's arrival answers it.
            Op::Atomic { .. } => !self.units[own].waiting,
            Op::ReadMailbox => !self.spes[own].inbox.is_empty(),
            Op::WriteMailbox { interrupt, .. } => self.spes[own].outbox[usize::from(*interrupt)].is_none(),
            Op::ReadSignal { register } => self.spes[own].signals[register.index()].is_some(),
            Op::Ppe(PpeOp::Proxy { spe, .. }) => self.mfcs[spe.0].space(true, &self.p.mfc) > 0,
            Op::Ppe(PpeOp::ProxyTags { spe, mask, until }) => {
                until.satisfied(self.mfcs[spe.0].done(mask.0, true), mask.0)
            }
            Op::Ppe(PpeOp::Synchronize { spe }) => self.mfcs[spe.0].puts_out == 0,
            Op::Ppe(PpeOp::ReadMailbox { spe, interrupt }) => {
                self.spes[spe.0].outbox[usize::from(*interrupt)].is_some()
            }
            Op::Ppe(PpeOp::WriteMailbox { spe, .. }) => self.spes[spe.0].inbox.len() < MAILBOX,
            _ => true,
        }
    }
}
