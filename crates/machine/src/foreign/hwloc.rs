//! A machine as hwloc's XML, version 2: what `lstopo`, `hwloc-calc` and whatever links hwloc read.
//!
//! Every cpu is a PU in its core, caches, NUMA node and package. Latencies and bandwidths are matrices between PUs
//! (`distances2`). hwloc has whole numbers and no units, so the matrices' names say which: ps and bytes/s.

use crate::{Element, Machine};
use ground::Located;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Name of the matrix of latencies, in ps.
pub(super) const LATENCY: &str = "CellweaveLatencyPs";
/// Name of the matrix of bandwidths, in bytes/s.
pub(super) const BANDWIDTH: &str = "CellweaveBandwidthBps";
/// hwloc's kinds of distances: from the user (2), means latency (4) or bandwidth (8).
const KIND_LATENCY: u32 = 2 + 4;
const KIND_BANDWIDTH: u32 = 2 + 8;
/// Numbers in a line, as hwloc itself writes them.
const NUMBERS_PER_LINE: usize = 10;

/// Writing into a `String` cannot fail, so the results of `write!` are dropped here and nowhere else.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{ let _ = write!($out, $($arg)*); }};
}

type Cpus = BTreeSet<u32>;

/// An object with its cpus, and what is in it.
struct Object {
    sort: &'static str,
    cpus: Cpus,
    attributes: String,
    inner: Vec<Object>,
}

/// hwloc's XML of a machine of cpus.
///
/// # Errors
/// When an element is no cpu of an operating system, as an SPE, or two are the same one.
///
/// ```
/// let pair = machine::foreign::parse(",\n95.5,\n", "pair").unwrap().machine;
/// let xml = machine::foreign::hwloc(&pair).unwrap();
/// assert_eq!(machine::foreign::parse(&xml, "again").unwrap().machine.distances, pair.distances);
/// ```
pub fn hwloc(machine: &Machine) -> Result<String, Located> {
    let cpus = machine.elements.iter().map(|e| {
        e.os_cpu.ok_or_else(|| {
            let message =
                format!("{} is no cpu of an operating system (no os_cpu), which hwloc's PUs are", e.name);
            Located::new(message).key("element")
        })
    });
    let cpus: Vec<u32> = cpus.collect::<Result<_, _>>()?;
    let all: Cpus = cpus.iter().copied().collect();
    if all.len() != cpus.len() {
        return Err(Located::new("two elements are the same cpu").key("element"));
    }
    let mut root = Object {
        sort: "Machine",
        cpus: all.clone(),
        attributes: " os_index=\"0\"".into(),
        inner: Vec::new(),
    };
    for object in objects(machine) {
        root.put(object);
    }
    let nodes = nodes(machine, &all);
    nodes.iter().for_each(|(_, cpus)| root.group(cpus));
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n\
         <topology version=\"2.0\">\n",
    );
    let mut writer = Writer { machine, nodes: &nodes, numbers: 0, depth: 1 };
    writer.object(&mut out, &root, None);
    if let Some(d) = &machine.distances {
        matrix(&mut out, LATENCY, KIND_LATENCY, &cpus, &d.latency_ns, 1e3);
        if d.bandwidth_bytes_per_s.iter().flatten().any(|b| *b > 0.0) {
            matrix(&mut out, BANDWIDTH, KIND_BANDWIDTH, &cpus, &d.bandwidth_bytes_per_s, 1.0);
        }
    }
    out.push_str("</topology>\n");
    Ok(out)
}

/// Packages, caches, cores and PUs, the largest first.
fn objects(machine: &Machine) -> Vec<Object> {
    let l1 = |e: &Element| e.memory.as_ref().and_then(|m| m.l1_bytes);
    let mut found = Vec::new();
    let mut add = |sort: &'static str,
                   of: &dyn Fn(&Element) -> Option<u32>,
                   more: &dyn Fn(u32, &[&Element]) -> String| {
        let mut groups: BTreeMap<u32, Vec<&Element>> = BTreeMap::new();
        for e in &machine.elements {
            if let Some(number) = of(e) {
                groups.entry(number).or_default().push(e);
            }
        }
        for (number, members) in groups {
            let cpus = members.iter().filter_map(|e| e.os_cpu).collect();
            found.push(Object { sort, cpus, attributes: more(number, &members), inner: Vec::new() });
        }
    };
    let index = |number: u32, _: &[&Element]| format!(" os_index=\"{number}\"");
    let cache = |depth: u32, bytes: u64, sort: u32| {
        format!(
            " cache_size=\"{bytes}\" depth=\"{depth}\" cache_linesize=\"64\" cache_associativity=\"0\" \
             cache_type=\"{sort}\""
        )
    };
    // A machine file has no size of an L3; hwloc takes 0 for unknown. Types: 0 holds code and data, 1 data.
    let l2_bytes = |members: &[&Element]| {
        members.iter().filter_map(|e| e.memory.as_ref()).filter(|m| !m.hard).map(|m| m.bytes).sum()
    };
    add("Package", &|e| Some(e.place.chip), &index);
    add("L3Cache", &|e| e.place.l3, &|_, _| cache(3, 0, 0));
    add("L2Cache", &|e| e.place.l2, &|_, members| cache(2, l2_bytes(members), 0));
    let core = |e: &Element| e.place.core.or(e.os_cpu);
    let has_l1 = |e: &Element| l1(e).and(core(e));
    add("L1Cache", &has_l1, &|_, members| cache(1, members.first().and_then(|e| l1(e)).unwrap_or(0), 1));
    add("Core", &core, &index);
    add("PU", &|e| e.os_cpu, &index);
    // Of equal ones the outer is the one that comes first above.
    found.sort_by_key(|o| std::cmp::Reverse(o.cpus.len()));
    found
}

