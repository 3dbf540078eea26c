//! Applications in every format, and what is said about wrong ones.

use ground::Quantiles;
use proptest::prelude::*;
use std::collections::BTreeMap;
use work::read::{self, Format};
use work::{Edge, Graph, Port, Profile, ProfiledCost, ProfiledSpeed, Task, Value, sizes, write};

fn toml(text: &str) -> Result<Graph, String> {
    read::text(Format::Toml, text, "app.toml").map_err(|e| e.to_string())
}

fn wrong(format: Format, text: &str) -> String {
    read::text(format, text, "f").unwrap_err().to_string()
}

const TWO: &str = "[[task]]\nname = \"a\"\n[[task]]\nname = \"b\"\n";

fn edge(lines: &str) -> String {
    format!("{TWO}[[edge]]\n{lines}\n")
}

#[test]
fn the_designs_example_is_read() {
    let text = r#"
name = "equaliser"
[[task]]
name = "split"
[[task]]
name = "band3"
kernel = "libequaliser.so:band"          # C ABI symbol
params = { low = 800.0, high = 1200.0 }
cost_ns = { ppe = 5200.0, spe = 1700.0 } # per firing
[[edge]]
from = "split.3"
to = "band3.in"
bytes = 256                              # per instance
peek = 1
delay = 0
"#;
    let graph = toml(text).unwrap();
    assert_eq!(graph.name, "equaliser");
    assert_eq!(graph.code_bytes, 65_536);
    let band = &graph.tasks[1];
    assert_eq!(band.kernel.as_deref(), Some("libequaliser.so:band"));
    assert_eq!(band.params["high"], Value::Number(1200.0));
    assert_eq!((band.cost_on("spe"), band.cost_on("core")), (Some(1700.0), None));
    let edge = &graph.edges[0];
    assert_eq!(
        (graph.port_name(&edge.from), graph.port_name(&edge.to)),
        ("split.3".into(), "band3.in".into())
    );
    assert_eq!((edge.bytes, edge.peek, edge.delay), (256, 1, 0));
}

#[test]
fn an_edge_without_ports_gets_ports_of_its_own() {
    let text = edge("from = \"a\"\nto = \"b.1\"\nbytes = 1\n[[edge]]\nfrom = \"a.0\"\nto = \"b\"\nbytes = 2")
        + "[[edge]]\nfrom = \"a\"\nto = \"b\"\nbytes = 3\n";
    let graph = toml(&text).unwrap();
    let names: Vec<_> = graph.edges.iter().map(|e| (e.from.name.as_str(), e.to.name.as_str())).collect();
    assert_eq!(names, [("1", "1"), ("0", "0"), ("2", "2")]);
}

#[test]
fn a_graph_without_a_name_is_named_after_its_file() {
    assert_eq!(read::text(Format::Toml, TWO, "some/where/radio.toml").unwrap().name, "radio");
}

