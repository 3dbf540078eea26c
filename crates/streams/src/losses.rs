//! Where a run loses against its plan: the parts of the time of the element that was occupied longest, beside what the
//! plan counts for it.

use crate::spent::{END, PARTS, Spent, TimeSpent};
use run::{Difference, RunOutcome};
use work::Plan;
use work::plan::ContributionKind;

/// Ratios of achieved and predicted throughput that need no explanation.
const AS_PREDICTED: std::ops::RangeInclusive<f64> = 0.9..=1.1;
/// Parts of an element's time that the explanation leaves out.
const SMALL: f64 = 0.01;

/// The kind of difference that a part of an element's time is: that of the same wait on the host, or its name.
fn kind(part: Spent, name: &'static str) -> &'static str {
    match part {
        Spent::Data => "waiting for data",
        Spent::Room => "waiting for room",
        _ => name,
    }
}

/// Fills the differences and the explanation of `outcome` from what the element `name` spent its time on.
pub(crate) fn explain(outcome: &mut RunOutcome, plan: &Plan, name: &str, spent: &TimeSpent) {
    if outcome.instances == 0 {
        return;
    }
    let elapsed_ps = (outcome.elapsed_s * 1e12).round() as u64;
    let each = |ps: u64| ps as f64 / 1e3 / outcome.instances as f64;
    let computes =
        plan.contributions.iter().find(|c| c.kind == ContributionKind::Compute && c.subject == name);
    let tasks_ns = computes.map_or(0.0, |c| c.ns);
    let slack_ns = (plan.period_ns - tasks_ns).max(0.0);
    // The plan has the element wait when another one is the bottleneck: for whichever it waited longer.
    let slack = if spent.ps(Spent::Room) > spent.ps(Spent::Data) { Spent::Room } else { Spent::Data };
    let mut parts: Vec<(&str, &str, f64, f64)> = PARTS
        .iter()
        .map(|&(part, name, words)| {
            let predicted = match part {
                Spent::Tasks => tasks_ns,
                _ if part == slack => slack_ns,
                _ => 0.0,
            };
            (kind(part, name), words, predicted, each(spent.ps(part)))
        })
        .collect();
    parts.push(("drain", END.1, 0.0, each(spent.end_ps(elapsed_ps))));
    parts.retain(|p| p.2 > 0.0 || p.3 > 0.0);
    let period_ns = plan.period_ns.max(f64::MIN_POSITIVE);
    let elapsed_ns = each(elapsed_ps);
    let of_time = |ns: f64| format!("{:.1} %", 100.0 * ns / elapsed_ns.max(f64::MIN_POSITIVE));
    outcome.differences = parts
        .iter()
        .map(|&(kind, words, predicted_ns, measured_ns)| Difference {
            kind: kind.into(),
            subject: name.into(),
            predicted_ns,
            measured_ns,
            share: (measured_ns - predicted_ns) / period_ns,
            why: format!("{} of the time of {name} went to {words}", of_time(measured_ns)),
        })
        .collect();
    outcome.differences.sort_by(|a, b| b.share.abs().total_cmp(&a.share.abs()));
    if let Some(planned) = plan.contributions.first().filter(|c| c.subject != name) {
        outcome.differences.push(Difference {
            kind: "bottleneck".into(),
            subject: plan.bottleneck.clone(),
            predicted_ns: planned.ns,
            measured_ns: planned.ns,
            share: 0.0,
            why: format!("the plan's bottleneck is {}, and {name} was occupied longest", plan.bottleneck),
        });
    }
    if !AS_PREDICTED.contains(&outcome.ratio) {
        parts.sort_by(|a, b| b.3.total_cmp(&a.3));
        let told = parts.iter().filter(|p| p.3 >= SMALL * elapsed_ns);
        let told: Vec<String> = told.map(|p| format!("{} {}", of_time(p.3), p.1)).collect();
        outcome.explanation = format!(
            "{name} was occupied longest and took {:.2} us per instance, where the plan counts {:.2} us: {}.",
            elapsed_ns / 1e3,
            plan.period_ns / 1e3,
            told.join(", ")
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spent::Idle;
    use work::plan::Contribution;

    #[test]
    fn the_parts_beside_the_plan_add_up_to_the_whole_difference() {
        let mut spent = TimeSpent::default();
        spent.idled(Idle::Others, 1_000_000);
        spent.fires(Spent::Data, 1_000_000);
        spent.fired(500_000, 1_600_000);
        spent.idled(Idle::Transfers, 1_900_000);
        spent.fires(Spent::Room, 1_950_000);
        spent.fired(500_000, 2_500_000);
        let (_, _, mut plan) = run::testing::chain(3, 64, 16, 1);
        plan.period_ns = 700.0;
        plan.contributions =
            vec![Contribution { kind: ContributionKind::Compute, subject: "SPE0".into(), ns: 600.0 }];
        let mut outcome = RunOutcome { instances: 2, elapsed_s: 3e-6, ratio: 0.47, ..RunOutcome::default() };
        explain(&mut outcome, &plan, "SPE0", &spent);
        let sum = |of: fn(&Difference) -> f64| outcome.differences.iter().map(of).sum::<f64>();
        assert!((sum(|d| d.predicted_ns) - 700.0).abs() < 1e-9, "{:#?}", outcome.differences);
        assert!((sum(|d| d.measured_ns) - 1500.0).abs() < 1e-9, "{:#?}", outcome.differences);
        assert!((sum(|d| d.share) - 800.0 / 700.0).abs() < 1e-9);
        assert!(outcome.explanation.starts_with("SPE0 was occupied longest and took 1.50 us per instance"));
        assert!(
            outcome.explanation.contains("10.0 % waiting for transfers under way"),
            "{}",
            outcome.explanation
        );
    }
}
