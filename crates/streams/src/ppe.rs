//! The programs of a PPE: a thread that computes, and beside it, on the other hardware thread, one that manages: it
//! looks at what SPEs have told, takes in what they have pushed into main memory, and copies what another PPE made.
//! What the PPE itself has to tell, either thread stores.

use crate::memory::{FLAG_BYTES, StreamCore};
use crate::spe::look_ns;
use crate::stream::{FlagIn, StreamState};
use run::scheduler::NextStep;
use sim::{Address, PPE_BYTES_MAX, Ppe};
use std::cell::RefCell;
use std::rc::Rc;

/// ns before a source that has nothing is asked again.
const RETRY_NS: u64 = 1_000;

/// The thread that computes.
pub(crate) fn compute(ppe: &mut Ppe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize) {
    let mut fired_ps = 0;
    loop {
        if !stream.borrow_mut().goes_on(element, ppe.now_ps()) {
            return;
        }
        let (step, cycles) = stream.borrow_mut().step(element);
        match step {
            NextStep::Fire { unit, firings } => {
                fire(ppe, stream, element, (unit, firings), cycles);
                fired_ps = ppe.now_ps();
            }
            NextStep::Retry { unit, firings } => {
                ppe.compute(RETRY_NS);
                fire(ppe, stream, element, (unit, firings), cycles);
            }
            NextStep::Pad { unit, write, instances } => {
                pass(ppe, cycles);
                let zeros = stream.borrow_mut().pad(element, unit, write, instances);
                if let Some((at, bytes)) = zeros {
                    store(ppe, stream, element, at, &bytes);
                }
                send_flags(ppe, stream, element);
            }
            NextStep::Wait => {
                ppe.compute(look_ns(ppe.now_ps() - fired_ps));
                stream.borrow_mut().waits(element, ppe.now_ps());
            }
            NextStep::Done => return,
        }
    }
}

/// Cycles of the PPE pass, a ns at least: a loop without any time would never end.
fn pass(ppe: &mut Ppe<'_>, cycles: u64) {
    ppe.compute((cycles * 5).div_ceil(16).max(1));
}

fn fire(
    ppe: &mut Ppe<'_>,
    stream: &Rc<RefCell<StreamState>>,
    element: usize,
    (unit, firings): (usize, u64),
    cycles: u64,
) {
    let own = stream.borrow().firing_cycles(element, unit);
    let Some(produced) = stream.borrow_mut().fire(element, unit, firings, ppe.now_ps()) else { return };
    pass(ppe, cycles + own + (produced.ns * 3.2).round() as u64);
    for (at, bytes) in &produced.writes {
        store(ppe, stream, element, *at, bytes);
    }
    stream.borrow_mut().produced(element, unit, &produced, ppe.now_ps());
    send_flags(ppe, stream, element);
}

fn store(ppe: &mut Ppe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize, at: u64, bytes: &[u8]) {
    let base = stream.borrow().places.base[element];
    for (i, part) in bytes.chunks(PPE_BYTES_MAX as usize).enumerate() {
        ppe.store(base + at + i as u64 * u64::from(PPE_BYTES_MAX), part.to_vec());
    }
}

fn load(ppe: &mut Ppe<'_>, base: Address, at: u64, bytes: u64) -> Vec<u8> {
    if bytes <= u64::from(PPE_BYTES_MAX) {
        return ppe.load(base + at, bytes as u32);
    }
    let mut all = Vec::with_capacity(bytes as usize);
    while (all.len() as u64) < bytes {
        let part = (bytes - all.len() as u64).min(u64::from(PPE_BYTES_MAX));
        all.extend(ppe.load(base + at + all.len() as u64, part as u32));
    }
    all
}

