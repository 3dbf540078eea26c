//! Several engines on one segment, driven in turn by one thread: everything but the waiting.

use super::*;
use crate::abort::Exit;
use crate::buffer::Buffer;
use crate::matching::Envelope;
use crate::remote::Access;
use crate::ways::{SHARED_FROM, TRIAL, Way};
use send::ASKED_EACH;

mod at_once;
mod beside;
mod crossing;
mod held;
mod lines;
mod pooled;
mod shown;
mod slots;
mod streams;
mod unposted;

/// Engines live as long as the test's process: so do the rooms and counters that they borrow.
fn job(ranks: usize) -> Vec<Engine<'static>> {
    job_on(ranks, ranks)
}

/// The same on so many cpus.
fn job_on(ranks: usize, cpus: usize) -> Vec<Engine<'static>> {
    job_in(Segment::private(ranks, cpus).unwrap())
}

/// Two ranks with pools of many slots.
fn job_of_large_pools() -> Vec<Engine<'static>> {
    let segment = Segment::private(2, 2).unwrap();
    segment.set_turnover_bytes(1 << 20);
    job_in(segment)
}

fn job_in(segment: Segment) -> Vec<Engine<'static>> {
    (0..segment.ranks())
        .map(|rank| {
            let room = Box::leak(Box::new(WaitingRoom::new(&Exit)));
            let mut engine = Engine::new(room, Box::leak(Box::new(EngineCounters::new())));
            segment.rank(rank).pid.store(std::process::id(), Ordering::Relaxed);
            engine.attach(segment, rank);
            engine
        })
        .collect()
}

fn buffer(data: &mut [u8]) -> Buffer {
    // SAFETY: each test keeps its data until its transfers are complete.
    unsafe { Buffer::new(data.as_mut_ptr(), data.len()) }
}

fn until_complete(job: &mut [Engine<'_>], rank: usize, id: TransferId) -> Completion {
    for _ in 0..1_000_000 {
        for engine in job.iter_mut() {
            engine.progress();
        }
        if let Some(completion) = job[rank].take_if_complete(id) {
            return completion;
        }
    }
    panic!("rank {rank} waits for ever");
}

const CONTEXT: u32 = 4;

fn envelope(source: u16, tag: i32) -> Envelope {
    Envelope::new(CONTEXT, source, tag)
}

fn criteria(source: Option<u16>, tag: Option<i32>) -> Criteria {
    Criteria { context: CONTEXT, source, tag }
}

/// An exchange of two ranks.
const IN_ALLTOALL: BesideOwn = BesideOwn { sent: SentBeside::Other, ranks: 2 };

fn sample(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 7 + at / 251) as u8).collect()
}

#[test]
fn messages_of_all_sizes_arrive_whole_expected_or_not() {
    for expected in [true, false] {
        for mode in [Mode::Standard, Mode::Synchronous] {
            for bytes in [0, 1, 8, 48, 49, 64, 1000, 4096, 16384, 16385, 100_000, 3_000_000] {
                let mut job = job(2);
                let mut from = sample(bytes);
                let mut to = vec![0u8; bytes];
                let posted = |job: &mut Vec<Engine<'_>>, to: &mut [u8]| {
                    job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer(to))
                };
                let early = expected.then(|| posted(&mut job, &mut to));
                let send = job[0].send(1, envelope(0, 5), &buffer(&mut from), mode);
                if mode == Mode::Synchronous {
                    assert!(!job[0].is_complete(send.unwrap()));
                }
                for _ in 0..3 {
                    job[1].progress();
                }
                if !expected {
                    let arrival = job[1].probe(criteria(None, None)).unwrap();
                    assert_eq!(arrival, Arrival { source: 0, tag: 5, bytes });
                }
                let receive = early.unwrap_or_else(|| posted(&mut job, &mut to));
                let completion = until_complete(&mut job, 1, receive);
                assert_eq!((completion.source, completion.tag, completion.bytes), (0, 5, bytes));
                assert_eq!(completion.truncated(), None);
                if let Some(send) = send {
                    until_complete(&mut job, 0, send);
                }
                assert!(from == to, "{bytes} bytes, {mode:?}, expected: {expected}");
                assert_eq!(job[0].under_way() + job[1].under_way(), 0);
            }
        }
    }
}

