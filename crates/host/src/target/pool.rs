//! A chip's memory: a buffer larger than the caches, walked so that nothing of it is in one when its turn comes.

use crate::pin;
use std::fs::read_to_string;

/// Where the caches' size is not known.
const CACHES_BYTES_DEFAULT: usize = 64 << 20;
/// Parts of what this computer has left that a pool takes at most.
const OF_AVAILABLE: usize = 8;
const PAGE_BYTES: usize = 4096;

/// The buffer, and where the walk has come to.
#[derive(Debug)]
pub(super) struct Pool {
    bytes: Vec<u8>,
    walked: usize,
}

impl Pool {
    /// Twice the caches, its pages placed by a thread on `cpu` (the kernel puts them into the memory next to it).
    pub(super) fn beyond_caches(cpu: Option<u32>) -> Self {
        Self::of(beyond_caches_bytes(1), cpu)
    }

    fn of(len: usize, cpu: Option<u32>) -> Self {
        let place = || {
            // Refused: the pages lie where the kernel likes them, which the samples' threads will tell.
            let _ = cpu.map(pin::to_cpu);
            let mut bytes = vec![0u8; len];
            // The kernel clears a page when it is first written: all of its lines pass through the caches.
            bytes.iter_mut().step_by(PAGE_BYTES).for_each(|b| *b = 1);
            bytes
        };
        let bytes = std::thread::scope(|s| s.spawn(place).join()).unwrap_or_default();
        Self { bytes, walked: 0 }
    }

    /// A window for each of `users` transfers, in which each of `samples` samples gets the next `len` bytes.
    ///
    /// # Errors
    /// When the buffer has too little for that.
    pub(super) fn windows(
        &mut self,
        users: usize,
        len: usize,
        samples: usize,
    ) -> Result<Windows<'_>, String> {
        let each = self.bytes.len() / users;
        if len > each {
            return Err(format!(
                "{users} transfers of {len} bytes each need more than the {} bytes of memory that are set aside",
                self.bytes.len()
            ));
        }
        let start = self.walked;
        self.walked = (self.walked + len * samples) % self.bytes.len();
        let window = move |bytes| Window { bytes, start, len };
        Ok(Box::new(self.bytes.chunks_exact_mut(each).take(users).map(window)))
    }
}

/// One for each transfer.
pub(super) type Windows<'a> = Box<dyn Iterator<Item = Window<'a>> + 'a>;

/// The part of a pool that one transfer may use.
#[derive(Debug)]
pub(super) struct Window<'a> {
    bytes: &'a mut [u8],
    start: usize,
    len: usize,
}

impl Window<'_> {
    /// The part of sample number `sample`.
    pub(super) fn part(&mut self, sample: usize) -> &mut [u8] {
        let parts = self.bytes.len() / self.len;
        let at = (self.start / self.len + sample) % parts * self.len;
        &mut self.bytes[at..][..self.len]
    }
}

/// Bytes of each of so many buffers, of which nothing is in a cache any more when a walk comes back to it: twice the
/// caches, and all buffers together at most an eighth of the memory that is left.
pub fn beyond_caches_bytes(buffers: usize) -> usize {
    let available = available_bytes().unwrap_or(usize::MAX);
    let wanted = 2 * last_level_bytes().unwrap_or(CACHES_BYTES_DEFAULT);
    wanted.min(available / OF_AVAILABLE / buffers.max(1)).max(PAGE_BYTES)
}

/// The last level that the kernel knows of, over all of its instances that cpu 0 sees.
fn last_level_bytes() -> Option<usize> {
    (0..8)
        .filter_map(|i| read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{i}/size")).ok())
        .filter_map(|text| size_bytes(&text))
        .max()
}

/// `480M`, `2048K`
fn size_bytes(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(1 << shift)
}

fn available_bytes() -> Option<usize> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_get_one_part_after_the_other_and_users_never_the_same() {
        let mut pool = Pool::of(64 * 1024, None);
        let mut seen = Vec::new();
        for _ in 0..2 {
            for mut window in pool.windows(2, 4096, 3).unwrap() {
                (0..3).for_each(|s| seen.push(window.part(s).as_ptr() as usize));
            }
        }
        let parts = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), parts, "12 parts, all different");
        assert!(pool.windows(2, 64 * 1024, 1).is_err());
    }

    #[test]
    fn sizes_are_read_as_the_kernel_writes_them() {
        assert_eq!(size_bytes("480M\n"), Some(480 << 20));
        assert_eq!(size_bytes("32K"), Some(32 << 10));
        for garbage in ["", "K", "12Q", "-1K", "99999999999999999999G"] {
            assert_eq!(size_bytes(garbage), None, "{garbage}");
        }
    }
}
