//! Constructors (MPI 5.0, section 5.1.2), commit, dup and free (5.1.9, 5.1.10).

use super::{Integer, count, counts, integers, publish};
use crate::abi;
use crate::abi::values::{MPI_DATATYPE_NULL, MPI_ERR_TYPE};
use crate::call::{Declared, In, InOut, Out};
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::datatype::DATATYPES;
use crate::datatype::contents::Contents;
use crate::datatype::{Datatype, construct};
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Makes a datatype of one other.
pub(super) fn derive(
    old: abi::Datatype,
    new: Out<'_, abi::Datatype>,
    make: impl FnOnce(&Arc<Datatype>) -> Result<Datatype, Failure>,
) -> Result<(), Failure> {
    let mut state = check::running()?;
    new.present()?;
    let made = make(state.valid_datatype(old)?)?;
    new.write(publish(&mut state, made))
}

fn contiguous<N: Integer>(
    large: bool,
    n: N,
    old: abi::Datatype,
    new: Out<'_, abi::Datatype>,
) -> Result<(), Failure> {
    let n = count(n, "count")?;
    derive(old, new, |old| construct::contiguous(large, n, old))
}

fn vector<N: Integer>(
    large: bool,
    (n, length, stride): (N, N, N),
    old: abi::Datatype,
    new: Out<'_, abi::Datatype>,
) -> Result<(), Failure> {
    let (n, length) = (count(n, "count")?, count(length, "blocklength")?);
    derive(old, new, |old| construct::vector(large, n, length, stride.wide(), old))
}

fn hvector<N: Integer, A: Integer>(
    large: bool,
    (n, length, stride): (N, N, A),
    old: abi::Datatype,
    new: Out<'_, abi::Datatype>,
) -> Result<(), Failure> {
    let (n, length) = (count(n, "count")?, count(length, "blocklength")?);
    derive(old, new, |old| construct::hvector(large, n, length, stride.wide(), old))
}

type Blocks = fn(bool, &[i64], &[i64], &Arc<Datatype>) -> Result<Datatype, Failure>;

fn blocks<N: Integer, A: Integer>(
    (large, make): (bool, Blocks),
    (n, lengths, at): (N, In<'_, [N]>, In<'_, [A]>),
    old: abi::Datatype,
    new: Out<'_, abi::Datatype>,
) -> Result<(), Failure> {
    count(n, "count")?;
    let (lengths, at) = (counts(lengths)?, integers(at)?);
    derive(old, new, |old| make(large, &lengths, &at, old))
}

type EqualBlocks = fn(bool, i64, &[i64], &Arc<Datatype>) -> Result<Datatype, Failure>;

fn equal_blocks<N: Integer, A: Integer>(
    (large, make): (bool, EqualBlocks),
    (n, length, at): (N, N, In<'_, [A]>),
    old: abi::Datatype,
    new: Out<'_, abi::Datatype>,
) -> Result<(), Failure> {
    count(n, "count")?;
    let length = count(length, "blocklength")?;
    let at = integers(at)?;
    derive(old, new, |old| make(large, length, &at, old))
}

/// The arguments of a structure that there is one of for each block, and how many there are.
type StructureBlocks<'call, N, A> = (N, In<'call, [N]>, In<'call, [A]>, In<'call, [abi::Datatype]>);

fn structure<N: Integer, A: Integer>(
    large: bool,
    (n, lengths, at, old): StructureBlocks<'_, N, A>,
    new: Out<'_, abi::Datatype>,
) -> Result<(), Failure> {
    count(n, "count")?;
    let (lengths, at, old) = (counts(lengths)?, integers(at)?, old.to_vec()?);
    let mut state = check::running()?;
    new.present()?;
    let old = old.iter().map(|&old| state.valid_datatype(old).cloned()).collect::<Result<Vec<_>, _>>()?;
    let made = construct::structure(large, &lengths, &at, &old)?;
    new.write(publish(&mut state, made))
}

