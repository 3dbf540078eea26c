//! The C functions of graphs of which every rank knows its own edges (MPI 5.0, sections 8.5.4 and 8.5.5).

use super::cartesian::{array, give_numbers};
use super::make::{self, Making, parent};
use super::{Edges, Topology};
use crate::abi;
use crate::abi::values::*;
use crate::check::{self, Failure, mpi};
use crate::comm::Comm;
use crate::comm::info::hints;
use crate::runtime::State;
use std::ffi::c_int;
use std::sync::Arc;

/// An edge: from, to, weight.
type Edge = [u32; 3];

/// Weights that a program gives for so many edges; all 1 when it gives none.
fn weights(given: *const c_int, count: usize, name: &str) -> Result<Vec<u32>, Failure> {
    if matches!(given as usize, MPI_UNWEIGHTED | MPI_WEIGHTS_EMPTY) {
        return Ok(vec![1; count]);
    }
    let given = array(given, count, name)?;
    if let Some(at) = given.iter().position(|&weight| weight < 0) {
        let text = format_args!("{name}[{at}] is {}; allowed are 0 and more", given[at]);
        return Err(Failure::new(MPI_ERR_ARG, text));
    }
    Ok(given.iter().map(|&weight| weight as u32).collect())
}

/// Ranks of a communicator that a program names.
fn ranks(given: *const c_int, count: usize, comm: &Comm, name: &str) -> Result<Vec<u32>, Failure> {
    let given = array(given, count, name)?;
    if let Some(at) = given.iter().position(|&rank| rank < 0 || rank as usize >= comm.size()) {
        let text = format_args!("{name}[{at}] is {}; allowed are 0 to {}", given[at], comm.size() - 1);
        return Err(Failure::new(MPI_ERR_RANK, text));
    }
    Ok(given.iter().map(|&rank| rank as u32).collect())
}

fn count(given: c_int, name: &str) -> Result<usize, Failure> {
    check::count(given, name).map_err(|failure| Failure::new(MPI_ERR_ARG, failure.text()))
}

/// The edges of a rank among all, in their order.
fn of_rank(rank: usize, edges: &[Edge], weighted: bool) -> Edges {
    let ends = |end: usize| {
        let own = edges.iter().filter(move |edge| edge[end] as usize == rank);
        own.map(move |edge| (edge[1 - end] as usize, edge[2] as c_int)).collect()
    };
    Edges { sources: ends(1), destinations: ends(0), weighted }
}

fn traffic(edges: &[Edge]) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
    edges.iter().map(|edge| (edge[0] as usize, edge[1] as usize, u64::from(edge[2])))
}

/// The edges of a rank as words, to be told to all, and back.
fn to_words(edges: &Edges) -> Vec<u32> {
    let list = |edges: &[(usize, c_int)]| {
        edges.iter().flat_map(|&(rank, weight)| [rank as u32, weight as u32]).collect()
    };
    let [sources, destinations]: [Vec<u32>; 2] = [list(&edges.sources), list(&edges.destinations)];
    [vec![edges.sources.len() as u32], sources, destinations].concat()
}

fn from_words(words: &[u32], weighted: bool) -> Edges {
    let list =
        |words: &[u32]| words.chunks_exact(2).map(|edge| (edge[0] as usize, edge[1] as c_int)).collect();
    let (sources, destinations) = words[1..].split_at(2 * words[0] as usize);
    Edges { sources: list(sources), destinations: list(destinations), weighted }
}

