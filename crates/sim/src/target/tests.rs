//! What experiments come to on simulated machines, and which are refused.

use super::*;
use machine::target::Walk;

fn target(name: &str) -> SimTarget {
    SimTarget::new(parameters(name, None, None).unwrap()).unwrap()
}

fn spe(t: &SimTarget, number: usize) -> ElementId {
    t.machine.element(&format!("SPE{number}")).unwrap()
}

fn experiment(transfers: Vec<Transfer>) -> Experiment {
    Experiment { transfers, size_bytes: 4096, buffers: 2, repeats: 32, compute_ns: 0, walk: Walk::Next }
}

fn line(initiator: ElementId, other: Store, direction: Direction) -> Transfer {
    Transfer { initiator, other, direction }
}

fn refused(t: &SimTarget, e: &Experiment) -> String {
    match t.check(e).unwrap_err() {
        TargetError::Request(message) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_line_has_its_times_and_the_same_twice() {
    let mut t = target("qs22");
    let (a, b, c) = (spe(&t, 0), spe(&t, 1), spe(&t, 9));
    let lines = vec![
        line(a, Store::Element(b), Direction::Get),
        line(a, Store::Element(c), Direction::Put),
        line(b, Store::Memory(0), Direction::Alternating),
        line(c, Store::Memory(0), Direction::Get),
        line(c, Store::Element(0), Direction::Put),
    ];
    let e = experiment(lines);
    let first = t.measure(&e, 7).unwrap();
    assert_eq!(first.len(), 1, "one sample is all there is to know");
    for times in &first[0].transfers {
        assert_eq!(times.bytes, 4096 * 32);
        assert!(times.end_ns > times.start_ns && times.ticks > 0 && times.latency_ns > 90.0, "{times:?}");
    }
    assert_eq!(first, t.measure(&e, 1).unwrap());
}

#[test]
fn the_decrementer_and_the_simulated_time_agree_to_a_tick_and_what_reading_it_takes() {
    let mut t = target("cell");
    let s = &t.measure(&experiment(vec![line(spe(&t, 0), Store::Memory(0), Direction::Get)]), 1).unwrap()[0];
    let (by_time, ticks) = (s.span_ns(), s.transfers[0].ticks as f64);
    assert!((ticks * 1e9 / t.timer().hz - by_time).abs() < 2.0 * 1e9 / t.timer().hz, "{ticks} {by_time}");
}

#[test]
fn a_large_transfer_is_several_commands_and_takes_as_long_as_they() {
    let mut t = target("cell");
    let mut time = |size_bytes, repeats| {
        let lines = vec![line(spe(&t, 0), Store::Element(spe(&t, 2)), Direction::Get)];
        let e = Experiment { size_bytes, repeats, buffers: 1, ..experiment(lines) };
        t.measure(&e, 1).unwrap()[0].span_ns()
    };
    let (whole, one) = (time(48 * 1024, 1), time(16 * 1024, 1));
    assert!(whole > 2.5 * one && whole < 3.0 * one, "{whole} {one}");
}

#[test]
fn computing_hides_behind_transfers_with_two_buffers_and_not_with_one() {
    let mut t = target("cell");
    let mut time = |buffers, compute_ns| {
        let lines = vec![line(spe(&t, 0), Store::Element(spe(&t, 2)), Direction::Get)];
        let e = Experiment { buffers, compute_ns, size_bytes: 16384, ..experiment(lines) };
        t.measure(&e, 1).unwrap()[0].span_ns()
    };
    assert!(time(2, 300) < 1.02 * time(2, 0));
    // 31 computations lie between the start of the first of 32 transfers and the end of the last.
    assert!(time(1, 1000) - time(1, 0) > 30.9 * 1000.0);
}

#[test]
fn what_a_program_spends_on_each_transfer_is_serial_with_one_buffer_and_bounds_many_small_ones() {
    let time = |buffers, size_bytes, loop_cycles| {
        let mut t = target("cell").with_loop_cycles(loop_cycles);
        let lines = vec![line(spe(&t, 0), Store::Element(spe(&t, 2)), Direction::Get)];
        t.measure(&Experiment { buffers, size_bytes, ..experiment(lines) }, 1).unwrap()[0].span_ns()
    };
    let cycle_ns = 0.3125;
    for cycles in [40, 400] {
        let more = time(1, 128, cycles) - time(1, 128, 0);
        // DMA through the port of the local store takes a few cycles from a program that computes.
        let least = 31.0 * cycles as f64 * cycle_ns;
        assert!((least..1.05 * least + 1.0).contains(&more), "{cycles}: {more} ns, {least}");
    }
    assert!(time(8, 16, 400) > 31.0 * 400.0 * cycle_ns);
    assert!(time(8, 16384, 400) < 1.02 * time(8, 16384, 0));
    assert!(target("cell").with_loop_cycles(39).describe().contains("39 SPU cycles of a program"));
    assert!(!target("cell").describe().contains("of a program"));
}

#[test]
fn one_bank_of_memory_gives_an_eighth_of_what_all_give() {
    let mut t = target("cell");
    let mut gbs = |walk| {
        let lines = (0..4).map(|n| line(spe(&t, n), Store::Memory(0), Direction::Get)).collect();
        let e = Experiment { walk, size_bytes: 128, buffers: 8, repeats: 512, ..experiment(lines) };
        t.measure(&e, 1).unwrap()[0].bytes_per_s() / 1e9
    };
    let (all, one) = (gbs(Walk::Next), gbs(Walk::Stride(2048)));
    assert!(all > 15.0 && (2.5..3.3).contains(&one), "{all} {one}");
}

#[test]
fn what_a_ppe_has_in_its_cache_comes_sooner() {
    let mut t = target("cell");
    let mut latency_ns = |walk| {
        let lines = vec![line(spe(&t, 0), Store::Memory(0), Direction::Get)];
        let e = Experiment { walk, size_bytes: 128, buffers: 1, ..experiment(lines) };
        t.measure(&e, 1).unwrap()[0].latency_ns()
    };
    assert!(latency_ns(Walk::Cached) < 0.8 * latency_ns(Walk::Next));
}

#[test]
fn what_was_set_is_in_the_description() {
    let mut p = parameters("qs22", None, None).unwrap();
    p.mfc.memory_token += 7;
    let text = SimTarget::new(p.clone()).unwrap().describe();
    assert!(text.ends_with(&format!(", mfc.memory_token {}", p.mfc.memory_token)), "{text}");
}

#[test]
fn a_ppe_reads_an_spe_slowly_and_others_meanwhile() {
    let mut t = target("qs22");
    let lines = vec![
        line(0, Store::Element(spe(&t, 0)), Direction::Get),
        line(1, Store::Element(spe(&t, 1)), Direction::Put),
        line(spe(&t, 2), Store::Element(spe(&t, 3)), Direction::Get),
    ];
    let s = &t.measure(&Experiment { repeats: 4, ..experiment(lines) }, 1).unwrap()[0];
    assert!(s.transfers[0].latency_ns > 5.0 * s.transfers[2].latency_ns, "{:?}", s.transfers);
    assert!(s.transfers[1].ticks > 0);
}

#[test]
fn what_does_not_fit_a_local_store_is_refused_with_what_is_left() {
    let t = target("cell");
    let lines = vec![line(spe(&t, 0), Store::Element(spe(&t, 2)), Direction::Get)];
    let e = experiment(lines);
    assert!(t.check(&Experiment { size_bytes: 16384, buffers: 8, ..e.clone() }).is_ok());
    let message = refused(&t, &Experiment { size_bytes: 32768, buffers: 8, ..e.clone() });
    for fragment in ["SPE0", "8 buffers of 32768", "local store", "are left"] {
        assert!(message.contains(fragment), "{message}");
    }
    assert!(refused(&t, &Experiment { size_bytes: 262_144, buffers: 1, ..e }).contains("local store"));
}

#[test]
fn an_experiment_without_an_end_in_sight_is_refused() {
    let t = target("cell");
    let lines = vec![line(spe(&t, 0), Store::Element(spe(&t, 2)), Direction::Get)];
    let e = Experiment { size_bytes: 32768, repeats: 1 << 20, ..experiment(lines) };
    assert!(refused(&t, &e).contains("268435456 packets"));
    assert!(t.check(&Experiment { size_bytes: 128, ..e }).is_ok());
}

#[test]
fn what_only_spes_can_do_is_refused_for_a_ppe() {
    let t = target("qs22");
    assert!(refused(&t, &experiment(vec![line(0, Store::Memory(0), Direction::Get)])).contains("PPE0"));
    assert!(refused(&t, &experiment(vec![line(0, Store::Element(1), Direction::Get)])).contains("PPE0"));
}

#[test]
fn hidden_spes_are_no_elements_and_unknown_names_are_refused() {
    let ps3 = SimTarget::new(parameters("qs20", Some("textbook"), Some(&[1, 6])).unwrap()).unwrap();
    assert_eq!(ps3.machine.elements.len(), 2 + 12);
    assert_eq!(ps3.machine.elements[ps3.machine.element("SPE6").unwrap()].place.chip, 1);
    assert!(ps3.describe().contains("textbook") && ps3.describe().contains("1 and 6"));
    let message = |rules, hidden| parameters("ps3", rules, hidden).unwrap_err().to_string();
    assert!(message(Some("texbook"), None).contains("textbook"));
    assert!(message(None, Some(&[9])).contains("hidden"));
    assert!(parameters("ps4", None, None).unwrap_err().to_string().contains("qs22"));
}
