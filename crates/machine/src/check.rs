//! What every machine must keep to, wherever it comes from.

use crate::{Distances, Element, HandoverCurve, HandoverPoint, Limit, Machine, Memory, Together};
use ground::{Located, did_you_mean};
use std::collections::{BTreeSet, HashSet};

/// More elements than this are a mistake: distances alone would take 256 MB.
pub const ELEMENTS_MAX: usize = 4096;
/// Names in the blocks of all limits together: 128 MB of them.
pub const REFERENCES_MAX: usize = 1 << 24;
/// The longest name of a machine, an element or a limit, in bytes.
pub const NAME_BYTES_MAX: usize = 200;
/// An EiB; no memory has more.
const MEMORY_BYTES_MAX: u64 = 1 << 60;

/// Whether `machine` is one: unique names, positive finite capacities, elements that exist, square distances.
///
/// # Errors
/// Name the key as the machine file has it (`limit[3].capacity_bytes_per_s`; counted from 0) and say what is allowed.
pub fn check(machine: &Machine) -> Result<(), Located> {
    name(&machine.name).map_err(|e| e.key("name"))?;
    elements(&machine.elements)?;
    let n = machine.elements.len();
    let mut names = HashSet::new();
    let mut references = 0;
    for (i, l) in machine.limits.iter().enumerate() {
        limit(l, machine, &mut references).map_err(|e| e.within(&format!("limit[{i}]")))?;
        if !names.insert(&l.name) {
            return Err(twice(&l.name).key(format!("limit[{i}].name")));
        }
    }
    let kinds: BTreeSet<&str> = machine.elements.iter().map(|e| e.kind.as_str()).collect();
    let of_known_kind = |key: &str, kind: &str| {
        if kinds.contains(kind) {
            return Ok(());
        }
        let near = did_you_mean(kind, kinds.iter().copied());
        let known = kinds.iter().copied().take(10).collect::<Vec<_>>().join(", ");
        Err(Located::new(format!("no element is of this kind; there are {known}{near}")).key(key))
    };
    for kind in machine.roles.keys() {
        of_known_kind(&format!("kind.{kind}"), kind)?;
    }
    for (kind, overhead) in &machine.overheads {
        let key = format!("overhead.{kind}");
        of_known_kind(&key, kind)?;
        not_negative(overhead.per_transfer_ns).map_err(|e| e.key(format!("{key}.per_transfer_ns")))?;
        not_negative(overhead.per_byte_ns).map_err(|e| e.key(format!("{key}.per_byte_ns")))?;
    }
    if let Some(d) = &machine.distances {
        distances(d, n)?;
    }
    for (i, curve) in machine.handovers.iter().enumerate() {
        handover(curve).map_err(|e| e.within(&format!("handover[{i}]")))?;
        if machine.handovers[..i].iter().any(|c| c.shares == curve.shares) {
            let message = format!("a second curve of pairs that share {}", curve.shares.name());
            return Err(Located::new(message).key(format!("handover[{i}].shares")));
        }
    }
    for (i, group) in machine.together.iter().enumerate() {
        together(group, n).map_err(|e| e.within(&format!("together[{i}]")))?;
    }
    if !machine.paces.is_empty() && machine.paces.len() != n {
        let message = format!("{} paces; the machine has {n} elements", machine.paces.len());
        return Err(Located::new(message).key("element"));
    }
    for (i, pace) in machine.paces.iter().enumerate() {
        positive(*pace).map_err(|e| e.key(format!("element[{i}].pace")))?;
    }
    machine.quota_cpus.map_or(Ok(()), positive).map_err(|e| e.key("quota_cpus"))
}

/// The part of [`check`] that looks at the elements alone.
pub(crate) fn elements(elements: &[Element]) -> Result<(), Located> {
    let n = elements.len();
    if !(1..=ELEMENTS_MAX).contains(&n) {
        return Err(Located::new(format!("{n} elements; a machine has 1 to {ELEMENTS_MAX}")).key("element"));
    }
    let mut names = HashSet::new();
    for (i, e) in elements.iter().enumerate() {
        element(e).map_err(|e| e.within(&format!("element[{i}]")))?;
        if !names.insert(&e.name) {
            return Err(twice(&e.name).key(format!("element[{i}].name")));
        }
    }
    Ok(())
}

fn element(e: &Element) -> Result<(), Located> {
    name(&e.name).map_err(|e| e.key("name"))?;
    if e.name == "*" || e.name.contains("..") || e.name.starts_with('.') || e.name.ends_with('.') {
        let message = format!("{:?} could mean several elements in a limit, where * and A..B do", e.name);
        return Err(Located::new(message).key("name"));
    }
    word(&e.kind).map_err(|e| e.key("kind"))?;
    for kind in e.outgoing_max.keys() {
        word(kind).map_err(|e| e.key("outgoing_max"))?;
    }
    let Some(Memory { bytes, l1_bytes, overflow_bytes_per_s, .. }) = &e.memory else { return Ok(()) };
    for (key, bytes) in [("bytes", Some(*bytes)), ("l1_bytes", *l1_bytes)] {
        if let Some(bytes) = bytes.filter(|b| !(1..=MEMORY_BYTES_MAX).contains(b)) {
            let message = format!("{bytes} is not a number of bytes from 1 to {MEMORY_BYTES_MAX}");
            return Err(Located::new(message).key(format!("memory.{key}")));
        }
    }
    overflow_bytes_per_s.map_or(Ok(()), positive).map_err(|e| e.key("memory.overflow_bytes_per_s"))
}

