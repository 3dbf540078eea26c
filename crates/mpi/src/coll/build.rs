//! Builders: from the arguments of a C function, checked, to the schedule of the collective.
#![allow(clippy::too_many_arguments, reason = "they are the standard's")]

use super::algorithm::{self, Root};
use super::arguments::{Numbers, Row, Scene, apart, is_in_place, not_in_place, present};
use crate::abi;
use crate::call::In;
use crate::check::{self, Failure};
use crate::datatype::elements::Elements;
use std::ffi::{c_int, c_void};

/// `MPI_Barrier`
pub(super) fn barrier(scene: &mut Scene) -> Result<(), Failure> {
    let (ranks, nothing) = (scene.ranks(), scene.nothing());
    algorithm::barrier(scene.schedule, ranks, nothing);
    Ok(())
}

/// `MPI_Bcast`
pub(super) fn bcast(
    scene: &mut Scene,
    buffer: *const c_void,
    count: i64,
    datatype: abi::Datatype,
    root: c_int,
) -> Result<(), Failure> {
    let (ranks, root) = (scene.ranks(), scene.root(root)?);
    if root == Root::Elsewhere {
        return Ok(());
    }
    let data = scene.elements(buffer, count, datatype, ["buffer", "count"])?;
    algorithm::bcast(scene.schedule, ranks, root, data, scene.byte());
    Ok(())
}

/// `MPI_Gather`
pub(super) fn gather(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcount: i64,
    recvtype: abi::Datatype,
    root: c_int,
) -> Result<(), Failure> {
    let (ranks, root) = (scene.ranks(), scene.root(root)?);
    let here = root.is_here(ranks);
    let sends = root != Root::Elsewhere && root != Root::Here;
    let send = if sends { scene.sent(sendbuf, sendcount, sendtype, here)? } else { None };
    if !here {
        algorithm::gather(scene.schedule, ranks, root, send, |_| unreachable!("only the root receives"));
        return Ok(());
    }
    let receive = scene.elements(recvbuf, recvcount, recvtype, ["recvbuf", "recvcount"])?;
    if let Some(send) = &send {
        apart(send, &receive.block(ranks.own))?;
    }
    algorithm::gather(scene.schedule, ranks, root, send, |rank| receive.block(rank));
    Ok(())
}

/// Blocks of one datatype in a buffer of a name, each with its count and its displacement in elements.
pub(super) fn blocks<'a, 'call>(
    scene: &Scene<'a>,
    (buffer, name): (*const c_void, &str),
    (counts, displacements): (Row<'call>, Row<'call>),
    datatype: abi::Datatype,
) -> Result<impl Fn(usize) -> Elements<'a> + use<'a, 'call>, Failure> {
    let counts = counts.counts()?;
    let datatype = scene.state.committed_datatype(datatype)?;
    let some = (0..counts.len()).any(|index| counts.at(index) > 0);
    present(buffer, usize::from(some), datatype, name)?;
    let whole = Elements { address: buffer.cast_mut().cast(), count: 0, datatype };
    Ok(move |rank| {
        let address = whole.address.wrapping_offset(displacements.at(rank) as isize * datatype.extent);
        Elements { address, count: counts.at(rank) as usize, datatype }
    })
}

/// Blocks each of its own datatype, with its count and its displacement in bytes.
pub(super) fn typed_blocks<'a, 'call>(
    scene: &Scene<'a>,
    (buffer, name): (*const c_void, &str),
    (counts, displacements): (Row<'call>, Row<'call>),
    datatypes: In<'call, [abi::Datatype]>,
) -> Result<impl Fn(usize) -> Elements<'a> + use<'a, 'call>, Failure> {
    let counts = counts.counts()?;
    let state = scene.state;
    let address = move |index| buffer.cast::<u8>().wrapping_offset(displacements.at(index) as isize);
    for index in 0..counts.len() {
        // A block of no element needs no datatype that may be used: programs pass MPI_DATATYPE_NULL there.
        if counts.at(index) > 0 {
            let found = state.committed_datatype(datatypes.get(index))?;
            // The buffer may be MPI_BOTTOM, and the displacements absolute addresses.
            let start = if is_in_place(buffer) { buffer } else { address(index).cast() };
            present(start, counts.at(index) as usize, found, name)?;
        }
    }
    let nothing = scene.nothing();
    Ok(move |index| {
        let count = counts.at(index) as usize;
        match state.datatype(datatypes.get(index)) {
            Some(datatype) if count > 0 => Elements { address: address(index).cast_mut(), count, datatype },
            _ => nothing,
        }
    })
}

