//! What comes before what: fences, barriers, tag groups, queues.

mod machines;

use machines::{MEMORY_BYTES, machine, owned, small};
use proptest::prelude::*;
use sim::trace::Trace;
use sim::{Address, LOCAL_STORE_BYTES, ListElement};
use std::cell::Cell;
use std::rc::Rc;

/// How a flag is sent after its data.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Flag {
    Free,
    Fenced,
    /// The data has a barrier, the flag has nothing.
    BehindBarrier,
}

/// Where the data goes, and the flag.
#[derive(Debug, Clone, Copy, PartialEq)]
enum To {
    Store,
    Memory,
    /// The data to memory, the flag to the consumer's local store.
    Both,
}

/// A producer sends rounds of data, each with a flag after it, and the consumer looks. How often it saw the flag of a
/// round and not all of its data.
fn overtaken(machine_name: &str, producer: usize, consumer: usize, bytes: u32, to: To, flag: Flag) -> u32 {
    const ROUNDS: u32 = 6;
    const DATA: u32 = 32768;
    const FLAG: u32 = 128;
    let mut sim = machine(machine_name);
    let memory = Address(if consumer >= 8 { MEMORY_BYTES } else { 0 });
    let (data, flags) = match to {
        To::Store => (Address::local_store(consumer) + u64::from(DATA), Address::local_store(consumer)),
        To::Memory => (memory + u64::from(DATA), memory),
        To::Both => (memory + u64::from(DATA), Address::local_store(consumer)),
    };
    sim.spe(producer, "producer", move |spe| {
        for round in 1..=ROUNDS {
            spe.bytes_mut(DATA, bytes).fill(round as u8);
            spe.bytes_mut(FLAG, 16).fill(round as u8);
            match flag {
                Flag::BehindBarrier => spe.putb(DATA, data, bytes, 4),
                _ => spe.put(DATA, data, bytes, 4),
            }
            match flag {
                Flag::Fenced => spe.putf(FLAG, flags + u64::from(FLAG), 16, 4),
                _ => spe.put(FLAG, flags + u64::from(FLAG), 16, 4),
            }
            spe.read_signal(1);
        }
    })
    .unwrap();
    let overtaken = Rc::new(Cell::new(0));
    let count = overtaken.clone();
    sim.spe(consumer, "consumer", move |spe| {
        for round in 1..=ROUNDS {
            loop {
                if to == To::Memory {
                    spe.get(FLAG, flags + u64::from(FLAG), 16, 0);
                    spe.tags_all(1);
                } else {
                    spe.compute_cycles(2);
                }
                if spe.bytes(FLAG, 1)[0] == round as u8 {
                    break;
                }
            }
            if to != To::Store {
                spe.get(DATA, data, bytes, 0);
                spe.tags_all(1);
            }
            if spe.bytes(DATA, bytes).iter().any(|&b| b != round as u8) {
                count.set(count.get() + 1);
            }
            spe.send_signal(12, producer, 1, 1);
        }
    })
    .unwrap();
    // Others who are in the way.
    for spe in (0..8).filter(|&s| s != producer && s != consumer) {
        sim.spe(spe, "noise", move |spe| {
            for i in 0..8 {
                let put_to = spe.local_store_of(consumer) + 131_072;
                spe.put(0, put_to, 4096, i);
                spe.get(65536, Address(0x80000), 8192, i);
            }
        })
        .unwrap();
    }
    sim.run().unwrap();
    overtaken.get()
}

#[test]
fn a_flag_behind_a_fence_or_a_barrier_is_never_seen_before_its_data() {
    for flag in [Flag::Fenced, Flag::BehindBarrier] {
        for to in [To::Store, To::Memory, To::Both] {
            for (machine, producer, consumer) in [("cell", 0, 7), ("qs22", 0, 9), ("qs22", 13, 2)] {
                for bytes in [128, 1040, 16384] {
                    let seen = overtaken(machine, producer, consumer, bytes, to, flag);
                    assert_eq!(seen, 0, "{flag:?} {to:?} {machine} {producer} {consumer} {bytes}");
                }
            }
        }
    }
}

