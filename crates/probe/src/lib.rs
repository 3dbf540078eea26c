//! How the elements of a target really talk to each other: patterns of transfers, measured.
//!
//! | module | what it does |
//! |---|---|
//! | [`patterns`] | who talks to whom: a file per pattern |
//! | [`written`] | a pattern written out: `0<-7,7<-0,1->mem` |
//! | [`ranges`] | sizes and counts as people write them: `16..16k` |
//! | [`shape`] | the part of a machine that a pattern is made for |
//! | [`request`] | what to measure, and the experiments that this makes |
//! | [`mod@measure`] | does the experiments; quantiles of their samples |
//! | [`result`] | what was measured, as JSON and as CSV |
//! | [`mod@fit`] | a machine file from it: distances and limits |
//! | [`ring`] | the ring of `ring-mapping`: SPE programs under every mapping, ranked |
//! | [`targets`] | the target that a name means |
//!
//! ```
//! use probe::{Request, measure, targets};
//! let mut host = targets::load("host", &targets::Choices::default()).unwrap();
//! let request = Request { patterns: vec!["memory-read".into()], samples: Some(3), ..Request::default() };
//! let probed = measure(host.as_mut(), &request, &mut |_| true).unwrap();
//! assert!(probed.measurements.iter().all(|m| m.bandwidth_gbs.p50 > 0.0));
//! ```
//!
//! Floor 4: imports `machine`, `work` (for names that are nearly right), `host` and `sim`.

pub mod fit;
pub mod measure;
pub mod patterns;
pub mod quantiles;
pub mod random;
pub mod ranges;
pub mod request;
pub mod result;
pub mod ring;
pub mod shape;
pub mod targets;
pub mod written;

pub use fit::{Fitted, fit};
pub use machine::target::Error;
pub use measure::{Progress, measure};
pub use quantiles::Quantiles;
pub use request::{Job, Request};
pub use result::{Measurement, Probed, Quality};
pub use shape::{Shape, workers};
