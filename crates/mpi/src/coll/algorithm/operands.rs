//! Reducing one operand of each rank, in the order of ranks, at one place.

use super::super::schedule::{CollectiveSchedule, Ticket};
use super::Ranks;
use crate::datatype::elements::Elements;

/// Operands on their way: receives are started, and `reduce` waits for them one after the other.
///
/// They are reduced from the last rank down: `a op (b op (c op d))`. So every rank that does this with the same
/// operands gets the same bits.
pub(super) struct Operands<'a> {
    ranks: Ranks,
    own: Elements<'a>,
    result: Elements<'a>,
    room: Elements<'a>,
    first: Ticket,
}

impl<'a> Operands<'a> {
    /// Starts receiving the others' operands, which they send by `send_operand`. `own` is this rank's (between groups:
    /// not used), which may be `result` itself (in place); `room` is scratch as `room_for` says.
    pub(super) fn receive(
        schedule: &mut CollectiveSchedule,
        ranks: Ranks,
        own: Elements<'a>,
        result: Elements<'a>,
        room: Elements<'a>,
    ) -> Self {
        let mut operands = Self { ranks, own, result, room, first: Ticket::FIRST };
        let mut first = None;
        for rank in (0..ranks.count).rev().filter(|&rank| !operands.is_own(rank)) {
            let into = operands.place(rank);
            let ticket = if ranks.count > 1 {
                schedule.receive_operand(rank, into)
            } else {
                schedule.receive(rank, into)
            };
            first.get_or_insert(ticket);
        }
        operands.first = first.unwrap_or(Ticket::FIRST);
        operands
    }

    /// Elements of scratch for operands of `count` elements.
    pub(super) fn room_for(ranks: Ranks, count: usize) -> usize {
        ranks.count * count
    }

    fn is_own(&self, rank: usize) -> bool {
        rank == self.ranks.own && !self.ranks.between_groups
    }

    /// This rank's operand lies where the result goes.
    fn in_place(&self) -> bool {
        !self.ranks.between_groups && self.own.address == self.result.address
    }

    /// Where the operand of a rank is. The last rank's lies where the result grows, if it can.
    fn place(&self, rank: usize) -> Elements<'a> {
        if self.is_own(rank) {
            self.own
        } else if rank == self.ranks.count - 1 && !self.in_place() {
            self.result
        } else {
            self.spare(rank)
        }
    }

    /// The room for a rank's operand; for this rank's own it is free.
    fn spare(&self, rank: usize) -> Elements<'a> {
        self.room.part(rank * self.result.count, self.result.count)
    }

    /// Waits for the operands and reduces them. In place, what this rank sends of `result` must be complete before.
    pub(super) fn reduce(self, schedule: &mut CollectiveSchedule) {
        let own = self.ranks.own;
        let mut arrived = 0;
        let mut operand_of = |schedule: &mut CollectiveSchedule, rank| {
            if !self.is_own(rank) {
                schedule.wait(self.first.later(arrived));
                arrived += 1;
            }
            self.place(rank)
        };
        let last = self.ranks.count - 1;
        let mut reduced = operand_of(schedule, last);
        for rank in (0..last).rev() {
            let operand = operand_of(schedule, rank);
            if rank == own && self.in_place() && schedule.commutative() {
                schedule.reduce(reduced, operand);
                reduced = operand;
                continue;
            }
            // In place, the result must not grow over this rank's operand before that is used.
            let into = if rank >= own && self.in_place() { self.spare(own) } else { self.result };
            schedule.combine(operand, reduced, into);
            reduced = into;
        }
        schedule.copy(reduced, self.result);
    }
}
