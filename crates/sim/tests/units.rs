//! What units have besides DMA: mailboxes, signals, reservations, clocks, computing; and who is who.

mod machines;

use machines::{fresh, machine, owned, small};
use sim::layout::SPE;
use sim::{Address, CYCLE_PS, Parameters, Simulation};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

#[test]
fn an_inbound_mailbox_holds_four_words_in_their_order_and_a_fifth_waits() {
    let mut cell = machine("cell");
    cell.ppe(0, "sends", |ppe| {
        for i in 0..4 {
            assert_eq!(ppe.mailbox_space(3), 4 - i);
            ppe.write_mailbox(3, i);
        }
        assert_eq!(ppe.mailbox_space(3), 0);
        let before = ppe.now_ps();
        ppe.write_mailbox(3, 4);
        // It waits until the SPE has finished computing and reads.
        assert!(ppe.now_ps() - before > 100_000_000);
        assert_eq!(ppe.read_mailbox(3), 99);
    })
    .unwrap();
    cell.spe(3, "receives", |spe| {
        assert_eq!(spe.mailbox_count(), 0);
        spe.compute(200_000);
        assert_eq!(spe.mailbox_count(), 4);
        for i in 0..5 {
            assert_eq!(spe.read_mailbox(), i);
        }
        assert_eq!(spe.mailbox_count(), 0);
        spe.write_mailbox(99);
    })
    .unwrap();
    cell.run().unwrap();
}

#[test]
fn an_outbound_mailbox_holds_one_word_and_the_second_waits() {
    for interrupt in [false, true] {
        let mut cell = machine("cell");
        cell.spe(0, "sends", move |spe| {
            let write = |spe: &mut sim::Spe<'_>, word| {
                if interrupt { spe.write_interrupt_mailbox(word) } else { spe.write_mailbox(word) }
            };
            assert_eq!(spe.mailbox_space(), 1);
            write(spe, 7);
            assert_eq!(spe.mailbox_space(), u32::from(interrupt));
            assert_eq!(spe.interrupt_mailbox_space(), u32::from(!interrupt));
            let before = spe.now_ps();
            write(spe, 8);
            assert!(spe.now_ps() - before > 50_000_000);
        })
        .unwrap();
        cell.ppe(0, "receives", move |ppe| {
            ppe.compute(100_000);
            assert_eq!(ppe.mailbox_count(0), u32::from(!interrupt));
            assert_eq!(ppe.interrupt_mailbox_count(0), u32::from(interrupt));
            for expected in [7, 8] {
                let word = if interrupt { ppe.read_interrupt_mailbox(0) } else { ppe.read_mailbox(0) };
                assert_eq!(word, expected);
            }
            assert_eq!(ppe.mailbox_count(0), 0);
        })
        .unwrap();
        cell.run().unwrap();
    }
}

#[test]
fn puts_to_a_full_mailbox_wait_and_none_is_lost() {
    const WORDS: u32 = 10;
    let mut cell = machine("qs22");
    for sender in [1, 12] {
        cell.spe(sender, "sends", move |spe| {
            for i in 0..WORDS {
                let at = 12 + i * 16;
                spe.write_u32(at, sender as u32 * 100 + i);
                spe.putf(at, Address::mailbox(0), 4, 0);
            }
            spe.tags_all(1);
        })
        .unwrap();
    }
    cell.ppe(1, "sends too", |ppe| (0..WORDS).for_each(|i| ppe.write_mailbox(0, i))).unwrap();
    let words = Rc::new(RefCell::new(Vec::new()));
    let result = words.clone();
    cell.spe(0, "receives", move |spe| {
        spe.compute(50_000);
        for _ in 0..3 * WORDS {
            result.borrow_mut().push(spe.read_mailbox());
        }
    })
    .unwrap();
    cell.run().unwrap();
    for from in [0, 100, 1200] {
        let got: Vec<u32> = words.borrow().iter().copied().filter(|w| w / 100 * 100 == from).collect();
        assert_eq!(got, (from..from + WORDS).collect::<Vec<u32>>());
    }
}

