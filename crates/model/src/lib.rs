//! The linear contention model of `streaming-schedule`: what a mapping's period is, and which contribution makes it so.
//!
//! A plan's period is the largest of its *contributions*. Every element contributes the cost of its tasks and what it
//! spends on transfers; every limit contributes the bytes that move over its pairs, divided by its capacity.
//!
//! | module | what it knows |
//! |---|---|
//! | [`transfer`] | which edges move together: a broadcast moves once per destination element |
//! | [`limits`] | pair of elements -> limits, prepared once per machine |
//! | [`prices`] | what hand-overs cost, and what elements that slow each other down have together |
//! | [`mod@predict`] | contributions, period and violations of a mapped graph |
//!
//! Floor 2: imports `machine` and `work`, never `host` or the simulator.
//!
//! ```
//! use std::collections::BTreeMap;
//! use work::schedule::{Buffering, schedule};
//! let spe = |name: &str| machine::Element {
//!     name: name.into(),
//!     kind: "spe".into(),
//!     place: machine::Place::default(),
//!     memory: None,
//!     incoming_max: None,
//!     outgoing_max: BTreeMap::new(),
//!     os_cpu: None,
//! };
//! let machine = machine::Machine {
//!     name: "two".into(),
//!     elements: vec![spe("A"), spe("B")],
//!     limits: vec![machine::Limit {
//!         name: "wire".into(),
//!         capacity_bytes_per_s: 1e9,
//!         pairs: vec![machine::Block { from: vec![0, 1], to: vec![0, 1] }],
//!         error: None,
//!     }],
//!     ..Default::default()
//! };
//! let task = |name: &str, ns: f64| work::Task {
//!     name: name.into(),
//!     cost_ns: BTreeMap::from([("spe".to_string(), ns)]),
//!     ..Default::default()
//! };
//! let graph = work::Graph {
//!     tasks: vec![task("a", 100.0), task("b", 300.0)],
//!     edges: vec![work::Edge {
//!         from: work::Port { task: 0, name: "0".into() },
//!         to: work::Port { task: 1, name: "0".into() },
//!         bytes: 500,
//!         peek: 0,
//!         delay: 0,
//!     }],
//!     ..Default::default()
//! };
//! let mapping = vec![0, 1];
//! let schedule = schedule(&graph, &mapping, 2, Buffering::Shared, 1).unwrap();
//! let prediction = model::predict(&machine, &graph, &mapping, &schedule).unwrap();
//! assert_eq!(prediction.period_ns, 500.0); // 500 bytes over 1 GB/s
//! assert_eq!(prediction.contributions[0].subject, "wire");
//! ```

pub mod limits;
pub mod predict;
pub mod prices;
pub mod transfer;

pub use limits::Limits;
pub use predict::{MissingCost, Prediction, overhead, predict, predict_with};
pub use prices::{Capacity, Prices, capacities, paces};
pub use transfer::{Broadcast, broadcasts};

#[cfg(test)]
mod tests;
