//! What the samples of an experiment come to.

use super::at_once::Group;
use super::sampling::interval;
use super::{Samples, is_clean};
use crate::result::{Each, LeftOut, Measurement, Quality};
use crate::{ProbeJob, TargetError, written};
use ground::Quantiles;
use machine::target::{Sample, Store, Target, Walk};

/// From this share of samples on that do not count, a measurement is called disturbed, and all of them count.
const DISTURBED_SHARE: f64 = 0.5;
/// From this ratio on between a slow tenth and a quick tenth of the samples, by the fixed piece of work beside each,
/// the cpus' speed changed.
const STEADY: f64 = 1.1;

/// The samples that count, by their places, and what to say of all of them.
pub(super) struct Counted {
    pub(super) kept: Vec<usize>,
    pub(super) quality: Quality,
    pub(super) left_out: LeftOut,
    /// p90 by p10 of the fixed piece of work beside each sample; 1 where none was done.
    pub(super) pace_spread: f64,
}

impl Counted {
    pub(super) fn of(samples: &[Sample], exact: bool) -> Self {
        let clean: Vec<usize> = (0..samples.len()).filter(|&i| is_clean(&samples[i])).collect();
        // Few samples are better than none; the quality says that they are few.
        let few_left = (samples.len() - clean.len()) as f64 > DISTURBED_SHARE * samples.len() as f64;
        let kept = if few_left { (0..samples.len()).collect() } else { clean };
        let work = Quantiles::of(kept.iter().map(|&i| samples[i].work_ns).collect());
        let pace_spread = work.filter(|q| q.p10 > 0.0).map_or(1.0, |q| q.p90 / q.p10);
        let quality = match () {
            () if exact => Quality::Exact,
            () if samples.iter().any(|s| !s.unpinned.is_empty()) => Quality::Unpinned,
            () if few_left => Quality::Disturbed,
            () if pace_spread > STEADY => Quality::Unsteady,
            () => Quality::Good,
        };
        let mut left_out = LeftOut::default();
        for sample in samples.iter().filter(|_| !few_left) {
            match () {
                () if !sample.disturbed.is_empty() => left_out.lost_cpu += 1,
                () if !sample.stolen.is_empty() => left_out.stolen += 1,
                () if !sample.unsteady.is_empty() => left_out.unsteady += 1,
                () => {}
            }
        }
        Self { kept, quality, left_out, pace_spread }
    }
}

/// Of the job at `place` in a group that was measured.
pub(super) fn measurement(
    job: &ProbeJob,
    target: &dyn Target,
    group: &Group,
    place: usize,
    samples: &Samples,
) -> Result<Measurement, TargetError> {
    let (machine, timer) = (target.machine(), target.timer());
    let found: Vec<Sample> = samples.found.iter().map(|s| group.part(s, place)).collect();
    let counted = Counted::of(&found, target.is_exact());
    let kept: Vec<&Sample> = counted.kept.iter().map(|&i| &found[i]).collect();
    let of = |value: &dyn Fn(&Sample) -> f64| Quantiles::of(kept.iter().map(|s| value(s)).collect());
    let nothing = || TargetError::Failed(format!("{}: no sample was taken", job.pattern));
    let e = &job.experiment;
    let slowdowns =
        samples.alone.as_ref().map_or_else(Vec::new, |alone| alone.slowdowns(e, &found, &counted.kept));
    let middle = counted.kept.get(middle_of(&kept)).ok_or_else(nothing)?;
    let ticks = |s: &Sample| s.transfers.iter().map(|t| t.ticks).max().unwrap_or(0) as f64;
    let pair = match e.transfers[..] {
        [only] => match only.other {
            Store::Element(other) => Some([only.initiator, other]),
            Store::Memory(_) => None,
        },
        _ => None,
    };
    let values: Vec<f64> = kept.iter().map(|s| s.bytes_per_s()).collect();
    Ok(Measurement {
        pattern: job.pattern.clone(),
        transfers: job.transfers.clone(),
        pair: pair.map(|two| two.map(|e| machine.elements[e].name.clone())),
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
        slowdown: Quantiles::of(slowdowns),
        alone_gbs: samples.alone.as_ref().and_then(|alone| alone.gbs(e, &counted.kept)),
        interval: if target.is_exact() { Some(0.0) } else { interval(&values) },
        pace_spread: counted.pace_spread,
        quality: counted.quality,
        excluded: found.len() - kept.len(),
        left_out: counted.left_out,
        each: each(job, target, samples, &found[*middle], *middle),
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

fn each(job: &ProbeJob, target: &dyn Target, samples: &Samples, sample: &Sample, at: usize) -> Vec<Each> {
    let start_ns = sample.transfers.iter().map(|t| t.start_ns).fold(f64::INFINITY, f64::min);
    let slowdowns = match &samples.alone {
        Some(alone) => alone.each(&job.experiment, sample, at),
        None => vec![None; job.experiment.transfers.len()],
    };
    (job.experiment.transfers.iter().zip(&sample.transfers).zip(slowdowns))
        .map(|((transfer, t), slowdown)| Each {
            transfer: written::write(std::slice::from_ref(transfer), target.machine()),
            start_ns: t.start_ns - start_ns,
            end_ns: t.end_ns - start_ns,
            ticks: t.ticks,
            latency_ns: t.latency_ns,
            bandwidth_gbs: t.bytes as f64 / (t.end_ns - t.start_ns),
            slowdown,
        })
        .collect()
}
