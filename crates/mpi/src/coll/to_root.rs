//! A large reduce of two ranks: the other rank's operand comes to the root as messages, one behind the other, and the
//! root reduces each piece where it lies. The other rank only sends, and may be ahead of the root.
//!
//! Or the root reads it: see `by_kernel`. Which takes less depends on the kernel and on where the operand lies, so
//! the root's cycles tell.

use super::by_kernel::{self, Operand};
use super::offers;
use super::two_ranks::{TwoRanks, few, memory, operand_and_result, rank_beside};
use crate::abi;
use crate::abi::values::MPI_ERR_INTERN;
use crate::check::{self, Failure};
use crate::datatype::{MessageData, predefined_size};
use crate::op::{Reducer, reducer};
use crate::runtime::Entered;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use transport::ReductionOfTwo::ToRoot;
use transport::{Buffer, Layout, Shape, Span};

/// Bytes of a message: it is sent at once. A choice.
const MESSAGE: usize = 32 * 1024;
/// Elements of at most so many bytes, a power of two, are never cut: messages are cut at multiples of so many bytes
/// from their start or, where that is aligned to its elements, at the ends of lines.
const LARGEST_ELEMENT: usize = 16;

/// `MPI_Reduce` of data that is not small; false: not done.
///
/// # Errors
/// As `MPI_Reduce`.
#[inline(never)]
pub(super) fn reduce(
    (operand, result): (MessageData, MessageData),
    op: abi::Op,
    root: c_int,
    comm: abi::Comm,
) -> Result<bool, Failure> {
    let MessageData { count, datatype, .. } = operand;
    let (Some(kernel), Some(size)) = (reducer(op, datatype), predefined_size(datatype)) else {
        return Ok(false);
    };
    let state = check::running()?;
    if state.engine.segment().is_crowded() {
        // The other rank may need this cpu.
        return Ok(false);
    }
    let Some(own) = rank_beside(&state, root, comm) else { return Ok(false) };
    let bytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(size));
    let (Some(bytes), true) = (bytes, size.is_power_of_two() && size <= LARGEST_ELEMENT) else {
        return Ok(false);
    };
    let places = if own == root as usize {
        operand_and_result((operand, result), size).map(|(operand, result)| (operand, Some(result)))
    } else {
        memory(operand).map(|operand| (operand, None))
    };
    let Some((operand, result)) = places else { return Ok(false) };
    let Some(Some(pair)) = few(&state, comm) else { return Ok(false) };
    let operand = Operand { data: operand, bytes, size, kernel, is_first: result.is_none() };
    match result {
        Some(result) => receive(state, &pair, &operand, result)?,
        None => give(state, &pair, &operand)?,
    }
    Ok(true)
}

/// Gives an operand to the root.
///
/// # Errors
/// It was offered, and could be read only in part.
fn give(mut state: Entered, pair: &TwoRanks, operand: &Operand) -> Result<(), Failure> {
    if offers::is_unseen(&state.engine)
        && state.engine.operand_is_read(ToRoot, pair.other.member, operand.bytes)
    {
        let was_read;
        // SAFETY: the caller's operand, which it lends until this returns.
        (state, was_read) = unsafe { by_kernel::offer(state, pair, operand) }?;
        if was_read {
            return Ok(());
        }
        state.engine.could_not_be_copied(operand.bytes);
    }
    send(state, pair, operand);
    Ok(())
}

/// From which byte on each message is, and its bytes.
fn messages(bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bytes).step_by(MESSAGE).map(move |start| (start, MESSAGE.min(bytes - start)))
}

/// Sends an operand to the root.
fn send(mut state: Entered, pair: &TwoRanks, operand: &Operand) {
    let Operand { data, bytes, size, .. } = *operand;
    let is_aligned = (data as usize).is_multiple_of(size);
    let shape: Option<Arc<dyn Shape>> = (!is_aligned).then(|| Arc::new(Unaligned) as _);
    for (start, bytes) in messages(bytes) {
        let data = data.wrapping_add(start).cast_mut();
        // SAFETY: the caller's data, which it lends until this returns, and which is only read.
        let buffer = unsafe {
            match shape.clone() {
                None => Buffer::new(data, bytes),
                Some(shape) => Buffer::of_layout(data, bytes, Layout { shape, count: bytes }),
            }
        };
        state = pair.send_buffer(state, &buffer);
    }
}

