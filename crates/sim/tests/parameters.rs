//! Parameters that make no sense are refused with their name and what is allowed; all others run.

mod machines;

use machines::{owned, small};
use sim::{Address, Parameters, SimError, Simulation};

/// The name, value and allowance that a machine is refused with.
fn refused(name: &str, set: impl Fn(&mut Parameters)) -> (String, String) {
    let mut parameters = small("qs22");
    set(&mut parameters);
    match Simulation::new(parameters).map(|_| ()) {
        Err(SimError::Parameter { name: said, value, allowed }) => {
            assert_eq!(said, name);
            (value, allowed)
        }
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn every_number_that_is_too_small_or_too_large_is_refused_by_its_name() {
    // Name, the smallest that is allowed, the largest.
    let long = 1_000_000_000;
    let ranges: &[(&str, u64, u64)] = &[
        ("chips", 1, 2),
        ("timebase_hz", 1, 1_600_000_000),
        ("memory_bytes", 4096, 1 << 36),
        ("rules.per_ring", 1, 3),
        ("rules.start_interval", 1, 1000),
        ("rules.gap", 0, 1000),
        ("rules.margin", 0, 2),
        ("rules.alone_from_hops", 1, 7),
        ("spu.dma", 0, long),
        ("spu.tag_status", 0, long),
        ("spu.channel", 0, long),
        ("spu.decrementer", 0, long),
        ("spu.stolen_per_line", 0, 7),
        ("mfc.queue", 1, 16),
        ("mfc.proxy_queue", 1, 8),
        ("mfc.to_bus", 0, long),
        ("mfc.list_element", 0, long),
        ("mfc.lines", 1, 1024),
        ("mfc.remote_lines[0]", 1, 1024),
        ("mfc.remote_lines[1]", 1, 1024),
        ("mfc.line_interval", 0, long),
        ("mfc.tlb_entries", 0, 1 << 16),
        ("mfc.page_bytes", 4096, u64::MAX),
        ("mfc.tlb_miss", 0, long),
        ("mfc.memory_token", 0, long),
        ("bus.command_interval", 1, 1000),
        ("bus.coherence", 0, long),
        ("bus.source", 0, long),
        ("bus.sink", 0, long),
        ("bus.link_ramp", 0, 1),
        ("memory.latency", 0, long),
        ("memory.line", 1, 1_000_000),
        ("memory.bank", 1, 1_000_000),
        ("memory.turnaround", 0, long),
        ("memory.burst", 1, 1 << 20),
        ("memory.writes_waiting", 1, 1 << 20),
        ("memory.ppe_cache_line", 0, long),
        ("link.command[0]", 0, long),
        ("link.command[1]", 0, long),
        ("link.data", 0, long),
        ("link.line_ps[0]", 0, long),
        ("link.line_ps[1]", 0, long),
        ("link.shared_line_ps", 0, long),
        ("ppe.register", 0, long),
        ("ppe.proxy", 0, long),
        ("ppe.cached", 0, long),
        ("ppe.uncached", 0, long),
        ("ppe.misses", 1, 1 << 20),
    ];
    let mut names: Vec<&str> = small("qs22").numbers().iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    let mut checked: Vec<&str> = ranges.iter().map(|r| r.0).collect();
    checked.sort_unstable();
    assert_eq!(names, checked, "a number that this test does not know");
    let try_set = |name: &str, value: u64| small("qs22").set(name, value);
    for &(name, least, most) in ranges {
        for outside in [least.checked_sub(1), most.checked_add(1), Some(u64::MAX)].into_iter().flatten() {
            if (least..=most).contains(&outside) {
                continue;
            }
            match try_set(name, outside) {
                // It does not even fit.
                Err(SimError::Parameter { name: said, .. }) => assert_eq!(said, name),
                Ok(()) => {
                    let (value, allowed) = refused(name, |p| p.set(name, outside).unwrap());
                    assert_eq!(value, outside.to_string());
                    assert!(!allowed.is_empty());
                }
                other => panic!("{other:?}"),
            }
        }
        if name == "mfc.page_bytes" {
            continue;
        }
        for inside in [least, most] {
            let mut p = small("qs22");
            p.set(name, inside).unwrap();
            p.check().unwrap_or_else(|e| panic!("{e}"));
        }
    }
}

#[test]
fn hidden_spes_are_different_ones_that_are_there_and_never_all() {
    let hide = |hidden: &[usize]| refused("hidden", |p| p.hidden = hidden.to_vec());
    assert_eq!(hide(&[8]).0, "[8]");
    assert_eq!(hide(&[3, 3]).0, "[3, 3]");
    assert!(hide(&[0, 1, 2, 3, 4, 5, 6, 7]).1.contains("at most seven"));
    assert_eq!(Parameters { hidden: (1..8).collect(), ..small("qs22") }.spes(), 2);
}

#[test]
fn memory_is_whole_lines_and_pages_are_powers_of_two() {
    assert!(refused("memory_bytes", |p| p.memory_bytes = 5000).1.contains("multiple of 128"));
    assert!(refused("mfc.page_bytes", |p| p.mfc.page_bytes = 12_288).1.contains("power of two"));
    assert!(Parameters::named("ps2").is_none());
}

#[test]
fn a_machine_with_extreme_but_allowed_numbers_runs() {
    for most in [false, true] {
        let mut p = small("qs22");
        let names: Vec<&'static str> = p.numbers().iter().map(|(name, _)| *name).collect();
        let mut limit =
            |name: &str, least: u64, largest: u64| p.set(name, if most { largest } else { least }).unwrap();
        for name in names {
            match name {
                "chips" | "timebase_hz" | "memory_bytes" | "bus.link_ramp" => {}
                "rules.per_ring" => limit(name, 1, 3),
                "rules.alone_from_hops" => limit(name, 1, 7),
                "rules.gap" => limit(name, 0, 1000),
                "rules.margin" => limit(name, 0, 2),
                "rules.start_interval" | "bus.command_interval" => limit(name, 1, 1000),
                "mfc.queue" => limit(name, 1, 16),
                "mfc.proxy_queue" => limit(name, 1, 8),
                "mfc.lines" | "mfc.remote_lines[0]" | "mfc.remote_lines[1]" => limit(name, 1, 1024),
                "mfc.tlb_entries" => limit(name, 0, 1 << 16),
                "mfc.page_bytes" => limit(name, 4096, 1 << 63),
                "memory.line" | "memory.bank" => limit(name, 1, 1_000_000),
                "memory.burst" | "memory.writes_waiting" | "ppe.misses" => limit(name, 1, 1 << 20),
                // More than a line's time, and it never ends: DMA goes first.
                "spu.stolen_per_line" => limit(name, 0, 4),
                _ => limit(name, 0, 1_000_000_000),
            }
        }
        let mut sim = owned(p);
        sim.memory_mut(Address(0), 4096).fill(1);
        for spe in [0, 9] {
            sim.spe(spe, "busy", move |spe| {
                spe.get(0, Address(0), 2048, 0);
                spe.putf(0, Address((1 << 20) + spe.number() as u64 * 4096), 2048, 0);
                spe.compute(1000);
                spe.tags_all(1);
                spe.getllar(4096, Address(8192));
                spe.putllc(4096, Address(8192));
                spe.set_decrementer(5);
                spe.decrementer();
                spe.write_mailbox(1);
            })
            .unwrap();
        }
        sim.ppe(0, "main", |ppe| {
            ppe.proxy_get(0, 65536, Address(0), 128, 0);
            ppe.proxy_wait(0, 1);
            ppe.read_mailbox(0);
            ppe.read_mailbox(9);
        })
        .unwrap();
        sim.run().unwrap();
        assert_eq!(sim.memory(Address((1 << 20) + 9 * 4096), 2048), [1; 2048]);
    }
}

#[test]
fn unknown_pages_take_their_time_and_known_ones_do_not() {
    let took = |entries: usize, addresses: &'static [u64]| {
        let mut p = small("cell");
        (p.mfc.tlb_entries, p.mfc.page_bytes, p.mfc.tlb_miss) = (entries, 65536, 1000);
        let mut cell = owned(p);
        cell.spe(0, "touches", move |spe| {
            for &ea in addresses {
                spe.get(0, Address(ea), 16, 0);
                spe.tags_all(1);
            }
        })
        .unwrap();
        cell.run().unwrap().cycles
    };
    let twice: &[u64] = &[0, 0];
    assert_eq!(took(4, twice) - took(0, twice), 1000);
    let two_pages: &[u64] = &[0, 65536, 128, 65536 + 128];
    assert_eq!(took(4, two_pages) - took(0, two_pages), 2000);
    assert_eq!(took(1, two_pages) - took(0, two_pages), 4000);
}

#[test]
fn a_command_that_goes_on_to_another_page_waits_for_it() {
    let took = |page_bytes: u64, ea: u64| {
        let mut p = small("cell");
        (p.mfc.tlb_entries, p.mfc.page_bytes, p.mfc.tlb_miss) = (16, page_bytes, 5000);
        let mut cell = owned(p);
        cell.spe(0, "touches", move |spe| {
            spe.get(0, Address(ea), 16384, 0);
            spe.tags_all(1);
        })
        .unwrap();
        cell.run().unwrap().cycles / 5000
    };
    assert_eq!(
        [took(1 << 20, 0), took(16384, 0), took(16384, 128), took(4096, 0), took(4096, 128)],
        [1, 1, 2, 4, 5]
    );
}