fn create_adjacent(
    handle: abi::Comm,
    incoming: (c_int, *const c_int, *const c_int),
    outgoing: (c_int, *const c_int, *const c_int),
    reorder: bool,
    newcomm: *mut abi::Comm,
) -> Result<(), Failure> {
    let comm = parent(handle, newcomm)?;
    let list = |(degree, given, weighted): (c_int, *const c_int, *const c_int), names: [&str; 3]| {
        let degree = count(degree, names[0])?;
        let ranks = ranks(given, degree, &comm, names[1])?;
        let weights = weights(weighted, degree, names[2])?;
        let edges = ranks.into_iter().zip(weights).map(|(rank, weight)| (rank as usize, weight as c_int));
        Ok::<Vec<_>, Failure>(edges.collect())
    };
    let own = Edges {
        sources: list(incoming, ["indegree", "sources", "sourceweights"])?,
        destinations: list(outgoing, ["outdegree", "destinations", "destweights"])?,
        weighted: incoming.2 as usize != MPI_UNWEIGHTED,
    };
    let making = Making::of(&comm);
    let size = comm.size();
    let made = if reorder {
        // A process takes the place of another rank, and its edges with it.
        let all = making.tell_all(&to_words(&own))?;
        let edges: Vec<Edge> = (0u32..)
            .zip(&all)
            .flat_map(|(rank, words)| {
                let out = from_words(words, own.weighted).destinations;
                out.into_iter().map(move |(to, weight)| [rank, to as u32, weight as u32])
            })
            .collect();
        making.finish(
            size,
            |state, comm| make::placed(state, comm, traffic(&edges)),
            |rank| Topology::Distributed(from_words(&all[rank], own.weighted)),
        )?
    } else {
        making.finish(size, |_, _| (0..size).collect(), |_| Topology::Distributed(own.clone()))?
    };
    *check::output(newcomm, "comm_dist_graph")? = made;
    Ok(())
}

/// The edges that a program gives: of each source as many as its degree.
fn given_edges(
    comm: &Comm,
    n: c_int,
    sources: *const c_int,
    degrees: *const c_int,
    destinations: *const c_int,
    given_weights: *const c_int,
) -> Result<Vec<Edge>, Failure> {
    let n = count(n, "n")?;
    let sources = ranks(sources, n, comm, "sources")?;
    let degrees: Vec<usize> = array(degrees, n, "degrees")?
        .iter()
        .map(|&degree| count(degree, "one of degrees"))
        .collect::<Result<_, _>>()?;
    let total = degrees.iter().sum();
    let destinations = ranks(destinations, total, comm, "destinations")?;
    let weights = weights(given_weights, total, "weights")?;
    let froms = sources.iter().zip(degrees).flat_map(|(&source, degree)| std::iter::repeat_n(source, degree));
    Ok(froms.zip(destinations).zip(weights).map(|((from, to), weight)| [from, to, weight]).collect())
}

/// The edges of a communicator's rank.
fn edges_of(state: &State, handle: abi::Comm) -> Result<&Edges, Failure> {
    match check::comm(state, handle)?.topology.get().map(Arc::as_ref) {
        Some(Topology::Distributed(edges)) => Ok(edges),
        _ => Err(Failure::new(MPI_ERR_TOPOLOGY, "comm has no distributed graph topology")),
    }
}

/// Gives a program the ranks of edges, and the weights unless it wants none or there are none.
fn give_edges(
    edges: &[(usize, c_int)],
    most: usize,
    ranks: *mut c_int,
    weights: *mut c_int,
    weighted: bool,
    names: [&str; 2],
) -> Result<(), Failure> {
    give_numbers(edges.iter().map(|&(rank, _)| rank), most, ranks, names[0])?;
    if !weighted || matches!(weights as usize, MPI_UNWEIGHTED | MPI_WEIGHTS_EMPTY) {
        return Ok(());
    }
    give_numbers(edges.iter().map(|&(_, weight)| weight as usize), most, weights, names[1])
}

