//! What Open MPI's monitoring writes with `--mca pml_monitoring_enable_output 3`:
//! `E  0  1  108 bytes  27 msgs sent`, tabs between; `E` is the program's own traffic, `I` what the library sends for
//! collectives. Both count.

use super::{ENTRIES_MAX, Lines, entries_allowed, flow, not_bytes, parts_allowed};
use crate::{Traffic, TrafficPhase};
use ground::{Located, quoted};

pub(super) fn read(lines: &mut Lines) -> Result<Traffic, Located> {
    let (mut flows, mut parts, mut entries) = (Vec::new(), 0, 0);
    let mut counts = true;
    while let Some((line, text)) = lines.next()? {
        let within = |message: String| Located::new(message).line(line);
        if let Some(section) = text.strip_prefix('#') {
            // Collectives are listed again by communicator, one-sided transfers as they are.
            counts = !section.to_ascii_uppercase().contains("COLLECTIVE");
            continue;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_transfer = matches!(words.first(), Some(&"E" | &"I" | &"S" | &"R"));
        if !counts || !is_transfer {
            continue;
        }
        entries += 1;
        if entries > ENTRIES_MAX {
            entries_allowed(entries)?;
        }
        let [_, from, to, bytes, "bytes", ..] = words[..] else {
            return Err(within(format!("{} is not of the form: E 0 1 108 bytes 27 msgs sent", quoted(text))));
        };
        let part =
            |word: &str| word.parse::<usize>().map_err(|_| within(format!("{} is no rank", quoted(word))));
        let bytes: f64 = bytes.parse().map_err(|_| within(format!("{} is no number", quoted(bytes))))?;
        if let Some(why) = not_bytes(bytes) {
            return Err(within(why));
        }
        let (from, to) = (part(from)?, part(to)?);
        parts = parts.max(from.max(to).saturating_add(1));
        parts_allowed(parts).map_err(|error| error.line(line))?;
        flows.extend(flow(from, to, bytes));
    }
    if parts == 0 {
        return Err(Located::new("no line of the form: E 0 1 108 bytes 27 msgs sent"));
    }
    Ok(Traffic { name: String::new(), parts, phases: vec![TrafficPhase::new("all", flows)] })
}
