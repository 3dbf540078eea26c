//! The job's shared memory: one sealed, sparse memfd that the launcher makes and every rank maps.
//!
//! ```text
//! header page | a page per rank
//! | an area per ordered pair of ranks: a ring with its counters; behind one of a pair's two, what the ranks agree on
//! | a pool per rank | a window per rank | room per rank for data that it shows to several
//! | pages beside the lines of the rings, when the ranks are few and have cpus of their own
//! | tallies per rank, and their names, when the job is counted
//! | a store per rank, when a simulator carries the messages
//! ```
//!
//! Pages come into being when they are first touched, so that 256 ranks cost what they use. Places inside are given
//! as offsets and numbers. Everything that is read from it is checked, because any rank of the job can scribble there.
//! (Addresses that ranks tell one another, for copies from process to process, are checked by the kernel.)

mod pages;
mod tally;

use crate::slots::SLOT_BYTES;
use crate::ways::AgreedWays;
use std::ffi::c_int;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{io, ptr};

pub(crate) use pages::PLACES;
use pages::line;
pub use pages::{JobPage, RankPage, WindowCounts, hook, stage};
pub use tally::{CLASSES, NAMED, PhaseTallies, Tallies, Tally, TallyNames, class_bytes};

/// The most ranks of a job.
pub const MOST_RANKS: usize = 256;
/// Bytes of a page of the segment.
pub const PAGE: usize = 4096;
/// Bytes of the area of an ordered pair of ranks: the ring with its counters, and what the two agree on.
pub const PAIR_BYTES: usize = 16 * 1024;
/// Pages beside the lines of a ring.
pub const PAGES_OF_PAIR: usize = 240;
/// Bytes of a rank's pool, for pieces that it sends, where nothing is known of the caches; the least.
pub const LEAST_POOL_BYTES: usize = 256 * 1024;
/// The most bytes of a pool, and of all pools of a job that are not the least. Only what is used takes memory.
const MOST_POOL_BYTES: usize = 8 << 20;
const MOST_POOLS_BYTES: usize = 64 << 20;
/// Bytes of a block of a pool.
pub(crate) const BLOCK: usize = 64 * 1024;
/// From the start of a block to that of the next one: the page between them has room for the end of a piece.
pub(crate) const BLOCK_STRIDE: usize = BLOCK + PAGE;
/// Bytes of a rank's window, through which it does collectives with others: a page of counters and room for data. Only
/// what is used takes memory.
pub const WINDOW_BYTES: usize = PAGE + Segment::MOST_SLOTS * SLOT_BYTES;
/// Bytes of a rank's store, when a simulator carries the messages. Only what is used takes memory.
pub const STORE_BYTES: usize = 1 << 30;
/// The launcher ended the job.
const BY_LAUNCHER: u32 = u32::MAX;
/// "cellmpi" and the version of the layout.
const MAGIC: u64 = 0x6365_6c6c_6d70_6917;

/// The mapped segment: a handle on memory that is never unmapped, because ranks use it until they end.
#[derive(Clone, Copy)]
pub struct Segment {
    base: *mut u8,
    bytes: usize,
    ranks: usize,
    /// See `shown_room` and `pool_room`; kept, because both divide, and addresses are asked for with each message.
    shown_room: usize,
    pool_room: usize,
}
// SAFETY: the mapping is shared memory by design; everything in it that two sides touch is atomic or handed over by an
// atomic.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

/// Raises the limit on the size of files (`ulimit -f`) as far as this process may, because reaching it is a deadly
/// signal instead of an error. Restores the limit when dropped.
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

/// Bytes of addresses for what a rank shows, in a job of so many; and the most bytes that its pool holds.
pub fn shown_room(ranks: usize) -> usize {
    (MOST_POOLS_BYTES / ranks / LEAST_POOL_BYTES * LEAST_POOL_BYTES).clamp(LEAST_POOL_BYTES, MOST_POOL_BYTES)
}

