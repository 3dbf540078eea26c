//! The Rust tier: a trait with typed views, lowered to the ABI. A panic becomes an error with its text.

use super::abi;
use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The code of a task in Rust.
///
/// ```
/// use run::{Batch, Fired, Kernel};
/// struct Gain(f32);
/// impl Kernel for Gain {
///     fn fire(&mut self, batch: &mut Batch) -> Fired {
///         for j in 0..batch.firings() {
///             let (input, output) = (batch.input::<f32>(0, j), batch.output::<f32>(0, j));
///             for (o, i) in output.iter_mut().zip(input) {
///                 *o = self.0 * i;
///             }
///         }
///         batch.done()
///     }
/// }
/// ```
pub trait Kernel: Send {
    /// Fires `batch.firings()` times, in order. Views are valid only during the call.
    fn fire(&mut self, batch: &mut Batch) -> Fired;

    /// After the last firing, also when the run failed: writes out what was accepted.
    ///
    /// # Errors
    /// A sentence, without the task's name.
    fn finish(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Fired {
    /// All firings done.
    Done(u64),
    /// A source has no more instances after these many.
    End(u64),
    /// These many done, nothing more right now.
    Again(u64),
    /// Firing number `.0` of the batch failed because of `.1`.
    Failed(u64, String),
}

impl Fired {
    /// A failure in the first firing.
    pub fn failed(why: impl Into<String>) -> Fired {
        Fired::Failed(0, why.into())
    }

    /// What a kernel of the ABI returned; its message is left in the batch.
    pub(crate) fn from_raw(result: abi::Result, batch: &Batch) -> Fired {
        match result.status {
            abi::OK => Fired::Done(result.fired),
            abi::END => Fired::End(result.fired),
            abi::AGAIN => Fired::Again(result.fired),
            abi::ERROR => Fired::Failed(result.fired, batch.message()),
            other => Fired::Failed(
                result.fired,
                format!("returned status {other}, which cellweave.h does not know"),
            ),
        }
    }
}

/// Plain old data of an instance: numbers without padding, for which every bit pattern is a value.
///
/// # Safety
/// Every bit pattern must be valid and the type must have no padding.
pub unsafe trait Data: Copy + 'static {}
macro_rules! data {
    ($($t:ty),*) => { $(
        // SAFETY: a number has no padding and no invalid bit pattern.
        unsafe impl Data for $t {}
    )* };
}
data!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);
// SAFETY: an array of data has neither padding nor invalid patterns.
unsafe impl<T: Data, const N: usize> Data for [T; N] {}

/// One call of [`Kernel::fire`]: typed views of the ABI's batch.
#[derive(Debug)]
pub struct Batch<'a> {
    raw: &'a abi::Batch,
}

