//! Lines handed over, shared by mistake, wake-ups and turns, between pinned threads.
//!
//! A line's home writes it before each sample; every sample takes another line, since a line's address decides which
//! part of a shared cache and which memory channel it belongs to. The thread that waits looks at the line without a
//! pause, and yields its cpu after thousands of looks, for the case that both threads are on one cpu.

use super::barrier::Barrier;
use super::lines::Lines;
use super::watch::{Hypervisor, Seen, Watch, note};
use crate::clock::Clock;
use crate::futex::{Reach, sleep, wake};
use crate::pin;
use machine::target::{Sample, TargetError, Times};
use machine::{Act, ElementId, Home, LineExchange, Machine};
use std::sync::atomic::{AtomicU32, Ordering};

/// Lines among which the samples of one line choose.
const HOMES: usize = 1024;
/// From the line of one sample to that of the next: far from its page, and without a common divisor with [`HOMES`].
const NEXT_HOME: usize = 37;
/// From one fresh line to the next: no stream for a prefetcher.
const NEXT_FRESH: usize = 5;
/// Looks at a line before the cpu is given to whom it may need.
const LOOKS: u32 = 1 << 14;
/// How long a thread sleeps before it is woken: part of what a wake-up is, since a cpu that has been idle for longer
/// takes longer to come back.
const SLEEP_NS: u64 = 50_000;

/// What the two threads of a pair share.
struct Shared {
    lines: Lines,
    /// Whose turn it is; or the answer to a wake-up, and what is slept on.
    bells: [AtomicU32; 2],
    /// The kernel's number of the thread that sleeps; 0 where it is not known yet.
    sleeper: AtomicU32,
}

/// What a thread is in a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    First,
    Second,
}

/// A thread: its element, and its side of a pair. One without a pair is the home of the others' lines.
type Member = (ElementId, Option<(usize, Side)>);

pub(super) fn measure(
    machine: &Machine,
    exchange: &LineExchange,
    samples: u32,
) -> Result<Vec<Sample>, TargetError> {
    exchange.check(machine)?;
    let shared: Vec<Shared> =
        exchange.pairs.iter().map(|_| Shared::new(exchange)).collect::<Result<_, _>>()?;
    let mut members: Vec<Member> = (exchange.pairs.iter().enumerate())
        .flat_map(|(i, &(a, b))| [(a, Some((i, Side::First))), (b, Some((i, Side::Second)))])
        .collect();
    if let Act::Line(Home::Third(e)) | Act::FreshLine(Home::Third(e)) = exchange.act {
        members.push((e, None));
    }
    let barrier = Barrier::new(members.len());
    let base_ns = crate::now_ns();
    let hypervisor = Hypervisor::watch();
    let run = |member: Member| {
        let cpu = machine.elements[member.0].os_cpu.unwrap_or(u32::MAX);
        thread(member, cpu, exchange, &shared, &barrier, samples, base_ns)
    };
    let logs: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = members.iter().map(|&m| (m, scope.spawn(move || run(m)))).collect();
        threads.into_iter().map(|(m, thread)| (m, thread.join())).collect()
    });
    let mut found =
        vec![
            Sample { transfers: vec![Times::default(); exchange.pairs.len()], ..Sample::default() };
            samples as usize
        ];
    for ((element, part), log) in logs {
        let name = &machine.elements[element].name;
        let log = log.map_err(|_| TargetError::Failed(format!("the thread on {name} ended by a panic")))?;
        note(&mut found, element, log.pinned, &log.seen, members.len());
        let Some((pair, side)) = part else { continue };
        for (sample, times) in found.iter_mut().zip(log.times) {
            let known = &mut sample.transfers[pair];
            match exchange.act {
                // Both write all the time: the mean of the two.
                Act::SharedLine | Act::OwnLine if side == Side::Second => {
                    known.latency_ns = (known.latency_ns + times.latency_ns) / 2.0;
                }
                _ if side == Side::First => *known = times,
                _ => {}
            }
        }
    }
    let elements: Vec<ElementId> = members.iter().map(|m| m.0).collect();
    hypervisor.note(&mut found, machine, &elements);
    Ok(found)
}

/// What a thread has to say of its samples.
struct Heard {
    pinned: bool,
    seen: Vec<Seen>,
    times: Vec<Times>,
}

