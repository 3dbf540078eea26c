//! The same program gives the same picoseconds: twice, in two processes, with and without a trace, as a closure or as
//! single operations.

mod machines;

use machines::{fresh, machine};
use proptest::prelude::*;
use sim::numbers::{LocalAddress, SpeId, TagMask};
use sim::op::{Atomic, Op, PpeOp, Reply, Stepped, Stepper, Until};
use sim::table::{ppe as ppe_calls, spe as calls};
use sim::{Address, Dma, DmaKind, LOCAL_STORE_BYTES, ListElement, Ordering, Ppe, Simulated, Spe};
use std::cell::RefCell;
use std::process::Command;
use std::rc::Rc;

/// Set for the process that only prints what it obtains.
const CHILD: &str = "CELLWEAVE_SIM_PRINTS";

/// A busy blade: every kind of call, all SPEs, both chips.
fn busy(trace: bool, races: bool) -> Simulated {
    let mut blade = fresh("qs22");
    blade.trace(trace);
    blade.detect_races(races);
    let memory: Vec<Address> = (0..2).map(|chip| blade.allocate(chip, 512 << 10, 128).unwrap()).collect();
    for spe in 0..16usize {
        let memory = memory[usize::from(spe % 3 == 0)];
        blade
            .spe(spe, format!("busy {spe}"), move |spe| {
                let n = spe.number();
                let (mine, counter) = (memory + 4096 + n as u64 * 16384, Address(0));
                for round in 0..12u32 {
                    let tag = round % 4;
                    spe.getb(round % 4 * 16384, mine, 2048 * (1 + round % 5), tag);
                    spe.putf(
                        round % 4 * 16384,
                        spe.local_store_of((n + 5) % 16) + 131_072 + n as u64 * 4096,
                        4096,
                        tag,
                    );
                    spe.compute(100 + 37 * n as u64);
                    spe.tags_any(0xf);
                    spe.getllar(65536, counter);
                    let count = spe.read_u32(65536);
                    spe.write_u32(65536, count + 1);
                    spe.putllc(65536, counter);
                    spe.send_signalf(12, (n + 1) % 16, 1, tag);
                    if spe.signal_count(1) > 0 {
                        spe.read_signal(1);
                    }
                    spe.tags_all(0xf);
                    if round % 4 == 3 {
                        let word = spe.decrementer() ^ round;
                        spe.write_mailbox(word);
                    }
                }
            })
            .unwrap();
    }
    for ppe in 0..2usize {
        blade
            .ppe(ppe, "collects", move |ppe| {
                for _ in 0..3 {
                    for spe in ppe.number() * 8..ppe.number() * 8 + 8 {
                        let word = ppe.read_mailbox(spe);
                        ppe.store_u32(Address(2048 + spe as u64 * 4), word);
                    }
                }
            })
            .unwrap();
    }
    blade.run().unwrap()
}

#[test]
fn the_same_program_twice_has_the_same_hash() {
    let (first, second) = (busy(false, false), busy(false, false));
    assert_eq!((first.cycles, first.hash), (second.cycles, second.hash));
    assert_eq!(first.counters, second.counters);
    if std::env::var_os(CHILD).is_some() {
        println!("obtained {} {:x}", first.cycles, first.hash);
    }
}

#[test]
fn traces_and_race_detection_change_nothing() {
    let plain = busy(false, false);
    for (trace, races) in [(true, false), (false, true), (true, true)] {
        let other = busy(trace, races);
        assert_eq!((plain.cycles, plain.hash), (other.cycles, other.hash));
        assert_eq!(plain.counters, other.counters);
        assert_eq!(other.trace.is_some(), trace);
    }
}

#[test]
fn two_processes_have_the_same_hash() {
    let here = busy(false, false);
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_same_program_twice_has_the_same_hash", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8(child.stdout).unwrap();
    assert!(text.contains(&format!("obtained {} {:x}", here.cycles, here.hash)), "{text}");
}