#[test]
fn who_waits_for_one_rank_takes_its_messages_alone_unless_there_is_something_to_write() {
    let mut job = job(3);
    let mut data = sample(100);
    let come = |job: &mut Vec<Engine<'_>>, tag| {
        [1, 2].map(|from| job[0].probe(criteria(Some(from), Some(tag))).is_some())
    };
    for tag in [5, 6] {
        for from in [1, 2] {
            job[from].send(0, envelope(from as u16, tag), &buffer(&mut data), Mode::Standard);
        }
        if tag == 5 {
            // Now each is known.
            job[0].progress();
            assert_eq!(come(&mut job, 5), [true, true]);
        }
    }
    assert!(job[0].progress_of(Some(1)) && !job[0].progress_of(Some(1)));
    assert_eq!(come(&mut job, 6), [true, false]);
    while !job[0].waits_for_room() {
        job[0].send(1, envelope(0, 7), &buffer(&mut data), Mode::Synchronous);
    }
    assert!(job[0].progress_of(Some(1)));
    assert_eq!(come(&mut job, 6), [true, true]);
}

/// Moves the messages of one rank and of no other, until something is so.
fn move_alone(job: &mut [Engine<'_>], rank: usize, done: impl Fn(&[Engine<'_>]) -> bool) {
    for _ in 0..100_000_000 {
        if done(job) {
            return;
        }
        job[rank].progress();
    }
    panic!("rank {rank} needs another one to move");
}

#[test]
fn either_side_copies_a_large_message_alone_while_the_other_computes() {
    let bytes = 8_000_000;
    for sender_moves in [true, false] {
        let mut job = job(2);
        let (mut from, mut to) = (sample(bytes), vec![0u8; bytes]);
        let receive = job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer(&mut to));
        let send = job[0].send(1, envelope(0, 5), &buffer(&mut from), Mode::Standard).unwrap();
        job[1].progress();
        if job[1].copying.is_empty() {
            return; // The system forbids to copy between processes: then both have to move.
        }
        if sender_moves {
            // Its slots run out, and the receiver gives none back.
            job[0].progress();
            move_alone(&mut job, 0, |job| job[0].copying.is_empty());
        }
        move_alone(&mut job, 1, |job| job[1].is_complete(receive));
        assert!(from == to, "sender moves: {sender_moves}");
        until_complete(&mut job, 0, send);
        assert_eq!(job[0].under_way() + job[1].under_way(), 0);
    }
}

#[test]
fn large_messages_arrive_whole_by_any_way_whoever_moves() {
    // Of the smallest, most are sent at once while the pool is tried.
    let cases = [(super::COPY_FROM, ASKED_EACH), (300_001, 1), (3_000_000, 1)];
    for (bytes, each) in cases {
        let mut job = job(2);
        let mut from = sample(bytes);
        let segment = job[1].segment();
        job[0].allow_reading();
        let may_copy = matches!(job[1].sharing.readable(&segment, 0), Access::Works(_));
        let tries_all = may_copy && !job[1].room.crowded();
        let mut by = [0; 3];
        for number in 0..(4 * TRIAL * each) as usize {
            let who_moves = [[0, 1], [0, 1], [0, 0], [1, 1]][number % 4];
            let mut to = vec![0u8; bytes];
            let receive = job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer(&mut to));
            let before = job[0].counters.rendezvous_sent.get();
            let send = job[0].send(1, envelope(0, 5), &buffer(&mut from), Mode::Standard);
            let is_announced = job[0].counters.rendezvous_sent.get() > before;
            job[1].progress();
            let way = match is_announced && job[1].is_complete(receive) {
                true => Way::Receiver,
                false => job[1].copying.first().map_or(Way::Pool, |copying| copying.way),
            };
            by[way as usize] += 1;
            job[0].progress();
            for _ in 0..100 {
                who_moves.iter().for_each(|&rank| {
                    job[rank].progress();
                });
            }
            until_complete(&mut job, 1, receive);
            if let Some(send) = send {
                until_complete(&mut job, 0, send);
            }
            assert!(from == to, "{bytes} bytes, message {number}");
            assert_eq!(job[0].under_way() + job[1].under_way(), 0);
        }
        let tried = by.iter().filter(|&&messages| messages > 0).count();
        assert_eq!(tried, if !tries_all { 1 } else { 3 - usize::from(bytes >= SHARED_FROM) }, "{by:?}");
    }
}