fn thread(
    (_, part): Member,
    cpu: u32,
    exchange: &LineExchange,
    shared: &[Shared],
    barrier: &Barrier,
    samples: u32,
    base_ns: u64,
) -> Heard {
    let mut heard = Heard { pinned: pin::to_cpu(cpu).is_ok(), seen: Vec::new(), times: Vec::new() };
    let own = part.map(|(pair, side)| (&shared[pair], side));
    let clock = Clock::get();
    for sample in 0..samples as usize {
        match own {
            Some((shared, side)) => shared.prepare(exchange, sample, side),
            None => shared.iter().for_each(|s| s.clear(exchange, sample)),
        }
        let mut watch = Watch::new();
        barrier.wait();
        watch.start();
        barrier.wait();
        let start_ns = clock.now_ns();
        let (done, idle_ns) = own.map_or((1, 0), |(shared, side)| shared.run(exchange, sample, side));
        let end_ns = clock.now_ns();
        // Who yields is counted as if it had lost its cpu.
        let lost_cpu = watch.stop() && exchange.act != Act::Yield;
        barrier.wait();
        heard.seen.push(watch.seen(lost_cpu && own.is_some()));
        let since = |ns: u64| ns.saturating_sub(base_ns) as f64;
        let ns = end_ns.saturating_sub(start_ns).max(1);
        heard.times.push(Times {
            start_ns: since(start_ns),
            end_ns: since(start_ns) + ns as f64,
            ticks: ns,
            latency_ns: ns.saturating_sub(idle_ns).max(1) as f64 / done as f64,
            bytes: done * crate::stream::LINE_BYTES,
        });
    }
    heard
}

impl Shared {
    fn new(exchange: &LineExchange) -> Result<Self, TargetError> {
        let count = match exchange.act {
            Act::FreshLine(_) => 2 * exchange.repeats as usize,
            _ => HOMES,
        };
        let lines = Lines::new(count).map_err(|e| TargetError::Failed(format!("memory for lines: {e}")))?;
        Ok(Self { lines, bells: [AtomicU32::new(0), AtomicU32::new(0)], sleeper: AtomicU32::new(0) })
    }

    /// Before a sample, on a thread of the pair.
    fn prepare(&self, exchange: &LineExchange, sample: usize, side: Side) {
        let here = match exchange.act {
            Act::Line(home) | Act::FreshLine(home) => match home {
                Home::Writer => side == Side::First,
                Home::Reader => side == Side::Second,
                Home::Third(_) => false,
            },
            _ => side == Side::First,
        };
        if here {
            self.clear(exchange, sample);
        }
    }

    /// Before a sample, on the thread that is the lines' home.
    fn clear(&self, exchange: &LineExchange, sample: usize) {
        match exchange.act {
            Act::FreshLine(_) => {
                (0..self.lines.count()).for_each(|line| self.lines.word(line, 0).store(0, Ordering::Relaxed));
            }
            _ => {
                for line in [0, 1] {
                    (0..2).for_each(|w| self.lines.word(home(sample) + line, w).store(0, Ordering::Relaxed));
                }
                self.bells.iter().for_each(|b| b.store(0, Ordering::Relaxed));
            }
        }
    }

