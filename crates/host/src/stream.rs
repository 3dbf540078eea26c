//! What a stream of lines between two cpus costs: data through a ring of a given size, in hand-overs of a given size.
//!
//! How fast lines go from core to core depends on where they are when they are asked for. In a ring that fits the
//! writer's L1 each line has to be fetched from there, and each line that is written again is still in the reader's
//! caches. A ring beyond the private caches of both, inside a shared one, can be several times faster. [`LineStream`]
//! measures one point of that curve.

use crate::clock::now_ns;
use crate::ring::{Consumer, Producer, ring};
use crate::stolen::Mark;
use crate::wait::spin_until;
use std::cell::UnsafeCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a cache line, as they are counted here.
pub const LINE_BYTES: u64 = 64;
const LINE_WORDS: u64 = LINE_BYTES / 8;
/// How often the whole ring is written before the clock starts: its pages are there then, and its lines where they
/// will be.
const ROUNDS_FIRST: u64 = 2;
/// Lines of a part of the stream that is timed: long against a look at the clock, short against the time between two
/// interruptions.
const WINDOW_LINES: u64 = 2048;

/// A stream from one cpu to another, or one each way at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineStream {
    /// The kernel's numbers of the two cpus; the first writes, the second reads.
    pub cpus: [u32; 2],
    /// Bytes that are handed over at once; rounded up to whole lines.
    pub bytes: u64,
    /// Bytes of the ring; it has two hand-overs at least.
    pub ring_bytes: u64,
    /// Whether as much flows the other way, through a ring of its own.
    pub both: bool,
}

impl LineStream {
    /// ns that the slower end spends per line, writing or reading it included: a value for each timed part of the
    /// stream, over about `for_ns`. Parts in which a thread lost its cpu are left out; a busy computer may leave none.
    /// With both directions an end writes a line and reads one, and half of that time counts.
    ///
    /// ```
    /// let cpus = host::Affinity::of_this_thread().unwrap().cpus();
    /// if let [a, b, ..] = cpus[..] {
    ///     let stream = host::LineStream { cpus: [a, b], bytes: 4096, ring_bytes: 65536, both: false };
    ///     assert!(stream.line_ns(1_000_000).iter().all(|ns| *ns > 0.0));
    /// }
    /// ```
    pub fn line_ns(&self, for_ns: u64) -> Vec<f64> {
        let item = Item::of(self.bytes);
        let slots = (self.ring_bytes / (item.lines() * LINE_BYTES)).max(2);
        let (there, back) = (StreamSlots::new(item, slots), StreamSlots::new(item, slots));
        let (there_out, there_in) = there.ends();
        let (back_out, back_in) = back.ends();
        let (near, far) = match self.both {
            true => ((Some(there_out), Some(back_in)), (Some(back_out), Some(there_in))),
            false => ((Some(there_out), None), (None, Some(there_in))),
        };
        let parts = AtomicU64::new(u64::MAX);
        let ahead = slots / item.window() + 2;
        let first = ROUNDS_FIRST * slots / item.window() + 1;
        let end =
            |(writer, reader), cpu| End { cpu, writer, reader, window: item.window(), first, parts: &parts };
        let (near, far) = (end(near, self.cpus[0]), end(far, self.cpus[1]));
        let (near, far) = std::thread::scope(|scope| {
            let far = scope.spawn(move || far.run(None));
            let near = scope.spawn(move || near.run(Some((for_ns, ahead))));
            (near.join().unwrap_or_default(), far.join().unwrap_or_default())
        });
        let lines = (item.window() * item.lines()) as f64 * if self.both { 2.0 } else { 1.0 };
        near.iter().zip(&far).filter_map(|(a, b)| Some(a.as_ref()?.max(*b.as_ref()?) / lines)).collect()
    }
}

/// ns per line that a core spends on writing and reading `bytes` in its own caches, a value for each timed part: what a
/// hand-over on one core costs anyway.
pub fn near_line_ns(cpu: u32, bytes: u64, for_ns: u64) -> Vec<f64> {
    let item = Item::of(bytes);
    let work = move || {
        let _ = crate::pin::to_cpu(cpu);
        let mut words = vec![0u64; item.0 as usize];
        let mut found = Vec::new();
        let start_ns = now_ns();
        while now_ns().saturating_sub(start_ns) < for_ns {
            let (mark, from_ns) = (Mark::now(), now_ns());
            for turn in 0..item.window() {
                black_box(&mut words).fill(turn);
                black_box(sum(black_box(&words)));
            }
            let ns = now_ns().saturating_sub(from_ns);
            if !mark.lost_cpu() {
                found.push(ns as f64 / (item.window() * item.lines()) as f64);
            }
        }
        found
    };
    std::thread::scope(|s| s.spawn(work).join()).unwrap_or_default()
}

fn sum(words: &[u64]) -> u64 {
    words.iter().fold(0, |sum: u64, word| sum.wrapping_add(*word))
}

/// What is handed over at once, in words.
#[derive(Debug, Clone, Copy)]
struct Item(u64);

impl Item {
    fn of(bytes: u64) -> Self {
        Self(bytes.div_ceil(LINE_BYTES).max(1) * LINE_WORDS)
    }

    fn lines(self) -> u64 {
        self.0 / LINE_WORDS
    }

    /// Hand-overs in a part that is timed.
    fn window(self) -> u64 {
        (WINDOW_LINES / self.lines()).max(1)
    }
}

/// The memory of a ring.
struct StreamSlots {
    words: Box<[UnsafeCell<u64>]>,
    item: Item,
    slots: u64,
}

