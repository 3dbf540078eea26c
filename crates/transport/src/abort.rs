//! How a rank ends when it can't go on.

use std::io::Write;

/// How a rank ends when its job is over. The transport knows why; its user knows how to report it, and how to end.
pub trait Abort: Sync {
    /// Ends the job: the memory that its ranks share is corrupt, or another rank can't be reached. `why` is a sentence
    /// for people.
    fn abort(&self, why: &str) -> !;

    /// Another rank, or the process that started the job, has ended it: this rank leaves without a message.
    fn leave(&self) -> !;
}

/// Ends the process with code 1, and says why on the standard error.
pub struct Exit;

impl Abort for Exit {
    fn abort(&self, why: &str) -> ! {
        // A failed write cannot be reported anywhere.
        let _ = writeln!(std::io::stderr(), "{why}");
        self.leave()
    }

    fn leave(&self) -> ! {
        // SAFETY: ends the process without running anything of it: other threads may be anywhere.
        unsafe { libc::_exit(1) }
    }
}