#[test]
fn large_messages_begin_by_turns_with_their_end_and_with_their_start() {
    const BYTES: usize = 3_000_000;
    for copies in [true, false] {
        let mut job = job(2);
        if !copies {
            job.iter_mut().for_each(|engine| engine.set_copy_from(usize::MAX));
        }
        for number in 0..6 {
            let (mut from, mut to) = (vec![1u8; BYTES], vec![0u8; BYTES]);
            let ends = [number % 2, 1 - number % 2];
            let there = buffer(&mut to);
            // SAFETY: inside the buffer; only this thread writes there.
            let has_come = |at: usize| unsafe { there.address().add(at).read_volatile() == 1 };
            let receive = job[ends[1]].receive(criteria(None, Some(5)), Some(ends[0]), &there);
            let send =
                job[ends[0]].send(ends[1], envelope(ends[0] as u16, 5), &buffer(&mut from), Mode::Standard);
            // What goes out unasked is the start; of the rest, some pieces.
            while !has_come(BYTES / 10) && !has_come(BYTES - 1) {
                ends.iter().for_each(|&rank| {
                    job[rank].progress();
                });
            }
            assert_eq!(has_come(BYTES - 1), number % 2 == 0, "message {number} goes upwards or downwards");
            until_complete(&mut job, ends[1], receive);
            until_complete(&mut job, ends[0], send.expect("it was announced"));
            assert!(from == to);
        }
    }
}

#[test]
fn more_large_messages_at_once_than_there_are_places_for_claims_arrive_whole() {
    let (bytes, messages) = (150_000, crate::segment::PLACES + 9);
    let mut job = job(2);
    job.iter_mut().for_each(|engine| engine.set_copy_from(100_000));
    let mut from = sample(bytes + messages);
    let mut to = vec![vec![0u8; bytes]; messages];
    let receives: Vec<_> =
        to.iter_mut().map(|to| job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer(to))).collect();
    let sends: Vec<_> = (0..messages)
        .map(|at| {
            let data = buffer(&mut from[at..at + bytes]);
            job[0].send(1, envelope(0, 5), &data, Mode::Standard).unwrap()
        })
        .collect();
    for receive in receives {
        until_complete(&mut job, 1, receive);
    }
    for send in sends {
        until_complete(&mut job, 0, send);
    }
    assert!(to.iter().enumerate().all(|(at, to)| from[at..at + bytes] == *to));
}

#[test]
fn messages_to_oneself_arrive_expected_or_not() {
    for expected in [true, false] {
        for bytes in [0, 8, 5000, 300_000] {
            let mut job = job(1);
            let mut from = sample(bytes);
            let mut to = vec![0u8; bytes];
            let post = |job: &mut Vec<Engine<'_>>, to: &mut [u8]| {
                job[0].receive(criteria(None, None), None, &buffer(to))
            };
            let early = expected.then(|| post(&mut job, &mut to));
            let send = job[0].send(0, envelope(0, 1), &buffer(&mut from), Mode::Standard);
            let receive = early.unwrap_or_else(|| post(&mut job, &mut to));
            assert_eq!(until_complete(&mut job, 0, receive).bytes, bytes);
            if let Some(send) = send {
                until_complete(&mut job, 0, send);
            }
            assert!(from == to);
        }
    }
}

