//! The race detector names who uses bytes while a transfer moves them, and lets orderly programs be.

mod machines;

use machines::{machine, owned, small};
use sim::op::{Op, Reply, Stepped, Stepper};
use sim::table::spe as calls;
use sim::{Address, Dma, DmaKind, ListElement, Ordering, Ppe, SimError, Simulation, Spe};

/// The race that a program of SPE1 ends with: its message.
fn race(program: impl FnOnce(&mut Spe<'_>) + Clone + 'static) -> String {
    // Without the detector nothing happens.
    let mut cell = machine("cell");
    cell.spe(1, "racer", program.clone()).unwrap();
    cell.run().unwrap();
    let mut cell = machine("cell");
    cell.detect_races(true);
    cell.spe(1, "racer", program).unwrap();
    raced(&mut cell, "SPE1")
}

fn raced(cell: &mut Simulation, who: &str) -> String {
    match cell.run() {
        Err(SimError::Race { unit, program, message, .. }) => {
            assert_eq!((unit.as_str(), program.as_str()), (who, "racer"));
            message
        }
        other => panic!("no race: {other:?}"),
    }
}

/// A program of SPE1 that is in order.
fn in_order(program: impl FnOnce(&mut Spe<'_>) + 'static) {
    let mut cell = machine("cell");
    cell.detect_races(true);
    cell.spe(1, "orderly", program).unwrap();
    cell.run().unwrap();
}

#[test]
fn who_reads_too_early_is_named() {
    let message = race(|spe| {
        spe.compute(1000);
        spe.get(0, Address(4096), 256, 0);
        spe.read_u32(252);
        spe.tags_all(1);
    });
    assert_eq!(
        message,
        "reads 4 bytes from local store of SPE1 0xfc on, which are in flight: get of 256 bytes, 0x0 of the local store \
         from memory 0x1000, queued by SPE1 (racer) at 1.003 us"
    );
}

#[test]
fn a_get_must_be_over_before_its_bytes_are_used_and_a_put_before_they_are_written() {
    for used in [0, 100, 255] {
        assert!(
            race(move |spe| {
                spe.get(0, Address(0), 256, 0);
                spe.bytes(used, 1);
            })
            .starts_with("reads 1 bytes")
        );
        assert!(
            race(move |spe| {
                spe.put(0, Address(0), 256, 0);
                spe.bytes_mut(used, 1)[0] = 1;
            })
            .starts_with("writes 1 bytes")
        );
    }
    in_order(|spe| {
        spe.get(0, Address(0), 256, 0);
        spe.put(1024, Address(1024), 256, 1);
        spe.bytes(1024, 256);
        spe.bytes_mut(256, 768).fill(1);
        spe.write_u32(1280, 1);
        spe.tags_all(1);
        spe.bytes_mut(0, 256).fill(2);
        spe.tags_all(2);
        spe.bytes_mut(1024, 256).fill(2);
    });
}

#[test]
fn a_put_to_memory_lets_its_own_end_go_before_the_other() {
    in_order(|spe| {
        spe.put(0, Address(0), 16384, 0);
        spe.tags_all(1);
        spe.bytes_mut(0, 16384).fill(1);
    });
    // Its last line has left; it has not arrived.
    let mut parameters = small("cell");
    parameters.bus.sink = 1000;
    let mut cell = owned(parameters);
    cell.detect_races(true);
    cell.spe(1, "racer", |spe| {
        spe.put(0, Address(0), 16384, 0);
        spe.tags_all(1);
        spe.get(32768, Address(16384 - 128), 128, 1);
    })
    .unwrap();
    let message = raced(&mut cell, "SPE1");
    assert!(message.contains("get of 128 bytes") && message.contains("put of 16384 bytes"), "{message}");
}

#[test]
fn two_commands_of_which_one_writes_need_a_fence() {
    let two = |fence: bool, tag: u32, put_first: bool| {
        move |spe: &mut Spe<'_>| {
            let order = if fence { Ordering::Fence } else { Ordering::Free };
            let first = Dma::new(DmaKind { put: put_first, order: Ordering::Free }, 0, Address(0), 1024, 0);
            spe.dma(first);
            spe.dma(Dma { put: !put_first, ea: Address(4096), tag: tag.into(), order, ..first });
        }
    };
    for put_first in [true, false] {
        let message = race(two(false, 0, put_first));
        assert!(message.contains("get of 1024 bytes") && message.contains("put of 1024 bytes"), "{message}");
        // A fence is one of its own tag group.
        race(two(true, 1, put_first));
        in_order(two(true, 0, put_first));
    }
    in_order(|spe| {
        spe.getb(0, Address(0), 1024, 0);
        spe.put(0, Address(4096), 1024, 0);
    });
    in_order(|spe| {
        // The barrier between them orders them, though neither has one.
        spe.get(0, Address(0), 1024, 0);
        spe.getb(8192, Address(16384), 16, 0);
        spe.put(0, Address(4096), 1024, 0);
    });
    in_order(|spe| {
        // Both read the local store.
        spe.put(0, Address(0), 1024, 0);
        spe.put(0, Address(4096), 1024, 1);
    });
    assert!(
        race(|spe| {
            spe.put(0, Address(0), 1024, 0);
            spe.put(4096, Address(1008), 16, 1);
        })
        .contains("put of 16 bytes")
    );
}

#[test]
fn elements_of_lists_count_one_by_one() {
    let element = |ea: u64, bytes: u32| ListElement::new(Address(ea), bytes);
    let list = [element(1000, 8), element(4096, 128), element(8192, 16)];
    let at = |offset: u32| {
        move |spe: &mut Spe<'_>| {
            spe.get_list(0, &list, 3);
            spe.bytes(offset, 1);
        }
    };
    for used in [8, 15, 16, 143, 144, 159] {
        assert!(race(at(used)).contains("get of a list of 3 elements"));
    }
    for unused in [0, 7, 160] {
        in_order(at(unused));
    }
    assert!(
        race(move |spe| {
            spe.put_list(0, &list, 3);
            spe.get(16384, Address(8192), 16, 4);
        })
        .contains("put of a list of 3 elements")
    );
}

