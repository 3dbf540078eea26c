//! A block of every rank to the root, and a block for every rank from it.

use super::super::schedule::CollectiveSchedule;
use super::{Ranks, Root};
use crate::datatype::elements::Elements;

/// Gathers `send` of every rank in the root's blocks; `None`: the root's own is there already. Only the root asks for
/// blocks.
pub(crate) fn gather<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    root: Root,
    send: Option<Elements<'a>>,
    block: impl Fn(usize) -> Elements<'a>,
) {
    if !root.is_here(ranks) {
        if let (Root::Rank(root), Some(send)) = (root, send.filter(|send| send.bytes() > 0)) {
            schedule.send(root, send);
        }
        return;
    }
    for rank in (0..ranks.count).filter(|&rank| ranks.between_groups || rank != ranks.own) {
        let block = block(rank);
        if block.bytes() > 0 {
            schedule.receive(rank, block);
        }
    }
    if let (false, Some(send)) = (ranks.between_groups, send) {
        schedule.copy(send, block(ranks.own));
    }
}

/// Scatters the root's blocks; `None`: the root's own stays where it is. Only the root asks for blocks.
pub(crate) fn scatter<'a>(
    schedule: &mut CollectiveSchedule,
    ranks: Ranks,
    root: Root,
    block: impl Fn(usize) -> Elements<'a>,
    receive: Option<Elements<'a>>,
) {
    if !root.is_here(ranks) {
        if let (Root::Rank(root), Some(receive)) = (root, receive.filter(|receive| receive.bytes() > 0)) {
            schedule.receive(root, receive);
        }
        return;
    }
    for rank in (0..ranks.count).filter(|&rank| ranks.between_groups || rank != ranks.own) {
        let block = block(rank);
        if block.bytes() > 0 {
            schedule.send(rank, block);
        }
    }
    if let (false, Some(receive)) = (ranks.between_groups, receive) {
        schedule.copy(block(ranks.own), receive);
    }
}
