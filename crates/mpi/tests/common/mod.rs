//! What tests that run MPI programs share: the folder with compilers, launcher and library, and how a program is made
//! and run.
#![allow(dead_code, reason = "each test uses its part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A program that takes longer hangs; the slowest needs a few seconds.
const SECONDS: &str = "300";

/// The crate's folder.
pub(crate) fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder with `bin/cellcc`, `bin/cellrun`, header and library; built by the first test that asks.
pub(crate) fn tree() -> &'static Path {
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

/// Compiles a C program below `tests`; warnings are errors.
///
/// Tests that run at the same time may ask for the same one. Each writes a file of its own, which takes the program's
/// name once it is whole: a file that is being written cannot be run.
pub(crate) fn compile(source: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let source = Path::new(source);
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(source.file_stem().expect("a file"));
    let written = program.with_extension(NEXT.fetch_add(1, Relaxed).to_string());
    let done = Command::new(tree().join("bin/cellcc"))
        .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"])
        .arg(here().join("tests").join(source))
        .arg("-o")
        .arg(&written)
        .args(["-lm", "-lpthread"])
        .output()
        .expect("cellcc starts");
    assert!(done.status.success(), "{}: {}", source.display(), String::from_utf8_lossy(&done.stderr));
    std::fs::rename(&written, &program).expect("both are in one folder");
    program
}

/// Runs a program with `cellrun`; one that hangs is killed.
pub(crate) fn run(ranks: u32, program: &Path, arguments: &[&str]) -> Output {
    Command::new("timeout")
        .args(["--kill-after", "5", SECONDS])
        .arg(tree().join("bin/cellrun"))
        .args(["-n", &ranks.to_string()])
        .arg(program)
        .args(arguments)
        .output()
        .expect("timeout starts")
}

/// Runs a program, and gives what it printed; it must end well and complain of nothing.
pub(crate) fn printed(ranks: u32, program: &Path, arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = run(ranks, program, arguments);
    let (printed, said) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(
        status.success() && said.is_empty(),
        "{} {} on {ranks} ranks: {status}\n{printed}{said}",
        program.display(),
        arguments.join(" ")
    );
    printed.into_owned()
}

/// Runs the launcher.
pub(crate) fn launch(words: &[&str], program: &Path, arguments: &[&str]) -> Output {
    Command::new("timeout")
        .args(["--kill-after", "5", "300"])
        .arg(tree().join("bin/cellrun"))
        .args(words)
        .arg(program)
        .args(arguments)
        .output()
        .expect("timeout starts")
}

/// Runs a program on a simulated machine.
fn run_on(machine: &str, ranks: u32, program: &Path) -> Output {
    launch(&["--on", machine, "-n", &ranks.to_string()], program, &[])
}

/// What a program printed, and what the launcher said; it must end well.
pub(crate) fn printed_on(machine: &str, ranks: u32, program: &Path) -> (String, String) {
    let Output { status, stdout, stderr } = run_on(machine, ranks, program);
    let (printed, said) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{} on {ranks} ranks: {status}\n{printed}{said}", program.display());
    (printed.into_owned(), said.into_owned())
}
