//! Machine to text.

use super::FORMAT;
use crate::{Block, Element, ElementId, Machine};
use std::fmt::Write;

/// Writing into a `String` cannot fail, so the results of `write!` are dropped here and nowhere else.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{ let _ = write!($out, $($arg)*); }};
}

pub(super) fn machine(machine: &Machine) -> String {
    let mut out = String::new();
    put!(out, "format = {FORMAT}\nname = {}\n", text(&machine.name));
    if !machine.description.is_empty() {
        put!(out, "description = {}\n", text(&machine.description));
    }
    put!(out, "measured = {}\n", machine.measured);
    if let Some(computer) = &machine.computer {
        put!(out, "computer = {}\n", text(computer));
    }
    if let Some(quota) = machine.quota_cpus {
        put!(out, "quota_cpus = {quota:?}\n");
    }
    for (kind, role) in &machine.roles {
        put!(out, "\n[kind.{kind}]\nrole = {}\n", text(role.name()));
    }
    for (id, e) in machine.elements.iter().enumerate() {
        element(&mut out, e, machine.paces.get(id).copied());
    }
    for limit in &machine.limits {
        put!(out, "\n[[limit]]\nname = {}\n", text(&limit.name));
        put!(out, "capacity_bytes_per_s = {:?}\n", limit.capacity_bytes_per_s);
        if let Some(error) = limit.error {
            put!(out, "error = {error:?}\n");
        }
        out.push_str("pairs = [");
        for (i, Block { from, to }) in limit.pairs.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            put!(out, "{comma}{{ from = {}, to = {} }}", ids(from, machine), ids(to, machine));
        }
        out.push_str("]\n");
    }
    for (kind, o) in &machine.overheads {
        put!(out, "\n[overhead.{kind}]\n");
        put!(out, "per_transfer_ns = {:?}\nper_byte_ns = {:?}\n", o.per_transfer_ns, o.per_byte_ns);
    }
    for curve in &machine.handovers {
        put!(out, "\n[[handover]]\nshares = {}\npoints = [\n", text(curve.shares.name()));
        for p in &curve.points {
            let ns = [p.near_line_ns, p.alone_line_ns, p.both_line_ns].map(|x| format!("{x:?}")).join(", ");
            put!(out, "  [{}, {}, {ns}],\n", p.bytes, p.ring_bytes);
        }
        out.push_str("]\n");
    }
    for group in &machine.together {
        put!(out, "\n[[together]]\nelements = {}\n", ids(&group.elements, machine));
        put!(out, "computing = {:?}\nmemory = {:?}\n", group.computing, group.memory);
    }
    if let Some(d) = &machine.distances {
        out.push_str("\n[distances]\n");
        matrix(&mut out, "latency_ns", &d.latency_ns);
        matrix(&mut out, "bandwidth_bytes_per_s", &d.bandwidth_bytes_per_s);
    }
    out
}

fn element(out: &mut String, e: &Element, pace: Option<f64>) {
    put!(out, "\n[[element]]\nname = {}\nkind = {}\nchip = {}\n", text(&e.name), text(&e.kind), e.place.chip);
    let numbers = [
        ("numa", e.place.numa),
        ("l3", e.place.l3),
        ("l2", e.place.l2),
        ("core", e.place.core),
        ("capacity", e.place.capacity),
        ("os_cpu", e.os_cpu),
        ("incoming_max", e.incoming_max),
    ];
    for (key, number) in numbers {
        if let Some(number) = number {
            put!(out, "{key} = {number}\n");
        }
    }
    if let Some(pace) = pace {
        put!(out, "pace = {pace:?}\n");
    }
    if let Some([column, row]) = e.place.tile {
        put!(out, "tile = [{column}, {row}]\n");
    }
    if !e.outgoing_max.is_empty() {
        let kinds: Vec<String> = e.outgoing_max.iter().map(|(kind, n)| format!("{kind} = {n}")).collect();
        put!(out, "outgoing_max = {{ {} }}\n", kinds.join(", "));
    }
    if let Some(m) = &e.memory {
        put!(out, "memory = {{ bytes = {}, hard = {}", m.bytes, m.hard);
        if !m.holds_code {
            out.push_str(", holds_code = false");
        }
        if let Some(l1) = m.l1_bytes {
            put!(out, ", l1_bytes = {l1}");
        }
        if let Some(overflow) = m.overflow_bytes_per_s {
            put!(out, ", overflow_bytes_per_s = {overflow:?}");
        }
        out.push_str(" }\n");
    }
}

fn matrix(out: &mut String, key: &str, rows: &[Vec<f64>]) {
    put!(out, "{key} = [\n");
    for row in rows {
        let numbers: Vec<String> = row.iter().map(|x| format!("{x:?}")).collect();
        put!(out, "  [{}],\n", numbers.join(", "));
    }
    out.push_str("]\n");
}

/// `"*"`, `"CPU0..CPU63"`, `"CPU3"`, or an array of the last two; the order stays.
fn ids(ids: &[ElementId], machine: &Machine) -> String {
    let name = |id: ElementId| &machine.elements[id].name;
    if ids.len() > 1 && ids.len() == machine.elements.len() && ids.iter().enumerate().all(|(i, id)| i == *id)
    {
        return "\"*\"".into();
    }
    let mut parts: Vec<String> = Vec::new();
    let mut i = 0;
    while i < ids.len() {
        let run = ids[i..].iter().enumerate().take_while(|(k, id)| **id == ids[i] + k).count();
        // A run of two is shorter as two names.
        let taken = if run > 2 { run } else { 1 };
        parts.push(match taken {
            1 => text(name(ids[i])),
            _ => text(&format!("{}..{}", name(ids[i]), name(ids[i + run - 1]))),
        });
        i += taken;
    }
    if parts.len() == 1 { parts.remove(0) } else { format!("[{}]", parts.join(", ")) }
}

/// A TOML basic string.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_ascii_control() => put!(out, "\\u{:04X}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
