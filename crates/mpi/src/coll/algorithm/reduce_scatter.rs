//! The operands of all ranks, reduced, each block of the result at its rank.

use super::super::schedule::CollectiveSchedule;
use super::operands::Operands;
use super::{FEW, Ranks, Root, reduce, scatter};
use crate::datatype::elements::Elements;

/// Reduces `operand` of every rank; block `(start, count)` of a rank, in elements, goes to its `result`. `in_place`:
/// the operand begins where the result goes.
pub(crate) fn reduce_scatter<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    operand: Elements<'a>,
    block: impl Fn(usize) -> (usize, usize),
    result: Elements<'a>,
) {
    if operand.bytes() == 0 {
        return;
    }
    let part = |whole: Elements<'a>, rank: usize| {
        let (start, count) = block(rank);
        whole.part(start, count)
    };
    if ranks.between_groups {
        return between_groups(
            schedule,
            ranks,
            operand,
            part(operand, ranks.own),
            result,
            block(ranks.own).0,
        );
    }
    if ranks.count > FEW && operand.bytes() < ranks.split_from() {
        let reduced = schedule.scratch(operand.datatype, operand.count);
        reduce(schedule, ranks, Root::Rank(0), operand, (ranks.own == 0).then_some(reduced));
        // In place, what is sent lies where the result goes.
        schedule.wait_all();
        return scatter(schedule, ranks, Root::Rank(0), |rank| part(reduced, rank), Some(result));
    }
    let in_place = operand.address == result.address;
    let own = part(operand, ranks.own);
    let reduced = if in_place { schedule.scratch(operand.datatype, own.count) } else { result };
    let room = schedule.scratch(operand.datatype, Operands::room_for(ranks, own.count));
    let operands = (own.bytes() > 0).then(|| Operands::receive(schedule, ranks, own, reduced, room));
    for rank in ranks.others() {
        let theirs = part(operand, rank);
        if theirs.bytes() > 0 {
            schedule.send_operand(rank, theirs);
        }
    }
    if let Some(operands) = operands {
        operands.reduce(schedule);
    }
    if in_place {
        schedule.wait_all();
        schedule.copy(reduced, result);
    }
}

/// A rank does not know the blocks of the other group's result: it gets all of every operand, and reduces its
/// block.
fn between_groups<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    operand: Elements<'a>,
    own: Elements<'a>,
    result: Elements<'a>,
    start: usize,
) {
    for rank in 0..ranks.count {
        schedule.send_operand(rank, operand);
    }
    let whole = schedule.scratch(operand.datatype, operand.count);
    let room = schedule.scratch(operand.datatype, Operands::room_for(ranks, operand.count));
    Operands::receive(schedule, ranks, operand, whole, room).reduce(schedule);
    schedule.copy(whole.part(start, own.count), result);
}