/// The NUMA nodes; hwloc wants one at the least.
fn nodes(machine: &Machine, all: &Cpus) -> Vec<(u32, Cpus)> {
    let mut nodes: BTreeMap<u32, Cpus> = BTreeMap::new();
    for e in &machine.elements {
        if let (Some(node), Some(cpu)) = (e.place.numa, e.os_cpu) {
            nodes.entry(node).or_default().insert(cpu);
        }
    }
    if nodes.values().map(Cpus::len).sum::<usize>() < all.len() {
        nodes = BTreeMap::from([(0, all.clone())]);
    }
    nodes.into_iter().collect()
}

impl Object {
    /// Puts an object into the innermost one that has all its cpus. One that lies across others is left out: a tree has
    /// no place for it.
    fn put(&mut self, object: Object) {
        if let Some(inner) = self.inner.iter_mut().find(|o| o.cpus.is_superset(&object.cpus)) {
            return inner.put(object);
        }
        if self.inner.iter().all(|o| o.cpus.is_disjoint(&object.cpus)) {
            self.inner.push(object);
        }
    }

    /// Makes a group of those that a NUMA node has, where no object has just its cpus.
    fn group(&mut self, cpus: &Cpus) {
        if self.cpus == *cpus {
            return;
        }
        if let Some(inner) = self.inner.iter_mut().find(|o| o.cpus.is_superset(cpus)) {
            return inner.group(cpus);
        }
        let whole = self.inner.iter().all(|o| o.cpus.is_subset(cpus) || o.cpus.is_disjoint(cpus));
        if whole {
            let (inside, outside) =
                std::mem::take(&mut self.inner).into_iter().partition(|o| o.cpus.is_subset(cpus));
            self.inner = outside;
            let attributes = " kind=\"1001\" subkind=\"0\"".into();
            self.inner.push(Object { sort: "Group", cpus: cpus.clone(), attributes, inner: inside });
        }
    }
}

struct Writer<'a> {
    machine: &'a Machine,
    nodes: &'a [(u32, Cpus)],
    /// Objects so far: every one has a number of its own.
    numbers: u32,
    depth: usize,
}

impl Writer<'_> {
    /// `around` are the cpus of the object around this one.
    fn object(&mut self, out: &mut String, object: &Object, around: Option<&Cpus>) {
        let depth = self.depth;
        let indent = "  ".repeat(depth);
        self.open(out, &indent, object.sort, &object.attributes, &object.cpus);
        if object.sort == "PU" {
            out.push_str("/>\n");
            return;
        }
        out.push_str(">\n");
        if around.is_none() {
            put!(out, "{indent}  <info name=\"Backend\" value=\"cellweave\"/>\n");
        }
        if object.sort == "Package" {
            let model = escaped(&self.machine.description);
            put!(out, "{indent}  <info name=\"CPUModel\" value=\"{model}\"/>\n");
        }
        // A node is in the outermost object that has just its cpus.
        let nodes = self.nodes;
        for (node, cpus) in nodes.iter().filter(|(_, cpus)| *cpus == object.cpus && around != Some(cpus)) {
            self.open(out, &format!("{indent}  "), "NUMANode", &format!(" os_index=\"{node}\""), cpus);
            out.push_str("/>\n");
        }
        let mut inner: Vec<&Object> = object.inner.iter().collect();
        inner.sort_by_key(|o| o.cpus.first().copied());
        self.depth += 1;
        inner.into_iter().for_each(|o| self.object(out, o, Some(&object.cpus)));
        self.depth = depth;
        put!(out, "{indent}</object>\n");
    }

    fn open(&mut self, out: &mut String, indent: &str, sort: &str, attributes: &str, cpus: &Cpus) {
        self.numbers += 1;
        let own = self.nodes.iter().filter(|(_, node)| !node.is_disjoint(cpus)).map(|(node, _)| *node);
        let (cpus, nodes) = (bits(cpus), bits(&own.collect()));
        put!(out, "{indent}<object type=\"{sort}\"{attributes} cpuset=\"{cpus}\" complete_cpuset=\"{cpus}\"");
        if sort == "Machine" {
            put!(out, " allowed_cpuset=\"{cpus}\"");
        }
        put!(out, " nodeset=\"{nodes}\" complete_nodeset=\"{nodes}\"");
        if sort == "Machine" {
            put!(out, " allowed_nodeset=\"{nodes}\"");
        }
        put!(out, " gp_index=\"{}\"", self.numbers);
    }
}

/// 32 bits each, the highest first.
fn bits(set: &Cpus) -> String {
    let words = set.last().map_or(1, |last| *last as usize / 32 + 1);
    let mut bits = vec![0u32; words];
    set.iter().for_each(|&i| bits[i as usize / 32] |= 1 << (i % 32));
    bits.iter().rev().map(|word| format!("0x{word:08x}")).collect::<Vec<_>>().join(",")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn matrix(out: &mut String, name: &str, kind: u32, cpus: &[u32], rows: &[Vec<f64>], unit: f64) {
    put!(
        out,
        "  <distances2 type=\"PU\" nbobjs=\"{}\" kind=\"{kind}\" name=\"{name}\" indexing=\"os\">\n",
        cpus.len()
    );
    let mut lines = |tag: &str, numbers: Vec<String>| {
        for some in numbers.chunks(NUMBERS_PER_LINE) {
            let text = some.join(" ") + " ";
            put!(out, "    <{tag} length=\"{}\">{text}</{tag}>\n", text.len());
        }
    };
    lines("indexes", cpus.iter().map(u32::to_string).collect());
    lines("u64values", rows.iter().flatten().map(|x| ((x * unit).round() as u64).to_string()).collect());
    out.push_str("  </distances2>\n");
}