/// Bytes of addresses for the pool of a rank.
pub fn pool_room(ranks: usize) -> usize {
    shown_room(ranks) / BLOCK * BLOCK_STRIDE
}

/// Bytes of the pages beside the lines of all rings; 0: a job of so many ranks has none.
fn pages_bytes(ranks: usize) -> usize {
    let bytes = ranks * ranks * PAGES_OF_PAIR * PAGE;
    if bytes <= MOST_POOLS_BYTES { bytes } else { 0 }
}

fn total(ranks: usize, tally_bytes: usize) -> usize {
    let each = PAGE + ranks * PAIR_BYTES + pool_room(ranks) + shown_room(ranks) + WINDOW_BYTES + tally_bytes;
    let names = if tally_bytes == 0 { 0 } else { tally::NAMES_BYTES };
    PAGE + ranks * each + pages_bytes(ranks) + names
}

/// Bytes of a segment with stores.
fn with_stores(ranks: usize, tally_bytes: usize, store_bytes: usize) -> usize {
    total(ranks, tally_bytes) + ranks * store_bytes
}

impl Segment {
    /// Bytes of address space that a job of so many ranks takes.
    pub fn bytes_for(ranks: usize) -> usize {
        total(ranks, 0)
    }

    /// The memory of a job whose ranks are threads of this process; no other process sees it.
    ///
    /// # Errors
    /// As the system's: out of address space.
    pub fn private(ranks: usize, cpus: usize) -> io::Result<Self> {
        assert!((1..=MOST_RANKS).contains(&ranks));
        let segment = Self::map_bytes(-1, total(ranks, 0), ranks)?;
        segment.describe(cpus, 0, 0);
        Ok(segment)
    }

    /// Makes the memory of a new job and maps it.
    ///
    /// # Errors
    /// As the system's: out of memory, address space (`ulimit -v`) or file size (`ulimit -f`).
    pub fn create(ranks: usize, cpus: usize) -> io::Result<(OwnedFd, Self)> {
        Self::make(ranks, cpus, 0, 0)
    }

    /// As `create`, with tallies per rank in which it counts what it does.
    ///
    /// # Errors
    /// As `create`.
    pub fn create_counted(ranks: usize, cpus: usize) -> io::Result<(OwnedFd, Self)> {
        Self::make(ranks, cpus, tally::bytes(ranks), 0)
    }

    /// As `create`, or as `create_counted`, with a store per rank: a simulator carries the messages.
    ///
    /// # Errors
    /// As `create`.
    pub fn create_carried(ranks: usize, counted: bool) -> io::Result<(OwnedFd, Self)> {
        Self::make(ranks, ranks, if counted { tally::bytes(ranks) } else { 0 }, STORE_BYTES)
    }

