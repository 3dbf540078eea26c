//! The presets against the statement of `streaming-schedule`, section 3.2, as it is settled, written down pair by pair.

use machine::{Machine, Role, load};
use std::collections::BTreeMap;

fn chip(machine: &Machine, i: usize) -> u32 {
    machine.elements[i].place.chip
}

/// Every equation's capacity for one ordered pair, straight from the settled table: equation -> (name, GB/s).
fn settled(machine: &Machine, source: usize, reader: usize) -> BTreeMap<String, f64> {
    let (from, to) = (&machine.elements[source], &machine.elements[reader]);
    let (there, here) = (chip(machine, source), chip(machine, reader));
    let mut all = BTreeMap::new();
    all.insert(format!("input of {} (1)", to.name), 25.0);
    all.insert(format!("output of {} (2)", from.name), 25.0);
    if to.kind == "ppe" {
        all.insert(format!("{} reads {} (3)", to.name, from.name), 2.0);
    }
    all.insert(format!("bus of chip {here} (4)"), 149.0);
    all.insert(format!("bus of chip {there} (4)"), 149.0);
    if here != there {
        if to.kind == "spe" {
            let (equation, capacity) = if here == 0 { (5, 4.91) } else { (6, 3.38) };
            all.insert(format!("{} reads chip {there} ({equation})", to.name), capacity);
        }
        let (equation, capacity) = if here == 0 { (7, 13.0) } else { (8, 11.5) };
        all.insert(format!("chip {here} reads chip {there} ({equation})"), capacity);
        all.insert("between the chips (9)".into(), 19.0);
    }
    all
}

#[test]
fn every_pair_of_every_preset_counts_in_exactly_the_settled_limits() {
    for spec in [
        "ps3",
        "cell",
        "qs20",
        "qs22",
        "qs22:ppe=1",
        "qs22:ppe=1,spe=3",
        "qs22:spe=9",
        "cell:spe=0",
        "qs20:spe=0",
    ] {
        let machine = load(spec).unwrap();
        let n = machine.elements.len();
        let mut used = vec![false; machine.limits.len()];
        for (source, reader) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j) {
            let mut found = BTreeMap::new();
            for (limit, used) in machine.limits.iter().zip(&mut used) {
                if limit.holds(source, reader) {
                    *used = true;
                    found.insert(limit.name.clone(), limit.capacity_bytes_per_s / 1e9);
                }
            }
            assert_eq!(found, settled(&machine, source, reader), "{spec}: {source} -> {reader}");
        }
        if n > 1 {
            assert!(used.iter().all(|u| *u), "{spec} has a limit that nothing counts in");
        }
        let mut names: Vec<&str> = machine.limits.iter().map(|l| l.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), machine.limits.len(), "{spec}: a limit's name occurs twice");
    }
}

