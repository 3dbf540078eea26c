//! The machine file: exact both ways, and every mistake named with its line, its key and what is allowed.

use machine::file::{parse, read, to_text, write};
use machine::{
    Block, Distances, Element, HandoverCurve, HandoverPoint, Limit, Machine, Memory, Nearness, Overhead,
    Place, Role, Together, load,
};
use proptest::collection::{btree_map, hash_set, vec};
use proptest::prelude::*;

fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        0.0..1e12f64,
        Just(0.0),
        Just(f64::MIN_POSITIVE),
        Just(f64::MAX),
        Just(0.1 + 0.2),
        Just(5e-324)
    ]
}

fn positive() -> impl Strategy<Value = f64> {
    finite().prop_map(|x| if x > 0.0 { x } else { 1.0 })
}

fn memory() -> impl Strategy<Value = Memory> {
    let bytes = 1..=1u64 << 60;
    (bytes.clone(), any::<bool>(), any::<bool>(), prop::option::of(bytes), prop::option::of(positive()))
        .prop_map(|(bytes, hard, holds_code, l1_bytes, overflow_bytes_per_s)| Memory {
            bytes,
            hard,
            holds_code,
            l1_bytes,
            overflow_bytes_per_s,
        })
}

prop_compose! {
    fn place()(
        chip in any::<u32>(), numa in any::<Option<u32>>(), l3 in any::<Option<u32>>(),
        l2 in any::<Option<u32>>(), core in any::<Option<u32>>(),
        tile in any::<Option<[u32; 2]>>(), capacity in any::<Option<u32>>(),
    ) -> Place {
        Place { chip, numa, l3, l2, core, tile, capacity }
    }
}

prop_compose! {
    fn element(name: String)(
        place in place(), kind in prop::sample::select(vec!["core", "spe", "a-1_B", "7"]),
        memory in prop::option::of(memory()), incoming_max in any::<Option<u32>>(), os_cpu in any::<Option<u32>>(),
        outgoing_max in btree_map("[a-z0-9_-]{1,5}", any::<u32>(), 0..3),
    ) -> Element {
        Element { name: name.clone(), kind: kind.into(), place, memory, incoming_max, outgoing_max, os_cpu }
    }
}

fn names() -> impl Strategy<Value = Vec<String>> {
    let name = "[ a-zA-Z0-9\"'\\\\ü#=\\[\\]-]{1,8}".prop_filter("blank", |n| !n.trim().is_empty());
    hash_set(name, 1..9).prop_map(|names| names.into_iter().collect())
}

fn block(n: usize) -> impl Strategy<Value = Block> {
    let side = || {
        (Just((0..n).collect::<Vec<_>>()).prop_shuffle(), 1..=n, any::<bool>()).prop_map(
            |(mut ids, k, sorted)| {
                ids.truncate(k);
                if sorted {
                    ids.sort_unstable();
                }
                ids
            },
        )
    };
    (side(), side()).prop_map(|(from, to)| Block { from, to })
}

fn handovers() -> impl Strategy<Value = Vec<HandoverCurve>> {
    let points = btree_map((1..1u64 << 50, 1..1u64 << 50), [finite(), finite(), finite()], 1..4);
    btree_map(prop::sample::select(Nearness::ALL.to_vec()), points, 0..3).prop_map(|curves| {
        let point = |((bytes, ring_bytes), [near_line_ns, alone_line_ns, both_line_ns]): (_, [f64; 3])| {
            HandoverPoint { bytes, ring_bytes, near_line_ns, alone_line_ns, both_line_ns }
        };
        let curve = |(shares, points): (_, std::collections::BTreeMap<_, _>)| HandoverCurve {
            shares,
            points: points.into_iter().map(point).collect(),
        };
        curves.into_iter().map(curve).collect()
    })
}

