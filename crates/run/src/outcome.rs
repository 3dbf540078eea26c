//! What a run has to say: predicted beside achieved.

use crate::until::SteadyOutcome;
use ground::{Quantiles, quantile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The result of a run, as its JSON holds it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunOutcome {
    /// Version of this format: 1.
    pub format: u32,
    /// The application's name.
    pub application: String,
    /// The machine's name.
    pub machine: String,
    /// Method of the plan that was executed.
    pub plan: String,
    /// Instances per firing.
    pub batch: u64,
    /// What the last sink has taken: how often every task fired.
    pub instances: u64,
    /// From the first worker's first step to the last worker's last.
    pub elapsed_s: f64,
    /// `instances / elapsed_s`: everything counts, also start, stalls and drain.
    pub throughput_per_s: f64,
    /// The median over windows of equal numbers of instances, from `steady_after` on: what the stream does between
    /// start, stalls and drain. `null` in a run that is too short for windows.
    #[serde(default)]
    pub steady_per_s: Option<f64>,
    /// What was predicted before the run: by the plan, with the speeds that its elements had just then where they
    /// could be measured.
    pub predicted_per_s: f64,
    /// The plan's own prediction, with the speeds that its costs were measured at.
    #[serde(default)]
    pub planned_per_s: f64,
    /// What `predicted_per_s` was made with beside the plan, in words; empty: nothing.
    #[serde(default)]
    pub predicted_with: String,
    /// `throughput_per_s / predicted_per_s`.
    pub ratio: f64,
    /// Instances after which the throughput is steady: the start of the first window that reaches nine tenths of the
    /// median.
    pub steady_after: u64,
    /// Where the run was to go on until its throughput was steady: whether and when it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_steady: Option<SteadyOutcome>,
    /// Throughput of the windows from `steady_after` on, per second.
    pub windows_per_s: Option<Quantiles>,
    /// How long the element that was busy longest had no instances yet.
    #[serde(default)]
    pub start_s: f64,
    /// How long it had none any more: from its last firing to the last worker's last step.
    #[serde(default)]
    pub drain_s: f64,
    /// Whether the run says little about the steady state: it is too short for windows, or start and drain took more
    /// than a tenth of it.
    #[serde(default)]
    pub short: bool,
    /// Waits that were much longer than a batch takes.
    #[serde(default)]
    pub stalls: Stalls,
    /// ns that the whole process did not run, although no other program had its cpus: it was stopped, or the computer
    /// was.
    #[serde(default)]
    pub paused_ns: u64,
    /// Bytes by which the process's memory grew while it streamed.
    #[serde(default)]
    pub grown_bytes: u64,
    /// One per used element, in the machine's order.
    pub elements: Vec<ElementOutcome>,
    /// From a source's start on a sampled batch to the end of the sink's batch that holds its first instance.
    pub latency_ns: Option<Latency>,
    /// Whether every worker was pinned to its cpu.
    pub pinned: bool,
    /// Why not, one sentence per element.
    pub not_pinned: Vec<String>,
    /// Per task, what its firings cost: a sample of all calls.
    #[serde(default)]
    pub sampled: BTreeMap<String, TaskOutcome>,
    /// By element, how fast it computed when it was profiled, before the run and after it; empty where nobody looked.
    #[serde(default)]
    pub speeds: BTreeMap<String, ElementSpeed>,
    /// What the period consists of beside what was predicted, largest effect first; see [`Difference`].
    #[serde(default)]
    pub differences: Vec<Difference>,
    /// The differences in one sentence; empty while `ratio` is from 0.9 to 1.1.
    #[serde(default)]
    pub explanation: String,
    /// ns per firing, per task, by call of its kernel; only when asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tasks: BTreeMap<String, Quantiles>,
    /// Samples of `tasks` that were left out, because their worker lost its cpu meanwhile.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub samples_left_out: u64,
    /// Share of one cpu's time that a hypervisor gave to others during the run, all cpus together; `null` where the
    /// kernel does not count it.
    #[serde(default)]
    pub stolen_share: Option<f64>,
    /// Whether the caller stopped the run before its sources ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// The file with the trace, where one was asked for and could be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Things worth saying.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The computer that it ran on.
    pub identity: BTreeMap<String, String>,
    /// What took most of the time, as planned and on the simulated machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottlenecks: Option<Bottlenecks>,
    /// On a simulated machine: whose costs stand for those that the application does not have, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_in: Option<String>,
    /// What the simulated machine counted, as a simulation's outcome has it in Python.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<serde_json::Value>,
}

/// What took most of the time: an element, or a limit or link.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bottlenecks {
    /// The plan's largest contribution, and its part of the planned period.
    pub planned: Bottleneck,
    /// What was occupied for most of the simulated time.
    pub simulated: Bottleneck,
    /// The element that was occupied longest.
    pub element: Bottleneck,
    /// The limit or link that carried the largest part of what it can carry.
    pub link: Bottleneck,
}

