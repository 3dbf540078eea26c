//! Messages that lie in slots, of which several lines may speak.

use super::crossing::learn_pooled;
use super::*;
use crate::pool::SLOT;
use crate::ring::{LINE, LINES, STARTS};
use crate::segment::BLOCK;

/// Lines that speak of so many bytes that answer a message: of 2 kB, of 6, and of 16 at most.
pub(super) fn lines_of_answer(bytes: usize) -> u64 {
    if bytes > 8192 { 2 + (bytes - 8192).div_ceil(SLOT) as u64 } else { 1 }
}

/// Sends a message that answers one from the other rank; the number of its first line, and its lines.
pub(super) fn answer(job: &mut [Engine<'_>], rank: usize, data: &mut [u8]) -> (u64, u64) {
    let other = 1 - rank;
    let first = job[rank].outgoing[other].producer.produced();
    let sent = job[rank].send(other, envelope(rank as u16, 5), &buffer(data), Mode::Standard);
    assert!(sent.is_none(), "{} bytes", data.len());
    (first, job[rank].outgoing[other].producer.produced() - first)
}

/// Whether messages have so many lines. In the last lines of the ring no piece starts.
pub(super) fn has_lines(lines: u64, expected: u64) -> bool {
    lines == expected || lines == expected + u64::from(LINES - STARTS)
}

/// A word of a line of the ring from rank 0 to rank 1.
pub(super) fn word(segment: &Segment, line: u64, word: usize) -> *mut u64 {
    let place = (line % u64::from(LINES)) as usize;
    // SAFETY: inside the area, whose lines are behind that of its counters.
    unsafe { segment.pair(0, 1).add((place + 1) * LINE).cast::<u64>().add(word) }
}

#[test]
fn answers_come_in_parts_of_slots_and_blocks_which_go_back_whole() {
    let mut job = job(2);
    let mut lines = Vec::new();
    for number in 0..200 {
        let bytes = [9_000, 8192, SLOT, 5_000, 50_000][number % 5];
        for (rank, other) in [(0, 1), (1, 0)] {
            let (mut from, mut to) = (sample(bytes), vec![0u8; bytes]);
            let criteria = criteria(Some(rank as u16), Some(5));
            let mut receive =
                |job: &mut [Engine<'_>]| job[other].receive(criteria, Some(rank), &buffer(&mut to));
            let early = (number % 3 > 0).then(|| receive(&mut job));
            lines.push((bytes, answer(&mut job, rank, &mut from).1));
            job[other].progress();
            let receive = early.unwrap_or_else(|| receive(&mut job));
            until_complete(&mut job, other, receive);
            assert!(from == to, "{bytes} bytes, message {number}");
        }
    }
    // All but the first one answer.
    assert!(lines[1..].iter().all(|&(bytes, lines)| has_lines(lines, lines_of_answer(bytes))), "{lines:?}");
}

#[test]
fn parts_arrive_whole_however_many_are_there_at_a_time() {
    let mut job = job(2);
    let segment = job[0].segment();
    let mut hidden_parts = 0;
    // More messages than slots: each slot must go on.
    for number in 0..600 {
        let bytes = [9_000, SLOT, 50_000][number % 3];
        let (mut from, mut to, mut back) = (sample(bytes), vec![0u8; bytes], vec![0u8; bytes]);
        let receive = job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer(&mut to));
        let (first, lines) = answer(&mut job, 0, &mut from);
        assert!(number == 0 || has_lines(lines, lines_of_answer(bytes)), "{bytes} bytes: {lines} lines");
        // So many parts come later, one by one.
        let later = if lines == lines_of_answer(bytes) { number / 3 % 3 } else { 0 };
        let headers: Vec<_> = (first + 1..first + lines).map(|line| word(&segment, line, 0)).collect();
        let headers = &headers[headers.len() - later..];
        // SAFETY: of the ring, which nobody else uses now.
        let values: Vec<_> = headers.iter().map(|&header| unsafe { header.replace(0) }).collect();
        for (&header, value) in headers.iter().zip(values) {
            job[1].progress();
            assert!(!job[1].is_complete(receive), "{bytes} bytes, {later} parts later");
            // SAFETY: as above.
            unsafe { header.write(value) };
            hidden_parts += 1;
        }
        until_complete(&mut job, 1, receive);
        assert!(from == to, "{bytes} bytes, message {number}");
        let receive = job[0].receive(criteria(Some(1), Some(5)), Some(1), &buffer(&mut back));
        answer(&mut job, 1, &mut to);
        until_complete(&mut job, 0, receive);
        assert!(from == back, "{bytes} bytes back, message {number}");
    }
    assert!(hidden_parts > 100, "{hidden_parts}");
}

#[test]
fn a_part_that_its_message_or_its_slot_has_no_room_for_ends_the_job() {
    // Words of the line of the second part: bytes, from which byte of the message on, and of the slot on.
    let bytes = 20_000;
    let wrong = [
        (3, bytes as u64),
        (3, u64::MAX),
        (4, bytes as u64 - 1),
        (4, u64::MAX - 2000),
        (5, BLOCK as u64 - 1),
    ];
    for (place, value) in wrong.into_iter().chain([(7, 0)]) {
        let status = in_child(|| {
            let mut job = job(2);
            let (mut data, mut to) = (sample(bytes), vec![0u8; bytes]);
            // The first ones are timed.
            for number in 0..100 {
                for rank in [1, 0] {
                    let from = criteria(Some(rank as u16), Some(5));
                    let receive = job[1 - rank].receive(from, Some(rank), &buffer(&mut to));
                    let (first, lines) = answer(&mut job, rank, &mut data);
                    if number >= 90 && rank == 0 && lines == lines_of_answer(bytes) && place < 7 {
                        // SAFETY: inside the ring, which nobody else uses now.
                        unsafe { word(&job[0].segment(), first + 1, place).write(value) };
                    }
                    until_complete(&mut job, 1 - rank, receive);
                }
            }
        });
        assert_eq!(status, i32::from(place < 7), "{value} in word {place}");
    }
}

#[test]
fn what_follows_a_message_of_several_pieces_waits_for_the_next_look() {
    let [first, second] = [50_000, 40_000];
    for is_timed in [true, false] {
        let mut job = job(2);
        if !is_timed {
            // Each piece of the first messages is timed for itself until it is known what they cost.
            learn_pooled(&job[0].segment().header().costs, first, 10_000);
            let (mut from, mut to) = (sample(first), vec![0u8; first]);
            let receive = job[1].receive(criteria(Some(0), Some(1)), Some(0), &buffer(&mut to));
            job[0].send(1, envelope(0, 1), &buffer(&mut from), Mode::Standard);
            until_complete(&mut job, 1, receive);
        }
        let (mut from, mut to) = ([sample(first), sample(second)], [vec![0u8; first], vec![0u8; second]]);
        let receive = job[1].receive(criteria(Some(0), Some(1)), Some(0), &buffer(&mut to[0]));
        for data in &mut from {
            assert_eq!(job[0].send(1, envelope(0, 1), &buffer(data), Mode::Standard), None);
        }
        job[1].progress();
        assert!(job[1].take_if_complete(receive).is_some());
        assert_eq!(job[1].queues(), (0, 0), "the second one goes straight into its receive");
        let receive = job[1].receive(criteria(Some(0), Some(1)), Some(0), &buffer(&mut to[1]));
        until_complete(&mut job, 1, receive);
        assert!(to == from);
    }
}
