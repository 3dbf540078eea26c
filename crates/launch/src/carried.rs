//! The simulator of a job whose messages it carries (`cellrun --on`): on a thread of the supervisor.

use crate::computing::Computing;
use crate::lines;
use ranks::{
    Callers, RankAnswer, RankCall, RankData, RankEnvelope, RankNews, RankNote, RanksError, RanksOptions,
    RanksOutcome,
};
use sim::Parameters;
use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use transport::carried::{
    CarriedAnswer, CarriedCall, CarriedData, CarriedNews, CarriedNote, CarriedRanks, MOST_NEWS,
};
use transport::{Envelope, Segment};

/// The longest time until ranks have said what they wait for; without it, what has been said by then is told.
const TELLING_NS: u64 = 1_000_000_000;
/// The longest time that the simulator takes to see that all ranks have ended.
const END: Duration = Duration::from_secs(2);
/// ns of this computer outside of MPI that are not worth a word. A choice: it decides only what is said.
const UNCHARGED_NS: u64 = 10_000_000;

/// How the simulation ended.
pub(crate) enum CarriedEnd {
    /// All ranks have ended: what to say of it, and when that was, in ps.
    Done(String, u64),
    /// It can't go on, and why.
    Failed(String),
}

/// The simulator at work.
pub(crate) struct Carried {
    ended: OwnedFd,
    /// Nothing comes first, when the ranks have ended and their files are being written.
    told: Receiver<Option<CarriedEnd>>,
    /// The rank that the simulator waits for.
    at_work: Arc<AtomicUsize>,
}

const _: () = assert!(transport::carried::MOST_GIVEN as u64 == ranks::MOST_GIVEN);
/// No rank.
const NOBODY: usize = usize::MAX;

impl Carried {
    /// Starts it; nothing when no simulator carries the job's messages.
    ///
    /// # Errors
    /// As the system's: no pipe or no thread.
    pub(crate) fn start(
        segment: Segment,
        machine: &Parameters,
        options: RanksOptions,
        computing: Computing,
        trace: Option<PathBuf>,
    ) -> io::Result<Option<Self>> {
        let Some(ranks) = CarriedRanks::of(segment) else { return Ok(None) };
        let (ended, held) = lines::pipe()?;
        let (tell, told) = mpsc::channel();
        let machine = machine.clone();
        let at_work = Arc::new(AtomicUsize::new(NOBODY));
        let shown = at_work.clone();
        std::thread::Builder::new().name("simulator".into()).spawn(move || {
            let mut desks = Desks::new(ranks, segment.ranks(), computing, shown);
            desks.local_data = options.local_data;
            let desks = Rc::new(desks);
            let name = machine.name.clone();
            let outcome = ranks::simulate(machine, segment.ranks(), desks.clone(), &options);
            // The supervisor may have left, here and below.
            let _ = tell.send(None);
            let end = match outcome {
                _ if let Some((rank, what)) = desks.refused.take() => CarriedEnd::Failed(format!(
                    "rank {rank} asked the simulator for {what} (if its program did not, a rank has written where it \
                     must not)"
                )),
                Ok(outcome) => match finish(&name, &outcome, &desks, trace.as_deref()) {
                    Ok(()) => CarriedEnd::Done(summary(&name, &outcome, &desks), ended_ps(&outcome)),
                    Err(text) => CarriedEnd::Failed(text),
                },
                Err(error @ RanksError::Deadlock { .. }) => CarriedEnd::Failed(stuck(&segment, &error)),
                Err(error) => CarriedEnd::Failed(format!("the simulated {name}: {error}")),
            };
            let _ = tell.send(Some(end));
            drop(held);
        })?;
        Ok(Some(Self { ended, told, at_work }))
    }

    /// The descriptor that can be read when the simulation has ended.
    pub(crate) fn fd(&self) -> RawFd {
        self.ended.as_raw_fd()
    }

    /// The rank that computes on this computer, for which the simulated machine stands still.
    pub(crate) fn computing(&self) -> Option<usize> {
        Some(self.at_work.load(Ordering::Relaxed)).filter(|&rank| rank != NOBODY)
    }

    /// How it ended; nothing when that was told before, or it goes on.
    pub(crate) fn end(&self) -> Option<CarriedEnd> {
        self.told.try_iter().flatten().last()
    }

