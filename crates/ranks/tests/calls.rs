//! Ranks whose calls are written out: what cannot be carried out is refused, whatever a rank asks for.

use ranks::{Callers, RankAnswer, RankCall, RankData, RankEnvelope, RankNote, RanksOptions, simulate};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// What each rank asks for, and what came of it.
#[derive(Default)]
struct Script {
    calls: RefCell<Vec<VecDeque<RankCall>>>,
    refused: RefCell<Vec<(usize, String)>>,
    written: RefCell<Vec<(usize, u64, usize)>>,
}

impl Callers for Script {
    fn next(&self, rank: usize) -> RankCall {
        self.calls.borrow_mut()[rank].pop_front().unwrap_or(RankCall::End)
    }

    fn refuse(&self, rank: usize, what: String) {
        self.refused.borrow_mut().push((rank, what));
        self.calls.borrow_mut().iter_mut().for_each(VecDeque::clear);
    }

    fn computed_ns(&self, _: usize) -> u64 {
        0
    }

    fn answer(&self, _: usize, _: RankAnswer, _: u64) {}

    fn most_news(&self) -> usize {
        64
    }

    fn read(&self, _: usize, _: u64, into: &mut [u8]) {
        into.fill(0);
    }

    fn write(&self, rank: usize, at: u64, data: &[u8]) {
        self.written.borrow_mut().push((rank, at, data.len()));
    }
}

/// Runs two ranks, each with its calls after its beginning.
fn run(calls: [&[RankCall]; 2]) -> Script {
    let begun = |calls: &[RankCall]| [&[RankCall::Begin][..], calls].concat().into();
    let script = Rc::new(Script { calls: RefCell::new(calls.map(begun).into()), ..Script::default() });
    let machine = sim::Parameters::named("cell").expect("a machine");
    let outcome = simulate(machine, 2, script.clone(), &RanksOptions::default());
    assert!(outcome.is_ok(), "{calls:?}: {:?}", outcome.err());
    Rc::into_inner(script).expect("the simulation is over")
}

const DATA: RankData = RankData { at: 0, bytes: 16, misaligned: 0, pieces: 1, local: false };
const ENVELOPE: RankEnvelope = RankEnvelope { context: 0, source: 1, tag: 5 };

fn bytes(bytes: u64) -> RankData {
    RankData { bytes, ..DATA }
}

#[test]
fn what_cannot_be_carried_out_is_refused_with_what_is_allowed() {
    let send = |to, data| RankCall::Send { to, envelope: ENVELOPE, data, synchronous: false };
    let context = RankEnvelope { context: u32::MAX, ..ENVELOPE };
    for (call, told) in [
        (RankCall::Begin, "a second beginning"),
        (send(2, DATA), "a message to rank 2; there are ranks 0 to 1"),
        (send(1, bytes(1 << 32)), "a message of 4294967296 bytes; at most 4294967295 are allowed"),
        (send(1, RankData { at: u64::MAX, ..DATA }), "a message at 18446744073709551615, 0 bytes"),
        (
            RankCall::Send { to: 1, envelope: context, data: DATA, synchronous: true },
            "a message of context 4294967295; contexts are below 67108864",
        ),
        (
            RankCall::Fetch { from: 1, entry: 7, data: DATA },
            "message 7 from rank 1, of which it has not been told",
        ),
        (
            RankCall::Tell { to: 9, entry: 0, note: RankNote::Kept },
            "a note to rank 9; there are ranks 0 to 1",
        ),
        (RankCall::Give { to: 4, data: DATA, whole: 16 }, "a gift to rank 2; there are ranks 0 to 1"),
        (
            RankCall::Give { to: 2, data: bytes(16_385), whole: 0 },
            "a gift of 16385 bytes; at most 16384 are allowed",
        ),
        (
            RankCall::Take { from: 2, offset: 1 << 18, data: DATA },
            "a gift from byte 262144 on; at most 16384",
        ),
        (RankCall::Take { from: 3, offset: 0, data: bytes(16_384) }, "gifts of 16384 bytes; at most 8224"),
        (RankCall::Keep { data: bytes(u64::MAX) }, "results of 18446744073709551615 bytes; at most"),
        (RankCall::Combine { bytes: u64::MAX, double: true, local: true }, "a reduction of 1844674407"),
        (
            RankCall::Compute { flops: f64::INFINITY, bytes: 0.0 },
            "a computation of inf operations on 0 bytes; at most 1e15 of each are allowed",
        ),
    ] {
        let refused = run([std::slice::from_ref(&call), &[]]).refused.into_inner();
        let [(0, what)] = &refused[..] else { panic!("{call:?}: {refused:?}") };
        assert!(what.starts_with(told), "{call:?}: {what}");
    }
}

#[test]
fn a_message_that_has_less_than_was_asked_for_is_all_that_is_written() {
    let sent = RankCall::Send { to: 0, envelope: ENVELOPE, data: bytes(100), synchronous: false };
    let fetched = RankCall::Fetch { from: 1, entry: 0, data: RankData { at: 48, ..bytes(20_000) } };
    let script = run([&[RankCall::Wait, RankCall::Look, fetched], &[sent]]);
    assert!(script.refused.borrow().is_empty(), "{:?}", script.refused);
    assert_eq!(script.written.into_inner(), [(0, 48, 100)]);
}

#[test]
fn of_a_gift_nothing_is_taken_behind_its_end() {
    let given = RankCall::Give { to: 1, data: bytes(100), whole: 100 };
    for (offset, taken) in [(0, 100), (60, 40), (100, 0), (16_384, 0)] {
        let take = RankCall::Take { from: 2, offset, data: bytes(1000) };
        let script = run([&[take], std::slice::from_ref(&given)]);
        assert_eq!(script.written.into_inner(), [(0, 0, taken)], "from {offset} on");
    }
}
