//! Data that goes through the slots of a window.

use super::*;
use crate::COPY_FROM;
use crate::costs::{DataUse, SlotCosts, SlotSort};
use crate::engine::slots::LEAST_PAST;
use crate::landing::Landing;
use crate::slots::{SLOT_BYTES, SlotFlow};

/// Data of so many whole pieces that these copy.
fn passing(pieces: usize, takers: &[usize]) -> Passing<'_> {
    let bytes = pieces * SLOT_BYTES;
    Passing { bytes, pieces, filled_by: DataUse::Copies, taken_by: DataUse::Copies, takers, alone: false }
}

/// Fills the next slot with a byte; false: none is free.
fn fill(job: &mut [Engine<'_>], with: u8, readers: &[usize]) -> bool {
    let Some(slot) = job[0].free_slot() else { return false };
    let mut data = vec![with; SLOT_BYTES];
    // SAFETY: the slot that is free.
    unsafe { job[0].fill_slot(slot, &buffer(&mut data), 0) };
    job[0].filled(readers);
    true
}

#[test]
fn a_rank_goes_on_filling_until_it_needs_a_slot_that_a_reader_has_not_taken() {
    let mut job = job(3);
    let all = job[0].begin_to_fill(passing(100, &[1, 2]));
    let ahead = (0..100).take_while(|&number| fill(&mut job, number, &[1, 2])).count();
    assert!((2..100).contains(&ahead), "{ahead}");
    // Both have to take the first one.
    job[1].took(0, all, 0);
    assert_eq!(job[0].free_slot(), None);
    job[2].took(0, all, 0);
    let before = job[1].slot_of(0, all, 1).unwrap();
    assert!(job[1].slot_of(0, all, ahead).is_none(), "it is not filled yet");
    assert!(fill(&mut job, 200, &[1, 2]) && !fill(&mut job, 201, &[1, 2]));
    let mut read = vec![0u8; SLOT_BYTES];
    for (slot, byte) in [(before, 1), (job[1].slot_of(0, all, ahead).unwrap(), 200)] {
        // SAFETY: filled above, and not taken yet.
        unsafe { job[1].take_slot((0, all), slot, SLOT_BYTES, &buffer(&mut read), 0) };
        assert!(read.iter().all(|&read| read == byte));
    }
}

#[test]
fn a_reader_that_wants_none_holds_nobody_up() {
    let mut job = job(3);
    job[0].begin_to_fill(passing(50, &[1, 2]));
    let ahead = (0..50).take_while(|&number| fill(&mut job, number, &[1, 2])).count();
    job[1].want_none(0);
    assert!(!fill(&mut job, 0, &[1, 2]), "the other one does");
    job[2].want_none(0);
    assert!((ahead..50).all(|_| fill(&mut job, 0, &[1, 2])));
    // What it is told of later is its own again.
    let all = job[0].begin_to_fill(passing(50, &[1]));
    let more = (0..50).take_while(|&number| fill(&mut job, number, &[1])).count();
    assert_eq!(more, ahead);
    job[1].took(0, all, 0);
    assert!(fill(&mut job, 0, &[1]) && !fill(&mut job, 0, &[1]));
}

#[test]
fn pieces_arrive_wherever_they_land_and_nothing_behind_them_changes() {
    let mut job = job(2);
    let most = 3 * job[1].segment().turnover_bytes() / 2;
    let mut landed = std::collections::BTreeSet::new();
    for message in 0..60 {
        let bytes = if message % 2 == 0 { most } else { 1 + message * 9973 % (3 * SLOT_BYTES) };
        let (mut data, mut read) = (sample(bytes), vec![0xaa_u8; bytes + 100]);
        let passing = Passing { bytes, alone: message % 3 == 0, ..passing(bytes.div_ceil(SLOT_BYTES), &[1]) };
        let all = job[0].begin_to_fill(passing);
        job[1].begin_to_take(SlotFlow::FromOne, bytes, 1);
        for (index, from) in (0..bytes).step_by(SLOT_BYTES).enumerate() {
            let slot = job[0].free_slot().expect("all before were taken");
            // SAFETY: the slot that is free, and the one that is filled.
            unsafe {
                job[0].fill_slot(slot, &buffer(&mut data), from);
                job[0].filled(&[1]);
                let slot = job[1].slot_of(0, all, index).expect("it is filled");
                // Of more room than there is data, the rest is left alone.
                job[1].take_slot(
                    (0, all),
                    slot,
                    bytes - from,
                    &buffer(&mut read[..bytes + message % 2]),
                    from,
                );
            }
            job[1].took(0, all, index);
        }
        assert!(read[..bytes] == data && read[bytes..] == [0xaa; 100], "message {message}");
        landed.insert(job[1].from_slots.landing as usize);
    }
    assert_eq!(landed.len(), 1 + usize::from(crate::copy::can_copy_past()));
}

#[test]
fn all_is_taken_before_another_number_of_slots_is_filled_in_turn() {
    let mut job = job(2);
    let all = job[0].begin_to_fill(passing(3, &[1]));
    assert!((0..3).all(|number| fill(&mut job, number, &[1])));
    // Many cycles with many slots were shorter: a rank that fills slots alone fills many in turn.
    let next = loop {
        let alone = Passing { alone: true, ..passing(3, &[1]) };
        let next = job[0].begin_to_fill(alone);
        if next.words()[1] / 4 != all.words()[1] / 4 {
            break next;
        }
    };
    assert_eq!(job[0].free_slot(), None);
    job[1].took(0, all, 1);
    assert_eq!(job[0].free_slot(), None, "the last one");
    job[1].took(0, all, 2);
    let ahead = (0..100).take_while(|&number| fill(&mut job, number, &[1])).count();
    assert_eq!(ahead, Segment::MOST_SLOTS);
    assert!(job[1].slot_of(0, next, ahead - 1).is_some() && job[1].slot_of(0, next, ahead).is_none());
}

#[test]
fn a_passage_is_told_in_words_and_impossible_ones_are_none() {
    let mut job = job(2);
    for number in 0..200 {
        let all = job[0].begin_to_fill(Passing { alone: number % 2 == 0, ..passing(1, &[1]) });
        assert_eq!(Passage::of(all.words()), Some(all));
        assert!(all.words()[1] < Passage::CODES);
    }
    for code in [0, 3, 4 * (Segment::MOST_SLOTS as u64 + 1), u64::MAX] {
        assert_eq!(Passage::of([7, code, 100]), None);
    }
}

/// Says what each sort costs: so many ns for each byte, in the caches and past them.
fn learn(costs: &SlotCosts, data: usize, ns: [u64; 2]) {
    use SlotSort::{Filled, Taken, TakenNear};
    for sort in [Filled(DataUse::Copies), Taken(DataUse::Copies), TakenNear] {
        for (landing, ns) in [Landing::InCaches, Landing::PastCaches].into_iter().zip(ns) {
            (0..200).for_each(|_| costs.learn(sort, landing, data, SLOT_BYTES, ns * SLOT_BYTES as u64));
        }
    }
}

#[test]
fn data_lands_past_the_caches_where_that_costs_clearly_less_and_readers_are_on_other_cpus() {
    if !crate::copy::can_copy_past() {
        return;
    }
    let mut job = job(3);
    let data = 2 * SLOT_BYTES;
    let past = |job: &mut Vec<Engine<'_>>, times| {
        (0..times).filter(|_| job[0].begin_to_fill(passing(2, &[1, 2])).is_past()).count()
    };
    // What is not known is measured: first in the caches.
    assert_eq!(past(&mut job, 40), 0);
    for (ns, all) in [([40, 20], true), ([40, 39], false), ([20, 40], false)] {
        learn(&job[0].segment().header().slot_costs, data, ns);
        let times = past(&mut job, 1024);
        let expected = if all { 900..1024 } else { 1..100 };
        assert!(expected.contains(&times), "{ns:?}: {times} of 1000, now and then the other one");
    }
    // Of other sizes nothing is known.
    assert!(!job[0].begin_to_fill(passing(64, &[1, 2])).is_past());
    learn(&job[0].segment().header().slot_costs, data, [40, 20]);
    // Its reader is on this cpu, unless the test was moved to another one just now.
    let is_near = (0..10).any(|_| {
        job[1].page().cpu.store(host::pin::this_cpu().wrapping_add(1), Ordering::Relaxed);
        !job[0].begin_to_fill(passing(2, &[1])).is_past()
    });
    assert!(is_near);
}

