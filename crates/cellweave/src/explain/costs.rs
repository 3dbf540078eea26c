//! Whether the costs of an application are those that were measured here.

use machine::Machine;
use std::collections::BTreeMap;
use work::Graph;

/// Costs that differ from the profiled ones by more than rounding were written by hand.
const ROUNDING: f64 = 0.02;

/// Where the costs come from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Origin {
    /// `profile` measured them on this computer.
    Measured,
    /// Nobody measured them, or on another computer, or they were changed since.
    Other(String),
}

impl Origin {
    /// Of the costs of `graph`, as seen from the computer `here`.
    pub(super) fn of(graph: &Graph, machine: &Machine, here: &str) -> Origin {
        let Some(profile) = &graph.profile else {
            return Origin::Other("the costs were given by hand, not measured".into());
        };
        if !profile.machine.starts_with(here) {
            return Origin::Other(format!(
                "the costs were measured on another computer ({})",
                profile.machine
            ));
        }
        for kind in machine.kinds() {
            let costs: Option<f64> = graph.tasks.iter().map(|t| t.cost_on(kind)).sum();
            let (Some(costs), Some(&total)) = (costs, profile.totals_ns.get(kind)) else { continue };
            if (costs - total).abs() > ROUNDING * total.max(f64::MIN_POSITIVE) {
                return Origin::Other(format!(
                    "the costs in the application add up to {}, and {} were measured: they were changed since",
                    super::words::time(costs),
                    super::words::time(total)
                ));
            }
        }
        Origin::Measured
    }

    /// What is wrong with the costs, as a clause.
    pub(super) fn why(&self) -> Option<&str> {
        match self {
            Origin::Measured => None,
            Origin::Other(why) => Some(why),
        }
    }
}

/// A computer in words, from the identity in a result: `AMD EPYC, 2 cpus`.
pub(crate) fn computer(identity: &BTreeMap<String, String>) -> String {
    let of = |key: &str| identity.get(key).map_or("unknown", String::as_str);
    format!("{}, {} cpus", of("cpu_model"), of("cpus").split(',').count())
}
