//! What a Rust kernel may do with its ports, and what is refused: nothing that safe code does corrupts memory. Miri
//! runs it, too (`ci/miri.sh`).

use run::builtin::memory::{MemorySink, source};
use run::testing::{cores, edge, planned, task};
use run::{
    Batch, Failed, Fired, Kernel, Kernels, Opened, PortSpec, RunError, RunOptions, Standard, TaskInfo, run,
};
use std::sync::Arc;
use work::{Edge, Graph, TaskId};

/// A kernel of a test: its ports, and its code.
type Code = fn(&mut Batch) -> Result<Fired, Failed>;
struct Ports(Vec<PortSpec>, Vec<PortSpec>, Code);
struct Calls(Code);

impl Kernel for Calls {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        (self.0)(batch)
    }
}

/// `from` sends bytes, `to` collects them, the tasks between are the test's.
struct Between<'a> {
    input: Arc<Vec<u8>>,
    sink: MemorySink,
    middle: &'a [Ports],
}

impl Kernels for Between<'_> {
    fn open(&self, graph: &Graph, t: TaskId) -> Result<Opened, String> {
        match graph.tasks[t].name.as_str() {
            "from" => Ok(source(self.input.clone())),
            "to" => Ok(self.sink.opened()),
            _ => {
                let Ports(inputs, outputs, code) = &self.middle[t - 1];
                let code = *code;
                Ok(Opened::from_rust(inputs.clone(), outputs.clone(), move |_| Ok(Box::new(Calls(code)))))
            }
        }
    }
}

fn through(
    middle: &[Ports],
    edges: Vec<Edge>,
    input: Vec<u8>,
    mapping: &[usize],
) -> Result<Vec<u8>, RunError> {
    let mut tasks = vec![task("from", "")];
    tasks.extend((0..middle.len()).map(|i| task(&format!("t{i}"), "")));
    tasks.push(task("to", ""));
    let graph = Graph { name: "g".into(), tasks, edges, ..Graph::default() };
    let machine = cores(2);
    let plan = planned(&graph, &machine, mapping, 4).unwrap();
    let kernels = Between { input: Arc::new(input), sink: MemorySink::default(), middle };
    let options =
        RunOptions { pin: false, memory_bytes: Some(1 << 20), watchdog_s: 1e6, ..RunOptions::default() };
    run(&graph, &machine, &plan, &kernels, options)?;
    Ok(kernels.sink.take())
}

fn port(name: &str, dtype: &str) -> PortSpec {
    PortSpec { dtype: dtype.into(), ..PortSpec::any(name) }
}

fn in_place(name: &str) -> PortSpec {
    PortSpec { in_place: true, ..PortSpec::any(name) }
}

fn variable(name: &str) -> PortSpec {
    PortSpec { variable: true, ..PortSpec::any(name) }
}

/// What the kernel with these ports, on edges of 16 bytes, is told; every kernel here does one thing that it may not.
fn told(inputs: Vec<PortSpec>, outputs: Vec<PortSpec>, code: Code) -> String {
    let edges = vec![edge(0, "out", 1, "in", 16), edge(1, "out", 2, "in", 16)];
    let error = through(&[Ports(inputs, outputs, code)], edges, vec![1; 64], &[0, 0, 0]).unwrap_err();
    let text = error.to_string();
    let why = text.strip_prefix("task 't0' failed at instance 0: ");
    why.unwrap_or_else(|| panic!("{text}")).to_string()
}

