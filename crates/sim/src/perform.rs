//! The operations of programs, performed.

use crate::address::Location;
use crate::error::Time;
use crate::line::ATOMIC;
use crate::mfc::Piece;
use crate::op::{Atomic, Dma, ListElement, Op, PpeOp, Reply, Until};
use crate::race::{Queued, Use};
use crate::simulation::Simulation;
use crate::trace::TraceSpan;
use crate::unit::MAILBOX;
use crate::wheel::WheelEvent;
use crate::{Address, CYCLE_PS, LINE_BYTES, LOCAL_STORE_BYTES};

/// Registers that a PPE uses to hand over a command: it writes the local address, both halves of the effective address,
/// size and tag, class and opcode, and reads whether the queue took the command.
const PROXY_REGISTERS: u64 = 6;

impl Simulation {
    /// Bus cycles that pass before an operation takes effect.
    pub(crate) fn before(&mut self, unit: usize, op: &Op) -> u64 {
        let (spu, ppe) = (&self.p.spu, &self.p.ppe);
        match op {
            Op::Compute { cycles } => {
                let u = &mut self.units[unit];
                u.since = self.wheel.now();
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
            Op::Ppe(PpeOp::Load { ea, bytes }) => self.ppe_access(*ea, (*bytes).into(), false),
            Op::Ppe(PpeOp::Store { ea, data }) => self.ppe_access(*ea, data.len() as u64, true),
            Op::Ppe(PpeOp::Timebase) => ppe.cached,
            Op::Ppe(PpeOp::Proxy { .. }) => ppe.proxy.min(PROXY_REGISTERS * ppe.register),
            Op::Ppe(_) => ppe.register,
        }
    }

    /// The time of a PPE's load or store: by line of memory, by quadword of a local store.
    fn ppe_access(&self, ea: Address, bytes: u64, store: bool) -> u64 {
        match self.check_ppe("access", ea, bytes) {
            Ok(Location::Memory { offset, .. }) => {
                let lines = offset / 128..(offset + bytes.max(1)).div_ceil(128);
                let all = lines.end - lines.start;
                let cached = lines.filter(|line| store || self.ppe_lines.contains(line)).count() as u64;
                let times = &self.p.ppe;
                cached * times.cached + (all - cached).div_ceil(times.misses) * times.uncached
            }
            Ok(_) => self.p.ppe.register * bytes.div_ceil(16).max(1),
            // It traps.
            Err(_) => 0,
        }
    }

    /// The operation of `unit` takes effect. The answer, if the program goes on at once.
    pub(crate) fn perform(&mut self, unit: usize) -> Option<Reply> {
        let op = self.units[unit].op.take()?;
        let result =
            if let Op::Ppe(op) = &op { self.perform_ppe(unit, op) } else { self.perform_spe(unit, &op) };
        match result {
            Performed::Answer(reply, cycles) => self.answer(unit, &op, reply, cycles),
            Performed::Wait => {
                self.units[unit].op = Some(op);
                self.wait(unit)
            }
            Performed::Again(cycles) => {
                self.units[unit].op = Some(op);
                // Already on its way: what changes meanwhile must not wake it a second time.
                self.units[unit].woken = true;
                self.wheel.push(self.wheel.now() + cycles, WheelEvent::Act(unit as u8));
                None
            }
            Performed::Trap(message) => {
                self.trap(unit, message);
                None
            }
            Performed::Race(message) => {
                self.race(unit, message);
                None
            }
        }
    }

    /// The race in which a use of these bytes would end now, when races are looked for.
    fn clash(&self, unit: usize, writes: bool, start: Address, bytes: u64) -> Option<String> {
        if !self.races.on.get() {
            return None;
        }
        self.races.clash(&Use::new(unit, writes, start, bytes))
    }

    /// Queues a command that was checked at an MFC with room for it.
    fn queue(&mut self, unit: usize, mfc: usize, dma: Dma, list: Option<Vec<ListElement>>) -> Performed {
        let proxy = unit >= self.spes.len();
        let now = self.wheel.now();
        let elements = if self.races.on.get() { list.clone() } else { None };
        let slot = self.mfcs[mfc].queue(dma, list, proxy, now, &self.p.mfc);
        if proxy {
            let handed_over = self.p.ppe.proxy.min(PROXY_REGISTERS * self.p.ppe.register);
            self.mfcs[mfc].seen_at[dma.tag as usize] = now + self.p.ppe.proxy - handed_over;
        }
        self.counters.spes[mfc].commands += 1;
        if self.races.on.get() {
            let u = &self.units[unit];
            let whose = format!("queued by {} ({}) at {}", u.name, u.program, Time(now));
            let list = elements.as_deref().unwrap_or_default();
            let queued = Queued { mfc, slot, by: unit, proxy, dma: &dma, list, whose };
            if let Some(message) = self.races.queue(&queued) {
                return Performed::Race(message);
            }
        }
        self.issue(mfc);
        Performed::Answer(Reply::Done, 0)
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
        use Performed::{Again, Answer, Race, Trap, Wait};
        let is_spe = unit < self.spes.len();
        if !is_spe && !matches!(op, Op::Compute { .. } | Op::Trap(_)) {
            return Trap(format!("{op:?} is a call of SPEs"));
        }
        match op {
            Op::Compute { cycles } => {
                let (start, end) = (self.units[unit].since, self.wheel.now());
                if is_spe {
                    // DMA went first at the local store's port: the SPU cycles that it took are made up for.
                    let lines = self.counters.spes[unit].store_lines - self.units[unit].lines_seen;
                    let needed = cycles.saturating_add(lines * self.p.spu.stolen_per_line).div_ceil(2);
                    if needed > end - start {
                        return Again(needed - (end - start));
                    }
                    self.counters.spes[unit].compute_cycles += end - start;
                }
                if let Some(trace) = &mut self.trace {
                    trace.span(TraceSpan { unit: unit as u8, what: "compute", start, end });
                }
                Answer(Reply::Done, 0)
            }
            Op::Alloc { bytes, align } => {
                if !align.is_power_of_two() {
                    return Trap(format!("local store aligned to {align}, which is no power of two"));
                }
                let start = self.spes[unit].free.next_multiple_of(*align);
                match start.checked_add(*bytes) {
                    Some(end) if end <= LOCAL_STORE_BYTES => {
                        self.spes[unit].free = end;
                        self.shared[unit].allocated.borrow_mut().add(start.into(), (*bytes).into());
                        Answer(Reply::Word(start), 0)
                    }
                    _ => Trap(format!(
                        "no room for {bytes} bytes in its local store: {start} of {LOCAL_STORE_BYTES} are taken"
                    )),
                }
            }
            Op::Peek { at, bytes } => {
                if let Err(message) = self.shared[unit].check_store(*at, (*bytes).into()) {
                    return Trap(message);
                }
                if let Some(message) = self.clash(unit, false, own_store(unit, *at), (*bytes).into()) {
                    return Race(message);
                }
                Answer(Reply::Bytes(self.shared[unit].store.copied(*at, *bytes)), 0)
            }
            Op::Poke { at, data } => {
                if let Err(message) = self.shared[unit].check_store(*at, data.len() as u64) {
                    return Trap(message);
                }
                if let Some(message) = self.clash(unit, true, own_store(unit, *at), data.len() as u64) {
                    return Race(message);
                }
                self.shared[unit].store.write(*at, data);
                Answer(Reply::Done, 0)
            }
            Op::Dma(dma) => {
                if let Err(message) = self.check_dma(unit, dma) {
                    return Trap(message);
                }
                if self.mfcs[unit].space(false, &self.p.mfc) == 0 {
                    return Wait;
                }
                self.queue(unit, unit, *dma, None)
            }
            Op::List { dma, list } => {
                if let Err(message) = self.check_list(unit, dma, list) {
                    return Trap(message);
                }
                if self.mfcs[unit].space(false, &self.p.mfc) == 0 {
                    return Wait;
                }
                self.queue(unit, unit, *dma, Some(list.clone()))
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
                    match self.spes[unit].mail.pop_front() {
                        Some(line) => self.wheel.push(self.wheel.now(), WheelEvent::Arrived(line)),
                        None => self.wake_ppes(),
                    }
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
            Op::Trap(message) if self.shared[unit].raced.get() => Race(message.clone()),
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
        let Location::Memory { offset, .. } = self.place(ea) else {
            return Performed::Trap(format!("{atomic:?} at {ea}; allowed: main memory"));
        };
        if offset % 128 != 0 || !ls.is_multiple_of(128) {
            return Performed::Trap(format!(
                "{atomic:?} from {ea} to {ls:#x}; both must be multiples of 128"
            ));
        }
        let there = self.shared[unit].check_store(ls, LINE_BYTES.into());
        if let Err(message) = there.and_then(|()| self.range(ea, LINE_BYTES.into())) {
            return Performed::Trap(format!("{atomic:?} at {ea}: {message}"));
        }
        let writes = atomic == Atomic::Getllar;
        if let Some(message) = self.clash(unit, writes, own_store(unit, ls), LINE_BYTES.into()) {
            return Performed::Race(message);
        }
        if atomic == Atomic::Putllc && self.spes[unit].reservation != Some(offset) {
            if self.spes[unit].reservation.take().is_some() {
                self.reservations -= 1;
            }
            return Performed::Answer(Reply::Word(0), self.p.bus.coherence);
        }
        let put = atomic != Atomic::Getllar;
        let piece = Piece { slot: ATOMIC, put, ls, ea, bytes: LINE_BYTES };
        self.send_out(unit, piece, self.place(ea));
        Performed::Wait
    }

    fn perform_ppe(&mut self, unit: usize, op: &PpeOp) -> Performed {
        use Performed::{Again, Answer, Race, Trap, Wait};
        if unit < self.spes.len() {
            return Trap(format!("{op:?} is a call of PPEs"));
        }
        let spe = match op {
            PpeOp::Proxy { spe, .. }
            | PpeOp::ProxyTags { spe, .. }
            | PpeOp::ReadMailbox { spe, .. }
            | PpeOp::MailboxCount { spe, .. }
            | PpeOp::MailboxSpace { spe }
            | PpeOp::WriteMailbox { spe, .. }
            | PpeOp::WriteSignal { spe, .. } => *spe,
            _ => 0,
        };
        if spe >= self.spes.len() {
            return Trap(format!("a register of SPE{spe}; there are {} SPEs, from SPE0 on", self.spes.len()));
        }
        match op {
            PpeOp::Load { ea, bytes } => {
                let place = match self.check_ppe("load", *ea, (*bytes).into()) {
                    Ok(place) => place,
                    Err(message) => return Trap(message),
                };
                if let Some(message) = self.clash(unit, false, *ea, (*bytes).into()) {
                    return Race(message);
                }
                let data = match place {
                    Location::Memory { offset, .. } => {
                        self.memory[offset as usize..][..*bytes as usize].to_vec()
                    }
                    Location::Store { spe, offset } => {
                        self.shared[usize::from(spe)].store.copied(offset, *bytes)
                    }
                    _ => unreachable!("loads of other places were trapped"),
                };
                Answer(Reply::Bytes(data), 0)
            }
            PpeOp::Store { ea, data } => {
                let place = match self.check_ppe("store", *ea, data.len() as u64) {
                    Ok(place) => place,
                    Err(message) => return Trap(message),
                };
                if let Some(message) = self.clash(unit, true, *ea, data.len() as u64) {
                    return Race(message);
                }
                match place {
                    Location::Memory { offset, .. } => {
                        self.memory[offset as usize..][..data.len()].copy_from_slice(data);
                        for line in offset / 128..(offset + data.len() as u64).div_ceil(128) {
                            self.memory_written(line * 128);
                            self.ppe_lines.insert(line);
                        }
                    }
                    Location::Store { spe, offset } => {
                        self.shared[usize::from(spe)].store.write(offset, data);
                    }
                    _ => unreachable!("stores to other places were trapped"),
                }
                Answer(Reply::Done, 0)
            }
            PpeOp::Proxy { dma, .. } => {
                if let Err(message) = self.check_dma(spe, dma) {
                    return Trap(message);
                }
                if self.mfcs[spe].space(true, &self.p.mfc) == 0 {
                    return Wait;
                }
                self.queue(unit, spe, *dma, None)
            }
            PpeOp::ProxyTags { mask, until, .. } => {
                let done = self.mfcs[spe].done(*mask, true);
                let (seen, soonest, latest) = self.mfcs[spe].seen(done, self.wheel.now());
                match until {
                    Until::Now => Answer(Reply::Word(seen), 0),
                    Until::Any if seen != 0 || *mask == 0 => Answer(Reply::Word(seen), 0),
                    Until::Any if done != 0 => Again(soonest),
                    Until::All if seen == *mask => Answer(Reply::Word(seen), 0),
                    Until::All if done == *mask => Again(latest),
                    _ => Wait,
                }
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
            PpeOp::MailboxSpace { .. } => {
                Answer(Reply::Word((MAILBOX - self.spes[spe].inbox.len()) as u32), 0)
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
    /// It uses bytes that are in flight.
    Race(String),
}

/// An address of a unit's own local store.
fn own_store(unit: usize, at: u32) -> Address {
    Address::local_store(unit) + u64::from(at)
}