impl Batch<'_> {
    /// The ABI's form.
    pub fn raw(&self) -> &abi::Batch {
        self.raw
    }

    /// How often to fire; at least 1.
    #[inline]
    pub fn firings(&self) -> u64 {
        self.raw.firings
    }

    /// Instance number of firing 0, counted from 0 over the whole run.
    pub fn first(&self) -> u64 {
        self.raw.first
    }

    /// All firings done.
    pub fn done(&self) -> Fired {
        Fired::Done(self.raw.firings)
    }

    /// Inputs as connected.
    pub fn inputs(&self) -> usize {
        self.raw.inputs as usize
    }

    /// Outputs as connected.
    pub fn outputs(&self) -> usize {
        self.raw.outputs as usize
    }

    /// Where input `i` is.
    #[inline]
    pub fn place_in(&self, i: usize) -> &abi::In {
        assert!(i < self.inputs(), "input {i} of {}", self.inputs());
        // SAFETY: the runtime gives `inputs` entries.
        unsafe { &*self.raw.r#in.add(i) }
    }

    /// Where output `o` is.
    #[inline]
    pub fn place_out(&self, o: usize) -> &abi::Out {
        assert!(o < self.outputs(), "output {o} of {}", self.outputs());
        // SAFETY: the runtime gives `outputs` entries.
        unsafe { &*self.raw.out.add(o) }
    }

    /// Whether input `i`, an optional port, is connected.
    pub fn has_input(&self, i: usize) -> bool {
        !self.place_in(i).base.is_null()
    }

    /// Whether output `o`, an optional port, is connected.
    pub fn has_output(&self, o: usize) -> bool {
        !self.place_out(o).base.is_null()
    }

    /// The instance of input `i` for firing `j`.
    ///
    /// # Panics
    /// When there is no such input or firing, or the instance is no whole number of `T`.
    #[inline]
    pub fn input<T: Data>(&self, i: usize, j: u64) -> &[T] {
        self.instance(i, j, 0)
    }

    /// The `k`-th instance of firing `j`'s window, `0 <= k <= peek`.
    ///
    /// # Panics
    /// As [`input`](Self::input), and when `k` is beyond the peek.
    #[inline]
    pub fn window<T: Data>(&self, i: usize, j: u64, k: u64) -> &[T] {
        self.instance(i, j, k)
    }

    #[inline]
    fn instance<T: Data>(&self, i: usize, j: u64, k: u64) -> &[T] {
        let place = self.place_in(i);
        assert!(
            j < self.raw.firings && k <= place.peek,
            "firing {j} of {}, peek {k} of {}",
            self.raw.firings,
            place.peek
        );
        if place.base.is_null() {
            return &[];
        }
        // SAFETY: the runtime gives `firings + peek` instances of `bytes` each, `stride` apart, that nobody writes
        // during the call unless this kernel asked for it with IN_PLACE, through `output` (see there).
        unsafe { view(place.base.cast::<u8>().add(((j + k) * place.stride) as usize), place.bytes) }
    }

    /// How many of the instances of firing `j`'s window the producer made; the rest, beyond the stream's end, are zeros.
    pub fn real(&self, i: usize, j: u64) -> u64 {
        let place = self.place_in(i);
        place.real.saturating_sub(j).min(place.peek + 1)
    }

    /// Where firing `j` writes output `o`. Views of different outputs and firings do not overlap; take one of the same
    /// output and firing at a time. With `IN_PLACE` it may be the input's own memory: use
    /// [`place_out`](Self::place_out) then.
    ///
    /// # Panics
    /// As [`input`](Self::input).
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub fn output<T: Data>(&self, o: usize, j: u64) -> &mut [T] {
        let place = self.place_out(o);
        assert!(j < self.raw.firings, "firing {j} of {}", self.raw.firings);
        if place.base.is_null() {
            return &mut [];
        }
        // SAFETY: the runtime gives `firings` instances of `bytes` each, `stride` apart, that only this call writes; the
        // memory was zeroed when it was made, so it is initialised.
        unsafe { view_mut(place.base.cast::<u8>().add((j * place.stride) as usize), place.bytes) }
    }

    /// All instances of input `i` for this call's firings (without what the last window sees beyond them), side by side.
    ///
    /// # Panics
    /// As [`input`](Self::input), and when the port is variable: its instances do not lie side by side.
    #[inline]
    pub fn inputs_together<T: Data>(&self, i: usize) -> &[T] {
        let place = self.place_in(i);
        assert!(!place.base.is_null() && place.stride == place.bytes, "input {i} is not side by side");
        // SAFETY: as in `instance`.
        unsafe { view(place.base.cast(), place.bytes * self.raw.firings) }
    }

    /// All instances of output `o` of this call, side by side.
    ///
    /// # Panics
    /// As [`inputs_together`](Self::inputs_together).
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub fn outputs_together<T: Data>(&self, o: usize) -> &mut [T] {
        let place = self.place_out(o);
        assert!(!place.base.is_null() && place.stride == place.bytes, "output {o} is not side by side");
        // SAFETY: as in `output`.
        unsafe { view_mut(place.base.cast(), place.bytes * self.raw.firings) }
    }

    /// Length in bytes of a variable instance of input `i` (firing `j`).
    pub fn length(&self, i: usize, j: u64) -> u64 {
        let place = self.place_in(i);
        assert!(j < self.raw.firings && !place.base.is_null());
        // SAFETY: the port is variable (the kernel asks), so its length stands in the 8 bytes before the instance.
        let length =
            unsafe { place.base.cast::<u8>().add((j * place.stride) as usize).cast::<u64>().sub(1).read() };
        length.min(place.bytes)
    }

    /// Sets the length of what firing `j` wrote to the variable output `o`; at most the port's bytes.
    pub fn set_length(&mut self, o: usize, j: u64, bytes: u64) {
        let place = self.place_out(o);
        assert!(j < self.raw.firings && bytes <= place.bytes && !place.base.is_null());
        // SAFETY: as in `length`.
        unsafe { place.base.cast::<u8>().add((j * place.stride) as usize).cast::<u64>().sub(1).write(bytes) };
    }

    fn message(&self) -> String {
        // SAFETY: the runtime gives `error_bytes` bytes, which it owns.
        let bytes = unsafe { super::slice(self.raw.error.cast::<u8>(), self.raw.error_bytes as usize) };
        super::message(bytes).unwrap_or_else(|| "failed without a message".into())
    }
}

