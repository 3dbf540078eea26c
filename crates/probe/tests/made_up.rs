//! A machine that is made up: known capacities, noise, disturbances, and a clock of its own. How many samples are
//! taken, what they cost and what comes out can be told exactly, also for hundreds of cores.

use ground::Draws;
use machine::exchange::Act;
use machine::target::{Experiment, Sample, Store, Target, TargetError, Timer, Times};
use machine::{Element, LineExchange, Machine, Place};
use probe::{ProbeOptions, Probed, Quality, fit, measure};

/// ns that it takes to start the threads of an experiment, and those of a sample beside its transfers.
const START_NS: u64 = 100_000;
const SAMPLE_NS: u64 = 30_000;
/// Of a transfer alone.
const BYTES_PER_NS: f64 = 10.0;

struct MadeUp {
    machine: Machine,
    /// Bytes per ns that all transfers between elements have together.
    bus: f64,
    /// Spread of the times: each is drawn from 1 to 1 + this.
    noise: f64,
    draws: Draws,
    passed_ns: u64,
    samples: u64,
    /// Whether sample number `n` loses its cpu.
    disturbs: fn(u64) -> bool,
    /// The fixed piece of work of sample number `n`; transfers go at its pace.
    work_ns: fn(u64) -> f64,
}

impl MadeUp {
    fn of(cores: u32, bus: f64) -> Self {
        let first = machine::load("host").unwrap().elements[0].clone();
        let element = |n: u32| Element {
            name: format!("CPU{n}"),
            kind: "core".into(),
            place: Place { chip: n / 64, l3: Some(n / 8), core: Some(n), ..Place::default() },
            os_cpu: Some(n),
            ..first.clone()
        };
        let machine = Machine {
            name: "made-up".into(),
            elements: (0..cores).map(element).collect(),
            ..Machine::default()
        };
        Self {
            machine,
            bus,
            noise: 0.02,
            draws: Draws::new(3),
            passed_ns: 0,
            samples: 0,
            disturbs: |_| false,
            work_ns: |_| 1000.0,
        }
    }

    fn sample(&mut self, ns: &[f64], bytes: u64) -> Sample {
        let n = self.samples;
        self.samples += 1;
        let work_ns = (self.work_ns)(n);
        let transfers: Vec<Times> = (ns.iter())
            .map(|ns| {
                let ns = ns * (1.0 + self.noise * self.draws.unit()) * work_ns / 1000.0;
                Times { end_ns: ns, ticks: ns as u64, latency_ns: ns, bytes, ..Times::default() }
            })
            .collect();
        let longest = transfers.iter().map(|t| t.end_ns).fold(0.0, f64::max);
        self.passed_ns += SAMPLE_NS + longest as u64;
        let disturbed = if (self.disturbs)(n) { vec![0] } else { Vec::new() };
        Sample { transfers, disturbed, work_ns, ..Sample::default() }
    }
}

impl Target for MadeUp {
    fn machine(&self) -> &Machine {
        &self.machine
    }
    fn describe(&self) -> String {
        "made up".into()
    }
    fn timer(&self) -> Timer {
        Timer { name: "ticks", hz: 1e9 }
    }
    fn is_exact(&self) -> bool {
        false
    }
    fn repeats(&self, _: u32) -> u32 {
        8
    }
    fn check(&self, e: &Experiment) -> Result<(), TargetError> {
        e.check(&self.machine)
    }
    fn measure(&mut self, e: &Experiment, samples: u32) -> Result<Vec<Sample>, TargetError> {
        self.check(e)?;
        self.passed_ns += START_NS;
        let bytes = e.bytes_each();
        let on_bus = e.transfers.iter().filter(|t| matches!(t.other, Store::Element(_))).count() as f64;
        let share = BYTES_PER_NS.min(self.bus / on_bus.max(1.0));
        // An element that starts several transfers does them in turn.
        let lanes = |t: &machine::target::Transfer| {
            e.transfers.iter().filter(|o| o.initiator == t.initiator).count() as f64
        };
        let ns: Vec<f64> = e.transfers.iter().map(|t| bytes as f64 / share * lanes(t)).collect();
        Ok((0..samples).map(|_| self.sample(&ns, bytes)).collect())
    }
    fn exchange(&mut self, x: &LineExchange, samples: u32) -> Result<Vec<Sample>, TargetError> {
        x.check(&self.machine)?;
        self.passed_ns += START_NS;
        let ns = match x.act {
            Act::OwnLine => 1.0,
            Act::SharedLine => 20.0,
            _ => 100.0,
        };
        Ok((0..samples).map(|_| self.sample(&vec![ns; x.pairs.len()], 64)).collect())
    }
    fn passed_ns(&self) -> Option<u64> {
        Some(self.passed_ns)
    }
}

