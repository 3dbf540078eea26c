//! What is said about graphs that make no sense.

use work::{Edge, Graph, Part, Port, Profile, ProfiledSpeed, Task, Value, sizes};

fn graph(tasks: usize, edges: &[(usize, usize)]) -> Graph {
    let port = |task, name: usize| Port { task, name: name.to_string() };
    Graph {
        name: "test".into(),
        tasks: (0..tasks).map(|t| Task { name: format!("t{t}"), ..Task::default() }).collect(),
        edges: edges
            .iter()
            .enumerate()
            .map(|(e, &(from, to))| Edge {
                from: port(from, e),
                to: port(to, e),
                bytes: 4,
                peek: 0,
                delay: 0,
            })
            .collect(),
        ..Graph::default()
    }
}

fn message(change: impl FnOnce(&mut Graph)) -> String {
    let mut graph = graph(3, &[(0, 1), (1, 2)]);
    assert_eq!(graph.validate(), Ok(()));
    change(&mut graph);
    graph.validate().unwrap_err().to_string()
}

#[test]
fn a_cycle_without_delay_is_named() {
    let mut ring = graph(5, &[(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)]);
    let invalid = ring.validate().unwrap_err();
    let tail = "of 3 tasks has no delay and could never start; give one of its edges a delay of at least 1";
    assert_eq!(invalid.message, format!("the cycle t1 -> t2 -> t3 -> t1 {tail}"));
    assert!(matches!(invalid.part, Part::Edge(_)));
    ring.edges[3].delay = 1;
    assert_eq!(ring.validate(), Ok(()));
}

#[test]
fn a_long_cycle_is_named_by_its_ends() {
    let mut edges: Vec<_> = (1..1000).map(|t| (t - 1, t)).collect();
    edges.push((999, 0));
    let message = graph(1000, &edges).validate().unwrap_err().message;
    assert!(message.starts_with("the cycle t0 -> t1 -> t2 -> t3 -> t4 -> t5 -> .. -> t996 ->"), "{message}");
    assert!(message.contains("of 1000 tasks"), "{message}");
}

#[test]
fn a_self_loop_without_delay_could_never_fire() {
    assert_eq!(
        message(|g| g.edges[0].to.task = 0),
        "edge 1 \"t0.0 -> t0.0\", delay: the task \"t0\" feeds itself without delay and could never fire; give the \
         edge a delay of at least 1"
    );
}

#[test]
fn no_task_is_an_error_and_many_are_not() {
    assert_eq!(
        graph(0, &[]).validate().unwrap_err().to_string(),
        "task: the graph has no task; it needs at least one"
    );
    let edges: Vec<_> = (1..100_000).flat_map(|t| [(t - 1, t), (t / 2, t)]).filter(|(a, b)| a < b).collect();
    assert_eq!(graph(100_000, &edges).validate(), Ok(()));
}

#[test]
fn names_are_unique_and_without_dots_and_blanks() {
    assert_eq!(
        message(|g| g.tasks[2].name = "t0".into()),
        "task \"t0\", name: tasks 1 and 3 have the same name; names must differ"
    );
    assert_eq!(message(|g| g.tasks[1].name = String::new()), "task \"\", name: a task needs a name");
    assert_eq!(
        message(|g| g.tasks[1].name = "a.b".into()),
        "task \"a.b\", name: a task's name \"a.b\" has a dot, which separates task and port"
    );
    for blank in ["a b", "a\tb", "a\u{a0}b", "a\nb", "a\0"] {
        assert!(message(|g| g.tasks[1].name = blank.into()).contains("blanks are not allowed"), "{blank:?}");
    }
    assert!(message(|g| g.tasks[1].name = "x".repeat(300)).contains("300 bytes; at most 256 are allowed"));
    assert!(message(|g| g.edges[0].from.name = "a.b".into()).contains("a port's name \"a.b\" has a dot"));
    assert!(message(|g| g.name = "a\nb".into()).contains("the name has a control character, '\\n'"));
}

