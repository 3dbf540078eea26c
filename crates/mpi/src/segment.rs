//! The job's shared memory: one sealed, sparse memfd that the launcher makes and every rank maps.
//!
//! ```text
//! header page | a page per rank | an area per ordered pair of ranks (ring and its counters) | a pool per rank | a window per rank
//! | a table per rank, when profiled
//! ```
//!
//! Pages come into being when they are first touched, so that 256 ranks cost what they use. Places inside are said by offsets and
//! numbers; whatever is read from it is checked, because any rank of the job can scribble there. (Addresses that ranks tell one
//! another, for copies from process to process, are checked by the kernel.)

use std::ffi::c_int;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::{io, ptr};

/// The most ranks of a job.
pub const MOST_RANKS: usize = 256;
/// Bytes of a page of the segment.
pub const PAGE: usize = 4096;
/// Bytes of the area of an ordered pair of ranks: the ring with its counters.
pub const PAIR_BYTES: usize = 16 * 1024;
/// Bytes of a rank's pool, for pieces that it sends.
pub const POOL_BYTES: usize = 256 * 1024;
/// Bytes of a rank's window, through which it does collectives with another: a page of counters and room for data.
pub const WINDOW_BYTES: usize = PAGE + 512 * 1024;
/// The launcher ended the job.
const BY_LAUNCHER: u32 = u32::MAX;
/// Bytes of a rank's page for the engine's claims.
pub const RENDEZVOUS_BYTES: usize = PAGE - 4 * 64 - 512 - 128 - 256 - 8;
const MAGIC: u64 = 0x6365_6c6c_6d70_6901;

/// The first page. Written by the launcher before any rank starts, but for what is atomic.
#[repr(C)]
pub struct Header {
    magic: u64,
    ranks: u32,
    /// CPUs that the ranks of this job may use, by affinity and quota, as the launcher saw it.
    pub cpus: u32,
    bytes: u64,
    /// Process id of the launcher.
    pub launcher: AtomicU32,
    /// Not 0: the job is over, every waiting rank leaves. The rank that ended it plus one, or `BY_LAUNCHER`.
    pub dead: AtomicU32,
    /// The next free context of communicators; contexts are never used again.
    pub next_context: AtomicU32,
    /// Identifies the job among others on this machine (random).
    pub identity: AtomicU64,
    /// What ranks are to see of themselves: `hook::*`.
    pub hooks: AtomicU32,
    /// Bytes of each rank's profile; 0 when there is none.
    profile_bytes: u64,
}

/// What a rank tells the job about itself.
#[repr(C)]
pub struct RankPage {
    /// The process that claimed this rank; 0 before.
    pub pid: AtomicU32,
    /// One of `stage::*`.
    pub stage: AtomicU32,
    /// What an abort said: its exit code plus one; 0 when there was none.
    pub aborted: AtomicU32,
    /// Bytes of `text` that are valid.
    pub text_bytes: AtomicU32,
    _line: [u32; 12],
    /// Futex word: not 0 while the rank sleeps and wants to be woken. Alone on its line, read by every sender.
    pub asleep: AtomicU32,
    _asleep_line: [u32; 15],
    /// Senders that have used their ring to this rank, a bit each.
    pub connected: [AtomicU64; MOST_RANKS / 64],
    _connected_line: [u64; 4],
    /// Why the rank ended the job, for the launcher's line; UTF-8.
    pub text: [AtomicU8; 512],
    /// Changes whenever the rank says something new of what it waits for; odd: it waits.
    pub waiting: AtomicU32,
    /// Bytes of `waiting_text` that are valid.
    waiting_bytes: AtomicU32,
    /// The call that the rank waits in, and what it waits for; UTF-8.
    waiting_text: [AtomicU8; 248],
    /// The cpus that the rank could use when it started, a bit each.
    pub affinity: [AtomicU64; 16],
    /// For the engine: the messages that this rank and their senders copy together.
    pub rendezvous: [u8; RENDEZVOUS_BYTES],
    /// Address of a word in the rank's memory that others may read, and of one behind it to which they may write; 0: not yet.
    pub probe: AtomicU64,
}
const _: () = assert!(size_of::<RankPage>() <= PAGE && size_of::<Header>() <= PAGE);

/// How far a rank is.
#[allow(missing_docs)]
pub mod stage {
    pub const UNCLAIMED: u32 = 0;
    pub const CLAIMED: u32 = 1;
    pub const INITIALISED: u32 = 2;
    pub const FINALISED: u32 = 3;
}

