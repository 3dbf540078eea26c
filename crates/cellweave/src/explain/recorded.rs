//! Runs that were recorded: they are explained as on the day they ran, and the book quotes what is said of them.
//!
//! `CELLWEAVE_RECORD=1 cargo test -p cellweave` runs them again and writes `tests/recorded/NAME`; the same command once
//! more puts what is said of them into the book.

use super::{Look, computer, explain, foresee};
use host::Speed;
use machine::Machine;
use run::{ElementSpeed, RunOutcome, SpeedLook};
use std::path::{Path, PathBuf};
use work::{Graph, Plan, read};

/// The page that quotes them: a line `<!-- recorded: NAME, KIND -->`, and below it a block of text with what is said of
/// the run's first difference of that kind, or with the whole `explanation`.
const PAGE: &str = "../../docs/differences.md";
/// Columns of a line in the book.
const WIDE: usize = 120;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded")
}

fn recording() -> bool {
    std::env::var_os("CELLWEAVE_RECORD").is_some()
}

/// Keeps a run, where runs are being recorded.
pub(super) fn record(name: &str, graph: &Graph, machine: &Machine, plan: &Plan, outcome: &RunOutcome) {
    if !recording() {
        return;
    }
    let folder = folder().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let result = serde_json::to_string_pretty(outcome).unwrap() + "\n";
    for (file, text) in [
        ("app.toml", work::write::toml(graph)),
        ("machine.toml", machine::file::to_text(machine).unwrap()),
        ("plan.json", plan.to_json().unwrap()),
        ("result.json", result),
    ] {
        std::fs::write(folder.join(file), text).unwrap();
    }
}

/// What was measured of the elements before the run, or after it.
fn look(outcome: &RunOutcome, of: fn(&ElementSpeed) -> &SpeedLook) -> Look {
    let speed = |ns: &[f64]| match *ns {
        [integer_ns, floating_ns, memory_ns] => Some(Speed { integer_ns, floating_ns, memory_ns }),
        _ => None,
    };
    let both = |look: &SpeedLook| (speed(&look.alone_ns), speed(&look.together_ns));
    Look(outcome.speeds.iter().map(|(name, speeds)| (name.clone(), both(of(speeds)))).collect())
}

/// The result of a recorded run, as it was written and as it is explained now.
fn explained(name: &str) -> (RunOutcome, RunOutcome) {
    let folder = folder().join(name);
    let graph = read::path(folder.join("app.toml")).unwrap();
    let machine = machine::file::read(&folder.join("machine.toml")).unwrap();
    let plan = Plan::read(folder.join("plan.json")).unwrap();
    let text = std::fs::read_to_string(folder.join("result.json")).unwrap();
    let written: RunOutcome = serde_json::from_str(&text).unwrap();
    let mut now = RunOutcome { differences: Vec::new(), explanation: String::new(), ..written.clone() };
    let (before, after) = (look(&written, |s| &s.before), look(&written, |s| &s.after));
    let here = computer(&written.identity);
    let foreseen =
        foresee(&graph, &machine, &plan, &before, &here).filter(|_| !written.predicted_with.is_empty());
    let foreseen_plan = foreseen.as_ref().map_or(&plan, |f| &f.plan);
    let factors = foreseen.as_ref().map(|f| &f.factors);
    explain(&graph, &machine, foreseen_plan, factors, (&before, &after), &mut now);
    if recording() {
        record(name, &graph, &machine, &plan, &now);
    }
    (written, now)
}

/// `text` in lines of the book.
fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().unwrap();
        if !line.is_empty() && line.len() + 1 + word.len() > WIDE {
            lines.push(word.into());
        } else {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    lines.join("\n")
}

#[test]
fn the_book_quotes_what_is_said_of_recorded_runs() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let text = std::fs::read_to_string(&page).unwrap();
    let mut parts = text.split("<!-- recorded: ");
    let mut written = parts.next().unwrap().to_string();
    let mut quoted = 0;
    for part in parts {
        let (mark, rest) = part.split_once(" -->\n```text\n").expect("a block of text follows");
        let (_, rest) = rest.split_once("\n```\n").expect("the block ends");
        let (name, kind) = mark.split_once(", ").expect("a name and a kind");
        let (then, now) = explained(name);
        if !recording() {
            assert_eq!(
                (&then.differences, &then.explanation),
                (&now.differences, &now.explanation),
                "{name}: record again"
            );
        }
        let why = || now.differences.iter().find(|d| d.kind == kind).map(|d| d.why.clone());
        let said = if kind == "explanation" { Some(now.explanation.clone()) } else { why() };
        let said = said.unwrap_or_else(|| panic!("{name}: no {kind} in {:#?}", now.differences));
        written += &format!("<!-- recorded: {mark} -->\n```text\n{}\n```\n{rest}", wrapped(&said));
        quoted += 1;
    }
    assert!(quoted > 0, "{PAGE} quotes nothing");
    if recording() {
        std::fs::write(&page, &written).unwrap();
    }
    assert!(written == text || recording(), "{PAGE} says something else than\n{written}");
}