#[test]
fn a_view_that_a_port_does_not_give_is_an_error_that_names_the_port() {
    let (input, output) = (|| vec![PortSpec::any("in")], || vec![PortSpec::any("out")]);
    let cases: Vec<(Vec<PortSpec>, Vec<PortSpec>, Code, &str)> = vec![
        (input(), output(), |b| b.output::<u8>(0).and(b.output::<u8>(0)).map(|_| Fired::All), {
            "its output 'out' was already taken in this call"
        }),
        (input(), output(), |b| b.variable_input::<u8>(0).map(|_| Fired::All), {
            "its input 'in' has a fixed length: take it with input or output"
        }),
        (input(), output(), |b| b.variable_output::<u8>(0).map(|_| Fired::All), {
            "its output 'out' has a fixed length: take it with input or output"
        }),
        (input(), output(), |b| b.in_place::<u8>(0).map(|_| Fired::All), {
            "its input 'in' has a memory of its own: to be worked in place, an input must be marked IN_PLACE and \
             have an output of its number and size"
        }),
        (vec![in_place("in")], output(), |b| b.input::<u8>(0).map(|_| Fired::All), {
            "its input 'in' is worked in place: take the input and its output together with in_place"
        }),
        (vec![in_place("in")], output(), |b| b.output::<u8>(0).map(|_| Fired::All), {
            "its output 'out' is worked in place: take the input and its output together with in_place"
        }),
        (
            vec![in_place("in")],
            output(),
            |b| b.in_place::<u8>(0).and(b.in_place::<u8>(0)).map(|_| Fired::All),
            { "its output 'out' was already taken in this call" },
        ),
        (vec![port("in", "f32")], output(), |b| b.input::<u32>(0).map(|_| Fired::All), {
            "its input 'in' holds f32, and was asked for as u32"
        }),
        (vec![port("in", "c128")], output(), |b| b.input::<f32>(0).map(|_| Fired::All), {
            "its input 'in' holds f64, and was asked for as f32"
        }),
        (input(), output(), |b| b.output::<[u64; 3]>(0).map(|_| Fired::All), {
            "its output 'out' has instances of 16 bytes, which are no whole, aligned number of [u64; 3]"
        }),
        (input(), output(), |b| b.output::<u8>(1).map(|_| Fired::All), {
            "its kernel asked for output 1, and it has 1, counted from 0"
        }),
    ];
    for (inputs, outputs, code, wanted) in cases {
        assert_eq!(told(inputs, outputs, code), wanted);
    }
}

#[test]
fn a_number_beyond_the_last_is_a_panic_with_its_text() {
    let codes: [Code; 5] = [
        |b| Err(format!("{:?}", b.input::<u8>(0)?.at(u64::MAX)).into()),
        |b| Err(format!("{:?}", b.input::<u8>(0)?.window(b.firings())).into()),
        |b| Err(format!("{:?}", &b.output::<u8>(0)?[b.firings()]).into()),
        |b| {
            b.output::<u8>(0)?[1 << 61][0] = 1;
            Ok(Fired::All)
        },
        |b| Err(format!("{:?}", b.raw_input(1)).into()),
    ];
    for code in codes {
        let why = told(vec![PortSpec::any("in")], vec![PortSpec::any("out")], code);
        assert!(why.starts_with("panicked: "), "{why}");
    }
}

#[test]
fn any_port_can_be_seen_as_bytes_and_a_complex_number_as_two_floats() {
    let code: Code = |b| {
        let (bytes, pairs) = (b.input::<u8>(0)?, b.input::<[f32; 2]>(0)?);
        let mut output = b.output::<f32>(0)?;
        assert_eq!((bytes.each(), pairs.each(), output.each()), (16, 2, 4));
        for (out, pair) in output.together().chunks_mut(2).zip(pairs.together()) {
            out.copy_from_slice(&[pair[1], pair[0]]);
        }
        Ok(Fired::All)
    };
    let edges = vec![edge(0, "out", 1, "in", 16), edge(1, "out", 2, "in", 16)];
    let input: Vec<u8> = (0..40u8).flat_map(|i| f32::from(i).to_ne_bytes()).collect();
    let wanted: Vec<u8> = (0..40u8).flat_map(|i| f32::from(i ^ 1).to_ne_bytes()).collect();
    let middle = [Ports(vec![port("in", "c64")], vec![port("out", "c64")], code)];
    for mapping in [[0, 0, 0], [0, 1, 0]] {
        assert_eq!(through(&middle, edges.clone(), input.clone(), &mapping).unwrap(), wanted);
    }
}

/// Adds 1 to every byte.
fn bump(batch: &mut Batch) -> Result<Fired, Failed> {
    batch.in_place::<u8>(0)?.together().iter_mut().for_each(|b| *b += 1);
    Ok(Fired::All)
}

