//! `cellweave.h` in Rust, field by field; a test compiles the header and compares every size and offset.

use std::ffi::{c_char, c_void};

/// Raised with every change of a struct or a rule. A kernel that was built for another version is refused.
pub const ABI_VERSION: u32 = 1;

/// As many firings as `fired` says; fewer than asked only with [`END`] or [`AGAIN`].
pub const OK: u32 = 0;
/// A source has no more instances after these.
pub const END: u32 = 1;
/// Nothing more right now: call again later with the rest.
pub const AGAIN: u32 = 2;
/// The kernel failed in firing number `fired` of this batch.
pub const ERROR: u32 = 3;

/// Flag of a kernel: firings may be computed in any order, by copies of the kernel.
pub const STATELESS: u32 = 1;
/// Flag of an input: its bytes may be overwritten by the output of the same index.
pub const IN_PLACE: u32 = 1;
/// Flag of a port: the length varies, the edge's bytes are the maximum, the length stands in the 8 bytes before.
pub const VARIABLE: u32 = 2;
/// Flag of a port: may be left unconnected.
pub const OPTIONAL: u32 = 4;
/// Flag of the last port of a list: stands for one or more ports like it.
pub const REPEATED: u32 = 8;

/// `cw_result`: how a call ended.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CwResult {
    /// Firings done in this call.
    pub fired: u64,
    /// [`OK`], [`END`], [`AGAIN`] or [`ERROR`].
    pub status: u32,
    /// 0.
    pub reserved: u32,
}

/// `cw_port`: what a kernel says of a port.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CwPort {
    /// Unique among the kernel's inputs (outputs).
    pub name: *const c_char,
    /// `f32`, ..; NULL = bytes.
    pub dtype: *const c_char,
    /// Of one instance; NULL = as the edge's bytes give it.
    pub shape: *const u64,
    /// Entries of `shape`.
    pub dimensions: u32,
    /// Instances per firing; 0 and 1 mean 1.
    pub items: u32,
    /// Of one instance; 0 = any.
    pub bytes: u64,
    /// [`IN_PLACE`], [`VARIABLE`], [`OPTIONAL`], [`REPEATED`].
    pub flags: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: a port only points at constants of its shared object, which the library handle keeps loaded.
unsafe impl Sync for CwPort {}

/// `cw_in`: where an input's instances are, in one call.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CwIn {
    /// Instance 0 of firing 0.
    pub base: *const c_void,
    /// Bytes from one instance to the next.
    pub stride: u64,
    /// Of one instance.
    pub bytes: u64,
    /// Firing j may read instances j .. j + peek.
    pub peek: u64,
    /// Instances from `base` on that the producer made; the rest are zeros.
    pub real: u64,
}

/// `cw_out`: where an output's instances go, in one call.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CwOut {
    /// Instance 0 of firing 0.
    pub base: *mut c_void,
    /// Bytes from one instance to the next.
    pub stride: u64,
    /// Of one instance.
    pub bytes: u64,
}

/// `cw_batch`: one call of `fire`.
#[repr(C)]
#[derive(Debug)]
pub struct CwBatch {
    /// At least 1.
    pub firings: u64,
    /// Instance number of firing 0.
    pub first: u64,
    /// Entries of `in`.
    pub inputs: u32,
    /// Entries of `out`.
    pub outputs: u32,
    /// In port order.
    pub r#in: *const CwIn,
    /// In port order.
    pub out: *const CwOut,
    /// Room for a message.
    pub error: *mut c_char,
    /// Bytes of that room.
    pub error_bytes: u64,
}

/// `cw_param`: a parameter of the task.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CwParam {
    /// Its name.
    pub name: *const c_char,
    /// NULL unless it is a text.
    pub text: *const c_char,
    /// A number is one entry, true and false are 1 and 0.
    pub numbers: *const f64,
    /// Entries of `numbers`.
    pub count: u64,
}

/// `cw_connection`: a port as connected.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CwConnection {
    /// As the application writes it.
    pub name: *const c_char,
    /// Of one instance; 0 where an optional port is not connected.
    pub bytes: u64,
    /// Inputs only.
    pub peek: u64,
}

/// `cw_task`: what `init` gets.
#[repr(C)]
#[derive(Debug)]
pub struct CwTask {
    /// The task's name.
    pub name: *const c_char,
    /// The task's parameters.
    pub params: *const CwParam,
    /// Entries of `params`.
    pub params_count: u64,
    /// In port order.
    pub inputs: *const CwConnection,
    /// In port order.
    pub outputs: *const CwConnection,
    /// Entries of `inputs`.
    pub inputs_count: u32,
    /// Entries of `outputs`.
    pub outputs_count: u32,
    /// Room for a message.
    pub error: *mut c_char,
    /// Bytes of that room.
    pub error_bytes: u64,
}

/// Makes the state.
pub type Init = unsafe extern "C" fn(task: *const CwTask, state: *mut *mut c_void) -> u32;
/// Fires a batch.
pub type Fire = unsafe extern "C" fn(state: *mut c_void, batch: *const CwBatch) -> CwResult;
/// Frees the state and flushes what the kernel wrote.
pub type Finish = unsafe extern "C" fn(state: *mut c_void, error: *mut c_char, error_bytes: u64) -> u32;

/// `cw_kernel`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CwKernel {
    /// [`ABI_VERSION`] of the header it was built with.
    pub abi_version: u32,
    /// `sizeof(cw_kernel)` of that header.
    pub struct_bytes: u32,
    /// The kernel's name.
    pub name: *const c_char,
    /// [`STATELESS`].
    pub flags: u32,
    /// Entries of `input_ports`.
    pub inputs: u32,
    /// Entries of `output_ports`.
    pub outputs: u32,
    /// 0.
    pub reserved: u32,
    /// In order.
    pub input_ports: *const CwPort,
    /// In order.
    pub output_ports: *const CwPort,
    /// NULL: the state is NULL.
    pub init: Option<Init>,
    /// Required.
    pub fire: Option<Fire>,
    /// NULL: nothing to do.
    pub finish: Option<Finish>,
}

// SAFETY: a kernel is a constant; the pointers in it lead to constants and functions of the same shared object.
unsafe impl Sync for CwKernel {}
