//! Lines on their way: from an MFC's queue over command bus, rings, memory and link to their place.

use super::Simulation;
use crate::address::Location;
use crate::bus::Grant;
use crate::controller::{Controller, Started};
use crate::ids::{CommandId, LineId, UnitId, byte};
use crate::layout::{self, MIC, PPE};
use crate::line::{Line, NOBODY};
use crate::op::Reply;
use crate::trace::Packet;
use crate::wheel::WheelEvent;
use crate::{Address, BEATS, LINE_BYTES};

impl Simulation {
    /// Sends out the lines that an MFC may have under way.
    pub(super) fn issue(&mut self, m: usize) {
        let now = self.wheel.now();
        loop {
            let (mfc, times) = (&mut self.mfcs[m], &self.p.mfc);
            if mfc.lines_out >= times.lines {
                return;
            }
            let Some(position) = mfc.next_command() else { return };
            let (ready, next) = mfc.next_line(position);
            if ready > now {
                return self.issue_at(m, ready);
            }
            let Some(&Line { remote, place, .. }) = next else {
                self.find_way(m, position);
                continue;
            };
            let mut most = times.lines - mfc.lines_out;
            if remote {
                let allowed = times.remote_lines[self.homes[m].0];
                most = most.min(allowed.saturating_sub(mfc.remote_out));
                if most == 0 {
                    return;
                }
            }
            if times.memory_token > 0 && matches!(place, Location::Memory { .. }) {
                if mfc.next_token > now {
                    let at = mfc.next_token;
                    return self.issue_at(m, at);
                }
                mfc.next_token = now + times.memory_token;
                most = 1;
            }
            let (line, bytes) = mfc.take(position, most, times, now);
            self.send_out(line, bytes);
        }
    }

    /// Finds out where the next line of a command starts and ends.
    fn find_way(&mut self, m: usize, position: usize) {
        let (id, put, ls, ea) = self.mfcs[m].ends(position);
        let line = self.line(m, id, put, ls, ea);
        let within = match line.place {
            Location::Memory { chip, offset } => (u64::from(chip) + 1) * self.p.memory_bytes - offset,
            _ => u64::MAX,
        };
        self.mfcs[m].set_next_line(position, line, within);
    }

    /// A line between the local store of `m` at `ls`, and `ea`.
    fn line(&self, m: usize, command: CommandId, put: bool, ls: u32, ea: Address) -> Line {
        let place = self.place(ea);
        let (chip, ramp) = self.homes[m];
        let target = self.chip_of(place);
        // Where the data is at first, and where it goes.
        let (mut source, mut from) = (byte(m), byte(ramp));
        let mut last_ramp = byte(MIC);
        match place {
            Location::Store { spe, .. } | Location::Mailbox { spe } | Location::Signal { spe, .. } => {
                last_ramp = byte(self.homes[usize::from(spe)].1);
                if !put {
                    (source, from) = (spe, last_ramp);
                }
            }
            _ if !put => (source, from) = (NOBODY, byte(MIC)),
            _ => {}
        }
        let (mut first_chip, mut last_chip) = (byte(chip), byte(target));
        if !put {
            (first_chip, last_chip, last_ramp) = (last_chip, first_chip, byte(ramp));
        }
        Line {
            mfc: byte(m),
            command,
            put,
            source,
            remote: target != chip,
            chip: first_chip,
            last_chip,
            last_ramp,
            from,
            to: 0,
            hops: 0,
            direction: None,
            bytes: 0,
            half: false,
            next: LineId::NONE,
            queued_at: 0,
            ls,
            ea: ea.0,
            place,
        }
    }

    /// The line of an atomic command goes out.
    pub(super) fn send_atomic(&mut self, m: usize, put: bool, ls: u32, ea: Address) {
        self.send_out(self.line(m, CommandId::ATOMIC, put, ls, ea), LINE_BYTES);
    }

    fn issue_at(&mut self, m: usize, at: u64) {
        if at < self.mfcs[m].issues_at {
            self.mfcs[m].issues_at = at;
            self.wheel.push(at, WheelEvent::Issue(byte(m)));
        }
    }

    #[inline]
    fn chip_of(&self, place: Location) -> usize {
        match place {
            Location::Memory { chip, .. } => chip.into(),
            Location::Store { spe, .. } | Location::Mailbox { spe } | Location::Signal { spe, .. } => {
                self.homes[usize::from(spe)].0
            }
            Location::Nowhere => unreachable!("commands are checked when they are queued"),
        }
    }

