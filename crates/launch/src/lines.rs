//! The output of ranks, line by line: a line of one rank is never torn by another's, nothing is lost, and nothing is
//! changed.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A longer line goes out in pieces.
const LONGEST_LINE: usize = 1 << 20;
/// Bytes read at once.
const PIECE: usize = 64 << 10;
/// Nothing more is read from ranks while so many bytes wait to be written.
const MOST_WAITING: usize = 256 << 10;

/// One of the launcher's own streams, where lines go.
pub(crate) struct Sink {
    file: File,
    /// Bytes that a write surely takes without waiting, once the stream is ready. Nothing: a write never waits, or
    /// fails instead of waiting.
    at_once: Option<usize>,
    waiting: Vec<u8>,
    written: usize,
    /// The last line lacks its end.
    unfinished: bool,
    failed: Option<io::Error>,
}

/// The state of a sink after a flush.
#[derive(Debug, PartialEq)]
pub(crate) enum Flushed {
    /// Everything is written.
    All,
    /// The reader is slow: wait until it takes more.
    Waiting,
    /// Nothing can be written any more; returned once.
    Failed(io::ErrorKind, String),
}

impl Sink {
    /// The stream of a descriptor (1 or 2), which stays open.
    pub(crate) fn new(fd: RawFd) -> Self {
        let (file, at_once) = unshared(fd);
        Self { file, at_once, waiting: Vec::new(), written: 0, unfinished: false, failed: None }
    }

    /// What to ask the kernel about.
    pub(crate) fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Whether ranks should hold back.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() - self.written >= MOST_WAITING
    }

    /// Whether something waits to be written.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.len() == self.written
    }

    /// Whole lines of a rank, or all that there is of its last one. Not a byte is added.
    pub(crate) fn put(&mut self, lines: &[u8]) {
        if self.failed.is_none() && !lines.is_empty() {
            self.waiting.extend_from_slice(lines);
            self.unfinished = lines.last() != Some(&b'\n');
        }
    }

    /// A line of the launcher itself; it begins on a new line.
    pub(crate) fn say(&mut self, line: &str) {
        if std::mem::take(&mut self.unfinished) {
            self.put(b"\n");
        }
        self.put(line.as_bytes());
    }

    /// Whether its reader has left.
    pub(crate) fn is_broken(&self) -> bool {
        self.failed.as_ref().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Writes what can be written without waiting.
    pub(crate) fn flush(&mut self) -> Flushed {
        while self.written < self.waiting.len() {
            if self.failed.is_some() {
                break;
            }
            let rest = &self.waiting[self.written..];
            let piece = match self.at_once {
                Some(bytes) if !takes(self.file.as_raw_fd()) => {
                    debug_assert!(bytes > 0);
                    return Flushed::Waiting;
                }
                Some(bytes) => &rest[..rest.len().min(bytes)],
                None => rest,
            };
            match self.file.write(piece) {
                Ok(bytes) => self.written += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Flushed::Waiting,
                Err(error) => {
                    let told = Flushed::Failed(error.kind(), error.to_string());
                    self.failed = Some(error);
                    self.forget();
                    return told;
                }
            }
        }
        self.forget();
        Flushed::All
    }

    fn forget(&mut self) {
        self.waiting.clear();
        self.written = 0;
    }
}

/// The stream, opened anew where that is possible, so that it does not become non-blocking for others that have it too
/// (a shell, the ranks).
fn unshared(fd: RawFd) -> (File, Option<usize>) {
    // SAFETY: a zeroed stat is valid; fstat fills it.
    let kind = unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        if libc::fstat(fd, &mut stat) == 0 { stat.st_mode & libc::S_IFMT } else { 0 }
    };
    if kind == libc::S_IFIFO || kind == libc::S_IFCHR {
        let path = std::ffi::CString::new(format!("/proc/self/fd/{fd}")).unwrap_or_default();
        let flags = libc::O_WRONLY | libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY;
        // SAFETY: a C string and flags.
        let raw = unsafe { libc::open(path.as_ptr(), flags) };
        if raw >= 0 {
            // SAFETY: just opened, owned by nobody else.
            return (unsafe { File::from_raw_fd(raw) }, None);
        }
    }
    // SAFETY: duplicates a descriptor; a file of its own owns the result. When even that fails, writes say so.
    let raw = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) };
    // SAFETY: as above; -1 is not a descriptor, hence the original.
    let file = unsafe { File::from_raw_fd(if raw >= 0 { raw } else { fd }) };
    // A pipe that is ready takes a page.
    (file, (kind != libc::S_IFREG).then_some(4096))
}

