//! Random graphs whose tasks all mix what they see: a difference anywhere shows at the end.

use super::{edge, task};
use crate::{Batch, Failed, Fired, Kernel, Kernels, Opened, PortSpec};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use work::{Graph, TaskId};

/// Mixes everything it sees, windows and the number of real instances included, into every output: a difference
/// anywhere shows at the end.
struct Mix {
    seed: u64,
    state: u64,
}

fn mix(a: u64, b: u64) -> u64 {
    (a ^ b).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
}

impl Kernel for Mix {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        let inputs = (0..batch.inputs()).map(|i| batch.input::<u8>(i)).collect::<Result<Vec<_>, _>>()?;
        let mut outputs =
            (0..batch.outputs()).map(|o| batch.output::<u8>(o)).collect::<Result<Vec<_>, _>>()?;
        for j in 0..batch.firings() {
            let mut x = mix(self.seed, batch.first() + j);
            for input in &inputs {
                x = input.window(j).iter().fold(x, |x, byte| mix(x, u64::from(*byte)));
                x = mix(x, input.real(j));
            }
            // A kernel has a state: firings out of order would show.
            self.state = mix(self.state, x);
            for (output, o) in outputs.iter_mut().zip(0..) {
                let value = mix(self.state, o).to_le_bytes();
                output[j].iter_mut().zip(value.iter().cycle()).for_each(|(b, v)| *b = *v);
            }
        }
        Ok(Fired::All)
    }
}

/// Every task is a [`Mix`]; what sinks see is kept.
#[derive(Default)]
pub struct Mixed {
    sinks: Mutex<Vec<Seen>>,
}

/// A sink's task, what it saw, and how many instances.
type Seen = (TaskId, Arc<AtomicU64>, Arc<AtomicU64>);

impl Mixed {
    /// Per sink: its task, a digest of what it saw, and how many instances.
    ///
    /// # Panics
    /// When a kernel panicked.
    pub fn seen(&self) -> Vec<(TaskId, u64, u64)> {
        let mut all: Vec<_> = (self.sinks.lock().unwrap().iter())
            .map(|(t, x, n)| (*t, x.load(Ordering::SeqCst), n.load(Ordering::SeqCst)))
            .collect();
        all.sort_unstable();
        all
    }
}

struct Collect {
    mix: Mix,
    seen: Arc<AtomicU64>,
    count: Arc<AtomicU64>,
}

impl Kernel for Collect {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        self.count.fetch_add(batch.firings(), Ordering::SeqCst);
        let fired = self.mix.fire(batch);
        self.seen.store(self.mix.state, Ordering::SeqCst);
        fired
    }
}

impl Kernels for Mixed {
    fn open(&self, graph: &Graph, t: TaskId) -> Result<Opened, String> {
        let mix = Mix { seed: t as u64, state: 0 };
        let any = || vec![PortSpec::any_number("p")];
        if graph.edges.iter().any(|e| e.from.task == t) {
            return Ok(Opened::from_rust(any(), any(), move |_| Ok(Box::new(mix))));
        }
        let (seen, count) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        self.sinks.lock().unwrap().push((t, seen.clone(), count.clone()));
        Ok(Opened::from_rust(any(), vec![], move |_| Ok(Box::new(Collect { mix, seen, count }))))
    }
}

/// Edges from task to task, each with a peek, a delay and whether it joins a broadcast; `bytes` of each task's outputs.
/// Edges back get delays that are long enough for batches of `batch`.
pub fn random_graph(
    tasks: usize,
    raw: &[(usize, usize, u64, u64, bool)],
    bytes: impl Fn(usize) -> u64,
    batch: u64,
) -> Graph {
    let mut graph = Graph { name: "g".into(), ..Graph::default() };
    graph.tasks = (0..tasks).map(|t| task(&format!("t{t}"), "mix")).collect();
    let (mut ins, mut outs) = (vec![0; tasks], vec![0; tasks]);
    for &(a, b, peek, delay, broadcast) in raw {
        let (a, b) = (a % tasks, b % tasks);
        let port = if broadcast && outs[a] > 0 { 0 } else { outs[a] };
        outs[a] = outs[a].max(port + 1);
        let mut e = edge(a, &format!("{port}"), b, &format!("{}", ins[b]), bytes(a));
        ins[b] += 1;
        e.peek = peek;
        e.delay = if a >= b {
            delay + peek + 8 * batch
        } else if delay > 8 {
            delay
        } else {
            0
        };
        graph.edges.push(e);
    }
    graph
}
