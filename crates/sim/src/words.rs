//! Operations in words, for traces and messages.

use crate::dma::Dma;
use crate::numbers::TagMask;
use crate::op::{Op, PpeOp, Until};
use std::fmt;

impl fmt::Display for Dma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, way) = if self.put { ("put", "to") } else { ("get", "from") };
        write!(f, "{what} of {} bytes, {:#x} of the local store {way} {}", self.bytes.0, self.ls.0, self.ea)
    }
}

impl Op {
    /// Its name in traces.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Compute { .. } => "compute",
            Self::Dma(_) | Self::List { .. } => "queue full",
            Self::Tags { .. } => "wait for DMA",
            Self::Atomic { .. } => "atomic",
            Self::ReadMailbox => "read mailbox",
            Self::WriteMailbox { .. } => "write mailbox",
            Self::ReadSignal { .. } => "read signal",
            Self::Ppe(PpeOp::Proxy { .. }) => "proxy queue full",
            Self::Ppe(PpeOp::ProxyTags { .. }) => "wait for proxy DMA",
            Self::Ppe(PpeOp::Synchronize { .. }) => "synchronize",
            Self::Ppe(PpeOp::ReadMailbox { .. }) => "read mailbox",
            Self::Ppe(PpeOp::WriteMailbox { .. }) => "write mailbox",
            _ => "call",
        }
    }

    /// What a program waits for, in words.
    pub(crate) fn awaited(&self) -> String {
        let groups = |TagMask(mask): TagMask, until: Until| {
            let tags: Vec<String> =
                (0..32).filter(|t| mask >> t & 1 != 0).map(|t: u32| t.to_string()).collect();
            let which = if until == Until::Any { "any of the tag groups" } else { "tag groups" };
            format!("{which} {}", tags.join(", "))
        };
        match self {
            Self::Compute { .. } => "the end of a computation".into(),
            Self::Dma(_) | Self::List { .. } => "room in its DMA queue".into(),
            Self::Tags { mask, until } => groups(*mask, *until),
            Self::Atomic { .. } => "an atomic command".into(),
            Self::ReadMailbox => "a word in its mailbox".into(),
            Self::WriteMailbox { interrupt: false, .. } => "its outbound mailbox to be read".into(),
            Self::WriteMailbox { interrupt: true, .. } => "its interrupting mailbox to be read".into(),
            Self::ReadSignal { register } => format!("a signal on register {}", register.0),
            Self::Ppe(PpeOp::Proxy { spe, .. }) => format!("room in the proxy queue of {spe}"),
            Self::Ppe(PpeOp::ProxyTags { spe, mask, until }) => {
                format!("{} of the proxy queue of {spe}", groups(*mask, *until))
            }
            Self::Ppe(PpeOp::Synchronize { spe }) => format!("the puts of {spe} to arrive"),
            Self::Ppe(PpeOp::ReadMailbox { spe, interrupt: false }) => format!("a word from {spe}"),
            Self::Ppe(PpeOp::ReadMailbox { spe, interrupt: true }) => {
                format!("an interrupting word from {spe}")
            }
            Self::Ppe(PpeOp::WriteMailbox { spe, .. }) => format!("room in the mailbox of {spe}"),
            _ => "the end of a call".into(),
        }
    }
}
