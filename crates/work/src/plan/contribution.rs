//! What takes time in each period.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One thing that takes time in each period. Its text is the name that people read: `compute of SPE3`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "WrittenContribution", from = "WrittenContribution")]
pub struct Contribution {
    /// What takes the time.
    pub kind: ContributionKind,
    /// Of what: the name of an element, a limit or a lock, as [`ContributionKind`] says.
    pub subject: String,
    /// ns per instance.
    pub ns: f64,
}

/// What sort of thing takes the time of a [`Contribution`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContributionKind {
    /// The tasks of an element, and what it spends on transfers; the subject is the element.
    Compute,
    /// The bytes that move over a limit; the subject is the limit.
    Limit,
    /// The bytes that exceed an element's soft memory; the subject is the element.
    Overflow,
    /// All work, where a quota leaves fewer cpus than there are elements; the subject is the number of cpus, in words.
    Quota,
    /// The tasks of elements that slow each other down, over the cpus that these have together; the subject is the
    /// elements.
    Capacity,
    /// The tasks that share a lock and so cannot run at once; the subject is the lock.
    Lock,
}

impl fmt::Display for Contribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = &self.subject;
        match self.kind {
            ContributionKind::Compute => write!(f, "compute of {subject}"),
            ContributionKind::Limit => f.write_str(subject),
            ContributionKind::Overflow => write!(f, "overflow of {subject}"),
            ContributionKind::Quota => write!(f, "quota of {subject}"),
            ContributionKind::Capacity => write!(f, "capacity of {subject}"),
            ContributionKind::Lock => write!(f, "{subject} lock"),
        }
    }
}

/// The JSON of a contribution: `name` is for people; no program reads it back.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenContribution {
    kind: ContributionKind,
    subject: String,
    name: String,
    ns: f64,
}

impl From<Contribution> for WrittenContribution {
    fn from(c: Contribution) -> Self {
        WrittenContribution { kind: c.kind, name: c.to_string(), subject: c.subject, ns: c.ns }
    }
}

impl From<WrittenContribution> for Contribution {
    fn from(c: WrittenContribution) -> Self {
        Contribution { kind: c.kind, subject: c.subject, ns: c.ns }
    }
}
