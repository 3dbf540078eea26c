//! Real bytes move, all of them, where they should, and not before the transfer is done.

mod drawn;
mod machines;

use drawn::drawn;
use machines::{MEMORY_BYTES, machine, owned, small};
use proptest::prelude::*;
use sim::{Address, Dma, DmaKind, LOCAL_STORE_BYTES, ListElement, Ordering, Simulation, Spe};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

const STORE: usize = LOCAL_STORE_BYTES as usize;

/// A byte for every address, different from line to line and within each.
fn pattern(i: usize) -> u8 {
    (i % 251) as u8 ^ (i / 251 % 253) as u8
}

fn fill(cell: &mut Simulation) {
    let chips = cell.parameters().chips;
    let memory = cell.memory_mut(Address(0), MEMORY_BYTES * chips as u64);
    memory.iter_mut().enumerate().for_each(|(i, byte)| *byte = pattern(i));
}

/// Every transfer in its turn, on plain arrays.
struct Model {
    memory: Vec<u8>,
    stores: Vec<Vec<u8>>,
}

impl Model {
    fn new(machine: &Simulation) -> Self {
        let p = machine.parameters();
        let memory = (0..MEMORY_BYTES as usize * p.chips).map(pattern).collect();
        Self { memory, stores: vec![vec![0; STORE]; p.spes()] }
    }

    fn far(&mut self, ea: Address) -> (&mut Vec<u8>, usize) {
        if ea < Address::local_store(0) {
            return (&mut self.memory, ea.0 as usize);
        }
        let spe = (0..16).find(|&s| ea < Address::local_store(s + 1)).unwrap();
        (&mut self.stores[spe], (ea.0 - Address::local_store(spe).0) as usize)
    }

    fn transfer(&mut self, spe: usize, dma: &Dma) {
        let (ls, bytes) = (dma.ls.0 as usize, dma.bytes.0 as usize);
        if dma.put {
            let data = self.stores[spe][ls..ls + bytes].to_vec();
            let (far, at) = self.far(dma.ea);
            far[at..at + bytes].copy_from_slice(&data);
        } else {
            let (far, at) = self.far(dma.ea);
            let data = far[at..at + bytes].to_vec();
            self.stores[spe][ls..ls + bytes].copy_from_slice(&data);
        }
    }
}

/// All local stores of a machine whose programs are done.
fn stores(cell: &mut Simulation) -> Vec<Vec<u8>> {
    let spes = cell.parameters().spes();
    let seen = Rc::new(RefCell::new(vec![Vec::new(); spes]));
    for spe in 0..spes {
        let seen = seen.clone();
        let read = move |spe: &mut Spe<'_>| {
            let bytes = spe.bytes(0, LOCAL_STORE_BYTES).to_vec();
            seen.borrow_mut()[spe.number()] = bytes;
        };
        cell.spe(spe, "read", read).unwrap();
    }
    cell.run().unwrap();
    seen.take()
}

/// The first byte that differs.
fn difference(a: &[u8], b: &[u8]) -> Option<usize> {
    if a == b { None } else { (0..a.len()).find(|&i| a[i] != b[i]) }
}

fn compare(cell: &mut Simulation, model: &Model) {
    for (spe, store) in stores(cell).iter().enumerate() {
        assert_eq!(difference(store, &model.stores[spe]), None, "local store of SPE{spe}");
    }
    let memory = cell.memory(Address(0), model.memory.len() as u64);
    assert_eq!(difference(memory, &model.memory), None, "main memory");
}

