//! The C functions of graphs of which every rank knows its own edges (MPI 5.0, sections 8.5.4 and 8.5.5).

use super::cartesian::{give_numbers, not_negative};
use super::make::{self, Making, parent};
use crate::abi;
use crate::abi::values::*;
use crate::call::{Argument, Call, In, Length, Name, Out};
use crate::check::{self, Failure};
use crate::comm::Comm;
use crate::comm::info::hints;
use crate::comm::mpi;
use crate::comm::valid;
use crate::neighbours::{Edges, Topology};
use crate::runtime::State;
use std::ffi::c_int;
use std::sync::Arc;

/// An edge: from, to, weight.
type WeightedEdge = [u32; 3];

/// Weights of edges that a program passes, or wants, or neither: `MPI_UNWEIGHTED` and `MPI_WEIGHTS_EMPTY` are no
/// addresses.
#[derive(Clone, Copy)]
enum Weights<P> {
    Unweighted,
    Empty,
    At(P),
}

macro_rules! weights {
    ($($pointer:ident $passed:ty;)*) => {$(
        impl Argument for Weights<$pointer<'_, c_int>> {
            type Passed = $passed;
            type Given<'call> = Weights<$pointer<'call, c_int>>;

            unsafe fn given<'call>(passed: $passed, name: Name, call: &'call Call) -> Self::Given<'call> {
                match passed.addr() {
                    MPI_UNWEIGHTED => Weights::Unweighted,
                    MPI_WEIGHTS_EMPTY => Weights::Empty,
                    // SAFETY: as the caller promises; it is neither of the constants.
                    _ => Weights::At(unsafe { $pointer::<c_int>::given(passed, name, call) }),
                }
            }
        }

        impl<'call> Weights<$pointer<'call, c_int>> {
            /// The array of weights.
            ///
            /// # Safety
            /// It is null, or has that many elements.
            unsafe fn array(self, length: impl Length) -> Weights<$pointer<'call, [c_int]>> {
                match self {
                    Self::Unweighted => Weights::Unweighted,
                    Self::Empty => Weights::Empty,
                    // SAFETY: as the caller promises.
                    Self::At(first) => Weights::At(unsafe { first.array(length) }),
                }
            }
        }
    )*};
}

weights! {
    In *const c_int;
    Out *mut c_int;
}

impl Weights<In<'_, [c_int]>> {
    /// The weights that a program gives for so many edges; all 1 when it gives none.
    fn of(self, count: usize) -> Result<Vec<u32>, Failure> {
        let Self::At(array) = self else { return Ok(vec![1; count]) };
        let given = array.to_vec()?;
        if let Some(at) = given.iter().position(|&weight| weight < 0) {
            let text = format_args!("{}[{at}] is {}; allowed are 0 and more", array.name(), given[at]);
            return Err(Failure::new(MPI_ERR_ARG, text));
        }
        Ok(given.iter().map(|&weight| weight as u32).collect())
    }

    fn weighted(self) -> bool {
        !matches!(self, Self::Unweighted)
    }
}

/// Ranks of a communicator that a program names.
fn ranks(array: In<'_, [c_int]>, comm: &Comm) -> Result<Vec<u32>, Failure> {
    let given = array.to_vec()?;
    if let Some(at) = given.iter().position(|&rank| rank < 0 || rank as usize >= comm.size()) {
        let (name, last) = (array.name(), comm.size() - 1);
        let text = format_args!("{name}[{at}] is {}; allowed are 0 to {last}", given[at]);
        return Err(Failure::new(MPI_ERR_RANK, text));
    }
    Ok(given.iter().map(|&rank| rank as u32).collect())
}

/// The edges of a rank among all, in their order.
fn of_rank(rank: usize, edges: &[WeightedEdge], weighted: bool) -> Edges {
    let ends = |end: usize| {
        let own = edges.iter().filter(move |edge| edge[end] as usize == rank);
        own.map(move |edge| (edge[1 - end] as usize, edge[2] as c_int)).collect()
    };
    Edges { sources: ends(1), destinations: ends(0), weighted }
}

fn traffic(edges: &[WeightedEdge]) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
    edges.iter().map(|edge| (edge[0] as usize, edge[1] as usize, u64::from(edge[2])))
}

/// The edges of a rank as words, which all ranks get, and back.
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

/// Edges in one direction, as a program gives them: how many, the ranks at their other end, and their weights.
type GivenEdges<'call> = (c_int, In<'call, [c_int]>, Weights<In<'call, [c_int]>>);

fn create_adjacent(
    handle: abi::Comm,
    incoming: GivenEdges<'_>,
    outgoing: GivenEdges<'_>,
    reorder: bool,
    comm_dist_graph: Out<'_, abi::Comm>,
) -> Result<(), Failure> {
    let comm = parent(handle, comm_dist_graph)?;
    let list = |(degree, others, weights): GivenEdges<'_>, name: &str| {
        not_negative(degree, name)?;
        let ranks = ranks(others, &comm)?;
        let weights = weights.of(ranks.len())?;
        let edges = ranks.into_iter().zip(weights).map(|(rank, weight)| (rank as usize, weight as c_int));
        Ok::<Vec<_>, Failure>(edges.collect())
    };
    let own = Edges {
        sources: list(incoming, "indegree")?,
        destinations: list(outgoing, "outdegree")?,
        weighted: incoming.2.weighted(),
    };
    let making = Making::of(&comm);
    let size = comm.size();
    let made = if reorder {
        // A process takes the place of another rank, and its edges with it.
        let all = making.tell_all(&to_words(&own))?;
        let edges: Vec<WeightedEdge> = (0u32..)
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
    comm_dist_graph.write(made)
}

