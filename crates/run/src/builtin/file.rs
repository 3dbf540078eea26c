//! Raw bytes from and to files, pipes, stdin and stdout.

use crate::kernel::{Batch, Failed, Fired, Kernel, Opened, PortSpec, Rescue, TaskInfo};
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek, SeekFrom, Write as _};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, TryLockError};

/// What is written at once.
const CHUNK_BYTES: usize = 256 * 1024;
/// How long a source waits for a pipe before it says that it has nothing right now.
const POLL_MS: i32 = 10;

/// The path that a file kernel was given, from `folder` on; `None` = stdin or stdout.
pub(super) fn path_of(info: &TaskInfo, folder: Option<&Path>) -> Result<Option<PathBuf>, String> {
    match info.text("path")? {
        None => Err("it needs the parameter 'path' (a file, or '-')".into()),
        Some("-") => Ok(None),
        Some(path) => Ok(Some(folder.map_or_else(|| path.into(), |f| f.join(path)))),
    }
}

/// An input that may be a pipe: reading never waits long.
pub(super) struct InputFile {
    file: File,
    pub name: String,
    regular: bool,
}

impl InputFile {
    pub(super) fn open(path: Option<PathBuf>) -> Result<InputFile, String> {
        let (file, name) = match path {
            None => duplicate(io::stdin(), "stdin")?,
            Some(path) => {
                let file =
                    File::open(&path).map_err(|why| format!("cannot read '{}': {why}", path.display()))?;
                (file, format!("'{}'", path.display()))
            }
        };
        let kind = file.metadata().map_err(|why| format!("cannot read {name}: {why}"))?;
        if kind.is_dir() {
            return Err(format!("cannot read {name}: it is a folder"));
        }
        Ok(InputFile { file, name, regular: kind.is_file() })
    }

    /// Bytes read; `None` when a pipe has nothing right now.
    pub(super) fn read(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            if !self.regular {
                let mut poll = libc::pollfd { fd: self.file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
                // SAFETY: one valid pollfd.
                match unsafe { libc::poll(&mut poll, 1, POLL_MS) } {
                    0 => return Ok(None),
                    n if n < 0 => match io::Error::last_os_error() {
                        e if e.kind() == ErrorKind::Interrupted => return Ok(None),
                        e => return Err(e),
                    },
                    _ => {}
                }
            }
            match self.file.read(into) {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(None),
                other => return other.map(Some),
            }
        }
    }

    pub(super) fn rewind(&mut self) -> Result<(), String> {
        self.file
            .seek(SeekFrom::Start(0))
            .map(|_| ())
            .map_err(|why| format!("cannot read {} again: {why}", self.name))
    }
}

/// A copy of a descriptor: closing it leaves stdin or stdout open.
fn duplicate(stream: impl AsFd, name: &str) -> Result<(File, String), String> {
    let copy = stream.as_fd().try_clone_to_owned().map_err(|why| format!("{name} is not open: {why}"))?;
    Ok((File::from(copy), name.to_string()))
}

/// A buffered output that the main thread can flush when the worker hangs.
pub(super) struct OutputFile {
    file: File,
    pub name: String,
    buffer: Vec<u8>,
    pub written: u64,
    broken: Option<String>,
}

impl OutputFile {
    pub(super) fn create(path: Option<PathBuf>) -> Result<OutputFile, String> {
        let (file, name) = match path {
            None => duplicate(io::stdout(), "stdout")?,
            Some(path) => {
                let file =
                    File::create(&path).map_err(|why| format!("cannot write '{}': {why}", path.display()))?;
                (file, format!("'{}'", path.display()))
            }
        };
        Ok(OutputFile { file, name, buffer: Vec::with_capacity(CHUNK_BYTES), written: 0, broken: None })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        if self.buffer.len() + bytes.len() > CHUNK_BYTES {
            self.flush()?;
        }
        if bytes.len() >= CHUNK_BYTES {
            return self.put(|file| file.write_all(bytes)).inspect(|()| self.written += bytes.len() as u64);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), String> {
        // What cannot be written now cannot be written later: say it once, keep what is there.
        let buffer = std::mem::take(&mut self.buffer);
        let done = if buffer.is_empty() { Ok(()) } else { self.put(|file| file.write_all(&buffer)) };
        if done.is_ok() {
            self.written += buffer.len() as u64;
        }
        self.buffer = buffer;
        self.buffer.clear();
        done
    }

    /// Whether a write failed, which was told then.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Overwrites bytes at `at`, and goes on at the end; nothing where the output cannot be rewound.
    pub(super) fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<(), String> {
        self.flush()?;
        let end = match self
            .file
            .stream_position()
            .and_then(|end| self.file.seek(SeekFrom::Start(at)).map(|_| end))
        {
            Ok(end) => end,
            Err(_) => return Ok(()),
        };
        self.put(|file| file.write_all(bytes))?;
        self.put(|file| file.seek(SeekFrom::Start(end)).map(|_| ()))
    }

    fn put(&mut self, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), String> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        write(&mut self.file).map_err(|why| {
            let text = format!("cannot write {}: {why}", self.name);
            self.broken = Some(text.clone());
            text
        })
    }
}

