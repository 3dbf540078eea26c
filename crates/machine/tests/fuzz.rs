//! Machine files and specifications with random damage: never a panic, never a hang, and what is accepted is a machine
//! that comes back from its own file. `CELLWEAVE_FUZZ=1000000 cargo test --release -p cellweave-machine --test fuzz`.

use ground::Draws;
use machine::{check, file, load};

const TOKENS: [&str; 44] = [
    "[[element]]",
    "[[limit]]",
    "[overhead.core]",
    "[distances]",
    "name",
    "kind",
    "pairs",
    "from",
    "to",
    "*",
    "..",
    "CPU0..CPU1",
    "\"*\"",
    "'",
    "\"",
    "\"\"\"",
    "=",
    "{",
    "}",
    "[",
    "]",
    ",",
    "#",
    "\n",
    "\\u0000",
    "\\",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "-1",
    "0",
    "18446744073709551616",
    "0xffffffffffffffff",
    "1_000",
    "1979-05-27",
    "true",
    ".",
    "latency_ns",
    "memory = { bytes = 1 }",
    "é",
    "\u{10FFFF}",
    "\t",
    "capacity_bytes_per_s = 1e-300",
];

const SPECS: [&str; 8] =
    ["qs22:ppe=1,spe=6", "ps3", "host:cpus=0-1,3", "host", "cell:memory=joint", ":", "a=", "0-"];

const NUMBERS: [&str; 7] = ["0", "1", "2", "4097", "99999999999", "1.5", "-3"];

fn damage(text: &str, draws: &mut Draws, tokens: &[&str]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + draws.below(4) {
        let (a, b) = (draws.below(bytes.len() + 1), draws.below(bytes.len() + 1));
        let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 40));
        match draws.below(6) {
            0 if from < bytes.len() => bytes[from] = draws.bits() as u8,
            1 => drop(bytes.drain(from..to)),
            2 => {
                let piece = bytes[from..to].to_vec();
                let at = draws.below(bytes.len() + 1);
                bytes.splice(at..at, piece);
            }
            3 => bytes.truncate(a),
            4 => {
                // A number for another.
                let digit = |b: &u8| b.is_ascii_digit();
                if let Some(start) = bytes[from..].iter().position(digit).map(|i| from + i) {
                    let end = start + bytes[start..].iter().take_while(|b| digit(b)).count();
                    bytes.splice(start..end, NUMBERS[draws.below(NUMBERS.len())].bytes());
                }
            }
            _ => drop(bytes.splice(from..from, tokens[draws.below(tokens.len())].bytes())),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn times() -> usize {
    std::env::var("CELLWEAVE_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000)
}

#[test]
fn a_damaged_machine_file_is_an_error_or_a_machine_that_comes_back() {
    let whole: Vec<String> = [
        include_str!("recorded/container-3-of-16/machine.toml").to_string(),
        include_str!("recorded/vm-2/machine.toml").to_string()
            + "[overhead.core]\nper_transfer_ns = 150.0\nper_byte_ns = 0.05\n[distances]\n\
               latency_ns = [[0.0, 90.5], [88.0, 0.0]]\nbandwidth_bytes_per_s = [[0.0, 6e9], [5.5e9, 0.0]]\n",
        file::to_text(&load("ps3:spe=2").unwrap()).unwrap(),
        file::to_text(&load("qs20:ppe=2,spe=0,memory=joint").unwrap()).unwrap(),
    ]
    .into();
    let (mut draws, mut machines) = (Draws::new(2), 0);
    for i in 0..times() {
        let text = damage(&whole[i % whole.len()], &mut draws, &TOKENS);
        match file::parse(&text, "fuzz.toml") {
            Ok(machine) => {
                machines += 1;
                check::check(&machine).unwrap();
                let again = file::to_text(&machine).unwrap();
                assert_eq!(file::parse(&again, "again").unwrap(), machine, "{text:?}");
            }
            Err(e) => {
                let message = e.to_string();
                assert!(message.starts_with("fuzz.toml:") && message.len() < 4000, "{message}");
            }
        }
    }
    assert!(machines > times() / 50, "only {machines} were accepted: the damage is too coarse to test much");
}

#[test]
fn a_damaged_specification_is_an_error_or_a_machine() {
    let mut draws = Draws::new(3);
    for i in 0..times() / 10 {
        let spec = damage(SPECS[i % SPECS.len()], &mut draws, &SPECS);
        // Files are for the other test, and this one should not read whatever path chance writes.
        if spec.contains('/') || spec.ends_with(".toml") {
            continue;
        }
        match load(&spec) {
            Ok(machine) => check::check(&machine).unwrap(),
            Err(e) => assert!(!e.to_string().is_empty() && e.to_string().len() < 10_000, "{e}"),
        }
    }
}
