//! The shape of a pattern: the elements that take part, and the seed.

use crate::TargetError;
use machine::{ElementId, Machine, Role};

/// A machine as patterns see it.
#[derive(Debug, Clone)]
pub struct PatternShape<'a> {
    /// The target's.
    pub machine: &'a Machine,
    /// How many of the workers take part; all that make sense for the pattern where it is not said.
    pub count: Option<usize>,
    /// Of everything random.
    pub seed: u64,
    /// How many random patterns are drawn.
    pub draws: usize,
}

/// The elements of a role, in the machine's order.
pub(crate) fn of_role(machine: &Machine, role: Role) -> Vec<ElementId> {
    let has = |e: &ElementId| machine.role(&machine.elements[*e].kind) == role;
    (0..machine.elements.len()).filter(has).collect()
}

/// The elements that a number in a pattern means, in that order.
///
/// ```
/// let ps3 = machine::load("ps3").unwrap();
/// assert_eq!(ps3.elements[probe::workers(&ps3)[0]].name, "SPE0");
/// ```
pub fn workers(machine: &Machine) -> Vec<ElementId> {
    machine.workers()
}

impl PatternShape<'_> {
    /// All workers, or the first [`count`](PatternShape::count) of them.
    ///
    /// # Errors
    /// When there are fewer than that, or than `least`, which `pattern` needs.
    pub fn workers(&self, pattern: &str, least: usize) -> Result<Vec<ElementId>, TargetError> {
        self.first_of(workers(self.machine), pattern, least)
    }

    /// The workers of the first chip, or the first [`count`](PatternShape::count) of all.
    ///
    /// # Errors
    /// As [`workers`](PatternShape::workers).
    pub fn workers_of_a_chip(&self, pattern: &str, least: usize) -> Result<Vec<ElementId>, TargetError> {
        let all = workers(self.machine);
        let chip = |e: &ElementId| self.machine.elements[*e].place.chip;
        let first = all.first().map(chip);
        let own = all.iter().copied().filter(|e| Some(chip(e)) == first).collect();
        self.first_of(if self.count.is_some() { all } else { own }, pattern, least)
    }

    fn first_of(
        &self,
        mut elements: Vec<ElementId>,
        pattern: &str,
        least: usize,
    ) -> Result<Vec<ElementId>, TargetError> {
        let (there, name) = (elements.len(), &self.machine.name);
        let count = self.count.unwrap_or(there);
        if count > there || count == 0 {
            return Err(TargetError::Request(format!("{count} elements: {name} has 1 to {there}")));
        }
        if count < least {
            return Err(TargetError::Request(format!(
                "{pattern} needs at least {least} elements, not {count}; {name} has {there}"
            )));
        }
        elements.truncate(count);
        Ok(elements)
    }

    /// Workers of each of two chips, as many of one as of the other.
    ///
    /// # Errors
    /// When the machine has not two chips.
    pub fn halves(&self, pattern: &str) -> Result<(Vec<ElementId>, Vec<ElementId>), TargetError> {
        let all = workers(self.machine);
        let on = |chip: u32| -> Vec<ElementId> {
            all.iter().copied().filter(|&e| self.machine.elements[e].place.chip == chip).collect()
        };
        let (mut first, mut second) = (on(0), on(1));
        let each = first.len().min(second.len());
        if each == 0 {
            return Err(TargetError::Request(format!(
                "{pattern} needs two chips; {} has one",
                self.machine.name
            )));
        }
        let count = self.count.unwrap_or(each);
        if !(1..=each).contains(&count) {
            return Err(TargetError::Request(format!(
                "{count} elements of each chip: there are 1 to {each}"
            )));
        }
        first.truncate(count);
        second.truncate(count);
        Ok((first, second))
    }
}
