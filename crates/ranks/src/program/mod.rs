//! The program of an SPE: it carries out what its rank asks for, by the protocol of `buffered-mpi` 3.2; `giving` has
//! what goes by signals and local stores instead.

mod checking;
mod giving;
mod steps;

use crate::board::Board;
use crate::calls::{Callers, RankAnswer, RankCall, RankData, RankEnvelope, RankNews, RankNote};
use crate::copying::{bring, realign, take_out};
use crate::costs::RankCosts;
use crate::entry::{ENTRY_BYTES, Entry, MOST_FREED, SentMessage};
use crate::places::{ENTRIES, KEPT, PIECE_BYTES, RankMemory, StorePlaces};
use crate::start;
use giving::Gifts;
use sim::{Address, Spe};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
pub(crate) use steps::RankSteps;

/// The tag group of entries.
const ENTRY_TAG: u32 = 1;
/// The tag group of flags.
const TAKEN_TAG: u32 = 2;
/// A rank that waits looks again after this part of its wait so far: a look comes late by at most so much of the wait.
const LOOK_PART: u64 = 64;
/// The longest pause between two looks.
const LONGEST_LOOK_PS: u64 = 1_000_000;
/// A cycle of the bus is two of an SPE.
const PS_PER_CYCLE: f64 = sim::CYCLE_PS as f64 / 2.0;

/// What the programs of all ranks know.
pub(crate) struct Protocol {
    pub(crate) callers: Rc<dyn Callers>,
    pub(crate) board: RefCell<Board>,
    pub(crate) memory: Vec<RankMemory>,
    /// The SPE of each rank.
    pub(crate) spes: Vec<usize>,
    pub(crate) costs: RankCosts,
    /// Messages of more bytes are not copied to a buffer: their sender waits.
    pub(crate) buffered_bytes: u64,
    pub(crate) timebase_hz: u64,
    /// The application's data lies in local stores.
    pub(crate) local_data: bool,
    /// Operations of double precision that an SPE does in a ns.
    pub(crate) flops_per_ns: f64,
    /// SPU cycles between two operations on a quadword of doubles.
    pub(crate) double_cycles: u64,
    /// What ranks did, for the trace; nothing: it is not asked for.
    pub(crate) steps: Option<RefCell<RankSteps>>,
    /// When each rank ended, and what it computed, in ps.
    pub(crate) ended: RefCell<Vec<(u64, u64)>>,
}

/// A queue to another rank, as its sender knows it.
#[derive(Clone, Default)]
struct Outbound {
    /// Entries written, and those of them that are known to be taken.
    written: u32,
    taken: u32,
    /// A send was refused because it was full.
    refused: bool,
    /// News for that rank that wait for room, and blocks of its buffer that it does not know to be free.
    news: VecDeque<Entry>,
    freed: Vec<u16>,
}

/// A queue from another rank, as its receiver knows it.
#[derive(Clone, Default)]
struct Inbound {
    /// Entries taken, and those of them that the sender was told of.
    taken: u32,
    told: u32,
    /// The messages that were found and not fetched.
    kept: HashMap<u32, SentMessage>,
}

struct RankProgram<'p, 's, 'a> {
    spe: &'p mut Spe<'a>,
    protocol: &'s Protocol,
    rank: usize,
    /// It knows its number and the job's memory.
    begun: bool,
    places: StorePlaces,
    outbound: Vec<Outbound>,
    inbound: Vec<Inbound>,
    /// Blocks of its buffer that are free.
    blocks: Vec<u16>,
    /// What a wait has found and no look has taken.
    found: Vec<RankNews>,
    computed_ps: u64,
    gifts: Gifts,
    /// The stage into which it fetched last what others show.
    stage: usize,
    /// Something may be on its way from a stage to main memory.
    homeward: bool,
}

/// What an SPE does from start to end.
pub(crate) fn program(spe: &mut Spe<'_>, protocol: &Protocol, rank: usize) {
    let ranks = protocol.memory.len();
    let places = StorePlaces::take(spe, ranks);
    let mut program = RankProgram {
        spe,
        protocol,
        rank,
        begun: false,
        places,
        outbound: vec![Outbound::default(); ranks],
        inbound: vec![Inbound::default(); ranks],
        blocks: (0..protocol.memory[rank].blocks).rev().collect(),
        found: Vec::new(),
        computed_ps: 0,
        gifts: Gifts::new(ranks),
        stage: 0,
        homeward: false,
    };
    program.start_giving();
    loop {
        let mut call = protocol.callers.next(rank);
        if let Err(what) = program.check(&call) {
            protocol.callers.refuse(rank, what);
            call = RankCall::End;
        }
        program.compute_ns(protocol.callers.computed_ns(rank));
        let since_ps = program.spe.now_ps();
        let answer = program.carry_out(&call);
        program.record(&call, since_ps);
        let ends = call == RankCall::End || answer == RankAnswer::Deadlock;
        if call == RankCall::End {
            program.end();
        }
        protocol.callers.answer(rank, answer, program.spe.now_ps());
        if ends {
            return;
        }
    }
}

