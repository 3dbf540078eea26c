//! How a simulation ends before its programs do, and that nothing is left behind when it does.

mod machines;

use machines::{fresh, machine, small};
use sim::op::{Op, Reply, Stepped, Stepper};
use sim::{Address, SimError, Simulation};
use std::cell::Cell;
use std::rc::Rc;

fn deadlock(cell: &mut Simulation) -> Vec<String> {
    match cell.run() {
        Err(SimError::Deadlock { waiting, .. }) => waiting,
        other => panic!("no deadlock: {other:?}"),
    }
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    let mut cell = machine("cell");
    cell.spe(0, "reader", |spe| {
        spe.read_mailbox();
    })
    .unwrap();
    cell.spe(1, "signalled", |spe| {
        spe.read_signal(2);
    })
    .unwrap();
    cell.spe(2, "writer", |spe| (0..2).for_each(|i| spe.write_mailbox(i))).unwrap();
    cell.spe(3, "interrupting", |spe| (0..2).for_each(|i| spe.write_interrupt_mailbox(i))).unwrap();
    cell.spe(4, "sender", |spe| {
        for i in 0..6 {
            spe.putf(12, Address::mailbox(5), 4, i % 2);
        }
        spe.tags_all(3);
    })
    .unwrap();
    cell.spe(7, "done", |spe| spe.compute(10)).unwrap();
    cell.ppe(0, "main", |ppe| {
        ppe.read_mailbox(6);
    })
    .unwrap();
    let waiting = deadlock(&mut cell);
    let expected = [
        "SPE0 (reader) waits for a word in its mailbox",
        "SPE1 (signalled) waits for a signal on register 2",
        "SPE2 (writer) waits for its outbound mailbox to be read",
        "SPE3 (interrupting) waits for its interrupting mailbox to be read",
        "SPE4 (sender) waits for tag groups 0, 1",
        "PPE0 (main) waits for a word from SPE6",
        "a put of SPE4 waits for room in the mailbox of SPE5",
    ];
    assert_eq!(waiting[..6], expected[..6]);
    assert!(waiting[6..].iter().all(|w| w == expected[6]) && waiting.len() > 6, "{waiting:?}");
}

#[test]
fn a_full_mailbox_is_a_deadlock_for_a_ppe_too() {
    let mut cell = machine("cell");
    cell.ppe(0, "main", |ppe| (0..5).for_each(|i| ppe.write_mailbox(2, i))).unwrap();
    assert_eq!(deadlock(&mut cell), ["PPE0 (main) waits for room in the mailbox of SPE2"]);
}

#[test]
fn a_put_that_nobody_makes_room_for_is_not_lost_when_its_program_ends() {
    let mut cell = machine("cell");
    cell.spe(0, "sender", |spe| (0..5).for_each(|_| spe.put(12, Address::mailbox(1), 4, 0))).unwrap();
    assert_eq!(deadlock(&mut cell), ["a put of SPE0 waits for room in the mailbox of SPE1"]);
}

#[test]
fn a_loop_that_never_lets_time_pass_is_found() {
    let mut cell = machine("cell");
    cell.spe(0, "endless", |spe| {
        loop {
            spe.compute(0);
        }
    })
    .unwrap();
    let error = cell.run().unwrap_err().to_string();
    assert!(error.starts_with("SPE0 (endless) at 0.000 us") && error.contains("never yields"), "{error}");
}

#[test]
fn polling_the_local_store_without_letting_time_pass_is_found() {
    let mut cell = machine("cell");
    cell.spe(5, "polls", |spe| while spe.read_u32(0) == 0 {}).unwrap();
    let error = cell.run().unwrap_err().to_string();
    assert!(error.starts_with("SPE5 (polls)") && error.contains("never yields"), "{error}");
}

#[test]
fn polling_that_takes_time_may_go_on_for_long() {
    let mut cell = machine("cell");
    cell.stop_after(3_000_000);
    cell.spe(0, "polls", |spe| {
        spe.get(0, Address(0), 16, 0);
        spe.tags_all(1);
        for _ in 0..50_000 {
            assert_eq!(spe.tags_now(1), 1);
        }
    })
    .unwrap();
    assert!(cell.run().is_ok());
}

