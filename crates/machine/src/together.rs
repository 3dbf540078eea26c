//! How much elements slow each other down.

use crate::{ElementId, Machine, Nearness};

/// Elements that compute at the same time, and how many times longer each of them takes then than alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Together {
    /// In rising order; two or more.
    pub elements: Vec<ElementId>,
    /// Slowdown of computing in registers; 1 = they do not share a core.
    pub computing: f64,
    /// Slowdown of a walk through memory beyond the private caches; 1 = they do not share its bandwidth.
    pub memory: f64,
}

/// From this slowdown of computing on two elements are siblings of one physical core, whatever the topology says.
const SIBLINGS: f64 = 1.5;

impl Together {
    /// How many cpus' worth of computing they have together: as many as there are when none slows another down, and one
    /// at the least.
    pub fn cpus(&self) -> f64 {
        let n = self.elements.len() as f64;
        n / self.computing.clamp(1.0, n)
    }

    /// `CPU0, CPU1`, or the first and the last of more than a few.
    pub fn names(&self, machine: &Machine) -> String {
        let name = |e: &ElementId| machine.elements[*e].name.as_str();
        match &self.elements[..] {
            [first, .., last] if self.elements.len() > 4 => format!("{} .. {}", name(first), name(last)),
            few => few.iter().map(name).collect::<Vec<_>>().join(", "),
        }
    }

    /// `CPU0, CPU1 all busy: computing takes 1.98 times as long, memory 1.10 times`, and what that means.
    pub fn in_words(&self, machine: &Machine) -> String {
        let hidden = if self.are_hidden_siblings(machine) {
            ": they share one core, though the topology shows two"
        } else {
            ""
        };
        let names = self.names(machine);
        let (computing, memory) = (self.computing, self.memory);
        format!(
            "{names} all busy: computing takes {computing:.2} times as long, memory {memory:.2} times{hidden}"
        )
    }

    /// Whether they are two that share a core as their slowdown shows, and the topology says that they do not.
    pub fn are_hidden_siblings(&self, machine: &Machine) -> bool {
        let [a, b] = self.elements[..] else { return false };
        self.computing >= SIBLINGS && machine.nearness(a, b) != Nearness::Core
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_slow_each_other_down_have_less_than_a_cpu_each() {
        let cpus = |computing| Together { elements: vec![0, 1], computing, memory: 1.0 }.cpus();
        assert_eq!((cpus(0.98), cpus(1.0), cpus(1.6), cpus(2.0), cpus(2.3)), (2.0, 2.0, 1.25, 1.0, 1.0));
    }

    #[test]
    fn two_that_share_a_core_without_a_word_of_it_in_the_topology_are_hidden_siblings() {
        let mut machine = crate::load("host").unwrap();
        let element = machine.elements[0].clone();
        machine.elements = vec![element.clone(), element];
        let pair = |computing| Together { elements: vec![0, 1], computing, memory: 1.0 };
        (machine.elements[0].place.core, machine.elements[1].place.core) = (Some(0), Some(1));
        assert!(pair(1.9).are_hidden_siblings(&machine) && !pair(1.2).are_hidden_siblings(&machine));
        machine.elements[1].place.core = Some(0);
        assert!(!pair(1.9).are_hidden_siblings(&machine));
    }
}
