//! The options of every verb, for a command line, another language or a book.

use crate::ProfileOptions;
use ground::options::OptionField;
use ground::{Located, did_you_mean, quoted};
use place::PlaceOptions;
use plan::PlanOptions;
use probe::ProbeOptions;
use probe::ring::RingOptions;
use run::RunOptions;
use work::daggen::DaggenOptions;

/// The fields of one verb.
type Fields = fn() -> Vec<OptionField>;

/// Each verb that has options, with its fields.
const VERBS: [(&str, Fields); 7] = [
    ("probe", ProbeOptions::fields),
    ("place", PlaceOptions::fields),
    ("profile", ProfileOptions::fields),
    ("plan", PlanOptions::fields),
    ("run", RunOptions::fields),
    ("daggen", DaggenOptions::fields),
    ("ring", RingOptions::fields),
];

/// The verbs that have options.
pub fn verbs() -> Vec<&'static str> {
    VERBS.iter().map(|(verb, _)| *verb).collect()
}

/// What can be given to a verb by name.
///
/// # Errors
/// When there is no such verb; names the nearest.
///
/// ```
/// let fields = cellweave::options("plan")?;
/// let gap = fields.iter().find(|field| field.name == "gap").unwrap();
/// assert_eq!((gap.flag().as_str(), gap.allowed().as_str()), ("--gap", "0 to 0.999"));
/// # Ok::<(), cellweave::ground::Located>(())
/// ```
pub fn options(verb: &str) -> Result<Vec<OptionField>, Located> {
    let known = VERBS.iter().find(|(name, _)| *name == verb);
    known.map(|(_, fields)| fields()).ok_or_else(|| {
        let near = did_you_mean(verb, verbs());
        Located::new(format!("no verb {} has options{near}; there are {}", quoted(verb), verbs().join(", ")))
    })
}
