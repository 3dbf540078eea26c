//! Messages that come before their receives, and are left in the slots that they came in.

use super::pooled::{answer, lines_of_answer, word};
use super::*;
use crate::engine::receive::HELD_FROM;
use crate::engine::send::WHOLE;
use crate::pool::SLOT;
use crate::segment::{BLOCK, PAGE};

/// Sends so many bytes from rank 0, and lets them come to rank 1.
fn send(job: &mut [Engine<'_>], tag: i32, data: &mut [u8]) -> Option<TransferId> {
    let send = job[0].send(1, envelope(0, tag), &buffer(data), Mode::Standard);
    for _ in 0..3 {
        job[1].progress();
        job[0].progress();
    }
    send
}

/// Slots that hold messages at rank 1, which has room for so many.
fn held(job: &[Engine<'_>], most: usize) -> usize {
    (0..=most).find(|&held| job[1].pool.can_hold(0, (most - held) * SLOT)).unwrap()
}

/// So many slots may hold messages.
fn most_held(job: &[Engine<'_>]) -> usize {
    (1..).find(|&slots| !job[1].pool.can_hold(0, slots * SLOT)).unwrap() - 1
}

#[test]
fn what_came_early_is_whole_in_whichever_order_it_is_received_and_all_slots_go_on() {
    // Smaller messages lie in pages beside their lines, but not where ranks share a cpu, which have less credit.
    let alone = job(2);
    let more = 2 * most_held(&alone);
    what_came_early_is_whole(alone, PAGE + 1, more);
    what_came_early_is_whole(job_on(2, 1), HELD_FROM, 4);
}

/// Up to so many more messages than two.
fn what_came_early_is_whole(mut job: Vec<Engine<'_>>, held_from: usize, more: usize) {
    assert_eq!(job[0].outgoing[1].producer.has_page(), held_from > PAGE);
    let most = most_held(&job);
    assert!(most > 2, "so that there is something to test");
    for round in 0..40 {
        let count = 2 + round % more;
        let bytes = [SLOT - 1 - round, held_from + round, 9999, held_from - 1 - round];
        let mut data: Vec<_> = (0..count).map(|at| sample(bytes[(at + round) % 4])).collect();
        let mut sends = Vec::new();
        for (tag, data) in data.iter_mut().enumerate() {
            sends.push(send(&mut job, tag as i32, data));
        }
        let large = data.iter().filter(|data| data.len() >= held_from).count();
        assert_eq!(held(&job, most), large.min(most), "{count} messages, round {round}");
        let mut order: Vec<_> = (0..count).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for tag in order {
            // Every other one is longer than its receive.
            let mut to = vec![0; data[tag].len() - tag % 2];
            let receive = job[1].receive(criteria(Some(0), Some(tag as i32)), Some(0), &buffer(&mut to));
            let completion = until_complete(&mut job, 1, receive);
            assert_eq!(completion.truncated().is_some(), tag % 2 == 1);
            assert!(to == data[tag][..to.len()], "{count} messages, round {round}, the one with tag {tag}");
        }
        for send in sends.into_iter().flatten() {
            until_complete(&mut job, 0, send);
        }
        assert_eq!(held(&job, most), 0);
    }
}

#[test]
fn what_came_early_is_read_behind_what_its_receiver_sends_next() {
    // The ways in which a rank waits.
    let waits: [fn(&mut Engine<'_>); 3] = [
        |rank| assert!(rank.progress()),
        |rank| assert!(rank.progress_of(Some(0))),
        |rank| rank.poll(Some(0), 1),
    ];
    for wait in waits {
        let mut job = job(2);
        let most = most_held(&job);
        let mut data = [1, 2].map(|seed| vec![seed; SLOT]);
        let [first, second] = &mut data;
        send(&mut job, 1, first);
        send(&mut job, 2, second);
        let mut to = [1, 2].map(|_| vec![0; SLOT]);
        let receives = [1, 0].map(|at| {
            let pattern = criteria(Some(0), Some(at as i32 + 1));
            job[1].receive(pattern, Some(0), &buffer(&mut to[at]))
        });
        assert_eq!(held(&job, most), 2);
        assert!(receives.iter().all(|&receive| !job[1].is_complete(receive)));
        // It is on its way before anything was read.
        let mut back = vec![3; SLOT];
        assert_eq!(job[1].send(0, envelope(1, 3), &buffer(&mut back), Mode::Standard), None);
        assert!(to.iter().flatten().all(|&byte| byte == 0));
        wait(&mut job[1]);
        // The one that was matched first.
        assert_eq!(receives.map(|receive| job[1].is_complete(receive)), [true, false]);
        assert!(to == [vec![0; SLOT], data[1].clone()]);
        wait(&mut job[1]);
        assert!(job[1].is_complete(receives[1]) && to == data);
        assert_eq!(held(&job, most), 0);
    }
}

#[test]
fn what_is_still_coming_when_its_receive_does_is_whole_behind_another_message() {
    let mut job = job(2);
    let (bytes, short) = (WHOLE, 9000);
    job.iter_mut().for_each(|rank| rank.set_copy_from(usize::MAX));
    let mut data = [sample(short), sample(bytes)];
    // From its end and from its start.
    for _ in 0..4 {
        // As messages that cross are sent: at once, as far as there are slots.
        for _ in 0..8 {
            job[0].note_message(1, bytes, 0);
            job[0].outgoing[1].spoke = u64::MAX;
        }
        let sends =
            [0, 1].map(|at| job[0].send(1, envelope(0, at as i32), &buffer(&mut data[at]), Mode::Standard));
        job[1].progress();
        assert!(sends[1].is_some_and(|sent| !job[0].is_complete(sent)));
        let mut to = [vec![0; short], vec![0; bytes]];
        let receives = [0, 1]
            .map(|at| job[1].receive(criteria(Some(0), Some(at as i32)), Some(0), &buffer(&mut to[at])));
        for receive in receives {
            job[0].progress();
            until_complete(&mut job, 1, receive);
        }
        until_complete(&mut job, 0, sends[1].unwrap());
        assert!(to == data);
    }
}

#[test]
fn a_message_of_several_slots_is_held_as_a_whole_and_its_sender_is_not_told_to_ask() {
    for (more, is_held) in [(0, true), (1, false)] {
        let mut job = job(2);
        job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
        let most = most_held(&job);
        let slots = most + more;
        let mut data = sample(slots * SLOT);
        // The first one is announced, because nothing is known of the receiver.
        for at_once in [false, true] {
            let mut to = vec![0; data.len()];
            let early = at_once.then(|| send(&mut job, 1, &mut data));
            if at_once {
                assert_eq!(held(&job, most), if is_held { slots } else { 0 });
                assert_eq!(job[0].outgoing[1].wary > 0, !is_held);
            }
            let receive = job[1].receive(criteria(Some(0), Some(1)), Some(0), &buffer(&mut to));
            let send = early.unwrap_or_else(|| send(&mut job, 1, &mut data));
            assert_eq!(send.is_none(), at_once);
            until_complete(&mut job, 1, receive);
            assert!(to == data);
            if let Some(send) = send {
                until_complete(&mut job, 0, send);
            }
            // An answer, after which the next one may be sent at once.
            let answer = job[0].receive(criteria(Some(1), Some(2)), Some(1), &buffer(&mut []));
            job[1].send(0, envelope(1, 2), &buffer(&mut []), Mode::Standard);
            until_complete(&mut job, 0, answer);
        }
        assert_eq!(held(&job, most), 0);
    }
}

#[test]
fn a_message_that_is_taken_back_frees_its_slots_and_their_credit() {
    let mut job = job(2);
    let most = most_held(&job);
    let mut data = sample(SLOT - 1);
    for _ in 0..100 {
        let send = job[0].send(1, envelope(0, 1), &buffer(&mut data), Mode::Synchronous).expect("it waits");
        job[1].progress();
        assert_eq!(held(&job, most), 1);
        job[0].cancel(send);
        assert!(until_complete(&mut job, 0, send).cancelled);
        assert_eq!(held(&job, most), 0);
    }
}

#[test]
fn large_messages_go_on_while_all_ranks_hold_as_much_as_they_may() {
    let mut job = job(4);
    job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
    let most = most_held(&job);
    let mut early = sample(SLOT - 1);
    for rank in 1..4 {
        for tag in 0..most {
            let sent = job[0].send(rank, envelope(0, tag as i32), &buffer(&mut early), Mode::Standard);
            assert!(sent.is_none(), "rank {rank}, message {tag}");
        }
        for _ in 0..3 {
            job[rank].progress();
        }
        assert!(!job[rank].pool.can_hold(0, 1));
    }
    for round in 0..20 {
        let mut data = sample(1_000_000 + round);
        for rank in 1..4 {
            let mut to = vec![0; data.len()];
            let receive = job[rank].receive(criteria(Some(0), Some(1000)), Some(0), &buffer(&mut to));
            let send = job[0].send(rank, envelope(0, 1000), &buffer(&mut data), Mode::Standard);
            until_complete(&mut job, rank, receive);
            assert!(to == data);
            if let Some(send) = send {
                until_complete(&mut job, 0, send);
            }
        }
    }
}

/// Lets rank 0 have a small answer, after which what it sends is awaited.
fn awaited(job: &mut [Engine<'_>]) {
    let mut to = [0; 100];
    let receive = job[0].receive(criteria(Some(1), Some(6)), Some(1), &buffer(&mut to));
    job[1].send(0, envelope(1, 6), &buffer(&mut [6; 100]), Mode::Standard);
    until_complete(job, 0, receive);
}

#[test]
fn parts_that_came_early_are_left_where_they_lie_and_their_slots_go_on_when_the_last_one_was_read() {
    let mut job = job_of_large_pools();
    let (segment, most) = (job[0].segment(), most_held(&job));
    let mut hidden_parts = 0;
    // More messages than slots.
    for number in 0..600 {
        let (bytes, slots) = [(9_000, 1), (50_000, BLOCK / SLOT), (30_000, BLOCK / SLOT)][number % 3];
        let (mut from, mut to) = (sample(bytes), vec![0; bytes]);
        awaited(&mut job);
        let (first, lines) = answer(&mut job, 0, &mut from);
        // So many parts come later, one by one.
        let later = if lines == lines_of_answer(bytes) { number / 3 % 3 } else { 0 };
        let headers: Vec<_> = (first + 1..first + lines).map(|line| word(&segment, line, 0)).collect();
        let headers = &headers[headers.len() - later..];
        // SAFETY: of the ring, which nobody else uses now.
        let values: Vec<_> = headers.iter().map(|&header| unsafe { header.replace(0) }).collect();
        job[1].progress();
        assert_eq!(held(&job, most), slots, "{bytes} bytes, message {number}");
        let mut receive = || job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer(&mut to));
        let posted = (number % 2 == 0).then(&mut receive);
        if posted.is_some() && later > 0 {
            assert_eq!(held(&job, most), 0, "what is there was read, and the rest is read as it comes");
        }
        for (&header, value) in headers.iter().zip(values) {
            job[1].progress();
            // SAFETY: as above.
            unsafe { header.write(value) };
            hidden_parts += 1;
        }
        job[1].progress();
        let receive =
            posted.unwrap_or_else(|| job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer(&mut to)));
        until_complete(&mut job, 1, receive);
        assert!(from == to, "{bytes} bytes, message {number}");
        assert_eq!(held(&job, most), 0);
    }
    assert!(hidden_parts > 300, "{hidden_parts}");
}

#[test]
fn parts_that_no_more_slots_may_hold_are_copied_and_those_taken_back_free_their_slots() {
    let mut job = job_of_large_pools();
    let (bytes, most) = (50_000, most_held(&job));
    let blocks = most / (BLOCK / SLOT);
    for _ in 0..10 {
        let mut data: Vec<_> = (0..blocks + 2).map(|_| sample(bytes)).collect();
        for (tag, data) in data.iter_mut().enumerate() {
            awaited(&mut job);
            assert!(send(&mut job, tag as i32 + 10, data).is_none());
        }
        assert_eq!(held(&job, most), blocks * (BLOCK / SLOT));
        for (tag, data) in data.iter().enumerate().rev() {
            let mut to = vec![0; bytes];
            let here = criteria(Some(0), Some(tag as i32 + 10));
            let receive = job[1].receive(here, Some(0), &buffer(&mut to));
            until_complete(&mut job, 1, receive);
            assert!(to == *data);
        }
        assert_eq!(held(&job, most), 0);
        awaited(&mut job);
        let data = buffer(&mut data[0]);
        let send = job[0].send(1, envelope(0, 1), &data, Mode::Synchronous).expect("it waits");
        job[1].progress();
        assert_ne!(held(&job, most), 0);
        job[0].cancel(send);
        assert!(until_complete(&mut job, 0, send).cancelled);
        assert_eq!(held(&job, most), 0);
    }
}

#[test]
fn a_part_of_other_slots_than_those_that_are_left_ends_the_job() {
    for changed in [0, 1 << 3] {
        let status = in_child(|| {
            let mut job = job_of_large_pools();
            let mut to = vec![0; 9000];
            for number in 0..20 {
                let mut from = sample(9000);
                awaited(&mut job);
                let (first, lines) = answer(&mut job, 0, &mut from);
                if number >= 10 && lines == lines_of_answer(9000) {
                    // SAFETY: the word of the second part's line that names its slots, which nobody else uses now.
                    unsafe { *word(&job[0].segment(), first + 1, 2) ^= changed };
                }
                job[1].progress();
                let receive = job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer(&mut to));
                until_complete(&mut job, 1, receive);
            }
        });
        assert_eq!(status, i32::from(changed != 0));
    }
}
