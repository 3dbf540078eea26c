//! Reducing one operand of each rank, in the order of ranks, at one place.

use super::super::schedule::{CollectiveSchedule, TagLane, Ticket};
use super::Ranks;
use crate::datatype::elements::Elements;

/// Operands on their way: receives are started, and `reduce` waits for them one after the other.
///
/// The operand of the last rank becomes the result: `a op (b op (c op d))`. So every rank that does this with the same
/// operands gets the same bits.
pub(super) struct Operands<'a> {
    ranks: Ranks,
    own: Elements<'a>,
    result: Elements<'a>,
    /// Where the operand of the last rank is, and the result grows.
    last: Elements<'a>,
    last_rank: usize,
    /// Operands of all others, without a place for this rank's and the last one's.
    others: Elements<'a>,
    first: Ticket,
}

impl<'a> Operands<'a> {
    /// Starts receiving the others' operands. `own` is this rank's (between groups: not used), which may be `result`
    /// itself (in place); `room` is scratch as `room_for` says.
    pub(super) fn receive(
        schedule: &mut CollectiveSchedule,
        ranks: Ranks,
        lane: TagLane,
        own: Elements<'a>,
        result: Elements<'a>,
        room: Elements<'a>,
    ) -> Self {
        let in_place = !ranks.between_groups && own.address == result.address;
        // Two operands that may change places need no copy in place.
        let swapped = in_place && ranks.count == 2 && schedule.commutative();
        let last_rank = if swapped { ranks.own } else { ranks.count - 1 };
        let own_is_last = !ranks.between_groups && last_rank == ranks.own;
        let count = result.count;
        let last =
            if in_place && !own_is_last { room.part((ranks.count - 1) * count, count) } else { result };
        let mut operands = Self { ranks, own, result, last, last_rank, others: room, first: Ticket::FIRST };
        if own_is_last {
            schedule.copy(own, last);
        }
        let mut first = None;
        for rank in (0..ranks.count).rev().filter(|&rank| ranks.between_groups || rank != ranks.own) {
            let into = operands.place(rank);
            let ticket = schedule.receive_in(lane, rank, into);
            first.get_or_insert(ticket);
        }
        operands.first = first.unwrap_or(Ticket::FIRST);
        operands
    }

    /// Elements of scratch for operands of `count` elements.
    pub(super) fn room_for(ranks: Ranks, count: usize) -> usize {
        ranks.count * count
    }

    /// Where the operand of a rank is.
    fn place(&self, rank: usize) -> Elements<'a> {
        if rank == self.last_rank {
            self.last
        } else if rank == self.ranks.own && !self.ranks.between_groups {
            self.own
        } else {
            self.others.part(rank * self.result.count, self.result.count)
        }
    }

    /// Waits for the operands and reduces them. In place, what this rank sends of `result` must be complete before.
    pub(super) fn reduce(self, schedule: &mut CollectiveSchedule) {
        let mut arrived = 0;
        let mut wait_for = |schedule: &mut CollectiveSchedule, rank| {
            if self.ranks.between_groups || rank != self.ranks.own {
                schedule.wait(self.first.later(arrived));
                arrived += 1;
            }
        };
        if self.last_rank == self.ranks.count - 1 {
            wait_for(schedule, self.last_rank);
        }
        for rank in (0..self.ranks.count).rev().filter(|&rank| rank != self.last_rank) {
            wait_for(schedule, rank);
            schedule.reduce(self.place(rank), self.last);
        }
        schedule.copy(self.last, self.result);
    }
}
