//! A block of every rank to all.

use super::super::schedule::CollectiveSchedule;
use super::{Ranks, SMALL};
use crate::datatype::Datatype;
use crate::datatype::elements::Elements;
use std::sync::Arc;

/// Gathers `send` of every rank in the blocks of each; `None`: it is in its block already. `even`: all
/// blocks hold as many bytes; then it is `MPI_BYTE`.
pub(crate) fn allgather<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    send: Option<Elements<'a>>,
    block: impl Fn(usize) -> Elements<'a>,
    even: Option<&'a Arc<Datatype>>,
) {
    if ranks.between_groups {
        let send = send.expect("between groups nothing is in place");
        for rank in 0..ranks.count {
            let block = block(rank);
            if block.bytes() > 0 {
                schedule.receive(rank, block);
            }
            if send.bytes() > 0 {
                schedule.send(rank, send);
            }
        }
        return;
    }
    let own = block(ranks.own);
    let small = !ranks.are_direct() && own.bytes() <= SMALL && own.bytes() > 0;
    if let Some(byte) = even.filter(|_| small) {
        if let Some(send) = send {
            schedule.copy(send, own);
        }
        return bruck(schedule, ranks, block, byte);
    }
    for rank in ranks.others() {
        // The rank before this one sends to it first.
        let block = block((2 * ranks.own + ranks.count - rank) % ranks.count);
        if block.bytes() > 0 {
            schedule.receive((2 * ranks.own + ranks.count - rank) % ranks.count, block);
        }
    }
    let mine = send.unwrap_or(own);
    schedule.copy_beside(mine, own, |schedule| {
        if mine.bytes() > 0 {
            for rank in ranks.others() {
                schedule.send(rank, mine);
            }
        }
    });
}

/// As many hops as the logarithm of ranks: each passes on all blocks that it has, of the ranks from itself on.
fn bruck<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    block: impl Fn(usize) -> Elements<'a>,
    byte: &'a Arc<Datatype>,
) {
    let own = block(ranks.own);
    let each = own.bytes();
    // The block of the rank `distance` behind this one lies at `distance`.
    let found = schedule.scratch(byte, each * ranks.count);
    let at = |start: usize, blocks: usize| found.part(start * each, blocks * each);
    schedule.copy(own, at(0, 1));
    let mut have = 1;
    while have < ranks.count {
        let some = have.min(ranks.count - have);
        schedule.send((ranks.own + ranks.count - have) % ranks.count, at(0, some));
        let more = schedule.receive((ranks.own + have) % ranks.count, at(have, some));
        schedule.wait(more);
        have += some;
    }
    for (distance, rank) in ranks.others().enumerate() {
        schedule.copy(at(distance + 1, 1), block(rank));
    }
}
