//! The memory interface controller of one chip: sixteen banks, one bus to them, reads and writes together.

use crate::ids::{LineId, byte};
use crate::parameters::MemoryParameters as Times;
use crate::sizes::BANKS;
use std::collections::VecDeque;

/// A read (with its line) or a write that waits for its bank.
#[derive(Debug, Clone, Copy)]
struct BankRequest {
    sequence: u64,
    /// None for a write: its bytes have been taken over.
    read: Option<LineId>,
}

/// An access that the controller has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Started {
    /// A read; its data is at the ramp after the memory's latency.
    Read(LineId),
    /// A write; there is room for another one.
    Write,
    /// Nothing before that cycle.
    Later(u64),
    /// Nothing to do.
    Idle,
}

#[derive(Debug)]
pub(crate) struct Controller {
    banks: [VecDeque<BankRequest>; BANKS],
    /// A bit for each bank that somebody waits for; of these, those whose oldest request is a write.
    waiting: u32,
    writes_first: u32,
    /// The number of the oldest request of each of these banks.
    oldest: [u64; BANKS],
    /// A bit for each bank that is not busy; the others, and when each is free.
    rested: u32,
    busy: VecDeque<(u64, u8)>,
    /// When the memory's own bus is free; nothing starts before.
    pub bus_free: u64,
    sequence: u64,
    writing: bool,
    in_a_row: u32,
    /// Writes that are on their way or waiting.
    writes: u32,
    /// When a look is already planned.
    pub looks_at: u64,
    /// Lines read and written, by bank.
    pub lines: [[u64; 2]; BANKS],
}

impl Controller {
    pub(crate) fn new() -> Self {
        Self {
            banks: Default::default(),
            waiting: 0,
            writes_first: 0,
            oldest: [0; BANKS],
            rested: (1 << BANKS) - 1,
            busy: VecDeque::with_capacity(BANKS),
            bus_free: 0,
            sequence: 0,
            writing: false,
            in_a_row: 0,
            writes: 0,
            looks_at: u64::MAX,
            lines: [[0; 2]; BANKS],
        }
    }

    pub(crate) fn bank(address: u64) -> usize {
        (address / 128) as usize % BANKS
    }

    #[inline]
    pub(crate) fn read(&mut self, line: LineId, address: u64) {
        self.push(Self::bank(address), Some(line));
    }

    #[inline]
    pub(crate) fn write(&mut self, address: u64) {
        self.push(Self::bank(address), None);
    }

    fn push(&mut self, bank: usize, read: Option<LineId>) {
        self.sequence += 1;
        let request = BankRequest { sequence: self.sequence, read };
        if self.banks[bank].is_empty() {
            self.comes_first(bank, request);
        }
        self.banks[bank].push_back(request);
    }

    /// `request` is the oldest that waits for `bank`.
    #[inline]
    fn comes_first(&mut self, bank: usize, request: BankRequest) {
        self.waiting |= 1 << bank;
        self.oldest[bank] = request.sequence;
        let write = u32::from(request.read.is_none());
        self.writes_first = self.writes_first & !(1 << bank) | write << bank;
    }

    /// A write has been let onto the bus.
    #[inline]
    pub(crate) fn expect_write(&mut self) {
        self.writes += 1;
    }

    #[inline]
    pub(crate) fn has_room(&self, times: &Times) -> bool {
        self.writes < times.writes_waiting
    }

