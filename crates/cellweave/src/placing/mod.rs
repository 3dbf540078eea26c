//! The verb `place`: a pattern of traffic and a machine, in words or as data; a mapping with what stands beside it.

mod measured;
mod result;
mod simulated;

pub use result::{AffinityCost, Placing};

use crate::Error;
use ground::Located;
use machine::{ElementId, Machine, Role};
use measured::MeasuredTraffic;
use place::{
    Contender, Distance, Goal, Judge, Judging, NamedAffinity, Objective, Period, PlaceOptions, Raced,
};
use place::{Rings, RingsOptions, SearchMethod, Searched, SeatDistances, SymmetryRule, Traffic};
use place::{affinities, named, read};
use simulated::SimulatedTraffic;
use std::path::Path;

/// Mappings that are simulated where it is not said.
const SIMULATED_RUNS: u64 = 300;
/// The most rounds of a race where it is not said.
const ROUNDS: u64 = 128;

/// The traffic that `pattern` means: a name, or a file.
///
/// # Errors
/// No such name or file, or a file that is none; a number of parts for a file, which says its own.
pub fn traffic(pattern: &str, machine: &Machine, options: &PlaceOptions) -> Result<Traffic, Located> {
    if named::is_named(pattern) {
        let parts = options.parts.unwrap_or(machine.workers().len());
        return named::named(pattern, parts, options.bytes as f64);
    }
    let traffic = read::file(Path::new(pattern))?;
    match options.parts {
        Some(parts) if parts != traffic.parts => Err(Located::new(format!(
            "{parts} parts; {pattern} has {}: leave it out, or name a pattern",
            traffic.parts
        ))
        .key("parts")),
        _ => Ok(traffic),
    }
}

/// Places traffic on a machine. `progress` is called now and then with the part that is done; when it returns false,
/// the search ends.
///
/// # Errors
/// Traffic that is wrong or larger than the machine; an objective that the machine has no data for; stopped before a
/// mapping was found.
///
/// ```
/// use cellweave::place::{Goal, PlaceOptions};
/// let machine = cellweave::machine::load("cell")?;
/// let options = PlaceOptions { objective: Goal::Rings, ..PlaceOptions::default() };
/// let ring = cellweave::traffic("ring", &machine, &options)?;
/// let placed = cellweave::place(&ring, &machine, &options, &mut |_| true)?;
/// assert_eq!(placed.found.mapping.len(), 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn place(
    traffic: &Traffic,
    machine: &Machine,
    options: &PlaceOptions,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<Placing, Error> {
    options.check()?;
    traffic.check()?;
    let traffic = match options.phase {
        Some(phase) => traffic.only(phase)?,
        None => traffic.clone(),
    };
    let elements = seats(machine, &traffic)?;
    let named = affinities::named(traffic.parts, &by_chip(machine, &elements), options.seed);
    let job = PlaceJob { traffic: &traffic, machine, elements: &elements, options, named };
    let start = host::now_ns();
    let mut placing = match options.objective {
        Goal::Simulated => job.simulated(progress)?,
        Goal::Measured | Goal::Robust => job.measured(progress)?,
        _ => job.modelled(progress)?,
    };
    placing.seconds = (host::now_ns() - start) as f64 * 1e-9;
    Ok(placing)
}

/// What is placed, where, and the affinities that stand beside the answer.
struct PlaceJob<'a> {
    traffic: &'a Traffic,
    machine: &'a Machine,
    elements: &'a [ElementId],
    options: &'a PlaceOptions,
    named: Vec<NamedAffinity>,
}