#[test]
fn wrong_keys_and_values_are_named_with_line_and_the_nearest_right_key() {
    let cases = [
        (
            "nmae = \"x\"",
            "app.toml:1: unknown key \"nmae\"; keys are name, code_bytes, profile, task, edge; did you mean `name`?",
        ),
        ("[[task]]\nname = 3", "app.toml:2: task 1, name: a text expected, 3 found"),
        (
            "[[task]]\nkernel = \"x\"",
            "app.toml:1: task 1: the key \"name\" is missing; keys are name, kernel, params, cost_ns, stateless, lock",
        ),
        (
            "[[task]]\nname = \"a\"\ncost = 3",
            "app.toml:3: task \"a\": unknown key \"cost\"; keys are name, kernel, params, cost_ns, stateless, lock",
        ),
        ("[[task]]\nname = \"a\"\ncost_ns = 3", "app.toml:3: task \"a\", cost_ns: a table expected, 3 found"),
        (
            "[[task]]\nname = \"a\"\nparams = { x = [1, \"b\"] }",
            "app.toml:3: task \"a\", params.x: a number expected, the text \"b\" found",
        ),
        (
            "[[task]]\nname = \"a\"\nparams = { x = 1979-05-27 }",
            "app.toml:3: task \"a\", params.x: a number, a text, true, false or a list of numbers expected, the date \
             1979-05-27 found",
        ),
        (
            "[[task]]\nname = \"a\"\nparams = { x = 9007199254740993 }",
            "app.toml:3: task \"a\", params.x: 9007199254740993 is too large; whole numbers are exact up to \
             9007199254740992 (2^53); give it as a text",
        ),
        ("task = 3", "app.toml:1: task: a list of tables ([[task]] in TOML) expected, 3 found"),
        (
            "[profile]\noverhead = { core = { per_byte_ns = 1 } }",
            "app.toml:2: profile.overhead.core: the key \"per_transfer_ns\" is missing; keys are per_transfer_ns, \
             per_byte_ns",
        ),
        (
            "[profile.cost.core]\na = { measured = \"x\", n = 3, min = 1, p10 = 1, p50 = 2 }",
            "app.toml:2: profile.cost.core.a: the key \"p90\" is missing; keys are measured, n, min, p10, p50, p90",
        ),
        ("name = \"a\"\nname = \"b\"", "app.toml:2: not TOML: duplicate key"),
        ("name = ", "app.toml:1: not TOML: string values must be quoted, expected literal string"),
    ];
    for (text, message) in cases {
        assert_eq!(toml(text), Err(message.to_string()));
    }
    let cases = [
        (
            "from = \"a\"\nto = \"b\"",
            "app.toml:5: edge 1: the key \"bytes\" is missing; keys are from, to, bytes, peek, delay",
        ),
        (
            "from = \"a\"\nto = \"b\"\nbytse = 3",
            "app.toml:8: edge 1: unknown key \"bytse\"; keys are from, to, bytes, peek, delay; did you mean `bytes`?",
        ),
        (
            "from = \"a\"\nto = \"b\"\nbytes = -3",
            "app.toml:8: edge 1, bytes: a whole number from 1 expected, -3 found",
        ),
        (
            "from = \"a\"\nto = \"b\"\nbytes = 3.5",
            "app.toml:8: edge 1, bytes: a whole number from 1 expected, 3.5 found",
        ),
        (
            "from = \"a\"\nto = \"b\"\nbytes = 99999999999999999999",
            "app.toml:8: the number \"99999999999999999999\" is too large",
        ),
        (
            "from = \"a\"\nto = \"b\"\nbytes = nan",
            "app.toml:8: edge 1, bytes: a whole number from 1 expected, NaN found",
        ),
        (
            "to = \"b\"\nfrom = \"aa\"\nbytes = 3",
            "app.toml:7: edge 1, from: no task is called \"aa\"; did you mean `a`?",
        ),
    ];
    for (lines, message) in cases {
        assert_eq!(toml(&edge(lines)), Err(message.to_string()));
    }
}

#[test]
fn what_validation_finds_has_a_line() {
    let text = edge("from = \"a\"\nto = \"b\"\nbytes = 0");
    assert_eq!(
        toml(&text),
        Err("app.toml:6: edge 1 \"a.0 -> b.0\", bytes: 0 is not allowed; from 1 to 1099511627776 is".into())
    );
    let text = "[[task]]\nname = \"a\"\n[[task]]\nkernel = \"k\"\nname = \"a\"\n";
    assert_eq!(
        toml(text),
        Err("app.toml:5: task \"a\", name: tasks 1 and 2 have the same name; names must differ".into())
    );
}

