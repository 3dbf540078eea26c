//! Passes the output of ranks on to the launcher's own streams.

use super::{FRONT, INDEX, MS, OUTPUT, SINK, Supervisor};
use crate::lines::{Flushed, Got, Source};
use crate::poll::{NOTHING, READABLE, WRITABLE_ONCE};
use host::clock::kernel_ns;
use std::io;
use std::os::fd::AsRawFd;

/// At a terminal, an unfinished line of the rank that reads goes out after so long: it may be a question.
const PROMPT_NS: u64 = 50 * MS;
/// Time for a slow reader of the output, once the job was asked to end.
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
        let reader = self.job.options.reader.rank();
        let asks =
            reader.and_then(|rank| self.sources[stream].get(&(rank as u64))).is_some_and(Source::is_waiting);
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
            // Its reader has left: ranks find that out as if the stream were their own.
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

    /// Passes on the last output of ranks, until it is written, the front has ended, or the job was asked to end and
    /// the reader does not read.
    pub(super) fn drain(&mut self) {
        for stream in 0..2 {
            while !self.sinks[stream].is_empty() || !self.sources[stream].is_empty() {
                let more = !self.sinks[stream].is_full() && !self.outputs[stream].wait(Some(0)).is_empty();
                if more {
                    self.carry(stream);
                } else if self.sinks[stream].is_empty() {
                    // The processes that still have these pipes could not be killed.
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
