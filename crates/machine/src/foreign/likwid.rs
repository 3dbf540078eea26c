//! The text of `likwid-topology`: the table of hardware threads, the groups of each cache, the NUMA domains. The
//! picture below them is left out.

use super::{Imported, cpu, machine};
use crate::check::ELEMENTS_MAX;
use crate::{Memory, Place};
use ground::{Located, quoted};
use std::collections::BTreeMap;

/// Whether a text is likwid's.
pub(super) fn is(text: &str) -> bool {
    text.lines().any(|l| columns(l).is_some() || l.trim_start().starts_with("Hardware Thread Topology"))
}

/// A row of the table.
struct Thread {
    number: u32,
    core: u32,
    die: u32,
    socket: u32,
}

struct Cache {
    level: u32,
    bytes: Option<u64>,
    groups: Vec<Vec<u32>>,
}

/// Where the table's columns are, when the line is its head.
fn columns(line: &str) -> Option<BTreeMap<&str, usize>> {
    let words: BTreeMap<&str, usize> = line.split_whitespace().enumerate().map(|(i, w)| (w, i)).collect();
    ["HWThread", "Thread", "Core", "Socket"].iter().all(|w| words.contains_key(w)).then_some(words)
}

#[derive(Default)]
struct State<'a> {
    name: &'a str,
    head: Option<BTreeMap<&'a str, usize>>,
    ended: bool,
    threads: Vec<Thread>,
    left_out: usize,
    caches: Vec<Cache>,
    domains: Vec<(u32, Vec<u32>)>,
}

pub(super) fn read(text: &str, name: &str) -> Result<Imported, Located> {
    let mut state = State { name: "unknown cpu", ..State::default() };
    let lines = text.lines().count();
    for (i, line) in text.lines().enumerate() {
        state.line(line.trim()).map_err(|message| Located::new(message).line(i + 1))?;
    }
    if state.threads.is_empty() {
        let message = "likwid-topology's text ends before its table of hardware threads does";
        return Err(Located::new(message).line(lines));
    }
    if state.caches.is_empty() && state.domains.is_empty() {
        let message = "likwid-topology's text ends before its caches and NUMA domains";
        return Err(Located::new(message).line(lines));
    }
    state.known(lines)?;
    Ok(state.imported(name))
}

