//! Traffic on the simulated Cell: each flow is read by its receiver, phase by phase.

use ground::Located;
use machine::target::{Direction, Experiment, Store, Target, Transfer, Walk};
use machine::{ElementId, Machine};
use place::{Judge, Traffic, TrafficPhase};
use sim::SimTarget;

/// The largest message: one DMA command.
const MESSAGE_BYTES_MAX: f64 = 16_384.0;
/// Sizes of messages are multiples of this.
const QUADWORD: f64 = 16.0;
/// A flow of more bytes than another is more transfers; the largest is at most so many times the smallest.
const TIMES_MAX: f64 = 16.0;
/// Transfers that an SPE keeps in flight.
const BUFFERS: u32 = 2;
/// Packets of 128 bytes that a phase has in one run, roughly, and the least and most repeats.
const PACKETS: f64 = 40_000.0;
const REPEATS: (f64, f64) = (8.0, 64.0);

/// A machine that simulates traffic.
pub(crate) struct SimulatedTraffic {
    target: SimTarget,
    /// Of each seat: the element there.
    elements: Vec<ElementId>,
    phases: Vec<SimulatedPhase>,
}

/// A phase as transfers between parts.
struct SimulatedPhase {
    weight: f64,
    size_bytes: u32,
    repeats: u32,
    /// Reader, where from, which way; each as often as its bytes ask for.
    lines: Vec<(usize, Option<usize>, Direction)>,
    /// ns of one repeat times this is the time of the phase.
    scale: f64,
}

impl SimulatedTraffic {
    /// Of traffic on elements of a machine that can be simulated.
    ///
    /// # Errors
    /// It cannot; names those that can.
    pub(crate) fn new(traffic: &Traffic, machine: &Machine, elements: &[ElementId]) -> Result<Self, Located> {
        let wrong = |message: String| Located::new(message).key("objective");
        if !sim::target::NAMES.contains(&machine.name.as_str()) {
            return Err(wrong(format!(
                "`simulated` needs a machine that can be simulated, {}; {} is none: take \
                 `measured`, `distance` or `model`",
                sim::target::NAMES.join(", "),
                machine.name
            )));
        }
        let parameters =
            sim::target::parameters(&machine.name, None, None).map_err(|e| wrong(e.to_string()))?;
        let target = SimTarget::new(parameters).map_err(|e| wrong(e.to_string()))?;
        let there = |&element: &ElementId| {
            let name = &machine.elements[element].name;
            target.machine().element(name).ok_or_else(|| wrong(format!("{name} is not simulated")))
        };
        let elements = elements.iter().map(there).collect::<Result<_, _>>()?;
        let phases = traffic.phases.iter().filter_map(SimulatedPhase::of).collect();
        Ok(Self { target, elements, phases })
    }
}

impl SimulatedPhase {
    fn of(phase: &TrafficPhase) -> Option<Self> {
        let of_parts = phase.flows.iter().map(|flow| (flow.to, Some(flow.from), Direction::Get, flow.bytes));
        let of_memory = phase.memory.iter().flat_map(|flow| {
            [
                (flow.part, None, Direction::Get, flow.read_bytes),
                (flow.part, None, Direction::Put, flow.written_bytes),
            ]
        });
        let flows: Vec<_> = of_parts.chain(of_memory).filter(|flow| flow.3 > 0.0).collect();
        let most = flows.iter().map(|flow| flow.3).fold(0.0, f64::max);
        let least = flows.iter().map(|flow| flow.3).fold(f64::INFINITY, f64::min).max(most / TIMES_MAX);
        if flows.is_empty() {
            return None;
        }
        let size = (least.min(MESSAGE_BYTES_MAX) / QUADWORD).ceil() * QUADWORD;
        let times = |bytes: f64| (bytes / least).round().max(1.0);
        let lines: Vec<_> = flows
            .iter()
            .flat_map(|&(reader, source, way, bytes)| {
                (0..times(bytes) as usize).map(move |_| (reader, source, way))
            })
            .collect();
        let packets = lines.len() as f64 * (size / 128.0).max(1.0);
        let repeats = (PACKETS / packets).clamp(REPEATS.0, REPEATS.1).round();
        let scale = most / (times(most) * size) / repeats;
        Some(Self { weight: phase.weight, size_bytes: size as u32, repeats: repeats as u32, lines, scale })
    }
}

impl Judge for SimulatedTraffic {
    fn time_ns(&mut self, mapping: Option<&[usize]>) -> Result<f64, Located> {
        let Some(mapping) = mapping else { return Err(Located::new("a simulated machine has no kernel")) };
        let mut total = 0.0;
        for phase in &self.phases {
            let transfers = phase.lines.iter().map(|&(reader, source, direction)| {
                let initiator = self.elements[mapping[reader]];
                let other = match source {
                    Some(part) => Store::Element(self.elements[mapping[part]]),
                    None => Store::Memory(self.target.machine().elements[initiator].place.chip),
                };
                Transfer { initiator, other, direction }
            });
            let experiment = Experiment {
                transfers: transfers.collect(),
                size_bytes: phase.size_bytes,
                buffers: BUFFERS,
                repeats: phase.repeats,
                compute_ns: 0,
                walk: Walk::Next,
            };
            let samples = self.target.measure(&experiment, 1).map_err(|e| Located::new(e.to_string()))?;
            total += phase.weight * phase.scale * samples[0].span_ns();
        }
        Ok(total)
    }
}