fn limit(l: &Limit, machine: &Machine, references: &mut usize) -> Result<(), Located> {
    name(&l.name).map_err(|e| e.key("name"))?;
    positive(l.capacity_bytes_per_s).map_err(|e| e.key("capacity_bytes_per_s"))?;
    l.error.map_or(Ok(()), not_negative).map_err(|e| e.key("error"))?;
    if l.pairs.is_empty() {
        return Err(Located::new("no pairs: nothing would count").key("pairs"));
    }
    let n = machine.elements.len();
    let mut seen = vec![false; n];
    for (i, block) in l.pairs.iter().enumerate() {
        for (side, ids) in [("from", &block.from), ("to", &block.to)] {
            let wrong = |message: String| Err(Located::new(message).key(format!("pairs[{i}].{side}")));
            if ids.is_empty() {
                return wrong("no elements".into());
            }
            *references += ids.len();
            if *references > REFERENCES_MAX {
                return wrong(format!("more than {REFERENCES_MAX} elements in the pairs of all limits"));
            }
            seen.fill(false);
            for &id in ids {
                match seen.get_mut(id) {
                    None => return wrong(format!("element {id} of {n}")),
                    Some(true) => return wrong(format!("{:?} occurs twice", machine.elements[id].name)),
                    Some(seen) => *seen = true,
                }
            }
        }
    }
    Ok(())
}

fn distances(d: &Distances, n: usize) -> Result<(), Located> {
    let tables = [("latency_ns", &d.latency_ns), ("bandwidth_bytes_per_s", &d.bandwidth_bytes_per_s)];
    for (key, rows) in tables {
        let key = format!("distances.{key}");
        if rows.len() != n {
            return Err(Located::new(format!("{} rows for {n} elements", rows.len())).key(key));
        }
        for (reader, row) in rows.iter().enumerate() {
            if row.len() != n {
                let message = format!("{} numbers for {n} elements", row.len());
                return Err(Located::new(message).key(format!("{key}[{reader}]")));
            }
            for (source, x) in row.iter().enumerate() {
                not_negative(*x).map_err(|e| e.key(format!("{key}[{reader}][{source}]")))?;
            }
        }
    }
    Ok(())
}

fn handover(curve: &HandoverCurve) -> Result<(), Located> {
    let wrong = |i: usize, message: &str| Err(Located::new(message).key(format!("points[{i}]")));
    if curve.points.is_empty() {
        return Err(Located::new("no points: nothing was measured").key("points"));
    }
    for (i, p) in curve.points.iter().enumerate() {
        if !(1..=MEMORY_BYTES_MAX).contains(&p.bytes) || !(1..=MEMORY_BYTES_MAX).contains(&p.ring_bytes) {
            return wrong(i, "bytes of a hand-over and of a ring are from 1 to 2^60");
        }
        for ns in [p.near_line_ns, p.alone_line_ns, p.both_line_ns] {
            not_negative(ns).map_err(|e| e.key(format!("points[{i}]")))?;
        }
    }
    let ordered =
        |pair: &[HandoverPoint]| (pair[0].bytes, pair[0].ring_bytes) < (pair[1].bytes, pair[1].ring_bytes);
    match curve.points.windows(2).position(|pair| !ordered(pair)) {
        Some(i) => wrong(i + 1, "points are in rising order of bytes, then of bytes of the ring, each once"),
        None => Ok(()),
    }
}

fn together(group: &Together, n: usize) -> Result<(), Located> {
    let rising = group.elements.windows(2).all(|pair| pair[0] < pair[1]);
    if group.elements.len() < 2 || !rising || group.elements.iter().any(|e| *e >= n) {
        let message = "two or more elements of the machine, each once and in its order";
        return Err(Located::new(message).key("elements"));
    }
    positive(group.computing).map_err(|e| e.key("computing"))?;
    positive(group.memory).map_err(|e| e.key("memory"))
}

fn twice(name: &str) -> Located {
    Located::new(format!("{name:?} is taken; every one needs a name of its own"))
}

fn name(name: &str) -> Result<(), Located> {
    if name.trim().is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
        let start: String = name.chars().take(20).collect();
        let message = format!("{start:?}: a name has 1 to {NAME_BYTES_MAX} bytes, no control characters");
        return Err(Located::new(message));
    }
    Ok(())
}

fn word(word: &str) -> Result<(), Located> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if word.is_empty() || word.len() > NAME_BYTES_MAX || !word.chars().all(fits) {
        let start: String = word.chars().take(20).collect();
        return Err(Located::new(format!("{start:?} is not a word of letters, digits, _ and -")));
    }
    Ok(())
}

fn positive(x: f64) -> Result<(), Located> {
    if x.is_finite() && x > 0.0 {
        return Ok(());
    }
    Err(Located::new(format!("{x:?} is not a finite number above 0")))
}

fn not_negative(x: f64) -> Result<(), Located> {
    if x.is_finite() && x >= 0.0 {
        return Ok(());
    }
    Err(Located::new(format!("{x:?} is not a finite number from 0 on")))
}
