//! Which element each part of a communication pattern gets.
//!
//! | module | what it knows |
//! |---|---|
//! | [`traffic`] | what is placed: parts that send bytes to each other and to memory, in phases |
//! | [`named`](mod@named) | patterns of traffic that have names |
//! | [`read`] | patterns from files |
//! | [`objective`] | what a mapping costs: the trait that every search asks |
//! | [`rings`], [`period`], [`distance`] | objectives: a published model of a Cell's rings, limits, distance |
//! | [`steps`] | how far seats are from one another |
//! | [`symmetry`] | which mappings are equal, tested |
//! | `exhaustive`, `branch`, `levels`, `anneal` | the searches |
//! | [`search`](mod@search) | which of them when |
//! | [`judge`], [`race`](mod@race) | mappings that are run or simulated; how they are compared |
//! | [`affinities`] | the affinities that `affinity-model` names |
//! | [`options`] | what can be asked |
//!
//! Floor 3: imports `ground`, `machine` and `model`; no clock, no simulator. What runs or simulates a mapping is on a
//! floor above and reaches this one as a [`Judge`].
//!
//! ```
//! use place::{Objective, PlaceOptions, Period, named::named, search};
//! let machine = machine::load("qs22").unwrap();
//! let spes: Vec<usize> = (0..18).filter(|&e| machine.elements[e].kind == "spe").collect();
//! let ring = named("ring", 16, 16384.0).unwrap();
//! let mut objective = Period::new(&ring, &machine, &spes).unwrap();
//! let found = search(&mut objective, &PlaceOptions::default(), &mut |_| true).unwrap();
//! // Two messages go from chip to chip, one each way.
//! assert!(found.is_proved() && found.cost < found.median);
//! ```

pub mod affinities;
mod anneal;
mod branch;
pub mod distance;
mod exhaustive;
pub mod judge;
mod levels;
pub mod named;
pub mod objective;
pub mod options;
pub mod period;
pub mod race;
pub mod read;
pub mod rings;
pub mod search;
pub mod steps;
pub mod symmetry;
pub mod traffic;

pub use affinities::NamedAffinity;
pub use distance::Distance;
pub use judge::{Judge, Judging, judged};
pub use objective::Objective;
pub use options::{Goal, PlaceOptions, SearchMethod, SymmetryRule};
pub use period::Period;
pub use race::{Contender, RaceResult, Raced, race};
pub use rings::{Rings, RingsOptions};
pub use search::{Searched, quick, search};
pub use steps::SeatDistances;
pub use symmetry::Symmetry;
pub use traffic::{MemoryFlow, Traffic, TrafficFlow, TrafficPhase};
