//! `examples/rust-kernel`, built and run as its README says.

use run::builtin::wav::head_of;
use run::testing::{cores, planned};
use run::{RunOptions, Standard, run};
use std::path::PathBuf;

#[test]
fn the_rust_kernel_of_the_examples_builds_and_writes_its_tone() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/rust-kernel");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let built = std::process::Command::new(cargo)
        .args(["build", "--quiet", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        // As a user does: into the example's own folder.
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let graph = work::read::path(folder.join("app.toml")).unwrap();
    let machine = cores(2);
    for mapping in [[0, 0, 0], [0, 1, 1]] {
        let plan = planned(&graph, &machine, &mapping, 8).unwrap();
        let outcome =
            run(&graph, &machine, &plan, &Standard::in_folder(&folder), RunOptions::default()).unwrap();
        assert_eq!(outcome.instances, 750);
        let file = std::fs::read(folder.join("tone.wav")).unwrap();
        assert_eq!((file.len(), head_of(&folder.join("tone.wav")).unwrap().rate), (44 + 96_000, 48_000));
        let sample = |i: usize| f32::from(i16::from_le_bytes([file[44 + 2 * i], file[45 + 2 * i]])) / 32768.0;
        let wanted = |i: usize| (4.0 * (std::f32::consts::TAU * 440.0 * i as f32 / 48_000.0).sin()).tanh();
        assert!((0..1000).all(|i| (sample(i) - wanted(i)).abs() < 1e-3));
    }
}
