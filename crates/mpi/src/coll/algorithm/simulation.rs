//! All ranks of a collective in one process, their messages delivered in random order.

use super::super::offers::{OFFER_BYTES, Offer};
use super::super::schedule::{Audience, CollectiveSchedule, Expected, Large, Standing, TagLane, Taken, Wire};
use std::collections::{HashMap, VecDeque};
use transport::{Buffer, Completion, Segment, Spot, TransferId};

/// A generator of pseudo-random numbers (xorshift).
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// From, to, lane: what is sent here is received in order.
type SimulatedLine = (usize, usize, TagLane);

/// A message on its way: copied at once, or still in the sender's buffer.
struct SimulatedMessage {
    buffer: Buffer,
    packed: Option<Vec<u8>>,
    transfer: Option<u64>,
}

struct SimulatedWires {
    random: Random,
    /// What makes offers those of this job.
    segment: Segment,
    sent: HashMap<SimulatedLine, VecDeque<SimulatedMessage>>,
    posted: HashMap<SimulatedLine, VecDeque<(u64, Buffer)>>,
    /// Lines on which something can be delivered, once for each message.
    ready: Vec<SimulatedLine>,
    ended: HashMap<u64, Completion>,
    transfers: u64,
}

impl SimulatedWires {
    fn transfer(&mut self) -> u64 {
        self.transfers += 1;
        self.transfers
    }

    fn lengths(&self, line: SimulatedLine) -> (usize, usize) {
        (self.sent.get(&line).map_or(0, VecDeque::len), self.posted.get(&line).map_or(0, VecDeque::len))
    }

    /// Delivers a message; false when there is none to deliver.
    fn deliver(&mut self) -> bool {
        if self.ready.is_empty() {
            return false;
        }
        let line = self.ready.swap_remove(self.random.below(self.ready.len()));
        let sent = self.sent.get_mut(&line).and_then(VecDeque::pop_front).unwrap();
        let (receive, into) = self.posted.get_mut(&line).and_then(VecDeque::pop_front).unwrap();
        let mut end = Completion {
            source: line.0 as i32,
            tag: 0,
            bytes: into.bytes().min(sent.buffer.bytes()),
            lost: sent.buffer.bytes().saturating_sub(into.bytes()),
            cancelled: false,
        };
        let from = match sent.packed {
            Some(mut packed) => {
                // SAFETY: the packed copy and a buffer of the test's.
                unsafe { into.copy_from(&Buffer::new(packed.as_mut_ptr(), packed.len())) };
                None
            }
            None => Some(sent.buffer),
        };
        if let Some(from) = from {
            // SAFETY: buffers of the test's.
            unsafe { into.copy_from(&from) };
        }
        self.ended.insert(receive, end);
        if let Some(transfer) = sent.transfer {
            end.lost = 0;
            self.ended.insert(transfer, end);
        }
        true
    }
}

struct SimulatedRank<'a> {
    simulation: &'a mut SimulatedWires,
    rank: usize,
    /// What its peers' ranks start from.
    peers_from: usize,
}

impl SimulatedRank<'_> {
    /// Puts a message on its way: copied at once (`eager`), or left in its buffer.
    fn put(&mut self, to: usize, lane: TagLane, buffer: &Buffer, eager: bool) -> Option<TransferId> {
        let line = (self.rank, self.peers_from + to, lane);
        let mut sent = SimulatedMessage { buffer: buffer.clone(), packed: None, transfer: None };
        if eager {
            let mut packed = vec![0; buffer.bytes()];
            // SAFETY: a buffer of the test's and one of that size.
            unsafe { Buffer::new(packed.as_mut_ptr(), packed.len()).copy_from(buffer) };
            sent.packed = Some(packed);
        } else {
            sent.transfer = Some(self.simulation.transfer());
        }
        let transfer = sent.transfer;
        let (messages, receives) = self.simulation.lengths(line);
        self.simulation.sent.entry(line).or_default().push_back(sent);
        if receives > messages {
            self.simulation.ready.push(line);
        }
        transfer.map(TransferId::of_number)
    }
}

