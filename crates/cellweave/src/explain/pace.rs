//! How much slower an element computed than when it was profiled: from its tasks, and from its fixed kernels.

use super::account::Account;
use run::{ElementSpeed, SpeedLook};

/// Tasks with less than this share of an element's time say nothing about its speed.
const SIGNIFICANT: f64 = 0.05;
/// Tasks whose slow-downs differ by no more than this share are alike.
const ALIKE: f64 = 0.2;
/// What the fixed kernels of a cpu that does not change differ by at most.
pub(super) const STEADY: f64 = 1.15;

/// What is known about an element's speed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pace {
    /// The factor by which its tasks are taken to be slower than their costs because of the element; 1: not at all.
    pub factor: f64,
    /// Whether more than one task says something about it.
    pub several: bool,
    /// Whether all of several tasks were slower by that factor.
    pub alike: bool,
    /// Whether the fixed kernels were slower, too.
    pub seen: bool,
    /// Whether they were slower alone: another user of the core, or a lower clock.
    pub alone: f64,
    /// How many times longer they took together than alone, now.
    pub together: f64,
    /// Least and most of what they were slower by, as the run used them.
    pub range: Option<(f64, f64)>,
}

/// The pace of an element; `several` elements computed. It is beside the speeds just before the run where these were
/// `foreseen`, else beside those of the profile.
pub(super) fn pace(account: &Account, speed: Option<&ElementSpeed>, several: bool, foreseen: bool) -> Pace {
    let now = |look: &SpeedLook| if several { look.together_ns.clone() } else { look.alone_ns.clone() };
    let mut range: Option<(f64, f64)> = None;
    let (mut alone, mut together) = (1.0f64, 1.0f64);
    if let Some(ElementSpeed { profiled, before, after }) = speed {
        // Costs are measured while the other elements are idle.
        let profiled = profiled.as_ref().map(|then| (&then.alone_ns, then.alone_ns.clone()));
        let then = if foreseen { Some((&before.alone_ns, now(before))) } else { profiled };
        for look in [before, after] {
            together = ratios(&look.together_ns, &look.alone_ns).fold(together, f64::max);
            let Some((then_alone, then_used)) = &then else { continue };
            alone = ratios(&look.alone_ns, then_alone).fold(alone, f64::max);
            for ratio in ratios(&now(look), then_used) {
                let (least, most) = range.unwrap_or((ratio, ratio));
                range = Some((least.min(ratio), most.max(ratio)));
            }
        }
    }
    let weighted = slow_downs(account);
    let tasks = middle(&weighted);
    let slower: Vec<f64> = weighted.iter().map(|(slower, _)| *slower).collect();
    let alike =
        slower.len() > 1 && slower.iter().all(|r| (r / tasks - 1.0).abs() <= ALIKE) && tasks.is_finite();
    let (least, most) = range.map_or((1.0, 1.0), |(least, most)| (least.min(1.0), most.max(1.0)));
    let within = |r: f64| (least / STEADY..=most * STEADY).contains(&r);
    let factor = match slower.as_slice() {
        [] => 1.0,
        // One task alone, or several that differ: no further than the fixed kernels go.
        [only] if within(*only) => *only,
        _ if alike => tasks,
        _ => tasks.clamp(least, most),
    };
    Pace {
        factor,
        several: slower.len() > 1,
        alike,
        seen: range.is_some() && within(factor),
        alone,
        together,
        range,
    }
}

/// By how much each significant task is slower than its cost, and its cost in ns. Those without data of other elements,
/// if there are any: the others also move lines.
fn slow_downs(account: &Account) -> Vec<(f64, f64)> {
    let costs_ns: f64 = account.tasks.iter().map(|t| t.cost_ns).sum();
    let measured_ns: f64 = account.tasks.iter().map(|t| t.measured_ns).sum();
    let crossing = account.tasks.iter().filter(|t| t.crossing_bytes > 0).count().max(1) as f64;
    let of = |inside: bool| -> Vec<(f64, f64)> {
        (account.tasks.iter())
            .filter(|t| (t.crossing_bytes == 0) == inside && t.cost_ns > 0.0)
            .filter(|t| t.cost_ns >= SIGNIFICANT * costs_ns || t.measured_ns >= SIGNIFICANT * measured_ns)
            .map(|t| {
                let moved_ns = if inside { 0.0 } else { account.hand_over_ns / crossing };
                ((t.measured_ns - moved_ns).max(t.measured_ns / 2.0) / t.cost_ns, t.cost_ns)
            })
            .collect()
    };
    let inside = of(true);
    if inside.is_empty() { of(false) } else { inside }
}

fn ratios(now: &[f64], then: &[f64]) -> impl Iterator<Item = f64> {
    let pairs: Vec<f64> = now.iter().zip(then).filter(|(_, t)| **t > 0.0).map(|(n, t)| n / t).collect();
    pairs.into_iter()
}

/// The slow-down in the middle of all time that the costs count: a task of few ns does not outweigh a long one.
fn middle(weighted: &[(f64, f64)]) -> f64 {
    let mut sorted = weighted.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half_ns: f64 = sorted.iter().map(|(_, cost_ns)| cost_ns).sum::<f64>() / 2.0;
    let mut sum_ns = 0.0;
    let reached = sorted.iter().find(|(_, cost_ns)| {
        sum_ns += cost_ns;
        sum_ns >= half_ns
    });
    reached.map_or(f64::NAN, |(slower, _)| *slower)
}
