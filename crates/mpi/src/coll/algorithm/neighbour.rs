//! Blocks for and from the neighbours of a topology.

use super::super::schedule::CollectiveSchedule;
use crate::datatype::elements::Elements;
use crate::neighbours::Neighbours;

/// Sends block `send(i)` to the `i`th destination and receives block `receive(i)` from the `i`th source. Several edges
/// between the same ranks are distinguished by their order.
pub(crate) fn neighbour_exchange<'a>(
    schedule: &mut CollectiveSchedule,
    neighbours: &Neighbours,
    send: impl Fn(usize) -> Elements<'a>,
    receive: impl Fn(usize) -> Elements<'a>,
) {
    for i in 0..neighbours.sources.len() {
        // In a grid, what is sent one way arrives from the other: in a ring of two, the first message to the same rank
        // is for its second place.
        let i = if neighbours.grid { i ^ 1 } else { i };
        let block = receive(i);
        if let (Some(source), true) = (neighbours.sources[i], block.bytes() > 0) {
            schedule.receive(source, block);
        }
    }
    for (i, destination) in neighbours.destinations.iter().enumerate() {
        let block = send(i);
        if let (&Some(destination), true) = (destination, block.bytes() > 0) {
            schedule.send(destination, block);
        }
    }
}
