//! Does the experiments of the options, and says what their samples come to.

use crate::result::{Each, Measurement, Probed, Quality};
use crate::targets::load;
use crate::{Fitted, HandoverGrid, ProbeJob, ProbeOptions, TargetError, fit, handovers, together, written};
use ground::Quantiles;
use host::stolen::Steal;
use machine::Machine;
use machine::target::{Sample, Target, Timer, Walk};

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
}

impl<'a> ProbeProgress<'a> {
    fn of(done: usize, total: usize, job: &'a ProbeJob) -> Self {
        let (size_bytes, buffers) = (job.experiment.size_bytes, job.experiment.buffers);
        Self { done, total, pattern: &job.pattern, size_bytes, buffers }
    }
}

/// From this share of samples on that lost their cpu, a measurement is called disturbed.
const DISTURBED_SHARE: f64 = 0.5;
/// Samples that are taken before it is known how long one takes: usually all.
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
    let mut target = load(spec, &options.choices())?;
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
        progress(&ProbeProgress { done, total: PARTS, pattern, size_bytes: 0, buffers: 0 })
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
    let samples = if target.is_exact() { 1 } else { options.samples(jobs.len()) };
    let mut probed = Probed {
        machine: target.machine().name.clone(),
        target: target.describe(),
        exact: target.is_exact(),
        timer: target.timer().name.into(),
        timer_hz: target.timer().hz,
        seed: options.seed,
        stopped: false,
        stolen_share: None,
        identity: identity(target),
        measurements: Vec::with_capacity(jobs.len()),
    };
    let steal = (!target.is_exact()).then(Steal::start);
    for (done, job) in jobs.iter().enumerate() {
        // A stop is said once: Ctrl-C is not repeated.
        let mut go_on = || {
            probed.stopped = probed.stopped || !progress(&ProbeProgress::of(done, jobs.len(), job));
            !probed.stopped
        };
        if !go_on() {
            break;
        }
        let found = sampled(target, job, samples, &mut go_on)?;
        probed.measurements.push(summary(job, target.machine(), target.timer(), target.is_exact(), found)?);
    }
    probed.stolen_share = steal.and_then(|s| s.share());
    Ok(probed)
}

/// Takes the samples, some at a time, so that a long measurement can be stopped; there is at least one.
fn sampled(
    target: &mut dyn Target,
    job: &ProbeJob,
    samples: u32,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<Sample>, TargetError> {
    let mut found = Vec::new();
    let mut some = samples.min(SAMPLES_FIRST);
    loop {
        let start_ns = host::now_ns();
        found.extend(target.measure(&job.experiment, some)?);
        let left = samples.saturating_sub(found.len() as u32);
        if left == 0 || !go_on() {
            return Ok(found);
        }
        let each_ns = host::now_ns().saturating_sub(start_ns) / u64::from(some.max(1));
        let fitting = LOOK_NS / each_ns.max(1);
        some = left.min(u32::try_from(fitting).unwrap_or(u32::MAX).max(1));
    }
}

/// Of the computer where its speed was measured; of the program where it was not.
fn identity(target: &dyn Target) -> Vec<(String, String)> {
    let known = host::identity().to_pairs().into_iter();
    let matters = |key: &str| !target.is_exact() || key == "cellweave_version";
    known.filter(|(key, _)| matters(key)).map(|(key, value)| (key.to_string(), value)).collect()
}

fn summary(
    job: &ProbeJob,
    machine: &Machine,
    timer: Timer,
    exact: bool,
    found: Vec<Sample>,
) -> Result<Measurement, TargetError> {
    let all = found.len();
    let unpinned = found.iter().any(|s| !s.unpinned.is_empty());
    let disturbed = found.iter().filter(|s| !s.disturbed.is_empty()).count();
    // Few samples are better than none; the quality says that they are few.
    let few_left = disturbed as f64 > DISTURBED_SHARE * all as f64;
    let kept: Vec<&Sample> = found.iter().filter(|s| few_left || s.disturbed.is_empty()).collect();
    let quality = match () {
        () if exact => Quality::Exact,
        () if unpinned => Quality::Unpinned,
        () if few_left => Quality::Disturbed,
        () => Quality::Good,
    };
    let of = |value: &dyn Fn(&Sample) -> f64| Quantiles::of(kept.iter().map(|s| value(s)).collect());
    let nothing = || TargetError::Failed(format!("{}: no sample was taken", job.pattern));
    let middle = kept.get(middle_of(&kept)).ok_or_else(nothing)?;
    let ticks = |s: &Sample| s.transfers.iter().map(|t| t.ticks).max().unwrap_or(0) as f64;
    let e = &job.experiment;
    Ok(Measurement {
        pattern: job.pattern.clone(),
        transfers: job.transfers.clone(),
        partners: e.initiators().len(),
        size_bytes: e.size_bytes,
        buffers: e.buffers,
        repeats: e.repeats,
        compute_ns: e.compute_ns,
        walk: walk(e.walk),
        n: kept.len(),
        bandwidth_gbs: of(&|s| s.bytes_per_s() / 1e9).ok_or_else(nothing)?,
        bandwidth_each_gbs: of(&|s| s.bytes_per_s_each() / 1e9).ok_or_else(nothing)?,
        bandwidth_by_timer_gbs: of(&|s| s.bytes_per_s_by(timer) / 1e9).ok_or_else(nothing)?,
        latency_ns: of(&|s| s.latency_ns()).ok_or_else(nothing)?,
        span_us: of(&|s| s.span_ns() / 1e3).ok_or_else(nothing)?,
        ticks: of(&ticks).ok_or_else(nothing)?,
        quality,
        excluded: all - kept.len(),
        each: each(job, machine, middle),
    })
}

/// As results have it.
fn walk(walk: Walk) -> String {
    match walk {
        Walk::Next => "next".into(),
        Walk::Stride(bytes) => format!("stride {bytes}"),
        Walk::Cached => "cached".into(),
    }
}

/// The sample whose bandwidth is the median.
fn middle_of(samples: &[&Sample]) -> usize {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by(|a, b| samples[*a].bytes_per_s().total_cmp(&samples[*b].bytes_per_s()));
    order.get(order.len() / 2).copied().unwrap_or(0)
}

fn each(job: &ProbeJob, machine: &Machine, sample: &Sample) -> Vec<Each> {
    let start_ns = sample.transfers.iter().map(|t| t.start_ns).fold(f64::INFINITY, f64::min);
    (job.experiment.transfers.iter().zip(&sample.transfers))
        .map(|(transfer, t)| Each {
            transfer: written::write(std::slice::from_ref(transfer), machine),
            start_ns: t.start_ns - start_ns,
            end_ns: t.end_ns - start_ns,
            ticks: t.ticks,
            latency_ns: t.latency_ns,
            bandwidth_gbs: t.bytes as f64 / (t.end_ns - t.start_ns),
        })
        .collect()
}
