//! Joining a job, or being one alone; the launcher's work.

/// Ends the job: tells the launcher why, in one line, and exits with a code.
pub fn abort(code: i32, text: &str) -> ! {
    eprintln!("cellweave: {text}");
    std::process::exit(code.clamp(1, 255))
}
