//! Random bytes written into the memory of a running job: no rank dies of a signal, and none waits for ever. The job goes on, or
//! ends with a line that says which rank found what.
//!
//! `CELLWEAVE_MPI_SCRIBBLES` is how often each area is scribbled on; its default takes some seconds.

mod common;

use mpi::segment::{PAGE, PAIR_BYTES, POOL_BYTES};
use std::ops::Range;
use std::path::Path;

const RANKS: usize = 3;
/// What one run scribbles for. (A rank whose messages don't come gives up a second later.)
const MILLISECONDS: &str = "100";

fn times() -> u64 {
    let often = std::env::var("CELLWEAVE_MPI_SCRIBBLES").ok();
    often.map_or(3, |often| often.parse().expect("CELLWEAVE_MPI_SCRIBBLES is a number"))
}

/// Scribbles on an area, and gives what was said in each run.
fn scribble(area: Range<usize>) -> Vec<String> {
    let program = common::compile("scribble/scribble.c");
    (1..=times()).map(|seed| run(&program, seed, &area)).collect()
}

fn run(program: &Path, seed: u64, area: &Range<usize>) -> String {
    let words = [seed.to_string(), area.start.to_string(), area.len().to_string(), MILLISECONDS.into()];
    let done = common::run(RANKS as u32, program, &words.each_ref().map(String::as_str));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let code = done.status.code();
    let how = format!("seed {seed}, {area:?}: {code:?}\n{said}");
    // A job that hangs is ended by SIGTERM.
    assert!(!said.contains("killed by") && !said.contains("panicked"), "{how}");
    assert!(code == Some(0) || said.contains("cellrun: "), "{how}");
    said
}

const RANK_PAGES: Range<usize> = PAGE..PAGE * (1 + RANKS);

fn pair(from: usize, to: usize) -> Range<usize> {
    let start = RANK_PAGES.end + (to * RANKS + from) * PAIR_BYTES;
    start..start + PAIR_BYTES
}

fn pools() -> Range<usize> {
    let start = pair(RANKS - 1, RANKS - 1).end;
    start..start + RANKS * POOL_BYTES
}

#[test]
fn a_ring_that_is_scribbled_on_ends_the_job_with_the_names_of_its_ranks() {
    let said: String = scribble(pair(0, 1)).concat();
    assert!(said.contains("memory shared by rank 1 and rank 0 is corrupt: "), "{said}");
}

#[test]
fn counters_that_are_scribbled_on_end_the_job_with_the_names_of_its_ranks() {
    let counters = pair(1, 0).start..pair(1, 0).start + 16;
    let said: String = scribble(counters).concat();
    assert!(said.contains("memory shared by rank 1 and rank 0 is corrupt: "), "{said}");
}

#[test]
fn scribbles_on_the_pages_of_ranks_kill_nobody() {
    scribble(RANK_PAGES);
}

#[test]
fn scribbles_on_the_pools_kill_nobody() {
    scribble(pools());
}

#[test]
fn scribbles_on_the_first_page_kill_nobody() {
    scribble(0..PAGE);
}

#[test]
fn scribbles_everywhere_kill_nobody() {
    scribble(0..pools().end);
}
