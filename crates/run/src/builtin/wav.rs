//! WAV files as a source and a sink of f32 frames.
//!
//! Read: PCM of 16, 24 and 32 bits and float of 32 bits, mono or more channels, plain or extensible; chunks that are
//! not needed are skipped. An instance is `bytes / (4 * channels)` frames of interleaved f32, integers scaled to [-1,
//! 1).

use super::file::{Flusher, InputFile, OutputFile, SharedOutput, path_of};
use crate::kernel::{Batch, Failed, Fired, Kernel, Opened, PortSpec, TaskInfo};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a sample lies in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleFormat {
    /// 16-bit integer.
    I16,
    /// 24-bit integer.
    I24,
    /// 32-bit integer.
    I32,
    /// 32-bit float.
    F32,
}

impl SampleFormat {
    /// Bytes of a sample.
    pub fn bytes(self) -> usize {
        match self {
            SampleFormat::I16 => 2,
            SampleFormat::I24 => 3,
            SampleFormat::I32 | SampleFormat::F32 => 4,
        }
    }

    fn from_name(name: &str) -> Result<SampleFormat, String> {
        match name {
            "i16" => Ok(SampleFormat::I16),
            "i24" => Ok(SampleFormat::I24),
            "i32" => Ok(SampleFormat::I32),
            "f32" => Ok(SampleFormat::F32),
            other => Err(format!("the parameter 'format' is '{other}'; it must be i16, i24, i32 or f32")),
        }
    }

    /// A sample as f32; integers scaled to [-1, 1).
    fn decode(self, b: &[u8]) -> f32 {
        match self {
            SampleFormat::I16 => f32::from(i16::from_le_bytes([b[0], b[1]])) / 32_768.0,
            SampleFormat::I24 => (i32::from_le_bytes([0, b[0], b[1], b[2]]) >> 8) as f32 / 8_388_608.0,
            SampleFormat::I32 => {
                (f64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]])) / 2_147_483_648.0) as f32
            }
            SampleFormat::F32 => f32::from_le_bytes([b[0], b[1], b[2], b[3]]),
        }
    }

    /// The nearest sample; integers stop at their ends, and what is no number becomes 0.
    fn encode(self, x: f32, into: &mut Vec<u8>) {
        let scaled = |full: f64| (f64::from(x) * full).round().clamp(-full, full - 1.0) as i32;
        match self {
            SampleFormat::I16 => into.extend((scaled(32_768.0) as i16).to_le_bytes()),
            SampleFormat::I24 => into.extend(&scaled(8_388_608.0).to_le_bytes()[..3]),
            SampleFormat::I32 => into.extend(scaled(2_147_483_648.0).to_le_bytes()),
            SampleFormat::F32 => into.extend(x.to_le_bytes()),
        }
    }
}

/// What a WAV file's head says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WavHead {
    /// Of a sample.
    pub format: SampleFormat,
    /// Samples per frame.
    pub channels: u16,
    /// Frames per second.
    pub rate: u32,
    /// Where the samples start.
    pub data_at: u64,
    /// Bytes of samples; `u64::MAX` where the head does not know: up to the end.
    pub data_bytes: u64,
}

/// Bytes of chunks before the samples that are skipped; more is no WAV file of this world.
const SKIP_MAX: u64 = 1 << 30;

impl WavHead {
    /// Reads the head; `read` fills a buffer as far as there are bytes and says how far that was.
    ///
    /// # Errors
    /// A sentence: what was found and what can be read.
    pub fn read(mut read: impl FnMut(&mut [u8]) -> Result<usize, String>) -> Result<WavHead, String> {
        let mut at = 0u64;
        let mut exactly = |into: &mut [u8], what: &str| -> Result<(), String> {
            let n = read(into)?;
            if n < into.len() {
                return Err(format!("it ends at byte {}, inside {what}", at + n as u64));
            }
            at += n as u64;
            Ok(())
        };
        let mut riff = [0; 12];
        exactly(&mut riff, "the RIFF head")?;
        if &riff[..4] != b"RIFF" || &riff[8..] != b"WAVE" {
            return Err("it is no WAV file (no RIFF .. WAVE at the start)".into());
        }
        let mut format = None;
        let mut skipped = 0u64;
        loop {
            let mut chunk = [0; 8];
            let missing = if format.is_some() {
                "the chunks: there is no 'data'"
            } else {
                "the chunks: there is no 'fmt '"
            };
            exactly(&mut chunk, missing)?;
            let bytes = u64::from(u32::from_le_bytes([chunk[4], chunk[5], chunk[6], chunk[7]]));
            match &chunk[..4] {
                b"fmt " => {
                    if !(16..=64).contains(&bytes) {
                        return Err(format!("its 'fmt ' chunk has {bytes} bytes; 16, 18 or 40 are usual"));
                    }
                    let mut body = vec![0; bytes as usize + bytes as usize % 2];
                    exactly(&mut body, "the 'fmt ' chunk")?;
                    format = Some(WavHead::format(&body)?);
                }
                b"data" => {
                    let (format, channels, rate) = format.ok_or("its samples come before 'fmt '")?;
                    let frame = format.bytes() as u64 * u64::from(channels);
                    // A writer to a pipe does not know the length.
                    let data_bytes =
                        if bytes >= u64::from(u32::MAX) - 64 { u64::MAX } else { bytes / frame * frame };
                    return Ok(WavHead { format, channels, rate, data_at: at, data_bytes });
                }
                _ => {
                    let mut left = bytes + bytes % 2;
                    skipped += left;
                    if skipped > SKIP_MAX {
                        return Err("the chunks before its samples are longer than 1 GB".into());
                    }
                    let mut dump = [0; 512];
                    while left > 0 {
                        let n = left.min(dump.len() as u64) as usize;
                        exactly(&mut dump[..n], "a chunk")?;
                        left -= n as u64;
                    }
                }
            }
        }
    }

