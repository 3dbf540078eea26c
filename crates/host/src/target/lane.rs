//! The copies of one transfer, and the loop over all transfers of one initiator.

use crate::clock::Clock;
use machine::target::{BUFFERS_MAX, Direction, Experiment, Store, Times, Transfer, Walk};
use std::hint::black_box;
use std::sync::atomic::{Ordering, fence};

/// Two transfers never share a line, nor the neighbour that a prefetcher fetches with it.
pub(super) const STRIDE_BYTES: u32 = 128;

/// Bytes of a transfer's far end: a place of its own for every repeat, so that no line is already here.
pub(super) fn region_bytes(experiment: &Experiment, transfer: &Transfer) -> u64 {
    u64::from(far_stride(experiment, transfer)) * u64::from(experiment.repeats)
}

/// From one place of the far end to the next.
fn far_stride(experiment: &Experiment, transfer: &Transfer) -> u32 {
    match (experiment.walk, transfer.other) {
        (Walk::Stride(bytes), Store::Memory(_)) => bytes,
        _ => stride(experiment.size_bytes),
    }
}

fn stride(size_bytes: u32) -> u32 {
    size_bytes.next_multiple_of(STRIDE_BYTES)
}

/// Where one transfer goes, repeat by repeat.
#[derive(Debug)]
pub(super) struct Lane {
    direction: Direction,
    stride: usize,
    places: usize,
    /// Places from one transfer to the next, without a common divisor with `places`: no stream for a prefetcher.
    step: usize,
}

impl Lane {
    pub(super) fn new(experiment: &Experiment, transfer: &Transfer) -> Self {
        let places = experiment.repeats as usize;
        Self {
            direction: transfer.direction,
            stride: far_stride(experiment, transfer) as usize,
            places,
            step: (places * 5 / 8..).find(|&s| divisor(s, places) == 1).unwrap_or(1),
        }
    }

    fn at(&self, repeat: usize) -> usize {
        repeat * self.step % self.places * self.stride
    }

    fn puts(&self, repeat: usize) -> bool {
        match self.direction {
            Direction::Get => false,
            Direction::Put => true,
            Direction::Alternating => repeat % 2 == 1,
        }
    }
}

/// An initiator's end: its buffers, each with a chain of transfers of its own.
#[derive(Debug)]
pub(super) struct Own {
    size: usize,
    stride: usize,
    bytes: Vec<u8>,
    /// Always 0, as only the data tell: what makes a chain's next copy wait for its last.
    behind: [usize; BUFFERS_MAX as usize],
    buffers: usize,
}

impl Own {
    pub(super) fn new(experiment: &Experiment) -> Self {
        let (stride, buffers) = (stride(experiment.size_bytes) as usize, experiment.buffers as usize);
        Self {
            size: experiment.size_bytes as usize,
            stride,
            bytes: vec![0; stride * buffers],
            behind: [0; BUFFERS_MAX as usize],
            buffers,
        }
    }

    /// Brings the buffers to this core.
    pub(super) fn warm(&mut self) {
        self.bytes.fill(1);
    }

    /// A copy with the buffer whose turn it is. `zero` is 0, but the compiler must not know.
    #[inline]
    fn copy(&mut self, lane: &Lane, far: &mut [u8], repeat: usize, turn: usize, zero: usize) {
        let buffer = turn % self.buffers;
        let at = lane.at(repeat) + self.behind[buffer];
        let own = &mut self.bytes[buffer * self.stride..][..self.size];
        let far = &mut far[at..][..self.size];
        if lane.puts(repeat) {
            far.copy_from_slice(own);
            if buffer + 1 == self.buffers {
                fence(Ordering::SeqCst);
            }
        } else {
            own.copy_from_slice(far);
            self.behind[buffer] = usize::from(own[self.size - 1]) & zero;
        }
    }
}

