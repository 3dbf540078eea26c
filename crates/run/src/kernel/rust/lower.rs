//! `init`, `fire` and `finish` of the ABI around a Rust kernel.

use super::batch::TaskPorts;
use super::{Batch, Failed, Fired, Kernel, abi};
use crate::kernel::{PortSpec, TaskInfo};
use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the ABI's `state` points at.
struct KernelState<K> {
    kernel: K,
    ports: TaskPorts,
}

/// The state of a kernel that was made for `task`, for [`fire`] and [`finish`].
pub(crate) fn state_of<K: Kernel>(
    kernel: K,
    inputs: &[PortSpec],
    outputs: &[PortSpec],
    task: &TaskInfo,
) -> *mut c_void {
    Box::into_raw(Box::new(KernelState { kernel, ports: TaskPorts::new(inputs, outputs, task) })).cast()
}

/// Runs `f`; a panic becomes its text.
pub(crate) fn guarded<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|s| (*s).to_string())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "without a text".into());
        format!("panicked: {text}")
    })
}

/// Writes `text` as a NUL terminated message, cut where the room ends.
///
/// # Safety
/// `error` must have room for `error_bytes` bytes, or be NULL.
unsafe fn tell(text: &str, error: *mut c_char, error_bytes: u64) {
    if error.is_null() || error_bytes == 0 {
        return;
    }
    let mut end = text.len().min(error_bytes as usize - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // SAFETY: the caller gives room for `error_bytes` bytes; `end` is less.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), error.cast(), end);
        error.add(end).write(0);
    }
}

/// `init` of the ABI for a Rust kernel. Used by [`export_kernel!`](crate::export_kernel).
///
/// # Safety
/// As `cellweave.h` says of `init`, of a kernel with these ports.
pub unsafe fn init<K: Kernel>(
    make: impl FnOnce(&TaskInfo) -> Result<K, String>,
    inputs: &[abi::CwPort],
    outputs: &[abi::CwPort],
    task: *const abi::CwTask,
    state: *mut *mut c_void,
) -> u32 {
    // SAFETY: the caller's promise.
    let task = unsafe { &*task };
    let specs = |ports: &[abi::CwPort]| -> Result<Vec<PortSpec>, String> {
        // SAFETY: the caller's promise.
        ports.iter().map(|p| unsafe { PortSpec::from_raw(p) }).collect()
    };
    let made = || {
        // SAFETY: the caller's promise.
        let info = unsafe { TaskInfo::from_raw(task) };
        let (inputs, outputs) = (specs(inputs)?, specs(outputs)?);
        Ok(state_of(make(&info)?, &inputs, &outputs, &info))
    };
    match guarded(made).unwrap_or_else(Err) {
        Ok(made) => {
            // SAFETY: `state` is the runtime's own variable.
            unsafe { state.write(made) };
            abi::OK
        }
        Err(why) => {
            // SAFETY: the task has room for `error_bytes` bytes.
            unsafe { tell(&why, task.error, task.error_bytes) };
            abi::ERROR
        }
    }
}

/// `fire` of the ABI for a Rust kernel. Used by [`export_kernel!`](crate::export_kernel).
///
/// # Safety
/// As `cellweave.h` says of `fire`, with a state that [`init`] made.
pub unsafe extern "C" fn fire<K: Kernel>(state: *mut c_void, batch: *const abi::CwBatch) -> abi::CwResult {
    // SAFETY: the state is what `init` made of a K; the runtime never makes two calls at once for one state.
    let (KernelState { kernel, ports }, raw) = unsafe { (&mut *state.cast::<KernelState<K>>(), &*batch) };
    // SAFETY: the caller's promise, for the time of this call.
    let mut batch = unsafe { Batch::new(raw, ports) };
    let fired = guarded(|| kernel.fire(&mut batch)).unwrap_or_else(|panic| Err(Failed::from(panic)));
    let (fired, status) = match fired {
        Ok(Fired::All) => (raw.firings, abi::OK),
        Ok(Fired::End(n)) => (n, abi::END),
        Ok(Fired::Again(n)) => (n, abi::AGAIN),
        Err(Failed(failed)) => {
            let (firing, why) = *failed;
            // SAFETY: the batch has room for `error_bytes` bytes.
            unsafe { tell(&why, raw.error, raw.error_bytes) };
            (firing, abi::ERROR)
        }
    };
    abi::CwResult { fired, status, reserved: 0 }
}

/// `finish` of the ABI for a Rust kernel. Used by [`export_kernel!`](crate::export_kernel).
///
/// # Safety
/// As `cellweave.h` says of `finish`, with a state that [`init`] made.
pub unsafe extern "C" fn finish<K: Kernel>(state: *mut c_void, error: *mut c_char, error_bytes: u64) -> u32 {
    // SAFETY: `init` boxed it, and this is the last call with it.
    let mut kernel = unsafe { Box::from_raw(state.cast::<KernelState<K>>()) }.kernel;
    let ended = guarded(|| kernel.finish()).unwrap_or_else(Err);
    let dropped = guarded(|| drop(kernel));
    match ended.and(dropped) {
        Ok(()) => abi::OK,
        Err(why) => {
            // SAFETY: the runtime gives room for `error_bytes` bytes.
            unsafe { tell(&why, error, error_bytes) };
            abi::ERROR
        }
    }
}