    fn format(body: &[u8]) -> Result<(SampleFormat, u16, u32), String> {
        let u16_at = |i: usize| u16::from_le_bytes([body[i], body[i + 1]]);
        let (mut tag, channels, bits) = (u16_at(0), u16_at(2), u16_at(14));
        let rate = u32::from_le_bytes([body[4], body[5], body[6], body[7]]);
        const EXTENSIBLE: u16 = 0xFFFE;
        if tag == EXTENSIBLE && body.len() >= 26 {
            tag = u16_at(24);
        }
        let format = match (tag, bits) {
            (1, 16) => SampleFormat::I16,
            (1, 24) => SampleFormat::I24,
            (1, 32) => SampleFormat::I32,
            (3, 32) => SampleFormat::F32,
            _ => {
                return Err(format!(
                    "its samples are of format {tag} with {bits} bits; it must be PCM (1) of 16, 24 or 32 bits or \
                     float (3) of 32"
                ));
            }
        };
        match (channels, rate) {
            (0, _) => Err("it has 0 channels".into()),
            (_, 0) => Err("its rate is 0".into()),
            _ => Ok((format, channels, rate)),
        }
    }

    /// The 44 bytes before the samples, for a file of `data_bytes` bytes of them.
    pub fn to_bytes(&self, data_bytes: u64) -> Vec<u8> {
        let frame = self.format.bytes() as u32 * u32::from(self.channels);
        let size = |n: u64| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
        let tag: u16 = if self.format == SampleFormat::F32 { 3 } else { 1 };
        let mut head = Vec::with_capacity(44);
        head.extend(b"RIFF");
        head.extend(size(data_bytes.saturating_add(36 + data_bytes % 2)));
        head.extend(b"WAVEfmt ");
        head.extend(16u32.to_le_bytes());
        head.extend(tag.to_le_bytes());
        head.extend(self.channels.to_le_bytes());
        head.extend(self.rate.to_le_bytes());
        head.extend(self.rate.saturating_mul(frame).to_le_bytes());
        head.extend((frame as u16).to_le_bytes());
        head.extend((self.format.bytes() as u16 * 8).to_le_bytes());
        head.extend(b"data");
        head.extend(size(data_bytes));
        head
    }
}

/// The head of a WAV file, for a planner or a player.
///
/// # Errors
/// A sentence with the file's name.
pub fn head_of(path: &Path) -> Result<WavHead, String> {
    let mut input = InputFile::open(Some(path.to_path_buf()))?;
    let head = WavHead::read(|into| read_fully(&mut input, into));
    head.map_err(|why| format!("cannot read {}: {why}", input.name))
}

/// Reads until the buffer is full or the input ends; waits for pipes.
fn read_fully(input: &mut InputFile, into: &mut [u8]) -> Result<usize, String> {
    let mut filled = 0;
    while filled < into.len() {
        match input.read(&mut into[filled..]) {
            Ok(Some(0)) => break,
            Ok(Some(n)) => filled += n,
            Ok(None) => {}
            Err(why) => return Err(why.to_string()),
        }
    }
    Ok(filled)
}

fn frames(bytes: u64, channels: u16) -> Result<usize, String> {
    let frame = 4 * u64::from(channels);
    if !bytes.is_multiple_of(frame) {
        return Err(format!(
            "an instance of {bytes} bytes is no whole number of frames of {channels} f32 ({frame} bytes)"
        ));
    }
    Ok((bytes / frame) as usize)
}

struct WavReader {
    input: InputFile,
    head: WavHead,
    /// Channels that it gives.
    channels: u16,
    left: u64,
    raw: Vec<u8>,
}