/// Something that took time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bottleneck {
    /// Its name.
    pub name: String,
    /// The part of the time that it was occupied, or of the bandwidth that it carried; 0 to 1.
    pub share: f64,
}

impl RunOutcome {
    /// Steady throughput per second where the run was long enough to tell, else that of the whole run: what a
    /// measurement of costs wants.
    pub fn rate_per_s(&self) -> f64 {
        self.steady_per_s.unwrap_or(self.throughput_per_s)
    }

    /// Fills what windows of equal numbers of instances say, from the times, in ns, at which the slowest sink had taken
    /// so many instances.
    pub fn steady_over(&mut self, marks: &[(u64, u64)]) {
        let steady = steady(marks);
        self.steady_per_s = steady.as_ref().map(|s| s.per_s);
        self.steady_after = steady.as_ref().map_or(0, |s| s.after);
        self.short = steady.is_none() || self.start_s + self.drain_s > SHORT * self.elapsed_s;
        self.windows_per_s = steady.map(|s| s.windows);
    }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// What an element's worker did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ElementOutcome {
    /// The element's name.
    pub name: String,
    /// ns that it was not waiting.
    pub busy_ns: u64,
    /// ns that it was waiting.
    pub idle_ns: u64,
    /// Firings of its tasks, all together.
    pub firings: u64,
    /// ns that it was ready to run and another thread had its cpu; `null` where the kernel does not count it.
    #[serde(default)]
    pub lost_ns: Option<u64>,
    /// How often it lost its cpu to another thread.
    #[serde(default)]
    pub preempted: u64,
    /// Share of its cpu's time that a hypervisor gave to others; `null` where the kernel does not count it.
    #[serde(default)]
    pub stolen_share: Option<f64>,
    /// What it waited for, longest first.
    #[serde(default)]
    pub waits: Vec<WaitOutcome>,
    /// On a simulated machine, what all of its time went to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spent_ns: BTreeMap<String, u64>,
    /// Of a simulated PPE, ns that its second thread took in what SPEs had pushed, and copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managing_ns: Option<u64>,
}

/// What a worker's waits are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitFor {
    /// Instances on an edge.
    Data,
    /// Room on an edge.
    Room,
    /// A source that had nothing right now.
    Source,
    /// Its first instances.
    Start,
    /// The end of the stream.
    End,
}

/// Waits of a worker for one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaitOutcome {
    /// For what.
    #[serde(rename = "for")]
    pub what: WaitFor,
    /// `a.out -> b.in`, where it is for data or room.
    pub edge: Option<String>,
    /// How many.
    pub n: u64,
    /// All together.
    pub total_ns: u64,
    /// The longest.
    pub longest_ns: u64,
}

/// Waits of at least `least_ns`, on all elements.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stalls {
    /// A wait of so many ns is a stall: ten times what a batch should take, and at least 1 ms.
    pub least_ns: u64,
    /// How many.
    pub n: u64,
    /// All together.
    pub total_ns: u64,
    /// The longest.
    pub longest_ns: u64,
    /// Who waited longest for what, as a sentence.
    pub longest: Option<String>,
}

/// What a task's firings cost: a sample of its calls, each counted for the instances until the next one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TaskOutcome {
    /// Calls whose time was taken.
    pub n: u64,
    /// ns per firing, on average.
    pub mean_ns: f64,
    /// ns per firing of a fast call: a tenth of all were faster.
    #[serde(default)]
    pub fast_ns: f64,
    /// ns per firing in the first half of the instances.
    pub first_half_ns: f64,
    /// ns per firing in the second half of the instances.
    pub second_half_ns: f64,
}

impl TaskOutcome {
    /// From (first instance, ns per firing) of calls in their order, in a stream of `instances`; `None` without any.
    pub(crate) fn of(samples: &[(u64, f64)], instances: u64) -> Option<TaskOutcome> {
        let half = instances / 2;
        let mean = |from: u64, to: u64| {
            let (mut sum, mut weight) = (0.0, 0.0);
            for (i, &(first, ns)) in samples.iter().enumerate() {
                // The first sample stands also for what was before it.
                let begin = if i == 0 { 0 } else { first };
                let end = samples.get(i + 1).map_or(instances, |next| next.0);
                let share = end.min(to).saturating_sub(begin.max(from)) as f64;
                sum += ns * share;
                weight += share;
            }
            if weight > 0.0 { sum / weight } else { 0.0 }
        };
        let mut sorted: Vec<f64> = samples.iter().map(|(_, ns)| *ns).collect();
        sorted.sort_by(f64::total_cmp);
        (!samples.is_empty()).then(|| TaskOutcome {
            n: samples.len() as u64,
            mean_ns: mean(0, instances.max(1)),
            fast_ns: quantile(&sorted, 0.1),
            first_half_ns: mean(0, half),
            second_half_ns: mean(half, instances.max(1)),
        })
    }
}

