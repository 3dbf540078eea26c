//! The race detector: finds programs that use bytes while a transfer moves them.
//!
//! A command is in flight from when it is queued until its last line has arrived; a put lets go of its local store when
//! its tag group may be done. Two uses of a byte clash when one of them writes and nothing orders them. Commands of one
//! tag group are ordered by fences and barriers.
//!
//! Flags are no races: one unit may poll, by any means, for what another one writes with a single piece of up to
//! sixteen bytes, which the hardware moves as a whole. Atomic commands are there to meet on a line, and do not clash
//! with others in main memory.

use crate::Address;
use crate::dma::{Dma, ListElement, Ordering};
use crate::ids::{CommandId, UnitId};
use crate::numbers::Tag;
use std::cell::{Cell, RefCell};
use std::ops::Range;

/// Bytes that move as a whole: what polls for them sees all of them or none.
const WHOLE_BYTES: u64 = 16;

/// Bytes that a unit uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Use {
    /// Its index among the units.
    pub by: UnitId,
    pub writes: bool,
    /// Effective addresses.
    pub bytes: Range<u64>,
}

impl Use {
    pub(crate) fn new(by: UnitId, writes: bool, start: Address, bytes: u64) -> Self {
        Self { by, writes, bytes: start.0..(start + bytes).0 }
    }

    fn clashes(&self, other: &Self) -> bool {
        let overlap = self.bytes.start.max(other.bytes.start) < self.bytes.end.min(other.bytes.end);
        if !overlap || !(self.writes || other.writes) {
            return false;
        }
        let writer = if self.writes { self } else { other };
        let one_writes = self.writes != other.writes;
        let flag = one_writes && self.by != other.by && writer.bytes.end - writer.bytes.start <= WHOLE_BYTES;
        !flag
    }
}

/// A command that is in flight.
#[derive(Debug)]
struct Flight {
    mfc: usize,
    command: CommandId,
    proxy: bool,
    tag: Tag,
    order: Ordering,
    /// In the order in which commands were queued, on all queues.
    number: u64,
    /// Its text for messages, and the unit that it belongs to.
    name: String,
    /// The bytes that it uses in its own local store, until its data has left or arrived, and elsewhere.
    local: Vec<Use>,
    far: Vec<Use>,
}

impl Flight {
    fn uses(&self) -> impl Iterator<Item = &Use> {
        self.local.iter().chain(&self.far)
    }

    fn same_group(&self, other: &Self) -> bool {
        (self.mfc, self.proxy, self.tag) == (other.mfc, other.proxy, other.tag)
    }
}

/// A command as it is queued.
pub(crate) struct Queued<'a> {
    /// Whose queue, and which command it is there.
    pub mfc: usize,
    pub command: CommandId,
    /// The unit that queued it: for the PPE's commands not the queue's own.
    pub by: UnitId,
    pub proxy: bool,
    pub dma: &'a Dma,
    pub list: &'a [ListElement],
    /// The unit that queued it and the time, in words.
    pub whose: String,
}

/// The race detector; off unless asked for.
#[derive(Debug, Default)]
pub(crate) struct Races {
    /// Whether it looks at all.
    pub on: Cell<bool>,
    flights: RefCell<Vec<Flight>>,
    queued: Cell<u64>,
}

impl Races {
    /// The command in flight that uses these bytes too, if there is one.
    pub(crate) fn clash(&self, with: &Use) -> Option<String> {
        let flights = self.flights.borrow();
        let flight = flights.iter().find(|f| f.uses().any(|u| u.clashes(with)))?;
        let what = if with.writes { "writes" } else { "reads" };
        let (bytes, start) = (with.bytes.end - with.bytes.start, Address(with.bytes.start));
        Some(format!("{what} {bytes} bytes from {start} on, which are in flight: {}", flight.name))
    }