impl PlaceJob<'_> {
    /// By a model.
    fn modelled(self, progress: &mut dyn FnMut(f64) -> bool) -> Result<Placing, Error> {
        let mut objective = self.objective(self.options.objective)?;
        let found = place::search(objective.as_mut(), self.options, progress)?;
        let costs = self.named.iter().map(|affinity| Some(objective.cost(&affinity.seats))).collect();
        let mut notes = Vec::new();
        let asked = self.options;
        if asked.objective == Goal::Distance || asked.objective == Goal::Rings && !asked.memory {
            notes.extend(self.memory_left_out());
        }
        if asked.symmetry == SymmetryRule::Rotation {
            notes.push(rotation(objective.as_mut(), &found.mapping));
        }
        let identity = objective.cost(&self.identity());
        let unit = objective.unit();
        Ok(self.placing(found, unit, identity, costs, notes))
    }

    /// What is said where traffic to main memory does not count; `None` where there is none.
    fn memory_left_out(&self) -> Option<String> {
        let some = self.traffic.phases.iter().any(|phase| !phase.memory.is_empty());
        some.then(|| "traffic to main memory does not count here".into())
    }

    /// What is said where this process may not use as much of its cpus as there are parts.
    fn quota(&self) -> Option<String> {
        let cpus = self.machine.quota_cpus.filter(|&cpus| cpus < self.traffic.parts as f64)?;
        Some(format!(
            "a quota of {cpus} cpus for {} threads: they wait for each other most of the time, and where they are \
             matters less than it would without the quota",
            self.traffic.parts
        ))
    }

    /// By simulation: the affinities, what the models choose, mappings drawn at random, and swaps of the best.
    fn simulated(self, progress: &mut dyn FnMut(f64) -> bool) -> Result<Placing, Error> {
        let mut judge = SimulatedTraffic::new(self.traffic, self.machine, self.elements)?;
        let mut starts = vec![self.identity()];
        starts.extend(self.named.iter().map(|affinity| affinity.seats.clone()));
        starts.extend(self.choices()?.into_iter().map(|(_, mapping)| mapping));
        let runs = self.options.runs.unwrap_or(SIMULATED_RUNS);
        let judging = Judging { seats: self.elements.len(), starts, runs, seed: self.options.seed };
        let found = place::judged(&mut judge, &judging, progress)?;
        let times: Result<Vec<_>, _> =
            self.named.iter().map(|affinity| judge.time_ns(Some(&affinity.seats)).map(Some)).collect();
        let identity = judge.time_ns(Some(&self.identity()))?;
        Ok(self.placing(found, "ns", identity, times?, Vec::new()))
    }

    /// By a race on this computer.
    fn measured(self, progress: &mut dyn FnMut(f64) -> bool) -> Result<Placing, Error> {
        let mut judge = MeasuredTraffic::new(self.traffic, self.machine, self.elements)?;
        let robust = self.options.objective == Goal::Robust;
        let mut contenders = vec![Contender { name: "kernel".into(), mapping: None }];
        let mut enter = |name: &str, mapping: Vec<usize>| {
            if !contenders.iter().any(|known| known.mapping.as_ref() == Some(&mapping)) {
                contenders.push(Contender { name: name.into(), mapping: Some(mapping) });
            }
        };
        enter("identity", self.identity());
        self.choices()?.into_iter().for_each(|(name, mapping)| enter(name, mapping));
        self.named.iter().for_each(|affinity| enter(affinity.name, affinity.seats.clone()));
        let rounds = self.options.runs.unwrap_or(ROUNDS);
        let result = place::race(&mut judge, contenders, rounds, robust, self.options.seed, progress)
            .map_err(|error| Error::Failed(error.to_string()))?;
        let value = |raced: &Raced| if robust { raced.p90_ns() } else { raced.mean_ns() };
        let of = |mapping: &[usize]| {
            let ran = result.all.iter().find(|raced| raced.contender.mapping.as_deref() == Some(mapping));
            ran.filter(|raced| !raced.times_ns.is_empty()).map(value)
        };
        let pinned = || {
            result.all.iter().filter(|raced| raced.contender.mapping.is_some() && !raced.times_ns.is_empty())
        };
        let by_value = |a: &&Raced, b: &&Raced| value(a).total_cmp(&value(b));
        // The best of those that stayed; where all have left, of all.
        let best =
            pinned().filter(|raced| raced.left.is_none()).min_by(by_value).or(pinned().min_by(by_value));
        let mapping =
            best.and_then(|raced| raced.contender.mapping.clone()).unwrap_or_else(|| self.identity());
        let worst = pinned()
            .max_by(by_value)
            .and_then(|raced| raced.contender.mapping.clone().map(|m| (m, value(raced))));
        let mut values: Vec<f64> = pinned().map(value).collect();
        values.sort_by(f64::total_cmp);
        let distribution: Vec<f64> =
            (0..=100).map(|i| ground::quantile(&values, f64::from(i) / 100.0)).collect();
        let cost = best.map_or(f64::NAN, value);
        let found = Searched {
            mapping,
            cost,
            worst: worst.unwrap_or_default(),
            median: distribution[50],
            distribution,
            evaluated: result.all.iter().map(|raced| raced.times_ns.len() as u64).sum(),
            whole: false,
            bound: 0.0,
            method: "race",
            distinct: f64::NAN,
        };
        let identity = of(&self.identity()).unwrap_or(f64::NAN);
        let costs = self.named.iter().map(|affinity| of(&affinity.seats)).collect();
        let mut notes = vec![result.verdict.clone()];
        notes.extend(self.quota());
        Ok(Placing { race: Some(result), ..self.placing(found, "ns", identity, costs, notes) })
    }

    /// The model that an objective names.
    fn objective(&self, goal: Goal) -> Result<Box<dyn Objective>, Located> {
        let PlaceJob { traffic, machine, elements, options, .. } = self;
        Ok(match goal {
            Goal::Rings => {
                let PlaceOptions { sides, memory, sizes, phases, .. } = **options;
                Box::new(Rings::new(
                    traffic,
                    machine,
                    elements,
                    RingsOptions { sides, memory, sizes, phases },
                )?)
            }
            Goal::Model => Box::new(Period::new(traffic, machine, elements)?),
            _ => Box::new(Distance::new(traffic, SeatDistances::of(machine, elements))),
        })
    }

    /// What the models choose: where something that runs or simulates begins. A model that knows nothing of the machine
    /// has no choice.
    fn choices(&self) -> Result<Vec<(&'static str, Vec<usize>)>, Located> {
        let goals = [(Goal::Rings, "rings"), (Goal::Model, "model"), (Goal::Distance, "distance")];
        let mut found = Vec::new();
        for (goal, name) in goals {
            let Ok(mut objective) = self.objective(goal) else { continue };
            let options = PlaceOptions { method: SearchMethod::Auto, ..self.options.clone() };
            found.push((name, place::search(objective.as_mut(), &options, &mut |_| true)?.mapping));
        }
        Ok(found)
    }

    fn identity(&self) -> Vec<usize> {
        (0..self.traffic.parts).collect()
    }

    fn placing(
        self,
        found: Searched,
        unit: &'static str,
        identity: f64,
        costs: Vec<Option<f64>>,
        notes: Vec<String>,
    ) -> Placing {
        let (traffic, machine) = (self.traffic, self.machine);
        let costs = self.named.into_iter().zip(costs);
        Placing {
            pattern: traffic.name.clone(),
            phases: traffic.phases.iter().map(|p| (p.name.clone(), p.weight, p.bytes())).collect(),
            silent: traffic.silent(),
            machine: machine.name.clone(),
            objective: self.options.objective,
            unit,
            seats: self.elements.iter().map(|&element| machine.elements[element].name.clone()).collect(),
            cpus: self.elements.iter().map(|&element| machine.elements[element].os_cpu).collect(),
            identity,
            found,
            affinities: costs.map(|(affinity, cost)| AffinityCost { affinity, cost }).collect(),
            race: None,
            notes,
            seconds: 0.0,
        }
    }
}

