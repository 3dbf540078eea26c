//! What the operations of programs do.

use crate::address::Place;
use crate::line::ATOMIC;
use crate::op::{Atomic, Dma, ListElement, Op, PpeOp, Reply, Until};
use crate::simulation::Simulation;
use crate::trace::Span;
use crate::unit::MAILBOX;
use crate::{Address, CYCLE_PS, LINE_BYTES, LOCAL_STORE_BYTES};

/// The most bytes of one DMA command, or one element of a list.
pub const DMA_BYTES_MAX: u32 = 16 * 1024;
/// The most elements of a list.
pub const LIST_MAX: usize = 2048;

impl Simulation {
    /// Bus cycles that pass before an operation takes effect.
    pub(crate) fn before(&mut self, unit: usize, op: &Op) -> u64 {
        let (spu, ppe) = (&self.p.spu, &self.p.ppe);
        match op {
            Op::Compute { cycles } => {
                let u = &mut self.units[unit];
                u.wait_since = self.wheel.now();
                if unit < self.spes.len() {
                    u.lines_seen = self.counters.spes[unit].store_lines;
                }
                cycles.div_ceil(2)
            }
            Op::Dma(_) | Op::List { .. } => spu.dma,
            Op::Decrementer | Op::SetDecrementer(_) => spu.decrementer,
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
            Op::Ppe(PpeOp::Load { ea, bytes }) => self.ppe_access(*ea, *bytes, false),
            Op::Ppe(PpeOp::Store { ea, data }) => self.ppe_access(*ea, data.len() as u32, true),
            Op::Ppe(PpeOp::Timebase) => ppe.cached,
            Op::Ppe(PpeOp::Proxy { .. }) => ppe.proxy,
            Op::Ppe(_) => ppe.register,
        }
    }

    /// What a PPE's load or store takes: by line of memory, by quadword of a local store.
    fn ppe_access(&self, ea: Address, bytes: u32, store: bool) -> u64 {
        match self.place(ea) {
            Place::Memory { offset, .. } => {
                let lines = offset / 128..(offset + u64::from(bytes).max(1)).div_ceil(128);
                lines
                    .map(|line| {
                        if store || self.ppe_lines.contains(&line) {
                            self.p.ppe.cached
                        } else {
                            self.p.ppe.uncached
                        }
                    })
                    .sum()
            }
            _ => self.p.ppe.register * u64::from(bytes.div_ceil(16)).max(1),
        }
    }

    /// The operation of `unit` takes effect. The answer, if the program goes on at once.
    pub(crate) fn perform(&mut self, unit: usize) -> Option<Reply> {
        let op = self.units[unit].op.take()?;
        let result =
            if let Op::Ppe(op) = &op { self.perform_ppe(unit, op) } else { self.perform_spe(unit, &op) };
        match result {
            Performed::Answer(reply, cycles) => {
                self.units[unit].op = Some(op);
                self.answer(unit, reply, cycles)
            }
            Performed::Wait => {
                self.units[unit].op = Some(op);
                self.wait(unit)
            }
            Performed::Again(cycles) => {
                self.units[unit].op = Some(op);
                self.wheel.push(self.wheel.now() + cycles, crate::wheel::Event::Act(unit as u8));
                None
            }
            Performed::Trap(message) => {
                self.trap(unit, message);
                None
            }
        }
    }

    /// Whether an operation that waits would go on now.
    #[inline]
    pub(crate) fn would_go_on(&self, unit: usize) -> bool {
        match &self.units[unit].op {
            Some(Op::Tags { mask, until }) => {
                let done = self.mfcs[unit].done(*mask, false);
                if *until == Until::All { done == *mask } else { done != 0 }
            }
            Some(Op::Ppe(PpeOp::ProxyTags { spe, mask, until })) => {
                let done = self.mfcs[*spe].done(*mask, true);
                if *until == Until::All { done == *mask } else { done != 0 }
            }
            Some(Op::Dma(_) | Op::List { .. }) => self.mfcs[unit].space(false, &self.p.mfc) > 0,
            Some(Op::Ppe(PpeOp::Proxy { spe, .. })) => self.mfcs[*spe].space(true, &self.p.mfc) > 0,
            Some(Op::ReadMailbox) => !self.spes[unit].inbox.is_empty(),
            Some(Op::WriteMailbox { interrupt, .. }) => {
                self.spes[unit].outbox[usize::from(*interrupt)].is_none()
            }
            Some(Op::ReadSignal { register }) => self.spes[unit].signals[*register as usize - 1].is_some(),
            Some(Op::Ppe(PpeOp::ReadMailbox { spe, interrupt })) => {
                self.spes[*spe].outbox[usize::from(*interrupt)].is_some()
            }
            Some(Op::Ppe(PpeOp::WriteMailbox { spe, .. })) => self.spes[*spe].inbox.len() < MAILBOX,
            _ => false,
        }
    }

