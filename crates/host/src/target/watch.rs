//! What is watched around each sample of a thread: its cpu, its clock, the hypervisor.

use crate::speed::work_ns;
use crate::stolen::{Mark, Steal};
use machine::target::Sample;
use machine::{ElementId, Machine};

/// How much longer or shorter the fixed piece of work may take after a sample than before: between this and what a
/// change of a cpu's clock does lies the jitter of a few us of work.
const STEADY: f64 = 1.1;

/// One sample on one thread, from before it begins.
#[derive(Debug)]
pub(super) struct Watch {
    before_ns: f64,
    mark: Option<Mark>,
}

/// What a thread saw of one sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    lost_cpu: bool,
    unsteady: bool,
    work_ns: f64,
}

impl Watch {
    /// Does the fixed piece of work: call this while the other threads do so too, before they all start.
    pub(super) fn new() -> Self {
        Self { before_ns: work_ns(), mark: None }
    }

    /// Immediately before the sample.
    pub(super) fn start(&mut self) {
        self.mark = Some(Mark::now());
    }

    /// Immediately after the sample; [`seen`](Watch::seen) may follow later.
    pub(super) fn stop(&self) -> bool {
        self.mark.is_some_and(|mark| mark.lost_cpu())
    }

    /// Once all threads have ended the sample.
    pub(super) fn seen(&self, lost_cpu: bool) -> Seen {
        let after_ns = work_ns();
        let ratio = after_ns / self.before_ns;
        let unsteady = !(1.0 / STEADY..=STEADY).contains(&ratio);
        Seen { lost_cpu, unsteady, work_ns: (self.before_ns + after_ns) / 2.0 }
    }
}

/// Writes what the threads of `elements` saw into the samples; `seen` is per element and sample.
pub(super) fn note(samples: &mut [Sample], element: ElementId, pinned: bool, seen: &[Seen], threads: usize) {
    for (sample, seen) in samples.iter_mut().zip(seen) {
        for (list, wanted) in [
            (&mut sample.disturbed, seen.lost_cpu),
            (&mut sample.unsteady, seen.unsteady),
            (&mut sample.unpinned, !pinned),
        ] {
            if wanted && !list.contains(&element) {
                list.push(element);
            }
        }
        sample.work_ns += seen.work_ns / threads as f64;
    }
}

/// The hypervisor while some samples are taken: the kernel counts what it takes in steps of 10 ms, so that all of the
/// samples are suspect.
#[derive(Debug)]
pub(super) struct Hypervisor(Steal);

impl Hypervisor {
    pub(super) fn watch() -> Self {
        Self(Steal::start())
    }

    pub(super) fn note(&self, samples: &mut [Sample], machine: &Machine, elements: &[ElementId]) {
        let cpus: Vec<u32> =
            elements.iter().map(|&e| machine.elements[e].os_cpu.unwrap_or(u32::MAX)).collect();
        let stolen = self.0.cpus_stolen_from(&cpus);
        for sample in samples {
            sample.stolen =
                elements.iter().zip(&stolen).filter(|(_, lost)| **lost).map(|(e, _)| *e).collect();
        }
    }
}
