//! The message library of `ring-mapping`, section 2.2, as a task on an SPE has it.
//!
//! Each transfer is buffered at both ends; where the buffers are is known beforehand. Notifications and
//! acknowledgements are in a matrix in main memory: row i is what others have to say to task i, entry j of it is task
//! j's and nobody else writes it. An entry is a quadword with two counters: packets sent to i, and packets of i
//! fetched. Counters and not flags, so that nothing is lost when two things happen between two polls.
//!
//! The paper leaves the rest open; this is the plainest program that is right:
//! * one send buffer and one receive buffer for each neighbour; a send copies the packet into its buffer;
//! * an entry is put on its own, 16 bytes, once for each notification and once for each acknowledgement. It is fenced,
//!   so that an older entry never overwrites a newer one, and is not touched again before the put has taken it;
//! * one poll gets the whole row of the task, 16 bytes for each task, and waits for it;
//! * the get of a packet goes on while the task polls; whether it is done is asked once a poll;
//! * a packet is not fetched before the receive buffer is free.

use sim::{Address, Spe};

/// Bytes of an entry of the matrix: a quadword, which no DMA tears.
const ENTRY: u32 = 16;
/// Where an entry has the number of packets sent, and of packets fetched.
const SENT: u32 = 0;
const FETCHED: u32 = 4;
/// Rows begin on lines of memory, so that a row of up to eight entries is one line.
const LINE: u64 = 128;

/// SPU cycles that a look at the row takes for each neighbour: two loads of 6 cycles, two comparisons, and a branch
/// that was not foreseen, 18 cycles.
const LOOK_CYCLES: u64 = 36;
/// SPU cycles of a call that sends or acknowledges, beside its channel commands: address arithmetic, a load and a store
/// of the counter, one branch that was not foreseen.
const CALL_CYCLES: u64 = 40;
/// SPU cycles that copying a quadword takes: a load and a store, which share a pipe.
const COPY_CYCLES: u64 = 2;

/// Tag groups: polls; then for each neighbour its packets, and the entry for it.
const POLL_TAG: u32 = 0;
const PACKET_TAG: u32 = 1;
const ENTRY_TAG: u32 = 16;

/// Bytes of the matrix of so many tasks.
pub(super) fn matrix_bytes(tasks: usize) -> u64 {
    tasks as u64 * row_stride(tasks)
}

fn row_stride(tasks: usize) -> u64 {
    (tasks as u64 * u64::from(ENTRY)).next_multiple_of(LINE)
}

/// The number of a task, and where everything is.
#[derive(Debug, Clone)]
pub(super) struct Seat {
    /// This task.
    pub task: usize,
    /// All tasks.
    pub tasks: usize,
    /// Where the matrix starts.
    pub matrix: Address,
    /// The SPE of every task.
    pub spes: Vec<usize>,
}

/// Counts of the library's actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that were fetched.
    pub packets: u64,
    /// Rows that were got.
    pub polls: u64,
    /// Entries that were put because a packet was sent.
    pub notifications: u64,
    /// Entries that were put because a packet was fetched.
    pub acknowledgements: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.polls += other.polls;
        self.notifications += other.notifications;
        self.acknowledgements += other.acknowledgements;
    }
}

/// A neighbour, and the buffers for it.
struct Channel {
    peer: usize,
    peer_buffer: Address,
    send: u32,
    receive: u32,
    /// Packets that this task has sent to the neighbour, and that the neighbour has fetched.
    sent: u32,
    acknowledged: u32,
    /// Packets that the neighbour has sent to this task, and that this task has fetched.
    notified: u32,
    fetched: u32,
    state: ReceiveState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReceiveState {
    /// The receive buffer is free.
    Free,
    /// A packet is on its way into it.
    UnderWay,
    /// A packet is in it.
    Full,
}

/// The library in the hands of a task.
pub(super) struct MessageLibrary<'s, 'a> {
    pub spe: &'s mut Spe<'a>,
    seat: Seat,
    packet_bytes: u32,
    row: u32,
    entries: u32,
    channels: Vec<Channel>,
    /// The packet being copied: the simulator lends one part of a local store at a time.
    packet: Vec<u8>,
    pub counts: Counts,
}

impl<'s, 'a> MessageLibrary<'s, 'a> {
    /// Takes buffers for the neighbours `peers`. Every task takes the same ones in the same order, so that each knows
    /// where the others' are: neighbour c of this task has this task as neighbour `back[c]`.
    pub(super) fn new(
        spe: &'s mut Spe<'a>,
        seat: Seat,
        packet_bytes: u32,
        peers: &[usize],
        back: &[usize],
    ) -> Self {
        let row = spe.alloc(seat.tasks as u32 * ENTRY, LINE as u32);
        let entries = spe.alloc(peers.len() as u32 * ENTRY, LINE as u32);
        let buffers: Vec<(u32, u32)> = peers
            .iter()
            .map(|_| (spe.alloc(packet_bytes, LINE as u32), spe.alloc(packet_bytes, LINE as u32)))
            .collect();
        let channel = |(c, &peer): (usize, &usize)| Channel {
            peer,
            peer_buffer: spe.local_store_of(seat.spes[peer]) + u64::from(buffers[back[c]].0),
            send: buffers[c].0,
            receive: buffers[c].1,
            sent: 0,
            acknowledged: 0,
            notified: 0,
            fetched: 0,
            state: ReceiveState::Free,
        };
        let channels = peers.iter().enumerate().map(channel).collect();
        let packet = vec![0; packet_bytes as usize];
        Self { spe, seat, packet_bytes, row, entries, channels, packet, counts: Counts::default() }
    }

