//! The predefined datatypes of the ABI: what an element is, how large it is, and what it is in `external32`
//! (MPI 5.0, sections 3.2.2, 6.9.2, 6.9.4 and 14.5.2).

use crate::abi;
use crate::abi::values::*;

/// How one element is represented in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Scalar {
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    /// `long double` of x86-64: 80 bits in 16 bytes.
    F80,
    /// IEEE binary128 (`REAL*16`).
    F128,
    /// Two `F16`: real and imaginary part; and so on.
    ComplexF16,
    ComplexF32,
    ComplexF64,
    ComplexF80,
    ComplexF128,
}

impl Scalar {
    /// Bytes in memory.
    pub(crate) const fn size(self) -> usize {
        use Scalar::*;
        match self {
            I8 | U8 => 1,
            I16 | U16 | F16 => 2,
            I32 | U32 | F32 | ComplexF16 => 4,
            I64 | U64 | F64 | ComplexF32 => 8,
            I128 | F80 | F128 | ComplexF64 => 16,
            ComplexF80 | ComplexF128 => 32,
        }
    }

    /// The real and imaginary part of a complex number; itself otherwise.
    pub(crate) const fn component(self) -> Self {
        use Scalar::*;
        match self {
            ComplexF16 => F16,
            ComplexF32 => F32,
            ComplexF64 => F64,
            ComplexF80 => F80,
            ComplexF128 => F128,
            other => other,
        }
    }

    /// The alignment that the compiler gives it, in bytes.
    pub(crate) const fn alignment(self) -> usize {
        self.component().size()
    }
}

/// The groups of predefined datatypes by which reduction operations are defined (MPI 5.0, section 6.9.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// C integer and Fortran integer.
    Integer,
    /// `MPI_AINT`, `MPI_COUNT`, `MPI_OFFSET`.
    Multilanguage,
    /// Floating point.
    Real,
    /// Logical: zero is false.
    Logical,
    /// Complex.
    Complex,
    /// `MPI_BYTE`.
    Byte,
    /// Characters and `MPI_PACKED`: no operation is defined.
    Opaque,
}

/// A predefined datatype of one element: everything but the pairs for `MPI_MINLOC` and `MPI_MAXLOC`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct Basic(u8);

struct PredefinedRow {
    handle: usize,
    name: &'static str,
    scalar: Scalar,
    class: Class,
    external: u8,
}

macro_rules! rows {
    ($($class:ident { $($name:ident $scalar:ident $external:literal)* })*) => {
        const ROWS: &[PredefinedRow] = &[$($(PredefinedRow {
            handle: $name, name: stringify!($name), scalar: Scalar::$scalar, class: Class::$class, external: $external,
        },)*)*];
    };
}

// Name (of synonyms, the one that the standard explains), representation, bytes in external32.
rows! {
    Multilanguage {
        MPI_AINT I64 8
        MPI_COUNT I64 8
        MPI_OFFSET I64 8
    }
    Integer {
        MPI_SHORT I16 2
        MPI_INT I32 4
        MPI_LONG I64 4
        MPI_LONG_LONG_INT I64 8
        MPI_UNSIGNED_SHORT U16 2
        MPI_UNSIGNED U32 4
        MPI_UNSIGNED_LONG U64 4
        MPI_UNSIGNED_LONG_LONG U64 8
        MPI_SIGNED_CHAR I8 1
        MPI_UNSIGNED_CHAR U8 1
        MPI_INT8_T I8 1
        MPI_INT16_T I16 2
        MPI_INT32_T I32 4
        MPI_INT64_T I64 8
        MPI_UINT8_T U8 1
        MPI_UINT16_T U16 2
        MPI_UINT32_T U32 4
        MPI_UINT64_T U64 8
        MPI_INTEGER I32 4
        MPI_INTEGER1 I8 1
        MPI_INTEGER2 I16 2
        MPI_INTEGER4 I32 4
        MPI_INTEGER8 I64 8
        MPI_INTEGER16 I128 16
    }
    Real {
        MPI_FLOAT F32 4
        MPI_DOUBLE F64 8
        MPI_LONG_DOUBLE F80 16
        MPI_REAL F32 4
        MPI_DOUBLE_PRECISION F64 8
        MPI_REAL2 F16 2
        MPI_REAL4 F32 4
        MPI_REAL8 F64 8
        MPI_REAL16 F128 16
    }
    Complex {
        MPI_C_COMPLEX ComplexF32 8
        MPI_C_DOUBLE_COMPLEX ComplexF64 16
        MPI_C_LONG_DOUBLE_COMPLEX ComplexF80 32
        MPI_CXX_FLOAT_COMPLEX ComplexF32 8
        MPI_CXX_DOUBLE_COMPLEX ComplexF64 16
        MPI_CXX_LONG_DOUBLE_COMPLEX ComplexF80 32
        MPI_COMPLEX ComplexF32 8
        MPI_DOUBLE_COMPLEX ComplexF64 16
        MPI_COMPLEX4 ComplexF16 4
        MPI_COMPLEX8 ComplexF32 8
        MPI_COMPLEX16 ComplexF64 16
        MPI_COMPLEX32 ComplexF128 32
    }
    Logical {
        MPI_C_BOOL U8 1
        MPI_CXX_BOOL U8 1
        MPI_LOGICAL I32 4
        MPI_LOGICAL1 I8 1
        MPI_LOGICAL2 I16 2
        MPI_LOGICAL4 I32 4
        MPI_LOGICAL8 I64 8
        MPI_LOGICAL16 I128 16
    }
    Byte {
        MPI_BYTE U8 1
    }
    Opaque {
        MPI_PACKED U8 1
        MPI_CHAR U8 1
        MPI_CHARACTER U8 1
        MPI_WCHAR I32 2
    }
}

