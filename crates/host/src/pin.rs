//! One thread on one cpu. Being refused is an answer, not a failure: containers and cpusets do refuse.

use std::io;

/// The cpus that a thread may run on, by the kernel's numbers.
///
/// ```
/// let before = host::Affinity::of_this_thread().unwrap();
/// let cpu = before.cpus()[0];
/// if let Err(refused) = host::pin::to_cpu(cpu) {
///     eprintln!("not pinned: {refused}");
/// }
/// before.apply().unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Affinity {
    words: Vec<usize>,
}

/// Why a thread is not pinned; it runs all the same, wherever the kernel puts it.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The kernel said no: the cpu does not exist, is offline, or is outside this process's cpuset.
    #[error("cpu {cpu}: {source}")]
    Kernel {
        /// The cpu asked for.
        cpu: u32,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The kernel said yes and the thread is elsewhere: a sandbox that ignores affinities.
    #[error("cpu {cpu} was granted, and the thread runs on cpu {runs_on}")]
    Ignored {
        /// The cpu asked for.
        cpu: u32,
        /// Where the thread was found.
        runs_on: u32,
    },
}

const WORD_BITS: usize = usize::BITS as usize;
/// Linux knows 8192 cpus at most.
const CPUS_MAX: usize = 8192;

/// Pins this thread to the kernel's `cpu`, and verifies that it is there.
pub fn to_cpu(cpu: u32) -> Result<(), Refused> {
    let kernel = |source| Refused::Kernel { cpu, source };
    if cpu as usize >= CPUS_MAX {
        return Err(kernel(io::Error::from_raw_os_error(libc::EINVAL)));
    }
    let wanted = Affinity::of_cpus([cpu]);
    wanted.apply().map_err(kernel)?;
    if Affinity::of_this_thread().map_err(kernel)? != wanted {
        return Err(Refused::Ignored { cpu, runs_on: this_cpu() });
    }
    // The kernel moves the thread before sched_setaffinity returns.
    match this_cpu() {
        runs_on if runs_on != cpu => Err(Refused::Ignored { cpu, runs_on }),
        _ => Ok(()),
    }
}

/// The kernel's number of the cpu that this thread runs on now; `u32::MAX` where it does not say.
pub fn this_cpu() -> u32 {
    if cfg!(miri) {
        return u32::MAX; // It does not know the call.
    }
    // SAFETY: takes nothing and touches no memory of ours.
    u32::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(u32::MAX)
}

impl Affinity {
    /// Where this thread may run.
    pub fn of_this_thread() -> io::Result<Self> {
        let mut words = vec![0usize; CPUS_MAX / WORD_BITS];
        // SAFETY: the kernel writes at most the bytes it is told that `words` has.
        let done = unsafe {
            libc::sched_getaffinity(0, words.len() * size_of::<usize>(), words.as_mut_ptr().cast())
        };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(Self { words }.trimmed()) }
    }

    /// These cpus; numbers from 8192 on are left out.
    pub fn of_cpus(cpus: impl IntoIterator<Item = u32>) -> Self {
        let mut words = vec![0usize; CPUS_MAX / WORD_BITS];
        for cpu in cpus.into_iter().map(|c| c as usize).filter(|c| *c < CPUS_MAX) {
            words[cpu / WORD_BITS] |= 1 << (cpu % WORD_BITS);
        }
        Self { words }.trimmed()
    }

    /// The cpus in rising order.
    pub fn cpus(&self) -> Vec<u32> {
        (0..self.words.len() * WORD_BITS)
            .filter(|c| self.words[c / WORD_BITS] >> (c % WORD_BITS) & 1 == 1)
            .map(|c| c as u32)
            .collect()
    }

    /// Lets this thread run on these cpus only.
    pub fn apply(&self) -> io::Result<()> {
        // SAFETY: the kernel reads as many bytes as it is told that `words` has.
        let done = unsafe {
            libc::sched_setaffinity(0, self.words.len() * size_of::<usize>(), self.words.as_ptr().cast())
        };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn trimmed(mut self) -> Self {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_a_thread(test: impl FnOnce() + Send + 'static) {
        std::thread::spawn(test).join().unwrap();
    }

    #[test]
    fn a_pinned_thread_may_run_on_its_cpu_only() {
        in_a_thread(|| {
            let cpu = *Affinity::of_this_thread().unwrap().cpus().last().unwrap();
            if to_cpu(cpu).is_ok() {
                assert_eq!(Affinity::of_this_thread().unwrap().cpus(), [cpu]);
                assert_eq!(this_cpu(), cpu);
            }
        });
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused_and_the_thread_keeps_its_cpus() {
        in_a_thread(|| {
            let before = Affinity::of_this_thread().unwrap();
            for cpu in [8191, 8192, u32::MAX] {
                let refused = to_cpu(cpu).unwrap_err().to_string();
                assert!(refused.starts_with(&format!("cpu {cpu}: ")), "{refused}");
            }
            assert_eq!(Affinity::of_this_thread().unwrap(), before);
        });
    }

    #[test]
    fn an_affinity_gives_back_the_cpus_it_was_made_of() {
        assert_eq!(Affinity::of_cpus([200, 3, 64]).cpus(), [3, 64, 200]);
        assert_eq!(Affinity::of_cpus([9000]).cpus(), []);
    }
}