#[test]
fn another_program_or_another_time_has_another_hash() {
    let run = |ns: u64, ea: u64| {
        let mut cell = machine("cell");
        cell.spe(0, "one", move |spe| {
            spe.get(0, Address(ea), 128, 0);
            spe.tags_all(1);
            spe.compute(ns);
            spe.compute(1000 - ns);
        })
        .unwrap();
        cell.run().unwrap()
    };
    assert_eq!(run(100, 0).cycles, run(200, 0).cycles);
    assert_ne!(run(100, 0).hash, run(200, 0).hash);
    assert_ne!(run(100, 0).hash, run(100, 128).hash);
}

/// Hands over operations in a row, and keeps the answers.
struct Row {
    ops: std::vec::IntoIter<Op>,
    replies: Rc<RefCell<Vec<(Reply, u64)>>>,
}

impl Stepper for Row {
    fn step(&mut self, reply: Reply, cycle: u64) -> Stepped {
        self.replies.borrow_mut().push((reply, cycle));
        self.ops.next().map_or(Stepped::Done, Stepped::Op)
    }
}

/// What a closure does for the same operation, and the answer that it sees.
fn call(spe: &mut Spe<'_>, op: &Op) -> Reply {
    match op {
        Op::Compute { cycles } => spe.compute_cycles(*cycles),
        Op::Dma(dma) => match (dma.put, dma.order) {
            (false, Ordering::Free) => spe.get(dma.ls, dma.ea, dma.bytes, dma.tag),
            (false, Ordering::Fence) => spe.getf(dma.ls, dma.ea, dma.bytes, dma.tag),
            (false, Ordering::Barrier) => spe.getb(dma.ls, dma.ea, dma.bytes, dma.tag),
            (true, Ordering::Free) => spe.put(dma.ls, dma.ea, dma.bytes, dma.tag),
            (true, Ordering::Fence) => spe.putf(dma.ls, dma.ea, dma.bytes, dma.tag),
            (true, Ordering::Barrier) => spe.putb(dma.ls, dma.ea, dma.bytes, dma.tag),
        },
        Op::List { dma, list } if dma.put => spe.put_list(dma.ls, list.clone(), dma.tag),
        Op::List { dma, list } => spe.get_list(dma.ls, list.clone(), dma.tag),
        Op::SetDecrementer { value } => spe.set_decrementer(*value),
        Op::Poke { at, data } => spe.bytes_mut(at.0, data.0.len() as u32).copy_from_slice(&data.0),
        Op::Peek { at, bytes } => return Reply::Bytes(spe.bytes(at.0, bytes.0).to_vec()),
        Op::Alloc { bytes, align } => return Reply::Word(spe.alloc(*bytes, *align)),
        Op::Tags { mask, until: Until::Now } => return Reply::Word(spe.tags_now(*mask)),
        Op::Tags { mask, until: Until::Any } => return Reply::Word(spe.tags_any(*mask)),
        Op::Tags { mask, until: Until::All } => return Reply::Word(spe.tags_all(*mask)),
        Op::QueueSpace => return Reply::Word(spe.queue_space()),
        Op::MailboxCount => return Reply::Word(spe.mailbox_count()),
        Op::MailboxSpace { interrupt: false } => return Reply::Word(spe.mailbox_space()),
        Op::SignalCount { register } => return Reply::Word(spe.signal_count(*register)),
        Op::Decrementer => return Reply::Word(spe.decrementer()),
        Op::Atomic { atomic: Atomic::Getllar, ls, ea } => spe.getllar(*ls, *ea),
        Op::Atomic { atomic: Atomic::Putllc, ls, ea } => return Reply::Word(u32::from(spe.putllc(*ls, *ea))),
        Op::Atomic { atomic: Atomic::Putlluc, ls, ea } => spe.putlluc(*ls, *ea),
        other => unreachable!("{other:?} is not drawn"),
    }
    Reply::Done
}

