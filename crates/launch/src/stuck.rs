//! Finds ranks that wait for one another (`cellrun --stuck-after`).
//!
//! A rank that has waited long says so in its page before it sleeps, and takes it back when something moved. When all
//! ranks say so and none has said anything new for so many seconds, nothing is in flight. The exception is a rank that
//! was woken but has not got a cpu yet; this is checked before anything is printed.

use std::fmt::Write;
use std::fs;
use std::sync::atomic::Ordering;
use transport::Segment;
use transport::segment::{RankPage, stage};

/// Whether a thread of a process runs, or would if it had a cpu.
fn runs(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    // The state is the letter behind the name, which is in parentheses and may hold any others.
    let state = |stat: &str| stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    threads.flatten().any(|thread| {
        fs::read_to_string(thread.path().join("stat")).is_ok_and(|stat| state(&stat) == Some('R'))
    })
}

/// The observations of all ranks.
pub(crate) struct Watch {
    after_ns: u64,
    /// What the ranks said when they last said anything new, and when that was.
    seen: Vec<(u32, u32)>,
    since_ns: u64,
    looked_ns: u64,
    told: bool,
}

impl Watch {
    /// Reports after so many seconds in which nothing moved.
    pub(crate) fn new(after_s: f64) -> Self {
        Self { after_ns: (after_s * 1e9) as u64, seen: Vec::new(), since_ns: 0, looked_ns: 0, told: false }
    }

    /// When to check again.
    pub(crate) fn look_at_ns(&self) -> u64 {
        self.looked_ns + (self.after_ns / 4).clamp(10_000_000, 1_000_000_000)
    }

    /// Checks. When nothing has moved for long, says once which rank waits for which. The job goes on.
    pub(crate) fn look(&mut self, segment: &Segment, now_ns: u64) -> Option<String> {
        let pages = || (0..segment.ranks()).map(|rank| segment.rank(rank));
        self.looked_ns = now_ns;
        let state =
            |page: &RankPage| (page.waiting.load(Ordering::Acquire), page.stage.load(Ordering::Relaxed));
        let seen: Vec<(u32, u32)> = pages().map(state).collect();
        let ended = |&(_, stage): &(u32, u32)| stage == stage::FINALISED;
        let stuck = seen.iter().all(|state| RankPage::says_waiting(state.0) || ended(state))
            && !seen.iter().all(ended);
        if !stuck || seen != self.seen {
            (self.seen, self.since_ns, self.told) = (seen, now_ns, false);
            return None;
        }
        if self.told || now_ns.saturating_sub(self.since_ns) < self.after_ns {
            return None;
        }
        if pages().any(|page| runs(page.pid.load(Ordering::Relaxed))) {
            return None;
        }
        self.told = true;
        let mut text = format!("nothing has moved for {} s; the job goes on:", self.after_ns as f64 / 1e9);
        for (rank, page) in pages().enumerate() {
            let _ = match page.waits_for() {
                Some(what) => write!(text, "\n  rank {rank} waits in {what}"),
                None => write!(text, "\n  rank {rank} has called MPI_Finalize"),
            };
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_waits_does_not_run() {
        // The test's own thread reads this, so that one runs.
        assert!(runs(std::process::id()));
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        while runs(sleeper.id()) {
            std::thread::yield_now();
        }
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(!runs(sleeper.id()));
    }

    #[test]
    fn it_is_told_once_when_all_wait_and_nothing_is_new() {
        let (_fd, segment) = Segment::create(2, 2).unwrap();
        let mut watch = Watch::new(1e-9);
        segment.rank(0).waits("MPI_Recv for a message from rank 1 with tag 5");
        assert_eq!(watch.look(&segment, 1), None);
        assert_eq!(watch.look(&segment, 1_000), None, "rank 1 computes");
        segment.rank(1).waits("MPI_Barrier");
        assert_eq!(watch.look(&segment, 2_000), None, "that was new");
        let text = watch.look(&segment, 3_000).unwrap();
        assert!(text.contains("rank 0 waits in MPI_Recv for a message from rank 1 with tag 5"), "{text}");
        assert!(text.contains("rank 1 waits in MPI_Barrier"), "{text}");
        assert_eq!(watch.look(&segment, 4_000), None, "it was told");
        segment.rank(1).waits("");
        assert_eq!(watch.look(&segment, 5_000), None);
        segment.rank(1).stage.store(stage::FINALISED, Ordering::Relaxed);
        assert_eq!(watch.look(&segment, 6_000), None);
        let text = watch.look(&segment, 7_000);
        assert!(text.is_some_and(|text| text.contains("rank 1 has called MPI_Finalize")));
    }
}