#[test]
fn json_has_the_same_keys_and_lines() {
    let text = "{\n \"name\": \"x\",\n \"task\": [{\"name\": \"a\\u00e9\\ud834\\udd1e\"}, {\"name\": \"b\", \
                \"params\": {\"on\": true, \"list\": [1, -2.5e-3]}}],\n \"edge\": [{\"from\": \
                \"a\\u00e9\\ud834\\udd1e\", \"to\": \"b\", \"bytes\": 16}]\n}";
    let graph = read::text(Format::Json, text, "f").unwrap();
    assert_eq!(graph.tasks[0].name, "aé𝄞");
    assert_eq!(graph.tasks[1].params["list"], Value::Numbers(vec![1.0, -0.0025]));
    let cases = [
        ("{\n\"name\": 3}", "f:2: name: a text expected, 3 found"),
        ("{\"name\": \"a\",\n\"name\": \"b\"}", "f:2: not JSON: the key \"name\" twice in one table"),
        ("{\"a\": 01}", "f:1: not JSON: \"01\" is not a number"),
        ("{\"a\": .5}", "f:1: not JSON: a value expected, '.' found"),
        ("{\"a\": \"\\ud800\"}", "f:1: not JSON: a text with an escape that JSON does not have"),
        ("{} {}", "f:1: not JSON: something follows the end"),
        ("{\"a\": [1,]}", "f:1: not JSON: a value expected, ']' found"),
        ("[]", "f:1: a table expected, a list found"),
        ("", "f:1: not JSON: a value expected, the end of the file found"),
    ];
    for (text, message) in cases {
        assert_eq!(wrong(Format::Json, text), message);
    }
}

#[test]
fn deep_brackets_are_refused_and_break_nothing() {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(200_000), close.repeat(200_000));
    assert!(wrong(Format::Json, &deep("[", "]")).contains("more than 64 deep"));
    assert!(wrong(Format::Toml, &format!("a = {}", deep("[", "]"))).contains("recursion"));
    assert!(wrong(Format::Toml, &format!("a = {}", deep("{a=", "}"))).contains("recursion"));
    assert!(wrong(Format::Toml, &format!("{} = 1", ["a"; 100_000].join("."))).contains("recursion"));
    assert!(wrong(Format::Toml, &format!("[{}]", ["a"; 100_000].join("."))).contains("recursion"));
    assert!(wrong(Format::Dot, &format!("digraph {{ {}", deep("{", "}"))).contains("more than 64 deep"));
    assert!(wrong(Format::GraphMl, &deep("<a>", "</a>")).contains("more than 64 deep"));
}

#[test]
fn graphml_of_networkx_is_read() {
    let text = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <key id="d3" for="edge" attr.name="peek" attr.type="long" />
  <key id="d2" for="edge" attr.name="bytes" attr.type="long" />
  <key id="d1" for="node" attr.name="cost" attr.type="double"><default>5.0</default></key>
  <key id="d0" for="node" attr.name="cost_ppe" attr.type="double" />
  <key id="d4" for="node" attr.name="colour" attr.type="string" />
  <graph edgedefault="directed">
    <node id="src"><data key="d0">10.5</data><data key="d4">a &amp; b</data></node>
    <node id="fir" />
    <edge source="src" target="fir" targetport="in"><data key="d2">64</data><data key="d3">3</data></edge>
  </graph>
</graphml>"#;
    let graph = read::text(Format::GraphMl, text, "radio.graphml").unwrap();
    assert_eq!(graph.name, "radio");
    assert_eq!(graph.tasks[0].cost_ns, BTreeMap::from([("*".into(), 5.0), ("ppe".into(), 10.5)]));
    assert_eq!((graph.edges[0].bytes, graph.edges[0].peek, graph.edges[0].to.name.as_str()), (64, 3, "in"));
    let cases = [
        (
            "<key id=\"d2\"",
            "<key id=\"dx\"",
            "f:11: edge \"src -> fir\": <data> of the key \"d2\", which no <key> declares",
        ),
        (">64<", ">-4<", "f:11: edge \"src -> fir\", bytes: a whole number from 1 expected, \"-4\" found"),
        (
            "<data key=\"d2\">64</data>",
            "",
            "f:11: edge \"src -> fir\": the attribute \"bytes\" is missing; attributes of an edge are bytes, peek, \
             delay, from_port, to_port",
        ),
        (
            "\"directed\"",
            "\"undirected\"",
            "f:8: an undirected graph; applications are directed (edgedefault=\"directed\")",
        ),
        (
            "attr.name=\"peek\"",
            "attr.name=\"peak\"",
            "f:11: edge \"src -> fir\", peak: unknown attribute; did you mean `peek`?",
        ),
        (
            "target=\"fir\"",
            "target=\"fri\"",
            "f:11: edge 1, to: no task is called \"fri\"; did you mean `fir`?",
        ),
        ("a &amp; b", "&b;", "f:9: node \"src\", colour: unknown entity \"b\""),
        ("</graphml>", "", "f:13: the tag <graphml> has no end"),
    ];
    for (from, to, message) in cases {
        assert_eq!(wrong(Format::GraphMl, &text.replacen(from, to, 1)), message);
    }
    assert!(wrong(Format::GraphMl, "<a></b>").starts_with("f:1: not XML: "));
    assert_eq!(wrong(Format::GraphMl, "<graphml/>"), "f: not GraphML: no <graph>");
}

