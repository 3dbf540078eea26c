//! The verb `place`: a pattern of traffic and a machine, in words or as data; a mapping with what stands beside it.

mod result;

pub use result::{AffinityCost, Placing};

use crate::Error;
use ground::Located;
use machine::{ElementId, Machine, Role};
use place::{
    Distance, Goal, Objective, Period, PlaceOptions, Rings, RingsOptions, SeatDistances, Traffic, affinities,
};
use place::{SymmetryRule, named, read};
use std::path::Path;

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
    let start = host::now_ns();
    let mut objective: Box<dyn Objective> = match options.objective {
        Goal::Rings => {
            let PlaceOptions { sides, memory, sizes, phases, .. } = *options;
            let own = RingsOptions { sides, memory, sizes, phases };
            Box::new(Rings::new(&traffic, machine, &elements, own)?)
        }
        Goal::Model => Box::new(Period::new(&traffic, machine, &elements)?),
        Goal::Distance => Box::new(Distance::new(&traffic, SeatDistances::of(machine, &elements))),
        goal => {
            let message = format!("{goal:?} is not there yet");
            return Err(Located::new(message).key("objective").into());
        }
    };
    let found = place::search(objective.as_mut(), options, progress)?;
    let seconds = (host::now_ns() - start) as f64 * 1e-9;
    let named = affinities::named(traffic.parts, &by_chip(machine, &elements), options.seed);
    let affinities = named.into_iter().map(|affinity| {
        let cost = objective.cost(&affinity.seats);
        AffinityCost { affinity, cost }
    });
    let affinities: Vec<AffinityCost> = affinities.collect();
    let mut notes = Vec::new();
    if options.symmetry == SymmetryRule::Rotation {
        notes.push(rotation(objective.as_mut(), &found.mapping));
    }
    let identity: Vec<usize> = (0..traffic.parts).collect();
    Ok(Placing {
        pattern: traffic.name.clone(),
        phases: traffic.phases.iter().map(|p| (p.name.clone(), p.weight, p.bytes())).collect(),
        silent: traffic.silent(),
        machine: machine.name.clone(),
        objective: options.objective,
        unit: objective.unit(),
        seats: elements.iter().map(|&element| machine.elements[element].name.clone()).collect(),
        identity: objective.cost(&identity),
        found,
        affinities,
        notes,
        seconds,
    })
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