    /// Whether the send buffer for a neighbour is free: everything sent so far has been acknowledged.
    pub(super) fn can_send(&self, channel: usize) -> bool {
        self.channels[channel].sent == self.channels[channel].acknowledged
    }

    /// Sends the packet at `from`: copies it, and notifies the neighbour. The send buffer must be free.
    pub(super) fn send(&mut self, channel: usize, from: u32) {
        let (to, bytes) = (self.channels[channel].send, self.packet_bytes);
        self.packet.copy_from_slice(self.spe.bytes(from, bytes));
        self.spe.bytes_mut(to, bytes).copy_from_slice(&self.packet);
        self.spe.compute_cycles(u64::from(bytes.div_ceil(16)) * COPY_CYCLES);
        self.channels[channel].sent += 1;
        self.counts.notifications += 1;
        self.publish(channel);
    }

    /// The packet in the receive buffer for a neighbour.
    pub(super) fn received(&self, channel: usize) -> Option<u32> {
        let channel = &self.channels[channel];
        (channel.state == ReceiveState::Full).then_some(channel.receive)
    }

    /// The receive buffer is free again.
    pub(super) fn release(&mut self, channel: usize) {
        self.channels[channel].state = ReceiveState::Free;
    }

    /// Hears what there is to hear: packets that have come in, notifications, acknowledgements.
    pub(super) fn poll(&mut self) {
        self.finish_fetches();
        let at = self.seat.matrix + self.seat.task as u64 * row_stride(self.seat.tasks);
        self.spe.get(self.row, at, self.seat.tasks as u32 * ENTRY, POLL_TAG);
        self.spe.tags_all(1 << POLL_TAG);
        self.counts.polls += 1;
        self.spe.compute_cycles(LOOK_CYCLES * self.channels.len() as u64);
        for c in 0..self.channels.len() {
            let channel = &mut self.channels[c];
            let entry = self.row + channel.peer as u32 * ENTRY;
            channel.notified = self.spe.read_u32(entry + SENT);
            channel.acknowledged = self.spe.read_u32(entry + FETCHED);
            if channel.state == ReceiveState::Free && channel.notified != channel.fetched {
                channel.state = ReceiveState::UnderWay;
                self.spe.get(channel.receive, channel.peer_buffer, self.packet_bytes, PACKET_TAG + c as u32);
            }
        }
    }

    /// Acknowledges packets that have come in.
    fn finish_fetches(&mut self) {
        let under_way = |(_, channel): &(usize, &Channel)| channel.state == ReceiveState::UnderWay;
        let mask: u32 = self
            .channels
            .iter()
            .enumerate()
            .filter(under_way)
            .map(|(c, _)| 1 << (PACKET_TAG + c as u32))
            .sum();
        if mask == 0 {
            return;
        }
        let done = self.spe.tags_now(mask);
        for c in 0..self.channels.len() {
            if done >> (PACKET_TAG + c as u32) & 1 != 0 {
                self.channels[c].state = ReceiveState::Full;
                self.channels[c].fetched += 1;
                self.counts.packets += 1;
                self.counts.acknowledgements += 1;
                self.publish(c);
            }
        }
    }

    /// Puts this task's entry into a neighbour's row.
    fn publish(&mut self, c: usize) {
        let (entry, tag) = (self.entries + c as u32 * ENTRY, ENTRY_TAG + c as u32);
        let channel = &self.channels[c];
        let row = self.seat.matrix + channel.peer as u64 * row_stride(self.seat.tasks);
        let at = row + self.seat.task as u64 * u64::from(ENTRY);
        let (sent, fetched) = (channel.sent, channel.fetched);
        self.spe.compute_cycles(CALL_CYCLES);
        self.spe.tags_all(1 << tag);
        self.spe.write_u32(entry + SENT, sent);
        self.spe.write_u32(entry + FETCHED, fetched);
        self.spe.putf(entry, at, ENTRY, tag);
    }
}
