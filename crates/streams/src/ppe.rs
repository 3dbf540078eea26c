//! The programs of a PPE: a thread that computes, and beside it, on the other hardware thread, one that manages: it
//! moves what the computing thread reads, out of local stores by their proxy queues, and tells SPEs what it produced.

use crate::memory::{FLAG_BYTES, StreamCore};
use crate::spe::pieces;
use crate::stream::StreamState;
use run::scheduler::NextStep;
use sim::{PPE_BYTES_MAX, Ppe};
use std::cell::RefCell;
use std::rc::Rc;

/// Commands that an SPE's proxy queue takes; one more would hold up the thread.
const PROXY_QUEUE: usize = 8;
const SIGNAL: u32 = 1;
/// ns before a source that has nothing is asked again.
const RETRY_NS: u64 = 1_000;

/// The thread that computes.
pub(crate) fn compute(ppe: &mut Ppe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize) {
    let costs = stream.borrow().costs;
    loop {
        ppe.compute(costs.ppe_turn_ns);
        if !stream.borrow_mut().goes_on(element, ppe.now_ps()) {
            return;
        }
        let step = stream.borrow_mut().step(element);
        match step {
            NextStep::Fire { unit, firings } => fire(ppe, stream, element, unit, firings),
            NextStep::Retry { unit, firings } => {
                ppe.compute(RETRY_NS);
                fire(ppe, stream, element, unit, firings);
            }
            NextStep::Pad { unit, write, instances } => {
                let zeros = stream.borrow_mut().pad(element, unit, write, instances);
                if let Some((at, bytes)) = zeros {
                    store(ppe, stream, element, at, &bytes);
                }
            }
            NextStep::Wait => stream.borrow_mut().waits(element, ppe.now_ps()),
            NextStep::Done => {
                return;
            }
        }
    }
}

fn fire(ppe: &mut Ppe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize, unit: usize, firings: u64) {
    let Some(produced) = stream.borrow_mut().fire(element, unit, firings, ppe.now_ps()) else { return };
    let costs = stream.borrow().costs;
    ppe.compute(costs.ppe_firing_ns + produced.ns.round() as u64);
    for (at, bytes) in &produced.writes {
        store(ppe, stream, element, *at, bytes);
    }
    stream.borrow_mut().produced(element, unit, produced.fired, ppe.now_ps());
}

fn store(ppe: &mut Ppe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize, at: u64, bytes: &[u8]) {
    let base = stream.borrow().places.base[element];
    for (i, part) in bytes.chunks(PPE_BYTES_MAX as usize).enumerate() {
        ppe.store(base + at + i as u64 * u64::from(PPE_BYTES_MAX), part.to_vec());
    }
}

fn load(ppe: &mut Ppe<'_>, base: sim::Address, at: u64, bytes: u64) -> Vec<u8> {
    let mut all = Vec::with_capacity(bytes as usize);
    while (all.len() as u64) < bytes {
        let part = (bytes - all.len() as u64).min(u64::from(PPE_BYTES_MAX));
        all.extend(ppe.load(base + at + all.len() as u64, part as u32));
    }
    all
}

/// A fetch under way through the proxy queue of an SPE.
struct Proxied {
    spe: usize,
    fetch: usize,
    tag: u32,
    commands: usize,
}

/// The thread that manages.
pub(crate) fn manage(ppe: &mut Ppe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize) {
    let costs = stream.borrow().costs;
    let base = stream.borrow().places.base[element];
    let mut flying: Vec<Proxied> = Vec::new();
    loop {
        ppe.compute(costs.ppe_turn_ns);
        if !stream.borrow_mut().goes_on(element, ppe.now_ps()) {
            return;
        }
        let inbox = stream.borrow().elements[element].inbox.clone();
        if let Some((first, last)) = inbox.iter().map(|c| c.1).min().zip(inbox.iter().map(|c| c.1).max()) {
            let flags = load(ppe, base, first, last - first + FLAG_BYTES);
            let mut s = stream.borrow_mut();
            for (counter, flag) in inbox {
                let at = (flag - first) as usize;
                let word = u32::from_le_bytes([flags[at], flags[at + 1], flags[at + 2], flags[at + 3]]);
                s.elements[element].told(counter, word);
            }
        }
        look_at_transfers(ppe, stream, element, base, &mut flying);
        start_fetches(ppe, stream, element, base, &mut flying, costs.ppe_transfer_ns);
        send_notices(ppe, stream, element, costs.ppe_transfer_ns);
        let mut s = stream.borrow_mut();
        let computed = s.step(element) == NextStep::Done;
        if computed && s.is_done(element) {
            return;
        }
    }
}

