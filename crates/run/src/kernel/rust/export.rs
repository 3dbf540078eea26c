//! A Rust kernel as a symbol of a shared object.

/// Exports a Rust kernel from a `cdylib` under a symbol, as C would.
///
/// `make` is a function `fn(&TaskInfo) -> Result<K, String>` where `K` is a [`Kernel`](crate::Kernel). A port is
/// `"name": "dtype"`, optionally with `bytes = N` and `flags = F`; the dtype `"bytes"` means any.
///
/// ```
/// use run::{Batch, Failed, Fired, Kernel, TaskInfo, kernel::abi};
/// struct Gain(f32);
/// impl Kernel for Gain {
///     fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
///         batch.in_place::<f32>(0)?.together().iter_mut().for_each(|x| *x *= self.0);
///         Ok(Fired::All)
///     }
/// }
/// fn make(task: &TaskInfo) -> Result<Gain, String> {
///     Ok(Gain(task.number("gain")?.unwrap_or(1.0) as f32))
/// }
/// run::export_kernel! {
///     gain: Gain, make = make, inputs = ["in": "f32", flags = abi::IN_PLACE], outputs = ["out": "f32"]
/// }
/// assert_eq!(gain.abi_version, 1);
/// ```
#[macro_export]
macro_rules! export_kernel {
    (@port $name:literal, $dtype:literal $(, bytes $bytes:literal)? $(, flags $flags:expr)?) => {
        $crate::kernel::abi::CwPort {
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
    (@ports $list:ident [$($name:literal : $dtype:literal
        $(, bytes = $bytes:literal)? $(, flags = $flags:expr)?);* $(;)?]) => {
        static $list: &[$crate::kernel::abi::CwPort] =
            &[$($crate::export_kernel!(@port $name, $dtype $(, bytes $bytes)? $(, flags $flags)?)),*];
    };
    ($symbol:ident : $kernel:ty, make = $make:expr, inputs = $inputs:tt, outputs = $outputs:tt
     $(, flags = $flags:expr)? $(,)?) => {
        #[allow(non_upper_case_globals, missing_docs)]
        #[unsafe(no_mangle)]
        pub static $symbol: $crate::kernel::abi::CwKernel = {
            $crate::export_kernel!(@ports INPUTS $inputs);
            $crate::export_kernel!(@ports OUTPUTS $outputs);
            unsafe extern "C" fn init(
                task: *const $crate::kernel::abi::CwTask,
                state: *mut *mut ::std::ffi::c_void,
            ) -> u32 {
                // SAFETY: the runtime calls init as cellweave.h says, and the ports are this kernel's.
                unsafe { $crate::kernel::rust::init::<$kernel>($make, INPUTS, OUTPUTS, task, state) }
            }
            $crate::kernel::abi::CwKernel {
                abi_version: $crate::kernel::abi::ABI_VERSION,
                struct_bytes: ::std::mem::size_of::<$crate::kernel::abi::CwKernel>() as u32,
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
}