#[test]
fn a_message_longer_than_its_buffer_is_cut_and_told() {
    for bytes in [40, 3000, 70_000] {
        let mut job = job(2);
        let mut from = sample(bytes);
        let mut to = vec![9u8; bytes];
        let receive = job[1].receive(criteria(None, None), None, &buffer(&mut to[..10]));
        let send = job[0].send(1, envelope(0, 5), &buffer(&mut from), Mode::Standard);
        let completion = until_complete(&mut job, 1, receive);
        assert_eq!((completion.bytes, completion.truncated()), (10, Some(bytes)));
        assert_eq!((&to[..10], &to[10..]), (&from[..10], &vec![9; bytes - 10][..]));
        if let Some(send) = send {
            until_complete(&mut job, 0, send);
        }
    }
}

#[test]
fn unexpected_messages_take_no_more_than_their_credit() {
    let mut job = job(2);
    let mut from = sample(10_000);
    let mut had_credit = 0;
    let sends: Vec<_> = (0..100)
        .map(|tag| {
            had_credit += u64::from(job[0].has_credit(1, 10_000));
            let send = job[0].send(1, envelope(0, tag), &buffer(&mut from), Mode::Standard);
            job[1].progress();
            job[0].progress();
            send
        })
        .collect();
    let eager = sends.iter().filter(|send| send.is_none_or(|id| job[0].is_complete(id))).count();
    assert_eq!([eager as u64, had_credit], [send::CREDIT / 10_000; 2]);
    assert!(job[0].has_credit(1, ring::INLINE) && !job[0].has_credit(1, 10_000));
    for (tag, send) in sends.into_iter().enumerate().rev() {
        let mut to = vec![0u8; 10_000];
        let receive = job[1].receive(criteria(Some(0), Some(tag as i32)), Some(0), &buffer(&mut to));
        until_complete(&mut job, 1, receive);
        assert!(to == from);
        if let Some(send) = send {
            until_complete(&mut job, 0, send);
        }
    }
    assert!(job[0].has_credit(1, 10_000));
}

#[test]
fn ranks_that_share_cpus_have_a_credit_together() {
    for (senders, pool_bytes) in [0, 1, 3, 7, 255].into_iter().flat_map(|n| [(n, 256 << 10), (n, 4 << 20)]) {
        let each = send::credit_crowded(senders, pool_bytes);
        assert!((send::MOST_EAGER_CROWDED as u64..=send::CREDIT).contains(&each), "{senders} {pool_bytes}");
        let is_least = each == send::MOST_EAGER_CROWDED as u64;
        assert!(is_least || each * senders as u64 <= pool_bytes as u64, "{senders} {pool_bytes}");
    }
}

#[test]
fn a_cancelled_receive_gets_no_message() {
    let mut job = job(2);
    let mut to = [0u8; 8];
    let cancelled = job[1].receive(criteria(None, None), None, &buffer(&mut to));
    assert_eq!(job[1].ending(cancelled), Some(Ending::Open));
    job[1].cancel(cancelled);
    assert_eq!(job[1].ending(cancelled), Some(Ending::Otherwise));
    assert!(job[1].take_if_complete(cancelled).unwrap().cancelled);
    assert_eq!(job[1].ending(cancelled), None);
    job[0].send(1, envelope(0, 5), &buffer(&mut [7u8; 8]), Mode::Standard);
    job[1].progress();
    let (claim, arrival) = job[1].claim(criteria(None, None)).unwrap();
    assert_eq!(arrival.bytes, 8);
    assert_eq!(job[1].probe(criteria(None, None)), None);
    let receive = job[1].receive_claimed(claim, &buffer(&mut to));
    until_complete(&mut job, 1, receive);
    assert_eq!(to, [7; 8]);
}

/// Random numbers, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % end
    }
}