#[test]
fn work_in_place_gives_the_same_bytes_whether_the_memory_is_shared_or_not() {
    let middle: Vec<Ports> =
        (0..3).map(|_| Ports(vec![in_place("in")], vec![PortSpec::any("out")], bump)).collect();
    let edges: Vec<Edge> = (0..4).map(|i| edge(i, "out", i + 1, "in", 5)).collect();
    let input: Vec<u8> = (0..50).collect();
    let wanted: Vec<u8> = (3..53).collect();
    for mapping in [[0, 0, 0, 0, 0], [0, 1, 0, 1, 1]] {
        assert_eq!(through(&middle, edges.clone(), input.clone(), &mapping).unwrap(), wanted);
    }
}

#[test]
fn what_somebody_else_reads_is_not_overwritten_in_place() {
    // The same instance twice: both inputs may be overwritten, and each is.
    let twice: Code = |batch| {
        batch.in_place::<u8>(0)?.together().iter_mut().for_each(|b| *b += 1);
        batch.in_place::<u8>(1)?.together().iter_mut().for_each(|b| *b += 2);
        Ok(Fired::All)
    };
    let join: Code = |batch| {
        let (one, two) = (batch.input::<u8>(0)?, batch.input::<u8>(1)?);
        let mut output = batch.output::<u8>(0)?;
        for j in 0..batch.firings() {
            output[j].copy_from_slice(&[one.at(j), two.at(j)].concat());
        }
        Ok(Fired::All)
    };
    let two = |a: &str, b: &str| vec![in_place(a), in_place(b)];
    let middle = [
        Ports(vec![PortSpec::any("in")], vec![PortSpec::any("out")], |batch| {
            batch.output::<u8>(0)?.together().copy_from_slice(batch.input(0)?.together());
            Ok(Fired::All)
        }),
        Ports(two("a", "b"), two("a", "b"), twice),
        Ports(vec![PortSpec::any("a"), PortSpec::any("b")], vec![PortSpec::any("out")], join),
    ];
    let edges = vec![
        edge(0, "out", 1, "in", 4),
        edge(1, "out", 2, "a", 4),
        edge(1, "out", 2, "b", 4),
        edge(2, "a", 3, "a", 4),
        edge(2, "b", 3, "b", 4),
        edge(3, "out", 4, "in", 8),
    ];
    let got = through(&middle, edges, vec![10; 40], &[0; 5]).unwrap();
    assert_eq!(got, [11, 11, 11, 11, 12, 12, 12, 12].repeat(10));
}

#[test]
fn instances_of_variable_length_are_as_long_as_they_were_made() {
    let grow: Code = |batch| {
        let (input, mut output) = (batch.input::<u8>(0)?, batch.variable_output::<u16>(0)?);
        assert_eq!(output.max(), 6);
        for j in 0..batch.firings() {
            output[j].fill(77);
            let items = vec![u16::from(input[j][0]); (batch.first() + j) as usize % 7];
            output.set(j, &items);
        }
        Ok(Fired::All)
    };
    let measure: Code = |batch| {
        let (input, mut output) = (batch.variable_input::<u16>(0)?, batch.output::<u8>(0)?);
        for j in 0..batch.firings() {
            assert!(input[j].iter().all(|x| *x == 5));
            let window = (0..=input.peek()).map(|k| input.length(j + k) as u8);
            output[j].copy_from_slice(&window.collect::<Vec<u8>>());
            assert!(input.real(j) >= 1);
        }
        Ok(Fired::All)
    };
    let middle = [
        Ports(vec![PortSpec::any("in")], vec![variable("out")], grow),
        Ports(vec![variable("in")], vec![PortSpec::any("out")], measure),
    ];
    for (mapping, peek) in [([0, 0, 0, 0], 0), ([0, 0, 1, 1], 0), ([0, 1, 0, 1], 2)] {
        let mut edges =
            vec![edge(0, "out", 1, "in", 1), edge(1, "out", 2, "in", 13), edge(2, "out", 3, "in", peek + 1)];
        edges[1].peek = peek;
        let got = through(&middle, edges, vec![5; 20], &mapping).unwrap();
        let length = |i: u64| if i < 20 { (i % 7) as u8 } else { 0 };
        let wanted: Vec<u8> = (0..20).flat_map(|i| (i..=i + peek).map(length)).collect();
        assert_eq!(got, wanted);
    }
}

