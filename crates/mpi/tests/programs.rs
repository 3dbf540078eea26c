//! The conformance programs in `tests/c`, each compiled with `cellcc` and run on several numbers of ranks.
//!
//! They are written by the standard's text and know nothing of this library: any MPI with the standard ABI can run them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// One rank, a pair, an odd number, a power of two, and more than most machines that run this have cores.
const RANKS: [u32; 5] = [1, 2, 3, 4, 7];

/// A program that takes longer hangs; the slowest needs a few seconds.
const SECONDS: &str = "300";

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder with `bin/cellcc`, `bin/cellrun`, header and library; built by the first test that asks.
fn tree() -> &'static Path {
    static TREE: OnceLock<PathBuf> = OnceLock::new();
    TREE.get_or_init(|| {
        let into = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpi");
        let mut build = Command::new("python3");
        build.arg(here().join("../../pep517/native.py")).arg("--into").arg(&into);
        if cfg!(debug_assertions) {
            build.arg("--debug");
        }
        assert!(build.status().expect("python3 starts").success(), "{build:?} failed");
        into
    })
}

fn compile(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let done = Command::new(tree().join("bin/cellcc"))
        .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"])
        .arg(here().join("tests/c").join(name).with_extension("c"))
        .arg("-o")
        .arg(&program)
        .args(["-lm", "-lpthread"])
        .output()
        .expect("cellcc starts");
    assert!(done.status.success(), "{name}.c: {}", String::from_utf8_lossy(&done.stderr));
    program
}

fn run(name: &str) {
    let program = compile(name);
    for ranks in RANKS {
        let done = Command::new("timeout")
            .args(["--kill-after", "5", SECONDS])
            .arg(tree().join("bin/cellrun"))
            .args(["-n", &ranks.to_string()])
            .arg(&program)
            .output()
            .expect("timeout starts");
        let (printed, said) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(
            done.status.success() && printed == format!("ok {name}\n") && said.is_empty(),
            "{name} on {ranks} ranks: {}\n{printed}{said}",
            done.status
        );
    }
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*
    };
}

programs! {
    arrays
    buffered
    environment
    groups
    interposition
    modes
    persistent
    point_to_point
    proc_null
    self_messages
    sendrecv
    status
    tool
    type_contents
    type_extents
}