    /// Starts the oldest request whose bank is free, the direction that is going on first.
    pub(crate) fn start(&mut self, now: u64, times: &Times) -> Started {
        if self.waiting == 0 {
            return Started::Idle;
        }
        if self.bus_free > now {
            return Started::Later(self.bus_free);
        }
        while let Some(&(at, bank)) = self.busy.front()
            && at <= now
        {
            self.busy.pop_front();
            self.rested |= 1 << bank;
        }
        let can = self.waiting & self.rested;
        if can == 0 {
            // All banks are busy for equally long, so that the first one here that somebody waits for is free first.
            let next = self.busy.iter().find(|(_, bank)| self.waiting >> bank & 1 != 0);
            return Started::Later(next.expect("a bank rests or is busy").0);
        }
        let going_on = can & if self.writing { self.writes_first } else { !self.writes_first };
        let mut left = if going_on != 0 && self.in_a_row < times.burst { going_on } else { can };
        let mut oldest = u64::MAX;
        while left != 0 {
            let bank = left.trailing_zeros() as usize;
            left &= left - 1;
            oldest = oldest.min(self.oldest[bank] * BANKS as u64 + bank as u64);
        }
        let bank = (oldest % BANKS as u64) as usize;
        let request = self.banks[bank][0];
        let writes = request.read.is_none();
        let turns = writes != self.writing;
        if turns && times.turnaround > 0 && self.sequence > 1 && self.bus_free + times.turnaround > now {
            return Started::Later(self.bus_free + times.turnaround);
        }
        self.banks[bank].pop_front();
        self.waiting &= !(1 << bank);
        if let Some(&next) = self.banks[bank].front() {
            self.comes_first(bank, next);
        }
        self.in_a_row = if turns { 1 } else { self.in_a_row + 1 };
        self.writing = writes;
        self.bus_free = now + times.line;
        self.rested &= !(1 << bank);
        self.busy.push_back((now + times.bank, byte(bank)));
        self.lines[bank][usize::from(writes)] += 1;
        match request.read {
            Some(line) => Started::Read(line),
            None => {
                self.writes -= 1;
                Started::Write
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameters;
    use proptest::prelude::*;

    fn drain(addresses: &[u64]) -> u64 {
        let times = Parameters::default().memory;
        let mut controller = Controller::new();
        for (i, &address) in addresses.iter().enumerate() {
            controller.read(LineId(i as u32), address);
        }
        let mut now = 0;
        loop {
            match controller.start(now, &times) {
                Started::Later(at) => now = at,
                Started::Idle => return now,
                _ => {}
            }
        }
    }

    proptest! {
        #[test]
        fn no_bank_and_no_bus_is_asked_for_more_than_it_can(
            requests in proptest::collection::vec((0u64..40, 0u64..64, any::<bool>()), 1..200),
            times in (8u64..12, 8u64..80, 0u64..30, 1u32..9),
        ) {
            let (line, bank, turnaround, burst) = times;
            let times = Times { line, bank, turnaround, burst, ..Parameters::default().memory };
            let mut controller = Controller::new();
            let (mut started, mut now, mut next, mut due) = (Vec::new(), 0, 0, 0);
            loop {
                while next < requests.len() && due <= now {
                    let (after, index, write) = requests[next];
                    if write {
                        controller.expect_write();
                        controller.write(index * 128);
                    } else {
                        controller.read(LineId(next as u32), index * 128);
                    }
                    due += after;
                    next += 1;
                }
                let before = controller.lines;
                now = match controller.start(now, &times) {
                    Started::Later(at) => {
                        prop_assert!(at > now);
                        if next < requests.len() { at.min(due.max(now + 1)) } else { at }
                    }
                    Started::Idle if next == requests.len() => break,
                    Started::Idle => due.max(now),
                    Started::Read(_) | Started::Write => {
                        let changed = (0..BANKS).find(|&b| controller.lines[b] != before[b]);
                        let b = changed.expect("what starts is counted");
                        started.push((now, b, controller.lines[b][1] != before[b][1]));
                        now
                    }
                };
            }
            prop_assert_eq!(started.len(), requests.len());
            for pair in started.windows(2) {
                let turns = if pair[0].2 == pair[1].2 { 0 } else { turnaround };
                prop_assert!(pair[1].0 >= pair[0].0 + line + turns, "{:?}", pair);
            }
            for b in 0..BANKS {
                let of: Vec<_> = started.iter().filter(|s| s.1 == b).collect();
                prop_assert!(of.windows(2).all(|p| p[1].0 >= p[0].0 + bank));
                let asked = requests.iter().filter(|r| r.1 as usize % BANKS == b).map(|r| r.2);
                prop_assert!(of.iter().map(|s| s.2).eq(asked), "a bank takes its requests in their order");
            }
            prop_assert_eq!(controller.writes, 0);
        }
    }

    #[test]
    fn eight_banks_are_enough_and_one_is_an_eighth() {
        let lines = |banks: u64| (0..1024).map(|i| i / banks * 2048 + i % banks * 128).collect::<Vec<u64>>();
        let all = drain(&lines(16));
        assert_eq!(all, 1023 * 8);
        assert_eq!(drain(&lines(8)), all);
        assert_eq!(drain(&lines(1)), 1023 * 64); // 3.2 GB/s: dma-benchmark, section 2
    }
}
