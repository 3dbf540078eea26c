//! `Machine`: read, written, and as JSON for tables and pictures.

use crate::error::request;
use cellweave::machine::{Element, HandoverCurve, HandoverPoint, Limit};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

/// A machine: elements and limits.
#[pyclass(frozen, module = "cellweave._core")]
pub(crate) struct Machine(pub cellweave::machine::Machine);

#[pymethods]
impl Machine {
    /// A preset, `host`, or a machine file.
    #[staticmethod]
    fn load(py: Python<'_>, spec: &str) -> PyResult<Machine> {
        py.detach(|| cellweave::machine::load(spec)).map(Machine).map_err(request)
    }

    /// The text of a machine file.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str) -> PyResult<Machine> {
        py.detach(|| cellweave::machine::file::parse(text, "the machine")).map(Machine).map_err(request)
    }

    /// A file of another tool, with sentences about what it had not.
    #[staticmethod]
    fn foreign(py: Python<'_>, path: std::path::PathBuf) -> PyResult<(Machine, Vec<String>)> {
        let imported = py.detach(|| cellweave::machine::foreign::read(&path)).map_err(request)?;
        Ok((Machine(imported.machine), imported.notes))
    }

    /// hwloc's XML.
    fn to_hwloc(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| cellweave::machine::foreign::hwloc(&self.0)).map_err(request)
    }

    /// The text of a machine file.
    fn to_toml(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| cellweave::machine::file::to_text(&self.0)).map_err(request)
    }

    /// Everything that is known, as JSON.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| as_json(&self.0).to_string())
    }
}

fn as_json(m: &cellweave::machine::Machine) -> Value {
    let overheads: Map<String, Value> = m
        .overheads
        .iter()
        .map(|(kind, o)| {
            (kind.clone(), json!({"per_transfer_ns": o.per_transfer_ns, "per_byte_ns": o.per_byte_ns}))
        })
        .collect();
    json!({
        "name": m.name,
        "description": m.description,
        "measured": m.measured,
        "quota_cpus": m.quota_cpus,
        "elements": m.elements.iter().map(element).collect::<Vec<_>>(),
        "limits": m.limits.iter().map(|l| limit(m, l)).collect::<Vec<_>>(),
        "roles": m.kinds().into_iter().map(|k| (k.into(), m.role(k).name().into())).collect::<Map<String, Value>>(),
        "overheads": overheads,
        "handovers": m.handovers.iter().map(curve).collect::<Vec<_>>(),
        "together": m.together.iter().map(|t| json!({
            "elements": t.elements.iter().map(|e| m.elements[*e].name.as_str()).collect::<Vec<_>>(),
            "computing": t.computing,
            "memory": t.memory,
            "cpus": t.cpus(),
            "hidden_siblings": t.are_hidden_siblings(m),
            "in_words": t.in_words(m),
        })).collect::<Vec<_>>(),
        "distances": m.distances.as_ref().map(|d| json!({
            "latency_ns": d.latency_ns,
            "bandwidth_bytes_per_s": d.bandwidth_bytes_per_s,
        })),
    })
}

/// A curve, its points with names, and the ring that plans take for each size.
fn curve(curve: &HandoverCurve) -> Value {
    let point = |p: &HandoverPoint| {
        json!({
            "bytes": p.bytes,
            "ring_bytes": p.ring_bytes,
            "near_line_ns": p.near_line_ns,
            "alone_line_ns": p.alone_line_ns,
            "both_line_ns": p.both_line_ns,
        })
    };
    let mut sizes: Vec<u64> = curve.points.iter().map(|p| p.bytes).collect();
    sizes.dedup();
    let best = |&bytes: &u64| {
        let (alone, both) = (curve.best_ring_bytes(bytes, false), curve.best_ring_bytes(bytes, true));
        json!({
            "bytes": bytes,
            "alone_ring_bytes": alone,
            "alone_line_ns": curve.line_ns(bytes, alone, false),
            "both_ring_bytes": both,
            "both_line_ns": curve.line_ns(bytes, both, true),
        })
    };
    json!({
        "shares": curve.shares.name(),
        "points": curve.points.iter().map(point).collect::<Vec<_>>(),
        "best": sizes.iter().map(best).collect::<Vec<_>>(),
    })
}

fn element(e: &Element) -> Value {
    json!({
        "name": e.name,
        "kind": e.kind,
        "place": {
            "chip": e.place.chip,
            "numa": e.place.numa,
            "l3": e.place.l3,
            "l2": e.place.l2,
            "core": e.place.core,
            "tile": e.place.tile,
            "capacity": e.place.capacity,
        },
        "memory": e.memory.as_ref().map(|m| json!({
            "bytes": m.bytes,
            "hard": m.hard,
            "holds_code": m.holds_code,
            "l1_bytes": m.l1_bytes,
            "overflow_bytes_per_s": m.overflow_bytes_per_s,
        })),
        "incoming_max": e.incoming_max,
        "outgoing_max": e.outgoing_max,
        "os_cpu": e.os_cpu,
    })
}

fn limit(m: &cellweave::machine::Machine, l: &Limit) -> Value {
    let names = |ids: &[usize]| ids.iter().map(|&i| m.elements[i].name.clone()).collect::<Vec<_>>();
    let pairs: Vec<Value> =
        l.pairs.iter().map(|b| json!({"from": names(&b.from), "to": names(&b.to)})).collect();
    json!({"name": l.name, "capacity_bytes_per_s": l.capacity_bytes_per_s, "error": l.error, "pairs": pairs})
}

/// The machines that are known by name, each with a line about it.
#[pyfunction]
pub(crate) fn presets() -> Vec<(&'static str, &'static str)> {
    cellweave::machine::list()
}
