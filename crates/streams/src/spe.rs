//! The program of an SPE: `streaming-schedule` Figure 8. It looks at the transfers that it asked for and at what
//! others told it, starts the transfers that may start, tells others, and computes. When none of that is possible it
//! looks again and again at its transfers and flags. Nobody signals it: a signal would take a command of the sender's
//! queue, and where it goes to the other chip, the time of a line.

use crate::memory::{FLAG_BYTES, HEADS, PolledLines};
use crate::stream::{FetchMove, FlagIn, StreamState};
use run::scheduler::NextStep;
use sim::{Address, DMA_BYTES_MAX, ListElement, Spe};
use std::cell::RefCell;
use std::rc::Rc;

/// Tag groups of what it fetches.
const FETCH_TAGS: u32 = 14;
/// Of what it pushes: a ring always has the same, so that heads come in order.
const PUSH_TAGS: std::ops::Range<u32> = 14..22;
/// Of flags: a flag always has the same.
const FLAG_TAGS: std::ops::Range<u32> = 22..30;
const POLL_TAG: u32 = 30;
/// Looks of an element that waits: the shortest and longest pause between two, and its part of the wait so far.
const LOOK_NS: (u64, u64) = (30, 1_000);
const LOOK_PART: u64 = 16;
/// 3.2 GHz.
const SPU_CYCLES_IN_5_NS: u64 = 16;
/// SPU cycles before a source that has nothing is asked again.
const RETRY_CYCLES: u64 = 3_200;

/// ns until an element that has waited for so long looks again: the longer it has waited, the less often, so that a
/// look comes late by a part of the wait at most.
pub(crate) fn look_ns(waited_ps: u64) -> u64 {
    (waited_ps / 1000 / LOOK_PART).clamp(LOOK_NS.0, LOOK_NS.1)
}

/// An SPE at work.
struct SpeTurn<'p, 's, 'a> {
    spe: &'p mut Spe<'a>,
    stream: &'s Rc<RefCell<StreamState>>,
    element: usize,
    /// Cycles of its own code that have not passed yet.
    owed: u64,
    polled: Vec<PolledLines>,
    /// Whether polled lines are on their way.
    polls: bool,
    /// When it fired last.
    fired_ps: u64,
}

/// What an SPE does from start to end.
pub(crate) fn program(spe: &mut Spe<'_>, stream: &Rc<RefCell<StreamState>>, element: usize) {
    let (bytes, polled) = {
        let s = stream.borrow();
        let polled: Vec<_> = s.places.polled.iter().filter(|p| p.to == element).copied().collect();
        (s.places.bytes[element], polled)
    };
    spe.alloc(bytes as u32, 128);
    let mut turn = SpeTurn { spe, stream, element, owed: 0, polled, polls: false, fired_ps: 0 };
    while turn.turn() {}
}

