//! The transfers of a pattern, each alone: what their slow-down is measured against.
//!
//! A computer's speed changes within seconds, so each batch of samples of a pattern is followed by as many of its
//! transfers alone. An element's own work is what its transfers take one after the other, alone; the slow-down is how
//! many times longer it takes when all elements work at the same time. One that starts several transfers is therefore
//! not slowed down by its own number of them.

use crate::TargetError;
use ground::Quantiles;
use machine::ElementId;
use machine::target::{Experiment, Sample, Target, Transfer};
use std::collections::HashMap;

/// Of a pattern with more transfers than this, so many are measured alone, evenly spread over it.
const ALONE_MAX: usize = 16;

/// What is known on a target that gives the same again: the key is all that an experiment has.
pub(crate) type Known = HashMap<(Transfer, u32, u32, u32, u64), f64>;

/// The transfers of one pattern that are measured alone.
pub(crate) struct Alone {
    chosen: Vec<usize>,
    /// Per chosen transfer and sample of the pattern, ns alone, and whether nothing disturbed it.
    ns: Vec<Vec<(f64, bool)>>,
}

impl Alone {
    /// None for a pattern of one transfer.
    pub(crate) fn of(experiment: &Experiment) -> Option<Self> {
        let n = experiment.transfers.len();
        let count = n.min(ALONE_MAX);
        let chosen: Vec<usize> = (0..count).map(|i| i * n / count).collect();
        (n > 1).then(|| Self { ns: vec![Vec::new(); chosen.len()], chosen })
    }

    /// How many experiments that is beside the pattern itself.
    pub(crate) fn experiments(experiment: &Experiment) -> usize {
        Self::of(experiment).map_or(0, |alone| alone.chosen.len())
    }

    /// As many samples of each as were just taken of the pattern.
    pub(crate) fn measure(
        &mut self,
        target: &mut dyn Target,
        experiment: &Experiment,
        samples: u32,
        known: &mut Known,
    ) -> Result<(), TargetError> {
        for (&at, ns) in self.chosen.iter().zip(&mut self.ns) {
            let transfer = experiment.transfers[at];
            let e = Experiment { transfers: vec![transfer], ..experiment.clone() };
            let key = (transfer, e.size_bytes, e.buffers, e.repeats, e.compute_ns);
            if let Some(found) = known.get(&key) {
                ns.push((*found, true));
                continue;
            }
            let found = target.measure(&e, samples)?;
            if let (true, [only]) = (target.is_exact(), found.as_slice()) {
                known.insert(key, only.span_ns());
            }
            ns.extend(found.iter().map(|s| (s.span_ns(), super::is_clean(s))));
        }
        Ok(())
    }

    /// How many times longer the pattern's initiators took in the samples numbered `places`, their mean. Those where
    /// one of the transfers was disturbed alone are left out, unless that leaves none.
    pub(crate) fn slowdowns(
        &self,
        experiment: &Experiment,
        samples: &[Sample],
        places: &[usize],
    ) -> Vec<f64> {
        let of = |&at: &usize| self.slowdown(experiment, samples.get(at)?, at);
        let clean = |at: &&usize| self.ns.iter().all(|ns| ns.get(**at).is_some_and(|(_, clean)| *clean));
        let found: Vec<f64> = places.iter().filter(clean).filter_map(of).collect();
        if found.is_empty() { places.iter().filter_map(of).collect() } else { found }
    }

    /// Bytes by ns of the transfers one after the other, each at its middle in the samples numbered `places`.
    pub(crate) fn gbs(&self, experiment: &Experiment, places: &[usize]) -> Option<f64> {
        let middle_ns = |ns: &Vec<(f64, bool)>| {
            Quantiles::of(places.iter().filter_map(|&at| Some(ns.get(at)?.0)).collect()).map(|q| q.p50)
        };
        let ns: f64 = self.ns.iter().map(middle_ns).sum::<Option<f64>>()?;
        let bytes = f64::from(experiment.size_bytes) * f64::from(experiment.repeats);
        (ns > 0.0).then(|| bytes * self.ns.len() as f64 / ns)
    }

    fn slowdown(&self, experiment: &Experiment, sample: &Sample, at: usize) -> Option<f64> {
        let each: Option<Vec<f64>> = self
            .initiators(experiment)
            .into_iter()
            .map(|e| self.of_initiator(experiment, sample, at, e))
            .collect();
        let each = each?;
        (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
    }

    /// The slow-down of each transfer's initiator in sample number `at`, for the table of a pattern's transfers.
    pub(crate) fn each(&self, experiment: &Experiment, sample: &Sample, at: usize) -> Vec<Option<f64>> {
        let of = |t: &Transfer| self.of_initiator(experiment, sample, at, t.initiator);
        experiment.transfers.iter().map(of).collect()
    }

    fn initiators(&self, experiment: &Experiment) -> Vec<ElementId> {
        let mut found: Vec<ElementId> =
            self.chosen.iter().map(|&at| experiment.transfers[at].initiator).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Its span in the sample over its work: the mean of its transfers that were measured alone, times their number.
    fn of_initiator(&self, experiment: &Experiment, sample: &Sample, at: usize, e: ElementId) -> Option<f64> {
        let alone: Option<Vec<f64>> = (self.chosen.iter().zip(&self.ns))
            .filter(|(chosen, _)| experiment.transfers[**chosen].initiator == e)
            .map(|(_, ns)| Some(ns.get(at)?.0))
            .collect();
        let alone = alone?;
        let mine = || (experiment.transfers.iter().zip(&sample.transfers)).filter(|(t, _)| t.initiator == e);
        let start_ns = mine().map(|(_, t)| t.start_ns).fold(f64::INFINITY, f64::min);
        let end_ns = mine().map(|(_, t)| t.end_ns).fold(f64::NEG_INFINITY, f64::max);
        let work_ns = alone.iter().sum::<f64>() / alone.len() as f64 * mine().count() as f64;
        (work_ns > 0.0).then(|| (end_ns - start_ns) / work_ns)
    }
}
