//! A trace as a file for `ui.perfetto.dev`: Chrome's event format.
//!
//! Process 0 holds a track for each SPE and PPE; process 1 + c holds the rings of chip c. Up to three packets are on a
//! ring at a time, and a track cannot show two that overlap: a ring that needs them has a second and a third track.

use crate::CYCLE_PS;
use crate::trace::{Packet, Trace, TraceLevel};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Result, Write};

/// Tracks of a ring: the most packets on it at a time.
const LANES: usize = 3;

impl Trace {
    /// Writes it in Chrome's event format; times are us with six digits, which is exact.
    ///
    /// ```
    /// # let mut cell = sim::Simulation::new(sim::Parameters::named("cell").unwrap())?;
    /// cell.trace(true);
    /// cell.spe(0, "reader", |spe| {
    ///     spe.get(0, spe.local_store_of(1), 128, 0);
    ///     spe.tags_all(1);
    /// })?;
    /// let mut out = Vec::new();
    /// cell.run()?.trace.unwrap().write_chrome(&mut out)?;
    /// assert!(String::from_utf8(out)?.contains("SPE1 -> SPE0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_chrome(&self, out: &mut impl Write) -> Result<()> {
        write!(
            out,
            "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"left_out\":{}}},\"traceEvents\":[",
            self.left_out
        )?;
        name(out, "", "process", 0, 0, "programs")?;
        for (unit, (element, program)) in self.units.iter().enumerate() {
            if !program.is_empty() {
                name(out, ",", "thread", 0, unit, &format!("{element} ({program})"))?;
            }
        }
        for step in &self.steps {
            event(out, 0, step.unit, step.ps, &step.name, step.kind)?;
            write!(out, "}}")?;
        }
        for TraceLevel { name, ps, level } in &self.levels {
            let (name, ts) = (quoted(name), us(*ps));
            write!(
                out,
                ",\n{{\"ph\":\"C\",\"pid\":0,\"ts\":{ts},\"name\":{name},\"args\":{{\"entries\":{level}}}}}"
            )?;
        }
        for span in &self.spans {
            let kind = if span.what == "compute" { "compute" } else { "wait" };
            event(out, 0, span.unit.into(), ps(span.start, span.end), span.what, kind)?;
            write!(out, "}}")?;
        }
        let lanes = self.lanes();
        let tracks: BTreeSet<_> =
            self.packets.iter().zip(&lanes).map(|(p, lane)| (p.chip, p.ring, *lane)).collect();
        let mut last = None;
        for (chip, ring, lane) in tracks {
            if last != Some(chip) {
                last = Some(chip);
                name(out, ",", "process", 1 + usize::from(chip), 0, &format!("rings of chip {chip}"))?;
            }
            let way = if ring < 2 { "clockwise" } else { "counter-clockwise" };
            let which = ["", ", second packet", ", third packet"][lane];
            let title = format!("ring {ring} ({way}){which}");
            name(out, ",", "thread", 1 + usize::from(chip), usize::from(ring) * LANES + lane, &title)?;
        }
        for (packet, lane) in self.packets.iter().zip(lanes) {
            let ramps = &self.ramps[usize::from(packet.chip)];
            let (source, reader) = (&ramps[usize::from(packet.from)], &ramps[usize::from(packet.to)]);
            let title = format!("{source} -> {reader}");
            let tid = usize::from(packet.ring) * LANES + lane;
            event(out, 1 + usize::from(packet.chip), tid, ps(packet.start, packet.end), &title, "packet")?;
            let (source, reader) = (quoted(source), quoted(reader));
            write!(out, ",\"args\":{{\"source\":{source},\"reader\":{reader}}}}}")?;
        }
        writeln!(out, "\n]}}")
    }

    /// The track of its ring on which each packet is shown: the first that is free. Packets stand in order of time.
    fn lanes(&self) -> Vec<usize> {
        let mut ends = BTreeMap::<(u8, u8), [u64; LANES]>::new();
        let lane = |p: &Packet| {
            let ends = ends.entry((p.chip, p.ring)).or_default();
            let free = ends.iter().position(|&end| end <= p.start).unwrap_or(LANES - 1);
            ends[free] = p.end;
            free
        };
        self.packets.iter().map(lane).collect()
    }
}

fn name(out: &mut impl Write, comma: &str, of: &str, pid: usize, tid: usize, name: &str) -> Result<()> {
    let name = quoted(name);
    write!(
        out,
        "{comma}\n{{\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid},\"name\":\"{of}_name\",\"args\":{{\"name\":{name}}}}}"
    )
}

/// A time in us.
fn us(ps: u64) -> String {
    format!("{}.{:06}", ps / 1_000_000, ps % 1_000_000)
}

/// From one cycle to another.
fn ps(start: u64, end: u64) -> (u64, u64) {
    (start * CYCLE_PS, end * CYCLE_PS)
}

/// An event without its closing brace, so that arguments can follow.
fn event(
    out: &mut impl Write,
    pid: usize,
    tid: usize,
    (start_ps, end_ps): (u64, u64),
    name: &str,
    kind: &str,
) -> Result<()> {
    let (ts, dur, name) = (us(start_ps), us(end_ps - start_ps), quoted(name));
    write!(
        out,
        ",\n{{\"ph\":\"X\",\"pid\":{pid},\"tid\":{tid},\"ts\":{ts},\"dur\":{dur},\
         \"name\":{name},\"cat\":\"{kind}\""
    )
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_overlap_on_a_ring_stand_on_different_tracks() {
        let packet = |start, end| Packet { chip: 0, ring: 1, from: 1, to: 3, start, end };
        let packets = vec![packet(0, 10), packet(3, 13), packet(6, 16), packet(10, 20), packet(13, 23)];
        let trace = Trace { packets, ..Trace::default() };
        assert_eq!(trace.lanes(), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn a_name_may_hold_anything() {
        assert_eq!(quoted("a \"b\"\\\n\u{1}é"), "\"a \\\"b\\\"\\\\\\u000a\\u0001é\"");
    }
}
