//! The types that an instance can hold.

/// The number that a port is made of, and a view's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    /// `u8`: also the type in which any port may be seen.
    U8,
    /// `i8`
    I8,
    /// `u16`
    U16,
    /// `i16`
    I16,
    /// `u32`
    U32,
    /// `i32`
    I32,
    /// `u64`
    U64,
    /// `i64`
    I64,
    /// `f32`
    F32,
    /// `f64`
    F64,
}

impl Dtype {
    /// What the items of a port of this dtype are made of: a complex number is two floats. `None`: the port says
    /// nothing.
    pub(super) fn of_port(dtype: &str) -> Option<Dtype> {
        Some(match dtype {
            "u8" => Dtype::U8,
            "i16" => Dtype::I16,
            "u32" => Dtype::U32,
            "i32" => Dtype::I32,
            "u64" => Dtype::U64,
            "i64" => Dtype::I64,
            "f32" | "c64" => Dtype::F32,
            "f64" | "c128" => Dtype::F64,
            _ => return None,
        })
    }
}

impl std::fmt::Display for Dtype {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", format!("{self:?}").to_lowercase())
    }
}

/// Plain old data: numbers without padding, for which every bit pattern is a value.
///
/// # Safety
/// Every bit pattern must be a value of the type, and it must have no padding.
pub unsafe trait Data: Copy + 'static {
    /// What it is made of; a port that states another dtype refuses the view.
    const DTYPE: Dtype;
}

macro_rules! data {
    ($($t:ty: $dtype:ident),*) => { $(
        // SAFETY: a number has no padding and no invalid bit pattern.
        unsafe impl Data for $t {
            const DTYPE: Dtype = Dtype::$dtype;
        }
    )* };
}
data!(u8: U8, i8: I8, u16: U16, i16: I16, u32: U32, i32: I32, u64: U64, i64: I64, f32: F32, f64: F64);

// SAFETY: an array of data has neither padding nor invalid bit patterns.
unsafe impl<T: Data, const N: usize> Data for [T; N] {
    const DTYPE: Dtype = T::DTYPE;
}

/// Whether `bytes` can be seen as whole, aligned items.
fn fits<T: Data>(bytes: &[u8]) -> bool {
    const { assert!(size_of::<T>() > 0, "an item has at least one byte") };
    bytes.len().is_multiple_of(size_of::<T>()) && bytes.as_ptr().cast::<T>().is_aligned()
}

/// `bytes` as items; `None` when they are not a whole number of them, or not aligned for them.
#[inline]
pub(super) fn items<T: Data>(bytes: &[u8]) -> Option<&[T]> {
    // SAFETY: the same bytes, as many whole items as they hold, aligned; every bit pattern is a value of T.
    fits::<T>(bytes)
        .then(|| unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) })
}

/// As [`items`], to write.
#[inline]
pub(super) fn items_mut<T: Data>(bytes: &mut [u8]) -> Option<&mut [T]> {
    // SAFETY: as in `items`; a T has no padding, so that whatever is written is initialised bytes.
    fits::<T>(bytes).then(|| unsafe {
        std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len() / size_of::<T>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_items_when_they_are_whole_and_aligned() {
        let words = [1u64, 2];
        // SAFETY: 16 bytes of two words.
        let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), 16) };
        assert_eq!(items::<u64>(bytes), Some(&words[..]));
        assert_eq!(items::<[u32; 2]>(bytes).unwrap().len(), 2);
        assert_eq!(items::<u64>(&bytes[..12]), None);
        assert_eq!(items::<u64>(&bytes[4..12]), None);
        assert_eq!(Dtype::F32.to_string(), "f32");
    }
}
