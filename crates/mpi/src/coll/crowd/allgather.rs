//! Allgather of ranks that share cpus: each fills slots with its block, and takes all others' from theirs. As messages,
//! each block would be copied once for each rank.

use super::{Call, Incoming, crowded, looked};
use crate::abi;
use crate::check::Failure;
use crate::coll::algorithm::SMALL;
use crate::coll::blocks::Blocks;
use crate::coll::build;
use crate::datatype::MessageData;
use crate::runtime;
use transport::slots::{SLOT_BYTES, SlotFlow};
use transport::{BesideOwn, Buffer, DataUse, SentBeside};

/// Where fewer ranks share a cpu, blocks go as messages. (Allgather on 2 cpus of a Xeon, us, as messages and through
/// slots: 3 ranks, 16 kB 9.8 and 12.2, 256 kB 157 and 210; 4 ranks, 18.2 and 15.8, 263 and 233; 6 ranks, 45 and 32, 612
/// and 474; 8 ranks, 90 and 64, 1,480 and 800.)
const LEAST_OF_CPU: usize = 2;
/// Where not more do, blocks up to so many bytes go as messages, too. A choice. (4 ranks on 2 cpus of an EPYC, us, as
/// messages and through slots, n = 210 and 40: 4 kB 7.6 and 7.3, 8 kB 8.7 and 9.0, 16 kB 12.3 and 13.0; 10.2 and 13.9,
/// 12.2 and 13.6, 18.5 and 19.0 while a line takes 220 ns. 6 ranks, n = 40: 4 kB 19.6 and 16.1, 8 kB 22.6 and 19.1.)
const MOST_OF_FEW: usize = 8 * 1024;

/// This rank's data, unless it is in place, and the blocks of all ranks.
struct Gathering {
    own: Option<Buffer>,
    blocks: Vec<Buffer>,
}

/// `MPI_Allgather`; false: not done.
///
/// # Errors
/// As `MPI_Allgather`.
pub(in crate::coll) fn allgather(
    send: MessageData,
    receive: Blocks<'_>,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    let Blocks::Even(block) = receive else { return Ok(false) };
    let found = looked(block, comm, |scene| {
        let (ranks, cpus) = (scene.ranks(), scene.state.engine.segment().header().cpus as usize);
        if ranks.between_groups || ranks.count < LEAST_OF_CPU * cpus {
            return Ok(None);
        }
        let (own, blocks) = build::own_and_blocks(scene, send, receive)?;
        let bytes = blocks.at(ranks.own).bytes();
        let most = if ranks.count <= LEAST_OF_CPU * cpus { MOST_OF_FEW } else { SMALL };
        Ok((bytes > most).then(|| Gathering {
            own: own.map(|own| own.buffer()),
            blocks: (0..ranks.count).map(|rank| blocks.at(rank).buffer()).collect(),
        }))
    })?;
    let Some(gathering) = found else { return Ok(false) };
    let Some(crowd) = crowded(comm)? else { return Ok(false) };
    gathering.carry_out(&Call::next(crowd))?;
    Ok(true)
}

impl Gathering {
    fn carry_out(&self, call: &Call) -> Result<(), Failure> {
        let ranks = call.comm.size();
        let block = &self.blocks[call.comm.rank];
        let bytes = block.bytes();
        let others = call.others_near_first();
        let size = (bytes, bytes.div_ceil(SLOT_BYTES));
        let filling = call.fill(others.iter().copied(), size, [DataUse::Copies; 2], false);
        // All that lands counts for the caches.
        runtime::enter().engine.begin_to_take(SlotFlow::AmongAll, ranks * bytes, call.member(0));
        let fill = |from: usize| {
            let slot = filling.slot();
            // SAFETY: the slot that is free.
            unsafe { runtime::enter().engine.fill_slot(slot, self.own.as_ref().unwrap_or(block), from) };
            filling.filled(&filling.readers);
        };
        // A block that fits into the slots is all there when who shares this cpu gets its turn. Of a larger one, one
        // half of the slots is taken while the other half is filled: who is behind all others finds what it takes next.
        // (4 ranks on 2 cpus of an EPYC while a line takes 220 ns, us, a piece, two and four at a time: 1 MB 628, 580
        // and 544, 4 MB 2,512, 2,353 and 2,254.)
        let slots = runtime::enter().engine.slots();
        let ahead = SLOT_BYTES * if bytes <= slots * SLOT_BYTES { slots } else { slots / 2 };
        (0..bytes.min(ahead)).step_by(SLOT_BYTES).for_each(fill);
        if let Some(data) = &self.own {
            let beside = BesideOwn { sent: SentBeside::TheSame, ranks };
            // SAFETY: the program's buffers, which are apart.
            unsafe { runtime::enter().engine.copy_own(data, block, beside) };
        }
        let mut incoming = Incoming::new(call, bytes);
        others.into_iter().for_each(|rank| incoming.add(rank, call.hear(rank, bytes)));
        for from in (0..bytes).step_by(ahead) {
            let next = from + ahead;
            incoming.take(from..next, &self.blocks);
            (next..bytes.min(next + ahead)).step_by(SLOT_BYTES).for_each(fill);
        }
        incoming.end()
    }
}
