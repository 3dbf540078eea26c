//! Traffic on this computer: a thread per part, pinned or wherever the kernel puts it.
//!
//! Each flow has two buffers. Its sender fills one, its receiver reads it, as often as a run has turns; a phase ends
//! for all threads together. A flow to main memory walks on through a buffer that is larger than the caches. A run does
//! everything twice, and the second time counts: the kernel has had time to spread the threads then, and the buffers
//! are there.

use ground::Located;
use host::Affinity;
use host::target::beyond_caches_bytes;
use machine::{ElementId, Machine};
use place::{Judge, Traffic, TrafficPhase};
use std::hint::black_box;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The largest message: larger flows shrink in proportion, and their time is scaled up. Like the two below, this says
/// how much a run does, the same for all contenders; it is no figure of a computer.
const MESSAGE_BYTES_MAX: f64 = 65_536.0;
/// Bytes that a phase moves in one run, roughly, and the least and most turns.
const RUN_BYTES: f64 = 32e6;
const TURNS: (f64, f64) = (64.0, 8192.0);
/// Looks at a counter before a thread lets another one have its cpu.
const LOOKS: u32 = 256;
/// How often a run does everything; the last time counts.
const PASSES: u64 = 2;
/// Buffers of a flow.
const BUFFERS: u64 = 2;

/// This computer, as it runs traffic.
pub(crate) struct MeasuredTraffic {
    /// Of each seat: the kernel's number of its cpu.
    cpus: Vec<u32>,
    parts: usize,
    phases: Vec<MeasuredPhase>,
}

struct MeasuredPhase {
    turns: u64,
    /// ns of a run times this are the ns of the phase, all its times.
    scale: f64,
    flows: Vec<Channel>,
    memory: Vec<MemoryWalk>,
}

/// A flow's buffers, as words, and how many messages went in and out.
struct Channel {
    from: usize,
    to: usize,
    words: Vec<AtomicU64>,
    sent: AtomicU64,
    taken: AtomicU64,
}

/// A part's traffic with main memory: it walks through words of which none is in a cache when its turn comes.
struct MemoryWalk {
    part: usize,
    words: Vec<AtomicU64>,
    /// Words that it reads in each turn, and then writes.
    read: usize,
    written: usize,
    walked: AtomicUsize,
}

impl MeasuredTraffic {
    /// Of traffic on elements of a machine that is this computer.
    ///
    /// # Errors
    /// It is another one, or has cpus that this process may not use.
    pub(crate) fn new(traffic: &Traffic, machine: &Machine, elements: &[ElementId]) -> Result<Self, Located> {
        let wrong = |message: String| Located::new(message).key("objective");
        let allowed = Affinity::of_this_thread().map_err(|e| wrong(e.to_string()))?.cpus();
        let here = machine::discover::host(Path::new("/"), None)?;
        let cpu = |&element: &ElementId| {
            let e = &machine.elements[element];
            let Some(cpu) = e.os_cpu else {
                return Err(wrong(format!(
                    "{} of {} is no cpu of this computer: take `simulated` or `model`",
                    e.name, machine.name
                )));
            };
            if !allowed.contains(&cpu) {
                return Err(wrong(format!(
                    "{} of {} is no cpu that this process may use",
                    e.name, machine.name
                )));
            }
            let own = here.elements.iter().find(|own| own.os_cpu == Some(cpu));
            let known = |place: &machine::Place| (place.chip, place.core, place.l3);
            match own {
                Some(own) if e.place != machine::Place::default() && known(&own.place) != known(&e.place) => {
                    Err(wrong(format!(
                        "{} sits elsewhere on this computer: {} is of another one",
                        e.name, machine.name
                    )))
                }
                _ => Ok(cpu),
            }
        };
        let cpus = elements.iter().map(cpu).collect::<Result<_, _>>()?;
        let walks = traffic.phases.iter().map(|phase| phase.memory.len()).sum();
        let phases = traffic.phases.iter().map(|phase| MeasuredPhase::new(phase, walks));
        let phases = phases.filter(|phase| !phase.flows.is_empty() || !phase.memory.is_empty());
        Ok(Self { cpus, parts: traffic.parts, phases: phases.collect() })
    }
}

