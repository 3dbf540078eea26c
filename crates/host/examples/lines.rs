//! The curve of hand-overs between the first two cpus, raw: `cargo run --release -p cellweave-host --example lines`.

use host::stream::{LineStream, near_line_ns};

/// Each point is measured for so long, as often as `PASSES` says.
const FOR_NS: u64 = 3_000_000;
const PASSES: usize = 5;

fn quarter(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 4).copied().unwrap_or(f64::NAN)
}

fn main() {
    let cpus = host::Affinity::of_this_thread().map(|a| a.cpus()).unwrap_or_default();
    let [a, b, ..] = cpus[..] else { return println!("one cpu has nobody to hand over to") };
    let rings: Vec<u64> = (15..=24).map(|bits| 1 << bits).collect();
    for both in [false, true] {
        println!("{}", if both { "both directions" } else { "one direction" });
        println!(
            "{:>8} {:>8} {}",
            "bytes",
            "near",
            rings.iter().map(|r| format!("{:>8}", r >> 10)).collect::<String>()
        );
        for bytes in [64, 256, 1024, 4096, 16384, 65536, 262144] {
            let near = quarter(near_line_ns(a, bytes, FOR_NS));
            let line = rings.iter().map(|&ring_bytes| {
                if ring_bytes < 2 * bytes {
                    return format!("{:>8}", "");
                }
                let stream = LineStream { cpus: [a, b], bytes, ring_bytes, both };
                let found: Vec<f64> = (0..PASSES).flat_map(|_| stream.line_ns(FOR_NS)).collect();
                format!("{:>8.2}", quarter(found))
            });
            println!("{bytes:>8} {near:>8.2} {}", line.collect::<String>());
        }
    }
}