/// `MPI_Gatherv`
pub(super) fn gatherv(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcounts: Numbers<'_>,
    displs: Numbers<'_>,
    recvtype: abi::Datatype,
    root: c_int,
) -> Result<(), Failure> {
    let (ranks, root) = (scene.ranks(), scene.root(root)?);
    let here = root.is_here(ranks);
    let sends = root != Root::Elsewhere && root != Root::Here;
    let send = if sends { scene.sent(sendbuf, sendcount, sendtype, here)? } else { None };
    if !here {
        algorithm::gather(scene.schedule, ranks, root, send, |_| unreachable!("only the root receives"));
        return Ok(());
    }
    let block = blocks(
        scene,
        (recvbuf, "recvbuf"),
        (scene.for_peers(recvcounts)?, scene.for_peers(displs)?),
        recvtype,
    )?;
    if let Some(send) = &send {
        apart(send, &block(ranks.own))?;
    }
    algorithm::gather(scene.schedule, ranks, root, send, block);
    Ok(())
}

/// What a rank of a scatter receives: nothing when it is `MPI_IN_PLACE`, which the root may pass.
fn received<'a>(
    scene: &Scene<'a>,
    recvbuf: *const c_void,
    recvcount: i64,
    recvtype: abi::Datatype,
    here: bool,
) -> Result<Option<Elements<'a>>, Failure> {
    if is_in_place(recvbuf) {
        return if here { Ok(None) } else { Err(not_in_place("recvbuf")) };
    }
    scene.elements(recvbuf, recvcount, recvtype, ["recvbuf", "recvcount"]).map(Some)
}

/// `MPI_Scatter`
pub(super) fn scatter(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcount: i64,
    recvtype: abi::Datatype,
    root: c_int,
) -> Result<(), Failure> {
    let (ranks, root) = (scene.ranks(), scene.root(root)?);
    let here = root.is_here(ranks);
    let receives = root != Root::Elsewhere && root != Root::Here;
    let receive = if receives { received(scene, recvbuf, recvcount, recvtype, here)? } else { None };
    if !here {
        algorithm::scatter(scene.schedule, ranks, root, |_| unreachable!("only the root sends"), receive);
        return Ok(());
    }
    let send = scene.elements(sendbuf, sendcount, sendtype, ["sendbuf", "sendcount"])?;
    if let Some(receive) = &receive {
        apart(&send.block(ranks.own), receive)?;
    }
    algorithm::scatter(scene.schedule, ranks, root, |rank| send.block(rank), receive);
    Ok(())
}

/// `MPI_Scatterv`
pub(super) fn scatterv(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcounts: Numbers<'_>,
    displs: Numbers<'_>,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcount: i64,
    recvtype: abi::Datatype,
    root: c_int,
) -> Result<(), Failure> {
    let (ranks, root) = (scene.ranks(), scene.root(root)?);
    let here = root.is_here(ranks);
    let receives = root != Root::Elsewhere && root != Root::Here;
    let receive = if receives { received(scene, recvbuf, recvcount, recvtype, here)? } else { None };
    if !here {
        algorithm::scatter(scene.schedule, ranks, root, |_| unreachable!("only the root sends"), receive);
        return Ok(());
    }
    let block = blocks(
        scene,
        (sendbuf, "sendbuf"),
        (scene.for_peers(sendcounts)?, scene.for_peers(displs)?),
        sendtype,
    )?;
    if let Some(receive) = &receive {
        apart(&block(ranks.own), receive)?;
    }
    algorithm::scatter(scene.schedule, ranks, root, block, receive);
    Ok(())
}

/// `MPI_Allgather`
pub(super) fn allgather(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcount: i64,
    recvtype: abi::Datatype,
) -> Result<(), Failure> {
    let ranks = scene.ranks();
    let send = scene.sent(sendbuf, sendcount, sendtype, !ranks.between_groups)?;
    let receive = scene.elements(recvbuf, recvcount, recvtype, ["recvbuf", "recvcount"])?;
    if let (Some(send), false) = (&send, ranks.between_groups) {
        apart(send, &receive.block(ranks.own))?;
    }
    let byte = scene.byte();
    algorithm::allgather(scene.schedule, ranks, send, |rank| receive.block(rank), Some(byte));
    Ok(())
}

/// `MPI_Allgatherv`
pub(super) fn allgatherv(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcounts: Numbers<'_>,
    displs: Numbers<'_>,
    recvtype: abi::Datatype,
) -> Result<(), Failure> {
    let ranks = scene.ranks();
    let send = scene.sent(sendbuf, sendcount, sendtype, !ranks.between_groups)?;
    let block = blocks(
        scene,
        (recvbuf, "recvbuf"),
        (scene.for_peers(recvcounts)?, scene.for_peers(displs)?),
        recvtype,
    )?;
    if let (Some(send), false) = (&send, ranks.between_groups) {
        apart(send, &block(ranks.own))?;
    }
    algorithm::allgather(scene.schedule, ranks, send, block, None);
    Ok(())
}