// SAFETY: a slot is touched only by the end that the ring's counters give it to, see `Writer` and `Reader`.
unsafe impl Sync for StreamSlots {}

impl StreamSlots {
    fn new(item: Item, slots: u64) -> Self {
        let words = (0..item.0 * slots).map(|_| UnsafeCell::new(0)).collect();
        Self { words, item, slots }
    }

    /// The only two ends of this memory.
    fn ends(&self) -> (Writer<'_>, Reader<'_>) {
        let (counters, mut readers) = ring(self.slots, 1);
        (Writer { counters, slots: self }, Reader { counters: readers.remove(0), slots: self })
    }

    /// The cells of the slot that instance `number` is in.
    fn at(&self, number: u64) -> &[UnsafeCell<u64>] {
        let each = self.item.0 as usize;
        &self.words[(number % self.slots) as usize * each..][..each]
    }
}

/// The writing end of a ring.
struct Writer<'a> {
    counters: Producer,
    slots: &'a StreamSlots,
}

impl Writer<'_> {
    /// Writes the next slot when it is free; says whether it was.
    fn step(&mut self) -> bool {
        if !self.counters.has_free(1) {
            return false;
        }
        let number = self.counters.produced();
        let cells = self.slots.at(number);
        // SAFETY: the slot is free, so that no reader touches it before it is published, and there is one writer. An
        // UnsafeCell<u64> has the layout of its u64.
        let words = unsafe { std::slice::from_raw_parts_mut(cells.as_ptr() as *mut u64, cells.len()) };
        words.fill(number);
        self.counters.publish(1);
        true
    }
}

/// The reading end of a ring.
struct Reader<'a> {
    counters: Consumer,
    slots: &'a StreamSlots,
}

impl Reader<'_> {
    /// Reads the next slot when it is there; says whether it was.
    fn step(&mut self) -> bool {
        if !self.counters.has_available(1) {
            return false;
        }
        let cells = self.slots.at(self.counters.consumed());
        // SAFETY: the slot is published and not released, so that the writer does not touch it. The layout is as in
        // `Writer`.
        let words = unsafe { std::slice::from_raw_parts(cells.as_ptr() as *const u64, cells.len()) };
        black_box(sum(words));
        self.counters.release(1);
        true
    }
}

/// What one thread does.
struct End<'a> {
    cpu: u32,
    writer: Option<Writer<'a>>,
    reader: Option<Reader<'a>>,
    /// Hand-overs in a part that is timed.
    window: u64,
    /// Parts before the first that is timed.
    first: u64,
    /// Parts of the whole stream; both threads do as many.
    parts: &'a AtomicU64,
}

impl End<'_> {
    /// ns of each part; `None` where the thread lost its cpu. The thread that knows `leads`, how long the stream takes
    /// and how many parts the other may be ahead, ends the stream.
    fn run(mut self, leads: Option<(u64, u64)>) -> Vec<Option<f64>> {
        // Refused: the kernel puts the thread where it likes, which its samples will tell.
        let _ = crate::pin::to_cpu(self.cpu);
        let mut found = Vec::new();
        let mut deadline_ns = u64::MAX;
        for part in 0.. {
            let (mark, from_ns) = (Mark::now(), now_ns());
            if let Some((for_ns, ahead)) = leads {
                if part == self.first {
                    deadline_ns = from_ns + for_ns;
                } else if from_ns >= deadline_ns {
                    deadline_ns = u64::MAX;
                    self.parts.store(part + ahead, Ordering::Release);
                }
            }
            if part >= self.parts.load(Ordering::Acquire) {
                return found;
            }
            for _ in 0..self.window {
                if let Some(writer) = &mut self.writer {
                    spin_until(|| writer.step());
                }
                if let Some(reader) = &mut self.reader {
                    spin_until(|| reader.step());
                }
            }
            if part >= self.first {
                let ns = now_ns().saturating_sub(from_ns) as f64;
                found.push((!mark.lost_cpu()).then_some(ns));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus() -> [u32; 2] {
        let cpus = crate::Affinity::of_this_thread().unwrap().cpus();
        [cpus[0], cpus[1 % cpus.len()]]
    }

    #[test]
    fn every_stream_ends_whatever_its_shape_also_with_both_ends_on_one_cpu() {
        let [a, b] = cpus();
        for cpus in [[a, b], [a, a]] {
            for (bytes, ring_bytes) in [(1, 1), (64, 4096), (4096, 4096), (100_000, 65536)] {
                for both in [false, true] {
                    let found = LineStream { cpus, bytes, ring_bytes, both }.line_ns(100_000);
                    assert!(found.iter().all(|ns| ns.is_finite() && *ns > 0.0), "{found:?}");
                }
            }
        }
    }

    #[test]
    fn a_reader_sees_what_the_writer_wrote() {
        let slots = StreamSlots::new(Item::of(100), 2);
        let (mut writer, mut reader) = slots.ends();
        assert!(!reader.step());
        assert!(writer.step() && writer.step() && !writer.step());
        assert!(reader.step() && reader.step() && !reader.step());
        assert!(writer.step());
        let words = slots.words.into_vec().into_iter().map(UnsafeCell::into_inner);
        assert_eq!(words.collect::<Vec<u64>>(), [[2; 16], [1; 16]].concat());
    }

    #[test]
    fn a_core_alone_has_a_price_too() {
        assert!(near_line_ns(cpus()[0], 4096, 100_000).iter().all(|ns| *ns > 0.0));
    }
}
