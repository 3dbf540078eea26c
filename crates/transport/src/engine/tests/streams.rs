//! Messages in a row of which the kernel copies several at once.

use super::*;
use crate::COPY_FROM;
use crate::buffer::{Layout, Shape, Span};
use crate::costs::Sort;
use std::sync::Arc;

const BYTES: usize = 20_000;

/// Two ranks of which the first has sent the other one so many messages that they are a stream.
fn streaming() -> Vec<Engine<'static>> {
    let mut job = job(2);
    job[0].allow_reading();
    while !job[0].sharing.crossing[1].is_stream(BYTES) {
        assert_eq!(send_all(&mut job, &[BYTES], &[BYTES]), 0);
    }
    job
}

/// So many messages of these bytes are sent, and received by receives of these bytes, of which every second is there
/// before; how many were announced.
fn send_all(job: &mut [Engine<'_>], bytes: &[usize], received: &[usize]) -> u64 {
    let before = job[0].counters.rendezvous_sent.get();
    let mut data: Vec<_> =
        bytes.iter().enumerate().map(|(at, &bytes)| sample(bytes + at)[at..].to_vec()).collect();
    let mut into: Vec<_> = received.iter().map(|&bytes| vec![0u8; bytes]).collect();
    let mut transfers = Vec::new();
    let mut receive_half = |job: &mut [Engine<'_>], transfers: &mut Vec<_>, first: usize| {
        for (at, into) in into.iter_mut().enumerate().skip(first).step_by(2) {
            let pattern = criteria(Some(0), Some(at as i32));
            transfers.push((1, job[1].receive(pattern, Some(0), &buffer(into))));
        }
    };
    receive_half(job, &mut transfers, 0);
    for (at, data) in data.iter_mut().enumerate() {
        let sent = job[0].send(1, envelope(0, at as i32), &buffer(data), Mode::Standard);
        transfers.extend(sent.map(|sent| (0, sent)));
    }
    job[1].progress();
    receive_half(job, &mut transfers, 1);
    for (rank, transfer) in transfers {
        until_complete(job, rank, transfer);
    }
    for (into, data) in into.iter().zip(&data) {
        let both = into.len().min(data.len());
        assert!(into[..both] == data[..both] && into[both..].iter().all(|&byte| byte == 0));
    }
    job[0].counters.rendezvous_sent.get() - before
}

#[test]
fn a_stream_by_the_kernel_arrives_whole_expected_or_not_and_cut_or_not() {
    let mut job = streaming();
    job[0].sharing.streams[1].set_by_kernel(true);
    let bytes: Vec<usize> = (0..40).map(|at| BYTES + 1000 * (at % 30)).collect();
    assert_eq!(send_all(&mut job, &bytes, &bytes), 40);
    let received: Vec<usize> = (0..40).map(|at| bytes[at] * (1 + at % 4) / 3).collect();
    job[0].sharing.streams[1].set_by_kernel(true);
    // What is longer than its receive ends in an error, which tests of matching look at.
    assert_eq!(send_all(&mut job, &bytes, &received), 40);
    assert_eq!(job[0].under_way() + job[1].under_way(), 0);
}

#[test]
fn several_messages_of_a_stream_are_read_in_one_call_and_told_of_in_few_lines() {
    let mut job = streaming();
    let mut data = sample(BYTES + 20);
    let mut into = vec![vec![0u8; BYTES]; 20];
    let receives: Vec<_> = into
        .iter_mut()
        .map(|into| job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer(into)))
        .collect();
    job[0].sharing.streams[1].set_by_kernel(true);
    let sends: Vec<_> = (0..20)
        .map(|at| job[0].send(1, envelope(0, 5), &buffer(&mut data[at..at + BYTES]), Mode::Standard).unwrap())
        .collect();
    // That is of large messages.
    job[0].outgoing[1].asked_each = 5;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let lines = job[1].outgoing[0].producer.produced();
        job[1].progress();
        let complete = receives.iter().filter(|&&receive| job[1].is_complete(receive)).count();
        seen.push((complete, job[1].outgoing[0].producer.produced() - lines));
    }
    // 8 at a time, of which two lines speak; one line has room for 6.
    assert_eq!(seen, [(8, 2), (16, 2), (20, 1)]);
    job[0].progress();
    assert!(sends.iter().all(|&send| job[0].is_complete(send)));
    assert_eq!(job[0].outgoing[1].asked_each, 5);
    assert!(into.iter().enumerate().all(|(at, into)| data[at..at + BYTES] == *into));
}

/// Two halves with a gap between.
struct Halves;

impl Halves {
    const GAP: usize = 100;
}

impl Shape for Halves {
    unsafe fn pack(&self, _: *const u8, _: usize, _: usize, _: &mut [u8]) -> usize {
        panic!("the kernel packs nothing")
    }

    unsafe fn unpack(&self, _: *mut u8, _: usize, _: usize, _: &[u8]) -> usize {
        panic!("the kernel unpacks nothing")
    }

