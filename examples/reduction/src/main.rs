//! Sixteen SPEs on two chips add up sixteen vectors along a tree: who has a sum signals the one that takes it over.

use sim::{Address, Parameters, SimError, Simulation, Spe};

const WORDS: u32 = 1024;
const BYTES: u32 = 4 * WORDS;
/// SPU cycles for adding two vectors: four words at a time, two loads, an add and a store, the loads in pairs with
/// adds.
const ADD_CYCLES: u64 = WORDS as u64 / 4 * 3;
/// The signal register on which the others say that their sums are there: a bit for each level of the tree.
const READY: u32 = 1;

/// A vector as the SPE reads it out of its local store.
fn vector(spe: &Spe, at: u32) -> Vec<u32> {
    spe.bytes(at, BYTES)
        .chunks_exact(4)
        .map(|w| u32::from_le_bytes(w.try_into().expect("four bytes")))
        .collect()
}

/// Gets its own vector, adds those of its subtree, and hands the sum up; the root puts it into memory.
fn reduce(spe: &mut Spe, vectors: Address, result: Address, spes: usize) {
    let me = spe.number();
    let sum = spe.alloc(BYTES, 128); // at the same offset on every SPE
    let other = spe.alloc(BYTES, 128);
    let word = spe.alloc(16, 16) + 12; // a signal's word sits in the last quarter of its quadword
    spe.signal_or(READY, true); // signals of several levels add up until they are read
    spe.get(sum, vectors, BYTES, 0);
    spe.tags_all(1);
    let mut ready = 0;
    let mut level = 0;
    while 1 << level < spes {
        if me & 1 << level != 0 {
            spe.write_u32(word, 1 << level);
            spe.send_signal(word, me - (1 << level), READY, 1);
            return;
        }
        while ready & 1 << level == 0 {
            ready |= spe.read_signal(READY);
        }
        spe.get(other, spe.local_store_of(me + (1 << level)) + u64::from(sum), BYTES, 0);
        spe.tags_all(1);
        let added: Vec<u8> = vector(spe, sum)
            .into_iter()
            .zip(vector(spe, other))
            .flat_map(|(a, b)| a.wrapping_add(b).to_le_bytes())
            .collect();
        spe.bytes_mut(sum, BYTES).copy_from_slice(&added);
        spe.compute_cycles(ADD_CYCLES);
        level += 1;
    }
    spe.put(sum, result, BYTES, 0);
    spe.tags_all(1);
}

fn main() -> Result<(), SimError> {
    for spes in [2, 4, 8, 16] {
        let mut cell = Simulation::new(Parameters::named("qs22").expect("a preset"))?;
        let result = cell.allocate(0, BYTES.into(), 128)?;
        let mut expected = vec![0u32; WORDS as usize];
        for spe in 0..spes {
            let at = cell.allocate(spe / 8, BYTES.into(), 128)?; // in the memory of its own chip
            for (i, word) in cell.memory_mut(at, BYTES.into()).chunks_exact_mut(4).enumerate() {
                let value = (i as u32).wrapping_mul(2_654_435_761).rotate_left(spe as u32);
                word.copy_from_slice(&value.to_le_bytes());
                expected[i] = expected[i].wrapping_add(value);
            }
            cell.spe(spe, "reduce", move |spe| reduce(spe, at, result, spes))?;
        }
        let outcome = cell.run()?;
        let words = cell.memory(result, BYTES.into()).chunks_exact(4);
        let right = words.eq(expected.iter().map(|w| w.to_le_bytes()));
        println!(
            "{spes:2} SPEs: {:5.2} us, {} lines across the link, the sum is {}",
            outcome.elapsed_ns() / 1e3,
            outcome.counters.link_lines[0],
            if right { "right" } else { "WRONG" }
        );
    }
    Ok(())
}
