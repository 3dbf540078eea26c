//! How the elements of a target really talk to each other: patterns of transfers, measured.
//!
//! | module | what it does |
//! |---|---|
//! | [`patterns`] | the elements that exchange data: a file per pattern |
//! | [`exchanges`] | one line handed over, wake-ups, turns: what two cpus do that is no transfer |
//! | [`axes`] | the order in which tables and pictures have the elements |
//! | [`written`] | a pattern written out: `0<-7,7<-0,1->mem` |
//! | [`ranges`] | sizes and counts as people write them: `16..16k` |
//! | [`shape`] | the part of a machine that a pattern is made for |
//! | [`options`] | what to measure, and the experiments that this makes |
//! | [`mod@measure`] | does the experiments; quantiles of their samples |
//! | [`result`] | the measurements, as JSON and as CSV |
//! | [`mod@fit`] | a machine file from it: distances and limits |
//! | [`handover`] | the curve of hand-overs between cpus of this computer |
//! | [`together`] | how much its cpus slow each other down |
//! | [`ring`] | the ring of `ring-mapping`: SPE programs under every mapping, ranked |
//! | [`targets`] | the target that a name means |
//!
//! ```
//! use probe::{ProbeOptions, measure, targets};
//! let mut host = targets::load("host", &targets::Choices::default()).unwrap();
//! let options =
//!     ProbeOptions { patterns: vec!["memory-read".into()], samples: Some(3), ..Default::default() };
//! let probed = measure(host.as_mut(), &options, &mut |_| true).unwrap();
//! assert!(probed.measurements.iter().all(|m| m.bandwidth_gbs.p50 > 0.0));
//! ```
//!
//! Floor 4: imports `ground`, `machine`, `host` and `sim`.

pub mod axes;
pub mod exchanges;
pub mod fit;
pub mod handover;
pub mod measure;
pub mod options;
pub mod patterns;
pub mod ranges;
pub mod result;
pub mod ring;
pub mod shape;
pub mod targets;
pub mod together;
pub mod written;

pub use fit::{Fitted, fit};
pub use handover::{HandoverGrid, handovers};
pub use machine::target::TargetError;
pub use measure::{AtOnce, ProbeProgress, measure, probe};
pub use options::{ProbeJob, ProbeOptions};
pub use result::{Exchanged, Measurement, Probed, Quality};
pub use shape::{PatternShape, workers};
pub use together::together;