#[test]
fn a_send_that_no_receive_has_met_is_cancelled() {
    for (bytes, mode) in [(0, Mode::Synchronous), (5000, Mode::Synchronous), (100_000, Mode::Standard)] {
        for known in [false, true] {
            let mut job = job(2);
            let (mut data, mut to) = (sample(bytes), vec![0; bytes]);
            let send = job[0].send(1, envelope(0, 5), &buffer(&mut data), mode).unwrap();
            if known {
                job[1].progress();
                assert!(job[1].probe(criteria(None, None)).is_some());
            }
            job[0].cancel(send);
            job[0].cancel(send);
            assert!(until_complete(&mut job, 0, send).cancelled, "{bytes} bytes, known: {known}");
            assert_eq!(job[1].probe(criteria(None, None)), None);
            // The next message of the same envelope is not taken for it.
            let send = job[0].send(1, envelope(0, 5), &buffer(&mut data), mode).unwrap();
            let receive = job[1].receive(criteria(Some(0), Some(5)), Some(0), &buffer(&mut to));
            until_complete(&mut job, 1, receive);
            job[0].cancel(send);
            assert!(!until_complete(&mut job, 0, send).cancelled && to == data);
        }
    }
}

#[test]
fn a_send_to_oneself_and_one_that_waits_for_room_are_cancelled() {
    let mut job = job(2);
    let mut data = sample(5000);
    let own = job[0].send(0, envelope(0, 1), &buffer(&mut data), Mode::Synchronous).unwrap();
    job[0].cancel(own);
    assert!(job[0].take_if_complete(own).unwrap().cancelled);
    assert_eq!(job[0].probe(criteria(None, None)), None);
    let mut waiting = Vec::new();
    while job[0].congested.is_empty() {
        let envelope = envelope(0, waiting.len() as i32);
        waiting.push(job[0].send(1, envelope, &buffer(&mut data), Mode::Synchronous).unwrap());
    }
    // Part of the last one is out; the next one waits behind it.
    let last = job[0].send(1, envelope(0, 0), &buffer(&mut data), Mode::Synchronous).unwrap();
    job[0].cancel(last);
    assert!(job[0].take_if_complete(last).unwrap().cancelled);
    for (tag, send) in waiting.into_iter().enumerate() {
        let mut to = vec![0; data.len()];
        let receive = job[1].receive(criteria(Some(0), Some(tag as i32)), Some(0), &buffer(&mut to));
        until_complete(&mut job, 1, receive);
        assert!(to == data);
        until_complete(&mut job, 0, send);
    }
    assert_eq!(job[1].probe(criteria(None, None)), None);
}

#[test]
fn a_send_that_was_complete_at_once_is_cancelled_until_a_receive_has_its_message() {
    for bytes in [0, 8, 200, 5000, 60_000] {
        for to in [0, 1] {
            let mut job = job(2);
            let (mut data, mut place) = (sample(bytes), vec![0; bytes]);
            let mut send = |job: &mut [Engine]| {
                let id = job[0].send_by_id(to, envelope(0, 5), &buffer(&mut data), Mode::Standard);
                assert!(job[0].is_complete(id) && job[0].ending(id) == Some(Ending::Well));
                id
            };
            let sends = [(); 3].map(|()| send(&mut job));
            // The one in the middle is asked back, twice; the others arrive.
            job[0].cancel(sends[1]);
            job[0].cancel(sends[1]);
            assert_eq!(job[0].is_complete(sends[1]), to == 0);
            assert!(job[0].is_live(sends[1]) && job[0].is_complete(sends[0]));
            assert!(until_complete(&mut job, 0, sends[1]).cancelled, "{bytes} bytes");
            for at in [0, 2] {
                let receive = job[to].receive(criteria(Some(0), Some(5)), Some(0), &buffer(&mut place));
                until_complete(&mut job, to, receive);
                // It has met its receive.
                job[0].cancel(sends[at]);
                assert!(!until_complete(&mut job, 0, sends[at]).cancelled);
            }
            assert_eq!(job[to].probe(criteria(None, None)), None);
            assert_eq!((job[0].under_way(), job[0].unclaimed()), (0, 0));
            // A message that a probe has claimed stays.
            let last = send(&mut job);
            job[to].progress();
            let (claim, _) = job[to].claim(criteria(None, None)).expect("it is here");
            job[0].cancel(last);
            assert!(!until_complete(&mut job, 0, last).cancelled);
            let receive = job[to].receive_claimed(claim, &buffer(&mut place));
            until_complete(&mut job, to, receive);
            // One that nobody asks for any more is asked back all the same.
            let freed = send(&mut job);
            job[0].cancel(freed);
            job[0].detach(freed);
            while job[0].under_way() > 0 {
                job.iter_mut().for_each(|engine| _ = engine.progress());
            }
            assert_eq!((job[to].probe(criteria(None, None)), job[0].unclaimed()), (None, 0));
        }
    }
}

