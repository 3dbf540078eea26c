//! Builders: from the arguments of a C function, checked, to the schedule of the collective.

use super::algorithm::{self, Root};
use super::arguments::{Numbers, Scene, apart, is_in_place, not_in_place};
use super::blocks::{Blocks, PlacedBlocks};
use crate::abi;
use crate::check::{self, Failure};
use crate::datatype::MessageData;
use crate::datatype::elements::Elements;
use std::ffi::{c_int, c_void};

/// `MPI_Barrier`
pub(super) fn barrier(scene: &mut Scene) -> Result<(), Failure> {
    let (ranks, nothing) = (scene.ranks(), scene.nothing());
    algorithm::barrier(scene.schedule, ranks, nothing);
    Ok(())
}

/// `MPI_Bcast`
pub(super) fn bcast(scene: &mut Scene, data: MessageData, root: c_int) -> Result<(), Failure> {
    let (ranks, root) = (scene.ranks(), scene.root(root)?);
    if root == Root::Elsewhere {
        return Ok(());
    }
    let data = scene.elements(data)?;
    algorithm::bcast(scene.schedule, ranks, root, data, scene.byte());
    Ok(())
}

/// `MPI_Gather` and `MPI_Gatherv`
pub(super) fn gather(
    scene: &mut Scene,
    send: MessageData,
    receive: Blocks<'_>,
    root: c_int,
) -> Result<(), Failure> {
    let (ranks, root) = (scene.ranks(), scene.root(root)?);
    let here = root.is_here(ranks);
    let sends = root != Root::Elsewhere && root != Root::Here;
    let send = if sends { scene.unless_in_place(send, here)? } else { None };
    if !here {
        algorithm::gather(scene.schedule, ranks, root, send, |_| unreachable!("only the root receives"));
        return Ok(());
    }
    let receive = scene.blocks(receive)?;
    if let Some(send) = &send {
        apart(send, &receive.at(ranks.own))?;
    }
    algorithm::gather(scene.schedule, ranks, root, send, |rank| receive.at(rank));
    Ok(())
}

/// `MPI_Scatter` and `MPI_Scatterv`
pub(super) fn scatter(
    scene: &mut Scene,
    send: Blocks<'_>,
    receive: MessageData,
    root: c_int,
) -> Result<(), Failure> {
    let (ranks, root) = (scene.ranks(), scene.root(root)?);
    let here = root.is_here(ranks);
    let receives = root != Root::Elsewhere && root != Root::Here;
    let receive = if receives { scene.unless_in_place(receive, here)? } else { None };
    if !here {
        algorithm::scatter(scene.schedule, ranks, root, |_| unreachable!("only the root sends"), receive);
        return Ok(());
    }
    let send = scene.blocks(send)?;
    if let Some(receive) = &receive {
        apart(&send.at(ranks.own), receive)?;
    }
    algorithm::scatter(scene.schedule, ranks, root, |rank| send.at(rank), receive);
    Ok(())
}

/// This rank's data, unless it is in place, and the blocks of all ranks, which it is apart from.
pub(super) fn own_and_blocks<'a, 'call>(
    scene: &mut Scene<'a>,
    send: MessageData,
    receive: Blocks<'call>,
) -> Result<(Option<Elements<'a>>, PlacedBlocks<'a, 'call>), Failure> {
    let ranks = scene.ranks();
    let send = scene.unless_in_place(send, !ranks.between_groups)?;
    let receive = scene.blocks(receive)?;
    if let (Some(send), false) = (&send, ranks.between_groups) {
        apart(send, &receive.at(ranks.own))?;
    }
    Ok((send, receive))
}

/// `MPI_Allgather` and `MPI_Allgatherv`
pub(super) fn allgather(scene: &mut Scene, send: MessageData, receive: Blocks<'_>) -> Result<(), Failure> {
    let ranks = scene.ranks();
    let (send, receive) = own_and_blocks(scene, send, receive)?;
    let even = receive.are_even().then(|| scene.byte());
    algorithm::allgather(scene.schedule, ranks, send, |rank| receive.at(rank), even);
    Ok(())
}

/// That nothing is in place between groups.
fn in_place_within(scene: &Scene, sendbuf: *const c_void) -> Result<bool, Failure> {
    match (is_in_place(sendbuf), scene.comm.remote.is_some()) {
        (true, true) => Err(not_in_place("sendbuf")),
        (in_place, _) => Ok(in_place),
    }
}

/// `MPI_Alltoall`, `MPI_Alltoallv` and `MPI_Alltoallw`
pub(super) fn alltoall(scene: &mut Scene, send: Blocks<'_>, receive: Blocks<'_>) -> Result<(), Failure> {
    let ranks = scene.ranks();
    let receive = scene.blocks(receive)?;
    let send = if in_place_within(scene, send.address())? {
        None
    } else {
        let send = scene.blocks(send)?;
        if !ranks.between_groups {
            apart(&send.at(ranks.own), &receive.at(ranks.own))?;
        }
        Some(move |rank| send.at(rank))
    };
    let even = receive.are_even().then(|| scene.byte());
    let (engine, members) = (&scene.state.engine, &scene.comm.peers().members);
    let is_near = |rank: usize| ranks.crowded && engine.shares_cpu_with(members[rank] as usize);
    algorithm::alltoall(scene.schedule, ranks, send, |rank| receive.at(rank), even, is_near);
    Ok(())
}

