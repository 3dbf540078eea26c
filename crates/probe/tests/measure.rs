//! What a options measures on both kinds of target, what it refuses, and the machine that comes out of it.

use machine::Machine;
use machine::target::{Experiment, Sample, Target, TargetError, Timer, Times};
use probe::targets::{Choices, load};
use probe::{ProbeOptions, Quality, fit, measure};

fn refused(target: &str, options: ProbeOptions) -> String {
    let target = load(target, &Choices::default()).unwrap();
    match options.jobs(target.as_ref()).unwrap_err() {
        TargetError::Request(message) => message,
        other => panic!("{other:?}"),
    }
}

fn patterns(names: &[&str]) -> ProbeOptions {
    ProbeOptions { patterns: names.iter().map(|n| n.to_string()).collect(), ..ProbeOptions::default() }
}

fn probed(target: &str, options: &ProbeOptions) -> probe::Probed {
    let mut target = load(target, &Choices::default()).unwrap();
    measure(target.as_mut(), options, &mut |_| true).unwrap()
}

#[test]
fn a_simulated_measurement_is_exact_and_the_same_again() {
    let options =
        ProbeOptions { sizes: vec![128, 4096], buffers: vec![1, 2], ..patterns(&["far", "0<-7,1->mem"]) };
    let first = probed("cell", &options);
    assert_eq!(first.measurements.len(), 2 * 2 * 2);
    for m in &first.measurements {
        assert_eq!((m.n, m.quality, m.excluded), (1, Quality::Exact, 0));
        assert_eq!(m.each.len(), m.transfers.split(',').count());
        assert!(m.bandwidth_gbs.p50 > 0.0 && m.bandwidth_by_timer_gbs.p50 > 0.0 && m.latency_ns.p50 > 0.0);
    }
    assert_eq!(first.measurements[0].partners, 8);
    for m in &first.measurements {
        let sum: f64 = m.each.iter().map(|e| e.bandwidth_gbs).sum();
        assert!((m.bandwidth_each_gbs.p50 / sum - 1.0).abs() < 1e-9 && sum >= m.bandwidth_gbs.p50, "{m:?}");
    }
    assert_eq!(first.to_json(), probed("cell", &options).to_json());
    assert_eq!(first.to_csv(), probed("cell", &options).to_csv());
}

#[test]
fn counts_sizes_and_buffers_make_a_grid() {
    let options = ProbeOptions {
        spes: vec![1, 2, 3],
        sizes: vec![128],
        buffers: vec![1, 8],
        ..patterns(&["memory-read"])
    };
    let found = probed("ps3", &options);
    let grid: Vec<_> = found.measurements.iter().map(|m| (m.partners, m.size_bytes, m.buffers)).collect();
    assert_eq!(grid, [(1, 128, 1), (1, 128, 8), (2, 128, 1), (2, 128, 8), (3, 128, 1), (3, 128, 8)]);
}

#[test]
fn samples_of_this_computer_have_quantiles_and_a_quality() {
    let options = ProbeOptions {
        samples: Some(12),
        sizes: vec![1024],
        ..patterns(&["memory-read", "memory-alternating"])
    };
    let found = probed("host", &options);
    assert!(!found.exact && !found.identity.is_empty());
    for m in &found.measurements {
        assert!(m.n + m.excluded == 12 && m.n > 0, "{m:?}");
        let q = m.bandwidth_gbs;
        assert!(q.min <= q.p10 && q.p10 <= q.p50 && q.p50 <= q.p90, "{q:?}");
        assert_ne!(m.quality, Quality::Exact);
    }
}

#[test]
fn what_is_wrong_is_said_before_anything_is_measured() {
    assert!(refused("qs22", patterns(&["faar"])).contains("did you mean `far`?"));
    assert!(refused("qs22", patterns(&["far", "0<-99"])).contains("99"));
    assert!(
        refused("qs22", ProbeOptions { sizes: vec![17], ..ProbeOptions::default() }).contains("16 or 32")
    );
    assert!(refused("qs22", ProbeOptions { sizes: vec![0], ..ProbeOptions::default() }).contains("0 bytes"));
    assert!(
        refused("qs22", ProbeOptions { sizes: vec![(16 << 20) + 1], ..ProbeOptions::default() })
            .contains("16777216")
    );
    assert!(
        refused("qs22", ProbeOptions { buffers: vec![0], ..ProbeOptions::default() }).contains("buffers: 0")
    );
    assert!(
        refused("qs22", ProbeOptions { buffers: vec![9], ..ProbeOptions::default() }).contains("buffers: 9")
    );
    assert!(refused("qs22", ProbeOptions { spes: vec![17], ..patterns(&["ring"]) }).contains("1 to 16"));
    assert!(
        refused("qs22", ProbeOptions { spes: vec![2], ..patterns(&["far", "0<-1"]) })
            .contains("who takes part")
    );
    assert!(refused("qs22", ProbeOptions { draws: 0, ..ProbeOptions::default() }).contains("draws: 0"));
    assert!(
        refused("qs22", ProbeOptions { samples: Some(0), ..ProbeOptions::default() }).contains("samples: 0")
    );
    assert!(refused("cell", patterns(&["cross-chip"])).contains("two chips"));
    assert!(refused("host", patterns(&["ppe"])).contains("PPE"));
    let large = ProbeOptions { sizes: vec![32768], buffers: vec![8], ..patterns(&["pair"]) };
    assert!(refused("qs22", large).contains("local store"));
}

