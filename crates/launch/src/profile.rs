//! The profile as a file: who sends how much to whom, the machine, the sizes of messages, and the time in MPI.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::Ordering;
use transport::Segment;
use transport::segment::{CLASSES, Tallies, TallyNames, class_bytes};

/// The version of the format.
pub(crate) const FORMAT: u32 = 1;

/// The launcher's part of a profile, beside the ranks' tables.
pub(crate) struct JobRun<'a> {
    /// The programs, as they were given.
    pub(crate) programs: &'a [String],
    /// From the first rank's start to the last one's end.
    pub(crate) elapsed_s: f64,
}

/// Checks that a file can be written there, before anything runs.
///
/// # Errors
/// What is wrong, beginning with the file.
pub(crate) fn check(file: &Path) -> Result<(), String> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if file.is_dir() {
        return Err(format!("{}: is a folder", file.display()));
    }
    if !folder.is_dir() {
        return Err(format!("{}: there is no folder {}", file.display(), folder.display()));
    }
    Ok(())
}

#[derive(Default, Clone, Copy)]
struct Sum {
    bytes: u64,
    messages: u64,
}

/// The file's text. The job must be counted (`Segment::create_counted`).
pub(crate) fn text(segment: &Segment, run: &JobRun) -> String {
    let ranks = segment.ranks();
    let tables: Vec<Tallies> = (0..ranks).filter_map(|rank| segment.tallies(rank)).collect();
    let names = segment.names();
    let levels: Vec<i32> = tables.iter().flat_map(|table| table.levels().collect::<Vec<_>>()).fold(
        Vec::new(),
        |mut all, level| {
            if !all.contains(&level) {
                all.push(level);
            }
            all
        },
    );
    let mut total: BTreeMap<(usize, usize), Sum> = BTreeMap::new();
    let phases: Vec<String> = levels.iter().map(|&level| phase(&tables, names, level, &mut total)).collect();
    let pattern: Vec<String> = total
        .iter()
        .map(|((source, destination), sum)| {
            let Sum { bytes, messages } = sum;
            format!(
                r#"{{"source": {source}, "destination": {destination}, "bytes": {bytes}, "messages": {messages}}}"#
            )
        })
        .collect();
    let identity: Vec<String> = host::identity()
        .to_pairs()
        .into_iter()
        .map(|(key, value)| format!("{}: {}", quoted(key), quoted(&value)))
        .collect();
    let programs: Vec<String> = run.programs.iter().map(|program| quoted(program)).collect();
    format!(
        "{{\n  \"format\": {FORMAT},\n  \"n\": {ranks},\n  \"programs\": [{}],\n  \"elapsed_s\": {},\n  \"identity\": \
         {{{}}},\n  \
         \"pattern\": [{}],\n  \"phases\": [{}]\n}}\n",
        programs.join(", "),
        run.elapsed_s,
        identity.join(", "),
        list(&pattern, 4),
        list(&phases, 4),
    )
}

/// A phase: who sent what, and how long ranks were in each function.
fn phase(
    tables: &[Tallies],
    names: Option<TallyNames>,
    level: i32,
    total: &mut BTreeMap<(usize, usize), Sum>,
) -> String {
    let (mut transfers, mut functions) = (Vec::new(), Vec::new());
    for (source, table) in tables.iter().enumerate() {
        let Some(phase) = table.levels().position(|known| known == level) else { continue };
        let phase = table.in_phase(phase);
        for destination in 0..tables.len() {
            let mut sizes = Vec::new();
            for class in 0..CLASSES {
                let tally = phase.sent(destination, class);
                let (messages, bytes) =
                    (tally.times.load(Ordering::Relaxed), tally.amount.load(Ordering::Relaxed));
                if messages == 0 {
                    continue;
                }
                let sum = total.entry((source, destination)).or_default();
                sum.bytes += bytes;
                sum.messages += messages;
                let (least, most) = class_bytes(class);
                let most = most.map_or("null".into(), |most| most.to_string());
                sizes.push(format!(
                    r#"{{"least_bytes": {least}, "most_bytes": {most}, "bytes": {bytes}, "messages": {messages}}}"#
                ));
            }
            if !sizes.is_empty() {
                transfers.push(format!(
                    r#"{{"source": {source}, "destination": {destination}, "sizes": [{}]}}"#,
                    sizes.join(", ")
                ));
            }
        }
        for (function, tally) in phase.all_named().iter().enumerate() {
            let (calls, ns) = (tally.times.load(Ordering::Relaxed), tally.amount.load(Ordering::Relaxed));
            if calls > 0 {
                let name = names.and_then(|names| names.of(function)).unwrap_or_default();
                let name = quoted(&name);
                functions
                    .push(format!(r#"{{"rank": {source}, "name": {name}, "calls": {calls}, "ns": {ns}}}"#));
            }
        }
    }
    format!(
        "{{\n      \"level\": {level},\n      \"transfers\": [{}],\n      \"functions\": [{}]\n    }}",
        list(&transfers, 8),
        list(&functions, 8)
    )
}

/// Items of an array, a line each.
fn list(items: &[String], indent: usize) -> String {
    if items.is_empty() {
        return String::new();
    }
    let space = " ".repeat(indent);
    let lines: Vec<String> = items.iter().map(|item| format!("\n{space}{item}")).collect();
    format!("{}\n{}", lines.join(","), " ".repeat(indent - 2))
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            letter if (letter as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", letter as u32);
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_is_the_sum_of_all_phases() {
        let (_fd, segment) = Segment::create_counted(2, 2).unwrap();
        let tallies = segment.tallies(1).unwrap();
        for (level, class, bytes) in [(1, 3, 4), (9, 3, 7), (9, 0, 0)] {
            let tally = tallies.begin(level).sent(0, class);
            tally.times.fetch_add(1, Ordering::Relaxed);
            tally.amount.fetch_add(bytes, Ordering::Relaxed);
        }
        let text = text(&segment, &JobRun { programs: &["a \"b\"".into()], elapsed_s: 0.5 });
        assert!(text.contains(r#"{"source": 1, "destination": 0, "bytes": 11, "messages": 3}"#), "{text}");
        assert!(text.contains(r#""programs": ["a \"b\""]"#), "{text}");
        assert!(text.contains(r#"{"least_bytes": 0, "most_bytes": 0, "bytes": 0, "messages": 1}"#), "{text}");
        assert!(text.contains("\"level\": 9"), "{text}");
    }
}