/// The thread that manages.
pub(crate) fn manage(ppe: &mut Ppe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize) {
    let (base, inbox, costs) = {
        let s = stream.borrow();
        (s.places.base[element], s.elements[element].inbox.clone(), s.costs.ppe)
    };
    let first = inbox.iter().map(|f| f.at).min().unwrap_or(0);
    let bytes = inbox.iter().map(|f| f.at + FLAG_BYTES - first).max().unwrap_or(0);
    let mut moved_ps = 0;
    loop {
        if !stream.borrow_mut().goes_on(element, ppe.now_ps()) {
            return;
        }
        let (mut moved, begun_ps) = (false, ppe.now_ps());
        if bytes > 0 {
            let flags = load(ppe, base, first, bytes);
            pass(ppe, inbox.len() as u64 * costs.glance);
            for flag in inbox.iter() {
                moved |= look_at_flag(ppe, stream, element, flag, &flags[(flag.at - first) as usize..]);
            }
        }
        moved |= copy(ppe, stream, element);
        send_flags(ppe, stream, element);
        let (computed, done) = {
            let mut s = stream.borrow_mut();
            (s.has_computed(element), s.is_done(element))
        };
        if computed && done {
            return;
        }
        if moved {
            pass(ppe, costs.turn);
            moved_ps = ppe.now_ps();
            *stream.borrow_mut().elements[element].report.managing_ps.get_or_insert(0) += moved_ps - begun_ps;
        } else {
            ppe.compute(look_ns(ppe.now_ps() - moved_ps));
        }
    }
}

/// What a flag says is known now; what it says was pushed has been taken in. Whether there was any.
fn look_at_flag(
    ppe: &mut Ppe<'_>,
    stream: &Rc<RefCell<StreamState>>,
    element: usize,
    flag: &FlagIn,
    words: &[u8],
) -> bool {
    if flag.fetch.is_none() {
        stream.borrow_mut().elements[element].told(flag, words);
        return false;
    }
    let mut any = false;
    loop {
        let next = stream.borrow().to_receive(element, flag, words);
        let Some((at, bytes, instances)) = next else { return any };
        let (base, arrival) = (stream.borrow().places.base[element], stream.borrow().costs.ppe.arrival);
        let data = if bytes > 0 { load(ppe, base, at, bytes) } else { Vec::new() };
        pass(ppe, arrival);
        stream.borrow_mut().received(element, flag, &data, instances);
        any = true;
    }
}

/// Copies from main memory to main memory what another PPE made. Whether there was any.
fn copy(ppe: &mut Ppe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize) -> bool {
    let mut any = false;
    loop {
        let (start, cycles) = stream.borrow_mut().next_fetch(element);
        let Some(start) = start else { return any };
        let (moved, transfer, started_ps) = (start.moved, stream.borrow().costs.ppe.transfer, ppe.now_ps());
        pass(ppe, cycles + transfer);
        let fetch = start.fetch;
        stream.borrow_mut().started(element, start, 0);
        let from = stream.borrow().places.base[moved.other];
        let data = load(ppe, from, moved.offset, moved.bytes);
        store(ppe, stream, element, moved.own, &data);
        let mut s = stream.borrow_mut();
        s.arrived(element, 1);
        s.took(element, fetch, &data);
        s.communicated(element, started_ps, ppe.now_ps());
        any = true;
    }
}

/// Stores every flag that is due: of SPEs into the lines that they poll, of another PPE into its memory.
fn send_flags(ppe: &mut Ppe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize) {
    loop {
        let (address, words) = {
            let mut s = stream.borrow_mut();
            let s = &mut *s;
            let e = &mut s.elements[element];
            let Some(k) = e.due.pop() else { return };
            let out = &mut e.outbox[k];
            out.due = false;
            let flag = &out.flag;
            let address = match s.places.units[flag.to] {
                StreamCore::Spe(_) => s.places.base[element] + flag.source,
                StreamCore::Ppe(_) => s.places.base[flag.to] + flag.at,
            };
            (address, e.words(&e.outbox[k].flag))
        };
        // All stores take the same time: those of both threads stay in order.
        ppe.store(address, words.to_vec());
    }
}