/// What ranks see of themselves when the launcher wants it.
pub mod hook {
    /// Messages and time are counted (`--profile`).
    pub const PROFILE: u32 = 1;
    /// Who waits long says for what (`--stuck-after`).
    pub const STUCK: u32 = 2;
}

impl RankPage {
    /// Says what the rank waits for; an empty text: it waits no more. The first 248 bytes count.
    pub fn waits(&self, text: &str) {
        let before = self.waiting.load(Ordering::Relaxed);
        for (place, byte) in self.waiting_text.iter().zip(text.bytes()) {
            place.store(byte, Ordering::Relaxed);
        }
        self.waiting_bytes.store(text.len().min(self.waiting_text.len()) as u32, Ordering::Relaxed);
        let next = before.wrapping_add(1) | 1;
        self.waiting.store(if text.is_empty() { next.wrapping_add(1) } else { next }, Ordering::Release);
    }

    /// Whether a value of `waiting` says that the rank waits.
    pub fn says_waiting(waiting: u32) -> bool {
        waiting & 1 == 1
    }

    /// What the rank says that it waits for.
    pub fn waits_for(&self) -> Option<String> {
        if !Self::says_waiting(self.waiting.load(Ordering::Acquire)) {
            return None;
        }
        Some(line(&self.waiting_text, &self.waiting_bytes))
    }
}

/// One line of text that a rank left in its page; whatever it left, it is safe to print.
fn line(text: &[AtomicU8], bytes: &AtomicU32) -> String {
    let bytes = (bytes.load(Ordering::Relaxed) as usize).min(text.len());
    let text: Vec<u8> = text[..bytes].iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
    String::from_utf8_lossy(&text).replace(char::is_control, "?")
}

/// The mapped segment. Unmapped never: ranks use it until they end.
pub struct Segment {
    base: *mut u8,
    bytes: usize,
    ranks: usize,
}
// SAFETY: the mapping is shared memory by design; everything in it that two sides touch is atomic or handed over by an atomic.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

/// The limit on the size of files (`ulimit -f`), raised as far as this process may: reaching it would be a signal to die of,
/// where an error can be told. As before again when dropped.
struct FileLimit(libc::rlimit);

impl FileLimit {
    fn raised(bytes: usize) -> io::Result<Self> {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: a valid place for the limit.
        unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
        if limit.rlim_max < bytes as u64 {
            return Err(io::Error::from_raw_os_error(libc::EFBIG));
        }
        if limit.rlim_cur < bytes as u64 {
            // SAFETY: a valid limit, at most the one that is allowed.
            unsafe {
                libc::setrlimit(libc::RLIMIT_FSIZE, &libc::rlimit { rlim_cur: limit.rlim_max, ..limit })
            };
        }
        Ok(Self(limit))
    }
}

impl Drop for FileLimit {
    fn drop(&mut self) {
        // SAFETY: the limit of before.
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &self.0) };
    }
}

fn total(ranks: usize, profile_bytes: usize) -> usize {
    let each = PAGE + ranks * PAIR_BYTES + POOL_BYTES + WINDOW_BYTES + profile_bytes;
    PAGE + ranks * each
}

impl Segment {
    /// Bytes of address space that a job of so many ranks takes.
    pub fn bytes_for(ranks: usize) -> usize {
        total(ranks, 0)
    }

    /// The memory of a job of one process, which nobody else sees.
    ///
    /// # Errors
    /// As the system's: out of address space.
    pub fn alone() -> io::Result<Self> {
        let segment = Self::map_bytes(-1, total(1, 0), 1)?;
        segment.describe(1, 0);
        Ok(segment)
    }

    /// Makes the memory of a new job and maps it.
    ///
    /// # Errors
    /// As the system's: out of memory, address space (`ulimit -v`) or file size (`ulimit -f`).
    pub fn create(ranks: usize, cpus: usize) -> io::Result<(OwnedFd, Self)> {
        Self::make(ranks, cpus, 0)
    }

    /// As `create`, with a table per rank in which it counts what it does.
    ///
    /// # Errors
    /// As `create`.
    pub fn create_profiled(ranks: usize, cpus: usize) -> io::Result<(OwnedFd, Self)> {
        Self::make(ranks, cpus, crate::profile::table::bytes(ranks))
    }

