//! Large messages that are sent at once, as a whole.

use super::*;
use crate::asleep::Asleep;
use crate::copy::can_copy_past;
use crate::pool::SLOT;
use crate::ring::{INLINE, LINE};
use crate::segment::BLOCK;

/// A small message from rank 1 to 0.
fn answer(job: &mut [Engine<'_>]) {
    let (mut data, mut to) = ([7; 8], [0; 8]);
    let receive = job[0].receive(criteria(Some(1), Some(2)), Some(1), &buffer(&mut to));
    assert_eq!(job[1].send(0, envelope(1, 2), &buffer(&mut data), Mode::Standard), None);
    until_complete(job, 0, receive);
    assert_eq!(to, data);
}

/// One large message from rank 0 to 1; whether it was sent at once.
fn goes_at_once(job: &mut [Engine<'_>], bytes: usize, expected: bool) -> bool {
    let (mut data, mut to) = (sample(bytes), vec![0u8; bytes]);
    let (here, there) = (criteria(Some(0), Some(1)), buffer(&mut to));
    let posted = expected.then(|| job[1].receive(here, Some(0), &there));
    let send = job[0].send(1, envelope(0, 1), &buffer(&mut data), Mode::Standard);
    job[1].progress();
    let receive = posted.unwrap_or_else(|| job[1].receive(here, Some(0), &there));
    until_complete(job, 1, receive);
    if let Some(send) = send {
        until_complete(job, 0, send);
    } else {
        job[0].progress();
    }
    assert!(to == data);
    send.is_none()
}

#[test]
fn after_a_message_that_came_before_its_receive_the_next_ones_are_asked_about() {
    const BYTES: usize = 100_000;
    let mut job = job(2);
    job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
    assert!(!goes_at_once(&mut job, BYTES, true), "nothing is known of the receiver");
    for expected in [true, false] {
        assert!(goes_at_once(&mut job, BYTES, expected));
        answer(&mut job);
    }
    for _ in 0..send::WARY {
        assert!(!goes_at_once(&mut job, BYTES, true));
    }
    assert!(goes_at_once(&mut job, BYTES, true));
}

#[test]
fn who_knows_that_the_pool_is_the_shortest_way_asks_nothing_and_tries_nothing_else() {
    for (bytes, at_once) in
        [(100_000, true), (send::WHOLE, true), (send::WHOLE + 1, false), (3_000_000, false)]
    {
        let (mut job, mut data) = (job(2), sample(bytes));
        job[0].allow_reading();
        for number in 0..4 * TRIAL as usize {
            let mut to = vec![0u8; bytes];
            let (here, there) = (criteria(Some(0), Some(1)), buffer(&mut to));
            // Some come before their receives.
            let posted = (number % 3 > 0).then(|| job[1].receive(here, Some(0), &there));
            let before = job[0].outgoing[1].eager;
            let send = job[0].send(1, envelope(0, 1), &buffer(&mut data), Mode::Pooled);
            assert_eq!(job[0].outgoing[1].eager - before == bytes as u64, at_once, "{bytes} bytes, {number}");
            job[1].progress();
            let receive = posted.unwrap_or_else(|| job[1].receive(here, Some(0), &there));
            assert!(job[1].copying.iter().all(|copying| copying.way == Way::Pool));
            assert!(!job[1].sharing.ways[0].is_trying());
            until_complete(&mut job, 1, receive);
            match send {
                Some(send) => _ = until_complete(&mut job, 0, send),
                None => _ = job[0].progress(),
            }
            assert!(to == data, "{bytes} bytes, message {number}");
        }
    }
}

#[test]
fn a_large_message_behind_one_that_was_sent_at_once_is_announced_unless_it_is_an_answer() {
    const BYTES: usize = 100_000;
    let mut job = job_of_large_pools();
    job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
    let at_once: Vec<bool> = (0..5).map(|_| goes_at_once(&mut job, BYTES, true)).collect();
    let behind = job[0].room.crowded();
    assert_eq!(at_once, [false, true, behind, true, behind]);
    for _ in 0..3 {
        answer(&mut job);
        assert!(goes_at_once(&mut job, BYTES, true));
    }
}

#[test]
fn where_ranks_share_cpus_a_large_message_is_sent_at_once_behind_others_as_far_as_there_is_credit() {
    // More ranks than cpus: the last one shares a cpu.
    let last = std::thread::available_parallelism().unwrap().get();
    let mut job = job(last + 1);
    assert!(job[last].room.crowded());
    job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
    let mut send = |bytes: usize, times: usize, expected: bool| -> Vec<bool> {
        let here = criteria(Some(last as u16), Some(1));
        let (mut data, mut to) = (vec![sample(bytes); times], vec![vec![0u8; bytes]; times]);
        let receive =
            |job: &mut [Engine<'_>], to: &mut Vec<u8>| job[0].receive(here, Some(last), &buffer(to));
        let mut posted = Vec::new();
        if expected {
            posted.extend(to.iter_mut().map(|to| receive(&mut job, to)));
        }
        let at_once = |data: &mut Vec<u8>| {
            let before = job[last].outgoing[0].eager;
            job[last].send(0, envelope(last as u16, 1), &buffer(data), Mode::Standard);
            job[last].outgoing[0].eager - before == bytes as u64
        };
        let at_once = data.iter_mut().map(at_once).collect();
        posted.extend(to.iter_mut().skip(posted.len()).map(|to| receive(&mut job, to)));
        posted.into_iter().for_each(|receive| _ = until_complete(&mut job, 0, receive));
        assert!(to == data);
        at_once
    };
    assert_eq!(send(send::MOST_EAGER_CROWDED, 1, true), [true]);
    assert_eq!(send(send::WHOLE, 1, true), [false], "nothing is known of the receiver");
    assert_eq!(send(send::WHOLE, 1, true), [true]);
    assert_eq!(send(send::WHOLE, 1, true), [true]);
    assert_eq!(send(send::WHOLE, 3, false), [true, true, false], "no credit is left for the third one");
}

#[test]
fn where_some_ranks_share_a_cpu_one_that_has_its_own_sends_as_they_do() {
    for (cpus, most_eager) in [(2, send::MOST_EAGER), (1, send::MOST_EAGER_CROWDED)] {
        // The last rank knows all others' cpus, and that it has one of its own.
        let mut job = job_on(2, cpus);
        if std::thread::available_parallelism().unwrap().get() > 1 {
            assert!(!job[1].room.crowded());
            assert_eq!((job[1].crowded(), job[1].most_eager()), (cpus == 1, most_eager));
        }
        let bytes = send::MOST_EAGER_CROWDED;
        let (mut data, mut to) = (sample(bytes), vec![0u8; bytes]);
        let receive = job[0].receive(criteria(Some(1), Some(1)), Some(1), &buffer(&mut to));
        job[1].send(0, envelope(1, 1), &buffer(&mut data), Mode::Standard);
        assert_eq!(job[1].outgoing[0].eager == bytes as u64, job[1].crowded());
        until_complete(&mut job, 0, receive);
        assert!(to == data);
    }
}

#[test]
fn where_ranks_share_cpus_who_waits_for_the_receive_lets_the_kernel_copy_64_kb() {
    let last = std::thread::available_parallelism().unwrap().get();
    let bytes = send::MOST_EAGER_CROWDED;
    for (mode, goes_at_once) in [(Mode::Standard, true), (Mode::Synchronous, false)] {
        let (mut job, mut data, mut to) = (job(last + 1), sample(bytes), vec![0u8; bytes]);
        job[last].send(0, envelope(last as u16, 1), &buffer(&mut data), mode);
        assert_eq!(job[last].outgoing[0].eager == bytes as u64, goes_at_once, "{mode:?}");
        let receive = job[0].receive(criteria(Some(last as u16), Some(1)), Some(last), &buffer(&mut to));
        until_complete(&mut job, 0, receive);
        assert!(to == data);
    }
}

#[test]
fn who_sleeps_hears_of_a_message_that_is_not_yet_there_as_a_whole() {
    let mut job = job(2);
    job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
    // The pool has fewer slots than the message needs.
    assert!(job[0].segment().pool_bytes() <= send::WHOLE);
    job[0].outgoing[1].asked_each = ASKED_EACH;
    let (mut data, mut to) = (sample(send::WHOLE), vec![0u8; send::WHOLE]);
    let receive = job[1].receive(criteria(Some(0), Some(1)), Some(0), &buffer(&mut to));
    let page = job[1].page();
    page.set(1);
    let send = job[0].send(1, envelope(0, 1), &buffer(&mut data), Mode::Standard);
    assert_eq!(page.announced(), 0, "it is woken");
    let send = send.expect("some of it waits for slots");
    assert!(job[1].progress() && !job[1].is_complete(receive));
    until_complete(&mut job, 1, receive);
    until_complete(&mut job, 0, send);
    assert!(to == data);
}

/// Where the first piece goes that has come to rank 1, when a slot holds it.
fn first_place(job: &[Engine<'_>]) -> usize {
    assert!(job[1].incoming[0].consumer.peek().is_some_and(|header| header.kind() & kind::POOLED != 0));
    // SAFETY: the piece is there, and stays until rank 1 moves.
    let words = unsafe { job[1].incoming[0].consumer.data(INLINE) };
    usize::from_ne_bytes(words[16..24].try_into().unwrap())
}

#[test]
fn large_messages_that_are_sent_at_once_begin_by_turns_with_their_end_and_with_their_start() {
    for (bytes, expected, free_slots) in [
        (100_000, true, true),
        (100_001, false, true),
        (80_000, true, true),
        (send::WHOLE, true, false),
        (send::WHOLE - 77, false, false),
    ] {
        let mut job = if free_slots { job_of_large_pools() } else { job(3) };
        job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
        assert!(!goes_at_once(&mut job, bytes, true), "nothing is known of the receiver");
        let mut downwards = job[0].sharing.downwards[1];
        for _ in 0..4 {
            answer(&mut job);
            job[0].outgoing[1].wary = 0;
            let (mut data, mut to) = (sample(bytes), vec![0u8; bytes]);
            let (here, there) = (criteria(Some(0), Some(1)), buffer(&mut to));
            let mut sends = Vec::new();
            if !free_slots {
                // All but a few slots are with another rank: some of the pieces go through the ring.
                let slots = job[0].segment().pool_bytes() / SLOT;
                sends.extend((0..slots).map(|_| {
                    let data = buffer(&mut data[..SLOT]);
                    (2, job[0].send(2, envelope(0, 1), &data, Mode::Standard))
                }));
            }
            let posted = expected.then(|| job[1].receive(here, Some(0), &there));
            sends.push((1, job[0].send(1, envelope(0, 1), &buffer(&mut data), Mode::Standard)));
            downwards = !downwards;
            if free_slots {
                assert_eq!(sends[0].1, None, "{bytes} bytes, expected: {expected}: at once");
                // The last piece fills a slot or a block.
                let starts = if downwards { [bytes - SLOT, bytes - (BLOCK + LINE)] } else { [0; 2] };
                let first = first_place(&job);
                assert!(
                    starts.iter().any(|start| first.abs_diff(*start) < LINE),
                    "{bytes} bytes from {first}"
                );
            }
            job[1].progress();
            let receive = posted.unwrap_or_else(|| job[1].receive(here, Some(0), &there));
            for (number, (rank, send)) in sends.into_iter().enumerate() {
                if rank == 2 {
                    let mut to = vec![0u8; SLOT];
                    let receive = job[2].receive(here, Some(0), &buffer(&mut to));
                    until_complete(&mut job, 2, receive);
                    assert!(data.starts_with(&to), "message {number} beside");
                }
                if let Some(send) = send {
                    until_complete(&mut job, 0, send);
                }
            }
            until_complete(&mut job, 1, receive);
            assert!(to == data, "{bytes} bytes, expected: {expected}, free slots: {free_slots}");
            // A first piece in the ring is always the start.
            assert!(!free_slots || job[1].sharing.downwards[0] == downwards);
        }
    }
}

#[test]
fn own_data_is_copied_beside_what_goes_out_at_once() {
    for (bytes, same) in [(100_000, true), (100_000, false), (5000, true)] {
        let mut job = job(2);
        job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
        assert!(!goes_at_once(&mut job, 100_000, true), "nothing is known of the receiver");
        answer(&mut job);
        let (mut data, mut own, mut to) = (sample(bytes), vec![3u8; bytes], vec![0u8; bytes]);
        let (from, into) = (buffer(if same { &mut data } else { &mut own }), buffer(&mut to));
        // SAFETY: both live to the end of the copy.
        unsafe { job[0].begin_to_copy_own(&from, &into) };
        assert_eq!(job[0].send(1, envelope(0, 1), &buffer(&mut data), Mode::Standard), None);
        let copied = to.clone();
        // SAFETY: as above.
        unsafe { job[0].copy_own(&from, &into, IN_ALLTOALL) };
        let expected = if same { &data } else { &own };
        assert!(copied == *expected && to == *expected && job[0].own_copy.is_none(), "{bytes} bytes");
    }
}

#[test]
fn what_goes_out_beside_own_data_goes_in_blocks_and_other_data_in_slots() {
    let slots = BLOCK / SLOT;
    for (bytes, into_line, beside, pieces) in [
        (BLOCK, 0, true, 1),
        (BLOCK, 16, true, 1),
        (2 * BLOCK, 16, true, 2),
        (BLOCK, 0, false, slots),
        (BLOCK, 16, false, slots + 1),
    ] {
        let mut job = job_of_large_pools();
        job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
        assert!(!goes_at_once(&mut job, 100_000, true), "nothing is known of the receiver");
        answer(&mut job);
        let (mut room, mut to) = (vec![7u8; bytes + 2 * LINE], vec![0u8; bytes]);
        let start = room.as_ptr().align_offset(LINE) + into_line;
        let data = buffer(&mut room[start..][..bytes]);
        let mut own = ([1u8; 60], [0u8; 60]);
        let (from, into) = (buffer(&mut own.0), buffer(&mut own.1));
        // Once upwards and, where the pool has as many blocks, once downwards.
        for _ in 0..2 * BLOCK / bytes {
            answer(&mut job);
            let receive = job[1].receive(criteria(Some(0), Some(1)), Some(0), &buffer(&mut to));
            let lines = job[0].outgoing[1].producer.produced();
            if beside {
                // SAFETY: both live to the end of the copy.
                unsafe { job[0].begin_to_copy_own(&from, &into) };
            }
            assert_eq!(job[0].send(1, envelope(0, 1), &data, Mode::Standard), None);
            let put = job[0].outgoing[1].producer.produced() - lines;
            assert_eq!(put, pieces as u64, "{bytes} {into_line} beside: {beside}");
            // SAFETY: as above.
            unsafe { job[0].copy_own(&from, &into, IN_ALLTOALL) };
            until_complete(&mut job, 1, receive);
            assert!(to.iter().all(|&byte| byte == 7));
        }
    }
}

#[test]
fn what_is_asked_for_goes_in_blocks_and_in_parts_of_them_where_its_receiver_waits() {
    for (beside, parts) in [(true, 2), (false, 4)] {
        let mut job = job(2);
        job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
        let (mut room, mut to) = (vec![7u8; 2 * BLOCK + LINE], vec![0u8; 2 * BLOCK]);
        let start = room.as_ptr().align_offset(LINE);
        let data = buffer(&mut room[start..][..2 * BLOCK]);
        let mut own = ([1u8; 60], [0u8; 60]);
        let (from, into) = (buffer(&mut own.0), buffer(&mut own.1));
        let receive = job[1].receive(criteria(Some(0), Some(1)), Some(0), &buffer(&mut to));
        if beside {
            // SAFETY: both live to the end of the copy.
            unsafe { job[0].begin_to_copy_own(&from, &into) };
        }
        let send = job[0].send(1, envelope(0, 1), &data, Mode::Standard).expect("nothing goes unasked");
        // SAFETY: as above.
        unsafe { job[0].copy_own(&from, &into, IN_ALLTOALL) };
        until_complete(&mut job, 1, receive);
        until_complete(&mut job, 0, send);
        // The first line is the announcement.
        assert_eq!(job[0].outgoing[1].producer.produced(), 1 + parts, "beside: {beside}");
        assert!(to.iter().all(|&byte| byte == 7));
    }
}

#[test]
fn what_is_received_beside_own_data_lands_past_the_caches_where_all_ranks_together_fill_them() {
    let bytes = 1 << 20;
    // Of two ranks, each uses four blocks.
    for (shared_cache, past) in [(0, false), (12 << 20, false), (11 << 20, true), (usize::MAX as u64, false)]
    {
        let mut job = job(2);
        let segment = job[0].segment();
        segment.set_shared_cache_bytes(shared_cache);
        job.iter_mut().for_each(|engine| engine.landings = Landings::of_data_from(bytes));
        let (mut data, mut own, mut to) = (sample(bytes), vec![0u8; bytes], vec![0u8; bytes]);
        for number in 0..4 {
            let (from, into) = (buffer(&mut data), buffer(&mut own));
            // SAFETY: both live to the end of the copy.
            unsafe { job[0].copy_own(&from, &into, IN_ALLTOALL) };
            let pattern = criteria(Some(1), Some(number));
            let receive = job[0].receive_or_set_aside(pattern, &buffer(&mut to), Some(SentBeside::Other));
            let due = job[0].transfers.at(receive.slot()).due;
            assert_eq!(
                due & pending::due::PAST_CACHES != 0,
                past && can_copy_past(),
                "{shared_cache} {number}"
            );
            let sent = job[1].send(0, envelope(1, number), &from, Mode::Standard);
            until_complete(&mut job, 0, receive);
            if let Some(sent) = sent {
                until_complete(&mut job, 1, sent);
            }
            assert!(own == data && to == data);
            to.fill(0);
        }
    }
}

#[test]
fn the_root_of_a_gather_answers_announcements_while_it_copies_its_own_data() {
    let bytes = 4 << 20;
    for sent in [SentBeside::Nothing, SentBeside::TheSame, SentBeside::Other] {
        let mut job = job(2);
        let (mut data, mut own, mut to) = (sample(bytes), vec![0u8; bytes], vec![0u8; bytes]);
        let (from, into) = (buffer(&mut data), buffer(&mut own));
        let receive = job[0].receive_or_set_aside(criteria(Some(1), Some(7)), &buffer(&mut to), Some(sent));
        let send = job[1].send(0, envelope(1, 7), &from, Mode::Standard).expect("announced");
        // SAFETY: both live to the end of the copy.
        unsafe { job[0].copy_own(&from, &into, BesideOwn { sent, ranks: 2 }) };
        assert!(own == data, "{sent:?}");
        let answered = job[0].copying.iter().any(|copying| copying.receives());
        assert_eq!(answered, sent == SentBeside::Nothing && can_copy_past(), "{sent:?}");
        until_complete(&mut job, 0, receive);
        until_complete(&mut job, 1, send);
        assert!(to == data, "{sent:?}");
    }
}

#[test]
fn a_rank_knows_whether_its_message_has_more_pieces() {
    let mut job = job(2);
    job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
    // Of the last one, the pool does not hold all.
    for bytes in [100, 16_000, 60_000, 20_000_000] {
        let (mut from, mut to) = (sample(bytes), vec![0u8; bytes]);
        let receive = job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer(&mut to));
        let send = job[0].send(1, envelope(0, 5), &buffer(&mut from), Mode::Standard);
        let mut more = false;
        while !job[1].is_complete(receive) {
            job[0].progress();
            job[1].progress();
            more |= job[1].midway == Some(0);
        }
        assert_eq!((more, job[1].midway), (bytes == 20_000_000, None), "{bytes} bytes");
        until_complete(&mut job, 1, receive);
        if let Some(send) = send {
            until_complete(&mut job, 0, send);
        }
        assert!(from == to);
    }
}

#[test]
fn where_ranks_share_cpus_what_waits_for_credit_goes_through_the_pool_all_the_same() {
    let most = send::MOST_EAGER_CROWDED;
    let cases = [(3, most, Mode::Standard), (3, most + 1, Mode::Standard), (3, most, Mode::Synchronous)];
    for (ranks, bytes, mode) in cases.into_iter().chain([(2, most, Mode::Standard)]) {
        let (mut job, mut data) = (job_on(ranks, 2), sample(bytes));
        let mut sends: Vec<_> =
            (0..6).map(|_| job[0].send(1, envelope(0, 5), &buffer(&mut data), mode)).collect();
        // The last one waits: there is no credit, or it is announced.
        let index = job[0].transfers.index(sends[5].expect("it waits")).unwrap();
        let segment = job[0].segment;
        let Engine { sharing, transfers, .. } = &mut job[0];
        let [how, _] = rendezvous::address(sharing, segment.as_ref(), 0, COPY_FROM, transfers.at(index));
        let is_copied = how != 0;
        assert_eq!(
            is_copied,
            (ranks, bytes, mode) != (3, most, Mode::Standard),
            "{ranks}, {bytes}, {mode:?}"
        );
        for send in &mut sends {
            let mut to = vec![0; bytes];
            let receive = job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer(&mut to));
            until_complete(&mut job, 1, receive);
            assert!(to == data);
            if let Some(send) = send.take() {
                until_complete(&mut job, 0, send);
            }
        }
    }
}