/// SPE0 puts data to the other chip and a flag to its own. When the data was there, and the flag.
fn data_and_flag(flag: Flag) -> (u64, u64) {
    let mut blade = machine("qs22");
    blade
        .spe(0, "producer", move |spe| {
            spe.bytes_mut(0, 1024).fill(1);
            let (data, there) = (spe.local_store_of(9), spe.local_store_of(7));
            match flag {
                Flag::BehindBarrier => spe.putb(0, data, 1024, 0),
                _ => spe.put(0, data, 1024, 0),
            }
            match flag {
                Flag::Fenced => spe.putf(0, there, 16, 0),
                _ => spe.put(0, there, 16, 0),
            }
        })
        .unwrap();
    let times = Rc::new(Cell::new([0; 2]));
    for (i, (spe, last)) in [(9, 1023), (7, 15)].into_iter().enumerate() {
        let times = times.clone();
        blade
            .spe(spe, "looks", move |spe| {
                while spe.bytes(last, 1)[0] == 0 {
                    spe.compute_cycles(2);
                }
                let mut both = times.get();
                both[i] = spe.now_ps();
                times.set(both);
            })
            .unwrap();
    }
    blade.run().unwrap();
    let [data, flag] = times.get();
    (data, flag)
}

#[test]
fn only_fences_and_barriers_keep_a_flag_from_overtaking_data_that_goes_elsewhere() {
    let (data, flag) = data_and_flag(Flag::Free);
    assert!(flag < data);
    for order in [Flag::Fenced, Flag::BehindBarrier] {
        let (data, flag) = data_and_flag(order);
        assert!(flag > data, "{order:?}: {flag} {data}");
    }
}

#[test]
fn a_fenced_put_passes_on_what_a_get_before_it_brings() {
    for fenced in [true, false] {
        let mut cell = machine("cell");
        cell.memory_mut(Address(0), 128).fill(1);
        cell.spe(0, "relays", move |spe| {
            spe.get(0, Address(0), 128, 0);
            if fenced {
                spe.putf(0, Address(8192), 128, 0);
            } else {
                spe.put(0, Address(8192), 128, 0);
            }
        })
        .unwrap();
        cell.run().unwrap();
        let passed_on = cell.memory(Address(8192), 128).iter().all(|&b| b == 1);
        assert_eq!(passed_on, fenced);
    }
}

#[test]
fn fences_and_barriers_hold_back_their_own_tag_group_only() {
    // When a small get is done that follows a large one, by the tag and order of both.
    let done = |first_barrier: bool, fence: bool, tag: u32| {
        let mut cell = machine("cell");
        let at = Rc::new(Cell::new(0));
        let result = at.clone();
        cell.spe(0, "one", move |spe| {
            if first_barrier {
                spe.getb(0, Address(0), 16384, 0);
            } else {
                spe.get(0, Address(0), 16384, 0);
            }
            spe.bytes_mut(65536, 16).fill(1);
            if fence {
                spe.getf(65536, Address(16384), 16, tag);
            } else {
                spe.get(65536, Address(16384), 16, tag);
            }
            while spe.bytes(65536, 1)[0] == 1 {
                spe.compute_cycles(2);
            }
            result.set(spe.now_ps());
        })
        .unwrap();
        cell.run().unwrap();
        at.get()
    };
    let free = done(false, false, 0);
    assert!(done(false, true, 0) > free);
    assert!(done(true, false, 0) > free);
    assert_eq!(done(false, true, 1), free);
    assert_eq!(done(true, false, 1), free);
}