impl<'a> State<'a> {
    fn line(&mut self, line: &'a str) -> Result<(), String> {
        if let Some(head) = columns(line) {
            self.head = Some(head);
            return Ok(());
        }
        if let (Some(head), false) = (&self.head, self.ended) {
            if line.starts_with('-') || line.is_empty() {
                self.ended = true;
                return Ok(());
            }
            let thread = thread(line, head)?;
            match thread {
                Some(_) if self.threads.len() == ELEMENTS_MAX => {
                    return Err(format!(
                        "more than {ELEMENTS_MAX} hardware threads; a machine has at most as many"
                    ));
                }
                Some(thread) => self.threads.push(thread),
                None => self.left_out += 1,
            }
            return Ok(());
        }
        let Some((key, value)) = line.split_once(':').map(|(k, v)| (k.trim(), v.trim())) else {
            return Ok(());
        };
        match key {
            "CPU name" => self.name = value,
            "Level" => {
                let level = value.parse().map_err(|_| format!("level {} is no number", quoted(value)))?;
                self.caches.push(Cache { level, bytes: None, groups: Vec::new() });
            }
            "Size" => {
                if let Some(cache) = self.caches.last_mut() {
                    let bytes = bytes(value);
                    cache.bytes =
                        Some(bytes.ok_or_else(|| format!("size {} is not of a cache", quoted(value)))?);
                }
            }
            "Cache groups" => {
                if let Some(cache) = self.caches.last_mut() {
                    cache.groups = groups(value)?;
                }
            }
            "Domain" => {
                let domain = value.parse().map_err(|_| format!("domain {} is no number", quoted(value)))?;
                self.domains.push((domain, Vec::new()));
            }
            "Processors" => {
                if let Some((_, cpus)) = self.domains.last_mut() {
                    *cpus = groups(value)?.concat();
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the table has every thread that a cache or a domain names, and each once.
    fn known(&self, line: usize) -> Result<(), Located> {
        let mut numbers: Vec<u32> = self.threads.iter().map(|t| t.number).collect();
        numbers.sort_unstable();
        if let Some(twice) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(
                Located::new(format!("hardware thread {} is in the table twice", twice[0])).line(line)
            );
        }
        let named = self.caches.iter().flat_map(|c| c.groups.concat());
        let named = named.chain(self.domains.iter().flat_map(|(_, cpus)| cpus.clone()));
        for cpu in named {
            if numbers.binary_search(&cpu).is_err() && self.left_out == 0 {
                let message =
                    format!("hardware thread {cpu} is in a cache or a NUMA domain, and not in the table");
                return Err(Located::new(message).line(line));
            }
        }
        Ok(())
    }

    fn imported(&self, name: &str) -> Imported {
        let mut cores: BTreeMap<(u32, u32, u32), u32> = BTreeMap::new();
        let cache = |level: u32| self.caches.iter().find(|c| c.level == level);
        let group = |level: u32, cpu: u32| {
            let groups = &cache(level)?.groups;
            groups.iter().position(|g| g.contains(&cpu)).map(|g| g as u32)
        };
        let elements = self.threads.iter().map(|t| {
            let next = cores.len() as u32;
            let place = Place {
                chip: t.socket,
                numa: self.domains.iter().find(|(_, cpus)| cpus.contains(&t.number)).map(|(d, _)| *d),
                l3: group(3, t.number),
                l2: group(2, t.number),
                core: Some(*cores.entry((t.socket, t.die, t.core)).or_insert(next)),
                ..Place::default()
            };
            let own = |level: u32| {
                let cache = cache(level)?;
                let sharing = cache.groups.iter().find(|g| g.contains(&t.number))?.len() as u64;
                Some((cache.bytes?, cache.bytes? / sharing.max(1)))
            };
            let l1_bytes = own(1).map(|(whole, _)| whole);
            let bytes = own(2).map(|(_, share)| share).or(l1_bytes).filter(|b| *b > 0);
            let memory = bytes.map(|bytes| Memory {
                bytes,
                hard: false,
                holds_code: true,
                l1_bytes,
                overflow_bytes_per_s: None,
            });
            cpu(t.number, place, memory)
        });
        let elements: Vec<_> = elements.collect();
        let description = format!("{}, as likwid-topology shows it", self.name);
        let mut notes = vec![format!("{} cpus; limits and distances are unmeasured", elements.len())];
        if self.left_out > 0 {
            notes.push(format!("{} hardware threads that are not available are left out", self.left_out));
        }
        Imported { machine: machine(name, description, elements), notes }
    }
}

/// A row of the table; `None` for a thread that this process may not use.
fn thread(line: &str, head: &BTreeMap<&str, usize>) -> Result<Option<Thread>, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |column: &str| -> Result<u32, String> {
        let Some(word) = head.get(column).and_then(|&at| words.get(at)) else {
            return Err(format!("the row {} ends before the column {column}", quoted(line)));
        };
        word.parse()
            .ok()
            .filter(|n| *n < 1 << 20)
            .ok_or_else(|| format!("{column}: {} is no number", quoted(word)))
    };
    let die = if head.contains_key("Die") { number("Die")? } else { 0 };
    let thread =
        Thread { number: number("HWThread")?, core: number("Core")?, die, socket: number("Socket")? };
    let available = head.get("Available").is_none_or(|&at| words.get(at) == Some(&"*"));
    Ok(available.then_some(thread))
}

/// `( 0 6 ) ( 1 7 )`.
fn groups(text: &str) -> Result<Vec<Vec<u32>>, String> {
    let mut found = Vec::new();
    let mut open: Option<Vec<u32>> = None;
    for word in text.split_whitespace() {
        match (word, &mut open) {
            ("(", None) => open = Some(Vec::new()),
            (")", Some(_)) => found.extend(open.take()),
            (_, Some(group)) if group.len() == ELEMENTS_MAX => {
                return Err(format!("a group of more than {ELEMENTS_MAX} hardware threads"));
            }
            (number, Some(group)) => {
                group.push(number.parse().map_err(|_| format!("{} is no hardware thread", quoted(number)))?);
            }
            _ => return Err(format!("{} is not of the form ( 0 1 ) ( 2 3 )", quoted(text))),
        }
    }
    if open.is_some() { Err(format!("{} ends within a group", quoted(text))) } else { Ok(found) }
}

/// `48 kB`, `1.25 MB`.
fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = text.split_once(char::is_whitespace)?;
    let unit = match unit.trim() {
        "kB" => 1u64 << 10,
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        _ => return None,
    };
    let number: f64 = number.parse().ok().filter(|n| (0.0..1e6).contains(n))?;
    Some((number * unit as f64) as u64).filter(|b| (1..=1 << 40).contains(b))
}
