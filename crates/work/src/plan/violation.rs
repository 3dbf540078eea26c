//! What a mapping breaks.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A hard limit that a mapping breaks. Its text is a sentence with the numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "WrittenViolation", from = "WrittenViolation")]
pub struct Violation {
    /// Which limit.
    pub kind: ViolationKind,
    /// The element's name.
    pub subject: String,
    /// Bytes or transfers, as [`ViolationKind`] says.
    pub used: u64,
    /// The most that is allowed, in the same unit.
    pub allowed: u64,
}

/// Which hard limit is broken; equations of `streaming-schedule`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ViolationKind {
    /// (16), where the application's code alone exceeds the memory; bytes.
    Code,
    /// (16): bytes of stream buffers against the memory that the code leaves.
    Buffers {
        /// Bytes of the application's code; 0 where the memory holds none.
        code_bytes: u64,
    },
    /// (17): transfers that come in at once.
    Incoming,
    /// (18): transfers that go out at once to elements of one kind.
    Outgoing {
        /// The kind of the readers.
        reader_kind: String,
    },
}

impl ViolationKind {
    /// The equation's number in `streaming-schedule`.
    pub fn equation(&self) -> u32 {
        match self {
            ViolationKind::Code | ViolationKind::Buffers { .. } => 16,
            ViolationKind::Incoming => 17,
            ViolationKind::Outgoing { .. } => 18,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { kind, subject, used, allowed } = self;
        match kind {
            ViolationKind::Code => {
                write!(f, "{subject} holds {allowed} bytes, less than the application's code of {used} bytes")
            }
            ViolationKind::Buffers { code_bytes: 0 } => {
                write!(f, "buffers on {subject} take {used} bytes, and it holds {allowed}")
            }
            ViolationKind::Buffers { code_bytes } => write!(
                f,
                "buffers on {subject} take {used} bytes, and {allowed} are left beside {code_bytes} bytes of code"
            ),
            ViolationKind::Incoming => {
                write!(f, "{subject} receives {used} transfers at once, and can take {allowed}")
            }
            ViolationKind::Outgoing { reader_kind } => write!(
                f,
                "{subject} sends {used} transfers at once to elements of kind {reader_kind}, and can serve {allowed}"
            ),
        }?;
        write!(f, " ({})", kind.equation())
    }
}

/// The JSON of a violation: `equation` and `text` are for people; no program reads them back.
#[derive(Serialize, Deserialize)]
struct WrittenViolation {
    #[serde(flatten)]
    kind: ViolationKind,
    subject: String,
    used: u64,
    allowed: u64,
    equation: u32,
    text: String,
}

impl From<Violation> for WrittenViolation {
    fn from(v: Violation) -> Self {
        let (equation, text) = (v.kind.equation(), v.to_string());
        WrittenViolation {
            kind: v.kind,
            subject: v.subject,
            used: v.used,
            allowed: v.allowed,
            equation,
            text,
        }
    }
}

impl From<WrittenViolation> for Violation {
    fn from(v: WrittenViolation) -> Self {
        Violation { kind: v.kind, subject: v.subject, used: v.used, allowed: v.allowed }
    }
}
