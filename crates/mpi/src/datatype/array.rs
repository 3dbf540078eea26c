//! Parts of arrays of several dimensions: subarray and darray (MPI 5.0, sections 5.1.3 and 5.1.4).

use super::Datatype;
use super::compose::{BlockPart, compose, resize};
use super::contents::Contents;
use crate::abi::values::*;
use crate::check::Failure;
use std::ffi::c_int;
use std::sync::Arc;

/// Dimensions from the one that varies fastest to the slowest.
fn fastest_first(order: c_int, dimensions: usize) -> Result<Vec<usize>, Failure> {
    match order {
        MPI_ORDER_C => Ok((0..dimensions).rev().collect()),
        MPI_ORDER_FORTRAN => Ok((0..dimensions).collect()),
        _ => Err(refused(format_args!("order is {order}; allowed are MPI_ORDER_C and MPI_ORDER_FORTRAN"))),
    }
}

#[cold]
fn refused(text: std::fmt::Arguments) -> Failure {
    Failure::new(MPI_ERR_ARG, text)
}

fn check_dimensions(ndims: c_int) -> Result<(), Failure> {
    if ndims < 1 { Err(refused(format_args!("ndims is {ndims}; allowed are 1 and more"))) } else { Ok(()) }
}

fn product(extent: isize, size: i64) -> Result<isize, Failure> {
    extent
        .checked_mul(size as isize)
        .ok_or_else(|| refused(format_args!("the whole array's size does not fit in 64 bits")))
}

/// A block of an array.
pub(super) fn subarray(
    large: bool,
    (sizes, subsizes, starts): (&[i64], &[i64], &[i64]),
    order: c_int,
    old: &Arc<Datatype>,
) -> Result<Datatype, Failure> {
    let ndims = sizes.len() as c_int;
    check_dimensions(ndims)?;
    let dimensions = fastest_first(order, sizes.len())?;
    for i in 0..sizes.len() {
        let (size, subsize, start) = (sizes[i], subsizes[i], starts[i]);
        if size < 1 {
            return Err(refused(format_args!("array_of_sizes[{i}] is {size}; allowed are 1 and more")));
        }
        if !(1..=size).contains(&subsize) {
            return Err(refused(format_args!(
                "array_of_subsizes[{i}] is {subsize}; allowed are 1 to {size}"
            )));
        }
        if !(0..=size - subsize).contains(&start) {
            let most = size - subsize;
            return Err(refused(format_args!("array_of_starts[{i}] is {start}; allowed are 0 to {most}")));
        }
    }
    let contents = Contents::new(MPI_COMBINER_SUBARRAY, large).integers([ndims]);
    // With large counts the order comes second, as there the others are not integers.
    let contents = if large { contents.integers([order]) } else { contents };
    let contents = contents.counts([sizes, subsizes, starts].concat());
    let contents = if large { contents } else { contents.integers([order]) };
    let contents = contents.datatypes([old.clone()]);

    let mut stride = old.extent;
    let mut part = None;
    for i in dimensions {
        let inner = part.as_ref().unwrap_or(&**old);
        let at = product(stride, starts[i])?;
        let block = BlockPart { at, count: subsizes[i] as usize, stride, length: 1, datatype: inner };
        part = Some(compose([block], Contents::named())?);
        stride = product(stride, sizes[i])?;
    }
    resize(part.as_ref().unwrap_or(&**old), 0, stride, contents)
}

/// How a dimension of an array is dealt out.
#[derive(Clone, Copy)]
pub(super) struct Dimension {
    /// Elements of the whole array.
    pub global: i64,
    /// `MPI_DISTRIBUTE_*`.
    pub distribution: c_int,
    /// Its argument: elements of a block.
    pub argument: c_int,
    /// Processes.
    pub processes: c_int,
}

