//! Messages of one line: sent where nothing else has to be thought of, and taken by one loop where they lie behind one
//! another and have their receives.
//!
//! (On an EPYC, us, as messages of several lines are and so, where something else uses its cores, too: 64 of 8 B under
//! way, each .088 and .069, and .139 and .126 while a line takes 300 ns; 8 B to and fro .120 and .107.)

use super::headers::header;
use super::{Engine, kind};
use crate::buffer::Buffer;
use crate::matching::Envelope;
use crate::ring::{INLINE, PieceHeader};

/// A whole message that lies in one line.
#[inline]
pub(super) fn is_one_line(header: PieceHeader) -> bool {
    header.kind() == kind::EAGER && header.length() as usize <= INLINE
}

impl Engine<'_> {
    /// Sends a message of at most `INLINE` bytes to another rank, if it may go out at once.
    #[inline(always)]
    pub(super) fn send_line(&mut self, to: usize, envelope: Envelope, buffer: &Buffer) -> bool {
        let out = &mut self.outgoing[to];
        if buffer.layout.is_some() || !out.has_nothing_queued() || !out.producer.fits_lines(1) {
            return false;
        }
        let data = match buffer.bytes {
            0 => &[],
            // SAFETY: `bytes` bytes of the user's data; only of none, the address may be anything.
            bytes => unsafe { std::slice::from_raw_parts(buffer.address, bytes) },
        };
        out.producer.put_line(header(kind::EAGER, envelope, buffer.bytes), data);
        self.take_ahead(to);
        self.wake(to);
        true
    }

    /// Takes messages of one line each from a rank that lie behind one another and have their receives, at most so
    /// many: how many.
    #[inline]
    pub(super) fn take_row(&mut self, from: usize, most: usize) -> usize {
        let Self { incoming, matching, transfers, aside, counters, .. } = self;
        let incoming = &mut incoming[from];
        if !incoming.is_between_messages() {
            return 0;
        }
        let (mut taken, mut bytes_received, mut told) = (0, 0, false);
        while taken < most
            && let Some(header) = incoming.consumer.peek()
            && is_one_line(header)
            && let envelope = Envelope::new(header.context(), header.source(), header.tag())
            && let Some(receive) = matching.take_posted(envelope)
        {
            if taken > 0 {
                incoming.consumer.fetch_ahead();
            }
            let bytes = header.length() as usize;
            // SAFETY: `peek` saw it, and it is consumed below.
            let piece = unsafe { incoming.consumer.data(bytes) };
            let transfer = transfers.at(receive);
            bytes_received += transfer.accept(envelope, bytes) as u64;
            match transfer.aside(piece, bytes) {
                Some(message) => aside.push((transfers.id(receive), message)),
                None => transfer.buffer.write_line(piece),
            }
            transfers.complete(receive);
            told |= incoming.consumer.consume(bytes);
            taken += 1;
        }
        if taken > 0 {
            incoming.is_short = true;
            counters.messages_received.add(taken as u64);
            counters.bytes_received.add(bytes_received);
            self.midway = None;
        }
        if told {
            self.told(from);
        }
        taken
    }
}
