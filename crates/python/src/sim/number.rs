//! Whole numbers of programs, each kind with its range: what does not fit is a message and no `OverflowError`.

use crate::error::request;
use cellweave::sim::LOCAL_STORE_BYTES;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

macro_rules! numbers {
    ($($name:ident($of:ty), $what:literal, $least:expr, $most:expr;)*) => {$(
        #[doc = concat!("The number that is ", $what, ".")]
        #[derive(Clone, Copy)]
        pub(crate) struct $name(pub $of);

        impl<'py> FromPyObject<'_, 'py> for $name {
            type Error = PyErr;

            fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
                value.extract::<$of>().map(Self).map_err(|e| {
                    if !e.is_instance_of::<PyOverflowError>(value.py()) {
                        return e;
                    }
                    let what = $what;
                    request(format!("{} is not {what}; allowed: {} to {}", *value, $least, $most))
                })
            }
        }
    )*};
}

numbers! {
    Offset(u32), "an offset in a local store", 0, LOCAL_STORE_BYTES - 1;
    Bytes(u32), "a number of bytes", 0, u32::MAX;
    Ea(u64), "an effective address", 0, u64::MAX;
    Tag(u32), "a tag group", 0, 31;
    Mask(u32), "a mask of tag groups", 0, u32::MAX;
    Word(u32), "a word of 32 bits", 0, u32::MAX;
    Register(u32), "a signal register", 1, 2;
    SpeNumber(usize), "an SPE's number", 0, usize::MAX;
    Time(u64), "a time", 0, u64::MAX;
}
