//! Files of other tools with random damage: never a panic, and what is accepted is a machine that comes back from its
//! own file and from hwloc's XML. `tests/python/test_foreign.py` has what each file says, and what is refused.

use ground::Draws;
use machine::{check, file, foreign};
use std::fs;
use std::path::Path;

/// Files of more than this take long to read a hundred times.
const BYTES_MAX: usize = 6000;
const DAMAGES: usize = 60;
const TOKENS: [&str; 14] = [
    "<",
    ">",
    "\"",
    "0x",
    "nan",
    "-1",
    "99999999999",
    ",",
    "(",
    ")",
    "\n",
    "<object type=\"PU\">",
    "Level:",
    "\0",
];

fn damaged(text: &str, draws: &mut Draws) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=draws.below(4) {
        let at = draws.below(chars.len().max(1)).min(chars.len());
        match draws.below(4) {
            0 => chars.truncate(at),
            1 => drop(chars.drain(at..(at + draws.below(40)).min(chars.len()))),
            2 => drop(chars.splice(at..at, TOKENS[draws.below(TOKENS.len())].chars()).collect::<Vec<_>>()),
            _ => {
                let end = (at + draws.below(200)).min(chars.len());
                let copied = chars[at..end].to_vec();
                chars.splice(at..at, copied);
            }
        }
    }
    chars.into_iter().collect()
}

#[test]
fn files_with_damage_are_machines_or_errors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shapes");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut draws = Draws::new(5);
    let (mut machines, mut errors) = (0, 0);
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let foreign = path.extension().is_some_and(|e| e == "csv" || e == "txt" || e == "xml");
        if !foreign || text.len() > BYTES_MAX {
            continue;
        }
        foreign::parse(&text, "whole").unwrap();
        for _ in 0..DAMAGES {
            match foreign::parse(&damaged(&text, &mut draws), "damaged") {
                Ok(imported) => {
                    machines += 1;
                    check::check(&imported.machine).unwrap();
                    let again = file::parse(&file::to_text(&imported.machine).unwrap(), "again").unwrap();
                    assert_eq!(again, imported.machine);
                    let xml = foreign::hwloc(&imported.machine).unwrap();
                    let n = foreign::parse(&xml, "again").unwrap().machine.elements.len();
                    assert_eq!(n, imported.machine.elements.len());
                }
                Err(_) => errors += 1,
            }
        }
    }
    assert!(machines > 50 && errors > 200, "{machines} machines, {errors} errors");
}
