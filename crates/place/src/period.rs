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
    phases: Vec<Phase>,
    /// Of each seat: limits that its reads of main memory count in, and its writes.
    memory: Vec<[Vec<u32>; 2]>,
    partners: Vec<Vec<(usize, f64)>>,
    steps: SeatDistances,
    sums: Vec<f64>,
}

/// A phase in the order in which parts get their seats.
#[derive(Debug, Clone)]
struct Phase {
    weight: f64,
    /// From, to, bytes; the one that ends with the lowest part first.
    flows: Vec<(usize, usize, f64)>,
    /// Part, bytes read, bytes written.
    memory: Vec<(usize, [f64; 2])>,
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
        let phases = traffic.phases.iter().map(|phase| {
            let mut flows: Vec<_> = phase.flows.iter().map(|flow| (flow.from, flow.to, flow.bytes)).collect();
            flows.sort_by_key(|&(from, to, _)| from.max(to));
            let mut memory: Vec<_> =
                phase.memory.iter().map(|m| (m.part, [m.read_bytes, m.written_bytes])).collect();
            memory.sort_by_key(|&(part, _)| part);
            Phase { weight: phase.weight, flows, memory }
        });
        let phases = phases.collect();
        let memory = elements.iter().map(|&element| of_memory(machine, &limits, element)).collect();
        let sums = vec![0.0; limits.len()];
        let steps = SeatDistances::of(machine, elements);
        Ok(Self {
            elements: elements.to_vec(),
            limits,
            phases,
            memory,
            partners: traffic.partners(),
            steps,
            sums,
        })
    }

    /// What the first parts need, all phases together.
    fn of_first(&mut self, first: &[usize]) -> f64 {
        let Self { elements, limits, phases, memory, sums, .. } = self;
        let mut total = 0.0;
        for phase in phases {
            sums.fill(0.0);
            let mut most = 0.0_f64;
            let mut add = |id: u32, bytes: f64| {
                let sum = &mut sums[id as usize];
                *sum += bytes * limits.ns_per_byte(id);
                most = most.max(*sum);
            };
            for &(from, to, bytes) in &phase.flows {
                if from.max(to) >= first.len() {
                    break;
                }
                for &id in limits.of(elements[first[from]], elements[first[to]]) {
                    add(id, bytes);
                }
            }
            for &(part, bytes) in phase.memory.iter().take_while(|(part, _)| *part < first.len()) {
                for (ids, bytes) in memory[first[part]].iter().zip(bytes) {
                    ids.iter().for_each(|&id| add(id, bytes));
                }
            }
            total += phase.weight * most;
        }
        total
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
