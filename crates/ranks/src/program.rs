//! The program of an SPE: it carries out what its rank asks for, by the protocol of `buffered-mpi` 3.2.

use crate::board::Board;
use crate::calls::{Callers, RankAnswer, RankCall, RankData, RankEnvelope, RankNews};
use crate::copying::{bring, realign, take_out};
use crate::costs::RankCosts;
use crate::entry::{CONTEXTS, ENTRY_BYTES, Entry};
use crate::places::{ENTRIES, PIECE_BYTES, RankMemory, StorePlaces};
use sim::{Address, Spe};
use std::cell::RefCell;
use std::rc::Rc;

/// The tag group of entries.
const ENTRY_TAG: u32 = 1;
/// The tag group of freed flags.
const FREED_TAG: u32 = 2;
/// A rank that waits looks again after this part of its wait so far: a look comes late by at most so much of the wait.
const LOOK_PART: u64 = 64;
/// The longest pause between two looks.
const LONGEST_LOOK_PS: u64 = 1_000_000;
const PS_PER_CYCLE: f64 = 312.5;

/// What the programs of all ranks know.
pub(crate) struct Protocol {
    pub(crate) callers: Rc<dyn Callers>,
    pub(crate) board: RefCell<Board>,
    pub(crate) memory: Vec<RankMemory>,
    pub(crate) costs: RankCosts,
    /// Messages of more bytes are not copied to a buffer: their sender waits.
    pub(crate) buffered_bytes: u64,
    pub(crate) timebase_hz: u64,
    /// Operations of double precision that an SPE does in a ns.
    pub(crate) flops_per_ns: f64,
    /// When each rank ended, and what it computed, in ps.
    pub(crate) ended: RefCell<Vec<(u64, u64)>>,
}

/// A queue to another rank, as its sender knows it.
#[derive(Clone, Copy, Default)]
struct Outbound {
    /// The next entry.
    next: usize,
    /// How often each entry was used, and how often the rank was told that it is free.
    used: [u8; ENTRIES],
    told: [u8; ENTRIES],
}

/// A queue from another rank, as its receiver knows it.
#[derive(Clone, Copy, Default)]
struct Inbound {
    /// The next entry to be looked at.
    next: usize,
    /// Entries that were found and not fetched.
    held: usize,
}

struct RankProgram<'p, 's, 'a> {
    spe: &'p mut Spe<'a>,
    protocol: &'s Protocol,
    rank: usize,
    places: StorePlaces,
    outbound: Vec<Outbound>,
    inbound: Vec<Inbound>,
    /// What a wait has found and no look has taken.
    found: Vec<RankNews>,
    computed_ps: u64,
}

/// What an SPE does from start to end.
pub(crate) fn program(spe: &mut Spe<'_>, protocol: &Protocol, rank: usize) {
    let ranks = protocol.memory.len();
    let places = StorePlaces::take(spe, ranks);
    let mut program = RankProgram {
        spe,
        protocol,
        rank,
        places,
        outbound: vec![Outbound::default(); ranks],
        inbound: vec![Inbound::default(); ranks],
        found: Vec::new(),
        computed_ps: 0,
    };
    loop {
        let call = protocol.callers.next(rank);
        let answer = program.carry_out(&call);
        let ends = call == RankCall::End || answer == RankAnswer::Deadlock;
        if call == RankCall::End {
            program.end();
        }
        protocol.callers.answer(rank, answer);
        if ends {
            return;
        }
    }
}

