//! Files, pipes and WAV as sources and sinks; full disks and broken files.

use proptest::prelude::*;
use run::builtin::wav::{SampleFormat, WavHead, head_of};
use run::testing::{cores, edge, planned, task};
use run::{RunError, RunOptions, RunOutcome, Standard, run};
use std::fs;
use std::path::PathBuf;
use work::{Graph, Task, Value};

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn with(name: &str, kernel: &str, params: &[(&str, Value)]) -> Task {
    let mut t = task(name, kernel);
    t.params = params.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    t
}

fn text(t: &str) -> Value {
    Value::Text(t.into())
}

/// source -> copy -> sink on two workers.
fn through(
    at: &PathBuf,
    source: Task,
    sink: Task,
    bytes: u64,
    instances: Option<u64>,
) -> Result<RunOutcome, RunError> {
    let graph = Graph {
        name: "g".into(),
        tasks: vec![source, task("copy", "cellweave:copy"), sink],
        edges: vec![edge(0, "out", 1, "in", bytes), edge(1, "out", 2, "in", bytes)],
        ..Graph::default()
    };
    let machine = cores(2);
    let plan = planned(&graph, &machine, &[0, 1, 0], 16).unwrap();
    run(&graph, &machine, &plan, &Standard::in_folder(at), RunOptions { instances, ..RunOptions::default() })
}

#[test]
fn a_file_is_copied_byte_for_byte_and_no_longer_than_asked() {
    let at = folder("raw");
    let data: Vec<u8> = (0..100_001u32).map(|i| (i ^ (i >> 7)) as u8).collect();
    fs::write(at.join("in.bin"), &data).unwrap();
    let read = || with("read", "cellweave:read", &[("path", text("in.bin"))]);
    let write = |more: &[(&str, Value)]| {
        with("write", "cellweave:write", &[&[("path", text("out.bin"))], more].concat())
    };
    through(&at, read(), write(&[("bytes", Value::Number(100_001.0))]), 64, None).unwrap();
    assert!(fs::read(at.join("out.bin")).unwrap() == data);
    let outcome = through(&at, read(), write(&[]), 64, None).unwrap();
    assert_eq!(outcome.instances, 1563);
    assert_eq!(fs::read(at.join("out.bin")).unwrap().len(), 1563 * 64);
    let again = with("read", "cellweave:read", &[("path", text("in.bin")), ("loop", Value::Bool(true))]);
    through(&at, again, write(&[]), 1000, Some(500)).unwrap();
    let looped = fs::read(at.join("out.bin")).unwrap();
    assert!(looped.len() == 500_000 && looped[100_001..200_002] == data[..]);
}

#[test]
fn a_full_disk_stops_the_run_and_names_the_file() {
    let at = folder("full");
    let sink = with("sink", "cellweave:write", &[("path", text("/dev/full"))]);
    let error =
        through(&at, task("zeros", "cellweave:zeros"), sink, 4096, Some(1000)).unwrap_err().to_string();
    assert!(error.contains("task 'sink' failed at instance") && error.contains("/dev/full"), "{error}");
    let sink = with("sink", "cellweave:write", &[("path", text("/dev/full"))]);
    let error = through(&at, task("zeros", "cellweave:zeros"), sink, 8, Some(10)).unwrap_err().to_string();
    assert!(error.contains("task 'sink' could not finish: cannot write '/dev/full'"), "{error}");
}