#[inline]
unsafe fn view<'a, T: Data>(at: *const u8, bytes: u64) -> &'a [T] {
    let (count, rest) = (bytes as usize / size_of::<T>(), bytes as usize % size_of::<T>());
    assert!(
        rest == 0 && at.cast::<T>().is_aligned(),
        "{bytes} bytes are no aligned array of {}",
        std::any::type_name::<T>()
    );
    // SAFETY: the caller's `bytes` bytes, aligned for T, of which every pattern is a value.
    unsafe { std::slice::from_raw_parts(at.cast(), count) }
}

#[inline]
unsafe fn view_mut<'a, T: Data>(at: *mut u8, bytes: u64) -> &'a mut [T] {
    let (count, rest) = (bytes as usize / size_of::<T>(), bytes as usize % size_of::<T>());
    assert!(
        rest == 0 && at.cast::<T>().is_aligned(),
        "{bytes} bytes are no aligned array of {}",
        std::any::type_name::<T>()
    );
    // SAFETY: as in `view`, and nobody else looks at them.
    unsafe { std::slice::from_raw_parts_mut(at.cast(), count) }
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
/// As `cellweave.h` says of `init`.
pub unsafe fn init<K: Kernel>(
    make: impl FnOnce(&super::TaskInfo) -> Result<K, String>,
    task: *const abi::Task,
    state: *mut *mut c_void,
) -> u32 {
    // SAFETY: the caller's promise.
    let task = unsafe { &*task };
    // SAFETY: the caller's promise.
    match guarded(|| make(&unsafe { super::TaskInfo::from_raw(task) })).unwrap_or_else(Err) {
        Ok(kernel) => {
            // SAFETY: `state` is the runtime's own variable.
            unsafe { state.write(Box::into_raw(Box::new(kernel)).cast()) };
            abi::OK
        }
        Err(why) => {
            // SAFETY: the task has room for `error_bytes` bytes.
            unsafe { tell(&why, task.error, task.error_bytes) };
            abi::ERROR
        }
    }
}

fn lower(fired: Result<Fired, String>, batch: &abi::Batch) -> abi::Result {
    let (fired, status) = match fired {
        Ok(Fired::Done(n)) => (n, abi::OK),
        Ok(Fired::End(n)) => (n, abi::END),
        Ok(Fired::Again(n)) => (n, abi::AGAIN),
        Ok(Fired::Failed(n, why)) => {
            // SAFETY: the batch has room for `error_bytes` bytes.
            unsafe { tell(&why, batch.error, batch.error_bytes) };
            (n, abi::ERROR)
        }
        Err(why) => {
            // SAFETY: as above.
            unsafe { tell(&why, batch.error, batch.error_bytes) };
            (0, abi::ERROR)
        }
    };
    abi::Result { fired, status, reserved: 0 }
}

/// `fire` of the ABI for a Rust kernel. Used by [`export_kernel!`](crate::export_kernel).
///
/// # Safety
/// As `cellweave.h` says of `fire`, with a state that [`init`] made.
pub unsafe extern "C" fn fire<K: Kernel>(state: *mut c_void, batch: *const abi::Batch) -> abi::Result {
    // SAFETY: the state is a K that `init` boxed; the runtime never makes two calls at once for one state.
    let (kernel, batch) = unsafe { (&mut *state.cast::<K>(), &*batch) };
    lower(guarded(|| kernel.fire(&mut Batch { raw: batch })), batch)
}

/// `finish` of the ABI for a Rust kernel. Used by [`export_kernel!`](crate::export_kernel).
///
/// # Safety
/// As `cellweave.h` says of `finish`, with a state that [`init`] made.
pub unsafe extern "C" fn finish<K: Kernel>(state: *mut c_void, error: *mut c_char, error_bytes: u64) -> u32 {
    // SAFETY: `init` boxed it, and this is the last call with it.
    let mut kernel = unsafe { Box::from_raw(state.cast::<K>()) };
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

impl Kernel for Box<dyn Kernel> {
    fn fire(&mut self, batch: &mut Batch) -> Fired {
        (**self).fire(batch)
    }

    fn finish(&mut self) -> Result<(), String> {
        (**self).finish()
    }
}

/// [`fire`] of a boxed kernel.
pub(crate) use fire as fire_generic;
pub(crate) unsafe extern "C" fn fire_boxed(state: *mut c_void, batch: *const abi::Batch) -> abi::Result {
    // SAFETY: the caller's promise, with a state that holds a `Box<dyn Kernel>`.
    unsafe { fire_generic::<Box<dyn Kernel>>(state, batch) }
}

pub(crate) unsafe extern "C" fn finish_boxed(
    state: *mut c_void,
    error: *mut c_char,
    error_bytes: u64,
) -> u32 {
    // SAFETY: as in `fire_boxed`.
    unsafe { finish::<Box<dyn Kernel>>(state, error, error_bytes) }
}

/// What [`export_kernel!`](crate::export_kernel) says of a port.
///
/// ```
/// use run::kernel::rust::port;
/// let p = port(c"in", Some(c"f32"), 0, 0);
/// assert_eq!(p.bytes, 0);
/// ```
pub const fn port(
    name: &'static std::ffi::CStr,
    dtype: Option<&'static std::ffi::CStr>,
    bytes: u64,
    flags: u32,
) -> abi::Port {
    abi::Port {
        name: name.as_ptr(),
        dtype: match dtype {
            Some(d) => d.as_ptr(),
            None => std::ptr::null(),
        },
        shape: std::ptr::null(),
        dimensions: 0,
        items: 1,
        bytes,
        flags,
        reserved: 0,
    }
}

/// Exports a Rust kernel from a `cdylib` under a symbol, as C would.
///
/// `make` is a function `fn(&TaskInfo) -> Result<K, String>` where `K` is a [`Kernel`]. A port is
/// `"name": "dtype"`, optionally with `bytes = N` and `flags = F`; the dtype `"bytes"` means any.
///
/// ```
/// use run::{Batch, Fired, Kernel, TaskInfo};
/// struct Gain(f32);
/// impl Kernel for Gain {
///     fn fire(&mut self, batch: &mut Batch) -> Fired {
///         for j in 0..batch.firings() {
///             let (input, output) = (batch.input::<f32>(0, j), batch.output::<f32>(0, j));
///             output.iter_mut().zip(input).for_each(|(o, i)| *o = self.0 * i);
///         }
///         batch.done()
///     }
/// }
/// fn make(task: &TaskInfo) -> Result<Gain, String> {
///     Ok(Gain(task.number("gain")?.unwrap_or(1.0) as f32))
/// }
/// run::export_kernel! { gain: Gain, make = make, inputs = ["in": "f32"], outputs = ["out": "f32"] }
/// assert_eq!(gain.abi_version, 1);
/// ```
#[macro_export]
macro_rules! export_kernel {
    ($symbol:ident : $kernel:ty, make = $make:expr,
     inputs = [$($in:literal : $in_type:literal $(, bytes = $in_bytes:literal)? $(, flags = $in_flags:expr)?);* $(;)?],
     outputs = [$($out:literal : $out_type:literal $(, bytes = $out_bytes:literal)? $(, flags = $out_flags:expr)?);* $(;)?]
     $(, flags = $flags:expr)? $(,)?) => {
        #[allow(non_upper_case_globals, missing_docs)]
        #[unsafe(no_mangle)]
        pub static $symbol: $crate::kernel::abi::Kernel = {
            use $crate::kernel::abi;
            static INPUTS: &[abi::Port] = &[$($crate::export_kernel!(@port $in, $in_type $(, bytes $in_bytes)? $(, flags $in_flags)?)),*];
            static OUTPUTS: &[abi::Port] = &[$($crate::export_kernel!(@port $out, $out_type $(, bytes $out_bytes)? $(, flags $out_flags)?)),*];
            unsafe extern "C" fn init(task: *const abi::Task, state: *mut *mut ::std::ffi::c_void) -> u32 {
                // SAFETY: the runtime calls init as cellweave.h says.
                unsafe { $crate::kernel::rust::init::<$kernel>($make, task, state) }
            }
            abi::Kernel {
                abi_version: abi::ABI_VERSION,
                struct_bytes: ::std::mem::size_of::<abi::Kernel>() as u32,
                name: concat!(stringify!($symbol), "\0").as_ptr().cast(),
                flags: 0 $(| $flags)?,
                inputs: INPUTS.len() as u32,
                outputs: OUTPUTS.len() as u32,
                reserved: 0,
                input_ports: INPUTS.as_ptr(),
                output_ports: OUTPUTS.as_ptr(),
                init: Some(init),
                fire: Some($crate::kernel::rust::fire::<$kernel>),
                finish: Some($crate::kernel::rust::finish::<$kernel>),
            }
        };
    };
    (@port $name:literal, $dtype:literal $(, bytes $bytes:literal)? $(, flags $flags:expr)?) => {
        $crate::kernel::abi::Port {
            name: concat!($name, "\0").as_ptr().cast(),
            dtype: concat!($dtype, "\0").as_ptr().cast(),
            shape: ::std::ptr::null(),
            dimensions: 0,
            items: 1,
            bytes: 0 $(+ $bytes)?,
            flags: 0 $(| $flags)?,
            reserved: 0,
        }
    };
}