#[test]
fn ppes_come_first_and_the_first_eight_spes_sit_on_chip_0() {
    let machine = load("qs22").unwrap();
    let names: Vec<&str> = machine.elements.iter().map(|e| e.name.as_str()).collect();
    let expected: Vec<String> =
        (0..2).map(|i| format!("PPE{i}")).chain((0..16).map(|i| format!("SPE{i}"))).collect();
    assert_eq!(names, expected);
    let chips: Vec<u32> = machine.elements.iter().map(|e| e.place.chip).collect();
    assert_eq!(chips, [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn an_spe_has_a_hard_local_store_and_bounded_queues_and_a_ppe_has_neither() {
    let machine = load("ps3").unwrap();
    assert_eq!(machine.elements.len(), 7);
    let ppe = &machine.elements[0];
    assert!(ppe.memory.is_none() && ppe.incoming_max.is_none() && ppe.outgoing_max.is_empty());
    for spe in &machine.elements[1..] {
        let memory = spe.memory.as_ref().unwrap();
        assert_eq!((memory.bytes, memory.hard), (262_144, true));
        assert_eq!(spe.incoming_max, Some(16));
        assert_eq!(spe.outgoing_max, BTreeMap::from([("ppe".to_string(), 8)]));
    }
    assert!(machine.measured && machine.overheads.is_empty() && machine.distances.is_none());
}

#[test]
fn a_preset_states_the_roles_of_its_kinds_and_other_machines_have_them_by_their_memories() {
    let roles = |m: &Machine| m.kinds().into_iter().map(|k| (k.to_string(), m.role(k))).collect::<Vec<_>>();
    let cell = load("cell").unwrap();
    let stated = [("ppe".to_string(), Role::General), ("spe".to_string(), Role::Accelerator)];
    assert_eq!(roles(&cell), stated);
    assert_eq!(roles(&load("cell:spe=0").unwrap()), stated[..1], "a PPE alone is still no peer");
    let silent = Machine { roles: BTreeMap::new(), ..cell.clone() };
    assert_eq!(roles(&silent), stated, "local stores make accelerators");
    let mut soft = silent.clone();
    soft.elements[3].memory.as_mut().unwrap().hard = false;
    assert_eq!(roles(&soft), stated.clone().map(|(kind, _)| (kind, Role::Peer)));
    let overruled = Machine { roles: BTreeMap::from([("spe".into(), Role::Peer)]), ..cell };
    assert_eq!(roles(&overruled), stated.map(|(kind, _)| (kind, Role::Peer)));
}

#[test]
fn the_joint_memory_option_counts_a_ppes_reads_and_writes_together() {
    let machine = load("qs22:memory=joint").unwrap();
    for ppe in 0..2 {
        let name = format!("memory of PPE{ppe} (1)(2)");
        let joint = machine.limits.iter().find(|l| l.name == name).unwrap();
        assert_eq!(joint.capacity_bytes_per_s, 25e9);
        assert!(joint.holds(ppe, 5) && joint.holds(5, ppe) && !joint.holds(5, 6));
        for gone in [format!("input of PPE{ppe} (1)"), format!("output of PPE{ppe} (2)")] {
            assert!(machine.limits.iter().all(|l| l.name != gone), "{gone}");
        }
    }
    assert_eq!(machine.limits.len() + 2, load("qs22").unwrap().limits.len());
    assert_eq!(load("qs22:memory=separate").unwrap(), load("qs22").unwrap());
}

#[test]
fn a_wrong_request_says_what_is_allowed() {
    for (spec, expected) in [
        ("qs23", "a path with a / or ending in .toml); did you mean `qs20`?"),
        ("", "unknown machine \"\"; known are ps3, cell, qs20, qs22, host"),
        ("hosts", "did you mean `host`?"),
        ("cell:ppe=2", "ppe: \"2\" is not a number from 1 to 1, the PPEs of cell"),
        ("qs22:ppe=0", "ppe: \"0\" is not a number from 1 to 2, the PPEs of qs22"),
        ("qs22:spe=17", "spe: \"17\" is not a number from 0 to 16, the SPEs of qs22"),
        ("ps3:spe=7", "spe: \"7\" is not a number from 0 to 6, the SPEs of ps3"),
        ("qs22:spe=-1", "spe: \"-1\" is not a number from 0 to 16"),
        ("qs22:spe=99999999999999999999", "is not a number from 0 to 16"),
        ("qs22:sep=3", "sep: qs22 has no such option; it has ppe, spe, memory; did you mean `spe`?"),
        ("qs22:ppe", "\"ppe\" in qs22:ppe is not of the form key=value"),
        ("qs22:spe=1,spe=2", "spe: given twice"),
        ("qs22:memory=joined", "memory: \"joined\" is neither joint nor separate; did you mean `joint`?"),
        ("host:cpu=1", "cpu: host has no such option; it has cpus; did you mean `cpus`?"),
        ("host:cpus=", "cpus: \"\" is not a list of cpus"),
        ("host:cpus=3-1", "cpus: \"3-1\" is not a list of cpus"),
        ("host:cpus=0-4000000000", "is not a list of cpus"),
    ] {
        let message = load(spec).unwrap_err().to_string();
        assert!(message.contains(expected), "{spec}: {message}");
    }
    assert!(load(&"x".repeat(1 << 20)).unwrap_err().to_string().len() < 200);
}

#[test]
fn every_listed_machine_can_be_loaded() {
    for (name, description) in machine::list() {
        assert_eq!(load(name).unwrap().name, name);
        assert!(!description.is_empty());
    }
}
