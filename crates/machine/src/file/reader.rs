//! Text to machine.

use super::FORMAT;
use super::table::{Table, locate};
use crate::check::{self, ELEMENTS_MAX, REFERENCES_MAX};
use crate::{
    Block, Distances, Element, ElementId, HandoverCurve, HandoverPoint, Limit, Machine, Memory, Nearness,
    Overhead, Place, Role, Together,
};
use ground::{Located, did_you_mean};
use std::collections::HashMap;
use toml::de::DeTable;

const TOP: [&str; 13] = [
    "format",
    "name",
    "description",
    "measured",
    "computer",
    "quota_cpus",
    "kind",
    "element",
    "limit",
    "overhead",
    "handover",
    "together",
    "distances",
];
const ELEMENT: [&str; 14] = [
    "name",
    "kind",
    "chip",
    "numa",
    "l3",
    "l2",
    "core",
    "tile",
    "capacity",
    "os_cpu",
    "pace",
    "memory",
    "incoming_max",
    "outgoing_max",
];
const MEMORY: [&str; 5] = ["bytes", "hard", "holds_code", "l1_bytes", "overflow_bytes_per_s"];
const LIMIT: [&str; 4] = ["name", "capacity_bytes_per_s", "error", "pairs"];
const OVERHEAD: [&str; 2] = ["per_transfer_ns", "per_byte_ns"];
const HANDOVER: [&str; 2] = ["shares", "points"];
const TOGETHER: [&str; 3] = ["elements", "computing", "memory"];
const DISTANCES: [&str; 2] = ["latency_ns", "bandwidth_bytes_per_s"];

pub(super) fn machine(text: &str) -> Result<Machine, Located> {
    let line_of =
        |at: usize| 1 + text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count();
    let document = DeTable::parse(text).map_err(|e| {
        let message: String = e.message().lines().collect::<Vec<_>>().join("; ").chars().take(300).collect();
        Located::new(message).line(e.span().map(|s| line_of(s.start)))
    })?;
    let root = document.get_ref();
    let machine = top(root).and_then(|machine| check::check(&machine).map(|()| machine));
    machine.map_err(|e| {
        let line = e.key.as_ref().and_then(|key| locate(root, key)).map(line_of);
        e.line(line)
    })
}

fn top(root: &DeTable) -> Result<Machine, Located> {
    let top = Table::new(root, String::new(), &TOP)?;
    if let Some(format) = top.u32("format")?.filter(|f| *f != FORMAT) {
        return Err(Located::new(format!("{format}; this cellweave reads format {FORMAT}")).key("format"));
    }
    let tables = top.tables("element", &ELEMENT)?;
    if tables.len() > ELEMENTS_MAX {
        let message = format!("{} elements; a machine has 1 to {ELEMENTS_MAX}", tables.len());
        return Err(Located::new(message).key("element"));
    }
    let elements = tables.iter().map(element).collect::<Result<Vec<_>, _>>()?;
    // First the names, then what refers to them.
    check::elements(&elements)?;
    let mut names = Names::of(&elements);
    let limits = top
        .tables("limit", &LIMIT)?
        .iter()
        .map(|table| limit(table, &mut names))
        .collect::<Result<Vec<_>, _>>()?;
    let groups = top.tables("together", &TOGETHER)?;
    let groups = groups.iter().map(|table| together(table, &mut names)).collect::<Result<Vec<_>, _>>()?;
    let mut machine = Machine {
        name: top.needed("name", top.text("name")?)?,
        description: top.text("description")?.unwrap_or_default(),
        limits,
        measured: top.flag("measured")?.unwrap_or(false),
        computer: top.text("computer")?,
        quota_cpus: top.float("quota_cpus")?,
        handovers: top.tables("handover", &HANDOVER)?.iter().map(handover).collect::<Result<Vec<_>, _>>()?,
        together: groups,
        ..Machine::default()
    };
    machine.elements = elements;
    let paces: Vec<Option<f64>> = tables.iter().map(|t| t.float("pace")).collect::<Result<_, _>>()?;
    if paces.iter().any(Option::is_some) {
        machine.paces = paces.into_iter().map(|pace| pace.unwrap_or(1.0)).collect();
    }
    if let Some(kinds) = top.open_table("kind")? {
        for kind in kinds.keys() {
            let Some(table) = kinds.table(kind, &["role"])? else { continue };
            machine.roles.insert(kind.into(), table.needed("role", role(&table)?)?);
        }
    }
    if let Some(kinds) = top.open_table("overhead")? {
        for kind in kinds.keys() {
            let table = kinds.table(kind, &OVERHEAD)?;
            let read = |key| table.as_ref().map_or(Ok(None), |t| t.float(key));
            let per_transfer_ns = read("per_transfer_ns")?.unwrap_or(0.0);
            let per_byte_ns = read("per_byte_ns")?.unwrap_or(0.0);
            machine.overheads.insert(kind.into(), Overhead { per_transfer_ns, per_byte_ns });
        }
    }
    if let Some(table) = top.table("distances", &DISTANCES)? {
        machine.distances = Some(Distances {
            latency_ns: table.needed("latency_ns", table.matrix("latency_ns")?)?,
            bandwidth_bytes_per_s: table
                .needed("bandwidth_bytes_per_s", table.matrix("bandwidth_bytes_per_s")?)?,
        });
    }
    Ok(machine)
}

fn role(table: &Table) -> Result<Option<Role>, Located> {
    word(table, "role", &Role::ALL.map(Role::name), Role::from_name)
}

