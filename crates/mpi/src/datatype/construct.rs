//! The constructors of derived datatypes as compositions (MPI 5.0, section 5.1.2). Counts have been checked to be
//! non-negative.

use super::Datatype;
use super::compose::{BlockPart, compose, resize};
use super::contents::Contents;
use crate::abi::values::*;
use crate::check::Failure;
use std::sync::Arc;

type Made = Result<Datatype, Failure>;
type Old<'a> = &'a Arc<Datatype>;

/// `count` elements, one extent apart.
pub(super) fn contiguous(large: bool, count: i64, old: Old) -> Made {
    let contents = Contents::new(MPI_COMBINER_CONTIGUOUS, large).counts([count]).datatypes([old.clone()]);
    compose([BlockPart::once(0, count as usize, old)], contents)
}

/// `count` blocks, `stride` elements apart.
pub(super) fn vector(large: bool, count: i64, length: i64, stride: i64, old: Old) -> Made {
    let contents =
        Contents::new(MPI_COMBINER_VECTOR, large).counts([count, length, stride]).datatypes([old.clone()]);
    compose([strided(count, length, in_bytes(stride, old)?, old)], contents)
}

/// `count` blocks, `stride` bytes apart.
pub(super) fn hvector(large: bool, count: i64, length: i64, stride: i64, old: Old) -> Made {
    let contents = Contents::new(MPI_COMBINER_HVECTOR, large)
        .counts([count, length])
        .displacements([stride])
        .datatypes([old.clone()]);
    compose([strided(count, length, stride as isize, old)], contents)
}

/// Blocks of several lengths, displacements in elements.
pub(super) fn indexed(large: bool, lengths: &[i64], at: &[i64], old: Old) -> Made {
    let contents = Contents::new(MPI_COMBINER_INDEXED, large)
        .counts([lengths.len() as i64])
        .counts(lengths.iter().copied())
        .counts(at.iter().copied())
        .datatypes([old.clone()]);
    let bytes = all_in_bytes(at, old)?;
    compose(
        bytes.iter().zip(lengths).map(|(&at, &length)| BlockPart::once(at, length as usize, old)),
        contents,
    )
}

/// Blocks of several lengths, displacements in bytes.
pub(super) fn hindexed(large: bool, lengths: &[i64], at: &[i64], old: Old) -> Made {
    let contents = Contents::new(MPI_COMBINER_HINDEXED, large)
        .counts([lengths.len() as i64])
        .counts(lengths.iter().copied())
        .displacements(at.iter().copied())
        .datatypes([old.clone()]);
    compose(
        at.iter().zip(lengths).map(|(&at, &length)| BlockPart::once(at as isize, length as usize, old)),
        contents,
    )
}

/// Blocks of one length, displacements in elements.
pub(super) fn indexed_block(large: bool, length: i64, at: &[i64], old: Old) -> Made {
    let contents = Contents::new(MPI_COMBINER_INDEXED_BLOCK, large)
        .counts([at.len() as i64, length])
        .counts(at.iter().copied())
        .datatypes([old.clone()]);
    let bytes = all_in_bytes(at, old)?;
    compose(bytes.iter().map(|&at| BlockPart::once(at, length as usize, old)), contents)
}

/// Blocks of one length, displacements in bytes.
pub(super) fn hindexed_block(large: bool, length: i64, at: &[i64], old: Old) -> Made {
    let contents = Contents::new(MPI_COMBINER_HINDEXED_BLOCK, large)
        .counts([at.len() as i64, length])
        .displacements(at.iter().copied())
        .datatypes([old.clone()]);
    compose(at.iter().map(|&at| BlockPart::once(at as isize, length as usize, old)), contents)
}

/// Blocks of several lengths and datatypes, displacements in bytes.
pub(super) fn structure(large: bool, lengths: &[i64], at: &[i64], old: &[Arc<Datatype>]) -> Made {
    let contents = Contents::new(MPI_COMBINER_STRUCT, large)
        .counts([lengths.len() as i64])
        .counts(lengths.iter().copied())
        .displacements(at.iter().copied())
        .datatypes(old.iter().cloned());
    let blocks = at.iter().zip(lengths).zip(old);
    compose(blocks.map(|((&at, &length), old)| BlockPart::once(at as isize, length as usize, old)), contents)
}

/// The same data with other bounds.
pub(super) fn resized(large: bool, lb: i64, extent: i64, old: Old) -> Made {
    let contents =
        Contents::new(MPI_COMBINER_RESIZED, large).displacements([lb, extent]).datatypes([old.clone()]);
    resize(old, lb as isize, extent as isize, contents)
}

fn strided<'a>(count: i64, length: i64, stride: isize, datatype: &'a Datatype) -> BlockPart<'a> {
    BlockPart { at: 0, count: count as usize, stride, length: length as usize, datatype }
}

fn in_bytes(elements: i64, old: &Datatype) -> Result<isize, Failure> {
    (elements as isize).checked_mul(old.extent).ok_or_else(|| {
        Failure::new(
            MPI_ERR_ARG,
            format_args!("{elements} elements of {} bytes are more bytes than fit in 64 bits", old.extent),
        )
    })
}

fn all_in_bytes(elements: &[i64], old: &Datatype) -> Result<Vec<isize>, Failure> {
    elements.iter().map(|&at| in_bytes(at, old)).collect()
}
