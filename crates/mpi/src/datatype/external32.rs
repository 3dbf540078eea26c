//! The representation `external32`: big-endian, IEEE, of sizes of its own (MPI 5.0, sections 5.2 and 14.5.2).
//!
//! Data is packed as it is in memory, in pieces that fit in the first cache, and each piece is converted by the
//! signature.

use super::basic::{Basic, Scalar};
use super::{Datatype, Signature};
use crate::abi::values::MPI_ERR_CONVERSION;
use crate::check::Failure;
use transport::Shape;

/// Bytes of a piece; every element is shorter.
const PIECE: usize = 4096;

impl Datatype {
    /// Converts data of `count` elements at `base` into `into`, which holds exactly that.
    ///
    /// # Errors
    /// `MPI_ERR_CONVERSION`: an integer that its external size doesn't hold.
    ///
    /// # Safety
    /// `base` must point to `count` elements of this datatype, all readable.
    pub(crate) unsafe fn pack_external(
        &self,
        base: *const u8,
        count: usize,
        into: &mut [u8],
    ) -> Result<(), Failure> {
        let mut piece = [0; PIECE];
        let (mut from, mut rest) = (0, into);
        pieces(&self.signature().repeated(count), &mut |basic, elements| {
            let data = &mut piece[..elements * basic.size()];
            // SAFETY: as the caller promises.
            from += unsafe { self.pack(base, count, from, data) };
            let (external, behind) = std::mem::take(&mut rest).split_at_mut(elements * basic.external_size());
            rest = behind;
            to_external(basic, data, external)
        })
    }

    /// The other way.
    ///
    /// # Safety
    /// `base` must point to `count` elements of this datatype, all writable.
    pub(crate) unsafe fn unpack_external(&self, base: *mut u8, count: usize, data: &[u8]) {
        let mut piece = [0; PIECE];
        let (mut from, mut rest) = (0, data);
        let converted: Result<(), std::convert::Infallible> =
            pieces(&self.signature().repeated(count), &mut |basic, elements| {
                let (external, behind) = rest.split_at(elements * basic.external_size());
                rest = behind;
                let data = &mut piece[..elements * basic.size()];
                from_external(basic, external, data);
                // SAFETY: as the caller promises.
                from += unsafe { self.unpack(base, count, from, data) };
                Ok(())
            });
        let Ok(()) = converted;
    }
}

/// Calls `each` with runs of elements of one kind that fit in a piece, up to the first error.
fn pieces<E>(signature: &Signature, each: &mut impl FnMut(Basic, usize) -> Result<(), E>) -> Result<(), E> {
    let mut result = Ok(());
    signature.runs(&mut |basic, count| {
        let most = PIECE / basic.size();
        let mut left = count;
        while left > 0 && result.is_ok() {
            let elements = left.min(most);
            result = each(basic, elements);
            left -= elements;
        }
        result.is_ok()
    });
    result
}

/// An array of so many bytes.
fn bytes<const N: usize>(data: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(data);
    array
}

fn to_external(basic: Basic, data: &[u8], external: &mut [u8]) -> Result<(), Failure> {
    let part = basic.scalar().component().size();
    let width = basic.external_size() * part / basic.size();
    for (value, place) in data.chunks_exact(part).zip(external.chunks_exact_mut(width)) {
        if basic.scalar().component() == Scalar::F80 {
            place.copy_from_slice(&binary128(u128::from_le_bytes(bytes(value))).to_be_bytes());
            continue;
        }
        if value[width..].iter().any(|&byte| byte != filler(basic, value[width - 1])) {
            return Err(does_not_fit(basic, value, width));
        }
        copy_reversed(&value[..width], place);
    }
    Ok(())
}

fn from_external(basic: Basic, external: &[u8], data: &mut [u8]) {
    let part = basic.scalar().component().size();
    let width = basic.external_size() * part / basic.size();
    for (value, place) in external.chunks_exact(width).zip(data.chunks_exact_mut(part)) {
        if basic.scalar().component() == Scalar::F80 {
            place.copy_from_slice(&extended(u128::from_be_bytes(bytes(value))).to_le_bytes());
            continue;
        }
        let (low, high) = place.split_at_mut(width);
        copy_reversed(value, low);
        high.fill(filler(basic, low[width - 1]));
    }
}