/// An output that worker and main thread share; the lock is the worker's alone while it lives.
pub(super) type SharedOutput = Arc<Mutex<Option<OutputFile>>>;

/// Flushes through the lock, unless the worker hangs inside it.
pub(super) struct Flusher(pub SharedOutput);

impl Rescue for Flusher {
    fn flush(&self) -> Result<(), String> {
        match self.0.try_lock() {
            Ok(mut output) => output.as_mut().map_or(Ok(()), OutputFile::flush),
            Err(TryLockError::Poisoned(e)) => e.into_inner().as_mut().map_or(Ok(()), OutputFile::flush),
            Err(TryLockError::WouldBlock) => {
                Err("a sink hangs while it writes; its last bytes are lost".into())
            }
        }
    }
}

struct ReadKernel {
    input: InputFile,
    /// The start of an instance whose rest has not come yet.
    carry: Vec<u8>,
    again_from_start: bool,
}

impl Kernel for ReadKernel {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        let mut output = batch.output::<u8>(0)?;
        let (bytes, whole) = (output.each(), output.together());
        let mut filled = self.carry.len();
        whole[..filled].copy_from_slice(&self.carry);
        self.carry.clear();
        let mut rewound = false;
        while filled < whole.len() {
            match self.input.read(&mut whole[filled..]) {
                Ok(Some(0)) if self.again_from_start && !rewound => {
                    rewound = true;
                    if let Err(why) = self.input.rewind() {
                        return Err(Failed::at((filled / bytes) as u64, why));
                    }
                }
                Ok(Some(0)) => {
                    let firings = filled.div_ceil(bytes);
                    whole[filled..firings * bytes].fill(0);
                    return Ok(Fired::End(firings as u64));
                }
                Ok(Some(n)) => {
                    filled += n;
                    rewound = false;
                }
                Ok(None) => {
                    let firings = filled / bytes;
                    self.carry.extend_from_slice(&whole[firings * bytes..filled]);
                    return Ok(Fired::Again(firings as u64));
                }
                Err(why) => {
                    let why = format!("cannot read {}: {why}", self.input.name);
                    return Err(Failed::at((filled / bytes) as u64, why));
                }
            }
        }
        Ok(Fired::All)
    }
}

pub(super) fn read(folder: Option<PathBuf>) -> Opened {
    Opened::from_rust(vec![], vec![PortSpec::any("out")], move |info| {
        info.only(&["path", "loop"])?;
        let input = InputFile::open(path_of(info, folder.as_deref())?)?;
        let again_from_start = info.number("loop")?.unwrap_or(0.0) != 0.0;
        Ok(Box::new(ReadKernel {
            input,
            carry: Vec::with_capacity(info.outputs[0].bytes as usize),
            again_from_start,
        }))
    })
}

struct WriteKernel {
    output: SharedOutput,
    left: u64,
}

impl Kernel for WriteKernel {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        let bytes = batch.input::<u8>(0)?.together();
        let bytes = &bytes[..(bytes.len() as u64).min(self.left) as usize];
        self.left -= bytes.len() as u64;
        let mut output = self.output.lock().unwrap_or_else(|e| e.into_inner());
        output.as_mut().map_or(Ok(()), |o| o.write(bytes))?;
        Ok(Fired::All)
    }

    fn finish(&mut self) -> Result<(), String> {
        let output = self.output.lock().unwrap_or_else(|e| e.into_inner()).take();
        match output {
            // A failure to write was told when it happened.
            Some(mut output) if !output.is_broken() => output.flush(),
            _ => Ok(()),
        }
    }
}

pub(super) fn write(folder: Option<PathBuf>) -> Opened {
    let output: SharedOutput = Arc::default();
    let theirs = output.clone();
    Opened::from_rust(vec![PortSpec::any("in")], vec![], move |info| {
        info.only(&["path", "bytes"])?;
        let left = info.integer("bytes", 0, 1 << 53)?.unwrap_or(u64::MAX);
        *theirs.lock().unwrap_or_else(|e| e.into_inner()) =
            Some(OutputFile::create(path_of(info, folder.as_deref())?)?);
        Ok(Box::new(WriteKernel { output: theirs, left }))
    })
    .with_rescue(Arc::new(Flusher(output)))
}