fn op() -> impl Strategy<Value = Op> {
    let order = prop_oneof![Just(Ordering::Free), Just(Ordering::Fence), Just(Ordering::Barrier)];
    let far =
        prop_oneof![(0u64..60).prop_map(|i| Address(i * 8192)), (0..16usize).prop_map(Address::local_store)];
    let dma = (any::<bool>(), 0u32..15, far, 1u32..1024, 0u32..32, order).prop_map(
        |(put, ls, ea, quads, tag, order)| Dma::new(DmaKind { put, order }, ls * 16384, ea, quads * 16, tag),
    );
    let atomic = prop_oneof![Just(Atomic::Getllar), Just(Atomic::Putllc), Just(Atomic::Putlluc)];
    let until = prop_oneof![Just(Until::Now), Just(Until::Any), Just(Until::All)];
    prop_oneof![
        3 => dma.clone().prop_map(Op::Dma),
        1 => (dma, 1usize..20, 1u32..20).prop_map(|(dma, n, quads)| {
            let list = (0..n as u64).map(|i| ListElement::new(Address(i * 4096), quads * 16));
            let list = list.collect::<Vec<_>>();
            if dma.put { calls::put_list(dma.ls, list, dma.tag) } else { calls::get_list(dma.ls, list, dma.tag) }
        }),
        2 => (0u64..3000).prop_map(calls::compute_cycles),
        2 => (any::<u32>(), until).prop_map(|(mask, until)| Op::Tags { mask: TagMask(mask), until }),
        1 => (atomic, 0u32..8, 0u64..4).prop_map(|(atomic, ls, line)| {
            Op::Atomic { atomic, ls: LocalAddress(ls * 128), ea: Address(line * 128) }
        }),
        1 => (0u32..1000, 0u32..64).prop_map(|(at, bytes)| calls::read(at, bytes)),
        1 => (0u32..1000, proptest::collection::vec(any::<u8>(), 1..64)).prop_map(|(at, data)| calls::write(at, data)),
        1 => prop_oneof![
            Just(Op::QueueSpace),
            Just(Op::MailboxCount),
            Just(Op::MailboxSpace { interrupt: false }),
            Just(calls::signal_count(2)),
            Just(Op::Decrementer),
            any::<u32>().prop_map(calls::set_decrementer),
            Just(calls::alloc(24, 16)),
        ],
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_closure_and_its_operations_one_by_one_take_the_same_time(
        programs in proptest::collection::vec(proptest::collection::vec(op(), 1..40), 1..5),
    ) {
        let seen = |steps: bool| {
            let mut blade = machine("qs22");
            let mut logs = Vec::new();
            for (i, ops) in programs.iter().enumerate() {
                let replies = Rc::new(RefCell::new(Vec::new()));
                logs.push(replies.clone());
                let (spe, first) = (i * 3, calls::alloc(LOCAL_STORE_BYTES - 2048, 16));
                let ops: Vec<Op> = std::iter::once(first).chain(ops.iter().cloned()).collect();
                if steps {
                    blade.spe_stepper(spe, "ops", Box::new(Row { ops: ops.into_iter(), replies })).unwrap();
                } else {
                    blade
                        .spe(spe, "ops", move |spe| {
                            let cycle = |spe: &Spe<'_>| spe.now_ps() / sim::CYCLE_PS;
                            replies.borrow_mut().push((Reply::Done, cycle(spe)));
                            for op in &ops {
                                let reply = call(spe, op);
                                replies.borrow_mut().push((reply, cycle(spe)));
                            }
                        })
                        .unwrap();
                }
            }
            let outcome = blade.run().unwrap();
            let logs: Vec<_> = logs.into_iter().map(|log| log.take()).collect();
            (outcome.cycles, outcome.hash, outcome.counters, logs)
        };
        let (steps, calls) = (seen(true), seen(false));
        prop_assert_eq!((steps.0, steps.1, &steps.2), (calls.0, calls.1, &calls.2));
        for (program, (step, call)) in steps.3.iter().zip(&calls.3).enumerate() {
            prop_assert_eq!(step.len(), call.len());
            for (i, (a, b)) in step.iter().zip(call).enumerate() {
                prop_assert_eq!(a.1, b.1, "program {} step {}", program, i);
                // A call that returns nothing hides its answer.
                prop_assert!(a.0 == b.0 || b.0 == Reply::Done, "program {} step {}: {:?} {:?}", program, i, a.0, b.0);
            }
        }
    }
}

fn ppe_op() -> impl Strategy<Value = Op> {
    let far = prop_oneof![(0u64..4000).prop_map(Address), (0..8usize).prop_map(Address::local_store)];
    let (spe, tag, register) = (0usize..8, 0u32..32, 1u32..=2);
    let until = prop_oneof![Just(Until::Now), Just(Until::Any), Just(Until::All)];
    let dma = (any::<bool>(), 0u32..16, 0u64..60, 1u32..1024, tag).prop_map(|(put, ls, line, quads, tag)| {
        Dma::new(DmaKind { put, order: Ordering::Fence }, ls * 16384, Address(line * 8192), quads * 16, tag)
    });
    prop_oneof![
        (far.clone(), 0u32..600).prop_map(|(ea, bytes)| ppe_calls::load(ea, bytes)),
        (far, proptest::collection::vec(any::<u8>(), 0..600))
            .prop_map(|(ea, data)| ppe_calls::store(ea, data)),
        (spe.clone(), dma).prop_map(|(spe, dma)| PpeOp::Proxy { spe: SpeId(spe), dma }.into()),
        (spe.clone(), any::<u32>(), until).prop_map(|(spe, mask, until)| {
            PpeOp::ProxyTags { spe: SpeId(spe), mask: TagMask(mask), until }.into()
        }),
        spe.clone().prop_map(ppe_calls::mailbox_count),
        spe.clone().prop_map(ppe_calls::mailbox_space),
        (spe, register, any::<u32>())
            .prop_map(|(spe, register, value)| ppe_calls::write_signal(spe, register, value)),
        Just(ppe_calls::timebase()),
    ]
}

/// What a PPE's closure does for the same operation, and the answer that it sees.
fn ppe_call(ppe: &mut Ppe<'_>, op: &Op) -> Reply {
    let Op::Ppe(op) = op else { unreachable!("{op:?} is no call of a PPE") };
    match op {
        PpeOp::Load { ea, bytes } => return Reply::Bytes(ppe.load(*ea, *bytes)),
        PpeOp::Store { ea, data } => ppe.store(*ea, &*data.0),
        PpeOp::Proxy { spe, dma } => ppe.proxy(*spe, *dma),
        PpeOp::ProxyTags { spe, mask, until: Until::Now } => return Reply::Word(ppe.proxy_now(*spe, *mask)),
        PpeOp::ProxyTags { spe, mask, until: Until::Any } => return Reply::Word(ppe.proxy_any(*spe, *mask)),
        PpeOp::ProxyTags { spe, mask, until: Until::All } => return Reply::Word(ppe.proxy_wait(*spe, *mask)),
        PpeOp::MailboxCount { spe, .. } => return Reply::Word(ppe.mailbox_count(*spe)),
        PpeOp::MailboxSpace { spe } => return Reply::Word(ppe.mailbox_space(*spe)),
        PpeOp::WriteSignal { spe, register, value } => ppe.write_signal(*spe, *register, *value),
        PpeOp::Timebase => return Reply::Long(ppe.timebase()),
        other => unreachable!("{other:?} is not drawn"),
    }
    Reply::Done
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn so_do_a_ppes(ops in proptest::collection::vec(ppe_op(), 1..30)) {
        let seen = |steps: bool| {
            let mut cell = machine("cell");
            let (replies, ops) = (Rc::new(RefCell::new(Vec::new())), ops.clone());
            let log = replies.clone();
            if steps {
                cell.ppe_stepper(0, "ops", Box::new(Row { ops: ops.into_iter(), replies })).unwrap();
            } else {
                cell.ppe(0, "ops", move |ppe| {
                    let cycle = |ppe: &Ppe<'_>| ppe.now_ps() / sim::CYCLE_PS;
                    replies.borrow_mut().push((Reply::Done, cycle(ppe)));
                    for op in &ops {
                        let reply = ppe_call(ppe, op);
                        replies.borrow_mut().push((reply, cycle(ppe)));
                    }
                })
                .unwrap();
            }
            let outcome = cell.run().unwrap();
            (outcome.cycles, outcome.hash, outcome.counters, log.take())
        };
        prop_assert_eq!(seen(true), seen(false));
    }
}
