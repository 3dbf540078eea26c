//! The limit: events of as many lines, each at its time, and nothing done about them.

// The simulator's own wheel, which is no part of its interface.
#[path = "../../src/wheel.rs"]
#[allow(dead_code, reason = "not all events and calls are needed here")]
mod wheel;

use crate::ids::LineId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;
use wheel::{Wheel, WheelEvent};

/// Lines under way at a time: eight MFCs with sixteen each.
const UNDER_WAY: u32 = 128;
/// From a line's command to its data at the ramp, to the arbiter, to its place, on an idle chip.
const DELAYS: [u64; 3] = [74, 1, 44];

/// An event queue.
trait Queue {
    fn push(&mut self, delay: u64, event: WheelEvent);
    fn pop(&mut self) -> Option<WheelEvent>;
    fn now(&self) -> u64;
}

impl Queue for Wheel {
    fn push(&mut self, delay: u64, event: WheelEvent) {
        self.push(Wheel::now(self) + delay, event);
    }
    fn pop(&mut self) -> Option<WheelEvent> {
        self.pop()
    }
    fn now(&self) -> u64 {
        Wheel::now(self)
    }
}

/// The standard library's heap; the second number keeps what happens at once in order.
#[derive(Default)]
struct Heap {
    heap: BinaryHeap<Reverse<(u64, u64, WheelEvent)>>,
    now: u64,
    said: u64,
}

impl Queue for Heap {
    fn push(&mut self, delay: u64, event: WheelEvent) {
        self.said += 1;
        self.heap.push(Reverse((self.now + delay, self.said, event)));
    }
    fn pop(&mut self) -> Option<WheelEvent> {
        let Reverse((at, _, event)) = self.heap.pop()?;
        self.now = at;
        Some(event)
    }
    fn now(&self) -> u64 {
        self.now
    }
}

/// Sends `lines` lines through, three events each; the cycle at which the last one was through.
fn carry(queue: &mut impl Queue, lines: u64) -> u64 {
    let mut begun = u64::from(UNDER_WAY.min(lines as u32));
    for line in 0..begun {
        queue.push(line, WheelEvent::Ready(LineId(line as u32)));
    }
    while let Some(event) = queue.pop() {
        match event {
            WheelEvent::Ready(line) => queue.push(DELAYS[1], WheelEvent::Read(line)),
            WheelEvent::Read(line) => queue.push(DELAYS[2], WheelEvent::Arrived(line)),
            WheelEvent::Arrived(line) if begun < lines => {
                begun += 1;
                queue.push(DELAYS[0], WheelEvent::Ready(line));
            }
            _ => {}
        }
    }
    queue.now()
}

/// Carries so many lines with one of the two queues.
pub(crate) fn run(queue: &str, lines: u64) -> Result<String, Box<dyn std::error::Error>> {
    let start = Instant::now();
    let cycles = match queue {
        "wheel" => carry(&mut Wheel::new(), lines),
        "heap" => carry(&mut Heap::default(), lines),
        _ => return Err(format!("queues: wheel, heap; not '{queue}'").into()),
    };
    let wall = start.elapsed().as_secs_f64();
    let events = lines * DELAYS.len() as u64;
    Ok(format!(r#"{{"wall_s": {wall:.9}, "packets": {lines}, "events": {events}, "cycles": {cycles}}}"#))
}