    /// How it ended, once all ranks have and their files are written.
    pub(crate) fn last_word(&self) -> Option<CarriedEnd> {
        let first = self.told.recv_timeout(END).ok()?;
        first.or_else(|| self.told.recv().ok().flatten())
    }
}

/// When the last rank ended.
fn ended_ps(outcome: &RanksOutcome) -> u64 {
    outcome.ranks.iter().map(|rank| rank.ended_ps).max().unwrap_or_default()
}

/// Writes what is to be kept of a job.
fn finish(machine: &str, outcome: &RanksOutcome, desks: &Desks, file: Option<&Path>) -> Result<(), String> {
    desks.computing.finish(machine)?;
    let (Some(file), Some(trace)) = (file, &outcome.simulated.trace) else { return Ok(()) };
    let written = ground::write_whole(file, |out| trace.write_chrome(out));
    written.map_err(|error| format!("--trace {}: {error}", file.display()))
}

fn summary(machine: &str, outcome: &RanksOutcome, desks: &Desks) -> String {
    let ended_ps = ended_ps(outcome);
    let count = outcome.ranks.len();
    let plural = if count == 1 { "rank" } else { "ranks" };
    let mut text = format!("{:.3} us simulated on {machine}, {count} {plural}", ended_ps as f64 / 1e6);
    if desks.computing.charges() {
        return text;
    }
    let uncharged = desks.uncharged_ns.iter().map(Cell::get).enumerate();
    if let Some((rank, ns)) = uncharged.max_by_key(|&(_, ns)| ns).filter(|&(_, ns)| ns >= UNCHARGED_NS) {
        // A failed write to a string does not exist.
        let _ = write!(
            text,
            "; rank {rank} computed {} ms on this computer beside, for which no simulated time is charged (only what \
             cell_compute declares)",
            ns / 1_000_000
        );
    }
    text
}

/// Who waits for whom: each rank says it in its page before it sleeps.
fn stuck(segment: &Segment, error: &RanksError) -> String {
    let RanksError::Deadlock { waiting, .. } = error else { return error.to_string() };
    let give_up_ns = host::clock::kernel_ns() + TELLING_NS;
    let said = |rank: &usize| segment.rank(*rank).waits_for().is_some();
    while !waiting.iter().all(said) && host::clock::kernel_ns() < give_up_ns {
        host::clock::sleep_ns(1_000_000);
    }
    let mut text = format!("{error}:");
    for rank in 0..segment.ranks() {
        let _ = match segment.rank(rank).waits_for() {
            Some(what) => write!(text, "\n  rank {rank} waits in {what}"),
            None => write!(text, "\n  rank {rank} has called MPI_Finalize"),
        };
    }
    text
}

/// The desks of all ranks, as the simulator sees them.
struct Desks {
    ranks: CarriedRanks,
    /// What ranks are charged for computing between calls.
    computing: Computing,
    /// The application's data lies in local stores.
    local_data: bool,
    /// What each rank computed on this computer since the start.
    uncharged_ns: Vec<Cell<u64>>,
    /// What it computed there just before its last call.
    before_ns: Vec<Cell<u64>>,
    /// A rank that asked for what cannot be carried out, and what that was.
    refused: RefCell<Option<(usize, String)>>,
    /// The rank that the simulator waits for.
    at_work: Arc<AtomicUsize>,
}

impl Desks {
    fn new(ranks: CarriedRanks, count: usize, computing: Computing, at_work: Arc<AtomicUsize>) -> Self {
        let none = vec![Cell::new(0); count];
        Self {
            ranks,
            computing,
            local_data: false,
            uncharged_ns: none.clone(),
            before_ns: none,
            refused: RefCell::new(None),
            at_work,
        }
    }

    fn asked(&self, rank: usize) -> Option<CarriedCall> {
        self.at_work.store(rank, Ordering::Relaxed);
        let asked = self.ranks.asked(rank);
        self.at_work.store(NOBODY, Ordering::Relaxed);
        let (call, ns) = asked.unzip();
        let ns = ns.unwrap_or_default();
        self.before_ns[rank].set(ns);
        self.uncharged_ns[rank].update(|all| all.saturating_add(ns));
        call.and_then(|call| {
            if call.is_none() {
                self.refuse(rank, "something that is no call".into());
            }
            call
        })
    }
}

/// `lies_there`: the application's data lies in local stores.
fn rank_data(data: CarriedData, lies_there: bool) -> RankData {
    let CarriedData { at, bytes, misaligned, pieces, local } = data;
    RankData { at, bytes, misaligned, pieces, local: local || lies_there }
}