mpi! {
    /// A communicator with a graph of which every rank gives its own edges, both ways.
    fn PMPI_Dist_graph_create_adjacent(
        comm_old: abi::Comm,
        indegree: c_int,
        sources: *const c_int,
        sourceweights: *const c_int,
        outdegree: c_int,
        destinations: *const c_int,
        destweights: *const c_int,
        info: abi::Info,
        reorder: c_int,
        comm_dist_graph: *mut abi::Comm,
    ) on comm_old {
        // No hint for graphs is known.
        hints(&*check::running()?, info)?;
        let (incoming, outgoing) = ((indegree, sources, sourceweights), (outdegree, destinations, destweights));
        create_adjacent(comm_old, incoming, outgoing, reorder != 0, comm_dist_graph)
    }

    /// A communicator with a graph of which every rank gives some edges.
    fn PMPI_Dist_graph_create(
        comm_old: abi::Comm,
        n: c_int,
        sources: *const c_int,
        degrees: *const c_int,
        destinations: *const c_int,
        weights: *const c_int,
        info: abi::Info,
        reorder: c_int,
        comm_dist_graph: *mut abi::Comm,
    ) on comm_old {
        // No hint for graphs is known.
        hints(&*check::running()?, info)?;
        let comm = parent(comm_old, comm_dist_graph)?;
        let own = given_edges(&comm, n, sources, degrees, destinations, weights)?;
        let making = Making::of(&comm);
        let all: Vec<Edge> = (making.tell_all(own.as_flattened())?.concat().chunks_exact(3))
            .map(|edge| [edge[0], edge[1], edge[2]])
            .collect();
        let (size, weighted) = (comm.size(), weights as usize != MPI_UNWEIGHTED);
        let made = making.finish(
            size,
            |state, comm| match reorder != 0 {
                true => make::placed(state, comm, traffic(&all)),
                false => (0..size).collect(),
            },
            |rank| Topology::Distributed(of_rank(rank, &all, weighted)),
        )?;
        *check::output(comm_dist_graph, "comm_dist_graph")? = made;
        Ok(())
    }

    /// How many edges end and start at this rank, and whether they have weights.
    fn PMPI_Dist_graph_neighbors_count(
        comm: abi::Comm,
        indegree: *mut c_int,
        outdegree: *mut c_int,
        weighted: *mut c_int,
    ) on comm {
        let state = check::running()?;
        let edges = edges_of(&state, comm)?;
        *check::output(indegree, "indegree")? = edges.sources.len() as c_int;
        *check::output(outdegree, "outdegree")? = edges.destinations.len() as c_int;
        *check::output(weighted, "weighted")? = c_int::from(edges.weighted);
        Ok(())
    }

    /// The edges that end and start at this rank, in the order in which they were given.
    fn PMPI_Dist_graph_neighbors(
        comm: abi::Comm,
        maxindegree: c_int,
        sources: *mut c_int,
        sourceweights: *mut c_int,
        maxoutdegree: c_int,
        destinations: *mut c_int,
        destweights: *mut c_int,
    ) on comm {
        let state = check::running()?;
        let edges = edges_of(&state, comm)?;
        let (most_in, most_out) = (count(maxindegree, "maxindegree")?, count(maxoutdegree, "maxoutdegree")?);
        let names = ["sources", "sourceweights"];
        give_edges(&edges.sources, most_in, sources, sourceweights, edges.weighted, names)?;
        let names = ["destinations", "destweights"];
        give_edges(&edges.destinations, most_out, destinations, destweights, edges.weighted, names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_come_back_from_words() {
        let edges = Edges { sources: vec![(3, 1), (3, 7)], destinations: vec![(0, 2)], weighted: true };
        assert_eq!(from_words(&to_words(&edges), true), edges);
    }

    #[test]
    fn a_rank_finds_its_edges_in_the_order_of_all() {
        let all = [[0, 1, 5], [1, 0, 6], [0, 1, 7], [1, 1, 8]];
        let found = of_rank(1, &all, true);
        assert_eq!(found.sources, [(0, 5), (0, 7), (1, 8)]);
        assert_eq!(found.destinations, [(0, 6), (1, 8)]);
    }
}