#[test]
fn a_turn_of_the_other_landing_has_enough_pieces_to_tell_and_not_many_more() {
    if !crate::copy::can_copy_past() {
        return;
    }
    // Those behind as many slots as are filled in turn are timed.
    for (pieces, in_turn) in [(1, 8 + 16), (4, 2 + 16), (16, 1 + 4), (64, 1 + 1), (256, 1 + 1)] {
        let mut job = job(2);
        assert_eq!(job[0].slots(), 8);
        learn(&job[0].segment().header().slot_costs, pieces * SLOT_BYTES, [20, 40]);
        let past = (0..100).filter(|_| job[0].begin_to_fill(passing(pieces, &[1])).is_past()).count();
        assert_eq!(past, in_turn, "{pieces}");
    }
}

#[test]
fn what_pieces_cost_is_learnt_until_it_is_known_and_then_now_and_then() {
    if !crate::copy::can_copy_past() {
        return;
    }
    let mut job = job(2);
    let elsewhere = |job: &[Engine<'_>], rank: usize| job[rank].page().cpu.store(u32::MAX, Ordering::Relaxed);
    let (mut data, mut timed) = (vec![0; SLOT_BYTES], Vec::new());
    for _ in 0..1000 {
        elsewhere(&job, 1);
        let all = job[0].begin_to_fill(passing(1, &[1]));
        elsewhere(&job, 0);
        let slot = job[0].free_slot().expect("all before were taken");
        // SAFETY: the slot that is free, and the one that is filled.
        unsafe {
            job[0].fill_slot(slot, &buffer(&mut data), 0);
            job[0].filled(&[1]);
            let slot = job[1].slot_of(0, all, 0).unwrap();
            job[1].take_slot((0, all), slot, SLOT_BYTES, &buffer(&mut data), 0);
        }
        job[1].took(0, all, 0);
        timed.push(all.words()[1] & 1 == 1);
    }
    let count = |passages: std::ops::Range<usize>| timed[passages].iter().filter(|&&timed| timed).count();
    assert_eq!(count(0..job[0].slots()), 0, "the first ones get memory");
    assert!(count(0..64) >= 32, "each landing is measured");
    assert!((1..200).contains(&count(500..1000)), "{}", count(500..1000));
}

#[test]
fn a_gather_goes_through_slots_until_messages_are_known_to_take_less_as_the_root_says() {
    let (mut job, bytes) = (job(3), 100_000);
    assert!(job[0].gathers_through_slots(COPY_FROM - 1, 0, -1), "the kernel never copies so little");
    let mut asked = |collective: i32| {
        let answer = job[0].gathers_through_slots(bytes, 0, collective);
        // Another rank hears it, and sends what is to be sent as a message.
        assert_eq!(job[1].gathers_through_slots(bytes, 0, collective), answer);
        if !answer {
            assert!(!job[1].two_copies_are_shorter(bytes, Among::Gathers(2), collective));
        }
        // What came as the answer before said does not count.
        job[0].begin_to_gather(bytes, 3, collective == 64 || answer, !answer);
        answer
    };
    (0..64).for_each(|number| assert!(asked(number), "{number}"));
    let sent = (64..1000).filter(|&number| !asked(number)).count();
    assert!(sent > 0, "messages are tried");
    // As the root of another gather, rank 2 has its own answer; who cannot be read is not sent to.
    assert!(job[1].gathers_through_slots(bytes, 2, 1000));
    job[0].segment().header().costs.learn_failure(crate::costs::Sort::ByKernel, bytes);
    assert!((1000..2000).all(|number| job[0].gathers_through_slots(bytes, 0, number)));
}

#[test]
fn data_of_all_lands_where_one_rank_says_and_soon_each_landing_is_tried() {
    if !crate::copy::can_copy_past() {
        return;
    }
    let mut job = job(3);
    let large = job[0].segment().turnover_bytes();
    let flow = SlotFlow::FromOne;
    let mut landing = |rank: usize, flow, bytes, says| {
        job[rank].begin_to_take(flow, bytes, says);
        job[rank].from_slots.landing
    };
    // Rank 0 says it, which asks each time, also to one that asks for the first time.
    for number in 0..12 {
        let expected = if number < 8 { Landing::PastCaches } else { Landing::InCaches };
        assert_eq!(landing(0, flow, large, 0), expected, "{number}");
    }
    assert_eq!(landing(1, flow, large, 0), Landing::InCaches);
    // Another flow has answers of its own.
    assert_eq!(landing(0, SlotFlow::AmongAll, large, 0), Landing::PastCaches);
    assert_eq!(landing(1, SlotFlow::AmongAll, large, 0), Landing::PastCaches);
    assert_eq!(landing(1, flow, large, 0), Landing::InCaches);
    // Less data does not, and who says nothing wants none to.
    assert_eq!(landing(0, SlotFlow::AmongAll, LEAST_PAST - 1, 0), Landing::InCaches);
    assert_eq!(landing(0, SlotFlow::AmongAll, large, 2), Landing::InCaches);
    // Where data takes half of the cache that all share, that is sure enough to be asked later.
    job[0].segment().set_shared_cache_bytes(2 * large as u64);
    let sure = (0..66).map(|_| {
        job[0].begin_to_take(SlotFlow::ToOne, large, 0);
        job[0].from_slots.landing
    });
    let (first, then) = ([Landing::PastCaches; 64], [Landing::InCaches; 2]);
    assert_eq!(sure.collect::<Vec<_>>(), [&first[..], &then].concat());
}

#[test]
fn what_is_known_of_smaller_data_is_the_first_answer_for_larger() {
    let (mut decisions, mut now_ns, small) = (decisions::Decisions::default(), 0, 100_000);
    assert_eq!(decisions.of_smaller(4 * small), None);
    for _ in 0..200 {
        let answer = decisions.answer(small, Ok(false), now_ns);
        now_ns += if answer { 10_000 } else { 20_000 };
    }
    assert_eq!([2, 4, 8].map(|times| decisions.of_smaller(times * small)), [Some(true), Some(true), None]);
}