#[test]
fn what_wakes_a_program_twice_in_one_cycle_gives_it_no_time() {
    let mut blade = machine("qs22");
    let channel = blade.parameters().spu.channel * CYCLE_PS;
    // Both words are there in the same cycle.
    for ppe in 0..2 {
        blade.ppe(ppe, "sends", |ppe| ppe.write_mailbox(5, 1)).unwrap();
    }
    blade
        .spe(5, "receives", move |spe| {
            spe.read_mailbox();
            for left in [1, 1, 1] {
                let before = spe.now_ps();
                assert_eq!(spe.mailbox_count(), left);
                assert_eq!(spe.now_ps() - before, channel);
            }
        })
        .unwrap();
    blade.run().unwrap();
}

#[test]
fn two_ppes_may_wait_for_the_same_word_and_one_gets_it() {
    let mut blade = machine("qs22");
    let got = Rc::new(RefCell::new(Vec::new()));
    for ppe in 0..2 {
        let got = got.clone();
        let waits = move |ppe: &mut sim::Ppe<'_>| {
            let word = ppe.read_mailbox(5);
            got.borrow_mut().push(word);
        };
        blade.ppe(ppe, "waits", waits).unwrap();
    }
    blade
        .spe(5, "sends", |spe| {
            spe.compute(3000);
            spe.write_mailbox(1);
            spe.compute(3000);
            spe.write_mailbox(2);
        })
        .unwrap();
    blade.run().unwrap();
    got.borrow_mut().sort_unstable();
    assert_eq!(*got.borrow(), [1, 2]);
}

#[test]
fn signals_add_up_or_overwrite() {
    for or in [false, true] {
        let mut cell = machine("cell");
        cell.spe(0, "waits", move |spe| {
            spe.signal_or(1, or);
            assert_eq!(spe.signal_count(1), 0);
            spe.compute(10_000);
            assert_eq!((spe.signal_count(1), spe.signal_count(2)), (1, 0));
            let word = spe.read_signal(1);
            if or {
                assert_eq!(word, 0b1110);
            } else {
                assert!(matches!(word, 0b10 | 0b100 | 0b1000));
            }
            assert_eq!(spe.signal_count(1), 0);
        })
        .unwrap();
        for sender in 1..4usize {
            cell.spe(sender, "signals", move |spe| {
                spe.compute(1000);
                spe.write_u32(12, 1 << sender);
                match sender {
                    1 => spe.send_signal(12, 0, 1, 0),
                    2 => spe.send_signalf(12, 0, 1, 0),
                    _ => spe.send_signalb(12, 0, 1, 0),
                }
            })
            .unwrap();
        }
        cell.run().unwrap();
    }
}

#[test]
fn a_ppe_signals_and_a_waiting_program_goes_on() {
    let mut cell = machine("cell");
    cell.spe(4, "waits", |spe| {
        spe.signal_or(2, true);
        assert_eq!((spe.read_signal(2), spe.read_signal(1)), (5, 6));
    })
    .unwrap();
    cell.ppe(0, "signals", |ppe| {
        ppe.write_signal(4, 2, 5);
        ppe.write_signal(4, 1, 6);
    })
    .unwrap();
    cell.run().unwrap();
}

/// What the counter at `line` stands at when each of these SPEs has added one to it so often.
fn counted(machine_name: &str, spes: &[usize], times: u32) -> u32 {
    let mut sim = fresh(machine_name);
    let line = sim.allocate(0, 128, 128).unwrap();
    for &spe in spes {
        sim.spe(spe, "counts", move |spe| {
            for _ in 0..times {
                loop {
                    spe.getllar(0, line);
                    let count = spe.read_u32(64);
                    spe.write_u32(64, count + 1);
                    if spe.putllc(0, line) {
                        break;
                    }
                }
            }
        })
        .unwrap();
    }
    sim.run().unwrap();
    u32::from_le_bytes(sim.memory(line + 64, 4).try_into().unwrap())
}

#[test]
fn a_counter_that_all_spes_add_to_is_exact() {
    assert_eq!(counted("cell", &[0], 100), 100);
    assert_eq!(counted("cell", &[0, 1, 2, 3, 4, 5, 6, 7], 100), 800);
    assert_eq!(counted("qs22", &[2, 9], 100), 200);
    assert_eq!(counted("qs22", &(0..16).collect::<Vec<_>>(), 100), 1600);
}

