//! How long a machine file of 128 elements with limits and distances takes to read:
//! `cargo run --release -p cellweave-machine --example load_time`.
#![expect(
    clippy::disallowed_methods,
    reason = "this measures, and the crate that reads clocks is above this one"
)]

use machine::{Block, Distances, Element, Limit, Machine, Memory, Place, file};
use std::time::Instant;

fn main() {
    const N: usize = 128;
    let all: Vec<usize> = (0..N).collect();
    let elements = (0..N).map(|i| Element {
        name: format!("CPU{i}"),
        kind: "core".into(),
        place: Place {
            chip: i as u32 / 64,
            l3: Some(i as u32 / 8),
            core: Some(i as u32),
            ..Place::default()
        },
        memory: Some(Memory {
            bytes: 1 << 19,
            holds_code: true,
            hard: false,
            l1_bytes: Some(1 << 15),
            overflow_bytes_per_s: None,
        }),
        incoming_max: None,
        outgoing_max: Default::default(),
        os_cpu: Some(i as u32),
    });
    let ports = (0..N).flat_map(|i| {
        [(vec![i], all.clone(), "output"), (all.clone(), vec![i], "input")].map(|(from, to, what)| Limit {
            name: format!("{what} of CPU{i}"),
            capacity_bytes_per_s: 1.25e10 + i as f64 / 3.0,
            pairs: vec![Block { from, to }],
            error: None,
        })
    });
    let matrix =
        |scale: f64| (0..N).map(|i| (0..N).map(|j| scale * (i * j) as f64 / 7.0).collect()).collect();
    let machine = Machine {
        name: "two sockets".into(),
        elements: elements.collect(),
        limits: ports.collect(),
        distances: Some(Distances { latency_ns: matrix(0.01), bandwidth_bytes_per_s: matrix(1e6) }),
        ..Machine::default()
    };
    let text = match file::to_text(&machine) {
        Ok(text) => text,
        Err(e) => return eprintln!("{e}"),
    };
    let mut ms: Vec<f64> = (0..21)
        .map(|_| {
            let start = Instant::now();
            let same = file::parse(&text, "two sockets").is_ok_and(|m| m == machine);
            assert!(same, "not the machine that was written");
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    ms.sort_by(f64::total_cmp);
    println!(
        "{} kB, {} limits: median {:.1} ms ({:.1} to {:.1}, n = 21)",
        text.len() / 1000,
        machine.limits.len(),
        ms[10],
        ms[0],
        ms[20]
    );
}
