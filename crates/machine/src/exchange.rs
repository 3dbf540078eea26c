//! What two elements do with a single line: hand it over, share it by mistake, wake each other, take turns.
//!
//! Transfers of bytes are a [`crate::target::Experiment`]. An exchange moves next to nothing, and its time is all
//! latency.

use crate::target::TargetError;
use crate::{ElementId, Machine};

/// The most hand-overs of one sample.
pub const EXCHANGE_REPEATS_MAX: u32 = 1 << 16;

/// Pairs of elements that do the same thing at the same time, each pair for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineExchange {
    /// What they do.
    pub act: Act,
    /// No element is in two of them. With [`Act::Yield`] both are the same element.
    pub pairs: Vec<(ElementId, ElementId)>,
    /// How often it is done in a sample, each way.
    pub repeats: u32,
}

/// What the two elements of a pair do, over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// One line goes to and fro; half of a round trip counts.
    Line(Home),
    /// Each hand-over takes the next line, which only its home has touched so far.
    FreshLine(Home),
    /// Each writes into a word of its own, and both words are in one line; the time of a write counts.
    SharedLine,
    /// Each writes into a word of its own, in a line of its own; the time of a write counts.
    OwnLine,
    /// The second one sleeps in the kernel, the first wakes it; the time from the wake to its answer counts.
    Wake,
    /// Two threads on the cpu of one element take turns by yielding it; the time of a turn counts.
    Yield,
}

/// Where a line lives: the element that wrote to its memory first, before each sample, so that the memory next to it
/// holds the line, and its caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Home {
    /// The first element of the pair, which writes first.
    Writer,
    /// The second one.
    Reader,
    /// Neither of the two.
    Third(ElementId),
}

impl LineExchange {
    /// What every target refuses: elements that are not there or are in two pairs, numbers out of range.
    ///
    /// # Errors
    /// Names the pair or the number.
    pub fn check(&self, machine: &Machine) -> Result<(), TargetError> {
        let wrong = |message: String| Err(TargetError::Request(message));
        if !(1..=EXCHANGE_REPEATS_MAX).contains(&self.repeats) {
            return wrong(format!(
                "repeats: {} is not a number from 1 to {EXCHANGE_REPEATS_MAX}",
                self.repeats
            ));
        }
        if self.pairs.is_empty() {
            return wrong("an exchange needs a pair of elements".into());
        }
        let mut taken = vec![false; machine.elements.len()];
        let third = match self.act {
            Act::Line(Home::Third(e)) | Act::FreshLine(Home::Third(e)) => Some((e, e)),
            _ => None,
        };
        for (i, &(a, b)) in self.pairs.iter().chain(&third).enumerate() {
            let alone = a == b;
            for e in [a, b].into_iter().take(if alone { 1 } else { 2 }) {
                match taken.get_mut(e) {
                    None => {
                        let (name, n) = (&machine.name, machine.elements.len());
                        return wrong(format!("pair {i}: no element {e}; {name} has {n}, counted from 0"));
                    }
                    Some(taken) if *taken => {
                        return wrong(format!("{} is in two pairs", machine.elements[e].name));
                    }
                    Some(taken) => *taken = true,
                }
            }
            if i < self.pairs.len() && alone != (self.act == Act::Yield) {
                let name = &machine.elements[a].name;
                return wrong(format!("pair {i}: {name} with itself takes turns, and does nothing else"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_make_no_sense_are_named() {
        let cell = crate::load("cell").unwrap();
        let check = |act, pairs: &[(usize, usize)]| {
            let exchange = LineExchange { act, pairs: pairs.to_vec(), repeats: 10 };
            exchange.check(&cell).map_err(|e| e.to_string())
        };
        let third = Act::Line(Home::Third(3));
        assert!(check(third, &[(1, 2)]).is_ok() && check(Act::Yield, &[(1, 1), (2, 2)]).is_ok());
        assert!(check(third, &[(1, 3)]).unwrap_err().contains("SPE2 is in two pairs"));
        assert!(check(Act::Wake, &[(1, 2), (2, 3)]).unwrap_err().contains("SPE1 is in two pairs"));
        assert!(check(Act::Wake, &[(1, 1)]).unwrap_err().contains("SPE0 with itself"));
        assert!(check(Act::Yield, &[(1, 2)]).unwrap_err().contains("takes turns"));
        assert!(check(Act::Wake, &[(1, 99)]).unwrap_err().contains("no element 99"));
        assert!(check(Act::Wake, &[]).unwrap_err().contains("needs a pair"));
    }
}