fn patterns(names: &[&str]) -> ProbeOptions {
    let patterns = names.iter().map(|n| n.to_string()).collect();
    ProbeOptions { patterns, sizes: vec![16384], buffers: vec![4], ..ProbeOptions::default() }
}

fn probed(target: &mut MadeUp, options: &ProbeOptions) -> Probed {
    measure(target, options, &mut |_| true).unwrap()
}

#[test]
fn the_slow_down_is_against_the_pair_alone() {
    // Room for 4 of the 8 pairs.
    let mut target = MadeUp::of(16, 4.0 * BYTES_PER_NS);
    let found = probed(&mut target, &patterns(&["pair", "disjoint", "fan-out", "all-at-once"]));
    let slowdown = |name: &str| {
        let m = found.measurements.iter().find(|m| m.pattern == name).unwrap();
        m.slowdown.map(|q| q.p50)
    };
    assert_eq!(slowdown("pair"), None);
    assert!((slowdown("disjoint").unwrap() - 2.0).abs() < 0.05, "{:?}", slowdown("disjoint"));
    // One reader of 15 sources, one after the other: the bus has room for 4.
    assert!((slowdown("fan-out").unwrap() - 15.0 / 4.0).abs() < 0.1, "{:?}", slowdown("fan-out"));
    assert!((slowdown("all-at-once").unwrap() - 240.0 / 4.0).abs() < 1.5, "{:?}", slowdown("all-at-once"));
    let disjoint = &found.measurements[1];
    assert!(disjoint.each.iter().all(|e| (e.slowdown.unwrap() - 2.0).abs() < 0.1), "{:?}", disjoint.each);
}

#[test]
fn limits_are_found_on_a_computer_that_is_three_times_as_slow_for_a_while() {
    let fitted = |work_ns: fn(u64) -> f64| {
        let mut target = MadeUp { work_ns, ..MadeUp::of(6, 2.5 * BYTES_PER_NS) };
        let options = ProbeOptions { machine_file: true, ..patterns(&["all-pairs", "fan-in", "scattered"]) };
        let found = probed(&mut target, &options);
        (fit(&target.machine, &found).unwrap(), target.samples)
    };
    let error =
        |f: &probe::Fitted| f.held_out.iter().map(|r| (r - 1.0).abs()).sum::<f64>() / f.held_out.len() as f64;
    let (steady, samples) = fitted(|_| 1000.0);
    assert!(samples > 2_000, "{samples}: slow between two places of the patterns");
    let (slow, _) = fitted(|n| if n > 600 { 3000.0 } else { 1000.0 });
    // The bus shares itself otherwise than the model's limits do: some error is in both.
    assert!((error(&steady) - error(&slow)).abs() < 0.02, "{} {}", error(&steady), error(&slow));
    let bus = |f: &probe::Fitted| {
        f.machine.limits.iter().find(|l| l.name.contains("bus")).map(|l| l.capacity_bytes_per_s)
    };
    let (steady, slow) = (bus(&steady).unwrap(), bus(&slow).unwrap());
    assert!((slow / steady - 1.0).abs() < 0.05, "{steady} {slow}");
}

#[test]
fn a_steady_machine_needs_few_samples_and_a_noisy_one_more() {
    let n = |noise: f64| {
        let mut target = MadeUp { noise, ..MadeUp::of(4, 1e9) };
        let found = probed(&mut target, &patterns(&["pair"]));
        (found.measurements[0].n, found.measurements[0].interval.unwrap())
    };
    let ((few, narrow), (many, wide)) = (n(0.01), n(1.0));
    assert_eq!(few, 10);
    assert!(narrow <= 0.05 && many > 20 && (wide <= 0.05 || many == 60), "{few} {narrow}, {many} {wide}");
}

#[test]
fn samples_that_lost_their_cpu_are_replaced_by_others() {
    let mut target = MadeUp { disturbs: |n| n % 3 == 0, ..MadeUp::of(4, 1e9) };
    let found = probed(&mut target, &patterns(&["pair"]));
    let m = &found.measurements[0];
    assert!(m.n >= 10 && m.excluded > 0 && m.left_out.lost_cpu == m.excluded, "{m:?}");
    assert_eq!(m.quality, Quality::Good);
}

