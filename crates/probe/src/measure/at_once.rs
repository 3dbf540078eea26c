//! Pairs that are measured at the same time, because they do not disturb each other.
//!
//! A machine of hundreds of elements has tens of thousands of pairs. Pairs without a common element can be measured at
//! once where a look at some of them shows that they go as fast together as alone; how many at once is halved until
//! that is so. A shared cache or link that is too narrow for all of them shows in the look.

use super::alone::{Alone, Known};
use super::is_clean;
use crate::{ProbeJob, TargetError};
use ground::{Draws, Quantiles};
use machine::ElementId;
use machine::target::{Experiment, Sample, Store, Target, Transfer};
use serde::Serialize;

/// Up to so many pairs are measured one by one.
const ONE_BY_ONE: usize = 1000;
/// Pairs that take up to so many times longer together than alone do not disturb each other.
const UNDISTURBED: f64 = 1.03;
/// And the most disturbed of them up to so many times: noise makes the worst of many look slower than it is.
const UNDISTURBED_EACH: f64 = 1.1;
/// Samples of a look.
const LOOK_SAMPLES: u32 = 10;
/// Groups that are looked at, spread over all of them.
const LOOKS: usize = 8;
/// Pairs are dealt out at random, so that each group is like any other and a few show what all do.
const SEED: u64 = 1;

/// Jobs that are measured by one experiment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    /// Their places in the list of jobs, in the order of the experiment's transfers; or one job with any transfers.
    pub(crate) jobs: Vec<usize>,
    pub(crate) experiment: Experiment,
}

impl Group {
    pub(crate) fn single(at: usize, job: &ProbeJob) -> Self {
        Self { jobs: vec![at], experiment: job.experiment.clone() }
    }

    /// What the group's sample says of the job at `place` in it.
    pub(crate) fn part(&self, sample: &Sample, place: usize) -> Sample {
        if self.jobs.len() == 1 {
            return sample.clone();
        }
        let involved = ends(&self.experiment.transfers[place]);
        let only =
            |list: &[ElementId]| list.iter().copied().filter(|e| involved.contains(&Some(*e))).collect();
        Sample {
            transfers: vec![sample.transfers[place]],
            disturbed: only(&sample.disturbed),
            unpinned: only(&sample.unpinned),
            stolen: only(&sample.stolen),
            unsteady: only(&sample.unsteady),
            work_ns: sample.work_ns,
        }
    }
}

/// What a look at pairs together showed, for those who read the result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AtOnce {
    /// The pattern whose pairs these are.
    pub pattern: String,
    /// Bytes of a transfer.
    pub size_bytes: u32,
    /// Transfers in flight.
    pub buffers: u32,
    /// How many pairs were measured at the same time; 1 where more would have disturbed each other.
    pub pairs: usize,
    /// How many times longer they took than alone.
    pub slowdown: f64,
}

/// The two elements of a transfer.
fn ends(t: &Transfer) -> [Option<ElementId>; 2] {
    let other = match t.other {
        Store::Element(e) => Some(e),
        Store::Memory(_) => None,
    };
    [Some(t.initiator), other]
}

/// All jobs in groups. Pairs of one pattern and point are put together where there are many and `target` shows that
/// they may be.
///
/// # Errors
/// As the target's `measure`.
pub(crate) fn groups(
    target: &mut dyn Target,
    jobs: &[ProbeJob],
) -> Result<(Vec<Group>, Vec<AtOnce>), TargetError> {
    let (mut groups, mut notes) = (Vec::new(), Vec::new());
    let mut taken = vec![false; jobs.len()];
    for at in 0..jobs.len() {
        if taken[at] {
            continue;
        }
        let alike: Vec<usize> = if target.is_exact() { Vec::new() } else { alike(jobs, at) };
        if alike.len() <= ONE_BY_ONE {
            groups.push(Group::single(at, &jobs[at]));
            continue;
        }
        alike.iter().for_each(|&i| taken[i] = true);
        let (found, note) = together(target, jobs, &alike)?;
        groups.extend(found);
        notes.push(note);
    }
    Ok((groups, notes))
}