    fn make(ranks: usize, cpus: usize, profile_bytes: usize) -> io::Result<(OwnedFd, Self)> {
        assert!((1..=MOST_RANKS).contains(&ranks));
        // SAFETY: a C string and flags.
        let raw =
            unsafe { libc::memfd_create(c"cellweave".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just made, owned by nobody else.
        let fd = unsafe { OwnedFd::from_raw_fd(raw) };
        let bytes = total(ranks, profile_bytes);
        let _raised = FileLimit::raised(bytes)?;
        // SAFETY: plain calls on an owned descriptor.
        let sealed = unsafe {
            libc::ftruncate(raw, bytes as libc::off_t) == 0
                && libc::fcntl(
                    raw,
                    libc::F_ADD_SEALS,
                    libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL,
                ) == 0
        };
        if !sealed {
            return Err(io::Error::last_os_error());
        }
        let segment = Self::map_bytes(raw, bytes, ranks)?;
        segment.describe(cpus, profile_bytes);
        Ok((fd, segment))
    }

    /// Writes what every rank checks first.
    fn describe(&self, cpus: usize, profile_bytes: usize) {
        // SAFETY: the header is ours alone until a rank starts; the mapping is as large as `total` says.
        unsafe {
            let header = self.base.cast::<Header>();
            (*header).ranks = self.ranks as u32;
            (*header).cpus = cpus as u32;
            (*header).bytes = self.bytes as u64;
            (*header).profile_bytes = profile_bytes as u64;
            (*header).hooks = AtomicU32::new(if profile_bytes > 0 { hook::PROFILE } else { 0 });
            (*header).magic = MAGIC;
        }
    }

    /// Maps a job's memory that was inherited or received; refuses what is none.
    ///
    /// # Errors
    /// As the system's; `InvalidData` when it isn't a segment of this version of the library.
    pub fn map(fd: &impl AsRawFd) -> io::Result<Self> {
        let strange = || {
            io::Error::new(io::ErrorKind::InvalidData, "not a job's memory of this version of the library")
        };
        // SAFETY: a zeroed stat is valid, and fstat fills it.
        let bytes = unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            if libc::fstat(fd.as_raw_fd(), &mut stat) != 0 {
                return Err(io::Error::last_os_error());
            }
            stat.st_size as usize
        };
        if bytes < total(1, 0) {
            return Err(strange());
        }
        let mut segment = Self::map_bytes(fd.as_raw_fd(), bytes, 1)?;
        let header = segment.header();
        let ranks = header.ranks as usize;
        let profile_bytes = header.profile_bytes as usize;
        if header.magic != MAGIC
            || !(1..=MOST_RANKS).contains(&ranks)
            || header.bytes as usize != bytes
            || ![0, crate::profile::table::bytes(ranks)].contains(&profile_bytes)
            || total(ranks, profile_bytes) != bytes
        {
            return Err(strange());
        }
        segment.ranks = ranks;
        Ok(segment)
    }

    /// Maps a descriptor's bytes; -1: memory of nobody.
    fn map_bytes(fd: c_int, bytes: usize, ranks: usize) -> io::Result<Self> {
        let anonymous = if fd < 0 { libc::MAP_ANONYMOUS } else { 0 };
        // SAFETY: a fresh shared mapping, of a descriptor that is at least `bytes` long and sealed against shrinking, or of none.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE | anonymous,
                fd,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { base: base.cast(), bytes, ranks })
    }

    /// Ranks of the job.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Bytes of address space that the segment takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Keeps the memory out of processes that this one forks: they are no ranks.
    pub fn keep_from_children(&self) {
        // SAFETY: our own mapping. Advice that is refused changes nothing.
        unsafe { libc::madvise(self.base.cast(), self.bytes, libc::MADV_DONTFORK) };
    }

    /// Says that the job is over, by whom: a rank, or the launcher. Who says so first counts.
    pub fn end(&self, by: Option<usize>) {
        let by = by.map_or(BY_LAUNCHER, |rank| rank as u32 + 1);
        let _ = self.header().dead.compare_exchange(0, by, Ordering::AcqRel, Ordering::Acquire);
    }

    /// The rank that ended the job, if one did.
    pub fn who_ended(&self) -> Option<usize> {
        match self.header().dead.load(Ordering::Acquire) {
            0 => None,
            by => Some(by as usize - 1).filter(|&rank| rank < self.ranks),
        }
    }

    /// The word that says who ended the job names nobody: it was scribbled on.
    pub fn nobody_ended(&self) -> bool {
        let by = self.header().dead.load(Ordering::Acquire);
        by != BY_LAUNCHER && by as usize > self.ranks
    }

    /// The first page.
    pub fn header(&self) -> &Header {
        // SAFETY: the mapping starts with a header and is never unmapped.
        unsafe { &*self.base.cast::<Header>() }
    }

