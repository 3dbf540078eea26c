//! Pack and unpack (MPI 5.0, section 5.2), addresses (5.1.5). Packed data is the data itself, without a header.

use super::{Integer, count};
use crate::abi::values::{MPI_ERR_ARG, MPI_ERR_TRUNCATE};
use crate::abi::{self, prototypes};
use crate::call::{InOut, Out};
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::comm::valid;
use crate::datatype::Datatype;
use crate::runtime::State;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use transport::Shape;

/// Up to this many bytes are copied while holding the state: releasing it first takes longer.
const INSIDE: usize = 4096;

/// The data to pack or unpack: `count` elements of a datatype.
struct PackedData<N> {
    count: N,
    /// What the function calls `count`.
    name: &'static str,
    datatype: abi::Datatype,
    comm: abi::Comm,
}

impl<N: Integer> PackedData<N> {
    /// The datatype, the count, and the bytes that they are.
    #[inline(always)]
    fn valid(self, state: &State) -> Result<(&Arc<Datatype>, usize, usize), Failure> {
        valid::comm(state, self.comm)?;
        let count = count(self.count, self.name)? as usize;
        let datatype = state.committed_datatype(self.datatype)?;
        Ok((datatype, count, total(datatype.size, count)?))
    }
}

/// `count` times `size` bytes.
#[inline]
pub(super) fn total(size: usize, count: usize) -> Result<usize, Failure> {
    match size.checked_mul(count) {
        Some(bytes) if bytes <= isize::MAX as usize => Ok(bytes),
        _ => Err(too_many(size, count)),
    }
}

#[cold]
fn too_many(size: usize, count: usize) -> Failure {
    Failure::new(MPI_ERR_ARG, format_args!("{count} elements of {size} bytes do not fit in 64 bits"))
}

/// A buffer of packed data from `position` on, of which `bytes` are used: where that is, and the position after.
#[inline(always)]
pub(super) fn window<N: Integer>(
    buffer: *const c_void,
    (size, size_name): (N, &str),
    position: InOut<'_, N>,
    bytes: usize,
) -> Result<(*mut u8, N), Failure> {
    let at = position.read()?.wide();
    let size = size.wide();
    if at < 0 || at > size || bytes > (size - at) as usize {
        return Err(no_window(size_name, size, at, bytes));
    }
    let after = N::narrow(at as usize + bytes).ok_or_else(position_too_large)?;
    Ok((buffer.cast_mut().cast::<u8>().wrapping_offset(at as isize), after))
}

#[cold]
fn no_window(size_name: &str, size: i64, at: i64, bytes: usize) -> Failure {
    if at < 0 || at > size {
        let text = format_args!("position is {at}; allowed are 0 to {size_name}, which is {size}");
        return Failure::new(MPI_ERR_ARG, text);
    }
    let left = size - at;
    let text = format_args!(
        "{bytes} bytes are needed; of {size_name} = {size}, {left} are left from position {at} on"
    );
    Failure::new(MPI_ERR_TRUNCATE, text)
}

#[cold]
fn position_too_large() -> Failure {
    Failure::new(MPI_ERR_ARG, "the position after does not fit in its type")
}