impl SpeTurn<'_, '_, '_> {
    /// One turn; `false` when it was the last.
    fn turn(&mut self) -> bool {
        if !self.stream.borrow_mut().goes_on(self.element, self.spe.now_ps()) {
            return false;
        }
        self.look_at_transfers();
        self.look_at_flags();
        let turned_ps = self.spe.now_ps();
        let blocked = self.start_fetches() | self.send_flags();
        self.poll();
        let now_ps = self.spe.now_ps();
        self.stream.borrow_mut().elements[self.element].queue_is_full = blocked;
        self.stream.borrow_mut().commanded(self.element, turned_ps, now_ps);
        let (step, cycles) = self.stream.borrow_mut().step(self.element);
        self.owed += cycles;
        match step {
            NextStep::Fire { unit, firings } => self.fire(unit, firings),
            NextStep::Retry { unit, firings } => {
                self.owed += RETRY_CYCLES;
                self.fire(unit, firings);
            }
            NextStep::Pad { unit, write, instances } => {
                let zeros = self.stream.borrow_mut().pad(self.element, unit, write, instances);
                if let Some((at, bytes)) = zeros {
                    self.spe.bytes_mut(at as u32, bytes.len() as u32).copy_from_slice(&bytes);
                }
            }
            NextStep::Wait | NextStep::Done => return self.wait(step == NextStep::Done),
        }
        true
    }

    /// Nothing can fire now. `false` when nothing ever will.
    fn wait(&mut self, computed: bool) -> bool {
        self.pay();
        let now_ps = self.spe.now_ps();
        let mut s = self.stream.borrow_mut();
        s.waits(self.element, now_ps);
        let done = computed && s.is_done(self.element);
        let mask = s.elements[self.element].tags() | if self.polls { 1 << POLL_TAG } else { 0 };
        drop(s);
        if done {
            // No program may end with a transfer under way into its local store.
            self.spe.tags_all(mask);
            return false;
        }
        self.spin(mask);
        self.stream.borrow_mut().waits(self.element, self.spe.now_ps());
        true
    }

    /// Looks again and again until a transfer of `mask` is over, a flag has changed, or the run ends.
    fn spin(&mut self, mask: u32) {
        let (inbox, glance) = {
            let s = self.stream.borrow();
            (s.elements[self.element].inbox.clone(), s.costs.spe.glance)
        };
        loop {
            let pause_ns = look_ns(self.spe.now_ps() - self.fired_ps);
            self.owed += inbox.len() as u64 * glance + pause_ns * SPU_CYCLES_IN_5_NS / 5;
            self.pay();
            if mask != 0 && self.spe.tags_now(mask) != 0 {
                return;
            }
            let is_news = inbox.iter().any(|flag| {
                let words = self.spe.bytes(flag.at as u32, FLAG_BYTES as u32);
                self.stream.borrow().elements[self.element].is_news(flag, words)
            });
            if is_news || !self.stream.borrow_mut().goes_on(self.element, self.spe.now_ps()) {
                return;
            }
        }
    }

    /// The time of its own code passes.
    fn pay(&mut self) {
        // A turn without any time would never end where the runtime's code costs nothing.
        self.spe.compute_cycles(self.owed.max(2));
        self.owed = 0;
    }

    fn look_at_transfers(&mut self) {
        let mask = self.stream.borrow().elements[self.element].tags();
        let mask = mask | if self.polls { 1 << POLL_TAG } else { 0 };
        if mask == 0 {
            return;
        }
        let done = self.spe.tags_now(mask);
        if self.polls && done & 1 << POLL_TAG != 0 {
            self.polls = false;
            let inbox = self.stream.borrow().elements[self.element].polled_inbox.clone();
            self.read_flags(&inbox);
        }
        let (fetches, arrival) = {
            let mut s = self.stream.borrow_mut();
            s.elements[self.element].flags_left(done);
            (s.arrived(self.element, done), s.costs.spe.arrival)
        };
        for fetch in fetches {
            loop {
                // A use of the local store may trap: nothing is borrowed meanwhile.
                let next = self.stream.borrow().to_take(self.element, fetch);
                let Some((at, bytes)) = next else { break };
                let data = self.spe.bytes(at as u32, bytes as u32);
                self.stream.borrow_mut().took(self.element, fetch, data);
                self.owed += arrival;
            }
        }
    }

    fn look_at_flags(&mut self) {
        let inbox = self.stream.borrow().elements[self.element].inbox.clone();
        self.read_flags(&inbox);
    }

    fn read_flags(&mut self, flags: &[FlagIn]) {
        self.owed += flags.len() as u64 * self.stream.borrow().costs.spe.glance;
        for flag in flags {
            let words = self.spe.bytes(flag.at as u32, FLAG_BYTES as u32);
            self.stream.borrow_mut().elements[self.element].told(flag, words);
        }
    }

    /// Asks for the lines that PPEs write, unless they are on their way.
    fn poll(&mut self) {
        if self.polls || self.polled.is_empty() || self.spe.queue_space() < self.polled.len() as u32 {
            return;
        }
        for k in 0..self.polled.len() {
            let lines = self.polled[k];
            let address = self.stream.borrow().places.base[lines.from] + lines.source;
            self.spe.get(lines.at as u32, address, lines.bytes as u32, POLL_TAG);
        }
        self.polls = true;
    }

    /// Starts every fetch that may start. Whether the queue or the tags kept one back.
    fn start_fetches(&mut self) -> bool {
        loop {
            let (start, cycles) = self.stream.borrow_mut().next_fetch(self.element);
            self.owed += cycles;
            let Some(start) = start else { return false };
            let tag = if start.pushed {
                PUSH_TAGS.start + start.fetch as u32 % PUSH_TAGS.len() as u32
            } else {
                let used = self.stream.borrow().elements[self.element].tags();
                let Some(tag) = (0..FETCH_TAGS).find(|tag| used & 1 << tag == 0) else { return true };
                tag
            };
            let pieces = pieces(start.moved);
            let commands = pieces.len() as u32 + u32::from(start.pushed);
            if self.spe.queue_space() < commands {
                return true;
            }
            self.owed += self.stream.borrow().costs.spe.transfer;
            self.stream.borrow_mut().elements[self.element].doing = Some(start.fetch);
            self.pay();
            for piece in pieces {
                let own = piece.own as u32;
                match (&piece.list[..], start.pushed) {
                    ([(address, bytes)], false) => self.spe.get(own, *address, *bytes, tag),
                    ([(address, bytes)], true) => self.spe.put(own, *address, *bytes, tag),
                    (list, pushed) => {
                        let list: Vec<ListElement> =
                            list.iter().map(|&(address, bytes)| ListElement::new(address, bytes)).collect();
                        if pushed {
                            self.spe.put_list(own, list, tag);
                        } else {
                            self.spe.get_list(own, list, tag);
                        }
                    }
                }
            }
            let head = self.stream.borrow_mut().started(self.element, start, tag);
            if let Some(k) = head {
                self.put_flag(k, tag);
            }
            self.stream.borrow_mut().elements[self.element].doing = None;
        }
    }

    /// Puts a flag of the outbox behind everything of its tag group.
    fn put_flag(&mut self, k: usize, tag: u32) {
        let (source, words, address) = {
            let mut s = self.stream.borrow_mut();
            let s = &mut *s;
            let e = &mut s.elements[self.element];
            let words = e.words(&e.outbox[k].flag);
            let out = &mut e.outbox[k];
            let copy = if out.flag.fetch.is_some() { out.puts % HEADS } else { 0 };
            out.puts += 1;
            let to = out.flag.to;
            (out.flag.source + copy * FLAG_BYTES, words, s.places.base[to] + out.flag.at)
        };
        self.spe.bytes_mut(source as u32, FLAG_BYTES as u32).copy_from_slice(&words);
        self.spe.putf(source as u32, address, FLAG_BYTES as u32, tag);
    }

    /// Sends every flag that is due and not under way. Whether the queue kept one back.
    fn send_flags(&mut self) -> bool {
        let due = std::mem::take(&mut self.stream.borrow_mut().elements[self.element].due);
        let mut blocked = false;
        for k in due {
            let under_way = self.stream.borrow().elements[self.element].outbox[k].tag.is_some();
            if under_way || blocked || self.spe.queue_space() < 1 {
                blocked |= !under_way;
                self.stream.borrow_mut().elements[self.element].due.push(k);
                continue;
            }
            let tag = {
                let mut s = self.stream.borrow_mut();
                self.owed += s.costs.spe.flag;
                let e = &mut s.elements[self.element];
                let out = &mut e.outbox[k];
                let tag = match out.flag.fetch {
                    Some(fetch) => PUSH_TAGS.start + fetch as u32 % PUSH_TAGS.len() as u32,
                    None => FLAG_TAGS.start + k as u32 % FLAG_TAGS.len() as u32,
                };
                (out.due, out.tag) = (false, Some(tag));
                e.telling.push(k);
                tag
            };
            self.pay();
            self.put_flag(k, tag);
        }
        blocked
    }

    fn fire(&mut self, unit: usize, firings: u64) {
        let element = self.element;
        let cycles = self.stream.borrow().firing_cycles(element, unit);
        let fired = self.stream.borrow_mut().fire(element, unit, firings, self.spe.now_ps());
        let Some(produced) = fired else { return };
        self.owed += cycles + (produced.ns * 3.2).round() as u64;
        self.pay();
        for (at, bytes) in &produced.writes {
            self.spe.bytes_mut(*at as u32, bytes.len() as u32).copy_from_slice(bytes);
        }
        self.fired_ps = self.spe.now_ps();
        self.stream.borrow_mut().produced(element, unit, &produced, self.fired_ps);
    }
}

/// A command: where it starts in the local store, and the other end.
pub(crate) struct DmaPiece {
    pub own: u64,
    pub list: Vec<(Address, u32)>,
}

/// The commands of a transfer: small ones up to whole quadwords, then a list of 16 kB at most each.
pub(crate) fn pieces(moved: FetchMove) -> Vec<DmaPiece> {
    let FetchMove { mut address, own: mut to, mut bytes, .. } = moved;
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
        pieces.push(DmaPiece { own: *to, list });
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