/// Each message is either received whole or cancelled, whenever it is sent, asked for and cancelled; and the credit
/// that it took comes back.
#[test]
fn sends_that_are_cancelled_at_any_time_arrive_whole_or_not_at_all() {
    const MESSAGES: usize = 40;
    let sizes = [0, 48, 700, 5000, 20_000, 66_000, 200_000];
    let mut ends = [0; 2];
    for case in 0..60 {
        let mut random = Random(case);
        let mut job = job(2);
        let mut messages: Vec<(Vec<u8>, Mode)> = (0..MESSAGES)
            .map(|_| {
                (
                    sample(sizes[random.below(sizes.len())]),
                    [Mode::Standard, Mode::Synchronous][random.below(2)],
                )
            })
            .collect();
        let mut places: Vec<Vec<u8>> = messages.iter().map(|(data, _)| vec![0; data.len()]).collect();
        let mut sends: Vec<Option<TransferId>> = vec![None; MESSAGES];
        let mut receives: Vec<Option<TransferId>> = vec![None; MESSAGES];
        let mut next = 0;
        while next < MESSAGES || receives.iter().any(Option::is_none) {
            let at = random.below(MESSAGES);
            match random.below(5) {
                0 | 1 if next < MESSAGES => {
                    let (data, mode) = &mut messages[next];
                    sends[next] = Some(job[0].send_by_id(1, envelope(0, next as i32), &buffer(data), *mode));
                    next += 1;
                }
                2 if receives[at].is_none() => {
                    let criteria = criteria(Some(0), Some(at as i32));
                    receives[at] = Some(job[1].receive(criteria, Some(0), &buffer(&mut places[at])));
                }
                3 => {
                    if let Some(send) = sends[at] {
                        job[0].cancel(send);
                    }
                }
                _ => {
                    job[random.below(2)].progress();
                }
            }
        }
        for at in 0..MESSAGES {
            let cancelled = until_complete(&mut job, 0, sends[at].unwrap()).cancelled;
            let receive = receives[at].unwrap();
            if cancelled {
                job[1].cancel(receive);
            }
            let ended = until_complete(&mut job, 1, receive);
            assert_eq!(ended.cancelled, cancelled, "case {case}, message {at}");
            assert!(cancelled || places[at] == messages[at].0, "case {case}, message {at}");
            ends[usize::from(cancelled)] += 1;
        }
        assert_eq!((job[1].queues(), job[0].under_way(), job[0].unclaimed()), ((0, 0), 0, 0));
        job[0].outgoing[1].producer.refresh();
        job[1].incoming[0].consumer.publish();
        job[0].outgoing[1].producer.refresh();
        assert_eq!(job[0].outgoing[1].eager, job[0].outgoing[1].producer.handed_on(), "case {case}");
    }
    assert!(ends.iter().all(|&some| some > 200), "{ends:?}");
}

/// A message as a model of the standard's rules sees it.
struct Sent {
    tag: i32,
    data: Box<[u8]>,
    send: Option<TransferId>,
}

/// A receive of the model's: its criteria, and its buffer.
type Posted = (TransferId, Criteria, Box<[u8]>);

