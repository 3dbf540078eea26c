//! What is placed: parts that send bytes to each other and to main memory, in phases.

use ground::Located;

/// The most parts that are placed at once.
pub const PARTS_MAX: usize = 4096;

/// Who sends how much to whom.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// A pattern's name, or a file.
    pub name: String,
    /// Ranks, threads or tasks, counted from 0; each gets an element of its own.
    pub parts: usize,
    /// What goes on at different times; never empty.
    pub phases: Vec<TrafficPhase>,
}

/// What goes on at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct TrafficPhase {
    /// `step 1`, or as a file has it.
    pub name: String,
    /// How often the phase happens; more than 0.
    pub weight: f64,
    /// Bytes from part to part, each time.
    pub flows: Vec<TrafficFlow>,
    /// Bytes between parts and the main memory of their chip, each time.
    pub memory: Vec<MemoryFlow>,
}

/// Bytes from one part to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrafficFlow {
    /// The part that sends.
    pub from: usize,
    /// The part that receives; never the same.
    pub to: usize,
    /// More than 0.
    pub bytes: f64,
}

/// Bytes between a part and main memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryFlow {
    /// The part that reads and writes.
    pub part: usize,
    /// From memory to the part.
    pub read_bytes: f64,
    /// From the part to memory.
    pub written_bytes: f64,
}

impl TrafficPhase {
    /// A phase that happens once.
    pub fn new(name: impl Into<String>, flows: Vec<TrafficFlow>) -> Self {
        Self { name: name.into(), weight: 1.0, flows, memory: Vec::new() }
    }

    /// All bytes from part to part.
    pub fn bytes(&self) -> f64 {
        self.flows.iter().map(|flow| flow.bytes).sum()
    }
}

