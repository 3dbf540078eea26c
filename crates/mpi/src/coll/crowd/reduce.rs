//! Reductions of ranks that share cpus: what one rank reduces, and the chain of a reduce.

use super::{Call, Filling, Taking, crowded, looked, sharing};
use crate::abi;
use crate::check::Failure;
use crate::coll::algorithm::SMALL;
use crate::coll::build;
use crate::comm::sharing::CpuSharing;
use crate::datatype::MessageData;
use crate::datatype::elements::Elements;
use crate::op::{ElementType, Predefined, Reducer, kernel};
use crate::runtime;
use std::ffi::c_int;
use transport::slots::SLOT_BYTES;
use transport::{DataUse, copy_past_unfenced, fence_past};

/// Bytes that are reduced near the cpu before they go past its caches: they stay in its first cache.
const STEP: usize = 4096;

/// Where what a rank has reduced goes: to a slot that is free, or to the root's result.
pub(super) enum Room<'a> {
    Slot(&'a Filling, *mut u8),
    Result(*mut u8),
}

/// What one rank reduces.
pub(super) struct Reducing {
    kernel: Reducer,
    /// Bytes of an element.
    pub element: usize,
    operand: *const u8,
    /// Of the root; it may be the operand.
    result: Option<*mut u8>,
    pub bytes: usize,
}

impl Reducing {
    /// Nothing: these operands are for messages.
    pub(super) fn of(op: abi::Op, operand: Elements, result: Option<Elements>) -> Option<Self> {
        let element_type = operand.datatype.predefined.and_then(ElementType::of)?;
        let kernel = kernel(Predefined::of(op)?, element_type)?;
        let (element, bytes) = (operand.datatype.size, operand.bytes());
        // Pieces end between elements, which have no room between their parts.
        let fits = operand.datatype.contiguous && SLOT_BYTES.is_multiple_of(element);
        let result = result.map(|result| result.address);
        (fits && bytes > SMALL).then_some(Self { kernel, element, operand: operand.address, result, bytes })
    }

    /// Does this rank's part of the chain that ends at the root.
    fn chain(&self, call: &Call, sharing: &CpuSharing, root: usize) -> Result<(), Failure> {
        let [before, next] = sharing.neighbours(call.comm.rank, root);
        let size = (self.bytes, self.bytes.div_ceil(SLOT_BYTES));
        let filling = next.map(|next| call.fill([next].into_iter(), size, [DataUse::Reduces; 2], false));
        // What the next one was told of is filled in any case.
        let (taking, heard) = match before.map(|before| call.hear(before, self.bytes)).transpose() {
            Ok(taking) => (taking, Ok(())),
            Err(failure) => (None, Err(failure)),
        };
        let sent = taking.as_ref().map_or(0, |taking| taking.bytes());
        for (index, at) in (0..self.bytes.max(sent)).step_by(SLOT_BYTES).enumerate() {
            let bytes_of = |whole: usize| whole.saturating_sub(at).min(SLOT_BYTES);
            let (own, other) = (bytes_of(self.bytes), bytes_of(sent));
            let from = taking.as_ref().filter(|_| other > 0).map(|taking| taking.slot(index));
            if own > 0 {
                let into = match (&filling, self.result) {
                    (Some(filling), _) => Room::Slot(filling, filling.slot()),
                    (None, Some(result)) => Room::Result(result.wrapping_add(at)),
                    (None, None) => unreachable!("the chain ends at the root"),
                };
                let from = taking.as_ref().zip(from).map(|(taking, from)| (taking, from, other));
                self.reduce(at, from, &into, own);
            }
            if let Some(taking) = taking.as_ref().filter(|_| from.is_some()) {
                taking.took(index);
            }
            if let Some(filling) = filling.as_ref().filter(|_| own > 0) {
                filling.filled(&filling.readers);
            }
        }
        heard?;
        before.map_or(Ok(()), |before| call.complete(before, sent, self.bytes))
    }

    /// Reduces this rank's operand, so many bytes from a byte on, with that of a slot, which may be shorter.
    pub(super) fn reduce(
        &self,
        at: usize,
        other: Option<(&Taking, *const u8, usize)>,
        into: &Room<'_>,
        bytes: usize,
    ) {
        let from = other.map(|(taking, ..)| (taking.from, taking.passage));
        let other = other.map(|(_, slot, bytes)| (slot, bytes));
        let to_slot = matches!(into, Room::Slot(..));
        runtime::enter().engine.reduce_in_slots(from, to_slot, bytes, || match *into {
            Room::Slot(filling, slot) if filling.passage.is_past() => {
                self.reduce_past(at, other, slot, bytes)
            }
            Room::Slot(_, room) | Room::Result(room) => self.reduce_to(at, other, room, bytes),
        });
    }

    /// The same to a slot past this cpu's caches, step by step.
    fn reduce_past(&self, at: usize, other: Option<(*const u8, usize)>, slot: *mut u8, bytes: usize) {
        #[repr(align(64))]
        struct Near([u8; STEP]);
        let mut near = Near([0; STEP]);
        for from in (0..bytes).step_by(STEP) {
            let step = STEP.min(bytes - from);
            let other = other.map(|(slot, bytes)| {
                let from = from.min(bytes);
                (slot.wrapping_add(from), bytes - from)
            });
            self.reduce_to(at + from, other, near.0.as_mut_ptr(), step);
            // SAFETY: what was just reduced, and a part of the slot that is free.
            unsafe { copy_past_unfenced(near.0.as_ptr(), slot.add(from), step) };
        }
        fence_past();
    }

    /// The same to any memory of this rank.
    fn reduce_to(&self, at: usize, other: Option<(*const u8, usize)>, into: *mut u8, bytes: usize) {
        let own = self.operand.wrapping_add(at);
        let (slot, both) = other.map_or((own, 0), |(slot, other)| (slot, other.min(bytes) / self.element));
        let reduced = both * self.element;
        // SAFETY: the program's operand, the slot that holds the other piece, and as much room, of the program's or in
        // the slot that is free; the operand may be that room.
        unsafe {
            (self.kernel)(own, slot, into, both);
            if own.wrapping_add(reduced) != into.wrapping_add(reduced) {
                transport::copy(own.add(reduced), into.add(reduced), bytes - reduced);
            }
        }
    }
}

/// `MPI_Reduce`; false: not done.
///
/// # Errors
/// As `MPI_Reduce`.
pub(in crate::coll) fn reduce(
    both: (MessageData, MessageData),
    op: abi::Op,
    root: c_int,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    let found = looked(both.0, comm, |scene| {
        let Some((_, operand, result)) = build::operand_and_root_result(scene, both, op, root)? else {
            return Ok(None);
        };
        Ok(Reducing::of(op, operand, result))
    })?;
    let Some(reducing) = found else { return Ok(false) };
    let Some(crowd) = crowded(comm)? else { return Ok(false) };
    let sharing = sharing(comm, &crowd)?;
    reducing.chain(&Call::next(crowd), &sharing, root as usize)?;
    Ok(true)
}
