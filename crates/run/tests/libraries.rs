//! Kernels in shared objects: the ABI to the byte, good kernels, and every way of being wrong.

use run::builtin::memory::{MemorySink, source};
use run::kernel::abi;
use run::kernel::library::SharedObject;
use run::testing::{cores, edge, planned, task};
use run::{Kernels, Opened, RunError, RunOptions, Standard, run};
use std::mem::{offset_of, size_of};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use work::{Edge, Graph, Task, TaskId, Value};

/// The folder with the compiled test kernels.
fn folder() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
            let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
            let done = std::process::Command::new("cc")
                .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
                .arg(out.join("libtestkernels.so"))
                .arg(here.join("tests/kernels/kernels.c"))
                .arg("-I")
                .arg(here.join("../../python/cellweave/include"))
                .output()
                .expect("a C compiler `cc`");
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            out
        })
        .clone()
}

struct Test {
    standard: Standard,
    input: Arc<Vec<u8>>,
    sink: MemorySink,
}

impl Kernels for Test {
    fn open(&self, graph: &Graph, t: TaskId) -> Result<Opened, String> {
        match graph.tasks[t].name.as_str() {
            "from" => Ok(source(self.input.clone())),
            "to" => Ok(self.sink.opened()),
            _ => self.standard.open(graph, t),
        }
    }
}

fn c_task(name: &str, symbol: &str) -> Task {
    task(name, &format!("libtestkernels.so:{symbol}"))
}

/// Runs from -> `middle` .. -> to over floats 0, 1, 2, ..; gives what arrived.
fn run_through(
    middle: Vec<Task>,
    edges: Vec<Edge>,
    mapping: &[usize],
    batch: u64,
) -> Result<Vec<f32>, RunError> {
    let mut tasks = vec![task("from", "")];
    tasks.extend(middle);
    tasks.push(task("to", ""));
    let graph = Graph { name: "g".into(), tasks, edges, ..Graph::default() };
    let machine = cores(3);
    let plan = planned(&graph, &machine, mapping, batch).unwrap();
    let input = (0..1000u32).flat_map(|i| (i as f32).to_le_bytes()).collect::<Vec<u8>>();
    let kernels =
        Test { standard: Standard::in_folder(folder()), input: Arc::new(input), sink: MemorySink::default() };
    let options = RunOptions { watchdog_s: 0.5, ..RunOptions::default() };
    run(&graph, &machine, &plan, &kernels, options)?;
    Ok(kernels.sink.take().chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect())
}

fn through_one(middle: Task) -> Result<Vec<f32>, RunError> {
    run_through(vec![middle], vec![edge(0, "out", 1, "in", 4), edge(1, "out", 2, "in", 4)], &[0, 1, 0], 8)
}

