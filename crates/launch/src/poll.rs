//! Waiting for many descriptors at once (epoll).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A set of descriptors, each with a number that says what it is.
pub(crate) struct Poll(OwnedFd);

/// Something can be read, or has ended.
pub(crate) const READABLE: u32 = libc::EPOLLIN as u32;
/// Something can be written; told once, until asked again.
pub(crate) const WRITABLE_ONCE: u32 = (libc::EPOLLOUT | libc::EPOLLONESHOT) as u32;
/// Nothing.
pub(crate) const NOTHING: u32 = 0;

impl Poll {
    /// An empty set.
    ///
    /// # Errors
    /// As the system's.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: a flag; the result is owned by nobody else.
        unsafe {
            match libc::epoll_create1(libc::EPOLL_CLOEXEC) {
                fd if fd >= 0 => Ok(Self(OwnedFd::from_raw_fd(fd))),
                _ => Err(io::Error::last_os_error()),
            }
        }
    }

    /// The set is a descriptor itself, readable when one of its own has something.
    pub(crate) fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Watches a descriptor for events from now on, or for others than before.
    pub(crate) fn watch(&self, fd: RawFd, events: u32, number: u64) {
        let mut event = libc::epoll_event { events, u64: number };
        // SAFETY: a valid event. A descriptor that cannot be watched (a regular file) never blocks.
        unsafe {
            if libc::epoll_ctl(self.fd(), libc::EPOLL_CTL_MOD, fd, &mut event) != 0 {
                libc::epoll_ctl(self.fd(), libc::EPOLL_CTL_ADD, fd, &mut event);
            }
        }
    }

    /// Watches a descriptor no more. (A closed one leaves by itself only when no other process has it.)
    pub(crate) fn forget(&self, fd: RawFd) {
        // SAFETY: a null event is allowed here.
        unsafe { libc::epoll_ctl(self.fd(), libc::EPOLL_CTL_DEL, fd, std::ptr::null_mut()) };
    }

    /// The numbers of those that have something, after at most `timeout_ns` (nothing: as long as it takes).
    pub(crate) fn wait(&self, timeout_ns: Option<u64>) -> Vec<u64> {
        let timeout_ms = match timeout_ns {
            None => -1,
            // Rounded up, so that a deadline has passed when it wakes.
            Some(ns) => ns.div_ceil(1_000_000).min(i32::MAX as u64) as i32,
        };
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
        // SAFETY: as many places as it is told.
        let count =
            unsafe { libc::epoll_wait(self.fd(), events.as_mut_ptr(), events.len() as i32, timeout_ms) };
        events[..count.max(0) as usize].iter().map(|event| event.u64).collect()
    }
}
