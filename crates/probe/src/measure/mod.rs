//! Does the experiments of the options, and says what their samples come to.

mod alone;
mod at_once;
mod exchanges;
mod sampling;
mod summary;

pub use at_once::AtOnce;

use crate::exchanges::ExchangeJob;
use crate::result::{Measurement, Probed};
use crate::targets::load;
use crate::{Fitted, HandoverGrid, ProbeJob, ProbeOptions, TargetError, axes, fit, handovers, together};
use alone::{Alone, Known};
use at_once::{Group, groups};
use host::stolen::Steal;
use machine::target::{Sample, Target};
use sampling::Sampling;

/// How far the work is.
#[derive(Debug, Clone, Copy)]
pub struct ProbeProgress<'a> {
    /// Experiments that are done.
    pub done: usize,
    /// All of them.
    pub total: usize,
    /// What is measured now: a pattern's name, or what else the machine file has.
    pub pattern: &'a str,
    /// Bytes of a transfer.
    pub size_bytes: u32,
    /// Transfers in flight.
    pub buffers: u32,
    /// ns that all experiments will take, at least and at most; `None` where that was not looked at.
    pub expected_ns: Option<[u64; 2]>,
}

/// Samples that are taken before it is known how long one takes, where their number is given: usually all.
const SAMPLES_FIRST: u32 = 30;
/// How often to look whether to go on.
const LOOK_NS: u64 = 250_000_000;

/// Measures on the target that `spec` means, and fits a machine to it where that was asked for. A measurement that was
/// stopped gives no machine.
///
/// # Errors
/// As [`load`], [`measure`] and [`fit`].
pub fn probe(
    spec: &str,
    options: &ProbeOptions,
    progress: &mut dyn FnMut(&ProbeProgress) -> bool,
) -> Result<(Probed, Option<Fitted>), TargetError> {
    let mut target = load(&options.spec(spec)?, &options.choices())?;
    let probed = measure(target.as_mut(), options, progress)?;
    if !options.machine_file || probed.stopped {
        return Ok((probed, None));
    }
    let mut fitted = fit(target.machine(), &probed)?;
    if !target.is_exact() && !computer(&mut fitted, progress) {
        return Ok((Probed { stopped: true, ..probed }, None));
    }
    Ok((probed, Some(fitted)))
}

/// What a machine file says of a computer beside its transfers: the curve of hand-overs, and how much cpus slow each
/// other down. Says false when `progress` did.
fn computer(fitted: &mut Fitted, progress: &mut dyn FnMut(&ProbeProgress) -> bool) -> bool {
    const PARTS: usize = 100;
    let mut tell = |pattern: &'static str, share: f64| {
        let done = (share * PARTS as f64) as usize;
        progress(&ProbeProgress { done, total: PARTS, pattern, size_bytes: 0, buffers: 0, expected_ns: None })
    };
    let machine = &mut fitted.machine;
    let Some(handovers) = handovers(machine, HandoverGrid::FULL, &mut |part| tell("hand-overs", part)) else {
        return false;
    };
    let Some(together) = together(machine, &mut |part| tell("all together", part)) else { return false };
    (machine.handovers, machine.together) = (handovers, together);
    for curve in &machine.handovers {
        let (shares, points) = (curve.shares.name(), curve.points.len());
        fitted.notes.push(format!("hand-overs of pairs that share {shares}: {points} points"));
    }
    fitted.notes.extend(machine.together.iter().map(|group| group.in_words(machine)));
    true
}

/// Measures as `options` say. When `progress` returns false, the result has the measurements so far, and says
/// that it was stopped.
///
/// # Errors
/// The first fault of the options, before anything is measured; or what went wrong.
pub fn measure(
    target: &mut dyn Target,
    options: &ProbeOptions,
    progress: &mut dyn FnMut(&ProbeProgress) -> bool,
) -> Result<Probed, TargetError> {
    let jobs = options.jobs(target)?;
    let exchanges = options.exchanges(target)?;
    let total = jobs.len() + exchanges.len();
    let sampling = Sampling::of(options, target.is_exact(), total);
    let steal = (!target.is_exact()).then(Steal::start);
    let (groups, at_once) = groups(target, &jobs)?;
    let expected_ns = expected_ns(target, &jobs, &groups, &exchanges, sampling)?;
    let mut known = Known::new();
    let mut found: Vec<Option<Measurement>> = vec![None; jobs.len()];
    let mut probed = Probed {
        machine: target.machine().name.clone(),
        target: target.describe(),
        exact: target.is_exact(),
        timer: target.timer().name.into(),
        timer_hz: target.timer().hz,
        seed: options.seed,
        stopped: false,
        stolen_share: None,
        quota_cpus: target.machine().quota_cpus,
        identity: identity(target),
        elements: axes::places(target.machine()),
        at_once,
        measurements: Vec::new(),
        exchanges: Vec::new(),
    };
    let mut done = 0;
    // A stop is said once: Ctrl-C is not repeated.
    let mut go_on = |probed: &mut Probed, done, pattern: &str, (size_bytes, buffers)| {
        let state = ProbeProgress { done, total, pattern, size_bytes, buffers, expected_ns };
        probed.stopped = probed.stopped || !progress(&state);
        !probed.stopped
    };
    for group in &groups {
        let job = &jobs[group.jobs[0]];
        let point = (job.experiment.size_bytes, job.experiment.buffers);
        if !go_on(&mut probed, done, &job.pattern, point) {
            break;
        }
        let mut again = || go_on(&mut probed, done, &job.pattern, point);
        let samples = sampled(target, group, sampling, &mut known, &mut again)?;
        for (place, &at) in group.jobs.iter().enumerate() {
            found[at] = Some(summary::measurement(&jobs[at], target, group, place, &samples)?);
        }
        done += group.jobs.len();
    }
    for (at, job) in exchanges.iter().enumerate() {
        let point = (host::stream::LINE_BYTES as u32, 1);
        if probed.stopped || !go_on(&mut probed, jobs.len() + at, job.pattern, point) {
            break;
        }
        probed.exchanges.push(exchanges::measure(target, job, sampling)?);
    }
    probed.measurements = found.into_iter().flatten().collect();
    probed.stolen_share = steal.and_then(|s| s.share());
    Ok(probed)
}