    /// Takes a command that is queued; returns another one in flight that it clashes with.
    pub(crate) fn queue(&self, queued: &Queued) -> Option<String> {
        let flight = self.flight(queued);
        let mut flights = self.flights.borrow_mut();
        let clash = flights.iter().find(|other| {
            other.uses().any(|theirs| flight.uses().any(|ours| ours.clashes(theirs)))
                && !ordered(&flights, other, &flight)
        });
        let clash = clash.map(|f| format!("{}: its bytes are in flight: {}", flight.name, f.name));
        flights.push(flight);
        clash
    }

    fn flight(&self, queued: &Queued) -> Flight {
        let Queued { mfc, command, by, proxy, dma, list, ref whose } = *queued;
        let number = self.queued.get() + 1;
        self.queued.set(number);
        let store = Address::local_store(mfc);
        let local = |ls: u32, bytes: u32| Use::new(by, !dma.put, store + u64::from(ls), bytes.into());
        let far = |ea: Address, bytes: u32| Use::new(by, dma.put, ea, bytes.into());
        let (mut locals, mut fars, mut ls) = (Vec::new(), Vec::new(), dma.ls.0);
        for element in list {
            let at = element.store_offset(ls);
            locals.push(local(at, element.bytes.0));
            fars.push(far(element.ea, element.bytes.0));
            ls = (at + element.bytes.0).next_multiple_of(16);
        }
        let what = if list.is_empty() {
            locals.push(local(dma.ls.0, dma.bytes.0));
            if !dma.ea.is_register() {
                fars.push(far(dma.ea, dma.bytes.0));
            }
            dma.to_string()
        } else {
            let what = if dma.put { "put" } else { "get" };
            format!("{what} of a list of {} elements, {:#x} of the local store", list.len(), dma.ls.0)
        };
        let name = format!("{what}, {whose}");
        Flight { mfc, command, proxy, tag: dma.tag, order: dma.order, number, name, local: locals, far: fars }
    }

    /// The data of a put has left its local store.
    pub(crate) fn left(&self, mfc: usize, command: CommandId) {
        let mut flights = self.flights.borrow_mut();
        if let Some(flight) = flights.iter_mut().find(|f| (f.mfc, f.command) == (mfc, command)) {
            flight.local.clear();
        }
    }

    /// A command's last line has arrived.
    pub(crate) fn end(&self, mfc: usize, command: CommandId) {
        self.flights.borrow_mut().retain(|f| (f.mfc, f.command) != (mfc, command));
    }
}

/// Whether fences and barriers hold `later` back until `earlier` is done.
fn ordered(flights: &[Flight], earlier: &Flight, later: &Flight) -> bool {
    let barrier = || {
        let mut between = flights.iter().filter(|f| f.same_group(earlier) && f.number >= earlier.number);
        between.any(|f| f.order == Ordering::Barrier)
    };
    earlier.same_group(later) && (later.order != Ordering::Free || barrier())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(by: usize, writes: bool, start: u64, bytes: u64) -> Use {
        Use::new(UnitId::new(by), writes, Address(start), bytes)
    }

    #[test]
    fn uses_clash_when_one_writes_the_others_bytes() {
        assert!(used(0, true, 0, 128).clashes(&used(1, false, 127, 1)));
        assert!(used(0, false, 127, 1).clashes(&used(0, true, 0, 128)));
        assert!(!used(0, true, 0, 128).clashes(&used(1, false, 128, 1)));
        assert!(!used(0, false, 0, 128).clashes(&used(1, false, 0, 128)));
        assert!(!used(0, true, 64, 0).clashes(&used(0, true, 0, 128)));
    }

    #[test]
    fn flags_are_for_others_and_small() {
        assert!(!used(0, true, 0, 16).clashes(&used(1, false, 0, 128)));
        assert!(used(0, true, 0, 17).clashes(&used(1, false, 0, 128)));
        assert!(used(0, true, 0, 16).clashes(&used(1, true, 0, 16)));
        assert!(used(0, true, 0, 16).clashes(&used(0, false, 0, 16)));
    }
}