fn takes(fd: RawFd) -> bool {
    let mut poll = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one valid entry.
    unsafe { libc::poll(&mut poll, 1, 0) == 1 }
}

/// What a rank writes to one of its two streams.
pub(crate) struct Source {
    file: File,
    tag: String,
    /// The piece that went out last didn't end its line, which was too long to wait for.
    inside: bool,
    pending: Vec<u8>,
}

/// The result of reading a source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Got {
    /// Something; there may be more.
    Some,
    /// Nothing now.
    Nothing,
    /// Its end; its last output is in the sink.
    End,
}

impl Source {
    /// The reading end of a pipe; not blocking. With tags, `[rank] ` comes before every line.
    pub(crate) fn new(fd: OwnedFd, rank: usize, tags: bool) -> Self {
        let tag = if tags { format!("[{rank}] ") } else { String::new() };
        Self { file: fd.into(), tag, inside: false, pending: Vec::new() }
    }

    /// What to ask the kernel about.
    pub(crate) fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Reads a piece, and puts the lines that are complete into the sink.
    pub(crate) fn read(&mut self, sink: &mut Sink, scratch: &mut Vec<u8>) -> Got {
        scratch.resize(PIECE, 0);
        match self.file.read(scratch) {
            Ok(0) => {
                self.finish(sink);
                Got::End
            }
            Ok(bytes) => {
                self.take(&scratch[..bytes], sink);
                Got::Some
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Got::Some,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Got::Nothing,
            Err(_) => {
                self.finish(sink);
                Got::End
            }
        }
    }

    fn take(&mut self, bytes: &[u8], sink: &mut Sink) {
        let whole = match bytes.iter().rposition(|&byte| byte == b'\n') {
            Some(end) => end + 1,
            None if self.pending.len() + bytes.len() >= LONGEST_LINE => bytes.len(),
            None => 0,
        };
        if whole > 0 {
            if self.tag.is_empty() {
                if self.pending.is_empty() {
                    sink.put(&bytes[..whole]);
                } else {
                    self.pending.extend_from_slice(&bytes[..whole]);
                    sink.put(&self.pending);
                    self.pending.clear();
                }
            } else {
                self.pending.extend_from_slice(&bytes[..whole]);
                self.put_tagged(sink);
            }
        }
        self.pending.extend_from_slice(&bytes[whole..]);
    }

    fn put_tagged(&mut self, sink: &mut Sink) {
        for line in self.pending.split_inclusive(|&byte| byte == b'\n') {
            if !self.inside {
                sink.put(self.tag.as_bytes());
            }
            sink.put(line);
            self.inside = !line.ends_with(b"\n");
        }
        self.pending.clear();
    }

    /// Whether a line waits for its end.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.pending.is_empty()
    }

    /// A line that lacks its end goes out as it is; a tagged one gets an end, so that the next tag begins a line.
    pub(crate) fn finish(&mut self, sink: &mut Sink) {
        if self.tag.is_empty() {
            sink.put(&self.pending);
            self.pending.clear();
        } else if self.inside || !self.pending.is_empty() {
            self.pending.push(b'\n');
            self.put_tagged(sink);
        }
    }
}