    fn perform_spe(&mut self, unit: usize, op: &Op) -> Performed {
        use Performed::{Again, Answer, Trap, Wait};
        let is_spe = unit < self.spes.len();
        if !is_spe && !matches!(op, Op::Compute { .. } | Op::Trap(_)) {
            return Trap(format!("{op:?} is a call of SPEs"));
        }
        match op {
            Op::Compute { .. } => {
                let start = self.units[unit].wait_since;
                if is_spe {
                    // DMA went first at the local store's port: the cycles that it took are made up for.
                    let seen = self.counters.spes[unit].store_lines;
                    let stolen = (seen - self.units[unit].lines_seen) * self.p.spu.stolen_per_line;
                    if stolen >= 2 {
                        self.units[unit].lines_seen = seen;
                        return Again(stolen / 2);
                    }
                    self.counters.spes[unit].compute_cycles += self.wheel.now() - start;
                }
                let end = self.wheel.now();
                if let Some(trace) = &mut self.trace {
                    trace.span(Span { unit: unit as u8, what: "compute", start, end });
                }
                Answer(Reply::Done, 0)
            }
            Op::Alloc { bytes, align } => {
                if !align.is_power_of_two() {
                    return Trap(format!("local store aligned to {align}, which is no power of two"));
                }
                let start = self.spes[unit].allocated.next_multiple_of(*align);
                match start.checked_add(*bytes) {
                    Some(end) if end <= LOCAL_STORE_BYTES => {
                        self.spes[unit].allocated = end;
                        Answer(Reply::Word(start), 0)
                    }
                    _ => Trap(format!(
                        "no room for {bytes} bytes in its local store: {start} of {LOCAL_STORE_BYTES} are taken"
                    )),
                }
            }
            Op::Peek { at, bytes } => match self.store_range(*at, *bytes) {
                // SAFETY: a stepper holds no slices; the engine copies and gives this one up.
                Ok(()) => {
                    Answer(Reply::Bytes(unsafe { self.shared[unit].store.bytes(*at, *bytes) }.to_vec()), 0)
                }
                Err(message) => Trap(message),
            },
            Op::Poke { at, data } => match self.store_range(*at, data.len() as u32) {
                Ok(()) => {
                    // SAFETY: as above.
                    unsafe { self.shared[unit].store.bytes_mut(*at, data.len() as u32) }
                        .copy_from_slice(data);
                    Answer(Reply::Done, 0)
                }
                Err(message) => Trap(message),
            },
            Op::Dma(dma) => {
                if let Err(message) = self.check_dma(dma) {
                    return Trap(message);
                }
                if self.mfcs[unit].space(false, &self.p.mfc) == 0 {
                    return Wait;
                }
                self.mfcs[unit].queue(*dma, None, false, self.wheel.now(), &self.p.mfc);
                self.counters.spes[unit].commands += 1;
                self.issue(unit);
                Answer(Reply::Done, 0)
            }
            Op::List { dma, list } => {
                if let Err(message) = self.check_list(dma, list) {
                    return Trap(message);
                }
                if self.mfcs[unit].space(false, &self.p.mfc) == 0 {
                    return Wait;
                }
                let mut dma = *dma;
                dma.ls = dma.ls / 16 * 16 + (list[0].ea.0 % 16) as u32;
                self.mfcs[unit].queue(dma, Some(list.clone()), false, self.wheel.now(), &self.p.mfc);
                self.counters.spes[unit].commands += 1;
                self.issue(unit);
                Answer(Reply::Done, 0)
            }
            Op::Tags { mask, until } => {
                let done = self.mfcs[unit].done(*mask, false);
                let answered = match until {
                    Until::Now => true,
                    Until::Any => done != 0 || *mask == 0,
                    Until::All => done == *mask,
                };
                if answered { Answer(Reply::Word(done), self.p.spu.tag_status) } else { Wait }
            }
            Op::QueueSpace => Answer(Reply::Word(self.mfcs[unit].space(false, &self.p.mfc) as u32), 0),
            Op::Atomic { atomic, ls, ea } => self.perform_atomic(unit, *atomic, *ls, *ea),
            Op::ReadMailbox => match self.spes[unit].inbox.pop_front() {
                Some(word) => {
                    self.wake_ppes();
                    Answer(Reply::Word(word), 0)
                }
                None => Wait,
            },
            Op::MailboxCount => Answer(Reply::Word(self.spes[unit].inbox.len() as u32), 0),
            Op::WriteMailbox { interrupt, value } => {
                let mailbox = &mut self.spes[unit].outbox[usize::from(*interrupt)];
                if mailbox.is_some() {
                    return Wait;
                }
                *mailbox = Some(*value);
                self.wake_ppes();
                Answer(Reply::Done, 0)
            }
            Op::MailboxSpace { interrupt } => {
                let free = self.spes[unit].outbox[usize::from(*interrupt)].is_none();
                Answer(Reply::Word(u32::from(free)), 0)
            }
            Op::ReadSignal { register } | Op::SignalCount { register } | Op::SignalMode { register, .. }
                if !(1..=2).contains(register) =>
            {
                Trap(format!("signal register {register}; there are 1 and 2"))
            }
            Op::ReadSignal { register } => match self.spes[unit].signals[*register as usize - 1].take() {
                Some(word) => Answer(Reply::Word(word), 0),
                None => Wait,
            },
            Op::SignalCount { register } => {
                Answer(Reply::Word(u32::from(self.spes[unit].signals[*register as usize - 1].is_some())), 0)
            }
            Op::SignalMode { register, or } => {
                self.spes[unit].signal_or[*register as usize - 1] = *or;
                Answer(Reply::Done, 0)
            }
            Op::Decrementer => {
                let (set_at, value) = self.spes[unit].decrementer;
                Answer(Reply::Word(value.wrapping_sub((self.ticks() - set_at) as u32)), 0)
            }
            Op::SetDecrementer(value) => {
                self.spes[unit].decrementer = (self.ticks(), *value);
                Answer(Reply::Done, 0)
            }
            Op::Trap(message) => Trap(message.clone()),
            Op::Ppe(_) => unreachable!("handled by perform_ppe"),
        }
    }

