//! Who talks to whom, in every pattern and on every machine; the written form, also with what makes no sense.

use ground::Draws;
use machine::Machine;
use machine::target::{Direction, Store, TargetError, Transfer};
use probe::patterns::{PATTERNS, named, random::derangement};
use probe::{PatternShape, ranges, workers, written};
use proptest::prelude::*;

fn shape(machine: &Machine) -> PatternShape<'_> {
    PatternShape { machine, count: None, seed: 1, draws: 3 }
}

fn text(machine: &str, pattern: &str) -> String {
    let machine = machine::load(machine).unwrap();
    let sets = (named(pattern).unwrap().sets)(&shape(&machine)).unwrap();
    sets.iter().map(|set| written::write(set, &machine)).collect::<Vec<_>>().join(" ")
}

fn refused<T: std::fmt::Debug>(result: Result<T, TargetError>) -> String {
    match result.unwrap_err() {
        TargetError::Request(message) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn near_and_far_are_those_of_the_paper() {
    assert_eq!(text("qs22", "near"), "0<-2,2<-0,1<-3,3<-1,4<-6,6<-4,5<-7,7<-5");
    assert_eq!(text("qs22", "far"), "0<-7,7<-0,1<-6,6<-1,2<-5,5<-2,3<-4,4<-3");
    assert_eq!(text("ps3", "near"), "0<-2,2<-0,1<-3,3<-1,4<-5,5<-4");
}

#[test]
fn patterns_say_who_talks_to_whom() {
    assert_eq!(text("ps3", "pair"), "0<-1");
    assert_eq!(text("ps3", "fan-in"), "1<-0,2<-0,3<-0,4<-0,5<-0");
    assert_eq!(text("ps3", "fan-out"), "0<-1,0<-2,0<-3,0<-4,0<-5");
    assert_eq!(text("ps3", "disjoint"), "0<-1,2<-3,4<-5");
    assert_eq!(text("ps3", "ring"), "1<-0,2<-1,3<-2,4<-3,5<-4,0<-5");
    assert_eq!(text("ps3", "memory-read"), "0<-mem,1<-mem,2<-mem,3<-mem,4<-mem,5<-mem");
    assert_eq!(text("ps3", "memory-mixed"), "0<-mem,1->mem,2<-mem,3->mem,4<-mem,5->mem");
    assert!(text("ps3", "memory-alternating").starts_with("0<>mem,1<>mem"));
    assert!(text("ps3", "memory-write-each").starts_with("0->mem 1->mem 2->mem"));
    assert!(text("ps3", "ppe").starts_with("ppe0<-0 ppe0<-1"));
    assert_eq!(text("ps3", "all-pairs").split(' ').count(), 30);
    assert_eq!(text("qs22", "all-pairs").split(' ').count(), 240);
    assert!(text("qs22", "cross-chip").starts_with("0<-8,1<-9,2<-10"));
    assert_eq!(text("qs22", "ring-both").split(',').count(), 16);
    assert_eq!(
        text("host", "memory-read").matches("<-mem").count(),
        machine::load("host").unwrap().elements.len()
    );
}

#[test]
fn every_pattern_fits_the_machine_or_says_what_it_needs() {
    for name in ["ps3", "cell", "qs20", "qs22", "qs22:spe=1", "ps3:spe=0", "host"] {
        let machine = machine::load(name).unwrap();
        for pattern in PATTERNS {
            match (pattern.sets)(&shape(&machine)) {
                Ok(sets) => {
                    for set in sets {
                        let e = machine::target::Experiment {
                            transfers: set,
                            size_bytes: 128,
                            buffers: 1,
                            repeats: 1,
                            compute_ns: 0,
                            walk: machine::target::Walk::Next,
                        };
                        e.check(&machine).unwrap_or_else(|e| panic!("{} on {name}: {e}", pattern.name));
                    }
                }
                Err(e) => assert!(e.to_string().contains("need") || e.to_string().contains("has"), "{e}"),
            }
        }
    }
}

#[test]
fn a_count_out_of_range_is_refused_with_the_range() {
    let machine = machine::load("qs22").unwrap();
    let with = |pattern: &str, count| {
        (named(pattern).unwrap().sets)(&PatternShape { count: Some(count), ..shape(&machine) })
    };
    assert_eq!(with("memory-read", 5).unwrap()[0].len(), 5);
    assert_eq!(with("far", 16).unwrap()[0].len(), 16);
    assert!(refused(with("far", 17)).contains("17 elements: qs22 has 1 to 16"));
    assert!(refused(with("far", 0)).contains("0 elements"));
    assert!(refused(with("random", 1)).contains("at least 2"));
    assert!(refused(with("cross-chip", 9)).contains("1 to 8"));
    let cell = machine::load("cell").unwrap();
    assert!(refused((named("cross-chip").unwrap().sets)(&shape(&cell))).contains("two chips"));
}

#[test]
fn what_is_wrong_with_a_written_pattern_is_named() {
    let qs22 = machine::load("qs22").unwrap();
    for (wrong, fragments) in [
        ("", ["\"\"", "0<-7"]),
        ("0<-7,", ["\"\"", "0<-7"]),
        ("0=7", ["0=7", "0<-7"]),
        ("0<-16", ["16", "0 to 15"]),
        ("0<-99999999999999999999999", ["99999", "0 to 15"]),
        ("0<-0", ["SPE0", "itself"]),
        ("0<-spe0", ["SPE0", "itself"]),
        ("mem<-0", ["mem", "right"]),
        ("0<-mem2", ["chip 2", "qs22"]),
        ("0<-memx", ["memx", "mem are allowed"]),
        ("0<-SPX3", ["SPX3", "did you mean `SPE3`?"]),
        ("0<-ppe7", ["ppe7", "PPE"]),
        ("0<-1<-2", ["1<-2", "allowed"]),
        ("-1<-2", ["-1", "allowed"]),
    ] {
        let message = refused(written::parse(wrong, &qs22));
        for fragment in fragments {
            assert!(message.contains(fragment), "{wrong}: {message}");
        }
    }
    assert!(refused(written::parse(&"0<-1,".repeat(5000), &qs22)).contains("5001 transfers"));
    assert!(refused(written::parse(&"0".repeat(1 << 20), &qs22)).contains("letters"));
}

#[test]
fn the_right_side_of_a_written_pattern_may_be_memory_or_a_name() {
    let qs22 = machine::load("qs22").unwrap();
    let parsed = written::parse(" 0 <- mem1, SPE9->MEM ,9<>ppe1, PPE0<-3", &qs22).unwrap();
    assert_eq!(parsed[0].other, Store::Memory(1));
    assert_eq!((parsed[1].other, parsed[1].direction), (Store::Memory(1), Direction::Put));
    assert_eq!((parsed[2].other, parsed[2].direction), (Store::Element(1), Direction::Alternating));
    assert_eq!(written::write(&parsed, &qs22), "0<-mem1,9->mem,9<>ppe1,ppe0<-3");
}

#[test]
fn ranges_that_make_no_sense_are_repeated() {
    for wrong in ["", "k", "16kB", "-16", "1.5", "16..", "..16", "16..8", "0..16", "16...32", " "] {
        let why = ranges::sizes(wrong).unwrap_err();
        assert!(why.contains("number of bytes") || why.contains("no range"), "{wrong}: {why}");
    }
    for wrong in ["9999999M", "99999999999999999"] {
        let why = ranges::sizes(wrong).unwrap_err();
        assert!(why.contains("too many bytes; allowed: up to"), "{wrong}: {why}");
    }
    for wrong in ["", "x", "1..", "4..1", "1.5", "+1", "1..999999999", "99999999999"] {
        let why = ranges::counts(wrong).unwrap_err();
        assert!(why.contains("whole number") || why.contains("no range"), "{wrong}: {why}");
    }
    assert_eq!(ranges::sizes("16..16k").unwrap().len(), 11);
    assert_eq!(ranges::sizes("48..100").unwrap(), [48, 96]);
}

/// Order of the readers' sources in the first draws of seed 1: on every computer.
const GOLDEN: [&str; 2] =
    ["0<-4,1<-2,2<-1,3<-7,4<-3,5<-0,6<-5,7<-6", "0<-3,1<-2,2<-5,3<-1,4<-7,5<-6,6<-0,7<-4"];

#[test]
fn a_seed_draws_the_same_patterns_for_ever_however_many_are_drawn() {
    let machine = machine::load("cell").unwrap();
    let drawn = |draws| {
        let sets = (named("random").unwrap().sets)(&PatternShape { draws, ..shape(&machine) }).unwrap();
        sets.iter().map(|set| written::write(set, &machine)).collect::<Vec<_>>()
    };
    let (few, many) = (drawn(2), drawn(20));
    assert_eq!(few[..], many[..2]);
    assert_eq!(few, GOLDEN);
}

fn any_transfers() -> impl Strategy<Value = Vec<Transfer>> {
    let n = 18usize;
    let other = prop_oneof![(0..n).prop_map(Store::Element), (0..2u32).prop_map(Store::Memory)];
    let direction = prop_oneof![Just(Direction::Get), Just(Direction::Put), Just(Direction::Alternating)];
    let one = (0..n, other, direction)
        .prop_filter("talks to itself", |(i, o, _)| *o != Store::Element(*i))
        .prop_map(|(initiator, other, direction)| Transfer { initiator, other, direction });
    prop::collection::vec(one, 1..40)
}

proptest! {
    #[test]
    fn a_derangement_moves_everybody_and_loses_nobody(seed: u64, n in 2usize..40) {
        let order = derangement(n, &mut Draws::new(seed));
        prop_assert!(order.iter().enumerate().all(|(i, o)| i != *o));
        let mut sorted = order;
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..n).collect::<Vec<_>>());
    }

    #[test]
    fn what_was_written_is_read_again(transfers in any_transfers()) {
        let qs22 = machine::load("qs22").unwrap();
        prop_assert_eq!(workers(&qs22).len(), 16);
        let text = written::write(&transfers, &qs22);
        prop_assert_eq!(written::parse(&text, &qs22).unwrap(), transfers);
    }

    #[test]
    fn no_text_makes_the_reader_fall_over(text in "[-0-9<>,mepsu \\PC]{0,60}") {
        let qs22 = machine::load("qs22").unwrap();
        match written::parse(&text, &qs22) {
            Ok(transfers) => {
                let again = written::parse(&written::write(&transfers, &qs22), &qs22);
                prop_assert_eq!(again, Ok(transfers));
            }
            Err(e) => prop_assert!(!e.to_string().is_empty()),
        }
    }

    #[test]
    fn no_range_makes_the_reader_fall_over(text in "[0-9kM. -]{0,20}") {
        if let Ok(sizes) = ranges::sizes(&text) {
            prop_assert!(!sizes.is_empty());
        }
        if let Ok(counts) = ranges::counts(&text) {
            prop_assert!(!counts.is_empty());
        }
    }
}
