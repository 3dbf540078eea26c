//! hwloc's XML, as `lstopo --of xml` of version 2 and later writes it.

use super::hwloc::{BANDWIDTH, LATENCY};
use super::{Imported, cpu, machine};
use crate::check::ELEMENTS_MAX;
use crate::{Distances, Element, Memory, Place};
use ground::{Located, quoted};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Objects within objects; the deepest computers have about fifteen.
const DEPTH_MAX: usize = 64;
/// Objects of all sorts, PCI devices among them.
const OBJECTS_MAX: usize = 1 << 20;

type Attributes = HashMap<String, String>;

/// An object that is open.
struct Object {
    sort: String,
    attributes: Attributes,
    /// Of the objects of its sort.
    number: u32,
}

/// A matrix between objects.
struct Matrix {
    name: String,
    of: String,
    rows: usize,
    indexes: Vec<u64>,
    values: Vec<u64>,
    line: usize,
}

/// A sort of cpus: which, how fast, and what they are called.
struct Kind {
    cpus: BTreeSet<u32>,
    word: Option<String>,
}

#[derive(Default)]
struct State {
    version: Option<String>,
    open: Vec<Object>,
    counts: HashMap<String, u32>,
    allowed: Option<BTreeSet<u32>>,
    elements: Vec<Element>,
    numa: Vec<(u32, BTreeSet<u32>)>,
    model: Option<String>,
    kinds: Vec<Kind>,
    in_kind: bool,
    matrices: Vec<Matrix>,
    text: String,
}

pub(super) fn read(text: &str, name: &str) -> Result<Imported, Located> {
    let line_of =
        |at: usize| 1 + text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count();
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut state = State::default();
    let mut path: Vec<String> = Vec::new();
    loop {
        let at = reader.buffer_position() as usize;
        let event = reader.read_event().map_err(|e| {
            Located::new(format!("not XML: {e}")).line(line_of(reader.error_position() as usize))
        })?;
        let step = match event {
            Event::Start(tag) => {
                let tag_name = tag.local_name().as_ref().to_string();
                path.push(tag_name.clone());
                if path.len() > DEPTH_MAX {
                    Err(format!("tags within tags, more than {DEPTH_MAX} deep"))
                } else {
                    attributes_of(&tag).and_then(|found| state.start(&tag_name, found, line_of(at)))
                }
            }
            Event::End(_) => state.end(&path.pop().unwrap_or_default()),
            Event::Text(t) if state.in_numbers(&path) => {
                state.text.push_str(&t.xml10_content());
                Ok(())
            }
            Event::DocType(t) if t.xml10_content().contains('[') => {
                Err("declares entities of its own, which hwloc's XML never does".into())
            }
            Event::GeneralRef(_) => Err("an entity, which hwloc's XML has nowhere".into()),
            Event::Eof if path.is_empty() => break,
            Event::Eof => {
                Err(format!("ends within <{}>: the file is not whole", path.last().map_or("", |p| p)))
            }
            _ => Ok(()),
        };
        step.map_err(|message| Located::new(message).line(line_of(at)))?;
    }
    if state.version.is_none() {
        return Err(Located::new("XML, but not hwloc's: no <topology>").line(1));
    }
    state.imported(name, line_of(text.len()))
}

fn attributes_of(tag: &BytesStart) -> Result<Attributes, String> {
    let mut found = Attributes::new();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|e| format!("not XML: {e}"))?;
        let value =
            attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).map_err(|e| e.to_string())?;
        found.insert(attribute.key.local_name().as_ref().to_string(), value.into_owned());
    }
    Ok(found)
}

impl State {
    fn in_numbers(&self, path: &[String]) -> bool {
        matches!(path.last().map(String::as_str), Some("indexes" | "u64values"))
    }

    fn start(&mut self, tag: &str, mut found: Attributes, line: usize) -> Result<(), String> {
        if tag == "topology" && self.version.is_none() {
            let version = found.remove("version").unwrap_or_else(|| "1".into());
            let major: Option<u32> = version.split('.').next().and_then(|v| v.parse().ok());
            if major.is_none_or(|v| v < 2) {
                return Err(
                    "XML of hwloc 1, which has no version; XML of hwloc 2 and later is read: `lstopo --if xml -i \
                     OLD.xml --of xml NEW.xml` of a newer hwloc writes it anew"
                        .into(),
                );
            }
            self.version = Some(version);
            return Ok(());
        }
        if self.version.is_none() {
            return Err(format!("XML, but not hwloc's: it starts with <{tag}>, not <topology>"));
        }
        match tag {
            "object" => self.object(found)?,
            "info" if self.in_kind => {
                if let (Some(kind), Some("CoreType")) =
                    (self.kinds.last_mut(), found.get("name").map(String::as_str))
                {
                    kind.word = found.remove("value");
                }
            }
            "info" if found.get("name").is_some_and(|n| n == "CPUModel") => {
                self.model = self.model.take().or(found.remove("value"));
            }
            "cpukind" => {
                self.in_kind = true;
                let cpus = cpuset(found.get("cpuset").map_or("", |s| s))?;
                self.kinds.push(Kind { cpus, word: None });
            }
            "distances2" => {
                let rows = found.get("nbobjs").and_then(|n| n.parse().ok()).unwrap_or(0);
                if rows > ELEMENTS_MAX {
                    return Err(format!(
                        "distances of {rows} objects; a machine has at most {ELEMENTS_MAX} elements"
                    ));
                }
                let (name, of) =
                    (found.remove("name").unwrap_or_default(), found.remove("type").unwrap_or_default());
                self.matrices.push(Matrix { name, of, rows, indexes: Vec::new(), values: Vec::new(), line });
            }
            "indexes" | "u64values" => self.text.clear(),
            _ => {}
        }
        Ok(())
    }

