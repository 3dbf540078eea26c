//! Everything that the hardware would trap ends the simulation: who, which program, which command, what is allowed.

mod machines;

use machines::{MEMORY_BYTES, machine};
use sim::numbers::Tag;
use sim::op::{Op, Reply, Stepped, Stepper};
use sim::{
    Address, DMA_BYTES_MAX, Dma, DmaKind, LIST_MAX, LOCAL_STORE_BYTES, ListElement, Ordering, PPE_BYTES_MAX,
    Ppe, SimError, Spe,
};

/// What SPE1 is trapped with when it runs this program.
fn trapped<R>(program: impl FnOnce(&mut Spe<'_>) -> R + 'static) -> String {
    let mut cell = machine("cell");
    cell.spe(1, "culprit", |spe| drop(program(spe))).unwrap();
    match cell.run() {
        Err(SimError::Trap { unit, program, message, .. }) => {
            assert_eq!((unit.as_str(), program.as_str()), ("SPE1", "culprit"));
            message
        }
        other => panic!("no trap: {other:?}"),
    }
}

/// What PPE0 is trapped with when it runs this program.
fn ppe_trapped<R>(program: impl FnOnce(&mut Ppe<'_>) -> R + 'static) -> String {
    let mut cell = machine("cell");
    cell.ppe(0, "culprit", |ppe| drop(program(ppe))).unwrap();
    match cell.run() {
        Err(SimError::Trap { unit, program, message, .. }) => {
            assert_eq!((unit.as_str(), program.as_str()), ("PPE0", "culprit"));
            message
        }
        other => panic!("no trap: {other:?}"),
    }
}

/// Whether SPE1 of a Cell gets through with one command.
fn passes(dma: Dma) -> bool {
    let mut cell = machine("cell");
    cell.spe(1, "one", move |spe| {
        spe.dma(dma);
        spe.tags_all(u32::MAX);
    })
    .unwrap();
    match cell.run() {
        Ok(_) => true,
        Err(SimError::Trap { .. }) => false,
        Err(other) => panic!("{other}"),
    }
}

fn get(ls: u32, ea: u64, bytes: u32) -> Dma {
    Dma::new(DmaKind { put: false, order: Ordering::Free }, ls, Address(ea), bytes, 0)
}

#[test]
fn every_size_has_its_alignment_at_both_ends() {
    for bytes in [1, 2, 4, 8, 16, 32, 128, 1040, DMA_BYTES_MAX] {
        let align = bytes.min(16);
        for off in 0..16 {
            let aligned = off % align == 0;
            // Both ends at the same place in a quadword: only the alignment counts.
            assert_eq!(passes(get(off, 256 + u64::from(off), bytes)), aligned, "{bytes} bytes at {off}");
            assert_eq!(passes(Dma { put: true, ..get(off, 256 + u64::from(off), bytes) }), aligned);
        }
        if bytes < 16 {
            // Both are aligned, but to different places in a quadword.
            assert!(!passes(get(align, 256, bytes)) && !passes(get(0, 256 + u64::from(align), bytes)));
        }
    }
    let message = trapped(|spe| spe.get(8, Address(128), 16, 0));
    assert_eq!(
        message,
        "get of 16 bytes, 0x8 of the local store from memory 0x80: both ends must be multiples of 16"
    );
    let message = trapped(|spe| spe.put(4, Address(0), 4, 0));
    assert!(message.contains("same place in a quadword"), "{message}");
}

#[test]
fn sizes_are_small_powers_or_quadwords_up_to_sixteen_kilobytes() {
    for bytes in (0..64).chain(16368..16420).chain([32768, u32::MAX, u32::MAX - 15]) {
        let allowed = matches!(bytes, 1 | 2 | 4 | 8) || bytes % 16 == 0 && (16..=16384).contains(&bytes);
        assert_eq!(passes(get(0, 0, bytes)), allowed, "{bytes}");
    }
    let message = trapped(|spe| spe.put(0, Address(0), 16400, 0));
    assert_eq!(
        message,
        "put of 16400 bytes, 0x0 of the local store to memory 0x0: sizes are 1, 2, 4, 8, or a \
         multiple of 16 up to 16384"
    );
}

#[test]
fn tags_are_0_to_31() {
    assert!(passes(Dma { tag: Tag(31), ..get(0, 0, 16) }));
    for tag in [32, u32::MAX] {
        let message = trapped(move |spe| spe.get(0, Address(0), 16, tag));
        assert!(message.ends_with(&format!("tag {tag}; allowed: 0 to 31")), "{message}");
        let message = trapped(move |spe| spe.put_list(0, &[ListElement::new(Address(0), 16)], tag));
        assert!(message.ends_with(&format!("tag {tag}; allowed: 0 to 31")), "{message}");
    }
}

#[test]
fn there_is_nothing_beyond_memory_local_stores_and_registers() {
    let stores = Address::local_store(0).0;
    let end = stores + u64::from(LOCAL_STORE_BYTES);
    for ea in
        [MEMORY_BYTES, MEMORY_BYTES - 16, 1 << 39, stores - 16, end, end - 16, u64::MAX - 15, u64::MAX - 31]
    {
        assert!(!passes(get(0, ea, 32)), "{ea:#x}");
        assert!(!passes(Dma { put: true, ..get(0, ea, 32) }), "{ea:#x}");
    }
    assert!(passes(get(0, MEMORY_BYTES - 32, 32)) && passes(get(0, end - 32, 32)));
    assert!(!passes(get(LOCAL_STORE_BYTES - 16, 0, 32)) && !passes(get(u32::MAX - 15, 0, 32)));
    assert!(passes(get(LOCAL_STORE_BYTES - 32, 0, 32)));
    let message = trapped(|spe| spe.get(0, spe.local_store_of(8), 16, 0));
    assert!(message.contains("local store of SPE8") && message.contains("SPE0 to SPE7"), "{message}");
    let message = trapped(|spe| spe.get(0, spe.local_store_of(usize::MAX), 16, 0));
    assert!(message.contains("not all there"), "{message}");
    let message = trapped(|spe| spe.send_signal(12, usize::MAX, 2, 0));
    assert!(message.contains("put of 4 bytes"), "{message}");
}

#[test]
fn registers_take_puts_of_four_bytes() {
    let (mailbox, signal) = (Address::mailbox(2).0, Address::signal(2, 1).0);
    for register in [mailbox, signal, Address::signal(2, 2).0] {
        assert!(passes(Dma { put: true, ..get(12, register, 4) }));
        assert!(!passes(Dma { put: true, ..get(12, register, 1) }));
        assert!(!passes(Dma { put: true, ..get(12, register, 2) }));
        assert!(!passes(Dma { put: true, ..get(8, register - 4, 8) }));
        assert!(!passes(Dma { put: true, ..get(0, register - 12, 16) }));
        assert!(!passes(get(12, register, 4)));
    }
    let message = trapped(move |spe| spe.get(12, Address(signal), 4, 0));
    assert_eq!(
        message,
        "get of 4 bytes, 0xc of the local store from signal register 1 of SPE2: registers cannot be read by DMA"
    );
    let message = trapped(move |spe| spe.put(14, Address(mailbox + 2), 2, 0));
    assert!(message.contains("4400e (nothing)"), "{message}");
    assert!(trapped(|spe| spe.send_signal(12, 3, 3, 0)).contains("signal register 3; there are 1 and 2"));
    assert!(trapped(|spe| spe.read_signal(0)).contains("signal register 0; there are 1 and 2"));
    assert!(trapped(|spe| spe.signal_count(3)).contains("signal register 3; there are 1 and 2"));
    assert!(trapped(|spe| spe.signal_or(7, true)).contains("signal register 7; there are 1 and 2"));
}

#[test]
fn a_local_store_that_is_full_says_by_how_much() {
    let message = trapped(|spe| {
        assert_eq!(spe.alloc(100_000, 128), 0);
        assert_eq!(spe.alloc(1, 1), 100_000);
        assert_eq!(spe.alloc(16, 4096), 102_400);
        spe.alloc(200_000, 16);
    });
    assert_eq!(message, "no room for 200000 bytes in its local store: 102416 of 262144 are taken");
    assert!(trapped(|spe| spe.alloc(16, 24)).contains("aligned to 24, which is no power of two"));
    assert!(trapped(|spe| spe.alloc(16, 0)).contains("aligned to 0"));
    assert!(trapped(|spe| spe.alloc(u32::MAX, 1)).contains("no room for 4294967295 bytes"));
    assert!(trapped(|spe| (spe.alloc(1, 1), spe.alloc(1, 1 << 31))).contains("no room"));
}

#[test]
fn a_program_stays_in_its_local_store() {
    let beyond = format!("of a local store of {LOCAL_STORE_BYTES} bytes");
    assert!(trapped(|spe| spe.bytes(LOCAL_STORE_BYTES - 15, 16).to_vec()).contains(&beyond));
    assert!(trapped(|spe| spe.bytes_mut(u32::MAX, u32::MAX).fill(1)).contains(&beyond));
    assert!(trapped(|spe| spe.read_u32(LOCAL_STORE_BYTES)).contains(&beyond));
    assert!(trapped(|spe| spe.write_u32(LOCAL_STORE_BYTES - 3, 0)).contains(&beyond));
}

#[test]
fn lists_have_1_to_2048_elements_each_as_a_command() {
    let element = |ea: u64, bytes: u32| ListElement::new(Address(ea), bytes);
    let message = trapped(|spe| spe.get_list(0, &[], 0));
    assert_eq!(
        message,
        "get of a list of 0 elements, 0x0 of the local store: allowed are 1 to 2048 elements"
    );
    let message = trapped(move |spe| spe.get_list(0, vec![element(0, 16); LIST_MAX + 1], 0));
    assert!(message.contains("list of 2049 elements"), "{message}");
    let message = trapped(move |spe| spe.put_list(0, &[element(0, 16), element(24, 16)], 0));
    assert_eq!(
        message,
        "put of a list of 2 elements, 0x0 of the local store: element 1, 16 bytes at memory 0x18: both ends must be \
         multiples of 16"
    );
    assert!(trapped(move |spe| spe.get_list(0, &[element(0, 24)], 0)).contains("element 0, 24 bytes"));
    assert!(trapped(move |spe| spe.get_list(0, &[element(0, 0)], 0)).contains("sizes are"));
    let seventeen = vec![element(0, DMA_BYTES_MAX); 17];
    assert!(trapped(move |spe| spe.get_list(0, &seventeen, 0)).contains("element 16"));
    let signal = Address::signal(0, 1).0;
    assert!(trapped(move |spe| spe.put_list(0, &[element(signal, 4)], 0)).contains("lists go to memory"));
    assert!(trapped(move |spe| spe.get_list(u32::MAX, &[element(15, 1)], 0)).contains("of a local store of"));
}

#[test]
fn atomic_commands_take_lines_of_main_memory() {
    assert!(trapped(|spe| spe.getllar(0, Address(64))).contains("both must be multiples of 128"));
    assert!(trapped(|spe| spe.getllar(16, Address(128))).contains("both must be multiples of 128"));
    assert!(trapped(|spe| spe.putlluc(0, spe.local_store_of(2))).contains("allowed: main memory"));
    assert!(trapped(|spe| spe.putllc(0, Address(u64::MAX))).contains("allowed: main memory"));
    assert!(trapped(|spe| spe.getllar(LOCAL_STORE_BYTES, Address(0))).contains("of a local store"));
}

#[test]
fn a_ppe_reaches_memory_and_local_stores_and_registers_only_by_their_calls() {
    assert!(ppe_trapped(|ppe| ppe.load(Address(MEMORY_BYTES - 2), 4)).contains("not all there"));
    assert!(ppe_trapped(|ppe| ppe.load(Address(u64::MAX), 1)).contains("not all there"));
    assert!(ppe_trapped(|ppe| ppe.load(Address(u64::MAX), 0)).contains("not all there"));
    assert!(ppe_trapped(|ppe| ppe.store(Address(MEMORY_BYTES - 1), &[1, 2])).contains("not all there"));
    let end = Address::local_store(0) + u64::from(LOCAL_STORE_BYTES - 2);
    assert!(ppe_trapped(move |ppe| ppe.load(end, 4)).contains("not all there"));
    assert!(ppe_trapped(|ppe| ppe.load(Address::mailbox(0), 4)).contains("calls of their own"));
    assert!(ppe_trapped(|ppe| ppe.store(Address::signal(0, 1), &[0; 4])).contains("calls of their own"));
    let allowed = format!("up to {PPE_BYTES_MAX}");
    assert!(ppe_trapped(|ppe| ppe.load(Address(0), u32::MAX)).contains(&allowed));
    assert!(ppe_trapped(|ppe| ppe.write_mailbox(8, 0)).contains("SPE8; there are 8 SPEs, from SPE0 on"));
    assert!(ppe_trapped(|ppe| ppe.write_signal(0, 0, 1)).contains("signal register 0"));
    assert!(ppe_trapped(|ppe| ppe.proxy_get(0, 0, Address(8), 16, 0)).contains("multiples of 16"));
    assert!(ppe_trapped(|ppe| ppe.proxy_get(0, 0, Address(0), 16, 32)).contains("tag 32"));
    assert!(ppe_trapped(|ppe| ppe.proxy_get(usize::MAX, 0, Address(0), 16, 0)).contains("there are 8"));
}

/// Asks once.
struct Once(Option<Op>);

impl Stepper for Once {
    fn step(&mut self, _: Reply, _: u64) -> Stepped {
        self.0.take().map_or(Stepped::Done, Stepped::Op)
    }
}

#[test]
fn calls_of_the_other_kind_of_unit_are_trapped() {
    let mut cell = machine("cell");
    cell.spe_stepper(0, "confused", Box::new(Once(Some(Op::Ppe(sim::op::PpeOp::Timebase))))).unwrap();
    assert!(cell.run().unwrap_err().to_string().contains("is a call of PPEs"));
    let mut cell = machine("cell");
    cell.ppe_stepper(0, "confused", Box::new(Once(Some(Op::ReadMailbox)))).unwrap();
    assert!(cell.run().unwrap_err().to_string().contains("is a call of SPEs"));
}

#[test]
fn a_trap_says_when() {
    let mut cell = machine("cell");
    cell.spe(3, "late", |spe| {
        spe.compute(2000);
        spe.get(1, Address(0), 16, 0);
    })
    .unwrap();
    let error = cell.run().unwrap_err();
    assert!(error.to_string().starts_with("SPE3 (late) at 2.0"), "{error}");
}
