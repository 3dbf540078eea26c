//! cellweave: works out where the communicating parts of a streaming program should run, runs them there, and shows
//! predicted beside achieved.
//!
//! The verbs, composed from the lower floors, which are all re-exported:
//!
//! | question | answered by |
//! |---|---|
//! | what does a hand-over between two cores cost? | [`calibrate()`] |
//! | how do its cores talk to each other? | [`probe()`] |
//! | what does each task cost here? | [`profile()`] |
//! | where should each task run? | [`plan()`], which profiles first where costs are missing |
//! | what holds a plan back, and which change would help most? | [`advise()`] |
//! | how fast is it really? | [`run()`], which plans first where there is no plan |
//! | which element should each part of a pattern get? | [`place()`] |
//! | what can be said to a verb? | [`options()`] |
//! | which simulated program never yields? | [`SimGuard`] |
//!
//! Floor 6.
//!
//! ```
//! use cellweave::work::read;
//! let text = r#"
//!     name = "pair"
//!     task = [{ name = "a", kernel = "cellweave:count" }, { name = "b", kernel = "cellweave:discard" }]
//!     edge = [{ from = "a", to = "b", bytes = 8 }]
//! "#;
//! let graph = read::text(read::Format::Toml, text, "pair.toml")?;
//! let machine = cellweave::machine::load("host")?;
//! let kernels = cellweave::run::Standard::default();
//! let (_graph, plan) = cellweave::plan(&graph, &machine, &kernels, &Default::default(), None, &mut |_| true)?;
//! let options = cellweave::run::RunOptions { instances: Some(1000), ..Default::default() };
//! let arrays = cellweave::Arrays::default();
//! let outcome = cellweave::run(&graph, &machine, Some(&plan), &kernels, &arrays, options, &mut |_| true)?;
//! assert_eq!(outcome.instances, 1000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// `extern crate` and not `use`: a crate and a function of the same name then stand side by side.
pub extern crate ground;
pub extern crate host;
pub extern crate machine;
pub extern crate model;
pub extern crate place;
pub extern crate plan;
pub extern crate run;
pub extern crate sim;
pub extern crate work;

mod advise;
mod arrays;
mod calibrate;
mod error;
mod explain;
mod fit;
mod guard;
mod moved;
mod options;
mod placing;
mod probing;
mod profile;
pub mod reproduce;
mod simulated;
mod stand_in;
mod verbs;

pub use advise::{Advice, Change, advise};
pub use arrays::{Arrays, taken_bytes};
pub use calibrate::calibrate;
pub use error::Error;
pub use guard::SimGuard;
pub use moved::moved;
pub use options::{options, verbs};
pub use placing::{AffinityCost, Placing, place, traffic};
pub use probing::probe;
pub use profile::{ProfileOptions, Profiled, TaskCost, profile};
pub use streams::spent_parts;
pub use verbs::{VerbProgress, plan, run};