fn machine() -> impl Strategy<Value = Machine> {
    names().prop_flat_map(|names| {
        let n = names.len();
        let matrix = || vec(vec(finite(), n), n);
        let elements: Vec<_> = names.into_iter().map(element).collect();
        let limits = btree_map("[ -~é]{0,12}x", (positive(), vec(block(n), 1..4)), 0..4);
        (elements, limits, prop::option::of((matrix(), matrix())), "[ -~\n\té]{0,20}", any::<bool>())
            .prop_flat_map(move |(elements, limits, distances, description, measured)| {
                let kind = elements[0].kind.clone();
                let role = prop::option::of(prop::sample::select(Role::ALL.to_vec()));
                let together = (0..n.min(3), positive(), positive()).prop_map(|(last, computing, memory)| {
                    let elements: Vec<usize> = (0..=last).collect();
                    (last > 0).then_some(Together { elements, computing, memory }).into_iter().collect()
                });
                let paces = prop_oneof![Just(Vec::new()), vec(positive(), n)];
                let rest = (handovers(), together, paces, prop::option::of("[ -~\té]{0,20}"));
                (prop::option::of((finite(), finite())), prop::option::of(positive()), role, rest).prop_map(
                    move |(overhead, quota_cpus, role, (handovers, together, paces, computer))| Machine {
                        name: "any".into(),
                        description: description.clone(),
                        elements: elements.clone(),
                        roles: role.map(|role| (kind.clone(), role)).into_iter().collect(),
                        limits: limits
                            .iter()
                            .map(|(name, (capacity_bytes_per_s, pairs))| Limit {
                                name: name.clone(),
                                capacity_bytes_per_s: *capacity_bytes_per_s,
                                pairs: pairs.clone(),
                                error: Some(*capacity_bytes_per_s / 1e9).filter(|e| *e < 0.5),
                            })
                            .collect(),
                        overheads: overhead
                            .map(|(per_transfer_ns, per_byte_ns)| {
                                (kind.clone(), Overhead { per_transfer_ns, per_byte_ns })
                            })
                            .into_iter()
                            .collect(),
                        distances: distances.clone().map(|(latency_ns, bandwidth_bytes_per_s)| Distances {
                            latency_ns,
                            bandwidth_bytes_per_s,
                        }),
                        measured,
                        computer,
                        quota_cpus,
                        handovers,
                        together,
                        paces,
                    },
                )
            })
    })
}

proptest! {
    #[test]
    fn any_machine_comes_back_from_its_file_exactly(machine in machine()) {
        let text = to_text(&machine).unwrap();
        prop_assert_eq!(parse(&text, "any").unwrap(), machine, "{}", text);
    }
}

#[test]
fn every_preset_comes_back_from_its_file_exactly() {
    for spec in ["ps3", "cell", "qs20", "qs22", "qs22:ppe=1,spe=6,memory=joint", "cell:spe=0", "host"] {
        let machine = load(spec).unwrap();
        let text = to_text(&machine).unwrap();
        assert_eq!(parse(&text, spec).unwrap(), machine, "{spec}");
        assert_eq!(to_text(&parse(&text, spec).unwrap()).unwrap(), text, "{spec}");
    }
}