    /// The commands of consecutive lines, which carry `left` bytes from the first line on, go out.
    #[inline]
    fn send_out(&mut self, mut line: Line, mut left: u32) {
        let now = self.wheel.now();
        let (lines, interval) = (line.lines(left), self.p.bus.command_interval);
        let (chip, target) = if line.put { (line.chip, line.last_chip) } else { (line.last_chip, line.chip) };
        let mut command = self.buses[usize::from(chip)].command_slots(now, interval, lines);
        let mut answered = self.p.bus.coherence;
        if line.remote {
            self.buses[usize::from(target)].command_slots(now, interval, lines);
            answered += self.p.link.command[usize::from(chip)];
        }
        let mfc = &mut self.mfcs[usize::from(line.mfc)];
        mfc.lines_out += lines;
        mfc.remote_out += if line.remote { lines } else { 0 };
        mfc.puts_out += if line.put && matches!(line.place, Location::Memory { .. }) { lines } else { 0 };
        let mut next_line = mfc.next_line_at;
        while left > 0 {
            let bytes = left.min(128 - (line.ea % 128) as u32);
            line.bytes = byte(bytes as usize);
            let index = self.lines.add(&line);
            let at = command.max(next_line);
            next_line = at + self.p.mfc.line_interval;
            command += interval;
            let at = at + answered;
            if line.source == NOBODY {
                self.read_memory(index, target.into(), at);
            } else {
                self.wheel.push(at + self.p.bus.source, WheelEvent::Ready(index));
            }
            line.advance(bytes);
            left -= bytes;
        }
        self.mfcs[usize::from(line.mfc)].next_line_at = next_line;
    }

    /// A line of memory is asked for: from the PPE when it has it in its cache.
    #[inline]
    fn read_memory(&mut self, line: LineId, chip: usize, at: u64) {
        if self.caches.has(self.lines[line].ea) {
            let free = self.caches.serve(chip, at, self.p.memory.ppe_cache_line);
            self.lines[line].from = byte(PPE);
            self.wheel.push(free + self.p.bus.source, WheelEvent::Ready(line));
        } else {
            self.wheel.push(at, WheelEvent::Read(line));
        }
    }

    /// A read reaches the memory controller.
    pub(super) fn read(&mut self, line: LineId) {
        let (chip, ea) = (self.lines[line].chip as usize, self.lines[line].ea);
        self.controllers[chip].read(line, ea);
        self.poke_memory(chip, self.wheel.now());
    }

    fn poke_memory(&mut self, chip: usize, at: u64) {
        let controller = &self.controllers[chip];
        // Nothing starts before the bus is free: the look at that cycle, once it is planned, is soon enough.
        if at < controller.looks_at && controller.looks_at != controller.bus_free {
            self.controllers[chip].looks_at = at;
            self.wheel.push(at, WheelEvent::Memory(byte(chip)));
        }
    }

    pub(super) fn look_at_memory(&mut self, chip: usize) {
        let now = self.wheel.now();
        if self.controllers[chip].looks_at != now {
            return;
        }
        self.controllers[chip].looks_at = u64::MAX;
        loop {
            match self.controllers[chip].start(now, &self.p.memory) {
                Started::Read(line) => self.wheel.push(now + self.p.memory.latency, WheelEvent::Ready(line)),
                Started::Write => self.poke_arbiter(chip, now + 1),
                Started::Later(at) => return self.poke_memory(chip, at),
                Started::Idle => return,
            }
        }
    }

    fn poke_arbiter(&mut self, chip: usize, at: u64) {
        if let Some(at) = self.buses[chip].look_at(at) {
            self.wheel.push(at, WheelEvent::Arbitrate(byte(chip)));
        }
    }

    /// A line's data is there: it queues at the ramp that it starts from.
    #[inline]
    pub(super) fn ready(&mut self, index: LineId) {
        let now = self.wheel.now();
        let line = &self.lines[index];
        let (chip, from, source) = (line.chip as usize, line.from as usize, line.source);
        let to = if line.chip == line.last_chip { line.last_ramp as usize } else { self.link_ramp() };
        if source != NOBODY && !self.take_port(source as usize, index, true) {
            return;
        }
        if let Some(at) = self.buses[chip].queue(&mut self.lines, index, from, to, now) {
            self.wheel.push(at, WheelEvent::Arbitrate(byte(chip)));
        }
    }

