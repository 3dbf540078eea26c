//! A block of every rank for every rank.

use super::super::schedule::CollectiveSchedule;
use super::{FEW, Ranks, TINY};
use crate::datatype::Datatype;
use crate::datatype::elements::Elements;
use std::sync::Arc;

/// Sends block `send(i)` to each rank `i` and receives block `receive(i)` from it; `None`: what is sent lies where is
/// received. `even`: all blocks of all ranks hold as many bytes; then it is `MPI_BYTE`.
///
/// Ranks on this rank's cpu (`is_near`) get their blocks first: they go through the caches, those of others may go past
/// them. (8 ranks on 2 cpus of an EPYC while a line takes 220 ns, 64 kB: 223 us from the rank behind on, 208 so.)
pub(crate) fn alltoall<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    send: Option<impl Fn(usize) -> Elements<'a>>,
    receive: impl Fn(usize) -> Elements<'a>,
    even: Option<&'a Arc<Datatype>>,
    is_near: impl Fn(usize) -> bool,
) {
    let Some(send) = send else { return in_place(schedule, ranks, receive) };
    if ranks.between_groups {
        for rank in 0..ranks.count {
            exchange(schedule, rank, send(rank), rank, receive(rank));
        }
        return;
    }
    let bytes = receive(ranks.own).bytes();
    let tiny = ranks.count > 2 * FEW && bytes <= TINY && bytes > 0;
    if let Some(byte) = even.filter(|_| tiny) {
        return bruck(schedule, ranks, send, receive, byte);
    }
    for to in ranks.others() {
        let from = (2 * ranks.own + ranks.count - to) % ranks.count;
        let block = receive(from);
        if block.bytes() > 0 {
            schedule.receive(from, block);
        }
    }
    schedule.copy_beside(send(ranks.own), receive(ranks.own), |schedule| {
        for to in ranks.others_near_first(is_near) {
            let block = send(to);
            if block.bytes() > 0 {
                schedule.send(to, block);
            }
        }
    });
}

fn exchange(schedule: &mut CollectiveSchedule, to: usize, data: Elements, from: usize, into: Elements) {
    if into.bytes() > 0 {
        schedule.receive(from, into);
    }
    if data.bytes() > 0 {
        schedule.send(to, data);
    }
}

/// Every block is copied before it is overwritten.
fn in_place<'a>(schedule: &mut CollectiveSchedule, ranks: Ranks, block: impl Fn(usize) -> Elements<'a>) {
    for rank in ranks.others() {
        let block = block(rank);
        if block.bytes() > 0 {
            let copy = schedule.scratch(block.datatype, block.count);
            schedule.copy(block, copy);
            schedule.send(rank, copy);
        }
    }
    for rank in ranks.others() {
        let block = block(rank);
        if block.bytes() > 0 {
            schedule.receive(rank, block);
        }
    }
}

/// As many hops as the logarithm of ranks: in the hop of a bit, the blocks whose distance has that bit go that far.
fn bruck<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    send: impl Fn(usize) -> Elements<'a>,
    receive: impl Fn(usize) -> Elements<'a>,
    byte: &'a Arc<Datatype>,
) {
    let each = receive(ranks.own).bytes();
    // The block that has to go `distance` further lies at `distance`.
    let travelling = schedule.scratch(byte, each * ranks.count);
    let at = |distance: usize| travelling.part(distance * each, each);
    for distance in 0..ranks.count {
        schedule.copy(send((ranks.own + distance) % ranks.count), at(distance));
    }
    let most = ranks.count.next_power_of_two() / 2;
    let (out, back) = (schedule.scratch(byte, each * most), schedule.scratch(byte, each * most));
    let mut bit = 1;
    while bit < ranks.count {
        let with_bit = (0..ranks.count).filter(|distance| distance & bit != 0);
        let blocks = with_bit.clone().count();
        for (i, distance) in with_bit.clone().enumerate() {
            schedule.copy(at(distance), out.part(i * each, each));
        }
        schedule.send((ranks.own + bit) % ranks.count, out.part(0, blocks * each));
        schedule.receive((ranks.own + ranks.count - bit) % ranks.count, back.part(0, blocks * each));
        schedule.wait_all();
        for (i, distance) in with_bit.enumerate() {
            schedule.copy(back.part(i * each, each), at(distance));
        }
        bit *= 2;
    }
    for distance in 0..ranks.count {
        schedule.copy(at(distance), receive((ranks.own + ranks.count - distance) % ranks.count));
    }
}