#[test]
fn dot_with_attributes_is_read() {
    let text = r#"digraph equaliser {
    rankdir = LR // drawing
    node [cost_ppe = 5200, cost_spe = 1.7e3]
    edge [bytes = 256]
    split -> {low high} -> join
    subgraph cluster_meter { edge [bytes = 16]; high:all -> meter:in [peek = 1, color = "red"] }
    low [kernel = "lib.so" + ":low", param_cut = 800, stateless, lock = disk]
    join -> join [delay = 2]
}"#;
    let graph = read::text(Format::Dot, text, "f.dot").unwrap();
    assert_eq!(graph.name, "equaliser");
    let names: Vec<_> = graph.tasks.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["split", "low", "high", "join", "meter"]);
    let low = &graph.tasks[1];
    assert_eq!(low.kernel.as_deref(), Some("lib.so:low"));
    assert!(low.stateless);
    assert_eq!(low.lock.as_deref(), Some("disk"));
    assert_eq!(low.params["cut"], Value::Number(800.0));
    assert_eq!(low.cost_ns["spe"], 1700.0);
    let edges: Vec<_> = graph
        .edges
        .iter()
        .map(|e| (graph.port_name(&e.from), graph.port_name(&e.to), e.bytes, e.peek, e.delay))
        .collect();
    let expected = [
        ("split.0", "low.0", 256, 0, 0),
        ("split.1", "high.0", 256, 0, 0),
        ("low.0", "join.0", 256, 0, 0),
        ("high.0", "join.1", 256, 0, 0),
        ("high.all", "meter.in", 16, 1, 0),
        ("join.0", "join.2", 256, 0, 2),
    ];
    let expected =
        expected.map(|(a, b, bytes, peek, delay)| (a.to_string(), b.to_string(), bytes, peek, delay));
    assert_eq!(edges, expected);
    let cases = [
        ("graph { a -- b }", "f:1: an undirected graph; applications are directed: `digraph`"),
        ("digrap { }", "f:1: `digraph` expected, \"digrap\" found; did you mean `digraph`?"),
        (
            "digraph {\n a -> b }",
            "f:2: edge 1 \"a -> b\": the attribute \"bytes\" is missing; attributes of an edge are bytes, peek, delay, \
             from_port, to_port",
        ),
        ("digraph {\n a -- b }", "f:2: an undirected edge, \"--\"; applications are directed: \"->\""),
        ("digraph { a [cots = 5] }", "f:1: node \"a\", cots: unknown attribute; did you mean `cost`?"),
        ("digraph { a [cost = five] }", "f:1: node \"a\", cost: a number expected, \"five\" found"),
        (
            "digraph { a [cost = 5x] }",
            "f:1: \"5x\" is not a number; names that begin like one stand in quotes",
        ),
        ("digraph { a [cost = \"inf\"] }", "f:1: node \"a\", cost: a number expected, \"inf\" found"),
        (
            "digraph {\n a -> b [bytes = 1, peak = 1] }",
            "f:2: edge 1, peak: unknown attribute; did you mean `peek`?",
        ),
        (
            "strict digraph { edge [bytes=1]; a -> b\n a -> b }",
            "f:2: edge 2 \"a -> b\": the same edge twice in a strict graph",
        ),
        (
            "digraph { \"a b\" }",
            "f:1: task \"a b\", name: a task's name \"a b\" has ' '; blanks are not allowed",
        ),
        ("digraph { a", "f:1: a closing brace expected, the end of the file found"),
        ("digraph { a } b", "f:1: the end of the file expected, \"b\" found; one graph is allowed"),
        ("digraph { \"a", "f:1: a text without end"),
        ("digraph { }", "f: task: the graph has no task; it needs at least one"),
    ];
    for (text, message) in cases {
        assert_eq!(wrong(Format::Dot, text), message);
    }
}

