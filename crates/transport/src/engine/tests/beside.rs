//! Messages that lie in the pages beside their lines.

use super::*;
use crate::copy::can_demote;
use crate::engine::beside::MOST_IN_ROW;
use crate::ring::{INLINE, LINES, POOLED_FROM};
use crate::segment::PAGE;

/// The kind of the piece that has come to a rank, which has not looked at it.
fn kind_of(job: &[Engine<'_>], from: usize, to: usize) -> u8 {
    job[to].incoming[from].consumer.peek().unwrap().kind()
}

/// Sends so many bytes from a rank to a rank that waits for them or does not; the kind of the piece.
fn pass(job: &mut [Engine<'_>], (from, to): (usize, usize), data: &mut [u8], expected: bool) -> u8 {
    let mut there = vec![0; data.len()];
    let criteria = criteria(Some(from as u16), Some(5));
    let early = expected.then(|| job[to].receive(criteria, Some(from), &buffer(&mut there)));
    job[from].send(to, envelope(from as u16, 5), &buffer(data), Mode::Standard);
    let kind = kind_of(job, from, to);
    job[to].progress();
    let receive = early.unwrap_or_else(|| job[to].receive(criteria, Some(from), &buffer(&mut there)));
    until_complete(job, to, receive);
    assert!(there == data, "{} bytes", data.len());
    kind
}

#[test]
fn messages_lie_beside_their_lines_and_arrive_whole() {
    let mut job = job(2);
    for number in 0..1000 {
        let bytes = [POOLED_FROM + 1, 1000, 2000, PAGE][number % 4];
        let kind = pass(&mut job, (0, 1), &mut sample(bytes), number % 3 > 0);
        assert_eq!(kind, kind::EAGER | kind::BESIDE, "message {number}");
    }
    assert_eq!(pass(&mut job, (0, 1), &mut sample(PAGE + 1), true), kind::EAGER | kind::POOLED);
}

#[test]
fn shorter_ones_do_in_a_row_only() {
    let mut job = job(2);
    let beside = |bytes, row| if bytes > MOST_IN_ROW && row { kind::BESIDE } else { 0 };
    // Where the cpu moves lines to the shared cache, all answers of these sizes lie in pages.
    let answer = kind::EAGER | if can_demote() { kind::BESIDE } else { 0 };
    pass(&mut job, (1, 0), &mut sample(8), true);
    for bytes in [MOST_IN_ROW, MOST_IN_ROW + 1, POOLED_FROM] {
        let mut data = sample(bytes);
        for number in 0..100 {
            // The first one answers one; a row begins with the fifth behind it.
            let kind = pass(&mut job, (0, 1), &mut data, true);
            let expected = if number == 0 { answer } else { kind::EAGER | beside(bytes, number > 4) };
            assert_eq!(kind, expected, "message {number} of {bytes} bytes");
        }
        for number in 0..100 {
            for (from, to) in [(1, 0), (0, 1)] {
                // A rank that is ahead sends two and two.
                for in_row in 0..1 + number % 4 {
                    let expected = if in_row == 0 { answer } else { kind::EAGER };
                    assert_eq!(pass(&mut job, (from, to), &mut data, true), expected, "{bytes} bytes");
                }
            }
        }
        assert_eq!(pass(&mut job, (1, 0), &mut data, true), answer);
    }
}

#[test]
fn answers_do() {
    let mut job = job(2);
    let mut data = sample(1000);
    for number in 0..100 {
        for (from, to) in [(0, 1), (1, 0)] {
            for _ in 0..1 + number % 4 {
                assert_eq!(pass(&mut job, (from, to), &mut data, true), kind::EAGER | kind::BESIDE);
            }
        }
    }
}

#[test]
fn an_answer_goes_back_in_the_page_in_which_its_message_came_whatever_its_size() {
    let mut job = job(2);
    pass(&mut job, (1, 0), &mut sample(8), true);
    let has_page = |job: &[Engine<'_>], of: usize| job[of].incoming[1 - of].consumer.has_page_that_came();
    let (mut came, mut before) = (0, None);
    for number in 0..1000 {
        for (from, to) in [(0, 1), (1, 0)] {
            let mut data = sample([1000, INLINE + 1, 300, PAGE][number % 4]);
            let page_came = has_page(&job, from);
            came += usize::from(page_came);
            let send = job[from].send(to, envelope(from as u16, 5), &buffer(&mut data), Mode::Standard);
            assert!(send.is_none() && !has_page(&job, from));
            let (consumer, producer) = (&job[to].incoming[from].consumer, &job[to].outgoing[from].producer);
            let is_beside = consumer.peek().unwrap().kind() & kind::BESIDE != 0;
            assert!(is_beside || !page_came);
            // SAFETY: peeked.
            let page =
                unsafe { consumer.data_beside(producer) }.map(|(_, start)| start).filter(|_| is_beside);
            assert!(!page_came || page == before, "message {number}: {page:?} after {before:?}");
            before = page;
            // Unexpected or not: its page is free once it is read.
            let mut there = vec![0; PAGE];
            let posted = |job: &mut [Engine<'_>], there: &mut [u8]| {
                job[to].receive(criteria(Some(from as u16), Some(5)), Some(from), &buffer(there))
            };
            let early = (number % 3 > 0).then(|| posted(&mut job, &mut there));
            job[to].progress();
            let receive = early.unwrap_or_else(|| posted(&mut job, &mut there));
            until_complete(&mut job, to, receive);
            assert!(there[..data.len()] == data);
        }
    }
    // Each time that a rank says how far it has read, what it had got is no longer its.
    assert!(came > 1800, "{came} of 2000");
}

#[test]
fn messages_that_cross_do_not() {
    let mut job = job(2);
    let (mut data, mut there) = ([sample(1000), sample(1000)], [vec![0; 1000], vec![0; 1000]]);
    for number in 0..1000 {
        let receives: Vec<_> = (0..2)
            .map(|rank| {
                let [from, to] = [1 - rank, rank];
                job[to].receive(criteria(Some(from as u16), Some(5)), Some(from), &buffer(&mut there[to]))
            })
            .collect();
        for rank in 0..2 {
            job[rank].send(1 - rank, envelope(rank as u16, 5), &buffer(&mut data[rank]), Mode::Standard);
            assert_eq!(kind_of(&job, rank, 1 - rank), kind::EAGER | kind::BESIDE, "message {number}");
        }
        for (rank, receive) in receives.into_iter().enumerate() {
            until_complete(&mut job, rank, receive);
            assert!(there[rank] == data[1 - rank]);
            assert!(
                number == 0 || !job[rank].incoming[1 - rank].consumer.has_page_that_came(),
                "message {number}"
            );
        }
    }
}

#[test]
fn ranks_that_share_cpus_have_no_pages() {
    let mut job = job_on(3, 2);
    let mut data = sample(1000);
    for _ in 0..100 {
        assert_eq!(pass(&mut job, (0, 1), &mut data, true), kind::EAGER | kind::POOLED);
    }
}

#[test]
fn a_row_goes_on_when_the_ring_is_full_and_comes_in_order() {
    let mut job = job(2);
    job.iter_mut().for_each(|rank| rank.set_copy_from(usize::MAX));
    let mut data: Vec<_> = (0..2 * LINES as usize).map(|number| vec![number as u8; 300 + number]).collect();
    let sends: Vec<_> =
        data.iter_mut().map(|data| job[0].send(1, envelope(0, 5), &buffer(data), Mode::Standard)).collect();
    assert!(sends[0].is_none() && sends[sends.len() - 1].is_some(), "the last ones wait for lines");
    for data in &data {
        let mut there = vec![0; 2000];
        let receive = job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer(&mut there));
        assert_eq!(until_complete(&mut job, 1, receive).bytes, data.len());
        assert!(there[..data.len()] == *data);
    }
    for send in sends.into_iter().flatten() {
        until_complete(&mut job, 0, send);
    }
}