#[test]
fn unknown_targets_and_choices_that_make_no_sense_are_refused() {
    let with = |spec: &str, rules: Option<&str>, hidden: Option<Vec<usize>>| {
        let choices = Choices { rules: rules.map(Into::into), hidden, ..Choices::default() };
        load(spec, &choices).err().unwrap().to_string()
    };
    assert!(with("qs222", None, None).contains("did you mean `qs22`"));
    assert!(with("qs22:spe=6", None, None).contains("--spes"));
    assert!(with("host", Some("textbook"), None).contains("rules"));
    assert!(with("host", None, Some(vec![1])).contains("hidden"));
    assert!(with("qs22", Some("texbook"), None).contains("textbook"));
    assert!(with("ps3", None, Some(vec![8])).contains("hidden"));
    let set = |spec: &str, name: &str, value| {
        let choices = Choices { parameters: vec![(name.into(), value)], ..Choices::default() };
        load(spec, &choices).map(|t| t.describe()).map_err(|e| e.to_string())
    };
    assert!(set("cell", "memory.bank", 128).unwrap().ends_with("memory.bank 128"));
    assert!(set("cell", "memory.bnak", 128).unwrap_err().contains("did you mean `memory.bank`?"));
    assert!(set("cell", "memory.bank", 0).unwrap_err().contains("memory.bank"));
    assert!(set("cell", "mfc.queue", u64::MAX).unwrap_err().contains("mfc.queue"));
    assert!(set("host", "memory.bank", 128).unwrap_err().contains("simulated"));
}

#[test]
fn a_request_for_everything_at_once_is_refused() {
    let sizes: Vec<u32> = (1..=1000).map(|n| 16 * n).collect();
    let all = ProbeOptions { draws: 1001, sizes, buffers: vec![1], ..patterns(&["random"]) };
    assert!(refused("cell", all).contains("more than 1000000 experiments"));
}

#[test]
fn a_long_measurement_is_stopped_between_its_samples() {
    let mut target =
        Scripted { machine: machine::load("cell").unwrap(), samples: vec![sample(100.0, false); 30] };
    let options = ProbeOptions { sizes: vec![128], samples: Some(1_000_000), ..patterns(&["pair"]) };
    let options = ProbeOptions { buffers: vec![1, 2], ..options };
    let mut asked = 0;
    // Once: what is asked after it is told to go on, as after a Ctrl-C that has been heard.
    let found = measure(&mut target, &options, &mut |_| {
        asked += 1;
        asked != 5
    })
    .unwrap();
    assert!(found.stopped);
    assert_eq!(found.measurements.iter().map(|m| m.n).collect::<Vec<_>>(), [4 * 30]);
}

#[test]
fn ctrl_c_gives_back_what_was_measured_so_far() {
    let mut target = load("cell", &Choices::default()).unwrap();
    let options = ProbeOptions { sizes: vec![128], ..patterns(&["all-pairs"]) };
    let found = measure(target.as_mut(), &options, &mut |p| p.done < 5).unwrap();
    assert!(found.stopped);
    assert_eq!(found.measurements.len(), 5);
}

