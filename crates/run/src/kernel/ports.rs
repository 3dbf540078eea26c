//! Which edge is which port of a kernel: by name, or by index in digits.

use super::abi;
use std::ffi::CStr;
use work::{EdgeId, Graph};

/// What a kernel says of a port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PortSpec {
    /// Unique among the kernel's inputs (outputs).
    pub name: String,
    /// `f32`, ..; empty = bytes.
    pub dtype: String,
    /// Of one instance; 0 = any size the application gives.
    pub bytes: u64,
    /// The length varies; the edge's bytes are the maximum.
    pub variable: bool,
    /// Input: may be overwritten by the output of the same index.
    pub in_place: bool,
    /// May be left unconnected.
    pub optional: bool,
    /// Last of its list: stands for one or more ports like it (none, when also optional).
    pub repeated: bool,
}

impl PortSpec {
    /// A port that takes any number of bytes.
    pub fn any(name: &str) -> PortSpec {
        PortSpec { name: name.into(), ..PortSpec::default() }
    }

    /// Any number of ports that take any number of bytes; none, too.
    pub fn any_number(name: &str) -> PortSpec {
        PortSpec { repeated: true, optional: true, ..PortSpec::any(name) }
    }

    /// From a descriptor.
    ///
    /// # Safety
    /// The port's pointers must be as `cellweave.h` says.
    pub(crate) unsafe fn from_raw(port: &abi::CwPort) -> Result<PortSpec, String> {
        let text = |p: *const std::ffi::c_char| match p.is_null() {
            true => String::new(),
            // SAFETY: the caller's promise: a NUL terminated text.
            false => unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned(),
        };
        let (name, mut dtype) = (text(port.name), text(port.dtype));
        if port.items > 1 {
            return Err(format!(
                "port '{name}' takes {} instances per firing; this version takes 1",
                port.items
            ));
        }
        if dtype == "bytes" {
            dtype.clear();
        }
        let item = item_bytes(&dtype).ok_or_else(|| {
            format!("port '{name}' has dtype '{dtype}'; known are u8 i16 i32 i64 u32 u64 f32 f64 c64 c128")
        })?;
        let mut bytes = port.bytes;
        if !port.shape.is_null() {
            // SAFETY: the shape has `dimensions` entries.
            let shape = unsafe { super::slice(port.shape, port.dimensions as usize) };
            let of_shape = shape.iter().try_fold(item, |product, &d| product.checked_mul(d));
            match of_shape {
                Some(b) if bytes == 0 || bytes == b => bytes = b,
                _ => {
                    return Err(format!(
                        "port '{name}' has {bytes} bytes and the shape {shape:?} of {dtype}"
                    ));
                }
            }
        }
        let has = |flag| port.flags & flag != 0;
        Ok(PortSpec {
            name,
            dtype,
            bytes,
            variable: has(abi::VARIABLE),
            in_place: has(abi::IN_PLACE),
            optional: has(abi::OPTIONAL),
            repeated: has(abi::REPEATED),
        })
    }
}

/// Bytes of one item of a dtype; 1 for plain bytes.
pub(crate) fn item_bytes(dtype: &str) -> Option<u64> {
    Some(match dtype {
        "" | "u8" => 1,
        "i16" => 2,
        "i32" | "u32" | "f32" => 4,
        "i64" | "u64" | "f64" | "c64" => 8,
        "c128" => 16,
        _ => return None,
    })
}

/// A task's edges in port order: one place per port as connected, `None` where an optional one is not. An output may
/// have several edges (a broadcast).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Matched {
    /// Per place: its edges (one, for inputs), and which [`PortSpec`] it is.
    pub places: Vec<(Vec<EdgeId>, usize)>,
}