#[test]
fn where_everything_is_disturbed_there_still_are_slow_downs() {
    let mut target = MadeUp { disturbs: |_| true, ..MadeUp::of(4, BYTES_PER_NS) };
    let found = probed(&mut target, &patterns(&["disjoint", "false-sharing"]));
    let (m, x) = (&found.measurements[0], &found.exchanges[0]);
    assert_eq!((m.quality, x.quality), (Quality::Disturbed, Quality::Disturbed));
    assert!((m.slowdown.unwrap().p50 - 2.0).abs() < 0.1 && x.slowdown.unwrap().p50 > 10.0);
}

#[test]
fn a_clock_that_changes_from_sample_to_sample_is_said() {
    let flips = |n: u64| if (n / 20).is_multiple_of(2) { 1000.0 } else { 1400.0 };
    let mut target = MadeUp { work_ns: flips, ..MadeUp::of(4, 1e9) };
    let options = ProbeOptions { samples: Some(60), ..patterns(&["pair", "disjoint"]) };
    let found = probed(&mut target, &options);
    let m = &found.measurements[1];
    assert_eq!(m.quality, Quality::Unsteady);
    assert!((m.pace_spread - 1.4).abs() < 0.01);
}

#[test]
fn hundreds_of_cores_are_measured_in_minutes_where_pairs_do_not_disturb_each_other() {
    for (cores, bus, at_once) in [(128, 1e9, 64), (128, 16.5 * BYTES_PER_NS, 16)] {
        let mut target = MadeUp::of(cores, bus);
        let mut expected_ns = None;
        let found = measure(&mut target, &patterns(&["all-pairs"]), &mut |p| {
            expected_ns = p.expected_ns;
            true
        })
        .unwrap();
        assert_eq!(found.at_once[0].pairs, at_once);
        assert!(found.at_once[0].slowdown < 1.03);
        // Every pair has its own figures, in the order of the pattern, and none is slowed down by the others.
        assert_eq!(found.measurements.len(), (cores * (cores - 1)) as usize);
        assert_eq!(found.measurements[1].pair, Some(["CPU0".into(), "CPU2".into()]));
        for m in &found.measurements {
            let q = m.bandwidth_gbs;
            assert!((q.p50 / BYTES_PER_NS - 1.0).abs() < 0.05 && m.n >= 6, "{m:?}");
        }
        let passed_ns = target.passed_ns;
        assert!(passed_ns < 120_000_000_000, "{} s", passed_ns / 1_000_000_000);
        let [least, most] = expected_ns.unwrap();
        assert!(least <= passed_ns * 11 / 10 && passed_ns <= 2 * most, "{least} {passed_ns} {most}");
    }
}

#[test]
fn few_pairs_are_measured_one_by_one() {
    let mut target = MadeUp::of(8, 1e9);
    let found = probed(&mut target, &patterns(&["all-pairs"]));
    assert!(found.at_once.is_empty());
    assert_eq!(found.measurements.len(), 56);
}

#[test]
fn lines_wake_ups_and_turns_have_rows_of_their_own() {
    let mut target = MadeUp::of(4, 1e9);
    let found = probed(&mut target, &patterns(&["line", "line-home", "false-sharing", "wake", "yield"]));
    assert!(found.measurements.is_empty());
    let of = |name: &str| found.exchanges.iter().filter(|x| x.pattern == name).collect::<Vec<_>>();
    assert_eq!((of("line").len(), of("yield").len(), of("wake").len()), (6, 4, 1));
    let slowdown = of("false-sharing")[0].slowdown.unwrap();
    assert!((slowdown.p50 - 20.0).abs() < 1.0, "{slowdown:?}");
    let homes: Vec<_> = of("line-home").iter().filter_map(|x| x.home.clone()).collect();
    assert!(homes.contains(&"writer, fresh".into()) && homes.contains(&"CPU2".into()), "{homes:?}");
    let lines: Vec<&str> = found.exchanges.iter().map(|x| x.pair[0].as_str()).collect();
    assert_eq!(found.to_csv().lines().count(), 1 + lines.len());
    let columns =
        |line: &str| line.split('"').step_by(2).map(|part| part.matches(',').count()).sum::<usize>();
    let csv = found.to_csv();
    assert!(csv.lines().all(|line| columns(line) == columns(csv.lines().next().unwrap())), "{csv}");
}

#[test]
fn a_quota_stands_in_the_result() {
    let mut target = MadeUp::of(4, 1e9);
    target.machine.quota_cpus = Some(0.5);
    assert_eq!(probed(&mut target, &patterns(&["pair"])).to_json()["quota_cpus"], 0.5);
}
