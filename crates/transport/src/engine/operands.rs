//! Large reductions of two ranks that have cpus of their own: whether one reads the other one's operand or it is sent,
//! and which part each of them does of what is read.

use super::Engine;
use super::decisions::{Decisions, said, say};
use crate::costs::{CLASSES, Sort, class_of};
use host::clock::kernel_ns;

/// Operands that have at least such a part of what turns over in a core's own caches are read at first: it does not
/// help the pool any more that a program has just written them. A choice. (A Xeon with 2 MB of that cache, us for a
/// reduce of two ranks, sent and read: 256 kB 23 and 16, 1 MB 147 and 60, 4 MB 570 and 380; with operands that both
/// ranks write before, and with that 30 and 40, 160 and 160, 800 and 630.)
const READ_AT_FIRST: usize = 8;

/// A reduction of two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionOfTwo {
    /// Its result is the root's.
    ToRoot,
    /// Both get it.
    ToBoth,
}

/// Turns come so many answers before their time, the first one after 8: what is large, and read at first, takes long.
/// (Two ranks on an EPYC, reduce of 4 MB, us, read and sent: 355 and 233, and 361 and 418 while a line takes 220 ns.)
const AHEAD: u32 = 56;

/// What this rank knows of the other one's operands, where it answers for both.
pub(super) struct OtherOperands {
    decisions: Decisions,
    /// The last one of a class came otherwise than answered.
    came_otherwise: [bool; CLASSES],
    /// Bytes of those that were sent, until they are as many as the pool has: its memory is new.
    sent: usize,
}

impl Default for OtherOperands {
    fn default() -> Self {
        Self { decisions: Decisions::ahead_by(AHEAD), came_otherwise: Default::default(), sent: 0 }
    }
}

impl Engine<'_> {
    /// Whether operands of so many bytes of two ranks had rather be read by the kernel than sent through memory that
    /// both see. So it is at first with large data, and then where the cycles of the rank `says` take clearly less; now
    /// and then the other answer. That is the root, or the first of the two. It has to ask in every such reduction, and
    /// to say by `operand_came` whether it was read.
    pub fn operand_is_read(&mut self, of: ReductionOfTwo, says: usize, bytes: usize) -> bool {
        let segment = self.segment();
        if self.copy_from > bytes || segment.header().costs.kernel_fails(bytes) {
            return false;
        }
        let (class, reads) = (class_of(bytes), &segment.rank(says).reads_operands[of as usize]);
        if says != self.rank {
            return said(reads, class);
        }
        let now_ns = kernel_ns();
        let OtherOperands { decisions, came_otherwise, sent } = &mut self.operands[of as usize];
        let is_large = bytes >= segment.turnover_bytes() / READ_AT_FIRST;
        let answer = match std::mem::take(&mut came_otherwise[class]) {
            false => decisions.answer(bytes, Ok(is_large), now_ns),
            true => decisions.again(bytes, now_ns),
        };
        if !answer && *sent < segment.pool_bytes() {
            decisions.leave_out(bytes);
        }
        say(reads, class, answer);
        answer
    }

    /// At the rank that says it, after `operand_is_read`. The other rank may have taken part before the answer changed:
    /// to the root, it is ahead by as many operands as the pool holds.
    pub fn operand_came(&mut self, of: ReductionOfTwo, bytes: usize, was_read: bool) {
        let class = class_of(bytes);
        let answer = said(&self.page().reads_operands[of as usize], class);
        let operands = &mut self.operands[of as usize];
        operands.came_otherwise[class] = answer != was_read;
        operands.sent = operands.sent.saturating_add(if was_read { 0 } else { bytes });
    }

    /// How many of the bytes of an operand that the root reads the other rank had rather do, so that both end at the
    /// same time.
    pub fn bytes_for_root(&self, bytes: usize) -> usize {
        let part = f64::from(self.segment().header().costs.part_for_root(bytes));
        bytes.min((bytes as f64 * part) as usize)
    }

    /// This rank did so many bytes of such an operand of `data` bytes, and began at a time of `kernel_ns`.
    pub fn did_part(&self, is_root: bool, data: usize, bytes: usize, start_ns: u64) {
        let sort = if is_root { Sort::AtRoot } else { Sort::ForRoot };
        self.segment().header().costs.learn(sort, data, bytes, kernel_ns() - start_ns);
    }

    /// Another rank could not read data of so many bytes of this one, or not write it.
    pub fn could_not_be_copied(&self, bytes: usize) {
        self.segment().header().costs.learn_failure(Sort::ByKernel, bytes);
    }
}