/// Random traffic between three ranks: sizes, modes, wildcards, claims, receives before and after their messages. Each
/// sender's messages must be received in the order of sending among those that a receive accepts, whole, by the first
/// receive that was posted for them.
#[test]
fn random_traffic_is_matched_as_the_standard_says() {
    const RANKS: usize = 3;
    let sizes = [0, 5, 8, 48, 49, 700, 4096, 5000, 20_000, 66_000, 200_000, 3_000_000];
    for case in 0..6 {
        let mut random = Random(case);
        let mut job = job(RANKS);
        let mut sent: Vec<Vec<Vec<Sent>>> =
            (0..RANKS).map(|_| (0..RANKS).map(|_| Vec::new()).collect()).collect();
        let mut posted: Vec<Vec<Posted>> = (0..RANKS).map(|_| Vec::new()).collect();
        let mut owed = [0usize; RANKS];
        let largest = sizes[3 + random.below(sizes.len() - 3)];
        let mut sends = 600;
        let mut received = 0;
        while sends > 0 || owed.iter().any(|&owed| owed > 0) {
            let rank = random.below(RANKS);
            match random.below(4) {
                0 if sends > 0 => {
                    sends -= 1;
                    let to = random.below(RANKS);
                    let bytes = sizes[random.below(sizes.len())].min(largest);
                    let tag = random.below(3) as i32;
                    let mut data: Box<[u8]> =
                        (0..bytes).map(|at| (at + sends * 3 + tag as usize) as u8).collect();
                    let mode = if random.below(5) == 0 { Mode::Synchronous } else { Mode::Standard };
                    let send = job[rank].send(to, envelope(rank as u16, tag), &buffer(&mut data), mode);
                    sent[to][rank].push(Sent { tag, data, send });
                    owed[to] += 1;
                }
                1 if owed[rank] > posted[rank].len() => {
                    // One for a message that was sent and not yet asked for, so that every receive ends.
                    let wild = posted[rank].is_empty() && random.below(2) == 0;
                    let known = posted[rank].iter().all(|(_, criteria, _)| criteria.source.is_some());
                    if !wild && !known {
                        continue;
                    }
                    let from = (0..RANKS).map(|_| random.below(RANKS)).find(|&from| {
                        let asked =
                            posted[rank].iter().filter(|(_, p, _)| p.source == Some(from as u16)).count();
                        sent[rank][from].len() > asked
                    });
                    let Some(from) = from else { continue };
                    let criteria =
                        if wild { criteria(None, None) } else { criteria(Some(from as u16), None) };
                    let mut data = vec![0; largest].into_boxed_slice();
                    let claimed = wild.then(|| job[rank].claim(criteria)).flatten();
                    let id = match claimed {
                        Some((claim, _)) => job[rank].receive_claimed(claim, &buffer(&mut data)),
                        None => job[rank].receive(criteria, None, &buffer(&mut data)),
                    };
                    posted[rank].push((id, criteria, data));
                }
                _ => {
                    job[rank].progress();
                }
            }
            // Completed receives in the order of posting: a later one of the same source may not be ahead in matching.
            while let Some(at) = (0..posted[rank].len()).find(|&at| job[rank].is_complete(posted[rank][at].0))
            {
                let earlier_same =
                    posted[rank][..at].iter().any(|(_, p, _)| p.source == posted[rank][at].1.source);
                if earlier_same {
                    break;
                }
                let (id, _, data) = posted[rank].remove(at);
                let ended = job[rank].take_if_complete(id).unwrap();
                let queue = &mut sent[rank][ended.source as usize];
                let message = queue.remove(0);
                assert_eq!(ended.tag, message.tag, "case {case}: messages overtook each other");
                assert_eq!((ended.bytes, ended.truncated()), (message.data.len(), None));
                assert!(data[..ended.bytes] == message.data[..], "case {case}: {} bytes differ", ended.bytes);
                if let Some(send) = message.send {
                    until_complete(&mut job, ended.source as usize, send);
                }
                owed[rank] -= 1;
                received += 1;
            }
        }
        assert_eq!(received, 600);
        assert_eq!(job.iter().map(Engine::under_way).sum::<usize>(), 0);
    }
}