impl Traffic {
    /// Traffic of one phase, from (from, to, bytes); what a part sends to itself is left out.
    ///
    /// ```
    /// let ring = place::Traffic::of("ring", 3, [(0, 1, 8.0), (1, 2, 8.0), (2, 0, 8.0)]);
    /// assert!(ring.check().is_ok());
    /// assert_eq!(ring.phases[0].bytes(), 24.0);
    /// ```
    pub fn of(
        name: impl Into<String>,
        parts: usize,
        flows: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Self {
        let flows = flows.into_iter().filter(|(from, to, bytes)| from != to && *bytes > 0.0);
        let flows = flows.map(|(from, to, bytes)| TrafficFlow { from, to, bytes }).collect();
        Self { name: name.into(), parts, phases: vec![TrafficPhase::new("all", flows)] }
    }

    /// Refuses what cannot be placed.
    ///
    /// # Errors
    /// Names the phase and the flow: a part that there is not, bytes that are negative or not finite, nothing sent.
    pub fn check(&self) -> Result<(), Located> {
        let wrong = |message: String| Err(Located::new(message).key(self.name.clone()));
        if self.parts == 0 || self.parts > PARTS_MAX {
            return wrong(format!("{} parts; allowed: 1 to {PARTS_MAX}", self.parts));
        }
        for phase in &self.phases {
            let within = |message: String| wrong(format!("phase {}: {message}", ground::quoted(&phase.name)));
            if !(phase.weight.is_finite() && phase.weight > 0.0) {
                return within(format!("a weight of {}; allowed: above 0", phase.weight));
            }
            for TrafficFlow { from, to, bytes } in &phase.flows {
                if *from.max(to) >= self.parts {
                    let last = self.parts - 1;
                    return within(format!("{from} sends to {to}; there are parts 0 to {last}"));
                }
                if from == to {
                    return within(format!("{from} sends to itself"));
                }
                if !(bytes.is_finite() && *bytes > 0.0) {
                    return within(format!(
                        "{from} sends {bytes} bytes to {to}; allowed: finite and above 0"
                    ));
                }
            }
            for memory in &phase.memory {
                let bytes = [memory.read_bytes, memory.written_bytes];
                if memory.part >= self.parts || bytes.iter().any(|b| !(b.is_finite() && *b >= 0.0)) {
                    let (part, [read, written]) = (memory.part, bytes);
                    return within(format!(
                        "part {part} reads {read} and writes {written} bytes of memory; allowed: finite, from 0, by \
                         parts 0 to {}",
                        self.parts - 1
                    ));
                }
            }
        }
        if self.phases.iter().all(|phase| phase.flows.is_empty() && phase.memory.is_empty()) {
            return wrong("nobody sends anything: every mapping is as good as any other".into());
        }
        Ok(())
    }

    /// The same traffic as one phase: the bytes of each phase times its weight.
    #[must_use]
    pub fn merged(&self) -> Self {
        let flows = self.phases.iter().flat_map(|phase| {
            let weighted = |flow: &TrafficFlow| TrafficFlow { bytes: flow.bytes * phase.weight, ..*flow };
            phase.flows.iter().map(weighted).collect::<Vec<_>>()
        });
        let memory = self.phases.iter().flat_map(|phase| {
            let weighted = |flow: &MemoryFlow| MemoryFlow {
                part: flow.part,
                read_bytes: flow.read_bytes * phase.weight,
                written_bytes: flow.written_bytes * phase.weight,
            };
            phase.memory.iter().map(weighted).collect::<Vec<_>>()
        });
        let whole = TrafficPhase { memory: memory.collect(), ..TrafficPhase::new("all", flows.collect()) };
        Self { name: self.name.clone(), parts: self.parts, phases: vec![whole] }
    }

    /// One of the phases, counted from 0.
    ///
    /// # Errors
    /// There is no such phase.
    pub fn only(&self, phase: usize) -> Result<Self, Located> {
        let Some(found) = self.phases.get(phase) else {
            let last = self.phases.len() - 1;
            return Err(
                Located::new(format!("no phase {phase}; {} has phases 0 to {last}", self.name)).key("phase")
            );
        };
        let name = format!("{}, {}", self.name, found.name);
        Ok(Self { name, parts: self.parts, phases: vec![found.clone()] })
    }

    /// Of each part, the others it exchanges bytes with and how many, both ways and all phases added, in rising order.
    pub fn partners(&self) -> Vec<Vec<(usize, f64)>> {
        let mut partners: Vec<Vec<(usize, f64)>> = vec![Vec::new(); self.parts];
        for phase in &self.phases {
            for flow in &phase.flows {
                partners[flow.from].push((flow.to, flow.bytes * phase.weight));
                partners[flow.to].push((flow.from, flow.bytes * phase.weight));
            }
        }
        for list in &mut partners {
            list.sort_by_key(|&(other, _)| other);
            list.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0.0 };
                same
            });
        }
        partners
    }

    /// Parts that exchange nothing with any other.
    pub fn silent(&self) -> Vec<usize> {
        let partners = self.partners();
        (0..self.parts).filter(|&part| partners[part].is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(traffic: &Traffic) -> String {
        traffic.check().unwrap_err().to_string()
    }

    #[test]
    fn wrong_traffic_is_refused_with_its_place() {
        let flow = |from, to, bytes| TrafficFlow { from, to, bytes };
        let with =
            |flows| Traffic { name: "t".into(), parts: 3, phases: vec![TrafficPhase::new("p", flows)] };
        assert!(refused(&with(vec![flow(0, 3, 1.0)])).contains("0 sends to 3; there are parts 0 to 2"));
        assert!(refused(&with(vec![flow(0, 1, -1.0)])).contains("-1 bytes"));
        assert!(refused(&with(vec![flow(0, 1, f64::NAN)])).contains("NaN bytes"));
        assert!(refused(&with(vec![flow(1, 1, 1.0)])).contains("itself"));
        assert!(refused(&with(vec![])).contains("nobody sends anything"));
        assert!(refused(&Traffic { parts: 0, ..with(vec![]) }).contains("0 parts"));
        let mut zero = with(vec![flow(0, 1, 1.0)]);
        zero.phases[0].weight = 0.0;
        assert!(refused(&zero).contains("weight of 0"));
        zero.phases[0].weight = 1.0;
        zero.phases[0].memory.push(MemoryFlow { part: 0, read_bytes: f64::INFINITY, written_bytes: 0.0 });
        assert!(refused(&zero).contains("reads inf"));
    }

    #[test]
    fn partners_are_both_ways_and_all_phases_together() {
        let mut traffic = Traffic::of("t", 4, [(0, 1, 2.0), (1, 0, 3.0), (2, 2, 9.0)]);
        traffic.phases.push(TrafficPhase { weight: 10.0, ..traffic.phases[0].clone() });
        assert_eq!(traffic.partners()[0], [(1, 55.0)]);
        assert_eq!(traffic.silent(), [2, 3]);
        assert_eq!(traffic.merged().phases[0].bytes(), 55.0);
        assert!(traffic.only(2).unwrap_err().to_string().contains("no phase 2"));
    }
}