impl RankProgram<'_, '_, '_> {
    fn carry_out(&mut self, call: &RankCall) -> RankAnswer {
        let costs = &self.protocol.costs;
        match *call {
            RankCall::Begin => RankAnswer::Done,
            RankCall::Send { to, envelope, data } => {
                self.spe.compute_cycles(costs.call + costs.send);
                self.send(to, envelope, data)
            }
            RankCall::Look => {
                if self.found.is_empty() {
                    self.look();
                }
                let count = self.found.len().min(self.protocol.callers.most_news());
                RankAnswer::News(self.found.drain(..count).collect())
            }
            RankCall::Wait => self.wait(),
            RankCall::Fetch { from, entry, data } => {
                self.spe.compute_cycles(costs.call);
                self.fetch(from, entry, data);
                RankAnswer::Done
            }
            RankCall::Compute { flops, bytes } => {
                self.compute(flops, bytes);
                RankAnswer::Done
            }
            RankCall::Time => {
                let ticks = u64::from(self.spe.decrementer().wrapping_neg());
                // The decrementer has 32 bits: what it has lost is known from the time that has passed.
                let passed = (u128::from(self.spe.now_ps()) * u128::from(self.protocol.timebase_hz)
                    / 1_000_000_000_000) as u64;
                let laps = (passed.saturating_sub(ticks) + (1 << 31)) >> 32;
                RankAnswer::Time(ticks + (laps << 32), self.protocol.timebase_hz)
            }
            RankCall::End => RankAnswer::Done,
        }
    }

    fn end(&mut self) {
        self.spe.tags_all(1 << ENTRY_TAG | 1 << FREED_TAG);
        self.protocol.board.borrow_mut().ends(self.rank);
        self.protocol.ended.borrow_mut()[self.rank] = (self.spe.now_ps(), self.computed_ps);
    }

    fn send(&mut self, to: usize, envelope: RankEnvelope, data: RankData) -> RankAnswer {
        let protocol = self.protocol;
        let place = self.outbound[to].next;
        let freed = self.spe.bytes(self.places.freed(to), ENTRIES as u32)[place];
        if freed != self.outbound[to].used[place] {
            return RankAnswer::NoEntry;
        }
        let buffered = data.bytes <= protocol.buffered_bytes;
        let own = protocol.memory[self.rank];
        let address = if buffered {
            let block = own.block(to, place);
            self.copy_to_buffer(data, block);
            block
        } else {
            if data.pieces > 1 {
                self.pack(data);
            }
            own.data(data.misaligned, data.at)
        };
        assert!(envelope.context < CONTEXTS && data.bytes <= u64::from(u32::MAX), "checked by the caller");
        let entry = Entry {
            address: u32::try_from(address.0).expect("main memory has less than 4 GB"),
            envelope,
            bytes: data.bytes as u32,
            synchronous: !buffered,
        };
        self.spe.compute_cycles(protocol.costs.entry);
        self.spe.bytes_mut(self.places.out, ENTRY_BYTES).copy_from_slice(&entry.to_bytes());
        let there = self.spe.local_store_of(to) + u64::from(self.places.entry(self.rank, place));
        self.spe.put(self.places.out, there, ENTRY_BYTES, ENTRY_TAG);
        self.spe.tags_all(1 << ENTRY_TAG);
        {
            let mut board = protocol.board.borrow_mut();
            board.changes(self.spe.now_ps());
            let ranks = protocol.memory.len();
            board.sent[(self.rank * ranks + to) * ENTRIES + place] = data.at;
        }
        let out = &mut self.outbound[to];
        out.used[place] = out.used[place].wrapping_add(1);
        out.next = (place + 1) % ENTRIES;
        RankAnswer::Sent { entry: place, copied: buffered }
    }

    /// Copies a message to its block, in pieces, by way of the local store.
    fn copy_to_buffer(&mut self, data: RankData, block: Address) {
        let own = self.protocol.memory[self.rank];
        let costs = self.protocol.costs;
        self.gather(data);
        let mut from = 0;
        while from < data.bytes {
            let bytes = (data.bytes - from).min(u64::from(PIECE_BYTES)) as u32;
            self.spe.compute_cycles(costs.piece);
            let [stage, other] = self.places.stages;
            let at = bring(self.spe, stage, own.data(data.misaligned, data.at + from), bytes);
            // What the command brings is the application's data, which lies with its process.
            self.protocol.callers.read(self.rank, data.at + from, self.spe.bytes_mut(at, bytes));
            let at = realign(self.spe, &costs, at, other, 0, bytes);
            take_out(self.spe, at, block + from, bytes.next_multiple_of(16));
            from += u64::from(bytes);
        }
    }

    /// What it costs that data does not lie in a row.
    fn gather(&mut self, data: RankData) {
        if data.pieces > 1 {
            self.spe.compute_cycles(u64::from(data.pieces) * self.protocol.costs.scattered);
        }
    }

    /// Packs data that does not lie in a row within main memory, where the receiver can get it.
    fn pack(&mut self, data: RankData) {
        self.gather(data);
        let own = self.protocol.memory[self.rank];
        let mut from = 0;
        while from < data.bytes {
            let bytes = (data.bytes - from).min(u64::from(PIECE_BYTES)) as u32;
            self.spe.compute_cycles(self.protocol.costs.piece);
            let at = bring(self.spe, self.places.stages[0], own.data(0, data.at + from), bytes);
            take_out(self.spe, at, own.data(0, data.at + from), bytes);
            from += u64::from(bytes);
        }
    }

    /// Looks at all queues and flags; what it finds is kept.
    fn look(&mut self) {
        let costs = &self.protocol.costs;
        let others = self.inbound.len() as u64 - 1;
        // As many queues as flags: a quadword each.
        self.spe.compute_cycles(costs.look + 2 * others * costs.queue);
        let mut entries = 0;
        for from in (0..self.inbound.len()).filter(|&from| from != self.rank) {
            while self.inbound[from].held < ENTRIES {
                let place = self.inbound[from].next;
                let bytes = self.spe.bytes(self.places.entry(from, place), ENTRY_BYTES);
                let Some(entry) = Entry::of(bytes) else { break };
                let (envelope, bytes) = (entry.envelope, u64::from(entry.bytes));
                self.found.push(RankNews::Message { from, entry: place, envelope, bytes });
                let queue = &mut self.inbound[from];
                queue.next = (place + 1) % ENTRIES;
                queue.held += 1;
                entries += 1;
            }
            let freed: [u8; ENTRIES] =
                self.spe.bytes(self.places.freed(from), ENTRIES as u32).try_into().expect("a quadword");
            for (place, now) in freed.into_iter().enumerate() {
                if std::mem::replace(&mut self.outbound[from].told[place], now) != now {
                    self.found.push(RankNews::Freed { to: from, entry: place });
                }
            }
        }
        if entries > 0 {
            self.spe.compute_cycles(entries * costs.found);
        }
    }

    fn wait(&mut self) -> RankAnswer {
        let since_ps = self.spe.now_ps();
        while self.found.is_empty() {
            let looked_ps = self.spe.now_ps();
            self.look();
            if !self.found.is_empty() {
                break;
            }
            {
                let mut board = self.protocol.board.borrow_mut();
                board.waits(self.rank, looked_ps);
                if board.deadlock {
                    return RankAnswer::Deadlock;
                }
            }
            let pause_ps = ((looked_ps - since_ps) / LOOK_PART).min(LONGEST_LOOK_PS);
            self.spe.compute_cycles((pause_ps as f64 / PS_PER_CYCLE) as u64);
        }
        self.protocol.board.borrow_mut().goes_on(self.rank);
        RankAnswer::Done
    }

    fn fetch(&mut self, from: usize, place: usize, data: RankData) {
        let protocol = self.protocol;
        let at = self.places.entry(from, place);
        let Some(entry) = Entry::of(self.spe.bytes(at, ENTRY_BYTES)) else {
            unreachable!("an entry that was found")
        };
        let ranks = protocol.memory.len();
        let sent = protocol.board.borrow().sent[(from * ranks + self.rank) * ENTRIES + place];
        self.copy_to_application(from, &entry, sent, data);
        self.spe.compute_cycles(protocol.costs.free);
        self.spe.bytes_mut(at, ENTRY_BYTES).fill(0);
        let own = self.places.own_freed(from);
        // The command that told of the last entry may still be reading the flags.
        self.spe.tags_all(1 << FREED_TAG);
        let flag = &mut self.spe.bytes_mut(own, ENTRIES as u32)[place];
        *flag = flag.wrapping_add(1);
        let there = self.spe.local_store_of(from) + u64::from(self.places.freed(self.rank));
        self.spe.put(own, there, ENTRIES as u32, FREED_TAG);
        protocol.board.borrow_mut().changes(self.spe.now_ps());
        self.inbound[from].held -= 1;
    }

    /// Copies a message from where its entry says to the application, in pieces, by way of the local store.
    fn copy_to_application(&mut self, from: usize, entry: &Entry, sent: u64, data: RankData) {
        let protocol = self.protocol;
        let own = protocol.memory[self.rank];
        let alike = entry.address.is_multiple_of(16) && data.misaligned == 0;
        let piece = u64::from(if alike { PIECE_BYTES } else { PIECE_BYTES - 16 });
        let [stage, other] = self.places.stages;
        self.gather(data);
        let mut copied = 0;
        while copied < data.bytes.min(u64::from(entry.bytes)) {
            let bytes = (data.bytes - copied).min(piece) as u32;
            self.spe.compute_cycles(protocol.costs.piece);
            let source = if entry.synchronous {
                protocol.memory[from].data((entry.address % 16) as u8, sent + copied)
            } else {
                Address(u64::from(entry.address)) + copied
            };
            let at = bring(self.spe, stage, source, bytes);
            if entry.synchronous {
                protocol.callers.read(from, sent + copied, self.spe.bytes_mut(at, bytes));
            }
            let to = own.data(data.misaligned, data.at + copied);
            let at = realign(self.spe, &protocol.costs, at, other, (to.0 % 16) as u32, bytes);
            take_out(self.spe, at, to, bytes);
            protocol.callers.write(self.rank, data.at + copied, self.spe.bytes(at, bytes));
            copied += u64::from(bytes);
        }
    }

    /// Computes: data comes from main memory in pieces, the next while one is computed with.
    fn compute(&mut self, flops: f64, bytes: f64) {
        let protocol = self.protocol;
        let own = protocol.memory[self.rank];
        let since_ps = self.spe.now_ps();
        let bytes = if bytes >= 0.0 { bytes as u64 } else { 0 };
        let pieces = bytes.div_ceil(u64::from(PIECE_BYTES)).max(1);
        let whole_ns = (flops / protocol.flops_per_ns).max(0.0);
        let each = (whole_ns * 1000.0 / PS_PER_CYCLE / pieces as f64) as u64;
        let get = |spe: &mut Spe<'_>, index: u64, stage: u32| {
            let from = index * u64::from(PIECE_BYTES);
            let now = (bytes - from).min(u64::from(PIECE_BYTES)).next_multiple_of(16) as u32;
            spe.get(stage, own.data(0, from), now, index as u32 % 2 + 3);
        };
        if bytes > 0 {
            get(self.spe, 0, self.places.stages[0]);
        }
        for index in 0..pieces {
            if index + 1 < pieces {
                get(self.spe, index + 1, self.places.stages[(index as usize + 1) % 2]);
            }
            if bytes > 0 {
                self.spe.tags_all(1 << (index % 2 + 3));
            }
            self.spe.compute_cycles(each);
        }
        self.computed_ps += self.spe.now_ps() - since_ps;
    }
}
