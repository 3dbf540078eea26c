//! This computer as a [`Target`]: a pinned thread per element, and copies from cache to cache.
//!
//! A *get* copies from a buffer that the other element's core has just written, so that the lines come out of its
//! cache; a *put* copies into such a buffer. A chip's memory is a buffer of twice the caches, of which each sample
//! takes the next part. `buffers` transfers are in flight: as many chains of copies, each of which reads its next
//! address from what its last copy brought; of puts, as many as go before a fence.
//!
//! The threads of an experiment start together, from a barrier, for each sample.

pub(crate) mod barrier;
mod exchange;
mod lane;
mod lines;
mod pool;
mod watch;

use crate::clock::{Clock, now_ns};
use crate::pin;
use barrier::Barrier;
use lane::{Lane, Own, STRIDE_BYTES};
use machine::target::{Experiment, Sample, Store, Target, TargetError, Timer, Times, Transfer, Walk};
use machine::{ElementId, LineExchange, Machine};
use pool::Pool;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use watch::{Hypervisor, Seen, Watch};

pub use pool::beyond_caches_bytes;

/// The most bytes of this computer's memory that one experiment may use: a mistake must not make it swap.
const EXPERIMENT_BYTES_MAX: u64 = 1 << 30;
/// Bytes that a transfer moves in one sample, roughly: they fit an L2 beside what else is there.
const SAMPLE_BYTES: u32 = 128 * 1024;
/// Least and most repeats of one sample.
const REPEATS: (u32, u32) = (8, 256);

/// This computer, or a part of it.
///
/// ```
/// use machine::target::{Direction, Experiment, Store, Target, Transfer, Walk};
/// let mut host = host::HostTarget::new(machine::load("host").unwrap()).unwrap();
/// let memory = Store::Memory(host.machine().elements[0].place.chip);
/// let transfers = vec![Transfer { initiator: 0, other: memory, direction: Direction::Get }];
/// let experiment =
///     Experiment { transfers, size_bytes: 1024, buffers: 2, repeats: 16, compute_ns: 0, walk: Walk::Next };
/// let samples = host.measure(&experiment, 3).unwrap();
/// assert_eq!(samples.len(), 3);
/// assert!(samples.iter().all(|s| s.bytes_per_s() > 0.0));
/// ```
#[derive(Debug)]
pub struct HostTarget {
    machine: Machine,
    memory: BTreeMap<u32, Pool>,
}

impl HostTarget {
    /// A target of the elements of `machine`, all of which are cpus of this computer.
    ///
    /// # Errors
    /// When an element is no cpu (a preset's, say): it could not be measured here.
    pub fn new(machine: Machine) -> Result<Self, TargetError> {
        if let Some(e) = machine.elements.iter().find(|e| e.os_cpu.is_none()) {
            return Err(TargetError::Request(format!(
                "{}: {} has no os_cpu; only cpus of this computer can be measured on it",
                machine.name, e.name
            )));
        }
        Ok(Self { machine, memory: BTreeMap::new() })
    }

    /// Elements whose threads an experiment needs: initiators, and those whose caches are read or written.
    fn involved(experiment: &Experiment) -> Vec<ElementId> {
        let mut elements = experiment.initiators();
        for other in experiment.transfers.iter().filter_map(owner) {
            if !elements.contains(&other) {
                elements.push(other);
            }
        }
        elements
    }

    fn prepare_memory(&mut self, experiment: &Experiment) {
        let machine = &self.machine;
        for t in &experiment.transfers {
            if let Store::Memory(chip) = t.other {
                self.memory.entry(chip).or_insert_with(|| {
                    let near = machine.elements.iter().find(|e| e.place.chip == chip).and_then(|e| e.os_cpu);
                    Pool::beyond_caches(near)
                });
            }
        }
    }
}

impl Target for HostTarget {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn describe(&self) -> String {
        self.machine.name.clone()
    }