/// How fast an element computed: when its costs were profiled, before the run and after it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ElementSpeed {
    /// `null` where the application says nothing.
    pub profiled: Option<SpeedLook>,
    /// Just before the run.
    pub before: SpeedLook,
    /// Just after the run.
    pub after: SpeedLook,
}

/// What an element needed for a pass of each of three fixed kernels (integer, floating, memory), in ns; empty where it
/// could not be measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SpeedLook {
    /// While the other elements were idle.
    pub alone_ns: Vec<f64>,
    /// While the other used elements computed, too.
    pub together_ns: Vec<f64>,
}

/// A part of the period that is not as predicted.
///
/// The parts of the element that held up the stream add up to the whole difference: each has its `share`. What is told
/// of other elements has the share 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// What kind of cause; the book lists them.
    pub kind: String,
    /// The element, task or edge.
    pub subject: String,
    /// ns per instance that the plan counts for it.
    pub predicted_ns: f64,
    /// ns per instance that it took.
    pub measured_ns: f64,
    /// What it adds to the period, as a share of the predicted period; negative where it was faster.
    pub share: f64,
    /// A sentence.
    pub why: String,
}

/// Quantiles of a latency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Half is below.
    pub p50: f64,
    /// Nine tenths are below.
    pub p90: f64,
    /// All but a hundredth are below.
    pub p99: f64,
    /// Samples.
    pub n: u64,
}

impl Latency {
    pub(crate) fn of(mut ns: Vec<f64>) -> Option<Latency> {
        ns.sort_by(f64::total_cmp);
        (!ns.is_empty()).then(|| Latency {
            p50: quantile(&ns, 0.5),
            p90: quantile(&ns, 0.9),
            p99: quantile(&ns, 0.99),
            n: ns.len() as u64,
        })
    }
}

/// Steady throughput, per second: the median window, where it starts, and the windows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Steady {
    pub per_s: f64,
    pub after: u64,
    pub windows: Quantiles,
}

/// Start and drain that take more than this share of a run say that it is short.
const SHORT: f64 = 0.1;

/// Windows at most; each has the same number of instances, up to a batch.
const WINDOWS: usize = 64;
/// Fewer windows than this say nothing about a steady state.
const WINDOWS_MIN: usize = 5;

/// From the times at which a sink had taken so many instances.
pub(crate) fn steady(marks: &[(u64, u64)]) -> Option<Steady> {
    let (first, last) = (marks.first()?.0, marks.last()?.0);
    let target = ((last - first) / WINDOWS as u64).max(1);
    let mut windows: Vec<(u64, f64)> = Vec::new();
    let (mut from, mut from_ns) = marks[0];
    for &(instances, ns) in &marks[1..] {
        if instances - from >= target && ns > from_ns {
            windows.push((from, (instances - from) as f64 * 1e9 / (ns - from_ns) as f64));
            (from, from_ns) = (instances, ns);
        }
    }
    if windows.len() < WINDOWS_MIN {
        return None;
    }
    let median = Quantiles::of(windows.iter().map(|w| w.1).collect())?.p50;
    let start = windows.iter().position(|w| w.1 >= 0.9 * median)?;
    let windows_q = Quantiles::of(windows[start..].iter().map(|w| w.1).collect())?;
    Some(Steady { per_s: windows_q.p50, after: windows[start].0, windows: windows_q })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_start_and_a_stolen_moment_do_not_change_the_steady_throughput() {
        // 1 instance per us after 100 slow ones; one window loses 10 ms.
        let mut marks = vec![(0, 0), (100, 10_000_000)];
        for i in 1..=640u64 {
            let stolen = if i > 300 { 10_000_000 } else { 0 };
            marks.push((100 + i * 100, 10_000_000 + i * 100_000 + stolen));
        }
        let steady = steady(&marks).unwrap();
        assert!((steady.per_s - 1e6).abs() < 1.0, "{steady:?}");
        assert!(steady.after >= 100 && steady.after < 2000, "{steady:?}");
        assert!(steady.windows.min < 1e6);
    }

    #[test]
    fn a_sample_counts_for_the_instances_until_the_next() {
        let samples = [(0, 10.0), (10, 20.0), (20, 40.0), (90, 80.0)];
        let task = TaskOutcome::of(&samples, 100).unwrap();
        assert_eq!((task.n, task.mean_ns), (4, (100.0 + 200.0 + 70.0 * 40.0 + 800.0) / 100.0));
        assert_eq!(task.first_half_ns, (100.0 + 200.0 + 30.0 * 40.0) / 50.0);
        assert_eq!(task.second_half_ns, (40.0 * 40.0 + 800.0) / 50.0);
        assert_eq!(TaskOutcome::of(&[], 100), None);
        assert_eq!(TaskOutcome::of(&[(0, 5.0)], 1).unwrap().mean_ns, 5.0);
    }

    #[test]
    fn too_few_marks_say_nothing() {
        assert_eq!(steady(&[]), None);
        assert_eq!(steady(&[(1, 5), (2, 9)]), None);
    }
}
