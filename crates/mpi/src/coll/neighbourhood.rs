//! Builders of neighbourhood collectives (MPI 5.0, section 8.7).

use super::algorithm::neighbour_exchange;
use super::arguments::Scene;
use super::blocks::{Blocks, PlacedBlocks};
use crate::abi::values::MPI_ERR_TOPOLOGY;
use crate::check::Failure;
use crate::datatype::MessageData;
use crate::neighbours::Neighbours;

/// The neighbours of this rank.
struct Around(Neighbours);

impl Around {
    fn of(scene: &Scene) -> Result<Self, Failure> {
        let Some(topology) = scene.comm.topology.get() else {
            return Err(Failure::new(
                MPI_ERR_TOPOLOGY,
                "comm has no topology; MPI_Cart_create and its like make one",
            ));
        };
        Ok(Self(topology.neighbours(scene.comm.rank)))
    }

    /// A block for each neighbour that receives from this rank.
    fn sent<'a, 'call>(
        &self,
        scene: &Scene<'a>,
        blocks: Blocks<'call>,
    ) -> Result<PlacedBlocks<'a, 'call>, Failure> {
        // SAFETY: the standard says so of the arguments, and the caller promised what the standard says.
        unsafe { blocks.placed(scene, self.0.destinations.len()) }
    }

    /// A block for each neighbour that sends to this rank.
    fn received<'a, 'call>(
        &self,
        scene: &Scene<'a>,
        blocks: Blocks<'call>,
    ) -> Result<PlacedBlocks<'a, 'call>, Failure> {
        // SAFETY: the standard says so of the arguments, and the caller promised what the standard says.
        unsafe { blocks.placed(scene, self.0.sources.len()) }
    }
}

/// `MPI_Neighbor_allgather` and `MPI_Neighbor_allgatherv`
pub(super) fn neighbor_allgather(
    scene: &mut Scene,
    send: MessageData,
    receive: Blocks<'_>,
) -> Result<(), Failure> {
    let around = Around::of(scene)?;
    let send = scene.elements(send)?;
    let receive = around.received(scene, receive)?;
    neighbour_exchange(scene.schedule, &around.0, |_| send, |index| receive.at(index));
    Ok(())
}

/// `MPI_Neighbor_alltoall`, `MPI_Neighbor_alltoallv` and `MPI_Neighbor_alltoallw`
pub(super) fn neighbor_alltoall(
    scene: &mut Scene,
    send: Blocks<'_>,
    receive: Blocks<'_>,
) -> Result<(), Failure> {
    let around = Around::of(scene)?;
    let send = around.sent(scene, send)?;
    let receive = around.received(scene, receive)?;
    neighbour_exchange(scene.schedule, &around.0, |index| send.at(index), |index| receive.at(index));
    Ok(())
}
