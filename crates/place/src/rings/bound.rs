//! What no mapping beats by the model of the rings.
//!
//! Two things are known of a mapping as soon as each part has its processor: the messages between processors, and how
//! many messages are on each bus. Its four rings carry three messages each; every further one counts as overlap,
//! wherever the parts sit. The bound is the least that these two come to over all ways to share the parts out.

use super::{ASYMMETRY, LINK, Message, OVERLAP, Rings, TRANSFERS_OF_RING, Terminal};

/// Of one processor or two: so many parts at most.
const PARTS_MAX: usize = 16;
const RINGS: usize = 4;

impl Rings {
    /// No mapping costs less. 0 where that is all that is known.
    pub(super) fn least(&self) -> f64 {
        let parts = self.partners.len();
        let of_chip = |chip: usize| self.places.iter().filter(|place| place.0 == chip).count();
        let room = [of_chip(0), of_chip(1)];
        if parts > PARTS_MAX {
            return 0.0;
        }
        // Bit i: part i is on processor 1.
        let fits = |on_1: &u32| {
            let count = on_1.count_ones() as usize;
            count <= room[1] && parts - count <= room[0]
        };
        let weights: f64 = self.phases.iter().map(|(weight, _)| weight).sum();
        let cost = |on_1: u32| {
            self.phases.iter().map(|(weight, messages)| weight * of_phase(messages, on_1)).sum::<f64>()
        };
        let least = (0..1_u32 << parts).filter(fits).map(cost).fold(f64::INFINITY, f64::min);
        if least.is_finite() { least / weights } else { 0.0 }
    }
}

/// Of one phase, where these parts are on processor 1.
fn of_phase(messages: &[Message], on_1: u32) -> f64 {
    let (mut link, mut all, mut most) = (0.0, 0.0, 0.0_f64);
    let mut of_bus = [0.0; 2];
    for message in messages {
        let chip = |end: Terminal, other: Terminal| match (end, other) {
            (Terminal::Part(part), _) | (Terminal::Memory, Terminal::Part(part)) => {
                (on_1 >> part & 1) as usize
            }
            (Terminal::Memory, Terminal::Memory) => 0,
        };
        let (from, to) = (chip(message.from, message.to), chip(message.to, message.from));
        all += message.load;
        most = most.max(message.load);
        of_bus[from] += message.load;
        if from != to {
            of_bus[to] += message.load;
            link += if from == 0 { message.load } else { message.load * ASYMMETRY };
        }
    }
    if messages.is_empty() {
        return 0.0;
    }
    let free = (RINGS * TRANSFERS_OF_RING) as f64 * most;
    let beyond = |load: &f64| if *load > free { OVERLAP * (load - free) / load } else { 0.0 };
    of_bus.iter().map(beyond).sum::<f64>() + LINK * link / all
}
