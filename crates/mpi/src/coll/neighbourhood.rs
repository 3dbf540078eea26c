//! Builders of neighbourhood collectives (MPI 5.0, section 8.7).
#![allow(clippy::too_many_arguments, reason = "they are the standard's")]

use super::algorithm::{Neighbours, neighbour_exchange};
use super::arguments::{Numbers, Scene, not_in_place};
use super::build::{blocks, typed_blocks};
use super::elements::Elements;
use crate::abi;
use crate::abi::values::MPI_ERR_TOPOLOGY;
use crate::check::Failure;
use std::ffi::c_void;

/// The neighbours of this rank.
fn neighbours(scene: &Scene) -> Result<Neighbours, Failure> {
    let Some(topology) = scene.comm.topology.get() else {
        return Err(Failure::new(
            MPI_ERR_TOPOLOGY,
            "comm has no topology; MPI_Cart_create and its like make one",
        ));
    };
    Ok(topology.neighbours(scene.comm.rank))
}

/// What is sent: of one block, or of one for each destination.
fn sent<'a>(
    scene: &Scene<'a>,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: abi::Datatype,
) -> Result<Elements<'a>, Failure> {
    scene.sent(sendbuf, sendcount, sendtype, false)?.ok_or_else(|| not_in_place("sendbuf"))
}

/// `MPI_Neighbor_allgather`
pub fn neighbor_allgather(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcount: i64,
    recvtype: abi::Datatype,
) -> Result<(), Failure> {
    let neighbours = neighbours(scene)?;
    let send = sent(scene, sendbuf, sendcount, sendtype)?;
    let receive = scene.elements(recvbuf, recvcount, recvtype, ["recvbuf", "recvcount"])?;
    neighbour_exchange(scene.schedule, &neighbours, |_| send, |index| receive.block(index));
    Ok(())
}

/// `MPI_Neighbor_allgatherv`
pub fn neighbor_allgatherv(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcounts: Numbers,
    displs: Numbers,
    recvtype: abi::Datatype,
) -> Result<(), Failure> {
    let neighbours = neighbours(scene)?;
    let send = sent(scene, sendbuf, sendcount, sendtype)?;
    let (length, names) = (neighbours.sources.len(), ["recvbuf", "recvcounts", "displs"]);
    let receive = blocks(scene, length, recvbuf, recvcounts, displs, recvtype, names)?;
    neighbour_exchange(scene.schedule, &neighbours, |_| send, receive);
    Ok(())
}

/// `MPI_Neighbor_alltoall`
pub fn neighbor_alltoall(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcount: i64,
    recvtype: abi::Datatype,
) -> Result<(), Failure> {
    let neighbours = neighbours(scene)?;
    let send = sent(scene, sendbuf, sendcount, sendtype)?;
    let receive = scene.elements(recvbuf, recvcount, recvtype, ["recvbuf", "recvcount"])?;
    neighbour_exchange(scene.schedule, &neighbours, |index| send.block(index), |index| receive.block(index));
    Ok(())
}

/// `MPI_Neighbor_alltoallv`
pub fn neighbor_alltoallv(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcounts: Numbers,
    sdispls: Numbers,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcounts: Numbers,
    rdispls: Numbers,
    recvtype: abi::Datatype,
) -> Result<(), Failure> {
    let neighbours = neighbours(scene)?;
    let (length, names) = (neighbours.destinations.len(), ["sendbuf", "sendcounts", "sdispls"]);
    let send = blocks(scene, length, sendbuf, sendcounts, sdispls, sendtype, names)?;
    let (length, names) = (neighbours.sources.len(), ["recvbuf", "recvcounts", "rdispls"]);
    let receive = blocks(scene, length, recvbuf, recvcounts, rdispls, recvtype, names)?;
    neighbour_exchange(scene.schedule, &neighbours, send, receive);
    Ok(())
}

/// `MPI_Neighbor_alltoallw`
pub fn neighbor_alltoallw(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcounts: Numbers,
    sdispls: Numbers,
    sendtypes: *const abi::Datatype,
    recvbuf: *const c_void,
    recvcounts: Numbers,
    rdispls: Numbers,
    recvtypes: *const abi::Datatype,
) -> Result<(), Failure> {
    let neighbours = neighbours(scene)?;
    let (length, names) = (neighbours.destinations.len(), ["sendbuf", "sendcounts", "sdispls", "sendtypes"]);
    let send = typed_blocks(scene, length, sendbuf, sendcounts, sdispls, sendtypes, names)?;
    let (length, names) = (neighbours.sources.len(), ["recvbuf", "recvcounts", "rdispls", "recvtypes"]);
    let receive = typed_blocks(scene, length, recvbuf, recvcounts, rdispls, recvtypes, names)?;
    neighbour_exchange(scene.schedule, &neighbours, send, receive);
    Ok(())
}