/// That nothing is in place between groups.
fn in_place_within(scene: &Scene, sendbuf: *const c_void) -> Result<bool, Failure> {
    match (is_in_place(sendbuf), scene.comm.remote.is_some()) {
        (true, true) => Err(not_in_place("sendbuf")),
        (in_place, _) => Ok(in_place),
    }
}

/// `MPI_Alltoall`
pub(super) fn alltoall(
    scene: &mut Scene,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: abi::Datatype,
    recvbuf: *const c_void,
    recvcount: i64,
    recvtype: abi::Datatype,
) -> Result<(), Failure> {
    let ranks = scene.ranks();
    let send = scene.sent(sendbuf, sendcount, sendtype, !ranks.between_groups)?;
    let receive = scene.elements(recvbuf, recvcount, recvtype, ["recvbuf", "recvcount"])?;
    if let (Some(send), false) = (&send, ranks.between_groups) {
        apart(&send.block(ranks.own), &receive.block(ranks.own))?;
    }
    let byte = scene.byte();
    let send = send.map(|send| move |rank| send.block(rank));
    algorithm::alltoall(scene.schedule, ranks, send, |rank| receive.block(rank), Some(byte));
    Ok(())
}

/// `MPI_Alltoallv`
pub(super) fn alltoallv(
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
    let ranks = scene.ranks();
    let receive = blocks(
        scene,
        (recvbuf, "recvbuf"),
        (scene.for_peers(recvcounts)?, scene.for_peers(rdispls)?),
        recvtype,
    )?;
    let send = if in_place_within(scene, sendbuf)? {
        None
    } else {
        let row = (scene.for_peers(sendcounts)?, scene.for_peers(sdispls)?);
        let send = blocks(scene, (sendbuf, "sendbuf"), row, sendtype)?;
        if !ranks.between_groups {
            apart(&send(ranks.own), &receive(ranks.own))?;
        }
        Some(send)
    };
    algorithm::alltoall(scene.schedule, ranks, send, receive, None);
    Ok(())
}

/// `MPI_Alltoallw`
pub(super) fn alltoallw(
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
    let ranks = scene.ranks();
    let row = (scene.for_peers(recvcounts)?, scene.for_peers(rdispls)?);
    let receive = typed_blocks(scene, (recvbuf, "recvbuf"), row, scene.for_peers(recvtypes)?)?;
    let send = if in_place_within(scene, sendbuf)? {
        None
    } else {
        let row = (scene.for_peers(sendcounts)?, scene.for_peers(sdispls)?);
        let send = typed_blocks(scene, (sendbuf, "sendbuf"), row, scene.for_peers(sendtypes)?)?;
        if !ranks.between_groups {
            apart(&send(ranks.own), &receive(ranks.own))?;
        }
        Some(send)
    };
    algorithm::alltoall(scene.schedule, ranks, send, receive, None);
    Ok(())
}

/// Operand and result of a reduction that every rank gets a result of: the same place when in place.
fn operand_and_result<'a>(
    scene: &mut Scene<'a>,
    sendbuf: *const c_void,
    recvbuf: *const c_void,
    count: i64,
    datatype: abi::Datatype,
    op: abi::Op,
) -> Result<(Elements<'a>, Elements<'a>), Failure> {
    let result = scene.elements(recvbuf, count, datatype, ["recvbuf", "count"])?;
    scene.reduction(op, datatype)?;
    if in_place_within(scene, sendbuf)? {
        return Ok((result, result));
    }
    let operand = scene.elements(sendbuf, count, datatype, ["sendbuf", "count"])?;
    apart(&operand, &result)?;
    Ok((operand, result))
}

/// `MPI_Reduce`
pub(super) fn reduce(
    scene: &mut Scene,
    sendbuf: *const c_void,
    recvbuf: *const c_void,
    count: i64,
    datatype: abi::Datatype,
    op: abi::Op,
    root: c_int,
) -> Result<(), Failure> {
    let (ranks, root) = (scene.ranks(), scene.root(root)?);
    if root == Root::Elsewhere {
        return Ok(());
    }
    let (operand, result) = if root == Root::Here {
        let result = scene.elements(recvbuf, count, datatype, ["recvbuf", "count"])?;
        scene.reduction(op, datatype)?;
        (result, Some(result))
    } else if root.is_here(ranks) {
        let (operand, result) = operand_and_result(scene, sendbuf, recvbuf, count, datatype, op)?;
        (operand, Some(result))
    } else {
        scene.reduction(op, datatype)?;
        (scene.elements(sendbuf, count, datatype, ["sendbuf", "count"])?, None)
    };
    algorithm::reduce(scene.schedule, ranks, root, operand, result);
    Ok(())
}

