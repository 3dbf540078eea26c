//! Messages of two ranks that cross on the way.

use super::pooled::has_lines;
use super::*;
use crate::COPY_FROM;
use crate::costs::{Costs, DataUse, Fill, Sort};
use crate::pool::SLOT;
use crate::segment::BLOCK;

/// Two ranks send each other so much at the same time; how many messages were announced.
fn exchange(job: &mut [Engine<'_>], bytes: usize) -> u64 {
    let (mut data, mut into) = ([sample(bytes), sample(bytes)], [vec![0u8; bytes], vec![0u8; bytes]]);
    data[1].reverse();
    let announced =
        |job: &[Engine<'_>]| job.iter().map(|rank| rank.counters.rendezvous_sent.get()).sum::<u64>();
    let before = announced(job);
    let receives = [0, 1].map(|rank| {
        let pattern = criteria(Some(1 - rank as u16), Some(1));
        job[rank].receive(pattern, Some(1 - rank), &buffer(&mut into[rank]))
    });
    let sends = [0, 1].map(|rank| {
        job[rank].send(1 - rank, envelope(rank as u16, 1), &buffer(&mut data[rank]), Mode::Standard)
    });
    for rank in [0, 1] {
        until_complete(job, rank, receives[rank]);
        if let Some(sent) = sends[rank] {
            until_complete(job, rank, sent);
        }
    }
    assert!(into[0] == data[1] && into[1] == data[0]);
    announced(job) - before
}

/// One message there.
fn one_way(job: &mut [Engine<'_>], from: usize, bytes: usize) {
    let (mut data, mut into) = (sample(bytes), vec![0u8; bytes]);
    let pattern = criteria(Some(from as u16), Some(1));
    let receive = job[1 - from].receive(pattern, Some(from), &buffer(&mut into));
    let sent = job[from].send(1 - from, envelope(from as u16, 1), &buffer(&mut data), Mode::Standard);
    until_complete(job, 1 - from, receive);
    if let Some(sent) = sent {
        until_complete(job, from, sent);
    }
    assert!(into == data);
}

/// One message there and one back.
fn to_and_fro(job: &mut [Engine<'_>], bytes: usize) {
    [0, 1].into_iter().for_each(|from| one_way(job, from, bytes));
}

/// Both ranks know that messages of so many bytes cross; false: neither does.
fn cross(job: &mut [Engine<'_>], bytes: usize) -> bool {
    let known = [0, 1].map(|rank| job[rank].sharing.crossing[1 - rank].is_known(bytes));
    assert_eq!(known[0], known[1], "{bytes}");
    known[0]
}

#[test]
fn messages_that_cross_go_unasked_and_in_blocks_until_they_go_to_and_fro() {
    let mut job = job(2);
    let bytes = 2 * BLOCK;
    job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
    (0..6).for_each(|_| {
        exchange(&mut job, bytes);
    });
    assert!(cross(&mut job, bytes));
    let mut in_blocks = 0;
    for _ in 0..100 {
        let lines = [0, 1].map(|rank| job[rank].outgoing[1 - rank].producer.produced());
        assert_eq!(exchange(&mut job, bytes), 0);
        for rank in [0, 1] {
            // Some are in single slots, which were used before. Eight slots would hold all.
            let pieces = job[rank].outgoing[1 - rank].producer.produced() - lines[rank];
            in_blocks += u32::from(pieces < 8);
        }
    }
    assert!(in_blocks > 180, "{in_blocks} of 200");
    (0..20).for_each(|_| to_and_fro(&mut job, bytes));
    assert!(!cross(&mut job, bytes));
    for _ in 0..100 {
        to_and_fro(&mut job, bytes);
        assert!(!cross(&mut job, bytes));
    }
}

#[test]
fn large_messages_in_a_row_go_in_whole_blocks_and_those_to_and_fro_in_parts_of_them() {
    let bytes = 4 * BLOCK;
    let mut job = job(2);
    job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
    let lines = |job: &[Engine<'_>]| job[0].outgoing[1].producer.produced();
    for answered in [false, true, false] {
        let mut sum = 0;
        for number in 0..40 {
            if answered {
                one_way(&mut job, 1, bytes);
            }
            let before = lines(&job);
            one_way(&mut job, 0, bytes);
            // The first ones find slots that the last ones left.
            sum += if number < 10 { 0 } else { lines(&job) - before };
        }
        // Four blocks, or two or three parts of each and six of the first one, and a line or some more: its
        // announcement, and the end of what went unasked.
        let each = sum as f64 / 30.0;
        let expected = if answered { 12.0..16.0 } else { 4.0..10.0 };
        assert!(expected.contains(&each), "{each} lines, answered: {answered}");
    }
}

#[test]
fn after_messages_that_crossed_those_one_way_are_soon_known_to_cross_none() {
    for (bytes, from) in [(100_000, 0), (100_000, 1), (300_000, 0), (300_000, 1)] {
        let mut job = job(2);
        (0..20).for_each(|_| {
            exchange(&mut job, bytes);
        });
        assert!(cross(&mut job, bytes));
        (0..40).for_each(|_| one_way(&mut job, from, bytes));
        assert!(!cross(&mut job, bytes), "{bytes} bytes from rank {from}");
    }
}

#[test]
fn messages_one_way_do_not_cross_their_answers_nor_small_ones() {
    for bytes in [100_000, 300_000] {
        let mut job = job(2);
        let (mut data, mut into, mut small) = (sample(bytes), vec![0u8; bytes], ([5; 64], [0; 64]));
        let mut sent = None;
        for number in 0..100 {
            let receive = job[1].receive(criteria(Some(0), Some(1)), Some(0), &buffer(&mut into));
            if number % 2 == 0 {
                let words = &mut small.0[..if number % 4 == 0 { 8 } else { 64 }];
                assert_eq!(job[1].send(0, envelope(1, 2), &buffer(words), Mode::Standard), None);
            }
            // Nobody has looked at what came from rank 1 since the last message was answered.
            let next = job[0].send(1, envelope(0, 1), &buffer(&mut data), Mode::Standard);
            assert!(!cross(&mut job, bytes), "{bytes} bytes, {number}");
            if let Some(sent) = sent.take() {
                until_complete(&mut job, 0, sent);
            }
            sent = next;
            until_complete(&mut job, 1, receive);
            if number % 2 == 0 {
                let receive = job[0].receive(criteria(Some(1), Some(2)), Some(1), &buffer(&mut small.1));
                until_complete(&mut job, 0, receive);
            }
        }
    }
}

#[test]
fn smaller_messages_that_cross_have_one_piece_each() {
    // Lines of each message to and fro, and of each that crosses.
    for (bytes, lines) in [(8000, [1, 1]), (SLOT, [3, 1]), (2 * SLOT - 64, [4, 1])] {
        let mut job = job(2);
        let mut lines_of = |exchanges: bool| {
            let before = job[0].outgoing[1].producer.produced();
            (0..20).for_each(|_| match exchanges {
                true => assert_eq!(exchange(&mut job, bytes), 0),
                false => to_and_fro(&mut job, bytes),
            });
            // What is in one piece anyway is not looked at.
            assert_eq!(cross(&mut job, bytes), exchanges && lines != [1, 1]);
            // Large ones are known for themselves.
            assert!(!cross(&mut job, COPY_FROM));
            job[0].outgoing[1].producer.produced() - before
        };
        // The first message answers none.
        lines_of(false);
        assert!(has_lines(lines_of(false), 20 * lines[0]), "{bytes}");
        lines_of(true);
        assert!(has_lines(lines_of(true), 20 * lines[1]), "{bytes}");
        lines_of(false);
        assert!(has_lines(lines_of(false), 20 * lines[0]), "{bytes}");
    }
}

#[test]
fn who_is_ahead_of_the_other_rank_crosses_what_that_has_not_read() {
    for bytes in [9000, COPY_FROM - 1, COPY_FROM] {
        let mut job = job(2);
        job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
        let (mut data, mut into) = ([sample(bytes), sample(bytes)], [vec![0u8; bytes], vec![0u8; bytes]]);
        let pattern = |rank: usize| criteria(Some(1 - rank as u16), Some(1));
        // Rank 0 sends the next one as soon as it has one; rank 1 has that before it receives it.
        let mut sent = job[0].send(1, envelope(0, 1), &buffer(&mut data[0]), Mode::Standard);
        for _ in 0..40 {
            job[1].progress();
            let receive = job[1].receive(pattern(1), Some(0), &buffer(&mut into[1]));
            let back = job[1].send(0, envelope(1, 1), &buffer(&mut data[1]), Mode::Standard);
            let from = job[0].receive(pattern(0), Some(1), &buffer(&mut into[0]));
            until_complete(&mut job, 0, from);
            if let Some(sent) = sent {
                until_complete(&mut job, 0, sent);
            }
            sent = job[0].send(1, envelope(0, 1), &buffer(&mut data[0]), Mode::Standard);
            until_complete(&mut job, 1, receive);
            if let Some(back) = back {
                until_complete(&mut job, 1, back);
            }
        }
        assert!(job[0].sharing.crossing[1].is_known(bytes), "{bytes}");
    }
}

#[test]
fn what_goes_to_and_fro_crosses_nothing_though_its_receives_come_late() {
    for bytes in [9000, COPY_FROM - 1, 100_000] {
        let mut job = job(2);
        let (mut data, mut into) = (sample(bytes), vec![0u8; bytes]);
        for number in 0..40 {
            let from = number % 2;
            let sent = job[from].send(1 - from, envelope(from as u16, 1), &buffer(&mut data), Mode::Standard);
            job[1 - from].progress();
            let pattern = criteria(Some(from as u16), Some(1));
            let receive = job[1 - from].receive(pattern, Some(from), &buffer(&mut into));
            until_complete(&mut job, 1 - from, receive);
            if let Some(sent) = sent {
                until_complete(&mut job, from, sent);
            }
            assert!(!cross(&mut job, bytes), "{bytes} bytes, {number}");
        }
    }
}

/// Says what copies through the pool cost, in ns for so many bytes.
pub(super) fn learn_pooled(costs: &Costs, bytes: usize, ns: u64) {
    for &fill in Fill::OWN.iter().chain(Fill::RETURNED) {
        for sort in [Sort::Pooled(fill), Sort::ReadPooled(fill)] {
            (0..40).for_each(|_| costs.learn(sort, bytes, bytes, ns));
        }
    }
}

#[test]
fn the_kernel_copies_messages_that_cross_where_that_costs_less_and_where_it_may() {
    let bytes = 100_000;
    for (kernel_ns, by_kernel) in [(10_000, true), (90_000, false)] {
        let mut job = job(2);
        let costs = &job[0].segment().header().costs;
        learn_pooled(costs, bytes, 20_000);
        (0..40).for_each(|_| costs.learn(Sort::ByKernel, bytes, bytes, kernel_ns));
        job.iter_mut().for_each(Engine::allow_reading);
        (0..6).for_each(|_| {
            exchange(&mut job, bytes);
        });
        assert!(cross(&mut job, bytes));
        let announced: Vec<u64> = (0..4).map(|_| exchange(&mut job, bytes)).collect();
        assert_eq!(announced, [if by_kernel { 2 } else { 0 }; 4], "{kernel_ns}");
        (0..40).for_each(|_| to_and_fro(&mut job, bytes));
        assert!(!cross(&mut job, bytes));
        (0..6).for_each(|_| {
            exchange(&mut job, bytes);
        });
        costs.learn_failure(Sort::ByKernel, bytes);
        assert_eq!(exchange(&mut job, bytes), 0);
        // Smaller ones are as before.
        assert_eq!(exchange(&mut job, COPY_FROM - 1), 0);
    }
}

#[test]
fn what_the_kernels_copy_costs_is_learnt_from_messages_that_cross() {
    let bytes = 100_000;
    let mut job = job(2);
    let costs = &job[0].segment().header().costs;
    learn_pooled(costs, bytes, 20_000);
    job.iter_mut().for_each(Engine::allow_reading);
    let known =
        || costs.kernel_is_cheaper(&costs.pooled(bytes).map(|sort| (sort, 1.0)), bytes, DataUse::Copies);
    assert_eq!(known(), Err(true));
    (0..40).for_each(|_| {
        exchange(&mut job, bytes);
    });
    assert!(known().is_ok());
}
