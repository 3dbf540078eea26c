//! What the time of an element goes to. The parts add up to the run.

/// What an element does with a piece of its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Spent {
    /// Computes what its tasks cost.
    Tasks,
    /// Runs the runtime's own code: turns of the state machine, and what a firing adds to its tasks.
    Runtime,
    /// Starts transfers and tells other elements.
    Commands,
    /// Waits for a transfer that is as quick as the quickest of its edge and size.
    Transfers,
    /// Waits for what a transfer takes beyond that.
    Contention,
    /// Waits while its DMA queue has no room for the next transfer.
    Queue,
    /// Waits for instances that nobody has told it of.
    Data,
    /// Waits for room that nobody has told it of.
    Room,
    /// Has not fired yet.
    Start,
}

/// The parts, with the names that results have and what they are in words.
pub(crate) const PARTS: [(Spent, &str, &str); 9] = [
    (Spent::Tasks, "tasks", "its tasks"),
    (Spent::Runtime, "runtime", "the runtime's own instructions"),
    (Spent::Commands, "commands", "commands of transfers and flags"),
    (Spent::Transfers, "transfers", "waiting for transfers under way"),
    (Spent::Contention, "contention", "waiting because others slowed transfers down"),
    (Spent::Queue, "queue", "waiting for room in a DMA queue"),
    (Spent::Data, "data", "waiting for data, or for the flag that tells of it"),
    (Spent::Room, "room", "waiting for room, or for the flag that tells of it"),
    (Spent::Start, "start", "waiting for its first instances"),
];
/// What is left of a run after an element's last firing.
pub(crate) const END: (&str, &str) = ("end", "waiting for the others at the end");

/// The parts of the time of an element, as results and pages name them: the key, and what it is in words.
pub fn spent_parts() -> Vec<(&'static str, &'static str)> {
    PARTS.iter().map(|&(_, name, words)| (name, words)).chain([END]).collect()
}

/// Why an element can fire nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Idle {
    /// Its DMA queue is full.
    Queue,
    /// Transfers to it are under way.
    Transfers,
    /// Neither: what it lacks comes from other elements.
    Others,
}

/// An element's time, as far as it is known what it went to.
#[derive(Debug, Default)]
pub(crate) struct TimeSpent {
    parts: [u64; PARTS.len()],
    /// Up to when.
    until_ps: u64,
    /// Waits since the last firing, by [`Idle`].
    idle: [u64; 3],
    /// Of the waits for transfers, what they took beyond the quickest.
    late_ps: u64,
    has_fired: bool,
}

impl TimeSpent {
    fn to(&mut self, now_ps: u64) -> u64 {
        let passed = now_ps.saturating_sub(self.until_ps);
        self.until_ps = self.until_ps.max(now_ps);
        passed
    }

    fn add(&mut self, what: Spent, ps: u64) {
        self.parts[what as usize] += ps;
    }

    /// From `turned_ps` until now it started transfers and told others; a turn that did so was no wait.
    pub(crate) fn commanded(&mut self, turned_ps: u64, now_ps: u64) {
        if now_ps > turned_ps {
            self.did(Spent::Runtime, turned_ps);
            self.did(Spent::Commands, now_ps);
        }
    }

    /// Up to now it did `what`.
    fn did(&mut self, what: Spent, now_ps: u64) {
        let ps = self.to(now_ps);
        self.add(if self.has_fired { what } else { Spent::Start }, ps);
    }

    /// Up to now it had nothing to fire.
    pub(crate) fn idled(&mut self, why: Idle, now_ps: u64) {
        self.idle[why as usize] += self.to(now_ps);
    }

    /// A transfer that it waited for took so much longer than the quickest. Of several during one wait the latest
    /// counts.
    pub(crate) fn late(&mut self, ps: u64) {
        self.late_ps = self.late_ps.max(ps);
    }

    /// It fires now, for want of `lacked` until now, if it waited.
    pub(crate) fn fires(&mut self, lacked: Spent, now_ps: u64) {
        self.did(Spent::Runtime, now_ps);
        let [queue, transfers, others] = std::mem::take(&mut self.idle);
        let late = std::mem::take(&mut self.late_ps).min(transfers);
        if self.has_fired {
            self.add(Spent::Queue, queue);
            self.add(Spent::Transfers, transfers - late);
            self.add(Spent::Contention, late);
            self.add(lacked, others);
        } else {
            self.add(Spent::Start, queue + transfers + others);
        }
        self.has_fired = true;
    }

    /// The firing is over; its tasks cost `tasks_ps`.
    pub(crate) fn fired(&mut self, tasks_ps: u64, now_ps: u64) {
        let passed = self.to(now_ps);
        let tasks = tasks_ps.min(passed);
        self.add(Spent::Tasks, tasks);
        self.add(Spent::Runtime, passed - tasks);
    }

    /// ps that it spent on `what`.
    pub(crate) fn ps(&self, what: Spent) -> u64 {
        self.parts[what as usize]
    }

    /// ps that it was occupied: with its tasks, the runtime's code and commands.
    pub(crate) fn occupied_ps(&self) -> u64 {
        [Spent::Tasks, Spent::Runtime, Spent::Commands].map(|what| self.ps(what)).iter().sum()
    }

    /// What is left of a run that took so long: it had fired for the last time.
    pub(crate) fn end_ps(&self, elapsed_ps: u64) -> u64 {
        elapsed_ps.saturating_sub(self.parts.iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_run_whatever_happens_in_between() {
        let mut spent = TimeSpent::default();
        spent.idled(Idle::Others, 10);
        spent.commanded(10, 12);
        spent.fires(Spent::Data, 15);
        spent.fired(20, 40);
        spent.commanded(41, 43);
        spent.idled(Idle::Transfers, 60);
        spent.late(5);
        spent.idled(Idle::Queue, 70);
        spent.idled(Idle::Others, 80);
        spent.fires(Spent::Room, 81);
        spent.fired(9, 90);
        spent.idled(Idle::Others, 100);
        let parts = PARTS.map(|(what, ..)| spent.ps(what));
        // tasks, runtime, commands, transfers, contention, queue, data, room, start
        assert_eq!(parts, [29, 7, 2, 12, 5, 10, 0, 10, 15]);
        assert_eq!(spent.end_ps(100), 10);
        assert_eq!(parts.iter().sum::<u64>() + spent.end_ps(100), 100);
    }
}
