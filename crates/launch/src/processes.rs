//! Processes below this one, and their end.

use host::clock::{kernel_ns, sleep_ns};
use std::collections::HashMap;

/// Makes orphans below this process its children, so that none gets away.
pub(crate) fn adopt_orphans() {
    // SAFETY: flags only.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}

/// How a child ended, or that it only stopped.
pub(crate) type Status = i32;

/// Takes a child that has ended, if there is one. Nothing left to wait for: `None`; none has ended yet: `Some(None)`.
pub(crate) fn ended_child() -> Option<Option<(libc::pid_t, Status)>> {
    let mut status = 0;
    // SAFETY: a valid place for the status.
    match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
        0 => Some(None),
        pid if pid > 0 => Some(Some((pid, status))),
        _ => None,
    }
}

/// All processes below `ancestor`, as they are at this moment.
pub(crate) fn descendants(ancestor: libc::pid_t) -> Vec<libc::pid_t> {
    let mut children: HashMap<libc::pid_t, Vec<libc::pid_t>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![ancestor];
    while let Some(pid) = next.pop() {
        let below = children.remove(&pid).unwrap_or_default();
        found.extend(&below);
        next.extend(below);
    }
    found
}

/// The supervisor's name in the kernel and in `ps`. It differs from the launcher's, so that killing everything called
/// `cellrun` leaves the supervisor to clean up.
pub(crate) const SUPERVISOR: &std::ffi::CStr = c"mpi-supervisor";

/// Whether a supervisor is above this process.
pub(crate) fn has_supervisor() -> bool {
    let above = |pid: &libc::pid_t| parent(*pid).filter(|&parent| parent > 0);
    std::iter::successors(Some(std::process::id() as libc::pid_t), above).any(|pid| {
        std::fs::read(format!("/proc/{pid}/comm"))
            .is_ok_and(|name| name.trim_ascii_end() == SUPERVISOR.to_bytes())
    })
}

fn parent(pid: libc::pid_t) -> Option<libc::pid_t> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may hold anything; state and parent follow it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Kills every process below this one, which must have adopted orphans, and takes their ends until none is left.
/// `on_end` is called for each. False when some are left after `patience_ns` (they belong to another user, or hang in
/// the kernel).
pub(crate) fn end_descendants(patience_ns: u64, mut on_end: impl FnMut(libc::pid_t, Status)) -> bool {
    let own = std::process::id() as libc::pid_t;
    let give_up_ns = kernel_ns() + patience_ns;
    loop {
        loop {
            match ended_child() {
                None => return true,
                Some(None) => break,
                Some(Some((pid, status))) => on_end(pid, status),
            }
        }
        for pid in descendants(own) {
            // SAFETY: a number; at worst there is no such process any more.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        if kernel_ns() > give_up_ns {
            return false;
        }
        sleep_ns(1_000_000);
    }
}

/// The name of a signal.
pub(crate) fn signal_name(signal: i32) -> String {
    const NAMES: [(i32, &str); 19] = [
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGUSR1, "SIGUSR1"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGUSR2, "SIGUSR2"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGXCPU, "SIGXCPU"),
        (libc::SIGXFSZ, "SIGXFSZ"),
        (libc::SIGVTALRM, "SIGVTALRM"),
        (libc::SIGSYS, "SIGSYS"),
    ];
    let name = NAMES.iter().find(|(number, _)| *number == signal);
    name.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).into())
}

/// The exit code that a shell gives for a status.
pub(crate) fn exit_code(status: Status) -> i32 {
    if libc::WIFSIGNALED(status) { 128 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) }
}

/// A set of signals.
pub(crate) fn signals(which: impl IntoIterator<Item = i32>) -> libc::sigset_t {
    // SAFETY: an initialised set and valid numbers.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in which {
            libc::sigaddset(&mut set, signal);
        }
        set
    }
}

/// The name of this computer.
pub fn host_name() -> String {
    let mut name = [0u8; 256];
    // SAFETY: at most as many bytes as `name` has but one, which stays 0.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let bytes = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..bytes]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_below_its_parent() {
        let own = std::process::id() as libc::pid_t;
        let above = parent(own).unwrap();
        assert!(descendants(above).contains(&own));
        assert!(!descendants(own).contains(&own));
    }

    #[test]
    fn signals_are_called_by_name() {
        assert_eq!(signal_name(libc::SIGSEGV), "SIGSEGV");
    }
}
