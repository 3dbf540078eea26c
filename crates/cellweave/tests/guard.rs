//! A program of a simulated machine that never yields is named.

use cellweave::SimGuard;
use sim::{Parameters, Simulation};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Set for the process that hangs.
const CHILD: &str = "CELLWEAVE_GUARD_CHILD";

fn machine() -> Simulation {
    Simulation::new(Parameters::named("cell").unwrap()).unwrap()
}

#[test]
fn a_program_that_never_yields_is_found_while_it_runs() {
    let mut cell = machine();
    let found = Arc::new(AtomicBool::new(false));
    let until = found.clone();
    cell.spe(0, "fine", |spe| spe.compute(100)).unwrap();
    cell.spe(5, "endless", move |spe| {
        spe.compute(50);
        while !until.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    })
    .unwrap();
    let (send, units) = mpsc::channel();
    let guard = SimGuard::new(cell.watch(), Duration::from_millis(20), move |turn| {
        found.store(true, Ordering::Relaxed);
        send.send(turn.unit).unwrap();
    });
    cell.run().unwrap();
    drop(guard);
    assert_eq!(units.iter().next(), Some(5));
}

#[test]
fn a_program_that_cannot_be_ended_ends_the_process_with_its_name_and_line() {
    if std::env::var_os(CHILD).is_some() {
        let mut cell = machine();
        cell.ppe(0, "endless", |ppe| {
            ppe.compute(50);
            loop {
                std::hint::spin_loop();
            }
        })
        .unwrap();
        let _guard = SimGuard::aborting(&cell, Duration::from_millis(20)).unwrap();
        unreachable!("{:?}", cell.run());
    }
    let line = line!() - 10; // of the call of `ppe` above
    let this = std::env::current_exe().unwrap();
    let name = "a_program_that_cannot_be_ended_ends_the_process_with_its_name_and_line";
    let child = Command::new(this).args([name, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
    let text = String::from_utf8(child.stderr).unwrap();
    assert!(!child.status.success());
    let expected =
        format!("PPE0 (endless, given at crates/cellweave/tests/guard.rs:{line}) never yields: it has run");
    assert!(text.contains(&expected), "{text}");
}