/// The root receives or reads the other operand and reduces it to its result, which is apart from its own operand, or
/// the same.
fn receive(mut state: Entered, pair: &TwoRanks, operand: &Operand, result: *mut u8) -> Result<(), Failure> {
    let Operand { data, bytes, size, kernel, .. } = *operand;
    // The other rank looks at what it answers.
    let is_unseen = offers::is_unseen(&state.engine);
    if is_unseen {
        let own = state.rank() as usize;
        state.engine.operand_is_read(ToRoot, own, bytes);
    }
    // What comes may be written twice, and must be reduced once: so there is an operand apart from the result.
    let mut apart = vec![0; if data == result { MESSAGE.min(bytes) } else { 0 }];
    for (start, bytes) in messages(bytes) {
        let result = result.wrapping_add(start);
        let own = if apart.is_empty() {
            data.wrapping_add(start)
        } else {
            // SAFETY: the operand's bytes, which the caller lends, and as much room.
            unsafe { std::ptr::copy_nonoverlapping(data.add(start), apart.as_mut_ptr(), bytes) };
            apart.as_ptr()
        };
        let reduced = Arc::new(Reduced { operand: own, size, kernel, is_cut: AtomicBool::new(false) });
        let layout = Layout { shape: reduced.clone(), count: bytes / size };
        // SAFETY: the caller's room, which it lends until this returns.
        let buffer = unsafe { Buffer::of_layout(result, bytes, layout) };
        if start == 0 {
            let (next, offer) = pair.receive_or_offer(state, &buffer)?;
            state = next;
            if let Some(offer) = offer {
                let was_read;
                // SAFETY: the caller's operand and result, which it lends until this returns.
                (state, was_read) = unsafe { by_kernel::read(state, pair, &offer, operand, result) }?;
                if was_read {
                    state.engine.operand_came(ToRoot, operand.bytes, true);
                    return Ok(());
                }
                state = pair.receive_buffer(state, &buffer)?;
            }
        } else {
            state = pair.receive_buffer(state, &buffer)?;
        }
        if reduced.is_cut.load(Ordering::Relaxed) {
            let text = format_args!("the operand of rank {} came cut inside an element", pair.other.rank);
            return Err(Failure::new(MPI_ERR_INTERN, text));
        }
    }
    if is_unseen {
        state.engine.operand_came(ToRoot, bytes, false);
    }
    Ok(())
}

/// How a message is received of which the root wants the result: its elements are reduced with this rank's operand,
/// which is apart from the result.
struct Reduced {
    operand: *const u8,
    size: usize,
    kernel: Reducer,
    /// A piece ended inside an element: somebody wrote over the job's memory.
    is_cut: AtomicBool,
}
// SAFETY: an address, which is used only by `unpack`; its caller promises that the memory may be used.
unsafe impl Send for Reduced {}
// SAFETY: as above.
unsafe impl Sync for Reduced {}

impl Shape for Reduced {
    unsafe fn pack(&self, _: *const u8, _: usize, _: usize, _: &mut [u8]) -> usize {
        unreachable!("the message is received");
    }

    unsafe fn unpack(&self, base: *mut u8, _: usize, from: usize, data: &[u8]) -> usize {
        assert!(
            from.is_multiple_of(self.size) && data.len().is_multiple_of(self.size),
            "an element that is cut"
        );
        let (operand, result) = (self.operand.wrapping_add(from), base.wrapping_add(from));
        // SAFETY: operand and result have as many bytes as the buffer, and are lent as the result is.
        unsafe { (self.kernel)(data.as_ptr(), operand, result, data.len() / self.size) };
        data.len()
    }

    fn has_spans(&self) -> bool {
        false
    }

    fn spans(&self, _: *mut u8, _: usize, _: usize, _: usize, _: usize, _: &mut Vec<Span>) -> usize {
        0
    }
}

/// How a message is sent that is not aligned to its elements, and must not be cut where a line ends.
struct Unaligned;

impl Shape for Unaligned {
    unsafe fn pack(&self, base: *const u8, _: usize, from: usize, into: &mut [u8]) -> usize {
        // SAFETY: bytes of the buffer, as the caller promises.
        unsafe { std::ptr::copy_nonoverlapping(base.add(from), into.as_mut_ptr(), into.len()) };
        into.len()
    }

    unsafe fn unpack(&self, _: *mut u8, _: usize, _: usize, _: &[u8]) -> usize {
        unreachable!("the message is sent");
    }

    fn spans(
        &self,
        base: *mut u8,
        _: usize,
        from: usize,
        most: usize,
        _: usize,
        into: &mut Vec<Span>,
    ) -> usize {
        into.push(Span { address: base.wrapping_add(from), bytes: most });
        most
    }
}
