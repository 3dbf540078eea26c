//! The predefined operations on every type they are defined for, as plain loops (MPI 5.0, sections 6.9.2 and 6.9.4).
//!
//! A buffer need not be aligned: elements are read and written as bytes, which the compiler turns into unaligned vector
//! loads.

use super::long_double;
use super::{ElementType, Predefined, Reducer};

/// A type of numbers, as a reduction sees it.
trait Operand: Copy {
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

/// The loop of every kernel.
///
/// # Safety
/// As `Reducer`.
#[inline(always)]
unsafe fn each<T: Copy>(from: *const u8, into: *mut u8, count: usize, apply: impl Fn(T, T) -> T) {
    let (from, into) = (from.cast::<T>(), into.cast::<T>());
    for i in 0..count {
        // SAFETY: element `i` of the `count` that the caller promises; alignment is not assumed.
        unsafe {
            let value = apply(from.add(i).read_unaligned(), into.add(i).read_unaligned());
            into.add(i).write_unaligned(value);
        }
    }
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident<$($parameter:ident: $bound:path),*>($type:ty) = $apply:expr;)*) => {$(
        unsafe fn $name<$($parameter: $bound),*>(from: *const u8, into: *mut u8, count: usize) {
            // SAFETY: the caller promises the same.
            unsafe { each::<$type>(from, into, count, $apply) }
        }
    )*};
}

kernels! {
    sum<T: Operand>(T) = T::sum;
    product<T: Operand>(T) = T::product;
    max<T: Operand>(T) = |a, b| if a.greater(b) { a } else { b };
    min<T: Operand>(T) = |a, b| if b.greater(a) { a } else { b };
    logical_and<T: Operand>(T) = |a, b| T::of(a.truth() & b.truth());
    logical_or<T: Operand>(T) = |a, b| T::of(a.truth() | b.truth());
    logical_xor<T: Operand>(T) = |a, b| T::of(a.truth() ^ b.truth());
    bit_and<T: Bits>(T) = T::and;
    bit_or<T: Bits>(T) = T::or;
    bit_xor<T: Bits>(T) = T::xor;
    complex_sum<T: Operand>(Complex<T>) = |a, b| Complex { re: a.re.sum(b.re), im: a.im.sum(b.im) };
}

macro_rules! complex_product {
    ($($name:ident $type:ty),*) => {$(
        unsafe fn $name(from: *const u8, into: *mut u8, count: usize) {
            // SAFETY: the caller promises the same.
            unsafe {
                each::<Complex<$type>>(from, into, count, |a, b| Complex {
                    re: a.re * b.re - a.im * b.im,
                    im: a.re * b.im + a.im * b.re,
                })
            }
        }
    )*};
}
complex_product!(complex_product_f32 f32, complex_product_f64 f64);

/// The one whose value is greater; of equal ones the lower index.
unsafe fn max_location<V: Operand + PartialEq, I: Copy + PartialOrd>(
    from: *const u8,
    into: *mut u8,
    count: usize,
) {
    // SAFETY: the caller promises the same.
    unsafe {
        each::<ValueAndIndex<V, I>>(from, into, count, |a, b| {
            if a.value.greater(b.value) || (a.value == b.value && a.index < b.index) { a } else { b }
        })
    }
}

/// The one whose value is less; of equal ones the lower index.
unsafe fn min_location<V: Operand + PartialEq, I: Copy + PartialOrd>(
    from: *const u8,
    into: *mut u8,
    count: usize,
) {
    // SAFETY: the caller promises the same.
    unsafe {
        each::<ValueAndIndex<V, I>>(from, into, count, |a, b| {
            if b.value.greater(a.value) || (a.value == b.value && a.index < b.index) { a } else { b }
        })
    }
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

fn of_located<V: Operand + PartialEq, I: Copy + PartialOrd>(operation: Predefined) -> Option<Reducer> {
    Some(match operation {
        Predefined::MaxLocation => max_location::<V, I>,
        Predefined::MinLocation => min_location::<V, I>,
        _ => return None,
    })
}

fn of_complex<T: Operand>(operation: Predefined, product: Reducer) -> Option<Reducer> {
    match operation {
        Predefined::Sum => Some(complex_sum::<T>),
        Predefined::Product => Some(product),
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
        ElementType::ComplexF32 => of_complex::<f32>(operation, complex_product_f32),
        ElementType::ComplexF64 => of_complex::<f64>(operation, complex_product_f64),
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