#[test]
fn every_small_size_moves_at_every_offset_of_two_lines() {
    let mut cell = machine("cell");
    fill(&mut cell);
    let mut model = Model::new(&cell);
    let mut transfers = Vec::new();
    for bytes in [1, 2, 4, 8, 16, 32, 48, 112, 128, 144] {
        for i in 0..256 / bytes.min(16) {
            let at = i * bytes.min(16);
            let far = [Address(4096 + u64::from(at)), Address::local_store(5) + u64::from(at + 512)];
            for ea in far {
                let get = Dma::new(DmaKind { put: false, order: Ordering::Barrier }, at, ea, bytes, 3);
                let put = Dma { put: true, ls: (at + 1024).into(), ea: ea + 1024, ..get };
                let back = Dma { ls: (at + 1024).into(), ..get };
                transfers.extend([get, put, back, Dma { put: true, ..get }]);
            }
        }
    }
    transfers.iter().for_each(|t| model.transfer(2, t));
    cell.spe(2, "all", move |spe| transfers.iter().for_each(|t| spe.dma(*t))).unwrap();
    cell.run().unwrap();
    compare(&mut cell, &model);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Barriers make the queue do one command after the other: the same as copying.
    #[test]
    fn transfers_behind_barriers_are_copies_in_their_order(
        randoms in proptest::collection::vec(drawn(), 1..40),
        spe in 0..16usize,
        machine_index in 0..3usize,
    ) {
        let mut cell = machine(["cell", "qs22", "ps3"][machine_index]);
        let spes = cell.parameters().spes();
        let memory = MEMORY_BYTES * cell.parameters().chips as u64;
        let spe = spe % spes;
        // Within its own local store, source and destination of one command may overlap: left out.
        let mut transfers: Vec<Dma> = randoms.iter().map(|r| r.dma(spes, memory, 1, Ordering::Barrier)).collect();
        let own = Address::local_store(spe)..Address::local_store(spe + 1);
        transfers.retain(|t| !own.contains(&t.ea));
        cell.detect_races(true);
        fill(&mut cell);
        let mut model = Model::new(&cell);
        transfers.iter().for_each(|t| model.transfer(spe, t));
        let commands = transfers.len() as u64;
        cell.spe(spe, "random", move |spe| transfers.iter().for_each(|t| spe.dma(*t))).unwrap();
        let outcome = cell.run().unwrap();
        prop_assert_eq!(outcome.counters.spes[spe].commands, commands);
        compare(&mut cell, &model);
    }

    /// SPEs that keep to their own parts of memory and stores do not disturb each other, in whatever order lines go.
    #[test]
    fn free_transfers_of_many_spes_are_copies_too(
        parts in proptest::collection::vec((1u32..=1024, 0u32..64, any::<bool>()), 4 * 16),
    ) {
        let mut cell = machine("cell");
        cell.detect_races(true);
        fill(&mut cell);
        let mut model = Model::new(&cell);
        for spe in 4..8usize {
            let dma = |i: u32| {
                let (quads, offset, put) = parts[(spe - 4) * 16 + i as usize];
                // SPEs 0 to 3 have no programs: each store belongs to one of the others, and a quarter of memory, too.
                let other = spe - 4;
                let area =
                    if i.is_multiple_of(2) { Address::local_store(other) } else { Address((other as u64) << 18) };
                let (ls, off) = (i * 16384, offset * 16);
                let bytes = (quads * 16).min(16384 - off);
                Dma::new(DmaKind { put, order: Ordering::Free }, ls, area + u64::from(ls + off), bytes, i)
            };
            let transfers: Vec<Dma> = (0..16).map(dma).collect();
            transfers.iter().for_each(|t| model.transfer(spe, t));
            cell.spe(spe, "own part", move |spe| transfers.iter().for_each(|t| spe.dma(*t))).unwrap();
        }
        cell.run().unwrap();
        compare(&mut cell, &model);
    }
}

#[test]
fn who_reads_too_early_gets_the_old_bytes() {
    let mut cell = machine("cell");
    fill(&mut cell);
    let seen = Rc::new(Cell::new([0; 3]));
    let result = seen.clone();
    cell.spe(0, "hasty", move |spe| {
        spe.bytes_mut(0, 16384).fill(99);
        spe.get(0, Address(0), 16384, 0);
        let early = spe.bytes(16383, 1)[0];
        // Most of the lines are there, the last one is not.
        while spe.bytes(8191, 1)[0] == 99 {
            spe.compute_cycles(1);
        }
        let half = spe.bytes(16383, 1)[0];
        spe.tags_all(1);
        result.set([early, half, spe.bytes(16383, 1)[0]]);
    })
    .unwrap();
    cell.run().unwrap();
    assert_eq!(seen.get(), [99, 99, pattern(16383)]);
}

#[test]
fn a_put_takes_the_bytes_that_are_there_when_they_leave() {
    let mut cell = machine("cell");
    cell.spe(0, "hasty", |spe| {
        spe.bytes_mut(0, 32).fill(1);
        spe.put(0, Address(0), 16, 0);
        // Too early: the put has not begun to read them.
        spe.bytes_mut(0, 16).fill(2);
        spe.put(16, Address(16), 16, 1);
        spe.tags_all(2);
        spe.bytes_mut(16, 16).fill(3);
    })
    .unwrap();
    cell.run().unwrap();
    assert_eq!((cell.memory(Address(0), 16)[0], cell.memory(Address(16), 16)[0]), (2, 1));
}

