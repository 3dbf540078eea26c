//! The linear contention model on a pattern: the time of a phase is the largest of what its limits need.

use crate::{Objective, SeatDistances, Traffic};
use ground::Located;
use machine::{ElementId, Machine, Role};
use model::Limits;

/// The sum over the phases of weight times the time of the phase, in ns. The time of a phase is the largest
/// contribution of a limit: the bytes that move over its pairs, divided by its capacity.
#[derive(Debug, Clone)]
pub struct Period {
    elements: Vec<ElementId>,
    limits: Limits,
    /// How often each phase happens.
    weights: Vec<f64>,
    /// Of each part: what moves between it and the parts before it, and between it and main memory.
    moves: Vec<PartMoves>,
    /// Of each seat: limits that its reads of main memory count in, and its writes.
    memory: Vec<[Vec<u32>; 2]>,
    partners: Vec<Vec<(usize, f64)>>,
    steps: SeatDistances,
    seated: Seated,
}

#[derive(Debug, Clone, Default)]
struct PartMoves {
    /// Phase, from, to, bytes.
    flows: Vec<(usize, usize, usize, f64)>,
    /// Phase, bytes read and bytes written.
    memory: Vec<(usize, [f64; 2])>,
}

/// What the first parts need where they are. Searches ask for mappings that begin alike one after another: only the
/// parts that sit elsewhere than the last time are counted anew.
#[derive(Debug, Clone, Default)]
struct Seated {
    /// The seats of the parts that are counted.
    seats: Vec<usize>,
    /// Of each phase, of each limit: ns.
    sums: Vec<f64>,
    /// Before each part that is counted, and now: the largest sum of each phase.
    most: Vec<f64>,
    /// Sums as they were before each change, and before which change each part was counted.
    changes: Vec<(usize, f64)>,
    starts: Vec<usize>,
}

impl Seated {
    fn new(phases: usize, limits: usize) -> Self {
        Self { sums: vec![0.0; phases * limits], most: vec![0.0; phases], ..Self::default() }
    }

    /// Forgets all parts but the first ones that sit where they sat, and says how many those are.
    fn keep(&mut self, first: &[usize]) -> usize {
        let mut kept = self.seats.iter().zip(first).take_while(|(a, b)| a == b).count();
        let Some(&start) = self.starts.get(kept) else { return kept };
        let phases = self.most.len() / (self.seats.len() + 1);
        if 2 * kept < self.seats.len() {
            // Beginning again is less work than going back.
            kept = 0;
            self.changes.clear();
            self.sums.fill(0.0);
        } else {
            self.changes.drain(start..).rev().for_each(|(at, before)| self.sums[at] = before);
        }
        self.starts.truncate(kept);
        self.seats.truncate(kept);
        self.most.truncate((kept + 1) * phases);
        kept
    }
}

impl Period {
    /// Of traffic on elements of a machine, of which there are at least as many as parts.
    ///
    /// # Errors
    /// The machine states no limits.
    pub fn new(traffic: &Traffic, machine: &Machine, elements: &[ElementId]) -> Result<Self, Located> {
        if machine.limits.is_empty() {
            return Err(Located::new(format!(
                "{} states no limits: `model` has nothing to say; probe it, or ask for `distance` or `measured`",
                machine.name
            ))
            .key("objective"));
        }
        let limits = Limits::new(machine);
        let mut moves = vec![PartMoves::default(); traffic.parts];
        for (phase, of_phase) in traffic.phases.iter().enumerate() {
            for flow in &of_phase.flows {
                moves[flow.from.max(flow.to)].flows.push((phase, flow.from, flow.to, flow.bytes));
            }
            for flow in &of_phase.memory {
                moves[flow.part].memory.push((phase, [flow.read_bytes, flow.written_bytes]));
            }
        }
        let memory = elements.iter().map(|&element| of_memory(machine, &limits, element)).collect();
        let seated = Seated::new(traffic.phases.len(), limits.len());
        let steps = SeatDistances::of(machine, elements);
        Ok(Self {
            elements: elements.to_vec(),
            limits,
            weights: traffic.phases.iter().map(|phase| phase.weight).collect(),
            moves,
            memory,
            partners: traffic.partners(),
            steps,
            seated,
        })
    }