#[test]
fn a_wrong_length_names_the_task_the_port_and_the_instance() {
    let cases: [(Code, &str); 3] = [
        (|batch| batch.output::<u8>(0).map(|_| Fired::All), {
            "task 't0' failed at instance 0: its output 'out' has a variable length: take it with variable_input or \
             variable_output"
        }),
        (
            |batch| {
                batch.variable_output::<u8>(0)?.set_length(0, 14);
                Ok(Fired::All)
            },
            { "task 't0' failed at instance 0: panicked: a length of 14 items; the port holds 13 at most" },
        ),
        (
            |batch| {
                batch.variable_output::<u8>(0)?.set_length(0, 13);
                Ok(Fired::All)
            },
            { "task 't0' failed at instance 1: it set no length for its output 'out'" },
        ),
    ];
    for (code, wanted) in cases {
        let middle = [
            Ports(vec![PortSpec::any("in")], vec![variable("out")], code),
            Ports(vec![variable("in")], vec![PortSpec::any("out")], |batch| {
                batch.output::<u8>(0).map(|_| Fired::All)
            }),
        ];
        let edges = vec![edge(0, "out", 1, "in", 1), edge(1, "out", 2, "in", 13), edge(2, "out", 3, "in", 1)];
        let error = through(&middle, edges, vec![5; 20], &[0; 4]).unwrap_err();
        assert_eq!(error.to_string(), wanted);
    }
}

mod exported {
    use super::*;
    use run::kernel::abi;

    pub(super) struct Gain(f32);

    impl Kernel for Gain {
        fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
            for instance in batch.in_place::<f32>(0)?.iter_mut() {
                instance.iter_mut().for_each(|x| *x *= self.0);
            }
            match batch.has_output(1) {
                true => Err("nobody listens".into()),
                false => Ok(Fired::All),
            }
        }
    }

    fn make(task: &TaskInfo) -> Result<Gain, String> {
        task.only(&["gain"])?;
        Ok(Gain(task.number("gain")?.unwrap_or(1.0) as f32))
    }

    run::export_kernel! {
        gain: Gain, make = make,
        inputs = ["in": "f32", bytes = 8, flags = abi::IN_PLACE],
        outputs = ["out": "f32"; "peak": "f32", flags = abi::OPTIONAL],
        flags = abi::STATELESS
    }
}

struct Linked(MemorySink);

impl Kernels for Linked {
    fn open(&self, graph: &Graph, t: TaskId) -> Result<Opened, String> {
        match t {
            // SAFETY: `export_kernel!` made it.
            1 => unsafe { Opened::from_kernel(&exported::gain) },
            2 => Ok(self.0.opened()),
            _ => Standard::default().open(graph, t),
        }
    }
}

#[test]
fn an_exported_kernel_works_through_the_abi() {
    let mut graph = Graph {
        name: "g".into(),
        tasks: vec![task("from", "cellweave:count"), task("gain", ""), task("to", "")],
        edges: vec![edge(0, "out", 1, "in", 8), edge(1, "out", 2, "in", 8)],
        ..Graph::default()
    };
    graph.tasks[1].params.insert("gain".into(), work::Value::Number(2.0));
    let machine = cores(1);
    let options = || RunOptions {
        instances: Some(9),
        pin: false,
        memory_bytes: Some(1 << 20),
        watchdog_s: 1e6,
        ..RunOptions::default()
    };
    let plan = planned(&graph, &machine, &[0; 3], 4).unwrap();
    let kernels = Linked(MemorySink::default());
    run(&graph, &machine, &plan, &kernels, options()).unwrap();
    let doubled = |i: u32| [f32::from_bits(i) * 2.0, 0.0].map(f32::to_ne_bytes).concat();
    assert_eq!(kernels.0.take(), (0..9).flat_map(doubled).collect::<Vec<u8>>());
    graph.tasks[1].params.insert("gian".into(), work::Value::Number(2.0));
    let error = run(&graph, &machine, &plan, &kernels, options()).unwrap_err().to_string();
    assert!(error.starts_with("task 'gain': unknown parameter 'gian'"), "{error}");
}
