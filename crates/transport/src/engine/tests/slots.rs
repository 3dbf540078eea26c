//! Data that goes through the slots of a window.

use super::*;
use crate::slots::SLOT_BYTES;

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
    let first = job[0].begin_to_fill(100);
    let ahead = (0..100).take_while(|&number| fill(&mut job, number, &[1, 2])).count() as u64;
    assert!((2..100).contains(&ahead), "{ahead}");
    // Both have to take the first one.
    job[1].took(0, first);
    assert_eq!(job[0].free_slot(), None);
    job[2].took(0, first);
    let before = job[1].slot_of(0, first + 1).unwrap();
    assert!(job[1].slot_of(0, first + ahead).is_none(), "it is not filled yet");
    assert!(fill(&mut job, 200, &[1, 2]) && !fill(&mut job, 201, &[1, 2]));
    let mut read = vec![0u8; SLOT_BYTES];
    for (slot, byte) in [(before, 1), (job[1].slot_of(0, first + ahead).unwrap(), 200)] {
        // SAFETY: filled above, and not taken yet.
        unsafe { job[1].take_slot(slot, SLOT_BYTES, &buffer(&mut read), 0) };
        assert!(read.iter().all(|&read| read == byte));
    }
}

#[test]
fn a_reader_that_wants_none_holds_nobody_up() {
    let mut job = job(3);
    job[0].begin_to_fill(50);
    let ahead = (0..50).take_while(|&number| fill(&mut job, number, &[1, 2])).count();
    job[1].want_none(0);
    assert!(!fill(&mut job, 0, &[1, 2]), "the other one does");
    job[2].want_none(0);
    assert!((ahead..50).all(|_| fill(&mut job, 0, &[1, 2])));
    // What it is told of later is its own again.
    let first = job[0].begin_to_fill(50);
    let more = (0..50).take_while(|&number| fill(&mut job, number, &[1])).count();
    assert_eq!(more, ahead);
    job[1].took(0, first);
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
        let first = job[0].begin_to_fill(bytes.div_ceil(SLOT_BYTES) as u64);
        job[1].begin_to_take(bytes);
        for (number, from) in (first..).zip((0..bytes).step_by(SLOT_BYTES)) {
            let slot = job[0].free_slot().expect("all before were taken");
            // SAFETY: the slot that is free, and the one that is filled.
            unsafe {
                job[0].fill_slot(slot, &buffer(&mut data), from);
                job[0].filled(&[1]);
                let slot = job[1].slot_of(0, number).expect("it is filled");
                // Of more room than there is data, the rest is left alone.
                job[1].take_slot(slot, bytes - from, &buffer(&mut read[..bytes + message % 2]), from);
            }
            job[1].took(0, number);
        }
        assert!(read[..bytes] == data && read[bytes..] == [0xaa; 100], "message {message}");
        landed.insert(job[1].from_slots.landing as usize);
    }
    assert_eq!(landed.len(), 1 + usize::from(crate::copy::can_copy_past()));
}
