//! The library as programs meet it: `cellcc`, `cellrun`, header and library in one folder, built when first asked for.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// A program that takes longer hangs; the slowest of the usual run needs some seconds.
const SECONDS: &str = "300";

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

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

/// A C file of this folder, by its path without `.c`, made a program; warnings are errors.
pub fn compile(source: &str) -> PathBuf {
    let source = here().join("tests").join(source).with_extension("c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(source.file_stem().expect("a file"));
    let done = Command::new(tree().join("bin/cellcc"))
        .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror"])
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .args(["-lm", "-lpthread"])
        .output()
        .expect("cellcc starts");
    assert!(done.status.success(), "{}: {}", source.display(), String::from_utf8_lossy(&done.stderr));
    program
}

/// Runs a program on some ranks, and gives what it printed; it must end well and complain of nothing.
pub fn run(program: &Path, ranks: u32, arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = Command::new("timeout")
        .args(["--kill-after", "5", SECONDS])
        .arg(tree().join("bin/cellrun"))
        .args(["-n", &ranks.to_string()])
        .arg(program)
        .args(arguments)
        .output()
        .expect("timeout starts");
    let (printed, said) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(
        status.success() && said.is_empty(),
        "{} {} on {ranks} ranks: {status}\n{printed}{said}",
        program.display(),
        arguments.join(" ")
    );
    printed.into_owned()
}