    /// One sample on one side: how many hand-overs, writes, wake-ups or turns, and ns that are none of theirs.
    fn run(&self, exchange: &LineExchange, sample: usize, side: Side) -> (u64, u64) {
        let repeats = u64::from(exchange.repeats);
        match exchange.act {
            Act::Line(_) => {
                let line = self.lines.word(home(sample), 0);
                for round in 0..repeats {
                    match side {
                        Side::First => {
                            line.store(2 * round + 1, Ordering::Release);
                            look_until(|| line.load(Ordering::Acquire) == 2 * round + 2);
                        }
                        Side::Second => {
                            look_until(|| line.load(Ordering::Acquire) == 2 * round + 1);
                            line.store(2 * round + 2, Ordering::Release);
                        }
                    }
                }
                (2 * repeats, 0)
            }
            Act::FreshLine(_) => {
                let line = |at: u64| self.lines.word(at as usize * NEXT_FRESH, 0);
                for round in 0..repeats {
                    let (there, back) = (line(2 * round), line(2 * round + 1));
                    match side {
                        Side::First => {
                            there.store(1, Ordering::Release);
                            look_until(|| back.load(Ordering::Acquire) == 1);
                        }
                        Side::Second => {
                            look_until(|| there.load(Ordering::Acquire) == 1);
                            back.store(1, Ordering::Release);
                        }
                    }
                }
                (2 * repeats, 0)
            }
            Act::SharedLine | Act::OwnLine => {
                let number = usize::from(side == Side::Second);
                let (line, word) = if exchange.act == Act::SharedLine { (0, number) } else { (number, 0) };
                let mine = self.lines.word(home(sample) + line, word);
                for _ in 0..repeats {
                    mine.store(mine.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
                }
                (repeats, 0)
            }
            Act::Wake => {
                let [answer, bell] = &self.bells;
                let mut idle_ns = 0;
                if side == Side::Second {
                    self.sleeper.store(thread_number(), Ordering::Release);
                }
                for round in 0..exchange.repeats {
                    match side {
                        Side::First => {
                            idle_ns += until_asleep(&self.sleeper);
                            bell.store(round + 1, Ordering::Release);
                            wake(bell, 1, Reach::Process);
                            look_until(|| answer.load(Ordering::Acquire) > round);
                        }
                        Side::Second => {
                            while bell.load(Ordering::Acquire) <= round {
                                sleep(bell, round, None, Reach::Process);
                            }
                            answer.store(round + 1, Ordering::Release);
                        }
                    }
                }
                (repeats, idle_ns)
            }
            Act::Yield => {
                let (turn, mine) = (&self.bells[0], side as u32);
                for _ in 0..repeats {
                    while turn.load(Ordering::Acquire) != mine {
                        std::thread::yield_now();
                    }
                    turn.store(1 - mine, Ordering::Release);
                }
                (2 * repeats, 0)
            }
        }
    }
}

/// The line of a sample.
fn home(sample: usize) -> usize {
    sample * NEXT_HOME
}

/// The kernel's number of this thread; 0 where `/proc` does not say it.
fn thread_number() -> u32 {
    let own = std::fs::read_link("/proc/thread-self").ok();
    own.and_then(|path| path.file_name()?.to_str()?.parse().ok()).unwrap_or(0)
}

/// Waits until the thread sleeps and has slept for [`SLEEP_NS`], and gives the ns that this took. The kernel says
/// whether it sleeps; where it does not, only the time counts.
fn until_asleep(sleeper: &AtomicU32) -> u64 {
    let start_ns = crate::now_ns();
    look_until(|| {
        sleeper.load(Ordering::Acquire) != 0 || crate::now_ns().saturating_sub(start_ns) >= SLEEP_NS
    });
    let state = format!("/proc/self/task/{}/stat", sleeper.load(Ordering::Acquire));
    // The state follows the thread's name, which stands in brackets and may contain some.
    let is_awake =
        |line: &String| line.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('S'));
    while std::fs::read_to_string(&state).is_ok_and(|line| is_awake(&line)) {
        std::thread::yield_now();
    }
    let asleep_ns = crate::now_ns();
    look_until(|| crate::now_ns().saturating_sub(asleep_ns) >= SLEEP_NS);
    crate::now_ns().saturating_sub(start_ns)
}

/// Looks without a pause: what is measured is how soon the change is seen.
fn look_until(mut done: impl FnMut() -> bool) {
    let mut looks = 0u32;
    while !done() {
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(LOOKS) {
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This computer, or two elements on its only cpu.
    fn pair() -> Machine {
        let mut machine = machine::load("host").unwrap();
        if machine.elements.len() < 2 {
            machine.elements.push(machine.elements[0].clone());
        }
        machine
    }

    #[test]
    fn every_act_has_a_time_for_every_pair_and_sample() {
        let machine = pair();
        for (act, pairs) in [
            (Act::Line(Home::Writer), vec![(0, 1)]),
            (Act::Line(Home::Reader), vec![(0, 1)]),
            (Act::FreshLine(Home::Writer), vec![(1, 0)]),
            (Act::SharedLine, vec![(0, 1)]),
            (Act::OwnLine, vec![(0, 1)]),
            (Act::Wake, vec![(0, 1)]),
            (Act::Yield, vec![(0, 0), (1, 1)]),
        ] {
            let exchange = LineExchange { act, pairs: pairs.clone(), repeats: 20 };
            let samples = measure(&machine, &exchange, 3).unwrap();
            assert_eq!(samples.len(), 3);
            for s in samples {
                assert_eq!(s.transfers.len(), pairs.len());
                assert!(
                    s.transfers.iter().all(|t| t.latency_ns > 0.0 && t.end_ns > t.start_ns),
                    "{act:?}: {s:?}"
                );
                assert!(s.work_ns > 0.0);
            }
        }
    }

    #[test]
    fn a_home_of_its_own_writes_the_lines_and_takes_no_part() {
        let mut machine = pair();
        let third = machine.elements[0].clone();
        machine.elements.push(third);
        for act in [Act::Line(Home::Third(2)), Act::FreshLine(Home::Third(2))] {
            let exchange = LineExchange { act, pairs: vec![(0, 1)], repeats: 20 };
            let samples = measure(&machine, &exchange, 2).unwrap();
            assert!(samples.iter().all(|s| s.transfers.len() == 1 && s.transfers[0].latency_ns > 0.0));
        }
    }

    #[test]
    fn a_thread_that_is_not_pinned_is_named_in_every_sample() {
        let mut machine = pair();
        machine.elements[1].os_cpu = Some(8191);
        let exchange = LineExchange { act: Act::Wake, pairs: vec![(0, 1)], repeats: 5 };
        let samples = measure(&machine, &exchange, 2).unwrap();
        assert!(samples.iter().all(|s| s.unpinned == [1]), "{samples:?}");
    }
}
