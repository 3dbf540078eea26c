//! Carrying the output of ranks to the launcher's own streams.

use super::{FRONT, INDEX, MS, OUTPUT, SINK, Supervisor};
use crate::lines::{Flushed, Got, Source};
use crate::poll::{NOTHING, READABLE, WRITABLE_ONCE};
use host::clock::kernel_ns;
use std::io;
use std::os::fd::AsRawFd;

/// A line of rank 0 that doesn't end goes out after so long when a person sits at the terminal: it is a question.
const PROMPT_NS: u64 = 50 * MS;
/// What a reader of the output gets to read on, once somebody asked the job to end.
const READER_NS: u64 = 500 * MS;

impl Supervisor {
    pub(super) fn say(&mut self, line: &str) {
        self.sinks[1].say(&format!("cellrun: {line}\n"));
        self.flush(1);
    }

    /// Reads what ranks wrote to one of their two streams.
    pub(super) fn carry(&mut self, stream: usize) {
        for rank in self.outputs[stream].wait(Some(0)) {
            if let Some(source) = self.sources[stream].get_mut(&rank)
                && source.read(&mut self.sinks[stream], &mut self.scratch) == Got::End
            {
                self.outputs[stream].forget(source.fd());
                self.sources[stream].remove(&rank);
            }
        }
        let asks = self.sources[stream].get(&0).is_some_and(Source::is_waiting);
        if asks && self.terminal_group.is_some() && !self.job.options.tags {
            self.prompt_at_ns = Some(kernel_ns() + PROMPT_NS);
        }
        self.flush(stream);
    }

    pub(super) fn flush(&mut self, stream: usize) {
        match self.sinks[stream].flush() {
            Flushed::All => {}
            Flushed::Waiting => self.poll.watch(self.sinks[stream].fd(), WRITABLE_ONCE, SINK | stream as u64),
            Flushed::Failed(kind, error) => self.lost(stream, kind, &error),
        }
        let events = if self.sinks[stream].is_full() { NOTHING } else { READABLE };
        self.poll.watch(self.outputs[stream].fd(), events, OUTPUT | stream as u64);
    }

    /// One of the launcher's own streams takes nothing more.
    pub(super) fn lost(&mut self, stream: usize, kind: io::ErrorKind, error: &str) {
        if kind == io::ErrorKind::BrokenPipe {
            // Its reader has left: ranks find that out by themselves, as if it were their own.
            self.sources[stream].clear();
            return;
        }
        let name = ["standard output", "standard error"][stream];
        if self.code == 0 {
            self.code = 1;
        }
        if stream == 0 {
            self.say(&format!("the {name} of ranks is lost from here on: {error}"));
        }
    }

    /// Carries what ranks said last, until it is written, the front has gone, or somebody who asked the job to end would have
    /// to wait for a reader that doesn't read.
    pub(super) fn drain(&mut self) {
        for stream in 0..2 {
            while !self.sinks[stream].is_empty() || !self.sources[stream].is_empty() {
                let more = !self.sinks[stream].is_full() && !self.outputs[stream].wait(Some(0)).is_empty();
                if more {
                    self.carry(stream);
                } else if self.sinks[stream].is_empty() {
                    // Whoever still has these pipes couldn't be killed.
                    for (_, mut source) in std::mem::take(&mut self.sources[stream]) {
                        source.finish(&mut self.sinks[stream]);
                    }
                    self.flush(stream);
                } else if !self.wait_for_sink(stream) {
                    return;
                }
            }
        }
    }

    /// Waits until a sink takes more; false when it isn't worth waiting for.
    fn wait_for_sink(&mut self, stream: usize) -> bool {
        for output in &self.outputs {
            self.poll.forget(output.fd());
        }
        self.poll.forget(self.child_signals.as_raw_fd());
        self.listener = None;
        self.connections.clear();
        let patience_ns = (self.asked_to_end > 0).then_some(READER_NS);
        let events = self.poll.wait(patience_ns);
        for number in &events {
            if number & !INDEX == FRONT {
                self.hear_front();
            }
        }
        self.flush(stream);
        !self.front_gone && !events.is_empty()
    }
}
