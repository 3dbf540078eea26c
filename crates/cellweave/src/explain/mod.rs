//! Why a run was not as fast as predicted: the time of the element that held up the stream, part by part, beside what
//! the plan counts.
//!
//! | module | what it does |
//! |---|---|
//! | `look` | how fast elements compute at some moment |
//! | `foresee` | what the plan predicts with the speeds just before the run |
//! | `account` | where the time of an element went |
//! | `pace` | how much slower an element computed than when it was profiled |
//! | `costs` | whether the application's costs are those that were profiled here |
//! | `waits` | what the element waited for, and why it had to |
//! | `words` | rates, times and shares as people read them |
//!
//! The element that held up the stream is the one that was busy longest. Its time per instance is the whole period:
//! kernels, what is between them, what others took of its cpu, and waits. Each part is compared with the plan's, so
//! that the parts add up to the difference; what is left over is called unexplained.

mod account;
mod costs;
mod foresee;
mod look;
mod pace;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;
mod waits;
mod words;

pub(crate) use costs::computer;
pub(crate) use foresee::foresee;
pub(crate) use look::{LOOKS, LOOKS_AGAIN, Look};

use account::{Account, TaskAccount, accounts};
use costs::Origin;
use machine::Machine;
use machine::handover::LINE_BYTES;
use pace::Pace;
use run::{Difference, RunOutcome, WaitFor};
use std::collections::BTreeMap;
use work::plan::ContributionKind;
use work::{Graph, Plan};

/// A difference that is smaller than this share of the predicted period is not listed by itself.
const LISTED: f64 = 0.01;
/// Ratios from here to there need no explanation.
const AS_PREDICTED: std::ops::RangeInclusive<f64> = 0.9..=1.1;
/// What the explanation names is at least this share of the predicted period.
const NAMED: f64 = 0.05;
/// A process that grew by so many times an element's cache has data that leave it; stacks and heaps grow by less.
const GROWN: u64 = 4;

/// Fills in `speeds`, `differences` and `explanation` of `outcome`. `plan` is what was predicted just before the run,
/// and `factors` how many times longer than their costs the tasks of each element were expected to take; without them,
/// the plan's own prediction.
pub(crate) fn explain(
    graph: &Graph,
    machine: &Machine,
    plan: &Plan,
    factors: Option<&BTreeMap<String, f64>>,
    (before, after): (&Look, &Look),
    outcome: &mut RunOutcome,
) {
    outcome.speeds = look::speeds(graph.profile.as_ref().map(|p| &p.speeds), before, after);
    if outcome.instances == 0 || plan.period_ns <= 0.0 {
        return;
    }
    let prices = model::Prices::new(machine, graph);
    let origin = Origin::of(graph, machine, &computer(&outcome.identity));
    let report = Report { graph, machine, plan, factors, outcome, origin, prices };
    let differences = report.differences();
    let explanation = report.explanation(&differences);
    outcome.differences = differences;
    outcome.explanation = explanation;
}

/// What the parts of an explanation look at.
struct Report<'a> {
    graph: &'a Graph,
    machine: &'a Machine,
    plan: &'a Plan,
    factors: Option<&'a BTreeMap<String, f64>>,
    outcome: &'a RunOutcome,
    origin: Origin,
    /// What lines cost that come from another core: beyond it, a task itself is slower.
    prices: model::Prices,
}

/// The parts that have been found.
struct Parts {
    period_ns: f64,
    list: Vec<Difference>,
    /// What all parts, listed or not, add to the period.
    found_ns: f64,
}

impl Parts {
    /// A part of the element that held up the stream.
    fn add(&mut self, kind: &str, subject: &str, predicted_ns: f64, measured_ns: f64, why: String) {
        let share = (measured_ns - predicted_ns) / self.period_ns;
        self.found_ns += measured_ns - predicted_ns;
        if share.abs() >= LISTED {
            let (kind, subject) = (kind.to_string(), subject.to_string());
            self.list.push(Difference { kind, subject, predicted_ns, measured_ns, share, why });
        }
    }
}

