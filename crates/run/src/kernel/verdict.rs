//! How a call of a kernel ended, and the views of what it left.

use super::{abi, message};
use std::ffi::c_void;

/// How a call ended that broke no rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It needs no further call. `again`: a source has nothing more right now; `end`: it never will.
    Over { again: bool, end: bool },
    /// A task that is no source has nothing more right now: call it again for the rest.
    More,
}

/// Judges the `result` of a call for `batch`. An error is the instance
/// and what was wrong; `error` is the kernel's own text.
pub(crate) fn judge(
    source: bool,
    batch: &abi::CwBatch,
    result: abi::CwResult,
    error: &[u8],
) -> Result<Verdict, (u64, String)> {
    let wrong = |why: String| Err((batch.first + result.fired.min(batch.firings), why));
    let (fired, firings) = (result.fired, batch.firings);
    if fired > firings {
        return wrong(format!("it says it fired {fired} times, and was asked to fire {firings}"));
    }
    let all = fired == firings;
    match result.status {
        abi::OK if all => Ok(Verdict::Over { again: false, end: false }),
        abi::OK => wrong(format!("it fired {fired} of {firings} times and returned CW_OK")),
        abi::END if source => Ok(Verdict::Over { again: false, end: true }),
        abi::END => wrong(format!(
            "it ended the stream (CW_END) after {fired} of {firings} firings, which only a task without inputs may"
        )),
        abi::AGAIN if source || all => Ok(Verdict::Over { again: !all, end: false }),
        abi::AGAIN => Ok(Verdict::More),
        abi::ERROR => wrong(message(error).unwrap_or_else(|| "it failed without a message".into())),
        other => wrong(format!("it returned the status {other}, which cellweave.h does not know")),
    }
}

/// The views of what is left after `fired` firings.
pub(crate) fn skip(ins: &mut [abi::CwIn], outs: &mut [abi::CwOut], fired: u64) {
    let by = |base: *mut c_void, stride: u64| {
        base.cast::<u8>().wrapping_add((stride * fired) as usize).cast::<c_void>()
    };
    for view in ins.iter_mut().filter(|v| !v.base.is_null()) {
        view.base = by(view.base.cast_mut(), view.stride).cast_const();
        view.real = view.real.saturating_sub(fired);
    }
    for view in outs.iter_mut().filter(|v| !v.base.is_null()) {
        view.base = by(view.base, view.stride);
    }
}
