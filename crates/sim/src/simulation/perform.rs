//! The effects of calls that may go on.

use super::Simulation;
use crate::address::Location;
use crate::dma::{Dma, ListElement};
use crate::error::Time;
use crate::ids::UnitId;
use crate::numbers::LocalAddress;
use crate::op::{Atomic, Op, PpeOp, Reply, Until};
use crate::race::{Queued, Use};
use crate::trace::TraceSpan;
use crate::unit::MAILBOX;
use crate::wheel::WheelEvent;
use crate::{Address, CYCLE_PS, LINE_BYTES};

impl Simulation {
    /// The operation of `unit` takes effect. The answer, if the program goes on at once.
    pub(super) fn perform(&mut self, unit: UnitId) -> Option<Reply> {
        let op = self.units[unit.index()].op.take()?;
        if let Err(message) = self.refused(unit, &op) {
            self.trap(unit, message);
            return None;
        }
        if !self.may_go_on(unit, &op) {
            self.units[unit.index()].op = Some(op);
            return self.wait(unit);
        }
        let result =
            if let Op::Ppe(op) = &op { self.perform_ppe(unit, op) } else { self.perform_spe(unit, &op) };
        match result {
            Performed::Answer(reply, cycles) => self.answer(unit, &op, reply, cycles),
            Performed::Wait => {
                self.units[unit.index()].op = Some(op);
                self.wait(unit)
            }
            Performed::Again(cycles) => {
                self.units[unit.index()].op = Some(op);
                // Already on its way: what changes meanwhile must not wake it a second time.
                self.units[unit.index()].woken = true;
                self.wheel.push(self.wheel.now() + cycles, WheelEvent::Act(unit));
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
    fn clash(&self, unit: UnitId, writes: bool, start: Address, bytes: u64) -> Option<String> {
        if !self.races.on.get() {
            return None;
        }
        self.races.clash(&Use::new(unit, writes, start, bytes))
    }

    /// Queues a command that was checked at an MFC with room for it.
    fn queue(&mut self, unit: UnitId, mfc: usize, dma: Dma, list: Option<Vec<ListElement>>) -> Performed {
        let proxy = !self.is_spe(unit);
        let now = self.wheel.now();
        let elements = if self.races.on.get() { list.clone() } else { None };
        let command = self.mfcs[mfc].queue(dma, list, proxy, now, &self.p.mfc);
        if proxy {
            self.mfcs[mfc].seen_at[dma.tag.index()] = now + self.p.ppe.proxy - self.handover();
        }
        self.record.spe(mfc).commands += 1;
        if self.races.on.get() {
            let u = &self.units[unit.index()];
            let whose = format!("queued by {} ({}) at {}", u.name, u.program, Time(now));
            let list = elements.as_deref().unwrap_or_default();
            let queued = Queued { mfc, command, by: unit, proxy, dma: &dma, list, whose };
            if let Some(message) = self.races.queue(&queued) {
                return Performed::Race(message);
            }
        }
        self.issue(mfc);
        Performed::Answer(Reply::Done, 0)
    }

    fn perform_spe(&mut self, unit: UnitId, op: &Op) -> Performed {
        use Performed::{Again, Answer, Race, Trap};
        let spe = unit.index();
        match op {
            Op::Compute { cycles } => {
                let (start, end) = (self.units[spe].since, self.wheel.now());
                if self.is_spe(unit) {
                    // DMA went first at the local store's port: the SPU cycles that it took are made up for.
                    let lines = self.record.store_lines(spe) - self.units[spe].lines_seen;
                    let needed = cycles.0.saturating_add(lines * self.p.spu.stolen_per_line).div_ceil(2);
                    if needed > end - start {
                        return Again(needed - (end - start));
                    }
                    self.record.spe(spe).compute_cycles += end - start;
                }
                self.record.span(TraceSpan { unit: unit.0, what: "compute", start, end });
                Answer(Reply::Done, 0)
            }
            Op::Alloc { bytes, align } => {
                let start = self.spes[spe].free.next_multiple_of(align.0);
                self.spes[spe].free = start + bytes.0;
                self.shared[spe].allocated.borrow_mut().add(start.into(), bytes.0.into());
                Answer(Reply::Word(start), 0)
            }
            Op::Peek { at, bytes } => match self.clash(unit, false, own_store(spe, *at), bytes.0.into()) {
                Some(message) => Race(message),
                None => Answer(Reply::Bytes(self.shared[spe].store.copied(at.0, bytes.0)), 0),
            },
            Op::Poke { at, data } => {
                if let Some(message) = self.clash(unit, true, own_store(spe, *at), data.bytes()) {
                    return Race(message);
                }
                self.shared[spe].store.write(at.0, &data.0);
                Answer(Reply::Done, 0)
            }
            Op::Dma(dma) => self.queue(unit, spe, *dma, None),
            Op::List { dma, list } => self.queue(unit, spe, *dma, Some(list.0.clone())),
            Op::Tags { mask, .. } => {
                Answer(Reply::Word(self.mfcs[spe].done(mask.0, false)), self.p.spu.tag_status)
            }
            Op::QueueSpace => Answer(count(self.mfcs[spe].space(false, &self.p.mfc)), 0),
            Op::Atomic { atomic, ls, ea } => self.perform_atomic(unit, *atomic, *ls, *ea),
            Op::ReadMailbox => {
                let word = self.spes[spe].inbox.pop_front().expect("it may go on");
                match self.spes[spe].mail.pop_front() {
                    Some(line) => self.wheel.push(self.wheel.now(), WheelEvent::Arrived(line)),
                    None => self.wake_ppes(),
                }
                Answer(Reply::Word(word), 0)
            }
            Op::MailboxCount => Answer(count(self.spes[spe].inbox.len()), 0),
            Op::WriteMailbox { interrupt, value } => {
                self.spes[spe].outbox[usize::from(*interrupt)] = Some(value.0);
                self.wake_ppes();
                Answer(Reply::Done, 0)
            }
            Op::MailboxSpace { interrupt } => {
                let free = self.spes[spe].outbox[usize::from(*interrupt)].is_none();
                Answer(Reply::Word(u32::from(free)), 0)
            }
            Op::ReadSignal { register } => {
                let word = self.spes[spe].signals[register.index()].take().expect("it may go on");
                Answer(Reply::Word(word), 0)
            }
            Op::SignalCount { register } => {
                Answer(Reply::Word(u32::from(self.spes[spe].signals[register.index()].is_some())), 0)
            }
            Op::SignalMode { register, or } => {
                self.spes[spe].signal_or[register.index()] = *or;
                Answer(Reply::Done, 0)
            }
            Op::Decrementer => {
                let (set_at, value) = self.spes[spe].decrementer;
                Answer(Reply::Word(value.wrapping_sub((self.ticks() - set_at) as u32)), 0)
            }
            Op::SetDecrementer { value } => {
                self.spes[spe].decrementer = (self.ticks(), value.0);
                Answer(Reply::Done, 0)
            }
            Op::Trap(message) if self.shared[spe].raced.get() => Race(message.clone()),
            Op::Trap(message) => Trap(message.clone()),
            Op::Ppe(_) => unreachable!("handled by perform_ppe"),
        }
    }

    /// Ticks of the time base since the start.
    pub(super) fn ticks(&self) -> u64 {
        let ps = u128::from(self.wheel.now()) * u128::from(CYCLE_PS);
        (ps * u128::from(self.p.timebase_hz) / 1_000_000_000_000) as u64
    }

    fn perform_atomic(&mut self, unit: UnitId, atomic: Atomic, ls: LocalAddress, ea: Address) -> Performed {
        let writes = atomic == Atomic::Getllar;
        if let Some(message) = self.clash(unit, writes, own_store(unit.index(), ls), LINE_BYTES.into()) {
            return Performed::Race(message);
        }
        if atomic == Atomic::Putllc && !self.reservations.has(unit.index(), ea.0) {
            self.reservations.give_up(unit.index());
            return Performed::Answer(Reply::Word(0), self.p.bus.coherence);
        }
        let put = atomic != Atomic::Getllar;
        self.send_atomic(unit.index(), put, ls.0, ea);
        Performed::Wait
    }

    fn perform_ppe(&mut self, unit: UnitId, op: &PpeOp) -> Performed {
        use Performed::{Again, Answer, Race};
        match op {
            PpeOp::Load { ea, bytes } => {
                if let Some(message) = self.clash(unit, false, *ea, bytes.0.into()) {
                    return Race(message);
                }
                let data = match self.place(*ea) {
                    Location::Memory { offset, .. } => {
                        for line in offset / 128..(offset + u64::from(bytes.0)).div_ceil(128) {
                            self.caches.loaded_by_ppe(line * 128);
                        }
                        self.memory.bytes(offset, bytes.0 as usize).to_vec()
                    }
                    Location::Store { spe, offset } => {
                        self.shared[usize::from(spe)].store.copied(offset, bytes.0)
                    }
                    _ => unreachable!("loads of other places were trapped"),
                };
                Answer(Reply::Bytes(data), 0)
            }
            PpeOp::Store { ea, data } => {
                if let Some(message) = self.clash(unit, true, *ea, data.bytes()) {
                    return Race(message);
                }
                match self.place(*ea) {
                    Location::Memory { offset, .. } => {
                        self.memory.bytes_mut(offset, data.0.len()).copy_from_slice(&data.0);
                        for line in offset / 128..(offset + data.bytes()).div_ceil(128) {
                            self.memory_written(line * 128);
                            self.caches.written_by_ppe(line * 128, (line + 1) * 128);
                        }
                    }
                    Location::Store { spe, offset } => {
                        self.shared[usize::from(spe)].store.write(offset, &data.0);
                    }
                    _ => unreachable!("stores to other places were trapped"),
                }
                Answer(Reply::Done, 0)
            }
            PpeOp::Proxy { spe, dma } => self.queue(unit, spe.0, *dma, None),
            PpeOp::ProxyTags { spe, mask, until } => {
                let done = self.mfcs[spe.0].done(mask.0, true);
                let (seen, soonest, latest) = self.mfcs[spe.0].seen(done, self.wheel.now());
                if until.satisfied(seen, mask.0) {
                    return Answer(Reply::Word(seen), 0);
                }
                Again(if *until == Until::Any { soonest } else { latest })
            }
            PpeOp::Synchronize { .. } => Answer(Reply::Done, 0),
            PpeOp::ReadMailbox { spe, interrupt } => {
                let word = self.spes[spe.0].outbox[usize::from(*interrupt)].take().expect("it may go on");
                self.wake(UnitId::new(spe.0));
                Answer(Reply::Word(word), self.p.ppe.register)
            }
            PpeOp::MailboxCount { spe, interrupt } => {
                let full = self.spes[spe.0].outbox[usize::from(*interrupt)].is_some();
                Answer(Reply::Word(u32::from(full)), 0)
            }
            PpeOp::MailboxSpace { spe } => Answer(count(MAILBOX - self.spes[spe.0].inbox.len()), 0),
            PpeOp::WriteMailbox { spe, value } => {
                self.put_mail(spe.0, value.0);
                Answer(Reply::Done, 0)
            }
            PpeOp::WriteSignal { spe, register, value } => {
                self.signal(spe.0, register.index(), value.0);
                Answer(Reply::Done, 0)
            }
            PpeOp::Timebase => Answer(Reply::Long(self.ticks()), 0),
        }
    }

    /// A word for an SPE's inbound mailbox; `false` when it is full.
    pub(super) fn put_mail(&mut self, spe: usize, value: u32) -> bool {
        if self.spes[spe].inbox.len() >= MAILBOX {
            return false;
        }
        self.spes[spe].inbox.push_back(value);
        self.wake(UnitId::new(spe));
        true
    }

    pub(super) fn signal(&mut self, spe: usize, register: usize, value: u32) {
        let state = &mut self.spes[spe];
        let old = if state.signal_or[register] { state.signals[register].unwrap_or(0) } else { 0 };
        state.signals[register] = Some(old | value);
        self.wake(UnitId::new(spe));
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

/// An address of an SPE's own local store.
fn own_store(spe: usize, at: LocalAddress) -> Address {
    Address::local_store(spe) + u64::from(at.0)
}

/// A number of entries of a queue.
fn count(entries: usize) -> Reply {
    Reply::Word(u32::try_from(entries).expect("queues are short"))
}
