//! What the costs that a plan counts rest on: whether they were measured, how long ago, and how steady they were.

use crate::{Graph, ProfiledCost, TaskId};
use serde::{Deserialize, Serialize};

/// A cost that differs from its measured median by more than this share was written by hand.
const ROUNDING: f64 = 0.02;
/// A cost spreads widely when nine tenths of its calls reach so many times what a tenth does.
const WIDE: f64 = 1.5;
/// A cost with less than this share of all costs is not named: it decides nothing.
const NAMED: f64 = 0.05;

/// What costs rest on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CostBasis {
    /// Costs that `cellweave profile` measured.
    pub measured: u64,
    /// Costs that were written by hand, or changed since they were measured.
    pub given: u64,
    /// Costs of which the application does not say when they were measured: an older version measured them.
    pub undated: u64,
    /// When the oldest of the measured ones was measured, as [`ground::utc`] writes it.
    pub oldest: Option<String>,
    /// When the newest was.
    pub newest: Option<String>,
    /// The computer that was measured.
    pub computer: Option<String>,
    /// A tenth of the calls took less than so many times the median; all measured costs together.
    pub p10: Option<f64>,
    /// Nine tenths took less than so many times the median.
    pub p90: Option<f64>,
    /// Costs that spread widely, and are a twentieth of all costs at least; the widest first.
    pub unsteady: Vec<UnsteadyCost>,
    /// Whose costs stand for those that the application does not have, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_in: Option<String>,
}

/// A cost that spreads widely.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnsteadyCost {
    /// The task.
    pub task: String,
    /// The kind of element.
    pub kind: String,
    /// ns that a tenth of the calls stayed below, per firing.
    pub p10_ns: f64,
    /// ns that half of the calls stayed below.
    pub p50_ns: f64,
    /// ns that nine tenths of the calls stayed below.
    pub p90_ns: f64,
}

impl CostBasis {
    /// Of the costs of some tasks of `graph`, each on a kind of element. A pair without a cost does not count.
    pub fn of<'a>(graph: &'a Graph, on: impl Iterator<Item = (TaskId, &'a str)>) -> CostBasis {
        let mut basis = CostBasis::default();
        let profile = graph.profile.as_ref();
        let (mut all_ns, mut p10_ns, mut p50_ns, mut p90_ns) = (0.0, 0.0, 0.0, 0.0);
        let mut found: Vec<(&str, &str, &ProfiledCost)> = Vec::new();
        for (task, kind) in on {
            let task = &graph.tasks[task];
            let Some(cost_ns) = task.cost_on(kind) else { continue };
            all_ns += cost_ns;
            let costs = profile.and_then(|p| p.costs.get(kind));
            let as_measured =
                |cost: &&ProfiledCost| (cost_ns - cost.ns.p50).abs() <= ROUNDING * cost.ns.p50.max(cost_ns);
            match (costs, profile) {
                (None, Some(profile)) if profile.totals_ns.contains_key(kind) => basis.undated += 1,
                (Some(costs), _) => match costs.get(&task.name).filter(as_measured) {
                    Some(cost) => found.push((&task.name, kind, cost)),
                    None => basis.given += 1,
                },
                _ => basis.given += 1,
            }
        }
        for (_, _, cost) in &found {
            p10_ns += cost.ns.p10;
            p50_ns += cost.ns.p50;
            p90_ns += cost.ns.p90;
        }
        let dates = || found.iter().map(|(_, _, cost)| cost.measured.clone());
        (basis.measured, basis.oldest, basis.newest) = (found.len() as u64, dates().min(), dates().max());
        let median = |ns: f64| (p50_ns > 0.0).then(|| ns / p50_ns);
        (basis.p10, basis.p90) = (median(p10_ns), median(p90_ns));
        if basis.measured + basis.undated > 0 {
            basis.computer = profile.map(|p| p.machine.clone());
        }
        let wide = |cost: &ProfiledCost| cost.ns.p90 > WIDE * cost.ns.p10 && cost.ns.p50 >= NAMED * all_ns;
        basis.unsteady = (found.iter())
            .filter(|(_, _, cost)| wide(cost))
            .map(|&(task, kind, cost)| UnsteadyCost {
                task: task.into(),
                kind: kind.into(),
                p10_ns: cost.ns.p10,
                p50_ns: cost.ns.p50,
                p90_ns: cost.ns.p90,
            })
            .collect();
        // No quotient: the tenth can be 0.
        basis.unsteady.sort_by(|a, b| (b.p90_ns * a.p10_ns).total_cmp(&(a.p90_ns * b.p10_ns)));
        basis
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Profile, Task};
    use ground::Quantiles;

    const EARLY: &str = "2026-01-01T00:00:00Z";
    const LATE: &str = "2026-01-02T00:00:00Z";

    /// Three tasks of 100 ns; the costs of `a` and `b` are dated, and those of `b` spread.
    fn graph() -> Graph {
        let cost = |measured: &str, p10, p90| ProfiledCost {
            measured: measured.into(),
            ns: Quantiles { n: 9, min: p10, p10, p50: 100.0, p90 },
        };
        let task = |name: &str| Task {
            name: name.into(),
            cost_ns: [("core".to_string(), 100.0)].into(),
            ..Task::default()
        };
        let costs = [("a".to_string(), cost(LATE, 90.0, 110.0)), ("b".to_string(), cost(EARLY, 50.0, 150.0))];
        Graph {
            tasks: vec![task("a"), task("b"), task("c")],
            profile: Some(Profile {
                machine: "here".into(),
                costs: [("core".to_string(), costs.into())].into(),
                ..Profile::default()
            }),
            ..Graph::default()
        }
    }

    fn of(graph: &Graph) -> CostBasis {
        CostBasis::of(graph, (0..3).map(|t| (t, "core")))
    }

    #[test]
    fn measured_costs_have_dates_and_a_spread_and_the_others_are_counted() {
        let basis = of(&graph());
        assert_eq!((basis.measured, basis.given, basis.undated), (2, 1, 0));
        assert_eq!((basis.oldest.as_deref(), basis.newest.as_deref()), (Some(EARLY), Some(LATE)));
        assert_eq!((basis.p10, basis.p90, basis.computer.as_deref()), (Some(0.7), Some(1.3), Some("here")));
        let unsteady: Vec<&str> = basis.unsteady.iter().map(|c| c.task.as_str()).collect();
        assert_eq!(unsteady, ["b"]);
    }

    #[test]
    fn a_cost_that_was_changed_since_is_given_by_hand() {
        let mut graph = graph();
        graph.tasks[1].cost_ns.insert("core".into(), 200.0);
        let basis = of(&graph);
        assert_eq!((basis.measured, basis.given, basis.unsteady.len()), (1, 2, 0));
    }

    #[test]
    fn costs_of_an_older_version_have_no_date() {
        let mut graph = graph();
        let profile = graph.profile.as_mut().unwrap();
        profile.costs.clear();
        profile.totals_ns.insert("core".into(), 300.0);
        let basis = of(&graph);
        assert_eq!((basis.undated, basis.given, basis.oldest.as_deref()), (3, 0, None));
        graph.profile = None;
        assert_eq!(of(&graph), CostBasis { given: 3, ..CostBasis::default() });
    }

    #[test]
    fn a_small_task_that_spreads_is_not_named() {
        let mut graph = graph();
        for task in [0, 2] {
            graph.tasks[task].cost_ns.insert("core".into(), 10_000.0);
        }
        assert_eq!(of(&graph).unsteady, []);
    }
}