#[test]
fn whoever_writes_a_reserved_line_takes_the_reservation() {
    type Meanwhile = fn(&mut Simulation, Address);
    let meanwhile: [(bool, Meanwhile); 6] = [
        (true, |_, _| {}),
        (true, |cell, line| {
            // Next to it.
            cell.spe(1, "puts", move |spe| {
                spe.compute(2000);
                spe.put(0, line + 128, 128, 0);
            })
            .unwrap();
        }),
        (true, |cell, line| {
            // Reading takes nothing.
            cell.spe(1, "gets", move |spe| {
                spe.compute(2000);
                spe.get(0, line, 128, 0);
            })
            .unwrap();
        }),
        (false, |cell, line| {
            cell.spe(1, "puts", move |spe| {
                spe.compute(2000);
                spe.put(16, line + 112, 16, 0);
            })
            .unwrap();
        }),
        (false, |cell, line| {
            cell.spe(1, "puts", move |spe| {
                spe.compute(2000);
                spe.putlluc(0, line);
            })
            .unwrap();
        }),
        (false, |cell, line| {
            cell.ppe(0, "stores", move |ppe| {
                ppe.compute(2000);
                ppe.store(line + 127, &[1]);
            })
            .unwrap();
        }),
    ];
    for (i, (stands, meanwhile)) in meanwhile.into_iter().enumerate() {
        let mut cell = fresh("cell");
        let line = cell.allocate(0, 256, 128).unwrap();
        cell.spe(0, "reserves", move |spe| {
            // Nothing is reserved yet.
            assert!(!spe.putllc(0, line));
            spe.getllar(0, line);
            spe.compute(5000);
            assert_eq!(spe.putllc(0, line), stands, "{i}");
            // It is used up in any case.
            assert!(!spe.putllc(0, line));
        })
        .unwrap();
        meanwhile(&mut cell, line);
        cell.run().unwrap_or_else(|e| panic!("{i}: {e}"));
    }
}

#[test]
fn a_reservation_is_of_one_line_at_a_time() {
    let mut cell = fresh("cell");
    let line = cell.allocate(0, 256, 128).unwrap();
    cell.spe(0, "reserves", move |spe| {
        spe.getllar(0, line);
        spe.getllar(128, line + 128);
        assert!(!spe.putllc(0, line));
        spe.getllar(0, line);
        spe.getllar(128, line + 128);
        assert!(spe.putllc(128, line + 128));
    })
    .unwrap();
    cell.run().unwrap();
}

#[test]
fn the_decrementer_counts_down_at_each_machines_tick() {
    for (name, hz) in
        [("ps3", 79_800_000u64), ("cell", 26_664_000), ("qs20", 14_318_000), ("qs22", 26_664_000)]
    {
        let mut sim = machine(name);
        let ticks = move |ps: u64| (u128::from(ps) * u128::from(hz) / 1_000_000_000_000) as u32;
        sim.spe(0, "looks", move |spe| {
            spe.compute(123);
            for start in [u32::MAX, 1000, 0] {
                spe.set_decrementer(start);
                let set = ticks(spe.now_ps());
                for ns in [1, 37, 1000, 1_000_000] {
                    spe.compute(ns);
                    let now = spe.decrementer();
                    assert_eq!(start.wrapping_sub(now), ticks(spe.now_ps()) - set, "{name}");
                }
            }
        })
        .unwrap();
        sim.ppe(0, "looks", move |ppe| {
            ppe.compute(5_000_000);
            let base = ppe.timebase();
            assert_eq!(base, u64::from(ticks(ppe.now_ps())), "{name}");
        })
        .unwrap();
        sim.run().unwrap();
    }
}

