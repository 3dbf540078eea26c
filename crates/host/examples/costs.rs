//! What the parts of this crate cost on this computer, medians of 11 runs:
//! `cargo run --release -p cellweave-host --example costs`.

use host::{Event, Patience, now_ns, ring};
use std::hint::black_box;

const RUNS: usize = 11;

/// Median and extremes of `RUNS` runs, in ns per turn.
fn report(what: &str, mut run: impl FnMut() -> f64) {
    let mut ns: Vec<f64> = (0..RUNS).map(|_| run()).collect();
    ns.sort_by(f64::total_cmp);
    println!("{what:<52} {:>9.1} ns  ({:.1} to {:.1}, n = {RUNS})", ns[RUNS / 2], ns[0], ns[RUNS - 1]);
}

fn timed(turns: u32, mut turn: impl FnMut()) -> f64 {
    let start_ns = now_ns();
    for _ in 0..turns {
        turn();
    }
    now_ns().saturating_sub(start_ns) as f64 / f64::from(turns)
}

/// One item there and back between two threads, with `patience`; `cpus` where each is pinned.
fn there_and_back(turns: u32, cpus: Option<[u32; 2]>, patience: Patience) -> f64 {
    let (mut ping, mut pings) = ring(1, 1);
    let (mut pong, mut pongs) = ring(1, 1);
    let (mut pings, mut pongs) = (pings.remove(0), pongs.remove(0));
    let (there, back) = (Event::new(), Event::new());
    std::thread::scope(|s| {
        s.spawn(|| {
            let _ = cpus.map(|c| host::pin::to_cpu(c[1]));
            for _ in 0..turns {
                there.wait(patience, None, || pings.has_available(1));
                pings.release(1);
                pong.has_free(1);
                pong.publish(1);
                back.notify();
            }
        });
        let echo = s.spawn(|| {
            let _ = cpus.map(|c| host::pin::to_cpu(c[0]));
            timed(turns, || {
                ping.has_free(1);
                ping.publish(1);
                there.notify();
                back.wait(patience, None, || pongs.has_available(1));
                pongs.release(1);
            })
        });
        echo.join().unwrap_or(f64::NAN)
    })
}

fn main() {
    for (key, value) in host::identity().to_pairs() {
        println!("{key} = {value}");
    }
    let cpus = host::Affinity::of_this_thread().map(|a| a.cpus()).unwrap_or_default();
    report("reading the clock", || {
        timed(100_000, || {
            black_box(now_ns());
        })
    });
    let event = Event::new();
    report("notify when nobody sleeps", || timed(100_000, || event.notify()));
    let (mut producer, mut consumers) = ring(64, 1);
    report("publish and release one item, one thread", || {
        timed(100_000, || {
            if producer.has_free(1) {
                producer.publish(1);
            }
            if consumers[0].has_available(1) {
                consumers[0].release(1);
            }
        })
    });
    report("a mark for stolen time", || {
        timed(10_000, || {
            black_box(host::stolen::Mark::now());
        })
    });
    let [Some(first), Some(second)] = [cpus.first().copied(), cpus.get(1).copied()] else {
        println!("one cpu: no hand-over to measure");
        return;
    };
    let apart = Some([first, second]);
    report("hand-over to another core and back, spinning", || {
        there_and_back(50_000, apart, Patience::new(2, 2))
    });
    report("hand-over to another core and back, parking", || there_and_back(5_000, apart, Patience::NONE));
    report("hand-over on one core and back, more workers", || {
        there_and_back(5_000, Some([first, first]), Patience::new(2, 1))
    });
}
