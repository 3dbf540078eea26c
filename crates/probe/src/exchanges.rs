//! What two cpus of this computer do with one line: patterns with names, beside those of transfers.
//!
//! Where a line lives decides what it costs, and so do the things that the two cpus share. All pairs are measured with
//! the line that they would have in a program (its writer was its first user); the homes and what the kernel does are
//! measured between the first pair of each sort ([`Nearness`]).

use crate::{PatternShape, TargetError, workers};
use machine::{Act, ElementId, Home, LineExchange, Machine, Nearness};

/// Hand-overs, wake-ups and turns of one sample: long against a look at the clock, short against an interruption.
const LINES: u32 = 200;
const WRITES: u32 = 5_000;
const WAKES: u32 = 20;
const TURNS: u32 = 50;
/// Up to so many elements take turns, each with itself.
const YIELDERS: usize = 8;

/// One exchange of one pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeJob {
    /// The pattern's name.
    pub pattern: &'static str,
    /// What the two elements have in common.
    pub shares: Nearness,
    /// What to do.
    pub exchange: LineExchange,
}

/// A pattern of exchanges.
#[derive(Debug, Clone, Copy)]
pub struct ExchangePattern {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// A line for lists.
    pub about: &'static str,
    jobs: fn(&Machine, &[ElementId]) -> Vec<Wanted>,
}

/// What is done, by which two, how often in a sample.
type Wanted = (Act, (ElementId, ElementId), u32);

/// Every one of them.
pub const EXCHANGES: [ExchangePattern; 5] = [
    ExchangePattern {
        name: "line",
        about: "one line goes to and fro between two cpus, every pair (this computer only)",
        jobs: |_, w| {
            let pairs = w.iter().enumerate().flat_map(|(i, &a)| w[i + 1..].iter().map(move |&b| (a, b)));
            pairs.map(|pair| (Act::Line(Home::Writer), pair, LINES)).collect()
        },
    },
    ExchangePattern {
        name: "line-home",
        about: "the line lives at its writer, its reader, a third cpu; the same line again, and fresh ones",
        jobs: |machine, w| {
            let one = |&(a, b): &(ElementId, ElementId)| {
                let thirds = thirds(machine, w, a, b).into_iter().map(Home::Third);
                let homes: Vec<Home> = [Home::Writer, Home::Reader].into_iter().chain(thirds).collect();
                let same = homes.clone().into_iter().map(Act::Line);
                let fresh = homes.into_iter().map(Act::FreshLine);
                same.chain(fresh).map(move |act| (act, (a, b), LINES)).collect::<Vec<_>>()
            };
            sorts(machine, w).iter().flat_map(one).collect()
        },
    },
    ExchangePattern {
        name: "false-sharing",
        about: "two cpus write words of their own in one line; its slow-down is against lines of their own",
        jobs: |machine, w| {
            sorts(machine, w).into_iter().map(|pair| (Act::SharedLine, pair, WRITES)).collect()
        },
    },
    ExchangePattern {
        name: "wake",
        about: "a cpu wakes a thread that sleeps on another (futex)",
        jobs: |machine, w| sorts(machine, w).into_iter().map(|pair| (Act::Wake, pair, WAKES)).collect(),
    },
    ExchangePattern {
        name: "yield",
        about: "two threads of one cpu take turns by yielding",
        jobs: |_, w| w.iter().take(YIELDERS).map(|&e| (Act::Yield, (e, e), TURNS)).collect(),
    },
];

/// The first pair of each sort, the nearest first.
fn sorts(machine: &Machine, workers: &[ElementId]) -> Vec<(ElementId, ElementId)> {
    let mut found: Vec<(Nearness, (ElementId, ElementId))> = Vec::new();
    for (i, &a) in workers.iter().enumerate() {
        for &b in &workers[i + 1..] {
            let shares = machine.nearness(a, b);
            if found.iter().all(|known| known.0 != shares) {
                found.push((shares, (a, b)));
            }
        }
        if found.len() == Nearness::ALL.len() {
            break;
        }
    }
    found.sort_by_key(|known| known.0);
    found.into_iter().map(|known| known.1).collect()
}

