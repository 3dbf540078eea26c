//! The order in which tables and pictures have the elements: by package, then by what they share inside it.

use machine::{ElementId, Machine};
use serde::Serialize;

/// An element, as results say where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ElementPlace {
    /// Its name.
    pub name: String,
    /// What patterns call it: a number where it has one.
    pub label: String,
    /// The operating system's number, where it has one.
    pub cpu: Option<u32>,
    /// Its package.
    pub chip: u32,
    /// Its NUMA node.
    pub numa: Option<u32>,
    /// Its group of cores with a common L3.
    pub l3: Option<u32>,
    /// Its physical core.
    pub core: Option<u32>,
}

/// All elements, by package, NUMA node, L3, core, and number. Elements of a simulated machine stay in their order.
pub(crate) fn places(machine: &Machine) -> Vec<ElementPlace> {
    let mut order: Vec<ElementId> = (0..machine.elements.len()).collect();
    if machine.elements.iter().all(|e| e.os_cpu.is_some()) {
        order.sort_by_key(|&e| {
            let (element, p) = (&machine.elements[e], &machine.elements[e].place);
            (p.chip, p.numa, p.l3, p.l2, p.core, element.os_cpu)
        });
    }
    let numbered = machine.workers();
    let place = |e: ElementId| {
        let element = &machine.elements[e];
        let number = numbered.iter().position(|w| *w == e);
        ElementPlace {
            name: element.name.clone(),
            label: number.map_or_else(|| element.name.to_lowercase(), |n| n.to_string()),
            cpu: element.os_cpu,
            chip: element.place.chip,
            numa: element.place.numa,
            l3: element.place.l3,
            core: element.place.core,
        }
    };
    order.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::Place;

    #[test]
    fn siblings_stand_side_by_side_whatever_their_numbers_are() {
        let mut machine = machine::load("host").unwrap();
        let first = machine.elements[0].clone();
        // Numbered as kernels do: all first threads, then all second ones; packages in turn.
        let element = |n: u32| machine::Element {
            name: format!("CPU{n}"),
            os_cpu: Some(n),
            place: Place { chip: n % 2, l3: Some(n % 2), core: Some(n % 4), ..Place::default() },
            ..first.clone()
        };
        machine.elements = (0..8).map(element).collect();
        let names: Vec<String> = places(&machine).into_iter().map(|p| p.name).collect();
        assert_eq!(names, ["CPU0", "CPU4", "CPU2", "CPU6", "CPU1", "CPU5", "CPU3", "CPU7"]);
        let cell = places(&machine::load("cell").unwrap());
        assert_eq!((cell[0].label.as_str(), cell[1].label.as_str()), ("ppe0", "0"));
    }
}