#[test]
fn the_rust_mirror_of_the_header_agrees_to_the_byte() {
    let library = folder().join("libtestkernels.so");
    let mirror: Vec<u64> = {
        macro_rules! layout {
            ($($t:ident { $($f:ident),* $(,)? })*) => { vec![$(size_of::<abi::$t>(), $(offset_of!(abi::$t, $f)),*),*] };
        }
        let mut list: Vec<usize> = layout! {
            CwResult { fired, status }
            CwPort { name, dtype, shape, dimensions, items, bytes, flags }
            CwIn { base, stride, bytes, peek, real }
            CwOut { base, stride, bytes }
            CwBatch { firings, first, inputs, outputs, r#in, out, error, error_bytes }
            CwParam { name, text, numbers, count }
            CwConnection { name, bytes, peek }
            CwTask { name, params, params_count, inputs, outputs, inputs_count, outputs_count, error, error_bytes }
            CwKernel {
                abi_version, struct_bytes, name, flags, inputs, outputs, input_ports, output_ports, init, fire, finish
            }
        };
        list.extend([abi::ABI_VERSION, abi::OK, abi::END, abi::AGAIN, abi::ERROR].map(|x| x as usize));
        list.extend(
            [abi::STATELESS, abi::IN_PLACE, abi::VARIABLE, abi::OPTIONAL, abi::REPEATED].map(|x| x as usize),
        );
        list.into_iter().map(|x| x as u64).chain([0xC0FFEE]).collect()
    };
    // SAFETY: the test's own library; the symbol is an array of at least as many u64, ended by 0xC0FFEE.
    unsafe {
        let path = std::ffi::CString::new(library.to_str().unwrap()).unwrap();
        let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
        assert!(!handle.is_null());
        let at = libc::dlsym(handle, c"abi_layout".as_ptr()).cast::<u64>();
        let mut theirs = Vec::new();
        while theirs.last() != Some(&0xC0FFEE) {
            theirs.push(*at.add(theirs.len()));
        }
        assert_eq!(mirror, theirs);
    }
}

#[test]
fn a_c_kernel_gets_its_parameters_and_its_windows() {
    let mut gain = c_task("gain", "gain");
    gain.params.insert("gain".into(), Value::Number(3.0));
    let mut window = edge(1, "out", 2, "in", 4);
    window.peek = 2;
    for mapping in [[0, 0, 0, 0], [0, 1, 2, 0], [0, 1, 0, 1]] {
        for batch in [1, 3, 64] {
            let edges = vec![edge(0, "out", 1, "in", 4), window.clone(), edge(2, "out", 3, "in", 4)];
            let got = run_through(vec![gain.clone(), c_task("sum", "sum")], edges, &mapping, batch).unwrap();
            let x = |i: u32| if i < 1000 { 3.0 * i as f32 } else { 0.0 };
            let wanted: Vec<f32> = (0..1000).map(|i| x(i) + x(i + 1) + x(i + 2)).collect();
            assert_eq!(got, wanted, "{mapping:?} batch {batch}");
        }
    }
}

#[test]
fn a_kernel_that_works_in_pieces_is_called_again_with_the_rest() {
    let wanted: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    assert_eq!(through_one(c_task("piece", "piece")).unwrap(), wanted);
}

#[test]
fn instances_of_variable_length_keep_their_lengths_on_every_way() {
    let graph = Graph {
        name: "g".into(),
        tasks: vec![c_task("grow", "grow"), c_task("measure", "measure"), task("to", "")],
        edges: vec![edge(0, "out", 1, "in", 13), edge(1, "out", 2, "in", 8)],
        ..Graph::default()
    };
    let machine = cores(2);
    for mapping in [[0, 0, 0], [0, 1, 1]] {
        let plan = planned(&graph, &machine, &mapping, 8).unwrap();
        let kernels = Test {
            standard: Standard::in_folder(folder()),
            input: Arc::default(),
            sink: MemorySink::default(),
        };
        let options = RunOptions { instances: Some(100), ..RunOptions::default() };
        run(&graph, &machine, &plan, &kernels, options).unwrap();
        let got: Vec<u64> =
            kernels.sink.take().chunks(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect();
        assert_eq!(got, (0..100).map(|i| i % 14).collect::<Vec<u64>>());
    }
}

#[test]
fn kernels_that_work_in_place_give_the_same_bytes() {
    let graph = Graph {
        name: "g".into(),
        tasks: vec![
            task("from", ""),
            c_task("a", "bump"),
            c_task("b", "bump"),
            c_task("c", "bump"),
            task("to", ""),
        ],
        edges: (0..4).map(|i| edge(i, "out", i + 1, "in", 5)).collect(),
        ..Graph::default()
    };
    let machine = cores(2);
    for mapping in [[0, 0, 0, 0, 0], [0, 0, 1, 1, 1]] {
        let plan = planned(&graph, &machine, &mapping, 4).unwrap();
        let input: Arc<Vec<u8>> = Arc::new((0..=254).collect());
        let kernels = Test {
            standard: Standard::in_folder(folder()),
            input: input.clone(),
            sink: MemorySink::default(),
        };
        run(&graph, &machine, &plan, &kernels, RunOptions::default()).unwrap();
        let wanted: Vec<u8> = input.iter().map(|b| b.wrapping_add(3)).collect();
        assert_eq!(kernels.sink.take(), wanted);
    }
}

#[test]
fn an_output_of_another_size_is_not_worked_in_place() {
    // The buffers of both are 128 bytes: what decides is the size of an instance.
    let edges = vec![edge(0, "out", 1, "in", 4), edge(1, "out", 2, "in", 5), edge(2, "out", 3, "in", 4)];
    let middle = vec![c_task("a", "bump"), c_task("b", "bump")];
    let got = run_through(middle, edges, &[0; 4], 8).unwrap();
    let bumped = |i: u32| f32::from_ne_bytes((i as f32).to_ne_bytes().map(|b| b.wrapping_add(2)));
    assert_eq!(got.len(), 1000);
    assert!(got.iter().zip(0..).all(|(x, i)| x.to_bits() == bumped(i).to_bits()));
}

#[test]
fn a_wrong_length_stops_the_run_and_names_task_port_and_instance() {
    let cases = [
        ("too_long", "it gave its output 'out' 14 bytes, and 13 are the maximum"),
        ("no_length", "it set no length for its output 'out'"),
    ];
    for (symbol, text) in cases {
        for mapping in [[0, 0, 0], [0, 1, 1]] {
            let graph = Graph {
                name: "g".into(),
                tasks: vec![c_task("culprit", symbol), c_task("measure", "measure"), task("to", "")],
                edges: vec![edge(0, "out", 1, "in", 13), edge(1, "out", 2, "in", 8)],
                ..Graph::default()
            };
            let machine = cores(2);
            let plan = planned(&graph, &machine, &mapping, 8).unwrap();
            let standard = Standard::in_folder(folder());
            let kernels = Test { standard, input: Arc::default(), sink: MemorySink::default() };
            let options = RunOptions { instances: Some(100), ..RunOptions::default() };
            let error = run(&graph, &machine, &plan, &kernels, options).unwrap_err().to_string();
            assert_eq!(error, format!("task 'culprit' failed at instance 20: {text}"));
        }
    }
}

#[test]
fn every_wrong_return_stops_the_run_and_names_task_and_instance() {
    let cases = [
        ("too_many", "says it fired 9 times, and was asked to fire 8"),
        ("too_few", "fired 7 of 8 times and returned CW_OK"),
        ("early", "(CW_END) after 8 of 8 firings, which only a task without inputs may"),
        ("odd", "status 77"),
    ];
    for (symbol, text) in cases {
        let error = through_one(c_task("culprit", symbol)).unwrap_err().to_string();
        assert!(error.starts_with("task 'culprit' failed at instance ") && error.contains(text), "{error}");
    }
}

#[test]
fn a_kernels_own_error_is_told_with_its_instance() {
    let mut gain = c_task("gain", "gain");
    gain.params.insert("fail_at".into(), Value::Number(123.0));
    let error = through_one(gain).unwrap_err();
    assert!(error.to_string().contains("task 'gain' failed at instance 123: as asked"), "{error}");
    let mut gain = c_task("gain", "gain");
    gain.params.insert("gian".into(), Value::Number(1.0));
    let error = through_one(gain).unwrap_err().to_string();
    assert_eq!(error, "task 'gain': unknown parameter 'gian' of 'gain'");
}

#[test]
fn a_kernel_that_never_returns_ends_the_run_and_is_named() {
    let error = through_one(c_task("sleeper", "never")).unwrap_err().to_string();
    assert!(error.contains("'sleeper'") && error.contains("does not return"), "{error}");
    let error = through_one(c_task("staller", "stall")).unwrap_err().to_string();
    assert!(error.contains("'staller'"), "{error}");
}

fn refused(symbol: &str, tasks: Vec<Task>, edges: Vec<Edge>) -> String {
    let mapping = vec![0; tasks.len() + 2];
    let error = run_through(tasks, edges, &mapping, 1).unwrap_err();
    assert!(matches!(error, RunError::Kernel { .. }), "{symbol}: {error:?}");
    error.to_string()
}

#[test]
fn wrong_descriptors_are_refused_with_what_is_wrong() {
    let cases = [
        ("other_abi", "it was built for ABI 2, this is ABI 1"),
        ("other_size", "its struct_bytes is 64, cw_kernel of ABI 1 has 72"),
        ("no_fire", "it has no fire function"),
        ("two_items", "takes 2 instances per firing"),
        ("liar", "says it has 3 ports and lists none"),
        ("not_a_kernel", "no cw_kernel"),
        ("gian", "did you mean `gain`?"),
    ];
    for (symbol, text) in cases {
        let error = refused(
            symbol,
            vec![c_task("t", symbol)],
            vec![edge(0, "out", 1, "in", 4), edge(1, "out", 2, "in", 4)],
        );
        assert!(error.contains(text), "{symbol}: {error}");
    }
}

#[test]
fn ports_that_do_not_fit_are_refused_with_both_sides() {
    let two = |a: Edge| vec![a, edge(1, "out", 2, "in", 4)];
    let cases: Vec<(&str, Vec<Edge>, &str)> = vec![
        (
            "sized",
            vec![edge(0, "out", 1, "in", 256)],
            "its input 'in' has 128 bytes per instance, the edge from.out -> t.in",
        ),
        (
            "gain",
            two(edge(0, "out", 1, "inn", 4)),
            "it has no input 'inn'; known are: in; did you mean `in`?",
        ),
        ("gain", two(edge(0, "out", 1, "1", 4)), "it has 1 input ('in')"),
        ("gain", two(edge(0, "out", 1, "in", 6)), "no whole number"),
        ("gain", vec![edge(0, "out", 1, "in", 4), edge(0, "x", 2, "in", 4)], "it has no output"),
        (
            "gain",
            vec![edge(0, "out", 1, "in", 4), edge(0, "out", 2, "in", 4)],
            "its output 'out' is not connected",
        ),
        ("many", vec![edge(0, "out", 1, "b0", 4)], "its input 'a' is not connected"),
        ("many", vec![edge(0, "out", 1, "a", 4)], "needs at least one connection ('b0')"),
        (
            "many",
            vec![edge(0, "out", 1, "a", 4), edge(0, "out", 1, "b1", 4)],
            "its input 'b' is not connected",
        ),
        ("measure", vec![edge(0, "out", 1, "in", 4), edge(1, "out", 2, "in", 8)], "of variable length"),
    ];
    for (symbol, edges, text) in cases {
        let mut graph_edges = edges;
        if !graph_edges.iter().any(|e| e.to.task == 2) {
            graph_edges.push(edge(0, "out", 2, "in", graph_edges[0].bytes));
        }
        let error = refused(symbol, vec![c_task("t", symbol)], graph_edges);
        assert!(error.contains(text), "{symbol}: {error}\nwanted: {text}");
    }
}

#[test]
fn files_and_schemes_that_are_not_there_are_refused() {
    let cases = [
        ("libnothing.so:x", "was not found in"),
        ("./sub/libnothing.so:x", "there is no file"),
        ("Cargo.toml:x", "cannot be loaded"),
        ("cellweave:cpoy", "did you mean `copy`?"),
        ("python:a.b:c", "needs the Python package"),
        ("nocolon", "has no ':'"),
        ("libm.so:", "names no library or no symbol"),
    ];
    for (kernel, text) in cases {
        let edges = vec![edge(0, "out", 1, "in", 4), edge(1, "out", 2, "in", 4)];
        let error = refused(kernel, vec![task("t", kernel)], edges);
        assert!(error.contains(text), "{kernel}: {error}");
    }
    let missing = SharedObject::load("libnothing.so", None).unwrap_err();
    assert!(missing.contains("loader's path"), "{missing}");
}