/// For each sort of element as seen from the reader, the first one that is neither of the two.
fn thirds(machine: &Machine, workers: &[ElementId], writer: ElementId, reader: ElementId) -> Vec<ElementId> {
    let mut found: Vec<(Nearness, ElementId)> = Vec::new();
    for &e in workers.iter().filter(|&&e| e != writer && e != reader) {
        let shares = machine.nearness(e, reader);
        if found.iter().all(|known| known.0 != shares) {
            found.push((shares, e));
        }
    }
    found.into_iter().map(|known| known.1).collect()
}

impl ExchangePattern {
    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        EXCHANGES.into_iter().find(|p| p.name == name)
    }

    /// Its exchanges among the elements that take part.
    ///
    /// # Errors
    /// When there are fewer elements than it needs.
    pub fn jobs(&self, shape: &PatternShape) -> Result<Vec<ExchangeJob>, TargetError> {
        let least = if self.name == "yield" { 1 } else { 2 };
        let elements = shape.workers(self.name, least)?;
        let job = |(act, pair, repeats): Wanted| ExchangeJob {
            pattern: self.name,
            shares: shape.machine.nearness(pair.0, pair.1),
            exchange: LineExchange { act, pairs: vec![pair], repeats },
        };
        Ok((self.jobs)(shape.machine, &elements).into_iter().map(job).collect())
    }

    /// Those that are measured where no pattern is named.
    pub(crate) fn by_default(machine: &Machine) -> Vec<&'static str> {
        let several = workers(machine).len() > 1;
        EXCHANGES.iter().map(|p| p.name).filter(|name| several || *name == "yield").collect()
    }
}

impl ExchangeJob {
    /// In words, where the line lives and whether it is fresh; the third element beside it. `None` where no line is
    /// handed over.
    pub fn home(&self) -> Option<(&'static str, Option<ElementId>)> {
        let (home, words) = match self.exchange.act {
            Act::Line(home) => (home, ["writer", "reader", ""]),
            Act::FreshLine(home) => (home, ["writer, fresh", "reader, fresh", "fresh"]),
            _ => return None,
        };
        Some(match home {
            Home::Writer => (words[0], None),
            Home::Reader => (words[1], None),
            Home::Third(e) => (words[2], Some(e)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::Place;

    /// Two chips of two cores with two threads each.
    fn eight() -> Machine {
        let mut machine = machine::load("host").unwrap();
        let first = machine.elements[0].clone();
        let element = |n: u32| machine::Element {
            name: format!("CPU{n}"),
            place: Place { chip: n / 4, core: Some(n / 2), l2: Some(n / 2), ..Place::default() },
            os_cpu: Some(n),
            ..first.clone()
        };
        machine.elements = (0..8).map(element).collect();
        machine
    }

    fn jobs(name: &str) -> Vec<ExchangeJob> {
        let machine = eight();
        let shape = PatternShape { machine: &machine, count: None, seed: 1, draws: 1 };
        let found = ExchangePattern::named(name).unwrap().jobs(&shape).unwrap();
        found.iter().for_each(|job| job.exchange.check(&machine).unwrap());
        found
    }

    #[test]
    fn lines_are_measured_between_all_pairs_and_homes_between_one_of_each_sort() {
        assert_eq!(jobs("line").len(), 28);
        let homes = jobs("line-home");
        let pairs: Vec<_> = homes.iter().map(|j| (j.shares, j.exchange.pairs[0])).collect();
        for expected in [(Nearness::Core, (0, 1)), (Nearness::Chip, (0, 2)), (Nearness::Nothing, (0, 4))] {
            assert!(pairs.contains(&expected), "{pairs:?}");
        }
        let of_core: Vec<_> =
            homes.iter().filter(|j| j.shares == Nearness::Core).filter_map(ExchangeJob::home).collect();
        assert_eq!(
            of_core,
            [
                ("writer", None),
                ("reader", None),
                ("", Some(2)),
                ("", Some(4)),
                ("writer, fresh", None),
                ("reader, fresh", None),
                ("fresh", Some(2)),
                ("fresh", Some(4)),
            ]
        );
    }

    #[test]
    fn each_cpu_takes_turns_with_itself() {
        assert!(jobs("yield").iter().enumerate().all(|(i, j)| j.exchange.pairs == [(i, i)]));
        assert_eq!((jobs("wake").len(), jobs("false-sharing").len()), (3, 3));
    }
}