    /// Ticks of the time base since the start.
    pub(crate) fn ticks(&self) -> u64 {
        let ps = u128::from(self.wheel.now()) * u128::from(CYCLE_PS);
        (ps * u128::from(self.p.timebase_hz) / 1_000_000_000_000) as u64
    }

    fn perform_atomic(&mut self, unit: usize, atomic: Atomic, ls: u32, ea: Address) -> Performed {
        if self.units[unit].waiting {
            return Performed::Wait;
        }
        let Place::Memory { offset, .. } = self.place(ea) else {
            return Performed::Trap(format!("{atomic:?} at {ea}; allowed: main memory"));
        };
        if offset % 128 != 0 || ls % 128 != 0 {
            return Performed::Trap(format!(
                "{atomic:?} from {ea} to {ls:#x}; both must be multiples of 128"
            ));
        }
        if let Err(message) = self.store_range(ls, LINE_BYTES) {
            return Performed::Trap(message);
        }
        if atomic == Atomic::Putllc && self.spes[unit].reservation != Some(offset) {
            if self.spes[unit].reservation.take().is_some() {
                self.reservations -= 1;
            }
            return Performed::Answer(Reply::Word(0), self.p.bus.coherence);
        }
        self.send_out(unit, ATOMIC, atomic != Atomic::Getllar, ls, ea, LINE_BYTES as u8);
        Performed::Wait
    }