/// Matches a task's inputs or outputs, which are `edges`.
///
/// # Errors
/// A sentence: a port that the kernel does not have (with the nearest), one that is missing, too many, another size.
pub(crate) fn matched(
    graph: &Graph,
    edges: &[EdgeId],
    output: bool,
    specs: &[PortSpec],
) -> Result<Matched, String> {
    let side = if output { "output" } else { "input" };
    if let Some(early) = specs.iter().rev().skip(1).find(|p| p.repeated) {
        return Err(format!("its {side} '{}' is repeated and not the last", early.name));
    }
    let repeated = specs.last().filter(|p| p.repeated);
    let fixed = specs.len() - usize::from(repeated.is_some());
    let mut places: Vec<(Vec<EdgeId>, usize)> = (0..fixed).map(|s| (Vec::new(), s)).collect();
    for &e in edges {
        let edge = &graph.edges[e];
        let (port, far) = if output { (&edge.from, &edge.to) } else { (&edge.to, &edge.from) };
        let name = port.name.as_str();
        let place = place_of(name, specs, fixed, repeated).ok_or_else(|| {
            let known = specs.iter().map(|p| p.name.as_str());
            match specs.len() {
                0 => format!("it has no {side}s, and the edge {} gives it '{name}'", edge_name(graph, e)),
                1 if name.bytes().all(|b| b.is_ascii_digit()) && repeated.is_none() => format!(
                    "it has 1 {side} ('{}'), and the edge {} is {side} number {name}",
                    specs[0].name,
                    edge_name(graph, e)
                ),
                _ => format!("it has no {side} '{name}'; {}", allowed(name, known)),
            }
        })?;
        if place > fixed + edges.len() {
            return Err(format!("its {side} '{name}' is beyond the number of edges"));
        }
        while places.len() <= place {
            places.push((Vec::new(), fixed));
        }
        let taken = &mut places[place].0;
        let same_port = |&other: &EdgeId| output && graph.edges[other].from.name == name;
        if let Some(&other) = taken.iter().find(|o| !same_port(o)) {
            return Err(format!(
                "its {side} '{}' is connected twice: {} and {}",
                specs[places[place].1].name,
                edge_name(graph, other),
                edge_name(graph, e)
            ));
        }
        taken.push(e);
        let spec = &specs[places[place].1];
        if spec.bytes != 0 && spec.bytes != edge.bytes {
            return Err(format!(
                "its {side} '{}' has {} bytes per instance, the edge {} ({} '{}') says {}",
                spec.name,
                spec.bytes,
                edge_name(graph, e),
                if output { "to" } else { "from" },
                graph.tasks[far.task].name,
                edge.bytes
            ));
        }
        let item = item_bytes(&spec.dtype).unwrap_or(1);
        if !edge.bytes.is_multiple_of(item) && !spec.variable {
            return Err(format!(
                "its {side} '{}' is of {}, and the {} bytes of the edge {} are no whole number of them",
                spec.name,
                spec.dtype,
                edge.bytes,
                edge_name(graph, e)
            ));
        }
    }
    let missing =
        places.iter().find(|(edges, spec)| edges.is_empty() && (!specs[*spec].optional || *spec == fixed));
    if let Some((_, spec)) = missing {
        return Err(format!("its {side} '{}' is not connected", specs[*spec].name));
    }
    if let Some(r) = repeated.filter(|r| !r.optional && places.len() == fixed) {
        return Err(format!("its {side} '{0}' needs at least one connection ('{0}0')", r.name));
    }
    Ok(Matched { places })
}

fn place_of(name: &str, specs: &[PortSpec], fixed: usize, repeated: Option<&PortSpec>) -> Option<usize> {
    if let Some(place) = specs[..fixed].iter().position(|p| p.name == name) {
        return Some(place);
    }
    let number = |digits: &str| match digits.bytes().all(|b| b.is_ascii_digit()) {
        true => digits.parse::<usize>().ok().filter(|n| *n < 1 << 32),
        false => None,
    };
    if let Some(r) = repeated {
        match name.strip_prefix(r.name.as_str()) {
            Some("") => return Some(fixed),
            Some(digits) if !r.name.is_empty() => {
                if let Some(n) = number(digits) {
                    return Some(fixed + n);
                }
            }
            _ => {}
        }
    }
    number(name).filter(|n| !name.is_empty() && (*n < fixed || repeated.is_some()))
}

/// `split.3 -> band3.in`.
pub(crate) fn edge_name(graph: &Graph, e: EdgeId) -> String {
    let edge = &graph.edges[e];
    let end = |p: &work::Port| format!("{}.{}", graph.tasks[p.task].name, p.name);
    format!("{} -> {}", end(&edge.from), end(&edge.to))
}

/// ``known are: a, b; did you mean `x`?``.
pub(crate) fn allowed<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let mut list = known.iter().take(40).copied().collect::<Vec<_>>().join(", ");
    if known.len() > 40 {
        list.push_str(", ..");
    }
    match known.is_empty() {
        true => "there are none".into(),
        false => format!("known are: {list}{}", ground::did_you_mean(wrong, known)),
    }
}
