//! Large reductions of two ranks that read each other's operands by the kernel.
//!
//! **To the root.** The other rank offers its operand and waits. The root does the first part: it reads the operand to
//! where the result will be, and reduces it there. The other rank does the last part meanwhile: it reads the root's
//! operand, reduces it and writes the result to the root's memory. That takes three copies in place of two, so its part
//! is smaller; by how much is measured. (By hand on a Xeon, us, by the root alone and by both: 256 kB 19.5 and 17.2,
//! 1 MB 137 and 71, 4 MB 650 and 414.)
//!
//! ```text
//! other rank   offer ─╮                ╭─ last part ── done ─╮                 ╭─ over
//! root                ╰─ where it is ──┴── first part ───────┴── all is done ──╯
//! ```
//!
//! **To both.** They have told each other where their operands and results are. Each does one half, and writes its
//! result to the other one's memory, too. Nobody else reads what it overwrites there, should the other operand be in
//! place.

use super::messages::{AnswerWords, OfferAnswer};
use super::offers::Offer;
use super::schedule::Truncated;
use super::two_ranks::TwoRanks;
use crate::abi::values::MPI_ERR_INTERN;
use crate::check::Failure;
use crate::op::Reducer;
use crate::runtime::{self, Entered};
use host::clock::kernel_ns;
use std::ops::Range;
use transport::{Buffer, Engine};

/// The root's part ends where a page may end, and not inside an element, which has a power of two bytes.
const PAGE: usize = 4096;
/// A rank reads pieces of which so many turn over in a core's own caches, so that a piece still lies there when it is
/// reduced; but of at least so many bytes, because each costs a call of the kernel. Choices.
const PIECES: usize = 32;
const LEAST: usize = 64 * 1024;

/// What a rank has of the reduction.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub data: *const u8,
    pub bytes: usize,
    /// Bytes of an element.
    pub size: usize,
    pub kernel: Reducer,
    /// It is reduced as the first of the two: the bits of a result may depend on that.
    pub is_first: bool,
}

/// What the other rank says when its part is done: so many bytes.
const DONE: usize = 0;
/// It can't read or write the root's memory, and has done nothing.
const NOTHING_DONE: usize = 1;
/// It has done a part of it.
const FAILED: usize = 2;

/// Pieces of whole elements in which a rank does its part.
fn pieces(
    engine: &Engine<'_>,
    part: Range<usize>,
    size: usize,
) -> impl Iterator<Item = Range<usize>> + use<> {
    let bytes = (engine.segment().turnover_bytes() / PIECES).max(LEAST) / size * size;
    part.clone().step_by(bytes).map(move |start| start..part.end.min(start + bytes))
}

/// Offers the operand to the root, and does a part for it if it wants that; false: the root can't read it.
///
/// # Safety
/// The operand may be read until this returns.
///
/// # Errors
/// The root's memory could be read or written only in part.
pub(super) unsafe fn offer(
    state: Entered,
    pair: &TwoRanks,
    operand: &Operand,
) -> Result<(Entered, bool), Failure> {
    // SAFETY: the caller's operand, which it lends until this returns, and which is only read.
    let data = unsafe { Buffer::new(operand.data.cast_mut(), operand.bytes) };
    match pair.offer(state, &data) {
        (state, OfferAnswer::Words(words)) => {
            // SAFETY: as the caller promised.
            Ok((unsafe { do_last_part(state, pair, operand, words) }?, true))
        }
        (state, answer) => Ok((state, answer == OfferAnswer::Done)),
    }
}

/// Does the last part for the root.
///
/// # Safety
/// As for `offer`.
///
/// # Errors
/// As for `offer`.
unsafe fn do_last_part(
    mut state: Entered,
    pair: &TwoRanks,
    own: &Operand,
    words: AnswerWords,
) -> Result<Entered, Failure> {
    let root = pair.other.member;
    let [operand, result, from, bytes] = words;
    let (from, bytes) = (from as usize, bytes as usize);
    if bytes > own.bytes || from > bytes || !from.is_multiple_of(own.size) {
        state.engine.corrupt(root, "a part of an operand that there is not");
    }
    let (part, start_ns) = (from..bytes, kernel_ns());
    let mut done = DONE;
    if state.engine.can_read_and_write(root) != Some(true) {
        done = NOTHING_DONE;
        state.engine.could_not_be_copied(own.bytes);
    } else {
        let there = There { member: root, operand, result: Some(result) };
        // SAFETY: as the caller promised; the part is inside the operand.
        if !unsafe { do_part(&mut state.engine, own, None, there, part) } {
            done = FAILED;
        }
        state.engine.did_part(false, own.bytes, bytes - from, start_ns);
    }
    state = pair.send(state, [0u8; FAILED].as_ptr(), done);
    (state, _) = pair.next_answer(state);
    if done == FAILED { Err(unreadable(pair)) } else { Ok(state) }
}