    fn perform_ppe(&mut self, unit: usize, op: &PpeOp) -> Performed {
        use Performed::{Answer, Trap, Wait};
        if unit < self.spes.len() {
            return Trap(format!("{op:?} is a call of PPEs"));
        }
        let spe = match op {
            PpeOp::Proxy { spe, .. }
            | PpeOp::ProxyTags { spe, .. }
            | PpeOp::ReadMailbox { spe, .. }
            | PpeOp::MailboxCount { spe, .. }
            | PpeOp::WriteMailbox { spe, .. }
            | PpeOp::WriteSignal { spe, .. } => *spe,
            _ => 0,
        };
        if spe >= self.spes.len() {
            return Trap(format!("a register of SPE{spe}; there are {} SPEs, from SPE0 on", self.spes.len()));
        }
        match op {
            PpeOp::Load { ea, bytes } => match self.ppe_range(*ea, *bytes) {
                Ok(Place::Memory { offset, .. }) => {
                    let data = self.memory[offset as usize..][..*bytes as usize].to_vec();
                    Answer(Reply::Bytes(data), 0)
                }
                Ok(Place::Store { spe, offset }) => {
                    // SAFETY: no SPE's program runs now; copied and given up.
                    let data = unsafe { self.shared[spe].store.bytes(offset, *bytes) }.to_vec();
                    Answer(Reply::Bytes(data), 0)
                }
                Ok(_) => Trap(format!("a load from {ea}; registers have calls of their own")),
                Err(message) => Trap(message),
            },
            PpeOp::Store { ea, data } => match self.ppe_range(*ea, data.len() as u32) {
                Ok(Place::Memory { offset, .. }) => {
                    self.memory[offset as usize..][..data.len()].copy_from_slice(data);
                    for line in offset / 128..(offset + data.len() as u64).div_ceil(128) {
                        self.memory_written(line * 128);
                        self.ppe_lines.insert(line);
                    }
                    Answer(Reply::Done, 0)
                }
                Ok(Place::Store { spe, offset }) => {
                    // SAFETY: no SPE's program runs now; written and given up.
                    unsafe { self.shared[spe].store.bytes_mut(offset, data.len() as u32) }
                        .copy_from_slice(data);
                    Answer(Reply::Done, 0)
                }
                Ok(_) => Trap(format!("a store to {ea}; registers have calls of their own")),
                Err(message) => Trap(message),
            },
            PpeOp::Proxy { dma, .. } => {
                if let Err(message) = self.check_dma(dma) {
                    return Trap(message);
                }
                if self.mfcs[spe].space(true, &self.p.mfc) == 0 {
                    return Wait;
                }
                self.mfcs[spe].queue(*dma, None, true, self.wheel.now(), &self.p.mfc);
                self.counters.spes[spe].commands += 1;
                self.issue(spe);
                Answer(Reply::Done, 0)
            }
            PpeOp::ProxyTags { mask, until, .. } => {
                let done = self.mfcs[spe].done(*mask, true);
                let answered = match until {
                    Until::Now => true,
                    Until::Any => done != 0 || *mask == 0,
                    Until::All => done == *mask,
                };
                if answered { Answer(Reply::Word(done), 0) } else { Wait }
            }
            PpeOp::ReadMailbox { interrupt, .. } => {
                match self.spes[spe].outbox[usize::from(*interrupt)].take() {
                    Some(word) => {
                        self.wake(spe);
                        Answer(Reply::Word(word), self.p.ppe.register)
                    }
                    None => Wait,
                }
            }
            PpeOp::MailboxCount { interrupt, .. } => {
                let full = self.spes[spe].outbox[usize::from(*interrupt)].is_some();
                Answer(Reply::Word(u32::from(full)), 0)
            }
            PpeOp::WriteMailbox { value, .. } => {
                if self.put_mail(spe, *value) {
                    Answer(Reply::Done, 0)
                } else {
                    Wait
                }
            }
            PpeOp::WriteSignal { register, value, .. } => {
                if !(1..=2).contains(register) {
                    return Trap(format!("signal register {register}; there are 1 and 2"));
                }
                self.signal(spe, *register as usize - 1, *value);
                Answer(Reply::Done, 0)
            }
            PpeOp::Timebase => Answer(Reply::Long(self.ticks()), 0),
        }
    }

    /// A word for an SPE's inbound mailbox; `false` when it is full.
    pub(crate) fn put_mail(&mut self, spe: usize, value: u32) -> bool {
        if self.spes[spe].inbox.len() >= MAILBOX {
            return false;
        }
        self.spes[spe].inbox.push_back(value);
        self.wake(spe);
        true
    }

    pub(crate) fn signal(&mut self, spe: usize, register: usize, value: u32) {
        let state = &mut self.spes[spe];
        let old = if state.signal_or[register] { state.signals[register].unwrap_or(0) } else { 0 };
        state.signals[register] = Some(old | value);
        self.wake(spe);
    }