impl Callers for Desks {
    fn next(&self, rank: usize) -> RankCall {
        let data = |data| rank_data(data, self.local_data);
        match self.asked(rank) {
            None => RankCall::End,
            Some(CarriedCall::Begin) => RankCall::Begin,
            Some(CarriedCall::Send { to, envelope, data: sent, synchronous }) => {
                let (context, source, tag) = (envelope.context(), envelope.source(), envelope.tag());
                let envelope = RankEnvelope { context, source, tag };
                RankCall::Send { to: to as usize, envelope, data: data(sent), synchronous }
            }
            Some(CarriedCall::Look) => RankCall::Look,
            Some(CarriedCall::Wait) => RankCall::Wait,
            Some(CarriedCall::Fetch { from, entry, data: place }) => {
                RankCall::Fetch { from: from as usize, entry, data: data(place) }
            }
            Some(CarriedCall::Tell { to, entry, note }) => {
                let note = match note {
                    CarriedNote::AskedBack => RankNote::AskedBack,
                    CarriedNote::Forgotten => RankNote::Forgotten,
                    CarriedNote::Kept => RankNote::Kept,
                };
                RankCall::Tell { to: to as usize, entry, note }
            }
            Some(CarriedCall::Give { to, data: given, whole }) => {
                RankCall::Give { to, data: data(given), whole }
            }
            Some(CarriedCall::Take { from, offset, data: place }) => {
                RankCall::Take { from, offset, data: data(place) }
            }
            Some(CarriedCall::Combine { bytes, double, local }) => RankCall::Combine { bytes, double, local },
            Some(CarriedCall::Keep { data: made }) => RankCall::Keep { data: data(made) },
            Some(CarriedCall::Compute { flops, bytes }) => RankCall::Compute { flops, bytes },
            Some(CarriedCall::Time) => RankCall::Time,
            Some(CarriedCall::End) => RankCall::End,
        }
    }

    fn refuse(&self, rank: usize, what: String) {
        self.refused.borrow_mut().get_or_insert((rank, what));
        self.ranks.end();
    }

    fn computed_ns(&self, rank: usize) -> u64 {
        self.computing.charge(rank, self.before_ns[rank].take())
    }

    fn answer(&self, rank: usize, answer: RankAnswer, now_ps: u64) {
        let mut news = Vec::new();
        let answer = match answer {
            RankAnswer::Done => CarriedAnswer::Done,
            RankAnswer::Sent { entry, copied } => CarriedAnswer::Sent { entry, copied },
            RankAnswer::NotYet => CarriedAnswer::NotYet,
            RankAnswer::Taken(bytes, whole) => CarriedAnswer::Taken { bytes, whole },
            RankAnswer::News(all) => {
                news.extend(all.iter().map(carried_news));
                CarriedAnswer::News(news.len() as u32)
            }
            RankAnswer::Deadlock => CarriedAnswer::Deadlock,
            RankAnswer::Time(ticks, hz) => CarriedAnswer::Time { ticks, hz },
        };
        self.ranks.answer(rank, answer, &news, now_ps / 1000);
    }

    fn most_news(&self) -> usize {
        MOST_NEWS
    }

    fn read(&self, rank: usize, at: u64, into: &mut [u8]) {
        self.ranks.read(rank, at, into);
    }

    fn write(&self, rank: usize, at: u64, data: &[u8]) {
        self.ranks.write(rank, at, data);
    }
}

fn carried_news(news: &RankNews) -> CarriedNews {
    match *news {
        RankNews::Message { from, entry, envelope: RankEnvelope { context, source, tag }, bytes } => {
            let envelope = Envelope::new(context, source, tag);
            CarriedNews::Message { from: from as u32, entry, envelope, bytes }
        }
        RankNews::Received { to, entry } => CarriedNews::Received { to: to as u32, entry },
        RankNews::Told { from, entry, note } => {
            let note = match note {
                RankNote::AskedBack => CarriedNote::AskedBack,
                RankNote::Forgotten => CarriedNote::Forgotten,
                RankNote::Kept => CarriedNote::Kept,
            };
            CarriedNews::Told { from: from as u32, entry, note }
        }
        RankNews::Turn => CarriedNews::Turn,
        RankNews::Room { to } => CarriedNews::Room { to: to as u32 },
    }
}