fn look_at_transfers(
    ppe: &mut Ppe<'_>,
    stream: &Rc<RefCell<StreamState>>,
    element: usize,
    base: sim::Address,
    flying: &mut Vec<Proxied>,
) {
    let mut spes: Vec<usize> = flying.iter().map(|f| f.spe).collect();
    spes.dedup();
    spes.sort_unstable();
    spes.dedup();
    for spe in spes {
        let mask = flying.iter().filter(|f| f.spe == spe).fold(0u32, |mask, f| mask | 1 << f.tag);
        let done = ppe.proxy_now(spe, mask);
        let mut arrived = Vec::new();
        flying.retain(|f| {
            let here = f.spe == spe && done & 1 << f.tag != 0;
            if here {
                arrived.push((f.fetch, f.tag));
            }
            !here
        });
        if !arrived.is_empty() {
            ppe.synchronize(spe);
        }
        for (fetch, tag) in arrived {
            stream.borrow_mut().arrived(element, fetch, tag);
            take(ppe, stream, element, base, fetch);
        }
    }
}

fn take(
    ppe: &mut Ppe<'_>,
    stream: &Rc<RefCell<StreamState>>,
    element: usize,
    base: sim::Address,
    fetch: usize,
) {
    loop {
        let Some((at, bytes)) = stream.borrow().to_take(element, fetch) else { return };
        let data = load(ppe, base, at, bytes);
        stream.borrow_mut().took(element, fetch, &data);
    }
}

fn start_fetches(
    ppe: &mut Ppe<'_>,
    stream: &Rc<RefCell<StreamState>>,
    element: usize,
    base: sim::Address,
    flying: &mut Vec<Proxied>,
    ns: u64,
) {
    stream.borrow_mut().elements[element].queue_is_full = false;
    loop {
        let Some(start) = stream.borrow_mut().next_fetch(element) else { return };
        let moved = start.moved;
        let from = stream.borrow().places.units[moved.from];
        match from {
            StreamCore::Spe(spe) => {
                // A proxy queue takes no lists: a command for each part.
                let commands: Vec<(u64, sim::Address, u32)> = pieces(moved)
                    .into_iter()
                    .flat_map(|piece| {
                        let mut to = piece.to;
                        piece.list.into_iter().map(move |(from, bytes)| {
                            to += u64::from(bytes);
                            (to - u64::from(bytes), from, bytes)
                        })
                    })
                    .collect();
                let queued: usize = flying.iter().filter(|f| f.spe == spe).map(|f| f.commands).sum();
                let tag = (0..32).find(|tag| flying.iter().all(|f| f.spe != spe || f.tag != *tag));
                let Some(tag) = tag.filter(|_| queued == 0 || queued + commands.len() <= PROXY_QUEUE) else {
                    stream.borrow_mut().elements[element].queue_is_full = true;
                    return;
                };
                stream.borrow_mut().elements[element].doing = Some(start.fetch);
                flying.push(Proxied { spe, fetch: start.fetch, tag, commands: commands.len() });
                stream.borrow_mut().started(element, start, tag);
                for (to, from, bytes) in commands {
                    ppe.compute(ns);
                    // From the SPE's side it is a put of its own memory.
                    let at = (from.0 - stream.borrow().places.base[moved.from].0) as u32;
                    ppe.proxy_put(spe, at, base + to, bytes, tag);
                }
                stream.borrow_mut().elements[element].doing = None;
            }
            StreamCore::Ppe(_) => {
                // Main memory to main memory.
                stream.borrow_mut().started(element, start, u32::MAX);
                let from = stream.borrow().places.base[moved.from];
                let data = load(ppe, from, moved.offset, moved.bytes);
                store(ppe, stream, element, moved.to, &data);
                stream.borrow_mut().arrived(element, start.fetch, u32::MAX);
                take(ppe, stream, element, base, start.fetch);
            }
        }
    }
}

fn send_notices(ppe: &mut Ppe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize, ns: u64) {
    let due: Vec<usize> = {
        let s = stream.borrow();
        s.elements[element].outbox.iter().enumerate().filter(|(_, o)| o.due).map(|(k, _)| k).collect()
    };
    for k in due {
        let (at, word, to) = {
            let mut s = stream.borrow_mut();
            let out = &mut s.elements[element].outbox[k];
            out.due = false;
            let notice = out.notice;
            let word = s.elements[element].word(notice.counter);
            (s.places.base[notice.to] + notice.flag, word, s.places.units[notice.to])
        };
        ppe.compute(ns);
        ppe.store_u32(at, word);
        if let StreamCore::Spe(spe) = to {
            ppe.write_signal(spe, SIGNAL, 1);
        }
    }
}
