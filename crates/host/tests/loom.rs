//! Every interleaving (of long runs those with up to three preemptions, which find nearly everything):
//! `RUSTFLAGS="--cfg loom" cargo test -p cellweave-host --test loom --release --target-dir target/loom`.
#![cfg(loom)]

use host::{Event, Patience, ring};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

/// All interleavings in which a thread is interrupted at most three times where it could have gone on.
fn model(test: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(test);
}

#[test]
fn a_change_before_a_notify_is_never_slept_through() {
    loom::model(|| {
        let shared = Arc::new((Event::new(), AtomicBool::new(false)));
        let notifier = {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.1.store(true, Ordering::Release);
                shared.0.notify();
            })
        };
        shared.0.wait(Patience::NONE, None, || shared.1.load(Ordering::Acquire));
        notifier.join().unwrap();
    });
}

#[test]
fn of_two_changes_that_a_waiter_needs_neither_is_slept_through() {
    model(|| {
        let shared = Arc::new((Event::new(), AtomicBool::new(false), AtomicBool::new(false)));
        let notifiers = [true, false].map(|first| {
            let shared = shared.clone();
            thread::spawn(move || {
                let flag = if first { &shared.1 } else { &shared.2 };
                flag.store(true, Ordering::Release);
                shared.0.notify();
            })
        });
        shared.0.wait(Patience::NONE, None, || {
            shared.1.load(Ordering::Acquire) && shared.2.load(Ordering::Acquire)
        });
        for notifier in notifiers {
            notifier.join().unwrap();
        }
    });
}

/// Slots as `run` uses them: the counters alone say who may touch which. Loom fails when two threads touch one at once.
struct Slots(Vec<UnsafeCell<u64>>);

#[test]
fn what_a_ring_passes_is_what_was_written_and_nobody_touches_a_slot_twice_at_once() {
    const INSTANCES: u64 = 3;
    model(|| {
        let (mut producer, mut consumers) = ring(2, 1);
        let mut consumer = consumers.remove(0);
        let slots = Arc::new(Slots((0..2).map(|_| UnsafeCell::new(0)).collect()));
        let (room, data) = (Arc::new(Event::new()), Arc::new(Event::new()));
        let (their_slots, their_room, their_data) = (slots.clone(), room.clone(), data.clone());
        let writer = thread::spawn(move || {
            for i in 0..INSTANCES {
                their_room.wait(Patience::NONE, None, || producer.has_free(1));
                // SAFETY: the slot is free, so the consumer does not touch it before it is published.
                their_slots.0[(i % 2) as usize].with_mut(|s| unsafe { *s = i + 1 });
                producer.publish(1);
                their_data.notify();
            }
            producer.finish();
            their_data.notify();
        });
        for i in 0..INSTANCES {
            data.wait(Patience::NONE, None, || consumer.has_available(1));
            // SAFETY: the instance is available, so the producer does not touch its slot before it is released.
            slots.0[(i % 2) as usize].with(|s| assert_eq!(unsafe { *s }, i + 1));
            consumer.release(1);
            room.notify();
        }
        data.wait(Patience::NONE, None, || consumer.end().is_some());
        assert!(consumer.drained());
        writer.join().unwrap();
    });
}

#[test]
fn a_slot_of_a_broadcast_is_free_only_when_both_consumers_released_it() {
    model(|| {
        let (mut producer, consumers) = ring(1, 2);
        let slot = Arc::new(Slots(vec![UnsafeCell::new(7)]));
        producer.publish(1);
        let readers: Vec<_> = consumers
            .into_iter()
            .map(|mut consumer| {
                let slot = slot.clone();
                thread::spawn(move || {
                    assert!(consumer.has_available(1));
                    // SAFETY: available, not yet released.
                    slot.0[0].with(|s| assert_eq!(unsafe { *s }, 7));
                    consumer.release(1);
                })
            })
            .collect();
        if producer.has_free(1) {
            // SAFETY: both have released it.
            slot.0[0].with_mut(|s| unsafe { *s = 8 });
        }
        for reader in readers {
            reader.join().unwrap();
        }
    });
}