#[test]
fn groups_of_nodes_cannot_ask_for_more_than_memory_holds() {
    let names: Vec<String> = (0..1_500).map(|i| format!("n{i:0250}")).collect();
    let group = names.join(" ");
    let text = format!("digraph {{ edge [bytes=1]; {{{group}}} -> {{{group}}} }}");
    assert!(wrong(Format::Dot, &text).contains("too large a graph"));
    let long = "x".repeat(1 << 20);
    let text = format!("digraph {{ node [kernel=\"{long}\"]; {group} }}");
    assert!(wrong(Format::Dot, &text).contains("too large a graph"));
}

#[test]
fn more_nodes_than_any_graph_has_are_refused_early() {
    let nodes: String = (0..=sizes::TASKS).map(|i| format!("{i} ")).collect();
    assert_eq!(wrong(Format::Dot, &format!("digraph {{ {nodes} }}")), "f:1: more than 1048576 nodes");
    let nodes = "<node id=\"1\"/>".repeat(sizes::TASKS + 1);
    let text = format!("<graphml><graph>{nodes}</graph></graphml>");
    assert_eq!(wrong(Format::GraphMl, &text), "f:1: node \"1\": more than 1048576 nodes");
}

#[test]
fn daggens_text_is_read() {
    let text = "// DAG automatically generated by daggen at Sat Nov 21 2026\n\
        // ./daggen -n 3 \n\
        NODE_COUNT 7\n\
        NODE 0 1,2 ROOT 0.0 0.0\n\
        NODE 1 3 COMPUTATION 52428800 0.05\n\
        NODE 3 5 TRANSFER 8388608 0.0\n\
        NODE 2 5 COMPUTATION 1234 0.05\n\
        NODE 4 6 COMPUTATION 99 0.0\n\
        NODE 5 6 COMPUTATION 73400320 0.11\n\
        NODE 6 - END 0.0 0.0\n";
    let graph = read::text(Format::DagGen, text, "f.daggen").unwrap();
    let names: Vec<_> = graph.tasks.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["t1", "t2", "t4", "t5"]);
    assert_eq!(graph.tasks[0].cost_ns["*"], 52_428_800.0 / work::daggen::OPERATIONS_PER_NS);
    let edges: Vec<_> = graph.edges.iter().map(|e| (e.from.task, e.to.task, e.bytes)).collect();
    assert_eq!(edges, [(0, 3, 8_388_608), (1, 3, 1)]);
    let cases = [
        ("NODE 1 3", "NODE 1 9", "f:5: no node has the number 9"),
        ("NODE 2 5", "NODE 1 5", "f:7: the node 1 twice"),
        (
            "TRANSFER",
            "TRANSFERS",
            "f:6: \"TRANSFERS\" is no type of a node; types are ROOT, COMPUTATION, TRANSFER, END; did you mean \
             `TRANSFER`?",
        ),
        ("52428800", "-5", "f:5: the cost \"-5\" is no number that is not negative"),
        ("52428800", "inf", "f:5: the cost \"inf\" is no number that is not negative"),
        ("NODE 3 5", "NODE 3 5,2", "f:6: the transfer 3 has 2 consumers, not 1"),
        ("NODE 2 5", "NODE 2 3", "f:7: the transfer 3 has two producers"),
        ("NODE_COUNT 7", "NODE_COUNT 8", "f: NODE_COUNT is 8, but 7 nodes are listed"),
        ("NODE_COUNT 7\n", "", "f: not a listing of daggen: no NODE_COUNT"),
        (
            "NODE 6 - END 0.0 0.0",
            "NOED 6",
            "f:10: NODE or NODE_COUNT expected, \"NOED\" found; did you mean `NODE`?",
        ),
        (
            "NODE 6 - END 0.0 0.0",
            "NODE 6 -",
            "f:10: words are missing; a node is `NODE number children type cost ratio`",
        ),
    ];
    for (from, to, message) in cases {
        assert_eq!(wrong(Format::DagGen, &text.replacen(from, to, 1)), message);
    }
}