/// The edges that a program gives: of each source as many as its degree.
fn given_edges(
    comm: &Comm,
    n: c_int,
    (sources, degrees): (In<'_, [c_int]>, In<'_, [c_int]>),
    destinations: In<'_, c_int>,
    weights: Weights<In<'_, c_int>>,
) -> Result<Vec<WeightedEdge>, Failure> {
    not_negative(n, "n")?;
    let sources = ranks(sources, comm)?;
    let degrees = degrees.to_vec()?;
    degrees.iter().try_for_each(|&degree| not_negative(degree, "one of degrees"))?;
    let total: usize = degrees.iter().map(|&degree| degree as usize).sum();
    // SAFETY: a destination and a weight for each edge, of which there are the sum of all degrees (MPI 5.0, section
    // 8.5.4).
    let (destinations, weights) = unsafe { (destinations.array(total), weights.array(total)) };
    let (destinations, weights) = (ranks(destinations, comm)?, weights.of(total)?);
    let froms = sources
        .iter()
        .zip(degrees)
        .flat_map(|(&source, degree)| std::iter::repeat_n(source, degree as usize));
    Ok(froms.zip(destinations).zip(weights).map(|((from, to), weight)| [from, to, weight]).collect())
}

/// The edges of a communicator's rank.
fn edges_of(state: &State, handle: abi::Comm) -> Result<&Edges, Failure> {
    match valid::comm(state, handle)?.topology.get().map(Arc::as_ref) {
        Some(Topology::Distributed(edges)) => Ok(edges),
        _ => Err(Failure::new(MPI_ERR_TOPOLOGY, "comm has no distributed graph topology")),
    }
}

/// Gives a program the ranks of edges, and the weights unless it wants none or there are none.
fn give_edges(
    edges: &[(usize, c_int)],
    ranks: Out<'_, [c_int]>,
    weights: Weights<Out<'_, [c_int]>>,
    weighted: bool,
) -> Result<(), Failure> {
    give_numbers(edges.iter().map(|&(rank, _)| rank), ranks)?;
    match weights {
        Weights::At(weights) if weighted => weights.write(edges.iter().map(|&(_, weight)| weight)),
        _ => Ok(()),
    }
}

mpi! {
    /// A communicator with a graph of which every rank gives its own edges, both ways.
    fn PMPI_Dist_graph_create_adjacent(
        comm_old: abi::Comm,
        indegree: c_int,
        sources[indegree]: In<c_int>,
        sourceweights[indegree]: Weights<In<c_int>>,
        outdegree: c_int,
        destinations[outdegree]: In<c_int>,
        destweights[outdegree]: Weights<In<c_int>>,
        info: abi::Info,
        reorder: c_int,
        comm_dist_graph: Out<abi::Comm>,
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
        sources[n]: In<c_int>,
        degrees[n]: In<c_int>,
        destinations: In<c_int>,
        weights: Weights<In<c_int>>,
        info: abi::Info,
        reorder: c_int,
        comm_dist_graph: Out<abi::Comm>,
    ) on comm_old {
        // No hint for graphs is known.
        hints(&*check::running()?, info)?;
        let comm = parent(comm_old, comm_dist_graph)?;
        let own = given_edges(&comm, n, (sources, degrees), destinations, weights)?;
        let making = Making::of(&comm);
        let all: Vec<WeightedEdge> = (making.tell_all(own.as_flattened())?.concat().chunks_exact(3))
            .map(|edge| [edge[0], edge[1], edge[2]])
            .collect();
        let (size, weighted) = (comm.size(), !matches!(weights, Weights::Unweighted));
        let made = making.finish(
            size,
            |state, comm| match reorder != 0 {
                true => make::placed(state, comm, traffic(&all)),
                false => (0..size).collect(),
            },
            |rank| Topology::Distributed(of_rank(rank, &all, weighted)),
        )?;
        comm_dist_graph.write(made)
    }

    /// How many edges end and start at this rank, and whether they have weights.
    fn PMPI_Dist_graph_neighbors_count(
        comm: abi::Comm,
        indegree: Out<c_int>,
        outdegree: Out<c_int>,
        weighted: Out<c_int>,
    ) on comm {
        let state = check::running()?;
        let edges = edges_of(&state, comm)?;
        indegree.write(edges.sources.len() as c_int)?;
        outdegree.write(edges.destinations.len() as c_int)?;
        weighted.write(c_int::from(edges.weighted))
    }

    /// The edges that end and start at this rank, in the order in which they were given.
    fn PMPI_Dist_graph_neighbors(
        comm: abi::Comm,
        maxindegree: c_int,
        sources[maxindegree]: Out<c_int>,
        sourceweights[maxindegree]: Weights<Out<c_int>>,
        maxoutdegree: c_int,
        destinations[maxoutdegree]: Out<c_int>,
        destweights[maxoutdegree]: Weights<Out<c_int>>,
    ) on comm {
        let state = check::running()?;
        let edges = edges_of(&state, comm)?;
        not_negative(maxindegree, "maxindegree")?;
        not_negative(maxoutdegree, "maxoutdegree")?;
        give_edges(&edges.sources, sources, sourceweights, edges.weighted)?;
        give_edges(&edges.destinations, destinations, destweights, edges.weighted)
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