/// The samples of a group, and of its transfers alone.
struct Samples {
    found: Vec<Sample>,
    alone: Option<Alone>,
}

/// Whether nothing disturbed a sample.
fn is_clean(sample: &Sample) -> bool {
    sample.disturbed.is_empty() && sample.stolen.is_empty() && sample.unsteady.is_empty()
}

/// Takes samples until they are enough, some at a time, so that a long measurement can be stopped; there is at least
/// one.
fn sampled(
    target: &mut dyn Target,
    group: &Group,
    sampling: Sampling,
    known: &mut Known,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Samples, TargetError> {
    let experiment = &group.experiment;
    let alone = if group.jobs.len() == 1 { Alone::of(experiment) } else { None };
    let mut samples = Samples { found: Vec::new(), alone };
    let adaptive = sampling.least < sampling.most;
    let mut some = if adaptive { sampling.least } else { sampling.most.min(SAMPLES_FIRST) };
    loop {
        let start_ns = now_ns(target);
        samples.found.extend(target.measure(experiment, some)?);
        if let Some(alone) = &mut samples.alone {
            alone.measure(target, experiment, some, known)?;
        }
        let left = sampling.most.saturating_sub(samples.found.len() as u32);
        if left == 0 || (adaptive && enough(group, &samples.found, sampling)) || !go_on() {
            return Ok(samples);
        }
        let each_ns = now_ns(target).saturating_sub(start_ns) / u64::from(some.max(1));
        let fitting = u32::try_from(LOOK_NS / each_ns.max(1)).unwrap_or(u32::MAX).max(1);
        some = left.min(if adaptive { fitting.min(sampling.least) } else { fitting });
    }
}

/// Whether the medians of nine tenths of the group's jobs are known well enough.
fn enough(group: &Group, found: &[Sample], sampling: Sampling) -> bool {
    let known = |place: usize| {
        let parts = found.iter().map(|s| group.part(s, place)).filter(is_clean);
        sampling.enough(&parts.map(|s| s.bytes_per_s()).collect::<Vec<_>>())
    };
    (0..group.jobs.len()).filter(|&place| known(place)).count() * 10 >= group.jobs.len() * 9
}

/// The target's own time, or that of this computer.
fn now_ns(target: &dyn Target) -> u64 {
    target.passed_ns().unwrap_or_else(host::now_ns)
}

/// What all will take, at least and at most: one group of each pattern and point is tried, where there are more to
/// come.
fn expected_ns(
    target: &mut dyn Target,
    jobs: &[ProbeJob],
    groups: &[Group],
    exchanges: &[ExchangeJob],
    sampling: Sampling,
) -> Result<Option<[u64; 2]>, TargetError> {
    /// Samples of a try at most.
    const TRIED_MOST: u32 = 10;
    let tried = sampling.least.min(TRIED_MOST);
    if target.is_exact() {
        return Ok(None);
    }
    let kind = |group: &Group| {
        let job = &jobs[group.jobs[0]];
        (job.pattern.clone(), job.experiment.size_bytes, job.experiment.buffers)
    };
    let mut kinds = std::collections::BTreeMap::new();
    for group in groups {
        let (count, _) = kinds.entry(kind(group)).or_insert((0u64, group));
        *count += 1;
    }
    let mut sample_ns = 0;
    for (count, group) in kinds.into_values() {
        let start_ns = now_ns(target);
        target.measure(&group.experiment, tried)?;
        let each_ns = now_ns(target).saturating_sub(start_ns) / u64::from(tried);
        let alone = if group.jobs.len() == 1 { Alone::experiments(&group.experiment) as u64 } else { 0 };
        sample_ns += count * each_ns * (1 + alone);
    }
    let mut kinds = std::collections::BTreeMap::new();
    for job in exchanges {
        let (count, _) = kinds.entry(job.pattern).or_insert((0u64, job));
        *count += 1;
    }
    for (count, job) in kinds.into_values() {
        let start_ns = now_ns(target);
        target.exchange(&job.exchange, tried)?;
        sample_ns += count * (now_ns(target).saturating_sub(start_ns) / u64::from(tried));
    }
    let least = sample_ns.saturating_mul(u64::from(sampling.least));
    Ok(Some([least, sample_ns.saturating_mul(u64::from(sampling.most))]))
}

/// Of the computer where its speed was measured; of the program where it was not.
fn identity(target: &dyn Target) -> Vec<(String, String)> {
    let known = host::identity().to_pairs().into_iter();
    let matters = |key: &str| !target.is_exact() || key == "cellweave_version";
    known.filter(|(key, _)| matters(key)).map(|(key, value)| (key.to_string(), value)).collect()
}