    fn make(
        ranks: usize,
        cpus: usize,
        tally_bytes: usize,
        store_bytes: usize,
    ) -> io::Result<(OwnedFd, Self)> {
        assert!((1..=MOST_RANKS).contains(&ranks));
        // SAFETY: a C string and flags.
        let raw =
            unsafe { libc::memfd_create(c"cellweave".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just made, owned by nobody else.
        let fd = unsafe { OwnedFd::from_raw_fd(raw) };
        let bytes = with_stores(ranks, tally_bytes, store_bytes);
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
        segment.describe(cpus, tally_bytes, store_bytes);
        Ok((fd, segment))
    }

    /// Writes what every rank checks first.
    fn describe(&self, cpus: usize, tally_bytes: usize, store_bytes: usize) {
        // SAFETY: the header is ours alone until a rank starts; the mapping is as large as `total` says.
        unsafe {
            let header = self.base.cast::<JobPage>();
            (*header).ranks = self.ranks as u32;
            (*header).cpus = cpus as u32;
            (*header).bytes = self.bytes as u64;
            (*header).tally_bytes = tally_bytes as u64;
            (*header).store_bytes = store_bytes as u64;
            (*header).hooks = AtomicU32::new(if tally_bytes > 0 { hook::PROFILE } else { 0 });
            (*header).magic = MAGIC;
        }
    }

    /// Maps a job's memory that was inherited or received; refuses other files.
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
        let segment = Self::map_bytes(fd.as_raw_fd(), bytes, 1)?;
        let header = segment.header();
        let ranks = header.ranks as usize;
        let tally_bytes = header.tally_bytes as usize;
        let store_bytes = header.store_bytes as usize;
        if header.magic != MAGIC
            || !(1..=MOST_RANKS).contains(&ranks)
            || header.bytes as usize != bytes
            || ![0, tally::bytes(ranks)].contains(&tally_bytes)
            || ![0, STORE_BYTES].contains(&store_bytes)
            || with_stores(ranks, tally_bytes, store_bytes) != bytes
        {
            return Err(strange());
        }
        Ok(Self::of(segment.base, bytes, ranks))
    }

    /// Maps a descriptor's bytes; -1 maps anonymous memory.
    fn map_bytes(fd: c_int, bytes: usize, ranks: usize) -> io::Result<Self> {
        let flags = match fd {
            // Miri has threads alone.
            ..0 if cfg!(miri) => libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            ..0 => libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_ANONYMOUS,
            _ => libc::MAP_SHARED | libc::MAP_NORESERVE,
        };
        // SAFETY: a fresh shared mapping, of a descriptor that is at least `bytes` long and sealed against shrinking,
        // or of none.
        let base =
            unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, fd, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self::of(base.cast(), bytes, ranks))
    }

    /// The handle on the memory of a job of so many ranks.
    fn of(base: *mut u8, bytes: usize, ranks: usize) -> Self {
        Self { base, bytes, ranks, shown_room: shown_room(ranks), pool_room: pool_room(ranks) }
    }

    /// Ranks of the job.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Bytes of address space that the segment takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Keeps the memory out of forked processes, which are not ranks.
    pub fn keep_from_children(&self) {
        // SAFETY: our own mapping. Advice that is refused changes nothing.
        unsafe { libc::madvise(self.base.cast(), self.bytes, libc::MADV_DONTFORK) };
    }

    /// Says that the job is over, and who ended it: a rank, or the launcher. The first one counts.
    pub fn end(&self, by: Option<usize>) {
        let by = by.map_or(BY_LAUNCHER, |rank| rank as u32 + 1);
        let _ = self.header().dead.compare_exchange(0, by, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Whether somebody has ended the job.
    pub fn is_over(&self) -> bool {
        self.header().dead.load(Ordering::Acquire) != 0
    }

    /// The rank that ended the job, if one did.
    pub fn who_ended(&self) -> Option<usize> {
        match self.header().dead.load(Ordering::Acquire) {
            0 => None,
            by => Some(by as usize - 1).filter(|&rank| rank < self.ranks),
        }
    }

    /// Whether the word that says who ended the job has an impossible value: somebody scribbled on it.
    pub fn nobody_ended(&self) -> bool {
        let by = self.header().dead.load(Ordering::Acquire);
        by != BY_LAUNCHER && by as usize > self.ranks
    }

    /// The first page.
    pub fn header(&self) -> &'static JobPage {
        // SAFETY: the mapping starts with a header and is never unmapped.
        unsafe { &*self.base.cast::<JobPage>() }
    }

    /// What a rank says of itself.
    pub fn rank(&self, rank: usize) -> &'static RankPage {
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

    /// The pages beside the lines of the ring through which `from` sends to `to`, for messages of up to a page and the
    /// answers to them: where ranks are few, and have cpus of their own. Only what is used takes memory.
    pub fn pages(&self, from: usize, to: usize) -> Option<*mut u8> {
        assert!(from < self.ranks && to < self.ranks);
        let there = pages_bytes(self.ranks) > 0 && !self.is_crowded();
        let first = PAGES_OF_PAIR * (to * self.ranks + from);
        // SAFETY: in bounds by the checks above and `total`: pages follow what is shown.
        there.then(|| unsafe { self.shown(0).add(self.ranks * self.shown_room + first * PAGE) })
    }

    /// What two ranks agree on: at the end of the area of the lower one to the higher one.
    pub(crate) fn agreed_ways(&self, one: usize, other: usize) -> &'static AgreedWays {
        let area = self.pair(one.min(other), one.max(other));
        // SAFETY: in the area by its size, behind the ring, and aligned, because areas are to pages and their size is a
        // multiple of lines; it holds nothing but atomics, for which zero is valid.
        unsafe { &*area.add(PAIR_BYTES - size_of::<AgreedWays>()).cast() }
    }

