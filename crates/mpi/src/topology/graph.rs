//! The C functions of graphs that every rank knows (MPI 5.0, sections 8.5.3, 8.5.5 and 8.5.8).

use super::cartesian::{give_numbers, not_negative, own_place, rank_of};
use super::make::{self, Making, parent};
use crate::abi;
use crate::abi::values::*;
use crate::call::{In, Out};
use crate::check::{self, Failure};
use crate::comm::Comm;
use crate::comm::mpi;
use crate::comm::valid;
use crate::neighbours::{GraphTopology, Topology};
use crate::runtime::State;
use std::ffi::c_int;
use std::sync::Arc;

/// The graph that a program describes, of ranks of a communicator.
fn described(
    comm: &Comm,
    nnodes: c_int,
    indx: In<'_, [c_int]>,
    edges: In<'_, c_int>,
) -> Result<GraphTopology, Failure> {
    if nnodes < 0 || nnodes as usize > comm.size() {
        let text = format_args!("nnodes is {nnodes}; allowed are 0 to {}, the ranks of comm", comm.size());
        return Err(Failure::new(MPI_ERR_ARG, text));
    }
    let index = indx.to_vec()?;
    let mut before = 0;
    for (at, &end) in index.iter().enumerate() {
        if end < before {
            let text = format_args!(
                "indx[{at}] is {end}; allowed are {before} and more, no less than the one before"
            );
            return Err(Failure::new(MPI_ERR_ARG, text));
        }
        before = end;
    }
    // SAFETY: as many edges as the last element of `indx` says (MPI 5.0, section 8.5.3).
    let edges = unsafe { edges.array(before) }.to_vec()?;
    if let Some(at) = edges.iter().position(|edge| !(0..nnodes).contains(edge)) {
        let text = format_args!("edges[{at}] is {}; allowed are 0 to {}", edges[at], nnodes - 1);
        return Err(Failure::new(MPI_ERR_ARG, text));
    }
    let numbers = |numbers: Vec<c_int>| numbers.into_iter().map(|number| number as usize).collect();
    Ok(GraphTopology { index: numbers(index), edges: numbers(edges) })
}

/// The messages of a graph: one along each edge.
fn messages(graph: &GraphTopology) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
    (0..graph.index.len()).flat_map(|rank| graph.neighbours(rank).iter().map(move |&other| (rank, other, 1)))
}

/// The graph of a communicator.
fn graph_of(state: &State, handle: abi::Comm) -> Result<(&Arc<Comm>, &GraphTopology), Failure> {
    let comm = valid::comm(state, handle)?;
    match comm.topology.get().map(Arc::as_ref) {
        Some(Topology::Graph(graph)) => Ok((comm, graph)),
        _ => Err(Failure::new(MPI_ERR_TOPOLOGY, "comm has no graph topology")),
    }
}

mpi! {
    /// A communicator whose ranks are the nodes of a graph.
    fn PMPI_Graph_create(
        comm_old: abi::Comm,
        nnodes: c_int,
        indx[nnodes]: In<c_int>,
        edges: In<c_int>,
        reorder: c_int,
        comm_graph: Out<abi::Comm>,
    ) on comm_old {
        let comm = parent(comm_old, comm_graph)?;
        let graph = described(&comm, nnodes, indx, edges)?;
        let size = graph.index.len();
        let made = Making::of(&comm).finish(
            size,
            |state, comm| match reorder != 0 {
                true => make::placed(state, comm, messages(&graph)),
                false => (0..size).collect(),
            },
            |_| Topology::Graph(graph.clone()),
        )?;
        comm_graph.write(made)
    }

    /// Nodes and edges of a graph.
    fn PMPI_Graphdims_get(comm: abi::Comm, nnodes: Out<c_int>, nedges: Out<c_int>) on comm {
        let state = check::running()?;
        let graph = graph_of(&state, comm)?.1;
        nnodes.write(graph.index.len() as c_int)?;
        nedges.write(graph.edges.len() as c_int)
    }

    /// A graph.
    fn PMPI_Graph_get(
        comm: abi::Comm,
        maxindex: c_int,
        maxedges: c_int,
        indx[maxindex]: Out<c_int>,
        edges[maxedges]: Out<c_int>,
    ) on comm {
        let state = check::running()?;
        let graph = graph_of(&state, comm)?.1;
        not_negative(maxindex, "maxindex")?;
        give_numbers(graph.index.iter().copied(), indx)?;
        not_negative(maxedges, "maxedges")?;
        give_numbers(graph.edges.iter().copied(), edges)
    }

    /// How many neighbours a rank has.
    fn PMPI_Graph_neighbors_count(comm: abi::Comm, rank: c_int, nneighbors: Out<c_int>) on comm {
        let state = check::running()?;
        let (comm, graph) = graph_of(&state, comm)?;
        nneighbors.write(graph.neighbours(rank_of(comm, rank)?).len() as c_int)
    }

    /// The neighbours of a rank.
    fn PMPI_Graph_neighbors(
        comm: abi::Comm, rank: c_int, maxneighbors: c_int, neighbors[maxneighbors]: Out<c_int>,
    ) on comm {
        let state = check::running()?;
        let (comm, graph) = graph_of(&state, comm)?;
        let found = graph.neighbours(rank_of(comm, rank)?);
        not_negative(maxneighbors, "maxneighbors")?;
        give_numbers(found.iter().copied(), neighbors)
    }

    /// The rank that this process has when ranks are placed on a graph; `MPI_UNDEFINED`: none.
    fn PMPI_Graph_map(
        comm: abi::Comm,
        nnodes: c_int,
        indx[nnodes]: In<c_int>,
        edges: In<c_int>,
        newrank: Out<c_int>,
    ) on comm {
        let state = check::running()?;
        let comm = valid::intracomm(&state, comm, "comm")?;
        let graph = described(comm, nnodes, indx, edges)?;
        let order = make::placed(&state, comm, messages(&graph));
        newrank.write(own_place(&order[..graph.index.len()], comm.rank))
    }
}
