//! Which calls can be carried out: a call stands in memory into which any rank of the job can write by mistake.

use super::RankProgram;
use crate::calls::{RankCall, RankData};
use crate::entry::CONTEXTS;
use crate::places::{MOST_GIVEN, STAGE_BYTES};

/// The most operations, and the most bytes, of one computation. Its simulated time, in ps, is far from filling 64 bits.
const MOST_COMPUTED: f64 = 1e15;
/// The last place of data: with its bytes added it still fits 64 bits.
const MOST_AT: u64 = u64::MAX / 2;
/// Bytes that are fetched around what is taken, to whole quadwords at both ends.
const AROUND: u64 = 32;

impl RankProgram<'_, '_, '_> {
    /// Whether a call can be carried out.
    ///
    /// # Errors
    /// It cannot: what it asks for, and what is allowed.
    pub(super) fn check(&self, call: &RankCall) -> Result<(), String> {
        match *call {
            RankCall::Begin if self.begun => Err("a second beginning".into()),
            RankCall::Send { to, envelope, data, .. } => {
                self.is_rank("a message to", to)?;
                if envelope.context >= CONTEXTS {
                    let context = envelope.context;
                    return Err(format!("a message of context {context}; contexts are below {CONTEXTS}"));
                }
                is_data("a message", data, u32::MAX.into())
            }
            RankCall::Fetch { from, entry, data } => {
                self.is_rank("a message from", from)?;
                if !self.inbound[from].kept.contains_key(&entry) {
                    return Err(format!("message {entry} from rank {from}, of which it has not been told"));
                }
                is_data("a message", data, u32::MAX.into())
            }
            RankCall::Tell { to, .. } => self.is_rank("a note to", to),
            RankCall::Give { to, data, .. } => {
                self.are_ranks("a gift to", to)?;
                is_data("a gift", data, MOST_GIVEN)
            }
            RankCall::Take { from, offset, data } => {
                self.are_ranks("a gift from", from)?;
                if offset > MOST_GIVEN {
                    return Err(format!(
                        "a gift from byte {offset} on; at most {MOST_GIVEN} bytes are given"
                    ));
                }
                let room = u64::from(STAGE_BYTES) / u64::from(from.count_ones().max(1));
                is_data("gifts", data, room.saturating_sub(AROUND))
            }
            RankCall::Keep { data } => is_data("results", data, u32::MAX.into()),
            RankCall::Combine { bytes, .. } if bytes > u64::from(u32::MAX) => {
                Err(format!("a reduction of {bytes} bytes; at most {} are allowed", u32::MAX))
            }
            RankCall::Compute { flops, bytes } if flops.max(bytes) > MOST_COMPUTED => Err(format!(
                "a computation of {flops} operations on {bytes} bytes; at most {MOST_COMPUTED:e} of each are allowed"
            )),
            _ => Ok(()),
        }
    }

    fn is_rank(&self, what: &str, rank: usize) -> Result<(), String> {
        let ranks = self.inbound.len();
        if rank < ranks {
            return Ok(());
        }
        Err(format!("{what} rank {rank}; there are ranks 0 to {}", ranks - 1))
    }

    /// Of a mask of ranks.
    fn are_ranks(&self, what: &str, mask: u32) -> Result<(), String> {
        mask.checked_ilog2().map_or(Ok(()), |highest| self.is_rank(what, highest as usize))
    }
}

fn is_data(what: &str, data: RankData, most: u64) -> Result<(), String> {
    let RankData { at, bytes, misaligned, .. } = data;
    if bytes > most {
        return Err(format!("{what} of {bytes} bytes; at most {most} are allowed"));
    }
    if at > MOST_AT || misaligned > 15 {
        return Err(format!(
            "{what} at {at}, {misaligned} bytes into a quadword; allowed are places up to {MOST_AT} and 0 to 15 bytes"
        ));
    }
    Ok(())
}
