//! The operands of all ranks, reduced everywhere, with the same bits.

use super::super::schedule::CollectiveSchedule;
use super::operands::Operands;
use super::{PIECE, Ranks, Root, SMALL, bcast, reduce, share};
use crate::datatype::Datatype;
use crate::datatype::elements::Elements;
use std::sync::Arc;

/// Reduces `operand` of every rank in the `result` of each, where it may lie already. `byte` is `MPI_BYTE`.
pub(crate) fn allreduce<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    operand: Elements<'a>,
    result: Elements<'a>,
    byte: &'a Arc<Datatype>,
) {
    if result.bytes() == 0 && operand.bytes() == 0 {
        return;
    }
    if ranks.between_groups || ranks.count == 1 {
        return direct(schedule, ranks, operand, result);
    }
    if result.bytes() >= ranks.split_from() && result.count >= ranks.count {
        split(schedule, ranks, operand, result);
    } else if ranks.few() && !(ranks.crowded && result.bytes() > SMALL) {
        direct(schedule, ranks, operand, result);
    } else if ranks.crowded {
        let root = Root::Rank(0);
        reduce(schedule, ranks, root, operand, (ranks.own == 0).then_some(result));
        if ranks.own != 0 && operand.address == result.address {
            schedule.wait_all();
        }
        bcast(schedule, ranks, root, result, byte);
    } else {
        doubling(schedule, ranks, operand, result);
    }
}

/// One hop: every rank gets all operands and reduces them in the same order.
fn direct<'a>(schedule: &mut CollectiveSchedule, ranks: Ranks, operand: Elements<'a>, result: Elements<'a>) {
    let peers = (0..ranks.count).filter(|&rank| ranks.between_groups || rank != ranks.own);
    if operand.bytes() > 0 {
        for rank in peers {
            schedule.send_operand(rank, operand);
        }
    }
    // In place, the others may not have this rank's operand before they have reduced it.
    let in_place = operand.address == result.address;
    let reduced = if in_place { schedule.scratch(result.datatype, result.count) } else { result };
    let room = schedule.scratch(result.datatype, Operands::room_for(ranks, result.count));
    Operands::receive(schedule, ranks, operand, reduced, room).reduce(schedule);
    if in_place {
        schedule.wait_all();
        schedule.copy(reduced, result);
    }
}

/// As many hops as the logarithm of ranks: in each, two neighbouring runs of ranks become one.
fn doubling<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    operand: Elements<'a>,
    result: Elements<'a>,
) {
    schedule.copy(operand, result);
    // So many ranks that the rest is a power of two hand their operand to the one behind them and wait for the result.
    let power = 1 << ranks.count.ilog2();
    let pairs = ranks.count - power;
    let mut have = result;
    let mut room = schedule.scratch(result.datatype, result.count);
    if ranks.own < 2 * pairs {
        if ranks.own.is_multiple_of(2) {
            schedule.send(ranks.own + 1, have);
            schedule.wait_all();
            schedule.receive(ranks.own + 1, result);
            return;
        }
        let before = schedule.receive(ranks.own - 1, room);
        schedule.wait(before);
        schedule.reduce(room, have);
    }
    let place = if ranks.own < 2 * pairs { ranks.own / 2 } else { ranks.own - pairs };
    let rank_at = |place: usize| if place < pairs { 2 * place + 1 } else { place + pairs };
    let mut distance = 1;
    while distance < power {
        let partner = place ^ distance;
        schedule.send(rank_at(partner), have);
        schedule.receive(rank_at(partner), room);
        schedule.wait_all();
        if partner < place {
            schedule.reduce(room, have);
        } else {
            schedule.reduce(have, room);
            (have, room) = (room, have);
        }
        distance *= 2;
    }
    schedule.copy(have, result);
    if ranks.own < 2 * pairs {
        schedule.send(ranks.own - 1, result);
    }
}

/// Each rank reduces a share and passes it on to all others, piece by piece: while one is reduced, the next is on its
/// way.
fn split<'a>(schedule: &mut CollectiveSchedule, ranks: Ranks, operand: Elements<'a>, result: Elements<'a>) {
    let whole = share(result.count, ranks.count, 0).1;
    // Ranks that share CPUs do one thing after the other: pieces would only add waits.
    let most = if ranks.crowded { whole } else { (PIECE / result.datatype.size).max(1) };
    let pieces = whole.div_ceil(most);
    let piece = |whole: Elements<'a>, rank: usize, piece: usize| {
        let (start, count) = share(whole.count, ranks.count, rank);
        let from = (piece * most).min(count);
        whole.part(start + from, (count - from).min(most))
    };
    let rooms = [0, 1].map(|index| {
        let count = if index < pieces { most.min(result.count) } else { 0 };
        schedule.scratch(result.datatype, Operands::room_for(ranks, count))
    });
    let post = |schedule: &mut CollectiveSchedule, index: usize| {
        let (own, into) = (piece(operand, ranks.own, index), piece(result, ranks.own, index));
        Operands::receive(schedule, ranks, own, into, rooms[index % 2])
    };
    let mut arriving = Some(post(schedule, 0));
    for index in 0..pieces {
        for rank in ranks.others() {
            // In place, a share arrives only after its rank has got this rank's operand of it.
            schedule.receive_in(1, rank, piece(result, rank, index));
        }
    }
    for index in 0..pieces {
        for rank in ranks.others() {
            schedule.send_operand(rank, piece(operand, rank, index));
        }
    }
    let mut index = 0;
    while let Some(operands) = arriving {
        arriving = (index + 1 < pieces).then(|| post(schedule, index + 1));
        operands.reduce(schedule);
        for rank in ranks.others() {
            schedule.send_in(1, rank, piece(result, ranks.own, index));
        }
        index += 1;
    }
}
