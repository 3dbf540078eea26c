//! Builders of neighbourhood collectives (MPI 5.0, section 8.7).
#![allow(clippy::too_many_arguments, reason = "they are the standard's")]

use super::algorithm::neighbour_exchange;
use super::arguments::{ForEach, Numbers, Scene, not_in_place};
use super::build::{blocks, typed_blocks};
use crate::abi;
use crate::abi::values::MPI_ERR_TOPOLOGY;
use crate::call::In;
use crate::check::Failure;
use crate::datatype::elements::Elements;
use crate::neighbours::Neighbours;
use std::ffi::c_void;

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

    /// An array that has an element for each neighbour that receives from this rank.
    fn for_destinations<F: ForEach>(&self, first: F) -> Result<F::Array, Failure> {
        // SAFETY: the standard says so of the argument, and the caller promised what the standard says.
        unsafe { first.array(self.0.destinations.len()) }
    }

    /// An array that has an element for each neighbour that sends to this rank.
    fn for_sources<F: ForEach>(&self, first: F) -> Result<F::Array, Failure> {
        // SAFETY: the standard says so of the argument, and the caller promised what the standard says.
        unsafe { first.array(self.0.sources.len()) }
    }
}

/// The elements to send: one block, or one for each destination.
fn sent<'a>(
    scene: &Scene<'a>,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: abi::Datatype,
) -> Result<Elements<'a>, Failure> {
    scene.sent(sendbuf, sendcount, sendtype, false)?.ok_or_else(|| not_in_place("sendbuf"))
}

/// `MPI_Neighbor_allgather`
pub(super) fn neighbor_allgather(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcount: i64,
    recvtype: abi::Datatype,
) -> Result<(), Failure> {
    let around = Around::of(scene)?;
    let send = sent(scene, sendbuf, sendcount, sendtype)?;
    let receive = scene.elements(recvbuf, recvcount, recvtype, ["recvbuf", "recvcount"])?;
    neighbour_exchange(scene.schedule, &around.0, |_| send, |index| receive.block(index));
    Ok(())
}

/// `MPI_Neighbor_allgatherv`
pub(super) fn neighbor_allgatherv(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcounts: Numbers<'_>,
    displs: Numbers<'_>,
    recvtype: abi::Datatype,
) -> Result<(), Failure> {
    let around = Around::of(scene)?;
    let send = sent(scene, sendbuf, sendcount, sendtype)?;
    let row = (around.for_sources(recvcounts)?, around.for_sources(displs)?);
    let receive = blocks(scene, (recvbuf, "recvbuf"), row, recvtype)?;
    neighbour_exchange(scene.schedule, &around.0, |_| send, receive);
    Ok(())
}

/// `MPI_Neighbor_alltoall`
pub(super) fn neighbor_alltoall(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcount: i64,
    recvtype: abi::Datatype,
) -> Result<(), Failure> {
    let around = Around::of(scene)?;
    let send = sent(scene, sendbuf, sendcount, sendtype)?;
    let receive = scene.elements(recvbuf, recvcount, recvtype, ["recvbuf", "recvcount"])?;
    neighbour_exchange(scene.schedule, &around.0, |index| send.block(index), |index| receive.block(index));
    Ok(())
}

/// `MPI_Neighbor_alltoallv`
pub(super) fn neighbor_alltoallv(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcounts: Numbers<'_>,
    sdispls: Numbers<'_>,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcounts: Numbers<'_>,
    rdispls: Numbers<'_>,
    recvtype: abi::Datatype,
) -> Result<(), Failure> {
    let around = Around::of(scene)?;
    let row = (around.for_destinations(sendcounts)?, around.for_destinations(sdispls)?);
    let send = blocks(scene, (sendbuf, "sendbuf"), row, sendtype)?;
    let row = (around.for_sources(recvcounts)?, around.for_sources(rdispls)?);
    let receive = blocks(scene, (recvbuf, "recvbuf"), row, recvtype)?;
    neighbour_exchange(scene.schedule, &around.0, send, receive);
    Ok(())
}

/// `MPI_Neighbor_alltoallw`
pub(super) fn neighbor_alltoallw(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcounts: Numbers<'_>,
    sdispls: Numbers<'_>,
    sendtypes: In<'_, abi::Datatype>,
    recvbuf: *const c_void,
    recvcounts: Numbers<'_>,
    rdispls: Numbers<'_>,
    recvtypes: In<'_, abi::Datatype>,
) -> Result<(), Failure> {
    let around = Around::of(scene)?;
    let row = (around.for_destinations(sendcounts)?, around.for_destinations(sdispls)?);
    let send = typed_blocks(scene, (sendbuf, "sendbuf"), row, around.for_destinations(sendtypes)?)?;
    let row = (around.for_sources(recvcounts)?, around.for_sources(rdispls)?);
    let receive = typed_blocks(scene, (recvbuf, "recvbuf"), row, around.for_sources(recvtypes)?)?;
    neighbour_exchange(scene.schedule, &around.0, send, receive);
    Ok(())
}