/// What makes a matching slow would make this take minutes: posted in one order, matched and cancelled in others.
#[test]
fn a_hundred_thousand_receives_and_messages_are_matched_in_any_order() {
    const MANY: i32 = 100_000;
    let mut job = job(2);
    let mut word = [0u8; 8];
    let mut receives: Vec<_> = (0..MANY)
        .map(|tag| job[1].receive(criteria(Some(0), Some(tag)), Some(0), &buffer(&mut word)))
        .collect();
    for tag in (0..MANY).rev().step_by(2) {
        job[0].send(1, envelope(0, tag), &buffer(&mut tag.to_ne_bytes()), Mode::Standard);
        if tag % 64 == 1 {
            job[1].progress();
        }
    }
    for id in receives.drain(..).step_by(2) {
        job[1].cancel(id);
        assert!(job[1].take_if_complete(id).is_some_and(|ended| ended.cancelled));
    }
    while job[1].progress() || job[0].progress() {}
    for tag in 0..MANY {
        job[0].send(1, envelope(0, tag), &buffer(&mut word), Mode::Standard);
        if tag % 64 == 0 {
            job[1].progress();
        }
    }
    while job[1].progress() || job[0].progress() {}
    assert_eq!(job[1].queues(), (0, MANY as usize));
    for number in 0..MANY {
        let tag = if number % 2 == 0 { Some(MANY - 1 - number / 2) } else { None };
        let id = job[1].receive(criteria(None, tag), None, &buffer(&mut word));
        assert!(job[1].take_if_complete(id).is_some());
    }
    assert_eq!(job[1].queues(), (0, 0));
}

/// Whatever another rank writes into the segment, this one ends with words or goes on, and never touches memory that
/// isn't its own.
#[test]
fn scribbles_in_the_segment_end_the_job_in_words_or_do_nothing() {
    for case in 0..60 {
        let status = in_child(|| scribble(case));
        assert!(matches!(status, 0 | 1), "case {case}: {status}");
    }
}

/// Does some work in a child process, in silence; its exit status.
fn in_child(work: impl FnOnce()) -> i32 {
    // SAFETY: the child only runs engines of its own, and ends by _exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // What the child says of a corrupt segment is not a test's output.
        // SAFETY: the child's own descriptor.
        unsafe { libc::close(2) };
        work();
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert!(libc::WIFEXITED(status), "killed by signal {}", libc::WTERMSIG(status));
    libc::WEXITSTATUS(status)
}

fn scribble(case: u64) {
    let mut random = Random(case);
    let mut job = job(2);
    let segment = job[0].segment();
    let mut data = vec![7u8; 100_000];
    let mut places = vec![vec![0u8; 100_000]; 50];
    for (round, place) in places.iter_mut().enumerate() {
        let tag = round as i32;
        job[1].receive(criteria(Some(0), None), Some(0), &buffer(place));
        let bytes = [8, 60, 3000, 20_000, 100_000][random.below(5)];
        job[0].send(1, envelope(0, tag), &buffer(&mut data[..bytes]), Mode::Standard);
        for _ in 0..random.below(4) {
            job[random.below(2)].progress();
        }
        for _ in 0..random.below(3) {
            let (from, to) = (random.below(2), random.below(2));
            let word =
                if random.below(4) == 0 { random.below(8) } else { 8 * random.below(64) + random.below(2) };
            let value = match random.below(3) {
                0 => random.below(1 << 20) as u64,
                1 => (random.below(1 << 31) as u64) << 32 | random.below(1 << 31) as u64,
                _ => 0x0101 + (random.below(14) + [0, 0x40, 0x80][random.below(3)]) as u64 * 256,
            };
            // SAFETY: inside the pair's area.
            unsafe { segment.pair(from, to).cast::<u64>().add(word).write_volatile(value) };
        }
        for engine in &mut job {
            engine.progress();
        }
    }
}