    fn spans(
        &self,
        base: *mut u8,
        _: usize,
        from: usize,
        most: usize,
        _: usize,
        into: &mut Vec<Span>,
    ) -> usize {
        assert_eq!((from, most), (0, BYTES));
        let half = BYTES / 2;
        into.extend([0, half + Self::GAP].map(|at| Span { address: base.wrapping_add(at), bytes: half }));
        most
    }
}

#[test]
fn a_buffer_in_parts_among_those_of_a_stream_is_filled_by_itself() {
    let mut job = streaming();
    let mut data = sample(BYTES + 9);
    let mut into = vec![vec![0u8; BYTES + Halves::GAP]; 9];
    let receives: Vec<_> = into
        .iter_mut()
        .enumerate()
        .map(|(at, into)| {
            let layout = Layout { shape: Arc::new(Halves), count: 1 };
            let buffer = match at % 3 {
                // SAFETY: the data is kept until the transfers are complete.
                1 => unsafe { Buffer::of_layout(into.as_mut_ptr(), BYTES, layout) },
                _ => buffer(&mut into[..BYTES]),
            };
            job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer)
        })
        .collect();
    job[0].sharing.streams[1].set_by_kernel(true);
    for at in 0..9 {
        job[0].send(1, envelope(0, 5), &buffer(&mut data[at..at + BYTES]), Mode::Standard).unwrap();
    }
    receives.into_iter().for_each(|receive| _ = until_complete(&mut job, 1, receive));
    for (at, into) in into.iter().enumerate() {
        let gap = if at % 3 == 1 { BYTES / 2..BYTES / 2 + Halves::GAP } else { BYTES..BYTES + Halves::GAP };
        assert!(into[gap.clone()].iter().all(|&byte| byte == 0));
        assert!(into[..gap.start].iter().chain(&into[gap.end..]).eq(&data[at..at + BYTES]));
    }
}

#[test]
fn streams_from_two_ranks_are_read_from_each_and_told_to_each() {
    let mut job = job_on(3, 3);
    let (mut data, mut transfers) = (sample(BYTES), Vec::new());
    let mut into = vec![vec![0u8; BYTES]; 100];
    for (at, into) in into.iter_mut().enumerate() {
        let from = at % 2;
        job[from].allow_reading();
        let receive = job[2].receive(criteria(Some(from as u16), Some(5)), Some(from), &buffer(into));
        if job[from].sharing.crossing[2].is_stream(BYTES) {
            job[from].sharing.streams[2].set_by_kernel(true);
        }
        let sent = job[from].send(2, envelope(from as u16, 5), &buffer(&mut data), Mode::Standard);
        transfers.extend([Some((2, receive)), sent.map(|sent| (from, sent))].into_iter().flatten());
        if at < 70 {
            job[2].progress();
        }
    }
    assert!([0, 1].iter().all(|&rank| job[rank].counters.rendezvous_sent.get() > 10));
    // Two messages of one rank and of the other by turns are to be copied.
    for (rank, transfer) in transfers {
        until_complete(&mut job, rank, transfer);
    }
    assert!(into.iter().all(|into| *into == data));
}

#[test]
fn of_what_came_in_part_unasked_the_receiver_reads_the_rest_to_its_place() {
    let (bytes, mut by_receiver) = (100_000, 0);
    let mut job = job(2);
    job[0].allow_reading();
    for number in 0..200 {
        job[0].outgoing[1].asked_each = 1;
        let (mut data, mut into) = (sample(bytes), vec![0u8; bytes]);
        let receive = job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer(&mut into));
        let sent = job[0].send(1, envelope(0, 5), &buffer(&mut data), Mode::Standard).unwrap();
        job[1].progress();
        by_receiver += usize::from(job[1].is_complete(receive));
        until_complete(&mut job, 1, receive);
        until_complete(&mut job, 0, sent);
        assert!(into == data, "message {number}");
    }
    assert!(by_receiver > 0);
}

#[test]
fn the_kernel_copies_no_stream_of_what_comes_back_or_where_it_can_not() {
    for bytes in [9000, BYTES, COPY_FROM - 1] {
        let mut job = streaming();
        let by_kernel = |job: &mut Vec<Engine<'_>>| {
            job[0].sharing.streams[1].set_by_kernel(true);
            send_all(job, &[bytes], &[bytes])
        };
        assert_eq!(by_kernel(&mut job), 1);
        // Small ones are as before.
        assert_eq!(send_all(&mut job, &[8000], &[8000]), 0);
        job[0].segment().header().costs.learn_failure(Sort::ByKernel, bytes);
        assert_eq!(by_kernel(&mut job), 0);
        let mut job = streaming();
        job[0].set_copy_from(usize::MAX);
        assert_eq!(by_kernel(&mut job), 0);
        let mut job = streaming();
        let (mut data, mut into) = (sample(bytes), vec![0; bytes]);
        let receive = job[0].receive(criteria(Some(1), Some(1)), Some(1), &buffer(&mut into));
        let sent = job[1].send(0, envelope(1, 1), &buffer(&mut data), Mode::Standard);
        until_complete(&mut job, 0, receive);
        assert!(sent.is_none() && data == into);
        assert_eq!(by_kernel(&mut job), 0);
    }
}