    fn timer(&self) -> Timer {
        Timer { name: Clock::get().source(), hz: 1e9 }
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn repeats(&self, size_bytes: u32) -> u32 {
        (SAMPLE_BYTES / size_bytes.max(STRIDE_BYTES)).clamp(REPEATS.0, REPEATS.1)
    }

    fn check(&self, experiment: &Experiment) -> Result<(), TargetError> {
        experiment.check(&self.machine)?;
        if experiment.walk == Walk::Cached {
            return Err(TargetError::Request(
                "memory in a PPE's cache is there on simulated machines only".into(),
            ));
        }
        let all: u64 = experiment.transfers.iter().map(|t| lane::region_bytes(experiment, t)).sum();
        if all > EXPERIMENT_BYTES_MAX {
            return Err(TargetError::Request(format!(
                "{} transfers, {} times {} bytes each, take {all} bytes of memory; an experiment has at most {}",
                experiment.transfers.len(),
                experiment.repeats,
                experiment.size_bytes,
                EXPERIMENT_BYTES_MAX
            )));
        }
        Ok(())
    }

    fn measure(&mut self, experiment: &Experiment, samples: u32) -> Result<Vec<Sample>, TargetError> {
        self.check(experiment)?;
        self.prepare_memory(experiment);
        let bytes = |t: &Transfer| lane::region_bytes(experiment, t) as usize;
        let mut windows: BTreeMap<u32, pool::Windows> = BTreeMap::new();
        for (chip, pool) in &mut self.memory {
            let users: Vec<_> =
                experiment.transfers.iter().filter(|t| t.other == Store::Memory(*chip)).collect();
            if let Some(first) = users.first() {
                let windows_of = pool.windows(users.len(), bytes(first), samples as usize);
                windows.insert(*chip, windows_of.map_err(TargetError::Failed)?);
            }
        }
        let regions: Vec<Mutex<Region>> = (experiment.transfers.iter())
            .map(|t| match t.other {
                Store::Element(_) => Region::Cached(vec![0; bytes(t)]),
                Store::Memory(chip) => windows
                    .get_mut(&chip)
                    .and_then(Iterator::next)
                    .map_or(Region::Cached(Vec::new()), Region::Far),
            })
            .map(Mutex::new)
            .collect();
        let elements = Self::involved(experiment);
        let barrier = Barrier::new(elements.len());
        let base_ns = now_ns();
        let hypervisor = Hypervisor::watch();
        let machine = &self.machine;
        let run = |element: ElementId| {
            let cpu = machine.elements[element].os_cpu.unwrap_or(u32::MAX);
            program(element, cpu, experiment, &regions, &barrier, samples, base_ns)
        };
        let logs: Vec<(ElementId, std::thread::Result<Log>)> = std::thread::scope(|scope| {
            let threads: Vec<_> = elements.iter().map(|&e| (e, scope.spawn(move || run(e)))).collect();
            threads.into_iter().map(|(e, thread)| (e, thread.join())).collect()
        });
        let mut found =
            vec![
                Sample { transfers: vec![Times::default(); experiment.transfers.len()], ..Sample::default() };
                samples as usize
            ];
        for (element, log) in logs {
            let name = &machine.elements[element].name;
            let log =
                log.map_err(|_| TargetError::Failed(format!("the thread on {name} ended by a panic")))?;
            watch::note(&mut found, element, log.pinned, &log.seen, elements.len());
            for (sample, times) in found.iter_mut().zip(log.times) {
                for (transfer, t) in times {
                    sample.transfers[transfer] = t;
                }
            }
        }
        hypervisor.note(&mut found, machine, &elements);
        Ok(found)
    }

    fn exchange(&mut self, exchange: &LineExchange, samples: u32) -> Result<Vec<Sample>, TargetError> {
        exchange::measure(&self.machine, exchange, samples)
    }
}

/// The far end of a transfer.
enum Region<'a> {
    /// Written by the owner's core before each sample.
    Cached(Vec<u8>),
    /// The next part of a memory for each sample.
    Far(pool::Window<'a>),
}

/// What a thread has measured and seen, sample by sample.
struct Log {
    pinned: bool,
    seen: Vec<Seen>,
    /// The times of this element's transfers, by their index.
    times: Vec<Vec<(usize, Times)>>,
}

/// The element whose cache is the far end.
fn owner(t: &Transfer) -> Option<ElementId> {
    match t.other {
        Store::Element(other) => Some(other),
        Store::Memory(_) => None,
    }
}

/// The work of one element's thread in an experiment.
fn program(
    element: ElementId,
    cpu: u32,
    experiment: &Experiment,
    regions: &[Mutex<Region>],
    barrier: &Barrier,
    samples: u32,
    base_ns: u64,
) -> Log {
    let pinned = pin::to_cpu(cpu).is_ok();
    let indices = |wanted: &dyn Fn(&Transfer) -> bool| -> Vec<usize> {
        (0..regions.len()).filter(|&i| wanted(&experiment.transfers[i])).collect()
    };
    let owned = indices(&|t| owner(t) == Some(element));
    let mine = indices(&|t| t.initiator == element);
    let lanes: Vec<Lane> = mine.iter().map(|&i| Lane::new(experiment, &experiment.transfers[i])).collect();
    let mut own = Own::new(experiment);
    let mut log = Log { pinned, seen: Vec::new(), times: Vec::new() };
    for sample in 0..samples {
        for &i in &owned {
            let mut region = regions[i].lock().unwrap_or_else(PoisonError::into_inner);
            if let Region::Cached(bytes) = &mut *region {
                bytes.fill(sample as u8 + 1);
            }
        }
        let mut watch = Watch::new();
        own.warm();
        barrier.wait();
        let mut held: Vec<_> =
            mine.iter().map(|&i| regions[i].lock().unwrap_or_else(PoisonError::into_inner)).collect();
        let mut far: Vec<&mut [u8]> = (held.iter_mut())
            .map(|region| match &mut **region {
                Region::Cached(bytes) => bytes.as_mut_slice(),
                Region::Far(window) => window.part(sample as usize),
            })
            .collect();
        watch.start();
        barrier.wait();
        let times = lane::run(&lanes, &mut own, &mut far, experiment, base_ns);
        let lost_cpu = watch.stop();
        barrier.wait();
        log.seen.push(watch.seen(lost_cpu));
        log.times.push(mine.iter().copied().zip(times).collect());
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::target::Direction;

    fn get(initiator: ElementId, other: Store) -> Transfer {
        Transfer { initiator, other, direction: Direction::Get }
    }

    fn experiment(transfers: Vec<Transfer>) -> Experiment {
        Experiment { transfers, size_bytes: 256, buffers: 2, repeats: 32, compute_ns: 0, walk: Walk::Next }
    }

    fn this_host() -> HostTarget {
        HostTarget::new(machine::load("host").unwrap()).unwrap()
    }

    #[test]
    fn every_transfer_of_a_sample_has_its_times_and_bytes() {
        let mut host = this_host();
        let chip = host.machine().elements[0].place.chip;
        let mut transfers = vec![get(0, Store::Memory(chip)), get(0, Store::Memory(chip))];
        transfers[1].direction = Direction::Put;
        if host.machine().elements.len() > 1 {
            transfers.push(get(1, Store::Element(0)));
            transfers.push(Transfer { direction: Direction::Alternating, ..get(0, Store::Element(1)) });
        }
        let samples = host.measure(&experiment(transfers.clone()), 4).unwrap();
        assert_eq!(samples.len(), 4);
        for s in samples {
            assert_eq!(s.transfers.len(), transfers.len());
            for t in &s.transfers {
                assert_eq!(t.bytes, 256 * 32);
                assert!(t.end_ns > t.start_ns && t.ticks > 0 && t.latency_ns > 0.0, "{t:?}");
            }
        }
    }

    #[test]
    fn computing_between_transfers_takes_its_time() {
        let mut host = this_host();
        let chip = host.machine().elements[0].place.chip;
        let e = Experiment { compute_ns: 20_000, ..experiment(vec![get(0, Store::Memory(chip))]) };
        for s in host.measure(&e, 2).unwrap() {
            assert!(s.span_ns() >= 32.0 * 20_000.0, "{} ns", s.span_ns());
        }
    }

    #[test]
    fn an_element_that_is_no_cpu_is_refused_by_name() {
        let refused = HostTarget::new(machine::load("ps3").unwrap()).unwrap_err();
        assert!(refused.to_string().contains("PPE0 has no os_cpu"), "{refused}");
    }

    #[test]
    fn an_experiment_that_needs_too_much_memory_is_refused() {
        let host = this_host();
        let chip = host.machine().elements[0].place.chip;
        let e = Experiment {
            repeats: 1 << 20,
            size_bytes: 1 << 20,
            ..experiment(vec![get(0, Store::Memory(chip))])
        };
        assert!(matches!(host.check(&e), Err(TargetError::Request(why)) if why.contains("bytes of memory")));
    }

    #[test]
    fn memory_in_a_ppes_cache_is_refused() {
        let host = this_host();
        let chip = host.machine().elements[0].place.chip;
        let e = Experiment { walk: Walk::Cached, ..experiment(vec![get(0, Store::Memory(chip))]) };
        assert!(matches!(host.check(&e), Err(TargetError::Request(why)) if why.contains("simulated")));
        assert!(host.check(&Experiment { walk: Walk::Stride(4096), ..e }).is_ok());
    }

    #[test]
    fn a_thread_whose_pinning_is_refused_says_so_in_every_sample() {
        let mut machine = machine::load("host").unwrap();
        machine.elements[0].os_cpu = Some(8191);
        let chip = machine.elements[0].place.chip;
        let mut host = HostTarget::new(machine).unwrap();
        let samples = host.measure(&experiment(vec![get(0, Store::Memory(chip))]), 2).unwrap();
        assert!(samples.iter().all(|s| s.unpinned == [0]), "{samples:?}");
    }
}
