//! What a PPE does: loads and stores, its cache, proxy queues.

mod machines;

use machines::{fresh, machine, owned, small};
use sim::layout::PPE;
use sim::{Address, CYCLE_PS, Dma, DmaKind, Ordering};

#[test]
fn a_ppe_loads_and_stores_memory_and_local_stores() {
    let mut blade = fresh("qs22");
    let there = blade.allocate(1, 256, 128).unwrap();
    blade.memory_mut(there, 256).iter_mut().enumerate().for_each(|(i, b)| *b = i as u8);
    blade
        .ppe(0, "main", move |ppe| {
            assert_eq!(ppe.number(), 0);
            assert_eq!(ppe.load(there + 100, 100), (100..200).collect::<Vec<u8>>());
            assert_eq!(ppe.load(there, 0), [0_u8; 0]);
            ppe.store(there + 3, &[9; 7]);
            assert_eq!(ppe.load(there, 12), [0, 1, 2, 9, 9, 9, 9, 9, 9, 9, 10, 11]);
            ppe.store_u32(there + 17, 0x0102_0304);
            assert_eq!((ppe.load_u32(there + 17), ppe.load(there + 17, 1)), (0x0102_0304, vec![4]));
            ppe.store(there, &[]);
            let store = Address::local_store(14) + 1000;
            ppe.store(store, b"written from outside");
            assert_eq!(ppe.load(store + 8, 4), b"from");
            ppe.write_mailbox(14, 1);
        })
        .unwrap();
    blade
        .spe(14, "looks", |spe| {
            spe.read_mailbox();
            assert_eq!(spe.bytes(1000, 20), b"written from outside");
        })
        .unwrap();
    blade.run().unwrap();
}

#[test]
fn what_a_load_takes_depends_on_where_the_bytes_are() {
    let mut parameters = small("cell");
    (parameters.ppe.cached, parameters.ppe.uncached, parameters.ppe.register) = (2, 300, 100);
    parameters.ppe.misses = 2;
    let mut cell = owned(parameters);
    cell.ppe(0, "main", |ppe| {
        let mut last = 0;
        let mut took = |ppe: &sim::Ppe<'_>| {
            let now = ppe.now_ps() / CYCLE_PS;
            now - std::mem::replace(&mut last, now)
        };
        ppe.load(Address(0), 1);
        assert_eq!(took(ppe), 300);
        // Its first line has been loaded before.
        ppe.load(Address(120), 16);
        assert_eq!(took(ppe), 302);
        ppe.load(Address(1024), 3 * 128);
        assert_eq!(took(ppe), 600);
        ppe.store(Address(256), &[1; 128]);
        assert_eq!(took(ppe), 2);
        ppe.load(Address(256), 256);
        assert_eq!(took(ppe), 302);
        ppe.load(Address::local_store(0), 64);
        assert_eq!(took(ppe), 400);
        ppe.load(Address(4096), 0);
        assert_eq!(took(ppe), 300);
        ppe.load(Address(0), 0);
        assert_eq!(took(ppe), 2);
    })
    .unwrap();
    cell.run().unwrap();
}

#[test]
fn what_a_ppe_has_just_stored_comes_from_its_cache_until_somebody_else_writes_it() {
    let mut cell = machine("cell");
    cell.ppe(0, "main", |ppe| {
        ppe.store(Address(0), &[5; 256]);
        ppe.write_mailbox(2, 0);
    })
    .unwrap();
    cell.spe(2, "reads", |spe| {
        spe.read_mailbox();
        spe.get(0, Address(0), 512, 0);
        spe.tags_all(1);
        assert_eq!((spe.bytes(255, 1)[0], spe.bytes(256, 1)[0]), (5, 0));
        spe.bytes_mut(0, 128).fill(6);
        spe.put(0, Address(0), 128, 1);
        spe.getf(512, Address(0), 128, 1);
        spe.tags_all(2);
        assert_eq!(spe.bytes(512, 1)[0], 6);
    })
    .unwrap();
    let counters = cell.run().unwrap().counters;
    // Two lines of the first get from the cache, two from memory; the line that was put, from memory.
    assert_eq!(counters.chips[0].sent[PPE], 2);
    let banks = counters.chips[0].bank_lines;
    assert_eq!((banks[0], banks[1][0], banks[2][0], banks[3][0]), ([1, 1], 0, 1, 1));
}

#[test]
fn memory_can_be_said_to_be_in_the_cache() {
    let mut cell = machine("cell");
    cell.cache_in_ppe(Address(128), 100);
    cell.cache_in_ppe(Address(u64::MAX - 5), u64::MAX);
    cell.spe(0, "reads", |spe| spe.get(0, Address(0), 384, 0)).unwrap();
    let counters = cell.run().unwrap().counters;
    assert_eq!(counters.chips[0].sent[PPE], 1);
    assert_eq!(counters.spes[0].got_bytes, 384);
}