    /// Ranks share cpus: there are more of them. The same on all ranks, all the time.
    pub fn is_crowded(&self) -> bool {
        self.ranks > self.header().cpus as usize
    }

    /// How many ranks share a cpu, at most.
    pub fn ranks_of_cpu(&self) -> usize {
        self.ranks.div_ceil((self.header().cpus as usize).max(1))
    }

    /// Says how many bytes a cpu writes one after the other before what it wrote first has left the private caches: see
    /// `turnover_bytes`. Call this before a rank starts.
    pub fn set_turnover_bytes(&self, bytes: u64) {
        self.header().turnover_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Bytes that a cpu writes one after the other before what it wrote first has left the private caches: what was
    /// set, at least `LEAST_POOL_BYTES`, at most what a rank has room for.
    pub fn turnover_bytes(&self) -> usize {
        let most = self.shown_room as u64;
        self.header().turnover_bytes.load(Ordering::Relaxed).clamp(LEAST_POOL_BYTES as u64, most) as usize
    }

    /// Says how many bytes the cache has that the cpus of the job share. Call this before a rank starts.
    pub fn set_shared_cache_bytes(&self, bytes: u64) {
        self.header().shared_cache_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Bytes of that cache; without end where there is none, or it is not known: nothing fills it.
    pub(crate) fn shared_cache_bytes(&self) -> usize {
        match self.header().shared_cache_bytes.load(Ordering::Relaxed) {
            0 => usize::MAX,
            bytes => bytes as usize,
        }
    }

    /// Whether another rank last copied large data on the cpu where this rank is now. Where ranks move about, that is a
    /// guess.
    pub(crate) fn shares_cpu(&self, own: usize, other: usize) -> bool {
        // 0 where the kernel does not say.
        let cpu = host::pin::this_cpu().wrapping_add(1);
        let known = &self.rank(own).cpu;
        if known.load(Ordering::Relaxed) != cpu {
            // Others read it for each piece: a store each time would take the line from them.
            known.store(cpu, Ordering::Relaxed);
        }
        cpu != 0 && self.rank(other).cpu.load(Ordering::Relaxed) == cpu
    }

    /// Bytes of each rank's pool. The pools of ranks that share a cpu turn over together; and a slot costs its sender
    /// and its receiver page faults the first time. (8 ranks on 2 cpus of a Xeon, reduce of 4 kB with pools of 8, 2 and
    /// .5 MB: 44, 6.1 and 4.7 us; of 16 kB 33, 13 and 12; gather of 16 kB 34, 11 and 11.)
    pub fn pool_bytes(&self) -> usize {
        (self.turnover_bytes() / self.ranks_of_cpu()).max(LEAST_POOL_BYTES)
    }

    /// The pool that a rank sends from; aligned to a page.
    pub fn pool(&self, rank: usize) -> *mut u8 {
        assert!(rank < self.ranks);
        // SAFETY: in bounds by the check above and `total`.
        unsafe {
            let pairs = self.base.add(PAGE + self.ranks * PAGE);
            pairs.add(self.ranks * self.ranks * PAIR_BYTES + rank * self.pool_room)
        }
    }

    /// The most slots in a window. How many a rank fills in turn follows the ranks that share a cpu, and is told to who
    /// reads them; a broadcast's root uses all where its cycles take less so. A choice. (4 ranks on 2 cpus of an EPYC,
    /// us, with 8, 16, 32 and 64: bcast of 256 kB 31, 23.5, 18 and 17, of 1 MB 114 to 177, 95, 82 and 90; reduce of 1
    /// MB 98, 88, 92 and 123; allreduce of 1 MB 214, 216, 223 and 269.)
    pub const MOST_SLOTS: usize = 16;

    /// What a rank counts in its window.
    pub fn counts(&self, rank: usize) -> &'static WindowCounts {
        // SAFETY: a window starts with its counts, is aligned to a page and is never unmapped; all of it is atomic.
        unsafe { &*self.window(rank).cast::<WindowCounts>() }
    }

    /// A slot of a rank's window, by its place: `SLOT_BYTES` bytes.
    pub fn slot(&self, rank: usize, place: usize) -> *mut u8 {
        assert!(place < Self::MOST_SLOTS);
        // SAFETY: in the window, behind its counts.
        unsafe { self.window(rank).add(PAGE + place * SLOT_BYTES) }
    }

    /// The window of `WINDOW_BYTES` bytes of a rank; aligned to a page.
    pub fn window(&self, rank: usize) -> *mut u8 {
        assert!(rank < self.ranks);
        // SAFETY: in bounds by the check above and `total`: windows follow the pools.
        unsafe { self.pool(0).add(self.ranks * self.pool_room + rank * WINDOW_BYTES) }
    }

    /// Where a rank shows data to several: `shown_room` bytes; aligned to a page.
    pub(crate) fn shown(&self, rank: usize) -> *mut u8 {
        assert!(rank < self.ranks);
        // SAFETY: in bounds by the check above and `total`: what is shown follows the windows.
        unsafe { self.window(0).add(self.ranks * WINDOW_BYTES + rank * self.shown_room) }
    }

    /// Whether a simulator carries the messages.
    #[inline]
    pub fn is_carried(&self) -> bool {
        self.header().store_bytes != 0
    }

    /// The store of `STORE_BYTES` bytes of a rank; aligned to a page.
    ///
    /// # Panics
    /// There are no stores.
    pub(crate) fn store(&self, rank: usize) -> *mut u8 {
        assert!(rank < self.ranks && self.is_carried());
        let first = total(self.ranks, self.header().tally_bytes as usize);
        // SAFETY: in bounds by the check above and `with_stores`.
        unsafe { self.base.add(first + rank * STORE_BYTES) }
    }

    /// Gets memory for pages of the segment all at once, which costs less than one by one when they are touched, and
    /// lets the kernel map them at once for another rank, too.
    ///
    /// # Safety
    /// They lie in the segment.
    pub(crate) unsafe fn get_memory(pages: *mut u8, bytes: usize) {
        if cfg!(miri) {
            return; // It does not know the advice.
        }
        // SAFETY: as the caller promised. Advice that is refused changes nothing.
        unsafe { libc::madvise(pages.cast(), bytes, libc::MADV_POPULATE_WRITE) };
    }

    /// What a rank counts; nothing when the job isn't counted.
    pub fn tallies(&self, rank: usize) -> Option<Tallies> {
        assert!(rank < self.ranks);
        let bytes = tally::bytes(self.ranks);
        let first = total(self.ranks, 0);
        let has = self.header().tally_bytes == bytes as u64;
        // SAFETY: `bytes` bytes of the mapping by the checks above and `total`, aligned to a page, of this rank.
        has.then(|| unsafe { Tallies::new(self.base.add(first + rank * bytes), self.ranks) })
    }

    /// The names of what ranks count; nothing when the job isn't counted.
    pub fn names(&self) -> Option<TallyNames> {
        let bytes = tally::bytes(self.ranks);
        let has = self.header().tally_bytes == bytes as u64;
        let end = total(self.ranks, bytes);
        // SAFETY: the last `NAMES_BYTES` bytes before the stores, by the check above and `total`.
        has.then(|| unsafe { TallyNames::new(self.base.add(end - tally::NAMES_BYTES)) })
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
    fn pools_are_as_large_as_was_set_where_there_is_room() {
        let pools = |ranks: usize, bytes: u64| {
            let segment = Segment::private(ranks, 2).unwrap();
            segment.set_turnover_bytes(bytes);
            let (first, second) = (segment.pool(0).addr(), segment.pool(ranks - 1).addr());
            assert_eq!(second - first, (ranks - 1) * pool_room(ranks));
            segment.pool_bytes()
        };
        assert_eq!(pools(2, 0), LEAST_POOL_BYTES);
        assert_eq!(pools(2, 4 << 20), 4 << 20);
        assert_eq!(pools(2, u64::MAX), MOST_POOL_BYTES);
        assert_eq!(pools(MOST_RANKS, u64::MAX), LEAST_POOL_BYTES);
        assert_eq!(pools(8, 4 << 20), 1 << 20, "four ranks share a cpu");
        assert_eq!(pools(3, 4 << 20), 2 << 20);
    }

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
    fn all_who_map_it_find_everything_at_the_same_places() {
        for ranks in [1, 2, 9, 16, 64] {
            let (fd, made) = Segment::create(ranks, 2).unwrap();
            let mapped = Segment::map(&fd).unwrap();
            let places = |segment: &Segment| {
                let last = ranks - 1;
                let found =
                    [segment.pair(last, last), segment.pool(last), segment.window(last), segment.shown(last)];
                let pages = segment.pages(last, last).unwrap_or(found[3]);
                [found[0], found[1], found[2], found[3], pages]
                    .map(|place| place.addr() - segment.pair(0, 0).addr())
            };
            assert_eq!(places(&made), places(&mapped), "{ranks} ranks");
        }
    }

    #[test]
    fn pages_lie_in_the_segment_one_behind_the_other_where_ranks_are_few_and_have_cpus() {
        for (ranks, cpus, are_there) in
            [(2, 2, true), (8, 8, true), (3, 2, false), (9, 9, false), (64, 64, false)]
        {
            let (_, segment) = Segment::create_counted(ranks, cpus).unwrap();
            let first = segment.pages(0, 0);
            assert_eq!(first.is_some(), are_there, "{ranks} ranks on {cpus} cpus");
            let Some(first) = first else { continue };
            let behind_shown = segment.shown(ranks - 1).addr() + segment.shown_room;
            let mut all =
                (0..ranks * ranks).map(|pair| segment.pages(pair % ranks, pair / ranks).unwrap().addr());
            assert!(
                all.clone().enumerate().all(|(pair, at)| at == first.addr() + pair * PAGES_OF_PAIR * PAGE)
            );
            assert_eq!(first.addr(), behind_shown);
            // Tallies follow.
            let end = all.next_back().unwrap() + PAGES_OF_PAIR * PAGE;
            assert_eq!(end - segment.base.addr(), total(ranks, 0));
        }
    }

    #[test]
    fn an_explanation_that_nobody_can_have_given_is_none_and_what_is_printed_is_one_line() {
        let segment = Segment::private(1, 1).unwrap();
        segment.explain(0, 3, "a\n\u{1b}[2J");
        assert_eq!(segment.explanation(0), Some((3, "a??[2J".into())));
        for aborted in [0, 1, 257, u32::MAX] {
            segment.rank(0).aborted.store(aborted, Ordering::Relaxed);
            assert_eq!(segment.explanation(0), None);
        }
    }

    #[test]
    fn who_ends_the_job_first_counts() {
        let segment = Segment::private(1, 1).unwrap();
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
