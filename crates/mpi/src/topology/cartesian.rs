//! The C functions of Cartesian topologies (MPI 5.0, sections 8.5.1, 8.5.2, 8.5.5 to 8.5.8).

use super::make::{self, Making, give, parent};
use crate::abi;
use crate::abi::values::*;
use crate::call::{In, InOut, Out};
use crate::check::{self, Failure};
use crate::comm::Comm;
use crate::comm::construct::split;
use crate::comm::info::Info;
use crate::comm::mpi;
use crate::comm::valid;
use crate::neighbours::{Grid, Topology, grid};
use crate::runtime::State;
use std::ffi::c_int;
use std::sync::Arc;

/// Gives a program numbers, at most as many as it has place for.
///
/// # Errors
/// A null pointer.
pub(super) fn give_numbers(
    numbers: impl IntoIterator<Item = usize>,
    place: Out<'_, [c_int]>,
) -> Result<(), Failure> {
    place.write(numbers.into_iter().map(|number| number as c_int))
}

/// That a number may be the length of an array.
///
/// # Errors
/// `MPI_ERR_ARG`
pub(super) fn not_negative(number: c_int, name: &str) -> Result<(), Failure> {
    check::count(number, name).map(|_| ()).map_err(|failure| Failure::new(MPI_ERR_ARG, failure.text()))
}

/// That a program has place for as many.
fn enough(most: c_int, needed: usize) -> Result<(), Failure> {
    if most < 0 || (most as usize) < needed {
        let text = format_args!("maxdims is {most}; the topology has {needed} dimensions");
        return Err(Failure::new(MPI_ERR_ARG, text));
    }
    Ok(())
}

/// The grid that a program describes.
fn described(ndims: c_int, dims: In<'_, [c_int]>, periods: In<'_, [c_int]>) -> Result<Grid, Failure> {
    if ndims < 0 {
        let text = format_args!("ndims is {ndims}; allowed are 0 and more");
        return Err(Failure::new(MPI_ERR_DIMS, text));
    }
    let (dims, periods) = (dims.to_vec()?, periods.to_vec()?);
    if let Some(at) = dims.iter().position(|&dim| dim < 1) {
        let text = format_args!("dims[{at}] is {}; allowed are 1 and more", dims[at]);
        return Err(Failure::new(MPI_ERR_DIMS, text));
    }
    Ok(Grid {
        dims: dims.iter().map(|&dim| dim as usize).collect(),
        periods: periods.iter().map(|&period| period != 0).collect(),
    })
}

/// The ranks of a grid, which must be in the communicator.
fn fitting(grid: &Grid, comm: &Comm) -> Result<usize, Failure> {
    grid.size().filter(|&size| size <= comm.size()).ok_or_else(|| {
        let text = format_args!(
            "dims {:?} make a grid larger than comm, which has {} ranks",
            grid.dims,
            comm.size()
        );
        Failure::new(MPI_ERR_DIMS, text)
    })
}

/// The messages of a grid: one from each rank to each neighbour.
fn edges(grid: &Grid, size: usize) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
    (0..size).flat_map(|rank| grid.neighbours(rank).into_iter().flatten().map(move |other| (rank, other, 1)))
}

/// The grid of a communicator.
fn grid_of(state: &State, handle: abi::Comm) -> Result<(&Arc<Comm>, &Grid), Failure> {
    let comm = valid::comm(state, handle)?;
    match comm.topology.get().map(Arc::as_ref) {
        Some(Topology::Grid(grid)) => Ok((comm, grid)),
        _ => Err(Failure::new(MPI_ERR_TOPOLOGY, "comm has no Cartesian topology")),
    }
}

/// That a rank is one of the communicator.
pub(super) fn rank_of(comm: &Comm, rank: c_int) -> Result<usize, Failure> {
    if rank < 0 || rank as usize >= comm.size() {
        let text = format_args!("rank is {rank}; allowed are 0 to {}", comm.size() - 1);
        return Err(Failure::new(MPI_ERR_RANK, text));
    }
    Ok(rank as usize)
}

