//! A large reduce of two ranks whose root reads the other rank's operand by the kernel.
//!
//! The other rank offers its operand and waits. The root does the first part: it reads the operand to where the result
//! will be, and reduces it there. The other rank does the last part meanwhile: it reads the root's operand, reduces it
//! and writes the result to the root's memory. That takes three copies in place of two, so its part is smaller; by how
//! much is measured. (By hand on a Xeon, us, by the root alone and by both: 256 kB 19.5 and 17.2, 1 MB 137 and 71, 4 MB
//! 650 and 414.)
//!
//! ```text
//! other rank   offer ─╮                ╭─ last part ── done ─╮                 ╭─ over
//! root                ╰─ where it is ──┴── first part ───────┴── all is done ──╯
//! ```

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

/// A part ends where a page may end. Elements are never cut.
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
    /// Bytes of an element: a power of two, less than a page.
    pub size: usize,
    pub kernel: Reducer,
}

/// What the other rank says when its part is done: so many bytes.
const DONE: usize = 0;
/// It can't read or write the root's memory, and has done nothing.
const NOTHING_DONE: usize = 1;
/// It has done a part of it.
const FAILED: usize = 2;

/// Pieces in which a rank does its part.
fn pieces(engine: &Engine<'_>, part: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
    let bytes = (engine.segment().turnover_bytes() / PIECES).max(LEAST) / PAGE * PAGE;
    part.clone().step_by(bytes).map(move |start| start..part.end.min(start + bytes))
}

/// Room for a piece of another operand.
fn room(engine: &Engine<'_>, part: Range<usize>) -> Vec<u8> {
    Vec::with_capacity(pieces(engine, part).next().map_or(0, |piece| piece.len()))
}

/// Offers the operand to the root, and does a part for it if it wants that; false: the root can't read it.
///
/// # Errors
/// The root's memory could be read or written only in part.
pub(super) fn offer(state: Entered, pair: &TwoRanks, operand: &Operand) -> Result<(Entered, bool), Failure> {
    // SAFETY: the caller's operand, which it lends until this returns, and which is only read.
    let data = unsafe { Buffer::new(operand.data.cast_mut(), operand.bytes) };
    match pair.offer(state, &data) {
        (state, OfferAnswer::Words(words)) => Ok((do_last_part(state, pair, operand, words)?, true)),
        (state, answer) => Ok((state, answer == OfferAnswer::Done)),
    }
}

/// Does the last part for the root.
fn do_last_part(
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
    if !(state.engine.can_read(root) && state.engine.can_write(root)) {
        done = NOTHING_DONE;
        state.engine.could_not_be_copied(own.bytes);
    } else {
        let mut other = room(&state.engine, part.clone());
        for Range { start, end } in pieces(&state.engine, part) {
            let (other, bytes, start) = (other.as_mut_ptr(), end - start, start as u64);
            // SAFETY: there is room for a piece. When all of it was read, it is reduced with as much of the caller's
            // operand.
            let is_done = unsafe {
                state.engine.read_memory(root, operand.wrapping_add(start), other, bytes) && {
                    (own.kernel)(own.data.add(start as usize), other, other, bytes / own.size);
                    state.engine.write_memory(root, result.wrapping_add(start), other, bytes)
                }
            };
            if !is_done {
                done = FAILED;
                break;
            }
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
    let for_root = state.engine.bytes_for_root(bytes) / PAGE * PAGE;
    let end = bytes - for_root;
    if for_root > 0 {
        state.engine.allow_reading();
        let words = [own.data as u64, result as u64, end as u64, bytes as u64];
        state = pair.answer_words(state, &words);
    }
    let start_ns = kernel_ns();
    let mut went_well = do_part(&mut state.engine, pair, offer, own, result, 0..end);
    if for_root > 0 {
        state.engine.did_part(true, bytes, end, start_ns);
        let mut word = [0u8; FAILED];
        let done = pair.receive(state, word.as_mut_ptr(), FAILED)?;
        state = runtime::enter();
        went_well &= match done {
            DONE => true,
            NOTHING_DONE => do_part(&mut state.engine, pair, offer, own, result, end..bytes),
            _ => false,
        };
    }
    pair.answer(&mut state, true);
    if went_well { Ok((state, true)) } else { Err(unreadable(pair)) }
}

/// The root reads and reduces a part of the operand; false: not all could be read.
fn do_part(
    engine: &mut Engine<'static>,
    pair: &TwoRanks,
    offer: &Offer,
    own: &Operand,
    result: *mut u8,
    part: Range<usize>,
) -> bool {
    let is_in_place = own.data == result;
    let mut apart = if is_in_place { room(engine, part.clone()) } else { Vec::new() };
    pieces(engine, part).all(|Range { start, end }| {
        let (data, result, bytes) = (own.data.wrapping_add(start), result.wrapping_add(start), end - start);
        let other = if is_in_place { apart.as_mut_ptr() } else { result };
        // SAFETY: room for a piece of the caller's result, or apart. When all of it was read, it is reduced with as
        // much of the caller's operand.
        unsafe {
            engine.read_memory(pair.other.member, offer.address().wrapping_add(start as u64), other, bytes)
                && {
                    (own.kernel)(other, data, result, bytes / own.size);
                    true
                }
        }
    })
}

fn unreadable(pair: &TwoRanks) -> Failure {
    let text = format_args!("the buffers of rank {} could be read or written only in part", pair.other.rank);
    Failure::new(MPI_ERR_INTERN, text)
}
