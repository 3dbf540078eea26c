//! Gather of ranks that share cpus: each fills slots with its block, and goes on; the root takes all of them. Or each
//! sends its block as a message, where the root has found that this takes less.

use super::{Call, Incoming, crowded, looked};
use crate::abi;
use crate::check::Failure;
use crate::coll::algorithm::Root;
use crate::coll::arguments::{apart, is_in_place};
use crate::coll::blocks::{Blocks, PlacedBlocks};
use crate::coll::offers;
use crate::comm::Comm;
use crate::datatype::MessageData;
use crate::runtime;
use std::ffi::c_int;
use std::sync::Arc;
use transport::slots::SLOT_BYTES;
use transport::{BesideOwn, Buffer, DataUse, SentBeside, TransferId};

/// This rank's data, unless it is in place, and at the root the blocks of all ranks.
struct Gathering {
    own: Option<Buffer>,
    blocks: Option<Vec<Buffer>>,
    root: usize,
    bytes: usize,
}

/// `MPI_Gather`; false: not done.
///
/// # Errors
/// As `MPI_Gather`.
pub(in crate::coll) fn gather(
    send: MessageData,
    receive: Blocks<'_>,
    root: c_int,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    let Blocks::Even(block) = receive else { return Ok(false) };
    let found = looked(if is_in_place(send.address) { block } else { send }, comm, |scene| {
        let ranks = scene.ranks();
        let Root::Rank(root) = scene.root(root)? else { return Ok(None) };
        let is_root = root == ranks.own;
        let own = scene.unless_in_place(send, is_root)?;
        let blocks = is_root.then(|| scene.blocks(receive)).transpose()?;
        if let (Some(own), Some(blocks)) = (&own, &blocks) {
            apart(own, &blocks.at(root))?;
        }
        let bytes = blocks
            .as_ref()
            .map_or_else(|| own.map_or(0, |own| own.bytes()), |blocks| blocks.at(root).bytes());
        let buffers = |blocks: PlacedBlocks| (0..ranks.count).map(|rank| blocks.at(rank).buffer()).collect();
        Ok((bytes > offers::gathered_above(&scene.state.engine)).then(|| Gathering {
            own: own.map(|own| own.buffer()),
            blocks: blocks.map(buffers),
            root,
            bytes,
        }))
    })?;
    let Some(gathering) = found else { return Ok(false) };
    let Some(crowd) = crowded(comm)? else { return Ok(false) };
    gathering.carry_out(crowd)
}

impl Gathering {
    /// False: this rank sends its data as a message.
    fn carry_out(&self, comm: Arc<Comm>) -> Result<bool, Failure> {
        let root = comm.group.members[self.root] as usize;
        let tag = Call::tag_of_next(&comm);
        let mut state = runtime::enter();
        let through_slots = state.engine.gathers_through_slots(self.bytes, root, tag);
        drop(state);
        match (&self.blocks, &self.own) {
            (Some(blocks), own) => self.take(&Call::next(comm), own.as_ref(), blocks).map(|()| true),
            (None, Some(own)) if through_slots => {
                self.give(&Call::next(comm), own);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Passes this rank's data to the root.
    fn give(&self, call: &Call, own: &Buffer) {
        let size = (self.bytes, self.bytes.div_ceil(SLOT_BYTES));
        let filling = call.fill([self.root].into_iter(), size, [DataUse::Copies; 2], false);
        for from in (0..self.bytes).step_by(SLOT_BYTES) {
            let slot = filling.slot();
            // SAFETY: the slot that is free.
            unsafe { runtime::enter().engine.fill_slot(slot, own, from) };
            filling.filled(&filling.readers);
        }
    }

    /// Takes all blocks: as they come as messages, and of the others as many pieces of each in turn as a rank has
    /// slots.
    fn take(&self, call: &Call, own: Option<&Buffer>, blocks: &[Buffer]) -> Result<(), Failure> {
        let others = || (0..blocks.len()).filter(|&rank| rank != self.root);
        let mut state = runtime::enter();
        let receives: Vec<TransferId> =
            others().map(|rank| call.expect(&mut state.engine, rank, &blocks[rank])).collect();
        if let Some(own) = own {
            let beside = BesideOwn { sent: SentBeside::Nothing, ranks: blocks.len() };
            // SAFETY: the program's buffers, which are apart.
            unsafe { state.engine.copy_own(own, &blocks[self.root], beside) };
        }
        drop(state);
        let mut incoming = Incoming::new(call, self.bytes);
        for (rank, id) in others().zip(receives) {
            if let Some(heard) = call.heard(rank, id, &blocks[rank]) {
                incoming.add(rank, heard);
            }
        }
        let (through_slots, as_messages) = incoming.kinds();
        let mut state = runtime::enter();
        state.engine.begin_to_gather(self.bytes, blocks.len(), through_slots, as_messages);
        let room = state.engine.slots() * SLOT_BYTES;
        drop(state);
        (0..self.bytes).step_by(room).for_each(|from| incoming.take(from..from + room, blocks));
        incoming.end()
    }
}