#[test]
fn tag_status_answers_now_or_with_any_or_with_all() {
    let mut cell = machine("cell");
    cell.spe(0, "asks", |spe| {
        assert_eq!((spe.tags_all(0), spe.tags_any(0), spe.tags_now(0)), (0, 0, 0));
        assert_eq!(spe.tags_now(u32::MAX), u32::MAX);
        spe.get(0, Address(0), 16, 1);
        spe.get(16384, Address(16384), 16384, 2);
        spe.get(32768, Address(32768), 16384, 31);
        assert_eq!(spe.tags_now(1 << 1 | 1 << 2 | 1 << 31 | 1), 1);
        assert_eq!(spe.tags_any(1 << 1 | 1 << 2 | 1 << 31), 1 << 1);
        let first = spe.now_ps();
        assert_eq!(spe.tags_any(1 << 2 | 1 << 31) & 1 << 2, 1 << 2);
        let second = spe.now_ps();
        assert!(second > first);
        assert_eq!(spe.tags_all(1 << 1 | 1 << 2 | 1 << 31), 1 << 1 | 1 << 2 | 1 << 31);
        assert!(spe.now_ps() > second);
        assert_eq!(spe.tags_any(1 << 1 | 1 << 2), 1 << 1 | 1 << 2);
    })
    .unwrap();
    cell.run().unwrap();
}

#[test]
fn asking_for_tag_status_takes_its_time_whoever_else_wakes_the_program() {
    // Transfers that end in the same cycle, or while the answer is on its way, do not bring it sooner.
    for others in 0..12 {
        let mut cell = machine("cell");
        let status = cell.parameters().spu.tag_status * sim::CYCLE_PS;
        cell.trace(true);
        cell.spe(0, "asks", move |spe| {
            for i in 0..4 {
                spe.get(i * 128, Address(u64::from(i) * 128), 128, i);
                spe.get(16384 + i * 128, spe.local_store_of(1) + u64::from(i) * 128, 128, 8 + i);
            }
            let mut left = 0xf0f;
            while left != 0 {
                let before = spe.now_ps();
                left &= !spe.tags_any(left);
                assert!(spe.now_ps() - before >= status);
            }
        })
        .unwrap();
        for spe in 1..=others.min(7) {
            cell.spe(spe, "noise", move |spe| spe.put(0, spe.local_store_of(0) + 65536, 2048, 0)).unwrap();
        }
        cell.run().unwrap();
    }
}

/// When each of `n` commands was taken, in bus cycles from the first call.
fn taken_at(n: u32) -> Vec<u64> {
    let mut cell = machine("cell");
    let times = Rc::new(std::cell::RefCell::new(Vec::new()));
    let result = times.clone();
    cell.spe(0, "queues", move |spe| {
        for i in 0..n {
            assert_eq!(spe.queue_space() > 0, i < 16, "{i}");
            let before = spe.now_ps();
            spe.get(0, Address(0), 16384, 0);
            result.borrow_mut().push((spe.now_ps() - before) / sim::CYCLE_PS);
        }
        spe.tags_all(1);
        assert_eq!(spe.queue_space(), 16);
    })
    .unwrap();
    cell.run().unwrap();
    times.take()
}

#[test]
fn the_seventeenth_command_stalls_until_one_is_done() {
    let dma = machine("cell").parameters().spu.dma;
    let taken = taken_at(18);
    assert_eq!(taken[..16], [dma; 16]);
    // 16 kB take 1024 cycles at 16 bytes a cycle; the queue has been filled meanwhile.
    assert!(taken[16] > 500 && taken[17] > 500, "{taken:?}");
}

#[test]
fn a_queue_can_be_shorter() {
    let mut parameters = small("cell");
    parameters.mfc.queue = 2;
    let mut cell = owned(parameters);
    cell.spe(0, "queues", |spe| {
        assert_eq!(spe.queue_space(), 2);
        spe.get(0, Address(0), 16384, 0);
        spe.get(0, Address(0), 16384, 0);
        assert_eq!(spe.queue_space(), 0);
    })
    .unwrap();
    cell.run().unwrap();
}