#[test]
fn a_panic_says_whose_program_and_when() {
    let mut cell = machine("qs22");
    cell.spe(11, "careless", |spe| {
        spe.compute(1500);
        let n = spe.read_u32(0);
        assert_eq!(n, 1, "nobody has written {n}");
    })
    .unwrap();
    match cell.run() {
        Err(SimError::Panic { unit, program, cycle, message }) => {
            assert_eq!((unit.as_str(), program.as_str(), cycle), ("SPE11", "careless", 2400));
            assert!(message.contains("nobody has written 0"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

struct Panics(bool);

impl Stepper for Panics {
    fn step(&mut self, _: Reply, _: u64) -> Stepped {
        assert!(!self.0, "stepped badly");
        Stepped::Failed("raised something".into())
    }
}

#[test]
fn a_stepper_may_panic_or_fail() {
    for panics in [true, false] {
        let mut cell = machine("cell");
        cell.spe_stepper(0, "steps", Box::new(Panics(panics))).unwrap();
        let error = cell.run().unwrap_err();
        let expected = if panics { "stepped badly" } else { "raised something" };
        assert!(matches!(&error, SimError::Panic { message, .. } if message.contains(expected)), "{error}");
    }
}

#[test]
fn the_time_that_is_allowed_ends_programs_but_not_their_last_transfers() {
    let mut cell = machine("cell");
    cell.stop_after(1000);
    cell.spe(0, "long", |spe| spe.compute(1_000_000)).unwrap();
    cell.spe(1, "waits", |spe| {
        spe.read_mailbox();
    })
    .unwrap();
    match cell.run() {
        Err(SimError::TimeUp { cycle, running }) => {
            assert_eq!(cycle, 1000);
            assert_eq!(
                running,
                [
                    "SPE0 (long) waits for the end of a computation",
                    "SPE1 (waits) waits for a word in its mailbox"
                ]
            );
        }
        other => panic!("{other:?}"),
    }
    // A put whose program is done at cycle 5 arrives after the end of the time, and is no error.
    let mut cell = machine("cell");
    cell.stop_after(20);
    cell.spe(0, "short", |spe| {
        spe.bytes_mut(0, 16).fill(7);
        spe.put(0, Address(0), 16, 0);
    })
    .unwrap();
    cell.run().unwrap();
    assert_eq!(cell.memory(Address(0), 16), [7; 16]);
}

#[test]
fn absurdly_long_computations_come_to_the_end_of_time() {
    for ns in [u64::MAX, u64::MAX / 16, 1 << 60] {
        let mut cell = machine("cell");
        cell.spe(0, "eternal", move |spe| {
            loop {
                spe.compute(ns);
            }
        })
        .unwrap();
        cell.ppe(0, "too", move |ppe| ppe.compute(ns)).unwrap();
        assert!(matches!(cell.run(), Err(SimError::TimeUp { .. })));
    }
}

/// Counts what is dropped.
struct Held(Rc<Cell<u32>>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// Programs on all SPEs and the PPE, waiting for whatever can be waited for; SPE0 ends them at some time.
fn everybody_waits(times: u32, ends: impl Fn(&mut sim::Spe<'_>) + Clone + 'static) -> Rc<Cell<u32>> {
    let dropped = Rc::new(Cell::new(0));
    for i in 0..times {
        let mut cell = machine("cell");
        let held = |n: u32| (0..n).map(|_| Held(dropped.clone())).collect::<Vec<_>>();
        let (a, b, c, d) = (held(1), held(2), held(3), held(4));
        cell.spe(1, "mail", move |spe| {
            let _held = a;
            spe.read_mailbox();
        })
        .unwrap();
        cell.spe(2, "transfers", move |spe| {
            let _held = b;
            for i in 0.. {
                spe.get(i % 4 * 16384, Address(0), 16384, i % 4);
            }
        })
        .unwrap();
        cell.spe(3, "computes", move |spe| {
            let _held = c;
            spe.bytes_mut(0, 16).fill(1);
            spe.compute(u64::MAX);
        })
        .unwrap();
        cell.ppe(0, "main", move |ppe| {
            let _held = d;
            ppe.read_mailbox(4);
        })
        .unwrap();
        let (never, never_started) = (held(1), i % 2 == 0);
        let ends = ends.clone();
        cell.spe(0, "ends", move |spe| {
            if !never_started {
                spe.compute(u64::from(i) * 10);
            }
            ends(spe);
        })
        .unwrap();
        // The last one to start may never have run when it ends at cycle 0.
        cell.spe(7, "last", move |spe| {
            let _held = never;
            spe.read_signal(1);
        })
        .unwrap();
        assert!(matches!(cell.run(), Err(SimError::Trap { .. } | SimError::Panic { .. })));
        assert!(matches!(cell.run(), Err(SimError::Request(_))));
    }
    dropped
}

#[test]
fn a_trap_or_a_panic_unwinds_everybody_else() {
    assert_eq!(everybody_waits(100, |spe| spe.get(0, Address(3), 16, 0)).get(), 1100);
    assert_eq!(everybody_waits(20, |_| panic!("on purpose")).get(), 220);
}

#[test]
fn programs_have_megabytes_of_stack_each() {
    let mut cell = machine("cell");
    for spe in 0..8 {
        cell.spe(spe, "large", |spe| {
            let large = [spe.number() as u8 + 1; 3 << 20];
            spe.compute(100);
            assert!(std::hint::black_box(&large).iter().all(|&b| usize::from(b) == spe.number() + 1));
        })
        .unwrap();
    }
    cell.run().unwrap();
}

#[test]
fn a_simulation_that_is_never_run_drops_its_programs() {
    let dropped = Rc::new(Cell::new(0));
    let mut cell = machine("cell");
    let held = Held(dropped.clone());
    cell.spe(0, "never", move |_| drop(held)).unwrap();
    drop(cell);
    assert_eq!(dropped.get(), 1);
}

#[test]
fn a_program_that_catches_panics_cannot_hold_the_end_up() {
    let mut cell = machine("cell");
    cell.spe(0, "stubborn", |spe| {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| spe.read_mailbox()));
        if caught.is_err() {
            spe.read_mailbox();
        }
    })
    .unwrap();
    assert_eq!(deadlock(&mut cell).len(), 1);
}

#[test]
fn another_thread_sees_the_time_and_stops_it() {
    let mut cell = machine("cell");
    cell.spe(6, "endless", |spe| {
        loop {
            spe.compute(10);
        }
    })
    .unwrap();
    let watch = cell.watch();
    assert_eq!((watch.cycle(), watch.unit()), (0, None));
    let other = std::thread::spawn(move || {
        while watch.cycle() < 10_000 {
            std::thread::yield_now();
        }
        watch.stop();
        watch.unit()
    });
    match cell.run() {
        Err(SimError::Stopped { cycle, running }) => {
            assert!(cycle >= 10_000);
            assert!(running[0].starts_with("SPE6 (endless)"), "{running:?}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(other.join().unwrap(), Some(6));
}

#[test]
fn a_program_without_any_time_passing_is_stopped_too() {
    for polls in [true, false] {
        let mut cell = machine("cell");
        cell.spe(0, "endless", move |spe| {
            loop {
                if polls {
                    spe.read_u32(0);
                } else {
                    spe.compute(0);
                }
            }
        })
        .unwrap();
        cell.watch().stop();
        let error = cell.run().unwrap_err();
        assert!(matches!(error, SimError::Stopped { cycle: 0, .. }), "{error}");
    }
}

/// Asks for nothing but the end.
struct Ends;

impl Stepper for Ends {
    fn step(&mut self, reply: Reply, _: u64) -> Stepped {
        if reply == Reply::Done { Stepped::Op(Op::MailboxCount) } else { Stepped::Done }
    }
}

#[test]
fn only_units_that_are_there_get_one_program_each() {
    let mut cell = machine("qs22");
    let refused = |result: Result<(), SimError>| match result {
        Err(SimError::Request(message)) => message,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(cell.spe(16, "x", |_| {})), "a program for SPE16; qs22 has 16 SPEs, from SPE0 on");
    assert_eq!(refused(cell.ppe(2, "x", |_| {})), "a program for PPE2; qs22 has 2, from PPE0 on");
    assert!(refused(cell.spe_stepper(usize::MAX, "x", Box::new(Ends))).contains("qs22 has 16 SPEs"));
    assert!(refused(cell.ppe_stepper(9, "x", Box::new(Ends))).contains("PPE9"));
    cell.spe(15, "first", |_| {}).unwrap();
    assert_eq!(refused(cell.spe(15, "second", |_| {})), "SPE15 has a program already: first");
    cell.ppe(1, "first", |_| {}).unwrap();
    assert_eq!(refused(cell.ppe_stepper(1, "second", Box::new(Ends))), "PPE1 has a program already: first");
    let mut ps3 = machine("ps3");
    assert_eq!(refused(ps3.spe(6, "x", |_| {})), "a program for SPE6; ps3 has 6 SPEs, from SPE0 on");
    cell.run().unwrap();
}

#[test]
fn memory_ends_somewhere() {
    let mut cell = fresh("qs22");
    assert_eq!(cell.allocate(0, 1 << 19, 128).unwrap(), Address(0));
    assert_eq!(cell.allocate(0, 100, 1).unwrap(), Address(1 << 19));
    assert_eq!(cell.allocate(0, 16, 4096).unwrap(), Address((1 << 19) + 4096));
    assert_eq!(cell.allocate(1, 16, 128).unwrap(), Address(1 << 20));
    let refused = |result: Result<Address, SimError>| result.unwrap_err().to_string();
    assert!(refused(cell.allocate(0, 1 << 19, 1)).contains("520176 are left"));
    assert!(refused(cell.allocate(2, 1, 1)).contains("memory of chip 2; there are 2"));
    assert!(refused(cell.allocate(0, 1, 3)).contains("no power of two"));
    assert!(refused(cell.allocate(1, u64::MAX, 1)).contains("are left"));
    assert!(refused(cell.allocate(1, 1, 1 << 63)).contains("0 are left"));
}

#[test]
fn memory_that_this_computer_does_not_have_is_an_error() {
    let mut parameters = small("qs22");
    parameters.memory_bytes = 1 << 36;
    match Simulation::new(parameters) {
        // Some systems promise more than they have, and find out when it is used.
        Ok(_) => {}
        Err(SimError::Request(message)) => assert!(message.contains("137438953472 bytes"), "{message}"),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn it_can_be_run_again_with_new_programs() {
    let mut cell = machine("qs22");
    cell.trace(true);
    let program = |value: u8| {
        move |spe: &mut sim::Spe<'_>| {
            spe.bytes_mut(0, 128).fill(value);
            spe.put(0, Address(u64::from(value) * 128), 128, 0);
            spe.tags_all(1);
        }
    };
    cell.spe(0, "first", program(1)).unwrap();
    let first = cell.run().unwrap();
    cell.spe(0, "second", program(2)).unwrap();
    let second = cell.run().unwrap();
    assert_eq!((cell.memory(Address(128), 1)[0], cell.memory(Address(256), 1)[0]), (1, 2));
    for outcome in [&first, &second] {
        assert_eq!(outcome.counters.spes.len(), 16);
        assert_eq!(outcome.counters.spes[0].put_bytes, 128);
        assert_eq!(outcome.counters.chips[0].bank_lines.iter().map(|b| b[1]).sum::<u64>(), 1);
        assert_eq!(outcome.trace.as_ref().unwrap().packets.len(), 1);
    }
    assert!(second.cycles > first.cycles);
    let third = cell.run().unwrap();
    assert_eq!((third.cycles, third.counters.packets()), (second.cycles, 0));
}