impl Kernel for WavReader {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        let sample = self.head.format.bytes();
        let (of_file, given) = (usize::from(self.head.channels), usize::from(self.channels));
        let mut output = batch.output::<f32>(0)?;
        for j in 0..batch.firings() {
            let out = &mut output[j];
            let frames = out.len() / given;
            let wanted = ((frames * of_file * sample) as u64).min(self.left) as usize;
            self.raw.resize(wanted, 0);
            let got = match read_fully(&mut self.input, &mut self.raw) {
                Ok(got) => got / (of_file * sample) * (of_file * sample),
                Err(why) => return Err(Failed::at(j, format!("cannot read {}: {why}", self.input.name))),
            };
            self.left -= got as u64;
            if got == 0 {
                return Ok(Fired::End(j));
            }
            for (f, frame) in out.chunks_exact_mut(given).enumerate() {
                let at = f * of_file * sample;
                let Some(raw) = self.raw[..got].get(at..at + of_file * sample) else {
                    frame.fill(0.0);
                    continue;
                };
                let decode = |c: usize| self.head.format.decode(&raw[c * sample..]);
                match (of_file, given) {
                    (a, b) if a == b => frame.iter_mut().enumerate().for_each(|(c, x)| *x = decode(c)),
                    (_, 1) => frame[0] = (0..of_file).map(decode).sum::<f32>() / of_file as f32,
                    _ => frame.fill(decode(0)),
                }
            }
            if got < wanted || self.left == 0 {
                return Ok(Fired::End(j + 1));
            }
        }
        Ok(Fired::All)
    }
}

pub(super) fn read(folder: Option<PathBuf>) -> Opened {
    Opened::from_rust(vec![], vec![PortSpec { dtype: "f32".into(), ..PortSpec::any("out") }], move |info| {
        info.only(&["path", "channels"])?;
        let mut input = InputFile::open(path_of(info, folder.as_deref())?)?;
        let head = WavHead::read(|into| read_fully(&mut input, into));
        let head = head.map_err(|why| format!("cannot read {}: {why}", input.name))?;
        let channels = info.integer("channels", 1, 64)?.map_or(head.channels, |c| c as u16);
        if channels != head.channels && channels != 1 && head.channels != 1 {
            return Err(format!(
                "{} has {} channels; 'channels' can make that 1 (their mean), not {channels}",
                input.name, head.channels
            ));
        }
        frames(info.outputs[0].bytes, channels)?;
        Ok(Box::new(WavReader { input, head, channels, left: head.data_bytes, raw: Vec::new() }))
    })
    .blocking()
}

struct WavWriter {
    output: SharedOutput,
    head: WavHead,
    /// Samples that are still taken.
    left: u64,
    written_bytes: u64,
    raw: Vec<u8>,
}

impl Kernel for WavWriter {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        self.raw.clear();
        let samples = batch.input::<f32>(0)?.together();
        let samples = &samples[..(samples.len() as u64).min(self.left) as usize];
        samples.iter().for_each(|&x| self.head.format.encode(x, &mut self.raw));
        self.left -= samples.len() as u64;
        let mut output = self.output.lock().unwrap_or_else(|e| e.into_inner());
        self.written_bytes += self.raw.len() as u64;
        output.as_mut().map_or(Ok(()), |o| o.write(&self.raw))?;
        Ok(Fired::All)
    }

    fn finish(&mut self) -> Result<(), String> {
        let output = self.output.lock().unwrap_or_else(|e| e.into_inner()).take();
        let Some(mut output) = output.filter(|o| !o.is_broken()) else { return Ok(()) };
        if self.written_bytes % 2 == 1 {
            output.write(&[0])?;
        }
        output.patch(0, &self.head.to_bytes(self.written_bytes))
    }
}

pub(super) fn write(folder: Option<PathBuf>) -> Opened {
    let output: SharedOutput = Arc::default();
    let theirs = output.clone();
    Opened::from_rust(vec![PortSpec { dtype: "f32".into(), ..PortSpec::any("in") }], vec![], move |info| {
        let writer = writer(info, folder.as_deref(), theirs)?;
        Ok(Box::new(writer))
    })
    .with_rescue(Arc::new(Flusher(output)))
}

fn writer(info: &TaskInfo, folder: Option<&Path>, shared: SharedOutput) -> Result<WavWriter, String> {
    info.only(&["path", "rate", "channels", "format", "frames", "like"])?;
    let like = match info.text("like")? {
        Some(path) => Some(head_of(&folder.map_or_else(|| path.into(), |f| f.join(path)))?),
        None => None,
    };
    let rate = match info.integer("rate", 1, u64::from(u32::MAX))? {
        Some(rate) => rate as u32,
        None => like
            .map(|l| l.rate)
            .ok_or("it needs the parameter 'rate' (frames per second), or 'like' (a WAV file)")?,
    };
    let channels = info.integer("channels", 1, 64)?.map_or(like.map_or(1, |l| l.channels), |c| c as u16);
    let format = info
        .text("format")?
        .map_or(Ok(like.map_or(SampleFormat::I16, |l| l.format)), SampleFormat::from_name)?;
    frames(info.inputs[0].bytes, channels)?;
    let left = info.integer("frames", 0, 1 << 48)?.map_or(u64::MAX, |f| f * u64::from(channels));
    let head = WavHead { format, channels, rate, data_at: 44, data_bytes: u64::MAX };
    let mut output = OutputFile::create(path_of(info, folder)?)?;
    // Until the end is known, and for ever on a pipe, the head says "up to the end".
    output.write(&head.to_bytes(u64::MAX))?;
    *shared.lock().unwrap_or_else(|e| e.into_inner()) = Some(output);
    Ok(WavWriter { output: shared, head, left, written_bytes: 0, raw: Vec::new() })
}