impl Dimension {
    /// Elements of a block.
    fn block(&self, i: usize) -> Result<i64, Failure> {
        let &Self { global, distribution, argument, processes } = self;
        if global < 1 {
            return Err(refused(format_args!("array_of_gsizes[{i}] is {global}; allowed are 1 and more")));
        }
        if processes < 1 {
            return Err(refused(format_args!("array_of_psizes[{i}] is {processes}; allowed are 1 and more")));
        }
        let default = argument == MPI_DISTRIBUTE_DFLT_DARG;
        if distribution == MPI_DISTRIBUTE_NONE {
            if processes != 1 {
                return Err(refused(format_args!(
                    "array_of_psizes[{i}] is {processes}; with MPI_DISTRIBUTE_NONE 1 is allowed"
                )));
            }
            return Ok(global);
        }
        if !default && argument < 1 {
            return Err(refused(format_args!(
                "array_of_dargs[{i}] is {argument}; allowed are 1 and more and MPI_DISTRIBUTE_DFLT_DARG"
            )));
        }
        let (processes, argument) = (i64::from(processes), i64::from(argument));
        match distribution {
            MPI_DISTRIBUTE_BLOCK if default => Ok((global - 1) / processes + 1),
            MPI_DISTRIBUTE_BLOCK if argument * processes < global => Err(refused(format_args!(
                "array_of_dargs[{i}] is {argument}, so {processes} blocks do not hold the {global} elements"
            ))),
            MPI_DISTRIBUTE_CYCLIC if default => Ok(1),
            MPI_DISTRIBUTE_BLOCK | MPI_DISTRIBUTE_CYCLIC => Ok(argument),
            _ => Err(refused(format_args!(
                "array_of_distribs[{i}] is {distribution}; allowed are MPI_DISTRIBUTE_BLOCK, \
                 MPI_DISTRIBUTE_CYCLIC and MPI_DISTRIBUTE_NONE"
            ))),
        }
    }
}

/// The part of a distributed array that process `rank` of `size` has.
pub(super) fn darray(
    large: bool,
    (size, rank): (c_int, c_int),
    dimensions: &[Dimension],
    order: c_int,
    old: &Arc<Datatype>,
) -> Result<Datatype, Failure> {
    let ndims = dimensions.len() as c_int;
    check_dimensions(ndims)?;
    let by_speed = fastest_first(order, dimensions.len())?;
    let blocks: Vec<i64> =
        dimensions.iter().enumerate().map(|(i, dimension)| dimension.block(i)).collect::<Result<_, _>>()?;
    let processes: i128 = dimensions.iter().map(|dimension| i128::from(dimension.processes)).product();
    if processes != i128::from(size) {
        return Err(refused(format_args!("size is {size}; the product of array_of_psizes is {processes}")));
    }
    if !(0..size).contains(&rank) {
        return Err(refused(format_args!("rank is {rank}; allowed are 0 to {}", size - 1)));
    }
    let distributions = dimensions.iter().map(|dimension| dimension.distribution);
    let arguments = dimensions.iter().map(|dimension| dimension.argument);
    let grid = dimensions.iter().map(|dimension| dimension.processes);
    let contents = Contents::new(MPI_COMBINER_DARRAY, large)
        .integers([size, rank, ndims])
        .counts(dimensions.iter().map(|dimension| dimension.global))
        .integers(distributions.chain(arguments).chain(grid))
        .integers([order])
        .datatypes([old.clone()]);

    // The process's place in the grid, whose last dimension varies fastest whatever the array's order is.
    let mut place = vec![0; dimensions.len()];
    let mut rest = rank;
    for (place, dimension) in place.iter_mut().zip(dimensions).rev() {
        *place = i64::from(rest % dimension.processes);
        rest /= dimension.processes;
    }

    let mut part = None;
    for i in by_speed {
        let inner = part.as_ref().unwrap_or(&**old);
        part = Some(dealt(&dimensions[i], blocks[i], place[i], inner)?);
    }
    let whole = part.as_ref().map_or(old.extent, |part| part.extent);
    resize(part.as_ref().unwrap_or(&**old), 0, whole, contents)
}

/// One dimension: every `processes`-th block from the `place`-th on, of which the last may be cut.
fn dealt(dimension: &Dimension, block: i64, place: i64, inner: &Datatype) -> Result<Datatype, Failure> {
    let &Dimension { global, processes, .. } = dimension;
    let extent = inner.extent;
    let whole = product(extent, global)?;
    let first = place * block;
    let round = block * i64::from(processes);
    let owned = (global - first).max(0);
    let full = owned / round + i64::from(owned % round >= block);
    let cut = if owned % round < block { owned % round } else { 0 };
    // Beyond the array there is no block, and no displacement to compute.
    let at = |blocks: i64| product(extent, (first + blocks * round).min(global));
    let blocks = [
        BlockPart {
            at: at(0)?,
            count: full as usize,
            stride: if full > 1 { product(extent, round)? } else { 0 },
            length: block as usize,
            datatype: inner,
        },
        BlockPart::once(at(full)?, cut as usize, inner),
    ];
    let made = compose(blocks, Contents::named())?;
    resize(&made, 0, whole, Contents::named())
}
