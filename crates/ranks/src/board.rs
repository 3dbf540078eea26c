//! What all ranks share beside the simulated machine: who waits, and whether anything will ever come.

use std::collections::HashMap;

/// After so long, whatever was put into a local store has arrived.
const SETTLED_PS: u64 = 50_000_000;

/// Who waits, since when.
pub(crate) struct Board {
    /// When the ranks' last look that found nothing began; nothing: the rank does not wait.
    waiting: Vec<Option<u64>>,
    ended: Vec<bool>,
    /// When a rank last wrote into another one's local store.
    changed_ps: u64,
    /// Nothing will ever come.
    pub(crate) deadlock: bool,
    /// Where the data of synchronous sends lies at their sender, by sender, receiver and entry.
    pub(crate) sent: HashMap<(usize, usize, u32), u64>,
}

impl Board {
    pub(crate) fn new(ranks: usize) -> Self {
        Self {
            waiting: vec![None; ranks],
            ended: vec![false; ranks],
            changed_ps: 0,
            deadlock: false,
            sent: HashMap::new(),
        }
    }

    /// A rank writes into another one's local store.
    pub(crate) fn changes(&mut self, now_ps: u64) {
        self.changed_ps = now_ps;
    }

    /// A rank has looked and found nothing.
    pub(crate) fn waits(&mut self, rank: usize, now_ps: u64) {
        self.waiting[rank] = Some(now_ps);
        let long = |since: &Option<u64>| since.is_some_and(|since| since > self.changed_ps + SETTLED_PS);
        self.deadlock |= self.waiting.iter().zip(&self.ended).all(|(since, ended)| *ended || long(since));
    }

    /// A rank does not wait any more.
    pub(crate) fn goes_on(&mut self, rank: usize) {
        self.waiting[rank] = None;
    }

    /// A rank has ended.
    pub(crate) fn ends(&mut self, rank: usize) {
        self.ended[rank] = true;
    }

    /// Whether a rank has ended.
    pub(crate) fn has_ended(&self, rank: usize) -> bool {
        self.ended[rank]
    }

    /// Ranks that have not ended.
    pub(crate) fn running(&self) -> impl Iterator<Item = usize> + '_ {
        self.ended.iter().enumerate().filter(|(_, ended)| !**ended).map(|(rank, _)| rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_deadlock_when_all_look_in_vain_long_after_the_last_change() {
        let mut board = Board::new(3);
        board.ends(2);
        board.changes(1_000);
        board.waits(0, SETTLED_PS * 2);
        assert!(!board.deadlock, "rank 1 computes");
        board.waits(1, SETTLED_PS);
        assert!(!board.deadlock, "an entry may be on its way");
        board.goes_on(0);
        board.waits(1, SETTLED_PS * 2);
        assert!(!board.deadlock, "rank 0 goes on");
        board.waits(0, SETTLED_PS * 2);
        assert!(board.deadlock);
        assert_eq!(board.running().collect::<Vec<_>>(), [0, 1]);
    }
}