/// The root reads the operand that the other rank offers, and reduces it with its own to its result; false: it can't be
/// read from here, and the other rank was told to send it.
///
/// # Safety
/// The operand may be read and `result` be written, which has as many bytes and is the operand, or apart from it. They
/// are lent until this returns.
///
/// # Errors
/// More is offered than is expected; a part of it could not be read.
pub(super) unsafe fn read(
    mut state: Entered,
    pair: &TwoRanks,
    offer: &Offer,
    own: &Operand,
    result: *mut u8,
) -> Result<(Entered, bool), Failure> {
    let (other, bytes) = (pair.other, offer.bytes());
    let can_read = state.engine.can_read(other.member);
    if !can_read || bytes > own.bytes {
        pair.answer(&mut state, can_read);
        let told = Truncated { source: other.rank as i32, sent: bytes, expected: own.bytes };
        return if can_read { Err(told.failure()) } else { Ok((state, false)) };
    }
    let end = bytes.min((bytes - state.engine.bytes_for_root(bytes)).next_multiple_of(PAGE));
    if end < bytes {
        state.engine.allow_reading();
        let words = [own.data as u64, result as u64, end as u64, bytes as u64];
        state = pair.answer_words(state, &words);
    }
    let start_ns = kernel_ns();
    let there = There { member: other.member, operand: offer.address(), result: None };
    // SAFETY: as the caller promised.
    let mut went_well = unsafe { do_part(&mut state.engine, own, Some(result), there, 0..end) };
    if end < bytes {
        state.engine.did_part(true, bytes, end, start_ns);
        let mut word = [0u8; FAILED];
        let done = pair.receive(state, word.as_mut_ptr(), FAILED)?;
        state = runtime::enter();
        went_well &= match done {
            DONE => true,
            // SAFETY: as the caller promised.
            NOTHING_DONE => unsafe { do_part(&mut state.engine, own, Some(result), there, end..bytes) },
            _ => false,
        };
    }
    pair.answer(&mut state, true);
    if went_well { Ok((state, true)) } else { Err(unreadable(pair)) }
}

/// Where the other rank's operand is in its memory, and the result that is to be written there.
#[derive(Clone, Copy)]
struct There {
    /// The rank in the job.
    member: usize,
    operand: u64,
    result: Option<u64>,
}

/// Reads a part of the other operand and reduces it with the own one, to the own result, the other rank's, or both.
/// False: not all could be read or written.
///
/// # Safety
/// The part is inside the operand, which may be read; the result may be written, and is the operand or apart from it.
unsafe fn do_part(
    engine: &mut Engine<'static>,
    own: &Operand,
    result: Option<*mut u8>,
    there: There,
    part: Range<usize>,
) -> bool {
    let goes_here = result.filter(|&result| own.data != result);
    let largest = pieces(engine, part.clone(), own.size).next().map_or(0, |piece| piece.len());
    let mut apart: Vec<u8> = Vec::with_capacity(if goes_here.is_none() { largest } else { 0 });
    pieces(engine, part, own.size).all(|Range { start, end }| {
        let (data, bytes) = (own.data.wrapping_add(start), end - start);
        let at = |address: u64| address.wrapping_add(start as u64);
        let other = goes_here.map_or(apart.as_mut_ptr(), |result| result.wrapping_add(start));
        let into = result.map_or(other, |result| result.wrapping_add(start));
        // SAFETY: room for a piece of the caller's result, or apart. When all of it was read, it is reduced with as
        // much of the caller's operand, which is apart from the result or the same.
        unsafe {
            engine.read_memory(there.member, at(there.operand), other, bytes) && {
                let [first, second] =
                    if own.is_first { [data, other.cast_const()] } else { [other.cast_const(), data] };
                (own.kernel)(first, second, into, bytes / own.size);
                there.result.is_none_or(|result| engine.write_memory(there.member, at(result), into, bytes))
            }
        }
    })
}

/// What both ranks have told each other of a reduction to both: where their operands and results are.
pub(super) struct Theirs {
    pub operand: u64,
    pub result: u64,
}

/// Reduces the bytes `half` of the operand, and waits until the other rank has reduced the others.
///
/// # Safety
/// The half is inside the operand, which may be read; `result` has as many bytes, may be written, and is the operand or
/// apart from it. They are lent until this returns. The other rank has told that it does the same.
///
/// # Errors
/// The other rank's memory could be read or written only in part.
pub(super) unsafe fn reduce_half(
    pair: &TwoRanks,
    own: &Operand,
    result: *mut u8,
    theirs: &Theirs,
    half: Range<usize>,
) -> Result<(), Failure> {
    let mut state = runtime::enter();
    let there = There { member: pair.other.member, operand: theirs.operand, result: Some(theirs.result) };
    // SAFETY: as the caller promised.
    let is_done = unsafe { do_part(&mut state.engine, own, Some(result), there, half) };
    let mut word = [0u8; 1];
    state = pair.send(state, word.as_ptr(), usize::from(!is_done));
    let other_failed = pair.receive(state, word.as_mut_ptr(), 1)? != 0;
    if is_done && !other_failed { Ok(()) } else { Err(unreadable(pair)) }
}

fn unreadable(pair: &TwoRanks) -> Failure {
    let text = format_args!("the buffers of rank {} could be read or written only in part", pair.other.rank);
    Failure::new(MPI_ERR_INTERN, text)
}