impl Wire for SimulatedRank<'_> {
    fn send(&mut self, to: usize, lane: TagLane, buffer: &Buffer, _large: Large) -> Option<TransferId> {
        let eager = self.simulation.random.below(2) == 0;
        self.put(to, lane, buffer, eager)
    }

    fn send_and_forget(&mut self, to: usize, lane: TagLane, buffer: &Buffer) {
        self.put(to, lane, buffer, true);
    }

    fn offers(
        &mut self,
        _to: usize,
        buffer: &Buffer,
        _large: Large,
        _audience: Audience,
        place: *mut Offer,
    ) -> bool {
        let offered = self.simulation.random.below(2) == 0;
        if offered {
            // SAFETY: room for an offer, the schedule's own.
            unsafe { place.write(Offer::of(&self.simulation.segment, buffer)) };
        }
        offered
    }

    unsafe fn begin_to_copy(&mut self, from: &Buffer, into: &Buffer) {
        // All of it at once, or nothing.
        if self.simulation.random.below(2) == 0 {
            // SAFETY: data of the test's.
            unsafe { into.copy_from(from) };
        }
    }

    fn take(&mut self, _id: TransferId, _from: usize, buffer: &Buffer, bytes: usize, operand: bool) -> Taken {
        if bytes != OFFER_BYTES {
            return Taken::Data;
        }
        let Some(offer) = Offer::found_in(&self.simulation.segment, buffer) else { return Taken::Data };
        match self.simulation.random.below(4) {
            0 => return Taken::Refused,
            1 if operand => return Taken::Lent(offer.buffer().address(), Spot::Again),
            _ => {}
        }
        // SAFETY: data of the test's, which its sender leaves alone until it is answered.
        unsafe { buffer.copy_from(&offer.buffer()) };
        Taken::Read(offer.bytes())
    }

    fn receive(&mut self, from: usize, lane: TagLane, buffer: &Buffer, _expected: Expected) -> TransferId {
        let line = (self.peers_from + from, self.rank, lane);
        let transfer = self.simulation.transfer();
        let (messages, receives) = self.simulation.lengths(line);
        self.simulation.posted.entry(line).or_default().push_back((transfer, buffer.clone()));
        if messages > receives {
            self.simulation.ready.push(line);
        }
        TransferId::of_number(transfer)
    }

    fn take_if_complete(&mut self, id: TransferId) -> Option<Completion> {
        self.simulation.ended.remove(&id.number())
    }
}

/// Carries the schedules of all ranks of a group out, to the end.
pub(super) fn carry_out(schedules: &mut [CollectiveSchedule], seed: u64) {
    carry_out_between(schedules, None, seed);
}

/// Carries the schedules of all ranks out, to the end. Of two groups, the first has `first` ranks.
pub(super) fn carry_out_between(schedules: &mut [CollectiveSchedule], first: Option<usize>, seed: u64) {
    let ranks = schedules.len();
    let mut simulation = SimulatedWires {
        random: Random(seed | 1),
        segment: Segment::private(1, 1).expect("memory for one rank"),
        sent: HashMap::new(),
        posted: HashMap::new(),
        ready: Vec::new(),
        ended: HashMap::new(),
        transfers: 0,
    };
    let mut running: Vec<usize> = (0..ranks).collect();
    let mut idle = 0;
    while !running.is_empty() {
        let pick = simulation.random.below(running.len());
        let rank = running[pick];
        let peers_from = first.filter(|&first| rank < first).unwrap_or(0);
        match schedules[rank].advance(&mut SimulatedRank { simulation: &mut simulation, rank, peers_from }) {
            Standing::Over => {
                running.swap_remove(pick);
                idle = 0;
            }
            Standing::AtUserCode => {
                schedules[rank].run_user_code();
                idle = 0;
            }
            Standing::Waiting(..) => idle += 1,
        }
        for _ in 0..simulation.random.below(ranks + 1) {
            if simulation.deliver() {
                idle = 0;
            }
        }
        assert!(idle < 100 * ranks + 1000, "ranks {running:?} of {ranks} wait for ever");
    }
    assert!(simulation.sent.values().all(VecDeque::is_empty), "a message was not received");
    assert!(simulation.posted.values().all(VecDeque::is_empty), "a receive got no message");
    assert!(simulation.ended.is_empty(), "a transfer was not looked after");
    assert!(schedules.iter().all(|schedule| schedule.truncated().is_none()));
}
