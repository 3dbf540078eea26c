//! The predefined operations on every type they are defined for, as plain loops (MPI 5.0, sections 6.9.2 and 6.9.4).
//!
//! A buffer need not be aligned: elements are read and written as bytes, which the compiler turns into unaligned vector
//! loads. Each kernel is there twice on x86-64, the second time for cpus whose vectors have 32 bytes. (A Xeon, 16 kB in
//! the first caches: sum of doubles 0.15 us instead of 0.24, product of int 0.19 and 0.62, maximum of int64 0.24 and
//! 1.00.)

use super::long_double;
use super::{ElementType, Predefined, Reducer};
use std::ops::Sub;

/// A type of numbers, as a reduction sees it.
trait Operand: Copy + PartialEq {
    fn sum(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
    fn greater(self, other: Self) -> bool;
    fn truth(self) -> bool;
    fn of(truth: bool) -> Self;
}

/// Whole numbers also have bits.
trait Bits: Copy {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
}

macro_rules! whole {
    ($($type:ty)*) => {$(
        impl Operand for $type {
            #[inline(always)]
            fn sum(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn product(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn greater(self, other: Self) -> bool { self > other }
            #[inline(always)]
            fn truth(self) -> bool { self != 0 }
            #[inline(always)]
            fn of(truth: bool) -> Self { <$type>::from(truth) }
        }
        impl Bits for $type {
            #[inline(always)]
            fn and(self, other: Self) -> Self { self & other }
            #[inline(always)]
            fn or(self, other: Self) -> Self { self | other }
            #[inline(always)]
            fn xor(self, other: Self) -> Self { self ^ other }
        }
    )*};
}
whole!(i8 u8 i16 u16 i32 u32 i64 u64 i128);

macro_rules! floating {
    ($($type:ty)*) => {$(
        impl Operand for $type {
            #[inline(always)]
            fn sum(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn product(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn greater(self, other: Self) -> bool { self > other }
            #[inline(always)]
            fn truth(self) -> bool { self != 0.0 }
            #[inline(always)]
            fn of(truth: bool) -> Self { if truth { 1.0 } else { 0.0 } }
        }
    )*};
}
floating!(f32 f64);

/// Numbers that have fractions.
trait Floating: Operand + Sub<Output = Self> {}
impl Floating for f32 {}
impl Floating for f64 {}

/// What stands behind a value.
trait Index: Copy + PartialOrd {}
impl Index for i32 {}
impl Index for f32 {}
impl Index for f64 {}

/// A complex number as C and Fortran lay it out.
#[derive(Clone, Copy)]
#[repr(C)]
struct Complex<T> {
    re: T,
    im: T,
}

/// A value with an index, as `MPI_MINLOC` and `MPI_MAXLOC` take it; laid out as C does.
#[derive(Clone, Copy)]
#[repr(C)]
struct ValueAndIndex<V, I> {
    value: V,
    index: I,
}

/// So far ahead of what is reduced, a kernel fetches its first operand. A choice. (A Xeon, reduce of 256 kB to one of
/// two ranks: 15.6 us so, and 16.6 without.)
const AHEAD: usize = 768;
/// Bytes of a cache line.
const LINE: usize = 64;

/// Fetches a line that is read soon; its address may be anything.
#[inline(always)]
fn fetch(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: reads nothing that the program sees, and faults nowhere.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    let _ = address;
}

/// Reduces numbers, by lines of the first operand, which often lies in another core's cache. The numbers of a line are
/// all read before their results are written, so that the compiler need not ask whether those are among them.
///
/// # Safety
/// As `Reducer`.
#[inline(always)]
unsafe fn by_lines<T: Copy>(
    from: *const u8,
    with: *const u8,
    into: *mut u8,
    count: usize,
    apply: impl Fn(T, T) -> T,
) {
    // SAFETY: the caller promises the same.
    unsafe {
        match size_of::<T>() {
            1 => lines::<T, { LINE }>(from, with, into, count, apply),
            2 => lines::<T, { LINE / 2 }>(from, with, into, count, apply),
            4 => lines::<T, { LINE / 4 }>(from, with, into, count, apply),
            8 => lines::<T, { LINE / 8 }>(from, with, into, count, apply),
            _ => one_by_one(from, with, into, count, apply),
        }
    }
}

/// As `by_lines`, of numbers of which a line has so many.
///
/// # Safety
/// As `Reducer`.
#[inline(always)]
unsafe fn lines<T: Copy, const EACH: usize>(
    from: *const u8,
    with: *const u8,
    into: *mut u8,
    count: usize,
    apply: impl Fn(T, T) -> T,
) {
    let whole = count / EACH * EACH;
    for at in (0..whole).step_by(EACH).map(|start| start * size_of::<T>()) {
        fetch(from.wrapping_add(at + AHEAD));
        // SAFETY: elements of the `count` that the caller promises; alignment is not assumed.
        unsafe {
            let (a, b) = (from.add(at).cast::<[T; EACH]>(), with.add(at).cast::<[T; EACH]>());
            let (a, b) = (a.read_unaligned(), b.read_unaligned());
            let made: [T; EACH] = std::array::from_fn(|i| apply(a[i], b[i]));
            into.add(at).cast::<[T; EACH]>().write_unaligned(made);
        }
    }
    let rest = whole * size_of::<T>();
    // SAFETY: the elements that are left.
    unsafe { one_by_one(from.add(rest), with.add(rest), into.add(rest), count - whole, apply) };
}

/// Reduces elements one by one.
///
/// # Safety
/// As `Reducer`.
#[inline(always)]
unsafe fn one_by_one<T: Copy>(
    from: *const u8,
    with: *const u8,
    into: *mut u8,
    count: usize,
    apply: impl Fn(T, T) -> T,
) {
    let (from, with, into) = (from.cast::<T>(), with.cast::<T>(), into.cast::<T>());
    // SAFETY: elements of the `count` that the caller promises; alignment is not assumed.
    unsafe {
        // The compiler sees what is the same place, and need not ask whether results are among what is read.
        if with == into.cast_const() {
            for i in 0..count {
                into.add(i)
                    .write_unaligned(apply(from.add(i).read_unaligned(), into.add(i).read_unaligned()));
            }
        } else {
            for i in 0..count {
                into.add(i)
                    .write_unaligned(apply(from.add(i).read_unaligned(), with.add(i).read_unaligned()));
            }
        }
    }
}

macro_rules! kernels {
    ($(
        $(#[$doc:meta])*
        $name:ident<$($parameter:ident: $bound:path),*>($type:ty) in $loop:ident = $apply:expr;
    )*) => {$(
        unsafe fn $name<$($parameter: $bound),*>(from: *const u8, with: *const u8, into: *mut u8, count: usize) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            unsafe fn wide<$($parameter: $bound),*>(from: *const u8, with: *const u8, into: *mut u8, count: usize) {
                // SAFETY: the caller promises the same.
                unsafe { $loop::<$type>(from, with, into, count, $apply) }
            }
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the cpu has these instructions; the caller promises the rest.
                return unsafe { wide::<$($parameter),*>(from, with, into, count) };
            }
            // SAFETY: the caller promises the same.
            unsafe { $loop::<$type>(from, with, into, count, $apply) }
        }
    )*};
}

kernels! {
    sum<T: Operand>(T) in by_lines = T::sum;
    product<T: Operand>(T) in by_lines = T::product;
    max<T: Operand>(T) in by_lines = |a, b| if a.greater(b) { a } else { b };
    min<T: Operand>(T) in by_lines = |a, b| if b.greater(a) { a } else { b };
    logical_and<T: Operand>(T) in by_lines = |a, b| T::of(a.truth() & b.truth());
    logical_or<T: Operand>(T) in by_lines = |a, b| T::of(a.truth() | b.truth());
    logical_xor<T: Operand>(T) in by_lines = |a, b| T::of(a.truth() ^ b.truth());
    bit_and<T: Bits>(T) in by_lines = T::and;
    bit_or<T: Bits>(T) in by_lines = T::or;
    bit_xor<T: Bits>(T) in by_lines = T::xor;
    complex_sum<T: Operand>(Complex<T>) in one_by_one = |a, b| Complex { re: a.re.sum(b.re), im: a.im.sum(b.im) };
    complex_product<T: Floating>(Complex<T>) in one_by_one = |a, b| Complex {
        re: a.re.product(b.re) - a.im.product(b.im),
        im: a.re.product(b.im).sum(a.im.product(b.re)),
    };
    /// The one whose value is greater; of equal ones the lower index.
    max_location<V: Operand, I: Index>(ValueAndIndex<V, I>) in one_by_one = |a, b| {
        if a.value.greater(b.value) || (a.value == b.value && a.index < b.index) { a } else { b }
    };
    /// The one whose value is less; of equal ones the lower index.
    min_location<V: Operand, I: Index>(ValueAndIndex<V, I>) in one_by_one = |a, b| {
        if b.value.greater(a.value) || (a.value == b.value && a.index < b.index) { a } else { b }
    };
}

fn of_whole<T: Operand + Bits>(operation: Predefined) -> Option<Reducer> {
    Some(match operation {
        Predefined::Sum => sum::<T>,
        Predefined::Product => product::<T>,
        Predefined::Max => max::<T>,
        Predefined::Min => min::<T>,
        Predefined::BitAnd => bit_and::<T>,
        Predefined::BitOr => bit_or::<T>,
        Predefined::BitXor => bit_xor::<T>,
        _ => return of_logical::<T>(operation),
    })
}

fn of_floating<T: Operand>(operation: Predefined) -> Option<Reducer> {
    Some(match operation {
        Predefined::Sum => sum::<T>,
        Predefined::Product => product::<T>,
        Predefined::Max => max::<T>,
        Predefined::Min => min::<T>,
        _ => return of_logical::<T>(operation),
    })
}

fn of_logical<T: Operand>(operation: Predefined) -> Option<Reducer> {
    Some(match operation {
        Predefined::LogicalAnd => logical_and::<T>,
        Predefined::LogicalOr => logical_or::<T>,
        Predefined::LogicalXor => logical_xor::<T>,
        _ => return None,
    })
}

fn of_bytes(operation: Predefined) -> Option<Reducer> {
    Some(match operation {
        Predefined::BitAnd => bit_and::<u8>,
        Predefined::BitOr => bit_or::<u8>,
        Predefined::BitXor => bit_xor::<u8>,
        _ => return None,
    })
}

fn of_located<V: Operand, I: Index>(operation: Predefined) -> Option<Reducer> {
    Some(match operation {
        Predefined::MaxLocation => max_location::<V, I>,
        Predefined::MinLocation => min_location::<V, I>,
        _ => return None,
    })
}

fn of_complex<T: Floating>(operation: Predefined) -> Option<Reducer> {
    match operation {
        Predefined::Sum => Some(complex_sum::<T>),
        Predefined::Product => Some(complex_product::<T>),
        _ => None,
    }
}

/// The kernel of an operation on a type; nothing when it isn't defined for it.
///
/// Beyond the standard's table `MPI_CHAR` is taken as a small integer and the logical operations work on every number,
/// as programs written for other implementations expect.
pub(crate) fn kernel(operation: Predefined, element: ElementType) -> Option<Reducer> {
    match element {
        ElementType::I8 => of_whole::<i8>(operation),
        ElementType::U8 => of_whole::<u8>(operation),
        ElementType::I16 => of_whole::<i16>(operation),
        ElementType::U16 => of_whole::<u16>(operation),
        ElementType::I32 => of_whole::<i32>(operation),
        ElementType::U32 => of_whole::<u32>(operation),
        ElementType::I64 => of_whole::<i64>(operation),
        ElementType::U64 => of_whole::<u64>(operation),
        ElementType::I128 => of_whole::<i128>(operation),
        ElementType::F32 => of_floating::<f32>(operation),
        ElementType::F64 => of_floating::<f64>(operation),
        ElementType::LongDouble => long_double::kernel(operation),
        ElementType::ComplexF32 => of_complex::<f32>(operation),
        ElementType::ComplexF64 => of_complex::<f64>(operation),
        ElementType::ComplexLongDouble => long_double::complex_kernel(operation),
        ElementType::Logical8 => of_logical::<u8>(operation),
        ElementType::Logical16 => of_logical::<u16>(operation),
        ElementType::Logical32 => of_logical::<u32>(operation),
        ElementType::Logical64 => of_logical::<u64>(operation),
        ElementType::Logical128 => of_logical::<i128>(operation),
        ElementType::Byte => of_bytes(operation),
        ElementType::F32AndI32 => of_located::<f32, i32>(operation),
        ElementType::F64AndI32 => of_located::<f64, i32>(operation),
        ElementType::I64AndI32 => of_located::<i64, i32>(operation),
        ElementType::I32AndI32 => of_located::<i32, i32>(operation),
        ElementType::I16AndI32 => of_located::<i16, i32>(operation),
        ElementType::F32AndF32 => of_located::<f32, f32>(operation),
        ElementType::F64AndF64 => of_located::<f64, f64>(operation),
        ElementType::LongDoubleAndI32 => long_double::located_kernel(operation),
    }
}
