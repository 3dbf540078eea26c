//! The program of an SPE: `streaming-schedule` Figure 8. It looks at the transfers that it asked for and at what others
//! told it, starts the transfers that may start, tells others, and computes; it sleeps until a signal when none of that
//! is possible.

use crate::memory::FLAG_BYTES;
use crate::stream::{FetchMove, StreamState};
use run::scheduler::NextStep;
use sim::{Address, DMA_BYTES_MAX, ListElement, Spe};
use std::cell::RefCell;
use std::rc::Rc;

/// Tag groups of fetches; the others carry notices.
const FETCH_TAGS: u32 = 16;
const NOTICE_TAGS: std::ops::Range<u32> = 16..31;
const SIGNAL: u32 = 1;
/// SPU cycles before a source that has nothing is asked again.
const RETRY_CYCLES: u64 = 3_200;

/// What an SPE does from start to end.
pub(crate) fn program(spe: &mut Spe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize) {
    let (bytes, costs) = {
        let s = stream.borrow();
        (s.places.bytes[element], s.costs)
    };
    spe.alloc(bytes as u32, 128);
    spe.signal_or(SIGNAL, true);
    let word = stream.borrow().places.signal_word as u32;
    spe.write_u32(word, 1);
    loop {
        spe.compute_cycles(costs.spe_turn_cycles);
        if !stream.borrow_mut().goes_on(element, spe.now_ps()) {
            return;
        }
        look_at_transfers(spe, stream, element);
        if spe.signal_count(SIGNAL) > 0 {
            spe.read_signal(SIGNAL);
        }
        look_at_flags(spe, stream, element);
        let turned_ps = spe.now_ps();
        start_fetches(spe, stream, element, costs.spe_transfer_cycles);
        send_notices(spe, stream, element, costs.spe_transfer_cycles);
        stream.borrow_mut().commanded(element, turned_ps, spe.now_ps());
        let step = stream.borrow_mut().step(element);
        match step {
            NextStep::Fire { unit, firings } => fire(spe, stream, element, unit, firings),
            NextStep::Retry { unit, firings } => {
                spe.compute_cycles(RETRY_CYCLES);
                fire(spe, stream, element, unit, firings);
            }
            NextStep::Pad { unit, write, instances } => {
                let zeros = stream.borrow_mut().pad(element, unit, write, instances);
                if let Some((at, bytes)) = zeros {
                    spe.bytes_mut(at as u32, bytes.len() as u32).copy_from_slice(&bytes);
                }
            }
            NextStep::Wait | NextStep::Done => {
                let (busy, done) = {
                    let mut s = stream.borrow_mut();
                    s.waits(element, spe.now_ps());
                    let done = step == NextStep::Done && s.is_done(element);
                    let e = &s.elements[element];
                    (e.waits_for_transfers() || e.outbox.iter().any(|o| o.due), done)
                };
                if done {
                    return;
                }
                if !busy {
                    // Whoever changes what this element looks at signals it.
                    let word = spe.read_signal(SIGNAL);
                    debug_assert!(word > 0);
                    stream.borrow_mut().waits(element, spe.now_ps());
                }
            }
        }
    }
}

fn look_at_transfers(spe: &mut Spe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize) {
    let (fetches, notices): (Vec<_>, u32) = {
        let s = stream.borrow();
        let e = &s.elements[element];
        (e.tags().collect(), e.outbox.iter().filter_map(|o| o.tag).fold(0, |mask, tag| mask | 1 << tag))
    };
    let mask = fetches.iter().fold(notices, |mask, (_, tag)| mask | 1 << tag);
    if mask == 0 {
        return;
    }
    let done = spe.tags_now(mask);
    let mut s = stream.borrow_mut();
    for out in s.elements[element].outbox.iter_mut().filter(|o| o.tag.is_some_and(|t| done & 1 << t != 0)) {
        out.tag = None;
    }
    for (fetch, tag) in fetches {
        if done & 1 << tag != 0 {
            s.arrived(element, fetch, tag);
        }
        while let Some((at, bytes)) = s.to_take(element, fetch) {
            let data = spe.bytes(at as u32, bytes as u32).to_vec();
            s.took(element, fetch, &data);
        }
    }
}

fn look_at_flags(spe: &mut Spe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize) {
    let mut s = stream.borrow_mut();
    let e = &mut s.elements[element];
    for (counter, flag) in e.inbox.clone() {
        let word = spe.read_u32(flag as u32);
        e.told(counter, word);
    }
}

