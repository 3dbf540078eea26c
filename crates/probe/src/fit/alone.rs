//! Limits that one pair after the other shows: the ports of an element, and what it reads from other groups.

use super::groups::Level;
use super::limits::Set;
use super::sets::{Sets, median};
use machine::target::{Direction, Store, Transfer};
use machine::{Block, Distances, ElementId, Limit, Machine};

/// What an element reads from afar is a limit of its own where it is this part of its port or less.
const SLOWER: f64 = 0.9;

pub(super) struct Alone<'a> {
    pub machine: &'a Machine,
    pub sets: &'a Sets<'a>,
    pub distances: &'a Distances,
    pub workers: &'a [ElementId],
    pub general: &'a [ElementId],
    pub levels: &'a [Level],
}

impl Alone<'_> {
    pub(super) fn limits(&self) -> Vec<(Set, Limit)> {
        let mut found = Vec::new();
        let mut add = |name: String, bytes_per_s: f64, from: Vec<ElementId>, to: Vec<ElementId>| {
            if bytes_per_s > 0.0 && !from.is_empty() && !to.is_empty() {
                let set = Set::new(self.machine, name, vec![Block { from, to }]);
                let limit = set.limit(bytes_per_s);
                found.push((set, limit));
            }
        };
        let all: Vec<ElementId> = (0..self.machine.elements.len()).collect();
        for &e in &all {
            let name = &self.machine.elements[e].name;
            let (input, output) = self.ports(e);
            add(format!("input of {name}"), input, all.clone(), vec![e]);
            add(format!("output of {name}"), output, vec![e], all.clone());
        }
        for &p in self.general {
            for &s in self.workers {
                let name =
                    format!("{} reads {}", self.machine.elements[p].name, self.machine.elements[s].name);
                add(name, self.distances.bandwidth_bytes_per_s[p][s], vec![s], vec![p]);
            }
        }
        for (at, level) in self.levels.iter().enumerate().filter(|(_, l)| l.groups.len() > 1) {
            for &e in self.workers {
                let (input, far) = (self.ports(e).0, self.reads(e, at + 1));
                if far > 0.0 && far < SLOWER * input {
                    let group = level.of(e);
                    let outside: Vec<ElementId> =
                        all.iter().copied().filter(|&o| self.group_of(level, o) != group).collect();
                    let from = group.map_or_else(String::new, |g| super::name::other(self.machine, level, g));
                    add(format!("{} reads {from}", self.machine.elements[e].name), far, outside, vec![e]);
                }
            }
        }
        found
    }

    /// The group of a worker; that of a general element is the one whose workers read its memory the fastest.
    pub(super) fn group_of(&self, level: &Level, e: ElementId) -> Option<usize> {
        if self.workers.contains(&e) {
            return level.of(e);
        }
        let speed = |g: &usize| {
            let members = level.groups[*g].iter();
            median(members.map(|&w| self.distances.bandwidth_bytes_per_s[w][e]).collect())
        };
        (0..level.groups.len()).max_by(|a, b| speed(a).total_cmp(&speed(b)).then(b.cmp(a)))
    }

    /// Who is near `e` at a level, and not at the one before.
    fn ring(&self, e: ElementId, level: usize) -> Vec<ElementId> {
        let nearer = |o| level > 0 && self.levels[level - 1].joins(e, o);
        let here = |o: &ElementId| *o != e && self.levels[level].joins(e, *o) && !nearer(*o);
        self.workers.iter().copied().filter(here).collect()
    }

    /// bytes/s that `e` reads from those of one level, in the middle.
    fn reads(&self, e: ElementId, level: usize) -> f64 {
        median(self.ring(e, level).into_iter().map(|o| self.distances.bandwidth_bytes_per_s[e][o]).collect())
    }

    /// What an element takes in and gives out: the most of the pairs of any level, each the middle of its pairs; the
    /// largest of many pairs would be one that noise favoured. Several transfers at once can move more through a port
    /// than a pair can: `fan-out` and `fan-in` say how many times more, of one element for all of its kind.
    fn ports(&self, e: ElementId) -> (f64, f64) {
        let (input, output) = self.pairs(e);
        let kind = &self.machine.elements[e].kind;
        let same = |o: ElementId| self.machine.elements[o].kind == *kind;
        let is_reader = |ts: &[Transfer]| {
            let one = ts.first().map(|t| t.initiator).filter(|&o| same(o));
            ts.iter().all(|t| Some(t.initiator) == one && t.direction == Direction::Get)
        };
        let is_source = |ts: &[Transfer]| {
            let one = ts.first().map(|t| t.other);
            matches!(one, Some(Store::Element(o)) if same(o))
                && ts.iter().all(|t| Some(t.other) == one && t.direction == Direction::Get)
        };
        let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let mut more = (1.0f64, 1.0f64);
        for (transfers, bytes_per_s) in self.sets.several("fan-out", is_reader) {
            more.0 = more.0.max(bytes_per_s / self.pairs(transfers[0].initiator).0);
        }
        for (transfers, bytes_per_s) in self.sets.several("fan-in", is_source) {
            if let Store::Element(source) = transfers[0].other {
                more.1 = more.1.max(bytes_per_s / self.pairs(source).1);
            }
        }
        let (mut input, mut output) = (vec![input * more.0], vec![output * more.1]);
        // The other side of a PPE is its chip's memory: one reader alone does not show what that can give.
        if self.general.contains(&e) {
            let chip = self.machine.elements[e].place.chip;
            input.push(self.sets.memory_of("memory-write", chip));
            output.push(self.sets.memory_of("memory-read", chip));
        }
        (most(&input), most(&output))
    }

    /// What pairs of an element move: in, out.
    fn pairs(&self, e: ElementId) -> (f64, f64) {
        let bandwidth = &self.distances.bandwidth_bytes_per_s;
        let rings = (0..self.levels.len()).map(|level| self.ring(e, level));
        let others = if self.general.contains(&e) { self.workers } else { self.general };
        rings.chain([others.to_vec()]).fold((0.0, 0.0), |(input, output): (f64, f64), ring| {
            let of = |o: &ElementId| (bandwidth[e][*o], bandwidth[*o][e]);
            (
                input.max(median(ring.iter().map(|o| of(o).0).collect())),
                output.max(median(ring.iter().map(|o| of(o).1).collect())),
            )
        })
    }
}
