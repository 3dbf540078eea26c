//! A small run with everything in it: broadcast, peek, delay, rings between threads, scratch. Miri runs it, too
//! (`ci/miri.sh`).

use run::builtin::memory::{MemorySink, source};
use run::testing::{cores, edge, planned};
use run::{Batch, Failed, Fired, Kernel, Kernels, Opened, PortSpec, RunOptions, run};
use std::sync::Arc;
use work::{Graph, Task, TaskId};

/// The sum of all windows' bytes.
struct Sum;

impl Kernel for Sum {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        let inputs = (0..batch.inputs()).map(|i| batch.input::<u8>(i)).collect::<Result<Vec<_>, _>>()?;
        let mut outputs =
            (0..batch.outputs()).map(|o| batch.output::<u8>(o)).collect::<Result<Vec<_>, _>>()?;
        for j in 0..batch.firings() {
            let bytes = inputs.iter().flat_map(|input| input.window(j));
            let sum = bytes.fold(0u8, |sum, byte| sum.wrapping_add(*byte));
            outputs.iter_mut().for_each(|output| output[j].fill(sum));
        }
        Ok(Fired::All)
    }
}

struct Sums(Arc<Vec<u8>>, MemorySink);

impl Kernels for Sums {
    fn open(&self, graph: &Graph, t: TaskId) -> Result<Opened, String> {
        let any = |n| vec![PortSpec::any_number(n)];
        match t {
            0 => Ok(source(self.0.clone())),
            _ if t + 1 == graph.tasks.len() => Ok(self.1.opened()),
            _ => Ok(Opened::from_rust(any("in"), any("out"), |_| Ok(Box::new(Sum)))),
        }
    }
}

#[test]
fn broadcast_peek_delay_and_threads_give_the_bytes_of_the_plain_loop() {
    let mut edges = vec![
        edge(0, "out", 1, "in0", 2),
        edge(0, "out", 2, "in0", 2),
        edge(1, "out", 2, "in1", 3),
        edge(2, "out", 3, "in0", 1),
        edge(1, "out", 3, "in1", 3),
        edge(3, "out", 4, "in", 1),
    ];
    edges[0].peek = 2;
    edges[4].delay = 3;
    let tasks = (0..5).map(|t| Task { name: format!("t{t}"), ..Task::default() }).collect();
    let graph = Graph { name: "g".into(), tasks, edges, ..Graph::default() };
    let machine = cores(3);
    const N: usize = if cfg!(miri) { 11 } else { 23 };
    let data: Vec<u8> = (0..2 * N as u32).map(|i| (i * 37) as u8).collect();
    // The plain loop.
    let x = |i: usize| if i < N { data[2 * i].wrapping_add(data[2 * i + 1]) } else { 0 };
    let one = |i: usize| x(i).wrapping_add(x(i + 1)).wrapping_add(x(i + 2));
    let two = |i: usize| x(i).wrapping_add(one(i).wrapping_mul(3));
    let late = |i: usize| if i < 3 { 0 } else { one(i - 3).wrapping_mul(3) };
    let wanted: Vec<u8> = (0..N).map(|i| two(i).wrapping_add(late(i))).collect();
    for (mapping, batch) in
        [([0, 0, 0, 0, 0], 4), ([0, 1, 0, 1, 2], 4), ([0, 1, 2, 0, 1], 3), ([1, 0, 0, 1, 1], 1)]
    {
        let plan = planned(&graph, &machine, &mapping, batch).unwrap();
        let kernels = Sums(Arc::new(data.clone()), MemorySink::default());
        let options =
            RunOptions { pin: false, memory_bytes: Some(1 << 20), watchdog_s: 1e6, ..RunOptions::default() };
        run(&graph, &machine, &plan, &kernels, options).unwrap();
        assert_eq!(kernels.1.take(), wanted, "{mapping:?} batch {batch}");
    }
}
