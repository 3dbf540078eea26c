//! Which ranks of a communicator communicate: grids, graphs, and each rank's neighbours in them (MPI 5.0, chapter 8).
//! `topology` makes communicators with them, `coll` sends along them.

pub(crate) mod grid;

pub(crate) use grid::Grid;

use std::ffi::c_int;

/// The neighbours of a rank, in the order of the topology; `None` where a grid ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Neighbours {
    /// Who sends to this rank.
    pub sources: Vec<Option<usize>>,
    /// Whom this rank sends to.
    pub destinations: Vec<Option<usize>>,
    /// Of a grid: both ways of each dimension, the negative one first.
    pub grid: bool,
}

/// A graph that every rank knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GraphTopology {
    /// For each rank, where its neighbours end in `edges`.
    pub index: Vec<usize>,
    /// The neighbours of all ranks, one after the other.
    pub edges: Vec<usize>,
}

impl GraphTopology {
    pub(crate) fn neighbours(&self, rank: usize) -> &[usize] {
        let start = rank.checked_sub(1).map_or(0, |before| self.index[before]);
        &self.edges[start..self.index[rank]]
    }
}

/// What a rank knows of a distributed graph: its own edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edges {
    /// Who sends to this rank, and the edges' weights.
    pub sources: Vec<(usize, c_int)>,
    /// Whom this rank sends to, and the edges' weights.
    pub destinations: Vec<(usize, c_int)>,
    /// The program gave weights; all are 1 otherwise.
    pub weighted: bool,
}

/// How the ranks of a communicator communicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Topology {
    /// `MPI_CART`
    Grid(Grid),
    /// `MPI_GRAPH`
    Graph(GraphTopology),
    /// `MPI_DIST_GRAPH`
    Distributed(Edges),
}

impl Topology {
    /// The neighbours of a rank (of a distributed graph: of this one).
    pub(crate) fn neighbours(&self, rank: usize) -> Neighbours {
        match self {
            Self::Grid(grid) => {
                let both_ways: Vec<Option<usize>> = grid.neighbours(rank);
                Neighbours { sources: both_ways.clone(), destinations: both_ways, grid: true }
            }
            Self::Graph(graph) => {
                let all: Vec<Option<usize>> = graph.neighbours(rank).iter().copied().map(Some).collect();
                Neighbours { sources: all.clone(), destinations: all, grid: false }
            }
            Self::Distributed(edges) => {
                let ranks = |edges: &[(usize, c_int)]| edges.iter().map(|&(rank, _)| Some(rank)).collect();
                Neighbours {
                    sources: ranks(&edges.sources),
                    destinations: ranks(&edges.destinations),
                    grid: false,
                }
            }
        }
    }
}