fn create(
    handle: abi::Comm,
    grid: Grid,
    reorder: bool,
    comm_cart: Out<'_, abi::Comm>,
) -> Result<(), Failure> {
    let comm = parent(handle, comm_cart)?;
    let size = fitting(&grid, &comm)?;
    let made = Making::of(&comm).finish(
        size,
        |state, comm| match reorder {
            true => make::placed(state, comm, edges(&grid, size)),
            false => (0..size).collect(),
        },
        |_| Topology::Grid(grid.clone()),
    )?;
    comm_cart.write(made)
}

mpi! {
    /// A communicator whose ranks lie on a grid.
    fn PMPI_Cart_create(
        comm_old: abi::Comm,
        ndims: c_int,
        dims[ndims]: In<c_int>,
        periods[ndims]: In<c_int>,
        reorder: c_int,
        comm_cart: Out<abi::Comm>,
    ) on comm_old {
        create(comm_old, described(ndims, dims, periods)?, reorder != 0, comm_cart)
    }

    /// Splits ranks into dimensions that are as near to one another as can be; those that are not 0 stay.
    fn PMPI_Dims_create(nnodes: c_int, ndims: c_int, dims[ndims]: InOut<c_int>) {
        if nnodes < 1 {
            return Err(Failure::new(MPI_ERR_ARG, format_args!("nnodes is {nnodes}; allowed are 1 and more")));
        }
        if ndims < 0 {
            return Err(Failure::new(MPI_ERR_DIMS, format_args!("ndims is {ndims}; allowed are 0 and more")));
        }
        let given = dims.reading().to_vec()?;
        if let Some(at) = given.iter().position(|&dim| dim < 0) {
            let text = format_args!("dims[{at}] is {}; allowed are 0 and more", given[at]);
            return Err(Failure::new(MPI_ERR_DIMS, text));
        }
        let fixed = given.iter().filter(|&&dim| dim > 0).try_fold(1i64, |size, &dim| size.checked_mul(i64::from(dim)));
        let free = given.iter().filter(|&&dim| dim == 0).count();
        let left = fixed.filter(|fixed| i64::from(nnodes) % fixed == 0).map(|fixed| i64::from(nnodes) / fixed);
        let Some(left) = left.filter(|&left| free > 0 || left == 1) else {
            let text = format_args!("{nnodes} nodes cannot be split into dims {given:?}");
            return Err(Failure::new(MPI_ERR_DIMS, text));
        };
        let mut found = grid::balanced(left as usize, free).into_iter();
        for (at, _) in given.iter().enumerate().filter(|(_, dim)| **dim == 0) {
            dims.at(at).write(found.next().unwrap_or(1) as c_int)?;
        }
        Ok(())
    }

    /// Dimensions of a grid.
    fn PMPI_Cartdim_get(comm: abi::Comm, ndims: Out<c_int>) on comm {
        let state = check::running()?;
        ndims.write(grid_of(&state, comm)?.1.dims.len() as c_int)
    }

    /// A grid, and the coordinates of this rank.
    fn PMPI_Cart_get(
        comm: abi::Comm,
        maxdims: c_int,
        dims[maxdims]: Out<c_int>,
        periods[maxdims]: Out<c_int>,
        coords[maxdims]: Out<c_int>,
    ) on comm {
        let state = check::running()?;
        let (comm, grid) = grid_of(&state, comm)?;
        enough(maxdims, grid.dims.len())?;
        give_numbers(grid.dims.iter().copied(), dims)?;
        give_numbers(grid.periods.iter().map(|&period| usize::from(period)), periods)?;
        give_numbers(grid.coordinates(comm.rank), coords)
    }

    /// The rank at coordinates.
    fn PMPI_Cart_rank(comm: abi::Comm, coords: In<c_int>, rank: Out<c_int>) on comm {
        let state = check::running()?;
        let grid = grid_of(&state, comm)?.1;
        // SAFETY: a coordinate for each dimension of the communicator's grid (MPI 5.0, section 8.5.5).
        let coords = unsafe { coords.array(grid.dims.len()) }.to_vec()?;
        let found = grid.rank(coords.iter().map(|&at| i64::from(at))).map_err(|at| {
            let text = format_args!("coords[{at}] is {}; allowed are 0 to {}", coords[at], grid.dims[at] - 1);
            Failure::new(MPI_ERR_ARG, text)
        })?;
        rank.write(found as c_int)
    }

    /// The coordinates of a rank.
    fn PMPI_Cart_coords(comm: abi::Comm, rank: c_int, maxdims: c_int, coords[maxdims]: Out<c_int>) on comm {
        let state = check::running()?;
        let (comm, grid) = grid_of(&state, comm)?;
        let rank = rank_of(comm, rank)?;
        enough(maxdims, grid.dims.len())?;
        give_numbers(grid.coordinates(rank), coords)
    }

    /// The ranks so many steps before and behind this one along a dimension; `MPI_PROC_NULL` beyond the end.
    fn PMPI_Cart_shift(
        comm: abi::Comm,
        direction: c_int,
        disp: c_int,
        rank_source: Out<c_int>,
        rank_dest: Out<c_int>,
    ) on comm {
        let state = check::running()?;
        let (comm, grid) = grid_of(&state, comm)?;
        if direction < 0 || direction as usize >= grid.dims.len() {
            let text = format_args!("direction is {direction}; the topology has {} dimensions", grid.dims.len());
            return Err(Failure::new(MPI_ERR_ARG, text));
        }
        let at = |steps| grid.shifted(comm.rank, direction as usize, steps).map_or(MPI_PROC_NULL, |rank| rank as c_int);
        rank_source.write(at(-i64::from(disp)))?;
        rank_dest.write(at(i64::from(disp)))
    }

    /// The part of a grid that this rank is in, of the dimensions that remain.
    fn PMPI_Cart_sub(comm: abi::Comm, remain_dims: In<c_int>, newcomm: Out<abi::Comm>) on comm {
        let (found, part, colour, rank) = {
            let state = check::running()?;
            newcomm.write(abi::Comm(MPI_COMM_NULL))?;
            let (found, grid) = grid_of(&state, comm)?;
            // SAFETY: a flag for each dimension of the communicator's grid (MPI 5.0, section 8.5.7).
            let remain_dims = unsafe { remain_dims.array(grid.dims.len()) }.to_vec()?;
            let remains: Vec<bool> = remain_dims.iter().map(|&kept| kept != 0).collect();
            let (part, colour, rank) = grid.part(found.rank, &remains);
            (found.clone(), part, colour, rank)
        };
        let made = split(&found, colour as c_int, rank as c_int, Info::default())?;
        give(made, |_| Topology::Grid(part));
        newcomm.write(made)
    }

    /// The rank that this process has when ranks are placed on a grid; `MPI_UNDEFINED`: none.
    fn PMPI_Cart_map(
        comm: abi::Comm,
        ndims: c_int,
        dims[ndims]: In<c_int>,
        periods[ndims]: In<c_int>,
        newrank: Out<c_int>,
    ) on comm {
        let grid = described(ndims, dims, periods)?;
        let state = check::running()?;
        let comm = valid::intracomm(&state, comm, "comm")?;
        let size = fitting(&grid, comm)?;
        let order = make::placed(&state, comm, edges(&grid, size));
        newrank.write(own_place(&order[..size], comm.rank))
    }

    /// Which kind of topology a communicator has.
    fn PMPI_Topo_test(comm: abi::Comm, status: Out<c_int>) on comm {
        let state = check::running()?;
        let comm = valid::comm(&state, comm)?;
        status.write(match comm.topology.get().map(Arc::as_ref) {
            None => MPI_UNDEFINED,
            Some(Topology::Grid(_)) => MPI_CART,
            Some(Topology::Graph(_)) => MPI_GRAPH,
            Some(Topology::Distributed(_)) => MPI_DIST_GRAPH,
        })
    }
}

/// The place that a process takes in an order, as a rank; `MPI_UNDEFINED`: none.
pub(super) fn own_place(order: &[usize], process: usize) -> c_int {
    order.iter().position(|&taker| taker == process).map_or(MPI_UNDEFINED, |place| place as c_int)
}
