//! The predefined operations on `long double`: the x87's 80 bits in 16 bytes. Elsewhere than on x86-64 they are not
//! there.

use super::{Predefined, Reducer};

/// The kernel of an operation on `long double`.
pub(super) fn kernel(operation: Predefined) -> Option<Reducer> {
    imp::kernel(operation)
}

/// The kernel of an operation on `long double _Complex`.
pub(super) fn complex_kernel(operation: Predefined) -> Option<Reducer> {
    imp::complex_kernel(operation)
}

/// The kernel of an operation on `struct { long double; int; }`.
pub(super) fn located_kernel(operation: Predefined) -> Option<Reducer> {
    imp::located_kernel(operation)
}

#[cfg(not(target_arch = "x86_64"))]
mod imp {
    use super::{Predefined, Reducer};

    pub fn kernel(_: Predefined) -> Option<Reducer> {
        None
    }
    pub fn complex_kernel(_: Predefined) -> Option<Reducer> {
        None
    }
    pub fn located_kernel(_: Predefined) -> Option<Reducer> {
        None
    }
}

#[cfg(target_arch = "x86_64")]
mod imp {
    use super::{Predefined, Reducer};
    use std::arch::asm;

    /// `sizeof(long double)`.
    const BYTES: usize = 16;
    /// Bytes of it that hold the number.
    const HELD: usize = 10;
    /// `sizeof(struct { long double value; int index; })`.
    const LOCATED: usize = 32;
    /// 1.0: sign and exponent 0x3fff, mantissa with its leading one.
    const ONE: [u8; HELD] = [0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f];

    /// Puts `a op b` into `c`, where `op` leaves it in the place of both on the x87's stack.
    macro_rules! x87 {
        ($operation:literal, $a:expr, $b:expr, $c:expr) => {
            asm!(
                "fld tbyte ptr [{a}]", "fld tbyte ptr [{b}]", $operation, "fstp tbyte ptr [{c}]",
                a = in(reg) $a, b = in(reg) $b, c = in(reg) $c,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            )
        };
    }

    unsafe fn sum(from: *const u8, with: *const u8, into: *mut u8, count: usize) {
        for i in 0..count {
            // SAFETY: element `i` of the `count` that the caller promises.
            unsafe { x87!("faddp st(1), st", from.add(i * BYTES), with.add(i * BYTES), into.add(i * BYTES)) };
        }
    }

    unsafe fn product(from: *const u8, with: *const u8, into: *mut u8, count: usize) {
        for i in 0..count {
            // SAFETY: element `i` of the `count` that the caller promises.
            unsafe { x87!("fmulp st(1), st", from.add(i * BYTES), with.add(i * BYTES), into.add(i * BYTES)) };
        }
    }