#[inline]
fn copy_reversed(from: &[u8], into: &mut [u8]) {
    match from.len() {
        2 => into.copy_from_slice(&u16::from_ne_bytes(bytes(from)).swap_bytes().to_ne_bytes()),
        4 => into.copy_from_slice(&u32::from_ne_bytes(bytes(from)).swap_bytes().to_ne_bytes()),
        8 => into.copy_from_slice(&u64::from_ne_bytes(bytes(from)).swap_bytes().to_ne_bytes()),
        _ => {
            into.copy_from_slice(from);
            into.reverse();
        }
    }
}

/// What the bytes of an integer are above the highest byte that its external size has: its sign.
fn filler(basic: Basic, highest: u8) -> u8 {
    let signed =
        matches!(basic.scalar(), Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 | Scalar::I128);
    // Wide characters of two bytes are numbers without a sign.
    let signed = signed && basic.class() != super::Class::Opaque;
    if signed && highest >= 0x80 { 0xff } else { 0 }
}

#[cold]
fn does_not_fit(basic: Basic, value: &[u8], width: usize) -> Failure {
    let mut wide = [0; 16];
    wide[..value.len()].copy_from_slice(value);
    let hexadecimal = u128::from_le_bytes(wide);
    Failure::new(
        MPI_ERR_CONVERSION,
        format_args!(
            "the {} {hexadecimal:#x} does not fit in the {width} bytes that it has in external32",
            basic.name()
        ),
    )
}

/// Fraction bits of binary128.
const FRACTION: u32 = 112;
/// Fraction bits of binary128 below those of an 80-bit number.
const BELOW: u32 = FRACTION - 63;
/// Sign and exponent of both formats, which are the same.
const HEAD: u128 = 0xffff;

/// An 80-bit number (the upper six bytes are padding) as binary128: exact.
fn binary128(value: u128) -> u128 {
    let significand = value as u64;
    let mut head = value >> 64 & HEAD;
    // A number with its first bit set is normal, whatever its exponent says.
    if head & 0x7fff == 0 && significand >> 63 == 1 {
        head |= 1;
    }
    head << FRACTION | u128::from(significand << 1 >> 1) << BELOW
}