#[test]
fn files_that_are_missing_or_unknown_or_binary_are_named() {
    let folder = tempfolder("read");
    let missing = folder.join("no.toml");
    let message = read::path(&missing).unwrap_err().to_string();
    assert!(message.starts_with(&format!("{}: cannot be read: ", missing.display())), "{message}");
    let unknown = folder.join("app.tmol");
    let message = read::path(&unknown).unwrap_err().to_string();
    assert!(
        message.ends_with("known are toml, json, graphml, xml, dot, gv, daggen, dag; did you mean `toml`?"),
        "{message}"
    );
    let binary = folder.join("bin.toml");
    std::fs::write(&binary, b"name = \"a\"\n\xff\xfe").unwrap();
    assert!(read::path(&binary).unwrap_err().to_string().ends_with("bin.toml:2: not text in UTF-8"));
    assert!(read::path(folder.join("bin.toml/x.toml")).is_err());
    let large = folder.join("large.toml");
    std::fs::File::create(&large).unwrap().set_len((64 << 20) + 1).unwrap();
    assert!(read::path(&large).unwrap_err().to_string().contains("at most 67108864 (64 MiB) are allowed"));
    std::fs::File::options().write(true).open(&large).unwrap().set_len((24 << 20) + 1).unwrap();
    let message = read::path(&large).unwrap_err().to_string();
    assert!(
        message.ends_with("at most 25165824 (24 MiB) are allowed; larger graphs go as JSON"),
        "{message}"
    );
    std::fs::remove_dir_all(folder).unwrap();
}

fn tempfolder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("cellweave-work-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z][a-z0-9_]{0,6}", 1 => "[\"\\\\#=é𝄞'\\[\\]{}]{1,5}", 1 => "[0-9]{1,3}"]
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[ -~]{0,12}", 1 => any::<String>().prop_map(|s| s.chars().take(40).collect())]
}

fn plain_text() -> impl Strategy<Value = String> {
    any_text().prop_map(|s| s.chars().filter(|c| !c.is_control()).collect())
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>().prop_filter("finite", |x| x.is_finite()), (-1000i32..1000).prop_map(f64::from)]
}

fn task() -> impl Strategy<Value = Task> {
    let value = prop_oneof![
        number().prop_map(Value::Number),
        any_text().prop_map(Value::Text),
        any::<bool>().prop_map(Value::Bool),
        prop::collection::vec(number(), 0..4).prop_map(Value::Numbers),
    ];
    let kernel = prop::option::of(plain_text().prop_filter("not empty", |s| !s.is_empty()));
    let key = plain_text().prop_filter("not empty", |s| !s.is_empty());
    let params = prop::collection::btree_map(key, value, 0..4);
    let kind = prop_oneof![3 => name(), 1 => Just("*".to_string())];
    let cost_ns = prop::collection::btree_map(kind, 0.0..1e12f64, 0..3);
    let lock = prop::option::of(name());
    (name(), kernel, params, cost_ns, any::<bool>(), lock).prop_map(
        |(name, kernel, params, cost_ns, stateless, lock)| Task {
            name,
            kernel,
            params,
            cost_ns,
            stateless,
            lock,
        },
    )
}

