//! The operands of all ranks, reduced at the root.

use super::super::schedule::CollectiveSchedule;
use super::operands::Operands;
use super::{FEW, Ranks, Root, share};
use crate::datatype::elements::Elements;

/// Reduces `operand` of every rank in `result` of the root, where it may lie already; others have no result.
pub(crate) fn reduce<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    root: Root,
    operand: Elements<'a>,
    result: Option<Elements<'a>>,
) {
    if operand.bytes() == 0 {
        return;
    }
    match root {
        Root::Elsewhere => {}
        Root::Here => direct(schedule, ranks, ranks.own, operand, result),
        Root::Rank(root) if ranks.between_groups => {
            schedule.send_operand(root, operand);
        }
        Root::Rank(root) => {
            if operand.bytes() >= ranks.split_from() && operand.count >= ranks.count && ranks.count > 1 {
                split(schedule, ranks, root, operand, result);
            } else if ranks.crowded || ranks.count <= FEW {
                direct(schedule, ranks, root, operand, result);
            } else {
                tree(schedule, ranks, root, operand, result);
            }
        }
    }
}

/// All send to the root, and it reduces.
fn direct<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    root: usize,
    operand: Elements<'a>,
    result: Option<Elements<'a>>,
) {
    let Some(result) = result else {
        schedule.send_operand(root, operand);
        return;
    };
    let room = schedule.scratch(operand.datatype, Operands::room_for(ranks, operand.count));
    Operands::receive(schedule, ranks, operand, result, room).reduce(schedule);
}

/// Binomial: each hop halves the ranks that have something to add. Operands stay in the order of ranks, beginning with
/// the root where they may change places.
fn tree<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    root: usize,
    operand: Elements<'a>,
    result: Option<Elements<'a>>,
) {
    let top = if schedule.commutative() { root } else { 0 };
    let place = (ranks.own + ranks.count - top) % ranks.count;
    let rank_at = |place: usize| (place + top) % ranks.count;
    let rooms = [(); 2].map(|()| schedule.scratch(operand.datatype, operand.count));
    // The reduced operands of the ranks from this one on, so far.
    let mut have = operand;
    let mut distance = 1;
    while distance < ranks.count && place & distance == 0 {
        if place + distance < ranks.count {
            let into = if have.address == rooms[0].address { rooms[1] } else { rooms[0] };
            let more = schedule.receive(rank_at(place + distance), into);
            schedule.wait(more);
            schedule.reduce(have, into);
            have = into;
        }
        distance *= 2;
    }
    if place != 0 {
        schedule.send(rank_at(place - distance), have);
    } else if top != root {
        schedule.send(root, have);
    }
    match result {
        Some(result) if top == root => schedule.copy(have, result),
        Some(result) => {
            // In place the operand lies where the result goes: it must be sent before.
            schedule.wait_all();
            schedule.receive(top, result);
        }
        None => {}
    }
}

/// Each rank reduces a share, and the root gathers them.
fn split<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    root: usize,
    operand: Elements<'a>,
    result: Option<Elements<'a>>,
) {
    let of = |whole: Elements<'a>, rank: usize| {
        let (start, count) = share(whole.count, ranks.count, rank);
        whole.part(start, count)
    };
    let own = of(operand, ranks.own);
    let reduced = match result {
        Some(result) => of(result, ranks.own),
        None => schedule.scratch(operand.datatype, own.count),
    };
    let room = schedule.scratch(operand.datatype, Operands::room_for(ranks, own.count));
    let operands = Operands::receive(schedule, ranks, own, reduced, room);
    if let Some(result) = result {
        for rank in ranks.others() {
            // In place, a share arrives only after its rank has got this rank's operand of it.
            schedule.receive_in(1, rank, of(result, rank));
        }
    }
    for rank in ranks.others() {
        schedule.send_operand(rank, of(operand, rank));
    }
    operands.reduce(schedule);
    if result.is_none() {
        schedule.send_in(1, root, reduced);
    }
}