#[test]
fn a_machine_file_has_what_was_measured_and_is_read_again() {
    for (name, draws) in [("ps3", 2), ("qs22", 2)] {
        let options =
            ProbeOptions { machine_file: true, draws, repeats: Some(16), ..ProbeOptions::default() };
        let target = load(name, &Choices::default()).unwrap();
        let fitted = fit(target.machine(), &probed(name, &options)).unwrap();
        let text = machine::file::to_text(&fitted.machine).unwrap();
        assert_eq!(machine::file::parse(&text, "again").unwrap(), fitted.machine);
        let capacity = |name: &str| {
            let limit = fitted.machine.limits.iter().find(|l| l.name == name);
            limit.unwrap_or_else(|| panic!("no limit {name}")).capacity_bytes_per_s / 1e9
        };
        assert!((22.0..25.7).contains(&capacity("input of SPE0")), "{}", capacity("input of SPE0"));
        assert!((22.0..25.7).contains(&capacity("output of SPE0")));
        // With several reads at once the PPE itself is the limit: it loads what arrived. 3.15 GB/s, not an SPE's 25.
        assert!((1.0..3.2).contains(&capacity("PPE0 reads SPE3")), "{}", capacity("PPE0 reads SPE3"));
        let d = fitted.machine.distances.as_ref().unwrap();
        let (a, b) = (fitted.machine.element("SPE0").unwrap(), fitted.machine.element("SPE1").unwrap());
        assert!(
            d.latency_ns[a][b] > 90.0 && d.bandwidth_bytes_per_s[a][b] > 20e9 && d.latency_ns[a][a] == 0.0
        );
        // `tests/python/test_fit.py` has the limits that a hundred patterns show.
        // Six SPEs show no bus that is one for all patterns.
        if name == "qs22" {
            let across = |l: &machine::Limit| l.name.contains("chip 0 ") && l.name.contains("chip 1");
            let least =
                fitted.machine.limits.iter().filter(|l| across(l)).map(|l| l.capacity_bytes_per_s / 1e9);
            assert!(least.fold(f64::INFINITY, f64::min) > capacity("SPE0 reads chip 1"));
            assert!(fitted.notes.iter().any(|n| n.contains("patterns of several transfers")));
        }
    }
}

#[test]
fn a_machine_file_needs_all_pairs() {
    let target = load("cell", &Choices::default()).unwrap();
    let found = probed("cell", &ProbeOptions { sizes: vec![128], ..patterns(&["pair"]) });
    let message = fit(target.machine(), &found).unwrap_err().to_string();
    assert!(message.contains("PPE0 <- SPE0") && message.contains("all-pairs and ppe"), "{message}");
}

/// A target whose samples are made up: what is done with disturbed ones can then be told exactly.
struct Scripted {
    machine: Machine,
    samples: Vec<Sample>,
}

impl Target for Scripted {
    fn machine(&self) -> &Machine {
        &self.machine
    }
    fn describe(&self) -> String {
        "scripted".into()
    }
    fn timer(&self) -> Timer {
        Timer { name: "ticks", hz: 1e9 }
    }
    fn is_exact(&self) -> bool {
        false
    }
    fn repeats(&self, _: u32) -> u32 {
        1
    }
    fn check(&self, e: &Experiment) -> Result<(), TargetError> {
        e.check(&self.machine)
    }
    fn measure(&mut self, _: &Experiment, _: u32) -> Result<Vec<Sample>, TargetError> {
        Ok(self.samples.clone())
    }
}

fn sample(ns: f64, disturbed: bool) -> Sample {
    let times = Times { end_ns: ns, ticks: ns as u64, latency_ns: ns, bytes: 1000, ..Times::default() };
    Sample {
        transfers: vec![times],
        disturbed: if disturbed { vec![0] } else { vec![] },
        ..Sample::default()
    }
}

fn scripted(samples: &[(f64, bool)]) -> probe::Measurement {
    let machine = machine::load("cell").unwrap();
    let mut target = Scripted {
        machine,
        samples: samples.iter().map(|(ns, disturbed)| sample(*ns, *disturbed)).collect(),
    };
    let options = ProbeOptions { sizes: vec![128], samples: Some(1), ..patterns(&["pair"]) };
    measure(&mut target, &options, &mut |_| true).unwrap().measurements.remove(0)
}

#[test]
fn disturbed_samples_are_left_out_and_counted() {
    let m = scripted(&[(100.0, false), (900.0, true), (200.0, false), (100.0, false)]);
    assert_eq!((m.n, m.excluded), (3, 1));
    assert_eq!((m.latency_ns.min, m.latency_ns.p50, m.latency_ns.p90), (100.0, 100.0, 200.0));
    assert_eq!(m.bandwidth_gbs.min, 5.0);
}

#[test]
fn where_most_samples_were_disturbed_all_count_and_the_quality_says_so() {
    let m = scripted(&[(100.0, true), (900.0, true), (200.0, false)]);
    assert_eq!((m.n, m.excluded, m.quality), (3, 0, Quality::Disturbed));
}
