//! Kernels against the same operations on one element, written out.

use super::*;

/// Applies an operation to elements at an address that is not aligned.
fn apply<T: Copy>(operation: Predefined, element: ElementType, from: &[T], into: &[T]) -> Vec<T> {
    let bytes = std::mem::size_of_val(from);
    let shifted = |data: &[T]| {
        let mut memory = vec![0u8; bytes + 1];
        // SAFETY: `bytes` bytes of `data`, and room for them.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr().cast(), memory.as_mut_ptr().add(1), bytes) };
        memory
    };
    let (a, mut b) = (shifted(from), shifted(into));
    let kernel = kernel(operation, element).unwrap();
    // SAFETY: both hold the elements.
    unsafe { kernel(a.as_ptr().add(1), b.as_ptr().add(1), b.as_mut_ptr().add(1), from.len()) };
    // SAFETY: elements that a kernel wrote.
    (0..from.len()).map(|i| unsafe { b.as_ptr().add(1).cast::<T>().add(i).read_unaligned() }).collect()
}

macro_rules! whole_numbers {
    ($($type:ty, $element:expr;)*) => {$(
        let samples = [0, 1, 2, 7, 100, <$type>::MAX, <$type>::MIN, <$type>::MAX / 3];
        let pairs: Vec<($type, $type)> = samples.iter().flat_map(|&a| samples.map(|b| (a, b))).collect();
        let (a, b): (Vec<$type>, Vec<$type>) = pairs.iter().copied().unzip();
        let check = |operation, scalar: fn($type, $type) -> $type| {
            let expected: Vec<$type> = pairs.iter().map(|&(a, b)| scalar(a, b)).collect();
            assert_eq!(apply(operation, $element, &a, &b), expected, "{operation:?} {:?}", $element);
        };
        check(Predefined::Sum, |a, b| a.wrapping_add(b));
        check(Predefined::Product, |a, b| a.wrapping_mul(b));
        check(Predefined::Max, |a, b| a.max(b));
        check(Predefined::Min, |a, b| a.min(b));
        check(Predefined::BitAnd, |a, b| a & b);
        check(Predefined::BitOr, |a, b| a | b);
        check(Predefined::BitXor, |a, b| a ^ b);
        check(Predefined::LogicalAnd, |a, b| (a != 0 && b != 0).into());
        check(Predefined::LogicalOr, |a, b| (a != 0 || b != 0).into());
        check(Predefined::LogicalXor, |a, b| ((a != 0) != (b != 0)).into());
    )*};
}

#[test]
fn operations_on_whole_numbers() {
    whole_numbers! {
        i8, ElementType::I8;
        u8, ElementType::U8;
        i16, ElementType::I16;
        u16, ElementType::U16;
        i32, ElementType::I32;
        u32, ElementType::U32;
        i64, ElementType::I64;
        u64, ElementType::U64;
        i128, ElementType::I128;
    }
}

#[test]
fn operations_on_floating_and_complex_numbers() {
    let (a, b) = ([1.5, -2.0, 0.0, f64::INFINITY], [4.0, -3.0, 2.0, 1.0]);
    assert_eq!(apply(Predefined::Sum, ElementType::F64, &a, &b), [5.5, -5.0, 2.0, f64::INFINITY]);
    assert_eq!(apply(Predefined::Product, ElementType::F64, &a, &b), [6.0, 6.0, 0.0, f64::INFINITY]);
    assert_eq!(apply(Predefined::Max, ElementType::F64, &a, &b), [4.0, -2.0, 2.0, f64::INFINITY]);
    assert_eq!(apply(Predefined::Min, ElementType::F64, &a, &b), [1.5, -3.0, 0.0, 1.0]);
    assert_eq!(apply(Predefined::Sum, ElementType::ComplexF32, &[[1f32, 2.]], &[[3f32, 4.]]), [[4., 6.]]);
    let product =
        |a: [f64; 2], b: [f64; 2]| apply(Predefined::Product, ElementType::ComplexF64, &[a], &[b])[0];
    assert_eq!(product([1., 2.], [3., 4.]), [-5., 10.]);
    assert_eq!(product([0., 1.], [0., 1.]), [-1., 0.]);
}

#[test]
fn of_equal_values_the_lower_index_is_located() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Pair(f64, i32);
    let (a, b) = ([Pair(1., 5), Pair(2., 7), Pair(3., 1)], [Pair(4., 3), Pair(2., 6), Pair(1., 2)]);
    let found = |operation| apply(operation, ElementType::F64AndI32, &a, &b);
    assert_eq!(found(Predefined::MaxLocation), [Pair(4., 3), Pair(2., 6), Pair(3., 1)]);
    assert_eq!(found(Predefined::MinLocation), [Pair(1., 5), Pair(2., 6), Pair(1., 2)]);
}