    /// What the first parts need, all phases together.
    fn of_first(&mut self, first: &[usize]) -> f64 {
        for part in self.seated.keep(first)..first.len() {
            self.seat(part, first);
        }
        let most = &self.seated.most[first.len() * self.weights.len()..];
        self.weights.iter().zip(most).map(|(weight, most)| weight * most).sum()
    }

    /// Counts one more part.
    fn seat(&mut self, part: usize, first: &[usize]) {
        let Self { elements, limits, moves, memory, seated, weights, .. } = self;
        let phases = weights.len();
        seated.starts.push(seated.changes.len());
        seated.seats.push(first[part]);
        seated.most.extend_from_within(part * phases..);
        let Seated { sums, most, changes, .. } = seated;
        let most = &mut most[(part + 1) * phases..];
        let mut add = |phase: usize, id: u32, bytes: f64| {
            let at = phase * limits.len() + id as usize;
            changes.push((at, sums[at]));
            sums[at] += bytes * limits.ns_per_byte(id);
            most[phase] = most[phase].max(sums[at]);
        };
        for &(phase, from, to, bytes) in &moves[part].flows {
            for &id in limits.of(elements[first[from]], elements[first[to]]) {
                add(phase, id, bytes);
            }
        }
        for (phase, bytes) in &moves[part].memory {
            for (ids, bytes) in memory[first[part]].iter().zip(bytes) {
                ids.iter().for_each(|&id| add(*phase, id, *bytes));
            }
        }
    }

    /// Each limit with its capacity and the seats of its pairs, each seat i as `names[i]`: the same list for two
    /// namings of the seats means that limits cannot tell the two apart.
    fn described(&self, names: &[usize]) -> Vec<(u64, Vec<(usize, usize)>)> {
        let n = self.elements.len();
        let mut found: Vec<(u64, Vec<(usize, usize)>)> = (0..self.limits.len() as u32)
            .map(|id| (self.limits.ns_per_byte(id).to_bits(), Vec::new()))
            .collect();
        for from in 0..n {
            for to in 0..n {
                for &id in self.limits.of(self.elements[from], self.elements[to]) {
                    found[id as usize].1.push((names[from], names[to]));
                }
            }
            for (way, ids) in self.memory[from].iter().enumerate() {
                for &id in ids {
                    found[id as usize].1.push((n + way, names[from]));
                }
            }
        }
        found.retain(|(_, pairs)| !pairs.is_empty());
        found.iter_mut().for_each(|(_, pairs)| pairs.sort_unstable());
        found.sort_unstable();
        found
    }
}

/// The limits that an element's reads and writes of its chip's main memory count in: those of the pair with the
/// general element of the chip, whose port the memory is. A limit on that pair alone is what the general element reads
/// itself, and not on the way.
fn of_memory(machine: &Machine, limits: &Limits, element: ElementId) -> [Vec<u32>; 2] {
    let place = &machine.elements[element].place;
    let is_home = |e: &machine::Element| e.place.chip == place.chip && machine.role(&e.kind) == Role::General;
    let Some(home) = machine.elements.iter().position(is_home) else { return [Vec::new(), Vec::new()] };
    let of_many = |id: &u32| machine.limits[*id as usize].pairs.iter().any(|b| b.from.len() * b.to.len() > 1);
    [(home, element), (element, home)]
        .map(|(from, to)| limits.of(from, to).iter().copied().filter(of_many).collect())
}

impl Objective for Period {
    fn parts(&self) -> usize {
        self.partners.len()
    }

    fn seats(&self) -> usize {
        self.elements.len()
    }

    fn unit(&self) -> &'static str {
        "ns"
    }

    fn cost(&mut self, mapping: &[usize]) -> f64 {
        self.of_first(mapping)
    }

    fn at_least(&mut self, first: &[usize]) -> f64 {
        self.of_first(first)
    }

    fn keeps(&self, permutation: &[usize]) -> bool {
        let own: Vec<usize> = (0..self.elements.len()).collect();
        self.described(&own) == self.described(permutation)
    }

    fn partners(&self) -> &[Vec<(usize, f64)>] {
        &self.partners
    }

    fn steps(&self, a: usize, b: usize) -> f64 {
        self.steps.between(a, b)
    }
}
