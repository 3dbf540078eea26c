//! Rings between real threads. Under Miri the counts are small:
//! `cargo +nightly miri test -p cellweave-host --test ring`.
#![cfg(not(loom))]

use host::{Event, Patience, Woken, ring};
use std::cell::UnsafeCell;

const INSTANCES: u64 = if cfg!(miri) { 200 } else { 50_000 };

struct Slots(Vec<UnsafeCell<u64>>);

// SAFETY: a slot is touched by the producer only while it is free and by consumers (who only read) only while it is
// available; that the ring keeps these apart is what is tested here.
unsafe impl Sync for Slots {}

impl Slots {
    fn new(n: u64) -> Self {
        Self((0..n).map(|_| UnsafeCell::new(0)).collect())
    }

    fn at(&self, instance: u64) -> *mut u64 {
        self.0[(instance % self.0.len() as u64) as usize].get()
    }
}

/// Streams through a ring of `slots` to `readers`, publishing and releasing up to `batch` at a time, with `patience`.
fn stream(slots: u64, readers: usize, batch: u64, patience: Patience) {
    let data = Slots::new(slots);
    let room = Event::new();
    let bells: Vec<Event> = (0..readers).map(|_| Event::new()).collect();
    let (mut producer, consumers) = ring(slots, readers);
    std::thread::scope(|s| {
        for (mut consumer, bell) in consumers.into_iter().zip(&bells) {
            let (data, room) = (&data, &room);
            s.spawn(move || {
                let mut expected = 0;
                while !consumer.drained() {
                    bell.wait(patience, None, || consumer.has_available(1) || consumer.end().is_some());
                    let n = consumer.available_seen().min(batch);
                    for i in 0..n {
                        // SAFETY: available and not released.
                        assert_eq!(unsafe { *data.at(consumer.consumed() + i) }, expected);
                        expected += 1;
                    }
                    consumer.release(n);
                    room.notify();
                }
                assert_eq!(expected, INSTANCES);
            });
        }
        while producer.produced() < INSTANCES {
            room.wait(patience, None, || producer.has_free(1));
            let n = producer.free_seen().min(batch).min(INSTANCES - producer.produced());
            for i in producer.produced()..producer.produced() + n {
                // SAFETY: free and not published.
                unsafe { *data.at(i) = i };
            }
            producer.publish(n);
            bells.iter().for_each(Event::notify);
        }
        producer.finish();
        bells.iter().for_each(Event::notify);
    });
}

#[test]
fn a_stream_through_one_slot_keeps_every_instance_in_order() {
    stream(1, 1, 1, Patience::new(2, 2));
}

#[test]
fn a_stream_in_batches_keeps_every_instance_in_order() {
    stream(7, 1, 3, Patience::new(2, 2));
}

#[test]
fn three_readers_of_one_ring_each_see_every_instance() {
    stream(5, 3, 4, Patience::new(4, 2));
}

#[test]
fn workers_that_park_at_once_still_pass_everything_on() {
    stream(2, 2, 1, Patience::NONE);
}

#[test]
fn a_wait_that_nobody_answers_ends_when_its_time_is_over() {
    let event = Event::new();
    assert_eq!(event.wait(Patience::NONE, Some(1_000_000), || false), Woken::TimedOut);
    assert_eq!(event.wait(Patience::new(1, 2), Some(1_000), || false), Woken::TimedOut);
    assert_eq!(event.wait(Patience::NONE, Some(0), || true), Woken::Ready);
}

#[test]
#[should_panic(expected = "published 3 instances into 2 free slots")]
fn publishing_into_slots_that_are_not_free_is_refused() {
    ring(2, 1).0.publish(3);
}

#[test]
#[should_panic(expected = "released 1 instances of 0")]
fn releasing_what_was_not_available_is_refused() {
    ring(2, 1).1[0].release(1);
}

#[test]
#[should_panic(expected = "needs a slot and a consumer")]
fn a_ring_without_slots_is_refused() {
    ring(0, 1);
}