#[test]
fn blocks_are_written_as_a_person_would_write_them() {
    let text = to_text(&load("qs22").unwrap()).unwrap();
    for expected in [
        "pairs = [{ from = \"*\", to = \"SPE3\" }]",
        "pairs = [{ from = [\"PPE1\", \"SPE8..SPE15\"], to = \"SPE0\" }]",
        "{ from = \"*\", to = [\"PPE0\", \"SPE0..SPE7\"] }",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn a_file_on_disk_is_loaded_by_its_path_and_replaced_whole() {
    let dir = std::env::temp_dir().join(format!("cellweave-machine-file-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("m.toml");
    for spec in ["cell", "ps3"] {
        write(&path, &load(spec).unwrap()).unwrap();
        assert_eq!(load(path.to_str().unwrap()).unwrap(), load(spec).unwrap());
    }
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1, "nothing else is left behind");
    // What stops the writing in the middle leaves the old file as it was.
    let part = dir.join(format!(".m.toml.{}.part", std::process::id()));
    std::fs::create_dir(&part).unwrap();
    assert!(write(&path, &load("qs22").unwrap()).is_err());
    assert_eq!(read(&path).unwrap(), load("ps3").unwrap());
    std::fs::remove_dir(&part).unwrap();
    std::fs::write(&path, b"name = 'x'\n# \xff").unwrap();
    assert_eq!(read(&path).unwrap_err().line, Some(2));
    let missing = load(dir.join("none.toml").to_str().unwrap()).unwrap_err().to_string();
    assert!(missing.contains("none.toml: No such file"), "{missing}");
    assert!(load(&format!("{}/", dir.display())).is_err());
    assert!(write(&dir.join("no/such/dir.toml"), &load("cell").unwrap()).is_err());
    // A device that never ends is read no further than a machine file may go.
    assert!(read(std::path::Path::new("/dev/zero")).unwrap_err().to_string().contains("16 MiB"));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn every_mistake_is_named_with_its_line_its_key_and_what_is_allowed() {
    const GOOD: &str = "name = 'm'\n[[element]]\nname = 'CPU0'\n[[element]]\nname = 'CPU1'\n[[limit]]\nname = 'bus'\n\
                        capacity_bytes_per_s = 1e9\npairs = [{ from = '*', to = 'CPU0..CPU1' }]\n";
    parse(GOOD, "m.toml").unwrap();
    for (from, to, expected) in [
        ("name = 'm'\n", "", "m.toml: name: missing"),
        ("name = 'm'", "name = ''", "m.toml:1: name: \"\": a name has 1 to 200 bytes"),
        ("name = 'm'", "name = 3", "m.toml:1: name: 3 is not a string"),
        ("name = 'm'", "name = 'm", "m.toml:1: "),
        ("name = 'm'", "name = 'm'\nname = 'n'", "m.toml:2: "),
        ("name = 'm'", "format = 2\nname = 'm'", "m.toml:1: format: 2; this cellweave reads format 1"),
        (
            "name = 'm'",
            "name = 'm'\nmesured = true",
            "m.toml:2: mesured: unknown key; known are format, name, description, measured, computer, quota_cpus, \
             kind, element, limit, overhead, handover, together, distances; did you mean `measured`?",
        ),
        ("name = 'm'", "name = 'm'\nmeasured = 1", "m.toml:2: measured: 1 is not true or false"),
        (
            "name = 'm'",
            "name = 'm'\nquota_cpus = 0",
            "m.toml:2: quota_cpus: 0.0 is not a finite number above 0",
        ),
        ("name = 'CPU1'", "name = 'CPU0'", "m.toml:5: element[1].name: \"CPU0\" is taken"),
        ("name = 'CPU1'", "name = '*'", "m.toml:5: element[1].name: \"*\" could mean several elements"),
        (
            "name = 'CPU1'",
            "name = 'CPU1'\nchip = -1",
            "m.toml:6: element[1].chip: -1 is not a whole number from 0",
        ),
        ("name = 'CPU1'", "name = 'CPU1'\nkind = 'a b'", "m.toml:6: element[1].kind: \"a b\" is not a word"),
        (
            "name = 'CPU1'",
            "name = 'CPU1'\nmemory = { hard = true }",
            "m.toml:6: element[1].memory.bytes: missing",
        ),
        (
            "name = 'CPU1'",
            "name = 'CPU1'\nmemory = { bytes = 0 }",
            "m.toml:6: element[1].memory.bytes: 0 is not a number of bytes from 1",
        ),
        (
            "name = 'CPU1'",
            "name = 'CPU1'\noutgoing_max = { core = 'x' }",
            "m.toml:6: element[1].outgoing_max.core: \"x\" is not a whole number",
        ),
        ("= 1e9", "= 0", "m.toml:8: limit[0].capacity_bytes_per_s: 0.0 is not a finite number above 0"),
        ("= 1e9", "= -2.5", "m.toml:8: limit[0].capacity_bytes_per_s: -2.5 is not a finite number above 0"),
        ("= 1e9", "= inf", "m.toml:8: limit[0].capacity_bytes_per_s: inf is not a finite number above 0"),
        ("= 1e9", "= nan", "limit[0].capacity_bytes_per_s: NaN is not a finite number above 0"),
        ("= 1e9", "= 1e999", "m.toml:8: "),
        ("= 1e9", "= '1e9'", "m.toml:8: limit[0].capacity_bytes_per_s: \"1e9\" is not a number"),
        ("capacity_bytes_per_s = 1e9\n", "", "m.toml:6: limit[0].capacity_bytes_per_s: missing"),
        (
            "CPU0..CPU1",
            "CPU0..CPU2",
            "m.toml:9: limit[0].pairs[0].to: unknown element \"CPU2\"; did you mean `CPU",
        ),
        ("CPU0..CPU1", "CPU1..CPU0", "m.toml:9: limit[0].pairs[0].to: \"CPU1..CPU0\" runs backwards"),
        ("'CPU0..CPU1'", "['*', 'CPU0']", "m.toml:9: limit[0].pairs[0].to: \"CPU0\" occurs twice"),
        ("'CPU0..CPU1'", "[]", "m.toml:9: limit[0].pairs[0].to: no elements"),
        (
            "to = 'CPU0..CPU1'",
            "too = 'CPU0'",
            "limit[0].pairs[0].too: unknown key; known are from, to; did you mean `to`?",
        ),
        ("[{ from = '*', to = 'CPU0..CPU1' }]", "[]", "m.toml:9: limit[0].pairs: no pairs"),
        ("[{ from = '*', to = 'CPU0..CPU1' }]", "7", "m.toml:9: limit[0].pairs: 7 is not an array of tables"),
        (
            "[[limit]]",
            "[kind.cores]\nrole = 'peer'\n[[limit]]",
            "m.toml:6: kind.cores: no element is of this kind; there are core; did you mean `core`?",
        ),
        ("[[limit]]", "[kind.core]\n[[limit]]", "m.toml:6: kind.core.role: missing"),
        (
            "[[limit]]",
            "[kind.core]\nrole = 'peers'\n[[limit]]",
            "m.toml:7: kind.core.role: \"peers\" is none of general, accelerator, peer; did you mean `peer`?",
        ),
        (
            "[[limit]]",
            "[overhead.cores]\n[[limit]]",
            "m.toml:6: overhead.cores: no element is of this kind; there are core; did you mean `core`?",
        ),
        (
            "[[limit]]",
            "[overhead.core]\nper_byte_ns = -1\n[[limit]]",
            "m.toml:7: overhead.core.per_byte_ns: -1.0 is not a finite number from 0 on",
        ),
        (
            "[[limit]]",
            "[distances]\nlatency_ns = [[0,1],[1,0]]\n[[limit]]",
            "m.toml:6: distances.bandwidth_bytes_per_s: missing",
        ),
        (
            "[[limit]]",
            "[distances]\nlatency_ns = [[0,1],[1]]\nbandwidth_bytes_per_s = [[0,1],[1,0]]\n[[limit]]",
            "m.toml:7: distances.latency_ns[1]: 1 numbers for 2 elements",
        ),
        (
            "[[limit]]",
            "[distances]\nlatency_ns = [[0,1],\n[-1, 0]]\nbandwidth_bytes_per_s = [[0,1],[1,0]]\n[[limit]]",
            "m.toml:8: distances.latency_ns[1][0]: -1.0 is not a finite number from 0 on",
        ),
    ] {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD);
        let message = parse(&text, "m.toml").unwrap_err().to_string();
        assert!(message.contains(expected), "wanted: {expected}\n   got: {message}");
    }
    let message = parse("name = 'm'", "m.toml").unwrap_err().to_string();
    assert!(message.contains("0 elements; a machine has 1 to 4096"), "{message}");
}

#[test]
fn absurd_sizes_are_refused() {
    let many = (0..4097).map(|i| format!("[[element]]\nname='{i}'\n")).collect::<String>();
    let message = parse(&format!("name='m'\n{many}"), "m").unwrap_err().to_string();
    assert!(message.contains("4097 elements; a machine has 1 to 4096"), "{message}");

    // 4096 elements, each side of every block all of them: a small file that would fill the memory.
    let many = (0..4096).map(|i| format!("[[element]]\nname='{i}'\n")).collect::<String>();
    let pairs = vec!["{from='*',to='*'}"; 5000].join(",");
    let text = format!("name='m'\n{many}[[limit]]\nname='l'\ncapacity_bytes_per_s=1\npairs=[{pairs}]");
    let message = parse(&text, "m").unwrap_err().to_string();
    assert!(message.contains("more than 16777216 elements in the pairs"), "{message}");

    let message = parse(&" ".repeat((16 << 20) + 1), "m").unwrap_err().to_string();
    assert!(message.contains("more than 16 MiB"), "{message}");

    let deep = format!("name = {}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(parse(&deep, "m").is_err());
}

#[test]
fn a_machine_that_could_not_be_read_again_is_not_written() {
    let mut machine = load("cell").unwrap();
    machine.limits[0].capacity_bytes_per_s = f64::INFINITY;
    let message = to_text(&machine).unwrap_err().to_string();
    assert_eq!(message, "limit[0].capacity_bytes_per_s: inf is not a finite number above 0");
    machine.limits[0] = Limit {
        pairs: vec![Block { from: vec![9], to: vec![0] }],
        ..load("cell").unwrap().limits[0].clone()
    };
    assert_eq!(to_text(&machine).unwrap_err().to_string(), "limit[0].pairs[0].from: element 9 of 9");
}

#[test]
fn a_curve_or_a_group_that_makes_no_sense_is_named() {
    let elements = "name = 'm'\n[[element]]\nname = 'A'\n[[element]]\nname = 'B'\n";
    let wrong = |rest: &str| parse(&format!("{elements}{rest}"), "m").unwrap_err().to_string();
    for (rest, said) in [
        ("[[handover]]\npoints = [[1, 2, 3, 4, 5]]", "m:6: handover[0].shares: missing"),
        ("[[handover]]\nshares = 'l4'\npoints = []", "\"l4\" is none of core, l2, l3, chip, nothing"),
        ("[[handover]]\nshares = 'l3'\npoints = []", "handover[0].points: no points"),
        ("[[handover]]\nshares = 'l3'\npoints = [[1, 2, 3]]", "3 numbers; a point has 5"),
        ("[[handover]]\nshares = 'l3'\npoints = [[0, 2, 3, 4, 5]]", "from 1 to 2^60"),
        ("[[handover]]\nshares = 'l3'\npoints = [[1, 2, 3, -4, 5]]", "handover[0].points[0]: -4.0 is not"),
        ("[[handover]]\nshares = 'l3'\npoints = [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]]", "in rising order"),
        ("[[together]]\nelements = 'A'\ncomputing = 1\nmemory = 1", "two or more elements"),
        ("[[together]]\nelements = ['B', 'A']\ncomputing = 1\nmemory = 1", "in its order"),
        ("[[together]]\nelements = '*'\ncomputing = 0\nmemory = 1", "together[0].computing: 0.0 is not"),
        ("[[together]]\nelements = ['A', 'C']\ncomputing = 1\nmemory = 1", "unknown element \"C\""),
    ] {
        assert!(wrong(rest).contains(said), "{rest}: {}", wrong(rest));
    }
}