/// # Safety
/// As `MPI_Pack`'s.
#[inline]
unsafe fn pack<N: Integer>(
    from: *const c_void,
    data: PackedData<N>,
    (into, size, position): (*mut c_void, N, InOut<'_, N>),
) -> Result<(), Failure> {
    let state = check::running()?;
    let (datatype, count, bytes) = data.valid(&state)?;
    let (place, after) = window(into, (size, "outsize"), position, bytes)?;
    if bytes > 0 {
        // SAFETY: the caller promises `outsize` bytes, of which the window is a part.
        let into = unsafe { std::slice::from_raw_parts_mut(place, bytes) };
        let kept = (bytes > INSIDE).then(|| datatype.clone());
        match kept {
            // SAFETY: the caller promises the data at `from`.
            None => unsafe { datatype.pack(from.cast(), count, 0, into) },
            Some(datatype) => {
                drop(state);
                // SAFETY: as above.
                unsafe { datatype.pack(from.cast(), count, 0, into) }
            }
        };
    }
    position.write(after)
}

/// # Safety
/// As `MPI_Unpack`'s.
#[inline]
unsafe fn unpack<N: Integer>(
    (from, size, position): (*const c_void, N, InOut<'_, N>),
    into: *mut c_void,
    data: PackedData<N>,
) -> Result<(), Failure> {
    let state = check::running()?;
    let (datatype, count, bytes) = data.valid(&state)?;
    let (place, after) = window(from, (size, "insize"), position, bytes)?;
    if bytes > 0 {
        // SAFETY: the caller promises `insize` bytes, of which the window is a part.
        let from = unsafe { std::slice::from_raw_parts(place, bytes) };
        let kept = (bytes > INSIDE).then(|| datatype.clone());
        match kept {
            // SAFETY: the caller promises room for the data at `into`.
            None => unsafe { datatype.unpack(into.cast(), count, 0, from) },
            Some(datatype) => {
                drop(state);
                // SAFETY: as above.
                unsafe { datatype.unpack(into.cast(), count, 0, from) }
            }
        };
    }
    position.write(after)
}

/// A datatype's size may be asked for before it is committed.
fn pack_size<N: Integer>(
    n: N,
    datatype: abi::Datatype,
    comm: abi::Comm,
    size: Out<'_, N>,
) -> Result<(), Failure> {
    let state = check::running()?;
    valid::comm(&state, comm)?;
    let bytes = total(state.valid_datatype(datatype)?.size, count(n, "incount")? as usize)?;
    size.write(N::or_undefined(bytes))
}

mpi! {
    /// Section 5.2.
    fn PMPI_Pack(
        inbuf: *const c_void, incount: c_int, datatype: abi::Datatype, outbuf: *mut c_void, outsize: c_int,
        position: InOut<c_int>, comm: abi::Comm,
    ) on comm {
        let data = PackedData { count: incount, name: "incount", datatype, comm };
        // SAFETY: the C caller promises valid buffers.
        unsafe { pack(inbuf, data, (outbuf, outsize, position)) }
    }

    /// Section 5.2.
    fn PMPI_Pack_c(
        inbuf: *const c_void, incount: abi::Count, datatype: abi::Datatype, outbuf: *mut c_void, outsize: abi::Count,
        position: InOut<abi::Count>, comm: abi::Comm,
    ) on comm {
        let data = PackedData { count: incount, name: "incount", datatype, comm };
        // SAFETY: the C caller promises valid buffers.
        unsafe { pack(inbuf, data, (outbuf, outsize, position)) }
    }

    /// Section 5.2.
    fn PMPI_Unpack(
        inbuf: *const c_void, insize: c_int, position: InOut<c_int>, outbuf: *mut c_void, outcount: c_int,
        datatype: abi::Datatype, comm: abi::Comm,
    ) on comm {
        let data = PackedData { count: outcount, name: "outcount", datatype, comm };
        // SAFETY: the C caller promises valid buffers.
        unsafe { unpack((inbuf, insize, position), outbuf, data) }
    }

    /// Section 5.2.
    fn PMPI_Unpack_c(
        inbuf: *const c_void, insize: abi::Count, position: InOut<abi::Count>, outbuf: *mut c_void,
        outcount: abi::Count, datatype: abi::Datatype, comm: abi::Comm,
    ) on comm {
        let data = PackedData { count: outcount, name: "outcount", datatype, comm };
        // SAFETY: the C caller promises valid buffers.
        unsafe { unpack((inbuf, insize, position), outbuf, data) }
    }

    /// Section 5.2.
    fn PMPI_Pack_size(incount: c_int, datatype: abi::Datatype, comm: abi::Comm, size: Out<c_int>) on comm {
        pack_size(incount, datatype, comm, size)
    }

    /// Section 5.2.
    fn PMPI_Pack_size_c(incount: abi::Count, datatype: abi::Datatype, comm: abi::Comm, size: Out<abi::Count>) on comm {
        pack_size(incount, datatype, comm, size)
    }

    /// Section 5.1.5.
    fn PMPI_Get_address(location: *const c_void, address: Out<abi::Aint>) {
        address.write(location.addr() as abi::Aint)
    }

    /// `MPI_Get_address` by its name of MPI 1.
    fn PMPI_Address(location: *mut c_void, address: Out<abi::Aint>) {
        address.write(location.addr() as abi::Aint)
    }
}

/// Section 5.1.5.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub(super) extern "C" fn PMPI_Aint_add(base: abi::Aint, disp: abi::Aint) -> abi::Aint {
    base.wrapping_add(disp)
}
const _: prototypes::PMPI_Aint_add = PMPI_Aint_add;

/// Section 5.1.5.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub(super) extern "C" fn PMPI_Aint_diff(addr1: abi::Aint, addr2: abi::Aint) -> abi::Aint {
    addr1.wrapping_sub(addr2)
}
const _: prototypes::PMPI_Aint_diff = PMPI_Aint_diff;