impl MeasuredPhase {
    /// One of a traffic in which parts walk through main memory in so many places.
    fn new(phase: &TrafficPhase, walks: usize) -> Self {
        let of_memory = || phase.memory.iter().flat_map(|flow| [flow.read_bytes, flow.written_bytes]);
        let most = phase.flows.iter().map(|flow| flow.bytes).chain(of_memory()).fold(0.0, f64::max);
        let shrink = (MESSAGE_BYTES_MAX / most).min(1.0);
        let bytes = phase.bytes() + of_memory().sum::<f64>();
        let turns = (RUN_BYTES / (bytes * shrink)).clamp(TURNS.0, TURNS.1).round();
        let flows = phase.flows.iter().map(|flow| Channel::new(flow.from, flow.to, flow.bytes * shrink));
        let memory = phase.memory.iter().map(|flow| {
            MemoryWalk::new(flow.part, flow.read_bytes * shrink, flow.written_bytes * shrink, walks)
        });
        Self {
            turns: turns as u64,
            scale: phase.weight / turns / shrink,
            flows: flows.collect(),
            memory: memory.collect(),
        }
    }
}

impl MemoryWalk {
    /// Its words are written here once: their pages lie in the memory next to the thread that calls.
    fn new(part: usize, read_bytes: f64, written_bytes: f64, walks: usize) -> Self {
        let words = |bytes: f64| (bytes / 8.0).ceil() as usize;
        let (read, written) = (words(read_bytes), words(written_bytes));
        let room = (beyond_caches_bytes(walks) / 8).max(read + written);
        let words = (0..room as u64).map(AtomicU64::new).collect();
        Self { part, words, read, written, walked: AtomicUsize::new(0) }
    }

    /// One turn; only its part's thread calls this.
    fn walk(&self) {
        let at = self.walked.load(Ordering::Relaxed);
        let at = if at + self.read + self.written > self.words.len() { 0 } else { at };
        let (read, rest) = self.words[at..].split_at(self.read);
        black_box(read.iter().map(|word| word.load(Ordering::Relaxed)).fold(0, u64::wrapping_add));
        rest[..self.written].iter().for_each(|word| word.store(at as u64, Ordering::Relaxed));
        self.walked.store(at + self.read + self.written, Ordering::Relaxed);
    }
}

impl Channel {
    fn new(from: usize, to: usize, bytes: f64) -> Self {
        let words = (bytes / 8.0).ceil().max(1.0) as u64 * BUFFERS;
        let words = (0..words).map(AtomicU64::new).collect();
        Self { from, to, words, sent: AtomicU64::new(0), taken: AtomicU64::new(0) }
    }

    fn buffer(&self, turn: u64) -> &[AtomicU64] {
        let words = self.words.len() / BUFFERS as usize;
        &self.words[(turn % BUFFERS) as usize * words..][..words]
    }

    /// Sends message `turn`, once its buffer is free.
    fn send(&self, turn: u64) {
        wait_until(|| self.taken.load(Ordering::Acquire) + BUFFERS > turn);
        self.buffer(turn).iter().for_each(|word| word.store(turn, Ordering::Relaxed));
        self.sent.store(turn + 1, Ordering::Release);
    }

    /// Takes message `turn`, once it is there.
    fn take(&self, turn: u64) {
        wait_until(|| self.sent.load(Ordering::Acquire) > turn);
        black_box(
            self.buffer(turn).iter().map(|word| word.load(Ordering::Relaxed)).fold(0, u64::wrapping_add),
        );
        self.taken.store(turn + 1, Ordering::Release);
    }
}