mpi! {
    /// Section 5.1.2.
    fn PMPI_Type_contiguous(count: c_int, oldtype: abi::Datatype, newtype: Out<abi::Datatype>) {
        contiguous(false, count, oldtype, newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_contiguous_c(count: abi::Count, oldtype: abi::Datatype, newtype: Out<abi::Datatype>) {
        contiguous(true, count, oldtype, newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_vector(
        count: c_int, blocklength: c_int, stride: c_int, oldtype: abi::Datatype, newtype: Out<abi::Datatype>,
    ) {
        vector(false, (count, blocklength, stride), oldtype, newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_vector_c(
        count: abi::Count, blocklength: abi::Count, stride: abi::Count, oldtype: abi::Datatype,
        newtype: Out<abi::Datatype>,
    ) {
        vector(true, (count, blocklength, stride), oldtype, newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_create_hvector(
        count: c_int, blocklength: c_int, stride: abi::Aint, oldtype: abi::Datatype, newtype: Out<abi::Datatype>,
    ) {
        hvector(false, (count, blocklength, stride), oldtype, newtype)
    }

    /// `MPI_Type_create_hvector` by its name of MPI 1.
    fn PMPI_Type_hvector(
        count: c_int, blocklength: c_int, stride: abi::Aint, oldtype: abi::Datatype, newtype: Out<abi::Datatype>,
    ) {
        hvector(false, (count, blocklength, stride), oldtype, newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_create_hvector_c(
        count: abi::Count, blocklength: abi::Count, stride: abi::Count, oldtype: abi::Datatype,
        newtype: Out<abi::Datatype>,
    ) {
        hvector(true, (count, blocklength, stride), oldtype, newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_indexed(
        count: c_int, array_of_blocklengths[count]: In<c_int>, array_of_displacements[count]: In<c_int>,
        oldtype: abi::Datatype, newtype: Out<abi::Datatype>,
    ) {
        blocks((false, construct::indexed), (count, array_of_blocklengths, array_of_displacements), oldtype, newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_indexed_c(
        count: abi::Count, array_of_blocklengths[count]: In<abi::Count>, array_of_displacements[count]: In<abi::Count>,
        oldtype: abi::Datatype, newtype: Out<abi::Datatype>,
    ) {
        blocks((true, construct::indexed), (count, array_of_blocklengths, array_of_displacements), oldtype, newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_create_hindexed(
        count: c_int, array_of_blocklengths[count]: In<c_int>, array_of_displacements[count]: In<abi::Aint>,
        oldtype: abi::Datatype, newtype: Out<abi::Datatype>,
    ) {
        blocks((false, construct::hindexed), (count, array_of_blocklengths, array_of_displacements), oldtype, newtype)
    }

    /// `MPI_Type_create_hindexed` by its name of MPI 1.
    fn PMPI_Type_hindexed(
        count: c_int, array_of_blocklengths[count]: Declared<*mut c_int, In<c_int>>,
        array_of_displacements[count]: Declared<*mut abi::Aint, In<abi::Aint>>, oldtype: abi::Datatype,
        newtype: Out<abi::Datatype>,
    ) {
        blocks((false, construct::hindexed), (count, array_of_blocklengths, array_of_displacements), oldtype, newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_create_hindexed_c(
        count: abi::Count, array_of_blocklengths[count]: In<abi::Count>, array_of_displacements[count]: In<abi::Count>,
        oldtype: abi::Datatype, newtype: Out<abi::Datatype>,
    ) {
        blocks((true, construct::hindexed), (count, array_of_blocklengths, array_of_displacements), oldtype, newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_create_indexed_block(
        count: c_int, blocklength: c_int, array_of_displacements[count]: In<c_int>, oldtype: abi::Datatype,
        newtype: Out<abi::Datatype>,
    ) {
        equal_blocks((false, construct::indexed_block), (count, blocklength, array_of_displacements), oldtype, newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_create_indexed_block_c(
        count: abi::Count, blocklength: abi::Count, array_of_displacements[count]: In<abi::Count>,
        oldtype: abi::Datatype, newtype: Out<abi::Datatype>,
    ) {
        equal_blocks((true, construct::indexed_block), (count, blocklength, array_of_displacements), oldtype, newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_create_hindexed_block(
        count: c_int, blocklength: c_int, array_of_displacements[count]: In<abi::Aint>, oldtype: abi::Datatype,
        newtype: Out<abi::Datatype>,
    ) {
        equal_blocks((false, construct::hindexed_block), (count, blocklength, array_of_displacements), oldtype, newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_create_hindexed_block_c(
        count: abi::Count, blocklength: abi::Count, array_of_displacements[count]: In<abi::Count>,
        oldtype: abi::Datatype, newtype: Out<abi::Datatype>,
    ) {
        equal_blocks((true, construct::hindexed_block), (count, blocklength, array_of_displacements), oldtype, newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_create_struct(
        count: c_int, array_of_blocklengths[count]: In<c_int>, array_of_displacements[count]: In<abi::Aint>,
        array_of_types[count]: In<abi::Datatype>, newtype: Out<abi::Datatype>,
    ) {
        structure(false, (count, array_of_blocklengths, array_of_displacements, array_of_types), newtype)
    }

    /// `MPI_Type_create_struct` by its name of MPI 1.
    fn PMPI_Type_struct(
        count: c_int, array_of_blocklengths[count]: Declared<*mut c_int, In<c_int>>,
        array_of_displacements[count]: Declared<*mut abi::Aint, In<abi::Aint>>,
        array_of_types[count]: Declared<*mut abi::Datatype, In<abi::Datatype>>, newtype: Out<abi::Datatype>,
    ) {
        structure(false, (count, array_of_blocklengths, array_of_displacements, array_of_types), newtype)
    }

    /// Section 5.1.2.
    fn PMPI_Type_create_struct_c(
        count: abi::Count, array_of_blocklengths[count]: In<abi::Count>, array_of_displacements[count]: In<abi::Count>,
        array_of_types[count]: In<abi::Datatype>, newtype: Out<abi::Datatype>,
    ) {
        structure(true, (count, array_of_blocklengths, array_of_displacements, array_of_types), newtype)
    }

    /// Section 5.1.7.
    fn PMPI_Type_create_resized(oldtype: abi::Datatype, lb: abi::Aint, extent: abi::Aint, newtype: Out<abi::Datatype>) {
        derive(oldtype, newtype, |old| construct::resized(false, lb.wide(), extent.wide(), old))
    }

    /// Section 5.1.7.
    fn PMPI_Type_create_resized_c(
        oldtype: abi::Datatype, lb: abi::Count, extent: abi::Count, newtype: Out<abi::Datatype>,
    ) {
        derive(oldtype, newtype, |old| construct::resized(true, lb, extent, old))
    }

    /// Section 5.1.9.
    fn PMPI_Type_commit(datatype: InOut<abi::Datatype>) {
        let state = check::running()?;
        state.valid_datatype(datatype.read()?)?.committed.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Section 5.1.10.
    fn PMPI_Type_dup(oldtype: abi::Datatype, newtype: Out<abi::Datatype>) {
        let old = check::running()?.valid_datatype(oldtype)?.clone();
        newtype.present()?;
        newtype.write(abi::Datatype(MPI_DATATYPE_NULL))?;
        let new = old.again(Arc::new(Contents::duplicate(&old)));
        new.attributes.copy_from(&old.attributes, oldtype.0)?;
        newtype.write(publish(&mut *check::running()?, new))
    }

    /// Section 5.1.9. The datatype lives on in operations and datatypes that use it.
    fn PMPI_Type_free(datatype: InOut<abi::Datatype>) {
        let handle = datatype.read()?;
        let found = check::running()?.valid_datatype(handle)?.clone();
        if found.is_predefined() {
            let name = String::from_utf8_lossy(&found.name()).into_owned();
            return Err(Failure::new(MPI_ERR_TYPE, format_args!("datatype {name} is predefined and can't be freed")));
        }
        found.attributes.clear(handle.0)?;
        DATATYPES.of_mut(&mut *check::running()?).remove(handle.0);
        datatype.write(abi::Datatype(MPI_DATATYPE_NULL))
    }
}