    fn object(&mut self, attributes: Attributes) -> Result<(), String> {
        let sort = attributes.get("type").ok_or("<object> without the attribute \"type\"")?.clone();
        let count = self.counts.entry(sort.clone()).or_insert(0);
        *count += 1;
        let number = *count - 1;
        if self.counts.values().sum::<u32>() as usize > OBJECTS_MAX {
            return Err(format!("more than {OBJECTS_MAX} objects"));
        }
        let set = |key: &str| attributes.get(key).map(|s| cpuset(s)).transpose();
        match sort.as_str() {
            "Machine" if self.allowed.is_none() => self.allowed = set("allowed_cpuset")?,
            "NUMANode" => {
                let cpus = set("cpuset")?.unwrap_or_default();
                let index = attributes.get("os_index").and_then(|i| i.parse().ok()).unwrap_or(number);
                if !cpus.is_empty() {
                    self.numa.push((index, cpus));
                }
            }
            _ => {}
        }
        self.open.push(Object { sort, attributes, number });
        if self.open.last().is_some_and(|o| o.sort == "PU") {
            self.cpu()?;
        }
        Ok(())
    }

    /// The innermost open object of a sort.
    fn around(&self, sort: &str) -> Option<&Object> {
        self.open.iter().rev().find(|o| o.sort == sort)
    }

    /// A processing unit: its place follows from the objects around it.
    fn cpu(&mut self) -> Result<(), String> {
        let index = self.open.last().and_then(|o| o.attributes.get("os_index"));
        let index: u32 = index
            .and_then(|i| i.parse().ok())
            .filter(|i| *i < 1 << 20)
            .ok_or("a PU without an os_index that is the number of a cpu")?;
        if self.allowed.as_ref().is_some_and(|allowed| !allowed.contains(&index)) {
            return Ok(());
        }
        let number = |sort: &str| self.around(sort).map(|o| o.number);
        let size = |sort: &str| -> Option<(u64, u64)> {
            let cache = self.around(sort)?;
            let bytes: u64 = cache.attributes.get("cache_size")?.parse().ok()?;
            let sharing = cpuset(cache.attributes.get("cpuset")?).ok()?.len() as u64;
            (1..=1 << 40).contains(&bytes).then_some((bytes, bytes / sharing.max(1)))
        };
        let package = self
            .around("Package")
            .map(|o| o.attributes.get("os_index").and_then(|i| i.parse().ok()).unwrap_or(o.number));
        let place = Place {
            chip: package.unwrap_or(0),
            l3: number("L3Cache"),
            l2: number("L2Cache"),
            core: number("Core").or(Some(index)),
            ..Place::default()
        };
        let l1_bytes = size("L1Cache").map(|(whole, _)| whole);
        let bytes = size("L2Cache").map(|(_, share)| share).or(l1_bytes).filter(|b| *b > 0);
        let memory = bytes.map(|bytes| Memory {
            bytes,
            hard: false,
            holds_code: true,
            l1_bytes,
            overflow_bytes_per_s: None,
        });
        if self.elements.len() == ELEMENTS_MAX {
            return Err(format!("more than {ELEMENTS_MAX} PUs; a machine has at most as many elements"));
        }
        self.elements.push(cpu(index, place, memory));
        Ok(())
    }

    fn end(&mut self, tag: &str) -> Result<(), String> {
        match tag {
            "object" => drop(self.open.pop()),
            "cpukind" => self.in_kind = false,
            "indexes" | "u64values" => {
                let Some(matrix) = self.matrices.last_mut() else { return Ok(()) };
                let most = matrix.rows * matrix.rows;
                let into = if tag == "indexes" { &mut matrix.indexes } else { &mut matrix.values };
                for word in self.text.split_whitespace() {
                    into.push(
                        word.parse().map_err(|_| format!("<{tag}>: {} is no whole number", quoted(word)))?,
                    );
                    if into.len() > most {
                        return Err(format!("<{tag}>: more numbers than {} objects have", matrix.rows));
                    }
                }
                self.text.clear();
            }
            _ => {}
        }
        Ok(())
    }

