//! Messages of one line, in rows.

use super::*;
use crate::asleep::{Asleep, FOR_NEWS, FOR_ROOM};
use crate::buffer::{Layout, Shape, Span};
use crate::ring::INLINE;
use std::sync::Arc;

/// Bytes with one between each two.
struct EveryOther;

impl Shape for EveryOther {
    unsafe fn pack(&self, base: *const u8, _: usize, from: usize, into: &mut [u8]) -> usize {
        // SAFETY: twice as many bytes lie at `base`, as `every_other` says.
        into.iter_mut().enumerate().for_each(|(at, byte)| *byte = unsafe { *base.add(2 * (from + at)) });
        into.len()
    }

    unsafe fn unpack(&self, base: *mut u8, _: usize, from: usize, data: &[u8]) -> usize {
        // SAFETY: as above.
        data.iter().enumerate().for_each(|(at, byte)| unsafe { *base.add(2 * (from + at)) = *byte });
        data.len()
    }

    fn has_spans(&self) -> bool {
        false
    }

    fn spans(&self, _: *mut u8, _: usize, _: usize, _: usize, _: usize, _: &mut Vec<Span>) -> usize {
        0
    }
}

/// The bytes at even places.
fn every_other(data: &mut [u8]) -> Buffer {
    let layout = Layout { shape: Arc::new(EveryOther), count: 1 };
    // SAFETY: each test keeps its data until its transfers are complete.
    unsafe { Buffer::of_layout(data.as_mut_ptr(), data.len() / 2, layout) }
}

fn just(tag: i32) -> Criteria {
    criteria(Some(0), Some(tag))
}

#[test]
fn a_row_of_any_layouts_and_rooms_is_taken_at_one_look_and_counted() {
    let mut job = job(2);
    let sizes = [0, 1, 8, ASIDE, INLINE];
    let mut places: Vec<_> = (0..40).map(|tag| vec![0; 2 * sizes[tag % 5]]).collect();
    let receives: Vec<_> = (0..40)
        .map(|tag| {
            let place = &mut places[tag];
            let buffer = match tag / 10 {
                0 => buffer(place),
                1 => every_other(place),
                2 => buffer(&mut place[..sizes[tag % 5] / 2]),
                _ => return job[1].receive_or_set_aside(just(tag as i32), &buffer(place), None),
            };
            job[1].receive(just(tag as i32), Some(0), &buffer)
        })
        .collect();
    for tag in 0..40 {
        let mut data = vec![tag as u8 + 1; 2 * sizes[tag % 5]];
        let half = data.len() / 2;
        let sent = if tag % 2 == 0 { buffer(&mut data[..half]) } else { every_other(&mut data) };
        if tag % 2 == 1 {
            data.iter_mut().skip(1).step_by(2).for_each(|byte| *byte = 99);
        }
        assert!(job[0].send(1, envelope(0, tag as i32), &sent, Mode::Standard).is_none());
    }
    assert!(job[1].progress());
    let mut bytes_received = 0;
    for (tag, receive) in receives.into_iter().enumerate() {
        let (bytes, byte, place) = (sizes[tag % 5], tag as u8 + 1, &places[tag]);
        let room = if tag / 10 == 2 { bytes / 2 } else { bytes };
        let ending = if room < bytes { Ending::Otherwise } else { Ending::Well };
        assert_eq!((job[1].ending(receive), job[1].ending_of_live(receive)), (Some(ending), ending));
        let aside = job[1].take_aside(receive);
        let completion = job[1].take_if_complete(receive).expect("all of them came at one look");
        let expected =
            Completion { source: 0, tag: tag as i32, bytes: room, lost: bytes - room, cancelled: false };
        assert_eq!(completion, expected);
        assert_eq!(aside, (tag / 10 == 3 && bytes == ASIDE).then_some([byte; ASIDE]));
        let there = |&at: &usize| match tag / 10 {
            _ if aside.is_some() => false,
            1 => at % 2 == 0 && at / 2 < room,
            _ => at < room,
        };
        let whole: Vec<_> = (0..2 * bytes).map(|at| if there(&at) { byte } else { 0 }).collect();
        assert!(*place == whole, "tag {tag}");
        bytes_received += room as u64;
    }
    assert_eq!(job[1].counters.messages_received.get(), 40);
    assert_eq!(job[1].counters.bytes_received.get(), bytes_received);
}

#[test]
fn who_waits_for_one_message_of_a_row_takes_no_other() {
    let mut job = job(2);
    let mut places = [[0; 8]; 3];
    let receives =
        [0, 1, 2].map(|tag| job[1].receive(just(tag), Some(0), &buffer(&mut places[tag as usize])));
    for tag in 0..3 {
        assert!(job[0].send(1, envelope(0, tag), &buffer(&mut [7; 8]), Mode::Standard).is_none());
    }
    job[1].progress();
    receives.into_iter().for_each(|id| assert!(job[1].take_if_complete(id).is_some()));
    let receives =
        [0, 1, 2].map(|tag| job[1].receive(just(tag), Some(0), &buffer(&mut places[tag as usize])));
    for tag in 0..3 {
        assert!(job[0].send(1, envelope(0, tag), &buffer(&mut [8; 8]), Mode::Standard).is_none());
    }
    for (taken, id) in receives.into_iter().enumerate() {
        assert!(!job[1].is_complete(id), "after {taken}");
        assert!(job[1].progress_of(Some(0)));
        assert!(job[1].take_if_complete(id).is_some(), "{taken}");
    }
    assert_eq!(places, [[8; 8]; 3]);
}

#[test]
fn sleepers_hear_of_a_message_and_of_the_room_that_a_row_has_left() {
    let mut job = job(2);
    let mut place = [0; 8];
    let mut told = 0;
    for _ in 0..200 {
        let receive = job[1].receive(just(1), Some(0), &buffer(&mut place));
        job[1].page().set(FOR_NEWS);
        assert!(job[0].send(1, envelope(0, 1), &buffer(&mut [7; 8]), Mode::Standard).is_none());
        assert_eq!(job[1].page().announced(), 0, "the receiver is woken");
        job[0].page().set(FOR_ROOM);
        job[1].progress();
        told += u32::from(!job[0].page().take());
        assert!(job[1].take_if_complete(receive).is_some());
    }
    // It is told each time when 64 lines are free.
    assert_eq!(told, 3);
}

#[test]
fn a_message_is_asked_back_that_came_behind_a_row() {
    let mut job = job(2);
    let mut place = [0; 8];
    for _ in 0..3 {
        let receive = job[1].receive(just(1), Some(0), &buffer(&mut place));
        let first = job[0].send_by_id(1, envelope(0, 1), &buffer(&mut [7; 8]), Mode::Standard);
        let second = job[0].send_by_id(1, envelope(0, 1), &buffer(&mut [8; 8]), Mode::Standard);
        job[1].progress();
        for (send, comes_back) in [(first, false), (second, true)] {
            job[0].cancel(send);
            assert_eq!(until_complete(&mut job, 0, send).cancelled, comes_back);
        }
        assert!(!until_complete(&mut job, 1, receive).cancelled);
        assert_eq!(job[1].queues(), (0, 0));
    }
}