#[test]
fn files_that_cannot_be_opened_are_named_before_anything_runs() {
    let at = folder("missing");
    let sink = || with("sink", "cellweave:write", &[("path", text("out"))]);
    let cases = [
        (vec![], "needs the parameter 'path'"),
        (vec![("path", text("nothing.bin"))], "nothing.bin"),
        (vec![("path", text("."))], "it is a folder"),
        (vec![("path", Value::Number(3.0))], "must be a text"),
        (vec![("path", text("x")), ("lop", text("x"))], "did you mean `loop`?"),
    ];
    for (params, wanted) in cases {
        let error = through(&at, with("source", "cellweave:read", &params), sink(), 8, None).unwrap_err();
        assert!(matches!(&error, RunError::Kernel { task, .. } if task == "source"), "{error:?}");
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

#[test]
fn a_pipe_that_pauses_is_no_end() {
    let at = folder("pipe");
    let fifo = at.join("fifo");
    let _ = fs::remove_file(&fifo);
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let writer = std::process::Command::new("sh")
        .arg("-c")
        .arg(format!("(printf abc; sleep 0.1; printf defgh; sleep 0.1; printf ij) > '{}'", fifo.display()))
        .spawn();
    let mut writer = writer.unwrap();
    let read = with("read", "cellweave:read", &[("path", text("fifo"))]);
    let write = with("write", "cellweave:write", &[("path", text("out")), ("bytes", Value::Number(10.0))]);
    let outcome = through(&at, read, write, 4, None).unwrap();
    writer.wait().unwrap();
    assert_eq!((outcome.instances, fs::read(at.join("out")).unwrap()), (3, b"abcdefghij".to_vec()));
}

#[test]
fn wav_files_of_every_format_come_back_bit_for_bit() {
    let at = folder("wav");
    for (format, name) in [
        (SampleFormat::I16, "i16"),
        (SampleFormat::I24, "i24"),
        (SampleFormat::F32, "f32"),
        (SampleFormat::I32, "i32"),
    ] {
        for channels in [1u16, 2] {
            let head = WavHead { format, channels, rate: 44_100, data_at: 44, data_bytes: 0 };
            let frames = 1001;
            let mut data: Vec<u8> = Vec::new();
            for i in 0..frames * u32::from(channels) {
                let x = i.wrapping_mul(2_654_435_761);
                match format {
                    SampleFormat::F32 => data.extend((x as f32 / 4e9).to_le_bytes()),
                    // An f32 holds the upper 24 bits.
                    SampleFormat::I32 => data.extend((x & 0xFFFF_FF00).to_le_bytes()),
                    _ => data.extend(&x.to_le_bytes()[4 - format.bytes()..]),
                }
            }
            let mut file = head.to_bytes(data.len() as u64);
            file.extend(&data);
            if data.len() % 2 == 1 {
                file.push(0);
            }
            fs::write(at.join("in.wav"), &file).unwrap();
            let read = with("read", "cellweave:read-wav", &[("path", text("in.wav"))]);
            let write = with(
                "write",
                "cellweave:write-wav",
                &[
                    ("path", text("out.wav")),
                    ("like", text("in.wav")),
                    ("frames", Value::Number(f64::from(frames))),
                ],
            );
            through(&at, read, write, 16 * 4 * u64::from(channels), None).unwrap();
            assert!(fs::read(at.join("out.wav")).unwrap() == file, "{name}, {channels} channels");
            let got = head_of(&at.join("out.wav")).unwrap();
            assert_eq!((got.format, got.channels, got.data_bytes), (format, channels, data.len() as u64));
        }
    }
}

#[test]
fn stereo_becomes_mono_and_an_odd_head_is_skipped() {
    let at = folder("stereo");
    let head = WavHead { format: SampleFormat::I16, channels: 2, rate: 8000, data_at: 44, data_bytes: 0 };
    let samples: [i16; 6] = [100, 300, -200, 0, 32767, 32767];
    let mut file = head.to_bytes(12);
    let list: &[u8] = b"LIST\x03\0\0\0abc\0";
    file.splice(12..12, list.iter().copied());
    file.extend(samples.iter().flat_map(|s| s.to_le_bytes()));
    fs::write(at.join("in.wav"), &file).unwrap();
    let read =
        with("read", "cellweave:read-wav", &[("path", text("in.wav")), ("channels", Value::Number(1.0))]);
    let write =
        with("write", "cellweave:write-wav", &[("path", text("out.wav")), ("rate", Value::Number(8000.0))]);
    through(&at, read, write, 12, None).unwrap();
    let out = fs::read(at.join("out.wav")).unwrap();
    let got: Vec<i16> = out[44..].chunks(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect();
    assert_eq!(got, [200, -100, 32767]);
}

#[test]
fn wrong_wav_files_are_refused_with_what_they_are() {
    let at = folder("wrong-wav");
    let good = WavHead { format: SampleFormat::I16, channels: 1, rate: 8000, data_at: 44, data_bytes: 0 }
        .to_bytes(0);
    let patched = |i: usize, b: u8| {
        let mut f = good.clone();
        f[i] = b;
        f
    };
    let cases = [
        (b"hello".to_vec(), "ends at byte 5, inside the RIFF head"),
        (b"RIFF\0\0\0\0WAVX".to_vec(), "no WAV file"),
        (good[..40].to_vec(), "there is no 'data'"),
        (good[..20].to_vec(), "inside the 'fmt ' chunk"),
        (patched(34, 8), "format 1 with 8 bits"),
        (patched(20, 6), "format 6 with 16 bits"),
        (patched(22, 0), "0 channels"),
        (patched(16, 4), "'fmt ' chunk has 4 bytes"),
    ];
    for (bytes, wanted) in cases {
        fs::write(at.join("in.wav"), &bytes).unwrap();
        let why = head_of(&at.join("in.wav")).unwrap_err();
        assert!(why.contains(wanted) && why.contains("in.wav"), "{why}; wanted {wanted}");
    }
}

/// How many inputs the reader gets: more with `CELLWEAVE_FUZZ`.
fn fuzz_cases() -> u32 {
    std::env::var("CELLWEAVE_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: fuzz_cases(), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_bytes_break_the_wav_reader(
        raw in prop::collection::vec(any::<u8>(), 0..200),
        changes in prop::collection::vec((0usize..60, any::<u8>()), 0..6),
        real in any::<bool>(),
    ) {
        let mut bytes = raw;
        if real {
            let head = WavHead { format: SampleFormat::I24, channels: 2, rate: 8000, data_at: 44, data_bytes: 0 };
            let mut file = head.to_bytes(bytes.len() as u64);
            file.append(&mut bytes);
            for (at, value) in changes {
                if let Some(b) = file.get_mut(at) {
                    *b = value;
                }
            }
            bytes = file;
        }
        let mut rest = &bytes[..];
        let head = WavHead::read(|into| {
            let n = into.len().min(rest.len());
            into[..n].copy_from_slice(&rest[..n]);
            rest = &rest[n..];
            Ok(n)
        });
        match head {
            Ok(head) => prop_assert!(head.channels > 0 && head.data_at <= bytes.len() as u64),
            Err(why) => prop_assert!(!why.is_empty()),
        }
    }
}