fn valid_graph() -> impl Strategy<Value = Graph> {
    let edge =
        (any::<prop::sample::Index>(), any::<prop::sample::Index>(), name(), 1u64..1 << 30, 0u64..9, 0u64..9);
    let overheads = prop::collection::btree_map(name(), (0.0..1e6f64, 0.0..1e3f64), 0..3);
    let totals = prop::collection::btree_map(name(), 0.0..1e12f64, 0..3);
    let three = || prop_oneof![Just(vec![]), prop::collection::vec(0.0..1e9f64, 3)];
    let speed =
        (three(), three()).prop_map(|(alone_ns, together_ns)| ProfiledSpeed { alone_ns, together_ns });
    let speeds = prop::collection::btree_map(name(), speed, 0..3);
    let ns = || 0.0..1e6f64;
    let points = prop::collection::vec([ns(), ns(), ns(), ns(), ns()], 1..4);
    let handovers = prop::collection::btree_map(name(), points, 0..3);
    let together = prop::collection::btree_map(plain_text(), [ns(), ns()], 0..3);
    let cost =
        (plain_text(), 0u64..1 << 40, prop::collection::vec(ns(), 4)).prop_map(|(measured, n, mut ns)| {
            ns.sort_by(f64::total_cmp);
            ProfiledCost { measured, ns: Quantiles { n, min: ns[0], p10: ns[1], p50: ns[2], p90: ns[3] } }
        });
    let costs = prop::collection::btree_map(name(), prop::collection::btree_map(name(), cost, 1..3), 0..3);
    let paces = prop::collection::btree_map(name(), 0.01..1e3f64, 0..3);
    let rest = (costs, paces);
    let profile = prop::option::of(
        (plain_text(), plain_text(), overheads, totals, speeds, handovers, together, rest).prop_map(
            |(machine, cellweave, overheads, totals_ns, speeds, handovers, together, (costs, paces))| {
                Profile {
                    machine,
                    cellweave,
                    overheads,
                    totals_ns,
                    speeds,
                    handovers,
                    together,
                    costs,
                    paces,
                }
            },
        ),
    );
    let tasks = prop::collection::vec(task(), 1..8);
    let edges = prop::collection::vec(edge, 0..12);
    (plain_text(), tasks, edges, 0u64..1 << 40, profile).prop_map(
        |(name, mut tasks, edges, code_bytes, profile)| {
            for (t, task) in tasks.iter_mut().enumerate() {
                task.name += &format!("-{t}");
            }
            let edges = edges.into_iter().enumerate().map(|(e, (a, b, port, bytes, peek, delay))| {
                let (a, b) = (a.index(tasks.len()), b.index(tasks.len()));
                let delay = if a < b { delay } else { delay + 1 };
                let from = Port { task: a, name: format!("{port}{e}") };
                Edge { from, to: Port { task: b, name: e.to_string() }, bytes, peek, delay }
            });
            let edges = edges.collect();
            Graph { name, tasks, edges, code_bytes, profile }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn what_is_written_reads_back_the_same(graph in valid_graph()) {
        prop_assert_eq!(graph.validate(), Ok(()));
        let text = write::toml(&graph);
        prop_assert_eq!(read::text(Format::Toml, &text, "f"), Ok(graph.clone()), "{}", text);
        let text = write::json(&graph);
        prop_assert_eq!(read::text(Format::Json, &text, "f"), Ok(graph.clone()), "{}", text);
    }
}
