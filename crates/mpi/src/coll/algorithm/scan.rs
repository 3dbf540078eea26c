//! The operands of the ranks up to each one, reduced there.

use super::super::schedule::CollectiveSchedule;
use super::Ranks;
use crate::datatype::elements::Elements;

/// Reduces the operands of the ranks up to this one, its own too, in `result`, where its own may lie already.
pub(crate) fn scan<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    operand: Elements<'a>,
    result: Elements<'a>,
) {
    schedule.copy(operand, result);
    reach_back(schedule, ranks, result, |_, _| {});
}

/// Reduces the operands of the ranks before this one in `result`; of rank 0 it stays as it is.
pub(crate) fn exscan<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    operand: Elements<'a>,
    result: Elements<'a>,
) {
    let have = schedule.scratch(operand.datatype, operand.count);
    schedule.copy(operand, have);
    let mut first = true;
    reach_back(schedule, ranks, have, |schedule, before| {
        if first {
            schedule.copy(before, result);
        } else {
            schedule.reduce(before, result);
        }
        first = false;
    });
}

/// After each hop, `have` is the result of twice as many ranks up to this one. `found` is told what comes before it.
fn reach_back<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    have: Elements<'a>,
    mut found: impl FnMut(&mut CollectiveSchedule, Elements<'a>),
) {
    if have.bytes() == 0 {
        return;
    }
    let before = schedule.scratch(have.datatype, have.count);
    let mut distance = 1;
    while distance < ranks.count {
        if ranks.own + distance < ranks.count {
            schedule.send(ranks.own + distance, have);
        }
        if ranks.own >= distance {
            schedule.receive(ranks.own - distance, before);
            schedule.wait_all();
            found(schedule, before);
            schedule.reduce(before, have);
        }
        distance *= 2;
    }
}