#[test]
fn numbers_are_in_their_ranges() {
    for ns in [-1.0, f64::NAN, f64::INFINITY, 1e19] {
        assert_eq!(
            message(|g| g.tasks[0].cost_ns.extend([("spe".to_string(), ns)])),
            format!("task \"t0\", cost_ns.spe: {ns} ns is not allowed; from 0 to 1e18 is")
        );
    }
    let edge = "edge 2 \"t1.1 -> t2.1\"";
    assert_eq!(
        message(|g| g.edges[1].bytes = 0),
        format!("{edge}, bytes: 0 is not allowed; from 1 to 1099511627776 is")
    );
    assert_eq!(
        message(|g| g.edges[1].bytes = u64::MAX),
        format!("{edge}, bytes: 18446744073709551615 is not allowed; from 1 to 1099511627776 is")
    );
    assert_eq!(
        message(|g| g.edges[1].peek = u64::MAX),
        format!("{edge}, peek: 18446744073709551615 is not allowed; from 0 to 1048576 is")
    );
    assert_eq!(
        message(|g| g.edges[1].delay = 1 << 21),
        format!("{edge}, delay: 2097152 is not allowed; from 0 to 1048576 is")
    );
    assert!(message(|g| (g.edges[1].bytes, g.edges[1].peek) = (sizes::BYTES, sizes::PEEK)).contains(
        "bytes * (peek + delay + 1) is 1099511627776 * 1048577; at most 1152921504606846976 (2^60) are \
         allowed"
    ));
    assert!(
        message(|g| g.code_bytes = u64::MAX).starts_with("code_bytes: 18446744073709551615 is not allowed")
    );
    assert!(
        message(|g| drop(g.tasks[0].params.insert("gain".into(), Value::Numbers(vec![1.0, f64::NAN]))))
            .ends_with("params.gain: NaN is not allowed; numbers must be finite")
    );
    assert!(
        message(|g| {
            let overheads = [("core".to_string(), (1.0, -2.0))].into();
            g.profile = Some(Profile { overheads, ..Profile::default() });
        })
        .starts_with("profile.overhead.core.per_byte_ns: -2 ns is not allowed")
    );
    assert_eq!(
        message(|g| {
            let speed = ProfiledSpeed { alone_ns: vec![1.0, 2.0], ..ProfiledSpeed::default() };
            g.profile = Some(Profile { speeds: [("CPU0".to_string(), speed)].into(), ..Profile::default() });
        }),
        "profile.speed.CPU0.alone_ns: 2 numbers; three are allowed (integer, floating, memory), or none"
    );
}

#[test]
fn ports_have_one_input_edge_and_broadcasts_one_size() {
    assert_eq!(
        message(|g| g.edges.push(g.edges[0].clone())),
        "edge 3 \"t0.0 -> t1.0\", to: the same edge twice: edges 1 and 3"
    );
    assert_eq!(
        message(|g| {
            let from = Port { task: 0, name: "other".into() };
            g.edges.push(Edge { from, ..g.edges[1].clone() });
        }),
        "edge 3 \"t0.other -> t2.1\", to: the input port \"t2.1\" has two edges, 2 and 3; one is allowed"
    );
    assert_eq!(
        message(|g| {
            let to = Port { task: 2, name: "other".into() };
            g.edges.push(Edge { to, bytes: 8, ..g.edges[0].clone() });
        }),
        "edge 3 \"t0.0 -> t2.other\", bytes: 8 bytes, but edge 1 from the same port \"t0.0\" has 4; a broadcast's \
         edges carry the same data"
    );
    assert_eq!(message(|g| g.edges[0].to.task = 7), "edge 1, to: task index 7 of 3 tasks");
}

#[test]
fn kernels_are_not_empty() {
    assert_eq!(
        message(|g| g.tasks[0].kernel = Some(String::new())),
        "task \"t0\", kernel: an empty text; leave it out"
    );
}