    #[inline]
    fn link_ramp(&self) -> usize {
        layout::IOIF[self.p.bus.link_ramp]
    }

    /// Takes the local store's port for one line, or tries again when it is free. The port is one line of the store
    /// wide: bytes that lie across two of them take it for two cycles, and are through after the second.
    #[inline(always)]
    fn take_port(&mut self, spe: usize, index: LineId, out: bool) -> bool {
        let now = self.wheel.now();
        let (state, line) = (&mut self.spes[spe], &mut self.lines[index]);
        // The other end of a line never lies across.
        let across = out == line.put && line.ls % 128 + u32::from(line.bytes) > 128;
        if across && line.half {
            return true;
        }
        let again = if state.port_free > now {
            state.port_free
        } else {
            self.record.spe(spe).store_lines += 1;
            state.port_free = now + 1 + u64::from(across);
            if !across {
                return true;
            }
            line.half = true;
            now + 1
        };
        self.wheel.push(again, if out { WheelEvent::Ready(index) } else { WheelEvent::Arrived(index) });
        false
    }

    pub(super) fn arbitrate(&mut self, chip: usize) {
        let now = self.wheel.now();
        if self.buses[chip].arbitrates_at != now {
            return;
        }
        self.buses[chip].arbitrates_at = u64::MAX;
        let room = self.controllers[chip].has_room(&self.p.memory);
        let again = self.buses[chip].arbitrate(&self.lines, now, room);
        if again != u64::MAX {
            self.poke_arbiter(chip, again);
        }
        let grants = std::mem::take(&mut self.buses[chip].grants);
        for grant in &grants {
            let line = &mut self.lines[grant.line];
            let left_store = line.put && line.source != NOBODY;
            line.source = NOBODY;
            let last = line.chip == line.last_chip;
            let ea = line.ea;
            if left_store {
                let (ls, bytes, m) = (line.ls, line.bytes, line.mfc);
                self.shared[m as usize].store.read(ls, &mut self.lines.data(grant.line)[..bytes as usize]);
                // A put to memory is done for its program when it has left (dma-benchmark, section 4); one to a local
                // store or a register when it is there (`kistler2006-005`).
                if Address(ea).is_memory() {
                    self.wheel.push(now + BEATS, WheelEvent::Sent(grant.line));
                }
            }
            let end = now + u64::from(grant.hops) + BEATS;
            self.wheel.push(end + if last { self.p.bus.sink } else { 0 }, WheelEvent::Arrived(grant.line));
            if last && grant.to as usize == MIC {
                self.controllers[chip].expect_write();
            }
            let at = u64::from(grant.from) << 8 | u64::from(grant.to);
            self.mix(now ^ ea << 20 ^ at << 48 ^ u64::from(grant.ring.unwrap_or(4)) << 60);
            if let Some(ring) = grant.ring {
                let Grant { from, to, .. } = *grant;
                self.record.packet(|| Packet { chip: byte(chip), ring, from, to, start: now, end });
            }
        }
        self.buses[chip].grants = grants;
    }

    /// A put's line has left its local store.
    pub(super) fn sent(&mut self, index: LineId) {
        let (m, id) = (usize::from(self.lines[index].mfc), self.lines[index].command);
        if id != CommandId::ATOMIC && self.mfcs[m].sent(id) {
            if self.races.on.get() {
                self.races.left(m, id);
            }
            self.wake(UnitId::new(m));
            self.wake_ppes();
        }
    }