    /// What a rank says of itself.
    pub fn rank(&self, rank: usize) -> &RankPage {
        assert!(rank < self.ranks);
        // SAFETY: in bounds by the check above and `total`; page-aligned.
        unsafe { &*self.base.add(PAGE + rank * PAGE).cast::<RankPage>() }
    }

    /// The area of `PAIR_BYTES` bytes through which `from` sends to `to`; aligned to a page.
    pub fn pair(&self, from: usize, to: usize) -> *mut u8 {
        assert!(from < self.ranks && to < self.ranks);
        // SAFETY: in bounds by the check above and `total`.
        unsafe { self.base.add(PAGE + self.ranks * PAGE + (to * self.ranks + from) * PAIR_BYTES) }
    }

    /// The pool of `POOL_BYTES` bytes that a rank sends from; aligned to a page.
    pub fn pool(&self, rank: usize) -> *mut u8 {
        assert!(rank < self.ranks);
        // SAFETY: in bounds by the check above and `total`.
        unsafe {
            let pairs = self.base.add(PAGE + self.ranks * PAGE);
            pairs.add(self.ranks * self.ranks * PAIR_BYTES + rank * POOL_BYTES)
        }
    }

    /// The window of `WINDOW_BYTES` bytes of a rank; aligned to a page.
    pub fn window(&self, rank: usize) -> *mut u8 {
        assert!(rank < self.ranks);
        // SAFETY: in bounds by the check above and `total`: windows follow the pools.
        unsafe { self.pool(0).add(self.ranks * POOL_BYTES + rank * WINDOW_BYTES) }
    }

    /// The memory of a rank's profile, `profile::table::bytes(ranks)` bytes aligned to a page; nothing when there is none.
    pub fn profile(&self, rank: usize) -> Option<*mut u8> {
        assert!(rank < self.ranks);
        let bytes = crate::profile::table::bytes(self.ranks);
        let tables = total(self.ranks, 0);
        let has = self.bytes == total(self.ranks, bytes);
        // SAFETY: in bounds by the checks above and `total`.
        has.then(|| unsafe { self.base.add(tables + rank * bytes) })
    }

    /// Says why this rank ends the job, for the launcher's line. The first 512 bytes count.
    pub fn explain(&self, rank: usize, code: i32, text: &str) {
        let page = self.rank(rank);
        for (place, byte) in page.text.iter().zip(text.bytes()) {
            place.store(byte, Ordering::Relaxed);
        }
        page.text_bytes.store(text.len().min(page.text.len()) as u32, Ordering::Relaxed);
        page.aborted.store((code as u32 & 0xff) + 1, Ordering::Release);
    }

    /// What `explain` said, with the exit code, 1 to 255.
    pub fn explanation(&self, rank: usize) -> Option<(i32, String)> {
        let page = self.rank(rank);
        let code =
            page.aborted.load(Ordering::Acquire).checked_sub(1).filter(|code| (1..256).contains(code))?;
        Some((code as i32, line(&page.text, &page.text_bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_mapping_writes_the_other_reads() {
        let (fd, made) = Segment::create(3, 2).unwrap();
        let mapped = Segment::map(&fd).unwrap();
        assert_eq!(mapped.ranks(), 3);
        made.explain(2, 7, "why");
        assert_eq!(mapped.explanation(2), Some((7, "why".into())));
        assert_eq!(mapped.explanation(1), None);
    }

    #[test]
    fn an_explanation_that_nobody_can_have_given_is_none_and_what_is_printed_is_one_line() {
        let segment = Segment::alone().unwrap();
        segment.explain(0, 3, "a\n\u{1b}[2J");
        assert_eq!(segment.explanation(0), Some((3, "a??[2J".into())));
        for aborted in [0, 1, 257, u32::MAX] {
            segment.rank(0).aborted.store(aborted, Ordering::Relaxed);
            assert_eq!(segment.explanation(0), None);
        }
    }

    #[test]
    fn who_ends_the_job_first_counts() {
        let segment = Segment::alone().unwrap();
        assert_eq!(segment.who_ended(), None);
        segment.end(Some(0));
        segment.end(None);
        assert_eq!(segment.who_ended(), Some(0));
        assert!(!segment.nobody_ended());
        segment.header().dead.store(2, Ordering::Relaxed);
        assert!(segment.nobody_ended() && segment.who_ended().is_none());
    }

    #[test]
    fn a_file_that_is_no_segment_is_refused() {
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        assert!(Segment::map(&file).is_err());
    }
}
