//! Bytes that nobody has allocated are no bytes to use: who, which command, which address, what is allocated nearby.

mod machines;

use machines::fresh;
use sim::{Address, ListElement, Ppe, SimError, Simulation, Spe};

/// Memory from 0 to 255 and 4096 to 4111 is allocated; SPE2 has allocated 256 bytes of its local store.
fn cell() -> Simulation {
    let mut cell = fresh("cell");
    assert_eq!(cell.allocate(0, 256, 1024).unwrap(), Address(0));
    assert_eq!(cell.allocate(0, 16, 4096).unwrap(), Address(4096));
    cell.spe(2, "neighbour", |spe| assert_eq!(spe.alloc(256, 128), 0)).unwrap();
    cell
}

fn message(mut cell: Simulation, name: &str) -> Option<String> {
    match cell.run() {
        Ok(_) => None,
        Err(SimError::Trap { unit, message, .. }) => {
            assert_eq!(unit, name);
            Some(message)
        }
        other => panic!("{other:?}"),
    }
}

/// What ends a program of SPE1; it starts when SPE2 has allocated its bytes.
fn spe(program: impl FnOnce(&mut Spe<'_>) + 'static) -> Option<String> {
    let mut cell = cell();
    let program = |spe: &mut Spe<'_>| {
        spe.compute(100);
        program(spe);
    };
    cell.spe(1, "culprit", program).unwrap();
    message(cell, "SPE1")
}

fn ppe(program: impl FnOnce(&mut Ppe<'_>) + 'static) -> Option<String> {
    let mut cell = cell();
    let program = |ppe: &mut Ppe<'_>| {
        ppe.compute(100);
        program(ppe);
    };
    cell.ppe(0, "culprit", program).unwrap();
    message(cell, "PPE0")
}

#[test]
fn main_memory_is_what_was_allocated() {
    assert_eq!(
        spe(|spe| spe.get(0, Address(256), 128, 0)).unwrap(),
        "get of 128 bytes, 0x0 of the local store from memory 0x100: 128 bytes at memory 0x100 were not allocated; \
         allocated nearby: 0x0 to 0xff and 0x1000 to 0x100f"
    );
    assert!(spe(|spe| spe.put(0, Address(240), 32, 0)).unwrap().contains("32 bytes at memory 0xf0 were not"));
    assert_eq!(spe(|spe| spe.get(0, Address(0), 256, 0)), None);
    let list = [ListElement::new(Address(0), 16), ListElement::new(Address(512), 16)];
    assert!(
        spe(move |spe| spe.get_list(0, &list, 0)).unwrap().contains("element 1, 16 bytes at memory 0x200")
    );
    assert!(spe(|spe| spe.getllar(0, Address(4096))).unwrap().contains("128 bytes at memory 0x1000"));
    assert_eq!(spe(|spe| spe.getllar(0, Address(128))), None);
    assert!(
        ppe(|ppe| drop(ppe.load(Address(4112), 4))).unwrap().starts_with("load: 4 bytes at memory 0x1010")
    );
    assert!(
        ppe(|ppe| ppe.store(Address(250), &[0; 8])).unwrap().starts_with("store: 8 bytes at memory 0xfa")
    );
    assert_eq!(ppe(|ppe| drop(ppe.load(Address(4096), 16))), None);
    assert!(ppe(|ppe| ppe.proxy_get(0, 0, Address(512), 16, 0)).unwrap().contains("memory 0x200 were not"));
}

#[test]
fn on_an_empty_machine_nothing_is_allocated() {
    let mut cell = fresh("qs22");
    cell.spe(1, "culprit", |spe| spe.get(0, Address(0), 16, 0)).unwrap();
    assert!(message(cell, "SPE1").unwrap().ends_with("0x0 were not allocated; nothing is allocated"));
}

#[test]
fn a_program_that_allocates_keeps_to_what_it_has_allocated() {
    let own = |program: fn(&mut Spe<'_>)| {
        spe(move |spe| {
            assert_eq!(spe.alloc(1000, 128), 0);
            program(spe);
        })
    };
    assert_eq!(
        own(|spe| assert_eq!(spe.read_u32(2000), 0)).unwrap(),
        "4 bytes at 0x7d0 of its local store were not allocated; allocated nearby: 0x0 to 0x3ef"
    );
    assert_eq!(own(|spe| assert_eq!(spe.read_u32(996), 0)), None);
    assert!(own(|spe| spe.write_u32(1008, 1)).unwrap().contains("4 bytes at 0x3f0"));
    assert!(
        own(|spe| spe.get(896, Address(0), 128, 0))
            .unwrap()
            .contains("128 bytes at 0x380 of its local store")
    );
    assert_eq!(own(|spe| spe.get(880, Address(0), 128, 0)), None);
    assert!(own(|spe| spe.getllar(1024, Address(0))).unwrap().contains("128 bytes at 0x400"));
}

#[test]
fn others_keep_to_it_too() {
    let of = |spe: usize, at: u64| Address::local_store(spe) + at;
    assert_eq!(
        spe(move |spe| spe.get(0, of(2, 0x4000), 16, 0)).unwrap(),
        "get of 16 bytes, 0x0 of the local store from local store of SPE2 0x4000: 16 bytes at local store of SPE2 \
         0x4000 were not allocated; allocated nearby: 0x0 to 0xff"
    );
    assert_eq!(spe(move |spe| spe.get(0, of(2, 128), 128, 0)), None);
    assert!(
        ppe(move |ppe| drop(ppe.load(of(2, 256), 4))).unwrap().starts_with("load: 4 bytes at local store")
    );
    assert!(
        ppe(move |ppe| ppe.proxy_put(2, 256, Address(0), 16, 0))
            .unwrap()
            .contains("0x100 of its local store")
    );
}

#[test]
fn a_program_that_allocates_nothing_lays_out_its_local_store_itself() {
    assert_eq!(spe(|spe| spe.write_u32(200_000, 1)), None);
    assert_eq!(spe(|spe| spe.get(0, Address::local_store(3) + 4096, 16, 0)), None);
}