/// Looks for a while, then lets other threads have the cpu between looks.
fn wait_until(ready: impl Fn() -> bool) {
    let mut looks = 0;
    while !ready() {
        looks += 1;
        if looks < LOOKS { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
}

impl Judge for MeasuredTraffic {
    fn time_ns(&mut self, mapping: Option<&[usize]>) -> Result<f64, Located> {
        for channel in self.phases.iter_mut().flat_map(|phase| &mut phase.flows) {
            *channel.sent.get_mut() = 0;
            *channel.taken.get_mut() = 0;
        }
        let (phases, cpus) = (&self.phases, &self.cpus);
        let (barrier, refused) = (Barrier::new(self.parts), AtomicBool::new(false));
        let run = |part: usize| {
            let pinned = mapping.map(|mapping| host::pin::to_cpu(cpus[mapping[part]])).transpose();
            if pinned.is_err() {
                refused.store(true, Ordering::Relaxed);
            }
            let mut times = Vec::with_capacity(phases.len());
            barrier.wait();
            if refused.load(Ordering::Relaxed) {
                return (pinned.err().map(|e| e.to_string()), times);
            }
            for (pass, phase) in (0..PASSES).flat_map(|pass| phases.iter().map(move |phase| (pass, phase))) {
                let outgoing: Vec<&Channel> = phase.flows.iter().filter(|flow| flow.from == part).collect();
                let incoming: Vec<&Channel> = phase.flows.iter().filter(|flow| flow.to == part).collect();
                let walks: Vec<&MemoryWalk> = phase.memory.iter().filter(|walk| walk.part == part).collect();
                barrier.wait();
                let start = host::now_ns();
                for turn in pass * phase.turns..(pass + 1) * phase.turns {
                    outgoing.iter().for_each(|flow| flow.send(turn));
                    incoming.iter().for_each(|flow| flow.take(turn));
                    walks.iter().for_each(|walk| walk.walk());
                }
                if pass + 1 == PASSES {
                    times.push((start, host::now_ns()));
                }
                barrier.wait();
            }
            (None, times)
        };
        let run = &run;
        let done: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.parts).map(|part| scope.spawn(move || run(part))).collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        let mut spans = vec![(u64::MAX, 0); self.phases.len()];
        for part in done {
            let (why, times) = part.map_err(|_| Located::new("a thread of the traffic ended by a panic"))?;
            if let Some(why) = why {
                return Err(Located::new(format!("pinning was refused: {why}")));
            }
            for (span, (start, end)) in spans.iter_mut().zip(times) {
                *span = (span.0.min(start), span.1.max(end));
            }
        }
        if refused.into_inner() {
            return Err(Located::new("pinning was refused"));
        }
        let time = |(phase, (start, end)): (&MeasuredPhase, (u64, u64))| phase.scale * (end - start) as f64;
        Ok(self.phases.iter().zip(spans).map(time).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use place::{MemoryFlow, TrafficFlow};

    /// Two parts on cpus of this process, or on the same one where it has no other.
    fn judge(traffic: &Traffic) -> MeasuredTraffic {
        let cpus = Affinity::of_this_thread().unwrap().cpus();
        let cpus = vec![cpus[0], cpus[cpus.len() - 1]];
        // As if there were many walks: a small buffer for each.
        let phases = traffic.phases.iter().map(|phase| MeasuredPhase::new(phase, 1024)).collect();
        MeasuredTraffic { cpus, parts: traffic.parts, phases }
    }

    #[test]
    fn flows_to_main_memory_are_walked_in_every_turn() {
        let flow = TrafficFlow { from: 0, to: 1, bytes: 65_536.0 };
        let memory = MemoryFlow { part: 1, read_bytes: 65_536.0, written_bytes: 32_768.0 };
        let phase = TrafficPhase { memory: vec![memory], ..TrafficPhase::new("all", vec![flow]) };
        let only = TrafficPhase { memory: vec![memory], ..TrafficPhase::new("only memory", Vec::new()) };
        let traffic = Traffic { name: "walks".into(), parts: 2, phases: vec![phase, only] };
        let mut judge = judge(&traffic);
        assert!(judge.time_ns(Some(&[0, 1])).unwrap() > 0.0);
        for phase in &judge.phases {
            let walk = &phase.memory[0];
            let each = walk.read + walk.written;
            assert_eq!((walk.read, walk.written), (8192, 4096));
            let of_a_way = walk.words.len() / each;
            let turns = (PASSES * phase.turns) as usize;
            assert_eq!(walk.walked.load(Ordering::Relaxed), ((turns - 1) % of_a_way + 1) * each);
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_any_more_is_an_error_and_hangs_nobody() {
        let traffic = Traffic::of("pair", 2, [(0, 1, 1024.0)]);
        let mut judge = judge(&traffic);
        judge.cpus[1] = 100_000;
        let why = judge.time_ns(Some(&[0, 1])).unwrap_err().to_string();
        assert!(why.contains("pinning was refused") && why.contains("100000"), "{why}");
        assert!(judge.time_ns(None).unwrap() > 0.0, "the kernel's own placement still runs");
    }
}
