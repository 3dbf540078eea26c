//! What `cellrun --on` measures, records and shows: computing that is charged and replayed, traces and profiles.

mod common;

use common::launch;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file of a test's own.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// What a job prints, and what the launcher says of it.
fn told(words: &[&str], program: &Path) -> [String; 2] {
    let done = launch(words, program, &[]);
    let [printed, said] =
        [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(done.status.success(), "{words:?}: {printed}{said}");
    [printed, said]
}

#[test]
fn computing_that_was_measured_is_replayed_to_the_bit() {
    let program = common::compile("cell/tools.c");
    let record = file("computed.json");
    let _ = std::fs::remove_file(&record);
    let [measure, replay] = ["measured", "replayed"].map(|how| format!("{how}:{}", record.display()));
    let on = ["--on", "cell", "-n", "3", "--compute"];
    let measured = told(&[&on[..], &[&measure, "--factor", "2.5"]].concat(), &program);
    for _ in 0..2 {
        assert_eq!(told(&[&on[..], &[&replay]].concat(), &program), measured);
    }
    // What is not declared is charged, or it is told.
    let [declared, said] = told(&["--on", "cell", "-n", "3"], &program);
    assert_ne!(declared, measured[0], "{said}");
    for (words, said) in [
        (vec!["--on", "cell", "-n", "2", "--compute", &replay], "it is of 3 ranks, and the job has 2"),
        (vec!["-n", "3", "--compute", &replay], "--compute: it is used with --on"),
        (vec!["--on", "cell", "--factor", "2"], "--factor 2: it is used with --compute measured:FILE"),
        (vec!["--on", "cell", "--compute", "all"], "allowed are declared, measured:FILE and replayed:FILE"),
        (vec!["--on", "cell", "--compute", "replayed:/no/file"], "--compute replayed:/no/file: No such file"),
        (vec!["--on", "cell", "--compute", "measured:/no/file"], "/no/file: there is no folder /no"),
    ] {
        let done = launch(&words, &program, &[]);
        let told = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code() == Some(2) && told.contains(said), "{words:?}: {told}");
    }
    let other = common::compile("cell/compute.c");
    let done = launch(&[&on[..], &[&replay]].concat(), &other, &[]);
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.code() == Some(1) && told.contains("must be those of the record"), "{told}");
}

#[test]
fn a_trace_that_takes_long_to_write_is_written_whole() {
    let program = common::compile("cell/tools.c");
    let fifo = file("slow.fifo");
    let _ = std::fs::remove_file(&fifo);
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    // Longer than the launcher waits for a simulator that has nothing to write.
    let slow = "sleep 2.5; timeout 20 cat \"$0\"";
    let reader = Command::new("sh").args(["-c", slow]).arg(&fifo).stdout(Stdio::piped()).spawn().expect("sh");
    let [_, said] = told(&["--on", "cell", "-n", "2", "--trace", &fifo.display().to_string()], &program);
    let read = reader.wait_with_output().expect("the reader ends").stdout;
    assert!(serde_json::from_slice::<serde_json::Value>(&read).is_ok(), "{} bytes", read.len());
    assert!(said.contains("us simulated on cell"), "{said}");
}

#[test]
fn a_trace_shows_ranks_queues_and_rings() {
    let program = common::compile("cell/tools.c");
    let trace = file("ranks.trace.json");
    let words = ["--on", "cell", "-n", "2", "--trace", &trace.display().to_string()].map(str::to_owned);
    let words = words.each_ref().map(String::as_str);
    let [_, said] = told(&words, &program);
    let text = std::fs::read_to_string(&trace).expect("the trace");
    let whole: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let events = whole["traceEvents"].as_array().expect("events");
    let of = |phase: &str| events.iter().filter(|event| event["ph"] == phase).collect::<Vec<_>>();
    let tracks: Vec<&str> = of("M").iter().filter_map(|event| event["args"]["name"].as_str()).collect();
    for track in ["SPE0 (rank 0)", "SPE1 (rank 1)", "rings of chip 0"] {
        assert!(tracks.contains(&track), "{tracks:?}");
    }
    let count = |name: &str| of("X").iter().filter(|event| event["name"] == name).count();
    assert_eq!(count("send 4 bytes to rank 1"), 20, "{said}");
    assert_eq!(count("receive 4 bytes from rank 1"), 20);
    assert_eq!(count("compute 1000 operations"), 40);
    assert!(count("SPE0 -> SPE1") > 20 && count("SPE0 -> MIC") > 0);
    // A queue is empty at the end, was not, and has no more entries than it has room for.
    let levels = of("C");
    let queue: Vec<u64> = (levels.iter().filter(|event| event["name"] == "queue 0 -> 1"))
        .map(|event| event["args"]["entries"].as_u64().expect("entries"))
        .collect();
    assert!(queue.iter().max().is_some_and(|&most| (1..=16).contains(&most)), "{queue:?}");
    // No step of a rank overlaps the next, and none lasts longer than the job.
    let us = |event: &serde_json::Value, name: &str| event[name].as_f64().expect("us");
    let mut last = [0.0, 0.0];
    let steps = ["communication", "computation"];
    for event in of("X").iter().filter(|event| steps.contains(&event["cat"].as_str().unwrap_or_default())) {
        let rank = event["tid"].as_u64().expect("a rank") as usize;
        assert!(us(event, "ts") >= last[rank] - 1e-6, "{event}");
        last[rank] = us(event, "ts") + us(event, "dur");
    }
    let took: f64 = said.trim_start_matches("cellrun: ").split(' ').next().expect("us").parse().expect("us");
    assert!(last.iter().all(|&end| end > 0.0 && end <= took), "{last:?}: {said}");
    let again = std::fs::read(&trace).expect("the trace");
    told(&words, &program);
    assert!(std::fs::read(&trace).expect("the trace") == again, "two runs have the same trace");
}

#[test]
fn a_profile_has_simulated_times_which_are_the_same_in_every_run() {
    let program = common::compile("cell/tools.c");
    let profile = file("ranks.profile.json");
    let run = || -> serde_json::Value {
        told(&["--on", "cell", "-n", "2", "--profile", &profile.display().to_string()], &program);
        let text = std::fs::read_to_string(&profile).expect("the profile");
        serde_json::from_str(&text).expect("JSON")
    };
    let first = run();
    assert_eq!(first, run());
    let sent = &first["pattern"][0];
    assert!(sent["messages"] == 20 && sent["bytes"] == 80, "{sent}");
    let elapsed_ns = first["elapsed_s"].as_f64().expect("seconds") * 1e9;
    let functions = first["phases"][0]["functions"].as_array().expect("functions");
    let in_mpi = functions.iter().filter(|one| one["rank"] == 0).filter_map(|one| one["ns"].as_f64());
    let exchange = functions.iter().find(|one| one["name"] == "MPI_Sendrecv_replace").expect("it was called");
    assert!(exchange["calls"] == 20 && exchange["ns"].as_f64() > Some(20.0 * 100.0), "{exchange}");
    assert!(in_mpi.sum::<f64>() < elapsed_ns, "{functions:?}");
}