#[test]
fn other_spes_and_ppes_are_named_too() {
    let mut cell = machine("cell");
    cell.detect_races(true);
    cell.spe(0, "victim", |spe| spe.put(0, spe.local_store_of(1), 4096, 0)).unwrap();
    cell.spe(1, "racer", |spe| {
        spe.compute_cycles(100);
        spe.read_u32(4092);
    })
    .unwrap();
    let message = raced(&mut cell, "SPE1");
    assert!(message.contains("queued by SPE0 (victim)"), "{message}");

    let ppe_races = |program: fn(&mut Ppe<'_>)| {
        let mut cell = machine("cell");
        cell.detect_races(true);
        cell.spe(0, "victim", |spe| {
            spe.put(0, Address(0), 16384, 0);
            spe.get(32768, Address(32768), 16384, 1);
        })
        .unwrap();
        let program = move |ppe: &mut Ppe<'_>| {
            ppe.compute(10);
            program(ppe);
        };
        cell.ppe(0, "racer", program).unwrap();
        raced(&mut cell, "PPE0")
    };
    assert!(ppe_races(|ppe| drop(ppe.load(Address(0), 4))).starts_with("reads 4 bytes from memory 0x0"));
    assert!(ppe_races(|ppe| ppe.store(Address(8192), &[0; 4])).starts_with("writes 4 bytes"));
    assert!(ppe_races(|ppe| ppe.store(Address(32768), &[0; 17])).starts_with("writes 17 bytes"));
    assert!(ppe_races(|ppe| drop(ppe.load(Address::local_store(0) + 40000, 1))).contains("get of"));
    assert!(ppe_races(|ppe| ppe.store(Address::local_store(0), &[0; 17])).contains("put of"));
}

#[test]
fn a_ppes_own_commands_are_in_flight_for_it() {
    let mut cell = machine("cell");
    cell.detect_races(true);
    cell.ppe(0, "racer", |ppe| {
        ppe.proxy_get(3, 0, Address(0), 16, 0);
        ppe.load(Address::local_store(3), 4);
    })
    .unwrap();
    let message = raced(&mut cell, "PPE0");
    assert!(message.contains("queued by PPE0 (racer) at "), "{message}");
}

#[test]
fn polling_for_flags_is_no_race() {
    let mut cell = machine("cell");
    cell.detect_races(true);
    let row = Address(4096);
    cell.spe(0, "sends", move |spe| {
        spe.bytes_mut(0, 16).fill(1);
        spe.put(0, spe.local_store_of(1) + 16, 16, 0);
        spe.put(4, row + 4, 4, 0);
        spe.tags_all(1);
        spe.read_signal(1);
    })
    .unwrap();
    cell.spe(1, "polls", move |spe| {
        while spe.read_u32(16) == 0 {
            spe.compute_cycles(2);
        }
        // A row of flags in memory, fetched again and again.
        loop {
            spe.get(128, row, 128, 0);
            spe.tags_all(1);
            if spe.read_u32(132) != 0 && spe.read_u32(136) != 0 {
                break;
            }
        }
        spe.send_signal(12, 0, 1, 2);
    })
    .unwrap();
    cell.ppe(0, "stores a flag", move |ppe| {
        ppe.compute(2000);
        ppe.store_u32(row + 8, 1);
    })
    .unwrap();
    cell.run().unwrap();
}

#[test]
fn atomic_commands_meet_on_a_line_without_a_race() {
    let mut cell = machine("cell");
    cell.detect_races(true);
    for spe in 0..4 {
        cell.spe(spe, "counts", |spe| {
            for _ in 0..20 {
                loop {
                    spe.getllar(0, Address(0));
                    let n = spe.read_u32(0);
                    spe.write_u32(0, n + 1);
                    if spe.putllc(0, Address(0)) {
                        break;
                    }
                }
            }
        })
        .unwrap();
    }
    cell.run().unwrap();
    assert_eq!(cell.memory(Address(0), 4), [80, 0, 0, 0]);
    // Their end in the local store is like any other.
    assert!(
        race(|spe| {
            spe.get(0, Address(4096), 128, 0);
            spe.getllar(0, Address(0));
        })
        .contains("get of 128 bytes")
    );
}

/// Hands over operations in a row.
struct Row(std::vec::IntoIter<Op>);

impl Stepper for Row {
    fn step(&mut self, _: Reply, _: u64) -> Stepped {
        self.0.next().map_or(Stepped::Done, Stepped::Op)
    }
}

#[test]
fn steppers_race_as_closures_do() {
    let get = Op::Dma(Dma::new(DmaKind { put: false, order: Ordering::Free }, 0, Address(0), 64, 0));
    for op in [calls::read(60, 8), calls::write(0, &[1])] {
        let mut cell = machine("cell");
        cell.detect_races(true);
        cell.spe_stepper(1, "racer", Box::new(Row(vec![get.clone(), op].into_iter()))).unwrap();
        assert!(raced(&mut cell, "SPE1").contains("get of 64 bytes"));
    }
}
