//! The benchmark of `ring-mapping`, section 2.2, as the program of one SPE.

use super::library::{Counts, MessageLibrary, Seat};
use sim::Spe;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Polls between two looks at whether anybody wants this to end.
const POLLS_BETWEEN_BEATS: u64 = 4096;

/// The direction of a packet, and so the neighbour that it goes to; it comes from the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// From task i to task i + 1.
    Up,
    /// From task i to task i - 1.
    Down,
}

/// Everything that a task has to know.
pub(super) struct RingTask {
    pub seat: Seat,
    pub packet_bytes: u32,
    pub rounds: u32,
    /// One way or both.
    pub ways: &'static [Way],
    /// How long it computes before it takes part.
    pub delay_ns: u64,
    /// The packet that each task made, for each way.
    pub packets: Rc<Vec<Vec<u8>>>,
    /// The message library's counts, all tasks together.
    pub counts: Rc<RefCell<Counts>>,
    /// Asked from time to time whether to go on.
    pub beat: Arc<dyn Fn() -> bool + Send + Sync>,
}

/// A way as this task's channels see it: a packet comes from channel `from` and is sent on to channel `to`.
struct RingLane {
    from: usize,
    to: usize,
    sent: u32,
    received: u32,
    /// Whether the packet in the receive buffer is to be looked at still.
    fresh: bool,
}

impl RingTask {
    /// The packet that `task` made for the `way`th way.
    fn packet(&self, task: usize, way: usize) -> &[u8] {
        &self.packets[task * self.ways.len() + way]
    }

    /// The task that made the packet that comes in as the `n`th (from 1): the packet has gone n hops.
    fn maker(&self, way: Way, n: u32) -> usize {
        let (k, n) = (self.seat.tasks, n as usize % self.seat.tasks);
        match way {
            Way::Up => (self.seat.task + k - n) % k,
            Way::Down => (self.seat.task + n) % k,
        }
    }

    /// The program.
    pub(super) fn run(&self, spe: &mut Spe<'_>) {
        let (me, k) = (self.seat.task, self.seat.tasks);
        // Channel 0 is the neighbour above, whose channel 1 is this task.
        let peers = [(me + 1) % k, (me + k - 1) % k];
        let own = spe.alloc(self.packet_bytes, 128);
        let mut library = MessageLibrary::new(spe, self.seat.clone(), self.packet_bytes, &peers, &[1, 0]);
        let lane = |way: &Way| match way {
            Way::Up => RingLane { from: 1, to: 0, sent: 0, received: 0, fresh: true },
            Way::Down => RingLane { from: 0, to: 1, sent: 0, received: 0, fresh: true },
        };
        let mut lanes: Vec<RingLane> = self.ways.iter().map(lane).collect();
        library.spe.compute(self.delay_ns);
        for (way, lane) in lanes.iter_mut().enumerate() {
            library.spe.bytes_mut(own, self.packet_bytes).copy_from_slice(self.packet(me, way));
            library.send(lane.to, own);
            lane.sent = 1;
        }
        while lanes.iter().any(|lane| lane.received < self.rounds || !library.can_send(lane.to)) {
            library.poll();
            for (way, lane) in lanes.iter_mut().enumerate() {
                self.forward(&mut library, way, lane);
            }
            if library.counts.polls.is_multiple_of(POLLS_BETWEEN_BEATS) && !(self.beat)() {
                return;
            }
        }
        *self.counts.borrow_mut() += library.counts;
    }

    /// Sends on what has come in, once there is room.
    fn forward(&self, library: &mut MessageLibrary<'_, '_>, way: usize, lane: &mut RingLane) {
        let Some(at) = library.received(lane.from) else { return };
        if lane.fresh {
            lane.fresh = false;
            lane.received += 1;
            let expected = self.packet(self.maker(self.ways[way], lane.received), way);
            assert!(
                library.spe.bytes(at, self.packet_bytes) == expected,
                "task {}: packet {} {:?} is not the one that should come",
                self.seat.task,
                lane.received,
                self.ways[way],
            );
        }
        if lane.sent == self.rounds {
            // The last one stays here.
            return;
        }
        if library.can_send(lane.to) {
            library.send(lane.to, at);
            lane.sent += 1;
            library.release(lane.from);
            lane.fresh = true;
        }
    }
}
