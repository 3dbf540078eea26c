//! Messages in a row to one rank, too small to be asked about first, while none of that size comes back: a stream.
//!
//! Through the pool, both ranks copy each of them. Announced, the receiver copies them alone, by the kernel, several in
//! one call (`rendezvous`), and the sender does something else. No way is the faster one everywhere, so both have their
//! turns, and what counts is the time that so many messages take. (64 under way on a Xeon, us for each, by turns of
//! processes, through the pool, by the kernel one by one and several at once: 16 kB 1.36, 1.45 and 1.16; 32 kB 2.68,
//! 2.81 and 2.41.)

use super::decisions::Decisions;
use super::{Engine, Mode};
use crate::buffer::Buffer;
use host::clock::kernel_ns;

/// So many messages in a row have one answer, and their time is a cycle. A choice: more than go out at once.
const ROW: u32 = 64;

/// What this rank knows of its streams to another one.
#[derive(Default)]
pub(super) struct OutgoingStream {
    /// Bytes of the row so far, and how many messages are left of it.
    bytes: usize,
    left: u32,
    by_kernel: bool,
    decisions: Option<Box<Decisions>>,
}

impl OutgoingStream {
    /// Whether the kernel is to copy the next message of so many bytes, now.
    fn by_kernel(&mut self, bytes: usize, now_ns: impl FnOnce() -> u64) -> bool {
        if self.left == 0 {
            // A message of the row before, if there was one.
            let usual = if self.bytes > 0 { self.bytes / ROW as usize } else { bytes };
            let decisions = self.decisions.get_or_insert_default();
            self.by_kernel = decisions.answer(usual, Ok(false), now_ns());
            (self.bytes, self.left) = (0, ROW);
        }
        self.bytes += bytes;
        self.left -= 1;
        self.by_kernel
    }
}

#[cfg(all(test, not(loom)))]
impl OutgoingStream {
    /// A row begins, of which the kernel copies all or nothing.
    pub(super) fn set_by_kernel(&mut self, by_kernel: bool) {
        (self.left, self.by_kernel) = (ROW, by_kernel);
    }
}

impl Engine<'_> {
    /// Whether a message that is not large goes to a rank in a stream of which the kernel copies this part.
    #[inline]
    pub(super) fn streams_by_kernel(&mut self, to: usize, buffer: &Buffer, mode: Mode) -> bool {
        let bytes = buffer.bytes;
        if mode != Mode::Standard || !self.sharing.crossing[to].is_stream(bytes) {
            return false;
        }
        let may_copy = buffer.is_contiguous()
            && !self.crowded()
            && self.copy_from != usize::MAX
            && !self.segment().header().costs.kernel_fails(bytes);
        may_copy && self.sharing.streams[to].by_kernel(bytes, kernel_ns)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const BYTES: usize = 20_000;

    /// How many of so many messages the kernel copies, where one takes so long through the pool and by the kernel.
    fn by_kernel(stream: &mut OutgoingStream, messages: usize, now_ns: &mut u64, took_ns: [u64; 2]) -> usize {
        let answers = (0..messages).map(|_| {
            let by_kernel = stream.by_kernel(BYTES, || *now_ns);
            *now_ns += took_ns[usize::from(by_kernel)];
            by_kernel
        });
        answers.filter(|&by_kernel| by_kernel).count()
    }

    #[test]
    fn the_kernel_copies_streams_from_its_first_turn_on_where_that_takes_less_time() {
        let row = ROW as usize;
        for (took_ns, fewest, most) in [([1500, 1200], 200 * row, 240 * row), ([1500, 1500], 1, 30 * row)] {
            let (mut stream, mut now_ns) = (OutgoingStream::default(), 0);
            assert_eq!(by_kernel(&mut stream, 64 * row, &mut now_ns, took_ns), 0, "before the first turn");
            let messages = by_kernel(&mut stream, 236 * row, &mut now_ns, took_ns);
            assert!((fewest..most).contains(&messages), "{took_ns:?}: {messages}");
        }
    }

    #[test]
    fn all_messages_of_a_row_have_one_answer_and_may_differ_in_size() {
        let (mut stream, mut now_ns, mut last) = (OutgoingStream::default(), 0, false);
        let mut by_kernel = 0;
        for number in 0..300 * ROW {
            let bytes = if number % ROW == 0 { BYTES } else { 2 * BYTES };
            let answer = stream.by_kernel(bytes, || now_ns);
            assert!(answer == last || number % ROW == 0, "{number}");
            last = answer;
            by_kernel += u32::from(answer);
            now_ns += bytes as u64 / if answer { 20 } else { 10 };
        }
        assert!(by_kernel > 200 * ROW, "{by_kernel}");
        let decisions = stream.decisions.as_deref().expect("some answers");
        assert_eq!([2, 4].map(|more| decisions.of_smaller(more * BYTES)), [None, Some(true)]);
    }
}
