//! Many mappings, several runs, several threads: the same answer whatever the number of threads.

use super::{Ranking, RingSetup, mapping, run_until};
use crate::TargetError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// The most runs of a list.
pub const RUNS_MAX: usize = 1000;

/// What to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// The ring; the runs' seeds are `seed`, `seed + 1` and so on.
    pub options: RingSetup,
    /// Only these; every one where none are named.
    pub mappings: Option<Vec<Vec<usize>>>,
    /// Runs of each mapping, from different start states.
    pub runs: usize,
    /// Threads of this computer; as many as it has processors where it is not said.
    pub threads: Option<usize>,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingProgress {
    /// Rings that were run.
    pub done: usize,
    /// Rings to be run: mappings times runs.
    pub total: usize,
}

/// Runs the ring under many mappings. `progress` is called on this thread, after every ring and now and then during
/// long ones; when it says `false`, everything ends.
///
/// # Errors
/// What [`run`](super::run) refuses; a mapping named twice; the first mapping that failed; that it was stopped.
///
/// ```
/// use probe::ring::{RingSetup, Sweep, sweep};
/// let options = RingSetup { tasks: 4, rounds: 10, ..RingSetup::on("cell", None, None)? };
/// let ranking = sweep(&Sweep { options, mappings: None, runs: 2, threads: None }, &mut |_| true)?;
/// assert_eq!(ranking.mappings().len(), 6);
/// assert!(ranking.worst_by_best() >= 1.0);
/// # Ok::<(), probe::TargetError>(())
/// ```
pub fn sweep(sweep: &Sweep, progress: &mut dyn FnMut(RingProgress) -> bool) -> Result<Ranking, TargetError> {
    let options = &sweep.options;
    options.check()?;
    if sweep.runs == 0 || sweep.runs > RUNS_MAX {
        return Err(TargetError::Request(format!("{} runs; allowed: 1 to {RUNS_MAX}", sweep.runs)));
    }
    if sweep.threads == Some(0) {
        return Err(TargetError::Request("0 threads; at least 1".into()));
    }
    let mappings = match &sweep.mappings {
        Some(named) => named.clone(),
        None => mapping::all(options.tasks, options.any_first)?,
    };
    let mut sorted: Vec<&Vec<usize>> = mappings.iter().collect();
    sorted.sort();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(TargetError::Request(format!("mapping {} is named twice", mapping::text(twice[0]))));
    }
    for named in &mappings {
        mapping::check(named, options.tasks, options.any_first)?;
    }
    if mappings.is_empty() {
        return Err(TargetError::Request("0 mappings; name at least 1".into()));
    }
    let total = mappings.len() * sweep.runs;
    let own = |run: usize| RingSetup { seed: options.seed.wrapping_add(run as u64), ..options.clone() };
    let runs: Vec<(RingSetup, Vec<usize>)> =
        (0..sweep.runs).map(own).map(|o| (o.clone(), o.places())).collect();
    let one = |job: usize, beat| {
        let (options, places) = &runs[job / mappings.len()];
        run_until(&mapping::spes(&mappings[job % mappings.len()], places), options, beat)
    };
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = sweep.threads.unwrap_or_else(processors).min(total);
    let times = in_parallel(total, threads, one, progress)?;
    Ranking::new(mappings.clone(), times.chunks(mappings.len()).map(<[f64]>::to_vec).collect())
}

/// What keeps a ring going.
type Beat = Arc<dyn Fn() -> bool + Send + Sync>;

/// What threads tell.
enum SweepNews {
    Alive,
    Done(usize, Result<f64, TargetError>),
}

fn in_parallel(
    total: usize,
    threads: usize,
    one: impl Fn(usize, Beat) -> Result<super::RingRun, TargetError> + Sync,
    progress: &mut dyn FnMut(RingProgress) -> bool,
) -> Result<Vec<f64>, TargetError> {
    let stop = Arc::new(AtomicBool::new(false));
    let next = AtomicUsize::new(0);
    let (tell, told) = mpsc::channel();
    let mut times = vec![0.0; total];
    // Keep the error of the first job in order, not the one found first: a sweep fails in the same way each time.
    let mut failure: Option<(usize, TargetError)> = None;
    let mut stopped = false;
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (tell, stop, next, one) = (tell.clone(), stop.clone(), &next, &one);
            scope.spawn(move || {
                let alive = tell.clone();
                let stop_seen = stop.clone();
                let beat: Beat = Arc::new(move || {
                    alive.send(SweepNews::Alive).is_ok() && !stop_seen.load(Ordering::Relaxed)
                });
                while !stop.load(Ordering::Relaxed) {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if job >= total {
                        return;
                    }
                    let found = one(job, beat.clone()).map(|run| run.elapsed_ns);
                    // The other end is there until every thread is done.
                    let _ = tell.send(SweepNews::Done(job, found));
                }
            });
        }
        drop(tell);
        let mut done = 0;
        for message in told {
            match message {
                SweepNews::Alive => {}
                SweepNews::Done(job, Ok(time)) => {
                    times[job] = time;
                    done += 1;
                }
                SweepNews::Done(job, Err(error)) => {
                    // Jobs before it have been started, and are waited for.
                    next.store(total, Ordering::Relaxed);
                    if failure.as_ref().is_none_or(|(first, _)| job < *first) {
                        failure = Some((job, error));
                    }
                }
            }
            if !stopped && !progress(RingProgress { done, total }) {
                stopped = true;
                stop.store(true, Ordering::Relaxed);
            }
        }
    });
    match failure {
        _ if stopped => Err(TargetError::Failed("stopped".into())),
        Some((_, error)) => Err(error),
        None => Ok(times),
    }
}