    /// `a > b`; false when they can't be ordered.
    unsafe fn greater(a: *const u8, b: *const u8) -> bool {
        let above: u8;
        // SAFETY: the caller promises that both are numbers of 80 bits.
        unsafe {
            asm!(
                "fld tbyte ptr [{b}]", "fld tbyte ptr [{a}]", "fucomip st, st(1)", "fstp st(0)", "seta {above}",
                a = in(reg) a, b = in(reg) b, above = out(reg_byte) above,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack, readonly),
            );
        }
        above != 0
    }

    /// Copies `from` into `into` where `wanted(from, with)`, else `with`, elements of `bytes`.
    unsafe fn choose(
        from: *const u8,
        with: *const u8,
        into: *mut u8,
        count: usize,
        bytes: usize,
        wanted: impl Fn(*const u8, *const u8) -> bool,
    ) {
        for i in 0..count {
            // SAFETY: element `i` of the `count` that the caller promises; the same element is copied onto itself byte
            // by byte.
            unsafe {
                let (a, b) = (from.add(i * bytes), with.add(i * bytes));
                std::ptr::copy(if wanted(a, b) { a } else { b }, into.add(i * bytes), bytes);
            }
        }
    }

    unsafe fn max(from: *const u8, with: *const u8, into: *mut u8, count: usize) {
        // SAFETY: the caller promises the same.
        unsafe { choose(from, with, into, count, BYTES, |a, b| greater(a, b)) }
    }

    unsafe fn min(from: *const u8, with: *const u8, into: *mut u8, count: usize) {
        // SAFETY: the caller promises the same.
        unsafe { choose(from, with, into, count, BYTES, |a, b| greater(b, a)) }
    }

    /// The index behind a value.
    unsafe fn index(element: *const u8) -> i32 {
        // SAFETY: the caller promises an element of `LOCATED` bytes.
        unsafe { element.add(BYTES).cast::<i32>().read_unaligned() }
    }

    unsafe fn max_location(from: *const u8, with: *const u8, into: *mut u8, count: usize) {
        // SAFETY: the caller promises the same.
        unsafe {
            choose(from, with, into, count, LOCATED, |a, b| {
                greater(a, b) || (!greater(b, a) && index(a) < index(b))
            })
        }
    }

    unsafe fn min_location(from: *const u8, with: *const u8, into: *mut u8, count: usize) {
        // SAFETY: the caller promises the same.
        unsafe {
            choose(from, with, into, count, LOCATED, |a, b| {
                greater(b, a) || (!greater(a, b) && index(a) < index(b))
            })
        }
    }

    /// Not zero of either sign.
    unsafe fn truth(number: *const u8) -> bool {
        // SAFETY: the caller promises a number of 80 bits.
        let bytes = unsafe { number.cast::<[u8; HELD]>().read_unaligned() };
        bytes[..HELD - 1].iter().any(|&byte| byte != 0) || bytes[HELD - 1] & 0x7f != 0
    }

    unsafe fn logical(
        from: *const u8,
        with: *const u8,
        into: *mut u8,
        count: usize,
        apply: impl Fn(bool, bool) -> bool,
    ) {
        for i in 0..count {
            // SAFETY: element `i` of the `count` that the caller promises.
            unsafe {
                let (a, b) = (from.add(i * BYTES), with.add(i * BYTES));
                let number = if apply(truth(a), truth(b)) { ONE } else { [0; HELD] };
                into.add(i * BYTES).cast::<[u8; HELD]>().write_unaligned(number);
            }
        }
    }

    unsafe fn logical_and(from: *const u8, with: *const u8, into: *mut u8, count: usize) {
        // SAFETY: the caller promises the same.
        unsafe { logical(from, with, into, count, |a, b| a & b) }
    }

    unsafe fn logical_or(from: *const u8, with: *const u8, into: *mut u8, count: usize) {
        // SAFETY: the caller promises the same.
        unsafe { logical(from, with, into, count, |a, b| a | b) }
    }

    unsafe fn logical_xor(from: *const u8, with: *const u8, into: *mut u8, count: usize) {
        // SAFETY: the caller promises the same.
        unsafe { logical(from, with, into, count, |a, b| a ^ b) }
    }

    unsafe fn complex_sum(from: *const u8, with: *const u8, into: *mut u8, count: usize) {
        // SAFETY: a complex number is two numbers.
        unsafe { sum(from, with, into, 2 * count) }
    }

    unsafe fn complex_product(from: *const u8, with: *const u8, into: *mut u8, count: usize) {
        for i in 0..count {
            // SAFETY: element `i` of the `count` that the caller promises.
            unsafe {
                asm!(
                    // re re - im im
                    "fld tbyte ptr [{a}]", "fld tbyte ptr [{b}]", "fmulp st(1), st",
                    "fld tbyte ptr [{a} + 16]", "fld tbyte ptr [{b} + 16]", "fmulp st(1), st",
                    "fchs", "faddp st(1), st",
                    // re im + im re
                    "fld tbyte ptr [{a}]", "fld tbyte ptr [{b} + 16]", "fmulp st(1), st",
                    "fld tbyte ptr [{a} + 16]", "fld tbyte ptr [{b}]", "fmulp st(1), st",
                    "faddp st(1), st",
                    "fstp tbyte ptr [{c} + 16]", "fstp tbyte ptr [{c}]",
                    a = in(reg) from.add(i * 2 * BYTES), b = in(reg) with.add(i * 2 * BYTES),
                    c = in(reg) into.add(i * 2 * BYTES),
                    out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                    out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                    options(nostack),
                );
            }
        }
    }

    pub(super) fn kernel(operation: Predefined) -> Option<Reducer> {
        Some(match operation {
            Predefined::Sum => sum,
            Predefined::Product => product,
            Predefined::Max => max,
            Predefined::Min => min,
            Predefined::LogicalAnd => logical_and,
            Predefined::LogicalOr => logical_or,
            Predefined::LogicalXor => logical_xor,
            _ => return None,
        })
    }

    pub(super) fn complex_kernel(operation: Predefined) -> Option<Reducer> {
        Some(match operation {
            Predefined::Sum => complex_sum,
            Predefined::Product => complex_product,
            _ => return None,
        })
    }

    pub(super) fn located_kernel(operation: Predefined) -> Option<Reducer> {
        Some(match operation {
            Predefined::MaxLocation => max_location,
            Predefined::MinLocation => min_location,
            _ => return None,
        })
    }
}
