//! Eight SPEs pass packets around a ring: the same program as in ring.py, in the same time.

use sim::{Parameters, SimError, Simulation, Spe};
use std::cell::RefCell;
use std::rc::Rc;

const SPES: usize = 8;
const ROUNDS: u32 = 24;
const BYTES: u32 = 2048;
/// Signal registers: a packet is there; the buffer that it was in is free.
const READY: u32 = 1;
const TAKEN: u32 = 2;

/// Takes the packet of the one before, counts itself in, offers it to the one after; the value at the end.
fn ring(spe: &mut Spe) -> u32 {
    let me = spe.number();
    let (before, after) = ((me + SPES - 1) % SPES, (me + 1) % SPES);
    let packet = spe.alloc(BYTES, 128); // at the same offset on every SPE
    let inbox = spe.alloc(BYTES, 128);
    let word = spe.alloc(16, 16) + 12; // a signal's word sits in the last quarter of its quadword
    spe.write_u32(word, 1);
    spe.write_u32(packet, 1000 * me as u32);
    for _ in 0..ROUNDS {
        spe.send_signal(word, after, READY, 0);
        spe.read_signal(READY);
        spe.get(inbox, spe.local_store_of(before) + u64::from(packet), BYTES, 1);
        spe.tags_all(1 << 1);
        spe.send_signal(word, before, TAKEN, 0);
        spe.read_signal(TAKEN);
        let value = spe.read_u32(inbox);
        spe.write_u32(packet, value + 1);
        spe.compute(100);
    }
    spe.read_u32(packet)
}

fn main() -> Result<(), SimError> {
    let mut cell = Simulation::new(Parameters::named("qs22").expect("a preset"))?;
    let seen = Rc::new(RefCell::new([0; SPES]));
    for i in 0..SPES {
        let seen = seen.clone();
        cell.spe(i, "ring", move |spe| {
            let value = ring(spe);
            seen.borrow_mut()[i] = value;
        })?;
    }
    let outcome = cell.run()?;
    // After three times around, every packet is back where it began, and has been counted up at every stop.
    assert_eq!(*seen.borrow(), std::array::from_fn(|i| 1000 * i as u32 + ROUNDS));
    let (cycles, hash, packets) = (outcome.cycles, outcome.hash, outcome.counters.packets());
    println!("{{\"cycles\": {cycles}, \"hash\": {hash}, \"packets\": {packets}}}");
    Ok(())
}