/// Starts every fetch that may start, as long as the queue takes its commands.
fn start_fetches(spe: &mut Spe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize, cycles: u64) {
    stream.borrow_mut().elements[element].queue_is_full = false;
    loop {
        let used = stream.borrow().elements[element].tags().fold(0u32, |mask, (_, tag)| mask | 1 << tag);
        let Some(tag) = (0..FETCH_TAGS).find(|tag| used & 1 << tag == 0) else { return };
        let Some(start) = stream.borrow_mut().next_fetch(element) else { return };
        let pieces = pieces(start.moved);
        if spe.queue_space() < pieces.len() as u32 {
            stream.borrow_mut().elements[element].queue_is_full = true;
            return;
        }
        stream.borrow_mut().elements[element].doing = Some(start.fetch);
        spe.compute_cycles(cycles);
        for piece in pieces {
            match &piece.list[..] {
                [(address, bytes)] => spe.get(piece.to as u32, *address, *bytes, tag),
                list => {
                    let elements: Vec<ListElement> =
                        list.iter().map(|&(address, bytes)| ListElement::new(address, bytes)).collect();
                    spe.get_list(piece.to as u32, elements, tag);
                }
            }
        }
        let mut s = stream.borrow_mut();
        s.started(element, start, tag);
        s.elements[element].doing = None;
    }
}

/// A command: where it goes in the local store, and what it takes.
pub(crate) struct DmaPiece {
    pub to: u64,
    pub list: Vec<(Address, u32)>,
}

/// The commands of a transfer: small ones up to whole quadwords, then a list of 16 kB at most each.
pub(crate) fn pieces(moved: FetchMove) -> Vec<DmaPiece> {
    let FetchMove { mut address, mut to, mut bytes, .. } = moved;
    let mut pieces = Vec::new();
    let mut take = |n: u64, address: &mut Address, to: &mut u64, bytes: &mut u64| {
        let whole = n.is_multiple_of(16);
        let list = (0..n.div_ceil(u64::from(DMA_BYTES_MAX)))
            .map(|i| {
                (
                    *address + i * u64::from(DMA_BYTES_MAX),
                    (n - i * u64::from(DMA_BYTES_MAX)).min(u64::from(DMA_BYTES_MAX)) as u32,
                )
            })
            .collect();
        debug_assert!(whole || n < 16);
        pieces.push(DmaPiece { to: *to, list });
        *address = *address + n;
        *to += n;
        *bytes -= n;
    };
    while bytes > 0 {
        let place = to % 16;
        if place == 0 && bytes >= 16 {
            take(bytes / 16 * 16, &mut address, &mut to, &mut bytes);
        } else {
            let fits = if place == 0 { 8 } else { 1 << place.trailing_zeros() };
            let size = (1..=3).rev().map(|k| 1u64 << k).find(|&n| n <= fits && n <= bytes).unwrap_or(1);
            take(size, &mut address, &mut to, &mut bytes);
        }
    }
    pieces
}

/// Sends every notice that is due and not under way, as long as the queue takes its two commands.
fn send_notices(spe: &mut Spe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize, cycles: u64) {
    let due: Vec<usize> = {
        let s = stream.borrow();
        let outbox = s.elements[element].outbox.iter().enumerate();
        outbox.filter(|(_, o)| o.due && o.tag.is_none()).map(|(k, _)| k).collect()
    };
    for k in due {
        let (notice, word, to, base, signal) = {
            let s = stream.borrow();
            let e = &s.elements[element];
            let notice = e.outbox[k].notice;
            let (to, base) = (s.places.units[notice.to], s.places.base[notice.to]);
            (notice, e.word(notice.counter), to, base, s.places.signal_word as u32)
        };
        // Always the same group: a fence keeps a notice behind the one before it, which may still be on its way.
        let tag = NOTICE_TAGS.start + k as u32 % NOTICE_TAGS.len() as u32;
        if spe.queue_space() < 2 {
            return;
        }
        spe.compute_cycles(cycles);
        debug_assert!(notice.source % FLAG_BYTES == 0);
        spe.write_u32(notice.source as u32, word);
        spe.putf(notice.source as u32, base + notice.flag, 4, tag);
        if let crate::memory::StreamCore::Spe(other) = to {
            spe.send_signalf(signal, other, SIGNAL, tag);
        }
        let out = &mut stream.borrow_mut().elements[element].outbox[k];
        (out.due, out.tag) = (false, Some(tag));
    }
}

fn fire(spe: &mut Spe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize, unit: usize, firings: u64) {
    let Some(produced) = stream.borrow_mut().fire(element, unit, firings, spe.now_ps()) else { return };
    let costs = stream.borrow().costs;
    spe.compute_cycles(costs.spe_firing_cycles + (produced.ns * 3.2).round() as u64);
    for (at, bytes) in &produced.writes {
        spe.bytes_mut(*at as u32, bytes.len() as u32).copy_from_slice(bytes);
    }
    stream.borrow_mut().produced(element, unit, produced.fired, spe.now_ps());
}