#[test]
fn computing_takes_what_it_says_and_what_dma_takes_from_it() {
    let mut cell = machine("cell");
    cell.spe(0, "alone", |spe| {
        spe.compute(1000);
        assert_eq!(spe.now_ps(), 1_000_000);
        spe.compute_cycles(3);
        // Bus cycles are what passes: two SPU cycles each.
        assert_eq!(spe.now_ps(), 1_000_000 + 2 * CYCLE_PS);
        spe.compute(0);
        assert_eq!(spe.now_ps(), 1_000_000 + 2 * CYCLE_PS);
    })
    .unwrap();
    let outcome = cell.run().unwrap();
    assert_eq!(outcome.counters.spes[0].compute_cycles, 1602);

    let took = |lines: u32, stolen: u64| {
        let mut parameters = small("cell");
        parameters.spu.stolen_per_line = stolen;
        let mut cell = owned(parameters);
        let took = Rc::new(Cell::new(0));
        let result = took.clone();
        cell.spe(0, "computes", move |spe| {
            if lines > 0 {
                spe.get(0, Address(0), lines * 128, 0);
            }
            let start = spe.now_ps();
            spe.compute_cycles(20_000);
            result.set((spe.now_ps() - start) / CYCLE_PS);
        })
        .unwrap();
        let outcome = cell.run().unwrap();
        assert_eq!(outcome.counters.spes[0].compute_cycles, took.get());
        took.get()
    };
    assert_eq!(took(0, 1), 10_000);
    assert_eq!(took(128, 0), 10_000);
    // Each line takes one SPU cycle, half of a bus cycle, and nothing is lost in rounding.
    assert_eq!(took(1, 1), 10_001);
    assert_eq!(took(127, 1), 10_064);
    assert_eq!(took(128, 1), 10_064);
    assert_eq!(took(128, 6), 10_384);
}

#[test]
fn others_dma_takes_cycles_too() {
    let mut cell = machine("cell");
    let took = Rc::new(Cell::new(0));
    let result = took.clone();
    cell.spe(0, "computes", move |spe| {
        spe.compute_cycles(20_000);
        result.set(spe.now_ps() / CYCLE_PS);
    })
    .unwrap();
    cell.spe(1, "reads", |spe| spe.get(0, spe.local_store_of(0), 12800, 0)).unwrap();
    cell.spe(2, "writes", |spe| spe.put(0, spe.local_store_of(0), 12800, 0)).unwrap();
    cell.run().unwrap();
    assert_eq!(took.get(), 10_100);
}

#[test]
fn a_line_across_two_lines_of_the_local_store_takes_its_port_twice() {
    let took = |put: bool, ls: u32, ea: Address, bytes: u32| {
        let mut cell = machine("cell");
        cell.spe(0, "moves", move |spe| {
            if put {
                spe.put(ls, ea, bytes, 0)
            } else {
                spe.get(ls, ea, bytes, 0)
            }
            spe.tags_all(1);
        })
        .unwrap();
        cell.run().unwrap().cycles
    };
    for ea in [Address(0), Address::local_store(5)] {
        for put in [false, true] {
            // A line comes every eight cycles: only the second access of the last one shows.
            assert_eq!(took(put, 272, ea, 1024), took(put, 256, ea, 1024) + 1, "{put} {ea}");
            assert_eq!(took(put, 368, ea, 128), took(put, 256, ea, 128) + 1);
        }
    }
    // Cut where lines of the other end begin: each piece lies in one line of the store.
    assert_eq!(took(false, 16, Address(16), 128), took(false, 144, Address(144), 128));
    assert_eq!(took(false, 112, Address(0), 16), took(false, 0, Address(0), 16));
}