/// `long double` of a number that has no more than 53 bits.
#[cfg(target_arch = "x86_64")]
fn long(number: f64) -> [u8; 16] {
    let bits = number.to_bits();
    let (negative, exponent, fraction) = (bits >> 63, (bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    let mut bytes = [0; 16];
    if exponent != 0 {
        bytes[..8].copy_from_slice(&(1 << 63 | fraction << 11).to_le_bytes());
        let exponent = (exponent as u16 + 16383 - 1023) | (negative as u16) << 15;
        bytes[8..10].copy_from_slice(&exponent.to_le_bytes());
    }
    bytes
}

#[cfg(target_arch = "x86_64")]
#[test]
fn operations_on_long_double() {
    let of = |operation, a: f64, b: f64| apply(operation, ElementType::LongDouble, &[long(a)], &[long(b)])[0];
    assert_eq!(of(Predefined::Sum, 1.5, -4.), long(-2.5));
    assert_eq!(of(Predefined::Product, 1.5, -4.), long(-6.));
    for (a, b) in [(1., 2.), (2., 1.), (-1., -3.)] {
        assert_eq!(of(Predefined::Max, a, b), long(a.max(b)));
        assert_eq!(of(Predefined::Min, a, b), long(a.min(b)));
    }
    assert_eq!(of(Predefined::LogicalAnd, 2., 0.), long(0.));
    assert_eq!(of(Predefined::LogicalOr, 2., 0.), long(1.));
    assert_eq!(of(Predefined::LogicalXor, 2., 3.), long(0.));
    let complex = |operation, a: [f64; 2], b: [f64; 2]| {
        apply(operation, ElementType::ComplexLongDouble, &[a.map(long)], &[b.map(long)])[0]
    };
    assert_eq!(complex(Predefined::Product, [1., 2.], [3., 4.]), [-5., 10.].map(long));
    assert_eq!(complex(Predefined::Sum, [1., 2.], [3., 4.]), [4., 6.].map(long));
    let located = |operation, a: (f64, u8), b: (f64, u8)| {
        let pair = |(value, index): (f64, u8)| {
            let mut bytes = [0; 32];
            bytes[..16].copy_from_slice(&long(value));
            bytes[16] = index;
            bytes
        };
        let found = apply(operation, ElementType::LongDoubleAndI32, &[pair(a)], &[pair(b)])[0];
        (found == pair(a), found == pair(b))
    };
    assert_eq!(located(Predefined::MaxLocation, (2., 5), (1., 3)), (true, false));
    assert_eq!(located(Predefined::MaxLocation, (1., 5), (2., 3)), (false, true));
    assert_eq!(located(Predefined::MinLocation, (1., 5), (1., 3)), (false, true));
    assert_eq!(located(Predefined::MinLocation, (1., 2), (1., 3)), (true, false));
}

#[test]
fn an_operation_is_refused_where_the_standard_defines_none() {
    for (operation, element) in [
        (Predefined::BitAnd, ElementType::F64),
        (Predefined::Max, ElementType::ComplexF32),
        (Predefined::Sum, ElementType::F64AndI32),
        (Predefined::Sum, ElementType::Logical32),
        (Predefined::Sum, ElementType::Byte),
        (Predefined::MaxLocation, ElementType::I32),
    ] {
        assert!(kernel(operation, element).is_none(), "{operation:?} {element:?}");
    }
}

#[test]
fn results_apart_from_both_operands_are_the_same_as_in_place_for_every_length() {
    fn check<T: Copy + PartialEq + std::fmt::Debug>(element: ElementType, number: impl Fn(usize) -> T) {
        let sum = kernel(Predefined::Sum, element).unwrap();
        for count in 0..200 {
            let (a, b): (Vec<T>, Vec<T>) = (0..count).map(|i| (number(i), number(3 * i + 1))).unzip();
            let (mut apart, mut in_place) = (vec![number(100); count + 1], b.clone());
            in_place.push(number(100));
            // SAFETY: all have `count` elements, and a result is apart from both operands or is the second one.
            unsafe {
                sum(a.as_ptr().cast(), b.as_ptr().cast(), apart.as_mut_ptr().cast(), count);
                sum(a.as_ptr().cast(), in_place.as_ptr().cast(), in_place.as_mut_ptr().cast(), count);
            }
            assert_eq!(apart, in_place);
            assert_eq!(apart[..count], apply(Predefined::Sum, element, &a, &b));
            assert_eq!(apart[count], number(100));
        }
    }
    check(ElementType::U8, |i| i as u8);
    check(ElementType::I16, |i| i as i16);
    check(ElementType::F32, |i| i as f32);
    check(ElementType::F64, |i| i as f64);
    check(ElementType::I128, |i| i as i128);
    check(ElementType::ComplexF64, |i| [i as f64, -(i as f64)]);
    #[cfg(target_arch = "x86_64")]
    check(ElementType::LongDouble, |i| long(i as f64));
}