#[test]
fn lines_of_a_get_become_visible_one_by_one_and_never_in_part() {
    let mut cell = machine("cell");
    fill(&mut cell);
    cell.memory_mut(Address(0), 4096).fill(7);
    cell.spe(1, "watches", |spe| {
        spe.get(0, Address(0), 4096, 0);
        let mut before = 0;
        while spe.tags_now(1) == 0 {
            let there: Vec<u32> =
                (0..32).map(|l| spe.bytes(l * 128, 128).iter().map(|&b| u32::from(b)).sum()).collect();
            assert!(there.iter().all(|&sum| sum == 0 || sum == 7 * 128), "{there:?}");
            let lines = there.iter().filter(|&&sum| sum > 0).count();
            assert!(lines >= before);
            before = lines;
        }
    })
    .unwrap();
    cell.run().unwrap();
}

#[test]
fn a_list_fills_quadwords_as_the_hardware_does() {
    let mut cell = machine("cell");
    fill(&mut cell);
    let sizes = [1u32, 2, 4, 8, 16, 48, 8, 128, 4, 1];
    let places = [3u64, 6, 12, 8, 0, 0, 0, 0, 4, 15];
    let list: Vec<ListElement> = (0..10)
        .map(|i| ListElement::new(Address(1000 / 16 * 16 + i as u64 * 512 + places[i]), sizes[i]))
        .collect();
    // Each starts in the next quadword that is free, at its address's place in it.
    let (mut expected, mut next) = (vec![0; 1024], 32usize);
    for element in &list {
        let at = next + (element.ea.0 % 16) as usize;
        for i in 0..element.bytes.0 as usize {
            expected[at + i] = pattern(element.ea.0 as usize + i);
        }
        next = (at + element.bytes.0 as usize).next_multiple_of(16);
    }
    let copy = list.clone();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let result = seen.clone();
    cell.spe(0, "gathers", move |spe| {
        spe.get_list(32, &copy, 5);
        spe.tags_all(1 << 5);
        *result.borrow_mut() = spe.bytes(0, 1024).to_vec();
        // And scatters it, 64 kB further on.
        let further: Vec<ListElement> =
            copy.iter().map(|e| ListElement::new(e.ea + 65536, e.bytes)).collect();
        spe.put_list(32, &further, 6);
    })
    .unwrap();
    cell.run().unwrap();
    assert_eq!(*seen.borrow(), expected);
    for element in &list {
        let there = cell.memory(element.ea + 65536, element.bytes.0.into());
        assert!((0..there.len()).all(|i| there[i] == pattern(element.ea.0 as usize + i)));
    }
}

#[test]
fn a_list_of_2048_elements_is_one_command() {
    let mut cell = machine("cell");
    fill(&mut cell);
    let list: Vec<ListElement> =
        (0..2048u64).map(|i| ListElement::new(Address((i * 7919 % 8192) * 128), 64)).collect();
    let expected: Vec<u8> =
        list.iter().flat_map(|e| (0..64).map(move |i| pattern(e.ea.0 as usize + i))).collect();
    cell.spe(0, "gathers", move |spe| {
        spe.get_list(0, &list, 0);
        spe.tags_all(1);
        assert!(spe.bytes(0, 2048 * 64) == expected);
    })
    .unwrap();
    let outcome = cell.run().unwrap();
    assert_eq!((outcome.counters.spes[0].commands, outcome.counters.spes[0].got_bytes), (1, 2048 * 64));
}

#[test]
fn a_put_to_memory_is_done_for_its_program_when_it_has_left_and_one_to_a_store_when_it_is_there() {
    for (far, waits) in [(Address(0), false), (Address::local_store(3), true)] {
        let mut parameters = small("cell");
        parameters.bus.sink = 100_000;
        let mut cell = owned(parameters);
        cell.spe(0, "writer", move |spe| {
            spe.bytes_mut(0, 128).fill(5);
            spe.put(0, far, 128, 0);
            spe.tags_all(1);
            assert_eq!(spe.now_ps() > 100_000 * sim::CYCLE_PS, waits);
            // The command holds its place in the queue until the data has arrived.
            assert_eq!(spe.queue_space(), if waits { 16 } else { 15 });
        })
        .unwrap();
        let outcome = cell.run().unwrap();
        assert_eq!(outcome.counters.spes[0].put_bytes, 128);
    }
}
