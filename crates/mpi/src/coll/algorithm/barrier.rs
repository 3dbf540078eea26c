//! No rank leaves before all have come.

use super::super::schedule::CollectiveSchedule;
use super::Ranks;
use crate::datatype::elements::Elements;

/// `nothing` is what the messages hold: no element of any datatype.
pub(crate) fn barrier(schedule: &mut CollectiveSchedule, ranks: Ranks, nothing: Elements) {
    if ranks.between_groups || ranks.few() {
        direct(schedule, ranks, nothing);
    } else if ranks.crowded {
        by_one(schedule, ranks, nothing);
    } else {
        dissemination(schedule, ranks, nothing);
    }
}

/// One hop: every rank tells every other.
fn direct(schedule: &mut CollectiveSchedule, ranks: Ranks, nothing: Elements) {
    let peers = (0..ranks.count).filter(|&rank| ranks.between_groups || rank != ranks.own);
    for peer in peers.clone() {
        schedule.send(peer, nothing);
    }
    for peer in peers {
        schedule.receive(peer, nothing);
    }
}

/// Two hops: all tell rank 0, and rank 0 tells all.
fn by_one(schedule: &mut CollectiveSchedule, ranks: Ranks, nothing: Elements) {
    if ranks.own != 0 {
        schedule.send(0, nothing);
        schedule.receive(0, nothing);
        return;
    }
    for rank in 1..ranks.count {
        schedule.receive(rank, nothing);
    }
    schedule.wait_all();
    for rank in 1..ranks.count {
        schedule.send(rank, nothing);
    }
}

/// As many hops as the logarithm of ranks: after each, a rank knows of twice as many.
fn dissemination(schedule: &mut CollectiveSchedule, ranks: Ranks, nothing: Elements) {
    let mut distance = 1;
    while distance < ranks.count {
        schedule.send((ranks.own + distance) % ranks.count, nothing);
        let from = schedule.receive((ranks.own + ranks.count - distance) % ranks.count, nothing);
        schedule.wait(from);
        distance *= 2;
    }
}
