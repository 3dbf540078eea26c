//! The root's data for all.

use super::super::schedule::CollectiveSchedule;
use super::{FEW, Ranks, Root, SPLIT_BCAST, share};
use crate::datatype::Datatype;
use crate::datatype::elements::Elements;
use std::sync::Arc;

/// Broadcasts `data` of the root. `byte` is `MPI_BYTE`.
pub(crate) fn bcast<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    root: Root,
    data: Elements<'a>,
    byte: &'a Arc<Datatype>,
) {
    if data.bytes() == 0 {
        return;
    }
    match root {
        Root::Elsewhere => {}
        Root::Here => {
            for rank in 0..ranks.count {
                schedule.send(rank, data);
            }
        }
        Root::Rank(root) if ranks.between_groups => {
            schedule.receive(root, data);
        }
        Root::Rank(root) => {
            if data.bytes() >= SPLIT_BCAST && !ranks.crowded && ranks.count > 3 {
                // Ranks may use other datatypes of the same signature: the parts are of the packed data.
                let packed = schedule.packed(data, byte);
                if ranks.own == root {
                    schedule.copy(data, packed);
                }
                split(schedule, ranks, root, packed);
                if ranks.own != root && packed.address != data.address {
                    schedule.wait_all();
                    schedule.copy(packed, data);
                }
            } else if ranks.crowded || ranks.count <= FEW {
                direct(schedule, ranks, root, data);
            } else {
                tree(schedule, ranks, root, data);
            }
        }
    }
}

fn direct(schedule: &mut CollectiveSchedule, ranks: Ranks, root: usize, data: Elements) {
    if ranks.own == root {
        for rank in ranks.others() {
            schedule.send(rank, data);
        }
    } else {
        schedule.receive(root, data);
    }
}

/// Binomial: a rank that has the data passes it on to the farther half of the ranks that are left to it.
fn tree(schedule: &mut CollectiveSchedule, ranks: Ranks, root: usize, data: Elements) {
    let place = (ranks.own + ranks.count - root) % ranks.count;
    let rank_at = |place: usize| (place + root) % ranks.count;
    let mut distance = ranks.count.next_power_of_two() / 2;
    if place != 0 {
        let lowest = place & place.wrapping_neg();
        let from = schedule.receive(rank_at(place - lowest), data);
        schedule.wait(from);
        distance = lowest / 2;
    }
    while distance > 0 {
        if place + distance < ranks.count {
            schedule.send(rank_at(place + distance), data);
        }
        distance /= 2;
    }
}

/// Each rank gets a part of its own and passes it on to all others.
fn split(schedule: &mut CollectiveSchedule, ranks: Ranks, root: usize, data: Elements) {
    let part = |rank: usize| {
        let (start, count) = share(data.count, ranks.count, rank);
        data.part(start, count)
    };
    if ranks.own == root {
        for rank in ranks.others() {
            schedule.send(rank, part(rank));
            schedule.send_in(1, rank, part(root));
        }
        return;
    }
    let own = schedule.receive(root, part(ranks.own));
    for rank in ranks.others() {
        schedule.receive_in(1, rank, part(rank));
    }
    schedule.wait(own);
    for rank in ranks.others().filter(|&rank| rank != root) {
        schedule.send_in(1, rank, part(ranks.own));
    }
}
