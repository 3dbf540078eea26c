//! Computers that are not here: each folder of `recorded/` has the files that discovery reads and the machine that it
//! should make of them. `vm-2` follows a virtual machine that was looked at; the others are written after the layouts
//! that the kernel documents and shows on such computers.
//!
//! `tree.txt` is a file per line, `path<TAB>content`, with `\n`, `\t` and `\0` escaped; `cpu{0-3,8}` in a path stands
//! for each of these cpus. `CELLWEAVE_BLESS=1 cargo test -p cellweave-machine --test recorded` writes `machine.toml`
//! anew, for a person to look at.

#[path = "recorded/computer.rs"]
mod computer;

use computer::{Root, files, folder};
use machine::discover::{CacheBytes, cache_bytes, host};
use machine::{Machine, check, file};
use std::fs;

const NAMES: [&str; 5] = ["vm-2", "epyc-2x64", "laptop-hybrid", "board-biglittle", "container-3-of-16"];

fn recorded(name: &str) -> Machine {
    host(&Root::of(&files(name)).0, None).unwrap()
}

#[test]
fn every_recorded_computer_is_the_machine_that_it_should_be() {
    for name in NAMES {
        let text = file::to_text(&recorded(name)).unwrap();
        let expected = folder(name).join("machine.toml");
        if std::env::var_os("CELLWEAVE_BLESS").is_some() {
            fs::write(&expected, &text).unwrap();
        }
        assert_eq!(text, fs::read_to_string(&expected).unwrap(), "{name}");
        assert_eq!(file::read(&expected).unwrap(), recorded(name), "{name}");
    }
}

#[test]
fn what_a_core_has_for_itself_and_what_it_shares_is_told_from_the_threads_of_a_core() {
    let caches = |name: &str| cache_bytes(&Root::of(&files(name)).0);
    assert_eq!(caches("epyc-2x64"), CacheBytes { private: 512 << 10, shared: 32 << 20 });
    assert_eq!(cache_bytes(std::path::Path::new("/none/such")), CacheBytes::default());
}

/// Sizes of the groups that `group` makes of the elements, in order of their numbers.
fn sizes(machine: &Machine, group: impl Fn(&machine::Element) -> Option<u32>) -> Vec<usize> {
    let mut sizes = std::collections::BTreeMap::new();
    for e in &machine.elements {
        *sizes.entry(group(e).unwrap()).or_insert(0) += 1;
    }
    sizes.into_values().collect()
}

#[test]
fn two_sockets_of_64_cores_have_16_ccxs_of_8_cores_with_two_threads_each() {
    let epyc = recorded("epyc-2x64");
    assert_eq!(epyc.elements.len(), 256);
    assert_eq!(sizes(&epyc, |e| Some(e.place.chip)), [128; 2]);
    assert_eq!(sizes(&epyc, |e| e.place.numa), [128; 2]);
    assert_eq!(sizes(&epyc, |e| e.place.l3), [16; 16]);
    assert_eq!(sizes(&epyc, |e| e.place.l2), [2; 128]);
    assert_eq!(sizes(&epyc, |e| e.place.core), [2; 128]);
    let (a, b) = (&epyc.elements[3], &epyc.elements[131]);
    assert_eq!((a.place.core, a.place.l3), (b.place.core, b.place.l3));
    let memory = a.memory.as_ref().unwrap();
    assert_eq!((memory.bytes, memory.l1_bytes, memory.hard), (256 << 10, Some(32 << 10), false));
    assert!(!epyc.measured && epyc.limits.is_empty() && epyc.quota_cpus.is_none());
    assert_eq!(epyc.description, "AMD EPYC 7763 64-Core Processor, cpus 0-255");
}

#[test]
fn a_hybrid_laptop_has_cores_and_atoms() {
    let laptop = recorded("laptop-hybrid");
    assert_eq!(laptop.kinds(), ["core", "atom"]);
    assert_eq!(laptop.elements.iter().filter(|e| e.kind == "core").count(), 16);
    assert_eq!(sizes(&laptop, |e| e.place.core), [[2; 8], [1; 8]].concat());
    assert_eq!(sizes(&laptop, |e| e.place.l2), [[2; 8].as_slice(), &[4; 2]].concat());
    assert_eq!(laptop.elements[16].memory.as_ref().unwrap().bytes, 1 << 20);
}

#[test]
fn a_big_little_board_has_little_cores_and_capacities() {
    let board = recorded("board-biglittle");
    assert_eq!(board.kinds(), ["little", "core"]);
    assert_eq!(board.elements[0].place.capacity, Some(530));
    assert_eq!(board.elements[7].place.capacity, Some(1024));
    assert_eq!(board.description, "Radxa ROCK 5B, cpus 0-7");
}