/// `MPI_Allreduce`
pub(super) fn allreduce(
    scene: &mut Scene,
    sendbuf: *const c_void,
    recvbuf: *const c_void,
    count: i64,
    datatype: abi::Datatype,
    op: abi::Op,
) -> Result<(), Failure> {
    let ranks = scene.ranks();
    let (operand, result) = operand_and_result(scene, sendbuf, recvbuf, count, datatype, op)?;
    algorithm::allreduce(scene.schedule, ranks, operand, result, scene.byte());
    Ok(())
}

/// Operand and result of a reduction of which every rank gets a block, given the elements of all blocks and of this
/// rank's.
fn operand_and_block<'a>(
    scene: &mut Scene<'a>,
    sendbuf: *const c_void,
    recvbuf: *const c_void,
    counts: [i64; 2],
    datatype: abi::Datatype,
    op: abi::Op,
) -> Result<(Elements<'a>, Elements<'a>), Failure> {
    let [all, own] = counts;
    let in_place = in_place_within(scene, sendbuf)?;
    let held = if in_place { all } else { own };
    let result = scene.elements(recvbuf, held, datatype, ["recvbuf", "recvcount"])?;
    scene.reduction(op, datatype)?;
    if in_place {
        return Ok((result, result.part(0, own as usize)));
    }
    let operand = scene.elements(sendbuf, all, datatype, ["sendbuf", "recvcount"])?;
    apart(&operand, &result)?;
    Ok((operand, result))
}

/// `MPI_Reduce_scatter_block`
pub(super) fn reduce_scatter_block(
    scene: &mut Scene,
    sendbuf: *const c_void,
    recvbuf: *const c_void,
    recvcount: i64,
    datatype: abi::Datatype,
    op: abi::Op,
) -> Result<(), Failure> {
    let ranks = scene.ranks();
    let each = check::count(recvcount, "recvcount")?;
    let all = recvcount * scene.comm.size() as i64;
    let (operand, result) = operand_and_block(scene, sendbuf, recvbuf, [all, recvcount], datatype, op)?;
    algorithm::reduce_scatter(scene.schedule, ranks, operand, |rank| (rank * each, each), result);
    Ok(())
}

/// `MPI_Reduce_scatter`
pub(super) fn reduce_scatter(
    scene: &mut Scene,
    sendbuf: *const c_void,
    recvbuf: *const c_void,
    recvcounts: Numbers<'_>,
    datatype: abi::Datatype,
    op: abi::Op,
) -> Result<(), Failure> {
    let ranks = scene.ranks();
    let counts = scene.for_group(recvcounts)?.counts()?;
    let before = |rank: usize| (0..rank).map(|rank| counts.at(rank)).sum::<i64>();
    let (all, own) = (before(scene.comm.size()), counts.at(ranks.own));
    let (operand, result) = operand_and_block(scene, sendbuf, recvbuf, [all, own], datatype, op)?;
    let block = |rank| (before(rank) as usize, counts.at(rank) as usize);
    algorithm::reduce_scatter(scene.schedule, ranks, operand, block, result);
    Ok(())
}

/// `MPI_Scan`
pub(super) fn scan(
    scene: &mut Scene,
    sendbuf: *const c_void,
    recvbuf: *const c_void,
    count: i64,
    datatype: abi::Datatype,
    op: abi::Op,
) -> Result<(), Failure> {
    scene.within_group()?;
    let ranks = scene.ranks();
    let (operand, result) = operand_and_result(scene, sendbuf, recvbuf, count, datatype, op)?;
    algorithm::scan(scene.schedule, ranks, operand, result);
    Ok(())
}

/// `MPI_Exscan`
pub(super) fn exscan(
    scene: &mut Scene,
    sendbuf: *const c_void,
    recvbuf: *const c_void,
    count: i64,
    datatype: abi::Datatype,
    op: abi::Op,
) -> Result<(), Failure> {
    scene.within_group()?;
    let ranks = scene.ranks();
    // The result of rank 0 is not significant: it may be a null pointer.
    let recvbuf = if ranks.own == 0 && !is_in_place(sendbuf) { sendbuf } else { recvbuf };
    let result = scene.elements(recvbuf, count, datatype, ["recvbuf", "count"])?;
    scene.reduction(op, datatype)?;
    let operand = if is_in_place(sendbuf) {
        result
    } else {
        let operand = scene.elements(sendbuf, count, datatype, ["sendbuf", "count"])?;
        if ranks.own != 0 {
            apart(&operand, &result)?;
        }
        operand
    };
    algorithm::exscan(scene.schedule, ranks, operand, result);
    Ok(())
}