/// The value that one of a few words stands for.
fn word<T>(
    table: &Table,
    key: &str,
    names: &[&str],
    value: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Located> {
    let Some(name) = table.text(key)? else { return Ok(None) };
    value(&name).map(Some).ok_or_else(|| {
        let shown: String = name.chars().take(60).collect();
        let near = did_you_mean(&name, names.iter().copied());
        let message = format!("{shown:?} is none of {}{near}", names.join(", "));
        Located::new(message).key(table.path(key))
    })
}

fn handover(table: &Table) -> Result<HandoverCurve, Located> {
    let shares = word(table, "shares", &Nearness::ALL.map(Nearness::name), Nearness::from_name)?;
    let rows = table.needed("points", table.matrix("points")?)?;
    let point = |(i, row): (usize, &Vec<f64>)| match row[..] {
        [bytes, ring_bytes, near_line_ns, alone_line_ns, both_line_ns] => {
            let (bytes, ring_bytes) = (bytes as u64, ring_bytes as u64);
            Ok(HandoverPoint { bytes, ring_bytes, near_line_ns, alone_line_ns, both_line_ns })
        }
        _ => {
            let message = format!(
                "{} numbers; a point has 5: bytes at once, bytes of the ring, ns per line near, one way, both ways",
                row.len()
            );
            Err(Located::new(message).key(table.path(&format!("points[{i}]"))))
        }
    };
    let points = rows.iter().enumerate().map(point).collect::<Result<_, _>>()?;
    Ok(HandoverCurve { shares: table.needed("shares", shares)?, points })
}

fn together(table: &Table, names: &mut Names) -> Result<Together, Located> {
    let elements = names.elements(&table.texts("elements")?);
    Ok(Together {
        elements: elements.map_err(|e| e.key(table.path("elements")))?,
        computing: table.needed("computing", table.float("computing")?)?,
        memory: table.needed("memory", table.float("memory")?)?,
    })
}

fn element(table: &Table) -> Result<Element, Located> {
    let mut element = Element {
        name: table.needed("name", table.text("name")?)?,
        kind: table.text("kind")?.unwrap_or_else(|| "core".into()),
        place: Place {
            chip: table.u32("chip")?.unwrap_or(0),
            numa: table.u32("numa")?,
            l3: table.u32("l3")?,
            l2: table.u32("l2")?,
            core: table.u32("core")?,
            tile: table.u32_pair("tile")?,
            capacity: table.u32("capacity")?,
        },
        memory: None,
        incoming_max: table.u32("incoming_max")?,
        outgoing_max: Default::default(),
        os_cpu: table.u32("os_cpu")?,
    };
    if let Some(memory) = table.table("memory", &MEMORY)? {
        element.memory = Some(Memory {
            bytes: memory.needed("bytes", memory.u64("bytes")?)?,
            hard: memory.flag("hard")?.unwrap_or(false),
            holds_code: memory.flag("holds_code")?.unwrap_or(true),
            l1_bytes: memory.u64("l1_bytes")?,
            overflow_bytes_per_s: memory.float("overflow_bytes_per_s")?,
        });
    }
    if let Some(kinds) = table.open_table("outgoing_max")? {
        for kind in kinds.keys() {
            let most = kinds.needed(kind, kinds.u32(kind)?)?;
            element.outgoing_max.insert(kind.into(), most);
        }
    }
    Ok(element)
}

fn limit(table: &Table, names: &mut Names) -> Result<Limit, Located> {
    let mut pairs = Vec::new();
    for block in table.tables("pairs", &["from", "to"])? {
        pairs.push(Block {
            from: names.elements(&block.texts("from")?).map_err(|e| e.key(block.path("from")))?,
            to: names.elements(&block.texts("to")?).map_err(|e| e.key(block.path("to")))?,
        });
    }
    let capacity = table.float("capacity_bytes_per_s")?;
    Ok(Limit {
        name: table.needed("name", table.text("name")?)?,
        capacity_bytes_per_s: table.needed("capacity_bytes_per_s", capacity)?,
        pairs,
        error: table.float("error")?,
    })
}

/// The elements by name, and how many were named already.
struct Names<'a> {
    elements: &'a [Element],
    index: HashMap<&'a str, ElementId>,
    references: usize,
}

impl<'a> Names<'a> {
    fn of(elements: &'a [Element]) -> Self {
        let index = elements.iter().enumerate().map(|(i, e)| (e.name.as_str(), i)).collect();
        Self { elements, index, references: 0 }
    }

    /// `*`, `FIRST..LAST` in the file's order, and names, one after the other.
    fn elements(&mut self, texts: &[&str]) -> Result<Vec<ElementId>, Located> {
        let mut ids = Vec::new();
        for text in texts {
            let range = if *text == "*" {
                0..self.elements.len()
            } else if let Some((first, last)) = text.split_once("..") {
                let (first, last) = (self.named(first)?, self.named(last)?);
                if first > last {
                    return Err(Located::new(format!(
                        "{text:?} runs backwards in the file's order of elements"
                    )));
                }
                first..last + 1
            } else {
                let id = self.named(text)?;
                id..id + 1
            };
            // A few letters can name thousands: stop before they fill the memory.
            self.references += range.len();
            if self.references > REFERENCES_MAX {
                let message = format!("more than {REFERENCES_MAX} elements in the pairs of all limits");
                return Err(Located::new(message));
            }
            ids.extend(range);
        }
        Ok(ids)
    }

    fn named(&self, name: &str) -> Result<ElementId, Located> {
        self.index.get(name).copied().ok_or_else(|| {
            let near = did_you_mean(name, self.elements.iter().map(|e| e.name.as_str()));
            let shown: String = name.chars().take(60).collect();
            Located::new(format!("unknown element {shown:?}{near}"))
        })
    }
}
