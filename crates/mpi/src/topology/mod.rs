//! Topologies: Cartesian, graph, distributed graph, and where their ranks best run (MPI 5.0, chapter 8).
//!
//! | module | what it does |
//! |---|---|
//! | `grid` | Cartesian topologies as such: coordinates, neighbours, balanced dimensions |
//! | `placement` | which process best takes which place |
//! | `make` | a communicator with a topology, its ranks placed when they may be reordered |
//! | `cartesian`, `graph`, `distributed` | the C functions |
//!
//! Distances are what the machine says of the cpus that processes are bound to: how many kinds of its parts (cpu, core,
//! L2, L3, NUMA node, package) they do not share. Processes that are not bound, or all equally far apart, keep their
//! order.

mod cartesian;
mod distributed;
mod graph;
mod grid;
mod make;
mod placement;

pub use grid::Grid;

use crate::coll::Neighbours;
use std::ffi::c_int;

/// A graph that every rank knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// For each rank, where its neighbours end in `edges`.
    index: Vec<usize>,
    /// The neighbours of all ranks, one after the other.
    edges: Vec<usize>,
}

impl Graph {
    fn neighbours(&self, rank: usize) -> &[usize] {
        let start = rank.checked_sub(1).map_or(0, |before| self.index[before]);
        &self.edges[start..self.index[rank]]
    }
}

/// What a rank knows of a distributed graph: its own edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// The ranks that send to this one, and the edges' weights.
    sources: Vec<(usize, c_int)>,
    /// The ranks that this one sends to, and the edges' weights.
    destinations: Vec<(usize, c_int)>,
    /// The program gave weights; all are 1 otherwise.
    weighted: bool,
}

/// How the ranks of a communicator communicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// `MPI_CART`
    Grid(Grid),
    /// `MPI_GRAPH`
    Graph(Graph),
    /// `MPI_DIST_GRAPH`
    Distributed(Edges),
}

impl Topology {
    /// The neighbours of a rank (of a distributed graph: of this one).
    pub fn neighbours(&self, rank: usize) -> Neighbours {
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