/// gcd, and 1 for a step of 0 only where there is one place.
fn divisor(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// All repeats of all lanes in turn, each with its part of `far`.
pub(super) fn run(
    lanes: &[Lane],
    own: &mut Own,
    far: &mut [&mut [u8]],
    experiment: &Experiment,
    base_ns: u64,
) -> Vec<Times> {
    let clock = Clock::get();
    let zero = black_box(0usize);
    let repeats = experiment.repeats as usize;
    let mut starts = Vec::with_capacity(lanes.len());
    let mut ends = Vec::with_capacity(lanes.len());
    let mut turn = 0;
    for repeat in 0..repeats {
        for (lane, far) in lanes.iter().zip(far.iter_mut()) {
            if repeat == 0 {
                starts.push(clock.now_ns());
            }
            own.copy(lane, far, repeat, turn, zero);
            turn += 1;
            if experiment.compute_ns > 0 {
                let until_ns = clock.now_ns() + experiment.compute_ns;
                while clock.now_ns() < until_ns {
                    std::hint::spin_loop();
                }
            }
            if repeat + 1 == repeats {
                fence(Ordering::SeqCst);
                black_box(&own.behind);
                ends.push(clock.now_ns());
            }
        }
    }
    let since = |ns: u64| ns.saturating_sub(base_ns) as f64;
    let in_turn = lanes.len() as f64;
    (starts.into_iter().zip(ends))
        .map(|(start, end)| {
            let ns = end.saturating_sub(start).max(1);
            let latency_ns = ns as f64 / (repeats as f64 * in_turn);
            let (start_ns, end_ns) = (since(start), since(start) + ns as f64);
            Times { start_ns, end_ns, ticks: ns, latency_ns, bytes: experiment.bytes_each() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::target::Store;

    fn experiment(size_bytes: u32, repeats: u32) -> Experiment {
        Experiment { transfers: Vec::new(), size_bytes, buffers: 3, repeats, compute_ns: 0, walk: Walk::Next }
    }

    fn transfer(direction: Direction) -> Transfer {
        Transfer { initiator: 0, other: Store::Memory(1), direction }
    }

    #[test]
    fn a_put_reaches_every_place_once_and_a_get_none() {
        for repeats in [1, 2, 5, 8, 12, 256] {
            let e = experiment(16, repeats);
            for (direction, written) in
                [(Direction::Put, repeats), (Direction::Get, 0), (Direction::Alternating, repeats / 2)]
            {
                let mut own = Own::new(&e);
                own.warm();
                let mut far = vec![0; region_bytes(&e, &transfer(direction)) as usize];
                run(&[Lane::new(&e, &transfer(direction))], &mut own, &mut [&mut far], &e, 0);
                let ones = far.iter().filter(|b| **b == 1).count();
                // What an alternating lane puts may be what it got before.
                if direction == Direction::Alternating {
                    assert!(ones <= 16 * written as usize);
                } else {
                    assert_eq!(ones, 16 * written as usize, "{repeats} {direction:?}");
                }
            }
        }
    }

    #[test]
    fn a_stride_is_from_one_place_in_memory_to_the_next() {
        let e = Experiment { walk: Walk::Stride(4096), ..experiment(16, 5) };
        let mut far = vec![0; region_bytes(&e, &transfer(Direction::Put)) as usize];
        assert_eq!(far.len(), 5 * 4096);
        let mut own = Own::new(&e);
        own.warm();
        run(&[Lane::new(&e, &transfer(Direction::Put))], &mut own, &mut [&mut far], &e, 0);
        assert!(far.chunks(4096).all(|place| place[..16] == [1; 16] && place[16..].iter().all(|b| *b == 0)));
    }

    #[test]
    fn a_get_brings_what_the_far_end_holds() {
        let e = experiment(64, 6);
        let mut own = Own::new(&e);
        own.warm();
        let get = transfer(Direction::Get);
        let mut far = vec![9; region_bytes(&e, &get) as usize];
        run(&[Lane::new(&e, &get)], &mut own, &mut [&mut far], &e, 0);
        assert_eq!(own.bytes.iter().filter(|b| **b == 9).count(), 3 * 64);
    }
}