/// The elements that parts may get.
fn seats(machine: &Machine, traffic: &Traffic) -> Result<Vec<ElementId>, Located> {
    let workers = machine.workers();
    if traffic.parts > workers.len() {
        let what = if machine.elements.iter().any(|e| machine.role(&e.kind) == Role::Accelerator) {
            "accelerators"
        } else {
            "elements"
        };
        return Err(Located::new(format!(
            "{} has {} parts; {} has {} {what}, one for each part",
            traffic.name,
            traffic.parts,
            machine.name,
            workers.len()
        ))
        .key("parts"));
    }
    Ok(workers)
}

/// Seats of each chip.
fn by_chip(machine: &Machine, elements: &[ElementId]) -> Vec<Vec<usize>> {
    let chip = |seat: usize| machine.elements[elements[seat]].place.chip;
    let mut chips: Vec<u32> = (0..elements.len()).map(chip).collect();
    chips.sort_unstable();
    chips.dedup();
    let seats = |own: &u32| (0..elements.len()).filter(|&seat| chip(seat) == *own).collect();
    chips.iter().map(seats).collect()
}

/// Whether rotating a mapping leaves its cost, as is assumed where 7! mappings are tried for 8!.
fn rotation(objective: &mut dyn Objective, best: &[usize]) -> String {
    let seats = objective.seats();
    let costs: Vec<f64> = (0..seats)
        .map(|turn| objective.cost(&best.iter().map(|seat| (seat + turn) % seats).collect::<Vec<_>>()))
        .collect();
    let (least, most) = costs.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), &c| (l.min(c), m.max(c)));
    if most - least <= least.abs() * 1e-9 {
        return format!("rotation is assumed, and holds for the {seats} rotations of the mapping");
    }
    format!(
        "rotation is assumed, and does not hold: the {seats} rotations of the mapping cost {least:.4} to {most:.4} {}",
        objective.unit()
    )
}
