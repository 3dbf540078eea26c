//! How many packets a second of wall time: eight SPEs that read from their neighbours.
use sim::{Parameters, Simulation};

fn pattern(name: &str, pairs: &[(usize, usize)], bytes: u32, times: u32, rules: &str) {
    let mut p = Parameters::named("qs22").unwrap();
    if let Some(r) = sim::Rules::named(rules) {
        p.rules = r;
    }
    let mut sim = Simulation::new(p).unwrap();
    for &(reader, from) in pairs {
        sim.spe(reader, "reader", move |spe| {
            let source = spe.local_store_of(from) + 131072;
            for i in 0..times {
                spe.get((i % 4) * 16384, source, bytes, i % 4);
                if i >= 3 {
                    spe.tags_all(1 << ((i + 1) % 4));
                }
            }
            spe.tags_all(15);
        })
        .unwrap();
    }
    let start = std::time::Instant::now();
    let outcome = sim.run().unwrap();
    let wall = start.elapsed().as_secs_f64();
    let moved = pairs.len() as f64 * f64::from(bytes) * f64::from(times);
    let packets = outcome.counters.packets();
    println!(
        "{name:10} {rules:15} {:7.1} GB/s, {:.1} M packets/s, {packets} packets, hash {:x}",
        moved / outcome.elapsed_ns(),
        packets as f64 / wall / 1e6,
        outcome.hash
    );
}

fn main() {
    for rules in sim::Rules::all() {
        let r = rules.name.as_str();
        pattern("pair", &[(1, 3)], 16384, 400, r);
        pattern("near", &[(1, 3), (3, 1), (5, 7), (7, 5), (0, 2), (2, 0), (4, 6), (6, 4)], 16384, 2000, r);
        pattern("shift", &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 0)], 16384, 2000, r);
        pattern("cross0", &[(0, 8)], 16384, 400, r);
        pattern("cross1", &[(8, 0)], 16384, 400, r);
    }
}
