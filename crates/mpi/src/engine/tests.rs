//! Several engines on one segment, driven in turn by one thread: everything but the waiting.

use super::*;
use crate::segment::Segment;

fn job(ranks: usize) -> Vec<Engine> {
    let (_fd, segment) = Segment::create(ranks, ranks).unwrap();
    let segment = Arc::new(segment);
    (0..ranks)
        .map(|rank| {
            let mut engine = Engine::detached();
            segment.rank(rank).pid.store(std::process::id(), std::sync::atomic::Ordering::Relaxed);
            engine.attach(segment.clone(), rank);
            engine
        })
        .collect()
}

fn buffer(data: &mut [u8]) -> Buffer {
    Buffer { address: data.as_mut_ptr(), bytes: data.len(), layout: None }
}

fn until_complete(job: &mut [Engine], rank: usize, id: TransferId) -> Completion {
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
    Envelope { context: CONTEXT, source, tag }
}

fn pattern(source: Option<u16>, tag: Option<i32>) -> Pattern {
    Pattern { context: CONTEXT, source, tag }
}

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
                let posted = |job: &mut Vec<Engine>, to: &mut [u8]| {
                    job[1].receive(pattern(Some(0), Some(5)), Some(0), &buffer(to))
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
                    let arrival = job[1].probe(pattern(None, None)).unwrap();
                    assert_eq!(arrival, Arrival { source: 0, tag: 5, bytes });
                }
                let receive = early.unwrap_or_else(|| posted(&mut job, &mut to));
                let completion = until_complete(&mut job, 1, receive);
                assert_eq!((completion.source, completion.tag, completion.bytes), (0, 5, bytes));
                assert_eq!(completion.truncated, None);
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
fn messages_to_oneself_arrive_expected_or_not() {
    for expected in [true, false] {
        for bytes in [0, 8, 5000, 300_000] {
            let mut job = job(1);
            let mut from = sample(bytes);
            let mut to = vec![0u8; bytes];
            let post =
                |job: &mut Vec<Engine>, to: &mut [u8]| job[0].receive(pattern(None, None), None, &buffer(to));
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
        let receive = job[1].receive(pattern(None, None), None, &buffer(&mut to[..10]));
        let send = job[0].send(1, envelope(0, 5), &buffer(&mut from), Mode::Standard);
        let completion = until_complete(&mut job, 1, receive);
        assert_eq!((completion.bytes, completion.truncated), (10, Some(bytes)));
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
    let sends: Vec<_> = (0..100)
        .map(|tag| {
            let send = job[0].send(1, envelope(0, tag), &buffer(&mut from), Mode::Standard);
            job[1].progress();
            job[0].progress();
            send
        })
        .collect();
    let eager = sends.iter().filter(|send| send.is_none_or(|id| job[0].is_complete(id))).count();
    assert_eq!(eager as u64, send::CREDIT / 10_000);
    for (tag, send) in sends.into_iter().enumerate().rev() {
        let mut to = vec![0u8; 10_000];
        let receive = job[1].receive(pattern(Some(0), Some(tag as i32)), Some(0), &buffer(&mut to));
        until_complete(&mut job, 1, receive);
        assert!(to == from);
        if let Some(send) = send {
            until_complete(&mut job, 0, send);
        }
    }
}

#[test]
fn a_cancelled_receive_gets_no_message() {
    let mut job = job(2);
    let mut to = [0u8; 8];
    let cancelled = job[1].receive(pattern(None, None), None, &buffer(&mut to));
    job[1].cancel(cancelled);
    assert!(job[1].take_if_complete(cancelled).unwrap().cancelled);
    job[0].send(1, envelope(0, 5), &buffer(&mut [7u8; 8]), Mode::Standard);
    job[1].progress();
    let (claim, arrival) = job[1].claim(pattern(None, None)).unwrap();
    assert_eq!(arrival.bytes, 8);
    assert_eq!(job[1].probe(pattern(None, None)), None);
    let receive = job[1].receive_claimed(claim, &buffer(&mut to));
    until_complete(&mut job, 1, receive);
    assert_eq!(to, [7; 8]);
}