/// A binary128 as the nearest 80-bit number, ties to even.
fn extended(value: u128) -> u128 {
    let head = value >> FRACTION;
    let exponent = head & 0x7fff;
    let fraction = value & ((1 << FRACTION) - 1);
    let first = if exponent == 0 { 0 } else { 1u128 << 63 };
    let kept = head << 64 | first | fraction >> BELOW;
    if exponent == 0x7fff {
        // A NaN stays one when its lower bits are lost.
        let quiet = if fraction == 0 { 0 } else { 1 << 62 };
        return kept | quiet;
    }
    let (half, lost) = (1u128 << (BELOW - 1), fraction & ((1 << BELOW) - 1));
    if lost < half || lost == half && kept & 1 == 0 {
        return kept;
    }
    let significand = (kept as u64).wrapping_add(1);
    let carried = significand == 0 || exponent == 0 && significand == 1 << 63;
    let head = head + u128::from(carried);
    let significand = if significand == 0 { 1 << 63 } else { significand };
    head << 64 | u128::from(significand)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::values::*;

    fn basic(handle: usize) -> Basic {
        Basic::all()
            .find(|basic| basic.handle().0 == handle)
            .unwrap_or_else(|| panic!("{handle:#x} is a basic datatype"))
    }

    fn external(handle: usize, data: &[u8]) -> Vec<u8> {
        let basic = basic(handle);
        let mut external = vec![0; data.len() / basic.size() * basic.external_size()];
        to_external(basic, data, &mut external).unwrap_or_else(|failure| panic!("{}", failure.text()));
        external
    }

    #[test]
    fn numbers_have_the_bytes_of_the_standard() {
        assert_eq!(external(MPI_INT, &0x0102_0304i32.to_le_bytes()), [1, 2, 3, 4]);
        assert_eq!(external(MPI_DOUBLE, &(-2.5f64).to_le_bytes()), (-2.5f64).to_be_bytes());
        assert_eq!(external(MPI_LONG, &(-2i64).to_le_bytes()), [0xff, 0xff, 0xff, 0xfe]);
        assert_eq!(external(MPI_UNSIGNED_LONG, &0xfffffffeu64.to_le_bytes()), [0xff, 0xff, 0xff, 0xfe]);
        assert_eq!(external(MPI_WCHAR, &0xe9i32.to_le_bytes()), [0, 0xe9]);
        let complex = [1.5f32.to_le_bytes(), (-3f32).to_le_bytes()].concat();
        assert_eq!(
            external(MPI_C_FLOAT_COMPLEX, &complex),
            [1.5f32.to_be_bytes(), (-3f32).to_be_bytes()].concat()
        );
        // 1 is exponent 16383 in both, with and without its first bit.
        let mut one = [0; 16];
        one[..10].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f]);
        let mut expected = [0; 16];
        expected[..2].copy_from_slice(&[0x3f, 0xff]);
        assert_eq!(external(MPI_LONG_DOUBLE, &one), expected);
    }

    #[test]
    fn an_integer_too_large_is_an_error_that_tells_it() {
        let result = to_external(basic(MPI_LONG), &(1i64 << 31).to_le_bytes(), &mut [0; 4]);
        let text = result.err().map(|failure| failure.text().to_owned()).unwrap_or_default();
        assert!(text.contains("MPI_LONG 0x80000000 does not fit in the 4 bytes"), "{text}");
        assert!(to_external(basic(MPI_WCHAR), &0x1f600i32.to_le_bytes(), &mut [0; 2]).is_err());
    }

    #[test]
    fn every_kind_of_element_comes_back() {
        let mut seed = 1u64;
        for basic in Basic::all() {
            for _ in 0..200 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let mut data: Vec<u8> = (0..basic.size()).map(|i| (seed >> (8 * (i % 8))) as u8).collect();
                if basic.external_size() < basic.size() {
                    let highest = data[basic.external_size() - 1];
                    data[basic.external_size()..].fill(filler(basic, highest));
                }
                if basic.scalar().component() == Scalar::F80 {
                    for number in data.chunks_exact_mut(16) {
                        number[7] |= 0x80;
                        number[9] &= 0xbf;
                        number[8] |= 1;
                        number[10..].fill(0);
                    }
                }
                let mut external = vec![0; basic.external_size()];
                to_external(basic, &data, &mut external)
                    .unwrap_or_else(|failure| panic!("{}", failure.text()));
                let mut back = vec![0; basic.size()];
                from_external(basic, &external, &mut back);
                assert_eq!(back, data, "{}", basic.name());
            }
        }
    }

    #[test]
    fn the_nearest_extended_number_is_taken() {
        let one: u128 = 0x3fff << FRACTION;
        let half = 1 << (BELOW - 1);
        let one_extended = 0x3fff << 64 | 1 << 63;
        assert_eq!(extended(one | half), one_extended, "a tie goes to the even one");
        assert_eq!(extended(one | (half + 1)), one_extended | 1);
        assert_eq!(extended(one | (3 * half)), one_extended | 2);
        assert_eq!(extended(one | ((1 << FRACTION) - 1)), 0x4000 << 64 | 1 << 63, "the carry doubles it");
        assert_eq!(extended((1 << FRACTION) - 1), 1 << 64 | 1 << 63, "the largest subnormal becomes normal");
        let infinity: u128 = 0x7fff << FRACTION;
        assert_eq!(extended(infinity), 0x7fff << 64 | 1 << 63);
        assert_eq!(extended(infinity | 1) & 1 << 62, 1 << 62, "what is not a number stays so");
        assert_eq!(binary128(1 << 63), 1 << FRACTION, "a pseudo-denormal is the least normal number");
    }
}