/// Operand and result of a reduction that every rank gets a result of: the same place when in place.
pub(super) fn operand_and_result<'a>(
    scene: &mut Scene<'a>,
    (operand, result): (MessageData, MessageData),
    op: abi::Op,
) -> Result<(Elements<'a>, Elements<'a>), Failure> {
    let result_elements = scene.elements(result)?;
    scene.reduction(op, result.datatype)?;
    if in_place_within(scene, operand.address)? {
        return Ok((result_elements, result_elements));
    }
    let operand = scene.elements(operand)?;
    apart(&operand, &result_elements)?;
    Ok((operand, result_elements))
}

/// The root of a reduction to one rank, this rank's operand, and at the root the result. Nothing: this rank has nothing
/// to do.
pub(super) fn operand_and_root_result<'a>(
    scene: &mut Scene<'a>,
    (operand, result): (MessageData, MessageData),
    op: abi::Op,
    root: c_int,
) -> Result<Option<(Root, Elements<'a>, Option<Elements<'a>>)>, Failure> {
    let (ranks, root) = (scene.ranks(), scene.root(root)?);
    if root == Root::Elsewhere {
        return Ok(None);
    }
    let (operand, result) = if root == Root::Here {
        let elements = scene.elements(result)?;
        scene.reduction(op, result.datatype)?;
        (elements, Some(elements))
    } else if root.is_here(ranks) {
        let (operand, result) = operand_and_result(scene, (operand, result), op)?;
        (operand, Some(result))
    } else {
        scene.reduction(op, operand.datatype)?;
        (scene.elements(operand)?, None)
    };
    Ok(Some((root, operand, result)))
}

/// `MPI_Reduce`
pub(super) fn reduce(
    scene: &mut Scene,
    both: (MessageData, MessageData),
    op: abi::Op,
    root: c_int,
) -> Result<(), Failure> {
    if let Some((root, operand, result)) = operand_and_root_result(scene, both, op, root)? {
        let ranks = scene.ranks();
        algorithm::reduce(scene.schedule, ranks, root, operand, result);
    }
    Ok(())
}

/// `MPI_Allreduce`
pub(super) fn allreduce(
    scene: &mut Scene,
    both: (MessageData, MessageData),
    op: abi::Op,
) -> Result<(), Failure> {
    let ranks = scene.ranks();
    let (operand, result) = operand_and_result(scene, both, op)?;
    algorithm::allreduce(scene.schedule, ranks, operand, result, scene.byte());
    Ok(())
}

/// Operand and result of a reduction of which every rank gets a block, given the elements of all blocks as the operand
/// and this rank's as the result.
fn operand_and_block<'a>(
    scene: &mut Scene<'a>,
    (operand, result): (MessageData, MessageData),
    op: abi::Op,
) -> Result<(Elements<'a>, Elements<'a>), Failure> {
    let in_place = in_place_within(scene, operand.address)?;
    let held = if in_place { operand.count } else { result.count };
    let elements = scene.elements(MessageData { count: held, ..result })?;
    scene.reduction(op, result.datatype)?;
    if in_place {
        return Ok((elements, elements.part(0, result.count as usize)));
    }
    let operand = scene.elements(operand)?;
    apart(&operand, &elements)?;
    Ok((operand, elements))
}

/// `MPI_Reduce_scatter_block`
pub(super) fn reduce_scatter_block(
    scene: &mut Scene,
    (operand, result): (MessageData, MessageData),
    op: abi::Op,
) -> Result<(), Failure> {
    let ranks = scene.ranks();
    let each = check::count(result.count, "recvcount")?;
    let operand = MessageData { count: result.count * scene.comm.size() as i64, ..operand };
    let (operand, result) = operand_and_block(scene, (operand, result), op)?;
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
    let operand = MessageData { address: sendbuf, count: all, datatype, names: &["sendbuf", "recvcount"] };
    let result = MessageData { address: recvbuf, count: own, datatype, names: &["recvbuf", "recvcount"] };
    let (operand, result) = operand_and_block(scene, (operand, result), op)?;
    let block = |rank| (before(rank) as usize, counts.at(rank) as usize);
    algorithm::reduce_scatter(scene.schedule, ranks, operand, block, result);
    Ok(())
}

/// `MPI_Scan`
pub(super) fn scan(scene: &mut Scene, both: (MessageData, MessageData), op: abi::Op) -> Result<(), Failure> {
    scene.within_group()?;
    let ranks = scene.ranks();
    let (operand, result) = operand_and_result(scene, both, op)?;
    algorithm::scan(scene.schedule, ranks, operand, result);
    Ok(())
}

/// `MPI_Exscan`
pub(super) fn exscan(
    scene: &mut Scene,
    (operand, mut result): (MessageData, MessageData),
    op: abi::Op,
) -> Result<(), Failure> {
    scene.within_group()?;
    let ranks = scene.ranks();
    // The result of rank 0 is not significant: it may be a null pointer.
    if ranks.own == 0 && !is_in_place(operand.address) {
        result.address = operand.address;
    }
    let elements = scene.elements(result)?;
    scene.reduction(op, result.datatype)?;
    let operand = if is_in_place(operand.address) {
        elements
    } else {
        let operand = scene.elements(operand)?;
        if ranks.own != 0 {
            apart(&operand, &elements)?;
        }
        operand
    };
    algorithm::exscan(scene.schedule, ranks, operand, elements);
    Ok(())
}
