//! Limits that are fitted to measurements: those of a machine that is known are found again through noise, and names
//! and topology do not matter. `tests/python/test_fit.py` has what they foresee on a simulated QS22.

use ground::Draws;
use machine::target::{Direction, Experiment, Sample, Store, Target, TargetError, Timer, Times, Transfer};
use machine::{Element, ElementId, Limit, Machine, Place};
use probe::{ProbeOptions, Probed, fit, measure, written};
use std::collections::BTreeMap;

/// Of each transfer in a sample.
const REPEATS: u32 = 8;

/// (source, reader) of each transfer.
fn pairs(transfers: &[Transfer]) -> Vec<(ElementId, ElementId)> {
    let source = |t: &Transfer| match t.other {
        Store::Element(source) => source,
        Store::Memory(_) => panic!("{t:?}"),
    };
    transfers.iter().map(|t| (source(t), t.initiator)).collect()
}

/// All that limits are fitted to.
fn measured(target: &mut Known) -> Probed {
    let options = ProbeOptions {
        machine_file: true,
        samples: Some(5),
        patterns: ["all-pairs", "fan-in", "fan-out", "scattered"].map(String::from).to_vec(),
        ..ProbeOptions::default()
    };
    measure(target, &options, &mut |_| true).unwrap()
}

/// The same measurements of a machine whose elements have other names, another order and no places.
fn disguised(machine: &Machine, found: &Probed) -> (Machine, Probed, Vec<ElementId>) {
    let mut order: Vec<ElementId> = (0..machine.elements.len()).collect();
    Draws::new(7).shuffle(&mut order);
    let mut other = machine.clone();
    other.name = "something".into();
    other.description = "else".into();
    for (new, &old) in order.iter().enumerate() {
        let name = format!("E{}", (new * 7) % 97);
        other.elements[new] = Element { name, place: Place::default(), ..machine.elements[old].clone() };
    }
    let at = |old: ElementId| order.iter().position(|o| *o == old).unwrap();
    let mut found = found.clone();
    for m in &mut found.measurements {
        let transfers = written::parse(&m.transfers, machine).unwrap();
        let moved: Vec<Transfer> = pairs(&transfers)
            .into_iter()
            .map(|(source, reader)| Transfer {
                initiator: at(reader),
                other: Store::Element(at(source)),
                direction: Direction::Get,
            })
            .collect();
        m.transfers = written::write(&moved, &other);
    }
    (other, found, order)
}

/// The pairs of each limit, in numbers of the first machine, and its capacity.
fn nameless(fitted: &Machine, order: &[ElementId]) -> BTreeMap<Vec<(ElementId, ElementId)>, f64> {
    let n = order.len();
    let held = |l: &Limit| {
        let all = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        let mut held: Vec<_> =
            all.filter(|&(a, b)| l.holds(a, b)).map(|(a, b)| (order[a], order[b])).collect();
        held.sort_unstable();
        held
    };
    fitted.limits.iter().map(|l| (held(l), l.capacity_bytes_per_s)).collect()
}

#[test]
fn neither_names_nor_order_nor_topology_change_what_is_fitted() {
    let mut target = Known::new(32);
    let found = measured(&mut target);
    let (other, moved, order) = disguised(&target.machine, &found);
    let plain: Vec<ElementId> = (0..order.len()).collect();
    let named = nameless(&fit(&target.machine, &found).unwrap().machine, &plain);
    let unnamed = nameless(&fit(&other, &moved).unwrap().machine, &order);
    assert!(named.len() > 2 * 32);
    assert!(named.keys().eq(unnamed.keys()), "other sets of pairs");
    for ((_, a), (_, b)) in named.iter().zip(&unnamed) {
        // Only the order in which capacities are tried differs.
        assert!((a / b - 1.0).abs() < 0.05, "{a} {b}");
    }
}

/// A computer whose time for any pattern is that of its slowest limit, with noise: two sockets of eight L3s of eight
/// cores.
struct Known {
    machine: Machine,
    cores: usize,
    draws: Draws,
}

const OF_AN_L3: usize = 8;
const INPUT: f64 = 10e9;
const OUTPUT: f64 = 16e9;
const INSIDE_L3: f64 = 45e9;
const LINK_OF_L3: f64 = 30e9;
const SOCKET_0_READS: f64 = 90e9;
const SOCKET_1_READS: f64 = 60e9;
const NOISE: f64 = 0.05;

impl Known {
    fn new(cores: usize) -> Self {
        let host = machine::load("host").unwrap().elements[0].clone();
        let element = |i: usize| Element {
            name: format!("CPU{i}"),
            os_cpu: Some(i as u32),
            kind: "core".into(),
            place: Place {
                chip: (2 * i / cores) as u32,
                l3: Some((i / OF_AN_L3) as u32),
                core: Some(i as u32),
                ..Place::default()
            },
            ..host.clone()
        };
        let elements = (0..cores).map(element).collect();
        Self {
            machine: Machine { name: "known".into(), elements, ..Machine::default() },
            cores,
            draws: Draws::new(3),
        }
    }

