//! A machine, its counters and its loads as JSON: what pictures and tables are made of.

use crate::layout::{self, MIC, PPE, RAMPS};
use crate::outcome::{Chip, SimCounters, Simulated, SpeCounters};
use crate::parameters::Parameters;
use crate::sizes::{BANKS, BEATS, CYCLE_PS, LINE_BYTES, RINGS};
use serde_json::{Map, Value, json};

/// Bytes per ns of a ramp in one direction, of a ring, and of a chip's memory: 16 bytes a bus cycle.
const RAMP_GBS: f64 = LINE_BYTES as f64 * 1e3 / (BEATS * CYCLE_PS) as f64;
/// Half of the rings go each way.
const RINGS_EACH_WAY: f64 = RINGS as f64 / 2.0;

/// What a part of the machine carried, and the most that it can carry, in GB/s.
#[derive(Debug, Clone, PartialEq)]
pub struct PartLoad {
    /// `SPE0 to PPE0`, `SPE3, out`, `memory of chip 1`, `link to chip 0`.
    pub name: String,
    /// Carried, on average over the whole run.
    pub gbs: f64,
    /// What it can carry.
    pub most_gbs: f64,
}

impl PartLoad {
    /// Carried, of what it can carry.
    pub fn share(&self) -> f64 {
        self.gbs / self.most_gbs
    }
}

impl Simulated {
    /// Every ring segment, ramp, memory and link with its load, the busiest first. SPEs have the programs' numbers.
    pub fn loads(&self, p: &Parameters) -> Vec<PartLoad> {
        let ns = self.elapsed_ns();
        let gbs = |lines: u64| if ns > 0.0 { lines as f64 * f64::from(LINE_BYTES) / ns } else { 0.0 };
        let mut found = Vec::new();
        let mut add = |name: String, lines: u64, most_gbs: f64| {
            found.push(PartLoad { name, gbs: gbs(lines), most_gbs });
        };
        let several = p.chips > 1;
        for (c, chip) in self.counters.chips.iter().enumerate() {
            let (ramps, own) = ramp_names(p, c);
            let place = if several { format!(" of chip {c}") } else { String::new() };
            for (way, segments) in chip.segment_packets.iter().enumerate() {
                for (s, &packets) in segments.iter().enumerate() {
                    let ends = [&ramps[s], &ramps[(s + 1) % RAMPS]];
                    let (from, to) = (ends[way], ends[1 - way]);
                    add(format!("{from} to {to}{place}"), packets, RINGS_EACH_WAY * RAMP_GBS);
                }
            }
            for (r, name) in ramps.iter().enumerate() {
                if r == MIC {
                    add(format!("memory{place}"), chip.bank_lines.iter().flatten().sum(), RAMP_GBS);
                } else {
                    let place = if own[r] { "" } else { &place };
                    add(format!("{name}{place}, out"), chip.sent[r], RAMP_GBS);
                    add(format!("{name}{place}, in"), chip.received[r], RAMP_GBS);
                }
            }
        }
        if several {
            for (to, &lines) in self.counters.link_lines.iter().enumerate() {
                let most = f64::from(LINE_BYTES) * 1e3 / p.link.line_ps[to] as f64;
                add(format!("link to chip {to}"), lines, most);
            }
        }
        found.sort_by(|a, b| b.share().total_cmp(&a.share()));
        found
    }

    /// Machine, time, digest, counters and loads.
    pub fn to_json(&self, p: &Parameters) -> Value {
        let loads = self.loads(p).into_iter();
        let loads = loads.map(|l| json!({"name": l.name, "gbs": l.gbs, "most_gbs": l.most_gbs}));
        json!({
            "machine": p.to_json(),
            "cycles": self.cycles,
            "elapsed_ns": self.elapsed_ns(),
            "hash": self.hash,
            "counters": counters(&self.counters),
            "loads": loads.collect::<Vec<_>>(),
        })
    }
}

impl Parameters {
    /// Chips, ramps and numbers, and the chip, number on it and ramp of every SPE.
    pub fn to_json(&self) -> Value {
        let spes = (0..self.spes()).map(|spe| {
            let (chip, physical) = self.physical(spe);
            json!({"chip": chip, "physical": physical, "ramp": layout::SPE[physical]})
        });
        let numbers = self.numbers().into_iter().map(|(name, value)| (name.to_string(), value.into()));
        json!({
            "name": self.name,
            "rules": self.rules.name,
            "chips": self.chips,
            "ppes": self.ppes(),
            "memory_bytes": self.memory_bytes,
            "timebase_hz": self.timebase_hz,
            "cycle_ps": CYCLE_PS,
            "ramps": layout::NAMES,
            "spe_ramps": layout::SPE,
            "ppe_ramp": PPE,
            "memory_ramp": MIC,
            "link_ramp": layout::IOIF[self.bus.link_ramp],
            "numbers": numbers.collect::<Map<_, _>>(),
            "spes": spes.collect::<Vec<_>>(),
        })
    }
}

/// What units at the ramps of a chip are called, and whether the name says which chip it is.
fn ramp_names(p: &Parameters, chip: usize) -> ([String; RAMPS], [bool; RAMPS]) {
    let (mut names, mut own) = (layout::NAMES.map(String::from), [false; RAMPS]);
    for ramp in layout::SPE {
        names[ramp] = "hidden".into();
    }
    for spe in 0..p.spes() {
        let (on, physical) = p.physical(spe);
        if on == chip {
            let ramp = layout::SPE[physical];
            (names[ramp], own[ramp]) = (format!("SPE{spe}"), true);
        }
    }
    (names[PPE], own[PPE]) = (format!("PPE{chip}"), true);
    names[MIC] = "memory".into();
    (names, own)
}

fn counters(c: &SimCounters) -> Value {
    let chip = |chip: &Chip| {
        json!({
            "ring_packets": chip.ring_packets,
            "ring_hops": chip.ring_hops,
            "segment_packets": chip.segment_packets,
            "sent": chip.sent,
            "received": chip.received,
            "bank_reads": (0..BANKS).map(|b| chip.bank_lines[b][0]).collect::<Vec<_>>(),
            "bank_writes": (0..BANKS).map(|b| chip.bank_lines[b][1]).collect::<Vec<_>>(),
            "commands": chip.commands,
        })
    };
    let spe = |spe: &SpeCounters| {
        json!({
            "compute_cycles": spe.compute_cycles,
            "wait_cycles": spe.wait_cycles,
            "commands": spe.commands,
            "got_bytes": spe.got_bytes,
            "put_bytes": spe.put_bytes,
            "store_lines": spe.store_lines,
        })
    };
    json!({
        "packets": c.packets(),
        "chips": c.chips.iter().map(chip).collect::<Vec<_>>(),
        "spes": c.spes.iter().map(spe).collect::<Vec<_>>(),
        "link_lines": c.link_lines,
    })
}
