//! A pattern written out, reader first: `0<-7,7<-0,1->mem`.
//!
//! | form | means |
//! |---|---|
//! | `0<-7` | 0 reads from the local memory of 7 |
//! | `0->7` | 0 writes into it |
//! | `0<>7` | 0 reads and writes in turn |
//! | `mem`, `mem1` | as the right side: the main memory of the left one's chip, of chip 1 |
//! | `ppe0`, `CPU5` | an element by its name |
//!
//! A number is an SPE's on a Cell, and an element's place in the list on any other machine; the element on the left
//! starts the transfers. A PPE as the right side is its chip's main memory.

use crate::{TargetError, workers};
use ground::did_you_mean;
use machine::target::{Direction, Store, TRANSFERS_MAX, Transfer};
use machine::{ElementId, Machine};

/// The longest text that is read.
pub const TEXT_BYTES_MAX: usize = 1 << 16;

const ARROWS: [(&str, Direction); 3] =
    [("<-", Direction::Get), ("->", Direction::Put), ("<>", Direction::Alternating)];

/// Whether a text is a pattern that is written out, not a name.
pub fn is_written(text: &str) -> bool {
    text.contains(['<', '>'])
}

/// The transfers that a text says.
///
/// # Errors
/// Names the item and what is wrong with it.
///
/// ```
/// let qs22 = machine::load("qs22").unwrap();
/// let far = probe::written::parse("0<-7,7<-0", &qs22).unwrap();
/// assert_eq!(probe::written::write(&far, &qs22), "0<-7,7<-0");
/// assert!(probe::written::parse("0<-99", &qs22).unwrap_err().to_string().contains("99"));
/// ```
pub fn parse(text: &str, machine: &Machine) -> Result<Vec<Transfer>, TargetError> {
    let wrong = |message: String| Err(TargetError::Request(message));
    if text.len() > TEXT_BYTES_MAX {
        return wrong(format!("a pattern of {} letters; at most {TEXT_BYTES_MAX} are read", text.len()));
    }
    let items: Vec<&str> = text.split(',').map(str::trim).collect();
    if items.len() > TRANSFERS_MAX {
        return wrong(format!(
            "a pattern of {} transfers; at most {TRANSFERS_MAX} are measured",
            items.len()
        ));
    }
    let numbered = workers(machine);
    items.into_iter().map(|item| transfer(item, machine, &numbered)).collect()
}

fn transfer(item: &str, machine: &Machine, numbered: &[ElementId]) -> Result<Transfer, TargetError> {
    let found = ARROWS.iter().find_map(|(arrow, direction)| {
        let (left, right) = item.split_once(arrow)?;
        Some((left.trim(), right.trim(), *direction))
    });
    let Some((left, right, direction)) = found else {
        return Err(TargetError::Request(format!(
            "pattern: {:?} is no transfer; 0<-7 (0 reads from 7), 0->7 (0 writes to 7) and 0<>7 (in turn) are",
            shortened(item)
        )));
    };
    let within = |e: String| TargetError::Request(format!("pattern: {:?}: {e}", shortened(item)));
    let initiator = element(left, machine, numbered).map_err(within)?;
    let other = match memory(right) {
        Some(MemoryEnd::Own) => Store::Memory(machine.elements[initiator].place.chip),
        Some(MemoryEnd::Of(chip)) => Store::Memory(chip),
        None => Store::Element(element(right, machine, numbered).map_err(within)?),
    };
    if other == Store::Element(initiator) {
        return Err(within(format!("{} talks to itself", machine.elements[initiator].name)));
    }
    if let Store::Memory(chip) = other
        && machine.elements.iter().all(|e| e.place.chip != chip)
    {
        return Err(within(format!("{} has no chip {chip}", machine.name)));
    }
    Ok(Transfer { initiator, other, direction })
}

enum MemoryEnd {
    Own,
    Of(u32),
}

fn memory(word: &str) -> Option<MemoryEnd> {
    let start = word.get(..3).filter(|s| s.eq_ignore_ascii_case("mem"))?;
    match &word[start.len()..] {
        "" => Some(MemoryEnd::Own),
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().ok().map(MemoryEnd::Of),
        _ => None,
    }
}

fn element(word: &str, machine: &Machine, numbered: &[ElementId]) -> Result<ElementId, String> {
    if !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()) {
        let n: Option<&ElementId> = word.parse::<usize>().ok().and_then(|n| numbered.get(n));
        return n.copied().ok_or_else(|| {
            format!("no element {}; {} has 0 to {}", shortened(word), machine.name, numbered.len() - 1)
        });
    }
    let named = machine.elements.iter().position(|e| e.name.eq_ignore_ascii_case(word));
    named.ok_or_else(|| {
        let names = machine.elements.iter().map(|e| e.name.as_str());
        format!(
            "no element {:?}; numbers from 0 to {}, names, and on the right mem are allowed{}",
            shortened(word),
            numbered.len() - 1,
            did_you_mean(word, names)
        )
    })
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The text of transfers, which [`parse`] reads again.
pub fn write(transfers: &[Transfer], machine: &Machine) -> String {
    let numbered = workers(machine);
    let name = |e: ElementId| match numbered.iter().position(|w| *w == e) {
        Some(number) => number.to_string(),
        None => machine.elements[e].name.to_lowercase(),
    };
    let one = |t: &Transfer| {
        let arrow = ARROWS.iter().find(|(_, d)| *d == t.direction).map_or("<-", |(arrow, _)| arrow);
        let other = match t.other {
            Store::Element(e) => name(e),
            Store::Memory(chip) if chip == machine.elements[t.initiator].place.chip => "mem".into(),
            Store::Memory(chip) => format!("mem{chip}"),
        };
        format!("{}{arrow}{other}", name(t.initiator))
    };
    transfers.iter().map(one).collect::<Vec<_>>().join(",")
}