#[test]
fn the_ninth_command_of_a_ppe_stalls() {
    let mut parameters = small("cell");
    parameters.ppe.proxy = 3;
    let mut cell = owned(parameters);
    cell.ppe(0, "proxies", |ppe| {
        for i in 0..10 {
            let before = ppe.now_ps();
            ppe.proxy_get(2, i * 16384, Address(0), 16384, i);
            let cycles = (ppe.now_ps() - before) / sim::CYCLE_PS;
            assert_eq!(cycles > 3, i >= 8, "command {i} took {cycles}");
        }
        assert_eq!(ppe.proxy_wait(2, 0x3ff), 0x3ff);
    })
    .unwrap();
    // The SPE's own queue is another one.
    cell.spe(2, "idle", |spe| assert_eq!(spe.queue_space(), 16)).unwrap();
    cell.run().unwrap();
}

/// The first cycle of the packets of a trace.
fn starts(trace: Option<Trace>) -> Vec<u64> {
    trace.unwrap().packets.iter().map(|p| p.start).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Whatever is behind a barrier starts after everything before it has ended.
    #[test]
    fn nothing_passes_a_barrier(before in 1u32..6, after in 1u32..6, puts in any::<u16>(), size in 1u32..64) {
        let mut cell = machine("cell");
        cell.trace(true);
        cell.spe(0, "one", move |spe| {
            for i in 0..before + 1 + after {
                let ea = spe.local_store_of(1) + u64::from(i * 8192);
                let put = puts >> i & 1 != 0;
                match (i == before, put) {
                    (true, true) => spe.putb(i * 8192, ea, size * 16, 0),
                    (true, false) => spe.getb(i * 8192, ea, size * 16, 0),
                    (false, true) => spe.put(i * 8192, ea, size * 16, 0),
                    (false, false) => spe.get(i * 8192, ea, size * 16, 0),
                }
            }
        })
        .unwrap();
        let starts = starts(cell.run().unwrap().trace);
        let lines = (size as usize * 16).div_ceil(128);
        let (b, a) = (before as usize * lines, after as usize * lines);
        let barrier = &starts[b..b + lines];
        prop_assert_eq!(starts.len(), b + lines + a);
        let latest = |part: &[u64]| part.iter().max().copied().unwrap();
        prop_assert!(barrier.iter().all(|&s| s > latest(&starts[..b]) + 8));
        prop_assert!(starts[b + lines..].iter().all(|&s| s > latest(barrier) + 8));
    }
}

#[test]
fn lists_have_fences_and_barriers_too() {
    // Each list brings what the one before it has put, over the same bytes of memory.
    for barrier in [false, true] {
        let mut cell = machine("cell");
        let list: Vec<ListElement> = (0..64).map(|i| ListElement::new(Address(i * 256), 128)).collect();
        cell.spe(0, "lists", move |spe| {
            for round in 0..4u32 {
                let (from, to) = (round * 8192, (round + 1) * 8192);
                spe.bytes_mut(from, 8192).iter_mut().for_each(|b| *b += 1);
                if barrier {
                    spe.put_listb(from, &list, 3);
                    spe.get_listb(to, &list, 3);
                } else {
                    spe.put_listf(from, &list, 3);
                    spe.get_listf(to, &list, 3);
                }
                spe.tags_all(1 << 3);
            }
            assert!(spe.bytes(4 * 8192, 8192).iter().all(|&b| b == 4));
        })
        .unwrap();
        cell.run().unwrap();
    }
}

#[test]
fn a_full_store_moves_at_once() {
    let mut cell = machine("cell");
    cell.spe(0, "all", |spe| {
        for i in 0..LOCAL_STORE_BYTES / 16384 {
            spe.get(i * 16384, spe.local_store_of(5) + u64::from(i * 16384), 16384, i);
        }
        spe.tags_all(0xffff);
    })
    .unwrap();
    assert_eq!(cell.run().unwrap().counters.spes[0].got_bytes, u64::from(LOCAL_STORE_BYTES));
}