    /// A line has gone its way on this chip.
    #[inline]
    pub(super) fn arrived(&mut self, index: LineId) {
        let now = self.wheel.now();
        let line = &mut self.lines[index];
        if line.chip != line.last_chip {
            line.chip = line.last_chip;
            line.from = byte(layout::IOIF[self.p.bus.link_ramp]);
            let at = self.link.carry(line.last_chip as usize, now, &self.p.link);
            self.wheel.push(at, WheelEvent::Ready(index));
            return;
        }
        let Line { put, command: id, remote, ls, bytes, ea, place, .. } = *line;
        let (m, bytes) = (usize::from(line.mfc), u32::from(bytes));
        let into = match place {
            _ if !put => Some(m),
            Location::Store { spe, .. } => Some(spe.into()),
            _ => None,
        };
        if let Some(spe) = into
            && !self.take_port(spe, index, false)
        {
            return;
        }
        let mut reply = 1;
        if put {
            if id == CommandId::ATOMIC && self.lost_reservation(m, ea) {
                reply = 0;
                let chip = self.chip_of(place);
                self.controllers[chip].write(ea);
            } else if !self.put_down(index, place, bytes) {
                // A mailbox without room: the put waits there until a word is read.
                return;
            }
            self.record.spe(m).put_bytes += u64::from(bytes);
        } else {
            self.take_in(m, place, ls, bytes);
            self.record.spe(m).got_bytes += u64::from(bytes);
        }
        self.mix(now ^ u64::from(index.0) << 40);
        self.lines.remove(index);
        if let Location::Memory { chip, .. } = place
            && put
        {
            self.poke_memory(chip.into(), now);
        }
        let mfc = &mut self.mfcs[m];
        mfc.lines_out -= 1;
        mfc.remote_out -= u32::from(remote);
        if put && matches!(place, Location::Memory { .. }) {
            mfc.puts_out -= 1;
            if mfc.puts_out == 0 {
                self.wake_ppes();
            }
        }
        let mfc = &mut self.mfcs[m];
        if id == CommandId::ATOMIC {
            self.finish_atomic(m, ea, put, reply);
        } else {
            let also_sent = !put || !matches!(place, Location::Memory { .. });
            let (done, room) = mfc.arrived(id, also_sent);
            if room && self.races.on.get() {
                self.races.end(m, id);
            }
            if done || room {
                self.wake(UnitId::new(m));
                self.wake_ppes();
            }
        }
        self.issue(m);
    }

    /// A get's bytes arrive.
    #[inline]
    fn take_in(&mut self, m: usize, place: Location, ls: u32, bytes: u32) {
        match place {
            Location::Memory { offset, .. } => {
                let line = self.memory.bytes(offset, bytes as usize);
                self.shared[m].store.write(ls, line);
            }
            Location::Store { spe, offset } => {
                self.shared[m].store.copy(ls, &self.shared[usize::from(spe)].store, offset, bytes);
            }
            _ => unreachable!("gets from registers are trapped when they are queued"),
        }
    }

    /// A put's bytes arrive; `false` when they have to wait.
    fn put_down(&mut self, index: LineId, place: Location, bytes: u32) -> bool {
        let data = *self.lines.data(index);
        let data = &data[..bytes as usize];
        match place {
            Location::Memory { chip, offset } => {
                self.memory.bytes_mut(offset, bytes as usize).copy_from_slice(data);
                self.controllers[usize::from(chip)].write(offset);
                self.memory_written(offset);
            }
            Location::Store { spe, offset } => {
                self.shared[usize::from(spe)].store.write(offset, data);
            }
            Location::Signal { spe, register } => {
                let value = u32::from_le_bytes(data.try_into().expect("checked when it was queued"));
                self.signal(spe.into(), register.into(), value);
            }
            Location::Mailbox { spe } => {
                let value = u32::from_le_bytes(data.try_into().expect("checked when it was queued"));
                if !self.put_mail(spe.into(), value) {
                    self.spes[usize::from(spe)].mail.push_back(index);
                    return false;
                }
            }
            Location::Nowhere => unreachable!("commands are checked when they are queued"),
        }
        true
    }

    /// A line of memory has a new value: the PPE's copy of it, and reservations, are void.
    pub(super) fn memory_written(&mut self, offset: u64) {
        self.caches.forget(offset);
        self.reservations.forget(offset);
    }

    fn lost_reservation(&self, m: usize, ea: u64) -> bool {
        use crate::op::{Atomic, Op};
        let conditional = matches!(&self.units[m].op, Some(Op::Atomic { atomic: Atomic::Putllc, .. }));
        conditional && !self.reservations.has(m, ea)
    }

    fn finish_atomic(&mut self, m: usize, ea: u64, put: bool, reply: u32) {
        if put {
            self.reservations.give_up(m);
        } else {
            self.reservations.reserve(m, ea);
        }
        if let Some(op) = self.units[m].op.take() {
            self.answer(UnitId::new(m), &op, Reply::Word(reply), self.p.spu.channel.max(1));
        }
    }

    /// The memory bank of an address, for messages and counters.
    pub fn bank(address: Address) -> usize {
        Controller::bank(address.0)
    }
}
