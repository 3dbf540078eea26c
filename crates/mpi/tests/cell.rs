//! MPI programs on the simulated Cell (`cellrun --on`): the same C sources as for this computer.

mod common;

use std::path::Path;
use std::process::{Command, Output};

/// Runs a program on a simulated machine.
fn run_on(machine: &str, ranks: u32, program: &Path) -> Output {
    Command::new("timeout")
        .args(["--kill-after", "5", "300"])
        .arg(common::tree().join("bin/cellrun"))
        .args(["--on", machine, "-n", &ranks.to_string()])
        .arg(program)
        .output()
        .expect("timeout starts")
}

/// What a program printed, and what the launcher said; it must end well.
fn printed_on(machine: &str, ranks: u32, program: &Path) -> (String, String) {
    let Output { status, stdout, stderr } = run_on(machine, ranks, program);
    let (printed, said) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{} on {ranks} ranks: {status}\n{printed}{said}", program.display());
    (printed.into_owned(), said.into_owned())
}

/// The time of one line of `pingpong`, in us.
fn latency(printed: &str, bytes: usize) -> f64 {
    let start = format!("{bytes} bytes: ");
    let line = printed.lines().find_map(|line| line.strip_prefix(&start)).expect(&start);
    line.strip_suffix(" us").and_then(|time| time.parse().ok()).expect("a time")
}

#[test]
fn messages_take_simulated_time_the_same_in_every_run() {
    let program = common::compile("cell/pingpong.c");
    let (first, said) = printed_on("qs22", 2, &program);
    let (second, said_again) = printed_on("qs22", 2, &program);
    assert_eq!(first, second);
    let simulated = |said: &str| said.split(" simulated on qs22, 2 ranks").next().map(str::to_owned);
    assert!(said.starts_with("cellrun: ") && said.contains(" us simulated on qs22, 2 ranks"), "{said}");
    assert_eq!(simulated(&said), simulated(&said_again));
    // A longer message takes longer, but for one that goes without the buffer: two DMA commands less.
    let times: Vec<f64> = [0, 8, 1024, 2048, 16384, 1 << 17].map(|bytes| latency(&first, bytes)).into();
    assert!(times.is_sorted(), "{first}");
    assert!(latency(&first, 2049) < latency(&first, 2048), "{first}");
    // A put of 16 bytes to another local store takes a tenth of a microsecond alone, and a message at least that.
    assert!((0.1..1.0).contains(&times[0]), "{first}");
}