/// A pipe: its reading end, which doesn't block, and its writing end; both close at exec.
///
/// # Errors
/// As the system's.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: two places.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, owned by nobody else; flags of the reading end's own description.
    unsafe {
        libc::fcntl(ends[0], libc::F_SETFL, libc::O_NONBLOCK);
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bench {
        sink: Sink,
        out: File,
    }

    /// A sink into a pipe that the test reads.
    fn bench() -> Bench {
        let (reader, writer) = pipe().unwrap();
        Bench { sink: Sink::new(writer.as_raw_fd()), out: reader.into() }
    }

    impl Bench {
        fn said(&mut self) -> Vec<u8> {
            let mut all = Vec::new();
            let mut scratch = [0; 4096];
            loop {
                let flushed = self.sink.flush();
                match self.out.read(&mut scratch) {
                    Ok(bytes) if bytes > 0 => all.extend_from_slice(&scratch[..bytes]),
                    _ if flushed == Flushed::Waiting => {}
                    _ => return all,
                }
            }
        }
    }

    fn rank(rank: usize, tags: bool) -> (Source, File) {
        let (reader, writer) = pipe().unwrap();
        (Source::new(reader, rank, tags), writer.into())
    }

    /// What comes out of a rank that writes these bytes and ends; they are more than fit into a pipe.
    fn passed_on((mut source, mut writer): (Source, File), bytes: &[u8]) -> Vec<u8> {
        let (mut bench, mut said) = (bench(), Vec::new());
        std::thread::scope(|scope| {
            scope.spawn(move || writer.write_all(bytes).unwrap());
            while source.read(&mut bench.sink, &mut Vec::new()) != Got::End {
                said.extend(bench.said());
            }
        });
        said.extend(bench.said());
        said
    }

    #[test]
    fn a_line_waits_for_its_end_and_the_last_one_does_not() {
        let mut bench = bench();
        let mut scratch = Vec::new();
        let (mut zero, mut to_zero) = rank(0, false);
        let (mut one, mut to_one) = rank(1, false);
        to_zero.write_all(b"half a ").unwrap();
        to_one.write_all(b"whole\npart").unwrap();
        zero.read(&mut bench.sink, &mut scratch);
        one.read(&mut bench.sink, &mut scratch);
        assert_eq!(bench.said(), b"whole\n");
        to_zero.write_all(b"line\n").unwrap();
        zero.read(&mut bench.sink, &mut scratch);
        assert_eq!(bench.said(), b"half a line\n");
        drop(to_one);
        assert_eq!(one.read(&mut bench.sink, &mut scratch), Got::End);
        drop(to_zero);
        zero.read(&mut bench.sink, &mut scratch);
        assert_eq!(bench.said(), b"part");
        bench.sink.say("the launcher's\n");
        assert_eq!(bench.said(), b"\nthe launcher's\n");
    }

    #[test]
    fn tags_come_before_every_line() {
        let mut bench = bench();
        let (mut source, mut writer) = rank(12, true);
        writer.write_all(b"a\n\nb").unwrap();
        drop(writer);
        while source.read(&mut bench.sink, &mut Vec::new()) != Got::End {}
        assert_eq!(bench.said(), b"[12] a\n[12] \n[12] b\n");
    }

    #[test]
    fn a_line_that_is_too_long_to_wait_for_has_one_tag() {
        let mut bytes = vec![b'x'; 2 * LONGEST_LINE];
        bytes.extend_from_slice(b"\nend");
        let said = passed_on(rank(3, true), &bytes);
        let expected = [b"[3] ", &bytes[..=2 * LONGEST_LINE], b"[3] end\n"].concat();
        assert!(said == expected, "{} bytes of {}", said.len(), expected.len());
    }

    #[test]
    fn a_long_line_of_any_bytes_comes_out_as_it_went_in() {
        let bytes: Vec<u8> =
            (0..3 * LONGEST_LINE).map(|i| (i * 7 % 251) as u8).map(|b| if b == 10 { 0 } else { b }).collect();
        let said = passed_on(rank(0, false), &bytes);
        assert!(said == bytes, "{} bytes of {}", said.len(), bytes.len());
    }
}