#[test]
fn a_phone_with_three_sizes_of_cores_has_three_kinds() {
    let root = Root::of(&files("board-biglittle"));
    for (cpus, capacity) in [(0..4, "160"), (4..7, "740"), (7..8, "1024")] {
        for cpu in cpus {
            root.put(&format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"), capacity.as_bytes());
        }
    }
    let phone = host(&root.0, None).unwrap();
    let kinds: Vec<&str> = phone.elements.iter().map(|e| e.kind.as_str()).collect();
    assert_eq!(kinds, ["little", "little", "little", "little", "mid", "mid", "mid", "core"]);
}

#[test]
fn a_container_has_the_cpus_that_it_is_allowed_and_says_its_quota() {
    let container = recorded("container-3-of-16");
    let names: Vec<&str> = container.elements.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["CPU2", "CPU5", "CPU9"]);
    assert_eq!(container.elements.iter().map(|e| e.os_cpu.unwrap()).collect::<Vec<_>>(), [2, 5, 9]);
    assert_eq!(container.elements.iter().map(|e| e.place.chip).collect::<Vec<_>>(), [0, 0, 1]);
    assert_eq!(container.quota_cpus, Some(1.5));
    assert!(container.description.ends_with(", cpus 2,5,9, quota of 1.5 cpus"), "{}", container.description);
}

#[test]
fn only_the_cpus_asked_for_are_taken_and_others_are_refused() {
    let root = Root::of(&files("container-3-of-16"));
    let two = host(&root.0, Some(&[9, 2])).unwrap();
    assert_eq!(two.elements.iter().map(|e| e.os_cpu.unwrap()).collect::<Vec<_>>(), [2, 9]);
    let message = host(&root.0, Some(&[2, 3])).unwrap_err().to_string();
    assert_eq!(message, "cpus: cpu 3 may not be used; this process has 2,5,9");
}

#[test]
fn the_smallest_quota_of_all_groups_above_counts_in_both_versions() {
    let vm = files("vm-2");
    for (cgroup, quotas, expected) in [
        (
            "0::/a/b",
            vec![("sys/fs/cgroup/a/cpu.max", "50000 100000"), ("sys/fs/cgroup/a/b/cpu.max", "max 100000")],
            Some(0.5),
        ),
        ("0::/a", vec![("sys/fs/cgroup/unified/a/cpu.max", "125000 100000")], Some(1.25)),
        ("0::/", vec![("sys/fs/cgroup/cpu.max", "800000 100000")], None),
        ("0::/../x", vec![("sys/fs/cgroup/cpu.max", "100000 100000")], Some(1.0)),
        ("0::/a", vec![("sys/fs/cgroup/a/cpu.max", "x 100000")], None),
        ("0::/a", vec![("sys/fs/cgroup/a/cpu.max", "100000 0")], None),
        (
            "4:cpu,cpuacct:/docker/7\n0::/",
            vec![
                ("sys/fs/cgroup/cpu,cpuacct/docker/7/cpu.cfs_quota_us", "-1"),
                ("sys/fs/cgroup/cpu,cpuacct/docker/7/cpu.cfs_period_us", "100000"),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "175000"),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000"),
            ],
            Some(1.75),
        ),
        ("cpu", vec![], None),
        ("1:cpu", vec![], None),
    ] {
        let root = Root::of(&vm);
        root.put("proc/self/cgroup", cgroup.as_bytes());
        for (path, content) in quotas {
            root.put(path, content.as_bytes());
        }
        assert_eq!(host(&root.0, None).unwrap().quota_cpus, expected, "{cgroup}");
    }
}

#[test]
fn a_computer_that_shows_nothing_but_its_cpus_still_is_a_machine() {
    let root = Root::of(&[("sys/devices/system/cpu/online".into(), "0-1\n".into())]);
    let bare = host(&root.0, None).unwrap();
    assert_eq!(bare.elements.len(), 2);
    assert!(bare.elements.iter().all(|e| e.memory.is_none() && e.kind == "core"));
    assert_eq!(sizes(&bare, |e| e.place.core), [1, 1]);
    assert_eq!(bare.description, "unknown cpu, cpus 0-1");
    let message = host(&Root::of(&[("x".into(), String::new())]).0, None).unwrap_err().to_string();
    assert!(message.starts_with("no cpus found: neither Cpus_allowed_list"), "{message}");
}

#[test]
fn a_tree_with_any_file_missing_or_broken_gives_a_machine_or_an_error() {
    const GARBAGE: [&[u8]; 12] = [
        b"",
        b"\n",
        b"x",
        b"-1",
        b"4-2",
        b",",
        b"0-",
        b"0-4000000000",
        b"99999999999999999999999999K",
        b"K",
        b"\xff\xfe\0",
        b"1024\xc3\xa9",
    ];
    let (mut machines, mut errors) = (0, 0);
    for name in ["vm-2", "container-3-of-16", "board-biglittle"] {
        let files = files(name);
        let root = Root::of(&files);
        let mut look = || match host(&root.0, None) {
            Ok(machine) => {
                check::check(&machine).unwrap();
                machines += 1;
            }
            Err(_) => errors += 1,
        };
        for (path, content) in files.iter().filter(|(path, _)| !path.contains("/cpu1")) {
            for garbage in GARBAGE {
                root.put(path, garbage);
                look();
            }
            fs::remove_file(root.0.join(path)).unwrap();
            look();
            fs::create_dir(root.0.join(path)).unwrap();
            look();
            fs::remove_dir(root.0.join(path)).unwrap();
            root.put(path, content.as_bytes());
        }
    }
    assert!(machines > 1000, "{machines} machines, {errors} errors");
}
