//! Random bytes written into the memory of a running job: no rank dies of a signal, and none waits for ever. The job
//! goes on, or ends with a line that says which rank found what.
//!
//! `CELLWEAVE_MPI_SCRIBBLES` is how often each area is scribbled on; its default takes some seconds.

mod common;

use std::ops::Range;
use std::path::Path;
use transport::segment::{PAGE, PAIR_BYTES, WINDOW_BYTES, pool_room, shown_room};

/// What one run scribbles for. (A rank whose messages don't come gives up a second later.)
const MILLISECONDS: &str = "100";

fn times() -> u64 {
    let often = std::env::var("CELLWEAVE_MPI_SCRIBBLES").ok();
    often.map_or(3, |often| often.parse().expect("CELLWEAVE_MPI_SCRIBBLES is a number"))
}

/// What lies where in the memory of a job of so many ranks: see `transport::segment`.
struct Job(usize);

impl Job {
    fn pages(&self) -> Range<usize> {
        PAGE..PAGE * (1 + self.0)
    }

    fn pair(&self, from: usize, to: usize) -> Range<usize> {
        let start = self.pages().end + (to * self.0 + from) * PAIR_BYTES;
        start..start + PAIR_BYTES
    }

    fn pools(&self) -> Range<usize> {
        let start = self.pair(self.0 - 1, self.0 - 1).end;
        start..start + self.0 * pool_room(self.0)
    }

    fn windows(&self) -> Range<usize> {
        let start = self.pools().end;
        start..start + self.0 * WINDOW_BYTES
    }

    fn shown(&self) -> Range<usize> {
        let start = self.windows().end;
        start..start + self.0 * shown_room(self.0)
    }

    /// Scribbles on an area, and gives what was said in all runs.
    fn scribble(&self, area: Range<usize>) -> String {
        let program = common::compile("scribble/scribble.c");
        (1..=times()).map(|seed| self.run(&program, seed, &area)).collect()
    }

    fn run(&self, program: &Path, seed: u64, area: &Range<usize>) -> String {
        let words = [seed.to_string(), area.start.to_string(), area.len().to_string(), MILLISECONDS.into()];
        let done = common::run(self.0 as u32, program, &words.each_ref().map(String::as_str));
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let code = done.status.code();
        let how = format!("seed {seed}, {area:?}: {code:?}\n{said}");
        // A job that hangs is ended by SIGTERM.
        assert!(!said.contains("killed by") && !said.contains("panicked"), "{how}");
        assert!(code == Some(0) || said.contains("cellrun: "), "{how}");
        said
    }
}

const NAMED: &str = "memory shared by rank 1 and rank 0 is corrupt: ";

#[test]
fn a_ring_that_is_scribbled_on_ends_the_job_with_the_names_of_its_ranks() {
    let said = Job(3).scribble(Job(3).pair(0, 1));
    assert!(said.contains(NAMED), "{said}");
}

#[test]
fn counters_that_are_scribbled_on_end_the_job_with_the_names_of_its_ranks() {
    let counters = Job(3).pair(1, 0).start..Job(3).pair(1, 0).start + 16;
    let said = Job(3).scribble(counters);
    assert!(said.contains(NAMED), "{said}");
}

#[test]
fn scribbles_on_the_pages_of_ranks_kill_nobody() {
    Job(3).scribble(Job(3).pages());
}

#[test]
fn scribbles_on_the_pools_kill_nobody() {
    Job(3).scribble(Job(3).pools());
}

#[test]
fn scribbles_on_the_windows_kill_nobody() {
    Job(2).scribble(Job(2).windows());
    for rank in [0, 1] {
        let counters = Job(2).windows().start + rank * WINDOW_BYTES;
        Job(2).scribble(counters..counters + PAGE);
    }
}

#[test]
fn scribbles_on_the_first_page_kill_nobody() {
    Job(3).scribble(0..PAGE);
}

#[test]
fn scribbles_everywhere_kill_nobody() {
    Job(3).scribble(0..Job(3).shown().end);
}