impl RankProgram<'_, '_, '_> {
    /// Computes for a time.
    fn compute_ns(&mut self, ns: u64) {
        if ns > 0 {
            let since_ps = self.spe.now_ps();
            self.spe.compute_cycles((ns as f64 * 1000.0 / PS_PER_CYCLE) as u64);
            self.computed_ps += self.spe.now_ps() - since_ps;
            self.step("compute".into(), "computation", since_ps);
        }
    }

    fn carry_out(&mut self, call: &RankCall) -> RankAnswer {
        let costs = &self.protocol.costs;
        if !matches!(call, RankCall::Give { .. } | RankCall::Take { .. } | RankCall::Look | RankCall::Wait) {
            self.settle();
        }
        match *call {
            RankCall::Begin => {
                self.begun = true;
                start::receive(self.spe, self.places.stages[0]);
                RankAnswer::Done
            }
            RankCall::Send { to, envelope, data, synchronous } => {
                self.spe.compute_cycles(costs.call + costs.send);
                self.send(to, envelope, data, synchronous)
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
            RankCall::Tell { to, entry, note } => {
                self.spe.compute_cycles(costs.call);
                if note == RankNote::Forgotten {
                    self.inbound[to].kept.remove(&entry);
                }
                self.outbound[to].news.push_back(Entry::Note(entry, note));
                self.tell(to);
                RankAnswer::Done
            }
            RankCall::Give { to, data, whole } => self.give(to, data, whole),
            RankCall::Take { from, offset, data } => self.take(from, offset, data),
            RankCall::Combine { bytes, double, local } => {
                self.combine(bytes, double, local);
                RankAnswer::Done
            }
            RankCall::Keep { data } => {
                self.keep(data);
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

    /// Ends: other ranks still count on the news for them.
    fn end(&mut self) {
        let since_ps = self.spe.now_ps();
        loop {
            (0..self.outbound.len()).for_each(|to| self.tell(to));
            let shown = self.shows();
            let board = self.protocol.board.borrow();
            let owes = |(to, out): (usize, &Outbound)| !out.news.is_empty() && !board.has_ended(to);
            if !shown && !self.outbound.iter().enumerate().any(owes) {
                break;
            }
            drop(board);
            self.found.clear();
            if !self.look_and_wait(since_ps) {
                break;
            }
        }
        self.spe.tags_all(1 << ENTRY_TAG | 1 << TAKEN_TAG);
        self.protocol.board.borrow_mut().ends(self.rank);
        self.protocol.ended.borrow_mut()[self.rank] = (self.spe.now_ps(), self.computed_ps);
    }

    fn send(&mut self, to: usize, envelope: RankEnvelope, data: RankData, synchronous: bool) -> RankAnswer {
        let protocol = self.protocol;
        if !self.has_room(to) {
            self.outbound[to].refused = true;
            return RankAnswer::NotYet;
        }
        let own = protocol.memory[self.rank];
        let small = !synchronous && data.bytes <= protocol.buffered_bytes;
        let block = if small && data.bytes > 0 { self.blocks.pop() } else { None };
        let buffered = small && (data.bytes == 0 || block.is_some());
        let address = match block {
            Some(block) => {
                let block = own.block(block);
                self.copy_to_buffer(data, block);
                block
            }
            None => {
                if data.pieces > 1 && data.bytes > 0 {
                    self.pack(data);
                }
                if data.local {
                    Address(self.places.shown_data(data.misaligned).into())
                } else {
                    own.data(data.misaligned, data.at)
                }
            }
        };
        let address = u32::try_from(address.0).expect("main memory has less than 4 GB");
        let bytes = data.bytes as u32;
        let message = SentMessage { address, envelope, bytes, synchronous: !buffered };
        let entry = self.outbound[to].written;
        if !buffered {
            protocol.board.borrow_mut().sent.insert((self.rank, to, entry), data.at);
        }
        self.write_entry(to, &Entry::Message(message));
        self.spe.tags_all(1 << ENTRY_TAG);
        RankAnswer::Sent { entry, copied: buffered }
    }

    /// Where other elements find a rank's local store.
    fn store_of(&self, rank: usize) -> Address {
        self.spe.local_store_of(self.protocol.spes[rank])
    }

    /// Whether the queue to a rank has room, as far as is known.
    fn has_room(&self, to: usize) -> bool {
        self.outbound[to].written.wrapping_sub(self.outbound[to].taken) < ENTRIES
    }

    /// Writes an entry of a queue that has room. The last one has left when this is called.
    fn write_entry(&mut self, to: usize, entry: &Entry) {
        self.spe.compute_cycles(self.protocol.costs.entry);
        self.spe.tags_all(1 << ENTRY_TAG);
        self.spe.bytes_mut(self.places.out, ENTRY_BYTES).copy_from_slice(&entry.to_bytes());
        let place = self.places.entry(self.rank, self.outbound[to].written);
        let there = self.store_of(to) + u64::from(place);
        self.spe.put(self.places.out, there, ENTRY_BYTES, ENTRY_TAG);
        self.outbound[to].written = self.outbound[to].written.wrapping_add(1);
        self.wrote(to);
        self.protocol.board.borrow_mut().changes(self.spe.now_ps());
    }

    /// Tells a rank the news for which there is room.
    fn tell(&mut self, to: usize) {
        while self.has_room(to)
            && let Some(news) = self.outbound[to].news.pop_front()
        {
            self.write_entry(to, &news);
        }
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
            let at = if data.local {
                stage + u32::from(data.misaligned)
            } else {
                bring(self.spe, stage, own.data(data.misaligned, data.at + from), bytes)
            };
            // What the command brings, or what lies here, is the application's data, which lies with its process.
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

    /// Packs data that does not lie in a row where the receiver can get it.
    fn pack(&mut self, data: RankData) {
        self.gather(data);
        if data.local {
            return self.spe.compute_cycles(data.bytes.div_ceil(16) * self.protocol.costs.quadword);
        }
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
        let costs = self.protocol.costs;
        if self.may_give_again() {
            self.found.push(RankNews::Turn);
        }
        let others = self.inbound.len() as u64 - 1;
        // As many queues as flags: a quadword each.
        self.spe.compute_cycles(costs.look + 2 * others * costs.queue);
        let own = self.rank;
        for other in (0..self.inbound.len()).filter(|&other| other != own) {
            for _ in 0..ENTRIES {
                let at = self.places.entry(other, self.inbound[other].taken);
                let Some(entry) = Entry::of(self.spe.bytes(at, ENTRY_BYTES)) else { break };
                self.take_entry(other, at, entry);
            }
            let taken = self.spe.read_u32(self.places.taken(other));
            let out = &mut self.outbound[other];
            if out.taken != taken {
                out.taken = taken;
                if std::mem::take(&mut out.refused) {
                    self.found.push(RankNews::Room { to: other });
                }
            }
            self.tell(other);
        }
    }

    /// Takes an entry that was found in the queue from a rank.
    fn take_entry(&mut self, from: usize, at: u32, entry: Entry) {
        let costs = self.protocol.costs;
        self.spe.compute_cycles(costs.found);
        let number = self.inbound[from].taken;
        match entry {
            Entry::Message(message) => {
                let (envelope, bytes) = (message.envelope, u64::from(message.bytes));
                self.found.push(RankNews::Message { from, entry: number, envelope, bytes });
                self.inbound[from].kept.insert(number, message);
                if self.kept() > KEPT {
                    let memory = self.protocol.memory[self.rank].kept;
                    take_out(self.spe, self.places.out, memory, ENTRY_BYTES);
                }
            }
            Entry::Received(entry) => self.found.push(RankNews::Received { to: from, entry }),
            Entry::Note(entry, note) => {
                if note == RankNote::Forgotten {
                    self.protocol.board.borrow_mut().sent.remove(&(self.rank, from, entry));
                }
                self.found.push(RankNews::Told { from, entry, note });
            }
            Entry::Freed(blocks) => self.blocks.extend(blocks),
        }
        self.spe.bytes_mut(at, ENTRY_BYTES).fill(0);
        let queue = &mut self.inbound[from];
        queue.taken = number.wrapping_add(1);
        self.took(from);
        let queue = &mut self.inbound[from];
        // The sender hears of half of its queue at a time.
        if queue.taken.wrapping_sub(queue.told) >= ENTRIES / 2 {
            queue.told = queue.taken;
            let (own, taken) = (self.places.own_taken(from), queue.taken);
            self.spe.compute_cycles(costs.free);
            // The command that told of the last half may still be reading the flag.
            self.spe.tags_all(1 << TAKEN_TAG);
            self.spe.write_u32(own, taken);
            let there = self.store_of(from) + u64::from(self.places.taken(self.rank));
            self.spe.put(own, there, 16, TAKEN_TAG);
            self.protocol.board.borrow_mut().changes(self.spe.now_ps());
        }
    }

    /// Messages that were found and not fetched.
    fn kept(&self) -> usize {
        self.inbound.iter().map(|queue| queue.kept.len()).sum()
    }

    fn wait(&mut self) -> RankAnswer {
        let since_ps = self.spe.now_ps();
        while self.found.is_empty() {
            if !self.look_and_wait(since_ps) {
                return RankAnswer::Deadlock;
            }
        }
        self.protocol.board.borrow_mut().goes_on(self.rank);
        RankAnswer::Done
    }

    /// Looks, and waits a little when nothing has come; false: nothing will ever come.
    fn look_and_wait(&mut self, since_ps: u64) -> bool {
        let looked_ps = self.spe.now_ps();
        self.look();
        if self.found.is_empty() {
            let mut board = self.protocol.board.borrow_mut();
            board.waits(self.rank, looked_ps);
            if board.deadlock {
                return false;
            }
            drop(board);
            let pause_ps = ((looked_ps - since_ps) / LOOK_PART).min(LONGEST_LOOK_PS);
            self.spe.compute_cycles((pause_ps as f64 / PS_PER_CYCLE) as u64);
        }
        true
    }

    fn fetch(&mut self, from: usize, entry: u32, data: RankData) {
        let protocol = self.protocol;
        if self.kept() > KEPT {
            bring(self.spe, self.places.stages[0], protocol.memory[self.rank].kept, ENTRY_BYTES);
        }
        let message = self.inbound[from].kept.remove(&entry).expect("`check` has found it");
        let sent = protocol.board.borrow_mut().sent.remove(&(from, self.rank, entry)).unwrap_or_default();
        self.copy_to_application(from, &message, sent, data);
        self.spe.compute_cycles(protocol.costs.free);
        if message.synchronous {
            self.outbound[from].news.push_back(Entry::Received(entry));
        } else if message.bytes > 0 {
            // A sender without blocks goes on without: it hears of some at a time.
            let block = protocol.memory[from].block_at(message.address);
            let freed = &mut self.outbound[from].freed;
            freed.push(block);
            if freed.len() >= MOST_FREED.min(usize::from(protocol.memory[from].blocks) / 4).max(1) {
                let freed = std::mem::take(freed);
                self.outbound[from].news.push_back(Entry::Freed(freed));
            }
        }
        self.tell(from);
    }

    /// Copies a message from where its entry says to the application, in pieces, by way of the local store.
    fn copy_to_application(&mut self, from: usize, entry: &SentMessage, sent: u64, data: RankData) {
        let protocol = self.protocol;
        let own = protocol.memory[self.rank];
        let alike = entry.address.is_multiple_of(16) && data.misaligned == 0;
        let piece = u64::from(if alike { PIECE_BYTES } else { PIECE_BYTES - 16 });
        let [stage, other] = self.places.stages;
        self.gather(data);
        let whole = data.bytes.min(u64::from(entry.bytes));
        let mut copied = 0;
        while copied < whole {
            let bytes = (whole - copied).min(piece) as u32;
            self.spe.compute_cycles(protocol.costs.piece);
            let source = if entry.synchronous && data.local {
                self.store_of(from) + u64::from(entry.address)
            } else if entry.synchronous {
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
            if !data.local {
                take_out(self.spe, at, to, bytes);
            }
            protocol.callers.write(self.rank, data.at + copied, self.spe.bytes(at, bytes));
            copied += u64::from(bytes);
        }
    }

    /// Computes: data comes from main memory in pieces, the next while one is computed with.
    fn compute(&mut self, flops: f64, bytes: f64) {
        let protocol = self.protocol;
        let own = protocol.memory[self.rank];
        let since_ps = self.spe.now_ps();
        let bytes = if bytes >= 0.0 && !protocol.local_data { bytes as u64 } else { 0 };
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
