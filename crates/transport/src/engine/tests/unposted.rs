//! Receives of short messages that come at once.

use super::*;
use crate::ring::INLINE;

/// Sends rank 1 a message of so many bytes, each of which is its tag.
fn send(job: &mut [Engine<'_>], tag: u8, bytes: usize, mode: Mode) -> Option<TransferId> {
    job[0].send(1, envelope(0, tag.into()), &buffer(&mut vec![tag; bytes]), mode)
}

/// Receives it at rank 1 as other messages are.
fn receive(job: &mut [Engine<'_>], tag: u8, bytes: usize) {
    let mut to = vec![0; bytes];
    let receive = job[1].receive(criteria(Some(0), Some(tag.into())), Some(0), &buffer(&mut to));
    assert_eq!(until_complete(job, 1, receive).bytes, bytes);
    assert!(to == vec![tag; bytes], "tag {tag}");
}

/// Receives it at rank 1 without a post, into so much room; whether it did.
fn is_received(job: &mut [Engine<'_>], criteria: Criteria, tag: u8, bytes: usize, room: usize) -> bool {
    let mut to = vec![0; room];
    let received = job[1].receive_unposted(criteria, 0, &buffer(&mut to));
    if let Some(completion) = received {
        let expected = Completion { source: 0, tag: tag.into(), bytes, lost: 0, cancelled: false };
        assert_eq!(completion, expected);
        assert!(to[..bytes] == vec![tag; bytes] && to[bytes..].iter().all(|&byte| byte == 0));
    }
    received.is_some()
}

/// Criteria of just one tag from rank 0.
fn just(tag: u8) -> Criteria {
    criteria(Some(0), Some(tag.into()))
}

/// Rank 1 knows that rank 0 sends short messages.
fn job_of_short_ones() -> Vec<Engine<'static>> {
    let mut job = job(2);
    send(&mut job, 9, 8, Mode::Standard);
    assert!(!is_received(&mut job, just(9), 9, 8, 8), "nothing is known yet");
    receive(&mut job, 9, 8);
    job
}

#[test]
fn short_messages_are_received_in_order_without_a_post() {
    let mut job = job_of_short_ones();
    let before = job[1].counters.messages_received.get();
    // More than the ring has lines.
    for number in 0..1000 {
        let sizes = [0, 8, INLINE, 1];
        for (tag, &bytes) in (1..).zip(&sizes) {
            assert!(send(&mut job, tag, bytes, Mode::Standard).is_none(), "round {number}");
        }
        for (tag, &bytes) in (1..).zip(&sizes) {
            assert!(is_received(&mut job, just(tag), tag, bytes, INLINE), "round {number}");
        }
    }
    assert_eq!(job[1].counters.messages_received.get() - before, 4000);
    assert!(!is_received(&mut job, just(1), 1, 8, 8), "there is none");
}

#[test]
fn all_others_are_left_as_they_are() {
    let any = criteria(None, Some(1));
    for (what, criteria, bytes, room, mode) in [
        ("another tag", just(2), 8, 8, Mode::Standard),
        ("any source", any, 8, 8, Mode::Standard),
        ("too little room", just(1), 8, 7, Mode::Standard),
        ("a longer one", just(1), INLINE + 1, 100, Mode::Standard),
        ("one whose sender waits", just(1), 8, 8, Mode::Synchronous),
    ] {
        let mut job = job_of_short_ones();
        let sent = send(&mut job, 1, bytes, mode);
        assert!(!is_received(&mut job, criteria, 1, bytes, room), "{what}");
        receive(&mut job, 1, bytes);
        assert_eq!(sent.is_some(), mode == Mode::Synchronous);
        if let Some(sent) = sent {
            until_complete(&mut job, 0, sent);
        }
    }
}

#[test]
fn posted_receives_and_unexpected_messages_come_first() {
    let mut job = job_of_short_ones();
    let mut to = [0; 8];
    let posted = job[1].receive(just(1), Some(0), &buffer(&mut to));
    send(&mut job, 1, 8, Mode::Standard);
    assert!(!is_received(&mut job, just(1), 1, 8, 8), "it is the posted one's");
    until_complete(&mut job, 1, posted);
    // The first one is unexpected, because another receive has looked for messages.
    for bytes in [7, 8] {
        send(&mut job, 1, bytes, Mode::Standard);
        job[1].progress();
    }
    assert!(!is_received(&mut job, just(1), 1, 8, 8), "they are kept");
    receive(&mut job, 1, 7);
    send(&mut job, 1, 6, Mode::Standard);
    assert!(!is_received(&mut job, just(1), 1, 6, 8), "one is kept");
    receive(&mut job, 1, 8);
    receive(&mut job, 1, 6);
    send(&mut job, 1, 5, Mode::Standard);
    assert!(is_received(&mut job, just(1), 1, 5, 8), "nothing is in its way");
}

#[test]
fn a_sender_that_waits_hears_of_its_message_though_its_word_came_alone() {
    let mut job = job_of_short_ones();
    let sent = send(&mut job, 1, 8, Mode::Synchronous).unwrap();
    // Takes the word that the sender waits, and leaves the message.
    job[1].poll(Some(0), 1);
    assert!(!job[1].matching.has_any());
    assert!(!is_received(&mut job, just(1), 1, 8, 8));
    receive(&mut job, 1, 8);
    until_complete(&mut job, 0, sent);
}