    fn store_range(&self, at: u32, bytes: u32) -> Result<(), String> {
        if u64::from(at) + u64::from(bytes) <= u64::from(LOCAL_STORE_BYTES) {
            return Ok(());
        }
        Err(format!("{bytes} bytes at {at:#x} of a local store of {LOCAL_STORE_BYTES} bytes"))
    }

    fn ppe_range(&self, ea: Address, bytes: u32) -> Result<Place, String> {
        let (first, last) = (self.place(ea), self.place(ea + u64::from(bytes.max(1) - 1)));
        let whole = match (first, last) {
            (Place::Memory { .. }, Place::Memory { .. }) => true,
            (Place::Store { spe: a, .. }, Place::Store { spe: b, .. }) => a == b,
            (Place::Nowhere, _) => false,
            _ => bytes <= 4,
        };
        if whole { Ok(first) } else { Err(format!("{bytes} bytes from {ea} on, which are not all there")) }
    }

    /// What the hardware traps about a command.
    fn check_dma(&self, dma: &Dma) -> Result<(), String> {
        let what = if dma.put { "put" } else { "get" };
        let command =
            format!("{what} of {} bytes, {:#x} of its local store and {}", dma.bytes, dma.ls, dma.ea);
        if dma.tag > 31 {
            return Err(format!("{command}: tag {}; allowed: 0 to 31", dma.tag));
        }
        self.check_piece(&command, dma.ls, dma.ea, dma.bytes)?;
        if !dma.put && matches!(self.place(dma.ea), Place::Mailbox { .. } | Place::Signal { .. }) {
            return Err(format!("{command}: registers cannot be read by DMA"));
        }
        Ok(())
    }

    fn check_piece(&self, command: &str, ls: u32, ea: Address, bytes: u32) -> Result<(), String> {
        if !matches!(bytes, 1 | 2 | 4 | 8) && (bytes == 0 || bytes % 16 != 0 || bytes > DMA_BYTES_MAX) {
            return Err(format!(
                "{command}: sizes are 1, 2, 4, 8, or a multiple of 16 up to {DMA_BYTES_MAX}"
            ));
        }
        let align = bytes.min(16);
        if ls % align != 0 || ea.0 % u64::from(align) != 0 {
            return Err(format!("{command}: both ends must be multiples of {align}"));
        }
        if bytes < 16 && u64::from(ls % 16) != ea.0 % 16 {
            return Err(format!(
                "{command}: below 16 bytes both ends must have the same place in a quadword"
            ));
        }
        self.store_range(ls, bytes).map_err(|e| format!("{command}: {e}"))?;
        match self.ppe_range(ea, bytes) {
            Ok(Place::Mailbox { .. } | Place::Signal { .. }) if bytes != 4 => {
                Err(format!("{command}: registers take 4 bytes"))
            }
            Ok(_) => Ok(()),
            Err(_) => Err(format!("{command}: that is not all there")),
        }
    }

    fn check_list(&self, dma: &Dma, list: &[ListElement]) -> Result<(), String> {
        let what = if dma.put { "put" } else { "get" };
        let command = format!("list {what} of {} elements at {:#x} of its local store", list.len(), dma.ls);
        if dma.tag > 31 {
            return Err(format!("{command}: tag {}; allowed: 0 to 31", dma.tag));
        }
        if list.is_empty() || list.len() > LIST_MAX {
            return Err(format!("{command}: allowed are 1 to {LIST_MAX} elements"));
        }
        let mut ls = dma.ls / 16 * 16;
        for (i, element) in list.iter().enumerate() {
            let at = ls + (element.ea.0 % 16) as u32;
            let command = format!("{command}, element {i} of {} bytes at {}", element.bytes, element.ea);
            self.check_piece(&command, at, element.ea, element.bytes)?;
            if !matches!(self.place(element.ea), Place::Memory { .. } | Place::Store { .. }) {
                return Err(format!("{command}: lists go to memory and local stores"));
            }
            ls = (at + element.bytes).next_multiple_of(16);
        }
        Ok(())
    }
}

/// What became of an operation.
enum Performed {
    /// Done; the answer comes so many cycles later.
    Answer(Reply, u64),
    /// It waits until something changes.
    Wait,
    /// It is looked at again so many cycles later.
    Again(u64),
    /// The hardware would trap.
    Trap(String),
}
