//! What a run has to say: predicted beside achieved.

use ground::{Quantiles, quantile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The result of a run, as its JSON holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// Steady-state: the median over windows of equal numbers of instances, from `steady_after` on. A run that is too
    /// short for windows: instances / elapsed_s.
    pub throughput_per_s: f64,
    /// The plan's.
    pub predicted_per_s: f64,
    /// `throughput_per_s / predicted_per_s`.
    pub ratio: f64,
    /// Instances after which the throughput is steady: the start of the first window that reaches nine tenths of the
    /// median.
    pub steady_after: u64,
    /// Throughput of the windows from `steady_after` on, per second.
    pub windows_per_s: Option<Quantiles>,
    /// One per used element, in the machine's order.
    pub elements: Vec<ElementOutcome>,
    /// From a source's start on a sampled batch to the end of the sink's batch that holds its first instance.
    pub latency_ns: Option<Latency>,
    /// Whether every worker was pinned to its cpu.
    pub pinned: bool,
    /// Why not, one sentence per element.
    pub not_pinned: Vec<String>,
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
    /// Things worth saying.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The computer that it ran on.
    pub identity: BTreeMap<String, String>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// What an element's worker did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ElementOutcome {
    /// The element's name.
    pub name: String,
    /// ns that it was not waiting.
    pub busy_ns: u64,
    /// ns that it was waiting.
    pub idle_ns: u64,
    /// Firings of its tasks, all together.
    pub firings: u64,
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
    pub throughput_per_s: f64,
    pub after: u64,
    pub windows: Quantiles,
}

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
    Some(Steady { throughput_per_s: windows_q.p50, after: windows[start].0, windows: windows_q })
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
        assert!((steady.throughput_per_s - 1e6).abs() < 1.0, "{steady:?}");
        assert!(steady.after >= 100 && steady.after < 2000, "{steady:?}");
        assert!(steady.windows.min < 1e6);
    }

    #[test]
    fn too_few_marks_say_nothing() {
        assert_eq!(steady(&[]), None);
        assert_eq!(steady(&[(1, 5), (2, 9)]), None);
    }
}