    /// ns of the slowest limit of each transfer, where each moves so many bytes.
    fn ns(&self, pairs: &[(ElementId, ElementId)], bytes: f64) -> Vec<f64> {
        let n = self.cores;
        let (mut input, mut output) = (vec![0.0; n], vec![0.0; n]);
        let (mut inside, mut link) = (vec![0.0; n / OF_AN_L3], vec![0.0; n / OF_AN_L3]);
        let mut socket = [0.0; 2];
        for &(source, reader) in pairs {
            input[reader] += bytes / INPUT;
            output[source] += bytes / OUTPUT;
            let (from, to) = (source / OF_AN_L3, reader / OF_AN_L3);
            if from == to {
                inside[to] += bytes / INSIDE_L3;
                continue;
            }
            link[from] += bytes / LINK_OF_L3;
            link[to] += bytes / LINK_OF_L3;
            let (from, to) = (2 * source / n, 2 * reader / n);
            if from != to {
                socket[to] += bytes / [SOCKET_0_READS, SOCKET_1_READS][to];
            }
        }
        let slowest = |&(source, reader): &(ElementId, ElementId)| {
            let mut s = f64::max(input[reader], output[source]);
            let (from, to) = (source / OF_AN_L3, reader / OF_AN_L3);
            if from == to {
                return s.max(inside[to]) * 1e9;
            }
            s = s.max(link[from]).max(link[to]);
            let (from, to) = (2 * source / n, 2 * reader / n);
            (if from == to { s } else { s.max(socket[to]) }) * 1e9
        };
        pairs.iter().map(slowest).collect()
    }

    /// Near a normal distribution with this standard deviation around 1.
    fn noise(&mut self) -> f64 {
        let twelve: f64 = (0..12).map(|_| self.draws.unit()).sum();
        1.0 + NOISE * (twelve - 6.0)
    }
}

impl Target for Known {
    fn machine(&self) -> &Machine {
        &self.machine
    }
    fn describe(&self) -> String {
        "known".into()
    }
    fn timer(&self) -> Timer {
        Timer { name: "ns", hz: 1e9 }
    }
    fn is_exact(&self) -> bool {
        false
    }
    fn repeats(&self, _: u32) -> u32 {
        REPEATS
    }
    fn check(&self, e: &Experiment) -> Result<(), TargetError> {
        e.check(&self.machine)
    }
    fn measure(&mut self, e: &Experiment, samples: u32) -> Result<Vec<Sample>, TargetError> {
        let apart = |(a, b): (usize, usize)| {
            if a / OF_AN_L3 == b / OF_AN_L3 {
                25.0
            } else if 2 * a / self.cores == 2 * b / self.cores {
                90.0
            } else {
                220.0
            }
        };
        let bytes = e.bytes_each() as f64;
        let each: Vec<(f64, f64)> = match e.transfers[0].other {
            Store::Memory(_) => vec![(bytes / 8.0, 100.0); e.transfers.len()],
            Store::Element(_) => {
                let pairs = pairs(&e.transfers);
                self.ns(&pairs, bytes).into_iter().zip(pairs.into_iter().map(apart)).collect()
            }
        };
        let sample = |noise: f64, other: f64| {
            let times = |&(span, latency_ns): &(f64, f64)| Times {
                start_ns: 0.0,
                end_ns: span * noise,
                ticks: (span * noise) as u64,
                latency_ns: latency_ns * other,
                bytes: e.bytes_each(),
            };
            Sample { transfers: each.iter().map(times).collect(), ..Sample::default() }
        };
        Ok((0..samples).map(|_| sample(self.noise(), self.noise())).collect())
    }
}

const CORES: usize = 128;

#[test]
fn known_limits_of_128_cores_are_found_within_a_tenth_through_noise() {
    let mut target = Known::new(CORES);
    let found = measured(&mut target);
    let fitted = fit(&target.machine, &found).unwrap();
    let near = |name: &str, truth: f64| {
        let limit = fitted.machine.limits.iter().find(|l| l.name == name);
        let limit = limit.unwrap_or_else(|| panic!("no limit {name:?}: {:?}", fitted.notes));
        let ratio = limit.capacity_bytes_per_s / truth;
        assert!((0.9..1.1).contains(&ratio), "{name}: {ratio} {:?}", fitted.notes);
    };
    for i in 0..CORES {
        near(&format!("input of CPU{i}"), INPUT);
        near(&format!("output of CPU{i}"), OUTPUT);
    }
    for l3 in 0..CORES / OF_AN_L3 {
        near(&format!("bus of L3 {l3}"), INSIDE_L3);
        near(&format!("link of L3 {l3}"), LINK_OF_L3);
    }
    near("chip 0 reads chip 1", SOCKET_0_READS);
    near("chip 1 reads chip 0", SOCKET_1_READS);
    // Nothing that is not there.
    assert_eq!(fitted.machine.limits.len(), 2 * CORES + 2 * CORES / OF_AN_L3 + 2, "{:?}", fitted.notes);
}