impl Report<'_> {
    fn differences(&self) -> Vec<Difference> {
        let accounts = accounts(self.graph, self.machine, self.plan, self.factors, self.outcome);
        let Some(held_up) = accounts.iter().max_by(|a, b| a.busy_ns.total_cmp(&b.busy_ns)) else {
            return Vec::new();
        };
        let measured_ns = 1e9 / self.outcome.throughput_per_s;
        let mut parts = Parts { period_ns: self.plan.period_ns, list: Vec::new(), found_ns: 0.0 };
        let shared_ns = self.shared_ns(held_up);
        self.computing(held_up, accounts.len() > 1, shared_ns, &mut parts);
        self.taken(held_up, &mut parts);
        self.waiting(held_up, &accounts, shared_ns, measured_ns, &mut parts);
        let left_ns = measured_ns - self.plan.period_ns - parts.found_ns;
        let why = "No part of the measured time tells what this is.".to_string();
        parts.add("unexplained", &self.outcome.application, 0.0, left_ns, why);
        parts.list.sort_by(|a, b| b.share.abs().total_cmp(&a.share.abs()));
        for account in accounts.iter().filter(|a| a.outcome.name != held_up.outcome.name) {
            let mut others = Parts { period_ns: self.plan.period_ns, list: Vec::new(), found_ns: 0.0 };
            self.computing(account, true, 0.0, &mut others);
            self.taken(account, &mut others);
            parts.list.extend(others.list.into_iter().map(|d| Difference { share: 0.0, ..d }));
        }
        parts.list
    }

    /// What the plan counts beyond an element's own time because cpus slow each other down, where that is its
    /// bottleneck.
    fn shared_ns(&self, account: &Account) -> f64 {
        let bottleneck = self.plan.contributions.first().map(|c| c.kind);
        let shared = matches!(bottleneck, Some(ContributionKind::Capacity | ContributionKind::Quota));
        if shared { (self.plan.period_ns - account.predicted_ns).max(0.0) } else { 0.0 }
    }

    /// Kernels, and moving data to and from other elements.
    fn computing(&self, account: &Account, several: bool, shared_ns: f64, parts: &mut Parts) {
        let name = &account.outcome.name;
        let pace = pace::pace(account, self.outcome.speeds.get(name), several, self.factors.is_some());
        let costs_ns: f64 = account.tasks.iter().map(|t| t.cost_ns).sum();
        let (kind, why) = match costs_ns * pace.factor {
            slowed_ns
                if shared_ns > 0.0 && slowed_ns < costs_ns + shared_ns && self.origin.why().is_none() =>
            {
                let counted = words::times((costs_ns + shared_ns) / costs_ns.max(f64::MIN_POSITIVE));
                let took = words::times(pace.factor);
                let what = format!("{name} took {took} its costs; the plan counts {counted}");
                ("speed", format!("{what}, because the used cpus slow each other down."))
            }
            _ => self.slower(account, &pace),
        };
        parts.add(kind, name, costs_ns + shared_ns, costs_ns * pace.factor, why);
        let (mut moved_ns, mut few, mut few_ns) = (account.outside_ns, 0, 0.0);
        for task in &account.tasks {
            let beyond_ns = task.measured_ns - task.cost_ns * pace.factor;
            let lines = task.crossing_bytes.div_ceil(LINE_BYTES) as f64;
            let most_ns = lines * self.prices.slowest_line_ns(task.least_bytes * self.plan.batch);
            let lines_ns = beyond_ns.clamp(0.0, most_ns);
            moved_ns += lines_ns;
            let own_ns = beyond_ns - lines_ns;
            if own_ns.abs() >= NAMED * self.plan.period_ns {
                let expected_ns = task.cost_ns * pace.factor;
                let (kind, why) = self.task(account, task, &pace, expected_ns + own_ns);
                parts.add(kind, task.name, expected_ns, expected_ns + own_ns, why);
            } else {
                few += 1;
                few_ns += own_ns;
            }
        }
        let why = format!("{few} tasks of {name} that differ little from their costs, all together.");
        let few_cost_ns = costs_ns.min(parts.period_ns);
        parts.add("task", &format!("{few} tasks of {name}"), few_cost_ns, few_cost_ns + few_ns, why);
        let why = format!(
            "{name} spent {} per instance on moving data to and from other elements; the plan counts {}.",
            words::time(moved_ns),
            words::time(account.hand_over_ns)
        );
        parts.add("hand-over", name, account.hand_over_ns, moved_ns, why);
    }

    /// The moment of the speeds that the prediction was made with.
    fn then(&self) -> &'static str {
        if self.factors.is_some() { "just before the run" } else { "when profiled" }
    }

    /// All tasks of an element are slower or faster: what kind of cause that is, and why.
    fn slower(&self, account: &Account, pace: &Pace) -> (&'static str, String) {
        let name = &account.outcome.name;
        let alike = if pace.alike { ", all tasks alike" } else { "" };
        let then = self.then();
        let what = format!("{name} computed {} than {then}{alike}", words::factor(pace.factor));
        if let Some(why) = self.origin.why() {
            return ("costs", format!("{name} took {} its costs{alike}: {why}.", words::times(pace.factor)));
        }
        let stolen = account.outcome.stolen_share.filter(|&s| s >= NAMED);
        let halves = words::halves(&account.tasks);
        if pace.factor < 1.0 {
            return ("speed", format!("{what}: the costs were measured while something slowed it down."));
        }
        if let Some(stolen) = stolen {
            return (
                "lost cpu",
                format!("{what}: the hypervisor gave {} of its cpu to others.", words::percent(stolen)),
            );
        }
        if pace.seen && pace.alone >= pace::STEADY {
            let kernels = words::times(pace.alone);
            return (
                "speed",
                format!(
                    "{what}: another user of the core or a lower clock; its fixed kernels took up to {kernels} \
                     as long, also alone."
                ),
            );
        }
        if pace.seen && pace.together >= pace::STEADY {
            return (
                "speed",
                format!(
                    "{what}: the used cpus slow each other down; together their fixed kernels take {} as long as \
                 alone.",
                    words::times(pace.together)
                ),
            );
        }
        if let Some(halves) = halves {
            return ("speed", format!("{what}, and not evenly ({halves}): the core changed during the run."));
        }
        if let Some(fast) = words::fast(&account.tasks) {
            return (
                "speed",
                format!("{what}, but not all the time ({fast}): another user of the core came and went."),
            );
        }
        let kernels = match pace.range {
            Some(_) if self.factors.is_some() => "its fixed kernels ran alike before and after the run",
            Some(_) => "its fixed kernels ran as when profiled, before and after the run",
            None => "how fast it was when profiled is not known",
        };
        ("unexplained", format!("{what}; {kernels}."))
    }

    /// One task is slower or faster than the others: what kind of cause that is, and why.
    fn task(
        &self,
        account: &Account,
        task: &TaskAccount,
        pace: &Pace,
        measured_ns: f64,
    ) -> (&'static str, String) {
        let (name, element) = (task.name, &account.outcome.name);
        let expected_ns = task.cost_ns * pace.factor;
        let what = format!(
            "Task {name} on {element} took {} per firing where its cost is {}",
            words::time(measured_ns),
            words::time(task.cost_ns)
        );
        if let Some(why) = self.origin.why() {
            return ("costs", format!("{what}: {why}."));
        }
        let aside = match pace.factor {
            factor if factor > pace::STEADY => ", more or less than the slower core explains",
            _ if pace.several => ", unlike the others",
            _ => "",
        };
        let own = words::halves(std::slice::from_ref(task)).map_or(String::new(), |h| format!(" ({h})"));
        let memory =
            self.machine.elements.iter().find(|e| e.name == *element).and_then(|e| e.memory.as_ref());
        let buffers = self.plan.buffers_bytes.get(element).copied().unwrap_or(0);
        if let Some(cache) = memory.filter(|m| !m.hard).map(|m| m.bytes).filter(|_| measured_ns > expected_ns)
        {
            let cache_text = words::bytes(cache);
            if self.outcome.grown_bytes > GROWN * cache {
                let grown = words::bytes(self.outcome.grown_bytes);
                return (
                    "cache",
                    format!(
                        "{what}{own}: its data left the cache; the process grew by {grown} during the run, and \
                     {element}'s cache holds {cache_text}."
                    ),
                );
            }
            if buffers > cache {
                return (
                    "cache",
                    format!(
                        "{what}{own}: its data left the cache; the buffers of {element} take {}, and its cache holds \
                     {cache_text}.",
                        words::bytes(buffers)
                    ),
                );
            }
        }
        let why = if measured_ns > expected_ns {
            "what it does depends on its data or on what it has kept"
        } else {
            "its cost was measured while something slowed it down, or depends on its data"
        };
        ("task", format!("{what}{aside}{own}: {why}."))
    }

    /// What others took of the element's cpu.
    fn taken(&self, account: &Account, parts: &mut Parts) {
        let name = &account.outcome.name;
        let elapsed_ns = 1e9 / self.outcome.throughput_per_s;
        let why = format!(
            "Other threads had the cpu of {name} for {} of the time; it lost it {} times.",
            words::percent(account.lost_ns / elapsed_ns),
            account.outcome.preempted
        );
        parts.add("lost cpu", name, 0.0, account.lost_ns, why);
        let why = format!(
            "The process stood still for {}, although no other program had its cpus: it was stopped, or the computer \
             was.",
            words::time(self.outcome.paused_ns as f64)
        );
        parts.add("paused", &self.outcome.application, 0.0, account.paused_ns, why);
    }

    /// What the element waited for, beside the time that the plan leaves it.
    fn waiting(
        &self,
        account: &Account,
        accounts: &[Account],
        shared_ns: f64,
        measured_ns: f64,
        parts: &mut Parts,
    ) {
        let name = &account.outcome.name;
        let mut free_ns = (self.plan.period_ns - account.predicted_ns - shared_ns).max(0.0);
        let mut predicted = |ns: f64| {
            let part_ns = free_ns.min(ns);
            free_ns -= part_ns;
            part_ns
        };
        for wait in &account.waits {
            let (WaitFor::Data | WaitFor::Room, Some(edge)) = (wait.what, wait.edge) else { continue };
            let (kind, why) = waits::why(self, account, accounts, wait, measured_ns);
            parts.add(kind, edge, predicted(wait.ns), wait.ns, why);
        }
        let source_ns = account.waited_for(WaitFor::Source);
        let why = format!("{name} waited for a source that had nothing to give.");
        parts.add("source", name, predicted(source_ns), source_ns, why);
        let bottleneck = &self.plan.bottleneck;
        let why = format!("The plan's bottleneck, {bottleneck}, did not hold up the stream.");
        parts.add("bottleneck", bottleneck, free_ns, 0.0, why);
        // A worker that starts later or ends earlier than another is not in its own time.
        let outside_ns = (measured_ns - account.busy_ns - account.waited_ns()).max(0.0);
        let start_ns = account.waited_for(WaitFor::Start) + outside_ns;
        let why = format!("{name} waited for its first instances: a longer run makes that smaller.");
        parts.add("start", name, 0.0, start_ns, why);
        let why = format!("{name} waited for the others at the end: a longer run makes that smaller.");
        parts.add("drain", name, 0.0, account.waited_for(WaitFor::End), why);
    }

    /// The largest differences in words, what the plan predicts with them, and what was achieved.
    fn explanation(&self, differences: &[Difference]) -> String {
        const MOST: usize = 3;
        if AS_PREDICTED.contains(&self.outcome.ratio) {
            return String::new();
        }
        let told = |d: &&Difference| d.share.abs() >= NAMED && d.kind != "unexplained";
        let named: Vec<&Difference> = differences.iter().filter(told).take(MOST).collect();
        let left: f64 = differences.iter().filter(|d| d.kind == "unexplained").map(|d| d.share).sum();
        let mut text: Vec<String> = named.iter().map(|d| d.why.clone()).collect();
        let with_ns = self.plan.period_ns * (1.0 + named.iter().map(|d| d.share).sum::<f64>());
        let achieved = words::rate(self.outcome.throughput_per_s);
        if named.is_empty() {
            text.push(format!(
                "The plan predicts {}; achieved {achieved}.",
                words::rate(self.outcome.predicted_per_s)
            ));
        } else {
            let with = words::rate(1e9 / with_ns.max(f64::MIN_POSITIVE));
            text.push(format!("With that the plan predicts {with}; achieved {achieved}."));
        }
        if left.abs() >= NAMED {
            let why: Vec<&str> = (differences.iter())
                .filter(|d| d.kind == "unexplained" && d.share.abs() >= LISTED)
                .map(|d| d.why.as_str())
                .collect();
            text.push(format!("Unexplained: {} of the period. {}", words::percent(left), why.join(" ")));
        }
        text.join(" ")
    }
}