#[test]
fn every_call_takes_what_its_parameter_says() {
    let mut p = small("cell");
    (p.spu.dma, p.spu.tag_status, p.spu.channel, p.spu.decrementer) = (7, 11, 13, 17);
    (p.ppe.register, p.ppe.proxy, p.ppe.cached) = (190, 230, 3);
    let mut cell = owned(p);
    cell.spe(0, "calls", |spe| {
        type Call = fn(&mut sim::Spe<'_>);
        let calls: [(u64, Call); 17] = [
            (0, |spe| assert_eq!(spe.alloc(16, 16), 0)),
            (0, |spe| spe.write_u32(0, 1)),
            (7, |spe| spe.get(0, Address(0), 16, 0)),
            (7, |spe| spe.putf(0, Address(0), 16, 0)),
            (7, |spe| spe.get_list(0, &[sim::ListElement::new(Address(0), 16)], 1)),
            (7, |spe| spe.send_signal(12, 0, 1, 1)),
            (11, |spe| assert_eq!(spe.tags_now(0), 0)),
            (13, |spe| assert!(spe.queue_space() > 0)),
            (13, |spe| assert_eq!(spe.mailbox_count(), 0)),
            (13, |spe| assert_eq!(spe.mailbox_space(), 1)),
            (13, |spe| spe.write_mailbox(1)),
            (13, |spe| spe.write_interrupt_mailbox(1)),
            (13, |spe| spe.signal_or(2, true)),
            (13, |spe| assert_eq!(spe.signal_count(2), 0)),
            (17, |spe| spe.set_decrementer(1)),
            (17, |spe| assert!(spe.decrementer() <= 1)),
            (50, |spe| spe.compute_cycles(100)),
        ];
        // Whatever goes first, the local store is quiet: nothing is stolen from the computation.
        for (i, (cycles, call)) in calls.into_iter().enumerate() {
            let before = spe.now_ps();
            call(spe);
            assert_eq!((spe.now_ps() - before) / CYCLE_PS, cycles, "call {i}");
            if i == 5 {
                spe.tags_all(3);
                spe.compute(10_000);
            }
        }
    })
    .unwrap();
    cell.ppe(0, "calls", |ppe| {
        ppe.compute(100_000);
        type Call = fn(&mut sim::Ppe<'_>);
        let calls: [(u64, Call); 12] = [
            (190, |ppe| assert_eq!(ppe.mailbox_count(0), 1)),
            (190, |ppe| assert_eq!(ppe.interrupt_mailbox_count(0), 1)),
            // To see that there is a word, and to take it.
            (380, |ppe| assert_eq!(ppe.read_mailbox(0), 1)),
            (380, |ppe| assert_eq!(ppe.read_interrupt_mailbox(0), 1)),
            (190, |ppe| ppe.write_mailbox(0, 1)),
            (190, |ppe| assert_eq!(ppe.mailbox_space(0), 3)),
            (190, |ppe| ppe.write_signal(0, 1, 1)),
            (190, |ppe| assert_eq!(ppe.proxy_wait(0, 1), 1)),
            (230, |ppe| ppe.proxy_get(0, 0, Address(0), 16, 0)),
            (3, |ppe| ppe.store_u32(Address(0), 1)),
            (3, |ppe| assert_eq!(ppe.load_u32(Address(0)), 1)),
            (3, |ppe| assert!(ppe.timebase() > 0)),
        ];
        for (i, (cycles, call)) in calls.into_iter().enumerate() {
            let before = ppe.now_ps();
            call(ppe);
            assert_eq!((ppe.now_ps() - before) / CYCLE_PS, cycles, "call {i}");
        }
    })
    .unwrap();
    cell.run().unwrap();
}

/// The ramp from which SPE `spe` of a machine sends.
fn ramp(hidden: &[usize], chips: usize, spe: usize) -> (usize, usize) {
    let mut parameters = Parameters { chips, hidden: hidden.to_vec(), ..small("cell") };
    parameters.name = "some".into();
    let expected = parameters.physical(spe);
    let mut sim = owned(parameters);
    sim.spe(spe, "sends", |spe| spe.put(0, Address(0), 16, 0)).unwrap();
    let counters = sim.run().unwrap().counters;
    let is_spe = |ramp: &usize| SPE.contains(ramp);
    let sent: Vec<(usize, usize)> = counters
        .chips
        .iter()
        .enumerate()
        .flat_map(|(chip, c)| (0..12).filter(|&r| c.sent[r] > 0).map(move |r| (chip, r)))
        .filter(|(_, r)| is_spe(r))
        .collect();
    assert_eq!(sent, [(expected.0, SPE[expected.1])]);
    sent[0]
}

#[test]
fn programs_count_the_spes_that_are_not_hidden() {
    assert_eq!(ramp(&[], 1, 6), (0, SPE[6]));
    assert_eq!(ramp(&[6, 7], 1, 5), (0, SPE[5]));
    assert_eq!(ramp(&[0, 3], 1, 0), (0, SPE[1]));
    assert_eq!(ramp(&[3, 0], 1, 2), (0, SPE[4]));
    assert_eq!(ramp(&[0, 3], 1, 5), (0, SPE[7]));
    assert_eq!(ramp(&[0, 3], 2, 6), (1, SPE[1]));
    assert_eq!(ramp(&[], 2, 8), (1, SPE[0]));
    assert_eq!(ramp(&[0, 1, 2, 3, 4, 5, 6], 2, 1), (1, SPE[7]));
}