#[test]
fn proxy_commands_move_bytes_with_tags_of_their_own() {
    let mut blade = machine("qs22");
    blade.memory_mut(Address(0), 4096).fill(3);
    blade
        .ppe(1, "main", |ppe| {
            assert_eq!((ppe.proxy_any(9, 0), ppe.proxy_now(9, 5)), (0, 5));
            ppe.proxy_get(9, 0, Address(0), 4096, 7);
            assert_eq!(ppe.proxy_now(9, 1 << 7 | 1), 1);
            assert_eq!(ppe.proxy_any(9, 1 << 7), 1 << 7);
            assert_eq!(ppe.proxy_wait(9, 1 << 7), 1 << 7);
            assert_eq!(ppe.load(Address::local_store(9) + 4095, 1), [3]);
            let order = Ordering::Fence;
            ppe.proxy(9, Dma::new(DmaKind { put: false, order }, 4096, Address(0), 4096, 7));
            ppe.proxy(9, Dma::new(DmaKind { put: true, order }, 4096, Address(8192), 4096, 7));
            ppe.proxy_put(9, 0, Address(16384), 16, 0);
            ppe.proxy_wait(9, u32::MAX);
            ppe.write_mailbox(9, 0);
        })
        .unwrap();
    blade
        .spe(9, "looks on", |spe| {
            spe.get(65536, Address(32768), 16384, 7);
            // The PPE's commands of tag group 7 are not this program's.
            spe.tags_all(1 << 7);
            spe.read_mailbox();
        })
        .unwrap();
    let outcome = blade.run().unwrap();
    assert!(blade.memory(Address(8192), 4096).iter().all(|&b| b == 3));
    assert_eq!(blade.memory(Address(16384), 17)[15..], [3, 0]);
    assert_eq!(outcome.counters.spes[9].commands, 5);
}

#[test]
fn the_status_of_a_proxy_command_is_late_and_the_ppe_is_free_meanwhile() {
    let parameters = machine("cell").parameters().clone();
    let (proxy, register) = (parameters.ppe.proxy * CYCLE_PS, parameters.ppe.register * CYCLE_PS);
    let mut cell = owned(parameters);
    cell.ppe(0, "main", move |ppe| {
        let start = ppe.now_ps();
        // The larger transfer is under way when the PPE begins to wait, the smaller one is done.
        ppe.proxy_put(0, 0, Address(0), 16384, 0);
        assert_eq!(ppe.now_ps() - start, 6 * register, "six registers");
        ppe.proxy_put(0, 0, Address(16384), 16, 1);
        assert_eq!(ppe.proxy_now(0, 0b11), 0, "not seen yet");
        assert_eq!(ppe.proxy_wait(0, 0b01), 0b01);
        assert_eq!(ppe.now_ps() - start, proxy);
        // What follows takes its own time: the wait has left nothing behind.
        let before = ppe.now_ps();
        ppe.compute(1_000_000);
        assert_eq!(ppe.now_ps() - before, 1_000_000_000);
        assert_eq!(ppe.proxy_any(0, 0b11), 0b11);
        let before = ppe.now_ps();
        ppe.proxy_get(1, 0, Address(0), 16384, 3);
        ppe.proxy_get(1, 16384, Address(0), 16384, 4);
        assert_eq!(ppe.proxy_any(1, 0b11 << 3), 0b01 << 3, "the first is seen first");
        assert_eq!(ppe.now_ps() - before, proxy);
        assert_eq!(ppe.proxy_wait(1, 0b11 << 3), 0b11 << 3);
        assert_eq!(ppe.now_ps() - before, proxy + 6 * register);
    })
    .unwrap();
    cell.run().unwrap();
}

#[test]
fn a_ppe_waits_for_each_of_the_things_that_it_can_wait_for() {
    let mut parameters = small("cell");
    parameters.ppe.proxy = 1;
    let mut cell = owned(parameters);
    cell.ppe(0, "main", |ppe| {
        // Words from an SPE that is slow to send them.
        assert_eq!((ppe.read_mailbox(0), ppe.read_interrupt_mailbox(0)), (1, 2));
        // Room in its mailbox, when it is slow to read.
        (0..6).for_each(|i| ppe.write_mailbox(0, i));
        // Room in its proxy queue, and the end of the commands.
        (0..12).for_each(|i| ppe.proxy_put(0, 0, Address(65536), 16384, i));
        assert_eq!(ppe.proxy_wait(0, 0xfff), 0xfff);
    })
    .unwrap();
    cell.spe(0, "slow", |spe| {
        spe.compute(1000);
        spe.write_mailbox(1);
        spe.compute(1000);
        spe.write_interrupt_mailbox(2);
        spe.compute(100_000);
        (0..6).for_each(|i| assert_eq!(spe.read_mailbox(), i));
    })
    .unwrap();
    cell.run().unwrap();
}