    fn imported(mut self, name: &str, last: usize) -> Result<Imported, Located> {
        if self.elements.is_empty() {
            return Err(Located::new("no PU that may be used: not a computer").line(last));
        }
        for e in &mut self.elements {
            let own = |(_, cpus): &&(u32, BTreeSet<u32>)| e.os_cpu.is_some_and(|cpu| cpus.contains(&cpu));
            // Of several nodes, such as high-bandwidth memory beside the usual one, the first counts.
            e.place.numa = self.numa.iter().find(own).map(|(node, _)| *node);
        }
        kinds(&mut self.elements, &self.kinds);
        let mut notes = vec![format!("{} cpus; limits are unmeasured", self.elements.len())];
        let description = format!("{}, as hwloc shows it", self.model.as_deref().unwrap_or("unknown cpu"));
        let mut machine = machine(name, description, std::mem::take(&mut self.elements));
        let mut found: BTreeMap<&str, Vec<Vec<f64>>> = BTreeMap::new();
        for matrix in &self.matrices {
            let known = [(LATENCY, 1e3), (BANDWIDTH, 1.0)].into_iter().find(|(name, _)| matrix.name == *name);
            match known {
                Some((name, unit)) => {
                    let rows = matrix
                        .between(&machine.elements, unit)
                        .map_err(|e| Located::new(e).line(matrix.line))?;
                    found.insert(name, rows);
                }
                None => notes.push(format!(
                    "distances {:?} between objects of type {:?} are left out: they have no unit",
                    matrix.name, matrix.of
                )),
            }
        }
        let n = machine.elements.len();
        if let Some(latency_ns) = found.remove(LATENCY) {
            let bandwidth_bytes_per_s = found.remove(BANDWIDTH).unwrap_or_else(|| vec![vec![0.0; n]; n]);
            machine.distances = Some(Distances { latency_ns, bandwidth_bytes_per_s });
        } else {
            notes.push("no latencies between cpus".into());
        }
        Ok(Imported { machine, notes })
    }
}

impl Matrix {
    /// Rows and columns in the order of the elements.
    fn between(&self, elements: &[Element], unit: f64) -> Result<Vec<Vec<f64>>, String> {
        let n = self.rows;
        if self.indexes.len() != n || self.values.len() != n * n {
            return Err(format!(
                "distances {:?}: {} indexes and {} values for {n} objects",
                self.name,
                self.indexes.len(),
                self.values.len()
            ));
        }
        let places: Result<Vec<usize>, String> = elements
            .iter()
            .map(|e| {
                let cpu = e.os_cpu.map(u64::from);
                let at = self.indexes.iter().position(|i| Some(*i) == cpu);
                at.ok_or_else(|| format!("distances {:?} have no {}: names do not match", self.name, e.name))
            })
            .collect();
        let places = places?;
        let row = |i: usize| places.iter().map(|j| self.values[i * n + j] as f64 / unit).collect();
        Ok(places.iter().map(|&i| row(i)).collect())
    }
}

/// What the cpus of each kind are: Intel's small cores by their name; else the slowest are little, those between mid.
fn kinds(elements: &mut [Element], kinds: &[Kind]) {
    if kinds.len() < 2 {
        return;
    }
    let last = kinds.len() - 1;
    let named = kinds.iter().any(|k| k.word.is_some());
    for e in elements {
        let Some(at) = kinds.iter().position(|k| e.os_cpu.is_some_and(|cpu| k.cpus.contains(&cpu))) else {
            continue;
        };
        let word = match (named, kinds[at].word.as_deref()) {
            (true, Some("IntelAtom")) => "atom",
            (true, _) => "core",
            (false, _) if at == last => "core",
            (false, _) if at == 0 => "little",
            (false, _) => "mid",
        };
        e.kind = word.into();
    }
}

/// `0x0000000f,0xffffffff`: 32 bits each, the lowest last.
fn cpuset(text: &str) -> Result<BTreeSet<u32>, String> {
    /// Bits of 32 cpus each; Linux knows 8192 cpus at most.
    const WORDS_MAX: usize = 256;
    let words: Vec<&str> = text.split(',').filter(|w| !w.trim().is_empty()).collect();
    let wrong = || format!("{} is not a set of cpus such as 0x0000000f", quoted(text));
    if words.len() > WORDS_MAX || text.contains("0xf...f") {
        return Err(wrong());
    }
    let mut cpus = BTreeSet::new();
    for (place, word) in words.iter().rev().enumerate() {
        let digits = word.trim().trim_start_matches("0x");
        let bits =
            if digits.is_empty() { 0 } else { u32::from_str_radix(digits, 16).map_err(|_| wrong())? };
        cpus.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| 32 * place as u32 + bit));
    }
    Ok(cpus)
}
