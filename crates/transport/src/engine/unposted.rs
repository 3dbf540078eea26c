//! Receives of short messages that come at once, which are never posted.
//!
//! Nothing has to be posted, found, completed and taken. (Two ranks to and fro on an EPYC, by turns of blocks in one
//! run, us, posted and so: 8 B .131 and .103, and .281 and .249 while a line takes 200 ns.)

use super::{Completion, Engine, TIGHT, kind};
use crate::buffer::Buffer;
use crate::landing::Landing;
use crate::matching::{Criteria, Envelope};
use crate::ring::INLINE;

/// A rank looks so often for a message before its receive is posted. A choice.
const LOOKS: u32 = 8 * TIGHT;

impl Engine<'_> {
    /// Receives the next message from another rank of the job, where that is a short one that meets just these criteria
    /// and comes at once. Nothing: it is to be received as others are.
    ///
    /// It is looked for where the last one was short: the receive of a longer one is best posted while it is under way.
    #[inline]
    pub fn receive_unposted(
        &mut self,
        criteria: Criteria,
        from: usize,
        buffer: &Buffer,
    ) -> Option<Completion> {
        if !self.incoming[from].expects_short() || self.matching.has_any() || self.has_to_move() {
            return None;
        }
        let header = (0..LOOKS).find_map(|look| {
            if look > 0 {
                std::hint::spin_loop();
            }
            self.incoming[from].consumer.peek()
        })?;
        let bytes = header.length() as usize;
        let envelope = Envelope::new(header.context(), header.source(), header.tag());
        let is_it = header.kind() == kind::EAGER && envelope.key(0) == criteria.key();
        if !is_it || bytes > INLINE.min(buffer.bytes) || buffer.layout.is_some() {
            return None;
        }
        self.outgoing[from].producer.expect_answer();
        // SAFETY: `peek` saw it, and it is consumed below.
        buffer.land(Landing::InCaches, 0, unsafe { self.incoming[from].consumer.data(bytes) });
        self.counters.messages_received.add(1);
        self.counters.bytes_received.add(bytes as u64);
        if self.incoming[from].consumer.consume(bytes) {
            self.told(from);
        }
        let (source, tag) = (i32::from(envelope.source()), envelope.tag());
        Some(Completion { source, tag, bytes, lost: 0, cancelled: false })
    }
}
