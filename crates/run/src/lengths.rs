//! Lengths that a kernel must give to its outputs of variable length: what it forgot or exceeded is seen after a call.

use crate::kernel::abi;

/// What stands for a length before the kernel has set it; no port has so many bytes.
const UNSET: u64 = u64::MAX;

/// An output of variable length.
#[derive(Debug)]
pub(crate) struct Lengths {
    /// Index of the batch's outputs.
    pub place: usize,
    /// The port, as the application writes it.
    pub name: String,
}

impl Lengths {
    fn at(out: &abi::CwOut, j: u64) -> *mut u64 {
        out.base.cast::<u8>().wrapping_add((j * out.stride) as usize).cast::<u64>().wrapping_sub(1)
    }

    /// Before a call: no length is set.
    ///
    /// # Safety
    /// `out` must be this output's view in a call with `firings` firings, whose kernel does not run.
    pub(crate) unsafe fn clear(&self, out: &abi::CwOut, firings: u64) {
        for j in 0..firings {
            // SAFETY: the length stands in the 8 bytes before an instance, which are this call's own.
            unsafe { Lengths::at(out, j).write(UNSET) };
        }
    }

    /// After a call: the first of `firings` whose length is not right, and what is wrong with it.
    ///
    /// # Safety
    /// As [`clear`](Self::clear).
    pub(crate) unsafe fn wrong(&self, out: &abi::CwOut, firings: u64) -> Option<(u64, String)> {
        (0..firings).find_map(|j| {
            // SAFETY: as in `clear`.
            let length = unsafe { Lengths::at(out, j).read() };
            let name = &self.name;
            match length {
                _ if length <= out.bytes => None,
                UNSET => Some((j, format!("it set no length for its output '{name}'"))),
                _ => {
                    let max = out.bytes;
                    Some((
                        j,
                        format!("it gave its output '{name}' {length} bytes, and {max} are the maximum"),
                    ))
                }
            }
        })
    }
}