/// A value and an index, for `MPI_MINLOC` and `MPI_MAXLOC`: handle, name, value, index.
pub(super) const PAIRS: &[(usize, &str, usize, usize)] = &[
    (MPI_FLOAT_INT, "MPI_FLOAT_INT", MPI_FLOAT, MPI_INT),
    (MPI_DOUBLE_INT, "MPI_DOUBLE_INT", MPI_DOUBLE, MPI_INT),
    (MPI_LONG_INT, "MPI_LONG_INT", MPI_LONG, MPI_INT),
    (MPI_2INT, "MPI_2INT", MPI_INT, MPI_INT),
    (MPI_SHORT_INT, "MPI_SHORT_INT", MPI_SHORT, MPI_INT),
    (MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE, MPI_INT),
    (MPI_2REAL, "MPI_2REAL", MPI_REAL, MPI_REAL),
    (MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION),
    (MPI_2INTEGER, "MPI_2INTEGER", MPI_INTEGER, MPI_INTEGER),
];

/// The ABI gives predefined datatypes the values from here on.
const FIRST: usize = 0x200;
/// Values that the ABI reserves for them.
pub(super) const VALUES: usize = 0x100;
/// Bytes of each value's datatype, when it has one and is contiguous; 0 otherwise.
static SIZE: [u8; VALUES] = {
    let mut table = [0; VALUES];
    let mut row = 0;
    while row < ROWS.len() {
        table[ROWS[row].handle - FIRST] = ROWS[row].scalar.size() as u8;
        row += 1;
    }
    let mut pair = 0;
    while pair < PAIRS.len() {
        let value = table[PAIRS[pair].2 - FIRST];
        let index = table[PAIRS[pair].3 - FIRST];
        if value == index {
            table[PAIRS[pair].0 - FIRST] = value + index;
        }
        pair += 1;
    }
    table
};

/// Where a handle lies in tables of predefined datatypes; nothing: it isn't one.
#[inline]
pub(super) fn place(handle: abi::Datatype) -> Option<usize> {
    let place = handle.0.wrapping_sub(FIRST);
    (place < VALUES).then_some(place)
}

/// Bytes of one element of a predefined datatype without gaps; nothing for all other handles (derived, null, pairs with
/// a gap). For the way of small messages: one load, no `Datatype`.
#[inline]
pub(crate) fn predefined_size(handle: abi::Datatype) -> Option<usize> {
    let size = SIZE[place(handle)?];
    (size != 0).then_some(size as usize)
}

/// The pair of a value and an index; `MPI_DATATYPE_NULL` when there is none.
pub(crate) fn pair_of(value: abi::Datatype, index: abi::Datatype) -> abi::Datatype {
    let found = PAIRS.iter().find(|&&(.., first, second)| (first, second) == (value.0, index.0));
    abi::Datatype(found.map_or(MPI_DATATYPE_NULL, |pair| pair.0))
}

impl Basic {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..ROWS.len()).map(|row| Self(row as u8))
    }

    const fn row(self) -> &'static PredefinedRow {
        &ROWS[self.0 as usize]
    }

    /// Its handle.
    pub(crate) const fn handle(self) -> abi::Datatype {
        abi::Datatype(self.row().handle)
    }

    /// Its name in C.
    pub(crate) const fn name(self) -> &'static str {
        self.row().name
    }

    /// How it is represented in memory.
    pub(crate) const fn scalar(self) -> Scalar {
        self.row().scalar
    }

    /// Which operations are defined.
    pub(crate) const fn class(self) -> Class {
        self.row().class
    }

    /// Bytes in memory.
    pub(crate) const fn size(self) -> usize {
        self.scalar().size()
    }

    /// Bytes in `external32` (MPI 5.0, section 14.5.2).
    pub(crate) const fn external_size(self) -> usize {
        self.row().external as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handles_that_encode_a_size_agree_with_the_table() {
        // MPI 5.0, annex A.1.1: of values 0x240 to 0x25f and 0x2c0 to 0x2ff, bits 3 to 5 are the size's logarithm.
        for basic in Basic::all() {
            let value = basic.handle().0;
            if (0x240..0x260).contains(&value) || value >= 0x2c0 {
                assert_eq!(basic.size(), 1 << ((value >> 3) & 7), "{}", basic.name());
            }
        }
    }

    #[test]
    fn the_size_of_a_handle_is_known_unless_it_has_a_gap_or_is_none() {
        let of = |value| predefined_size(abi::Datatype(value));
        assert_eq!(of(MPI_INT), Some(4));
        assert_eq!(of(MPI_C_LONG_DOUBLE_COMPLEX), Some(32));
        assert_eq!(of(MPI_2INT), Some(8));
        assert_eq!(of(MPI_FLOAT_INT), Some(8));
        for none in [MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_DATATYPE_NULL, MPI_COMM_WORLD, 0, usize::MAX, 0x300] {
            assert_eq!(of(none), None, "{none:#x}");
        }
    }
}