/// The jobs that are one pair each, of the same pattern and point as the one at `at`.
fn alike(jobs: &[ProbeJob], at: usize) -> Vec<usize> {
    let (pattern, e) = (&jobs[at].pattern, &jobs[at].experiment);
    let is_pair = |e: &Experiment| e.transfers.len() == 1 && ends(&e.transfers[0])[1].is_some();
    let same = |job: &ProbeJob| {
        let o = &job.experiment;
        job.pattern == *pattern && is_pair(o) && (o.size_bytes, o.buffers) == (e.size_bytes, e.buffers)
    };
    if is_pair(e) { (0..jobs.len()).filter(|&i| same(&jobs[i])).collect() } else { Vec::new() }
}

/// The widest groups whose pairs do not disturb each other.
fn together(
    target: &mut dyn Target,
    jobs: &[ProbeJob],
    pairs: &[usize],
) -> Result<(Vec<Group>, AtOnce), TargetError> {
    let first = &jobs[pairs[0]];
    let mut width = target.machine().elements.len() / 2;
    loop {
        let groups = disjoint(jobs, pairs, width);
        let (slowdown, worst) = if width > 1 { look(target, &groups)? } else { (1.0, 1.0) };
        if slowdown <= UNDISTURBED && worst <= UNDISTURBED_EACH {
            let note = AtOnce {
                pattern: first.pattern.clone(),
                size_bytes: first.experiment.size_bytes,
                buffers: first.experiment.buffers,
                pairs: width,
                slowdown,
            };
            return Ok((groups, note));
        }
        width /= 2;
    }
}

/// Groups of up to `width` pairs, none of which share an element; each pair is in one group.
fn disjoint(jobs: &[ProbeJob], pairs: &[usize], width: usize) -> Vec<Group> {
    let mut left = pairs.to_vec();
    Draws::new(SEED).shuffle(&mut left);
    let mut groups = Vec::new();
    while !left.is_empty() {
        let mut busy = std::collections::BTreeSet::new();
        let mut group: Vec<usize> = Vec::new();
        left.retain(|&i| {
            let two = ends(&jobs[i].experiment.transfers[0]);
            let free = group.len() < width && two.iter().flatten().all(|e| !busy.contains(e));
            if free {
                busy.extend(two.into_iter().flatten());
                group.push(i);
            }
            !free
        });
        let transfers = group.iter().map(|&i| jobs[i].experiment.transfers[0]).collect();
        let experiment = Experiment { transfers, ..jobs[group[0]].experiment.clone() };
        groups.push(Group { jobs: group, experiment });
    }
    groups
}

/// How many times longer pairs of some of the groups take together than alone: the mean of the worst group, and the
/// worst pair.
fn look(target: &mut dyn Target, groups: &[Group]) -> Result<(f64, f64), TargetError> {
    let (mut slowest, mut worst): (f64, f64) = (1.0, 1.0);
    for i in 0..LOOKS.min(groups.len()) {
        let experiment = &groups[i * groups.len() / LOOKS.min(groups.len())].experiment;
        let Some(mut alone) = Alone::of(experiment) else { continue };
        if target.check(experiment).is_err() {
            return Ok((f64::INFINITY, f64::INFINITY));
        }
        let samples = target.measure(experiment, LOOK_SAMPLES)?;
        alone.measure(target, experiment, LOOK_SAMPLES, &mut Known::new())?;
        let clean: Vec<usize> = (0..samples.len()).filter(|&at| is_clean(&samples[at])).collect();
        // Without an undisturbed sample nothing is shown.
        let median = |found: Vec<f64>| Quantiles::of(found).map_or(f64::INFINITY, |q| q.p50);
        slowest = slowest.max(median(alone.slowdowns(experiment, &samples, &clean)));
        let each: Vec<Vec<Option<f64>>> =
            clean.iter().map(|&at| alone.each(experiment, &samples[at], at)).collect();
        for transfer in 0..experiment.transfers.len() {
            let of_one: Vec<f64> = each.iter().filter_map(|sample| sample[transfer]).collect();
            if !of_one.is_empty() {
                worst = worst.max(median(of_one));
            }
        }
    }
    Ok((slowest, worst))
}
